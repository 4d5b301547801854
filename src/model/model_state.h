/* Declares the state of a model, which the files that evaluate it share. */
#ifndef HM_MODEL_STATE_H
#define HM_MODEL_STATE_H

#include "layer_time.h"
#include "step_time.h"
#include "symbols.h"
#include "variant.h"

enum { NOTES_MAX = 6, NOTE_TEXT = 160 };

struct hm_model {
    const struct hm_job *job;
    const struct hm_cluster *cluster; /* Hardware; NULL when the job consists of formulas only. */
    struct hm_variant variant;
    /*
     * Counts of the network's layers; NULL when the job has no network. own_counts is NULL if they
     * belong to a shared table.
     */
    const struct hm_counts *counts;
    struct hm_counts *own_counts;
    /* Times of the layers; empty when only totals of the network are known. */
    struct hm_layer_costs costs;
    /*
     * Step times computed from operations; NULL if `costs` contains the times of layers. own_table
     * is NULL if the table is shared.
     */
    struct hm_step_table *table, *own_table;
    /* Kind of overlap between computation and communication; never HM_OVERLAP_AUTO. */
    enum hm_overlap overlap;
    struct hm_wires wires;
    struct hm_transfer platform_steps[HM_WAY_STEPS];
    /* Communication steps of the job, or platform_steps if a platform is given; borrowed. */
    const struct hm_transfer *steps;
    size_t step_count;
    /* Straggler table; NULL if all workers are equally fast. own_stragglers is NULL if the table is
     * shared. */
    struct hm_stragglers *stragglers, *own_stragglers;
    struct hm_slowness capped; /* Slowness of the workers if slow tasks are repeated by speculative
                                  copies; used if the job has a dataflow. */
    double symbols[HM_SYMBOL_COUNT];
    double flops;        /* Flop per second that one worker reaches. */
    double batch;        /* Number of samples in an iteration, multiplied by the work factor. */
    double compute_work; /* Factor that scales the time of a compute formula that does not use the
                            batch. */
    double gradient_bytes;
    /* Memory of a worker in bytes: a fixed number, and a number for each sample; NaN if unknown. */
    double memory_fixed, memory_per_sample;
    /* Memory of a worker without samples, in bytes, which gradients may make larger than the fixed
     * number; NaN if unknown. */
    double memory_least;
    char notes[NOTES_MAX][NOTE_TEXT];
    size_t note_count;
    /*
     * If the cluster is mixed, the mix of machines for each n (borrowed) and the model of each kind
     * of machine (owned); NULL for other clusters.
     */
    const struct hm_mixes *mixes;
    struct hm_pipeline *pipeline; /* Placement of layers; NULL if every worker has all layers. */
    struct hm_model *kinds[HM_KINDS_MAX];
};

/* Creates the model of a mixed cluster; `variant` must contain the mixes of machines. */
int hm__model_new_mixed(const struct hm_job *job, const struct hm_cluster *cluster,
                        const struct hm_variant *variant, struct hm_model **ret_model,
                        struct hm_err *err);
/* Same as hm__model_eval_slowed, but for a model of one kind of machine. */
int hm__model_eval_kind(const struct hm_model *m, struct hm_point *points, size_t count,
                        double factor, struct hm_err *err);
/*
 * Sets *ret_model to a copy of the model of the first kind of machine, with the slowest links of
 * the mix of n workers. The copy must not be freed.
 */
int hm__model_mix_links(const struct hm_model *m, double n, struct hm_model *ret_model,
                        struct hm_err *err);

void hm__model_add_note(struct hm_model *m, const char *text);
/*
 * Returns the number format of matrix products that the job asks for. HM_MATH_AUTO at 32 bits means
 * mixed precision for networks with layers only; formulas, totals and graphs keep the rate of 32
 * bits, since they do not reach a fixed fraction of the rate of matrix units.
 */
enum hm_math hm__model_math(const struct hm_job *job);
int hm__model_fail_missing(const struct hm_model *m, const char *field, const char *message,
                           const char *hint, struct hm_err *err);
/* Checks that formulas have the quantities that they use, and that communication has its links. */
int hm__model_check_formulas(const struct hm_model *m, struct hm_err *err);

/* Sets the links of a TensorFlow strategy; fails if the machine cannot run it. */
int hm__model_set_strategy(struct hm_model *m, struct hm_err *err);
/* Sets the straggler table of the cluster, and adds a note that says that it is used. */
int hm__model_set_stragglers(struct hm_model *m, struct hm_err *err);
/* Returns the time in seconds that one edge of a graph takes if the job has no formula for it: flop
 * divided by the rate or, for a CPU in the catalog, the time of its scalar arithmetic or of its
 * memory traffic. */
double hm__model_edge_time(const struct hm_model *m);
/* Decides whether steps are modelled operation by operation, and how computation and communication
 * overlap. */
int hm__model_set_table(struct hm_model *m, struct hm_err *err);
/* Returns whether a step is an all-reduce of gradients that is sent in buckets. */
bool hm__model_in_buckets(const struct hm_model *m, const struct hm_transfer *t);
/* Returns the number of bytes of a worker's memory that training can use; NaN if unknown. */
double hm__model_memory_limit(const struct hm_model *m);
/*
 * Returns the time in seconds that a worker needs for one pass over `batch` samples, if only the
 * totals of the network are known.
 */
double hm__model_totals_time(const struct hm_model *m, double batch);
/* Computes the time of a step on the slowest of n workers, in seconds and without communication,
 * and the memory of a worker. Each worker performs `passes` forward and backward passes with b
 * samples each. */
int hm__model_table_compute(const struct hm_model *m, double n, double b, double passes,
                            double *ret_s, double *ret_bytes, struct hm_err *err);
/* Computes the communication of all buckets among n workers that perform `passes` passes with b
 * samples each. end_s is the time of the whole step if its last backward pass overlaps with the
 * communication. All communication takes `factor` times as long as on the links alone. */
int hm__model_table_send(const struct hm_model *m, double n, double b, double passes, double factor,
                         enum hm_scheme scheme, const struct hm_wires *wires,
                         struct hm_step_sent *ret_sent, struct hm_err *err);

#endif
