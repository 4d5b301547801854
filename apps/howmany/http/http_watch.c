/*
 * The table of open connections. Threads that serve write the phase of their own connections, as
 * atomics; the list is behind a lock, which only coming, going and reaping take. A socket is shut
 * down under the lock, and closed after its place was removed under it: so never that of another.
 */
#include "http_watch.h"

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

struct http_place {
    struct http_place *next, *previous;
    int socket;
    char address[HTTP_ADDRESS];
    _Atomic int phase;
    _Atomic double since;
    _Atomic size_t body;
    _Atomic bool settled;        /* idle, and received is what had come by then */
    unsigned long long received; /* bytes, when idleness was first seen */
    bool half_closed;            /* seen so the last time */
    bool cut;
};

struct http_watch {
    pthread_mutex_t lock;
    struct http_place *first;
    atomic_size_t count;
    size_t connections, of_one_address;
    struct http_patience patience;
};

double http_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

bool http_watch_is_late(const struct http_patience *p, enum http_phase phase, double seconds,
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

struct http_watch *http_watch_new(const struct http_patience *patience, size_t connections,
                                  size_t of_one_address)
{
    struct http_watch *w = calloc(1, sizeof(*w));

    if (!w)
        return NULL;
    pthread_mutex_init(&w->lock, NULL);
    w->patience = *patience;
    w->connections = connections;
    w->of_one_address = of_one_address;
    return w;
}

void http_watch_free(struct http_watch *w)
{
    if (!w)
        return;
    for (struct http_place *p = w->first, *next; p; p = next) {
        next = p->next;
        free(p);
    }
    pthread_mutex_destroy(&w->lock);
    free(w);
}

size_t http_watch_count(struct http_watch *w)
{
    return atomic_load_explicit(&w->count, memory_order_relaxed);
}

bool http_watch_is_full(struct http_watch *w)
{
    return http_watch_count(w) > w->connections;
}

/* Beyond the limit there is some room for saying so. */
bool http_watch_admits(struct http_watch *w, const char *address)
{
    size_t same = 0;

    if (http_watch_count(w) >= w->connections + w->connections / 8 + 8)
        return false;
    pthread_mutex_lock(&w->lock);
    for (const struct http_place *p = w->first; p && same < w->of_one_address; p = p->next)
        same += strcmp(p->address, address) == 0;
    pthread_mutex_unlock(&w->lock);
    return same < w->of_one_address;
}

struct http_place *http_watch_add(struct http_watch *w, int socket, const char *address)
{
    struct http_place *p = calloc(1, sizeof(*p));

    if (!p)
        return NULL;
    p->socket = socket;
    snprintf(p->address, sizeof(p->address), "%s", address);
    http_place_enter(p, HTTP_PHASE_HEAD);
    pthread_mutex_lock(&w->lock);
    p->next = w->first;
    if (w->first)
        w->first->previous = p;
    w->first = p;
    pthread_mutex_unlock(&w->lock);
    atomic_fetch_add_explicit(&w->count, 1, memory_order_relaxed);
    return p;
}

void http_watch_remove(struct http_watch *w, struct http_place *p)
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
    pthread_mutex_unlock(&w->lock);
    atomic_fetch_sub_explicit(&w->count, 1, memory_order_relaxed);
    free(p);
}

void http_place_enter(struct http_place *p, enum http_phase phase)
{
    atomic_store_explicit(&p->since, http_now(), memory_order_relaxed);
    atomic_store_explicit(&p->body, 0, memory_order_relaxed);
    atomic_store_explicit(&p->settled, false, memory_order_relaxed);
    atomic_store_explicit(&p->phase, phase, memory_order_relaxed);
}

void http_place_begin(struct http_place *p)
{
    if (atomic_load_explicit(&p->phase, memory_order_relaxed) == HTTP_PHASE_IDLE)
        http_place_enter(p, HTTP_PHASE_HEAD);
}

void http_place_received(struct http_place *p, size_t bytes)
{
    atomic_fetch_add_explicit(&p->body, bytes, memory_order_relaxed);
}

const char *http_place_address(const struct http_place *p)
{
    return p->address;
}

static unsigned long long bytes_received(int socket)
{
    struct tcp_info info = {0};
    socklen_t size = sizeof(info);

    return getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 ? info.tcpi_bytes_received
                                                                        : 0;
}

/* A byte of a further request ends idleness, long before the library has a line to tell us of. */
static void look_at_idle(struct http_place *p)
{
    unsigned long long received = bytes_received(p->socket);

    if (!atomic_load_explicit(&p->settled, memory_order_relaxed)) {
        p->received = received;
        atomic_store_explicit(&p->settled, true, memory_order_relaxed);
    } else if (received > p->received) {
        http_place_begin(p);
    }
}

/* Whoever has ended their side will neither end a request nor begin one. The library does not
 * notice where the end came together with a request. Seen twice, so that what is still on its way
 * through the library is not lost. */
static bool is_given_up(struct http_place *p, enum http_phase phase)
{
    struct pollfd ask = {.fd = p->socket, .events = POLLRDHUP};
    bool before = p->half_closed;

    p->half_closed = phase != HTTP_PHASE_WORK && phase != HTTP_PHASE_SEND && poll(&ask, 1, 0) > 0 &&
                     (ask.revents & (POLLRDHUP | POLLHUP | POLLERR));
    return before && p->half_closed;
}

size_t http_watch_reap(struct http_watch *w, void (*told)(void *context, const char *address),
                       void *context)
{
    double now = http_now();
    size_t cut = 0;

    pthread_mutex_lock(&w->lock);
    for (struct http_place *p = w->first; p; p = p->next) {
        if (atomic_load_explicit(&p->phase, memory_order_relaxed) == HTTP_PHASE_IDLE)
            look_at_idle(p);
        enum http_phase phase =
            (enum http_phase)atomic_load_explicit(&p->phase, memory_order_relaxed);
        double since = atomic_load_explicit(&p->since, memory_order_relaxed);
        bool late = http_watch_is_late(&w->patience, phase, now - since,
                                       atomic_load_explicit(&p->body, memory_order_relaxed));
        if (p->cut || !(late || is_given_up(p, phase)))
            continue;
        p->cut = true;
        shutdown(p->socket, SHUT_RDWR);
        cut++;
        if (late && phase != HTTP_PHASE_IDLE)
            told(context, p->address);
    }
    pthread_mutex_unlock(&w->lock);
    return cut;
}
