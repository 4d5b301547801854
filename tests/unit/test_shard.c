/*
 * Tests the distribution of rows: for any number of ranks, the blocks in sequence must be the same
 * rows in the same order; after any failure on any rank, all ranks must return the same error.
 */
#include <unistd.h>

#include "train_problems.h"

#include "err.h"
#include "fake_comm.h"
#include "memory.h"

enum { RANKS = 70 };

/* A source of rows that are generated instead of read: row i of the problem, with its index as
 * label. */
struct source {
    const struct problem *problem;
    size_t next, count;
    size_t wrong;   /* Index of the row whose reading fails; SIZE_MAX: none fails. */
    size_t at_once; /* Maximum number of rows per call; 0: as many as requested. */
};

static int read_source(void *context, size_t most, struct hm_rows *block, struct hm_err *err)
{
    struct source *s = context;
    int got = 0;

    most = s->at_once && s->at_once < most ? s->at_once : most;
    for (; s->next < s->count && (size_t)got < most; got++, s->next++) {
        if (s->next == s->wrong) {
            int rc = hm__fail(err, HM_E_SYNTAX, "row %zu is wrong", s->next);
            hm__err_at(err, "rows.txt", (int)s->next + 1);
            return rc;
        }
        if (!add_row(s->problem, 0, s->next, block))
            return hm__fail_nomem(err);
        block->labels[block->count - 1] = (double)s->next;
    }
    return got;
}

struct distributed {
    struct source source;
    double total;
    bool sparse;
    enum hm_order order;
    uint64_t seed;
    int starving; /* The rank whose allocations fail after `after` successful ones. */
    /* Number of allocations that succeed before the first one fails; -1: none fails. */
    long after;
    struct hm_rows rows[RANKS];
    int rc[RANKS];
    struct hm_err err[RANKS];
};

static void distribute_body(struct hm_comm *comm, void *context)
{
    struct distributed *d = context;
    struct hm_row_source source = {read_source, &d->source, d->total, d->order, d->seed};
    struct hm_rows rows = {.sparse = d->sparse, .features = d->source.problem->features};

    if (comm->rank == d->starving)
        hm__alloc_fail_after(d->after);
    d->rc[comm->rank] = hm__shard_distribute(comm, &source, &rows, &d->err[comm->rank]);
    hm__alloc_fail_after(-1);
    d->rows[comm->rank] = rows;
}

static void distribute(struct distributed *d, int ranks)
{
    d->source.next = 0;
    memset(d->err, 0, sizeof(d->err));
    fake_comm_run(ranks, distribute_body, d);
    for (int rank = 1; rank < ranks; rank++) {
        assert_int_equal(d->rc[rank], d->rc[0]);
        assert_memory_equal(&d->err[rank], &d->err[0], sizeof(d->err[0]));
    }
}

static void release(struct distributed *d, int ranks)
{
    for (int rank = 0; rank < ranks; rank++)
        hm__rows_release(&d->rows[rank]);
}

static struct distributed distributed_of(const struct problem *p, bool sparse, enum hm_order order)
{
    return (struct distributed){.source = {.problem = p, .count = p->rows, .wrong = SIZE_MAX},
                                .total = (double)p->rows,
                                .sparse = sparse,
                                .order = order,
                                .seed = 5,
                                .after = -1};
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static void blocks_are_even_and_whole(void **state)
{
    static const double totals[] = {0, 1, 2, 7, 60000, 4294967295.0, 1e13};

    (void)state;
    for (size_t i = 0; i < sizeof(totals) / sizeof(totals[0]); i++)
        for (int size = 1; size < 300; size += 7) {
            double next = 0;
            for (int rank = 0; rank < size; rank++) {
                struct hm_shard block = hm__shard_of(totals[i], rank, size);
                assert_near(block.first, next, 0);
                assert_true(fabs(block.count - totals[i] / size) < 1);
                next += block.count;
            }
            assert_near(next, totals[i], 0);
        }
}

/* Returns row i of the rows of all ranks. */
static const struct hm_rows *row_of(const struct distributed *d, size_t i, size_t *ret_at)
{
    const struct hm_rows *rows = d->rows;

    while (i >= rows->count)
        i -= (rows++)->count;
    *ret_at = i;
    return rows;
}

static void check_same_row(const struct hm_rows *a, size_t i, const struct hm_rows *b, size_t k)
{
    size_t first = a->sparse ? a->starts[i] : i * a->features;
    size_t other = b->sparse ? b->starts[k] : k * b->features;
    size_t entries = a->sparse ? a->starts[i + 1] - first : a->features;

    assert_true(a->labels[i] == b->labels[k]);
    if (a->sparse) {
        assert_int_equal(b->starts[k + 1] - other, entries);
        if (entries)
            assert_memory_equal(a->columns + first, b->columns + other, entries * sizeof(uint32_t));
    }
    if (entries)
        assert_memory_equal(a->values + first, b->values + other, entries * sizeof(double));
}

/* Checks that one rank has all rows, each once, in the given order. */
static void check_alone(const struct distributed *d)
{
    const struct problem *p = d->source.problem;
    struct hm_rows rows = problem_rows(p, 0, d->sparse, 0, 1);
    size_t moved = 0;
    bool *seen = calloc(p->rows, sizeof(*seen));

    assert_int_equal(d->rows[0].count, p->rows);
    for (size_t i = 0; i < p->rows; i++) {
        size_t number = (size_t)d->rows[0].labels[i];
        assert_true(number < p->rows && !seen[number]);
        seen[number] = true;
        moved += number != i;
        rows.labels[number] = (double)number;
        check_same_row(&d->rows[0], i, &rows, number);
    }
    assert_int_equal(moved > 0, d->order == HM_ORDER_SHUFFLED);
    free(seen);
    hm__rows_release(&rows);
}

static void any_number_of_ranks_has_the_same_rows(void **state)
{
    static struct distributed one, d;

    (void)state;
    for (size_t way = 0; way < 4 * PROBLEMS; way++) {
        const struct problem *p = &problems[way / 4];
        one = distributed_of(p, way & 1, way & 2 ? HM_ORDER_SHUFFLED : HM_ORDER_AS_IS);
        one.source.at_once = way % 5; /* A reader may return fewer rows than requested. */
        d = one;
        distribute(&one, 1);
        assert_int_equal(one.rc[0], 0);
        check_alone(&one);
        for (int ranks = 2; ranks <= RANKS; ranks += ranks < 17 ? 1 : 53) {
            distribute(&d, ranks);
            assert_int_equal(d.rc[0], 0);
            for (int rank = 0; rank < ranks; rank++)
                assert_near((double)d.rows[rank].count, hm__shard_of(d.total, rank, ranks).count,
                            0);
            for (size_t i = 0, at; i < p->rows; i++) {
                const struct hm_rows *rows = row_of(&d, i, &at);
                check_same_row(&one.rows[0], i, rows, at);
            }
            release(&d, ranks);
        }
        release(&one, 1);
    }
}

static void another_seed_is_another_order(void **state)
{
    static struct distributed a, b;
    size_t same = 0;

    (void)state;
    a = b = distributed_of(&problems[0], false, HM_ORDER_SHUFFLED);
    b.seed = 6;
    distribute(&a, 1);
    distribute(&b, 1);
    for (size_t i = 0; i < problems[0].rows; i++)
        same += a.rows[0].labels[i] == b.rows[0].labels[i];
    assert_true(same < problems[0].rows / 4);
    release(&a, 1);
    release(&b, 1);
}

/* Blocks may have more rows than fit into one message. */
static void large_blocks_are_sent_in_parts(void **state)
{
    static const struct problem large = {"large", 1, 400, 20000, 1, 2, 1};
    static struct distributed d;

    (void)state;
    for (int sparse = 0; sparse < 2; sparse++) {
        d = distributed_of(&large, sparse, HM_ORDER_SHUFFLED);
        distribute(&d, 3);
        assert_int_equal(d.rc[0], 0);
        bool seen[400] = {0};
        for (size_t i = 0, at; i < large.rows; i++) {
            const struct hm_rows *rows = row_of(&d, i, &at);
            size_t number = (size_t)rows->labels[at];
            assert_false(seen[number]);
            seen[number] = true;
            for (size_t j = 0; j < large.features; j += 1999)
                assert_true(rows->values[at * large.features + j] ==
                            made_value(large.seed, number, j));
        }
        release(&d, 3);
    }
}

static void no_rows_at_all(void **state)
{
    static struct distributed d;

    (void)state;
    for (int way = 0; way < 4; way++) {
        d = distributed_of(&problems[0], way & 1, way & 2 ? HM_ORDER_SHUFFLED : HM_ORDER_AS_IS);
        d.source.count = 0;
        d.total = 0;
        distribute(&d, 3);
        assert_int_equal(d.rc[0], 0);
        assert_int_equal(d.rows[0].count + d.rows[1].count + d.rows[2].count, 0);
        release(&d, 3);
    }
}

/* ---- failures ------------------------------------------------------------------------------- */

static void a_wrong_row_reaches_all(void **state)
{
    static struct distributed d;

    (void)state;
    for (size_t wrong = 0; wrong < problems[0].rows; wrong += 5)
        for (int ranks = 1; ranks <= RANKS; ranks = 4 * ranks + 1)
            for (size_t at_once = 0; at_once < 4; at_once += 3) {
                char message[64];
                d = distributed_of(&problems[0], wrong % 2,
                                   ranks % 2 ? HM_ORDER_AS_IS : HM_ORDER_SHUFFLED);
                d.source.wrong = wrong;
                d.source.at_once = at_once;
                distribute(&d, ranks);
                assert_int_equal(d.rc[ranks - 1], HM_E_SYNTAX);
                snprintf(message, sizeof(message), "row %zu is wrong", wrong);
                assert_string_equal(d.err[ranks - 1].message, message);
                assert_string_equal(d.err[ranks - 1].source, "rows.txt");
                assert_int_equal(d.err[ranks - 1].line, wrong + 1);
                release(&d, ranks);
            }
}

static void wrong_numbers_of_rows_are_errors(void **state)
{
    static struct distributed d;

    (void)state;
    for (int ranks = 1; ranks <= RANKS; ranks = 4 * ranks + 1)
        for (int way = 0; way < 8; way++) {
            const char *expected = way & 1 ? "fewer" : "more";
            d = distributed_of(&problems[0], way & 4, way & 2 ? HM_ORDER_AS_IS : HM_ORDER_SHUFFLED);
            d.total += way & 1 ? 1 : -1;
            d.source.at_once = 7;
            distribute(&d, ranks);
            assert_int_equal(d.rc[ranks - 1], HM_E_CONFLICT);
            assert_non_null(strstr(d.err[ranks - 1].message, expected));
            release(&d, ranks);
        }
}

/* Any allocation of any rank may fail without a deadlock. */
static void no_memory_anywhere_ends_everywhere(void **state)
{
    /* This problem has many entries per row. */
    static const struct problem heavy = {"heavy", 3, 40, 60, 0.9, 2, 1};
    static struct distributed d;

    (void)state;
    for (int way = 0; way < 4; way++)
        for (int ranks = 1; ranks <= 5; ranks += 2)
            for (int rank = 0; rank < ranks; rank++) {
                long after = 0;
                for (;; after++) {
                    d = distributed_of(&heavy, way & 1,
                                       way & 2 ? HM_ORDER_SHUFFLED : HM_ORDER_AS_IS);
                    d.starving = rank;
                    d.after = after;
                    distribute(&d, ranks);
                    release(&d, ranks);
                    if (d.rc[0] == 0)
                        break;
                    assert_int_equal(d.rc[ranks - 1], HM_E_NOMEM);
                    assert_non_null(strstr(d.err[0].message, "memory"));
                }
                /* Sparse rows also allocate when they arrive. */
                assert_true(after >= (way & 1 ? 5 : 3));
            }
}

static int be_quick(void **state)
{
    (void)state;
    alarm(120); /* The alarm ends the test if there is a deadlock. */
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_even_and_whole),
        cmocka_unit_test(any_number_of_ranks_has_the_same_rows),
        cmocka_unit_test(another_seed_is_another_order),
        cmocka_unit_test(large_blocks_are_sent_in_parts),
        cmocka_unit_test(no_rows_at_all),
        cmocka_unit_test(a_wrong_row_reaches_all),
        cmocka_unit_test(wrong_numbers_of_rows_are_errors),
        cmocka_unit_test(no_memory_anywhere_ends_everywhere),
    };
    return cmocka_run_group_tests(tests, be_quick, NULL);
}
