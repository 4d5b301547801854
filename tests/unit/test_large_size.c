/*
 * Compares scaling laws with published figures and a calculation in another language, and tests
 * plans that choose the number of parameters and tokens from a loss, a budget or a deadline.
 */
#include "large_testing.h"

#include <math.h>

#include "scaling.h"

static const char JOB[] = "network: llama-3-8b\nsequence: 8192\nbatch: 512\n"
                          "cluster: {machine: p5.48xlarge, max_nodes: 128}\n";

/* The laws are compared with values that were computed in Python from the constants in the
 * papers. */
static void laws_are_those_of_the_papers(void **state)
{
    const struct hm_scaling_law *laws = hm__scaling_laws;

    (void)state;
    assert_near(hm__scaling_loss(&laws[0], 8e9, 160e9), 2.135076, 1e-5);
    assert_near(hm__scaling_loss(&laws[1], 70e9, 1.4e12), 1.973882, 1e-5);
    assert_near(hm__scaling_loss(&laws[2], 70e9, 15e12), 1.980652, 1e-5);
    for (int i = 0; i < HM_SCALING_LAWS; i++)
        assert_near(hm__scaling_loss(&laws[i], 70e9, hm__scaling_tokens(&laws[i], 70e9, 2.1)), 2.1,
                    1e-12);
    assert_true(isinf(hm__scaling_tokens(&laws[2], 8e9, 2.0)));
    /* With the compute of Gopher, Chinchilla's 70B is the optimum of both newer fits, and 40B is
     * the optimum of approach 3 in the paper (its table A3). */
    assert_near(hm__scaling_optimum(&laws[0], 5.76e23), 40.3e9, .01);
    assert_near(hm__scaling_optimum(&laws[1], 5.76e23), 72.2e9, .01);
    assert_near(hm__scaling_optimum(&laws[2], 5.76e23), 70.0e9, .01);
    /* Around the optimum the loss is larger. */
    for (int i = 0; i < HM_SCALING_LAWS; i++) {
        double n = hm__scaling_optimum(&laws[i], 1e22), d = 1e22 / 6 / n;
        double least = hm__scaling_loss(&laws[i], n, d);
        assert_true(hm__scaling_loss(&laws[i], 1.1 * n, d / 1.1) > least);
        assert_true(hm__scaling_loss(&laws[i], n / 1.1, d * 1.1) > least);
    }
    /* The critical batch is 2e8 / 2.1^(1/0.21), and batches up to this size have the factor 1. */
    assert_near(hm__critical_batch(2.1), 5.844e6, 1e-3);
    assert_true(hm__batch_factor(4e6, 5.8e6) == 1 && hm__batch_factor(15e6, 5e6) == 2);
}

static struct hm_large_answer *plan_of(const char *more, const struct hm_large_question *q)
{
    struct hm_large_answer *answer = NULL;
    struct hm_job *job = NULL;
    struct hm_err err = {0};
    char text[1000];

    snprintf(text, sizeof(text), "%s%s", JOB, more);
    if (hm_job_parse(text, strlen(text), "job", NULL, 0, &job, &err) ||
        hm__large_plan(job, NULL, 0, q, &answer, &err))
        fail_msg("%s: %s", err.field, err.message);
    answer->job = answer->network = NULL; /* The job owns these strings. */
    hm_job_free(job);
    return answer;
}

static void plan_fails(const char *more, const struct hm_large_question *q, const char *field,
                       const char *message)
{
    struct hm_large_answer *answer = NULL;
    struct hm_job *job = NULL;
    struct hm_err err = {0};
    char text[1000];

    snprintf(text, sizeof(text), "%s%s", strstr(more, "network:") ? "" : JOB, more);
    assert_int_equal(hm_job_parse(text, strlen(text), "job", NULL, 0, &job, &err), 0);
    assert_int_not_equal(hm__large_plan(job, NULL, 0, q, &answer, &err), 0);
    assert_string_equal(err.field, field);
    if (!strstr(err.message, message))
        fail_msg("%s", err.message);
    hm_job_free(job);
}

static void a_loss_gives_the_tokens(void **state)
{
    struct hm_large_question q = large_question(NAN);
    struct hm_large_answer *a;

    (void)state;
    q.loss = 2.1;
    a = plan_of("", &q);
    /* This is the number of tokens by the second law for 8.03B parameters. */
    assert_near(a->tokens, 495e9, .02);
    assert_true(a->outlook.target == 2.1 && a->outlook.factor == 1);
    /* This is the optimum by two of the laws for 2.4e22 flop. */
    assert_near(a->outlook.optimal, 13.6e9, .1);
    assert_near(a->outlook.loss, 2.1, 1e-9);
    const struct hm_large_choice *c = &a->points[a->recommended];
    assert_near(c->total_s, a->tokens / c->tokens_per_s, 1e-12);
    /* The laws differ by a factor of five, which the interval of the job shows. */
    assert_true(c->high_total > 5 && c->high_s / c->step.time_s < 3);
    assert_non_null(strstr(a->notes[0], "critical batch"));
    hm__large_answer_free(a);
    /* Four times the batch exceeds the critical one and needs more tokens. */
    char text[] = "network: llama-3-8b\nsequence: 8192\nbatch: 2048\n"
                  "cluster: {machine: p5.48xlarge, max_nodes: 128}\n";
    struct hm_job *job;
    assert_int_equal(hm_job_parse(text, strlen(text), "job", NULL, 0, &job, NULL), 0);
    assert_int_equal(hm__large_plan(job, NULL, 0, &q, &a, NULL), 0);
    assert_near(a->outlook.factor, (1 + 2048 * 8192 / 5.844e6) / 2, 1e-3);
    assert_near(a->tokens, 495e9 * a->outlook.factor, .02);
    assert_non_null(strstr(a->notes[0], "2.9 times the critical batch"));
    hm__large_answer_free(a);
    hm_job_free(job);
    q.loss = 1.9;
    plan_fails("", &q, "loss", "is below what 8.03e+09 parameters reach");
    q.loss = 2.1;
    plan_fails("network: mixtral-8x7b\nsequence: 4096\nbatch: 512\ncluster: p5.48xlarge\n", &q,
               "loss", "the network has experts");
    plan_fails("train: 0.1\n", &q, "loss", "does not train all parameters");
}

/* A budget must be spent on the size with the least loss: no other size that was tried may be
 * better. */
static void a_budget_gives_parameters_and_tokens(void **state)
{
    struct hm_large_question q = large_question(NAN);
    struct hm_large_answer *a;
    double least = INFINITY, chosen = NAN;

    (void)state;
    q.budget = 1e6;
    q.parameters = INFINITY;
    a = plan_of("", &q);
    assert_true(a->size_count >= 20 && a->feasible);
    for (size_t i = 0; i < a->size_count; i++) {
        assert_true(i == 0 || a->sizes[i].parameters > a->sizes[i - 1].parameters);
        least = fmin(least, a->sizes[i].loss);
        if (a->sizes[i].parameters == a->parameters)
            chosen = a->sizes[i].loss;
    }
    assert_true(chosen == least);
    /* The loss hardly changes near the optimum; the second law puts the optimum at 20 tokens per
     * parameter. */
    assert_in_range((uintmax_t)(a->tokens / a->parameters), 8, 60);
    const struct hm_large_choice *c = &a->points[a->recommended];
    assert_true(c->meets >= .9 && c->cost < 1e6 && c->cost > .5e6);
    hm__large_answer_free(a);
    /* With ten times the money, the network has about 3.3 times the parameters. */
    double before = NAN;
    for (int i = 0; i < 2; i++) {
        q.budget = i ? 1e7 : 1e6;
        a = plan_of("", &q);
        if (i)
            assert_true(a->parameters / before > 1.9 && a->parameters / before < 6);
        before = a->parameters;
        hm__large_answer_free(a);
    }
    q.budget = NAN;
    plan_fails("", &q, "params", "cannot be chosen without a limit or a loss");
    q.budget = 1;
    plan_fails("parallel: {tensor: 8, pipeline: 32, data: 1024}\n", &q, "parallel.data",
               "is more than the sequences");
}

/* The tokens take the whole deadline if the step takes as long as the certainty demands. */
static void a_deadline_gives_parameters_and_tokens(void **state)
{
    static const double certainties[] = {.5, .8, .95};
    struct hm_large_question q = large_question(NAN);

    (void)state;
    q.parameters = INFINITY;
    q.deadline_s = 20 * 86400.;
    for (size_t i = 0; i < sizeof(certainties) / sizeof(certainties[0]); i++) {
        q.certainty = certainties[i];
        struct hm_large_answer *a = plan_of("", &q);
        const struct hm_large_choice *c = &a->points[a->recommended];
        assert_true(a->feasible);
        if (!(c->meets >= q.certainty - 1e-9 && c->meets < q.certainty + .1))
            fail_msg("certainty %g: %g", q.certainty, c->meets);
        assert_true(c->total_s / c->goodput <= q.deadline_s);
        hm__large_answer_free(a);
    }
}

static void a_loss_gives_the_cheapest_size(void **state)
{
    struct hm_large_question q = large_question(NAN);
    struct hm_large_answer *a;

    (void)state;
    q.loss = 2.2;
    q.parameters = INFINITY;
    q.goal = HM_GOAL_COST;
    a = plan_of("", &q);
    for (size_t i = 0; i < a->size_count; i++)
        assert_true(a->sizes[i].loss == 2.2);
    double cost = INFINITY;
    size_t best = 0;
    for (size_t i = 0; i < a->size_count; i++)
        if (a->sizes[i].cost < cost) {
            cost = a->sizes[i].cost;
            best = i;
        }
    assert_true(a->sizes[best].parameters == a->parameters);
    assert_true(a->parameters > 3e9 && a->parameters < 40e9);
    hm__large_answer_free(a);
    /* A given size must be met within a few per cent, in the proportions of the network. */
    q = large_question(NAN);
    for (double size = 1e9; size < 1e12; size *= 7) {
        q.parameters = size;
        a = plan_of("tokens: 1T\n", &q);
        assert_near(a->parameters, size, .06);
        assert_near(a->planned.network.hidden / a->planned.network.layers, 128, .35);
        assert_true(a->planned.network.hidden == a->planned.network.heads * 128);
        hm__large_answer_free(a);
    }
}

/* Failures use a part of the deadline and of the budget of a run on many nodes. */
static void failures_count_in_limits(void **state)
{
    struct hm_large_question q = large_question(NAN);
    struct hm_large_answer *a;

    (void)state;
    q.n = 1024;
    a = plan_of("tokens: 15T\n", &q);
    double total = a->points[0].total_s, goodput = a->points[0].goodput;
    assert_true(goodput > .9 && goodput < .995);
    hm__large_answer_free(a);
    q.certainty = .5;
    q.deadline_s = total * 1.0001 / goodput;
    a = plan_of("tokens: 15T\n", &q);
    assert_true(a->feasible);
    hm__large_answer_free(a);
    q.deadline_s = total * 1.0001;
    a = plan_of("tokens: 15T\n", &q);
    assert_true(!a->feasible);
    hm__large_answer_free(a);
}

/* The memory that a layout leaves free must be used exactly: one more step must not fit. Each
 * change must agree with a plan of its own. */
static void growth_is_what_other_plans_say(void **state)
{
    struct hm_large_question q = large_question(NAN);
    struct hm_large_answer *a, *other;
    char text[200];

    (void)state;
    q.n = 64;
    a = plan_of("", &q);
    const struct hm_large_choice *c = &a->points[a->recommended];
    const struct hm_layout *l = &c->layout;
    for (int more = 0; more < 2; more++) {
        snprintf(text, sizeof(text),
                 "parallel: {tensor: %.0f, pipeline: %.0f, context: %.0f, zero: %.0f, recompute: "
                 "%s, micro_batch: %.0f, shard_within: %s}\n",
                 l->tensor, l->pipeline, l->context, l->zero, hm__recompute_names[l->recompute],
                 a->most_micro_batch * (more ? 2 : 1), l->shard_in_node ? "node" : "all");
        other = plan_of(text, &q);
        assert_true(other->points[0].fits == !more);
        hm__large_answer_free(other);
    }
    assert_true(a->most_sequence >= 8192 && fmod(a->most_sequence, 256) == 0);
    assert_true(a->change_count == 5);
    for (size_t i = 0; i < a->change_count; i++)
        if (strcmp(a->changes[i].what, "precision") == 0) {
            other = plan_of("precision: fp8\n", &q);
            assert_true(other->points[0].step.time_s == a->changes[i].choice.step.time_s);
            assert_true(a->changes[i].choice.tokens_per_s > c->tokens_per_s);
            hm__large_answer_free(other);
        }
    hm__large_answer_free(a);
    /* With a fixed batch, the efficiency falls below 80 % at some number of workers. */
    q = large_question(NAN);
    q.max_n = 1024;
    a = plan_of("overlap: {data: no, gather: no}\n", &q);
    if (a->breaks < a->point_count) {
        const struct hm_large_choice *e = &a->points[a->efficient], *b = &a->points[a->breaks];
        assert_true(b->n > e->n && b->tokens_per_s / b->n < .8 * e->tokens_per_s / e->n);
    }
    hm__large_answer_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laws_are_those_of_the_papers),
        cmocka_unit_test(a_loss_gives_the_tokens),
        cmocka_unit_test(a_budget_gives_parameters_and_tokens),
        cmocka_unit_test(a_deadline_gives_parameters_and_tokens),
        cmocka_unit_test(a_loss_gives_the_cheapest_size),
        cmocka_unit_test(failures_count_in_limits),
        cmocka_unit_test(growth_is_what_other_plans_say),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
