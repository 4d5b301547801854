/*
 * Tests the intervals of plans without runs: kinds of jobs, the estimate from rows of several
 * sources, and the effect of one measured step on other numbers of workers.
 */
#include "testing.h"

#include "howmany_fit.h"
#include "predict.h"
#include "sheet_spread.h"

static struct hm_job *make_job(const char *text)
{
    struct hm_job *job;
    struct hm_err err = {0};

    if (hm_job_parse(text, strlen(text), "test", NULL, 0, &job, &err))
        fail_msg("%s", err.message);
    return job;
}

static void jobs_have_kinds(void **state)
{
    static const struct {
        const char *text;
        enum hm_platform platform;
        double n;
        enum hm_sheet_kind kind;
    } jobs[] = {
        {"network: resnet-50\nbatch: 64\ncluster: p4d.24xlarge\n", 0, 1, HM_SHEET_DEVICE},
        {"network: resnet-50\nbatch: 64\ncluster: p4d.24xlarge\n", 0, 8, HM_SHEET_NODE},
        {"network: resnet-50\nbatch: 64\ncluster: p4d.24xlarge\n", 0, 16, HM_SHEET_NODES},
        {"network: resnet-50\nbatch: 64\nsoftware: compiled\ncluster: p4d.24xlarge\n", 0, 16,
         HM_SHEET_COMPILED},
        {"network: resnet-50\nbatch: 64\ncluster: p4d.24xlarge\n", HM_PLATFORM_SERVER, 16,
         HM_SHEET_SERVER},
        {"network: 784-10\nbatch: 64\ncluster: m4.xlarge\n", HM_PLATFORM_DRIVER, 4,
         HM_SHEET_DRIVER},
        {"network: 784-10\nbatch: 64\ncluster: m4.xlarge\n", HM_PLATFORM_ALLREDUCE, 4,
         HM_SHEET_CPU},
        {"network: resnet-50\nbatch: 64\ncluster: {flops: 10 Tflop/s, fabric: 10gbe}\n", 0, 4,
         HM_SHEET_RATES},
        {"network: resnet-50\nbatch: 64\ncluster: {flops: {fp32: 10 Tflop/s, bf16: 80 Tflop/s}, "
         "fabric: 10gbe}\n",
         0, 4, HM_SHEET_MATRIX},
        {"network: {parameters: 1e6, forward: 1 Gflop}\nbatch: 64\ncluster: p4d.24xlarge\n", 0, 4,
         HM_SHEET_TOTALS},
        {"network: {parameters: 1e6, forward: 1 Gflop}\nbatch: 64\ncluster: {flops: 10 Tflop/s, "
         "fabric: 10gbe}\n",
         0, 4, HM_SHEET_FORMULA},
        {"compute: 10/n\ncommunicate: none\n", 0, 4, HM_SHEET_FORMULA},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
        struct hm_job *job = make_job(jobs[i].text);
        const struct hm_way way = {.platform = jobs[i].platform};
        enum hm_sheet_kind kind =
            hm__sheet_kind(job, job->has_cluster ? &job->cluster : NULL, &way, jobs[i].n);
        if (kind != jobs[i].kind)
            fail_msg("job %zu: kind %d, not %d", i, (int)kind, (int)jobs[i].kind);
        hm_job_free(job);
    }
}

/* The figures are computed by hand for sources with the means 0.1, -0.1 and 0.3. */
static void every_source_has_the_same_weight(void **state)
{
    static const struct hm_sheet_row rows[] = {
        {"a", 0.0}, {"b", -0.1}, {"a", 0.2}, {"c", 0.3}, {"b", -0.1}, {"b", -0.1}, {"a", 0.1},
    };
    struct hm_sheet_error e;

    (void)state;
    assert_int_equal(hm__sheet_estimate(rows, 7, NULL, &e), 3);
    assert_near(e.mean, 0.1, 1e-12);
    /* The mean squares around 0.1 are 0.02/3, 0.04 and 0.04 for the sources a, b and c; Student's
     * factor for 90 % with 3 degrees of freedom is 2.353. */
    assert_near(e.spread, 2.353 / 1.645 * sqrt((0.02 / 3 + 0.08) / 3 * (1 + 1.0 / 3)), 1e-12);
    assert_int_equal(hm__sheet_estimate(rows, 7, "b", &e), 2);
    assert_near(e.mean, 0.2, 1e-12);
    /* The mean square of the four rows is larger than the mean over the two sources. */
    assert_near(e.spread, 2.920 / 1.645 * sqrt((0.04 + 0.01 + 0.01) / 4 * 1.5), 1e-12);
    /* If one of two sources is left out, the remaining one says little about it: Student's factor
     * with one degree of freedom is 6.314. A kind with a single source is estimated from its
     * networks, and is not scaled. */
    static const struct hm_sheet_row two[] = {{"a", 0.0}, {"b", 5}, {"a", 0.2}};
    assert_int_equal(hm__sheet_estimate(two, 3, "b", &e), 1);
    assert_near(e.mean, 0.1, 1e-12);
    assert_near(e.spread, 6.314 / 1.645 * sqrt(0.01 * 2), 1e-12);
    static const struct hm_sheet_row one[] = {{"a", 0.0}, {"a", 0.2}};
    assert_int_equal(hm__sheet_estimate(one, 2, NULL, &e), 1);
    assert_near(e.spread, sqrt(0.01 * 2), 1e-12);
    assert_int_equal(hm__sheet_estimate(rows, 1, "a", &e), 0);
}

static void an_interval_contains_the_prediction(void **state)
{
    struct hm_interval i = hm__sheet_interval(&(struct hm_sheet_error){"", 0.1, 0.2});

    (void)state;
    assert_near(i.low, exp(0.1 - 0.329), 1e-12);
    assert_near(i.high, exp(0.1 + 0.329), 1e-12);
    i = hm__sheet_interval(&(struct hm_sheet_error){"", 2, 0.2});
    assert_near(i.low, 1, 0);
    for (size_t k = 0; k < HM_SHEET_KIND_COUNT; k++) {
        i = hm__sheet_interval(&hm__sheet_errors[k]);
        assert_true(i.low <= 1 && i.high >= 1 && hm__sheet_errors[k].spread > 0.1);
    }
}

static struct hm_prediction predict_from_one(const struct hm_job *job, double n, double seconds,
                                             double target)
{
    const struct hm_fit_settings settings = {.job = job};
    struct hm_runs *runs;
    struct hm_fit *fit;
    struct hm_prediction p;

    assert_int_equal(hm_runs_new(&n, &seconds, 1, NULL, 0, &runs, NULL), 0);
    assert_int_equal(hm_fit_new(runs, &settings, &fit, NULL), 0);
    assert_int_equal(hm_fit_predict(fit, NULL, 0, &target, 1, &p, NULL), 0);
    hm_fit_free(fit);
    hm_runs_free(runs);
    return p;
}

/* If a step takes 1.6 times as long as predicted, the predictions for other numbers of workers
 * become longer by the same factor; the interval is narrower than without a run, and widens with n
 * and across nodes. */
static void one_step_corrects_the_rest(void **state)
{
    struct hm_job *job = make_job("network: resnet-50\nbatch: 64\nscaling: weak\n"
                                  "precision: bf16\ncluster: p4d.24xlarge\n");
    static const double targets[] = {2, 4, 8, 16, 64};
    struct hm_point one, p;
    double before = 0;

    (void)state;
    assert_int_equal(hm__predict_step(job, NULL, 1, NULL, &one, NULL), 0);
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        const struct hm_way way = {0};
        double n = targets[i], drift = hm__sheet_drift(job, &job->cluster, 1, n);
        assert_near(drift, hypot(HM_SHEET_DRIFT * log2(n), n > 8 ? HM_SHEET_CROSSING : 0), 1e-12);
        assert_int_equal(hm__predict_step(job, NULL, n, NULL, &p, NULL), 0);
        struct hm_prediction got = predict_from_one(job, 1, 1.6 * one.time_s, n);
        assert_near(got.time_s / p.time_s, 1.6, 0.1);
        double width = log(got.mean_high / got.mean_low);
        struct hm_interval sheet =
            hm__sheet_interval(&hm__sheet_errors[hm__sheet_kind(job, &job->cluster, &way, n)]);
        assert_true(width < log(sheet.high / sheet.low));
        assert_true(width > 1.9 * 1.645 * drift && width > before);
        before = width;
    }
    hm_job_free(job);
    job = make_job("compute: 10/n\ncommunicate: none\n");
    assert_near(hm__sheet_drift(job, NULL, 1, 64), 0, 0);
    hm_job_free(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_have_kinds),
        cmocka_unit_test(every_source_has_the_same_weight),
        cmocka_unit_test(an_interval_contains_the_prediction),
        cmocka_unit_test(one_step_corrects_the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
