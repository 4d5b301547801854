/*
 * Traces that follow published scaling laws, so that `advise` can treat a language model without
 * measured traces like any other job: for each number of workers one trace per law. The laws differ
 * like traces with different seeds, so their spread becomes the uncertainty of the loss curve g.
 */
#include <math.h>

#include "err.h"
#include "memory.h"
#include "scaling.h"

enum { POINTS = 40 };

/* The traces begin after this many tokens and end after this many tokens per parameter. */
static const double FIRST_TOKENS = 2e9, LAST_PER_PARAMETER = 500;

/* Returns the loss after `tokens` with a batch of `batch` tokens, by one law. */
static double law_loss(const struct hm_scaling_law *law, double parameters, double batch,
                       double tokens)
{
    double loss = hm__scaling_loss(law, parameters, tokens);

    return hm__scaling_loss(law, parameters,
                            tokens / hm__batch_factor(batch, hm__critical_batch(loss)));
}

static int fill_trace(struct hm_trace *t, struct hm_arena *arena, size_t law, double parameters,
                      double batch)
{
    double first = fmax(1, FIRST_TOKENS / batch);
    double last = fmax(10 * first, LAST_PER_PARAMETER * parameters / batch);

    t->iteration = hm__arena_alloc(arena, POINTS, sizeof(double));
    t->loss = hm__arena_alloc(arena, POINTS, sizeof(double));
    t->seconds = hm__arena_alloc(arena, POINTS, sizeof(double));
    t->elapsed_s = hm__arena_alloc(arena, POINTS, sizeof(double));
    if (!t->iteration || !t->loss || !t->seconds || !t->elapsed_s)
        return -1;
    for (int p = 0; p < POINTS; p++) {
        double i = ceil(first * pow(last / first, p / (POINTS - 1.)));
        if (t->count > 0 && i <= t->iteration[t->count - 1])
            continue;
        t->iteration[t->count] = i;
        t->loss[t->count] = law_loss(&hm__scaling_laws[law], parameters, batch, i * batch);
        t->seconds[t->count] = t->elapsed_s[t->count] = NAN;
        t->count++;
    }
    return 0;
}

int hm__scaling_traces(double parameters, double batch, const double *m, size_t m_count,
                       struct hm_traces **ret_traces, struct hm_err *err)
{
    struct hm_arena *arena = hm__arena_new();
    struct hm_traces *all = arena ? hm__arena_alloc(arena, 1, sizeof(*all)) : NULL;
    size_t count = m_count * HM_SCALING_LAWS;
    bool failed = !all || !(all->traces = hm__arena_alloc(arena, count, sizeof(*all->traces)));

    for (size_t k = 0; !failed && k < count; k++) {
        struct hm_trace *t = &all->traces[k];
        t->algorithm = HM_SCALING_ALGORITHM;
        t->source = "published scaling laws";
        t->m = m[k / HM_SCALING_LAWS];
        t->seed = (double)(k % HM_SCALING_LAWS);
        t->best = NAN;
        t->bound = 0;
        failed = fill_trace(t, arena, k % HM_SCALING_LAWS, parameters, batch) != 0;
    }
    if (failed) {
        hm__arena_free(arena);
        return hm__fail_nomem(err);
    }
    all->count = count;
    all->measure = "loss";
    all->unit = "iteration";
    all->memory = arena;
    *ret_traces = all;
    return 0;
}
