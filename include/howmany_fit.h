/*
 * howmany: learning f(n), the seconds of an iteration on n workers, from measured runs.
 *
 * This header has tables of runs, fits with intervals, designs (which runs are worth making), and
 * recommendations straight from runs. It includes howmany.h, where the conventions are described.
 *
 *     const double n[] = {1, 2, 4, 8}, seconds[] = {10, 5.5, 3.4, 2.7}, at[] = {64};
 *     struct hm_runs *runs = NULL;
 *     struct hm_fit *fit = NULL;
 *     struct hm_prediction p;
 *
 *     if (hm_runs_new(n, seconds, 4, NULL, 0, &runs, &err) == 0 &&
 *         hm_fit_new(runs, NULL, &fit, &err) == 0 &&
 *         hm_fit_predict(fit, NULL, 0, at, 1, &p, &err) == 0)
 *             printf("%g s, %g to %g\n", p.time_s, p.low_s, p.high_s);
 */
#ifndef HOWMANY_FIT_H
#define HOWMANY_FIT_H

#include "howmany.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- runs ------------------------------------------------------------------------------------ */

/* A column of a table of runs. Either `values` or `labels` is set, with one element per row. */
struct hm_column {
    const char *name; /* n, size, batch, latency, bandwidth, seconds, or any other name. */
    double *values;   /* Numbers in SI units; NaN in an empty cell. NULL in a column of labels. */
    const char **labels; /* Texts; NULL in an empty cell. NULL in a column of numbers. */
};

/*
 * A table of runs: one row per run, repeats included. It has a column n. It has a column seconds
 * (of one iteration) unless the table only lists places to measure.
 */
struct hm_runs {
    const char *source; /* File that it was read from, or another name; may be NULL. */
    size_t count;       /* Rows. */
    size_t failed;      /* Rows without a time: the run failed. */
    bool relative;      /* Only speedups were given: seconds are in units of the reference time. */
    struct hm_column *columns;
    size_t column_count;
    int *lines;   /* Line of each row in its file; NULL: unknown. */
    void *memory; /* Owns everything above. */
};

/*
 * Make a table from arrays of `count` elements, which are copied. seconds[i] is the time of one
 * iteration on n[i] workers; NaN means that the run failed. seconds may be NULL for a table of
 * places to measure. `columns` are further columns of `count` rows, such as size or batch.
 */
HM_API int hm_runs_new(const double *n, const double *seconds, size_t count,
                       const struct hm_column *columns, size_t column_count,
                       struct hm_runs **ret_runs, struct hm_err *err);
/* Check the table. The error names the column, the row, the value and the allowed range. */
HM_API int hm_runs_check(const struct hm_runs *runs, struct hm_err *err);

/*
 * Read runs from a file, plain or gzip: CSV with a header line, which may begin with #, or JSON
 * lines; "-" is standard input. Cells or the header may have units ("20 ms", "latency (ms)").
 * Times are given as seconds, as total and iterations, or as speedups. See docs/fit.md.
 */
HM_API int hm_runs_load(const char *path, struct hm_runs **ret_runs, struct hm_err *err);
HM_API int hm_runs_parse(const char *text, size_t length, const char *source,
                         struct hm_runs **ret_runs, struct hm_err *err);
HM_API void hm_runs_free(struct hm_runs *runs);
/* The column of that name, or NULL. */
HM_API const struct hm_column *hm_runs_column(const struct hm_runs *runs, const char *name);
/*
 * Keep only the rows where a column has a value: "machine=m5.large", "size=1". It is an error if
 * there is none; the table is then unchanged.
 */
HM_API int hm_runs_where(struct hm_runs *runs, const char *condition, struct hm_err *err);

/* A quantity and the values it takes. */
struct hm_axis {
    const char *name;
    const double *values; /* Borrowed during the call. */
    size_t count;
};

/* Make a table of places to measure: every combination of the axes, one of which is n. */
HM_API int hm_runs_cross(const struct hm_axis *axes, size_t count, struct hm_runs **ret_runs,
                         struct hm_err *err);

/* ---- fits ------------------------------------------------------------------------------------ */

/* How the error of a run depends on its time. */
enum hm_errors {
    HM_ERRORS_AUTO,     /* As repeated runs show. Without enough repeats: equal for terms that are
                           given, relative for terms that are chosen. */
    HM_ERRORS_EQUAL,    /* All runs have the same error in seconds. */
    HM_ERRORS_RELATIVE, /* All runs have the same error in per cent. */
};

/* Settings of a fit. {0} chooses the terms and knows nothing but the runs. */
struct hm_fit_settings {
    const char *const *terms; /* Formulas over the columns. Borrowed during the call. */
    size_t term_count;        /* 0: terms are chosen from a library by leave-one-out error. */
    const struct hm_job *job; /* Start from the model of this job. Borrowed: it must outlive the
                                 fit. NULL: from runs alone. */
    const struct hm_cluster *cluster; /* Replaces that of the job. Borrowed likewise. */
    enum hm_errors errors;
    double level; /* Probability of intervals, in (0, 1); 0: 0.9. */
    double width; /* With a job: relative uncertainty of each part of the model; 0: 0.5. */
    double noise; /* With a job: relative spread of runs before any is known; 0: 0.05. */
    double seed;  /* Seed of the draws behind the intervals: whole, >= 0. */
};

HM_API int hm_fit_settings_check(const struct hm_fit_settings *settings, struct hm_err *err);

/* One term: seconds += value * term. With a job, a term is a part of the model, scaled. */
struct hm_term {
    const char *text; /* "size/n", "compute", "broadcast". */
    double value;     /* Coefficient, >= 0; of a part of the model: a factor, 1 is unchanged. */
    double low, high; /* Interval of the value; NaN if there is none. */
    bool part;        /* The term is a part of the model. */
    bool falls;       /* The term falls with n: it is work that workers share. */
};

/* How well the fit describes one run. */
struct hm_residual {
    size_t row; /* Row of the run. */
    int line;   /* Its line in the file; 0: unknown. */
    double n;
    double seconds, fitted_s; /* Measured, and as fitted. */
    double left_out_s;        /* As predicted from all other runs with the same terms. */
    double leverage;          /* How much the run determines its own fitted value, 0 to 1. */
    double influence;         /* Cook's distance; above 1 the run alone moves the fit. */
    bool outlier;             /* The residual is larger than chance explains (5 % over all runs). */
    bool elsewhere; /* The size, or the like, differs from that of predictions by default. */
};

/* A set of terms that was considered. */
struct hm_alternative {
    const char *text;      /* "1 + size/n + ln(n)". */
    double left_out_error; /* Root mean square of the relative leave-one-out errors. */
    double weight;         /* Weight in the intervals; all weights add up to 1. */
};

struct hm__fit; /* Internal. */

struct hm_fit {
    const char *source; /* Name of the runs; NULL without runs. */
    bool from_sheet;    /* A job was given. */
    bool chosen;        /* The terms were chosen from the library. */
    bool intervals;     /* There are enough runs for intervals. */
    bool weak;          /* The work of the runs grows with n: weak scaling. */
    bool relative;      /* Seconds are in units of the reference time: only speedups are known. */
    enum hm_errors errors; /* As decided, never HM_ERRORS_AUTO. */
    double level;          /* Probability of the intervals. */
    size_t run_count;      /* Runs used. */
    size_t failed;         /* Runs without a time, which were not used. */
    size_t configurations; /* Different configurations among the runs used. */
    struct hm_term *terms;
    size_t term_count;
    double noise;                  /* Spread of runs: relative, or in seconds with equal errors. */
    double error;                  /* Root mean square of the relative residuals. */
    double left_out_error;         /* The same of the leave-one-out errors; NaN: too few runs. */
    double n_min, n_max;           /* Least and most workers of the runs; NaN without runs. */
    struct hm_residual *residuals; /* At most HM_FIT_RESIDUALS. */
    size_t residual_count;
    struct hm_alternative *alternatives; /* Best first. */
    size_t alternative_count;
    const char **notes; /* Warnings, one sentence each. */
    size_t note_count;
    struct hm__fit *inside; /* Internal. */
    void *memory;           /* Owns everything above. */
};

enum { HM_FIT_RESIDUALS = 10000 };

/*
 * Fit the seconds of the runs by non-negative least squares. With a job, the terms are the parts of
 * its model and overheads that the model does not have, each with a prior: without runs the fit is
 * the model, with many runs it is the runs. runs may be NULL with a job; settings may be NULL.
 */
HM_API int hm_fit_new(const struct hm_runs *runs, const struct hm_fit_settings *settings,
                      struct hm_fit **ret_fit, struct hm_err *err);
HM_API void hm_fit_free(struct hm_fit *fit);
/* With a job: the seconds of the model at its reference, the unit of relative runs. Else 1. */
HM_API double hm_fit_reference_s(const struct hm_fit *fit);

/* The value of a quantity other than n, in SI units. */
struct hm_at {
    const char *name;
    double value;
};

struct hm_prediction {
    double n;
    double time_s;              /* One iteration. */
    double low_s, high_s;       /* Interval of one further run; NaN if there is none. */
    double mean_low, mean_high; /* Interval of the mean of many runs; NaN if there is none. */
    double beyond;  /* How many times outside the range of n of the runs; 1 inside it. */
    double speedup; /* Over the reference, or over n = 1. */
    double speedup_low, speedup_high; /* Its interval; NaN if there is none. */
};

/*
 * Predict for n[i] workers, for each i; ret_predictions has `count` elements. A quantity that `at`
 * does not name has the value that all runs agree on; size, if they differ, is 1 or the largest.
 */
HM_API int hm_fit_predict(const struct hm_fit *fit, const struct hm_at *at, size_t at_count,
                          const double *n, size_t count, struct hm_prediction *ret_predictions,
                          struct hm_err *err);

/*
 * Render a fit and predictions as text, JSON, CSV or a gnuplot script, freed with hm_text_free.
 * style->table adds the residuals. predictions may be NULL with a count of 0.
 */
HM_API int hm_fit_render(const struct hm_fit *fit, const struct hm_prediction *predictions,
                         size_t count, enum hm_format format, const struct hm_style *style,
                         char **ret_text, struct hm_err *err);

/* ---- designs: which runs are worth making ---------------------------------------------------- */

/* What a design makes as small as possible. */
enum hm_criterion {
    HM_CRITERION_A, /* The sum of the variances of the coefficients. */
    HM_CRITERION_D, /* The volume of their confidence region. */
    HM_CRITERION_I, /* The variance of the prediction at the target. */
};

/* Settings of a design. {0} uses the terms of Ernest and has no limit. */
struct hm_design_settings {
    const char *const
        *terms; /* Formulas; NULL: those of Ernest, or the parts of the job's model. */
    size_t term_count;
    const struct hm_job *job;         /* May be NULL. Borrowed during the call. */
    const struct hm_cluster *cluster; /* Replaces that of the job; may be NULL. */
    const struct hm_runs *have;       /* Runs already measured; may be NULL. */
    const char *cost; /* Formula of the cost of a run; NULL: node-seconds with a job, else
                         size / least size / n. */
    const char *only; /* Formula; candidates where it is 0 are left out. May be NULL. */
    enum hm_criterion criterion;
    double budget;              /* Most cost of all runs, > 0; 0: each candidate at most once. */
    const struct hm_at *target; /* HM_CRITERION_I: where to predict; n must be one of them. */
    size_t target_count;
    double keep; /* A run is made from this share on, in [0, 1); 0: 0.3, as Ernest does. */
    bool fill;   /* Spend the rest of the budget on further runs. */
};

/* One candidate that the design selected, in whole or in part. */
struct hm_chosen {
    size_t row;        /* Row of the candidate. */
    double n, size;    /* size is NaN if there is none. */
    double cost;       /* Cost of the run. */
    const char *where; /* Its other quantities, "latency = 0.01"; NULL if there are none. */
    double share;      /* Share of a run, 0 to 1: the solution of the convex programme. */
    bool made;         /* After rounding, the run is made. */
    double after;      /* Criterion once this run and those before it are made; INFINITY: not yet
                          enough runs. */
    double time_s;     /* Time that the model of the job predicts; NaN without a job. */
};

struct hm_design {
    double objective; /* Least value of the convex programme. */
    double gap;       /* The true optimum is at most this far away. */
    double rounded;   /* Criterion of the runs to make. */
    double before;    /* Criterion of the runs already measured; INFINITY: not enough. */
    double spent;     /* Cost of the runs to make. */
    double money;     /* Money for the runs to make; NaN: unknown. */
    double seconds;   /* Node-seconds of the runs to make; NaN: unknown. */
    size_t candidates;
    struct hm_chosen *chosen; /* The runs to make, most useful first, then other shares. */
    size_t chosen_count, made_count;
    const char **notes; /* Warnings, one sentence each. */
    size_t note_count;
    void *memory; /* Owns everything above. */
};

/* Choose among candidates: a table of places to measure, see hm_runs_cross. */
HM_API int hm_design_new(const struct hm_runs *candidates,
                         const struct hm_design_settings *settings, struct hm_design **ret_design,
                         struct hm_err *err);
HM_API void hm_design_free(struct hm_design *design);
/* Render as text or JSON; style->table adds the order of the runs and the other shares. */
HM_API int hm_design_render(const struct hm_design *design, enum hm_format format,
                            const struct hm_style *style, char **ret_text, struct hm_err *err);

/* ---- recommendations from measured runs ------------------------------------------------------ */

/* Where a recommendation comes from, in the order of preference. */
enum hm_recommend_way {
    HM_RECOMMEND_ROWS,  /* Runs that match the question exactly. */
    HM_RECOMMEND_FIT,   /* A fit of the runs. */
    HM_RECOMMEND_MODEL, /* The model of the job. */
    HM_RECOMMEND_NONE,  /* There is not enough data. */
};

/* A question. {0} asks for the least time among the n that were run. */
struct hm_recommend_question {
    const struct hm_at *at; /* Values of batch, latency, bandwidth, size, ... in SI units. */
    size_t at_count;
    const char *algorithm, *machine; /* Use only runs of these; NULL: of all. */
    const double *n;                 /* Candidates; NULL: the n that were run. */
    size_t n_count;
    enum hm_goal goal;
    double alpha, beta;       /* Balance: weights of a second and of money, > 0; 0: chosen. */
    double budget;            /* Most money for one run, > 0; 0: no limit. */
    double deadline_s;        /* Most seconds of one run, > 0; 0: no limit. */
    double price_per_s;       /* Of one worker, > 0; 0: from the column cost, if there is one. */
    const struct hm_job *job; /* Its model answers where the runs cannot; may be NULL. */
    const struct hm_cluster *cluster; /* Replaces that of the job; may be NULL. */
    double level;                     /* Probability of intervals, in (0, 1); 0: 0.9. */
    double seed;                      /* Seed of the draws behind the intervals. */
};

/* One candidate. */
struct hm_recommended {
    double n;
    double time_s, low_s, high_s; /* Time and its interval; NaN: unknown. */
    double cost;                  /* Money for one run; NaN: unknown. */
    double value;                 /* Value of the goal. */
    size_t rows;                  /* Runs that match exactly. */
    bool fits;                    /* Within budget and deadline. */
    bool failed;                  /* Such a run failed: it is never recommended. */
    const char *why;              /* Why it failed: "out of memory (line 5)"; otherwise NULL. */
};

struct hm_recommendation {
    enum hm_recommend_way way;
    enum hm_goal goal;                 /* The goal that was used, never HM_GOAL_AUTO. */
    double level;                      /* Probability of intervals. */
    const char *source;                /* Name of the runs, or of the job. */
    const char *reason;                /* One sentence: "3 runs match exactly". */
    struct hm_recommended *candidates; /* Best first; failed ones last. */
    size_t candidate_count;
    size_t best;        /* Index of the best; HM_NONE: unknown, or none meets the limits. */
    double sure;        /* Probability that the first is the best; NaN: unknown. */
    const char *missed; /* Limits that no candidate meets: "deadline", "budget", both; or NULL. */
    size_t *rows;       /* Rows of the runs behind the recommendation. */
    size_t row_count;
    struct hm_at *next;   /* The one run that would help most: n and other quantities. */
    size_t next_count;    /* 0: no run would help. */
    const char *next_why; /* Why it would help: "it may be faster"; NULL without one. */
    const char **notes;   /* Warnings, one sentence each. */
    size_t note_count;
    void *memory; /* Owns everything above. */
};

/* Recommend n. runs may be NULL if the question has a job. */
HM_API int hm_recommend(const struct hm_runs *runs, const struct hm_recommend_question *question,
                        struct hm_recommendation **ret_recommendation, struct hm_err *err);
HM_API void hm_recommendation_free(struct hm_recommendation *recommendation);
/* Render as text, JSON or CSV; style->table adds all candidates. */
HM_API int hm_recommendation_render(const struct hm_recommendation *recommendation,
                                    enum hm_format format, const struct hm_style *style,
                                    char **ret_text, struct hm_err *err);

#ifdef __cplusplus
}
#endif

#endif
