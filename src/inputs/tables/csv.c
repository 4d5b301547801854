/*
 * Implements a streaming CSV reader: one row is in memory at a time. Quoted fields may contain
 * commas, doubled quotes and line ends. A NUL byte, a quote that is never closed, and a row whose
 * number of fields differs from that of the header are errors.
 */
#include "csv.h"

#include <stdio.h>
#include <string.h>

#include "err.h"
#include "memory.h"
#include "source.h"
#include "text.h"

enum { BUFFER = HM_BUFFER_SIZE(64 * 1024, 512) };

struct hm_csv {
    struct hm_source *source; /* Open file, owned; NULL when reading from memory. */
    char name[256];
    char *buffer;          /* Buffer of BUFFER bytes, owned; NULL when reading from memory. */
    const char *data;      /* Bytes to parse: the buffer, or the caller's text. */
    size_t length, at;     /* Number of bytes in `data`, and index of the next byte to read. */
    int line;              /* Line number of the next byte, counted from 1. */
    int row_line;          /* Line on which the current row began. */
    bool hash;             /* True if the first byte of the row is '#'. */
    bool last;             /* True if the row ends with the input, without a line break. */
    struct hm_text row;    /* The fields of the row, each followed by NUL. */
    size_t *starts;        /* Offset of each field in `row`; owned. */
    size_t count, room;    /* Number of fields in the row, and capacity of `starts`. */
    char **fields;         /* Pointers to the fields in `row`, one for each column; owned. */
    struct hm_text header; /* The names of the columns, each followed by NUL. */
    size_t *header_starts; /* Offset of each name in `header`; owned. */
    size_t columns;
};

static int csv_fail(const struct hm_csv *csv, struct hm_err *err, int code, const char *what)
{
    hm__fail(err, code, "%s", what);
    hm__err_at(err, csv->name, csv->row_line);
    return code;
}

/* Returns the next byte, -1 at the end of the input, or an error code minus 1 (below -1). */
static int next_byte(struct hm_csv *csv, struct hm_err *err)
{
    if (csv->at == csv->length) {
        if (!csv->source)
            return -1;
        int rc = hm__source_read(csv->source, csv->buffer, BUFFER, &csv->length, err);
        csv->at = 0;
        if (rc) {
            csv->length = 0;
            return rc - 1;
        }
        csv->data = csv->buffer;
        if (csv->length == 0)
            return -1;
    }
    return (unsigned char)csv->data[csv->at++];
}

/* Returns the next byte as next_byte does, but the next call reads the same byte again. */
static int peek_byte(struct hm_csv *csv, struct hm_err *err)
{
    int c = next_byte(csv, err);
    if (c >= 0)
        csv->at--;
    return c;
}

static int start_field(struct hm_csv *csv, struct hm_err *err)
{
    if (csv->count == HM_CSV_COLUMNS)
        return csv_fail(csv, err, HM_E_LIMIT, "more than 4096 columns");
    if (csv->count == csv->room) {
        size_t *starts = hm__grow(csv->starts, csv->count, &csv->room, sizeof(*starts));
        if (!starts)
            return hm__fail_nomem(err);
        csv->starts = starts;
    }
    csv->starts[csv->count++] = csv->row.length;
    return 0;
}

/* Reads the rest of a quoted field, up to its closing quote. */
static int read_quoted(struct hm_csv *csv, struct hm_err *err)
{
    for (;;) {
        int c = next_byte(csv, err);
        if (c < -1)
            return c + 1;
        if (c == -1)
            return csv_fail(csv, err, HM_E_SYNTAX, "a quote is opened and never closed");
        if (c == '"') {
            int next = peek_byte(csv, err);
            if (next < -1)
                return next + 1;
            if (next == -1 || strchr(",\r\n", next))
                return 0;
            if (next != '"')
                return csv_fail(csv, err, HM_E_SYNTAX,
                                "text after the closing quote of a field (a quote inside a field "
                                "is written twice)");
            csv->at++;
        }
        csv->line += c == '\n';
        char byte = (char)c;
        if (c == 0)
            return csv_fail(csv, err, HM_E_SYNTAX, "a NUL byte: this is not a text file");
        if (csv->row.length > HM_CSV_ROW_BYTES)
            return csv_fail(csv, err, HM_E_LIMIT, "a row of more than 1 MiB (a quote left open?)");
        hm__text_add_n(&csv->row, &byte, 1);
    }
}

/* Copies the characters before the next comma, line end, quote or NUL, but only those that are
 * already in the buffer. */
static void read_plain(struct hm_csv *csv)
{
    const char *data = csv->data + csv->at;
    size_t left = csv->length - csv->at, count = 0;

    while (count < left && data[count] != ',' && data[count] != '\n' && data[count] != '\r' &&
           data[count] != '"' && data[count] != '\0')
        count++;
    if (count > 0)
        hm__text_add_n(&csv->row, data, count);
    csv->at += count;
}

/* Reads one record into csv->row. Returns 1 after a record, 0 at the end of the file, or a negative
 * error code. */
static int read_record(struct hm_csv *csv, struct hm_err *err)
{
    int rc = 0, c;

    csv->row.length = 0;
    csv->count = 0;
    csv->row_line = csv->line;
    c = peek_byte(csv, err);
    if (c < 0)
        return c == -1 ? 0 : c + 1;
    csv->hash = c == '#';
    if ((rc = start_field(csv, err)))
        return rc;
    for (;;) {
        read_plain(csv);
        c = next_byte(csv, err);
        if (c < -1)
            return c + 1;
        if (c == '\r' && peek_byte(csv, err) == '\n')
            continue;
        if (c == -1 || c == '\n') {
            csv->line += c == '\n';
            csv->last = c == -1;
            break;
        }
        char byte = (char)c;
        if (c == 0)
            rc = csv_fail(csv, err, HM_E_SYNTAX, "a NUL byte: this is not a text file");
        else if (c == '"' && csv->row.length == csv->starts[csv->count - 1])
            rc = read_quoted(csv, err);
        else if (c == ',') {
            hm__text_add_n(&csv->row, "", 1);
            rc = start_field(csv, err);
        } else
            hm__text_add_n(&csv->row, &byte, 1);
        if (rc == 0 && csv->row.length > HM_CSV_ROW_BYTES)
            rc = csv_fail(csv, err, HM_E_LIMIT, "a row of more than 1 MiB");
        if (rc)
            return rc;
    }
    hm__text_add_n(&csv->row, "", 1);
    return csv->row.failed ? hm__fail_nomem(err) : 1;
}

static int read_header(struct hm_csv *csv, struct hm_err *err)
{
    int rc;

    do
        rc = read_record(csv, err);
    while (rc == 1 && csv->count == 1 && csv->hash);
    if (rc < 0)
        return rc;
    if (rc == 0 || (csv->count == 1 && csv->row.data[0] == '\0'))
        return csv_fail(csv, err, HM_E_SYNTAX, "no header line");
    csv->fields = hm__calloc(csv->count + 1, sizeof(*csv->fields));
    csv->header_starts = hm__calloc(csv->count, sizeof(*csv->header_starts));
    if (!csv->fields || !csv->header_starts)
        return hm__fail_nomem(err);
    csv->columns = csv->count;
    memcpy(csv->header_starts, csv->starts, csv->count * sizeof(*csv->starts));
    hm__text_add_n(&csv->header, csv->row.data, csv->row.length);
    if (csv->header.failed)
        return hm__fail_nomem(err);
    for (size_t i = 0; i < csv->columns; i++) {
        const char *name = csv->header.data + csv->header_starts[i];
        if (hm__csv_column(csv, name) != (int)i) {
            hm__fail(err, HM_E_CONFLICT, "column '%.60s' appears twice", name);
            hm__err_at(err, csv->name, csv->row_line);
            return HM_E_CONFLICT;
        }
    }
    return 0;
}

static int open_input(struct hm_csv *csv, const char *path, struct hm_err *err)
{
    int rc = 0;

    if (path && !(csv->buffer = hm__calloc(BUFFER, 1)))
        rc = hm__fail_nomem(err);
    if (rc == 0 && path)
        rc = hm__source_open(path, &csv->source, err);
    if (rc)
        return rc;
    csv->line++;
    /* Spreadsheets write a byte order mark, before the quote or '#' with which a line may begin. */
    int first = peek_byte(csv, err);
    if (first < -1)
        return first + 1;
    if (first >= 0)
        csv->at += hm__text_mark(csv->data + csv->at, csv->length - csv->at);
    return read_header(csv, err);
}

int hm__csv_open(const char *path, struct hm_csv **ret_csv, struct hm_err *err)
{
    struct hm_csv *csv = hm__calloc(1, sizeof(*csv));

    if (!csv)
        return hm__fail_nomem(err);
    snprintf(csv->name, sizeof(csv->name), "%s", path);
    int rc = open_input(csv, path, err);
    if (rc)
        hm__csv_close(csv);
    else
        *ret_csv = csv;
    return rc;
}

int hm__csv_parse(const char *text, size_t length, const char *source, int lines,
                  struct hm_csv **ret_csv, struct hm_err *err)
{
    struct hm_csv *csv = hm__calloc(1, sizeof(*csv));

    if (!csv)
        return hm__fail_nomem(err);
    snprintf(csv->name, sizeof(csv->name), "%s", source);
    csv->data = text;
    csv->length = length;
    csv->line = lines;
    int rc = open_input(csv, NULL, err);
    if (rc)
        hm__csv_close(csv);
    else
        *ret_csv = csv;
    return rc;
}

void hm__csv_close(struct hm_csv *csv)
{
    if (!csv)
        return;
    hm__source_close(csv->source);
    hm__text_release(&csv->row);
    hm__text_release(&csv->header);
    hm__free(csv->starts);
    hm__free(csv->fields);
    hm__free(csv->header_starts);
    hm__free(csv->buffer);
    hm__free(csv);
}

int hm__csv_column(const struct hm_csv *csv, const char *name)
{
    for (size_t i = 0; i < csv->columns; i++)
        if (strcmp(csv->header.data + csv->header_starts[i], name) == 0)
            return (int)i;
    return -1;
}

static const char *column_name(const void *context, size_t i)
{
    const struct hm_csv *csv = context;
    return i < csv->columns ? csv->header.data + csv->header_starts[i] : NULL;
}

int hm__csv_need(const struct hm_csv *csv, const char *name, int *ret_column, struct hm_err *err)
{
    int column = hm__csv_column(csv, name);

    if (column >= 0) {
        *ret_column = column;
        return 0;
    }
    hm__fail(err, HM_E_MISSING, "no column '%s'", name);
    const char *near = hm__suggest(name, column_name, csv);
    if (near)
        hm__err_hint(err, "there is a column '%.60s'", near);
    hm__err_at(err, csv->name, 1);
    return HM_E_MISSING;
}

/* Skips lines that begin with '#', in which quotes have no meaning. */
static int skip_comments(struct hm_csv *csv, struct hm_err *err)
{
    int c;

    while ((c = peek_byte(csv, err)) == '#') {
        csv->row_line = csv->line;
        while ((c = next_byte(csv, err)) > 0 && c != '\n')
            ;
        if (c == 0)
            return csv_fail(csv, err, HM_E_SYNTAX, "a NUL byte: this is not a text file");
        csv->line += c == '\n';
    }
    return c < -1 ? c + 1 : 0;
}

int hm__csv_next(struct hm_csv *csv, char ***ret_fields, struct hm_err *err)
{
    int rc;

    do {
        rc = skip_comments(csv, err);
        rc = rc ? rc : read_record(csv, err);
    } while (rc == 1 && csv->count == 1 && csv->row.data[0] == '\0' && csv->columns > 1);
    if (rc <= 0)
        return rc;
    if (csv->count != csv->columns) {
        hm__fail(err, HM_E_SYNTAX, "%zu fields where the header has %zu", csv->count, csv->columns);
        hm__err_at(err, csv->name, csv->row_line);
        return HM_E_SYNTAX;
    }
    for (size_t i = 0; i < csv->count; i++)
        csv->fields[i] = csv->row.data + csv->starts[i];
    *ret_fields = csv->fields;
    return 1;
}

const char *hm__csv_name(const struct hm_csv *csv, size_t column)
{
    return column_name(csv, column);
}

bool hm__csv_is_cut(const struct hm_csv *csv)
{
    return csv->last && !(csv->source && hm__source_finds_damage(csv->source));
}

int hm__csv_line(const struct hm_csv *csv)
{
    return csv->row_line;
}

const char *hm__csv_source(const struct hm_csv *csv)
{
    return csv->name;
}
