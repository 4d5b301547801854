/* Renderers of g(i, m); all but the plot append to a text. */
#ifndef HM_CONVERGE_RENDER_H
#define HM_CONVERGE_RENDER_H

#include "format.h"
#include "howmany_advise.h"
#include "render.h"

void hm__render_convergence_text(struct hm_text *out, const struct hm_convergence *convergence,
                                 const struct hm_holdout *holdout, const struct hm_style *style);
/* whole: also curves, draws and paces, so that hm_convergence_parse can read it. */
void hm__render_convergence_json(struct hm_text *out, const struct hm_convergence *convergence,
                                 const struct hm_holdout *holdout, bool whole);

/* Points of all traces of an algorithm. */
size_t hm__g_points(const struct hm_g *g);

/* A curve that somebody fitted, to be drawn with what was measured. */
struct hm_plot_curve {
    size_t algorithm; /* its index in the convergence */
    double m;
    const double *x, *y;      /* iterations, P - P*; borrowed, like the band */
    const double *low, *high; /* NULL: no band */
    size_t count;
};

/* A gnuplot script: P - P* against iterations, a panel for each algorithm, a colour for each m. */
int hm__convergence_plot(const struct hm_convergence *convergence,
                         const struct hm_plot_curve *curves, size_t count, const char *file,
                         char **ret_script, struct hm_err *err);

#endif
