/*
 * Comma-separated values (RFC 4180) with a header line, a row at a time. Lines that begin with #
 * are passed over; only a first one that names several columns is the header, as Ernest's files
 * have it.
 */
#ifndef HM_CSV_H
#define HM_CSV_H

#include "howmany.h"

struct hm_csv;

enum { HM_CSV_COLUMNS = 4096, HM_CSV_ROW_BYTES = 1024 * 1024 };

/* Open and read the header. Plain or gzip. */
int hm__csv_open(const char *path, struct hm_csv **ret_csv, struct hm_err *err);
/* As above, from text in memory, which must outlive it. */
int hm__csv_parse(const char *text, size_t length, const char *source, struct hm_csv **ret_csv,
                  struct hm_err *err);
/* As above, where lines above the text have been read already. */
int hm__csv_parse_from(const char *text, size_t length, const char *source, int lines,
                       struct hm_csv **ret_csv, struct hm_err *err);
void hm__csv_close(struct hm_csv *csv);

/* Name of a column, NULL after the last. */
const char *hm__csv_name(const struct hm_csv *csv, size_t column);
/* Index of the column of that name, or -1. */
int hm__csv_column(const struct hm_csv *csv, const char *name);
/* As above; a missing one is an error that lists the columns there are. */
int hm__csv_need(const struct hm_csv *csv, const char *name, int *ret_column, struct hm_err *err);

/*
 * Next row: 1 and its fields, 0 at the end, or a negative code. Rows must have as many fields as
 * the header; empty lines are passed over. Fields live until the next call.
 */
int hm__csv_next(struct hm_csv *csv, char ***ret_fields, struct hm_err *err);
/* Line the last row began on. */
int hm__csv_line(const struct hm_csv *csv);
const char *hm__csv_source(const struct hm_csv *csv);

#endif
