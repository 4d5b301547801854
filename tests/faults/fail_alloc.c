/*
 * A library that makes allocations of a program fail. It is loaded before the C library
 * (LD_PRELOAD) and replaces malloc, calloc, realloc and free. The file named by FAIL_ALLOC holds a
 * struct fail_alloc, which another process changes while the program runs; without the file, no
 * allocation fails.
 */
#include "fail_alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* The functions of the C library under their other names. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *pointer, size_t size);
extern void __libc_free(void *pointer);

static struct fail_alloc *control;

__attribute__((constructor)) static void map_control(void)
{
    const char *path = getenv("FAIL_ALLOC");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;

    if (file < 0)
        return;
    void *memory = mmap(NULL, sizeof(*control), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (memory != MAP_FAILED)
        control = memory;
}

/* Returns whether the allocation that is asked for now fails. */
static bool is_failing(void)
{
    if (!control)
        return false;
    atomic_fetch_add(&control->asked, 1);
    if (atomic_load(&control->after) < 0)
        return false;
    long left = atomic_fetch_sub(&control->after, 1);
    if (left > 0)
        return false;
    /* The value is now -1, which ends the failures; with `all` it is set back. */
    if (left == 0 && atomic_load(&control->all))
        atomic_store(&control->after, 0);
    if (left < 0)
        return false; /* Another thread was first. */
    atomic_fetch_add(&control->failed, 1);
    errno = ENOMEM;
    return true;
}

static void *count_new(void *pointer)
{
    if (pointer && control)
        atomic_fetch_add(&control->live, 1);
    return pointer;
}

__attribute__((visibility("default"))) void *malloc(size_t size)
{
    return is_failing() ? NULL : count_new(__libc_malloc(size));
}

__attribute__((visibility("default"))) void *calloc(size_t count, size_t size)
{
    return is_failing() ? NULL : count_new(__libc_calloc(count, size));
}

__attribute__((visibility("default"))) void *realloc(void *pointer, size_t size)
{
    if (is_failing())
        return NULL;
    void *larger = __libc_realloc(pointer, size);
    return pointer ? larger : count_new(larger);
}

__attribute__((visibility("default"))) void free(void *pointer)
{
    if (pointer && control)
        atomic_fetch_sub(&control->live, 1);
    __libc_free(pointer);
}
