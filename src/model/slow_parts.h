/* The inside of hm_slow, shared by order statistics and the recursion of stale workers. */
#ifndef HM_SLOW_PARTS_H
#define HM_SLOW_PARTS_H

#include "howmany.h"

struct hm_slow {
    const struct hm_slowness *slowness; /* borrowed */
    double chance, slow;                /* of a slow iteration, and its factor, 1 where none */
    /* Classes: workers that are slower for good by the same; two for each different speed, the
     * second for slow nodes. */
    double *speeds;   /* of the nodes that are listed, as they count */
    double *distinct; /* the different ones, rising */
    size_t *classes;  /* of the nodes that are listed */
    size_t class_count, ordinary;
    double *counts; /* workers in each, for the n at hand */
    /* Nodes of the quadrature, for iterations of one second. */
    bool tabulated;
    double pause, certain; /* relative to an iteration; the integrand is 1 up to `certain` */
    double *edges, *weights, *q, *log_done;
    size_t node_count;
    double *mass; /* room for numbers of workers that are not done */
    /* Draws for the recursion. */
    double *bank, *paused; /* factor, and 1 where there is a pause */
    double *ends, *factors;
};

#endif
