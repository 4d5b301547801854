/* Renders recommendations for other programs: as JSON, and the candidates as CSV. */
#include "recommend_render.h"
#include "choice_plot.h"

#include "checks.h"
#include "err.h"
#include "names.h"

static void json_recommended(struct hm_json *json, const char *key, const struct hm_recommended *c)
{
    hm__json_open(json, key, HM_JSON_OBJECT);
    hm__json_put_number(json, "n", c->n);
    hm__json_put_number(json, "time_s", c->time_s);
    hm__json_put_number(json, "low_s", c->low_s);
    hm__json_put_number(json, "high_s", c->high_s);
    hm__json_put_number(json, "cost", c->cost);
    hm__json_put_number(json, "value", c->value);
    hm__json_put_number(json, "row_count", (double)c->row_count);
    hm__json_put_number(json, "meets", c->meets);
    hm__json_put_bool(json, "feasible", c->feasible);
    hm__json_put_bool(json, "failed", c->failed);
    hm__json_put_text(json, "why", c->why);
    hm__json_close(json);
}

static void json_candidates(struct hm_json *json, const struct hm_recommendation *r)
{
    hm__json_open(json, "candidates", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < r->candidate_count; i++)
        json_recommended(json, NULL, &r->candidates[i]);
    hm__json_close(json);
}

static void json_recommended_rows(struct hm_json *json, const struct hm_recommendation *r)
{
    hm__json_open(json, "rows", HM_JSON_LIST);
    for (size_t i = 0; i < r->row_count; i++)
        hm__json_put_number(json, NULL, (double)r->rows[i]);
    hm__json_close(json);
}

/*
 * Writes the run that would improve the recommendation most as JSON, such as
 * {"n":3,"batch":6400,…}, or null if there is none.
 */
static void json_recommended_next(struct hm_json *json, const struct hm_recommendation *r)
{
    if (r->next_count == 0)
        hm__json_put_null(json, "next");
    else {
        hm__json_open(json, "next", HM_JSON_OBJECT);
        for (size_t i = 0; i < r->next_count; i++)
            hm__json_put_number(json, r->next[i].name, r->next[i].value);
        hm__json_close(json);
    }
    hm__json_put_text(json, "next_why", r->next_why);
}

/*
 * Returns the status of a recommendation: "unreached" if no candidate meets the limits; "unknown"
 * if no time could be predicted for any candidate.
 */
static const char *recommendation_status(const struct hm_recommendation *r)
{
    if (r->best < r->candidate_count)
        return hm__status_name(HM_STATUS_OK);
    return r->provenance == HM_RECOMMEND_NONE ? "unknown" : hm__status_name(HM_STATUS_UNREACHED);
}

static void recommendation_json(struct hm_text *out, const struct hm_recommendation *r)
{
    struct hm_json json = {.out = out};

    hm__json_open_answer(&json);
    hm__json_put_text(&json, "status", recommendation_status(r));
    hm__json_put_text(&json, "provenance", hm__recommend_way_name(r->provenance));
    hm__json_put_text(&json, "source", r->source);
    hm__json_put_text(&json, "reason", r->reason);
    hm__json_put_text(&json, "goal", hm__goal_name(r->goal));
    hm__json_put_number(&json, "level", r->level);
    if (r->best >= r->candidate_count)
        hm__json_put_null(&json, "best");
    else
        json_recommended(&json, "best", &r->candidates[r->best]);
    if (r->recommended >= r->candidate_count)
        hm__json_put_null(&json, "recommended");
    else
        json_recommended(&json, "recommended", &r->candidates[r->recommended]);
    hm__json_put_number(&json, "sure", r->sure);
    hm__json_put_number(&json, "sure_near", r->sure_near);
    hm__json_put_number(&json, "slack", r->slack);
    hm__json_put_number(&json, "n_low", r->n_low);
    hm__json_put_number(&json, "n_high", r->n_high);
    hm__json_put_number(&json, "certainty", r->certainty);
    hm__json_put_text(&json, "missed", r->missed);
    json_candidates(&json, r);
    json_recommended_rows(&json, r);
    json_recommended_next(&json, r);
    hm__json_put_texts(&json, "notes", r->notes, r->note_count);
    hm__json_close_answer(&json);
}

static void recommendation_csv(struct hm_text *out, const struct hm_recommendation *r)
{
    hm__text_add(out, "n,time_s,low_s,high_s,cost,value,row_count,meets,feasible,failed,why\n");
    for (size_t i = 0; i < r->candidate_count; i++) {
        const struct hm_recommended *c = &r->candidates[i];
        hm__json_number(out, c->n);
        hm__csv_number(out, c->time_s);
        hm__csv_number(out, c->low_s);
        hm__csv_number(out, c->high_s);
        hm__csv_number(out, c->cost);
        hm__csv_number(out, c->value);
        hm__text_addf(out, ",%zu", c->row_count);
        hm__csv_number(out, c->meets);
        hm__text_addf(out, ",%s,%s,", c->feasible ? "true" : "false", c->failed ? "true" : "false");
        hm__csv_text(out, c->why);
        hm__text_add(out, "\n");
    }
}

int hm_recommendation_render(const struct hm_recommendation *r, enum hm_format format,
                             const struct hm_style *style, char **ret_text, struct hm_err *err)
{
    int bad = hm__check_pointers(err, "recommendation", r, "ret_text", ret_text, NULL);
    if (bad == 0)
        bad = hm__check_format(format, err);
    if (bad)
        return bad;
    const struct hm_style own = hm__style_or_default(style);
    struct hm_text out = {0};

    switch (format) {
    case HM_FORMAT_JSON:
        recommendation_json(&out, r);
        break;
    case HM_FORMAT_CSV:
        recommendation_csv(&out, r);
        break;
    case HM_FORMAT_GNUPLOT:
        bad = hm__plot_recommendation(&out, r, own.file, err);
        break;
    case HM_FORMAT_TEXT:
        hm__render_recommendation_text(&out, r, &own);
        break;
    }
    if (bad) {
        hm__text_release(&out);
        return bad;
    }
    return hm__text_take(&out, ret_text, err);
}
