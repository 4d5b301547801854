/*
 * Shows how much a single measured step improves the predictions of other steps. For each job in
 * the tables that was measured on several numbers of workers, the model is fitted only to the run
 * on the fewest workers; the fit then predicts the other runs, as `howmany plan --runs` does with a
 * table of one row.
 *
 * The constants of the model were fitted to all rows, so each measured time is multiplied by the
 * ratio of the present prediction to the prediction without the row's source. The fit then has the
 * errors that it would have for a new source.
 */
#include "validate_one.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "howmany_fit.h"
#include "order.h"
#include "predict.h"
#include "validate_kinds.h"

/* The prediction for one row, before and after the model is fitted to one run of the same job. */
struct one_row {
    const char *source;
    double before, after; /* ln(predicted / measured), before and after the fit to one run. */
    /* Ratio of the upper to the lower end of the interval, before and after the fit to one run. */
    double before_width, after_width;
    bool covered;
};

/*
 * Scales the measured time of a row so that its error is the error of a model whose constants were
 * fitted to all sources except the source of the row.
 */
static int unseen_seconds(const struct hm_measured_step *s, double *ret_predicted,
                          double *ret_seconds, struct hm_err *err)
{
    struct hm_point p;
    int rc = hm__predict_step(s->job, NULL, s->n, NULL, &p, err);

    if (rc == 0) {
        *ret_predicted = p.time_s;
        *ret_seconds = s->seconds * p.time_s / s->held_out_s;
    }
    return rc;
}

/* Predicts row `s` with a fit to the row `first`, which measures the same job on fewer workers. */
static int predict_row(const struct hm_measured_step *first, const struct hm_measured_step *s,
                       struct one_row *ret_row, struct hm_err *err)
{
    const struct hm_fit_settings settings = {.job = first->job};
    enum hm_sheet_kind kind = hm__sheet_kind(s->job, &s->job->cluster, &s->way, s->n);
    struct hm_interval before = hm__sheet_interval(&hm__sheet_errors[kind]);
    double predicted, seconds, first_predicted, first_s;
    struct hm_prediction p;
    struct hm_runs *runs = NULL;
    struct hm_fit *fit = NULL;
    int rc = unseen_seconds(first, &first_predicted, &first_s, err);

    if (rc == 0)
        rc = unseen_seconds(s, &predicted, &seconds, err);
    if (rc == 0)
        rc = hm_runs_new(&first->n, &first_s, 1, NULL, 0, &runs, err);
    if (rc == 0)
        rc = hm_fit_new(runs, &settings, &fit, err);
    if (rc == 0)
        rc = hm_fit_predict(fit, NULL, 0, &s->n, 1, &p, err);
    if (rc == 0)
        *ret_row = (struct one_row){.source = s->source,
                                    .before = log(predicted / seconds),
                                    .after = log(p.time_s / seconds),
                                    .before_width = before.high / before.low,
                                    .after_width = p.high_s / p.low_s,
                                    .covered = seconds >= p.low_s && seconds <= p.high_s};
    hm_fit_free(fit);
    hm_runs_free(runs);
    return rc;
}

/* Returns the row with the fewest workers that has the same job as row i. */
static const struct hm_measured_step *row_with_fewest(const struct hm_measured_steps *steps,
                                                      size_t i)
{
    const struct hm_measured_step *best = &steps->rows[i];

    for (size_t k = 0; k < steps->count; k++)
        if (steps->rows[k].n < best->n && step_same_job(&steps->rows[k], &steps->rows[i]))
            best = &steps->rows[k];
    return best;
}

struct one_rows {
    struct one_row *rows;
    size_t count;
};

static int read_rows(struct one_rows *all, const struct hm_measured_steps *steps,
                     struct hm_err *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < steps->count; i++) {
        const struct hm_measured_step *s = &steps->rows[i], *first = row_with_fewest(steps, i);
        if (first == s || first->n == s->n || !(s->held_out_s > 0) ||
            s->way.platform != HM_PLATFORM_JOB)
            continue;
        rc = predict_row(first, s, &all->rows[all->count++], err);
    }
    return rc;
}

/*
 * Returns the median of one member of struct one_row, at `offset` in the struct, over the rows of
 * `source`, or over all rows if `source` is NULL.
 */
static double rows_median(const struct one_rows *all, const char *source, size_t offset,
                          double *values)
{
    size_t count = 0;

    for (size_t i = 0; i < all->count; i++)
        if (!source || strcmp(all->rows[i].source, source) == 0)
            values[count++] = fabs(*(const double *)((const char *)&all->rows[i] + offset));
    return hm__values_median(values, count);
}

static void put_source(struct hm_text *out, struct hm_json *json, const struct one_rows *all,
                       const char *source, double *values)
{
    const double before = expm1(rows_median(all, source, offsetof(struct one_row, before), values));
    const double after = expm1(rows_median(all, source, offsetof(struct one_row, after), values));
    const double was = rows_median(all, source, offsetof(struct one_row, before_width), values);
    const double is = rows_median(all, source, offsetof(struct one_row, after_width), values);
    size_t rows = 0, covered = 0;

    for (size_t i = 0; i < all->count; i++)
        if (!source || strcmp(all->rows[i].source, source) == 0) {
            rows++;
            covered += all->rows[i].covered;
        }
    if (json) {
        hm__json_open(json, NULL, HM_JSON_OBJECT);
        hm__json_put_text(json, "source", source ? source : "all");
        hm__json_put_number(json, "rows", (double)rows);
        hm__json_put_number(json, "median_error_before", before);
        hm__json_put_number(json, "median_error", after);
        hm__json_put_number(json, "width_before", was);
        hm__json_put_number(json, "width", is);
        hm__json_put_number(json, "covered", (double)covered / (double)rows);
        hm__json_close(json);
    } else {
        hm__text_addf(out, "%-36.36s %5zu %11.1f %% %11.1f %% %8.2f %8.2f %7.0f %%\n",
                      source ? source : "all", rows, 100 * before, 100 * after, was, is,
                      100 * (double)covered / (double)rows);
    }
}

static void put_sources(struct hm_text *out, struct hm_json *json, const struct one_rows *all,
                        double *values)
{
    for (size_t i = 0; i < all->count; i++) {
        bool seen = false;
        for (size_t k = 0; k < i && !seen; k++)
            seen = strcmp(all->rows[k].source, all->rows[i].source) == 0;
        if (!seen)
            put_source(out, json, all, all->rows[i].source, values);
    }
    if (all->count)
        put_source(out, json, all, NULL, values);
}

int validate_one(struct hm_text *out, struct hm_json *json, const struct hm_measured_steps *steps,
                 struct hm_err *err)
{
    struct one_rows all = {.rows = calloc(steps->count + 1, sizeof(*all.rows))};
    double *values = calloc(steps->count + 1, sizeof(*values));
    int rc = all.rows && values ? read_rows(&all, steps, err) : HM_E_NOMEM;

    if (rc == 0 && json) {
        hm__json_open(json, "one_step", HM_JSON_LIST | HM_JSON_LINES);
        put_sources(NULL, json, &all, values);
        hm__json_close(json);
    } else if (rc == 0) {
        hm__text_addf(out, "\n%-36s %5s %13s %13s %8s %8s %9s\n", "one measured step, source",
                      "rows", "error before", "after", "width", "after", "covered");
        put_sources(out, NULL, &all, values);
    }
    free(values);
    free(all.rows);
    return rc;
}
