/*
 * Checks public structs. Each check returns 0, or the code of an error that names the field, its
 * value and the allowed range.
 */
#ifndef HM_CHECKS_H
#define HM_CHECKS_H

#include "howmany_advise.h"

struct hm_arena;

/* Returns whether an optional quantity of a job or a cluster has a value: it is neither 0 nor
 * NaN. */
bool hm__is_given(double value);

/* Checks that a required pointer is not NULL; `name` is the name of the parameter. */
int hm__check_pointer(const void *pointer, const char *name, struct hm_err *err);
/*
 * Checks that several required pointers are not NULL. The arguments are pairs of a name and a
 * pointer, followed by NULL. The error names the first NULL pointer.
 */
int hm__check_pointers(struct hm_err *err, ...) __attribute__((sentinel));
/* Checks the pointer to an array: it may be NULL only if `count` is 0. */
int hm__check_array(const void *array, size_t count, const char *name, struct hm_err *err);
/* Checks that a number is finite, at least `min` and at most `max`. */
int hm__check_range(const char *field, double value, double min, double max, struct hm_err *err);
/* Checks that a number is finite, above `min`, and at most `max`. */
int hm__check_above(const char *field, double value, double min, double max, struct hm_err *err);
/* Checks a seed of random draws: 0 or more, and small enough that a fraction would be seen. */
int hm__check_seed(double seed, struct hm_err *err);
/* Same as hm__check_range, but the number must also be whole. */
int hm__check_whole(const char *field, double value, double min, double max, struct hm_err *err);
/* Checks that a value belongs to an enumeration with the values 0 to count - 1. */
int hm__check_enum(const char *field, int value, int count, struct hm_err *err);
/* Checks that a format is a value of enum hm_format. */
int hm__check_format(enum hm_format format, struct hm_err *err);

/*
 * Same as hm_cluster_check, but the error adds a prefix, such as "cluster.", to the name of the
 * field.
 */
int hm__cluster_check(const struct hm_cluster *cluster, const char *prefix, struct hm_err *err);
/*
 * Checks a network: it must have layers and an input shape, or the total numbers of parameters and
 * flop. For each layer, the fields that its kind uses are checked.
 */
int hm__network_check(const struct hm_network *network, const char *source, struct hm_err *err);
/* Checks that a graph has the data needed to split it. */
int hm__graph_check(const struct hm_graph *graph, struct hm_err *err);
/* Checks that an answer of hm_plan has points, and that its indices of points are in range. */
int hm__answer_check(const struct hm_answer *answer, struct hm_err *err);
/*
 * Checks that a fit was created by hm_fit_new; a struct that the caller filled in lacks internal
 * data.
 */
int hm__fit_check(const struct hm_fit *fit, struct hm_err *err);
/* Same as hm_traces_check, but losses may be NaN if `need_loss` is false. */
int hm__traces_check(const struct hm_traces *traces, bool need_loss, struct hm_err *err);
/* Checks that a fit of the loss curve has at least one algorithm. */
int hm__convergence_check(const struct hm_convergence *convergence, struct hm_err *err);

/* Checks the kinds of machines in a mixed cluster; errors add `prefix` to the name of the field. */
int hm__cluster_check_kinds(const struct hm_cluster *cluster, const char *prefix,
                            struct hm_err *err);
/* Copies a cluster with its strings, speeds and kinds of machines into an arena. */
int hm__cluster_copy(struct hm_arena *arena, const struct hm_cluster *from, struct hm_cluster *to,
                     struct hm_err *err);
/*
 * Sets the kinds of machines in a cluster; there must be at least one. The fields that describe a
 * machine are copied from the first kind, and the name lists all kinds. `kinds` is borrowed.
 */
int hm__cluster_set_kinds(struct hm_arena *arena, struct hm_cluster *cluster,
                          const struct hm_kind *kinds, size_t count, struct hm_err *err);
/* Returns whether the price of every machine in the cluster is known. */
bool hm__cluster_priced(const struct hm_cluster *cluster);
/* Returns the total number of workers in the cluster; NaN or 0 for no limit. */
double hm__cluster_workers(const struct hm_cluster *cluster);
/*
 * Returns the memory of a worker in bytes; NaN if it is unknown or differs between kinds of
 * machines.
 */
double hm__cluster_memory(const struct hm_cluster *cluster);
/* Fails if a cluster has several kinds of machines; the cluster may be NULL. */
int hm__cluster_one_kind(const struct hm_cluster *cluster, struct hm_err *err);
/* Initialises a cluster of machines with one worker each; all other quantities are unknown. */
void hm__cluster_init(struct hm_cluster *cluster);
/*
 * Returns whether messages refer to the workers of a machine as GPUs: the machine has several
 * accelerators, and its title does not name another kind of chip.
 */
bool hm__cluster_has_gpus(const struct hm_cluster *cluster);
/*
 * Returns whether the accelerators run only steps that XLA or Neuron has compiled as a whole:
 * Google's TPU and Amazon's Trainium have no individual kernels that eager software could call.
 */
bool hm__cluster_compiles(const struct hm_cluster *cluster);
/* Sets the same defaults as hm_job_new; the job takes ownership of the arena `memory`. */
void hm__job_init(struct hm_job *job, void *memory);
/*
 * Assumes the best all-reduce of gradients if the job has a network and no description of its
 * communication.
 */
int hm__job_assume_allreduce(struct hm_job *job, struct hm_err *err);
/* Checks a table like hm_runs_check, and fails if it has no column with times, as a table of
 * hm_runs_cross. */
int hm__runs_check_times(const struct hm_runs *runs, struct hm_err *err);
/* Returns the line number of a row of the table in its file; 0 if line numbers are unknown. */
int hm__runs_line(const struct hm_runs *runs, size_t row);
/*
 * Same as hm_runs_where for several conditions, all of which a row must meet. The table is checked
 * only once. If a condition fails, the rows that meet the conditions before it are kept.
 */
int hm__runs_where(struct hm_runs *runs, const char *const *conditions, size_t count,
                   struct hm_err *err);

#endif
