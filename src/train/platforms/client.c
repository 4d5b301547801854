/*
 * A worker's side. With `pull_late` w is asked for only when the copy would be more than s clocks
 * old for the next clock, else with each.
 */
#include "client.h"

#include <math.h>
#include <string.h>

#include "err.h"
#include "messages.h"

enum reply {
    REPLY_THERE, /* or not asked for */
    REPLY_DUE,   /* the server has our letter */
    REPLY_NONE,  /* it has not: it stands still */
};

/* What we have to do with one server. */
struct desk {
    size_t first, count; /* its piece of w */
    enum reply reply;
    double version; /* of our copy of its piece */
    bool late;      /* it has made the step after that */
    struct hm_letter *out, *in;
};

struct hm_client {
    struct hm_comm *world;
    const struct hm_serving *serving;
    struct desk *desks; /* [servers] */
    void **requests;    /* [2 servers]: of letters from them, and to them */
    double *w, *sum;    /* our copy, and what was added to it */
    size_t unknowns;
    double clock;  /* that we work on */
    double target; /* where all meet */
    double sent_s; /* when the last letters were sent */
    double wait_s;
    double ages[HM_STALENESS_BINS];
};

static struct hm_letter *new_letter(struct hm_arena *arena, size_t count)
{
    return hm__arena_alloc(arena, 1, HM_LETTER_HEAD + count * sizeof(double));
}

int hm__client_new(struct hm_comm *world, const struct hm_serving *serving, size_t unknowns,
                   double clock, struct hm_arena *arena, struct hm_client **ret_client,
                   struct hm_err *err)
{
    struct hm_client *c = hm__arena_alloc(arena, 1, sizeof(*c));
    size_t servers = (size_t)serving->servers;

    if (!c)
        return hm__fail_nomem(err);
    *c = (struct hm_client){
        .world = world, .serving = serving, .unknowns = unknowns, .clock = clock};
    c->desks = hm__arena_alloc(arena, servers, sizeof(*c->desks));
    c->requests = hm__arena_alloc(arena, 2 * servers, sizeof(*c->requests));
    c->w = hm__arena_alloc(arena, unknowns, sizeof(double));
    c->sum = hm__arena_alloc(arena, unknowns, sizeof(double));
    bool whole = c->desks && c->requests && c->w && c->sum;
    for (size_t k = 0; whole && k < servers; k++) {
        struct hm_shard piece = hm__serving_piece(serving, (double)unknowns, (int)k);
        struct desk *desk = &c->desks[k];
        *desk = (struct desk){
            .first = (size_t)piece.first, .count = (size_t)piece.count, .reply = REPLY_DUE};
        desk->out = new_letter(arena, desk->count);
        desk->in = new_letter(arena, desk->count);
        whole = desk->out && desk->in;
    }
    if (!whole)
        return hm__fail_nomem(err);
    *ret_client = c;
    return 0;
}

double hm__client_clock_now(const struct hm_client *c)
{
    return c->clock;
}

double hm__client_wait_s(const struct hm_client *c)
{
    return c->wait_s;
}

const double *hm__client_ages(const struct hm_client *c)
{
    return c->ages;
}

/* ---- reading -------------------------------------------------------------------------------- */

/* A receive is open to a server whenever it may write to us: with backups, always. */
static void listen(struct hm_client *c, size_t k)
{
    struct desk *desk = &c->desks[k];

    if (!c->requests[k])
        hm__comm_start_receive(c->world, c->serving->workers + (int)k, desk->in,
                               HM_LETTER_HEAD + desk->count * sizeof(double), &c->requests[k]);
}

/* True: to look. */
static bool take_reply(struct hm_client *c, struct desk *desk)
{
    if (desk->in->kind == HM_LETTER_LOOK) {
        desk->reply = desk->in->wants > 0 ? REPLY_NONE : REPLY_DUE;
        return true;
    }
    desk->late = false;
    c->world->received += (double)(HM_LETTER_HEAD + desk->count * sizeof(double));
    memcpy(c->w + desk->first, desk->in->values, desk->count * sizeof(double));
    desk->version = desk->in->clock;
    desk->reply = REPLY_THERE;
    return false;
}

/* The oldest piece's; a step made together has a number, which is the clock to work on. */
static double version(const struct hm_client *c)
{
    double oldest = INFINITY;

    for (int k = 0; k < c->serving->servers; k++)
        oldest = fmin(oldest, c->desks[k].version);
    return oldest;
}

bool hm__client_get(struct hm_client *c, const double **ret_w)
{
    size_t servers = (size_t)c->serving->servers, left = 0;
    double began = c->world->ops->now(c->world);
    bool look = false;

    for (size_t k = 0; k < servers; k++) {
        if (c->desks[k].reply != REPLY_DUE)
            continue;
        listen(c, k);
        left++;
    }
    while (left > 0) {
        size_t place = hm__comm_wait_any(c->world, c->requests, 2 * servers, NULL);
        if (place >= servers)
            continue;
        struct desk *desk = &c->desks[place];
        if (desk->in->kind == HM_LETTER_LATE) {
            c->world->received += (double)HM_LETTER_HEAD;
            desk->late = true;
            listen(c, place);
            continue;
        }
        look = take_reply(c, desk) || look;
        left--;
    }
    c->wait_s += c->world->ops->now(c->world) - began;
    for (size_t k = 0; c->serving->backups > 0 && k < servers; k++)
        listen(c, k);
    if (look)
        return true;
    if (hm__serving_staged(c->serving))
        c->clock = c->desks[0].version;
    c->ages[(size_t)fmin(fmax(0, c->clock - version(c)), HM_STALENESS_BINS - 1)]++;
    *ret_w = c->w;
    return false;
}

/* ---- adding --------------------------------------------------------------------------------- */

void hm__client_inc(struct hm_client *c, size_t place, double by)
{
    c->sum[place] += by;
}

void hm__client_batch_inc(struct hm_client *c, size_t first, size_t count, const double *by)
{
    for (size_t j = 0; j < count; j++)
        c->sum[first + j] += by[j];
}

static void send_letter(struct hm_client *c, size_t k)
{
    struct desk *desk = &c->desks[k];
    size_t values = desk->out->kind == HM_LETTER_PUSH ? desk->count : 0;

    desk->reply = desk->out->wants > 0 ? REPLY_DUE : REPLY_THERE;
    hm__comm_start_send(c->world, c->serving->workers + (int)k, desk->out,
                        HM_LETTER_HEAD + values * sizeof(double),
                        &c->requests[(size_t)c->serving->servers + k]);
}

/* The letters of the last clock have long arrived, unless nobody waited for an answer. */
static void finish_sending(struct hm_client *c)
{
    hm__comm_wait_all(c->world, c->requests + c->serving->servers, (size_t)c->serving->servers);
}

void hm__client_clock(struct hm_client *c, double rows)
{
    bool staged = hm__serving_staged(c->serving);
    bool wants = !c->serving->pull_late || version(c) < c->clock + 1 - c->serving->staleness ||
                 (c->serving->together && c->clock + 1 >= c->target);
    double began = c->world->ops->now(c->world);

    finish_sending(c);
    for (size_t k = 0; k < (size_t)c->serving->servers; k++) {
        struct desk *desk = &c->desks[k];
        *desk->out = (struct hm_letter){.kind = HM_LETTER_PUSH,
                                        .clock = staged ? desk->version : c->clock,
                                        .rows = rows,
                                        .wants = wants};
        memcpy(desk->out->values, c->sum + desk->first, desk->count * sizeof(double));
        send_letter(c, k);
    }
    memset(c->sum, 0, c->unknowns * sizeof(double));
    c->sent_s = c->world->ops->now(c->world);
    c->wait_s += c->sent_s - began;
    c->clock++;
}

/* ---- backups -------------------------------------------------------------------------------- */

bool hm__client_is_late(struct hm_client *c)
{
    bool all = true;

    for (size_t k = 0; k < (size_t)c->serving->servers; k++) {
        struct desk *desk = &c->desks[k];
        if (hm__comm_test(c->world, &c->requests[k])) { /* nothing else comes unasked */
            c->world->received += (double)HM_LETTER_HEAD;
            desk->late = true;
            listen(c, k);
        }
        all = all && desk->late;
    }
    return all;
}

void hm__client_give_up(struct hm_client *c)
{
    finish_sending(c);
    for (size_t k = 0; k < (size_t)c->serving->servers; k++) {
        *c->desks[k].out =
            (struct hm_letter){.kind = HM_LETTER_ASK, .clock = c->desks[k].version, .wants = 1};
        send_letter(c, k);
    }
    memset(c->sum, 0, c->unknowns * sizeof(double));
    c->sent_s = c->world->ops->now(c->world);
}

void hm__client_leave(struct hm_client *c)
{
    finish_sending(c);
    for (size_t k = 0; k < (size_t)c->serving->servers; k++) {
        *c->desks[k].out = (struct hm_letter){.kind = HM_LETTER_BYE, .wants = 1};
        send_letter(c, k);
        do {
            listen(c, k);
            hm__comm_wait_all(c->world, &c->requests[k], 1);
        } while (c->desks[k].in->kind != HM_LETTER_BYE);
    }
    finish_sending(c);
}

/* ---- after a look --------------------------------------------------------------------------- */

void hm__client_resume(struct hm_client *c, double target, double stood_s, bool fresh)
{
    bool waited = false;

    c->target = target;
    finish_sending(c);
    for (size_t k = 0; k < (size_t)c->serving->servers; k++) {
        struct desk *desk = &c->desks[k];
        if (desk->reply == REPLY_NONE && fresh)
            desk->reply = REPLY_DUE;
        if (desk->reply != REPLY_NONE)
            continue;
        if (!waited && c->world->one_clock && stood_s >= 0 && c->sent_s > stood_s)
            c->world->ops->pause(c->world, c->sent_s - stood_s);
        waited = true;
        send_letter(c, k);
    }
    if (waited)
        c->sent_s = c->world->ops->now(c->world);
}
