/* Platforms among the candidates of a plan. */
#ifndef HM_WAYS_H
#define HM_WAYS_H

#include "search.h"

/* Ways to look at for a question: each, and several of it where servers are to be chosen; or one.
 */
size_t hm__ways_count(const struct hm_question *question);
/* The nth of them, 0.., and which of those asked for it belongs to. Fewer servers come first. */
struct hm_way hm__ways_nth(const struct hm_question *question, size_t nth, size_t *ret_asked);
/* Of ways that differ in servers only, the first is taken that is at most so many times worse. */
double hm__ways_fewer(void);

/* A way as it is at a point: there is not more than one server on each node of workers. */
struct hm_way hm__way_at(const struct hm_way *way, const struct hm_point *point);
/* Samples whose gradients count; negative where the job has no batch. */
double hm__search_samples_per_s(const struct hm_search *search, const struct hm_point *point);
/* Whether servers and backups leave anything to look at. */
int hm__way_check(const struct hm_search *search, double max_n, struct hm_err *err);

/* From which n on the servers' links limit; 0: never, or no servers. */
double hm__way_saturates(const struct hm_search *search, const struct hm_curve *curve);
/* Fewest servers with which n workers are nearly as fast as with one for each; 0: no servers. */
int hm__way_enough(const struct hm_search *search, double n, double *ret_servers,
                   struct hm_err *err);
/* Fill what an answer says of the platform and of stragglers. */
int hm__answer_ways(struct hm_answer *answer, const struct hm_search *search,
                    const struct hm_curve *curve, struct hm_err *err);

#endif
