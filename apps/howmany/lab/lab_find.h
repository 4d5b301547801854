/* Finding the parts of a laboratory that exist on this machine, and removing them. */
#ifndef HM_LAB_FIND_H
#define HM_LAB_FIND_H

#include <sys/types.h>

#include "lab_plan.h"

struct lab_process {
    pid_t pid;
    size_t space; /* Its node; 0: the namespace NAME-net, or a switch or wire outside of all
                     namespaces of the lab. */
};

/* The existing parts of one lab. Zero-initialise; release with lab_found_release. */
struct lab_found {
    bool folder; /* Its folder in /run/howmany exists. */
    bool known;  /* The folder has a valid lab.json, and `spec` is set from it. */
    struct lab_spec spec;
    bool spaces[LAB_NODES_MAX + 1]; /* Namespaces that exist: node i, and NAME-net at 0. */
    size_t space_count;
    size_t highest; /* Highest node with a namespace; 0: none. */
    /* When the lab has no folder: index of a namespace that has a name of this lab but does not
     * belong to a lab; -1: there is none. */
    int foreign;
    struct lab_process *all; /* Owned: processes in its namespaces, except this process. */
    size_t process_count;
    size_t processes[LAB_NODES_MAX + 1]; /* Number of processes in each namespace. */
    bool inside;                         /* This process is in one of its namespaces. */
};

int lab_find(const char *name, struct lab_found *found, struct hm_err *err);
void lab_found_release(struct lab_found *found);
/* Whether any part of the lab exists. */
bool lab_found_any(const struct lab_found *found);

/* End the processes of a lab and remove its namespaces and folder, as far as they exist. */
int lab_remove(const char *name, struct hm_err *err);

/* Call visit with the name of each lab that has a folder. */
void lab_each(void (*visit)(void *context, const char *name), void *context);

#endif
