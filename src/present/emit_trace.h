/*
 * Writes the step that a plan predicts as a trace in the Chrome format, which Perfetto and
 * chrome://tracing show. Times are in microseconds. The step is named ProfilerStep#0, and
 * communication has the names of NCCL's kernels, so that tools for profiler traces recognise them.
 */
#ifndef HM_EMIT_TRACE_H
#define HM_EMIT_TRACE_H

#include "howmany.h"
#include "large_job.h"

/*
 * Writes the predicted iteration for the recommended number of workers, with one row for each of at
 * most 64 workers. Communication that overlaps with computation is drawn at the end of the
 * iteration. Free *ret_text with hm_text_free.
 */
int hm__emit_trace(const struct hm_answer *answer, char **ret_text, struct hm_err *err);
/*
 * Writes the predicted step of a transformer, with one row for each pipeline stage. Each kind of
 * work is drawn once, for all micro-batches together; communication that is hidden behind
 * computation takes no time and is not drawn.
 */
int hm__emit_trace_large(const struct hm_large_answer *answer, char **ret_text, struct hm_err *err);

#endif
