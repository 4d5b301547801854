/*
 * Declares the table of the options of a training run. `howmany train` reads and checks the options
 * and starts the ranks; the ranks (howmany-train) read the same options again.
 */
#ifndef HM_TRAIN_OPTIONS_H
#define HM_TRAIN_OPTIONS_H

#include "cli.h"
#include "data.h"
#include "field.h"
#include "perceptron.h"
#include "prepare.h"
#include "server.h"
#include "shard.h"
#include "text.h"
#include "train.h"

enum train_problem {
    TRAIN_SVM,
    TRAIN_LOGISTIC,
    TRAIN_SQUARES,
    TRAIN_SOFTMAX,
    TRAIN_PERCEPTRON,
    TRAIN_BP,
    TRAIN_PROBLEMS
};

enum train_field_source { TRAIN_FIELD_MADE, TRAIN_FIELD_UAI, TRAIN_FIELD_GRAPH };
enum train_keep { TRAIN_KEEP_AUTO, TRAIN_KEEP_DENSE, TRAIN_KEEP_SPARSE };

/*
 * Order of the table of options: first the options that only the ranks accept, then the options
 * that both the ranks and `howmany train` accept, then the options of `howmany train` alone. The
 * ranks accept the first TRAIN_RANKS options; `howmany train` accepts all but the first
 * TRAIN_HIDDEN.
 */
enum {
    TRAIN_HIDDEN = 2,
    TRAIN_RANKS = 55,
    TRAIN_N = TRAIN_RANKS,
    TRAIN_SIMULATE,
    TRAIN_PRECISION,
    TRAIN_SET,
    TRAIN_SIMGRID_FILES,
    TRAIN_LAUNCHER,
    TRAIN_RESTARTS,
    TRAIN_RECORD,
    TRAIN_JSON,
    TRAIN_TEXT,
    TRAIN_DRY_RUN,
    TRAIN_OPTIONS
};

struct train_options {
    bool given[TRAIN_RANKS]; /* True for each option that was given on the command line. */
    /* Values of options as given on the command line; the strings are borrowed. */
    const char *problem_name, *algorithm_name, *data_name, *labels, *label_column, *test_name;
    const char *checkpoint, *beliefs;
    /* Result of the scan of the data by `howmany train`; NULL means that rank 0 scans the data. */
    const char *scanned;
    double positive; /* The label that is replaced by 1 in a problem with two classes (--positive);
                        NAN if not given. */
    struct hm_scale scale;
    bool has_scale; /* True if --scale was given. */
    enum train_keep keep;
    enum hm_order order;
    double sample;    /* Fraction of the rows of the data file to use; 0 for all rows. */
    double lambda;    /* Strength of the regulariser; negative if not given. */
    double data_seed; /* Seed for generated rows (if negative, the seed of the run is used) or for
                         the choice of a sample of the rows (if negative, 1 is used). */
    struct hm_train_settings settings;
    struct hm_perceptron_spec layers;
    int scheme; /* Scheme of the all-reduces, an enum hm_reduce_scheme. */
    enum hm_platform platform;
    /* Settings of parameter servers; the member `workers` is not set here. */
    struct hm_serving serving;
    bool colocated; /* True if the parameter servers run on the nodes of the first workers instead
                       of their own nodes. */
    const char *shares; /* Shares of the rows for each rank, or "speed"; NULL means equal shares. */
    /* Stragglers of the simulated cluster, encoded by train_slowness_write. */
    const char *slowness;
    struct hm_train_limits limits;
    double epochs; /* Maximum number of passes over the data; 0 for no limit. */
    double eval_every, save_every;
    bool usage; /* True to report the CPU time, the memory and the bytes sent and received by each
                   rank at each evaluation. */
    bool resume;
    bool adopt; /* True to also allow resuming from a checkpoint of another algorithm. */
    /* Settings of belief propagation that the options specify. */
    double states, coupling, field, damping, tolerance;
    bool max_product;
    /* The members from here on are set by train_options_check. */
    enum train_problem problem;
    const struct hm_algorithm *algorithm; /* Algorithm of the run; NULL for belief propagation. */
    struct hm_data_spec data, test;
    bool has_test;
    enum train_field_source field_source;
    /* Recipe of a generated Markov random field, or of the potentials on a given graph. */
    struct hm_mrf_recipe recipe;
};

extern const struct cli_option train_table[TRAIN_OPTIONS];

void train_options_init(struct train_options *options);
/* Processes one option that the ranks accept. Returns 0, or EXIT_USAGE with a message. */
int train_options_accept(struct train_options *options, int option, const char *value);
/*
 * Resolves names, sets defaults and checks that the options can be combined. Returns 0, or
 * EXIT_USAGE with a message.
 */
int train_options_check(struct train_options *options);
/*
 * Refuses options that were given but have no effect on this run. Call train_options_check first.
 */
int train_options_refuse_unused(const struct train_options *options);

/*
 * Checks that the platform, the algorithm and the options of servers can be combined;
 * train_options_check calls this function.
 */
int train_platform_check(struct train_options *options);
/* Returns whether the run uses federated averaging, in which rows belong to clients. */
bool train_has_clients(const struct train_options *options);
/* Checks that the options are valid for this number of workers. */
int train_workers_check(const struct train_options *options, double workers);
/* Checks that there are not more parameter servers than parameters. */
int train_servers_check(const struct train_options *options, const struct hm_data_shape *shape);
/* Returns the number of ranks that are not workers (servers or the driver). */
int train_other_ranks(const struct train_options *options);
/*
 * train_slowness_write encodes stragglers and a worker's speed in flop/s as the value of one
 * option; train_slowness_read decodes the value and returns false if it is invalid.
 */
void train_slowness_write(struct hm_text *out, const struct hm_slowness *slowness, double flops);
bool train_slowness_read(const char *text, struct hm_arena *arena, struct hm_slowness *ret_slowness,
                         double *ret_flops);
/*
 * Reads --shares as cumulative fractions: ret_before[k], for k = 0..workers, is the fraction of the
 * rows on ranks before rank k. The value "speed" needs `slowness`, which is NULL if unknown.
 * Returns 0, or EXIT_USAGE with a message.
 */
int train_shares_read(const char *text, const struct hm_slowness *slowness, size_t workers,
                      double *ret_before);

/*
 * train_field_check checks the options of the Markov random field of belief propagation;
 * train_field_load loads a rank's part of this field. *ret_cut tells whether it was read from a
 * list of edges that may be cut.
 */
int train_field_check(struct train_options *options);
int train_field_load(const struct train_options *options, int rank, int size,
                     struct hm_mrf **ret_mrf, bool *ret_cut, struct hm_err *err);

const char *train_problem_name(enum train_problem problem);
/* Returns the loss function of a linear problem with one output; NULL for other problems. */
const struct hm_loss *train_problem_loss(enum train_problem problem);

/* Checks that the data has labels that the problem allows. */
int train_labels_check(const struct train_options *options, const struct hm_data_shape *shape,
                       struct hm_err *err);
struct hm_labels train_labels(const struct train_options *options,
                              const struct hm_data_shape *shape);
/* Writes the scaling of the features, such as "none" or "divide:255", to `text`; returns `text`. */
enum { TRAIN_SCALE_TEXT = 64 };
const char *train_scale_text(const struct hm_scale *scale, char text[TRAIN_SCALE_TEXT]);
/* Returns whether the rows are stored in sparse form. */
bool train_keeps_sparse(const struct train_options *options, const struct hm_data_shape *shape);

/*
 * train_shape_write encodes the result of a scan of the data as the value of one option;
 * train_shape_read decodes the value and returns false if it is invalid.
 */
void train_shape_write(struct hm_text *out, const struct hm_data_shape *shape);
bool train_shape_read(const char *text, struct hm_data_shape *ret_shape);

#endif
