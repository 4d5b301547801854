/* The actions of `howmany lab`: up, run, status, down and agent. */
#ifndef HM_LAB_ACTIONS_H
#define HM_LAB_ACTIONS_H

#include "lab_plan.h"

/* The options of one call of `howmany lab`. Zero-initialise and set spec.name. */
struct lab_request {
    const char *verb;     /* Name of the action, for messages; borrowed. */
    struct lab_spec spec; /* `up` uses all of it, the other actions only the name. */
    double n;             /* --n; 0: not given. */
    const char *node;     /* --on: the node to run on; NULL: node 1. Borrowed. */
    bool way_given, dry_run, json;
    bool dashes;                   /* The command came after `--`. */
    struct launch_command command; /* The command of `run`; NODE and COMMAND of `agent`. */
};

/* Each returns an exit code, with a message unless it is 0. */

/* Make a lab and show its status; with dry_run print the commands instead. */
int lab_action_up(struct lab_request *request);
/* Replace this process by a command on a node. */
int lab_action_run(const struct lab_request *request);
/* Show the nodes and the measured round-trip times. */
int lab_action_status(const struct lab_request *request);
/* Remove a lab and end all its processes. */
int lab_action_down(const struct lab_request *request);
/* Replace this process by a line of shell on a node, as ssh would run it. */
int lab_action_agent(const struct lab_request *request);

#endif
