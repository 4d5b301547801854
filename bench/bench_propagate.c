/*
 * Cost of belief propagation: directed messages per second on one core, compared with the memory
 * bandwidth of the machine in the same run. The limit is the time to add up, and write back, arrays
 * as long as those that a step reads: the ends of an edge (8 bytes), its weight (8) and messages
 * (16, also written), and the products of a vertex (16, also written) with its potential (8); each
 * byte once, in order.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "propagate.h"

enum { REPEATS = 100 };

static double wall_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void exit_with(const struct hm_err *err)
{
    fprintf(stderr, "%s\n", err->message);
    exit(1);
}

/* Four partial sums, so that the additions are not the limit. */
static double read_only(const double *values, size_t count)
{
    double sum[4] = {0};

    for (size_t i = 0; i + 4 <= count; i += 4)
        for (size_t k = 0; k < 4; k++)
            sum[k] += values[i + k];
    return sum[0] + sum[1] + sum[2] + sum[3];
}

static void read_and_write(double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[i] += 1;
}

/* Returns the seconds to read everything that a step touches, the best of many. */
static double memory_limit(double edges, double vertices)
{
    size_t reads = (size_t)(2 * edges + vertices), writes = (size_t)(2 * edges + 2 * vertices);
    double *a = calloc(reads, sizeof(*a)), *b = calloc(writes, sizeof(*b));
    double best = 1e9;
    volatile double kept = 0; /* Keeps the compiler from removing the sum. */

    for (int i = 0; i < REPEATS; i++) {
        double start = wall_seconds();
        kept = kept + read_only(a, reads);
        read_and_write(b, writes);
        double time = wall_seconds() - start;
        best = time < best ? time : best;
    }
    free(a);
    free(b);
    return best;
}

/* Returns the seconds of a step, the best of many. */
static double time_steps(struct hm_propagate *p, struct hm_comm *comm)
{
    double best = 1e9;

    for (int i = 0; i < REPEATS; i++) {
        double start = wall_seconds();
        hm__propagate_step(p, comm);
        double time = wall_seconds() - start;
        best = time < best ? time : best;
    }
    return best;
}

static void measure(const struct hm_mrf_recipe *recipe, struct hm_propagate_settings settings,
                    const char *what, double aim)
{
    struct hm_mrf *mrf;
    struct hm_propagate *p = NULL;
    struct hm_comm comm;
    struct hm_err err = {0};

    hm__comm_alone(&comm);
    if (hm__mrf_make(recipe, 0, 1, &mrf, &err) ||
        hm__propagate_new(mrf, &settings, &comm, &p, &err))
        exit_with(&err);
    double edges = (double)mrf->edges, step = time_steps(p, &comm);
    printf("%-52s %10.1f million messages/s", what, 2e-6 * edges / step);
    if (aim > 0) {
        double least = memory_limit(edges, (double)mrf->vertices);
        printf("   (aim: %g; memory alone: %.0f, %.2f of it)", aim, 2e-6 * edges / least,
               least / step);
    }
    printf("\n");
    hm__propagate_free(p);
    hm__mrf_free(mrf);
}

int main(void)
{
    struct hm_mrf_recipe grid = {HM_MRF_GRID,     .rows = 300,  .columns = 300, .states = 2,
                                 .coupling = 0.5, .field = 0.3, .seed = 1};
    struct hm_mrf_recipe random = {HM_MRF_RANDOM, .vertices = 200000, .edges = 1000000,
                                   .states = 2,   .coupling = 0.2,    .field = 0.3,
                                   .seed = 1};
    struct hm_propagate_settings sum = {0}, max = {.max_product = true}, damped = {.damping = 0.3};
    struct hm_propagate_settings general = {.general = true};

    printf("\nbelief propagation, one core\n");
    measure(&grid, sum, "grid 300 x 300, two states", 50);
    measure(&grid, max, "the same, max-product", 50);
    measure(&grid, damped, "the same, damped", 50);
    measure(&random, sum, "random, 200,000 vertices, 1,000,000 edges", 50);
    random.vertices = 1000000;
    measure(&random, sum, "random, 1,000,000 vertices, 1,000,000 edges", 50);
    measure(&grid, general, "grid, two states, the kernel for any number", 0);
    grid.states = 5;
    measure(&grid, sum, "grid, five states", 0);
    return 0;
}
