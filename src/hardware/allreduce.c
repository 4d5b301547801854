/*
 * Computes the time of an all-reduce of M bytes among n workers on N nodes, with g workers in each
 * node.
 *
 * The workers of a node add up their messages over the links inside it, each sending 2(g-1)/g M
 * bytes; the nodes exchange the sums through their ports, sending 2(N-1)/N M bytes each. Both
 * stages run as one pipeline, so the transfer time x is the time of the slower stage. If the switch
 * of a node adds up the messages itself (NVLink SHARP), the links carry fewer bytes; switches of
 * several servers form a tree, those of several racks do not. The time of small messages consists
 * of a start cost, a hop from each worker of a node to the next, and a tree of nodes:
 *
 *     start + 2 (g-1) link latency + 2 ceil(log2 N) fabric latency
 *
 * Larger messages are sent with a protocol that reaches the full bandwidth and synchronises more
 * often (NCCL calls it Simple), which costs up to `floor` seconds more (half of that at M =
 * `half`). The floor has a constant component for the links, which is not needed if a switch adds
 * up the messages, and several fabric latencies for each hop between nodes. Until the pipeline is
 * full, another fill * x/(fill+x) seconds are lost; between nodes, the pipeline holds a constant
 * number of bytes for each worker of a node, so that slow ports take longer to fill.
 *
 * Limits: only one collective runs at a time, and the fabric is ideal except that each doubling of
 * the nodes loses a share of the bandwidth.
 */
#include "allreduce.h"

#include <math.h>

/* Largest number of workers in a node whose switch takes part in a tree of several nodes. */
static const double TREE_NODE_MOST = 16;

static double up_log2(double n)
{
    return n > 1 ? ceil(log2(n) - 1e-9) : 0;
}

/* Returns the all-reduce that a collective library would choose: a ring, or, for several nodes
 * with several workers each, one stage inside the nodes and one between them. */
static struct hm_allreduce allreduce_staged(double n, const struct hm_wires *w,
                                            const struct hm_constants *k)
{
    double inside = fmin(n, w->per_node), nodes = ceil(n / w->per_node);
    double link = w->link.bandwidth_bytes_per_s * k->coll_link;
    /*
     * In a mesh, a worker uses only its links to workers that take part in the all-reduce, so the
     * other links of a partly used node are idle.
     */
    if (w->link.mesh && inside > 1)
        link *= (inside - 1) / (w->per_node - 1);
    bool adds = w->link.reduces && inside > 4 && (nodes == 1 || inside <= TREE_NODE_MOST);
    struct hm_allreduce a = {.scheme = HM_SCHEME_RING,
                             .latency_s = k->coll_start * 1e-6,
                             .half_bytes = k->coll_half * 1e3,
                             .fill_s = k->coll_fill * 1e-6};

    if (inside > 1) {
        a.latency_s += 2 * (inside - 1) * w->link.latency_s * k->coll_hop;
        a.floor_s = adds ? 0 : k->coll_simple * 1e-6;
        double gain = !adds ? 1 : nodes > 1 ? k->coll_tree : k->coll_switch;
        a.per_byte_s = 2 * (inside - 1) / inside / (link * gain);
    }
    if (nodes > 1) {
        double hops = 2 * up_log2(nodes), port = w->fabric.bandwidth_bytes_per_s * k->coll_port;
        port *= fmax(0.3, 1 - k->coll_nodes * (log2(nodes) - 1));
        if (inside > 1)
            a.scheme = HM_SCHEME_HIERARCHICAL;
        a.latency_s += hops * w->fabric.latency_s;
        a.floor_s += hops * k->coll_net * w->fabric.latency_s;
        a.per_byte_s = fmax(a.per_byte_s, 2 * (nodes - 1) / nodes / port);
        a.fill_s += k->coll_chunk * inside * 1e6 / port;
    }
    return a;
}

struct hm_allreduce hm__allreduce_init(enum hm_scheme scheme, double n, const struct hm_wires *w,
                                       const struct hm_constants *k)
{
    if (n <= 1)
        return (struct hm_allreduce){.scheme = HM_SCHEME_RING, .half_bytes = 1};
    struct hm_allreduce a = allreduce_staged(n, w, k);
    if (scheme == HM_SCHEME_BEST)
        return a;
    struct hm_wires reached = *w;
    reached.link.bandwidth_bytes_per_s *= k->coll_link;
    reached.link.latency_s *= k->coll_hop;
    reached.fabric.bandwidth_bytes_per_s *= k->coll_port;
    /*
     * The time of a message is a latency plus its bytes times a time per byte, so the time of a
     * one-byte message determines both coefficients.
     */
    struct hm_wire_time time = hm__collective_eval(scheme, n, 1, &reached);
    a.scheme = scheme;
    a.latency_s = k->coll_start * 1e-6 + time.latency_s;
    a.per_byte_s = time.bandwidth_s;
    return a;
}

struct hm_wire_time hm__allreduce_time(const struct hm_allreduce *a, double bytes)
{
    double transfer = a->per_byte_s * bytes;
    double fill = transfer > 0 ? a->fill_s * transfer / (a->fill_s + transfer) : 0;
    double floor = a->floor_s * bytes / (bytes + a->half_bytes);

    return (struct hm_wire_time){a->latency_s + floor + fill, transfer};
}
