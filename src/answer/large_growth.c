/*
 * Describes how a recommended layout reacts to changes: how the rate changes with the batch, the
 * sequence and the precision, how far the micro-batch and the sequence can grow until the memory is
 * full, the number of workers at which scaling breaks down, and the run that would narrow the
 * interval.
 */
#include <math.h>

#include "large_plan.h"

/*
 * Scaling breaks down at the first n at which the speed per worker is below this fraction of the
 * speed per worker at the most efficient n.
 */
static const double EFFICIENT = .8;
/* Longest sequence that is considered. */
static const double SEQUENCE_MOST = 1e8;
/* Duration of an advised run in seconds: at least two minutes, and at least ten steps. */
static const double RUN_LEAST_S = 120, RUN_STEPS = 10;

/* Adds the best layout of a changed job, at the recommended n, to the list of changes in the
 * answer. Adds nothing if no layout fits in memory. */
static void add_change(struct hm_large_answer *a, const struct hm_large_machine *m,
                       const struct hm_large_job *changed, const char *what, double value)
{
    const struct hm_large_choice *best = &a->points[a->recommended];
    struct hm_large_work work = m->work;
    const struct hm_large_case situation = {&m->device, &work, m->situation.constants,
                                            m->situation.correction};
    struct hm_large_tops tops = {.n = best->n};

    work.batch = changed->work.batch;
    work.sequence = changed->work.sequence;
    work.precision = changed->work.precision;
    a->candidates += hm__large_search(&situation, changed, &tops, 1);
    if (tops.count == 0 || a->change_count == HM_LARGE_CHANGES)
        return;
    struct hm_large_change *change = &a->changes[a->change_count++];
    *change = (struct hm_large_change){.what = what, .value = value, .choice = tops.top[0]};
    change->choice.machine = best->machine;
    hm__large_finish(&situation, changed, &change->choice);
}

static void add_changes(struct hm_large_answer *a, const struct hm_large_machine *m,
                        const struct hm_large_job *job)
{
    struct hm_large_job changed;
    bool wide = job->work.precision <= HM_FORMAT_FP16;

    for (double factor = .5; factor <= 2; factor *= 4) {
        changed = *job;
        changed.work.batch = factor * job->work.batch;
        if (changed.work.batch >= 1 && changed.work.batch == floor(changed.work.batch))
            add_change(a, m, &changed, "batch", changed.work.batch);
    }
    for (double factor = .5; factor <= 2; factor *= 4) {
        changed = *job; /* The number of tokens in a batch does not change. */
        changed.work.sequence = factor * job->work.sequence;
        changed.work.batch = job->work.batch / factor;
        if (changed.work.batch >= 1 && changed.work.batch == floor(changed.work.batch) &&
            changed.work.sequence == floor(changed.work.sequence))
            add_change(a, m, &changed, "sequence", changed.work.sequence);
    }
    changed = *job;
    changed.work.precision = HM_FORMAT_FP8;
    if (wide && m->device.flops_8 > 0)
        add_change(a, m, &changed, "precision", HM_FORMAT_FP8);
    changed.work.precision = HM_FORMAT_BF16;
    if (!wide)
        add_change(a, m, &changed, "precision", HM_FORMAT_BF16);
    changed.work.precision = HM_FORMAT_NVFP4;
    if (job->work.precision != HM_FORMAT_NVFP4 && m->device.flops_4 > 0)
        add_change(a, m, &changed, "precision", HM_FORMAT_NVFP4);
}

/* Returns whether a layout fits in memory with the given sequence and micro-batch. */
static bool layout_fits(const struct hm_large_machine *m, const struct hm_layout *layout,
                        double sequence, double micro_batch, double limit)
{
    struct hm_large_work work = m->work;
    const struct hm_large_case situation = {&m->device, &work, m->situation.constants};
    struct hm_layout l = *layout;
    struct hm_large_memory memory;

    work.sequence = sequence;
    l.micro_batch = micro_batch;
    hm__large_memory(&situation, &l, &memory);
    return memory.total <= limit;
}

/*
 * Returns whether a layout can run with another micro-batch. The batch must suffice for all copies.
 * A pipeline needs as many micro-batches as stages, unless the layout has fewer already; with
 * several chunks per stage, it needs a multiple of the stages.
 */
static bool micro_batch_allowed(const struct hm_layout *layout, double micro_batch, double batch)
{
    double before = hm__layout_micro_batches(layout, batch), p = layout->pipeline;
    double batches = floor(batch / (layout->data * micro_batch));

    return batches >= 1 && (p == 1 || batches >= fmin(p, before)) &&
           (layout->interleave == 1 || fmod(batches, p) == 0);
}

/* Sets how far the micro-batch and the sequence of the recommended layout can grow. */
static void set_room(struct hm_large_answer *a, const struct hm_large_machine *m)
{
    const struct hm_large_choice *best = &a->points[a->recommended];
    const struct hm_layout *l = &best->layout;
    double limit = best->memory_limit, micro = l->micro_batch;
    /*
     * The length of a sequence is a multiple of 256 tokens for each worker that shares the
     * sequence.
     */
    double unit = 256 * l->context, low = floor(a->sequence / unit), high = low + 1;

    a->most_micro_batch = a->most_sequence = NAN;
    if (!best->fits)
        return;
    while (micro_batch_allowed(l, 2 * micro, a->batch) &&
           layout_fits(m, l, a->sequence, 2 * micro, limit))
        micro *= 2;
    a->most_micro_batch = micro;
    while (high * unit < SEQUENCE_MOST && layout_fits(m, l, high * unit, l->micro_batch, limit)) {
        low = high;
        high *= 2;
    }
    while (high - low > 1) {
        double middle = floor((low + high) / 2);
        if (layout_fits(m, l, middle * unit, l->micro_batch, limit))
            low = middle;
        else
            high = middle;
    }
    a->most_sequence = fmax(a->sequence, low * unit);
}

/*
 * Advises a run of the recommended layout with as few data-parallel copies of the model as
 * possible, on at least one whole node. The batch of each copy is the same as in the job.
 */
static void set_advised(struct hm_large_answer *a, const struct hm_large_machine *m)
{
    const struct hm_large_choice *best = &a->points[a->recommended];
    struct hm_layout l = best->layout;
    double n = best->n;

    if (!best->fits || m->situation.correction || l.offload != HM_OFFLOAD_NONE)
        return;
    for (;;) {
        struct hm_large_work work = m->work;
        const struct hm_large_case smaller = {&m->device, &work, m->situation.constants, NULL};
        struct hm_large_memory memory;
        struct hm_layout half = l;
        half.data = l.data / 2;
        work.batch = a->batch * half.data / best->layout.data;
        if (n / 2 < best->n / best->nodes || fmod(l.data, 2) != 0 || fmod(half.data, l.expert) != 0)
            break;
        hm__large_memory(&smaller, &half, &memory);
        if (memory.total > best->memory_limit)
            break;
        l = half;
        n /= 2;
    }
    struct hm_large_step known = best->step;
    known.slow_host_s = 0; /* The advised run will show how fast the host launches kernels, so the
                              remaining interval does not include a slow host. */
    struct hm_large_interval after = hm__large_narrow(
        hm__large_interval(&hm__large_spreads[0].spread, &m->device, &m->work, &known),
        hm__large_after_run(&m->situation, &l));
    a->advised_n = n;
    a->advised_run_s = 60 * ceil(fmax(RUN_LEAST_S, RUN_STEPS * best->step.time_s) / 60);
    a->advised_within = (after.high - after.low) / 2;
}

/* Finds the most efficient point of the recommended machine, and the first larger n whose workers
 * are much less efficient. */
static void set_break(struct hm_large_answer *a)
{
    int machine = a->points[a->recommended].machine;
    double most = 0;

    a->efficient = a->breaks = HM_NONE;
    for (size_t i = 0; i < a->point_count; i++) {
        const struct hm_large_choice *c = &a->points[i];
        double each = c->tokens_per_s / c->n;
        if (!c->fits || c->machine != machine)
            continue;
        if (each > most) {
            most = each;
            a->efficient = i;
            a->breaks = HM_NONE;
        } else if (each < EFFICIENT * most && a->breaks == HM_NONE) {
            a->breaks = i;
        }
    }
}

void hm__large_growth(const struct hm_large_machines *machines, const struct hm_large_job *large,
                      struct hm_large_answer *a)
{
    const struct hm_large_machine *m = &machines->items[a->points[a->recommended].machine];

    set_room(a, m);
    set_advised(a, m);
    set_break(a);
    if (a->points[a->recommended].fits)
        add_changes(a, m, large);
}
