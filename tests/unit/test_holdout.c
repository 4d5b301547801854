/*
 * Tests the held-out errors of traces with a known loss curve g: they must be 0 if g can be
 * identified, a time ahead must be converted to iterations, and numbers of workers m that cannot be
 * held out must be skipped.
 */
#include "made_traces.h"

static double rate(double i, double m)
{
    return 0.5 * pow(m, 0.1) * pow(1 - 0.2 / pow(m, 0.6), i);
}

enum { POINTS = 80 };

static void make(struct made *made, size_t m_count)
{
    made_init(made);
    made_algorithm(made, "a", made_ms, m_count, POINTS, 1, rate, 0, NULL);
    for (size_t k = 0; k < made->traces.count; k++)
        made_time(&made->list[k], 0.25);
}

static struct hm_holdout *hold_out(const struct made *made, struct hm_holdout_settings settings)
{
    struct hm_holdout *holdout = NULL;
    struct hm_err err = {0};

    settings.converge.best_given = true;
    settings.converge.best = 1;
    if (hm_convergence_hold_out(&made->traces, &settings, &holdout, &err))
        fail_msg("%s", err.message);
    assert_int_equal(holdout->count, 1);
    return holdout;
}

static void an_exact_form_has_no_error(void **state)
{
    struct made made;

    (void)state;
    make(&made, MADE_MS);
    struct hm_holdout *h = hold_out(&made, (struct hm_holdout_settings){.ahead = 10});
    const struct hm_g_holdout *a = &h->algorithms[0];
    assert_near(h->window, 50, 0);
    assert_int_equal(a->left_out_count, MADE_MS);
    for (size_t k = 0; k < MADE_MS; k++) {
        assert_int_equal(a->left_out[k].points, POINTS);
        assert_int_equal(a->left_out[k].inside, k > 0 && k + 1 < MADE_MS);
        assert_true(a->left_out[k].rms < 1e-3);
    }
    assert_true(a->inside < 1e-3 && a->outside < 1e-3);
    assert_int_equal(a->ahead_count, MADE_MS);
    for (size_t k = 0; k < MADE_MS; k++) {
        /* Windows end at iterations 50 to 70, because there must be a point 10 iterations later. */
        assert_int_equal(a->ahead[k].points, POINTS - 10 - 50 + 1);
        assert_true(a->ahead[k].rms < 1e-6); /* The form is linear in i. */
    }
    hm_holdout_free(h);
    made_release(&made);
}

/* An iteration takes a quarter of a second, so 2.5 s are ten iterations. */
static void a_time_ahead_is_converted_to_iterations(void **state)
{
    struct made made;

    (void)state;
    make(&made, 3);
    struct hm_holdout *h =
        hold_out(&made, (struct hm_holdout_settings){.only_ahead = true, .ahead = 10});
    struct hm_holdout *s =
        hold_out(&made, (struct hm_holdout_settings){.only_ahead = true, .ahead_s = 2.5});
    assert_int_equal(h->algorithms[0].left_out_count, 0);
    assert_true(isnan(h->algorithms[0].inside) && isnan(h->algorithms[0].outside));
    for (size_t k = 0; k < 3; k++) {
        assert_int_equal(h->algorithms[0].ahead[k].points, s->algorithms[0].ahead[k].points);
        assert_true(s->algorithms[0].ahead[k].rms < 1e-6);
    }
    hm_holdout_free(h);
    hm_holdout_free(s);
    made_release(&made);
}

static void one_m_alone_is_left_out(void **state)
{
    struct made made;

    (void)state;
    make(&made, MADE_MS);
    struct hm_holdout *h =
        hold_out(&made, (struct hm_holdout_settings){.converge = {.leave_out = 8}});
    assert_int_equal(h->algorithms[0].left_out_count, 1);
    assert_near(h->algorithms[0].left_out[0].m, 8, 0);
    assert_int_equal(h->algorithms[0].ahead_count, 0);
    hm_holdout_free(h);
    made_release(&made);
}

/* With fewer than three values of m none can be held out, but later losses can be predicted. */
static void few_m_are_not_held_out(void **state)
{
    (void)state;
    for (size_t count = 1; count <= 2; count++) {
        struct made made;
        make(&made, count);
        struct hm_holdout *h = hold_out(&made, (struct hm_holdout_settings){.ahead = 5});
        assert_int_equal(h->algorithms[0].left_out_count, 0);
        assert_true(isnan(h->algorithms[0].inside));
        assert_int_equal(h->algorithms[0].ahead_count, count);
        assert_true(h->algorithms[0].ahead_median < 1e-6);
        hm_holdout_free(h);
        made_release(&made);
    }
}

/* Tests windows that are too long for a trace or too short for a line. */
static void windows_of_every_size(void **state)
{
    const double windows[] = {0.5, 1, 2, 3, 4, 79, 80, 81, 1e6, 1e300};
    const double ahead[] = {1, 10, 1000, 1e300};
    struct made made;

    (void)state;
    make(&made, 1);
    for (size_t k = 0; k < sizeof(windows) / sizeof(windows[0]); k++)
        for (size_t a = 0; a < 8; a++) {
            struct hm_holdout_settings settings = {.only_ahead = true, .window = windows[k]};
            *(a < 4 ? &settings.ahead : &settings.ahead_s) = ahead[a % 4];
            struct hm_holdout *h = hold_out(&made, settings);
            for (size_t n = 0; n < h->algorithms[0].ahead_count; n++)
                assert_true(isfinite(h->algorithms[0].ahead[n].rms));
            if (windows[k] >= POINTS || ahead[a % 4] >= 1000)
                assert_int_equal(h->algorithms[0].ahead_count, 0);
            hm_holdout_free(h);
        }
    made_release(&made);
}

/* Between two points that are several iterations apart, y is interpolated linearly. */
static void points_far_apart(void **state)
{
    struct made made;

    (void)state;
    make(&made, 3);
    for (size_t k = 0; k < made.traces.count; k++)
        for (size_t p = 0; p < POINTS; p++) {
            made.list[k].iteration[p] = 1 + 7 * (double)p;
            made.list[k].loss[p] = 1 + 0.5 * exp(-0.01 * made.list[k].iteration[p]);
        }
    struct hm_holdout *h = hold_out(&made, (struct hm_holdout_settings){.ahead = 10});
    assert_int_equal(h->algorithms[0].ahead_count, 3);
    assert_true(h->algorithms[0].ahead_median < 1e-9);
    hm_holdout_free(h);
    made_release(&made);
}

static void note_progress(void *data, const char *what, size_t done, size_t total)
{
    char *said = data;

    snprintf(said + strlen(said), 64, "%s %zu of %zu;", what, done, total);
}

static void progress_is_reported_after_each_algorithm(void **state)
{
    char said[128] = "";
    struct made made;

    (void)state;
    make(&made, 3);
    hm_holdout_free(hold_out(
        &made, (struct hm_holdout_settings){.progress = note_progress, .progress_data = said}));
    assert_string_equal(said, "algorithm 1 of 1;");
    made_release(&made);
}

/* Algorithms whose traces on most rows have only the lowest loss: the fit to all traces drops them,
 * and the fits to fewer rows do not. Each has its own entry. */
static void algorithms_of_fewer_rows(void **state)
{
    enum { ALGORITHMS = 40, ROWS = 3 };
    static const double rows[ROWS] = {1000, 2000, 4000};
    const struct hm_holdout_settings settings = {.only_ahead = true, .rows = true};
    char names[ALGORITHMS][32];
    struct hm_holdout *h = NULL;
    struct hm_err err = {0};
    struct made made;

    (void)state;
    made_init(&made);
    for (size_t a = 0; a < ALGORITHMS; a++) {
        snprintf(names[a], sizeof(names[a]), "a%zu", a);
        for (size_t r = 0; r < ROWS; r++) {
            struct hm_trace *t = made_add(&made, names[a], 1, 12);
            t->rows = rows[r];
            t->best = 0.1;
            for (size_t p = 0; p < t->count; p++)
                t->loss[p] = 0.1 + (a > 0 && r + 1 == ROWS ? 0 : exp(-0.1 * t->iteration[p]));
        }
    }
    if (hm_convergence_hold_out(&made.traces, &settings, &h, &err))
        fail_msg("%s", err.message);
    assert_int_equal(h->count, ALGORITHMS);
    for (size_t a = 0; a < h->count; a++)
        assert_string_equal(h->algorithms[a].algorithm, names[a]);
    hm_holdout_free(h);
    made_release(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(progress_is_reported_after_each_algorithm),
        cmocka_unit_test(an_exact_form_has_no_error),
        cmocka_unit_test(a_time_ahead_is_converted_to_iterations),
        cmocka_unit_test(one_m_alone_is_left_out),
        cmocka_unit_test(few_m_are_not_held_out),
        cmocka_unit_test(windows_of_every_size),
        cmocka_unit_test(points_far_apart),
        cmocka_unit_test(algorithms_of_fewer_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
