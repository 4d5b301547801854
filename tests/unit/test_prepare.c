/*
 * Tests labels, scales and fingerprints on any number of ranks; means and deviations are compared
 * with numpy (tools/oracle/train.py). Also tests the start of all algorithms when one rank runs out
 * of memory.
 */
#include <unistd.h>

#include "train_runs.h"

#include "memory.h"
#include "prepare.h"
#include "vector.h"

/* ---- labels ---------------------------------------------------------------------------------- */

static void labels_become_classes(void **state)
{
    static const double known[] = {-1, 3, 7.5};
    double values[5] = {7.5, -1, 3, 4, -1};
    struct hm_rows rows = {.count = 5, .labels = values};
    static const struct {
        enum hm_label_kind kind;
        size_t count;
        double positive, wanted[5];
    } cases[] = {
        {HM_LABEL_NUMBER, 3, NAN, {7.5, -1, 3, 4, -1}},
        {HM_LABEL_CLASS, 3, NAN, {2, 0, 1, -1, 0}},
        {HM_LABEL_SIGN, 3, 3, {-1, -1, 1, -1, -1}},
        {HM_LABEL_SIGN, 2, NAN, {-1, -1, 1, -1, -1}}, /* The larger of two labels becomes 1. */
        {HM_LABEL_NUMBER, 3, -1, {-1, 1, -1, -1, 1}},
    };

    (void)state;
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        const double given[5] = {7.5, -1, 3, 4, -1};
        struct hm_labels labels = {cases[c].kind, known, cases[c].count, cases[c].positive};
        memcpy(values, given, sizeof(values));
        hm__labels_apply(&labels, &rows);
        for (size_t i = 0; i < 5; i++)
            assert_near(values[i], cases[c].wanted[i], 0);
    }
}

/* ---- scales ---------------------------------------------------------------------------------- */

static void rows_are_divided_and_made_units(void **state)
{
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++) {
        const struct problem *p = &problems[1];
        struct hm_rows rows = problem_rows(p, 0, sparse, 0, 1), same = rows;
        struct hm_rows copy = problem_rows(p, 0, sparse, 0, 1);
        struct hm_scale scale = {.kind = HM_SCALE_NONE, .divisor = 4};
        hm__scale_apply(&scale, &rows);
        assert_memory_equal(rows.values, copy.values, hm__rows_entries(&rows) * sizeof(double));
        scale.kind = HM_SCALE_DIVIDE;
        hm__scale_apply(&scale, &rows);
        for (size_t e = 0; e < hm__rows_entries(&rows); e++)
            assert_near(4 * rows.values[e], copy.values[e], 0);
        scale.kind = HM_SCALE_UNIT;
        hm__scale_apply(&scale, &rows);
        size_t empty = 0;
        for (size_t i = 0; i < rows.count; i++) {
            double norm2 = hm__row_norm2(&rows, i);
            empty += norm2 == 0; /* A row of zeros is unchanged. */
            assert_true(norm2 == 0 || fabs(norm2 - 1) < 1e-15 * 4);
        }
        assert_true(empty >= 3);
        assert_ptr_equal(rows.values, same.values);
        hm__rows_release(&rows);
        hm__rows_release(&copy);
    }
}

struct scaling {
    const struct problem *problem; /* Training problem; NULL for constant columns. */
    bool sparse;
    int starving; /* The rank whose allocations fail after `after` successful ones; -1: none. */
    long after;
    double mean[UNKNOWNS], deviation[UNKNOWNS];
    double sums[UNKNOWNS], squares[UNKNOWNS]; /* Sums over the scaled columns of all ranks. */
    int rc[RANKS];
};

enum { CONSTANT_ROWS = 23, CONSTANT_COLUMNS = 5 };

/* Returns rows whose columns are 0.1, 1/3, -7e5, 1 and 0 in every row. */
static struct hm_rows constant_rows(bool sparse, int rank, int size)
{
    static const double column[CONSTANT_COLUMNS] = {0.1, 1.0 / 3, -7e5, 1, 0};
    struct hm_rows rows = {.sparse = sparse, .features = CONSTANT_COLUMNS};
    struct hm_shard block = hm__shard_of(CONSTANT_ROWS, rank, size);

    CHECK(hm__rows_reserve(&rows, 0, 0));
    for (double i = 0; i < block.count; i++) {
        uint32_t *columns = NULL;
        double *values = hm__rows_add(&rows, 1, CONSTANT_COLUMNS - 1, &columns);
        CHECK(values);
        memcpy(values, column, (CONSTANT_COLUMNS - 1) * sizeof(double));
        for (uint32_t j = 0; sparse && j < CONSTANT_COLUMNS - 1; j++)
            columns[j] = j;
    }
    return rows;
}

static void scaling_body(struct hm_comm *comm, void *context)
{
    struct scaling *s = context;
    struct hm_rows rows = s->problem
                              ? problem_rows(s->problem, 0, s->sparse, comm->rank, comm->size)
                              : constant_rows(s->sparse, comm->rank, comm->size);
    struct hm_scale scale = {.kind = HM_SCALE_STANDARDISE};
    struct hm_arena *arena = hm__arena_new();
    struct hm_err err = {0};
    double both[2 * UNKNOWNS] = {0}, scratch[2 * UNKNOWNS];
    size_t d = rows.features;

    CHECK(d <= UNKNOWNS);
    if (comm->rank == s->starving)
        hm__alloc_fail_after(s->after);
    int rc = hm__scale_learn(&scale, comm, &rows,
                             s->problem ? (double)s->problem->rows : CONSTANT_ROWS, arena, &err);
    hm__alloc_fail_after(-1);
    s->rc[comm->rank] = rc;
    if (rc == 0) {
        hm__scale_apply(&scale, &rows);
        for (size_t e = 0; e < hm__rows_entries(&rows); e++) {
            size_t j = rows.sparse ? rows.columns[e] : e % d;
            both[j] += rows.values[e];
            both[d + j] += rows.values[e] * rows.values[e];
        }
        hm__comm_sum(comm, both, 2 * d, scratch);
    }
    if (rc == 0 && comm->rank == 0) {
        memcpy(s->mean, scale.mean, d * sizeof(double));
        memcpy(s->deviation, scale.deviation, d * sizeof(double));
        memcpy(s->sums, both, d * sizeof(double));
        memcpy(s->squares, both + d, d * sizeof(double));
    }
    hm__arena_free(arena);
    hm__rows_release(&rows);
}

static void columns_are_standardised(void **state)
{
    static struct scaling s;

    (void)state;
    for (size_t at = 0; at < 2 * PROBLEMS; at++)
        for (int ranks = 1; ranks <= 13; ranks += 4) {
            const struct problem *p = &problems[at / 2];
            double wanted[2] = {0}, mean = 0, deviation = 0, rows = (double)p->rows;
            s = (struct scaling){.problem = p, .sparse = at % 2, .starving = -1};
            fake_comm_run(ranks, scaling_body, &s);
            oracle_read("columns", p->name, NULL, wanted, 2);
            for (size_t j = 0; j < p->features; j++) {
                mean += s.mean[j] * made_value(p->seed + 10, j, 0);
                deviation += s.deviation[j] * made_value(p->seed + 10, j, 0);
                /* Columns of sparse rows keep their zeros, so their mean is not shifted to 0. */
                double now = s.sums[j] / rows;
                assert_true(fabs(now - (at % 2 ? s.mean[j] / s.deviation[j] : 0)) < 1e-14);
                assert_true(fabs(s.squares[j] / rows - now * now - 1) < 1e-13);
            }
            assert_true(fabs(mean - wanted[0]) < 1e-14);
            assert_true(fabs(deviation - wanted[1]) < 1e-13);
        }
}

/* The means of constant columns have rounding errors, but their deviation must be treated as 0. */
static void constant_columns_have_no_deviation(void **state)
{
    static struct scaling s;

    (void)state;
    for (int sparse = 0; sparse < 2; sparse++)
        for (int ranks = 1; ranks < RANKS; ranks += 3) {
            s = (struct scaling){.sparse = sparse, .starving = -1};
            fake_comm_run(ranks, scaling_body, &s);
            for (size_t j = 0; j < CONSTANT_COLUMNS; j++) {
                assert_near(s.deviation[j], 1, 0);
                if (!sparse)
                    assert_true(fabs(s.sums[j]) < 1e-8);
            }
        }
}

static void no_memory_to_learn_a_scale(void **state)
{
    static struct scaling s;

    (void)state;
    for (int rank = 0; rank < 3; rank++) {
        s = (struct scaling){.problem = &problems[0], .starving = rank};
        fake_comm_run(3, scaling_body, &s);
        for (int other = 0; other < 3; other++)
            assert_int_equal(s.rc[other], HM_E_NOMEM);
    }
}

/* ---- fingerprints ---------------------------------------------------------------------------- */

struct printing {
    const struct problem *problem;
    bool sparse;
    double print[RANKS];
};

static void printing_body(struct hm_comm *comm, void *context)
{
    struct printing *p = context;
    struct hm_rows rows = problem_rows(p->problem, 0, p->sparse, comm->rank, comm->size);
    struct hm_shard block = hm__shard_of((double)p->problem->rows, comm->rank, comm->size);

    p->print[comm->rank] = hm__rows_fingerprint(comm, &rows, block.first);
    hm__rows_release(&rows);
}

static void fingerprints_do_not_depend_on_ranks(void **state)
{
    double prints[PROBLEMS];

    (void)state;
    for (size_t at = 0; at < PROBLEMS; at++) {
        for (int ranks = 1; ranks <= 17; ranks++)
            for (int sparse = 0; sparse < 2; sparse++) {
                struct printing p = {.problem = &problems[at], .sparse = sparse};
                fake_comm_run(ranks, printing_body, &p);
                if (ranks == 1 && sparse == 0)
                    prints[at] = p.print[0];
                for (int rank = 0; rank < ranks; rank++)
                    assert_near(p.print[rank], prints[at], 0);
            }
        for (size_t other = 0; other < at; other++)
            assert_true(prints[at] != prints[other]);
    }
}

static double print_of(const struct hm_rows *rows)
{
    struct hm_comm comm;

    hm__comm_alone(&comm);
    return hm__rows_fingerprint(&comm, rows, 0);
}

static void any_change_changes_the_fingerprint(void **state)
{
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++) {
        struct hm_rows rows = problem_rows(&problems[1], 0, sparse, 0, 1);
        double print = print_of(&rows);
        /* Change the last digit or the sign of a value, or set it to 0. */
        for (size_t e = 0; e < hm__rows_entries(&rows); e++) {
            double kept = rows.values[e];
            const double changed[] = {nextafter(kept, 9), kept == 0 ? 1 : -kept, kept == 0 ? 1 : 0};
            for (size_t k = 0; k < 3; k++) {
                rows.values[e] = changed[k];
                assert_true(print_of(&rows) != print);
            }
            rows.values[e] = kept;
        }
        for (size_t i = 0; i < rows.count; i++) {
            rows.labels[i] = -rows.labels[i];
            assert_true(print_of(&rows) != print);
            rows.labels[i] = -rows.labels[i];
        }
        for (size_t e = 0; sparse && e < hm__rows_entries(&rows); e++) {
            rows.columns[e]++;
            assert_true(print_of(&rows) != print);
            rows.columns[e]--;
        }
        uint32_t place[53]; /* Exchange two rows. */
        for (uint32_t i = 0; i < 53; i++)
            place[i] = i == 7 ? 9 : i == 9 ? 7 : i;
        assert_near(print_of(&rows), print, 0);
        assert_true(hm__rows_reorder(&rows, place));
        assert_true(print_of(&rows) != print);
        rows.count--;
        assert_true(print_of(&rows) != print);
        rows.count++;
        hm__rows_release(&rows);
    }
}

/* ---- start without memory ------------------------------------------------------------------- */

struct beginning {
    const struct hm_algorithm *algorithm;
    int starving;
    long after;
    int rc[RANKS];
    struct hm_err err[RANKS];
};

static void beginning_body(struct hm_comm *comm, void *context)
{
    /* A problem with enough columns that every allocation from the arena needs one from the
     * system. */
    static const struct problem wide = {"wide", 3, 5, 1200, 1, 2, 0.1};
    struct beginning *b = context;
    struct hm_objective o;
    struct hm_run run = {.algorithm = b->algorithm, .comm = comm, .objective = &o};

    problem_init(&o, &wide, 1, false, comm->rank, comm->size);
    run.arena = o.arena;
    if (comm->rank == b->starving)
        hm__alloc_fail_after(b->after);
    b->rc[comm->rank] = hm__run_begin(&run, &b->err[comm->rank]);
    hm__alloc_fail_after(-1);
    problem_release(&o);
}

static void beginning_without_memory_ends_everywhere(void **state)
{
    (void)state;
    for (size_t a = 0; hm__algorithms[a]; a++)
        for (int rank = 0; rank < 3; rank++) {
            long after = 0;
            for (;; after++) {
                struct beginning b = {hm__algorithms[a], rank, after, {0}, {{0}}};
                fake_comm_run(3, beginning_body, &b);
                assert_int_equal(b.rc[1], b.rc[0]);
                assert_int_equal(b.rc[2], b.rc[0]);
                if (b.rc[0] == 0)
                    break;
                assert_int_equal(b.rc[0], HM_E_NOMEM);
                assert_string_equal(b.err[(rank + 1) % 3].message, "out of memory");
            }
            assert_true(after >= 3);
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
        cmocka_unit_test(labels_become_classes),
        cmocka_unit_test(rows_are_divided_and_made_units),
        cmocka_unit_test(columns_are_standardised),
        cmocka_unit_test(constant_columns_have_no_deviation),
        cmocka_unit_test(no_memory_to_learn_a_scale),
        cmocka_unit_test(fingerprints_do_not_depend_on_ranks),
        cmocka_unit_test(any_change_changes_the_fingerprint),
        cmocka_unit_test(beginning_without_memory_ends_everywhere),
    };
    return cmocka_run_group_tests(tests, be_quick, NULL);
}
