/*
 * Reads comma-separated values (RFC 4180) with a header line, one row at a time. Lines that begin
 * with # are comments, except that a first line with several columns is the header even if it
 * begins with #, as in the files of the Ernest performance model.
 *
 * Limits: there are at most 4096 columns, and at most 1 MiB in one row.
 */
#ifndef HM_CSV_H
#define HM_CSV_H

#include "howmany.h"

struct hm_csv;

enum { HM_CSV_COLUMNS = 4096, HM_CSV_ROW_BYTES = 1024 * 1024 };

/* Opens a plain or gzip file and reads its header. */
int hm__csv_open(const char *path, struct hm_csv **ret_csv, struct hm_err *err);
/* Reads a string in memory, which must outlive the reader. `lines` is the number of lines before
 * the string that the caller has already read; line numbers include them. */
int hm__csv_parse(const char *text, size_t length, const char *source, int lines,
                  struct hm_csv **ret_csv, struct hm_err *err);
void hm__csv_close(struct hm_csv *csv);

/* Returns the name of a column, counted from 0, or NULL after the last column. */
const char *hm__csv_name(const struct hm_csv *csv, size_t column);
/* Returns the index of the column with the given name, or -1 if there is none. */
int hm__csv_column(const struct hm_csv *csv, const char *name);
/* Finds the index of the column with the given name. A missing column is an error that suggests a
 * similar name. */
int hm__csv_need(const struct hm_csv *csv, const char *name, int *ret_column, struct hm_err *err);

/*
 * Reads the next row. Returns 1 and sets *ret_fields, or returns 0 at the end of the file, or a
 * negative error code. A row must have as many fields as the header; empty lines are skipped if the
 * header has several columns. The fields are valid until the next call.
 */
int hm__csv_next(struct hm_csv *csv, char ***ret_fields, struct hm_err *err);
/* Returns whether the last row has no line break, so that a file without a checksum may be cut. */
bool hm__csv_is_cut(const struct hm_csv *csv);
/* Returns the line on which the last row began. */
int hm__csv_line(const struct hm_csv *csv);
/* Returns the name of the file. */
const char *hm__csv_source(const struct hm_csv *csv);

#endif
