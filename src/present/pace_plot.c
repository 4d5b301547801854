/*
 * Renders f(m), the time of an iteration on m workers in seconds, as a gnuplot script: the mean,
 * with bars from the 5th to the 95th percentile of single iterations, and one curve for each
 * algorithm and consistency. Figure 1a of the Hemingway paper has this form.
 */
#include <math.h>

#include "converge_render.h"
#include "err.h"
#include "palette.h"
#include "plot_style.h"

/*
 * Writes the name of a curve f(m): its algorithm, and the staleness or the number of backup workers
 * of its runs.
 */
static void pace_add_name(struct hm_text *out, const struct hm_pace *p)
{
    hm__text_add(out, p->algorithm && *p->algorithm ? p->algorithm : "iterations");
    if (p->backups > 0)
        hm__text_addf(out, " (%g backup%s)", p->backups, p->backups == 1 ? "" : "s");
    else if (isinf(p->staleness))
        hm__text_add(out, " (async)");
    else if (p->staleness > 0)
        hm__text_addf(out, " (ssp %g)", p->staleness);
}

/*
 * Extends the ranges of both axes to include all numbers of workers of a curve, and its times with
 * their percentiles.
 */
static void pace_widen(const struct hm_pace *p, struct hm_plot_span *workers,
                       struct hm_plot_span *seconds)
{
    for (size_t i = 0; i < p->count; i++) {
        hm__span_add(workers, p->m[i]);
        hm__span_add(seconds, p->seconds[i]);
        if (p->low_s && isfinite(p->low_s[i]) && isfinite(p->high_s[i])) {
            hm__span_add(seconds, p->low_s[i]);
            hm__span_add(seconds, p->high_s[i]);
        }
    }
}

static void pace_add_data(struct hm_text *out, const struct hm_pace *p, size_t k)
{
    hm__text_addf(out, "$f%zu << EOD\n", k);
    for (size_t i = 0; i < p->count; i++) {
        bool known = p->low_s && isfinite(p->low_s[i]) && isfinite(p->high_s[i]);
        hm__text_addf(out, "%.9g %.9g %.9g %.9g\n", p->m[i], p->seconds[i],
                      known ? p->low_s[i] : p->seconds[i], known ? p->high_s[i] : p->seconds[i]);
    }
    hm__text_add(out, "EOD\n");
}

static void pace_add_line(struct hm_text *out, const struct hm_pace *p, size_t k, bool first)
{
    struct hm_text name = {0};

    pace_add_name(&name, p);
    hm__text_addf(out,
                  "%s$f%zu using 1:2 with lines lw 1.5 lc rgb '%s' notitle, \\\n"
                  "  $f%zu using 1:2:3:4 with yerrorbars lw 1.5 pt 7 ps 0.6 lc rgb '%s' title ",
                  first ? "plot " : ", \\\n  ", k, hm__palette(k), k, hm__palette(k));
    hm__gnuplot_quote(out, name.data ? name.data : "");
    hm__text_add(out, " noenhanced");
    out->failed = out->failed || name.failed;
    hm__text_release(&name);
}

int hm__paces_plot(const struct hm_paces *paces, const char *file, char **ret_script,
                   struct hm_err *err)
{
    struct hm_plot_span workers = {0}, seconds = {0};
    struct hm_text out = {0};
    size_t shown = 0;

    for (size_t k = 0; paces && k < paces->count; k++)
        shown += paces->paces[k].count > 0;
    int rc = shown > 0 ? hm__gnuplot_output(&out, file, 760, 480, err)
                       : hm__fail(err, HM_E_MISSING, "the traces have no times");
    if (rc) {
        hm__text_release(&out);
        return rc;
    }
    for (size_t k = 0; k < paces->count; k++)
        pace_widen(&paces->paces[k], &workers, &seconds);
    hm__gnuplot_workers(&out, &workers);
    hm__gnuplot_values(&out, &seconds);
    hm__text_add(&out, "set xlabel 'workers'\n"
                       "set ylabel 'seconds of an iteration, 5th to 95th percentile'\n");
    for (size_t k = 0; k < paces->count; k++)
        if (paces->paces[k].count > 0)
            pace_add_data(&out, &paces->paces[k], k);
    shown = 0;
    for (size_t k = 0; k < paces->count; k++)
        if (paces->paces[k].count > 0)
            pace_add_line(&out, &paces->paces[k], k, shown++ == 0);
    hm__text_add(&out, "\nunset output\n");
    return hm__text_take(&out, ret_script, err);
}
