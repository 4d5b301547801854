/*
 * Reads training data in blocks of rows: IDX (MNIST), LIBSVM and CSV files, plain or gzip, and
 * generated data that needs no file. Every row is checked while it is read; errors name the file
 * and the line, or the number of the image in an IDX file.
 */
#ifndef HM_DATA_H
#define HM_DATA_H

#include "data_spec.h"
#include "rows.h"

enum { HM_DATA_CLASSES = 1024 };

/* The shape of the data, found by a first pass over all rows. */
struct hm_data_shape {
    double rows, features, entries; /* Numbers of rows, features and nonzero values. */
    /* True if the data should be stored in sparse form; this is the case for LIBSVM files and
     * generated sparse data. */
    bool sparse;
    bool cut; /* True if the last line of the file has no line break, so that it may be cut. */
    size_t classes; /* Number of distinct labels; 0 if there are more than HM_DATA_CLASSES. */
    double labels[HM_DATA_CLASSES]; /* The distinct labels in increasing order. */
    int lines[HM_DATA_CLASSES];     /* Line of the file on which each label first appears. */
    double largest_entries;         /* Largest number of nonzero entries in one row. */
};

struct hm_data;

int hm__data_open(const struct hm_data_spec *spec, struct hm_data **ret_data, struct hm_err *err);
/*
 * Appends up to `most` rows to `block`. Returns the number of rows, 0 at the end of the data, or a
 * negative error code; after an error, the rows before the invalid row have been appended.
 * block->sparse selects the storage. If block->features is above 0, a larger feature index is an
 * error. If it is 0, a dense block adopts the number of features of the data; LIBSVM files do not
 * contain that number, so scan them first.
 */
int hm__data_next(struct hm_data *data, size_t most, struct hm_rows *block, struct hm_err *err);
/* Makes `row`, counted from 0, the next row to read. This works only for generated data, and takes
 * constant time. */
void hm__data_seek(struct hm_data *data, double row);
/* Returns whether the data is generated. */
bool hm__data_is_made(const struct hm_data_spec *spec);
void hm__data_close(struct hm_data *data);

/* Reads and checks all rows without storing them. Data without rows or features is an error. */
int hm__data_scan(const struct hm_data_spec *spec, struct hm_data_shape *ret_shape,
                  struct hm_err *err);

#endif
