/* The store that commands remember runs in: --record, HOWMANY_DB, or a file of one's own. */
#ifndef HM_ASKED_STORE_H
#define HM_ASKED_STORE_H

#include "cli.h"
#include "howmany_store.h"

/* Whether --record names a store: postgresql://…, or a file that ends in .db, .sqlite or .sqlite3.
 */
bool cli_is_store(const char *record);
/* Open the store that --record names; NULL: that of HOWMANY_DB, else the person's own, whose folder
 * is made. 0, or EXIT_USAGE with a message. */
int cli_store_open(const char *record, struct hm_store **ret_store);

/*
 * Add all runs of a table, or all traces; a second time they are not added again. What traces do
 * not tell is as `like` has it, which may be NULL.
 */
int cli_store_add_runs(struct hm_store *store, const struct hm_runs *runs, size_t *ret_added);
int cli_store_add_traces(struct hm_store *store, const struct hm_traces *traces,
                         const struct hm_stored *like, size_t *ret_added);

#endif
