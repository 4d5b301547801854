/* Plans a job in memory: how many V100 machines train ResNet-50, in what time, at what cost. */
#include <howmany.h>
#include <stdio.h>

int main(void)
{
    struct hm_question question = HM_QUESTION_INIT;
    struct hm_answer *answer = NULL;
    struct hm_job *job = NULL;
    struct hm_err err = {0};
    int rc = hm_job_new(&job, &err);

    if (rc == 0)
        rc = hm_job_set_network(job, NULL, "resnet-50", &err);
    if (rc == 0)
        rc = hm_job_set_machine(job, NULL, "p3.2xlarge", "25gbe", &err);
    if (rc == 0) {
        job->batch = 4096;
        job->epochs = 90;
        job->dataset = 1281167;
        job->cluster.node.price_per_s = 3.06 / 3600;
        question.deadline_s = 8 * 3600;
        rc = hm_plan(job, NULL, 0, NULL, 0, &question, &answer, &err);
    }
    if (rc == 0 && answer->recommended != HM_NONE) {
        const struct hm_point *p = &answer->points[answer->recommended];
        printf("%g machines, %.1f hours, $%.0f\n", p->n, p->total_s / 3600, p->cost);
    } else if (rc) {
        fprintf(stderr, "%s: %s (%s)\n", err.field, err.message, err.hint);
    }
    hm_answer_free(answer);
    hm_job_free(job);
    return rc != 0;
}
