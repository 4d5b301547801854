/*
 * Tests the decisions of a steered training, with runs whose losses are known functions of time:
 * which trials are made, which run continues, and how long it is expected to take.
 */
#include "testing.h"

#include <math.h>
#include <stdlib.h>

#include "steer_plan.h"
#include "steer_sheet.h"

/* ---- lines ----------------------------------------------------------------------------------- */

static struct steer_task a_task(void)
{
    struct steer_task task = {.algorithms = {"a", "b", "c", "d"},
                              .algorithm_count = 4,
                              .m = {1, 2, 4, 8, 16, 32, 64, 128},
                              .m_count = 8,
                              .target = 1e-4,
                              .best = 0,
                              .within_s = INFINITY,
                              .cost = INFINITY,
                              .price_per_s = NAN,
                              .goal = HM_GOAL_TIME,
                              .iterations = 1e9,
                              .explore_s = INFINITY,
                              .frame_s = NAN,
                              .nodes = 128,
                              .together = true,
                              .virtual_time = true,
                              .switch_s = 1};

    return task;
}

static struct steer_state *a_state(const struct steer_task *task)
{
    struct steer_state *state = calloc(1, sizeof(*state));

    assert_non_null(state);
    state->task = task;
    state->leader = state->reached = state->last_m = -1;
    return state;
}

static void free_state(struct steer_state *state)
{
    steer_state_release(state);
    free(state);
}

/*
 * Adds a run with `count` points whose loss is from * exp(-rate t), with an iteration every
 * `seconds`.
 */
static size_t add_line(struct steer_state *state, size_t algorithm, size_t m, double from,
                       double rate, double seconds, size_t count)
{
    size_t number = (size_t)steer_line_add(state, algorithm, m, -1);
    struct steer_line *line = &state->lines[number];

    for (size_t i = 1; i <= count; i++) {
        double t = (double)i * seconds;
        assert_true(steer_line_point(
            line, &(struct steer_point){(double)i, from * exp(-rate * t), seconds, t}));
    }
    line->clock_s = (double)count * seconds;
    line->piece = 0;
    return number;
}

static struct steer_model a_model(const struct steer_state *state)
{
    struct steer_model model;
    struct hm_err err = {0};

    assert_int_equal(steer_model_fit(&model, state, state->now_s, &err), 0);
    return model;
}

/* ---- trials ---------------------------------------------------------------------------------- */

static void trials_side_by_side_fit_the_nodes(void **unused)
{
    struct steer_task task = a_task();
    struct steer_trial trials[STEER_ALGORITHMS * STEER_M];
    double used = 0;

    (void)unused;
    size_t count = steer_plan_together(&task, trials);
    assert_int_equal(count, 20); /* Four algorithms on 1, 2, 4, 8 and 16 workers need 124 nodes. */
    for (size_t i = 0; i < count; i++) {
        used += task.m[trials[i].m];
        if (i < 4) { /* The first trials are those of all algorithms on the central number of
                        workers. */
            assert_int_equal(trials[i].algorithm, i);
            assert_true(task.m[trials[i].m] == 8);
        }
    }
    assert_true(used == 124);
    task.nodes =
        32; /* The central number of workers is 4, so that trials on 2 and 1 workers fit too. */
    count = steer_plan_together(&task, trials);
    assert_true(task.m[trials[0].m] == 4);
    assert_true(count >= 12);
    /* According to the specification sheet, 8 workers have the least f(m) sqrt(m), so all
     * algorithms are tried on 8 workers. */
    task.has_sheet = true;
    for (size_t i = 0; i < task.m_count; i++)
        task.sheet_s[i] = 1 / task.m[i] + 0.02 * log2(task.m[i]);
    assert_true(task.m[steer_plan_first(&task)] == 8);
    assert_int_equal(steer_plan_together(&task, trials), 4);
    for (size_t i = 0; i < 4; i++)
        assert_true(task.m[trials[i].m] == 8 && trials[i].algorithm == i);
    task.nodes = 20; /* The nodes do not suffice to try four algorithms on 8 workers; after those on
                        4 workers, no other trial fits. */
    count = steer_plan_together(&task, trials);
    assert_true(task.m[trials[0].m] == 4 && task.m[trials[3].m] == 4);
    assert_true(count == 6 && task.m[trials[5].m] == 2);
    task.nodes = 128; /* The nodes suffice for the middle number, 8, and all smaller ones, so no
                         specification sheet is needed. */
    task.sheet_s[0] = 1e-9;
    assert_int_equal(steer_plan_together(&task, trials), 20);
    assert_true(task.m[trials[0].m] == 8);
    task.has_sheet = false;
    task.nodes = 1; /* One trial is made in any case. */
    assert_int_equal(steer_plan_together(&task, trials), 1);
    assert_true(task.m[trials[0].m] == 1);
}

static void trials_alone_try_algorithms_and_then_workers(void **unused)
{
    struct steer_task task = a_task();
    struct steer_trial trial;

    (void)unused;
    task.together = false;
    task.algorithm_count = 2;
    struct steer_state *state = a_state(&task);
    struct steer_model model = a_model(state);
    assert_true(steer_plan_next(state, &model, &trial));
    assert_true(trial.algorithm == 0 && task.m[trial.m] == 8);
    steer_model_release(&model);

    /* The trial takes 2 s, and the target is about 900 s away. */
    add_line(state, 0, 3, 1, 0.01, 1, 2);
    state->now_s = 2;
    model = a_model(state);
    assert_true(steer_plan_next(state, &model, &trial));
    assert_true(trial.algorithm == 1 && task.m[trial.m] == 8);
    steer_model_release(&model);

    add_line(state, 1, 3, 1, 0.02, 1, 2);
    model = a_model(state);
    /* The next trial is on more workers, where iterations are faster. */
    assert_true(steer_plan_next(state, &model, &trial));
    assert_true(trial.algorithm == 1 && task.m[trial.m] == 32);
    add_line(state, 1, 5, 1, 0.01, 1, 2);
    assert_true(steer_plan_next(state, &model, &trial));
    assert_true(trial.algorithm == 1 && task.m[trial.m] == 2);
    add_line(state, 1, 1, 1, 0.01, 1, 2);
    assert_false(steer_plan_next(state, &model, &trial));
    steer_model_release(&model);
    free_state(state);
}

static void trials_end_when_little_time_is_left(void **unused)
{
    struct steer_task task = a_task();
    struct steer_trial trial;

    (void)unused;
    task.together = false;
    struct steer_state *state = a_state(&task);
    add_line(state, 0, 3, 1, 4, 1, 2); /* The run needs ln(1e4) / 4 = 2.3 s in total. */
    state->now_s = 2;
    struct steer_model model = a_model(state);
    assert_false(steer_plan_next(state, &model, &trial));
    steer_model_release(&model);
    free_state(state);
}

/* Without a specification sheet the first trial is on the middle number of workers; with one, it is
 * on the m with the least f(m) sqrt(m). The times are those of the case study and of its slower
 * network, with 9 million entries. */
static void the_first_trial_follows_the_sheet(void **unused)
{
    struct steer_task task = a_task();
    const struct steer_sheet fast = {1.5e9, 125e6, 1e-4}, slow = {1.5e9, 12.5e6, 5e-4},
                             unknown = {NAN, 125e6, 1e-4};

    (void)unused;
    assert_true(task.m[steer_plan_first(&task)] == 8);
    steer_sheet_fill(&task, 9e6, 784, &fast);
    assert_true(task.has_sheet);
    assert_near(task.sheet_s[0], 0.012, 1e-12);
    assert_near(task.sheet_s[3], 0.0015 + 6 * (1e-4 + 784 * 8 / 125e6), 1e-12);
    assert_true(task.m[steer_plan_first(&task)] == 8);
    steer_sheet_fill(&task, 9e6, 784, &slow);
    assert_true(task.m[steer_plan_first(&task)] == 2);
    steer_sheet_fill(&task, 9e8, 784, &slow); /* The data has a hundred times as many entries. */
    assert_true(task.m[steer_plan_first(&task)] == 64);
    steer_sheet_fill(&task, 9e6, 784, &unknown);
    assert_false(task.has_sheet);
}

static void algorithms_are_tried_in_the_usual_order(void **unused)
{
    static const char *const names[] = {"mine", "gd", "cocoa", "other", "cocoa+"};
    static const size_t order[] = {4, 2, 1, 0, 3};
    struct steer_task task = a_task();

    (void)unused;
    task.algorithm_count = 5;
    for (size_t i = 0; i < 5; i++)
        task.algorithms[i] = names[i];
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(steer_plan_algorithm(&task, i), order[i]);
}

/*
 * After frame 0, a trial of another choice may take a tenth of the time that is left, or half of
 * the time so far if the current run makes no progress. A trial needs three iterations, and the
 * current run must be expected to take longer than the trial.
 */
static void a_line_without_progress_is_challenged(void **unused)
{
    struct steer_task task = a_task();
    struct steer_choice leader = {.line = 0, .algorithm = 0, .m = 3, .expected_s = 20};
    struct steer_trial trial = {9, 9};
    double seconds = 0;

    (void)unused;
    task.together = false;
    struct steer_state *state = a_state(&task);
    add_line(state, 0, 3, 1, 0.01, 1, 10);
    state->now_s = 10;
    struct steer_model model = a_model(state);
    assert_false(steer_plan_retry(state, &model, &leader, &trial, &seconds));
    leader.expected_s = NAN;
    assert_true(steer_plan_retry(state, &model, &leader, &trial, &seconds));
    assert_true(seconds == 5 && trial.m == 3 && trial.algorithm == 1);
    leader.expected_s = 40;
    assert_true(steer_plan_retry(state, &model, &leader, &trial, &seconds));
    assert_true(seconds == 4);
    /* A change of 1 s and a trial of 10 s cannot pay off if the current run is expected to reach
     * the target in 11 s. */
    state->now_s = 100;
    leader.expected_s = 11;
    assert_false(steer_plan_retry(state, &model, &leader, &trial, &seconds));
    leader.expected_s = 12;
    assert_true(steer_plan_retry(state, &model, &leader, &trial, &seconds));
    assert_true(seconds == 10);
    state->now_s = 5;
    leader.expected_s = NAN;
    assert_false(steer_plan_retry(state, &model, &leader, &trial, &seconds));
    steer_model_release(&model);
    free_state(state);
}

/* ---- estimates and choices ------------------------------------------------------------------- */

static void times_follow_the_rate_of_a_line(void **unused)
{
    struct steer_task task = a_task();
    struct steer_state *state = a_state(&task);

    (void)unused;
    size_t few = add_line(state, 0, 3, 1, 0.5, 1, 3);
    state->now_s = 3;
    struct steer_model model = a_model(state);
    /* The time from exp(-1.5) to 1e-4 at a rate of 0.5 per second is (ln 1e4 - 1.5) / 0.5 = 15.42
     * s. */
    assert_near(steer_model_line(&model, &state->lines[few]).time_s, 15.420680743952367, 1e-12);
    /* Points after the current time are not known yet. */
    state->now_s = 2;
    steer_model_release(&model);
    model = a_model(state);
    assert_near(steer_model_line(&model, &state->lines[few]).time_s, 16.420680743952367, 1e-12);
    steer_model_release(&model);
    free_state(state);
}

static void a_long_line_is_judged_by_the_models(void **unused)
{
    struct steer_task task = a_task();
    struct steer_state *state = a_state(&task);

    (void)unused;
    /* The rate per iteration does not depend on the number of workers m. */
    for (size_t m = 0; m < 4; m++)
        add_line(state, 0, m, 1, 0.3, 1, 12);
    state->now_s = 12;
    struct steer_model model = a_model(state);
    double expected = (log(1e4) - 3.6) / 0.3;
    double found = steer_model_line(&model, &state->lines[2]).time_s;
    assert_true(fabs(found / expected - 1) < 0.15);
    steer_model_release(&model);
    free_state(state);
}

static void the_first_at_the_target_leads(void **unused)
{
    struct steer_task task = a_task();
    struct steer_state *state = a_state(&task);
    struct steer_choice choice;

    (void)unused;
    add_line(state, 0, 3, 1, 0.5, 1, 3);
    /* Add a run with a larger loss that decreases faster. */
    size_t fast = add_line(state, 1, 3, 4, 1, 1, 3);
    state->now_s = 3;
    struct steer_model model = a_model(state);
    assert_true(steer_plan_choose(state, &model, &choice));
    assert_int_equal(choice.line, (long)fast);
    assert_int_equal(choice.why, STEER_WHY_LEADS);
    assert_near(choice.expected_s, log(4e4) - 3, 1e-12);
    assert_near(choice.rival_s, (log(1e4) - 1.5) / 0.5, 1e-12);
    steer_model_release(&model);
    free_state(state);
}

static void small_gains_do_not_change_the_line(void **unused)
{
    struct steer_task task = a_task();
    struct steer_state *state = a_state(&task);
    struct steer_choice choice;

    (void)unused;
    state->leader = (long)add_line(state, 0, 3, 1, 0.5, 1, 3);
    add_line(state, 1, 3, 1, 0.52, 1, 3);
    state->now_s = 3;
    struct steer_model model = a_model(state);
    assert_true(steer_plan_choose(state, &model, &choice));
    assert_int_equal(choice.line, state->leader);
    assert_int_equal(choice.why, STEER_WHY_STAY);
    steer_model_release(&model);
    free_state(state);
}

static void the_cost_of_a_switch_counts(void **unused)
{
    struct steer_task task = a_task();
    struct steer_state *state = a_state(&task);
    struct steer_choice choice;

    (void)unused;
    task.together = false;
    state->leader = (long)add_line(state, 0, 3, 1.2, 0.5, 1, 3);
    /* The other run needs 12.9 s, compared with 15.8 s. */
    size_t other = add_line(state, 1, 4, 1, 0.6, 1, 3);
    state->lines[other].state = STEER_PAUSED;
    state->now_s = 3;
    struct steer_model model = a_model(state);
    task.switch_s = 0.1;
    assert_true(steer_plan_choose(state, &model, &choice));
    assert_int_equal(choice.line, (long)other);
    task.switch_s = 5;
    assert_true(steer_plan_choose(state, &model, &choice));
    assert_int_equal(choice.line, state->leader);
    /* In a simulation, another algorithm on the same workers costs no time. */
    task.moves_only = true;
    assert_true(steer_plan_switch_s(state, 4, 4) == 0);
    assert_true(steer_plan_switch_s(state, 4, 3) == 5);
    steer_model_release(&model);
    free_state(state);
}

static void failed_lines_are_not_chosen(void **unused)
{
    struct steer_task task = a_task();
    struct steer_state *state = a_state(&task);
    struct steer_choice choice;

    (void)unused;
    state->lines[add_line(state, 0, 3, 1, 0.5, 1, 3)].state = STEER_FAILED;
    state->now_s = 3;
    struct steer_model model = a_model(state);
    assert_false(steer_plan_choose(state, &model, &choice));
    assert_int_equal(steer_plan_best_state(state), -1);
    steer_model_release(&model);
    free_state(state);
}

static void challengers_use_idle_nodes(void **unused)
{
    struct steer_task task = a_task();
    struct steer_state *state = a_state(&task);
    struct steer_choice choice;
    long lines[STEER_CHALLENGERS];

    (void)unused;
    size_t leader = add_line(state, 0, 3, 1, 1, 1, 3);
    add_line(state, 0, 4, 1, 0.9, 1, 3);
    size_t other = add_line(state, 1, 3, 1, 0.5, 1, 3);
    add_line(state, 1, 2, 1, 0.4, 1, 3);
    add_line(state, 2, 7, 1, 0.8, 1, 3); /* The run needs 128 workers, but fewer nodes are idle. */
    state->now_s = 3;
    struct steer_model model = a_model(state);
    assert_true(steer_plan_choose(state, &model, &choice));
    assert_int_equal(choice.line, (long)leader);
    size_t count = steer_plan_challengers(state, &model, &choice, lines);
    assert_int_equal(count, 3);
    assert_int_equal(lines[0],
                     (long)other); /* The first challenger has another algorithm than the leader. */
    task.together = false;
    assert_int_equal(steer_plan_challengers(state, &model, &choice, lines), 0);
    steer_model_release(&model);
    free_state(state);
}

static void nothing_is_tried_twice_from_one_state(void **unused)
{
    struct steer_task task = a_task();
    struct steer_state *state = a_state(&task);
    struct steer_choice choice;

    (void)unused;
    task.together = false;
    task.switch_s = 0;
    size_t slow = add_line(state, 0, 3, 1, 0.2, 1, 3);
    size_t fast = add_line(state, 1, 3, 2, 0.6, 1, 2);
    state->lines[fast].state = STEER_PAUSED;
    state->leader = (long)slow;
    state->now_s = 3;
    struct steer_model model = a_model(state);
    /* The choice is algorithm b, started from the checkpoint of algorithm a. */
    assert_true(steer_plan_choose(state, &model, &choice));
    assert_true(choice.line == -1 && choice.algorithm == 1 && choice.parent == (long)slow);
    size_t tried = (size_t)steer_line_add(state, 1, 3, (long)slow);
    state->lines[tried].from_loss = steer_line_loss(&state->lines[slow], INFINITY);
    state->lines[tried].state = STEER_PAUSED;
    assert_true(steer_plan_choose(state, &model, &choice));
    assert_int_equal(choice.line, (long)slow);
    steer_model_release(&model);
    free_state(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trials_side_by_side_fit_the_nodes),
        cmocka_unit_test(trials_alone_try_algorithms_and_then_workers),
        cmocka_unit_test(trials_end_when_little_time_is_left),
        cmocka_unit_test(the_first_trial_follows_the_sheet),
        cmocka_unit_test(algorithms_are_tried_in_the_usual_order),
        cmocka_unit_test(a_line_without_progress_is_challenged),
        cmocka_unit_test(times_follow_the_rate_of_a_line),
        cmocka_unit_test(a_long_line_is_judged_by_the_models),
        cmocka_unit_test(the_first_at_the_target_leads),
        cmocka_unit_test(small_gains_do_not_change_the_line),
        cmocka_unit_test(the_cost_of_a_switch_counts),
        cmocka_unit_test(failed_lines_are_not_chosen),
        cmocka_unit_test(challengers_use_idle_nodes),
        cmocka_unit_test(nothing_is_tried_twice_from_one_state),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
