/*
 * Declares howmany validate --fits, which tests on published curves how accurately small runs
 * predict a large run.
 */
#ifndef HM_VALIDATE_FITS_H
#define HM_VALIDATE_FITS_H

#include "cli.h"
#include "howmany_fit.h"

/* A measured run of a published curve. */
struct validate_point {
    double n, seconds;
    double nodes; /* Number of nodes used by the run; NaN if unknown. */
};

/*
 * A published curve: the times of one job on one kind of machine, for several numbers of workers n.
 */
struct validate_curve {
    char workload[96], metric[48], batch[32];
    char source[48]; /* Name of the table that contains the curve; each table counts as one source.
                      */
    bool weak, speedup;
    struct validate_point *points; /* Runs of the curve; owned. */
    size_t count;
    double largest, fitted_to; /* Largest number of workers n of the curve, and largest n among the
                                  runs that are fitted. */
    double measured;           /* Median of the times measured at the largest n, in seconds. */
    size_t sizes;              /* Number of different values of n. */
};

/*
 * Returns the number of runs on the smaller half of the curve's numbers of workers; these runs come
 * first in the curve.
 */
size_t validate_small_count(const struct validate_curve *curve);

/* The prediction that one method of fitting makes for a curve. */
struct validate_result {
    double error; /* Relative error of the predicted time; NaN if the method cannot be used for this
                     curve. */
    bool interval;               /* True if the prediction has an interval. */
    bool inside;                 /* True if the interval contains the measured value. */
    double predicted, low, high; /* Predicted time in seconds, and the ends of its interval; `low`
                                    and `high` are NaN if there is no interval. */
    double width; /* Ratio of the upper to the lower end of the prediction interval at eight times
                     the largest n that is fitted. */
};

enum validate_method { ERNEST, AUTO, SHEET, METHODS };
enum { VALIDATE_CURVES = 4096, VALIDATE_SIZES = 5 };

struct validate_curves {
    struct validate_curve *curves;
    size_t count;
    struct validate_result (*results)[METHODS];
};

/*
 * Reads the curves in data/scaling, and keeps the curves that have at least VALIDATE_SIZES
 * different numbers of workers. Returns an exit code; the caller releases the curves in any case.
 */
int validate_curves_read(struct validate_curves *f, const char *data, const char *option);
void validate_curves_release(struct validate_curves *f);
/*
 * Fits the runs on the smaller half of the numbers of workers, and predicts the time on the largest
 * number of workers. `rule` selects the terms of the fit; NULL means the default rule.
 */
struct validate_result validate_curve_predict(const struct validate_curve *c,
                                              const struct hm_fit_rule *rule, double level);

/* Implements howmany validate --fits: fits the curves in the folder data/scaling, predicts the
 * times on the largest numbers of workers and prints the errors. Returns an exit code; it is a
 * usage error if `data` is NULL. */
int validate_fits(const char *data, bool json, const struct hm_catalog *catalog);

/*
 * Checks the headline rule on the built-in examples and on the given job files. If `data` is not
 * NULL, also prints how accurate the answers are for sources that were not used to choose the rule
 * of the fits: errors, coverage and interval widths by source, and how reliable the stated
 * probabilities are. Returns an exit code; it is EXIT_NO_ANSWER if the headline rule does not hold.
 */
int validate_answers(const char *data, bool json, const struct hm_catalog *catalog,
                     const char *const *files, size_t file_count);

#endif
