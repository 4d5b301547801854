/*
 * Declares the data that are collected from a profiler trace, and the functions that write the
 * results of the import: JSON members (facts), times of operations, and a run.
 */
#ifndef HM_TORCH_TRACE_H
#define HM_TORCH_TRACE_H

#include "import.h"

/* Kinds of work of a device. */
enum trace_work { TRACE_COMPUTE, TRACE_COMM, TRACE_COPY, TRACE_SET, TRACE_WORKS };

/* A time interval in nanoseconds. */
struct trace_interval {
    int64_t start, end;
};

struct trace_list {
    struct trace_interval *items; /* Array of intervals; owned. */
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

/* Totals over the kernels of one kind of collective. */
struct trace_collective {
    char name[40], dtype[24];
    double group_size; /* Number of ranks of the process group; NaN: not given. */
    double kernels, elements;
    int64_t ns;
};

/* Sizes and type of one input of an operation. */
enum { TRACE_INPUTS = 3, TRACE_SIDES = 6 };
struct trace_input {
    double side[TRACE_SIDES];
    int sides;
    char type[24];
};

/* An operation of the host, and the time of its kernels. */
struct trace_op {
    double id; /* External id, at least 1; 0: the slot of the table is free. */
    double ns; /* Total time of the operation's kernels, in nanoseconds. */
    struct hm_timing timing;
};

/*
 * Number of slots in the table of operations, of which at most half are used, and largest number of
 * distinct operations.
 */
enum { TRACE_OPS = 1 << 16, TRACE_ROWS = 512 };
struct trace_ops {
    struct trace_op *items; /* Hash table of TRACE_OPS slots, by id; owned. NULL: no operation. */
    size_t count;
};

struct trace {
    struct hm_imported *im;
    /* Values that the trace states; NaN: not given. */
    double events, complete, cpu_ops, schema, rank, world, devices;
    char unit[16], backend[24], device[96];
    double processors, memory_bytes; /* Number of multiprocessors and bytes of memory of the first
                                        device; NaN: not given. */
    struct trace_ops ops;
    struct trace_list work[TRACE_WORKS];
    int64_t sums[TRACE_WORKS];
    double families[TRACE_FAMILIES]; /* Total nanoseconds of each kind of kernel. */
    struct trace_step *steps;        /* Array of TRACE_STEPS elements; owned. */
    size_t step_count;
    struct trace_collective *collectives; /* Array of TRACE_COLLECTIVES elements; owned. */
    size_t collective_count;
};

/* Append an interval; returns false when out of memory. */
bool hm__trace_add(struct trace_list *list, int64_t start, int64_t end);
/* Whether an operation of the host is one whose shape is used. */
bool hm__trace_op_known(const char *name);
/* Add an operation of the host with TRACE_INPUTS inputs, and the time of one of its kernels, whose
 * name must be in lower case. */
void hm__trace_op_add(struct trace *trace, const char *name, double id,
                      const struct trace_input *inputs);
void hm__trace_op_time(struct trace *trace, const char *kernel, double id, int64_t ns);
/* Write the times of operations to the timings of the import. */
int hm__trace_timings(struct trace *trace, struct hm_err *err);
/* Write the values of the trace (facts), messages about it, and its run. */
int hm__trace_finish(struct trace *trace, struct hm_err *err);

#endif
