/* Runs made ready for a fit: those that have a time, gathered by configuration. */
#ifndef HM_FIT_DATA_H
#define HM_FIT_DATA_H

#include "basis.h"

/* Runs that differ in nothing the terms can see. */
struct hm_group {
    size_t row;      /* of its first run, in the runs */
    double count;    /* runs */
    double mean_s;   /* of their seconds */
    double within;   /* sum of squares of the seconds around the mean */
    double evidence; /* weight of a run beside others, from the spread of repeats; 1 is usual */
};

struct hm_fit_data {
    const struct hm_runs *runs;
    size_t count;       /* runs that have a time */
    size_t *rows;       /* each in the runs */
    uint32_t *group_of; /* each in groups */
    double *seconds;    /* each */
    struct hm_group *groups;
    size_t group_count;
    const double **places; /* places[q][g]: quantity q of group g */
    double low[HM_QUANTITIES_MAX], high[HM_QUANTITIES_MAX]; /* of each quantity; NaN if unknown */
    size_t gap[HM_QUANTITIES_MAX]; /* a run that does not tell the quantity; HM_NONE */
};

/*
 * Gather runs. matters[q] tells which quantities make configurations differ; unit is what seconds
 * are multiplied by. Everything is in the arena; the runs are borrowed.
 */
int hm__fit_data_init(struct hm_fit_data *data, struct hm_arena *arena, const struct hm_runs *runs,
                      const struct hm_basis *basis, const bool *matters, double unit,
                      struct hm_err *err);

/* Whether repeats show errors to grow with the time; -1 when there are too few to tell. */
int hm__fit_data_relative(const struct hm_fit_data *data);
/* Set the evidence of each group from the spread of its repeats. */
void hm__fit_data_weigh(struct hm_fit_data *data, bool relative);
/* Degrees of freedom of the repeats, and their sum of squares with groups weighed by scale[g]^2. */
double hm__fit_data_repeats(const struct hm_fit_data *data, const double *scale, double *ret_sum);

#endif
