/*
 * Estimates the intervals of plans that have no runs, from measured training steps. Counts how
 * often such an interval contains the measurement of a held-out source: the time of each row is
 * predicted with constants that were fitted without its source, and the interval is computed from
 * the errors of the other sources of the same kind.
 *
 * Three kinds have separate rows. For networks that are described by totals only, the rows of one
 * accelerator in data/steps.csv are predicted again as if the layers were unknown. For hardware
 * that is described by rates only, the rows of accelerators in data/steps.csv are predicted again
 * as if the number of processors were unknown. For jobs given by formulas, the rows are the
 * published speedups of the examples.
 */
#include "validate_kinds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "predict.h"
#include "predict_platform.h"

enum { EXAMPLES_MOST = 64, SPEEDUPS_MOST = 1024 };

static const char *const kind_names[HM_SHEET_KIND_COUNT] = {
    [HM_SHEET_DEVICE] = "device",       [HM_SHEET_NODE] = "node",
    [HM_SHEET_NODES] = "nodes",         [HM_SHEET_COMPILED] = "compiled",
    [HM_SHEET_SERVER] = "server",       [HM_SHEET_DRIVER] = "driver",
    [HM_SHEET_FRAMEWORK] = "framework", [HM_SHEET_CPU] = "cpu",
    [HM_SHEET_RATES] = "rates",         [HM_SHEET_MATRIX] = "matrix",
    [HM_SHEET_TOTALS] = "totals",       [HM_SHEET_FORMULA] = "formula",
};

static void add_row(struct step_kinds *all, enum hm_sheet_kind kind, const char *source,
                    double error)
{
    all->rows[kind][all->counts[kind]++] = (struct hm_sheet_row){.source = source, .error = error};
}

bool step_same_job(const struct hm_measured_step *a, const struct hm_measured_step *b)
{
    const double one = a->job->cluster.fabric.bandwidth_bytes_per_s;
    const double other = b->job->cluster.fabric.bandwidth_bytes_per_s;

    return strcmp(a->source, b->source) == 0 && strcmp(a->network, b->network) == 0 &&
           strcmp(a->machine, b->machine) == 0 && strcmp(a->precision, b->precision) == 0 &&
           strcmp(a->software, b->software) == 0 && a->batch == b->batch &&
           a->job->precision == b->job->precision && a->job->optimizer == b->job->optimizer &&
           a->way.consistency == b->way.consistency &&
           (one == other || (isnan(one) && isnan(other)));
}

/* Adds the row of a measured step, predicted as if its accelerator were described by rates and
 * memory bandwidth only. */
static int add_rates(struct step_kinds *all, const struct hm_measured_step *s, struct hm_err *err)
{
    struct hm_job copy = *s->job;
    struct hm_point p;

    copy.cluster.node.processors = NAN;
    int rc = hm__predict_step(&copy, &s->way, s->n, NULL, &p, err);
    if (rc == 0)
        add_row(all, hm__sheet_kind(&copy, &copy.cluster, &s->way, s->n), s->source,
                log(s->seconds / p.time_s));
    return rc;
}

/* Adds the row of a measured step, predicted as if only the totals of its network were known. */
static int add_totals(struct step_kinds *all, const struct hm_measured_step *s, struct hm_err *err)
{
    struct hm_counts *counts = NULL;
    struct hm_network totals = {0};
    struct hm_job copy = *s->job;
    struct hm_point p;
    int rc = hm_counts_new(s->job->network, NULL, &counts, err);

    if (rc == 0) {
        totals.parameters = counts->parameters;
        totals.forward_flop = counts->forward_flop;
        copy.network = &totals;
        rc = hm__predict_step(&copy, &s->way, s->n, NULL, &p, err);
    }
    if (rc == 0)
        add_row(all, hm__sheet_kind(&copy, &copy.cluster, &s->way, s->n), s->source,
                log(s->seconds / p.time_s));
    hm_counts_free(counts);
    return rc;
}

static int add_steps(struct step_kinds *all, const struct hm_measured_steps *steps,
                     struct hm_err *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < steps->count; i++) {
        const struct hm_measured_step *s = &steps->rows[i];
        enum hm_sheet_kind kind = hm__sheet_kind(s->job, &s->job->cluster, &s->way, s->n);
        if (!(s->held_out_s > 0))
            continue;
        add_row(all, kind, s->source, log(s->seconds / s->held_out_s));
        if (kind == HM_SHEET_DEVICE || kind == HM_SHEET_NODE || kind == HM_SHEET_NODES)
            rc = add_rates(all, s, err);
        if (rc == 0 && kind == HM_SHEET_DEVICE)
            rc = add_totals(all, s, err);
    }
    return rc;
}

/*
 * Adds the measured iterations on CPUs and with frameworks; each framework counts as one source. A
 * row whose samples are in memory is predicted a second time as if its framework were unknown. A
 * row whose samples are text is not predicted again, because the cost of converting text is known
 * only for specific frameworks.
 */
static int add_platforms(struct step_kinds *all, const struct hm_platform_rows *rows,
                         struct hm_err *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < rows->count; i++) {
        const struct hm_platform_row *r = &rows->rows[i];
        const bool alone = r->job->framework == HM_FRAMEWORK_NONE;
        const char *source = alone ? r->source : r->framework;
        struct hm_job copy = *r->job;
        struct hm_point p;
        if (!(r->held_out_s > 0))
            continue;
        add_row(all, hm__sheet_kind(r->job, &r->job->cluster, &r->way, r->n), source,
                log(r->seconds / r->held_out_s));
        if (alone || r->job->input == HM_INPUT_TEXT)
            continue;
        copy.framework = HM_FRAMEWORK_NONE;
        rc = hm__predict_platform(&copy, &r->way, r->n, NULL, &p, err);
        if (rc == 0)
            add_row(all, HM_SHEET_DRIVER, source, log(r->seconds / p.time_s));
    }
    return rc;
}

/* Adds a row for each published speedup of one example; each example counts as one source. */
static int add_speedups(struct step_kinds *all, const struct hm_job *job, const char *source,
                        struct hm_err *err)
{
    struct hm_point first, p;
    int rc = hm__predict_step(job, NULL, job->reference, NULL, &first, err);

    for (size_t i = 0; rc == 0 && i < job->measured_count; i++) {
        const struct hm_measured *m = &job->measured[i];
        rc = hm__predict_step(job, NULL, m->n, NULL, &p, err);
        /* Under weak scaling, a speedup is the ratio of throughputs, so the ratio of the times is
         * multiplied by the ratio of the amounts of work. */
        double work = job->scaling == HM_SCALING_WEAK ? m->n / job->reference : 1;
        if (rc == 0 && m->n != job->reference && all->counts[HM_SHEET_FORMULA] < SPEEDUPS_MOST)
            add_row(all, HM_SHEET_FORMULA, source,
                    log(work * first.time_s / p.time_s / m->speedup));
    }
    return rc;
}

/* Adds the rows of all examples with measured speedups; examples that need additional files are
 * skipped. */
static int add_examples(struct step_kinds *all, const struct hm_catalog *catalog,
                        struct hm_err *err)
{
    const char *name, *text;
    size_t length;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < EXAMPLES_MOST && hm_example(i, &name, &text, &length); i++) {
        struct hm_err ignored = {0};
        struct hm_job *job;
        if (hm_job_parse_with(catalog, text, length, name, NULL, 0, &job, &ignored))
            continue;
        snprintf(all->sources[i], sizeof(all->sources[i]), "%s", name);
        if (job->measured_count && !job->graph)
            rc = add_speedups(all, job, all->sources[i], err);
        hm_job_free(job);
    }
    return rc;
}

int step_kinds_init(struct step_kinds *all, const struct hm_measured_steps *steps,
                    const struct hm_platform_rows *platforms, const struct hm_catalog *catalog,
                    struct hm_err *err)
{
    bool held_out = false;

    *all = (struct step_kinds){.sources = calloc(EXAMPLES_MOST, sizeof(*all->sources))};
    for (size_t k = 0; k < HM_SHEET_KIND_COUNT; k++)
        if (!(all->rows[k] =
                  calloc(steps->count + platforms->count + SPEEDUPS_MOST, sizeof(**all->rows))))
            return HM_E_NOMEM;
    if (!all->sources)
        return HM_E_NOMEM;
    int rc = add_steps(all, steps, err);
    if (rc == 0)
        rc = add_platforms(all, platforms, err);
    for (size_t k = 0; k < HM_SHEET_KIND_COUNT; k++)
        held_out = held_out || all->counts[k] > 0;
    return rc == 0 && held_out ? add_examples(all, catalog, err) : rc;
}

void step_kinds_release(struct step_kinds *all)
{
    for (size_t k = 0; k < HM_SHEET_KIND_COUNT; k++)
        free(all->rows[k]);
    free(all->sources);
}

/*
 * Returns 1 if the measured time of a row is inside the interval that is estimated from the other
 * sources of its kind, 0 if it is not, and -1 if there are no other sources.
 */
static int row_inside(const struct step_kinds *all, size_t kind, size_t i)
{
    const struct hm_sheet_row *row = &all->rows[kind][i];
    struct hm_sheet_error error;

    if (hm__sheet_estimate(all->rows[kind], all->counts[kind], row->source, &error) == 0)
        return -1;
    struct hm_interval interval = hm__sheet_interval(&error);
    return exp(row->error) >= interval.low && exp(row->error) <= interval.high;
}

struct coverage {
    size_t rows, judged, inside;
};

/*
 * Counts rows, and how many of them have their measured time inside the interval. If `source` is
 * NULL, counts the rows of one kind; otherwise, counts the rows of the source in all kinds of
 * steps.
 */
static struct coverage count_inside(const struct step_kinds *all, size_t kind, const char *source)
{
    struct coverage c = {0};

    for (size_t k = 0; k < HM_SHEET_KIND_COUNT; k++)
        for (size_t i = 0; i < all->counts[k]; i++) {
            if (source ? k >= HM_SHEET_RATES || strcmp(all->rows[k][i].source, source) != 0
                       : k != kind)
                continue;
            int inside = row_inside(all, k, i);
            c.rows++;
            c.judged += inside >= 0;
            c.inside += inside > 0;
        }
    return c;
}

/* Calls `put` once for each source of the measured steps, in the order of the tables. */
static void each_source(const struct step_kinds *all,
                        void (*put)(void *, const char *, struct coverage), void *data)
{
    const char *seen[256];
    size_t count = 0;

    for (size_t k = 0; k < HM_SHEET_RATES; k++)
        for (size_t i = 0; i < all->counts[k]; i++) {
            const char *source = all->rows[k][i].source;
            size_t s = 0;
            while (s < count && strcmp(seen[s], source) != 0)
                s++;
            if (s < count || count == sizeof(seen) / sizeof(seen[0]))
                continue;
            seen[count++] = source;
            put(data, source, count_inside(all, 0, source));
        }
}

static void put_source_text(void *data, const char *source, struct coverage c)
{
    hm__text_addf(data, "%-36.36s %5zu", source, c.rows);
    if (c.judged)
        hm__text_addf(data, " %7.0f %%\n", 100 * (double)c.inside / (double)c.judged);
    else
        hm__text_addf(data, " %9s\n", "-");
}

void step_kinds_put_text(struct hm_text *out, const struct step_kinds *all)
{
    hm__text_addf(out, "\n%-62s %5s %7s %14s %14s %9s\n", "interval of plans without runs", "rows",
                  "sources", "estimated", "in use", "held out");
    for (size_t k = 0; k < HM_SHEET_KIND_COUNT; k++) {
        struct hm_sheet_error error;
        if (all->counts[k] == 0)
            continue;
        size_t sources = hm__sheet_estimate(all->rows[k], all->counts[k], NULL, &error);
        struct hm_interval now = hm__sheet_interval(&error);
        struct hm_interval used = hm__sheet_interval(&hm__sheet_errors[k]);
        struct coverage c = count_inside(all, k, NULL);
        hm__text_addf(out, "%-62s %5zu %7zu %6.2f to %-5.2f %6.2f to %-5.2f",
                      hm__sheet_errors[k].title, c.rows, sources, now.low, now.high, used.low,
                      used.high);
        if (c.judged)
            hm__text_addf(out, " %6.0f %%\n", 100 * (double)c.inside / (double)c.judged);
        else
            hm__text_addf(out, " %8s\n", "-");
    }
    hm__text_addf(out, "\n%-36s %5s %9s\n", "held-out source", "rows", "covered");
    each_source(all, put_source_text, out);
}

static void put_source_json(void *data, const char *source, struct coverage c)
{
    hm__json_open(data, NULL, HM_JSON_OBJECT);
    hm__json_put_text(data, "source", source);
    hm__json_put_number(data, "rows", (double)c.rows);
    hm__json_put_number(data, "judged", (double)c.judged);
    hm__json_put_number(data, "inside", (double)c.inside);
    hm__json_close(data);
}

void step_kinds_put_json(struct hm_json *json, const struct step_kinds *all)
{
    hm__json_open(json, "intervals", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t k = 0; k < HM_SHEET_KIND_COUNT; k++) {
        struct hm_sheet_error error;
        const struct hm_sheet_error *used = &hm__sheet_errors[k];
        if (all->counts[k] == 0)
            continue;
        size_t sources = hm__sheet_estimate(all->rows[k], all->counts[k], NULL, &error);
        struct coverage c = count_inside(all, k, NULL);
        hm__json_open(json, NULL, HM_JSON_OBJECT);
        hm__json_put_text(json, "kind", kind_names[k]);
        hm__json_put_text(json, "title", used->title);
        hm__json_put_number(json, "rows", (double)c.rows);
        hm__json_put_number(json, "sources", (double)sources);
        hm__json_put_number(json, "mean", error.mean);
        hm__json_put_number(json, "spread", error.spread);
        hm__json_put_number(json, "used_mean", used->mean);
        hm__json_put_number(json, "used_spread", used->spread);
        hm__json_put_number(json, "judged", (double)c.judged);
        hm__json_put_number(json, "inside", (double)c.inside);
        hm__json_close(json);
    }
    hm__json_close(json);
    hm__json_open(json, "held_out", HM_JSON_LIST | HM_JSON_LINES);
    each_source(all, put_source_json, json);
    hm__json_close(json);
}
