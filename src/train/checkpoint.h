/*
 * Checkpoints: one file with the model, the algorithm's state and what was spent so far. Written
 * whole beside the old one and then put in its place, with a checksum at the end. What belongs to
 * rows is kept in the order of the data, so that any number of ranks can go on from it.
 */
#ifndef HM_CHECKPOINT_H
#define HM_CHECKPOINT_H

#include "train.h"

/* Called by all ranks. Rank 0 writes; it is on the disk when this returns. */
int hm__checkpoint_save(const char *path, struct hm_run *run, const char *identity,
                        const struct hm_train_totals *totals, struct hm_err *err);
/*
 * Called by all ranks after hm__run_begin: fill in w, the state and the totals. A file that is
 * damaged, or of another problem, data or algorithm, is refused with the reason.
 */
int hm__checkpoint_load(const char *path, struct hm_run *run, const char *identity,
                        struct hm_train_totals *ret_totals, struct hm_err *err);

#endif
