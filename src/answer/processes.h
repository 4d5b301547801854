/* Chooses the numbers of processes and threads on the machines of a plan. */
#ifndef HM_PROCESSES_H
#define HM_PROCESSES_H

#include "search.h"

/*
 * If the plan chooses the processes and threads of a cluster, replaces the cluster with one cluster
 * for each choice: p processes with cores/p threads, for every divisor p of the cores of a machine.
 * *ret_clusters is in the arena, or is `clusters` if nothing is replaced. If there are no clusters,
 * the cluster of the job is used.
 */
int hm__processes_expand(const struct hm_job *job, const struct hm_cluster *const *clusters,
                         size_t count, struct hm_arena *arena,
                         const struct hm_cluster *const **ret_clusters, size_t *ret_count,
                         struct hm_err *err);
/* Returns whether a cluster is one of those that hm__processes_expand created. */
bool hm__processes_chosen(const struct hm_cluster *cluster);
/* Sets the processes and threads of the answer and adds a note that compares them with one process
 * on all cores, whose best point takes single_s seconds (NaN if unknown). */
int hm__answer_processes(struct hm_answer *answer, const struct hm_search *search, double single_s,
                         struct hm_err *err);

#endif
