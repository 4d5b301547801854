/*
 * How a platform paces its workers: what it sends in an iteration, whom it waits for, and what
 * uneven and unsteady workers make of that.
 */
#ifndef HM_WAY_TIME_H
#define HM_WAY_TIME_H

#include "howmany.h"

enum { HM_WAY_STEPS = 2 };

/* Whether workers may be apart: async, or SSP with a staleness above 0. */
bool hm_way_stale(const struct hm_way *way);
/* The steps of the platform's communication, for the model of the job; steps[HM_WAY_STEPS]. */
int hm_way_steps(const struct hm_way *way, const struct hm_job *job, struct hm_transfer *steps,
                 size_t *ret_count, struct hm_err *err);

struct hm_pace; /* the slowness of a cluster, ready to be evaluated */

/* slowness is borrowed; by_speed: every worker has a share of the work by its speed. */
int hm_pace_new(const struct hm_slowness *slowness, bool by_speed, struct hm_pace **ret_pace,
                struct hm_err *err);
void hm_pace_free(struct hm_pace *pace);

/*
 * Workers that begin together: compute_s, which is that of an even and steady worker, becomes the
 * expected time until all but the backups are done; wait_s is what it grew by.
 */
void hm_pace_together(struct hm_pace *pace, const struct hm_way *way, struct hm_point *points,
                      size_t count);

/* Seconds of a message one way through the port of a worker's node, and of a server for all. */
struct hm_ports {
    const double *worker, *server;
};

/*
 * Workers that may be apart. An iteration is the time in which n gradients are taken: what the
 * workers reach, or what the servers' links let through, whichever is longer. Each worker computes,
 * sends and receives in turn; messages of different workers overlap, and a link moves both ways at
 * once. Sets all times of the points but totals; pace may be NULL: even and steady.
 */
int hm_pace_apart(struct hm_pace *pace, const struct hm_way *way, const struct hm_ports *ports,
                  struct hm_point *points, size_t count, struct hm_err *err);

/* The share of an iteration in which a server's link is busy, in the direction with more. */
double hm_way_server_share(const struct hm_way *way, const struct hm_ports *ports, size_t i,
                           double time_s);

#endif
