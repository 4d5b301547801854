/*
 * Predicts measured iterations on CPUs and with the platforms of frameworks: each row of
 * data/platforms.csv (or of a file with the same columns) is predicted from its network, machine,
 * framework and platform, and compared with the measurement. The output contains the median
 * absolute error for each source, framework and network.
 */
#include "validate_platforms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "order.h"
#include "predict_platform.h"
#include "read_platforms.h"
#include "readers.h"
#include "text.h"

static const char *const groupings[] = {"source", "framework", "network"};
enum { GROUPINGS = sizeof(groupings) / sizeof(groupings[0]) };

static const char *row_key(const struct hm_platform_row *r, size_t grouping)
{
    const char *const keys[] = {r->source, r->framework, r->network};
    return keys[grouping];
}

/* Returns the median absolute error of the rows of a group, and sets *ret_count to their number. */
static double group_median(const struct hm_platform_rows *all, const double *predicted,
                           size_t grouping, const char *key, double *errors, size_t *ret_count)
{
    size_t count = 0;

    for (size_t i = 0; i < all->count; i++)
        if (strcmp(row_key(&all->rows[i], grouping), key) == 0)
            errors[count++] = fabs(predicted[i] / all->rows[i].seconds - 1);
    *ret_count = count;
    return hm__values_median(errors, count);
}

/* Returns whether row i is the first row of its group. */
static bool row_starts_group(const struct hm_platform_rows *all, size_t grouping, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(row_key(&all->rows[k], grouping), row_key(&all->rows[i], grouping)) == 0)
            return false;
    return true;
}

static const char *row_platform(const struct hm_platform_row *r)
{
    return r->way.platform == HM_PLATFORM_JOB ? "" : hm_platform_name(r->way.platform);
}

static const char *row_consistency(const struct hm_platform_row *r)
{
    return r->way.platform == HM_PLATFORM_JOB ? "" : hm_consistency_name(r->way.consistency);
}

static void put_json(struct hm_text *out, const struct hm_platform_rows *all,
                     const double *predicted, double *errors)
{
    struct hm_json json = {.out = out};

    hm__json_open(&json, NULL, HM_JSON_OBJECT | HM_JSON_LINES);
    hm__json_open(&json, "rows", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < all->count; i++) {
        const struct hm_platform_row *r = &all->rows[i];
        hm__json_open(&json, NULL, HM_JSON_OBJECT);
        hm__json_put_text(&json, "source", r->source);
        hm__json_put_text(&json, "framework", r->framework);
        hm__json_put_text(&json, "network", r->network);
        hm__json_put_text(&json, "machine", r->machine);
        hm__json_put_text(&json, "platform", row_platform(r));
        hm__json_put_text(&json, "consistency", row_consistency(r));
        hm__json_put_number(&json, "threads", r->job->cluster.node.threads);
        hm__json_put_number(&json, "n", r->n);
        hm__json_put_number(&json, "batch_per_worker", r->batch);
        hm__json_put_number(&json, "measured_s", r->seconds);
        hm__json_put_number(&json, "predicted_s", predicted[i]);
        hm__json_put_number(&json, "error", predicted[i] / r->seconds - 1);
        hm__json_close(&json);
    }
    hm__json_close(&json);
    hm__json_open(&json, "medians", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t g = 0; g < GROUPINGS; g++)
        for (size_t i = 0; i < all->count; i++) {
            if (!row_starts_group(all, g, i))
                continue;
            size_t count;
            double median =
                group_median(all, predicted, g, row_key(&all->rows[i], g), errors, &count);
            hm__json_open(&json, NULL, HM_JSON_OBJECT);
            hm__json_put_text(&json, "by", groupings[g]);
            hm__json_put_text(&json, "name", row_key(&all->rows[i], g));
            hm__json_put_number(&json, "rows", (double)count);
            hm__json_put_number(&json, "median_error", median);
            hm__json_close(&json);
        }
    hm__json_close(&json);
    hm__json_close(&json);
    hm__text_add(out, "\n");
}

static void put_text(struct hm_text *out, const struct hm_platform_rows *all,
                     const double *predicted, double *errors)
{
    hm__text_addf(out, "%-13s %-11s %-20s %-16s %-6s %3s %3s %6s %11s %11s %8s\n", "source",
                  "framework", "network", "machine", "rule", "thr", "n", "batch", "measured ms",
                  "ours ms", "error");
    for (size_t i = 0; i < all->count; i++) {
        const struct hm_platform_row *r = &all->rows[i];
        hm__text_addf(out, "%-13s %-11s %-20s %-16s %-6s %3g %3g %6g %11.4g %11.4g %+6.1f %%\n",
                      r->source, r->framework, r->network, r->machine, row_consistency(r),
                      r->job->cluster.node.threads, r->n, r->batch, r->seconds * 1e3,
                      predicted[i] * 1e3, 100 * (predicted[i] / r->seconds - 1));
    }
    for (size_t g = 0; g < GROUPINGS; g++) {
        hm__text_addf(out, "\n%-24s %5s %13s\n", groupings[g], "rows", "median error");
        for (size_t i = 0; i < all->count; i++) {
            if (!row_starts_group(all, g, i))
                continue;
            size_t count;
            double median =
                group_median(all, predicted, g, row_key(&all->rows[i], g), errors, &count);
            hm__text_addf(out, "%-24s %5zu %11.1f %%\n", row_key(&all->rows[i], g), count,
                          100 * median);
        }
    }
}

int validate_platforms(const char *path, bool json, const struct hm_catalog *catalog)
{
    struct hm_platform_rows all = {0};
    struct hm_text out = {0};
    struct hm_err err = {0};
    double *values = NULL;
    char *text = NULL;
    size_t length = 0;
    int rc = path ? hm__read_file(path, &text, &length, &err) : 0;

    if (rc == 0)
        rc = hm__platform_rows_read(catalog, text, length, path, &all, &err);
    hm_text_free(text);
    if (rc == 0 && !(values = calloc(2 * all.count + 1, sizeof(*values))))
        return cli_complain("out of memory");
    for (size_t i = 0; rc == 0 && i < all.count; i++) {
        struct hm_point p;
        rc = hm__predict_platform(all.rows[i].job, &all.rows[i].way, all.rows[i].n, NULL, &p, &err);
        values[i] = p.time_s;
    }
    if (rc)
        rc = cli_report(&err);
    else {
        (json ? put_json : put_text)(&out, &all, values, values + all.count);
        rc = cli_put_text(&out);
    }
    free(values);
    hm__platform_rows_release(&all);
    return rc;
}
