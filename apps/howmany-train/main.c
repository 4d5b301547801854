/*
 * howmany-train: one rank of a training run. It is started by `howmany train`, or manually under
 * mpirun or srun with the same options. All ranks read the same options; only rank 0 prints.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "blas.h"
#include "mpi_comm.h"
#include "session.h"

/*
 * Duplicate of the descriptor of standard error on ranks other than 0, whose standard error is
 * discarded; -1 on rank 0. It is set once at the start of main.
 */
static int quiet_stderr = -1;

static void *rank_begin(void)
{
    struct train_options *options = calloc(1, sizeof(*options));

    if (options)
        train_options_init(options);
    return options;
}

static void rank_end(void *state)
{
    free(state);
}

static int rank_accept(void *state, int option, const char *value)
{
    if (option < 0)
        return cli_complain("train: '%s' is not an option", value);
    return train_options_accept(state, option, value);
}

static int rank_run(void *state)
{
    struct train_options *options = state;
    struct session *session;
    struct hm_comm comm, workers;
    int rc = train_options_check(options);

    if (rc)
        return rc;
    session = calloc(1, sizeof(*session));
    if (!session || hm_mpi_begin(&comm)) {
        free(session);
        return cli_complain("MPI cannot be started");
    }
    hm__blas_start();
    int others = train_other_ranks(options);
    if (others > 0)
        hm_mpi_part(&comm, comm.size > others ? comm.size - others : comm.size, &workers);
    if (others > 0 && comm.rank >= workers.size && quiet_stderr >= 0)
        /*
         * A server may detect errors that rank 0 does not see, so its standard error is restored.
         */
        dup2(quiet_stderr, STDERR_FILENO);
    session->world = &comm;
    session->comm = others > 0 ? &workers : &comm;
    session->options = options;
    session->simulated = hm_mpi_is_simulated();
    hm_mpi_version(session->mpi, sizeof(session->mpi));
    rc = session_run(session);
    if (rc == EXIT_ANSWERED && comm.rank == 0 && (fflush(stdout) != 0 || ferror(stdout)))
        rc = cli_complain("the trace cannot be written to standard output");
    free(session);
    if (others > 0)
        hm_mpi_part_end(&workers);
    hm_mpi_end(&comm);
    return rc;
}

static const struct cli_command cli_rank = {
    .name = "train",
    .arguments = "",
    .summary = "one rank of a training run",
    .options = train_table,
    .option_count = TRAIN_RANKS,
    .accept = rank_accept,
    .run = rank_run,
    .begin = rank_begin,
    .end = rank_end,
};

const struct cli_command *const cli_commands[] = {&cli_rank, NULL};

/*
 * Returns whether this is rank 0 according to the launcher's environment. Only rank 0 prints errors
 * in the options.
 */
static bool is_rank_0(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                        "SLURM_PROCID"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *rank = getenv(names[i]);
        if (rank)
            return strcmp(rank, "0") == 0;
    }
    return true;
}

/*
 * Opens /dev/null in place of standard streams that the caller has closed, so that no other file
 * gets the trace. Standard output is opened for reading, so that writing the trace fails.
 */
static void open_standard_files(void)
{
    for (int file = STDIN_FILENO; file <= STDERR_FILENO; file++)
        if (fcntl(file, F_GETFD) < 0 &&
            open("/dev/null", file == STDERR_FILENO ? O_WRONLY : O_RDONLY) < 0)
            _exit(EXIT_USAGE);
}

int main(int argc, char **argv)
{
    open_standard_files();
    /* A write beyond the largest file size that is allowed (ulimit -f) fails with EFBIG. */
    signal(SIGXFSZ, SIG_IGN);
    if (!is_rank_0()) {
        quiet_stderr = dup(STDERR_FILENO);
        if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
            return EXIT_USAGE;
    }
    return cli_run(&cli_rank, argc, argv);
}
