/*
 * Implements checked allocation, and an arena.
 *
 * Jobs, catalogs and answers contain many small strings and arrays that are freed together. Each
 * object owns one arena, so a partly built object is freed in the same way as a complete one.
 */
#include "memory.h"

#include <malloc.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "budget.h"

/*
 * Besides the budget of a thread (budget.c), this is the only state of the library that is not part
 * of an object. Tests use it to make allocations fail; otherwise it is off. It is separate for each
 * thread, so that a test can make a single rank run out of memory.
 */
static _Thread_local long fail_after = -1;
static _Thread_local bool fail_once;

long hm__alloc_fail_after(long after)
{
    long before = fail_after;

    fail_after = after;
    fail_once = false;
    return before;
}

void hm__alloc_fail_once(long after)
{
    fail_after = after;
    fail_once = true;
}

static bool alloc_must_fail(void)
{
    if (fail_after < 0)
        return false;
    if (fail_after > 0) {
        fail_after--;
        return false;
    }
    if (fail_once)
        fail_after = -1;
    hm__budget_miss();
    return true;
}

/* Counts a block that was allocated (sign 1) or freed (sign -1) towards the thread's budget. */
static void count_block(void *pointer, int sign)
{
    if (pointer)
        hm__budget_count(sign * (long long)malloc_usable_size(pointer));
}

void *hm__calloc(size_t count, size_t size)
{
    size_t bytes;

    if (alloc_must_fail() || __builtin_mul_overflow(count, size, &bytes) ||
        !hm__budget_admits(bytes))
        return NULL;
    void *pointer = calloc(count ? count : 1, size ? size : 1);
    if (!pointer)
        hm__budget_miss();
    count_block(pointer, 1);
    return pointer;
}

void *hm__realloc(void *pointer, size_t count, size_t size)
{
    size_t bytes;

    if (alloc_must_fail() || __builtin_mul_overflow(count, size, &bytes) ||
        !hm__budget_admits(bytes))
        return NULL;
    long long before = pointer ? (long long)malloc_usable_size(pointer) : 0;
    void *larger = realloc(pointer, bytes ? bytes : 1);
    if (larger) {
        hm__budget_count(-before);
        count_block(larger, 1);
    } else {
        hm__budget_miss();
    }
    return larger;
}

/* Returns the room of an array after it was enlarged. */
static size_t larger_room(size_t room)
{
    return room ? 2 * room : 8;
}

void *hm__grow(void *array, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return array;
    void *larger = hm__realloc(array, larger_room(*room), size);
    if (larger)
        *room = larger_room(*room);
    return larger;
}

void hm__free(void *pointer)
{
    count_block(pointer, -1);
    free(pointer);
}

void hm__trim(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

struct chunk {
    struct chunk *next;
    size_t used, size;
    max_align_t bytes[];
};

struct owned {
    struct owned *next;
    void *object;
    void (*release)(void *object);
};

struct hm_arena {
    struct chunk *chunks;
    struct owned *owned;
    bool failed; /* True if an allocation failed. */
};

/*
 * Number of bytes in the first chunk of an arena, and largest number of bytes in a later chunk.
 * Each chunk is four times as large as the previous one. The first chunk is small because chunks
 * are cleared, and because glibc quickly reuses blocks of up to 1032 bytes.
 */
enum { FIRST_BYTES = 960, CHUNK_BYTES = 8192 };

/*
 * With AddressSanitizer, the bytes of a chunk outside of allocations are poisoned, and a gap
 * follows each allocation, so that an access beyond the end of an array in an arena is reported.
 */
#if defined(__SANITIZE_ADDRESS__)
#define HM_POISON
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HM_POISON
#endif
#endif
#ifdef HM_POISON
void __asan_poison_memory_region(const volatile void *start, size_t bytes);
void __asan_unpoison_memory_region(const volatile void *start, size_t bytes);
enum { GAP_BYTES = 32 };
#else
#define __asan_poison_memory_region(start, bytes) ((void)0)
#define __asan_unpoison_memory_region(start, bytes) ((void)0)
enum { GAP_BYTES = 0 };
#endif

struct hm_arena *hm__arena_new(void)
{
    return hm__calloc(1, sizeof(struct hm_arena));
}

void hm__arena_free(struct hm_arena *arena)
{
    if (!arena)
        return;
    for (struct owned *o = arena->owned; o; o = o->next)
        o->release(o->object);
    while (arena->chunks) {
        struct chunk *next = arena->chunks->next;
        hm__free(arena->chunks);
        arena->chunks = next;
    }
    hm__free(arena);
}

/* Returns a chunk with room for `need` bytes; NULL when memory runs out. */
static struct chunk *arena_chunk(struct hm_arena *arena, size_t need)
{
    struct chunk *c = arena->chunks;

    if (c && c->size - c->used >= need)
        return c;
    size_t next = !c ? FIRST_BYTES : c->size < CHUNK_BYTES / 4 ? 4 * c->size : CHUNK_BYTES;
    size_t room = need > next ? need : next;
    c = hm__calloc(1, sizeof(*c) + room);
    if (!c)
        return NULL;
    c->size = room;
    c->next = arena->chunks;
    arena->chunks = c;
    __asan_poison_memory_region(c->bytes, room);
    return c;
}

void *hm__arena_alloc(struct hm_arena *arena, size_t count, size_t size)
{
    const size_t align = _Alignof(max_align_t);
    struct chunk *c = NULL;
    size_t need = 0;

    if ((!size || count <= (SIZE_MAX / 2) / size) && !(fail_once && alloc_must_fail())) {
        need = (count * size + align - 1) / align * align + GAP_BYTES;
        need = need == 0 ? align : need;
        c = arena_chunk(arena, need);
    }
    if (!c) {
        arena->failed = true;
        return NULL;
    }
    void *p = (char *)c->bytes + c->used;
    __asan_unpoison_memory_region(p, count * size);
    c->used += need;
    return p;
}

bool hm__arena_failed(const struct hm_arena *arena)
{
    return arena->failed;
}

void *hm__arena_grow(struct hm_arena *arena, void *array, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return array;
    void *larger = hm__arena_alloc(arena, larger_room(*room), size);
    if (!larger)
        return NULL;
    if (count > 0) /* The array is NULL at first, which memcpy does not accept. */
        memcpy(larger, array, count * size);
    *room = larger_room(*room);
    return larger;
}

size_t hm__arena_bytes(const struct hm_arena *arena)
{
    size_t bytes = sizeof(*arena);

    for (const struct chunk *c = arena->chunks; c; c = c->next)
        bytes += sizeof(*c) + c->size;
    return bytes;
}

char *hm__arena_strndup(struct hm_arena *arena, const char *text, size_t length)
{
    char *copy = hm__arena_alloc(arena, length + 1, 1);
    if (copy && length > 0) /* An empty text may be NULL, which memcpy does not accept. */
        memcpy(copy, text, length);
    return copy;
}

char *hm__arena_strdup(struct hm_arena *arena, const char *text)
{
    return hm__arena_strndup(arena, text, strlen(text));
}

char *hm__arena_printf(struct hm_arena *arena, const char *format, ...)
{
    va_list args, again;
    char *text = NULL;

    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    if (length >= 0)
        text = hm__arena_alloc(arena, (size_t)length + 1, 1);
    if (text)
        vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    va_end(args);
    return text;
}

int hm__arena_own(struct hm_arena *arena, void *object, void (*release)(void *object))
{
    struct owned *o = hm__arena_alloc(arena, 1, sizeof(*o));
    if (!o)
        return HM_E_NOMEM;
    o->object = object;
    o->release = release;
    o->next = arena->owned;
    arena->owned = o;
    return 0;
}
