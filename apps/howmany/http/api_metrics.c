/*
 * Counts requests for Prometheus. The counters are relaxed atomics. While requests are in progress,
 * the counters in one response may therefore be slightly inconsistent with each other.
 */
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
    /* Number of requests for each path and status, as a table of (path_count + 1) x STATUS_COUNT
     * counts. */
    atomic_ullong *requests;
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

static void counter_add(atomic_ullong *counter, unsigned long long by)
{
    atomic_fetch_add_explicit(counter, by, memory_order_relaxed);
}

static unsigned long long counter_value(const atomic_ullong *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

void api_metrics_request(struct api_metrics *m, size_t path, int status, double seconds)
{
    size_t bucket = 0;

    while (bucket < BOUNDS && seconds > bounds[bucket])
        bucket++;
    counter_add(&m->requests[path * STATUS_COUNT + (size_t)(status - STATUS_FIRST)], 1);
    counter_add(&m->buckets[bucket], 1);
    counter_add(&m->nanoseconds, (unsigned long long)(1e9 * seconds));
}

void api_metrics_refusal(struct api_metrics *m, enum http_refusal refusal)
{
    counter_add(&m->refusals[refusal], 1);
}

void api_metrics_cached(struct api_metrics *m, bool hit)
{
    counter_add(hit ? &m->hits : &m->misses, 1);
}

static void put_head(struct hm_text *out, const char *name, const char *kind, const char *help)
{
    hm__text_addf(out, "# HELP howmany_%s %s\n# TYPE howmany_%s %s\n", name, help, name, kind);
}

static void render_requests(const struct api_metrics *m, struct hm_text *out)
{
    put_head(out, "http_requests_total", "counter", "Requests by path and status.");
    for (size_t p = 0; p <= m->path_count; p++)
        for (size_t s = 0; s < STATUS_COUNT; s++) {
            unsigned long long times = counter_value(&m->requests[p * STATUS_COUNT + s]);
            if (times > 0)
                hm__text_addf(out, "howmany_http_requests_total{path=\"%s\",status=\"%zu\"} %llu\n",
                              p < m->path_count ? m->paths[p] : "other", s + STATUS_FIRST, times);
        }
}

static void render_seconds(const struct api_metrics *m, struct hm_text *out)
{
    unsigned long long sum = 0;

    put_head(out, "http_request_seconds", "histogram",
             "Seconds from the request line to the response.");
    for (size_t b = 0; b < BOUNDS; b++) {
        sum += counter_value(&m->buckets[b]);
        hm__text_addf(out, "howmany_http_request_seconds_bucket{le=\"%g\"} %llu\n", bounds[b], sum);
    }
    sum += counter_value(&m->buckets[BOUNDS]);
    hm__text_addf(out, "howmany_http_request_seconds_bucket{le=\"+Inf\"} %llu\n", sum);
    hm__text_addf(out, "howmany_http_request_seconds_sum %.9g\n",
                  1e-9 * (double)counter_value(&m->nanoseconds));
    hm__text_addf(out, "howmany_http_request_seconds_count %llu\n", sum);
}

void api_metrics_render(const struct api_metrics *m, const struct http_counts *counts,
                        struct hm_text *out)
{
    render_requests(m, out);
    render_seconds(m, out);
    put_head(out, "http_refused_total", "counter",
             "Requests refused and connections closed, by reason.");
    for (int r = HTTP_REFUSAL_NONE + 1; r < HTTP_REFUSAL_COUNT; r++)
        hm__text_addf(out, "howmany_http_refused_total{reason=\"%s\"} %llu\n",
                      http_refusal_name((enum http_refusal)r), counter_value(&m->refusals[r]));
    put_head(out, "http_connections", "gauge", "Open connections.");
    hm__text_addf(out, "howmany_http_connections %zu\n", counts->connections);
    put_head(out, "http_working", "gauge", "Requests that run or wait for a thread.");
    hm__text_addf(out, "howmany_http_working %zu\n", counts->working);
    put_head(out, "cache_total", "counter", "Lookups of responses in the cache.");
    hm__text_addf(out, "howmany_cache_total{found=\"yes\"} %llu\n", counter_value(&m->hits));
    hm__text_addf(out, "howmany_cache_total{found=\"no\"} %llu\n", counter_value(&m->misses));
}

void api_metrics_log(unsigned long long dropped, struct hm_text *out)
{
    put_head(out, "log_dropped_total", "counter", "Lines of the log that could not be written.");
    hm__text_addf(out, "howmany_log_dropped_total %llu\n", dropped);
}

void api_metrics_store(const struct api_store_counts *counts, struct hm_text *out)
{
    put_head(out, "store_commits_total", "counter", "Committed transactions.");
    hm__text_addf(out, "howmany_store_commits_total %llu\n", counts->commits);
    put_head(out, "store_runs_total", "counter", "Runs added by committed transactions.");
    hm__text_addf(out, "howmany_store_runs_total %llu\n", counts->runs);
    put_head(out, "store_failures_total", "counter", "Failed transactions.");
    hm__text_addf(out, "howmany_store_failures_total %llu\n", counts->failures);
    put_head(out, "store_up", "gauge", "1 if the store is reachable, else 0.");
    hm__text_addf(out, "howmany_store_up %d\n", counts->healthy);
}
