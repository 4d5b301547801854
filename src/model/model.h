/*
 * Models a job from its specification sheet: f(n), the time in seconds of one iteration on n
 * workers, split into computation and communication. The functions are pure: they do no input or
 * output and keep no state between calls.
 */
#ifndef HM_MODEL_H
#define HM_MODEL_H

#include "variant.h"

struct hm_model;

/*
 * Creates a model. job and cluster are borrowed and must outlive the model; cluster may be NULL
 * when the job has only formulas.
 */
int hm__model_new(const struct hm_job *job, const struct hm_cluster *cluster,
                  const struct hm_variant *variant, struct hm_model **ret_model,
                  struct hm_err *err);
void hm__model_free(struct hm_model *model);

/* Same as hm__model_eval, but all communication takes `factor` times as long. */
int hm__model_eval_slowed(const struct hm_model *model, struct hm_point *points, size_t count,
                          double factor, struct hm_err *err);
/*
 * Fills points[i] for n = points[i].n: nodes, time_s, compute_s, wait_s, communicate_s, latency_s,
 * bandwidth_s, server_share, memory_bytes, scheme, fits. Fails if the result of a formula is not a
 * valid time.
 */
static inline int hm__model_eval(const struct hm_model *model, struct hm_point *points,
                                 size_t count, struct hm_err *err)
{
    return hm__model_eval_slowed(model, points, count, 1, err);
}

/*
 * Returns the number of components that add up to the time: compute and each communication step;
 * or, with overlap, compute and the communication that is not hidden.
 */
size_t hm__model_part_count(const struct hm_model *model);
/*
 * Writes the name of a component of the time into text, such as "compute", "parameters by torrent"
 * or "communicate".
 */
void hm__model_part_name(const struct hm_model *model, size_t part, char *text, size_t room);
/* Sets parts[k * count + i] to the time of component k on n[i] workers, in seconds. */
int hm__model_parts(const struct hm_model *model, const double *n, size_t count, double *parts,
                    struct hm_err *err);

/* Returns the kind of overlap between the model's computation and communication; never
 * HM_OVERLAP_AUTO. */
enum hm_overlap hm__model_overlap(const struct hm_model *model);
/*
 * Returns the work factor of the model's variant, which multiplies the number of samples in an
 * iteration.
 */
double hm__model_work(const struct hm_model *model);

/*
 * Returns the index of the communication step that takes longest on n workers, or -1 if there is
 * none; *ret_scheme is set to its scheme.
 */
int hm__model_dominant(const struct hm_model *model, double n, enum hm_scheme *ret_scheme);
/* Returns a communication step of the job or, if a platform is given, of the platform. */
const struct hm_transfer *hm__model_step(const struct hm_model *model, size_t step);
/* Returns the i-th note about the model's assumptions, borrowed, or NULL after the last one. */
const char *hm__model_note(const struct hm_model *model, size_t i);
/*
 * Computes the elasticity of the time on n workers: the relative change of the time t divided by
 * the relative change of a quantity q, d ln t / d ln q.
 */
int hm__model_elasticity(const struct hm_model *model, double n, const char *quantity,
                         double *ret_elasticity, struct hm_err *err);

#endif
