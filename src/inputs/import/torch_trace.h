/*
 * Declares the data that are collected from a profiler trace, and the functions that write the
 * results of the import: JSON members (facts), times of operations, and a run.
 */
#ifndef HM_TORCH_TRACE_H
#define HM_TORCH_TRACE_H

#include "hash.h"
#include "import.h"

/* What a device does during an interval: compute, communicate, copy memory, or set memory. */
enum trace_work { TRACE_COMPUTE, TRACE_COMM, TRACE_COPY, TRACE_SET, TRACE_WORKS };

/* A time interval on the clock of the trace, in nanoseconds. */
struct trace_interval {
    int64_t start, end;
};

struct trace_list {
    struct trace_interval *items; /* Array of the intervals in the list; owned. */
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

/*
 * Totals over the kernels of one collective, such as all-reduce, with one data type and group size.
 */
struct trace_collective {
    char name[40], dtype[24];
    /* Number of ranks in the process group of the collective; NaN if not given. */
    double group_size;
    double kernels, elements;
    double ns; /* Total time of the kernels, in nanoseconds. */
};

/* Sizes and data type of one input of an operation. */
enum { TRACE_INPUTS = 3, TRACE_SIDES = 6 };
struct trace_input {
    double side[TRACE_SIDES];
    int sides;
    char type[24];
};

/* An operation that the host launched, and the time of its kernels on the device. */
struct trace_op {
    double id; /* "External id" of the operation, at least 1. */
    double ns; /* Total time of the kernels that the operation launched, in nanoseconds. */
    struct hm_timing timing;
};

/*
 * Largest number of operations that are collected, slots of the hash table that finds them, and
 * largest number of different operations that become rows.
 */
enum { TRACE_OPS = 1 << 15, TRACE_SLOTS = 2 * TRACE_OPS, TRACE_ROWS = 512 };
struct trace_ops {
    /* Arrays of TRACE_OPS and TRACE_SLOTS elements, owned; NULL if no operation was added. */
    struct trace_op *items;
    uint16_t *slots; /* Hash table of ids: 1 + the index of an operation; 0 if the slot is free. */
    struct hm_hash_key key; /* Key of the hash table. */
    size_t count;
};

struct trace {
    struct hm_imported *im;
    /* Numbers of events that were counted, and values from the trace; NaN if not given. */
    double events, complete, cpu_ops, schema, rank, world, devices;
    char unit[16], backend[24], device[96];
    double processors, memory_bytes; /* Number of multiprocessors and memory in bytes of the first
                                        device; NaN if not given. */
    struct trace_ops ops;
    struct trace_list work[TRACE_WORKS];
    double sums[TRACE_WORKS];        /* Total time of the intervals of each list, in nanoseconds. */
    double families[TRACE_FAMILIES]; /* Total time of the kernels of each kind (family), in
                                        nanoseconds. */
    /* Training steps in the trace, an array of TRACE_STEPS elements; owned. */
    struct trace_step *steps;
    size_t step_count;
    /* Totals of each collective, an array of TRACE_COLLECTIVES elements; owned. */
    struct trace_collective *collectives;
    size_t collective_count;
};

/* Appends an interval to a list; returns false if memory runs out. */
bool hm__trace_add(struct trace_list *list, int64_t start, int64_t end);
/* Returns whether an operation has a name for which times and shapes are collected. */
bool hm__trace_op_known(const char *name);
/*
 * hm__trace_op_add adds an operation of the host with TRACE_INPUTS inputs. hm__trace_op_time adds
 * the time of one of its kernels; the kernel's name must be in lower case.
 */
void hm__trace_op_add(struct trace *trace, const char *name, double id,
                      const struct trace_input *inputs);
void hm__trace_op_time(struct trace *trace, const char *kernel, double id, int64_t ns);
/* Stores the collected times of operations in the timings of the import. */
int hm__trace_timings(struct trace *trace, struct hm_err *err);
/* Writes the values of the trace as JSON members (facts), messages to the user, and a run. */
int hm__trace_finish(struct trace *trace, struct hm_err *err);

#endif
