/*
 * Implements the verb converge, which fits how the loss depends on the number of iterations and the
 * number of workers, and shows how accurate the fit is.
 */
#include <math.h>
#include <string.h>

#include "converge_render.h"
#include "err.h"
#include "traces.h"

struct hm_converge_request {
    struct hm_trace_fields traces;
    const char *leave_out, *leave_rows;
    struct hm_quantity ahead;
    double window;
    bool json, csv;
    const char *save, *plot, *plot_times;
    struct hm_texts set;
};

#define T struct hm_converge_request

static const struct hm_request_field fields[] = {
    HM_ROWS_TRACES(T, traces),
    {.name = "set",
     .kind = HM_REQUEST_PAIRS,
     .offset = offsetof(T, set),
     .group = "traces",
     .argument = "NAME=VALUE",
     .help = "a property that files from other tools do not contain, such as n=8"},
    HM_ROW_TEXT(
        T, leave_out, "leave_out", 0, "check", "M",
        "check how well the other traces predict those on M workers; each: every M in turn"),
    HM_ROW_TEXT(
        T, leave_rows, "leave_rows", 0, "check", "R",
        "check how well traces on fewer rows predict those on R rows; each: every R in turn"),
    {.name = "ahead",
     .kind = HM_REQUEST_QUANTITY,
     .offset = offsetof(T, ahead),
     .flags = HM_REQUEST_ABOVE,
     .group = "check",
     .argument = "K",
     .help = "check how well a trace is predicted K iterations ahead, or a time ahead (5s)"},
    HM_ROW_WHOLE(T, window, "window", 0, 5, 1e6, "check", "K",
                 "with ahead: points that the prediction uses (default 50)"),
    {.name = "save",
     .kind = HM_REQUEST_OUTPUT,
     .offset = offsetof(T, save),
     .group = "output",
     .argument = "FILE.json",
     .choices = "@file",
     .help = "save the fit, for `howmany advise FILE.json`"},
    HM_ROW_PLOT(T, plot, "traces and fits as a picture: .svg, .png or .pdf"),
    {.name = "plot_times",
     .kind = HM_REQUEST_OUTPUT,
     .offset = offsetof(T, plot_times),
     .group = "output",
     .argument = "FILE",
     .choices = "@file",
     .help = "seconds of an iteration by workers, with 5th and 95th percentiles, as a picture"},
    HM_ROW_JSON(T, json),
    HM_ROW_CSV(T, csv, "the points of the fit as comma-separated values"),
};

#undef T

/* ---- prediction of traces that were held out ---------------------------------------------------
 */

/*
 * Reads the field leave_out or leave_rows. Its value is a number of workers or rows, which must be
 * at most `most`, or "each", for which *ret_m is 0.
 */
static int read_leave_out(const char *field, const char *text, double most, double *ret_m,
                          struct hm_err *err)
{
    size_t used = hm__number_read(text, ret_m);

    if (strcmp(text, "each") == 0) {
        *ret_m = 0;
        return 0;
    }
    if (used == 0 || text[used] != '\0' || *ret_m < 1 || *ret_m > most || *ret_m != floor(*ret_m))
        return hm__request_fail(err, field, HM_E_RANGE,
                                "'%.40s' is neither a whole number from 1 nor each", text);
    return 0;
}

static int make_settings(const struct hm_converge_request *r, const struct hm_context *context,
                         const struct hm_converge_settings *converge, struct hm_holdout_settings *s,
                         struct hm_err *err)
{
    const struct hm_quantity *ahead = &r->ahead;

    *s = (struct hm_holdout_settings){.converge = *converge,
                                      .window = isnan(r->window) ? 0 : r->window,
                                      .only_ahead = !r->leave_out,
                                      .progress = context->progress,
                                      .progress_data = context->progress_data};
    if (!isnan(ahead->value) && ahead->has_unit && !hm__dim_equal(ahead->dim, HM_DIM_TIME))
        return hm__request_fail(err, "ahead", HM_E_UNIT,
                                "it is neither iterations, such as 10, nor time, such as 5s");
    s->ahead = isnan(ahead->value) || ahead->has_unit ? 0 : ahead->value;
    s->ahead_s = !isnan(ahead->value) && ahead->has_unit ? ahead->value : 0;
    s->rows = r->leave_rows != NULL;
    int rc =
        r->leave_rows ? read_leave_out("leave_rows", r->leave_rows, 1e15, &s->leave_rows, err) : 0;
    if (rc == 0 && r->leave_out)
        rc = read_leave_out("leave_out", r->leave_out, 1e9, &s->converge.leave_out, err);
    return rc;
}

static int check_left_out(const struct hm_converge_request *r, double m,
                          const struct hm_holdout *held, struct hm_err *err)
{
    if (!r->leave_out || !(m > 0))
        return 0;
    for (size_t k = 0; k < held->count; k++)
        if (held->algorithms[k].left_out_count > 0)
            return 0;
    return hm__request_fail(err, "leave_out", HM_E_MISSING,
                            "no algorithm has traces on %g workers and on two other numbers", m);
}

/*
 * Makes the settings of hold-outs before the traces are loaded. Returns false if the request asks
 * for none, or if a setting is wrong, which hold_out reports.
 */
static bool plan_hold_out(const struct hm_converge_request *r, const struct hm_context *context,
                          struct hm_holdout_settings *ret_settings)
{
    const struct hm_converge_settings none = {0};
    struct hm_err ignored = {0};

    return (r->leave_out || r->leave_rows || !isnan(r->ahead.value)) &&
           make_settings(r, context, &none, ret_settings, &ignored) == 0;
}

static int hold_out(const struct hm_converge_request *r, const struct hm_context *context,
                    const struct hm_loaded_traces *loaded, struct hm_holdout **ret_held,
                    struct hm_err *err)
{
    const char *asked = r->leave_out             ? "leave_out"
                        : r->leave_rows          ? "leave_rows"
                        : !isnan(r->ahead.value) ? "ahead"
                                                 : NULL;
    struct hm_holdout_settings settings;

    if (!asked && !isnan(r->window))
        return hm__request_fail(err, "window", HM_E_CONFLICT, "this needs ahead");
    if (!asked)
        return 0;
    if (!loaded->traces)
        return hm__request_fail(err, asked, HM_E_CONFLICT, "%s is a stored fit; this needs traces",
                                loaded->fit);
    if (r->csv)
        return hm__request_fail(err, "csv", HM_E_CONFLICT,
                                "csv has the points of the fit; %s is shown as text or json",
                                asked);
    int rc = make_settings(r, context, &loaded->settings, &settings, err);
    if (rc == 0)
        rc = hm_convergence_hold_out(loaded->traces, &settings, ret_held, err);
    if (rc && r->leave_rows && !r->leave_out && err && !err->field[0])
        hm__err_field(err, "leave_rows");
    return rc ? rc : check_left_out(r, settings.converge.leave_out, *ret_held, err);
}

/* ---- pictures ----------------------------------------------------------------------------------
 */

enum { PLOT_POINTS = 60, PLOT_CURVES = 256 };

/*
 * The plotted curve of one algorithm on m workers: iterations, losses and the intervals for the
 * losses.
 */
struct plot_points {
    double x[PLOT_POINTS], y[PLOT_POINTS], low[PLOT_POINTS], high[PLOT_POINTS];
};

/* Predicts the loss over the range of iterations that the traces on m workers cover. */
static int predict_curve(const struct hm_convergence *c, size_t algorithm, double m,
                         struct plot_points *points, struct hm_err *err)
{
    const struct hm_g *g = &c->algorithms[algorithm];
    struct hm_g_prediction predicted[PLOT_POINTS];
    double last = 1;

    for (size_t k = 0; k < g->curve_count; k++)
        if (g->curves[k].m == m)
            last = fmax(last, g->curves[k].iteration[g->curves[k].count - 1]);
    for (size_t p = 0; p < PLOT_POINTS; p++)
        points->x[p] = pow(last, (double)p / (PLOT_POINTS - 1));
    int rc = hm_convergence_predict(c, algorithm, m, points->x, PLOT_POINTS, predicted, err);
    for (size_t p = 0; rc == 0 && p < PLOT_POINTS; p++) {
        points->y[p] = predicted[p].loss;
        points->low[p] = predicted[p].low;
        points->high[p] = predicted[p].high;
    }
    return rc;
}

static int add_plot(const struct hm_converge_request *r, const struct hm_convergence *c,
                    struct hm_call *call, struct hm_err *err)
{
    struct plot_points *points = hm__arena_alloc(call->arena, PLOT_CURVES, sizeof(*points));
    struct hm_plot_curve *curves = hm__arena_alloc(call->arena, PLOT_CURVES, sizeof(*curves));
    size_t count = 0;
    char *script;
    int rc = points && curves ? 0 : hm__fail_nomem(err);

    for (size_t a = 0; rc == 0 && a < c->count; a++)
        for (size_t k = 0; rc == 0 && k < c->algorithms[a].m_count && count < PLOT_CURVES; k++) {
            double m = c->algorithms[a].m[k];
            struct plot_points *p = &points[count];
            rc = predict_curve(c, a, m, p, err);
            curves[count++] =
                (struct hm_plot_curve){a, m, p->x, p->y, p->low, p->high, PLOT_POINTS};
        }
    if (rc == 0)
        rc = hm__convergence_plot(c, curves, count, r->plot, &script, err);
    if (rc)
        return rc;
    rc = hm__call_file(call, r->plot, "gnuplot", script, err);
    hm_text_free(script);
    return rc;
}

static int add_plot_times(const struct hm_converge_request *r, const struct hm_convergence *c,
                          struct hm_call *call, struct hm_err *err)
{
    char *script;
    int rc = hm__paces_plot(c->paces, r->plot_times, &script, err);

    if (rc) {
        if (err && !err->field[0])
            hm__err_field(err, "plot_times");
        return rc;
    }
    rc = hm__call_file(call, r->plot_times, "gnuplot", script, err);
    hm_text_free(script);
    return rc;
}

/* ---- running -----------------------------------------------------------------------------------
 */

static int add_saved(const struct hm_converge_request *r, const struct hm_convergence *c,
                     struct hm_call *call, struct hm_err *err)
{
    const struct hm_style whole = {.table = true};
    char *text;
    int rc = hm_convergence_render(c, NULL, HM_FORMAT_JSON, &whole, &text, err);

    if (rc)
        return rc;
    rc = hm__call_file(call, r->save, NULL, text, err);
    hm_text_free(text);
    return rc;
}

static int show_convergence(const struct hm_converge_request *r, const struct hm_convergence *c,
                            const struct hm_holdout *held, struct hm_call *call, struct hm_err *err)
{
    enum hm_format format;
    char *text;
    int rc = hm__call_format(r->json, r->csv, &format, err);

    if (rc == 0)
        rc = hm_convergence_render(c, held, format, &call->context->style, &text, err);
    if (rc == 0)
        rc = hm__call_answer(call, format, text, err);
    if (rc == 0 && r->save)
        rc = add_saved(r, c, call, err);
    if (rc == 0 && r->plot)
        rc = add_plot(r, c, call, err);
    return rc == 0 && r->plot_times ? add_plot_times(r, c, call, err) : rc;
}

static int converge_run(const void *values, struct hm_call *call, struct hm_err *err)
{
    const struct hm_converge_request *r = values;
    struct hm_loaded_traces loaded = {0};
    struct hm_holdout_settings settings;
    struct hm_holdout *held = NULL;
    bool planned = plan_hold_out(r, call->context, &settings);
    int rc = 0;

    if (r->save && !hm__text_ends(r->save, ".json"))
        rc = hm__request_fail(err, "save", HM_E_NAME, "'%.80s' does not end in .json", r->save);
    if (rc == 0)
        rc = hm__load_convergence(call, &r->traces, planned ? &settings : NULL, &loaded, err);
    if (rc == 0)
        rc = hold_out(r, call->context, &loaded, &held, err);
    if (rc == 0)
        rc = show_convergence(r, loaded.convergence, held, call, err);
    hm_holdout_free(held);
    hm__loaded_traces_release(&loaded);
    return rc;
}

const struct hm_verb hm__verb_converge = {
    .name = "converge",
    .summary = "learn how the loss depends on iterations and workers",
    .description =
        "Reads traces of training runs: the JSON lines of `howmany train`, the tables of "
        "`howmany train --record`, or a CSV with the columns algorithm, m, iteration, seconds and "
        "loss; plain or "
        ".gz; - is standard input; a store; without any, your own store. Fits the loss after i "
        "iterations on m workers, for each algorithm by itself, on terms in i and m chosen by "
        "Lasso, and on the forms that theory gives, and keeps the one that best predicts numbers "
        "of workers it has not seen (Hemingway, 2016). Errors are those of log10(P - P*): 0.1 is "
        "a quarter.\n\n"
        "Exit status: 0 answered; 2 wrong usage or input, with the row and the column.",
    HM_VERB_FIELDS(fields),
    .size = sizeof(struct hm_converge_request),
    .operand = "traces",
    .table = "traces",
    .answer = "converge",
    .run = converge_run,
};
