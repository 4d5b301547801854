/*
 * Internal interface for training data of several sizes: converts traces on samples of the rows of
 * the data to traces on one number of rows.
 */
#ifndef HM_SIZE_H
#define HM_SIZE_H

#include "howmany_advise.h"
#include "memory.h"

/* The dependence of the loss curve of one algorithm on the number of rows. */
struct hm_size {
    const char *algorithm; /* Name of the algorithm; borrowed from the traces. */
    struct hm_g_size fit;
};

/*
 * Traces that were converted to one number of rows. All memory is allocated from the caller's
 * arena.
 */
struct hm_sizes {
    double rows;     /* Number of rows to which the traces were converted. */
    double best;     /* Optimal loss P* of the traces after their conversion to `rows` rows. */
    bool best_known; /* True if there are traces on `rows` rows, so that P* applies to the whole
                        data; otherwise P* applies to the largest sample. */
    bool estimated;  /* True if P* was estimated for at least one number of rows. */
    double *bests;   /* Optimal loss P* of each of the original traces. */
    struct hm_traces traces; /* Traces after their conversion to `rows` rows. */
    struct hm_size *sizes;   /* Dependence of the loss curve on the number of rows, one element for
                                each algorithm. */
    size_t count;
};

/*
 * Returns whether traces must be converted: they have different numbers of rows, or `rows` is above
 * 0 and differs from their number of rows.
 */
bool hm__traces_sized(const struct hm_traces *traces, double rows);
/* Converts traces that were measured on data sets of different sizes, so that they apply to a data
 * set of settings->rows rows or, if that is 0, of the largest size in the traces. */
int hm__sizes_init(struct hm_sizes *sizes, struct hm_arena *arena, const struct hm_traces *traces,
                   const struct hm_converge_settings *settings, struct hm_err *err);
/* Returns how the loss curve of an algorithm depends on the number of rows; NULL if this is
 * unknown. */
const struct hm_size *hm__sizes_find(const struct hm_sizes *sizes, const char *algorithm);

#endif
