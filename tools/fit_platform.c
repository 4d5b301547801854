/*
 * Chooses the constants of CPUs and frameworks (src/hardware/cpu.h, framework.c) by coordinate
 * descent on data/platforms.csv, and estimates errors by cross-validation.
 *
 *     fit-platform report | cpu | cpu-cross | frameworks | cross | held-out
 *
 * report prints the errors of the current constants by row. cpu chooses the constants of CPUs on
 * the rows without a framework, cpu-cross leaves out one network at a time. frameworks chooses the
 * costs of each framework on its rows, cross leaves out one task (network) at a time. held-out
 * prints the number of each row and the seconds predicted when its network was left out; sorted by
 * number they are the column held_out_s. The loss is
 * the mean of |ln(predicted/measured)| over networks, and a small penalty keeps a cost that the
 * rows do not determine near its present value.
 */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "order.h"
#include "predict_platform.h"
#include "read_platforms.h"

struct knob {
    const char *name;
    size_t offset;
    double low, high;
};

static const struct knob cpu_knobs[] = {
#define FIT_ROW(name, value, low, high, doc)                                                       \
    {#name, offsetof(struct hm_cpu_constants, name), low, high},
    HM_CPU_CONSTANT_MAP(FIT_ROW)
#undef FIT_ROW
};
static const struct knob framework_knobs[] = {
#define FIT_ROW(name, low, high, doc) {#name, offsetof(struct hm_framework_costs, name), low, high},
    HM_FRAMEWORK_COST_MAP(FIT_ROW)
#undef FIT_ROW
};
enum {
    CPU_KNOBS = sizeof(cpu_knobs) / sizeof(cpu_knobs[0]),
    FRAMEWORK_KNOBS = sizeof(framework_knobs) / sizeof(framework_knobs[0])
};

static struct hm_platform_rows table;
static bool numbers_only; /* True to print only the numbers and predictions of rows. */
static struct hm_cpu_constants cpu;
static struct hm_framework_costs costs[HM_FRAMEWORK_COUNT];
static struct hm_constants all;

static double row_error(const struct hm_platform_row *r)
{
    struct hm_point p;
    struct hm_err err = {0};

    if (hm__predict_platform(r->job, &r->way, r->n, &all, &p, &err)) {
        fprintf(stderr, "%s\n", err.message);
        exit(2);
    }
    return log(p.time_s / r->seconds);
}

/* Returns the mean over networks of the mean absolute error of a framework's rows; the network
 * `out` is left out. */
static double fit_loss(int framework, const char *out)
{
    double sum = 0, networks = 0;

    for (size_t i = 0; i < table.count; i++) {
        const struct hm_platform_row *r = &table.rows[i];
        double errors = 0, count = 0;
        bool first = true;
        if ((int)r->job->framework != framework || (out && strcmp(out, r->network) == 0))
            continue;
        for (size_t k = 0; k < i; k++)
            first = first && ((int)table.rows[k].job->framework != framework ||
                              strcmp(table.rows[k].network, r->network) != 0);
        if (!first)
            continue;
        for (size_t k = i; k < table.count; k++)
            if ((int)table.rows[k].job->framework == framework &&
                strcmp(table.rows[k].network, r->network) == 0) {
                errors += fabs(row_error(&table.rows[k]));
                count++;
            }
        sum += errors / count;
        networks++;
    }
    return networks > 0 ? sum / networks : 0;
}

/*
 * Returns whether a constant is not chosen by this program. The constants of graphs are measured
 * with this project's own belief propagation, and the costs of a stage, of a task and of a byte
 * cannot be distinguished by the rows.
 */
static bool knob_is_given(const char *name)
{
    static const char *const given[] = {"value_threads", "graph", "graph_memory",
                                        "stage",         "task",  "byte"};

    for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++)
        if (strcmp(name, given[i]) == 0)
            return true;
    return false;
}

/* Changes one constant at a time by decreasing factors while the loss decreases. A constant of 0 or
 * 1 is not changed, because the framework does not have this cost. */
static void fit_descend(void *base, const struct knob *knobs, size_t count, int framework,
                        const char *out)
{
    double best = fit_loss(framework, out);

    for (double factor = 1.6; factor > 1.02; factor = sqrt(factor))
        for (int pass = 0; pass < 3; pass++)
            for (size_t i = 0; i < count; i++) {
                double *at = (double *)((char *)base + knobs[i].offset);
                if (*at == 0 || *at == 1 || knob_is_given(knobs[i].name))
                    continue;
                for (int up = 0; up < 2; up++) {
                    double old = *at, tried = up ? old * factor : old / factor;
                    *at = fmin(fmax(tried, knobs[i].low), knobs[i].high);
                    double loss = fit_loss(framework, out) + 0.002 * fabs(log(*at / old));
                    if (loss < best - 1e-5)
                        best = loss;
                    else
                        *at = old;
                }
            }
}

static void fit_print(const void *base, const struct knob *knobs, size_t count, const char *title)
{
    printf("%s:", title);
    for (size_t i = 0; i < count; i++)
        printf(" %s %.3g", knobs[i].name, *(const double *)((const char *)base + knobs[i].offset));
    printf("\n");
}

/* Prints the rows of a framework, or only those of one network, and collects their errors. */
static size_t fit_report(int framework, const char *only, double *errors, size_t count)
{
    if (numbers_only) {
        for (size_t i = 0; i < table.count; i++)
            if ((int)table.rows[i].job->framework == framework &&
                strcmp(only, table.rows[i].network) == 0)
                printf("%zu %.5g\n", i + 1, table.rows[i].seconds * exp(row_error(&table.rows[i])));
        return count;
    }
    for (size_t i = 0; i < table.count; i++) {
        const struct hm_platform_row *r = &table.rows[i];
        if ((int)r->job->framework != framework || (only && strcmp(only, r->network) != 0))
            continue;
        double error = exp(row_error(r)) - 1;
        printf("%-14s %-12s %-20s threads %2g %-6s n %g batch %5g %9.4g ms %+6.1f %%\n", r->source,
               r->framework, r->network, r->job->cluster.node.threads,
               r->way.platform ? hm_consistency_name(r->way.consistency) : "-", r->n, r->batch,
               r->seconds * 1e3, 100 * error);
        errors[count++] = fabs(error);
    }
    return count;
}

static void fit_median(const char *title, double *errors, size_t count)
{
    if (count)
        printf("%s: %zu rows, median error %.1f %%\n", title, count,
               100 * hm__values_median(errors, count));
}

static void fit_reset(void)
{
    cpu = hm__cpu_constants;
    memcpy(costs, hm__framework_costs, sizeof(costs));
    all = hm__constants;
    all.cpu = &cpu;
    all.frameworks = costs;
}

/* Leaves out each network of the framework in turn, and reports the errors on its rows. */
static void fit_cross(int framework, void *base, const struct knob *knobs, size_t count)
{
    double errors[1024];
    size_t found = 0;

    for (size_t i = 0; i < table.count; i++) {
        const struct hm_platform_row *r = &table.rows[i];
        bool first = (int)r->job->framework == framework;
        for (size_t k = 0; k < i; k++)
            first = first && ((int)table.rows[k].job->framework != framework ||
                              strcmp(table.rows[k].network, r->network) != 0);
        if (!first)
            continue;
        fit_reset();
        for (size_t k = 0; k < count; k++) {
            /*
             * The current constants were fitted to all rows, so the search starts at other values.
             */
            double *at = (double *)((char *)base + knobs[k].offset);
            if (*at != 0 && *at != 1 && !knob_is_given(knobs[k].name))
                *at = fmin(*at * 1.25, knobs[k].high);
        }
        fit_descend(base, knobs, count, framework, r->network);
        found = fit_report(framework, r->network, errors, found);
    }
    fit_median(hm_framework_name((enum hm_framework)framework), errors, found);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "report";
    struct hm_err err = {0};
    double errors[1024];

    if (hm__platform_rows_read(NULL, NULL, 0, NULL, &table, &err)) {
        fprintf(stderr, "%s\n", err.message);
        return 2;
    }
    fit_reset();
    numbers_only = strcmp(what, "held-out") == 0;
    if (numbers_only) {
        fit_cross(HM_FRAMEWORK_NONE, &cpu, cpu_knobs, CPU_KNOBS);
        for (int f = 1; f < HM_FRAMEWORK_COUNT; f++)
            fit_cross(f, &costs[f], framework_knobs, FRAMEWORK_KNOBS);
    } else if (strcmp(what, "cpu") == 0) {
        fit_descend(&cpu, cpu_knobs, CPU_KNOBS, HM_FRAMEWORK_NONE, NULL);
        fit_print(&cpu, cpu_knobs, CPU_KNOBS, "cpu");
        fit_median("cpu", errors, fit_report(HM_FRAMEWORK_NONE, NULL, errors, 0));
    } else if (strcmp(what, "cpu-cross") == 0) {
        fit_cross(HM_FRAMEWORK_NONE, &cpu, cpu_knobs, CPU_KNOBS);
    } else
        for (int f = 0; f < HM_FRAMEWORK_COUNT; f++) {
            const char *name = hm_framework_name((enum hm_framework)f);
            if (f > 0 && strcmp(what, "cross") == 0) {
                fit_cross(f, &costs[f], framework_knobs, FRAMEWORK_KNOBS);
                continue;
            }
            if (f > 0 && strcmp(what, "frameworks") == 0) {
                fit_descend(&costs[f], framework_knobs, FRAMEWORK_KNOBS, f, NULL);
                fit_print(&costs[f], framework_knobs, FRAMEWORK_KNOBS, name);
            }
            fit_median(name, errors, fit_report(f, NULL, errors, 0));
        }
    hm__platform_rows_release(&table);
    return 0;
}
