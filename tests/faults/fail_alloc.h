/* Declares what a test and the library fail_alloc share: which allocation of a program fails. */
#ifndef HM_FAIL_ALLOC_H
#define HM_FAIL_ALLOC_H

#include <stdatomic.h>

struct fail_alloc {
    atomic_long after;  /* Number of allocations that succeed before one fails; -1: none fails. */
    atomic_int all;     /* 1: all later allocations fail too, until `after` is changed. */
    atomic_long asked;  /* Number of allocations so far. */
    atomic_long failed; /* Number of allocations that were made to fail. */
    atomic_long live;   /* Number of allocations that are not freed. */
};

#endif
