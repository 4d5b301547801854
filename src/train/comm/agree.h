/* Going wrong together: a rank that fails must not leave the others waiting. */
#ifndef HM_AGREE_H
#define HM_AGREE_H

#include "comm.h"

/*
 * Called by all ranks with their own rc. 0 when all have 0; otherwise all return the code of the
 * first rank that failed, with its error in err.
 */
int hm__agree(struct hm_comm *comm, int rc, struct hm_err *err);

#endif
