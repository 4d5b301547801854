/* Declares a thread-safe cache of responses that drops the least recently used entries. */
#ifndef HM_API_CACHE_H
#define HM_API_CACHE_H

#include <stddef.h>

/* A response body with a reference count. */
struct api_cached {
    const char *type; /* Content-Type of the body; a static string. */
    char *body;       /* Text of the body; owned. */
    size_t length;
};

struct api_cache;

/*
 * Creates a cache; `bytes` limits the total size of all keys and bodies. Returns NULL if memory
 * runs out.
 */
struct api_cache *api_cache_new(size_t bytes);
void api_cache_free(struct api_cache *cache);

/* Looks up a key. The caller must release the result; it is NULL if the key is not in the cache. */
struct api_cached *api_cache_get(struct api_cache *cache, const char *key, size_t length);
/*
 * Adds a body; the cache takes ownership of it. The caller must release the result. If memory runs
 * out, the body is freed and the result is NULL.
 */
struct api_cached *api_cache_put(struct api_cache *cache, const char *key, size_t length,
                                 const char *type, char *body, size_t body_length);
void api_cached_release(void *cached);

#endif
