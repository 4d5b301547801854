/*
 * A complete pairwise Markov random field as read from a file: variables with a few states each,
 * and non-negative potentials of one and of two variables, p(x) = 1/Z prod_i phi_i(x_i) prod_(a,b)
 * psi_ab(x_a, x_b).
 */
#ifndef HM_MARKOV_H
#define HM_MARKOV_H

#include "howmany.h"

enum { HM_MARKOV_STATES = 4096 }; /* Most states of a variable. */

struct hm_markov {
    const char *name; /* File name. */
    size_t variables;
    uint32_t *states;     /* States of each variable, 1 to HM_MARKOV_STATES. */
    size_t *unary_places; /* variables + 1 offsets into unary. */
    double *unary;        /* phi; the largest value of each variable is 1. */
    size_t edges;
    uint32_t *ends; /* Two variables per edge, the smaller first. Edges ascend and are unique. */
    size_t *table_places; /* edges + 1 offsets into tables. */
    double
        *tables; /* psi, row by row: the second variable changes fastest; the largest value is 1. */
    double log_scale; /* Logarithm of all factors divided out of phi and psi. */
    void *memory;     /* Owns everything above. */
};

void hm__markov_free(struct hm_markov *markov);

#endif
