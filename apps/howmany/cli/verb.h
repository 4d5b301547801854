/* Commands that are requests: options become fields, the reply goes to the terminal. */
#ifndef HM_CLI_VERB_H
#define HM_CLI_VERB_H

#include <stdio.h>

#include "cli.h"
#include "own_store.h"
#include "request.h"

/* The state of a request from the command line. */
struct verb_words;

struct cli_verb_call {
    const struct verb_words *words; /* The arguments as given. */
    const struct hm_verb *verb;
    struct hm_request *request;
    struct hm_context context;
    struct cli_store_access store;
    struct cli_progress progress;
    struct hm_catalog *catalog; /* With the user's own files; NULL: the built-in one. */
    FILE *output;               /* File for the parts of a long answer; NULL: standard output. */
    const char *output_path;    /* Name of that file, for messages. */
};

/* Parse the arguments of a command with verbs, run the request and print the reply. Returns the
 * exit code. */
int cli_verb_run(const struct cli_command *command, int argc, char **argv);

/* For `prepare`: the value of an option or operand; NULL if it was not given. */
const char *cli_verb_value(const struct cli_verb_call *call, const char *field);

#endif
