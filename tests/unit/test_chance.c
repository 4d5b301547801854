/*
 * Tests the probabilities of answers: the distribution behind an interval is compared with closed
 * forms; deadlines and budgets, which must be met with the required probability, are compared with
 * a brute-force search over the intervals of the answer; probabilities from few runs are limited;
 * and the words never say 100 %.
 */
#include "testing.h"

#include "chance.h"
#include "chance_words.h"
#include "howmany_fit.h"

/* Quantiles of the normal distribution at 0.8, 0.9 and 0.95, from published tables. */
static const double Z80 = 0.8416212335729143, Z90 = 1.2815515655446004, Z95 = 1.6448536269514722;

static const char parabola[] =
    "compute: 60 / n\ncommunicate: n\niterations: 60\n"
    "cluster: {flops: 1 Gflop/s, price: $1/h, fabric: 10gbe, max_nodes: 12}\n";

/* ---- the distribution ------------------------------------------------------------------------ */

/* ln T has a deviation of 0.2 below the median of 10 s, and of 0.5 above it. */
static void the_distribution_has_its_quantiles(void **state)
{
    const struct hm_span s = {10 * exp(-0.2 * Z95), 10, 10 * exp(0.5 * Z95), 0.9};
    const struct hm_span none = {NAN, 10, NAN, 0.9}, exact = {10, 10, 10, 0.9};

    (void)state;
    assert_near(hm__span_chance(&s, 10), 0.5, 1e-12);
    assert_near(hm__span_chance(&s, s.high), 0.95, 1e-12);
    assert_near(hm__span_chance(&s, s.low), 0.05, 1e-12);
    assert_near(hm__span_chance(&s, 10 * exp(0.5 * Z80)), 0.8, 1e-12);
    assert_near(hm__span_bound(&s, 0.9), 10 * exp(0.5 * Z90), 1e-11);
    assert_near(hm__span_bound(&s, 0.2), 10 * exp(-0.2 * Z80), 1e-11);
    assert_near(hm__span_bound(&s, 0.5), 10, 0);
    assert_near(hm__span_chance(&s, 1e9), HM_CHANCE_MOST, 0); /* No stated probability is 1. */
    assert_near(hm__span_chance(&s, 0), 0, 0);
    assert_true(isnan(hm__span_chance(&none, 10)));
    assert_near(hm__span_bound(&none, 0.9), 10, 0);
    assert_near(hm__span_chance(&exact, 10), HM_CHANCE_MOST, 0);
    assert_near(hm__span_chance(&exact, 9.99), 0, 0);
}

/* ---- plans ----------------------------------------------------------------------------------- */

/* Returns the probability that the total time of a point is within a limit, computed from its
 * interval alone. */
static double chance_by_hand(const struct hm_point *p, double limit_s)
{
    double x = log(limit_s / p->total_s);
    double spread = (x < 0 ? log(p->time_s / p->low_s) : log(p->high_s / p->time_s)) / Z95;

    return fmin(0.5 * erfc(-x / spread / sqrt(2)), 0.99);
}

/* Checks that the best point is the cheapest of those that meet the deadline with the required
 * probability. */
static void check_deadline(const struct hm_answer *a, double deadline_s, double certainty)
{
    size_t best = HM_NONE, risky = 0;

    for (size_t i = 0; i < a->point_count; i++) {
        const struct hm_point *p = &a->points[i];
        assert_near(p->meets, chance_by_hand(p, deadline_s), 1e-9);
        risky += p->total_s <= deadline_s && p->meets < certainty;
        if (p->meets >= certainty &&
            (best == HM_NONE || p->n * p->total_s < a->points[best].n * a->points[best].total_s))
            best = i;
    }
    assert_true(
        risky >
        0); /* Some points meet the deadline only in the median, so the test is not trivial. */
    assert_int_equal(a->best, best);
    assert_int_equal(a->recommended, best);
    assert_true(a->points[best].meets >= certainty && a->certainty == certainty);
}

static void a_deadline_is_met_with_the_asked_probability(void **state)
{
    static const double certainties[] = {0.9, 0.7, 0.92};
    struct hm_job *job = parse_job(parabola);
    struct hm_question q = HM_QUESTION_INIT;

    (void)state;
    q.deadline_s = 60 * 32; /* The deadline is exactly the expected time of n = 2. */
    for (size_t i = 0; i < 3; i++) {
        q.certainty = i == 0 ? NAN : certainties[i];
        struct hm_answer *a = ask(job, &q);
        check_deadline(a, q.deadline_s, certainties[i]);
        hm_answer_free(a);
    }
    hm_job_free(job);
}

static void a_budget_is_met_with_the_asked_probability(void **state)
{
    struct hm_job *job = parse_job(parabola);
    struct hm_question q = HM_QUESTION_INIT;

    (void)state;
    q.budget = 6 * 60 * 16. / 3600; /* The budget is exactly the expected cost of n = 6. */
    struct hm_answer *a = ask(job, &q);
    const struct hm_point *p = &a->points[a->best];
    assert_near(a->points[5].meets, 0.5, 1e-9);
    assert_true(p->n < 6 && p->meets >= 0.9);
    assert_near(p->meets, chance_by_hand(p, p->total_s * q.budget / p->cost), 1e-9);
    for (size_t i = 0; i < a->point_count; i++)
        if (a->points[i].meets >= 0.9)
            assert_true(a->points[i].total_s >= p->total_s);
    hm_answer_free(a);
    hm_job_free(job);
}

static char *text_of(const struct hm_answer *a)
{
    const struct hm_style style = {.width = 1000};
    char *text = NULL;

    assert_int_equal(hm_answer_render(a, HM_FORMAT_TEXT, &style, &text, NULL), 0);
    return text;
}

static void assert_says(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is not in:\n%s", part, text);
}

/* If no n meets the deadline with the required probability, the answer must show the n that comes
 * nearest, and its probability. */
static void the_nearest_miss_has_a_probability(void **state)
{
    struct hm_job *job = parse_job(parabola);
    struct hm_question q = HM_QUESTION_INIT;

    (void)state;
    q.deadline_s = 60 * 15.6; /* The least expected time is 60 * 15.5, on 8 workers. */
    struct hm_answer *a = ask(job, &q);
    const struct hm_point *p = &a->points[a->nearest];
    assert_int_equal(a->status, HM_STATUS_UNREACHED);
    assert_true(a->best == HM_NONE && p->n == 8 && p->meets > 0.5 && p->meets < 0.9);
    const struct hm_span span = {p->low_s, p->time_s, p->high_s, a->level};
    assert_near(a->nearest_gap, hm__span_bound(&span, 0.9) / 15.6, 1e-9);
    char *text = text_of(a), wanted[100];
    assert_says(text, "No number of workers meets the deadline with a probability of 90 %.");
    snprintf(wanted, sizeof(wanted),
             "would meet the deadline of 15.6 min with %.0f %% (asked 90 %%)", 100 * p->meets);
    assert_says(text, wanted);
    hm_text_free(text);
    hm_answer_free(a);
    q.deadline_s = 60 * 30;
    a = ask(job, &q);
    text = text_of(a);
    snprintf(wanted, sizeof(wanted), "limits       meets the deadline of 30.0 min with %.0f %% ",
             100 * a->points[a->recommended].meets);
    assert_says(text, wanted);
    hm_text_free(text);
    hm_answer_free(a);
    hm_job_free(job);
}

static void unknown_certainties_are_refused(void **state)
{
    static const double wrong[] = {-1, 1, 0.995, INFINITY};
    struct hm_job *job = parse_job(parabola);
    struct hm_question q = HM_QUESTION_INIT;
    struct hm_answer *a = NULL;
    struct hm_err err = {0};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        q.certainty = wrong[i];
        assert_int_equal(hm_plan(job, NULL, 0, NULL, 0, &q, &a, &err), HM_E_RANGE);
        assert_string_equal(err.field, "certainty");
        err = (struct hm_err){0};
    }
    hm_job_free(job);
}

/* ---- several machines ------------------------------------------------------------------------ */

static struct hm_cluster *cluster(const char *name, const char *text)
{
    struct hm_cluster *c = NULL;

    assert_int_equal(hm_cluster_parse(NULL, text, strlen(text), name, NULL, 0, &c, NULL), 0);
    /* Clusters of the catalog have names, so this cluster gets one, which is borrowed. */
    c->name = name;
    return c;
}

/* The alternatives must equal those of a brute-force search over both machines. One machine is
 * three times as fast and ten times as expensive as the other. */
static void alternatives_are_over_all_machines(void **state)
{
    struct hm_job *job = parse_job("network: {parameters: 25e6, forward: 4 Gflop}\nbatch: 512\n"
                                   "iterations: 1000\n");
    struct hm_cluster *clusters[2] = {
        cluster("cheap", "flops: 1 Tflop/s\nprice: $1/h\nfabric: 10gbe\nmax_nodes: 8\n"),
        cluster("dear", "flops: 3 Tflop/s\nprice: $10/h\nfabric: 10gbe\nmax_nodes: 8\n")};
    struct hm_question q = HM_QUESTION_INIT;
    struct hm_answer *both = NULL;
    double cost = INFINITY, time_s = INFINITY, sum = INFINITY;

    (void)state;
    assert_int_equal(
        hm_plan(job, (const struct hm_cluster *const *)clusters, 2, NULL, 0, &q, &both, NULL), 0);
    const struct hm_plan_alternative *all = both->alternatives;
    struct hm_answer *each[2] = {NULL, NULL};
    for (size_t k = 0; k < 2; k++) {
        const struct hm_cluster *one = clusters[k];
        assert_int_equal(hm_plan(job, &one, 1, NULL, 0, &q, &each[k], NULL), 0);
        for (size_t i = 0; i < each[k]->point_count; i++) {
            cost = fmin(cost, each[k]->points[i].cost);
            time_s = fmin(time_s, each[k]->points[i].total_s);
        }
    }
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < each[k]->point_count; i++)
            sum = fmin(sum, each[k]->points[i].total_s / time_s + each[k]->points[i].cost / cost);
    const struct hm_point *balanced = &all[HM_ALTERNATIVE_BALANCED].point;
    assert_string_equal(all[HM_ALTERNATIVE_CHEAPEST].machine, "cheap");
    assert_string_equal(all[HM_ALTERNATIVE_FASTEST].machine, "dear");
    assert_near(all[HM_ALTERNATIVE_CHEAPEST].point.cost, cost, 1e-12);
    assert_true(all[HM_ALTERNATIVE_FASTEST].point.total_s <= 1.05 * time_s);
    assert_near(all[HM_ALTERNATIVE_FASTEST].point.n, each[1]->points[each[1]->recommended].n, 0);
    assert_near(balanced->total_s / time_s + balanced->cost / cost, sum, 1e-9);
    for (size_t k = 0; k < HM_ALTERNATIVES; k++)
        assert_true(all[k].point.low_s < all[k].point.time_s);
    char *text = text_of(both);
    assert_says(text, "cheapest     1 x cheap: ");
    assert_says(text, " x dear: ");
    hm_text_free(text);
    hm_answer_free(both);
    for (size_t k = 0; k < 2; k++) {
        hm_answer_free(each[k]);
        hm_cluster_free(clusters[k]);
    }
    hm_job_free(job);
}

/* ---- runs ------------------------------------------------------------------------------------ */

static struct hm_runs *runs_of(const char *text)
{
    struct hm_runs *runs = NULL;

    assert_int_equal(hm_runs_parse(text, strlen(text), "runs.csv", &runs, NULL), 0);
    return runs;
}

static struct hm_fit *fit_of(const char *text)
{
    const struct hm_fit_settings settings = {.level = 0};
    struct hm_runs *runs = runs_of(text);
    struct hm_fit *fit = NULL;

    assert_int_equal(hm_fit_new(runs, &settings, &fit, NULL), 0);
    hm_runs_free(runs);
    return fit;
}

/* Runs that take 100/n + 4 seconds, with a noise of 2 %. */
static const char many[] = "n,seconds\n1,104\n1,106\n2,55\n2,53\n4,29.5\n4,28.6\n8,16.2\n8,16.8\n"
                           "16,10.4\n16,10.1\n";

static void fitted_plans_meet_deadlines_too(void **state)
{
    struct hm_job *job = parse_job("compute: 1 s\ncommunicate: none\n");
    struct hm_question q = HM_QUESTION_INIT;
    struct hm_fit *fit = fit_of(many);

    (void)state;
    q.fit = fit;
    struct hm_answer *a = ask(job, &q);
    /* The deadline is slightly above the expected time of n = 6. */
    q.deadline_s = a->points[5].total_s * 1.001;
    hm_answer_free(a);
    a = ask(job, &q);
    check_deadline(a, q.deadline_s, 0.9);
    hm_answer_free(a);
    hm_fit_free(fit);
    hm_job_free(job);
}

/* plan and recommend give the same interval from one table. */
static void plan_and_recommend_agree(void **state)
{
    static const char *const tables[] = {"n,seconds\n1,10\n2,6\n",
                                         "n,seconds\n1,10\n1,10.2\n2,6\n2,6.1\n", many,
                                         "n,seconds\n1,10\n2,6\n4,4\n8,3.5\n"};
    struct hm_job *job = parse_job("compute: 1 s\ncommunicate: none\n");
    const double n[] = {3, 12};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct hm_question q = HM_QUESTION_INIT;
        const struct hm_recommend_question asked = {.n = n, .n_count = 2};
        struct hm_runs *runs = runs_of(tables[i]);
        struct hm_fit *fit = fit_of(tables[i]);
        struct hm_recommendation *r = NULL;
        q.fit = fit;
        q.max_n = 12;
        struct hm_answer *a = ask(job, &q);
        assert_int_equal(hm_recommend(runs, &asked, &r, NULL), 0);
        assert_int_equal(r->candidate_count, 2);
        for (size_t k = 0; k < 2; k++) {
            const struct hm_point *p = &a->points[(size_t)r->candidates[k].n - 1];
            assert_near(r->candidates[k].time_s, p->time_s, 1e-9 * p->time_s);
            assert_near(r->candidates[k].low_s, p->low_s, 1e-9 * p->time_s);
            assert_near(r->candidates[k].high_s, p->high_s, 1e-9 * p->time_s);
        }
        hm_recommendation_free(r);
        hm_answer_free(a);
        hm_fit_free(fit);
        hm_runs_free(runs);
    }
    hm_job_free(job);
}

/* With k runs, the stated probability is at most (k + 1/2) / (k + 1), and at most 90 % outside the
 * range of the runs. */
static void few_runs_claim_little(void **state)
{
    static const struct {
        const char *runs;
        double most;
    } cases[] = {{"n,seconds\n1,10\n2,6\n", 2.5 / 3},
                 {"n,seconds\n1,10\n1,10.2\n2,6\n2,6.1\n", 4.5 / 5},
                 {many, 10.5 / 11}};
    struct hm_job *job = parse_job("compute: 1 s\ncommunicate: none\n");

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct hm_question q = HM_QUESTION_INIT;
        struct hm_fit *fit = fit_of(cases[i].runs);
        q.fit = fit;
        struct hm_answer *a = ask(job, &q);
        assert_true(a->sure <= a->sure_near && a->sure_near <= cases[i].most);
        hm_answer_free(a);
        hm_fit_free(fit);
    }
    assert_near(hm__chance_most(1000, false), 0.99, 0);
    assert_near(hm__chance_most(1000, true), 0.9, 0);
    assert_near(hm__chance_most(0, true), 0.5, 0);
    hm_job_free(job);
}

/* A recommendation must meet a deadline with candidates that were run once. */
static void recommendations_meet_deadlines(void **state)
{
    struct hm_runs *runs = runs_of("n,seconds\n1,10\n2,6\n4,4\n8,3.5\n");
    struct hm_recommend_question q = {.deadline_s = 4};
    struct hm_recommendation *r = NULL;

    (void)state;
    assert_int_equal(hm_recommend(runs, &q, &r, NULL), 0);
    const struct hm_recommended *c = &r->candidates[0];
    assert_true(r->best == 0 && c->n == 8 && c->meets >= 0.9 && c->meets < 1);
    for (size_t i = 1; i < r->candidate_count; i++)
        assert_true(!r->candidates[i].feasible && r->candidates[i].meets < 0.9);
    hm_recommendation_free(r);
    q.certainty = 0.5;
    assert_int_equal(hm_recommend(runs, &q, &r, NULL), 0);
    /* n = 4 is cheaper and meets the limit with at least 50 %. */
    assert_near(r->candidates[0].n, 4, 0);
    hm_recommendation_free(r);
    q.certainty = 1;
    struct hm_err err = {0};
    assert_int_equal(hm_recommend(runs, &q, &r, &err), HM_E_RANGE);
    hm_runs_free(runs);
}

/* ---- words ----------------------------------------------------------------------------------- */

static void assert_near_best(struct hm_near_best s, const char *wanted)
{
    struct hm_text out = {0};

    hm__say_near_best(&out, &s);
    assert_string_equal(out.data ? out.data : "", wanted);
    hm__text_release(&out);
}

static void words_never_claim_certainty(void **state)
{
    char text[HM_SHOWN];

    (void)state;
    assert_string_equal(hm__show_chance(1, text), "99 %");
    assert_string_equal(hm__show_chance(0.996, text), "99 %");
    assert_string_equal(hm__show_chance(0.914, text), "91 %");
    assert_string_equal(hm__show_chance(0.002, text), "less than 1 %");
    assert_near_best((struct hm_near_best){0.91, 0.05, 19, 51, 0.9, NAN},
                     "91 % sure to be within 5 % of the best; the exact best lies between 19 and "
                     "51 (90 %)");
    assert_near_best((struct hm_near_best){1, 0.1, 16, 64, 0.8, 64},
                     "99 % sure to be within 10 % of the best; the exact best lies between 16 and "
                     "64, the most that were considered (80 %)");
    assert_near_best((struct hm_near_best){0.7, 0.05, 8, 8, 0.9, NAN},
                     "70 % sure to be within 5 % of the best; the exact best is 8 (90 %)");
    assert_near_best((struct hm_near_best){NAN, 0.05, 8, 8, 0.9, NAN}, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_distribution_has_its_quantiles),
        cmocka_unit_test(a_deadline_is_met_with_the_asked_probability),
        cmocka_unit_test(a_budget_is_met_with_the_asked_probability),
        cmocka_unit_test(the_nearest_miss_has_a_probability),
        cmocka_unit_test(unknown_certainties_are_refused),
        cmocka_unit_test(alternatives_are_over_all_machines),
        cmocka_unit_test(fitted_plans_meet_deadlines_too),
        cmocka_unit_test(plan_and_recommend_agree),
        cmocka_unit_test(few_runs_claim_little),
        cmocka_unit_test(recommendations_meet_deadlines),
        cmocka_unit_test(words_never_claim_certainty),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
