/* What the formats of training data share: a reader is a table of functions, one row at a time. */
#ifndef HM_DATA_READER_H
#define HM_DATA_READER_H

#include "data.h"

/* A feature's number must fit in 31 bits, as LIBSVM has it. */
enum { HM_DATA_FEATURES = 2147483647 };

struct hm_data_reader {
    const char *name;
    bool sparse; /* better kept sparse */
    /* Make the state and check what stands before the rows. A state half made is closed, too. */
    int (*open)(struct hm_data *data, struct hm_err *err);
    /* Append one row to the block, having checked all of it: 1, 0 at the end, or a code. */
    int (*next)(struct hm_data *data, struct hm_rows *block, struct hm_err *err);
    void (*close)(struct hm_data *data);
};

extern const struct hm_data_reader hm__data_idx, hm__data_libsvm, hm__data_csv, hm__data_dense,
    hm__data_sparse, hm__data_digits;

struct hm_data {
    struct hm_data_spec spec;
    const struct hm_data_reader *reader;
    void *state;     /* of the reader; owned */
    double row;      /* number of the next row, from 0 */
    size_t features; /* known from the beginning, or the largest seen */
    int line;        /* of the last row, or of the one being read */
};

/* Fail at the line being read. The hint may be empty. */
int hm__data_fail(const struct hm_data *data, struct hm_err *err, int code, const char *hint,
                  const char *format, ...) HM_PRINTF(5, 6);

/* Append a row of data->features values; a sparse block leaves out the zeros. */
int hm__data_put_dense(struct hm_data *data, struct hm_rows *block, double label,
                       const double *values, struct hm_err *err);
/* Append a row of entries whose columns ascend; zeros among them are left out. */
int hm__data_put_sparse(struct hm_data *data, struct hm_rows *block, double label,
                        const uint32_t *columns, const double *values, size_t count,
                        struct hm_err *err);

#endif
