/*
 * Tests the comparison of candidates and the choice of the next run, for candidates, times and
 * random draws that are written by hand, so that every probability, gain and order can be computed.
 */
#include "recommend.h"
#include "testing.h"

enum { MANY = 6, DRAWS = 20 };

struct world {
    struct hm_recommend_question q;
    struct hm_recommendation out;
    struct hm_recommend_candidate c[MANY];
    double draws[MANY][DRAWS], n[MANY], seconds[MANY];
    size_t picked[MANY];
    struct hm_recommending w;
};

/* Makes candidates with the given n and without times. */
static void world_init(struct world *x, enum hm_recommend_way way, const double *n, size_t count)
{
    *x = (struct world){
        .out = {.provenance = way,
                .goal = HM_GOAL_TIME,
                .best = HM_NONE,
                .sure = NAN,
                .row_count = 1000},
    };
    x->w = (struct hm_recommending){.q = &x->q,
                                    .out = &x->out,
                                    .arena = hm__arena_new(),
                                    .candidates = x->c,
                                    .count = count,
                                    .rate = NAN,
                                    .n = x->n,
                                    .seconds = x->seconds,
                                    .picked = x->picked};
    assert_non_null(x->w.arena);
    for (size_t i = 0; i < count; i++)
        x->c[i] = (struct hm_recommend_candidate){
            .r = {.n = n[i], .time_s = NAN, .cost = NAN, .value = NAN}, .floor_s = NAN};
}

static void world_set_time(struct world *x, size_t i, double time_s, size_t rows)
{
    x->c[i].known = true;
    x->c[i].r.time_s = x->c[i].r.value = time_s;
    x->c[i].r.low_s = time_s - 1;
    x->c[i].r.high_s = time_s + 1;
    x->c[i].r.row_count = rows;
}

/* Sets the first `wins` draws of a candidate to `low` and the others to `high`. */
static void world_set_draws(struct world *x, size_t i, size_t wins, double low, double high)
{
    for (size_t d = 0; d < DRAWS; d++)
        x->draws[i][d] = d < wins ? low : high;
    x->c[i].draws = x->draws[i];
    x->w.draw_count = DRAWS;
}

/* Checks the next run that is proposed; if n is 0, no run must be proposed. */
static void check_next(struct world *x, double n, const char *why)
{
    x->out.next_count = 0;
    x->out.next_why = NULL;
    assert_int_equal(hm__recommend_next(&x->w, NULL), 0);
    assert_int_equal(x->out.next_count, n > 0 ? x->w.at_count + 1 : 0);
    if (n > 0) {
        assert_string_equal(x->out.next[0].name, "n");
        assert_near(x->out.next[0].value, n, 0);
        assert_string_equal(x->out.next_why, why);
    }
}

static const double one_to_eight[] = {1, 2, 4, 8};
static const char not_run[] = "there is no run of it, and it may be better";

/* ---- the next run after rows ----------------------------------------------------------------- */

static void rows_without_a_fit_propose_the_nearest_n(void **state)
{
    static const double n[] = {4, 1, 16, 3, 5};
    struct world x;

    (void)state;
    world_init(&x, HM_RECOMMEND_ROWS, n, 5);
    world_set_time(&x, 0, 10, 1);
    check_next(&x, 0, NULL); /* There is no best candidate, so no run is proposed. */
    x.out.best = 0;
    check_next(&x, 5, not_run); /* 5 is nearer to 4 than 3 is: ln(5/4) < ln(4/3). */
    x.c[4].r.failed = true;
    check_next(&x, 3, not_run);
    x.c[3].r.row_count = 1;
    check_next(&x, 1,
               not_run); /* 1 and 16 are equally far from 4; the first of them is proposed. */
    x.c[1].r.failed = x.c[2].r.failed = true;
    check_next(&x, 0, NULL);
    x.c[2].r.failed = false;
    x.out.missed = "deadline";
    check_next(&x, 0, NULL);
    hm__arena_free(x.w.arena);
}

static void rows_with_a_fit_propose_the_likeliest_n(void **state)
{
    struct world x;

    (void)state;
    world_init(&x, HM_RECOMMEND_ROWS, one_to_eight, 4);
    x.out.best = 0;
    world_set_time(&x, 0, 10, 2);
    world_set_time(&x, 1, 11, 0);
    world_set_time(&x, 2, 12.5, 0);
    /* The second candidate takes 9 s in one draw and 10 s in the others; only 9 s is better than
     * the best time, which is 10 s. */
    world_set_draws(&x, 1, 1, 9, 10);
    world_set_draws(&x, 2, 1, 9, 11);
    check_next(&x, 0, NULL); /* A probability of exactly 1 in 20 is not enough. */
    world_set_draws(&x, 1, 2, 9, 11);
    check_next(&x, 2, "a fit of the runs gives it 11 s there (10 to 12)");
    /* Both candidates are equally likely to be better, so the first is proposed. */
    world_set_draws(&x, 2, 2, 9, 11);
    check_next(&x, 2, "a fit of the runs gives it 11 s there (10 to 12)");
    world_set_draws(&x, 2, 3, 9, 11);
    check_next(&x, 4, "a fit of the runs gives it 12.5 s there (11.5 to 13.5)");
    x.c[2].r.failed = true;
    check_next(&x, 2, "a fit of the runs gives it 11 s there (10 to 12)");
    x.c[1].r.row_count = 1;
    /* No other candidate has a time from a fit, so 8 workers may be better. */
    check_next(&x, 8, not_run);
    x.c[1].r.row_count = 0;
    x.c[1].draws = NULL; /* Without draws, no candidate is likely to be better. */
    check_next(&x, 0, NULL);
    hm__arena_free(x.w.arena);
}

/* If the goal is the cost, a faster candidate need not be better. */
static void rows_compare_values_and_not_times(void **state)
{
    struct world x;

    (void)state;
    world_init(&x, HM_RECOMMEND_ROWS, one_to_eight, 2);
    x.out.best = 0;
    x.out.goal = HM_GOAL_COST;
    world_set_time(&x, 0, 10, 1);
    world_set_time(&x, 1, 6, 0);
    world_set_draws(&x, 1, 5, 4, 6); /* The cost is 8 or 12 worker-seconds, compared with 10. */
    check_next(&x, 2, "a fit of the runs gives it 6 s there (5 to 7)");
    world_set_draws(&x, 1, 5, 5, 6);
    check_next(&x, 0, NULL);
    hm__arena_free(x.w.arena);
}

/* A candidate without a time may be better if its lower bound is below the best time. */
static void lower_bounds_may_be_better(void **state)
{
    struct world x;

    (void)state;
    world_init(&x, HM_RECOMMEND_ROWS, one_to_eight, 3);
    x.out.best = 0;
    world_set_time(&x, 0, 10, 1);
    x.c[1].floor_s = x.c[2].floor_s = 10;
    check_next(&x, 0, NULL);
    x.c[2].floor_s = 9.9;
    check_next(&x, 4, not_run);
    x.c[1].floor_s = 9;
    check_next(&x, 2, not_run);
    hm__arena_free(x.w.arena);
}

/* ---- the next run after a fit ---------------------------------------------------------------- */

static void fits_propose_a_lower_bound_first(void **state)
{
    struct world x;

    (void)state;
    world_init(&x, HM_RECOMMEND_FIT, one_to_eight, 3);
    world_set_time(&x, 0, 10, 0);
    check_next(&x, 0, NULL);
    x.c[1].floor_s = 10;
    x.c[2].floor_s = 9;
    check_next(&x, 4, "it may be faster, and its runs do not show it");
    x.c[1].floor_s = 9.5;
    check_next(&x, 2, "it may be faster, and its runs do not show it");
    x.c[1].r.failed = x.c[2].r.failed = true;
    check_next(&x, 0, NULL);
    hm__arena_free(x.w.arena);
}

/*
 * The gain of knowing a time is min(mean, others) - mean(min(draw, others)), relative to the value
 * of the first candidate.
 */
static void fits_propose_the_largest_gain(void **state)
{
    static const char first[] = "it would show whether it is the best";
    static const char second[] = "it would show whether it is better than 1 worker";
    struct world x;

    (void)state;
    world_init(&x, HM_RECOMMEND_FIT, one_to_eight, 3);
    x.out.sure = 0.5;
    world_set_time(&x, 0, 10, 0);
    world_set_time(&x, 1, 12, 0);
    world_set_time(&x, 2, 20, 0);
    world_set_draws(&x, 0, 10, 8, 16);  /* (12 - 10) / 10 = 0.2 */
    world_set_draws(&x, 1, 10, 9, 15);  /* (10 - 9.5) / 10 = 0.05 */
    world_set_draws(&x, 2, 10, 19, 21); /* 0 */
    check_next(&x, 1, first);
    world_set_draws(&x, 0, 10, 10, 11); /* (10.5 - 10.5) / 10 = 0 */
    check_next(&x, 2, second);
    world_set_draws(&x, 2, 10, 7, 33); /* (10 - 8.5) / 10 = 0.15 */
    check_next(&x, 4, second);
    /* The gain is 0.05 for both the second and the third candidate, so the second is proposed. */
    world_set_draws(&x, 2, 10, 9, 21);
    check_next(&x, 2, second);
    x.c[1].draws = NULL;
    check_next(&x, 4, second);
    x.c[2].draws = NULL;
    check_next(&x, 0, NULL);
    hm__arena_free(x.w.arena);
}

/* If the recommendation is sure to be the best, a further run must save at least 1 %. */
static void sure_fits_propose_only_what_is_worth_it(void **state)
{
    static const struct {
        double sure, low;
        bool proposed;
    } rows[] = {{0.89, 9.9, true},   {0.9, 9.9, false}, {0.9, 9.85, false}, {0.9, 9.75, true},
                {0.95, 9.85, false}, {0.95, 9.7, true}, {0.89, 10, false}};
    struct world x;

    (void)state;
    world_init(&x, HM_RECOMMEND_FIT, one_to_eight, 2);
    world_set_time(&x, 0, 10, 0);
    world_set_time(&x, 1, 12, 0);
    world_set_draws(&x, 0, 0, 0, 10);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        x.out.sure = rows[i].sure; /* The gain of a run is (10 - low) / 2 / 10. */
        world_set_draws(&x, 1, 10, rows[i].low, 14);
        check_next(&x, rows[i].proposed ? 2 : 0,
                   "it would show whether it is better than 1 worker");
    }
    /* The second candidate has no time; a single candidate needs no run. */
    world_set_draws(&x, 0, 10, 8, 16);
    x.c[1].known = false;
    check_next(&x, 0, NULL);
    x.w.count = 1;
    check_next(&x, 0, NULL);
    hm__arena_free(x.w.arena);
}

/* ---- the next run after nothing -------------------------------------------------------------- */

static void nothing_proposes_the_fastest_or_twice_n(void **state)
{
    static const double n[] = {2, 4, 8, 2, 4, 8}, seconds[] = {9, 5, 5, 8, 7, NAN};
    struct world x;

    (void)state;
    world_init(&x, HM_RECOMMEND_NONE, one_to_eight, 4);
    check_next(&x, 0, NULL);
    memcpy(x.n, n, sizeof(n));
    memcpy(x.seconds, seconds, sizeof(seconds));
    for (size_t i = 0; i < MANY; i++)
        x.picked[i] = i;
    x.w.picked_count = MANY;
    check_next(&x, 4, "it was the fastest so far"); /* The first of two candidates with equal times
                                                       is proposed. */
    x.c[2].r.failed = true;
    check_next(&x, 8, "it was the fastest so far");
    x.c[3].r.failed = true;
    check_next(&x, 2, "it was the fastest so far");
    x.c[1].r.failed = true;
    check_next(&x, 0, NULL);
    x.w.count = 1; /* The failure of an n that is not a candidate is not known. */
    check_next(&x, 4, "it was the fastest so far");
    for (size_t i = 0; i < MANY; i++)
        x.n[i] = 3;
    check_next(&x, 6, "no run shows yet how the time depends on n");
    x.n[5] = 4; /* This run has no time. */
    check_next(&x, 6, "no run shows yet how the time depends on n");
    x.n[0] = 4;
    check_next(&x, 3, "it was the fastest so far");
    hm__arena_free(x.w.arena);
}

static void nothing_proposes_the_first_n_of_the_question(void **state)
{
    struct world x;

    (void)state;
    world_init(&x, HM_RECOMMEND_NONE, one_to_eight, 3);
    x.q.n_count = 3;
    check_next(&x, 0, NULL);
    x.w.picked_count = 1;
    x.n[0] = 7;
    x.seconds[0] = 3;
    check_next(&x, 1, "no run of it is usable");
    x.c[0].r.failed = true;
    check_next(&x, 2, "no run of it is usable");
    x.c[1].r.failed = x.c[2].r.failed = true;
    check_next(&x, 0, NULL);
    hm__arena_free(x.w.arena);
}

/* The other quantities of the next run must be those of the question. */
static void the_next_run_has_the_place_of_the_question(void **state)
{
    struct world x;

    (void)state;
    world_init(&x, HM_RECOMMEND_MODEL, one_to_eight, 2);
    world_set_time(&x, 0, 10, 0);
    x.w.at[0] = (struct hm_at){"batch", 64};
    x.w.at[1] = (struct hm_at){"latency", 0.5};
    x.w.at_count = 2;
    check_next(&x, 0, NULL);
    x.out.best = 0;
    check_next(&x, 1, "it would check the model");
    assert_string_equal(x.out.next[1].name, "batch");
    assert_near(x.out.next[1].value, 64, 0);
    assert_string_equal(x.out.next[2].name, "latency");
    assert_near(x.out.next[2].value, 0.5, 0);
    hm__arena_free(x.w.arena);
}

/* ---- judgement ------------------------------------------------------------------------------- */

static void judge(struct world *x)
{
    x->out.candidate_count = x->out.note_count = 0;
    x->out.best = HM_NONE;
    x->out.sure = NAN;
    x->out.missed = NULL;
    assert_int_equal(hm__recommend_judge(&x->w, NULL), 0);
}

/* Checks the candidates of the recommendation, in order. */
static void check_order(const struct world *x, const double *n, size_t count)
{
    assert_int_equal(x->out.candidate_count, count);
    for (size_t i = 0; i < count; i++)
        assert_near(x->out.candidates[i].n, n[i], 0);
}

/* Makes six candidates: 1, 2, 4 and 8 workers take 10, 6, 4 and 3 s, 16 workers have no time, and
 * 32 workers fail. */
static void world_of_six(struct world *x)
{
    static const double n[] = {32, 16, 8, 4, 2, 1}, seconds[] = {0, 0, 3, 4, 6, 10};

    world_init(x, HM_RECOMMEND_FIT, n, MANY);
    for (size_t i = 2; i < MANY; i++)
        world_set_time(x, i, seconds[i], 0);
    x->c[0].r.failed = true;
}

static void candidates_are_ordered_by_value(void **state)
{
    static const double fast[] = {8, 4, 2, 1, 32}, cheap[] = {1, 2, 4, 8, 32};
    struct world x;

    (void)state;
    world_of_six(&x);
    judge(&x);
    check_order(&x, fast, 5);
    assert_int_equal(x.out.best, 0);
    assert_near(x.c[0].r.value, 3, 0);
    assert_true(isnan(x.out.candidates[0].cost));
    assert_int_equal(x.out.note_count, 0);
    x.out.goal = HM_GOAL_COST; /* The costs are 10, 12, 16 and 24 worker-seconds. */
    judge(&x);
    check_order(&x, cheap, 5);
    assert_near(x.c[3].r.value, 24, 0);
    assert_int_equal(x.out.note_count, 1);
    assert_near(x.c[4].r.n, 16, 0); /* Candidates without a time are last, in the order of n. */
    assert_near(x.c[5].r.n, 32, 0);
    hm__arena_free(x.w.arena);
}

static void equal_values_are_ordered_by_n(void **state)
{
    static const double n[] = {4, 1, 2}, sorted[] = {1, 2, 4};
    struct world x;

    (void)state;
    world_init(&x, HM_RECOMMEND_FIT, n, 3);
    for (size_t i = 0; i < 3; i++)
        world_set_time(&x, i, 5, 0);
    judge(&x);
    check_order(&x, sorted, 3);
    hm__arena_free(x.w.arena);
}

/* The goal `balance` minimises alpha seconds + beta cost; by default, the least time and the least
 * cost each have the value 1. */
static void balance_weighs_time_and_cost(void **state)
{
    struct world x;

    (void)state;
    world_of_six(&x);
    x.out.goal = HM_GOAL_BALANCE;
    x.q.price_per_s = 0.5; /* The costs are 5, 6, 8 and 12. */
    judge(&x);
    for (size_t i = 0; i < 4; i++) {
        const struct hm_recommended *r = &x.out.candidates[i];
        double time_s = r->n == 1 ? 10 : r->n == 2 ? 6 : r->n == 4 ? 4 : 3;
        assert_near(r->cost, 0.5 * r->n * time_s, 1e-15);
        assert_near(r->value, time_s / 3 + r->cost / 5, 1e-15);
    }
    assert_near(x.out.candidates[0].n, 4, 0); /* The values are 2.93, 3.2, 3.4 and 4.33. */
    x.q.alpha = 2;
    judge(&x);
    assert_near(x.out.candidates[0].n, 8, 0);
    assert_near(x.out.candidates[0].value, 6 + 2.4, 1e-15);
    x.q.beta = 100;
    judge(&x);
    assert_near(x.out.candidates[0].n, 1, 0);
    assert_near(x.out.candidates[0].value, 20 + 500, 1e-15);
    x.q.alpha = 0;
    judge(&x);
    assert_near(x.out.candidates[0].value, 10 / 3. + 500, 1e-15);
    hm__arena_free(x.w.arena);
}

/* A known cost is used unless the question has a price; if one cost is unknown, all are. */
static void costs_are_kept_or_computed(void **state)
{
    struct world x;

    (void)state;
    world_of_six(&x);
    x.out.goal = HM_GOAL_COST;
    x.w.rate = 2;
    x.c[3].r.cost = 1;
    judge(&x);
    assert_near(x.out.candidates[0].n, 4, 0);
    assert_near(x.out.candidates[0].value, 1, 0);
    assert_near(x.out.candidates[1].cost, 2 * 10, 0);
    assert_int_equal(x.out.note_count, 0);
    x.q.price_per_s = 3;
    judge(&x);
    assert_near(x.out.candidates[0].cost, 3 * 10, 0);
    assert_near(x.out.candidates[2].cost, 3 * 4 * 4, 0);
    hm__arena_free(x.w.arena);
    world_of_six(&x);
    x.out.goal = HM_GOAL_COST;
    x.c[3].r.cost = 1;
    judge(&x); /* Three candidates have no cost: worker-seconds are compared. */
    assert_near(x.out.candidates[0].n, 1, 0);
    assert_near(x.out.candidates[2].value, 16, 0);
    x.q.budget = 5;
    struct hm_err err = {0};
    assert_int_equal(hm__recommend_judge(&x.w, &err), HM_E_MISSING);
    assert_string_equal(err.field, "budget");
    hm__arena_free(x.w.arena);
}

/* Candidates beyond the limits come after those within the limits, in the order of their excess. */
static void limits_come_before_values(void **state)
{
    static const double by_deadline[] = {2, 4, 8, 1, 32}, none[] = {1, 2, 4, 8, 32};
    struct world x;

    (void)state;
    world_of_six(&x);
    x.out.goal = HM_GOAL_COST;
    x.q.price_per_s = 1;
    x.q.deadline_s = 6; /* 1 worker takes 10 s. */
    judge(&x);
    check_order(&x, by_deadline, 5);
    assert_true(x.out.candidates[0].feasible && !x.out.candidates[3].feasible);
    x.q.deadline_s = 0;
    x.q.budget = 9.5; /* The least cost is 10, so no candidate is within this budget. */
    judge(&x);
    check_order(&x, none, 5);
    assert_int_equal(x.out.best, HM_NONE);
    assert_string_equal(x.out.missed, "budget");
    x.q.budget = 10;
    judge(&x);
    assert_int_equal(x.out.best, 0);
    x.q.deadline_s = 9; /* 10 s / 9 s is a smaller excess than 12 / 10. */
    judge(&x);
    assert_string_equal(x.out.missed, "deadline and budget");
    check_order(&x, none, 5);
    x.q.deadline_s = 8; /* 10 s / 8 s is a larger excess than 12 / 10. */
    judge(&x);
    assert_near(x.out.candidates[0].n, 2, 0);
    x.q.deadline_s = 2;
    judge(&x);
    assert_string_equal(x.out.missed, "deadline");
    hm__arena_free(x.w.arena);
}

/* ---- certainty ------------------------------------------------------------------------------- */

static void certainty_is_a_share_of_draws(void **state)
{
    struct world x;

    (void)state;
    world_init(&x, HM_RECOMMEND_FIT, one_to_eight, 3);
    world_set_time(&x, 0, 10, 0);
    world_set_time(&x, 1, 12, 0);
    world_set_time(&x, 2, 14, 0);
    world_set_draws(&x, 0, 5, 13, 10);
    world_set_draws(&x, 1, 3, 12, 12.5);
    world_set_draws(&x, 2, 0, 0, 14);
    judge(&x);
    assert_near(x.out.sure, 15 / 20., 1e-15);
    world_set_draws(&x, 1, 3, 12, 13); /* If two draws are equal, the first candidate wins. */
    judge(&x);
    assert_near(x.out.sure, 17 / 20., 1e-15);
    world_set_draws(&x, 2, 20, 9, 9);
    judge(&x);
    assert_near(x.out.sure, 0, 0);
    world_set_draws(&x, 0, 0, 0, 8);
    judge(&x);
    assert_near(x.out.sure, 0.99, 0); /* 0.99 is the largest probability that is stated. */
    x.out.row_count = 3;              /* From 3 runs at most 3.5/4 is stated. */
    judge(&x);
    assert_near(x.out.sure, 0.875, 1e-15);
    x.out.row_count = 1000;
    x.q.deadline_s = 10; /* Candidates over the limit are never the best. */
    world_set_draws(&x, 0, 2, 11, 10);
    world_set_draws(&x, 2, 20, 9, 9);
    judge(&x);
    assert_near(x.out.sure, 0.99, 1e-15);
    hm__arena_free(x.w.arena);
}

/* Only candidates within the budget are compared. */
static void certainty_respects_the_budget(void **state)
{
    struct world x;

    (void)state;
    world_init(&x, HM_RECOMMEND_FIT, one_to_eight, 2);
    world_set_time(&x, 0, 10, 0);
    world_set_time(&x, 1, 12, 0);
    world_set_draws(&x, 0, 4, 14, 9);
    world_set_draws(&x, 1, 0, 0, 13);
    x.q.price_per_s = 2; /* The costs are 20 and 48. */
    x.q.budget = 48;
    judge(&x);
    assert_near(x.out.sure, 16 / 20., 1e-15);
    x.q.budget = 47;
    judge(&x);
    assert_near(x.out.sure, 0.99, 1e-15);
    hm__arena_free(x.w.arena);
}

static void certainty_may_be_unknown(void **state)
{
    struct world x;

    (void)state;
    world_init(&x, HM_RECOMMEND_FIT, one_to_eight, 3);
    world_set_time(&x, 0, 10, 0);
    world_set_time(&x, 1, 12, 0);
    world_set_draws(&x, 0, 5, 13, 10);
    world_set_draws(&x, 1, 0, 0, 12);
    judge(&x);
    assert_true(isnan(x.out.sure)); /* The third candidate, which has no time, may be better. */
    x.c[2].floor_s = 10;
    judge(&x);
    assert_true(isnan(x.out.sure));
    x.c[2].floor_s = 10.5;
    judge(&x);
    assert_near(x.out.sure, 15 / 20., 1e-15);
    x.c[2].floor_s = NAN;
    x.c[2].r.failed = true;
    judge(&x);
    assert_near(x.out.sure, 15 / 20., 1e-15);
    x.c[1].draws = NULL;
    judge(&x);
    assert_true(isnan(x.out.sure));
    world_set_draws(&x, 1, 0, 0, 12);
    x.c[1].known = false; /* Only one candidate has a time. */
    x.c[1].r.failed = true;
    judge(&x);
    assert_true(isnan(x.out.sure));
    hm__arena_free(x.w.arena);
    world_init(&x, HM_RECOMMEND_FIT, one_to_eight, 1);
    world_set_time(&x, 0, 10, 0);
    world_set_draws(&x, 0, 5, 13, 10);
    judge(&x);
    assert_true(isnan(x.out.sure));
    hm__arena_free(x.w.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_without_a_fit_propose_the_nearest_n),
        cmocka_unit_test(rows_with_a_fit_propose_the_likeliest_n),
        cmocka_unit_test(rows_compare_values_and_not_times),
        cmocka_unit_test(lower_bounds_may_be_better),
        cmocka_unit_test(fits_propose_a_lower_bound_first),
        cmocka_unit_test(fits_propose_the_largest_gain),
        cmocka_unit_test(sure_fits_propose_only_what_is_worth_it),
        cmocka_unit_test(nothing_proposes_the_fastest_or_twice_n),
        cmocka_unit_test(nothing_proposes_the_first_n_of_the_question),
        cmocka_unit_test(the_next_run_has_the_place_of_the_question),
        cmocka_unit_test(candidates_are_ordered_by_value),
        cmocka_unit_test(equal_values_are_ordered_by_n),
        cmocka_unit_test(balance_weighs_time_and_cost),
        cmocka_unit_test(costs_are_kept_or_computed),
        cmocka_unit_test(limits_come_before_values),
        cmocka_unit_test(certainty_is_a_share_of_draws),
        cmocka_unit_test(certainty_respects_the_budget),
        cmocka_unit_test(certainty_may_be_unknown),
    };
    return cmocka_run_group_tests_name("exact_next", tests, NULL, NULL);
}
