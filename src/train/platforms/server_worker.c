/*
 * Implements the training loop of a worker with parameter servers. Until the servers pause, the
 * worker reads the weights w, computes the gradient of a mini-batch, pushes the gradient and
 * finishes the clock; then rank 0 fetches w and broadcasts it.
 */
#include <math.h>
#include <string.h>

#include "agree.h"
#include "client.h"
#include "err.h"
#include "messages.h"

enum { GRADIENT_CHUNKS = 32 };

struct server_worker {
    struct hm_comm *world;
    const struct hm_serving *serving;
    struct hm_client *client;
    struct hm_batches *batches;
    struct hm_server_report last; /* Sum of the reports of all servers at the last evaluation. */
    struct hm_server_stats stats;
    bool resumed_before;
};

/* Called on rank 0: sends a message to all servers while they are in their main loop. */
static void server_worker_notify(const struct server_worker *s, const struct hm_message *message)
{
    for (int k = 0; k < s->serving->servers; k++) {
        void *request;
        hm__comm_start_send(s->world, s->serving->workers + k, message, HM_MESSAGE_HEADER,
                            &request);
        hm__comm_wait_all(s->world, &request, 1);
    }
}

/* ---- segments ------------------------------------------------------------------------------- */

/* Called on rank 0: receives w, the algorithm's state, and the reports of the servers. */
static void server_worker_fetch(struct hm_run *run, struct hm_server_report *all)
{
    struct server_worker *s = run->platform_state;
    struct hm_message message = {.kind = HM_MESSAGE_REPORT};
    int servers = s->serving->servers;

    server_worker_notify(s, &message);
    *all = (struct hm_server_report){.paused_s = INFINITY, .iteration = INFINITY};
    for (int k = 0; k < servers; k++) {
        struct hm_shard piece = hm__serving_shard(s->serving, (double)run->objective->unknowns, k);
        struct hm_server_report one;
        int from = s->serving->workers + k;
        double share = piece.count / (double)run->objective->unknowns;
        hm__comm_receive(s->world, from, &one, sizeof(one));
        hm__parameters_receive(run, s->world, from, (size_t)piece.first, (size_t)piece.count,
                               s->serving->together);
        all->paused_s = fmin(all->paused_s, one.paused_s);
        all->iteration = fmin(all->iteration, one.iteration);
        all->elapsed_s = fmax(all->elapsed_s, one.elapsed_s);
        all->lead = fmax(all->lead, one.lead);
        all->samples += share * one.samples;
        all->used += share * one.used;
        all->dropped += share * one.dropped;
        all->bytes += one.bytes;
        all->flop += one.flop;
        s->stats.server_bytes[k] = one.traffic_bytes;
        run->extra_usage[k] = one.usage;
    }
    /*
     * With several servers, `samples` is a sum of fractions that should be an integer; rounding
     * removes the error.
     */
    if (servers > 1)
        all->samples = round(all->samples);
}

/*
 * Measurements of one worker in one segment of iterations (from one pause of the servers to the
 * next).
 */
struct worker_effort {
    double compute_s, wait_s, bytes, flop, reads, staleness;
};

/*
 * Computes how often this worker has read the weights w, and the total staleness of these reads in
 * clocks.
 */
static void server_worker_count_reads(const struct hm_client *client, double *reads,
                                      double *staleness)
{
    const double *bins = hm__client_staleness(client);

    *reads = *staleness = 0;
    for (size_t age = 0; age < HM_STALENESS_BINS; age++) {
        *reads += bins[age];
        *staleness += (double)age * bins[age];
    }
}

/*
 * Computes the gradient of a mini-batch. With backup workers, it is computed in chunks and
 * abandoned if the servers have taken the step without this worker. Returns the number of rows, or
 * -1 if the gradient was abandoned.
 */
static double server_worker_gradient(struct hm_run *run, const double *w)
{
    struct server_worker *s = run->platform_state;
    size_t count, first = 0;
    const uint32_t *list = hm__batches_next(run, s->batches, &count);
    size_t chunks = s->serving->backups > 0 && count > 0 ? GRADIENT_CHUNKS : 1;

    memset(run->gradient, 0, run->objective->unknowns * sizeof(double));
    for (size_t i = 1; i <= chunks; i++) {
        size_t next = count * i / chunks;
        if (next > first || chunks == 1)
            hm__run_add(run, w, list + first, next - first);
        first = next;
        if (chunks > 1 && hm__client_is_late(s->client))
            return -1;
    }
    return (double)count;
}

static struct worker_effort server_worker_compute(struct hm_run *run)
{
    struct server_worker *s = run->platform_state;
    struct hm_comm *world = s->world;
    struct worker_effort effort = {
        .wait_s = -hm__client_wait_s(s->client), .bytes = -world->bytes, .flop = -run->comm->flop};
    double reads, staleness;
    const double *w;

    server_worker_count_reads(s->client, &reads, &staleness);
    hm__meter_start(&run->meter, world);
    while (!hm__client_get(s->client, &w)) {
        run->iteration = hm__client_clock_now(s->client);
        hm__comm_set_iteration(run->comm, run->iteration);
        double began = world->ops->now(world);
        double rows = server_worker_gradient(run, w);
        effort.compute_s += world->ops->now(world) - began;
        if (rows < 0) {
            hm__client_abandon(s->client);
            continue;
        }
        hm__client_add(s->client, 0, run->objective->unknowns, run->gradient);
        hm__client_clock(s->client, rows);
    }
    server_worker_count_reads(s->client, &effort.reads, &effort.staleness);
    effort.reads -= reads;
    effort.staleness -= staleness;
    effort.wait_s += hm__client_wait_s(s->client);
    effort.bytes += world->bytes;
    effort.flop += run->comm->flop;
    hm__meter_stop(&run->meter, world, effort.compute_s);
    return effort;
}

static int server_worker_segment(struct hm_run *run, double iterations,
                                 struct hm_segment *ret_segment, struct hm_err *err)
{
    struct server_worker *s = run->platform_state;
    double before = run->iteration, samples = run->samples;
    double paused_s = s->resumed_before ? s->last.paused_s : -1;
    struct hm_message message = {.kind = HM_MESSAGE_RESUME,
                                 .target = run->iteration + iterations,
                                 .paused_s = paused_s,
                                 .drop_late = s->serving->together};
    struct hm_server_report all;

    (void)err;
    if (run->comm->rank == 0)
        server_worker_notify(s, &message);
    hm__comm_barrier(s->world);
    hm__client_resume(s->client, message.target, paused_s, s->serving->together);
    struct worker_effort effort = server_worker_compute(run);
    hm__comm_barrier(run->comm);
    if (run->comm->rank == 0)
        server_worker_fetch(run, &all);
    hm__comm_broadcast(run->comm, 0, &all, sizeof(all));
    hm__comm_broadcast(run->comm, 0, run->w, run->objective->unknowns * sizeof(double));
    double sums[5] = {effort.bytes, effort.flop, effort.wait_s, effort.reads, effort.staleness};
    double seconds = all.elapsed_s - s->last.elapsed_s;
    hm__comm_max_few(run->comm, &effort.compute_s, 1);
    hm__comm_sum_few(run->comm, sums, 5);
    run->iteration = all.iteration;
    run->samples = all.samples;
    *ret_segment = (struct hm_segment){
        .iterations = run->iteration - before,
        .samples = run->samples - samples,
        .seconds = seconds,
        /*
         * A worker may still compute while the servers are paused, so its computation time is
         * limited to the time of the servers.
         */
        .compute_s = fmin(effort.compute_s, seconds),
        .bytes = sums[0] + all.bytes - s->last.bytes,
        .flop = sums[1] + all.flop - s->last.flop,
        .wait_s = sums[2] / s->serving->workers,
        .reads = sums[3],
        .staleness = sums[4],
        .dropped = all.dropped - s->last.dropped,
    };
    s->last = all;
    s->resumed_before = true;
    return 0;
}

static const struct hm_platform_ops server_worker_ops = {"server", server_worker_segment};

/* ---- begin and end -------------------------------------------------------------------------- */

static int server_worker_init(struct hm_run *run, struct server_worker *s, struct hm_err *err)
{
    size_t n = (size_t)s->serving->workers, servers = (size_t)s->serving->servers;

    if ((double)s->serving->servers > (double)run->objective->unknowns) {
        int rc = hm__fail(err, HM_E_RANGE, "%zu servers are too many for %zu parameters", servers,
                          run->objective->unknowns);
        hm__err_hint(err, "use at most %zu servers", run->objective->unknowns);
        return rc;
    }
    s->stats.wait_s = hm__arena_alloc(run->arena, n, sizeof(double));
    s->stats.server_bytes = hm__arena_alloc(run->arena, servers, sizeof(double));
    run->extra_usage = hm__arena_alloc(run->arena, servers, sizeof(*run->extra_usage));
    run->extra_count = servers;
    if (!s->stats.wait_s || !s->stats.server_bytes || !run->extra_usage)
        return hm__fail_nomem(err);
    int rc = hm__batches_new(run, &s->batches, err);
    return rc ? rc
              : hm__client_new(s->world, s->serving, run->objective->unknowns, run->iteration,
                               run->arena, &s->client, err);
}

/* Called on rank 0: sends the settings to the servers. */
static void server_worker_send_start(struct hm_run *run, struct server_worker *s)
{
    struct hm_message message = {.kind = HM_MESSAGE_START};
    struct hm_server_start start = {
        .unknowns = (double)run->objective->unknowns,
        .lambda = run->objective->lambda,
        .curvature = run->objective->curvature,
        .step = run->step,
        .rows = run->objective->total_rows / hm__batches_in_epoch(run),
        .iteration = run->iteration,
        .samples = run->samples,
    };

    for (int k = 0; k < s->serving->servers; k++) {
        hm__comm_send(s->world, s->serving->workers + k, &message, HM_MESSAGE_HEADER);
        hm__comm_send(s->world, s->serving->workers + k, &start, sizeof(start));
    }
}

int hm__server_worker_begin(struct hm_run *run, struct hm_comm *world,
                            const struct hm_serving *serving, struct hm_err *err)
{
    struct server_worker *s = hm__arena_alloc(run->arena, 1, sizeof(*s));
    int rc = s ? 0 : hm__fail_nomem(err);

    if (s) {
        *s = (struct server_worker){.world = world, .serving = serving};
        rc = server_worker_init(run, s, err);
    }
    rc = hm__agree(run->comm, rc, err);
    if (rc) {
        hm__server_worker_cancel(world, serving);
        return rc;
    }
    if (run->comm->rank == 0)
        server_worker_send_start(run, s);
    rc = hm__agree(world, 0, err);
    if (rc)
        return rc;
    for (int k = 0; run->comm->rank == 0 && k < serving->servers; k++) {
        struct hm_shard piece = hm__serving_shard(serving, (double)run->objective->unknowns, k);
        hm__parameters_send(run, world, serving->workers + k, (size_t)piece.first,
                            (size_t)piece.count, true);
    }
    s->last.samples = run->samples;
    run->platform_state = s;
    run->platform = &server_worker_ops;
    return 0;
}

void hm__server_worker_cancel(struct hm_comm *world, const struct hm_serving *serving)
{
    struct hm_message message = {.kind = HM_MESSAGE_SHUTDOWN};

    for (int k = 0; world->rank == 0 && k < serving->servers; k++)
        hm__comm_send(world, serving->workers + k, &message, HM_MESSAGE_HEADER);
}

void hm__server_worker_end(struct hm_run *run)
{
    hm__client_disconnect(((struct server_worker *)run->platform_state)->client);
}

const struct hm_server_stats *hm__server_worker_stats(struct hm_run *run)
{
    struct server_worker *s = run->platform_state;
    struct hm_comm *comm = run->comm;

    memcpy(s->stats.staleness, hm__client_staleness(s->client), sizeof(s->stats.staleness));
    for (size_t at = 0; at < HM_STALENESS_BINS; at += HM_COMM_FEW)
        hm__comm_sum_few(comm, s->stats.staleness + at, HM_COMM_FEW);
    s->stats.wait_s[comm->rank] = hm__client_wait_s(s->client);
    if (comm->rank > 0)
        hm__comm_send(comm, 0, &s->stats.wait_s[comm->rank], sizeof(double));
    for (int i = 1; comm->rank == 0 && i < comm->size; i++)
        hm__comm_receive(comm, i, &s->stats.wait_s[i], sizeof(double));
    s->stats.used = s->last.used;
    s->stats.dropped = s->last.dropped;
    s->stats.lead = s->last.lead;
    return &s->stats;
}
