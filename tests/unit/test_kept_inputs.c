/*
 * Tests the outcomes of the readers for the files of the fuzz corpora, and for the same files with
 * small errors: cut off, with lines left out or repeated, with other numbers or other bytes. The
 * outcomes of a file (the message and line of the error, or a sum of what was read) are stored as a
 * checksum in tests/data/answers/read_FOLDER.txt, so that no reader changes unnoticed. HM_RECORD=1
 * writes the current checksums; HM_PRINT=NAME prints the outcomes of one file, to compare two
 * versions. The argument of this program is the folder of the corpus.
 */
#include <dirent.h>
#include <sys/mman.h>
#include <unistd.h>

#include "howmany_advise.h"
#include "howmany_fit.h"
#include "testing.h"

#include "data.h"
#include "import.h"
#include "study.h"
#include "uai.h"

enum { OUTCOME = 1 << 16, CUTS = 8, LINES = 10, NUMBERS = 14, BYTES = 24, FILES = 64 };

struct outcome {
    char text[OUTCOME];
    size_t used;
    bool accepted;
};

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

/* ---- readers --------------------------------------------------------------------------------- */

static void add_runs(struct outcome *o, const struct hm_runs *runs)
{
    outcome_add(o, "%zu runs, %s:", runs->count, runs->unit ? runs->unit : "-");
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
        outcome_add(o, " %.5g %.5g %.5g %.5g", sum_values(t->iteration, t->count),
                    sum_values(t->loss, t->count), sum_values(t->seconds, t->count),
                    sum_values(t->elapsed_s, t->count));
    }
    for (size_t i = 0; i < traces->note_count; i++)
        outcome_add(o, "; %s", traces->notes[i]);
}

static void read_import(const char *data, size_t size, struct outcome *o)
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
        .set_count = 2};
    if (hm__import_new(&from, &im, &err)) {
        outcome_add_error(o, &err);
        return;
    }
    o->accepted = true;
    outcome_add(o, "%.*s ", (int)im->facts_text.length, im->facts_text.data);
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

/* Reads a job, and plans it for a few workers. */
static void read_spec(const char *data, size_t size, struct outcome *o)
{
    const char *source = data[0] == '{' || data[0] == '[' ? "file.json" : "file.yaml";
    struct hm_question question = HM_QUESTION_INIT;
    struct hm_study_spec *study = NULL;
    struct hm_answer *answer = NULL;
    struct hm_job *job = NULL;
    struct hm_err err = {0}, wrong = {0}, other = {0};

    question.max_n = 3;
    if (hm_job_parse(data, size, source, NULL, 0, &job, &err)) {
        outcome_add_error(o, &err);
    } else if (hm_plan(job, NULL, 0, NULL, 0, &question, &answer, &wrong)) {
        outcome_add_error(o, &wrong);
    } else {
        o->accepted = true;
        outcome_add(o, "status %d, %zu notes", answer->status, answer->note_count);
        for (size_t i = 0; i < answer->point_count; i++)
            outcome_add(o, " %.5g %.5g %.5g", answer->points[i].time_s,
                        answer->points[i].communicate_s, answer->points[i].memory_bytes);
    }
    if (hm__study_spec_parse(data, size, source, NULL, 0, &study, &other))
        outcome_add_error(o, &other);
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

static const struct reader {
    const char *folder;
    void (*read)(const char *data, size_t size, struct outcome *o);
    size_t every; /* Only every N-th variant is read, with N = `every`; 0: all variants are read. */
} readers[] = {{"import", read_import}, {"traces", read_traces}, {"runs", read_runs},
               {"spec", read_spec, 4},  {"graph", read_graph},   {"uai", read_uai},
               {"data", read_data}};

/* ---- files with errors ----------------------------------------------------------------------- */

struct trial {
    const struct reader *reader;
    const char *name;
    bool print;
    size_t made, variants, accepted;
    uint64_t checksum;
};

/* Removes the names of files in memory, which differ from run to run. */
static void hide_paths(char *text)
{
    for (char *at; (at = strstr(text, "/proc/self/fd/"));) {
        char *end = at + strlen("/proc/self/fd/");
        while (*end >= '0' && *end <= '9')
            end++;
        memmove(at, end, strlen(end) + 1);
    }
}

static void trial_read(struct trial *t, const char *data, size_t size)
{
    static struct outcome o;
    char *copy = malloc(size);

    t->made++;
    if (size < 2 || (t->reader->every && t->made % t->reader->every != 1)) {
        free(copy);
        return;
    }
    assert_non_null(copy);
    memcpy(copy, data, size);
    o.used = 0;
    o.text[0] = '\0';
    o.accepted = false;
    t->reader->read(copy, size, &o);
    hide_paths(o.text);
    t->variants++;
    t->accepted += o.accepted;
    for (const char *c = o.text; *c; c++)
        t->checksum = (t->checksum ^ (unsigned char)*c) * 0x100000001b3u;
    if (t->print)
        fprintf(stderr, "%zu: %s\n", t->variants, o.text);
    free(copy);
}

/* Reads the data with `length` bytes at `at` replaced by a text. */
static void trial_replace(struct trial *t, const char *data, size_t size, size_t at, size_t length,
                          const char *text, size_t text_length)
{
    char *changed = malloc(size - length + text_length + 1);

    assert_non_null(changed);
    memcpy(changed, data, at);
    memcpy(changed + at, text, text_length);
    memcpy(changed + at + text_length, data + at + length, size - at - length);
    trial_read(t, changed, size - length + text_length);
    free(changed);
}

static size_t line_length(const char *data, size_t size, size_t at)
{
    size_t end = at;

    while (end < size && data[end] != '\n')
        end++;
    return end < size ? end + 1 - at : end - at;
}

/* Reads the data with some lines left out or repeated, evenly spaced. */
static void trial_lines(struct trial *t, const char *data, size_t size)
{
    size_t count = 0, at = 1, number = 0;

    for (size_t i = 0; i < size; i++)
        count += data[i] == '\n';
    while (at < size) {
        size_t length = line_length(data, size, at);
        if (number++ % (count / LINES + 1) == 0) {
            trial_replace(t, data, size, at, length, "", 0);
            trial_replace(t, data, size, at, 0, data + at, length);
        }
        at += length;
    }
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads the data with some numbers, evenly spaced, replaced by others. */
static void trial_numbers(struct trial *t, const char *data, size_t size)
{
    static const char *const others[] = {"0", "-1", "7", "1e400", "x"};
    size_t count = 0, number = 0;

    for (size_t at = 2; at < size; at++)
        count += is_digit(data[at]) && !is_digit(data[at - 1]);
    for (size_t at = 2; at < size; at++) {
        size_t length = 0;
        if (!is_digit(data[at]) || is_digit(data[at - 1]) || number++ % (count / NUMBERS + 1) != 0)
            continue;
        while (at + length < size && is_digit(data[at + length]))
            length++;
        for (size_t k = 0; k < sizeof(others) / sizeof(others[0]); k++)
            trial_replace(t, data, size, at, length, others[k], strlen(others[k]));
    }
}

static void trial_run(struct trial *t, const char *data, size_t size)
{
    t->checksum = 0xcbf29ce484222325u;
    trial_read(t, data, size);
    for (size_t i = 1; i < CUTS; i++)
        trial_read(t, data, size * i / CUTS);
    for (size_t i = 0; i < BYTES; i++) {
        size_t at = 1 + (size - 1) * i / BYTES;
        char other = (char)(data[at] ^ (1 << i % 8));
        trial_replace(t, data, size, at, 1, &other, 1);
    }
    trial_lines(t, data, size);
    trial_numbers(t, data, size);
}

/* ---- the files ------------------------------------------------------------------------------- */

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Lists the names of a folder in order; returns their number. */
static size_t list_folder(const char *path, char *names[FILES])
{
    DIR *folder = opendir(path);
    struct dirent *entry;
    size_t count = 0;

    assert_non_null(folder);
    while ((entry = readdir(folder)))
        if (entry->d_name[0] != '.' && count < FILES)
            names[count++] = strdup(entry->d_name);
    closedir(folder);
    qsort(names, count, sizeof(*names), compare_texts);
    return count;
}

static char *load_file(const char *path, size_t *ret_size)
{
    FILE *file = fopen(path, "rb");
    char *data = malloc(1 << 20);

    assert_true(file && data);
    *ret_size = fread(data, 1, 1 << 20, file);
    fclose(file);
    return data;
}

/* Compares the outcomes of a file with the next line of the stored checksums. Returns true if they
 * differ. */
static bool compare_line(FILE *kept, FILE *out, const struct trial *t)
{
    char got[200], wanted[200] = "";

    snprintf(got, sizeof(got), "%s/%s: %zu of %zu accepted, checksum %016llx", t->reader->folder,
             t->name, t->accepted, t->variants, (unsigned long long)t->checksum);
    if (out)
        fprintf(out, "%s\n", got);
    else if (!next_line(kept, wanted, sizeof(wanted)) || strcmp(wanted, got) != 0)
        return fprintf(stderr, "- %s\n+ %s\n", wanted, got) > 0;
    return false;
}

static const struct reader *reader;

/* Reads all files of the folder; returns the number of those that are read differently. */
static size_t read_folder(const char *root, FILE *kept, FILE *out)
{
    const char *print = getenv("HM_PRINT");
    char path[2048], *names[FILES];
    size_t wrong = 0, size;

    snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/%s", root, reader->folder);
    size_t count = list_folder(path, names);
    for (size_t i = 0; i < count; i++) {
        struct trial t = {
            .reader = reader, .name = names[i], .print = print && strcmp(print, names[i]) == 0};
        snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/%s/%s", root, reader->folder, names[i]);
        char *data = load_file(path, &size);
        trial_run(&t, data, size);
        wrong += compare_line(kept, out, &t);
        free(data);
        free(names[i]);
    }
    return wrong;
}

static void readers_are_kept(void **state)
{
    const char *root = getenv("HM_SOURCE"), *record = getenv("HM_RECORD");
    const char *zlib = getenv("HM_ZLIB"), *zstd = getenv("HM_ZSTD");
    char path[1024];

    (void)state;
    if ((zlib && zlib[0] == '0') || (zstd && zstd[0] == '0'))
        skip(); /* This test is skipped, because some of the files are compressed. */
    root = root ? root : ".";
    snprintf(path, sizeof(path), "%s/tests/data/answers/read_%s.txt", root, reader->folder);
    FILE *out = record && record[0] == '1' ? fopen(path, "w") : NULL, *kept = fopen(path, "r");
    assert_non_null(kept);
    size_t wrong = read_folder(root, kept, out);
    fclose(kept);
    if (out)
        fclose(out);
    if (wrong > 0)
        fail_msg("%zu files are read differently; HM_RECORD=1 keeps the outcomes of today", wrong);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(readers_are_kept)};

    for (size_t r = 0; argc == 2 && r < sizeof(readers) / sizeof(readers[0]); r++)
        if (strcmp(readers[r].folder, argv[1]) == 0)
            reader = &readers[r];
    return reader ? cmocka_run_group_tests_name("kept_inputs", tests, NULL, NULL) : 2;
}
