/* The parts of an advice, and what they share while it is made. */
#ifndef HM_ADVISE_PARTS_H
#define HM_ADVISE_PARTS_H

#include "advise.h"

struct hm_advising {
    const struct hm_convergence *convergence;
    const struct hm_paces *const *paces;
    size_t pace_count;
    const struct hm_advise_question *question;
    struct hm_advice *advice;
    struct hm_arena *memory; /* the advice's */
    bool for_loss;           /* a loss is asked for; otherwise the least loss is */
    double level;            /* ln(P - P*) that is asked for */
    double confidence;       /* of intervals */
    double *ms;              /* candidates */
    size_t m_count;
    struct hm_runner *runners;
    size_t count;
    size_t *order; /* of the runners, best first: as the candidates of the advice */
    size_t unknown_pace;
};

/* What so many seconds cost. */
double hm__advising_price(const struct hm_advising *a, const struct hm_runner *runner,
                          double seconds);
int hm__advice_note(struct hm_advising *a, struct hm_err *err, const char *format, ...)
    HM_PRINTF(3, 4);
/* Who is ahead when, on the way to the loss. */
int hm__advice_leads(struct hm_advising *a, struct hm_err *err);
/* The run that would tell most. */
void hm__advice_next(struct hm_advising *a);

#endif
