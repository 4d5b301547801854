/* Internal interface for predicting traces that were held out: lists of errors. */
#ifndef HM_HOLD_OUT_H
#define HM_HOLD_OUT_H

#include "howmany_advise.h"

/* A growing list of absolute errors, and the sum of their squares. The list is owned. */
struct hm_error_list {
    double *values;
    size_t count, room;
    double squares;
};

/* Sorts the errors starting at index `from` and returns their median; NaN if there are none. */
double hm__error_list_median(struct hm_error_list *list, size_t from);

/*
 * Predicts all points of a trace. Adds their errors in log10(P - P*) to the list, and adds the
 * number of points inside their intervals to *covered.
 */
int hm__hold_out_trace(const struct hm_convergence *convergence, size_t algorithm,
                       const struct hm_trace *trace, double best, struct hm_error_list *errors,
                       size_t *covered, struct hm_err *err);

/* Adds the errors of predicting held-out numbers of rows to the results on held-out traces. */
int hm__hold_out_rows(struct hm_holdout *holdout, const struct hm_traces *traces,
                      const struct hm_holdout_settings *settings, struct hm_err *err);

/* Number of points of a window, and number of small models that are fitted to it, when later points
 * of a trace are predicted. */
enum { HM_HOLD_OUT_WINDOW = 50, HM_HOLD_OUT_SHAPES = 5 };

/*
 * Estimates the work of fitting the traces and, unless `settings` is NULL, of hold-outs, and fails
 * if it cannot be done within the time limit of the request (admit.h).
 */
int hm__converge_admit(const struct hm_traces *traces, const struct hm_holdout_settings *settings,
                       struct hm_err *err);

#endif
