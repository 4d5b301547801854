/*
 * Tests runs that correct a job whose communication overlaps with computing: the overlap must be
 * evaluated again with the corrected parts, so that communication that longer computing hides costs
 * nothing.
 */
#include "howmany_fit.h"
#include "testing.h"

#include "device.h"
#include "predict.h"

static struct hm_prediction predict(const struct hm_job *job, const double *n,
                                    const double *seconds, size_t count, double at)
{
    const struct hm_fit_settings settings = {.job = job};
    struct hm_runs *runs = NULL;
    struct hm_fit *fit = NULL;
    struct hm_prediction p = {0};

    assert_int_equal(hm_runs_new(n, seconds, count, NULL, 0, &runs, NULL), 0);
    assert_int_equal(hm_fit_new(runs, &settings, &fit, NULL), 0);
    assert_int_equal(hm_fit_predict(fit, NULL, 0, &at, 1, &p, NULL), 0);
    hm_fit_free(fit);
    hm_runs_free(runs);
    return p;
}

/* According to the specification sheet, computing is too short to hide the messages; the runs show
 * that it is longer. */
static void hidden_communication_stays_hidden(void **state)
{
    static const char *const jobs[] = {
        "network: resnet-50\nbatch: 16\nscaling: weak\noverlap: layers\n"
        "cluster: {machine: p3.2xlarge, fabric: 25gbe}\n",
        "network: resnet-50\nbatch: 8\nscaling: weak\noverlap: layers\n"
        "cluster: {machine: p3.2xlarge, fabric: 40gbe}\n",
        "network: resnet-50\nbatch: 16\nscaling: weak\noverlap: layers\n"
        "cluster: {machine: p3.2xlarge, fabric: 10gbe}\n",
    };
    static const double n[] = {1, 2, 4}, seconds[] = {0.158, 0.158, 0.158};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct hm_job *job = parse_job(jobs[i]);
        struct hm_fit_settings settings = {.job = job};
        struct hm_fit *sheet = NULL;
        struct hm_prediction alone, p = predict(job, n, seconds, 3, 16);
        struct hm_point first, last;
        double at = 16, one = 1;
        assert_int_equal(hm_fit_new(NULL, &settings, &sheet, NULL), 0);
        assert_int_equal(hm_fit_predict(sheet, NULL, 0, &at, 1, &alone, NULL), 0);
        double exposed = alone.time_s;
        assert_int_equal(hm_fit_predict(sheet, NULL, 0, &one, 1, &alone, NULL), 0);
        /* With the specification sheet alone, the communication is not hidden. */
        assert_true(exposed > 1.3 * alone.time_s);
        /* Only computing grows with n, because 16 workers wait for the slowest of them. */
        assert_int_equal(hm__predict_step(job, NULL, one, NULL, &first, NULL), 0);
        assert_int_equal(hm__predict_step(job, NULL, at, NULL, &last, NULL), 0);
        double waiting = last.compute_s / first.compute_s;
        assert_near(waiting, 1 + hm__constants.jitter * log2(at), 1e-6);
        assert_near(p.time_s, 0.158 * waiting, 0.05);
        assert_true(p.low_s <= 0.158 && 0.158 <= p.high_s && p.high_s < 0.2);
        hm_fit_free(sheet);
        hm_job_free(job);
    }
}

/* A plan from such runs must name computing as the limit, and must not propose a faster fabric. */
static void hidden_communication_is_no_limit(void **state)
{
    struct hm_job *job = parse_job("network: resnet-50\nbatch: 64\nscaling: weak\noverlap: layers\n"
                                   "cluster: {machine: v100, fabric: 10gbe, max_nodes: 16}\n");
    static const double n[] = {1, 2, 4}, seconds[] = {0.158, 0.158, 0.158};
    const struct hm_fit_settings settings = {.job = job};
    struct hm_question question = HM_QUESTION_INIT;
    struct hm_runs *runs = NULL;
    struct hm_fit *fit = NULL;
    struct hm_answer *answer = NULL;

    (void)state;
    assert_int_equal(hm_runs_new(n, seconds, 3, NULL, 0, &runs, NULL), 0);
    assert_int_equal(hm_fit_new(runs, &settings, &fit, NULL), 0);
    question.fit = fit;
    assert_int_equal(hm_plan(job, NULL, 0, NULL, 0, &question, &answer, NULL), 0);
    const struct hm_point *p = &answer->points[answer->recommended];
    assert_int_equal(answer->limit, HM_LIMIT_COMPUTE);
    assert_true(p->compute_s > 0.9 * p->time_s);
    assert_near(p->compute_s + p->communicate_s, p->time_s, 1e-12);
    hm_answer_free(answer);
    hm_fit_free(fit);
    hm_runs_free(runs);
    hm_job_free(job);
}

/*
 * The times must follow the closed form (a^2 + b^2)^(1/2), with both parts wrong by known factors.
 */
static void corrected_parts_are_combined(void **state)
{
    struct hm_job *job =
        parse_job("compute: 10 s/n\ncommunicate: 0.4 s * log2(n)\noverlap: {norm: 2}\n");
    static const double n[] = {1, 2, 4, 8, 16, 32};
    double seconds[6];

    (void)state;
    for (size_t i = 0; i < 6; i++)
        seconds[i] = hypot(1.6 * 10 / n[i], 0.6 * 0.4 * log2(n[i]));
    struct hm_prediction p = predict(job, n, seconds, 6, 64);
    double truth = hypot(1.6 * 10 / 64, 0.6 * 0.4 * 6);
    assert_near(p.time_s, truth, 0.1);
    assert_true(p.low_s <= truth && truth <= p.high_s);
    hm_job_free(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hidden_communication_stays_hidden),
        cmocka_unit_test(hidden_communication_is_no_limit),
        cmocka_unit_test(corrected_parts_are_combined),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
