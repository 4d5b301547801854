/*
 * Plans jobs that train transformers: lists the numbers of workers n to consider, finds the best
 * layout for each n, and recommends the smallest n whose time exceeds the best by at most the
 * slack.
 */
#include "large_plan.h"

#include <math.h>
#include <stdio.h>

#include "checks.h"
#include "err.h"
#include "memory.h"

enum { SIZES_MAX = 64 };

/* If there is no limit, a plan considers up to this many nodes. */
static const double NODES_MOST = 2048;

/* Failures are as frequent as in the training of Llama 3, which had 419 unexpected stops in 54 days
 * on 2,048 nodes. A checkpoint is assumed to take 10 s and a restart 5 minutes; the interval
 * between checkpoints follows Young's formula. */
static const double NODE_MTBF_S = 54. * 86400 * 2048 / 419;
static const double CHECKPOINT_S = 10, RESTART_S = 300;

/* Returns the share of the time during which the training makes progress, excluding checkpoints,
 * lost work and restarts. */
static double useful_share(double nodes)
{
    double mtbf = NODE_MTBF_S / nodes;

    return fmax(0, 1 - sqrt(2 * CHECKPOINT_S / mtbf) - RESTART_S / mtbf);
}

static void add_size(struct hm_large_tops *tops, size_t *count, double n)
{
    if (*count < SIZES_MAX && (*count == 0 || tops[*count - 1].n < n))
        tops[(*count)++].n = n;
}

/*
 * Returns a number of which every possible n is a multiple: the product of the given degrees of
 * parallelism.
 */
static double given_workers(const struct hm_large_job *job)
{
    const struct hm_layout *l = &job->layout;
    double copies = isnan(l->data) ? job->work.batch / (job->accumulation * l->micro_batch)
                                   : l->data; /* The product is NaN if a factor is not given. */
    const double degrees[] = {l->tensor, l->pipeline, l->context, copies};
    double product = 1;

    for (size_t i = 0; i < sizeof(degrees) / sizeof(degrees[0]); i++)
        if (degrees[i] >= 1 && degrees[i] == floor(degrees[i]))
            product *= degrees[i];
    return product;
}

/* Returns the least common multiple of two whole numbers. */
static double common_multiple(double a, double b)
{
    double x = a, y = b;

    while (y > 0) {
        double rest = fmod(x, y);
        x = y;
        y = rest;
    }
    return a / x * b;
}

/*
 * Lists the numbers of workers to consider, which are multiples of u, the product of the given
 * degrees: u, 2 u, 4 u, ... workers of one node, then 1, 2, 4, ... times the fewest whole nodes,
 * then the largest allowed number.
 */
static size_t list_sizes(const struct hm_large_device *device, const struct hm_large_job *job,
                         const struct hm_large_question *q, struct hm_large_tops *tops)
{
    const struct hm_layout *l = &job->layout;
    double most =
        device->machine_workers * (device->max_nodes > 0 ? device->max_nodes : NODES_MOST);
    size_t count = 0;

    if (q->max_n > 0)
        most = q->max_n;
    if (q->n > 0) {
        add_size(tops, &count, q->n);
        return count;
    }
    if (!isnan(l->data) && !isnan(l->tensor) && !isnan(l->pipeline)) {
        add_size(tops, &count,
                 l->data * l->tensor * l->pipeline * (isnan(l->context) ? 1 : l->context));
        return count;
    }
    double unit = given_workers(job), whole = common_multiple(unit, device->machine_workers);
    for (double n = unit; n < device->machine_workers && n <= most; n *= 2)
        add_size(tops, &count, n);
    for (double n = whole; n <= most; n *= 2)
        add_size(tops, &count, n);
    if (most >= whole)
        add_size(tops, &count, whole * floor(most / whole));
    if (count == 0 && !(q->max_n > 0))
        add_size(tops, &count, unit);
    return count;
}

/* Returns the time of a step. If `overlap` is true, all communication overlaps with computation and
 * gradients are sent with at most 16 bits; otherwise nothing overlaps. */
static double overlap_time(const struct hm_large_case *x, const struct hm_layout *layout,
                           bool overlap)
{
    struct hm_large_work work = *x->work;
    const struct hm_large_case other = {x->device, &work, x->constants};
    struct hm_large_times times;
    struct hm_large_step step;

    work.overlap_data = work.overlap_gather = overlap;
    work.overlap_tensor = work.overlap_pipeline = work.overlap_expert = overlap;
    work.separate_sum = !overlap;
    if (overlap)
        work.send_bytes = fmin(work.send_bytes, 2);
    hm__large_times(&other, layout, &times);
    hm__large_step(&other, layout, &times, &step);
    return step.time_s;
}

/* Widens the interval so that it covers two extremes: all communication overlaps with computation,
 * or none does. This is used if the job does not say what overlaps. */
static void widen_interval(const struct hm_large_case *x, struct hm_large_choice *c)
{
    struct hm_large_interval interval =
        hm__large_interval(&hm__large_spreads[0].spread, x->device, x->work, &c->step);

    c->low_s = fmin(c->low_s, interval.low * overlap_time(x, &c->layout, true));
    c->high_s = fmax(c->high_s, interval.high * overlap_time(x, &c->layout, false));
}

/* Returns the flop per token that the backward pass computes again, which HFU counts. */
static double recomputed_flop(const struct hm_large_work *w, double share,
                              enum hm_recompute recompute)
{
    double all = hm__large_flop_again(w->network, w->sequence, share);
    double core = all - hm__large_flop_again(w->network, w->sequence, 0);

    switch (recompute) {
    case HM_RECOMPUTE_FULL:
        return all;
    case HM_RECOMPUTE_LAYER:
        return all / 2;
    case HM_RECOMPUTE_OP:
        return (all - core) / 2;
    case HM_RECOMPUTE_SELECTIVE:
        return core;
    default:
        return 0;
    }
}

void hm__large_finish(const struct hm_large_case *x, const struct hm_large_job *job,
                      struct hm_large_choice *c)
{
    const struct hm_large_work *w = x->work;
    double tokens = w->batch * w->sequence, share = w->network->encoder ? 1 : .5;
    /* Weights that are not trained need no gradient, which saves two of six flop per parameter. */
    double flop = hm__large_flop(w->network, w->sequence, share) * (4 + 2 * w->trained) / 6;
    double again = recomputed_flop(w, share, c->layout.recompute);

    /* Measured steps show what overlaps, so they need no wider interval. */
    if (!job->overlap_given && !x->correction)
        widen_interval(x, c);
    c->nodes = ceil(c->n / x->device->machine_workers);
    c->tokens_per_s = tokens / c->step.time_s;
    c->mfu = flop * c->tokens_per_s / (c->n * x->device->flops_16);
    c->hfu = c->mfu * (1 + again / flop);
    c->goodput = useful_share(c->nodes);
    c->total_s = job->tokens / c->tokens_per_s;
    c->cost_per_s = x->device->price_per_s;
    c->cost = c->nodes * x->device->price_per_s * (isnan(c->total_s) ? c->step.time_s : c->total_s);
}

/* Returns the given layout; degrees of parallelism that are not given are 1. */
static struct hm_layout given_layout(const struct hm_large_job *job)
{
    struct hm_layout l = job->layout;
    double *degrees[] = {&l.tensor, &l.pipeline, &l.interleave, &l.context,
                         &l.expert, &l.data,     &l.micro_batch};

    for (size_t i = 0; i < sizeof(degrees) / sizeof(degrees[0]); i++)
        if (isnan(*degrees[i]))
            *degrees[i] = 1;
    l.zero = isnan(l.zero) ? 0 : l.zero;
    return l;
}

/* Reports that no layout exists for this number of workers. */
static int fail_no_layout(const struct hm_large_job *job, double n, struct hm_err *err)
{
    const struct hm_layout l = given_layout(job);
    const struct hm_transformer *net = &job->network;
    const double unit = given_workers(job);

    if (fmod(n, unit) != 0) {
        hm__fail(err, HM_E_CONFLICT,
                 "no layout has %.10g workers, which is not a multiple of tensor x pipeline x "
                 "context x data, %g x %g x %g x %g",
                 n, l.tensor, l.pipeline, l.context, unit / (l.tensor * l.pipeline * l.context));
        hm__err_hint(err, "use n %.10g", unit * fmax(1, round(n / unit)));
    } else {
        hm__fail(err, HM_E_CONFLICT, "no layout has %.10g workers", n);
        hm__err_hint(err,
                     "n = tensor x pipeline x context x data; tensor divides %g, pipeline is at "
                     "most %g, and data x micro_batch at most %.10g, the sequences of a batch",
                     net->kv_heads, net->layers, job->work.batch);
    }
    hm__err_field(err, "parallel");
    return HM_E_CONFLICT;
}

/*
 * Completes the layout of a measured step. Values that the measurement does not specify come from
 * the job or, if the job does not specify them either, from the best layout.
 */
static int complete_run(const struct hm_large_machine *m, const struct hm_large_job *job,
                        struct hm_large_measured *run, struct hm_err *err)
{
    struct hm_large_job given = *job;
    struct hm_large_work work = m->work;
    const struct hm_large_case situation = {&m->device, &work, &m->constants, NULL};
    struct hm_large_tops tops = {.n = run->n};
    const double *from = &run->layout.tensor;
    double *to = &given.layout.tensor;

    /* The degrees of parallelism, the micro-batch and the stage of ZeRO are consecutive members of
     * the struct, so they are read as an array. */
    for (size_t i = 0; i < HM_LAYOUT_NUMBERS; i++)
        to[i] = isnan(from[i]) ? to[i] : from[i];
    if (run->layout.recompute != HM_RECOMPUTES)
        given.layout.recompute = run->layout.recompute;
    if (!isnan(run->batch))
        work.batch = run->batch;
    if (!isnan(run->sequence))
        work.sequence = run->sequence;
    hm__large_search(&situation, &given, &tops, 1);
    if (tops.count == 0 && !(tops.least.n > 0))
        return fail_no_layout(&given, run->n, err);
    run->layout = tops.count ? tops.top[0].layout : tops.least.layout;
    run->batch = work.batch;
    run->sequence = work.sequence;
    return 0;
}

/* Corrects the device and the constants of a machine by the measured steps of the question. */
static int machine_correct(struct hm_large_machine *m, const struct hm_large_job *job,
                           const struct hm_large_question *q, struct hm_err *err)
{
    struct hm_large_measured *runs = hm__calloc(q->run_count, sizeof(*runs));
    int rc = runs ? 0 : hm__fail_nomem(err);

    for (size_t i = 0; rc == 0 && i < q->run_count; i++) {
        runs[i] = q->runs[i];
        rc = complete_run(m, job, &runs[i], err);
    }
    if (rc == 0) {
        hm__large_correct(&m->situation, runs, q->run_count, &m->correction);
        hm__large_apply(&m->correction, &m->device, &m->constants);
        m->situation.correction = &m->correction;
    }
    hm__free(runs);
    return rc;
}

/* Treats all workers of a torus as one node, which has the network of all its machines. If the
 * cluster has no fabric, it has only this node. */
static void set_torus(const struct hm_large_job *job, struct hm_large_device *device)
{
    device->per_node = 1;
    for (int i = 0; i < HM_TORUS_AXES; i++) {
        device->torus[i] = job->torus[i];
        if (job->torus[i] > 0)
            device->per_node *= job->torus[i];
    }
    device->network_bytes_per_s *= fmax(1, device->per_node / device->machine_workers);
    if (!(device->max_nodes >= device->per_node / device->machine_workers))
        device->max_nodes = device->per_node / device->machine_workers;
}

static int machine_init(struct hm_large_machine *m, const struct hm_large_job *job,
                        const struct hm_cluster *cluster, const struct hm_large_question *q,
                        struct hm_err *err)
{
    int rc = hm__large_device_set(cluster, &m->device, err);

    if (rc)
        return rc;
    m->gpus = hm__cluster_has_gpus(cluster);
    if (job->torus[0] > 0)
        set_torus(job, &m->device);
    m->work = job->work;
    if ((int)m->work.attention == HM_ATTENTION_AUTO)
        m->work.attention = m->device.family == HM_FAMILY_VOLTA    ? HM_ATTENTION_UNFUSED
                            : m->device.family == HM_FAMILY_AMPERE ? HM_ATTENTION_FLASH2
                                                                   : HM_ATTENTION_FLASH3;
    m->constants = *hm__large_fitted();
    m->situation = (struct hm_large_case){&m->device, &m->work, &m->constants, NULL};
    if (q->run_count > 0 && (rc = machine_correct(m, job, q, err)))
        return rc;
    m->tops = hm__calloc(SIZES_MAX, sizeof(*m->tops));
    if (!m->tops)
        return hm__fail_nomem(err);
    m->count = list_sizes(&m->device, job, q, m->tops);
    if (m->count == 0)
        rc = fail_no_layout(job, q->max_n, err);
    return rc;
}

/*
 * Adds other layouts at the recommended n whose time exceeds the time of the recommended layout by
 * at most 5 %.
 */
static void add_runners(struct hm_large_answer *a, const struct hm_large_machine *machines,
                        const struct hm_large_job *job, const struct hm_large_question *q)
{
    const struct hm_large_choice *best = &a->points[a->recommended];
    const struct hm_large_machine *m = &machines[best->machine];

    for (size_t i = 0; i < m->count; i++)
        for (size_t k = 1; m->tops[i].n == best->n && k < m->tops[i].count; k++) {
            struct hm_large_choice c = m->tops[i].top[k];
            if (a->runner_count == HM_LARGE_RUNNERS || c.step.time_s > 1.05 * best->step.time_s)
                return;
            c.machine = best->machine;
            hm__large_finish(&m->situation, job, &c);
            hm__large_judge(a, q, &c);
            a->runners[a->runner_count++] = c;
        }
}

/* Adds a hint that names the changed setting, if the changed job has a layout that fits in
 * memory. */
static void try_hint(struct hm_large_answer *a, const struct hm_large_machine *m,
                     const struct hm_large_job *changed, const char *what, double n)
{
    struct hm_large_work work = m->work;
    struct hm_large_case situation = m->situation;
    struct hm_large_tops tops = {.n = n};

    work.shard_gradients = changed->work.shard_gradients;
    situation.work = &work;
    a->candidates += hm__large_search(&situation, changed, &tops, 1);
    if (tops.count == 0 || a->hint_count == HM_LARGE_HINTS)
        return;
    struct hm_large_hint hint = {what, tops.top[0]};
    size_t at = a->hint_count++;
    hm__large_finish(&situation, changed, &hint.choice);
    while (at > 0 && a->hints[at - 1].choice.step.time_s > hint.choice.step.time_s) {
        a->hints[at] = a->hints[at - 1];
        at--;
    }
    a->hints[at] = hint;
}

/*
 * Adds a hint that changes several settings, if no single change makes the job fit: sharding,
 * recomputation and micro-batch together, then the whole layout, then also more workers.
 */
static void add_wider_hint(struct hm_large_answer *a, const struct hm_large_machine *m,
                           const struct hm_large_job *job, double n)
{
    /* More than this many times the workers is no useful advice. */
    static const double TIMES_MOST = 64;
    struct hm_large_job changed = *job;
    struct hm_layout *l = &changed.layout;

    l->zero = l->micro_batch = changed.accumulation = NAN;
    l->recompute = HM_RECOMPUTES;
    try_hint(a, m, &changed, "zero, mb, recompute", n);
    l->tensor = l->pipeline = l->interleave = l->context = l->expert = l->data = NAN;
    for (double times = 1; a->hint_count == 0 && times <= TIMES_MOST; times *= 2)
        try_hint(a, m, &changed, "parallel: auto", times * n);
}

/*
 * If the recommended layout does not fit in memory, adds the single changes that make it fit,
 * fastest first, or a change of several settings if no single one suffices.
 */
static void add_hints(struct hm_large_answer *a, const struct hm_large_machine *machines,
                      const struct hm_large_job *job)
{
    const struct hm_large_choice *best = &a->points[a->recommended];
    const struct hm_large_machine *m = &machines[best->machine];
    struct hm_large_job changed = *job;

    if (best->fits)
        return;
    changed.layout.recompute = HM_RECOMPUTES;
    if (job->layout.recompute != HM_RECOMPUTES)
        try_hint(a, m, &changed, "recompute", best->n);
    changed = *job;
    changed.layout.zero = NAN;
    if (!isnan(job->layout.zero))
        try_hint(a, m, &changed, "zero", best->n);
    changed = *job;
    changed.layout.micro_batch = changed.accumulation = NAN;
    if (!isnan(job->layout.micro_batch) || !isnan(job->accumulation))
        try_hint(a, m, &changed, "micro_batch", best->n);
    changed = *job;
    changed.layout.tensor = changed.layout.data = changed.accumulation = NAN;
    if (!isnan(job->layout.tensor))
        try_hint(a, m, &changed, "tensor", best->n);
    changed = *job;
    changed.layout.pipeline = changed.layout.interleave = changed.layout.data = NAN;
    changed.accumulation = NAN;
    if (!isnan(job->layout.pipeline))
        try_hint(a, m, &changed, "pipeline", best->n);
    changed = *job;
    changed.layout.offload = HM_OFFLOAD_OPTIMIZER;
    if (job->layout.offload == HM_OFFLOAD_NONE)
        try_hint(a, m, &changed, "offload", best->n);
    changed = *job;
    changed.work.shard_gradients = true;
    if (!job->work.shard_gradients && (isnan(job->layout.zero) || job->layout.zero == 2))
        try_hint(a, m, &changed, "shard_gradients", best->n);
    try_hint(a, m, job, "twice the workers", 2 * best->n);
    if (a->hint_count == 0)
        add_wider_hint(a, m, job, best->n);
}

static void add_points(struct hm_large_answer *a, const struct hm_large_machine *m, int index,
                       const struct hm_large_job *job)
{
    for (size_t i = 0; i < m->count; i++) {
        const struct hm_large_tops *tops = &m->tops[i];
        struct hm_large_choice c = tops->count ? tops->top[0] : tops->least;
        if (!(c.n > 0))
            continue;
        c.machine = index;
        c.per_node = m->device.machine_workers;
        c.gpus = m->gpus;
        hm__large_finish(&m->situation, job, &c);
        a->points[a->point_count++] = c;
    }
}

/*
 * Checks that data x micro_batch x gradient_accumulation_steps equals the batch, if all are given.
 */
static int check_accumulation(const struct hm_large_job *job, struct hm_err *err)
{
    const struct hm_layout *l = &job->layout;
    double steps = hm__layout_micro_batches(l, job->work.batch);

    if (isnan(job->accumulation) || steps == job->accumulation)
        return 0;
    if (isnan(steps)) {
        if (fmod(job->work.batch, job->accumulation) == 0)
            return 0;
        hm__fail(err, HM_E_CONFLICT, "%g does not divide the sequences of a batch, which is %.10g",
                 job->accumulation, job->work.batch);
        hm__err_hint(err, "use a divisor of the batch");
        hm__err_field(err, "gradient_accumulation_steps");
        return HM_E_CONFLICT;
    }
    hm__fail(err, HM_E_CONFLICT, "%g steps of %g x %g sequences are not a batch of %g sequences",
             job->accumulation, l->data, l->micro_batch, job->work.batch);
    hm__err_hint(err, "with data %g and micro_batch %g it is %g", l->data, l->micro_batch, steps);
    hm__err_field(err, "gradient_accumulation_steps");
    return HM_E_CONFLICT;
}

/* Checks that the given degrees of parallelism fit the network and the batch. */
static int check_given(const struct hm_large_job *job, struct hm_err *err)
{
    struct hm_layout l = given_layout(job);
    if (isnan(job->layout.pipeline))
        l.interleave = 1; /* The search chooses a pipeline that matches the given chunks. */
    int rc = hm__layout_check(&l, &job->work, err);

    if (rc == 0)
        rc = check_accumulation(job, err);

    if (rc && err) {
        char field[64];
        snprintf(field, sizeof(field), "parallel.%.40s", err->field);
        err->field[0] = '\0';
        hm__err_field(err, field);
    }
    return rc;
}

void hm__large_machines_release(struct hm_large_machines *machines)
{
    for (size_t i = 0; machines->items && i < machines->count; i++)
        hm__free(machines->items[i].tops);
    hm__free(machines->items);
    *machines = (struct hm_large_machines){0};
}

int hm__large_points(const struct hm_job *job, const struct hm_large_job *large,
                     const struct hm_cluster *const *clusters, size_t cluster_count,
                     const struct hm_large_question *q, struct hm_large_machines *machines,
                     struct hm_large_answer *a, struct hm_err *err)
{
    size_t count = cluster_count ? cluster_count : 1;
    int rc = 0;

    machines->items = hm__calloc(count, sizeof(*machines->items));
    a->points = hm__calloc(count * SIZES_MAX, sizeof(*a->points));
    a->point_count = 0;
    if (!machines->items || !a->points)
        return hm__fail_nomem(err);
    machines->count = count;
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = machine_init(&machines->items[i], large, cluster_count ? clusters[i] : &job->cluster,
                          q, err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        struct hm_large_machine *m = &machines->items[i];
        a->candidates += hm__large_search(&m->situation, large, m->tops, m->count);
        add_points(a, m, (int)i, large);
    }
    if (rc == 0 && a->point_count == 0)
        rc = fail_no_layout(large, machines->items[0].tops[0].n, err);
    return rc;
}

/* Copies the sizes of the job and its network into the answer. */
static void describe_job(const struct hm_job *job, const struct hm_large_job *large,
                         const struct hm_large_question *q, struct hm_large_answer *a)
{
    a->planned = *large;
    a->planned.work.network = &a->planned.network;
    a->job = job->name;
    a->network = job->large->network.name;
    a->parameters = hm__large_parameters(&large->network);
    a->active = hm__large_active(&large->network);
    a->flop_per_token =
        hm__large_flop(&large->network, large->work.sequence, large->network.encoder ? 1 : .5);
    a->sequence = large->work.sequence;
    a->batch = large->work.batch;
    a->tokens = large->tokens;
    a->slack = q->slack;
    if (job->note)
        hm__large_note(a, "%s", job->note);
}

/* Checks that there are machines, and that the given degrees of parallelism fit the network and the
 * batch. */
static int check_job(const struct hm_job *job, size_t cluster_count, struct hm_err *err)
{
    if (cluster_count > 0 || job->has_cluster)
        return check_given(job->large, err);
    hm__fail(err, HM_E_MISSING, "no cluster is given");
    hm__err_hint(err, "cluster: {machine: p5.48xlarge}, or name a machine");
    hm__err_field(err, "cluster");
    return HM_E_MISSING;
}

int hm__large_plan(const struct hm_job *job, const struct hm_cluster *const *clusters,
                   size_t cluster_count, const struct hm_large_question *q,
                   struct hm_large_answer **ret_answer, struct hm_err *err)
{
    struct hm_large_job large = *job->large;
    struct hm_large_machines machines = {0};
    struct hm_large_answer *a = hm__calloc(1, sizeof(*a));
    int rc = a ? check_job(job, cluster_count, err) : hm__fail_nomem(err);

    large.work.network = &large.network;
    if (rc == 0)
        rc = hm__large_resize(job, &large, clusters, cluster_count, q, a, err);
    if (rc == 0)
        rc = hm__large_points(job, &large, clusters, cluster_count, q, &machines, a, err);
    if (rc == 0) {
        describe_job(job, &large, q, a);
        hm__large_outlook(&large, q, a);
        hm__large_choose(a, q);
        hm__large_note_layout(&machines, a);
        hm__large_note_assumed(&machines, job, cluster_count ? clusters : NULL, a);
        add_runners(a, machines.items, &large, q);
        add_hints(a, machines.items, &large);
        hm__large_growth(&machines, &large, a);
        a->correction_rows = machines.items[0].correction.rows;
        a->correction_compute = machines.items[0].correction.compute;
        a->correction_host = machines.items[0].correction.host;
    }
    hm__err_at(rc ? err : NULL, job->source, 0);
    hm__large_machines_release(&machines);
    if (rc)
        hm__large_answer_free(a);
    else
        *ret_answer = a;
    return rc;
}
