/* Named documents of the store from the command line; see `howmany runs`. */
#ifndef HM_RUNS_DOCUMENTS_H
#define HM_RUNS_DOCUMENTS_H

#include "asked_store.h"

/* words: what comes after the verb. 0, or EXIT_USAGE with a message. */
int cli_documents_put(struct hm_store *store, const char *const *words, size_t count);
int cli_documents_get(struct hm_store *store, const char *const *words, size_t count);
int cli_documents_list(struct hm_store *store, const char *const *words, size_t count, bool json);

#endif
