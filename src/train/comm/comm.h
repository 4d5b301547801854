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
 * Scheme of an all-reduce: the scheme of the MPI library, or one of the schemes in schemes.c, which
 * use point-to-point messages.
 */
enum hm_reduce_scheme {
    /*
     * Recursive doubling for short vectors, and a ring for long vectors; sums have the same bits on
     * every cluster.
     */
    HM_REDUCE_AUTO,
    /* MPI_Allreduce of the MPI library, which does not specify the order of the additions. */
    HM_REDUCE_LIBRARY,
    HM_REDUCE_TREE, /* Reduction to rank 0 along a binomial tree, followed by a broadcast. */
    HM_REDUCE_RING, /* Reduce-scatter, then all-gather, both around a ring. */
    /*
     * Recursive doubling: ranks exchange values in pairs, and the distance within a pair doubles in
     * each round.
     */
    HM_REDUCE_DOUBLING,
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
    /* Sends to one rank and receives from another at the same time. */
    void (*exchange)(struct hm_comm *comm, int to, const void *data, size_t bytes, int from,
                     void *into, size_t into_bytes);
    /* Performs an all-reduce (sum) in place with the MPI library. */
    void (*sum)(struct hm_comm *comm, double *values, size_t count);
    /* Returns the current time in seconds, which is virtual in a simulation. */
    double (*now)(struct hm_comm *comm);
    /* Accounts for `flop` floating-point operations, which take time only in a simulation. */
    void (*work)(struct hm_comm *comm, double flop);
    /*
     * Waits until all ranks have called this function (barrier); in a simulation, all ranks leave
     * it at exactly the same virtual time.
     */
    void (*barrier)(struct hm_comm *comm);
    /*
     * The functions below send and receive non-blocking messages, which use a separate channel and
     * never match messages from the blocking functions above. The back end (such as MPI) owns a
     * request until the message is complete; the buffer must stay valid until then.
     */
    void *(*start_send)(struct hm_comm *comm, int to, const void *data, size_t bytes);
    void *(*start_receive)(struct hm_comm *comm, int from, void *into, size_t room);
    /*
     * Waits until one of the requests has completed, and returns its index; elements that are NULL
     * are ignored. If it is a receive, *ret_bytes is set to the size of the message.
     */
    size_t (*wait_any)(struct hm_comm *comm, void **requests, size_t count, size_t *ret_bytes);
    /* Returns whether a request has completed, without waiting. */
    bool (*test)(struct hm_comm *comm, void *request);
    /* Makes this rank sleep for `seconds`. */
    void (*pause)(struct hm_comm *comm, double seconds);
    /* Reports an internal error and ends all ranks; this function does not return. */
    void (*fail)(struct hm_comm *comm, const char *why);
    /*
     * Gets the CPU time in seconds that this rank's process has used, and its resident memory in
     * bytes. This function is NULL if ranks share one process or time is virtual.
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
    double worker, n; /* Index of this worker, and number of workers. */
    double iteration; /* Number of the iteration to which newly counted work is added. */
    /*
     * For the work of this iteration so far: time in seconds that it would take at nominal speed,
     * and time in seconds that it takes in the simulation.
     */
    double nominal_s, real_s;
};

struct hm_comm {
    const struct hm_comm_ops *ops;
    void *state; /* State of the back end, such as MPI or SimGrid. */
    int rank, size;
    enum hm_reduce_scheme scheme;
    /*
     * True if time is virtual and the same on all ranks, so that times of different ranks can be
     * compared.
     */
    bool shared_clock;
    /*
     * shares[k] is the fraction of all rows that ranks below k hold, size + 1 elements; NULL means
     * equal shares.
     */
    const double *shares;
    /* Describes how a simulated worker is slowed down, borrowed; NULL if the worker is not slow. */
    struct hm_straggling *straggling;
    /*
     * The members below count what this rank has done since its start; the difference between two
     * values measures an interval.
     */
    double flop; /* Number of floating-point operations that this rank has performed. */
    /*
     * Number of bytes sent; for HM_REDUCE_LIBRARY, the minimum number that an all-reduce must send.
     */
    double bytes;
    /*
     * Number of bytes received; the caller must add the bytes of messages that were received with
     * start_receive.
     */
    double received;
    /*
     * Time in seconds spent in the communication functions below, excluding the time for additions.
     */
    double communicate_s;
};

const char *hm__reduce_scheme_name(enum hm_reduce_scheme scheme);
/* Returns the scheme called `name`; -1 if there is none. */
int hm__reduce_scheme_find(const char *name);

/* Initialises a communicator that has only one rank and uses real time. */
void hm__comm_alone(struct hm_comm *comm);

/* Sends or receives one message and counts its bytes; a message of 0 bytes is not sent. */
void hm__comm_send(struct hm_comm *comm, int to, const void *data, size_t bytes);
void hm__comm_receive(struct hm_comm *comm, int from, void *data, size_t bytes);
/*
 * Sends to one rank and receives from another at the same time. Bytes are counted, and messages of
 * 0 bytes are not sent.
 */
void hm__comm_exchange(struct hm_comm *comm, int to, const void *data, size_t bytes, int from,
                       void *into, size_t into_bytes);
/*
 * These functions handle non-blocking messages. hm__comm_wait_any returns the index of a completed
 * request and sets the request to NULL; at least one request must not be NULL. Unless `ret_bytes`
 * is NULL, *ret_bytes is set to the size of a received message.
 */
void hm__comm_start_send(struct hm_comm *comm, int to, const void *data, size_t bytes,
                         void **ret_request);
void hm__comm_start_receive(struct hm_comm *comm, int from, void *into, size_t room,
                            void **ret_request);
size_t hm__comm_wait_any(struct hm_comm *comm, void **requests, size_t count, size_t *ret_bytes);
/* Returns whether a request has completed, without waiting; if so, *request is set to NULL. */
bool hm__comm_test(struct hm_comm *comm, void **request);
/* Waits until all requests have completed; elements that are NULL are ignored. */
void hm__comm_wait_all(struct hm_comm *comm, void **requests, size_t count);
/* Counts floating-point operations of this rank; in a simulation, they also take time. */
void hm__comm_work(struct hm_comm *comm, double flop);
/*
 * Sets the iteration to which the following work belongs; simulated stragglers are slow for whole
 * iterations.
 */
void hm__comm_set_iteration(struct hm_comm *comm, double iteration);
/*
 * Combines values of another rank with the values of this rank, for example by sum or maximum:
 * into[i] = into[i] op from[i].
 */
typedef void hm_combine_fn(struct hm_comm *comm, double *into, const double *from, size_t count);
/*
 * Adds values: into[i] += from[i]. The additions are counted as work, and their time does not count
 * as communication.
 */
hm_combine_fn hm__comm_add;
/*
 * Performs an all-reduce (sum) in place; all ranks receive the same bits. `scratch` must hold
 * `count` doubles, and may be NULL if there is only one rank. The additions are counted as work.
 */
void hm__comm_sum(struct hm_comm *comm, double *values, size_t count, double *scratch);
/*
 * Perform an all-reduce (sum or maximum) of at most HM_COMM_FEW values. They always use recursive
 * doubling, so that results do not depend on the scheme.
 */
enum { HM_COMM_FEW = 16 };
void hm__comm_sum_few(struct hm_comm *comm, double *values, size_t count);
void hm__comm_max_few(struct hm_comm *comm, double *values, size_t count);
/* Broadcasts data from rank `root` along a binomial tree. */
void hm__comm_broadcast(struct hm_comm *comm, int root, void *data, size_t bytes);
/*
 * Waits until all ranks have called this function (barrier); in a simulation, all ranks leave it at
 * exactly the same virtual time.
 */
void hm__comm_barrier(struct hm_comm *comm);

#endif
