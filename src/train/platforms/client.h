/*
 * A worker's side of a parameter server: a copy of w that may be old, and what is to be added to
 * the servers' own. See server.h.
 */
#ifndef HM_CLIENT_H
#define HM_CLIENT_H

#include "server.h"

struct hm_client;

/* A client of this rank for w of so many unknowns; the servers begin by sending w. */
int hm__client_new(struct hm_comm *world, const struct hm_serving *serving, size_t unknowns,
                   double clock, struct hm_arena *arena, struct hm_client **ret_client,
                   struct hm_err *err);

/*
 * w for the clock to work on: waits until it is new enough. True, and no w, when the servers stand
 * still; call it again after hm__client_resume.
 */
bool hm__client_get(struct hm_client *client, const double **ret_w);
/* The clock that w is for. */
double hm__client_clock_now(const struct hm_client *client);

/* Add to one unknown, or to several in a row; sent with the next clock. */
void hm__client_inc(struct hm_client *client, size_t place, double by);
void hm__client_batch_inc(struct hm_client *client, size_t first, size_t count, const double *by);
/* This clock is done; what was added is of so many rows. */
void hm__client_clock(struct hm_client *client, double rows);

/*
 * With backups: whether all servers have made the step without us. Then what was added may be given
 * up, and the next get is of the newest w.
 */
bool hm__client_is_late(struct hm_client *client);
void hm__client_give_up(struct hm_client *client);

/* Say goodbye; the servers stand still. */
void hm__client_leave(struct hm_client *client);

/* The servers go on; target, stood_s and fresh as in their letter, to all of them. */
void hm__client_resume(struct hm_client *client, double target, double stood_s, bool fresh);

/* Seconds in get so far, and reads by age. */
double hm__client_wait_s(const struct hm_client *client);
const double *hm__client_ages(const struct hm_client *client);

#endif
