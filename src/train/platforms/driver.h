/*
 * A driver: w and the algorithm are on a rank of its own, the last; the others have rows. For each
 * w that the algorithm wants to know the gradient at, all rows, the driver sends it out by a
 * binomial tree, and the sums come back in two waves: to the first of each ceil(sqrt n) workers,
 * and from those to the driver (treeAggregate of Spark, with a broadcast like its torrents). With
 * messages of M bytes that takes
 *
 *     ceil(log2(n + 1)) (a + Mb) + (g - 1 + ceil(n / g)) (a + Mb) and the adding, g = ceil(sqrt n)
 */
#ifndef HM_DRIVER_H
#define HM_DRIVER_H

#include "train.h"

/* The driver's life, with the objective's loss (NULL: not linear), until the workers have said
 * goodbye. */
int hm__drive(struct hm_comm *world, const struct hm_algorithm *algorithm,
              const struct hm_train_settings *settings, const struct hm_loss *loss,
              struct hm_err *err);

/*
 * Worker ranks, all together: after hm__run_begin, with w at its start, hand w and the algorithm's
 * state to the driver; run->comm is of the workers alone. `save`: the state comes back after each
 * stretch. Then hm__train, then end.
 */
int hm__driven_begin(struct hm_run *run, struct hm_comm *world, bool save, struct hm_err *err);
void hm__driven_end(struct hm_run *run);
/* In place of both, by rank 0, where workers cannot begin: let the driver go. */
void hm__driven_cancel(struct hm_comm *world);

#endif
