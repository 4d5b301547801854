/* Prepares runs for a fit: keeps the runs that have a time, and groups them by configuration. */
#ifndef HM_FIT_DATA_H
#define HM_FIT_DATA_H

#include "basis.h"

/* A configuration: the runs with equal values of all quantities that the terms use. */
struct hm_group {
    size_t row;    /* Row of the group's first run in the table of runs. */
    double count;  /* Number of runs in the group. */
    double mean_s; /* Mean time of the runs, in seconds. */
    double within; /* Sum of squared differences from the mean, in seconds squared. */
    /* Relative weight of a run of this group, from the spread of its repeats; usually 1. */
    double evidence;
};

struct hm_fit_data {
    const struct hm_runs *runs;
    size_t count;       /* Number of runs that have a time. */
    size_t *rows;       /* Row of each run in the table of runs. */
    uint32_t *group_of; /* Index of the group of each run. */
    double *seconds;    /* Time of each run, in seconds. */
    struct hm_group *groups;
    size_t group_count;
    const double **places; /* places[q][g] is the value of quantity q in configuration (group) g. */
    /* Smallest and largest value of each quantity; INFINITY and -INFINITY if no run has a value. */
    double low[HM_QUANTITIES_MAX], high[HM_QUANTITIES_MAX];
    /*
     * First row in the table of runs that has no value for the quantity; HM_NONE if there is none.
     */
    size_t gap[HM_QUANTITIES_MAX];
};

/*
 * Conversion from the time of a run to the time that is fitted: the time is multiplied by `factor`
 * and, if `by_n` is true, by n. {1, false} means no conversion.
 */
struct hm_unit {
    double factor;
    bool by_n;
};

/*
 * Groups the runs that have a time. Runs are in the same group if they agree in all quantities q
 * for which matters[q] is true. Times are converted with `unit`. All memory is allocated from the
 * arena; the runs are borrowed.
 */
int hm__fit_data_init(struct hm_fit_data *data, struct hm_arena *arena, const struct hm_runs *runs,
                      const struct hm_basis *basis, const bool *matters, struct hm_unit unit,
                      struct hm_err *err);

/*
 * Returns 1 if repeats show that the spread of the time is proportional to the time, 0 if the
 * spread is closer to a constant, and -1 if there are too few repeats.
 */
int hm__fit_data_relative(const struct hm_fit_data *data);
/* Sets the relative weight (evidence) of each group from the spread of its repeats. */
void hm__fit_data_weigh(struct hm_fit_data *data, bool relative);
/*
 * Returns the degrees of freedom of the repeats. *ret_sum is the sum of the squared deviations of
 * all repeats from their means, where the squares of group g are multiplied by scale[g]^2; scale
 * may be NULL.
 */
double hm__fit_data_repeats(const struct hm_fit_data *data, const double *scale, double *ret_sum);

#endif
