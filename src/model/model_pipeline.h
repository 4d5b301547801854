/* Places the layers of a network on several workers, which form a pipeline. */
#ifndef HM_MODEL_PIPELINE_H
#define HM_MODEL_PIPELINE_H

#include "model_state.h"
#include "place.h"

/* The best placement on n workers: `replicas` pipelines of `stages` workers each. */
struct hm_pipeline_choice {
    double stages, replicas;
    double micro_batch, micro_batches; /* Number of samples in a micro-batch, and number of
                                          micro-batches in a step. */
    double busy_s;       /* Time in seconds for which a worker computes, averaged over the
                            stages. */
    double send_s;       /* Time in seconds of messages between stages and among replicas. */
    double time_s;       /* Time of one training step in seconds. */
    double memory_bytes; /* Memory of the fullest stage in bytes. */
    bool fits;
    bool metis; /* True if METIS found the placement; false if it was found by dynamic programming
                   over the chain of units. */
    size_t rows[HM_STAGES_MAX]; /* For a placement of the chain: index after the last row of the
                                   counts in each stage. */
};

/* Prepares the placement of the model's network; fails if its layers are not known. */
int hm__model_set_pipeline(struct hm_model *m, struct hm_err *err);
void hm__pipeline_free(struct hm_pipeline *pipeline);
/* Returns the number of units (layers or blocks of layers) that are placed on the stages. */
size_t hm__model_pipeline_units(const struct hm_model *m);
/* Finds the best placement on n workers. */
int hm__model_pipeline_choose(const struct hm_model *m, double n,
                              struct hm_pipeline_choice *ret_choice, struct hm_err *err);
/* Sets the times and the memory of points. */
int hm__model_eval_pipeline(const struct hm_model *m, struct hm_point *points, size_t count,
                            double factor, struct hm_err *err);

#endif
