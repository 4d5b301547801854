/* Choosing a renderer, and the machine-readable formats: JSON and CSV. */
#include "render.h"

#include "err.h"
#include "format.h"

/* Fields that only some answers have: of stragglers, and of servers. */
struct more_field {
    const char *name;
    bool there;
    double value;
};

enum { MORE_FIELDS = 2 };

static void more_fields(const struct hm_answer *a, const struct hm_point *p,
                        struct more_field fields[MORE_FIELDS])
{
    fields[0] = (struct more_field){"wait_s", a->uneven, p->wait_s};
    fields[1] =
        (struct more_field){"server_share", a->way.platform == HM_PLATFORM_SERVER, p->server_share};
}

static void json_point_fields(struct hm_text *out, const struct hm_answer *a,
                              const struct hm_point *p)
{
    struct more_field more[MORE_FIELDS];
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
        hm__text_add(out, i ? ",\"" : "\"");
        hm__text_add(out, fields[i].name);
        hm__text_add(out, "\":");
        hm__json_known(out, fields[i].value);
    }
    hm__text_add(out, ",\"scheme\":");
    hm__json_text(out, p->scheme == HM_SCHEME_BEST ? NULL : hm_scheme_name(p->scheme));
    hm__text_add(out, p->fits ? ",\"fits\":true" : ",\"fits\":false");
    more_fields(a, p, more);
    for (size_t i = 0; i < MORE_FIELDS; i++) {
        if (!more[i].there)
            continue;
        hm__text_addf(out, ",\"%s\":", more[i].name);
        hm__json_known(out, more[i].value);
    }
}

static void json_point(struct hm_text *out, const struct hm_answer *a, const char *key,
                       const struct hm_point *points, size_t index)
{
    hm__text_addf(out, ",\n\"%s\":", key);
    if (index == HM_NONE) {
        hm__text_add(out, "null");
        return;
    }
    hm__text_add(out, "{");
    json_point_fields(out, a, &points[index]);
    hm__text_add(out, "}");
}

static void json_named(struct hm_text *out, const char *key, const char *text)
{
    hm__text_addf(out, ",\n\"%s\":", key);
    hm__json_text(out, text);
}

/* ,"key":value — so that it never stands first in an object */
static void json_valued(struct hm_text *out, const char *key, double value)
{
    hm__text_addf(out, ",\"%s\":", key);
    hm__json_known(out, value);
}

/* The keys of a way, where a platform was asked for. */
static void json_way(struct hm_text *out, const struct hm_way *way, double samples_per_s,
                     double saturates_n, double servers_enough)
{
    bool server = way->platform == HM_PLATFORM_SERVER;

    hm__text_add(out, ",\"platform\":");
    hm__json_text(out, hm_platform_name(way->platform));
    hm__text_add(out, ",\"consistency\":");
    hm__json_text(out, hm_consistency_name(way->consistency));
    json_valued(out, "staleness", way->consistency == HM_CONSISTENCY_SSP ? way->staleness : -1);
    json_valued(out, "servers", server ? way->servers : -1);
    hm__text_addf(out, ",\"colocated\":%s", way->colocated ? "true" : "false");
    json_valued(out, "backups", way->backups);
    json_valued(out, "stale_cost", way->stale_cost > 0 ? way->stale_cost : -1);
    json_valued(out, "samples_per_s", samples_per_s);
    json_valued(out, "saturates_n", saturates_n > 0 ? saturates_n : -1);
    json_valued(out, "servers_enough", servers_enough > 0 ? servers_enough : -1);
}

static void json_head(struct hm_text *out, const struct hm_answer *a)
{
    static const char *const statuses[] = {"ok", "no-speedup", "unreached"};
    static const char *const goals[] = {"auto", "time", "cost", "balance"};

    hm__text_add(out, "{\"howmany\":");
    hm__json_text(out, HM_VERSION);
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
    if (a->way.platform != HM_PLATFORM_JOB)
        json_way(out, &a->way, a->samples_per_s, a->saturates_n, a->servers_enough);
}

static void json_reasons(struct hm_text *out, const struct hm_answer *a)
{
    hm__text_add(out, ",\n\"limit\":{\"kind\":");
    hm__json_text(out, hm_limit_name(a->limit));
    json_valued(out, "share", a->limit_share);
    hm__text_add(out, ",\"why\":");
    hm__json_text(out, a->why);
    hm__text_add(out, "},\n\"help\":[");
    for (size_t i = 0; i < a->help_count; i++) {
        const struct hm_help *h = &a->help[i];
        hm__text_addf(out, "%s{\"what\":", i ? ",\n  " : "");
        hm__json_text(out, h->what);
        json_valued(out, "n", h->n);
        json_valued(out, "time_s", h->time_s);
        json_valued(out, "speedup", h->speedup);
        json_valued(out, "gain", h->gain);
        hm__text_add(out, "}");
    }
    hm__text_add(out, "]");
}

static void json_ranking(struct hm_text *out, const struct hm_answer *a)
{
    hm__text_add(out, ",\n\"ranking\":[");
    for (size_t i = 0; i < a->rank_count; i++) {
        const struct hm_rank *r = &a->ranking[i];
        hm__text_addf(out, "%s{\"machine\":", i ? ",\n  " : "");
        hm__json_text(out, r->machine);
        hm__text_add(out, ",\"scheme\":");
        hm__json_text(out, r->scheme);
        hm__text_addf(out, ",\"feasible\":%s", r->feasible ? "true" : "false");
        json_valued(out, "n", r->n);
        json_valued(out, "time_s", r->time_s);
        json_valued(out, "speedup", r->speedup);
        json_valued(out, "total_s", r->total_s);
        json_valued(out, "cost", r->cost);
        if (r->way.platform != HM_PLATFORM_JOB)
            json_way(out, &r->way, r->samples_per_s, r->saturates_n, r->servers_enough);
        hm__text_add(out, ",\"why\":");
        hm__json_text(out, r->why);
        hm__text_add(out, "}");
    }
    hm__text_add(out, "]");
}

static void json_points(struct hm_text *out, const char *key, const struct hm_answer *a,
                        const size_t *indices, size_t count)
{
    hm__text_addf(out, ",\n\"%s\":[", key);
    for (size_t i = 0; i < count; i++) {
        hm__text_add(out, i ? ",\n  {" : "\n  {");
        json_point_fields(out, a, &a->points[indices ? indices[i] : i]);
        hm__text_add(out, "}");
    }
    hm__text_add(out, "]");
}

static void json_miss(struct hm_text *out, const struct hm_answer *a)
{
    bool work = a->missed && a->missed[0] == 'w';

    json_named(out, "missed", a->missed);
    json_point(out, a, "nearest", work ? a->work_points : a->points, a->nearest);
    json_valued(out, "nearest_gap", a->missed ? a->nearest_gap : -1);
}

void hm__render_json(struct hm_text *out, const struct hm_answer *a)
{
    json_head(out, a);
    json_point(out, a, "best", a->points, a->best);
    json_point(out, a, "knee", a->points, a->knee);
    json_point(out, a, "in_deadline", a->points, a->in_deadline);
    json_point(out, a, "in_budget", a->points, a->in_budget);
    json_point(out, a, "faster", a->points, a->faster);
    json_point(out, a, "work", a->work_points, a->work);
    json_miss(out, a);
    hm__text_add(out, ",\n\"plateau\":{\"from\":");
    hm__json_known(out, a->best == HM_NONE ? -1 : a->plateau_from);
    json_valued(out, "to", a->best == HM_NONE ? -1 : a->plateau_to);
    hm__text_addf(out,
                  "},\n\"at_ceiling\":%s,\n\"beyond\":{\"n\":", a->at_ceiling ? "true" : "false");
    hm__json_known(out, a->beyond_n > 0 ? a->beyond_n : -1);
    json_valued(out, "speedup", a->beyond_n > 0 ? a->beyond_speedup : -1);
    hm__text_add(out, "},\n\"sure\":");
    hm__json_known(out, a->sure);
    json_valued(out, "sure_near", a->sure_near);
    json_valued(out, "level", a->level > 0 ? a->level : -1);
    json_valued(out, "n_low", a->level > 0 ? a->n_low : -1);
    json_valued(out, "n_high", a->level > 0 ? a->n_high : -1);
    json_reasons(out, a);
    json_ranking(out, a);
    hm__json_texts(out, "notes", a->notes, a->note_count);
    json_points(out, "pareto", a, a->pareto, a->pareto_count);
    json_points(out, "curve", a, NULL, a->point_count);
    hm__text_add(out, "}\n");
}

static void csv_known(struct hm_text *out, double value, const char *end)
{
    if (value >= 0)
        hm__json_number(out, value);
    hm__text_add(out, end);
}

/* The way of the answer, the same on every line. */
static void csv_way(struct hm_text *out, const struct hm_way *way)
{
    hm__text_addf(out, ",%s,%s,", hm_platform_name(way->platform),
                  hm_consistency_name(way->consistency));
    csv_known(out, way->consistency == HM_CONSISTENCY_SSP ? way->staleness : -1, ",");
    csv_known(out, way->platform == HM_PLATFORM_SERVER ? way->servers : -1, ",");
    csv_known(out, way->backups, "");
}

void hm__render_csv(struct hm_text *out, const struct hm_answer *a)
{
    const bool way = a->way.platform != HM_PLATFORM_JOB;
    struct more_field more[MORE_FIELDS];

    hm__text_add(
        out, "n,nodes,time_s,low_s,high_s,compute_s,communicate_s,latency_s,bandwidth_s,speedup,"
             "efficiency,total_s,cost,memory_bytes,imbalance,scheme,fits");
    more_fields(a, a->points, more);
    for (size_t k = 0; k < MORE_FIELDS; k++)
        hm__text_addf(out, "%s%s", more[k].there ? "," : "", more[k].there ? more[k].name : "");
    hm__text_addf(out, "%s\n", way ? ",platform,consistency,staleness,servers,backups" : "");
    for (size_t i = 0; i < a->point_count; i++) {
        const struct hm_point *p = &a->points[i];
        const double values[] = {p->n,           p->nodes,        p->time_s,        p->low_s,
                                 p->high_s,      p->compute_s,    p->communicate_s, p->latency_s,
                                 p->bandwidth_s, p->speedup,      p->efficiency,    p->total_s,
                                 p->cost,        p->memory_bytes, p->imbalance};
        for (size_t k = 0; k < sizeof(values) / sizeof(values[0]); k++)
            csv_known(out, values[k], ",");
        hm__text_addf(out, "%s,%s", p->scheme == HM_SCHEME_BEST ? "" : hm_scheme_name(p->scheme),
                      p->fits ? "true" : "false");
        more_fields(a, p, more);
        for (size_t k = 0; k < MORE_FIELDS; k++)
            if (more[k].there) {
                hm__text_add(out, ",");
                csv_known(out, more[k].value, "");
            }
        if (way)
            csv_way(out, &a->way);
        hm__text_add(out, "\n");
    }
}

int hm_answer_render(const struct hm_answer *answer, enum hm_format format,
                     const struct hm_style *style, char **ret_text, struct hm_err *err)
{
    struct hm_text out = {0};
    int rc = 0;

    switch (format) {
    case HM_FORMAT_TEXT:
        hm__render_text(&out, answer, style);
        if (style->table)
            hm__render_table(&out, answer, style);
        if (style->chart)
            hm__render_chart(&out, answer, style);
        break;
    case HM_FORMAT_JSON:
        hm__render_json(&out, answer);
        break;
    case HM_FORMAT_CSV:
        hm__render_csv(&out, answer);
        break;
    case HM_FORMAT_GNUPLOT:
        rc = hm__render_gnuplot(&out, answer, style->file, err);
        break;
    }
    if (rc) {
        hm__text_release(&out);
        return rc;
    }
    return hm__text_take(&out, ret_text, err);
}
