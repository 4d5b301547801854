/*
 * A laboratory: what it is, and the commands that make it. Pure functions, which need no root.
 *
 * Node i of lab NAME is the network namespace NAME-i with one interface, lab0, at 10.87.0.i. The
 * other end of its wire, labi, is in the namespace NAME-net, where all wires are joined. So nothing
 * of a lab is in the machine's own namespace, and a lab is gone when its namespaces are.
 */
#ifndef HM_LAB_PLAN_H
#define HM_LAB_PLAN_H

#include "words.h"

#define LAB_SUBNET "10.87.0.0/24"
#define LAB_PLACES "/run/howmany"   /* a folder for each lab, see lab_place */
#define LAB_NAMESPACES "/run/netns" /* where `ip netns` keeps them */

enum { LAB_NODES_MAX = 64, LAB_NAME_MAX = 32, LAB_TEXT = 96 };

/* What delays and loses packets. */
enum lab_way {
    LAB_PLAIN, /* nothing: there is no latency and no loss */
    LAB_NETEM, /* the kernel's netem */
    LAB_VDE    /* wirefilter and vde_switch of VDE, processes that packets go through */
};

struct lab_spec {
    char name[LAB_NAME_MAX + 1];
    size_t n;         /* nodes */
    double latency_s; /* from a node to any other, one way */
    double bandwidth; /* of a node, bytes/s each way; 0: as fast as it goes */
    double loss;      /* share of packets that are lost on their way, below 1 */
    enum lab_way way;
};

/* One command of a plan. */
struct lab_step {
    struct cli_words words;
    bool stays;           /* it goes on running, and is not waited for */
    char ready[LAB_TEXT]; /* of one that stays: a file that is there once it works */
};

struct lab_plan {
    struct lab_step *steps; /* owned */
    size_t count, room;
};

/* ---- names: each writes into text[LAB_TEXT] and returns it ---------------------------------- */

const char *lab_node(const char *name, size_t node, char *text);       /* howmany-1, from 1 on */
const char *lab_net(const char *name, char *text);                     /* howmany-net */
const char *lab_address(size_t node, char *text);                      /* 10.87.0.1 */
const char *lab_place(const char *name, const char *file, char *text); /* /run/howmany/NAME/file */
const char *lab_hostfile(const char *name, size_t n, char *text);      /* for the first n nodes */
const char *lab_namespace(const char *space, char *text);              /* /run/netns/howmany-1 */
const char *lab_way_name(enum lab_way way);

/* Whether a namespace has a name of that lab: its node, 0 for NAME-net, -1 if it has none. */
int lab_node_of(const char *name, const char *space);
/* Which of n nodes a text means: a number, a name or an address; 0 if none. */
size_t lab_find_node(const char *name, size_t n, const char *text);

/* ---- what there is to do --------------------------------------------------------------------- */

int lab_name_check(const char *name, struct hm_err *err);
/* Ranges, and what its way can do. */
int lab_spec_check(const struct lab_spec *spec, struct hm_err *err);

/* The commands that make a lab, in order; released by the caller. */
int lab_plan_make(const struct lab_spec *spec, struct lab_plan *ret_plan, struct hm_err *err);
void lab_plan_release(struct lab_plan *plan);

/* ---- texts: released by the caller, complete unless ->failed --------------------------------- */

void lab_hosts_text(const struct lab_spec *spec, struct hm_text *out); /* as /etc/hosts */
void lab_hostfile_text(const struct lab_spec *spec, size_t n, struct hm_text *out);
void lab_spec_json(const struct lab_spec *spec, struct hm_text *out); /* {"lab":…, the members */
int lab_spec_read(const char *text, size_t length, const char *source, struct lab_spec *ret_spec,
                  struct hm_err *err);
/* "4 nodes, 20.0 ms, 1.00 Gbit/s, 0.1 % lost, by vde" */
void lab_spec_tell(const struct lab_spec *spec, struct hm_text *out);

#endif
