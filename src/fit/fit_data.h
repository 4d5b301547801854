/* Runs prepared for a fit: those that have a time, grouped by configuration. */
#ifndef HM_FIT_DATA_H
#define HM_FIT_DATA_H

#include "basis.h"

/* Runs with equal values of all quantities that the terms use. */
struct hm_group {
    size_t row;      /* Row of its first run. */
    double count;    /* Number of runs. */
    double mean_s;   /* Mean of their seconds. */
    double within;   /* Sum of squares of the seconds around the mean. */
    double evidence; /* Relative weight of a run, from the spread of repeats; 1 is usual. */
};

struct hm_fit_data {
    const struct hm_runs *runs;
    size_t count;       /* Number of runs that have a time. */
    size_t *rows;       /* Row of each run. */
    uint32_t *group_of; /* Group of each run. */
    double *seconds;    /* Seconds of each run. */
    struct hm_group *groups;
    size_t group_count;
    const double **places; /* places[q][g] is quantity q of group g. */
    double low[HM_QUANTITIES_MAX],
        high[HM_QUANTITIES_MAX];   /* Range of each quantity; NaN if unknown. */
    size_t gap[HM_QUANTITIES_MAX]; /* First row without a value of the quantity, or HM_NONE. */
};

/*
 * Groups runs. matters[q] says which quantities distinguish configurations; seconds are multiplied
 * by unit. All memory is in the arena; the runs are borrowed.
 */
int hm__fit_data_init(struct hm_fit_data *data, struct hm_arena *arena, const struct hm_runs *runs,
                      const struct hm_basis *basis, const bool *matters, double unit,
                      struct hm_err *err);

/* Whether repeats show that errors grow with the time; -1 when there are too few repeats. */
int hm__fit_data_relative(const struct hm_fit_data *data);
/* Sets the evidence of each group from the spread of its repeats. */
void hm__fit_data_weigh(struct hm_fit_data *data, bool relative);
/*
 * Returns the degrees of freedom of the repeats; *ret_sum is their sum of squares with groups
 * weighted by scale[g]^2.
 */
double hm__fit_data_repeats(const struct hm_fit_data *data, const double *scale, double *ret_sum);

#endif
