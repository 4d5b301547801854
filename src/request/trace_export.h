/* Exports stored runs with samples as traces that `converge` can read. */
#ifndef HM_TRACE_EXPORT_H
#define HM_TRACE_EXPORT_H

#include "howmany_store.h"
#include "text.h"

/*
 * Writes a trace in the format of `howmany train --json`: a line that describes the run, a line for
 * each sample, and a summary line.
 */
void hm__export_trace_lines(struct hm_text *out, const struct hm_stored *run);
/* Header line of a CSV file with traces; hm__export_trace_rows appends the rows of a trace. */
extern const char hm__export_trace_header[];
void hm__export_trace_rows(struct hm_text *out, const struct hm_stored *run);

#endif
