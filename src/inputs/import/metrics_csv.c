/*
 * Reads tables of losses: metrics.csv of Lightning, the CSVLogger of Keras, and exports of Weights
 * & Biases. Few of them contain a time, and none contains the number of workers.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cells.h"
#include "err.h"
#include "importers.h"

/* What the name of a column says; names can be long, so each is searched only once. */
struct metric_column {
    bool loss;
    bool chart; /* True for a chart of Weights & Biases, "NAME - metric", which is its own run. */
    bool range; /* True for the minimum or maximum of another column. */
    bool repeated; /* True if a column before this one has the same name. */
};

/* State of the reader while it reads one table. */
struct metrics {
    struct hm_imported *im;
    struct hm_cells head, row;
    struct metric_column *columns; /* One element for each column; owned. */
    struct hm_series *series;      /* Summary of the values in each column; owned. */
    char delimiter;
    double rows, short_rows, n;
    /* Numbers of losses without a number or a step, and of losses before the first step. */
    double unreadable, early;
    /*
     * Indices of the columns with steps, epochs, times and durations; -1 if there is no such
     * column.
     */
    int step, epoch, time, runtime;
    int loss; /* Index of the column whose loss is stored as a trace; -1 if there is none. */
};

static int find_cell(const struct hm_cells *head, const char *name)
{
    for (size_t i = 0; i < head->count; i++)
        if (strcmp(head->cell[i], name) == 0)
            return (int)i;
    return -1;
}

/*
 * Returns the delimiter of a header: the character among ',', ';' and '|' that occurs most often.
 */
static char find_delimiter(const char *text, size_t length)
{
    static const char candidates[] = ",;|";
    char best = ',';
    size_t most = 0;

    for (const char *c = candidates; *c; c++) {
        size_t count = 0;
        for (size_t i = 0; i < length && text[i] != '\n'; i++)
            count += text[i] == *c;
        if (count > most) {
            most = count;
            best = *c;
        }
    }
    return best;
}

static bool is_loss(const char *name)
{
    return strstr(name, "loss") != NULL || strstr(name, "Loss") != NULL;
}

/*
 * Returns the index of the column with the training loss: a column with a common name, or else the
 * first loss that is not a validation loss; -1 if there is none.
 */
static int choose_loss(const struct metrics *m)
{
    static const char *const best[] = {"loss", "train_loss", "train/loss", "train_loss_step",
                                       "train_loss_epoch"};
    const struct hm_cells *head = &m->head;
    int found = -1;

    for (size_t i = 0; i < sizeof(best) / sizeof(best[0]); i++)
        if ((found = find_cell(head, best[i])) >= 0)
            return found;
    for (size_t i = 0; i < head->count; i++)
        if (m->columns[i].loss && !strstr(head->cell[i], "val") && !strstr(head->cell[i], "test"))
            return (int)i;
    return -1;
}

struct named_column {
    const char *name;
    size_t index;
};

static int compare_names(const void *a, const void *b)
{
    const struct named_column *x = a, *y = b;
    int order = strcmp(x->name, y->name);

    return order ? order : (x->index > y->index) - (x->index < y->index);
}

/* Describes the columns of the header; returns false if memory runs out. */
static bool describe_columns(struct metrics *m)
{
    const size_t count = m->head.count;
    struct named_column *sorted = hm__calloc(count + 1, sizeof(*sorted));

    m->series = hm__calloc(count + 1, sizeof(*m->series));
    m->columns = hm__calloc(count + 1, sizeof(*m->columns));
    for (size_t i = 0; sorted && m->columns && i < count; i++) {
        const char *name = m->head.cell[i];
        bool range = hm__text_ends(name, "__MIN") || hm__text_ends(name, "__MAX");
        m->columns[i] = (struct metric_column){
            .loss = is_loss(name), .chart = !range && strstr(name, " - "), .range = range};
        sorted[i] = (struct named_column){name, i};
    }
    if (sorted && m->columns)
        qsort(sorted, count, sizeof(*sorted), compare_names);
    for (size_t i = 1; sorted && m->columns && i < count; i++)
        m->columns[sorted[i].index].repeated = strcmp(sorted[i].name, sorted[i - 1].name) == 0;
    bool done = sorted && m->series && m->columns;
    hm__free(sorted);
    return done;
}

/* Reports columns that are not used because the table has others of their name or too many. */
static void say_columns(struct metrics *m)
{
    double repeated = 0;
    const char *name = NULL;

    for (size_t i = 0; i < m->head.count; i++) {
        if (!m->columns[i].repeated || !m->head.cell[i][0])
            continue;
        repeated++;
        name = name ? name : m->head.cell[i];
    }
    hm__import_left(m->im, repeated, "columns with the name of a column before, such as '%.40s'",
                    name ? name : "");
    hm__import_left(m->im, (double)m->head.left, "columns after the first %d", HM_CELLS);
}

static int open_metrics(struct metrics *m, struct hm_imported *im, struct hm_err *err)
{
    struct hm_line line;

    *m = (struct metrics){.im = im, .delimiter = ','};
    if (!hm__stream_line(&im->in, &line))
        return hm__fail(err, HM_E_MISSING, "there is no header");
    if (!line.whole)
        hm__import_cut(im);
    m->delimiter = find_delimiter(line.text, line.length);
    if (!hm__cells_split(&m->head, &line, m->delimiter))
        return hm__fail_nomem(err);
    if (!describe_columns(m))
        return hm__fail_nomem(err);
    m->step = find_cell(&m->head, "step");
    m->epoch = find_cell(&m->head, "epoch");
    m->time = find_cell(&m->head, "created_at");
    m->runtime = find_cell(&m->head, "_runtime");
    m->loss = choose_loss(m);
    m->n = hm__import_n(im, NAN);
    return 0;
}

static void close_metrics(struct metrics *m)
{
    hm__cells_release(&m->head);
    hm__cells_release(&m->row);
    hm__free(m->columns);
    hm__free(m->series);
}

/* Reads the next row; returns false at the end. Rows with too few cells are counted and skipped. */
static bool next_row(struct metrics *m)
{
    struct hm_line line;

    while (hm__stream_line(&m->im->in, &line)) {
        if (line.length == 0)
            continue;
        if (!hm__cells_split(&m->row, &line, m->delimiter)) {
            m->im->failed = true;
            return false;
        }
        if (m->row.count + m->row.left != m->head.count + m->head.left) {
            m->short_rows++;
            if (!line.whole)
                hm__import_cut(m->im);
            continue;
        }
        m->rows++;
        /* A quote ends the last cell, so that it cannot be cut within a number. */
        if (line.text[line.length - 1] != '"')
            hm__import_last_line(m->im, &line);
        for (size_t i = 0; i < m->row.count; i++)
            hm__series_add(&m->series[i], m->row.cell[i]);
        return true;
    }
    return false;
}

static double row_number(const struct metrics *m, int column)
{
    return column < 0 ? NAN : hm__cell_number(m->row.cell[column]);
}

/* Returns whether the cell of the training loss in the current row has a text. */
static bool has_loss(const struct metrics *m)
{
    return m->loss >= 0 && m->row.cell[m->loss][0];
}

static void put_columns(const struct metrics *m, const char *key)
{
    hm__json_open(&m->im->facts, key, HM_JSON_LIST);
    for (size_t i = 0; i < m->head.count; i++)
        hm__json_put_text(&m->im->facts, NULL, m->head.cell[i]);
    hm__json_close(&m->im->facts);
}

static void say_rows(struct metrics *m)
{
    hm__import_took(m->im, (double)m->im->traces.rows, "losses as traces");
    hm__import_left(m->im, m->short_rows, "rows with another number of cells than the header");
    hm__import_left(m->im, m->unreadable, "losses that are not a number or have no step");
    hm__import_left(m->im, m->early, "losses before step 1");
    say_columns(m);
}

/* ---- Lightning --------------------------------------------------------------------------------
 */

/*
 * Summary of a loss: number of points, first and last point (epoch, step, value), and smallest
 * value.
 */
struct loss_points {
    double count, first[3], last[3], least;
};

static void put_losses(const struct metrics *m, const struct loss_points *points)
{
    struct hm_json *j = &m->im->facts;

    hm__json_open(j, "loss_series", HM_JSON_OBJECT | HM_JSON_LINES);
    for (size_t i = 0; i < m->head.count; i++) {
        if (!m->columns[i].loss || m->columns[i].repeated || points[i].count == 0)
            continue;
        hm__json_open(j, m->head.cell[i], HM_JSON_OBJECT);
        hm__json_put_number(j, "points", points[i].count);
        hm__json_put_numbers(j, "first", points[i].first, 3);
        hm__json_put_numbers(j, "last", points[i].last, 3);
        hm__json_put_number(j, "min", points[i].least);
        hm__json_close(j);
    }
    hm__json_close(j);
}

static void add_losses(struct metrics *m, struct loss_points *points, double *last_time)
{
    double step = row_number(m, m->step), epoch = row_number(m, m->epoch);
    double time = m->time < 0 ? NAN : hm__cell_time(m->row.cell[m->time]);

    for (size_t i = 0; i < m->row.count; i++) {
        double value = m->columns[i].loss ? hm__cell_number(m->row.cell[i]) : NAN;
        if (isnan(value))
            continue;
        const double point[3] = {epoch, step, value};
        if (points[i].count++ == 0) {
            memcpy(points[i].first, point, sizeof(point));
            points[i].least = value;
        }
        memcpy(points[i].last, point, sizeof(point));
        points[i].least = fmin(points[i].least, value);
    }
    double loss = row_number(m, m->loss), iteration = (isnan(step) ? epoch : step) + 1;
    /*
     * Without a column of steps, each row is one epoch, so the time between two rows is the
     * duration of an epoch.
     */
    double seconds = m->step < 0 ? time - *last_time : NAN;
    if (!isnan(time))
        *last_time = time;
    if (isnan(loss) || isnan(iteration)) {
        m->unreadable += has_loss(m);
        return;
    }
    const struct hm_import_cell cells[] = {hm__cell(m->n), hm__cell(iteration), hm__cell(loss),
                                           hm__cell(seconds)};
    hm__import_row(m->im, &m->im->traces, cells);
}

static void put_times(const struct metrics *m, const char *first, const char *last)
{
    struct hm_json *j = &m->im->facts;
    double seconds = first ? hm__cell_time(last) - hm__cell_time(first) : NAN;

    hm__json_put_bool(j, "has_time", m->time >= 0);
    if (isnan(seconds)) {
        hm__json_put_null(j, "created_at");
        return;
    }
    hm__json_open(j, "created_at", HM_JSON_OBJECT);
    hm__json_put_text(j, "first", first);
    hm__json_put_text(j, "last", last);
    hm__json_put_number(j, "seconds", seconds);
    hm__json_put_number(j, "seconds_per_row", m->rows > 1 ? seconds / (m->rows - 1) : NAN);
    hm__json_close(j);
}

static int lightning_read(struct hm_imported *im, struct hm_err *err)
{
    struct metrics m;
    struct loss_points *points = NULL;
    char first[64] = "", last[64] = "";
    double last_time = NAN;
    int rc;

    hm__json_put_text(&im->facts, "format", "lightning metrics.csv");
    rc = open_metrics(&m, im, err);
    if (rc == 0 && !(points = hm__calloc(m.head.count, sizeof(*points))))
        rc = hm__fail_nomem(err);
    hm__import_columns(&im->traces, "n,iteration,loss,seconds");
    while (rc == 0 && next_row(&m)) {
        add_losses(&m, points, &last_time);
        if (m.time >= 0 && m.row.cell[m.time][0]) {
            snprintf(first[0] ? last : first, sizeof(first), "%.63s", m.row.cell[m.time]);
            if (!last[0])
                memcpy(last, first, sizeof(last));
        }
    }
    if (rc == 0) {
        put_columns(&m, "columns");
        hm__json_put_number(&im->facts, "rows", m.rows);
        put_losses(&m, points);
        put_times(&m, first[0] ? first : NULL, last);
        if (m.step < 0)
            hm__import_note(im, "an epoch is counted as an iteration");
        say_rows(&m);
    }
    hm__free(points);
    close_metrics(&m);
    return rc;
}

/* Returns whether the header of a table has a column with this name. */
static bool has_column(const struct hm_import_head *head, const char *name)
{
    const char *end = memchr(head->text, '\n', head->length);
    size_t length = end ? (size_t)(end - head->text) : head->length, size = strlen(name);
    const char *p = head->text;

    while ((p = hm__find(p, length - (size_t)(p - head->text), name))) {
        bool begins = p == head->text || strchr(",;\"", p[-1]);
        size_t after = (size_t)(p - head->text) + size;
        if (begins && (after >= length || strchr(",;\"\r", head->text[after])))
            return true;
        p++;
    }
    return false;
}

/*
 * Returns whether the header has a column name that tables of howmany use, so that the file is not
 * from another tool.
 */
static bool is_own_table(const struct hm_import_head *head)
{
    return has_column(head, "n") || has_column(head, "m") || has_column(head, "workers") ||
           has_column(head, "iteration") || has_column(head, "seconds");
}

/*
 * Returns whether the header has a delimiter and contains the text `piece`, for example "loss" as
 * in "train_loss".
 */
static bool has_metric(const struct hm_import_head *head, const char *piece)
{
    const char *end = memchr(head->text, '\n', head->length);
    size_t length = end ? (size_t)(end - head->text) : head->length;

    return (memchr(head->text, ',', length) || memchr(head->text, ';', length)) &&
           hm__find(head->text, length, piece);
}

static int lightning_recognise(const struct hm_import_head *head)
{
    if (is_own_table(head) || !(has_column(head, "epoch") || has_column(head, "step")) ||
        !(has_metric(head, "loss") || has_metric(head, "acc")))
        return 0;
    return has_column(head, "created_at") || has_column(head, "step") ? 80 : 60;
}

const struct hm_importer hm__importer_lightning = {
    .name = "lightning",
    .title = "metrics.csv of Lightning",
    .becomes = "a trace",
    .recognise = lightning_recognise,
    .read = lightning_read,
};

/* ---- Keras ------------------------------------------------------------------------------------
 */

static void put_all_series(const struct metrics *m, bool skip_ranges)
{
    hm__json_open(&m->im->facts, "series", HM_JSON_OBJECT | HM_JSON_LINES);
    for (size_t i = 0; i < m->head.count; i++) {
        if (m->columns[i].repeated || (skip_ranges && m->columns[i].range))
            continue;
        hm__series_put(&m->im->facts, m->head.cell[i], &m->series[i]);
    }
    hm__json_close(&m->im->facts);
}

static int keras_read(struct hm_imported *im, struct hm_err *err)
{
    struct metrics m;
    int rc;

    hm__json_put_text(&im->facts, "format", "keras csvlogger");
    rc = open_metrics(&m, im, err);
    hm__import_columns(&im->traces, "n,iteration,loss");
    while (rc == 0 && next_row(&m)) {
        const struct hm_import_cell cells[] = {hm__cell(m.n), hm__cell(row_number(&m, m.epoch) + 1),
                                               hm__cell(row_number(&m, m.loss))};
        if (!isnan(cells[1].number) && !isnan(cells[2].number))
            hm__import_row(im, &im->traces, cells);
        else
            m.unreadable += has_loss(&m);
    }
    if (rc == 0) {
        const char delimiter[2] = {m.delimiter, '\0'};
        hm__json_put_text(&im->facts, "delimiter", delimiter);
        put_columns(&m, "columns");
        hm__json_put_number(&im->facts, "epochs", m.rows);
        put_all_series(&m, false);
        hm__import_note(im, "an epoch is counted as an iteration; the file has no times");
        say_rows(&m);
    }
    close_metrics(&m);
    return rc;
}

static int keras_recognise(const struct hm_import_head *head)
{
    if (is_own_table(head) || has_column(head, "step") || has_column(head, "created_at") ||
        strncmp(head->text, "epoch", 5) != 0)
        return 0;
    return has_metric(head, "loss") || has_metric(head, "acc") ? 75 : 0;
}

const struct hm_importer hm__importer_keras_csv = {
    .name = "keras-csv",
    .title = "table of the CSVLogger of Keras",
    .becomes = "a trace",
    .recognise = keras_recognise,
    .read = keras_read,
};

/* ---- Weights & Biases -------------------------------------------------------------------------
 */

/*
 * Adds the points of a row to the traces. Each column whose name has the form "NAME - metric" is a
 * separate run with the label labels[column].
 */
static void add_wandb(struct metrics *m, int step, const char *const *labels)
{
    double iteration = row_number(m, step);

    for (size_t i = 0; i < m->row.count; i++) {
        if (!m->columns[i].loss || !(m->columns[i].chart || (int)i == m->loss) ||
            !m->row.cell[i][0])
            continue;
        double value = hm__cell_number(m->row.cell[i]);
        m->unreadable += isnan(value) || isnan(iteration);
        m->early += !isnan(value) && iteration < 1;
        if (isnan(value) || isnan(iteration) || iteration < 1)
            continue;
        const struct hm_import_cell cells[] = {hm__cell_text(labels[i]), hm__cell(m->n),
                                               hm__cell(iteration), hm__cell(value),
                                               hm__cell(row_number(m, m->runtime))};
        hm__import_row(m->im, &m->im->traces, cells);
    }
}

/*
 * Counts the columns that hold the minimum or maximum of another column, which Weights & Biases
 * adds to exports.
 */
static double count_ranges(const struct metrics *m)
{
    double count = 0;

    for (size_t i = 0; i < m->head.count; i++)
        count += m->columns[i].range;
    return count;
}

/* Copies the names of the columns to the arena; NULL if memory runs out. */
static const char *const *copy_names(struct metrics *m)
{
    const char **names = hm__arena_alloc(m->im->arena, m->head.count + 1, sizeof(*names));

    for (size_t i = 0; names && i < m->head.count; i++)
        if (!(names[i] = hm__arena_strdup(m->im->arena, m->head.cell[i])))
            return NULL;
    return names;
}

static int wandb_read(struct hm_imported *im, struct hm_err *err)
{
    struct metrics m;
    const char *const *labels = NULL;
    int rc, step = -1;

    hm__json_put_text(&im->facts, "format", "wandb csv export");
    rc = open_metrics(&m, im, err);
    if (rc == 0) {
        step = find_cell(&m.head, "Step");
        step = step < 0 ? find_cell(&m.head, "_step") : step;
        step = step < 0 ? find_cell(&m.head, "trainer/global_step") : step;
        if (!(labels = copy_names(&m)))
            rc = hm__fail_nomem(err);
    }
    hm__import_columns(&im->traces, "*algorithm,n,iteration,loss,elapsed_s");
    while (rc == 0 && next_row(&m))
        add_wandb(&m, step, labels);
    if (rc == 0) {
        hm__json_put_number(&im->facts, "columns", (double)m.head.count);
        put_columns(&m, "header");
        hm__json_put_number(&im->facts, "rows", m.rows);
        hm__json_put_number(&im->facts, "min_max_columns", count_ranges(&m));
        put_all_series(&m, true);
        say_rows(&m);
        if (step < 0)
            hm__import_note(im, "the table has no steps, so there are no traces in it");
        else if (m.runtime < 0)
            hm__import_note(im, "a chart has no times");
    }
    close_metrics(&m);
    return rc;
}

static int wandb_recognise(const struct hm_import_head *head)
{
    if ((has_column(head, "Step") || has_column(head, "trainer/global_step")) &&
        has_metric(head, " - "))
        return 90;
    if (has_column(head, "_step") && has_column(head, "_runtime"))
        return 90;
    return has_column(head, "Name") && has_column(head, "State") && has_column(head, "Runtime") ? 80
                                                                                                : 0;
}

const struct hm_importer hm__importer_wandb = {
    .name = "wandb",
    .title = "table of Weights & Biases",
    .becomes = "traces",
    .recognise = wandb_recognise,
    .read = wandb_read,
};
