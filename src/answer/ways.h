/* Lists the platforms that a plan compares, and chooses their numbers of servers. */
#ifndef HM_WAYS_H
#define HM_WAYS_H

#include "search.h"

/*
 * Returns the number of platforms to evaluate for a question: each given platform, counted once for
 * every number of servers to try; 1 if the question names no platform.
 */
size_t hm__ways_count(const struct hm_question *question);
/*
 * Returns the nth platform to evaluate; *ret_asked is its index in the question. The numbers of
 * servers of a platform are in ascending order.
 */
struct hm_way hm__ways_nth(const struct hm_question *question, size_t nth, size_t *ret_asked);
/*
 * Returns the factor used to choose the number of servers: the chosen number is the smallest one
 * whose value is at most this factor times the best value.
 */
double hm__ways_fewer(void);

/*
 * Returns the platform as it is used at a point; the number of colocated servers is at most the
 * number of nodes at the point.
 */
struct hm_way hm__way_at(const struct hm_way *way, const struct hm_point *point);
/*
 * Returns the number of samples per second whose gradients are used; NaN if the job has no batch.
 */
double hm__search_samples_per_s(const struct hm_search *search, const struct hm_point *point);
/* Checks that servers and backups leave at least one worker. */
int hm__way_check(const struct hm_search *search, double max_n, struct hm_err *err);

/*
 * Returns the smallest number of workers n at which the servers' links limit the speed; NaN if they
 * never do or there are no servers.
 */
double hm__way_saturates(const struct hm_search *search, const struct hm_curve *curve);
/*
 * Finds the smallest number of servers with which n workers are nearly as fast as with one server
 * per worker; NaN if there are no servers or the number is unknown.
 */
int hm__way_enough(const struct hm_search *search, double n, double *ret_servers,
                   struct hm_err *err);
/* Fills in the fields of an answer that describe the platform and stragglers. */
int hm__answer_ways(struct hm_answer *answer, const struct hm_search *search,
                    const struct hm_curve *curve, struct hm_err *err);

#endif
