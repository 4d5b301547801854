/*
 * Renders machines, fabrics and neural networks in the catalog. An unknown value is "?" in text and
 * null in JSON.
 */
#include "catalog_render.h"

#include <math.h>

#include "format.h"

const char *hm__catalog_heading(enum hm_catalog_kind kind)
{
    static const char *const headings[] = {
        "machine                    workers             memory     fabric      $/h\n",
        "fabric              bandwidth    latency\n",
        "network                  parameters forward flop\n",
        "accelerator                                    memory\n"};

    return headings[kind];
}

/* ---- machines ----------------------------------------------------------------------------------
 */

static double known_flops(const struct hm_node *n)
{
    return n->flops_32 > 0   ? n->flops_32
           : n->flops_64 > 0 ? n->flops_64
           : n->flops_16 > 0 ? n->flops_16
                             : n->flops_bf16;
}

void hm__render_machine_line(struct hm_text *out, const char *name, const struct hm_cluster *c,
                             const char *title)
{
    char flops[HM_SHOWN] = "?", memory[HM_SHOWN] = "?", rate[HM_SHOWN] = "?", price[HM_SHOWN] = "?";

    if (known_flops(&c->node) > 0)
        hm__show_flops(known_flops(&c->node), flops);
    if (c->node.memory_bytes > 0)
        hm__show_bytes(c->node.memory_bytes, memory);
    if (c->fabric.bandwidth_bytes_per_s > 0)
        hm__show_rate(c->fabric.bandwidth_bytes_per_s, rate);
    if (c->node.price_per_s >= 0)
        hm__show_money(c->node.price_per_s * 3600, price);
    hm__text_addf(out, "%-26s %3g x %-13s %-9s %-12s %-8s %s\n", name, c->node.accelerators, flops,
                  memory, rate, price, title ? title : "");
}

void hm__render_machine(struct hm_text *out, const struct hm_cluster *c)
{
    const struct {
        const char *key;
        double value;
        const char *(*show)(double, char *);
    } rows[] = {
        {"flops 16 bit", c->node.flops_16, hm__show_flops},
        {"flops 32 bit", c->node.flops_32, hm__show_flops},
        {"flops 64 bit", c->node.flops_64, hm__show_flops},
        {"flops tf32", c->node.flops_tf32, hm__show_flops},
        {"flops bf16", c->node.flops_bf16, hm__show_flops},
        {"flops fp8", c->node.flops_fp8, hm__show_flops},
        {"flops fp4", c->node.flops_fp4, hm__show_flops},
        {"processors", c->node.processors, hm__show_number},
        {"cores", c->node.cores, hm__show_number},
        {"threads", c->node.threads, hm__show_number},
        {"cache", c->node.cache_bytes, hm__show_bytes},
        {"matrix products", c->node.matrix_efficiency, hm__show_number},
        {"efficiency", c->node.efficiency, hm__show_number},
        {"memory", c->node.memory_bytes, hm__show_bytes},
        {"its bandwidth", c->node.memory_bandwidth_bytes_per_s, hm__show_byte_rate},
        {"kernel overhead", c->node.kernel_overhead_s, hm__show_time},
        {"workers", c->node.accelerators, hm__show_number},
        {"link", c->node.link.bandwidth_bytes_per_s, hm__show_byte_rate},
        {"link latency", c->node.link.latency_s, hm__show_time},
        {"fabric", c->fabric.bandwidth_bytes_per_s, hm__show_rate},
        {"latency", c->fabric.latency_s, hm__show_time},
    };
    char shown[HM_SHOWN];

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].value > 0)
            hm__text_addf(out, "%-16s %s\n", rows[i].key, rows[i].show(rows[i].value, shown));
    hm__text_addf(out, "%-16s %s\n", "price an hour",
                  c->node.price_per_s >= 0 ? hm__show_money(c->node.price_per_s * 3600, shown)
                                           : "not known");
    if (c->assumed)
        hm__text_addf(out, "%-16s %s\n", "assumed", c->assumed);
    if (c->node.measured.date && c->node.measured.uncertainty > 0)
        hm__text_addf(out, "%-16s %s, within %.1f %%\n", "measured", c->node.measured.date,
                      100 * c->node.measured.uncertainty);
    else if (c->node.measured.date)
        hm__text_addf(out, "%-16s %s\n", "measured", c->node.measured.date);
}

/*
 * Writes a property of a machine as JSON; a value of 0 or less means unknown and is written as
 * null.
 */
static void put_figure(struct hm_json *json, const char *key, double value)
{
    hm__json_put_number(json, key, value > 0 ? value : NAN);
}

void hm__render_machine_json(struct hm_json *json, const struct hm_cluster *c)
{
    const struct hm_node *n = &c->node;

    put_figure(json, "flops_16", n->flops_16);
    put_figure(json, "flops_32", n->flops_32);
    put_figure(json, "flops_64", n->flops_64);
    put_figure(json, "flops_bf16", n->flops_bf16);
    put_figure(json, "flops_tf32", n->flops_tf32);
    put_figure(json, "flops_fp8", n->flops_fp8);
    put_figure(json, "flops_fp4", n->flops_fp4);
    put_figure(json, "processors", n->processors);
    put_figure(json, "cores", n->cores);
    put_figure(json, "threads", n->threads);
    put_figure(json, "cache_bytes", n->cache_bytes);
    put_figure(json, "matrix_efficiency", n->matrix_efficiency);
    put_figure(json, "efficiency", n->efficiency);
    put_figure(json, "memory_bandwidth_bytes_per_s", n->memory_bandwidth_bytes_per_s);
    put_figure(json, "kernel_overhead_s", n->kernel_overhead_s);
    put_figure(json, "memory_bytes", n->memory_bytes);
    put_figure(json, "accelerators", n->accelerators);
    put_figure(json, "host_memory_bytes", n->host_memory_bytes);
    put_figure(json, "link_bandwidth_bytes_per_s", n->link.bandwidth_bytes_per_s);
    put_figure(json, "link_latency_s", n->link.latency_s);
    put_figure(json, "bandwidth_bytes_per_s", c->fabric.bandwidth_bytes_per_s);
    put_figure(json, "latency_s", c->fabric.latency_s);
    hm__json_put_number(json, "price_per_h", n->price_per_s >= 0 ? n->price_per_s * 3600 : NAN);
    hm__json_put_text(json, "assumed", c->assumed);
}

/* ---- fabrics and neural networks ---------------------------------------------------------------
 */

void hm__render_fabric_line(struct hm_text *out, const char *name, const struct hm_link *link,
                            const char *title)
{
    char rate[HM_SHOWN], time[HM_SHOWN];

    hm__text_addf(out, "%-16s %12s %10s  %s\n", name,
                  hm__show_rate(link->bandwidth_bytes_per_s, rate),
                  hm__show_time(link->latency_s, time), title ? title : "");
}

void hm__render_fabric_json(struct hm_json *json, const struct hm_link *link)
{
    put_figure(json, "bandwidth_bytes_per_s", link->bandwidth_bytes_per_s);
    hm__json_put_number(json, "latency_s", link->latency_s);
}

void hm__render_network_line(struct hm_text *out, const char *name, const struct hm_counts *counts,
                             const char *title)
{
    if (counts)
        hm__text_addf(out, "%-22s %12.4g %12.4g  %s\n", name, counts->parameters,
                      counts->forward_flop, title ? title : "");
    else
        hm__text_addf(out, "%-22s %12s %12s  %s\n", name, "", "", title ? title : "");
}

void hm__render_network_json(struct hm_json *json, const struct hm_counts *counts)
{
    put_figure(json, "parameters", counts ? counts->parameters : NAN);
    put_figure(json, "forward_flop", counts ? counts->forward_flop : NAN);
}

void hm__render_transformer_line(struct hm_text *out, const char *name,
                                 const struct hm_transformer_size *size, const char *title)
{
    hm__text_addf(out, "%-22s %12.4g %12s  %s\n", name, size->parameters, "", title ? title : "");
}

void hm__render_transformer(struct hm_text *out, const struct hm_transformer_size *size)
{
    const struct hm_transformer *x = size->network;
    const struct {
        const char *key;
        double value;
    } rows[] = {
        {"parameters", size->parameters},
        {"published", x->published_parameters},
        {"used by a token", size->active},
        {"layers", x->layers},
        {"hidden", x->hidden},
        {"ffn", x->ffn},
        {"heads", x->heads},
        {"kv_heads", x->kv_heads},
        {"head_dim", x->head_dim},
        {"vocabulary", x->vocabulary},
        {"experts", x->experts},
        {"experts/token", x->experts_per_token},
        {"expert_ffn", x->expert_ffn},
        {"shared_ffn", x->shared_ffn},
        {"expert_groups", x->expert_groups},
        {"groups/token", x->groups_per_token},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].value > 0)
            hm__text_addf(out, "%-16s %.0f\n", rows[i].key, rows[i].value);
}

void hm__render_transformer_json(struct hm_json *json, const struct hm_transformer_size *size)
{
    put_figure(json, "parameters", size->parameters);
    put_figure(json, "active_parameters", size->active);
    put_figure(json, "forward_flop", NAN);
}
