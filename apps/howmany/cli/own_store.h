/*
 * Finds and opens the store of runs that commands use. The option --record names the store; without
 * it, the variable HOWMANY_DB names it; if neither is given, the store is the user's own file.
 */
#ifndef HM_CLI_STORE_H
#define HM_CLI_STORE_H

#include "cli.h"
#include "howmany_request.h"

enum { CLI_STORE_ROOM = 1024 };

/* Returns the address of the store: `record` or, if that is NULL, the value of HOWMANY_DB or, if
 * that is not set, the path of the user's own file. This path is written into `path`, and its
 * folder is created. Returns NULL with an error on failure. */
const char *cli_store_find(const char *record, char path[CLI_STORE_ROOM], struct hm_err *err);
/* Opens the store that cli_store_find returns. Returns 0, or EXIT_USAGE with a message. */
int cli_store_open(const char *record, struct hm_store **ret_store);

enum { CLI_STORES = 3 };

/* Access to stores for requests from the command line. A store is opened when it is first needed
 * and stays open. A request uses one store, or copies from one to another; a damaged one is opened
 * in two ways. */
struct cli_store_access {
    struct hm_store_access access; /* Functions that are passed to requests as hm_context.store. */
    struct hm_store *stores[CLI_STORES];
    char where[CLI_STORES][CLI_STORE_ROOM]; /* Addresses of the stores that are open. */
    int modes[CLI_STORES];                  /* How each of them was opened. */
    size_t count;
};

void cli_store_access_init(struct cli_store_access *access);
void cli_store_access_release(struct cli_store_access *access);

#endif
