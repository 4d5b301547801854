/*
 * Computes the times of operations on the cores of a CPU; defines the constants of the software
 * that runs them.
 */
#ifndef HM_CPU_H
#define HM_CPU_H

#include "howmany.h"

/*
 * Columns: name, value, smallest and largest reasonable value, meaning. tools/fit_platform.c fitted
 * the values to data/platforms.csv, with cross-validation; docs/explain/accuracy.md lists the
 * errors. Times are in microseconds.
 */
/* clang-format off */
#define HM_CPU_CONSTANT_MAP(X)                                                                     \
    X(reach, 0.8, 0.5, 0.98, "of the peak, largest matrix products")                              \
    X(ramp_m, 8, 0, 64, "additions to the rows of a product that its fixed work is worth")         \
    X(ramp_n, 35, 0, 64, "the same, columns")                                                       \
    X(ramp_k, 20, 0, 256, "the same, inner dimension")                                             \
    X(conv, 0.81, 0.2, 1.5, "efficiency of a convolution relative to a matrix product")             \
    X(depthwise, 0.1, 0.01, 1, "the same, depthwise")                                              \
    X(attention, 0.54, 0.05, 1, "the same, attention without its projections")                      \
    X(stream, 1, 0.2, 1, "of the memory bandwidth, operations on each element")                    \
    X(core_memory, 5, 2, 40, "GB/s that one thread of a framework moves to and from memory")                     \
    X(core_cache, 5.6, 5, 100, "the same, to and from the cache")                  \
    X(start, 4.7, 0.2, 30, "microseconds to start and end one operation on all threads")             \
    X(operation, 8, 0.5, 60, "microseconds of the framework for one operation")                    \
    X(step, 17, 0, 2000, "microseconds of one step that nothing else explains")                    \
    X(graph_memory, 14, 2, 40, "GB/s that one thread moves along the edges of a graph")            \
    X(graph, 0.07, 0.005, 0.5, "of the peak, scalar arithmetic on the edges of a graph")
/* clang-format on */

struct hm_cpu_constants {
#define HM_CPU_CONSTANT_MEMBER(name, value, low, high, doc) double name;
    HM_CPU_CONSTANT_MAP(HM_CPU_CONSTANT_MEMBER)
#undef HM_CPU_CONSTANT_MEMBER
};

/* The constants for CPUs in this version of the model. */
extern const struct hm_cpu_constants hm__cpu_constants;

/* The cores that compute in one worker. */
struct hm_cpu {
    /* Constants, borrowed; NULL if the worker is an accelerator. */
    const struct hm_cpu_constants *k;
    double threads, cores; /* Number of threads, and number of cores that they occupy. */
    double rate;           /* Peak flop/s of the occupied cores. */
    double reach;          /* Fraction of the peak that the largest matrix products reach. */
    double bandwidth;      /* Rate in bytes/s at which the threads move data to and from memory. */
    double cache;          /* Size in bytes of the cache that the threads share. */
    double value_bytes;    /* Size in bytes of one number in the precision of the job. */
    double algebra;        /* Speed of the framework's matrix products relative to a tuned BLAS. */
};

/*
 * Initialises the cores from a node; `rate` is the peak flop/s of the whole node. Measured rates of
 * the node replace the rates of its data sheet and the constants. Returns false if the cores or the
 * memory bandwidth of the node are unknown.
 */
bool hm__cpu_init(struct hm_cpu *cpu, const struct hm_node *node, double rate, double value_bytes,
                  const struct hm_cpu_constants *constants);

/*
 * Returns the time in seconds of `batch` matrix products of an m x k matrix and a k x n matrix, at
 * the fraction `efficiency` of the typical speed.
 */
double hm__cpu_gemm(const struct hm_cpu *cpu, double m, double n, double k, double batch,
                    double efficiency);
/* Returns the time in seconds of an element-wise operation that moves `bytes` bytes. */
double hm__cpu_stream(const struct hm_cpu *cpu, double bytes);
/*
 * Returns the time in seconds of `flop` floating-point operations that run at a fraction of the
 * peak and move `bytes` bytes.
 */
double hm__cpu_loop(const struct hm_cpu *cpu, double flop, double fraction, double bytes);

/* Returns the time in seconds that one worker needs to process one edge of a graph in belief
 * propagation with `states` states: scalar arithmetic or memory traffic, whichever takes longer.
 * `vertices` is the number of vertices in the graph, `value_bytes` is the size of a value in bytes,
 * and `rate` is the peak flop/s of the worker with 64 bits. */
double hm__cpu_edge(const struct hm_node *node, double rate, double flop, double states,
                    double vertices, double value_bytes);

#endif
