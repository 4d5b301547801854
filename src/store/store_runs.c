/* Lists, counts and deletes stored runs. */
#include <string.h>

#include "checks.h"
#include "err.h"
#include "memory.h"
#include "order.h"
#include "store.h"

/*
 * SQL conditions that select the runs in the indexes, and the runs that wait to be added to the
 * indexes. The database uses an index only if a query contains the first condition.
 */
static const char PLACED[] = "waiting IS NULL", WAITING[] = "waiting = 1";

/* ---- visiting runs -------------------------------------------------------------------------- */

struct run_visit {
    hm_store_visit *visit;
    void *context;
    size_t count; /* Number of runs visited so far. */
    struct hm_arena *arena;
    struct hm_order order;
    bool with_samples;
    /*
     * True if few runs match the filter. It is then fastest to find them with indexes other than
     * the index of the sort column, and to sort them.
     */
    bool few;
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

/*
 * There are two methods for finding a page. The first reads runs in order and tests each of them,
 * which is slow if few runs match. The second finds all matching runs with other indexes and sorts
 * them, which is slow if many match. SQLite does not choose well between the methods, so the
 * matching runs are counted first, up to a limit.
 */
static int estimate_matches(struct hm_store *store, const struct hm_store_filter *filter,
                            struct run_visit *e, struct hm_err *err)
{
    enum { MANY = 5000 };
    struct hm_statement s = {0};
    size_t conditions = 0;
    int64_t found = MANY;

    /*
     * The PostgreSQL query planner chooses well between the two methods, so nothing is counted.
     */
    if (!*store->sql->plain)
        return 0;
    hm__text_add(&s.sql, "SELECT count(*) FROM (SELECT 1 FROM runs WHERE ");
    hm__text_add(&s.sql, PLACED);
    int rc = hm__statement_where(&s, e->arena, store->sql, filter, HM_WHERE_PROBE, e->order.column,
                                 &conditions, err);
    hm__text_addf(&s.sql, " LIMIT %d)", MANY);
    if (rc == 0 && conditions)
        rc = s.sql.failed ? hm__fail_nomem(err)
                          : hm__store_number(store, s.sql.data, s.parameters, s.count, &found, err);
    e->few = found < MANY;
    hm__statement_release(&s);
    return rc;
}

static bool has_conditions(const struct hm_store_filter *filter)
{
    return filter && (filter->where_count > 0 || filter->since || filter->until);
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
static int write_part(struct hm_store *store, struct hm_statement *s,
                      const struct hm_store_filter *filter, enum hm_part part, const char *rows,
                      struct run_visit *e, struct hm_err *err)
{
    write_select(&s->sql);
    hm__text_addf(&s->sql, " WHERE %s", rows);
    int rc = hm__statement_where(s, e->arena, store->sql, filter,
                                 e->few ? HM_WHERE_ANY : HM_WHERE_WALK, e->order.column, NULL, err);
    if (rc == 0 && e->with_samples)
        hm__text_add(&s->sql, " AND sample_count > 0");
    if (rc)
        return rc;
    hm__order_condition(s, &e->order, part);
    hm__order_by(s, &e->order, part, e->few ? store->sql->plain : "");
    write_limit(s, filter, e);
    return 0;
}

/*
 * Writes the query for one range (part) of a page; it combines the runs in the indexes with the
 * waiting runs.
 */
static int write_joined_part(struct hm_store *store, struct hm_statement *s,
                             const struct hm_store_filter *filter, enum hm_part part,
                             struct run_visit *e, struct hm_err *err)
{
    hm__text_add(&s->sql, "SELECT * FROM (");
    int rc = write_part(store, s, filter, part, PLACED, e, err);
    hm__text_add(&s->sql, ") AS placed UNION ALL SELECT * FROM (");
    if (rc == 0)
        rc = write_part(store, s, filter, part, WAITING, e, err);
    hm__text_add(&s->sql, ") AS waiting");
    hm__order_by(s, &e->order, part, "");
    write_limit(s, filter, e);
    return rc;
}

/*
 * Returns whether one query can return all runs in order. This is possible if an index in this
 * order also contains the waiting runs: the index of the ids, unless another index fits a condition
 * better, or the index of the keys.
 */
static bool finds_all_runs(const struct run_visit *e, const struct hm_store_filter *filter)
{
    const struct hm_store_column *sort = e->order.column;

    if (sort->kind == HM_STORE_ID)
        return !has_conditions(filter);
    return !e->few && sort->offset == offsetof(struct hm_stored, key);
}

static int list_part(struct hm_store *store, const struct hm_store_filter *filter,
                     enum hm_part part, struct run_visit *e, struct hm_err *err)
{
    bool all = finds_all_runs(e, filter);
    struct hm_statement s = {0};
    int rc = all ? write_part(store, &s, filter, part, "1 = 1", e, err)
                 : write_joined_part(store, &s, filter, part, e, err);

    if (rc == 0)
        rc = s.sql.failed ? hm__fail_nomem(err)
                          : hm__store_query(store, s.sql.data, s.parameters, s.count, visit_row, e,
                                            NULL, err);
    hm__statement_release(&s);
    return rc;
}

int hm__store_each(struct hm_store *store, const struct hm_store_filter *filter, bool with_samples,
                   hm_store_visit *visit, void *context, struct hm_err *err)
{
    struct run_visit e = {
        .visit = visit, .context = context, .arena = hm__arena_new(), .with_samples = with_samples};
    int rc = e.arena ? hm__order_read(e.arena, filter, &e.order, err) : hm__fail_nomem(err);

    if (rc == 0 && filter && filter->limit)
        rc = estimate_matches(store, filter, &e, err);
    for (int part = 0; rc == 0 && part < HM_PARTS; part++)
        if (hm__order_needs(&e.order, (enum hm_part)part) &&
            (!filter || !filter->limit || e.count < filter->limit))
            rc = list_part(store, filter, (enum hm_part)part, &e, err);
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

struct sample_list {
    struct hm_stored_sample *samples;
    size_t count, room;
};

static int copy_sample(void *context, const struct hm_sql_value *cells, size_t count,
                       struct hm_err *err)
{
    struct sample_list *s = context;
    double values[4];

    (void)count;
    (void)err;
    if (s->count == s->room)
        return 0;
    for (size_t i = 0; i < 4; i++)
        values[i] = cells[i].null ? __builtin_nan("") : cells[i].real;
    s->samples[s->count++] = (struct hm_stored_sample){values[0], values[1], values[2], values[3]};
    return 0;
}

static int read_samples(struct hm_store *store, struct hm_arena *arena, struct hm_stored *run,
                        struct hm_err *err)
{
    struct hm_sql_value id = hm__sql_integer(run->id);
    struct sample_list s = {.room = run->sample_count};

    s.samples = hm__arena_alloc(arena, s.room, sizeof(*s.samples));
    if (!s.samples)
        return hm__fail_nomem(err);
    int rc = hm__store_query(store,
                             "SELECT iteration, seconds, elapsed_s, loss FROM samples "
                             "WHERE run_id = $1 ORDER BY position",
                             &id, 1, copy_sample, &s, NULL, err);
    run->samples = s.samples;
    run->sample_count = s.count;
    return rc;
}

/* Finishes a page. The query reads one run more than the page holds; if that run exists, page->next
 * is set. */
static int end_page(struct run_list *l, const struct hm_store_filter *filter,
                    struct hm_store_page *page, struct hm_err *err)
{
    size_t limit = filter ? filter->limit : 0;
    struct hm_order order;

    if (limit == 0 || l->count <= limit)
        return 0;
    int rc = hm__order_read(l->arena, filter, &order, err);
    if (rc)
        return rc;
    l->count = limit;
    page->next = hm__cursor_write(l->arena, &order, &l->runs[limit - 1]);
    return page->next ? 0 : hm__fail_nomem(err);
}

static int fill_page(struct hm_store *store, const struct hm_store_filter *filter,
                     struct run_list *l, struct hm_store_page *page, struct hm_err *err)
{
    struct hm_store_filter more = filter ? *filter : (struct hm_store_filter){0};
    int rc = hm__store_exec(store, store->sql->begin_read, err);

    if (rc)
        return rc;
    more.limit += more.limit && more.limit < SIZE_MAX / 2 ? 1 : 0;
    rc = hm__store_each(store, &more, false, copy_run, l, err);
    if (rc == 0)
        rc = end_page(l, filter, page, err);
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

/* Executes the statement for the runs that match both the filter and the condition `rows`. */
static int select_rows(struct hm_store *store, const struct hm_store_filter *filter,
                       const char *rows, struct run_selection *w, struct hm_err *err)
{
    struct hm_statement s = {0};
    struct hm_arena *arena = hm__arena_new();
    int64_t count = 0;
    int rc = arena ? 0 : hm__fail_nomem(err);

    hm__text_addf(&s.sql, "%s WHERE %s", w->sql, rows);
    if (rc == 0)
        rc = hm__statement_where(&s, arena, store->sql, filter, HM_WHERE_ANY, NULL, NULL, err);
    if (rc == 0 && s.sql.failed)
        rc = hm__fail_nomem(err);
    if (rc == 0 && w->counts)
        rc = hm__store_number(store, s.sql.data, s.parameters, s.count, &count, err);
    else if (rc == 0)
        rc = hm__store_query(store, s.sql.data, s.parameters, s.count, NULL, NULL, &count, err);
    hm__statement_release(&s);
    hm__arena_free(arena);
    w->count += count;
    return rc;
}

/* Executes the statement for all runs that match a filter, in a transaction. */
static int select_runs(struct hm_store *store, const struct hm_store_filter *filter,
                       struct run_selection *w, struct hm_err *err)
{
    const struct hm_sql *sql = store->sql;
    int rc = hm__store_exec(store, w->counts ? sql->begin_read : sql->begin_write, err);

    if (rc)
        return rc;
    if (!has_conditions(filter)) {
        rc = select_rows(store, filter, "1 = 1", w, err);
    } else {
        rc = select_rows(store, filter, PLACED, w, err);
        if (rc == 0)
            rc = select_rows(store, filter, WAITING, w, err);
    }
    return hm__store_end(store, rc, err);
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
