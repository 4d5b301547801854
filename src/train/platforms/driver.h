/*
 * The driver is the last rank, which holds the weights w and runs the algorithm; the other ranks
 * (workers) hold the rows. For each gradient over all rows, the driver broadcasts w along a
 * binomial tree, and the sums return in two waves: to the first worker of each group of ceil(sqrt
 * n) workers, and from these to the driver (treeAggregate of Spark, with a broadcast like its
 * torrent broadcast). If a message of M bytes takes a + Mb seconds, this takes
 *
 *     ceil(log2(n + 1)) (a + Mb) + (g - 1 + ceil(n / g)) (a + Mb),   g = ceil(sqrt n),
 *
 * plus the time for the additions.
 */
#ifndef HM_DRIVER_H
#define HM_DRIVER_H

#include "train.h"

/*
 * Runs the main loop of the driver rank, which ends when the workers shut the driver down. `loss`
 * is the loss function of the objective; NULL if the objective is not linear.
 */
int hm__driver_run(struct hm_comm *world, const struct hm_algorithm *algorithm,
                   const struct hm_train_settings *settings, const struct hm_loss *loss,
                   struct hm_err *err);

/*
 * Sends w and the algorithm's state to the driver. All workers must call this function, after
 * hm__run_begin with the initial w; run->comm must contain only the workers. If `save` is true, the
 * driver returns its state after each segment of iterations. Then call hm__train, then
 * hm__driver_worker_end.
 */
int hm__driver_worker_begin(struct hm_run *run, struct hm_comm *world, bool save,
                            struct hm_err *err);
void hm__driver_worker_end(struct hm_run *run);
/*
 * Shuts the driver down because the workers cannot start; only rank 0 sends a message. Call this
 * function instead of hm__driver_worker_begin and hm__driver_worker_end.
 */
void hm__driver_worker_cancel(struct hm_comm *world);

#endif
