/* Plans a transformer in memory: how many GPUs, in which layout, train Llama 3 8B in 30 days. */
#include <howmany_layouts.h>
#include <stdio.h>

int main(void)
{
    struct hm_transformer_work work = HM_TRANSFORMER_WORK_INIT;
    struct hm_question question = HM_QUESTION_INIT;
    struct hm_transformer network;
    struct hm_layouts *layouts = NULL;
    struct hm_job *job = NULL;
    struct hm_err err = {0};
    int rc = hm_job_new(&job, &err);

    hm_transformer_init(&network);
    network.layers = 32, network.hidden = 4096, network.ffn = 14336, network.gated = true;
    network.heads = 32, network.kv_heads = 8, network.vocabulary = 128256;
    work.sequence = 8192, work.batch = 512, work.tokens = 1e12;
    question.deadline_s = 30 * 86400.0;
    if (rc == 0)
        rc = hm_job_set_transformer(job, &network, &work, &err);
    if (rc == 0)
        rc = hm_job_set_machine(job, NULL, "p5.48xlarge", NULL, &err);
    if (rc == 0)
        rc = hm_plan_layouts(job, NULL, 0, &question, &layouts, &err);
    if (rc == 0 && layouts->feasible) {
        const struct hm_layout_point *p = &layouts->points[layouts->recommended];
        char text[100];
        hm_layout_text(&p->layout, text, sizeof(text));
        printf("%.2fB parameters on %g GPUs: %s\n", layouts->parameters / 1e9, p->n, text);
        printf("%.1f days, $%.0f\n", p->total_s / 86400, p->cost);
    } else if (rc)
        fprintf(stderr, "%s: %s (%s)\n", err.field, err.message, err.hint);
    hm_layouts_free(layouts);
    hm_job_free(job);
    return rc ? 1 : 0;
}
