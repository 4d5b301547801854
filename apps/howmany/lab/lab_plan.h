/*
 * Describes a laboratory (a cluster of network namespaces on one machine) and the commands that
 * create it. These functions only compute strings and do not need root.
 *
 * Node i of lab NAME is the network namespace NAME-i with one interface, lab0, with the address
 * 10.87.0.i. The other end of its veth pair is called labi and is in the namespace NAME-net, where
 * all pairs are connected. Therefore, a lab adds no interface to the machine's own namespace, and
 * deleting the lab's namespaces removes the lab.
 */
#ifndef HM_LAB_PLAN_H
#define HM_LAB_PLAN_H

#include "command_line.h"

struct hm_json;

#define LAB_SUBNET "10.87.0.0/24"
#define LAB_FOLDER "/run/howmany"   /* Folder that contains a folder for each lab (lab_path). */
#define LAB_NAMESPACES "/run/netns" /* Folder of the namespaces that `ip netns` creates. */

enum { LAB_NODES_MAX = 64, LAB_NAME_MAX = 32, LAB_TEXT = 96 };

/* Mechanism by which the network of a lab delays and drops packets. */
enum lab_way {
    LAB_PLAIN, /* There is no mechanism, because the lab has neither latency nor loss. */
    LAB_NETEM, /* The netem queue of the kernel. */
    LAB_VDE    /* The processes wirefilter and vde_switch of VDE, which forward the packets. */
};

struct lab_spec {
    char name[LAB_NAME_MAX + 1];
    size_t n;         /* Number of nodes of the lab. */
    double latency_s; /* One-way latency from any node to any other node, in seconds. */
    double bandwidth; /* Bandwidth of a node in each direction, in bytes/s; 0 if unlimited. */
    double loss;      /* Share of packets that are dropped; at least 0 and below 1. */
    enum lab_way way;
};

/* One of the commands that create a lab. */
struct lab_step {
    struct launch_command command;
    bool background;      /* True if the command keeps running in the background. */
    char ready[LAB_TEXT]; /* Path of a file that exists when the background command is ready. */
};

struct lab_plan {
    struct lab_step *steps; /* Array of commands; owned. */
    size_t count, room;
};

/* ---- names: each writes into text[LAB_TEXT] and returns it ---------------------------------- */

/*
 * Writes the name of the namespace of a node, which is also its host name, such as "howmany-1";
 * nodes are counted from 1.
 */
const char *lab_node(const char *name, size_t node, char *text);
/* Writes the name of the namespace that connects the nodes, such as "howmany-net". */
const char *lab_net(const char *name, char *text);
/* Writes the IP address of a node, such as "10.87.0.1". */
const char *lab_address(size_t node, char *text);
/*
 * Writes the path of a file in the lab's folder, such as "/run/howmany/NAME/FILE"; if `file` is
 * NULL, writes the path of the folder.
 */
const char *lab_path(const char *name, const char *file, char *text);
/* Writes the path of the hostfile of mpirun that contains the first n nodes. */
const char *lab_hostfile(const char *name, size_t n, char *text);
/* Writes the path of a namespace, such as "/run/netns/howmany-1". */
const char *lab_namespace(const char *space, char *text);
const char *lab_way_name(enum lab_way way);

/* Returns the number of the node whose namespace has the name `space`; 0 for NAME-net, -1 if the
 * namespace does not belong to this lab. */
int lab_node_of(const char *name, const char *space);
/* Returns the number of the node (1 to n) that a string names by its number, host name or address;
 * 0 if it names none. */
size_t lab_find_node(const char *name, size_t n, const char *text);

/* ---- checks and the plan --------------------------------------------------------------------- */

int lab_name_check(const char *name, struct hm_err *err);

/* Creates the ordered list of the commands that create a lab; the caller releases it. */
int lab_plan_make(const struct lab_spec *spec, struct lab_plan *ret_plan, struct hm_err *err);
void lab_plan_release(struct lab_plan *plan);

/* ---- texts: released by the caller ----------------------------------------------------------- */

/* Writes the contents of the file /etc/hosts that all nodes use. */
void lab_hosts_text(const struct lab_spec *spec, struct hm_text *out);
/* Writes a hostfile for mpirun of Open MPI with the first n nodes. */
void lab_hostfile_text(const struct lab_spec *spec, size_t n, struct hm_text *out);
/* Adds the settings of a lab as members of an open JSON object. */
void lab_spec_put(const struct lab_spec *spec, struct hm_json *json);
int lab_spec_read(const char *text, size_t length, const char *source, struct lab_spec *ret_spec,
                  struct hm_err *err);
/*
 * Writes a description of a lab, such as "4 nodes, 20.0 ms one way, 1.00 Gbit/s, 0.1 % lost, by
 * vde".
 */
void lab_spec_describe(const struct lab_spec *spec, struct hm_text *out);

#endif
