/*
 * Time to train a linear support vector machine on one core, compared with liblinear (-s 3: dual
 * coordinate descent with shrinking) on the same rows and the same objective
 *
 *     P(w) = lambda/2 |w|^2 + the mean of the hinge losses, lambda = 1e-4:
 *
 * CPU seconds until P(w) is within a relative 1e-3 and 1e-4 of its minimum. Ours: allocating the
 * state and the passes; evaluating P after each pass is not counted. The result is the median over
 * several seeds, each the best of several runs. liblinear's: of runs with decreasing -e the first
 * one that is accurate enough, minus a run with -e so large that it stops after one pass, each the
 * best of several. Reading the file is therefore not counted, and liblinear is credited with one
 * pass.
 *
 * bench_svm DATA prints a table; DATA is the folder that contains libsvm/ and mnist/.
 */
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "data.h"
#include "linear_problem.h"
#include "prepare.h"
#include "train.h"

extern char **environ;

enum { TARGETS = 2, SEEDS = 5, REPEATS = 5, PASSES = 1000, PATH = 1200 };

static const double targets[TARGETS] = {1e-3, 1e-4};
static const double lambda = 1e-4;

struct svm_problem {
    const char *name;
    const char *file;
    double positive; /* The label to learn against the rest; NAN: the larger of two. */
    double divisor;  /* Divisor of the features. */
    double optimum;  /* Minimum of P, from a long run. */
};

static const struct svm_problem problems[] = {
    {"MNIST, 5 against the rest", "mnist", 5, 255, 0.0698803240532},
    {"a9a", "libsvm/a9a.gz", NAN, 1, 0.351761800467},
    {"w8a", "libsvm/w8a.gz", NAN, 1, 0.144325891647},
};

static _Noreturn void svm_stop(const char *what)
{
    fprintf(stderr, "bench_svm: %s\n", what);
    exit(1);
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- rows ----------------------------------------------------------------------------------- */

static void load_rows(const struct svm_problem *problem, const char *path, struct hm_rows *rows)
{
    static struct hm_data_shape shape;
    struct hm_data_spec spec;
    struct hm_data *data;
    struct hm_err err = {0};
    int got;

    if (hm__data_parse(path, false, 1, &spec, &err) || hm__data_scan(&spec, &shape, &err) ||
        hm__data_open(&spec, &data, &err))
        svm_stop(err.message);
    *rows = (struct hm_rows){.sparse = true, .features = (size_t)shape.features};
    while ((got = hm__data_next(data, 4096, rows, &err)) > 0)
        ;
    if (got < 0)
        svm_stop(err.message);
    hm__data_close(data);
    struct hm_labels labels = {HM_LABEL_SIGN, shape.labels, shape.classes, problem->positive};
    struct hm_scale scale = {.kind = HM_SCALE_DIVIDE, .divisor = problem->divisor};
    hm__labels_apply(&labels, rows);
    hm__scale_apply(&scale, rows);
}

static void write_rows(const struct hm_rows *rows, const char *path)
{
    FILE *file = fopen(path, "w");

    if (!file)
        svm_stop("cannot write to the temporary folder");
    for (size_t i = 0; i < rows->count; i++) {
        fprintf(file, "%+g", rows->labels[i]);
        for (size_t e = rows->starts[i]; e < rows->starts[i + 1]; e++)
            fprintf(file, " %u:%.9g", rows->columns[e] + 1, rows->values[e]);
        fputc('\n', file);
    }
    if (fclose(file))
        svm_stop("cannot write to the temporary folder");
}

/* Returns the relative suboptimality (P(w) - optimum) / optimum. */
static double suboptimality(struct hm_objective *o, const double *w, double optimum)
{
    double flop, norm2 = 0;
    double sum = o->ops->eval(o, w, NULL, o->rows.count, NULL, &flop);

    for (size_t j = 0; j < o->unknowns; j++)
        norm2 += w[j] * w[j];
    return (0.5 * o->lambda * norm2 + sum / o->total_rows) / optimum - 1;
}

/* ---- howmany -------------------------------------------------------------------------------- */

/* CPU seconds until each target is reached, and the number of passes. */
struct svm_effort {
    double seconds[TARGETS], passes[TARGETS];
};

static struct svm_effort run_once(struct hm_objective *o, double optimum, uint64_t seed)
{
    struct svm_effort effort = {0};
    struct hm_comm comm;
    struct hm_err err = {0};
    struct hm_run run = {.algorithm = hm__algorithm_find("cocoa"),
                         .comm = &comm,
                         .objective = o,
                         .settings = {.passes = 1, .shrink = true, .seed = seed},
                         .arena = hm__arena_new()};
    size_t target = 0;
    double start = cpu_seconds(), spent;

    hm__comm_alone(&comm);
    if (!run.arena || hm__run_begin(&run, &err))
        svm_stop("out of memory");
    spent = cpu_seconds() - start;
    while (target < TARGETS && run.iteration < PASSES) {
        start = cpu_seconds();
        run.algorithm->step(&run);
        run.iteration++;
        spent += cpu_seconds() - start;
        double off = suboptimality(o, run.w, optimum);
        for (; target < TARGETS && off <= targets[target]; target++) {
            effort.seconds[target] = spent;
            effort.passes[target] = run.iteration;
        }
    }
    if (target < TARGETS)
        svm_stop("not near enough after many passes");
    hm__arena_free(run.arena);
    return effort;
}

static int compare_seconds(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Returns the median over seeds of the best of several runs. */
static struct svm_effort run_ours(struct hm_objective *o, double optimum)
{
    struct svm_effort all[SEEDS], median;

    for (uint64_t s = 0; s < SEEDS; s++) {
        all[s] = run_once(o, optimum, s + 1);
        for (int repeat = 1; repeat < REPEATS; repeat++) {
            struct svm_effort one = run_once(o, optimum, s + 1);
            for (size_t t = 0; t < TARGETS; t++)
                all[s].seconds[t] = fmin(all[s].seconds[t], one.seconds[t]);
        }
    }
    for (size_t t = 0; t < TARGETS; t++) {
        double seconds[SEEDS], passes[SEEDS];
        for (size_t s = 0; s < SEEDS; s++) {
            seconds[s] = all[s].seconds[t];
            passes[s] = all[s].passes[t];
        }
        qsort(seconds, SEEDS, sizeof(double), compare_seconds);
        qsort(passes, SEEDS, sizeof(double), compare_seconds);
        median.seconds[t] = seconds[SEEDS / 2];
        median.passes[t] = passes[SEEDS / 2];
    }
    return median;
}

/* ---- liblinear ------------------------------------------------------------------------------ */

struct liblinear {
    char rows[PATH], model[PATH]; /* Names of the files of the rows and of the model. */
    double c;                     /* Weight of the losses: 1 / (lambda N). */
    double *w;                    /* Result of the last run. */
};

/*
 * One run; returns CPU seconds of the process, or a negative number when the program does not
 * exist.
 */
static double train_peer(struct liblinear *peer, double e)
{
    char tolerance[32], weight[40], name[] = "liblinear-train", s[] = "-s", three[] = "3";
    char b[] = "-B", none[] = "-1", c[] = "-c", eps[] = "-e", quiet[] = "-q";
    char *arguments[] = {name, s,         three, b,          none,        c,   weight,
                         eps,  tolerance, quiet, peer->rows, peer->model, NULL};
    posix_spawn_file_actions_t actions;
    struct rusage usage;
    pid_t child;
    int status;

    snprintf(tolerance, sizeof(tolerance), "%.6g", e);
    snprintf(weight, sizeof(weight), "%.17g", peer->c);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    int failed = posix_spawnp(&child, name, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed || wait4(child, &status, 0, &usage) < 0 || status != 0)
        return -1;
    return (double)usage.ru_utime.tv_sec + 1e-6 * (double)usage.ru_utime.tv_usec +
           (double)usage.ru_stime.tv_sec + 1e-6 * (double)usage.ru_stime.tv_usec;
}

/* Reads w of the model file, with the sign for label 1; features that it omits are 0. */
static void read_model(struct liblinear *peer, size_t features)
{
    FILE *file = fopen(peer->model, "r");
    char line[200];
    double sign = 1;

    memset(peer->w, 0, features * sizeof(*peer->w));
    while (file && fgets(line, sizeof(line), file) && strcmp(line, "w\n") != 0)
        if (strncmp(line, "label -1", 8) == 0)
            sign = -1;
    for (size_t j = 0; file && j < features && fscanf(file, "%lf", &peer->w[j]) == 1; j++)
        peer->w[j] *= sign;
    if (file)
        fclose(file);
}

static double best_of_peer(struct liblinear *peer, double e)
{
    double best = INFINITY;

    for (int repeat = 0; repeat < REPEATS; repeat++)
        best = fmin(best, train_peer(peer, e));
    return best;
}

/*
 * Returns the CPU seconds of training to each target; returns false when liblinear is not
 * installed.
 */
static bool run_peer(struct hm_objective *o, double optimum, const char *folder,
                     double seconds[TARGETS], double tolerances[TARGETS])
{
    const double nothing = 1e9, step = 1.2;
    struct liblinear peer = {.c = 1 / (o->lambda * o->total_rows)};
    size_t target = 0;

    snprintf(peer.rows, sizeof(peer.rows), "%s/rows", folder);
    snprintf(peer.model, sizeof(peer.model), "%s/model", folder);
    peer.w = calloc(o->unknowns, sizeof(*peer.w));
    if (!peer.w)
        svm_stop("out of memory");
    write_rows(&o->rows, peer.rows);
    for (double e = 4; target < TARGETS; e /= step) {
        if (e < 1e-9 || train_peer(&peer, e) < 0)
            break;
        read_model(&peer, o->unknowns);
        double off = suboptimality(o, peer.w, optimum);
        for (; target < TARGETS && off <= targets[target]; target++)
            tolerances[target] = e;
    }
    if (target == TARGETS) {
        double base = best_of_peer(&peer, nothing);
        for (size_t t = 0; t < TARGETS; t++)
            seconds[t] = best_of_peer(&peer, tolerances[t]) - base;
    }
    unlink(peer.rows);
    unlink(peer.model);
    free(peer.w);
    return target == TARGETS;
}

/* ---- comparison ----------------------------------------------------------------------------- */

static void svm_measure(const struct svm_problem *problem, const char *path, const char *folder)
{
    struct hm_objective o = {.lambda = lambda};
    double theirs[TARGETS], tolerances[TARGETS];

    load_rows(problem, path, &o.rows);
    o.total_rows = (double)o.rows.count;
    hm__linear_init(&o, &hm__loss_hinge);
    struct svm_effort ours = run_ours(&o, problem->optimum);
    bool compared = run_peer(&o, problem->optimum, folder, theirs, tolerances);
    for (size_t t = 0; t < TARGETS; t++) {
        printf("%-40s %7.0e    %10.1f ms   %4.0f passes", problem->name, targets[t],
               1e3 * ours.seconds[t], ours.passes[t]);
        if (compared)
            printf("   (liblinear -e %.2g: %.1f ms, %.2f of it; aim: 1)", tolerances[t],
                   1e3 * theirs[t], ours.seconds[t] / theirs[t]);
        printf("\n");
    }
    if (!compared)
        printf("   no liblinear-train to compare with: tools/setup bench\n");
    hm__rows_release(&o.rows);
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/bench-svm-XXXXXX", path[HM_DATA_PATH];

    if (argc != 2) {
        fprintf(stderr, "usage: bench_svm DATA\n");
        return 2;
    }
    if (!mkdtemp(folder))
        svm_stop("cannot make a temporary folder");
    printf("\nsupport vector machine, CPU time to a relative suboptimality\n");
    for (size_t i = 0; i < sizeof(problems) / sizeof(problems[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", argv[1], problems[i].file);
        if (access(path, R_OK) == 0)
            svm_measure(&problems[i], path, folder);
        else
            printf("%-40s skipped: no %s\n", problems[i].name, path);
        fflush(stdout);
    }
    rmdir(folder);
    return 0;
}
