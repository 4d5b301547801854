/*
 * Implements the verb that checks a store for damage, and the verb that copies the readable runs of
 * a damaged store.
 */
#include <stdio.h>

#include "err.h"
#include "load.h"
#include "store.h"
#include "verbs.h"

/* ---- runs check --------------------------------------------------------------------------------
 */

struct hm_runs_check_request {
    const char *record;
};

static const struct hm_request_field check_fields[] = {
    HM_ROW_RECORD(struct hm_runs_check_request, record, 'r'),
};

static int check_run(const void *values, struct hm_call *call, struct hm_err *err)
{
    const struct hm_runs_check_request *r = values;
    struct hm_store *store = NULL;
    int64_t runs = 0;
    int rc = hm__call_store_open(call, r->record, &store, err);

    if (rc == 0)
        rc = hm__store_verify(store, false, &runs, err);
    if (rc == 0)
        hm__text_addf(&call->out, "%lld runs, no damage found\n", (long long)runs);
    hm__call_store_close(call, store, rc, err);
    return rc == 0 && call->out.failed ? hm__fail_nomem(err) : rc;
}

const struct hm_verb hm__verb_runs_check = {
    .name = "runs check",
    .summary = "look for damage in the store",
    HM_VERB_FIELDS(check_fields),
    .size = sizeof(struct hm_runs_check_request),
    .run = check_run,
};

/* ---- runs recover ------------------------------------------------------------------------------
 */

struct hm_runs_recover_request {
    const char *record, *to;
};

static const struct hm_request_field recover_fields[] = {
    {.name = "to",
     .kind = HM_REQUEST_TEXT,
     .offset = offsetof(struct hm_runs_recover_request, to),
     .flags = HM_REQUEST_LOCAL,
     .group = "store",
     .argument = "NEW",
     .choices = "@file",
     .help = "recover: store to which the runs are copied"},
    HM_ROW_RECORD(struct hm_runs_recover_request, record, 'r'),
};

/* Copies the runs with ids from `from` to end - 1. Returns HM_E_IO if some of them cannot be
 * read. */
static int copy_range(struct hm_call *call, struct hm_store *store, const char *to, int64_t from,
                      int64_t end, int64_t *copied, struct hm_err *err)
{
    const struct hm_store_access *access = call->context->store;
    char least[48], most[48];
    const char *const where[] = {least, most};
    /*
     * A single run is selected by its id alone, so that the database does not read the page after
     * it, which may be damaged.
     */
    const bool single = end - from == 1;
    const struct hm_store_filter filter = {
        .where = where, .where_count = single ? 1 : 2, .sort = "id", .samples = true};
    struct hm_store_page *page = NULL;

    snprintf(least, sizeof(least), "id%s%lld", single ? "=" : ">=", (long long)from);
    snprintf(most, sizeof(most), "id<%lld", (long long)end);
    int rc = hm_store_list(store, &filter, &page, err);
    struct hm_store_batch batch = {.runs = page ? page->runs : NULL,
                                   .count = page ? page->count : 0};
    if (rc == 0 && batch.count > 0) {
        rc = access->add(access->data, to, &batch, err);
        /*
         * An I/O error in the new store ends the copy, because it is not caused by damage to the
         * old store.
         */
        rc = rc == HM_E_IO ? HM_E_CONFLICT : rc;
        *copied += rc == 0 ? (int64_t)batch.count : 0;
    }
    hm_store_page_free(page);
    return rc;
}

/* Copies the readable runs with the ids from `from` to end - 1. A range that cannot be read is
 * halved until only single runs are left. */
static int copy_readable(struct hm_call *call, struct hm_store *store, const char *to, int64_t from,
                         int64_t end, int64_t *copied, struct hm_err *err)
{
    struct hm_err why = {0};
    int rc = copy_range(call, store, to, from, end, copied, &why);

    if (rc == HM_E_IO && end - from > 1) {
        int64_t middle = from + (end - from) / 2;
        rc = copy_readable(call, store, to, from, middle, copied, err);
        return rc ? rc : copy_readable(call, store, to, middle, end, copied, err);
    }
    if (rc && rc != HM_E_IO && err)
        *err = why;
    return rc == HM_E_IO ? 0 : rc;
}

static int recover_run(const void *values, struct hm_call *call, struct hm_err *err)
{
    enum { AT_ONCE = 1024 };
    const struct hm_runs_recover_request *r = values;
    struct hm_store *store = NULL;
    int64_t last = 0, copied = 0;

    if (!r->to)
        return hm__request_fail(err, "to", HM_E_MISSING, "no store for the copy is given");
    int rc = hm__call_store_open(call, r->record, &store, err);
    if (rc == 0)
        rc = hm__store_largest_id(store, &last, err);
    for (int64_t from = 1; rc == 0 && from <= last; from += AT_ONCE)
        rc = copy_readable(call, store, r->to, from,
                           from + AT_ONCE <= last ? from + AT_ONCE : last + 1, &copied, err);
    if (rc == 0)
        hm__text_addf(&call->out, "%lld runs copied; the largest id was %lld\n", (long long)copied,
                      (long long)last);
    hm__call_store_close(call, store, rc, err);
    return rc == 0 && call->out.failed ? hm__fail_nomem(err) : rc;
}

const struct hm_verb hm__verb_runs_recover = {
    .name = "runs recover",
    .summary = "copy the runs of a damaged store that can be read",
    HM_VERB_FIELDS(recover_fields),
    .size = sizeof(struct hm_runs_recover_request),
    .operand = "to",
    .writes = true,
    .run = recover_run,
};
