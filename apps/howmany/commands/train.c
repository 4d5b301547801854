/*
 * Implements the command howmany train, which runs a distributed algorithm on MPI ranks or on
 * simulated ranks.
 */
#include <stdlib.h>

#include "train_session.h"

struct train_state {
    struct train_session session;
    bool json, text;
};

static void *train_begin(void)
{
    struct train_state *s = calloc(1, sizeof(*s));

    if (s)
        train_session_init(&s->session);
    return s;
}

static void train_end(void *state)
{
    struct train_state *s = state;

    train_session_release(&s->session);
    free(s);
}

/* ---- options -------------------------------------------------------------------------------- */

static int read_precision(struct train_session *session, const char *value)
{
    double bits;

    if (cli_quantity("precision", value, HM_DIM_NONE, &bits))
        return EXIT_USAGE;
    if (bits != 16 && bits != 32 && bits != 64)
        return cli_complain("--precision: '%s' is not 64, 32 or 16", value);
    session->launch.precision = (int)bits;
    session->precision_given = true;
    return 0;
}

/* Handles an option that is not passed to the ranks. */
static int accept_session_option(struct train_state *s, int option, const char *value)
{
    struct train_session *session = &s->session;

    switch (option) {
    case TRAIN_N:
        return cli_whole("n", value, 1, 100000, &session->launch.ranks.workers);
    case TRAIN_SIMULATE:
        session->simulate = value;
        return 0;
    case TRAIN_PRECISION:
        return read_precision(session, value);
    case TRAIN_SET:
        return cli_machine_set(&session->cluster_job, value);
    case TRAIN_SIMGRID_FILES:
        session->launch.platform_folder = value;
        return 0;
    case TRAIN_LAUNCHER:
        session->launch.launcher = value;
        return 0;
    case TRAIN_RESTARTS:
        return cli_whole("restarts", value, 0, 1000, &session->restarts);
    case TRAIN_RECORD:
        session->output.record = value;
        return 0;
    default:
        *(option == TRAIN_JSON   ? &s->json
          : option == TRAIN_TEXT ? &s->text
                                 : &session->dry_run) = true;
        return 0;
    }
}

/* Accepts an option. own_option is an index into the options that users see; in the list of all
 * options, these follow the hidden options, which only the ranks receive. */
static int train_accept(void *state, int own_option, const char *value)
{
    struct train_state *s = state;
    struct train_session *session = &s->session;
    int option = own_option + TRAIN_HIDDEN;

    if (own_option < 0)
        return cli_complain("train: unexpected operand '%s'; give the data with --data", value);
    if (option >= TRAIN_RANKS)
        return accept_session_option(s, option, value);
    if (session->given_count == sizeof(session->given) / sizeof(session->given[0]))
        return cli_complain("train: too many options");
    session->given[session->given_count] = option;
    session->values[session->given_count++] = value;
    return train_options_accept(&session->options, option, value);
}

static int train_run(void *state)
{
    struct train_state *s = state;

    if (s->json && s->text)
        return cli_complain("train: --json and --text exclude each other");
    int rc = train_session_prepare(&s->session);
    if (rc)
        return rc;
    s->session.output.json = s->json || (!s->text && !cli_is_terminal());
    return s->session.dry_run ? train_session_print_command(&s->session)
                              : train_session_run(&s->session);
}

static const struct cli_heading headings[] = {{"problem", "problem and data"},
                                              {"lambda", "algorithm"},
                                              {"states", "belief propagation"},
                                              {"platform", "platform"},
                                              {"seed", "random numbers"},
                                              {"iterations", "end of the run"},
                                              {"look-every", "measurements"},
                                              {"checkpoint", "checkpoints"},
                                              {"n", "workers"},
                                              {"record", "output"},
                                              {NULL, NULL}};

const struct cli_command cli_train = {
    .name = "train",
    .examples = {"howmany train -n 4 -i 9 -d digits --simulate examples/cluster-m4.yaml --text",
                 "howmany train -n 2 -a lbfgs -d digits:500 -i 5",
                 "howmany train -p perceptron -d digits:300 -i 3 --json"},
    .arguments = "",
    .summary = "run a distributed algorithm, here or on a simulated cluster",
    .description =
        "Runs distributed optimisation or inference on K MPI ranks, or with --simulate on the "
        "ranks of a described cluster, where the time is virtual and the computation is real. Each "
        "iteration is a line of JSON on standard output, with its seconds, the seconds of "
        "computation among them, the objective, bytes and flop; on a terminal, a row of a "
        "table.\n\n"
        "Without --data it generates ten thousand images like handwritten digits. All data is read "
        "and checked before any rank starts. Without a limit it stops after 20 passes over the "
        "data.\n\n"
        "With --platform server, the parameters w are on S ranks besides the K workers, which may "
        "wait for each other (bsp), be a few clocks apart (ssp) or never wait (async). With "
        "--platform driver, w is on one rank, which sends it to the workers for every full "
        "gradient.\n\n"
        "With --checkpoint the state is saved from time to time, and --resume continues from it: "
        "on the same number of ranks bit for bit, on another number from the same model. With "
        "--restarts this happens automatically when a rank dies.\n\n"
        "The ranks run the separate program howmany-train. It can be started by hand, as in "
        "mpirun -n 4 howmany-train --data rows.svm, with the options up to --resume; rank 0 then "
        "prints the lines of JSON.\n\n"
        "Exit status: 0 ran until a limit; 1 diverged, or a rank died without "
        "--restarts; 2 wrong usage or input; 130 interrupted.",
    .options = train_table + TRAIN_HIDDEN,
    .option_count = TRAIN_OPTIONS - TRAIN_HIDDEN,
    .headings = headings,
    .accept = train_accept,
    .run = train_run,
    .begin = train_begin,
    .end = train_end,
};
