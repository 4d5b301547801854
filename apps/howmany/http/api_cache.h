/* Answers that were given before: the least recently used go first. Safe for threads. */
#ifndef HM_API_CACHE_H
#define HM_API_CACHE_H

#include <stddef.h>

/* An answer, shared by everybody who sends it. */
struct api_answer {
    const char *type; /* static */
    char *body;       /* owned */
    size_t length;
};

struct api_cache;

/* Bytes of keys and answers together. NULL when out of memory. */
struct api_cache *api_cache_new(size_t bytes);
void api_cache_free(struct api_cache *cache);

/* The answer to a key, held until it is released; NULL: not known. */
struct api_answer *api_cache_get(struct api_cache *cache, const char *key, size_t length);
/* Keep an answer, whose body is taken; held likewise. NULL when out of memory: the body is freed.
 */
struct api_answer *api_cache_put(struct api_cache *cache, const char *key, size_t length,
                                 const char *type, char *body, size_t body_length);
void api_answer_release(void *answer);

#endif
