/*
 * A command that is run for somebody else: the server runs commands as a person would, but what
 * they say is kept instead of printed, and the only files they see are documents that came with the
 * request. A guest belongs to one thread; a thread without one works for the person at the
 * terminal.
 */
#ifndef HM_GUEST_H
#define HM_GUEST_H

#include "howmany_store.h"
#include "text.h"

/* What came with the request, under the name by which options refer to it. */
struct cli_document {
    const char *name, *text; /* borrowed */
    size_t length;
};

enum {
    CLI_DOCUMENTS_MAX = 80,
    CLI_GUEST_N = 8192,          /* workers that a plan for a guest looks at */
    CLI_GUEST_PLACES = 10000,    /* values of a list, combinations of a design */
    CLI_GUEST_ANSWER = 32 << 20, /* bytes of an answer */
    CLI_GUEST_PAGE = 10000,      /* runs of a page */
    CLI_GUEST_RUNS = 100000,     /* runs of a store that are learnt from */
};

/* The store of whoever runs commands for guests; they share it, and do not name it. */
struct cli_guest_store {
    void *context;
    int (*lend)(void *context, struct hm_store **ret_store, struct hm_err *err);
    /* broken: something went wrong while it was lent */
    void (*take_back)(void *context, struct hm_store *store, bool broken);
    /* Add a batch: it is kept when this returns 0. */
    int (*keep)(void *context, struct hm_store_batch *batch, struct hm_err *err);
};

/* Zero-initialise, then add documents. */
struct cli_guest {
    struct hm_catalog *catalog;          /* borrowed; used in place of files */
    const struct cli_guest_store *store; /* borrowed; NULL: there is none */
    struct cli_document documents[CLI_DOCUMENTS_MAX];
    size_t document_count;
    struct hm_text out; /* what the command printed */
    struct hm_err err;  /* what it complained of first */
    bool stored;        /* it has used the store */
};

/* The guest of this thread; NULL: none. */
struct cli_guest *cli_guest(void);
/* From now on this thread works for that guest, or with NULL for nobody. */
void cli_guest_enter(struct cli_guest *guest);
void cli_guest_release(struct cli_guest *guest);

/* ---- reading, for whomever we work: files at the terminal, documents for a guest --------------
 */

/* The document of that name; NULL with an error: a guest cannot name files. */
const struct cli_document *cli_guest_document(const char *name, struct hm_err *err);
int cli_open_runs(const char *path, struct hm_runs **ret_runs, struct hm_err *err);
int cli_open_traces(const char *const *paths, size_t count,
                    const struct hm_traces_settings *settings, struct hm_traces **ret_traces,
                    struct hm_err *err);
int cli_open_convergence(const char *path, struct hm_convergence **ret_convergence,
                         struct hm_err *err);

#endif
