/* Messages between workers and parameter servers: a header of doubles, and often a shard of w. */
#ifndef HM_MESSAGES_H
#define HM_MESSAGES_H

#include "server.h"
#include "shard.h"

enum hm_message_kind {
    /* From a worker. */
    HM_MESSAGE_PUSH,     /* A gradient. */
    HM_MESSAGE_PULL,     /* Request w without a gradient, which the worker abandoned. */
    HM_MESSAGE_SHUTDOWN, /* The server replies with the same kind. */
    /* From worker 0. */
    HM_MESSAGE_START,
    /* Request the statistics, w and the state, which follow as separate messages. */
    HM_MESSAGE_REPORT,
    HM_MESSAGE_RESUME,
    /* From a server. */
    HM_MESSAGE_PARAMETERS,
    HM_MESSAGE_LATE, /* The step that the worker computes a gradient for was made without it. */
    HM_MESSAGE_PAUSED,
};

struct hm_message {
    double kind;
    /* PUSH: clock of the gradient; PARAMETERS: all gradients of earlier clocks are included. */
    double clock;
    double rows; /* PUSH: rows in the mini-batch. */
    /* PUSH, PULL: the worker waits for w; PAUSED: the worker must send its last message again. */
    double wants;
    double target;    /* RESUME: iteration after which the servers pause. */
    double paused_s;  /* RESUME: time at which the first server paused; negative: unknown. */
    double drop_late; /* RESUME: drop the messages that arrived after the pause. */
    double reserved;  /* Pads the header to 64 bytes. */
    double values[];  /* PUSH: sum of the gradients of the rows; PARAMETERS: w. */
};

#define HM_MESSAGE_HEADER (offsetof(struct hm_message, values))

/* Sent to each server at the start. */
struct hm_server_start {
    double unknowns, lambda, curvature, step;
    double rows; /* Rows per iteration. */
    double iteration, samples;
};

/* Sent by a paused server; counters are totals since the start. */
struct hm_server_report {
    double paused_s, elapsed_s;
    double iteration, samples;
    double bytes, flop;   /* Bytes sent, and floating-point operations done. */
    double traffic_bytes; /* Bytes sent and received. */
    double used, dropped, lead;
    struct hm_usage usage; /* Usage of this server's rank. */
};

/* Whether the gradients of one clock are combined into one step. */
bool hm__serving_is_synchronous(const struct hm_serving *serving);
/* The shard of w on server k. */
struct hm_shard hm__serving_shard(const struct hm_serving *serving, double unknowns, int k);

/*
 * Send or receive a part of w and, if `parts`, of each array of the state; `first`: its offset in
 * run->w.
 */
void hm__parameters_send(struct hm_run *run, struct hm_comm *world, int to, size_t first,
                         size_t count, bool parts);
void hm__parameters_receive(struct hm_run *run, struct hm_comm *world, int from, size_t first,
                            size_t count, bool parts);

#endif
