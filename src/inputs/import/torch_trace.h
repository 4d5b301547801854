/* Events of a profiler trace as they are collected, and the facts that are made of them. */
#ifndef HM_TORCH_TRACE_H
#define HM_TORCH_TRACE_H

#include "import.h"

/* What a device does in an interval. */
enum trace_work { TRACE_COMPUTE, TRACE_COMM, TRACE_COPY, TRACE_SET, TRACE_WORKS };

/* An interval in nanoseconds. */
struct trace_interval {
    int64_t start, end;
};

struct trace_list {
    struct trace_interval *items; /* Owned. */
    size_t count, room;
};

/* Kinds of kernels, distinguished by their names. */
enum { TRACE_FAMILIES = 7 };
extern const char *const hm__trace_families[TRACE_FAMILIES];

enum { TRACE_STEPS = 4096, TRACE_COLLECTIVES = 256 };

struct trace_step {
    double number;
    struct trace_interval at;
};

/* Kernels of one kind of collective. */
struct trace_collective {
    char name[40], dtype[24];
    double group_size; /* NaN: not given. */
    double kernels, elements;
    int64_t ns;
};

struct trace {
    struct hm_imported *im;
    double events, complete, cpu_ops, schema, rank, world, devices; /* NaN: not given. */
    char unit[16], backend[24], device[96];
    struct trace_list work[TRACE_WORKS];
    int64_t sums[TRACE_WORKS];
    double families[TRACE_FAMILIES]; /* Nanoseconds of kernels by kind. */
    struct trace_step *steps;        /* TRACE_STEPS elements; owned. */
    size_t step_count;
    struct trace_collective *collectives; /* TRACE_COLLECTIVES elements; owned. */
    size_t collective_count;
};

/* Add an interval; false: out of memory. */
bool hm__trace_add(struct trace_list *list, int64_t start, int64_t end);
/* Write the facts, the items and the run. */
int hm__trace_finish(struct trace *trace, struct hm_err *err);

#endif
