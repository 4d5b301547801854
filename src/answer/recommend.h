/* Internal interface of a recommendation, shared by its sources: rows, fits and the model. */
#ifndef HM_RECOMMEND_H
#define HM_RECOMMEND_H

#include "howmany_fit.h"
#include "memory.h"
#include "notes.h"

enum { HM_RECOMMEND_AT = 32, HM_RECOMMEND_CANDIDATES = 4096 };

/* A candidate while it is evaluated. */
struct hm_recommend_candidate {
    struct hm_recommended r;
    bool known;      /* It has a time. */
    double excess;   /* Factor by which it exceeds deadline and budget; at most 1 within them. */
    double *draws;   /* Its time in each draw; NULL if the uncertainty is unknown. */
    double floor_s;  /* Without a time: a lower bound of it; NaN if unknown. */
    const char *why; /* Without a time: a phrase with the reason, or NULL. */
};

struct hm_recommending {
    const struct hm_runs *runs; /* NULL without runs. */
    const double *n, *seconds;  /* Columns of the runs. */
    const struct hm_recommend_question *q;
    struct hm_recommendation *out;
    struct hm_arena *arena;           /* Arena of `out`. */
    struct hm_at at[HM_RECOMMEND_AT]; /* The place of the question: the given quantities, and the
                                         size if it was not given. */
    size_t at_count;
    size_t *picked; /* Rows of the algorithm and the machine of the question. */
    size_t picked_count;
    struct hm_recommend_candidate
        *candidates; /* Sorted by n until they are judged, then best first. */
    size_t count;
    size_t draw_count;
    double rate;        /* Money per worker-second from a column cost; NaN without one. */
    double alpha, beta; /* Weights of a balance, as decided. */
    bool priced;        /* Every time has a cost. */
};

static inline struct hm_notes hm__recommend_notes(struct hm_recommending *w)
{
    return (struct hm_notes){w->arena, &w->out->notes, &w->out->note_count};
}

/* ---- recommend_rows.c ------------------------------------------------------------------------ */

/* Selects the rows of the algorithm and machine. */
int hm__recommend_pick(struct hm_recommending *w, struct hm_err *err);
/*
 * Determines the place: checks names and values, and that no quantity is open in which the runs
 * differ.
 */
int hm__recommend_place(struct hm_recommending *w, struct hm_err *err);
/* Lists the candidates: the n of the question, or those that were run. */
int hm__recommend_candidates(struct hm_recommending *w, struct hm_err *err);
/* Marks the candidates that are known to fail. */
int hm__recommend_failures(struct hm_recommending *w, struct hm_err *err);
/* Takes times from the rows that match exactly; way stays HM_RECOMMEND_NONE if none does. */
int hm__recommend_rows(struct hm_recommending *w, struct hm_err *err);

/* A column of numbers, or NULL. */
const double *hm__recommend_values(const struct hm_runs *runs, const char *name);
/* Whether a quantity is one of those that fits and models use: size, batch, latency, bandwidth. */
bool hm__recommend_is_known(const char *name);
/* Equal up to rounding. */
bool hm__recommend_same(double a, double b);

/* ---- recommend_fit.c ------------------------------------------------------------------------- */

/* Takes times from fits; way stays HM_RECOMMEND_NONE, with a reason, if they give none. */
int hm__recommend_fit(struct hm_recommending *w, struct hm_err *err);

/* ---- recommend_model.c ----------------------------------------------------------------------- */

int hm__recommend_model(struct hm_recommending *w, struct hm_err *err);

/* ---- recommend_judge.c ----------------------------------------------------------------------- */

/* Computes costs, values, limits and certainty, and sorts the candidates, best first. */
int hm__recommend_judge(struct hm_recommending *w, struct hm_err *err);

/* The value to be minimised if the candidate took time_s. */
double hm__recommend_value(const struct hm_recommending *w, const struct hm_recommend_candidate *t,
                           double time_s);

/* ---- recommend_next.c ------------------------------------------------------------------------ */

/* Finds the one run that would help most, after judging. */
int hm__recommend_next(struct hm_recommending *w, struct hm_err *err);

/* ---- recommend_words.c ----------------------------------------------------------------------- */

enum { HM_PLACE_TEXT = 256 };
/* Writes "batch 64000, latency 20 ms" into text[HM_PLACE_TEXT]. */
const char *hm__recommend_place_text(const struct hm_at *at, size_t count, char *text);
/* Writes "1 worker", "4 workers" into text of 40 bytes. */
const char *hm__recommend_workers(double n, char *text);

#endif
