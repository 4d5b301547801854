/* Fits for machines: JSON, CSV and plots. */
#include "fit_render.h"

#include "err.h"

static void json_terms(struct hm_text *out, const struct hm_fit *fit)
{
    hm__text_add(out, ",\n\"terms\":[");
    for (size_t k = 0; k < fit->term_count; k++) {
        const struct hm_term *t = &fit->terms[k];
        hm__text_add(out, k ? ",\n  {\"term\":" : "\n  {\"term\":");
        hm__json_text(out, t->text);
        hm__json_field(out, "value", t->value);
        hm__json_field(out, "low", t->low);
        hm__json_field(out, "high", t->high);
        hm__text_addf(out, ",\"part\":%s,\"falls\":%s}", t->part ? "true" : "false",
                      t->falls ? "true" : "false");
    }
    hm__text_add(out, "]");
}

static void json_predictions(struct hm_text *out, const struct hm_prediction *p, size_t count)
{
    hm__text_add(out, ",\n\"predictions\":[");
    for (size_t i = 0; i < count; i++) {
        hm__text_add(out, i ? ",\n  {\"n\":" : "\n  {\"n\":");
        hm__json_number(out, p[i].n);
        hm__json_field(out, "time_s", p[i].time_s);
        hm__json_field(out, "low_s", p[i].low_s);
        hm__json_field(out, "high_s", p[i].high_s);
        hm__json_field(out, "mean_low_s", p[i].mean_low);
        hm__json_field(out, "mean_high_s", p[i].mean_high);
        hm__json_field(out, "speedup", p[i].speedup);
        hm__json_field(out, "speedup_low", p[i].speedup_low);
        hm__json_field(out, "speedup_high", p[i].speedup_high);
        hm__json_field(out, "beyond", p[i].beyond);
        hm__text_add(out, "}");
    }
    hm__text_add(out, "]");
}

static void json_residuals(struct hm_text *out, const struct hm_fit *fit)
{
    hm__text_add(out, ",\n\"residuals\":[");
    for (size_t i = 0; i < fit->residual_count; i++) {
        const struct hm_residual *r = &fit->residuals[i];
        hm__text_addf(out, "%s\n  {\"line\":%d", i ? "," : "", r->line);
        hm__json_field(out, "n", r->n);
        hm__json_field(out, "seconds", r->seconds);
        hm__json_field(out, "fitted_s", r->fitted_s);
        hm__json_field(out, "left_out_s", r->left_out_s);
        hm__json_field(out, "leverage", r->leverage);
        hm__json_field(out, "influence", r->influence);
        hm__text_addf(out, ",\"outlier\":%s}", r->outlier ? "true" : "false");
    }
    hm__text_add(out, "],\n\"alternatives\":[");
    for (size_t i = 0; i < fit->alternative_count; i++) {
        hm__text_add(out, i ? ",\n  {\"terms\":" : "\n  {\"terms\":");
        hm__json_text(out, fit->alternatives[i].text);
        hm__json_field(out, "left_out_error", fit->alternatives[i].left_out_error);
        hm__json_field(out, "weight", fit->alternatives[i].weight);
        hm__text_add(out, "}");
    }
    hm__text_add(out, "]");
}

static void render_json(struct hm_text *out, const struct hm_fit *fit,
                        const struct hm_prediction *predictions, size_t count)
{
    hm__text_add(out, "{\"howmany\":");
    hm__json_text(out, HM_VERSION);
    hm__json_named(out, "source", fit->source);
    hm__json_named(out, "provenance", fit->from_sheet ? "sheet" : "fit");
    hm__json_named(out, "errors", fit->errors == HM_ERRORS_RELATIVE ? "relative" : "equal");
    hm__text_addf(out, ",\"chosen\":%s,\"weak\":%s,\"relative\":%s,\"runs\":%zu,\"failed\":%zu",
                  fit->chosen ? "true" : "false", fit->weak ? "true" : "false",
                  fit->relative ? "true" : "false", fit->run_count, fit->failed);
    hm__text_addf(out, ",\"configurations\":%zu", fit->configurations);
    hm__json_field(out, "n_min", fit->n_min);
    hm__json_field(out, "n_max", fit->n_max);
    hm__json_field(out, "level", fit->level);
    hm__json_field(out, "noise", fit->noise);
    hm__json_field(out, "error", fit->error);
    hm__json_field(out, "left_out_error", fit->left_out_error);
    json_terms(out, fit);
    json_predictions(out, predictions, count);
    json_residuals(out, fit);
    hm__json_texts(out, "notes", fit->notes, fit->note_count);
    hm__text_add(out, "}\n");
}

static void render_csv(struct hm_text *out, const struct hm_prediction *p, size_t count)
{
    hm__text_add(out, "n,time_s,low_s,high_s,mean_low_s,mean_high_s,speedup,speedup_low,"
                      "speedup_high,beyond\n");
    for (size_t i = 0; i < count; i++) {
        const double values[] = {p[i].time_s,      p[i].low_s,        p[i].high_s,
                                 p[i].mean_low,    p[i].mean_high,    p[i].speedup,
                                 p[i].speedup_low, p[i].speedup_high, p[i].beyond};
        hm__json_number(out, p[i].n);
        for (size_t k = 0; k < sizeof(values) / sizeof(values[0]); k++)
            hm__csv_number(out, values[k]);
        hm__text_add(out, "\n");
    }
}

/* The runs at the place of the predictions, or those elsewhere; how many. */
static size_t add_runs(struct hm_text *out, const struct hm_fit *fit, const char *name,
                       bool elsewhere)
{
    size_t count = 0;

    hm__text_addf(out, "$%s << EOD\n", name);
    for (size_t i = 0; i < fit->residual_count; i++) {
        const struct hm_residual *r = &fit->residuals[i];
        if (r->elsewhere != elsewhere)
            continue;
        hm__text_addf(out, "%.17g %.17g\n", r->n, r->seconds);
        count++;
    }
    hm__text_add(out, "EOD\n");
    return count;
}

/* The predictions with their band, and the measured runs. */
static int render_plot(struct hm_text *out, const struct hm_fit *fit, const struct hm_prediction *p,
                       size_t count, const char *file, struct hm_err *err)
{
    int rc = hm__gnuplot_output(out, file, 800, 480, err);

    if (rc)
        return rc;
    hm__text_add(out, "$fit << EOD\n");
    for (size_t i = 0; i < count; i++)
        hm__text_addf(out, "%.17g %.17g %.17g %.17g %.17g %.17g\n", p[i].n, p[i].time_s, p[i].low_s,
                      p[i].high_s, p[i].mean_low, p[i].mean_high);
    hm__text_add(out, "EOD\n");
    size_t here = add_runs(out, fit, "runs", false), others = add_runs(out, fit, "others", true);
    hm__text_add(out, "set border 3\nset tics nomirror out\nset grid lc rgb '#dddddd' lt 1\n"
                      "set key right top\nset xlabel 'workers'\nset logscale x 2\n"
                      "set yrange [0:*]\nset title ");
    hm__gnuplot_quote(out, fit->source ? fit->source : "the specification sheet");
    hm__text_addf(out, " noenhanced\nset ylabel '%s'\nplot ",
                  fit->relative ? "time, in that of the reference" : "seconds of an iteration");
    if (fit->intervals)
        hm__text_addf(out,
                      "$fit using 1:3:4 with filledcurves lc rgb '#d5e4f1' "
                      "title 'a further run, %g %%', "
                      "$fit using 1:5:6 with filledcurves lc rgb '#a9c8e2' "
                      "title 'the mean, %g %%', ",
                      100 * fit->level, 100 * fit->level);
    hm__text_add(out, "$fit using 1:2 with lines lw 2 lc rgb '#1f6fb4' title 'fit'");
    if (others)
        hm__text_add(out, ", $others using 1:2 with points pt 2 ps 1 lc rgb '#bbbbbb' "
                          "title 'runs of other sizes'");
    if (here)
        hm__text_add(out, ", $runs using 1:2 with points pt 2 ps 1.2 lw 2 lc rgb '#444444' "
                          "title 'runs'");
    hm__text_add(out, "\nunset output\n");
    return 0;
}

int hm_fit_render(const struct hm_fit *fit, const struct hm_prediction *predictions, size_t count,
                  enum hm_format format, const struct hm_style *style, char **ret_text,
                  struct hm_err *err)
{
    struct hm_text out = {0};
    int rc = 0;

    switch (format) {
    case HM_FORMAT_JSON:
        render_json(&out, fit, predictions, count);
        break;
    case HM_FORMAT_CSV:
        render_csv(&out, predictions, count);
        break;
    case HM_FORMAT_GNUPLOT:
        rc = render_plot(&out, fit, predictions, count, style->file, err);
        break;
    default:
        hm__render_fit_text(&out, fit, predictions, count, style);
        break;
    }
    if (rc == 0)
        rc = hm__text_take(&out, ret_text, err);
    hm__text_release(&out);
    return rc;
}
