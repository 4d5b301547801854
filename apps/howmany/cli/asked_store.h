/* The store that commands remember runs in: --record, HOWMANY_DB, or a file of one's own. */
#ifndef HM_ASKED_STORE_H
#define HM_ASKED_STORE_H

#include "cli.h"
#include "howmany_store.h"
#include "text.h"

/* Whether --record names a store: postgresql://…, or a file that ends in .db, .sqlite or .sqlite3.
 */
bool cli_is_store(const char *record);
/* Where the store is that --record names; NULL: that of HOWMANY_DB, else the person's own, whose
 * folder is made. In path, if it has to be made up; NULL with a message. */
enum { CLI_STORE_ROOM = 1024 };
const char *cli_store_find(const char *record, char path[CLI_STORE_ROOM]);
/* Open it; 0, or EXIT_USAGE with a message. */
int cli_store_open(const char *record, struct hm_store **ret_store);
/* The same for who only adds: a guest then waits for nobody who reads. */
int cli_store_open_to_add(const char *record, struct hm_store **ret_store);
/* Every store that was opened so, NULL too. */
void cli_store_close(struct hm_store *store);

/* What came of adding. Zero-initialise. */
struct cli_added {
    size_t count;       /* new ones */
    struct hm_text ids; /* of all, between commas */
};

void cli_added_release(struct cli_added *added);

/*
 * Add all runs of a table, or all traces; a second time they are not added again. key: what their
 * keys begin with, followed by their number; NULL: keys are made of what they say. What traces do
 * not tell is as `like` has it, which may be NULL. added counts on.
 */
int cli_store_add_runs(struct hm_store *store, const struct hm_runs *runs, const char *key,
                       struct cli_added *added);
int cli_store_add_traces(struct hm_store *store, const struct hm_traces *traces, const char *key,
                         const struct hm_stored *like, struct cli_added *added);

#endif
