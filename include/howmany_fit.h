/*
 * howmany: fits f(n), the time in seconds of an iteration on n workers, to measured runs.
 *
 * This header declares tables of runs, fits with intervals, designs (the runs that are worth
 * executing), and recommendations that come directly from runs. It includes howmany.h, where the
 * conventions are described.
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

/*
 * Largest absolute value in a table of runs and in a trace. With larger ones, sums of squares and
 * products in fits and answers would not be finite.
 */
#define HM_RUN_MOST 1e50

/*
 * Largest number of workers or nodes in a table of runs that is read, and in the store: 2^53 - 1.
 * A double cannot distinguish larger whole numbers from each other.
 */
#define HM_COUNT_MOST 9007199254740991.0

/* A column of a table of runs. Either `values` or `labels` is set, with one element per row. */
struct hm_column {
    const char *name;    /* Name of the column: n, size, batch, latency, bandwidth, seconds, or any
                            other name. */
    double *values;      /* Values in SI units, -HM_RUN_MOST to HM_RUN_MOST, NaN for an empty cell;
                            NULL if the column has labels. */
    const char **labels; /* Labels, NULL for an empty cell; NULL if the column has numbers. */
};

/*
 * A table of runs: one row per run, repeats included. The column n (number of workers) is required.
 * The column seconds (time of one iteration) is required unless the table only lists configurations
 * to measure.
 */
/* Value of the column `timing` for a run whose time includes its start-up. */
#define HM_TIMING_WHOLE "whole run"

struct hm_stored_sample; /* Defined in howmany_store.h. */

/* Samples (iterations) of one run. */
struct hm_run_samples {
    const struct hm_stored_sample *samples;
    size_t count;
};

struct hm_runs {
    const char *source; /* Name of the file, or another name of the table; may be NULL. */
    size_t count;       /* Number of rows. */
    size_t failed;      /* Number of rows without a time, because the run failed. */
    /* True if only speedups were given; seconds are then in units of the reference time. */
    bool relative;
    /* True if the column `scaling` says that each worker keeps its batch as n grows. */
    bool weak;
    /* True if a CSV file does not end with a newline; its last value may then be truncated. */
    bool cut;
    /* Unit of work that the seconds refer to: "sample", "token" or "epoch"; NULL means one
     * iteration. Rates are converted to the time of an iteration if the batch is known. */
    const char *unit;
    struct hm_column *columns;
    size_t column_count;
    int *lines; /* Line of each row in its file; NULL means that lines are unknown. */
    /* Samples of each row, which a store keeps with the run; NULL means that no row has samples. */
    struct hm_run_samples *samples;
    void *memory; /* Owns all memory of this struct. */
};

/*
 * Creates a table from arrays of `count` elements, which are copied. seconds[i] is the time of one
 * iteration on n[i] workers; NaN means that the run failed. seconds may be NULL for a table of
 * configurations to measure. `columns` are additional columns of `count` rows, such as size or
 * batch.
 */
HM_API int hm_runs_new(const double *n, const double *seconds, size_t count,
                       const struct hm_column *columns, size_t column_count,
                       struct hm_runs **ret_runs, struct hm_err *err);
/* Checks the table. The error names the column, the row, the value and the allowed range. */
HM_API int hm_runs_check(const struct hm_runs *runs, struct hm_err *err);

/*
 * Reads runs from a file, plain or gzip: CSV with a header line, which may begin with #, or JSON
 * lines; "-" is standard input. Cells or the header may have units ("20 ms", "latency (ms)"). Times
 * are given as seconds, as total and iterations, or as speedups. See docs/reference/fit.md.
 */
HM_API int hm_runs_load(const char *path, struct hm_runs **ret_runs, struct hm_err *err);
HM_API int hm_runs_parse(const char *text, size_t length, const char *source,
                         struct hm_runs **ret_runs, struct hm_err *err);
HM_API void hm_runs_free(struct hm_runs *runs);
/* Returns the column with the given name, or NULL if there is none. */
HM_API const struct hm_column *hm_runs_column(const struct hm_runs *runs, const char *name);
/*
 * Keeps only the rows in which a column has the given value: "machine=m5.large", "size=1". If no
 * row has the value, this is an error and the table is unchanged.
 */
HM_API int hm_runs_where(struct hm_runs *runs, const char *condition, struct hm_err *err);

/* A quantity and its values, for hm_runs_cross. */
struct hm_axis {
    const char *name;
    const double *values; /* Values of the quantity, `count` elements; borrowed during the call. */
    size_t count;
};

/*
 * Creates a table of configurations to measure: every combination of the axes, one of which is n.
 */
HM_API int hm_runs_cross(const struct hm_axis *axes, size_t count, struct hm_runs **ret_runs,
                         struct hm_err *err);

/* ---- fits ------------------------------------------------------------------------------------ */

/* How the error of a run depends on its time. */
enum hm_errors {
    HM_ERRORS_AUTO,     /* The library decides from repeated runs. Without enough repeats, it
                           uses EQUAL if the terms are given and RELATIVE if it chooses the
                           terms. */
    HM_ERRORS_EQUAL,    /* All runs have the same error in seconds. */
    HM_ERRORS_RELATIVE, /* All runs have the same relative error. */
};

/*
 * The rule that the library uses to choose the terms of a fit and to widen intervals outside the
 * range of the runs. The default was chosen by cross-validation over the sources of published
 * scaling curves (docs/explain/accuracy.md).
 */
struct hm_fit_rule {
    double steep_needs;  /* Smallest number of configurations for a term that grows faster than ln n
                            (a steep term). */
    double steep_weight; /* Factor that is applied to the weight of a set of terms with a steep
                            term, 0 to 1. */
    double counted_runs; /* Largest number of runs that is used to compute the weight of a set of
                            terms. */
    double drift;        /* Relative standard deviation that is added to predictions at twice the
                            largest n of the runs. */
    double drift_power;  /* At 2^k times the largest n, the added standard deviation is drift *
                            k^drift_power. */
    double crossing; /* Relative standard deviation that is added to predictions for several nodes,
                        if all runs used one node only. */
    /*
     * Expected relative noise of runs, and the weight of this expectation as a number of runs; with
     * weight 0, the noise is estimated from the runs alone.
     */
    double noise, noise_weight;
    /*
     * Expected size of a bend in the scaling curve. The efficiency loss is the loss of parallel
     * efficiency per doubling of n. Beyond the range of the runs, it is expected to differ from the
     * loss inside this range by about weak_turn (weak scaling) or strong_turn (strong scaling),
     * plus turn_share times the loss inside the range. If the sum is 0, no change is expected.
     */
    double weak_turn, strong_turn, turn_share;
};

/* Returns the default rule for the terms and intervals of a fit. */
HM_API struct hm_fit_rule hm_fit_rule_default(void);

/* Settings of a fit. {0} lets the library choose the terms and uses only the runs. */
struct hm_fit_settings {
    const char *const *terms; /* Formulas over the columns of the table. Borrowed during the
                                 call. */
    size_t term_count; /* Number of terms; 0 means that the library chooses among the built-in terms
                          by leave-one-out error. */
    const struct hm_job *job; /* Job whose model the fit corrects; NULL means that only the runs are
                                 used. Borrowed: it must outlive the fit. */
    const struct hm_cluster *cluster; /* Cluster that replaces the cluster of the job; may be NULL.
                                         Borrowed: it must outlive the fit. */
    enum hm_errors errors;
    double level; /* Coverage probability of the intervals, in (0, 1); 0 means 0.9. */
    double width; /* Relative uncertainty of each component of the job's model, if a job is given; 0
                     means 0.5. */
    double noise; /* Relative spread of runs that is assumed until runs have been measured, if a job
                     is given; 0 means 0.05. */
    double seed;  /* Seed of the random draws used to compute the intervals: whole, >= 0. */
    const struct hm_fit_rule *rule; /* Rule for terms and intervals, borrowed during the call; NULL
                                       means the default rule. */
};

HM_API int hm_fit_settings_check(const struct hm_fit_settings *settings, struct hm_err *err);

/*
 * One term of a fit; value * term is a component of the predicted seconds. With a job, the terms
 * include the components of its model, such as compute.
 */
struct hm_term {
    const char *text; /* Text of the term, such as "size/n", "compute" or "broadcast". */
    double value;     /* Coefficient of the term, >= 0. For a component of the model, 1 leaves it
                         unchanged. */
    double low, high; /* Interval for the value; NaN if unknown. */
    bool part;        /* True if the term is a component of the model of the job. */
    bool falls;       /* True if the term decreases with n, because workers share this work. */
};

/* One run and how well the fit describes it. */
struct hm_residual {
    size_t row; /* Row of the run in the table. */
    int line;   /* Line of the run in the file; 0 if unknown. */
    double n;
    double seconds, fitted_s; /* Measured time and fitted time, in seconds. */
    double left_out_s; /* Time of this run in seconds, as predicted by a fit of the same terms to
                          all other runs. */
    double leverage;   /* Influence of the run on its own fitted value, 0 to 1. */
    double influence;  /* Cook's distance; above 1, this run alone changes the fit considerably. */
    /* True if the residual is an outlier: larger than chance explains, at the 5 % level over all
     * runs. */
    bool outlier;
    /*
     * True if the size, the batch or another quantity of the run differs from the values that
     * predictions use by default.
     */
    bool elsewhere;
};

/* One set of terms that was considered. */
struct hm_alternative {
    const char *text;      /* The terms, such as "1 + size/n + ln(n)". */
    double left_out_error; /* Root mean square of the relative leave-one-out errors. */
    double weight;         /* Weight of this set of terms in the intervals, which average over
                              all sets; the weights of all sets add up to 1. */
};

struct hm__fit; /* Internal data of a fit. */

struct hm_fit {
    const char *source; /* Name of the runs; NULL without runs. */
    /*
     * Unit of work that the seconds refer to: "sample", "token" or "epoch"; NULL means one
     * iteration.
     */
    const char *unit;
    /* True if a job was given, so that the fit corrects the model of the job. */
    bool from_sheet;
    bool chosen;    /* True if the library chose the terms of the fit. */
    bool intervals; /* True if there are enough runs for intervals. */
    bool weak;      /* True if the work grows with n, as in weak scaling. */
    /* True if only speedups are known, so that seconds are in units of the reference time. */
    bool relative;
    enum hm_errors errors; /* The error model that was used; never HM_ERRORS_AUTO. */
    double level;          /* Coverage probability of the intervals. */
    size_t run_count;      /* Number of runs that were used. */
    size_t failed;         /* Number of runs without a time, which were not used. */
    size_t configurations; /* Number of different configurations among the runs that were used. */
    size_t with_startup;   /* Number of used runs whose seconds include the start-up. */
    struct hm_term *terms;
    size_t term_count;
    double noise;          /* Spread of single runs: relative, or in seconds if all runs have the
                              same error in seconds. */
    double error;          /* Root mean square of the relative residuals. */
    double left_out_error; /* Root mean square of the relative leave-one-out errors; NaN if there
                              are too few runs. */
    double n_min, n_max; /* Smallest and largest number of workers of the runs; NaN without runs. */
    /* Number of workers in one node, if all runs used one node only; NaN if they used several, or
     * the runs do not state it. */
    double one_node;
    struct hm_residual *residuals; /* Residuals, one element per run, at most HM_FIT_RESIDUALS. */
    size_t residual_count;
    struct hm_alternative *alternatives; /* The sets of terms that were considered, best first. */
    size_t alternative_count;
    const char **notes; /* Warnings, one sentence each. */
    size_t note_count;
    struct hm__fit *inside; /* Internal data of the fit. */
    void *memory;           /* Owns all memory of this struct. */
};

enum { HM_FIT_RESIDUALS = 10000 };

/*
 * Fits the times of the runs by non-negative least squares. With a job, the terms are the
 * components of its model and overheads that the model does not include, each with a prior. Without
 * runs, the fit equals the model; with more runs, it follows the runs. runs may be NULL with a job;
 * settings may be NULL.
 */
HM_API int hm_fit_new(const struct hm_runs *runs, const struct hm_fit_settings *settings,
                      struct hm_fit **ret_fit, struct hm_err *err);
HM_API void hm_fit_free(struct hm_fit *fit);
/*
 * Returns the time in seconds of one iteration that the model of the job predicts at its reference
 * number of workers; 1 without a job. It is the unit for runs that are given as speedups.
 */
HM_API double hm_fit_reference_s(const struct hm_fit *fit);

/* The value of a quantity other than n, in SI units. */
struct hm_at {
    const char *name;
    double value;
};

struct hm_prediction {
    double n;
    double time_s;              /* Time of one iteration in seconds. */
    double low_s, high_s;       /* Interval for the time of one more run; NaN if unknown. */
    double mean_low, mean_high; /* Interval for the mean time of many runs; NaN if unknown. */
    double beyond;  /* Ratio by which the number of workers lies outside the range of the runs; 1
                       inside the range. */
    double speedup; /* Speedup over one worker, according to the fit. */
    double speedup_low, speedup_high; /* Interval for the speedup; NaN if unknown. */
};

/*
 * Predicts the time in seconds on n[i] workers, for each i; ret_predictions has `count` elements. A
 * quantity that `at` does not name has the value that all runs have in common; if the runs have
 * different sizes, the largest one is used, or 1 if all are smaller.
 */
HM_API int hm_fit_predict(const struct hm_fit *fit, const struct hm_at *at, size_t at_count,
                          const double *n, size_t count, struct hm_prediction *ret_predictions,
                          struct hm_err *err);

/*
 * Renders a fit and predictions as text, JSON, CSV or a gnuplot script. The caller frees *ret_text
 * with hm_text_free. style->table adds the residuals. predictions may be NULL with a count of 0.
 */
HM_API int hm_fit_render(const struct hm_fit *fit, const struct hm_prediction *predictions,
                         size_t count, enum hm_format format, const struct hm_style *style,
                         char **ret_text, struct hm_err *err);

/* ---- designs: which runs are worth making ---------------------------------------------------- */

/* The quantity that a design minimises. */
enum hm_criterion {
    HM_CRITERION_A, /* A-optimal: the sum of the variances of the coefficients. */
    HM_CRITERION_D, /* D-optimal: the volume of the confidence region of the coefficients. */
    HM_CRITERION_I, /* I-optimal: the variance of the prediction at the target configuration. */
};

/*
 * Settings of a design, which selects the runs to execute. {0} uses the terms of Ernest
 * (Venkataraman et al. 2016) and no limit.
 */
struct hm_design_settings {
    const char *const *terms; /* Formulas of the terms; NULL means the components of the job's
                                 model, or the terms of Ernest without a job. */
    size_t term_count;
    const struct hm_job *job; /* Job whose model provides the terms and costs; may be NULL. Borrowed
                                 during the call. */
    const struct hm_cluster
        *cluster;               /* Cluster that replaces the cluster of the job; may be NULL. */
    const struct hm_runs *have; /* Runs already measured; may be NULL. */
    const char *cost; /* Formula of the cost of a run; NULL means node-seconds if there is a job,
                         else size / (n * smallest size), or 1 without sizes. */
    const char *only; /* Formula of a condition; candidates for which it is 0 are excluded. NULL
                         means that all candidates are allowed. */
    enum hm_criterion criterion;
    double budget; /* Maximum total cost of the runs, > 0; 0 for no limit. Each candidate is run at
                      most once. */
    const struct hm_at *target; /* Target configuration, which the fit should predict well, for
                                   HM_CRITERION_I; it must include n. */
    size_t target_count;
    double keep; /* Smallest share in the optimal design for which a run is executed, in [0, 1); 0
                    means 0.3, as in Ernest. */
    bool fill;   /* True to spend the rest of the budget on additional runs. */
};

/* One candidate with a share above 0 in the design. */
struct hm_chosen {
    size_t row;     /* Row of the candidate in the table of candidates. */
    double n, size; /* Number of workers, and size of the problem; the size is NaN if the table has
                       no such column. */
    double cost;    /* Cost of the run according to the cost formula. */
    const char *where; /* Other quantities of the candidate, such as "latency = 0.01"; NULL if there
                          are none. */
    double share;      /* Share of this candidate in the optimal design, 0 to 1, before shares
                          are rounded to whole runs. */
    bool made;         /* True if the run is to be executed; false if its share was rounded down. */
    double after;      /* Value of the criterion after this run and all runs before it in the list;
                          INFINITY if there are too few runs; NaN if not computed. */
    double time_s; /* Duration of the run in seconds that the model of the job predicts; NaN without
                      a job. */
};

struct hm_design {
    double objective; /* Smallest value of the criterion that is possible if runs may have
                         fractional shares. */
    double gap;       /* Upper bound on the difference between `objective` and the true optimum. */
    double rounded;   /* Value of the criterion for the runs to execute. */
    double before;    /* Value of the criterion for the runs already measured; INFINITY if there are
                         too few runs. */
    double within;    /* Half the width of the 90 % interval that the time of one run at the target
                         will have after the chosen runs, as a share of the time; NaN without a job
                         or a target. */
    double spent;     /* Total cost of the runs to execute. */
    double money;     /* Price of the runs to execute; NaN if unknown. */
    double seconds;   /* Node-seconds of the runs to execute; NaN if unknown. */
    size_t candidates;
    struct hm_chosen *chosen; /* Runs to execute, most useful first, then the candidates whose
                                 shares were rounded down. */
    size_t chosen_count, made_count;
    const char **notes; /* Warnings, one sentence each. */
    size_t note_count;
    void *memory; /* Owns all memory of this struct. */
};

/* Chooses the most useful runs from a table of candidates, such as one from hm_runs_cross. */
HM_API int hm_design_new(const struct hm_runs *candidates,
                         const struct hm_design_settings *settings, struct hm_design **ret_design,
                         struct hm_err *err);
HM_API void hm_design_free(struct hm_design *design);
/*
 * Renders the design as text, JSON or a gnuplot script that draws into style->file; style->table
 * adds the order of the runs and the candidates that were rounded down.
 */
HM_API int hm_design_render(const struct hm_design *design, enum hm_format format,
                            const struct hm_style *style, char **ret_text, struct hm_err *err);

/* ---- recommendations from measured runs ------------------------------------------------------ */

/* Sources of a recommendation; the first of these that suffices is used. */
enum hm_recommend_way {
    HM_RECOMMEND_ROWS,  /* The recommendation comes from runs that match the question exactly. */
    HM_RECOMMEND_FIT,   /* The recommendation comes from a fit of the runs. */
    HM_RECOMMEND_MODEL, /* The recommendation comes from the model of the job. */
    HM_RECOMMEND_NONE,  /* There is no recommendation, because there is not enough data. */
};

/* A question to hm_recommend. {0} asks for the shortest time among the numbers of workers that have
 * runs. */
struct hm_recommend_question {
    const struct hm_at *at; /* Values of the quantities batch, latency, bandwidth, size, ... in
                               SI units. */
    size_t at_count;
    const char *algorithm,
        *machine;    /* Algorithm and machine of the runs to use; NULL for no restriction. */
    const double *n; /* Numbers of workers to consider; NULL means the numbers in the runs. */
    size_t n_count;
    enum hm_goal goal;
    double alpha, beta; /* Weights of one second and of one unit of money for HM_GOAL_BALANCE, > 0;
                           0 means that the library chooses. */
    double budget;      /* Maximum cost of one run, > 0; 0 for no limit. */
    double deadline_s;  /* Maximum time in seconds that one run may take, > 0; 0 for no limit. */
    double price_per_s; /* Price per second of one worker, > 0; 0 means that it comes from the
                           column `cost`, if there is one. */
    const struct hm_job *job; /* Job whose model is used if there are not enough runs; may be
                                 NULL. */
    const struct hm_cluster
        *cluster;     /* Cluster that replaces the cluster of the job; may be NULL. */
    double level;     /* Coverage probability of the intervals, in (0, 1); 0 means 0.9. */
    double seed;      /* Seed of the random draws used to compute the intervals. */
    double certainty; /* Required probability of meeting the deadline and the budget, at most 0.99;
                         0 means 0.9. */
    double slack; /* Fraction by which the recommended candidate may be worse than the best, if it
                     has fewer workers; 0 means that the best itself is recommended. */
};

/* One number of workers that was considered. */
struct hm_recommended {
    double n;
    double time_s, low_s, high_s; /* Time in seconds of a run with this number of workers, and both
                                     ends of the interval for it; NaN if unknown. */
    double cost;                  /* Cost of one run; NaN if unknown. */
    double value;                 /* Value of the quantity that the goal minimises. */
    size_t row_count;             /* Number of runs that match the question exactly. */
    bool feasible;                /* True if the candidate meets the budget and the deadline. */
    /* True if a run with this number of workers failed; the number is then never recommended. */
    bool failed;
    const char *why; /* Reason for the failure, such as "out of memory (line 5)"; NULL if no run
                        failed. */
    double meets; /* Probability of meeting the budget and the deadline; NaN if neither is given, or
                     the interval is unknown. */
};

struct hm_recommendation {
    enum hm_recommend_way provenance;
    enum hm_goal goal;  /* Goal that was used; never HM_GOAL_AUTO. */
    double level;       /* Coverage probability of the intervals. */
    const char *source; /* Name of the runs, or of the job. */
    const char *reason; /* One sentence that explains the source, such as "3 runs match exactly". */
    struct hm_recommended *candidates; /* Candidates, best first; those with failed runs are
                                          last. */
    size_t candidate_count;
    size_t best; /* Index of the best candidate; HM_NONE if unknown, or no candidate meets the
                    limits. */
    size_t recommended; /* Index of the recommended candidate: the fewest workers within `slack` of
                           the best; HM_NONE if there is no best candidate. */
    /* Probability that the recommended candidate is exactly the best; NaN if unknown. */
    double sure;
    double sure_near; /* Probability that the recommended candidate is within `slack` of the true
                         best; NaN if unknown. */
    double slack;     /* The slack that the question asked for. */
    double one_node;  /* Number of workers in one node, if all runs used one node only and the
                         recommended candidate needs several nodes; else NaN. */
    double n_low, n_high; /* Interval for the best number of workers, with coverage probability
                             `level`; NaN if unknown. */
    double certainty; /* Required probability of meeting the budget and the deadline; NaN if neither
                         is given. */
    double deadline_s, budget; /* The limits of the question; NaN if not given. */
    const char *missed; /* Limits that no candidate meets: "deadline", "budget" or both; NULL if
                           there are none. */
    size_t *rows;       /* Indices of the rows in the table of runs on which the recommendation is
                           based. */
    size_t row_count;
    struct hm_at *next; /* Configuration of the run that would help most: n and other quantities. */
    size_t next_count;  /* Number of quantities in `next`; 0 if no run would help. */
    const char *next_why; /* Reason why the run in `next` would help, such as "it may be faster";
                             NULL if no run would help. */
    const char **notes;   /* Warnings, one sentence each. */
    size_t note_count;
    void *memory; /* Owns all memory of this struct. */
};

/* Recommends a number of workers. runs may be NULL if the question has a job. */
HM_API int hm_recommend(const struct hm_runs *runs, const struct hm_recommend_question *question,
                        struct hm_recommendation **ret_recommendation, struct hm_err *err);
HM_API void hm_recommendation_free(struct hm_recommendation *recommendation);
/*
 * Renders the recommendation as text, JSON, CSV or a gnuplot script that draws into style->file;
 * style->table adds a table of all candidates.
 */
HM_API int hm_recommendation_render(const struct hm_recommendation *recommendation,
                                    enum hm_format format, const struct hm_style *style,
                                    char **ret_text, struct hm_err *err);

#ifdef __cplusplus
}
#endif

#endif
