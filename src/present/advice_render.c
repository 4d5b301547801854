/* An advice in one of the formats; here JSON and CSV, with the names of the fields as keys. */
#include "advice_render.h"

#include "err.h"

struct column {
    const char *name;
    double value;
};

enum { COLUMNS = 20 };

/* The quantities of a candidate, in the order of the struct. */
static void list_columns(const struct hm_candidate *c, struct column columns[COLUMNS])
{
    const struct column all[COLUMNS] = {
        {"iterations", c->iterations},
        {"iterations_low", c->iterations_low},
        {"iterations_high", c->iterations_high},
        {"iteration_s", c->iteration_s},
        {"iteration_low_s", c->iteration_low_s},
        {"iteration_high_s", c->iteration_high_s},
        {"time_s", c->time_s},
        {"time_low_s", c->time_low_s},
        {"time_high_s", c->time_high_s},
        {"cost", c->cost},
        {"cost_low", c->cost_low},
        {"cost_high", c->cost_high},
        {"loss", c->loss},
        {"loss_low", c->loss_low},
        {"loss_high", c->loss_high},
        {"reaches", c->reaches},
        {"probability", c->probability},
        {"beyond_m", c->beyond_m},
        {"beyond_i", c->beyond_i},
        {NULL, 0},
    };

    for (size_t k = 0; k < COLUMNS; k++)
        columns[k] = all[k];
}

static void json_candidate(struct hm_text *out, const struct hm_candidate *c)
{
    struct column columns[COLUMNS];

    hm__text_add(out, "{\"algorithm\":");
    hm__json_text(out, c->algorithm);
    hm__json_field(out, "m", c->m);
    hm__json_flag(out, "measured", c->measured);
    list_columns(c, columns);
    for (size_t k = 0; columns[k].name; k++)
        hm__json_field(out, columns[k].name, columns[k].value);
    hm__json_named(out, "why", hm__advise_why_name(c->why));
    hm__text_add(out, "}");
}

static void json_leads(struct hm_text *out, const struct hm_advice *a)
{
    hm__text_add(out, ",\n\"leads\":[");
    for (size_t i = 0; i < a->lead_count; i++) {
        hm__text_add(out, i ? ",\n  {\"algorithm\":" : "\n  {\"algorithm\":");
        hm__json_text(out, a->leads[i].algorithm);
        hm__json_field(out, "m", a->leads[i].m);
        hm__json_field(out, "from", a->leads[i].from);
        hm__json_field(out, "to", a->leads[i].to);
        hm__text_add(out, "}");
    }
    hm__text_add(out, "]");
}

static void json_next(struct hm_text *out, const struct hm_next_run *n)
{
    if (!n->algorithm) {
        hm__text_add(out, ",\n\"next\":null");
        return;
    }
    hm__text_add(out, ",\n\"next\":{\"algorithm\":");
    hm__json_text(out, n->algorithm);
    hm__json_field(out, "m", n->m);
    hm__json_field(out, "iterations", n->iterations);
    hm__json_field(out, "time_s", n->time_s);
    hm__json_field(out, "saves", n->saves);
    hm__text_add(out, "}");
}

static void json_schedule(struct hm_text *out, const struct hm_schedule *s)
{
    if (!s) {
        hm__text_add(out, ",\n\"schedule\":null");
        return;
    }
    hm__text_add(out, ",\n\"schedule\":{\"algorithm\":");
    hm__json_text(out, s->algorithm);
    hm__json_field(out, "time_s", s->time_s);
    hm__json_field(out, "fixed_s", s->fixed_s);
    hm__json_field(out, "gain", s->gain);
    hm__json_field(out, "gain_low", s->gain_low);
    hm__json_field(out, "gain_high", s->gain_high);
    hm__text_add(out, ",\"phases\":[");
    for (size_t i = 0; i < s->phase_count; i++) {
        hm__text_add(out, i ? ",\n  {\"m\":" : "\n  {\"m\":");
        hm__json_number(out, s->phases[i].m);
        hm__json_field(out, "from", s->phases[i].from);
        hm__json_field(out, "to", s->phases[i].to);
        hm__json_field(out, "iterations", s->phases[i].iterations);
        hm__json_field(out, "time_s", s->phases[i].time_s);
        hm__text_add(out, "}");
    }
    hm__text_add(out, "]}");
}

static void json_head(struct hm_text *out, const struct hm_advice *a)
{
    hm__text_add(out, "{\"howmany\":");
    hm__json_text(out, HM_VERSION);
    hm__json_named(out, "measure", a->measure);
    hm__json_named(out, "unit", a->unit);
    hm__json_field(out, "best", a->best);
    hm__json_field(out, "loss", a->loss);
    hm__text_add(out, ",\"within_s\":");
    hm__json_known(out, a->within_s > 0 ? a->within_s : -1);
    hm__text_add(out, ",\"budget\":");
    hm__json_known(out, a->budget > 0 ? a->budget : -1);
    hm__json_named(out, "goal", a->goal == HM_ADVISE_COST ? "cost" : "time");
    hm__json_field(out, "level", a->level);
    hm__json_flag(out, "feasible", a->feasible);
    hm__json_field(out, "right", a->right);
    hm__json_field(out, "near", a->near);
    hm__json_field(out, "right_algorithm", a->right_algorithm);
}

static void render_json(struct hm_text *out, const struct hm_advice *a)
{
    json_head(out, a);
    hm__text_add(out, ",\n\"candidates\":[");
    for (size_t i = 0; i < a->candidate_count; i++) {
        hm__text_add(out, i ? ",\n  " : "\n  ");
        json_candidate(out, &a->candidates[i]);
    }
    hm__text_add(out, "]");
    json_leads(out, a);
    json_next(out, &a->next);
    json_schedule(out, a->schedule);
    hm__json_texts(out, "notes", a->notes, a->note_count);
    hm__text_add(out, "}\n");
}

static void render_csv(struct hm_text *out, const struct hm_advice *a)
{
    static const struct hm_candidate none;
    struct column columns[COLUMNS];

    list_columns(&none, columns);
    hm__text_add(out, "algorithm,m,measured");
    for (size_t k = 0; columns[k].name; k++)
        hm__text_addf(out, ",%s", columns[k].name);
    hm__text_add(out, ",why\n");
    for (size_t i = 0; i < a->candidate_count; i++) {
        const struct hm_candidate *c = &a->candidates[i];
        hm__csv_text(out, c->algorithm);
        hm__csv_number(out, c->m);
        hm__text_add(out, c->measured ? ",true" : ",false");
        list_columns(c, columns);
        for (size_t k = 0; columns[k].name; k++)
            hm__csv_number(out, columns[k].value);
        hm__text_addf(out, ",%s\n", hm__advise_why_name(c->why));
    }
}

int hm_advice_render(const struct hm_advice *advice, enum hm_format format,
                     const struct hm_style *style, char **ret_text, struct hm_err *err)
{
    struct hm_text out = {0};

    switch (format) {
    case HM_FORMAT_TEXT:
        hm__render_advice_text(&out, advice, style);
        if (style->table)
            hm__render_advice_table(&out, advice, style);
        break;
    case HM_FORMAT_JSON:
        render_json(&out, advice);
        break;
    case HM_FORMAT_CSV:
        render_csv(&out, advice);
        break;
    case HM_FORMAT_GNUPLOT:
        return hm__fail(err, HM_E_UNSUPPORTED, "an advice has no plot");
    }
    return hm__text_take(&out, ret_text, err);
}
