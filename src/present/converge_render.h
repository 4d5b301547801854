/*
 * Renders g(i, m), the loss after i iterations on m workers. All functions except those that write
 * plots append to `out`.
 */
#ifndef HM_CONVERGE_RENDER_H
#define HM_CONVERGE_RENDER_H

#include "format.h"
#include "howmany_advise.h"
#include "render.h"

void hm__render_convergence_text(struct hm_text *out, const struct hm_convergence *convergence,
                                 const struct hm_holdout *holdout, const struct hm_style *style);
/*
 * Renders the fit of the loss as JSON. If `whole` is true, the JSON includes curves, random draws
 * and times per iteration, so that hm_convergence_parse can read it.
 */
void hm__render_convergence_json(struct hm_text *out, const struct hm_convergence *convergence,
                                 const struct hm_holdout *holdout, bool whole);

/* Returns the number of points in all traces of an algorithm. */
size_t hm__g_points(const struct hm_g *g);

/* A fitted curve, which is drawn over the measured points. Its arrays are borrowed. */
struct hm_plot_curve {
    size_t algorithm; /* Index of the algorithm in the fit (struct hm_convergence). */
    double m;
    const double *x,
        *y; /* Iterations (`x`), and excess loss P - P* (`y`), the loss minus the optimal loss. */
    /* Ends of the interval for `y`, drawn as a band; NULL if no band is drawn. */
    const double *low, *high;
    size_t count; /* Number of elements in each of the arrays. */
};

/*
 * Writes a gnuplot script of P - P* (loss minus optimal loss) against iterations, with a panel for
 * each algorithm and a colour for each number of workers.
 */
int hm__convergence_plot(const struct hm_convergence *convergence,
                         const struct hm_plot_curve *curves, size_t count, const char *file,
                         char **ret_script, struct hm_err *err);
/*
 * Writes a gnuplot script of the time of an iteration in seconds against the number of workers,
 * with bars from the 5th to the 95th percentile. Fails if there are no measured times.
 */
int hm__paces_plot(const struct hm_paces *paces, const char *file, char **ret_script,
                   struct hm_err *err);

#endif
