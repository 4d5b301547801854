/*
 * g(i, m) as JSON. With curves, draws and paces it is what inputs/read_convergence.c reads: one
 * name for each field, a line for each curve and draw, so that messages can name lines.
 */
#include <math.h>

#include "converge_render.h"
#include "convergence.h"

static void numbers(struct hm_text *out, const char *key, const double *values, size_t count)
{
    hm__text_addf(out, ",\"%s\":[", key);
    for (size_t i = 0; i < count; i++) {
        hm__text_add(out, i ? "," : "");
        hm__json_number(out, values[i]);
    }
    hm__text_add(out, "]");
}

/* Nine digits of each are more than draws can be trusted for, and half the bytes. */
static void draws(struct hm_text *out, const double *values, size_t count, size_t columns)
{
    hm__text_add(out, ",\"draws\":[");
    for (size_t d = 0; d < count; d++) {
        hm__text_add(out, d ? ",\n  [" : "\n  [");
        for (size_t k = 0; k < columns; k++)
            hm__text_addf(out, "%s%.9g", k ? "," : "", values[d * columns + k]);
        hm__text_add(out, "]");
    }
    hm__text_add(out, "]");
}

static void parameters(struct hm_text *out, const struct hm_g *g)
{
    hm__text_add(out, ",\"parameters\":[");
    for (size_t k = 0; k < g->parameter_count; k++) {
        const struct hm_g_parameter *p = &g->parameters[k];
        hm__text_add(out, k ? ",\n  {\"text\":" : "\n  {\"text\":");
        hm__json_text(out, p->text);
        hm__json_field(out, "value", p->value);
        hm__json_field(out, "low", p->low);
        hm__json_field(out, "high", p->high);
        hm__text_add(out, "}");
    }
    hm__text_add(out, "]");
}

static void alternatives(struct hm_text *out, const struct hm_g *g)
{
    hm__text_add(out, ",\"alternatives\":[");
    for (size_t i = 0; i < g->alternative_count; i++) {
        hm__text_addf(out, "%s{\"form\":\"%s\"", i ? "," : "",
                      hm_g_form_name(g->alternatives[i].form));
        hm__json_field(out, "error", g->alternatives[i].error);
        hm__text_add(out, "}");
    }
    hm__text_add(out, "]");
}

static void curves(struct hm_text *out, const struct hm_g *g)
{
    hm__text_add(out, ",\"curves\":[");
    for (size_t i = 0; i < g->curve_count; i++) {
        const struct hm_g_curve *c = &g->curves[i];
        hm__text_add(out, i ? ",\n  {\"m\":" : "\n  {\"m\":");
        hm__json_number(out, c->m);
        hm__json_flag(out, "diverged", c->diverged);
        numbers(out, "iteration", c->iteration, c->count);
        numbers(out, "loss", c->loss, c->count);
        hm__text_add(out, "}");
    }
    hm__text_add(out, "]");
}

/* A staleness without a bound is a word. */
static void costs(struct hm_text *out, const struct hm_g_stale *stale)
{
    hm__text_add(out, ",\"costs\":[");
    for (size_t i = 0; i < stale->cost_count; i++) {
        const struct hm_stale_cost *c = &stale->costs[i];
        hm__text_add(out, i ? ",\n  {\"staleness\":" : "\n  {\"staleness\":");
        if (isinf(c->staleness))
            hm__text_add(out, "\"async\"");
        else
            hm__json_number(out, c->staleness);
        hm__json_field(out, "m", c->m);
        hm__json_field(out, "factor", c->factor);
        hm__json_field(out, "low", c->low);
        hm__json_field(out, "high", c->high);
        hm__text_add(out, "}");
    }
    hm__text_add(out, "]");
}

/* Nothing where no traces tell it, so that others stay as they were. */
static void staleness(struct hm_text *out, const char *key, const struct hm_g_stale *stale,
                      bool whole)
{
    if (stale->traces == 0)
        return;
    hm__text_addf(out, "\n ,\"%s\":{\"traces\":%zu", key, stale->traces);
    hm__json_field(out, "level", stale->level);
    hm__json_field(out, "growth", stale->growth);
    hm__json_field(out, "power", stale->power);
    hm__json_field(out, "exponent", stale->exponent);
    hm__json_field(out, "error", stale->error);
    hm__json_field(out, "without", stale->without);
    hm__json_field(out, "held_out", stale->held_out);
    costs(out, stale);
    if (whole)
        draws(out, stale->draws, stale->draw_count, HM_STALE_PARAMETERS);
    hm__text_add(out, "}");
}

static void algorithm(struct hm_text *out, const struct hm_g *g, bool whole)
{
    hm__text_add(out, "{\"algorithm\":");
    hm__json_text(out, g->algorithm);
    hm__json_named(out, "form", hm_g_form_name(g->form));
    hm__text_addf(out, ",\"traces\":%zu,\"points\":%zu", g->curve_count, hm__g_points(g));
    parameters(out, g);
    hm__text_add(out, "\n ");
    numbers(out, "m", g->m, g->m_count);
    numbers(out, "spread", g->spread, g->m_count);
    numbers(out, "apart", g->apart, g->m_count);
    hm__json_field(out, "last", g->last);
    hm__json_field(out, "error", g->error);
    hm__json_field(out, "penalty", g->penalty);
    alternatives(out, g);
    staleness(out, "ssp", &g->ssp, whole);
    staleness(out, "async", &g->async, whole);
    if (whole) {
        hm__text_add(out, "\n ");
        curves(out, g);
        hm__text_add(out, "\n ");
        draws(out, g->draws, g->draw_count, g->parameter_count);
    }
    hm__text_add(out, "}");
}

static void pace(struct hm_text *out, const struct hm_pace *p)
{
    hm__text_add(out, "{\"algorithm\":");
    hm__json_text(out, p->algorithm);
    hm__json_named(out, "source", p->source);
    numbers(out, "m", p->m, p->count);
    numbers(out, "seconds", p->seconds, p->count);
    hm__json_texts(out, "terms", p->terms, p->term_count);
    numbers(out, "theta", p->theta, p->term_count);
    hm__json_field(out, "noise", p->noise);
    hm__text_add(out, "\n ");
    draws(out, p->draws, p->draw_count, p->term_count);
    hm__text_add(out, "}");
}

static void paces(struct hm_text *out, const struct hm_paces *p)
{
    hm__text_add(out, ",\n\"paces\":[");
    for (size_t i = 0; p && i < p->count; i++) {
        hm__text_add(out, i ? ",\n " : "\n ");
        pace(out, &p->paces[i]);
    }
    hm__text_add(out, "]");
}

static void left_out(struct hm_text *out, const struct hm_g_holdout *h)
{
    hm__text_add(out, ",\"left_out\":[");
    for (size_t i = 0; i < h->left_out_count; i++) {
        const struct hm_g_error *e = &h->left_out[i];
        hm__text_add(out, i ? ",\n  {\"m\":" : "\n  {\"m\":");
        hm__json_number(out, e->m);
        hm__text_addf(out, ",\"points\":%zu", e->points);
        hm__json_field(out, "median", e->median);
        hm__json_field(out, "rms", e->rms);
        hm__json_field(out, "covered", e->covered);
        hm__json_flag(out, "inside", e->inside);
        hm__text_add(out, "}");
    }
    hm__text_add(out, "]");
}

static void ahead(struct hm_text *out, const struct hm_g_holdout *h)
{
    hm__text_add(out, ",\"ahead\":[");
    for (size_t i = 0; i < h->ahead_count; i++) {
        const struct hm_g_ahead *a = &h->ahead[i];
        hm__text_add(out, i ? ",\n  {\"m\":" : "\n  {\"m\":");
        hm__json_number(out, a->m);
        hm__text_addf(out, ",\"points\":%zu", a->points);
        hm__json_field(out, "median", a->median);
        hm__json_field(out, "rms", a->rms);
        hm__text_add(out, "}");
    }
    hm__text_add(out, "]");
}

static void held_out(struct hm_text *out, const struct hm_holdout *holdout)
{
    hm__text_add(out, ",\n\"holdout\":");
    if (!holdout) {
        hm__text_add(out, "null");
        return;
    }
    hm__text_add(out, "{\"ahead\":");
    hm__json_number(out, holdout->ahead);
    hm__json_field(out, "ahead_s", holdout->ahead_s);
    hm__json_field(out, "window", holdout->window);
    hm__text_add(out, ",\"algorithms\":[");
    for (size_t i = 0; i < holdout->count; i++) {
        const struct hm_g_holdout *h = &holdout->algorithms[i];
        hm__text_add(out, i ? ",\n {\"algorithm\":" : "\n {\"algorithm\":");
        hm__json_text(out, h->algorithm);
        hm__json_field(out, "inside", h->inside);
        hm__json_field(out, "outside", h->outside);
        hm__json_field(out, "ahead_median", h->ahead_median);
        left_out(out, h);
        ahead(out, h);
        hm__text_add(out, "}");
    }
    hm__text_add(out, "]");
    hm__json_texts(out, "notes", holdout->notes, holdout->note_count);
    hm__text_add(out, "}");
}

void hm__render_convergence_json(struct hm_text *out, const struct hm_convergence *c,
                                 const struct hm_holdout *holdout, bool whole)
{
    hm__text_add(out, "{\"howmany\":\"convergence\",\"version\":1");
    hm__json_named(out, "measure", c->measure);
    hm__json_named(out, "unit", c->unit);
    hm__json_field(out, "best", c->best);
    hm__json_field(out, "best_low", c->best_low);
    hm__json_field(out, "best_high", c->best_high);
    hm__json_flag(out, "best_estimated", c->best_estimated);
    hm__json_field(out, "level", c->level);
    hm__text_add(out, ",\n\"algorithms\":[");
    for (size_t i = 0; i < c->count; i++) {
        hm__text_add(out, i ? ",\n " : "\n ");
        algorithm(out, &c->algorithms[i], whole);
    }
    hm__text_add(out, "]");
    if (whole)
        paces(out, c->paces);
    if (holdout || !whole)
        held_out(out, holdout);
    hm__json_texts(out, "notes", c->notes, c->note_count);
    hm__text_add(out, "}\n");
}
