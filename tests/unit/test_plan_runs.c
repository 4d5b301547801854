/* Tests plans from runs: stated probabilities must be calibrated, and without runs the model must
 * answer. */
#include "howmany_fit.h"
#include "random.h"
#include "testing.h"

static double steep(double n)
{
    return 100 / n + n / 4; /* 20 workers are the optimum, but the runs have at most 16 workers. */
}

static struct hm_fit *fit_steep(struct hm_random *random, double seed)
{
    static const double n[] = {1, 2, 3, 4, 6, 8, 12, 16};
    char text[1024] = "n,seconds\n";
    struct hm_fit_settings settings = {.seed = seed};
    struct hm_runs *runs = NULL;
    struct hm_fit *fit = NULL;

    for (size_t i = 0; i < 8; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof(text) - used, "%g,%.17g\n", n[i],
                 steep(n[i]) * (1 + 0.05 * hm__random_normal(random)));
    }
    assert_int_equal(hm_runs_parse(text, strlen(text), "runs.csv", &runs, NULL), 0);
    assert_int_equal(hm_fit_new(runs, &settings, &fit, NULL), 0);
    hm_runs_free(runs);
    return fit;
}

/* The stated probability must not exceed the frequency, and the range must contain the optimum. */
static void stated_probabilities_are_calibrated(void **state)
{
    struct hm_job *job = parse_job("compute: 1 s\ncommunicate: none\n");
    struct hm_question q = HM_QUESTION_INIT;
    double said = 0, so = 0, held = 0, sets = is_torture() ? 200 : 50;
    struct hm_random random;

    (void)state;
    hm__random_init(&random, 11, 3);
    for (double i = 0; i < sets; i++) {
        struct hm_fit *fit = fit_steep(&random, i);
        q.fit = fit;
        struct hm_answer *a = ask(job, &q);
        said += a->sure_near / sets;
        so += (steep(a->points[a->recommended].n) <= 1.05 * steep(20)) / sets;
        held += (a->n_low <= 20 && 20 <= a->n_high) / sets;
        assert_true(a->sure <= a->sure_near && a->level == 0.9);
        assert_true(a->points[a->best].low_s <= a->points[a->best].time_s);
        hm_answer_free(a);
        hm_fit_free(fit);
    }
    print_message("# said %.2f, so %.2f, held %.2f\n", said, so, held);
    assert_true(so >= said - 0.05 && held >= 0.87);
    hm_job_free(job);
}

/* Runs belong to one machine and one scheme, so one of each may be given, but not two. */
static void runs_have_one_scheme(void **state)
{
    static const enum hm_scheme schemes[] = {HM_SCHEME_RING, HM_SCHEME_BEST};
    struct hm_job *job = parse_job("compute: 10 s/n\ncommunicate: {bytes: 4 MB, scheme: ring}\n"
                                   "cluster: {max_nodes: 8, fabric: {bandwidth: 10 MB/s, latency: "
                                   "1 ms}}\n");
    struct hm_runs *runs = NULL;
    static const char table[] = "n,seconds\n1,10\n2,5.5\n4,3.2\n";
    struct hm_fit_settings settings = {.job = job};
    struct hm_question q = HM_QUESTION_INIT;
    struct hm_fit *fit = NULL;

    (void)state;
    assert_int_equal(hm_runs_parse(table, strlen(table), "runs.csv", &runs, NULL), 0);
    assert_int_equal(hm_fit_new(runs, &settings, &fit, NULL), 0);
    q.fit = fit;
    const struct hm_cluster *clusters[] = {&job->cluster, &job->cluster};
    for (size_t c = 0; c <= 2; c++)
        for (size_t s = 0; s <= 2; s++) {
            struct hm_answer *answer = NULL;
            struct hm_err err = {0};
            int rc = hm_plan(job, c ? clusters : NULL, c, s ? schemes : NULL, s, &q, &answer, &err);
            if (rc != (c > 1 || s > 1 ? HM_E_CONFLICT : 0))
                fail_msg("%zu machines, %zu schemes: %d, %s", c, s, rc, err.message);
            hm_answer_free(answer);
        }
    hm_fit_free(fit);
    hm_runs_free(runs);
    hm_job_free(job);
}

/* Without runs the answer is that of the model, with a wide interval. */
static void without_runs_the_answer_is_the_model(void **state)
{
    struct hm_job *job = parse_job("compute: 10 s/n\ncommunicate: 0.5 s * log2(n)\n");
    struct hm_fit_settings settings = {.job = job};
    struct hm_question q = HM_QUESTION_INIT;
    struct hm_fit *fit = NULL;
    struct hm_answer *model = ask(job, &q);

    (void)state;
    assert_int_equal(hm_fit_new(NULL, &settings, &fit, NULL), 0);
    q.fit = fit;
    struct hm_answer *answer = ask(job, &q);
    assert_int_equal(answer->point_count, model->point_count);
    for (size_t i = 0; i < model->point_count; i++)
        assert_near(answer->points[i].time_s, model->points[i].time_s, 1e-9);
    assert_string_equal(answer->provenance, "model and runs");
    assert_true(answer->sure >= 0 && isnan(model->sure));
    hm_answer_free(answer);
    hm_answer_free(model);
    hm_fit_free(fit);
    hm_job_free(job);
}

/* Fits a job to runs that take exactly the times that its specification sheet predicts. */
static struct hm_fit *fit_as_predicted(const struct hm_job *job, const double *n, size_t count)
{
    const struct hm_fit_settings settings = {.job = job};
    struct hm_runs *runs = NULL;
    struct hm_fit *fit = NULL;
    double seconds[3];

    for (size_t i = 0; i < count; i++) {
        struct hm_question q = HM_QUESTION_INIT;
        q.n = &n[i];
        q.n_count = 1;
        struct hm_answer *a = ask(job, &q);
        seconds[i] = a->points[a->best].time_s;
        hm_answer_free(a);
    }
    assert_int_equal(hm_runs_new(n, seconds, count, NULL, 0, &runs, NULL), 0);
    assert_int_equal(hm_fit_new(runs, &settings, &fit, NULL), 0);
    hm_runs_free(runs);
    return fit;
}

/* If the advised runs take the predicted times, a fit to them must be about as exact as the advice
 * says, and must have the predicted time. */
static void advised_runs_narrow_the_interval(void **state)
{
    static const char *const jobs[] = {
        "network: resnet-50\nbatch: 1024\ncluster: {machine: p4d.24xlarge, max_nodes: 128}\n",
        "network: resnet-50\nbatch: 128\nscaling: weak\n"
        "cluster: {machine: p4d.24xlarge, max_nodes: 128}\n",
    };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct hm_job *job = parse_job(jobs[i]);
        struct hm_question q = HM_QUESTION_INIT;
        struct hm_answer *before = ask(job, &q);
        const struct hm_point *p = &before->points[before->recommended];
        struct hm_prediction after;
        assert_true(before->advised_count == 3 && p->n > 16);
        struct hm_fit *fit = fit_as_predicted(job, before->advised_n, before->advised_count);
        assert_int_equal(hm_fit_predict(fit, NULL, 0, &p->n, 1, &after, NULL), 0);
        double within = (after.high_s - after.low_s) / (2 * after.time_s);
        print_message("# at %g: advised %.3f, then %.3f\n", p->n, before->advised_within, within);
        assert_true(within > before->advised_within / 1.2 && within < 1.2 * before->advised_within);
        assert_true(within < 0.6 * (p->high_s - p->low_s) / (2 * p->time_s));
        assert_near(after.time_s, p->time_s, 0.1);
        hm_fit_free(fit);
        hm_answer_free(before);
        hm_job_free(job);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stated_probabilities_are_calibrated),
        cmocka_unit_test(runs_have_one_scheme),
        cmocka_unit_test(without_runs_the_answer_is_the_model),
        cmocka_unit_test(advised_runs_narrow_the_interval),
    };
    return cmocka_run_group_tests_name("plan_runs", tests, NULL, NULL);
}
