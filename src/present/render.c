/* Choosing a renderer, and the machine-readable formats: JSON and CSV. */
#include "render.h"

#include "err.h"
#include "format.h"

static void json_point_fields(struct hm_text *out, const struct hm_point *p)
{
    const struct {
        const char *name;
        double value;
    } fields[] = {{"n", p->n},
                  {"nodes", p->nodes},
                  {"time_s", p->time_s},
                  {"low_s", p->low_s},
                  {"high_s", p->high_s},
                  {"compute_s", p->compute_s},
                  {"communicate_s", p->communicate_s},
                  {"latency_s", p->latency_s},
                  {"bandwidth_s", p->bandwidth_s},
                  {"speedup", p->speedup},
                  {"efficiency", p->efficiency},
                  {"total_s", p->total_s},
                  {"cost", p->cost},
                  {"memory_bytes", p->memory_bytes},
                  {"imbalance", p->imbalance}};

    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        hm_text_add(out, i ? ",\"" : "\"");
        hm_text_add(out, fields[i].name);
        hm_text_add(out, "\":");
        hm_json_known(out, fields[i].value);
    }
    hm_text_add(out, ",\"scheme\":");
    hm_json_text(out, p->scheme == HM_SCHEME_BEST ? NULL : hm_scheme_name(p->scheme));
    hm_text_add(out, p->fits ? ",\"fits\":true" : ",\"fits\":false");
}

static void json_point(struct hm_text *out, const char *key, const struct hm_point *points,
                       size_t index)
{
    hm_text_addf(out, ",\n\"%s\":", key);
    if (index == HM_NONE) {
        hm_text_add(out, "null");
        return;
    }
    hm_text_add(out, "{");
    json_point_fields(out, &points[index]);
    hm_text_add(out, "}");
}

static void json_named(struct hm_text *out, const char *key, const char *text)
{
    hm_text_addf(out, ",\n\"%s\":", key);
    hm_json_text(out, text);
}

/* ,"key":value — so that it never stands first in an object */
static void json_valued(struct hm_text *out, const char *key, double value)
{
    hm_text_addf(out, ",\"%s\":", key);
    hm_json_known(out, value);
}

static void json_head(struct hm_text *out, const struct hm_answer *a)
{
    static const char *const statuses[] = {"ok", "no-speedup", "unreached"};
    static const char *const goals[] = {"auto", "time", "cost", "balance"};

    hm_text_add(out, "{\"howmany\":");
    hm_json_text(out, HM_VERSION);
    json_named(out, "status", statuses[a->status]);
    json_named(out, "job", a->job);
    json_named(out, "machine", a->machine);
    json_named(out, "network", a->fabric);
    json_named(out, "provenance", a->provenance);
    json_named(out, "goal", goals[a->goal]);
    json_named(out, "scaling", a->scaling == HM_SCALING_WEAK ? "weak" : "strong");
    json_named(out, "total_of",
               a->whole_job                    ? "job"
               : a->scaling == HM_SCALING_WEAK ? "reference-iteration"
                                               : "iteration");
    json_valued(out, "reference", a->reference);
    json_valued(out, "iterations", a->iterations > 0 ? a->iterations : -1);
    bool balance = a->goal == HM_GOAL_BALANCE;
    json_valued(out, "alpha", balance ? a->question.alpha : -1);
    json_valued(out, "beta", balance ? a->question.beta : -1);
}

static void json_reasons(struct hm_text *out, const struct hm_answer *a)
{
    hm_text_add(out, ",\n\"limit\":{\"kind\":");
    hm_json_text(out, hm_limit_name(a->limit));
    json_valued(out, "share", a->limit_share);
    hm_text_add(out, ",\"why\":");
    hm_json_text(out, a->why);
    hm_text_add(out, "},\n\"help\":[");
    for (size_t i = 0; i < a->help_count; i++) {
        const struct hm_help *h = &a->help[i];
        hm_text_addf(out, "%s{\"what\":", i ? ",\n  " : "");
        hm_json_text(out, h->what);
        json_valued(out, "n", h->n);
        json_valued(out, "time_s", h->time_s);
        json_valued(out, "speedup", h->speedup);
        json_valued(out, "gain", h->gain);
        hm_text_add(out, "}");
    }
    hm_text_add(out, "]");
}

static void json_ranking(struct hm_text *out, const struct hm_answer *a)
{
    hm_text_add(out, ",\n\"ranking\":[");
    for (size_t i = 0; i < a->rank_count; i++) {
        const struct hm_rank *r = &a->ranking[i];
        hm_text_addf(out, "%s{\"machine\":", i ? ",\n  " : "");
        hm_json_text(out, r->machine);
        hm_text_add(out, ",\"scheme\":");
        hm_json_text(out, r->scheme);
        hm_text_addf(out, ",\"feasible\":%s", r->feasible ? "true" : "false");
        json_valued(out, "n", r->n);
        json_valued(out, "time_s", r->time_s);
        json_valued(out, "speedup", r->speedup);
        json_valued(out, "total_s", r->total_s);
        json_valued(out, "cost", r->cost);
        hm_text_add(out, ",\"why\":");
        hm_json_text(out, r->why);
        hm_text_add(out, "}");
    }
    hm_text_add(out, "]");
}

static void json_points(struct hm_text *out, const char *key, const struct hm_answer *a,
                        const size_t *indices, size_t count)
{
    hm_text_addf(out, ",\n\"%s\":[", key);
    for (size_t i = 0; i < count; i++) {
        hm_text_add(out, i ? ",\n  {" : "\n  {");
        json_point_fields(out, &a->points[indices ? indices[i] : i]);
        hm_text_add(out, "}");
    }
    hm_text_add(out, "]");
}

static void json_miss(struct hm_text *out, const struct hm_answer *a)
{
    bool work = a->missed && a->missed[0] == 'w';

    json_named(out, "missed", a->missed);
    json_point(out, "nearest", work ? a->work_points : a->points, a->nearest);
    json_valued(out, "nearest_gap", a->missed ? a->nearest_gap : -1);
}

void hm_render_json(struct hm_text *out, const struct hm_answer *a)
{
    json_head(out, a);
    json_point(out, "best", a->points, a->best);
    json_point(out, "knee", a->points, a->knee);
    json_point(out, "in_deadline", a->points, a->in_deadline);
    json_point(out, "in_budget", a->points, a->in_budget);
    json_point(out, "faster", a->points, a->faster);
    json_point(out, "work", a->work_points, a->work);
    json_miss(out, a);
    hm_text_add(out, ",\n\"plateau\":{\"from\":");
    hm_json_known(out, a->best == HM_NONE ? -1 : a->plateau_from);
    json_valued(out, "to", a->best == HM_NONE ? -1 : a->plateau_to);
    hm_text_addf(out,
                 "},\n\"at_ceiling\":%s,\n\"beyond\":{\"n\":", a->at_ceiling ? "true" : "false");
    hm_json_known(out, a->beyond_n > 0 ? a->beyond_n : -1);
    json_valued(out, "speedup", a->beyond_n > 0 ? a->beyond_speedup : -1);
    hm_text_add(out, "},\n\"sure\":");
    hm_json_known(out, a->sure);
    json_valued(out, "sure_near", a->sure_near);
    json_valued(out, "level", a->level > 0 ? a->level : -1);
    json_valued(out, "n_low", a->level > 0 ? a->n_low : -1);
    json_valued(out, "n_high", a->level > 0 ? a->n_high : -1);
    json_reasons(out, a);
    json_ranking(out, a);
    hm_json_texts(out, "notes", a->notes, a->note_count);
    json_points(out, "pareto", a, a->pareto, a->pareto_count);
    json_points(out, "curve", a, NULL, a->point_count);
    hm_text_add(out, "}\n");
}

static void csv_known(struct hm_text *out, double value, const char *end)
{
    if (value >= 0)
        hm_json_number(out, value);
    hm_text_add(out, end);
}

void hm_render_csv(struct hm_text *out, const struct hm_answer *a)
{
    hm_text_add(out,
                "n,nodes,time_s,low_s,high_s,compute_s,communicate_s,latency_s,bandwidth_s,speedup,"
                "efficiency,total_s,cost,memory_bytes,imbalance,scheme,fits\n");
    for (size_t i = 0; i < a->point_count; i++) {
        const struct hm_point *p = &a->points[i];
        const double values[] = {p->n,           p->nodes,        p->time_s,        p->low_s,
                                 p->high_s,      p->compute_s,    p->communicate_s, p->latency_s,
                                 p->bandwidth_s, p->speedup,      p->efficiency,    p->total_s,
                                 p->cost,        p->memory_bytes, p->imbalance};
        for (size_t k = 0; k < sizeof(values) / sizeof(values[0]); k++)
            csv_known(out, values[k], ",");
        hm_text_addf(out, "%s,%s\n", p->scheme == HM_SCHEME_BEST ? "" : hm_scheme_name(p->scheme),
                     p->fits ? "true" : "false");
    }
}

int hm_answer_render(const struct hm_answer *answer, enum hm_format format,
                     const struct hm_style *style, char **ret_text, struct hm_err *err)
{
    struct hm_text out = {0};
    int rc = 0;

    switch (format) {
    case HM_FORMAT_TEXT:
        hm_render_text(&out, answer, style);
        if (style->table)
            hm_render_table(&out, answer, style);
        if (style->chart)
            hm_render_chart(&out, answer, style);
        break;
    case HM_FORMAT_JSON:
        hm_render_json(&out, answer);
        break;
    case HM_FORMAT_CSV:
        hm_render_csv(&out, answer);
        break;
    case HM_FORMAT_GNUPLOT:
        rc = hm_render_gnuplot(&out, answer, style->file, err);
        break;
    }
    if (rc) {
        hm_text_release(&out);
        return rc;
    }
    return hm_text_take(&out, ret_text, err);
}
