/* The store of runs that commands use: the store named by --record, else by HOWMANY_DB, else the
 * user's own file. */
#ifndef HM_CLI_STORE_H
#define HM_CLI_STORE_H

#include "cli.h"
#include "howmany_request.h"

enum { CLI_STORE_ROOM = 1024 };

/* Returns the address of the store: record; if it is NULL, HOWMANY_DB; if that is not set, the
 * user's own file, whose folder is created. The result may point to path; NULL with an error. */
const char *cli_store_find(const char *record, char path[CLI_STORE_ROOM], struct hm_err *err);
/* Open the store that cli_store_find returns. Returns 0, or EXIT_USAGE with a message. */
int cli_store_open(const char *record, struct hm_store **ret_store);

/* The store for requests from the command line. It is opened when first needed and kept open. */
struct cli_store_access {
    struct hm_store_access access; /* Functions for hm_context.store. */
    struct hm_store *store;
};

void cli_store_access_init(struct cli_store_access *access);
void cli_store_access_release(struct cli_store_access *access);

#endif
