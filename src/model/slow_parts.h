/*
 * Declares the fields of struct hm_slow, shared by slow_time.c (order statistics) and slow_stale.c
 * (recursion of stale workers).
 */
#ifndef HM_SLOW_PARTS_H
#define HM_SLOW_PARTS_H

#include "howmany.h"

struct hm_slow {
    const struct hm_slowness *slowness; /* Description of slow workers; borrowed. */
    /*
     * Probability of a slow iteration, and the factor by which it is slower, which is 1 if the
     * model specifies no factor.
     */
    double chance, slow;
    /* A class contains the workers whose times have the same permanent factor. Each distinct speed
     * has two classes: an even class for ordinary nodes and the following odd class for slow
     * nodes. */
    double *speeds;   /* Speeds of the nodes that the cluster lists; they are rounded if there are
                         many. */
    double *distinct; /* Distinct speeds in ascending order. */
    size_t *classes;  /* Class of speed of each listed node. */
    size_t class_count, ordinary;
    double *counts; /* Number of workers in each class of speed for the current n. */
    /*
     * True if the tables of the quadrature over time are filled; times are in units of one
     * iteration.
     */
    bool tabulated;
    /* `pause` is the length of a pause, and `certain` is the time before which no worker has
     * finished, so that the integrand is 1. Both are relative to the time of an iteration. */
    double pause, certain;
    double *edges, *weights, *q, *log_done;
    size_t node_count;
    /* Buffer for the distribution of the number of unfinished workers. */
    double *mass;
    /*
     * Random draws for the recursion: the factor that multiplies the time of an iteration, and 1 if
     * the iteration has a pause, 0 otherwise.
     */
    double *bank, *paused;
    double *ends, *factors;
};

#endif
