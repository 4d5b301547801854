/* Stored runs with samples as traces that `converge` reads again. */
#ifndef HM_TRACE_EXPORT_H
#define HM_TRACE_EXPORT_H

#include "howmany_store.h"
#include "text.h"

/* As `howmany train --json` writes a trace: a head, a line per sample, a summary. */
void hm__export_trace_lines(struct hm_text *out, const struct hm_stored *run);
/* As rows of a table whose header is hm__export_trace_header. */
extern const char hm__export_trace_header[];
void hm__export_trace_rows(struct hm_text *out, const struct hm_stored *run);

#endif
