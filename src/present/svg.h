/* Small charts as inline SVG: axes, lines, points, error bars and a legend. */
#ifndef HM_SVG_H
#define HM_SVG_H

#include "text.h"

enum hm_scale { HM_SCALE_LINEAR, HM_SCALE_LOG, HM_SCALE_LOG2 };

/* Arrays are borrowed. Points that a scale cannot show (NaN, or not above 0) are left out. */
struct hm_svg_series {
    const char *name; /* in the legend; NULL: not there */
    size_t look;      /* which colour and shape */
    const double *x, *y;
    const double *low, *high; /* error bars; NULL: none */
    size_t count;
    bool line; /* join the points */
};

struct hm_svg_chart {
    size_t number; /* of the chart in its page: makes names that are used once */
    const char *title, *description;
    const char *x_label, *y_label;
    enum hm_scale x_scale, y_scale;
    bool diagonal; /* both axes alike, and the line where x is y */
    bool apart;    /* move series aside by a little, so that error bars do not hide each other */
    const struct hm_svg_series *series;
    size_t count;
};

/* Whether there is a point to draw. */
bool hm__svg_has_points(const struct hm_svg_chart *chart);
/* <svg>…</svg>; colours are the page's: see hm__svg_style. */
void hm__svg_add(struct hm_text *out, const struct hm_svg_chart *chart);
/* The rules of CSS that the charts need, for light and dark. */
void hm__svg_style(struct hm_text *out);

#endif
