/*
 * Searches the layouts of a large network. Times of single layers depend only on (tensor, context,
 * expert, micro_batch): they are computed once and reused for every n, degree of pipeline
 * parallelism, interleaving, sharding and recomputation. The memory is quick to compute, so it is
 * checked before the time. Recomputation increases the time, so more recomputation is tried only if
 * less does not fit in memory.
 */
#include "large_plan.h"

#include <math.h>

#include "budget.h"

/* Context parallelism is tried for sequences with at least this many tokens. */
static const double LONG_SEQUENCE = 32768;
enum { OPTIONS_MAX = 64 };
/* Largest number of chunks per stage that is tried, because measured layouts rarely have more. */
static const double CHUNKS_MOST = 8;

/* Values to try for one degree of parallelism. */
struct options {
    double values[OPTIONS_MAX];
    size_t count;
};

static void add_option(struct options *o, double value)
{
    if (o->count < OPTIONS_MAX)
        o->values[o->count++] = value;
}

/* Returns the given value or, if it is NaN, all divisors of `whole` that are at most `most`. */
static struct options divisor_options(double given, double whole, double most)
{
    struct options o = {0};

    if (!isnan(given))
        add_option(&o, given);
    for (double value = 1; isnan(given) && value <= fmin(whole, most); value++)
        if (fmod(whole, value) == 0)
            add_option(&o, value);
    return o;
}

/* Returns the given value or, if it is NaN, the powers of two up to `most`. */
static struct options power_options(double given, double most)
{
    struct options o = {0};

    if (!isnan(given))
        add_option(&o, given);
    for (double value = 1; isnan(given) && value <= most; value *= 2)
        add_option(&o, value);
    return o;
}

struct search {
    const struct hm_large_case *x;
    const struct hm_large_job *given;
    struct hm_large_tops *tops;
    size_t count;
    /* Times of layers for the current degrees of tensor, context and expert parallelism and the
     * current micro-batch. */
    struct hm_large_times times;
    bool timed; /* True if `times` is set. */
    double candidates;
};

/* Multiplies the time of a step and of all its components by a factor. */
static void step_scale(struct hm_large_step *step, double factor)
{
    double *parts = &step->time_s;

    for (size_t i = 0; i < sizeof(*step) / sizeof(*parts); i++)
        parts[i] *= factor;
}

static void choice_eval(const struct hm_large_case *x, const struct hm_large_times *times,
                        struct hm_large_choice *choice)
{
    double narrower = 1;

    hm__large_step(x, &choice->layout, times, &choice->step);
    if (x->correction) {
        step_scale(&choice->step, hm__large_known(x->correction, &choice->layout, &narrower));
        choice->step.slow_host_s = 0; /* Measured steps show how fast the host launches kernels, so
                                         the plan no longer allows for a slow host. */
    } else if (choice->layout.offload != HM_OFFLOAD_NONE)
        narrower = 2; /* Offloading does not occur in the measured steps that determine the
                         intervals, so the interval is twice as wide. */
    struct hm_large_interval interval = hm__large_narrow(
        hm__large_interval(&hm__large_spreads[0].spread, x->device, x->work, &choice->step),
        narrower);
    choice->low_s = choice->step.time_s * interval.low;
    choice->high_s = choice->step.time_s * interval.high;
}

/* Adds a layout to the list of the fastest layouts that fit, if it is fast enough. */
static void keep_top(struct hm_large_tops *tops, const struct hm_large_choice *choice)
{
    size_t at = tops->count;

    if (at == HM_LARGE_TOP && choice->step.time_s >= tops->top[at - 1].step.time_s)
        return;
    if (at < HM_LARGE_TOP)
        tops->count++;
    else
        at--;
    while (at > 0 && tops->top[at - 1].step.time_s > choice->step.time_s) {
        tops->top[at] = tops->top[at - 1];
        at--;
    }
    tops->top[at] = *choice;
}

static void ensure_times(struct search *s, const struct hm_layout *layout)
{
    if (!s->timed)
        hm__large_times(s->x, layout, &s->times);
    s->timed = true;
}

/*
 * Returns the number of bytes of host memory that each of n workers can use for offloaded states;
 * NaN if unknown. A tenth of the host's memory is reserved for the system and for reading data.
 */
static double host_limit(const struct hm_large_device *device, double n)
{
    static const double HOST_SHARE = .9;

    return HOST_SHARE * device->host_bytes / fmin(n, device->machine_workers);
}

/*
 * Returns whether a kind of recomputation is worth trying. A fused kernel does not keep the
 * attention scores, so selective recomputation would save no memory. Megatron can recompute half of
 * the layers of each chunk, if it has several, and torchtitan with torch.compile half of the
 * products; plain PyTorch recomputes all or nothing.
 */
static bool recompute_useful(const struct hm_large_work *work, const struct hm_layout *l,
                             enum hm_recompute kind)
{
    switch (kind) {
    case HM_RECOMPUTE_SELECTIVE:
        return work->attention == HM_ATTENTION_UNFUSED;
    case HM_RECOMPUTE_OP:
        return work->software == HM_SOFTWARE_COMPILED;
    case HM_RECOMPUTE_LAYER:
        return work->software == HM_SOFTWARE_TUNED &&
               work->network->layers > l->pipeline * l->interleave;
    default:
        return true;
    }
}

/* Tries one layout with each kind of recomputation, in the order of the time that they take. */
static void try_recompute(struct search *s, struct hm_large_tops *tops, struct hm_layout *l)
{
    static const enum hm_recompute kinds[] = {HM_RECOMPUTE_NONE, HM_RECOMPUTE_SELECTIVE,
                                              HM_RECOMPUTE_OP, HM_RECOMPUTE_LAYER,
                                              HM_RECOMPUTE_FULL};
    bool open = s->given->layout.recompute == HM_RECOMPUTES;
    double limit = s->x->device->memory_bytes;

    for (size_t i = 0; i < (open ? sizeof(kinds) / sizeof(kinds[0]) : 1); i++) {
        struct hm_large_choice choice = {.n = tops->n};
        l->recompute = open ? kinds[i] : s->given->layout.recompute;
        if (open && !recompute_useful(s->x->work, l, l->recompute))
            continue;
        choice.layout = *l;
        hm__large_memory(s->x, l, &choice.memory);
        s->candidates++;
        choice.host_limit = host_limit(s->x->device, tops->n);
        /* If the memory of the host is not known, it is assumed to be sufficient, and a note says
         * so. */
        choice.fits = choice.memory.total <= limit && !(choice.memory.host > choice.host_limit);
        choice.memory_limit = limit;
        if (!choice.fits && tops->least.n > 0 && choice.memory.total >= tops->least.memory.total)
            continue;
        ensure_times(s, l);
        choice_eval(s->x, &s->times, &choice);
        if (choice.fits) {
            keep_top(tops, &choice);
            return;
        }
        tops->least = choice;
    }
}

/* Tries a layout with each kind of sharding (stage of ZeRO). */
static void try_zero(struct search *s, struct hm_large_tops *tops, struct hm_layout *l)
{
    const struct hm_large_job *g = s->given;
    bool alone = l->data * l->context == 1 && l->expert == 1 && l->offload == HM_OFFLOAD_NONE;
    /* The gradients of the micro-batches of a pipeline are added up, so stage 2 of ZeRO saves
     * nothing unless the software shards them anyway. */
    double most = l->pipeline == 1 ? 3 : s->x->work->shard_gradients ? 2 : 1;

    for (double zero = 0; zero <= 3; zero++) {
        if (isnan(g->layout.zero) ? (alone && zero > 0) || zero > most : zero != g->layout.zero)
            continue;
        bool wide = l->data * l->context > s->x->device->per_node;
        for (int in_node = 0; in_node < 2; in_node++) {
            if (g->shard_given ? in_node != g->layout.shard_in_node
                               : in_node && !(zero == 3 && wide))
                continue;
            l->zero = zero;
            l->shard_in_node = in_node;
            try_recompute(s, tops, l);
        }
    }
}

/*
 * Returns the numbers of chunks per stage to try. Chunks have equal numbers of layers, except that
 * the embedding and the output head may take the places of a few layers, as in Llama 3.1 405B,
 * whose 126 layers are divided like 128. All stages run a chunk for as many micro-batches as there
 * are stages before they run the next, so the number of micro-batches must be a multiple of the
 * number of stages.
 */
static struct options chunk_options(const struct search *s, const struct hm_layout *l)
{
    /* In a small network, embedding and head are not worth a chunk of their own: at most this share
     * of the layers may be missing. */
    static const double MISSING_MOST = 1 / 16.;
    const double given = s->given->layout.interleave, layers = s->x->work->network->layers;
    const double batches = hm__layout_micro_batches(l, s->x->work->batch), p = l->pipeline;
    struct options o = {0};

    add_option(&o, isnan(given) ? 1 : given);
    for (double v = 2; isnan(given) && p > 1 && fmod(batches, p) == 0 && v <= CHUNKS_MOST; v++)
        if (hm__layout_missing(layers, p * v) <= fmin(HM_LAYERS_WEIGHED, MISSING_MOST * layers))
            add_option(&o, v);
    return o;
}

/* Tries all degrees of pipeline parallelism for one number of workers n. */
static void try_pipelines(struct search *s, struct hm_large_tops *tops, struct hm_layout *l)
{
    const struct hm_layout *g = &s->given->layout;
    double rest = tops->n / (l->tensor * l->context), layers = s->x->work->network->layers;

    if (rest < 1 || rest != floor(rest))
        return;
    struct options stages = divisor_options(g->pipeline, rest, layers);
    for (size_t i = 0; i < stages.count && !hm__budget_spent("job"); i++) {
        double p = l->pipeline = stages.values[i];
        l->data = rest / p;
        if (p == 1 && g->interleave > 1)
            continue; /* Only the stages of a pipeline have chunks. */
        if (p > 1 && g->zero > (s->x->work->shard_gradients ? 2 : 1) && isnan(g->pipeline))
            /* A pipeline adds up the gradients of its micro-batches, which does not work with stage
             * 3 of ZeRO, or with stage 2 unless the software shards them anyway. */
            continue;
        double share = l->data * l->tensor * l->context / l->expert;
        if (l->data < 1 || l->data != floor(l->data) || share < 1 || share != floor(share) ||
            (!isnan(g->data) && l->data != g->data) || l->data * l->micro_batch > s->x->work->batch)
            continue;
        double batches = hm__layout_micro_batches(l, s->x->work->batch);
        if (!isnan(s->given->accumulation) && batches != s->given->accumulation)
            continue;
        struct options chunks = chunk_options(s, l);
        for (size_t k = 0; k < chunks.count; k++) {
            l->interleave = chunks.values[k];
            try_zero(s, tops, l);
        }
    }
}

/* Tries all micro-batches for given degrees of tensor, context and expert parallelism. */
static void try_micro_batches(struct search *s, struct hm_layout *l)
{
    const struct hm_large_job *g = s->given;
    struct options sizes = power_options(g->layout.micro_batch, s->x->work->batch);

    for (size_t i = 0; i < sizes.count; i++) {
        l->micro_batch = sizes.values[i];
        s->timed = false;
        for (size_t k = 0; k < s->count && !hm__budget_spent("job"); k++)
            try_pipelines(s, &s->tops[k], l);
    }
}

double hm__large_search(const struct hm_large_case *x, const struct hm_large_job *given,
                        struct hm_large_tops *tops, size_t count)
{
    const struct hm_transformer *net = x->work->network;
    struct search s = {.x = x, .given = given, .tops = tops, .count = count};
    bool is_long = x->work->sequence >= LONG_SEQUENCE;
    struct options tensors =
        divisor_options(given->layout.tensor, net->kv_heads, x->device->per_node);
    struct options contexts = power_options(given->layout.context, is_long ? 64 : 1);
    struct options experts =
        power_options(given->layout.expert, net->experts > 0 ? fmin(net->experts, 256) : 1);

    for (size_t i = 0; i < count; i++)
        tops[i] = (struct hm_large_tops){.n = tops[i].n};
    for (size_t i = 0; i < tensors.count; i++)
        for (size_t k = 0; k < contexts.count; k++)
            for (size_t j = 0; j < experts.count; j++) {
                struct hm_layout l = {.tensor = tensors.values[i],
                                      .context = contexts.values[k],
                                      .expert = experts.values[j],
                                      .offload = given->layout.offload};
                if (fmod(net->heads, l.tensor) != 0 || fmod(x->work->sequence, l.context) != 0 ||
                    (l.expert > 1 && fmod(net->experts, l.expert) != 0))
                    continue;
                l.sequence_parallel =
                    l.tensor > 1 &&
                    (given->sequence_parallel_given ? given->layout.sequence_parallel : true);
                try_micro_batches(&s, &l);
            }
    return s.candidates;
}
