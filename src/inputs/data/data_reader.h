/*
 * Defines the interface that every format of training data implements: functions that read the data
 * row by row.
 */
#ifndef HM_DATA_READER_H
#define HM_DATA_READER_H

#include "data_spec.h"
#include "rows.h"

/* Largest index of a feature: 31 bits, as in LIBSVM. */
enum { HM_DATA_FEATURES = 2147483647 };

struct hm_data;

struct hm_data_reader {
    const char *name;
    bool sparse; /* True if the data should be stored in sparse form. */
    /* Allocates data->state and checks the header. `close` is called even if this fails. */
    int (*open)(struct hm_data *data, struct hm_err *err);
    /* Reads and checks one row and appends it to the block. Returns 1 after a row, 0 at the end of
     * the data, or a negative error code. */
    int (*next)(struct hm_data *data, struct hm_rows *block, struct hm_err *err);
    void (*close)(struct hm_data *data);
};

extern const struct hm_data_reader hm__data_idx, hm__data_libsvm, hm__data_csv, hm__data_dense,
    hm__data_sparse, hm__data_digits;

struct hm_data {
    struct hm_data_spec spec;
    const struct hm_data_reader *reader;
    void *state;     /* State of the reader of this format; owned. */
    double row;      /* Number of the next row, counted from 0. */
    size_t features; /* Number of features from the header; for LIBSVM, the largest index so far. */
    int line;        /* Line of the last row, or of the row that is being read. */
    bool cut;    /* True if the last line that was read has no line break, so that it may be cut. */
    double read; /* Number of rows read so far, including rows that do not belong to the sample. */
    struct hm_rows left_out; /* Storage for a row that is read and checked but does not belong to
                                the sample; owned. */
};

/* Reports an error at the current line; the hint may be "". Returns `code`. */
int hm__data_fail(const struct hm_data *data, struct hm_err *err, int code, const char *hint,
                  const char *format, ...) HM_PRINTF(5, 6);

/* Appends a row of data->features values; zeros are omitted if the block is sparse. */
int hm__data_put_dense(struct hm_data *data, struct hm_rows *block, double label,
                       const double *values, struct hm_err *err);
/* Appends a row given as entries with increasing columns; zero values are omitted. */
int hm__data_put_sparse(struct hm_data *data, struct hm_rows *block, double label,
                        const uint32_t *columns, const double *values, size_t count,
                        struct hm_err *err);

#endif
