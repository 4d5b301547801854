/* Compares Philox with its published answers, and draws with their distributions. */
#include "testing.h"

#include "random.h"

/* Known answers from the Random123 distribution's kat_vectors. */
static void philox_gives_the_published_blocks(void **state)
{
    static const uint32_t rows[][10] = {
        {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
        {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x408f276d,
         0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
        {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09,
         0x94fdcceb, 0x5001e420, 0x24126ea1},
    };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        uint32_t block[4];
        hm__philox(rows[i], rows[i] + 4, block);
        for (int k = 0; k < 4; k++)
            assert_int_equal(block[k], rows[i][6 + k]);
    }
}

static void seeds_and_streams_are_their_own(void **state)
{
    struct hm_random a, b, c, d;

    (void)state;
    hm__random_init(&a, 7, 0);
    hm__random_init(&b, 7, 0);
    hm__random_init(&c, 7, 1);
    hm__random_init(&d, 8, 0);
    int same_stream = 0, same_seed = 0;
    for (int i = 0; i < 1000; i++) {
        uint32_t x = hm__random_u32(&a);
        assert_int_equal(x, hm__random_u32(&b));
        same_stream += x == hm__random_u32(&c);
        same_seed += x == hm__random_u32(&d);
    }
    assert_true(same_stream < 2 && same_seed < 2);
}

static void below_is_even(void **state)
{
    struct hm_random r;
    double counts[7] = {0}, squares = 0;

    (void)state;
    hm__random_init(&r, 1, 0);
    for (int i = 0; i < 70000; i++)
        counts[hm__random_below(&r, 7)]++;
    for (int i = 0; i < 7; i++)
        squares += pow(counts[i] - 10000, 2) / 10000;
    /* This is the 0.999 quantile of chi-square with 6 degrees of freedom. */
    assert_true(squares < 22.5);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(hm__random_below(&r, 1), 0);
}

static double log_choose(double n, double k)
{
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

/* Chi-square of 200,000 draws is compared with the exact probabilities, in cells of at least 20
 * draws. */
static void binomials_have_their_distribution(void **state)
{
    static const struct {
        double n, p;
    } rows[] = {{1, 0.5},     {3, 1.0 / 3}, {20, 0.1},        {40, 0.25}, {60, 0.5},
                {200, 0.125}, {1000, 0.03}, {5000, 1.0 / 32}, {300, 0.9}, {1e7, 1e-6}};
    enum { DRAWS = 200000, CELLS = 4000 };
    static double seen[CELLS];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        double n = rows[i].n, p = rows[i].p, squares = 0, pooled_seen = 0, pooled = 0;
        int cells = 0;
        struct hm_random r;
        hm__random_init(&r, 42, i);
        memset(seen, 0, sizeof(seen));
        for (int k = 0; k < DRAWS; k++) {
            double x = hm__random_binomial(&r, n, p);
            assert_true(x >= 0 && x <= n && x == floor(x) && x < CELLS);
            seen[(int)x]++;
        }
        for (int k = 0; k < CELLS && k <= n; k++) {
            pooled += DRAWS * exp(log_choose(n, k) + k * log(p) + (n - k) * log1p(-p));
            pooled_seen += seen[k];
            if (pooled < 20)
                continue;
            squares += pow(pooled_seen - pooled, 2) / pooled;
            pooled = pooled_seen = 0;
            cells++;
        }
        double free = cells > 1 ? cells - 1 : 1;
        if (squares > free + 4 * sqrt(2 * free) + 10)
            fail_msg("binomial(%g, %g): chi-square %g with %g degrees of freedom", n, p, squares,
                     free);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_gives_the_published_blocks),
        cmocka_unit_test(seeds_and_streams_are_their_own),
        cmocka_unit_test(below_is_even),
        cmocka_unit_test(binomials_have_their_distribution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
