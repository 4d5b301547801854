/*
 * The time of an all-reduce of M bytes among n workers on N nodes, with g workers in each node.
 *
 * Each worker sends and receives s = 2(n-1)/n M bytes: over the links inside a node, and over the
 * ports of the node, which all its workers share. The slower of both limits the transfer: s /
 * min(link, port). If the switch of a node adds up the messages itself (NVLink SHARP), the links
 * carry fewer bytes. A collective has a fixed start cost, and each hop of the tree adds a latency:
 *
 *     start + 2 ceil(log2 g) link latency + 2 ceil(log2 N) (fabric latency + software)
 *
 * A message of medium size does not fill the links, which costs fill * x/(1+x) more seconds, where
 * x is the transfer time divided by `fill`. Limits: only one collective runs at a time, and the
 * switch is ideal except that each doubling of the nodes loses a share of the bandwidth.
 */
#include "allreduce.h"

#include <math.h>

static double up_log2(double n)
{
    return n > 1 ? ceil(log2(n) - 1e-9) : 0;
}

struct hm_allreduce hm__allreduce_init(enum hm_scheme scheme, double n, const struct hm_wires *w,
                                       const struct hm_constants *k)
{
    double inside = fmin(n, w->per_node), nodes = ceil(n / w->per_node);
    double link = w->link.bandwidth_bytes_per_s * k->coll_link;
    double latency = k->coll_start * 1e-6, rate = INFINITY;
    struct hm_allreduce a = {.scheme = scheme, .fill_s = k->coll_fill * 1e-6};

    if (n <= 1)
        return (struct hm_allreduce){.scheme = HM_SCHEME_RING};
    if (scheme != HM_SCHEME_BEST) {
        struct hm_wires reached = *w;
        reached.link.bandwidth_bytes_per_s = link;
        reached.link.latency_s *= k->coll_hop;
        reached.fabric.bandwidth_bytes_per_s *= k->coll_port;
        reached.fabric.latency_s += k->coll_net * 1e-6;
        /*
         * A message takes a latency plus its bytes times a time per byte, so evaluating a message
         * of one byte gives both coefficients.
         */
        struct hm_wire_time time = hm__collective_eval(scheme, n, 1, &reached);
        a.latency_s = latency + time.latency_s;
        a.per_byte_s = time.bandwidth_s;
        return a;
    }
    a.scheme = nodes > 1 && w->per_node > 1 ? HM_SCHEME_HIERARCHICAL : HM_SCHEME_RING;
    if (inside > 1) {
        rate = link * (w->link.reduces && inside > 4 ? k->coll_switch : 1);
        latency += 2 * up_log2(inside) * w->link.latency_s * k->coll_hop;
    }
    if (nodes > 1) {
        double port = w->fabric.bandwidth_bytes_per_s * k->coll_port *
                      fmax(0.3, 1 - k->coll_nodes * (log2(nodes) - 1));
        rate = fmin(fmin(rate, inside > 1 ? link : INFINITY), port);
        latency += 2 * up_log2(nodes) * (w->fabric.latency_s + k->coll_net * 1e-6);
    }
    a.latency_s = latency;
    a.per_byte_s = 2 * (n - 1) / n / rate;
    return a;
}

struct hm_wire_time hm__allreduce_time(const struct hm_allreduce *a, double bytes)
{
    double transfer = a->per_byte_s * bytes;
    double fill = transfer > 0 ? a->fill_s * transfer / (a->fill_s + transfer) : 0;

    return (struct hm_wire_time){a->latency_s + fill, transfer};
}
