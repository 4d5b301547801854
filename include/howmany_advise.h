/*
 * howmany: learning g(i, m) from traces, and which algorithm on how many workers.
 *
 * The third part of the public interface. A trace is the loss of one training run, iteration by
 * iteration, on m workers. From traces come g(i, m), the loss after i iterations on m workers, and
 * f(m), the seconds of an iteration; together h(t, m) = g(t / f(m), m), the loss after t seconds
 * (Hemingway: Pan, Venkataraman, Tai, Gonzalez 2016). Conventions are those of howmany.h.
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

/* ---- traces --------------------------------------------------------------------------------- */

/* One training run. Points are in ascending order of iteration, which begins above 0. */
struct hm_trace {
    const char *algorithm; /* "" where nobody says */
    double m;              /* workers */
    double seed;           /* NaN where nobody says */
    /* Clocks that a worker may be ahead of the slowest; 0: fresh, INFINITY: without a bound. */
    double staleness;
    const char *source; /* file */
    int line;           /* of its first point, 1-based */
    size_t count;       /* points, at least 1 */
    double *iteration;  /* or epochs, as the settings say */
    double *loss;       /* finite */
    double *seconds;    /* of one iteration (epoch), at this point; NaN where nobody says */
    double *elapsed_s;  /* of all iterations up to this point; NaN where nobody says */
    double best;        /* the P* the trace names; NaN: none */
    double bound;       /* P* is not below this (largest objective less gap); -INFINITY: none */
    size_t restarts;    /* how often it went back to an earlier point; what it repeated is once */
    bool diverged;      /* the loss stopped being a number after the last point */
};

struct hm_traces {
    const char *measure; /* what `loss` is: objective, loss, test_error, … */
    const char *unit;    /* what `iteration` counts: iteration or epoch */
    struct hm_trace *traces;
    size_t count;
    const char **notes; /* what a person should know: gaps, rows without a loss, restarts */
    size_t note_count;
    void *memory; /* owns everything above */
};

struct hm_traces_settings {
    /* The column that is the loss; NULL: objective, else loss. accuracy counts as 1 - accuracy. */
    const char *measure;
    bool epochs; /* count epochs instead of iterations: for asynchronous runs */
    /* The loss may be left out: only times are wanted. */
    bool times_only;
};

/*
 * Read traces from several files: JSON lines as `howmany train --json` and `--record` write them,
 * or CSV with a header of the columns algorithm, m (or n, workers), iteration, seconds or
 * elapsed_s, loss (or objective), staleness (clocks, or async), and more that are passed over;
 * plain or gzip; "-" is standard input. settings may be NULL.
 */
HM_API int hm_traces_load(const char *const *paths, size_t count,
                          const struct hm_traces_settings *settings, struct hm_traces **ret_traces,
                          struct hm_err *err);
HM_API int hm_traces_parse(const char *text, size_t length, const char *source,
                           const struct hm_traces_settings *settings, struct hm_traces **ret_traces,
                           struct hm_err *err);
HM_API void hm_traces_free(struct hm_traces *traces);

/* ---- f(m): seconds of an iteration ------------------------------------------------------------
 */

/*
 * What was measured is a table; terms with coefficients tell of other m. Where there are no terms,
 * f is known at the m of the table only.
 */
struct hm_pace {
    const char *algorithm; /* NULL: of all that have none of their own */
    const char *source;    /* "the traces", a file, a job */
    double *m, *seconds;   /* measured: ascending m, mean seconds of an iteration */
    size_t count;
    const char **terms; /* formulas over n, which is m */
    size_t term_count;
    double *theta; /* coefficient of each term; draw_count more sets follow in draws */
    double *draws; /* draws[d * term_count + k] */
    size_t draw_count;
    double noise; /* spread of a run around the terms, relative */
};

struct hm_paces {
    struct hm_pace *paces;
    size_t count;
    void *memory; /* owns everything above */
};

/* From the times of traces, for each algorithm by itself. */
HM_API int hm_paces_from_traces(const struct hm_traces *traces, struct hm_paces **ret_paces,
                                struct hm_err *err);
/* From a fit of runs (n, seconds), for one algorithm or, with NULL, for all. */
HM_API int hm_paces_from_fit(const struct hm_fit *fit, const char *algorithm,
                             struct hm_paces **ret_paces, struct hm_err *err);
/* From the curve of a plan. */
HM_API int hm_paces_from_answer(const struct hm_answer *answer, const char *algorithm,
                                struct hm_paces **ret_paces, struct hm_err *err);
HM_API void hm_paces_free(struct hm_paces *paces);

/* ---- g(i, m): loss after i iterations ---------------------------------------------------------
 */

enum hm_g_form {
    HM_G_TERMS,   /* ln(P - P*) = sum of terms in i and m, chosen by Lasso */
    HM_G_RATE,    /* P - P* = a m^d (1 - c0 / m^c1)^i */
    HM_G_INVERSE, /* P - P* = 1 / (a m^-p i + b) + c m^q */
    HM_G_POWER,   /* P - P* = a m^d i^-(p + q ln m) */
    HM_G_FORMS
};

/* "terms", "rate", "inverse", "power". */
HM_API const char *hm_g_form_name(enum hm_g_form form);

/* At most: parameters (a constant and 32 terms), draws, points of a curve. */
enum { HM_G_PARAMETERS = 33, HM_G_DRAWS = 128, HM_G_CURVE = 61 };
/* Workers, beyond which numbers are no longer whole. */
#define HM_M_MOST 1e15

/* Everything may be 0. */
struct hm_converge_settings {
    bool best_given; /* P* is `best`; else as the traces say, else estimated */
    double best;
    double level;             /* of intervals, in (0, 1); 0: 0.9 */
    double seed;              /* of the draws behind the intervals */
    const char *const *terms; /* formulas over i and m in place of the library; borrowed */
    size_t term_count;
    double leave_out; /* traces of this m are not used; 0: all are */
};

/* A trace as the fit saw it: at most HM_G_CURVE points, evenly in ln i. */
struct hm_g_curve {
    double m;
    size_t count;
    double *iteration, *loss;
    bool diverged;
};

/* One term or parameter of a form, and its interval. */
struct hm_g_parameter {
    const char *text; /* "i/m"; of a form its letter: a, c0, … */
    double value;     /* ln(P - P*) += value * term */
    double low, high;
};

/* How well g predicts an m that it has not seen. Errors are of log10(P - P*). */
struct hm_g_error {
    double m;
    size_t points;
    double median, rms; /* of the absolute errors; root of the mean square */
    double covered;     /* share of the points inside the interval */
    bool inside;        /* there were traces of smaller and of larger m */
};

/* What was considered. */
struct hm_g_alternative {
    enum hm_g_form form;
    double error; /* root mean square of log10(P - P*) for the m that are held out; NaN: no fit */
};

/*
 * What staleness costs. A stale run is as far after i iterations as a fresh one after i / c,
 *
 *     ln c(s, m) = level + growth s^exponent + power ln m,          c(0, m) = 1,
 *
 * s being the bound of the staleness. What is not chosen, or cannot be told, is 0.
 */
enum { HM_STALE_PARAMETERS = 3 };

struct hm_stale_cost {
    double staleness; /* INFINITY: async */
    double m;
    double factor;    /* of the iterations; below 1: stale runs need fewer */
    double low, high; /* interval; NaN: there is no saying how sure */
};

struct hm_g_stale {
    size_t traces; /* that tell it; 0: it is not known, and the rest is 0 */
    double level, growth, power;
    double exponent; /* 1 or 2 */
    double *draws;   /* draws[d * HM_STALE_PARAMETERS + k], in that order */
    size_t draw_count;
    double error;                /* root mean square of log10(P - P*) of those traces */
    double without;              /* the same if staleness cost nothing */
    double held_out;             /* for a staleness that is held out; NaN: none could be */
    struct hm_stale_cost *costs; /* for each staleness and m there are traces of, ascending */
    size_t cost_count;
};

/* g of one algorithm. */
struct hm_g {
    const char *algorithm;
    enum hm_g_form form;
    struct hm_g_parameter *parameters; /* of HM_G_TERMS: the first is the constant, "1" */
    size_t parameter_count;
    double *draws;     /* draws[d * parameter_count + k] */
    size_t draw_count; /* at most HM_G_DRAWS; 0: there is no saying how sure */
    double *m;         /* that there are traces of, ascending */
    size_t m_count;
    double *spread; /* of ln(P - P*) around g at each m: its traces */
    double *apart;  /* the same where the traces of that m are held out; NaN: they were not */
    double last;    /* most iterations a trace has */
    double error;   /* as in the alternative that was chosen; NaN where there is one m only */
    double penalty; /* of the Lasso, as chosen; 0 for the other forms */
    struct hm_g_alternative alternatives[HM_G_FORMS];
    size_t alternative_count;
    struct hm_g_curve *curves;
    size_t curve_count;
    struct hm_g_stale ssp, async; /* of runs whose staleness has a bound, and has none */
};

/* Plain data, so that it can be stored. */
struct hm_convergence {
    const char *measure, *unit; /* as in the traces */
    double best;                /* P* */
    double best_low, best_high; /* interval; equal to best when it was given */
    bool best_estimated;
    double level;
    struct hm_g *algorithms;
    size_t count;
    struct hm_paces *paces; /* from the traces' own times; may have no entry for some */
    const char **notes;
    size_t note_count;
    void *memory; /* owns everything above */
};

/* settings may be NULL. */
HM_API int hm_convergence_new(const struct hm_traces *traces,
                              const struct hm_converge_settings *settings,
                              struct hm_convergence **ret_convergence, struct hm_err *err);
HM_API void hm_convergence_free(struct hm_convergence *convergence);
/* A stored one: what HM_FORMAT_JSON renders with style->table. */
HM_API int hm_convergence_load(const char *path, struct hm_convergence **ret_convergence,
                               struct hm_err *err);
HM_API int hm_convergence_parse(const char *text, size_t length, const char *source,
                                struct hm_convergence **ret_convergence, struct hm_err *err);

struct hm_g_prediction {
    double iteration;
    double loss;      /* P - P*, the median */
    double low, high; /* interval of one further run; NaN when there is none */
};

/* Losses of the algorithm at index `algorithm` after each of the iterations on m workers. */
HM_API int hm_convergence_predict(const struct hm_convergence *convergence, size_t algorithm,
                                  double m, const double *iterations, size_t count,
                                  struct hm_g_prediction *ret_predictions, struct hm_err *err);

/*
 * What a staleness (INFINITY: async) costs the algorithm at index `algorithm` on m workers. Fails
 * where no traces tell.
 */
HM_API int hm_convergence_stale(const struct hm_convergence *convergence, size_t algorithm,
                                double staleness, double m, struct hm_stale_cost *ret_cost,
                                struct hm_err *err);

/* ---- how good it is ---------------------------------------------------------------------------
 */

struct hm_holdout_settings {
    bool only_ahead;                      /* no m is left out */
    struct hm_converge_settings converge; /* leave_out: only this m; 0: each in turn */
    double ahead;                         /* iterations; 0: none */
    double ahead_s;                       /* seconds; 0: none */
    double window;                        /* iterations that are seen; 0: 50 */
};

/* Prediction ahead within one trace, from the window before. */
struct hm_g_ahead {
    double m;
    size_t points;      /* predictions made */
    double median, rms; /* errors of log10(P - P*) */
};

struct hm_g_holdout {
    const char *algorithm;
    struct hm_g_error *left_out; /* one for each m that was held out */
    size_t left_out_count;
    double inside;  /* median absolute error over all points of the m inside; NaN: none */
    double outside; /* of the largest m */
    struct hm_g_ahead *ahead;
    size_t ahead_count;
    double ahead_median; /* over all; NaN: none */
};

struct hm_holdout {
    bool left_out;                 /* m were, one after the other */
    double ahead, ahead_s, window; /* as asked */
    struct hm_g_holdout *algorithms;
    size_t count;
    const char **notes;
    size_t note_count;
    void *memory; /* owns everything above */
};

HM_API int hm_convergence_hold_out(const struct hm_traces *traces,
                                   const struct hm_holdout_settings *settings,
                                   struct hm_holdout **ret_holdout, struct hm_err *err);
HM_API void hm_holdout_free(struct hm_holdout *holdout);

/*
 * As text, JSON, CSV (the points: algorithm, m, iteration, loss) or a gnuplot script. holdout may
 * be NULL. style->table: the whole of it, that can be stored.
 */
HM_API int hm_convergence_render(const struct hm_convergence *convergence,
                                 const struct hm_holdout *holdout, enum hm_format format,
                                 const struct hm_style *style, char **ret_text, struct hm_err *err);

/* ---- the questions ----------------------------------------------------------------------------
 */

enum hm_advise_goal { HM_ADVISE_TIME, HM_ADVISE_COST };

struct hm_advise_question {
    double loss;     /* P - P* to reach; 0: not asked */
    double reach;    /* the loss itself to reach; NaN: not asked */
    double within_s; /* time there is; 0: no limit */
    double budget;   /* money there is; 0: no limit */
    enum hm_advise_goal goal;
    const double *m; /* candidates, borrowed; none: measured ones and powers of 2 between */
    size_t m_count;
    const char *const *algorithms; /* only these; none: all */
    size_t algorithm_count;
    double price_per_s; /* of one worker; negative: unknown */
    bool adaptive;      /* also the best schedule of m */
    double switch_s;    /* what a change of m takes */
    double level;       /* of intervals; 0: that of the convergence */
    double seed;
};

#define HM_ADVISE_QUESTION_INIT                                                                    \
    {                                                                                              \
        .reach = __builtin_nan(""), .price_per_s = -1                                              \
    }

/* Why a candidate loses against the first. */
enum hm_advise_why {
    HM_WHY_BEST,       /* it is the first */
    HM_WHY_ITERATION,  /* its iterations take longer */
    HM_WHY_ITERATIONS, /* it needs more of them */
    HM_WHY_BOTH,
    HM_WHY_PRICE, /* it costs more */
    HM_WHY_NEVER, /* it does not get there, as far as can be told */
    HM_WHY_LOSS,  /* it gets less far in the time */
    HM_WHY_LIMIT, /* it gets there too late, or too dear */
};

/* An algorithm on m workers. Unknown values are NaN. */
struct hm_candidate {
    const char *algorithm;
    double m;
    bool measured;                                      /* there are traces of it */
    double iterations, iterations_low, iterations_high; /* to reach the loss, or within the time */
    double iteration_s, iteration_low_s, iteration_high_s; /* f(m) */
    double time_s, time_low_s, time_high_s;                /* expected; interval */
    double cost, cost_low, cost_high;
    double loss, loss_low, loss_high; /* P - P*: asked for, or got to in the time */
    double reaches;                   /* probability that it gets there within the limits, 0..1 */
    double probability;               /* that it is the best of all */
    double beyond_m, beyond_i;        /* how many times outside what was measured; 1 inside */
    enum hm_advise_why why;
};

/* Who is ahead while the loss falls from `from` to `to`. */
struct hm_lead {
    const char *algorithm;
    double m;
    double from, to; /* P - P*; from INFINITY: from the start */
};

/* One part of a run of changing m. */
struct hm_phase {
    double m;
    double from, to; /* P - P* at its beginning and end */
    double iterations, time_s;
};

struct hm_schedule {
    const char *algorithm;
    struct hm_phase *phases; /* one: a change of m gains nothing */
    size_t phase_count;
    double time_s;  /* with all changes */
    double fixed_s; /* of the best fixed m of any algorithm, on the same reckoning */
    double gain, gain_low, gain_high; /* 1 - time / fixed; interval */
};

struct hm_next_run {
    const char *algorithm; /* NULL: no run would help */
    double m;
    double iterations, time_s; /* it would take about so much */
    double saves;              /* what it is expected to save: seconds, money, or ln of the loss */
};

struct hm_advice {
    const char *measure, *unit;
    double best;             /* P* */
    double loss;             /* P - P* that was asked for; NaN: not asked */
    double within_s, budget; /* as asked; 0: no limit */
    enum hm_advise_goal goal;
    double level;
    struct hm_candidate *candidates; /* best first; one for each algorithm and m */
    size_t candidate_count;
    bool feasible;          /* the first one gets there, more likely than not */
    double right;           /* probability that the first is the best of all */
    double near;            /* that it is within a tenth of the best */
    double right_algorithm; /* that the best has its algorithm */
    struct hm_lead *leads;
    size_t lead_count;
    struct hm_next_run next;
    struct hm_schedule *schedule; /* NULL: not asked */
    const char **notes;
    size_t note_count;
    void *memory; /* owns everything above */
};

/* paces[k] is looked at before the convergence's own; later ones first. */
HM_API int hm_advise(const struct hm_convergence *convergence, const struct hm_paces *const *paces,
                     size_t pace_count, const struct hm_advise_question *question,
                     struct hm_advice **ret_advice, struct hm_err *err);
HM_API void hm_advice_free(struct hm_advice *advice);
/* As text, JSON or CSV (the candidates). style->table: all candidates, not only the first. */
HM_API int hm_advice_render(const struct hm_advice *advice, enum hm_format format,
                            const struct hm_style *style, char **ret_text, struct hm_err *err);

/* ---- the report of a study --------------------------------------------------------------------
 */

/* A run that was made to see whether the advice holds. */
struct hm_study_check {
    const char *algorithm;
    double m;
    const char *role; /* "chosen", "runner-up" */
    double predicted_s, predicted_low_s, predicted_high_s;
    double achieved_s; /* NaN: it did not get there */
    double predicted_iterations, achieved_iterations;
    double loss; /* where it ended */
};

/* A run that was made for the study. */
struct hm_study_run {
    const char *algorithm;
    double m, seed;
    double iterations, time_s, loss; /* P - P* at its end */
    const char *reason;              /* "first look", "to be surer", "reference" */
};

struct hm_study {
    const char *title;
    const char *command;      /* that repeats it */
    const char *const *facts; /* pairs: what, value */
    size_t fact_count;        /* of pairs */
    const struct hm_convergence *convergence;
    const struct hm_holdout *holdout; /* may be NULL */
    const struct hm_advice *advice;
    const struct hm_study_run *runs;
    size_t run_count;
    const struct hm_study_check *checks;
    size_t check_count;
    const char *const *notes;
    size_t note_count;
};

/* One HTML file with tables and pictures, that needs nothing else. */
HM_API int hm_study_render(const struct hm_study *study, char **ret_html, struct hm_err *err);

#ifdef __cplusplus
}
#endif

#endif
