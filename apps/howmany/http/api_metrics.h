/* What was asked and how it went, counted for Prometheus. Safe for threads. */
#ifndef HM_API_METRICS_H
#define HM_API_METRICS_H

#include "api_store.h"
#include "http.h"
#include "text.h"

struct api_metrics;

/* paths: names of the routes, borrowed; what is none of them counts as "other". */
struct api_metrics *api_metrics_new(const char *const *paths, size_t count);
void api_metrics_free(struct api_metrics *metrics);

/* path: index in paths, or count for others. */
void api_metrics_request(struct api_metrics *metrics, size_t path, int status, double seconds);
void api_metrics_refusal(struct api_metrics *metrics, enum http_refusal refusal);
void api_metrics_cached(struct api_metrics *metrics, bool hit);
/* In the text format, version 0.0.4. */
void api_metrics_render(const struct api_metrics *metrics, const struct http_counts *counts,
                        struct hm_text *out);
/* Likewise, of the store behind it. */
void api_metrics_store(const struct api_store_counts *counts, struct hm_text *out);

#endif
