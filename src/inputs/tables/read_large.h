/* Reads tables of measured training steps of large networks; data/README.md describes the
 * columns.
 */
#ifndef HM_READ_LARGE_H
#define HM_READ_LARGE_H

#include "large_rows.h"

/* Reads a table from a CSV text; the caller frees *ret_rows with hm__large_rows_free. */
int hm__large_rows_parse(const char *text, size_t length, const char *source,
                         struct hm_large_rows **ret_rows, struct hm_err *err);
/* Reads the built-in table. */
int hm__large_rows_built_in(struct hm_large_rows **ret_rows, struct hm_err *err);

#endif
