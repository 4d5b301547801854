/* Compares machines: finds the machine of the catalog that trains a network fastest. */
#include <howmany.h>
#include <stdio.h>

int main(void)
{
    const char *const names[] = {"p2.xlarge", "p3.2xlarge", "m5.4xlarge"};
    struct hm_cluster *clusters[3] = {NULL};
    struct hm_question question = HM_QUESTION_INIT;
    struct hm_catalog *catalog = NULL;
    struct hm_answer *answer = NULL;
    struct hm_job *job = NULL;
    struct hm_err err = {0};
    int rc = hm_catalog_new(&catalog, &err);

    for (int i = 0; rc == 0 && i < 3; i++)
        rc = hm_catalog_machine(catalog, names[i], &clusters[i], &err);
    if (rc == 0)
        rc = hm_job_new(&job, &err);
    if (rc == 0)
        rc = hm_job_set_totals(job, 25.6e6, 8.2e9, &err);
    if (rc == 0) {
        job->batch = 1024;
        question.max_n = 32;
        rc = hm_plan(job, (const struct hm_cluster *const *)clusters, 3, NULL, 0, &question,
                     &answer, &err);
    }
    for (size_t i = 0; rc == 0 && i < answer->rank_count; i++)
        printf("%-12s %4g workers, %.3f s an iteration\n", answer->ranking[i].machine,
               answer->ranking[i].n, answer->ranking[i].time_s);
    if (rc)
        fprintf(stderr, "%s: %s (%s)\n", err.field, err.message, err.hint);
    hm_answer_free(answer);
    hm_job_free(job);
    for (int i = 0; i < 3; i++)
        hm_cluster_free(clusters[i]);
    hm_catalog_free(catalog);
    return rc != 0;
}
