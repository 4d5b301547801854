/*
 * Chooses the numbers of parameters and tokens: derives the size of a language model and the length
 * of its training from a target loss, a budget or a deadline, with published scaling laws
 * (scaling.h).
 *
 * A network of another size keeps the proportions of the job's network: the ratio of hidden size to
 * layers, the width of heads, the number of query heads per key head, the ratio of feed-forward
 * width to hidden size, and the vocabulary. For a budget or a deadline, each size is trained on as
 * many tokens as its cheapest or fastest layout can process within the limits, with the required
 * probability; the size with the lowest loss is chosen. For a target loss, the size that reaches it
 * with the smallest value of the goal is chosen.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "chance.h"
#include "err.h"
#include "large_plan.h"
#include "memory.h"
#include "scaling.h"

/* Smallest number of parameters that is considered, and the ratio of two successive sizes. */
static const double SIZE_LEAST = 1e8, SIZE_STEP = 1.4142135623730951;
enum { SIZE_STEPS = 28, HEADS_MOST = 512 };
/* The laws are fits to runs of at least about one token per parameter. For shorter runs, such as a
 * few iterations to measure a step, no loss is predicted. */
static const double LAW_TOKENS_LEAST = 1;

void hm__large_note(struct hm_large_answer *a, const char *format, ...)
{
    va_list args;

    if (a->note_count == HM_LARGE_NOTES)
        return;
    va_start(args, format);
    vsnprintf(a->notes[a->note_count++], sizeof(a->notes[0]), format, args);
    va_end(args);
}

/* Returns the largest divisor of `whole` that is at most `most`, and at least 1. */
static double divisor_below(double whole, double most)
{
    double value = fmax(1, floor(most));

    while (fmod(whole, value) != 0)
        value--;
    return value;
}

/* Sets the widths of a network with `heads` heads, in the proportions of another network. */
static void network_widen(const struct hm_transformer *like, double heads,
                          struct hm_transformer *ret_network)
{
    double groups = like->heads / like->kv_heads;
    bool same = groups > 1 && fmod(heads, like->kv_heads) == 0;

    *ret_network = *like;
    ret_network->heads = heads;
    ret_network->hidden = round(heads * like->hidden / like->heads);
    ret_network->kv_heads = same ? like->kv_heads : heads / divisor_below(heads, groups);
    ret_network->ffn = 64 * fmax(1, round(like->ffn / like->hidden * ret_network->hidden / 64));
}

/* Creates a network with about `parameters` parameters that has the proportions of another
 * network. */
static void network_scale(const struct hm_transformer *like, double parameters,
                          struct hm_transformer *ret_network)
{
    double least = INFINITY;

    for (double heads = 4; heads <= HEADS_MOST; heads += heads < 16 ? 2 : heads < 32 ? 4 : 8) {
        struct hm_transformer one, x;
        network_widen(like, heads, &x);
        one = x;
        one.layers = 1;
        x.layers = 2;
        double layer = hm__large_parameters(&x) - hm__large_parameters(&one);
        double layers = fmax(1, round((parameters - hm__large_parameters(&one)) / layer) + 1);
        x.layers = layers >= 16 ? 4 * round(layers / 4) : layers;
        double shape = log(x.layers / x.hidden * like->hidden / like->layers);
        double distance = 3 * fabs(log(hm__large_parameters(&x) / parameters)) + fabs(shape);
        if (distance < least) {
            least = distance;
            *ret_network = x;
        }
    }
}

/* Fails if no scaling law describes the loss of the job. */
static int check_laws(const struct hm_large_job *large, const struct hm_large_question *q,
                      struct hm_err *err)
{
    const struct hm_transformer *x = &large->network;
    const char *reason = x->experts > 0                      ? "the network has experts"
                         : x->encoder || x->cross_layers > 0 ? "the network is not a decoder only"
                         : large->work.trained < 1
                             ? "the job does not train all parameters from scratch"
                             : NULL;

    if (!reason)
        return 0;
    hm__fail(err, HM_E_CONFLICT, "no published scaling law applies: %s", reason);
    hm__err_hint(err, "the laws are those of dense language models; give tokens instead");
    hm__err_field(err, isnan(q->loss) ? "params" : "loss");
    return HM_E_CONFLICT;
}

/*
 * Returns the number of tokens needed to reach a loss with the batch of the job, as the median over
 * all scaling laws; INFINITY if the loss is never reached.
 */
static double tokens_for(const struct hm_large_job *large, double loss)
{
    double batch = large->work.batch * large->work.sequence;
    double tokens = hm__scaling_tokens_range(hm__large_parameters(&large->network), loss).middle;

    return tokens * hm__batch_factor(batch, hm__critical_batch(loss));
}

static int set_tokens(struct hm_large_job *large, double loss, struct hm_err *err)
{
    double parameters = hm__large_parameters(&large->network);

    large->tokens = tokens_for(large, loss);
    if (large->tokens < 1e18)
        return 0;
    hm__fail(err, HM_E_RANGE, "%g is below what %.3g parameters reach with any number of tokens",
             loss, parameters);
    hm__err_hint(err, "the limit is %.3f; a larger network has a lower one",
                 hm__scaling_loss_range(parameters, INFINITY).middle);
    hm__err_field(err, "loss");
    return HM_E_RANGE;
}

/*
 * Returns the loss after a number of tokens with the batch of the job, as the median over all
 * scaling laws.
 */
static double loss_after(const struct hm_large_job *large, double tokens)
{
    double parameters = hm__large_parameters(&large->network);
    double batch = large->work.batch * large->work.sequence;
    double loss = hm__scaling_loss_range(parameters, tokens).middle;
    double factor = hm__batch_factor(batch, hm__critical_batch(loss));

    return hm__scaling_loss_range(parameters, tokens / factor).middle;
}

/* The inputs of a search for the best size. */
struct sizing {
    const struct hm_job *job;
    const struct hm_cluster *const *clusters;
    size_t cluster_count;
    const struct hm_large_question *q;
    double certainty;
};

/* Returns the number of tokens that one point (a layout on n workers) processes within the limits,
 * with the required probability. */
static double tokens_within(const struct sizing *s, const struct hm_large_answer *a,
                            const struct hm_large_choice *c)
{
    double tokens = INFINITY, bound = hm__large_bound(a, c, s->certainty) / fmax(1e-3, c->goodput);
    double per_token_s = c->step.time_s / (a->batch * a->sequence);
    double price = c->nodes * c->cost_per_s;

    if (s->q->deadline_s > 0)
        tokens = s->q->deadline_s / (per_token_s * bound);
    if (s->q->budget >= 0)
        tokens = fmin(tokens, s->q->budget / (per_token_s * price * bound));
    return c->fits ? tokens : 0;
}

/*
 * Computes the results for a network of one size: the tokens and the loss within the limits, or the
 * time and the cost to reach a target loss. Returns the value to minimise.
 */
static double size_value(const struct sizing *s, const struct hm_large_job *large,
                         struct hm_large_answer *a, struct hm_large_size *size)
{
    bool cost = s->q->goal == HM_GOAL_COST || s->q->deadline_s > 0;
    double best = INFINITY, tokens = isnan(s->q->loss) ? 0 : tokens_for(large, s->q->loss);

    for (size_t i = 0; i < a->point_count; i++) {
        const struct hm_large_choice *c = &a->points[i];
        double most = tokens_within(s, a, c), value;
        double per_token_s = c->step.time_s / (a->batch * a->sequence);
        double price = c->nodes * c->cost_per_s;
        if (!isnan(s->q->loss))
            value = !c->fits || !(most >= tokens) ? INFINITY
                    : cost                        ? tokens * per_token_s * price
                                                  : tokens * per_token_s;
        else
            value = most > 0 ? -most : INFINITY;
        if (!(value < best))
            continue;
        best = value;
        size->tokens = isnan(s->q->loss) ? most : tokens;
        size->n = c->n;
        size->total_s = size->tokens * per_token_s;
        size->cost = size->total_s * price;
    }
    if (isinf(best))
        return best;
    size->loss = isnan(s->q->loss) ? loss_after(large, size->tokens) : s->q->loss;
    return isnan(s->q->loss) ? size->loss : best;
}

/*
 * Evaluates one size; *ret_value is INFINITY if the network does not fit in memory or exceeds the
 * limits.
 */
static int size_eval(const struct sizing *s, struct hm_large_job *large, struct hm_large_size *size,
                     double *ret_value, struct hm_err *err)
{
    struct hm_large_machines machines = {0};
    struct hm_large_answer *a = hm__calloc(1, sizeof(*a));
    struct hm_err own = {0};
    int rc = a ? 0 : hm__fail_nomem(&own);

    *ret_value = INFINITY;
    if (rc == 0) {
        a->outlook.target = NAN;
        a->batch = large->work.batch;
        a->sequence = large->work.sequence;
        rc = hm__large_points(s->job, large, s->clusters, s->cluster_count, s->q, &machines, a,
                              &own);
    }
    if (rc == 0)
        *ret_value = size_value(s, large, a, size);
    hm__large_machines_release(&machines);
    hm__large_answer_free(a);
    if (rc == HM_E_CONFLICT) /* The given degrees of parallelism do not fit this size, so the size
                                is skipped. */
        return 0;
    if (rc && err)
        *err = own;
    return rc;
}

/* Reports that no size can be chosen. */
static int fail_size(const struct hm_large_question *q, bool limited, struct hm_err *err)
{
    if (!limited) {
        hm__fail(err, HM_E_MISSING,
                 "the number of parameters cannot be chosen without a limit or a loss");
        hm__err_hint(err, "give a budget, a deadline or a loss");
    } else {
        hm__fail(err, HM_E_RANGE, "no number of parameters %s",
                 isnan(q->loss) ? "fits within the limits" : "reaches the loss within the limits");
        hm__err_hint(err, "allow more machines, money or time%s; a budget needs a price",
                     isnan(q->loss) ? "" : ", or a higher loss");
    }
    hm__err_field(err, "params");
    return limited ? HM_E_RANGE : HM_E_MISSING;
}

static int choose_size(const struct sizing *s, struct hm_large_job *large,
                       struct hm_large_answer *a, struct hm_err *err)
{
    const struct hm_transformer like = large->network;
    struct hm_transformer best = like;
    double least = INFINITY, tokens = NAN;
    int rc = 0;

    if (isnan(s->q->loss) && !(s->q->deadline_s > 0) && !(s->q->budget >= 0))
        return fail_size(s->q, false, err);
    for (int i = 0; rc == 0 && i <= SIZE_STEPS; i++) {
        struct hm_large_size size = {0};
        double value;
        network_scale(&like, SIZE_LEAST * pow(SIZE_STEP, i), &large->network);
        size.parameters = hm__large_parameters(&large->network);
        rc = size_eval(s, large, &size, &value, err);
        if (rc || isinf(value))
            continue;
        if (a->size_count < HM_LARGE_SIZES)
            a->sizes[a->size_count++] = size;
        if (value < least) {
            least = value;
            best = large->network;
            tokens = size.tokens;
        }
    }
    if (rc == 0 && isinf(least))
        rc = fail_size(s->q, true, err);
    large->network = best;
    /* The recommended point may be slower than the best one by the slack and must also meet the
     * limits, so the number of tokens is reduced. */
    large->tokens = isnan(s->q->loss) ? tokens * (1 - fmin(.2, s->q->slack)) : tokens;
    return rc;
}

int hm__large_resize(const struct hm_job *job, struct hm_large_job *large,
                     const struct hm_cluster *const *clusters, size_t cluster_count,
                     const struct hm_large_question *q, struct hm_large_answer *answer,
                     struct hm_err *err)
{
    const struct sizing sizing = {job, clusters, cluster_count, q,
                                  hm__certainty_or_default(q->certainty)};
    int rc = 0;

    if (isnan(q->loss) && isnan(q->parameters))
        return 0;
    rc = check_laws(large, q, err);
    if (rc == 0 && q->parameters < INFINITY) {
        struct hm_transformer like = large->network;
        network_scale(&like, q->parameters, &large->network);
    }
    if (rc == 0 && isinf(q->parameters))
        return choose_size(&sizing, large, answer, err);
    if (rc == 0 && !isnan(q->loss))
        rc = set_tokens(large, q->loss, err);
    return rc;
}

/* Adds a note with the sizes of a scaled network. */
static void note_network(const struct hm_large_job *large, const struct hm_large_question *q,
                         struct hm_large_answer *a)
{
    const struct hm_transformer *x = &large->network;

    if (!isnan(q->parameters))
        hm__large_note(
            a,
            "The network is scaled: %.0f layers, hidden %.0f, ffn %.0f, %.0f heads, %.0f "
            "heads of keys and values.",
            x->layers, x->hidden, x->ffn, x->heads, x->kv_heads);
}

/*
 * Adds notes about what the critical batch means for the batch of the job and for more copies of
 * the network.
 */
static void note_batch(const struct hm_large_job *large, struct hm_large_answer *a)
{
    const struct hm_large_outlook *o = &a->outlook;
    double batch = large->work.batch * large->work.sequence;
    double copies = floor(o->critical_batch / large->work.sequence);

    if (100 * (o->factor - 1) >= .5) /* A smaller increase would be shown as 0 %, so it is not
                                        noted. */
        hm__large_note(a,
                       "A batch of %.1fM tokens is %.1f times the critical batch at a loss of %.2f "
                       "(%.1fM tokens, Kaplan et al. 2020): it needs %.0f %% more tokens, so more "
                       "than %.0f copies of the model save little time.",
                       batch / 1e6, batch / o->critical_batch, o->loss, o->critical_batch / 1e6,
                       100 * (o->factor - 1), copies);
    else if (!isnan(o->target))
        hm__large_note(a,
                       "The critical batch at a loss of %.2f is %.1fM tokens (Kaplan et al. 2020): "
                       "beyond %.0f copies of the model with one sequence each, a larger batch "
                       "needs more tokens.",
                       o->loss, o->critical_batch / 1e6, copies);
}

void hm__large_outlook(const struct hm_large_job *large, const struct hm_large_question *q,
                       struct hm_large_answer *a)
{
    struct hm_large_outlook *o = &a->outlook;
    double parameters = hm__large_parameters(&large->network);
    double batch = large->work.batch * large->work.sequence;

    *o = (struct hm_large_outlook){.loss = NAN,
                                   .low = NAN,
                                   .high = NAN,
                                   .target = q->loss,
                                   .critical_batch = NAN,
                                   .optimal = NAN,
                                   .factor = 1};
    if (check_laws(large, q, NULL) || isnan(large->tokens) ||
        large->tokens < LAW_TOKENS_LEAST * parameters)
        return;
    double first =
        isnan(q->loss) ? hm__scaling_loss_range(parameters, large->tokens).middle : q->loss;
    o->critical_batch = hm__critical_batch(first);
    o->factor = hm__batch_factor(batch, o->critical_batch);
    struct hm_scaling_range loss = hm__scaling_loss_range(parameters, large->tokens / o->factor);
    o->optimal = hm__scaling_optimum_middle(6 * parameters * large->tokens);
    o->loss = loss.middle;
    o->low = loss.low;
    o->high = loss.high;
    if (!isnan(q->loss)) {
        struct hm_scaling_range tokens = hm__scaling_tokens_range(parameters, q->loss);
        o->least_tokens = tokens.low;
        o->most_tokens = tokens.high;
    }
    note_network(large, q, a);
    note_batch(large, a);
}
