/* Fuzzes stored convergence models. A valid model is queried and written, and the written model
 * must be readable. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "howmany_advise.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Queries the model; errors are allowed, and answers are ignored. */
static void ask(const struct hm_convergence *c)
{
    static const double iterations[] = {1, 2, 30, 1000}, ms[] = {1, 2, 3, 8, 100};
    struct hm_advise_question question = HM_ADVISE_QUESTION_INIT;
    static const double staleness[] = {0, 1, 16, 1e15, INFINITY};
    struct hm_g_prediction predictions[4];
    struct hm_stale_cost cost;
    struct hm_advice *advice = NULL;

    for (size_t a = 0; a < c->count && a < 4; a++)
        for (size_t k = 0; k < 5; k++) {
            hm_convergence_predict(c, a, ms[k], iterations, 4, predictions, NULL);
            hm_convergence_stale(c, a, staleness[k], ms[k], &cost, NULL);
        }
    question.loss = 0.01;
    question.adaptive = true;
    question.m = ms;
    question.m_count = 5;
    if (hm_advise(c, NULL, 0, &question, &advice, NULL) == 0)
        hm_advice_free(advice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hm_style style = {.table = true, .width = 80};
    struct hm_convergence *first = NULL, *second = NULL;
    struct hm_err err = {0};
    char *text = NULL;

    if (hm_convergence_parse((const char *)data, size, "fuzz.json", &first, &err))
        return 0;
    ask(first);
    if (hm_convergence_render(first, NULL, HM_FORMAT_JSON, &style, &text, &err) ||
        hm_convergence_parse(text, strlen(text), "again.json", &second, &err))
        abort();
    hm_text_free(text);
    hm_convergence_free(second);
    hm_convergence_free(first);
    return 0;
}
