/*
 * Models the TensorFlow strategies (tf.distribute) and checks what they need from a machine. Most
 * strategies are other names for platforms. Central storage keeps the variables in the memory of
 * the host: each accelerator sends its gradients to the host and fetches the variables, through PCI
 * Express or through the link of the machine if that is slower, and the host is modelled as a
 * server whose port is such a link. Limit: a host with several PCI Express root complexes is faster
 * than this.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model_state.h"

/*
 * Returns the bandwidth in bytes per second of an accelerator's PCI Express link, at 80 % of its
 * rate.
 */
static double host_bandwidth(const struct hm_node *node)
{
    switch (node->generation) {
    case HM_GENERATION_VOLTA:
        return 12.6e9;
    case HM_GENERATION_HOPPER:
    case HM_GENERATION_BLACKWELL:
        return 50.4e9;
    default:
        return 25.2e9;
    }
}

/* Returns whether the name or the title of a machine says that its accelerators are TPUs. */
static bool has_tpus(const struct hm_cluster *c)
{
    return (c->title && (strstr(c->title, "TPU") || strstr(c->title, "tpu"))) ||
           (c->name && (strstr(c->name, "TPU") || strstr(c->name, "tpu")));
}

int hm__model_set_strategy(struct hm_model *m, struct hm_err *err)
{
    const struct hm_cluster *c = m->cluster;
    const char *name = c->name ? c->name : "the machine";
    char text[160];

    if (m->variant.way.strategy == HM_STRATEGY_TPU && !has_tpus(c)) {
        snprintf(text, sizeof(text), "TPUStrategy needs TPUs, and %.60s has none", name);
        return hm__model_fail_missing(m, "platform", text,
                                      "name a machine with TPUs, such as tpu-v4, or use "
                                      "multi-worker-mirrored",
                                      err);
    }
    if (m->variant.way.strategy != HM_STRATEGY_CENTRAL_STORAGE)
        return 0;
    if (c->node.cores > 0 || !(c->node.accelerators > 1)) {
        snprintf(text, sizeof(text),
                 "CentralStorageStrategy needs several accelerators in one machine, and %.60s has "
                 "none",
                 name);
        return hm__model_fail_missing(m, "platform", text,
                                      "name a machine with accelerators, such as p3.16xlarge", err);
    }
    double link = c->node.link.bandwidth_bytes_per_s, host = host_bandwidth(&c->node);
    m->wires.fabric = (struct hm_link){.bandwidth_bytes_per_s = link < host ? link : host,
                                       .latency_s = c->node.link.latency_s};
    m->wires.per_node = 1;
    m->wires.colocated = false;
    m->wires.outside = true;
    return 0;
}
