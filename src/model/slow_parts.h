/*
 * The fields of struct hm_slow, shared by slow_time.c (order statistics) and slow_stale.c
 * (recursion).
 */
#ifndef HM_SLOW_PARTS_H
#define HM_SLOW_PARTS_H

#include "howmany.h"

struct hm_slow {
    const struct hm_slowness *slowness; /* Borrowed. */
    double chance, slow; /* Probability of a slow iteration, and its factor (1 without a factor). */
    /*
     * A class holds the workers with the same permanent factor. Each distinct speed has two
     * classes: an even one for ordinary nodes and the following odd one for slow nodes.
     */
    double *speeds;   /* Speeds of the listed nodes, perhaps rounded. */
    double *distinct; /* Distinct speeds in rising order. */
    size_t *classes;  /* Class of each listed node. */
    size_t class_count, ordinary;
    double *counts; /* Workers in each class for the current n. */
    /* Nodes of the quadrature, for iterations of one second. */
    bool tabulated;
    double pause,
        certain; /* Both are relative to an iteration; the integrand is 1 up to `certain`. */
    double *edges, *weights, *q, *log_done;
    size_t node_count;
    double *mass; /* Buffer for the distribution of the number of unfinished workers. */
    /* Random draws for the recursion. */
    double *bank, *paused; /* Factor of each draw, and 1 where the draw has a pause. */
    double *ends, *factors;
};

#endif
