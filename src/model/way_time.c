/*
 * Models platforms: their communication steps, their synchronisation, and the limits of the
 * servers' links.
 *
 * BSP waits for all workers except the backups (Chen et al. 2016); with SSP and async, workers may
 * be in different iterations (Ho et al. 2013, Recht et al. 2011). Workers that perform local steps
 * send their model once in local_steps iterations (McMahan et al. 2017); workers that gossip are
 * assumed to wait for the slowest worker of all, although they wait only for their neighbours.
 * Stale workers queue at the servers' links (queue_time.h); with SSP, the wait at the links is
 * computed as for asynchronous workers and added to every iteration of the recursion. Limits: the
 * pace (the factor by which stragglers slow an iteration) is interpolated linearly over ln n
 * between two evaluated n, and messages of different workers do not collide at a worker's port.
 */
#include "way_time.h"

#include <math.h>

#include "budget.h"
#include "err.h"
#include "memory.h"
#include "queue_time.h"
#include "slow_time.h"
#include "slowness.h"

enum { CACHE_SIZE = 4093 };

/*
 * One cached result; the cache is useful because many variants of a plan evaluate the same point.
 */
struct pace_cached {
    bool together;
    double n, apart, seconds, extra, value;
};

struct hm_stragglers {
    struct pace_cached cache[CACHE_SIZE];
    /*
     * The slowness that is modelled. If work is distributed by speed, it does not include permanent
     * differences between workers.
     */
    struct hm_slowness slowness;
    struct hm_slow *slow; /* Tables of the times of workers with the slowness `slowness`. */
    /*
     * Tables for the cluster's own slowness, used when work is distributed by speed; otherwise
     * NULL.
     */
    struct hm_slow *dealt;
};

bool hm__way_stale(const struct hm_way *way)
{
    return way->consistency == HM_CONSISTENCY_ASYNC ||
           (way->consistency == HM_CONSISTENCY_SSP && way->staleness > 0);
}

double hm__way_stale_cost(const struct hm_way *way, double n)
{
    if (!hm__way_stale(way) || !(way->stale_cost > 0))
        return 1;
    return fmax(1, way->stale_cost * pow(n, way->stale_power));
}

double hm__way_nodes(const struct hm_way *way)
{
    if (way->platform == HM_PLATFORM_SERVER)
        return way->colocated ? 0 : way->servers;
    return way->platform == HM_PLATFORM_DRIVER || way->platform == HM_PLATFORM_FEDERATED ? 1 : 0;
}

double hm__way_used(const struct hm_way *way, double n)
{
    return fmax(n - way->backups, 1);
}

/* ---- communication steps --------------------------------------------------------------------- */

/*
 * Finds the message that carries the model's parameters: the gradients of the network, or the first
 * step given in bytes.
 */
static const struct hm_transfer *model_message(const struct hm_job *job)
{
    static const struct hm_transfer gradients = {
        .what = HM_PAYLOAD_GRADIENTS, .servers = 1, .times = 1};

    if (job->network)
        return &gradients;
    for (size_t i = 0; i < job->communicate_count; i++)
        if (job->communicate[i].bytes)
            return &job->communicate[i];
    return NULL;
}

int hm__way_steps(const struct hm_way *way, const struct hm_job *job, struct hm_transfer *steps,
                  size_t *ret_count, struct hm_err *err)
{
    static const enum hm_scheme schemes[][HM_WAY_STEPS] = {
        [HM_PLATFORM_ALLREDUCE] = {HM_SCHEME_BEST},
        [HM_PLATFORM_DRIVER] = {HM_SCHEME_TORRENT, HM_SCHEME_TWO_WAVE},
        [HM_PLATFORM_SERVER] = {HM_SCHEME_PARAMETER_SERVER},
        [HM_PLATFORM_GOSSIP_RING] = {HM_SCHEME_GOSSIP_RING},
        [HM_PLATFORM_GOSSIP_EXP] = {HM_SCHEME_GOSSIP_EXP},
        [HM_PLATFORM_FEDERATED] = {HM_SCHEME_PARAMETER_SERVER},
    };
    const struct hm_transfer *message = job->graph ? NULL : model_message(job);

    if (!message) {
        hm__fail(err, job->graph ? HM_E_CONFLICT : HM_E_MISSING,
                 job->graph
                     ? "a platform applies to a trained model, not to a graph"
                     : "a platform needs the size of the model, which the job does not give");
        hm__err_hint(err, job->graph ? "leave out the platform"
                                     : "give network:, or a step of communicate such as "
                                       "{bytes: 4 MB, scheme: ring}");
        hm__err_field(err, job->graph ? "graph" : "communicate");
        hm__err_at(err, job->source, 0);
        return job->graph ? HM_E_CONFLICT : HM_E_MISSING;
    }
    if (way->platform == HM_PLATFORM_PIPELINE) {
        *ret_count = 0; /* The placement of the layers determines the messages, so there are no
                           other steps. */
        return 0;
    }
    *ret_count = way->platform == HM_PLATFORM_DRIVER ? 2 : 1;
    for (size_t i = 0; i < *ret_count; i++) {
        steps[i] = *message;
        steps[i].scheme = schemes[way->platform][i];
        /* In a distributed model, workers join the partitions of the model with the partitions of
         * the data, which is a shuffle. */
        if (way->platform == HM_PLATFORM_DRIVER && job->dataflow && job->dataflow->distributed)
            steps[i].scheme = HM_SCHEME_SHUFFLE;
        steps[i].servers = way->platform == HM_PLATFORM_SERVER ? way->servers : 1;
        steps[i].times = 1 / fmax(1, way->local_steps);
        /* Averages of parameters do not overlap with the backward pass, but gradients do. */
        bool averages = way->platform > HM_PLATFORM_SERVER || way->local_steps > 1;
        if (((i == 0 && *ret_count > 1) || averages) && !message->bytes)
            steps[i].what = HM_PAYLOAD_PARAMETERS;
    }
    return 0;
}

/* ---- synchronisation ------------------------------------------------------------------------- */

int hm__stragglers_new(const struct hm_slowness *slowness, bool by_speed,
                       struct hm_stragglers **ret_stragglers, struct hm_err *err)
{
    struct hm_stragglers *p = hm__calloc(1, sizeof(*p));
    int rc = p ? 0 : hm__fail_nomem(err);

    if (rc)
        return rc;
    p->slowness = *slowness;
    if (by_speed) {
        p->slowness.slow_nodes = 0;
        p->slowness.speed_count = 0;
        rc = hm__slow_new(slowness, &p->dealt, err);
    }
    if (rc == 0)
        rc = hm__slow_new(&p->slowness, &p->slow, err);
    if (rc) {
        hm__stragglers_free(p);
        return rc;
    }
    *ret_stragglers = p;
    return 0;
}

void hm__stragglers_free(struct hm_stragglers *p)
{
    if (!p)
        return;
    hm__slow_free(p->slow);
    hm__slow_free(p->dealt);
    hm__free(p);
}

/* Returns the time in seconds for which a worker would compute at the cluster's nominal speed. */
static double worker_share_s(const struct hm_stragglers *p, const struct hm_point *point)
{
    return point->compute_s * (p->dealt ? hm__slow_even(p->dealt, point->n) : 1);
}

/*
 * A request for the pace, that is, the factor by which stragglers slow an iteration: for
 * synchronous steps with backups (`together`), or for stale workers with a staleness bound.
 */
struct pace_request {
    bool together;
    double apart; /* Number of backups if `together` is true, otherwise the staleness bound. */
    const struct hm_ports *ports;
    /* Time in seconds for which messages wait at the servers' links; NULL if they do not wait. */
    const double *queue_s;
};

/*
 * Returns the time in seconds that a worker needs to send and receive messages after it has
 * computed.
 */
static double worker_extra_s(const struct pace_request *request, const struct hm_point *points,
                             size_t i)
{
    return points[i].latency_s + 2 * request->ports->worker[i] +
           (request->queue_s ? request->queue_s[i] : 0);
}

/*
 * Returns the time in seconds of an iteration of a worker that does not wait for others; the pace
 * of SSP is relative to this time. p may be NULL.
 */
static double worker_alone_s(const struct hm_stragglers *p, const struct pace_request *request,
                             const struct hm_point *points, size_t i)
{
    double extra = worker_extra_s(request, points, i);

    return p ? hm__slow_async(p->slow, points[i].n, worker_share_s(p, &points[i]), extra)
             : points[i].compute_s + extra;
}

/*
 * Finds the time of an iteration at a point in seconds, using the cache if this point was evaluated
 * before.
 */
static int pace_seconds_at(struct hm_stragglers *p, const struct pace_request *request,
                           const struct hm_point *points, size_t i, double *ret_s,
                           struct hm_err *err)
{
    struct pace_cached now = {
        request->together, points[i].n, request->apart, worker_share_s(p, &points[i]), 0, 0};
    size_t place =
        ((size_t)now.n * 2654435761u + (size_t)now.apart * 40503u + now.together) % CACHE_SIZE;
    struct pace_cached *old = &p->cache[place];

    if (request->together)
        now.apart = fmin(now.apart, now.n - 1);
    else
        now.extra = worker_extra_s(request, points, i);
    if (old->n == now.n && old->together == now.together && old->apart == now.apart &&
        old->seconds == now.seconds && old->extra == now.extra) {
        *ret_s = old->value;
        return 0;
    }
    if (request->together)
        now.value = hm__slow_order(p->slow, now.n, now.apart, now.seconds);
    else {
        int rc = hm__slow_stale(p->slow, now.n, now.apart, now.seconds, now.extra, &now.value, err);
        if (rc)
            return rc;
    }
    *old = now;
    *ret_s = now.value;
    return 0;
}

/* Above the largest n up to which every point is evaluated, the next evaluated n is larger by at
 * least this factor. */
static const double STEP_TOGETHER = 1.05, STEP_APART = 1.2;
enum { EXACT_APART = 16 };

/*
 * Returns the largest n up to which every point is evaluated; above it, evaluated values of n are
 * at least 5 % (BSP) or 20 % (SSP) apart (STEP_TOGETHER, STEP_APART).
 */
static double pace_exact_limit(const struct hm_stragglers *p, bool together)
{
    const struct hm_slowness *s = &p->slowness;
    double listed = ((double)s->speed_count + s->slow_nodes + 1) * fmax(s->per_node, 1);

    if (!hm__slowness_drawn(s))
        return INFINITY;
    return together ? fmax(32, fmin(listed, 512)) : EXACT_APART;
}

double hm__stragglers_draws(double staleness, const double *n, size_t count, double max_n)
{
    double sum = 0, before = 0;

    for (size_t i = 0; n && i < count && n[i] <= max_n; i++)
        if (n[i] <= EXACT_APART || n[i] >= STEP_APART * before || i + 1 == count) {
            sum += hm__slow_draws(n[i], staleness);
            before = n[i];
        }
    for (double at = 1; !n && at < max_n; at = at < EXACT_APART ? at + 1 : ceil(STEP_APART * at))
        sum += hm__slow_draws(at, staleness);
    return n ? sum : sum + hm__slow_draws(max_n, staleness);
}

/*
 * Computes the pace at every point: the time of an iteration, relative to steady workers (BSP) or
 * to workers that do not wait for others (SSP). It is interpolated linearly over ln n between the
 * evaluated points.
 */
static int pace_eval(struct hm_stragglers *p, const struct pace_request *request,
                     const struct hm_point *points, size_t count, double *paces, struct hm_err *err)
{
    const double exact = pace_exact_limit(p, request->together),
                 step = request->together ? STEP_TOGETHER : STEP_APART;
    size_t before = 0;

    for (size_t i = 0; i < count; i++) {
        double n = points[i].n, seconds;
        int spent = hm__budget_check("max_n", err);
        if (spent)
            return spent;
        if (i > 0 && i + 1 < count && n > exact && n < step * points[before].n)
            continue;
        int rc = pace_seconds_at(p, request, points, i, &seconds, err);
        if (rc)
            return rc;
        double alone = request->together ? worker_share_s(p, &points[i])
                                         : worker_alone_s(p, request, points, i);
        paces[i] = alone > 0 ? seconds / alone : 1;
        for (size_t k = before + 1; k < i; k++)
            paces[k] = paces[before] + (paces[i] - paces[before]) *
                                           log(points[k].n / points[before].n) /
                                           log(n / points[before].n);
        before = i;
    }
    return 0;
}

int hm__stragglers_wait(struct hm_stragglers *p, const struct hm_way *way, struct hm_point *points,
                        size_t count, struct hm_err *err)
{
    const struct pace_request request = {.together = true, .apart = way->backups};
    double *paces = hm__calloc(count, sizeof(*paces));
    int rc = paces ? pace_eval(p, &request, points, count, paces, err) : hm__fail_nomem(err);

    for (size_t i = 0; rc == 0 && i < count; i++) {
        double even = points[i].compute_s;
        if ((rc = hm__budget_check("max_n", err)))
            break;
        points[i].compute_s = worker_share_s(p, &points[i]) * paces[i];
        points[i].wait_s = fmax(points[i].compute_s - even, 0);
    }
    hm__free(paces);
    return rc;
}

/*
 * Returns the time in seconds that a server's link needs for the gradients of an iteration. The
 * port of a colocated server also carries its worker's messages.
 */
static double server_links_s(const struct hm_way *way, const struct hm_ports *ports, size_t i)
{
    return ports->server[i] + (way->colocated ? ports->worker[i] : 0);
}

/*
 * Computes the time in seconds for which the messages of an iteration wait at the servers' links if
 * workers never wait for each other.
 */
static void queue_eval(const struct hm_stragglers *p, const struct hm_way *way,
                       const struct pace_request *request, const struct hm_point *points,
                       size_t count, double *queue_s)
{
    /* Once the budget is spent, the remaining times are 0; the caller returns the error. */
    for (size_t i = 0; i < count && !hm__budget_spent("max_n"); i++) {
        double alone = worker_alone_s(p, request, points, i), link = request->ports->worker[i];
        double served = server_links_s(way, request->ports, i) / points[i].n;
        queue_s[i] = hm__queue_time(points[i].n, alone - 2 * link, link, served) - alone;
    }
}

int hm__stragglers_apart(struct hm_stragglers *p, const struct hm_way *way,
                         const struct hm_ports *ports, struct hm_point *points, size_t count,
                         struct hm_err *err)
{
    struct pace_request request = {.apart = way->staleness, .ports = ports};
    double *space = hm__calloc(2 * count, sizeof(*space));
    bool bounded = p && way->consistency == HM_CONSISTENCY_SSP;
    int rc = 0;

    if (!space)
        return hm__fail_nomem(err);
    double *paces = space, *queue = space + count;
    queue_eval(p, way, &request, points, count, queue);
    request.queue_s = queue;
    if (bounded)
        rc = pace_eval(p, &request, points, count, paces, err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        struct hm_point *at = &points[i];
        if ((rc = hm__budget_check("max_n", err)))
            break;
        double extra = worker_extra_s(&request, points, i), even = at->compute_s;
        double reached = worker_alone_s(p, &request, points, i) * (bounded ? paces[i] : 1);
        at->time_s = fmax(reached, server_links_s(way, ports, i));
        at->compute_s = reached - extra;
        at->wait_s = fmax(at->compute_s - even, 0);
        at->communicate_s = at->time_s - at->compute_s;
        at->bandwidth_s = at->communicate_s - at->latency_s;
    }
    hm__free(space);
    return rc;
}

double hm__way_server_share(const struct hm_way *way, const struct hm_ports *ports, size_t i,
                            double time_s)
{
    double busy = hm__way_stale(way) ? server_links_s(way, ports, i) : 2 * ports->server[i];

    return time_s > 0 ? fmin(busy / time_s, 1) : 0;
}
