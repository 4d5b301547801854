/*
 * The time of splitting and reading graphs. bench_graph DEGREES EDGES.gz writes a table. With "-"
 * as DEGREES, a power-law distribution of about the same size is generated.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "graph_build.h"

enum { PARTS = 31 };

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void stop_with_error(const struct hm_err *err)
{
    fprintf(stderr, "%s: %s\n", err->source, err->message);
    exit(1);
}

static void time_split(const struct hm_graph *g, enum hm_split split, double trials,
                       const char *name)
{
    double n[PARTS];
    struct hm_parts parts[PARTS];
    struct hm_err err = {0};

    for (int i = 0; i < PARTS; i++)
        n[i] = i + 2;
    double start = now_s();
    if (hm_graph_split(g, split, trials, 1, n, PARTS, parts, &err))
        stop_with_error(&err);
    printf("%-52s %10.2f ms\n", name, 1e3 * (now_s() - start));
}

static void time_reading(const char *path, bool degrees_only, const char *name)
{
    struct hm_graph *g;
    struct hm_err err = {0};
    double start = now_s();

    if (hm_graph_load(path, HM_GRAPH_EDGES, degrees_only, &g, &err))
        stop_with_error(&err);
    printf("%-52s %10.2f s    (%.0f lines)\n", name, now_s() - start, g->lines);
    hm_graph_free(g);
}

/* The time of zcat FILE | wc -l, which uses two processes on two cores. */
static void time_zcat(const char *path)
{
    char command[1200];

    snprintf(command, sizeof(command), "zcat '%s' | wc -l >/dev/null", path);
    double start = now_s();
    if (system(command) != 0)
        exit(1);
    printf("%-52s %10.2f s\n", "zcat FILE | wc -l", now_s() - start);
}

/* A degree distribution like that of the paper's Fig. 4: 16 million vertices, about three thousand
 * distinct degrees. */
static struct hm_graph *make_graph_like_fig4(void)
{
    enum { DISTINCT = 3000 };
    static struct hm_degree degrees[DISTINCT];
    struct hm_graph *g;
    struct hm_err err = {0};
    double left = 16e6;

    for (int i = 0; i < DISTINCT; i++) {
        degrees[i].degree = i < 600 ? i + 1 : 600 + (i - 600.0) * (i - 600) / 18;
        degrees[i].degree = (double)(long)degrees[i].degree * 2;
        degrees[i].count = (double)(long)(left / (i < 20 ? 3 : 40) + 1);
        left -= degrees[i].count < left ? degrees[i].count : left;
    }
    if (hm__graph_from_degrees(degrees, DISTINCT, "generated", &g, &err))
        stop_with_error(&err);
    return g;
}

int main(int argc, char **argv)
{
    struct hm_graph *g = NULL;
    struct hm_err err = {0};

    if (argc != 3) {
        fprintf(stderr, "usage: bench_graph DEGREES EDGES.gz\n");
        return 2;
    }
    if (strcmp(argv[1], "-") == 0)
        g = make_graph_like_fig4();
    else if (hm_graph_load(argv[1], HM_GRAPH_DEGREES, true, &g, &err))
        stop_with_error(&err);
    printf("%s: %.0f vertices, %zu distinct degrees\n", g->name, g->vertices, g->degree_count);
    time_split(g, HM_SPLIT_DEALT, 1, "sweep n = 2..32, dealt by degree");
    time_split(g, HM_SPLIT_RANDOM, 20, "sweep n = 2..32, random, 20 trials");
    time_split(g, HM_SPLIT_GREEDY, 1, "sweep n = 2..32, greedy");
    hm_graph_free(g);
    time_zcat(argv[2]);
    time_reading(argv[2], true, "read the list, degrees only");
    time_reading(argv[2], false, "read the list, edges kept and made unique");
    return 0;
}
