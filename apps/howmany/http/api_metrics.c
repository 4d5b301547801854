/* Counters: relaxed atomics, so that a page of them may be a moment apart. */
#include "api_metrics.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { STATUS_FIRST = 100, STATUS_COUNT = 500 };

static const double bounds[] = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                0.1,    0.25,  0.5,    1,     2.5,  10};

enum { BOUNDS = sizeof(bounds) / sizeof(bounds[0]) };

struct api_metrics {
    const char *const *paths;
    size_t path_count;
    atomic_ullong *requests; /* (path_count + 1) x STATUS_COUNT */
    atomic_ullong buckets[BOUNDS + 1], nanoseconds;
    atomic_ullong refusals[HTTP_REFUSAL_COUNT];
    atomic_ullong hits, misses;
};

struct api_metrics *api_metrics_new(const char *const *paths, size_t count)
{
    struct api_metrics *m = calloc(1, sizeof(*m));

    if (!m)
        return NULL;
    m->paths = paths;
    m->path_count = count;
    m->requests = calloc((count + 1) * STATUS_COUNT, sizeof(*m->requests));
    if (!m->requests) {
        free(m);
        return NULL;
    }
    return m;
}

void api_metrics_free(struct api_metrics *m)
{
    if (!m)
        return;
    free(m->requests);
    free(m);
}

static void count(atomic_ullong *counter, unsigned long long by)
{
    atomic_fetch_add_explicit(counter, by, memory_order_relaxed);
}

static unsigned long long value(const atomic_ullong *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

void api_metrics_request(struct api_metrics *m, size_t path, int status, double seconds)
{
    size_t bucket = 0;

    while (bucket < BOUNDS && seconds > bounds[bucket])
        bucket++;
    count(&m->requests[path * STATUS_COUNT + (size_t)(status - STATUS_FIRST)], 1);
    count(&m->buckets[bucket], 1);
    count(&m->nanoseconds, (unsigned long long)(1e9 * seconds));
}

void api_metrics_refusal(struct api_metrics *m, enum http_refusal refusal)
{
    count(&m->refusals[refusal], 1);
}

void api_metrics_cached(struct api_metrics *m, bool hit)
{
    count(hit ? &m->hits : &m->misses, 1);
}

static void head(struct hm_text *out, const char *name, const char *kind, const char *help)
{
    hm__text_addf(out, "# HELP howmany_%s %s\n# TYPE howmany_%s %s\n", name, help, name, kind);
}

static void render_requests(const struct api_metrics *m, struct hm_text *out)
{
    head(out, "http_requests_total", "counter", "Requests by path and status.");
    for (size_t p = 0; p <= m->path_count; p++)
        for (size_t s = 0; s < STATUS_COUNT; s++) {
            unsigned long long times = value(&m->requests[p * STATUS_COUNT + s]);
            if (times > 0)
                hm__text_addf(out, "howmany_http_requests_total{path=\"%s\",status=\"%zu\"} %llu\n",
                              p < m->path_count ? m->paths[p] : "other", s + STATUS_FIRST, times);
        }
}

static void render_seconds(const struct api_metrics *m, struct hm_text *out)
{
    unsigned long long sum = 0;

    head(out, "http_request_seconds", "histogram", "From the first line to the answer.");
    for (size_t b = 0; b < BOUNDS; b++) {
        sum += value(&m->buckets[b]);
        hm__text_addf(out, "howmany_http_request_seconds_bucket{le=\"%g\"} %llu\n", bounds[b], sum);
    }
    sum += value(&m->buckets[BOUNDS]);
    hm__text_addf(out, "howmany_http_request_seconds_bucket{le=\"+Inf\"} %llu\n", sum);
    hm__text_addf(out, "howmany_http_request_seconds_sum %.9g\n",
                  1e-9 * (double)value(&m->nanoseconds));
    hm__text_addf(out, "howmany_http_request_seconds_count %llu\n", sum);
}

void api_metrics_render(const struct api_metrics *m, const struct http_counts *counts,
                        struct hm_text *out)
{
    render_requests(m, out);
    render_seconds(m, out);
    head(out, "http_refused_total", "counter", "Requests and connections refused or cut.");
    for (int r = HTTP_REFUSAL_NONE + 1; r < HTTP_REFUSAL_COUNT; r++)
        hm__text_addf(out, "howmany_http_refused_total{reason=\"%s\"} %llu\n",
                      http_refusal_name((enum http_refusal)r), value(&m->refusals[r]));
    head(out, "http_connections", "gauge", "Connections that are open.");
    hm__text_addf(out, "howmany_http_connections %zu\n", counts->connections);
    head(out, "http_working", "gauge", "Requests that are worked on, or wait for it.");
    hm__text_addf(out, "howmany_http_working %zu\n", counts->working);
    head(out, "cache_total", "counter", "Answers looked for in the cache.");
    hm__text_addf(out, "howmany_cache_total{found=\"yes\"} %llu\n", value(&m->hits));
    hm__text_addf(out, "howmany_cache_total{found=\"no\"} %llu\n", value(&m->misses));
}

void api_metrics_store(const struct api_store_counts *counts, struct hm_text *out)
{
    head(out, "store_commits_total", "counter", "Transactions that were written.");
    hm__text_addf(out, "howmany_store_commits_total %llu\n", counts->commits);
    head(out, "store_runs_total", "counter", "Runs that were added in them.");
    hm__text_addf(out, "howmany_store_runs_total %llu\n", counts->runs);
    head(out, "store_failures_total", "counter", "Transactions that failed.");
    hm__text_addf(out, "howmany_store_failures_total %llu\n", counts->failures);
    head(out, "store_up", "gauge", "Whether the store answers.");
    hm__text_addf(out, "howmany_store_up %d\n", counts->healthy);
}
