/*
 * Renders g(i, n), the loss after i iterations on n workers, as JSON. The file format of stored
 * fits is the same JSON with curves, random draws and times per iteration;
 * src/inputs/specs/read_convergence.c reads it. Each curve and each draw is on its own line, so
 * that error messages of the reader can name a line.
 */
#include <math.h>
#include <stdio.h>

#include "converge_render.h"
#include "convergence.h"

/*
 * Writes rows of numbers with nine digits. This is more precise than the random draws, and the file
 * is half as large as with all digits.
 */
static void json_draws(struct hm_json *json, const double *values, size_t count, size_t columns)
{
    hm__json_open(json, "draws", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t d = 0; d < count; d++) {
        hm__json_open(json, NULL, HM_JSON_LIST);
        for (size_t k = 0; k < columns; k++) {
            char number[32];
            snprintf(number, sizeof(number), "%.9g", values[d * columns + k]);
            hm__json_put_raw(json, NULL, isfinite(values[d * columns + k]) ? number : "null");
        }
        hm__json_close(json);
    }
    hm__json_close(json);
}

static void json_parameters(struct hm_json *json, const struct hm_g *g)
{
    hm__json_open(json, "parameters", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t k = 0; k < g->parameter_count; k++) {
        const struct hm_g_parameter *p = &g->parameters[k];
        hm__json_open(json, NULL, HM_JSON_OBJECT);
        hm__json_put_text(json, "text", p->text);
        hm__json_put_number(json, "value", p->value);
        hm__json_put_number(json, "low", p->low);
        hm__json_put_number(json, "high", p->high);
        hm__json_close(json);
    }
    hm__json_close(json);
}

static void json_alternatives(struct hm_json *json, const struct hm_g *g)
{
    hm__json_open(json, "alternatives", HM_JSON_LIST);
    for (size_t i = 0; i < g->alternative_count; i++) {
        hm__json_open(json, NULL, HM_JSON_OBJECT);
        hm__json_put_text(json, "form", hm_g_form_name(g->alternatives[i].form));
        hm__json_put_number(json, "error", g->alternatives[i].error);
        hm__json_close(json);
    }
    hm__json_close(json);
}

static void json_curves(struct hm_json *json, const struct hm_g *g)
{
    hm__json_open(json, "curves", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < g->curve_count; i++) {
        const struct hm_g_curve *c = &g->curves[i];
        hm__json_open(json, NULL, HM_JSON_OBJECT);
        hm__json_put_number(json, "n", c->m);
        hm__json_put_bool(json, "diverged", c->diverged);
        hm__json_put_numbers(json, "iteration", c->iteration, c->count);
        hm__json_put_numbers(json, "loss", c->loss, c->count);
        hm__json_close(json);
    }
    hm__json_close(json);
}

/*
 * Writes the costs of staleness, which are factors that multiply the number of iterations. An
 * unbounded staleness is written as the string "async", because JSON has no infinity.
 */
static void json_costs(struct hm_json *json, const struct hm_g_stale *stale)
{
    hm__json_open(json, "costs", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < stale->cost_count; i++) {
        const struct hm_stale_cost *c = &stale->costs[i];
        hm__json_open(json, NULL, HM_JSON_OBJECT);
        if (isinf(c->staleness))
            hm__json_put_text(json, "staleness", hm_consistency_name(HM_CONSISTENCY_ASYNC));
        else
            hm__json_put_number(json, "staleness", c->staleness);
        hm__json_put_number(json, "n", c->m);
        hm__json_put_number(json, "factor", c->factor);
        hm__json_put_number(json, "low", c->low);
        hm__json_put_number(json, "high", c->high);
        hm__json_close(json);
    }
    hm__json_close(json);
}

/* Writes the fitted cost of staleness; omits the key if no traces had stale gradients. */
static void json_staleness(struct hm_json *json, const char *key, const struct hm_g_stale *stale,
                           bool whole)
{
    if (stale->traces == 0)
        return;
    hm__json_open(json, key, HM_JSON_OBJECT);
    hm__json_put_number(json, "traces", (double)stale->traces);
    hm__json_put_number(json, "level", stale->level);
    hm__json_put_number(json, "growth", stale->growth);
    hm__json_put_number(json, "power", stale->power);
    hm__json_put_number(json, "exponent", stale->exponent);
    hm__json_put_number(json, "error", stale->error);
    hm__json_put_number(json, "without", stale->without);
    hm__json_put_number(json, "held_out", stale->held_out);
    json_costs(json, stale);
    if (whole)
        json_draws(json, stale->draws, stale->draw_count, HM_STALE_PARAMETERS);
    hm__json_close(json);
}

/*
 * Writes how the loss depends on the number of rows in the training data; omits the key if all
 * traces have the same number of rows.
 */
static void json_size(struct hm_json *json, const struct hm_g_size *size)
{
    if (size->count == 0)
        return;
    hm__json_open(json, "size", HM_JSON_OBJECT);
    hm__json_put_number(json, "count", (double)size->count);
    hm__json_put_number(json, "least", size->least);
    hm__json_put_number(json, "most", size->most);
    hm__json_put_bool(json, "known", size->known);
    hm__json_put_number(json, "power", size->power);
    hm__json_put_number(json, "scale", size->scale);
    hm__json_put_number(json, "held_out", size->held_out);
    hm__json_put_number(json, "spread", size->spread);
    hm__json_put_number(json, "shift", size->shift);
    hm__json_close(json);
}

static void json_algorithm(struct hm_json *json, const struct hm_g *g, bool whole)
{
    hm__json_open(json, NULL, HM_JSON_OBJECT);
    hm__json_put_text(json, "algorithm", g->algorithm);
    hm__json_put_text(json, "form", hm_g_form_name(g->form));
    hm__json_put_number(json, "traces", (double)g->curve_count);
    hm__json_put_number(json, "points", (double)hm__g_points(g));
    json_parameters(json, g);
    hm__json_put_numbers(json, "n", g->m, g->m_count);
    hm__json_put_numbers(json, "spread", g->spread, g->m_count);
    hm__json_put_numbers(json, "apart", g->apart, g->m_count);
    hm__json_put_number(json, "last", g->last);
    hm__json_put_number(json, "error", g->error);
    hm__json_put_number(json, "penalty", g->penalty);
    json_alternatives(json, g);
    json_staleness(json, "ssp", &g->ssp, whole);
    json_staleness(json, "async", &g->async, whole);
    json_staleness(json, "backup", &g->backup, whole);
    json_size(json, &g->size);
    if (whole) {
        json_curves(json, g);
        json_draws(json, g->draws, g->draw_count, g->parameter_count);
    }
    hm__json_close(json);
}

static void json_pace(struct hm_json *json, const struct hm_pace *p)
{
    hm__json_open(json, NULL, HM_JSON_OBJECT);
    hm__json_put_text(json, "algorithm", p->algorithm);
    hm__json_put_text(json, "source", p->source);
    hm__json_put_numbers(json, "n", p->m, p->count);
    hm__json_put_numbers(json, "seconds", p->seconds, p->count);
    if (isinf(p->staleness))
        hm__json_put_text(json, "staleness", hm_consistency_name(HM_CONSISTENCY_ASYNC));
    else
        hm__json_put_number(json, "staleness", p->staleness);
    hm__json_put_number(json, "backups", p->backups);
    if (p->deviation) {
        hm__json_put_numbers(json, "low_s", p->low_s, p->count);
        hm__json_put_numbers(json, "high_s", p->high_s, p->count);
        hm__json_put_numbers(json, "deviation", p->deviation, p->count);
    }
    hm__json_put_texts(json, "terms", p->terms, p->term_count);
    hm__json_put_numbers(json, "theta", p->theta, p->term_count);
    hm__json_put_number(json, "noise", p->noise);
    json_draws(json, p->draws, p->draw_count, p->term_count);
    hm__json_close(json);
}

static void json_paces(struct hm_json *json, const struct hm_paces *p)
{
    hm__json_open(json, "paces", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; p && i < p->count; i++)
        json_pace(json, &p->paces[i]);
    hm__json_close(json);
}

static void json_left_out(struct hm_json *json, const struct hm_g_holdout *h)
{
    hm__json_open(json, "left_out", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < h->left_out_count; i++) {
        const struct hm_g_error *e = &h->left_out[i];
        hm__json_open(json, NULL, HM_JSON_OBJECT);
        hm__json_put_number(json, "n", e->m);
        hm__json_put_number(json, "points", (double)e->points);
        hm__json_put_number(json, "median", e->median);
        hm__json_put_number(json, "rms", e->rms);
        hm__json_put_number(json, "covered", e->covered);
        hm__json_put_bool(json, "inside", e->inside);
        hm__json_close(json);
    }
    hm__json_close(json);
}

static void json_ahead(struct hm_json *json, const struct hm_g_holdout *h)
{
    hm__json_open(json, "ahead", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < h->ahead_count; i++) {
        const struct hm_g_ahead *a = &h->ahead[i];
        hm__json_open(json, NULL, HM_JSON_OBJECT);
        hm__json_put_number(json, "n", a->m);
        hm__json_put_number(json, "points", (double)a->points);
        hm__json_put_number(json, "median", a->median);
        hm__json_put_number(json, "rms", a->rms);
        hm__json_close(json);
    }
    hm__json_close(json);
}

static void json_rows(struct hm_json *json, const struct hm_g_holdout *h)
{
    hm__json_open(json, "rows", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < h->rows_count; i++) {
        const struct hm_g_rows_error *e = &h->rows[i];
        hm__json_open(json, NULL, HM_JSON_OBJECT);
        hm__json_put_number(json, "rows", e->rows);
        hm__json_put_number(json, "from", e->from);
        hm__json_put_number(json, "to", e->to);
        hm__json_put_number(json, "points", (double)e->points);
        hm__json_put_number(json, "median", e->median);
        hm__json_put_number(json, "rms", e->rms);
        hm__json_put_number(json, "covered", e->covered);
        hm__json_close(json);
    }
    hm__json_close(json);
}

static void json_holdout(struct hm_json *json, const struct hm_holdout *holdout)
{
    if (!holdout) {
        hm__json_put_null(json, "holdout");
        return;
    }
    hm__json_open(json, "holdout", HM_JSON_OBJECT);
    hm__json_put_number(json, "ahead", holdout->ahead);
    hm__json_put_number(json, "ahead_s", holdout->ahead_s);
    hm__json_put_number(json, "window", holdout->window);
    hm__json_open(json, "algorithms", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < holdout->count; i++) {
        const struct hm_g_holdout *h = &holdout->algorithms[i];
        hm__json_open(json, NULL, HM_JSON_OBJECT);
        hm__json_put_text(json, "algorithm", h->algorithm);
        hm__json_put_number(json, "inside", h->inside);
        hm__json_put_number(json, "outside", h->outside);
        hm__json_put_number(json, "ahead_median", h->ahead_median);
        json_left_out(json, h);
        json_ahead(json, h);
        json_rows(json, h);
        hm__json_close(json);
    }
    hm__json_close(json);
    hm__json_put_texts(json, "notes", holdout->notes, holdout->note_count);
    hm__json_close(json);
}

void hm__render_convergence_json(struct hm_text *out, const struct hm_convergence *c,
                                 const struct hm_holdout *holdout, bool whole)
{
    struct hm_json json = {.out = out};

    hm__json_open_answer(&json);
    hm__json_put_text(&json, "kind", "convergence");
    hm__json_put_number(&json, "version", HM_CONVERGENCE_VERSION);
    hm__json_put_text(&json, "measure", c->measure);
    hm__json_put_text(&json, "unit", c->unit);
    hm__json_put_number(&json, "best_loss", c->best);
    hm__json_put_number(&json, "best_loss_low", c->best_low);
    hm__json_put_number(&json, "best_loss_high", c->best_high);
    hm__json_put_bool(&json, "best_loss_estimated", c->best_estimated);
    hm__json_put_bool(&json, "best_loss_sampled", c->best_sampled);
    hm__json_put_number(&json, "rows", c->rows);
    hm__json_put_number(&json, "level", c->level);
    hm__json_open(&json, "algorithms", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < c->count; i++)
        json_algorithm(&json, &c->algorithms[i], whole);
    hm__json_close(&json);
    if (whole)
        json_paces(&json, c->paces);
    if (holdout || !whole)
        json_holdout(&json, holdout);
    hm__json_put_texts(&json, "notes", c->notes, c->note_count);
    hm__json_close_answer(&json);
}
