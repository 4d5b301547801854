/* Describes training data: a file of a known format, or generated rows. */
#ifndef HM_DATA_SPEC_H
#define HM_DATA_SPEC_H

#include "howmany.h"

enum hm_data_format {
    HM_DATA_IDX,
    HM_DATA_LIBSVM,
    HM_DATA_CSV,
    HM_DATA_DENSE,  /* Generated: Gaussian features, a known separator, labels -1 and 1. */
    HM_DATA_SPARSE, /* Generated, like text: few entries in a row, columns by a power law. */
    HM_DATA_DIGITS, /* Generated, like MNIST: 28 x 28 pixels of 0 to 255, ten classes. */
    HM_DATA_FORMATS
};

enum { HM_DATA_PATH = 1024 };

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

#endif
