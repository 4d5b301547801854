/*
 * Chooses how many processes run on a machine without accelerators, and with how many threads.
 *
 * p processes on a machine are p workers: each has cores/p threads, and 1/p of the peak, the memory
 * bandwidth, the cache and the memory. They share the machine's port to the fabric. Messages
 * between them are copied in its memory: each byte is read and written. More processes divide the
 * batch further, so that matrix products with few blocks of results occupy all cores; fewer
 * processes send fewer messages and keep fewer copies of the model. The plan compares all choices.
 *
 * Limits: this applies only to networks with layers on a machine whose cores are known; processes
 * on one machine are assumed not to disturb each other.
 */
#include "processes.h"

#include <math.h>

#include "err.h"
#include "model_step.h"
#include "notes.h"

/* Latency of a message between processes on one machine, in seconds. */
static const double COPY_LATENCY = 1e-6;

static bool can_choose(const struct hm_job *job, const struct hm_cluster *c)
{
    return c && c->threads_auto && c->kind_count == 0 && c->node.accelerators == 1 &&
           c->node.cores > 1 && hm__model_by_operations(job, c);
}

/*
 * Returns the smallest divisor of `cores` above p; INFINITY if there is none. Divisors above the
 * root of `cores` are quotients by those below it.
 */
static double divisor_after(double cores, double p)
{
    const double root = floor(sqrt(cores));

    for (double low = p + 1; low <= root; low++)
        if (fmod(cores, low) == 0)
            return low;
    for (double low = fmin(root, ceil(cores / p) - 1); low >= 1; low--)
        if (fmod(cores, low) == 0)
            return cores / low;
    return INFINITY;
}

/* Returns the number of ways to divide the cores among processes. */
static size_t choices_count(double cores)
{
    size_t count = 0;

    for (double p = divisor_after(cores, 0); p <= cores; p = divisor_after(cores, p))
        count++;
    return count;
}

static void divide_rates(struct hm_rates *rates, double p)
{
    rates->fp64 /= p;
    rates->fp32 /= p;
    rates->tf32 /= p;
    rates->bf16 /= p;
    rates->fp16 /= p;
    rates->fp8 /= p;
}

/* Changes the description of a machine with one process to a machine with p processes, each of
 * which is a worker. */
static void cluster_divide(struct hm_cluster *c, double p)
{
    struct hm_node *node = &c->node;
    double bandwidth = node->memory_bandwidth_bytes_per_s;
    double *const shared[] = {&node->flops_16,     &node->flops_32,
                              &node->flops_64,     &node->flops_bf16,
                              &node->flops_tf32,   &node->flops_fp8,
                              &node->flops_fp4,    &node->cores,
                              &node->cache_bytes,  &node->memory_bandwidth_bytes_per_s,
                              &node->memory_bytes, &node->measured.memory_bandwidth_bytes_per_s};

    node->accelerators = p;
    node->threads = node->cores / p;
    for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++)
        *shared[i] /= p;
    divide_rates(&node->measured.flops, p);
    node->link =
        (struct hm_link){.bandwidth_bytes_per_s = bandwidth / 2 / p, .latency_s = COPY_LATENCY};
    c->slowness.per_node = p;
}

int hm__processes_expand(const struct hm_job *job, const struct hm_cluster *const *clusters,
                         size_t count, struct hm_arena *arena,
                         const struct hm_cluster *const **ret_clusters, size_t *ret_count,
                         struct hm_err *err)
{
    const struct hm_cluster *own = job->has_cluster ? &job->cluster : NULL;
    size_t machines = count ? count : 1, total = 0, used = 0;
    bool any = false;

    for (size_t i = 0; i < machines; i++) {
        const struct hm_cluster *c = count ? clusters[i] : own;
        any = any || can_choose(job, c);
        total += can_choose(job, c) ? choices_count(c->node.cores) : 1;
    }
    *ret_clusters = clusters;
    *ret_count = count;
    if (!any)
        return 0;
    const struct hm_cluster **list = hm__arena_alloc(arena, total, sizeof(*list));
    if (!list)
        return hm__fail_nomem(err);
    for (size_t i = 0; i < machines; i++) {
        const struct hm_cluster *c = count ? clusters[i] : own;
        if (!can_choose(job, c)) {
            list[used++] = c;
            continue;
        }
        const double cores = c->node.cores;
        for (double p = divisor_after(cores, 0); p <= cores; p = divisor_after(cores, p)) {
            struct hm_cluster *divided = hm__arena_alloc(arena, 1, sizeof(*divided));
            if (!divided)
                return hm__fail_nomem(err);
            *divided = *c;
            cluster_divide(divided, p);
            list[used++] = divided;
        }
    }
    *ret_clusters = list;
    *ret_count = used;
    return 0;
}

bool hm__processes_chosen(const struct hm_cluster *c)
{
    return c && c->threads_auto && c->node.threads > 0;
}

int hm__answer_processes(struct hm_answer *a, const struct hm_search *s, double single_s,
                         struct hm_err *err)
{
    const struct hm_cluster *c = s->cluster;
    struct hm_notes notes = {a->memory, &a->notes, &a->note_count};

    a->processes = a->threads = NAN;
    if (c && c->threads_auto && !hm__processes_chosen(c))
        return hm__notes_add(notes, err,
                             "threads: auto applies to a network with layers on a machine whose "
                             "cores are known, so one process uses all cores");
    if (!hm__processes_chosen(c))
        return 0;
    a->processes = c->node.accelerators;
    a->threads = c->node.threads;
    if (a->recommended >= a->point_count || !(single_s > 0))
        return 0;
    if (a->processes == 1)
        return hm__notes_add(notes, err,
                             "one process of %.0f threads on a machine is better than several",
                             a->threads);
    return hm__notes_add(notes, err,
                         "%.0f processes of %.0f thread%s on a machine: %.3gx the speed of one "
                         "process on all cores",
                         a->processes, a->threads, a->threads > 1 ? "s" : "",
                         single_s / a->points[a->best].total_s);
}
