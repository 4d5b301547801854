/* Lists, counts and deletes stored runs. */
#include <string.h>

#include "checks.h"
#include "err.h"
#include "memory.h"
#include "order.h"
#include "page_search.h"
#include "store.h"

/* ---- visiting runs -------------------------------------------------------------------------- */

static const char WITH_SAMPLES[] = " AND sample_count > 0";

struct run_visit {
    hm_store_visit *visit;
    void *context;
    size_t count; /* Number of runs visited so far. */
    struct hm_arena *arena;
    struct hm_conditions conditions;
    struct hm_order order;
    bool with_samples;
    const char *after; /* Cursor at which a search for a page continues that took too long. */
};

static int visit_row(void *context, const struct hm_sql_value *cells, size_t count,
                     struct hm_err *err)
{
    struct run_visit *e = context;
    struct hm_stored run = {.id = cells[0].integer};

    (void)count;
    for (size_t i = 1; i < HM_STORE_COLUMNS; i++) {
        const struct hm_store_column *c = &hm__store_columns[i];
        if (c->kind == HM_STORE_TEXT)
            *hm__stored_text(c, &run) = cells[i].null ? NULL : cells[i].text;
        else
            *hm__stored_number(c, &run) = cells[i].null ? __builtin_nan("") : cells[i].real;
    }
    run.sample_count = (size_t)cells[HM_STORE_COLUMNS].integer;
    e->count++;
    return e->visit(e->context, &run, err);
}

static void write_select(struct hm_text *sql)
{
    hm__text_add(sql, "SELECT ");
    for (size_t i = 0; i < HM_STORE_COLUMNS; i++)
        hm__text_addf(sql, "\"%s\", ", hm__store_columns[i].name);
    hm__text_add(sql, "sample_count FROM runs");
}

/* Writes the LIMIT clause: the number of runs that are still needed to fill the page. */
static void write_limit(struct hm_statement *s, const struct hm_store_filter *filter,
                        const struct run_visit *e)
{
    if (filter && filter->limit)
        hm__text_addf(&s->sql, " LIMIT $%zu",
                      hm__statement_bind(s, hm__sql_integer((int64_t)(filter->limit - e->count))));
}

/*
 * Writes the query for one range (part) of a page, over all runs or over the runs that match the
 * condition `rows`.
 */
static void write_part(struct hm_store *store, struct hm_statement *s,
                       const struct hm_store_filter *filter, enum hm_part part, const char *rows,
                       const struct run_visit *e)
{
    write_select(&s->sql);
    hm__text_addf(&s->sql, " WHERE %s", rows);
    hm__statement_where(s, store->sql, &e->conditions, e->order.column);
    if (e->with_samples)
        hm__text_add(&s->sql, WITH_SAMPLES);
    hm__order_condition(s, &e->order, part);
    hm__order_by(s, &e->order, part);
    write_limit(s, filter, e);
}

/*
 * Writes the query for one range (part) of a page; it combines the runs in the indexes with the
 * waiting runs.
 */
static void write_joined_part(struct hm_store *store, struct hm_statement *s,
                              const struct hm_store_filter *filter, enum hm_part part,
                              const struct run_visit *e)
{
    hm__text_add(&s->sql, "SELECT * FROM (");
    write_part(store, s, filter, part, HM_RUNS_PLACED, e);
    hm__text_add(&s->sql, ") AS placed UNION ALL SELECT * FROM (");
    write_part(store, s, filter, part, HM_RUNS_WAITING, e);
    hm__text_add(&s->sql, ") AS waiting");
    hm__order_by(s, &e->order, part);
    write_limit(s, filter, e);
}

/*
 * Returns whether one query can return all runs in order. This is possible if an index in this
 * order also contains the waiting runs: the index of the ids, unless another index fits a condition
 * better, or the index of the keys.
 */
static bool finds_all_runs(const struct run_visit *e)
{
    const struct hm_store_column *sort = e->order.column;

    return sort->kind == HM_STORE_ID ? e->conditions.count == 0
                                     : sort->offset == offsetof(struct hm_stored, key);
}

static int list_part(struct hm_store *store, const struct hm_store_filter *filter,
                     enum hm_part part, struct run_visit *e, struct hm_err *err)
{
    struct hm_statement s = {0};

    if (finds_all_runs(e))
        write_part(store, &s, filter, part, "1 = 1", e);
    else
        write_joined_part(store, &s, filter, part, e);
    int rc = s.sql.failed ? hm__fail_nomem(err)
                          : hm__store_query(store, s.sql.data, s.parameters, s.count, visit_row, e,
                                            NULL, err);
    hm__statement_release(&s);
    return rc;
}

/* Returns whether one index gives all matching runs in the order of their ids. */
static bool has_one_index(const struct hm_conditions *conditions)
{
    return conditions->count == 1 && conditions->items[0].column &&
           conditions->items[0].op[0] == '=';
}

/*
 * Searches for a page, or for all runs if the filter has no limit. *ret_found is false if all runs
 * are wanted and should be read in order.
 */
static int search_runs(struct hm_store *store, const struct hm_store_filter *filter,
                       struct run_visit *e, bool *ret_found, struct hm_err *err)
{
    struct hm_text select = {0};
    struct hm_page_search search = {.effort = &hm__search_effort,
                                    .store = store,
                                    .arena = e->arena,
                                    .conditions = &e->conditions,
                                    .order = e->order,
                                    .limit = filter->limit,
                                    .seconds = filter->seconds,
                                    .also = e->with_samples ? WITH_SAMPLES : "",
                                    .row = visit_row,
                                    .context = e};

    *ret_found = true;
    write_select(&select);
    search.select = select.data;
    int rc = select.failed   ? hm__fail_nomem(err)
             : filter->limit ? hm__search_page(&search, &e->after, err)
                             : hm__search_all(&search, ret_found, err);
    hm__text_release(&select);
    return rc;
}

static bool needs_search(const struct hm_store *store, const struct run_visit *e)
{
    return store->sql->by_ids && hm__search_is_needed(&e->conditions, &e->order) &&
           !(has_one_index(&e->conditions) && e->order.column->kind == HM_STORE_ID);
}

static int visit_runs(struct hm_store *store, const struct hm_store_filter *filter,
                      struct run_visit *e, struct hm_err *err)
{
    bool found = false;
    int rc = hm__order_read(e->arena, filter, &e->order, err);

    if (rc == 0)
        rc = hm__conditions_read(e->arena, filter, &e->conditions, err);
    if (rc == 0 && needs_search(store, e))
        rc = search_runs(store, filter, e, &found, err);
    for (int part = 0; rc == 0 && !found && part < HM_PARTS; part++)
        if (hm__order_needs(&e->order, (enum hm_part)part) &&
            (!filter || !filter->limit || e->count < filter->limit))
            rc = list_part(store, filter, (enum hm_part)part, e, err);
    return rc;
}

int hm__store_each(struct hm_store *store, const struct hm_store_filter *filter, bool with_samples,
                   hm_store_visit *visit, void *context, struct hm_err *err)
{
    struct run_visit e = {
        .visit = visit, .context = context, .arena = hm__arena_new(), .with_samples = with_samples};
    int rc = e.arena ? visit_runs(store, filter, &e, err) : hm__fail_nomem(err);

    hm__arena_free(e.arena);
    return rc;
}

/* ---- pages ---------------------------------------------------------------------------------- */

struct run_list {
    struct hm_arena *arena;
    struct hm_stored *runs; /* Runs of the page; owned until the arena takes ownership. */
    size_t count, room;
};

static int copy_run(void *context, const struct hm_stored *run, struct hm_err *err)
{
    struct run_list *l = context;

    struct hm_stored *runs = hm__grow(l->runs, l->count, &l->room, sizeof(*runs));
    if (!runs)
        return hm__fail_nomem(err);
    l->runs = runs;
    struct hm_stored *to = &l->runs[l->count++];
    *to = *run;
    for (size_t i = 0; i < HM_STORE_COLUMNS; i++) {
        const struct hm_store_column *c = &hm__store_columns[i];
        if (c->kind != HM_STORE_TEXT || !hm__stored_get_text(c, run))
            continue;
        const char *text = hm__arena_strdup(l->arena, hm__stored_get_text(c, run));
        *hm__stored_text(c, to) = text;
        if (!text)
            return hm__fail_nomem(err);
    }
    return 0;
}

/* Grows while samples are read: the number that a damaged store has of them may be any. */
struct sample_list {
    struct hm_stored_sample *samples;
    size_t count, room, most;
};

static int copy_sample(void *context, const struct hm_sql_value *cells, size_t count,
                       struct hm_err *err)
{
    struct sample_list *s = context;
    double values[4];

    (void)count;
    if (s->count == s->most)
        return 0;
    struct hm_stored_sample *grown = hm__grow(s->samples, s->count, &s->room, sizeof(*s->samples));
    if (!grown)
        return hm__fail_nomem(err);
    s->samples = grown;
    for (size_t i = 0; i < 4; i++)
        values[i] = cells[i].null ? __builtin_nan("") : cells[i].real;
    s->samples[s->count++] = (struct hm_stored_sample){values[0], values[1], values[2], values[3]};
    return 0;
}

static int read_samples(struct hm_store *store, struct hm_arena *arena, struct hm_stored *run,
                        struct hm_err *err)
{
    struct hm_sql_value id = hm__sql_integer(run->id);
    struct sample_list s = {.most = run->sample_count};
    int rc = hm__store_query(store,
                             "SELECT iteration, seconds, elapsed_s, loss FROM samples "
                             "WHERE run_id = $1 ORDER BY position",
                             &id, 1, copy_sample, &s, NULL, err);
    struct hm_stored_sample *samples = hm__arena_alloc(arena, s.count, sizeof(*samples));
    if (rc == 0 && !samples)
        rc = hm__fail_nomem(err);
    if (samples && s.count > 0)
        memcpy(samples, s.samples, s.count * sizeof(*samples));
    hm__free(s.samples);
    run->samples = samples;
    run->sample_count = samples ? s.count : 0;
    return rc;
}

/*
 * Sets page->next. The query reads one run more than the page holds; if that run exists, there is
 * another page, and there is one if the search ended at the cursor `after` before the page was
 * full.
 */
static int end_page(struct run_list *l, size_t limit, struct run_visit *e,
                    struct hm_store_page *page, struct hm_err *err)
{
    page->next = e->after;
    if (limit == 0 || l->count <= limit)
        return 0;
    l->count = limit;
    hm__order_move(&e->order, &l->runs[limit - 1]);
    page->next = hm__cursor_write(l->arena, &e->order);
    return page->next ? 0 : hm__fail_nomem(err);
}

static int fill_page(struct hm_store *store, const struct hm_store_filter *filter,
                     struct run_list *l, struct hm_store_page *page, struct hm_err *err)
{
    struct hm_store_filter more = filter ? *filter : (struct hm_store_filter){0};
    struct run_visit e = {.visit = copy_run, .context = l, .arena = l->arena};
    int rc = hm__store_exec(store, store->sql->begin_read, err);

    if (rc)
        return rc;
    more.limit += more.limit && more.limit < SIZE_MAX / 2 ? 1 : 0;
    rc = visit_runs(store, &more, &e, err);
    if (rc == 0)
        rc = end_page(l, filter ? filter->limit : 0, &e, page, err);
    for (size_t i = 0; i < l->count; i++) {
        if (rc == 0 && more.samples && l->runs[i].sample_count)
            rc = read_samples(store, l->arena, &l->runs[i], err);
        if (!more.samples)
            l->runs[i].sample_count = 0;
    }
    return hm__store_end(store, rc, err);
}

int hm_store_list(struct hm_store *store, const struct hm_store_filter *filter,
                  struct hm_store_page **ret_page, struct hm_err *err)
{
    int bad = hm__check_pointers(err, "store", store, "ret_page", ret_page, NULL);
    if (bad)
        return bad;
    struct run_list l = {.arena = hm__arena_new()};
    struct hm_store_page *page = l.arena ? hm__arena_alloc(l.arena, 1, sizeof(*page)) : NULL;
    int rc = page ? fill_page(store, filter, &l, page, err) : hm__fail_nomem(err);

    if (rc == 0 && l.runs) {
        rc = hm__arena_own(l.arena, l.runs, hm__free) ? hm__fail_nomem(err) : 0;
        page->runs = l.runs;
        page->count = l.count;
        l.runs = rc ? l.runs : NULL;
    }
    hm__free(l.runs);
    if (rc) {
        hm__arena_free(l.arena);
        return rc;
    }
    page->memory = l.arena;
    *ret_page = page;
    return 0;
}

void hm_store_page_free(struct hm_store_page *page)
{
    if (page)
        hm__arena_free(page->memory);
}

/* ---- counting and deleting ------------------------------------------------------------------ */

/* A statement that is executed for the runs that match a filter, and the number of these runs. */
struct run_selection {
    const char *sql; /* Beginning of the SQL, up to the name of the table. */
    /* True if the statement counts rows, so that it returns a number; false if it changes rows. */
    bool counts;
    int64_t count; /* Number of matching runs that have been counted or changed. */
};

/* Executes the statement for the runs that meet the conditions and the condition `rows`. */
static int select_rows(struct hm_store *store, const struct hm_conditions *conditions,
                       const char *rows, struct run_selection *w, struct hm_err *err)
{
    struct hm_statement s = {0};
    int64_t count = 0;

    hm__text_addf(&s.sql, "%s WHERE %s", w->sql, rows);
    hm__statement_where(&s, store->sql, conditions, NULL);
    int rc = s.sql.failed ? hm__fail_nomem(err) : 0;
    if (rc == 0 && w->counts)
        rc = hm__store_number(store, s.sql.data, s.parameters, s.count, &count, err);
    else if (rc == 0)
        rc = hm__store_query(store, s.sql.data, s.parameters, s.count, NULL, NULL, &count, err);
    hm__statement_release(&s);
    w->count += count;
    return rc;
}

static int count_row(void *context, const struct hm_sql_value *cells, size_t count,
                     struct hm_err *err)
{
    (void)cells;
    (void)count;
    (void)err;
    ++*(int64_t *)context;
    return 0;
}

/* Counts runs by lists of ids. *ret_found is false if no list is short enough. */
static int count_listed(struct hm_store *store, const struct hm_conditions *conditions,
                        int64_t *ret_count, bool *ret_found, struct hm_err *err)
{
    struct hm_page_search search = {.effort = &hm__search_effort,
                                    .store = store,
                                    .conditions = conditions,
                                    .order = {.column = hm__store_column_find("id")},
                                    .select = "SELECT id FROM runs",
                                    .also = "",
                                    .row = count_row,
                                    .context = ret_count};

    *ret_found = false;
    if (!store->sql->by_ids || conditions->count == 0 || has_one_index(conditions))
        return 0;
    return hm__search_all(&search, ret_found, err);
}

static int select_matching(struct hm_store *store, const struct hm_conditions *conditions,
                           struct run_selection *w, struct hm_err *err)
{
    bool found = false;
    int rc = w->counts ? count_listed(store, conditions, &w->count, &found, err) : 0;

    if (rc || found)
        return rc;
    if (conditions->count == 0)
        return select_rows(store, conditions, "1 = 1", w, err);
    rc = select_rows(store, conditions, HM_RUNS_PLACED, w, err);
    return rc ? rc : select_rows(store, conditions, HM_RUNS_WAITING, w, err);
}

static int select_conditions(struct hm_store *store, const struct hm_conditions *conditions,
                             struct run_selection *w, struct hm_err *err)
{
    const struct hm_sql *sql = store->sql;
    int rc = hm__store_exec(store, w->counts ? sql->begin_read : sql->begin_write, err);

    if (rc)
        return rc;
    rc = select_matching(store, conditions, w, err);
    return hm__store_end(store, rc, err);
}

/* Executes the statement for all runs that match a filter, in a transaction. */
static int select_runs(struct hm_store *store, const struct hm_store_filter *filter,
                       struct run_selection *w, struct hm_err *err)
{
    struct hm_conditions conditions;
    struct hm_arena *arena = hm__arena_new();
    int rc = arena ? hm__conditions_read(arena, filter, &conditions, err) : hm__fail_nomem(err);

    if (rc == 0)
        rc = select_conditions(store, &conditions, w, err);
    hm__arena_free(arena);
    return rc;
}

int hm_store_count(struct hm_store *store, const struct hm_store_filter *filter, int64_t *ret_count,
                   struct hm_err *err)
{
    int bad = hm__check_pointers(err, "store", store, "ret_count", ret_count, NULL);
    if (bad)
        return bad;
    struct run_selection w = {.sql = "SELECT count(*) FROM runs", .counts = true};
    int rc = select_runs(store, filter, &w, err);

    if (rc == 0)
        *ret_count = w.count;
    return rc;
}

int hm_store_delete(struct hm_store *store, const struct hm_store_filter *filter,
                    int64_t *ret_count, struct hm_err *err)
{
    int bad = hm__check_pointers(err, "store", store, NULL);
    if (bad)
        return bad;
    struct run_selection w = {.sql = "DELETE FROM runs"};
    int rc = select_runs(store, filter, &w, err);

    if (rc == 0 && ret_count)
        *ret_count = w.count;
    return rc;
}
