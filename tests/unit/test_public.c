/* The shared library through its public header alone, as another program would use it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
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

    (void)state;
    assert_string_equal(hm_version(), HM_VERSION);
    assert_int_equal(hm_job_parse(text, strlen(text), "job.yaml", NULL, 0, &job, &err), 0);
    assert_int_equal(hm_plan(job, NULL, 0, NULL, 0, &question, &answer, &err), 0);
    assert_int_equal((int)answer->points[answer->best].n, 14);
    hm_answer_free(answer);
    hm_job_free(job);
}

static void errors_tell_where(void **state)
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

/* Runs in, a plan out: the whole of the second header. */
static void runs_teach(void **state)
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
        cmocka_unit_test(a_question_is_answered),
        cmocka_unit_test(errors_tell_where),
        cmocka_unit_test(runs_teach),
        cmocka_unit_test(null_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
