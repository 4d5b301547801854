/*
 * Compares a job with the literature. A job may contain published values that the model must
 * reproduce, and k measured speedups. The mean absolute percentage error of the predicted speedups
 * s, 100/k sum |s - s_measured| / s_measured, can also be compared with a published error, with and
 * without the reference point, which is exact by construction. Limit: values are compared only at
 * the values of n on the curve.
 */
#include <math.h>
#include <string.h>

#include "checks.h"
#include "err.h"
#include "howmany.h"
#include "memory.h"

/* Returns whether a value, rounded to the given number of significant digits, equals the published
 * value. */
static bool figure_agrees(double value, double published, double digits)
{
    if (published == 0)
        return value == 0;
    double last = pow(10, floor(log10(fabs(published))) - digits + 1);
    return fabs(value - published) <= 0.5 * last * (1 + 1e-6);
}

/* Finds the point with n workers by bisection; the points are sorted by n. */
static const struct hm_point *answer_point_at(const struct hm_answer *a, double n)
{
    size_t low = 0, high = a->point_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (a->points[middle].n < n)
            low = middle + 1;
        else
            high = middle;
    }
    return low < a->point_count && a->points[low].n == n ? &a->points[low] : NULL;
}

static double answer_mape(const struct hm_answer *a, bool without_reference)
{
    double sum = 0;
    size_t count = 0;

    for (size_t i = 0; i < a->measured_count; i++) {
        const struct hm_point *p = answer_point_at(a, a->measured[i].n);
        if (!p || (without_reference && p->n == a->reference))
            continue;
        sum += fabs(p->speedup - a->measured[i].speedup) / a->measured[i].speedup;
        count++;
    }
    return count ? 100 * sum / (double)count : NAN;
}

enum { RANDOM_SEEDS = 20 };

/*
 * Computes the mean and the standard deviation of the percentage error of the speedups over random
 * splits of the job's graph with 20 seeds.
 */
static int random_mape(const struct hm_job *job, double *ret_mean, double *ret_spread,
                       struct hm_err *err)
{
    double sum = 0, squares = 0;

    for (int seed = 1; seed <= RANDOM_SEEDS; seed++) {
        double error = 0;
        for (size_t i = 0; i < job->measured_count; i++) {
            const struct hm_measured *m = &job->measured[i];
            struct hm_parts parts;
            int rc = hm_graph_split(job->graph, HM_SPLIT_RANDOM, 1, seed, &m->n, 1, &parts, err);
            if (rc)
                return rc;
            error += fabs(job->graph->edges / parts.edges_max - m->speedup) / m->speedup;
        }
        error *= 100 / (double)job->measured_count;
        sum += error;
        squares += error * error;
    }
    *ret_mean = sum / RANDOM_SEEDS;
    *ret_spread = sqrt(fmax(squares - sum * sum / RANDOM_SEEDS, 0) / (RANDOM_SEEDS - 1));
    return 0;
}

static double answer_figure(const struct hm_answer *a, const struct hm_expect *e)
{
    const struct hm_point *p = answer_point_at(a, e->n);

    if (strcmp(e->what, "mape") == 0)
        return answer_mape(a, false);
    if (strcmp(e->what, "mape_without_reference") == 0)
        return answer_mape(a, true);
    if (strcmp(e->what, "best_n") == 0)
        return a->best == HM_NONE ? NAN : a->points[a->best].n;
    if (strcmp(e->what, "best_speedup") == 0)
        return a->best == HM_NONE ? NAN : a->points[a->best].speedup;
    if (!p)
        return NAN;
    return strcmp(e->what, "time") == 0 ? p->time_s : p->speedup;
}

static void validation_add_check(struct hm_validation *v, const char *what, double n, double value,
                                 double published, double digits, double within)
{
    bool near =
        within > 0 ? fabs(value - published) <= within : figure_agrees(value, published, digits);

    v->checks[v->count++] = (struct hm_check){.what = what,
                                              .n = n > 0 ? n : NAN,
                                              .value = value,
                                              .published = published,
                                              .within = within > 0 ? within : NAN,
                                              .digits = digits,
                                              .agrees = near};
}

/*
 * Compares the counts of a neural network with published counts: the number of parameters must
 * agree exactly, and the flop must agree to the published digits (four or five).
 */
static int check_network(struct hm_validation *v, const struct hm_job *job, struct hm_err *err)
{
    const struct hm_network *network = job->network;
    struct hm_counts *counts;

    if (!network ||
        (!(network->published_parameters > 0) && !(network->published_forward_flop > 0)))
        return 0;
    int rc = hm_counts_new(network, job->source, &counts, err);
    if (rc)
        return rc;
    if (network->published_parameters > 0)
        validation_add_check(v, "parameters", NAN, counts->parameters,
                             network->published_parameters, 12, 0);
    if (network->published_forward_flop > 0)
        validation_add_check(v, "forward flop", NAN, counts->forward_flop,
                             network->published_forward_flop, 4, 0);
    hm_counts_free(counts);
    return 0;
}

static int fail_off_curve(const struct hm_job *job, double n, const char *field, struct hm_err *err)
{
    hm__fail(err, HM_E_RANGE, "n = %g is not among the workers considered", n);
    hm__err_hint(err, "numbers of workers go up to cluster.max_nodes, in whole nodes");
    hm__err_field(err, field);
    hm__err_at(err, job->source, 0);
    return HM_E_RANGE;
}

/*
 * Checks that the curve has a point for the n of each published value. If a value is an error of
 * speedups, the job must have measured speedups.
 */
static int check_points(const struct hm_job *job, const struct hm_answer *a, struct hm_err *err)
{
    for (size_t i = 0; i < job->measured_count; i++)
        if (!answer_point_at(a, job->measured[i].n))
            return fail_off_curve(job, job->measured[i].n, "measured", err);
    for (size_t i = 0; i < job->expect_count; i++) {
        const struct hm_expect *e = &job->expect[i];
        bool at_n = strcmp(e->what, "time") == 0 || strcmp(e->what, "speedup") == 0;
        if (at_n && !answer_point_at(a, e->n))
            return fail_off_curve(job, e->n, "expect", err);
        if (strncmp(e->what, "mape_random", 11) == 0 && !job->graph)
            return hm__fail(err, HM_E_MISSING, "'%s' needs a graph", e->what);
        if (strncmp(e->what, "mape", 4) == 0 && job->measured_count == 0) {
            hm__fail(err, HM_E_MISSING, "'%s' needs measured speedups", e->what);
            hm__err_hint(err, "give measured: {speedup: {1: 1, 2: 1.9}}");
            hm__err_field(err, "expect");
            hm__err_at(err, job->source, 0);
            return HM_E_MISSING;
        }
    }
    return 0;
}

static int check_figures(struct hm_validation *v, const struct hm_job *job, struct hm_err *err)
{
    struct hm_question question = HM_QUESTION_INIT;

    if (job->expect_count == 0)
        return 0;
    int rc = hm_plan(job, NULL, 0, NULL, 0, &question, &v->answer, err);
    if (rc == 0)
        rc = check_points(job, v->answer, err);
    for (size_t i = 0; rc == 0 && i < job->expect_count; i++) {
        const struct hm_expect *e = &job->expect[i];
        double value = answer_figure(v->answer, e), mean, spread;
        if (strncmp(e->what, "mape_random", 11) == 0) {
            if ((rc = random_mape(job, &mean, &spread, err)))
                return rc;
            value = strcmp(e->what, "mape_random") == 0 ? mean : spread;
        }
        validation_add_check(v, e->what, e->n, value, e->value, e->digits, e->within);
    }
    return rc;
}

int hm_validate(const struct hm_job *job, struct hm_validation **ret_validation, struct hm_err *err)
{
    int bad = hm__check_pointers(err, "ret_validation", ret_validation, NULL);
    if (bad == 0)
        bad = hm_job_check(job, err);
    if (bad)
        return bad;
    struct hm_arena *arena = hm__arena_new();
    struct hm_validation *v = arena ? hm__arena_alloc(arena, 1, sizeof(*v)) : NULL;
    int rc = v ? 0 : hm__fail_nomem(err);

    if (rc == 0) {
        v->memory = arena;
        v->name = job->name ? hm__arena_strdup(arena, job->name) : NULL;
        v->checks = hm__arena_alloc(arena, job->expect_count + 2, sizeof(*v->checks));
        if (!v->checks || (job->name && !v->name))
            rc = hm__fail_nomem(err);
    }
    if (rc == 0)
        rc = check_network(v, job, err);
    if (rc == 0)
        rc = check_figures(v, job, err);
    if (rc == 0) {
        *ret_validation = v;
        return 0;
    }
    if (v)
        hm_answer_free(v->answer);
    hm__arena_free(arena);
    return rc;
}

void hm_validation_free(struct hm_validation *v)
{
    if (!v)
        return;
    hm_answer_free(v->answer);
    hm__arena_free(v->memory);
}
