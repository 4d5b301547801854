/*
 * Computes the times of collective operations in the latency-bandwidth model: a message of M bytes
 * takes a + M*b seconds on a link with latency a and bandwidth 1/b.
 *
 *     linear              (n-1)(a + Mb)                  one master, which is also a worker
 *     tree                ceil(log2 n)(a + Mb)           binomial tree, one direction
 *     tree-smooth         log2 n (a + Mb)                as tree, but continuous in n
 *     torrent             log2 n Mb
 *     two-wave            2 ceil(sqrt n) Mb              Spark's treeAggregate; the driver is a
 *                                                        separate machine, so n = 1 has a cost
 *     recursive-doubling  ceil(log2 n)(a + Mb)
 *     rabenseifner        2 ceil(log2 n) a + 2(n-1)/n Mb
 *     ring                2(n-1) a + 2(n-1)/n Mb
 *     parameter-server    2(a + max(Mb, n Mb/s))         s servers with one link each
 *     shuffle             (n-1) a + (n-1)/n Mb
 *     serial              a + Mb, for n > 1              all bytes are sent once over one link
 *     gossip-ring         2(a + Mb), n > 2; a + Mb, n = 2    averages with both neighbours in a
 * ring gossip-exp          a + Mb, for n > 1              averages with one neighbour of an
 *                                                        exponential graph
 *     hierarchical        ring reduce-scatter and all-gather inside the node, ring all-reduce of
 *                         M/g between nodes, all g workers at once through the node's one port
 *
 * With g > 1 workers in a node, one node uses only its inner link. Several nodes use the fabric.
 * When all workers of a node send at the same time, they share the node's port, so Mb is multiplied
 * by g. Mb is not multiplied for a ring (including gossip-ring), which crosses each port once, or
 * for a master, which is one machine.
 *
 * If servers run on the nodes of the workers, a worker sends (s-1)/s of a message through its port,
 * and a server receives the messages of all workers except the workers on its own node, (n-g) Mb/s;
 * a port sends and receives at the same time.
 *
 * Limits: congestion inside the fabric and the arithmetic of reductions are not modelled.
 *
 * Sources: Thakur, Rabenseifner, Gropp 2005; Patarasuk and Yuan 2009; Ulanov et al. 2016.
 */
#include "collective.h"

#include <math.h>

/* Returns ceil(log2 n) for a whole number n >= 1. */
static double ceil_log2(double n)
{
    /* From here on, the rounding of log2 does not matter, and n may be larger than any integer. */
    if (n >= 0x1p53)
        return ceil(log2(n));
    unsigned long long below = (unsigned long long)n - 1;
    return below == 0 ? 0 : 64 - __builtin_clzll(below);
}

static struct hm_wire_time ring_time(double n, double bytes, const struct hm_link *on)
{
    /*
     * A single worker sends nothing. This case is handled first, because the cluster may have no
     * fabric.
     */
    if (n == 1)
        return (struct hm_wire_time){0, 0};
    return (struct hm_wire_time){2 * (n - 1) * on->latency_s,
                                 2 * (n - 1) / n * bytes / on->bandwidth_bytes_per_s};
}

static struct hm_wire_time hierarchical_time(double n, double bytes, const struct hm_wires *w)
{
    double inside = n < w->per_node ? n : w->per_node;
    struct hm_wire_time in = ring_time(inside, bytes, inside > 1 ? &w->link : &w->fabric);
    struct hm_wire_time out = ring_time(ceil(n / w->per_node), bytes, &w->fabric);

    return (struct hm_wire_time){in.latency_s + out.latency_s, in.bandwidth_s + out.bandwidth_s};
}

struct hm_server_load hm__collective_server(double n, double bytes, const struct hm_wires *w)
{
    bool inside = !w->outside && w->per_node > 1 && n <= w->per_node;
    const struct hm_link *on = inside ? &w->link : &w->fabric;
    double mb = bytes / on->bandwidth_bytes_per_s;
    double here = inside ? 1 : fmin(n, w->per_node); /* Number of workers per network port. */
    struct hm_server_load load = {on->latency_s, here * mb, n * mb / w->servers};

    if (!w->colocated)
        return load;
    /* All workers are in one node, which also holds all shards, so nothing is sent. */
    if (n <= w->per_node)
        return (struct hm_server_load){0, 0, 0};
    /*
     * A worker does not send the shard that its own node holds, and a server receives no message
     * from its own node.
     */
    load.worker_s *= (w->servers - 1) / w->servers;
    load.server_s *= (n - here) / n;
    return load;
}

struct hm_wire_time hm__collective_eval(enum hm_scheme scheme, double n, double bytes,
                                        const struct hm_wires *w)
{
    bool inside = !w->outside && w->per_node > 1 && n <= w->per_node;
    const struct hm_link *on = inside ? &w->link : &w->fabric;
    double a = on->latency_s, mb = bytes / on->bandwidth_bytes_per_s;
    double shared = inside || w->per_node == 1 ? mb : mb * fmin(n, w->per_node);
    struct hm_server_load load;

    switch (scheme) {
    case HM_SCHEME_RING:
        return ring_time(n, bytes, on);
    case HM_SCHEME_RABENSEIFNER:
        return (struct hm_wire_time){2 * ceil_log2(n) * a, 2 * (n - 1) / n * shared};
    case HM_SCHEME_RECURSIVE_DOUBLING:
    case HM_SCHEME_TREE:
        return (struct hm_wire_time){ceil_log2(n) * a, ceil_log2(n) * shared};
    case HM_SCHEME_HIERARCHICAL:
        return hierarchical_time(n, bytes, w);
    case HM_SCHEME_PARAMETER_SERVER:
        load = hm__collective_server(n, bytes, w);
        return (struct hm_wire_time){2 * load.latency_s, 2 * fmax(load.worker_s, load.server_s)};
    case HM_SCHEME_LINEAR:
        return (struct hm_wire_time){(n - 1) * a, (n - 1) * mb};
    case HM_SCHEME_TREE_SMOOTH:
        return (struct hm_wire_time){log2(n) * a, log2(n) * shared};
    case HM_SCHEME_TORRENT:
        return (struct hm_wire_time){0, log2(n) * shared};
    case HM_SCHEME_TWO_WAVE:
        return (struct hm_wire_time){0, 2 * ceil(sqrt(n)) * mb};
    case HM_SCHEME_SHUFFLE:
        return (struct hm_wire_time){(n - 1) * a, (n - 1) / n * shared};
    case HM_SCHEME_SERIAL:
        return (struct hm_wire_time){n > 1 ? a : 0, n > 1 ? mb : 0};
    case HM_SCHEME_GOSSIP_RING:
        return (struct hm_wire_time){fmin(n - 1, 2) * a, n > 1 ? fmin(n - 1, 2) * mb : 0};
    case HM_SCHEME_GOSSIP_EXP:
        return (struct hm_wire_time){n > 1 ? a : 0, n > 1 ? shared : 0};
    case HM_SCHEME_BEST:
        break;
    }
    return hm__collective_eval(hm__collective_best(n, bytes, w), n, bytes, w);
}

enum hm_scheme hm__collective_best(double n, double bytes, const struct hm_wires *w)
{
    static const enum hm_scheme candidates[] = {HM_SCHEME_RING, HM_SCHEME_RABENSEIFNER,
                                                HM_SCHEME_RECURSIVE_DOUBLING,
                                                HM_SCHEME_HIERARCHICAL};
    enum hm_scheme best = HM_SCHEME_RING;
    double least = INFINITY;

    for (int i = 0; i < (w->per_node > 1 ? 4 : 3); i++) {
        struct hm_wire_time t = hm__collective_eval(candidates[i], n, bytes, w);
        if (t.latency_s + t.bandwidth_s < least) {
            least = t.latency_s + t.bandwidth_s;
            best = candidates[i];
        }
    }
    return best;
}

const char *hm__collective_growth(enum hm_scheme scheme)
{
    switch (scheme) {
    case HM_SCHEME_RING:
        return "nears twice the message, and its latency grows with n";
    case HM_SCHEME_RABENSEIFNER:
        return "nears twice the message, and its latency grows with log2(n)";
    case HM_SCHEME_HIERARCHICAL:
        return "nears twice the message, and its latency grows with the nodes";
    case HM_SCHEME_PARAMETER_SERVER:
        return "grows with n once the servers' links are full";
    case HM_SCHEME_LINEAR:
        return "grows with n";
    case HM_SCHEME_TWO_WAVE:
        return "grows with sqrt(n)";
    case HM_SCHEME_SHUFFLE:
        return "nears the message, and its latency grows with n";
    case HM_SCHEME_SERIAL:
        return "takes the whole message over one link";
    case HM_SCHEME_GOSSIP_RING:
        return "takes two messages, whatever n";
    case HM_SCHEME_GOSSIP_EXP:
        return "takes one message, whatever n";
    default:
        return "grows with log2(n)";
    }
}
