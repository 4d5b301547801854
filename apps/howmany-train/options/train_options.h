/*
 * The options of a training run, in one table: `howmany train` reads and checks them and starts the
 * ranks; the ranks (howmany-train) read the same options again.
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
 * Order of the table: first the options that only the ranks accept, then those that both accept,
 * then those of `howmany train` alone. Ranks see the first TRAIN_RANKS; howmany train all but the
 * first TRAIN_HIDDEN.
 */
enum {
    TRAIN_HIDDEN = 2,
    TRAIN_RANKS = 50,
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
    bool given[TRAIN_RANKS]; /* Which options were given. */
    /* As given; the texts are borrowed. */
    const char *problem_name, *algorithm_name, *data_name, *labels, *label_column, *test_name;
    const char *checkpoint, *beliefs;
    const char *scanned; /* Result of the scan of the data by `howmany train`, for the ranks. */
    double positive;     /* NAN: not given. */
    struct hm_scale scale;
    bool has_scale; /* Whether --scale was given. */
    enum train_keep keep;
    enum hm_order order;
    double lambda;    /* Negative: not given. */
    double data_seed; /* Seed of generated rows; negative: the seed of the run. */
    struct hm_train_settings settings;
    struct hm_perceptron_spec layers;
    int scheme; /* An enum hm_reduce_scheme. */
    enum hm_platform platform;
    struct hm_serving serving; /* Settings of parameter servers; `workers` is not set here. */
    bool colocated;            /* Servers are on the nodes of the first workers. */
    const char *shares;        /* Shares of the rows for each rank, or "speed"; NULL: equal. */
    /* Stragglers of the simulated cluster, encoded by train_slowness_write. */
    const char *slowness;
    struct hm_train_limits limits;
    double epochs; /* Maximum number of passes over the data; 0: no limit. */
    double eval_every, save_every;
    bool usage; /* Report the usage of each rank at each evaluation. */
    bool resume;
    /* Belief propagation. */
    double states, coupling, field, damping, tolerance;
    bool max_product;
    /* Set by train_options_check. */
    enum train_problem problem;
    const struct hm_algorithm *algorithm; /* NULL for belief propagation. */
    struct hm_data_spec data, test;
    bool has_test;
    enum train_field_source field_source;
    struct hm_mrf_recipe recipe; /* Recipe of a generated field, or of a graph's potentials. */
};

extern const struct cli_option train_table[TRAIN_OPTIONS];

void train_options_init(struct train_options *options);
/* Process one option of the ranks. Returns 0, or EXIT_USAGE with a message. */
int train_options_accept(struct train_options *options, int option, const char *value);
/*
 * Resolve names, set defaults and check the combination. Returns 0, or EXIT_USAGE with a message.
 */
int train_options_check(struct train_options *options);
/* Refuse options that were given but have no effect. Requires a checked run. */
int train_options_refuse_unused(const struct train_options *options);

/*
 * Check that platform, algorithm and the options of servers fit together; part of the check above.
 */
int train_platform_check(struct train_options *options);
/* Check the options against the number of workers. */
int train_workers_check(const struct train_options *options, double workers);
/* Check the number of servers against the number of parameters. */
int train_servers_check(const struct train_options *options, const struct hm_data_shape *shape);
/* Number of ranks besides the workers. */
int train_other_ranks(const struct train_options *options);
/*
 * Encode stragglers, with a worker's speed in flop/s, as one option value; decode it. Decoding
 * returns false if the text is invalid.
 */
void train_slowness_write(struct hm_text *out, const struct hm_slowness *slowness, double flops);
bool train_slowness_read(const char *text, struct hm_arena *arena, struct hm_slowness *ret_slowness,
                         double *ret_flops);
/*
 * Read --shares as cumulative fractions, [workers + 1] from 0 to 1: the part of the rows on ranks
 * before each rank. `slowness` (NULL: unknown) is for "speed". Returns 0, or EXIT_USAGE with a
 * message.
 */
int train_shares_read(const char *text, const struct hm_slowness *slowness, size_t workers,
                      double *ret_before);

/* Check the options of belief propagation's field; load a rank's part of it. */
int train_field_check(struct train_options *options);
int train_field_load(const struct train_options *options, int rank, int size,
                     struct hm_mrf **ret_mrf, struct hm_err *err);

const char *train_problem_name(enum train_problem problem);
/* Loss of linear problems with one output; NULL otherwise. */
const struct hm_loss *train_problem_loss(enum train_problem problem);

/* Check that the labels of the data suit the problem. */
int train_labels_check(const struct train_options *options, const struct hm_data_shape *shape,
                       struct hm_err *err);
struct hm_labels train_labels(const struct train_options *options,
                              const struct hm_data_shape *shape);
/* Write "none", "divide:255" and so on; returns `text`. */
enum { TRAIN_SCALE_TEXT = 64 };
const char *train_scale_text(const struct hm_scale *scale, char text[TRAIN_SCALE_TEXT]);
/* Whether rows are stored sparse. */
bool train_keeps_sparse(const struct train_options *options, const struct hm_data_shape *shape);

/*
 * Encode the result of a scan as one option value; decode it. Decoding returns false if the text is
 * invalid.
 */
void train_shape_write(struct hm_text *out, const struct hm_data_shape *shape);
bool train_shape_read(const char *text, struct hm_data_shape *ret_shape);

#endif
