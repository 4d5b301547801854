/*
 * The HTTP server, based on libmicrohttpd (written for version 0.9.75); no other file uses the
 * library, except those that find its functions (http_mhd_find.h).
 *
 * The library parses requests; the guard checks each head before the handler sees it, and the table
 * of connections closes connections that exceed a timeout. An exchange is a request and its
 * response: it is created when the request line has arrived and freed when the response was sent.
 * While a thread of a pool works on a request, its connection is suspended.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "err.h"
#include "http.h"
#include "http_address.h"
#include "http_connections.h"
#include "http_mhd_find.h"
#include "http_pool.h"

enum {
    CONNECTION_MEMORY = 32768,
    CLOSE_LATE_NS = 200000000,
    /* Responses of at most this many bytes do not count towards held_bytes. */
    SHORT_RESPONSE = 4096,
};

/*
 * Seconds after which a request counts as long. Before this time, a client that has closed its side
 * of the connection still gets its answer.
 */
static const double LONG_S = 0.1;

static struct mhd_functions mhd;

static int load_mhd(struct hm_err *err)
{
    int rc = http_mhd_find(&mhd, err);

    /*
     * The checks of the layout of a head (is_plain_layout) are known to work only with this
     * version.
     */
    if (rc == 0 && strcmp(mhd.MHD_get_version(), "0.9.75") != 0) {
        rc = hm__fail(err, HM_E_UNSUPPORTED,
                      "libmicrohttpd %s was not examined: requests could pass unchecked",
                      mhd.MHD_get_version());
        hm__err_hint(err, "install libmicrohttpd 0.9.75");
    }
    return rc;
}

struct http_server {
    struct http_settings settings;
    struct http_handler handler;
    struct MHD_Daemon *daemon;
    struct http_connections *connections;
    struct http_pool *work, *wait; /* Thread pools for HTTP_WORK and HTTP_WAIT. */
    pthread_t closer;              /* Thread that closes connections after a timeout. */
    bool closing;
    atomic_bool ending, draining;
    atomic_size_t open; /* Number of exchanges that are not freed yet. */
    atomic_size_t held; /* Number of bytes of all bodies and responses. */
    atomic_ullong next_id;
    unsigned id_prefix;
    int listening, port;
};

enum exchange_state { EXCHANGE_FRESH, EXCHANGE_READING, EXCHANGE_WORKING, EXCHANGE_ANSWERED };

struct exchange {
    struct http_server *server;
    struct MHD_Connection *connection;
    struct http_connection *entry; /* Entry of the connection in the table of connections. */
    enum exchange_state state;
    struct http_request request;
    struct http_response response;
    double started_s;
    char *body;
    size_t length, room;
    size_t held; /* Number of bytes of this exchange that the server's count includes. */
    bool too_large, answered;
    bool refused;           /* The body did not fit in the memory for all bodies and responses. */
    struct http_pool *pool; /* Pool whose thread works on the request; NULL if there is none. */
    double work_s;          /* Time at which the work began. */
    bool slow;              /* The request has announced to its pool that it will take long. */
    bool crowded;           /* The request takes long, but too many such requests are running. */
    char *path;             /* Decoded path; stored after the target in the same memory block. */
    uintptr_t target_end;   /* Address of the end of the target in the library's buffer. */
    char target[];          /* Target of the request as it was received. */
};

/* ---- memory --------------------------------------------------------------------------------- */

/*
 * Count the bytes of a body or a response. Returns false if all bodies and responses together would
 * exceed the limit.
 */
static bool hold_bytes(struct exchange *x, size_t bytes)
{
    struct http_server *s = x->server;

    if (atomic_fetch_add(&s->held, bytes) + bytes > s->settings.held_bytes) {
        atomic_fetch_sub(&s->held, bytes);
        return false;
    }
    x->held += bytes;
    return true;
}

static const struct http_verdict no_memory = {
    503, HTTP_REFUSAL_MEMORY, "the requests and answers of all clients need too much memory", NULL};

/* ---- responding ----------------------------------------------------------------------------- */

static void release_static(void *body)
{
    (void)body; /* This function does nothing, because a static body is not freed. */
}

/* Replace a response by a short error if all responses together would need too much memory. */
static void limit_response(struct exchange *x)
{
    struct http_response *r = &x->response;
    struct http_handler *h = &x->server->handler;

    if (!r->release || r->length <= SHORT_RESPONSE || hold_bytes(x, r->length))
        return;
    r->release(r->owner);
    *r = (struct http_response){0};
    h->refuse(h->context, &x->request, &no_memory, r);
}

static enum MHD_Result send_response(struct exchange *x, bool close_after)
{
    limit_response(x);
    struct http_response *r = &x->response;
    struct MHD_Response *out = mhd.MHD_create_response_from_buffer_with_free_callback_cls(
        r->length, (void *)(uintptr_t)r->body, r->release ? r->release : release_static, r->owner);
    enum MHD_Result ok = MHD_NO;

    x->state = EXCHANGE_ANSWERED;
    if (!out)
        return MHD_NO;
    r->release = NULL; /* From here on, the library frees the body. */
    mhd.MHD_add_response_header(out, "Content-Type", r->type);
    mhd.MHD_add_response_header(out, "X-Request-Id", x->request.id);
    mhd.MHD_add_response_header(out, "X-Content-Type-Options", "nosniff");
    for (size_t i = 0; i < r->extra_count; i++)
        mhd.MHD_add_response_header(out, r->extra[i].name, r->extra[i].value);
    if (close_after || atomic_load_explicit(&x->server->draining, memory_order_relaxed))
        mhd.MHD_add_response_header(out, "Connection", "close");
    http_connection_enter(x->entry, HTTP_PHASE_SEND);
    x->answered = true;
    ok = mhd.MHD_queue_response(x->connection, (unsigned)r->status, out);
    mhd.MHD_destroy_response(out);
    return ok;
}

static enum MHD_Result send_refusal(struct exchange *x, const struct http_verdict *verdict)
{
    struct http_server *s = x->server;

    s->handler.refuse(s->handler.context, &x->request, verdict, &x->response);
    return send_response(x, true);
}

/* ---- reading a request ----------------------------------------------------------------------- */

struct header_list {
    struct http_header headers[HTTP_HEADERS_MAX];
    size_t count;
};

static enum MHD_Result collect_header(void *context, enum MHD_ValueKind kind, const char *name,
                                      size_t name_length, const char *value, size_t value_length)
{
    struct header_list *g = context;

    (void)kind;
    if (g->count < HTTP_HEADERS_MAX)
        g->headers[g->count] =
            (struct http_header){name, value ? value : "", name_length, value ? value_length : 0};
    g->count++;
    return MHD_YES;
}

static const char *header_value(const struct http_head *head, const char *name)
{
    const struct http_header *h = http_guard_find(head, name);

    return h ? h->value : "";
}

/* Whether the head has the plain layout that RFC 9112 requires. The library accepts a bare CR or LF
 * as the end of a line and several spaces in the request line, truncates a target or a value at a
 * NUL, joins folded lines, and drops lines without a name, and it reports none of these. But it
 * parses in place, so its pointers point into the received bytes: if the head is well-formed, one
 * byte is between the parts of the request line, two (CR LF) are between a value and the next name,
 * and the length of the whole head is that of its parts. This holds for the version in load_mhd;
 * with others the server does not start. */
static bool is_plain_layout(const struct exchange *x, const char *method, const char *version,
                            const struct header_list *g)
{
    uintptr_t start = (uintptr_t)method, end = (uintptr_t)version + strlen(version);
    const union MHD_ConnectionInfo *size =
        mhd.MHD_get_connection_info(x->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);

    if (start + strlen(method) + 1 + strlen(x->target) != x->target_end ||
        x->target_end + 1 != (uintptr_t)version)
        return false;
    for (size_t i = 0; i < g->count && i < HTTP_HEADERS_MAX; i++) {
        const struct http_header *h = &g->headers[i];
        if ((uintptr_t)h->name != end + 2)
            return false;
        end = (uintptr_t)h->value + h->value_length;
    }
    /* An empty line follows the last header. */
    return g->count > HTTP_HEADERS_MAX || (size && end + 4 == start + size->header_size);
}

/* Set path and query from a target that the guard has accepted. */
static void split_target(struct exchange *x)
{
    char *query = strchr(x->target, '?');
    size_t length = query ? (size_t)(query - x->target) : strlen(x->target);

    http_guard_decode(x->target, length, false, x->path, length + 1);
    x->request.path = x->path;
    x->request.query = query ? query + 1 : "";
}

static struct http_verdict check_head(struct exchange *x, const char *method, const char *version,
                                      struct http_framing *framing)
{
    struct header_list g = {.count = 0};
    struct http_verdict verdict;
    struct http_head head = {method, x->target, version, g.headers, 0};

    mhd.MHD_get_connection_values_n(x->connection, MHD_HEADER_KIND, collect_header, &g);
    head.header_count = g.count;
    x->request.method = method;
    verdict = http_guard_check(&head, x->server->settings.body_limit, framing);
    if (verdict.status == 0 && !is_plain_layout(x, method, version, &g))
        verdict = (struct http_verdict){400, HTTP_REFUSAL_HEADER,
                                        "the head has a line that does not end with CR LF, spaces "
                                        "that do not belong there, or NUL",
                                        NULL};
    if (verdict.status != 0)
        return verdict;
    split_target(x);
    x->request.type = header_value(&head, "Content-Type");
    x->request.accept = header_value(&head, "Accept");
    x->request.authorization = header_value(&head, "Authorization");
    x->request.host = header_value(&head, "Host");
    x->request.origin = header_value(&head, "Origin");
    x->request.if_none_match = header_value(&head, "If-None-Match");
    x->request.key = header_value(&head, "Idempotency-Key");
    if (http_connections_is_full(x->server->connections))
        verdict = (struct http_verdict){503, HTTP_REFUSAL_CONNECTIONS,
                                        "the server has too many connections", NULL};
    return verdict;
}

/* Append bytes to the body. If the body exceeds the limit, a limited number of further bytes is
 * read and dropped, so that the response can be 413; after that the result is false, which closes
 * the connection. */
static bool append_body(struct exchange *x, const char *piece, size_t length)
{
    size_t limit = x->server->settings.body_limit;

    http_connection_received(x->entry, length);
    if (x->too_large || x->length + length > limit) {
        x->too_large = true;
        x->length += length;
        return x->length <= limit + limit / 4 + 65536;
    }
    if (x->refused)
        return true;
    if (x->length + length + 1 > x->room) {
        size_t room = 2 * (x->length + length) + 1024;
        char *larger = hold_bytes(x, room - x->room) ? realloc(x->body, room) : NULL;
        if (!larger) {
            x->refused = true;
            return true;
        }
        x->body = larger;
        x->room = room;
    }
    memcpy(x->body + x->length, piece, length);
    x->length += length;
    x->body[x->length] = '\0';
    return true;
}

/* ---- handling a request ---------------------------------------------------------------------- */

static const struct http_verdict too_busy = {503, HTTP_REFUSAL_OVERLOAD,
                                             "the server has too many requests", NULL};
static const struct http_verdict too_many_long = {
    503, HTTP_REFUSAL_OVERLOAD, "the server has too many requests that take long", NULL};

/* Whether the work on a request should end. The thread that works on it calls this function. */
static bool exchange_is_over(void *data)
{
    struct exchange *x = data;
    double now = http_now();

    if (now - x->started_s > LONG_S && http_connection_is_gone(x->entry))
        return true;
    if (x->pool != x->server->work || x->slow || now - x->work_s <= LONG_S)
        return false;
    x->slow = http_pool_slow(x->pool);
    x->crowded = !x->slow;
    return x->crowded;
}

static bool run_exchange(void *task)
{
    struct exchange *x = task;
    struct http_handler *h = &x->server->handler;
    bool slow;

    x->work_s = http_now();
    h->work(h->context, &x->request, &x->response);
    if (x->crowded) {
        if (x->response.release)
            x->response.release(x->response.owner);
        x->response = (struct http_response){0};
        h->refuse(h->context, &x->request, &too_many_long, &x->response);
    }
    slow = x->slow;
    mhd.MHD_resume_connection(x->connection); /* From here on, the exchange may be freed. */
    return slow;
}

static enum MHD_Result handle_complete(struct exchange *x)
{
    struct http_server *s = x->server;
    static const struct http_verdict large = {413, HTTP_REFUSAL_SIZE, "the body is too large",
                                              NULL};

    if (x->too_large)
        return send_refusal(x, &large);
    if (x->refused)
        return send_refusal(x, &no_memory);
    x->request.body = x->body ? x->body : "";
    x->request.length = x->length;
    enum http_next next = s->handler.quick(s->handler.context, &x->request, &x->response);
    if (next == HTTP_ANSWERED)
        return send_response(x, false);
    struct http_pool *pool = next == HTTP_WAIT ? s->wait : s->work;
    if (!http_pool_reserve(pool))
        return send_refusal(x, &too_busy);
    x->pool = pool;
    x->state = EXCHANGE_WORKING;
    http_connection_enter(x->entry, HTTP_PHASE_WORK);
    mhd.MHD_suspend_connection(x->connection);
    http_pool_push(pool, x);
    return MHD_YES;
}

static enum MHD_Result handle_head(struct exchange *x, const char *method, const char *version)
{
    struct http_framing framing;
    struct http_verdict verdict = check_head(x, method, version, &framing);

    if (verdict.status != 0)
        return send_refusal(x, &verdict);
    struct http_handler *h = &x->server->handler;
    if (!h->admit(h->context, &x->request, &x->response))
        return send_response(x, true);
    /* Otherwise the response is sent after the body was read; if it were sent now, the library
     * would close the connection. */
    x->state = EXCHANGE_READING;
    http_connection_enter(x->entry, HTTP_PHASE_BODY);
    return MHD_YES;
}

static enum MHD_Result handle_data(void *context, struct MHD_Connection *connection,
                                   const char *url, const char *method, const char *version,
                                   const char *data, size_t *size, void **own)
{
    struct exchange *x = *own;

    (void)context;
    (void)connection;
    (void)url;
    if (!x || !x->entry)
        return MHD_NO;
    switch (x->state) {
    case EXCHANGE_FRESH:
        return handle_head(x, method, version);
    case EXCHANGE_READING:
        if (*size == 0)
            return handle_complete(x);
        if (!append_body(x, data, *size))
            return MHD_NO;
        *size = 0;
        return MHD_YES;
    /* A thread of a pool has answered the request (run_exchange) and resumed the connection. */
    case EXCHANGE_WORKING:
        return send_response(x, false);
    case EXCHANGE_ANSWERED:
        break;
    }
    *size = 0;
    return MHD_YES;
}

/* ---- exchanges and connections --------------------------------------------------------------- */

/* Whether a target has too many arguments. The library has no room for thousands of arguments, and
 * waits forever when its memory is full. */
static bool is_crowded(const char *target)
{
    size_t arguments = 0;

    while ((target = strchr(target, '&')) && arguments <= HTTP_ARGUMENTS_MAX) {
        arguments++;
        target++;
    }
    return arguments > HTTP_ARGUMENTS_MAX;
}

/* Send the response 414 directly on the socket, without the library, and close the connection. */
static void hang_up(struct http_server *s, struct MHD_Connection *connection)
{
    static const char too_long[] =
        "HTTP/1.1 414 URI Too Long\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    const union MHD_ConnectionInfo *socket =
        mhd.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

    if (!socket)
        return;
    if (send(socket->connect_fd, too_long, sizeof(too_long) - 1, MSG_NOSIGNAL | MSG_DONTWAIT) > 0)
        s->handler.closed(s->handler.context, "", HTTP_REFUSAL_TARGET);
    shutdown(socket->connect_fd, SHUT_RDWR);
}

static void *first_line(void *context, const char *target, struct MHD_Connection *connection)
{
    struct http_server *s = context;
    size_t length = strlen(target);
    struct exchange *x = malloc(sizeof(*x) + 2 * (length + 1));
    const union MHD_ConnectionInfo *own =
        mhd.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    if (is_crowded(target))
        hang_up(s, connection);
    if (!x)
        return NULL;
    memset(x, 0, sizeof(*x));
    memcpy(x->target, target, length + 1);
    x->target_end = (uintptr_t)target + length;
    /* There is enough room, because decoding never makes a text longer. */
    x->path = x->target + length + 1;
    x->server = s;
    x->connection = connection;
    x->entry = own ? own->socket_context : NULL;
    x->started_s = http_now();
    x->request = (struct http_request){.is_over = exchange_is_over,
                                       .is_over_data = x,
                                       .method = "",
                                       .path = "",
                                       .query = "",
                                       .type = "",
                                       .accept = "",
                                       .authorization = "",
                                       .host = "",
                                       .origin = "",
                                       .if_none_match = "",
                                       .key = "",
                                       .body = ""};
    snprintf(x->request.id, sizeof(x->request.id), "%08x-%06llx", s->id_prefix,
             atomic_fetch_add_explicit(&s->next_id, 1, memory_order_relaxed));
    if (x->entry) {
        http_connection_begin(x->entry);
        memcpy(x->request.address, http_connection_address(x->entry), HTTP_ADDRESS);
    }
    atomic_fetch_add(&s->open, 1);
    return x;
}

static void free_exchange(void *context, struct MHD_Connection *connection, void **own,
                          enum MHD_RequestTerminationCode code)
{
    struct http_server *s = context;
    struct exchange *x = *own;

    (void)connection;
    (void)code;
    if (!x)
        return;
    *own = NULL;
    if (x->entry)
        http_connection_enter(x->entry, HTTP_PHASE_IDLE);
    if (x->answered)
        s->handler.done(s->handler.context, &x->request, &x->response, http_now() - x->started_s,
                        x->length);
    else if (x->pool)
        s->handler.closed(s->handler.context, x->request.address, HTTP_REFUSAL_GONE);
    atomic_fetch_sub(&s->held, x->held);
    if (x->response.release) /* The response was never sent, so its body is freed here. */
        x->response.release(x->response.owner);
    free(x->body);
    free(x);
    atomic_fetch_sub(&s->open, 1);
}

static void track_connection(void *context, struct MHD_Connection *connection, void **own,
                             enum MHD_ConnectionNotificationCode code)
{
    struct http_server *s = context;
    char address[HTTP_ADDRESS] = "?";

    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        http_connections_remove(s->connections, *own);
        *own = NULL;
        return;
    }
    const union MHD_ConnectionInfo *peer =
        mhd.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    if (peer && peer->client_addr)
        http_address_text(peer->client_addr, address);
    const union MHD_ConnectionInfo *socket =
        mhd.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    *own = socket ? http_connections_add(s->connections, socket->connect_fd, address) : NULL;
}

static enum MHD_Result accept_connection(void *context, const struct sockaddr *peer, socklen_t size)
{
    struct http_server *s = context;
    char address[HTTP_ADDRESS];

    (void)size;
    http_address_text(peer, address);
    http_connections_make_room(s->connections);
    if (http_connections_admits(s->connections, address))
        return MHD_YES;
    s->handler.closed(s->handler.context, address, HTTP_REFUSAL_CONNECTIONS);
    return MHD_NO;
}

static void report_late(void *context, const char *address)
{
    struct http_server *s = context;

    s->handler.closed(s->handler.context, address, HTTP_REFUSAL_SLOW);
}

static void *close_late(void *context)
{
    struct http_server *s = context;

    while (!atomic_load(&s->ending)) {
        nanosleep(&(struct timespec){0, CLOSE_LATE_NS}, NULL);
        http_connections_close_late(s->connections, report_late, s);
    }
    return NULL;
}

/* ---- starting and stopping ------------------------------------------------------------------- */

/* Raise the limit on open files to the number that the connections need, if this is allowed. */
static void raise_files(size_t wanted)
{
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= wanted)
        return;
    files.rlim_cur = files.rlim_max < wanted ? files.rlim_max : wanted;
    setrlimit(RLIMIT_NOFILE, &files);
}

static struct MHD_Daemon *start_daemon(struct http_server *s, int listening)
{
    const struct http_settings *t = &s->settings;
    size_t most = t->connections + t->connections / 8 + 16;

    raise_files(most + 256);
    return mhd.MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, accept_connection, s,
        handle_data, s, MHD_OPTION_LISTEN_SOCKET,
        /* The library applies its connection limit to each thread; the table counts all
         * connections. */
        listening, MHD_OPTION_CONNECTION_LIMIT, (unsigned)(most * (size_t)t->threads),
        MHD_OPTION_THREAD_POOL_SIZE, (unsigned)t->threads, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)CONNECTION_MEMORY, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)(2 * t->idle_s + 1),
        /* The guard is stricter than the library, whose own errors are not problem documents. */
        MHD_OPTION_STRICT_FOR_CLIENT, -1, MHD_OPTION_URI_LOG_CALLBACK, first_line, s,
        MHD_OPTION_NOTIFY_COMPLETED, free_exchange, s, MHD_OPTION_NOTIFY_CONNECTION,
        track_connection, s, MHD_OPTION_END);
}

static void server_free(struct http_server *s)
{
    if (!s)
        return;
    atomic_store(&s->ending, true);
    if (s->closing)
        pthread_join(s->closer, NULL);
    http_pool_free(s->work);
    http_pool_free(s->wait);
    http_connections_free(s->connections);
    free(s);
}

int http_start(const struct http_settings *settings, const struct http_handler *handler,
               struct http_server **ret_server, struct hm_err *err)
{
    struct http_timeouts timeouts = {.header_s = settings->header_s,
                                     .body_s = settings->body_s,
                                     .send_s = 2 * settings->idle_s,
                                     .idle_s = settings->idle_s,
                                     .body_rate = settings->body_rate};
    int listening = -1, rc = load_mhd(err);

    if (rc)
        return rc;
    struct http_server *s = calloc(1, sizeof(*s));
    if (!s)
        return hm__fail_nomem(err);
    s->settings = *settings;
    s->handler = *handler;
    if (getrandom(&s->id_prefix, sizeof(s->id_prefix), 0) < 0)
        s->id_prefix = (unsigned)time(NULL);
    s->connections =
        http_connections_new(&timeouts, settings->connections, settings->address_connections);
    rc = http_address_listen(settings->host, settings->port, &listening, &s->port, err);
    const struct http_pool_size work = {settings->workers, settings->slow, settings->queue},
                                wait = {settings->waiters, 0, settings->queue};
    if (rc == 0 && (!(s->work = http_pool_new(&work, run_exchange)) ||
                    !(s->wait = http_pool_new(&wait, run_exchange))))
        rc = hm__fail(err, HM_E_IO, "cannot start threads");
    if (rc == 0 && s->connections)
        s->closing = pthread_create(&s->closer, NULL, close_late, s) == 0;
    s->listening = listening;
    if (rc == 0 && s->closing)
        s->daemon = start_daemon(s, listening);
    if (rc == 0 && !s->daemon)
        rc = hm__fail(err, HM_E_IO, "cannot start libmicrohttpd");
    if (rc) {
        if (listening >= 0)
            close(listening);
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
    counts->connections = http_connections_count(server->connections);
    counts->working = http_pool_count(server->work) + http_pool_count(server->wait);
}

/*
 * Close the listening socket; later connections are refused by the kernel.
 *
 * MHD_quiesce_daemon() of libmicrohttpd 0.9.75 would do this, but it aborts the process when one of
 * its threads removes the socket from its epoll set at the same moment. Here an unconnected socket
 * replaces the listening one under the same descriptor: the kernel removes the old socket from all
 * epoll sets, and MHD_stop_daemon() closes the descriptor.
 */
static void stop_listening(struct http_server *s)
{
    int unconnected = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (unconnected < 0)
        return;
    dup3(unconnected, s->listening, O_CLOEXEC);
    close(unconnected);
}

bool http_drain(struct http_server *s, double seconds)
{
    double until = http_now() + seconds;

    atomic_store(&s->draining, true);
    stop_listening(s);
    while (atomic_load(&s->open) > 0 && http_now() < until)
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    return http_pool_count(s->work) == 0 && http_pool_count(s->wait) == 0;
}

void http_stop(struct http_server *s)
{
    mhd.MHD_stop_daemon(s->daemon);
    server_free(s);
}
