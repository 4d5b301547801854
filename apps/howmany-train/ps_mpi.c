/* Implements hm_ps_run and hm_ps_main on MPI ranks; the parameter server itself is in src/ps. */
#include <stdio.h>

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

int hm_ps_main(const struct hm_ps_settings *settings, hm_ps_worker_fn *worker, void *state)
{
    struct hm_comm world;
    struct hm_err err = {0};

    if (hm_mpi_begin(&world)) {
        fprintf(stderr, "MPI cannot be started\n");
        return 1;
    }
    int rc = hm_ps_run(settings, worker, state, &err);
    if (rc && world.rank == 0) {
        if (err.message[0] == '\0')
            fprintf(stderr, "a worker returned %d\n", rc);
        else
            fprintf(stderr, "%s%s%s%s%s%s\n", err.field, err.field[0] ? ": " : "", err.message,
                    err.hint[0] ? " (" : "", err.hint, err.hint[0] ? ")" : "");
    }
    hm_mpi_end(&world);
    return rc != 0;
}
