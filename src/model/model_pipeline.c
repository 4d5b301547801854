/*
 * Places the layers of a network on several workers (model parallelism), which form a pipeline. n
 * workers are divided into n/k pipelines of k stages; each pipeline processes an equal part of the
 * batch, in micro-batches whose number of samples is a power of two. For each k that divides n and
 * each micro-batch, the layers are placed by dynamic programming (place.h). The best placement is
 * then compared with the one that METIS finds for the graph of layers, which may cut a block in
 * two. Gradients of a stage are summed over the pipelines after the last micro-batch.
 *
 * Limits: there are at most HM_STAGES_MAX stages; the stages of one pipeline are all in one node or
 * all use the fabric; nothing overlaps with the sums of gradients.
 */
#include "model_pipeline.h"

#include <math.h>
#include <string.h>

#include "collective.h"
#include "err.h"
#include "layer_graph.h"
#include "layer_ops.h"
#include "memory.h"
#include "need.h"
#include "split.h"

enum { SIZES_MAX = 13 }; /* The possible micro-batches are 1, 2, 4, ... 4096 samples. */

/* Times of the layers of a network for one micro-batch. */
struct row_times {
    /* Arrays with one value for each layer of the network; NULL until they are first needed. */
    double *time_s, *kept_bytes;
};

struct hm_pipeline {
    struct hm_layer_graph graph;
    struct row_times sizes[SIZES_MAX];
};

int hm__model_set_pipeline(struct hm_model *m, struct hm_err *err)
{
    if (m->variant.way.platform != HM_PLATFORM_PIPELINE)
        return 0;
    if (!m->counts || m->counts->layer_count == 0 || m->job->compute)
        return hm__model_fail_missing(m, "network", "a pipeline needs a network with layers",
                                      "give network: a name from the catalog, or layers", err);
    m->pipeline = hm__calloc(1, sizeof(*m->pipeline));
    if (!m->pipeline)
        return hm__fail_nomem(err);
    return hm__layer_graph_init(&m->pipeline->graph, m->job->network, m->counts, err);
}

size_t hm__model_pipeline_units(const struct hm_model *m)
{
    return m->pipeline->graph.unit_count;
}

void hm__pipeline_free(struct hm_pipeline *p)
{
    if (!p)
        return;
    hm__layer_graph_release(&p->graph);
    for (size_t i = 0; i < SIZES_MAX; i++)
        hm__free(p->sizes[i].time_s);
    hm__free(p);
}

/* Returns the size in bytes of a value that a stage sends to the next. */
static double value_bytes(const struct hm_model *m)
{
    enum hm_math math = m->table ? hm__step_table_device(m->table)->math : HM_MATH_FP32;

    return math == HM_MATH_BF16 || math == HM_MATH_FP16 ? 2 : m->job->precision / 8;
}

static double output_bytes(const struct hm_model *m, size_t row)
{
    const struct hm_shape *out = &m->counts->layers[row].out;

    return fmax(out->height, 1) * fmax(out->width, 1) * out->channels * value_bytes(m);
}

/* Computes the times of all layers (rows of the counts) for `b` samples, either operation by
 * operation or from their flop. */
static void rows_time(const struct hm_model *m, double b, struct row_times *rows)
{
    const size_t count = m->counts->layer_count;

    for (size_t i = 0; i < count; i++) {
        const struct hm_count *row = &m->counts->layers[i];
        const struct hm_layer_place place = {
            .first = i == 0, .last = i + 1 == count, .next = i + 1 < count ? row + 1 : NULL};
        if (!m->table) {
            rows->time_s[i] = HM_TRAINING_PASSES * 2 * row->multiply_adds * b / m->flops;
            rows->kept_bytes[i] = row->outputs * b * m->job->precision / 8;
            continue;
        }
        struct hm_layer_step step = hm__layer_ops(hm__step_table_device(m->table), row, &place, b);
        rows->time_s[i] = (fmax(step.forward_s, step.forward_host_s) +
                           fmax(step.backward_s, step.backward_host_s)) /
                          m->variant.flops;
        rows->kept_bytes[i] = step.kept_bytes;
    }
}

/* If the rows together keep fewer bytes than a step of the whole network, increases the bytes of
 * each row by the same factor, so that the totals are equal. */
static void rows_keep(const struct hm_model *m, double b, struct row_times *rows)
{
    double kept = 0;

    for (size_t i = 0; i < m->counts->layer_count; i++)
        kept += rows->kept_bytes[i];
    for (size_t i = 0; i < m->counts->layer_count; i++)
        rows->kept_bytes[i] *= kept > 0 ? fmax(1, m->memory_per_sample * b / kept) : 1;
}

/* Returns the number of bytes that each worker needs in addition to the bytes of its layers. */
static double worker_bytes(const struct hm_model *m)
{
    double per = hm__need_parameter_bytes(m->job->optimizer, m->job->precision);

    return fmax(0, m->memory_least - per * m->counts->parameters);
}

/* Returns the number of bytes available for the layers of a worker, at least 1; NaN if unknown. */
static double layer_bytes(const struct hm_model *m)
{
    bool known = m->cluster && m->cluster->node.memory_bytes > 0;

    return known ? fmax(hm__model_memory_limit(m) - worker_bytes(m), 1) : NAN;
}

/* Returns the times for micro-batches of 2^size samples; the first call computes them. */
static const struct row_times *pipeline_rows(const struct hm_model *m, size_t size,
                                             struct hm_err *err)
{
    struct row_times *rows = &m->pipeline->sizes[size];

    if (rows->time_s)
        return rows;
    rows->time_s = hm__calloc(2 * m->counts->layer_count, sizeof(*rows->time_s));
    if (!rows->time_s) {
        hm__fail_nomem(err);
        return NULL;
    }
    rows->kept_bytes = rows->time_s + m->counts->layer_count;
    rows_time(m, ldexp(1, (int)size), rows);
    rows_keep(m, ldexp(1, (int)size), rows);
    return rows;
}

/* One case of the search for a placement: k stages and micro-batches of 2^size samples. */
struct pipeline_case {
    size_t stages, size;
    double replicas, micro_batches;
    struct hm_link link; /* Link between two stages of a pipeline. */
    double factor;       /* Factor by which the time of all communication is multiplied. */
};

static double case_send(const struct hm_model *m, const struct pipeline_case *c, double bytes)
{
    (void)m;
    return 2 * c->factor * (c->link.latency_s + bytes / c->link.bandwidth_bytes_per_s);
}

static void case_units(const struct hm_model *m, const struct pipeline_case *c,
                       const struct row_times *rows, struct hm_place_unit *units)
{
    const struct hm_layer_graph *g = &m->pipeline->graph;
    double per = hm__need_parameter_bytes(m->job->optimizer, m->job->precision);

    for (size_t u = 0, row = 0; u < g->unit_count; u++) {
        units[u] = (struct hm_place_unit){0};
        for (; row < g->ends[u]; row++) {
            units[u].time_s += rows->time_s[row];
            units[u].kept_bytes += rows->kept_bytes[row];
            units[u].fixed_bytes += per * m->counts->layers[row].parameters;
        }
        units[u].send_s =
            c->stages > 1
                ? case_send(m, c, output_bytes(m, g->ends[u] - 1) * ldexp(1, (int)c->size))
                : 0;
    }
}

/* Returns a lower bound on the time over all placements of the units (layers or blocks of
 * layers). */
static double units_least(const struct hm_place_unit *units, size_t count,
                          const struct pipeline_case *c)
{
    double total = 0, most = 0;

    for (size_t u = 0; u < count; u++) {
        total += units[u].time_s;
        most = fmax(most, units[u].time_s);
    }
    return total + (c->micro_batches - 1) * fmax(most, total / (double)c->stages);
}

/*
 * Returns the time in seconds for the update and for summing the gradients of the largest stage
 * over all pipelines.
 */
static double case_finish(const struct hm_model *m, const struct pipeline_case *c,
                          double parameters)
{
    struct hm_wires wires = m->wires;
    double update = 0;

    wires.per_node = fmax(1, floor(m->wires.per_node / (double)c->stages));
    if (m->table)
        update = hm__update_time(hm__step_table_device(m->table), m->job->optimizer, parameters) /
                 m->variant.flops;
    if (c->replicas <= 1)
        return update;
    struct hm_wire_time sum = hm__collective_eval(HM_SCHEME_BEST, c->replicas,
                                                  parameters * m->job->precision / 8, &wires);
    return update + c->factor * (sum.latency_s + sum.bandwidth_s);
}

/* Sets the times and the memory of a placement from the sums over its stages. */
static void choice_set(const struct hm_model *m, const struct pipeline_case *c, double time_s,
                       double total_s, double links_s, double parameters, double memory, bool fits,
                       struct hm_pipeline_choice *choice)
{
    double finish = case_finish(m, c, parameters);

    *choice = (struct hm_pipeline_choice){.stages = (double)c->stages,
                                          .replicas = c->replicas,
                                          .micro_batch = ldexp(1, (int)c->size),
                                          .micro_batches = c->micro_batches,
                                          .busy_s = c->micro_batches * total_s / (double)c->stages,
                                          .send_s = links_s + finish,
                                          .time_s = time_s + finish,
                                          .memory_bytes = memory,
                                          .fits = fits};
}

/* Places the chain of units (layers or blocks of layers) on the stages; if no placement fits, the
 * memory limit is ignored. */
static int case_chain(const struct hm_model *m, const struct pipeline_case *c,
                      const struct hm_place_unit *units, struct hm_pipeline_choice *choice,
                      struct hm_err *err)
{
    const struct hm_layer_graph *g = &m->pipeline->graph;
    double own = worker_bytes(m), have = layer_bytes(m), links = 0, memory = 0;
    double most = 0, total = 0;
    struct hm_placement placed;
    int rc = hm__place_chain(units, g->unit_count, c->stages, c->micro_batches, have, &placed, err);
    bool fits = rc == 0 && isfinite(placed.time_s);

    if (rc == 0 && !fits)
        rc = hm__place_chain(units, g->unit_count, c->stages, c->micro_batches, NAN, &placed, err);
    for (size_t k = 0, u = 0; rc == 0 && k < c->stages; k++) {
        double bytes = 0, parameters = 0;
        for (; u < placed.ends[k]; u++) {
            bytes += units[u].fixed_bytes +
                     fmin(c->micro_batches, (double)(c->stages - k)) * units[u].kept_bytes;
            parameters += units[u].fixed_bytes;
            total += units[u].time_s;
        }
        links += k + 1 < c->stages ? units[u - 1].send_s : 0;
        memory = fmax(memory, bytes);
        most = fmax(most, parameters);
    }
    if (rc)
        return rc;
    most /= hm__need_parameter_bytes(m->job->optimizer, m->job->precision);
    choice_set(m, c, placed.time_s, total, links, most, memory + own, fits, choice);
    for (size_t k = 0; k < c->stages; k++)
        choice->rows[k] = g->ends[placed.ends[k] - 1];
    return 0;
}

/* Evaluates a placement of single rows, where stage[row] is the stage of a row, counted from 0;
 * returns false if an edge goes back to an earlier stage. `last` has room for one number per row. A
 * tensor that several later stages read is sent over all links in between. */
static bool case_rows(const struct hm_model *m, const struct pipeline_case *c,
                      const struct row_times *rows, const uint32_t *stage, uint32_t *last,
                      struct hm_pipeline_choice *choice)
{
    const struct hm_layer_graph *g = &m->pipeline->graph;
    double times[HM_STAGES_MAX] = {0}, sends[HM_STAGES_MAX] = {0}, bytes[HM_STAGES_MAX] = {0},
           parameters[HM_STAGES_MAX] = {0};
    double per = hm__need_parameter_bytes(m->job->optimizer, m->job->precision);
    double own = worker_bytes(m), have = layer_bytes(m), sum = 0, most = 0, memory = 0, largest = 0,
           total = 0, links = 0;

    memcpy(last, stage, g->row_count * sizeof(*last));
    for (size_t i = 0; i < g->edge_count; i++) {
        size_t from = g->edges[i].from, to = stage[g->edges[i].to];
        if (from != HM_NONE && to < stage[from])
            return false;
        if (from != HM_NONE && to > last[from])
            last[from] = (uint32_t)to;
    }
    for (size_t r = 0; r < g->row_count; r++) {
        uint32_t at = stage[r];
        for (uint32_t k = at; k < last[r]; k++)
            sends[k] += output_bytes(m, r) * ldexp(1, (int)c->size);
        times[at] += rows->time_s[r];
        parameters[at] += m->counts->layers[r].parameters;
        bytes[at] += per * m->counts->layers[r].parameters +
                     fmin(c->micro_batches, (double)(c->stages - at)) * rows->kept_bytes[r];
    }
    for (size_t k = 0; k < c->stages; k++) {
        double send = sends[k] > 0 ? case_send(m, c, sends[k]) : 0;
        sum += times[k] + send;
        links += send;
        total += times[k];
        most = fmax(most, fmax(times[k], send));
        memory = fmax(memory, bytes[k]);
        largest = fmax(largest, parameters[k]);
    }
    choice_set(m, c, sum + (c->micro_batches - 1) * most, total, links, largest, memory + own,
               !(memory > have), choice);
    choice->metis = true;
    return true;
}

/* Asks METIS for a placement of the layers (rows of the counts), and numbers the stages by their
 * first rows. */
static int case_metis(const struct hm_model *m, const struct pipeline_case *c,
                      const struct row_times *rows, uint32_t *stage, struct hm_err *err)
{
    const struct hm_layer_graph *g = &m->pipeline->graph;
    struct hm_weighted_edge *edges = hm__calloc(g->edge_count + 1, sizeof(*edges));
    double *weights = hm__calloc(g->row_count, sizeof(*weights));
    uint32_t number[HM_STAGES_MAX], used = 0;
    size_t count = 0;
    int rc = edges && weights ? 0 : hm__fail_nomem(err);

    for (size_t i = 0; rc == 0 && i < g->edge_count; i++)
        if (g->edges[i].from != HM_NONE)
            edges[count++] =
                (struct hm_weighted_edge){(uint32_t)g->edges[i].from, (uint32_t)g->edges[i].to,
                                          output_bytes(m, g->edges[i].from)};
    for (size_t r = 0; rc == 0 && r < g->row_count; r++)
        weights[r] = rows->time_s[r];
    if (rc == 0)
        rc = hm__metis_weighted(g->row_count, weights, edges, count, (uint32_t)c->stages, stage,
                                err);
    for (size_t k = 0; k < HM_STAGES_MAX; k++)
        number[k] = UINT32_MAX;
    for (size_t r = 0; rc == 0 && r < g->row_count; r++) {
        if (number[stage[r]] == UINT32_MAX)
            number[stage[r]] = used++;
        stage[r] = number[stage[r]];
    }
    hm__free(edges);
    hm__free(weights);
    return rc;
}

static bool choice_better(const struct hm_pipeline_choice *a, const struct hm_pipeline_choice *b)
{
    return a->fits != b->fits ? a->fits : a->time_s < b->time_s;
}

/* Partitions the layers with METIS, and replaces the placement in *best if the result is better.
 * Builds without METIS keep *best, which was found by cutting the network as a chain of layers. */
static int choice_try_metis(const struct hm_model *m, const struct pipeline_case *c,
                            struct hm_pipeline_choice *best, struct hm_err *err)
{
    const struct row_times *rows = pipeline_rows(m, c->size, err);
    const size_t row_count = m->counts->layer_count;
    uint32_t *stage = hm__calloc(2 * row_count, sizeof(*stage));
    struct hm_pipeline_choice other;
    struct hm_err ignored = {0};
    int rc = rows && stage ? case_metis(m, c, rows, stage, &ignored) : HM_E_NOMEM;

    if (rc == 0 && case_rows(m, c, rows, stage, stage + row_count, &other) &&
        choice_better(&other, best))
        *best = other;
    hm__free(stage);
    return rc == HM_E_NOMEM ? hm__fail_nomem(err) : 0;
}

/* Initialises the case of k stages on n workers; returns the number of samples that one pipeline
 * processes in a step. */
static double case_init(const struct hm_model *m, double n, double stages, double factor,
                        struct pipeline_case *c)
{
    bool inside = m->wires.per_node > 1 && stages <= m->wires.per_node;

    *c = (struct pipeline_case){.stages = (size_t)stages,
                                .replicas = n / stages,
                                .link = inside ? m->wires.link : m->wires.fabric,
                                .factor = factor};
    return m->variant.weak ? m->batch * stages : m->batch * stages / n;
}

static int pipeline_choose(const struct hm_model *m, double n, double factor,
                           struct hm_pipeline_choice *best, struct hm_err *err)
{
    const size_t unit_count = m->pipeline->graph.unit_count;
    struct hm_place_unit *units = hm__calloc(unit_count, sizeof(*units));
    struct pipeline_case chosen = {0}, c;
    int rc = units ? 0 : hm__fail_nomem(err);

    *best = (struct hm_pipeline_choice){.time_s = INFINITY};
    for (double k = 1; rc == 0 && k <= fmin(n, HM_STAGES_MAX) && k <= (double)unit_count; k++) {
        if (fmod(n, k) != 0)
            continue;
        double samples = case_init(m, n, k, factor, &c);
        for (c.size = 0; rc == 0 && c.size < SIZES_MAX; c.size++) {
            struct hm_pipeline_choice one = {0};
            if (c.size > 0 && ldexp(1, (int)c.size) > samples)
                break;
            const struct row_times *rows = pipeline_rows(m, c.size, err);
            if (!rows) {
                rc = HM_E_NOMEM;
                break;
            }
            c.micro_batches = fmax(1, ceil(samples / ldexp(1, (int)c.size)));
            case_units(m, &c, rows, units);
            if (best->fits && units_least(units, unit_count, &c) >= best->time_s)
                continue;
            rc = case_chain(m, &c, units, &one, err);
            one.fits = one.fits && samples >= 1;
            if (rc == 0 && (isinf(best->time_s) || choice_better(&one, best))) {
                *best = one;
                chosen = c;
            }
        }
    }
    if (rc == 0 && chosen.stages > 1)
        rc = choice_try_metis(m, &chosen, best, err);
    hm__free(units);
    return rc;
}

int hm__model_pipeline_choose(const struct hm_model *m, double n,
                              struct hm_pipeline_choice *ret_choice, struct hm_err *err)
{
    return pipeline_choose(m, n, 1, ret_choice, err);
}

int hm__model_eval_pipeline(const struct hm_model *m, struct hm_point *points, size_t count,
                            double factor, struct hm_err *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < count; i++) {
        struct hm_pipeline_choice choice;
        double n = points[i].n;
        rc = pipeline_choose(m, n, factor, &choice, err);
        if (rc)
            break;
        points[i] = (struct hm_point){.n = n,
                                      .nodes = ceil(n / fmax(m->wires.per_node, 1)),
                                      .time_s = choice.time_s,
                                      .low_s = NAN,
                                      .high_s = NAN,
                                      .compute_s = choice.time_s - choice.send_s,
                                      .wait_s = choice.time_s - choice.send_s - choice.busy_s,
                                      .communicate_s = choice.send_s,
                                      .latency_s = NAN,
                                      .bandwidth_s = NAN,
                                      .cost = NAN,
                                      .memory_bytes = choice.memory_bytes,
                                      .server_share = NAN,
                                      .imbalance = NAN,
                                      .scheme = HM_SCHEME_BEST,
                                      .fits = choice.fits,
                                      .micro_batch = choice.micro_batch};
        points[i].wait_s = fmax(points[i].wait_s, 0);
    }
    return rc;
}
