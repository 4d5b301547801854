/*
 * Functions that run alternately in one thread, each on its own stack, for tests. A switch from one
 * to another takes less than a microsecond, much less than between threads.
 */
#ifndef HM_FIBERS_H
#define HM_FIBERS_H

#include <stdbool.h>

struct fibers;

/*
 * Makes `count` fibers; each calls body(context, index) when it is first switched to. When a fiber
 * has ended, choose(context) returns the index of the one to continue, or -1 if all have ended.
 */
struct fibers *fibers_new(int count, void (*body)(void *context, int index),
                          int (*choose)(void *context), void *context);
/* Starts with the fiber `first`; returns when all fibers have ended. */
void fibers_run(struct fibers *fibers, int first);
/* Continues with another fiber that has not ended; returns when this fiber is switched to again.
 * Failures of allocations (hm__alloc_fail_after) concern only the fiber that asks for them. */
void fibers_switch(struct fibers *fibers, int to);
/* Returns the index of the fiber that runs. */
int fibers_running(const struct fibers *fibers);
bool fibers_ended(const struct fibers *fibers, int index);
void fibers_free(struct fibers *fibers);

#endif
