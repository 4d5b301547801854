/*
 * A checkpoint is one file with the weights, the algorithm's state, the totals of the run so far
 * (such as time and samples), and a checksum at the end. The file is written under a temporary name
 * and then renamed. Values that belong to rows are stored in the order of the data, so that a run
 * can be resumed with any number of ranks.
 */
#ifndef HM_CHECKPOINT_H
#define HM_CHECKPOINT_H

#include "run.h"

/*
 * Saves a checkpoint. All ranks must call this function. Rank 0 writes the file, which is on disk
 * when the function returns.
 */
int hm__checkpoint_save(const char *path, struct hm_run *run, const char *identity,
                        const struct hm_train_totals *totals, struct hm_err *err);
/*
 * Loads the weights w, the algorithm's state and the totals of the run. All ranks must call this
 * function, after hm__run_begin. A damaged file, or a checkpoint of another problem, data set or
 * algorithm, is an error whose message gives the reason.
 */
int hm__checkpoint_load(const char *path, struct hm_run *run, const char *identity,
                        struct hm_train_totals *ret_totals, struct hm_err *err);
/*
 * Same as hm__checkpoint_load, but a checkpoint of another algorithm is also accepted: w and the
 * dual variables are loaded, and the rest of the state keeps its initial values. If only the
 * algorithm of this run has dual variables, they are derived from w (hm__run_derive_dual).
 */
int hm__checkpoint_adopt(const char *path, struct hm_run *run, const char *identity,
                         struct hm_train_totals *ret_totals, struct hm_err *err);

#endif
