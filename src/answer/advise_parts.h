/* Declares the state that is shared by the functions that compute the advice. */
#ifndef HM_ADVISE_PARTS_H
#define HM_ADVISE_PARTS_H

#include "notes.h"
#include "runner.h"

struct hm_advising {
    const struct hm_convergence *convergence;
    const struct hm_paces *const *paces;
    size_t pace_count;
    const struct hm_advise_question *question;
    struct hm_advice *advice;
    struct hm_arena *memory; /* The arena that owns the advice; borrowed. */
    /* True if a target loss is to be reached; false if the loss is minimised within limits. */
    bool for_loss;
    /* The target loss as ln(P - P*), where P is the loss and P* is the lowest loss. */
    double level;
    double confidence; /* Confidence level of the intervals, such as 0.9. */
    double *ms;        /* Numbers of workers to compare. */
    size_t m_count;
    struct hm_runner *runners;
    size_t count;
    size_t fresh; /* Number of candidates without staleness (synchronous runs), which come first in
                     `runners`. */
    /*
     * Indices into `runners`, sorted from best to worst; the candidates of the advice have the same
     * order.
     */
    size_t *order;
    size_t unknown_pace;
};

/* Returns the cost of using the workers of a candidate for `seconds` seconds. */
double hm__advising_price(const struct hm_advising *a, const struct hm_runner *runner,
                          double seconds);
static inline struct hm_notes hm__advice_notes(struct hm_advising *a)
{
    return (struct hm_notes){a->memory, &a->advice->notes, &a->advice->note_count};
}

/*
 * Returns how many kinds of stale runs (for example SSP with a given bound) can be candidates for
 * an algorithm, which requires that their times are known. Each kind is tried on every number of
 * workers.
 */
size_t hm__advising_count_stale(const struct hm_advising *a, const struct hm_g *g);
/* Adds the stale runs of an algorithm, and its runs with backup workers, to the candidates. */
int hm__advising_add_stale(struct hm_advising *a, const struct hm_g *g, struct hm_err *err);
/* Finds the candidate that leads in each range of the loss. */
int hm__advice_leads(struct hm_advising *a, struct hm_err *err);
/* Finds the most useful next run. */
void hm__advice_next(struct hm_advising *a);

#endif
