/* Draws small charts as inline SVG: axes, lines, points, error bars and a legend. */
#ifndef HM_SVG_H
#define HM_SVG_H

#include "text.h"

enum hm_scale { HM_SCALE_LINEAR, HM_SCALE_LOG, HM_SCALE_LOG2 };

/*
 * A series of points. Its arrays are borrowed. Points that a scale cannot show (NaN, or 0 or less
 * on a logarithmic scale) are omitted.
 */
struct hm_svg_series {
    const char *name; /* Name of the series in the legend; NULL if the legend does not show it. */
    size_t look;      /* Index that selects the colour and the shape of the points. */
    const double *x, *y;
    /* Lower and upper ends of the error bars; NULL if there are no bars. */
    const double *low, *high;
    size_t count;
    bool line; /* True if the points are joined by lines. */
};

struct hm_svg_chart {
    size_t number; /* Number of the chart on its page; it makes the ids of elements unique. */
    const char *title, *description;
    const char *x_label, *y_label;
    enum hm_scale x_scale, y_scale;
    bool diagonal; /* True if both axes have the same range and the line x = y is drawn. */
    /* True if each series is shifted sideways slightly, so that error bars do not overlap. */
    bool apart;
    const struct hm_svg_series *series;
    size_t count;
};

/* Returns whether the chart has a point that its scales can show. */
bool hm__svg_has_points(const struct hm_svg_chart *chart);
/*
 * Appends the chart as an element <svg>…</svg>. The page must contain the CSS rules of
 * hm__svg_style.
 */
void hm__svg_add(struct hm_text *out, const struct hm_svg_chart *chart);
/* Appends the CSS rules that the charts need, for light and dark colour schemes. */
void hm__svg_style(struct hm_text *out);

#endif
