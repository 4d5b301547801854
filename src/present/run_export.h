/* Exports stored runs in the formats of other tools. */
#ifndef HM_RUN_EXPORT_H
#define HM_RUN_EXPORT_H

#include "howmany_store.h"
#include "text.h"

/*
 * Writes a run as an MLPerf log (MLLOG): the benchmark, the batch, the number of ranks, start and
 * stop, and each sample as an evaluation, whose value is the loss. Times start at the run's
 * `made_at`.
 */
void hm__export_mllog(struct hm_text *out, const struct hm_stored *run);
/*
 * Writes a run with the columns `collective` and `bytes` as a row of the OSU benchmarks. A header
 * is written first if the collective or n differs from the previous run `before`, or if `before` is
 * NULL; the header states the version of the OSU benchmarks whose table format is used. Returns
 * false if the run lacks a column.
 */
bool hm__export_osu(struct hm_text *out, const struct hm_stored *run,
                    const struct hm_stored *before);

#endif
