/*
 * Reads LIBSVM files (https://www.csie.ntu.edu.tw/~cjlin/libsvm): each row is one line of the form
 * `label index:value index:value ...`, with indices that start at 1 and increase. Values that are
 * not written are zero. # begins a comment; empty lines are skipped.
 *
 * The buffer grows to the longest line, of at most 256 MiB; numbers are parsed inside it.
 */
#include <math.h>
#include <string.h>

#include "data_reader.h"
#include "err.h"
#include "memory.h"
#include "source.h"
#include "text.h"

static const size_t BUFFER = HM_BUFFER_SIZE(256 * 1024, 512),
                    LINE_MAX_BYTES = (size_t)256 * 1024 * 1024;
static const char LINE_HINT[] = "a line has the form: label index:value index:value ...";

struct libsvm {
    struct hm_source *source;
    /*
     * Buffer of room + 1 bytes, owned. The last byte is for a newline that may be missing in the
     * file.
     */
    char *buffer;
    size_t room, length, at;
    bool ended; /* True if the end of the file has been reached; the buffer may still contain lines.
                 */
    int lines;  /* Number of lines of the file that have been read. */
    uint32_t *columns;
    double *values;
    size_t count, entry_room; /* Length and capacity of the arrays `columns` and `values`. */
};

/* ---- lines ---------------------------------------------------------------------------------- */

/* Moves the unread bytes to the front of the buffer, which grows if it is full, and reads more. */
static int refill_buffer(struct hm_data *data, struct libsvm *in, struct hm_err *err)
{
    size_t got;

    in->length -= in->at;
    memmove(in->buffer, in->buffer + in->at, in->length);
    in->at = 0;
    if (in->length == in->room) {
        if (in->room >= LINE_MAX_BYTES)
            return hm__data_fail(data, err, HM_E_LIMIT, LINE_HINT, "a line of more than 256 MiB");
        char *larger = hm__realloc(in->buffer, 2 * in->room + 1, 1);
        if (!larger)
            return hm__fail_nomem(err);
        in->buffer = larger;
        in->room *= 2;
    }
    int rc = hm__source_read(in->source, in->buffer + in->length, in->room - in->length, &got, err);
    if (rc == 0) {
        in->length += got;
        in->ended = got == 0;
    }
    return rc;
}

/* Finds the next line, which always ends with a newline. Returns 1 if there is a line, 0 at the end
 * of the file, or an error code. */
static int read_line(struct hm_data *data, struct libsvm *in, const char **ret_line,
                     struct hm_err *err)
{
    size_t searched = 0;
    int rc;

    data->line = in->lines < INT32_MAX ? in->lines + 1 : INT32_MAX;
    for (;;) {
        char *start = in->buffer + in->at;
        size_t left = in->length - in->at;
        char *end = memchr(start + searched, '\n', left - searched);
        if (!end && in->ended && left > 0) {
            end = start + left;
            *end = '\n';
            in->length++;
            data->cut = !hm__source_finds_damage(in->source);
        }
        if (end) {
            in->lines = data->line;
            *ret_line = start;
            in->at += (size_t)(end - start) + 1;
            return 1;
        }
        if (in->ended)
            return 0;
        searched = left;
        if ((rc = refill_buffer(data, in, err)))
            return rc;
    }
}

/* ---- the numbers of a line ------------------------------------------------------------------ */

static inline bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static inline bool is_end(char c)
{
    return c == '\n' || c == '#';
}

static const char *skip_blanks(const char *at)
{
    while (is_blank(*at))
        at++;
    return at;
}

/* Returns the length of a word, but at most 60, so that messages stay short. */
static int word_length(const char *at)
{
    int length = 0;

    while (length < 60 && !is_blank(at[length]) && at[length] != '\n')
        length++;
    return length;
}

/* Reads a finite number that is followed by white space or the end of the line. Returns the length
 * of the number, or 0 if there is no such number. */
static inline size_t read_number(const char *at, double *ret_value)
{
    size_t used = hm__signed_read(at, ret_value);

    return used > 0 && (is_blank(at[used]) || is_end(at[used])) && isfinite(*ret_value) ? used : 0;
}

/* Reports what is wrong with an index; `last` is the previous index in the line, or 0. */
static int fail_index(const struct hm_data *data, const char *at, uint64_t index, uint64_t last,
                      struct hm_err *err)
{
    int digits = (int)strspn(at, "0123456789");

    if (index == 0)
        return hm__data_fail(data, err, HM_E_RANGE, "indices begin at 1", "feature index 0");
    if (index > HM_DATA_FEATURES)
        return hm__data_fail(data, err, HM_E_RANGE, "indices run from 1 to 2147483647",
                             "feature index %.*s is too large", digits < 60 ? digits : 60, at);
    if (index == last)
        return hm__data_fail(data, err, HM_E_CONFLICT, "indices must increase within a line",
                             "feature index %llu appears twice", (unsigned long long)index);
    return hm__data_fail(data, err, HM_E_SYNTAX, "indices must increase within a line",
                         "feature index %llu after %llu", (unsigned long long)index,
                         (unsigned long long)last);
}

static int reserve_entry(struct libsvm *in, struct hm_err *err)
{
    if (in->count < in->entry_room)
        return 0;
    size_t room = in->entry_room ? 2 * in->entry_room : 256;
    uint32_t *columns = hm__realloc(in->columns, room, sizeof(*columns));
    if (!columns)
        return hm__fail_nomem(err);
    in->columns = columns;
    double *values = hm__realloc(in->values, room, sizeof(*values));
    if (!values)
        return hm__fail_nomem(err);
    in->values = values;
    in->entry_room = room;
    return 0;
}

/* Reads the entry index:value at *text and moves *text past it. *last is the previous index in the
 * line, or 0, and is replaced by the new index. */
static int read_entry(struct hm_data *data, struct libsvm *in, const char **text, uint64_t *last,
                      struct hm_err *err)
{
    const char *start = *text, *at = start;
    uint64_t index = 0;
    double value;

    for (; *at >= '0' && *at <= '9'; at++)
        if (index <= HM_DATA_FEATURES)
            index = index * 10 + (uint64_t)(*at - '0');
    if (at == start || *at != ':')
        return hm__data_fail(data, err, HM_E_SYNTAX, LINE_HINT, "'%.*s' is not index:value",
                             word_length(start), start);
    if (index <= *last || index > HM_DATA_FEATURES)
        return fail_index(data, start, index, *last, err);
    size_t used = read_number(++at, &value);
    if (used == 0)
        return hm__data_fail(data, err, HM_E_TYPE, LINE_HINT,
                             "'%.*s' of feature %llu is not a finite number", word_length(at), at,
                             (unsigned long long)index);
    int rc = reserve_entry(in, err);
    if (rc)
        return rc;
    in->columns[in->count] = (uint32_t)(index - 1);
    in->values[in->count++] = value;
    *last = index;
    *text = at + used;
    return 0;
}

static int read_row(struct hm_data *data, struct libsvm *in, const char *at, double *ret_label,
                    struct hm_err *err)
{
    uint64_t last = 0;
    size_t used = read_number(at, ret_label);
    int rc = 0;

    in->count = 0;
    if (used == 0)
        return hm__data_fail(data, err, HM_E_TYPE, LINE_HINT, "label '%.*s' is not a finite number",
                             word_length(at), at);
    at = skip_blanks(at + used);
    while (rc == 0 && !is_end(*at)) {
        rc = read_entry(data, in, &at, &last, err);
        at = skip_blanks(at);
    }
    if (rc == 0 && last > data->features)
        data->features = (size_t)last;
    return rc;
}

/* ---- the reader ----------------------------------------------------------------------------- */

static int open_libsvm(struct hm_data *data, struct hm_err *err)
{
    struct libsvm *in = data->state = hm__calloc(1, sizeof(*in));

    if (!in)
        return hm__fail_nomem(err);
    in->room = BUFFER;
    in->buffer = hm__calloc(in->room + 1, 1);
    return in->buffer ? hm__source_open(data->spec.path, &in->source, err) : hm__fail_nomem(err);
}

static int next_libsvm(struct hm_data *data, struct hm_rows *block, struct hm_err *err)
{
    struct libsvm *in = data->state;
    const char *line = NULL;
    double label;
    int rc, last = data->line;

    if (!block->sparse && block->features == 0)
        return hm__data_fail(data, err, HM_E_MISSING, "scan the file first",
                             "a LIBSVM file does not contain its number of features");
    do {
        if ((rc = read_line(data, in, &line, err)) <= 0) {
            data->line = rc == 0 ? last : data->line;
            return rc;
        }
        line = skip_blanks(line);
    } while (is_end(*line));
    rc = read_row(data, in, line, &label, err);
    if (rc == 0)
        rc = hm__data_put_sparse(data, block, label, in->columns, in->values, in->count, err);
    if (rc)
        return rc;
    data->row++;
    return 1;
}

static void close_libsvm(struct hm_data *data)
{
    struct libsvm *in = data->state;

    hm__source_close(in->source);
    hm__free(in->buffer);
    hm__free(in->columns);
    hm__free(in->values);
    hm__free(in);
}

const struct hm_data_reader hm__data_libsvm = {"LIBSVM", true, open_libsvm, next_libsvm,
                                               close_libsvm};
