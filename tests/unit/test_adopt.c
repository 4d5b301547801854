/*
 * Tests that a run can continue from a checkpoint of another algorithm: dual variables are assigned
 * to their rows, or computed from the model by the formula of the squared loss, alpha = y - x.w.
 */
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "checkpoint.h"
#include "linear_problem.h"
#include "loss.h"
#include "memory.h"
#include "train.h"

enum { ROWS = 3, FEATURES = 2 };

static double values[ROWS * FEATURES] = {1, 0.5, -2, 1, 0.25, 3}, labels[ROWS] = {1, -1, 2};
static const double lambda = 0.1;

struct fixture {
    struct hm_objective objective;
    struct hm_comm comm;
    struct hm_run run;
    char path[64];
};

/* Begins a run of an algorithm on one rank, with the squared loss. */
static void fixture_begin(struct fixture *f, const char *algorithm)
{
    f->objective = (struct hm_objective){
        .rows = {.count = ROWS, .features = FEATURES, .values = values, .labels = labels},
        .total_rows = ROWS,
        .lambda = lambda,
        .arena = hm__arena_new()};
    hm__comm_alone(&f->comm);
    hm__linear_init(&f->objective, &hm__loss_squares);
    f->run = (struct hm_run){.algorithm = hm__algorithm_find(algorithm),
                             .comm = &f->comm,
                             .objective = &f->objective,
                             .settings = {.seed = 1, .momentum = -1},
                             .arena = f->objective.arena};
    assert_int_equal(hm__run_begin(&f->run, NULL), 0);
}

static void fixture_end(struct fixture *f)
{
    hm__arena_free(f->objective.arena);
}

static void make_steps(struct hm_run *run, int count)
{
    for (int i = 0; i < count; i++) {
        run->algorithm->step(run);
        run->iteration++;
    }
}

static const double *alpha_of(struct hm_run *run)
{
    struct hm_part parts[HM_PARTS];

    assert_true(run->algorithm->parts(run, parts) >= 1);
    assert_string_equal(parts[0].name, "alpha");
    return parts[0].values;
}

/* Makes steps of one algorithm, saves a checkpoint, and begins another algorithm from it. */
static void switch_algorithm(struct fixture *from, struct fixture *to, const char *first,
                             const char *second, int steps)
{
    struct hm_train_totals totals = {1.5, 1, 2, 3}, found = {0};
    struct hm_err err = {0};
    int file;

    snprintf(from->path, sizeof(from->path), "/tmp/howmany-adopt-XXXXXX");
    file = mkstemp(from->path);
    assert_true(file >= 0);
    close(file);
    fixture_begin(from, first);
    make_steps(&from->run, steps);
    assert_int_equal(hm__checkpoint_save(from->path, &from->run, "a test", &totals, &err), 0);
    fixture_begin(to, second);
    assert_int_equal(hm__checkpoint_load(from->path, &to->run, "a test", &found, &err),
                     HM_E_CONFLICT);
    err = (struct hm_err){0};
    assert_int_equal(hm__checkpoint_adopt(from->path, &to->run, "another", &found, &err),
                     HM_E_CONFLICT);
    err = (struct hm_err){0};
    assert_int_equal(hm__checkpoint_adopt(from->path, &to->run, "a test", &found, &err), 0);
    assert_true(to->run.iteration == steps);
    assert_true(found.elapsed_s == 1.5);
    unlink(from->path);
}

static void dual_variables_are_carried_over(void **state)
{
    struct fixture from, to;

    (void)state;
    switch_algorithm(&from, &to, "cocoa", "mini-sdca", 3);
    assert_memory_equal(alpha_of(&from.run), alpha_of(&to.run), ROWS * sizeof(double));
    assert_memory_equal(from.run.w, to.run.w, FEATURES * sizeof(double));
    fixture_end(&from);
    fixture_end(&to);
}

static void dual_variables_are_derived_from_the_model(void **state)
{
    struct fixture from, to;
    double w[FEATURES] = {0};

    (void)state;
    switch_algorithm(&from, &to, "gd", "cocoa+", 4);
    const double *alpha = alpha_of(&to.run), *model = from.run.w;
    for (size_t i = 0; i < ROWS; i++) {
        const double *x = values + i * FEATURES;
        double expected = labels[i] - x[0] * model[0] - x[1] * model[1];
        assert_near(alpha[i], expected, 1e-12);
        for (size_t j = 0; j < FEATURES; j++)
            w[j] += expected * x[j] / (lambda * ROWS);
    }
    for (size_t j = 0; j < FEATURES; j++)
        assert_near(to.run.w[j], w[j], 1e-12);
    fixture_end(&from);
    fixture_end(&to);
}

static void a_primal_algorithm_starts_from_the_model(void **state)
{
    struct fixture from, to;

    (void)state;
    switch_algorithm(&from, &to, "cocoa", "lbfgs", 2);
    assert_memory_equal(from.run.w, to.run.w, FEATURES * sizeof(double));
    double before = hm__run_full(&to.run, to.run.w);
    make_steps(&to.run, 3);
    assert_true(hm__run_full(&to.run, to.run.w) < before);
    fixture_end(&from);
    fixture_end(&to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dual_variables_are_carried_over),
        cmocka_unit_test(dual_variables_are_derived_from_the_model),
        cmocka_unit_test(a_primal_algorithm_starts_from_the_model),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
