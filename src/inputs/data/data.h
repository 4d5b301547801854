/*
 * Reads training data in blocks of rows: IDX (MNIST), LIBSVM and CSV files, plain or gzip, and
 * generated data that needs no file. Every row is checked while it is read; errors name the file
 * and the line, or the number of the image in an IDX file.
 */
#ifndef HM_DATA_H
#define HM_DATA_H

#include "howmany.h"
#include "rows.h"

enum hm_data_format {
    HM_DATA_IDX,
    HM_DATA_LIBSVM,
    HM_DATA_CSV,
    HM_DATA_DENSE,  /* Generated: Gaussian features, a known separator, labels -1 and 1. */
    HM_DATA_SPARSE, /* Generated, like text: few entries in a row, columns by a power law. */
    HM_DATA_DIGITS, /* Generated, like MNIST: 28 x 28 pixels of 0 to 255, ten classes. */
    HM_DATA_FORMATS
};

enum { HM_DATA_PATH = 1024, HM_DATA_CLASSES = 1024 };

/* Describes data; filled by hm__data_parse. */
struct hm_data_spec {
    enum hm_data_format format;
    char path[HM_DATA_PATH];   /* The file; "" for generated data. */
    char labels[HM_DATA_PATH]; /* IDX: the file of the labels. */
    char column[128];          /* CSV: column of the label; "": "label" if it exists, otherwise
                                  the first. */
    /* The following are used by generated data only. */
    double rows, features;
    double density; /* HM_DATA_SPARSE: mean entries of a row divided by features. */
    double noise;   /* Fraction of labels that are wrong, in [0, 1). */
    uint64_t seed;
    bool test; /* Other rows of the same model, for testing. */
};

/*
 * Parses the name of data, without reading the rows. It is one of
 *   - a file: IDX if it begins with the magic number of IDX, CSV if its name ends in .csv or
 *     .csv.gz, LIBSVM otherwise;
 *   - a folder with the files of MNIST; `test` selects t10k instead of train;
 *   - a recipe for generated data: "dense", "dense:1000x20", "sparse", "sparse:10000x1000",
 *     "sparse:10000x1000:0.01", "digits", "digits:5000"; `test` selects other rows.
 * If a file has the name of a recipe, the file is used.
 */
int hm__data_parse(const char *text, bool test, uint64_t seed, struct hm_data_spec *ret_spec,
                   struct hm_err *err);

/* The shape of the data, found by a first pass over all rows. */
struct hm_data_shape {
    double rows, features, entries; /* `entries` counts the values that are not zero. */
    bool sparse;                    /* LIBSVM or generated sparse data: store it sparse. */
    size_t classes;                 /* Distinct labels; 0 if more than HM_DATA_CLASSES. */
    double labels[HM_DATA_CLASSES]; /* In increasing order. */
    int lines[HM_DATA_CLASSES];     /* Line on which each label first appears. */
    double largest_entries;         /* Most entries of one row. */
};

struct hm_data;

int hm__data_open(const struct hm_data_spec *spec, struct hm_data **ret_data, struct hm_err *err);
/*
 * Appends up to `most` rows to `block` and returns their number, 0 at the end, or a negative code;
 * the rows before a wrong one are appended. block->sparse selects the storage. If block->features
 * is above 0, a larger feature index is an error. A dense block of 0 features takes the number of
 * the data, except for LIBSVM files, which do not contain it: scan them first.
 */
int hm__data_next(struct hm_data *data, size_t most, struct hm_rows *block, struct hm_err *err);
/* Generated data only: the next row read is `row`, counted from 0. Takes constant time. */
void hm__data_seek(struct hm_data *data, double row);
/* Whether the data is generated. */
bool hm__data_is_made(const struct hm_data_spec *spec);
void hm__data_close(struct hm_data *data);

/* Reads and checks all rows without storing them. Data without rows or features is an error. */
int hm__data_scan(const struct hm_data_spec *spec, struct hm_data_shape *ret_shape,
                  struct hm_err *err);

#endif
