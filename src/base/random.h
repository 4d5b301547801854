/*
 * Random numbers that depend on nothing but (seed, stream, index): the same on one machine or on a
 * thousand. Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3,
 * SC 2011).
 */
#ifndef HM_RANDOM_H
#define HM_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* A stream of numbers; copy it to fork it. Initialise with hm__random_init. */
struct hm_random {
    uint32_t key[2];     /* the seed */
    uint32_t counter[4]; /* index in the stream (two words) and its number (two words) */
    uint32_t block[4];   /* numbers made and not yet used */
    unsigned used;       /* of block */
};

void hm__random_init(struct hm_random *random, uint64_t seed, uint64_t stream);
/* The block of a counter and a key: the function itself. */
void hm__philox(const uint32_t counter[4], const uint32_t key[2], uint32_t ret_block[4]);

uint32_t hm__random_u32(struct hm_random *random);
/* Uniform in (0, 1), 53 bits, never 0 or 1. */
double hm__random_uniform(struct hm_random *random);
/* From the standard normal distribution. */
double hm__random_normal(struct hm_random *random);
/* Uniform in 0..n-1, without bias; n >= 1. */
uint32_t hm__random_below(struct hm_random *random, uint32_t n);
/* How many of `count` trials succeed that each do so with probability p in [0, 1]. */
double hm__random_binomial(struct hm_random *random, double count, double p);

#endif
