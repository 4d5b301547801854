/*
 * Fits loss curves to the runs of a steered training (steer_types.h). A run that started from
 * scratch is a trace from iteration 1 on. A run that started from the checkpoint of another run is
 * shifted to the iteration at which a run from scratch, with the same algorithm on the same number
 * of workers m, is expected to have the loss of the checkpoint. In this way, its points improve the
 * fitted loss g(i, m) after i iterations, where the loss is small. Like Hemingway's loop (Pan,
 * Venkataraman, Tai, Gonzalez 2016), this assumes that the progress of a run depends only on its
 * loss.
 *
 * The time from a loss L to the target is T(target) - T(L), where T is the time of a whole run as
 * `howmany advise` computes it. With few points, the fit may extrapolate badly, so for a run with
 * fewer than FIT_POINTS points the recent rate is used: the mean slope of ln(P - P*) over the later
 * half of its time, where P is the loss and P* is the lowest possible loss.
 */
#include "steer_model.h"

#include <math.h>
#include <string.h>

#include "err.h"
#include "memory.h"

/*
 * FIT_POINTS is the number of points that a run, or the longest run of an algorithm, must have
 * before the fit is used. BISECTIONS is the maximum number of steps of a bisection.
 */
enum { FIT_POINTS = 5, BISECTIONS = 60 };

/*
 * The recent rate of a run is used to estimate the time from another loss only if the excess loss P
 * - P* of the run is at most NEAR times the excess loss at the other loss.
 */
static const double NEAR = 10;

/*
 * Largest factor by which a number of workers may be above or below the measured numbers of
 * workers.
 */
static const double BEYOND_M = 2;

/* ---- traces ---------------------------------------------------------------------------------- */

static int trace_fill(struct hm_trace *t, struct hm_arena *arena, const struct steer_line *line,
                      size_t count, double offset, struct hm_err *err)
{
    double elapsed = 0;

    t->iteration = hm__arena_alloc(arena, count, sizeof(double));
    t->loss = hm__arena_alloc(arena, count, sizeof(double));
    t->seconds = hm__arena_alloc(arena, count, sizeof(double));
    t->elapsed_s = hm__arena_alloc(arena, count, sizeof(double));
    if (!t->iteration || !t->loss || !t->seconds || !t->elapsed_s)
        return hm__fail_nomem(err);
    for (size_t i = 0; i < count; i++) {
        const struct steer_point *p = &line->points[i];
        double before = i > 0 ? line->points[i - 1].iteration : 0;
        elapsed += p->seconds * (p->iteration - before);
        t->iteration[i] = offset + p->iteration;
        t->loss[i] = p->loss;
        t->seconds[i] = p->seconds;
        t->elapsed_s[i] = offset > 0 ? NAN : elapsed;
    }
    t->count = count;
    return 0;
}

/* Adds a run as a trace; `offset` is added to its iteration numbers. */
static int model_add_line(struct steer_model *m, const struct steer_line *line, double offset,
                          struct hm_err *err)
{
    const struct steer_task *task = m->state->task;
    size_t count = steer_line_known(line, m->until_s);
    struct hm_trace *t = &m->traces.traces[m->traces.count];

    if (count == 0)
        return 0;
    *t = (struct hm_trace){.algorithm = task->algorithms[line->algorithm],
                           .m = task->m[line->m],
                           .seed = (double)(line - m->state->lines) + 1,
                           .best = task->best,
                           .bound = -INFINITY};
    int rc = trace_fill(t, m->memory, line, count, offset, err);
    m->traces.count += rc == 0;
    return rc;
}

static void model_refit(struct steer_model *m)
{
    const struct steer_task *task = m->state->task;
    struct hm_converge_settings settings = {.best_given = !isnan(task->best),
                                            .best = isnan(task->best) ? 0 : task->best};
    struct hm_convergence *fitted = NULL;

    if (m->traces.count > 0 && hm_convergence_new(&m->traces, &settings, &fitted, NULL) == 0) {
        hm_convergence_free(m->convergence);
        m->convergence = fitted;
    }
}

/* ---- placing lines --------------------------------------------------------------------------- */

static const struct hm_g *model_g(const struct steer_model *m, size_t algorithm, size_t *ret_index)
{
    const char *name = m->state->task->algorithms[algorithm];

    for (size_t i = 0; m->convergence && i < m->convergence->count; i++)
        if (strcmp(m->convergence->algorithms[i].algorithm, name) == 0) {
            *ret_index = i;
            return &m->convergence->algorithms[i];
        }
    return NULL;
}

/*
 * Returns the iteration at which the fitted loss g(i, m) has decreased to a given excess loss; at
 * most `most`.
 */
static double model_iteration_at(const struct steer_model *model, size_t algorithm, double m,
                                 double excess, double most)
{
    double low = 1, high = most;

    for (int k = 0; k < BISECTIONS && high / low > 1.001; k++) {
        double middle = sqrt(low * high);
        struct hm_g_prediction p = {0};
        if (hm_convergence_predict(model->convergence, algorithm, m, &middle, 1, &p, NULL))
            return 0;
        *(p.loss > excess ? &low : &high) = middle;
    }
    return low;
}

/*
 * Returns the number of iterations after which a run from scratch is expected to have the initial
 * loss of this run.
 */
static double model_offset(const struct steer_model *model, const struct steer_line *line)
{
    const struct steer_task *task = model->state->task;
    double excess = line->from_loss - model->best;
    size_t index = 0;
    const struct hm_g *g = model_g(model, line->algorithm, &index);

    if (!g || !(excess > 0) || (g->m_count < 2 && g->m[0] != task->m[line->m]))
        return 0;
    return floor(model_iteration_at(model, index, task->m[line->m], excess, 4 * g->last));
}

/* ---- fitting --------------------------------------------------------------------------------- */

/*
 * Returns the lowest possible loss P* that is used for the rates of runs while there is no fit: the
 * given value or, if none is given, a value a tenth below the target.
 */
static double assumed_best(const struct steer_state *state)
{
    return isnan(state->task->best) ? state->task->target - 0.1 * fabs(state->task->target)
                                    : state->task->best;
}

int steer_model_fit(struct steer_model *m, const struct steer_state *state, double until_s,
                    struct hm_err *err)
{
    bool derived = false;
    int rc = 0;

    *m = (struct steer_model){.state = state, .until_s = until_s, .best = assumed_best(state)};
    m->memory = hm__arena_new();
    m->traces = (struct hm_traces){.measure = "loss", .unit = "iteration"};
    m->traces.traces =
        m->memory ? hm__arena_alloc(m->memory, STEER_LINES, sizeof(struct hm_trace)) : NULL;
    if (!m->traces.traces)
        return hm__fail_nomem(err);
    for (size_t i = 0; rc == 0 && i < state->line_count; i++) {
        derived = derived || state->lines[i].parent >= 0;
        if (state->lines[i].parent < 0)
            rc = model_add_line(m, &state->lines[i], 0, err);
    }
    if (rc == 0)
        model_refit(m);
    if (m->convergence)
        m->best = m->convergence->best;
    for (size_t i = 0; rc == 0 && derived && i < state->line_count; i++)
        if (state->lines[i].parent >= 0)
            rc = model_add_line(m, &state->lines[i], model_offset(m, &state->lines[i]), err);
    if (rc == 0 && derived)
        model_refit(m);
    if (m->convergence)
        m->best = m->convergence->best;
    return rc;
}

void steer_model_release(struct steer_model *m)
{
    hm_convergence_free(m->convergence);
    hm__arena_free(m->memory);
    *m = (struct steer_model){0};
}

/* ---- estimates ------------------------------------------------------------------------------- */

/*
 * Estimates the time that an algorithm on m workers needs to reach a given excess loss from
 * scratch. The time is NaN if it cannot be estimated, and INFINITY if the loss is not expected to
 * be reached.
 */
static struct steer_estimate model_whole(const struct steer_model *model, size_t algorithm,
                                         size_t m, double excess)
{
    const struct steer_task *task = model->state->task;
    struct hm_advise_question question = HM_ADVISE_QUESTION_INIT;
    struct steer_estimate none = {NAN, NAN};
    struct hm_advice *advice = NULL;

    question.loss = excess;
    question.m = &task->m[m];
    question.m_count = 1;
    question.algorithms = &task->algorithms[algorithm];
    question.algorithm_count = 1;
    if (!model->convergence || !(excess > 0) ||
        hm_advise(model->convergence, NULL, 0, &question, &advice, NULL))
        return none;
    const struct hm_candidate *c = advice->candidate_count > 0 ? &advice->candidates[0] : NULL;
    if (c && c->beyond_m <= BEYOND_M * 1.001) {
        bool arrives = c->why != HM_WHY_NEVER && isfinite(c->time_s);
        none = (struct steer_estimate){arrives ? c->time_s : INFINITY, c->high_s};
    }
    hm_advice_free(advice);
    return none;
}

static struct steer_estimate model_between(const struct steer_model *model, size_t algorithm,
                                           size_t m, double from_loss)
{
    double target = model->state->task->target - model->best, from = from_loss - model->best;
    struct steer_estimate whole = model_whole(model, algorithm, m, target);
    struct steer_estimate part = model_whole(model, algorithm, m, from);

    if (!isfinite(whole.time_s) || !isfinite(part.time_s))
        return (struct steer_estimate){isnan(part.time_s) ? NAN : whole.time_s, NAN};
    double left = whole.time_s - part.time_s;
    return (struct steer_estimate){left, whole.high_s - part.time_s};
}

/*
 * Returns the time in seconds that a run took to measure its first `count` points, excluding the
 * time for which it was paused.
 */
static double line_active_s(const struct steer_line *line, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += line->points[i].seconds *
               (line->points[i].iteration - (i > 0 ? line->points[i - 1].iteration : 0));
    return sum;
}

/*
 * Returns the rate at which ln(P - P*) of a run decreases, in 1/s, over the later half of its time,
 * where P is the loss and P* is the lowest possible loss; NaN if unknown.
 */
static double line_rate(const struct steer_model *model, const struct steer_line *line,
                        size_t count)
{
    double all = line_active_s(line, count), since = 0;
    double first = line->from_loss - model->best;
    size_t from = 0;

    /*
     * Find the last point in the first half of the run's time, or else the first point. If there is
     * only one point, the rate is measured from the start of the run.
     */
    for (size_t i = 1; i < count; i++)
        if (line_active_s(line, i) <= 0.5 * all || i == 1) {
            from = i;
            since = line_active_s(line, i);
        }
    if (count == 0)
        return NAN;
    if (from > 0)
        first = line->points[from - 1].loss - model->best;
    double last = line->points[count - 1].loss - model->best;
    return first > 0 && last > 0 && all > since ? log(first / last) / (all - since) : NAN;
}

/*
 * Returns the time in seconds that an excess loss needs to decrease to the target at a constant
 * rate.
 */
static double rate_time(const struct steer_model *model, double from, double rate)
{
    double target = model->state->task->target - model->best;

    if (isnan(rate) || !(from > 0 && target > 0))
        return NAN;
    return from <= target ? 0 : rate > 0 ? log(from / target) / rate : INFINITY;
}

struct steer_estimate steer_model_line(const struct steer_model *model,
                                       const struct steer_line *line)
{
    size_t count = steer_line_known(line, model->until_s);

    if (count == 0)
        return (struct steer_estimate){NAN, NAN};
    const struct steer_point *last = &line->points[count - 1];
    if (last->loss <= model->state->task->target)
        return (struct steer_estimate){0, 0};
    struct steer_estimate fitted = {NAN, NAN};
    if (count >= FIT_POINTS)
        fitted = model_between(model, line->algorithm, line->m, last->loss);
    if (!isfinite(fitted.time_s))
        fitted.time_s = rate_time(model, last->loss - model->best, line_rate(model, line, count));
    /* The estimate is at least the time of one more iteration. */
    if (isfinite(fitted.time_s))
        fitted.time_s = fmax(fitted.time_s, last->seconds);
    return fitted;
}

/*
 * Returns the last run of an algorithm on m workers whose excess loss is near the given value; NULL
 * if there is none.
 */
static const struct steer_line *find_near_line(const struct steer_model *model, size_t algorithm,
                                               size_t m, double excess)
{
    for (size_t i = model->state->line_count; i-- > 0;) {
        const struct steer_line *line = &model->state->lines[i];
        double loss = steer_line_loss(line, model->until_s);
        if (line->algorithm == algorithm && line->m == m && line->count > 0 &&
            loss - model->best <= NEAR * excess)
            return line;
    }
    return NULL;
}

bool steer_model_near(const struct steer_model *model, size_t algorithm, size_t m, double from_loss)
{
    return find_near_line(model, algorithm, m, from_loss - model->best) != NULL;
}

/* Returns the number of points in the longest run of an algorithm. */
static size_t most_points(const struct steer_model *model, size_t algorithm)
{
    size_t most = 0;

    for (size_t i = 0; i < model->state->line_count; i++) {
        const struct steer_line *line = &model->state->lines[i];
        size_t count = steer_line_known(line, model->until_s);
        if (line->algorithm == algorithm && count > most)
            most = count;
    }
    return most;
}

struct steer_estimate steer_model_choice(const struct steer_model *model, size_t algorithm,
                                         size_t m, double from_loss)
{
    struct steer_estimate e = {NAN, NAN};
    size_t index = 0;

    if (model_g(model, algorithm, &index) && most_points(model, algorithm) >= FIT_POINTS)
        e = model_between(model, algorithm, m, from_loss);
    const struct steer_line *line = find_near_line(model, algorithm, m, from_loss - model->best);
    if (isnan(e.time_s) && line) {
        double rate = line_rate(model, line, steer_line_known(line, model->until_s));
        e.time_s = e.high_s = rate_time(model, from_loss - model->best, rate);
    }
    return e;
}
