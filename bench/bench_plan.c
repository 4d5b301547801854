/*
 * The time of planning: of a whole run of the program, of points on a curve, and of a large search.
 * bench_plan PROGRAM writes a table; the limit beside each figure is measured in the same run.
 * Times are those of the processor, user and system, so that other programs do not count.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "model.h"

extern char **environ;

enum { RUNS = 300, POINTS = 1 << 16 };

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Returns the processor seconds of all processes that this one started and waited for. */
static double children_s(void)
{
    struct rusage use;
    getrusage(RUSAGE_CHILDREN, &use);
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

/* Median processor seconds of a program whose output is discarded. */
static double spawn_median(char *const *argv)
{
    double times[RUNS];
    posix_spawn_file_actions_t actions;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    for (int i = 0; i < RUNS; i++) {
        double start = children_s();
        pid_t child;
        int status;
        if (posix_spawnp(&child, argv[0], &actions, NULL, argv, environ) != 0 ||
            waitpid(child, &status, 0) < 0 || status != 0) {
            fprintf(stderr, "cannot run %s\n", argv[0]);
            exit(1);
        }
        times[i] = children_s() - start;
    }
    posix_spawn_file_actions_destroy(&actions);
    qsort(times, RUNS, sizeof(times[0]), compare_doubles);
    return times[RUNS / 2];
}

static void bench_process(char *program)
{
    char plan[] = "plan", json[] = "--json", file[] = "examples/fig2-spark-ann.yaml";
    char resnet[] = "examples/resnet50.yaml", nothing[] = "true";
    char *fig2[] = {program, plan, file, json, NULL}, *nets[] = {program, plan, resnet, json, NULL};
    char *bare[] = {nothing, NULL};
    double base = spawn_median(bare) * 1e3, whole = spawn_median(fig2) * 1e3;
    double catalog = spawn_median(nets) * 1e3;

    printf("%-52s %10.2f ms   (/bin/true: %.2f ms)\n", "howmany plan fig2-spark-ann.yaml --json",
           whole, base);
    printf("%-52s %10.2f ms   (reads the catalog)\n", "howmany plan resnet50.yaml --json", catalog);
}

static struct hm_job *load_job(const char *text)
{
    struct hm_err err = {0};
    struct hm_job *job;

    if (hm_job_parse(text, strlen(text), "bench", NULL, 0, &job, &err)) {
        fprintf(stderr, "%s\n", err.message);
        exit(1);
    }
    return job;
}

static void bench_curve(const char *name, const char *text)
{
    struct hm_job *job = load_job(text);
    struct hm_variant variant = HM_VARIANT_INIT;
    struct hm_point *points = calloc(POINTS, sizeof(*points));
    struct hm_model *model;
    struct hm_err err = {0};
    double best = 0;

    variant.weak = job->scaling == HM_SCALING_WEAK;
    if (!points ||
        hm__model_new(job, job->has_cluster ? &job->cluster : NULL, &variant, &model, &err)) {
        fprintf(stderr, "%s: %s\n", name, err.message);
        exit(1);
    }
    for (int repeat = 0; repeat < 10; repeat++) {
        for (int i = 0; i < POINTS; i++)
            points[i].n = i + 1;
        double start = now_s();
        hm__model_eval(model, points, POINTS, &err);
        double rate = POINTS / (now_s() - start);
        best = rate > best ? rate : best;
    }
    printf("%-52s %10.1f million points/s\n", name, best / 1e6);
    hm__model_free(model);
    free(points);
    hm_job_free(job);
}

/* Searches machines of the catalog x all-reduce schemes x n, a million combinations. */
static void bench_search(const char *name, const char *network)
{
    enum { MACHINES = 40 };
    struct hm_catalog *catalog;
    struct hm_cluster *clusters[MACHINES];
    enum hm_scheme schemes[HM_SCHEME_COUNT];
    size_t scheme_count = 0, machines = 0, combinations = 0;
    struct hm_question question = HM_QUESTION_INIT;
    struct hm_answer *answer;
    struct hm_err err = {0};
    char text[200];

    snprintf(text, sizeof(text), "network: %s\nbatch: 1000000\nprecision: 32\n", network);
    struct hm_job *job = load_job(text);
    hm_catalog_new(&catalog, &err);
    for (size_t i = 0; machines < MACHINES; i++) {
        const char *machine = hm_catalog_name(catalog, HM_CATALOG_MACHINE, i);
        if (!machine || hm_catalog_machine(catalog, machine, &clusters[machines], &err))
            break;
        if (clusters[machines]->node.accelerators == 1 && clusters[machines]->node.flops_32 > 0)
            clusters[machines++]->node.memory_bytes = 0;
        else
            hm_cluster_free(clusters[machines]);
    }
    for (int s = 0; s < HM_SCHEME_COUNT; s++)
        if (hm_scheme_is_allreduce((enum hm_scheme)s))
            schemes[scheme_count++] = (enum hm_scheme)s;
    question.max_n = (double)(1000000 / (machines * scheme_count));
    combinations = machines * scheme_count * (size_t)question.max_n;
    double start = now_s();
    if (hm_plan(job, (const struct hm_cluster *const *)clusters, machines, schemes, scheme_count,
                &question, &answer, &err)) {
        fprintf(stderr, "search: %s\n", err.message);
        exit(1);
    }
    printf("%-52s %10.3f s    (%zu combinations: %zu machines x %zu schemes x %g)\n", name,
           now_s() - start, combinations, machines, scheme_count, question.max_n);
    hm_answer_free(answer);
    for (size_t i = 0; i < machines; i++)
        hm_cluster_free(clusters[i]);
    hm_catalog_free(catalog);
    hm_job_free(job);
}

int main(int argc, char **argv)
{
    static const char cluster[] =
        "cluster: {flops: 15.7 Tflop/s, efficiency: 0.4, memory_bandwidth: 900 GB/s, "
        "kernel_overhead: 5 us, network: {bandwidth: 10 Gbit/s, latency: 30 us}}\n";
    char text[600];

    if (argc != 2) {
        fprintf(stderr, "usage: bench_plan PROGRAM\n");
        return 2;
    }
    bench_process(argv[1]);
    bench_curve(
        "built-in: fig. 2 (torrent, two-wave)",
        "batch: 60000\nprecision: 64\nnetwork: {parameters: 12e6, forward: 24 Mflop}\n"
        "communicate: [{what: parameters, scheme: torrent}, {what: gradients, scheme: two-wave}]\n"
        "cluster: {flops: 105.6 Gflop/s, efficiency: 0.8, network: {bandwidth: 1 Gbit/s}}\n");
    bench_curve("built-in: totals, ring",
                "batch: 60000\nnetwork: {parameters: 12e6, forward: 24 Mflop}\n"
                "communicate: [{what: gradients, scheme: ring}]\n"
                "cluster: {flops: 1 Tflop/s, network: {bandwidth: 1 Gbit/s, latency: 50 us}}\n");
    snprintf(text, sizeof(text), "batch: 65536\nnetwork: resnet-50\n%s", cluster);
    bench_curve("built-in: ResNet-50, roofline, best all-reduce", text);
    snprintf(text, sizeof(text), "batch: 65536\nnetwork: resnet-50\noverlap: layers\n%s", cluster);
    bench_curve("built-in: ResNet-50, layer by layer", text);
    bench_curve("formula: 10/n + 0.5*log2(n)", "compute: 10/n\ncommunicate: 0.5*log2(n)\n");
    bench_curve("formula: with units and where (click-through)",
                "where: {W: 16e6, S: 2.3e9, features: 125, F: 0.8 * 200 Gflop/s, B: 1 Gbit/s}\n"
                "compute: 2 flop * features * S / (F*n)\n"
                "communicate: 2 * (32 bit * W / B) * log2(n) + 1 us * ceil(sqrt(n))\n");
    bench_search("search, network of totals", "{parameters: 12e6, forward: 24 Mflop}");
    bench_search("search, ResNet-50 with rooflines", "resnet-50");
    return 0;
}
