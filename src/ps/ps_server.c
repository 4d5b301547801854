/*
 * Implements a parameter server. With s servers, server k stores row k of each table and every s-th
 * row after it. A server has one thread. A non-blocking receive for the next header of each worker
 * is always pending, and replies are sent without waiting.
 *
 * Increments of tables with a staleness bound above 0 are added when they arrive. Increments of
 * tables with bound 0 are stored until all workers have finished the clock of the increments, and
 * are then added in the order of clocks and workers.
 */
#include <math.h>
#include <string.h>

#include "err.h"
#include "memory.h"
#include "ps.h"

/* A message body with increments that must not be added yet. */
struct kept_push {
    struct kept_push *next;
    double clock;
    size_t count;
    double body[];
};

/* What the server knows about the state of one worker. */
struct ps_peer {
    double clock; /* Number of clocks that the worker has finished; INFINITY if it has returned. */
    bool waits;   /* True if the worker waits for a reply to its request `asked`. */
    struct hm_ps_header header, asked, reply;
    double *rows; /* Row numbers that the last GET message of the worker requested. */
    size_t rows_room;
    double *values; /* Body of the last reply to the worker. */
    size_t values_room;
    /* Increments that must not be added yet, in the order of arrival. */
    struct kept_push *kept, **kept_end;
};

struct hm_ps_server {
    struct hm_comm *world;
    const struct hm_ps_layout *layout;
    double **tables; /* Rows of each table that this server stores; table_count elements. */
    struct ps_peer *peers;
    /*
     * Handles of pending operations, 3 for each worker: the receive of a header, the send of a
     * header, and the send of a body.
     */
    void **requests;
    double *body; /* Body of the message that is being processed. */
    size_t body_room;
    double added; /* Number of clocks whose stored increments have been added. */
    int done;     /* Number of workers that have finished. */
};

int hm__ps_server_new(struct hm_comm *world, const struct hm_ps_layout *layout,
                      struct hm_ps_server **ret_server, struct hm_err *err)
{
    struct hm_ps_server *s = hm__calloc(1, sizeof(*s));
    size_t workers = (size_t)layout->workers, servers = (size_t)layout->servers;
    size_t own = (size_t)world->rank - workers;

    if (!s)
        return hm__fail_nomem(err);
    s->world = world;
    s->layout = layout;
    s->tables = hm__calloc(layout->table_count, sizeof(*s->tables));
    s->peers = hm__calloc(workers, sizeof(*s->peers));
    s->requests = hm__calloc(3 * workers, sizeof(*s->requests));
    bool whole = s->tables && s->peers && s->requests;
    for (size_t i = 0; whole && i < layout->table_count; i++) {
        const struct hm_ps_table *t = &layout->tables[i];
        size_t rows = t->rows > own ? (t->rows - own - 1) / servers + 1 : 0;
        s->tables[i] = hm__calloc(rows, t->columns * sizeof(double));
        whole = s->tables[i];
    }
    if (!whole) {
        hm__ps_server_free(s);
        return hm__fail_nomem(err);
    }
    for (size_t i = 0; i < workers; i++)
        s->peers[i].kept_end = &s->peers[i].kept;
    *ret_server = s;
    return 0;
}

void hm__ps_server_free(struct hm_ps_server *s)
{
    if (!s)
        return;
    for (size_t i = 0; s->tables && i < s->layout->table_count; i++)
        hm__free(s->tables[i]);
    for (size_t i = 0; s->peers && i < (size_t)s->layout->workers; i++) {
        struct ps_peer *peer = &s->peers[i];
        for (struct kept_push *next, *at = peer->kept; at; at = next) {
            next = at->next;
            hm__free(at);
        }
        hm__free(peer->rows);
        hm__free(peer->values);
    }
    hm__free(s->tables);
    hm__free(s->peers);
    hm__free(s->requests);
    hm__free(s->body);
    hm__free(s);
}

/* Enlarges a buffer that is reused for all messages, so that it holds `count` doubles. */
static void server_make_room(struct hm_ps_server *s, double **buffer, size_t *room, size_t count)
{
    if (count <= *room)
        return;
    double *more = hm__realloc(*buffer, count, sizeof(double));
    if (!more)
        s->world->ops->fail(s->world, "a parameter server is out of memory");
    *buffer = more;
    *room = count;
}

static void server_receive_body(struct hm_ps_server *s, size_t from, double *into, size_t count)
{
    void *request;

    if (count == 0)
        return;
    hm__comm_start_receive(s->world, (int)from, into, count * sizeof(double), &request);
    hm__comm_wait_all(s->world, &request, 1);
    s->world->received += (double)(count * sizeof(double));
}

static double server_slowest(const struct hm_ps_server *s)
{
    double least = INFINITY;

    for (int i = 0; i < s->layout->workers; i++)
        least = fmin(least, s->peers[i].clock);
    return least;
}

/* ---- increments ------------------------------------------------------------------------------ */

static double *server_row(const struct hm_ps_server *s, size_t table, size_t row)
{
    return s->tables[table] + row / (size_t)s->layout->servers * s->layout->tables[table].columns;
}

/*
 * Adds increments in a message body: the increments of tables with staleness bound 0 if `exact` is
 * true, otherwise the increments of the other tables. Returns whether the body also contains
 * increments that were not added.
 */
static bool server_add(struct hm_ps_server *s, const double *body, size_t count, bool exact)
{
    bool others = false;

    for (size_t at = 0; at < count;) {
        size_t table = (size_t)body[at], row = (size_t)body[at + 1];
        size_t columns = s->layout->tables[table].columns;
        if ((s->layout->tables[table].staleness == 0) == exact)
            hm__comm_add(s->world, server_row(s, table, row), body + at + HM_PS_RECORD, columns);
        else
            others = true;
        at += HM_PS_RECORD + columns;
    }
    return others;
}

static void server_keep(struct hm_ps_server *s, struct ps_peer *peer, size_t count)
{
    struct kept_push *kept = hm__calloc(1, sizeof(*kept) + count * sizeof(double));

    if (!kept)
        s->world->ops->fail(s->world, "a parameter server is out of memory");
    kept->clock = peer->header.clock;
    kept->count = count;
    memcpy(kept->body, s->body, count * sizeof(double));
    *peer->kept_end = kept;
    peer->kept_end = &kept->next;
}

/* Adds the stored increments of one clock, in the order of the workers. */
static void server_add_clock(struct hm_ps_server *s, double clock)
{
    for (int i = 0; i < s->layout->workers; i++) {
        struct ps_peer *peer = &s->peers[i];
        while (peer->kept && peer->kept->clock <= clock) {
            struct kept_push *first = peer->kept;
            server_add(s, first->body, first->count, true);
            peer->kept = first->next;
            if (!peer->kept)
                peer->kept_end = &peer->kept;
            hm__free(first);
        }
    }
}

static void server_add_finished(struct hm_ps_server *s)
{
    double slowest = server_slowest(s);

    for (; slowest < INFINITY && s->added < slowest; s->added++)
        server_add_clock(s, s->added);
}

/* ---- replies --------------------------------------------------------------------------------- */

static void server_reply(struct hm_ps_server *s, size_t to)
{
    struct ps_peer *peer = &s->peers[to];
    size_t table = (size_t)peer->asked.table, count = (size_t)peer->asked.count;
    size_t columns = s->layout->tables[table].columns, workers = (size_t)s->layout->workers;
    void **sends[2] = {&s->requests[workers + to], &s->requests[2 * workers + to]};

    /*
     * The worker sent this request after it received the previous reply, so the wait for the sends
     * of that reply ends immediately.
     */
    hm__comm_wait_all(s->world, sends[0], 1);
    hm__comm_wait_all(s->world, sends[1], 1);
    server_make_room(s, &peer->values, &peer->values_room, count * columns);
    for (size_t i = 0; i < count; i++)
        memcpy(peer->values + i * columns, server_row(s, table, (size_t)peer->rows[i]),
               columns * sizeof(double));
    peer->waits = false;
    peer->reply = (struct hm_ps_header){
        .kind = HM_PS_ROWS, .clock = server_slowest(s), .count = (double)(count * columns)};
    hm__comm_start_send(s->world, (int)to, &peer->reply, sizeof(peer->reply), sends[0]);
    if (count > 0)
        hm__comm_start_send(s->world, (int)to, peer->values, count * columns * sizeof(double),
                            sends[1]);
}

static void server_handle(struct hm_ps_server *s, size_t from)
{
    struct ps_peer *peer = &s->peers[from];
    size_t count = (size_t)peer->header.count;

    switch ((enum hm_ps_kind)peer->header.kind) {
    case HM_PS_PUSH:
        server_make_room(s, &s->body, &s->body_room, count);
        server_receive_body(s, from, s->body, count);
        if (server_add(s, s->body, count, false))
            server_keep(s, peer, count);
        peer->clock += peer->header.ends;
        break;
    case HM_PS_GET:
        server_make_room(s, &peer->rows, &peer->rows_room, count);
        server_receive_body(s, from, peer->rows, count);
        peer->asked = peer->header;
        peer->waits = true;
        break;
    case HM_PS_DONE:
        peer->clock = INFINITY;
        s->done++;
        break;
    case HM_PS_ROWS:
        break;
    }
    server_add_finished(s);
}

static void server_open_receive(struct hm_ps_server *s, size_t from)
{
    hm__comm_start_receive(s->world, (int)from, &s->peers[from].header, sizeof(struct hm_ps_header),
                           &s->requests[from]);
}

void hm__ps_server_run(struct hm_ps_server *s)
{
    size_t workers = (size_t)s->layout->workers;

    for (size_t i = 0; i < workers; i++)
        server_open_receive(s, i);
    while (s->done < s->layout->workers) {
        size_t place = hm__comm_wait_any(s->world, s->requests, 3 * workers, NULL);
        if (place >= workers)
            continue;
        s->world->received += (double)sizeof(struct hm_ps_header);
        server_handle(s, place);
        if (s->peers[place].clock < INFINITY)
            server_open_receive(s, place);
        double slowest = server_slowest(s);
        for (size_t i = 0; i < workers; i++)
            if (s->peers[i].waits && s->peers[i].asked.clock <= slowest)
                server_reply(s, i);
    }
    hm__comm_wait_all(s->world, s->requests, 3 * workers);
}
