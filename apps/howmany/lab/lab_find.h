/*
 * A laboratory (lab) is a cluster of network namespaces on one machine. These functions find the
 * namespaces, processes and the folder of a lab that exist on this machine, and remove them.
 */
#ifndef HM_LAB_FIND_H
#define HM_LAB_FIND_H

#include <sys/types.h>

#include "lab_plan.h"

struct lab_process {
    pid_t pid;
    /* Number of the node on which the process runs; 0 if the process is in the namespace NAME-net,
     * or is a switch (vde_switch) or a wire (wirefilter) outside all namespaces of the lab. */
    size_t space;
};

/*
 * The existing namespaces, processes and folder of one lab. Zero-initialise the struct, and release
 * it with lab_found_release.
 */
struct lab_found {
    bool folder; /* True if the lab's folder in /run/howmany exists. */
    bool known;  /* True if the folder contains a valid lab.json, from which `spec` is set. */
    struct lab_spec spec;
    /* True for each namespace that exists: NAME-net at index 0, node i at index i. */
    bool spaces[LAB_NODES_MAX + 1];
    size_t space_count;
    size_t highest; /* Largest number of any node whose namespace exists; 0 if there is none. */
    /*
     * Index of a namespace that does not belong to a lab, although this lab uses its name; -1 if
     * there is none. It is set only if the lab has no folder.
     */
    int foreign;
    struct lab_process *all; /* Processes in the lab's namespaces, except this process; owned. */
    size_t process_count;
    size_t processes[LAB_NODES_MAX + 1]; /* Number of processes in each namespace. */
    bool inside; /* True if this process is in one of the lab's namespaces. */
};

int lab_find(const char *name, struct lab_found *found, struct hm_err *err);
void lab_found_release(struct lab_found *found);
/* Returns whether the folder, a namespace or a process of the lab exists. */
bool lab_found_any(const struct lab_found *found);

/* Ends the processes of a lab and removes its namespaces and folder; missing ones are skipped. */
int lab_remove(const char *name, struct hm_err *err);

/* Calls `visit` with the name of each lab that has a folder. */
void lab_each(void (*visit)(void *context, const char *name), void *context);

#endif
