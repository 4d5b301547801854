/*
 * Reads the outputs of communication benchmarks: nccl-tests, OSU micro-benchmarks and Intel MPI
 * Benchmarks. One file may hold several tests. Each table becomes a section of the result. A
 * straight line t = a + b * bytes is fitted to it by least squares of the relative errors, with a,
 * b >= 0. If an all-reduce on n ranks is modelled as a ring, its 2(n-1) steps have the latency a /
 * (2(n-1)) and the time per byte b / (2(n-1)/n).
 *
 * The time is not linear in the size if the library changes its algorithm, so the result also
 * contains the rows of the table. Rows with wrong results are not fitted.
 */
#include "collectives.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "err.h"
#include "importers.h"

enum { WORDS = 16, WORD = 48, ROWS_MAX = 65536 };

/* The words of one line of a benchmark's output. */
struct words {
    char text[WORDS][WORD];
    size_t count;
};

static void split_words(const struct hm_line *line, struct words *w)
{
    const char *p = line->text, *end = p + line->length;

    w->count = 0;
    while (p < end && w->count < WORDS) {
        while (p < end && (*p == ' ' || *p == '\t'))
            p++;
        size_t length = 0;
        while (p + length < end && p[length] != ' ' && p[length] != '\t')
            length++;
        if (length == 0)
            return;
        snprintf(w->text[w->count++], WORD, "%.*s", (int)length, p);
        p += length;
    }
}

/* Reads a word as a number; NaN if the whole word is not a number. */
static double word_number(const char *word)
{
    double value;
    size_t used = hm__signed_read(word, &value);

    return used > 0 && word[used] == '\0' ? value : NAN;
}

/* ---- sections ---------------------------------------------------------------------------------
 */

static void finish_section(struct bench *b)
{
    if (b->open) {
        hm__bench_section(b);
        b->sections++;
    }
    b->open = false;
    b->s.rows = 0;
}

static void begin_section(struct bench *b, enum bench_kind kind)
{
    struct bench_row *rows = b->s.row;
    size_t room = b->s.room;

    finish_section(b);
    b->s = (struct bench_section){.kind = kind, .row = rows, .room = room, .average = NAN};
    b->s.waiting = 0;
    b->s.processes = NAN;
    b->open = true;
}

static struct bench_row *add_row(struct bench *b)
{
    struct bench_section *s = &b->s;

    if (s->rows >= ROWS_MAX)
        return NULL;
    struct bench_row *more = hm__grow(s->row, s->rows, &s->room, sizeof(*more));
    if (!more) {
        b->im->failed = true;
        return NULL;
    }
    s->row = more;
    s->row[s->rows] = (struct bench_row){0};
    return &s->row[s->rows++];
}

/* ---- nccl-tests -------------------------------------------------------------------------------
 */

/*
 * Reads a line of nccl-tests that describes a rank: "#  Rank  0 … on HOST device  0 [0x00] NAME".
 */
static void read_rank(struct bench *b, const struct hm_line *line)
{
    const char *on = hm__find(line->text, line->length, " on "), *end = line->text + line->length;
    const char *close = on ? hm__find(on, (size_t)(end - on), "] ") : NULL;
    char host[64];

    if (!on || !hm__find(on, (size_t)(end - on), " device "))
        return;
    size_t length = 0;
    while (on + 4 + length < end && on[4 + length] != ' ')
        length++;
    snprintf(host, sizeof(host), "%.*s", (int)(length < 63 ? length : 63), on + 4);
    size_t known = 0;
    while (known < b->s.host_count && strcmp(b->s.hosts[known], host) != 0)
        known++;
    if (known == b->s.host_count && known < BENCH_HOSTS)
        memcpy(b->s.hosts[b->s.host_count++], host, sizeof(host));
    b->s.ranks++;
    if (close) {
        size_t size = (size_t)(end - close - 2);
        while (size > 0 && close[1 + size] == ' ')
            size--;
        snprintf(b->s.device, sizeof(b->s.device), "%.*s", (int)(size < 95 ? size : 95), close + 2);
    }
}

/*
 * Reads a row of nccl-tests: size, count, type, for some collectives the operation and the root,
 * then four values for the out-of-place operation and four for the in-place operation.
 */
static bool read_nccl_row(struct bench *b, const struct words *w)
{
    double bytes = w->count >= 11 ? word_number(w->text[0]) : NAN;

    if (w->count < 11 || w->count > 13 || isnan(bytes) || isnan(word_number(w->text[1])))
        return false;
    const char(*last)[WORD] = &w->text[w->count - 8];
    for (int k = 0; k < 8; k++)
        if (k % 4 < 3 && isnan(word_number(last[k])))
            return false;
    if (!b->open || b->s.kind != BENCH_NCCL)
        begin_section(b, BENCH_NCCL);
    struct bench_row *row = add_row(b);
    if (!row)
        return false;
    row->value[0] = bytes;
    row->value[1] = word_number(w->text[1]);
    for (int k = 0; k < 6; k++)
        row->value[2 + k] = word_number(last[k / 3 * 4 + k % 3]);
    snprintf(row->type, sizeof(row->type), "%.11s", w->text[2]);
    for (int side = 0; side < 2; side++) {
        snprintf(row->wrong[side], sizeof(row->wrong[0]), "%.15s", last[4 * side + 3]);
        double wrong = word_number(row->wrong[side]);
        row->bad[side] = !isnan(wrong) && wrong > 0;
    }
    return true;
}

static bool read_nccl(struct bench *b, const struct hm_line *line)
{
    const char *name = hm__find(line->text, line->length, "# Collective test starting: ");

    if (name) {
        const char *p = name + 28, *end = line->text + line->length;
        size_t length = 0;
        while (p + length < end && p[length] != ' ')
            length++;
        if (length > 5 && memcmp(p + length - 5, "_perf", 5) == 0)
            length -= 5;
        begin_section(b, BENCH_NCCL);
        snprintf(b->s.name, sizeof(b->s.name), "%.*s", (int)(length < 60 ? length : 60), p);
        return true;
    }
    if (hm__find(line->text, line->length, "# nThread ")) {
        if (!b->open || b->s.kind != BENCH_NCCL || b->s.rows > 0 || b->s.ranks > 0)
            begin_section(b, BENCH_NCCL);
        return true;
    }
    if (hm__find(line->text, line->length, " Rank ") && b->open && b->s.kind == BENCH_NCCL) {
        read_rank(b, line);
        return true;
    }
    if (hm__find(line->text, line->length, "Avg bus bandwidth") && b->open) {
        b->s.average = hm__number_after(line->text, line->length, ":");
        return true;
    }
    return false;
}

/* ---- OSU and IMB ------------------------------------------------------------------------------
 */

/* Splits the header of a table into column names, which are separated by two or more spaces. */
static void split_header(struct bench *b, const char *p, const char *end)
{
    b->s.column_count = 0;
    while (p < end && b->s.column_count < BENCH_COLUMNS) {
        while (p < end && *p == ' ')
            p++;
        size_t length = 0;
        while (p + length < end &&
               !(p[length] == ' ' && (p + length + 1 == end || p[length + 1] == ' ')))
            length++;
        if (length == 0)
            return;
        snprintf(b->s.columns[b->s.column_count++], sizeof(b->s.columns[0]), "%.*s",
                 (int)(length < 47 ? length : 47), p);
        p += length;
    }
}

static bool read_osu(struct bench *b, const struct hm_line *line)
{
    const char *at = hm__find(line->text, line->length, "# OSU "), *end = line->text + line->length;
    const char *test = at ? hm__find(at, (size_t)(end - at), " Test v") : NULL;

    if (test) {
        const char *p = at + 6;
        size_t length = 0;
        begin_section(b, BENCH_OSU);
        while (p + length < test && p[length] != ' ')
            length++;
        snprintf(b->s.transport, sizeof(b->s.transport), "%.*s", (int)(length < 31 ? length : 31),
                 p);
        p += length + (p + length < test);
        snprintf(b->s.name, sizeof(b->s.name), "%.*s", (int)(test - p < 60 ? test - p : 60), p);
        snprintf(b->s.version, sizeof(b->s.version), "%.*s",
                 (int)(end - test - 7 < 30 ? end - test - 7 : 30), test + 7);
        return true;
    }
    if (b->open && b->s.kind == BENCH_OSU && b->s.column_count == 0 &&
        (at = hm__find(line->text, line->length, "# Size"))) {
        split_header(b, at + 2, end);
        return true;
    }
    return false;
}

static bool read_imb(struct bench *b, const struct hm_line *line)
{
    const char *end = line->text + line->length;
    const char *at = hm__find(line->text, line->length, "Intel(R) MPI Benchmarks ");

    if (at) {
        const char *p = at + 24, *comma = hm__find(p, (size_t)(end - p), ",");
        size_t length = (size_t)((comma ? comma : end) - p);
        snprintf(b->imb_version, sizeof(b->imb_version), "%.*s", (int)(length < 60 ? length : 60),
                 p);
        return true;
    }
    if ((at = hm__find(line->text, line->length, "# Benchmarking "))) {
        const char *p = at + 15;
        size_t length = 0;
        begin_section(b, BENCH_IMB);
        while (p + length < end && p[length] != ' ')
            length++;
        snprintf(b->s.name, sizeof(b->s.name), "%.*s", (int)(length < 60 ? length : 60), p);
        snprintf(b->s.version, sizeof(b->s.version), "%.30s", b->imb_version);
        return true;
    }
    if (!b->open || b->s.kind != BENCH_IMB)
        return false;
    double processes = hm__number_after(line->text, line->length, "#processes =");
    if (!isnan(processes))
        b->s.processes = processes;
    if (hm__find(line->text, line->length, "additional processes waiting"))
        b->s.waiting = hm__number_after(line->text, line->length, "(");
    if ((at = hm__find(line->text, line->length, "#bytes"))) {
        struct hm_line rest = {at, (size_t)(end - at), true, false};
        struct words w;
        split_words(&rest, &w);
        b->s.column_count = 0;
        for (size_t i = 0; i < w.count && i < BENCH_COLUMNS; i++)
            memcpy(b->s.columns[b->s.column_count++], w.text[i], WORD);
    }
    return true;
}

/* Reads a row of a table; the line must have one number for each column. */
static bool read_plain_row(struct bench *b, const struct words *w)
{
    if (!b->open || b->s.kind == BENCH_NCCL || b->s.column_count == 0 ||
        w->count != b->s.column_count)
        return false;
    for (size_t i = 0; i < w->count; i++)
        if (isnan(word_number(w->text[i])))
            return false;
    struct bench_row *row = add_row(b);
    for (size_t i = 0; row && i < w->count && i < 8; i++)
        row->value[i] = word_number(w->text[i]);
    return row != NULL;
}

/* ---- reading ----------------------------------------------------------------------------------
 */

static int collectives_read(struct hm_imported *im, struct hm_err *err)
{
    struct bench *b = hm__calloc(1, sizeof(*b));
    struct hm_line line;
    double rows = 0, lines = 0;

    if (!b)
        return hm__fail_nomem(err);
    b->im = im;
    hm__json_put_text(&im->facts, "format", "collective benchmark");
    hm__json_open(&im->facts, "sections", HM_JSON_LIST | HM_JSON_LINES);
    hm__import_columns(&im->runs, "*collective,n,bytes,seconds");
    while (hm__stream_line(&im->in, &line)) {
        struct words w;
        lines++;
        if (read_nccl(b, &line) || read_osu(b, &line) || read_imb(b, &line)) {
            split_words(&line, &w);
            rows += read_plain_row(b, &w);
            continue;
        }
        split_words(&line, &w);
        if (line.whole || w.count >= 11)
            rows += read_nccl_row(b, &w) || read_plain_row(b, &w);
        if (!line.whole && w.count > 0)
            /*
             * A last line without a line break may have been truncated within a number, so the
             * import is marked as partial.
             */
            hm__import_cut(im);
    }
    finish_section(b);
    hm__json_close(&im->facts);
    hm__import_took(im, rows, "rows of %zu table%s", b->sections, b->sections == 1 ? "" : "s");
    hm__import_left(im, b->wrong, "results that the test found wrong");
    hm__import_left(im, lines - rows, "other lines");
    hm__free(b->s.row);
    hm__free(b);
    return 0;
}

static int collectives_recognise(const struct hm_import_head *head)
{
    static const char *const marks[] = {"# nThread ", "# OSU ", "Intel(R) MPI Benchmarks",
                                        "# Benchmarking "};

    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
        if (hm__find(head->text, head->length, marks[i]))
            return 90;
    return hm__find(head->text, head->length, "busbw") &&
                   hm__find(head->text, head->length, "algbw")
               ? 85
               : 0;
}

const struct hm_importer hm__importer_collectives = {
    .name = "collectives",
    .title = "benchmark of communication (nccl-tests, OSU, IMB)",
    .becomes = "a cluster with measured latency and bandwidth",
    .recognise = collectives_recognise,
    .read = collectives_read,
};
