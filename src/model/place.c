/*
 * Places a chain of layers on devices (model parallelism) so that the pipeline takes the shortest
 * time.
 *
 * The time of a step with m micro-batches is sum(t_s) + sum(c_s) + (m - 1) max(t_s, c_s), where t_s
 * is the time of stage s and c_s is the time of the link after it. sum(t_s) does not depend on the
 * placement. For each value M that max(t_s, c_s) can have, in ascending order, a dynamic program
 * over the units finds the smallest sum(c_s) of placements whose stages and links take at most M.
 * The search ends when no placement with a larger M can be better than the best one so far. Stage s
 * of k keeps the activations of min(m, k - s) micro-batches (forward and backward passes
 * alternate).
 */
#include "place.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "budget.h"
#include "err.h"
#include "memory.h"
#include "order.h"

enum { CHECK_EVERY = 64 }; /* Number of units between two checks of the limits of the request. */

/* Sums over the first units of the chain; the sums over a stage are differences of these. */
struct place_sums {
    double *time_s, *fixed, *kept;
};

struct place_search {
    const struct hm_place_unit *units;
    size_t count, stages;
    double micro_batches, memory;
    struct place_sums sums;
    double *least;  /* least[s * (count + 1) + j] is the smallest sum of link times if the first j
                       units are placed in s stages. */
    size_t *before; /* before[i] is the number of units before the last stage of the placement whose
                       sum is least[i]. */
};

static bool stage_fits(const struct place_search *s, size_t from, size_t to, size_t stage)
{
    double kept = fmin(s->micro_batches, (double)(s->stages - stage));
    double bytes =
        s->sums.fixed[to] - s->sums.fixed[from] + kept * (s->sums.kept[to] - s->sums.kept[from]);

    return isnan(s->memory) || bytes <= s->memory;
}

/* Fills the tables `least` and `before` for stages and links that take at most `most` seconds;
 * returns the smallest sum of link times. It is infinite if there is no such placement, or if the
 * budget is spent. */
static double search_fill(struct place_search *s, double most)
{
    const size_t width = s->count + 1;
    const double limit = most * (1 + 1e-12);

    for (size_t i = 0; i < (s->stages + 1) * width; i++)
        s->least[i] = INFINITY;
    s->least[0] = 0;
    for (size_t k = 1; k <= s->stages; k++) {
        for (size_t j = k; j <= s->count; j++) {
            bool last = k == s->stages;
            double send = last ? 0 : s->units[j - 1].send_s;
            if ((j - k) % CHECK_EVERY == 0 && hm__budget_spent("platform"))
                return INFINITY;
            if (send > limit || (last && j < s->count))
                continue;
            for (size_t i = j; i-- >= k;) {
                if (s->sums.time_s[j] - s->sums.time_s[i] > limit)
                    break;
                double sum = s->least[(k - 1) * width + i] + send;
                if (!(sum < s->least[k * width + j]) || !stage_fits(s, i, j, k - 1))
                    continue;
                s->least[k * width + j] = sum;
                s->before[k * width + j] = i;
            }
        }
    }
    return s->least[s->stages * width + s->count];
}

static void search_ends(const struct place_search *s, size_t *ends)
{
    size_t at = s->count;

    for (size_t k = s->stages; k > 0; k--) {
        ends[k - 1] = at;
        at = s->before[k * (s->count + 1) + at];
    }
}

double hm__place_time(const struct hm_place_unit *units, const size_t *ends, size_t stages,
                      double micro_batches, double memory)
{
    double sum = 0, most = 0;
    size_t from = 0;

    for (size_t k = 0; k < stages; k++) {
        double time_s = 0, bytes = 0;
        for (size_t i = from; i < ends[k]; i++) {
            time_s += units[i].time_s;
            bytes += units[i].fixed_bytes +
                     fmin(micro_batches, (double)(stages - k)) * units[i].kept_bytes;
        }
        double send = k + 1 < stages ? units[ends[k] - 1].send_s : 0;
        if (memory > 0 && bytes > memory)
            return INFINITY;
        sum += time_s + send;
        most = fmax(most, fmax(time_s, send));
        from = ends[k];
    }
    return sum + (micro_batches - 1) * most;
}

/* Lists all times that the slowest stage or link can have, in ascending order. */
static size_t list_times(const struct place_search *s, double *times)
{
    size_t count = 0;

    for (size_t i = 0; i < s->count; i++) {
        times[count++] = s->units[i].send_s;
        for (size_t j = i + 1; j <= s->count; j++)
            times[count++] = s->sums.time_s[j] - s->sums.time_s[i];
    }
    hm__sort_numbers(times, count, "platform");
    return count;
}

/* Adopts the placement that search_fill has found if it is faster than the best one so far. */
static void search_take(struct place_search *s, struct hm_placement *best)
{
    struct hm_placement found = {0};

    search_ends(s, found.ends);
    found.time_s = hm__place_time(s->units, found.ends, s->stages, s->micro_batches, NAN);
    if (found.time_s < best->time_s)
        *best = found;
}

static void search_run(struct place_search *s, const double *times, size_t count,
                       struct hm_placement *best)
{
    const double total = s->sums.time_s[s->count];
    /* Lower bound on the sum of link times: the smallest sum if stages may take any time. */
    const double links = search_fill(s, times[count - 1]);
    size_t low = 0, high = count - 1;

    if (isinf(links))
        return;
    search_take(s, best);
    /* Find the shortest time of the slowest stage for which a placement exists. */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (isinf(search_fill(s, times[middle])))
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = high; i < count; i++) {
        if (total + links + (s->micro_batches - 1) * times[i] >= best->time_s)
            return;
        if (i > high && times[i] == times[i - 1])
            continue;
        if (isinf(search_fill(s, times[i])))
            return;
        search_take(s, best);
    }
}

int hm__place_chain(const struct hm_place_unit *units, size_t count, size_t stages,
                    double micro_batches, double memory, struct hm_placement *ret_placement,
                    struct hm_err *err)
{
    const size_t cells = (stages + 1) * (count + 1);
    struct place_search s = {units, count, stages, micro_batches, memory > 0 ? memory : NAN,
                             {0},   NULL,  NULL};
    struct hm_placement best = {.time_s = INFINITY};
    double *values = NULL;
    int rc = 0;

    if (stages < 1 || stages > HM_STAGES_MAX || stages > count) {
        *ret_placement = best;
        return 0;
    }
    size_t times = count * (count + 3) / 2;
    values = hm__calloc(3 * (count + 1) + cells + times, sizeof(*values));
    s.before = hm__calloc(cells, sizeof(*s.before));
    if (!values || !s.before) {
        rc = hm__fail_nomem(err);
        goto out;
    }
    s.sums = (struct place_sums){values, values + count + 1, values + 2 * (count + 1)};
    s.least = values + 3 * (count + 1);
    for (size_t i = 0; i < count; i++) {
        s.sums.time_s[i + 1] = s.sums.time_s[i] + units[i].time_s;
        s.sums.fixed[i + 1] = s.sums.fixed[i] + units[i].fixed_bytes;
        s.sums.kept[i + 1] = s.sums.kept[i] + units[i].kept_bytes;
    }
    double *list = s.least + cells;
    hm__budget_steps(HM_STEP_PLACE, (double)count * (double)count);
    search_run(&s, list, list_times(&s, list), &best);
    rc = hm__budget_check("platform", err);
    if (rc == 0)
        *ret_placement = best;
out:
    hm__free(values);
    hm__free(s.before);
    return rc;
}
