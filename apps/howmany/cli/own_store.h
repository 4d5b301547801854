/* The store that commands use: the one of --record, of HOWMANY_DB, or the user's own file. */
#ifndef HM_CLI_STORE_H
#define HM_CLI_STORE_H

#include "cli.h"
#include "howmany_request.h"

enum { CLI_STORE_ROOM = 1024 };

/* The address of the store: record, or without it HOWMANY_DB, or the user's own file, whose folder
 * is created. The result may point to path; NULL with an error. */
const char *cli_store_find(const char *record, char path[CLI_STORE_ROOM], struct hm_err *err);
/* Open the store. Returns 0, or EXIT_USAGE with a message. */
int cli_store_open(const char *record, struct hm_store **ret_store);

/* The store of requests from the command line: opened when first needed and kept open. */
struct cli_store_access {
    struct hm_store_access access; /* For hm_context.store. */
    struct hm_store *store;
};

void cli_store_access_init(struct cli_store_access *access);
void cli_store_access_release(struct cli_store_access *access);

#endif
