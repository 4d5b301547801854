/* Helpers for tests of training data: temporary files, and rows that are read from them. */
#ifndef HM_DATA_FILES_H
#define HM_DATA_FILES_H

#include <unistd.h>

#include "data.h"
#include "testing.h"

enum { TEST_PATH = 128 };

/* Writes a temporary file with the path /tmp/hm-data-XXXXXX followed by the ending; the caller
 * unlinks it. */
static inline void write_bytes(char path[TEST_PATH], const char *ending, const void *bytes,
                               size_t length)
{
    snprintf(path, TEST_PATH, "/tmp/hm-data-XXXXXX%s", ending);
    int file = mkstemps(path, (int)strlen(ending));
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, length), length);
    close(file);
}

/* Parses the name of data, which must be valid. */
static inline struct hm_data_spec parse_data(const char *text, bool test)
{
    struct hm_data_spec spec;
    struct hm_err err = {0};

    if (hm__data_parse(text, test, 1, &spec, &err))
        fail_msg("%s: %s", err.source, err.message);
    return spec;
}

/* Reads all rows, `most` at a time. */
static inline struct hm_rows read_rows(const struct hm_data_spec *spec, bool sparse,
                                       size_t features, size_t most)
{
    struct hm_rows rows = {.sparse = sparse, .features = features};
    struct hm_data *data = NULL;
    struct hm_err err = {0};
    int got = hm__data_open(spec, &data, &err);

    while (got >= 0 && (got = hm__data_next(data, most, &rows, &err)) > 0)
        assert_true((size_t)got <= most);
    if (got < 0)
        fail_msg("%s:%d: %s", err.source, err.line, err.message);
    assert_int_equal(hm__data_next(data, most, &rows, &err),
                     0); /* After the end of the data, every call returns 0. */
    hm__data_close(data);
    return rows;
}

/* Returns one value of a row, which is stored dense or sparse. */
static inline double value_at(const struct hm_rows *rows, size_t row, size_t column)
{
    if (!rows->sparse)
        return rows->values[row * rows->features + column];
    for (size_t k = rows->starts[row]; k < rows->starts[row + 1]; k++)
        if (rows->columns[k] == column)
            return rows->values[k];
    return 0;
}

static inline void assert_same_rows(const struct hm_rows *a, const struct hm_rows *b,
                                    size_t features)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        assert_near(a->labels[i], b->labels[i], 0);
        for (size_t j = 0; j < features; j++)
            assert_near(value_at(a, i, j), value_at(b, i, j), 0);
    }
}

#endif
