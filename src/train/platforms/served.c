/*
 * Training with servers, as a worker sees it: read w, the gradient of a mini-batch, add it, next
 * clock, until the servers stand still; then rank 0 fetches w for all.
 */
#include <math.h>
#include <string.h>

#include "agree.h"
#include "client.h"
#include "err.h"
#include "messages.h"

enum { PIECES = 32 };

struct served {
    struct hm_comm *world;
    const struct hm_serving *serving;
    struct hm_client *client;
    struct hm_batches *batches;
    struct hm_serving_shown last; /* over all servers, at the last look */
    struct hm_served_stats stats;
    bool begun;
};

/* Rank 0, to servers that serve. */
static void to_servers(const struct served *s, const struct hm_letter *letter)
{
    for (int k = 0; k < s->serving->servers; k++) {
        void *request;
        hm__comm_start_send(s->world, s->serving->workers + k, letter, HM_LETTER_HEAD, &request);
        hm__comm_wait_all(s->world, &request, 1);
    }
}

/* ---- a stretch ------------------------------------------------------------------------------ */

/* Rank 0: w, the state, and what the servers have to tell. */
static void fetch(struct hm_run *run, struct hm_serving_shown *all)
{
    struct served *s = run->place;
    struct hm_letter letter = {.kind = HM_LETTER_SHOW};
    int servers = s->serving->servers;

    to_servers(s, &letter);
    *all = (struct hm_serving_shown){.stood_s = INFINITY, .iteration = INFINITY};
    for (int k = 0; k < servers; k++) {
        struct hm_shard piece = hm__serving_piece(s->serving, (double)run->objective->unknowns, k);
        struct hm_serving_shown one;
        int from = s->serving->workers + k;
        double share = piece.count / (double)run->objective->unknowns;
        hm__comm_receive(s->world, from, &one, sizeof(one));
        hm__pieces_receive(run, s->world, from, (size_t)piece.first, (size_t)piece.count,
                           s->serving->together);
        all->stood_s = fmin(all->stood_s, one.stood_s);
        all->iteration = fmin(all->iteration, one.iteration);
        all->elapsed_s = fmax(all->elapsed_s, one.elapsed_s);
        all->lead = fmax(all->lead, one.lead);
        all->samples += share * one.samples;
        all->used += share * one.used;
        all->dropped += share * one.dropped;
        all->bytes += one.bytes;
        all->flop += one.flop;
        s->stats.server_bytes[k] = one.through_bytes;
        run->others[k] = one.usage;
    }
    if (servers > 1) /* shares of whole numbers */
        all->samples = round(all->samples);
}

/* Clocks until the servers stand still; what this worker did. */
struct effort {
    double compute_s, wait_s, bytes, flop, reads, ages;
};

/* Reads of w so far, and the clocks it was behind in them. */
static void count_reads(const struct hm_client *client, double *reads, double *ages)
{
    const double *bins = hm__client_ages(client);

    *reads = *ages = 0;
    for (size_t age = 0; age < HM_STALENESS_BINS; age++) {
        *reads += bins[age];
        *ages += (double)age * bins[age];
    }
}

/*
 * The gradient of a mini-batch. With backups in pieces: between two of them we see whether the step
 * has been made without us, and then it is given up. The rows, or below 0.
 */
static double gradient(struct hm_run *run, const double *w)
{
    struct served *s = run->place;
    size_t count, first = 0;
    const uint32_t *list = hm__batches_next(run, s->batches, &count);
    size_t pieces = s->serving->backups > 0 && count > 0 ? PIECES : 1;

    memset(run->gradient, 0, run->objective->unknowns * sizeof(double));
    for (size_t i = 1; i <= pieces; i++) {
        size_t next = count * i / pieces;
        if (next > first || pieces == 1)
            hm__run_add(run, w, list + first, next - first);
        first = next;
        if (pieces > 1 && hm__client_is_late(s->client))
            return -1;
    }
    return (double)count;
}

static struct effort work(struct hm_run *run)
{
    struct served *s = run->place;
    struct hm_comm *world = s->world;
    struct effort effort = {
        .wait_s = -hm__client_wait_s(s->client), .bytes = -world->bytes, .flop = -run->comm->flop};
    double reads, ages;
    const double *w;

    count_reads(s->client, &reads, &ages);
    hm__meter_start(&run->meter, world);
    while (!hm__client_get(s->client, &w)) {
        run->iteration = hm__client_clock_now(s->client);
        hm__comm_iteration(run->comm, run->iteration);
        double began = world->ops->now(world);
        double rows = gradient(run, w);
        effort.compute_s += world->ops->now(world) - began;
        if (rows < 0) {
            hm__client_give_up(s->client);
            continue;
        }
        hm__client_batch_inc(s->client, 0, run->objective->unknowns, run->gradient);
        hm__client_clock(s->client, rows);
    }
    count_reads(s->client, &effort.reads, &effort.ages);
    effort.reads -= reads;
    effort.ages -= ages;
    effort.wait_s += hm__client_wait_s(s->client);
    effort.bytes += world->bytes;
    effort.flop += run->comm->flop;
    hm__meter_stop(&run->meter, world, effort.compute_s);
    return effort;
}

static int stretch(struct hm_run *run, double iterations, struct hm_stretch *ret_stretch,
                   struct hm_err *err)
{
    struct served *s = run->place;
    double before = run->iteration, samples = run->samples;
    double stood_s = s->begun ? s->last.stood_s : -1;
    struct hm_letter letter = {.kind = HM_LETTER_RESUME,
                               .target = run->iteration + iterations,
                               .stood_s = stood_s,
                               .fresh = s->serving->together};
    struct hm_serving_shown all;

    (void)err;
    if (run->comm->rank == 0)
        to_servers(s, &letter);
    hm__comm_align(s->world);
    hm__client_resume(s->client, letter.target, stood_s, s->serving->together);
    struct effort effort = work(run);
    hm__comm_align(run->comm);
    if (run->comm->rank == 0)
        fetch(run, &all);
    hm__comm_broadcast(run->comm, 0, &all, sizeof(all));
    hm__comm_broadcast(run->comm, 0, run->w, run->objective->unknowns * sizeof(double));
    double sums[5] = {effort.bytes, effort.flop, effort.wait_s, effort.reads, effort.ages};
    double seconds = all.elapsed_s - s->last.elapsed_s;
    hm__comm_max_few(run->comm, &effort.compute_s, 1);
    hm__comm_sum_few(run->comm, sums, 5);
    run->iteration = all.iteration;
    run->samples = all.samples;
    *ret_stretch = (struct hm_stretch){
        .iterations = run->iteration - before,
        .samples = run->samples - samples,
        .seconds = seconds,
        .compute_s = fmin(effort.compute_s, seconds), /* some goes on while they stand still */
        .bytes = sums[0] + all.bytes - s->last.bytes,
        .flop = sums[1] + all.flop - s->last.flop,
        .wait_s = sums[2] / s->serving->workers,
        .reads = sums[3],
        .ages = sums[4],
        .dropped = all.dropped - s->last.dropped,
    };
    s->last = all;
    s->begun = true;
    return 0;
}

static const struct hm_division with_servers = {"server", stretch};

/* ---- beginning and end ---------------------------------------------------------------------- */

static int make(struct hm_run *run, struct served *s, struct hm_err *err)
{
    size_t n = (size_t)s->serving->workers, servers = (size_t)s->serving->servers;

    if ((double)s->serving->servers > (double)run->objective->unknowns) {
        int rc = hm__fail(err, HM_E_RANGE, "there are %zu servers for %zu parameters", servers,
                          run->objective->unknowns);
        hm__err_hint(err, "--servers %zu at most", run->objective->unknowns);
        return rc;
    }
    s->stats.wait_s = hm__arena_alloc(run->arena, n, sizeof(double));
    s->stats.server_bytes = hm__arena_alloc(run->arena, servers, sizeof(double));
    run->others = hm__arena_alloc(run->arena, servers, sizeof(*run->others));
    run->other_count = servers;
    if (!s->stats.wait_s || !s->stats.server_bytes || !run->others)
        return hm__fail_nomem(err);
    int rc = hm__batches_new(run, &s->batches, err);
    return rc ? rc
              : hm__client_new(s->world, s->serving, run->objective->unknowns, run->iteration,
                               run->arena, &s->client, err);
}

/* Rank 0: everything the servers need. */
static void hand_over(struct hm_run *run, struct served *s)
{
    struct hm_letter letter = {.kind = HM_LETTER_START};
    struct hm_serving_start start = {
        .unknowns = (double)run->objective->unknowns,
        .lambda = run->objective->lambda,
        .curvature = run->objective->curvature,
        .step = run->step,
        .rows = run->objective->total_rows / hm__batches_in_epoch(run),
        .iteration = run->iteration,
        .samples = run->samples,
    };

    for (int k = 0; k < s->serving->servers; k++) {
        hm__comm_send(s->world, s->serving->workers + k, &letter, HM_LETTER_HEAD);
        hm__comm_send(s->world, s->serving->workers + k, &start, sizeof(start));
    }
}

int hm__served_begin(struct hm_run *run, struct hm_comm *world, const struct hm_serving *serving,
                     struct hm_err *err)
{
    struct served *s = hm__arena_alloc(run->arena, 1, sizeof(*s));
    int rc = s ? 0 : hm__fail_nomem(err);

    if (s) {
        *s = (struct served){.world = world, .serving = serving};
        rc = make(run, s, err);
    }
    rc = hm__agree(run->comm, rc, err);
    if (rc) {
        hm__served_cancel(world, serving);
        return rc;
    }
    if (run->comm->rank == 0)
        hand_over(run, s);
    rc = hm__agree(world, 0, err);
    if (rc)
        return rc;
    for (int k = 0; run->comm->rank == 0 && k < serving->servers; k++) {
        struct hm_shard piece = hm__serving_piece(serving, (double)run->objective->unknowns, k);
        hm__pieces_send(run, world, serving->workers + k, (size_t)piece.first, (size_t)piece.count,
                        true);
    }
    s->last.samples = run->samples;
    run->place = s;
    run->division = &with_servers;
    return 0;
}

void hm__served_cancel(struct hm_comm *world, const struct hm_serving *serving)
{
    struct hm_letter letter = {.kind = HM_LETTER_BYE};

    for (int k = 0; world->rank == 0 && k < serving->servers; k++)
        hm__comm_send(world, serving->workers + k, &letter, HM_LETTER_HEAD);
}

void hm__served_end(struct hm_run *run)
{
    hm__client_leave(((struct served *)run->place)->client);
}

const struct hm_served_stats *hm__served_stats(struct hm_run *run)
{
    struct served *s = run->place;
    struct hm_comm *comm = run->comm;

    memcpy(s->stats.staleness, hm__client_ages(s->client), sizeof(s->stats.staleness));
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
