/*
 * Cost of training on one core, compared with what the machine reaches in the same run:
 *
 *     the gradient of logistic regression on 10,000 x 10,000 doubles, against adding the same
 *     doubles in order, alternating, the best of several: both are limited by memory bandwidth;
 *     a scan of training data, against decompressing and counting its bytes: zcat FILE | wc -c.
 *
 * All times are CPU seconds. bench_train DATA prints a table; DATA is the folder that contains
 * libsvm/ and mnist/.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "data.h"
#include "linear_problem.h"

enum { SIDE = 10000, REPEATS = 9, SCANS = 5, PATH = HM_DATA_PATH + 64 };

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double wall_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- gradient ------------------------------------------------------------------------------- */

/* Eight partial sums, so that the additions are not the limit. */
static double add_up(const double *values, size_t count)
{
    double sum[8] = {0}, all = 0;

    for (size_t i = 0; i + 8 <= count; i += 8)
        for (size_t k = 0; k < 8; k++)
            sum[k] += values[i + k];
    for (size_t k = 0; k < 8; k++)
        all += sum[k];
    return all;
}

static bool make_rows(struct hm_rows *rows)
{
    *rows = (struct hm_rows){.features = SIDE};
    if ((double)sysconf(_SC_AVPHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) < 2e9 ||
        !hm__rows_reserve(rows, SIDE, (size_t)SIDE * SIDE))
        return false;
    rows->count = SIDE;
    for (size_t i = 0; i < (size_t)SIDE * SIDE; i++)
        rows->values[i] = (double)(i * 2654435761u % 2048) / 1024 - 1;
    for (size_t i = 0; i < SIDE; i++)
        rows->labels[i] = i * 40503u % 7 < 3 ? 1 : -1;
    return true;
}

static void measure_gradient(void)
{
    struct hm_objective o = {0};
    double *w = calloc(SIDE, sizeof(*w)), *g = calloc(SIDE, sizeof(*g));
    double whole = INFINITY, value = INFINITY, reading = INFINITY, flop;
    volatile double kept = 0; /* Keeps the compiler from removing the sums. */

    if (!w || !g || !make_rows(&o.rows)) {
        printf("%-52s skipped: less than 2 GB of memory free\n", "gradient, 10,000 x 10,000");
        goto out;
    }
    hm__linear_init(&o, &hm__loss_logistic);
    for (size_t j = 0; j < SIDE; j++)
        w[j] = 1e-3 * (double)(j % 17);
    for (int i = 0; i < REPEATS; i++) {
        double start = cpu_seconds();
        kept = kept + add_up(o.rows.values, (size_t)SIDE * SIDE);
        double then = cpu_seconds();
        memset(g, 0, SIDE * sizeof(*g));
        kept = kept + o.ops->eval(&o, w, NULL, SIDE, g, &flop);
        double last = cpu_seconds();
        kept = kept + o.ops->eval(&o, w, NULL, SIDE, NULL, &flop);
        reading = fmin(reading, then - start);
        whole = fmin(whole, last - then);
        value = fmin(value, cpu_seconds() - last);
    }
    printf("%-52s %10.1f ms   (reading: %.1f ms, %.1f GB/s; %.2f of it; aim: 1.3)\n",
           "gradient, 10,000 x 10,000", 1e3 * whole, 1e3 * reading, 8e-9 * SIDE * SIDE / reading,
           whole / reading);
    printf("%-52s %10.1f ms   (%.2f of it)\n", "the same without the gradient", 1e3 * value,
           value / reading);
out:
    hm__rows_release(&o.rows);
    free(w);
    free(g);
}

/* ---- loading -------------------------------------------------------------------------------- */

static double cpu_of_children(void)
{
    struct rusage u;
    getrusage(RUSAGE_CHILDREN, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* The best of several scans and of several zcat FILES | wc -c: CPU and wall-clock seconds. */
static void measure_scan(const char *name, const char *folder, const char *data, const char *files)
{
    static struct hm_data_shape shape;
    struct hm_data_spec spec;
    struct hm_err err = {0};
    char path[PATH], command[PATH + 200];
    double ours = INFINITY, ours_wall = INFINITY, theirs = INFINITY, theirs_wall = INFINITY;

    snprintf(path, sizeof(path), "%s/%s", folder, data);
    snprintf(command, sizeof(command), "cd '%s' && zcat %s | wc -c >/dev/null", folder, files);
    if (access(path, R_OK) != 0) {
        printf("%-52s skipped: no %s\n", name, path);
        return;
    }
    for (int i = 0; i < SCANS; i++) {
        double start = cpu_seconds(), wall = wall_seconds();
        if (hm__data_parse(path, false, 1, &spec, &err) || hm__data_scan(&spec, &shape, &err)) {
            fprintf(stderr, "%s: %s\n", path, err.message);
            exit(1);
        }
        ours = fmin(ours, cpu_seconds() - start);
        ours_wall = fmin(ours_wall, wall_seconds() - wall);
        start = cpu_of_children(), wall = wall_seconds();
        if (system(command) != 0)
            exit(1);
        theirs = fmin(theirs, cpu_of_children() - start);
        theirs_wall = fmin(theirs_wall, wall_seconds() - wall);
    }
    printf("%-52s %10.1f ms   (zcat | wc -c: %.1f ms of CPU; %.2f of it; wall clock %.2f of it)\n",
           name, 1e3 * ours, 1e3 * theirs, ours / theirs, ours_wall / theirs_wall);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: bench_train DATA\n");
        return 2;
    }
    printf("\ntraining, one core\n");
    measure_gradient();
    measure_scan("scan of MNIST, 60,000 images, gzip", argv[1], "mnist",
                 "mnist/train-images-idx3-ubyte.gz mnist/train-labels-idx1-ubyte.gz");
    measure_scan("scan of a9a, LIBSVM, gzip", argv[1], "libsvm/a9a.gz", "libsvm/a9a.gz");
    measure_scan("scan of w8a, LIBSVM, gzip", argv[1], "libsvm/w8a.gz", "libsvm/w8a.gz");
    return 0;
}
