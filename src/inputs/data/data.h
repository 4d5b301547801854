/*
 * Training data a block of rows at a time: IDX (MNIST), LIBSVM and CSV files, plain or gzip, and
 * generators that need no file. Every row is checked while it is read; errors name file and line
 * (IDX: the number of the image).
 */
#ifndef HM_DATA_H
#define HM_DATA_H

#include "howmany.h"
#include "rows.h"

enum hm_data_format {
    HM_DATA_IDX,
    HM_DATA_LIBSVM,
    HM_DATA_CSV,
    HM_DATA_DENSE,  /* made: Gaussian features, a planted separator, labels -1 and 1 */
    HM_DATA_SPARSE, /* made: like text: few entries a row, columns by a power law */
    HM_DATA_DIGITS, /* made: like MNIST: 28 x 28 pixels 0..255, ten classes */
    HM_DATA_FORMATS
};

enum { HM_DATA_PATH = 1024, HM_DATA_CLASSES = 1024 };

/* Which data. Filled by hm__data_parse. */
struct hm_data_spec {
    enum hm_data_format format;
    char path[HM_DATA_PATH];   /* file; empty when made */
    char labels[HM_DATA_PATH]; /* IDX: the file of the labels */
    char column[128];          /* CSV: column of the label; empty: "label" if there is one, else
                                  the first */
    double rows, features;     /* of made data */
    double density;            /* of made sparse data: entries a row / features */
    double noise;              /* of made data: fraction of labels turned, [0, 1) */
    uint64_t seed;             /* of made data */
    bool test;                 /* made data: other rows from the same planted model */
};

/*
 * What a person writes as data: a file (the format from its first bytes: IDX magic; .csv or
 * .csv.gz; LIBSVM otherwise), a folder with MNIST's files (`test` picks t10k instead of train), or
 * a recipe: "dense", "dense:1000x20", "sparse", "sparse:10000x1000", "sparse:10000x1000:0.01",
 * "digits", "digits:5000" (`test`: other rows than without it, of the same kind). A file of that
 * name wins over a recipe. Does not read the rows.
 */
int hm__data_parse(const char *text, bool test, uint64_t seed, struct hm_data_spec *ret_spec,
                   struct hm_err *err);
const char *hm__data_format_name(enum hm_data_format format);

/* What a first pass over all rows finds. */
struct hm_data_shape {
    double rows, features, entries; /* entries: not zero */
    bool sparse;                    /* better kept sparse: a LIBSVM file or made sparse */
    size_t classes;                 /* distinct labels, 0 when more than HM_DATA_CLASSES */
    double labels[HM_DATA_CLASSES]; /* ascending */
    int lines[HM_DATA_CLASSES];     /* the line each was first seen on */
    double largest_entries;         /* of one row */
};

struct hm_data;

int hm__data_open(const struct hm_data_spec *spec, struct hm_data **ret_data, struct hm_err *err);
/*
 * Append up to `most` rows to `block` (whose sparse and features say how to keep them; features 0:
 * not known yet, and entries beyond it are errors otherwise). Returns how many, 0 at the end, or a
 * negative code, when the rows before the wrong one have been appended. A dense block of 0 features
 * takes as many as the data has; LIBSVM files do not tell, they need a scan first.
 */
int hm__data_next(struct hm_data *data, size_t most, struct hm_rows *block, struct hm_err *err);
/* Made data only: go to that row next, at no cost. */
void hm__data_seek(struct hm_data *data, double row);
bool hm__data_is_made(const struct hm_data_spec *spec);
/* Line of the last row read (IDX: its number from 1). */
int hm__data_line(const struct hm_data *data);
void hm__data_close(struct hm_data *data);

/* The first pass: read and check all of it, keeping nothing. No rows at all is an error. */
int hm__data_scan(const struct hm_data_spec *spec, struct hm_data_shape *ret_shape,
                  struct hm_err *err);

#endif
