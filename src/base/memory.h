/* Memory: checked allocation that tests can make fail, and an arena that frees all at once. */
#ifndef HM_MEMORY_H
#define HM_MEMORY_H

#include "howmany.h"

/* Allocate count zeroed elements; NULL when out of memory or when the product overflows. */
void *hm__calloc(size_t count, size_t size);
void *hm__realloc(void *pointer, size_t count, size_t size);
void hm__free(void *pointer);

/* Give memory that was freed in small pieces back to the system. */
void hm__trim(void);

/* For tests: let the allocation of this thread after `after` more fail, and all after it; -1 never.
 */
void hm__alloc_fail_after(long after);

/* Grow-only store: what it hands out lives until the arena is freed. */
struct hm_arena;

struct hm_arena *hm__arena_new(void);
void hm__arena_free(struct hm_arena *arena);
/* Zeroed, aligned for any type; NULL when out of memory. */
void *hm__arena_alloc(struct hm_arena *arena, size_t count, size_t size);
char *hm__arena_strdup(struct hm_arena *arena, const char *text);
char *hm__arena_strndup(struct hm_arena *arena, const char *text, size_t length);
char *hm__arena_printf(struct hm_arena *arena, const char *format, ...) HM_PRINTF(2, 3);
/* Bytes that it has taken. */
size_t hm__arena_bytes(const struct hm_arena *arena);
/* Call `release(object)` when the arena is freed: for owned things that live outside it. */
int hm__arena_own(struct hm_arena *arena, void *object, void (*release)(void *object));

#endif
