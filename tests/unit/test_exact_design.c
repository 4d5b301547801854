/*
 * Tests designs with two terms, 1 and 1/n, whose criterion is computed here from 2 x 2 matrices:
 * which shares become whole runs, in which order, which runs the rest of a budget pays for, and
 * what runs cost.
 */
#include "runs_testing.h"

enum { MOST = 16 };

/* The candidates of a design, as this test computes them; terms are divided by their means. */
struct matrix {
    double a, b, c; /* Elements of the symmetric matrix (a b; b c). */
};

static const double RIDGE = 1e-6;

static struct matrix add_run(struct matrix m, double n, const double *scale)
{
    double x = scale[0], y = scale[1] / n;

    return (struct matrix){m.a + x * x, m.b + x * y, m.c + y * y};
}

/* Returns the criterion of the matrix: the trace of the inverse, or minus the logarithm of the
 * determinant. */
static double matrix_value(struct matrix m, enum hm_criterion criterion)
{
    double det = m.a * m.c - m.b * m.b;

    if (!(det > 1e-12 * m.a * m.c))
        return INFINITY;
    return criterion == HM_CRITERION_A ? (m.a + m.c) / det : -log(det);
}

static double ridged_value(struct matrix m, enum hm_criterion criterion)
{
    m.a += RIDGE;
    m.c += RIDGE;
    double det = m.a * m.c - m.b * m.b;
    return criterion == HM_CRITERION_A ? (m.a + m.c) / det : -log(det);
}

static struct hm_runs *workers(const double *n, size_t count)
{
    const struct hm_axis axis = {"n", n, count};
    struct hm_runs *runs = NULL;

    assert_int_equal(hm_runs_cross(&axis, 1, &runs, NULL), 0);
    return runs;
}

static struct hm_design *solve(const struct hm_runs *candidates,
                               const struct hm_design_settings *settings)
{
    struct hm_design *design = NULL;
    struct hm_err err = {0};

    if (hm_design_new(candidates, settings, &design, &err))
        fail_msg("%s", err.message);
    return design;
}

static bool design_notes(const struct hm_design *d, const char *text)
{
    for (size_t i = 0; i < d->note_count; i++)
        if (strstr(d->notes[i], text))
            return true;
    return false;
}

/* Checks the order and the values of the runs to make. */
static void check_order(const struct hm_design *d, const double *scale, struct matrix known,
                        enum hm_criterion criterion)
{
    struct matrix m = known;

    for (size_t i = 0; i < d->made_count; i++) {
        double mine = ridged_value(add_run(m, d->chosen[i].n, scale), criterion);
        for (size_t k = i + 1; k < d->made_count; k++)
            if (ridged_value(add_run(m, d->chosen[k].n, scale), criterion) <
                mine * (1 - 1e-9) - 1e-12)
                fail_msg("n = %g informs more than n = %g", d->chosen[k].n, d->chosen[i].n);
        m = add_run(m, d->chosen[i].n, scale);
        double after = matrix_value(m, criterion);
        if (isinf(after))
            assert_true(isinf(d->chosen[i].after));
        else
            assert_near(d->chosen[i].after, after, 1e-9);
        assert_true(d->chosen[i].made);
    }
    if (d->made_count > 0 && isfinite(matrix_value(m, criterion)))
        assert_near(d->rounded, matrix_value(m, criterion), 1e-9);
}

static void scale_of(const double *n, size_t count, double *scale)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += 1 / n[i];
    scale[0] = 1;
    scale[1] = (double)count / sum;
}

/* Candidates with a share above `keep` become runs; then those with the largest other shares, until
 * the terms are determined; then those with the smallest shares are left out while the runs cost
 * too much. Every run costs 1. */
static void shares_become_whole_runs(void **state)
{
    static const double n[] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const char *const terms[] = {"1", "1/n"};
    static const double budgets[] = {0, 1.5, 2, 3, 4.5, 6, 8}, keeps[] = {0, 0.1, 0.5, 0.9};
    double scale[2];

    (void)state;
    scale_of(n, 8, scale);
    for (size_t b = 0; b < sizeof(budgets) / sizeof(*budgets); b++)
        for (size_t k = 0; k < sizeof(keeps) / sizeof(*keeps); k++)
            for (int c = 0; c < 2; c++)
                for (int fill = 0; fill < 2; fill++) {
                    struct hm_runs *candidates = workers(n, 8);
                    const struct hm_design_settings s = {.terms = terms,
                                                         .term_count = 2,
                                                         .budget = budgets[b],
                                                         .keep = keeps[k],
                                                         .criterion =
                                                             c ? HM_CRITERION_D : HM_CRITERION_A,
                                                         .fill = fill};
                    struct hm_design *d = solve(candidates, &s);
                    double keep = keeps[k] > 0 ? keeps[k] : 0.3,
                           budget = budgets[b] > 0 ? budgets[b] : 8;
                    double spent = 0, least = 1;
                    assert_int_equal(d->candidates, 8);
                    assert_true(isinf(d->before));
                    assert_true(isnan(d->money) && isnan(d->seconds));
                    for (size_t i = 0; i < d->chosen_count; i++) {
                        const struct hm_chosen *r = &d->chosen[i];
                        assert_true(r->n == n[r->row] && r->cost == 1 && isnan(r->size));
                        assert_true(isnan(r->time_s) && !r->where);
                        assert_int_equal(r->made, i < d->made_count);
                        spent += r->made ? 1 : 0;
                        least = r->made ? fmin(least, r->share) : least;
                        /* A run whose share is above `keep` is left out only if the budget is used
                         * up. */
                        if (!r->made && r->share > keep + 1e-9)
                            assert_true(spent + 1 > budget || fill == 0);
                        if (!r->made) {
                            assert_true(r->share > 1e-3 && isnan(r->after));
                            if (!fill)
                                assert_true(r->share <= least + 1e-9);
                        }
                    }
                    assert_near(d->spent, spent, 1e-12);
                    assert_true(d->spent <= budget || d->made_count == 2);
                    assert_int_equal(design_notes(d, "does not pay for enough whole runs"),
                                     d->spent > budget);
                    if (fill) /* Every run adds information, so the budget must not suffice for any
                                 run that is left out. */
                        assert_true(d->spent + 1 > budget || d->made_count == 8);
                    check_order(d, scale, (struct matrix){0}, s.criterion);
                    assert_true(d->spent > budget || d->objective <= d->rounded + 1e-9);
                    hm_design_free(d);
                    hm_runs_free(candidates);
                }
}

/* Without a limit on the cost, all candidates are run. */
static void without_a_budget_all_are_run(void **state)
{
    static const double n[] = {1, 2, 4};
    static const char *const terms[] = {"1", "1/n"};
    const struct hm_design_settings s = {.terms = terms, .term_count = 2};
    struct hm_runs *candidates = workers(n, 3);
    struct hm_design *d = solve(candidates, &s);
    struct matrix m = {0};
    double scale[2];

    (void)state;
    scale_of(n, 3, scale);
    for (int i = 0; i < 3; i++)
        m = add_run(m, n[i], scale);
    assert_int_equal(d->made_count, 3);
    assert_near(d->objective, matrix_value(m, HM_CRITERION_A), 1e-9);
    assert_near(d->rounded, matrix_value(m, HM_CRITERION_A), 1e-9);
    assert_int_equal(d->note_count, 0);
    hm_design_free(d);
    hm_runs_free(candidates);
}

/* Measured runs count before the first new one; a measured run without a time does not count. */
static void measured_runs_count(void **state)
{
    static const double n[] = {1, 2, 4, 8};
    static const char *const terms[] = {"1", "1/n"};
    struct hm_runs *candidates = workers(n, 4);
    struct hm_runs *have = parse_runs("n,seconds,status\n1,10,ok\n8,3,ok\n4,,out of memory\n");
    const struct hm_design_settings s = {
        .terms = terms, .term_count = 2, .budget = 2, .have = have, .criterion = HM_CRITERION_D};
    struct hm_design *d = solve(candidates, &s);
    struct matrix m = {0};
    double scale[2];

    (void)state;
    scale_of(n, 4, scale);
    m = add_run(add_run(m, 1, scale), 8, scale);
    assert_near(d->before, matrix_value(m, HM_CRITERION_D), 1e-9);
    check_order(d, scale, m, HM_CRITERION_D);
    hm_design_free(d);
    hm_runs_free(candidates);
    hm_runs_free(have);
    candidates = workers(n, 4);
    have = parse_runs("n,size,seconds\n1,1,10\n8,2,3\n");
    const struct hm_design_settings sized = {
        .terms = terms, .term_count = 2, .budget = 2, .have = have};
    struct hm_err err = {0};
    d = NULL;
    assert_int_equal(hm_design_new(candidates, &sized, &d, &err), HM_E_CONFLICT);
    assert_string_equal(err.message, "a run of size 2, but the candidates have no size");
    assert_string_equal(err.hint, "give the candidates a size, such as size 1");
    assert_string_equal(err.source, "runs.csv");
    assert_int_equal(err.line, 3);
    hm_runs_free(candidates);
    hm_runs_free(have);
}

/* The cost of a run is its size for each worker, in units of the smallest size, or the value of the
 * formula. */
static void runs_have_costs(void **state)
{
    static const double n[] = {1, 2, 4}, size[] = {0.5, 0.25}, latency[] = {0.5};
    static const char *const terms[] = {"1", "size/n"};
    const struct hm_axis axes[] = {{"n", n, 3}, {"size", size, 2}, {"latency", latency, 1}};
    struct hm_runs *candidates = NULL;

    (void)state;
    assert_int_equal(hm_runs_cross(axes, 3, &candidates, NULL), 0);
    for (int k = 0; k < 3; k++) {
        const struct hm_design_settings s = {.terms = terms,
                                             .term_count = 2,
                                             .cost = k ? "n * size + latency" : NULL,
                                             .only = k == 2 ? "n < 4" : NULL};
        struct hm_design *d = solve(candidates, &s);
        assert_int_equal(d->candidates, k == 2 ? 4 : 6);
        assert_int_equal(d->made_count, k == 2 ? 4 : 6);
        double spent = 0;
        for (size_t i = 0; i < d->made_count; i++) {
            const struct hm_chosen *r = &d->chosen[i];
            assert_near(r->cost, k ? r->n * r->size + 0.5 : r->size / 0.25 / r->n, 1e-12);
            assert_string_equal(r->where, "latency = 0.5");
            assert_true(k < 2 || r->n < 4);
            spent += r->cost;
        }
        assert_near(d->spent, spent, 1e-12);
        hm_design_free(d);
    }
    hm_runs_free(candidates);
}

/* With a job, a run costs the seconds of its nodes; 3 workers need two nodes of 2. */
static void runs_of_a_job_cost_node_seconds(void **state)
{
    static const double n[] = {1, 2, 3, 4};
    struct hm_job *job = parse_job(
        "compute: 120 s / n\ncommunicate: 1 s * n\n"
        "cluster: {max_nodes: 4, accelerators: 2, price: $7200/h, flops: 1 Tflop/s, fabric: "
        "{bandwidth: 1 GB/s, latency: 0 s}, link: {bandwidth: 1 GB/s, latency: 0 s}}\n");
    struct hm_runs *candidates = workers(n, 4);
    const struct hm_design_settings s = {.job = job, .cost = NULL};
    struct hm_design *d = solve(candidates, &s);
    double seconds = 0;

    (void)state;
    assert_int_equal(d->made_count, 4);
    /* The model of the job is a prior, so the criterion is finite even before the first run. */
    assert_true(isfinite(d->before));
    for (size_t i = 0; i < 4; i++) {
        const struct hm_chosen *r = &d->chosen[i];
        double time = 120 / r->n + (r->n > 1 ? r->n : 1);
        /* A single worker sends nothing, so its time may be 1 s shorter. */
        assert_true(fabs(r->time_s - time) <= 1 + 1e-9);
        assert_near(r->cost, r->time_s * ceil(r->n / 2), 1e-12);
        seconds += r->cost;
    }
    assert_near(d->seconds, seconds, 1e-12);
    assert_near(d->money, 2 * seconds, 1e-12);
    assert_near(d->spent, seconds, 1e-12);
    hm_design_free(d);
    /* Another cluster replaces that of the job, with its own price and nodes. */
    struct hm_cluster *other = NULL;
    struct hm_err err = {0};
    static const char text[] = "{max_nodes: 8, price: $3600/h, flops: 1 Tflop/s, fabric: "
                               "{bandwidth: 1 GB/s, latency: 0 s}}";
    if (hm_cluster_parse(NULL, text, strlen(text), "c", NULL, 0, &other, &err))
        fail_msg("%s", err.message);
    const struct hm_design_settings on = {.job = job, .cluster = other};
    d = solve(candidates, &on);
    seconds = 0;
    for (size_t i = 0; i < d->made_count; i++) {
        assert_near(d->chosen[i].cost, d->chosen[i].time_s * d->chosen[i].n, 1e-12);
        seconds += d->chosen[i].cost;
    }
    assert_near(d->money, seconds, 1e-12);
    hm_design_free(d);
    hm_cluster_free(other);
    hm_runs_free(candidates);
    hm_job_free(job);
}

/* Tests criterion I, the variance of the prediction at n = 64. Its shares have a closed form: with
 * the terms 1 and 1/n, two runs at the ends suffice. */
static void targets_are_predicted(void **state)
{
    static const double n[] = {1, 8};
    static const char *const terms[] = {"1", "1/n"};
    const struct hm_at target = {"n", 64};
    struct hm_design_settings s = {.terms = terms,
                                   .term_count = 2,
                                   .criterion = HM_CRITERION_I,
                                   .target = &target,
                                   .target_count = 1,
                                   .budget = 1};
    struct hm_runs *candidates = workers(n, 2);
    struct hm_design *d = solve(candidates, &s);

    (void)state;
    /* The prediction is u y1 + v y8 with u + v = 1 and u + v/8 = 1/64; the variance
     * u^2/l1 + v^2/l8 is least for shares in the ratio |u| : |v|, where it is (|u| + |v|)^2. */
    double v = (1 - 1. / 64) / (1 - 1. / 8), u = 1 - v, sum = fabs(u) + fabs(v);
    assert_near(d->objective, sum * sum, 1e-8);
    for (size_t i = 0; i < d->chosen_count; i++)
        assert_near(d->chosen[i].share, fabs(d->chosen[i].n == 1 ? u : v) / sum, 1e-6);
    hm_design_free(d);
    hm_runs_free(candidates);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_become_whole_runs),
        cmocka_unit_test(without_a_budget_all_are_run),
        cmocka_unit_test(measured_runs_count),
        cmocka_unit_test(runs_have_costs),
        cmocka_unit_test(runs_of_a_job_cost_node_seconds),
        cmocka_unit_test(targets_are_predicted),
    };
    return cmocka_run_group_tests_name("exact_design", tests, NULL, NULL);
}
