/*
 * Reads runs that MLflow keeps in folders:
 *
 *     mlruns/EXPERIMENT/RUN/meta.yaml       state, start and end
 *     mlruns/EXPERIMENT/RUN/metrics/NAME    one line for each point: MILLISECONDS VALUE STEP
 *     mlruns/EXPERIMENT/RUN/params/NAME     one value
 *
 * The folder of a run is imported as a whole; the file of a metric can also be imported alone.
 * Names of metrics may contain slashes. Old versions of MLflow write no step; points are then
 * numbered 0, 1, 2, …
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cells.h"
#include "err.h"
#include "importers.h"
#include "source.h"

/*
 * Names of parameters that are read as the number of workers, if their value is a whole number of
 * at least 1.
 */
static const char *const worker_names[] = {"n",      "world_size", "num_processes", "num_gpus",
                                           "n_gpus", "gpus",       "num_ranks"};

/* Summary of one metric of the run. */
struct metric {
    double points, bad, nans;
    /* Time in seconds, value and step of the first point and of the last point. */
    double first[3], last[3];
    double least;
};

struct flow {
    struct hm_imported *im;
    double n;
    double metrics, losses, lines, bad;
    /* Number of points, and time in seconds per step, for the loss that has the most points. */
    double best_points, best_seconds;
    const char *best_name;
};

/*
 * Reads a line "MILLISECONDS VALUE STEP"; the step is NaN if the line has none. Returns false if
 * the line has another form.
 */
static bool read_point(const char *text, size_t length, double point[3])
{
    char copy[128];
    const char *p = copy;

    if (length == 0 || length >= sizeof(copy))
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    size_t used = strspn(p, "0123456789");
    if (used < 12 || used > 14 || hm__number_read(p, &point[0]) != used || p[used] != ' ')
        return false;
    point[0] /= 1000;
    p += used + 1;
    bool unknown = strncmp(p, "nan", 3) == 0 || strncmp(p, "NaN", 3) == 0;
    used = unknown ? 3 : hm__signed_read(p, &point[1]);
    if (unknown)
        point[1] = NAN;
    p += used;
    point[2] = NAN;
    if (used == 0 || (*p != '\0' && *p != ' ' && *p != '\r'))
        return false;
    if (*p == ' ')
        p += 1 + hm__signed_read(p + 1, &point[2]);
    return *p == '\0' || *p == '\r';
}

/*
 * Returns the name of the metric that a file holds: the path after "metrics/", or the name of the
 * file.
 */
static const char *metric_name(const char *path)
{
    const char *name = strrchr(path, '/'), *after = NULL;

    for (const char *p = path; (p = strstr(p, "metrics/")); p += 8)
        if (p == path || p[-1] == '/')
            after = p + 8;
    return after ? after : name ? name + 1 : path;
}

static bool is_loss(const char *name)
{
    for (; *name; name++)
        if ((name[0] | 32) == 'l' && (name[1] | 32) == 'o' && (name[2] | 32) == 's' &&
            (name[3] | 32) == 's')
            return true;
    return false;
}

static void add_point(struct flow *f, struct metric *m, const char *name, double point[3])
{
    if (isnan(point[2]))
        point[2] = m->points;
    /*
     * Time in seconds per step since the previous point; unknown if the step number did not
     * increase.
     */
    double steps = point[2] - m->last[2], elapsed = point[0] - m->last[0];
    double seconds = m->points > 0 && steps > 0 && elapsed > 0 ? elapsed / steps : NAN;
    if (m->points++ == 0) {
        memcpy(m->first, point, sizeof(m->first));
        m->least = NAN;
    }
    memcpy(m->last, point, sizeof(m->last));
    m->nans += isnan(point[1]);
    m->least = fmin(m->least, point[1]);
    const struct hm_import_cell cells[] = {hm__cell_text(name), hm__cell(f->n), hm__cell(point[2]),
                                           hm__cell(point[1]), hm__cell(seconds)};
    if (is_loss(name) && point[2] >= 1 && !isnan(point[1]))
        hm__import_row(f->im, &f->im->traces, cells);
}

static void put_metric(struct flow *f, const char *name, const struct metric *m)
{
    struct hm_json *j = &f->im->facts;
    double steps = m->last[2] - m->first[2], elapsed = m->last[0] - m->first[0];
    double seconds = m->points > 1 && steps > 0 && elapsed > 0 ? elapsed / steps : NAN;

    hm__json_open(j, name, HM_JSON_OBJECT);
    hm__json_put_number(j, "points", m->points);
    hm__json_put_numbers(j, "first", m->first, 3);
    hm__json_put_numbers(j, "last", m->last, 3);
    hm__json_put_number(j, "least", m->least);
    hm__json_put_number(j, "nan", m->nans);
    hm__json_put_number(j, "seconds_per_step", seconds);
    hm__json_close(j);
    if (is_loss(name) && !isnan(seconds) && m->points > f->best_points) {
        f->best_points = m->points;
        f->best_seconds = seconds;
        f->best_name = name;
    }
}

static void read_metric(struct flow *f, const char *name)
{
    struct metric m = {.least = NAN};
    struct hm_line line;
    double point[3];

    while (hm__stream_line(&f->im->in, &line)) {
        f->lines++;
        bool good = read_point(line.text, line.length, point);
        /*
         * In a truncated file, the last number may have lost digits, so the last line is not used.
         */
        if (!line.whole) {
            hm__import_cut(f->im);
            good = false;
        }
        if (good)
            add_point(f, &m, name, point);
        else
            f->bad++;
    }
    if (m.points == 0)
        return;
    f->metrics++;
    f->losses += is_loss(name);
    put_metric(f, name, &m);
}

/* ---- files beside the metrics -----------------------------------------------------------------
 */

/*
 * Reads the first bytes of a file in the folder of the run; returns false if there is no such file.
 */
static bool read_beside(const struct hm_imported *im, const char *name, char *text, size_t room)
{
    struct hm_source *source = NULL;
    char path[4096];
    size_t length = 0;

    if (!im->from_file || im->archive || im->part_count == 0 ||
        snprintf(path, sizeof(path), "%s/%s", im->name, name) >= (int)sizeof(path) ||
        hm__source_open(path, &source, NULL))
        return false;
    bool read = hm__source_fill(source, text, room - 1, &length, NULL) == 0;
    hm__source_close(source);
    text[read ? length : 0] = '\0';
    return read;
}

static double read_workers(const struct hm_imported *im)
{
    for (size_t i = 0; i < sizeof(worker_names) / sizeof(worker_names[0]); i++) {
        char name[64], text[64];
        double n;
        snprintf(name, sizeof(name), "params/%s", worker_names[i]);
        if (!read_beside(im, name, text, sizeof(text)))
            continue;
        size_t used = hm__number_read(text, &n);
        if (used > 0 && text[used + strspn(text + used, "\r\n ")] == '\0' && n >= 1 &&
            n == floor(n))
            return n;
    }
    return NAN;
}

static void put_meta(struct hm_imported *im)
{
    static const char *const states[] = {NULL,       "RUNNING", "SCHEDULED",
                                         "FINISHED", "FAILED",  "KILLED"};
    /*
     * The text begins with a line break, so that the search for "\nKEY:" also finds the first key.
     */
    char text[8192] = "\n";

    if (!read_beside(im, "meta.yaml", text + 1, sizeof(text) - 1))
        return;
    double state = hm__number_after(text, strlen(text), "\nstatus:");
    double start = hm__number_after(text, strlen(text), "\nstart_time:");
    double end = hm__number_after(text, strlen(text), "\nend_time:");
    hm__json_put_text(&im->facts, "status", state >= 1 && state <= 5 ? states[(int)state] : NULL);
    hm__json_put_number(&im->facts, "seconds", (end - start) / 1000);
    if (state >= 1 && state <= 5 && state != 3)
        hm__import_note(im, "the run did not finish: its state is %s", states[(int)state]);
}

/* ---- the run ----------------------------------------------------------------------------------
 */

static int mlflow_read(struct hm_imported *im, struct hm_err *err)
{
    struct flow f = {.im = im};
    int rc = 1;

    hm__json_put_text(&im->facts, "format", "mlflow");
    f.n = hm__import_n(im, read_workers(im));
    hm__json_put_number(&im->facts, "n", f.n);
    put_meta(im);
    hm__import_columns(&im->traces, "*algorithm,n,iteration,loss,seconds");
    hm__json_open(&im->facts, "metrics", HM_JSON_OBJECT | HM_JSON_LINES);
    while (rc > 0) {
        const char *name = hm__arena_strdup(
            im->arena, metric_name(im->part_count ? im->parts[im->part_at] : im->name));
        if (!name)
            return hm__fail_nomem(err);
        read_metric(&f, name);
        rc = hm__import_next_part(im, err);
    }
    if (rc < 0)
        return rc;
    hm__json_close(&im->facts);
    hm__json_put_number(&im->facts, "lines", f.lines);
    hm__import_took(im, (double)im->traces.rows, "points of %.0f losses as traces", f.losses);
    hm__import_left(im, f.metrics - f.losses, "metrics that are not losses");
    hm__import_left(im, f.bad, "lines that are not points");
    if (f.best_name) {
        const struct hm_import_cell cells[] = {hm__cell(f.n), hm__cell(f.best_seconds)};
        hm__import_columns(&im->runs, "n,seconds");
        hm__import_row(im, &im->runs, cells);
        hm__import_took(im, 1, "run, from the times of '%.60s'", f.best_name);
    }
    return 0;
}

static int mlflow_recognise(const struct hm_import_head *head)
{
    size_t length = strcspn(head->text, "\n");
    double point[3];

    if (!read_point(head->text, length, point) || point[0] < 1e9 || point[0] > 1e10)
        return 0;
    return strstr(head->name, "metrics/") ? 80 : 60;
}

const struct hm_importer hm__importer_mlflow = {
    .name = "mlflow",
    .title = "MLflow run",
    .becomes = "traces and a run",
    .recognise = mlflow_recognise,
    .read = mlflow_read,
};
