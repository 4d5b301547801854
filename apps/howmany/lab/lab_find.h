/* What there is of a laboratory, found from the system itself, and removing it. */
#ifndef HM_LAB_FIND_H
#define HM_LAB_FIND_H

#include <sys/types.h>

#include "lab_plan.h"

struct lab_process {
    pid_t pid;
    size_t space; /* node, 0: the net, or a switch or wire that is in no namespace of the lab */
};

/* All there is of one lab. Zero-initialise; released by the caller. */
struct lab_found {
    bool place; /* its folder in /run/howmany */
    bool known; /* which tells what it is: */
    struct lab_spec spec;
    bool spaces[LAB_NODES_MAX + 1]; /* its namespaces: node i, and NAME-net at 0 */
    size_t space_count;
    size_t highest; /* node that has a namespace; 0: none */
    /* Of a lab without folder: a namespace that has one of its names and is not of a lab; or -1. */
    int strange;
    struct lab_process *all; /* owned: processes on its nodes and in its net; never our own */
    size_t process_count;
    size_t processes[LAB_NODES_MAX + 1]; /* how many of each space */
    bool inside;                         /* we are in one of its namespaces ourselves */
};

int lab_find(const char *name, struct lab_found *found, struct hm_err *err);
void lab_found_release(struct lab_found *found);
bool lab_found_any(const struct lab_found *found);

/* End its processes, and remove its namespaces and its folder: whatever there is of them. */
int lab_remove(const char *name, struct hm_err *err);

/* Call take for the name of each lab that has a folder. */
void lab_each(void (*take)(void *context, const char *name), void *context);

#endif
