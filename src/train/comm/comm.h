/*
 * How ranks talk: a table of functions, so that the algorithms are written once and run on MPI, on
 * SimGrid's MPI, alone, or on threads in a test. What moves is doubles or bytes; nothing returns an
 * error, for a rank that cannot talk cannot go on (MPI ends the job).
 */
#ifndef HM_COMM_H
#define HM_COMM_H

#include "howmany.h"
#include "slowness.h"

/* How an all-reduce is done: by the library, or by ourselves in a named way (schemes.c). */
enum hm_reduce_scheme {
    HM_REDUCE_AUTO,     /* doubling when small, ring when large: the same bits everywhere */
    HM_REDUCE_LIBRARY,  /* MPI_Allreduce; its order of adding is its own */
    HM_REDUCE_TREE,     /* binomial tree to rank 0, and back */
    HM_REDUCE_RING,     /* reduce-scatter and all-gather around a ring */
    HM_REDUCE_DOUBLING, /* recursive doubling */
    HM_REDUCE_TWO_WAVE, /* groups of ceil(sqrt n) to their first, those to rank 0; tree back */
    HM_REDUCE_MASTER,   /* all to rank 0, one after another, and back */
    HM_REDUCE_SCHEMES
};

struct hm_comm;

struct hm_comm_ops {
    void (*send)(struct hm_comm *comm, int to, const void *data, size_t bytes);
    void (*receive)(struct hm_comm *comm, int from, void *data, size_t bytes);
    /* Send to one and receive from another at once. */
    void (*exchange)(struct hm_comm *comm, int to, const void *data, size_t bytes, int from,
                     void *into, size_t into_bytes);
    /* The library's all-reduce, in place. */
    void (*sum)(struct hm_comm *comm, double *values, size_t count);
    double (*now)(struct hm_comm *comm); /* seconds, virtual when simulated */
    /* So much arithmetic has been done; takes time only when simulated. */
    void (*work)(struct hm_comm *comm, double flop);
    /* Wait for all; when simulated, all go on at the very same moment. */
    void (*align)(struct hm_comm *comm);
    /*
     * Messages that take their time while we do something else; they do not meet those above. A
     * request is the back end's until it was found done; the data must stay where it is until then.
     */
    void *(*start_send)(struct hm_comm *comm, int to, const void *data, size_t bytes);
    void *(*start_receive)(struct hm_comm *comm, int from, void *into, size_t room);
    /* Wait until one of the requests that are not NULL is done: its place, and what it brought. */
    size_t (*wait_any)(struct hm_comm *comm, void **requests, size_t count, size_t *ret_bytes);
    /* Whether it is done. */
    bool (*test)(struct hm_comm *comm, void *request);
    /* Do nothing for a while. */
    void (*pause)(struct hm_comm *comm, double seconds);
    /* A fault that no rank may live on with: say why, and end them all. Does not return. */
    void (*fail)(struct hm_comm *comm, const char *why);
    /* Of this rank's process: seconds of processors so far, and bytes it has. NULL where ranks
     * share a process or time is virtual. */
    void (*usage)(struct hm_comm *comm, double *ret_cpu_s, double *ret_bytes);
};

/*
 * Work that takes another time than its flop say, in virtual time: all of an iteration together
 * takes what hm__slowness_draw makes of it.
 */
struct hm_straggling {
    struct hm_slowness slowness;
    uint64_t seed;
    double flops;             /* of a worker that is as the cluster says, flop/s */
    double worker, n;         /* who we are */
    double iteration;         /* that is worked on */
    double nominal_s, real_s; /* of its work so far */
};

struct hm_comm {
    const struct hm_comm_ops *ops;
    void *state; /* of the back end */
    int rank, size;
    enum hm_reduce_scheme scheme;
    bool one_clock; /* time is virtual: moments of different ranks can be compared */
    const double
        *shares; /* of rows: [size + 1], what goes to ranks before each; NULL: equal ones */
    struct hm_straggling *straggling; /* NULL: none; borrowed */
    /* Of this rank, since the start; whoever wants them for a while takes differences. */
    double flop;      /* arithmetic done */
    double bytes;     /* sent; by the library: the least an all-reduce can send */
    double received;  /* bytes; messages of start_receive are counted by whoever reads them */
    double talking_s; /* spent in the functions below, less the work */
};

const char *hm__reduce_scheme_name(enum hm_reduce_scheme scheme);
/* The scheme of that name, or -1. */
int hm__reduce_scheme_find(const char *name);

/* A comm of one rank, with real time. */
void hm__comm_alone(struct hm_comm *comm);

/* One message; the bytes sent are counted, and without any nothing moves. */
void hm__comm_send(struct hm_comm *comm, int to, const void *data, size_t bytes);
void hm__comm_receive(struct hm_comm *comm, int from, void *data, size_t bytes);
/*
 * The same while something else is done. wait_any returns the place of one that is done, and makes
 * it NULL; at least one is not. ret_bytes (may be NULL): what a receive has brought.
 */
void hm__comm_start_send(struct hm_comm *comm, int to, const void *data, size_t bytes,
                         void **ret_request);
void hm__comm_start_receive(struct hm_comm *comm, int from, void *into, size_t room,
                            void **ret_request);
size_t hm__comm_wait_any(struct hm_comm *comm, void **requests, size_t count, size_t *ret_bytes);
/* Whether it is done; then it is NULL. Takes no time. */
bool hm__comm_test(struct hm_comm *comm, void **request);
/* Wait until all that are not NULL are done. */
void hm__comm_wait_all(struct hm_comm *comm, void **requests, size_t count);
/* Count arithmetic, and let it take its time when simulated. */
void hm__comm_work(struct hm_comm *comm, double flop);
/* What is worked on from now on is of this iteration. */
void hm__comm_iteration(struct hm_comm *comm, double iteration);
/*
 * Add up over the ranks; all get the same bits. `scratch` holds `count` doubles of the caller's
 * (NULL: not needed when size is 1). The adding is counted as work.
 */
void hm__comm_sum(struct hm_comm *comm, double *values, size_t count, double *scratch);
/* As above for a few numbers: always by doubling, so that decisions do not depend on the scheme. */
enum { HM_COMM_FEW = 16 };
void hm__comm_sum_few(struct hm_comm *comm, double *values, size_t count);
void hm__comm_max_few(struct hm_comm *comm, double *values, size_t count);
/* From rank `root` to all, by a binomial tree. */
void hm__comm_broadcast(struct hm_comm *comm, int root, void *data, size_t bytes);
/* Wait for all; when simulated, all go on at the very same moment. */
void hm__comm_align(struct hm_comm *comm);

#endif
