/*
 * Loads a machine or cluster file and applies the assignments of --set, for commands that simulate
 * a cluster.
 */
#ifndef HM_MACHINE_H
#define HM_MACHINE_H

#include "cli.h"
#include "request.h"

/*
 * A machine with the catalog and the assignments that it was loaded with. Zero-initialise the
 * struct, and release it with cli_machine_release.
 */
struct cli_machine {
    struct hm_arena *arena;
    struct hm_texts sets; /* Assignments to keys of the cluster, from --set. */
    /* Catalog that was loaded for the machine; the machine points into it. */
    struct hm_catalog *catalog;
};

/* Adds an assignment such as fabric.latency=1ms; the key may begin with "cluster.". */
int cli_machine_set(struct cli_machine *machine, const char *assignment);
/* Loads the machine or cluster file `name` and applies all assignments. */
int cli_machine_load(struct cli_machine *machine, const char *name,
                     struct hm_cluster **ret_cluster);
void cli_machine_release(struct cli_machine *machine);

#endif
