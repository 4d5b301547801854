/* A machine or cluster file with changes (--set), for commands that simulate a cluster. */
#ifndef HM_MACHINE_H
#define HM_MACHINE_H

#include "cli.h"
#include "request.h"

/* Zero-initialise; release with cli_machine_release. */
struct cli_machine {
    struct hm_arena *arena;
    struct hm_texts sets;       /* Assignments to keys of the cluster, from --set. */
    struct hm_catalog *catalog; /* Loaded together with the machine, which borrows from it. */
};

/* Add an assignment such as network.latency=1ms, with or without "cluster." before it. */
int cli_machine_set(struct cli_machine *machine, const char *assignment);
/* Load the machine or cluster file with that name and apply all assignments. */
int cli_machine_load(struct cli_machine *machine, const char *name,
                     struct hm_cluster **ret_cluster);
void cli_machine_release(struct cli_machine *machine);

#endif
