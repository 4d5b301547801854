/*
 * How a platform paces its workers: what it sends in an iteration, whom it waits for, and what
 * uneven and unsteady workers make of that.
 */
#ifndef HM_WAY_TIME_H
#define HM_WAY_TIME_H

#include "howmany.h"

enum { HM_WAY_STEPS = 2 };

struct hm_crew; /* model.h */

/* Whether workers may be apart: async, or SSP with a staleness above 0. */
bool hm__way_stale(const struct hm_way *way);
/* How many times the iterations of fresh gradients n workers need; at least 1. */
double hm__way_stale_cost(const struct hm_way *way, double n);
/* The steps of the platform's communication, for the model of the job; steps[HM_WAY_STEPS]. */
int hm__way_steps(const struct hm_way *way, const struct hm_job *job, struct hm_transfer *steps,
                  size_t *ret_count, struct hm_err *err);

/*
 * Workers that begin together: compute_s, which is that of an even and steady worker, becomes the
 * expected time until all but the backups are done; wait_s is what it grew by.
 */
int hm__crew_together(struct hm_crew *crew, const struct hm_way *way, struct hm_point *points,
                      size_t count, struct hm_err *err);

/* Seconds of a message one way through the port of a worker's node, and of a server for all. */
struct hm_ports {
    const double *worker, *server;
};

/*
 * Workers that may be apart. An iteration is the time in which n gradients are taken: what the
 * workers reach, or what the servers' links let through, whichever is longer. Each worker computes,
 * sends and receives in turn; messages of different workers overlap, and a link moves both ways at
 * once. Sets all times of the points but totals; crew may be NULL: even and steady.
 */
int hm__crew_apart(struct hm_crew *crew, const struct hm_way *way, const struct hm_ports *ports,
                   struct hm_point *points, size_t count, struct hm_err *err);

/* The share of an iteration in which a server's link is busy, in the direction with more. */
double hm__way_server_share(const struct hm_way *way, const struct hm_ports *ports, size_t i,
                            double time_s);

#endif
