/*
 * With parameter servers, the weights w are split into shards on separate ranks, which the workers
 * read and update.
 *
 * The first `workers` ranks hold the rows of the data. Each of the other ranks holds one shard of
 * w: w is divided into equal blocks, and block k is on rank workers + k. A worker reads w (get),
 * adds to it (add), and finishes a clock (clock; see client.h); then it pushes its increments with
 * one message to each server, and the reply contains the server's shard of w at that time. The
 * increments are gradients: the server applies the second half of the algorithm's step
 * (hm_algorithm.update).
 *
 * Clocks are counted from 0. A worker that computes clock c has finished c clocks.
 *
 *     BSP     When the gradients of a clock from all workers have arrived, they are added in the
 *             order of the workers and make one step; then all workers continue. With b backup
 *             workers the first n - b gradients make the step, again added in the order of the
 *             workers; a gradient that arrives later is dropped, and its worker gets the newest w.
 *     SSP(s)  Each gradient is applied on arrival, as a fraction of a step. No worker computes
 *             clock c before all workers have finished clock c - s (Ho et al.: More effective
 *             distributed ML via a stale synchronous parallel parameter server, NIPS 2013). SSP(0)
 *             and BSP have the same bits.
 *     async   Like SSP, but without a staleness bound.
 *
 * With BSP, an iteration is one step; with SSP and async, it is n gradients from any workers, where
 * n is the number of workers.
 *
 * To evaluate w, the servers pause after a given number of iterations. They notify each worker that
 * sends a message, until all workers have stopped. After the pause, workers send the gradients that
 * arrived during it again; in virtual time, the delay of a gradient after the resumption equals its
 * delay after the start of the pause. The duration of a pause is not measured.
 */
#ifndef HM_SERVER_H
#define HM_SERVER_H

#include "run.h"
#include "train.h"

struct hm_serving {
    enum hm_consistency consistency;
    double staleness; /* Staleness bound of SSP in clocks, at least 0. */
    int workers;      /* Number of workers, which are the first ranks. */
    int servers;      /* Number of servers, which are the ranks after the workers. */
    int backups; /* Number of backup workers with BSP, which is less than the number of workers. */
    /*
     * True if workers pull the weights w only when their copy would exceed the staleness bound;
     * used only with SSP.
     */
    bool pull_late;
    /*
     * True if all workers stop at the same clock before an evaluation, so that a checkpoint can be
     * saved.
     */
    bool together;
};

/* Number of bins of the staleness histogram; the last bin also counts larger values. */
enum { HM_STALENESS_BINS = 64 };

/* Statistics of a run with parameter servers, since its start or since it was resumed. */
struct hm_server_stats {
    /* Number of reads of the weights w with each staleness, in clocks. */
    double staleness[HM_STALENESS_BINS];
    /*
     * Time in seconds that each worker spent in get and push, including the transfer of messages;
     * one element per worker.
     */
    double *wait_s;
    /* Number of bytes that each server sent or received; one element per server. */
    double *server_bytes;
    /*
     * Numbers of gradients that were applied and that were dropped; a shard of a gradient counts as
     * a fraction.
     */
    double used, dropped;
    /* Largest number of clocks by which any worker was ahead of the slowest worker. */
    double lead;
};

/* Runs the main loop of a server rank, which ends when all workers have disconnected. */
int hm__server_run(struct hm_comm *world, const struct hm_serving *serving,
                   const struct hm_algorithm *algorithm, const struct hm_train_settings *settings,
                   struct hm_err *err);

/*
 * Sends w and the algorithm's state to the servers. All workers must call this function, after
 * hm__run_begin with the initial w; run->comm must contain only the workers. Then call hm__train,
 * then hm__server_worker_end.
 */
int hm__server_worker_begin(struct hm_run *run, struct hm_comm *world,
                            const struct hm_serving *serving, struct hm_err *err);
void hm__server_worker_end(struct hm_run *run);
/*
 * Shuts the servers down because the workers cannot start; only rank 0 sends a message. Call this
 * function instead of hm__server_worker_begin and hm__server_worker_end.
 */
void hm__server_worker_cancel(struct hm_comm *world, const struct hm_serving *serving);
/*
 * Gets the statistics of the run. All workers must call this function; the result is complete only
 * on rank 0.
 */
const struct hm_server_stats *hm__server_worker_stats(struct hm_run *run);

#endif
