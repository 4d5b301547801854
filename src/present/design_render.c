/* A design as a list of runs to make, for a person or for a program. */
#include <math.h>

#include "fit_render.h"

static void text_run(struct hm_text *out, const struct hm_chosen *c, size_t number,
                     const struct hm_style *style)
{
    char time[HM_SHOWN];

    if (number > 0)
        hm__text_addf(out, "%4zu %6g", number, c->n);
    else
        hm__text_addf(out, "%4s %6g", "-", c->n);
    if (!isnan(c->size))
        hm__text_addf(out, " %10.6g", c->size);
    hm__text_addf(out, " %10.4g %7.3f", c->cost, c->share);
    if (!isnan(c->time_s))
        hm__text_addf(out, " %10s", hm__show_time(c->time_s, time));
    if (style->table && c->made && isfinite(c->after))
        hm__text_addf(out, " %12.6g", c->after);
    else if (style->table && c->made)
        hm__text_addf(out, " %12s", "not enough");
    if (c->where)
        hm__text_addf(out, "  %s", c->where);
    hm__text_end_line(out);
}

static void text_sum(struct hm_text *out, const struct hm_design *d)
{
    char time[HM_SHOWN], money[HM_SHOWN];

    hm__text_addf(out, "%zu run%s of %zu candidates, cost %.4g", d->made_count,
                  d->made_count == 1 ? "" : "s", d->candidates, d->spent);
    if (d->seconds >= 0)
        hm__text_addf(out, ", %s of machine time", hm__show_time(d->seconds, time));
    if (d->money >= 0)
        hm__text_addf(out, ", %s", hm__show_money(d->money, money));
    hm__text_addf(out,
                  "\ncriterion %.9g of shares (within %.0e of the optimum), %.6g of whole runs",
                  d->objective, fmax(d->gap, 1e-15), d->rounded);
    if (isfinite(d->before))
        hm__text_addf(out, "; now %.6g", d->before);
    hm__text_add(out, "\n");
}

static void render_text(struct hm_text *out, const struct hm_design *d,
                        const struct hm_style *style)
{
    bool sizes = d->chosen_count > 0 && !isnan(d->chosen[0].size);
    bool times = d->chosen_count > 0 && !isnan(d->chosen[0].time_s);

    text_sum(out, d);
    hm__text_addf(out, "\n%4s %6s", "run", "n");
    if (sizes)
        hm__text_addf(out, " %10s", "size");
    hm__text_addf(out, " %10s %7s", "cost", "share");
    if (times)
        hm__text_addf(out, " %10s", "time");
    if (style->table)
        hm__text_addf(out, " %12s", "criterion");
    hm__text_add(out, "\n");
    for (size_t i = 0; i < (style->table ? d->chosen_count : d->made_count); i++)
        text_run(out, &d->chosen[i], d->chosen[i].made ? i + 1 : 0, style);
    for (size_t i = 0; i < d->note_count; i++)
        hm__render_line(out, style, "note", d->notes[i]);
}

static void json_known_or_null(struct hm_text *out, const char *key, double value)
{
    hm__json_field(out, key, value < 0 ? NAN : value);
}

static void render_json(struct hm_text *out, const struct hm_design *d)
{
    hm__text_add(out, "{\"howmany\":");
    hm__json_text(out, HM_VERSION);
    hm__json_field(out, "objective", d->objective);
    hm__json_field(out, "gap", d->gap);
    hm__json_field(out, "rounded", d->rounded);
    hm__json_field(out, "before", d->before);
    hm__json_field(out, "cost", d->spent);
    json_known_or_null(out, "machine_s", d->seconds);
    json_known_or_null(out, "money", d->money);
    hm__text_addf(out, ",\"candidates\":%zu,\n\"runs\":[", d->candidates);
    for (size_t i = 0; i < d->chosen_count; i++) {
        const struct hm_chosen *c = &d->chosen[i];
        hm__text_add(out, i ? ",\n  {\"n\":" : "\n  {\"n\":");
        hm__json_number(out, c->n);
        hm__json_field(out, "size", c->size);
        hm__json_named(out, "where", c->where);
        hm__json_field(out, "cost", c->cost);
        hm__json_field(out, "share", c->share);
        hm__json_field(out, "time_s", c->time_s);
        hm__json_field(out, "after", c->after);
        hm__text_addf(out, ",\"made\":%s}", c->made ? "true" : "false");
    }
    hm__text_add(out, "]");
    hm__json_texts(out, "notes", d->notes, d->note_count);
    hm__text_add(out, "}\n");
}

int hm_design_render(const struct hm_design *design, enum hm_format format,
                     const struct hm_style *style, char **ret_text, struct hm_err *err)
{
    struct hm_text out = {0};

    if (format == HM_FORMAT_JSON)
        render_json(&out, design);
    else
        render_text(&out, design, style);
    int rc = hm__text_take(&out, ret_text, err);
    hm__text_release(&out);
    return rc;
}
