/*
 * Lists the platforms that a plan compares: chooses the number of servers, finds the number of
 * workers n above which the servers' links limit the speed, and finds how many servers are enough.
 * A number of servers is enough if the time is at most 1.05 times the time with one server per
 * worker. Limit: if the question does not specify the number of servers, only the numbers in
 * `numbers` are tried.
 */
#include "ways.h"

#include <math.h>
#include <string.h>

#include "budget.h"
#include "err.h"
#include "names.h"
#include "slowness.h"
#include "way_time.h"

/* Numbers of servers that are tried if the question does not specify one. */
static const double numbers[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256};
enum { NUMBERS = sizeof(numbers) / sizeof(numbers[0]) };

/*
 * The chosen number of servers is the smallest one whose value is at most FEWER times the best
 * value. A number of servers is enough if the time is at most ENOUGH times the time with one server
 * per worker.
 */
static const double FEWER = 1.02, ENOUGH = 1.05;

static bool way_has_open_servers(const struct hm_way *way)
{
    return way->platform == HM_PLATFORM_SERVER && way->servers == 0;
}

size_t hm__ways_count(const struct hm_question *q)
{
    size_t count = 0;

    for (size_t i = 0; i < q->way_count; i++)
        count += way_has_open_servers(&q->ways[i]) ? (size_t)NUMBERS : 1;
    return q->way_count ? count : 1;
}

struct hm_way hm__ways_nth(const struct hm_question *q, size_t nth, size_t *ret_asked)
{
    for (size_t i = 0; i < q->way_count; i++) {
        size_t here = way_has_open_servers(&q->ways[i]) ? (size_t)NUMBERS : 1;
        if (nth < here) {
            struct hm_way way = q->ways[i];
            if (here > 1)
                way.servers = numbers[nth];
            *ret_asked = i;
            return way;
        }
        nth -= here;
    }
    *ret_asked = 0;
    return (struct hm_way){0};
}

double hm__ways_fewer(void)
{
    return FEWER;
}

struct hm_way hm__way_at(const struct hm_way *way, const struct hm_point *point)
{
    struct hm_way at = *way;

    if (at.colocated)
        at.servers = fmin(at.servers, point->nodes);
    if (at.stale_cost > 0) {
        at.stale_cost = hm__way_stale_cost(way, point->n);
        at.stale_power = 0;
    }
    return at;
}

double hm__search_samples_per_s(const struct hm_search *s, const struct hm_point *p)
{
    if (!(s->job->batch > 0) || !(p->time_s > 0))
        return NAN;
    return s->job->batch * (s->weak ? hm__way_used(&s->way, p->n) : 1) / p->time_s;
}

/* ---- saturation ------------------------------------------------------------------------------ */

/*
 * Returns the smallest number of workers n for which the servers' links are busy for at least half
 * of a step, or for 70 % of the time if gradients may be stale. At about this n, the links need as
 * much time for the gradients of n workers as a worker needs for one step without waiting.
 */
double hm__way_saturates(const struct hm_search *s, const struct hm_curve *c)
{
    double full = hm__way_stale(&s->way) ? 0.7 : 0.5;

    for (size_t i = 0; i < c->count; i++)
        if (c->points[i].server_share >= full)
            return c->points[i].n;
    return NAN;
}

static int way_time_with(const struct hm_search *s, double n, double servers, double *ret_s,
                         struct hm_err *err)
{
    struct hm_variant variant = hm__search_variant(s);
    struct hm_point point = {.n = n};
    struct hm_model *model;

    variant.way.servers = servers;
    int rc = hm__model_new(s->job, s->cluster, &variant, &model, err);
    if (rc)
        return rc;
    rc = hm__model_eval(model, &point, 1, err);
    hm__model_free(model);
    *ret_s = point.time_s;
    return rc;
}

int hm__way_enough(const struct hm_search *s, double n, double *ret_servers, struct hm_err *err)
{
    double low = 1, high = n, least = 0, now = 0;
    /*
     * The error is ignored: for example, there may be more servers than the model has parameters.
     */
    struct hm_err ignored = {0};

    *ret_servers = NAN;
    if (s->way.platform != HM_PLATFORM_SERVER || hm__strategy_inside(s->way.strategy))
        return 0;
    int rc = way_time_with(s, n, high, &least, &ignored);

    while (rc == 0 && low < high) {
        if (hm__budget_spent("servers"))
            break;
        double middle = floor((low + high) / 2);
        rc = way_time_with(s, n, middle, &now, &ignored);
        if (now <= ENOUGH * least)
            high = middle;
        else
            low = middle + 1;
    }
    if (rc == HM_E_NOMEM)
        return hm__fail_nomem(err);
    *ret_servers = rc ? NAN : high;
    return 0;
}

int hm__answer_ways(struct hm_answer *a, const struct hm_search *s, const struct hm_curve *c,
                    struct hm_err *err)
{
    size_t at = a->recommended != HM_NONE ? a->recommended : a->nearest;

    a->uneven = s->cluster && hm__slowness_any(&s->cluster->slowness) && !hm__search_by_runs(s);
    if (at == HM_NONE)
        return 0;
    a->samples_per_s = hm__search_samples_per_s(s, &c->points[at]);
    if (s->way.platform == HM_PLATFORM_JOB)
        return 0;
    a->way = hm__way_at(&s->way, &c->points[at]);
    a->saturates_n = hm__way_saturates(s, c);
    return hm__way_enough(s, c->points[at].n, &a->servers_enough, err);
}

int hm__way_check(const struct hm_search *s, double max_n, struct hm_err *err)
{
    double nodes = hm__way_nodes(&s->way);

    if (max_n < 1) {
        hm__fail(err, HM_E_RANGE, "%g node%s for %s leave%s none for workers: the cluster has %g",
                 nodes, nodes == 1 ? "" : "s",
                 s->way.platform == HM_PLATFORM_SERVER ? "servers" : "the driver",
                 nodes == 1 ? "s" : "", s->cluster->max_nodes);
        hm__err_field(err, "servers");
        return HM_E_RANGE;
    }
    if (s->way.backups >= max_n) {
        hm__fail(err, HM_E_RANGE,
                 "%g backups are not fewer than the workers, of which there are at most %g",
                 s->way.backups, max_n);
        hm__err_hint(err, "a step needs the gradient of at least one worker");
        hm__err_field(err, "backups");
        return HM_E_RANGE;
    }
    return 0;
}
