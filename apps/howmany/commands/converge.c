/* howmany converge: learn how the loss depends on iterations and workers, and show how well. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asked_traces.h"
#include "converge_render.h"

struct converge_state {
    struct cli_traces traces;
    struct hm_holdout_settings holdout;
    struct hm_holdout *held;
    const char *plot, *save;
    bool leave_out, json, csv;
};

enum option {
    RECORD,
    WHERE,
    ALGORITHMS,
    BEST,
    MEASURE,
    EPOCHS,
    TERMS,
    LEAVE_OUT,
    AHEAD,
    WINDOW,
    LEVEL,
    SEED,
    SAVE,
    PLOT,
    JSON,
    CSV
};

static const struct cli_option options[] = {
    [RECORD] = {"record", 0, "STORE", "the traces of a store: a file (.db), or postgresql://…",
                "@file"},
    [WHERE] = {"where", 'w', "COLUMN=VALUE", "of a store: only runs that have this", NULL},
    [ALGORITHMS] = {"algorithms", 'a', "LIST", "only these", NULL},
    [BEST] = {"best", 0, "P",
              "the least loss there is (default: as the traces say, else estimated)", NULL},
    [MEASURE] = {"measure", 0, "COLUMN",
                 "what the loss is: objective (default), loss, test_error, accuracy, …",
                 "objective loss test_error accuracy"},
    [EPOCHS] = {"epochs", 0, NULL, "count epochs, not iterations: for asynchronous runs", NULL},
    [TERMS] = {"terms", 't', "LIST",
               "formulas over i and m to choose from, such as i/m,ln(i),ln(m) (default: a library "
               "of them, and the forms of theory)",
               NULL},
    [LEAVE_OUT] = {"leave-out", 0, "M",
                   "how well the traces on M workers are predicted by the others; each: every M",
                   "each"},
    [AHEAD] = {"ahead", 0, "K",
               "how well a trace is predicted so many iterations, or so much time (5s), ahead",
               NULL},
    [WINDOW] = {"window", 0, "K", "with --ahead: points that are seen before (default 50)", NULL},
    [LEVEL] = {"level", 'l', "P", "of intervals (default 90%)", NULL},
    [SEED] = {"seed", 0, "N", "of the draws behind the intervals (default 0)", NULL},
    [SAVE] = {"save", 0, "FILE.json", "store the fit, for `howmany advise FILE.json`", "@file"},
    [PLOT] = {"plot", 'p', "FILE", "traces and fits as a picture: .svg, .png or .pdf", "@file"},
    [JSON] = {"json", 'j', NULL, "everything as JSON", NULL},
    [CSV] = {"csv", 0, NULL, "the points of the fit as comma-separated values", NULL},
};

static void *begin(void)
{
    return calloc(1, sizeof(struct converge_state));
}

static void end(void *state)
{
    struct converge_state *s = state;

    hm_holdout_free(s->held);
    cli_traces_release(&s->traces);
    free(s);
}

static int read_leave_out(struct converge_state *s, const char *value)
{
    s->leave_out = true;
    if (strcmp(value, "each") == 0)
        return 0;
    return cli_whole("leave-out", value, 1, 1e9, &s->holdout.converge.leave_out);
}

/* Iterations, or seconds when it has a unit of time. */
static int read_ahead(struct converge_state *s, const char *value)
{
    struct hm_err err = {0};
    struct hm_dim dim;
    double number;
    bool has_unit;

    if (hm__quantity_read(value, &number, &dim, &has_unit, &err))
        return cli_complain("--ahead: %s", err.message);
    if (!(number > 0) || (has_unit && !hm__dim_equal(dim, HM_DIM_TIME)))
        return cli_complain("--ahead: '%s' is neither iterations, such as 10, nor time, such as 5s",
                            value);
    s->holdout.ahead = has_unit ? 0 : number;
    s->holdout.ahead_s = has_unit ? number : 0;
    return 0;
}

static int accept_output(struct converge_state *s, int option, const char *value)
{
    switch ((enum option)option) {
    case SAVE:
        s->save = value;
        return hm__text_ends(value, ".json")
                   ? 0
                   : cli_complain("--save: '%s' does not end in .json", value);
    case PLOT:
        return cli_check_plot(s->plot = value);
    case CSV:
        s->csv = true;
        break;
    default:
        s->json = true;
        break;
    }
    return s->json && s->csv ? cli_complain("converge: --json and --csv do not go together") : 0;
}

static int accept(void *state, int option, const char *value)
{
    struct converge_state *s = state;

    switch (option) {
    case -1:
        return cli_traces_file(&s->traces, "converge", value);
    case RECORD:
        return cli_traces_file(&s->traces, "converge", value);
    case WHERE:
        return cli_where_add(s->traces.where, &s->traces.where_count, value);
    case ALGORITHMS:
        return cli_traces_algorithms(&s->traces, value);
    case BEST:
        return cli_traces_best(&s->traces, value);
    case MEASURE:
        s->traces.settings.measure = value;
        return 0;
    case EPOCHS:
        s->traces.settings.epochs = true;
        return 0;
    case TERMS:
        return cli_terms_parse(&s->traces.terms, value);
    case LEAVE_OUT:
        return read_leave_out(s, value);
    case AHEAD:
        return read_ahead(s, value);
    case WINDOW:
        return cli_whole("window", value, 5, 1e6, &s->holdout.window);
    case LEVEL:
        return cli_level(value, &s->traces.converge.level);
    case SEED:
        return cli_whole("seed", value, 0, CLI_SEED_MAX, &s->traces.converge.seed);
    default:
        return accept_output(s, option, value);
    }
}

/* ---- trying it on what it has not seen ---------------------------------------------------------
 */

static int hold_out(struct converge_state *s)
{
    struct hm_err err = {0};
    double leave_out = s->holdout.converge.leave_out;

    if (!s->leave_out && !(s->holdout.ahead > 0) && !(s->holdout.ahead_s > 0))
        return s->holdout.window > 0 ? cli_complain("--window: goes with --ahead") : 0;
    if (!s->traces.traces)
        return cli_complain("converge: %s is a stored fit; --leave-out and --ahead need the traces",
                            s->traces.files[0]);
    if (s->csv)
        return cli_complain(
            "converge: --csv has the points of the fit; --leave-out and --ahead are "
            "told in text or with --json");
    s->holdout.converge = s->traces.converge;
    s->holdout.converge.leave_out = leave_out;
    s->holdout.only_ahead = !s->leave_out;
    if (hm_convergence_hold_out(s->traces.traces, &s->holdout, &s->held, &err))
        return cli_report(&err);
    for (size_t k = 0; s->leave_out && leave_out > 0 && k < s->held->count; k++)
        if (s->held->algorithms[k].left_out_count > 0)
            return 0;
    return s->leave_out && leave_out > 0
               ? cli_complain("--leave-out: no algorithm has traces on %g workers, and on two "
                              "other numbers of them",
                              leave_out)
               : 0;
}

/* ---- output ------------------------------------------------------------------------------------
 */

static int show(struct converge_state *s)
{
    struct hm_style style = cli_style();
    struct hm_err err = {0};
    enum hm_format format = s->json ? HM_FORMAT_JSON : s->csv ? HM_FORMAT_CSV : HM_FORMAT_TEXT;
    char *text;

    if (hm_convergence_render(s->traces.convergence, s->held, format, &style, &text, &err))
        return cli_report(&err);
    int rc = cli_put(text) ? 0 : EXIT_USAGE;
    hm_text_free(text);
    return rc;
}

static int save(const struct converge_state *s)
{
    struct hm_style style = {.table = true};
    struct hm_err err = {0};
    char *text;

    if (hm_convergence_render(s->traces.convergence, NULL, HM_FORMAT_JSON, &style, &text, &err))
        return cli_report(&err);
    int rc = cli_write_file(s->save, text, strlen(text));
    hm_text_free(text);
    return rc;
}

enum { PLOT_POINTS = 60, PLOT_CURVES = 256 };

/* What is drawn of one algorithm on m workers. */
struct drawn {
    double x[PLOT_POINTS], y[PLOT_POINTS], low[PLOT_POINTS], high[PLOT_POINTS];
};

/* The fit along the iterations that were measured on m workers. */
static int draw_curve(const struct hm_convergence *c, size_t algorithm, double m,
                      struct drawn *drawn)
{
    const struct hm_g *g = &c->algorithms[algorithm];
    struct hm_g_prediction points[PLOT_POINTS];
    struct hm_err err = {0};
    double last = 1;

    for (size_t k = 0; k < g->curve_count; k++)
        if (g->curves[k].m == m)
            last = fmax(last, g->curves[k].iteration[g->curves[k].count - 1]);
    for (size_t p = 0; p < PLOT_POINTS; p++)
        drawn->x[p] = pow(last, (double)p / (PLOT_POINTS - 1));
    if (hm_convergence_predict(c, algorithm, m, drawn->x, PLOT_POINTS, points, &err))
        return cli_report(&err);
    for (size_t p = 0; p < PLOT_POINTS; p++) {
        drawn->y[p] = points[p].loss;
        drawn->low[p] = points[p].low;
        drawn->high[p] = points[p].high;
    }
    return 0;
}

static int plot_with(const struct converge_state *s, struct drawn *drawn,
                     struct hm_plot_curve *curves)
{
    const struct hm_convergence *c = s->traces.convergence;
    struct hm_err err = {0};
    size_t count = 0;
    char *script;

    for (size_t a = 0; a < c->count; a++)
        for (size_t k = 0; k < c->algorithms[a].m_count && count < PLOT_CURVES; k++) {
            double m = c->algorithms[a].m[k];
            if (draw_curve(c, a, m, &drawn[count]))
                return EXIT_USAGE;
            curves[count] = (struct hm_plot_curve){
                a,          m, drawn[count].x, drawn[count].y, drawn[count].low, drawn[count].high,
                PLOT_POINTS};
            count++;
        }
    if (hm__convergence_plot(c, curves, count, s->plot, &script, &err))
        return cli_report(&err);
    int rc = cli_gnuplot(script, s->plot);
    hm_text_free(script);
    return rc;
}

static int plot(const struct converge_state *s)
{
    struct drawn *drawn = calloc(PLOT_CURVES, sizeof(*drawn));
    struct hm_plot_curve *curves = calloc(PLOT_CURVES, sizeof(*curves));
    int rc = drawn && curves ? plot_with(s, drawn, curves) : cli_complain("out of memory");

    free(drawn);
    free(curves);
    return rc;
}

static int run(void *state)
{
    struct converge_state *s = state;
    int rc = cli_convergence_load(&s->traces, "converge");

    rc = rc ? rc : hold_out(s);
    rc = rc ? rc : show(s);
    if (rc == 0 && s->save)
        rc = save(s);
    if (rc == 0 && s->plot)
        rc = plot(s);
    return rc;
}

const struct cli_command cli_converge = {
    .name = "converge",
    .arguments = "[TRACES]…",
    .summary = "learn how the loss depends on iterations and workers",
    .description =
        "Reads traces of training runs: the JSON lines of `howmany train`, the tables of its "
        "--record, or a CSV with the columns algorithm, m, iteration, seconds and loss; plain or "
        ".gz; - is standard input; a store; without any, your own store. Fits the loss after i "
        "iterations on m workers, for each "
        "algorithm by itself, on terms in i and m chosen by Lasso, and on the forms that theory "
        "gives. What predicts numbers of workers it has not seen best is kept (Hemingway, 2016). "
        "Errors are of log10(P - P*): 0.1 is a quarter.\n\n"
        "Exit status: 0 answered; 2 wrong usage or input, with the row and the column.",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .operands = "@file",
    .accept = accept,
    .run = run,
    .begin = begin,
    .end = end,
};
