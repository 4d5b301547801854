/*
 * A pairwise Markov random field as a file states it, whole: variables with a few states each and
 * non-negative potentials of one and of two variables,
 *     p(x) = 1/Z prod_i phi_i(x_i) prod_(a,b) psi_ab(x_a, x_b).
 */
#ifndef HM_MARKOV_H
#define HM_MARKOV_H

#include "howmany.h"

enum { HM_MARKOV_STATES = 4096 }; /* the most a variable may have */

struct hm_markov {
    const char *name; /* of the file */
    size_t variables;
    uint32_t *states;     /* of each variable, 1..HM_MARKOV_STATES */
    size_t *unary_places; /* variables + 1: where the potential of a variable begins in unary */
    double *unary;        /* phi, the largest of each variable is 1 */
    size_t edges;
    uint32_t *ends;       /* two for each edge, the smaller first; edges in rising order, all new */
    size_t *table_places; /* edges + 1: where the potential of an edge begins in tables */
    double *tables;       /* psi, row by row: the second end runs fastest; the largest is 1 */
    double log_scale;     /* logarithm of all that was divided out of phi and psi */
    void *memory;         /* owns everything above */
};

void hm__markov_free(struct hm_markov *markov);

#endif
