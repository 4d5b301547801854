/*
 * Implements a worker's connection to the parameter servers. By default, the worker pulls the
 * weights w with each push. If `pull_late` is set, it pulls them only if its copy would otherwise
 * exceed the staleness bound at the next clock.
 */
#include "client.h"

#include <math.h>
#include <string.h>

#include "err.h"
#include "messages.h"

enum client_reply {
    REPLY_RECEIVED, /* The reply of the server has arrived, or none was requested. */
    REPLY_PENDING,  /* The server has received the worker's message and will reply. */
    REPLY_REJECTED, /* The server was paused and did not accept the worker's message. */
};

/* Connection of a worker to one server. */
struct client_link {
    size_t first, count; /* First weight and number of weights in the server's shard of w. */
    enum client_reply reply;
    /*
     * Clock of the worker's copy of the shard; the copy includes all gradients of earlier clocks.
     */
    double version;
    /* True if the server has already taken the current step without this worker's gradient. */
    bool late;
    struct hm_message *out, *in;
};

struct hm_client {
    struct hm_comm *world;
    const struct hm_serving *serving;
    struct client_link *links; /* Connections of this worker, one for each server. */
    /* Handles of pending messages: the receives from all servers, then the sends to all servers. */
    void **requests;
    /*
     * This worker's copy of the weights w, and the sum of its increments that have not been pushed.
     */
    double *w, *sum;
    size_t unknowns;
    double clock;  /* Clock for which this worker currently computes a gradient. */
    double target; /* Iteration after which the servers pause for an evaluation. */
    double sent_s; /* Time of the last push or pull, in seconds. */
    double wait_s;
    double staleness[HM_STALENESS_BINS];
};

static struct hm_message *client_new_message(struct hm_arena *arena, size_t count)
{
    return hm__arena_alloc(arena, 1, HM_MESSAGE_HEADER + count * sizeof(double));
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
    c->links = hm__arena_alloc(arena, servers, sizeof(*c->links));
    c->requests = hm__arena_alloc(arena, 2 * servers, sizeof(*c->requests));
    c->w = hm__arena_alloc(arena, unknowns, sizeof(double));
    c->sum = hm__arena_alloc(arena, unknowns, sizeof(double));
    bool whole = c->links && c->requests && c->w && c->sum;
    for (size_t k = 0; whole && k < servers; k++) {
        struct hm_shard piece = hm__serving_shard(serving, (double)unknowns, (int)k);
        struct client_link *link = &c->links[k];
        *link = (struct client_link){
            .first = (size_t)piece.first, .count = (size_t)piece.count, .reply = REPLY_PENDING};
        link->out = client_new_message(arena, link->count);
        link->in = client_new_message(arena, link->count);
        whole = link->out && link->in;
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

const double *hm__client_staleness(const struct hm_client *c)
{
    return c->staleness;
}

/* ---- pull ----------------------------------------------------------------------------------- */

/*
 * Starts a receive from server `k`, unless one is pending. With backup workers, a receive is always
 * pending, because a server may send at any time.
 */
static void client_open_receive(struct hm_client *c, size_t k)
{
    struct client_link *link = &c->links[k];

    if (!c->requests[k])
        hm__comm_start_receive(c->world, c->serving->workers + (int)k, link->in,
                               HM_MESSAGE_HEADER + link->count * sizeof(double), &c->requests[k]);
}

/* Processes the reply of a server; returns true if the reply says that the server is paused. */
static bool client_handle_reply(struct hm_client *c, struct client_link *link)
{
    if (link->in->kind == HM_MESSAGE_PAUSED) {
        link->reply = link->in->wants > 0 ? REPLY_REJECTED : REPLY_PENDING;
        return true;
    }
    link->late = false;
    c->world->received += (double)(HM_MESSAGE_HEADER + link->count * sizeof(double));
    memcpy(c->w + link->first, link->in->values, link->count * sizeof(double));
    link->version = link->in->clock;
    link->reply = REPLY_RECEIVED;
    return false;
}

/*
 * Returns the clock of the oldest shard in the worker's copy of w. With synchronous steps, this is
 * the clock that the worker must compute next.
 */
static double client_oldest_version(const struct hm_client *c)
{
    double oldest = INFINITY;

    for (int k = 0; k < c->serving->servers; k++)
        oldest = fmin(oldest, c->links[k].version);
    return oldest;
}

bool hm__client_get(struct hm_client *c, const double **ret_w)
{
    size_t servers = (size_t)c->serving->servers, left = 0;
    double began = c->world->ops->now(c->world);
    bool paused = false;

    for (size_t k = 0; k < servers; k++) {
        if (c->links[k].reply != REPLY_PENDING)
            continue;
        client_open_receive(c, k);
        left++;
    }
    while (left > 0) {
        size_t place = hm__comm_wait_any(c->world, c->requests, 2 * servers, NULL);
        if (place >= servers)
            continue;
        struct client_link *link = &c->links[place];
        if (link->in->kind == HM_MESSAGE_LATE) {
            c->world->received += (double)HM_MESSAGE_HEADER;
            link->late = true;
            client_open_receive(c, place);
            continue;
        }
        paused = client_handle_reply(c, link) || paused;
        left--;
    }
    c->wait_s += c->world->ops->now(c->world) - began;
    for (size_t k = 0; c->serving->backups > 0 && k < servers; k++)
        client_open_receive(c, k);
    if (paused)
        return true;
    if (hm__serving_is_synchronous(c->serving))
        c->clock = c->links[0].version;
    c->staleness[(size_t)fmin(fmax(0, c->clock - client_oldest_version(c)),
                              HM_STALENESS_BINS - 1)]++;
    *ret_w = c->w;
    return false;
}

/* ---- push ----------------------------------------------------------------------------------- */

void hm__client_add(struct hm_client *c, size_t first, size_t count, const double *by)
{
    for (size_t j = 0; j < count; j++)
        c->sum[first + j] += by[j];
}

static void client_send(struct hm_client *c, size_t k)
{
    struct client_link *link = &c->links[k];
    size_t values = link->out->kind == HM_MESSAGE_PUSH ? link->count : 0;

    link->reply = link->out->wants > 0 ? REPLY_PENDING : REPLY_RECEIVED;
    hm__comm_start_send(c->world, c->serving->workers + (int)k, link->out,
                        HM_MESSAGE_HEADER + values * sizeof(double),
                        &c->requests[(size_t)c->serving->servers + k]);
}

/*
 * Waits until the messages of the last clock have been sent. They have already been sent if the
 * worker has waited for a reply.
 */
static void client_wait_sends(struct hm_client *c)
{
    hm__comm_wait_all(c->world, c->requests + c->serving->servers, (size_t)c->serving->servers);
}

void hm__client_clock(struct hm_client *c, double rows)
{
    bool staged = hm__serving_is_synchronous(c->serving);
    bool wants = !c->serving->pull_late ||
                 client_oldest_version(c) < c->clock + 1 - c->serving->staleness ||
                 (c->serving->together && c->clock + 1 >= c->target);
    double began = c->world->ops->now(c->world);

    client_wait_sends(c);
    for (size_t k = 0; k < (size_t)c->serving->servers; k++) {
        struct client_link *link = &c->links[k];
        *link->out = (struct hm_message){.kind = HM_MESSAGE_PUSH,
                                         .clock = staged ? link->version : c->clock,
                                         .rows = rows,
                                         .wants = wants};
        memcpy(link->out->values, c->sum + link->first, link->count * sizeof(double));
        client_send(c, k);
    }
    memset(c->sum, 0, c->unknowns * sizeof(double));
    c->sent_s = c->world->ops->now(c->world);
    c->wait_s += c->sent_s - began;
    c->clock++;
}

/* ---- backup workers ------------------------------------------------------------------------- */

bool hm__client_is_late(struct hm_client *c)
{
    bool all = true;

    for (size_t k = 0; k < (size_t)c->serving->servers; k++) {
        struct client_link *link = &c->links[k];
        /*
         * This worker has sent no request to the server, so the message can only be a LATE message.
         */
        if (hm__comm_test(c->world, &c->requests[k])) {
            c->world->received += (double)HM_MESSAGE_HEADER;
            link->late = true;
            client_open_receive(c, k);
        }
        all = all && link->late;
    }
    return all;
}

void hm__client_abandon(struct hm_client *c)
{
    client_wait_sends(c);
    for (size_t k = 0; k < (size_t)c->serving->servers; k++) {
        *c->links[k].out =
            (struct hm_message){.kind = HM_MESSAGE_PULL, .clock = c->links[k].version, .wants = 1};
        client_send(c, k);
    }
    memset(c->sum, 0, c->unknowns * sizeof(double));
    c->sent_s = c->world->ops->now(c->world);
}

void hm__client_disconnect(struct hm_client *c)
{
    client_wait_sends(c);
    for (size_t k = 0; k < (size_t)c->serving->servers; k++) {
        *c->links[k].out = (struct hm_message){.kind = HM_MESSAGE_SHUTDOWN, .wants = 1};
        client_send(c, k);
        do {
            client_open_receive(c, k);
            hm__comm_wait_all(c->world, &c->requests[k], 1);
        } while (c->links[k].in->kind != HM_MESSAGE_SHUTDOWN);
    }
    client_wait_sends(c);
}

/* ---- after an evaluation -------------------------------------------------------------------- */

void hm__client_resume(struct hm_client *c, double target, double paused_s, bool drop_late)
{
    bool waited = false;

    c->target = target;
    client_wait_sends(c);
    for (size_t k = 0; k < (size_t)c->serving->servers; k++) {
        struct client_link *link = &c->links[k];
        if (link->reply == REPLY_REJECTED && drop_late)
            link->reply = REPLY_PENDING;
        if (link->reply != REPLY_REJECTED)
            continue;
        if (!waited && c->world->shared_clock && paused_s >= 0 && c->sent_s > paused_s)
            c->world->ops->pause(c->world, c->sent_s - paused_s);
        waited = true;
        client_send(c, k);
    }
    if (waited)
        c->sent_s = c->world->ops->now(c->world);
}
