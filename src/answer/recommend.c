/*
 * Implements hm_recommend, which recommends a number of workers from measured runs.
 *
 * The sources are tried in this order: runs that match the question exactly; fits of the runs; the
 * model of a job. If none of these gives an answer, the result is the run that would help most.
 * Runs that are known to fail are never recommended. The search for matching runs is the method of
 * Anwar et al. (see docs/reference/recommend.md); the fits extend it to configurations that were
 * not run. Limit: quantities that the runs do not contain cannot be part of the question.
 */
#include "recommend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "chance.h"
#include "checks.h"
#include "err.h"
#include "order.h"

static int check_number(const char *name, double value, struct hm_err *err)
{
    if (isfinite(value) && value >= 0)
        return 0;
    hm__fail(err, HM_E_RANGE, "%s: %g is not a finite number of 0 or more", name, value);
    hm__err_field(err, name);
    return HM_E_RANGE;
}

static int recommend_question_check(const struct hm_runs *runs,
                                    const struct hm_recommend_question *q, struct hm_err *err)
{
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"alpha", q->alpha},         {"beta", q->beta},         {"budget", q->budget},
                   {"deadline", q->deadline_s}, {"price", q->price_per_s}, {"seed", q->seed},
                   {"slack", q->slack}};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < sizeof(numbers) / sizeof(numbers[0]); i++)
        rc = check_number(numbers[i].name, numbers[i].value, err);
    rc = rc ? rc : hm__check_seed(q->seed, err);
    for (size_t i = 0; rc == 0 && i < q->n_count; i++)
        if (!(q->n[i] >= 1) || q->n[i] != floor(q->n[i]) || isinf(q->n[i]))
            rc = hm__fail(err, HM_E_RANGE, "n: %g is not a whole number of 1 or more", q->n[i]);
    if (rc == 0 && !(q->level >= 0 && q->level < 1))
        rc = hm__fail(err, HM_E_RANGE, "level: %g is not from 0 to below 1", q->level);
    if (rc == 0 && !(q->certainty >= 0 && q->certainty <= HM_CHANCE_MOST))
        rc = hm__fail(err, HM_E_RANGE, "certainty: %g is not from 0 to %g", q->certainty,
                      HM_CHANCE_MOST);
    if (rc == 0 && !runs && !q->job)
        rc = hm__fail(err, HM_E_MISSING, "no runs and no job: there is nothing to recommend from");
    if (rc || !runs || !runs->relative)
        return rc;
    hm__fail(err, HM_E_MISSING, "the runs have speedups only");
    hm__err_hint(err, "a recommendation needs seconds");
    hm__err_at(err, runs->source, 0);
    return HM_E_MISSING;
}

static enum hm_goal recommend_goal(const struct hm_recommend_question *q)
{
    if (q->goal != HM_GOAL_AUTO)
        return q->goal;
    if (q->alpha > 0 || q->beta > 0)
        return HM_GOAL_BALANCE;
    return q->deadline_s > 0 ? HM_GOAL_COST : HM_GOAL_TIME;
}

/* Returns the required probability of meeting the limits; NaN if the question has no limits. */
static double recommend_certainty(const struct hm_recommend_question *q)
{
    return q->deadline_s > 0 || q->budget > 0 ? hm__certainty_or_default(q->certainty) : NAN;
}

/* Returns a limit of the question; NaN if it is not given. */
static double known_limit(double limit)
{
    return limit > 0 ? limit : NAN;
}

/*
 * Finds the price of a worker-second: the median of cost / (n * seconds) over the runs that have a
 * cost.
 */
static int recommend_find_rate(struct hm_recommending *w, struct hm_err *err)
{
    const double *costs = hm__recommend_values(w->runs, "cost");
    size_t count = 0;

    w->rate = NAN;
    if (!costs || w->picked_count == 0)
        return 0;
    double *rates = hm__calloc(w->picked_count, sizeof(*rates));
    if (!rates)
        return hm__fail_nomem(err);
    for (size_t i = 0; i < w->picked_count; i++) {
        size_t row = w->picked[i];
        double rate = costs[row] / (w->n[row] * w->seconds[row]);
        if (isfinite(rate) && rate >= 0)
            rates[count++] = rate;
    }
    qsort(rates, count, sizeof(*rates), hm__compare_numbers);
    if (count > 0)
        w->rate = rates[count / 2];
    hm__free(rates);
    return 0;
}

static int reason_no_row(struct hm_recommending *w, struct hm_err *err)
{
    const struct hm_recommend_question *q = w->q;

    w->out->reason = hm__arena_printf(w->arena, "no run is%s%s%s%s", q->algorithm ? " of " : "",
                                      q->algorithm ? q->algorithm : "", q->machine ? " on " : "",
                                      q->machine ? q->machine : "");
    return w->out->reason ? 0 : hm__fail_nomem(err);
}

static bool candidates_lack_times(const struct hm_recommending *w)
{
    for (size_t i = 0; i < w->count; i++)
        if (!w->candidates[i].known && !w->candidates[i].r.failed)
            return true;
    return false;
}

/*
 * Returns whether some candidate was measured only once, so that only a fit can show how uncertain
 * its time is.
 */
static bool candidates_lack_intervals(const struct hm_recommending *w)
{
    for (size_t i = 0; i < w->count; i++)
        if (w->candidates[i].known && isnan(w->candidates[i].r.low_s))
            return true;
    return false;
}

/*
 * Uses the times of runs that match the question exactly. For each n without such runs, the time
 * comes from a fit, so that the answer never contradicts the fit at these n.
 */
static int recommend_from_runs(struct hm_recommending *w, struct hm_err *err)
{
    int rc = recommend_find_rate(w, err);

    if (rc == 0 && w->picked_count == 0)
        return reason_no_row(w, err);
    if (rc == 0)
        rc = hm__recommend_candidates(w, err);
    if (rc == 0)
        rc = hm__recommend_failures(w, err);
    if (rc == 0)
        rc = hm__recommend_rows(w, err);
    if (rc == 0 && (candidates_lack_times(w) || candidates_lack_intervals(w)))
        rc = hm__recommend_fit(w, err);
    return rc;
}

/* If every candidate is known to fail, records this as the reason why nothing is recommended. */
static void reason_all_fail(struct hm_recommending *w)
{
    size_t failed = 0;

    for (size_t i = 0; i < w->count; i++)
        failed += w->candidates[i].r.failed;
    if (w->out->provenance != HM_RECOMMEND_NONE || w->count == 0 || failed < w->count)
        return;
    w->out->reason =
        failed == 1 ? "the only candidate is known to fail" : "every candidate is known to fail";
    w->out->provenance = HM_RECOMMEND_ROWS;
}

/*
 * If only some candidates have a run that matches the question, adds a note that lists the
 * candidates without one.
 */
static int note_not_run(struct hm_recommending *w, struct hm_err *err)
{
    char list[200];
    size_t used = 0, others = 0;

    for (size_t i = 0; i < w->count; i++) {
        if (w->candidates[i].known || w->candidates[i].r.failed ||
            w->out->provenance != HM_RECOMMEND_ROWS)
            continue;
        if (used + 40 < sizeof(list))
            used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%g", others ? ", " : "",
                                     w->candidates[i].r.n);
        others++;
    }
    return others == 0
               ? 0
               : hm__notes_add(hm__recommend_notes(w), err, "there are no runs with %s worker%s",
                               list, others == 1 && list[0] == '1' && used == 1 ? "" : "s");
}

/* Warns about a file whose last value may be truncated. */
static int note_cut(struct hm_recommending *w, struct hm_err *err)
{
    if (!w->runs || !w->runs->cut)
        return 0;
    return hm__notes_add(hm__recommend_notes(w), err, "%.200s " HM_NOTE_CUT,
                         hm__note_source(w->runs->source));
}

/* Adds a note if the recommended n is beyond the largest n of the runs. */
static int note_far(struct hm_recommending *w, struct hm_err *err)
{
    double most = 0;
    char workers[40];

    for (size_t i = 0; i < w->picked_count; i++)
        if (!isnan(w->seconds[w->picked[i]]))
            most = fmax(most, w->n[w->picked[i]]);
    if (w->out->provenance != HM_RECOMMEND_FIT || w->out->best == HM_NONE)
        return 0;
    double n = w->candidates[w->out->recommended].r.n;
    if (n <= most)
        return 0;
    return hm__notes_add(hm__recommend_notes(w), err, "%s are %.3g times as many as in any run",
                         hm__recommend_workers(n, workers), n / most);
}

static int recommend_fill(struct hm_recommending *w, struct hm_err *err)
{
    int rc = hm__recommend_pick(w, err);

    if (rc == 0)
        rc = hm__recommend_place(w, err);
    if (rc == 0 && w->runs)
        rc = recommend_from_runs(w, err);
    if (rc == 0 && w->out->provenance == HM_RECOMMEND_NONE && w->q->job)
        rc = hm__recommend_model(w, err);
    if (rc == 0)
        reason_all_fail(w);
    if (rc == 0)
        rc = hm__recommend_judge(w, err);
    /* The answer states the source of the recommended candidate's time. */
    if (rc == 0 && w->out->provenance == HM_RECOMMEND_ROWS && w->out->best != HM_NONE &&
        w->candidates[w->out->recommended].r.row_count == 0)
        w->out->provenance = HM_RECOMMEND_FIT;
    if (rc == 0)
        rc = note_cut(w, err);
    if (rc == 0)
        rc = note_not_run(w, err);
    if (rc == 0)
        rc = note_far(w, err);
    return rc ? rc : hm__recommend_next(w, err);
}

int hm_recommend(const struct hm_runs *runs, const struct hm_recommend_question *question,
                 struct hm_recommendation **ret_recommendation, struct hm_err *err)
{
    int bad = hm__check_pointers(err, "question", question, "ret_recommendation",
                                 ret_recommendation, NULL);
    if (bad == 0)
        bad = (runs ? hm__runs_check_times(runs, err) : 0);
    if (bad == 0)
        bad = (question->job ? hm_job_check(question->job, err) : 0);
    if (bad == 0)
        bad = (question->cluster ? hm_cluster_check(question->cluster, err) : 0);
    if (bad == 0)
        bad = hm__check_enum("goal", (int)question->goal, HM_GOAL_BALANCE + 1, err);
    if (bad == 0)
        bad = hm__check_array(question->at, question->at_count, "at", err);
    if (bad == 0)
        bad = hm__check_array(question->n, question->n_count, "n", err);
    if (bad)
        return bad;
    struct hm_arena *arena = NULL;
    struct hm_recommendation *out = NULL;
    int rc = recommend_question_check(runs, question, err);

    if (rc == 0 && (!(arena = hm__arena_new()) || !(out = hm__arena_alloc(arena, 1, sizeof(*out)))))
        rc = hm__fail_nomem(err);
    if (rc == 0) {
        struct hm_recommending w = {.runs = runs,
                                    .n = hm__recommend_values(runs, "n"),
                                    .seconds = hm__recommend_values(runs, "seconds"),
                                    .q = question,
                                    .out = out,
                                    .arena = arena,
                                    .node_workers = NAN,
                                    .rate = NAN};
        *out = (struct hm_recommendation){.provenance = HM_RECOMMEND_NONE,
                                          .goal = recommend_goal(question),
                                          .level = question->level > 0 ? question->level : 0.9,
                                          .best = HM_NONE,
                                          .sure = NAN,
                                          .sure_near = NAN,
                                          .recommended = HM_NONE,
                                          .slack = question->slack,
                                          .one_node = NAN,
                                          .n_low = NAN,
                                          .n_high = NAN,
                                          .certainty = recommend_certainty(question),
                                          .deadline_s = known_limit(question->deadline_s),
                                          .budget = known_limit(question->budget),
                                          .memory = arena};
        if (runs && !(out->source = hm__arena_strdup(arena, runs->source ? runs->source : "runs")))
            rc = hm__fail_nomem(err);
        if (rc == 0)
            rc = recommend_fill(&w, err);
    }
    if (rc)
        hm__arena_free(arena);
    else
        *ret_recommendation = out;
    return rc;
}

void hm_recommendation_free(struct hm_recommendation *recommendation)
{
    if (recommendation)
        hm__arena_free(recommendation->memory);
}
