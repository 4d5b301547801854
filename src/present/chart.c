/*
 * Renders the curve of an answer as a table, and draws it with characters: speedup against the
 * number of workers n, with the best point and the knee marked, and the time of an iteration split
 * into computing and communicating. With Unicode, each character is a Braille pattern of two by
 * four dots; without it, each character is one dot.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "format.h"
#include "memory.h"
#include "render.h"

/*
 * Whether the table shows point i. The table of a long curve shows the first rows, then rows at
 * growing steps, and always the best, the knee, the reference and the last row.
 */
static bool point_in_table(const struct hm_answer *a, size_t i, double last)
{
    double n = a->points[i].n;

    return a->point_count <= 32 || i < 8 || i == a->best || i == a->knee ||
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

enum { ROWS = 11, MARGIN = 8, COLUMNS_MAX = 72, BARS = 6, NARROWEST = 40 };

/* A raster of dots, and markers that are drawn over it. */
struct canvas {
    size_t columns; /* Width of the raster in characters. */
    unsigned char dots[ROWS][COLUMNS_MAX];
    const char *markers[ROWS][COLUMNS_MAX];
    bool unicode, log_x;
    double max_n, max_y;
};

static double canvas_fraction_x(const struct canvas *c, double n)
{
    if (c->max_n <= 1)
        return 0;
    return c->log_x ? log2(n) / log2(c->max_n) : (n - 1) / (c->max_n - 1);
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
    size_t row = (size_t)lround((1 - y / c->max_y) * (4 * ROWS - 1)) / 4;

    if (x < c->columns && row < ROWS)
        c->markers[row][x] = marker;
}

/* Draws straight lines between neighbouring points, dot by dot. */
static void canvas_draw_curve(struct canvas *c, const struct hm_answer *a)
{
    for (size_t i = 0; i < a->point_count; i++) {
        const struct hm_point *p = &a->points[i], *q = i ? &a->points[i - 1] : p;
        double x0 = canvas_fraction_x(c, q->n), x1 = canvas_fraction_x(c, p->n);
        double y0 = q->speedup / c->max_y, y1 = p->speedup / c->max_y;
        double steps = ceil(fmax((x1 - x0) * 2 * (double)c->columns, fabs(y1 - y0) * 4 * ROWS)) + 1;
        for (double k = 0; k <= steps; k++)
            canvas_set_dot(c, x0 + (x1 - x0) * k / steps, y0 + (y1 - y0) * k / steps);
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
        double y = c->max_y * (1 - (double)row / (ROWS - 1));
        hm__text_addf(out, "%*s %s", MARGIN - 2, label ? hm__show_number(y, number) : "",
                      c->unicode ? "\xe2\x94\x82" : "|");
        for (size_t column = 0; column < c->columns; column++)
            canvas_put_cell(out, c, row, column);
        hm__text_end_line(out);
    }
    hm__text_repeat(out, " ", MARGIN - 1);
    hm__text_add(out, c->unicode ? "\xe2\x94\x94" : "+");
    hm__text_repeat(out, c->unicode ? "\xe2\x94\x80" : "-", c->columns);
    hm__text_addf(out, "\n%*s1", MARGIN, "");
    snprintf(number, sizeof(number), "%.0f", c->max_n);
    hm__text_addf(out, "%*s\n", (int)c->columns - 1, number);
}

static void chart_draw_speedup(struct hm_text *out, const struct hm_answer *a,
                               const struct hm_style *style, struct canvas *c)
{
    bool u = style->unicode;

    c->max_n = a->points[a->point_count - 1].n;
    for (size_t i = 0; i < a->point_count; i++)
        c->max_y = fmax(c->max_y, a->points[i].speedup);
    for (size_t i = 0; i < a->measured_count; i++)
        if (a->measured[i].n <= c->max_n)
            c->max_y = fmax(c->max_y, a->measured[i].speedup);
    c->log_x = c->max_n > 100;
    canvas_draw_curve(c, a);
    for (size_t i = 0; i < a->measured_count; i++)
        if (a->measured[i].n <= c->max_n)
            canvas_set_marker(c, a->measured[i].n, a->measured[i].speedup, u ? "\xc3\x97" : "x");
    if (a->knee < a->point_count)
        canvas_set_marker(c, a->points[a->knee].n, a->points[a->knee].speedup,
                          u ? "\xe2\x97\x87" : "k");
    if (a->best < a->point_count)
        canvas_set_marker(c, a->points[a->best].n, a->points[a->best].speedup,
                          u ? "\xe2\x97\x86" : "B");
    char title[160];
    snprintf(title, sizeof(title), "speedup against workers%s: %s best, %s knee%s",
             c->log_x ? " (log scale)" : "", u ? "\xe2\x97\x86" : "B", u ? "\xe2\x97\x87" : "k",
             a->measured_count == 0 ? ""
             : u                    ? ", \xc3\x97 measured"
                                    : ", x measured");
    hm__text_add(out, "\n  ");
    hm__render_wrapped(out, style, title, 2);
    hm__text_add(out, "\n");
    canvas_put(out, c);
}

/*
 * Chooses the points for which a bar is drawn: both ends, the knee, the best, and points between
 * them.
 */
static size_t chart_choose_bars(const struct hm_answer *a, size_t *chosen)
{
    size_t wanted[BARS] = {0, a->knee, a->best, a->best, a->point_count - 1, a->point_count - 1};
    size_t count = 0;

    wanted[3] = a->best == HM_NONE ? HM_NONE : (a->best + a->point_count - 1) / 2;
    wanted[5] = a->knee == HM_NONE ? HM_NONE : a->knee / 2;
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
    size_t width = style->width > NARROWEST ? style->width : NARROWEST;
    struct canvas *c = NULL;

    if (a->point_count == 0)
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
