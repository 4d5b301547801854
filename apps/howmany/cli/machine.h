/* A machine or cluster file with changes, for commands that simulate one. */
#ifndef HM_MACHINE_H
#define HM_MACHINE_H

#include "cli.h"
#include "request.h"

/* Zero-initialise; release with cli_machine_release. */
struct cli_machine {
    struct hm_arena *arena;
    struct hm_texts sets;       /* Assignments to keys of the cluster. */
    struct hm_catalog *catalog; /* Loaded with the machine, which borrows from it. */
};

/* Whether a name is a file name, not the name of a machine of the catalog. */
bool cli_is_cluster_file(const char *name);
/* Add an assignment such as network.latency=1ms, with or without "cluster." before it. */
int cli_machine_set(struct cli_machine *machine, const char *assignment);
/* Load the machine of that name, or the cluster file, with all assignments. */
int cli_machine_load(struct cli_machine *machine, const char *name,
                     struct hm_cluster **ret_cluster);
void cli_machine_release(struct cli_machine *machine);

#endif
