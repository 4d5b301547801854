/* Renders a design, which is a list of runs to execute, as text or JSON. */
#include <math.h>

#include "checks.h"
#include "choice_plot.h"
#include "fit_render.h"

/*
 * Appends one row to the table of runs; `number` is 0 for a run that was considered but is not
 * proposed.
 */
static void design_run(struct hm_text *out, const struct hm_chosen *c, size_t number,
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

static void design_summary(struct hm_text *out, const struct hm_design *d)
{
    char time[HM_SHOWN], money[HM_SHOWN];

    hm__text_addf(out, "%zu run%s of %zu candidates, cost %.4g", d->made_count,
                  d->made_count == 1 ? "" : "s", d->candidates, d->spent);
    if (d->seconds >= 0 && isfinite(d->seconds))
        hm__text_addf(out, ", %s of machine time", hm__show_time(d->seconds, time));
    if (d->money >= 0 && isfinite(d->money))
        hm__text_addf(out, ", %s", hm__show_money(d->money, money));
    hm__text_addf(out, "\ncriterion %.9g with fractional runs (within %.0e of the optimum), ",
                  d->objective, fmax(d->gap, 1e-15));
    if (isfinite(d->rounded))
        hm__text_addf(out, "%.6g with whole runs", d->rounded);
    else
        hm__text_add(out, "not enough with whole runs");
    if (isfinite(d->before))
        hm__text_addf(out, "; %.6g before", d->before);
    hm__text_add(out, "\n");
    if (d->within >= 0)
        hm__text_addf(out, "after these runs the time at the target is known to ±%.2g %%\n",
                      100 * d->within);
}

static void design_text(struct hm_text *out, const struct hm_design *d,
                        const struct hm_style *style)
{
    bool sizes = d->chosen_count > 0 && !isnan(d->chosen[0].size);
    bool times = d->chosen_count > 0 && !isnan(d->chosen[0].time_s);

    design_summary(out, d);
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
        design_run(out, &d->chosen[i], d->chosen[i].made ? i + 1 : 0, style);
    hm__render_notes(out, d->notes, d->note_count, style);
}

static void json_chosen(struct hm_json *json, const struct hm_chosen *c)
{
    hm__json_open(json, NULL, HM_JSON_OBJECT);
    hm__json_put_number(json, "n", c->n);
    hm__json_put_number(json, "size", c->size);
    hm__json_put_text(json, "where", c->where);
    hm__json_put_number(json, "cost", c->cost);
    hm__json_put_number(json, "share", c->share);
    hm__json_put_number(json, "time_s", c->time_s);
    hm__json_put_number(json, "after", c->after);
    hm__json_put_bool(json, "made", c->made);
    hm__json_close(json);
}

static void design_json(struct hm_text *out, const struct hm_design *d)
{
    struct hm_json json = {.out = out};

    hm__json_open_answer(&json);
    hm__json_put_number(&json, "objective", d->objective);
    hm__json_put_number(&json, "gap", d->gap);
    hm__json_put_number(&json, "rounded", d->rounded);
    hm__json_put_number(&json, "before", d->before);
    hm__json_put_known(&json, "within", d->within);
    hm__json_put_number(&json, "cost", d->spent);
    hm__json_put_known(&json, "machine_s", d->seconds);
    hm__json_put_known(&json, "money", d->money);
    hm__json_put_number(&json, "candidate_count", (double)d->candidates);
    hm__json_open(&json, "runs", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < d->chosen_count; i++)
        json_chosen(&json, &d->chosen[i]);
    hm__json_close(&json);
    hm__json_put_texts(&json, "notes", d->notes, d->note_count);
    hm__json_close_answer(&json);
}

int hm_design_render(const struct hm_design *design, enum hm_format format,
                     const struct hm_style *style, char **ret_text, struct hm_err *err)
{
    int bad = hm__check_pointers(err, "design", design, "ret_text", ret_text, NULL);
    if (bad == 0)
        bad = hm__check_format(format, err);
    if (bad)
        return bad;
    const struct hm_style own = hm__style_or_default(style);
    struct hm_text out = {0};

    if (format == HM_FORMAT_JSON)
        design_json(&out, design);
    else if (format == HM_FORMAT_GNUPLOT)
        bad = hm__plot_design(&out, design, own.file, err);
    else
        design_text(&out, design, &own);
    if (bad) {
        hm__text_release(&out);
        return bad;
    }
    return hm__text_take(&out, ret_text, err);
}
