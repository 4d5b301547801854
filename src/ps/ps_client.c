/*
 * Implements a worker's connection to the servers: a cache with copies of the rows that the worker
 * has read, and the sums of its increments that have not been sent yet. A read returns the cached
 * copy plus these sums. When increments are sent, they are also added to the cached copies, so that
 * a worker always sees its own increments.
 */
#include <math.h>
#include <string.h>

#include "err.h"
#include "memory.h"
#include "ps.h"
#include "ps_rows.h"

/* Connection of a worker to one server. */
struct ps_link {
    struct hm_ps_header out, in;
    double *body; /* Body of the next message to the server. */
    size_t used, room;
    size_t wanted; /* Number of rows that have been requested and not received yet. */
};

struct hm_ps {
    struct hm_comm *world;
    const struct hm_ps_layout *layout;
    /*
     * Cached copies of rows, and sums of increments that have not been sent; one element per table.
     */
    struct hm_ps_rows *copies, *sums;
    struct ps_link *links; /* Connections of this worker, one for each server. */
    /*
     * Handles of pending operations, 3 for each server: the receive of a header, the send of a
     * header, and the send of a body.
     */
    void **requests;
    /* Row numbers 0, 1, 2, …, which are passed to reads and increments of whole tables. */
    size_t *all;
    size_t all_count;
    double clock;
    struct hm_ps_stats stats;
};

int hm__ps_client_new(struct hm_comm *world, const struct hm_ps_layout *layout,
                      struct hm_ps **ret_ps, struct hm_err *err)
{
    struct hm_ps *ps = hm__calloc(1, sizeof(*ps));
    size_t servers = (size_t)layout->servers;

    if (!ps)
        return hm__fail_nomem(err);
    ps->world = world;
    ps->layout = layout;
    ps->copies = hm__calloc(layout->table_count, sizeof(*ps->copies));
    ps->sums = hm__calloc(layout->table_count, sizeof(*ps->sums));
    ps->links = hm__calloc(servers, sizeof(*ps->links));
    ps->requests = hm__calloc(3 * servers, sizeof(*ps->requests));
    bool whole = ps->copies && ps->sums && ps->links && ps->requests;
    for (size_t i = 0; whole && i < layout->table_count; i++) {
        const struct hm_ps_table *t = &layout->tables[i];
        whole = hm__ps_rows_init(&ps->copies[i], t->rows, t->columns) == 0 &&
                hm__ps_rows_init(&ps->sums[i], t->rows, t->columns) == 0;
    }
    /*
     * The buffer of each server has space for one record of any table from the start, so that
     * increments can be sent even if memory runs out later.
     */
    for (size_t k = 0; whole && k < servers; k++) {
        ps->links[k].room = layout->widest + HM_PS_RECORD;
        ps->links[k].body = hm__calloc(ps->links[k].room, sizeof(double));
        whole = ps->links[k].body;
    }
    if (!whole) {
        hm__ps_client_free(ps);
        return hm__fail_nomem(err);
    }
    *ret_ps = ps;
    return 0;
}

void hm__ps_client_free(struct hm_ps *ps)
{
    if (!ps)
        return;
    for (size_t i = 0; i < ps->layout->table_count; i++) {
        if (ps->copies)
            hm__ps_rows_release(&ps->copies[i]);
        if (ps->sums)
            hm__ps_rows_release(&ps->sums[i]);
    }
    for (size_t k = 0; ps->links && k < (size_t)ps->layout->servers; k++)
        hm__free(ps->links[k].body);
    hm__free(ps->copies);
    hm__free(ps->sums);
    hm__free(ps->links);
    hm__free(ps->requests);
    hm__free(ps->all);
    hm__free(ps);
}

/* ---- checks ---------------------------------------------------------------------------------- */

static int client_missing(const char *name, struct hm_err *err)
{
    hm__fail(err, HM_E_MISSING, "%s is NULL", name);
    hm__err_field(err, name);
    return HM_E_MISSING;
}

static int client_check(const struct hm_ps *ps, size_t table, const size_t *rows,
                        const double *values, const char *values_name, struct hm_err *err)
{
    if (!ps || !rows || !values)
        return client_missing(!ps ? "ps" : !rows ? "rows" : values_name, err);
    if (table < ps->layout->table_count)
        return 0;
    hm__fail(err, HM_E_RANGE, "table is %zu, but there are %zu tables", table,
             ps->layout->table_count);
    hm__err_field(err, "table");
    hm__err_hint(err, "tables are numbered from 0 to %zu", ps->layout->table_count - 1);
    return HM_E_RANGE;
}

static int client_check_rows(const struct hm_ps *ps, size_t table, const size_t *rows, size_t count,
                             struct hm_err *err)
{
    size_t most = ps->layout->tables[table].rows;

    for (size_t i = 0; i < count; i++)
        if (rows[i] >= most) {
            hm__fail(err, HM_E_RANGE, "row is %zu, but table %zu has %zu rows", rows[i], table,
                     most);
            hm__err_field(err, "rows");
            hm__err_hint(err, "rows are numbered from 0 to %zu", most - 1);
            return HM_E_RANGE;
        }
    return 0;
}

/* ---- messages -------------------------------------------------------------------------------- */

static size_t client_server_of(const struct hm_ps *ps, size_t row)
{
    return row % (size_t)ps->layout->servers;
}

/* Starts sending the header and the body of the message to server `k`, without waiting. */
static void client_start_send(struct hm_ps *ps, size_t k)
{
    struct ps_link *link = &ps->links[k];
    size_t servers = (size_t)ps->layout->servers;
    int to = ps->layout->workers + (int)k;

    link->out.count = (double)link->used;
    ps->stats.bytes += (double)(sizeof(link->out) + link->used * sizeof(double));
    hm__comm_start_send(ps->world, to, &link->out, sizeof(link->out), &ps->requests[servers + k]);
    if (link->used > 0)
        hm__comm_start_send(ps->world, to, link->body, link->used * sizeof(double),
                            &ps->requests[2 * servers + k]);
    link->used = 0;
}

static void client_wait_sends(struct hm_ps *ps)
{
    size_t servers = (size_t)ps->layout->servers;

    hm__comm_wait_all(ps->world, ps->requests + servers, 2 * servers);
}

/* Enlarges the buffer of a message; returns whether `more` additional values fit. */
static bool client_make_room(struct ps_link *link, size_t more)
{
    size_t room = 2 * link->room < HM_PS_BODY ? 2 * link->room : HM_PS_BODY;

    if (link->used + more <= link->room)
        return true;
    if (link->used + more > room)
        room = link->used + more;
    if (link->used > 0 && room > HM_PS_BODY)
        return false;
    double *body = hm__realloc(link->body, room, sizeof(double));
    if (!body)
        return false;
    link->body = body;
    link->room = room;
    return true;
}

/* ---- increments ------------------------------------------------------------------------------ */

static int client_check_values(const double *by, size_t count, struct hm_err *err)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(by[i])) {
            hm__fail(err, HM_E_RANGE, "increment %zu is %g; increments must be finite", i, by[i]);
            hm__err_field(err, "by");
            return HM_E_RANGE;
        }
    return 0;
}

int hm_ps_inc_batch(struct hm_ps *ps, size_t table, const size_t *rows, size_t count,
                    const double *by, struct hm_err *err)
{
    int rc = client_check(ps, table, rows, by, "by", err);

    if (rc == 0)
        rc = client_check_rows(ps, table, rows, count, err);
    if (rc)
        return rc;
    struct hm_ps_rows *sums = &ps->sums[table];
    rc = client_check_values(by, count * sums->columns, err);
    if (rc)
        return rc;
    size_t absent = 0;
    for (size_t i = 0; i < count; i++)
        absent += hm__ps_rows_find(sums, rows[i]) == HM_NONE;
    if (hm__ps_rows_reserve(sums, absent))
        return hm__fail_nomem(err);
    for (size_t i = 0; i < count; i++) {
        size_t place = hm__ps_rows_find(sums, rows[i]);
        if (place == HM_NONE)
            place = hm__ps_rows_add(sums, rows[i]);
        for (size_t j = 0; j < sums->columns; j++)
            sums->values[place * sums->columns + j] += by[i * sums->columns + j];
    }
    return 0;
}

int hm_ps_inc(struct hm_ps *ps, size_t table, size_t row, const double *by, struct hm_err *err)
{
    return hm_ps_inc_batch(ps, table, &row, 1, by, err);
}

/*
 * Appends one row of increments to the message for the server that stores the row; if the message
 * is full, it is sent first.
 */
static void client_append(struct hm_ps *ps, size_t table, size_t place)
{
    const struct hm_ps_rows *sums = &ps->sums[table];
    size_t row = sums->row[place], k = client_server_of(ps, row);
    struct ps_link *link = &ps->links[k];

    if (!client_make_room(link, HM_PS_RECORD + sums->columns)) {
        link->out = (struct hm_ps_header){.kind = HM_PS_PUSH, .clock = ps->clock};
        client_start_send(ps, k);
        client_wait_sends(ps);
    }
    double *at = link->body + link->used;
    at[0] = (double)table;
    at[1] = (double)row;
    memcpy(at + HM_PS_RECORD, sums->values + place * sums->columns, sums->columns * sizeof(double));
    link->used += HM_PS_RECORD + sums->columns;
    ps->stats.rows_sent++;
}

/*
 * Adds the increments of a table to the cached copies of the same rows, and sets the increments to
 * 0.
 */
static void client_merge(struct hm_ps_rows *copies, struct hm_ps_rows *sums)
{
    for (size_t i = 0; i < sums->count; i++) {
        size_t place = hm__ps_rows_find(copies, sums->row[i]);
        if (place == HM_NONE)
            continue;
        for (size_t j = 0; j < sums->columns; j++)
            copies->values[place * sums->columns + j] += sums->values[i * sums->columns + j];
    }
    hm__ps_rows_clear(sums);
}

int hm_ps_clock(struct hm_ps *ps, struct hm_err *err)
{
    if (!ps)
        return client_missing("ps", err);
    double began = ps->world->ops->now(ps->world);
    for (size_t i = 0; i < ps->layout->table_count; i++) {
        for (size_t j = 0; j < ps->sums[i].count; j++)
            client_append(ps, i, j);
        client_merge(&ps->copies[i], &ps->sums[i]);
    }
    for (size_t k = 0; k < (size_t)ps->layout->servers; k++) {
        ps->links[k].out = (struct hm_ps_header){.kind = HM_PS_PUSH, .clock = ps->clock, .ends = 1};
        client_start_send(ps, k);
    }
    client_wait_sends(ps);
    ps->clock++;
    ps->stats.clocks++;
    ps->stats.wait_s += ps->world->ops->now(ps->world) - began;
    return 0;
}

/* ---- reads ----------------------------------------------------------------------------------- */

/*
 * Returns the number of clocks that all workers must have finished before this worker may read the
 * table.
 */
static double client_needed_clock(const struct hm_ps *ps, size_t table)
{
    return fmax(0, ps->clock - ps->layout->tables[table].staleness);
}

/* Returns whether the cached copy at index `place` is within the staleness bound of its table. */
static bool client_is_fresh(const struct hm_ps *ps, size_t table, size_t place)
{
    double version = ps->copies[table].version[place];

    /*
     * In a table without a staleness bound, `version` is the clock of this worker at which the copy
     * was received.
     */
    return isinf(ps->layout->tables[table].staleness) ? version == ps->clock
                                                      : version >= client_needed_clock(ps, table);
}

/*
 * Receives the rows that were requested from server `k`. The buffer still contains the request with
 * the numbers of these rows.
 */
static void client_receive_rows(struct hm_ps *ps, size_t table, size_t k)
{
    struct ps_link *link = &ps->links[k];
    struct hm_ps_rows *copies = &ps->copies[table];
    bool unbounded = isinf(ps->layout->tables[table].staleness);
    size_t columns = copies->columns;

    ps->stats.bytes += (double)(sizeof(link->in) + link->wanted * columns * sizeof(double));
    for (size_t i = 0; i < link->wanted; i++) {
        size_t place = hm__ps_rows_find(copies, (size_t)link->body[i]);
        memcpy(copies->values + place * columns, link->body + link->wanted + i * columns,
               columns * sizeof(double));
        copies->version[place] = unbounded ? ps->clock : link->in.clock;
    }
    ps->stats.rows_received += (double)link->wanted;
    link->wanted = 0;
}

/* Sends a request to each server that stores needed rows, and receives the replies in any order. */
static void client_request(struct hm_ps *ps, size_t table, double needed, bool all)
{
    size_t servers = (size_t)ps->layout->servers, left = 0;
    size_t columns = ps->layout->tables[table].columns;
    double began = ps->world->ops->now(ps->world);

    for (size_t k = 0; k < servers; k++) {
        struct ps_link *link = &ps->links[k];
        if (!all && link->used == 0)
            continue;
        link->wanted = link->used;
        link->out =
            (struct hm_ps_header){.kind = HM_PS_GET, .table = (double)table, .clock = needed};
        hm__comm_start_receive(ps->world, ps->layout->workers + (int)k, &link->in, sizeof(link->in),
                               &ps->requests[k]);
        client_start_send(ps, k);
        left++;
    }
    while (left > 0) {
        size_t place = hm__comm_wait_any(ps->world, ps->requests, 3 * servers, NULL);
        if (place >= servers)
            continue;
        struct ps_link *link = &ps->links[place];
        size_t bytes = link->wanted * columns * sizeof(double);
        void *request = NULL;
        if (bytes > 0) {
            /* The reply is received into the buffer of the request, after the row numbers. */
            hm__comm_start_receive(ps->world, ps->layout->workers + (int)place,
                                   link->body + link->wanted, bytes, &request);
            hm__comm_wait_all(ps->world, &request, 1);
        }
        ps->world->received += (double)(sizeof(link->in) + bytes);
        client_receive_rows(ps, table, place);
        left--;
    }
    client_wait_sends(ps);
    ps->stats.wait_s += ps->world->ops->now(ps->world) - began;
}

/*
 * Requests rows, starting with rows[first], until all stale rows have been requested or a message
 * is full. Returns the index of the first row that was not requested, or HM_NONE if memory runs out
 * even for a single row.
 */
static size_t client_request_some(struct hm_ps *ps, size_t table, const size_t *rows, size_t first,
                                  size_t count)
{
    struct hm_ps_rows *copies = &ps->copies[table];
    size_t i = first;

    for (; i < count; i++) {
        size_t place = hm__ps_rows_find(copies, rows[i]);
        if (place != HM_NONE && client_is_fresh(ps, table, place))
            continue;
        struct ps_link *link = &ps->links[client_server_of(ps, rows[i])];
        size_t used = link->used;
        /*
         * The buffer must have space for the row numbers of the request and for the values of the
         * reply.
         */
        link->used = used * (1 + copies->columns);
        bool fits = client_make_room(link, 1 + copies->columns);
        link->used = used;
        if (!fits)
            break;
        link->body[link->used++] = (double)rows[i];
        if (place == HM_NONE && hm__ps_rows_reserve(copies, 1)) {
            link->used--;
            break;
        }
        /* The version is set before the copy arrives, so that the row is not requested twice. */
        if (place == HM_NONE)
            place = hm__ps_rows_add(copies, rows[i]);
        copies->version[place] = ps->clock;
    }
    if (i == first && i < count)
        return HM_NONE;
    client_request(ps, table, client_needed_clock(ps, table), false);
    return i;
}

int hm_ps_get_batch(struct hm_ps *ps, size_t table, const size_t *rows, size_t count,
                    double *ret_values, struct hm_err *err)
{
    int rc = client_check(ps, table, rows, ret_values, "ret_values", err);

    if (rc == 0)
        rc = client_check_rows(ps, table, rows, count, err);
    if (rc)
        return rc;
    for (size_t next = 0; next < count;) {
        next = client_request_some(ps, table, rows, next, count);
        if (next == HM_NONE)
            return hm__fail_nomem(err);
    }
    const struct hm_ps_rows *copies = &ps->copies[table], *sums = &ps->sums[table];
    size_t columns = copies->columns;
    for (size_t i = 0; i < count; i++) {
        size_t place = hm__ps_rows_find(copies, rows[i]), own = hm__ps_rows_find(sums, rows[i]);
        double *into = ret_values + i * columns;
        memcpy(into, copies->values + place * columns, columns * sizeof(double));
        for (size_t j = 0; own != HM_NONE && j < columns; j++)
            into[j] += sums->values[own * columns + j];
    }
    ps->stats.rows_read += (double)count;
    return 0;
}

int hm_ps_get(struct hm_ps *ps, size_t table, size_t row, double *ret_values, struct hm_err *err)
{
    return hm_ps_get_batch(ps, table, &row, 1, ret_values, err);
}

/* Creates a list with the numbers of all rows of a table. */
static int client_list_rows(struct hm_ps *ps, size_t table, struct hm_err *err)
{
    size_t rows = ps->layout->tables[table].rows;

    if (ps->all_count >= rows)
        return 0;
    size_t *all = hm__realloc(ps->all, rows, sizeof(*all));
    if (!all)
        return hm__fail_nomem(err);
    for (size_t i = ps->all_count; i < rows; i++)
        all[i] = i;
    ps->all = all;
    ps->all_count = rows;
    return 0;
}

int hm_ps_get_table(struct hm_ps *ps, size_t table, double *ret_values, struct hm_err *err)
{
    int rc = client_check(ps, table, &table, ret_values, "ret_values", err);

    rc = rc ? rc : client_list_rows(ps, table, err);
    return rc ? rc
              : hm_ps_get_batch(ps, table, ps->all, ps->layout->tables[table].rows, ret_values,
                                err);
}

int hm_ps_inc_table(struct hm_ps *ps, size_t table, const double *by, struct hm_err *err)
{
    int rc = client_check(ps, table, &table, by, "by", err);

    rc = rc ? rc : client_list_rows(ps, table, err);
    return rc ? rc : hm_ps_inc_batch(ps, table, ps->all, ps->layout->tables[table].rows, by, err);
}

int hm_ps_barrier(struct hm_ps *ps, struct hm_err *err)
{
    int rc = hm_ps_clock(ps, err);

    if (rc)
        return rc;
    for (size_t i = 0; i < ps->layout->table_count; i++)
        hm__ps_rows_clear(&ps->copies[i]);
    client_request(ps, 0, ps->clock, true);
    return 0;
}

/* ---- this worker ----------------------------------------------------------------------------- */

int hm_ps_worker(const struct hm_ps *ps)
{
    return ps ? ps->world->rank : -1;
}

int hm_ps_workers(const struct hm_ps *ps)
{
    return ps ? ps->layout->workers : 0;
}

int hm_ps_stats(const struct hm_ps *ps, struct hm_ps_stats *ret_stats, struct hm_err *err)
{
    if (!ps || !ret_stats)
        return client_missing(ps ? "ret_stats" : "ps", err);
    *ret_stats = ps->stats;
    return 0;
}

void hm__ps_client_end(struct hm_ps *ps, bool push)
{
    bool changed = false;

    for (size_t i = 0; i < ps->layout->table_count; i++)
        changed = changed || ps->sums[i].count > 0;
    if (push && changed)
        hm_ps_clock(ps, NULL);
    for (size_t k = 0; k < (size_t)ps->layout->servers; k++) {
        ps->links[k].out = (struct hm_ps_header){.kind = HM_PS_DONE};
        client_start_send(ps, k);
    }
    client_wait_sends(ps);
}
