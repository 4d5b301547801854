/*
 * Defines the communication interface of the training code: a table of functions, so that the
 * algorithms are written once and run on MPI, on SimGrid's MPI, on one rank without MPI, or on
 * threads in a test. Data are doubles or bytes. The functions return no error codes: a rank that
 * cannot communicate cannot continue, and MPI ends the job.
 */
#ifndef HM_COMM_H
#define HM_COMM_H

#include "howmany.h"
#include "slowness.h"

/*
 * Algorithm of an all-reduce: that of the MPI library, or one of those in schemes.c, which use
 * point-to-point messages.
 */
enum hm_reduce_scheme {
    /*
     * Recursive doubling for short vectors, ring for long vectors; sums have the same bits on every
     * cluster.
     */
    HM_REDUCE_AUTO,
    HM_REDUCE_LIBRARY,  /* MPI_Allreduce; its order of summation is unspecified. */
    HM_REDUCE_TREE,     /* Reduction to rank 0 along a binomial tree, then a broadcast. */
    HM_REDUCE_RING,     /* Reduce-scatter and all-gather around a ring. */
    HM_REDUCE_DOUBLING, /* Recursive doubling. */
    /*
     * Each group of ceil(sqrt n) ranks sends to its first rank, and the first ranks send to rank 0;
     * then the sum is broadcast along a tree.
     */
    HM_REDUCE_TWO_WAVE,
    /* All ranks send to rank 0, one after another; then rank 0 sends the sum to each rank. */
    HM_REDUCE_MASTER,
    HM_REDUCE_SCHEMES
};

struct hm_comm;

struct hm_comm_ops {
    void (*send)(struct hm_comm *comm, int to, const void *data, size_t bytes);
    void (*receive)(struct hm_comm *comm, int from, void *data, size_t bytes);
    /* Send to one rank and receive from another at the same time. */
    void (*exchange)(struct hm_comm *comm, int to, const void *data, size_t bytes, int from,
                     void *into, size_t into_bytes);
    /* All-reduce (sum) of the MPI library, in place. */
    void (*sum)(struct hm_comm *comm, double *values, size_t count);
    double (*now)(struct hm_comm *comm); /* Current time in seconds; virtual in a simulation. */
    /* Account for `flop` floating-point operations, which take time only in a simulation. */
    void (*work)(struct hm_comm *comm, double flop);
    /* Barrier; in a simulation all ranks leave it at exactly the same virtual time. */
    void (*barrier)(struct hm_comm *comm);
    /*
     * Non-blocking messages. They use a separate channel and never match messages of the blocking
     * functions above. The back end owns a request until it has completed; the buffer must stay
     * valid until then.
     */
    void *(*start_send)(struct hm_comm *comm, int to, const void *data, size_t bytes);
    void *(*start_receive)(struct hm_comm *comm, int from, void *into, size_t room);
    /*
     * Wait until one of the requests that are not NULL has completed, and return its index.
     * *ret_bytes is the size of the message if the request is a receive.
     */
    size_t (*wait_any)(struct hm_comm *comm, void **requests, size_t count, size_t *ret_bytes);
    /* Whether a request has completed; does not block. */
    bool (*test)(struct hm_comm *comm, void *request);
    /* Sleep for `seconds`. */
    void (*pause)(struct hm_comm *comm, double seconds);
    /* Report an internal error and end all ranks. Does not return. */
    void (*fail)(struct hm_comm *comm, const char *why);
    /*
     * Set the CPU seconds used so far by this rank's process, and its resident memory in bytes.
     * NULL if ranks share one process or time is virtual.
     */
    void (*usage)(struct hm_comm *comm, double *ret_cpu_s, double *ret_bytes);
};

/*
 * A slow worker in a simulation: the work of one iteration takes the time that hm__slowness_draw
 * returns, instead of flop / flops seconds.
 */
struct hm_straggling {
    struct hm_slowness slowness;
    uint64_t seed;
    double flops;     /* Nominal speed of a worker in flop/s. */
    double worker, n; /* Index of this worker and number of workers. */
    double iteration; /* Iteration to which the current work belongs. */
    /* Nominal and simulated seconds of the work done so far in this iteration. */
    double nominal_s, real_s;
};

struct hm_comm {
    const struct hm_comm_ops *ops;
    void *state; /* State of the back end, such as MPI or SimGrid. */
    int rank, size;
    enum hm_reduce_scheme scheme;
    /* True if time is virtual, so that times of different ranks can be compared. */
    bool shared_clock;
    /* shares[k] is the fraction of all rows on ranks below k; length size + 1. NULL: equal shares.
     */
    const double *shares;
    struct hm_straggling *straggling; /* Simulated slowness of this worker; borrowed; NULL: none. */
    /*
     * The members below are counters of this rank since its start. Take differences to measure an
     * interval.
     */
    double flop; /* Number of floating-point operations done. */
    /* Bytes sent; for HM_REDUCE_LIBRARY the minimum that an all-reduce must send. */
    double bytes;
    /* Bytes received; the caller must add those of messages received with start_receive. */
    double received;
    double communicate_s; /* Seconds spent in the functions below, without the time of additions. */
};

const char *hm__reduce_scheme_name(enum hm_reduce_scheme scheme);
/* Returns the scheme with the name `name`, or -1 if there is none. */
int hm__reduce_scheme_find(const char *name);

/* Initialise a communicator of one rank with real time. */
void hm__comm_alone(struct hm_comm *comm);

/* Send or receive one message and count its bytes; a message of 0 bytes is not sent. */
void hm__comm_send(struct hm_comm *comm, int to, const void *data, size_t bytes);
void hm__comm_receive(struct hm_comm *comm, int from, void *data, size_t bytes);
/*
 * Send to one rank and receive from another at the same time. Bytes are counted, and messages of 0
 * bytes are not sent.
 */
void hm__comm_exchange(struct hm_comm *comm, int to, const void *data, size_t bytes, int from,
                       void *into, size_t into_bytes);
/*
 * Non-blocking messages. hm__comm_wait_any returns the index of a completed request and sets the
 * request to NULL; at least one request must not be NULL. *ret_bytes (ret_bytes may be NULL) is the
 * size of a received message.
 */
void hm__comm_start_send(struct hm_comm *comm, int to, const void *data, size_t bytes,
                         void **ret_request);
void hm__comm_start_receive(struct hm_comm *comm, int from, void *into, size_t room,
                            void **ret_request);
size_t hm__comm_wait_any(struct hm_comm *comm, void **requests, size_t count, size_t *ret_bytes);
/* Whether the request has completed; if so, the request is set to NULL. Does not block. */
bool hm__comm_test(struct hm_comm *comm, void **request);
/* Wait until all requests that are not NULL have completed. */
void hm__comm_wait_all(struct hm_comm *comm, void **requests, size_t count);
/* Count floating-point operations; in a simulation they take time. */
void hm__comm_work(struct hm_comm *comm, double flop);
/* Assign the work that follows to `iteration`; the simulation of stragglers needs this. */
void hm__comm_set_iteration(struct hm_comm *comm, double iteration);
/*
 * Combines the values `from` of another rank with those of this rank, for example by sum or
 * maximum: into[i] = into[i] op from[i].
 */
typedef void hm_combine_fn(struct hm_comm *comm, double *into, const double *from, size_t count);
/*
 * Sum: into[i] += from[i]. The additions are counted as work, and their time does not count as
 * communication.
 */
hm_combine_fn hm__comm_add;
/*
 * All-reduce (sum) in place; all ranks get the same bits. `scratch` holds `count` doubles (may be
 * NULL when size is 1). The additions are counted as work.
 */
void hm__comm_sum(struct hm_comm *comm, double *values, size_t count, double *scratch);
/*
 * All-reduces (sum and maximum) of at most HM_COMM_FEW values. They always use recursive doubling,
 * so that results do not depend on the scheme.
 */
enum { HM_COMM_FEW = 16 };
void hm__comm_sum_few(struct hm_comm *comm, double *values, size_t count);
void hm__comm_max_few(struct hm_comm *comm, double *values, size_t count);
/* Broadcast from rank `root` along a binomial tree. */
void hm__comm_broadcast(struct hm_comm *comm, int root, void *data, size_t bytes);
/* Barrier; in a simulation all ranks leave it at exactly the same virtual time. */
void hm__comm_barrier(struct hm_comm *comm);

#endif
