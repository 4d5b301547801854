/*
 * Checks of public structs. Each check names the field, the value and the allowed range, and
 * returns 0 or the code of the error.
 */
#ifndef HM_CHECKS_H
#define HM_CHECKS_H

#include "howmany_advise.h"

/* Whether an optional quantity of a job or a cluster has a value: it is neither 0 nor NaN. */
bool hm__is_given(double value);

/* A pointer that the caller must pass; name is the name of the parameter. */
int hm__check_pointer(const void *pointer, const char *name, struct hm_err *err);
/*
 * Pointers that the caller must pass: pairs of a name and a pointer, then NULL. A NULL pointer is
 * the error that names it.
 */
int hm__check_pointers(struct hm_err *err, ...) __attribute__((sentinel));
/* An array of `count` elements: NULL is allowed only if count is 0. */
int hm__check_array(const void *array, size_t count, const char *name, struct hm_err *err);
/* A finite number from min to max, both included. */
int hm__check_range(const char *field, double value, double min, double max, struct hm_err *err);
/* A finite number above min, and at most max. */
int hm__check_above(const char *field, double value, double min, double max, struct hm_err *err);
/* As hm__check_range, and a whole number. */
int hm__check_whole(const char *field, double value, double min, double max, struct hm_err *err);
/* A value of an enumeration, 0 to count - 1. */
int hm__check_enum(const char *field, int value, int count, struct hm_err *err);
/* As hm__check_enum, for the format of a rendered result. */
int hm__check_format(enum hm_format format, struct hm_err *err);

/* As hm_cluster_check; the names of fields begin with `prefix`, such as "cluster.". */
int hm__cluster_check(const struct hm_cluster *cluster, const char *prefix, struct hm_err *err);
/* Layers with an input shape, or totals; every field of every layer that its kind reads. */
int hm__network_check(const struct hm_network *network, const char *source, struct hm_err *err);
/* A graph that can be split. */
int hm__graph_check(const struct hm_graph *graph, struct hm_err *err);
/* An answer of hm_plan: points, and indices that are in range. */
int hm__answer_check(const struct hm_answer *answer, struct hm_err *err);
/* A fit of hm_fit_new; one that the caller made up has nothing inside. */
int hm__fit_check(const struct hm_fit *fit, struct hm_err *err);
/* As hm_traces_check; without need_loss, losses may be NaN. */
int hm__traces_check(const struct hm_traces *traces, bool need_loss, struct hm_err *err);
/* A fit of g that has at least one algorithm. */
int hm__convergence_check(const struct hm_convergence *convergence, struct hm_err *err);

/* A cluster of machines with one worker each; every other quantity is unknown. */
void hm__cluster_init(struct hm_cluster *cluster);
/* The defaults of hm_job_new; memory is an arena, which the job owns. */
void hm__job_init(struct hm_job *job, void *memory);
/* A job with a network and without communication: assume the best all-reduce of gradients. */
int hm__job_assume_allreduce(struct hm_job *job, struct hm_err *err);
/* The line of a row in its file; 0 where lines are unknown. */
int hm__runs_line(const struct hm_runs *runs, size_t row);

#endif
