/* howmany fit: learn how the time depends on n from a few runs, and predict with intervals. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asked_job.h"
#include "asked_runs.h"

struct fit_state {
    const char *file, *plot;
    const char *where[CLI_LIST_MAX];
    size_t where_count;
    struct cli_terms terms;
    struct cli_target target;
    struct cli_range predict;
    struct cli_job job;
    struct hm_fit_settings settings;
    struct hm_runs *runs;
    struct hm_fit *fit;
    bool json, csv, residuals;
};

enum option {
    TERMS,
    TARGET,
    PREDICT,
    JOB,
    ON,
    NETWORK,
    SET,
    WHERE,
    LEVEL,
    ERRORS,
    WIDTH,
    SEED,
    RESIDUALS,
    PLOT,
    JSON,
    CSV
};

static const struct cli_option options[] = {
    [TERMS] = {"terms", 't', "LIST",
               "formulas over the columns, such as 1,size/n,ln(n),n; auto (default) chooses them",
               "auto"},
    [TARGET] = {"target", 0, "PLACE", "predict there: 64, or n=64,size=1", NULL},
    [PREDICT] = {"predict", 0, "LIST", "predict for these n: 4..64:4, or 8,16,32", NULL},
    [JOB] = {"job", 0, "JOB",
             "start from this specification sheet and let the runs correct it; RUNS may be left "
             "out then",
             "@file"},
    [ON] = {"on", 0, "MACHINE", "with --job: the machine the runs were made on", "@machine"},
    [NETWORK] = {"network", 0, "NAME", "with --job: the network between machines", "@fabric"},
    [SET] = {"set", 0, "KEY=VALUE", "with --job: change a key of the job", NULL},
    [WHERE] = {"where", 'w', "COLUMN=VALUE", "only the runs that have this value", NULL},
    [LEVEL] = {"level", 'l', "P", "of intervals (default 90%)", NULL},
    [ERRORS] = {"errors", 0, "KIND",
                "of runs: equal, relative, or auto (default): as repeats show; without them equal "
                "for given terms, else relative",
                "auto equal relative"},
    [WIDTH] = {"width", 0, "W", "with --job: how far off a part of the sheet may be (default 0.5)",
               NULL},
    [SEED] = {"seed", 0, "N", "of the draws behind the intervals (default 0)", NULL},
    [RESIDUALS] = {"residuals", 'r', NULL,
                   "what the fit makes of each run, and the terms that were considered", NULL},
    [PLOT] = {"plot", 'p', "FILE", "runs, fit and intervals as a picture: .svg, .png or .pdf",
              "@file"},
    [JSON] = {"json", 'j', NULL, "everything as JSON", NULL},
    [CSV] = {"csv", 0, NULL, "the predictions as comma-separated values", NULL},
};

static void *begin(void)
{
    return calloc(1, sizeof(struct fit_state));
}

static void end(void *state)
{
    struct fit_state *s = state;

    hm_fit_free(s->fit);
    hm_runs_free(s->runs);
    cli_job_release(&s->job);
    cli_terms_release(&s->terms);
    cli_range_release(&s->predict);
    free(s);
}

static int read_errors(struct fit_state *s, const char *value)
{
    static const char *const names[] = {"auto", "equal", "relative"};

    for (int i = 0; i < 3; i++)
        if (strcmp(names[i], value) == 0) {
            s->settings.errors = (enum hm_errors)i;
            return 0;
        }
    return cli_complain("--errors: '%s' is not auto, equal or relative", value);
}

static int accept_output(struct fit_state *s, int option, const char *value)
{
    switch ((enum option)option) {
    case RESIDUALS:
        s->residuals = true;
        break;
    case PLOT:
        return cli_check_plot(s->plot = value);
    case CSV:
        s->csv = true;
        break;
    default:
        s->json = true;
        break;
    }
    return s->json && s->csv ? cli_complain("fit: --json and --csv do not go together") : 0;
}

static int accept(void *state, int option, const char *value)
{
    struct fit_state *s = state;

    switch (option) {
    case -1:
        if (s->file)
            return cli_complain("fit: one table of runs at a time ('%s' and '%s')", s->file, value);
        s->file = value;
        return 0;
    case TERMS:
        return cli_terms_parse(&s->terms, value);
    case TARGET:
        return cli_target_parse(&s->target, value);
    case PREDICT:
        return cli_range_parse(&s->predict, value);
    case JOB:
        s->job.path = value;
        return 0;
    case ON:
        return cli_job_on(&s->job, value);
    case NETWORK:
        s->job.network = value;
        return 0;
    case SET:
        return cli_job_set(&s->job, value);
    case WHERE:
        return cli_where_add(s->where, &s->where_count, value);
    case LEVEL:
        return cli_level(value, &s->settings.level);
    case ERRORS:
        return read_errors(s, value);
    case WIDTH:
        return cli_quantity("width", value, HM_DIM_NONE, &s->settings.width);
    case SEED:
        return cli_whole("seed", value, 0, CLI_SEED_MAX, &s->settings.seed);
    default:
        return accept_output(s, option, value);
    }
}

static int load(struct fit_state *s)
{
    if (!s->job.path && (s->job.on_count || s->job.set_count || s->job.network))
        return cli_complain("fit: --on, --network and --set go with --job");
    if (!s->job.path && s->settings.width > 0)
        return cli_complain("fit: --width goes with --job");
    if (!s->file && s->job.path && s->where_count)
        return cli_complain("fit: --where needs runs");
    if (s->job.on_count > 1)
        return cli_complain("fit: the runs were made on one machine: name one with --on");
    if (s->predict.count && s->target.n > 0)
        return cli_complain("fit: --predict names the n already; leave n out of --target");
    int rc = s->job.path ? cli_job_load(&s->job) : 0;
    if (rc == 0 && (s->file || !s->job.path))
        rc = cli_runs_load(s->file, s->where, s->where_count, &s->runs);
    s->settings.job = s->job.job;
    s->settings.cluster = s->job.on_count ? s->job.clusters[0] : NULL;
    s->settings.terms = s->terms.terms;
    s->settings.term_count = s->terms.count;
    return rc;
}

/* Where nobody says: the target, or doubling beyond what was measured. */
static int default_places(struct fit_state *s)
{
    if (!(s->predict.values = calloc(CLI_PLACES_MAX, sizeof(*s->predict.values))))
        return cli_complain("out of memory");
    s->predict.count = cli_target_places(&s->target, s->fit->n_max, s->predict.values);
    return 0;
}

static int show(struct fit_state *s, const struct hm_prediction *predictions, size_t count)
{
    struct hm_style style = cli_style();
    struct hm_err err = {0};
    enum hm_format format = s->json ? HM_FORMAT_JSON : s->csv ? HM_FORMAT_CSV : HM_FORMAT_TEXT;
    char *text;

    style.table = s->residuals;
    if (hm_fit_render(s->fit, predictions, count, format, &style, &text, &err))
        return cli_report(&err);
    int rc = cli_put(text) ? 0 : EXIT_USAGE;
    hm_text_free(text);
    return rc;
}

enum { PLOT_POINTS = 80 };

/* A smooth curve for the picture, from 1 to the largest n of interest. */
static int plot(struct fit_state *s, const struct hm_at *at, size_t at_count)
{
    struct hm_style style = {.file = s->plot};
    struct hm_err err = {0};
    struct hm_prediction points[PLOT_POINTS];
    double n[PLOT_POINTS], most = fmax(s->fit->n_max, 2);
    char *script;

    for (size_t i = 0; i < s->predict.count; i++)
        most = fmax(most, s->predict.values[i]);
    for (size_t i = 0; i < PLOT_POINTS; i++) {
        n[i] = pow(most, (double)i / (PLOT_POINTS - 1));
        if (s->fit->from_sheet) /* a sheet knows whole workers only */
            n[i] = round(n[i]);
    }
    if (hm_fit_predict(s->fit, at, at_count, n, PLOT_POINTS, points, &err) ||
        hm_fit_render(s->fit, points, PLOT_POINTS, HM_FORMAT_GNUPLOT, &style, &script, &err))
        return cli_report(&err);
    int rc = cli_gnuplot(script, s->plot);
    hm_text_free(script);
    return rc;
}

static int predict(struct fit_state *s)
{
    struct hm_at at[CLI_TARGETS_MAX];
    size_t at_count = cli_target_others(&s->target, at);
    struct hm_err err = {0};
    int rc = 0;

    if (s->predict.count == 0)
        rc = default_places(s);
    if (rc)
        return rc;
    struct hm_prediction *predictions = calloc(s->predict.count, sizeof(*predictions));
    if (!predictions)
        return cli_complain("out of memory");
    rc = hm_fit_predict(s->fit, at, at_count, s->predict.values, s->predict.count, predictions,
                        &err);
    rc = rc ? cli_report(&err) : show(s, predictions, s->predict.count);
    free(predictions);
    if (rc == 0 && s->plot)
        rc = plot(s, at, at_count);
    return rc;
}

static int run(void *state)
{
    struct fit_state *s = state;
    struct hm_err err = {0};
    int rc = load(s);

    if (rc)
        return rc;
    if (hm_fit_new(s->runs, &s->settings, &s->fit, &err))
        return cli_report(&err);
    return predict(s);
}

const struct cli_command cli_fit = {
    .name = "fit",
    .arguments = "[RUNS]",
    .summary = "learn from a few runs, and predict with intervals",
    .description =
        "Reads runs (CSV with a header, or JSON lines; plain or .gz; - is standard input; a store; "
        "without any, your own store): n, and seconds of an iteration (or total and iterations, or "
        "speedup), and whatever else the runs "
        "differ in. Fits their time by non-negative least squares on terms, and predicts it "
        "elsewhere, with the interval of one further run and that of the mean. With --job, the "
        "specification sheet is where it starts and the runs correct it.\n\n"
        "Exit status: 0 answered; 2 wrong usage or input, with the row and the column.",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .operands = "@file",
    .accept = accept,
    .run = run,
    .begin = begin,
    .end = end,
};
