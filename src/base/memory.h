/* Declares checked allocation, which tests can make fail, and an arena that is freed as a whole. */
#ifndef HM_MEMORY_H
#define HM_MEMORY_H

#include "howmany.h"

/*
 * Chooses the size of a buffer or a table: `small` in builds for fuzzing, which define
 * HM_SMALL_BUFFERS, so that a single execution is faster and even small inputs reach the ends of
 * buffers.
 */
#ifdef HM_SMALL_BUFFERS
#define HM_BUFFER_SIZE(usual, small) (small)
#else
#define HM_BUFFER_SIZE(usual, small) (usual)
#endif

/*
 * Allocates `count` zeroed elements; returns NULL when memory runs out or when count * size
 * overflows.
 */
void *hm__calloc(size_t count, size_t size);
void *hm__realloc(void *pointer, size_t count, size_t size);
void hm__free(void *pointer);
/*
 * Returns an array with room for one more element. If `count` elements fill the array, it is
 * reallocated with twice the room, and *room is updated. If memory runs out, returns NULL and
 * leaves the array unchanged.
 */
void *hm__grow(void *array, size_t count, size_t *room, size_t size);

/* Returns unused memory of the allocator to the operating system. */
void hm__trim(void);

/*
 * For tests: the next `after` allocations of this thread succeed, and all later ones fail. -1 means
 * that no allocation fails. Returns the number of allocations that could still have succeeded
 * before this call, or -1 if there was no limit.
 */
long hm__alloc_fail_after(long after);
/* For tests: like hm__alloc_fail_after, but only one allocation fails. Allocations from an arena
 * count too. */
void hm__alloc_fail_once(long after);

/* An arena: memory allocated from it stays valid until the arena is freed. */
struct hm_arena;

struct hm_arena *hm__arena_new(void);
void hm__arena_free(struct hm_arena *arena);
/* Allocates zeroed memory, aligned for any type; returns NULL when memory runs out. */
void *hm__arena_alloc(struct hm_arena *arena, size_t count, size_t size);
/* Returns whether an allocation from the arena failed. */
bool hm__arena_failed(const struct hm_arena *arena);
/* Like hm__grow, for an array in the arena. */
void *hm__arena_grow(struct hm_arena *arena, void *array, size_t count, size_t *room, size_t size);
char *hm__arena_strdup(struct hm_arena *arena, const char *text);
char *hm__arena_strndup(struct hm_arena *arena, const char *text, size_t length);
char *hm__arena_printf(struct hm_arena *arena, const char *format, ...) HM_PRINTF(2, 3);
/* Returns the number of bytes that the arena has allocated from the system. */
size_t hm__arena_bytes(const struct hm_arena *arena);
/*
 * Makes the arena call release(object) when it is freed, for an object that is not allocated from
 * the arena.
 */
int hm__arena_own(struct hm_arena *arena, void *object, void (*release)(void *object));

#endif
