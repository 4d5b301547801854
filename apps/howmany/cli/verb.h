/* Commands that are requests: options become fields, the reply goes to the terminal. */
#ifndef HM_CLI_VERB_H
#define HM_CLI_VERB_H

#include <stdio.h>

#include "cli.h"
#include "own_store.h"
#include "request.h"

/* A request of the command line on its way. */
struct verb_words;

struct cli_verb_call {
    const struct verb_words *words; /* As they were given. */
    const struct hm_verb *verb;
    struct hm_request *request;
    struct hm_context context;
    struct cli_store_access store;
    struct cli_progress progress;
    struct hm_catalog *catalog; /* The person's own; NULL: the built-in one serves. */
    FILE *output;               /* Where pieces of a long answer go; NULL: standard output. */
    const char *output_path;    /* Of output, for messages. */
};

/* Parse the words of a command that has verbs, run the request and show the reply; exit code. */
int cli_verb_run(const struct cli_command *command, int argc, char **argv);

/* The value of an option or operand that was given; NULL: it was not. For `prepare`. */
const char *cli_verb_value(const struct cli_verb_call *call, const char *field);

#endif
