/* Predicts measured training steps of large networks. */
#ifndef HM_LARGE_ROWS_EVAL_H
#define HM_LARGE_ROWS_EVAL_H

#include "large.h"
#include "large_rows.h"

/*
 * Sets the device on which the step of a row was measured. If the row states no micro-batch, sets
 * it to the largest power of two that fits in memory. Returns HM_E_NAME if the chip is unknown.
 */
int hm__large_row_prepare(struct hm_large_row *row, struct hm_large_device *ret_device,
                          struct hm_err *err);
/* Predicts the time of the step that a row of the table describes, split by cause. */
void hm__large_row_eval(const struct hm_large_row *row, const struct hm_large_device *device,
                        const struct hm_large_constants *constants, struct hm_large_step *ret_step);
/*
 * Marks the measured steps whose time is used for comparison. A run that is much slower than the
 * fastest run with the same network, device and number of workers is assumed to be defective.
 * ret_healthy has one entry per row.
 */
void hm__large_rows_healthy(const struct hm_large_rows *rows, bool *ret_healthy);

#endif
