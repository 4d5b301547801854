/*
 * The table of open connections. Each thread that reads and writes sockets sets the phase of its
 * own connections; the phase is atomic. A lock protects the list; it is taken to add, remove and
 * close connections. A socket is shut down only while the lock is held and its connection is in the
 * list. The library closes a socket only after its connection was removed from the list, so a
 * descriptor cannot be reused before that.
 */
#include "http_connections.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "http.h"

struct http_connection {
    struct http_connection *next, *previous;
    int socket;
    char address[HTTP_ADDRESS];
    _Atomic int phase;
    _Atomic double since;
    _Atomic size_t body;
    _Atomic bool settled;        /* True if the connection is idle and `received` has been set. */
    unsigned long long received; /* Number of bytes received when the connection became idle. */
    /* True if the client had closed its side of the connection at the last check. */
    bool half_closed;
    bool closed;
    bool evicted; /* The connection was closed to make room for another one. */
};

struct http_connections {
    pthread_mutex_t lock;
    struct http_connection *first;
    atomic_size_t count;
    atomic_size_t evicted; /* Number of connections in the list that were evicted. */
    size_t connections, address_connections;
    struct http_timeouts timeouts;
};

double http_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

bool http_connection_is_late(const struct http_timeouts *p, enum http_phase phase, double seconds,
                             size_t body)
{
    switch (phase) {
    case HTTP_PHASE_HEAD:
        return seconds > p->header_s;
    case HTTP_PHASE_BODY:
        return seconds > p->body_s ||
               (seconds > HTTP_RATE_AFTER_S && (double)body < seconds * p->body_rate);
    case HTTP_PHASE_SEND:
        return seconds > p->send_s;
    case HTTP_PHASE_IDLE:
        return seconds > p->idle_s;
    case HTTP_PHASE_WORK:
        return false;
    }
    return false;
}

struct http_connections *http_connections_new(const struct http_timeouts *timeouts,
                                              size_t connections, size_t address_connections)
{
    struct http_connections *w = calloc(1, sizeof(*w));

    if (!w)
        return NULL;
    pthread_mutex_init(&w->lock, NULL);
    w->timeouts = *timeouts;
    w->connections = connections;
    w->address_connections = address_connections;
    return w;
}

void http_connections_free(struct http_connections *w)
{
    if (!w)
        return;
    for (struct http_connection *p = w->first, *next; p; p = next) {
        next = p->next;
        free(p);
    }
    pthread_mutex_destroy(&w->lock);
    free(w);
}

size_t http_connections_count(struct http_connections *w)
{
    return atomic_load_explicit(&w->count, memory_order_relaxed);
}

/* Returns the number of connections without those that were evicted and are about to end. */
static size_t staying_count(struct http_connections *w)
{
    size_t count = http_connections_count(w), evicted = atomic_load(&w->evicted);

    return count > evicted ? count - evicted : 0;
}

bool http_connections_is_full(struct http_connections *w)
{
    return staying_count(w) > w->connections;
}

/* Whether a connection waits for its client: for a request, or for the rest of one. */
static bool is_waiting(const struct http_connection *p)
{
    int phase = atomic_load_explicit(&p->phase, memory_order_relaxed);

    return !p->closed &&
           (phase == HTTP_PHASE_HEAD || phase == HTTP_PHASE_BODY || phase == HTTP_PHASE_IDLE);
}

void http_connections_make_room(struct http_connections *w)
{
    struct http_connection *slowest = NULL;
    double since = http_now() - HTTP_EVICT_AFTER_S;

    if (staying_count(w) < w->connections)
        return;
    pthread_mutex_lock(&w->lock);
    for (struct http_connection *p = w->first; p; p = p->next) {
        double began = atomic_load_explicit(&p->since, memory_order_relaxed);
        if (!is_waiting(p) || began >= since)
            continue;
        since = began;
        slowest = p;
    }
    if (slowest) {
        slowest->closed = slowest->evicted = true;
        atomic_fetch_add(&w->evicted, 1);
        shutdown(slowest->socket, SHUT_RDWR);
    }
    pthread_mutex_unlock(&w->lock);
}

/* Whether one more connection may be accepted. Some connections beyond the limit are accepted, so
 * that their requests can be answered with 503. */
bool http_connections_admits(struct http_connections *w, const char *address)
{
    size_t same = 0;

    if (staying_count(w) >= w->connections + w->connections / 8 + 8)
        return false;
    pthread_mutex_lock(&w->lock);
    for (const struct http_connection *p = w->first; p && same < w->address_connections;
         p = p->next)
        same += strcmp(p->address, address) == 0;
    pthread_mutex_unlock(&w->lock);
    return same < w->address_connections;
}

struct http_connection *http_connections_add(struct http_connections *w, int socket,
                                             const char *address)
{
    struct http_connection *p = calloc(1, sizeof(*p));

    if (!p)
        return NULL;
    p->socket = socket;
    snprintf(p->address, sizeof(p->address), "%s", address);
    http_connection_enter(p, HTTP_PHASE_HEAD);
    pthread_mutex_lock(&w->lock);
    p->next = w->first;
    if (w->first)
        w->first->previous = p;
    w->first = p;
    pthread_mutex_unlock(&w->lock);
    atomic_fetch_add_explicit(&w->count, 1, memory_order_relaxed);
    return p;
}

void http_connections_remove(struct http_connections *w, struct http_connection *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&w->lock);
    if (p->previous)
        p->previous->next = p->next;
    else
        w->first = p->next;
    if (p->next)
        p->next->previous = p->previous;
    if (p->evicted)
        atomic_fetch_sub(&w->evicted, 1);
    pthread_mutex_unlock(&w->lock);
    atomic_fetch_sub_explicit(&w->count, 1, memory_order_relaxed);
    free(p);
}

void http_connection_enter(struct http_connection *p, enum http_phase phase)
{
    atomic_store_explicit(&p->since, http_now(), memory_order_relaxed);
    atomic_store_explicit(&p->body, 0, memory_order_relaxed);
    atomic_store_explicit(&p->settled, false, memory_order_relaxed);
    atomic_store_explicit(&p->phase, phase, memory_order_relaxed);
}

void http_connection_begin(struct http_connection *p)
{
    if (atomic_load_explicit(&p->phase, memory_order_relaxed) == HTTP_PHASE_IDLE)
        http_connection_enter(p, HTTP_PHASE_HEAD);
}

void http_connection_received(struct http_connection *p, size_t bytes)
{
    atomic_fetch_add_explicit(&p->body, bytes, memory_order_relaxed);
}

const char *http_connection_address(const struct http_connection *p)
{
    return p->address;
}

bool http_connection_is_gone(const struct http_connection *p)
{
    struct pollfd ask = {.fd = p->socket, .events = POLLRDHUP};

    return poll(&ask, 1, 0) > 0 && (ask.revents & (POLLRDHUP | POLLHUP | POLLERR));
}

static unsigned long long bytes_received(int socket)
{
    struct tcp_info info = {0};
    socklen_t size = sizeof(info);

    return getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 ? info.tcpi_bytes_received
                                                                        : 0;
}

/* End the idle phase when the first byte of the next request has arrived. The library does not do
 * this, because it reports a request only after its first line. */
static void check_idle(struct http_connection *p)
{
    unsigned long long received = bytes_received(p->socket);

    if (!atomic_load_explicit(&p->settled, memory_order_relaxed)) {
        p->received = received;
        atomic_store_explicit(&p->settled, true, memory_order_relaxed);
    } else if (received > p->received) {
        http_connection_begin(p);
    }
}

/* Whether the client has closed its side of the connection, so that the rest of a request cannot
 * arrive. The library does not notice this if the end of the data arrives together with a request.
 * Two successive checks must agree, so that a request that the library is still processing is not
 * lost. */
static bool is_half_closed(struct http_connection *p, enum http_phase phase)
{
    bool before = p->half_closed;

    p->half_closed =
        phase != HTTP_PHASE_WORK && phase != HTTP_PHASE_SEND && http_connection_is_gone(p);
    return before && p->half_closed;
}

size_t http_connections_close_late(struct http_connections *w,
                                   void (*late)(void *context, const char *address), void *context)
{
    double now = http_now();
    size_t closed = 0;

    pthread_mutex_lock(&w->lock);
    for (struct http_connection *p = w->first; p; p = p->next) {
        if (atomic_load_explicit(&p->phase, memory_order_relaxed) == HTTP_PHASE_IDLE)
            check_idle(p);
        enum http_phase phase =
            (enum http_phase)atomic_load_explicit(&p->phase, memory_order_relaxed);
        double since = atomic_load_explicit(&p->since, memory_order_relaxed);
        bool is_late = http_connection_is_late(
            &w->timeouts, phase, now - since, atomic_load_explicit(&p->body, memory_order_relaxed));
        if (p->closed || !(is_late || is_half_closed(p, phase)))
            continue;
        p->closed = true;
        shutdown(p->socket, SHUT_RDWR);
        closed++;
        if (is_late && phase != HTTP_PHASE_IDLE)
            late(context, p->address);
    }
    pthread_mutex_unlock(&w->lock);
    return closed;
}
