/* Defines the table of the options of a training run, and interprets their values. */
#include "train_options.h"
#include "lists.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "clients.h"
#include "linear_problem.h"
#include "text.h"

enum rank_option {
    SCANNED,
    SLOWNESS,
    PROBLEM,
    ALGORITHM,
    DATA,
    LABELS,
    LABEL_COLUMN,
    TEST,
    POSITIVE,
    SCALE,
    KEEP,
    ORDER,
    SAMPLE,
    LAMBDA,
    STEP,
    BATCH,
    PASSES,
    MOMENTUM,
    MEMORY,
    SHRINK,
    CLIENTS,
    FRACTION,
    UNEVEN,
    HIDDEN,
    ACTIVATION,
    STATES,
    COUPLING,
    FIELD,
    MAX_PRODUCT,
    DAMPING,
    TOLERANCE,
    BELIEFS,
    PLATFORM,
    SERVERS,
    COLOCATED,
    CONSISTENCY,
    STALENESS,
    BACKUPS,
    PULL,
    SCHEME,
    SHARES,
    SEED,
    DATA_SEED,
    ITERATIONS,
    EPOCHS,
    WITHIN,
    SUBOPTIMALITY,
    GAP,
    BEST,
    LOOK_EVERY,
    USAGE,
    CHECKPOINT,
    EVERY,
    RESUME,
    ADOPT,
    RANK_OPTIONS
};

_Static_assert((int)RANK_OPTIONS == (int)TRAIN_RANKS, "the options of the ranks come first");

const struct cli_option train_table[TRAIN_OPTIONS] = {
    [SCANNED] = {"scanned", 0, "SHAPE", "result of the scan of the data by howmany train", NULL},
    [SLOWNESS] = {"slowness", 0, "NUMBERS",
                  "stragglers of the simulated cluster, as howmany train encodes them", NULL},
    [PROBLEM] = {"problem", 'p', "NAME",
                 "svm (default), logistic, squares, softmax, perceptron or bp",
                 "svm logistic squares softmax perceptron bp"},
    [ALGORITHM] = {"algorithm", 'a', "NAME",
                   "gd, lbfgs, sgd, momentum, adam, local-sgd, splash, cocoa, cocoa+, mini-sdca, "
                   "gossip-ring, gossip-exp or fedavg",
                   "gd lbfgs sgd momentum adam local-sgd splash cocoa cocoa+ mini-sdca gossip-ring "
                   "gossip-exp fedavg"},
    [DATA] = {"data", 'd', "DATA",
              "a file (LIBSVM, IDX, CSV; .gz), a folder with MNIST, or a recipe such as digits, "
              "dense:1000x20, sparse:10000x1000; bp: grid:30x30, tree:100, random:100,300 or a "
              "UAI file",
              "@file"},
    [LABELS] = {"labels", 0, "FILE",
                "labels of IDX images (default: the file that matches their name)", "@file"},
    [LABEL_COLUMN] = {"label-column", 0, "NAME",
                      "label column of a CSV file (default: label, else the first)", NULL},
    [TEST] = {"test", 0, "DATA", "test rows, to measure the accuracy", "@file"},
    [POSITIVE] = {"positive", 0, "LABEL", "learn to distinguish this label from all others", NULL},
    [SCALE] = {"scale", 0, "HOW",
               "scaling of the features: none (default), divide:255, unit (rows to norm 1) or "
               "standardise (columns)",
               "none unit standardise"},
    [KEEP] = {"keep", 0, "HOW", "storage of the rows: auto (default), dense or sparse",
              "auto dense sparse"},
    [ORDER] = {"order", 0, "HOW", "order in which rows go to ranks: shuffled (default) or as-is",
               "shuffled as-is"},
    [SAMPLE] = {"sample", 0, "X",
                "use only this share of the rows of a file, such as 0.05 or 5%; --data-seed "
                "chooses them (default 1)",
                NULL},
    [LAMBDA] = {"lambda", 0, "X", "strength of the regulariser (default 1e-4; perceptron 0)", NULL},
    [STEP] = {"step", 0, "X", "initial step size (default: chosen by the algorithm)", NULL},
    [BATCH] =
        {"batch", 'b', "ROWS",
         "rows in a mini-batch over all ranks (default 128); fedavg: of one client (default 32)",
         NULL},
    [PASSES] = {"passes", 0, "K", "passes of a rank over its own rows in an iteration (default 1)",
                NULL},
    [MOMENTUM] = {"momentum", 0, "X", "momentum of the methods momentum and adam (default 0.9)",
                  NULL},
    [MEMORY] = {"memory", 0, "K", "pairs that L-BFGS stores (default 10)", NULL},
    [SHRINK] = {"shrink", 0, NULL,
                "let cocoa and cocoa+ skip rows whose dual variable has stopped changing", NULL},
    [CLIENTS] = {"clients", 0, "K",
                 "fedavg: clients, to which the rows belong (default: one on each worker)", NULL},
    [FRACTION] = {"fraction", 0, "X",
                  "fedavg: fraction of the clients that take part in a round (default 1)", NULL},
    [UNEVEN] = {"uneven", 0, "X",
                "fedavg: client k has a share of the rows proportional to k^-X (default 0: equal)",
                NULL},
    [HIDDEN] = {"hidden", 0, "WIDTHS",
                "widths of the perceptron's hidden layers, such as 128 or 256,64", NULL},
    [ACTIVATION] = {"activation", 0, "NAME",
                    "activation of the hidden layers: relu (default) or sigmoid", "relu sigmoid"},
    [STATES] = {"states", 0, "K", "bp: states of a vertex (default 2)", NULL},
    [COUPLING] = {"coupling", 0, "X", "bp: spread of the edges' couplings (default 0.5)", NULL},
    [FIELD] = {"field", 0, "X", "bp: spread of the vertices' fields (default 1)", NULL},
    [MAX_PRODUCT] = {"max-product", 0, NULL, "bp: find the most likely states instead of marginals",
                     NULL},
    [DAMPING] = {"damping", 0, "X", "bp: weight of the old message (default 0)", NULL},
    [TOLERANCE] = {"tolerance", 0, "X",
                   "bp: stop when no message changes by more than this (default 1e-6)", NULL},
    [BELIEFS] = {"beliefs", 0, "FILE", "bp: write the beliefs to this CSV file", "@file"},
    [PLATFORM] = {"platform", 0, "NAME",
                  "allreduce (default): all ranks are workers; driver: w on a separate rank, full "
                  "gradients; server: w on parameter servers, mini-batches",
                  "allreduce driver server"},
    [SERVERS] = {"servers", 0, "S", "ranks that hold w, besides the workers (default 1)", NULL},
    [COLOCATED] = {"colocated", 0, NULL, "servers are on the nodes of the first workers", NULL},
    [CONSISTENCY] =
        {"consistency", 0, "NAME",
         "consistency of parameter servers: bsp (default), ssp (with --staleness) or async",
         "bsp ssp async"},
    [STALENESS] = {"staleness", 0, "S",
                   "ssp: clocks by which a worker may be ahead of the slowest (default 3)", NULL},
    [BACKUPS] = {"backups", 0, "K",
                 "bsp: a step does not wait for the K slowest workers (default 0)", NULL},
    [PULL] = {"pull", 0, "WHEN",
              "ssp: pull w always (default), or late, when the copy is too stale", "always late"},
    [SCHEME] = {"scheme", 0, "NAME",
                "algorithm of the all-reduce: auto (default), library, tree, ring, doubling, "
                "two-wave, master",
                "auto library tree ring doubling two-wave master"},
    [SHARES] = {"shares", 0, "LIST",
                "shares of the rows for each worker, such as 2,1,1, or speed (default: equal)",
                "speed"},
    [SEED] = {"seed", 0, "K", "seed of all random numbers (default 1)", NULL},
    [DATA_SEED] = {"data-seed", 0, "K",
                   "seed of generated rows (default: --seed), or of --sample (default 1)", NULL},
    [ITERATIONS] = {"iterations", 'i', "K", "stop after K iterations", NULL},
    [EPOCHS] = {"epochs", 0, "K", "stop after K passes over the data", NULL},
    [WITHIN] = {"within", 0, "TIME", "stop when the iterations have taken this time, such as 60s",
                NULL},
    [SUBOPTIMALITY] = {"suboptimality", 0, "X", "stop when the objective is within X of --best",
                       NULL},
    [GAP] = {"gap", 0, "X", "stop when the duality gap is at most X", NULL},
    [BEST] = {"best", 0, "P", "the minimum of the objective, if known", NULL},
    [LOOK_EVERY] =
        {"look-every", 0, "K",
         "iterations between evaluations of the objective (default 1; with mini-batches, an epoch)",
         NULL},
    [USAGE] = {"usage", 0, NULL, "report CPU, network and memory of each rank at each evaluation",
               NULL},
    [CHECKPOINT] = {"checkpoint", 0, "FILE", "save the state to this file", "@file"},
    [EVERY] = {"every", 0, "K", "iterations between checkpoints (default 10)", NULL},
    [RESUME] = {"resume", 0, NULL, "resume from the checkpoint", NULL},
    [ADOPT] = {"adopt", 0, NULL,
               "with --resume: also accept a checkpoint of another algorithm, from which the model "
               "and the dual variables are used",
               NULL},
    [TRAIN_N] = {"n", 'n', "K", "number of workers (default 1)", NULL},
    [TRAIN_SIMULATE] = {"simulate", 0, "CLUSTER",
                        "simulate a machine from the catalog or a cluster file, with SimGrid",
                        "@machine"},
    [TRAIN_PRECISION] =
        {"precision", 0, "BITS",
         "precision that the speed of the simulated machines is for: 64 (default), 32 or 16",
         "64 32 16"},
    [TRAIN_SET] = {"set", 0, "KEY=VALUE", "change a key of the cluster, such as fabric.latency=1ms",
                   NULL},
    [TRAIN_SIMGRID_FILES] = {"simgrid-files", 0, "FOLDER",
                             "keep SimGrid's description of the cluster in this folder", "@file"},
    [TRAIN_LAUNCHER] =
        {"launcher", 0, "COMMAND",
         "command that starts the ranks, such as 'srun -n {n}' (default: mpirun -n {n})", NULL},
    [TRAIN_RESTARTS] = {"restarts", 0, "R",
                        "when a rank fails, restart from the checkpoint, up to R times (default 0)",
                        NULL},
    [TRAIN_RECORD] =
        {"record", 'r', "FILE",
         "append the trace to this table, .csv or .jsonl, or to a store, .db or postgresql://…",
         "@file"},
    [TRAIN_JSON] = {"json", 'j', NULL, "print JSON lines, also on a terminal", NULL},
    [TRAIN_TEXT] = {"text", 0, NULL, "print a table, also without a terminal", NULL},
    [TRAIN_DRY_RUN] = {"dry-run", 0, NULL,
                       "print the command that starts the ranks without running it", NULL},
};

void train_options_init(struct train_options *options)
{
    *options = (struct train_options){
        .positive = NAN,
        .lambda = -1,
        .data_seed = -1,
        .settings = {.seed = 1, .momentum = -1},
        .layers = {.hidden = {128}, .hidden_count = 1, .activation = HM_ACTIVATION_RELU},
        .limits = {.best = NAN},
        .states = 2,
        .coupling = 0.5,
        .field = 1,
        .tolerance = 1e-6,
        .platform = HM_PLATFORM_ALLREDUCE,
        .serving = {.servers = 1, .staleness = 3},
    };
}

/* ---- values --------------------------------------------------------------------------------- */

static int option_read_integer(int option, const char *text, double least, double *value)
{
    return cli_whole(train_table[option].name, text, least, 1e15, value);
}

static int option_read_fraction(int option, const char *text, double *value)
{
    const char *name = train_table[option].name;
    int rc = cli_quantity(name, text, HM_DIM_NONE, value);

    if (rc == 0 && !(*value >= 0 && *value < 1))
        rc = cli_complain("--%s: '%s' is not from 0 to less than 1", name, text);
    return rc;
}

static int option_read_number(int option, const char *text, double least, double *value)
{
    const char *name = train_table[option].name;
    int rc = cli_quantity(name, text, HM_DIM_NONE, value);

    if (rc == 0 && !(*value >= least))
        rc = cli_complain("--%s: '%s' is less than %g", name, text, least);
    return rc;
}

/* Returns the index of `text` in `choices`, or -1 with a message. */
static int option_read_choice(int option, const char *text, const char *const *choices)
{
    for (int i = 0; choices[i]; i++)
        if (strcmp(choices[i], text) == 0)
            return i;
    cli_complain("--%s: there is no '%s'; there are %s", train_table[option].name, text,
                 train_table[option].values);
    return -1;
}

static int option_read_scale(struct train_options *o, const char *value)
{
    static const char divide[] = "divide:";
    static const char *const choices[] = {"none", "unit", "standardise", NULL};

    o->has_scale = true;
    if (strncmp(value, divide, sizeof(divide) - 1) == 0) {
        o->scale.kind = HM_SCALE_DIVIDE;
        return cli_positive("scale", value + sizeof(divide) - 1, HM_DIM_NONE, &o->scale.divisor);
    }
    for (int i = 0; choices[i]; i++)
        if (strcmp(choices[i], value) == 0) {
            o->scale.kind = i == 0 ? HM_SCALE_NONE : i == 1 ? HM_SCALE_UNIT : HM_SCALE_STANDARDISE;
            return 0;
        }
    return cli_complain("--scale: there is no '%s'; there are none, divide:255, unit and "
                        "standardise",
                        value);
}

static int hidden_add_width(void *context, const char *piece)
{
    struct hm_perceptron_spec *layers = context;
    double width = 0;
    int rc = cli_whole("hidden", piece, 1, HM_WIDTH_MAX, &width);

    if (rc)
        return rc;
    if (layers->hidden_count == HM_HIDDEN_MAX)
        return cli_complain("--hidden: at most %d layers", HM_HIDDEN_MAX);
    layers->hidden[layers->hidden_count++] = (size_t)width;
    return 0;
}

static int option_read_hidden(struct train_options *o, const char *value)
{
    o->layers.hidden_count = 0;
    return cli_each(value, hidden_add_width, &o->layers);
}

static int option_accept_choice(struct train_options *o, int option, const char *value)
{
    static const char *const keeps[] = {"auto", "dense", "sparse", NULL};
    static const char *const orders[] = {"shuffled", "as-is", NULL};
    static const char *const activations[] = {"sigmoid", "relu", NULL};
    static const char *const platforms[] = {"allreduce", "driver", "server", NULL};
    static const char *const consistencies[] = {"bsp", "ssp", "async", NULL};
    static const char *const pulls[] = {"always", "late", NULL};
    int choice = option == KEEP          ? option_read_choice(option, value, keeps)
                 : option == ORDER       ? option_read_choice(option, value, orders)
                 : option == ACTIVATION  ? option_read_choice(option, value, activations)
                 : option == PLATFORM    ? option_read_choice(option, value, platforms)
                 : option == CONSISTENCY ? option_read_choice(option, value, consistencies)
                 : option == PULL        ? option_read_choice(option, value, pulls)
                                         : hm__reduce_scheme_find(value);

    if (choice < 0 && option == SCHEME)
        cli_complain("--scheme: there is no '%s'; there are %s", value, train_table[SCHEME].values);
    if (choice < 0)
        return EXIT_USAGE;
    if (option == KEEP)
        o->keep = (enum train_keep)choice;
    else if (option == ORDER)
        o->order = (enum hm_order)choice;
    else if (option == ACTIVATION)
        o->layers.activation = (enum hm_activation)choice;
    else if (option == PLATFORM)
        o->platform = (enum hm_platform)(HM_PLATFORM_ALLREDUCE + choice);
    else if (option == CONSISTENCY)
        o->serving.consistency = (enum hm_consistency)choice;
    else if (option == PULL)
        o->serving.pull_late = choice == 1;
    else
        o->scheme = choice;
    return 0;
}

/*
 * Returns the address of the member of `o` for an option whose value is stored as a string and
 * interpreted later; NULL for all other options.
 */
static const char **option_text(struct train_options *o, int option)
{
    switch (option) {
    case PROBLEM:
        return &o->problem_name;
    case ALGORITHM:
        return &o->algorithm_name;
    case DATA:
        return &o->data_name;
    case LABELS:
        return &o->labels;
    case LABEL_COLUMN:
        return &o->label_column;
    case TEST:
        return &o->test_name;
    case BELIEFS:
        return &o->beliefs;
    case CHECKPOINT:
        return &o->checkpoint;
    case SCANNED:
        return &o->scanned;
    case SLOWNESS:
        return &o->slowness;
    case SHARES:
        return &o->shares;
    default:
        return NULL;
    }
}

static int option_read_count(int option, const char *value, double least, double most,
                             int *ret_count)
{
    double count = 0;
    int rc = cli_whole(train_table[option].name, value, least, most, &count);

    *ret_count = (int)count;
    return rc;
}

/* Accepts an option whose value is a fraction of the rows or the clients, or a measure of how
 * unequal the clients' numbers of rows are. */
static int option_accept_share(struct train_options *o, int option, const char *value)
{
    double *into = option == FRACTION ? &o->settings.fraction
                   : option == SAMPLE ? &o->sample
                                      : &o->settings.uneven;
    double most = option == UNEVEN ? HM_UNEVEN_MOST : 1;
    int rc = option_read_number(option, value, 0, into);

    if (rc == 0 && (*into > most || (option != UNEVEN && *into == 0)))
        rc = cli_complain("--%s: '%s' is not %s %g", train_table[option].name, value,
                          option == UNEVEN ? "from 0 to" : "above 0 and at most", most);
    return rc;
}

static int option_accept_number(struct train_options *o, int option, const char *value)
{
    double seed;

    switch (option) {
    case POSITIVE:
        return option_read_number(option, value, -INFINITY, &o->positive);
    case LAMBDA:
        return option_read_number(option, value, 0, &o->lambda);
    case STEP:
        return cli_positive("step", value, HM_DIM_NONE, &o->settings.step);
    case BATCH:
        return option_read_integer(option, value, 1, &o->settings.batch);
    case PASSES:
        return option_read_integer(option, value, 1, &o->settings.passes);
    case MOMENTUM:
        return option_read_fraction(option, value, &o->settings.momentum);
    case MEMORY:
        return option_read_integer(option, value, 1, &o->settings.memory);
    case CLIENTS:
        return cli_whole("clients", value, 1, HM_CLIENTS_MOST, &o->settings.clients);
    case SAMPLE:
    case FRACTION:
    case UNEVEN:
        return option_accept_share(o, option, value);
    case STATES:
        return option_read_integer(option, value, 2, &o->states);
    case COUPLING:
        return option_read_number(option, value, -30, &o->coupling);
    case FIELD:
        return option_read_number(option, value, 0, &o->field);
    case DAMPING:
        return option_read_fraction(option, value, &o->damping);
    case TOLERANCE:
        return option_read_number(option, value, 0, &o->tolerance);
    case SEED:
        if (option_read_integer(option, value, 0, &seed))
            return EXIT_USAGE;
        o->settings.seed = (uint64_t)seed;
        return 0;
    case DATA_SEED:
        return option_read_integer(option, value, 0, &o->data_seed);
    case SERVERS:
        return option_read_count(option, value, 1, 10000, &o->serving.servers);
    case BACKUPS:
        return option_read_count(option, value, 0, 100000, &o->serving.backups);
    case STALENESS:
        return option_read_integer(option, value, 0, &o->serving.staleness);
    case ITERATIONS:
        return option_read_integer(option, value, 1, &o->limits.iterations);
    case EPOCHS:
        return option_read_integer(option, value, 1, &o->epochs);
    case WITHIN:
        return cli_positive("within", value, HM_DIM_TIME, &o->limits.within_s);
    case SUBOPTIMALITY:
        return cli_positive("suboptimality", value, HM_DIM_NONE, &o->limits.suboptimality);
    case GAP:
        return cli_positive("gap", value, HM_DIM_NONE, &o->limits.gap);
    case BEST:
        return option_read_number(option, value, -INFINITY, &o->limits.best);
    case LOOK_EVERY:
        return option_read_integer(option, value, 1, &o->eval_every);
    default:
        return option_read_integer(option, value, 1, &o->save_every);
    }
}

int train_options_accept(struct train_options *options, int option, const char *value)
{
    const char **text = option_text(options, option);

    options->given[option] = true;
    if (text) {
        *text = value;
        return 0;
    }
    switch (option) {
    case SHRINK:
        options->settings.shrink = true;
        return 0;
    case MAX_PRODUCT:
        options->max_product = true;
        return 0;
    case RESUME:
        options->resume = true;
        return 0;
    case ADOPT:
        options->adopt = true;
        return 0;
    case COLOCATED:
        options->colocated = true;
        return 0;
    case USAGE:
        options->usage = true;
        return 0;
    case SCALE:
        return option_read_scale(options, value);
    case HIDDEN:
        return option_read_hidden(options, value);
    case KEEP:
    case ORDER:
    case ACTIVATION:
    case PLATFORM:
    case CONSISTENCY:
    case PULL:
    case SCHEME:
        return option_accept_choice(options, option, value);
    default:
        return option_accept_number(options, option, value);
    }
}

/* ---- options without effect ----------------------------------------------------------------- */

/*
 * Returns a description of the runs that an option applies to, for an error message; NULL if the
 * option applies to this run.
 */
static const char *option_applies_to(const struct train_options *o, int option)
{
    static const char field[] = "belief propagation (--problem bp)";
    bool bp = o->problem == TRAIN_BP;

    switch (option) {
    case STATES:
    case COUPLING:
    case FIELD:
        return !bp                                  ? field
               : o->field_source == TRAIN_FIELD_UAI ? "generated fields, not to a UAI file"
                                                    : NULL;
    case MAX_PRODUCT:
    case DAMPING:
    case TOLERANCE:
    case BELIEFS:
        return bp ? NULL : field;
    case HIDDEN:
    case ACTIVATION:
        return o->problem == TRAIN_PERCEPTRON ? NULL : "--problem perceptron";
    case TEST:
    case POSITIVE:
    case SCALE:
    case KEEP:
    case LAMBDA:
    case SUBOPTIMALITY:
    case BEST:
        return bp ? "problems with rows, not to belief propagation" : NULL;
    case LABELS:
        return !bp && o->data.format == HM_DATA_IDX ? NULL : "IDX images";
    case LABEL_COLUMN:
        return !bp && o->data.format == HM_DATA_CSV ? NULL : "CSV files";
    case SERVERS:
    case COLOCATED:
    case CONSISTENCY:
        return o->platform == HM_PLATFORM_SERVER ? NULL : "--platform server";
    case STALENESS:
        return o->serving.consistency == HM_CONSISTENCY_SSP ? NULL : "--consistency ssp";
    case PULL:
        return o->serving.consistency == HM_CONSISTENCY_SSP && o->serving.staleness > 0
                   ? NULL
                   : "--consistency ssp with a --staleness above 0";
    case BACKUPS:
        return o->platform == HM_PLATFORM_SERVER && o->serving.consistency == HM_CONSISTENCY_BSP
                   ? NULL
                   : "--platform server with --consistency bsp";
    case SCHEME:
        return o->platform == HM_PLATFORM_ALLREDUCE ? NULL : "--platform allreduce";
    case SHARES:
        return bp                     ? "problems with rows, not to belief propagation"
               : train_has_clients(o) ? "other algorithms: the rows of fedavg belong to clients"
                                      : NULL;
    case ORDER:
    case SAMPLE:
        return !bp && !hm__data_is_made(&o->data) ? NULL : "rows from files";
    case DATA_SEED:
        return !bp && (hm__data_is_made(&o->data) || o->sample > 0) ? NULL
                                                                    : "generated or sampled rows";
    default:
        return NULL;
    }
}

/*
 * Returns the names of the algorithms that an option applies to, for an error message; NULL if the
 * option applies to this run.
 */
static const char *option_algorithms(const struct train_options *o, int option)
{
    /*
     * This entry represents belief propagation, which has no algorithm; none of these options apply
     * to it.
     */
    static const struct hm_algorithm none;
    const struct hm_algorithm *a = o->algorithm ? o->algorithm : &none;
    bool dual = a->traits & HM_TRAIT_DUAL, batches = a->traits & HM_TRAIT_BATCHES;
    bool local = a->defaults.passes > 0;

    switch (option) {
    case STEP: /* The algorithms that are not named here have no step size, or choose it themselves.
                */
        return a->name && !dual && a->defaults.memory == 0
                   ? NULL
                   : "gd, sgd, momentum, adam, local-sgd, splash, gossip-ring, gossip-exp and "
                     "fedavg";
    case BATCH:
        return batches || train_has_clients(o) ||
                       (local && !train_problem_loss(o->problem) && a->name)
                   ? NULL
                   : "sgd, momentum, adam, mini-sdca, gossip-ring, gossip-exp and fedavg, and to "
                     "local-sgd with softmax or perceptron";
    case PASSES:
        return local ? NULL : "local-sgd, splash, cocoa, cocoa+ and fedavg";
    case CLIENTS:
    case FRACTION:
    case UNEVEN:
        return train_has_clients(o) ? NULL : "fedavg";
    case MOMENTUM:
        return a->defaults.momentum > 0 ? NULL : "momentum and adam";
    case MEMORY:
        return a->defaults.memory > 0 ? NULL : "lbfgs";
    case SHRINK:
        return dual && local ? NULL : "cocoa and cocoa+";
    default:
        return NULL;
    }
}

int train_options_refuse_unused(const struct train_options *o)
{
    for (int i = 0; i < RANK_OPTIONS; i++) {
        const char *of = option_applies_to(o, i), *algorithms = option_algorithms(o, i);
        if (o->given[i] && of)
            return cli_complain("--%s: applies only to %s", train_table[i].name, of);
        if (o->given[i] && algorithms)
            return cli_complain("--%s: applies only to %s; this run uses %s", train_table[i].name,
                                algorithms, o->algorithm_name);
    }
    return 0;
}
