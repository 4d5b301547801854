/*
 * The time of fits and designs. bench_fit HOWMANY RUNS writes a table. RUNS is a file of a million
 * runs; for comparison, awk sums one of its columns.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "howmany_fit.h"
#include "random.h"

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void stop_with_error(const struct hm_err *err)
{
    fprintf(stderr, "%s:%d: %s\n", err->source, err->line, err->message);
    exit(1);
}

static struct hm_runs *make_twenty_runs(void)
{
    static char text[4096];
    struct hm_random random;
    struct hm_runs *runs;
    struct hm_err err = {0};
    size_t used = (size_t)snprintf(text, sizeof(text), "n,size,seconds\n");

    hm__random_init(&random, 1, 1);
    for (int i = 0; i < 20; i++) {
        double n = 1 << i % 5, size = i < 10 ? 0.5 : 1;
        double seconds =
            (2 + 100 * size / n + 1.5 * log(n)) * (1 + 0.03 * hm__random_normal(&random));
        used +=
            (size_t)snprintf(text + used, sizeof(text) - used, "%g,%g,%.9g\n", n, size, seconds);
    }
    if (hm_runs_parse(text, used, "twenty runs", &runs, &err))
        stop_with_error(&err);
    return runs;
}

/* The mean time of a fit with the interval of one prediction. */
static void time_fit(const char *const *terms, size_t count, const char *what)
{
    struct hm_fit_settings settings = {.terms = terms, .term_count = count};
    struct hm_runs *runs = make_twenty_runs();
    struct hm_err err = {0};
    const int times = 50;
    double n = 64, start = now_s();

    for (int i = 0; i < times; i++) {
        struct hm_fit *fit;
        struct hm_prediction p;
        if (hm_fit_new(runs, &settings, &fit, &err) ||
            hm_fit_predict(fit, NULL, 0, &n, 1, &p, &err))
            stop_with_error(&err);
        hm_fit_free(fit);
    }
    printf("%-52s %10.2f ms   (aim: under 5)\n", what, 1e3 * (now_s() - start) / times);
    hm_runs_free(runs);
}

static void time_design(size_t n_count, size_t size_count, double budget, const char *what,
                        double aim)
{
    double *n = calloc(n_count, sizeof(*n)), *size = calloc(size_count, sizeof(*size));
    struct hm_axis axes[] = {{"n", n, n_count}, {"size", size, size_count}};
    struct hm_design_settings settings = {
        .budget = budget, .only = n_count == 8 ? "floor(size*256 + 0.5) >= 4*n" : NULL};
    struct hm_runs *candidates;
    struct hm_design *design;
    struct hm_err err = {0};

    for (size_t i = 0; i < n_count; i++)
        n[i] = 1 + (double)i;
    for (size_t i = 0; i < size_count; i++)
        size[i] = (4 + 28 * (double)i / (double)(size_count - 1)) / 256;
    if (hm_runs_cross(axes, 2, &candidates, &err))
        stop_with_error(&err);
    double start = now_s();
    if (hm_design_new(candidates, &settings, &design, &err))
        stop_with_error(&err);
    printf("%-52s %10.2f ms   (aim: under %g; within %.0e of the optimum)\n", what,
           1e3 * (now_s() - start), aim, design->gap / fabs(design->objective));
    hm_design_free(design);
    hm_runs_free(candidates);
    free(n);
    free(size);
}

static double time_command(const char *command)
{
    double start = now_s();

    if (system(command) != 0)
        exit(1);
    return now_s() - start;
}

static void time_million_runs(const char *howmany, const char *file)
{
    char command[1200];

    snprintf(command, sizeof(command), "awk -F, '{s += $3} END {print s}' '%s' >/dev/null", file);
    double awk = time_command(command);
    snprintf(command, sizeof(command), "'%s' fit '%s' --target 64 >/dev/null", howmany, file);
    double fit = time_command(command);
    printf("%-52s %10.2f s    (aim: under 1; awk sums its column in %.2f s: %.1fx)\n",
           "a million runs, 32 configurations: the process", fit, awk, fit / awk);
    snprintf(command, sizeof(command),
             "'%s' fit '%s' --terms '1,size/n,ln(n),n' --target 64 >/dev/null", howmany, file);
    printf("%-52s %10.2f s\n", "the same with four terms given", time_command(command));
}

int main(int argc, char **argv)
{
    static const char *const ernest[] = {"1", "size/n", "ln(n)", "n"};

    if (argc != 3)
        return 2;
    printf("\nfits and designs\n");
    time_fit(ernest, 4, "20 runs, four terms given, one interval");
    time_fit(NULL, 0, "20 runs, terms chosen, one interval");
    time_design(8, 20, 10, "design of Ernest's 83 candidates", 50);
    time_design(100, 100, 10, "design of 10,000 candidates", 2000);
    time_million_runs(argv[1], argv[2]);
    return 0;
}
