/*
 * Tests boundaries of fits and recommendations: how many runs give which note, how many steps a job
 * may have, and which runs a fit uses. The figures are computed by hand.
 */
#include "runs_testing.h"

#include "posterior.h"
#include "student.h"

static bool fit_notes(const struct hm_fit *fit, const char *text)
{
    for (size_t i = 0; i < fit->note_count; i++)
        if (strstr(fit->notes[i], text))
            return true;
    return false;
}

/* With two terms, three runs are needed for an interval, and five runs for a dependable one. */
static void few_runs_are_noted(void **state)
{
    static const char *const terms[] = {"1", "1/n"};
    static const char *const tables[] = {
        "n,seconds\n1,11\n2,6.1\n", "n,seconds\n1,11\n2,6.1\n4,3.4\n",
        "n,seconds\n1,11\n2,6.1\n4,3.4\n8,2.3\n", "n,seconds\n1,11\n2,6.1\n4,3.4\n8,2.3\n16,1.6\n"};
    const struct hm_fit_settings settings = {.terms = terms, .term_count = 2};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct hm_fit *fit = fit_with(tables[i], &settings);
        assert_int_equal(fit->intervals, i > 0);
        assert_int_equal(fit_notes(fit, "2 runs for 2 terms are too few for an interval"), i == 0);
        assert_int_equal(fit_notes(fit, "runs for 2 terms give an uncertain interval"),
                         i == 1 || i == 2);
        hm_fit_free(fit);
    }
}

/* The residuals of the line a + b/n through five runs follow from the normal equations: the
 * leverage h, the prediction without the run, and Cook's distance e^2 h / (2 s^2 (1 - h)^2). */
static void residuals_follow_the_normal_equations(void **state)
{
    static const char *const terms[] = {"1", "1/n"};
    const struct hm_fit_settings settings = {
        .terms = terms, .term_count = 2, .errors = HM_ERRORS_EQUAL};
    const double n[] = {1, 2, 4, 8, 16}, y[] = {11.2, 5.9, 3.6, 2.1, 1.7};
    struct hm_fit *fit = fit_with("n,seconds\n1,11.2\n2,5.9\n4,3.6\n8,2.1\n16,1.7\n", &settings);
    double sx = 0, sxx = 0, sy = 0, sxy = 0, sum = 0, squares = 0, left_out = 0;

    (void)state;
    for (int i = 0; i < 5; i++) {
        sx += 1 / n[i];
        sxx += 1 / n[i] / n[i];
        sy += y[i];
        sxy += y[i] / n[i];
    }
    double det = 5 * sxx - sx * sx, b = (5 * sxy - sx * sy) / det, a = (sy - b * sx) / 5;
    for (int i = 0; i < 5; i++)
        sum += pow(y[i] - a - b / n[i], 2);
    assert_near(fit->terms[0].value, a, 1e-9);
    assert_near(fit->terms[1].value, b, 1e-9);
    assert_int_equal(fit->residual_count, 5);
    for (int i = 0; i < 5; i++) {
        const struct hm_residual *r = &fit->residuals[i];
        double x = 1 / n[i], h = (sxx - 2 * x * sx + 5 * x * x) / det, e = y[i] - a - b * x;
        assert_int_equal(r->row, i);
        assert_int_equal(r->line, i + 2);
        assert_near(r->n, n[i], 0);
        assert_near(r->seconds, y[i], 1e-12);
        assert_near(r->fitted_s, y[i] - e, 1e-9);
        assert_near(r->leverage, h, 1e-9);
        assert_near(r->left_out_s, y[i] - e / (1 - h), 1e-9);
        assert_near(r->influence, e * e * h / (2 * sum / 3 * (1 - h) * (1 - h)), 1e-6);
        assert_false(r->outlier);
        squares += pow(e / y[i], 2);
        left_out += pow(e / (1 - h) / y[i], 2);
    }
    assert_near(fit->error, sqrt(squares / 5), 1e-9);
    assert_near(fit->left_out_error, sqrt(left_out / 5), 1e-9);
    /* Intervals on 3 workers follow Student's t with 3 degrees of freedom, up to the error of
     * random draws. */
    const double at = 3;
    struct hm_prediction p;
    assert_int_equal(hm_fit_predict(fit, NULL, 0, &at, 1, &p, NULL), 0);
    double h = (sxx - 2 * sx / 3 + 5. / 9) / det, t = hm__student_quantile(3, 0.95);
    double s = sqrt(sum / 3), mean = t * s * sqrt(h), run = t * s * sqrt(1 + h);
    double off[] = {t * s * sqrt(sxx / det), t * s * sqrt(5 / det)};
    for (int k = 0; k < 2; k++) {
        assert_near(fit->terms[k].high - fit->terms[k].value, off[k], 0.1);
        assert_near(fit->terms[k].value - fit->terms[k].low, k == 0 && off[0] > a ? a : off[k],
                    0.1);
    }
    assert_near(p.time_s, a + b / 3, 1e-9);
    assert_near(p.speedup, (a + b) / (a + b / 3), 1e-9);
    assert_near(p.mean_high - p.time_s, mean, 0.1);
    assert_near(p.time_s - p.mean_low, mean, 0.1);
    assert_near(p.high_s - p.time_s, run, 0.1);
    assert_near(p.time_s - p.low_s, run, 0.1);
    hm_fit_free(fit);
}

/* With relative errors, the interval of a run must have the same width, in per cent, at every n. */
static void relative_errors_scale_with_the_time(void **state)
{
    static const char *const terms[] = {"1/n"};
    const struct hm_fit_settings settings = {
        .terms = terms, .term_count = 1, .errors = HM_ERRORS_RELATIVE};
    struct hm_fit *fit =
        fit_with("n,seconds\n1,10.3\n2,4.9\n4,2.55\n8,1.22\n16,0.63\n32,0.31\n", &settings);
    const double n[] = {1, 64};
    struct hm_prediction p[2];

    (void)state;
    assert_int_equal(hm_fit_predict(fit, NULL, 0, n, 2, p, NULL), 0);
    assert_near(p[0].time_s / p[1].time_s, 64, 1e-9);
    assert_near(p[0].high_s / p[1].high_s, 64, 1e-6);
    assert_near(p[0].low_s / p[1].low_s, 64, 1e-6);
    assert_true(p[0].high_s > 1.03 * p[0].time_s && p[0].high_s < 1.12 * p[0].time_s);
    hm_fit_free(fit);
}

/* Computing, 12 steps of communication and 3 overheads are 16 terms, as many as a fit may have. */
static void a_sheet_has_at_most_12_steps(void **state)
{
    static const char table[] = "n,seconds\n1,7.6\n2,4.6\n4,3.1\n";

    (void)state;
    for (int steps = 12; steps <= 13; steps++) {
        char text[400] = "compute: 6 s / n\ncommunicate: [0.1 s";
        for (int i = 1; i <= steps; i++)
            snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s",
                     i < steps ? ", 0.1 s" : "]\n");
        struct hm_job *job = parse_job(text);
        struct hm_runs *runs = parse_runs(table);
        struct hm_fit_settings settings = {.job = job};
        struct hm_fit *fit = NULL;
        struct hm_err err = {0};
        int rc = hm_fit_new(runs, &settings, &fit, &err);
        if (steps == 12) {
            assert_int_equal(rc, 0);
            assert_int_equal(fit->term_count, 16);
        } else {
            assert_int_equal(rc, HM_E_LIMIT);
            assert_string_equal(err.message,
                                "a job of more than 12 communication steps cannot be fitted");
        }
        hm_fit_free(fit);
        hm_runs_free(runs);
        hm_job_free(job);
    }
}

/* If the runs of a job on a graph take as long as the model predicts, the model must not be
 * changed. */
static void sheets_of_graphs(void **state)
{
    struct hm_job *job =
        parse_job("graph: {generate: power-law, vertices: 60, edges: 400, max_degree: 50, "
                  "per_edge: 1 Gflop, split: random}\ncommunicate: 0.5 s * n\n"
                  "cluster: {flops: 1 Gflop/s, max_nodes: 8}\n");
    const struct hm_question q = HM_QUESTION_INIT;
    const struct hm_fit_settings settings = {.job = job};
    struct hm_answer *answer = ask(job, &q);
    const double n[] = {1, 2, 3, 4, 6, 8}, many = 61;
    char table[400] = "n,seconds\n";
    struct hm_prediction p[6];
    struct hm_err err = {0};

    (void)state;
    for (int i = 0; i < 6; i++)
        if (n[i] != 3)
            snprintf(table + strlen(table), sizeof(table) - strlen(table), "%g,%.15g\n", n[i],
                     answer->points[(int)n[i] - 1].time_s);
    struct hm_fit *fit = fit_with(table, &settings);
    assert_true(fit->from_sheet);
    assert_int_equal(hm_fit_predict(fit, NULL, 0, n, 6, p, NULL), 0);
    for (int i = 0; i < 6; i++)
        assert_near(p[i].time_s, answer->points[(int)n[i] - 1].time_s, 0.03);
    assert_int_equal(hm_fit_predict(fit, NULL, 0, &many, 1, p, &err), HM_E_RANGE);
    assert_non_null(strstr(err.message, "61 workers, but the graph has 60 vertices"));
    hm_fit_free(fit);
    hm_answer_free(answer);
    hm_job_free(job);
}

/* ---- draws of coefficients -------------------------------------------------------------------
 */

enum { ROWS = 6, DRAWS = 20000 };

static const double rows_z[ROWS] = {1, 2, 3, 4, 5, 6},
                    rows_y[ROWS] = {5.2, 6.7, 9.4, 10.8, 13.1, 14.8};

static struct hm_lsq line_problem(void)
{
    struct hm_lsq lsq;

    hm__lsq_init(&lsq, 2);
    for (size_t i = 0; i < ROWS; i++)
        hm__lsq_add(&lsq, (double[HM_LSQ_SIDE]){1, rows_z[i], rows_y[i]});
    return lsq;
}

/* Solves the normal equations of a line with a prior: coefficient k has the value value[k] with the
 * weight weight[k]. */
static void solve_line(const double *weight, const double *value, double *theta)
{
    double a = weight[0], b = 0, d = weight[1], p = weight[0] * value[0], q = weight[1] * value[1];

    for (size_t i = 0; i < ROWS; i++) {
        a += 1;
        b += rows_z[i];
        d += rows_z[i] * rows_z[i];
        p += rows_y[i];
        q += rows_z[i] * rows_y[i];
    }
    theta[0] = (p * d - b * q) / (a * d - b * b);
    theta[1] = (a * q - b * p) / (a * d - b * b);
}

static double line_residual(const double *theta)
{
    double sum = 0;

    for (size_t i = 0; i < ROWS; i++)
        sum += pow(rows_y[i] - theta[0] - theta[1] * rows_z[i], 2);
    return sum;
}

/*
 * Computes the means of the draws of theta and of 1 / spread^2, whose expected value is free / sum.
 */
static void draw_means(const struct hm_prior *priors, struct hm_noise noise, double *theta,
                       double *ret_precision)
{
    static struct hm_draw draws[DRAWS];
    struct hm_lsq lsq = line_problem();
    struct hm_random random;

    hm__random_init(&random, 11, 0);
    assert_true(hm__posterior_draw(&lsq, ROWS, priors, noise, &random, draws, DRAWS));
    theta[0] = theta[1] = *ret_precision = 0;
    for (size_t i = 0; i < DRAWS; i++) {
        theta[0] += draws[i].theta[0] / DRAWS;
        theta[1] += draws[i].theta[1] / DRAWS;
        *ret_precision += 1 / (draws[i].spread * draws[i].spread) / DRAWS;
    }
}

static void draws_follow_the_runs(void **state)
{
    const struct hm_noise noises[] = {{0, 0, 0}, {3, 0.5, 0}};
    double wanted[2], theta[2], precision, spread, mode[HM_TERMS_MAX];
    struct hm_lsq lsq = line_problem();

    (void)state;
    solve_line((double[]){0, 0}, (double[]){0, 0}, wanted);
    for (size_t k = 0; k < 2; k++) {
        double sum = noises[k].weight * 0.25 + line_residual(wanted), free = noises[k].weight + 4;
        draw_means(NULL, noises[k], theta, &precision);
        assert_near(theta[0], wanted[0], 0.01);
        assert_near(theta[1], wanted[1], 0.01);
        assert_near(precision, free / sum, 0.02);
        hm__posterior_mode(&lsq, ROWS, NULL, noises[k], mode, &spread);
        assert_near(mode[0], wanted[0], 1e-12);
        assert_near(mode[1], wanted[1], 1e-12);
        assert_near(spread, sqrt(sum / free), 1e-12);
    }
}

/* With priors, the draws of coefficients and spread depend on each other, and the degrees of
 * freedom are the number of runs. */
static void draws_follow_the_priors(void **state)
{
    const struct hm_prior priors[] = {{3, 0.2}, {2.5, 0.3}}, one[] = {{3, 0.2}, {7, INFINITY}};
    const struct hm_noise noise = {3, 0.5, 0};
    struct hm_lsq lsq = line_problem();

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        double wanted[2], theta[2], mode[HM_TERMS_MAX], precision, spread = 1, found;
        for (int pass = 0; pass < 200; pass++) {
            double weight[] = {pow(spread / 0.2, 2), k ? 0 : pow(spread / 0.3, 2)};
            solve_line(weight, (double[]){3, 2.5}, wanted);
            spread = sqrt((3 * 0.25 + line_residual(wanted)) / 9);
        }
        hm__posterior_mode(&lsq, ROWS, k ? one : priors, noise, mode, &found);
        assert_near(mode[0], wanted[0], 1e-9);
        assert_near(mode[1], wanted[1], 1e-9);
        assert_near(found, spread, 1e-9);
        draw_means(k ? one : priors, noise, theta, &precision);
        assert_near(theta[0], wanted[0], 0.01);
        assert_near(theta[1], wanted[1], 0.01);
        assert_near(precision, 9 / (3 * 0.25 + line_residual(wanted)), 0.02);
    }
}

/* With fewer than 4 degrees of freedom, the spread is at least `least`; without any degrees of
 * freedom, there are no draws. */
static void few_runs_may_agree_by_chance(void **state)
{
    const struct hm_noise noise = {0, 0, 0.1};

    (void)state;
    for (size_t rows = 2; rows <= 6; rows++) {
        static struct hm_draw draws[DRAWS];
        struct hm_random random;
        struct hm_lsq lsq;
        double free = (double)rows - 2, precision = 0;
        hm__random_init(&random, 5, 0);
        hm__lsq_init(&lsq, 2);
        for (size_t i = 0; i < rows; i++)
            hm__lsq_add(&lsq,
                        (double[HM_LSQ_SIDE]){1, (double)i, 3 + 2 * (double)i + 1e-3 * (i == 1)});
        bool drawn = hm__posterior_draw(&lsq, (double)rows, NULL, noise, &random, draws, DRAWS);
        assert_int_equal(drawn, rows > 2);
        for (size_t i = 0; drawn && i < DRAWS; i++)
            precision += 1 / (draws[i].spread * draws[i].spread) / DRAWS;
        if (drawn && free < 4)
            assert_near(precision, 100, 0.04);
        else if (drawn)
            assert_true(precision > 1e6); /* The runs agree to 0.001. */
    }
    struct hm_lsq same;
    struct hm_random random;
    struct hm_draw draw;
    hm__random_init(&random, 5, 0);
    hm__lsq_init(&same, 2);
    for (size_t i = 0; i < 6; i++)
        hm__lsq_add(&same, (double[HM_LSQ_SIDE]){1, 2, (double)i});
    assert_false(hm__posterior_draw(&same, 6, NULL, noise, &random, &draw, 1));
}

/* ---- recommendations -------------------------------------------------------------------------
 */

static struct hm_recommendation *recommend(const char *table, const struct hm_recommend_question *q)
{
    struct hm_runs *runs = parse_runs(table);
    struct hm_recommendation *r = NULL;
    struct hm_err err = {0};

    if (hm_recommend(runs, q, &r, &err))
        fail_msg("%s (%s)", err.message, err.hint);
    hm_runs_free(runs);
    return r;
}

/* Quantiles of Student's t at 0.95 are 2.919986 for 2 degrees of freedom and tan(0.45 pi) for 1. */
static void repeats_have_an_interval(void **state)
{
    struct hm_recommend_question q = {0};
    struct hm_recommendation *r = recommend("n,seconds\n1,20\n1,21\n1,22\n2,11\n2,11.5\n", &q);
    double reach[] = {tan(0.45 * acos(-1)) * sqrt(0.125) * sqrt(1.5), 2.919985580 * sqrt(4. / 3)};

    (void)state;
    assert_int_equal(r->provenance, HM_RECOMMEND_ROWS);
    for (size_t i = 0; i < 2; i++) {
        double mean = i ? 21 : 11.25;
        assert_near(r->candidates[i].time_s, mean, 1e-12);
        assert_near(r->candidates[i].low_s, mean - reach[i], 1e-6);
        assert_near(r->candidates[i].high_s, mean + reach[i], 1e-6);
    }
    hm_recommendation_free(r);
    r = recommend("n,seconds\n1,1\n1,9\n", &q); /* Times are never negative. */
    assert_near(r->candidates[0].low_s, 0, 0);
    hm_recommendation_free(r);
}

/* Every column of numbers is a quantity, whatever its place in the table. */
static void columns_may_come_first(void **state)
{
    const struct hm_at at = {"batch", 200};
    static const char *const tables[] = {
        "batch,n,seconds\n100,1,10\n100,2,5\n100,4,2.5\n200,1,20\n200,2,10\n200,4,5\n",
        "n,batch,seconds\n1,100,10\n2,100,5\n4,100,2.5\n1,200,20\n2,200,10\n4,200,5\n",
        "seconds,batch,n\n10,100,1\n5,100,2\n2.5,100,4\n20,200,1\n10,200,2\n5,200,4\n"};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct hm_fit *fit = fit_with(tables[i], NULL);
        struct hm_prediction y = {.time_s = NAN};
        const double n = 4;
        struct hm_err err = {0};
        if (hm_fit_predict(fit, &at, 1, &n, 1, &y, &err))
            fail_msg("table %zu: %s", i, err.message);
        assert_near(y.time_s, 5, 1e-6);
        hm_fit_free(fit);
    }
}

/* A column of texts with different values is noted, also if it is the first. */
static void kinds_of_runs_are_noted(void **state)
{
    static const char *const tables[] = {"machine,n,seconds\na,1,10\na,2,5\nb,4,2.5\n",
                                         "n,machine,seconds\n1,a,10\n2,a,5\n4,b,2.5\n",
                                         "machine,n,seconds\na,1,10\na,2,5\na,4,2.5\n"};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct hm_fit *fit = fit_with(tables[i], NULL);
        assert_int_equal(fit_notes(fit, "runs of different machine are fitted together"), i < 2);
        hm_fit_free(fit);
    }
}

/* If the job's links have no latency, a column of latencies cannot scale it. */
static void latencies_of_0_are_not_scaled(void **state)
{
    struct hm_job *job = parse_job("compute: 10 s/n\ncommunicate: {bytes: 4 MB, scheme: ring}\n"
                                   "cluster: {max_nodes: 8, fabric: {bandwidth: 10 MB/s, latency: "
                                   "0 s}}\n");
    const struct hm_fit_settings settings = {.job = job};
    const struct hm_at at = {"latency", 0.01};
    const double n = 4;
    struct hm_prediction p = {.time_s = NAN};
    struct hm_fit *fit =
        fit_with("n,latency,seconds\n1,1 ms,10\n2,1 ms,5.5\n2,10 ms,5.6\n4,10 ms,3.3\n", &settings);

    (void)state;
    assert_int_equal(hm_fit_predict(fit, &at, 1, &n, 1, &p, NULL), 0);
    assert_near(p.time_s, 3.2, 0.1);
    hm_fit_free(fit);
    hm_job_free(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(residuals_follow_the_normal_equations),
        cmocka_unit_test(columns_may_come_first),
        cmocka_unit_test(kinds_of_runs_are_noted),
        cmocka_unit_test(latencies_of_0_are_not_scaled),
        cmocka_unit_test(relative_errors_scale_with_the_time),
        cmocka_unit_test(a_sheet_has_at_most_12_steps),
        cmocka_unit_test(sheets_of_graphs),
        cmocka_unit_test(draws_follow_the_runs),
        cmocka_unit_test(draws_follow_the_priors),
        cmocka_unit_test(few_runs_may_agree_by_chance),
        cmocka_unit_test(repeats_have_an_interval),
        cmocka_unit_test(few_runs_are_noted),
    };
    return cmocka_run_group_tests_name("edges_fit", tests, NULL, NULL);
}
