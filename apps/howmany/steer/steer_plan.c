/*
 * Makes the decisions of a steered training. Choices (an algorithm and a number of workers) are
 * compared by their expected time to the target loss, including the time for the change; if the
 * goal is the cost, this time is multiplied by the number of workers. The current run continues
 * unless another choice is better by MARGIN, and a choice that was never tried must be better even
 * at the upper end of its interval: gains of a few percent are not reliable, because the progress
 * of a run depends on more than its loss.
 */
#include "steer_plan.h"

#include <math.h>
#include <string.h>

static const double MARGIN = 0.1;

/*
 * Maximum time of a trial, as a share of the expected time to the target: TRIAL_SHARE for a trial
 * of another algorithm, and MOVE_SHARE for a trial of another number of workers. The loss decreases
 * faster in the first iterations than later, so the time to the target is usually longer than
 * expected.
 */
static const double TRIAL_SHARE = 0.25, MOVE_SHARE = 0.25;

/*
 * Limits of a trial after frame 0: RETRY_SHARE is its maximum time, as a share of the expected time
 * to the target, and RETRY_ITERATIONS is the number of iterations of the current run that must fit
 * into this time.
 */
static const double RETRY_SHARE = 0.1;
/* Maximum time of a trial after frame 0, as a share of the time so far, if no time to the target
 * can be estimated. */
static const double LOST_SHARE = 0.5;
enum { RETRY_ITERATIONS = 3 };

/*
 * A challenger is a run that continues alongside the chosen run (the leader) on idle nodes. It
 * continues while it has fewer than CHALLENGER_POINTS points, or while it is expected to need at
 * most SLOWER times as long as the leader.
 */
enum { CHALLENGER_POINTS = 12 };
static const double SLOWER = 3;

static bool line_goes_on(const struct steer_line *line)
{
    return line->state == STEER_RUNNING || line->state == STEER_PAUSED;
}

double steer_plan_switch_s(const struct steer_state *state, long from_m, size_t m)
{
    if (isnan(state->task->switch_s))
        return state->startup_s;
    /*
     * In a simulation, the state is still in the memory of the workers if only the algorithm
     * changes, so the change takes no time.
     */
    return state->task->moves_only && from_m == (long)m ? 0 : state->task->switch_s;
}

/* ---- frame 0 --------------------------------------------------------------------------------- */

size_t steer_plan_middle(const struct steer_task *task)
{
    double middle = 0.5 * (log(task->m[0]) + log(task->m[task->m_count - 1]));
    size_t nearest = 0;

    for (size_t i = 1; i < task->m_count; i++)
        if (fabs(log(task->m[i]) - middle) < fabs(log(task->m[nearest]) - middle))
            nearest = i;
    return nearest;
}

size_t steer_plan_first(const struct steer_task *task)
{
    size_t best = 0;

    if (!task->has_sheet)
        return steer_plan_middle(task);
    for (size_t i = 1; i < task->m_count; i++)
        if (task->sheet_s[i] * sqrt(task->m[i]) < task->sheet_s[best] * sqrt(task->m[best]))
            best = i;
    return best;
}

/*
 * Algorithms in the order in which they are tried one after another: those that usually need fewer
 * passes over the data come first. CoCoA+ needs at most as many passes as CoCoA (Ma et al. 2015);
 * both of these and L-BFGS need fewer passes than gradient methods. Algorithms that are not listed
 * come last, in their given order.
 */
static const char *const usual_order[] = {"cocoa+",    "cocoa",    "lbfgs",     "splash", "adam",
                                          "mini-sdca", "momentum", "local-sgd", "sgd",    "gd"};

static size_t algorithm_rank(const struct steer_task *task, size_t algorithm)
{
    size_t count = sizeof(usual_order) / sizeof(usual_order[0]), rank = 0;

    while (rank < count && strcmp(usual_order[rank], task->algorithms[algorithm]) != 0)
        rank++;
    return rank;
}

size_t steer_plan_algorithm(const struct steer_task *task, size_t place)
{
    for (size_t a = 0; a < task->algorithm_count; a++) {
        size_t before = 0, own = algorithm_rank(task, a);
        for (size_t b = 0; b < task->algorithm_count; b++) {
            size_t rank = algorithm_rank(task, b);
            before += rank < own || (rank == own && b < a);
        }
        if (before == place)
            return a;
    }
    return place;
}

/*
 * Returns whether there are enough nodes to try every algorithm at the same time on the number of
 * workers with index m and, if `smaller` is true, also on all smaller numbers.
 */
static bool nodes_suffice(const struct steer_task *task, size_t m, bool smaller)
{
    double sum = 0;

    for (size_t i = smaller ? 0 : m; i <= m; i++)
        sum += task->m[i];
    return (double)task->algorithm_count * sum <= task->nodes;
}

size_t steer_plan_centre(const struct steer_task *task)
{
    size_t middle = steer_plan_middle(task);
    bool by_sheet = task->has_sheet && !nodes_suffice(task, middle, true);
    size_t centre = by_sheet ? steer_plan_first(task) : middle;

    while (centre > 0 && !nodes_suffice(task, centre, !by_sheet))
        centre--;
    return centre;
}

size_t steer_plan_together(const struct steer_task *task,
                           struct steer_trial trials[STEER_ALGORITHMS * STEER_M])
{
    size_t centre = steer_plan_centre(task), count = 0;
    double used = 0;

    for (size_t i = 0; i < task->m_count; i++) {
        size_t m = i <= centre ? centre - i : i;
        for (size_t a = 0; a < task->algorithm_count; a++)
            if (count == 0 || used + task->m[m] <= task->nodes) {
                trials[count++] = (struct steer_trial){a, m};
                used += task->m[m];
            }
    }
    return count;
}

static bool trial_exists(const struct steer_state *state, size_t algorithm, size_t m)
{
    for (size_t i = 0; i < state->line_count; i++)
        if (state->lines[i].algorithm == algorithm && state->lines[i].m == m)
            return true;
    return false;
}

/*
 * Returns the time of the first trial in seconds, which is used as an estimate for later trials; 0
 * before the first trial.
 */
static double trial_seconds(const struct steer_state *state)
{
    return state->line_count > 0 ? state->lines[0].clock_s - state->lines[0].started_s : 0;
}

/*
 * Returns the run that is expected to reach the target loss first, or -1 if no expected time is
 * known. *ret_s is its expected time.
 */
static long find_first_line(const struct steer_state *state, const struct steer_model *model,
                            double *ret_s)
{
    long best = -1;

    *ret_s = INFINITY;
    for (size_t i = 0; i < state->line_count; i++) {
        double seconds = steer_model_line(model, &state->lines[i]).time_s;
        if (line_goes_on(&state->lines[i]) && seconds < *ret_s) {
            *ret_s = seconds;
            best = (long)i;
        }
    }
    return best;
}

/*
 * Chooses another number of workers for the best algorithm: two places above or two places below
 * the number of the first trials in the list of numbers. Returns false if both have been tried.
 */
static bool next_workers(const struct steer_state *state, size_t algorithm,
                         struct steer_trial *ret_trial)
{
    const struct steer_task *task = state->task;
    size_t middle = steer_plan_first(task), last = task->m_count - 1;
    const size_t others[2] = {middle + 2 < last ? middle + 2 : last, middle > 2 ? middle - 2 : 0};

    for (size_t i = 0; i < 2; i++)
        if (!trial_exists(state, algorithm, others[i])) {
            *ret_trial = (struct steer_trial){algorithm, others[i]};
            return true;
        }
    return false;
}

bool steer_plan_next(const struct steer_state *state, const struct steer_model *model,
                     struct steer_trial *ret_trial)
{
    const struct steer_task *task = state->task;
    size_t middle = steer_plan_first(task);
    double left, cost = trial_seconds(state);
    long first = find_first_line(state, model, &left);

    for (size_t place = 0; place < task->algorithm_count; place++) {
        size_t a = steer_plan_algorithm(task, place);
        if (!trial_exists(state, a, middle)) {
            *ret_trial = (struct steer_trial){a, middle};
            return cost <= TRIAL_SHARE * left;
        }
    }
    cost += isnan(task->switch_s) ? state->startup_s : task->switch_s;
    return first >= 0 && cost <= MOVE_SHARE * left &&
           next_workers(state, state->lines[first].algorithm, ret_trial);
}

bool steer_plan_retry(const struct steer_state *state, const struct steer_model *model,
                      const struct steer_choice *leader, struct steer_trial *ret_trial,
                      double *ret_seconds)
{
    const struct steer_task *task = state->task;
    long ahead = steer_plan_best_state(state);
    /*
     * The time so far is used as a second estimate of the remaining time; the larger estimate
     * counts. If no time can be estimated for the current run, a trial may take longer.
     */
    double seconds = isfinite(leader->expected_s)
                         ? RETRY_SHARE * fmax(leader->expected_s, state->now_s)
                         : LOST_SHARE * state->now_s;

    if (task->together || ahead < 0 || !isfinite(seconds))
        return false;
    const struct steer_line *best = &state->lines[ahead];
    const struct steer_point *last = &best->points[best->count - 1];
    double change = steer_plan_switch_s(state, -1, 0);
    if (RETRY_ITERATIONS * last->seconds + change > seconds)
        return false;
    /*
     * If the current run is expected to reach the target before the change and the trial would end,
     * no choice can be faster. The comparison is false if the expected time is unknown (NaN).
     */
    if (leader->expected_s <= change + seconds)
        return false;
    *ret_seconds = seconds;
    for (size_t place = 0; place < task->algorithm_count; place++) {
        *ret_trial = (struct steer_trial){steer_plan_algorithm(task, place), leader->m};
        if (!steer_model_near(model, ret_trial->algorithm, ret_trial->m, last->loss))
            return true;
    }
    for (size_t m = 0; m < task->m_count; m++) {
        size_t steps = m > leader->m ? m - leader->m : leader->m - m;
        *ret_trial = (struct steer_trial){leader->algorithm, m};
        if (steps <= 2 && !steer_model_near(model, leader->algorithm, m, last->loss))
            return true;
    }
    return false;
}

long steer_plan_best_state(const struct steer_state *state)
{
    double least = INFINITY;
    long best = -1;

    for (size_t i = 0; i < state->line_count; i++) {
        const struct steer_line *line = &state->lines[i];
        if (line->state == STEER_FAILED || line->piece < 0 || line->count == 0)
            continue;
        double loss = line->points[line->count - 1].loss;
        if (loss < least) {
            least = loss;
            best = (long)i;
        }
    }
    return best;
}

/* ---- later frames ---------------------------------------------------------------------------- */

static double choice_score(const struct steer_state *state, double seconds, size_t m)
{
    return state->task->goal == HM_GOAL_COST ? seconds * state->task->m[m] : seconds;
}

/* Returns the time in seconds needed to change to a run; 0 if the run is already active. */
static double line_switch_s(const struct steer_state *state, const struct steer_line *line)
{
    return line->state == STEER_RUNNING ? 0 : steer_plan_switch_s(state, state->last_m, line->m);
}

/*
 * Compares a choice with the best choice so far. The better one is stored in *best; its member
 * `rival` is the second best.
 */
static void choice_offer(const struct steer_state *state, struct steer_choice *best,
                         const struct steer_choice *offer, double *best_score, double *rival_score)
{
    double score = choice_score(state, offer->expected_s, offer->m);

    /* The score of the current run is reduced, so that only a clearly better choice replaces it. */
    if (offer->line >= 0 && offer->line == state->leader)
        score *= 1 - MARGIN;
    if (!isfinite(score))
        return;
    if (score < *best_score) {
        struct steer_choice old = *best;
        *rival_score = *best_score;
        *best_score = score;
        *best = *offer;
        best->rival_s = old.expected_s;
        best->rival = old.algorithm * state->task->m_count + old.m;
    } else if (score < *rival_score) {
        *rival_score = score;
        best->rival_s = offer->expected_s;
        best->rival = offer->algorithm * state->task->m_count + offer->m;
    }
}

/*
 * Considers the runs that can continue: the runs that are active at the same time, the current run,
 * and the run with the smallest loss. Any other run would repeat work that one of these has done.
 */
static void offer_lines(const struct steer_state *state, const struct steer_model *model,
                        struct steer_choice *best, double *best_score, double *rival_score)
{
    long ahead = steer_plan_best_state(state);

    for (size_t i = 0; i < state->line_count; i++) {
        const struct steer_line *line = &state->lines[i];
        bool kept = (long)i == ahead || (long)i == state->leader ||
                    (state->task->together && line->state == STEER_RUNNING);
        if (!kept || !line_goes_on(line) || line->count == 0)
            continue;
        double cost = line_switch_s(state, line);
        size_t known = steer_line_known(line, state->now_s);
        struct steer_estimate e = steer_model_line(model, line);
        /*
         * A simulated run that is active has already spent some time on the iteration after its
         * last point; this time is subtracted. A run that is not simulated starts again from its
         * checkpoint.
         */
        if (state->task->virtual_time && line->state == STEER_RUNNING && known > 0 &&
            isfinite(e.time_s))
            e.time_s = fmax(line->clock_s - state->now_s,
                            e.time_s - (state->now_s - line->points[known - 1].clock_s));
        struct steer_choice offer = {.line = (long)i,
                                     .parent = -1,
                                     .algorithm = line->algorithm,
                                     .m = line->m,
                                     .why = (long)i == state->leader ? STEER_WHY_STAY
                                                                     : STEER_WHY_LEADS,
                                     .switch_s = cost,
                                     .expected_s = e.time_s + cost,
                                     .rival_s = NAN};
        choice_offer(state, best, &offer, best_score, rival_score);
    }
}

/*
 * Returns whether an algorithm on m workers has already been tried from the current checkpoint of
 * run `parent`.
 */
static bool was_tried(const struct steer_state *state, size_t algorithm, size_t m, long parent)
{
    const struct steer_line *from = &state->lines[parent];

    for (size_t i = 0; i < state->line_count; i++) {
        const struct steer_line *line = &state->lines[i];
        if (line->algorithm == algorithm && line->m == m && line->parent == parent &&
            line->from_loss == from->points[from->count - 1].loss)
            return true;
    }
    return from->algorithm == algorithm && from->m == m;
}

static void offer_new_lines(const struct steer_state *state, const struct steer_model *model,
                            struct steer_choice *best, double *best_score, double *rival_score)
{
    const struct steer_task *task = state->task;
    long parent = steer_plan_best_state(state);

    for (size_t a = 0; parent >= 0 && a < task->algorithm_count; a++)
        for (size_t m = 0; m < task->m_count; m++) {
            const struct steer_line *from = &state->lines[parent];
            if (was_tried(state, a, m, parent))
                continue;
            double loss = from->points[from->count - 1].loss;
            /*
             * A new run must wait until its parent has finished its current iteration and saved a
             * checkpoint.
             */
            double change = steer_plan_switch_s(state, (long)from->m, m);
            double cost = change + fmax(0, from->clock_s - state->now_s);
            struct steer_estimate e = steer_model_choice(model, a, m, loss);
            struct steer_choice offer = {.line = -1,
                                         .parent = parent,
                                         .algorithm = a,
                                         .m = m,
                                         .why = STEER_WHY_MODEL,
                                         .switch_s = change,
                                         .expected_s = e.time_s + cost,
                                         .rival_s = NAN};
            /* The comparison is false if the upper end of the interval is unknown (NaN). */
            bool sure = choice_score(state, e.high_s + cost, m) < *best_score;
            if (sure || isinf(*best_score))
                choice_offer(state, best, &offer, best_score, rival_score);
        }
}

/*
 * Returns the run to continue if no time can be estimated: the one with the smallest loss. If no
 * run has a point, because all had too little time for an iteration, it is the run with the fewest
 * frames so far. Returns -1 if no run can continue.
 */
static long find_by_loss(const struct steer_state *state)
{
    double least = INFINITY;
    long best = -1;
    bool measured = false;

    for (size_t i = 0; i < state->line_count; i++) {
        const struct steer_line *line = &state->lines[i];
        double loss = steer_line_loss(line, state->now_s);
        if (!line_goes_on(line))
            continue;
        bool better = best < 0 || (line->count > 0) > measured;
        if (!better && measured)
            better = line->count > 0 && (loss < least || isinf(least));
        else if (!better)
            better = line->idle < state->lines[best].idle;
        if (!better)
            continue;
        best = (long)i;
        measured = line->count > 0;
        least = isnan(loss) ? INFINITY : loss;
    }
    return best;
}

static bool choose_by_loss(const struct steer_state *state, struct steer_choice *best)
{
    long found = find_by_loss(state);

    if (found < 0)
        return false;
    const struct steer_line *line = &state->lines[found];
    *best = (struct steer_choice){.line = found,
                                  .parent = -1,
                                  .algorithm = line->algorithm,
                                  .m = line->m,
                                  .why = STEER_WHY_ONLY,
                                  .switch_s = line_switch_s(state, line),
                                  .expected_s = NAN,
                                  .rival_s = NAN};
    return true;
}

bool steer_plan_choose(const struct steer_state *state, const struct steer_model *model,
                       struct steer_choice *ret_choice)
{
    struct steer_choice best = {.line = -1, .parent = -1, .expected_s = NAN, .rival_s = NAN};
    double best_score = INFINITY, rival_score = INFINITY;

    offer_lines(state, model, &best, &best_score, &rival_score);
    offer_new_lines(state, model, &best, &best_score, &rival_score);
    if (isinf(best_score) && !choose_by_loss(state, &best))
        return false;
    *ret_choice = best;
    return true;
}

/* ---- challengers ----------------------------------------------------------------------------- */

/*
 * Returns the expected time of a run to the target loss. The result is 1e299 if the run is not
 * expected to reach it, and 1e300 if the time is unknown.
 */
static double challenger_rank(const struct steer_model *model, const struct steer_line *line)
{
    double seconds = steer_model_line(model, line).time_s;

    return isnan(seconds) ? 1e300 : isinf(seconds) ? 1e299 : seconds;
}

static bool challenger_worth(const struct steer_state *state, const struct steer_model *model,
                             const struct steer_choice *leader, const struct steer_line *line)
{
    return steer_line_known(line, state->now_s) < CHALLENGER_POINTS ||
           challenger_rank(model, line) <= SLOWER * leader->expected_s;
}

/*
 * Finds the best active run that is not in the list `lines`; if `other` is true, no run in the list
 * may have the same algorithm. Returns -1 if there is none.
 */
static long find_challenger(const struct steer_state *state, const struct steer_model *model,
                            const struct steer_choice *leader, const long *lines, size_t count,
                            double nodes, bool other)
{
    double least = INFINITY;
    long best = -1;

    for (size_t i = 0; i < state->line_count; i++) {
        const struct steer_line *line = &state->lines[i];
        bool taken = (long)i == leader->line || (other && line->algorithm == leader->algorithm);
        for (size_t k = 0; k < count; k++)
            taken = taken || lines[k] == (long)i ||
                    (other && state->lines[lines[k]].algorithm == line->algorithm);
        if (taken || line->state != STEER_RUNNING || steer_line_m(state, line) > nodes ||
            !challenger_worth(state, model, leader, line))
            continue;
        double rank = challenger_rank(model, line);
        if (rank < least) {
            least = rank;
            best = (long)i;
        }
    }
    return best;
}

size_t steer_plan_challengers(const struct steer_state *state, const struct steer_model *model,
                              const struct steer_choice *leader, long lines[STEER_CHALLENGERS])
{
    const struct steer_task *task = state->task;
    double nodes = task->nodes - task->m[leader->m];
    size_t count = 0;

    if (!task->together || task->goal == HM_GOAL_COST)
        return 0;
    for (int other = 1; other >= 0; other--)
        while (count < STEER_CHALLENGERS) {
            long found = find_challenger(state, model, leader, lines, count, nodes, other == 1);
            if (found < 0)
                break;
            lines[count++] = found;
            nodes -= steer_line_m(state, &state->lines[found]);
        }
    return count;
}
