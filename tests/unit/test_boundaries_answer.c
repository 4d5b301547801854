/*
 * Tests boundaries of answers and recommendations: a deadline and a budget that are met exactly,
 * ties, one worker, one run, and machines without a price. All figures are computed by hand.
 */
#include "testing.h"

#include "howmany_fit.h"
#include "notes.h"

/* ---- answers --------------------------------------------------------------------------------- */

/* A job whose iterations take 60/n + n seconds on n workers (least at n = 8); a worker costs $1 per
 * hour. */
static const char parabola[] =
    "compute: 60 / n\ncommunicate: n\niterations: 60\n"
    "cluster: {flops: 1 Gflop/s, price: $1/h, fabric: 10gbe, max_nodes: 12}\n";

/* With a required probability of 50 %, limits are compared with the expected times. */
static struct hm_question question(void)
{
    struct hm_question q = HM_QUESTION_INIT;

    q.certainty = 0.5;
    return q;
}

static void a_deadline_is_met_at_its_last_second(void **state)
{
    struct hm_job *job = parse_job(parabola);
    struct hm_question q = question();
    struct hm_answer *a;

    (void)state;
    q.deadline_s = 60 * (60.0 / 3 + 3); /* The deadline is exactly the time on 3 workers. */
    a = ask(job, &q);
    assert_near(a->points[a->best].n, 3, 0);
    assert_int_equal(a->best, a->in_deadline);
    hm_answer_free(a);
    q.deadline_s = nextafter(q.deadline_s, 0);
    a = ask(job, &q);
    assert_near(a->points[a->best].n, 4, 0);
    hm_answer_free(a);
    hm_job_free(job);
}

static void a_budget_is_met_at_its_last_cent(void **state)
{
    struct hm_job *job = parse_job(parabola);
    struct hm_question q = question();
    struct hm_answer *a = ask(job, &q);
    double cost = a->points[2].cost;

    (void)state;
    assert_near(cost, 3 * 60 * (60.0 / 3 + 3) / 3600, 1e-14);
    hm_answer_free(a);
    q.budget = cost;
    a = ask(job, &q);
    assert_near(a->points[a->best].n, 3, 0);
    hm_answer_free(a);
    q.budget = nextafter(cost, 0);
    a = ask(job, &q);
    assert_near(a->points[a->best].n, 2, 0);
    hm_answer_free(a);
    hm_job_free(job);
}

static void a_limit_that_nothing_meets_is_named(void **state)
{
    struct hm_job *job = parse_job(parabola);
    struct hm_question q = question();
    struct hm_answer *a;

    (void)state;
    q.deadline_s = 60 * (60.0 / 8 + 8); /* The deadline is the least time, which 8 workers need. */
    a = ask(job, &q);
    assert_int_equal(a->status, HM_STATUS_OK);
    assert_near(a->points[a->best].n, 8, 0);
    hm_answer_free(a);
    q.deadline_s = nextafter(q.deadline_s, 0);
    a = ask(job, &q);
    assert_int_equal(a->status, HM_STATUS_UNREACHED);
    assert_string_equal(a->missed, "deadline");
    assert_near(a->points[a->nearest].n, 8, 0);
    assert_near(a->nearest_gap, 1, 1e-12);
    hm_answer_free(a);
    hm_job_free(job);
}

/* 60/n + n is 17 both for n = 5 and for n = 12; the smaller number of workers must be chosen. */
static void fewer_workers_win_a_tie(void **state)
{
    struct hm_job *job = parse_job("compute: 60 / n\ncommunicate: n\nmemory: (n-8)^2 * 1 B + 1 B\n"
                                   "cluster: {flops: 1 Gflop/s, fabric: 10gbe, max_nodes: 12, "
                                   "memory: 1 TB}\n");
    struct hm_question q = question();
    struct hm_answer *a = ask(job, &q);

    (void)state;
    assert_near(a->points[4].time_s, 17, 1e-14);
    assert_near(a->points[11].time_s, 17, 1e-14);
    assert_near(a->points[a->best].n, 8, 0);
    hm_answer_free(a);
    q.deadline_s = 17;
    a = ask(job, &q);
    /* n = 5 has the fewest node-seconds within 17 s. */
    assert_near(a->points[a->best].n, 1 + 4, 0);
    hm_answer_free(a);
    hm_job_free(job);
}

/*
 * The plateau ends at the n at which the value exceeds 1.05 times the best: 15.5 * 1.05 = 16.275.
 */
static void the_plateau_ends_at_five_per_cent(void **state)
{
    struct hm_job *job = parse_job(parabola);
    struct hm_question q = question();
    struct hm_answer *a = ask(job, &q);

    (void)state;
    assert_near(a->plateau_from, 6, 0); /* n = 6 takes 16 s, and n = 5 takes 17 s. */
    assert_near(a->plateau_to, 10, 0);  /* n = 10 takes 16 s, and n = 11 takes 16.45 s. */
    /* The knee maximises s^2/n, so it minimises t^2 n: 19^2 * 4 at n = 4. */
    assert_near(a->points[a->knee].n, 4, 0);
    /* From n = 1 to 8, each further worker makes the job faster and more expensive. */
    assert_int_equal(a->pareto_count, 8);
    assert_near(a->points[a->pareto[0]].n, 8, 0);
    assert_near(a->points[a->pareto[7]].n, 1, 0);
    hm_answer_free(a);
    hm_job_free(job);
}

/* A machine without a price is faster, but must not be chosen if there is a budget. */
static void an_unpriced_machine_never_wins_under_a_budget(void **state)
{
    static const char job_text[] = "batch: 4096\nnetwork: 1000-1000-10\niterations: 1000\n"
                                   "communicate: [{what: gradients, scheme: ring}]\n";
    struct hm_job *job = parse_job(job_text);
    struct hm_cluster *clusters[2] = {NULL, NULL};
    struct hm_question q = question();
    struct hm_answer *a = NULL;
    struct hm_err err = {0};
    const char *specs[2] = {"{flops: 900 Gflop/s, fabric: 10gbe, max_nodes: 8}",
                            "{flops: 9 Gflop/s, fabric: 1gbe, price: $1/h, "
                            "max_nodes: 8}"};

    (void)state;
    for (size_t i = 0; i < 2; i++)
        if (hm_cluster_parse(NULL, specs[i], strlen(specs[i]), "c", NULL, 0, &clusters[i], &err))
            fail_msg("%s", err.message);
    clusters[0]->name = "unpriced";
    clusters[1]->name = "priced";
    const struct hm_cluster *const both[2] = {clusters[0], clusters[1]};
    assert_int_equal(hm_plan(job, both, 2, NULL, 0, &q, &a, &err), 0);
    assert_string_equal(a->machine,
                        "unpriced"); /* Without a budget the fastest machine is chosen. */
    hm_answer_free(a);
    q.budget = 1000;
    assert_int_equal(hm_plan(job, both, 2, NULL, 0, &q, &a, &err), 0);
    assert_string_equal(a->machine, "priced");
    assert_true(a->ranking[0].feasible);
    assert_false(a->ranking[1].feasible);
    assert_string_equal(a->ranking[1].machine, "unpriced");
    assert_string_equal(a->ranking[1].why, "its price is not known");
    hm_answer_free(a);
    q.budget = NAN;
    q.goal = HM_GOAL_COST;
    assert_int_equal(hm_plan(job, both, 2, NULL, 0, &q, &a, &err), 0);
    assert_string_equal(a->machine, "priced");
    hm_answer_free(a);
    /* A machine without a price is not chosen even if the machine with a price exceeds the
     * budget. */
    q = question();
    q.budget = 1e-9;
    assert_int_equal(hm_plan(job, both, 2, NULL, 0, &q, &a, &err), 0);
    assert_string_equal(a->machine, "priced");
    assert_int_equal(a->best, HM_NONE);
    hm_answer_free(a);
    hm_cluster_free(clusters[0]);
    hm_cluster_free(clusters[1]);
    hm_job_free(job);
}

static void one_worker_only(void **state)
{
    struct hm_job *job = parse_job("compute: 60 / n\ncommunicate: n\n"
                                   "cluster: {flops: 1 Gflop/s, fabric: 10gbe, max_nodes: 1}\n");
    struct hm_question q = question();
    struct hm_answer *a = ask(job, &q);

    (void)state;
    assert_int_equal(a->point_count, 1);
    assert_int_equal(a->best, 0);
    assert_int_equal(a->knee, 0);
    assert_int_equal(a->status, HM_STATUS_OK);
    assert_near(a->plateau_from, 1, 0);
    assert_near(a->plateau_to, 1, 0);
    assert_false(a->at_ceiling);
    hm_answer_free(a);
    hm_job_free(job);
}

/* The question "faster" accepts a speedup that equals the wanted one exactly. */
static void faster_is_met_exactly(void **state)
{
    struct hm_job *job = parse_job(parabola);
    struct hm_question q = question();
    struct hm_answer *a;

    (void)state;
    q.faster = 61 / (60.0 / 3 + 3);
    a = ask(job, &q);
    assert_near(a->points[a->faster].n, 3, 0);
    hm_answer_free(a);
    q.faster *= 1 + 0.9e-3; /* A speedup 0.1 % below the wanted one is accepted. */
    a = ask(job, &q);
    assert_near(a->points[a->faster].n, 3, 0);
    hm_answer_free(a);
    q.faster *= 1 + 0.2e-3;
    a = ask(job, &q);
    assert_near(a->points[a->faster].n, 4, 0);
    hm_answer_free(a);
    q.faster = 61 / (60.0 / 8 + 8) * (1 + 1.1e-3);
    a = ask(job, &q);
    assert_int_equal(a->faster, HM_NONE);
    assert_string_equal(a->missed, "faster");
    hm_answer_free(a);
    hm_job_free(job);
}

/* ---- recommendations ------------------------------------------------------------------------- */

static struct hm_recommendation *recommend_from(const char *text,
                                                const struct hm_recommend_question *q)
{
    struct hm_runs *runs = NULL;
    struct hm_recommendation *r = NULL;
    struct hm_err err = {0};

    if (hm_runs_parse(text, strlen(text), "t.csv", &runs, &err) || hm_recommend(runs, q, &r, &err))
        fail_msg("%s", err.message);
    hm_runs_free(runs);
    return r;
}

static void a_recommendation_meets_its_limits_exactly(void **state)
{
    static const char runs[] = "n,seconds\n1,100\n2,60\n4,40\n";
    struct hm_recommend_question q = {.deadline_s = 60, .certainty = 0.5};
    struct hm_recommendation *r = recommend_from(runs, &q);

    (void)state;
    /* 2 workers are the cheapest choice that meets the deadline. */
    assert_near(r->candidates[r->best].n, 2, 0);
    assert_true(r->candidates[r->best].feasible);
    hm_recommendation_free(r);
    q.deadline_s = nextafter(60, 0);
    r = recommend_from(runs, &q);
    assert_near(r->candidates[r->best].n, 4, 0);
    hm_recommendation_free(r);
    q.deadline_s = nextafter(40, 0);
    r = recommend_from(runs, &q);
    assert_int_equal(r->best, HM_NONE);
    assert_string_equal(r->missed, "deadline");
    hm_recommendation_free(r);
    q = (struct hm_recommend_question){.budget = 120, .price_per_s = 1, .certainty = 0.5};
    r = recommend_from(runs, &q);
    assert_near(r->candidates[r->best].n, 2, 0); /* 2 workers cost 120 worker-seconds in 60 s. */
    hm_recommendation_free(r);
    q.budget = nextafter(120, 0);
    r = recommend_from(runs, &q);
    assert_near(r->candidates[r->best].n, 1, 0);
    hm_recommendation_free(r);
}

static void equal_times_prefer_fewer_workers(void **state)
{
    struct hm_recommend_question q = {0};
    struct hm_recommendation *r = recommend_from("n,seconds\n8,50\n4,50\n2,60\n", &q);

    (void)state;
    assert_near(r->candidates[0].n, 4, 0);
    assert_near(r->candidates[1].n, 8, 0);
    assert_near(r->candidates[2].n, 2, 0);
    hm_recommendation_free(r);
    /* A single run is enough for a recommendation, but not for a probability. */
    r = recommend_from("n,seconds\n4,50\n", &q);
    assert_near(r->candidates[r->best].n, 4, 0);
    assert_true(isnan(r->sure));
    hm_recommendation_free(r);
    r = recommend_from("n,seconds\n4,50\n4,54\n4,70\n4,53\n",
                       /* The time of an even number of runs is the mean of the two middle times. */
                       &q);
    assert_near(r->candidates[0].time_s, 53.5, 1e-14);
    hm_recommendation_free(r);
}

/* With perfect scaling, every n has the same node-seconds, so only the fastest n is on the Pareto
 * front. */
static void equal_costs_prefer_less_time(void **state)
{
    struct hm_job *job = parse_job("compute: 60 / n\ncommunicate: 0\n"
                                   "cluster: {flops: 1 Gflop/s, fabric: 10gbe, max_nodes: 4}\n");
    struct hm_question q = question();
    struct hm_answer *a = ask(job, &q);

    (void)state;
    assert_int_equal(a->pareto_count, 1);
    assert_near(a->points[a->pareto[0]].n, 4, 0);
    assert_near(a->points[a->knee].n, 4, 0);
    hm_answer_free(a);
    q.goal = HM_GOAL_COST;
    a = ask(job, &q);
    assert_near(a->points[a->best].n, 4, 0);
    assert_near(a->plateau_from, 1, 0);
    assert_near(a->plateau_to, 4, 0);
    hm_answer_free(a);
    hm_job_free(job);
}

/* If more workers never help, the answer names the nearest point with several workers: n = 2, with
 * 3/2 of the time of n = 1. */
static void no_speedup_is_reported(void **state)
{
    struct hm_job *job = parse_job("compute: 1\ncommunicate: n\n"
                                   "cluster: {flops: 1 Gflop/s, fabric: 10gbe, max_nodes: 3}\n");
    struct hm_question q = question();
    struct hm_answer *a = ask(job, &q);

    (void)state;
    assert_int_equal(a->status, HM_STATUS_NO_SPEEDUP);
    assert_near(a->points[a->best].n, 1, 0);
    assert_near(a->points[a->nearest].n, 2, 0);
    assert_near(a->nearest_gap, 1.5, 1e-14);
    hm_answer_free(a);
    hm_job_free(job);
}

static void wrong_questions_of_a_recommendation_are_refused(void **state)
{
    struct hm_runs *runs = NULL;
    struct hm_recommendation *r = NULL;
    struct hm_recommend_question q = {.level = 1};
    double n = 0;

    (void)state;
    assert_int_equal(hm_runs_parse("n,seconds\n1,5\n2,3\n", 18, "r", &runs, NULL), 0);
    assert_int_equal(hm_recommend(runs, &q, &r, NULL), HM_E_RANGE);
    q = (struct hm_recommend_question){.n = &n, .n_count = 1};
    assert_int_equal(hm_recommend(runs, &q, &r, NULL), HM_E_RANGE);
    n = 1;
    assert_int_equal(hm_recommend(runs, &q, &r, NULL), 0);
    assert_near(r->candidates[0].n, 1, 0);
    hm_recommendation_free(r);
    q = (struct hm_recommend_question){.budget = -1};
    assert_int_equal(hm_recommend(runs, &q, &r, NULL), HM_E_RANGE);
    assert_int_equal(hm_recommend(NULL, &q, &r, NULL), HM_E_RANGE);
    q.budget = 0;
    assert_int_equal(hm_recommend(NULL, &q, &r, NULL), HM_E_MISSING);
    hm_runs_free(runs);
}

/* ---- notes ----------------------------------------------------------------------------------- */

static void notes_have_a_limit(void **state)
{
    struct hm_arena *arena = hm__arena_new();
    const char **list = NULL;
    size_t count = 0;
    struct hm_notes notes = {arena, &list, &count};

    (void)state;
    for (int i = 0; i < HM_NOTES_MAX + 3; i++)
        assert_int_equal(hm__notes_add(notes, NULL, "note %d", i), 0);
    assert_int_equal(count, HM_NOTES_MAX);
    assert_string_equal(list[0], "note 0");
    assert_string_equal(list[3], "note 3");
    assert_string_equal(list[4], "note 4");
    assert_string_equal(list[7], "note 7");
    assert_string_equal(list[8], "note 8");
    assert_string_equal(list[HM_NOTES_MAX - 1], "note 63");
    hm__arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_deadline_is_met_at_its_last_second),
        cmocka_unit_test(a_budget_is_met_at_its_last_cent),
        cmocka_unit_test(a_limit_that_nothing_meets_is_named),
        cmocka_unit_test(fewer_workers_win_a_tie),
        cmocka_unit_test(the_plateau_ends_at_five_per_cent),
        cmocka_unit_test(an_unpriced_machine_never_wins_under_a_budget),
        cmocka_unit_test(one_worker_only),
        cmocka_unit_test(faster_is_met_exactly),
        cmocka_unit_test(a_recommendation_meets_its_limits_exactly),
        cmocka_unit_test(equal_times_prefer_fewer_workers),
        cmocka_unit_test(equal_costs_prefer_less_time),
        cmocka_unit_test(no_speedup_is_reported),
        cmocka_unit_test(wrong_questions_of_a_recommendation_are_refused),
        cmocka_unit_test(notes_have_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
