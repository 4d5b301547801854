/* Tests the shared library through its public header alone, as another program would use it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <howmany_fit.h>

static void a_question_is_answered(void **state)
{
    const char *text = "compute: 10/n\ncommunicate: 0.5*log2(n)\n";
    struct hm_question question = HM_QUESTION_INIT;
    struct hm_err err = {0};
    struct hm_job *job = NULL;
    struct hm_answer *answer = NULL;
    int major = 0, minor = 0, patch = 0;

    (void)state;
    assert_string_equal(hm_version(), HM_VERSION);
    assert_int_equal(hm_version_hex(), HM_VERSION_HEX);
    assert_int_equal(sscanf(HM_VERSION, "%d.%d.%d", &major, &minor, &patch), 3);
    assert_int_equal(HM_VERSION_HEX, major * 0x10000 + minor * 0x100 + patch);
    assert_int_equal(hm_job_parse(text, strlen(text), "job.yaml", NULL, 0, &job, &err), 0);
    assert_int_equal(hm_plan(job, NULL, 0, NULL, 0, &question, &answer, &err), 0);
    assert_int_equal((int)answer->points[answer->best].n, 14);
    hm_answer_free(answer);
    hm_job_free(job);
}

static void errors_have_a_place(void **state)
{
    const char *text = "compute: 10/n\ncommunicate: none\nbacth: 3\n";
    struct hm_err err = {0};
    struct hm_job *job = NULL;

    (void)state;
    assert_int_equal(hm_job_parse(text, strlen(text), "job.yaml", NULL, 0, &job, &err), HM_E_KEY);
    assert_null(job);
    assert_string_equal(err.source, "job.yaml");
    assert_int_equal(err.line, 3);
    assert_string_equal(err.hint, "did you mean batch?");
    assert_int_equal(hm_job_parse(text, strlen(text), "job.yaml", NULL, 0, &job, NULL), HM_E_KEY);
}

/* Runs are read and fitted, and the fit is used in a plan. */
static void runs_are_fitted(void **state)
{
    const char *table = "n,seconds\n1,10\n2,5.5\n4,3.4\n8,2.7\n16,2.9\n";
    const char *text = "compute: 1 s\ncommunicate: none\n";
    const double n[] = {1, 2, 4, 32};
    const struct hm_axis axis = {"n", n, 4};
    struct hm_question question = HM_QUESTION_INIT;
    struct hm_fit_settings settings = {0};
    struct hm_design_settings wanted = {.budget = 20, .cost = "n"};
    struct hm_runs *runs = NULL, *places = NULL;
    struct hm_fit *fit = NULL;
    struct hm_design *design = NULL;
    struct hm_prediction predictions[4];
    struct hm_job *job = NULL;
    struct hm_answer *answer = NULL;

    (void)state;
    assert_int_equal(hm_runs_parse(table, strlen(table), "runs.csv", &runs, NULL), 0);
    assert_int_equal(hm_fit_new(runs, &settings, &fit, NULL), 0);
    assert_int_equal(hm_fit_predict(fit, NULL, 0, n, 4, predictions, NULL), 0);
    assert_true(predictions[3].low_s < predictions[3].time_s && predictions[3].beyond == 2);
    assert_int_equal(hm_job_parse(text, strlen(text), "job.yaml", NULL, 0, &job, NULL), 0);
    question.fit = fit;
    assert_int_equal(hm_plan(job, NULL, 0, NULL, 0, &question, &answer, NULL), 0);
    assert_true(answer->points[answer->best].n > 4 && answer->points[answer->best].n < 17);
    assert_true(answer->sure >= 0 && answer->sure_near >= answer->sure && answer->n_low >= 1);
    assert_int_equal(hm_runs_cross(&axis, 1, &places, NULL), 0);
    assert_int_equal(hm_design_new(places, &wanted, &design, NULL), 0);
    assert_true(design->made_count >= 1);
    hm_design_free(design);
    hm_answer_free(answer);
    hm_job_free(job);
    hm_fit_free(fit);
    hm_runs_free(runs);
    hm_runs_free(places);
}

/* Checks that the plan of a job made in memory equals that of the same job read from text, byte for
 * byte. */
static void assert_same_plan(const struct hm_job *made, const char *text)
{
    struct hm_question question = HM_QUESTION_INIT;
    struct hm_job *read = NULL;
    struct hm_answer *answer = NULL;
    char *one = NULL, *two = NULL;
    struct hm_err err = {0};

    if (hm_plan(made, NULL, 0, NULL, 0, &question, &answer, &err))
        fail_msg("%s: %s", err.field, err.message);
    assert_int_equal(hm_answer_render(answer, HM_FORMAT_JSON, NULL, &one, NULL), 0);
    hm_answer_free(answer);
    if (hm_job_parse(text, strlen(text), NULL, NULL, 0, &read, &err))
        fail_msg("%s: %s", err.field, err.message);
    assert_int_equal(hm_plan(read, NULL, 0, NULL, 0, &question, &answer, NULL), 0);
    assert_int_equal(hm_answer_render(answer, HM_FORMAT_JSON, NULL, &two, NULL), 0);
    assert_string_equal(one, two);
    hm_answer_free(answer);
    hm_job_free(read);
    hm_text_free(one);
    hm_text_free(two);
}

static void jobs_are_made_in_memory(void **state)
{
    struct hm_cluster *cluster = NULL;
    struct hm_job *job = NULL;

    (void)state;
    assert_int_equal(hm_job_new(&job, NULL), 0);
    assert_int_equal(hm_job_set_name(job, "made", NULL), 0);
    assert_int_equal(hm_job_set_compute(job, "10/n", NULL), 0);
    assert_int_equal(hm_job_set_communicate(job, "0.5*log2(n)", NULL), 0);
    assert_same_plan(job, "name: made\ncompute: 10/n\ncommunicate: 0.5*log2(n)\n");
    assert_int_equal(hm_job_set_communicate(job, NULL, NULL), 0);
    assert_same_plan(job, "name: made\ncompute: 10/n\ncommunicate: none\n");
    hm_job_free(job);

    assert_int_equal(hm_job_new(&job, NULL), 0);
    assert_int_equal(hm_job_set_network(job, NULL, "resnet-50", NULL), 0);
    assert_int_equal(hm_job_set_machine(job, NULL, "p3.2xlarge", "10gbe", NULL), 0);
    job->batch = 1024;
    job->iterations = 1000;
    assert_same_plan(job, "network: resnet-50\nbatch: 1024\niterations: 1000\n"
                          "cluster: {machine: p3.2xlarge, fabric: 10gbe}\n");
    assert_int_equal(
        hm_job_add_transfer(job, HM_PAYLOAD_GRADIENTS, HM_SCHEME_PARAMETER_SERVER, NULL), 0);
    job->communicate[0].servers = 4;
    assert_same_plan(job, "network: resnet-50\nbatch: 1024\niterations: 1000\n"
                          "communicate: [{what: gradients, scheme: parameter-server, servers: 4}]\n"
                          "cluster: {machine: p3.2xlarge, fabric: 10gbe}\n");
    hm_job_free(job);

    assert_int_equal(hm_job_new(&job, NULL), 0);
    assert_int_equal(hm_cluster_new(&cluster, NULL), 0);
    cluster->node.flops_32 = 1e12;
    cluster->node.memory_bytes = 16e9;
    cluster->fabric.bandwidth_bytes_per_s = 1.25e9;
    cluster->fabric.latency_s = 20 * 1e-6;
    assert_int_equal(hm_job_set_totals(job, 25e6, 8e9, NULL), 0);
    assert_int_equal(hm_job_set_cluster(job, cluster, NULL), 0);
    hm_cluster_free(cluster); /* The job has its own copy of the cluster. */
    assert_int_equal(hm_job_set_memory(job, "8e9/n", NULL), 0);
    job->batch = 64;
    assert_same_plan(job,
                     "network: {parameters: 25e6, forward: 8 Gflop}\nbatch: 64\nmemory: 8e9/n\n"
                     "cluster: {flops: {32: 1 Tflop/s}, memory: 16 GB,\n"
                     "  fabric: {bandwidth: 10 Gbit/s, latency: 20 us}}\n");
    hm_job_free(job);
}

static void formulas_are_evaluated(void **state)
{
    static const struct {
        const char *text, *unit;
        double value; /* Value of the formula at n = 8 and w = 3. */
    } good[] = {{"w/n", NULL, 0.375},
                {"20 ms * n + w", "s", NAN},
                {"20 ms * n", "s", 0.16},
                {"2 kB * w", "byte", 6000},
                {"log2(n)", "s", 3}};
    const char *const names[] = {"n", "w"}, *const twice[] = {"n", "n"}, *const bad[] = {"2x"};
    const double values[] = {8, 3};
    struct hm_formula *formula = NULL;
    struct hm_err err = {0};
    double value = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        int rc = hm_formula_new(good[i].text, good[i].unit, names, 2, &formula, NULL);
        assert_int_equal(rc, good[i].value == good[i].value ? 0 : HM_E_UNIT);
        if (rc)
            continue;
        assert_int_equal(hm_formula_eval(formula, values, 2, &value, NULL), 0);
        assert_float_equal(value, good[i].value, 1e-12);
        assert_int_equal(hm_formula_eval(formula, values, 1, &value, NULL), HM_E_RANGE);
        hm_formula_free(formula);
    }
    assert_int_equal(hm_formula_new("n +", NULL, names, 2, &formula, &err), HM_E_FORMULA);
    assert_int_equal(hm_formula_new("m", NULL, names, 2, &formula, NULL), HM_E_FORMULA);
    assert_int_equal(hm_formula_new("n", NULL, twice, 2, &formula, NULL), HM_E_CONFLICT);
    assert_int_equal(hm_formula_new("n", NULL, bad, 1, &formula, NULL), HM_E_NAME);
    assert_int_equal(hm_formula_new("1 s", "ms", NULL, 0, &formula, NULL), HM_E_UNIT);
    assert_int_equal(hm_formula_new("1 s", "s", names, 2, &formula, NULL), 0);
    struct hm_job *job = NULL;
    assert_int_equal(hm_job_new(&job, NULL), 0);
    job->compute = formula; /* The formula's variables are not those of a job. */
    assert_int_equal(hm_job_check(job, NULL), HM_E_FORMULA);
    assert_int_equal(hm_job_set_compute(job, "1/n", NULL), 0);
    assert_int_equal(hm_formula_eval(job->compute, values, 1, &value, NULL), HM_E_FORMULA);
    hm_formula_free(formula);
    hm_job_free(job);
}

static void null_is_freed(void **state)
{
    (void)state;
    hm_job_free(NULL);
    hm_answer_free(NULL);
    hm_cluster_free(NULL);
    hm_catalog_free(NULL);
    hm_counts_free(NULL);
    hm_validation_free(NULL);
    hm_text_free(NULL);
    hm_runs_free(NULL);
    hm_fit_free(NULL);
    hm_design_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_question_is_answered), cmocka_unit_test(errors_have_a_place),
        cmocka_unit_test(runs_are_fitted),        cmocka_unit_test(jobs_are_made_in_memory),
        cmocka_unit_test(formulas_are_evaluated), cmocka_unit_test(null_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
