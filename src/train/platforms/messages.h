/*
 * Messages between workers and parameter servers: a header of doubles, often followed by a shard of
 * the weights w or of a gradient.
 */
#ifndef HM_MESSAGES_H
#define HM_MESSAGES_H

#include "server.h"
#include "shard.h"

enum hm_message_kind {
    /* The following messages are sent by a worker. */
    HM_MESSAGE_PUSH,     /* The worker sends a gradient. */
    HM_MESSAGE_PULL,     /* The worker requests the weights w and has abandoned its gradient. */
    HM_MESSAGE_SHUTDOWN, /* The worker disconnects; the server replies with the same kind. */
    /* The following messages are sent by worker 0. */
    HM_MESSAGE_START,
    /*
     * Worker 0 requests the statistics, w and the state; the server sends them as separate
     * messages.
     */
    HM_MESSAGE_REPORT,
    HM_MESSAGE_RESUME,
    /* The following messages are sent by a server. */
    HM_MESSAGE_PARAMETERS,
    /* The server has made the step without the gradient that the worker is computing. */
    HM_MESSAGE_LATE,
    HM_MESSAGE_PAUSED,
};

struct hm_message {
    double kind;
    /*
     * In PUSH: clock of the gradient. In PARAMETERS: w includes all gradients of clocks before this
     * one.
     */
    double clock;
    double rows; /* In PUSH: number of rows in the mini-batch. */
    /*
     * In PUSH and PULL: 1 if the worker waits for w. In PAUSED: 1 if the worker must send its last
     * message again.
     */
    double wants;
    double target; /* In RESUME: iteration after which the servers pause. */
    /* In RESUME: time at which the first server paused, in seconds; negative: unknown. */
    double paused_s;
    double drop_late; /* In RESUME: 1 if messages that arrived after the pause are dropped. */
    double reserved;  /* Pads the header to 64 bytes. */
    double values[];  /* In PUSH: sum of the gradients of the rows. In PARAMETERS: w. */
};

#define HM_MESSAGE_HEADER (offsetof(struct hm_message, values))

/* Settings that are sent to each server at the start. */
struct hm_server_start {
    double unknowns, lambda, curvature, step;
    double rows; /* Number of rows per iteration. */
    double iteration, samples;
};

/* Report of a paused server; counters are totals since the start of the server. */
struct hm_server_report {
    double paused_s, elapsed_s;
    double iteration, samples;
    double bytes, flop;   /* Bytes sent by the server, and its floating-point operations. */
    double traffic_bytes; /* Bytes that the server sent and received. */
    double used, dropped, lead;
    struct hm_usage usage; /* Usage of this server's rank. */
};

/* Whether the gradients of all workers for one clock are added up to make one step. */
bool hm__serving_is_synchronous(const struct hm_serving *serving);
/* Returns the range of the weights w that is stored on server k. */
struct hm_shard hm__serving_shard(const struct hm_serving *serving, double unknowns, int k);

/*
 * Send or receive the range of `count` values of w from offset `first` on and, if `parts` is true,
 * the same range of each array of the algorithm's state.
 */
void hm__parameters_send(struct hm_run *run, struct hm_comm *world, int to, size_t first,
                         size_t count, bool parts);
void hm__parameters_receive(struct hm_run *run, struct hm_comm *world, int from, size_t first,
                            size_t count, bool parts);

#endif
