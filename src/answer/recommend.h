/*
 * Internal interface of a recommendation, shared by its sources of times: matching runs, fits and
 * the model.
 */
#ifndef HM_RECOMMEND_H
#define HM_RECOMMEND_H

#include "howmany_fit.h"
#include "memory.h"
#include "notes.h"

enum { HM_RECOMMEND_AT = 32, HM_RECOMMEND_CANDIDATES = 4096, HM_RECOMMEND_DRAWS = 2000 };

/* A candidate and the values that are computed for it. */
struct hm_recommend_candidate {
    struct hm_recommended r;
    bool known; /* True if a time is known for the candidate. */
    /*
     * Excess over the limits: the larger of time / deadline and cost / budget, where time and cost
     * are the upper bounds that hold with the required probability; at most 1 if both limits are
     * met.
     */
    double excess;
    /* Time in seconds in each random draw of the fit; NULL if the uncertainty is unknown. */
    double *draws;
    /* Lower bound of the time in seconds for a candidate whose time is not known; NaN if there is
     * no bound. */
    double floor_s;
    /* Reason why no time is known for the candidate, as a phrase; NULL if a time is known. */
    const char *why;
};

struct hm_recommending {
    const struct hm_runs *runs; /* Table of runs; NULL if there is none. */
    const double *n, *seconds;  /* Columns n and seconds of the runs; borrowed. */
    const struct hm_recommend_question *q;
    struct hm_recommendation *out;
    struct hm_arena *arena; /* Arena that owns the recommendation `out`; borrowed. */
    /*
     * The configuration to predict: the quantities that the question gives, with their values. The
     * size is added if the question does not specify one.
     */
    struct hm_at at[HM_RECOMMEND_AT];
    size_t at_count;
    /* Indices of the rows in the table of runs that have the algorithm and machine that the
     * question names. */
    size_t *picked;
    size_t picked_count;
    /* The candidates, sorted by n until they are judged, then best first. */
    struct hm_recommend_candidate *candidates;
    size_t count;
    size_t draw_count;
    /* Number of workers per node if all runs used one node; NaN otherwise. */
    double node_workers;
    size_t fitted; /* Number of runs in the fits that give times; 0 if no time comes from a fit. */
    /* Price per worker-second, from the column cost; NaN if the runs have no such column. */
    double rate;
    /*
     * Weights of time and cost for the goal `balance`, given by the question or chosen
     * automatically.
     */
    double alpha, beta;
    bool priced; /* True if a cost is known for every candidate that has a time. */
};

static inline struct hm_notes hm__recommend_notes(struct hm_recommending *w)
{
    return (struct hm_notes){w->arena, &w->out->notes, &w->out->note_count};
}

/* ---- recommend_rows.c ------------------------------------------------------------------------ */

/* Selects the rows of the table of runs that have the algorithm and machine that the question
 * names. */
int hm__recommend_pick(struct hm_recommending *w, struct hm_err *err);
/*
 * Determines the value of each quantity of the configuration to predict. Checks the names and
 * values in the question, and checks that it specifies each quantity in which the runs differ.
 */
int hm__recommend_place(struct hm_recommending *w, struct hm_err *err);
/*
 * Lists the candidates: the values of n that the question names, or all values of n that were run.
 */
int hm__recommend_candidates(struct hm_recommending *w, struct hm_err *err);
/* Marks the candidates that are known to fail. */
int hm__recommend_failures(struct hm_recommending *w, struct hm_err *err);
/*
 * Sets times from the runs that match the question exactly. `way` stays HM_RECOMMEND_NONE if no run
 * matches.
 */
int hm__recommend_rows(struct hm_recommending *w, struct hm_err *err);

/* Returns the values of the column `name`, or NULL if the runs do not have that column. */
const double *hm__recommend_values(const struct hm_runs *runs, const char *name);
/* Returns whether fits and models can use the quantity `name`: size, batch, latency or
 * bandwidth. */
bool hm__recommend_is_known(const char *name);
/*
 * Returns whether a quantity has no influence on the runs on n workers. One worker uses no network,
 * so latency and bandwidth do not matter for n = 1, unless the runs with n = 1 have different
 * values of them.
 */
bool hm__recommend_ignores(const struct hm_recommending *w, double n, const char *name);
/* Returns whether two values are equal up to rounding. */
bool hm__recommend_same(double a, double b);

/* ---- recommend_fit.c ------------------------------------------------------------------------- */

/*
 * Sets times from fits of the runs, for the candidates that have no time yet. If the fits give no
 * time, `way` is not changed and a reason is recorded.
 */
int hm__recommend_fit(struct hm_recommending *w, struct hm_err *err);

/* ---- recommend_model.c ----------------------------------------------------------------------- */

int hm__recommend_model(struct hm_recommending *w, struct hm_err *err);

/* ---- recommend_judge.c ----------------------------------------------------------------------- */

/*
 * Computes for each candidate the cost, the value to be minimised and the excess over the limits,
 * sorts the candidates with the best first, and computes the probability that the first one is the
 * best.
 */
int hm__recommend_judge(struct hm_recommending *w, struct hm_err *err);

/* Returns the value to be minimised if the candidate takes time_s seconds. */
double hm__recommend_value(const struct hm_recommending *w, const struct hm_recommend_candidate *t,
                           double time_s);

/* ---- recommend_next.c ------------------------------------------------------------------------ */

/* Finds the additional run that would help most. Call it after hm__recommend_judge. */
int hm__recommend_next(struct hm_recommending *w, struct hm_err *err);

/* ---- recommend_words.c ----------------------------------------------------------------------- */

enum { HM_PLACE_TEXT = 256 };
/*
 * Writes quantities and their values, such as "batch 64000, latency 20 ms", into
 * text[HM_PLACE_TEXT].
 */
const char *hm__recommend_place_text(const struct hm_at *at, size_t count, char *text);
/* Writes the number of workers, such as "1 worker" or "4 workers", into text[40]. */
const char *hm__recommend_workers(double n, char *text);

#endif
