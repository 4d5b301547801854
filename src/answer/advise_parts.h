/* The shared state of the functions that compute the parts of an advice. */
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
    struct hm_arena *memory; /* Borrowed: the arena of the advice. */
    /* True: a target loss is to be reached. False: the loss is minimised. */
    bool for_loss;
    double level;      /* The target loss as ln(P - P*), where P* is the least loss. */
    double confidence; /* Confidence level of the intervals, such as 0.9. */
    double *ms;        /* Numbers of workers of the candidates. */
    size_t m_count;
    struct hm_runner *runners;
    size_t count;
    /* Indices of the runners, best first; the candidates of the advice have the same order. */
    size_t *order;
    size_t unknown_pace;
};

/* Cost of running for `seconds` on the workers of a runner. */
double hm__advising_price(const struct hm_advising *a, const struct hm_runner *runner,
                          double seconds);
static inline struct hm_notes hm__advice_notes(struct hm_advising *a)
{
    return (struct hm_notes){a->memory, &a->advice->notes, &a->advice->note_count};
}

/* Finds which candidate leads in which range of losses. */
int hm__advice_leads(struct hm_advising *a, struct hm_err *err);
/* Finds the most useful next run. */
void hm__advice_next(struct hm_advising *a);

#endif
