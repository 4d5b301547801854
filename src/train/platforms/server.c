/*
 * Implements a parameter server rank: it holds a shard of the weights w and processes messages from
 * the workers until all workers have disconnected. A server has one thread. A non-blocking receive
 * is always pending for each worker, and the thread waits for the next message; replies are sent
 * without blocking.
 */
#include "server.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "agree.h"
#include "err.h"
#include "messages.h"
#include "schemes.h"

/* Memory for one message; it is reused after the message has been processed. */
struct server_buffer {
    struct server_buffer *next;
    int from;
    /* Header of the message; the values of the message follow it in memory. */
    struct hm_message message;
};

struct worker_state {
    double clock;  /* Number of clocks that the worker has finished. */
    bool waiting;  /* True if the worker waits for a reply with the weights w. */
    bool notified; /* True if the worker has been notified of the current pause. */
    /*
     * True if the worker's message arrived during the current pause, so that the worker must send
     * it again.
     */
    bool rejected;
    /*
     * True if the current step was taken without the worker's gradient, and the worker was notified
     * of this.
     */
    bool late;
    /* Memory for the message that is being received from the worker. */
    struct server_buffer *incoming;
    struct server_buffer *outgoing; /* Memory of the last PARAMETERS message to the worker. */
    /* The worker's gradient for the current step; NULL if not received yet. */
    struct server_buffer *gradient;
    /* Memory of the last PAUSED, LATE or SHUTDOWN message to the worker. */
    struct hm_message notice;
};

struct parameter_server {
    struct hm_comm *world;
    const struct hm_serving *serving;
    /* Objective that has no rows of data; its weights are the shard of this server. */
    struct hm_objective objective;
    /* Communicator that contains this rank alone; it uses the clock of `world`. */
    struct hm_comm own;
    struct hm_run run;
    struct hm_arena *arena;
    struct worker_state *workers;
    /*
     * Handles of pending messages, 3 for each worker: the receive, the send of PARAMETERS, and the
     * send of a notice.
     */
    void **requests;
    struct server_buffer *unused; /* List of message buffers that are not in use. */
    /* Queue of gradients that arrived during a pause from workers that do not wait for a reply. */
    struct server_buffer *deferred, **deferred_end;
    double rows;    /* Number of rows that an iteration processes on all workers. */
    double arrived; /* Number of gradients received for the current step. */
    double parts;   /* Number of gradients that were applied one at a time, as in SSP and async. */
    double target;  /* Iteration after which this server pauses. */
    bool paused;
    int disconnected;
    /* Times of the start and of the last pause, and total duration of all pauses, in seconds. */
    double began_s, paused_s, idle_s;
    struct {
        /* Values of the counters at the time when the server last resumed. */
        double bytes, flop, traffic, communicate_s;
    } mark;
    double resumed_s;
    double traffic; /* Total number of bytes that the server sent and received. */
    struct hm_server_report sums;
};

static bool server_is_synchronous(const struct parameter_server *s)
{
    return hm__serving_is_synchronous(s->serving);
}

static size_t server_message_bytes(const struct parameter_server *s)
{
    return HM_MESSAGE_HEADER + s->objective.unknowns * sizeof(double);
}

static struct server_buffer *server_new_buffer(struct parameter_server *s)
{
    struct server_buffer *buffer = s->unused;

    if (buffer) {
        s->unused = buffer->next;
        return buffer;
    }
    buffer = hm__arena_alloc(s->arena, 1,
                             offsetof(struct server_buffer, message) + server_message_bytes(s));
    if (!buffer)
        s->world->ops->fail(s->world, "a server is out of memory");
    return buffer;
}

static void server_release_buffer(struct parameter_server *s, struct server_buffer *buffer)
{
    buffer->next = s->unused;
    s->unused = buffer;
}

/* ---- messages ------------------------------------------------------------------------------- */

static void server_open_receive(struct parameter_server *s, int from)
{
    struct worker_state *w = &s->workers[from];

    w->incoming = server_new_buffer(s);
    w->incoming->from = from;
    hm__comm_start_receive(s->world, from, &w->incoming->message, server_message_bytes(s),
                           &s->requests[from]);
}

static double server_slowest_clock(const struct parameter_server *s)
{
    double least = INFINITY;

    for (int i = 0; i < s->serving->workers; i++)
        least = fmin(least, s->workers[i].clock);
    return least;
}

/*
 * Sends this server's shard of w to a worker. The message is a copy of the shard, because w may
 * change before the message has been sent.
 */
static void server_send_parameters(struct parameter_server *s, int to)
{
    struct worker_state *w = &s->workers[to];
    size_t place = (size_t)(s->serving->workers + to);

    /*
     * The worker has sent a new message in the meantime, so it has received the last PARAMETERS
     * message.
     */
    if (s->requests[place])
        hm__comm_wait_all(s->world, &s->requests[place], 1);
    if (w->outgoing)
        server_release_buffer(s, w->outgoing);
    w->outgoing = server_new_buffer(s);
    w->outgoing->message = (struct hm_message){
        .kind = HM_MESSAGE_PARAMETERS,
        .clock = server_is_synchronous(s) ? s->run.iteration : server_slowest_clock(s)};
    memcpy(w->outgoing->message.values, s->run.w, s->objective.unknowns * sizeof(double));
    w->waiting = w->late = false;
    if (!server_is_synchronous(s))
        s->sums.lead = fmax(s->sums.lead, w->clock - server_slowest_clock(s));
    s->traffic += (double)server_message_bytes(s);
    hm__comm_start_send(s->world, to, &w->outgoing->message, server_message_bytes(s),
                        &s->requests[place]);
}

/*
 * Sends a message without weights to a worker. The previous message of this kind has been received,
 * because the worker waits for it or always has a receive pending.
 */
static void server_send_notice(struct parameter_server *s, int to, enum hm_message_kind kind)
{
    struct worker_state *w = &s->workers[to];
    size_t place = (size_t)(2 * s->serving->workers + to);

    if (s->requests[place])
        hm__comm_wait_all(s->world, &s->requests[place], 1);
    w->notice = (struct hm_message){.kind = kind, .wants = w->rejected};
    hm__comm_start_send(s->world, to, &w->notice, HM_MESSAGE_HEADER, &s->requests[place]);
}

static void server_notify_pause(struct parameter_server *s, int to)
{
    if (!s->workers[to].notified)
        server_send_notice(s, to, HM_MESSAGE_PAUSED);
    s->workers[to].notified = true;
}

static bool server_may_proceed(const struct parameter_server *s, const struct worker_state *w)
{
    if (server_is_synchronous(s))
        return true;
    if (s->serving->together && w->clock >= s->target)
        return false;
    return s->serving->consistency == HM_CONSISTENCY_ASYNC ||
           w->clock - server_slowest_clock(s) <= s->serving->staleness;
}

static void server_send_replies(struct parameter_server *s)
{
    for (int i = 0; i < s->serving->workers; i++)
        if (s->workers[i].waiting && server_may_proceed(s, &s->workers[i]))
            server_send_parameters(s, i);
}

static void server_pause(struct parameter_server *s)
{
    s->paused = true;
    s->paused_s = s->world->ops->now(s->world);
    s->sums.bytes += s->world->bytes - s->mark.bytes;
    s->sums.flop += s->own.flop - s->mark.flop;
    s->sums.traffic_bytes += s->traffic - s->mark.traffic;
    hm__meter_stop(&s->run.meter, s->world,
                   s->paused_s - s->resumed_s - (s->world->communicate_s - s->mark.communicate_s));
    for (int i = 0; i < s->serving->workers; i++)
        if (s->workers[i].waiting)
            server_notify_pause(s, i);
}

/* ---- gradients ------------------------------------------------------------------------------ */

/*
 * Checks how many clocks a worker is ahead of the slowest worker. More than `most` clocks would
 * indicate a defect in this program.
 */
static void server_check_lead(struct parameter_server *s, const struct server_buffer *buffer,
                              double finished, double most)
{
    double lead = buffer->message.clock - finished;
    char why[160];

    s->sums.lead = fmax(s->sums.lead, lead);
    if (lead <= most)
        return;
    snprintf(why, sizeof(why),
             "worker %d is at clock %.0f, %.0f ahead of the slowest; at most %.0f are allowed",
             buffer->from, buffer->message.clock, lead, most);
    s->world->ops->fail(s->world, why);
}

/* Takes a step with the gradients that have arrived, summed in the order of the workers. */
static void server_make_step(struct parameter_server *s)
{
    size_t count = s->objective.unknowns;
    double rows = 0;
    bool first = true;

    for (int i = 0; i < s->serving->workers; i++) {
        struct server_buffer *gradient = s->workers[i].gradient;
        if (!gradient)
            continue;
        if (first)
            memcpy(s->run.gradient, gradient->message.values, count * sizeof(double));
        else
            hm__comm_add(&s->own, s->run.gradient, gradient->message.values, count);
        first = false;
        rows += gradient->message.rows;
        s->workers[i].waiting = true;
        s->workers[i].gradient = NULL;
        s->sums.used++;
        server_release_buffer(s, gradient);
    }
    hm__run_mean(&s->run, rows);
    s->run.algorithm->update(&s->run, 1, s->run.iteration);
    s->run.iteration++;
    s->run.samples += rows;
    s->arrived = 0;
    for (int i = 0; i < s->serving->workers; i++) {
        struct worker_state *w = &s->workers[i];
        /* The worker is computing a gradient that is no longer needed, so it is notified. */
        if (!w->waiting && !w->late)
            server_send_notice(s, i, HM_MESSAGE_LATE);
        w->late = !w->waiting;
    }
}

static void server_collect_gradient(struct parameter_server *s, struct server_buffer *buffer)
{
    struct worker_state *w = &s->workers[buffer->from];

    server_check_lead(s, buffer, s->run.iteration, 0);
    /* The gradient arrived too late, or the worker discarded it; the step was taken without it. */
    if (buffer->message.kind == HM_MESSAGE_PULL || buffer->message.clock < s->run.iteration) {
        s->sums.dropped++;
        w->waiting = true;
        server_release_buffer(s, buffer);
    } else {
        w->gradient = buffer;
        s->arrived++;
        if (s->arrived == s->serving->workers - s->serving->backups)
            server_make_step(s);
    }
}

/* Applies the gradient of a single worker, which counts as a fraction of a step. */
static void server_apply_gradient(struct parameter_server *s, struct server_buffer *buffer)
{
    struct worker_state *w = &s->workers[buffer->from];
    const struct hm_message *message = &buffer->message;
    bool bounded = s->serving->consistency == HM_CONSISTENCY_SSP;

    server_check_lead(s, buffer, server_slowest_clock(s),
                      bounded ? s->serving->staleness : INFINITY);
    if (message->rows > 0) {
        memcpy(s->run.gradient, message->values, s->objective.unknowns * sizeof(double));
        hm__run_mean(&s->run, message->rows);
        s->run.algorithm->update(&s->run, message->rows / s->rows, s->parts);
    }
    s->parts++;
    s->run.iteration = floor(s->parts / s->serving->workers);
    s->run.samples += message->rows;
    s->sums.used++;
    w->clock = message->clock + 1;
    w->waiting = message->wants > 0;
    server_release_buffer(s, buffer);
}

static void server_take_gradient(struct parameter_server *s, struct server_buffer *buffer)
{
    double before = s->run.iteration;

    if (server_is_synchronous(s))
        server_collect_gradient(s, buffer);
    else
        server_apply_gradient(s, buffer);
    if (s->run.iteration > before && s->run.iteration >= s->target)
        server_pause(s);
    else
        server_send_replies(s);
}

/*
 * Handles a message that arrives during a pause: rejects it if the worker waits for a reply,
 * and queues it otherwise.
 */
static void server_reject(struct parameter_server *s, struct server_buffer *buffer)
{
    struct worker_state *w = &s->workers[buffer->from];

    if (buffer->message.wants > 0) {
        w->rejected = true;
        server_release_buffer(s, buffer);
        server_notify_pause(s, buffer->from);
    } else {
        buffer->next = NULL;
        *s->deferred_end = buffer;
        s->deferred_end = &buffer->next;
    }
}

/* ---- pause and resume ----------------------------------------------------------------------- */

static void server_send_report(struct parameter_server *s)
{
    if (!s->paused)
        server_pause(s);
    struct hm_server_report shown = s->sums;
    shown.paused_s = s->paused_s;
    shown.elapsed_s = s->paused_s - s->began_s - s->idle_s;
    shown.iteration = s->run.iteration;
    shown.samples = s->run.samples;
    shown.usage = hm__usage_now(&s->run, s->world);
    hm__comm_send(s->world, 0, &shown, sizeof(shown));
    hm__parameters_send(&s->run, s->world, 0, 0, s->objective.unknowns, s->serving->together);
}

static void server_resume(struct parameter_server *s, const struct hm_message *message)
{
    bool shared = s->world->shared_clock && message->paused_s >= 0;

    s->target = message->target;
    hm__comm_barrier(s->world);
    /*
     * A server that paused later than the first one also resumes later by the same time, so that
     * the delays between servers stay the same.
     */
    if (shared && s->paused_s > message->paused_s)
        s->world->ops->pause(s->world, s->paused_s - message->paused_s);
    s->idle_s += s->world->ops->now(s->world) - s->paused_s;
    s->paused = false;
    s->mark.bytes = s->world->bytes;
    s->mark.flop = s->own.flop;
    s->mark.traffic = s->traffic;
    s->mark.communicate_s = s->world->communicate_s;
    s->resumed_s = s->world->ops->now(s->world);
    hm__meter_start(&s->run.meter, s->world);
    for (int i = 0; i < s->serving->workers; i++) {
        struct worker_state *w = &s->workers[i];
        if (w->rejected && message->drop_late > 0) {
            s->sums.dropped++;
            w->waiting = true;
        }
        w->notified = w->rejected = false;
    }
    struct server_buffer *deferred = s->deferred;
    s->deferred = NULL;
    s->deferred_end = &s->deferred;
    server_send_replies(s);
    while (deferred) {
        struct server_buffer *next = deferred->next;
        if (s->paused)
            server_reject(s, deferred);
        else
            server_take_gradient(s, deferred);
        deferred = next;
    }
}

static void server_count_message(struct parameter_server *s, const struct server_buffer *buffer)
{
    size_t bytes =
        buffer->message.kind == HM_MESSAGE_PUSH ? server_message_bytes(s) : HM_MESSAGE_HEADER;

    s->traffic += (double)bytes;
    s->world->received += (double)bytes;
}

static void server_handle(struct parameter_server *s, struct server_buffer *buffer)
{
    switch ((enum hm_message_kind)buffer->message.kind) {
    case HM_MESSAGE_PUSH:
    case HM_MESSAGE_PULL:
        server_count_message(s, buffer);
        if (s->paused)
            server_reject(s, buffer);
        else
            server_take_gradient(s, buffer);
        return;
    case HM_MESSAGE_SHUTDOWN:
        server_send_notice(s, buffer->from, HM_MESSAGE_SHUTDOWN);
        s->disconnected++;
        break;
    case HM_MESSAGE_REPORT:
        server_send_report(s);
        break;
    case HM_MESSAGE_RESUME:
        server_resume(s, &buffer->message);
        break;
    default:
        s->world->ops->fail(s->world, "a message of an unknown kind");
    }
    server_release_buffer(s, buffer);
}

static void server_loop(struct parameter_server *s)
{
    size_t n = (size_t)s->serving->workers;

    for (size_t i = 0; i < n; i++)
        server_open_receive(s, (int)i);
    while (s->disconnected < s->serving->workers) {
        size_t place = hm__comm_wait_any(s->world, s->requests, 3 * n, NULL);
        if (place >= n)
            continue;
        struct server_buffer *buffer = s->workers[place].incoming;
        s->workers[place].incoming = NULL;
        if (buffer->message.kind != HM_MESSAGE_SHUTDOWN)
            server_open_receive(s, (int)place);
        server_handle(s, buffer);
    }
    hm__comm_wait_all(s->world, s->requests, 3 * n);
}

/* ---- start ---------------------------------------------------------------------------------- */

static int server_init(struct parameter_server *s, const struct hm_server_start *start,
                       struct hm_err *err)
{
    int index = s->world->rank - s->serving->workers;
    size_t n = (size_t)s->serving->workers;

    s->objective = (struct hm_objective){
        .unknowns = (size_t)hm__serving_shard(s->serving, start->unknowns, index).count,
        .lambda = start->lambda,
        .curvature = start->curvature,
        .arena = s->arena,
    };
    s->own = (struct hm_comm){.ops = s->world->ops, .state = s->world->state, .size = 1};
    s->run.objective = &s->objective;
    s->run.comm = &s->own;
    s->run.arena = s->arena;
    s->run.settings.step = start->step;
    s->rows = start->rows;
    s->deferred_end = &s->deferred;
    s->paused = true;
    s->workers = hm__arena_alloc(s->arena, n, sizeof(*s->workers));
    s->requests = hm__arena_alloc(s->arena, 3 * n, sizeof(*s->requests));
    if (!s->workers || !s->requests)
        return hm__fail_nomem(err);
    for (size_t i = 0; i < n; i++)
        s->workers[i] = (struct worker_state){.clock = start->iteration, .waiting = true};
    int rc = hm__run_begin(&s->run, err);
    s->run.iteration = start->iteration;
    s->run.samples = start->samples;
    s->parts = start->iteration * s->serving->workers;
    return rc;
}

int hm__server_run(struct hm_comm *world, const struct hm_serving *serving,
                   const struct hm_algorithm *algorithm, const struct hm_train_settings *settings,
                   struct hm_err *err)
{
    struct parameter_server s = {.world = world, .serving = serving, .arena = hm__arena_new()};
    struct hm_message message;
    struct hm_server_start start;
    int rc = s.arena ? 0 : hm__fail_nomem(err);

    s.run = (struct hm_run){.algorithm = algorithm, .settings = *settings};
    hm__comm_receive(world, 0, &message, HM_MESSAGE_HEADER);
    if (message.kind == HM_MESSAGE_START) {
        hm__comm_receive(world, 0, &start, sizeof(start));
        rc = rc ? rc : server_init(&s, &start, err);
        rc = hm__agree(world, rc, err);
        if (rc == 0) {
            hm__parameters_receive(&s.run, world, 0, 0, s.objective.unknowns, true);
            s.began_s = s.paused_s = world->ops->now(world);
            s.own.flop = 0;
            server_loop(&s);
        }
    }
    hm__arena_free(s.arena);
    return rc;
}
