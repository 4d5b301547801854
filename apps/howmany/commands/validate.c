/*
 * Implements the command howmany validate, which computes published values with the models of this
 * program and shows the differences.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "format.h"
#include "json.h"
#include "plot_style.h"
#include "readers.h"
#include "render.h"
#include "text.h"
#include "validate_fits.h"
#include "validate_llm.h"
#include "validate_papers.h"
#include "validate_platforms.h"
#include "validate_steps.h"

enum { FILES_MAX = 64, CASES_MAX = 128 };

struct validate_state {
    const char *files[FILES_MAX];
    size_t file_count;
    bool json, fits, steps, platforms, llm, answers, papers;
    const char *plot, *data;
    struct hm_catalog *catalog;             /* Catalog; owned by this struct. */
    struct hm_validation *cases[CASES_MAX]; /* Cases (groups of published values) with their
                                               results; owned by this struct. */
    char names[CASES_MAX][64];
    size_t case_count;
};

enum validate_option { JSON, PLOT, DATA, FITS, STEPS, PLATFORMS, LLM, ANSWERS, PAPERS };

static const struct cli_option options[] = {
    [JSON] = {"json", 'j', NULL, "as JSON", NULL},
    [PLOT] = {"plot", 0, "FILE", "measured and modelled speedups as a picture: .svg, .png or .pdf",
              "@file"},
    [DATA] = {"data", 'd', "DIR", "folder with the files that built-in cases name, such as graphs",
              "@file"},
    [FITS] = {"fits", 0, NULL,
              "fit the smaller half of every published curve in DIR/scaling instead, and predict "
              "its largest size",
              NULL},
    [STEPS] = {"steps", 0, NULL,
               "predict measured training steps and collectives instead: those that are built in, "
               "or a table with the same columns",
               NULL},
    [PLATFORMS] = {"platforms", 0, NULL,
                   "predict measured iterations on CPUs and with frameworks instead: those that "
                   "are built in, or a table with the same columns",
                   NULL},
    [LLM] = {"llm", 0, NULL,
             "predict measured training steps of large language models instead, each with "
             "constants that were fitted without its source",
             NULL},
    [ANSWERS] = {"answers", 0, NULL,
                 "check the headline rule on the built-in examples and JOBs and, with --data, "
                 "predictions for sources that were not used to choose the rule: accuracy by "
                 "source, and how often stated probabilities hold",
                 NULL},
    [PAPERS] = {"papers", 0, NULL,
                "compare statements of the four source papers with the results of this program "
                "instead; those about training runs need mnist-traces.csv.gz in DIR",
                NULL},
};

static void *validate_begin(void)
{
    return calloc(1, sizeof(struct validate_state));
}

static void validate_end(void *state)
{
    struct validate_state *s = state;

    for (size_t i = 0; i < s->case_count; i++)
        hm_validation_free(s->cases[i]);
    hm_catalog_free(s->catalog);
    free(s);
}

static int validate_accept(void *state, int option, const char *value)
{
    struct validate_state *s = state;

    if (option == JSON)
        s->json = true;
    else if (option == FITS)
        s->fits = true;
    else if (option == STEPS)
        s->steps = true;
    else if (option == PLATFORMS)
        s->platforms = true;
    else if (option == LLM)
        s->llm = true;
    else if (option == ANSWERS)
        s->answers = true;
    else if (option == PAPERS)
        s->papers = true;
    else if (option == DATA)
        s->data = value;
    else if (option == PLOT)
        return cli_check_plot(s->plot = value);
    else if (s->file_count == FILES_MAX)
        return cli_complain("validate: more than %d files", FILES_MAX);
    else
        s->files[s->file_count++] = value;
    return 0;
}

/*
 * Adds a case. If it cannot be loaded and the error code is `tolerated` (such as the code for a
 * missing file), the case is skipped without an error. If `tolerated` is 0, every failure is an
 * error.
 */
static int add_case(struct validate_state *s, const char *name, const char *text, size_t length,
                    int tolerated)
{
    struct hm_err err = {0};
    struct hm_job *job;

    if (s->case_count == CASES_MAX)
        return cli_complain("validate: more than %d cases", CASES_MAX);
    int rc = hm_job_parse_with(s->catalog, text, length, name, NULL, 0, &job, &err);
    if (rc && rc == tolerated && rc == HM_E_IO)
        fprintf(stderr, "howmany: %s is skipped: %s (give its folder with --data DIR)\n", name,
                err.message);
    if (rc)
        return rc == tolerated ? 0 : cli_report(&err);
    rc = hm_validate(job, &s->cases[s->case_count], &err);
    hm_job_free(job);
    if (rc)
        return cli_report(&err);
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    size_t stem = strcspn(base, ".");
    snprintf(s->names[s->case_count++], sizeof(s->names[0]), "%.*s", (int)(stem < 60 ? stem : 60),
             base);
    return 0;
}

static int add_file(struct validate_state *s, const char *path)
{
    struct hm_err err = {0};
    char *text;
    size_t length;

    if (!(text = cli_read(path, &length, &err)))
        return cli_report(&err);
    int rc = add_case(s, path, text, length, 0);
    hm_text_free(text);
    return rc;
}

/* Adds the networks in the catalog that have published counts of parameters or operations. */
static int add_networks(struct validate_state *s)
{
    size_t count = hm_catalog_count(s->catalog, HM_CATALOG_NETWORK);
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < count; i++) {
        const char *name = hm_catalog_name(s->catalog, HM_CATALOG_NETWORK, i);
        struct hm_text job = {0};
        struct hm_json json = {.out = &job};
        size_t before = s->case_count;
        hm__json_open(&json, NULL, HM_JSON_OBJECT);
        hm__json_put_text(&json, "network", name);
        hm__json_put_number(&json, "batch", 1);
        hm__json_close(&json);
        /* A missing key (HM_E_MISSING) is not an error here, because some networks need additional
         * keys, such as the size of the input. */
        rc = job.failed ? cli_complain("out of memory")
                        : add_case(s, name, job.data, job.length, HM_E_MISSING);
        hm__text_release(&job);
        if (s->case_count > before && s->cases[before]->count == 0)
            hm_validation_free(s->cases[--s->case_count]);
    }
    return rc;
}

/* Adds a built-in case. Its data files are looked up in the folder that --data gives. */
static int add_example(struct validate_state *s, const char *name, const char *text, size_t length)
{
    char source[1024];

    snprintf(source, sizeof(source), "%s%s%s", s->data ? s->data : "", s->data ? "/" : "", name);
    return add_case(s, source, text, length, HM_E_IO);
}

static int add_cases(struct validate_state *s)
{
    const char *name, *text;
    size_t length;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < s->file_count; i++)
        rc = add_file(s, s->files[i]);
    if (s->file_count)
        return rc;
    for (size_t i = 0; rc == 0 && hm_example(i, &name, &text, &length); i++)
        rc = add_example(s, name, text, length);
    return rc ? rc : add_networks(s);
}

/* Formats a value with as many digits as are compared with published values. */
static const char *figure_text(double value, double digits, char *text)
{
    if (fabs(value - round(value)) <= 1e-9 * fabs(value) && fabs(value) < 1e15)
        snprintf(text, HM_SHOWN, "%.0f", value);
    else
        snprintf(text, HM_SHOWN, "%#.*g", (int)fmin(digits, 12), value);
    return text;
}

static void add_check_row(struct hm_text *out, const char *name, const struct hm_check *c)
{
    char what[64], ours[HM_SHOWN], theirs[HM_SHOWN];

    if (c->n > 0)
        snprintf(what, sizeof(what), "%s at %g", c->what, c->n);
    else
        snprintf(what, sizeof(what), "%s", c->what);
    hm__text_addf(out, "%-20s %-24s %14s %14s %10.4f %%  %s\n", name, what,
                  figure_text(c->value, c->digits, ours),
                  figure_text(c->published, c->digits, theirs), 100 * (c->value / c->published - 1),
                  c->agrees ? "ok" : "DIFFERS");
}

static void put_check(struct hm_json *json, const char *name, const struct hm_check *c)
{
    hm__json_open(json, NULL, HM_JSON_OBJECT);
    hm__json_put_text(json, "case", name);
    hm__json_put_text(json, "what", c->what);
    hm__json_put_number(json, "n", c->n > 0 ? c->n : (double)NAN);
    hm__json_put_number(json, "value", c->value);
    hm__json_put_number(json, "published", c->published);
    hm__json_put_number(json, "difference", c->value / c->published - 1);
    hm__json_put_bool(json, "agrees", c->agrees);
    hm__json_close(json);
}

static size_t count_checks(const struct validate_state *s, size_t *ret_differ)
{
    size_t count = 0;

    *ret_differ = 0;
    for (size_t i = 0; i < s->case_count; i++) {
        count += s->cases[i]->count;
        for (size_t k = 0; k < s->cases[i]->count; k++)
            *ret_differ += !s->cases[i]->checks[k].agrees;
    }
    return count;
}

static void add_checks_json(struct hm_text *out, const struct validate_state *s)
{
    struct hm_json json = {.out = out};
    size_t differ, count = count_checks(s, &differ);

    hm__json_open(&json, NULL, HM_JSON_OBJECT | HM_JSON_LINES);
    hm__json_open(&json, "checks", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < s->case_count; i++)
        for (size_t k = 0; k < s->cases[i]->count; k++)
            put_check(&json, s->names[i], &s->cases[i]->checks[k]);
    hm__json_close(&json);
    hm__json_put_number(&json, "count", (double)count);
    hm__json_put_number(&json, "differ", (double)differ);
    hm__json_close(&json);
    hm__text_add(out, "\n");
}

static void add_checks_text(struct hm_text *out, const struct validate_state *s)
{
    size_t differ, count = count_checks(s, &differ);

    hm__text_addf(out, "%-20s %-24s %14s %14s %12s\n", "case", "figure", "ours", "published",
                  "difference");
    for (size_t i = 0; i < s->case_count; i++)
        for (size_t k = 0; k < s->cases[i]->count; k++)
            add_check_row(out, s->names[i], &s->cases[i]->checks[k]);
    hm__text_addf(out, "\n%zu figures, %zu differ\n", count, differ);
}

static int print_checks(const struct validate_state *s)
{
    struct hm_text out = {0};

    if (s->json)
        add_checks_json(&out, s);
    else
        add_checks_text(&out, s);
    return cli_put_text(&out);
}

static void add_case_plot(struct hm_text *out, const struct hm_answer *a, const char *name,
                          size_t i)
{
    hm__text_addf(out, "$curve%zu << EOD\n", i);
    for (size_t k = 0; k < a->point_count; k++)
        hm__text_addf(out, "%.17g %.17g\n", a->points[k].n, a->points[k].speedup);
    hm__text_addf(out, "EOD\n$measured%zu << EOD\n", i);
    for (size_t k = 0; k < a->measured_count; k++)
        hm__text_addf(out, "%.17g %.17g\n", a->measured[k].n, a->measured[k].speedup);
    hm__text_add(out, "EOD\nset title ");
    hm__gnuplot_quote(out, name);
    struct hm_plot_span workers = {0};
    for (size_t k = 0; k < a->point_count; k++)
        hm__span_add(&workers, a->points[k].n);
    hm__text_add(out, " noenhanced\nunset logscale\nset yrange [0:*]\n");
    hm__gnuplot_workers(out, &workers);
    if (hm__span_is_wide(&workers))
        hm__text_add(out, "set logscale y 10\nset yrange [*:*]\n");
    hm__text_addf(out,
                  "set ylabel 'speedup over %.0f'\n"
                  "plot $curve%zu using 1:2 with lines lt %d title 'model', "
                  "$measured%zu using 1:2 with points pt 2 ps 1.2 lt %d title 'measured'\n",
                  a->reference, i, HM_PLOT_MODEL, i, HM_PLOT_MEASURED);
}

/* Writes a plot with one panel for each case that has measurements. */
static int write_plot(const struct validate_state *s)
{
    struct hm_text out = {0}, panels = {0};
    struct hm_err err = {0};
    size_t count = 0;

    for (size_t i = 0; i < s->case_count; i++) {
        const struct hm_answer *a = s->cases[i]->answer;
        if (a && a->measured_count)
            add_case_plot(&panels, a, s->names[i], count++);
    }
    if (count == 0)
        return cli_complain("validate: --plot needs a case with measured times, and there is none");
    if (hm__gnuplot_output(&out, s->plot, 500 * (double)count, 440, &err)) {
        hm__text_release(&panels);
        return cli_report(&err);
    }
    hm__text_addf(&out, "set multiplot layout 1,%zu\n", count);
    hm__text_add(&out, panels.data ? panels.data : "");
    hm__text_add(&out, "unset multiplot\nunset output\n");
    int rc = out.failed || panels.failed ? cli_complain("out of memory")
                                         : cli_gnuplot(out.data, s->plot);
    hm__text_release(&panels);
    hm__text_release(&out);
    return rc;
}

static int validate_run(void *state)
{
    struct validate_state *s = state;
    size_t differ = 0;
    int rc;

    if (!(s->catalog = cli_catalog_load()))
        return EXIT_USAGE;
    if (s->steps && (s->fits || s->file_count > 1))
        return cli_complain("validate: --steps takes at most one table, and not --fits");
    if (s->steps)
        return validate_steps(s->file_count ? s->files[0] : NULL, s->json, s->plot, s->catalog);
    if (s->platforms && (s->fits || s->plot || s->file_count > 1))
        return cli_complain(
            "validate: --platforms takes at most one table, and neither --fits nor --plot");
    if (s->platforms)
        return validate_platforms(s->file_count ? s->files[0] : NULL, s->json, s->catalog);
    if (s->llm && (s->fits || s->file_count || s->plot))
        return cli_complain("validate: --llm takes neither files nor --fits nor --plot");
    if (s->llm)
        return validate_llm(s->json);
    if (s->papers && (s->fits || s->answers || s->file_count || s->plot))
        return cli_complain("validate: --papers takes neither files nor --fits, --answers or "
                            "--plot");
    if (s->papers)
        return validate_papers(s->data, s->json, s->catalog);
    if ((s->fits && s->file_count) || ((s->fits || s->answers) && s->plot))
        return cli_complain("validate: --%s takes %s", s->fits ? "fits" : "answers",
                            s->fits ? "neither files nor --plot" : "no --plot");
    if (s->answers)
        return validate_answers(s->data, s->json, s->catalog, s->files, s->file_count);
    if (s->fits)
        return validate_fits(s->data, s->json, s->catalog);
    rc = add_cases(s);
    if (rc == 0)
        rc = print_checks(s);
    if (rc == 0 && s->plot)
        rc = write_plot(s);
    count_checks(s, &differ);
    return rc == 0 && differ ? EXIT_NO_ANSWER : rc;
}

static const struct cli_heading headings[] = {
    {"json", "output"}, {"data", "data"}, {"fits", "what to predict"}, {NULL, NULL}};

const struct cli_command cli_validate = {
    .name = "validate",
    .examples = {"howmany validate", "howmany validate examples/fig2-spark-ann.yaml",
                 "howmany validate --json"},
    .arguments = "[JOB]…",
    .summary = "reproduce published figures and show the differences",
    .description =
        "Without a file, computes the published cases that are built in and the parameters and "
        "operations of the networks in the catalog; with files, checks the figures under their key "
        "expect. MAPE is the mean absolute percentage error against measured speedups, also "
        "without the reference point, which is exact by construction. Exits 1 when a figure "
        "differs.",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .headings = headings,
    .operands = "@file",
    .accept = validate_accept,
    .run = validate_run,
    .begin = validate_begin,
    .end = validate_end,
};
