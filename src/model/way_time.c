/* Platforms: their steps, whom they wait for, and what the links of their servers let through. */
#include "way_time.h"

#include <math.h>

#include "err.h"
#include "memory.h"
#include "model.h"
#include "slow_time.h"
#include "slowness.h"

enum { REMEMBERED = 4093 };

/* What was evaluated: many variants of a plan ask for the same. */
struct remembered {
    bool together;
    double n, apart, seconds, extra, value;
};

struct hm_crew {
    struct remembered remembered[REMEMBERED];
    struct hm_slowness slowness; /* as it counts */
    struct hm_slow *slow;        /* of it */
    struct hm_slow *dealt;       /* of the cluster's, where work is dealt by speed; else NULL */
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
    return way->platform == HM_PLATFORM_DRIVER ? 1 : 0;
}

double hm__way_used(const struct hm_way *way, double n)
{
    return fmax(n - way->backups, 1);
}

/* ---- what it sends ------------------------------------------------------------------------------
 */

/* What stands for the model: that of the network, or the first message the job gives in bytes. */
static const struct hm_transfer *message_of(const struct hm_job *job)
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
    };
    const struct hm_transfer *message = job->graph ? NULL : message_of(job);

    if (!message) {
        hm__fail(err, job->graph ? HM_E_CONFLICT : HM_E_MISSING,
                 job->graph
                     ? "platforms are of models that are trained, not of graphs"
                     : "a platform needs the size of the model, and the job does not say it");
        hm__err_hint(err, job->graph ? "leave out the platform"
                                     : "give network:, or a step of communicate such as "
                                       "{bytes: 4 MB, scheme: ring}");
        hm__err_field(err, job->graph ? "graph" : "communicate");
        hm__err_at(err, job->source, 0);
        return job->graph ? HM_E_CONFLICT : HM_E_MISSING;
    }
    *ret_count = way->platform == HM_PLATFORM_DRIVER ? 2 : 1;
    for (size_t i = 0; i < *ret_count; i++) {
        steps[i] = *message;
        steps[i].scheme = schemes[way->platform][i];
        steps[i].servers = way->platform == HM_PLATFORM_SERVER ? way->servers : 1;
        steps[i].times = 1;
        if (i == 0 && *ret_count > 1 && !message->bytes)
            steps[i].what = HM_PAYLOAD_PARAMETERS;
    }
    return 0;
}

/* ---- whom it waits for --------------------------------------------------------------------------
 */

int hm__crew_new(const struct hm_slowness *slowness, bool by_speed, struct hm_crew **ret_crew,
                 struct hm_err *err)
{
    struct hm_crew *p = hm__calloc(1, sizeof(*p));
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
        hm__crew_free(p);
        return rc;
    }
    *ret_crew = p;
    return 0;
}

void hm__crew_free(struct hm_crew *p)
{
    if (!p)
        return;
    hm__slow_free(p->slow);
    hm__slow_free(p->dealt);
    hm__free(p);
}

/* What a worker has to do, in seconds of one as the cluster says. */
static double share_s(const struct hm_crew *p, const struct hm_point *point)
{
    return point->compute_s * (p->dealt ? hm__slow_even(p->dealt, point->n) : 1);
}

/* What the pace is asked for: steps together, without `late`, or apart by `staleness`. */
struct asked {
    bool together;
    double apart; /* late, or staleness */
    const struct hm_ports *ports;
};

/* What a worker does besides computing, on its own: sending and receiving. */
static double extra_s(const struct hm_ports *ports, const struct hm_point *points, size_t i)
{
    return points[i].latency_s + 2 * ports->worker[i];
}

/* The iteration of a worker on its own, which the pace of SSP is relative to. */
static double alone_s(const struct hm_crew *p, const struct hm_ports *ports,
                      const struct hm_point *points, size_t i)
{
    return hm__slow_async(p->slow, points[i].n, share_s(p, &points[i]), extra_s(ports, points, i));
}

/* Seconds at a point, from memory where they were asked for before. */
static int seconds_at(struct hm_crew *p, const struct asked *asked, const struct hm_point *points,
                      size_t i, double *ret_s, struct hm_err *err)
{
    struct remembered now = {asked->together,        points[i].n, asked->apart,
                             share_s(p, &points[i]), 0,           0};
    size_t place =
        ((size_t)now.n * 2654435761u + (size_t)now.apart * 40503u + now.together) % REMEMBERED;
    struct remembered *old = &p->remembered[place];

    if (asked->together)
        now.apart = fmin(now.apart, now.n - 1);
    else
        now.extra = extra_s(asked->ports, points, i);
    if (old->n == now.n && old->together == now.together && old->apart == now.apart &&
        old->seconds == now.seconds && old->extra == now.extra) {
        *ret_s = old->value;
        return 0;
    }
    if (asked->together)
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

/* Up to here every n is evaluated; beyond, n that are a few percent apart. */
static double exact_to(const struct hm_crew *p, bool together)
{
    const struct hm_slowness *s = &p->slowness;
    double listed = ((double)s->speed_count + s->slow_nodes + 1) * fmax(s->per_node, 1);

    if (!hm__slowness_drawn(s))
        return INFINITY;
    return together ? fmax(32, fmin(listed, 512)) : 16;
}

/*
 * The pace at every point, relative to `alone`: steady workers that begin together, or workers on
 * their own. Between the n that are evaluated it is a line over ln n.
 */
static int find_paces(struct hm_crew *p, const struct asked *asked, const struct hm_point *points,
                      size_t count, double *paces, struct hm_err *err)
{
    const double exact = exact_to(p, asked->together), step = asked->together ? 1.05 : 1.2;
    size_t before = 0;

    for (size_t i = 0; i < count; i++) {
        double n = points[i].n, seconds;
        if (i > 0 && i + 1 < count && n > exact && n < step * points[before].n)
            continue;
        int rc = seconds_at(p, asked, points, i, &seconds, err);
        if (rc)
            return rc;
        double alone =
            asked->together ? share_s(p, &points[i]) : alone_s(p, asked->ports, points, i);
        paces[i] = alone > 0 ? seconds / alone : 1;
        for (size_t k = before + 1; k < i; k++)
            paces[k] = paces[before] + (paces[i] - paces[before]) *
                                           log(points[k].n / points[before].n) /
                                           log(n / points[before].n);
        before = i;
    }
    return 0;
}

int hm__crew_together(struct hm_crew *p, const struct hm_way *way, struct hm_point *points,
                      size_t count, struct hm_err *err)
{
    const struct asked asked = {.together = true, .apart = way->backups};
    double *paces = hm__calloc(count, sizeof(*paces));
    int rc = paces ? find_paces(p, &asked, points, count, paces, err) : hm__fail_nomem(err);

    for (size_t i = 0; rc == 0 && i < count; i++) {
        double even = points[i].compute_s;
        points[i].compute_s = share_s(p, &points[i]) * paces[i];
        points[i].wait_s = fmax(points[i].compute_s - even, 0);
    }
    hm__free(paces);
    return rc;
}

/* What the servers' links need for the gradients of an iteration; a node's port serves both. */
static double links_s(const struct hm_way *way, const struct hm_ports *ports, size_t i)
{
    return ports->server[i] + (way->colocated ? ports->worker[i] : 0);
}

int hm__crew_apart(struct hm_crew *p, const struct hm_way *way, const struct hm_ports *ports,
                   struct hm_point *points, size_t count, struct hm_err *err)
{
    const struct asked asked = {.apart = way->staleness, .ports = ports};
    double *paces = hm__calloc(count, sizeof(*paces));
    int rc = paces ? 0 : hm__fail_nomem(err);

    if (rc == 0 && p && way->consistency == HM_CONSISTENCY_SSP)
        rc = find_paces(p, &asked, points, count, paces, err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        struct hm_point *at = &points[i];
        double extra = extra_s(ports, points, i), even = at->compute_s;
        double reached = !p ? even + extra : alone_s(p, ports, points, i);
        if (p && way->consistency == HM_CONSISTENCY_SSP)
            reached *= paces[i];
        at->time_s = fmax(reached, links_s(way, ports, i));
        at->compute_s = reached - extra;
        at->wait_s = fmax(at->compute_s - even, 0);
        at->communicate_s = at->time_s - at->compute_s;
        at->bandwidth_s = at->communicate_s - at->latency_s;
    }
    hm__free(paces);
    return rc;
}

double hm__way_server_share(const struct hm_way *way, const struct hm_ports *ports, size_t i,
                            double time_s)
{
    double busy = hm__way_stale(way) ? links_s(way, ports, i) : 2 * ports->server[i];

    return time_s > 0 ? fmin(busy / time_s, 1) : 0;
}
