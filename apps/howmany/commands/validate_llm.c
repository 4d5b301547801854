/*
 * Predicts measured training steps of large networks. Each row is predicted with constants that
 * were fitted without the rows of its source, so the errors show what to expect for a new source.
 */
#include "validate_llm.h"

#include <math.h>
#include <stdlib.h>

#include "cli.h"
#include "format.h"
#include "large_validate.h"
#include "read_large.h"

enum { LAYOUT_TEXT = 160 };

static const char *outcome_name(enum hm_large_outcome outcome)
{
    return outcome == HM_LARGE_RAN ? "ran" : outcome == HM_LARGE_OOM ? "oom" : "failed";
}

/* Names of the values of enum hm_large_group. */
static const char *const groups[] = {"old", "hopper", "blackwell", "plain", "experts"};

static double row_error(const struct hm_large_prediction *p)
{
    return p->time_s / p->row->time_s - 1;
}

static void add_row(struct hm_text *out, const struct hm_large_prediction *p)
{
    const struct hm_large_row *row = p->row;
    char layout[LAYOUT_TEXT], measured[HM_SHOWN], ours[HM_SHOWN], low[HM_SHOWN], high[HM_SHOWN];

    hm_layout_text(&row->layout, layout, sizeof(layout));
    hm__text_addf(out, "%-19s %-16.16s %-13s %6.0f  %-38s", row->source, row->model, row->device,
                  hm__layout_workers(&row->layout), layout);
    if (row->time_s > 0)
        hm__text_addf(out, " %9s %9s %9s %9s %+7.1f %%%s", hm__show_time(row->time_s, measured),
                      hm__show_time(p->time_s, ours), hm__show_time(p->low_s, low),
                      hm__show_time(p->high_s, high), 100 * row_error(p),
                      p->healthy ? "" : " (not compared)");
    else
        hm__text_addf(out, " %9s, predicted to %s", outcome_name(row->outcome),
                      p->fits ? "fit" : "exceed the memory");
    hm__text_add(out, "\n");
}

/* Adds a share as a percentage, or spaces if it is unknown. */
static void add_share(struct hm_text *out, double share)
{
    if (isnan(share))
        hm__text_addf(out, " %9s", "-");
    else
        hm__text_addf(out, " %7.1f %%", 100 * share);
}

static void add_score(struct hm_text *out, const struct hm_large_score *s)
{
    hm__text_addf(out, "%-19s %5.0f", s->source ? s->source : "all", s->rows);
    add_share(out, s->mean);
    add_share(out, s->median);
    add_share(out, s->inside);
    hm__text_addf(out, " %6.0f", s->memory_rows);
    add_share(out, s->memory_median);
    add_share(out, s->outcomes_right);
    hm__text_add(out, "\n");
}

static void add_text(struct hm_text *out, const struct hm_large_prediction *p, size_t count,
                     const struct hm_large_score *scores, size_t score_count)
{
    hm__text_addf(out, "%-19s %-16s %-13s %6s  %-38s %9s %9s %9s %9s %9s\n", "source", "network",
                  "device", "n", "layout", "measured", "predicted", "low", "high", "error");
    for (size_t i = 0; i < count; i++)
        add_row(out, &p[i]);
    hm__text_addf(out, "\n%-19s %5s %9s %9s %9s %6s %9s %9s\n", "source", "rows", "mean", "median",
                  "inside", "memory", "median", "outcomes");
    for (size_t i = 0; i < score_count; i++)
        add_score(out, &scores[i]);
    hm__text_add(out,
                 "\nEach source is predicted by constants fitted without it. mean, median: "
                 "absolute error of the step.\ninside: share of the measured steps in the 90 % "
                 "interval. outcomes: runs and failures foretold by memory.\n");
}

static void put_row(struct hm_json *json, const struct hm_large_prediction *p)
{
    char layout[LAYOUT_TEXT];

    hm_layout_text(&p->row->layout, layout, sizeof(layout));
    hm__json_open(json, NULL, HM_JSON_OBJECT);
    hm__json_put_text(json, "source", p->row->source);
    hm__json_put_text(json, "network", p->row->model);
    hm__json_put_text(json, "device", p->row->device);
    hm__json_put_number(json, "n", hm__layout_workers(&p->row->layout));
    hm__json_put_text(json, "layout", layout);
    hm__json_put_text(json, "outcome", outcome_name(p->row->outcome));
    hm__json_put_text(json, "group", groups[p->group]);
    hm__json_put_bool(json, "compared", p->healthy);
    hm__json_put_number(json, "measured_s", p->row->time_s);
    hm__json_put_number(json, "time_s", p->time_s);
    hm__json_put_number(json, "low_s", p->low_s);
    hm__json_put_number(json, "high_s", p->high_s);
    hm__json_put_number(json, "error", row_error(p));
    hm__json_put_number(json, "measured_memory_bytes", p->row->memory_bytes);
    hm__json_put_number(json, "memory_bytes", p->memory_bytes);
    hm__json_put_bool(json, "fits", p->fits);
    hm__json_close(json);
}

static void put_score(struct hm_json *json, const struct hm_large_score *s)
{
    hm__json_open(json, NULL, HM_JSON_OBJECT);
    hm__json_put_text(json, "source", s->source);
    hm__json_put_number(json, "rows", s->rows);
    hm__json_put_number(json, "mean", s->mean);
    hm__json_put_number(json, "median", s->median);
    hm__json_put_number(json, "inside", s->inside);
    hm__json_put_number(json, "memory_rows", s->memory_rows);
    hm__json_put_number(json, "memory_median", s->memory_median);
    hm__json_put_number(json, "outcomes", s->outcomes);
    hm__json_put_number(json, "outcomes_right", s->outcomes_right);
    hm__json_close(json);
}

static void add_json(struct hm_text *out, const struct hm_large_prediction *p, size_t count,
                     const struct hm_large_score *scores, size_t score_count)
{
    struct hm_json json = {.out = out};

    hm__json_open_answer(&json);
    hm__json_open(&json, "sources", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < score_count; i++)
        put_score(&json, &scores[i]);
    hm__json_close(&json);
    hm__json_open(&json, "rows", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < count; i++)
        put_row(&json, &p[i]);
    hm__json_close(&json);
    hm__json_close_answer(&json);
}

int validate_llm(bool json)
{
    struct hm_large_score scores[HM_LARGE_SOURCES];
    struct hm_large_prediction *predictions = NULL;
    struct hm_large_rows *rows = NULL;
    struct hm_err err = {0};
    struct hm_text out = {0};
    int rc = hm__large_rows_built_in(&rows, &err) ? cli_report(&err) : 0;

    if (rc == 0 && !(predictions = calloc(rows->count, sizeof(*predictions))))
        rc = cli_complain("out of memory");
    if (rc == 0 && hm__large_predict(rows, predictions, &err))
        rc = cli_report(&err);
    if (rc == 0) {
        size_t count = hm__large_scores(predictions, rows->count, scores);
        (json ? add_json : add_text)(&out, predictions, rows->count, scores, count);
        rc = cli_put_text(&out);
    }
    free(predictions);
    hm__large_rows_free(rows);
    return rc;
}
