/* Writes a cluster as a SimGrid platform; see emit_simgrid.h. */
#include "emit_simgrid.h"

#include <math.h>

#include "err.h"
#include "text.h"

int hm__emit_simgrid(const struct hm_cluster *c, double nodes, char **ret_text, struct hm_err *err)
{
    const struct hm_node *node = &c->node;
    double flops = node->flops_32 > 0   ? node->flops_32
                   : node->flops_16 > 0 ? node->flops_16
                                        : node->flops_64;
    struct hm_text out = {0};

    if (!(flops > 0)) {
        hm__fail(err, HM_E_MISSING, "the machine has no flops");
        hm__err_field(err, "cluster.flops");
        return HM_E_MISSING;
    }
    if (nodes > 1 && !(c->fabric.bandwidth_bytes_per_s > 0)) {
        hm__fail(err, HM_E_MISSING, "the cluster has no fabric");
        hm__err_hint(err, "give cluster.fabric, such as 10gbe");
        hm__err_field(err, "cluster.fabric");
        return HM_E_MISSING;
    }
    hm__text_add(&out, "<?xml version='1.0'?>\n"
                       "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
                       "<platform version=\"4.1\">\n");
    hm__text_addf(&out,
                  "  <cluster id=\"cluster\" prefix=\"node-\" suffix=\"\" radical=\"0-%.0f\"\n",
                  nodes - 1);
    hm__text_addf(&out, "    speed=\"%.17gf\" core=\"%.0f\"\n",
                  flops * (node->efficiency > 0 ? node->efficiency : 1),
                  node->accelerators >= 1 ? node->accelerators : 1);
    hm__text_addf(&out, "    bw=\"%.17gBps\" lat=\"%.17gs\" sharing_policy=\"SPLITDUPLEX\"",
                  nodes > 1 ? c->fabric.bandwidth_bytes_per_s : 1e9,
                  nodes > 1 ? c->fabric.latency_s / 2 : 0);
    if (node->accelerators > 1 && node->link.bandwidth_bytes_per_s > 0)
        hm__text_addf(&out, "\n    loopback_bw=\"%.17gBps\" loopback_lat=\"%.17gs\"",
                      node->link.bandwidth_bytes_per_s, node->link.latency_s);
    hm__text_add(&out, "/>\n</platform>\n");
    return hm__text_take(&out, ret_text, err);
}
