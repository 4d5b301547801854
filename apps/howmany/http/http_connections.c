/* Counts the connections of each address in a hash table, and checks the timeout of each phase of a
 * connection. */
#include "http_connections.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "http.h"

enum { BUCKETS = 1024 };

struct address_count {
    struct address_count *next;
    size_t count;
    char address[HTTP_ADDRESS];
};

struct http_connections {
    pthread_mutex_t lock; /* Protects the table of addresses and changes of `count`. */
    struct address_count *buckets[BUCKETS];
    atomic_size_t count; /* Number of open connections; read without the lock. */
    size_t connections, address_connections;
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
    case HTTP_PHASE_LINGER:
        return seconds > HTTP_LINGER_S;
    case HTTP_PHASE_WORK:
    case HTTP_PHASES:
        return false;
    }
    return false;
}

struct http_connections *http_connections_new(size_t connections, size_t address_connections)
{
    struct http_connections *w = calloc(1, sizeof(*w));

    if (!w)
        return NULL;
    pthread_mutex_init(&w->lock, NULL);
    w->connections = connections;
    w->address_connections = address_connections;
    return w;
}

void http_connections_free(struct http_connections *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct address_count *a = w->buckets[i], *next; a; a = next) {
            next = a->next;
            free(a);
        }
    pthread_mutex_destroy(&w->lock);
    free(w);
}

/* Returns a pointer to the link, in the chain of a hash bucket, that points to the count of an
 * address. The link is NULL if the address has no count. */
static struct address_count **address_find(struct http_connections *w, const char *address)
{
    size_t hash = 5381;

    for (const char *c = address; *c; c++)
        hash = 33 * hash + (unsigned char)*c;
    struct address_count **at = &w->buckets[hash % BUCKETS];
    while (*at && strcmp((*at)->address, address) != 0)
        at = &(*at)->next;
    return at;
}

static bool address_add(struct http_connections *w, const char *address)
{
    struct address_count **at = address_find(w, address), *a = *at;

    if (!a) {
        *at = a = calloc(1, sizeof(*a));
        if (!a)
            return false;
        snprintf(a->address, sizeof(a->address), "%s", address);
    }
    if (a->count >= w->address_connections)
        return false;
    a->count++;
    return true;
}

bool http_connections_add(struct http_connections *w, const char *address)
{
    pthread_mutex_lock(&w->lock);
    bool added = http_connections_count(w) < w->connections + w->connections / 8 + 8 &&
                 address_add(w, address);
    if (added)
        atomic_fetch_add(&w->count, 1);
    pthread_mutex_unlock(&w->lock);
    return added;
}

void http_connections_remove(struct http_connections *w, const char *address)
{
    pthread_mutex_lock(&w->lock);
    struct address_count **at = address_find(w, address), *a = *at;
    if (a && --a->count == 0) {
        *at = a->next;
        free(a);
    }
    atomic_fetch_sub(&w->count, 1);
    pthread_mutex_unlock(&w->lock);
}

size_t http_connections_from(struct http_connections *w, const char *address)
{
    pthread_mutex_lock(&w->lock);
    struct address_count *a = *address_find(w, address);
    size_t count = a ? a->count : 0;
    pthread_mutex_unlock(&w->lock);
    return count;
}

size_t http_connections_count(struct http_connections *w)
{
    return atomic_load_explicit(&w->count, memory_order_relaxed);
}

bool http_connections_is_at_limit(struct http_connections *w)
{
    return http_connections_count(w) >= w->connections;
}

bool http_connections_is_full(struct http_connections *w)
{
    return http_connections_count(w) > w->connections;
}
