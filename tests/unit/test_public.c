/* The shared library through its public header alone, as another program would use it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <howmany.h>

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
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_question_is_answered),
        cmocka_unit_test(errors_tell_where),
        cmocka_unit_test(null_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
