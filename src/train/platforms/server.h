/*
 * A parameter server: w in pieces on ranks of their own, which workers read and add to.
 *
 * The first `workers` ranks have rows, the others have a piece of w each: piece k, the k-th of as
 * many equal blocks, is on rank workers + k. A worker reads w (get), adds to it (inc, batch_inc),
 * and says that it is done with a clock (clock, client.h); one message to each server brings all
 * that it added, and the answer w as it is then. What is added is gradients: the server has the
 * second half of the algorithm's step (hm_algorithm.update).
 *
 * Clocks are counted from 0. A worker that works on clock c has finished c of them.
 *
 *     BSP     The gradients of a clock are added up in the order of the workers when the last one
 *             is there, and make one step; then all go on. With b backups the first n - b that
 *             come make the step, again in the order of the workers; whoever comes later is told
 *             the newest w, and what it brought is dropped.
 *     SSP(s)  A gradient is a part of a step, which is made when it comes. Nobody works on clock c
 *             before all have finished c - s (Ho et al.: More effective distributed ML via a stale
 *             synchronous parallel parameter server, NIPS 2013). SSP(0) is BSP, bit for bit.
 *     async   The same, and nobody waits.
 *
 * An iteration is a step of BSP; otherwise it is n parts of steps, whoever has brought them.
 *
 * To look at w the servers stand still after so many iterations: whoever asks is told so, until
 * all workers are there. What came too late is brought again afterwards, where time is virtual at
 * the same distance from the moment at which they stood still; the time in between is not counted.
 */
#ifndef HM_SERVER_H
#define HM_SERVER_H

#include "run.h"
#include "train.h"

struct hm_serving {
    enum hm_consistency consistency;
    double staleness; /* of SSP, >= 0 */
    int workers;      /* the first ranks */
    int servers;      /* the ranks after them */
    int backups;      /* of BSP, < workers */
    bool pull_late;   /* of SSP: read w again only when the copy that is there is too old */
    bool together;    /* wait for each other before each look, so that it can be saved */
};

/* Reads of the same age are counted together; the last also counts older ones. */
enum { HM_STALENESS_BINS = 64 };

/* What a run with servers has to tell, from its start (or from where it went on). */
struct hm_served_stats {
    double staleness[HM_STALENESS_BINS]; /* reads whose w lacked gradients of k finished clocks */
    double *wait_s;                      /* [workers]: in get, messages included */
    double *server_bytes;                /* [servers]: through its port, both ways */
    double used, dropped; /* gradients of workers; a piece of one counts as its share */
    double lead;          /* largest: clock worked on, less the clocks finished by the slowest */
};

/* A server rank's life, until all workers have said goodbye. */
int hm__serve(struct hm_comm *world, const struct hm_serving *serving,
              const struct hm_algorithm *algorithm, const struct hm_train_settings *settings,
              struct hm_err *err);

/*
 * Worker ranks, all together: after hm__run_begin, with w at its start, hand w and the algorithm's
 * state to the servers; run->comm is of the workers alone. Then hm__train, then end.
 */
int hm__served_begin(struct hm_run *run, struct hm_comm *world, const struct hm_serving *serving,
                     struct hm_err *err);
void hm__served_end(struct hm_run *run);
/* In place of both, by rank 0, where workers cannot begin: let the servers go. */
void hm__served_cancel(struct hm_comm *world, const struct hm_serving *serving);
/* Called by all workers; whole on rank 0. */
const struct hm_served_stats *hm__served_stats(struct hm_run *run);

#endif
