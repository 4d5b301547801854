/*
 * Represents a pairwise Markov random field as read from a file: variables with a few states each,
 * and non-negative potentials phi of one variable and psi of two variables:
 *
 *     p(x) = 1/Z prod_i phi_i(x_i) prod_(a,b) psi_ab(x_a, x_b).
 */
#ifndef HM_MARKOV_H
#define HM_MARKOV_H

#include "howmany.h"

enum { HM_MARKOV_STATES = 4096 }; /* Largest number of states that a variable may have. */

struct hm_markov {
    const char *name; /* Name of the file from which the field was read. */
    size_t variables;
    uint32_t *states; /* Number of states of each variable, 1 to HM_MARKOV_STATES. */
    /* Offset of each variable in `unary`, followed by the length of `unary`. */
    size_t *unary_places;
    double *unary; /* Potentials phi of single variables, scaled so that the largest potential of
                      each variable is 1. */
    size_t edges;
    uint32_t *ends; /* Two variables per edge, with the smaller one first. The edges are in
                       ascending order, without repeats. */
    /* Offset of each edge in `tables`, followed by the length of `tables`. */
    size_t *table_places;
    double *tables;   /* Potentials psi of edges, row by row (the second variable changes fastest),
                         scaled so that the largest potential of each edge is 1. */
    double log_scale; /* Sum of the logarithms of all factors by which phi and psi were divided. */
    void *memory;     /* Arena that owns all memory of this struct. */
};

void hm__markov_free(struct hm_markov *markov);

#endif
