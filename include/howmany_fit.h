/*
 * howmany: learning f(n) from runs.
 *
 * The second half of the public interface: tables of runs, fits with intervals, and the choice of
 * runs that are worth making. Conventions are those of howmany.h, which it includes.
 *
 *     struct hm_fit_settings settings = {0};
 *     struct hm_at at[] = {{"size", 1}};
 *     double n[] = {64};
 *     struct hm_prediction p;
 *
 *     if (hm_runs_load("runs.csv", &runs, &err) == 0 &&
 *         hm_fit_new(runs, &settings, &fit, &err) == 0 &&
 *         hm_fit_predict(fit, at, 1, n, 1, &p, &err) == 0)
 *             printf("%g s, %g to %g\n", p.time_s, p.low_s, p.high_s);
 */
#ifndef HOWMANY_FIT_H
#define HOWMANY_FIT_H

#include "howmany.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- runs ----------------------------------------------------------------------------------- */

/* A column of a table of runs: numbers in SI units, or labels. */
struct hm_column {
    const char *name;    /* n, size, batch, latency, bandwidth, seconds, …; or as written */
    double *values;      /* NaN where a cell is empty; NULL for labels */
    const char **labels; /* NULL where a cell is empty; NULL for numbers */
};

/*
 * Runs as they were measured, one a row, every repeat by itself. There is always a column n; there
 * is a column seconds (of one iteration) unless the table only names places to measure.
 */
struct hm_runs {
    const char *source; /* file it was read from */
    size_t count;       /* rows */
    size_t failed;      /* of them, without a time: their status is not "ok" */
    bool relative;      /* only speedups were given: seconds are in units of the reference's */
    struct hm_column *columns;
    size_t column_count;
    int *lines;   /* of each row in its file */
    void *memory; /* owns everything above */
};

/*
 * Read runs: CSV with a header (a first line that begins with # is one too) or JSON lines; plain or
 * gzip; "-" is standard input. Cells may have units ("20 ms"), or the header may ("latency (ms)").
 * Seconds are given, or total and iterations, or a speedup. See docs/fit.md.
 */
HM_API int hm_runs_load(const char *path, struct hm_runs **ret_runs, struct hm_err *err);
HM_API int hm_runs_parse(const char *text, size_t length, const char *source,
                         struct hm_runs **ret_runs, struct hm_err *err);
HM_API void hm_runs_free(struct hm_runs *runs);
/* The column of that name, or NULL. */
HM_API const struct hm_column *hm_runs_column(const struct hm_runs *runs, const char *name);
/* Keep the rows where a column has a value: "machine=m5.large", "size=1". At least one must. */
HM_API int hm_runs_where(struct hm_runs *runs, const char *condition, struct hm_err *err);

/* One quantity and the values it takes. */
struct hm_axis {
    const char *name;
    const double *values; /* borrowed */
    size_t count;
};

/* Every combination of the axes, one of which is n, as a table of places to measure. */
HM_API int hm_runs_cross(const struct hm_axis *axes, size_t count, struct hm_runs **ret_runs,
                         struct hm_err *err);

/* ---- fits ----------------------------------------------------------------------------------- */

/* How the error of a run depends on its length. */
enum hm_errors {
    HM_ERRORS_AUTO, /* as the repeats show; without enough of them equal for terms that are given,
                       relative for terms that are chosen */
    HM_ERRORS_EQUAL,
    HM_ERRORS_RELATIVE,
};

/* Everything may be 0: then the terms are chosen and nothing but the runs is known. */
struct hm_fit_settings {
    const char *const *terms; /* formulas over the columns; borrowed */
    size_t term_count;        /* 0: chosen from a library by leave-one-out error */
    const struct hm_job *job; /* start from this specification sheet; must outlive the fit */
    const struct hm_cluster *cluster; /* in place of the job's own; must outlive the fit */
    enum hm_errors errors;
    double level; /* of intervals, in (0, 1); 0: 0.9 */
    double width; /* with a job: how far off a part of the sheet may be, relative; 0: 0.5 */
    double noise; /* with a job: spread of a run before any was made, relative; 0: 0.05 */
    double seed;  /* of the draws behind the intervals */
};

HM_API int hm_fit_settings_check(const struct hm_fit_settings *settings, struct hm_err *err);

/* One term: seconds += value * (term at the run). With a job, a part of the sheet, scaled. */
struct hm_term {
    const char *text; /* "size/n", "compute", "broadcast" */
    double value;     /* >= 0; of a part of the sheet: factor, 1 is as the sheet says */
    double low, high; /* interval; NaN when there is none */
    bool part;        /* of the sheet */
    bool falls;       /* with n: the work that is shared out; the others are overhead */
};

/* What the fit makes of one run. */
struct hm_residual {
    size_t row; /* in the runs */
    int line;   /* in their file */
    double n;
    double seconds, fitted_s;
    double left_out_s; /* what the other runs predict for it, the terms being the same */
    double leverage;   /* how much of its own fit it is, 0..1 */
    double influence;  /* Cook's distance; above 1 it moves the fit by itself */
    bool outlier;      /* further off than chance allows (5 % among all runs) */
    bool elsewhere;    /* of another size, or the like, than predictions are for by default */
};

/* A set of terms that was considered, best first. */
struct hm_alternative {
    const char *text;      /* "1 + size/n + ln(n)" */
    double left_out_error; /* root mean square of the relative leave-one-out errors */
    double weight;         /* of it in the intervals, all together 1 */
};

struct hm__fit; /* the inside */

struct hm_fit {
    const char *source; /* of the runs */
    bool from_sheet;    /* a job was given */
    bool chosen;        /* the terms were chosen */
    bool intervals;     /* there are runs enough to say how sure */
    bool weak;          /* the work of the runs grows with n: each worker has the same */
    bool relative;      /* seconds are in units of the reference's time: only speedups are known */
    enum hm_errors errors; /* as decided */
    double level;
    size_t run_count, failed; /* used; without a time */
    size_t configurations;    /* that differ */
    struct hm_term *terms;
    size_t term_count;
    double noise;          /* spread of a run: relative, or in seconds with equal errors */
    double error;          /* root mean square of the relative residuals */
    double left_out_error; /* of the relative leave-one-out errors; NaN if it cannot be had */
    double n_min, n_max;   /* measured; 0 without a run */
    struct hm_residual *residuals; /* of the runs used, at most HM_FIT_RESIDUALS */
    size_t residual_count;
    struct hm_alternative *alternatives;
    size_t alternative_count;
    const char *
        *notes; /* what a person should know: too few runs, terms that cannot be told apart */
    size_t note_count;
    struct hm__fit *inside;
    void *memory; /* owns everything above */
};

enum { HM_FIT_RESIDUALS = 10000 };

/*
 * Non-negative least squares of the seconds on the terms. With a job the terms are the parts of its
 * specification sheet and the overheads it does not name, with a prior for each: without a run the
 * fit is the sheet, with many it is the runs'. runs may be NULL with a job.
 */
HM_API int hm_fit_new(const struct hm_runs *runs, const struct hm_fit_settings *settings,
                      struct hm_fit **ret_fit, struct hm_err *err);
HM_API void hm_fit_free(struct hm_fit *fit);
/* With a job: the sheet's own time at its reference, which speedups of runs are taken relative to.
 * 1 otherwise. */
HM_API double hm_fit_reference_s(const struct hm_fit *fit);

/* The value of a quantity besides n. */
struct hm_at {
    const char *name;
    double value;
};

struct hm_prediction {
    double n;
    double time_s;              /* of one iteration */
    double low_s, high_s;       /* interval of one further run there; NaN when there is none */
    double mean_low, mean_high; /* interval of the mean of many */
    double beyond;              /* how many times outside the measured range of n; 1 inside */
    double speedup;             /* over the reference, or n = 1; with its interval */
    double speedup_low, speedup_high;
};

/* Quantities that are not named have the value the runs agree on; size, else, is 1 or the largest.
 */
HM_API int hm_fit_predict(const struct hm_fit *fit, const struct hm_at *at, size_t at_count,
                          const double *n, size_t count, struct hm_prediction *ret_predictions,
                          struct hm_err *err);

/*
 * A fit and its predictions as text, JSON, CSV or a gnuplot script, freed with hm_text_free.
 * style->table adds what the fit makes of each run.
 */
HM_API int hm_fit_render(const struct hm_fit *fit, const struct hm_prediction *predictions,
                         size_t count, enum hm_format format, const struct hm_style *style,
                         char **ret_text, struct hm_err *err);

/* ---- designs: which runs are worth making --------------------------------------------------- */

enum hm_criterion {
    HM_CRITERION_A, /* least sum of the variances of the coefficients */
    HM_CRITERION_D, /* least volume of their confidence region */
    HM_CRITERION_I, /* least variance of the prediction at the target */
};

struct hm_design_settings {
    const char *const *terms; /* formulas; none: those of Ernest, or with a job its parts */
    size_t term_count;
    const struct hm_job *job; /* may be NULL; must not be freed before the design is made */
    const struct hm_cluster *cluster;
    const struct hm_runs *have; /* already measured; may be NULL */
    const char *cost;           /* formula; NULL: node-seconds with a job, else size/least size/n */
    const char *only;           /* formula: candidates where it is 0 are left out; may be NULL */
    enum hm_criterion criterion;
    double budget;              /* in units of the cost; 0: no limit but one run of each */
    const struct hm_at *target; /* with I: where the prediction is wanted; n is one of them */
    size_t target_count;
    double keep; /* share from which a run is made; 0: 0.3, as Ernest does */
    bool fill;   /* spend the rest of the budget on whole runs */
};

struct hm_chosen {
    size_t row;     /* of the candidate */
    double n, size; /* size NaN if there is none */
    double cost;
    const char *where; /* its other quantities, "latency = 0.01"; NULL if there are none */
    double share;      /* of a run, 0..1: the solution of the convex programme */
    bool made;         /* a whole run after rounding */
    double after;  /* criterion when it and those before it are made; infinite: not enough yet */
    double time_s; /* with a job: as it predicts; else NaN */
};

struct hm_design {
    double objective; /* of the convex programme */
    double gap;       /* it is at most this far from the optimum, certified */
    double rounded;   /* criterion of the whole runs */
    double before;    /* criterion of what is already measured; infinite: not enough */
    double spent;     /* cost of the whole runs */
    double money;     /* of them; negative unknown */
    double seconds;   /* node-seconds of them; negative unknown */
    size_t candidates;
    struct hm_chosen *chosen; /* the whole runs in the order worth making, then other shares */
    size_t chosen_count, made_count;
    const char **notes;
    size_t note_count;
    void *memory; /* owns everything above */
};

/* Choose among candidates (a table of places; see hm_runs_cross). */
HM_API int hm_design_new(const struct hm_runs *candidates,
                         const struct hm_design_settings *settings, struct hm_design **ret_design,
                         struct hm_err *err);
HM_API void hm_design_free(struct hm_design *design);
/* As text or JSON; with style->table also the order of the runs and the shares of the others. */
HM_API int hm_design_render(const struct hm_design *design, enum hm_format format,
                            const struct hm_style *style, char **ret_text, struct hm_err *err);

/* ---- recommendations: what measured runs say of a question ------------------------------------
 */

/* Where a recommendation comes from, in the order they are tried. */
enum hm_recommend_way {
    HM_RECOMMEND_ROWS,  /* runs that match exactly */
    HM_RECOMMEND_FIT,   /* a fit of the runs */
    HM_RECOMMEND_MODEL, /* the job's model */
    HM_RECOMMEND_NONE,  /* cannot tell yet */
};

/* Zero-initialise; 0 and NULL: not asked. */
struct hm_recommend_question {
    const struct hm_at *at; /* batch, latency, bandwidth, size, … in SI units */
    size_t at_count;
    const char *algorithm, *machine; /* only runs of these */
    const double *n;                 /* candidates; none: those that were run */
    size_t n_count;
    enum hm_goal goal;                /* time, cost, or alpha * seconds + beta * money */
    double alpha, beta;               /* weights of a balance */
    double budget;                    /* money for one run at most; 0: no limit */
    double deadline_s;                /* 0: no limit */
    double price_per_s;               /* of a worker; 0: unknown, unless runs have a column cost */
    const struct hm_job *job;         /* for its model, when the runs do not tell; may be NULL */
    const struct hm_cluster *cluster; /* in place of the job's own; may be NULL */
    double level;                     /* of intervals; 0: 0.9 */
    double seed;
};

struct hm_recommended {
    double n;
    double time_s, low_s, high_s; /* low and high NaN where there is no interval */
    double cost;                  /* NaN: unknown */
    double value;                 /* what was to be least */
    size_t rows;                  /* runs that match exactly */
    bool fits;                    /* within budget and deadline */
    bool failed;                  /* known to fail: never recommended */
    const char *why;              /* of a failure: "out of memory (line 5)"; else NULL */
};

struct hm_recommendation {
    enum hm_recommend_way way;
    enum hm_goal goal;  /* as decided, never HM_GOAL_AUTO */
    double level;       /* of intervals */
    const char *source; /* of the runs, or of the job */
    const char *reason; /* a sentence: "3 runs match exactly", "no run has a latency of 30 ms: …" */
    struct hm_recommended *candidates; /* best first; failed ones last */
    size_t candidate_count;
    size_t best;        /* index; HM_NONE: cannot tell, or nothing fits */
    double sure;        /* probability that the first is the best; NaN where it cannot be told */
    const char *missed; /* what nothing meets: "deadline", "budget", or both; NULL */
    size_t *rows;       /* the runs behind it: rows of hm_runs */
    size_t row_count;
    struct hm_at *next;   /* the one run that would help most: n and the question's quantities */
    size_t next_count;    /* 0: none would */
    const char *next_why; /* a phrase: "it may be faster"; NULL without one */
    const char **notes;
    size_t note_count;
    void *memory; /* owns everything above */
};

/* runs may be NULL with a job. */
HM_API int hm_recommend(const struct hm_runs *runs, const struct hm_recommend_question *question,
                        struct hm_recommendation **ret_recommendation, struct hm_err *err);
HM_API void hm_recommendation_free(struct hm_recommendation *recommendation);
/* As text, JSON or CSV (the candidates). style->table: all candidates. */
HM_API int hm_recommendation_render(const struct hm_recommendation *recommendation,
                                    enum hm_format format, const struct hm_style *style,
                                    char **ret_text, struct hm_err *err);

#ifdef __cplusplus
}
#endif

#endif
