/*
 * Tests samples of the training data: power and scale must be recovered from traces with a known
 * dependence on the number of rows, and traces on more rows must be predicted with the known loss
 * and the known seconds.
 */
#include "made_traces.h"

#include "converge.h"

enum { POINTS = 80 };

static const double rows[] = {600, 3000, 12000, 60000}, workers[] = {1, 4, 16};

/* Returns the excess loss for 60000 rows after i iterations on m workers. */
static double whole(double i, double m)
{
    return 0.5 * pow(1 - 0.2 / sqrt(m), i);
}

/* How generated traces depend on the number of rows. */
struct law {
    double power, scale;
};

/* Returns the least loss for a number of rows. */
static double least(double r)
{
    return 0.1 - 5 / r;
}

static double seconds_of(double r, double m)
{
    return 0.01 + 4e-6 * r / m + 0.002 * log(m);
}

static void add_rows(struct made *made, const struct law *law, double r, bool best)
{
    for (size_t k = 0; k < 3; k++) {
        struct hm_trace *t = made_add(made, "sgd", workers[k], POINTS);
        double x = log(60000 / r);
        t->rows = r;
        t->best = best ? least(r) : NAN;
        for (size_t p = 0; p < POINTS; p++)
            t->loss[p] = least(r) +
                         whole(t->iteration[p] * exp(law->power * x), t->m) * exp(-law->scale * x);
        made_time(t, seconds_of(r, t->m));
    }
}

static void make(struct made *made, const struct law *law, size_t sizes)
{
    made_init(made);
    for (size_t k = 0; k < sizes; k++)
        add_rows(made, law, rows[k], true);
}

static struct hm_convergence *fit_rows(const struct made *made, double target)
{
    const struct hm_converge_settings settings = {.rows = target};

    return made_fit_with(made, &settings);
}

/* Checks that three samples predict the loss for five times as many rows, and that power and scale
 * are found. */
static void assert_predicts(const struct law *law)
{
    static struct made made;
    const double at[] = {2, 10, 40};
    struct hm_g_prediction p[3];
    struct hm_err err = {0};

    make(&made, law, 3);
    struct hm_convergence *c = fit_rows(&made, 60000);
    const struct hm_g_size *s = &c->algorithms[0].size;
    assert_int_equal(s->count, 3);
    assert_true(s->known && s->least == 600 && s->most == 12000);
    assert_near(c->rows, 60000, 0);
    assert_true(c->best_sampled);
    assert_near(c->best, least(12000), 1e-12);
    assert_true(fabs(s->power - law->power) < 0.05);
    assert_true(fabs(s->scale - law->scale) < 0.05);
    assert_true(s->held_out < 0.05);
    for (size_t k = 0; k < 3; k++) {
        assert_int_equal(hm_convergence_predict(c, 0, workers[k], at, 3, p, &err), 0);
        for (size_t j = 0; j < 3; j++)
            assert_true(fabs(log10(p[j].loss / whole(at[j], workers[k]))) < 0.06);
    }
    hm_convergence_free(c);
    made_release(&made);
}

/* The typical errors of predictions for five times the rows, of ln(P - P*) and of ln i. */
static const double typical = 0.2 * 2.302585092994046, typical_shift = 0.1, typical_share = 0.3;

/* Intervals for more rows must have the typical errors of such predictions, also if the samples
 * agree perfectly or do not show an error; the variance of the typical error counts twice as much
 * as that of the samples, and a share of the change by power and scale is added. */
static void intervals_have_the_error_of_rows(void **state)
{
    static struct made made;

    (void)state;
    make(&made, &(struct law){-0.3, 0}, 2);
    struct hm_convergence *c = fit_rows(&made, 15000);
    const struct hm_g_size *s = &c->algorithms[0].size;
    double share = typical_share * log(5);
    assert_near(s->spread, typical, 1e-12);
    assert_near(s->shift, hypot(typical_shift, share * s->power), 1e-12);
    assert_near(s->power, -0.3, 0.2);
    hm_convergence_free(c);
    c = fit_rows(&made, 75000);
    s = &c->algorithms[0].size;
    assert_near(s->spread, 2 * typical, 1e-12);
    assert_near(s->shift, 2 * hypot(typical_shift, share * s->power), 1e-12);
    hm_convergence_free(c);
    made_release(&made);
    make(&made, &(struct law){0, -0.3}, 3);
    c = fit_rows(&made, 60000);
    s = &c->algorithms[0].size;
    double own = s->held_out * 2.302585092994046 * log(5) / log(4);
    assert_near(s->spread, hypot(sqrt((2 * typical * typical + own * own) / 3), share * s->scale),
                1e-9);
    assert_near(s->scale, -0.3, 0.2);
    hm_convergence_free(c);
    made_release(&made);
}

/* Intervals must be wide at iterations where the curve is steep: the errors of ln(P - P*), and of
 * ln i times the slope of the curve, are independent. The time to a loss has both errors too. */
static void intervals_follow_the_slope(void **state)
{
    static struct made made;
    const double at[] = {1, 10, 40}, rate = -log(1 - 0.2);
    struct hm_g_prediction p[3];
    struct hm_advise_question q = HM_ADVISE_QUESTION_INIT;
    struct hm_advice *advice = NULL;
    struct hm_err err = {0};

    (void)state;
    make(&made, &(struct law){-0.4, 0}, 3);
    struct hm_convergence *c = fit_rows(&made, 60000);
    const struct hm_g_size *s = &c->algorithms[0].size;
    assert_int_equal(hm_convergence_predict(c, 0, 1, at, 3, p, &err), 0);
    for (size_t k = 0; k < 3; k++) {
        double wanted = hypot(s->spread, rate * at[k] * s->shift);
        assert_near(log(p[k].high / p[k].low) / (2 * 1.645), wanted, 0.2);
    }
    q.loss = whole(30, 1);
    q.m = workers;
    q.m_count = 1;
    assert_int_equal(hm_advise(c, NULL, 0, &q, &advice, &err), 0);
    const struct hm_candidate *one = &advice->candidates[0];
    double wanted = hypot(s->shift, s->spread / (rate * 30));
    assert_near(log(one->high_s / one->low_s) / (2 * 1.645), wanted, 0.25);
    hm_advice_free(advice);
    hm_convergence_free(c);
    made_release(&made);
}

static void samples_predict_the_whole(void **state)
{
    (void)state;
    assert_predicts(&(struct law){0, 0});
    assert_predicts(&(struct law){-0.4, 0});
    assert_predicts(&(struct law){0, -0.3});
    assert_predicts(&(struct law){0.25, 0});
}

/* The seconds of an iteration on all rows follow from the times of samples. */
static void seconds_follow_the_rows(void **state)
{
    static struct made made;
    double draws[HM_G_DRAWS], seconds;

    (void)state;
    make(&made, &(struct law){-0.2, 0}, 3);
    struct hm_convergence *c = fit_rows(&made, 60000);
    const struct hm_pace *pace = hm__pace_find(c->paces, "sgd");
    assert_non_null(pace);
    for (size_t k = 0; k < 3; k++) {
        assert_true(hm__pace_eval(pace, workers[k], &seconds, draws));
        assert_near(seconds, seconds_of(60000, workers[k]), 0.02);
    }
    hm_convergence_free(c);
    made_release(&made);
}

/* Traces on all rows must be used unchanged; samples are used only for numbers of workers without
 * such traces. */
static void whole_traces_stay(void **state)
{
    static struct made made;
    const double at[] = {5};
    struct hm_g_prediction p;
    struct hm_err err = {0};

    (void)state;
    make(&made, &(struct law){-0.4, -0.2}, 4);
    struct hm_convergence *c = fit_rows(&made, 0);
    assert_near(c->rows, 60000, 0);
    assert_false(c->best_sampled);
    assert_near(c->best, least(60000), 1e-12);
    assert_int_equal(c->algorithms[0].curve_count, 3);
    assert_near(c->algorithms[0].size.spread, 0, 0);
    assert_near(c->algorithms[0].size.shift, 0, 0);
    assert_int_equal(hm_convergence_predict(c, 0, 4, at, 1, &p, &err), 0);
    assert_near(p.loss, whole(5, 4), 0.05);
    hm_convergence_free(c);

    /* A smaller number of rows is predicted from the nearest one. */
    c = fit_rows(&made, 11000);
    assert_near(c->rows, 11000, 0);
    assert_int_equal(c->algorithms[0].curve_count, 3);
    hm_convergence_free(c);
    made_release(&made);
}

static void errors_for_rows_are_measured(void **state)
{
    static struct made made;
    const struct hm_holdout_settings each = {.only_ahead = true, .rows = true},
                                     other = {.only_ahead = true, .rows = true, .leave_rows = 7};
    struct hm_holdout *h = NULL;
    struct hm_err err = {0};

    (void)state;
    make(&made, &(struct law){-0.3, 0}, 4);
    assert_int_equal(hm_convergence_hold_out(&made.traces, &each, &h, &err), 0);
    assert_int_equal(h->count, 1);
    /* Two of the sizes have at least two smaller sizes. */
    assert_int_equal(h->algorithms[0].rows_count, 2);
    const struct hm_g_rows_error *e = &h->algorithms[0].rows[1];
    assert_true(h->algorithms[0].rows[0].rows == 12000 && e->rows == 60000);
    assert_true(e->from == 600 && e->to == 12000);
    assert_int_equal(e->points, 3 * POINTS);
    assert_true(e->median < 0.1 && e->rms < 0.2);
    assert_true(e->covered >= 0 && e->covered <= 1);
    hm_holdout_free(h);
    assert_int_equal(hm_convergence_hold_out(&made.traces, &other, &h, &err), HM_E_MISSING);
    assert_string_equal(err.message, "there are no traces on 7 rows and on two smaller numbers");
    made_release(&made);
}

/* P* of each size may be estimated. */
static void least_losses_may_be_estimated(void **state)
{
    static struct made made;

    (void)state;
    made_init(&made);
    for (size_t k = 0; k < 3; k++)
        add_rows(&made, &(struct law){0, 0}, rows[k], false);
    struct hm_convergence *c = fit_rows(&made, 0);
    assert_true(c->best_estimated);
    assert_near(c->best, least(12000), 0.05);
    hm_convergence_free(c);
    made_release(&made);
}

static void assert_refused(const struct made *made, const struct hm_converge_settings *settings,
                           int code, const char *field, const char *message)
{
    struct hm_convergence *c = NULL;
    struct hm_err err = {0};

    assert_int_equal(hm_convergence_new(&made->traces, settings, &c, &err), code);
    assert_string_equal(err.field, field);
    assert_string_equal(err.message, message);
}

static void wrong_rows_are_refused(void **state)
{
    static struct made made;
    const struct hm_converge_settings more = {.rows = 1e5}, negative = {.rows = -1},
                                      best = {.best_given = true, .best = 0};

    (void)state;
    make(&made, &(struct law){0, 0}, 1);
    assert_refused(&made, &more, HM_E_MISSING, "rows",
                   "all traces have 600 rows, so 100000 rows cannot be predicted");
    made_release(&made);
    make(&made, &(struct law){0, 0}, 2);
    assert_refused(&made, &best, HM_E_CONFLICT, "best",
                   "one P* is given, but the traces have 2 numbers of rows");
    assert_refused(&made, &negative, HM_E_RANGE, "", "rows: -1 is not a number of rows");
    made.list[4].rows = 0;
    assert_refused(
        &made, &(struct hm_converge_settings){0}, HM_E_MISSING, "rows",
        "a trace of sgd has no number of rows, and others have one or one was asked for");
    made_release(&made);
}

/* If P* of all rows is unknown, a question can give only a distance from P*, not a loss. */
static void only_a_distance_can_be_asked_for(void **state)
{
    static struct made made;
    struct hm_advise_question q = HM_ADVISE_QUESTION_INIT;
    struct hm_advice *advice = NULL;
    struct hm_err err = {0};

    (void)state;
    make(&made, &(struct law){-0.3, 0}, 3);
    struct hm_convergence *c = fit_rows(&made, 60000);
    q.reach = 0.12;
    assert_int_equal(hm_advise(c, NULL, 0, &q, &advice, &err), HM_E_CONFLICT);
    assert_string_equal(err.message, "reach: P* of 60000 rows is not known, so only a loss above "
                                     "P* can be asked for");
    q.reach = NAN;
    q.loss = 0.01;
    assert_int_equal(hm_advise(c, NULL, 0, &q, &advice, &err), 0);
    assert_true(advice->feasible);
    hm_advice_free(advice);
    hm_convergence_free(c);
    made_release(&made);
}

static void rows_and_backups_are_read(void **state)
{
    static const char *const wrong[][2] = {
        {"m,iteration,loss,rows\n1,1,2,0\n", "'0' must be a whole number, at least 1"},
        {"m,iteration,loss,rows\n1,1,2,1.5\n", "'1.5' must be a whole number, at least 1"},
        {"m,iteration,loss,backups\n1,1,2,-1\n", "'-1' must be a whole number, at least 0"},
        {"m,iteration,loss,backups\n1,1,2,few\n", "'few' is not a number"},
    };
    static const char text[] = "m,iteration,loss,rows,backups\n4,1,3,100,0\n4,1,2,100,1\n"
                               "4,2,2,100,0\n4,1,3,500,\n4,1,3,,\n";
    struct hm_traces *t = NULL;
    struct hm_err err = {0};

    (void)state;
    assert_int_equal(hm_traces_parse(text, strlen(text), "t.csv", NULL, &t, &err), 0);
    assert_int_equal(t->count, 4);
    assert_true(t->traces[0].count == 2 && t->traces[0].rows == 100 && t->traces[0].backups == 0);
    assert_true(t->traces[1].rows == 100 && t->traces[1].backups == 1);
    assert_true(t->traces[2].rows == 500 && isnan(t->traces[3].rows));
    hm_traces_free(t);
    for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++) {
        err = (struct hm_err){0};
        assert_true(hm_traces_parse(wrong[k][0], strlen(wrong[k][0]), "t.csv", NULL, &t, &err) < 0);
        assert_string_equal(err.message, wrong[k][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_predict_the_whole),
        cmocka_unit_test(intervals_have_the_error_of_rows),
        cmocka_unit_test(intervals_follow_the_slope),
        cmocka_unit_test(seconds_follow_the_rows),
        cmocka_unit_test(whole_traces_stay),
        cmocka_unit_test(errors_for_rows_are_measured),
        cmocka_unit_test(least_losses_may_be_estimated),
        cmocka_unit_test(wrong_rows_are_refused),
        cmocka_unit_test(only_a_distance_can_be_asked_for),
        cmocka_unit_test(rows_and_backups_are_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
