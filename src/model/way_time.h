/*
 * Computes the pace of a platform: which messages it sends in an iteration, which workers it waits
 * for, and how stragglers change the time.
 */
#ifndef HM_WAY_TIME_H
#define HM_WAY_TIME_H

#include "howmany.h"

enum { HM_WAY_STEPS = 2 };

/*
 * Straggler table: expected times of a cluster whose workers have different or varying speeds. The
 * table caches results and is not thread-safe.
 */
struct hm_stragglers;

/*
 * Creates the straggler table of a cluster. slowness is borrowed. With by_speed, the work of each
 * worker is proportional to its speed.
 */
int hm__stragglers_new(const struct hm_slowness *slowness, bool by_speed,
                       struct hm_stragglers **ret_stragglers, struct hm_err *err);
void hm__stragglers_free(struct hm_stragglers *stragglers);

/* Returns the number of nodes that a platform needs in addition to the workers' nodes. */
double hm__way_nodes(const struct hm_way *way);
/* Returns the number of workers out of n whose gradients are used. */
double hm__way_used(const struct hm_way *way, double n);
/* Returns whether workers may be in different iterations: async, or SSP with a staleness above
 * 0. */
bool hm__way_stale(const struct hm_way *way);
/*
 * Returns the factor by which stale gradients increase the number of iterations on n workers; at
 * least 1.
 */
double hm__way_stale_cost(const struct hm_way *way, double n);
/* Writes the communication steps of a platform into steps[HM_WAY_STEPS]. */
int hm__way_steps(const struct hm_way *way, const struct hm_job *job, struct hm_transfer *steps,
                  size_t *ret_count, struct hm_err *err);

/*
 * Adds the wait for stragglers to synchronous workers: compute_s, given for a worker without
 * delays, becomes the expected time until all workers except the backups have finished; wait_s is
 * the increase.
 */
int hm__stragglers_wait(struct hm_stragglers *stragglers, const struct hm_way *way,
                        struct hm_point *points, size_t count, struct hm_err *err);

/*
 * Time in seconds of a message in one direction, at the port of a worker's node, and at the port of
 * a server for all workers; one value for each point.
 */
struct hm_ports {
    const double *worker, *server;
};

/*
 * Returns the number of random draws that hm__stragglers_apart needs for SSP with this staleness,
 * if times vary at random: for the given values of n, in ascending order, as far as they are at
 * most max_n, or for all n from 1 to max_n if `n` is NULL.
 */
double hm__stragglers_draws(double staleness, const double *n, size_t count, double max_n);
/*
 * Computes the times with stale workers. An iteration is the time in which n gradients are applied,
 * including the time in which messages queue at the servers' links. Each worker computes, sends and
 * receives in turn; messages of different workers overlap, and a link carries both directions at
 * the same time. All times of the points except the totals are set. stragglers may be NULL when all
 * workers are equally fast and steady.
 */
int hm__stragglers_apart(struct hm_stragglers *stragglers, const struct hm_way *way,
                         const struct hm_ports *ports, struct hm_point *points, size_t count,
                         struct hm_err *err);

/*
 * Returns the fraction of an iteration during which a server's link is busy, in the busier
 * direction.
 */
double hm__way_server_share(const struct hm_way *way, const struct hm_ports *ports, size_t i,
                            double time_s);

#endif
