/*
 * Chooses the constants of the model of large networks from measured training steps.
 *
 *     fit-large > src/model/large_sets.c
 *
 * Coordinate descent over the logarithms of the constants minimises the mean absolute logarithmic
 * error, with the same weight for every source, plus a penalty for differing from the values before
 * the fit. For each source, another set of constants is fitted without the rows of that source; its
 * errors on that source are the cross-validated errors. From these errors the intervals of plans
 * are estimated (struct hm_large_spread), again from all rows and without each source.
 */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "large_rows_eval.h"
#include "order.h"
#include "read_large.h"

enum { SOURCES = 32, ROUNDS = 60 };

struct fit_data {
    struct hm_large_rows *rows;
    struct hm_large_device *devices;
    bool *healthy;
    int *source; /* Index of the source of each row. */
    const char *sources[SOURCES];
    /* Whether the rows of a source are of devices of no measured generation. Only gemm_other is
     * fitted to them, so that they do not change the constants of measured generations. */
    bool other[SOURCES];
    double weights[SOURCES]; /* Weight of each source in the fit. */
    int source_count;
    bool *depends; /* Whether the time of row i depends on constant k, at i * HM_LARGE_CONSTANTS +
                      k. */
};

static const double sheet[] = {
#define SHEET(name, value, least, most) value,
    HM_LARGE_CONSTANT_MAP(SHEET)
#undef SHEET
};
static const double least[] = {
#define LEAST(name, value, low, most) low,
    HM_LARGE_CONSTANT_MAP(LEAST)
#undef LEAST
};
static const double most[] = {
#define MOST(name, value, low, high) high,
    HM_LARGE_CONSTANT_MAP(MOST)
#undef MOST
};

/* Weight of the penalty, chosen by cross-validation among 0.001, 0.002, 0.004, 0.005, 0.008, 0.010
 * and 0.015. */
static const double PENALTY = 8e-3;

/*
 * Sources with another weight than 1. nemo_h100 is of the same vendor and software as
 * megatron_bridge. Those with the weight 0 are only predicted: nemo_gb200 is the first software for
 * its device, a quarter slower than later releases in megatron_bridge, and jax_h100 does not state
 * what it recomputes.
 */
static const struct {
    const char *source;
    double weight;
} weighed[] = {{"nemo_h100", .4}, {"nemo_gb200", 0}, {"jax_h100", 0}};

static const char opening[] =
    "/*\n"
    " * Made by tools/fit_large.c from data/large.csv; do not edit. "
    "Constants fitted to all sources and\n"
    " * without each source, and the ends of 90 % intervals of "
    "ln(measured/predicted), each row\n"
    " * predicted by constants that were fitted without its source. Constants have the order of\n"
    " * HM_LARGE_CONSTANT_MAP.\n"
    " */\n"
    "#include \"large.h\"\n"
    "\n"
    "const struct hm_large_set hm__large_sets[] = {\n";
static const char between[] = "    {NULL, {0}},\n"
                              "};\n"
                              "\n"
                              "const struct hm_large_spread_set hm__large_spreads[] = {\n";

static double row_error(const struct fit_data *d, size_t i, const struct hm_large_constants *c)
{
    struct hm_large_step step;

    hm__large_row_eval(&d->rows->rows[i], &d->devices[i], c, &step);
    return log(step.time_s / d->rows->rows[i].time_s);
}

/* Finds the rows whose times depend on each constant, so that a change of the constant needs only
 * the errors of these rows. */
static void find_depends(struct fit_data *d)
{
    for (size_t i = 0; i < d->rows->count; i++)
        for (int k = 0; d->healthy[i] && k < HM_LARGE_CONSTANTS; k++)
            for (int way = 0; way < 4; way++) {
                struct hm_large_constants from = hm__large_reference;
                if (way >= 2)
                    memcpy(&from, sheet, sizeof(from));
                struct hm_large_constants to = from;
                ((double *)&to)[k] = way % 2 ? least[k] : most[k];
                d->depends[i * HM_LARGE_CONSTANTS + (size_t)k] |=
                    row_error(d, i, &from) != row_error(d, i, &to);
            }
}

/*
 * Returns the value to minimise: the mean over sources of the mean error, plus the penalty. The
 * source `skip` is left out (-1: none), as are those of the other kind of devices than `other`.
 * `errors` are the errors of all rows; those of rows that depend on the constant `changed` are
 * computed again (-1: all rows).
 */
static double objective(const struct fit_data *d, const struct hm_large_constants *c, int skip,
                        bool other, int changed, double *errors)
{
    double sums[SOURCES] = {0}, counts[SOURCES] = {0}, total = 0, used = 1e-9;
    const double *values = (const double *)c;

    for (size_t i = 0; i < d->rows->count; i++)
        if (d->healthy[i] && d->source[i] != skip && d->other[d->source[i]] == other) {
            if (changed < 0 || d->depends[i * HM_LARGE_CONSTANTS + (size_t)changed])
                errors[i] = fabs(row_error(d, i, c));
            sums[d->source[i]] += errors[i];
            counts[d->source[i]]++;
        }
    for (int s = 0; s < d->source_count; s++)
        if (counts[s] > 0) {
            total += d->weights[s] * sums[s] / counts[s];
            used += d->weights[s];
        }
    for (int k = 0; k < HM_LARGE_CONSTANTS; k++) {
        double away = sheet[k] > 0 ? log(values[k] / sheet[k]) : values[k] * 20;
        total += PENALTY * used * away * away;
    }
    return total / used;
}

static void fit_constants(const struct fit_data *d, int skip, struct hm_large_constants *c)
{
    const size_t count = d->rows->count;
    double *errors = calloc(count, sizeof(*errors)), *tried = calloc(count, sizeof(*tried));
    double steps[HM_LARGE_CONSTANTS], *values = (double *)c;
    const int of_other = (int)(offsetof(struct hm_large_constants, gemm_other) / sizeof(double));
    double bests[2];

    for (int other = 0; other < 2; other++)
        bests[other] = objective(d, c, skip, other, -1, errors);

    for (int k = 0; k < HM_LARGE_CONSTANTS; k++)
        steps[k] = .1;
    for (int round = 0; round < ROUNDS; round++) {
        double before = bests[0] + bests[1];
        for (int k = 0; k < HM_LARGE_CONSTANTS; k++)
            for (int sign = -1; sign <= 1; sign += 2) {
                double old = values[k];
                double next =
                    sheet[k] > 0 ? old * exp(sign * steps[k]) : old + sign * steps[k] / 20;
                values[k] = fmin(most[k], fmax(least[k], next));
                memcpy(tried, errors, count * sizeof(*tried));
                double *best = &bests[k == of_other];
                double now = objective(d, c, skip, k == of_other, k, tried);
                if (now < *best - 1e-9) {
                    *best = now;
                    memcpy(errors, tried, count * sizeof(*errors));
                    steps[k] = fmin(.3, steps[k] * 1.3);
                    break;
                }
                values[k] = old;
                if (sign > 0)
                    steps[k] *= .5;
            }
        if (before - bests[0] - bests[1] < 1e-6 * before)
            break;
    }
    free(tried);
    free(errors);
}

/*
 * Fits the constants without each source, each in a process of its own, since the fits do not
 * depend on each other. Returns 0, or -1 if a process failed.
 */
static int fit_without(const struct fit_data *d, struct hm_large_constants *without)
{
    int ends[SOURCES][2];
    pid_t children[SOURCES];
    int rc = 0;

    for (int s = 0; s < d->source_count; s++) {
        memcpy(&without[s], sheet, sizeof(without[s]));
        if (pipe(ends[s]) || (children[s] = fork()) < 0)
            return -1;
        if (children[s] == 0) {
            fit_constants(d, s, &without[s]);
            _exit(write(ends[s][1], &without[s], sizeof(without[s])) != sizeof(without[s]));
        }
        close(ends[s][1]);
    }
    for (int s = 0; s < d->source_count; s++) {
        int status = 0;
        if (read(ends[s][0], &without[s], sizeof(without[s])) != sizeof(without[s]))
            rc = -1;
        close(ends[s][0]);
        if (waitpid(children[s], &status, 0) < 0 || status)
            rc = -1;
    }
    return rc;
}

static void report(const struct fit_data *d, const struct hm_large_constants *const *sets)
{
    double all = 0, used = 0;
    double errors[4096];

    for (int s = 0; s < d->source_count; s++) {
        double sum = 0, bias = 0;
        size_t count = 0;
        for (size_t i = 0; i < d->rows->count; i++)
            if (d->healthy[i] && d->source[i] == s) {
                double e = row_error(d, i, sets[s]);
                errors[count++] = fabs(exp(e) - 1);
                sum += fabs(exp(e) - 1);
                bias += e;
            }
        if (count == 0)
            continue;
        fprintf(stderr, "%-20s %4zu rows  mean %5.1f %%  median %5.1f %%  bias %+5.1f %%\n",
                d->sources[s], count, 100 * sum / (double)count,
                100 * hm__values_median(errors, count), 100 * bias / (double)count);
        all += sum / (double)count;
        used++;
    }
    fprintf(stderr, "%-20s mean of sources %5.2f %%\n", "all", 100 * all / used);
}

static void put_set(const char *name, const struct hm_large_constants *c)
{
    const double *values = (const double *)c;

    printf("    {\"%s\",\n     {", name);
    for (int k = 0; k < HM_LARGE_CONSTANTS; k++)
        printf("%s%.4g", k ? ", " : "", values[k]);
    printf("}},\n");
}

enum { HIGH = 4, LOW = 3 };

/* Properties of a row that its interval depends on, and the error of the row. */
struct spread_row {
    double features[HIGH]; /* Values of the features: 1, experts, recent and waiting, as in struct
                              hm_large_spread. */
    /* Errors of the prediction, ln(measured/predicted): `above` is for the upper end of the
     * interval, with a slow host, and `below` for the lower end. */
    double above, below;
    double weight; /* Weight of the row; the weights of the rows in one group of a source add up
                      to 1, or to less if they are few. */
    size_t at;     /* Index of the row in the table. */
    enum hm_large_group group;
};

/*
 * Quantile level of each end of an interval. It is above 0.95, since the ends are estimated from
 * only 14 groups of sources; it was chosen among 0.95, 0.96, 0.965 and 0.97 by the coverage of
 * sources that were left out.
 */
static const double LEVEL = .965;

/* Number of rows in one group of a source from which on it has its full weight in the intervals. */
static const double FEW_ROWS = 8;

/*
 * Returns the loss of a quantile regression, in which sum_k p_k x_k is the quantile of `sign` times
 * the error. The loss is the check function, smoothed over 0.01, plus a small penalty on all
 * parameters except the first.
 */
static double spread_loss(const struct spread_row *rows, size_t count, const double *p, int parts,
                          int sign)
{
    static const double SMOOTH = .01, RIDGE = 5e-4;
    double loss = 0, weight = 0, penalty = 0;

    for (size_t i = 0; i < count; i++) {
        double rest = sign > 0 ? rows[i].above : -rows[i].below;
        for (int k = 0; k < parts; k++)
            rest -= p[k] * rows[i].features[k];
        double z = rest / SMOOTH, soft = fmax(z, 0) + log1p(exp(-fabs(z)));
        loss += rows[i].weight * SMOOTH * (LEVEL * soft + (1 - LEVEL) * (soft - z));
        weight += rows[i].weight;
    }
    for (int k = 1; k < parts; k++)
        penalty += RIDGE * p[k] * p[k];
    return loss / weight + penalty;
}

/* Finds the parts of an end of the interval, which are not negative, by a pattern search; the loss
 * is convex. */
static void fit_end(const struct spread_row *rows, size_t count, double *p, int parts, int sign)
{
    for (int k = 0; k < parts; k++)
        p[k] = .1;
    double best = spread_loss(rows, count, p, parts, sign);
    /* Changes single parts, and pairs of parts in opposite directions. */
    for (double step = .05; step > 2e-4;) {
        bool better = false;
        for (int i = 0; i < parts; i++)
            for (int k = 0; k < parts; k++)
                for (int direction = -1; direction <= 1; direction += 2) {
                    double a = p[i], b = p[k];
                    p[i] = fmax(0, a + direction * step);
                    if (k != i)
                        p[k] = fmax(0, b - direction * step);
                    double now = spread_loss(rows, count, p, parts, sign);
                    if (now < best - 1e-12) {
                        best = now;
                        better = true;
                    } else {
                        p[i] = a;
                        p[k] = b;
                    }
                }
        if (!better)
            step /= 2;
    }
}

/* Prints the spread without a source (NULL: with all sources), or without one of its networks. */
static void put_spread(const struct fit_data *d, const struct spread_row *rows, size_t count,
                       const char *source, const char *network)
{
    struct spread_row *used = calloc(count, sizeof(*used));
    double high[HIGH], low[LOW];
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        const struct hm_large_row *row = &d->rows->rows[rows[i].at];
        if (!source || strcmp(row->source, source) != 0 ||
            (network && strcmp(row->model, network) != 0))
            used[n++] = rows[i];
    }
    fit_end(used, n, high, HIGH, 1);
    fit_end(used, n, low, LOW, -1);
    printf("    {\"%s\", ", source ? source : "all");
    if (network)
        printf("\"%s\", ", network);
    else
        printf("NULL, ");
    printf("{%.4f, %.4f, %.4f, %.4f, %.4f, %.4f, %.4f}},\n", high[0], high[1], high[2], high[3],
           low[0], low[1], low[2]);
    free(used);
}

/* Collects the errors and the weights of the rows that are compared, on devices of measured
 * generations. Returns their number. */
static size_t spread_rows(const struct fit_data *d, const struct hm_large_constants *const *sets,
                          struct spread_row *rows)
{
    /* With this spread, the logarithm of the upper end of the interval is the share of the time in
     * which workers wait. */
    static const struct hm_large_spread waiting = {.high_waiting = 1};
    double counts[SOURCES][HM_LARGE_GROUPS] = {{0}};
    size_t count = 0;

    for (size_t i = 0; i < d->rows->count; i++) {
        const struct hm_large_row *row = &d->rows->rows[i];
        const enum hm_large_group group = hm__large_group(&d->devices[i], &row->work);
        struct hm_large_step step;
        if (!d->healthy[i] || d->other[d->source[i]])
            continue;
        hm__large_row_eval(row, &d->devices[i], sets[d->source[i]], &step);
        struct hm_large_step fast = step;
        fast.slow_host_s = 0;
        rows[count++] = (struct spread_row){
            .features = {1, group == HM_GROUP_EXPERTS,
                         group == HM_GROUP_HOPPER || group == HM_GROUP_BLACKWELL,
                         log(hm__large_interval(&waiting, &d->devices[i], &row->work, &fast).high)},
            .above = log(row->time_s / (step.time_s + step.slow_host_s)),
            .below = log(row->time_s / step.time_s),
            .at = i,
            .group = group};
        counts[d->source[i]][group]++;
    }
    for (size_t i = 0; i < count; i++)
        rows[i].weight = 1 / fmax(FEW_ROWS, counts[d->source[rows[i].at]][rows[i].group]);
    return count;
}

/* Prints the spread of all rows, without each source, and without each network of a source. */
static void put_spreads(const struct fit_data *d, const struct hm_large_constants *const *sets)
{
    struct spread_row *rows = calloc(d->rows->count, sizeof(*rows));
    size_t count = spread_rows(d, sets, rows);

    put_spread(d, rows, count, NULL, NULL);
    for (int s = 0; s < d->source_count; s++)
        put_spread(d, rows, count, d->sources[s], NULL);
    for (size_t i = 0; i < count; i++) {
        const struct hm_large_row *row = &d->rows->rows[rows[i].at];
        double mine = 0, all = 0;
        bool seen = false;
        /* Only groups that one source dominates are left out by network. */
        for (size_t k = 0; k < count; k++) {
            const struct hm_large_row *other = &d->rows->rows[rows[k].at];
            bool same = strcmp(other->source, row->source) == 0;
            bool group = rows[k].group == rows[i].group;
            all += group;
            mine += group && same;
            seen |= k < i && group && same && strcmp(other->model, row->model) == 0;
        }
        if (!seen && mine >= HM_LARGE_ALONE * all)
            put_spread(d, rows, count, row->source, row->model);
    }
    free(rows);
}

static double source_weight(const char *source)
{
    for (size_t i = 0; i < sizeof(weighed) / sizeof(weighed[0]); i++)
        if (strcmp(weighed[i].source, source) == 0)
            return weighed[i].weight;
    return 1;
}

static int load(struct fit_data *d)
{
    struct hm_err err = {0};

    if (hm__large_rows_built_in(&d->rows, &err)) {
        fprintf(stderr, "%s\n", err.message);
        return -1;
    }
    size_t count = d->rows->count;
    d->devices = calloc(count, sizeof(*d->devices));
    d->healthy = calloc(count, sizeof(*d->healthy));
    d->source = calloc(count, sizeof(*d->source));
    d->depends = calloc(count * HM_LARGE_CONSTANTS, sizeof(*d->depends));
    for (size_t i = 0; i < count; i++) {
        if (hm__large_row_prepare(&d->rows->rows[i], &d->devices[i], &err))
            return -1;
        int s = 0;
        while (s < d->source_count && strcmp(d->sources[s], d->rows->rows[i].source) != 0)
            s++;
        d->sources[s] = d->rows->rows[i].source;
        d->source_count = s == d->source_count ? s + 1 : d->source_count;
        d->source[i] = s;
        d->other[s] = d->devices[i].family == HM_FAMILY_OTHER;
        d->weights[s] = source_weight(d->sources[s]);
    }
    hm__large_rows_healthy(d->rows, d->healthy);
    find_depends(d);
    return 0;
}

int main(void)
{
    struct fit_data d = {0};
    struct hm_large_constants all = hm__large_reference, without[SOURCES];
    const struct hm_large_constants *sets[SOURCES];

    if (load(&d))
        return 1;
    for (int s = 0; s < SOURCES; s++)
        sets[s] = &all;
    fprintf(stderr, "constants of the reference, %d sources\n", d.source_count);
    report(&d, sets);
    memcpy(&all, sheet, sizeof(all));
    fit_constants(&d, -1, &all);
    fprintf(stderr, "fitted to all\n");
    report(&d, sets);
    if (fit_without(&d, without)) {
        fprintf(stderr, "a fit failed\n");
        return 1;
    }
    printf("%s", opening);
    put_set("all", &all);
    for (int s = 0; s < d.source_count; s++) {
        put_set(d.sources[s], &without[s]);
        sets[s] = &without[s];
    }
    printf("%s", between);
    put_spreads(&d, sets);
    printf("    {NULL, NULL, {0}},\n};\n");
    fprintf(stderr, "cross-validated\n");
    report(&d, sets);
    return 0;
}
