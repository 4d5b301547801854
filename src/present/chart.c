/*
 * Renders the curve of an answer as a table, and draws it with characters: speedup against the
 * number of workers n, with the recommended point, the best point and the knee marked, and the time
 * of an iteration split into computation and communication. If n spans a decade, both axes are
 * logarithmic, and a dotted line shows the ideal speedup. With Unicode, each character is a Braille
 * pattern of two by four dots; without it, each character is one dot.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "format.h"
#include "memory.h"
#include "render.h"

/*
 * Returns whether the table shows point `i` of the curve. The table of a long curve contains the
 * first points, then points at increasing distances, and always the best point, the knee, the
 * reference and the last point.
 */
static bool point_in_table(const struct hm_answer *a, size_t i, double last)
{
    double n = a->points[i].n;

    return a->point_count <= 32 || i < 8 || i == a->best || i == a->knee || i == a->recommended ||
           i + 1 == a->point_count || n == a->reference || n >= last * 1.25;
}

static const char *point_mark(const struct hm_answer *a, size_t i)
{
    if (i == a->best)
        return "best";
    if (i == a->knee)
        return "knee";
    return a->points[i].fits ? "" : "does not fit";
}

void hm__render_table(struct hm_text *out, const struct hm_answer *a, const struct hm_style *style)
{
    char time[HM_SHOWN], compute[HM_SHOWN], talk[HM_SHOWN], speedup[HM_SHOWN], cost[HM_SHOWN];
    double last = 0;

    hm__text_addf(out, "\n%s%7s %10s %10s %11s %8s %10s %9s%s\n", hm__render_dim(style, true), "n",
                  "iteration", "compute", "communicate", "speedup", "efficiency", "cost",
                  hm__render_dim(style, false));
    for (size_t i = 0; i < a->point_count; i++) {
        const struct hm_point *p = &a->points[i];
        if (!point_in_table(a, i, last))
            continue;
        last = p->n;
        hm__text_addf(out, "%7.0f %10s %10s %11s %8s %8.0f %% %9s%s%s", p->n,
                      hm__show_time(p->time_s, time), hm__show_time(p->compute_s, compute),
                      hm__show_time(p->communicate_s, talk), hm__show_number(p->speedup, speedup),
                      100 * p->efficiency, p->cost >= 0 ? hm__show_money(p->cost, cost) : "",
                      *point_mark(a, i) ? "  " : "", point_mark(a, i));
        hm__text_end_line(out);
    }
}

enum { ROWS = 11, MARGIN = 8, COLUMNS_MAX = 72, BARS = 6, CHART_NARROWEST = 40 };

/* A raster of dots, and marks that are drawn over the dots. */
struct canvas {
    size_t columns; /* Width of the raster in characters. */
    unsigned char dots[ROWS][COLUMNS_MAX];
    const char *markers[ROWS][COLUMNS_MAX];
    bool unicode;
    bool logarithmic; /* True if both axes are logarithmic. */
    /*
     * Ends of the horizontal axis (n) and of the vertical axis (y); a linear vertical axis starts
     * at 0.
     */
    double min_n, max_n, min_y, max_y;
};

static double canvas_fraction_x(const struct canvas *c, double n)
{
    if (c->max_n <= c->min_n)
        return 0;
    return c->logarithmic ? log(n / c->min_n) / log(c->max_n / c->min_n)
                          : (n - c->min_n) / (c->max_n - c->min_n);
}

static double canvas_fraction_y(const struct canvas *c, double y)
{
    return c->logarithmic ? log(y / c->min_y) / log(c->max_y / c->min_y) : y / c->max_y;
}

static void canvas_set_dot(struct canvas *c, double fx, double fy)
{
    static const unsigned char bits[4][2] = {
        {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    size_t x = (size_t)lround(fx * (double)(2 * c->columns - 1));
    size_t y = (size_t)lround((1 - fy) * (4 * ROWS - 1));

    if (x < 2 * c->columns && y < 4 * ROWS)
        c->dots[y / 4][x / 2] |= bits[y % 4][x % 2];
}

static void canvas_set_marker(struct canvas *c, double n, double y, const char *marker)
{
    size_t x = (size_t)lround(canvas_fraction_x(c, n) * (double)(2 * c->columns - 1)) / 2;
    size_t row = (size_t)lround((1 - canvas_fraction_y(c, y)) * (4 * ROWS - 1)) / 4;

    if (x < c->columns && row < ROWS)
        c->markers[row][x] = marker;
}

/* Draws the curve: straight lines between neighbouring points, dot by dot. */
static void canvas_draw_curve(struct canvas *c, const struct hm_answer *a)
{
    for (size_t i = 0; i < a->point_count; i++) {
        const struct hm_point *p = &a->points[i], *q = i ? &a->points[i - 1] : p;
        double x0 = canvas_fraction_x(c, q->n), x1 = canvas_fraction_x(c, p->n);
        double y0 = canvas_fraction_y(c, q->speedup), y1 = canvas_fraction_y(c, p->speedup);
        double steps = ceil(fmax((x1 - x0) * 2 * (double)c->columns, fabs(y1 - y0) * 4 * ROWS)) + 1;
        for (double k = 0; k <= steps; k++)
            canvas_set_dot(c, x0 + (x1 - x0) * k / steps, y0 + (y1 - y0) * k / steps);
    }
}

/* Draws the ideal speedup, n divided by the reference number of workers, as a dotted line. */
static void canvas_draw_ideal(struct canvas *c, double reference)
{
    size_t steps = c->columns / 2;

    for (size_t k = 0; k <= steps; k++) {
        double n = c->min_n * pow(c->max_n / c->min_n, (double)k / (double)steps);
        double y = canvas_fraction_y(c, n / reference);
        if (y >= 0 && y <= 1)
            canvas_set_dot(c, canvas_fraction_x(c, n), y);
    }
}

static void canvas_put_cell(struct hm_text *out, const struct canvas *c, size_t row, size_t column)
{
    unsigned char dots = c->dots[row][column];

    if (c->markers[row][column]) {
        hm__text_add(out, c->markers[row][column]);
    } else if (!c->unicode) {
        hm__text_add(out, dots ? "*" : " ");
    } else if (dots == 0) {
        hm__text_add(out, " ");
    } else {
        const char braille[] = {(char)0xe2, (char)(0xa0 | dots >> 6), (char)(0x80 | (dots & 0x3f))};
        hm__text_add_n(out, braille, 3);
    }
}

static void canvas_put(struct hm_text *out, const struct canvas *c)
{
    char number[HM_SHOWN];

    for (size_t row = 0; row < ROWS; row++) {
        bool label = row == 0 || row == ROWS - 1 || row == ROWS / 2;
        double share = 1 - (double)row / (ROWS - 1);
        double y = c->logarithmic ? c->min_y * pow(c->max_y / c->min_y, share) : c->max_y * share;
        hm__text_addf(out, "%*s %s", MARGIN - 2, label ? hm__show_number(y, number) : "",
                      c->unicode ? "\xe2\x94\x82" : "|");
        for (size_t column = 0; column < c->columns; column++)
            canvas_put_cell(out, c, row, column);
        hm__text_end_line(out);
    }
    hm__text_repeat(out, " ", MARGIN - 1);
    hm__text_add(out, c->unicode ? "\xe2\x94\x94" : "+");
    hm__text_repeat(out, c->unicode ? "\xe2\x94\x80" : "-", c->columns);
    int used = snprintf(number, sizeof(number), "%.0f", c->min_n);
    hm__text_addf(out, "\n%*s%s", MARGIN, "", number);
    snprintf(number, sizeof(number), "%.0f", c->max_n);
    hm__text_addf(out, "%*s\n", (int)c->columns - used, number);
}

/* Sets the ends of both axes so that the curve and the measured points are visible. */
static void canvas_set_axes(struct canvas *c, const struct hm_answer *a)
{
    c->min_n = a->points[0].n;
    c->max_n = a->points[a->point_count - 1].n;
    c->logarithmic = c->max_n >= 10 * c->min_n;
    c->min_y = INFINITY;
    for (size_t i = 0; i < a->point_count; i++) {
        c->min_y = fmin(c->min_y, a->points[i].speedup);
        c->max_y = fmax(c->max_y, a->points[i].speedup);
    }
    for (size_t i = 0; i < a->measured_count; i++)
        if (a->measured[i].n >= c->min_n && a->measured[i].n <= c->max_n) {
            c->min_y = fmin(c->min_y, a->measured[i].speedup);
            c->max_y = fmax(c->max_y, a->measured[i].speedup);
        }
    if (c->logarithmic)
        c->max_y = fmax(c->max_y, c->max_n / a->reference);
    c->logarithmic = c->logarithmic && c->min_y > 0 && c->max_y > c->min_y;
}

/*
 * Marks a point of the curve, if the answer has one, and adds the mark and the name of the point to
 * the title.
 */
static void chart_mark(struct canvas *c, const struct hm_answer *a, size_t at, const char *mark,
                       const char *name, struct hm_text *title)
{
    if (at >= a->point_count)
        return;
    canvas_set_marker(c, a->points[at].n, a->points[at].speedup, mark);
    hm__text_addf(title, "%s %s, ", mark, name);
}

static void chart_draw_speedup(struct hm_text *out, const struct hm_answer *a,
                               const struct hm_style *style, struct canvas *c)
{
    struct hm_text title = {0};
    bool u = style->unicode;

    canvas_set_axes(c, a);
    if (c->logarithmic)
        canvas_draw_ideal(c, a->reference);
    canvas_draw_curve(c, a);
    hm__text_addf(&title, "speedup against workers%s: ", c->logarithmic ? " (log scales)" : "");
    for (size_t i = 0; i < a->measured_count; i++)
        if (a->measured[i].n >= c->min_n && a->measured[i].n <= c->max_n)
            canvas_set_marker(c, a->measured[i].n, a->measured[i].speedup, u ? "\xc3\x97" : "x");
    if (a->knee != a->recommended)
        chart_mark(c, a, a->knee, u ? "\xe2\x97\x87" : "k", "knee", &title);
    if (a->best != a->recommended)
        chart_mark(c, a, a->best, u ? "\xe2\x96\xb3" : "B", "best", &title);
    chart_mark(c, a, a->recommended, u ? "\xe2\x97\x86" : "R", "recommended", &title);
    if (a->measured_count)
        hm__text_addf(&title, "%s measured, ", u ? "\xc3\x97" : "x");
    if (c->logarithmic)
        hm__text_add(&title, "dotted: ideal, ");
    if (!title.failed) {
        /* Remove the comma after the last mark in the title, or the colon if there are no marks. */
        title.data[title.length - 2] = '\0';
        hm__text_add(out, "\n  ");
        hm__render_wrapped(out, style, title.data, 2);
        hm__text_add(out, "\n");
    }
    out->failed = out->failed || title.failed;
    hm__text_release(&title);
    canvas_put(out, c);
}

/*
 * Chooses the points for which a bar is drawn: both ends, the knee, the recommended point, the best
 * point, and points between them.
 */
static size_t chart_choose_bars(const struct hm_answer *a, size_t *chosen)
{
    size_t wanted[BARS] = {0,
                           a->knee,
                           a->best,
                           a->best == HM_NONE ? HM_NONE : (a->best + a->point_count - 1) / 2,
                           a->point_count - 1,
                           a->recommended == HM_NONE || a->recommended == a->best
                               ? (a->knee == HM_NONE ? HM_NONE : a->knee / 2)
                               : a->recommended};
    size_t count = 0;

    for (size_t i = 0; i < a->point_count && count < BARS; i++)
        for (size_t k = 0; k < BARS; k++)
            if (wanted[k] == i) {
                chosen[count++] = i;
                break;
            }
    return count;
}

static void chart_draw_split(struct hm_text *out, const struct hm_answer *a,
                             const struct hm_style *style, size_t columns)
{
    const char *full = style->unicode ? "\xe2\x96\x88" : "#";
    const char *light = style->unicode ? "\xe2\x96\x91" : "-";
    size_t chosen[BARS], count = chart_choose_bars(a, chosen);
    double longest = 0;
    char time[HM_SHOWN];

    columns -= columns > 30 ? 12 : 0;
    for (size_t i = 0; i < count; i++)
        longest = fmax(longest, a->points[chosen[i]].time_s);
    hm__text_addf(out, "\n  one iteration: %s compute, %s communicate\n", full, light);
    for (size_t i = 0; i < count; i++) {
        const struct hm_point *p = &a->points[chosen[i]];
        double compute = fmin(p->compute_s, p->time_s);
        size_t whole = (size_t)lround(p->time_s / longest * (double)columns);
        size_t first = (size_t)lround(compute / longest * (double)columns);
        hm__text_addf(out, "%*.0f ", MARGIN - 2, p->n);
        hm__text_add(out, style->unicode ? "\xe2\x94\x82" : "|");
        hm__text_repeat(out, full, first);
        hm__text_repeat(out, light, whole > first ? whole - first : 0);
        hm__text_addf(out, " %s\n", hm__show_time(p->time_s, time));
    }
}

void hm__render_chart(struct hm_text *out, const struct hm_answer *a, const struct hm_style *style)
{
    size_t width = style->width > CHART_NARROWEST ? style->width : CHART_NARROWEST;
    struct canvas *c = NULL;

    if (a->point_count < 2) /* A single point is not a curve, so nothing is drawn. */
        return;
    c = hm__calloc(1, sizeof(*c));
    if (!c) {
        out->failed = true;
        return;
    }
    c->columns = width - MARGIN < COLUMNS_MAX ? width - MARGIN : COLUMNS_MAX;
    c->unicode = style->unicode;
    chart_draw_speedup(out, a, style, c);
    chart_draw_split(out, a, style, c->columns);
    hm__free(c);
}
