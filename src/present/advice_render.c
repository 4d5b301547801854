/*
 * Renders advice (which algorithm to use on how many workers) as JSON, and its candidates as CSV;
 * selects the renderer for the other formats.
 */
#include "advice_render.h"
#include "choice_plot.h"

#include <math.h>
#include <string.h>

#include "checks.h"
#include "err.h"
#include "names.h"

/* Name and value of a quantity of a candidate; the value is NaN if it is unknown. */
struct candidate_column {
    const char *name;
    double value;
};

enum { CANDIDATE_COLUMNS = 22 };

/*
 * Lists the quantities of a candidate in the order of JSON keys and CSV columns. All answers use
 * the same names: the ends of the interval for time_s are low_s and high_s; for any other quantity,
 * they contain its name, such as cost_low and cost_high.
 */
static void candidate_list_columns(const struct hm_candidate *c,
                                   struct candidate_column columns[CANDIDATE_COLUMNS])
{
    const struct candidate_column all[CANDIDATE_COLUMNS] = {
        {"iterations", c->iterations},
        {"iterations_low", c->iterations_low},
        {"iterations_high", c->iterations_high},
        {"iteration_s", c->iteration_s},
        {"iteration_low_s", c->iteration_low_s},
        {"iteration_high_s", c->iteration_high_s},
        {"iteration_p5_s", c->iteration_p5_s},
        {"iteration_p95_s", c->iteration_p95_s},
        {"time_s", c->time_s},
        {"low_s", c->low_s},
        {"high_s", c->high_s},
        {"cost", c->cost},
        {"cost_low", c->cost_low},
        {"cost_high", c->cost_high},
        {"loss", c->loss},
        {"loss_low", c->loss_low},
        {"loss_high", c->loss_high},
        {"reaches", c->reaches},
        {"probability", c->probability},
        {"beyond_n", c->beyond_m},
        {"beyond_i", c->beyond_i},
        {"backups", c->backups},
    };

    memcpy(columns, all, sizeof(all));
}

static void json_candidate(struct hm_json *json, const char *key, const struct hm_candidate *c)
{
    struct candidate_column columns[CANDIDATE_COLUMNS];

    candidate_list_columns(c, columns);
    hm__json_open(json, key, HM_JSON_OBJECT);
    hm__json_put_text(json, "algorithm", c->algorithm);
    hm__json_put_number(json, "n", c->m);
    hm__json_put_bool(json, "measured", c->measured);
    for (size_t k = 0; k < CANDIDATE_COLUMNS; k++)
        hm__json_put_number(json, columns[k].name, columns[k].value);
    if (isinf(c->staleness))
        hm__json_put_text(json, "staleness", hm_consistency_name(HM_CONSISTENCY_ASYNC));
    else
        hm__json_put_number(json, "staleness", c->staleness);
    hm__json_put_text(json, "why", hm__advise_why_name(c->why));
    hm__json_close(json);
}

static void json_leads(struct hm_json *json, const struct hm_advice *a)
{
    hm__json_open(json, "leads", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < a->lead_count; i++) {
        hm__json_open(json, NULL, HM_JSON_OBJECT);
        hm__json_put_text(json, "algorithm", a->leads[i].algorithm);
        hm__json_put_number(json, "n", a->leads[i].m);
        hm__json_put_number(json, "from", a->leads[i].from);
        hm__json_put_number(json, "to", a->leads[i].to);
        hm__json_close(json);
    }
    hm__json_close(json);
}

static void json_next(struct hm_json *json, const struct hm_next_run *next)
{
    if (!next->algorithm) {
        hm__json_put_null(json, "next");
        return;
    }
    hm__json_open(json, "next", HM_JSON_OBJECT);
    hm__json_put_text(json, "algorithm", next->algorithm);
    hm__json_put_number(json, "n", next->m);
    hm__json_put_number(json, "iterations", next->iterations);
    hm__json_put_number(json, "time_s", next->time_s);
    hm__json_put_number(json, "saves", next->saves);
    hm__json_close(json);
}

static void json_phases(struct hm_json *json, const struct hm_schedule *s)
{
    hm__json_open(json, "phases", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < s->phase_count; i++) {
        hm__json_open(json, NULL, HM_JSON_OBJECT);
        hm__json_put_number(json, "n", s->phases[i].m);
        hm__json_put_number(json, "from", s->phases[i].from);
        hm__json_put_number(json, "to", s->phases[i].to);
        hm__json_put_number(json, "iterations", s->phases[i].iterations);
        hm__json_put_number(json, "time_s", s->phases[i].time_s);
        hm__json_close(json);
    }
    hm__json_close(json);
}

static void json_schedule(struct hm_json *json, const struct hm_schedule *s)
{
    if (!s) {
        hm__json_put_null(json, "schedule");
        return;
    }
    hm__json_open(json, "schedule", HM_JSON_OBJECT);
    hm__json_put_text(json, "algorithm", s->algorithm);
    hm__json_put_number(json, "time_s", s->time_s);
    hm__json_put_number(json, "fixed_s", s->fixed_s);
    hm__json_put_number(json, "gain", s->gain);
    hm__json_put_number(json, "gain_low", s->gain_low);
    hm__json_put_number(json, "gain_high", s->gain_high);
    json_phases(json, s);
    hm__json_close(json);
}

/* Writes the goal and the limits of the question, and whether a candidate meets them. */
static void json_question(struct hm_json *json, const struct hm_advice *a)
{
    hm__json_put_text(json, "status",
                      hm__status_name(a->feasible ? HM_STATUS_OK : HM_STATUS_UNREACHED));
    hm__json_put_text(json, "measure", a->measure);
    hm__json_put_text(json, "unit", a->unit);
    hm__json_put_number(json, "best_loss", a->best);
    hm__json_put_number(json, "loss", a->loss);
    hm__json_put_number(json, "within_s", a->within_s > 0 ? a->within_s : NAN);
    hm__json_put_number(json, "budget", a->budget > 0 ? a->budget : NAN);
    hm__json_put_text(json, "goal", hm__goal_name(a->goal));
    hm__json_put_number(json, "certainty", a->certainty);
    hm__json_put_number(json, "level", a->level);
}

static void advice_json(struct hm_text *out, const struct hm_advice *a)
{
    struct hm_json json = {.out = out};

    hm__json_open_answer(&json);
    json_question(&json, a);
    if (a->feasible && a->candidate_count > 0)
        json_candidate(&json, "best", &a->candidates[0]);
    else
        hm__json_put_null(&json, "best");
    hm__json_put_number(&json, "sure", a->right);
    hm__json_put_number(&json, "sure_near", a->near);
    hm__json_put_number(&json, "sure_algorithm", a->right_algorithm);
    hm__json_open(&json, "candidates", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < a->candidate_count; i++)
        json_candidate(&json, NULL, &a->candidates[i]);
    hm__json_close(&json);
    json_leads(&json, a);
    json_next(&json, &a->next);
    json_schedule(&json, a->schedule);
    hm__json_put_texts(&json, "notes", a->notes, a->note_count);
    hm__json_close_answer(&json);
}

static void advice_csv(struct hm_text *out, const struct hm_advice *a)
{
    static const struct hm_candidate none;
    struct candidate_column columns[CANDIDATE_COLUMNS];

    candidate_list_columns(&none, columns);
    hm__text_add(out, "algorithm,n,measured");
    for (size_t k = 0; k < CANDIDATE_COLUMNS; k++)
        hm__text_addf(out, ",%s", columns[k].name);
    hm__text_add(out, ",staleness,why\n");
    for (size_t i = 0; i < a->candidate_count; i++) {
        const struct hm_candidate *c = &a->candidates[i];
        hm__csv_text(out, c->algorithm);
        hm__csv_number(out, c->m);
        hm__text_add(out, c->measured ? ",true" : ",false");
        candidate_list_columns(c, columns);
        for (size_t k = 0; k < CANDIDATE_COLUMNS; k++)
            hm__csv_number(out, columns[k].value);
        if (isinf(c->staleness))
            hm__text_addf(out, ",%s", hm_consistency_name(HM_CONSISTENCY_ASYNC));
        else
            hm__csv_number(out, c->staleness);
        hm__text_addf(out, ",%s\n", hm__advise_why_name(c->why));
    }
}

int hm_advice_render(const struct hm_advice *advice, enum hm_format format,
                     const struct hm_style *style, char **ret_text, struct hm_err *err)
{
    int bad = hm__check_pointers(err, "advice", advice, "ret_text", ret_text, NULL);
    if (bad == 0)
        bad = hm__check_format(format, err);
    if (bad)
        return bad;
    const struct hm_style own = hm__style_or_default(style);
    struct hm_text out = {0};

    switch (format) {
    case HM_FORMAT_TEXT:
        hm__render_advice_text(&out, advice, &own);
        if (own.table)
            hm__render_advice_table(&out, advice, &own);
        break;
    case HM_FORMAT_JSON:
        advice_json(&out, advice);
        break;
    case HM_FORMAT_CSV:
        advice_csv(&out, advice);
        break;
    case HM_FORMAT_GNUPLOT:
        bad = hm__plot_advice(&out, advice, own.file, err);
        break;
    }
    if (bad) {
        hm__text_release(&out);
        return bad;
    }
    return hm__text_take(&out, ret_text, err);
}
