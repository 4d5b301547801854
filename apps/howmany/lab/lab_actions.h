/*
 * Declares the actions of `howmany lab` on a laboratory, a cluster of network namespaces: up, run,
 * status, down and agent.
 */
#ifndef HM_LAB_ACTIONS_H
#define HM_LAB_ACTIONS_H

#include "lab_plan.h"

/* The options of one call of `howmany lab`. Zero-initialise the struct and set spec.name. */
struct lab_request {
    const char *verb; /* Name of the action, as used in messages; borrowed. */
    /* Description of the lab; the action `up` uses all members, while the other actions use only
     * the name. */
    struct lab_spec spec;
    double n;         /* Number of nodes from --n; 0 if not given. */
    const char *node; /* Name of the node from --on; NULL means node 1. Borrowed. */
    bool way_given, dry_run, json;
    bool dashes; /* True if the command was preceded by `--`. */
    /* Command of the action `run`; node and command of the action `agent`. */
    struct launch_command command;
};

/* Each function returns an exit code; if the code is not 0, a message has been printed. */

/* Creates a lab and shows its status; if `dry_run` is true, prints the commands instead. */
int lab_action_up(struct lab_request *request);
/* Replaces this process with a command that runs on a node. */
int lab_action_run(const struct lab_request *request);
/* Shows the nodes and the measured round-trip times. */
int lab_action_status(const struct lab_request *request);
/* Removes a lab and ends all its processes. */
int lab_action_down(const struct lab_request *request);
/* Replaces this process with a shell that runs a command line on a node, as ssh would run it. */
int lab_action_agent(const struct lab_request *request);

#endif
