/* The parts of an advice and their shared state. */
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
    struct hm_arena *memory; /* Arena of the advice. */
    bool for_loss;           /* A loss is to be reached; otherwise the loss is minimised. */
    double level;            /* ln(P - P*) to be reached. */
    double confidence;       /* Level of the intervals. */
    double *ms;              /* Values of m of the candidates. */
    size_t m_count;
    struct hm_runner *runners;
    size_t count;
    size_t
        *order; /* Indices of the runners, best first, in the order of the advice's candidates. */
    size_t unknown_pace;
};

/* Cost of `seconds` on the workers of a runner. */
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
