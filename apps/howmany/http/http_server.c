/*
 * Implements the HTTP server. The event loops (http_loop.h) pass the bytes of connections to this
 * file; the parser (http_parse.h) and the guard convert them to requests; the handler answers the
 * requests, immediately or in a thread of a pool. An exchange is a request and its response: it is
 * created when a head is complete or refused, and freed after the response has been sent. While a
 * thread of a pool works on a request, the connection is in the phase HTTP_PHASE_WORK and nothing
 * is read from it.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "err.h"
#include "http.h"
#include "http_address.h"
#include "http_loop.h"
#include "http_pool.h"
#include "http_write.h"

enum {
    /* Responses up to this size in bytes do not count towards the limit held_bytes. */
    SHORT_RESPONSE = 4096,
};

/*
 * Time in seconds after which a request counts as long. Before this time, a client that has closed
 * its sending direction still receives its response.
 */
static const double LONG_S = 0.1;

struct http_server {
    struct http_settings settings;
    struct http_handler handler;
    struct http_loop_shared shared;
    /* Thread pools for requests of the kinds HTTP_WORK, HTTP_WAIT and HTTP_GROUP. */
    struct http_pool *work, *wait, *group;
    atomic_bool draining;
    atomic_size_t open; /* Number of exchanges that have not been freed yet. */
    atomic_ullong next_id;
    unsigned id_prefix;
    int port;
};

struct exchange {
    struct http_server *server;
    struct http_peer *peer;
    struct http_request request;
    struct http_response response;
    size_t note; /* Number to which request.note points. */
    struct http_framing framing;
    struct http_chunks chunks;
    double started_s;
    char *body;
    size_t length, room;
    size_t held;   /* Number of bytes in this exchange that are included in the server's count of
                      memory in use. */
    bool answered; /* True if a worker thread has passed the response to the event loop. */
    bool close;    /* True if the connection is closed after this exchange. */
    bool unread;   /* True if the client may still be sending when the connection is closed. */
    struct http_pool *pool; /* Pool whose thread works on the request; NULL if there is none. */
    const atomic_bool *unwanted; /* True if the request takes a long time and should end, because
                                    too many long requests are running. */
    bool crowded;                /* True if work on the request was stopped for this reason. */
    char head[HTTP_WRITE_ROOM];  /* Head of the response. */
    char text[];                 /* Head of the request, followed by the decoded path. */
};

/* ---- memory --------------------------------------------------------------------------------- */

static bool exchange_hold(struct exchange *x, size_t bytes)
{
    if (!http_loop_claim(x->peer->loop, bytes))
        return false;
    x->held += bytes;
    return true;
}

static bool exchange_is_over(void *data);

/* Writes a number in hexadecimal with at least `least` digits; returns the end of the text. */
static char *write_hex(char *text, unsigned long long number, int least)
{
    int digits = least;

    while (digits < 16 && number >> (4 * digits))
        digits++;
    for (int i = digits; i-- > 0;)
        *text++ = "0123456789abcdef"[(number >> (4 * i)) & 15];
    return text;
}

/* Writes the identifier of a request: a random prefix and the number of the request. */
static void write_id(char id[HTTP_ID], unsigned prefix, unsigned long long number)
{
    char *at = write_hex(id, prefix, 8);

    *at++ = '-';
    *write_hex(at, number & 0xffffffffffffu, 6) = '\0';
}

/* Creates an exchange with a copy of the head of its request. Returns NULL, and closes the
 * connection, if memory runs out. */
static struct exchange *exchange_new(struct http_server *s, struct http_peer *p, const char *head,
                                     size_t length)
{
    struct exchange *x = malloc(sizeof(*x) + 2 * (length + 1));

    if (!x) {
        s->handler.closed(s->handler.context, p->address, HTTP_REFUSAL_MEMORY);
        http_peer_close(p);
        return NULL;
    }
    memset(x, 0, offsetof(struct exchange, head));
    memcpy(x->text, head, length);
    x->text[length] = '\0';
    x->server = s;
    x->peer = p;
    x->started_s = http_loop_now(p->loop);
    x->request = (struct http_request)HTTP_REQUEST_INIT;
    x->request.is_over = exchange_is_over;
    x->request.is_over_data = x;
    x->request.note = &x->note;
    write_id(x->request.id, s->id_prefix,
             atomic_fetch_add_explicit(&s->next_id, 1, memory_order_relaxed));
    memcpy(x->request.address, p->address, HTTP_ADDRESS);
    atomic_fetch_add(&s->open, 1);
    p->exchange = x;
    /* In the phase HTTP_PHASE_WORK, a connection has no timeout and is not closed when the
     * connection limit is reached. */
    http_peer_enter(p, HTTP_PHASE_WORK);
    return x;
}

static void exchange_free(struct exchange *x)
{
    struct http_server *s = x->server;

    x->peer->exchange = NULL;
    if (x->answered)
        s->handler.done(s->handler.context, &x->request, &x->response, http_now() - x->started_s,
                        x->length);
    else if (x->pool)
        s->handler.closed(s->handler.context, x->request.address, HTTP_REFUSAL_GONE);
    http_loop_unhold(&s->shared, x->held);
    if (x->response.release)
        x->response.release(x->response.owner);
    free(x->body);
    free(x);
    atomic_fetch_sub(&s->open, 1);
}

/* ---- responding ----------------------------------------------------------------------------- */

static const struct http_verdict no_memory = {
    503, HTTP_REFUSAL_MEMORY, "the requests and answers of all clients need too much memory", NULL};

/*
 * Replaces a response with a short error if the responses of all requests would need too much
 * memory.
 */
static void limit_response(struct exchange *x)
{
    struct http_response *r = &x->response;
    struct http_handler *h = &x->server->handler;

    if (!r->release || r->length <= SHORT_RESPONSE || exchange_hold(x, r->length))
        return;
    r->release(r->owner);
    *r = (struct http_response){0};
    h->refuse(h->context, &x->request, &no_memory, r);
}

/* Continues after a response has been sent: handles the next request on the connection, or closes
 * the connection. */
static void exchange_finish(struct exchange *x)
{
    struct http_peer *p = x->peer;
    bool ends = x->close, unread = x->unread;

    exchange_free(x);
    if (ends)
        http_peer_end(p, unread);
    else
        http_peer_enter(p, HTTP_PHASE_IDLE);
}

static void send_response(struct exchange *x)
{
    limit_response(x);
    struct http_response *r = &x->response;
    bool has_body = strcmp(x->request.method, "HEAD") != 0 && r->status != 304;

    x->close = x->close || atomic_load_explicit(&x->server->draining, memory_order_relaxed);
    x->answered = true;
    size_t length = http_write_head(x->head, r, x->request.id, x->close);
    if (http_peer_send(x->peer, x->head, length, r->body, has_body ? r->length : 0))
        exchange_finish(x);
}

/*
 * Refuses a request and closes its connection, because the position at which the next request
 * begins may be unknown.
 */
static void send_refusal(struct exchange *x, const struct http_verdict *verdict)
{
    struct http_server *s = x->server;

    s->handler.refuse(s->handler.context, &x->request, verdict, &x->response);
    x->close = x->unread = true;
    send_response(x);
}

/* ---- working --------------------------------------------------------------------------------- */

static const struct http_verdict too_busy = {503, HTTP_REFUSAL_OVERLOAD,
                                             "the server has too many requests", NULL};
static const struct http_verdict too_many_long = {
    503, HTTP_REFUSAL_OVERLOAD, "the server has too many requests that take long", NULL};

/* Returns whether work on a request should stop. The thread of the pool that works on the request
 * calls this function. */
static bool exchange_is_over(void *data)
{
    struct exchange *x = data;

    if (http_now() - x->started_s > LONG_S &&
        atomic_load_explicit(&x->peer->gone, memory_order_relaxed))
        return true;
    if (x->pool != x->server->work)
        return false;
    /* The event loops watch the pool. A task must not, because threads that it starts would have
     * its priority, which may be lower than that of the process. */
    x->crowded = x->crowded || atomic_load_explicit(x->unwanted, memory_order_relaxed);
    return x->crowded;
}

static void run_exchange(void **tasks, size_t count, const atomic_bool *unwanted)
{
    struct exchange *x = tasks[0];
    struct http_handler *h = &x->server->handler;

    (void)count; /* Threads that run this function take one task at a time. */
    x->unwanted = unwanted;
    h->work(h->context, &x->request, &x->response);
    if (x->crowded) {
        if (x->response.release)
            x->response.release(x->response.owner);
        x->response = (struct http_response){0};
        h->refuse(h->context, &x->request, &too_many_long, &x->response);
    }
    http_peer_resume(x->peer); /* After this call, the exchange may be freed. */
}

static void run_exchanges(void **tasks, size_t count, const atomic_bool *unwanted)
{
    struct exchange **exchanges = (struct exchange **)tasks;
    const struct http_request *requests[HTTP_GROUP_MAX] = {0};
    struct http_response *responses[HTTP_GROUP_MAX] = {0};
    struct http_loop *loops[HTTP_GROUP_MAX];
    /* The server is freed after all its exchanges, so it can still be used here. */
    struct http_handler *h = &exchanges[0]->server->handler;

    (void)unwanted; /* Tasks of this pool may take any time. */
    for (size_t i = 0; i < count; i++) {
        requests[i] = &exchanges[i]->request;
        responses[i] = &exchanges[i]->response;
    }
    h->work_group(h->context, requests, responses, count);
    /* After an exchange has been handed over, it may be freed. */
    for (size_t i = 0; i < count; i++)
        loops[i] = http_peer_hand_over(exchanges[i]->peer);
    for (size_t i = 0; i < count; i++)
        http_loop_wake(loops[i]);
    if (h->after_group)
        h->after_group(h->context);
}

/* Handles a request that has arrived completely. */
static void handle_complete(struct exchange *x)
{
    struct http_server *s = x->server;

    x->request.body = x->body ? x->body : "";
    x->request.length = x->length;
    x->request.since = http_loop_now(x->peer->loop);
    enum http_next next = s->handler.quick(s->handler.context, &x->request, &x->response);
    if (next == HTTP_ANSWERED) {
        send_response(x);
        return;
    }
    struct http_pool *pool = next == HTTP_WAIT ? s->wait : next == HTTP_GROUP ? s->group : s->work;
    if (!http_pool_reserve(pool)) {
        send_refusal(x, &too_busy);
        return;
    }
    x->pool = pool;
    http_peer_enter(x->peer, HTTP_PHASE_WORK);
    http_pool_push(pool, x);
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static const struct http_verdict too_large = {413, HTTP_REFUSAL_SIZE, "the body is too large",
                                              NULL};
static const struct http_verdict bad_chunks = {
    400, HTTP_REFUSAL_FRAMING, "the body is not in valid chunks", "Transfer-Encoding"};

/* Returns whether the body of a request may grow by `length` bytes. */
static bool append_fits(const struct exchange *x, size_t length)
{
    return length <= x->server->settings.body_limit - x->length;
}

/* Appends a piece to the body. Returns false if the request was refused. */
static bool append_body(struct exchange *x, const char *piece, size_t length)
{
    if (!append_fits(x, length)) {
        send_refusal(x, &too_large);
        return false;
    }
    if (x->length + length + 1 > x->room) {
        size_t room = 2 * (x->length + length) + 1024;
        char *larger = exchange_hold(x, room - x->room) ? realloc(x->body, room) : NULL;
        if (!larger) {
            send_refusal(x, &no_memory);
            return false;
        }
        x->body = larger;
        x->room = room;
    }
    memcpy(x->body + x->length, piece, length);
    x->length += length;
    x->body[x->length] = '\0';
    return true;
}

/*
 * Uses received bytes of a chunked body. Returns the number of bytes that were used. The exchange
 * may have been freed when this function returns.
 */
static size_t receive_chunks(struct exchange *x, const char *data, size_t length)
{
    size_t used = 0;

    while (used < length) {
        const char *piece;
        size_t size;
        used += http_chunks_decode(&x->chunks, data + used, length - used, &piece, &size);
        if (x->chunks.state == HTTP_CHUNK_BAD) {
            send_refusal(x, &bad_chunks);
            break;
        }
        if (size > 0 && !append_body(x, piece, size))
            break;
        /* A chunk that is too large is refused before its data arrive. */
        if (x->chunks.state == HTTP_CHUNK_DATA && !append_fits(x, x->chunks.left)) {
            send_refusal(x, &too_large);
            break;
        }
        if (x->chunks.state == HTTP_CHUNK_DONE) {
            x->unread = used < length;
            handle_complete(x);
            break;
        }
    }
    return used;
}

static size_t receive_body(struct exchange *x, const char *data, size_t length)
{
    x->peer->body += length;
    if (x->framing.chunked)
        return receive_chunks(x, data, length);
    size_t left = x->framing.length - x->length, used = length < left ? length : left;
    if (!append_body(x, data, used))
        return used;
    if (used == left) {
        x->unread = used < length;
        handle_complete(x);
    }
    return used;
}

/* ---- heads ----------------------------------------------------------------------------------- */

static const char *header_value(const struct http_head *head, const char *name)
{
    const struct http_header *h = http_guard_find(head, name);

    return h ? h->value : "";
}

/* Sets the parts of a request from a head that the guard has accepted. */
static void set_request(struct exchange *x, const struct http_head *head, char *path)
{
    const char *query = strchr(head->target, '?');
    size_t length = query ? (size_t)(query - head->target) : strlen(head->target);

    http_guard_decode(head->target, length, false, path, length + 1);
    x->request.path = path;
    x->request.query = query ? query + 1 : "";
    x->request.type = header_value(head, "Content-Type");
    x->request.accept = header_value(head, "Accept");
    x->request.authorization = header_value(head, "Authorization");
    x->request.host = header_value(head, "Host");
    x->request.origin = header_value(head, "Origin");
    x->request.if_none_match = header_value(head, "If-None-Match");
    x->request.key = header_value(head, "Idempotency-Key");
}

static struct http_verdict check_head(struct exchange *x, size_t length)
{
    struct http_parsed parsed;
    struct http_verdict verdict = http_parse_head(x->text, length, &parsed);

    if (verdict.status == 0)
        verdict = http_guard_check(&parsed.head, x->server->settings.body_limit, &x->framing);
    if (parsed.head.method) /* The method is set first, because a response to HEAD has no body, even
                               if the response is an error. */
        x->request.method = parsed.head.method;
    if (verdict.status != 0)
        return verdict;
    bool old = strcmp(parsed.head.version, "HTTP/1.0") == 0;
    x->close = parsed.close || old;
    x->framing.expects_continue = x->framing.expects_continue && !old;
    /* The path fits after the head, because decoding never makes a string longer. */
    set_request(x, &parsed.head, x->text + length + 1);
    if (!http_peer_make_room(x->peer))
        verdict = (struct http_verdict){503, HTTP_REFUSAL_CONNECTIONS,
                                        "the server has too many connections", NULL};
    return verdict;
}

/* Handles a complete head. `more` is true if more bytes have arrived with it. */
static void handle_head(struct exchange *x, size_t length, bool more)
{
    static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
    struct http_handler *h = &x->server->handler;
    struct http_verdict verdict = check_head(x, length);

    if (verdict.status != 0) {
        send_refusal(x, &verdict);
        return;
    }
    if (!h->admit(h->context, &x->request, &x->response)) {
        x->close = x->unread = true;
        send_response(x);
        return;
    }
    if (!x->framing.chunked && x->framing.length == 0) {
        x->unread = more;
        handle_complete(x);
        return;
    }
    /* This short line can be sent without waiting, because earlier responses have been sent and the
     * buffer of the socket is empty. */
    if (x->framing.expects_continue)
        send(x->peer->socket, go_on, sizeof(go_on) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    http_peer_enter(x->peer, HTTP_PHASE_BODY);
}

static struct http_verdict scan_verdict(enum http_scan_result result)
{
    if (result == HTTP_SCAN_LONG_LINE)
        return (struct http_verdict){414, HTTP_REFUSAL_TARGET, "the request line is too long",
                                     "target"};
    if (result == HTTP_SCAN_LONG_HEAD)
        return (struct http_verdict){431, HTTP_REFUSAL_HEADER, "the headers are too long", NULL};
    return (struct http_verdict){400, HTTP_REFUSAL_HEADER,
                                 "the head has a line that does not end with CR LF, or NUL", NULL};
}

/* Looks for a complete head in `data`. Returns the number of bytes that were used. */
static size_t receive_head(struct http_server *s, struct http_peer *p, const char *data,
                           size_t length)
{
    enum http_scan_result result = http_scan_head(&p->scan, data, length);
    size_t begin = p->scan.begin, end = p->scan.at;
    struct exchange *x;

    if (result == HTTP_SCAN_MORE) {
        if (p->phase == HTTP_PHASE_IDLE)
            http_peer_enter(p, HTTP_PHASE_HEAD);
        return 0;
    }
    p->scan = (struct http_scan){0};
    if (result == HTTP_SCAN_DONE) {
        if ((x = exchange_new(s, p, data + begin, end - begin)))
            handle_head(x, end - begin, end < length);
        return end;
    }
    if ((x = exchange_new(s, p, "", 0))) {
        struct http_verdict verdict = scan_verdict(result);
        send_refusal(x, &verdict);
    }
    return length;
}

/* ---- the user of the loops ------------------------------------------------------------------- */

static size_t loop_received(void *context, struct http_peer *p, const char *data, size_t length)
{
    size_t used = 0;

    while (used < length && !p->dead &&
           (p->phase == HTTP_PHASE_IDLE || p->phase == HTTP_PHASE_HEAD ||
            p->phase == HTTP_PHASE_BODY)) {
        size_t step = p->exchange ? receive_body(p->exchange, data + used, length - used)
                                  : receive_head(context, p, data + used, length - used);
        if (step == 0)
            break;
        used += step;
    }
    return used;
}

static void loop_sent(void *context, struct http_peer *p)
{
    (void)context;
    exchange_finish(p->exchange);
}

static void loop_resumed(void *context, struct http_peer *p)
{
    (void)context;
    send_response(p->exchange);
}

static void loop_closed(void *context, struct http_peer *p)
{
    (void)context;
    if (p->exchange)
        exchange_free(p->exchange);
}

static void loop_refused(void *context, const char *address, enum http_refusal refusal)
{
    struct http_server *s = context;

    s->handler.closed(s->handler.context, address, refusal);
}

static void loop_checked(void *context)
{
    const struct http_server *s = context;

    http_pool_watch(s->work);
}

/* ---- starting and stopping ------------------------------------------------------------------- */

/*
 * Raises the limit on open files of this process to the number that the connections need, if this
 * is allowed.
 */
static void raise_files(size_t wanted)
{
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= wanted)
        return;
    files.rlim_cur = files.rlim_max < wanted ? files.rlim_max : wanted;
    setrlimit(RLIMIT_NOFILE, &files);
}

/* Frees a server, whose pools must be empty. */
static void server_free(struct http_server *s)
{
    struct http_loop_shared *shared = &s->shared;

    for (size_t i = 0; i < shared->loop_count; i++)
        http_loop_stop(shared->loops[i]);
    http_pool_free(s->work);
    http_pool_free(s->wait);
    http_pool_free(s->group);
    for (size_t i = 0; i < shared->loop_count; i++)
        http_loop_free(shared->loops[i]);
    free(shared->loops);
    http_connections_free(shared->connections);
    if (shared->listening >= 0)
        close(shared->listening);
    free(s);
}

static int start_loops(struct http_server *s, struct hm_err *err)
{
    struct http_loop_shared *shared = &s->shared;
    size_t threads = (size_t)s->settings.threads, started = 0;

    if (!(shared->loops = calloc(threads, sizeof(struct http_loop *))))
        return hm__fail_nomem(err);
    while (shared->loop_count < threads &&
           (shared->loops[shared->loop_count] = http_loop_new(shared)))
        shared->loop_count++;
    while (shared->loop_count == threads && started < threads &&
           http_loop_start(shared->loops[started]))
        started++;
    return started == threads ? 0 : hm__fail(err, HM_E_IO, "cannot start threads");
}

static int start_pools(struct http_server *s, struct hm_err *err)
{
    const struct http_settings *t = &s->settings;
    const struct http_pool_size work = {t->workers, t->slow, LONG_S, t->queue, 1},
                                wait = {t->waiters, 0, 0, t->queue, 1},
                                group = {1, 0, 0, t->queue + (size_t)t->waiters, HTTP_GROUP_MAX};

    s->work = http_pool_new(&work, run_exchange);
    s->wait = s->work ? http_pool_new(&wait, run_exchange) : NULL;
    s->group = s->wait ? http_pool_new(&group, run_exchanges) : NULL;
    return s->group ? 0 : hm__fail(err, HM_E_IO, "cannot start threads");
}

static struct http_server *server_new(const struct http_settings *t,
                                      const struct http_handler *handler)
{
    struct http_server *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    s->settings = *t;
    s->handler = *handler;
    s->shared.listening = -1;
    s->shared.held_max = t->held_bytes;
    s->shared.timeouts = (struct http_timeouts){.header_s = t->header_s,
                                                .body_s = t->body_s,
                                                .send_s = 2 * t->idle_s,
                                                .idle_s = t->idle_s,
                                                .body_rate = t->body_rate};
    s->shared.user = (struct http_loop_user){.context = s,
                                             .received = loop_received,
                                             .sent = loop_sent,
                                             .resumed = loop_resumed,
                                             .closed = loop_closed,
                                             .refused = loop_refused,
                                             .checked = loop_checked};
    if (getrandom(&s->id_prefix, sizeof(s->id_prefix), 0) < 0)
        s->id_prefix = (unsigned)time(NULL);
    s->shared.connections = http_connections_new(t->connections, t->address_connections);
    if (s->shared.connections)
        return s;
    free(s);
    return NULL;
}

int http_start(const struct http_settings *settings, const struct http_handler *handler,
               struct http_server **ret_server, struct hm_err *err)
{
    struct http_server *s = server_new(settings, handler);

    if (!s)
        return hm__fail_nomem(err);
    raise_files(settings->connections + settings->connections / 8 + 512);
    int rc =
        http_address_listen(settings->host, settings->port, &s->shared.listening, &s->port, err);
    if (rc == 0)
        rc = start_pools(s, err);
    if (rc == 0)
        rc = start_loops(s, err);
    if (rc) {
        server_free(s);
        return rc;
    }
    *ret_server = s;
    return 0;
}

int http_port(const struct http_server *server)
{
    return server->port;
}

void http_count(const struct http_server *server, struct http_counts *counts)
{
    counts->connections = http_connections_count(server->shared.connections);
    counts->working = http_pool_count(server->work) + http_pool_count(server->wait) +
                      http_pool_count(server->group);
}

/* Returns whether a thread works on a request, or a request waits for a thread. */
static bool is_working(const struct http_server *s)
{
    return http_pool_count(s->work) > 0 || http_pool_count(s->wait) > 0 ||
           http_pool_count(s->group) > 0;
}

bool http_drain(struct http_server *s, double seconds)
{
    double until = http_now() + seconds;

    atomic_store(&s->draining, true);
    /*
     * After this call, the kernel refuses new connections, and accept fails in the event loops,
     * which then stop using the listening socket.
     */
    shutdown(s->shared.listening, SHUT_RD);
    /*
     * A thread ends its work shortly after the response has been sent and the connection has been
     * closed.
     */
    while ((atomic_load(&s->open) > 0 || is_working(s)) && http_now() < until)
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    return !is_working(s);
}

void http_stop(struct http_server *s)
{
    server_free(s);
}
