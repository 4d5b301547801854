/*
 * Reads MLPerf training results, in the three generations of the MLPerf log format:
 *
 *     :::MLPv0.5.0 BENCHMARK SECONDS (file:line) key: json
 *     :::MLL SECONDS key: {"value": …, "metadata": {…}}
 *     :::MLLOG {"time_ms": …, "key": …, "value": …, "metadata": {…}}
 *
 * The number of accelerators is in a description of the system next to the result:
 * NAME.system.json, or systems/NAME.json three folders above. For language models, the value called
 * accuracy is a loss.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "err.h"
#include "importers.h"
#include "whole.h"

/* Keys of the log whose first value is reported, and the names under which the facts list them. */
static const struct {
    const char *key, *fact;
} kept[] = {{"submission_benchmark", "benchmark"},
            {"submission_division", "division"},
            {"submission_org", "organisation"},
            {"submission_platform", "platform"},
            {"global_batch_size", "global_batch_size"},
            {"train_samples", "train_samples"},
            {"eval_samples", "eval_samples"},
            {"gradient_accumulation_steps", "gradient_accumulation_steps"},
            {"opt_name", "optimizer"},
            {"seed", "seed"}};

enum { KEPT = sizeof(kept) / sizeof(kept[0]), KEPT_BATCH = 4, KEPT_SAMPLES = 5, EVALS = 10000 };

struct mllog {
    struct hm_imported *im;
    double lines, bad, other;
    /*
     * First value of each key in the list `kept`, in the arena; its kind is null if the log does
     * not contain the key.
     */
    struct hm_value values[KEPT];
    double init_ms, start_ms, stop_ms;
    double ranks; /* Number of workers; NaN if the log does not state it. */
    /* True if evaluations in the log are errors or losses; false if they are accuracies. */
    bool errors;
    const char *status;
    /* Number of training blocks that ended, and number of epochs that ended. */
    double blocks, epochs;
    /*
     * For each evaluation: the time in ms, the epoch or the number of samples, and the value. The
     * arena owns the array.
     */
    double (*evals)[3];
    size_t eval_count;
};

/* Values in one line of the log, in an arena that is freed after each line. */
struct mllog_entry {
    char key[64];
    double ms;
    const struct hm_value *value, *metadata;
    bool failed; /* True if memory ran out. */
};

/* ---- lines ------------------------------------------------------------------------------------
 */

static double seconds_to_ms(const char *p, const char *end)
{
    char digits[32];
    double value;

    snprintf(digits, sizeof(digits), "%.*s", (int)(end - p < 31 ? end - p : 31), p);
    return hm__number_read(digits, &value) > 0 ? round(value * 1000) : NAN;
}

/*
 * Reads "SECONDS key: json", which follows the token in the two older generations of the format.
 * Returns the beginning of the JSON.
 */
static const char *old_line(const char *p, const char *end, bool oldest, struct mllog_entry *e)
{
    /*
     * In the oldest generation, the version and the name of the benchmark come first and are
     * skipped.
     */
    if (oldest) {
        for (int word = 0; word < 2; word++) {
            while (p < end && *p != ' ')
                p++;
            while (p < end && *p == ' ')
                p++;
        }
    }
    e->ms = seconds_to_ms(p, end);
    while (p < end && *p != ' ')
        p++;
    while (p < end && *p == ' ')
        p++;
    if (oldest && p < end && *p == '(') {
        while (p < end && *p != ')')
            p++;
        while (p < end && (*p == ')' || *p == ' '))
            p++;
    }
    size_t length = 0;
    while (p + length < end && p[length] != ':' && p[length] != ' ')
        length++;
    snprintf(e->key, sizeof(e->key), "%.*s", (int)(length < 63 ? length : 63), p);
    p += length;
    return p < end && *p == ':' ? p + 1 : end;
}

/*
 * Parses a line that contains the token, such as ":::MLLOG"; returns false if the line is not
 * valid.
 */
static bool parse_line(const struct hm_line *line, const char *token, struct hm_arena *arena,
                       struct mllog_entry *e)
{
    const char *end = line->text + line->length, *json = token;
    bool newest = end - token >= 8 && memcmp(token, ":::MLLOG", 8) == 0;
    /* The byte after ":::MLL" is skipped, so the line must have at least one more byte. */
    bool middle = !newest && end - token >= 7 && memcmp(token, ":::MLL", 6) == 0;
    struct hm_value *root = NULL;
    struct hm_err ignored = {0};

    *e = (struct mllog_entry){.ms = NAN};
    if (newest)
        json = token + 8;
    else
        json = old_line(middle ? token + 7 : token, end, !middle, e);
    while (json < end && *json == ' ')
        json++;
    if (json >= end)
        return !newest && !middle && e->key[0];
    if (hm__json_parse(arena, json, (size_t)(end - json), "", &root, &ignored)) {
        e->failed = ignored.code == HM_E_NOMEM;
        return false;
    }
    if (newest) {
        const char *key = hm__value_text(hm__value_get(root, "key"));
        snprintf(e->key, sizeof(e->key), "%.63s", key ? key : "");
        e->ms = hm__value_number(root, "time_ms");
    }
    e->value = newest || middle ? hm__value_get(root, "value") : root;
    e->metadata = newest || middle ? hm__value_get(root, "metadata") : root;
    return e->key[0] != '\0';
}

static void keep_value(struct mllog *m, const struct mllog_entry *e)
{
    for (size_t i = 0; i < KEPT; i++) {
        const char *text = hm__value_text(e->value);
        if (strcmp(kept[i].key, e->key) != 0)
            continue;
        if (text && m->values[i].kind == HM_VALUE_NULL) {
            m->values[i] = (struct hm_value){.kind = HM_VALUE_SCALAR, .quoted = e->value->quoted};
            m->values[i].text = hm__arena_strdup(m->im->arena, text);
            if (!m->values[i].text)
                m->values[i].kind = HM_VALUE_NULL;
        }
        return;
    }
    m->other++;
}

static void add_eval(struct mllog *m, const struct mllog_entry *e)
{
    const char *text = hm__value_text(e->value);
    double value = NAN, at = hm__value_number(e->metadata, "epoch_num");

    if (isnan(at))
        at = hm__value_number(e->metadata, "samples_count");
    if (isnan(at))
        at = hm__value_number(e->metadata, "step_num");
    if (text)
        hm__signed_read(text, &value);
    if (isnan(value) || m->eval_count == EVALS)
        return;
    double *eval = m->evals[m->eval_count++];
    eval[0] = e->ms;
    eval[1] = at;
    eval[2] = value;
}

static void add_entry(struct mllog *m, const struct mllog_entry *e)
{
    if (strcmp(e->key, "run_start") == 0) {
        m->start_ms = isnan(m->start_ms) ? e->ms : m->start_ms;
    } else if (strcmp(e->key, "run_stop") == 0 || strcmp(e->key, "run_final") == 0) {
        const char *status = hm__value_text(hm__value_get(e->metadata, "status"));
        m->stop_ms = e->ms;
        if (status)
            m->status = hm__arena_strdup(m->im->arena, status);
    } else if (strcmp(e->key, "init_start") == 0) {
        m->init_ms = isnan(m->init_ms) ? e->ms : m->init_ms;
    } else if (strcmp(e->key, "block_stop") == 0) {
        m->blocks++;
    } else if (strcmp(e->key, "epoch_stop") == 0) {
        m->epochs++;
    } else if (strcmp(e->key, "eval_accuracy") == 0 || strcmp(e->key, "eval_error") == 0) {
        m->errors |= strcmp(e->key, "eval_error") == 0;
        add_eval(m, e);
    } else if (strcmp(e->key, "number_of_ranks") == 0) {
        const char *text = hm__value_text(e->value);
        if (text)
            hm__number_read(text, &m->ranks);
    } else {
        keep_value(m, e);
    }
}

static int read_lines(struct mllog *m, struct hm_err *err)
{
    struct hm_line line;

    while (hm__stream_line(&m->im->in, &line)) {
        const char *token = hm__find(line.text, line.length, ":::ML");
        struct hm_arena *arena = token ? hm__arena_new() : NULL;
        struct mllog_entry e;
        if (!token)
            continue;
        if (!arena)
            return hm__fail_nomem(err);
        bool ok = parse_line(&line, token, arena, &e);
        m->im->failed |= e.failed || hm__arena_failed(arena);
        if (!ok && !line.whole) {
            hm__import_cut(m->im);
        } else {
            m->lines++;
            m->bad += !ok;
            if (ok)
                add_entry(m, &e);
        }
        hm__arena_free(arena);
    }
    return 0;
}

/* ---- the system -------------------------------------------------------------------------------
 */

/* Finds the last component of a path that ends at `end`; *ret_length is 0 if there is none. */
static const char *last_component(const char *path, const char *end, size_t *ret_length)
{
    const char *start = end;

    while (start > path && start[-1] != '/')
        start--;
    *ret_length = (size_t)(end - start);
    return start;
}

/*
 * Reads the description of the system from a file next to the result; returns NULL if there is
 * none.
 */
static const struct hm_value *find_system(struct hm_imported *im)
{
    char path[512];
    size_t length, above;
    const char *file = last_component(im->name, im->name + strlen(im->name), &length);
    const char *dot = strrchr(file, '.');

    if (length > 400)
        return NULL;
    snprintf(path, sizeof(path), "%.*s.system.json", dot ? (int)(dot - file) : (int)length, file);
    const struct hm_value *root = hm__sibling_json(im, path);
    /* The system of results/SYSTEM/BENCHMARK/result_0.txt is described in systems/SYSTEM.json. */
    const char *benchmark = file > im->name ? last_component(im->name, file - 1, &above) : im->name;
    if (root || benchmark == im->name)
        return root;
    const char *system = last_component(im->name, benchmark - 1, &length);
    if (system == im->name || length == 0 || length > 400)
        return NULL;
    snprintf(path, sizeof(path), "../../../systems/%.*s.json", (int)length, system);
    return hm__sibling_json(im, path);
}

/*
 * Reads a number from the description of a system, where it may be written as a string; NaN if it
 * is not a number, such as "N/A".
 */
static double system_number(const struct hm_value *system, const char *key)
{
    const char *text = hm__value_text(hm__value_get(system, key));
    double value;
    size_t used = text ? hm__number_read(text, &value) : 0;

    return used > 0 && text[used] == '\0' ? value : NAN;
}

static double put_system(struct hm_imported *im, const struct hm_value *s)
{
    struct hm_json *j = &im->facts;
    double nodes = system_number(s, "number_of_nodes");
    double each = system_number(s, "accelerators_per_node");

    if (!s) {
        hm__json_put_null(j, "system");
        return NAN;
    }
    hm__json_open(j, "system", HM_JSON_OBJECT);
    hm__json_put_text(j, "name", hm__value_text(hm__value_get(s, "system_name")));
    hm__json_put_number(j, "nodes", nodes);
    hm__json_put_number(j, "accelerators_per_node", each);
    hm__json_put_text(j, "accelerator", hm__value_text(hm__value_get(s, "accelerator_model_name")));
    hm__json_put_number(j, "accelerators", nodes * each);
    hm__json_put_number(j, "host_processors_per_node",
                        system_number(s, "host_processors_per_node"));
    hm__json_put_text(j, "interconnect",
                      hm__value_text(hm__value_get(s, "accelerator_interconnect")));
    hm__json_put_text(j, "network", hm__value_text(hm__value_get(s, "host_networking")));
    hm__json_close(j);
    return nodes * each > 0 ? nodes * each : NAN;
}

/* ---- results ----------------------------------------------------------------------------------
 */

static void put_facts(struct mllog *m)
{
    struct hm_json *j = &m->im->facts;

    hm__json_put_number(j, "lines", m->lines);
    hm__json_put_number(j, "lines_bad", m->bad);
    for (size_t i = 0; i < KEPT; i++)
        hm__fact_value(m->im, kept[i].fact, &m->values[i]);
    hm__json_put_number(j, "init_start_ms", m->init_ms);
    hm__json_put_number(j, "run_start_ms", m->start_ms);
    hm__json_put_number(j, "run_stop_ms", m->stop_ms);
    hm__json_put_number(j, "time_to_train_s", (m->stop_ms - m->start_ms) / 1000);
    hm__json_put_text(j, "status", m->status);
    hm__json_put_number(j, "blocks_or_epochs", m->blocks > 0 ? m->blocks : m->epochs);
    hm__json_open(j, "eval", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < m->eval_count; i++) {
        const double point[] = {(m->evals[i][0] - m->start_ms) / 1000, m->evals[i][1],
                                m->evals[i][2]};
        hm__json_put_numbers(j, NULL, point, 3);
    }
    hm__json_close(j);
}

static void put_tables(struct mllog *m, double accelerators)
{
    struct hm_imported *im = m->im;
    double n = hm__import_n(im, isnan(accelerators) ? m->ranks : accelerators),
           total = (m->stop_ms - m->start_ms) / 1000;
    double batch = NAN;
    const char *name = hm__value_text(&m->values[0]);
    bool accuracy = !m->errors && m->eval_count > 0 && m->evals[m->eval_count - 1][2] <= 1;

    if (hm__value_text(&m->values[KEPT_BATCH]))
        hm__number_read(m->values[KEPT_BATCH].text, &batch);
    hm__import_columns(&im->runs, "*benchmark,n,seconds,batch");
    const struct hm_import_cell run[] = {hm__cell_text(name), hm__cell(n), hm__cell(total),
                                         hm__cell(batch)};
    if (total > 0)
        hm__import_row(im, &im->runs, run);
    hm__import_columns(&im->traces, "*algorithm,n,iteration,loss,elapsed_s");
    for (size_t i = 0; i < m->eval_count; i++) {
        const double *eval = m->evals[i];
        const struct hm_import_cell cells[] = {
            hm__cell_text(name), hm__cell(n), hm__cell((double)i + 1),
            hm__cell(accuracy ? 1 - eval[2] : eval[2]), hm__cell((eval[0] - m->start_ms) / 1000)};
        hm__import_row(im, &im->traces, cells);
    }
    hm__import_took(im, (double)im->runs.rows, "run: the time to train");
    hm__import_took(im, (double)m->eval_count, "evaluations as a trace, numbered from 1");
    if (accuracy)
        hm__import_note(im, "the loss of the trace is 1 - accuracy");
    if (isnan(accelerators))
        hm__import_note(im, "there is no description of the system next to the file");
    hm__import_left(im, m->other, "lines with other keys");
    hm__import_left(im, m->bad, "lines that cannot be read");
}

static int mllog_read(struct hm_imported *im, struct hm_err *err)
{
    struct mllog m = {.im = im, .init_ms = NAN, .start_ms = NAN, .ranks = NAN, .stop_ms = NAN};
    int rc;

    m.evals = hm__arena_alloc(im->arena, EVALS, sizeof(*m.evals));
    if (!m.evals)
        return hm__fail_nomem(err);
    hm__json_put_text(&im->facts, "format", "mlperf log");
    rc = read_lines(&m, err);
    if (rc == 0) {
        put_facts(&m);
        put_tables(&m, put_system(im, find_system(im)));
    }
    return rc;
}

static int mllog_recognise(const struct hm_import_head *head)
{
    return hm__find(head->text, head->length, ":::MLLOG {") ||
                   hm__find(head->text, head->length, ":::MLL ") ||
                   hm__find(head->text, head->length, ":::MLPv")
               ? 95
               : 0;
}

const struct hm_importer hm__importer_mllog = {
    .name = "mllog",
    .title = "result of MLPerf training",
    .becomes = "a run and a trace",
    .recognise = mllog_recognise,
    .read = mllog_read,
};
