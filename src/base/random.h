/*
 * Generates random numbers that depend only on (seed, stream, index), and not on the number of
 * machines. The generator is Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as
 * easy as 1, 2, 3, SC 2011).
 */
#ifndef HM_RANDOM_H
#define HM_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* A stream of random numbers. hm__random_init initialises it; a copy continues independently. */
struct hm_random {
    uint32_t key[2];     /* The seed of the stream, as two words. */
    uint32_t counter[4]; /* Index in the stream (two words), and number of the stream (two
                            words). */
    uint32_t block[4];   /* The four numbers that were generated last. */
    unsigned used;       /* Number of elements of `block` that have been used. */
};

void hm__random_init(struct hm_random *random, uint64_t seed, uint64_t stream);
/* Computes the four random numbers that belong to a counter and a key. */
void hm__philox(const uint32_t counter[4], const uint32_t key[2], uint32_t ret_block[4]);

uint32_t hm__random_u32(struct hm_random *random);
/* Draws a uniform number in (0, 1) with 53 bits; never 0 or 1. */
double hm__random_uniform(struct hm_random *random);
/* Draws a number from the standard normal distribution. */
double hm__random_normal(struct hm_random *random);
/* Draws a uniform whole number from 0 to n - 1 without bias; n >= 1. */
uint32_t hm__random_below(struct hm_random *random, uint32_t n);
/*
 * Draws a binomial number: the number of successes in `count` trials with probability p in [0, 1].
 */
double hm__random_binomial(struct hm_random *random, double count, double p);

#endif
