/* Broadcasts the error of the first failed rank to all ranks. */
#include "agree.h"

#include <string.h>

int hm__agree(struct hm_comm *comm, int rc, struct hm_err *err)
{
    /*
     * A failed rank has a positive value, which is larger for lower ranks, so the maximum belongs
     * to the first failed rank; a rank that did not fail has the value 0.
     */
    double first = rc ? comm->size - comm->rank : 0;
    struct hm_err own = {0};

    err = err ? err : &own;
    hm__comm_max_few(comm, &first, 1);
    if (first == 0)
        return 0;
    int root = comm->size - (int)first;
    if (comm->rank == root && err->code == 0)
        err->code = rc;
    hm__comm_broadcast(comm, root, err, sizeof(*err));
    return err->code;
}
