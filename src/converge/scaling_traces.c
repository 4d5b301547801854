/*
 * Creates traces that follow published scaling laws, so that `advise` can treat a language model
 * without measured traces like any other job. For each number of workers, there are three traces:
 * the median loss over the laws, which is also what a plan with a loss uses, and the same curve
 * with the tokens divided and multiplied by a factor. The factor is half the distance on a
 * logarithmic scale between the numbers of tokens that the laws predict (law_factor), so that the
 * spread of the traces becomes the uncertainty of the loss curve g.
 */
#include <math.h>

#include "err.h"
#include "memory.h"
#include "scaling.h"

enum { POINTS = 40 };

/* The traces start after this many tokens and end after this many tokens per parameter. */
static const double FIRST_TOKENS = 2e9, LAST_PER_PARAMETER = 500;

/* Tokens per parameter of a typical training run (Hoffmann et al. 2022). */
static const double USUAL_PER_PARAMETER = 20;
/* Upper limit of the factor between the traces, which would be infinite if a law never reached the
 * loss. */
static const double LARGEST_FACTOR = 10;

/* Returns the median loss after `tokens` tokens with a batch of `batch` tokens. */
static double median_loss(double parameters, double batch, double tokens)
{
    double loss = hm__scaling_loss_range(parameters, tokens).middle;
    double useful = tokens / hm__batch_factor(batch, hm__critical_batch(loss));

    return hm__scaling_loss_range(parameters, useful).middle;
}

/* Returns how much the laws differ at a loss, as a factor in the number of tokens. */
static double factor_at(double parameters, double loss)
{
    struct hm_scaling_range tokens = hm__scaling_tokens_range(parameters, loss);

    return fmin(sqrt(tokens.high / tokens.low), LARGEST_FACTOR);
}

/*
 * Returns how much the laws differ from their median, expressed as a factor in the number of tokens
 * needed to reach the same loss: the smaller of that of a typical training run and that at the loss
 * to reach, if it is given. Near the lowest loss of one law, the laws differ without bound.
 */
static double law_factor(double parameters, double loss)
{
    double usual = hm__scaling_loss_range(parameters, USUAL_PER_PARAMETER * parameters).middle;
    double factor = factor_at(parameters, usual);

    return isnan(loss) ? factor : fmin(factor, factor_at(parameters, loss));
}

/* Returns the median over the laws of the loss after infinitely many tokens. */
static double least_loss(double parameters)
{
    return hm__scaling_loss_range(parameters, INFINITY).middle;
}

static int fill_trace(struct hm_trace *t, struct hm_arena *arena, double factor, double parameters,
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
        t->loss[t->count] = median_loss(parameters, batch, i * batch * factor);
        t->seconds[t->count] = t->elapsed_s[t->count] = NAN;
        t->count++;
    }
    return 0;
}

int hm__scaling_traces(double parameters, double batch, double loss, const double *m,
                       size_t m_count, struct hm_traces **ret_traces, struct hm_err *err)
{
    struct hm_arena *arena = hm__arena_new();
    struct hm_traces *all = arena ? hm__arena_alloc(arena, 1, sizeof(*all)) : NULL;
    const double apart = law_factor(parameters, loss);
    const double factors[HM_SCALING_LAWS] = {1 / apart, 1, apart};
    size_t count = m_count * HM_SCALING_LAWS;
    bool failed = !all || !(all->traces = hm__arena_alloc(arena, count, sizeof(*all->traces)));

    for (size_t k = 0; !failed && k < count; k++) {
        struct hm_trace *t = &all->traces[k];
        t->algorithm = HM_SCALING_ALGORITHM;
        t->source = "published scaling laws";
        t->m = m[k / HM_SCALING_LAWS];
        t->seed = (double)(k % HM_SCALING_LAWS);
        t->best = least_loss(parameters);
        t->bound = 0;
        failed = fill_trace(t, arena, factors[k % HM_SCALING_LAWS], parameters, batch) != 0;
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
