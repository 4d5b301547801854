/*
 * Implements the verb that checks a store for damage, and the verb that copies the readable runs of
 * a damaged store.
 */
#include <stdio.h>
#include <string.h>

#include "err.h"
#include "load.h"
#include "memory.h"
#include "store.h"
#include "verbs.h"

/* ---- runs check --------------------------------------------------------------------------------
 */

struct hm_runs_check_request {
    const char *record;
    bool add_checksums;
};

static const struct hm_request_field check_fields[] = {
    {.name = "add_checksums",
     .kind = HM_REQUEST_FLAG,
     .offset = offsetof(struct hm_runs_check_request, add_checksums),
     .flags = HM_REQUEST_LOCAL,
     .group = "store",
     .help = "check: give the pages of an older store checksums, if it has no damage"},
    HM_ROW_RECORD(struct hm_runs_check_request, record, 'r'),
};

static int check_run(const void *values, struct hm_call *call, struct hm_err *err)
{
    const struct hm_runs_check_request *r = values;
    struct hm_store *store = NULL;
    int64_t runs = 0;
    int rc = hm__call_store_read(call, r->record, &store, err);

    if (rc == 0)
        rc = hm__store_verify(store, false, &runs, err);
    bool summed = rc == 0 && hm__store_has_sums(store), add = r->add_checksums && !summed;
    if (rc == 0 && add)
        rc = hm__store_add_sums(store, err);
    if (rc == 0)
        hm__text_addf(&call->out, "%lld runs, no damage found%s\n", (long long)runs,
                      summed ? ""
                      : add  ? "; the pages have checksums now"
                             : "; the pages have no checksums (add_checksums adds them)");
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

/* A list of ids of runs; `ids` is owned. */
struct id_list {
    int64_t *ids;
    size_t count, room;
};

/* A copy of a store. */
struct copy {
    struct hm_call *call;
    struct hm_store *store; /* The store that is read. */
    const char *to;
    /*
     * True for the second reading of a damaged store, which adds only what the first one could not
     * read: the runs with these ids, and documents that are not there yet.
     */
    bool again;
    struct id_list missed;
    /* Runs that can be read, but that no store accepts, and the error of the first of them. */
    struct id_list refused;
    struct hm_err refusal;
    int64_t last; /* Largest id of a run. */
    int64_t runs, documents;
    int64_t lost;   /* Number of documents that cannot be read. */
    int64_t unread; /* Number of ids that cannot be read; there may be no runs with these ids. */
};

enum { NOT_COPIED = 1 }; /* Result for runs that cannot be read, or that need not be copied. */

static int add_id(struct id_list *list, int64_t id, struct hm_err *err)
{
    if (list->count == list->room) {
        size_t room = 2 * list->room + 16;
        int64_t *grown = hm__realloc(list->ids, room, sizeof(*grown));
        if (!grown)
            return hm__fail_nomem(err);
        list->ids = grown;
        list->room = room;
    }
    list->ids[list->count++] = id;
    return 0;
}

/*
 * Moves the runs that a store accepts to the beginning of a page, and adds the ids of the others to
 * c->refused. An earlier version, or another program, may have stored such runs; one of them must
 * not keep all others from being copied.
 */
static int sort_out_refused(struct copy *c, struct hm_store_page *page, struct hm_err *err)
{
    size_t kept = 0;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < page->count; i++) {
        struct hm_err why = {0};
        int refused = hm_stored_check(&page->runs[i], &why);
        if (refused == HM_E_NOMEM || refused == HM_E_BUDGET || refused == HM_E_CANCELLED) {
            rc = refused;
            if (err)
                *err = why;
        } else if (refused) {
            rc = add_id(&c->refused, page->runs[i].id, err);
            if (c->refusal.code == 0)
                c->refusal = why;
        } else
            page->runs[kept++] = page->runs[i];
    }
    page->count = kept;
    return rc;
}

/* Copies the runs with ids from `from` to `last`. Returns NOT_COPIED if some of them cannot be
 * read. */
static int copy_range(struct copy *c, int64_t from, int64_t last, struct hm_err *err)
{
    const struct hm_store_access *access = c->call->context->store;
    char least[48], most[48];
    const char *const where[] = {least, most};
    /*
     * A single run is selected by its id alone, so that the database does not read the page after
     * it, which may be damaged.
     */
    const bool single = last == from;
    const struct hm_store_filter filter = {
        .where = where, .where_count = single ? 1 : 2, .sort = "id", .samples = true};
    struct hm_store_page *page = NULL;

    snprintf(least, sizeof(least), "id%s%lld", single ? "=" : ">=", (long long)from);
    snprintf(most, sizeof(most), "id<=%lld", (long long)last);
    struct hm_err why = {0};
    int rc = hm_store_list(c->store, &filter, &page, &why);
    if (rc && hm__store_is_partly_unreadable(&why)) {
        c->unread += single;
        return NOT_COPIED;
    }
    if (rc && err)
        *err = why;
    if (rc == 0 && page)
        rc = sort_out_refused(c, page, err);
    struct hm_store_batch batch = {.runs = page ? page->runs : NULL,
                                   .count = page ? page->count : 0};
    if (rc == 0 && batch.count > 0) {
        rc = hm__call_store_add(access, c->to, &batch, c->again ? &why : err);
        if (rc == 0)
            c->runs += (int64_t)batch.count;
        else if (c->again && rc == HM_E_CONFLICT)
            rc = NOT_COPIED; /* The first reading found a later run with the same key. */
        else if (c->again && err)
            *err = why;
    }
    hm_store_page_free(page);
    return rc;
}

/* Copies the readable runs with the ids from `from` to `last`. A range that cannot be read is
 * halved until only single runs are left. */
static int copy_readable(struct copy *c, int64_t from, int64_t last, struct hm_err *err)
{
    int rc = copy_range(c, from, last, err);

    if (rc == NOT_COPIED && last > from) {
        int64_t middle = from + (last - from) / 2;
        rc = copy_readable(c, from, middle, err);
        return rc ? rc : copy_readable(c, middle + 1, last, err);
    }
    if (rc == NOT_COPIED)
        rc = c->again ? 0 : add_id(&c->missed, from, err);
    return rc;
}

/* Appends the kind and the name of a document to a text, each with its final NUL. */
static int add_document_name(void *text, const char *kind, const char *name, const char *made_at)
{
    (void)made_at;
    hm__text_add_n(text, kind, strlen(kind) + 1);
    hm__text_add_n(text, name, strlen(name) + 1);
    return 0;
}

static int copy_document(struct copy *c, struct hm_store *to, const char *kind, const char *name,
                         struct hm_err *err)
{
    struct hm_err why = {0};
    char *text = NULL, *there = NULL;
    int rc = c->again ? hm_store_get(to, kind, name, &there, err) : 0;

    if (rc == 0 && !there) {
        rc = hm_store_get(c->store, kind, name, &text, &why);
        if (rc && hm__store_is_partly_unreadable(&why)) {
            c->lost += !c->again;
            rc = 0;
        } else if (rc && err)
            *err = why;
    }
    if (rc == 0 && text) {
        rc = hm_store_put(to, kind, name, text, err);
        c->documents++;
        c->lost -= c->again && c->lost > 0;
    }
    hm_text_free(there);
    hm_text_free(text);
    return rc;
}

/* Copies the documents that can be read. Their list may be damaged, too. */
static int copy_documents(struct copy *c, struct hm_err *err)
{
    struct hm_text names = {0};
    struct hm_store *to = NULL;
    struct hm_err why = {0};
    int rc = hm_store_documents(c->store, NULL, add_document_name, &names, &why);

    if (rc && hm__store_is_partly_unreadable(&why))
        rc = 0;
    if (rc && err)
        *err = why;
    if (rc == 0 && names.failed)
        rc = hm__fail_nomem(err);
    if (rc == 0 && names.length > 0)
        rc = hm__call_store_open(c->call, c->to, &to, err);
    for (size_t at = 0; rc == 0 && at < names.length;) {
        const char *kind = names.data + at, *name = kind + strlen(kind) + 1;
        at += strlen(kind) + strlen(name) + 2;
        rc = copy_document(c, to, kind, name, err);
    }
    hm__call_store_close(c->call, to, rc, err);
    hm__text_release(&names);
    return rc;
}

/*
 * Finds the largest id of a run. If the page with the last runs is damaged, the counter of ids,
 * which is in another one, takes its place.
 */
static int find_last(struct copy *c, struct hm_err *err)
{
    struct hm_err why = {0};
    int rc = hm__store_largest_id(c->store, &c->last, &why);

    if (rc && hm__store_is_partly_unreadable(&why) && c->store->sql->last_id)
        return hm__store_number(c->store, c->store->sql->last_id, NULL, 0, &c->last, err);
    if (rc && err)
        *err = why;
    return rc;
}

/*
 * Moves *id to the next id of a run, because a damaged id may be far from all others. If that
 * cannot be read, *id stays.
 */
static int find_next(struct copy *c, int64_t *id, struct hm_err *err)
{
    const struct hm_sql_value from = hm__sql_integer(*id);
    struct hm_err why = {0};
    int64_t next = c->last;
    int rc = hm__store_number(c->store, "SELECT id FROM runs WHERE id >= $1 ORDER BY id LIMIT 1",
                              &from, 1, &next, &why);

    if (rc == 0)
        *id = next;
    else if (!hm__store_is_partly_unreadable(&why)) {
        if (err)
            *err = why;
        return rc;
    }
    return 0;
}

static int copy_runs(struct copy *c, struct hm_err *err)
{
    enum { AT_ONCE = 1024 };
    int64_t from = 1, last = 0;
    int rc = find_last(c, err);

    while (rc == 0 && last < c->last) {
        rc = find_next(c, &from, err);
        if (rc)
            break;
        last = c->last - from < AT_ONCE ? c->last : from + AT_ONCE - 1;
        rc = copy_readable(c, from, last, err);
        from = last < c->last ? last + 1 : last;
    }
    return rc;
}

static int copy_missed(struct copy *c, struct hm_err *err)
{
    int rc = 0;

    c->unread = 0;
    for (size_t i = 0; rc == 0 && i < c->missed.count; i++)
        rc = copy_readable(c, c->missed.ids[i], c->missed.ids[i], err);
    return rc;
}

static int fail_same(struct hm_err *err)
{
    return hm__request_fail(err, "to", HM_E_CONFLICT, "this is the store that is copied");
}

static int copy_store(struct copy *c, struct hm_err *err)
{
    if (hm__store_is_same(c->store->label, c->to))
        return fail_same(err);
    int rc = c->again ? copy_missed(c, err) : copy_runs(c, err);

    return rc ? rc : copy_documents(c, err);
}

/*
 * Copies a store that cannot be opened because it is damaged: first what can be read of all
 * transactions, then what is only in those before the damage. `refusal` is the error of opening it
 * normally.
 */
static int copy_damaged(struct copy *c, const char *record, const struct hm_err *refusal,
                        struct hm_err *err)
{
    const struct hm_store_access *access = c->call->context->store;
    struct hm_err why = *refusal;
    int rc = refusal->code;

    for (int before = 0; access->open_damaged && before < 2; before++) {
        /* If the tables cannot be found in one state of the store, the other one may have them. */
        if (access->open_damaged(access->data, record, before, &c->store, NULL))
            continue;
        why = (struct hm_err){0};
        rc = copy_store(c, &why);
        hm__call_store_close(c->call, c->store, 0, NULL);
        c->again = rc == 0;
        /* If the table cannot be read at all, its state before the damage may be readable. */
        if (rc && (rc != HM_E_IO || strcmp(why.source, refusal->source) != 0))
            break;
    }
    if (rc && err)
        *err = why;
    return rc;
}

/* Writes the ids of the runs that no store accepts, and why the first one is refused. */
static void write_refused(struct hm_text *out, const struct copy *c)
{
    enum { SHOWN_MOST = 1000 };
    const struct id_list *refused = &c->refused;

    if (refused->count == 0)
        return;
    hm__text_addf(out, "%zu runs left out, because a store refuses them (the first: %s: %s); ",
                  refused->count, c->refusal.field, c->refusal.message);
    hm__text_add(out, "their ids:");
    for (size_t i = 0; i < refused->count && i < SHOWN_MOST; i++)
        hm__text_addf(out, " %lld", (long long)refused->ids[i]);
    if (refused->count > SHOWN_MOST)
        hm__text_addf(out, " and %zu more", refused->count - SHOWN_MOST);
    hm__text_add(out, "\n");
}

static void write_copied(struct hm_text *out, const struct copy *c)
{
    hm__text_addf(out, "%lld runs", (long long)c->runs);
    if (c->documents > 0)
        hm__text_addf(out, " and %lld documents", (long long)c->documents);
    hm__text_addf(out, " copied; the largest id was %lld", (long long)c->last);
    if (c->unread > 0)
        hm__text_addf(out, "; %lld ids cannot be read", (long long)c->unread);
    if (c->lost > 0)
        hm__text_addf(out, "; %lld documents cannot be read", (long long)c->lost);
    hm__text_add(out, "\n");
    write_refused(out, c);
}

static int recover_run(const void *values, struct hm_call *call, struct hm_err *err)
{
    const struct hm_runs_recover_request *r = values;
    struct copy copy = {.call = call, .to = r->to};
    struct hm_err why = {0};

    if (!r->to)
        return hm__request_fail(err, "to", HM_E_MISSING, "no store for the copy is given");
    /* The label of a store on a server lacks a part of its address. */
    if (r->record && hm__store_is_same(r->to, r->record))
        return fail_same(err);
    int rc = hm__call_store_read(call, r->record, &copy.store, &why);
    /* Damage to the log, or to the page with the version, prevents the usual opening. */
    bool damaged =
        rc && (strcmp(why.field, HM_STORE_LOG) == 0 || hm__store_is_partly_unreadable(&why));
    if (damaged && (!r->record || hm__store_exists(r->record)))
        rc = copy_damaged(&copy, r->record, &why, err);
    else if (rc == 0) {
        rc = copy_store(&copy, err);
        hm__call_store_close(call, copy.store, rc, err);
    } else if (err)
        *err = why;
    if (rc == 0)
        write_copied(&call->out, &copy);
    hm__free(copy.missed.ids);
    hm__free(copy.refused.ids);
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
