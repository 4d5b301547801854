/*
 * Computes the time of an iteration (superstep) on n workers: t(n) = compute(n) + communicate(n),
 * or less with overlap.
 *
 * compute is the job's formula, or the flop of the local batch divided by the rate that a worker
 * reaches (with a roofline if the memory bandwidth is known), or, for a graph, the work of the
 * worker with the most edges. communicate is the sum of the communication steps. There are three
 * kinds of overlap: none; the p-norm (a^p + b^p)^(1/p) of Pollux (OSDI 2021); and layer by layer.
 * Strong scaling divides the batch among the workers; weak scaling gives each worker the whole
 * batch.
 *
 * Limits: there is no contention between jobs, and there is one batch per iteration. model_mix.c
 * evaluates clusters with several kinds of machines, using a model of each kind.
 */
#include "model.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "budget.h"
#include "collective.h"
#include "dataflow_time.h"
#include "err.h"
#include "framework_time.h"
#include "memory.h"
#include "model_pipeline.h"
#include "model_state.h"
#include "names.h"
#include "need.h"
#include "text.h"
#include "way_time.h"

void hm__model_add_note(struct hm_model *m, const char *text)
{
    if (m->note_count < NOTES_MAX)
        snprintf(m->notes[m->note_count++], NOTE_TEXT, "%s", text);
}

int hm__model_fail_missing(const struct hm_model *m, const char *field, const char *message,
                           const char *hint, struct hm_err *err)
{
    hm__fail(err, HM_E_MISSING, "%s", message);
    hm__err_hint(err, "%s", hint);
    hm__err_field(err, field);
    hm__err_at(err, m->job->source, 0);
    return HM_E_MISSING;
}

enum hm_math hm__model_math(const struct hm_job *job)
{
    bool counted = job->network && job->network->layer_count > 0 && !job->compute;

    return job->math == HM_MATH_AUTO && job->precision == 32 && !counted ? HM_MATH_TF32 : job->math;
}

/*
 * Sets the flop per second that a worker reaches: the peak at the job's precision times the
 * efficiency.
 */
static int set_flops(struct hm_model *m, struct hm_err *err)
{
    const struct hm_node *node = &m->cluster->node;
    double bits = m->job->precision;
    enum hm_math math;
    double peak = hm__node_rate(node, hm__model_math(m->job), bits, &math);

    if (peak > 0 && m->job->math == HM_MATH_AUTO && bits == 32 &&
        (math == HM_MATH_BF16 || math == HM_MATH_FP16)) {
        char text[NOTE_TEXT];
        snprintf(text, sizeof(text),
                 "no precision is given: mixed precision, %s with 32-bit weights",
                 hm_math_name(math));
        hm__model_add_note(m, text);
    }
    if (peak > 0 && bits == 16 && math == HM_MATH_FP32)
        hm__model_add_note(m, "the machine has no 16-bit flops; its 32-bit flops are used");
    if (!(peak > 0)) {
        char message[128];
        snprintf(message, sizeof(message), "the machine%s%s has no flops for %g bit",
                 m->cluster->name ? " " : "", m->cluster->name ? m->cluster->name : "", bits);
        return hm__model_fail_missing(m, "cluster.flops", message,
                                      "give flops: a speed such as 105.6 Gflop/s", err);
    }
    if (!(node->efficiency > 0))
        hm__model_add_note(m,
                           "no efficiency is given: flops are taken as the rate that is reached");
    m->flops = peak * (node->efficiency > 0 ? node->efficiency : 1) * m->variant.flops;
    return 0;
}

static bool formula_uses_flops(const struct hm_formula *f)
{
    return f && hm__formula_uses(f, HM_SYMBOL_FLOPS);
}

static bool model_needs_flops(const struct hm_model *m)
{
    const struct hm_job *job = m->job;
    bool needs =
        !job->compute || formula_uses_flops(job->compute) || formula_uses_flops(job->memory_needed);

    for (size_t i = 0; i < m->step_count; i++)
        needs =
            needs || formula_uses_flops(m->steps[i].time) || formula_uses_flops(m->steps[i].bytes);
    return needs;
}

/* Adds a note that says that the rates of the machine were measured, and how uncertain they are. */
static void note_measured(struct hm_model *m)
{
    const struct hm_calibration *c = &m->cluster->node.measured;
    char text[NOTE_TEXT];

    if (!c->date)
        return;
    snprintf(text, sizeof(text), "the machine was measured on %.20s", c->date);
    if (c->uncertainty > 0)
        snprintf(text, sizeof(text), "the machine was measured on %.20s, within %.1f %%", c->date,
                 100 * c->uncertainty);
    hm__model_add_note(m, text);
}

static int set_hardware(struct hm_model *m, struct hm_err *err)
{
    const struct hm_cluster *c = m->cluster;

    if (!c)
        return 0;
    note_measured(m);
    if (model_needs_flops(m)) {
        int rc = set_flops(m, err);
        if (rc)
            return rc;
    }
    m->wires = (struct hm_wires){.fabric = c->fabric,
                                 .link = c->node.link,
                                 .per_node = c->node.accelerators,
                                 .servers = 1,
                                 .colocated = m->variant.way.colocated,
                                 .outside = hm__way_nodes(&m->variant.way) > 0};
    int rc = hm__model_set_strategy(m, err);
    m->wires.fabric.bandwidth_bytes_per_s *= m->variant.bandwidth;
    m->wires.fabric.latency_s *= m->variant.latency;
    return rc;
}

/* Sets the counts of the network's layers, using the counts of a shared table if there is one. */
static int set_counts(struct hm_model *m, struct hm_err *err)
{
    if (m->variant.table) {
        m->counts = hm__step_table_counts(m->variant.table);
        return 0;
    }
    int rc = hm_counts_new(m->job->network, m->job->source, &m->own_counts, err);
    m->counts = m->own_counts;
    return rc;
}

static int set_network(struct hm_model *m, struct hm_err *err)
{
    const struct hm_job *job = m->job;
    const struct hm_cluster *c = m->cluster;
    double weight = job->precision / 8;

    m->memory_fixed = m->memory_least = NAN;
    if (!job->network)
        return 0;
    int rc = set_counts(m, err);
    if (rc)
        return rc;
    if (m->variant.way.servers > m->counts->parameters) {
        hm__fail(err, HM_E_RANGE, "%g servers for a model of %g parameters", m->variant.way.servers,
                 m->counts->parameters);
        hm__err_hint(err, "each server holds at least one parameter");
        hm__err_field(err, "servers");
        return HM_E_RANGE;
    }
    m->gradient_bytes = m->counts->parameters * weight;
    m->memory_fixed = m->memory_least =
        m->counts->parameters * hm__need_parameter_bytes(job->optimizer, job->precision);
    m->memory_per_sample = m->counts->outputs * weight;
    if (job->compute || m->counts->layer_count == 0)
        return 0;
    rc = hm__model_set_table(m, err);
    if (rc || m->table)
        return rc;
    return hm__layer_costs_init(&m->costs, m->counts, m->flops,
                                c->roofline ? c->node.memory_bandwidth_bytes_per_s : 0,
                                c->roofline ? c->node.kernel_overhead_s : 0, weight, err);
}

static void set_symbols(struct hm_model *m)
{
    double *s = m->symbols;

    s[HM_SYMBOL_BATCH] = m->batch;
    s[HM_SYMBOL_WEIGHT] = m->job->precision / 8;
    s[HM_SYMBOL_FLOPS] = m->flops;
    s[HM_SYMBOL_BANDWIDTH] = m->wires.fabric.bandwidth_bytes_per_s;
    s[HM_SYMBOL_LATENCY] = m->wires.fabric.latency_s;
    if (m->cluster)
        s[HM_SYMBOL_MEMORY_BANDWIDTH] = m->cluster->node.memory_bandwidth_bytes_per_s;
    if (m->counts) {
        s[HM_SYMBOL_PARAMETERS] = m->counts->parameters;
        s[HM_SYMBOL_FORWARD] = m->counts->forward_flop;
        s[HM_SYMBOL_TRAINING] = HM_TRAINING_PASSES * m->counts->forward_flop;
    }
}

/* Sets the communication steps; the steps of a platform replace the steps of the job. */
static int set_steps(struct hm_model *m, struct hm_err *err)
{
    m->steps = m->job->communicate;
    m->step_count = m->job->communicate_count;
    if (m->variant.way.platform == HM_PLATFORM_JOB)
        return 0;
    m->steps = m->platform_steps;
    return hm__way_steps(&m->variant.way, m->job, m->platform_steps, &m->step_count, err);
}

int hm__model_new(const struct hm_job *job, const struct hm_cluster *cluster,
                  const struct hm_variant *variant, struct hm_model **ret_model, struct hm_err *err)
{
    if (cluster && cluster->kind_count > 0)
        return hm__model_new_mixed(job, cluster, variant, ret_model, err);
    struct hm_model *m = hm__calloc(1, sizeof(*m));
    int rc;

    if (!m)
        return hm__fail_nomem(err);
    m->job = job;
    m->cluster = cluster;
    m->variant = *variant;
    assert(!job->graph || variant->parts);
    m->overlap = job->overlap == HM_OVERLAP_AUTO ? HM_OVERLAP_NONE : job->overlap;
    m->batch = job->batch > 0 ? job->batch * variant->work : 0;
    bool reads_batch = job->compute && hm__formula_uses(job->compute, HM_SYMBOL_BATCH);
    m->compute_work = reads_batch ? 1 : variant->work;
    rc = set_steps(m, err);
    if (rc == 0 && !cluster && !job->compute)
        rc = hm__model_fail_missing(m, "cluster", "no machine is named",
                                    "give a cluster, e.g. m5.4xlarge", err);
    else if (rc == 0)
        rc = set_hardware(m, err);
    if (rc == 0)
        rc = set_network(m, err);
    if (rc == 0)
        rc = hm__model_set_pipeline(m, err);
    if (rc == 0) {
        set_symbols(m);
        rc = hm__model_check_formulas(m, err);
    }
    if (rc == 0)
        rc = hm__model_set_stragglers(m, err);
    hm__model_framework_note(m);
    if (rc == 0)
        *ret_model = m;
    else
        hm__model_free(m);
    return rc;
}

void hm__model_free(struct hm_model *m)
{
    if (!m)
        return;
    for (size_t k = 0; k < HM_KINDS_MAX; k++)
        hm__model_free(m->kinds[k]);
    hm__pipeline_free(m->pipeline);
    hm__layer_costs_release(&m->costs);
    hm__step_table_free(m->own_table);
    hm_counts_free(m->own_counts);
    hm__stragglers_free(m->own_stragglers);
    hm__free(m);
}

/* Work arrays of one evaluation; each has `count` values, one for each point. */
struct eval_space {
    /* Number of workers; number of samples in one forward pass of a worker; number of passes of a
     * worker. */
    double *n, *batch, *passes;
    double *scratch; /* Buffer for the values of a formula. */
    double *forward; /* Time of the forward pass in seconds, if the layers are known. */
    /* Latency and transfer time in seconds of the messages that overlap with the backward pass. */
    double *latency, *bandwidth;
    double *used; /* Number of workers whose gradients are used. */
    /* With servers: time of a message in one direction, in seconds, at the port of a worker and at
     * the port of a server. */
    double *worker, *server;
    double *finish; /* Time in seconds of a step whose buckets of gradients overlap with the
                       backward pass; 0 without buckets. */
    double factor;  /* Factor by which the time of all communication is multiplied. */
    size_t count;
};

enum { SPACE_ROWS = 11 };

/* Evaluates a formula at all points and checks that each value is finite and not negative. */
static int eval_formula(const struct hm_model *m, const struct hm_formula *f, const char *field,
                        int line, const struct eval_space *space, struct hm_err *err)
{
    double *values = space->scratch;
    char text[HM_DIGITS];
    int rc =
        hm__formula_eval(f, m->symbols, &m->variant.quantity, space->n, space->count, values, err);

    for (size_t i = 0; rc == 0 && i < space->count; i++) {
        if (values[i] >= 0 && isfinite(values[i]))
            continue;
        rc = hm__fail(err, HM_E_FORMULA, "the formula gives %s at n = %g",
                      hm__number_words(values[i], text), space->n[i]);
        hm__err_hint(
            err,
            "it must be finite and not negative for every n; max_n or cluster.max_nodes limit n");
        hm__err_field(err, field);
        hm__err_at(err, m->job->source, line);
    }
    return rc;
}

/* Returns the split of the graph for n workers; there is one for every n that is evaluated. */
static const struct hm_parts *model_parts_at(const struct hm_model *m, double n)
{
    assert(n >= 1 && n <= (double)m->variant.part_count);
    return &m->variant.parts[(size_t)n - 1];
}

/*
 * Computes the time for a graph: the time per edge times the number of edges on the most loaded
 * worker.
 */
static int eval_graph(const struct hm_model *m, const struct eval_space *space,
                      struct hm_point *points, struct hm_err *err)
{
    double edge_s = m->job->per_edge ? 0 : hm__model_edge_time(m);

    if (m->job->per_edge) {
        int rc = eval_formula(m, m->job->per_edge, "graph.per_edge", 0, space, err);
        if (rc)
            return rc;
    }
    for (size_t i = 0; i < space->count; i++) {
        const struct hm_parts *p = model_parts_at(m, points[i].n);
        double edges = m->variant.balanced ? p->edges_mean : p->edges_max;
        points[i].imbalance = p->imbalance;
        points[i].compute_s =
            edges * m->variant.work * (m->job->per_edge ? space->scratch[i] / m->flops : edge_s);
    }
    return 0;
}

static int eval_compute(const struct hm_model *m, const struct eval_space *space,
                        struct hm_point *points, struct hm_err *err)
{
    if (m->job->compute) {
        int rc = eval_formula(m, m->job->compute, "compute", m->job->compute_line, space, err);
        for (size_t i = 0; rc == 0 && i < space->count; i++)
            points[i].compute_s = space->scratch[i] * m->compute_work;
        return rc;
    }
    if (m->job->graph)
        return eval_graph(m, space, points, err);
    if (m->table) {
        int rc = 0;
        for (size_t i = 0; rc == 0 && i < space->count; i++)
            rc = hm__model_table_compute(m, space->n[i], space->batch[i], space->passes[i],
                                         &points[i].compute_s, &points[i].memory_bytes, err);
        return rc;
    }
    if (m->costs.count > 0)
        hm__layer_costs_eval(&m->costs, space->batch, space->count, space->forward, space->scratch);
    for (size_t i = 0; i < space->count; i++)
        points[i].compute_s =
            space->passes[i] *
            (m->costs.count > 0 ? space->scratch[i] : hm__model_totals_time(m, space->batch[i]));
    return 0;
}

/* Returns the scheme of a step. A scheme given in the variant replaces all-reduce schemes only. */
static enum hm_scheme step_scheme(const struct hm_model *m, const struct hm_transfer *t)
{
    if (m->variant.scheme >= 0 && hm_scheme_is_allreduce(t->scheme))
        return (enum hm_scheme)m->variant.scheme;
    return t->scheme;
}

/* Returns whether a step is sent layer by layer, overlapping with the backward pass. */
static bool step_is_by_layers(const struct hm_model *m, const struct hm_transfer *t)
{
    return m->overlap == HM_OVERLAP_LAYERS && m->costs.messages > 0 && !t->time &&
           t->what == HM_PAYLOAD_GRADIENTS && hm_scheme_is_allreduce(step_scheme(m, t));
}

/* Returns the links (wires) for a step, with the number of its servers: at most one server per node
 * if servers are colocated with workers. */
static struct hm_wires step_wires(const struct hm_model *m, const struct hm_transfer *t, double n)
{
    struct hm_wires wires = m->wires;

    wires.servers = wires.colocated ? fmin(t->servers, ceil(n / wires.per_node)) : t->servers;
    return wires;
}

/* Returns the time of a step in seconds, and the scheme used. The step is one message, or one
 * message per layer; each message has its own latency. */
static struct hm_wire_time step_message_time(const struct hm_model *m, const struct hm_transfer *t,
                                             double n, double bytes, enum hm_scheme *ret_scheme)
{
    double messages = step_is_by_layers(m, t) ? (double)m->costs.messages : 1;
    enum hm_scheme scheme = step_scheme(m, t);
    struct hm_wires wires = step_wires(m, t, n);

    if (scheme == HM_SCHEME_BEST)
        scheme = hm__collective_best(n, bytes / messages, &wires);
    struct hm_wire_time time = hm__collective_eval(scheme, n, bytes, &wires);
    time.latency_s *= t->times * messages;
    time.bandwidth_s *= t->times;
    *ret_scheme = scheme;
    return time;
}

/* Returns the number of bytes that the states of all copies of the vertices occupy. */
static double vertex_bytes(const struct hm_model *m, double n)
{
    return model_parts_at(m, n)->replicas * m->job->graph->vertices * m->job->states *
           m->job->precision / 8;
}

static int eval_step(const struct hm_model *m, const struct hm_transfer *t,
                     const struct eval_space *space, struct hm_point *points, struct hm_err *err)
{
    const struct hm_formula *f = t->time ? t->time : t->bytes;
    int rc = f ? eval_formula(m, f, "communicate", t->line, space, err) : 0;
    bool beside = step_is_by_layers(m, t);

    for (size_t i = 0; rc == 0 && i < space->count; i++) {
        struct hm_point *p = &points[i];
        if (t->time) {
            p->communicate_s += space->scratch[i] * t->times * space->factor;
            continue;
        }
        double bytes = f                                ? space->scratch[i]
                       : t->what == HM_PAYLOAD_VERTICES ? vertex_bytes(m, p->n)
                                                        : m->gradient_bytes;
        struct hm_wire_time time;
        double server_s = 0;
        if (hm__model_in_buckets(m, t)) {
            struct hm_wires wires = step_wires(m, t, p->n);
            struct hm_step_sent sent;
            rc = hm__model_table_send(m, p->n, space->batch[i], space->passes[i], space->factor,
                                      step_scheme(m, t), &wires, &sent, err);
            if (rc)
                return rc;
            time = (struct hm_wire_time){sent.latency_s * t->times, sent.bandwidth_s * t->times};
            p->scheme = sent.scheme;
            space->finish[i] = sent.end_s;
            space->latency[i] += time.latency_s;
            space->bandwidth[i] += time.bandwidth_s;
        } else {
            struct hm_wires wires = step_wires(m, t, p->n);
            time = step_message_time(m, t, p->n, bytes, &p->scheme);
            hm__model_framework_message(m, t, p->n, bytes, &wires, &time, &server_s);
            time.latency_s *= space->factor;
            time.bandwidth_s *= space->factor;
        }
        p->latency_s += time.latency_s;
        p->bandwidth_s += time.bandwidth_s;
        space->latency[i] += beside ? time.latency_s : 0;
        space->bandwidth[i] += beside ? time.bandwidth_s : 0;
        if (m->variant.way.platform == HM_PLATFORM_SERVER) {
            struct hm_wires wires = step_wires(m, t, p->n);
            struct hm_server_load load = hm__collective_server(p->n, bytes, &wires);
            space->worker[i] = load.worker_s;
            space->server[i] = fmax(load.server_s, server_s);
        }
    }
    return rc;
}

/* Computes the time of a step whose all-reduces of single layers overlap with the backward pass. */
static void eval_layer_overlap(const struct hm_model *m, const struct eval_space *space,
                               struct hm_point *points)
{
    double messages = (double)m->costs.messages;

    /* The communication that does not overlap takes place after the backward pass. */
    for (size_t i = 0; i < space->count; i++) {
        points[i].time_s =
            space->forward[i] + points[i].communicate_s - space->latency[i] - space->bandwidth[i];
        space->latency[i] /= messages;
        space->bandwidth[i] /= m->gradient_bytes;
    }
    hm__layer_costs_overlap(&m->costs, space->batch, space->latency, space->bandwidth, space->count,
                            space->scratch);
    /* Only the last pass overlaps with the communication. */
    for (size_t i = 0; i < space->count; i++)
        points[i].time_s += space->scratch[i] + points[i].wait_s +
                            (1 - 1 / space->passes[i]) * (points[i].compute_s - points[i].wait_s);
}

/* Computes the time of a step whose buckets of gradients overlap with the backward pass. */
static void eval_bucket_overlap(const struct eval_space *space, struct hm_point *points)
{
    for (size_t i = 0; i < space->count; i++) {
        double other = points[i].communicate_s - space->latency[i] - space->bandwidth[i];
        if (space->finish[i] > 0)
            points[i].time_s = space->finish[i] + fmax(other, 0) + points[i].wait_s;
    }
}

static void combine_overlap(const struct hm_model *m, struct hm_point *p)
{
    double a = p->compute_s, b = p->communicate_s, e = m->job->overlap_p;
    double most = a > b ? a : b;

    switch (m->overlap) {
    case HM_OVERLAP_NONE:
    /* The time is the sum of computation and communication. If messages are sent layer by layer,
     * eval_layer_overlap replaces the sum later. */
    case HM_OVERLAP_LAYERS:
    case HM_OVERLAP_BUCKETS:
    case HM_OVERLAP_AUTO:
        p->time_s = a + b;
        break;
    /* Dividing by the larger of the two times avoids an overflow for large exponents p. */
    case HM_OVERLAP_NORM:
        p->time_s = most > 0 ? most * pow(pow(a / most, e) + pow(b / most, e), 1 / e) : 0;
        break;
    }
}

static int eval_memory(const struct hm_model *m, const struct eval_space *space,
                       struct hm_point *points, struct hm_err *err)
{
    const double have = hm__model_memory_limit(m);
    const bool formula = m->job->memory_needed != NULL;
    int rc = 0;

    if (formula)
        rc = eval_formula(m, m->job->memory_needed, "memory", m->job->memory_line, space, err);
    for (size_t i = 0; rc == 0 && i < space->count; i++) {
        struct hm_point *p = &points[i];
        double needed = p->memory_bytes;
        p->memory_bytes = formula ? space->scratch[i] : m->table ? needed : m->memory_fixed;
        if (!formula && !m->table && !isnan(m->memory_fixed))
            p->memory_bytes += m->memory_per_sample * space->batch[i];
        bool sample =
            !m->job->network || m->job->compute || m->variant.weak || space->used[i] <= m->batch;
        p->fits = sample && p->n > m->variant.way.backups && !(have > 0 && p->memory_bytes > have);
    }
    return rc;
}

/* Sets the number of samples in one forward pass of a worker, and the number of passes. */
static void eval_space_batch(const struct hm_model *m, struct eval_space *space, size_t i)
{
    const double local = m->variant.weak ? m->batch : m->batch / space->used[i];

    space->batch[i] = local;
    space->passes[i] = 1;
    if (m->counts && m->counts->layer_count > 0 && !m->job->compute)
        space->passes[i] =
            hm__need_passes(local, m->job->micro_batch, m->memory_fixed, m->memory_per_sample,
                            hm__model_memory_limit(m), &space->batch[i]);
}

/* Allocates all work arrays as one block, which is freed with space->n; clears the points. */
static int eval_space_init(const struct hm_model *m, struct hm_point *points, size_t count,
                           struct eval_space *space, struct hm_err *err)
{
    double *rows = hm__calloc(SPACE_ROWS * count, sizeof(*rows));
    double per_node = m->cluster ? m->cluster->node.accelerators : 1;

    if (!rows)
        return hm__fail_nomem(err);
    double **const arrays[SPACE_ROWS] = {&space->n,         &space->batch,   &space->passes,
                                         &space->scratch,   &space->forward, &space->latency,
                                         &space->bandwidth, &space->used,    &space->worker,
                                         &space->server,    &space->finish};
    for (size_t k = 0; k < SPACE_ROWS; k++)
        *arrays[k] = rows + k * count;
    space->count = count;
    space->factor = 1;
    for (size_t i = 0; i < count; i++) {
        double n = points[i].n;
        space->n[i] = n;
        space->used[i] = hm__way_used(&m->variant.way, n);
        eval_space_batch(m, space, i);
        points[i] = (struct hm_point){.n = n,
                                      .nodes = ceil(n / per_node) + hm__way_nodes(&m->variant.way),
                                      .low_s = NAN,
                                      .high_s = NAN,
                                      .cost = NAN,
                                      .server_share = NAN,
                                      .imbalance = NAN,
                                      .micro_batch = m->counts ? space->batch[i] : NAN,
                                      .scheme = HM_SCHEME_BEST};
    }
    return 0;
}

/* Sets compute_s; with BSP, this includes the wait until enough workers have finished. */
static int eval_workers(const struct hm_model *m, const struct eval_space *space,
                        struct hm_point *points, struct hm_err *err)
{
    struct eval_space shares = *space;

    /* The work is divided only among the workers whose gradients are used. */
    shares.n = space->used;
    int rc = eval_compute(m, &shares, points, err);
    for (size_t i = 0; rc == 0 && i < space->count; i++)
        points[i].compute_s += hm__model_framework_work(m, space->batch[i] * space->passes[i]);
    if (rc == 0)
        hm__model_dataflow_work(m, points, space->count);
    if (rc == 0 && m->stragglers && !hm__way_stale(&m->variant.way))
        rc = hm__stragglers_wait(m->stragglers, &m->variant.way, points, space->count, err);
    return rc;
}

/* With servers, sets the times of stale workers and how busy the servers' links are. */
static int eval_servers(const struct hm_model *m, const struct eval_space *space,
                        struct hm_point *points, struct hm_err *err)
{
    const struct hm_way *way = &m->variant.way;
    const struct hm_ports ports = {space->worker, space->server};
    int rc = 0;

    if (way->platform != HM_PLATFORM_SERVER)
        return 0;
    if (hm__way_stale(way))
        rc = hm__stragglers_apart(m->stragglers, way, &ports, points, space->count, err);
    for (size_t i = 0; rc == 0 && i < space->count; i++)
        points[i].server_share = hm__way_server_share(way, &ports, i, points[i].time_s);
    if (rc == 0)
        hm__model_framework_queue(m, &ports, points, space->count);
    return rc;
}

/* Returns whether the latency and bandwidth components of the time are known; this requires that no
 * step is given as a formula for its time. */
static bool steps_are_split(const struct hm_model *m)
{
    for (size_t i = 0; i < m->step_count; i++)
        if (m->steps[i].time)
            return false;
    return true;
}

int hm__model_eval_kind(const struct hm_model *m, struct hm_point *points, size_t count,
                        double factor, struct hm_err *err)
{
    if (m->pipeline)
        return hm__model_eval_pipeline(m, points, count, factor, err);
    bool split = steps_are_split(m);
    struct eval_space space;
    int rc = eval_space_init(m, points, count, &space, err);

    if (rc)
        return rc;
    space.factor = factor;
    rc = eval_workers(m, &space, points, err);
    for (size_t k = 0; k < m->step_count && (rc = rc ? rc : hm__budget_check("max_n", err)) == 0;
         k++)
        rc = eval_step(m, &m->steps[k], &space, points, err);
    if (rc == 0)
        rc = eval_memory(m, &space, points, err);
    if (rc == 0)
        hm__model_dataflow_schedule(m, points, count);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        points[i].communicate_s += points[i].latency_s + points[i].bandwidth_s;
        combine_overlap(m, &points[i]);
    }
    if (rc == 0 && m->overlap == HM_OVERLAP_LAYERS && m->costs.messages > 0)
        eval_layer_overlap(m, &space, points);
    if (rc == 0 && m->overlap == HM_OVERLAP_BUCKETS)
        eval_bucket_overlap(&space, points);
    if (rc == 0)
        rc = eval_servers(m, &space, points, err);
    if (rc == 0)
        hm__model_dataflow_losses(m, points, count);
    for (size_t i = 0; !split && i < count; i++)
        points[i].latency_s = points[i].bandwidth_s = NAN;
    hm__free(space.n);
    return rc;
}

/* Evaluates one communication step alone; sets only communicate_s and scheme of the points. */
static int eval_one_step(const struct hm_model *m, const struct hm_transfer *t,
                         struct hm_point *points, size_t count, struct hm_err *err)
{
    struct hm_model mixed;
    struct eval_space space = {0};
    int rc = 0;

    /* The links of a mixed cluster depend on n, so each point is evaluated with its own model. */
    for (size_t i = 0; m->mixes && count > 1 && i < count && rc == 0; i++)
        rc = eval_one_step(m, t, &points[i], 1, err);
    if (m->mixes && (count > 1 || (rc = hm__model_mix_links(m, points[0].n, &mixed, err))))
        return rc;
    m = m->mixes ? &mixed : m;
    rc = eval_space_init(m, points, count, &space, err);
    if (rc)
        return rc;
    rc = eval_step(m, t, &space, points, err);
    hm__free(space.n);
    for (size_t i = 0; i < count; i++)
        points[i].communicate_s += points[i].latency_s + points[i].bandwidth_s;
    return rc;
}

int hm__model_dominant(const struct hm_model *m, double n, enum hm_scheme *ret_scheme)
{
    int dominant = -1;
    double most = 0;

    for (size_t i = 0; i < m->step_count; i++) {
        struct hm_point p = {.n = n};
        if (eval_one_step(m, &m->steps[i], &p, 1, NULL) == 0 && p.communicate_s > most) {
            most = p.communicate_s;
            dominant = (int)i;
            *ret_scheme = p.scheme;
        }
    }
    return dominant;
}

size_t hm__model_part_count(const struct hm_model *m)
{
    size_t steps = m->step_count;

    return 1 + (m->overlap == HM_OVERLAP_NONE || steps == 0 ? steps : 1);
}

void hm__model_part_name(const struct hm_model *m, size_t part, char *text, size_t room)
{
    const struct hm_transfer *t = part > 0 ? &m->steps[part - 1] : NULL;

    if (!t)
        snprintf(text, room, "compute");
    else if (m->overlap != HM_OVERLAP_NONE)
        snprintf(text, room, "communication");
    else if (t->time && m->step_count == 1)
        snprintf(text, room, "communicate");
    else if (t->time)
        snprintf(text, room, "communicate %zu", part);
    else
        snprintf(text, room, "%s by %s", hm__payload_name(t->what),
                 hm_scheme_name(step_scheme(m, t)));
}

int hm__model_parts(const struct hm_model *m, const double *n, size_t count, double *parts,
                    struct hm_err *err)
{
    struct hm_point *points = hm__calloc(count, sizeof(*points));
    const size_t part_count = hm__model_part_count(m);

    if (!points)
        return hm__fail_nomem(err);
    for (size_t i = 0; i < count; i++)
        points[i].n = n[i];
    int rc = hm__model_eval(m, points, count, err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        parts[i] = points[i].compute_s;
        /* Communication time in seconds that does not overlap; without overlap, the loop below
         * replaces this value. */
        if (part_count > 1)
            parts[count + i] = points[i].time_s - points[i].compute_s;
    }
    for (size_t k = 1; rc == 0 && m->overlap == HM_OVERLAP_NONE && k < part_count; k++) {
        rc = eval_one_step(m, &m->steps[k - 1], points, count, err);
        for (size_t i = 0; i < count; i++)
            parts[k * count + i] = points[i].communicate_s;
    }
    hm__free(points);
    return rc;
}

enum hm_overlap hm__model_overlap(const struct hm_model *m)
{
    return m->overlap;
}

double hm__model_work(const struct hm_model *m)
{
    return m->variant.work;
}

const struct hm_transfer *hm__model_step(const struct hm_model *m, size_t step)
{
    return &m->steps[step];
}

const char *hm__model_note(const struct hm_model *m, size_t i)
{
    return i < m->note_count ? m->notes[i] : NULL;
}
