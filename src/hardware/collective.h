/* Computes the time in seconds to move a message among n workers with each communication scheme. */
#ifndef HM_COLLECTIVE_H
#define HM_COLLECTIVE_H

#include "howmany.h"

/* The connections between workers: `per_node` workers share a node, its inner link and its port to
 * the fabric. */
struct hm_wires {
    struct hm_link fabric; /* The port that connects a node to the other nodes. */
    struct hm_link link;   /* The link between workers of one node; unused when per_node is 1. */
    double per_node;
    double servers; /* Number of parameter servers; each holds one shard of the parameters. */
    bool colocated; /* True if the servers run on the first nodes of the workers. */
    /*
     * True if servers or a driver run on separate nodes, so that messages never use the inner link.
     */
    bool outside;
};

/* A time in seconds, split into a part due to latency and a part due to bandwidth. */
struct hm_wire_time {
    double latency_s, bandwidth_s;
};

/*
 * Returns the time of a message of `bytes` bytes among n >= 1 workers. HM_SCHEME_BEST means the
 * cheapest all-reduce.
 */
struct hm_wire_time hm__collective_eval(enum hm_scheme scheme, double n, double bytes,
                                        const struct hm_wires *wires);
/* Time in seconds that a message between workers and servers takes in one direction, at the ports
 * of both sides. */
struct hm_server_load {
    double latency_s;
    double worker_s; /* Time in seconds that the port of a worker's node needs for the transfer. */
    double server_s; /* Time in seconds that the network port of a server needs to transfer the
                        messages of all n workers. */
};

struct hm_server_load hm__collective_server(double n, double bytes, const struct hm_wires *wires);
/*
 * Returns the cheapest all-reduce scheme on n workers. It is never the parameter server, which
 * needs additional nodes.
 */
enum hm_scheme hm__collective_best(double n, double bytes, const struct hm_wires *wires);
/* Returns a phrase that says how the time of a scheme grows, such as "grows with sqrt(n)". */
const char *hm__collective_growth(enum hm_scheme scheme);

#endif
