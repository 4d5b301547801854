/* Renders fits for other programs: as JSON, as CSV and as plots. */
#include "fit_render.h"

#include "checks.h"
#include "err.h"
#include "format.h"
#include "names.h"
#include "plot_style.h"

static void json_terms(struct hm_json *json, const struct hm_fit *fit)
{
    hm__json_open(json, "terms", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t k = 0; k < fit->term_count; k++) {
        const struct hm_term *t = &fit->terms[k];
        hm__json_open(json, NULL, HM_JSON_OBJECT);
        hm__json_put_text(json, "term", t->text);
        hm__json_put_number(json, "value", t->value);
        hm__json_put_number(json, "low", t->low);
        hm__json_put_number(json, "high", t->high);
        hm__json_put_bool(json, "part", t->part);
        hm__json_put_bool(json, "falls", t->falls);
        hm__json_close(json);
    }
    hm__json_close(json);
}

static void json_predictions(struct hm_json *json, const struct hm_prediction *p, size_t count)
{
    hm__json_open(json, "predictions", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < count; i++) {
        hm__json_open(json, NULL, HM_JSON_OBJECT);
        hm__json_put_number(json, "n", p[i].n);
        hm__json_put_number(json, "time_s", p[i].time_s);
        hm__json_put_number(json, "low_s", p[i].low_s);
        hm__json_put_number(json, "high_s", p[i].high_s);
        hm__json_put_number(json, "mean_low_s", p[i].mean_low);
        hm__json_put_number(json, "mean_high_s", p[i].mean_high);
        hm__json_put_number(json, "speedup", p[i].speedup);
        hm__json_put_number(json, "speedup_low", p[i].speedup_low);
        hm__json_put_number(json, "speedup_high", p[i].speedup_high);
        hm__json_put_number(json, "beyond", p[i].beyond);
        hm__json_close(json);
    }
    hm__json_close(json);
}

static void json_residuals(struct hm_json *json, const struct hm_fit *fit)
{
    hm__json_open(json, "residuals", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < fit->residual_count; i++) {
        const struct hm_residual *r = &fit->residuals[i];
        hm__json_open(json, NULL, HM_JSON_OBJECT);
        hm__json_put_number(json, "line", r->line);
        hm__json_put_number(json, "n", r->n);
        hm__json_put_number(json, "seconds", r->seconds);
        hm__json_put_number(json, "fitted_s", r->fitted_s);
        hm__json_put_number(json, "left_out_s", r->left_out_s);
        hm__json_put_number(json, "leverage", r->leverage);
        hm__json_put_number(json, "influence", r->influence);
        hm__json_put_bool(json, "outlier", r->outlier);
        hm__json_close(json);
    }
    hm__json_close(json);
}

static void json_fit_alternatives(struct hm_json *json, const struct hm_fit *fit)
{
    hm__json_open(json, "alternatives", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < fit->alternative_count; i++) {
        hm__json_open(json, NULL, HM_JSON_OBJECT);
        hm__json_put_text(json, "terms", fit->alternatives[i].text);
        hm__json_put_number(json, "left_out_error", fit->alternatives[i].left_out_error);
        hm__json_put_number(json, "weight", fit->alternatives[i].weight);
        hm__json_close(json);
    }
    hm__json_close(json);
}

/*
 * Returns the source of the fitted times, such as runs or a specification sheet; answers to the
 * verb `plan` use the same names.
 */
static const char *fit_provenance(const struct hm_fit *fit)
{
    if (!fit->from_sheet)
        return "fit";
    return fit->run_count == 0 ? "model" : "model and runs";
}

static void fit_json(struct hm_text *out, const struct hm_fit *fit,
                     const struct hm_prediction *predictions, size_t count)
{
    struct hm_json json = {.out = out};

    hm__json_open_answer(&json);
    hm__json_put_text(&json, "provenance", fit_provenance(fit));
    hm__json_put_text(&json, "source", fit->source);
    hm__json_put_text(&json, "errors", hm__errors_name(fit->errors));
    hm__json_put_bool(&json, "chosen", fit->chosen);
    hm__json_put_bool(&json, "weak", fit->weak);
    hm__json_put_bool(&json, "relative", fit->relative);
    hm__json_put_text(&json, "unit", fit->unit ? fit->unit : "iteration");
    hm__json_put_number(&json, "run_count", (double)fit->run_count);
    hm__json_put_number(&json, "with_startup", (double)fit->with_startup);
    hm__json_put_number(&json, "failed_count", (double)fit->failed);
    hm__json_put_number(&json, "configuration_count", (double)fit->configurations);
    hm__json_put_number(&json, "n_min", fit->n_min);
    hm__json_put_number(&json, "n_max", fit->n_max);
    hm__json_put_number(&json, "level", fit->level);
    hm__json_put_number(&json, "noise", fit->noise);
    hm__json_put_number(&json, "error", fit->error);
    hm__json_put_number(&json, "left_out_error", fit->left_out_error);
    json_terms(&json, fit);
    json_predictions(&json, predictions, count);
    json_residuals(&json, fit);
    json_fit_alternatives(&json, fit);
    hm__json_put_texts(&json, "notes", fit->notes, fit->note_count);
    hm__json_close_answer(&json);
}

static void fit_csv(struct hm_text *out, const struct hm_prediction *p, size_t count)
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

/*
 * Writes measured runs as a gnuplot data block and returns their number: the runs of the predicted
 * configuration or, if `elsewhere` is true, all other runs.
 */
static size_t plot_runs(struct hm_text *out, const struct hm_fit *fit, const char *name,
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

/*
 * Writes the title of the plot (the source of the runs, and the prediction for the largest number
 * of workers) and the label of the vertical axis.
 */
static void plot_labels(struct hm_text *out, const struct hm_fit *fit,
                        const struct hm_prediction *last)
{
    struct hm_text title = {0};
    char time[HM_SHOWN];

    hm__text_add(&title, fit->source ? fit->source : "the specification sheet");
    if (last && !fit->relative)
        hm__text_addf(&title, "; %.0f worker%s: %s", last->n, last->n == 1 ? "" : "s",
                      hm__show_time(last->time_s, time));
    hm__text_add(out, "set title ");
    hm__gnuplot_quote(out, title.data ? title.data : "");
    hm__text_addf(out, " noenhanced\nset ylabel '%s%s'\n",
                  fit->relative ? "time, in that of the reference"
                  : fit->unit   ? "seconds of one "
                                : "seconds of an iteration",
                  fit->unit ? fit->unit : "");
    out->failed = out->failed || title.failed;
    hm__text_release(&title);
}

/*
 * Writes a gnuplot script that shows the predictions, their intervals as bands, the measured runs
 * and, if the numbers of workers span a decade, the ideal line.
 */
static int fit_plot(struct hm_text *out, const struct hm_fit *fit, const struct hm_prediction *p,
                    size_t count, const char *file, struct hm_err *err)
{
    struct hm_plot_span workers = {0}, values = {0};
    int rc = hm__gnuplot_output(out, file, 800, 500, err);

    if (rc)
        return rc;
    hm__text_add(out, "$fit << EOD\n");
    for (size_t i = 0; i < count; i++) {
        hm__span_add(&workers, p[i].n);
        hm__span_add(&values, p[i].time_s);
        hm__text_addf(out, "%.17g %.17g %.17g %.17g %.17g %.17g\n", p[i].n, p[i].time_s, p[i].low_s,
                      p[i].high_s, p[i].mean_low, p[i].mean_high);
    }
    for (size_t i = 0; i < fit->residual_count; i++) {
        hm__span_add(&workers, fit->residuals[i].n);
        hm__span_add(&values, fit->residuals[i].seconds);
    }
    hm__text_add(out, "EOD\n");
    size_t here = plot_runs(out, fit, "runs", false), others = plot_runs(out, fit, "others", true);
    hm__gnuplot_workers(out, &workers);
    hm__gnuplot_values(out, &values);
    plot_labels(out, fit, count ? &p[count - 1] : NULL);
    hm__text_add(out, "plot ");
    if (count && hm__span_is_wide(&workers))
        hm__text_addf(out, "%.17g/x with lines dt 2 lw 1 lt %d title 'ideal', ",
                      p[0].time_s * p[0].n, HM_PLOT_GREY);
    if (fit->intervals)
        hm__text_addf(out,
                      "$fit using 1:3:4 with filledcurves %s lt %d title 'a further run, %g %%', "
                      "$fit using 1:5:6 with filledcurves fs transparent solid 0.35 noborder lt %d "
                      "title 'the mean, %g %%', ",
                      HM_PLOT_BAND, HM_PLOT_MODEL, 100 * fit->level, HM_PLOT_MODEL,
                      100 * fit->level);
    hm__text_addf(out, "$fit using 1:2 with lines lt %d title 'fit'", HM_PLOT_MODEL);
    if (others)
        hm__text_addf(out,
                      ", $others using 1:2 with points pt 2 ps 1 lw 1 lt %d "
                      "title 'runs of other sizes'",
                      HM_PLOT_GREY);
    if (here)
        hm__text_addf(out, ", $runs using 1:2 with points pt 2 ps 1.2 lt %d title 'runs'",
                      HM_PLOT_MEASURED);
    hm__text_add(out, "\nunset output\n");
    return 0;
}

int hm_fit_render(const struct hm_fit *fit, const struct hm_prediction *predictions, size_t count,
                  enum hm_format format, const struct hm_style *style, char **ret_text,
                  struct hm_err *err)
{
    int bad = hm__check_pointers(err, "fit", fit, "ret_text", ret_text, NULL);
    if (bad == 0)
        bad = hm__check_format(format, err);
    if (bad == 0)
        bad = hm__check_array(predictions, count, "predictions", err);
    if (bad)
        return bad;
    const struct hm_style own = hm__style_or_default(style);
    struct hm_text out = {0};
    int rc = 0;

    switch (format) {
    case HM_FORMAT_JSON:
        fit_json(&out, fit, predictions, count);
        break;
    case HM_FORMAT_CSV:
        fit_csv(&out, predictions, count);
        break;
    case HM_FORMAT_GNUPLOT:
        rc = fit_plot(&out, fit, predictions, count, own.file, err);
        break;
    case HM_FORMAT_TEXT:
        hm__render_fit_text(&out, fit, predictions, count, &own);
        break;
    }
    if (rc == 0)
        rc = hm__text_take(&out, ret_text, err);
    hm__text_release(&out);
    return rc;
}
