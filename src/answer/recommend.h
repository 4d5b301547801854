/* Inside of a recommendation, shared by the ways it can come about. */
#ifndef HM_RECOMMEND_H
#define HM_RECOMMEND_H

#include "howmany_fit.h"
#include "memory.h"

enum { HM_RECOMMEND_AT = 32, HM_RECOMMEND_CANDIDATES = 4096, HM_RECOMMEND_NOTES = 32 };

/* A candidate on its way. */
struct hm_told {
    struct hm_recommended r;
    bool told;       /* it has a time */
    double excess;   /* how many times over deadline and budget; at most 1 within them */
    double *draws;   /* its time as each draw has it; NULL where how sure is not known */
    double floor_s;  /* not told: it takes at least that; NaN unknown */
    const char *why; /* not told: a phrase; NULL if there is nothing to say */
};

struct hm_recommending {
    const struct hm_runs *runs; /* NULL without any */
    const double *n, *seconds;  /* their columns, which are looked at often */
    const struct hm_recommend_question *q;
    struct hm_recommendation *out;
    struct hm_arena *arena;           /* of out */
    struct hm_at at[HM_RECOMMEND_AT]; /* the place: what was asked, and a size that goes without */
    size_t at_count;
    size_t *picked; /* rows of the algorithm and the machine that were asked for */
    size_t picked_count;
    struct hm_told *told; /* by n, until they are judged */
    size_t count;
    size_t draw_count;
    double rate;        /* money of a worker-second by a column cost; NaN */
    double alpha, beta; /* of a balance, decided */
    bool priced;        /* every time has a cost */
};

/* Add a note; HM_E_NOMEM or 0. */
int hm__recommend_note(struct hm_recommending *w, struct hm_err *err, const char *format, ...)
    HM_PRINTF(3, 4);

/* ---- recommend_rows.c ----------------------------------------------------------------------- */

/* The rows of the algorithm and machine. */
int hm__recommend_pick(struct hm_recommending *w, struct hm_err *err);
/* The place: names that runs know, values that can be, nothing left open that runs differ in. */
int hm__recommend_place(struct hm_recommending *w, struct hm_err *err);
/* Candidates: the n asked for, or those that were run. */
int hm__recommend_candidates(struct hm_recommending *w, struct hm_err *err);
/* Mark the candidates that are known to fail. */
int hm__recommend_failures(struct hm_recommending *w, struct hm_err *err);
/* Times from the rows that match exactly; way stays HM_RECOMMEND_NONE if none does. */
int hm__recommend_rows(struct hm_recommending *w, struct hm_err *err);

/* Column of numbers, or NULL. */
const double *hm__recommend_values(const struct hm_runs *runs, const char *name);
/* Equal but for rounding. */
bool hm__recommend_same(double a, double b);

/* ---- recommend_fit.c ------------------------------------------------------------------------ */

/* Times from fits; way stays HM_RECOMMEND_NONE, with a reason, if they do not tell. */
int hm__recommend_fit(struct hm_recommending *w, struct hm_err *err);

/* ---- recommend_model.c ---------------------------------------------------------------------- */

int hm__recommend_model(struct hm_recommending *w, struct hm_err *err);

/* ---- recommend_judge.c ---------------------------------------------------------------------- */

/* Costs, values, limits; how sure; then candidates in order, best first. */
int hm__recommend_judge(struct hm_recommending *w, struct hm_err *err);

/* What is to be least, were the time of a candidate that. */
double hm__recommend_value(const struct hm_recommending *w, const struct hm_told *t, double time_s);

/* ---- recommend_next.c ----------------------------------------------------------------------- */

/* The one run that would help most, after judging. */
int hm__recommend_next(struct hm_recommending *w, struct hm_err *err);

/* ---- recommend_words.c ---------------------------------------------------------------------- */

enum { HM_PLACE_TEXT = 256 };
/* "batch 64000, latency 20 ms", into text[HM_PLACE_TEXT]. */
const char *hm__recommend_place_text(const struct hm_at *at, size_t count, char *text);
/* "1 worker", "4 workers", into text of 40. */
const char *hm__recommend_workers(double n, char *text);

#endif
