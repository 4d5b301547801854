/*
 * Draws charts as SVG. A drawing is 480 units wide and about 340 units high, and is scaled to the
 * available width; text is 14 units high, so that it is legible on a phone. A label that would
 * touch the previous one is omitted.
 */
#include "svg.h"

#include <float.h>
#include <math.h>

#include "format.h"
#include "palette.h"

enum { WIDTH = 480, HEIGHT = 300, LEFT = 60, RIGHT = 26, TOP = 30, BOTTOM = 48 };
enum { TICKS = 64, GLYPH_WIDTH = 8, LEGEND_ROW = 22, SVG_NAME_SHOWN = 48 };

struct axis {
    enum hm_scale scale;
    double low, high; /* Smallest and largest value on the axis. */
    double from, to;  /* Positions of the ends of the axis, in units of the drawing. */
};

static bool axis_shows(const struct axis *a, double value)
{
    return isfinite(value) && (a->scale == HM_SCALE_LINEAR || value > 0);
}

static double axis_place(const struct axis *a, double value)
{
    double low = a->low, high = a->high;

    if (a->scale != HM_SCALE_LINEAR) {
        value = log(value);
        low = log(low);
        high = log(high);
    }
    return a->from + (value - low) / (high - low) * (a->to - a->from);
}

/* ---- ranges ---------------------------------------------------------------------------------- */

static void axis_widen(struct axis *a, double value)
{
    if (!axis_shows(a, value))
        return;
    a->low = fmin(a->low, value);
    a->high = fmax(a->high, value);
}

/*
 * Extends the range of the axis by a margin. If 0 is close to the range, a linear axis starts at 0.
 */
static void axis_pad(struct axis *a)
{
    if (a->scale != HM_SCALE_LINEAR) {
        double factor = a->high > a->low ? exp(0.04 * (log(a->high) - log(a->low))) : 2;
        a->low = fmax(a->low / factor, DBL_MIN);
        a->high = fmin(a->high * factor, DBL_MAX);
        return;
    }
    double room = a->high > a->low ? 0.04 * (a->high - a->low) : fmax(fabs(a->high) / 2, 1);
    a->low = a->low >= 0 && a->low < 0.3 * a->high ? 0 : a->low - room;
    a->high += room;
}

static bool point_is_drawn(const struct axis *x, const struct axis *y,
                           const struct hm_svg_series *s, size_t i)
{
    return axis_shows(x, s->x[i]) && axis_shows(y, s->y[i]);
}

/*
 * Determines the ranges of both axes from all points and error bars; returns false if there is no
 * point.
 */
static bool chart_find_axes(const struct hm_svg_chart *c, struct axis *x, struct axis *y)
{
    *x = (struct axis){c->x_scale, INFINITY, -INFINITY, LEFT, WIDTH - RIGHT};
    *y = (struct axis){c->y_scale, INFINITY, -INFINITY, HEIGHT - BOTTOM, TOP};
    for (size_t k = 0; k < c->count; k++)
        for (size_t i = 0; i < c->series[k].count; i++) {
            const struct hm_svg_series *s = &c->series[k];
            if (!point_is_drawn(x, y, s, i))
                continue;
            axis_widen(x, s->x[i]);
            axis_widen(y, s->y[i]);
            if (s->low && s->high) {
                axis_widen(y, s->low[i]);
                axis_widen(y, s->high[i]);
            }
        }
    if (x->low > x->high)
        return false;
    if (c->diagonal) {
        x->low = y->low = fmin(x->low, y->low);
        x->high = y->high = fmax(x->high, y->high);
    }
    axis_pad(x);
    axis_pad(y);
    return true;
}

bool hm__svg_has_points(const struct hm_svg_chart *c)
{
    struct axis x, y;

    return chart_find_axes(c, &x, &y);
}

/* ---- ticks ----------------------------------------------------------------------------------- */

static size_t axis_linear_ticks(const struct axis *a, double *ticks)
{
    double rough = (a->high - a->low) / 5, power = pow(10, floor(log10(rough)));
    double step = power * (rough < 1.5 * power   ? 1
                           : rough < 3.5 * power ? 2
                           : rough < 7.5 * power ? 5
                                                 : 10);
    size_t count = 0;

    for (double k = ceil(a->low / step); k * step <= a->high && count < TICKS; k++)
        ticks[count++] = k * step;
    return count;
}

/*
 * Sets ticks at the powers of `base`. If there would be more than `most` ticks, only every second,
 * third, … power has one.
 */
static size_t axis_power_ticks(const struct axis *a, double base, double most, double *ticks)
{
    double first = ceil(log(a->low) / log(base) - 1e-9),
           last = floor(log(a->high) / log(base) + 1e-9);
    double step = fmax(1, ceil((last - first + 1) / most));
    size_t count = 0;

    for (double k = ceil(first / step) * step; k <= last && count < TICKS; k += step)
        if (isfinite(pow(base, k)))
            ticks[count++] = pow(base, k);
    return count;
}

/* Sets ticks at 1, 2 and 5 times the powers of ten. */
static size_t axis_fine_ticks(const struct axis *a, double *ticks)
{
    size_t count = 0;

    for (double k = floor(log10(a->low)); k <= log10(a->high); k++)
        for (int digit = 1; digit <= 5; digit += digit == 1 ? 1 : 3) {
            double value = digit * pow(10, k);
            if (value >= a->low && value <= a->high && count < TICKS)
                ticks[count++] = value;
        }
    return count;
}

static size_t axis_find_ticks(const struct axis *a, double *ticks)
{
    size_t count = 0;

    if (a->scale == HM_SCALE_LOG2)
        count = axis_power_ticks(a, 2, 8, ticks);
    else if (a->scale == HM_SCALE_LOG && a->high / a->low >= 500)
        count = axis_power_ticks(a, 10, 6, ticks);
    else if (a->scale == HM_SCALE_LOG)
        count = axis_fine_ticks(a, ticks);
    return count >= 2 ? count : axis_linear_ticks(a, ticks);
}

/* ---- drawing --------------------------------------------------------------------------------- */

static void svg_add_x_axis(struct hm_text *out, const struct hm_svg_chart *c, const struct axis *x,
                           const struct axis *y)
{
    double ticks[TICKS], free_from = 0;
    size_t count = axis_find_ticks(x, ticks);

    for (size_t i = 0; i < count; i++) {
        char shown[HM_SHOWN];
        double at = axis_place(x, ticks[i]);
        double half = GLYPH_WIDTH * (double)hm__text_columns(hm__show_loss(ticks[i], shown)) / 2;
        hm__text_addf(out, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>\n", at, y->to, y->from);
        if (at - half < free_from || at + half > WIDTH)
            continue;
        hm__text_addf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n", at,
                      y->from + 18, shown);
        free_from = at + half + GLYPH_WIDTH;
    }
    hm__text_addf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">", (x->from + x->to) / 2,
                  HEIGHT - 10);
    hm__xml_text(out, c->x_label);
    hm__text_add(out, "</text>\n");
}

static void svg_add_y_axis(struct hm_text *out, const struct hm_svg_chart *c, const struct axis *x,
                           const struct axis *y)
{
    double ticks[TICKS], free_from = HEIGHT;
    size_t count = axis_find_ticks(y, ticks);

    for (size_t i = 0; i < count; i++) {
        char shown[HM_SHOWN];
        double at = axis_place(y, ticks[i]);
        hm__text_addf(out, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>\n", x->from, at, x->to);
        if (at > free_from)
            continue;
        hm__text_addf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
                      x->from - 8, at + 5, hm__show_loss(ticks[i], shown));
        free_from = at - 18;
    }
    hm__text_add(out, "<text x=\"4\" y=\"16\">");
    hm__xml_text(out, c->y_label);
    hm__text_add(out, "</text>\n");
    hm__text_addf(out, "<path class=\"axis\" d=\"M%.1f %.1fV%.1fH%.1f\"/>\n", x->from, y->to,
                  y->from, x->to);
}

/* Draws one of six shapes, which marks a point. */
static void svg_add_mark(struct hm_text *out, size_t look, double x, double y)
{
    static const char *const shapes[] = {
        "m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z", /* SVG path of a circle. */
        "m-3.2 -3.2h6.4v6.4h-6.4z",                      /* SVG path of a square. */
        "m0 -4.5l4.2 7.2h-8.4z",                         /* SVG path of a triangle. */
        "m0 -4.8l4.8 4.8l-4.8 4.8l-4.8 -4.8z",           /* SVG path of a diamond. */
        "m0 4.5l4.2 -7.2h-8.4z", /* SVG path of a triangle that points down. */
        "m-4.5 -1.2h3.3v-3.3h2.4v3.3h3.3v2.4h-3.3v3.3h-2.4v-3.3h-3.3z", /* SVG path of a cross. */
    };
    /*
     * After all colours have been used once, the shapes are shifted, so that a colour appears with
     * a different shape the second time.
     */
    size_t shape = (look + look / HM_PALETTE_SIZE) % (sizeof(shapes) / sizeof(shapes[0]));

    hm__text_addf(out, "M%.1f %.1f%s", x, y, shapes[shape]);
}

static void svg_add_line(struct hm_text *out, const struct hm_svg_series *s, const struct axis *x,
                         const struct axis *y, double aside)
{
    bool pen = false;

    hm__text_add(out, "<path class=\"line\" d=\"");
    for (size_t i = 0; i < s->count; i++) {
        if (!point_is_drawn(x, y, s, i)) {
            pen = false;
            continue;
        }
        hm__text_addf(out, "%c%.1f %.1f", pen ? 'L' : 'M', axis_place(x, s->x[i]) + aside,
                      axis_place(y, s->y[i]));
        pen = true;
    }
    hm__text_add(out, "\"/>\n");
}

static void svg_add_bars(struct hm_text *out, const struct hm_svg_series *s, const struct axis *x,
                         const struct axis *y, double aside)
{
    hm__text_add(out, "<path class=\"bar\" d=\"");
    for (size_t i = 0; i < s->count; i++) {
        if (!point_is_drawn(x, y, s, i) || !isfinite(s->low[i]) || !isfinite(s->high[i]))
            continue;
        double at = axis_place(x, s->x[i]) + aside;
        double low = axis_shows(y, s->low[i]) ? axis_place(y, s->low[i]) : y->from;
        double high = axis_shows(y, s->high[i]) ? axis_place(y, s->high[i]) : y->from;
        hm__text_addf(out, "M%.1f %.1fh6m-3 0V%.1fm-3 0h6", at - 3, low, high);
    }
    hm__text_add(out, "\"/>\n");
}

static void svg_add_series(struct hm_text *out, const struct hm_svg_series *s, const struct axis *x,
                           const struct axis *y, double aside)
{
    hm__text_addf(out, "<g class=\"c%zu\">\n", s->look % HM_PALETTE_SIZE);
    if (s->line)
        svg_add_line(out, s, x, y, aside);
    if (s->low && s->high)
        svg_add_bars(out, s, x, y, aside);
    hm__text_add(out, "<path class=\"mark\" d=\"");
    for (size_t i = 0; i < s->count; i++)
        if (point_is_drawn(x, y, s, i))
            svg_add_mark(out, s->look, axis_place(x, s->x[i]) + aside, axis_place(y, s->y[i]));
    hm__text_add(out, "\"/>\n</g>\n");
}

/* ---- the legend ------------------------------------------------------------------------------ */

static double svg_legend_width(const char *name)
{
    size_t columns = hm__text_columns(name);

    return 34 + GLYPH_WIDTH * (double)(columns < SVG_NAME_SHOWN ? columns : SVG_NAME_SHOWN);
}

/*
 * Appends a legend with the names of the series in rows below the drawing, and returns the number
 * of rows. If `out` is NULL, only counts the rows.
 */
static size_t svg_add_legend(struct hm_text *out, const struct hm_svg_chart *c)
{
    double x = 8;
    size_t row = 0;

    for (size_t k = 0; k < c->count; k++) {
        const struct hm_svg_series *s = &c->series[k];
        if (!s->name)
            continue;
        if (x > 8 && x + svg_legend_width(s->name) > WIDTH) {
            x = 8;
            row++;
        }
        double y = HEIGHT + 12 + LEGEND_ROW * (double)row;
        if (out) {
            hm__text_addf(out, "<g class=\"c%zu\"><path class=\"mark\" d=\"",
                          s->look % HM_PALETTE_SIZE);
            svg_add_mark(out, s->look, x + 6, y - 5);
            hm__text_addf(out, "\"/></g><text x=\"%.1f\" y=\"%.1f\">", x + 16, y);
            struct hm_text name = {0};
            hm__text_cut(&name, s->name, SVG_NAME_SHOWN);
            hm__xml_text(out, name.data);
            out->failed = out->failed || name.failed;
            hm__text_release(&name);
            hm__text_add(out, "</text>\n");
        }
        x += svg_legend_width(s->name);
    }
    return x > 8 ? row + 1 : row;
}

static void svg_add_head(struct hm_text *out, const struct hm_svg_chart *c, size_t rows)
{
    hm__text_addf(out,
                  "<svg viewBox=\"0 0 %d %zu\" role=\"img\" aria-labelledby=\"t%zu d%zu\">\n"
                  "<title id=\"t%zu\">",
                  WIDTH, HEIGHT + 4 + LEGEND_ROW * rows, c->number, c->number, c->number);
    hm__xml_text(out, c->title);
    hm__text_addf(out, "</title>\n<desc id=\"d%zu\">", c->number);
    hm__xml_text(out, c->description);
    hm__text_add(out, "</desc>\n");
}

void hm__svg_add(struct hm_text *out, const struct hm_svg_chart *c)
{
    struct axis x, y;

    if (!chart_find_axes(c, &x, &y))
        return;
    svg_add_head(out, c, svg_add_legend(NULL, c));
    svg_add_x_axis(out, c, &x, &y);
    svg_add_y_axis(out, c, &x, &y);
    if (c->diagonal)
        hm__text_addf(out, "<path class=\"same\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", x.from, y.from,
                      x.to, y.to);
    for (size_t k = 0; k < c->count; k++)
        svg_add_series(out, &c->series[k], &x, &y,
                       c->apart ? 4 * ((double)k - (double)(c->count - 1) / 2) : 0);
    svg_add_legend(out, c);
    hm__text_add(out, "</svg>\n");
}

void hm__svg_style(struct hm_text *out)
{
    hm__text_add(out, ":root{");
    for (size_t i = 0; i < HM_PALETTE_SIZE; i++)
        hm__text_addf(out, "--c%zu:%s;", i, hm__palette(i));
    hm__text_add(out, "}\n@media (prefers-color-scheme:dark){:root{");
    for (size_t i = 0; i < HM_PALETTE_SIZE; i++)
        hm__text_addf(out, "--c%zu:%s;", i, hm__palette_dark(i));
    hm__text_add(out, "}}\n");
    for (size_t i = 0; i < HM_PALETTE_SIZE; i++)
        hm__text_addf(out, ".c%zu{color:var(--c%zu)}", i, i);
    hm__text_add(out, "\nsvg{display:block;width:100%;height:auto;max-width:34rem}\n"
                      "svg text{font:14px system-ui,sans-serif;fill:var(--fg)}\n"
                      "svg path{fill:none}\nsvg .grid{stroke:var(--rule)}\n"
                      "svg .axis{stroke:var(--muted)}\n"
                      "svg .same{stroke:var(--muted);stroke-dasharray:5 4}\n"
                      "svg .line{stroke:currentColor;stroke-width:1.4}\n"
                      "svg .bar{stroke:currentColor;stroke-width:1.2}\n"
                      "svg .mark{fill:currentColor}\n");
}
