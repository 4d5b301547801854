/*
 * Runs the loop of Hemingway's Figure 2 (Pan, Venkataraman, Tai, Gonzalez 2016) for a training job.
 * A frame is the time between two decisions.
 *
 * Frame 0 executes trials. If several runs may be active at the same time on different nodes, all
 * trials start together, and the frame ends when every algorithm has performed TRIAL_TOGETHER
 * iterations on the middle number of workers; otherwise trials of TRIAL_ALONE iterations run one
 * after another. Before each later frame, the models are fitted to all points so far, and the run
 * that is expected to reach the target loss first is chosen. A frame lasts a third of the remaining
 * time.
 *
 * All times are measured by one clock. In a simulation, it counts the time of the simulated
 * iterations, and a change of the number of workers takes the time to move the checkpoint to one
 * node and from there to the new ranks. If the ranks are not simulated, it counts the wall time of
 * all processes, including their start.
 */
#include "steer_session.h"

#include <math.h>
#include <stdlib.h>

#include "child.h"
#include "folder_lock.h"
#include "steer_output.h"

enum {
    TRIAL_TOGETHER = 2,
    TRIAL_ALONE = 2,
    FRAME_ITERATIONS = 2,
    NEW_ITERATIONS = 4,
    IDLE_DOUBLINGS = 20
};

/*
 * FRAME_SHARE is the length of a frame as a share of the expected time to the target. STARTUPS is
 * the minimum length of a frame if the ranks are not simulated, as a multiple of the time to start
 * them.
 */
static const double FRAME_SHARE = 1.0 / 3, STARTUPS = 20;

/* Maximum time of a trial that runs alone, as a multiple of the time of the first trial. */
static const double TRIAL_LIMIT = 2;

void steer_session_release(struct steer_session *s)
{
    if (s->state)
        steer_state_release(s->state);
    free(s->state);
    launch_command_release(&s->source.program);
    cli_progress_close(&s->folder.progress);
    launch_folder_unlock(&s->folder.lock);
}

/* ---- time and limits ------------------------------------------------------------------------- */

/* Returns the time of a run's first point whose loss does not exceed the target; INFINITY if there
 * is none. */
static double line_reached_s(const struct steer_state *state, const struct steer_line *line)
{
    for (size_t i = 0; i < line->count; i++)
        if (line->points[i].loss <= state->task->target)
            return line->points[i].clock_s;
    return INFINITY;
}

/*
 * Returns the time at which the first of all runs reaches the target loss; INFINITY if none does.
 */
static double session_reached_s(const struct steer_state *state)
{
    double first = INFINITY;

    for (size_t i = 0; i < state->line_count; i++)
        first = fmin(first, line_reached_s(state, &state->lines[i]));
    return first;
}

static double money_spent(const struct steer_state *state)
{
    return isnan(state->task->price_per_s) ? 0 : state->worker_s * state->task->price_per_s;
}

/* Returns whether the training ends now; if so, sets state->stopped to the reason. */
static bool session_stops(struct steer_state *state)
{
    double reached = session_reached_s(state);

    for (size_t i = 0; isfinite(reached) && i < state->line_count; i++)
        if (line_reached_s(state, &state->lines[i]) == reached)
            state->reached = (long)i;
    if (isfinite(reached)) {
        state->stopped = "loss";
        state->now_s = reached;
    } else if (state->now_s >= state->task->within_s)
        state->stopped = "time";
    else if (money_spent(state) >= state->task->cost)
        state->stopped = "budget";
    else if (state->decision_count == STEER_DECISIONS || state->line_count == STEER_LINES)
        state->stopped = "frames";
    return state->stopped != NULL;
}

/*
 * Returns the time in seconds for which a run on m workers may continue within the limits on time
 * and cost.
 */
static double limit_s(const struct steer_state *state, double from_s, double m)
{
    double left = state->task->within_s - from_s;

    if (isfinite(state->task->cost))
        left =
            fmin(left, (state->task->cost - money_spent(state)) / (m * state->task->price_per_s));
    return fmax(left, 0);
}

/*
 * Sets the time to change the number of workers in a simulation: the checkpoint moves to one node,
 * and from there to the new ranks.
 */
static void session_price_switch(struct steer_session *s)
{
    if (!s->task.virtual_time || s->switch_given || isnan(s->folder.bytes))
        return;
    s->task.moves_only = true;
    s->task.switch_s = 2 * (s->latency_s + s->folder.bytes / s->bandwidth_bytes_per_s);
    if (isnan(s->task.switch_s))
        s->task.switch_s = 0;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static struct steer_decision *decision_add(struct steer_state *state, size_t line,
                                           enum steer_why why)
{
    struct steer_decision *d = &state->decisions[state->decision_count];

    if (state->decision_count < STEER_DECISIONS - 1)
        state->decision_count++;
    *d = (struct steer_decision){.frame = state->frame,
                                 .line = line,
                                 .why = why,
                                 .at_s = state->now_s,
                                 .from_loss = steer_line_loss(&state->lines[line], state->now_s),
                                 .expected_s = NAN,
                                 .rival_s = NAN,
                                 .expected_loss = NAN,
                                 .until_s = NAN,
                                 .ended_s = NAN,
                                 .achieved_loss = NAN};
    return d;
}

/* Continues the run of a decision, and stores the result in the decision. */
static int session_piece(struct steer_session *s, struct steer_decision *d,
                         const struct steer_limits *limits)
{
    const struct steer_line *line = &s->state->lines[d->line];
    int rc = launch_interrupted() ? EXIT_INTERRUPTED : 0;

    rc = rc ? rc : steer_folder_piece(&s->folder, s->state, d->line, limits);
    if (rc)
        return rc;
    d->ended_s = line->clock_s;
    d->achieved_loss = steer_line_loss(line, line->clock_s);
    return 0;
}

/* ---- frame 0 --------------------------------------------------------------------------------- */

static int trial_piece(struct steer_session *s, size_t line, double iterations, double seconds)
{
    struct steer_state *state = s->state;
    struct steer_decision *d = decision_add(state, line, STEER_WHY_TRY);
    struct steer_limits limits = {
        iterations,
        fmin(seconds, limit_s(state, state->now_s, steer_line_m(state, &state->lines[line])))};

    d->until_s = state->lines[line].clock_s + limits.seconds;
    return session_piece(s, d, &limits);
}

/* Continues all trials until `end_s`, the end of frame 0. */
static int session_extend_trials(struct steer_session *s, double end_s)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < s->state->line_count; i++) {
        const struct steer_line *line = &s->state->lines[i];
        if (line->state == STEER_RUNNING && line->clock_s < end_s)
            rc = trial_piece(s, i, INFINITY, end_s - line->clock_s);
    }
    return rc;
}

static int session_try_together(struct steer_session *s)
{
    struct steer_state *state = s->state;
    struct steer_trial trials[STEER_ALGORITHMS * STEER_M];
    size_t count = steer_plan_together(&s->task, trials), centre = steer_plan_centre(&s->task);
    double end_s = 0;
    int rc = 0;

    for (size_t i = 0; i < count; i++)
        steer_line_add(state, trials[i].algorithm, trials[i].m, -1);
    for (size_t i = 0; rc == 0 && i < state->line_count; i++)
        if (state->lines[i].m == centre) {
            rc = trial_piece(s, i, TRIAL_TOGETHER, s->task.explore_s);
            end_s = fmax(end_s, state->lines[i].clock_s);
        }
    end_s = fmin(fmin(end_s, s->task.explore_s), session_reached_s(state));
    rc = rc ? rc : session_extend_trials(s, end_s);
    state->now_s = end_s;
    return rc;
}

/*
 * Adds a run for a trial. It starts from the checkpoint with the smallest loss so far, so that
 * earlier iterations are not lost.
 */
static size_t session_add_trial(struct steer_session *s, const struct steer_trial *trial)
{
    struct steer_state *state = s->state;
    long parent = steer_plan_best_state(state);
    size_t number = (size_t)steer_line_add(state, trial->algorithm, trial->m, parent);
    struct steer_line *line = &state->lines[number];

    if (parent >= 0) {
        session_price_switch(s);
        line->from_loss = steer_line_loss(&state->lines[parent], INFINITY);
        line->clock_s = line->started_s =
            state->now_s + steer_plan_switch_s(state, (long)state->lines[parent].m, trial->m);
    }
    return number;
}

/*
 * Discards a simulated trial whose first iteration ends after its time limit `end_s`: the trial
 * counts as failed and is not continued.
 */
static void trial_cut(const struct steer_task *task, struct steer_line *line, double end_s)
{
    if (!task->virtual_time || line->count == 0 || line->points[0].clock_s <= end_s)
        return;
    line->count = 0;
    line->clock_s = end_s;
    line->state = STEER_FAILED;
}

static int session_try_next(struct steer_session *s, bool *ret_more)
{
    struct steer_state *state = s->state;
    struct steer_model model = {0};
    struct steer_trial trial;
    struct hm_err err = {0};

    int rc = steer_model_fit(&model, state, state->now_s, &err) ? cli_report(&err) : 0;
    *ret_more = rc == 0 && steer_plan_next(state, &model, &trial);
    steer_model_release(&model);
    if (!*ret_more)
        return rc;
    double most = s->task.explore_s - state->now_s;
    if (state->line_count > 0)
        most = fmin(most, TRIAL_LIMIT * (state->lines[0].clock_s - state->lines[0].started_s));
    size_t number = session_add_trial(s, &trial);
    struct steer_line *line = &state->lines[number];
    double end_s = line->clock_s + most;
    rc = trial_piece(s, number, TRIAL_ALONE, most);
    if (number > 0)
        trial_cut(&s->task, line, end_s);
    state->now_s = fmax(state->now_s, line->clock_s);
    for (size_t i = 0; i < number; i++)
        if (state->lines[i].state == STEER_RUNNING)
            state->lines[i].state = STEER_PAUSED;
    return rc;
}

static int session_try_alone(struct steer_session *s)
{
    bool more = true;
    int rc = 0;

    while (rc == 0 && more && s->state->now_s < s->task.explore_s && !session_stops(s->state))
        rc = session_try_next(s, &more);
    return rc;
}

/* ---- later frames ---------------------------------------------------------------------------- */

/*
 * Starts or continues the chosen run, after the time that the change takes. Returns the index of
 * the run.
 */
static size_t session_follow(struct steer_session *s, const struct steer_choice *choice)
{
    struct steer_state *state = s->state;
    long number = choice->line;

    if (number < 0) {
        const struct steer_line *parent = &state->lines[choice->parent];
        double from = fmax(state->now_s, parent->clock_s);
        number = steer_line_add(state, choice->algorithm, choice->m, choice->parent);
        state->lines[number].from_loss = parent->points[parent->count - 1].loss;
        state->lines[number].started_s = state->lines[number].clock_s = from + choice->switch_s;
    } else if (state->lines[number].state == STEER_PAUSED)
        state->lines[number].clock_s =
            fmax(state->now_s, state->lines[number].clock_s) + choice->switch_s;
    state->lines[number].state = STEER_RUNNING;
    return (size_t)number;
}

/*
 * Returns the expected time of an iteration of a new run in seconds. This is the time of the last
 * run with the same algorithm and number of workers or, if there is none, the time of the parent
 * run.
 */
static double new_line_seconds(const struct steer_state *state, const struct steer_line *line)
{
    const struct steer_line *like = line->parent >= 0 ? &state->lines[line->parent] : line;

    for (size_t i = 0; i < state->line_count; i++) {
        const struct steer_line *other = &state->lines[i];
        if (other->algorithm == line->algorithm && other->m == line->m && other->count > 0)
            like = other;
    }
    return like->count > 0 ? like->points[like->count - 1].seconds : 0;
}

static double frame_length(const struct steer_session *s, const struct steer_choice *choice,
                           const struct steer_line *line)
{
    const struct steer_state *state = s->state;
    /*
     * The loss may rise in the first iterations after a change, so a new run is given more
     * iterations.
     */
    double least = line->count > 0 ? FRAME_ITERATIONS * line->points[line->count - 1].seconds
                                   : NEW_ITERATIONS * new_line_seconds(state, line);
    double left = choice->expected_s - choice->switch_s;

    if (!isnan(s->task.frame_s))
        return s->task.frame_s;
    if (!s->task.virtual_time)
        least = fmax(least, STARTUPS * state->startup_s);
    /* A frame that was too short for an iteration is followed by a frame of twice the length. */
    least = ldexp(least, line->idle < IDLE_DOUBLINGS ? line->idle : IDLE_DOUBLINGS);
    /* If the time to the target is unknown, a frame is as long as the training so far. */
    return fmax(isfinite(left) && left > 0 ? FRAME_SHARE * left : state->now_s, fmax(least, 1e-9));
}

/*
 * Returns the loss that is expected after `after_s` seconds if ln(P - P*) decreases linearly to its
 * value at the target, where P is the loss and P* is the lowest possible loss.
 */
static double expected_loss(const struct steer_model *model, double from_loss, double expected_s,
                            double after_s)
{
    double from = from_loss - model->best, to = model->state->task->target - model->best;

    if (!(from > 0 && to > 0 && isfinite(expected_s) && expected_s > 0))
        return NAN;
    return model->best + from * pow(to / from, fmin(1, after_s / expected_s));
}

static int session_run_leader(struct steer_session *s, const struct steer_model *model,
                              const struct steer_choice *choice)
{
    struct steer_state *state = s->state;
    double from_loss = choice->line >= 0
                           ? steer_line_loss(&state->lines[choice->line], state->now_s)
                           : steer_line_loss(&state->lines[choice->parent], INFINITY);
    size_t number = session_follow(s, choice);
    struct steer_line *line = &state->lines[number];
    double length = frame_length(s, choice, line);
    length = fmin(length, limit_s(state, line->clock_s, steer_line_m(state, line)));
    struct steer_decision *d = decision_add(state, number, choice->why);

    d->from_loss = from_loss;
    d->switch_s = choice->switch_s;
    d->expected_s = choice->expected_s;
    d->rival_s = choice->rival_s;
    d->rival = choice->rival;
    d->until_s = line->clock_s + length;
    d->expected_loss =
        expected_loss(model, from_loss, choice->expected_s, d->until_s - state->now_s);
    state->leader = (long)number;
    size_t before = line->count;
    int rc = session_piece(s, d, &(struct steer_limits){INFINITY, length});
    line->idle = line->count == before ? line->idle + 1 : 0;
    return rc;
}

/*
 * Continues the challengers, which are the runs on idle nodes, until `until_s`, when the child
 * process of the chosen run ends.
 */
static int session_run_challengers(struct steer_session *s, const long *lines, size_t count,
                                   double until_s)
{
    struct steer_state *state = s->state;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < count; i++) {
        struct steer_line *line = &state->lines[lines[i]];
        double seconds = fmin(until_s, session_reached_s(state)) - line->clock_s;
        if (!(seconds > 0))
            continue;
        struct steer_decision *d = decision_add(state, (size_t)lines[i], STEER_WHY_CHALLENGE);
        d->until_s = until_s;
        rc = session_piece(s, d, &(struct steer_limits){INFINITY, seconds});
    }
    return rc;
}

static void pause_others(struct steer_state *state, const long *lines, size_t count)
{
    for (size_t i = 0; i < state->line_count; i++) {
        bool kept = (long)i == state->leader;
        for (size_t k = 0; k < count; k++)
            kept = kept || lines[k] == (long)i;
        if (!kept && state->lines[i].state == STEER_RUNNING)
            state->lines[i].state = STEER_PAUSED;
    }
}

/*
 * Executes a trial after the first frame, in which all trials of the start were made. Active runs
 * are paused first, so that the trial runs alone; they can be continued from their checkpoints.
 */
static int session_retry(struct steer_session *s, const struct steer_trial *trial, double seconds)
{
    struct steer_state *state = s->state;

    for (size_t i = 0; i < state->line_count; i++)
        if (state->lines[i].state == STEER_RUNNING)
            state->lines[i].state = STEER_PAUSED;
    size_t number = session_add_trial(s, trial);
    struct steer_line *line = &state->lines[number];
    double end_s = line->clock_s + seconds;
    int rc = trial_piece(s, number, INFINITY, seconds);

    trial_cut(&s->task, line, end_s);
    if (line->state == STEER_RUNNING)
        line->state = STEER_PAUSED;
    state->now_s = fmax(state->now_s, line->clock_s);
    return rc;
}

static int session_frame(struct steer_session *s)
{
    struct steer_state *state = s->state;
    struct steer_model model = {0};
    struct steer_choice choice = {0};
    long challengers[STEER_CHALLENGERS];
    struct hm_err err = {0};

    state->frame++;
    cli_progress_say(&s->folder.progress, "fitting");
    int rc = steer_model_fit(&model, state, state->now_s, &err) ? cli_report(&err) : 0;
    if (rc == 0 && !steer_plan_choose(state, &model, &choice))
        state->stopped = "no line can go on";
    if (rc || state->stopped) {
        steer_model_release(&model);
        return rc;
    }
    struct steer_trial trial;
    double seconds = 0;
    if (steer_plan_retry(state, &model, &choice, &trial, &seconds)) {
        rc = session_retry(s, &trial, seconds);
        steer_model_release(&model);
        return rc;
    }
    size_t count = steer_plan_challengers(state, &model, &choice, challengers);
    rc = session_run_leader(s, &model, &choice);
    double until_s = state->lines[state->leader].clock_s;
    rc = rc ? rc : session_run_challengers(s, challengers, count, until_s);
    pause_others(state, challengers, count);
    state->now_s = fmax(state->now_s, until_s);
    steer_model_release(&model);
    return rc;
}

int steer_session_run(struct steer_session *s)
{
    int rc = steer_folder_open(&s->folder);

    s->state = calloc(1, sizeof(*s->state));
    if (!s->state)
        return cli_complain("out of memory");
    s->state->task = &s->task;
    s->state->leader = s->state->reached = s->state->last_m = -1;
    s->switch_given = !isnan(s->task.switch_s);
    rc = rc ? rc : s->task.together ? session_try_together(s) : session_try_alone(s);
    s->state->explore_s = s->state->now_s;
    session_price_switch(s);
    while (rc == 0 && !session_stops(s->state)) {
        rc = steer_output_log(&s->folder, s->state);
        rc = rc ? rc : session_frame(s);
    }
    return rc ? rc : steer_output_log(&s->folder, s->state);
}
