/*
 * Declares a worker's connection to the parameter servers: a copy of the weights w, which may be
 * stale, and the increments that will be pushed. See server.h.
 */
#ifndef HM_CLIENT_H
#define HM_CLIENT_H

#include "server.h"

struct hm_client;

/*
 * Creates the connection of this rank to the servers, for `unknowns` weights. The servers send the
 * first weights without a request.
 */
int hm__client_new(struct hm_comm *world, const struct hm_serving *serving, size_t unknowns,
                   double clock, struct hm_arena *arena, struct hm_client **ret_client,
                   struct hm_err *err);

/*
 * Gets the weights w for the current clock; waits until they are fresh enough. If the servers are
 * paused, returns true and does not set *ret_w; the caller must then call hm__client_resume and
 * this function again.
 */
bool hm__client_get(struct hm_client *client, const double **ret_w);
/* Returns the clock for which this worker computes a gradient. */
double hm__client_clock_now(const struct hm_client *client);

/*
 * Adds by[0..count) to the increments of the weights, starting at index `first`; the increments are
 * pushed at the end of the clock.
 */
void hm__client_add(struct hm_client *client, size_t first, size_t count, const double *by);
/* Finishes this clock and pushes the increments, which are the sum over `rows` rows of the data. */
void hm__client_clock(struct hm_client *client, double rows);

/*
 * Returns whether all servers have taken the step without this worker, which can happen only with
 * backup workers. If so, its increments can be discarded, and the next hm__client_get returns the
 * newest w.
 */
bool hm__client_is_late(struct hm_client *client);
void hm__client_abandon(struct hm_client *client);

/* Disconnects from the servers, which must be paused. */
void hm__client_disconnect(struct hm_client *client);

/*
 * Continues after a pause, when the servers resume. The arguments are the same as in the RESUME
 * message that was sent to the servers.
 */
void hm__client_resume(struct hm_client *client, double target, double paused_s, bool drop_late);

/*
 * hm__client_wait_s returns the time in seconds that this worker has spent in get and push.
 * hm__client_staleness returns an array of HM_STALENESS_BINS numbers, which say how often the
 * weights w were read with each staleness.
 */
double hm__client_wait_s(const struct hm_client *client);
const double *hm__client_staleness(const struct hm_client *client);

#endif
