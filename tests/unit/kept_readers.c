/* Reads files with the library and writes the outcomes as text; see test_kept_inputs.c. */
#include "kept_readers.h"

#include <sys/mman.h>
#include <unistd.h>

#include "howmany_advise.h"
#include "howmany_fit.h"
#include "testing.h"

#include "calibration.h"
#include "data.h"
#include "import.h"
#include "large_plan.h"
#include "large_render.h"
#include "predict.h"
#include "predict_platform.h"
#include "read_measured.h"
#include "read_platforms.h"
#include "read_timings.h"
#include "study.h"
#include "uai.h"

__attribute__((format(printf, 2, 3))) static void outcome_add(struct outcome *o, const char *format,
                                                              ...)
{
    va_list arguments;

    va_start(arguments, format);
    if (o->used < OUTCOME)
        o->used += (size_t)vsnprintf(o->text + o->used, OUTCOME - o->used, format, arguments);
    va_end(arguments);
}

static void outcome_add_error(struct outcome *o, const struct hm_err *err)
{
    outcome_add(o, "error %d, %s, line %d, %s (%s) ", err->code, err->field, err->line,
                err->message, err->hint);
}

/* Returns a sum of values that depends on their order, and also on NaN and infinite values. */
static double sum_values(const double *values, size_t count)
{
    double sum = 0;

    for (size_t i = 0; values && i < count; i++)
        sum = 0.9 * sum + (isnan(values[i]) ? 0.123 : fmin(fmax(values[i], -1e9), 1e9));
    return sum;
}

static const char *or_dash(const char *text)
{
    return text ? text : "-";
}

/* Adds a text; its numbers are rounded to 5 digits, since compilers round differently. */
static void outcome_add_rounded(struct outcome *o, const char *text)
{
    while (text && *text) {
        char *end;
        double number = strchr("-0123456789", *text) ? strtod(text, &end) : NAN;
        if (isnan(number) || end == text) {
            outcome_add(o, "%c", *text++);
            continue;
        }
        outcome_add(o, "%.5g", number);
        text = end;
    }
}

/* ---- readers --------------------------------------------------------------------------------- */

static void add_runs(struct outcome *o, const struct hm_runs *runs)
{
    double lines = 0;

    for (size_t i = 0; runs->lines && i < runs->count; i++)
        lines = 0.9 * lines + runs->lines[i];
    outcome_add(o, "%zu runs, %s, %zu failed, %d %d %d, lines %.5g:", runs->count,
                or_dash(runs->unit), runs->failed, runs->relative, runs->weak, runs->cut, lines);
    for (size_t c = 0; c < runs->column_count; c++) {
        const struct hm_column *column = &runs->columns[c];
        outcome_add(o, " %s", column->name);
        if (column->values)
            outcome_add(o, " %.5g", sum_values(column->values, runs->count));
        for (size_t i = 0; column->labels && i < runs->count; i++)
            outcome_add(o, " %.20s", column->labels[i] ? column->labels[i] : "-");
    }
}

static void add_traces(struct outcome *o, const struct hm_traces *traces)
{
    outcome_add(o, "%zu traces of %s in %s", traces->count, traces->measure, traces->unit);
    for (size_t k = 0; k < traces->count; k++) {
        const struct hm_trace *t = &traces->traces[k];
        outcome_add(o, "; %s m %g seed %g stale %g line %d best %.5g bound %.5g %zu %d %zu:",
                    t->algorithm, t->m, t->seed, t->staleness, t->line, t->best, t->bound,
                    t->restarts, t->diverged, t->count);
        outcome_add(o, " backups %g rows %g", t->backups, t->rows);
        outcome_add(o, " %.5g %.5g %.5g %.5g", sum_values(t->iteration, t->count),
                    sum_values(t->loss, t->count), sum_values(t->seconds, t->count),
                    sum_values(t->elapsed_s, t->count));
    }
    for (size_t i = 0; i < traces->note_count; i++)
        outcome_add(o, "; %s", traces->notes[i]);
}

static void add_timings(struct outcome *o, const struct hm_timings *timings)
{
    outcome_add(o, "%zu times, %d %s %s %s %g %g %g", timings->count, timings->gpu,
                or_dash(timings->name), or_dash(timings->library), or_dash(timings->date),
                timings->processors, timings->memory_bytes, timings->workers);
    for (size_t i = 0; i < timings->count; i++) {
        const struct hm_timing *t = &timings->rows[i];
        outcome_add(o, "; %d %d %.5g, %g on %g, %.5g %.5g", t->what, t->math,
                    sum_values(t->shape, hm__timed_sides(t->what)), t->workers, t->nodes,
                    t->seconds, t->spread);
    }
}

/* Adds everything that an import holds beside its tables. */
static void add_imported(struct outcome *o, const struct hm_imported *im)
{
    outcome_add(o, "%s %s %d %d %d nodes %g ", im->importer->name, or_dash(im->codec), im->partial,
                im->needs_n, im->needs_network, im->nodes);
    outcome_add(o, "%.*s ", (int)im->facts_text.length, im->facts_text.data);
    if (im->document.length > 0)
        outcome_add(o, "%s ", or_dash(im->document_kind));
    if (im->document.length > 0)
        outcome_add_rounded(o, im->document.data);
    for (size_t i = 0; i < im->usual_count; i++)
        outcome_add(o, " %s = %s", im->usual[i].key, im->usual[i].value);
    for (size_t i = 0; i < im->item_count; i++)
        outcome_add(o, " %d %g %s;", im->items[i].fate, im->items[i].count, im->items[i].what);
    add_timings(o, &im->timings);
}

/* Reads a file with the first `set_count` of two properties that a user gives. */
static void read_import_set(const char *data, size_t size, size_t set_count, struct outcome *o)
{
    static const char *const set[] = {"n=4", "columns=JobID,Elapsed,NNodes,State,MaxRSS"};
    struct hm_imported *im = NULL;
    struct hm_runs *runs = NULL;
    struct hm_traces *traces = NULL;
    struct hm_err err = {0}, none = {0}, never = {0};
    size_t formats = 0;

    while (hm__importers[formats])
        formats++;
    struct hm_import_from from = {
        .name = "file",
        .data = data + 1,
        .length = size - 1,
        .as = data[0] ? hm__importers[((unsigned char)data[0] - 1u) % formats] : NULL,
        .set = set,
        .set_count = set_count};
    if (hm__import_new(&from, &im, &err)) {
        outcome_add_error(o, &err);
        return;
    }
    o->accepted = true;
    add_imported(o, im);
    if (hm__import_runs(&im, 1, &runs, &none) == 0)
        add_runs(o, runs);
    else
        outcome_add_error(o, &none);
    if (hm__import_traces(&im, 1, NULL, &traces, &never) == 0)
        add_traces(o, traces);
    else
        outcome_add_error(o, &never);
    hm_runs_free(runs);
    hm_traces_free(traces);
    hm__import_free(im);
}

static void read_import(const char *data, size_t size, struct outcome *o)
{
    read_import_set(data, size, 2, o);
    if (o->number % 4 == 1)
        read_import_set(data, size, 0, o);
}

static void read_traces(const char *data, size_t size, struct outcome *o)
{
    static const struct hm_traces_settings settings[] = {
        {0}, {.measure = "accuracy"}, {.epochs = true}, {.times_only = true}};

    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        struct hm_traces *traces = NULL;
        struct hm_err err = {0};
        if (hm_traces_parse(data, size, "file.csv", &settings[i], &traces, &err)) {
            outcome_add_error(o, &err);
            continue;
        }
        o->accepted = true;
        add_traces(o, traces);
        hm_traces_free(traces);
    }
}

static void read_runs(const char *data, size_t size, struct outcome *o)
{
    struct hm_runs *runs = NULL;
    struct hm_err err = {0};

    if (hm_runs_parse(data, size, "file.csv", &runs, &err)) {
        outcome_add_error(o, &err);
        return;
    }
    o->accepted = true;
    add_runs(o, runs);
    hm_runs_free(runs);
}

static void add_link(struct outcome *o, const struct hm_link *l)
{
    outcome_add(o, " link %.5g %.5g %d %d", l->bandwidth_bytes_per_s, l->latency_s, l->reduces,
                l->mesh);
}

static void add_cluster(struct outcome *o, const struct hm_cluster *c)
{
    const struct hm_node *n = &c->node;
    const struct hm_slowness *s = &c->slowness;

    outcome_add(o, " cluster %s %s %s %s %s %s %s", or_dash(c->name), or_dash(c->fabric_name),
                or_dash(c->title), or_dash(c->source), or_dash(c->date), or_dash(c->assumed),
                or_dash(c->note));
    outcome_add(o, " %d %.5g %.5g %.5g %.5g %.5g %.5g %.5g", n->generation, n->flops_16,
                n->flops_32, n->flops_64, n->flops_bf16, n->flops_tf32, n->flops_fp8, n->flops_fp4);
    outcome_add(o, " %g %g %g %g %g %g %.5g %.5g", n->processors, n->cores, n->threads,
                n->cache_bytes, n->matrix_efficiency, n->efficiency,
                n->memory_bandwidth_bytes_per_s, n->kernel_overhead_s);
    outcome_add(o, " %.5g %g %.5g %.5g", n->memory_bytes, n->accelerators, n->host_memory_bytes,
                n->price_per_s);
    add_link(o, &n->link);
    add_link(o, &c->fabric);
    outcome_add(o, " %g %d %u %d %d %zu; %g %g %g %g %g %g %g %.5g", c->max_nodes, c->roofline,
                c->given, c->shares, c->threads_auto, c->kind_count, s->spread, s->chance,
                s->factor, s->pause_s, s->slow_nodes, s->slow_factor, s->per_node,
                sum_values(s->speeds, s->speed_count));
}

static void add_job(struct outcome *o, const struct hm_job *j)
{
    outcome_add(o, " job %s %s %s, lines %d %d, states %g, split %d %g %g", or_dash(j->name),
                or_dash(j->description), or_dash(j->note), j->compute_line, j->memory_line,
                j->states, j->split, j->trials, j->seed);
    for (size_t i = 0; i < j->communicate_count; i++)
        outcome_add(o, "; %d %d %g %g line %d", j->communicate[i].what, j->communicate[i].scheme,
                    j->communicate[i].servers, j->communicate[i].times, j->communicate[i].line);
    outcome_add(o, "; %d %g %d %g %g %g %g %g %zu", j->communicate_assumed, j->batch, j->scaling,
                j->reference, j->iterations, j->epochs, j->critical_batch, j->dataset,
                j->epochs_at_count);
    outcome_add(o, " %g %d %d %d %d %g %d %d %g %g %zu %zu", j->precision, j->math, j->software,
                j->framework, j->input, j->bucket_bytes, j->optimizer, j->overlap, j->overlap_p,
                j->micro_batch, j->measured_count, j->expect_count);
    if (j->has_cluster)
        add_cluster(o, &j->cluster);
}

static void add_study(struct outcome *o, const struct hm_study_spec *s)
{
    outcome_add(o, " study %s, %zu algorithms, m %.5g, %s %s, %g %g %g %g %g %g %d",
                or_dash(s->title), s->algorithm_count, sum_values(s->m, s->m_count),
                or_dash(s->simulate), or_dash(s->launcher), s->loss, s->best, s->iterations,
                s->budget_s, s->seeds, s->price_per_s, s->goal);
}

/* Reads a job, and plans it for a few workers. */
static void read_spec(const char *data, size_t size, struct outcome *o)
{
    const char *source = data[0] == '{' || data[0] == '[' ? "file.json" : "file.yaml";
    struct hm_question question = HM_QUESTION_INIT;
    struct hm_study_spec *study = NULL;
    struct hm_answer *answer = NULL;
    struct hm_job *job = NULL;
    struct hm_err err = {0}, wrong = {0}, other = {0};
    char *text = NULL;

    question.max_n = 3;
    if (hm_job_parse(data, size, source, NULL, 0, &job, &err)) {
        outcome_add_error(o, &err);
    } else if (hm_plan(job, NULL, 0, NULL, 0, &question, &answer, &wrong)) {
        outcome_add_error(o, &wrong);
    } else {
        o->accepted = true;
        outcome_add(o, "status %d, %zu notes", answer->status, answer->note_count);
        add_job(o, job);
        if (hm_answer_render(answer, HM_FORMAT_JSON, NULL, &text, NULL) == 0)
            outcome_add_rounded(o, text);
        hm_text_free(text);
    }
    if (hm__study_spec_parse(data, size, source, NULL, 0, &study, &other))
        outcome_add_error(o, &other);
    else
        add_study(o, study);
    hm__study_spec_free(study);
    hm_answer_free(answer);
    hm_job_free(job);
}

/* Makes a file in memory. Returns its descriptor, and writes a path by which it can be opened. */
static int make_file(const char *bytes, size_t length, char path[HM_DATA_PATH])
{
    int file = memfd_create("kept", 0);

    assert_true(file >= 0 && write(file, bytes, length) == (ssize_t)length);
    snprintf(path, HM_DATA_PATH, "/proc/self/fd/%d", file);
    return file;
}

static void read_graph(const char *data, size_t size, struct outcome *o)
{
    const double n[] = {1, 2, 3};
    enum hm_graph_format format = (enum hm_graph_format)(1 + (unsigned char)data[0] % 3);
    struct hm_graph *graph = NULL;
    struct hm_parts parts[3];
    struct hm_err err = {0};
    char path[HM_DATA_PATH];
    int file = make_file(data + 1, size - 1, path);

    if (hm_graph_load(path, format, data[0] & 64, &graph, &err)) {
        outcome_add_error(o, &err);
    } else {
        o->accepted = true;
        outcome_add(o, "%.0f vertices, %.0f edges", (double)graph->vertices, (double)graph->edges);
        if (graph->vertices < 1000 &&
            hm_graph_split(graph, HM_SPLIT_DEALT, 2, 1, n, 3, parts, NULL) == 0)
            for (size_t i = 0; i < 3; i++)
                outcome_add(o, " %.5g %.5g %.5g", parts[i].edges_max, parts[i].cut,
                            parts[i].replicas);
    }
    hm_graph_free(graph);
    close(file);
}

static void read_uai(const char *data, size_t size, struct outcome *o)
{
    struct hm_markov *m = NULL;
    struct hm_err err = {0};
    char path[HM_DATA_PATH];
    int file = make_file(data, size, path);

    if (hm__markov_load(path, &m, &err)) {
        outcome_add_error(o, &err);
    } else {
        o->accepted = true;
        outcome_add(o, "%zu edges, %zu places, tables %.5g", (size_t)m->edges,
                    (size_t)m->table_places[m->edges],
                    sum_values(m->tables, m->table_places[m->edges]));
    }
    hm__markov_free(m);
    close(file);
}

static void read_rows(const struct hm_data_spec *spec, bool sparse, struct outcome *o)
{
    static struct hm_data_shape shape;
    struct hm_data *in = NULL;
    struct hm_err err = {0};
    struct hm_rows rows = {.sparse = sparse};
    int rc = hm__data_scan(spec, &shape, &err);

    if (rc == 0 && shape.features < 1e5) {
        outcome_add(o, "%.0f rows, %.0f features, %zu labels ", (double)shape.rows,
                    (double)shape.features, (size_t)shape.classes);
        rows.features = sparse ? 0 : (size_t)shape.features;
        rc = hm__data_open(spec, &in, &err);
        while (rc == 0 && (rc = hm__data_next(in, 3, &rows, &err)) > 0)
            rc = 0;
        outcome_add(
            o, "%zu entries %.5g %.5g", hm__rows_entries(&rows),
            sum_values(rows.labels, rows.count),
            sum_values(rows.values, sparse ? hm__rows_entries(&rows) : rows.count * rows.features));
        for (size_t i = 0; sparse && i < hm__rows_entries(&rows); i++)
            outcome_add(o, " %u", (unsigned)rows.columns[i]);
    }
    if (rc < 0)
        outcome_add_error(o, &err);
    o->accepted = rc >= 0;
    hm__data_close(in);
    hm__rows_release(&rows);
}

static void read_data(const char *data, size_t size, struct outcome *o)
{
    static const enum hm_data_format formats[] = {HM_DATA_LIBSVM, HM_DATA_CSV, HM_DATA_IDX,
                                                  HM_DATA_IDX};
    static const char two_images[] = {0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 1, 7, 9};
    char labels[] = {0, 0, 8, 1, 0, 0, 0, 2, 3, 4};
    struct hm_data_spec spec = {0};
    unsigned kind = (unsigned char)data[0] % 5;
    int file, other = -1;

    if (kind == 4)
        return; /* The data are a recipe, not a file. */
    spec.format = formats[kind];
    file = kind == 3 ? make_file(two_images, sizeof(two_images), spec.path)
                     : make_file(data + 1, size - 1, spec.path);
    if (kind == 2) {
        if (size >= 9)
            memcpy(labels + 4, data + 5, 4);
        other = make_file(labels, sizeof(labels), spec.labels);
    } else if (kind == 3) {
        other = make_file(data + 1, size - 1, spec.labels);
    }
    read_rows(&spec, data[0] & 64, o);
    close(file);
    if (other >= 0)
        close(other);
}

/* Reads a job of a transformer; the first byte selects the question. */
static void read_large(const char *data, size_t size, struct outcome *o)
{
    struct hm_large_question q = HM_LARGE_QUESTION_INIT;
    struct hm_large_answer *answer = NULL;
    struct hm_job *job = NULL;
    struct hm_err err = {0};
    char *text = NULL;

    q.max_n = 16;
    q.loss = data[0] == '2' ? 2.2 : q.loss;
    q.deadline_s = data[0] == '4' ? 1e6 : q.deadline_s;
    if (hm_job_parse(data + 1, size - 1, "file.yaml", NULL, 0, &job, &err) ||
        (job->large && hm__large_plan(job, NULL, 0, &q, &answer, &err))) {
        outcome_add_error(o, &err);
    } else if (job->large) {
        o->accepted = true;
        if (hm__large_render(answer, HM_FORMAT_JSON, NULL, &text, NULL) == 0)
            outcome_add_rounded(o, text);
        hm_text_free(text);
    }
    hm__large_answer_free(answer);
    hm_job_free(job);
}

static void read_convergence(const char *data, size_t size, struct outcome *o)
{
    struct hm_style style = {.table = true, .width = 80};
    struct hm_convergence *c = NULL;
    struct hm_err err = {0};
    char *text = NULL;

    if (hm_convergence_parse(data, size, "file.json", &c, &err)) {
        outcome_add_error(o, &err);
        return;
    }
    o->accepted = true;
    if (hm_convergence_render(c, NULL, HM_FORMAT_JSON, &style, &text, NULL) == 0)
        outcome_add_rounded(o, text);
    hm_text_free(text);
    hm_convergence_free(c);
}

static void read_catalog_file(const char *text, size_t length, struct outcome *o)
{
    struct hm_catalog *catalog = NULL;
    struct hm_err err = {0};
    struct hm_link link;
    const char *name;

    assert_int_equal(hm_catalog_new(&catalog, NULL), 0);
    o->accepted = hm_catalog_add(catalog, text, length, "file.yaml", &err) == 0;
    outcome_add_error(o, &err);
    for (size_t i = 0; i < 400 && (name = hm_catalog_name(catalog, HM_CATALOG_MACHINE, i)); i++) {
        struct hm_cluster *cluster = NULL;
        struct hm_err wrong = {0};
        if (!memmem(text, length, name, strlen(name)))
            continue; /* The machine is built in. */
        if (hm_catalog_machine(catalog, name, &cluster, &wrong) == 0)
            add_cluster(o, cluster);
        else
            outcome_add_error(o, &wrong);
        hm_cluster_free(cluster);
    }
    for (size_t i = 0; i < 64 && (name = hm_catalog_name(catalog, HM_CATALOG_FABRIC, i)); i++)
        if (hm_catalog_fabric(catalog, name, &link, NULL) == 0)
            add_link(o, &link);
    hm_catalog_free(catalog);
}

static void read_prices(const char *text, size_t length, bool spot, struct outcome *o)
{
    struct hm_catalog *catalog = NULL;
    struct hm_import report = {0};
    struct hm_err err = {0};
    char path[HM_DATA_PATH];
    int file = make_file(text, length, path);

    assert_int_equal(hm_catalog_new(&catalog, NULL), 0);
    o->accepted = hm_catalog_import(catalog, path, NULL, spot, &report, &err) == 0;
    outcome_add_error(o, &err);
    if (o->accepted)
        outcome_add_rounded(o, report.text);
    hm_text_free(report.text);
    hm_catalog_free(catalog);
    close(file);
}

/* Reads a catalog file, a cluster or a price list, as the first byte selects. */
static void read_catalog(const char *data, size_t size, struct outcome *o)
{
    struct hm_cluster *cluster = NULL;
    struct hm_err err = {0};

    if (data[0] % 4 == 0) {
        read_catalog_file(data + 1, size - 1, o);
    } else if (data[0] % 4 == 1) {
        o->accepted =
            hm_cluster_parse(NULL, data + 1, size - 1, "file.yaml", NULL, 0, &cluster, &err) == 0;
        outcome_add_error(o, &err);
        if (o->accepted)
            add_cluster(o, cluster);
        hm_cluster_free(cluster);
    } else if (data[0] % 4 == 3) {
        read_prices(data + 1, size - 1, data[0] & 64, o);
    }
}

static void read_timings(const char *data, size_t size, struct outcome *o)
{
    struct hm_timings timings;
    struct hm_err err = {0};

    if (hm__timings_parse(data, size, "file.yaml", &timings, &err)) {
        outcome_add_error(o, &err);
        return;
    }
    o->accepted = true;
    add_timings(o, &timings);
    hm__timings_release(&timings);
}

static void add_prediction(struct outcome *o, int rc, const struct hm_point *p)
{
    if (rc)
        outcome_add(o, "; error %d", rc);
    else
        outcome_add(o, "; %.5g %.5g %.5g", p->time_s, p->compute_s, p->communicate_s);
}

/* Reads a table of measured steps, of measured all-reduces, or of iterations with frameworks. */
static void read_measured(const char *data, size_t size, struct outcome *o)
{
    struct hm_measured_steps steps;
    struct hm_measured_collectives sums;
    struct hm_platform_rows rows;
    struct hm_err err = {0}, wrong = {0}, other = {0};
    struct hm_point p = {0};

    if (hm__measured_steps_read(NULL, data, size, "file.csv", &steps, &err) == 0) {
        o->accepted = true;
        for (size_t i = 0; i < steps.count; i++)
            add_prediction(o,
                           hm__predict_step(steps.rows[i].job, &steps.rows[i].way, steps.rows[i].n,
                                            NULL, &p, &err),
                           &p);
        hm__measured_steps_release(&steps);
    }
    if (hm__measured_collectives_read(NULL, data, size, "file.csv", &sums, &wrong) == 0) {
        o->accepted = true;
        for (size_t i = 0; i < sums.count; i++)
            outcome_add(o, "; %g %g %.5g %.5g", sums.rows[i].n, sums.rows[i].bytes,
                        sums.rows[i].seconds,
                        hm__predict_allreduce(sums.rows[i].cluster, sums.rows[i].n,
                                              sums.rows[i].bytes, NULL));
        hm__measured_collectives_release(&sums);
    }
    if (hm__platform_rows_read(NULL, data, size, "file.csv", &rows, &other) == 0) {
        o->accepted = true;
        for (size_t i = 0; i < rows.count; i++)
            add_prediction(o,
                           hm__predict_platform(rows.rows[i].job, &rows.rows[i].way, rows.rows[i].n,
                                                NULL, &p, &other),
                           &p);
        hm__platform_rows_release(&rows);
    }
    outcome_add_error(o, &err);
    outcome_add_error(o, &wrong);
    outcome_add_error(o, &other);
}

const struct reader kept_readers[] = {
    {"import", read_import, 2, 0},
    {"traces", read_traces, 3, 0},
    {"runs", read_runs, 6, 0},
    {"spec", read_spec, 2, 4},
    {"graph", read_graph, 6, 0},
    {"uai", read_uai, 6, 0},
    {"data", read_data, 6, 0},
    {"large", read_large, 4, 5},
    {"convergence", read_convergence, 4, 0},
    {"catalog", read_catalog, 3, 0},
    {"timings", read_timings, 4, 0},
    {"measured", read_measured, 2, 0},
    {"platforms", read_measured, 3, 0},
    {0},
};
