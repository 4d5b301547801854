/*
 * Runs commands that are requests. Options become fields of the request, and the reply is printed.
 */
#ifndef HM_CLI_VERB_H
#define HM_CLI_VERB_H

#include <signal.h>
#include <stdio.h>

#include "cli.h"
#include "own_store.h"
#include "request.h"

/* The options and operands on a command line; defined in verb.c. */
struct verb_words;

struct cli_verb_call {
    const struct verb_words *words; /* The options and operands as the user gave them. */
    const struct hm_verb *verb;
    struct hm_request *request;
    struct hm_context context;
    struct cli_store_access store;
    struct cli_progress progress;
    /* Catalog with the user's own files; NULL if the built-in catalog is used. */
    struct hm_catalog *catalog;
    /* File to which the parts of a long reply are written; not open for standard output. */
    struct cli_draft output;
    double time_limit; /* Value of --time-limit in seconds; 0 if not given. */
};

/*
 * Parses the arguments of a command with verbs, runs the request and prints the reply. Returns the
 * exit code.
 */
int cli_verb_run(const struct cli_command *command, int argc, char **argv);

/* Returns the value of an option or operand, for the function `prepare` of a command; NULL if the
 * option or operand was not given. */
const char *cli_verb_value(const struct cli_verb_call *call, const char *field);

/* Returns whether an operand that is a file leads to the same file as `path`. */
bool cli_verb_reads(const struct cli_verb_call *call, const char *path);

/* The signal actions that were in effect before cli_interrupt_watch changed them. */
struct cli_interrupt {
    struct sigaction interrupt, alarm;
};

/* After this call, SIGINT makes cli_interrupted return true and, 80 ms later, ends the program. */
void cli_interrupt_watch(struct cli_interrupt *ret_before);
void cli_interrupt_restore(const struct cli_interrupt *before);
/*
 * Implements the function `cancelled` of struct hm_context: returns true after SIGINT. The argument
 * is not used.
 */
bool cli_interrupted(void *unused);

#endif
