/*
 * Tests the limits of tables and data files: the last value that is allowed and the first that is
 * not, files of one row, without a last newline, with CRLF or a byte order mark, and the line that
 * an error names.
 */
#include "testing.h"

#include <unistd.h>

#include "budget.h"
#include "csv.h"
#include "data.h"
#include "howmany_advise.h"
#include "howmany_fit.h"
#include "memory.h"
#include "run_names.h"
#include "run_text.h"
#include "source.h"
#include "text.h"
#include "uai.h"

struct limit {
    const char *text;
    int code; /* Expected error code; 0: the text is valid. */
    const char *field;
    int line;
};

static void check_limits(const struct limit *limits, size_t count,
                         int (*parse)(const char *, struct hm_err *))
{
    size_t wrong = 0;

    for (size_t i = 0; i < count; i++) {
        struct hm_err err = {0};
        int rc = parse(limits[i].text, &err);
        if (rc != limits[i].code || strcmp(err.field, limits[i].field) != 0 ||
            err.line != limits[i].line) {
            print_message("case %zu:\n%s\n%d, field '%s', line %d: %s\n", i, limits[i].text, rc,
                          err.field, err.line, err.message);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

#define CHECK(limits, parse) check_limits(limits, sizeof(limits) / sizeof(limits[0]), parse)

static void write_file(char path[64], const char *text, size_t length)
{
    snprintf(path, 64, "/tmp/hm-limits-XXXXXX");
    int file = mkstemp(path);

    assert_true(file >= 0);
    assert_int_equal(write(file, text, length), length);
    close(file);
}

/* ---- CSV ------------------------------------------------------------------------------------ */

static int try_csv(const char *text, struct hm_err *err)
{
    struct hm_csv *csv = NULL;
    char **fields;
    int rc = hm__csv_parse(text, strlen(text), "t.csv", 0, &csv, err);

    while (rc >= 0 && (rc = hm__csv_next(csv, &fields, err)) == 1)
        ;
    hm__csv_close(csv);
    return rc;
}

static void csv_lines_are_counted(void **state)
{
    static const struct limit limits[] = {
        {"a\n", 0, "", 0},
        {"a", 0, "", 0},
        {"a\n\n", 0, "", 0}, /* In a table of one column, an empty line is an empty field. */
        {"\n", HM_E_SYNTAX, "", 1},
        {"# only a comment\n", HM_E_SYNTAX, "", 2},
        {"# a comment\na,b\n1,2\n# another, with a comma\n3\n", HM_E_SYNTAX, "", 5},
        {"#a,b\n1,2\n", 0, "", 0},
        {"a,b\r\n1,2\r\n3,4,5\r\n", HM_E_SYNTAX, "", 3},
        {"a,b\n1,\"2\n2\n2\"\n3\n", HM_E_SYNTAX, "", 5},
        {"a,b\n1,\"2\n", HM_E_SYNTAX, "", 2},
        {"a,b\n1,2\"2\n", 0, "", 0},
        {"a,b\n1,\"2\"\"\"\n", 0, "", 0},
        {"a,b\n\n\n1,2\n\n3\n", HM_E_SYNTAX, "", 6},
        {"\xef\xbb\xbf"
         "a,b\n1,2\n",
         0, "", 0},
        {"\xef\xbb\xbf\"a,b\",c\n1,2\n", 0, "", 0},
        {"\xef\xbb\xbf# a comment\na,b\n1\n", HM_E_SYNTAX, "", 3},
        {"a,b,a\n", HM_E_CONFLICT, "", 1},
    };

    (void)state;
    CHECK(limits, try_csv);
}

/* A byte order mark must not be part of the first name; a CR without LF is part of a field. */
static void csv_fields_are_exact(void **state)
{
    static const char text[] = "\xef\xbb\xbf"
                               "a,b\r\n1\r2,\"\"\r\n";
    struct hm_csv *csv = NULL;
    char **fields;

    (void)state;
    assert_int_equal(hm__csv_parse(text, strlen(text), "t.csv", 7, &csv, NULL), 0);
    assert_int_equal(hm__csv_line(csv), 8);
    assert_string_equal(hm__csv_name(csv, 0), "a");
    assert_string_equal(hm__csv_name(csv, 1), "b");
    assert_null(hm__csv_name(csv, 2));
    assert_int_equal(hm__csv_next(csv, &fields, NULL), 1);
    assert_int_equal(hm__csv_line(csv), 9);
    assert_string_equal(fields[0], "1\r2");
    assert_string_equal(fields[1], "");
    assert_int_equal(hm__csv_next(csv, &fields, NULL), 0);
    hm__csv_close(csv);
}

static void csv_has_4096_columns_and_rows_of_1_mib(void **state)
{
    char *text = malloc(2 * HM_CSV_ROW_BYTES + 64);

    (void)state;
    for (size_t extra = 0; extra < 2; extra++) {
        struct hm_err err = {0};
        size_t length = 0;
        for (size_t i = 0; i < HM_CSV_COLUMNS + extra; i++)
            length += (size_t)snprintf(text + length, 16, "%sc%zu", i ? "," : "", i);
        assert_int_equal(try_csv(text, &err), extra ? HM_E_LIMIT : 0);
        assert_int_equal(err.line, extra);
    }
    for (size_t extra = 0; extra < 2; extra++) {
        struct hm_err err = {0};
        memcpy(text, "a\n\"", 3);
        memset(text + 3, 'x', HM_CSV_ROW_BYTES + extra);
        memcpy(text + 3 + HM_CSV_ROW_BYTES + extra, "\"\n", 3);
        assert_int_equal(try_csv(text, &err), extra ? HM_E_LIMIT : 0);
        assert_int_equal(err.line, extra ? 2 : 0);
    }
    free(text);
}

/* ---- runs ----------------------------------------------------------------------------------- */

static int try_runs(const char *text, struct hm_err *err)
{
    struct hm_runs *runs = NULL;
    int rc = hm_runs_parse(text, strlen(text), "r.csv", &runs, err);

    hm_runs_free(runs);
    return rc;
}

static void columns_of_runs_have_ranges(void **state)
{
    static const struct limit limits[] = {
        {"n,seconds\n1,1e-300\n", 0, "", 0},
        {"n,seconds\n1,0\n", HM_E_RANGE, "seconds", 2},
        {"n,seconds\n0.99,1\n", HM_E_RANGE, "n", 2},
        {"n,seconds\n1,1\n0,1\n", HM_E_RANGE, "n", 3},
        {"n,nodes,seconds\n1,0,1\n", HM_E_RANGE, "nodes", 2},
        {"n,nodes,seconds\n1,1,1\n", 0, "", 0},
        {"n,size,seconds\n1,0,1\n", HM_E_RANGE, "size", 2},
        {"n,batch,seconds\n1,0,1\n", HM_E_RANGE, "batch", 2},
        {"n,latency,seconds\n1,0,1\n", 0, "", 0},
        {"n,latency,seconds\n1,-1,1\n", HM_E_RANGE, "latency", 2},
        {"n,bandwidth,seconds\n1,0,1\n", HM_E_RANGE, "bandwidth", 2},
        {"n,total,iterations\n1,8,0\n", HM_E_RANGE, "iterations", 2},
        {"n,total,iterations\n1,0,8\n", HM_E_RANGE, "total", 2},
        {"n,speedup\n1,0\n", HM_E_RANGE, "speedup", 2},
        {"n,loss,seconds\n1,-1e9,1\n", 0, "", 0},
        {"n,loss,seconds\n1,nan,1\n", 0, "", 0},
        {"n,loss,seconds\n1,bad,1\n", HM_E_TYPE, "loss", 2},
        {"n,seconds\n1,1e999\n", HM_E_RANGE, "seconds", 2},
        {"n,seconds\n1,\n", HM_E_MISSING, "seconds", 2},
        {"n,seconds,status\n1,,failed\n", 0, "", 0},
        {"n,seconds,status\n1,,OK\n", HM_E_MISSING, "seconds", 2},
        {"n,seconds\n,1\n", HM_E_MISSING, "n", 2},
        {"n,seconds", HM_E_MISSING, "", 0},
        {"n,seconds\n1,2", 0, "", 0},
        {"n,seconds\r\n1,2\r\n", 0, "", 0},
        {"\xef\xbb\xbfn,seconds\n1,2\n", 0, "", 0},
        {"\xef\xbb\xbf\"seconds\",\"n\"\n1,2\n", 0, "", 0},
        {"\xef\xbb\xbf# note\n# n,seconds\n1,2\n2,0\n", HM_E_RANGE, "seconds", 4},
        {"\xef\xbb\xbf{\"n\":1,\"seconds\":2}\n{\"n\":0,\"seconds\":2}\n", HM_E_RANGE, "n", 2},
        {"# note\n# n,seconds\n1,2\n2,0\n", HM_E_RANGE, "seconds", 4},
        {"# note\nn,seconds\n1,2\n2,0\n", HM_E_RANGE, "seconds", 4},
        {"seconds\n1\n", HM_E_MISSING, "", 2},
        {"n\n1\n", HM_E_MISSING, "", 2},
        {"{\"n\":1,\"seconds\":2}", 0, "", 0},
        {"\n\n{\"n\":1,\"seconds\":2}\n\n{\"n\":0,\"seconds\":2}\n", HM_E_RANGE, "n", 5},
        {"{\"n\":1,\"seconds\":\"2 ms\"}\n{\"n\":1,\"seconds\":2}\n", HM_E_UNIT, "seconds", 2},
        {" [{\"n\":1}]", HM_E_SYNTAX, "", 1},
        {"", HM_E_SYNTAX, "", 1},
        {" n , seconds \n 1 , 2 \n 0 , 2 \n", HM_E_RANGE, "n", 3},
        {"n,seconds,x\n1,2,1 ms\n1,2,2 ms\n", 0, "", 0},
        {"n,seconds,x\n1,2,1 ms\n1,2,2\n", HM_E_UNIT, "x", 3},
        {"n,seconds,x\n1,2,1\n1,2,word\n", 0, "", 0},
    };

    (void)state;
    CHECK(limits, try_runs);
}

/* The seconds of a run are those given, total / iterations, or 1 / speedup. */
static void seconds_are_derived(void **state)
{
    static const struct {
        const char *text;
        double seconds;
        bool relative;
        size_t failed;
    } rows[] = {
        {"n,time (ms)\n1,20\n", 0.02, false, 0},
        {"n,total,iterations\n1,20,8\n", 2.5, false, 0},
        {"n,total\n1,20\n", 20, false, 0},
        {"n,speedup\n4,4\n", 0.25, true, 0},
        {"n,total,speedup\n4,20,4\n", 20, false, 0},
        {"n,seconds,total\n1,3,20\n", 3, false, 0},
        {"n,seconds,status\n1,3,killed\n", NAN, false, 1},
        {"n,seconds,status\n1,3,done\n", 3, false, 0},
        {"n,latency_ms,seconds\n1,5,3\n", 3, false, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct hm_runs *runs = NULL;
        assert_int_equal(hm_runs_parse(rows[i].text, strlen(rows[i].text), "r.csv", &runs, NULL),
                         0);
        assert_near(hm_runs_column(runs, "seconds")->values[0], rows[i].seconds, 1e-15);
        assert_int_equal(runs->relative, rows[i].relative);
        assert_int_equal(runs->failed, rows[i].failed);
        assert_int_equal(runs->count, 1);
        assert_int_equal(runs->lines[0], 2);
        hm_runs_free(runs);
    }
}

/* 256 rows fill the first allocation; row 257 and a column that appears late need another. */
static void tables_grow(void **state)
{
    struct hm_text text = {0};
    struct hm_runs *runs = NULL;

    (void)state;
    for (int i = 1; i <= 600; i++)
        hm__text_addf(&text,
                      i < 300 ? "{\"n\":%d,\"seconds\":2}\n"
                              : "{\"n\":%d,\"seconds\":2,\"gpu\":\"a\",\"rate\":3}\n",
                      i);
    assert_int_equal(hm_runs_parse(text.data, text.length, "r", &runs, NULL), 0);
    assert_int_equal(runs->count, 600);
    const struct hm_column *rate = hm_runs_column(runs, "rate"), *n = hm_runs_column(runs, "n");
    const struct hm_column *gpu = hm_runs_column(runs, "gpu");
    for (size_t i = 0; i < 600; i++) {
        assert_true(n->values[i] == (double)i + 1);
        assert_int_equal(runs->lines[i], i + 1);
        assert_int_equal(isnan(rate->values[i]), i < 299);
        assert_int_equal(gpu->labels[i] == NULL, i < 299);
    }
    hm_runs_free(runs);
    hm__text_release(&text);
}

static void names_of_columns_are_resolved(void **state)
{
    static const struct {
        const char *written, *name;
        double factor;
    } rows[] = {
        {"workers", "n", 0},
        {" # Cores ", "n", 0},
        {"time (ms)", "seconds", 1e-3},
        {"time [us]", "seconds", 1e-6},
        {"latency_ms", "latency", 1e-3},
        {"n_ms", "n_ms", 0},
        {"_ms", "_ms", 0},
        {"(ms)", "(ms)", 0},
        {"time (foo)", "time (foo)", 0},
        {"batch size", "batch", 0},
        {"rate_ms", "rate_ms", 0},
        {"nn", "nn", 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct hm_run_name name = hm__run_name_resolve(rows[i].written);
        assert_string_equal(name.name, rows[i].name);
        assert_near(name.factor, rows[i].factor, 1e-12);
    }
    char blanks[] = " \ta b\t ", all_blank[] = "  ", plain[] = "x";
    assert_string_equal(hm__run_trim(blanks), "a b");
    assert_string_equal(hm__run_trim(all_blank), "");
    assert_string_equal(hm__run_trim(plain), "x");
    assert_int_equal(hm__run_word("NaN"), HM_RUN_WORD_DIVERGED);
    assert_int_equal(hm__run_word("+inf"), HM_RUN_WORD_DIVERGED);
    assert_int_equal(hm__run_word("NA"), HM_RUN_WORD_MISSING);
    assert_int_equal(hm__run_word("none"), HM_RUN_WORD_MISSING);
    assert_int_equal(hm__run_word("nano"), HM_RUN_WORD_NO);
}

/* ---- traces --------------------------------------------------------------------------------- */

static int try_traces(const char *text, struct hm_err *err)
{
    struct hm_traces *traces = NULL;
    int rc = hm_traces_parse(text, strlen(text), "t.csv", NULL, &traces, err);

    hm_traces_free(traces);
    return rc;
}

static void columns_of_traces_have_ranges(void **state)
{
    static const struct limit limits[] = {
        {"m,iteration,loss\n1,1,2", 0, "", 0},
        {"\xef\xbb\xbfm,iteration,loss\r\n1,1,2\r\n", 0, "", 0},
        {"\xef\xbb\xbf# note\n\"m\",iteration,loss\n1.5,1,2\n", HM_E_RANGE, "m", 3},
        {"m,iteration,loss\n0,1,2\n", HM_E_RANGE, "m", 2},
        {"m,iteration,loss\n1.5,1,2\n", HM_E_RANGE, "m", 2},
        {"m,iteration,loss\n1e15,1,2\n", 0, "", 0},
        {"m,iteration,loss\n2e15,1,2\n", HM_E_RANGE, "m", 2},
        {"m,iteration,loss\n1,0,2\n", HM_E_RANGE, "iteration", 2},
        {"m,iteration,loss\n1,0.5,2\n", 0, "", 0},
        {"m,iteration,seconds,loss\n1,1,0,2\n", 0, "", 0},
        {"m,iteration,seconds,loss\n1,1,-1,2\n", HM_E_RANGE, "seconds", 2},
        {"m,iteration,elapsed_s,loss\n1,1,5,2\n1,2,5,2\n", 0, "", 0},
        {"m,iteration,elapsed_s,loss\n1,1,5,2\n1,2,4.9,2\n", HM_E_RANGE, "elapsed_s", 3},
        {"m,iteration,staleness,loss\n1,1,0,2\n", 0, "", 0},
        {"m,iteration,staleness,loss\n1,1,async,2\n", 0, "", 0},
        {"m,iteration,staleness,loss\n1,1,-1,2\n", HM_E_RANGE, "staleness", 2},
        {"m,iteration,staleness,loss\n1,1,inf,2\n", HM_E_TYPE, "staleness", 2},
        {"m,iteration,loss\n,1,2\n", HM_E_MISSING, "m", 2},
        {"m,iteration,loss\n1,,2\n", HM_E_MISSING, "iteration", 2},
        {"m,iteration,loss\n1,1,\n", HM_E_MISSING, "", 1},
        {"m,iteration,loss\n", HM_E_MISSING, "", 0},
        {"", HM_E_MISSING, "", 0},
        {"m;iteration;loss\n1;1;2\n", HM_E_MISSING, "", 1},
        {"m,iteration,loss\n1,1,nan\n", HM_E_MISSING, "", 1},
        {"# note\nm,iteration,loss\n1,1,2\n1,0,2\n", HM_E_RANGE, "iteration", 4},
        {"{\"m\":1,\"iteration\":1,\"loss\":2}", 0, "", 0},
        {"{\"run\":1,\"m\":2}\n{\"iteration\":1,\"loss\":2}\n{\"summary\":1}\n{\"iteration\":2,"
         "\"loss\":1}\n",
         HM_E_MISSING, "m", 4},
        {"{\"run\":1,\"m\":2}\n\n{\"iteration\":-1,\"loss\":2}\n", HM_E_RANGE, "iteration", 3},
    };

    (void)state;
    CHECK(limits, try_traces);
}

/* ---- UAI ------------------------------------------------------------------------------------ */

static int try_uai(const char *text, struct hm_err *err)
{
    struct hm_markov *markov = NULL;
    char path[64];

    write_file(path, text, strlen(text));
    int rc = hm__markov_load(path, &markov, err);
    unlink(path);
    hm__markov_free(markov);
    return rc;
}

static void uai_sizes_have_ranges(void **state)
{
    static const struct limit limits[] = {
        {"MARKOV 1 1 0", 0, "", 0},
        {"MARKOV\n1\n0\n0\n", HM_E_RANGE, "", 3},
        {"MARKOV\n1\n4096\n0\n", 0, "", 0},
        {"MARKOV\n1\n4097\n0\n", HM_E_RANGE, "", 3},
        {"MARKOV\n0\n", HM_E_RANGE, "", 2},
        {"MARKOV\n1\n2\n1\n1 0\n2\n0.5 1\n", 0, "", 0},
        {"MARKOV\n1\n2\n1\n1 1\n2\n0.5 1\n", HM_E_RANGE, "", 5},
        {"MARKOV\n1\n2\n1\n0\n", HM_E_UNSUPPORTED, "", 5},
        {"MARKOV\n2\n2 2\n1\n3 0 1 1\n", HM_E_UNSUPPORTED, "", 5},
        {"MARKOV\n2\n2 2\n1\n2 0 0\n", HM_E_CONFLICT, "", 5},
        {"MARKOV\n1\n2\n1\n1 0\n3\n1 1 1\n", HM_E_CONFLICT, "", 6},
        {"MARKOV\n1\n2\n1\n1 0\n2\n0 0\n", HM_E_RANGE, "", 6},
        {"MARKOV\n1\n2\n1\n1 0\n2\n-0 1\n", 0, "", 0},
        {"MARKOV\n1\n2\n1\n1 0\n2\n-1 1\n", HM_E_RANGE, "", 7},
        {"MARKOV\n1\n2\n1\n1 0\n2\n1\n", HM_E_MISSING, "", 8},
        {"MARKOV\n1\n2\n1\n1 0\n2\n1 1\n\n7", HM_E_SYNTAX, "", 9},
        {"MARKOV\r\n1\r\n2\r\n0\r\n", 0, "", 0},
        {"markov 1 1 0", HM_E_SYNTAX, "", 1},
        {"MARKOV\n0000000000000000000000000000000000000000000000000000000000000001\n1\n0\n",
         HM_E_SYNTAX, "", 2}, /* This number has 64 characters, one too many. */
        {"MARKOV\n000000000000000000000000000000000000000000000000000000000000001\n1\n0\n", 0, "",
         0}, /* This number has 63 characters. */
    };

    (void)state;
    CHECK(limits, try_uai);
}

/* ---- graphs --------------------------------------------------------------------------------- */

static int try_graph(const char *text, enum hm_graph_format format, bool degrees,
                     struct hm_err *err)
{
    struct hm_graph *graph = NULL;
    char path[64];

    write_file(path, text, strlen(text));
    int rc = hm_graph_load(path, format, degrees, &graph, err);
    unlink(path);
    hm_graph_free(graph);
    return rc;
}

static int try_edges(const char *text, struct hm_err *err)
{
    struct hm_err other = {0};
    int rc = try_graph(text, HM_GRAPH_EDGES, false, err);

    assert_int_equal(try_graph(text, HM_GRAPH_EDGES, true, &other), rc);
    return rc;
}

static int try_degrees(const char *text, struct hm_err *err)
{
    return try_graph(text, HM_GRAPH_DEGREES, false, err);
}

static int try_metis(const char *text, struct hm_err *err)
{
    return try_graph(text, HM_GRAPH_METIS, false, err);
}

static void graph_files_have_ranges(void **state)
{
    static const struct limit edges[] = {
        {"1 2", 0, "", 0},
        {"1\t2\r\n", 0, "", 0},
        {"1,2\n", 0, "", 0},
        {"# c\n% c\n\n1 2\n", 0, "", 0},
        {"0 9223372036854775807\n", 0, "", 0},
        {"0 9223372036854775808\n", HM_E_RANGE, "", 1},
        {"1 2\n3\n", HM_E_SYNTAX, "", 2},
        {"1 2\n3 4 5\n", HM_E_SYNTAX, "", 2},
        {"1 2\n\n3 x\n", HM_E_SYNTAX, "", 3},
        {"1 2 # c\n", HM_E_SYNTAX, "", 1},
        {"1 1\n", HM_E_MISSING, "", 0},
        {"", HM_E_MISSING, "", 0},
    };
    static const struct limit degrees[] = {
        {"1 2\n", 0, "", 0},
        {"1 2", 0, "", 0},
        {"0 5\n1 2\n", 0, "", 0},
        {"1 3\n", HM_E_RANGE, "", 0},
        {"2 2\n", HM_E_RANGE, "", 0},
        {"2 3\n", 0, "", 0},
        {"1 2\n1\n", HM_E_SYNTAX, "", 2},
        {"0 5\n", HM_E_MISSING, "", 0},
        {"2 4503599627370495\n", 0, "", 0},
        {"2 4503599627370496\n", HM_E_LIMIT, "", 0},
    };
    static const struct limit metis[] = {
        {"2 1\n2\n1", 0, "", 0},
        {"% c\n2 1\n% c\n2\n1\n% c\n", 0, "", 0},
        {"2 1\n2\n", HM_E_SYNTAX, "", 3},
        {"2 1\n2\n1\n1\n", HM_E_SYNTAX, "", 4},
        {"2 1\n2\n1\n\n\n", 0, "", 0},
        {"2 1\n0\n1\n", HM_E_RANGE, "", 2},
        {"2 1\n3\n1\n", HM_E_RANGE, "", 2},
        {"0 0\n", HM_E_RANGE, "", 1},
        {"2\n", HM_E_SYNTAX, "", 2},
        {"2 1 0 1 1\n2\n1\n", HM_E_SYNTAX, "", 2},
        {"2 1 111 1\n1 1 2 1\n1 1 1 1\n", 0, "", 0},
        {"2 1 011 1000\n2\n1\n", HM_E_SYNTAX, "", 2},
        {"2 1 011 1001\n2\n1\n", HM_E_RANGE, "", 1},
        {"2 1 200\n2\n1\n", HM_E_RANGE, "", 1},
        {"2 1 020\n2\n1\n", HM_E_RANGE, "", 1},
        {"2 1 002\n2\n1\n", HM_E_RANGE, "", 1},
        {"2 1\n42949672960\n1\n", HM_E_RANGE, "", 2},
    };

    (void)state;
    CHECK(edges, try_edges);
    CHECK(degrees, try_degrees);
    CHECK(metis, try_metis);
}

/* ---- training data -------------------------------------------------------------------------- */

static int try_libsvm(const char *text, struct hm_err *err)
{
    static struct hm_data_shape shape;
    struct hm_data_spec spec = {0};
    char path[64];

    write_file(path, text, strlen(text));
    int rc = hm__data_parse(path, false, 1, &spec, err);
    if (rc == 0)
        rc = hm__data_scan(&spec, &shape, err);
    unlink(path);
    return rc;
}

static void libsvm_files_have_ranges(void **state)
{
    static const struct limit limits[] = {
        {"1 1:2", 0, "", 0},
        {"1 1:2\r\n", 0, "", 0},
        {"# c\n\n1 1:2 # c\n", 0, "", 0},
        {"1 0:2\n", HM_E_RANGE, "", 1},
        {"1 2147483647:2\n", 0, "", 0},
        {"1 2147483648:2\n", HM_E_RANGE, "", 1},
        {"1 1:2\n\n1 2:2 2:3\n", HM_E_CONFLICT, "", 3},
        {"1 2:2 1:3\n", HM_E_SYNTAX, "", 1},
        {"1 1:inf\n", HM_E_TYPE, "", 1},
        {"1 1:\n", HM_E_TYPE, "", 1},
        {"1 1\n", HM_E_SYNTAX, "", 1},
        {"x 1:1\n", HM_E_TYPE, "", 1},
        {"1\n", HM_E_MISSING, "", 0},
        {"\n", HM_E_MISSING, "", 0},
    };

    (void)state;
    CHECK(limits, try_libsvm);
}

static int try_recipe(const char *text, struct hm_err *err)
{
    struct hm_data_spec spec = {0};

    return hm__data_parse(text, false, 1, &spec, err);
}

static void recipes_have_ranges(void **state)
{
    static const struct limit limits[] = {
        {"dense:1x1", 0, "", 0},
        {"dense:0x1", HM_E_RANGE, "", 0},
        {"dense:1x0", HM_E_RANGE, "", 0},
        {"dense:1.5x1", HM_E_RANGE, "", 0},
        {"dense:1000000000000x100000000", 0, "", 0},
        {"dense:1000000000001x1", HM_E_RANGE, "", 0},
        {"dense:1x100000001", HM_E_RANGE, "", 0},
        {"dense:5", HM_E_SYNTAX, "", 0},
        {"dense:", HM_E_SYNTAX, "", 0},
        {"sparse:5x5:1", 0, "", 0},
        {"sparse:5x5:0", HM_E_RANGE, "", 0},
        {"sparse:5x5:1.1", HM_E_RANGE, "", 0},
        {"sparse:5x5:", HM_E_SYNTAX, "", 0},
        {"digits:1", 0, "", 0},
        {"digits:1:1", HM_E_SYNTAX, "", 0},
        {"digit:1", HM_E_IO, "", 0},
    };

    (void)state;
    CHECK(limits, try_recipe);
}

/* Up to 1024 labels must be stored, in order; with 1025 labels they are not counted. */
static void labels_are_counted_up_to_1024(void **state)
{
    static struct hm_data_shape shape;

    (void)state;
    for (size_t extra = 0; extra < 2; extra++) {
        struct hm_text text = {0};
        struct hm_data_spec spec = {0};
        char path[64];
        for (size_t i = HM_DATA_CLASSES + extra; i-- > 0;)
            hm__text_addf(&text, "%zu 1:1\n%zu 2:1 3:0\n", i, i);
        write_file(path, text.data, text.length);
        assert_int_equal(hm__data_parse(path, false, 1, &spec, NULL), 0);
        assert_int_equal(hm__data_scan(&spec, &shape, NULL), 0);
        unlink(path);
        hm__text_release(&text);
        assert_int_equal(shape.classes, extra ? 0 : HM_DATA_CLASSES);
        assert_true(shape.rows == 2.0 * (double)(HM_DATA_CLASSES + extra));
        assert_true(shape.entries == shape.rows && shape.largest_entries == 1);
        assert_true(shape.features == 3);
        if (extra == 0) {
            assert_true(shape.labels[0] == 0 && shape.labels[1023] == 1023);
            assert_int_equal(shape.lines[1023], 1);
            assert_int_equal(shape.lines[0], 2047);
        }
    }
}

/* A gzip file that is cut short must be an error in every reader, each with its own code. */
static void truncated_files_are_refused(void **state)
{
    /* The header of a gzip file and the first byte of its data, from which nothing is decoded. */
    static const unsigned char cut[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0x33};
    const char *zlib = getenv("HM_ZLIB");
    struct hm_graph *graph = NULL;
    struct hm_markov *markov = NULL;
    struct hm_csv *csv = NULL;
    struct hm_runs *runs = NULL;
    struct hm_err err = {0};
    char path[64];

    (void)state;
    if (zlib && strcmp(zlib, "0") == 0)
        skip();
    write_file(path, (const char *)cut, sizeof(cut));
    assert_int_equal(hm_graph_load(path, HM_GRAPH_EDGES, false, &graph, &err), HM_E_IO);
    assert_string_equal(err.message, "the compressed file is cut short");
    assert_int_equal(hm_graph_load(path, HM_GRAPH_EDGES, true, &graph, NULL), HM_E_IO);
    assert_int_equal(hm_graph_load(path, HM_GRAPH_METIS, false, &graph, NULL), HM_E_IO);
    assert_int_equal(hm_graph_load(path, HM_GRAPH_DEGREES, false, &graph, NULL), HM_E_IO);
    assert_int_equal(hm__markov_load(path, &markov, NULL), HM_E_IO);
    assert_int_equal(hm__csv_open(path, &csv, NULL), HM_E_IO);
    assert_int_equal(hm_runs_load(path, &runs, NULL), HM_E_IO);
    unlink(path);
}

/* The byte reader must return every byte once, accept a byte back, and return the end of the file
 * repeatedly. */
static void bytes_are_read_in_order(void **state)
{
    struct hm_bytes bytes;
    struct hm_err err = {0};
    char path[64];

    (void)state;
    write_file(path,
               "ab\xff"
               "de",
               5);
    assert_int_equal(hm__bytes_open(&bytes, path, 2, &err), 0);
    unlink(path);
    assert_int_equal(hm__bytes_next(&bytes), 'a');
    assert_int_equal(hm__bytes_next(&bytes), 'b');
    bytes.at--;
    assert_int_equal(hm__bytes_next(&bytes), 'b');
    assert_int_equal(hm__bytes_next(&bytes), 0xff);
    assert_int_equal(hm__bytes_next(&bytes), 'd');
    assert_int_equal(hm__bytes_next(&bytes), 'e');
    assert_int_equal(hm__bytes_next(&bytes), -1);
    assert_int_equal(hm__bytes_next(&bytes), -1);
    hm__bytes_close(&bytes);
    assert_int_equal(hm__bytes_open(&bytes, "/no/such/file", 2, &err), HM_E_IO);
    assert_int_equal(hm__bytes_open(&bytes, "/", 2, NULL), 0);
    assert_int_equal(hm__bytes_next(&bytes), HM_E_IO - 1);
    hm__bytes_close(&bytes);
}

/* Appends lines of JSON: one with many columns, and lines with two columns before and after it. */
static char *sparse_table(int before, int columns, int after)
{
    struct hm_text text = {0};

    for (int i = 0; i < before; i++)
        hm__text_add(&text, "{\"n\": 1, \"seconds\": 2}\n");
    hm__text_add(&text, "{\"n\": 2, \"seconds\": 1");
    for (int i = 0; i < columns; i++)
        hm__text_addf(&text, ", \"c%d\": %s", i, i % 2 ? "1" : "null");
    hm__text_add(&text, "}\n");
    for (int i = 0; i < after; i++)
        hm__text_add(&text, "{\"n\": 1, \"seconds\": 2}\n");
    assert_false(text.failed);
    return text.data;
}

/* A table of JSON lines in which nearly all cells are empty is refused before it takes memory for
 * them, wherever the line with many columns is. */
static void sparse_tables_are_refused(void **state)
{
    static const int lines[][2] = {{0, 20000}, {20000, 0}};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct hm_budget budget = {.bytes = 256000000};
        struct hm_runs *runs = NULL;
        struct hm_err err = {0};
        char *text = sparse_table(lines[i][0], 4000, lines[i][1]);
        hm__budget_enter(&budget);
        assert_int_equal(hm_runs_parse(text, strlen(text), "t.jsonl", &runs, &err), HM_E_LIMIT);
        hm__budget_leave(&budget);
        assert_non_null(strstr(err.message, "too sparse"));
        assert_non_null(strstr(err.hint, "empty cells"));
        hm__free(text);
        text = sparse_table(lines[i][0], 400, lines[i][1]);
        assert_int_equal(hm_runs_parse(text, strlen(text), "t.jsonl", &runs, NULL), 0);
        assert_int_equal(runs->count, 20001);
        hm_runs_free(runs);
        hm__free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_lines_are_counted),
        cmocka_unit_test(csv_fields_are_exact),
        cmocka_unit_test(csv_has_4096_columns_and_rows_of_1_mib),
        cmocka_unit_test(columns_of_runs_have_ranges),
        cmocka_unit_test(seconds_are_derived),
        cmocka_unit_test(tables_grow),
        cmocka_unit_test(sparse_tables_are_refused),
        cmocka_unit_test(names_of_columns_are_resolved),
        cmocka_unit_test(columns_of_traces_have_ranges),
        cmocka_unit_test(uai_sizes_have_ranges),
        cmocka_unit_test(graph_files_have_ranges),
        cmocka_unit_test(libsvm_files_have_ranges),
        cmocka_unit_test(recipes_have_ranges),
        cmocka_unit_test(labels_are_counted_up_to_1024),
        cmocka_unit_test(truncated_files_are_refused),
        cmocka_unit_test(bytes_are_read_in_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
