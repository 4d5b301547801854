/*
 * Models a job whose step times are computed from operations: a network with layers on an
 * accelerator that the catalog describes. If a job specifies its own flops or efficiency, the times
 * of layers at that rate are used (layer_time.c).
 */
#include "model_step.h"

#include <math.h>
#include <stdio.h>

#include "checks.h"
#include "err.h"
#include "model_state.h"

static const double BUCKET_BYTES = 25e6;
/* A number of samples for which activations need more memory than the gradients of any network. */
static const double MANY_SAMPLES = 1 << 24;

/*
 * Costs of normalisations, activations and copies if only the totals of a network are known. They
 * move about one byte for every TOTALS_FLOP flop of training in 16 bits, and an eager host needs at
 * least TOTALS_HOST_S seconds to launch a step. With 20 to 40 flop per byte, the errors on the
 * single-worker steps in data/steps.csv have about the same spread.
 */
static const double TOTALS_FLOP = 25, TOTALS_HOST_S = 0.015;

/* Describes the accelerator; returns false if steps are not modelled operation by operation. */
static bool step_device_init(struct hm_device *device, const struct hm_job *job,
                             const struct hm_cluster *cluster, const struct hm_constants *constants)
{
    bool compiled = cluster && job->software == HM_SOFTWARE_EAGER && hm__cluster_compiles(cluster);

    if (!cluster || !cluster->roofline || job->compute || !job->network ||
        job->network->layer_count == 0 ||
        !hm__device_init(device, &cluster->node, hm__model_math(job), job->precision,
                         compiled ? HM_SOFTWARE_COMPILED : job->software, constants))
        return false;
    device->channels_last = job->channels_last;
    return true;
}

bool hm__model_by_operations(const struct hm_job *job, const struct hm_cluster *cluster)
{
    struct hm_device device;

    return step_device_init(&device, job, cluster, NULL);
}

bool hm__model_by_totals(const struct hm_job *job, const struct hm_cluster *cluster)
{
    return cluster && cluster->roofline && !job->compute && job->network &&
           job->network->layer_count == 0 && cluster->node.processors > 0 &&
           cluster->node.memory_bandwidth_bytes_per_s > 0;
}

double hm__model_totals_time(const struct hm_model *m, double batch)
{
    double flop = HM_TRAINING_PASSES * m->counts->forward_flop * batch;

    if (!hm__model_by_totals(m->job, m->cluster))
        return flop / m->flops;
    const struct hm_node *node = &m->cluster->node;
    enum hm_math math = HM_MATH_AUTO;
    hm__node_rate(node, hm__model_math(m->job), m->job->precision, &math);
    double wide = math == HM_MATH_FP64 ? 4 : math == HM_MATH_FP32 || math == HM_MATH_TF32 ? 2 : 1;
    double bytes = flop / TOTALS_FLOP * wide;
    double host = m->job->software == HM_SOFTWARE_EAGER && !hm__cluster_compiles(m->cluster)
                      ? TOTALS_HOST_S
                      : 0;
    double others = fmax(bytes / node->memory_bandwidth_bytes_per_s, host);
    return fmax(flop / m->flops, others);
}

int hm__model_table_new(const struct hm_job *job, const struct hm_cluster *cluster,
                        const struct hm_constants *constants, struct hm_step_table **ret_table,
                        struct hm_err *err)
{
    struct hm_device device;
    double bucket = job->bucket_bytes > 0 ? job->bucket_bytes : BUCKET_BYTES;

    *ret_table = NULL;
    if (!step_device_init(&device, job, cluster, constants))
        return 0;
    if (device.cpu.k)
        device.cpu.algebra = device.k->frameworks[job->framework].algebra;
    if (job->overlap == HM_OVERLAP_LAYERS)
        bucket = 0;
    return hm__step_table_new(job, &device, bucket, ret_table, err);
}

int hm__model_table_faster(const struct hm_job *job, const struct hm_cluster *cluster,
                           double factor, struct hm_step_table **ret_table, struct hm_err *err)
{
    struct hm_cluster faster = *cluster;
    struct hm_node *node = &faster.node;
    struct hm_rates *measured = &node->measured.flops;
    enum hm_math math = HM_MATH_AUTO;

    hm__node_rate(node, hm__model_math(job), job->precision, &math);
    /* The clock of the processors follows from the rate in fp32, so that rate changes only if it is
     * used. */
    double *const rates[HM_MATH_COUNT][2] = {
        [HM_MATH_FP64] = {&node->flops_64, &measured->fp64},
        [HM_MATH_FP32] = {&node->flops_32, &measured->fp32},
        [HM_MATH_TF32] = {&node->flops_tf32, &measured->tf32},
        [HM_MATH_BF16] = {&node->flops_bf16, &measured->bf16},
        [HM_MATH_FP16] = {&node->flops_16, &measured->fp16},
        [HM_MATH_FP8] = {&node->flops_fp8, &measured->fp8},
    };
    for (int i = 0; i < 2; i++)
        if (rates[math][i])
            *rates[math][i] *= factor;
    return hm__model_table_new(job, &faster, NULL, ret_table, err);
}

/*
 * Sets the line that the memory of a step follows. With few samples, gradients need more memory
 * than activations, and the memory of the step is constant; from some number of samples on, it is
 * linear. The line is that of many samples.
 */
static int set_memory_line(struct hm_model *m, struct hm_err *err)
{
    const struct hm_step_parts *parts;
    int rc = hm__step_table_eval(m->table, MANY_SAMPLES, &parts, err);

    if (rc)
        return rc;
    double many = parts->memory_bytes;
    rc = hm__step_table_eval(m->table, 2 * MANY_SAMPLES, &parts, err);
    if (rc)
        return rc;
    m->memory_per_sample = (parts->memory_bytes - many) / MANY_SAMPLES;
    m->memory_fixed = many - m->memory_per_sample * MANY_SAMPLES;
    rc = hm__step_table_eval(m->table, 1, &parts, err);
    if (rc == 0)
        m->memory_least = fmax(m->memory_fixed, parts->memory_bytes - m->memory_per_sample);
    return rc;
}

int hm__model_set_table(struct hm_model *m, struct hm_err *err)
{
    m->table = m->variant.table;
    if (!m->table) {
        int rc = hm__model_table_new(m->job, m->cluster, NULL, &m->own_table, err);
        if (rc || !m->own_table)
            return rc;
        m->table = m->own_table;
    }
    const struct hm_way *way = &m->variant.way;
    bool together = way->platform <= HM_PLATFORM_ALLREDUCE && way->local_steps <= 1;
    if (m->job->overlap == HM_OVERLAP_AUTO && together)
        m->overlap = HM_OVERLAP_BUCKETS;
    if (m->job->overlap == HM_OVERLAP_LAYERS)
        m->overlap = HM_OVERLAP_BUCKETS;
    int rc = set_memory_line(m, err);
    if (rc)
        return rc;
    const struct hm_device *d = hm__step_table_device(m->table);
    char text[NOTE_TEXT], how[48];
    if (d->cpu.k)
        snprintf(how, sizeof(how), "CPU with %g thread%s", d->cpu.threads,
                 d->cpu.threads > 1 ? "s" : "");
    else
        snprintf(how, sizeof(how), "%s software", hm_software_name(d->software));
    snprintf(text, sizeof(text), "steps are modelled by operations: %s, %s%s",
             hm_math_name(d->math), how,
             m->overlap == HM_OVERLAP_BUCKETS ? ", gradients in buckets" : "");
    hm__model_add_note(m, text);
    if (m->cluster->assumed) {
        snprintf(text, sizeof(text), "of the machine, these figures are assumed: %.100s",
                 m->cluster->assumed);
        hm__model_add_note(m, text);
    }
    return 0;
}

bool hm__model_in_buckets(const struct hm_model *m, const struct hm_transfer *t)
{
    return m->table && !t->time && t->what == HM_PAYLOAD_GRADIENTS &&
           hm_scheme_is_allreduce(t->scheme == HM_SCHEME_BEST ? HM_SCHEME_RING : t->scheme) &&
           t->scheme != HM_SCHEME_PARAMETER_SERVER;
}

double hm__model_edge_time(const struct hm_model *m)
{
    double states = m->job->states, flop = states + 2 * (states + states * states);
    const struct hm_cluster *c = m->cluster;

    if (!(c->node.cores > 0) || !(c->node.memory_bandwidth_bytes_per_s > 0) ||
        !(c->node.flops_64 > 0) || !c->roofline)
        return flop / m->flops;
    double peak = hm__node_rate(&c->node, HM_MATH_FP64, 64, NULL) * m->variant.flops;
    return hm__cpu_edge(&c->node, peak, flop, states, m->job->graph->vertices,
                        m->job->precision / 8);
}

/* Returns the factor by which the slowest of n workers is slower than a single worker. */
static double model_jitter(const struct hm_model *m, double n)
{
    return 1 + hm__step_table_device(m->table)->k->jitter * log2(n);
}

double hm__model_memory_limit(const struct hm_model *m)
{
    double have = m->cluster ? m->cluster->node.memory_bytes : NAN;

    return m->table && have > 0 ? hm__usable_memory(have) : have;
}

int hm__model_table_compute(const struct hm_model *m, double n, double b, double passes,
                            double *ret_s, double *ret_bytes, struct hm_err *err)
{
    const struct hm_step_parts *parts;
    int rc = hm__step_table_eval(m->table, b, &parts, err);

    if (rc)
        return rc;
    *ret_s = (passes * (parts->forward_s + parts->backward_s) + parts->update_s) /
             m->variant.flops * model_jitter(m, n);
    *ret_bytes = parts->memory_bytes;
    return 0;
}

int hm__model_table_send(const struct hm_model *m, double n, double b, double passes, double factor,
                         enum hm_scheme scheme, const struct hm_wires *wires,
                         struct hm_step_sent *ret_sent, struct hm_err *err)
{
    const struct hm_constants *k = hm__step_table_device(m->table)->k;
    double speed = m->variant.flops;
    const struct hm_step_parts *parts;
    int rc = hm__step_table_eval(m->table, b, &parts, err);

    if (rc)
        return rc;
    *ret_sent = hm__step_table_send(m->table, parts, n, speed, factor, scheme, wires);
    if (m->overlap != HM_OVERLAP_BUCKETS) {
        ret_sent->end_s = 0;
        return 0;
    }
    double computed = (parts->forward_s + parts->backward_s) / speed;
    double sending = fmin(ret_sent->latency_s + ret_sent->bandwidth_s, parts->backward_s / speed);
    /*
     * Kernels of collectives take processors and memory bandwidth from kernels that compute, so the
     * step takes longer, by a share of the communication time.
     */
    ret_sent->end_s =
        fmax(ret_sent->end_s, computed + k->contention * sending) + parts->update_s / speed;
    /* Only the last pass sends gradients; the earlier passes add their computation time. */
    ret_sent->end_s += (passes - 1) * computed;
    ret_sent->end_s *= model_jitter(m, n);
    return 0;
}
