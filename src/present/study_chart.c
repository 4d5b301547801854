/*
 * Draws the charts of a study. The time of a point is its number of iterations times the measured
 * time of an iteration on the same number of workers, so no model is needed.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "study_render.h"
#include "svg.h"

enum { ROWS_SHOWN = 12, LABEL_SIZE = 160 };

static void *page_alloc(struct hm_page *page, size_t count, size_t size)
{
    void *memory = hm__arena_alloc(page->arena, count, size);

    page->failed = page->failed || !memory;
    return memory;
}

/*
 * Creates a label such as "name, m = 8" (m is the number of workers) in the arena of the page;
 * returns NULL if memory runs out.
 */
static const char *page_curve_label(struct hm_page *page, const char *algorithm, double m)
{
    const char *text =
        hm__arena_printf(page->arena, "%.100s%sm = %.0f", algorithm, *algorithm ? ", " : "", m);

    page->failed = page->failed || !text;
    return text;
}

static const char *algorithm_label(const char *algorithm)
{
    return *algorithm ? algorithm : "all runs";
}

/*
 * Starts a chart with its caption. Returns false, and adds nothing, if the chart has no points or
 * an allocation has failed.
 */
static bool page_begin_figure(struct hm_page *page, struct hm_svg_chart *chart)
{
    if (page->failed || !hm__svg_has_points(chart))
        return false;
    chart->number = ++page->charts;
    hm__text_add(page->out, "<figure>\n<figcaption>");
    hm__xml_text(page->out, chart->title);
    hm__text_add(page->out, "</figcaption>\n");
    hm__svg_add(page->out, chart);
    return true;
}

static void page_end_figure(struct hm_page *page)
{
    hm__text_add(page->out, "</figure>\n");
}

/*
 * Starts a table with the numbers of a chart, which the page shows only after the reader has opened
 * it.
 */
static void details_begin(struct hm_text *out, const char *title, const char *const *columns)
{
    hm__text_add(out, "<details><summary>as a table</summary>\n");
    hm__table_begin(out, title, columns);
}

static void details_end(struct hm_text *out)
{
    hm__table_end(out);
    hm__text_add(out, "</details>\n");
}

/*
 * Appends a chart of loss curves, with a table that the reader can open. The table contains at most
 * about ROWS_SHOWN points of each curve, including the last point.
 */
static void page_add_curves(struct hm_page *page, struct hm_svg_chart *chart, const char *x_name,
                            const char *const *labels)
{
    const char *const columns[] = {"curve", x_name, "*P - P*", NULL};
    struct hm_text *out = page->out;
    char x[HM_SHOWN], y[HM_SHOWN];

    if (!page_begin_figure(page, chart))
        return;
    details_begin(out, chart->title, columns);
    for (size_t k = 0; k < chart->count; k++) {
        const struct hm_svg_series *s = &chart->series[k];
        size_t step = (s->count + ROWS_SHOWN - 1) / ROWS_SHOWN;
        for (size_t i = 0; i < s->count; i++) {
            if ((s->count - 1 - i) % (step ? step : 1) != 0)
                continue;
            hm__table_row(out, labels[k]);
            hm__table_number(out, hm__show_loss(s->x[i], x));
            hm__table_number(out, hm__show_loss(s->y[i], y));
            hm__table_row_end(out);
        }
    }
    details_end(out);
    page_end_figure(page);
}

/* Returns the excess loss P - P* at each point of a curve, in the arena of the page. */
static double *curve_losses(struct hm_page *page, const struct hm_convergence *c,
                            const struct hm_g_curve *curve)
{
    double *y = page_alloc(page, curve->count, sizeof(*y));

    for (size_t i = 0; y && i < curve->count; i++)
        y[i] = curve->loss[i] - c->best;
    return y;
}

/*
 * Returns the number of different numbers of workers of the algorithm that are smaller than `m`.
 * This rank selects the colour and the shape.
 */
static size_t curve_rank(const struct hm_g *g, double m)
{
    size_t rank = 0;

    for (size_t k = 0; k < g->m_count; k++)
        rank += g->m[k] < m;
    return rank;
}

static bool curve_is_named(const struct hm_g *g, size_t k)
{
    for (size_t j = 0; j < k; j++)
        if (g->curves[j].m == g->curves[k].m)
            return true;
    return false;
}

void hm__chart_iterations(struct hm_page *page, const struct hm_convergence *c, size_t algorithm)
{
    const struct hm_g *g = &c->algorithms[algorithm];
    struct hm_svg_series *series = page_alloc(page, g->curve_count, sizeof(*series));
    const char **labels = page_alloc(page, g->curve_count, sizeof(*labels));
    char title[LABEL_SIZE], x_label[LABEL_SIZE], x_name[LABEL_SIZE];

    for (size_t k = 0; series && labels && k < g->curve_count; k++) {
        const struct hm_g_curve *curve = &g->curves[k];
        double *y = curve_losses(page, c, curve);
        labels[k] = page_curve_label(page, "", curve->m);
        if (!y || !labels[k])
            return;
        series[k] = (struct hm_svg_series){.name = curve_is_named(g, k) ? NULL : labels[k],
                                           .look = curve_rank(g, curve->m),
                                           .x = curve->iteration,
                                           .y = y,
                                           .count = curve->count,
                                           .line = true};
    }
    if (page->failed)
        return;
    snprintf(title, sizeof(title), "%.100s: loss by %.20s", algorithm_label(g->algorithm), c->unit);
    snprintf(x_label, sizeof(x_label), "%.20ss", c->unit);
    snprintf(x_name, sizeof(x_name), "*%.20s", c->unit);
    struct hm_svg_chart chart = {
        .title = title,
        .description = "Loss above the best on a logarithmic axis, against iterations. One curve "
                       "for each measured number of workers.",
        .x_label = x_label,
        .y_label = "P - P*",
        .x_scale =
            g->form == HM_G_POWER || g->form == HM_G_INVERSE ? HM_SCALE_LOG : HM_SCALE_LINEAR,
        .y_scale = HM_SCALE_LOG,
        .series = series,
        .count = g->curve_count};
    page_add_curves(page, &chart, x_name, labels);
}

/* ---- loss against time ----------------------------------------------------------------------- */

/*
 * Returns the measured time of one iteration on m workers in seconds; NaN if there is no
 * measurement.
 */
static double pace_seconds(const struct hm_paces *paces, const char *algorithm, double m)
{
    double found = NAN;

    for (size_t i = 0; paces && i < paces->count; i++) {
        const struct hm_pace *p = &paces->paces[i];
        if (p->algorithm && strcmp(p->algorithm, algorithm) != 0)
            continue;
        for (size_t k = 0; k < p->count; k++)
            if (p->m[k] == m && (isnan(found) || p->algorithm))
                found = p->seconds[k];
    }
    return found;
}

static const struct hm_g_curve *curve_find(const struct hm_g *g, double m)
{
    for (size_t k = 0; k < g->curve_count; k++)
        if (g->curves[k].m == m && g->curves[k].count)
            return &g->curves[k];
    return NULL;
}

/*
 * Finds a trace on the number of workers that the advice ranks best among the numbers that have
 * both a trace and a measured time; returns NULL if there is none.
 */
static const struct hm_g_curve *curve_find_best(const struct hm_convergence *c,
                                                const struct hm_advice *a, const struct hm_g *g,
                                                double *ret_seconds)
{
    for (size_t i = 0; i < a->candidate_count; i++) {
        const struct hm_candidate *candidate = &a->candidates[i];
        if (strcmp(candidate->algorithm, g->algorithm) != 0)
            continue;
        const struct hm_g_curve *curve = curve_find(g, candidate->m);
        *ret_seconds = pace_seconds(c->paces, g->algorithm, candidate->m);
        if (curve && isfinite(*ret_seconds))
            return curve;
    }
    return NULL;
}

static bool series_add_times(struct hm_page *page, const struct hm_convergence *c,
                             const struct hm_g *g, const struct hm_g_curve *curve, double seconds,
                             struct hm_svg_series *series)
{
    double *x = page_alloc(page, curve->count, sizeof(*x)), *y = curve_losses(page, c, curve);
    const char *name = page_curve_label(page, g->algorithm, curve->m);

    if (!x || !y || !name)
        return false;
    for (size_t i = 0; i < curve->count; i++)
        x[i] = curve->iteration[i] * seconds;
    series->name = name;
    series->x = x;
    series->y = y;
    series->count = curve->count;
    series->line = true;
    return true;
}

/*
 * Returns the index that selects the colour and the shape of an algorithm. It is the algorithm's
 * rank in the advice, so that the algorithm looks the same in all charts.
 */
static size_t algorithm_look(const struct hm_advice *a, const char *algorithm)
{
    size_t look = 0;

    for (size_t i = 0; i < a->candidate_count; i++) {
        if (strcmp(a->candidates[i].algorithm, algorithm) == 0)
            break;
        look += hm__advice_is_first(a, i);
    }
    return look;
}

void hm__chart_times(struct hm_page *page, const struct hm_convergence *c,
                     const struct hm_advice *advice)
{
    struct hm_svg_series *series = page_alloc(page, c->count, sizeof(*series));
    const char **labels = page_alloc(page, c->count, sizeof(*labels));
    size_t count = 0;

    for (size_t i = 0; series && labels && i < c->count; i++) {
        double seconds;
        const struct hm_g_curve *curve = curve_find_best(c, advice, &c->algorithms[i], &seconds);
        if (!curve)
            continue;
        if (!series_add_times(page, c, &c->algorithms[i], curve, seconds, &series[count]))
            return;
        series[count].look = algorithm_look(advice, c->algorithms[i].algorithm);
        labels[count] = series[count].name;
        count++;
    }
    struct hm_svg_chart chart = {.title = "Loss by time, each algorithm on its best measured m",
                                 .description = "Loss above the best against seconds, both "
                                                "logarithmic. One curve for each algorithm.",
                                 .x_label = "seconds",
                                 .y_label = "P - P*",
                                 .x_scale = HM_SCALE_LOG,
                                 .y_scale = HM_SCALE_LOG,
                                 .series = series,
                                 .count = count};
    page_add_curves(page, &chart, "*seconds", labels);
}

/* ---- seconds of an iteration ----------------------------------------------------------------- */

/*
 * Appends a table of the times of an iteration and their percentiles, in seconds. The table is
 * closed until the reader opens it.
 */
static void page_add_paces(struct hm_text *out, const struct hm_paces *paces, const char *title)
{
    const char *const columns[] = {"algorithm",       "*workers",         "*mean",
                                   "*5th percentile", "*95th percentile", NULL};
    char shown[HM_SHOWN];

    details_begin(out, title, columns);
    for (size_t k = 0; k < paces->count; k++) {
        const struct hm_pace *p = &paces->paces[k];
        for (size_t i = 0; i < p->count; i++) {
            bool known = p->low_s && isfinite(p->low_s[i]);
            hm__table_row(out, algorithm_label(p->algorithm ? p->algorithm : ""));
            hm__table_number(out, hm__show_count(p->m[i], shown));
            hm__table_number(out, hm__show_time(p->seconds[i], shown));
            hm__table_number(out, known ? hm__show_time(p->low_s[i], shown) : "");
            hm__table_number(out, known ? hm__show_time(p->high_s[i], shown) : "");
            hm__table_row_end(out);
        }
    }
    details_end(out);
}

void hm__chart_paces(struct hm_page *page, const struct hm_paces *paces,
                     const struct hm_advice *advice)
{
    struct hm_svg_series *series =
        paces ? page_alloc(page, paces->count + 1, sizeof(*series)) : NULL;
    struct hm_svg_chart chart = {.title = "Seconds of an iteration by number of workers",
                                 .description = "One line for each algorithm; bars are from the "
                                                "5th to the 95th percentile of iterations.",
                                 .x_label = "workers",
                                 .y_label = "seconds",
                                 .x_scale = HM_SCALE_LOG2,
                                 .y_scale = HM_SCALE_LOG,
                                 .apart = true,
                                 .series = series};

    for (size_t k = 0; series && k < paces->count; k++) {
        const struct hm_pace *p = &paces->paces[k];
        series[chart.count++] = (struct hm_svg_series){
            .name = algorithm_label(p->algorithm ? p->algorithm : ""),
            .look = advice && p->algorithm ? algorithm_look(advice, p->algorithm) : k,
            .x = p->m,
            .y = p->seconds,
            .low = p->low_s,
            .high = p->high_s,
            .count = p->count,
            .line = true};
    }
    if (!paces || !page_begin_figure(page, &chart))
        return;
    page_add_paces(page->out, paces, chart.title);
    page_end_figure(page);
}

/* ---- candidates ------------------------------------------------------------------------------ */

/*
 * Finds the candidate of an algorithm with the smallest number of workers above `above`; returns
 * NULL if there is none.
 */
static const struct hm_candidate *candidate_next(const struct hm_advice *a, const char *algorithm,
                                                 double above)
{
    const struct hm_candidate *found = NULL;

    for (size_t i = 0; i < a->candidate_count; i++) {
        const struct hm_candidate *c = &a->candidates[i];
        if (strcmp(c->algorithm, algorithm) == 0 && c->m > above && (!found || c->m < found->m))
            found = c;
    }
    return found;
}

static bool series_add_candidates(struct hm_page *page, const struct hm_advice *a,
                                  const char *algorithm, struct hm_svg_series *series)
{
    double *values = page_alloc(page, 4 * a->candidate_count, sizeof(*values));
    bool times = hm__advice_asks_loss(a);
    const struct hm_candidate *c = NULL;

    if (!values)
        return false;
    double *x = values, *y = x + a->candidate_count, *low = y + a->candidate_count,
           *high = low + a->candidate_count;
    while ((c = candidate_next(a, algorithm, c ? c->m : 0))) {
        x[series->count] = c->m;
        y[series->count] = times ? c->time_s : c->loss;
        low[series->count] = times ? c->low_s : c->loss_low;
        high[series->count++] = times ? c->high_s : c->loss_high;
    }
    series->name = algorithm_label(algorithm);
    series->x = x;
    series->y = y;
    series->low = low;
    series->high = high;
    series->line = true;
    return true;
}

/*
 * Appends the chart of all candidates. A table of all candidates follows it in the report, so the
 * chart has no table of its own.
 */
void hm__chart_candidates(struct hm_page *page, const struct hm_advice *a)
{
    struct hm_svg_series *series = page_alloc(page, a->candidate_count, sizeof(*series));
    bool times = hm__advice_asks_loss(a);
    char title[LABEL_SIZE], loss[HM_SHOWN];
    size_t count = 0;

    for (size_t i = 0; series && i < a->candidate_count; i++) {
        if (!hm__advice_is_first(a, i))
            continue;
        series[count].look = count;
        if (!series_add_candidates(page, a, a->candidates[i].algorithm, &series[count]))
            return;
        count++;
    }
    if (times)
        snprintf(title, sizeof(title), "Time to %s by number of workers",
                 hm__show_loss(a->loss, loss));
    else
        snprintf(title, sizeof(title), "Loss reached, by number of workers");
    struct hm_svg_chart chart = {.title = title,
                                 .description = "One line for each algorithm; bars are intervals. "
                                                "The table of candidates has the same numbers.",
                                 .x_label = "workers",
                                 .y_label = times ? "seconds" : "P - P*",
                                 .x_scale = HM_SCALE_LOG2,
                                 .y_scale = HM_SCALE_LOG,
                                 .apart = true,
                                 .series = series,
                                 .count = count};
    if (page_begin_figure(page, &chart))
        page_end_figure(page);
}

/*
 * Appends the chart of predicted and measured times of the check runs. The table of these runs
 * precedes it in the report, so the chart has no table of its own.
 */
void hm__chart_checks(struct hm_page *page, const struct hm_study *s)
{
    struct hm_svg_series *series = page_alloc(page, s->check_count, sizeof(*series));

    for (size_t i = 0; series && i < s->check_count; i++) {
        const struct hm_study_check *k = &s->checks[i];
        const char *name = hm__arena_printf(page->arena, "%.80s on %.0f, %.40s", k->algorithm, k->m,
                                            k->role ? k->role : "");
        page->failed = page->failed || !name;
        series[i] = (struct hm_svg_series){.name = isfinite(k->achieved_s) ? name : NULL,
                                           .look = i,
                                           .x = &k->achieved_s,
                                           .y = &k->predicted_s,
                                           .low = &k->predicted_low_s,
                                           .high = &k->predicted_high_s,
                                           .count = 1};
    }
    struct hm_svg_chart chart = {.title = "Predicted and achieved seconds",
                                 .description = "A point on the dashed line was predicted exactly. "
                                                "Bars are intervals.",
                                 .x_label = "achieved, seconds",
                                 .y_label = "predicted, seconds",
                                 .x_scale = HM_SCALE_LOG,
                                 .y_scale = HM_SCALE_LOG,
                                 .diagonal = true,
                                 .series = series,
                                 .count = s->check_count};
    if (page_begin_figure(page, &chart))
        page_end_figure(page);
}
