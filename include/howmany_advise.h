/*
 * howmany: fits g(i, m), the loss after i iterations on m workers, to training curves, and advises
 * which algorithm to use on how many workers.
 *
 * A trace is the loss of one training run, iteration by iteration, on m workers. Traces give g(i,
 * m) and f(m), the time of an iteration in seconds; h(t, m) = g(t / f(m), m) is the loss after t
 * seconds (Hemingway: Pan, Venkataraman, Tai, Gonzalez 2016). P is the loss, P* is the lowest loss
 * that can be reached, and P - P* is the excess loss. This header includes howmany_fit.h;
 * conventions are described in howmany.h.
 *
 *     struct hm_advise_question question = HM_ADVISE_QUESTION_INIT;
 *     const char *files[] = {"traces.csv"};
 *
 *     question.loss = 1e-4;
 *     if (hm_traces_load(files, 1, NULL, &traces, &err) == 0 &&
 *         hm_convergence_new(traces, NULL, &convergence, &err) == 0 &&
 *         hm_advise(convergence, NULL, 0, &question, &advice, &err) == 0)
 *             printf("%s on %g\n", advice->candidates[0].algorithm, advice->candidates[0].m);
 */
#ifndef HOWMANY_ADVISE_H
#define HOWMANY_ADVISE_H

#include "howmany_fit.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- traces ---------------------------------------------------------------------------------- */

/* One training run. Its points are in ascending order of iteration; all iterations are > 0. */
struct hm_trace {
    const char *algorithm; /* Name of the algorithm; "" if not given. */
    double m;              /* Number of workers, >= 1. */
    double seed;           /* Seed of the run; NaN if not given. */
    double staleness; /* Maximum number of steps by which a worker may be ahead of the slowest one;
                         0 means synchronous, INFINITY means no bound. */
    double backups;   /* Number of backup workers: a step does not wait for this many of the slowest
                         workers. */
    double rows;      /* Number of rows in the training data, >= 1; NaN or 0 if not given. */
    const char *source; /* Name of the file; may be NULL. */
    int line;           /* Line of the first point in the file, counted from 1; 0 if unknown. */
    size_t count;       /* Number of points, >= 1; the length of the four arrays below. */
    double *iteration;  /* Iteration of each point, or epoch if the settings ask for epochs. */
    double *loss;       /* Loss at each point; finite. */
    /* Time in seconds of one iteration (or epoch) at each point; NaN if unknown. */
    double *seconds;
    /* Time in seconds from the start of the run to each point; NaN if unknown. */
    double *elapsed_s;
    /* Lowest loss P* that can be reached, as given with the trace; NaN if not given. */
    double best;
    double bound;    /* Lower bound of the lowest loss P*; -INFINITY if no bound is known. */
    size_t restarts; /* Number of times the run was restarted from an earlier point; repeated points
                        are dropped. */
    bool diverged;   /* True if the loss became infinite or NaN after the last point. */
};

/* Training runs whose losses can be compared. */
struct hm_traces {
    const char *measure; /* Name of the measured loss: objective, loss, test_error, ... */
    const char *unit;    /* Unit of the array `iteration`: "iteration" or "epoch". */
    struct hm_trace *traces;
    size_t count;
    const char **notes; /* Warnings, one sentence each: gaps, rows without a loss, restarts. */
    size_t note_count;
    void *memory; /* Owns all memory of this struct. */
};

/* Settings for reading traces. {0} reads the loss as a function of the iteration. */
struct hm_traces_settings {
    const char *measure; /* Name of the column that holds the loss; NULL means "objective" if it
                            exists, else "loss". The column "accuracy" is read as 1 - accuracy. */
    bool epochs;     /* True to count epochs instead of iterations; useful for asynchronous runs. */
    bool times_only; /* True to also accept traces without a loss; only their times are used. */
};

/*
 * Reads traces from files, plain or gzip; "-" is standard input. A file contains JSON lines, as
 * written by `howmany train`, or CSV with a header: algorithm, m (or n, workers), iteration,
 * seconds or elapsed_s, loss (or objective), staleness (steps, or async), backups, rows (of the
 * training data); other columns are ignored. settings may be NULL.
 */
HM_API int hm_traces_load(const char *const *paths, size_t count,
                          const struct hm_traces_settings *settings, struct hm_traces **ret_traces,
                          struct hm_err *err);
HM_API int hm_traces_parse(const char *text, size_t length, const char *source,
                           const struct hm_traces_settings *settings, struct hm_traces **ret_traces,
                           struct hm_err *err);
/* Checks traces. The error names the trace, the field, its value and the allowed range. */
HM_API int hm_traces_check(const struct hm_traces *traces, struct hm_err *err);
HM_API void hm_traces_free(struct hm_traces *traces);

/* ---- f(m): seconds of an iteration ----------------------------------------------------------- */

/*
 * The time f(m) of an iteration on m workers, in seconds: measured values for some numbers of
 * workers m, and a sum of terms for any other m. Without terms, f(m) is known only for the measured
 * m.
 */
struct hm_pace {
    const char *algorithm; /* Name of the algorithm; NULL means that the times apply to all
                              algorithms that have no times of their own. */
    const char *source;    /* Origin of the times: "the traces", or the name of a file or a job. */
    double *m, *seconds;   /* Table of measured times: numbers of workers m, ascending, and the mean
                              time of an iteration in seconds. */
    size_t count;          /* Number of rows in the table. */
    double staleness; /* Staleness bound of the runs that were timed; 0 means synchronous, INFINITY
                         means asynchronous. */
    double backups;   /* Number of backup workers of the runs that were timed. */
    /*
     * 5th and 95th percentiles of the times of single iterations, in seconds, for each row of the
     * table; NaN if unknown. The pointers are NULL if the percentiles are unknown for all rows.
     */
    double *low_s, *high_s;
    double *deviation;  /* Standard deviation of the times of single iterations, relative to their
                           mean, for each row; NULL if unknown. */
    const char **terms; /* Formulas of the terms, in the variable n, which is the number of
                           workers m. */
    size_t term_count;
    double *theta; /* Coefficients of the terms. */
    double *draws; /* Random draws of the coefficients: draws[d * term_count + k] is coefficient k
                      of draw d. */
    size_t draw_count;
    double noise; /* Relative standard deviation of single runs around the sum of terms. */
};

struct hm_paces {
    struct hm_pace *paces;
    size_t count;
    void *memory; /* Owns all memory of this struct. */
};

/*
 * Gets the time of an iteration in seconds from the times of traces, for each algorithm separately.
 */
HM_API int hm_paces_from_traces(const struct hm_traces *traces, struct hm_paces **ret_paces,
                                struct hm_err *err);
/*
 * Gets the time of an iteration in seconds from a fit of runs. The times apply to one algorithm, or
 * to all if algorithm is NULL.
 */
HM_API int hm_paces_from_fit(const struct hm_fit *fit, const char *algorithm,
                             struct hm_paces **ret_paces, struct hm_err *err);
/*
 * Gets the time of an iteration in seconds from the curve of a plan. The times apply to one
 * algorithm, or to all if algorithm is NULL.
 */
HM_API int hm_paces_from_answer(const struct hm_answer *answer, const char *algorithm,
                                struct hm_paces **ret_paces, struct hm_err *err);
HM_API void hm_paces_free(struct hm_paces *paces);

/* ---- g(i, m): loss after i iterations -------------------------------------------------------- */

/* Forms of the loss curve. P is the loss after i iterations on m workers, P* is the lowest loss. */
enum hm_g_form {
    HM_G_TERMS,   /* ln(P - P*) is a sum of terms in i and m; the Lasso chooses the terms. */
    HM_G_RATE,    /* Constant rate of convergence: P - P* = a m^d (1 - c0 / m^c1)^i. */
    HM_G_INVERSE, /* Inverse of the iteration i: P - P* = 1 / (a m^-p i + b) + c m^q. */
    HM_G_POWER,   /* Power of the iteration i: P - P* = a m^d i^-(p + q ln m). */
    HM_G_FORMS
};

/* Returns "terms", "rate", "inverse" or "power"; "?" for a number out of range. */
HM_API const char *hm_g_form_name(enum hm_g_form form);

/*
 * The maximum number of parameters (a constant and 32 terms), of random draws, and of points of a
 * curve.
 */
enum { HM_G_PARAMETERS = 33, HM_G_DRAWS = 128, HM_G_CURVE = 61 };
/* Largest number of workers. Doubles up to this value represent every whole number. */
#define HM_M_MOST 1e15

/* Settings of a fit of the loss curve g(i, m). {0} selects the defaults. */
struct hm_converge_settings {
    bool best_given; /* True if the lowest loss P* is given in `best`; otherwise, it comes from the
                        traces or is estimated. */
    double best;
    double level;             /* Coverage probability of the intervals, in (0, 1); 0 means 0.9. */
    double seed;              /* Seed of the random draws used to compute the intervals. */
    const char *const *terms; /* Formulas in the iteration i and the number of workers m; NULL means
                                 the built-in terms. Borrowed. */
    size_t term_count;
    double leave_out; /* Number of workers whose traces are ignored; 0 means that all traces are
                         used. */
    /* Number of rows in the training data for which g is fitted, > 0; 0 means the largest number of
     * rows of any trace. Other traces are converted to this number of rows. */
    double rows;
};

/*
 * A trace as the fit uses it: at most HM_G_CURVE points, evenly spaced in the logarithm of the
 * iteration.
 */
struct hm_g_curve {
    double m;
    size_t count;
    double *iteration, *loss;
    bool diverged;
};

/* One term or parameter of a form of the loss curve. */
struct hm_g_parameter {
    const char *text; /* The term, such as "i/m", or the name of a parameter, such as "a" or
                         "c0". */
    double value; /* Value of the parameter. The value of a term is its coefficient: value * term
                     is added to ln(P - P*). */
    double low, high; /* Interval for the value; NaN if unknown. */
};

/*
 * Errors in log10(P - P*) for a number of workers m whose traces were excluded from the fit of the
 * loss curve g(i, m).
 */
struct hm_g_error {
    double m;
    size_t points;      /* Number of points that were predicted. */
    double median, rms; /* Median absolute error and root mean square error of log10(P - P*). */
    double covered;     /* Share of the points that lie inside their intervals, 0 to 1. */
    bool inside;        /* True if the fit used traces both on fewer and on more than m workers. */
};

/* One form of the loss curve that was considered. */
struct hm_g_alternative {
    enum hm_g_form form;
    double error; /* Root mean square error of log10(P - P*) on held-out numbers of workers; NaN if
                     the form could not be fitted. */
};

/*
 * The cost of staleness. A run with staleness needs c(s, m) times as many iterations as a
 * synchronous run to reach the same loss, where s is the bound of the staleness, m is the number of
 * workers, and
 *
 *     ln c(s, m) = level + growth s^exponent + power ln m,          c(0, m) = 1.
 *
 * A coefficient that is not used is 0.
 */
enum { HM_STALE_PARAMETERS = 3 };

struct hm_stale_cost {
    double staleness; /* Staleness bound s in steps; INFINITY means asynchronous. */
    double m;
    double factor;    /* Factor c(s, m) by which staleness multiplies the number of iterations;
                         below 1, stale runs need fewer iterations. */
    double low, high; /* Interval for the factor; NaN if unknown. */
};

struct hm_g_stale {
    size_t traces; /* Number of traces with staleness; 0 means that the cost is unknown, and all
                      other fields are 0. */
    double level, growth, power;
    double exponent; /* Exponent of the staleness s: 1 or 2. */
    double *draws;   /* Random draws of level, growth and power: draws[d * HM_STALE_PARAMETERS +
                        k] is parameter k of draw d. */
    size_t draw_count;
    double error;    /* Root mean square error of log10(P - P*) over the traces with staleness. */
    double without;  /* Root mean square error of log10(P - P*) if the cost of staleness is
                        ignored. */
    double held_out; /* Root mean square error for a staleness whose traces were held out; NaN if
                        there are too few traces. */
    struct hm_stale_cost *costs; /* Costs for each staleness and number of workers that have traces,
                                    in ascending order. */
    size_t cost_count;
};

/*
 * How the loss curve depends on the number of rows in the training data. On R rows, a run needs (R
 * / r)^power times as many iterations as a run on r rows, and its excess loss P - P*, where P*
 * belongs to the same rows, is (R / r)^scale times as large.
 */
struct hm_g_size {
    /* Count of the different numbers of rows in the traces; 0 means that all traces have the same
     * number. */
    size_t count;
    double least, most; /* Smallest and largest number of rows for which a trace was recorded. */
    bool known;         /* True if power and scale could be found; otherwise both are 0. */
    double power, scale;
    double held_out; /* Root mean square error of log10(P - P*) on the largest number of rows,
                        predicted from smaller ones; NaN if unknown. */
    double spread;   /* Standard deviation of ln(P - P*) that the conversion to another number of
                        rows adds. */
    double shift;    /* Standard deviation of ln i that the conversion to another number of rows
                        adds. */
};

/* The loss curve g(i, m) of one algorithm. */
struct hm_g {
    const char *algorithm;
    enum hm_g_form form;
    struct hm_g_parameter *parameters; /* Parameters of the form. For HM_G_TERMS, the first one is
                                          the constant term "1". */
    size_t parameter_count;
    double *draws; /* Random draws of the parameters: draws[d * parameter_count + k] is parameter k
                      of draw d. */
    size_t draw_count; /* Number of draws, at most HM_G_DRAWS; 0 if intervals are unknown. */
    double *m;         /* Numbers of workers that have traces, ascending. */
    size_t m_count;
    double *spread; /* For each number of workers in `m`: standard deviation of ln(P - P*) of its
                       traces around the fit. */
    double *apart;  /* For each number of workers in `m`: standard deviation of ln(P - P*) around a
                       fit without its traces; NaN if there is no such fit. */
    double last;    /* Largest iteration of any trace. */
    double error;   /* Root mean square error of log10(P - P*) of the chosen form on held-out
                       numbers of workers; NaN if there is only one number of workers. */
    double penalty; /* Penalty weight of the Lasso; 0 for the other forms. */
    struct hm_g_alternative alternatives[HM_G_FORMS];
    size_t alternative_count;
    struct hm_g_curve *curves;
    size_t curve_count;
    struct hm_g_stale ssp; /* Cost of bounded staleness (SSP) in additional iterations. */
    /* Cost of unbounded staleness (asynchronous runs) in additional iterations. */
    struct hm_g_stale async;
    struct hm_g_stale backup; /* Cost of backup workers, whose gradients are dropped when they are
                                 late; the number of backup workers is used as the staleness. */
    struct hm_g_size size; /* How the curve depends on the number of rows in the training data. */
};

/*
 * The loss curve g(i, m) of each algorithm and, if the traces have times, the time f(m) of an
 * iteration. This is plain data that can be stored.
 */
struct hm_convergence {
    const char *measure, *unit; /* Name of the measured loss and unit of the iterations, as in
                                   struct hm_traces. */
    double best;                /* Lowest loss P* that can be reached. */
    double best_low, best_high; /* Interval for the lowest loss P*; NaN if P* was given. */
    bool best_estimated;
    /*
     * Number of rows in the training data for which g is fitted; NaN if the traces do not specify a
     * number of rows, or all have the same number.
     */
    double rows;
    bool best_sampled; /* True if P* comes from the largest sample, because there is no trace on
                          `rows` rows. In this case, only the excess loss P - P* is predicted. */
    double level;      /* Coverage probability of the intervals. */
    struct hm_g *algorithms;
    size_t count;
    struct hm_paces *paces; /* Time of an iteration in seconds, from the times in the traces; an
                               algorithm may have none. */
    const char **notes;     /* Warnings, one sentence each. */
    size_t note_count;
    void *memory; /* Owns all memory of this struct. */
};

/* Fits the loss curve g(i, m) of each algorithm to traces. settings may be NULL. */
HM_API int hm_convergence_new(const struct hm_traces *traces,
                              const struct hm_converge_settings *settings,
                              struct hm_convergence **ret_convergence, struct hm_err *err);
HM_API void hm_convergence_free(struct hm_convergence *convergence);
/* Reads the JSON that hm_convergence_render writes when style->table is true. */
HM_API int hm_convergence_load(const char *path, struct hm_convergence **ret_convergence,
                               struct hm_err *err);
HM_API int hm_convergence_parse(const char *text, size_t length, const char *source,
                                struct hm_convergence **ret_convergence, struct hm_err *err);

struct hm_g_prediction {
    double iteration;
    double loss; /* Median of the predicted excess loss P - P*, where P is the loss and P* is the
                    lowest loss. */
    double low, high; /* Interval for the excess loss P - P* of one more run; NaN if unknown. */
};

/*
 * Predicts the losses of the algorithm at index `algorithm` on m workers after each of the given
 * numbers of iterations; ret_predictions has `count` elements.
 */
HM_API int hm_convergence_predict(const struct hm_convergence *convergence, size_t algorithm,
                                  double m, const double *iterations, size_t count,
                                  struct hm_g_prediction *ret_predictions, struct hm_err *err);

/*
 * Gets the factor by which a staleness bound (INFINITY for asynchronous) multiplies the iterations
 * of the algorithm at index `algorithm` on m workers. It is an error if there are no traces with
 * staleness.
 */
HM_API int hm_convergence_stale(const struct hm_convergence *convergence, size_t algorithm,
                                double staleness, double m, struct hm_stale_cost *ret_cost,
                                struct hm_err *err);

/* ---- errors of predictions ------------------------------------------------------------------- */

struct hm_holdout_settings {
    bool only_ahead; /* True to predict only later points of a trace from earlier ones, without
                        holding out any number of workers. */
    struct hm_converge_settings converge; /* Settings of the fits. If leave_out is > 0, only this
                                             number of workers is held out; if it is 0, each
                                             number is held out in turn. */
    double ahead;   /* Number of iterations from the end of the known points to the point that is
                       predicted; 0 if there are no such predictions. */
    double ahead_s; /* Number of seconds from the end of the known points to the point that is
                       predicted; 0 if there are no such predictions. */
    double window;  /* Number of most recent iterations of a trace that are used to predict a later
                       point; 0 means 50. */
    bool rows; /* True to also predict the traces on larger numbers of rows from the traces on fewer
                  rows. */
    double leave_rows; /* Number of rows to predict; 0 means each number of rows for which traces on
                          two smaller numbers exist. */
    /* Function that is called after each algorithm, to report progress; may be NULL. */
    void (*progress)(void *data, const char *what, size_t done, size_t total);
    void *progress_data;
};

/* Errors in predicting later points of the traces on m workers from earlier points. */
struct hm_g_ahead {
    double m;
    size_t points;      /* Number of predictions. */
    double median, rms; /* Median and root mean square of the errors of log10(P - P*), as in struct
                           hm_g_error. */
};

/*
 * Errors for traces on a number of rows of the training data, predicted from traces on fewer rows.
 */
struct hm_g_rows_error {
    double rows;
    double from, to;    /* Smallest and largest number of rows that the prediction used. */
    size_t points;      /* Number of points that were predicted. */
    double median, rms; /* Median absolute error and root mean square error of log10(P - P*). */
    double covered;     /* Share of the points that lie inside their intervals, 0 to 1. */
};

struct hm_g_holdout {
    const char *algorithm;
    struct hm_g_error *left_out; /* Errors for each number of workers that was held out. */
    size_t left_out_count;
    double inside;  /* Median absolute error of log10(P - P*) over held-out numbers of workers
                       between the smallest and the largest one; NaN if there are none. */
    double outside; /* Median absolute error of log10(P - P*) for the largest number of workers when
                       it was held out; NaN if it was not held out. */
    struct hm_g_ahead *ahead;
    size_t ahead_count;
    double ahead_median; /* Median absolute error of log10(P - P*) of all predictions of later
                            points; NaN if there are none. */
    /* Errors for each number of rows that was predicted, ascending. */
    struct hm_g_rows_error *rows;
    size_t rows_count;
};

struct hm_holdout {
    bool left_out;                 /* True if each number of workers was held out in turn. */
    double ahead, ahead_s, window; /* Copies of the members of the settings that have the same
                                      names. */
    struct hm_g_holdout *algorithms;
    size_t count;
    const char **notes; /* Warnings, one sentence each. */
    size_t note_count;
    void *memory; /* Owns all memory of this struct. */
};

/*
 * Fits the loss curve g(i, m) without some of the traces, and compares the predictions with the
 * traces that were left out.
 */
HM_API int hm_convergence_hold_out(const struct hm_traces *traces,
                                   const struct hm_holdout_settings *settings,
                                   struct hm_holdout **ret_holdout, struct hm_err *err);
HM_API void hm_holdout_free(struct hm_holdout *holdout);

/*
 * Renders the fit as text, JSON, CSV (the points: algorithm, m, iteration, loss) or a gnuplot
 * script. holdout may be NULL. JSON with style->table contains all data, so that
 * hm_convergence_load can read it.
 */
HM_API int hm_convergence_render(const struct hm_convergence *convergence,
                                 const struct hm_holdout *holdout, enum hm_format format,
                                 const struct hm_style *style, char **ret_text, struct hm_err *err);

/* ---- advice ---------------------------------------------------------------------------------- */

/* A question to hm_advise. Start from HM_ADVISE_QUESTION_INIT and set loss, reach, within_s or
 * budget. */
struct hm_advise_question {
    double loss;       /* Target for the excess loss P - P*, > 0; 0 if not asked. */
    double reach;      /* Target for the loss P; NaN if not asked. */
    double within_s;   /* Maximum time in seconds that the run may take, > 0; 0 for no limit. */
    double budget;     /* Maximum cost of the run, > 0; 0 for no limit. */
    enum hm_goal goal; /* Quantity to minimise: the time for HM_GOAL_AUTO and HM_GOAL_TIME, the cost
                          for HM_GOAL_COST. */
    const double *m;   /* Numbers of workers to consider; NULL means the numbers in the traces, and
                          the powers of 2 between them. Borrowed. */
    size_t m_count;
    const char *const *algorithms; /* Algorithms to consider; NULL means all. Borrowed. */
    size_t algorithm_count;
    double price_per_s; /* Price per second of one worker, > 0; NaN if unknown. */
    bool adaptive;   /* True to also find the best schedule for changing the number of workers. */
    double switch_s; /* Time in seconds that a change of the number of workers takes, >= 0. */
    double level; /* Coverage probability of the intervals, in (0, 1); 0 means the same probability
                     as in the fit of the loss curves. */
    double seed;  /* Seed of the random draws used to compute the intervals. */
    double certainty; /* Required probability of reaching the target loss within within_s and the
                         budget, at most 0.99; 0 means 0.9. */
};

#define HM_ADVISE_QUESTION_INIT                                                                    \
    {                                                                                              \
        0, HM_UNKNOWN, 0, 0, HM_GOAL_AUTO, NULL, 0, NULL, 0, HM_UNKNOWN, false, 0, 0, 0, 0         \
    }

/* Reason why a candidate is worse than the first one. */
enum hm_advise_why {
    HM_WHY_BEST,       /* The candidate is the first one, which is the best. */
    HM_WHY_ITERATION,  /* Each iteration takes longer than an iteration of the first candidate. */
    HM_WHY_ITERATIONS, /* The candidate needs more iterations than the first one. */
    HM_WHY_BOTH,       /* The candidate needs more iterations than the first one, and each
                          iteration takes longer. */
    HM_WHY_PRICE,      /* The candidate costs more than the first one. */
    HM_WHY_NEVER,      /* The candidate is not expected to reach the target loss. */
    HM_WHY_LOSS,       /* The candidate reaches a larger loss than the first one within the time
                          limit. */
    HM_WHY_LIMIT,      /* The candidate exceeds the time limit or the budget. */
};

/*
 * A candidate: an algorithm on m workers. Unknown values are NaN; fields whose names contain _low
 * and _high are the ends of intervals.
 */
struct hm_candidate {
    /* Name of the algorithm. For stale runs and for runs with backup workers, the name has a
     * suffix, as in "adam (ssp 3)" or "sgd (1 backup)". */
    const char *algorithm;
    double m;
    double staleness; /* Staleness bound; 0 means synchronous, INFINITY means asynchronous. */
    double backups;   /* Number of backup workers. */
    bool measured;    /* True if there are traces of this algorithm on m workers. */
    double iterations, iterations_low, iterations_high; /* Number of iterations until the
                                                           target loss is reached, or until
                                                           the time limit. */
    double iteration_s, iteration_low_s,
        iteration_high_s; /* Time f(m) of one iteration on m workers, in seconds. */
    double iteration_p5_s, iteration_p95_s; /* 5th and 95th percentiles of the times of single
                                               iterations, in seconds; NaN if unknown. */
    double time_s, low_s, high_s;           /* Expected time of the run in seconds. */
    double cost, cost_low, cost_high;       /* Cost of the run. */
    double loss, loss_low, loss_high;       /* Excess loss P - P*: the target, or the value that is
                                               reached within the time limit. */
    double reaches;     /* Probability that the candidate reaches the target loss within the time
                           limit and the budget. */
    double probability; /* Probability that this candidate is the best. */
    double beyond_m, beyond_i; /* Factors by which the number of workers and the number of
                                  iterations lie outside the range of the traces; 1 inside the
                                  range. */
    enum hm_advise_why why;
};

/* The candidate that is fastest in one range of the excess loss P - P*. */
struct hm_lead {
    const char *algorithm;
    double m;
    double from, to; /* Range of the excess loss, which decreases from `from` to `to`. `from` is
                        INFINITY at the start of the run. */
};

/* A phase of a schedule, in which the number of workers m is constant. */
struct hm_phase {
    double m;
    double from, to; /* Excess loss P - P* at the beginning and the end of the phase. */
    double iterations, time_s;
};

struct hm_schedule {
    const char *algorithm;
    struct hm_phase *phases; /* Phases in order. If there is only one, changes of the number of
                                workers do not save time. */
    size_t phase_count;
    double time_s; /* Duration of the whole schedule in seconds, including all changes of the number
                      of workers. */
    double fixed_s; /* Duration of the best candidate with a constant number of workers in seconds,
                       computed like time_s. */
    double gain, gain_low,
        gain_high; /* Relative saving 1 - time_s / fixed_s, and the interval for it. */
};

/* The run that would improve the advice most. */
struct hm_next_run {
    const char *algorithm; /* Name of the algorithm; NULL if no further run would help. */
    double m;
    double iterations,
        time_s;   /* Estimated number of iterations and duration of the run in seconds. */
    double saves; /* Expected saving in seconds, in money or in the logarithm of the loss, depending
                     on the goal. */
};

struct hm_advice {
    const char *measure, *unit; /* Name of the measured loss and unit of the iterations, as in
                                   struct hm_traces. */
    double best;                /* Lowest loss P* that can be reached. */
    double loss; /* Target of the question for the excess loss P - P*; NaN if not asked. */
    double within_s, budget;         /* Time limit and budget of the question; NaN for no limit. */
    enum hm_goal goal;               /* Goal that was used: HM_GOAL_TIME or HM_GOAL_COST. */
    double level;                    /* Coverage probability of the intervals. */
    struct hm_candidate *candidates; /* One candidate for each algorithm and number of workers,
                                        best first. */
    size_t candidate_count;
    bool feasible;          /* True if the first candidate reaches the target with probability
                               `certainty`, or, without limits, with a probability of at least
                               0.5. */
    double right;           /* Probability that the first candidate is the best. Like the next two
                               probabilities, it is at most 0.99. */
    double near;            /* Probability that the first candidate is within 10 % of the best. */
    double right_algorithm; /* Probability that the best candidate uses the same algorithm as the
                               first one, and is stale or has backup workers in the same way. */
    double certainty; /* Required probability of meeting the limits; NaN if the question has no
                         limits, or no target loss. */
    struct hm_lead *leads;
    size_t lead_count;
    struct hm_next_run next;
    struct hm_schedule
        *schedule;      /* Best schedule for changing the number of workers; NULL if not asked. */
    const char **notes; /* Warnings, one sentence each. */
    size_t note_count;
    void *memory; /* Owns all memory of this struct. */
};

/*
 * Answers the question. The times f(m) of an iteration come from the last element of `paces` that
 * covers the algorithm; if none covers it, they come from `convergence`. paces may be NULL with a
 * count of 0.
 */
HM_API int hm_advise(const struct hm_convergence *convergence, const struct hm_paces *const *paces,
                     size_t pace_count, const struct hm_advise_question *question,
                     struct hm_advice **ret_advice, struct hm_err *err);
HM_API void hm_advice_free(struct hm_advice *advice);
/*
 * Renders the advice as text, JSON, CSV or a gnuplot script that draws into style->file;
 * style->table adds a table of all candidates.
 */
HM_API int hm_advice_render(const struct hm_advice *advice, enum hm_format format,
                            const struct hm_style *style, char **ret_text, struct hm_err *err);

/* ---- the report of a study ------------------------------------------------------------------- */

/* A run that was executed to check the advice. */
struct hm_study_check {
    const char *algorithm;
    double m;
    const char *role; /* Reason why the run was executed: "chosen" for the advised candidate,
                         "runner-up" for the second-best one. */
    double predicted_s, predicted_low_s, predicted_high_s;
    double achieved_s; /* Time in seconds until the run reached the target loss; NaN if the run did
                          not reach it. */
    double predicted_iterations, achieved_iterations;
    double loss; /* Excess loss P - P* at the end of the run. */
};

/* A run that was executed for the study. */
struct hm_study_run {
    const char *algorithm;
    double m, seed;
    double iterations, time_s,
        loss; /* Number of iterations, time in seconds, and the excess loss P - P* at its end. */
    const char *reason; /* Reason for the run: "first look", "to be surer" or "reference". */
};

/* Everything that the report of a study shows. All pointers are borrowed during the call. */
struct hm_study {
    const char *title;
    const char *command;      /* Command line that repeats the study. */
    const char *const *facts; /* Properties of the study: pairs of a name and a value. */
    size_t fact_count;        /* Number of pairs in `facts`. */
    const struct hm_convergence *convergence;
    const struct hm_holdout *holdout; /* Results on held-out traces; may be NULL. */
    const struct hm_advice *advice;
    const struct hm_study_run *runs;
    size_t run_count;
    const struct hm_study_check *checks;
    size_t check_count;
    const char *const *notes;
    size_t note_count;
};

/*
 * Renders the study as one self-contained HTML file with tables and charts. The caller frees
 * *ret_html with hm_text_free.
 */
HM_API int hm_study_render(const struct hm_study *study, char **ret_html, struct hm_err *err);

#ifdef __cplusplus
}
#endif

#endif
