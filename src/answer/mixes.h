/*
 * Chooses the mixes of machines that a plan considers for a cluster with several kinds of machines.
 */
#ifndef HM_MIXES_H
#define HM_MIXES_H

#include "mix.h"
#include "search.h"

/* Largest number of workers in a mixed cluster that a plan considers. */
enum { HM_MIX_WORKERS = 65536 };

/*
 * Chooses the best mix for each number of workers on a mixed cluster, according to the goal and the
 * limits of the search. If `shared` is not NULL, its tables of step times are used; it must be for
 * the same cluster and outlive the result.
 */
int hm__mixes_new(const struct hm_search *search, const struct hm_mixes *shared,
                  struct hm_mixes **ret_mixes, struct hm_err *err);
/* Frees mixes; their tables of step times are freed only if `tables` is true. */
void hm__mixes_free(struct hm_mixes *mixes, bool tables);
/* Returns the number of values of n up to max_n for which there is a mix of n workers. */
size_t hm__mixes_count(const struct hm_mixes *mixes, double max_n);
/* Returns whether there is a mix of exactly n workers. */
bool hm__mixes_have(const struct hm_mixes *mixes, double n);
/*
 * Copies the names of the kinds of a cluster into an arena; returns NULL if the cluster has one
 * kind.
 */
int hm__kind_names(struct hm_arena *arena, const struct hm_cluster *cluster,
                   const char ***ret_names, size_t *ret_count, struct hm_err *err);
/* Returns whether some mixes of the cluster are not tried, because there are too many. */
bool hm__mixes_partial(const struct hm_cluster *cluster);

#endif
