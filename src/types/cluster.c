/* Sets the default values of clusters, checks clusters, and frees them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "checks.h"
#include "err.h"
#include "memory.h"

enum { FIELD_TEXT = 128 };

/* Largest allowed value of a numeric field that has no other limit. */
static const double MOST = 1e30;

void hm__cluster_init(struct hm_cluster *cluster)
{
    const struct hm_link none = {.bandwidth_bytes_per_s = NAN};

    *cluster = (struct hm_cluster){.node = {.flops_16 = NAN,
                                            .flops_32 = NAN,
                                            .flops_64 = NAN,
                                            .flops_bf16 = NAN,
                                            .flops_tf32 = NAN,
                                            .flops_fp8 = NAN,
                                            .flops_fp4 = NAN,
                                            .processors = NAN,
                                            .cores = NAN,
                                            .threads = NAN,
                                            .cache_bytes = NAN,
                                            .matrix_efficiency = NAN,
                                            .efficiency = NAN,
                                            .memory_bandwidth_bytes_per_s = NAN,
                                            .memory_bytes = NAN,
                                            .accelerators = 1,
                                            .host_memory_bytes = NAN,
                                            .link = none,
                                            .price_per_s = NAN},
                                   .fabric = none,
                                   .max_nodes = NAN,
                                   .roofline = true};
}

int hm_cluster_new(struct hm_cluster **ret_cluster, struct hm_err *err)
{
    int rc = hm__check_pointer(ret_cluster, "ret_cluster", err);

    if (rc)
        return rc;
    struct hm_arena *arena = hm__arena_new();
    struct hm_cluster *cluster = arena ? hm__arena_alloc(arena, 1, sizeof(*cluster)) : NULL;
    if (!cluster) {
        hm__arena_free(arena);
        return hm__fail_nomem(err);
    }
    hm__cluster_init(cluster);
    cluster->memory = arena;
    *ret_cluster = cluster;
    return 0;
}

void hm_cluster_free(struct hm_cluster *cluster)
{
    if (cluster)
        hm__arena_free(cluster->memory);
}

/* Name, value and allowed range of a numeric field of a cluster. */
struct cluster_number {
    const char *name;
    double value, min, max;
    bool whole;
    bool optional; /* True if both 0 and NaN mean that the number is unknown. */
    bool nan;      /* True if NaN means that the number is unknown, while 0 is a valid value. */
};

static int check_numbers(const struct cluster_number *numbers, size_t count, const char *prefix,
                         struct hm_err *err)
{
    char field[FIELD_TEXT];
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < count; i++) {
        const struct cluster_number *x = &numbers[i];
        if ((x->optional && !hm__is_given(x->value)) || (x->nan && isnan(x->value)))
            continue;
        snprintf(field, sizeof(field), "%s%s", prefix, x->name);
        rc = x->whole ? hm__check_whole(field, x->value, x->min, x->max, err)
                      : hm__check_range(field, x->value, x->min, x->max, err);
    }
    return rc;
}

/*
 * Checks the factor by which slow iterations or machines are slower: it must be above 1, or 0 if
 * none are slow.
 */
static int check_factor(const char *name, double value, bool needed, const char *prefix,
                        struct hm_err *err)
{
    char field[FIELD_TEXT];

    if (value == 0 && !needed)
        return 0;
    snprintf(field, sizeof(field), "%sslowness.%s", prefix, name);
    return hm__check_above(field, value, 1, 1000, err);
}

static int check_slowness(const struct hm_slowness *s, const char *prefix, struct hm_err *err)
{
    const struct cluster_number numbers[] = {
        {"slowness.spread", s->spread, 0, 3, false, false, false},
        {"slowness.chance", s->chance, 0, 1, false, false, false},
        {"slowness.pause_s", s->pause_s, 0, 1e6, false, false, false},
        {"slowness.slow_nodes", s->slow_nodes, 0, 1e6, true, false, false},
        {"slowness.per_node", s->per_node, 0, 1e6, true, false, false},
    };
    char field[FIELD_TEXT];
    int rc = check_numbers(numbers, sizeof(numbers) / sizeof(numbers[0]), prefix, err);

    if (rc == 0)
        rc = check_factor("factor", s->factor, false, prefix, err);
    if (rc == 0)
        rc = check_factor("slow_factor", s->slow_factor, s->slow_nodes > 0, prefix, err);
    snprintf(field, sizeof(field), "%sslowness.speeds", prefix);
    if (rc == 0)
        rc = hm__check_array(s->speeds, s->speed_count, field, err);
    for (size_t i = 0; rc == 0 && i < s->speed_count; i++)
        rc = hm__check_above(field, s->speeds[i], 0, 1e6, err);
    return rc;
}

/* Checks the rates and times that were measured on a machine. */
static int check_measured(const struct hm_calibration *m, const char *prefix, struct hm_err *err)
{
    const struct hm_rates *f = &m->flops, *v = &m->convolutions;
    const struct cluster_number numbers[] = {
        {"node.measured.uncertainty", m->uncertainty, 0, 1, false, true, false},
        {"node.measured.flops.fp64", f->fp64, 0, MOST, false, true, false},
        {"node.measured.flops.fp32", f->fp32, 0, MOST, false, true, false},
        {"node.measured.flops.tf32", f->tf32, 0, MOST, false, true, false},
        {"node.measured.flops.bf16", f->bf16, 0, MOST, false, true, false},
        {"node.measured.flops.fp16", f->fp16, 0, MOST, false, true, false},
        {"node.measured.flops.fp8", f->fp8, 0, MOST, false, true, false},
        {"node.measured.convolutions.fp64", v->fp64, 0, MOST, false, true, false},
        {"node.measured.convolutions.fp32", v->fp32, 0, MOST, false, true, false},
        {"node.measured.convolutions.tf32", v->tf32, 0, MOST, false, true, false},
        {"node.measured.convolutions.bf16", v->bf16, 0, MOST, false, true, false},
        {"node.measured.convolutions.fp16", v->fp16, 0, MOST, false, true, false},
        {"node.measured.convolutions.fp8", v->fp8, 0, MOST, false, true, false},
        {"node.measured.memory_bandwidth_bytes_per_s", m->memory_bandwidth_bytes_per_s, 0, MOST,
         false, true, false},
        {"node.measured.core_bandwidth_bytes_per_s", m->core_bandwidth_bytes_per_s, 0, MOST, false,
         true, false},
        {"node.measured.kernel_s", m->kernel_s, 0, MOST, false, true, false},
    };

    return check_numbers(numbers, sizeof(numbers) / sizeof(numbers[0]), prefix, err);
}

int hm__cluster_check(const struct hm_cluster *c, const char *prefix, struct hm_err *err)
{
    int rc = hm__check_pointer(c, "cluster", err);

    if (rc)
        return rc;
    const struct hm_node *n = &c->node;
    const struct cluster_number numbers[] = {
        {"node.accelerators", n->accelerators, 1, 1024, true, false, false},
        {"node.host_memory_bytes", n->host_memory_bytes, 0, MOST, false, true, false},
        {"node.flops_16", n->flops_16, 0, MOST, false, true, false},
        {"node.flops_32", n->flops_32, 0, MOST, false, true, false},
        {"node.flops_64", n->flops_64, 0, MOST, false, true, false},
        {"node.flops_bf16", n->flops_bf16, 0, MOST, false, true, false},
        {"node.flops_tf32", n->flops_tf32, 0, MOST, false, true, false},
        {"node.flops_fp8", n->flops_fp8, 0, MOST, false, true, false},
        {"node.flops_fp4", n->flops_fp4, 0, MOST, false, true, false},
        {"node.processors", n->processors, 0, 1e6, false, true, false},
        {"node.cores", n->cores, 0, 1e6, false, true, false},
        {"node.threads", n->threads, 0, 1e6, false, true, false},
        {"node.cache_bytes", n->cache_bytes, 0, MOST, false, true, false},
        {"node.matrix_efficiency", n->matrix_efficiency, 0, 1, false, true, false},
        {"node.efficiency", n->efficiency, 0, 1, false, true, false},
        {"node.memory_bandwidth_bytes_per_s", n->memory_bandwidth_bytes_per_s, 0, MOST, false, true,
         false},
        {"node.kernel_overhead_s", n->kernel_overhead_s, 0, MOST, false, false, false},
        {"node.memory_bytes", n->memory_bytes, 0, MOST, false, true, false},
        {"node.link.bandwidth_bytes_per_s", n->link.bandwidth_bytes_per_s, 0, MOST, false, true,
         false},
        {"node.link.latency_s", n->link.latency_s, 0, MOST, false, false, false},
        {"node.price_per_s", n->price_per_s, 0, MOST, false, false, true},
        {"fabric.bandwidth_bytes_per_s", c->fabric.bandwidth_bytes_per_s, 0, MOST, false, true,
         false},
        {"fabric.latency_s", c->fabric.latency_s, 0, MOST, false, false, false},
        {"max_nodes", c->max_nodes, 1, 1e6, true, true, false},
    };
    rc = check_numbers(numbers, sizeof(numbers) / sizeof(numbers[0]), prefix, err);
    rc = rc ? rc : check_measured(&n->measured, prefix, err);
    rc = rc ? rc : hm__cluster_check_kinds(c, prefix, err);
    return rc ? rc : check_slowness(&c->slowness, prefix, err);
}

int hm_cluster_check(const struct hm_cluster *cluster, struct hm_err *err)
{
    return hm__cluster_check(cluster, "", err);
}

bool hm__cluster_has_gpus(const struct hm_cluster *c)
{
    return c->node.accelerators > 1 && !(c->node.cores > 0) && !hm__cluster_compiles(c);
}

bool hm__cluster_compiles(const struct hm_cluster *c)
{
    return c->title && (strstr(c->title, "Trainium") || strstr(c->title, "TPU"));
}
