/*
 * The time of fitting convergence and of advice. bench_converge HOWMANY writes a table with each
 * time as a share of its limit. The traces are of eight algorithms on eight numbers of workers with
 * 500 iterations each.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "howmany_advise.h"
#include "random.h"
#include "text.h"

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

/* Algorithms with linear and with power-law convergence alternate; both are slower with larger m,
 * and noise is added. */
static struct hm_traces *make_traces(void)
{
    struct hm_text text = {0};
    struct hm_random random;
    struct hm_traces *traces;
    struct hm_err err = {0};

    hm__random_init(&random, 1, 1);
    hm__text_add(&text, "algorithm,m,iteration,seconds,loss\n");
    for (int a = 0; a < 8; a++)
        for (double m = 1; m <= 128; m *= 2)
            for (double i = 1; i <= 500; i++) {
                double y = a % 2 ? -0.5 * (1 + a) * pow(m, -0.2) * log(i) - 1
                                 : -0.02 * (1 + a) * i / pow(m, 0.4) - 1;
                hm__text_addf(&text, "a%d,%g,%g,%g,%.12g\n", a, m, i,
                              0.01 / m + 1e-4 * log(m) + 1e-3,
                              0.1 + exp(y + 0.1 * hm__random_normal(&random)));
            }
    if (hm_traces_parse(text.data, text.length, "made", NULL, &traces, &err))
        stop_with_error(&err);
    hm__text_release(&text);
    return traces;
}

/* The least time of several calls, which is nearest to that of an idle machine. */
static double least_seconds(int times, void (*work)(void *context), void *context)
{
    double best = INFINITY;

    for (int k = 0; k < times; k++) {
        double start = now_s();
        work(context);
        best = fmin(best, now_s() - start);
    }
    return best;
}

struct bench {
    struct hm_traces *traces;
    struct hm_converge_settings settings;
    char *stored;
    struct hm_convergence *convergence;
};

static void fit_traces(void *context)
{
    struct bench *b = context;
    struct hm_err err = {0};

    hm_convergence_free(b->convergence);
    if (hm_convergence_new(b->traces, &b->settings, &b->convergence, &err))
        stop_with_error(&err);
}

static void read_stored_fit(void *context)
{
    struct bench *b = context;
    struct hm_convergence *convergence;
    struct hm_err err = {0};

    if (hm_convergence_parse(b->stored, strlen(b->stored), "stored", &convergence, &err))
        stop_with_error(&err);
    hm_convergence_free(convergence);
}

static void advise_from_fit(void *context)
{
    struct bench *b = context;
    struct hm_advise_question question = HM_ADVISE_QUESTION_INIT;
    struct hm_advice *advice;
    struct hm_err err = {0};

    question.loss = 1e-3;
    if (hm_advise(b->convergence, NULL, 0, &question, &advice, &err))
        stop_with_error(&err);
    hm_advice_free(advice);
}

static void run_command(void *context)
{
    if (system(context) != 0)
        exit(1);
}

int main(int argc, char **argv)
{
    struct bench b = {.traces = make_traces(), .settings = {.best_given = true, .best = 0.1}};
    struct hm_style style = {.table = true};
    struct hm_err err = {0};
    char command[512];

    if (argc != 2)
        return 1;
    double seconds = least_seconds(3, fit_traces, &b);
    printf("converge: 8 algorithms x 8 m x 500 iterations, cross-validated: %.3f s, %.2f of 2 s\n",
           seconds, seconds / 2);
    b.settings.best_given = false;
    printf("          the same with P* estimated: %.3f s\n", least_seconds(2, fit_traces, &b));
    if (hm_convergence_render(b.convergence, NULL, HM_FORMAT_JSON, &style, &b.stored, &err))
        stop_with_error(&err);
    double reading = least_seconds(20, read_stored_fit, &b),
           asking = least_seconds(20, advise_from_fit, &b);
    printf("advise:   from a stored fit of %zu kB: reading %.2f ms, advising %.2f ms, together "
           "%.2f of 10 ms\n",
           strlen(b.stored) / 1000, 1e3 * reading, 1e3 * asking, (reading + asking) / 0.01);
    FILE *file = fopen("build-bench/stored.json", "w");
    if (!file || fputs(b.stored, file) < 0 || fclose(file) != 0)
        return 1;
    snprintf(command, sizeof(command), "%s advise build-bench/stored.json --loss 1e-3 >/dev/null",
             argv[1]);
    double whole = least_seconds(20, run_command, command),
           nothing = least_seconds(20, run_command, (char[]){"/bin/true"});
    printf("          the whole program %.1f ms, /bin/true %.1f ms\n", 1e3 * whole, 1e3 * nothing);
    hm_text_free(b.stored);
    hm_convergence_free(b.convergence);
    hm_traces_free(b.traces);
    return 0;
}
