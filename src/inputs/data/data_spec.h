/* Describes training data: a file of a known format, or generated rows. */
#ifndef HM_DATA_SPEC_H
#define HM_DATA_SPEC_H

#include "howmany.h"

enum hm_data_format {
    HM_DATA_IDX,
    HM_DATA_LIBSVM,
    HM_DATA_CSV,
    HM_DATA_DENSE, /* Generated rows with Gaussian features, and labels -1 and 1 from a known
                      separating hyperplane. */
    /* Generated rows similar to word counts of documents: few entries, in columns that follow a
     * power law. */
    HM_DATA_SPARSE,
    /* Generated images similar to MNIST: 28 x 28 pixels of 0 to 255, ten classes. */
    HM_DATA_DIGITS,
    HM_DATA_FORMATS
};

enum { HM_DATA_PATH = 1024 };

/* A description of training data; hm__data_parse fills it. */
struct hm_data_spec {
    enum hm_data_format format;
    char path[HM_DATA_PATH];   /* Path of the file; "" for generated data. */
    char labels[HM_DATA_PATH]; /* Path of the label file; used only for IDX. */
    /* Name of the label column, used only for CSV; "" means the column "label" if it exists,
     * otherwise the first column. */
    char column[128];
    /*
     * Fraction of the rows of a file to use, chosen at random by `sample_seed`; 0 means all rows.
     * With the same seed, the rows of a smaller fraction are a subset of the rows of a larger
     * fraction.
     */
    double sample;
    uint64_t sample_seed;
    /* Only generated data uses the following fields. */
    double rows, features;
    /* Mean number of entries in a row divided by the number of features; used only for
     * HM_DATA_SPARSE. */
    double density;
    double noise; /* Fraction of labels that are wrong, in [0, 1). */
    uint64_t seed;
    bool test; /* True to generate different rows from the same distribution, for testing. */
};

/*
 * Parses the name of training data, without reading the rows. The name is one of
 *   - a file: IDX if it begins with the magic number of IDX, CSV if its name ends in .csv or
 *     .csv.gz, LIBSVM otherwise;
 *   - a folder with the files of MNIST; `test` selects t10k instead of train;
 *   - a recipe for generated data: "dense", "dense:1000x20", "sparse", "sparse:10000x1000",
 *     "sparse:10000x1000:0.01", "digits", "digits:5000"; `test` selects other rows.
 * If a file has the same name as a recipe, the file is used.
 */
int hm__data_parse(const char *text, bool test, uint64_t seed, struct hm_data_spec *ret_spec,
                   struct hm_err *err);

#endif
