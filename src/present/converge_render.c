/*
 * Renders g(i, m), the loss after i iterations on m workers. This file writes the measured points
 * as CSV, and selects the renderer for the other formats.
 */
#include "converge_render.h"
#include "checks.h"

size_t hm__g_points(const struct hm_g *g)
{
    size_t points = 0;

    for (size_t i = 0; i < g->curve_count; i++)
        points += g->curves[i].count;
    return points;
}

static void csv_curve(struct hm_text *out, const struct hm_g *g, const struct hm_g_curve *c)
{
    for (size_t i = 0; i < c->count; i++) {
        hm__csv_text(out, g->algorithm);
        hm__csv_number(out, c->m);
        hm__csv_number(out, c->iteration[i]);
        hm__csv_number(out, c->loss[i]);
        hm__text_add(out, "\n");
    }
}

static void convergence_csv(struct hm_text *out, const struct hm_convergence *c)
{
    hm__text_add(out, "algorithm,n,iteration,loss\n");
    for (size_t i = 0; i < c->count; i++)
        for (size_t k = 0; k < c->algorithms[i].curve_count; k++)
            csv_curve(out, &c->algorithms[i], &c->algorithms[i].curves[k]);
}

int hm_convergence_render(const struct hm_convergence *convergence,
                          const struct hm_holdout *holdout, enum hm_format format,
                          const struct hm_style *style, char **ret_text, struct hm_err *err)
{
    int bad = hm__check_pointers(err, "convergence", convergence, "ret_text", ret_text, NULL);
    if (bad == 0)
        bad = hm__check_format(format, err);
    if (bad)
        return bad;
    const struct hm_style own = hm__style_or_default(style);
    struct hm_text out = {0};

    switch (format) {
    case HM_FORMAT_GNUPLOT:
        return hm__convergence_plot(convergence, NULL, 0, own.file, ret_text, err);
    case HM_FORMAT_JSON:
        hm__render_convergence_json(&out, convergence, holdout, own.table);
        break;
    case HM_FORMAT_CSV:
        convergence_csv(&out, convergence);
        break;
    case HM_FORMAT_TEXT:
        hm__render_convergence_text(&out, convergence, holdout, &own);
        break;
    }
    return hm__text_take(&out, ret_text, err);
}
