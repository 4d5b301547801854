/*
 * Finds a page of runs that meet several conditions. SQLite uses one index per query and knows
 * nothing about the values in it. It may therefore read all runs of an algorithm in order to find
 * the few runs of a machine, or all runs in the order of the loss. Here, a page is found as
 * follows:
 *
 *   1. The index of each condition gives the ids of its runs, without reading the runs; at most
 *      `first_ids` are read. If a condition has fewer, its runs are the candidates.
 *   2. Otherwise, runs are read in order and tested for a short time (`trial_s`). This fills the
 *      page if many runs meet the conditions.
 *   3. If the page is not full then, up to `most_ids` ids are read for each condition that seems to
 *      have no more runs. The candidates are the runs that are in all complete lists.
 *   4. If there are few candidates, they are read and sorted. Otherwise, the index of the sort
 *      column is read in order, and only candidates are read and tested.
 *
 * A set of ids is an array of bits. Waiting runs, which are in no index (store_place.c), are always
 * candidates.
 */
#include "page_search.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "err.h"

enum {
    LARGEST_ID = 1 << 27, /* With larger ids, the arrays of bits would take too much memory. */
    WORD = 64,            /* Bits of a word. */
};

const struct hm_search_effort hm__search_effort = {.first_ids = 1000,
                                                   .most_ids = 150000,
                                                   .all_ids = 300000,
                                                   .trial_s = 0.012,
                                                   .sorted_max = 5000,
                                                   .small = 5000};

/*
 * Time of reading a run at a random place, divided by the time of reading the next entry of an
 * index. It is about 10 if the file is in memory, and more otherwise.
 */
static const double RUN_COST = 50;

/* A set of ids, as an array of bits. */
struct id_set {
    uint64_t *words;
    int64_t most; /* The largest id that the set can contain. */
    size_t count; /* Number of ids in the set. */
    int64_t last; /* The id that was added last. */
};

struct page_state {
    struct hm_page_search *search;
    struct hm_order at;        /* Position: the last run that was read in order. */
    struct hm_text at_text;    /* Contains the value of the position if it is a string. */
    struct hm_statement by_id; /* The query for one run, if it meets all conditions. */
    int64_t largest;           /* The largest id of a run. */
    size_t found;              /* Number of runs of the page so far. */
    bool ended;                /* True if there are no more runs after the position. */
    bool listed;               /* True if `candidates` contains all runs that can match. */
    struct id_set candidates, scratch;
    bool complete[HM_STORE_WHERE + 2]; /* Conditions whose runs have been listed. */
    /* For each condition, the estimated number of its runs; 0 if it is not known. */
    double estimate[HM_STORE_WHERE + 2];
    size_t ids_read;
    double end_s;     /* Time at which the search has to end. */
    double trial_end; /* Time at which a trial has to end; infinite if it is not a trial. */
};

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- sets of ids ---------------------------------------------------------------------------- */

static size_t set_words(const struct id_set *set)
{
    return (size_t)(set->most / WORD) + 1;
}

static bool set_has(const struct id_set *set, int64_t id)
{
    return id >= 0 && id <= set->most && (set->words[id / WORD] >> (id % WORD) & 1);
}

static void set_add(struct id_set *set, int64_t id)
{
    if (id < 0 || id > set->most || set_has(set, id))
        return;
    set->words[id / WORD] |= (uint64_t)1 << (id % WORD);
    set->count++;
    set->last = id;
}

static void set_intersect(struct id_set *set, const struct id_set *other)
{
    set->count = 0;
    for (size_t i = 0; i < set_words(set); i++) {
        set->words[i] &= other->words[i];
        set->count += (size_t)__builtin_popcountll(set->words[i]);
    }
}

/* Returns the first id after `id`, or before it if `descending`; -1 if there is none. */
static int64_t set_next(const struct id_set *set, int64_t id, bool descending)
{
    int64_t step = descending ? -1 : 1;

    id = descending && id > set->most + 1 ? set->most + 1 : id < -1 ? -1 : id;
    for (id += step; id >= 0 && id <= set->most; id += step) {
        /* A word without ids is skipped. */
        if (set->words[id / WORD] == 0)
            id = descending ? id / WORD * WORD : id / WORD * WORD + WORD - 1;
        else if (set_has(set, id))
            return id;
    }
    return -1;
}

/* ---- lists of the ids that meet a condition -------------------------------------------------- */

/* A set of ids that is being read. */
struct id_reading {
    struct id_set *set;
    double end_s; /* Time at which reading has to end. */
    bool late;    /* True if reading ended at that time. */
};

static int add_id(void *context, const struct hm_sql_value *cells, size_t count, struct hm_err *err)
{
    enum { LOOK_EVERY = 256 };
    struct id_reading *r = context;

    (void)count;
    (void)err;
    set_add(r->set, cells[0].integer);
    r->late = r->set->count % LOOK_EVERY == 0 && now_s() >= r->end_s;
    return r->late ? HM_SQL_STOP : 0;
}

/* Makes the database use the index of a column, whose name schema.c defines. */
static void use_index(struct hm_statement *q, const struct hm_store_column *column)
{
    if (column->kind != HM_STORE_ID)
        hm__text_addf(&q->sql, " INDEXED BY runs_%s", column->name);
}

/*
 * Adds the ids of up to `most` runs to a set. The runs meet a condition, unless it is NULL, and the
 * SQL condition `rows`. *ret_all is whether these are all such runs.
 */
static int read_ids(struct page_state *s, const char *rows, const struct hm_condition *condition,
                    size_t most, struct id_set *set, bool *ret_all, struct hm_err *err)
{
    struct hm_store *store = s->search->store;
    struct hm_statement q = {0};
    struct id_reading r = {set, condition ? s->end_s : INFINITY, false};
    size_t before = set->count;

    hm__text_add(&q.sql, "SELECT id FROM runs");
    if (condition)
        use_index(&q, condition->column);
    hm__text_addf(&q.sql, " WHERE %s", rows);
    if (condition)
        hm__statement_condition(&q, store->sql, condition, "");
    hm__text_addf(&q.sql, " LIMIT $%zu", hm__statement_bind(&q, hm__sql_integer((int64_t)most)));
    int rc = q.sql.failed
                 ? hm__fail_nomem(err)
                 : hm__store_query(store, q.sql.data, q.parameters, q.count, add_id, &r, NULL, err);
    hm__statement_release(&q);
    *ret_all = !r.late && set->count - before < most;
    return rc == HM_SQL_STOP ? 0 : rc;
}

/* Allocates both sets on the first call. */
static int make_sets(struct page_state *s, struct hm_err *err)
{
    if (s->scratch.words)
        return 0;
    s->candidates.most = s->scratch.most = s->largest;
    s->candidates.words = hm__calloc(set_words(&s->candidates), sizeof(uint64_t));
    s->scratch.words = hm__calloc(set_words(&s->scratch), sizeof(uint64_t));
    return s->candidates.words && s->scratch.words ? 0 : hm__fail_nomem(err);
}

static bool is_listable(const struct page_state *s, size_t i)
{
    const struct hm_condition *c = &s->search->conditions->items[i];

    return !s->complete[i] && c->column && c->op[0] != '!' &&
           s->estimate[i] < (double)s->search->effort->most_ids;
}

/*
 * Estimates how many runs meet an `=` condition from the ids of its first runs, which the index
 * gives in order, as if its runs were distributed evenly among all runs.
 */
static double estimate_runs(const struct hm_condition *c, const struct id_set *first)
{
    return c->op[0] == '=' ? (double)first->count * (double)first->most / (double)(first->last + 1)
                           : 0;
}

/* Reads up to `most` ids of one condition. If these are all, they limit the candidates. */
static int list_condition(struct page_state *s, size_t i, size_t most, struct hm_err *err)
{
    struct id_set *set = s->listed ? &s->scratch : &s->candidates;
    const struct hm_condition *c = &s->search->conditions->items[i];
    bool all;

    memset(set->words, 0, set_words(set) * sizeof(uint64_t));
    set->count = 0;
    int rc = read_ids(s, HM_RUNS_PLACED, c, most, set, &all, err);
    s->ids_read += set->count;
    if (rc)
        return rc;
    if (!all) {
        s->estimate[i] = estimate_runs(c, set);
        return 0;
    }
    s->complete[i] = true;
    if (s->listed)
        set_intersect(&s->candidates, &s->scratch);
    s->listed = true;
    return 0;
}

/* Finds candidates from the lists of conditions that have fewer than `most` runs. */
static int list_candidates(struct page_state *s, size_t most, struct hm_err *err)
{
    bool all;
    int rc = s->largest <= LARGEST_ID ? make_sets(s, err) : 0;

    if (rc || !s->scratch.words)
        return rc;
    for (size_t i = 0;
         rc == 0 && i < s->search->conditions->count && s->ids_read < s->search->effort->all_ids;
         i++)
        if (is_listable(s, i))
            rc = list_condition(s, i, most, err);
    if (rc == 0 && s->listed)
        rc = read_ids(s, HM_RUNS_WAITING, NULL, LARGEST_ID, &s->candidates, &all, err);
    return rc;
}

/* ---- reading runs by their ids --------------------------------------------------------------- */

static int take_run(void *context, const struct hm_sql_value *cells, size_t count,
                    struct hm_err *err)
{
    struct page_state *s = context;

    s->found++;
    return s->search->row(s->search->context, cells, count, err);
}

/* Reads one run, and takes it if it meets all conditions. */
static int read_run(struct page_state *s, int64_t id, struct hm_err *err)
{
    struct hm_statement *q = &s->by_id;
    struct hm_page_search *search = s->search;

    if (q->count == 0) {
        hm__statement_bind(q, hm__sql_integer(id));
        hm__text_addf(&q->sql, "%s WHERE id = $1", search->select);
        hm__statement_where(q, search->store->sql, search->conditions, NULL);
        hm__text_add(&q->sql, search->also);
    }
    q->parameters[0] = hm__sql_integer(id);
    return q->sql.failed ? hm__fail_nomem(err)
                         : hm__store_query(search->store, q->sql.data, q->parameters, q->count,
                                           take_run, s, NULL, err);
}

/* Reads those runs of a JSON array of ids that are in a part of the page, in order. */
static int read_sorted(struct page_state *s, const char *ids, enum hm_part part, struct hm_err *err)
{
    struct hm_page_search *search = s->search;
    struct hm_statement q = {0};

    hm__statement_bind(&q, hm__sql_text(ids));
    hm__text_addf(&q.sql, "%s%s", search->select, search->store->sql->by_ids);
    hm__statement_where(&q, search->store->sql, search->conditions, NULL);
    hm__text_add(&q.sql, search->also);
    hm__order_condition(&q, &s->at, part);
    hm__order_by(&q, &s->at, part);
    hm__text_addf(&q.sql, " LIMIT $%zu",
                  hm__statement_bind(&q, hm__sql_integer((int64_t)(search->limit - s->found))));
    int rc = q.sql.failed ? hm__fail_nomem(err)
                          : hm__store_query(search->store, q.sql.data, q.parameters, q.count,
                                            take_run, s, NULL, err);
    hm__statement_release(&q);
    return rc;
}

/* Reads all candidates and sorts them. */
static int sort_candidates(struct page_state *s, struct hm_err *err)
{
    struct hm_text ids = {0};

    hm__text_add(&ids, "[");
    for (int64_t id = -1; (id = set_next(&s->candidates, id, false)) >= 0;)
        hm__text_addf(&ids, "%s%lld", ids.length > 1 ? "," : "", (long long)id);
    hm__text_add(&ids, "]");
    int rc = ids.failed ? hm__fail_nomem(err) : 0;
    for (int part = 0; rc == 0 && part < HM_PARTS; part++)
        if (hm__order_needs(&s->at, (enum hm_part)part) && s->found < s->search->limit)
            rc = read_sorted(s, ids.data, (enum hm_part)part, err);
    hm__text_release(&ids);
    s->ended = true;
    return rc;
}

/* ---- reading runs in order ------------------------------------------------------------------- */

static bool is_over(const struct page_state *s)
{
    double now = now_s();

    return now >= s->trial_end || now >= s->end_s;
}

static int move_to(struct page_state *s, const struct hm_sql_value *value, int64_t id,
                   struct hm_err *err)
{
    s->at.after = true;
    s->at.known = !value->null;
    s->at.id = id;
    s->at.value = hm__sql_real(value->real);
    if (s->at.column->kind != HM_STORE_TEXT || value->null)
        return 0;
    if (!value->text)
        return hm__fail(err, HM_E_IO, "the store is damaged: a text is stored as a number");
    s->at_text.length = 0;
    hm__text_add(&s->at_text, value->text);
    s->at.value = hm__sql_text(s->at_text.data);
    return s->at_text.failed ? hm__fail_nomem(err) : 0;
}

/*
 * Moves the position to a run, and takes the run if it meets the conditions. The cells of the row
 * are the value in the sort column, the id, and whether the run meets the conditions; if there are
 * candidates, the run is read only if it is one of them.
 */
static int pass_run(void *context, const struct hm_sql_value *cells, size_t count,
                    struct hm_err *err)
{
    struct page_state *s = context;
    int64_t id = cells[1].integer;
    bool matches = s->listed ? set_has(&s->candidates, id) : cells[2].integer == 1;
    int rc = move_to(s, &cells[0], id, err);

    (void)count;
    if (rc == 0 && matches)
        rc = read_run(s, id, err);
    return rc ? rc : s->found == s->search->limit || is_over(s) ? HM_SQL_STOP : 0;
}

/*
 * Returns the condition whose index orders its runs by id, so that only these runs need to be read
 * in the order of ids; NULL if there is none.
 */
static const struct hm_condition *find_equal(const struct hm_conditions *conditions)
{
    for (size_t i = 0; i < conditions->count; i++)
        if (conditions->items[i].column && conditions->items[i].op[0] == '=')
            return &conditions->items[i];
    return NULL;
}

/* Writes the query for the runs of a part of the page among the placed or the waiting runs. */
static void write_walk(struct page_state *s, struct hm_statement *q, enum hm_part part, bool placed)
{
    const struct hm_page_search *search = s->search;
    const struct hm_store_column *sort = search->order.column;
    const struct hm_conditions *conditions = search->conditions;
    const struct hm_condition *equal = sort->kind == HM_STORE_ID ? find_equal(conditions) : NULL;

    hm__text_addf(&q->sql, "SELECT \"%s\" AS sorted, id, 1 = 1", sort->name);
    if (!s->listed) {
        hm__statement_where(q, search->store->sql, conditions, NULL);
        hm__text_add(&q->sql, search->also);
    }
    hm__text_add(&q->sql, " FROM runs");
    if (placed)
        use_index(q, equal ? equal->column : sort);
    hm__text_addf(&q->sql, " WHERE %s", placed ? HM_RUNS_PLACED : HM_RUNS_WAITING);
    for (size_t i = 0; i < conditions->count; i++)
        if (conditions->items[i].column == sort || &conditions->items[i] == equal)
            hm__statement_condition(q, search->store->sql, &conditions->items[i], "");
    hm__order_condition(q, &search->order, part);
}

static int walk_part(struct page_state *s, enum hm_part part, struct hm_err *err)
{
    struct hm_page_search *search = s->search;
    const char *way = search->order.descending ? " DESC" : "";
    struct hm_statement q = {0};

    write_walk(s, &q, part, true);
    hm__text_add(&q.sql, " UNION ALL ");
    write_walk(s, &q, part, false);
    hm__text_addf(&q.sql, " ORDER BY sorted%s, id%s", way, way);
    int rc = q.sql.failed ? hm__fail_nomem(err)
                          : hm__store_query(search->store, q.sql.data, q.parameters, q.count,
                                            pass_run, s, NULL, err);
    hm__statement_release(&q);
    return rc;
}

/* Tests the candidates in the order of their ids, without reading an index. */
static int walk_candidates(struct page_state *s, struct hm_err *err)
{
    bool descending = s->at.descending;
    int64_t id = s->at.after ? s->at.id : descending ? INT64_MAX - 1 : -1;
    int rc = 0;

    while (rc == 0 && (id = set_next(&s->candidates, id, descending)) >= 0) {
        s->at.after = true;
        s->at.id = id;
        rc = read_run(s, id, err);
        if (rc == 0 && (s->found == s->search->limit || is_over(s)))
            return 0;
    }
    s->ended = true;
    return rc;
}

/* Reads runs in order until the page is full, the time is over, or there are no more runs. */
static int walk_runs(struct page_state *s, double trial_end, struct hm_err *err)
{
    int rc = 0;

    s->trial_end = trial_end;
    s->search->order = s->at;
    if (s->listed && s->at.column->kind == HM_STORE_ID)
        return walk_candidates(s, err);
    if (s->at.value.text) {
        s->search->order.value.text = hm__arena_strdup(s->search->arena, s->at.value.text);
        if (!s->search->order.value.text)
            return hm__fail_nomem(err);
    }
    for (int part = 0; rc == 0 && part < HM_PARTS; part++)
        if (hm__order_needs(&s->search->order, (enum hm_part)part))
            rc = walk_part(s, (enum hm_part)part, err);
    s->ended = rc == 0;
    return rc == HM_SQL_STOP ? 0 : rc;
}

/* ---- the search ----------------------------------------------------------------------------- */

bool hm__search_is_needed(const struct hm_conditions *conditions, const struct hm_order *order)
{
    for (size_t i = 0; i < conditions->count; i++)
        if (conditions->items[i].column != order->column || conditions->items[i].op[0] == '!')
            return true;
    return false;
}

/*
 * Returns whether reading and sorting all candidates takes less time than reading the index of the
 * sort column until the page is full. The candidates lie at random among all runs in this index.
 */
static bool is_sorting_faster(const struct page_state *s)
{
    double count = (double)s->candidates.count, all = (double)s->candidates.most;
    bool limited = s->search->seconds > 0 && s->candidates.count > s->search->effort->sorted_max;

    return s->listed && s->search->order.column->kind != HM_STORE_ID && !limited &&
           RUN_COST * count * count <= all * (double)s->search->limit;
}

static int find_runs(struct page_state *s, struct hm_err *err)
{
    int rc = list_candidates(s, s->search->effort->first_ids, err);

    if (rc == 0 && !s->listed) {
        rc = walk_runs(s, now_s() + s->search->effort->trial_s, err);
        if (rc || s->ended || s->found == s->search->limit || now_s() < s->trial_end)
            return rc;
        rc = list_candidates(s, s->search->effort->most_ids, err);
    }
    if (rc == 0 && is_sorting_faster(s))
        return sort_candidates(s, err);
    return rc ? rc : walk_runs(s, INFINITY, err);
}

/* Allocates the state of a search; *ret_state is NULL if this fails. */
static int begin_search(struct hm_page_search *search, struct page_state **ret_state,
                        struct hm_err *err)
{
    struct page_state *s = hm__calloc(1, sizeof(*s));

    *ret_state = s;
    if (!s)
        return hm__fail_nomem(err);
    s->search = search;
    s->at = search->order;
    int rc = hm__store_largest_id(search->store, &s->largest, err);
    bool limited = search->seconds > 0 && s->largest > search->effort->small;
    s->end_s = limited ? now_s() + search->seconds : INFINITY;
    return rc;
}

static void end_search(struct page_state *s)
{
    if (!s)
        return;
    hm__free(s->candidates.words);
    hm__free(s->scratch.words);
    hm__statement_release(&s->by_id);
    hm__text_release(&s->at_text);
    hm__free(s);
}

int hm__search_page(struct hm_page_search *search, const char **ret_after, struct hm_err *err)
{
    struct page_state *s;
    int rc = begin_search(search, &s, err);

    *ret_after = NULL;
    if (rc == 0)
        rc = find_runs(s, err);
    if (rc == 0 && !s->ended && s->found < search->limit) {
        *ret_after = hm__cursor_write(search->arena, &s->at);
        rc = *ret_after ? 0 : hm__fail_nomem(err);
    }
    end_search(s);
    return rc;
}

int hm__search_all(struct hm_page_search *search, bool *ret_found, struct hm_err *err)
{
    struct page_state *s;

    search->limit = SIZE_MAX / 2;
    search->seconds = 0;
    int rc = begin_search(search, &s, err);
    if (rc == 0)
        rc = list_candidates(s, search->effort->first_ids, err);
    if (rc == 0 && !s->listed)
        rc = list_candidates(s, search->effort->most_ids, err);
    *ret_found = rc == 0 && s->listed;
    if (*ret_found)
        rc = search->order.column->kind == HM_STORE_ID ? walk_runs(s, INFINITY, err)
                                                       : sort_candidates(s, err);
    end_search(s);
    return rc;
}
