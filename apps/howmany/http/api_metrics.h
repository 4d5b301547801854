/* Counts requests and responses for Prometheus. All functions are thread-safe. */
#ifndef HM_API_METRICS_H
#define HM_API_METRICS_H

#include "api_store.h"
#include "http.h"
#include "text.h"

struct api_metrics;

/*
 * Creates the counters. `paths` lists the patterns of the routes and is borrowed. Requests for
 * other paths are counted as "other".
 */
struct api_metrics *api_metrics_new(const char *const *paths, size_t count);
void api_metrics_free(struct api_metrics *metrics);

/*
 * Counts a request. `path` is the index of the request's path in the list of paths; for a path that
 * is not in the list, it is the length of the list.
 */
void api_metrics_request(struct api_metrics *metrics, size_t path, int status, double seconds);
void api_metrics_refusal(struct api_metrics *metrics, enum http_refusal refusal);
void api_metrics_cached(struct api_metrics *metrics, bool hit);
/* Writes all counters in the text format of Prometheus, version 0.0.4. */
void api_metrics_render(const struct api_metrics *metrics, const struct http_counts *counts,
                        struct hm_text *out);
/* Writes the number of dropped lines of the log in the text format of Prometheus. */
void api_metrics_log(unsigned long long dropped, struct hm_text *out);
/* Writes the counters of the store in the text format of Prometheus. */
void api_metrics_store(const struct api_store_counts *counts, struct hm_text *out);

#endif
