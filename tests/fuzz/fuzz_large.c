/*
 * Fuzzes jobs that train transformers: the maps of networks, of layouts (`parallel`) and of
 * software. Valid jobs are planned, and their answers must be consistent. The first byte selects
 * the question.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kept_catalog.h"
#include "large_emit.h"
#include "large_plan.h"
#include "large_render.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the program if `holds` is false, so that the fuzzer reports the input. */
static void must(bool holds)
{
    if (!holds)
        abort();
}

static void check_choice(const struct hm_large_choice *c)
{
    const struct hm_large_step *s = &c->step;
    const struct hm_large_memory *m = &c->memory;
    double parts = s->compute_s + s->head_s + s->tensor_s + s->expert_s + s->context_s +
                   s->bubble_s + s->message_s + s->data_s + s->optimizer_s + s->other_s;
    double bytes = m->weights + m->gradients + m->optimizer + m->activations + m->logits +
                   m->buffers + m->margin;

    must(hm__layout_workers(&c->layout) == c->n);
    must(s->time_s > 0 && isfinite(s->time_s) && fabs(parts / s->time_s - 1) < 1e-6);
    must(m->total > 0 && isfinite(m->total) && fabs(bytes / m->total - 1) < 1e-6);
    must(c->low_s > 0 && c->low_s <= s->time_s && s->time_s <= c->high_s);
}

static void check_answer(const struct hm_large_answer *a)
{
    char *text = NULL;

    must(a->recommended < a->point_count && a->best < a->point_count);
    for (size_t i = 0; i < a->point_count; i++)
        check_choice(&a->points[i]);
    for (int what = 0; what < HM_EMITS; what++)
        if (hm__large_emit(a, (enum hm_large_emit)what, &text, NULL) == 0)
            hm_text_free(text);
    if (hm__large_explain(a, &text, NULL) == 0)
        hm_text_free(text);
    for (int format = HM_FORMAT_TEXT; format <= HM_FORMAT_CSV; format++)
        if (hm__large_render(a, (enum hm_format)format, NULL, &text, NULL) == 0)
            hm_text_free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hm_large_question q = HM_LARGE_QUESTION_INIT;
    struct hm_large_answer *answer = NULL;
    struct hm_job *job = NULL;
    struct hm_err err = {0};

    if (size < 2)
        return 0;
    q.max_n = 64;
    switch (data[0]) {
    case '1': /* The question asks for a fixed number of workers. */
        q.n = 48;
        break;
    case '2':
        q.loss = 2.2;
        break;
    case '3':
        q.parameters = INFINITY;
        q.budget = 1e5;
        break;
    case '4':
        q.deadline_s = 1e6;
        break;
    default:
        break;
    }
    if (hm_job_parse_with(fuzz_catalog(), (const char *)data + 1, size - 1, "fuzz.yaml", NULL, 0,
                          &job, &err) == 0 &&
        job->large && hm__large_plan(job, NULL, 0, &q, &answer, &err) == 0)
        check_answer(answer);
    hm__large_answer_free(answer);
    hm_job_free(job);
    return 0;
}
