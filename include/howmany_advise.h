/*
 * howmany: learning g(i, m), the loss after i iterations on m workers, from training curves, and
 * advice on which algorithm to use on how many workers.
 *
 * A trace is the loss of one training run, iteration by iteration, on m workers. From traces come
 * g(i, m) and f(m), the seconds of an iteration; h(t, m) = g(t / f(m), m) is the loss after t
 * seconds (Hemingway: Pan, Venkataraman, Tai, Gonzalez 2016). P is the loss, P* the least loss that
 * can be reached. This header includes howmany_fit.h; conventions are described in howmany.h.
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
    const char *algorithm; /* "" if it is not given. */
    double m;              /* Workers, >= 1. */
    double seed;           /* NaN: not given. */
    double staleness; /* A worker may be this many steps ahead of the slowest; 0: none, INFINITY: no
                         bound. */
    const char *source; /* File; may be NULL. */
    int line;           /* Line of its first point, from 1 on; 0: unknown. */
    size_t count;       /* Points, at least 1; the length of the four arrays. */
    double *iteration;  /* Iterations, or epochs if the settings say so. */
    double *loss;       /* Finite. */
    double *seconds;    /* Seconds of one iteration (epoch) at this point; NaN: unknown. */
    double *elapsed_s;  /* Seconds of all iterations up to this point; NaN: unknown. */
    double best;        /* The P* that the trace gives; NaN: none. */
    double bound;       /* P* is not below this bound; -INFINITY: no bound. */
    size_t restarts; /* Times the run returned to an earlier point; repeated points are dropped. */
    bool diverged;   /* After the last point the loss was no longer a number. */
};

/* Training runs whose losses can be compared. */
struct hm_traces {
    const char *measure; /* What `loss` is: objective, loss, test_error, ... */
    const char *unit;    /* What `iteration` counts: "iteration" or "epoch". */
    struct hm_trace *traces;
    size_t count;
    const char **notes; /* Warnings, one sentence each: gaps, rows without a loss, restarts. */
    size_t note_count;
    void *memory; /* Owns everything above. */
};

/* How traces are read. {0} reads the loss by iteration. */
struct hm_traces_settings {
    const char *measure; /* Column of the loss; NULL: objective, else loss. accuracy is read as
                            1 - accuracy. */
    bool epochs;         /* Count epochs instead of iterations, for asynchronous runs. */
    bool times_only;     /* A loss is not needed: only the times are used. */
};

/*
 * Read traces from files, plain or gzip; "-" is standard input. A file has JSON lines, as `howmany
 * train` writes them, or CSV with a header: algorithm, m (or n, workers), iteration, seconds or
 * elapsed_s, loss (or objective), staleness (steps, or async); other columns are ignored. settings
 * may be NULL.
 */
HM_API int hm_traces_load(const char *const *paths, size_t count,
                          const struct hm_traces_settings *settings, struct hm_traces **ret_traces,
                          struct hm_err *err);
HM_API int hm_traces_parse(const char *text, size_t length, const char *source,
                           const struct hm_traces_settings *settings, struct hm_traces **ret_traces,
                           struct hm_err *err);
/* Check traces. The error names the trace, the field, its value and the allowed range. */
HM_API int hm_traces_check(const struct hm_traces *traces, struct hm_err *err);
HM_API void hm_traces_free(struct hm_traces *traces);

/* ---- f(m): seconds of an iteration ----------------------------------------------------------- */

/*
 * Measured seconds of an iteration at some m, and a sum of terms for any other m. Without terms, f
 * is known only at the m of the table.
 */
struct hm_pace {
    const char *algorithm; /* NULL: all algorithms without a pace of their own. */
    const char *source;    /* "the traces", a file, a job. */
    double *m, *seconds;   /* The table: ascending m, and the mean seconds of an iteration. */
    size_t count;          /* Rows of the table. */
    const char **terms;    /* Formulas over n, which is m. */
    size_t term_count;
    double *theta; /* The coefficient of each term. */
    double *draws; /* Further sets of coefficients: draws[d * term_count + k]. */
    size_t draw_count;
    double noise; /* Relative spread of a run around the terms. */
};

struct hm_paces {
    struct hm_pace *paces;
    size_t count;
    void *memory; /* Owns everything above. */
};

/* From the times of traces, for each algorithm separately. */
HM_API int hm_paces_from_traces(const struct hm_traces *traces, struct hm_paces **ret_paces,
                                struct hm_err *err);
/* From a fit of runs, for one algorithm; NULL: for all. */
HM_API int hm_paces_from_fit(const struct hm_fit *fit, const char *algorithm,
                             struct hm_paces **ret_paces, struct hm_err *err);
/* From the curve of a plan, for one algorithm; NULL: for all. */
HM_API int hm_paces_from_answer(const struct hm_answer *answer, const char *algorithm,
                                struct hm_paces **ret_paces, struct hm_err *err);
HM_API void hm_paces_free(struct hm_paces *paces);

/* ---- g(i, m): loss after i iterations -------------------------------------------------------- */

enum hm_g_form {
    HM_G_TERMS,   /* ln(P - P*) = a sum of terms in i and m, chosen by Lasso. */
    HM_G_RATE,    /* P - P* = a m^d (1 - c0 / m^c1)^i */
    HM_G_INVERSE, /* P - P* = 1 / (a m^-p i + b) + c m^q */
    HM_G_POWER,   /* P - P* = a m^d i^-(p + q ln m) */
    HM_G_FORMS
};

/* "terms", "rate", "inverse", "power"; "?" for a number out of range. */
HM_API const char *hm_g_form_name(enum hm_g_form form);

/* Most parameters (a constant and 32 terms), draws, and points of a curve. */
enum { HM_G_PARAMETERS = 33, HM_G_DRAWS = 128, HM_G_CURVE = 61 };
/* Most workers. Above this, a double no longer holds every whole number. */
#define HM_M_MOST 1e15

/* Settings of a fit of g. {0} gives the defaults. */
struct hm_converge_settings {
    bool best_given; /* P* is `best`; otherwise it comes from the traces, or is estimated. */
    double best;
    double level;             /* Probability of intervals, in (0, 1); 0: 0.9. */
    double seed;              /* Seed of the draws behind the intervals. */
    const char *const *terms; /* Formulas over i and m; NULL: the library. Borrowed. */
    size_t term_count;
    double leave_out; /* Traces of this m are not used; 0: all are used. */
};

/* A trace as the fit uses it: at most HM_G_CURVE points, evenly spaced in ln i. */
struct hm_g_curve {
    double m;
    size_t count;
    double *iteration, *loss;
    bool diverged;
};

/* One term or parameter of a form. */
struct hm_g_parameter {
    const char *text; /* The term, "i/m"; or the letter of a parameter: a, c0, ... */
    double value;     /* The coefficient: ln(P - P*) += value * term. */
    double low, high; /* Its interval. */
};

/* How well g predicts an m whose traces it has not seen. Errors are those of log10(P - P*). */
struct hm_g_error {
    double m;
    size_t points;      /* Points predicted. */
    double median, rms; /* Median of the absolute errors; root mean square. */
    double covered;     /* Share of the points that lie inside the interval. */
    bool inside;        /* There are traces of smaller and of larger m. */
};

/* A form that was considered. */
struct hm_g_alternative {
    enum hm_g_form form;
    double error; /* Root mean square error of log10(P - P*) at held-out m; NaN: no fit. */
};

/*
 * What staleness costs. A stale run makes as much progress in i iterations as a fresh run in i / c,
 *
 *     ln c(s, m) = level + growth s^exponent + power ln m,          c(0, m) = 1,
 *
 * where s is the bound of the staleness. A coefficient that is not used is 0.
 */
enum { HM_STALE_PARAMETERS = 3 };

struct hm_stale_cost {
    double staleness; /* INFINITY: asynchronous. */
    double m;
    double factor;    /* c(s, m). Below 1, stale runs need fewer iterations. */
    double low, high; /* Its interval; NaN: unknown. */
};

struct hm_g_stale {
    size_t traces; /* Traces that it comes from; 0: the cost is unknown, and the rest is 0. */
    double level, growth, power;
    double exponent; /* 1 or 2. */
    double *draws;   /* draws[d * HM_STALE_PARAMETERS + k]: level, growth, power. */
    size_t draw_count;
    double error;                /* Root mean square error of log10(P - P*) of these traces. */
    double without;              /* The same error if staleness cost nothing. */
    double held_out;             /* The same for a held-out staleness; NaN: not possible. */
    struct hm_stale_cost *costs; /* For each staleness and m that has traces, ascending. */
    size_t cost_count;
};

/* g of one algorithm. */
struct hm_g {
    const char *algorithm;
    enum hm_g_form form;
    struct hm_g_parameter *parameters; /* HM_G_TERMS: the first one is the constant, "1". */
    size_t parameter_count;
    double *draws;     /* draws[d * parameter_count + k]. */
    size_t draw_count; /* At most HM_G_DRAWS; 0: intervals are unknown. */
    double *m;         /* The m that have traces, ascending. */
    size_t m_count;
    double *spread; /* At each m: spread of ln(P - P*) of its traces around g. */
    double *apart;  /* The same when traces of that m are held out; NaN: they were not. */
    double last;    /* Most iterations of a trace. */
    double error;   /* Error of the chosen form, as in its alternative; NaN with only one m. */
    double penalty; /* Penalty of the Lasso; 0 for the other forms. */
    struct hm_g_alternative alternatives[HM_G_FORMS];
    size_t alternative_count;
    struct hm_g_curve *curves;
    size_t curve_count;
    struct hm_g_stale ssp;   /* Cost of a bounded staleness. */
    struct hm_g_stale async; /* Cost of an unbounded staleness. */
};

/* g of each algorithm, and f where the traces have times. Plain data that can be stored. */
struct hm_convergence {
    const char *measure, *unit; /* As in the traces. */
    double best;                /* P*. */
    double best_low, best_high; /* Its interval; both equal `best` if it was given. */
    bool best_estimated;
    double level; /* Probability of intervals. */
    struct hm_g *algorithms;
    size_t count;
    struct hm_paces *paces; /* From the times of the traces; an algorithm may have none. */
    const char **notes;     /* Warnings, one sentence each. */
    size_t note_count;
    void *memory; /* Owns everything above. */
};

/* Fit g to traces. settings may be NULL. */
HM_API int hm_convergence_new(const struct hm_traces *traces,
                              const struct hm_converge_settings *settings,
                              struct hm_convergence **ret_convergence, struct hm_err *err);
HM_API void hm_convergence_free(struct hm_convergence *convergence);
/* Read what hm_convergence_render writes as HM_FORMAT_JSON with style->table. */
HM_API int hm_convergence_load(const char *path, struct hm_convergence **ret_convergence,
                               struct hm_err *err);
HM_API int hm_convergence_parse(const char *text, size_t length, const char *source,
                                struct hm_convergence **ret_convergence, struct hm_err *err);

struct hm_g_prediction {
    double iteration;
    double loss;      /* P - P*, the median. */
    double low, high; /* Interval of one further run; NaN if there is none. */
};

/*
 * Predict the losses of the algorithm at index `algorithm` on m workers after each of the
 * iterations; ret_predictions has `count` elements.
 */
HM_API int hm_convergence_predict(const struct hm_convergence *convergence, size_t algorithm,
                                  double m, const double *iterations, size_t count,
                                  struct hm_g_prediction *ret_predictions, struct hm_err *err);

/*
 * What a staleness (INFINITY: asynchronous) costs the algorithm at index `algorithm` on m workers.
 * It is an error if no traces show it.
 */
HM_API int hm_convergence_stale(const struct hm_convergence *convergence, size_t algorithm,
                                double staleness, double m, struct hm_stale_cost *ret_cost,
                                struct hm_err *err);

/* ---- how good the predictions are ------------------------------------------------------------ */

struct hm_holdout_settings {
    bool only_ahead;                      /* Do not hold out any m. */
    struct hm_converge_settings converge; /* leave_out: hold out only this m; 0: each in turn. */
    double ahead;                         /* Predict this many iterations ahead; 0: do not. */
    double ahead_s;                       /* Predict this many seconds ahead; 0: do not. */
    double window; /* Predictions ahead use this many iterations before; 0: 50. */
};

/* Predictions ahead within the traces of one m. */
struct hm_g_ahead {
    double m;
    size_t points;      /* Predictions made. */
    double median, rms; /* Errors of log10(P - P*), as in struct hm_g_error. */
};

struct hm_g_holdout {
    const char *algorithm;
    struct hm_g_error *left_out; /* One for each m that was held out. */
    size_t left_out_count;
    double inside;  /* Median absolute error over all points of inner m; NaN: none. */
    double outside; /* The same for the largest m; NaN: none. */
    struct hm_g_ahead *ahead;
    size_t ahead_count;
    double ahead_median; /* Median error of all predictions ahead; NaN: none. */
};

struct hm_holdout {
    bool left_out;                 /* Each m was held out in turn. */
    double ahead, ahead_s, window; /* As asked. */
    struct hm_g_holdout *algorithms;
    size_t count;
    const char **notes; /* Warnings, one sentence each. */
    size_t note_count;
    void *memory; /* Owns everything above. */
};

/* Fit g without some of the traces, and compare its predictions with them. */
HM_API int hm_convergence_hold_out(const struct hm_traces *traces,
                                   const struct hm_holdout_settings *settings,
                                   struct hm_holdout **ret_holdout, struct hm_err *err);
HM_API void hm_holdout_free(struct hm_holdout *holdout);

/*
 * Render as text, JSON, CSV (the points: algorithm, m, iteration, loss) or a gnuplot script.
 * holdout may be NULL. JSON with style->table contains everything, to be stored.
 */
HM_API int hm_convergence_render(const struct hm_convergence *convergence,
                                 const struct hm_holdout *holdout, enum hm_format format,
                                 const struct hm_style *style, char **ret_text, struct hm_err *err);

/* ---- advice ---------------------------------------------------------------------------------- */

/* A question. Start from HM_ADVISE_QUESTION_INIT and set loss, reach, within_s or budget. */
struct hm_advise_question {
    double loss;       /* P - P* to reach, > 0; 0: not asked. */
    double reach;      /* P to reach; NaN: not asked. */
    double within_s;   /* Most seconds, > 0; 0: no limit. */
    double budget;     /* Most money, > 0; 0: no limit. */
    enum hm_goal goal; /* HM_GOAL_AUTO and HM_GOAL_TIME: least time; HM_GOAL_COST: least cost. */
    const double *m;   /* Candidates; NULL: the m of traces, and powers of 2 between. Borrowed. */
    size_t m_count;
    const char *const *algorithms; /* Consider only these; NULL: all. Borrowed. */
    size_t algorithm_count;
    double price_per_s; /* Money per second of one worker, > 0; NaN: unknown. */
    bool adaptive;      /* Also find the best schedule of changing m. */
    double switch_s;    /* Seconds that a change of m takes, >= 0. */
    double level;       /* Probability of intervals, in (0, 1); 0: as in the convergence. */
    double seed;        /* Seed of the draws behind the intervals. */
};

#define HM_ADVISE_QUESTION_INIT                                                                    \
    {                                                                                              \
        0, HM_UNKNOWN, 0, 0, HM_GOAL_AUTO, NULL, 0, NULL, 0, HM_UNKNOWN, false, 0, 0, 0            \
    }

/* Why a candidate is not the first. */
enum hm_advise_why {
    HM_WHY_BEST,       /* It is the first. */
    HM_WHY_ITERATION,  /* Each iteration takes longer. */
    HM_WHY_ITERATIONS, /* It needs more iterations. */
    HM_WHY_BOTH,       /* Its iterations take longer, and it needs more. */
    HM_WHY_PRICE,      /* It costs more. */
    HM_WHY_NEVER,      /* As far as is known, it does not reach the loss. */
    HM_WHY_LOSS,       /* Its loss within the time is larger. */
    HM_WHY_LIMIT,      /* It exceeds the time or the budget. */
};

/* An algorithm on m workers. Unknown values are NaN; _low and _high are intervals. */
struct hm_candidate {
    const char *algorithm;
    double m;
    bool measured; /* There are traces of this algorithm and m. */
    double iterations, iterations_low, iterations_high;    /* To the loss, or within the time. */
    double iteration_s, iteration_low_s, iteration_high_s; /* f(m). */
    double time_s, time_low_s, time_high_s;                /* Expected time. */
    double cost, cost_low, cost_high;                      /* Money. */
    double loss, loss_low, loss_high; /* P - P*: as asked, or as reached within the time. */
    double reaches;                   /* Probability that it reaches the loss within the limits. */
    double probability;               /* Probability that it is the best candidate. */
    double beyond_m, beyond_i;        /* How many times outside the m and i of traces; 1 inside. */
    enum hm_advise_why why;
};

/* The candidate that is fastest while the loss falls from `from` to `to`. */
struct hm_lead {
    const char *algorithm;
    double m;
    double from, to; /* P - P*; `from` is INFINITY at the start. */
};

/* A part of a schedule with constant m. */
struct hm_phase {
    double m;
    double from, to; /* P - P* at its beginning and end. */
    double iterations, time_s;
};

struct hm_schedule {
    const char *algorithm;
    struct hm_phase *phases; /* Only one phase: a change of m gains nothing. */
    size_t phase_count;
    double time_s;  /* With all changes of m. */
    double fixed_s; /* Time of the best candidate with fixed m, computed in the same way. */
    double gain, gain_low, gain_high; /* 1 - time_s / fixed_s, and its interval. */
};

/* The run that would improve the advice most. */
struct hm_next_run {
    const char *algorithm; /* NULL: no run would help. */
    double m;
    double iterations, time_s; /* About how long it would take. */
    double saves; /* Expected saving: seconds, money, or ln of the loss, depending on the goal. */
};

struct hm_advice {
    const char *measure, *unit;      /* As in the traces. */
    double best;                     /* P*. */
    double loss;                     /* P - P* that was asked for; NaN: not asked. */
    double within_s, budget;         /* As asked; NaN: no limit. */
    enum hm_goal goal;               /* HM_GOAL_TIME or HM_GOAL_COST. */
    double level;                    /* Probability of intervals. */
    struct hm_candidate *candidates; /* Best first; one for each algorithm and m. */
    size_t candidate_count;
    bool feasible;          /* The first one reaches the loss, more likely than not. */
    double right;           /* Probability that the first is the best candidate. */
    double near;            /* Probability that it is within a tenth of the best. */
    double right_algorithm; /* Probability that the best candidate has its algorithm. */
    struct hm_lead *leads;
    size_t lead_count;
    struct hm_next_run next;
    struct hm_schedule *schedule; /* NULL: not asked. */
    const char **notes;           /* Warnings, one sentence each. */
    size_t note_count;
    void *memory; /* Owns everything above. */
};

/*
 * Advise. f(m) comes from the last of `paces` that knows an algorithm, and otherwise from the
 * convergence itself. paces may be NULL with a count of 0.
 */
HM_API int hm_advise(const struct hm_convergence *convergence, const struct hm_paces *const *paces,
                     size_t pace_count, const struct hm_advise_question *question,
                     struct hm_advice **ret_advice, struct hm_err *err);
HM_API void hm_advice_free(struct hm_advice *advice);
/* Render as text, JSON or CSV; style->table adds all candidates. */
HM_API int hm_advice_render(const struct hm_advice *advice, enum hm_format format,
                            const struct hm_style *style, char **ret_text, struct hm_err *err);

/* ---- the report of a study ------------------------------------------------------------------- */

/* A run that was made to check the advice. */
struct hm_study_check {
    const char *algorithm;
    double m;
    const char *role; /* "chosen", "runner-up". */
    double predicted_s, predicted_low_s, predicted_high_s;
    double achieved_s; /* NaN: it did not reach the loss. */
    double predicted_iterations, achieved_iterations;
    double loss; /* P - P* at its end. */
};

/* A run that was made for the study. */
struct hm_study_run {
    const char *algorithm;
    double m, seed;
    double iterations, time_s, loss; /* loss is P - P* at its end. */
    const char *reason;              /* "first look", "to be surer", "reference". */
};

/* Everything that the report shows. All pointers are borrowed during the call. */
struct hm_study {
    const char *title;
    const char *command;      /* The command that repeats the study. */
    const char *const *facts; /* Pairs of texts: a name and a value. */
    size_t fact_count;        /* Number of pairs. */
    const struct hm_convergence *convergence;
    const struct hm_holdout *holdout; /* May be NULL. */
    const struct hm_advice *advice;
    const struct hm_study_run *runs;
    size_t run_count;
    const struct hm_study_check *checks;
    size_t check_count;
    const char *const *notes;
    size_t note_count;
};

/* Render one self-contained HTML file with tables and charts, freed with hm_text_free. */
HM_API int hm_study_render(const struct hm_study *study, char **ret_html, struct hm_err *err);

#ifdef __cplusplus
}
#endif

#endif
