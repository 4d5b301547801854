/*
 * The time of searching layouts: Llama 3 70B on five machines, for every whole number of nodes with
 * 8 to 16,384 workers, and how long one layout takes to evaluate without reuse. The batch has 16M
 * tokens, so that thousands of copies of the model can share it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "large_plan.h"

enum { N_MOST = 16384, ROUNDS = 5, EVALUATIONS = 100000 };

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct hm_job *load_job(const char *machine)
{
    struct hm_job *job = NULL;
    struct hm_err err = {0};
    char text[400];

    snprintf(text, sizeof(text),
             "network: llama-3-70b\nsequence: 8192\nbatch: 2048\ncluster: {machine: %s}\n",
             machine);
    if (hm_job_parse(text, strlen(text), "job", NULL, 0, &job, &err)) {
        fprintf(stderr, "%s: %s\n", machine, err.message);
        exit(1);
    }
    job->large->work.attention = HM_ATTENTION_FLASH2;
    return job;
}

/* Searches every number of nodes of one machine; returns the number of layouts. */
static double search_machine(const char *machine, struct hm_large_tops *tops)
{
    struct hm_job *job = load_job(machine);
    struct hm_large_device device;
    size_t count = 0;

    if (hm__large_device_set(&job->cluster, &device, NULL))
        exit(1);
    for (double n = fmax(8, device.per_node); n <= N_MOST; n += fmax(8, device.per_node))
        tops[count++].n = n;
    const struct hm_large_case x = {&device, &job->large->work, hm__large_fitted(), NULL};
    double candidates = hm__large_search(&x, job->large, tops, count);
    hm_job_free(job);
    return candidates;
}

static void bench_single(void)
{
    struct hm_job *job = load_job("p5.48xlarge");
    struct hm_large_device device;
    struct hm_layout layout = {.tensor = 4,
                               .pipeline = 8,
                               .interleave = 5,
                               .context = 1,
                               .expert = 1,
                               .data = 2,
                               .micro_batch = 1,
                               .zero = 1,
                               .sequence_parallel = true};
    double sum = 0;

    if (hm__large_device_set(&job->cluster, &device, NULL))
        exit(1);
    const struct hm_large_case x = {&device, &job->large->work, hm__large_fitted(), NULL};
    double start = now_s();
    for (int i = 0; i < EVALUATIONS; i++) {
        struct hm_large_times times;
        struct hm_large_memory memory;
        struct hm_large_step step;
        hm__large_memory(&x, &layout, &memory);
        hm__large_times(&x, &layout, &times);
        hm__large_step(&x, &layout, &times, &step);
        sum += step.time_s + memory.total;
    }
    double each = (now_s() - start) / EVALUATIONS;
    printf("layouts: one layout with its memory, nothing reused: %.2f us%s\n", 1e6 * each,
           sum > 0 ? "" : " (no time)");
    hm_job_free(job);
}

int main(void)
{
    static const char *const machines[] = {"p4d.24xlarge", "p5.48xlarge", "p5en.48xlarge",
                                           "p6-b200.48xlarge", "mi300x-8"};
    struct hm_large_tops *tops = calloc(N_MOST / 8 + 1, sizeof(*tops));
    double best = INFINITY, candidates = 0;

    if (!tops)
        return 1;
    for (int round = 0; round < ROUNDS; round++) {
        double start = now_s();
        candidates = 0;
        for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
            candidates += search_machine(machines[i], tops);
        best = fmin(best, now_s() - start);
    }
    printf("layouts: 70B, every n = 8, 16, .. 16,384 on five machines: %.0f layouts in %.3f s, "
           "%.2f us each\n",
           candidates, best, 1e6 * best / candidates);
    bench_single();
    free(tops);
    return 0;
}
