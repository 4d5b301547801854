/* hm_ps_run on the ranks of MPI; the parameter server itself is src/ps. */
#include "err.h"
#include "mpi_comm.h"
#include "ps.h"

int hm_ps_run(const struct hm_ps_settings *settings, hm_ps_worker_fn *worker, void *state,
              struct hm_err *err)
{
    struct hm_comm world;

    if (hm_mpi_join(&world)) {
        hm__fail(err, HM_E_MISSING, "MPI is not running");
        hm__err_hint(err, "call MPI_Init before hm_ps_run and MPI_Finalize after it");
        return HM_E_MISSING;
    }
    int rc = hm__ps_run(&world, settings, worker, state, err);
    hm_mpi_leave(&world);
    return rc;
}
