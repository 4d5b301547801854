/*
 * Defines the messages between workers and parameter servers. A message consists of a header of
 * doubles, often followed by a shard of the weights w or of a gradient.
 */
#ifndef HM_MESSAGES_H
#define HM_MESSAGES_H

#include "server.h"
#include "shard.h"

enum hm_message_kind {
    /* Any worker may send the following messages. */
    HM_MESSAGE_PUSH, /* The worker sends a gradient to a server. */
    HM_MESSAGE_PULL, /* The worker discards its gradient and requests the weights w. */
    /* The worker disconnects; the server replies with a message of the same kind. */
    HM_MESSAGE_SHUTDOWN,
    /* Only worker 0 sends the following messages. */
    HM_MESSAGE_START,
    /*
     * Worker 0 requests the report, the weights and the algorithm's state of a server, which sends
     * them as separate messages.
     */
    HM_MESSAGE_REPORT,
    HM_MESSAGE_RESUME,
    /* Servers send the following messages. */
    HM_MESSAGE_PARAMETERS,
    /*
     * The server notifies a worker that it has taken the step without the gradient that the worker
     * is computing.
     */
    HM_MESSAGE_LATE,
    HM_MESSAGE_PAUSED,
};

struct hm_message {
    double kind;
    /*
     * In PUSH messages: clock of the gradient. In PARAMETERS messages: the weights include all
     * gradients of earlier clocks.
     */
    double clock;
    double rows; /* In PUSH messages: number of rows in the mini-batch. */
    /*
     * In PUSH and PULL messages: 1 if the worker waits for the weights. In PAUSED messages: 1 if
     * the worker must send its last message again.
     */
    double wants;
    double target; /* In RESUME messages: iteration after which the servers pause again. */
    /*
     * In RESUME messages: time at which the first server paused, in seconds; negative if unknown.
     */
    double paused_s;
    /* In RESUME messages: 1 if messages that arrived after the pause are to be dropped. */
    double drop_late;
    double reserved; /* Unused; it makes the header 64 bytes long. */
    /* In PUSH messages: sum of the gradients of the rows. In PARAMETERS messages: the weights. */
    double values[];
};

#define HM_MESSAGE_HEADER (offsetof(struct hm_message, values))

/* Settings that worker 0 sends to each server at the start. */
struct hm_server_start {
    double unknowns, lambda, curvature, step;
    double rows; /* Number of rows that an iteration processes on all workers. */
    double iteration, samples;
};

/* Report of a paused server; its counters are totals since the start of the server. */
struct hm_server_report {
    double paused_s, elapsed_s;
    double iteration, samples;
    /* Number of bytes that the server sent, and number of its floating-point operations. */
    double bytes, flop;
    double traffic_bytes; /* Number of bytes that the server sent or received. */
    double used, dropped, lead;
    struct hm_usage usage; /* Resources that the rank of this server has used. */
};

/*
 * Returns whether each step is computed from the sum of all workers' gradients for one clock and
 * not from single gradients.
 */
bool hm__serving_is_synchronous(const struct hm_serving *serving);
/* Returns the range of the weights w that server `k` stores. */
struct hm_shard hm__serving_shard(const struct hm_serving *serving, double unknowns, int k);

/*
 * Sends or receives `count` values of w, starting at index `first`, and, if `parts` is true, the
 * same range of each array of the algorithm's state.
 */
void hm__parameters_send(struct hm_run *run, struct hm_comm *world, int to, size_t first,
                         size_t count, bool parts);
void hm__parameters_receive(struct hm_run *run, struct hm_comm *world, int from, size_t first,
                            size_t count, bool parts);

#endif
