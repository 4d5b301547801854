/*
 * Implements the random number generator Philox4x32-10, and draws from distributions.
 *
 * Binomial numbers are drawn exactly: by inversion if few successes are expected, otherwise by
 * transformed rejection (BTRS; Hormann: The generation of binomial random variates, 1993), whose
 * cost does not grow with the number of trials.
 */
#include "random.h"

#include <math.h>

void hm__philox(const uint32_t counter[4], const uint32_t key[2], uint32_t ret_block[4])
{
    uint32_t x[4] = {counter[0], counter[1], counter[2], counter[3]}, k[2] = {key[0], key[1]};

    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)0xD2511F53u * x[0], b = (uint64_t)0xCD9E8D57u * x[2];
        uint32_t next[4] = {(uint32_t)(b >> 32) ^ x[1] ^ k[0], (uint32_t)b,
                            (uint32_t)(a >> 32) ^ x[3] ^ k[1], (uint32_t)a};
        for (int i = 0; i < 4; i++)
            x[i] = next[i];
        k[0] += 0x9E3779B9u;
        k[1] += 0xBB67AE85u;
    }
    for (int i = 0; i < 4; i++)
        ret_block[i] = x[i];
}

void hm__random_init(struct hm_random *r, uint64_t seed, uint64_t stream)
{
    *r = (struct hm_random){
        .key = {(uint32_t)seed, (uint32_t)(seed >> 32)},
        .counter = {0, 0, (uint32_t)stream, (uint32_t)(stream >> 32)},
        .used = 4,
    };
}

uint32_t hm__random_u32(struct hm_random *r)
{
    if (r->used == 4) {
        hm__philox(r->counter, r->key, r->block);
        r->used = 0;
        if (++r->counter[0] == 0)
            r->counter[1]++;
    }
    return r->block[r->used++];
}

double hm__random_uniform(struct hm_random *r)
{
    uint64_t high = hm__random_u32(r) >> 5, low = hm__random_u32(r) >> 6;

    return ((double)(high * 67108864 + low) + 0.5) / 9007199254740992.0;
}

double hm__random_normal(struct hm_random *random) /* Uses the Box-Muller method. */
{
    double u = hm__random_uniform(random), v = hm__random_uniform(random);

    return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

uint32_t hm__random_below(struct hm_random *r, uint32_t n)
{
    /*
     * Uses Lemire's method (2019): the result is the high word of a product, and low words that
     * would cause bias are rejected.
     */
    uint64_t product = (uint64_t)hm__random_u32(r) * n;

    if ((uint32_t)product < n) {
        uint32_t refuse = (uint32_t)-n % n;
        while ((uint32_t)product < refuse)
            product = (uint64_t)hm__random_u32(r) * n;
    }
    return (uint32_t)(product >> 32);
}

/*
 * Draws a binomial number by inversion: adds up probabilities until the sum exceeds a uniform
 * number.
 */
static double by_inversion(struct hm_random *r, double count, double p)
{
    const double none = exp(count * log1p(-p)), ratio = p / (1 - p);

    for (;;) { /* Repeat with a new uniform number in the rare case that rounding keeps the sum
                  below it. */
        double mass = none, u = hm__random_uniform(r), k = 0;
        while (u > mass && mass > 0 && k < count) {
            u -= mass;
            k++;
            mass *= (count - k + 1) / k * ratio;
        }
        if (u <= mass)
            return k;
    }
}

/* Returns log(k!) minus its Stirling approximation. */
static double stirling_tail(double k)
{
    static const double tails[] = {0.0810614667953272,  0.0413406959554092, 0.0276779256849983,
                                   0.02079067210376509, 0.0166446911898211, 0.0138761288230707,
                                   0.0118967099458917,  0.0104112652619720, 0.00925546218271273,
                                   0.00833056343336287};
    if (k < 10)
        return tails[(int)k];
    double square = (k + 1) * (k + 1);
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

static double by_rejection(struct hm_random *r, double count, double p)
{
    const double spread = sqrt(count * p * (1 - p)), b = 1.15 + 2.53 * spread;
    const double a = -0.0873 + 0.0248 * b + 0.01 * p, c = count * p + 0.5;
    const double ratio = p / (1 - p), alpha = (2.83 + 5.1 / b) * spread;
    const double m = floor((count + 1) * p), quick = 0.92 - 4.2 / b;

    for (;;) {
        double u = hm__random_uniform(r) - 0.5, v = hm__random_uniform(r), us = 0.5 - fabs(u);
        double k = floor((2 * a / us + b) * u + c);
        if (us >= 0.07 && v <= quick)
            return k;
        if (k < 0 || k > count)
            continue;
        v = log(v * alpha / (a / (us * us) + b));
        double bound = (m + 0.5) * log((m + 1) / (ratio * (count - m + 1))) +
                       (count + 1) * log((count - m + 1) / (count - k + 1)) +
                       (k + 0.5) * log(ratio * (count - k + 1) / (k + 1)) + stirling_tail(m) +
                       stirling_tail(count - m) - stirling_tail(k) - stirling_tail(count - k);
        if (v <= bound)
            return k;
    }
}

double hm__random_binomial(struct hm_random *r, double count, double p)
{
    if (count <= 0 || p <= 0)
        return 0;
    if (p >= 1)
        return count;
    if (p > 0.5)
        return count - hm__random_binomial(r, count, 1 - p);
    return count * p < 10 ? by_inversion(r, count, p) : by_rejection(r, count, p);
}
