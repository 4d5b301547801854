/* Checks the members of struct hm_question. */
#include <math.h>

#include "checks.h"
#include "err.h"
#include "names.h"
#include "slowness.h"

static const double QUESTION_MOST = 1e15;

/*
 * Checks that a TensorFlow strategy is combined with its platform, and that central storage has a
 * single synchronous server.
 */
static int check_strategy(const struct hm_way *way, struct hm_err *err)
{
    bool central = way->strategy == HM_STRATEGY_CENTRAL_STORAGE;
    enum hm_platform platform = hm__strategy_platform(way->strategy);

    if (way->strategy != HM_STRATEGY_NONE && way->platform != platform) {
        hm__fail(err, HM_E_CONFLICT, "%s has the platform %s, not %s",
                 hm_strategy_title(way->strategy), hm_platform_name(platform),
                 hm_platform_name(way->platform));
        hm__err_field(err, "strategy");
        return HM_E_CONFLICT;
    }
    if (central && (way->servers != 1 || !way->colocated || way->backups > 0 ||
                    way->consistency != HM_CONSISTENCY_BSP)) {
        hm__fail(err, HM_E_CONFLICT,
                 "central storage is one server in the host of the workers, with bsp");
        hm__err_field(err, "strategy");
        return HM_E_CONFLICT;
    }
    return 0;
}

/* Checks the settings of one platform: their ranges, and whether they contradict each other. */
static int check_way(const struct hm_way *way, struct hm_err *err)
{
    bool server = way->platform == HM_PLATFORM_SERVER;
    int rc = hm__check_enum("platform", (int)way->platform, HM_PLATFORM_PIPELINE + 1, err);

    if (rc == 0)
        rc = hm__check_enum("consistency", (int)way->consistency, HM_CONSISTENCY_ASYNC + 1, err);
    if (rc == 0)
        rc = hm__check_whole("staleness", way->staleness, 0, 1e6, err);
    if (rc == 0)
        rc = hm__check_whole("servers", way->servers, 0, 1e6, err);
    if (rc == 0)
        rc = hm__check_whole("backups", way->backups, 0, HM_BACKUPS_MOST, err);
    if (rc == 0 && way->stale_cost != 0)
        rc = hm__check_range("stale_cost", way->stale_cost, 1e-6, 1e6, err);
    if (rc == 0)
        rc = hm__check_range("stale_power", way->stale_power, -10, 10, err);
    if (rc == 0)
        rc = hm__check_whole("local_steps", way->local_steps, 0, 1e9, err);
    if (rc == 0)
        rc = hm__check_enum("strategy", (int)way->strategy, HM_STRATEGY_COUNT, err);
    if (rc == 0)
        rc = check_strategy(way, err);
    if (rc)
        return rc;
    if (way->local_steps > 1 &&
        (server || way->platform == HM_PLATFORM_DRIVER || way->platform == HM_PLATFORM_JOB ||
         way->platform == HM_PLATFORM_PIPELINE)) {
        hm__fail(err, HM_E_CONFLICT, "the platform %s has no local steps",
                 hm_platform_name(way->platform));
        hm__err_field(err, "local_steps");
        return HM_E_CONFLICT;
    }
    if (!server && (way->consistency != HM_CONSISTENCY_BSP || way->servers > 0 ||
                    way->backups > 0 || way->colocated)) {
        hm__fail(err, HM_E_CONFLICT, "the platform %s has no servers, so its steps are always bsp",
                 hm_platform_name(way->platform));
        hm__err_hint(err, "consistency, servers, colocated and backups need the platform server");
        return HM_E_CONFLICT;
    }
    if (way->backups > 0 && way->consistency != HM_CONSISTENCY_BSP)
        return hm__fail(err, HM_E_CONFLICT, "backups apply only to the consistency bsp, not to %s",
                        hm_consistency_name(way->consistency));
    return 0;
}

/*
 * Two weights of 0 are an error, because they would make all numbers of workers equally good. This
 * check also detects a question that was set to zeros instead of HM_QUESTION_INIT.
 */
static int check_weights(const struct hm_question *q, struct hm_err *err)
{
    bool balance = q->goal == HM_GOAL_BALANCE || q->goal == HM_GOAL_AUTO;
    int rc = isnan(q->alpha) ? 0 : hm__check_range("alpha", q->alpha, 0, QUESTION_MOST, err);

    if (rc == 0 && !isnan(q->beta))
        rc = hm__check_range("beta", q->beta, 0, QUESTION_MOST, err);
    if (rc || !balance || q->alpha != 0 || q->beta != 0)
        return rc;
    hm__fail(err, HM_E_RANGE, "alpha and beta are both 0, which gives every n the same value");
    hm__err_hint(err, "set one of them above 0, or both to NaN, as HM_QUESTION_INIT does");
    hm__err_field(err, "alpha");
    return HM_E_RANGE;
}

/*
 * Checks the list of numbers of workers to consider: they must be whole, positive and in ascending
 * order.
 */
static int check_question_numbers(const struct hm_question *q, struct hm_err *err)
{
    int rc = hm__check_array(q->n, q->n_count, "n", err);

    for (size_t i = 0; rc == 0 && i < q->n_count; i++) {
        rc = hm__check_whole("n", q->n[i], 1, 1e6, err);
        if (rc == 0 && i > 0 && q->n[i] <= q->n[i - 1]) {
            rc = hm__fail(err, HM_E_RANGE, "%g comes after %g: the numbers must be ascending",
                          q->n[i], q->n[i - 1]);
            hm__err_field(err, "n");
        }
    }
    return rc;
}

int hm_question_check(const struct hm_question *q, struct hm_err *err)
{
    int rc = hm__check_pointer(q, "question", err);

    if (rc == 0)
        rc = hm__check_enum("goal", (int)q->goal, HM_GOAL_BALANCE + 1, err);
    if (rc == 0)
        rc = hm__check_whole("max_n", q->max_n, 0, 1e6, err);
    if (rc == 0)
        rc = hm__check_whole("reference", q->reference, 0, 1e6, err);
    if (rc == 0)
        rc = hm__check_range("deadline", q->deadline_s, 0, QUESTION_MOST, err);
    if (rc == 0 && !isnan(q->budget))
        rc = hm__check_range("budget", q->budget, 0, QUESTION_MOST, err);
    if (rc == 0 && q->faster != 0)
        rc = hm__check_range("faster", q->faster, 1e-6, 1e9, err);
    if (rc == 0 && q->work != 0)
        rc = hm__check_range("work", q->work, 1e-6, 1e9, err);
    if (rc == 0 && !isnan(q->slack))
        rc = hm__check_range("slack", q->slack, 0, 1e6, err);
    if (rc == 0 && !isnan(q->certainty) && q->certainty != 0)
        rc = hm__check_range("certainty", q->certainty, 1e-3, 0.99, err);
    if (rc == 0)
        rc = check_question_numbers(q, err);
    if (rc == 0)
        rc = check_weights(q, err);
    if (rc == 0 && q->fit)
        rc = hm__fit_check(q->fit, err);
    if (rc == 0)
        rc = hm__check_array(q->ways, q->way_count, "ways", err);
    for (size_t i = 0; rc == 0 && i < q->way_count; i++)
        rc = check_way(&q->ways[i], err);
    return rc;
}
