/*
 * Implements a cache of responses: a hash table with chains, and a list of the entries in the order
 * of their last use. Bodies have reference counts.
 */
#include "api_cache.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "howmany.h"

enum { CHAINS = 1024, ENTRIES_MAX = 4096 };

struct counted {
    /* This member must be the first, so that a pointer to it can be converted to a pointer to the
     * whole struct. */
    struct api_cached answer;
    atomic_int references;
};

struct entry {
    struct entry *chain; /* Next entry of the same chain of the hash table. */
    /* Neighbours in the list of all entries, which is ordered by the time of their last use. */
    struct entry *newer, *older;
    struct counted *counted;
    uint64_t hash;
    size_t length;
    char key[];
};

struct api_cache {
    pthread_mutex_t lock;
    struct entry *chains[CHAINS], *newest, *oldest;
    size_t bytes, most, count;
};

/* Returns the FNV-1a hash of a key. Keys are compared in full, so a collision only costs time. */
static uint64_t hash_of(const char *key, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325u;

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)key[i]) * 0x100000001b3u;
    return hash;
}

struct api_cache *api_cache_new(size_t bytes)
{
    struct api_cache *c = calloc(1, sizeof(*c));

    if (!c)
        return NULL;
    pthread_mutex_init(&c->lock, NULL);
    c->most = bytes;
    return c;
}

void api_cached_release(void *answer)
{
    struct counted *counted = answer;

    if (!counted || atomic_fetch_sub(&counted->references, 1) != 1)
        return;
    hm_text_free(counted->answer.body);
    free(counted);
}

static void unlink_use(struct api_cache *c, struct entry *e)
{
    *(e->newer ? &e->newer->older : &c->newest) = e->older;
    *(e->older ? &e->older->newer : &c->oldest) = e->newer;
}

static void link_newest(struct api_cache *c, struct entry *e)
{
    e->newer = NULL;
    e->older = c->newest;
    *(c->newest ? &c->newest->newer : &c->oldest) = e;
    c->newest = e;
}

static size_t size_of(const struct entry *e)
{
    return sizeof(*e) + e->length + e->counted->answer.length;
}

static void drop_oldest(struct api_cache *c)
{
    struct entry *e = c->oldest, **at = &c->chains[e->hash % CHAINS];

    while (*at != e)
        at = &(*at)->chain;
    *at = e->chain;
    unlink_use(c, e);
    c->bytes -= size_of(e);
    c->count--;
    api_cached_release(e->counted);
    free(e);
}

void api_cache_free(struct api_cache *c)
{
    if (!c)
        return;
    while (c->oldest)
        drop_oldest(c);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

static struct entry *find_entry(struct api_cache *c, uint64_t hash, const char *key, size_t length)
{
    struct entry *e = c->chains[hash % CHAINS];

    while (e && (e->hash != hash || e->length != length || memcmp(e->key, key, length) != 0))
        e = e->chain;
    return e;
}

struct api_cached *api_cache_get(struct api_cache *c, const char *key, size_t length)
{
    uint64_t hash = hash_of(key, length);
    struct counted *found = NULL;

    pthread_mutex_lock(&c->lock);
    struct entry *e = find_entry(c, hash, key, length);
    if (e) {
        if (c->newest != e) {
            unlink_use(c, e);
            link_newest(c, e);
        }
        found = e->counted;
        atomic_fetch_add(&found->references, 1);
    }
    pthread_mutex_unlock(&c->lock);
    return found ? &found->answer : NULL;
}

static void store_entry(struct api_cache *c, struct entry *e)
{
    pthread_mutex_lock(&c->lock);
    if (size_of(e) > c->most / 4 || find_entry(c, e->hash, e->key, e->length)) {
        pthread_mutex_unlock(&c->lock);
        api_cached_release(e->counted);
        free(e);
        return;
    }
    e->chain = c->chains[e->hash % CHAINS];
    c->chains[e->hash % CHAINS] = e;
    link_newest(c, e);
    c->bytes += size_of(e);
    c->count++;
    while (c->bytes > c->most || c->count > ENTRIES_MAX)
        drop_oldest(c);
    pthread_mutex_unlock(&c->lock);
}

struct api_cached *api_cache_put(struct api_cache *c, const char *key, size_t length,
                                 const char *type, char *body, size_t body_length)
{
    struct counted *counted = calloc(1, sizeof(*counted));
    struct entry *e = calloc(1, sizeof(*e) + length);

    if (!counted) {
        hm_text_free(body);
        free(e);
        return NULL;
    }
    counted->answer = (struct api_cached){type, body, body_length};
    /* References: one for the caller, one for the cache. */
    atomic_init(&counted->references, e ? 2 : 1);
    if (e) {
        e->counted = counted;
        e->hash = hash_of(key, length);
        e->length = length;
        memcpy(e->key, key, length);
        store_entry(c, e);
    }
    return &counted->answer;
}
