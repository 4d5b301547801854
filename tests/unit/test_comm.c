/*
 * Tests sums over ranks with every scheme, for many numbers of ranks and lengths. They are compared
 * with sums computed here, with byte counts and times in closed form, and must have equal bits on
 * all ranks.
 */
#include "testing.h"

#include "comm.h"
#include "fake_comm.h"

enum { MOST_RANKS = 32, MOST_VALUES = 1000 };

static const int sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 32};

/* Input and output of all ranks. */
struct shared {
    enum hm_reduce_scheme scheme;
    size_t count;
    int root;
    double (*value)(int rank, size_t i);
    double results[MOST_RANKS][MOST_VALUES];
    struct hm_comm after[MOST_RANKS];
    double seconds[MOST_RANKS];
};

static void sum_body(struct hm_comm *comm, void *context)
{
    struct shared *s = context;
    double *scratch = comm->size > 1 ? malloc((s->count + 1) * sizeof(double)) : NULL;
    double *mine = s->results[comm->rank];

    comm->scheme = s->scheme;
    for (size_t i = 0; i < s->count; i++)
        mine[i] = s->value(comm->rank, i);
    double began = comm->ops->now(comm);
    hm__comm_sum(comm, mine, s->count, scratch);
    s->seconds[comm->rank] = comm->ops->now(comm) - began;
    s->after[comm->rank] = *comm;
    free(scratch);
}

static double whole(int rank, size_t i)
{
    return (double)(rank + 1) * (double)(i % 97 + 1);
}

/* Returns values of many magnitudes, so that different orders of addition give different bits. */
static double rough(int rank, size_t i)
{
    return ldexp(1.0 + 0.37 * (double)((rank * 31 + (int)i * 7) % 101), (rank * 13 + (int)i) % 40);
}

/* Writes the lengths to test on n ranks into `counts`. Returns their number. */
static size_t lengths(int n, size_t *counts)
{
    size_t m = (size_t)n, all[] = {0, 1, 2, m - 1, m, m + 1, MOST_VALUES};

    memcpy(counts, all, sizeof(all));
    return sizeof(all) / sizeof(all[0]);
}

/*
 * Returns whether sums on this number of ranks are tested. Outside `make torture`, only small
 * numbers, a power of two and the number after it are.
 */
static bool is_tried(int n)
{
    return is_torture() || n <= 7 || n == 16 || n == 17;
}

/* Calls `check` after a sum with every scheme, number of ranks and length. */
static void for_all(double (*value)(int, size_t), void (*check)(const struct shared *s, int n))
{
    struct shared *s = calloc(1, sizeof(*s));
    size_t counts[16];

    assert_non_null(s);
    s->value = value;
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++)
        for (int scheme = 0; scheme < HM_REDUCE_SCHEMES && is_tried(sizes[k]); scheme++)
            for (size_t c = lengths(sizes[k], counts); c-- > 0;) {
                s->scheme = (enum hm_reduce_scheme)scheme;
                s->count = counts[c];
                fake_comm_run(sizes[k], sum_body, s);
                check(s, sizes[k]);
            }
    free(s);
}

static void check_whole(const struct shared *s, int n)
{
    for (int rank = 0; rank < n; rank++)
        for (size_t i = 0; i < s->count; i++) {
            double wanted = (double)(i % 97 + 1) * (n * (n + 1) / 2);
            if (s->results[rank][i] != wanted)
                fail_msg("%s, %d ranks, %zu values: rank %d has %g, not %g, at %zu",
                         hm__reduce_scheme_name(s->scheme), n, s->count, rank, s->results[rank][i],
                         wanted, i);
        }
}

static void check_bits(const struct shared *s, int n)
{
    for (int rank = 1; rank < n; rank++)
        if (memcmp(s->results[rank], s->results[0], s->count * sizeof(double)) != 0)
            fail_msg("%s, %d ranks, %zu values: rank %d has other bits",
                     hm__reduce_scheme_name(s->scheme), n, s->count, rank);
}

static void test_sums_are_exact(void **state)
{
    (void)state;
    for_all(whole, check_whole);
}

static void test_all_have_the_same_bits(void **state)
{
    (void)state;
    for_all(rough, check_bits);
}

/* ---- counts --------------------------------------------------------------------------------- */

static int ceil_log2(int n)
{
    int k = 0;

    while ((1 << k) < n)
        k++;
    return k;
}

static int ceil_root(int n)
{
    return (int)ceil(sqrt(n));
}

/* Returns the number of full-length messages that all ranks send, which is also the number of
 * full-length additions. */
static double messages(enum hm_reduce_scheme scheme, int n)
{
    int power = 1 << (ceil_log2(n + 1) - 1);

    if (scheme == HM_REDUCE_DOUBLING)
        return power * ceil_log2(power) + 2 * (n - power);
    return 2.0 * (n - 1);
}

static double additions(enum hm_reduce_scheme scheme, int n)
{
    int power = 1 << (ceil_log2(n + 1) - 1);

    if (scheme == HM_REDUCE_DOUBLING)
        return power * ceil_log2(power) + (n - power);
    return n - 1;
}

static void check_counts(const struct shared *s, int n)
{
    double bytes = 0, flop = 0;

    if (s->scheme == HM_REDUCE_AUTO)
        return;
    for (int rank = 0; rank < n; rank++) {
        bytes += s->after[rank].bytes;
        flop += s->after[rank].flop;
    }
    assert_near(bytes, messages(s->scheme, n) * (double)s->count * 8, 1e-12);
    assert_near(flop, additions(s->scheme, n) * (double)s->count, 1e-12);
}

static void test_bytes_and_flop_are_counted(void **state)
{
    (void)state;
    for_all(whole, check_counts);
}

/* Single ranks send equal numbers of bytes on a ring, and unequal numbers with a master. */
static void test_bytes_of_a_rank(void **state)
{
    struct shared *s = calloc(1, sizeof(*s));

    (void)state;
    assert_non_null(s);
    *s = (struct shared){.scheme = HM_REDUCE_RING, .count = 80, .value = whole};
    fake_comm_run(8, sum_body, s);
    for (int rank = 0; rank < 8; rank++)
        assert_near(s->after[rank].bytes, 2 * 7.0 / 8 * 640, 0);
    s->scheme = HM_REDUCE_MASTER;
    fake_comm_run(8, sum_body, s);
    for (int rank = 0; rank < 8; rank++)
        assert_near(s->after[rank].bytes, rank == 0 ? 7 * 640 : 640, 0);
    free(s);
}

/* ---- times ---------------------------------------------------------------------------------- */

/* Returns the time at which the last rank has its sum, by the closed forms in schemes.c; negative
 * if there is no closed form. */
static double closed_form(enum hm_reduce_scheme scheme, int n, double count)
{
    double a = FAKE_LATENCY_S, mb = count * 8 * FAKE_BYTE_S, c = count * FAKE_FLOP_S;
    int rounds = ceil_log2(n), down = ceil_log2(n + 1) - 1, group = ceil_root(n);
    bool power = 1 << rounds == n;

    switch (scheme) {
    case HM_REDUCE_RING:
        return fmod(count, n) > 0 ? -1 : 2 * (n - 1) * a + (n - 1) * (2 * mb + c) / n;
    case HM_REDUCE_DOUBLING:
        return power ? rounds * (a + mb + c) : (2 + down) * (a + mb) + (1 + down) * c;
    case HM_REDUCE_MASTER:
        return 2 * (n - 1) * (a + mb) + (n - 1) * c;
    case HM_REDUCE_TREE:
        return power ? rounds * (2 * (a + mb) + c) : -1;
    case HM_REDUCE_TWO_WAVE:
        return group * group == n ? 2 * (group - 1) * (a + mb + c) + rounds * (a + mb) : -1;
    default:
        return -1;
    }
}

static void check_times(const struct shared *s, int n)
{
    double wanted = closed_form(s->scheme, n, (double)s->count), longest = 0;

    for (int rank = 0; rank < n; rank++) {
        const struct hm_comm *after = &s->after[rank];
        longest = fmax(longest, s->seconds[rank]);
        assert_near(after->communicate_s + after->flop * FAKE_FLOP_S, s->seconds[rank], 1e-12);
    }
    if (s->count > 0 && wanted >= 0)
        assert_near(longest, wanted, 1e-12);
}

static void test_times_follow_the_closed_forms(void **state)
{
    (void)state;
    for_all(whole, check_times);
}

/* The automatic choice must be the faster of doubling and ring; the choice is approximate on the
 * fake network. */
static void test_auto_chooses_by_size(void **state)
{
    struct shared *s = calloc(1, sizeof(*s));

    (void)state;
    assert_non_null(s);
    *s = (struct shared){.scheme = HM_REDUCE_AUTO, .count = 10, .value = whole};
    fake_comm_run(32, sum_body, s);
    assert_near(s->after[0].bytes, 5 * 80, 0);
    fake_comm_run(2, sum_body, s);
    assert_near(s->after[0].bytes, 80, 0);
    s->count = MOST_VALUES;
    fake_comm_run(3, sum_body, s);
    assert_near(s->after[0].bytes, 2 * 8000, 0);
    free(s);
}

static void long_body(struct hm_comm *comm, void *context)
{
    size_t count = 120000;
    double *values = calloc(count, sizeof(*values)), *scratch = malloc(count * sizeof(*scratch));

    hm__comm_sum(comm, values, count, scratch);
    ((double *)context)[comm->rank] = comm->bytes;
    free(scratch);
    free(values);
}

static void test_auto_takes_the_ring_for_much(void **state)
{
    double bytes[8];

    (void)state;
    fake_comm_run(8, long_body, bytes);
    for (int rank = 0; rank < 8; rank++)
        assert_near(bytes[rank], 2 * 7.0 / 8 * 960000, 0);
}

/* ---- other operations ----------------------------------------------------------------------- */

static void few_body(struct hm_comm *comm, void *context)
{
    struct shared *s = context;
    double *mine = s->results[comm->rank];

    /* The results for a few values must not depend on the scheme. */
    comm->scheme = HM_REDUCE_MASTER;
    for (size_t i = 0; i < HM_COMM_FEW; i++) {
        mine[i] = whole(comm->rank, i);
        mine[HM_COMM_FEW + i] = rough(comm->rank, i);
    }
    mine[HM_COMM_FEW + 1] = comm->rank % 2 ? 0.0 : -0.0;
    mine[HM_COMM_FEW + 2] = comm->rank == s->root ? NAN : 1;
    mine[HM_COMM_FEW + 3] = -(double)comm->rank;
    hm__comm_sum_few(comm, mine, HM_COMM_FEW);
    hm__comm_max_few(comm, mine + HM_COMM_FEW, HM_COMM_FEW);
    hm__comm_sum_few(comm, mine, 0);
}

static void check_few(const struct shared *s, int n)
{
    for (int rank = 0; rank < n; rank++) {
        const double *mine = s->results[rank];
        for (size_t i = 0; i < HM_COMM_FEW; i++)
            assert_near(mine[i], (double)(i + 1) * n * (n + 1) / 2, 0);
        for (size_t i = 4; i < HM_COMM_FEW; i++) {
            double wanted = 0;
            for (int r = 0; r < n; r++)
                wanted = fmax(wanted, rough(r, i));
            assert_near(mine[HM_COMM_FEW + i], wanted, 0);
        }
        assert_int_equal(signbit(mine[HM_COMM_FEW + 1]) != 0, n == 1);
        assert_true(isnan(mine[HM_COMM_FEW + 2]));
        assert_near(mine[HM_COMM_FEW + 3], 0, 0);
    }
}

static void test_a_few_numbers(void **state)
{
    struct shared *s = calloc(1, sizeof(*s));

    (void)state;
    assert_non_null(s);
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        s->root = sizes[k] - 1;
        fake_comm_run(sizes[k], few_body, s);
        check_few(s, sizes[k]);
    }
    free(s);
}

static void broadcast_body(struct hm_comm *comm, void *context)
{
    struct shared *s = context;

    for (int root = 0; root < comm->size; root++) {
        char text[17] = "";
        if (comm->rank == root)
            snprintf(text, sizeof(text), "from %d", root);
        hm__comm_broadcast(comm, root, text, sizeof(text));
        s->results[comm->rank][root] = atof(text + 4);
        hm__comm_broadcast(comm, root, text, 0);
    }
    s->after[comm->rank] = *comm;
}

static void test_broadcast_from_every_root(void **state)
{
    struct shared *s = calloc(1, sizeof(*s));

    (void)state;
    assert_non_null(s);
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        double bytes = 0;
        fake_comm_run(sizes[k], broadcast_body, s);
        for (int rank = 0; rank < sizes[k]; rank++) {
            for (int root = 0; root < sizes[k]; root++)
                assert_near(s->results[rank][root], root, 0);
            bytes += s->after[rank].bytes;
        }
        assert_near(bytes, 17.0 * sizes[k] * (sizes[k] - 1), 0);
    }
    free(s);
}

static void barrier_body(struct hm_comm *comm, void *context)
{
    struct shared *s = context;

    hm__comm_work(comm, 1000.0 * comm->rank);
    hm__comm_barrier(comm);
    s->seconds[comm->rank] = comm->ops->now(comm);
    s->after[comm->rank] = *comm;
}

static void test_barrier_aligns_clocks(void **state)
{
    struct shared *s = calloc(1, sizeof(*s));

    (void)state;
    assert_non_null(s);
    fake_comm_run(7, barrier_body, s);
    for (int i = 0; i < 7; i++) {
        assert_near(s->seconds[i], 6000 * FAKE_FLOP_S, 0);
        assert_near(s->after[i].communicate_s, 1000 * (6 - i) * FAKE_FLOP_S, 0);
    }
    free(s);
}

static void test_alone(void **state)
{
    struct hm_comm comm;
    double values[2] = {1.5, -2};

    (void)state;
    hm__comm_alone(&comm);
    assert_int_equal(comm.rank, 0);
    assert_int_equal(comm.size, 1);
    double began = comm.ops->now(&comm);
    hm__comm_sum(&comm, values, 2, NULL);
    hm__comm_sum_few(&comm, values, 2);
    hm__comm_max_few(&comm, values, 2);
    hm__comm_broadcast(&comm, 0, values, sizeof(values));
    hm__comm_barrier(&comm);
    hm__comm_work(&comm, 12);
    assert_near(values[0], 1.5, 0);
    assert_near(comm.flop, 12, 0);
    assert_near(comm.bytes, 0, 0);
    assert_true(comm.ops->now(&comm) >= began);
}

static void test_names(void **state)
{
    (void)state;
    for (int i = 0; i < HM_REDUCE_SCHEMES; i++)
        assert_int_equal(hm__reduce_scheme_find(hm__reduce_scheme_name((enum hm_reduce_scheme)i)),
                         i);
    assert_int_equal(hm__reduce_scheme_find("rings"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_are_exact),
        cmocka_unit_test(test_all_have_the_same_bits),
        cmocka_unit_test(test_bytes_and_flop_are_counted),
        cmocka_unit_test(test_bytes_of_a_rank),
        cmocka_unit_test(test_times_follow_the_closed_forms),
        cmocka_unit_test(test_auto_chooses_by_size),
        cmocka_unit_test(test_auto_takes_the_ring_for_much),
        cmocka_unit_test(test_a_few_numbers),
        cmocka_unit_test(test_broadcast_from_every_root),
        cmocka_unit_test(test_barrier_aligns_clocks),
        cmocka_unit_test(test_alone),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
