/*
 * Renders g(i, m), the loss after i iterations on m workers, as human-readable text: P*, the
 * optimal loss; for each algorithm, the form of g, its error and its parameters; the errors for
 * held-out numbers of workers; and notes.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "converge_render.h"

enum { NAME_SHOWN = 24 };

static const char *g_form_text(enum hm_g_form form)
{
    switch (form) {
    case HM_G_TERMS:
        return "ln(P - P*) is a sum of terms";
    case HM_G_RATE:
        return "P - P* = a m^d (1 - c0 / m^c1)^i";
    case HM_G_INVERSE:
        return "P - P* = 1 / (a m^-p i + b) + c m^q";
    case HM_G_POWER:
        return "P - P* = a m^d i^-(p + q ln m)";
    case HM_G_FORMS:
        break;
    }
    return "?";
}

static const char *g_name(const char *algorithm)
{
    return *algorithm ? algorithm : "the algorithm";
}

static void convergence_add_best_loss(struct hm_text *out, const struct hm_convergence *c,
                                      const struct hm_style *style)
{
    struct hm_text line = {0};
    char interval[HM_SHOWN_RANGE];

    hm__text_addf(&line, "P is the %s, P* = %.6g", c->measure ? c->measure : "loss", c->best);
    if (c->best_estimated && isfinite(c->best_low) && isfinite(c->best_high))
        hm__text_addf(&line, ", estimated: %s (%g %%)",
                      hm__show_interval(c->best_low, c->best_high, 6, interval), 100 * c->level);
    else
        hm__text_add(&line, c->best_estimated ? ", estimated" : ", given");
    if (c->best_sampled)
        hm__text_add(&line, ", of the largest sample of the rows");
    hm__render_taken(out, style, &line, 2);
}

static void g_add_title(struct hm_text *out, const struct hm_g *g, const struct hm_style *style)
{
    struct hm_text line = {0};

    hm__text_addf(&line, "%s: %s", g_name(g->algorithm), g_form_text(g->form));
    hm__text_addf(out, "\n%s", hm__render_bold(style, true));
    hm__render_wrapped(out, style, line.data ? line.data : "", 2);
    hm__text_addf(out, "%s\n", hm__render_bold(style, false));
    out->failed = out->failed || line.failed;
    hm__text_release(&line);
}

static void g_add_error(struct hm_text *out, const struct hm_g *g, const struct hm_style *style)
{
    struct hm_text line = {0};

    if (isfinite(g->error))
        hm__text_addf(&line, "%.2g in log10(P - P*), for an m that is held out", g->error);
    else
        hm__text_add(&line, "not known: no m could be held out");
    hm__render_taken_line(out, style, "off by", &line);
}

static void g_add_origin(struct hm_text *out, const struct hm_convergence *c, const struct hm_g *g,
                         const struct hm_style *style)
{
    struct hm_text line = {0};
    char last[HM_SHOWN];

    hm__text_addf(&line, "%zu trace%s with %zu points, up to %s %ss, m = ", g->curve_count,
                  g->curve_count == 1 ? "" : "s", hm__g_points(g), hm__show_count(g->last, last),
                  c->unit);
    for (size_t i = 0; i < g->m_count; i++)
        hm__text_addf(&line, "%s%.0f", i ? ", " : "", g->m[i]);
    hm__render_taken_line(out, style, "from", &line);
}

static void g_add_alternatives(struct hm_text *out, const struct hm_g *g,
                               const struct hm_style *style)
{
    struct hm_text line = {0};

    for (size_t i = 0; i < g->alternative_count; i++) {
        const struct hm_g_alternative *a = &g->alternatives[i];
        hm__text_addf(&line, "%s%s", i ? ", " : "", hm_g_form_name(a->form));
        if (isfinite(a->error))
            hm__text_addf(&line, " off by %.2g", a->error);
        else
            hm__text_add(&line, " (no fit)");
    }
    if (line.length || line.failed)
        hm__render_taken_line(out, style, "considered", &line);
}

static void g_add_parameters(struct hm_text *out, const struct hm_convergence *c,
                             const struct hm_g *g, const struct hm_style *style)
{
    size_t width = 9;
    char title[40], interval[HM_SHOWN_RANGE];

    for (size_t k = 0; k < g->parameter_count; k++)
        if (hm__text_columns(g->parameters[k].text) > width)
            width = hm__text_columns(g->parameters[k].text);
    width = width < NAME_SHOWN ? width : NAME_SHOWN;
    snprintf(title, sizeof(title), "%g %% interval", 100 * c->level);
    hm__text_addf(out, "  %s", hm__render_dim(style, true));
    hm__render_cell(out, g->form == HM_G_TERMS ? "term" : "parameter", width);
    hm__text_addf(out, " %12s   %s%s\n", "value", g->draw_count ? title : "",
                  hm__render_dim(style, false));
    for (size_t k = 0; k < g->parameter_count; k++) {
        const struct hm_g_parameter *p = &g->parameters[k];
        /*
         * The value of a term is 0 if the term is missing in the fit and occurs only in some of its
         * random draws; such a term is not shown.
         */
        if (g->form == HM_G_TERMS && p->value == 0)
            continue;
        hm__text_add(out, "  ");
        hm__render_cell(out, p->text, width);
        hm__text_addf(out, " %12.4g", p->value);
        if (isfinite(p->low) && isfinite(p->high))
            hm__text_addf(out, "   %s", hm__show_interval(p->low, p->high, 4, interval));
        hm__text_end_line(out);
    }
}

enum { COSTS_SHOWN = 12 };

/*
 * Returns whether the cost of staleness with index `k` is omitted from the text. If the cost is the
 * same for all staleness bounds, one line for each number of workers is enough. A long list is
 * reduced to the costs on the largest number of workers.
 */
static bool cost_is_left_out(const struct hm_g_stale *stale, size_t k)
{
    double most = 0;

    for (size_t i = 0; i < stale->cost_count; i++) {
        most = fmax(most, stale->costs[i].m);
        if (i < k && stale->growth == 0 && stale->costs[i].m == stale->costs[k].m)
            return true;
    }
    return stale->growth != 0 && stale->cost_count > COSTS_SHOWN && stale->costs[k].m != most;
}

/*
 * Appends the staleness bounds to which a line of the text applies, such as "3", "1 to 8" or
 * "async".
 */
static void cost_add_bounds(struct hm_text *line, const struct hm_g_stale *stale, size_t k)
{
    double last = stale->costs[k].staleness;

    if (isinf(last)) {
        hm__text_add(line, "async");
        return;
    }
    hm__text_addf(line, "%.10g", last);
    for (size_t i = k; i < stale->cost_count && stale->growth == 0; i++)
        if (stale->costs[i].m == stale->costs[k].m)
            last = stale->costs[i].staleness;
    if (last > stale->costs[k].staleness)
        hm__text_addf(line, " to %.10g", last);
}

/*
 * Writes the interval for a cost, such as "1.00 to 1.20", or an empty string if both ends are
 * equal.
 */
static const char *cost_interval(const struct hm_stale_cost *c, char *text)
{
    char from[HM_SHOWN], to[HM_SHOWN];

    snprintf(from, sizeof(from), "%#.3g", c->low);
    snprintf(to, sizeof(to), "%#.3g", c->high);
    if (strcmp(from, to) == 0)
        return hm__show_interval(c->low, c->high, 3, text);
    snprintf(text, HM_SHOWN_RANGE, "%s to %s", from, to);
    return text;
}

/* A cost above this one is not written in full; it may be infinite. */
static const double COST_MOST = 1e300;

static void stale_add_costs(struct hm_text *out, const struct hm_g_stale *stale, const char *label,
                            size_t *lines, const struct hm_style *style)
{
    for (size_t i = 0; i < stale->cost_count; i++) {
        const struct hm_stale_cost *c = &stale->costs[i];
        struct hm_text line = {0};
        char interval[HM_SHOWN_RANGE];
        if (cost_is_left_out(stale, i))
            continue;
        cost_add_bounds(&line, stale, i);
        hm__text_addf(&line, " on %.0f worker%s costs ", c->m, c->m == 1 ? "" : "s");
        if (c->factor < COST_MOST)
            hm__text_addf(&line, "%#.3g times the iterations", c->factor);
        else
            hm__text_addf(&line, "more than %g times the iterations", COST_MOST);
        if (isfinite(c->low) && isfinite(c->high))
            hm__text_addf(&line, " (%s)", cost_interval(c, interval));
        hm__render_taken_line(out, style, (*lines)++ ? "" : label, &line);
    }
}

static void g_add_staleness(struct hm_text *out, const struct hm_g *g, const struct hm_style *style)
{
    static const char *const names[] = {"stale traces are", "asynchronous traces are",
                                        "traces with backup workers are"};
    const struct hm_g_stale *const parts[] = {&g->ssp, &g->async, &g->backup};
    size_t lines = 0;

    for (size_t k = 0; k < 3; k++) {
        const struct hm_g_stale *stale = parts[k];
        struct hm_text line = {0};
        if (stale->traces == 0)
            continue;
        lines = k == 2 ? 0 : lines;
        stale_add_costs(out, stale, k == 2 ? "backups" : "staleness", &lines, style);
        hm__text_addf(&line, "%s off by %.2g with these costs, by %.2g without them", names[k],
                      stale->error, stale->without);
        if (isfinite(stale->held_out))
            hm__text_addf(&line, ", by %.2g for a %s that is held out", stale->held_out,
                          k == 2 ? "number" : "staleness");
        hm__render_taken_line(out, style, "", &line);
    }
}

/*
 * Appends how the loss depends on the number of rows in the training data, such as "iterations x
 * rows^-0.4".
 */
static void g_add_size(struct hm_text *out, const struct hm_convergence *c, const struct hm_g *g,
                       const struct hm_style *style)
{
    const struct hm_g_size *s = &g->size;
    struct hm_text line = {0};

    if (s->count == 0 || !s->known)
        return;
    hm__text_addf(&line, "%.10g, from %.10g to %.10g: ", c->rows, s->least, s->most);
    if (s->power == 0 && s->scale == 0)
        hm__text_addf(&line, "%ss and loss do not depend on them", c->unit);
    else
        hm__text_addf(&line, "%ss grow as rows^%.2f", c->unit, s->power);
    if (s->scale != 0)
        hm__text_addf(&line, ", P - P* as rows^%.2f", s->scale);
    if (isfinite(s->held_out))
        hm__text_addf(&line, "; off by %.2g for %.10g from fewer", s->held_out, s->most);
    hm__render_taken_line(out, style, "rows", &line);
}

/* ---- errors for m that were held out ----------------------------------------------------------
 */

static size_t holdout_name_width(const struct hm_holdout *h)
{
    size_t width = 9;

    for (size_t i = 0; i < h->count; i++)
        if (hm__text_columns(h->algorithms[i].algorithm) > width)
            width = hm__text_columns(h->algorithms[i].algorithm);
    return width < NAME_SHOWN ? width : NAME_SHOWN;
}

/* Appends the median and the root mean square of errors. A prediction of 0 or of infinity has an
 * infinite error, which is written as a large one. */
static void holdout_add_errors(struct hm_text *out, double median, double rms)
{
    const double errors[] = {median, rms}, most = 1e3;

    for (int i = 0; i < 2; i++)
        if (errors[i] < most)
            hm__text_addf(out, " %7.2g", errors[i]);
        else
            hm__text_addf(out, " %7s", isnan(errors[i]) ? "" : ">1000");
}

static void holdout_add_left_out(struct hm_text *out, const struct hm_holdout *h,
                                 const struct hm_style *style)
{
    size_t width = holdout_name_width(h);

    hm__text_addf(out, "\n%s", hm__render_dim(style, true));
    hm__render_cell(out, "held out", width);
    hm__text_addf(out, " %6s %7s %7s %7s %8s%s\n", "m", "points", "median", "rms", "covered",
                  hm__render_dim(style, false));
    for (size_t i = 0; i < h->count; i++)
        for (size_t k = 0; k < h->algorithms[i].left_out_count; k++) {
            const struct hm_g_error *e = &h->algorithms[i].left_out[k];
            hm__render_cell(out, h->algorithms[i].algorithm, width);
            hm__text_addf(out, " %6.0f %7zu", e->m, e->points);
            holdout_add_errors(out, e->median, e->rms);
            if (isfinite(e->covered))
                hm__text_addf(out, " %6.0f %%", 100 * e->covered);
            hm__text_addf(out, "%s", e->inside ? "" : "  at the edge");
            hm__text_end_line(out);
        }
}

/*
 * Appends a summary of the errors for held-out numbers of workers, such as "cocoa+: inside 0.11,
 * 128 from 1..64 0.07".
 */
static void holdout_add_summary(struct hm_text *out, const struct hm_g_holdout *h,
                                const struct hm_style *style)
{
    size_t last = h->left_out_count;
    bool inside = isfinite(h->inside), outside = isfinite(h->outside) && last >= 2;
    struct hm_text line = {0};

    /* The table above has all errors of an m at the edge that alone was held out. */
    if (last > 0 && !inside && !outside)
        return;
    hm__text_addf(&line, "%s: ", g_name(h->algorithm));
    if (inside)
        hm__text_addf(&line, "inside %.2g", h->inside);
    if (outside)
        hm__text_addf(&line, "%s%.0f from %.0f..%.0f %.2g", inside ? ", " : "",
                      h->left_out[last - 1].m, h->left_out[0].m, h->left_out[last - 2].m,
                      h->outside);
    if (last == 0)
        hm__text_add(&line, "no m could be held out");
    hm__render_taken(out, style, &line, 2);
}

static void holdout_add_rows(struct hm_text *out, const struct hm_holdout *h,
                             const struct hm_style *style)
{
    size_t width = holdout_name_width(h), count = 0;

    for (size_t i = 0; i < h->count; i++)
        count += h->algorithms[i].rows_count;
    if (count == 0)
        return;
    hm__text_addf(out, "\n%s", hm__render_dim(style, true));
    hm__render_cell(out, "predicted", width);
    hm__text_addf(out, " %9s %-18s %7s %7s %7s %8s%s\n", "rows", "from", "points", "median", "rms",
                  "covered", hm__render_dim(style, false));
    for (size_t i = 0; i < h->count; i++)
        for (size_t k = 0; k < h->algorithms[i].rows_count; k++) {
            const struct hm_g_rows_error *e = &h->algorithms[i].rows[k];
            char from[40];
            snprintf(from, sizeof(from), "%.10g to %.10g", e->from, e->to);
            hm__render_cell(out, h->algorithms[i].algorithm, width);
            hm__text_addf(out, " %9.0f %-18s %7zu", e->rows, from, e->points);
            holdout_add_errors(out, e->median, e->rms);
            hm__text_addf(out, " %6.0f %%\n", 100 * e->covered);
        }
    hm__text_add(out, "errors are those of log10(P - P*)\n");
}

static void holdout_add_ahead(struct hm_text *out, const struct hm_convergence *c,
                              const struct hm_holdout *h, const struct hm_style *style)
{
    size_t width = holdout_name_width(h);
    struct hm_text line = {0};
    char shown[HM_SHOWN], window[HM_SHOWN];

    if (h->ahead > 0)
        hm__text_addf(&line, "%s %ss ahead", hm__show_count(h->ahead, shown), c->unit);
    else if (h->ahead_s > 0)
        hm__text_addf(&line, "%s ahead", hm__show_time(h->ahead_s, shown));
    else
        return;
    hm__text_addf(&line, ", from the %s %ss before", hm__show_count(h->window, window), c->unit);
    hm__text_add(out, "\n");
    hm__render_taken(out, style, &line, 2);
    hm__text_add(out, hm__render_dim(style, true));
    hm__render_cell(out, "algorithm", width);
    hm__text_addf(out, " %6s %7s %7s %7s%s\n", "m", "points", "median", "rms",
                  hm__render_dim(style, false));
    for (size_t i = 0; i < h->count; i++)
        for (size_t k = 0; k < h->algorithms[i].ahead_count; k++) {
            const struct hm_g_ahead *a = &h->algorithms[i].ahead[k];
            hm__render_cell(out, h->algorithms[i].algorithm, width);
            hm__text_addf(out, " %6.0f %7zu %7.2g %7.2g\n", a->m, a->points, a->median, a->rms);
        }
    for (size_t i = 0; i < h->count; i++) {
        if (!isfinite(h->algorithms[i].ahead_median))
            continue;
        hm__render_cell(out, h->algorithms[i].algorithm, width);
        hm__text_addf(out, " %6s %7s %7.2g\n", "all", "", h->algorithms[i].ahead_median);
    }
}

/* Appends the notes about the fit and the notes about its check on held-out traces as one list. */
static void convergence_add_notes(struct hm_text *out, const struct hm_convergence *c,
                                  const struct hm_holdout *h, const struct hm_style *style)
{
    size_t more = h ? h->note_count : 0;

    hm__text_add(out, c->note_count + more ? "\n" : "");
    hm__render_notes(out, c->notes, c->note_count, style);
    if (more)
        hm__render_notes(out, h->notes, more, style);
}

static void convergence_add_holdout(struct hm_text *out, const struct hm_convergence *c,
                                    const struct hm_holdout *h, const struct hm_style *style)
{
    size_t rows = 0;

    for (size_t i = 0; i < h->count; i++)
        rows += h->algorithms[i].left_out_count;
    if (rows > 0) {
        holdout_add_left_out(out, h, style);
        hm__text_add(out, "errors are those of log10(P - P*)\n");
    }
    for (size_t i = 0; i < h->count; i++)
        if (h->left_out)
            holdout_add_summary(out, &h->algorithms[i], style);
    holdout_add_rows(out, h, style);
    holdout_add_ahead(out, c, h, style);
}

void hm__render_convergence_text(struct hm_text *out, const struct hm_convergence *c,
                                 const struct hm_holdout *holdout, const struct hm_style *style)
{
    convergence_add_best_loss(out, c, style);
    for (size_t i = 0; i < c->count; i++) {
        const struct hm_g *g = &c->algorithms[i];
        g_add_title(out, g, style);
        g_add_error(out, g, style);
        g_add_origin(out, c, g, style);
        g_add_alternatives(out, g, style);
        g_add_size(out, c, g, style);
        g_add_staleness(out, g, style);
        g_add_parameters(out, c, g, style);
    }
    if (holdout)
        convergence_add_holdout(out, c, holdout, style);
    convergence_add_notes(out, c, holdout, style);
}
