/*
 * Chooses an algorithm and a number of workers. For every candidate, the loss after t seconds on m
 * workers is h(t, m) = g(t / f(m), m), where f(m) is the time of an iteration and g(i, m) is the
 * loss after i iterations. Both f and g are sampled many times from their fits; these samples are
 * called draws. The ranking, its probability, the candidate that leads at each loss, and the most
 * useful additional run are all computed from the draws. Source of h: Pan, Venkataraman, Tai,
 * Gonzalez, Hemingway, 2017. Limits: at most CANDIDATES_MAX candidates; f and g are drawn
 * independently.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "advise_parts.h"
#include "budget.h"
#include "chance.h"
#include "checks.h"
#include "err.h"
#include "order.h"
#include "runner.h"
#include "student.h"
#include "text.h"

enum { CANDIDATES_MAX = 4096 };

/*
 * Without a limit on time or cost, a candidate counts as reaching the goal if its probability of
 * reaching it is at least this value.
 */
static const double LIKELY = 0.5;

/* Returns the probability with which a candidate must reach the goal to count as reaching it. */
static double advice_threshold(const struct hm_advice *advice)
{
    return isnan(advice->certainty) ? LIKELY : advice->certainty;
}

/* ---- the question ---------------------------------------------------------------------------- */

static int advise_question_check(const struct hm_advise_question *q, const struct hm_convergence *c,
                                 struct hm_err *err)
{
    const double amounts[] = {q->loss, q->within_s, q->budget, q->switch_s};
    bool loss = q->loss > 0 || isfinite(q->reach);

    for (size_t k = 0; k < sizeof(amounts) / sizeof(amounts[0]); k++)
        if (!(amounts[k] >= 0 && isfinite(amounts[k])))
            return hm__fail(err, HM_E_RANGE,
                            "loss, within, budget and switch_cost must be finite and 0 or more");
    if (!(q->level >= 0 && q->level < 1))
        return hm__fail(err, HM_E_RANGE, "level: %g is not from 0 to below 1", q->level);
    if (!(q->certainty >= 0 && q->certainty <= HM_CHANCE_MOST))
        return hm__fail(err, HM_E_RANGE, "certainty: %g is not from 0 to %g", q->certainty,
                        HM_CHANCE_MOST);
    if (hm__check_seed(q->seed, err))
        return HM_E_RANGE;
    if (q->loss > 0 && isfinite(q->reach))
        return hm__fail(err, HM_E_CONFLICT,
                        "loss and reach are both given: give a distance from P* or a loss");
    if (!loss && !(q->within_s > 0) && !(q->budget > 0))
        return hm__fail(err, HM_E_MISSING, "one of loss, reach, within and budget is needed");
    if (isfinite(q->reach) && c->best_sampled)
        return hm__fail(
            err, HM_E_CONFLICT,
            "reach: P* of %.10g rows is not known, so only a loss above P* can be asked "
            "for",
            c->rows);
    if (isfinite(q->reach) && q->reach <= c->best)
        return hm__fail(err, HM_E_RANGE, "%s %g cannot be reached: the minimum is %s%.10g",
                        c->measure, q->reach, c->best_estimated ? "about " : "", c->best);
    if ((q->budget > 0 || q->goal == HM_GOAL_COST) && !(q->price_per_s > 0))
        return hm__fail(err, HM_E_MISSING, "a budget or the goal cost needs the price of a worker");
    if (q->adaptive && !loss)
        return hm__fail(err, HM_E_CONFLICT, "adaptive needs a loss to reach");
    if (q->adaptive && q->goal == HM_GOAL_COST)
        return hm__fail(err, HM_E_CONFLICT,
                        "adaptive finds the least time; it cannot be used with the goal cost");
    for (size_t k = 0; k < q->m_count; k++)
        if (!(q->m[k] >= 1 && q->m[k] <= HM_M_MOST) || q->m[k] != floor(q->m[k]))
            return hm__fail(err, HM_E_RANGE, "m: %g is not a whole number of workers", q->m[k]);
    return 0;
}

static const char *algorithm_name(const void *context, size_t i)
{
    const struct hm_convergence *c = context;

    return i < c->count ? c->algorithms[i].algorithm : NULL;
}

static int check_algorithms(const struct hm_advise_question *q, const struct hm_convergence *c,
                            struct hm_err *err)
{
    for (size_t k = 0; k < q->algorithm_count; k++) {
        size_t found = 0;
        int rc = hm__budget_check("algorithms", err);
        if (rc)
            return rc;
        while (found < c->count && strcmp(c->algorithms[found].algorithm, q->algorithms[k]) != 0)
            found++;
        if (found < c->count)
            continue;
        hm__fail(err, HM_E_NAME, "there are no traces of '%s'", q->algorithms[k]);
        const char *near = hm__suggest(q->algorithms[k], algorithm_name, c);
        if (near)
            hm__err_hint(err, "did you mean %s?", near);
        else if (c->count > 0)
            hm__err_hint(err, "there are traces of %s", c->algorithms[0].algorithm);
        return HM_E_NAME;
    }
    return 0;
}

/* ---- candidates ------------------------------------------------------------------------------ */

static bool question_has_algorithm(const struct hm_advise_question *q, const char *algorithm)
{
    if (hm__budget_spent(q->algorithm_count > 0 ? "algorithms" : NULL))
        return false;
    if (q->algorithm_count == 0)
        return true;
    for (size_t k = 0; k < q->algorithm_count; k++)
        if (strcmp(q->algorithms[k], algorithm) == 0)
            return true;
    return false;
}

/*
 * Lists the numbers of workers to compare: the numbers that the question gives, or else all
 * measured numbers and the powers of 2 between them.
 */
static int advising_list_ms(struct hm_advising *a, struct hm_err *err)
{
    const struct hm_advise_question *q = a->question;
    size_t room = q->m_count + 64, count = 0;
    double most = 1;

    for (size_t k = 0; k < a->convergence->count; k++)
        room += a->convergence->algorithms[k].m_count;
    double *ms = a->ms = hm__arena_alloc(a->memory, room, sizeof(*ms));
    if (!ms)
        return hm__fail_nomem(err);
    for (size_t k = 0; k < q->m_count; k++)
        ms[count++] = q->m[k];
    for (size_t k = 0; q->m_count == 0 && k < a->convergence->count; k++) {
        const struct hm_g *g = &a->convergence->algorithms[k];
        for (size_t l = 0; l < g->m_count; l++)
            ms[count++] = g->m[l];
        most = fmax(most, g->m[g->m_count - 1]);
    }
    for (double m = 1; q->m_count == 0 && m < most && m < HM_M_MOST; m *= 2)
        ms[count++] = m;
    qsort(ms, count, sizeof(*ms), hm__compare_numbers);
    for (size_t k = 0; k < count; k++)
        if (k == 0 || ms[k] != ms[k - 1])
            ms[a->m_count++] = ms[k];
    return 0;
}

/*
 * Finds f(m), the time of an iteration on m workers, for an algorithm. *ret_own is true if times
 * were given, but none for this algorithm; in that case, the times in its traces are used.
 */
static const struct hm_pace *advising_find_pace(const struct hm_advising *a, const char *algorithm,
                                                bool *ret_own)
{
    const struct hm_pace *pace = NULL;

    for (size_t k = a->pace_count; k-- > 0 && !pace;)
        pace = hm__pace_find(a->paces[k], algorithm);
    *ret_own = !pace && a->pace_count > 0;
    return pace ? pace : hm__pace_find(a->convergence->paces, algorithm);
}

static int advising_add_runner(struct hm_advising *a, const struct hm_g *g,
                               const struct hm_pace *pace, double m, struct hm_err *err)
{
    struct hm_runner *r = &a->runners[a->count];

    if (!hm__pace_eval(pace, m, &r->seconds, r->paces)) {
        a->unknown_pace++;
        return 0;
    }
    a->count++;
    int rc = hm__runner_init(r, g, m, a->convergence->best, a->question->seed, err);
    if (rc == 0)
        hm__runner_vary(r, hm__pace_spread(pace, m), a->question->seed, a->count);
    return rc;
}

static int advising_add_algorithm(struct hm_advising *a, const struct hm_g *g, struct hm_err *err)
{
    bool own;
    const struct hm_pace *pace = advising_find_pace(a, g->algorithm, &own);
    int rc = 0;

    if (!pace)
        return hm__notes_add(hm__advice_notes(a), err,
                             "the time of an %s of %s is not known: it is left out",
                             a->convergence->unit, hm__g_name(g->algorithm));
    if (own)
        rc = hm__notes_add(hm__advice_notes(a), err,
                           "the times of %s come from its traces: no other times were given for it",
                           g->algorithm);
    a->unknown_pace = 0;
    for (size_t k = 0; rc == 0 && (rc = hm__budget_check("m", err)) == 0 && k < a->m_count; k++)
        if (g->m_count > 1 || a->ms[k] == g->m[0])
            rc = advising_add_runner(a, g, pace, a->ms[k], err);
    if (rc == 0 && a->unknown_pace > 0)
        rc = hm__notes_add(hm__advice_notes(a), err,
                           "%s is left out on %zu number%s of workers: the time of an %s is not "
                           "known there",
                           hm__g_name(g->algorithm), a->unknown_pace,
                           a->unknown_pace == 1 ? "" : "s", a->convergence->unit);
    return rc;
}

static int advising_make_runners(struct hm_advising *a, struct hm_err *err)
{
    size_t room = 0;
    int rc = 0;

    for (size_t k = 0; k < a->convergence->count; k++)
        if (question_has_algorithm(a->question, a->convergence->algorithms[k].algorithm))
            room += a->m_count * (1 + hm__advising_count_stale(a, &a->convergence->algorithms[k]));
    if (room > CANDIDATES_MAX)
        return hm__fail(err, HM_E_LIMIT, "%zu candidates are more than %d", room, CANDIDATES_MAX);
    a->runners = hm__arena_alloc(a->memory, room + 1, sizeof(*a->runners));
    if (!a->runners)
        return hm__fail_nomem(err);
    for (size_t k = 0; rc == 0 && k < a->convergence->count; k++)
        if (question_has_algorithm(a->question, a->convergence->algorithms[k].algorithm))
            rc = advising_add_algorithm(a, &a->convergence->algorithms[k], err);
    a->fresh = a->count;
    for (size_t k = 0; rc == 0 && k < a->convergence->count; k++)
        if (question_has_algorithm(a->question, a->convergence->algorithms[k].algorithm))
            rc = hm__advising_add_stale(a, &a->convergence->algorithms[k], err);
    if (rc == 0 && a->count == 0) {
        rc = hm__fail(err, HM_E_MISSING,
                      "there is no candidate: no algorithm has traces and times for an m of "
                      "the question");
        hm__err_hint(err, "times come from the traces (seconds), from times or from a job");
    }
    return rc;
}

/* ---- values of each draw --------------------------------------------------------------------- */

double hm__advising_price(const struct hm_advising *a, const struct hm_runner *r, double seconds)
{
    return seconds * r->m * a->question->price_per_s;
}

/*
 * Computes, for each draw of the fits, the number of iterations and the time or cost needed to
 * reach the target loss.
 */
static void runner_eval_loss(const struct hm_advising *a, struct hm_runner *r)
{
    bool cost = a->question->goal == HM_GOAL_COST;

    r->expected = hm__runner_times(r, a->level, 1, r->value, NULL);
    r->expected = cost ? hm__advising_price(a, r, r->expected) : r->expected;
    for (size_t d = 0; d < HM_G_DRAWS; d++) {
        r->iterations[d] = hm__runner_hit(r, d, a->level);
        r->value[d] = cost ? hm__advising_price(a, r, r->value[d]) : r->value[d];
    }
}

/*
 * Computes, for each draw of the fits, the number of iterations within the time limit or budget,
 * and the loss after these iterations.
 */
static void runner_eval_limits(const struct hm_advising *a, struct hm_runner *r)
{
    const struct hm_advise_question *q = a->question;
    double time = q->within_s > 0 ? q->within_s : INFINITY;

    if (q->budget > 0)
        time = fmin(time, q->budget / (r->m * q->price_per_s));
    r->expected = 0;
    for (size_t d = 0; d < HM_G_DRAWS; d++) {
        r->iterations[d] = hm__runner_within(r, d, time);
        r->value[d] = hm__runner_reach(r, d, r->iterations[d]);
        r->expected += r->value[d] / HM_G_DRAWS;
    }
}

/* ---- from runners to candidates -------------------------------------------------------------- */

static bool draw_in_limits(const struct hm_advising *a, const struct hm_runner *r, size_t d)
{
    const struct hm_advise_question *q = a->question;
    double time = hm__runner_time(r, d, r->iterations[d]);

    return isfinite(r->value[d]) && isfinite(time) &&
           (q->within_s == 0 || time <= q->within_s * (1 + 1e-9)) &&
           (q->budget == 0 || hm__advising_price(a, r, time) <= q->budget * (1 + 1e-9));
}

static void draws_interval(const struct hm_advising *a, const double *draws, double *ret_low,
                           double *ret_high)
{
    double values[HM_G_DRAWS];

    memcpy(values, draws, sizeof(values));
    *ret_low = hm__quantile(values, HM_G_DRAWS, (1 - a->confidence) / 2);
    memcpy(values, draws, sizeof(values));
    *ret_high = hm__quantile(values, HM_G_DRAWS, (1 + a->confidence) / 2);
}

/* Returns the mean of the finite values over the draws of the fits; NaN if most values are
 * infinite. */
static double draws_mean(const double *draws)
{
    double sum = 0, count = 0;

    for (size_t d = 0; d < HM_G_DRAWS; d++)
        if (isfinite(draws[d])) {
            sum += draws[d];
            count++;
        }
    return count >= HM_G_DRAWS * LIKELY ? sum / count : NAN;
}

static void price_candidate(const struct hm_advising *a, const struct hm_runner *r,
                            struct hm_candidate *c)
{
    bool priced = a->question->price_per_s > 0;

    c->cost = priced ? hm__advising_price(a, r, c->time_s) : NAN;
    c->cost_low = priced ? hm__advising_price(a, r, c->low_s) : NAN;
    c->cost_high = priced ? hm__advising_price(a, r, c->high_s) : NAN;
}

static void candidate_init(const struct hm_advising *a, const struct hm_runner *r,
                           struct hm_candidate *c)
{
    double draws[HM_G_DRAWS], most = r->g->m[r->g->m_count - 1];

    c->algorithm = r->name;
    c->m = r->m;
    c->staleness = r->staleness;
    c->backups = r->backups;
    c->measured = r->curves > 0;
    c->iterations = draws_mean(r->iterations);
    draws_interval(a, r->iterations, &c->iterations_low, &c->iterations_high);
    c->iteration_s = r->seconds;
    draws_interval(a, r->paces, &c->iteration_low_s, &c->iteration_high_s);
    c->iteration_p5_s = r->seconds * r->spread.low;
    c->iteration_p95_s = r->seconds * r->spread.high;
    for (size_t d = 0; d < HM_G_DRAWS; d++) {
        draws[d] = hm__runner_time(r, d, r->iterations[d]);
        c->reaches += draw_in_limits(a, r, d) ? 1.0 / HM_G_DRAWS : 0;
    }
    c->time_s = draws_mean(draws);
    draws_interval(a, draws, &c->low_s, &c->high_s);
    price_candidate(a, r, c);
    if (a->for_loss) {
        c->loss = c->loss_low = c->loss_high = exp(a->level);
    } else {
        c->loss = exp(draws_mean(r->value));
        draws_interval(a, r->value, &c->loss_low, &c->loss_high);
        c->loss_low = exp(c->loss_low);
        c->loss_high = exp(c->loss_high);
    }
    c->beyond_m = r->m > most ? r->m / most : r->m < r->g->m[0] ? r->g->m[0] / r->m : 1;
    c->beyond_i = isfinite(c->iterations) ? fmax(1, c->iterations / r->g->last) : 1;
}

/*
 * Defines the order of candidates: first the candidates that reach the goal, by expected value;
 * then the others, by their probability of reaching the goal.
 */
static bool candidate_is_before(const struct hm_candidate *x, double x_expected,
                                const struct hm_candidate *y, double y_expected, double threshold)
{
    bool x_there = x->reaches >= threshold, y_there = y->reaches >= threshold;

    if (x_there != y_there)
        return x_there;
    if (!x_there && x->reaches != y->reaches)
        return x->reaches > y->reaches;
    return x_expected < y_expected;
}

static void advising_rank(struct hm_advising *a)
{
    struct hm_candidate *list = a->advice->candidates;
    const double threshold = advice_threshold(a->advice);

    for (size_t k = 0; k < a->count; k++) {
        struct hm_candidate own = {0};
        size_t at = k;
        candidate_init(a, &a->runners[k], &own);
        for (; at > 0 && candidate_is_before(&own, a->runners[k].expected, &list[at - 1],
                                             a->runners[a->order[at - 1]].expected, threshold);
             at--) {
            list[at] = list[at - 1];
            a->order[at] = a->order[at - 1];
        }
        list[at] = own;
        a->order[at] = k;
    }
    a->advice->candidate_count = a->count;
    a->advice->feasible = list[0].reaches >= threshold;
}

static enum hm_advise_why candidate_why(const struct hm_advising *a, const struct hm_candidate *c)
{
    const struct hm_candidate *first = &a->advice->candidates[0];
    bool slow = c->iteration_s > 1.02 * first->iteration_s;
    bool many = c->iterations > 1.02 * first->iterations;

    if (c == first)
        return HM_WHY_BEST;
    if (!a->for_loss)
        return HM_WHY_LOSS;
    if (c->reaches < advice_threshold(a->advice) && a->advice->feasible)
        return isfinite(c->time_s) ? HM_WHY_LIMIT : HM_WHY_NEVER;
    if (!isfinite(c->time_s))
        return HM_WHY_NEVER;
    if (a->question->goal == HM_GOAL_COST && c->time_s <= first->time_s)
        return HM_WHY_PRICE;
    return slow && many ? HM_WHY_BOTH : many ? HM_WHY_ITERATIONS : HM_WHY_ITERATION;
}

/*
 * Returns whether candidate x is better than candidate y in one draw of the fits. A candidate that
 * reaches the goal is better than one that does not.
 */
static bool runner_beats(const struct hm_advising *a, const struct hm_runner *x,
                         const struct hm_runner *y, size_t d)
{
    bool x_there = !a->for_loss || isfinite(x->iterations[d]);
    bool y_there = !a->for_loss || isfinite(y->iterations[d]);

    return x_there != y_there ? x_there : x->value[d] < y->value[d];
}

/*
 * Counts the draws of the fits in which each candidate is best, and the draws in which the
 * candidate ranked first is close to the best.
 */
static void advising_count_best(struct hm_advising *a)
{
    struct hm_advice *out = a->advice;
    const struct hm_runner *first = &a->runners[a->order[0]];

    for (size_t d = 0; d < HM_G_DRAWS; d++) {
        size_t best = 0;
        for (size_t k = 1; k < a->count; k++)
            if (runner_beats(a, &a->runners[a->order[k]], &a->runners[a->order[best]], d))
                best = k;
        double least = a->runners[a->order[best]].value[d];
        bool near = !a->for_loss ? first->value[d] <= least + 0.1
                                 : best == 0 || (isfinite(first->iterations[d]) &&
                                                 first->value[d] <= 1.1 * least);
        out->candidates[best].probability += 1.0 / HM_G_DRAWS;
        out->near += near ? 1.0 / HM_G_DRAWS : 0;
        if (strcmp(a->runners[a->order[best]].name, first->name) == 0)
            out->right_algorithm += 1.0 / HM_G_DRAWS;
    }
    out->right = fmin(out->candidates[0].probability, HM_CHANCE_MOST);
    out->near = fmin(out->near, HM_CHANCE_MOST);
    out->right_algorithm = fmin(out->right_algorithm, HM_CHANCE_MOST);
}

/* ---- advice ---------------------------------------------------------------------------------- */

static int note_limits(struct hm_advising *a, struct hm_err *err)
{
    const struct hm_candidate *first = &a->advice->candidates[0];
    int rc = 0;

    if (first->beyond_m > 1)
        rc = hm__notes_add(hm__advice_notes(a), err,
                           "%g workers are %.3g times outside the measured range of %s", first->m,
                           first->beyond_m, hm__g_name(first->algorithm));
    if (rc == 0 && first->beyond_i > 1)
        rc = hm__notes_add(hm__advice_notes(a), err,
                           "%.3g %ss are %.3g times more than any trace of %s has: the rest is "
                           "extrapolated",
                           first->iterations, a->convergence->unit, first->beyond_i,
                           hm__g_name(first->algorithm));
    const struct hm_convergence *g = a->convergence;
    if (rc || !g->best_estimated || !(a->question->loss > 0))
        return rc;
    if (!isfinite(g->best_low) || !isfinite(g->best_high))
        return hm__notes_add(hm__advice_notes(a), err,
                             "P* is estimated, %.8g, and losses are counted from it", g->best);
    return hm__notes_add(hm__advice_notes(a), err,
                         "P* is estimated, %.8g (%.8g to %.8g), and losses are counted from it",
                         g->best, g->best_low, g->best_high);
}

static int advising_run(struct hm_advising *a, struct hm_err *err)
{
    const struct hm_advise_question *q = a->question;
    int rc = advise_question_check(q, a->convergence, err);

    rc = rc ? rc : check_algorithms(q, a->convergence, err);
    rc = rc ? rc : advising_list_ms(a, err);
    rc = rc ? rc : advising_make_runners(a, err);
    if (rc)
        return rc;
    a->advice->candidates = hm__arena_alloc(a->memory, a->count, sizeof(struct hm_candidate));
    a->order = hm__arena_alloc(a->memory, a->count, sizeof(*a->order));
    if (!a->advice->candidates || !a->order)
        return hm__fail_nomem(err);
    for (size_t k = 0; k < a->count; k++)
        (a->for_loss ? runner_eval_loss : runner_eval_limits)(a, &a->runners[k]);
    advising_rank(a);
    for (size_t k = 0; k < a->count; k++)
        a->advice->candidates[k].why = candidate_why(a, &a->advice->candidates[k]);
    advising_count_best(a);
    rc = hm__advice_leads(a, err);
    hm__advice_next(a);
    if (rc == 0 && q->adaptive) {
        a->advice->schedule = hm__arena_alloc(a->memory, 1, sizeof(struct hm_schedule));
        rc = !a->advice->schedule ? hm__fail_nomem(err)
                                  : hm__schedule_find(a->advice->schedule, a->memory, a->runners,
                                                      a->fresh, a->convergence->best, a->level,
                                                      q->switch_s, a->confidence, err);
    }
    return rc ? rc : note_limits(a, err);
}

/*
 * Copies the strings of struct hm_convergence into the advice, because that struct may be freed
 * first.
 */
static int advice_copy_texts(struct hm_advice *out, struct hm_err *err)
{
    out->measure = hm__arena_strdup(out->memory, out->measure);
    out->unit = hm__arena_strdup(out->memory, out->unit);
    bool ok = out->measure && out->unit;
    for (size_t k = 0; ok && k < out->candidate_count; k++)
        ok = (out->candidates[k].algorithm =
                  hm__arena_strdup(out->memory, out->candidates[k].algorithm)) != NULL;
    for (size_t k = 0; ok && k < out->lead_count; k++)
        ok = (out->leads[k].algorithm = hm__arena_strdup(out->memory, out->leads[k].algorithm)) !=
             NULL;
    if (ok && out->next.algorithm)
        ok = (out->next.algorithm = hm__arena_strdup(out->memory, out->next.algorithm)) != NULL;
    if (ok && out->schedule && out->schedule->algorithm)
        ok = (out->schedule->algorithm = hm__arena_strdup(out->memory, out->schedule->algorithm)) !=
             NULL;
    return ok ? 0 : hm__fail_nomem(err);
}

static struct hm_advice *advice_begin(const struct hm_convergence *c,
                                      const struct hm_advise_question *q)
{
    struct hm_arena *arena = hm__arena_new();
    struct hm_advice *out = arena ? hm__arena_alloc(arena, 1, sizeof(*out)) : NULL;

    if (!out) {
        hm__arena_free(arena);
        return NULL;
    }
    *out = (struct hm_advice){.memory = arena,
                              .measure = c->measure,
                              .unit = c->unit,
                              .best = c->best,
                              .loss = q->loss > 0          ? q->loss
                                      : isfinite(q->reach) ? q->reach - c->best
                                                           : NAN,
                              .within_s = q->within_s > 0 ? q->within_s : NAN,
                              .budget = q->budget > 0 ? q->budget : NAN,
                              .goal = q->goal == HM_GOAL_COST ? HM_GOAL_COST : HM_GOAL_TIME,
                              .level = q->level > 0 ? q->level : c->level,
                              .certainty = NAN};
    if (!isnan(out->loss) && (q->within_s > 0 || q->budget > 0))
        out->certainty = hm__certainty_or_default(q->certainty);
    return out;
}

int hm_advise(const struct hm_convergence *convergence, const struct hm_paces *const *paces,
              size_t pace_count, const struct hm_advise_question *question,
              struct hm_advice **ret_advice, struct hm_err *err)
{
    int bad = hm__check_pointers(err, "question", question, "ret_advice", ret_advice, NULL);
    if (bad == 0)
        bad = hm__convergence_check(convergence, err);
    if (bad == 0)
        bad = hm__check_array(paces, pace_count, "paces", err);
    if (bad == 0)
        bad = hm__check_enum("goal", (int)question->goal, HM_GOAL_COST + 1, err);
    if (bad == 0)
        bad = hm__check_array(question->m, question->m_count, "m", err);
    if (bad == 0)
        bad = hm__check_array(question->algorithms, question->algorithm_count, "algorithms", err);
    if (bad)
        return bad;
    struct hm_advice *out = advice_begin(convergence, question);

    if (!out)
        return hm__fail_nomem(err);
    struct hm_advising a = {.convergence = convergence,
                            .paces = paces,
                            .pace_count = pace_count,
                            .question = question,
                            .advice = out,
                            .memory = out->memory,
                            .for_loss = !isnan(out->loss),
                            .level = log(out->loss),
                            .confidence = out->level};
    int rc = advising_run(&a, err);
    for (size_t k = 0; k < a.count; k++)
        hm__runner_release(&a.runners[k]);
    rc = rc ? rc : advice_copy_texts(out, err);
    if (rc)
        hm_advice_free(out);
    else
        *ret_advice = out;
    return rc;
}
