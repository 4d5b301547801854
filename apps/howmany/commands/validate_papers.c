/*
 * Compares statements of four papers with the answers of this program. Each row of data/papers.csv
 * holds a statement, its published value and how this program computes the value (`kind` and
 * `what`):
 *
 *   workers    best number of workers in Anwar's runs:      BATCH LATENCY SMALLEST_N
 *   rate       samples per second of a framework:           FRAMEWORK NETWORK CONSISTENCY BATCH
 *   ratio      quotient of two rates:                        RATE / RATE
 *   iterative  speedup of n workers over n - i workers:      EXAMPLE N I
 *   latency    seconds with a latency (ms), from those with 0 and with another latency:
 *                                                            SECONDS MS SECONDS MS
 *   rounds     iterations to an excess loss:                 ALGORITHM M LOSS
 *   growth     quotient of two such numbers:                 ALGORITHM M M LOSS
 *   fastest    workers with the least time of an iteration:  ALGORITHM
 *   before     1 if the first algorithm needs fewer iterations: ALGORITHM ALGORITHM M LOSS
 *   ahead      1 if the first algorithm has the smaller loss after some iterations, with every
 *              seed:                                         ALGORITHM ALGORITHM M ITERATION
 *   held_out   median error of log10(P - P*) on m workers, whose traces are held out:
 *                                                            ALGORITHM M
 *   fitted     the same for the fit of all traces:           ALGORITHM
 *   timed      the same over time: after t seconds, t / f(m) iterations are expected, where f(m) is
 *              fitted too; without the traces on m workers unless M is 0: ALGORITHM M
 *   later      the same for K iterations later, from 50 before: ALGORITHM K
 *   later_s    the same for some seconds later:              ALGORITHM SECONDS
 *
 * An error agrees if it is at most the published value plus the tolerance.
 */
#include "validate_papers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converge.h"
#include "csv.h"
#include "embedded.h"
#include "err.h"
#include "howmany_advise.h"
#include "howmany_fit.h"
#include "json.h"
#include "order.h"
#include "predict_platform.h"
#include "read_platforms.h"
#include "text.h"

enum { NAME = 40, CLAIMS_MAX = 256, CLAIM_TEXT = 200 };

/* Files of training runs on MNIST in the folder that --data gives. */
enum papers_file { PAPERS_NONE = -1, PAPERS_MNIST, PAPERS_CROSSING, PAPERS_SLOW, PAPERS_FILES };

static const char *const file_names[PAPERS_FILES] = {
    [PAPERS_MNIST] = "mnist-traces.csv.gz",
    [PAPERS_CROSSING] = "crossing-traces.csv.gz",
    [PAPERS_SLOW] = "slow-traces.csv.gz",
};

/* Tables that this program uses to compute its values, for comparison with the papers. */
struct papers_sources {
    const struct hm_catalog *catalog;
    struct hm_runs *anwar;         /* Runs that Anwar et al. measured. */
    struct hm_platform_rows zhang; /* Iterations that Zhang et al. measured. */
    /* Training runs on MNIST; if NULL, statements about them are skipped. */
    struct hm_traces *traces[PAPERS_FILES];
};

struct papers_claim {
    char paper[16], claim[CLAIM_TEXT], why[CLAIM_TEXT];
    /*
     * Value that this program computes (NaN if the statement is skipped), published value, and
     * tolerance.
     */
    double ours, published, tolerance;
    bool bound; /* True if the published value is an upper bound, so that a smaller value of this
                   program agrees with it. */
    const char *needs; /* Name of the file without which the statement is skipped. */
};

/* ---- our values ------------------------------------------------------------------------------ */

static double workers_value(const struct papers_sources *s, const char *what, struct hm_err *err)
{
    double batch, latency, from, n[4], found = NAN;
    struct hm_recommendation *r = NULL;
    size_t count = 0;

    if (sscanf(what, "%lf %lf %lf", &batch, &latency, &from) != 3)
        return NAN;
    for (double k = from; k <= 4; k++)
        n[count++] = k;
    const struct hm_at at[] = {{"batch", batch}, {"latency", latency}};
    const struct hm_recommend_question question = {
        .at = at, .at_count = 2, .n = n, .n_count = count};
    if (hm_recommend(s->anwar, &question, &r, err) == 0 && r->best != HM_NONE)
        found = r->candidates[r->best].n;
    hm_recommendation_free(r);
    return found;
}

static double rate_value(const struct papers_sources *s, const char *what, struct hm_err *err)
{
    char framework[NAME], network[NAME], consistency[NAME];
    struct hm_point p;
    double batch;

    if (sscanf(what, "%39s %39s %39s %lf", framework, network, consistency, &batch) != 4)
        return NAN;
    for (size_t i = 0; i < s->zhang.count; i++) {
        const struct hm_platform_row *row = &s->zhang.rows[i];
        if (strcmp(row->framework, framework) == 0 && strcmp(row->network, network) == 0 &&
            row->batch == batch &&
            strcmp(hm_consistency_name(row->way.consistency), consistency) == 0)
            return hm__predict_platform(row->job, &row->way, row->n, NULL, &p, err)
                       ? NAN
                       : row->n * row->batch / p.time_s;
    }
    return NAN;
}

static double ratio_value(const struct papers_sources *s, const char *what, struct hm_err *err)
{
    const char *slash = strstr(what, " / ");

    return slash ? rate_value(s, what, err) / rate_value(s, slash + 3, err) : NAN;
}

/*
 * Predicts the time at a given latency from the times at two other latencies. The time is assumed
 * to be a constant plus a term proportional to the latency, as in one of the papers (t = o / x + l
 * r with the latency l).
 */
static double latency_value(const struct papers_sources *s, const char *what, struct hm_err *err)
{
    static const char *const terms[] = {"1", "latency"};
    const double n[] = {2, 2}, two = 2;
    double seconds[2], latency[2] = {0}, at_ms, found = NAN;
    struct hm_runs *runs = NULL;
    struct hm_fit *fit = NULL;
    struct hm_prediction p;

    (void)s;
    if (sscanf(what, "%lf %lf %lf %lf", &seconds[0], &latency[1], &seconds[1], &at_ms) != 4)
        return NAN;
    struct hm_column column = {.name = "latency", .values = latency};
    const struct hm_at at = {"latency", at_ms};
    const struct hm_fit_settings settings = {.terms = terms, .term_count = 2};
    if (hm_runs_new(n, seconds, 2, &column, 1, &runs, err) == 0 &&
        hm_fit_new(runs, &settings, &fit, err) == 0 &&
        hm_fit_predict(fit, &at, 1, &two, 1, &p, err) == 0)
        found = p.time_s;
    hm_fit_free(fit);
    hm_runs_free(runs);
    return found;
}

/* Returns the speedup on n workers that an answer predicts. */
static double speedup_at(const struct hm_answer *a, double n)
{
    for (size_t i = 0; i < a->point_count; i++)
        if (a->points[i].n == n)
            return a->points[i].speedup;
    return NAN;
}

static double iterative_value(const struct papers_sources *s, const char *what, struct hm_err *err)
{
    struct hm_question question = HM_QUESTION_INIT;
    struct hm_answer *answer = NULL;
    struct hm_job *job = NULL;
    const char *name, *text;
    char example[NAME];
    double n, i, found = NAN;
    size_t length;

    if (sscanf(what, "%39s %lf %lf", example, &n, &i) != 3)
        return NAN;
    question.max_n = n;
    for (size_t k = 0; hm_example(k, &name, &text, &length); k++)
        if (strcmp(name, example) == 0 &&
            hm_job_parse_with(s->catalog, text, length, name, NULL, 0, &job, err) == 0)
            break;
    if (job && hm_plan(job, NULL, 0, NULL, 0, &question, &answer, err) == 0)
        found = speedup_at(answer, n) / speedup_at(answer, n - i);
    hm_answer_free(answer);
    hm_job_free(job);
    return found;
}

/*
 * Returns the number of iterations until the excess loss is at most `loss`; INFINITY if this never
 * happens.
 */
static double rounds_of(const struct papers_sources *s, const char *algorithm, double m,
                        double loss)
{
    for (size_t t = 0; t < s->traces[PAPERS_MNIST]->count; t++) {
        const struct hm_trace *trace = &s->traces[PAPERS_MNIST]->traces[t];
        if (trace->m != m || strcmp(trace->algorithm, algorithm) != 0)
            continue;
        for (size_t i = 0; i < trace->count; i++)
            if (trace->loss[i] - trace->best <= loss)
                return trace->iteration[i];
    }
    return INFINITY;
}

static double rounds_value(const struct papers_sources *s, const char *what, struct hm_err *err)
{
    char algorithm[NAME];
    double m, loss;

    (void)err;
    return sscanf(what, "%39s %lf %lf", algorithm, &m, &loss) == 3
               ? rounds_of(s, algorithm, m, loss)
               : NAN;
}

static double growth_value(const struct papers_sources *s, const char *what, struct hm_err *err)
{
    char algorithm[NAME];
    double m, from, loss;

    (void)err;
    return sscanf(what, "%39s %lf %lf %lf", algorithm, &m, &from, &loss) == 4
               ? rounds_of(s, algorithm, m, loss) / rounds_of(s, algorithm, from, loss)
               : NAN;
}

static double before_value(const struct papers_sources *s, const char *what, struct hm_err *err)
{
    char first[NAME], second[NAME];
    double m, loss;

    (void)err;
    return sscanf(what, "%39s %39s %lf %lf", first, second, &m, &loss) == 4
               ? rounds_of(s, first, m, loss) < rounds_of(s, second, m, loss)
               : NAN;
}

static double fastest_value(const struct papers_sources *s, const char *what, struct hm_err *err)
{
    double least = INFINITY, m = NAN;

    (void)err;
    for (size_t t = 0; t < s->traces[PAPERS_MNIST]->count; t++) {
        const struct hm_trace *trace = &s->traces[PAPERS_MNIST]->traces[t];
        double sum = 0;
        for (size_t i = 0; i < trace->count; i++)
            sum += trace->seconds[i] / (double)trace->count;
        if (strcmp(trace->algorithm, what) == 0 && sum < least) {
            least = sum;
            m = trace->m;
        }
    }
    return m;
}

/* Returns the smallest loss of a trace up to an iteration. */
static double least_loss(const struct hm_trace *trace, double iteration)
{
    double least = INFINITY;

    for (size_t i = 0; i < trace->count && trace->iteration[i] <= iteration; i++)
        least = fmin(least, trace->loss[i]);
    return least;
}

static double ahead_value(const struct papers_sources *s, const char *what, struct hm_err *err)
{
    const struct hm_traces *all = s->traces[PAPERS_CROSSING];
    char first[NAME], second[NAME];
    double m, iteration, pairs = 0, ahead = 0;

    (void)err;
    if (sscanf(what, "%39s %39s %lf %lf", first, second, &m, &iteration) != 4)
        return NAN;
    for (size_t t = 0; t < all->count; t++)
        for (size_t u = 0; u < all->count; u++) {
            const struct hm_trace *x = &all->traces[t], *y = &all->traces[u];
            if (x->m != m || y->m != m || x->seed != y->seed || strcmp(x->algorithm, first) != 0 ||
                strcmp(y->algorithm, second) != 0)
                continue;
            pairs++;
            ahead += least_loss(x, iteration) < least_loss(y, iteration);
        }
    return pairs > 0 ? ahead == pairs : NAN;
}

/*
 * Fits the traces of one algorithm with some of them held out. Returns the median error of the
 * predictions for the held-out traces on m workers or, if m is 0, of the predictions for later
 * iterations.
 */
static double error_value(const struct hm_traces *all, const char *algorithm, double m,
                          const struct hm_holdout_settings *settings, struct hm_err *err)
{
    struct hm_traces own = *all;
    struct hm_holdout *holdout = NULL;
    double found = NAN;

    own.traces = calloc(all->count + 1, sizeof(*own.traces));
    own.count = own.note_count = 0;
    if (!own.traces) {
        hm__fail_nomem(err);
        return NAN;
    }
    for (size_t t = 0; t < all->count; t++)
        if (strcmp(all->traces[t].algorithm, algorithm) == 0)
            own.traces[own.count++] = all->traces[t];
    if (hm_convergence_hold_out(&own, settings, &holdout, err) == 0 && holdout->count == 1) {
        const struct hm_g_holdout *h = &holdout->algorithms[0];
        found = m == 0 ? h->ahead_median : NAN;
        for (size_t k = 0; k < h->left_out_count; k++)
            found = h->left_out[k].m == m ? h->left_out[k].median : found;
    }
    hm_holdout_free(holdout);
    free(own.traces);
    return found;
}

static double held_out_value(const struct papers_sources *s, const char *what, struct hm_err *err)
{
    struct hm_holdout_settings settings = {0};
    char algorithm[NAME];
    double m;

    if (sscanf(what, "%39s %lf", algorithm, &m) != 2)
        return NAN;
    settings.converge.leave_out = m;
    return error_value(s->traces[PAPERS_MNIST], algorithm, m, &settings, err);
}

/* ---- errors of a fit ------------------------------------------------------------------------- */

/*
 * Adds the absolute errors of log10(P - P*) for one trace to errors[0..*count). If `pace` is not
 * NULL, the iteration of a point is the point's time divided by the fitted time of an iteration.
 */
static int add_errors(const struct hm_convergence *c, const struct hm_trace *trace,
                      const struct hm_pace *pace, double *errors, size_t *count, struct hm_err *err)
{
    double seconds = 1, elapsed = 0, before = 0, draws[HM_G_DRAWS];

    if (pace && !hm__pace_eval(pace, trace->m, &seconds, draws))
        return hm__fail(err, HM_E_MISSING, "no seconds of an iteration on %g workers", trace->m);
    for (size_t i = 0; i < trace->count; i++) {
        struct hm_g_prediction p;
        elapsed += trace->seconds[i] * (trace->iteration[i] - before);
        before = trace->iteration[i];
        double at = pace ? elapsed / seconds : before;
        int rc = hm_convergence_predict(c, 0, trace->m, &at, 1, &p, err);
        if (rc)
            return rc;
        errors[(*count)++] = fabs(log10(p.loss / (trace->loss[i] - trace->best)));
    }
    return 0;
}

/*
 * Returns the median error of a fit. If m is 0, the fit is to all traces of the algorithm;
 * otherwise, it is to the traces on other numbers of workers, and the error is computed on the
 * traces on m workers.
 */
static double fit_error(const struct hm_traces *all, const char *algorithm, double m, bool timed,
                        struct hm_err *err)
{
    const struct hm_converge_settings settings = {0};
    struct hm_traces own = *all;
    struct hm_convergence *c = NULL;
    size_t points = 0, count = 0;
    int rc = 0;

    own.traces = calloc(all->count + 1, sizeof(*own.traces));
    own.count = own.note_count = 0;
    for (size_t t = 0; own.traces && t < all->count; t++) {
        points += all->traces[t].count;
        if (strcmp(all->traces[t].algorithm, algorithm) == 0 && all->traces[t].m != m)
            own.traces[own.count++] = all->traces[t];
    }
    double *errors = calloc(points + 1, sizeof(*errors));
    rc = own.traces && errors ? hm_convergence_new(&own, &settings, &c, err) : hm__fail_nomem(err);
    const struct hm_pace *pace = rc == 0 && timed ? hm__pace_find(c->paces, algorithm) : NULL;
    for (size_t t = 0; rc == 0 && t < all->count; t++)
        if (strcmp(all->traces[t].algorithm, algorithm) == 0 && (m == 0 || all->traces[t].m == m))
            rc = add_errors(c, &all->traces[t], pace, errors, &count, err);
    if (rc == 0 && count > 0)
        qsort(errors, count, sizeof(*errors), hm__compare_numbers);
    double found = rc == 0 && count > 0 && (pace || !timed) ? errors[count / 2] : NAN;
    hm_convergence_free(c);
    free(own.traces);
    free(errors);
    return found;
}

static double fitted_value(const struct papers_sources *s, const char *what, struct hm_err *err)
{
    return fit_error(s->traces[PAPERS_MNIST], what, 0, false, err);
}

static double timed_value(const struct papers_sources *s, const char *what, struct hm_err *err)
{
    char algorithm[NAME];
    double m;

    return sscanf(what, "%39s %lf", algorithm, &m) == 2
               ? fit_error(s->traces[PAPERS_MNIST], algorithm, m, true, err)
               : NAN;
}

static double later_value(const struct papers_sources *s, const char *what, struct hm_err *err)
{
    struct hm_holdout_settings settings = {.only_ahead = true};
    char algorithm[NAME];

    return sscanf(what, "%39s %lf", algorithm, &settings.ahead) == 2
               ? error_value(s->traces[PAPERS_MNIST], algorithm, 0, &settings, err)
               : NAN;
}

static double later_s_value(const struct papers_sources *s, const char *what, struct hm_err *err)
{
    struct hm_holdout_settings settings = {.only_ahead = true};
    char algorithm[NAME];

    return sscanf(what, "%39s %lf", algorithm, &settings.ahead_s) == 2
               ? error_value(s->traces[PAPERS_SLOW], algorithm, 0, &settings, err)
               : NAN;
}

typedef double (*papers_value)(const struct papers_sources *s, const char *what,
                               struct hm_err *err);

static const struct {
    const char *kind;
    papers_value value;
    enum papers_file file; /* The file that is used to compute the value of this program. */
    bool bound; /* True if the published value is an upper bound, so that a smaller value of this
                   program agrees with it. */
} kinds[] = {
    {"workers", workers_value, PAPERS_NONE, false},
    {"rate", rate_value, PAPERS_NONE, false},
    {"ratio", ratio_value, PAPERS_NONE, false},
    {"iterative", iterative_value, PAPERS_NONE, false},
    {"latency", latency_value, PAPERS_NONE, false},
    {"rounds", rounds_value, PAPERS_MNIST, false},
    {"growth", growth_value, PAPERS_MNIST, false},
    {"before", before_value, PAPERS_MNIST, false},
    {"fastest", fastest_value, PAPERS_MNIST, false},
    {"ahead", ahead_value, PAPERS_CROSSING, false},
    {"held_out", held_out_value, PAPERS_MNIST, true},
    {"fitted", fitted_value, PAPERS_MNIST, true},
    {"timed", timed_value, PAPERS_MNIST, true},
    {"later", later_value, PAPERS_MNIST, true},
    {"later_s", later_s_value, PAPERS_SLOW, true},
};

/* ---- reading --------------------------------------------------------------------------------- */

/* Reads a file of training runs; a missing file is not an error. */
static int sources_load(struct papers_sources *s, const char *data, enum papers_file file,
                        struct hm_err *err)
{
    struct hm_err own = {0};
    char path[4096];
    const char *paths[] = {path};

    snprintf(path, sizeof(path), "%s/%s", data, file_names[file]);
    if (hm_traces_load(paths, 1, NULL, &s->traces[file], &own) == 0)
        return 0;
    s->traces[file] = NULL;
    if (own.code == HM_E_IO)
        return 0;
    *err = own;
    return own.code;
}

static int sources_open(struct papers_sources *s, const char *data, struct hm_err *err)
{
    const struct hm_embedded *anwar = hm__data_file("anwar.csv");
    int rc = hm_runs_parse(anwar->text, anwar->length, anwar->name, &s->anwar, err);

    if (rc == 0)
        rc = hm__platform_rows_read(s->catalog, NULL, 0, NULL, &s->zhang, err);
    for (enum papers_file file = PAPERS_MNIST; rc == 0 && data && file < PAPERS_FILES; file++)
        rc = sources_load(s, data, file, err);
    return rc;
}

static void sources_close(struct papers_sources *s)
{
    hm_runs_free(s->anwar);
    hm__platform_rows_release(&s->zhang);
    for (size_t file = 0; file < PAPERS_FILES; file++)
        hm_traces_free(s->traces[file]);
}

static int claim_read(const struct papers_sources *s, char **cells, struct papers_claim *claim,
                      struct hm_err *err)
{
    snprintf(claim->paper, sizeof(claim->paper), "%s", cells[0]);
    snprintf(claim->claim, sizeof(claim->claim), "%s", cells[1]);
    snprintf(claim->why, sizeof(claim->why), "%s", cells[6]);
    if (!hm__number_read(cells[4], &claim->published) ||
        !hm__number_read(cells[5], &claim->tolerance))
        return hm__fail(err, HM_E_SYNTAX, "papers.csv: '%s' or '%s' is not a number", cells[4],
                        cells[5]);
    claim->tolerance /= 100;
    claim->ours = NAN;
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        enum papers_file file = kinds[k].file;
        if (strcmp(kinds[k].kind, cells[2]) != 0)
            continue;
        claim->bound = kinds[k].bound;
        claim->needs = file == PAPERS_NONE ? NULL : file_names[file];
        if (file == PAPERS_NONE || s->traces[file])
            claim->ours = kinds[k].value(s, cells[3], err);
    }
    return err->code;
}

static int claims_read(const struct papers_sources *s, struct papers_claim *claims,
                       size_t *ret_count, struct hm_err *err)
{
    const struct hm_embedded *file = hm__data_file("papers.csv");
    struct hm_csv *csv = NULL;
    char **cells;
    int rc = hm__csv_parse(file->text, file->length, file->name, 0, &csv, err), more = 1;

    *ret_count = 0;
    while (rc == 0 && *ret_count < CLAIMS_MAX && (more = hm__csv_next(csv, &cells, err)) > 0)
        rc = claim_read(s, cells, &claims[(*ret_count)++], err);
    hm__csv_close(csv);
    return rc ? rc : more < 0 ? more : 0;
}

/* ---- output ---------------------------------------------------------------------------------- */

static double claim_difference(const struct papers_claim *c)
{
    return c->ours / c->published - 1;
}

static bool claim_holds(const struct papers_claim *c)
{
    double off = claim_difference(c);

    return (c->bound ? off : fabs(off)) <= c->tolerance + 1e-9;
}

static void papers_text(struct hm_text *out, const struct papers_claim *claims, size_t count)
{
    size_t checked = 0, held = 0, width = strlen("statement");

    for (size_t i = 0; i < count; i++)
        width = strlen(claims[i].claim) > width ? strlen(claims[i].claim) : width;
    hm__text_addf(out, "%-10s %-*s %10s %10s %9s\n", "paper", (int)width, "statement", "ours",
                  "published", "differs");
    for (size_t i = 0; i < count; i++) {
        const struct papers_claim *c = &claims[i];
        hm__text_addf(out, "%-10s %-*s ", c->paper, (int)width, c->claim);
        if (isnan(c->ours)) {
            hm__text_addf(out, "%10s %10.5g  skipped: needs %s (--data DIR)\n", "", c->published,
                          c->needs ? c->needs : "other data");
            continue;
        }
        checked++;
        held += claim_holds(c);
        hm__text_addf(out, "%10.5g %10.5g %+7.1f %%  %s", c->ours, c->published,
                      100 * claim_difference(c), claim_holds(c) ? "agrees" : "differs");
        hm__text_addf(out, "%s%s\n", *c->why ? ": " : "", c->why);
    }
    hm__text_addf(out, "%zu of %zu statements agree\n", held, checked);
}

static void papers_json(struct hm_text *out, const struct papers_claim *claims, size_t count)
{
    struct hm_json json = {.out = out};

    hm__json_open(&json, NULL, HM_JSON_OBJECT | HM_JSON_LINES);
    hm__json_open(&json, "statements", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < count; i++) {
        const struct papers_claim *c = &claims[i];
        hm__json_open(&json, NULL, HM_JSON_OBJECT);
        hm__json_put_text(&json, "paper", c->paper);
        hm__json_put_text(&json, "statement", c->claim);
        hm__json_put_number(&json, "ours", c->ours);
        hm__json_put_number(&json, "published", c->published);
        hm__json_put_number(&json, "difference", claim_difference(c));
        hm__json_put_number(&json, "tolerance", c->tolerance);
        hm__json_put_bool(&json, "skipped", isnan(c->ours));
        hm__json_put_bool(&json, "agrees", claim_holds(c));
        hm__json_put_text(&json, "why", *c->why ? c->why : NULL);
        hm__json_close(&json);
    }
    hm__json_close(&json);
    hm__json_close(&json);
    hm__text_add(out, "\n");
}

int validate_papers(const char *data, bool json, const struct hm_catalog *catalog)
{
    struct papers_claim *claims = calloc(CLAIMS_MAX, sizeof(*claims));
    struct papers_sources sources = {.catalog = catalog};
    struct hm_text out = {0};
    struct hm_err err = {0};
    size_t count = 0;

    if (!claims)
        return cli_complain("out of memory");
    int rc = sources_open(&sources, data, &err);
    err = rc ? err : (struct hm_err){0};
    if (rc == 0)
        rc = claims_read(&sources, claims, &count, &err);
    if (rc)
        rc = cli_report(&err);
    else {
        (json ? papers_json : papers_text)(&out, claims, count);
        rc = cli_put_text(&out);
    }
    sources_close(&sources);
    free(claims);
    return rc;
}
