/* Implements fibers with the contexts of POSIX. AddressSanitizer must know of each change of the
 * stack. */
#include "fibers.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "memory.h"

#ifdef __SANITIZE_ADDRESS__
#define HM_FIBERS_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HM_FIBERS_SANITIZED
#endif
#endif

#ifdef HM_FIBERS_SANITIZED
#include <sanitizer/common_interface_defs.h>
#else
static void __sanitizer_start_switch_fiber(void **kept, const void *bottom, size_t size)
{
    (void)kept, (void)bottom, (void)size;
}
static void __sanitizer_finish_switch_fiber(void *kept, const void **bottom, size_t *size)
{
    (void)kept, (void)bottom, (void)size;
}
#endif

enum { SPARE_MOST = 64 };
/* Pages of a stack that are never used take no memory. */
static const size_t STACK_BYTES = (size_t)8 << 20;

/* One stack and the state of what runs on it. */
struct fiber {
    ucontext_t context;
    const void *bottom;
    size_t size;
    void *kept; /* State of AddressSanitizer while another fiber runs. */
    bool ended;
};

struct fibers {
    struct fiber *all, caller; /* The last is the function that called fibers_run. */
    int count, running;
    void (*body)(void *context, int index);
    int (*choose)(void *context);
    void *context;
};

/* Stacks of earlier fibers, to be used again. */
static void *spare_stacks[SPARE_MOST];
static int spare_count;

static void *stack_take(void)
{
    if (spare_count > 0)
        return spare_stacks[--spare_count];
    void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED) {
        perror("fibers: no memory for a stack");
        abort();
    }
    return stack;
}

static void stack_release(void *stack)
{
    if (spare_count < SPARE_MOST)
        spare_stacks[spare_count++] = stack;
    else
        munmap(stack, STACK_BYTES);
}

static struct fiber *fiber_at(struct fibers *f, int index)
{
    return index < 0 ? &f->caller : &f->all[index];
}

/* Runs on the stack of a fiber; the two numbers are the halves of a pointer. */
static void fiber_enter(unsigned high, unsigned low)
{
    struct fibers *f = (struct fibers *)((uintptr_t)high << 32 | low); // NOLINT

    __sanitizer_finish_switch_fiber(NULL, f->caller.bottom ? NULL : &f->caller.bottom,
                                    f->caller.size ? NULL : &f->caller.size);
    f->body(f->context, f->running);
    f->all[f->running].ended = true;
    f->running = f->choose(f->context);
    __sanitizer_start_switch_fiber(NULL, fiber_at(f, f->running)->bottom,
                                   fiber_at(f, f->running)->size);
    setcontext(&fiber_at(f, f->running)->context);
}

struct fibers *fibers_new(int count, void (*body)(void *context, int index),
                          int (*choose)(void *context), void *context)
{
    struct fibers *f = calloc(1, sizeof(*f));

    if (f)
        f->all = calloc((size_t)count, sizeof(*f->all));
    if (!f || !f->all) {
        fprintf(stderr, "fibers: out of memory\n");
        abort();
    }
    f->count = count;
    f->running = -1;
    f->body = body;
    f->choose = choose;
    f->context = context;
    for (int i = 0; i < count; i++) {
        struct fiber *one = &f->all[i];
        void *stack = stack_take();
        one->bottom = stack;
        one->size = STACK_BYTES;
        getcontext(&one->context);
        one->context.uc_stack = (stack_t){.ss_sp = stack, .ss_size = STACK_BYTES};
        makecontext(&one->context, (void (*)(void))fiber_enter, 2, (unsigned)((uintptr_t)f >> 32),
                    (unsigned)((uintptr_t)f & 0xffffffffU));
    }
    return f;
}

void fibers_switch(struct fibers *f, int to)
{
    struct fiber *from = fiber_at(f, f->running), *other = fiber_at(f, to);

    if (other->ended) {
        fprintf(stderr, "fibers: fiber %d has ended\n", to);
        abort();
    }
    f->running = to;
    long fail_after = hm__alloc_fail_after(-1);
    __sanitizer_start_switch_fiber(&from->kept, other->bottom, other->size);
    swapcontext(&from->context, &other->context);
    __sanitizer_finish_switch_fiber(from->kept, NULL, NULL);
    hm__alloc_fail_after(fail_after);
}

void fibers_run(struct fibers *f, int first)
{
    fibers_switch(f, first);
}

int fibers_running(const struct fibers *f)
{
    return f->running;
}

bool fibers_ended(const struct fibers *f, int index)
{
    return f->all[index].ended;
}

void fibers_free(struct fibers *f)
{
    for (int i = 0; i < f->count; i++)
        stack_release((void *)(uintptr_t)f->all[i].bottom);
    free(f->all);
    free(f);
}
