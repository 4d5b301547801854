/*
 * Compares fits with references: non-negative least squares, leave-one-out and influence with exact
 * arithmetic (tools/oracle/fit.py), Student's t (tools/oracle/student.py), and published figures.
 * test_fit_cover.c tests the coverage of intervals.
 */
#include "fit_testing.h"
#include "random.h"
#include "student.h"
#include "testing.h"

/* ---- the oracle's cases --------------------------------------------------------------------- */

struct oracle {
    char name[64], terms[128], errors[16];
    int runs;
    struct hm_fit *fit;
    int checked;
};

static void read_case(FILE *file, const char *line, struct oracle *o)
{
    char text[65536] = "n,size,batch,latency,seconds\n", more[256];
    const char *terms[HM_TERMS_MAX];
    struct hm_fit_settings settings = {0};

    assert_int_equal(
        sscanf(line, "case %63s %d %127s %15s", o->name, &o->runs, o->terms, o->errors), 4);
    for (int i = 0; i < o->runs; i++) {
        double n, size, seconds;
        assert_true(next_line(file, more, sizeof(more)));
        assert_int_equal(sscanf(more, "run %lf %lf %lf", &n, &size, &seconds), 3);
        size_t used = strlen(text);
        snprintf(text + used, sizeof(text) - used, "%.17g,%.17g,512,0.25,%.17g\n", n, size,
                 seconds);
    }
    settings.term_count = split_terms(o->terms, terms);
    settings.terms = terms;
    settings.errors = strcmp(o->errors, "equal") == 0 ? HM_ERRORS_EQUAL : HM_ERRORS_RELATIVE;
    struct hm_runs *runs = parse_runs(text);
    hm_fit_free(o->fit);
    o->fit = fit_runs(runs, &settings);
    hm_runs_free(runs);
}

static double residual_value(const struct hm_residual *r, const char *what)
{
    if (strcmp(what, "residuals") == 0)
        return r->seconds - r->fitted_s;
    if (strcmp(what, "leverage") == 0)
        return r->leverage;
    return strcmp(what, "loo") == 0 ? r->left_out_s : r->influence;
}

static void check_values(struct oracle *o, const char *what, char *values)
{
    char *end = values;
    size_t count = 0;

    for (double wanted = strtod(values, &end); end != values;
         values = end, wanted = strtod(values, &end), count++) {
        bool theta = strcmp(what, "theta") == 0;
        double value =
            theta ? o->fit->terms[count].value : residual_value(&o->fit->residuals[count], what);
        double size = theta ? fabs(wanted) : o->fit->residuals[count].seconds;
        double allowed = strcmp(what, "cook") == 0 ? 1e-6 * fabs(wanted) + 1e-9 : 1e-9 * size;
        if (fabs(value - wanted) > allowed)
            fail_msg("%s: %s[%zu] is %.15g, not %.15g", o->name, what, count, value, wanted);
    }
    o->checked += (int)count;
}

/* Intervals from draws must be within 8 % of the exact ones if no bound is active. */
static void check_predict(struct oracle *o, const char *line)
{
    double n, size, value, mean[2], run[2];
    struct hm_prediction p;
    struct hm_at at = {"size", 0};
    bool bound = false;

    assert_int_equal(sscanf(line, "predict %lf %lf %lf %lf %lf %lf %lf", &n, &size, &value,
                            &mean[0], &mean[1], &run[0], &run[1]),
                     7);
    at.value = size;
    assert_int_equal(hm_fit_predict(o->fit, &at, 1, &n, 1, &p, NULL), 0);
    assert_near(p.time_s, value, 1e-9);
    for (size_t k = 0; k < o->fit->term_count;
         k++) /* The reference sets coefficients near 0 to 0. */
        bound = bound || o->fit->terms[k].low <= 0.2 * o->fit->terms[k].value;
    if (bound)
        return;
    assert_near(p.mean_high - p.mean_low, mean[1] - mean[0], 0.08);
    assert_near(p.high_s - p.low_s, run[1] - run[0], 0.08);
    o->checked++;
}

static void test_oracle(void **state)
{
    FILE *file = open_source("tests/data/fit.tsv");
    static char line[65536];
    struct oracle o = {.fit = NULL};

    (void)state;
    while (next_line(file, line, sizeof(line))) {
        char *space = strchr(line, ' ');
        if (strncmp(line, "case ", 5) == 0) {
            read_case(file, line, &o);
        } else if (strncmp(line, "predict ", 8) == 0) {
            check_predict(&o, line);
        } else if (strncmp(line, "sigma ", 6) == 0) {
            assert_near(o.fit->noise, strtod(space, NULL), 1e-8);
        } else {
            *space = '\0';
            check_values(&o, line, space + 1);
        }
    }
    hm_fit_free(o.fit);
    fclose(file);
    assert_true(o.checked > 1200);
}

static void test_student(void **state)
{
    FILE *file = open_source("tests/data/student.tsv");
    char line[256];
    double a, b, c, d;
    int count = 0;

    (void)state;
    while (next_line(file, line, sizeof(line))) {
        if (sscanf(line, "f %lf %lf %lf %lf", &a, &b, &c, &d) == 4)
            assert_near(hm__fisher_tail(a, b, c), d, 1e-11);
        else if (sscanf(line, "%lf %lf %lf", &a, &b, &c) == 3)
            assert_near(hm__student_quantile(a, b), c, 1e-9);
        count++;
    }
    fclose(file);
    assert_true(count > 150);
    assert_near(hm__student_quantile(3, 0.05), -hm__student_quantile(3, 0.95), 1e-12);
}

/* The table and the expected figures are those of REFERENCE, section 2. */
static const char ernest[] = "#Cores,Input Fraction, Time (s)\n"
                             "32,0.125,7.94516801834\n4,0.015625,4.72029209137\n"
                             "4,0.021382,4.87661099434\n12,0.050164,6.71376490593\n"
                             "12,0.055921,6.71519398689\n12,0.061678,6.6739718914\n"
                             "16,0.061678,6.83566999435\n";

static void test_ernest(void **state)
{
    const char *terms[] = {"1", "size/n", "n", "ln(n)"};
    const double theta[] = {1.900126870, 162.1982123, 0, 1.588323622};
    const double n[] = {4, 16, 32, 60}, wanted[] = {44.6515640, 16.4412833, 12.4735312, 11.1065746};
    struct hm_fit_settings settings = {.terms = terms, .term_count = 4};
    struct hm_runs *runs = parse_runs(ernest);
    struct hm_fit *fit = fit_runs(runs, &settings);
    struct hm_prediction p[4];

    (void)state;
    for (size_t k = 0; k < 4; k++)
        assert_true(fabs(fit->terms[k].value - theta[k]) <= 5e-10 * fmax(theta[k], 1));
    assert_int_equal(hm_fit_predict(fit, NULL, 0, n, 4, p, NULL), 0); /* The default size is 1. */
    for (size_t i = 0; i < 4; i++) {
        assert_near(p[i].time_s, wanted[i], 5e-9);
        assert_true(p[i].low_s <= p[i].mean_low && p[i].mean_high <= p[i].high_s);
    }
    assert_near(p[3].beyond, 60.0 / 32, 1e-12);
    assert_near(p[1].beyond, 1, 1e-12);
    hm_fit_free(fit);
    hm_runs_free(runs);
}

/* ---- starting from a specification sheet ------------------------------------------------------
 */

static struct hm_job *load_example(const char *name)
{
    const char *file, *text;
    size_t length;
    struct hm_job *job = NULL;
    struct hm_err err = {0};

    for (size_t i = 0; hm_example(i, &file, &text, &length); i++)
        if (strcmp(file, name) == 0 &&
            hm_job_parse(text, length, example_source(name), NULL, 0, &job, &err))
            return NULL;
    return job;
}

/* Returns the measured speedups of a job up to some n, as a table of runs. */
static struct hm_runs *small_runs(const struct hm_job *job, const double *n, size_t count)
{
    char text[1024] = "n,speedup\n";

    for (size_t i = 0; i < job->measured_count; i++)
        for (size_t k = 0; k < count; k++)
            if (job->measured[i].n == n[k]) {
                size_t used = strlen(text);
                snprintf(text + used, sizeof(text) - used, "%g,%.17g\n", n[k],
                         job->measured[i].speedup);
            }
    return parse_runs(text);
}

static bool among(double value, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (values[i] == value)
            return true;
    return false;
}

/* Fig. 2: a fit to n = 1, 2, 4 must predict the other ten speedups with a mean absolute percentage
 * error below 10 % (16.9 % without runs). */
static void test_sheet_fig2(void **state)
{
    const double small[] = {1, 2, 4};
    struct hm_job *job = load_example("fig2-spark-ann.yaml");
    struct hm_fit_settings settings = {.job = job};
    double errors[2] = {0, 0};

    (void)state;
    struct hm_runs *runs = small_runs(job, small, 3);
    struct hm_fit *fit[2] = {fit_runs(runs, &settings), fit_runs(NULL, &settings)};
    for (size_t i = 0; i < job->measured_count; i++) {
        double n = job->measured[i].n;
        for (size_t k = 0; k < 2 && !among(n, small, 3); k++) {
            struct hm_prediction p;
            assert_int_equal(hm_fit_predict(fit[k], NULL, 0, &n, 1, &p, NULL), 0);
            errors[k] += fabs(p.speedup / job->measured[i].speedup - 1) / 10;
        }
    }
    print_message("# fig. 2 from 1, 2, 4: MAPE %.2f %%; the sheet alone %.2f %%\n", 100 * errors[0],
                  100 * errors[1]);
    assert_true(errors[0] < 0.10);
    assert_true(fabs(errors[1] - 0.169) < 0.001);
    for (size_t k = 0; k < 2; k++)
        hm_fit_free(fit[k]);
    hm_runs_free(runs);
    hm_job_free(job);
}

/* Fig. 4: a fit to n = 1, 2, 4, 8 must be within 10 % at 16; at 32, three of four curves must be
 * inside the interval. */
static void test_sheet_fig4(void **state)
{
    static const char *const names[] = {"fig4-bp-16m.yaml", "fig4-bp-1600k.yaml",
                                        "fig4-bp-165k.yaml", "fig4-bp-16k.yaml"};
    const double small[] = {1, 2, 4, 8}, large[] = {16, 32};
    int inside = 0, looked = 0;

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct hm_job *job = load_example(names[i]);
        if (!job) {
            print_message("# skipped %s from small runs: %s\n", names[i], example_source(names[i]));
            continue;
        }
        looked++;
        struct hm_fit_settings settings = {.job = job};
        struct hm_runs *runs = small_runs(job, small, 4);
        struct hm_fit *fit = fit_runs(runs, &settings);
        struct hm_prediction p[2];
        assert_int_equal(hm_fit_predict(fit, NULL, 0, large, 2, p, NULL), 0);
        double s16 = job->measured[4].speedup, s32 = job->measured[5].speedup;
        print_message("# %s: at 16 %.2f, measured %.2f; at 32 %.2f (%.2f to %.2f), measured %.2f\n",
                      names[i], p[0].speedup, s16, p[1].speedup, p[1].speedup_low,
                      p[1].speedup_high, s32);
        assert_true(fabs(p[0].speedup / s16 - 1) < 0.10);
        inside += p[1].speedup_low <= s32 && s32 <= p[1].speedup_high;
        hm_fit_free(fit);
        hm_runs_free(runs);
        hm_job_free(job);
    }
    assert_true(looked == 0 || inside >= 3);
}

/* With many runs the prior must have no effect; without runs the fit must be the prior. */
static void test_sheet_ends(void **state)
{
    struct hm_job *job = parse_job("compute: 10 s/n\ncommunicate: 0.5 s * log2(n)\n");
    struct hm_fit_settings settings = {.job = job, .seed = 3};
    struct hm_fit *none = fit_runs(NULL, &settings);
    struct hm_prediction p;
    char *text = malloc(1 << 20);
    double n = 10;
    size_t used = (size_t)snprintf(text, 100, "n,seconds\n");
    struct hm_random random;

    (void)state;
    assert_int_equal(hm_fit_predict(none, NULL, 0, &n, 1, &p, NULL), 0);
    assert_near(p.time_s, 2.66096, 1e-5);
    assert_true(p.low_s < p.time_s &&
                p.high_s > 1.5 * p.low_s); /* Without runs the interval is wide. */
    hm__random_init(&random, 1, 1);
    for (int i = 0; i < 4000; i++) { /* The true time is 30/n + 2 log2 n, whose parts are three and
                                        four times those of the specification sheet. */
        double at = 1 + i % 16;
        double seconds = (30 / at + 2 * log2(at)) * (1 + 0.02 * hm__random_normal(&random));
        used += (size_t)snprintf(text + used, 100, "%g,%.9g\n", at, seconds);
    }
    struct hm_runs *runs = parse_runs(text);
    struct hm_fit *many = fit_runs(runs, &settings);
    assert_int_equal(hm_fit_predict(many, NULL, 0, &n, 1, &p, NULL), 0);
    assert_near(p.time_s, 3 + 2 * log2(10), 0.005);
    assert_true(p.mean_high - p.mean_low < 0.05);
    hm_fit_free(many);
    hm_fit_free(none);
    hm_runs_free(runs);
    hm_job_free(job);
    free(text);
}

static bool has_note(const struct hm_fit *fit, const char *text)
{
    for (size_t i = 0; i < fit->note_count; i++)
        if (strstr(fit->notes[i], text))
            return true;
    return false;
}

/*
 * A model that is a hundred times too fast must keep its shape, and a note must report the factor.
 */
static void test_sheet_off_as_a_whole(void **state)
{
    struct hm_job *job = parse_job("compute: 10 s/n\ncommunicate: 0.5 s * log2(n)\n");
    struct hm_fit_settings settings = {.job = job};
    struct hm_runs *runs = parse_runs("n,seconds\n1,1001\n2,549\n4,351\n8,274\n");
    struct hm_fit *fit = fit_runs(runs, &settings);
    double n = 16;
    struct hm_prediction p;

    (void)state;
    assert_int_equal(hm_fit_predict(fit, NULL, 0, &n, 1, &p, NULL), 0);
    assert_near(p.time_s, 62.5 + 200, 0.1);
    assert_true(p.mean_low < 262.5 && 262.5 < p.mean_high);
    assert_true(has_note(fit, "times as long as the sheet predicts"));
    hm_fit_free(fit);
    hm_runs_free(runs);
    hm_job_free(job);
}

/* A configuration whose repeats scatter far more than others must have a smaller weight. */
static void test_restless_repeats(void **state)
{
    const char *terms[] = {"1", "1/n"};
    struct hm_fit_settings settings = {.terms = terms, .term_count = 2};
    struct hm_runs *runs =
        parse_runs("n,seconds\n1,11.00\n1,11.02\n1,10.98\n1,11.01\n2,6.01\n2,5.99\n2,6.00\n2,6.02\n"
                   "4,3.50\n4,3.51\n4,3.49\n4,3.50\n8,2.6\n8,9.0\n8,1.0\n8,6.8\n"); /* 1 + 10/n */
    struct hm_fit *stated = fit_runs(runs, &settings);
    double n = 16;
    struct hm_prediction p[2];

    (void)state;
    settings.errors = HM_ERRORS_EQUAL; /* If all runs have the same error in seconds, they have the
                                          same weight. */
    struct hm_fit *alike = fit_runs(runs, &settings);
    assert_int_equal(hm_fit_predict(stated, NULL, 0, &n, 1, &p[0], NULL), 0);
    assert_int_equal(hm_fit_predict(alike, NULL, 0, &n, 1, &p[1], NULL), 0);
    assert_true(fabs(p[0].time_s - 1.625) < 0.3 * fabs(p[1].time_s - 1.625));
    hm_fit_free(stated);
    hm_fit_free(alike);
    hm_runs_free(runs);
}

/* With weak scaling the work of each worker is constant, so its term does not depend on n. */
static void test_weak_scaling(void **state)
{
    struct hm_fit_settings settings = {0};
    struct hm_runs *runs =
        parse_runs("n,batch,seconds\n1,64,2.0\n2,128,2.1\n4,256,2.2\n8,512,2.3\n16,1024,2.4\n");
    struct hm_fit *fit = fit_runs(runs, &settings);

    (void)state;
    assert_true(fit->weak);
    assert_string_equal(fit->terms[0].text, "1");
    assert_true(fit->terms[0].falls);
    hm_fit_free(fit);
    hm_runs_free(runs);
}

/* Two runs that lie exactly on a curve still give an interval. */
static void test_few_exact_runs(void **state)
{
    struct hm_fit_settings settings = {0};
    struct hm_runs *runs = parse_runs("n,seconds\n1,10\n2,5\n");
    struct hm_fit *fit = fit_runs(runs, &settings);
    double n = 16;
    struct hm_prediction p;

    (void)state;
    assert_int_equal(hm_fit_predict(fit, NULL, 0, &n, 1, &p, NULL), 0);
    assert_true(p.high_s > 1.01 * p.low_s);
    hm_fit_free(fit);
    hm_runs_free(runs);
}

static void expect_refusal(const char *table, const char *term, const char *message)
{
    struct hm_fit_settings settings = {.terms = &term, .term_count = term ? 1 : 0};
    struct hm_runs *runs = parse_runs(table);
    struct hm_fit *fit = NULL;
    struct hm_err err = {0};

    assert_true(hm_fit_new(runs, &settings, &fit, &err) < 0);
    if (!strstr(err.message, message))
        fail_msg("'%s' says nothing of '%s'", err.message, message);
    hm_runs_free(runs);
}

static void test_refusals(void **state)
{
    (void)state;
    expect_refusal("n,seconds\n1,2\n", NULL, "one run cannot show");
    expect_refusal("n,seconds\n1,2\n1,3\n", NULL, "runs of one configuration");
    expect_refusal("n,size,seconds\n4,1,2\n4,2,3\n", NULL, "every run has n = 4");
    expect_refusal("n,seconds\n1,2\n2,3\n", "-n", "the term -n is -1 at n = 1");
    expect_refusal("n,seconds\n1,2\n2,3\n", "1/(n-1)", "is infinity at n = 1");
    expect_refusal("n,seconds,status\n1,,exit 1\n2,,timeout\n", NULL, "every run failed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_oracle),
        cmocka_unit_test(test_student),
        cmocka_unit_test(test_ernest),
        cmocka_unit_test(test_sheet_fig2),
        cmocka_unit_test(test_sheet_fig4),
        cmocka_unit_test(test_sheet_ends),
        cmocka_unit_test(test_sheet_off_as_a_whole),
        cmocka_unit_test(test_restless_repeats),
        cmocka_unit_test(test_weak_scaling),
        cmocka_unit_test(test_few_exact_runs),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests_name("fit", tests, NULL, NULL);
}
