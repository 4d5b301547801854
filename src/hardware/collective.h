/* What it costs to move a message among n workers, by scheme. */
#ifndef HM_COLLECTIVE_H
#define HM_COLLECTIVE_H

#include "howmany.h"

/* How workers are joined: `per_node` of them share a node, its inner link and one network port. */
struct hm_wires {
    struct hm_link network; /* between nodes, of one node */
    struct hm_link link;    /* between workers of a node; unused when per_node is 1 */
    double per_node;
    double servers; /* shards of a parameter server */
    bool colocated; /* they are on the first nodes of the workers */
    bool outside;   /* servers or a driver are on nodes of their own: never by the inner link */
};

/* The two parts of a time: waiting for messages, and moving their bytes. */
struct hm_wire_time {
    double latency_s, bandwidth_s;
};

/* n >= 1 workers, a message of `bytes`. HM_SCHEME_BEST gives the cheapest all-reduce. */
struct hm_wire_time hm__collective_eval(enum hm_scheme scheme, double n, double bytes,
                                        const struct hm_wires *wires);
/* What a message to the shards, or one back from them, takes of each side. */
struct hm_server_load {
    double latency_s;
    double worker_s; /* the port of a worker's node */
    double server_s; /* the port of a server, for the messages of all n workers */
};

struct hm_server_load hm__collective_server(double n, double bytes, const struct hm_wires *wires);
/* The all-reduce scheme that is cheapest at n (never the parameter server, which needs more). */
enum hm_scheme hm__collective_best(double n, double bytes, const struct hm_wires *wires);
/* How its time grows: "with sqrt(n)". */
const char *hm__collective_growth(enum hm_scheme scheme);

#endif
