/*
 * Measures the CPU of this machine: matrix products with OpenBLAS, which is loaded at run time, or
 * with built-in loops, and the memory bandwidth with c = a + b over arrays that do not fit into the
 * caches. The rows of an operation are divided among threads, which wait for each other at the
 * start and at the end of the operation. OpenBLAS runs on one thread in each of these threads, so
 * that its serial and its threaded variants give the same times.
 */
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calibrate_device.h"
#include "clock.h"
#include "err.h"
#include "library.h"

enum { THREADS_MAX = 1024, TINY = 8 };

/* The functions of OpenBLAS that are used, with 32-bit integers. */
typedef void sgemm_fn(const char *, const char *, const int *, const int *, const int *,
                      const float *, const float *, const int *, const float *, const int *,
                      const float *, float *, const int *, size_t, size_t);
typedef void dgemm_fn(const char *, const char *, const int *, const int *, const int *,
                      const double *, const double *, const int *, const double *, const int *,
                      const double *, double *, const int *, size_t, size_t);

struct cpu_state {
    sgemm_fn *sgemm; /* Matrix product function of OpenBLAS; NULL means that the built-in loops are
                        used. */
    dgemm_fn *dgemm;
    size_t cores;
    char *buffer; /* Buffer for the operands and the result of an operation; owned. */
    size_t room;
};

/* Parameters of a measurement: one operation that several threads run several times. */
struct cpu_job {
    const struct cpu_state *cpu;
    const struct hm_timing *op;
    size_t times, threads;
    bool cancelled; /* True if a thread could not be created, so that all threads end without a
                       measurement. */
    pthread_mutex_t gate; /* Mutex that is locked until all threads have been created. */
    pthread_barrier_t start, end;
};

struct cpu_worker {
    struct cpu_job *job;
    size_t index;
};

/* ---- operations -------------------------------------------------------------------------------
 */

/* Computes C = A B for row-major matrices; the innermost loop is over contiguous values. */
#define PLAIN_PRODUCT(name, type)                                                                  \
    static void name(size_t m, size_t n, size_t k, const type *a, const type *b, type *c)          \
    {                                                                                              \
        for (size_t i = 0; i < m; i++) {                                                           \
            type *row = c + i * n;                                                                 \
            memset(row, 0, n * sizeof(*row));                                                      \
            for (size_t p = 0; p < k; p++) {                                                       \
                type x = a[i * k + p];                                                             \
                const type *other = b + p * n;                                                     \
                for (size_t j = 0; j < n; j++)                                                     \
                    row[j] += x * other[j];                                                        \
            }                                                                                      \
        }                                                                                          \
    }
PLAIN_PRODUCT(plain_product_fp32, float)
PLAIN_PRODUCT(plain_product_fp64, double)

/*
 * Computes rows first .. first + m - 1 of C = A B. BLAS is column-major, so it computes C' = B' A'.
 */
static void cpu_product(const struct cpu_state *cpu, enum hm_math math, size_t first, size_t m,
                        size_t n, size_t k, size_t rows)
{
    int rows_i = (int)m, columns = (int)n, inner = (int)k;

    if (math == HM_MATH_FP64) {
        double *a = (double *)(void *)cpu->buffer, *b = a + rows * k, *c = b + k * n, one = 1,
               zero = 0;
        a += first * k;
        c += first * n;
        if (cpu->dgemm)
            cpu->dgemm("N", "N", &columns, &rows_i, &inner, &one, b, &columns, a, &inner, &zero, c,
                       &columns, 1, 1);
        else
            plain_product_fp64(m, n, k, a, b, c);
        return;
    }
    float *a = (float *)(void *)cpu->buffer, *b = a + rows * k, *c = b + k * n, one = 1, zero = 0;
    a += first * k;
    c += first * n;
    if (cpu->sgemm)
        cpu->sgemm("N", "N", &columns, &rows_i, &inner, &one, b, &columns, a, &inner, &zero, c,
                   &columns, 1, 1);
    else
        plain_product_fp32(m, n, k, a, b, c);
}

static void cpu_stream(const struct cpu_state *cpu, size_t count, size_t first, size_t last)
{
    const float *a = (const float *)(const void *)cpu->buffer, *b = a + count;
    float *c = (float *)(void *)cpu->buffer + 2 * count;

    for (size_t i = first; i < last; i++)
        c[i] = a[i] + b[i];
}

/* Executes the part of one thread: an equal share of the rows of a matrix product, or of the values
 * of a sum of arrays. */
static void cpu_part(const struct cpu_job *job, size_t index)
{
    const struct hm_timing *op = job->op;
    bool stream = op->what == HM_TIMED_STREAM;
    size_t all = stream ? (size_t)(op->shape[0] / 12) : (size_t)op->shape[0];
    size_t first = all * index / job->threads, last = all * (index + 1) / job->threads;

    for (size_t i = 0; i < job->times; i++) {
        if (op->what == HM_TIMED_KERNEL)
            cpu_product(job->cpu, HM_MATH_FP32, 0, TINY, TINY, TINY, TINY);
        else if (stream)
            cpu_stream(job->cpu, all, first, last);
        else if (last > first)
            cpu_product(job->cpu, op->math, first, last - first, (size_t)op->shape[1],
                        (size_t)op->shape[2], all);
    }
}

/* ---- the device -------------------------------------------------------------------------------
 */

/*
 * Returns the total size in bytes of the operands and the result; 0 if the CPU cannot run the
 * operation.
 */
static double cpu_bytes(const struct hm_timing *op)
{
    const double *s = op->shape;
    double value = op->math == HM_MATH_FP64 ? 8 : 4;

    if (op->what == HM_TIMED_STREAM)
        return s[0];
    if (op->what == HM_TIMED_KERNEL)
        return 3 * TINY * TINY * value;
    if (op->what != HM_TIMED_GEMM || (op->math != HM_MATH_FP32 && op->math != HM_MATH_FP64))
        return 0;
    return (s[0] * s[2] + s[2] * s[1] + s[0] * s[1]) * value;
}

/* Fills the buffer with numbers near 1, as floats or doubles. */
static void fill_buffer(struct cpu_state *cpu, size_t bytes, bool wide)
{
    for (size_t i = 0; i < bytes / (wide ? 8 : 4); i++) {
        double x = 0.5 + (double)(i * 2654435761U % 1021) / 1021;
        if (wide)
            ((double *)(void *)cpu->buffer)[i] = x;
        else
            ((float *)(void *)cpu->buffer)[i] = (float)x;
    }
}

static int cpu_prepare(struct calibrate_device *d, const struct hm_timing *op, struct hm_err *err)
{
    struct cpu_state *cpu = d->state;
    double bytes = cpu_bytes(op);

    if (bytes == 0 || op->workers > (double)cpu->cores)
        return 0;
    /* Operations that need more than half of the machine's memory are skipped. */
    if (d->facts.memory_bytes > 0 && bytes > d->facts.memory_bytes / 2)
        return 0;
    if ((size_t)bytes > cpu->room) {
        free(cpu->buffer);
        cpu->buffer = aligned_alloc(64, ((size_t)bytes + 63) / 64 * 64);
        cpu->room = cpu->buffer ? (size_t)bytes : 0;
        if (!cpu->buffer)
            return hm__fail_nomem(err);
    }
    fill_buffer(cpu, (size_t)bytes, op->math == HM_MATH_FP64);
    return 1;
}

static void *cpu_thread(void *argument)
{
    struct cpu_worker *w = argument;

    pthread_mutex_lock(&w->job->gate);
    bool cancelled = w->job->cancelled;
    pthread_mutex_unlock(&w->job->gate);
    if (cancelled)
        return NULL;
    pthread_barrier_wait(&w->job->start);
    cpu_part(w->job, w->index);
    pthread_barrier_wait(&w->job->end);
    return NULL;
}

/*
 * Creates the other threads, which wait for the mutex `gate`. Returns the number of threads,
 * including this one.
 */
static size_t make_threads(struct cpu_job *job, struct cpu_worker *workers, pthread_t *ids)
{
    size_t made = 1;

    for (; made < job->threads; made++) {
        workers[made] = (struct cpu_worker){job, made};
        if (pthread_create(&ids[made], NULL, cpu_thread, &workers[made]))
            break;
    }
    return made;
}

static int cpu_run(struct calibrate_device *d, const struct hm_timing *op, size_t times,
                   double *ret_seconds, struct hm_err *err)
{
    size_t threads = op->what == HM_TIMED_KERNEL ? 1 : (size_t)op->workers;
    struct cpu_job job = {.cpu = d->state, .op = op, .times = times, .threads = threads};
    struct cpu_worker *workers = calloc(threads, sizeof(*workers));
    pthread_t *ids = calloc(threads, sizeof(*ids));

    if (!workers || !ids || pthread_barrier_init(&job.start, NULL, (unsigned)threads) ||
        pthread_barrier_init(&job.end, NULL, (unsigned)threads)) {
        free(workers);
        free(ids);
        return hm__fail_nomem(err);
    }
    pthread_mutex_init(&job.gate, NULL);
    pthread_mutex_lock(&job.gate);
    size_t made = make_threads(&job, workers, ids);
    job.cancelled = made < threads;
    pthread_mutex_unlock(&job.gate);
    if (!job.cancelled) {
        pthread_barrier_wait(&job.start);
        double began = cli_now_s();
        cpu_part(&job, 0);
        pthread_barrier_wait(&job.end);
        *ret_seconds = cli_now_s() - began;
    }
    for (size_t i = 1; i < made; i++)
        pthread_join(ids[i], NULL);
    pthread_barrier_destroy(&job.start);
    pthread_barrier_destroy(&job.end);
    pthread_mutex_destroy(&job.gate);
    free(workers);
    free(ids);
    return job.cancelled ? hm__fail(err, HM_E_LIMIT, "%zu threads cannot be created", threads) : 0;
}

static void cpu_close(struct calibrate_device *d)
{
    struct cpu_state *cpu = d->state;

    free(cpu->buffer);
    free(cpu);
}

/* Loads OpenBLAS. If it is not found, the built-in loops are used; this is not an error. */
static void load_blas(struct cpu_state *cpu, char *name, size_t room)
{
    void *library = NULL;
    void (*set_threads)(int) = NULL;
    char *(*config)(void) = NULL;

    if (hm__library_open("libopenblas.so.0", "libopenblas0", &library, NULL) ||
        hm__library_find(library, "openblas_set_num_threads", &set_threads, NULL) ||
        hm__library_find(library, "openblas_get_config", &config, NULL) ||
        hm__library_find(library, "sgemm_", &cpu->sgemm, NULL) ||
        hm__library_find(library, "dgemm_", &cpu->dgemm, NULL)) {
        cpu->sgemm = NULL;
        cpu->dgemm = NULL;
        return;
    }
    set_threads(1);
    /* OpenBLAS describes itself with a text such as "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH …";
     * only the name and the version are used. */
    const char *text = config();
    size_t length = strcspn(text, " ");
    if (text[length])
        length += 1 + strcspn(text + length + 1, " ");
    snprintf(name, room, "%.*s", (int)length, text);
}

/* Reads the name of the processor from /proc/cpuinfo. */
static void read_cpu_name(char *name, size_t room)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "re");

    snprintf(name, room, "CPU");
    while (file && fgets(line, sizeof(line), file)) {
        const char *colon = strchr(line, ':');
        if (colon && strncmp(line, "model name", 10) == 0) {
            snprintf(name, room, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
            break;
        }
    }
    if (file)
        fclose(file);
}

int calibrate_cpu_open(struct calibrate_device *device, bool blas, struct hm_err *err)
{
    static const struct calibrate_ops ops = {cpu_prepare, cpu_run, cpu_close};
    struct cpu_state *cpu = calloc(1, sizeof(*cpu));
    long pages = sysconf(_SC_PHYS_PAGES);
    cpu_set_t allowed;

    if (!cpu)
        return hm__fail_nomem(err);
    /* Only the cores that this process may use are counted, because a launcher such as mpirun may
     * have bound it to some of them. */
    CPU_ZERO(&allowed);
    int cores = sched_getaffinity(0, sizeof(allowed), &allowed) ? 1 : CPU_COUNT(&allowed);
    cpu->cores = cores > 0 && cores < THREADS_MAX ? (size_t)cores : 1;
    snprintf(device->library, sizeof(device->library), "built-in loops");
    if (blas)
        load_blas(cpu, device->library, sizeof(device->library));
    read_cpu_name(device->name, sizeof(device->name));
    device->facts =
        (struct hm_timings){.name = device->name,
                            .library = device->library,
                            .processors = (double)cpu->cores,
                            .memory_bytes = (double)pages * (double)sysconf(_SC_PAGESIZE),
                            .workers = NAN};
    device->state = cpu;
    device->ops = &ops;
    return 0;
}
