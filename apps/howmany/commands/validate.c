/* howmany validate: reproduce the figures of the literature, with the differences. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "format.h"
#include "readers.h"
#include "render.h"
#include "text.h"
#include "validate_fits.h"

enum { FILES_MAX = 64, CASES_MAX = 128 };

struct validate_state {
    const char *files[FILES_MAX];
    size_t file_count;
    bool json, fits;
    const char *plot, *data;
    struct hm_catalog *catalog;             /* owned */
    struct hm_validation *cases[CASES_MAX]; /* owned */
    char names[CASES_MAX][64];
    size_t case_count;
};

enum option { JSON, PLOT, DATA, FITS };

static const struct cli_option options[] = {
    [JSON] = {"json", 'j', NULL, "as JSON", NULL},
    [PLOT] = {"plot", 'p', "FILE",
              "measured and modelled speedups as a picture: .svg, .png or .pdf", "@file"},
    [DATA] = {"data", 0, "DIR", "folder with the files that built-in cases name, such as graphs",
              "@file"},
    [FITS] = {"fits", 0, NULL,
              "instead: fit the smaller half of every published curve in DIR/scaling and predict "
              "its largest size",
              NULL},
};

static void *begin(void)
{
    return calloc(1, sizeof(struct validate_state));
}

static void end(void *state)
{
    struct validate_state *s = state;

    for (size_t i = 0; i < s->case_count; i++)
        hm_validation_free(s->cases[i]);
    hm_catalog_free(s->catalog);
    free(s);
}

static int accept(void *state, int option, const char *value)
{
    struct validate_state *s = state;

    if (option == JSON)
        s->json = true;
    else if (option == FITS)
        s->fits = true;
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

/* `lacks` is the code of an error that only means that something is not here; 0: none. */
static int add_case(struct validate_state *s, const char *name, const char *text, size_t length,
                    int lacks)
{
    struct hm_err err = {0};
    struct hm_job *job;

    if (s->case_count == CASES_MAX)
        return cli_complain("validate: more than %d cases", CASES_MAX);
    int rc = hm_job_parse_with(s->catalog, text, length, name, NULL, 0, &job, &err);
    if (rc && rc == lacks && rc == HM_E_IO)
        fprintf(stderr, "howmany: %s is left out: %s (give its folder with --data DIR)\n", name,
                err.message);
    if (rc)
        return rc == lacks ? 0 : cli_report(&err);
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

/* Networks of the catalog that have published counts. */
static int add_networks(struct validate_state *s)
{
    size_t count = hm_catalog_count(s->catalog, HM_CATALOG_NETWORK);
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < count; i++) {
        const char *name = hm_catalog_name(s->catalog, HM_CATALOG_NETWORK, i);
        char text[200];
        snprintf(text, sizeof(text), "{\"network\": \"%.100s\", \"batch\": 1}", name);
        size_t before = s->case_count;
        rc = add_case(s, name, text, strlen(text), HM_E_MISSING); /* of its input, perhaps */
        if (s->case_count > before && s->cases[before]->count == 0)
            hm_validation_free(s->cases[--s->case_count]);
    }
    return rc;
}

/* A built-in case; its files, if it names any, are looked for in the folder of --data. */
static int add_example(struct validate_state *s, const char *name, const char *text, size_t length)
{
    char source[1024];

    snprintf(source, sizeof(source), "%s%s%s", s->data ? s->data : "", s->data ? "/" : "", name);
    return add_case(s, source, text, length, HM_E_IO);
}

static int gather(struct validate_state *s)
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

/* As many digits as are compared. */
static const char *show_figure(double value, double digits, char *text)
{
    if (fabs(value - round(value)) <= 1e-9 * fabs(value) && fabs(value) < 1e15)
        snprintf(text, HM_SHOWN, "%.0f", value);
    else
        snprintf(text, HM_SHOWN, "%#.*g", (int)fmin(digits, 12), value);
    return text;
}

static void text_check(struct hm_text *out, const char *name, const struct hm_check *c)
{
    char what[64], ours[HM_SHOWN], theirs[HM_SHOWN];

    if (c->n > 0)
        snprintf(what, sizeof(what), "%s at %g", c->what, c->n);
    else
        snprintf(what, sizeof(what), "%s", c->what);
    hm__text_addf(out, "%-20s %-24s %14s %14s %10.4f %%  %s\n", name, what,
                  show_figure(c->value, c->digits, ours),
                  show_figure(c->published, c->digits, theirs), 100 * (c->value / c->published - 1),
                  c->agrees ? "ok" : "DIFFERS");
}

static void json_check(struct hm_text *out, const char *name, const struct hm_check *c)
{
    hm__text_add(out, "{\"case\":");
    hm__json_text(out, name);
    hm__text_add(out, ",\"what\":");
    hm__json_text(out, c->what);
    hm__text_add(out, ",\"n\":");
    hm__json_known(out, c->n > 0 ? c->n : -1);
    hm__text_add(out, ",\"value\":");
    hm__json_number(out, c->value);
    hm__text_add(out, ",\"published\":");
    hm__json_number(out, c->published);
    hm__text_add(out, ",\"difference\":");
    hm__json_number(out, c->value / c->published - 1);
    hm__text_addf(out, ",\"agrees\":%s}", c->agrees ? "true" : "false");
}

static int show(const struct validate_state *s, size_t *differ)
{
    struct hm_text out = {0};
    size_t rows = 0;

    if (s->json)
        hm__text_add(&out, "{\"checks\":[\n");
    else
        hm__text_addf(&out, "%-20s %-24s %14s %14s %12s\n", "case", "figure", "ours", "published",
                      "difference");
    for (size_t i = 0; i < s->case_count; i++) {
        for (size_t k = 0; k < s->cases[i]->count; k++) {
            const struct hm_check *c = &s->cases[i]->checks[k];
            *differ += !c->agrees;
            if (s->json) {
                hm__text_add(&out, rows ? ",\n" : "");
                json_check(&out, s->names[i], c);
            } else {
                text_check(&out, s->names[i], c);
            }
            rows++;
        }
    }
    if (s->json)
        hm__text_addf(&out, "],\n\"count\":%zu,\"differ\":%zu}\n", rows, *differ);
    else
        hm__text_addf(&out, "\n%zu figures, %zu differ\n", rows, *differ);
    return cli_put_text(&out);
}

static void plot_case(struct hm_text *out, const struct hm_answer *a, const char *name, size_t i)
{
    hm__text_addf(out, "$curve%zu << EOD\n", i);
    for (size_t k = 0; k < a->point_count; k++)
        hm__text_addf(out, "%.17g %.17g\n", a->points[k].n, a->points[k].speedup);
    hm__text_addf(out, "EOD\n$measured%zu << EOD\n", i);
    for (size_t k = 0; k < a->measured_count; k++)
        hm__text_addf(out, "%.17g %.17g\n", a->measured[k].n, a->measured[k].speedup);
    hm__text_add(out, "EOD\nset title ");
    hm__gnuplot_quote(out, name);
    hm__text_addf(out,
                  " noenhanced\nset ylabel 'speedup over %.0f'\n"
                  "plot $curve%zu using 1:2 with lines lw 2 lc rgb '#1f6fb4' title 'model', "
                  "$measured%zu using 1:2 with points pt 2 ps 1.2 lw 2 lc rgb '#444444' "
                  "title 'measured'\n",
                  a->reference, i, i);
}

/* One panel for each case that has measurements. */
static int plot(const struct validate_state *s)
{
    struct hm_text out = {0}, panels = {0};
    struct hm_err err = {0};
    size_t count = 0;

    for (size_t i = 0; i < s->case_count; i++) {
        const struct hm_answer *a = s->cases[i]->answer;
        if (a && a->measured_count)
            plot_case(&panels, a, s->names[i], count++);
    }
    if (count == 0)
        return cli_complain(
            "validate: nothing here has been measured, so there is nothing to plot");
    if (hm__gnuplot_output(&out, s->plot, 500 * (double)count, 440, &err)) {
        hm__text_release(&panels);
        return cli_report(&err);
    }
    hm__text_addf(&out,
                  "set border 3\nset tics nomirror out\nset grid lc rgb '#dddddd' lt 1\n"
                  "set key right bottom\nset yrange [0:*]\nset xlabel 'workers'\n"
                  "set multiplot layout 1,%zu\n",
                  count);
    hm__text_add(&out, panels.data ? panels.data : "");
    hm__text_add(&out, "unset multiplot\nunset output\n");
    int rc = out.failed || panels.failed ? cli_complain("out of memory")
                                         : cli_gnuplot(out.data, s->plot);
    hm__text_release(&panels);
    hm__text_release(&out);
    return rc;
}

static int run(void *state)
{
    struct validate_state *s = state;
    size_t differ = 0;
    int rc;

    if (!(s->catalog = cli_catalog_load()))
        return EXIT_USAGE;
    if (s->fits && (s->file_count || s->plot))
        return cli_complain("validate: --fits takes neither files nor --plot");
    if (s->fits)
        return cli_validate_fits(s->data, s->json, s->catalog);
    rc = gather(s);
    if (rc == 0)
        rc = show(s, &differ);
    if (rc == 0 && s->plot)
        rc = plot(s);
    return rc == 0 && differ ? EXIT_NO_ANSWER : rc;
}

const struct cli_command cli_validate = {
    .name = "validate",
    .arguments = "[JOB]…",
    .summary = "reproduce the figures of the literature, with the differences",
    .description =
        "Without a file, runs the published cases that are built in and counts the networks of the "
        "catalog; with files, checks the figures under their expect key. MAPE is the mean absolute "
        "percentage error against measured speedups, also without the reference point, which is "
        "right by construction. Exits 1 when a figure differs.",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .operands = "@file",
    .accept = accept,
    .run = run,
    .begin = begin,
    .end = end,
};
