/* What workers and servers write to each other: a head of doubles, and often a piece of w. */
#ifndef HM_LETTERS_H
#define HM_LETTERS_H

#include "server.h"
#include "shard.h"

enum hm_letter_kind {
    /* From a worker. */
    HM_LETTER_PUSH, /* a gradient */
    HM_LETTER_ASK,  /* for w, without one: it was given up */
    HM_LETTER_BYE,  /* answered by the same */
    /* From worker 0. */
    HM_LETTER_START,
    HM_LETTER_SHOW, /* w and the rest, which follow the answer's head */
    HM_LETTER_RESUME,
    /* From a server. */
    HM_LETTER_W,
    HM_LETTER_LATE, /* the step that it works on was made without it */
    HM_LETTER_LOOK,
};

struct hm_letter {
    double kind;
    double clock;    /* PUSH: worked on; W: all gradients of clocks before it are in */
    double rows;     /* PUSH: of the mini-batch */
    double wants;    /* PUSH: w; LOOK: bring it again */
    double target;   /* RESUME: iteration to stand still after */
    double stood_s;  /* RESUME: when the first server stood still; below 0: not known */
    double fresh;    /* RESUME: what came too late is dropped */
    double reserved; /* 64 bytes */
    double values[]; /* PUSH: sum of the rows' gradients; W: w */
};

#define HM_LETTER_HEAD (offsetof(struct hm_letter, values))

/* What servers are told at the start. */
struct hm_serving_start {
    double unknowns, lambda, curvature, step;
    double rows; /* of an iteration */
    double iteration, samples;
};

/* What a server tells when it stands still; sums are of everything since the start. */
struct hm_serving_shown {
    double stood_s, elapsed_s;
    double iteration, samples;
    double bytes, flop;   /* sent, and done */
    double through_bytes; /* both ways */
    double used, dropped, lead;
    struct hm_usage usage; /* of this server's rank */
};

/* Whether gradients of a clock make one step together. */
bool hm__serving_staged(const struct hm_serving *serving);
/* The piece of w of server k. */
struct hm_shard hm__serving_piece(const struct hm_serving *serving, double unknowns, int k);

/* Send or receive a piece of w and of each part of the state; `first`: where it begins here. */
void hm__pieces_send(struct hm_run *run, struct hm_comm *world, int to, size_t first, size_t count,
                     bool parts);
void hm__pieces_receive(struct hm_run *run, struct hm_comm *world, int from, size_t first,
                        size_t count, bool parts);

#endif
