/* Recommendations for machines: JSON with the names of the struct, and CSV of the candidates. */
#include "recommend_render.h"

#include "err.h"

static const char *way_name(enum hm_recommend_way way)
{
    static const char *const names[] = {[HM_RECOMMEND_ROWS] = "rows",
                                        [HM_RECOMMEND_FIT] = "fit",
                                        [HM_RECOMMEND_MODEL] = "model",
                                        [HM_RECOMMEND_NONE] = "none"};
    return names[way];
}

static const char *goal_name(enum hm_goal goal)
{
    return goal == HM_GOAL_COST ? "cost" : goal == HM_GOAL_BALANCE ? "balance" : "time";
}

static void json_candidates(struct hm_text *out, const struct hm_recommendation *r)
{
    hm__text_add(out, ",\n\"candidates\":[");
    for (size_t i = 0; i < r->candidate_count; i++) {
        const struct hm_recommended *c = &r->candidates[i];
        hm__text_add(out, i ? ",\n  {\"n\":" : "\n  {\"n\":");
        hm__json_number(out, c->n);
        hm__json_field(out, "time_s", c->time_s);
        hm__json_field(out, "low_s", c->low_s);
        hm__json_field(out, "high_s", c->high_s);
        hm__json_field(out, "cost", c->cost);
        hm__json_field(out, "value", c->value);
        hm__text_addf(out, ",\"rows\":%zu", c->rows);
        hm__json_flag(out, "fits", c->fits);
        hm__json_flag(out, "failed", c->failed);
        hm__json_named(out, "why", c->why);
        hm__text_add(out, "}");
    }
    hm__text_add(out, "]");
}

/* {"n":3,"batch":6400,…}, or null. */
static void json_next(struct hm_text *out, const struct hm_recommendation *r)
{
    hm__text_add(out, ",\n\"next\":");
    if (r->next_count == 0)
        hm__text_add(out, "null");
    for (size_t i = 0; i < r->next_count; i++) {
        hm__text_add(out, i ? "," : "{");
        hm__json_text(out, r->next[i].name);
        hm__text_add(out, ":");
        hm__json_number(out, r->next[i].value);
    }
    hm__text_add(out, r->next_count ? "}" : "");
    hm__json_named(out, "next_why", r->next_why);
}

static void render_json(struct hm_text *out, const struct hm_recommendation *r)
{
    hm__text_add(out, "{\"howmany\":");
    hm__json_text(out, HM_VERSION);
    hm__json_named(out, "way", way_name(r->way));
    hm__json_named(out, "source", r->source);
    hm__json_named(out, "reason", r->reason);
    hm__json_named(out, "goal", goal_name(r->goal));
    hm__json_field(out, "level", r->level);
    if (r->best == HM_NONE)
        hm__text_add(out, ",\"best\":null");
    else
        hm__text_addf(out, ",\"best\":%zu", r->best);
    hm__json_field(out, "sure", r->sure);
    hm__json_named(out, "missed", r->missed);
    json_candidates(out, r);
    hm__text_add(out, ",\n\"rows\":[");
    for (size_t i = 0; i < r->row_count; i++)
        hm__text_addf(out, "%s%zu", i ? "," : "", r->rows[i]);
    hm__text_add(out, "]");
    json_next(out, r);
    hm__json_texts(out, "notes", r->notes, r->note_count);
    hm__text_add(out, "}\n");
}

static void render_csv(struct hm_text *out, const struct hm_recommendation *r)
{
    hm__text_add(out, "n,time_s,low_s,high_s,cost,value,rows,fits,failed,why\n");
    for (size_t i = 0; i < r->candidate_count; i++) {
        const struct hm_recommended *c = &r->candidates[i];
        hm__json_number(out, c->n);
        hm__csv_number(out, c->time_s);
        hm__csv_number(out, c->low_s);
        hm__csv_number(out, c->high_s);
        hm__csv_number(out, c->cost);
        hm__csv_number(out, c->value);
        hm__text_addf(out, ",%zu,%s,%s,", c->rows, c->fits ? "true" : "false",
                      c->failed ? "true" : "false");
        hm__csv_text(out, c->why);
        hm__text_add(out, "\n");
    }
}

int hm_recommendation_render(const struct hm_recommendation *r, enum hm_format format,
                             const struct hm_style *style, char **ret_text, struct hm_err *err)
{
    struct hm_text out = {0};
    int rc = 0;

    switch (format) {
    case HM_FORMAT_JSON:
        render_json(&out, r);
        break;
    case HM_FORMAT_CSV:
        render_csv(&out, r);
        break;
    case HM_FORMAT_GNUPLOT:
        rc = hm__fail(err, HM_E_CONFLICT, "a recommendation has no picture");
        break;
    default:
        hm__render_recommendation_text(&out, r, style);
        break;
    }
    if (rc == 0)
        rc = hm__text_take(&out, ret_text, err);
    hm__text_release(&out);
    return rc;
}
