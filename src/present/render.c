/* Renders an answer as JSON and CSV, and selects the renderer for the other formats. */
#include "render.h"

#include <math.h>
#include <string.h>

#include "checks.h"
#include "err.h"
#include "format.h"
#include "names.h"

enum { DEFAULT_WIDTH = 80 };

struct hm_style hm__style_or_default(const struct hm_style *style)
{
    struct hm_style own = style ? *style : (struct hm_style){0};

    if (own.width == 0)
        own.width = DEFAULT_WIDTH;
    return own;
}

const char *const hm__alternative_names[HM_ALTERNATIVES] = {"cheapest", "balanced", "fastest"};

struct hm_answer hm__answer_of_alternative(const struct hm_answer *a, size_t kind)
{
    const struct hm_plan_alternative *of = &a->alternatives[kind];
    struct hm_answer other = *a;

    other.machine = of->machine;
    other.accelerators = of->accelerators;
    other.gpus = of->gpus;
    other.memory_bytes = of->memory_bytes;
    other.way = of->way;
    other.kinds = of->kinds;
    other.kind_count = of->kind_count;
    return other;
}

/*
 * Name and value of a quantity at one point of the curve; a negative value or NaN means that the
 * quantity is unknown.
 */
struct point_field {
    const char *name;
    double value;
};

/*
 * Number of quantities that every point has, and largest number of quantities that
 * point_extra_fields adds.
 */
enum { POINT_FIELDS = 19, POINT_EXTRA_FIELDS = 2 };

/* Lists the quantities of a point of the curve, in the order of JSON keys and CSV columns. */
static void point_list_fields(const struct hm_answer *a, const struct hm_point *p,
                              struct point_field fields[POINT_FIELDS])
{
    const struct point_field all[POINT_FIELDS] = {{"n", p->n},
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
                                                  {"node_s", p->nodes * p->total_s},
                                                  {"cost", p->cost},
                                                  {"meets", p->meets},
                                                  {"memory_bytes", p->memory_bytes},
                                                  {"memory_limit_bytes", a->memory_bytes},
                                                  {"micro_batch", p->micro_batch},
                                                  {"imbalance", p->imbalance}};

    memcpy(fields, all, sizeof(all));
}

/*
 * Lists the quantities that exist only in jobs with stragglers or only with parameter servers;
 * returns their number.
 */
static size_t point_extra_fields(const struct hm_answer *a, const struct hm_point *p,
                                 struct point_field fields[POINT_EXTRA_FIELDS])
{
    size_t count = 0;

    if (a->uneven)
        fields[count++] = (struct point_field){"wait_s", p->wait_s};
    if (a->way.platform == HM_PLATFORM_SERVER)
        fields[count++] = (struct point_field){"server_share", p->server_share};
    return count;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Writes a point of the curve as a JSON object; `machine` is the name of its machine, or NULL. */
static void json_point(struct hm_json *json, const char *key, const struct hm_answer *a,
                       const struct hm_point *p, const char *machine)
{
    struct point_field fields[POINT_FIELDS], extra[POINT_EXTRA_FIELDS];
    size_t extra_count = point_extra_fields(a, p, extra);

    point_list_fields(a, p, fields);
    hm__json_open(json, key, HM_JSON_OBJECT);
    for (size_t i = 0; i < POINT_FIELDS; i++)
        hm__json_put_known(json, fields[i].name, fields[i].value);
    hm__json_put_text(json, "scheme",
                      p->scheme == HM_SCHEME_BEST ? NULL : hm_scheme_name(p->scheme));
    hm__json_put_bool(json, "fits", p->fits);
    for (size_t i = 0; i < extra_count; i++)
        hm__json_put_known(json, extra[i].name, extra[i].value);
    if (a->kind_count > 0) {
        hm__json_open(json, "machines", HM_JSON_LIST);
        for (size_t k = 0; k < a->kind_count; k++)
            hm__json_put_number(json, NULL, p->machines[k]);
        hm__json_close(json);
    }
    if (machine)
        hm__json_put_text(json, "machine", *machine ? machine : NULL);
    hm__json_close(json);
}

/* Writes the point of the curve with the given index, or null if the answer has no such point. */
static void json_point_at(struct hm_json *json, const char *key, const struct hm_answer *a,
                          const struct hm_point *points, size_t index)
{
    if (!points || index == HM_NONE)
        hm__json_put_null(json, key);
    else
        json_point(json, key, a, &points[index], NULL);
}

/*
 * Writes a quantity as JSON, or null if it is 0 or less, which means that it is unknown or that the
 * question does not ask for it.
 */
static void json_positive(struct hm_json *json, const char *key, double value)
{
    hm__json_put_number(json, key, value > 0 ? value : NAN);
}

/* Writes the keys that describe a platform, or nothing if the question names no platform. */
static void json_way(struct hm_json *json, const struct hm_way *way, double samples_per_s,
                     double saturates_n, double servers_enough)
{
    bool server = way->platform == HM_PLATFORM_SERVER;

    if (way->platform == HM_PLATFORM_JOB)
        return;
    hm__json_put_text(json, "platform", hm_platform_name(way->platform));
    if (way->strategy)
        hm__json_put_text(json, "strategy", hm_strategy_title(way->strategy));
    hm__json_put_text(json, "consistency", hm_consistency_name(way->consistency));
    hm__json_put_known(json, "staleness",
                       way->consistency == HM_CONSISTENCY_SSP ? way->staleness : NAN);
    hm__json_put_known(json, "servers", server ? way->servers : NAN);
    hm__json_put_bool(json, "colocated", way->colocated);
    hm__json_put_known(json, "backups", way->backups);
    json_positive(json, "stale_cost", way->stale_cost);
    if (way->local_steps > 0)
        hm__json_put_number(json, "local_steps", way->local_steps);
    hm__json_put_known(json, "samples_per_s", samples_per_s);
    json_positive(json, "saturates_n", saturates_n);
    json_positive(json, "servers_enough", servers_enough);
}

static const char *total_of_name(const struct hm_answer *a)
{
    if (a->whole_job)
        return "job";
    return a->scaling == HM_SCALING_WEAK ? "reference-iteration" : "iteration";
}

static void json_head(struct hm_json *json, const struct hm_answer *a)
{
    bool balance = a->goal == HM_GOAL_BALANCE;

    hm__json_put_text(json, "status", hm__status_name(a->status));
    hm__json_put_text(json, "job", a->job);
    hm__json_put_text(json, "machine", a->machine);
    hm__json_put_text(json, "fabric", a->fabric);
    if (a->processes > 0) {
        hm__json_put_number(json, "processes", a->processes);
        hm__json_put_number(json, "threads", a->threads);
    }
    if (a->kind_count > 0)
        hm__json_put_texts(json, "kinds", a->kinds, a->kind_count);
    hm__json_put_text(json, "provenance", a->provenance);
    hm__json_put_text(json, "goal", hm__goal_name(a->goal));
    hm__json_put_text(json, "scaling", hm__scaling_name(a->scaling));
    hm__json_put_text(json, "total_of", total_of_name(a));
    hm__json_put_known(json, "reference", a->reference);
    json_positive(json, "iterations", a->iterations);
    hm__json_put_known(json, "alpha", balance ? a->question.alpha : NAN);
    hm__json_put_known(json, "beta", balance ? a->question.beta : NAN);
    json_way(json, &a->way, a->samples_per_s, a->saturates_n, a->servers_enough);
}

/*
 * Writes the points of the curve that the question asks for. If no point meets the limits, writes
 * the point that comes closest to them.
 */
static void json_answer_chosen(struct hm_json *json, const struct hm_answer *a)
{
    bool work = a->missed && strcmp(a->missed, "work") == 0;

    json_point_at(json, "recommended", a, a->points, a->recommended);
    json_point_at(json, "best", a, a->points, a->best);
    json_point_at(json, "knee", a, a->points, a->knee);
    json_point_at(json, "in_deadline", a, a->points, a->in_deadline);
    json_point_at(json, "in_budget", a, a->points, a->in_budget);
    json_point_at(json, "faster", a, a->points, a->faster);
    json_point_at(json, "work", a, a->work_points, a->work);
    hm__json_put_text(json, "missed", a->missed);
    json_point_at(json, "nearest", a, work ? a->work_points : a->points, a->nearest);
    hm__json_put_known(json, "nearest_gap", a->missed ? a->nearest_gap : NAN);
    hm__json_put_known(json, "certainty", a->certainty);
}

/* Writes the three alternatives, which depend on prices; each is null if no price is known. */
static void json_answer_alternatives(struct hm_json *json, const struct hm_answer *a)
{
    hm__json_open(json, "alternatives", HM_JSON_OBJECT);
    for (size_t k = 0; k < HM_ALTERNATIVES; k++) {
        if (!a->alternatives) {
            hm__json_put_null(json, hm__alternative_names[k]);
            continue;
        }
        const struct hm_answer other = hm__answer_of_alternative(a, k);
        json_point(json, hm__alternative_names[k], &other, &a->alternatives[k].point,
                   other.machine ? other.machine : "");
    }
    hm__json_close(json);
}

/* Writes the runs that would narrow the interval for a plan without runs. */
static void json_advised(struct hm_json *json, const struct hm_answer *a)
{
    bool any = a->advised_count > 0;

    hm__json_put_text(json, "unit", a->unit);
    hm__json_put_text(json, "sheet_kind", a->sheet_kind);
    hm__json_open(json, "advised_runs", HM_JSON_OBJECT);
    hm__json_open(json, "n", HM_JSON_LIST);
    for (size_t i = 0; i < a->advised_count; i++)
        hm__json_put_number(json, NULL, a->advised_n[i]);
    hm__json_close(json);
    hm__json_put_known(json, "run_s", any ? a->advised_run_s : NAN);
    hm__json_put_known(json, "within", any ? a->advised_within : NAN);
    hm__json_close(json);
}

/*
 * Writes the range of numbers of workers that are nearly as good as the best, the largest number
 * that was considered, and the certainty of the answer.
 */
static void json_around_best(struct hm_json *json, const struct hm_answer *a)
{
    bool fitted = a->level > 0, best = a->best < a->point_count;

    json_answer_alternatives(json, a);
    hm__json_put_known(json, "slack", a->slack);
    hm__json_put_known(json, "knee_hours", a->knee_hours);
    if (a->way.platform == HM_PLATFORM_JOB)
        hm__json_put_known(json, "samples_per_s", a->samples_per_s);
    hm__json_open(json, "plateau", HM_JSON_OBJECT);
    hm__json_put_known(json, "from", best ? a->plateau_from : NAN);
    hm__json_put_known(json, "to", best ? a->plateau_to : NAN);
    hm__json_close(json);
    hm__json_put_bool(json, "at_ceiling", a->at_ceiling);
    hm__json_open(json, "beyond", HM_JSON_OBJECT);
    json_positive(json, "n", a->beyond_n);
    hm__json_put_known(json, "speedup", a->beyond_n > 0 ? a->beyond_speedup : NAN);
    hm__json_close(json);
    hm__json_put_known(json, "sure", a->sure);
    hm__json_put_known(json, "sure_near", a->sure_near);
    json_positive(json, "level", a->level);
    hm__json_put_known(json, "n_low", fitted ? a->n_low : NAN);
    hm__json_put_known(json, "n_high", fitted ? a->n_high : NAN);
    json_advised(json, a);
}

static void json_limit(struct hm_json *json, const struct hm_answer *a)
{
    hm__json_open(json, "limit", HM_JSON_OBJECT);
    hm__json_put_text(json, "kind", hm_limit_name(a->limit));
    hm__json_put_known(json, "share", a->limit_share);
    hm__json_put_number(json, "n", a->limit_n);
    hm__json_put_text(json, "why", a->why);
    hm__json_close(json);
}

static void json_help(struct hm_json *json, const struct hm_answer *a)
{
    hm__json_open(json, "help", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < a->help_count; i++) {
        const struct hm_help *h = &a->help[i];
        hm__json_open(json, NULL, HM_JSON_OBJECT);
        hm__json_put_text(json, "what", h->what);
        hm__json_put_known(json, "n", h->n);
        hm__json_put_known(json, "time_s", h->time_s);
        hm__json_put_known(json, "speedup", h->speedup);
        hm__json_put_known(json, "gain", h->gain);
        hm__json_close(json);
    }
    hm__json_close(json);
}

static void json_ranking(struct hm_json *json, const struct hm_answer *a)
{
    hm__json_open(json, "ranking", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < a->rank_count; i++) {
        const struct hm_rank *r = &a->ranking[i];
        hm__json_open(json, NULL, HM_JSON_OBJECT);
        hm__json_put_text(json, "machine", r->machine);
        hm__json_put_text(json, "scheme", r->scheme);
        hm__json_put_bool(json, "feasible", r->feasible);
        hm__json_put_known(json, "n", r->n);
        hm__json_put_known(json, "time_s", r->time_s);
        hm__json_put_known(json, "speedup", r->speedup);
        hm__json_put_known(json, "total_s", r->total_s);
        hm__json_put_known(json, "cost", r->cost);
        json_way(json, &r->way, r->samples_per_s, r->saturates_n, r->servers_enough);
        hm__json_put_text(json, "why", r->why);
        hm__json_close(json);
    }
    hm__json_close(json);
}

/*
 * Writes the points of the curve with the given indices; if `indices` is NULL, writes the first
 * `count` points.
 */
static void json_points(struct hm_json *json, const char *key, const struct hm_answer *a,
                        const size_t *indices, size_t count)
{
    hm__json_open(json, key, HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < count; i++)
        json_point(json, NULL, a, &a->points[indices ? indices[i] : i], NULL);
    hm__json_close(json);
}

static void answer_json(struct hm_text *out, const struct hm_answer *a)
{
    struct hm_json json = {.out = out};

    hm__json_open_answer(&json);
    json_head(&json, a);
    json_answer_chosen(&json, a);
    json_around_best(&json, a);
    json_limit(&json, a);
    json_help(&json, a);
    json_ranking(&json, a);
    hm__json_put_texts(&json, "notes", a->notes, a->note_count);
    json_points(&json, "pareto", a, a->pareto, a->pareto_count);
    json_points(&json, "curve", a, NULL, a->point_count);
    hm__json_close_answer(&json);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

/* Appends a CSV field; the field is empty if the quantity is unknown (NaN or negative). */
static void csv_known(struct hm_text *out, double value, const char *end)
{
    if (value >= 0)
        hm__json_number(out, value);
    hm__text_add(out, end);
}

/* Appends the columns that describe the platform; they are the same in every row. */
static void csv_way(struct hm_text *out, const struct hm_way *way)
{
    hm__text_addf(out, ",%s,%s,", hm_platform_name(way->platform),
                  hm_consistency_name(way->consistency));
    csv_known(out, way->consistency == HM_CONSISTENCY_SSP ? way->staleness : NAN, ",");
    csv_known(out, way->platform == HM_PLATFORM_SERVER ? way->servers : NAN, ",");
    csv_known(out, way->backups, "");
}

static void csv_header(struct hm_text *out, const struct hm_answer *a)
{
    static const struct hm_point none;
    struct point_field fields[POINT_FIELDS], extra[POINT_EXTRA_FIELDS];
    size_t extra_count = point_extra_fields(a, &none, extra);

    point_list_fields(a, &none, fields);
    for (size_t k = 0; k < POINT_FIELDS; k++)
        hm__text_addf(out, "%s,", fields[k].name);
    hm__text_add(out, "scheme,fits");
    for (size_t k = 0; k < extra_count; k++)
        hm__text_addf(out, ",%s", extra[k].name);
    if (a->way.platform != HM_PLATFORM_JOB)
        hm__text_add(out, ",platform,consistency,staleness,servers,backups");
    for (size_t k = 0; k < a->kind_count; k++)
        hm__text_addf(out, ",machines_%zu", k + 1);
    hm__text_add(out, "\n");
}

static void answer_csv(struct hm_text *out, const struct hm_answer *a)
{
    csv_header(out, a);
    for (size_t i = 0; i < a->point_count; i++) {
        const struct hm_point *p = &a->points[i];
        struct point_field fields[POINT_FIELDS], extra[POINT_EXTRA_FIELDS];
        size_t extra_count = point_extra_fields(a, p, extra);
        point_list_fields(a, p, fields);
        for (size_t k = 0; k < POINT_FIELDS; k++)
            csv_known(out, fields[k].value, ",");
        hm__text_addf(out, "%s,%s", p->scheme == HM_SCHEME_BEST ? "" : hm_scheme_name(p->scheme),
                      p->fits ? "true" : "false");
        for (size_t k = 0; k < extra_count; k++) {
            hm__text_add(out, ",");
            csv_known(out, extra[k].value, "");
        }
        if (a->way.platform != HM_PLATFORM_JOB)
            csv_way(out, &a->way);
        for (size_t k = 0; k < a->kind_count; k++)
            hm__text_addf(out, ",%.0f", p->machines[k]);
        hm__text_add(out, "\n");
    }
}

int hm_answer_render(const struct hm_answer *answer, enum hm_format format,
                     const struct hm_style *style, char **ret_text, struct hm_err *err)
{
    int bad = hm__check_pointers(err, "answer", answer, "ret_text", ret_text, NULL);
    if (bad == 0)
        bad = hm__check_format(format, err);
    if (bad)
        return bad;
    const struct hm_style own = hm__style_or_default(style);
    struct hm_text out = {0};
    int rc = 0;

    switch (format) {
    case HM_FORMAT_TEXT:
        hm__render_text(&out, answer, &own);
        if (own.table)
            hm__render_table(&out, answer, &own);
        if (own.chart)
            hm__render_chart(&out, answer, &own);
        break;
    case HM_FORMAT_JSON:
        answer_json(&out, answer);
        break;
    case HM_FORMAT_CSV:
        answer_csv(&out, answer);
        break;
    case HM_FORMAT_GNUPLOT:
        rc = hm__render_gnuplot(&out, answer, own.file, err);
        break;
    }
    if (rc) {
        hm__text_release(&out);
        return rc;
    }
    return hm__text_take(&out, ret_text, err);
}
