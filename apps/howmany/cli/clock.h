/* Reads the monotonic clock. */
#ifndef HM_CLOCK_H
#define HM_CLOCK_H

#include <time.h>

/* Returns the monotonic time in seconds since an arbitrary start. */
static inline double cli_now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
