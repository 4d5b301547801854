/*
 * What a training run is told, by one table of options: `howmany train` reads it, checks it and
 * starts ranks; the ranks (howmany-train) read the same words again.
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
 * One table: first what is for the ranks only, then what both understand, then what is of `howmany
 * train` alone. Ranks see the first TRAIN_RANKS, howmany train all but the first TRAIN_HIDDEN.
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
    bool given[TRAIN_RANKS]; /* which options */
    /* As given; texts borrowed. */
    const char *problem_name, *algorithm_name, *data_name, *labels, *label_column, *test_name;
    const char *checkpoint, *beliefs;
    const char *scanned; /* what `howmany train` found in the data, for the ranks */
    double positive;     /* NAN: not given */
    struct hm_scale scale;
    bool has_scale; /* it was given */
    enum train_keep keep;
    enum hm_order order;
    double lambda;    /* negative: not given */
    double data_seed; /* of rows that are made; negative: as the run's */
    struct hm_train_settings settings;
    struct hm_perceptron_spec layers;
    int scheme; /* enum hm_reduce_scheme */
    enum hm_platform platform;
    struct hm_serving serving; /* of servers; workers: not known here */
    bool colocated;            /* servers are on the nodes of the first workers */
    const char *shares;        /* of the rows that ranks get, or "speed"; NULL: equal */
    const char *slowness;      /* of the simulated cluster, as train_slowness_write has it */
    struct hm_train_limits limits;
    double epochs; /* limit in passes over the data; 0: none */
    double eval_every, save_every;
    bool usage; /* tell what each rank uses at each look */
    bool resume;
    /* Belief propagation. */
    double states, coupling, field, damping, tolerance;
    bool max_product;
    /* Found by train_options_check. */
    enum train_problem problem;
    const struct hm_algorithm *algorithm; /* NULL for belief propagation */
    struct hm_data_spec data, test;
    bool has_test;
    enum train_field_source field_source;
    struct hm_mrf_recipe recipe; /* of a field that is made, or of a graph's potentials */
};

extern const struct cli_option train_table[TRAIN_OPTIONS];

void train_options_init(struct train_options *options);
/* Take one option of the ranks; 0, or EXIT_USAGE with a message. */
int train_options_accept(struct train_options *options, int option, const char *value);
/* Names to things, defaults, and whether it all fits together; 0, or EXIT_USAGE with a message. */
int train_options_check(struct train_options *options);
/* Of a checked run: refuses what was given but would change nothing. */
int train_options_refuse_unused(const struct train_options *options);

/* train_platform.c */
/* Whether platform, algorithm and the options of servers fit together; part of the check. */
int train_platform_check(struct train_options *options);
/* The same for a number of workers. */
int train_workers_check(const struct train_options *options, double workers);
/* And for the data: a server needs something to serve. */
int train_servers_check(const struct train_options *options, const struct hm_data_shape *shape);
/* Ranks besides the workers. */
int train_other_ranks(const struct train_options *options);
/* Stragglers as one word, with a worker's speed in flop/s, and back; false when it is none. */
void train_slowness_write(struct hm_text *out, const struct hm_slowness *slowness, double flops);
bool train_slowness_read(const char *text, struct hm_arena *arena, struct hm_slowness *ret_slowness,
                         double *ret_flops);
/*
 * --shares as what goes to the ranks before each, [workers + 1] from 0 to 1. `slowness` (NULL: not
 * known) is for "speed". 0, or EXIT_USAGE with a message.
 */
int train_shares_read(const char *text, const struct hm_slowness *slowness, size_t workers,
                      double *ret_before);

/* The same for belief propagation's field, and a rank's part of it. */
int train_field_check(struct train_options *options);
int train_field_load(const struct train_options *options, int rank, int size,
                     struct hm_mrf **ret_mrf, struct hm_err *err);

const char *train_problem_name(enum train_problem problem);
/* Of linear problems with one output; NULL otherwise. */
const struct hm_loss *train_problem_loss(enum train_problem problem);

/* Whether the data's labels can be those of the problem. */
int train_labels_check(const struct train_options *options, const struct hm_data_shape *shape,
                       struct hm_err *err);
struct hm_labels train_labels(const struct train_options *options,
                              const struct hm_data_shape *shape);
/* "none", "divide:255" and so on; returns `text`. */
enum { TRAIN_SCALE_TEXT = 64 };
const char *train_scale_text(const struct hm_scale *scale, char text[TRAIN_SCALE_TEXT]);
/* Whether rows are kept sparse. */
bool train_keeps_sparse(const struct train_options *options, const struct hm_data_shape *shape);

/* What a scan found as one word, and back; false when the word is not one. */
void train_shape_write(struct hm_text *out, const struct hm_data_shape *shape);
bool train_shape_read(const char *text, struct hm_data_shape *ret_shape);

#endif
