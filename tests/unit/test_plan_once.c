/* Tests that the model of the best combination is evaluated only once, whatever the question is. */
#include "testing.h"

#include "howmany.h"
#include "model.h"

/* ---- counting --------------------------------------------------------------------------------
 * The linker sends every call of hm__model_new through this function. What-if variants change a
 * factor or a flag; a variant without any change is that of the combination itself.
 */

enum { CLUSTERS_MAX = 8 };
static const struct hm_cluster *seen[CLUSTERS_MAX];
static int plain_models[CLUSTERS_MAX];

static void count_model(const struct hm_cluster *cluster)
{
    size_t i = 0;

    while (i < CLUSTERS_MAX && seen[i] && seen[i] != cluster)
        i++;
    assert_true(i < CLUSTERS_MAX);
    seen[i] = cluster;
    plain_models[i]++;
}

int __real_hm__model_new(const struct hm_job *job, const struct hm_cluster *cluster,
                         const struct hm_variant *variant, struct hm_model **ret_model,
                         struct hm_err *err);
int __wrap_hm__model_new(const struct hm_job *job, const struct hm_cluster *cluster,
                         const struct hm_variant *variant, struct hm_model **ret_model,
                         struct hm_err *err);
int __wrap_hm__model_new(const struct hm_job *job, const struct hm_cluster *cluster,
                         const struct hm_variant *v, struct hm_model **ret_model,
                         struct hm_err *err)
{
    if (v->bandwidth == 1 && v->latency == 1 && v->flops == 1 && v->work == 1 &&
        v->quantity.factor != 0.5 && !v->balanced && !v->steady && !v->by_speed)
        count_model(cluster);
    return __real_hm__model_new(job, cluster, v, ret_model, err);
}

/* ---- tests -----------------------------------------------------------------------------------
 */

static const char job_text[] =
    "network: {parameters: 1000000, forward: 10 Mflop}\nbatch: 4096\nprecision: 32\n";

static void plan_once(struct hm_question *question, size_t machines)
{
    static const char *const names[] = {"p4d.24xlarge", "p5.48xlarge", "g5.12xlarge"};
    struct hm_cluster *clusters[3] = {0};
    struct hm_catalog *catalog = NULL;
    struct hm_answer *answer = NULL;
    struct hm_job *job = NULL;
    struct hm_err err = {0};

    /* With weak scaling of a job that states strong scaling, no runs are advised, so no models are
     * made for them. */
    question->weak = true;
    memset(seen, 0, sizeof(seen));
    memset(plain_models, 0, sizeof(plain_models));
    assert_int_equal(hm_catalog_new(&catalog, &err), 0);
    if (hm_job_parse(job_text, strlen(job_text), "job", NULL, 0, &job, &err))
        fail_msg("%s", err.message);
    for (size_t i = 0; i < machines; i++)
        assert_int_equal(hm_catalog_machine(catalog, names[i], &clusters[i], &err), 0);
    if (hm_plan(job, (const struct hm_cluster *const *)clusters, machines, NULL, 0, question,
                &answer, &err))
        fail_msg("%s", err.message);
    /* An alternative may be on another machine, whose curve is then computed a second time. */
    size_t best = 0;
    for (size_t i = 0; i < machines; i++) {
        assert_in_range(plain_models[i], 1, 2);
        if (strcmp(answer->machine, names[i]) == 0)
            best += plain_models[i] == 1;
    }
    assert_int_equal(best, 1);
    hm_answer_free(answer);
    hm_job_free(job);
    for (size_t i = 0; i < machines; i++)
        hm_cluster_free(clusters[i]);
    hm_catalog_free(catalog);
}

static void one_machine(void **state)
{
    struct hm_question question = HM_QUESTION_INIT;

    (void)state;
    plan_once(&question, 1);
}

static void several_machines(void **state)
{
    struct hm_question question = HM_QUESTION_INIT;

    (void)state;
    plan_once(&question, 3);
    question.goal = HM_GOAL_COST;
    plan_once(&question, 3);
}

/*
 * The weights of the goal `balance` are computed from all curves, which are stored for the ranking.
 */
static void a_balance(void **state)
{
    struct hm_question question = HM_QUESTION_INIT;

    (void)state;
    question.goal = HM_GOAL_BALANCE;
    plan_once(&question, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_machine),
                                       cmocka_unit_test(several_machines),
                                       cmocka_unit_test(a_balance)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
