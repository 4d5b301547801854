/*
 * Tests boundaries of the readers of tables and graphs: hints of errors, first and last entries,
 * arrays that must grow, and notes on what a file lacks.
 */
#include "testing.h"

#include <unistd.h>

#include "data.h"
#include "howmany_advise.h"
#include "memory.h"
#include "readers.h"
#include "uai.h"
#include "value.h"

/* ---- runs ------------------------------------------------------------------------------------ */

/* Checks that the table is refused with this message and hint. */
static void runs_fail(const char *text, const char *message, const char *hint)
{
    struct hm_runs *runs = NULL;
    struct hm_err err = {0};

    assert_true(hm_runs_parse(text, strlen(text), "runs.csv", &runs, &err) < 0);
    if (!strstr(err.message, message))
        fail_msg("'%s' says nothing of '%s'", err.message, message);
    assert_string_equal(err.hint, hint);
    assert_null(runs);
}

/* A table whose columns are not separated by commas looks as if it had one column. */
static void missing_columns_have_hints(void **state)
{
    static const char times[] = "give seconds of one iteration, or total and iterations, or a "
                                "rate such as samples_per_s, or speedup";

    (void)state;
    runs_fail("n;seconds\n1;2\n", "no column 'n'",
              "columns are separated by commas; n is the number of workers of a run");
    runs_fail("size,seconds\n1,2\n", "no column 'n'", "n: the number of workers of a run");
    runs_fail("n\n1\n", "no column 'seconds'", times);
    runs_fail("n,size\n1,2\n", "no column 'seconds'", times);
    runs_fail("n,seconds\n", "no runs",
              "write one line for each run, below a header such as n,size,seconds");
}

/* ---- traces ---------------------------------------------------------------------------------- */

/* A key `time` may have several meanings; the note must say so wherever the key is in the line. */
static void ambiguous_times_are_noted(void **state)
{
    static const char *const lines[] = {
        "{\"m\":1,\"iteration\":1,\"time\":3,\"loss\":9}\n{\"m\":1,\"iteration\":2,\"loss\":8}\n",
        "{\"time\":3,\"m\":1,\"iteration\":1,\"loss\":9}\n{\"m\":1,\"iteration\":2,\"loss\":8}\n",
    };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct hm_traces *traces = NULL;
        struct hm_err err = {0};
        if (hm_traces_parse(lines[i], strlen(lines[i]), "t.jsonl", NULL, &traces, &err))
            fail_msg("%s", err.message);
        assert_int_equal(traces->note_count, 1);
        assert_non_null(strstr(traces->notes[0], "'time' is not used"));
        assert_true(isnan(traces->traces[0].seconds[0]));
        hm_traces_free(traces);
    }
}

/* Names with control characters are refused, because a terminal would interpret them. */
static void names_have_no_control_characters(void **state)
{
    static const char text[] = "algorithm,m,iteration,loss\ng\x1b[d\x7f,1,1,9\ng\x1b[d\x7f,1,2,8\n";
    struct hm_traces *traces = NULL;
    struct hm_err err = {0};

    (void)state;
    if (hm_traces_parse(text, strlen(text), "t.csv", NULL, &traces, &err))
        fail_msg("%s", err.message);
    assert_string_equal(traces->traces[0].algorithm, "g?[d?");
    hm_traces_free(traces);
}

/* ---- UAI ------------------------------------------------------------------------------------- */

/*
 * A chain of binary variables whose variable i has the factor (1, 1/(i + 2)), and whose edges from
 * i to i + 1 have the table (1, 0.5, 0.25, 1/(i + 2)). Every array must grow several times.
 */
static void long_chains_are_read(void **state)
{
    enum { LENGTH = 1100 };
    char path[] = "/tmp/hm-uai-XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    struct hm_markov *m = NULL;
    struct hm_err err = {0};

    (void)state;
    assert_non_null(file);
    fprintf(file, "MARKOV\n%d\n", LENGTH);
    for (int i = 0; i < LENGTH; i++)
        fprintf(file, "2 ");
    fprintf(file, "\n%d\n", 2 * LENGTH - 1);
    for (int i = 0; i < LENGTH; i++)
        fprintf(file, "1 %d\n", i);
    for (int i = 0; i + 1 < LENGTH; i++)
        fprintf(file, "2 %d %d\n", i, i + 1);
    for (int i = 0; i < LENGTH; i++)
        fprintf(file, "2 1 %.17g\n", 1. / (i + 2));
    for (int i = 0; i + 1 < LENGTH; i++)
        fprintf(file, "4 1 0.5 0.25 %.17g\n", 1. / (i + 2));
    fclose(file);
    if (hm__markov_load(path, &m, &err))
        fail_msg("%s", err.message);
    unlink(path);
    assert_int_equal(m->variables, LENGTH);
    assert_int_equal(m->edges, LENGTH - 1);
    assert_near(m->log_scale, 0, 0); /* The largest entry of each table is 1. */
    for (size_t i = 0; i < LENGTH; i++) {
        assert_int_equal(m->unary_places[i], 2 * i);
        assert_near(m->unary[2 * i], 1, 0);
        assert_near(m->unary[2 * i + 1], 1. / ((double)i + 2), 0);
    }
    for (size_t i = 0; i + 1 < LENGTH; i++) {
        assert_int_equal(m->ends[2 * i], i);
        assert_int_equal(m->ends[2 * i + 1], i + 1);
        assert_int_equal(m->table_places[i], 4 * i);
        assert_near(m->tables[4 * i + 1], 0.5, 0);
        assert_near(m->tables[4 * i + 2], 0.25, 0);
        assert_near(m->tables[4 * i + 3], 1. / ((double)i + 2), 0);
    }
    hm__markov_free(m);
}

/* ---- specifications -------------------------------------------------------------------------- */

/* Checks that the job is refused with this field, message and hint. */
static void job_fails(const char *text, const char *field, const char *message, const char *hint)
{
    struct hm_job *job = NULL;
    struct hm_err err = {0};

    assert_true(hm_job_parse(text, strlen(text), "job.yaml", NULL, 0, &job, &err) < 0);
    if (strcmp(err.field, field) != 0 || strcmp(err.message, message) != 0 ||
        strcmp(err.hint, hint) != 0)
        fail_msg("%s: '%s' (%s)", err.field, err.message, err.hint);
    assert_string_equal(err.source, "job.yaml");
    assert_true(err.line > 0);
    assert_null(job);
}

#define JOB "compute: 1 s\ncommunicate: none\n"

static void wrong_values_have_hints(void **state)
{
    (void)state;
    job_fails(JOB "batch: 0\n", "batch", "'0' is out of range",
              "it must be at least 1 and at most 1e+15");
    job_fails(JOB "cluster: {efficiency: 1.5}\n", "cluster.efficiency", "'1.5' is out of range",
              "it must be more than 0 and at most 1");
    job_fails(JOB "cluster: {roofline: \"yes\"}\n", "cluster.roofline",
              "'yes' is not true or false", "");
    job_fails(JOB "cluster: {roofline: 1}\n", "cluster.roofline", "'1' is not true or false", "");
    job_fails(JOB "cluster: {roofline: [true]}\n", "cluster.roofline", "a list is not allowed here",
              "write true or false");
    job_fails(JOB "bach: 3\n", "bach", "unknown key 'bach'", "did you mean batch?");
    job_fails("network: {input: 9, layers: [conv: {filters: 2, kernel: {a: 1}}]}\n",
              "network.layers.0.conv.kernel", "a map is not allowed here",
              "write a number or [vertical, horizontal]");
}

/* Tests JSON escapes with each hexadecimal digit, in upper and lower case, and a pair of
 * surrogates. */
static void escapes_are_decoded(void **state)
{
    static const struct {
        const char *text, *wanted;
    } rows[] = {{"\"\\u0041\\u00e9\\u00EF\"", "A\xc3\xa9\xc3\xaf"},
                {"\"\\uFFFD\\uabcd\\u0faF\"", "\xef\xbf\xbd\xea\xaf\x8d\xe0\xbe\xaf"},
                {"\"\\ud83D\\uDe00\"", "\xf0\x9f\x98\x80"},
                {"\"\\u07ff\\u0800\\u007f\\u0080\"", "\xdf\xbf\xe0\xa0\x80\x7f\xc2\x80"},
                {"\"\\n\\t\\r\\b\\f\\/\\\\\\\"\"", "\n\t\r\b\f/\\\""}};
    static const char *const wrong[] = {"\"\\u00g0\"", "\"\\u00G0\"", "\"\\u12\"",   "\"\\u004",
                                        "\"\\u00:0\"", "\"\\u00/0\"", "\"\\u00@0\"", "\"\\x\""};
    struct hm_arena *arena = hm__arena_new();

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct hm_value *root = NULL;
        struct hm_err err = {0};
        if (hm__json_parse(arena, rows[i].text, strlen(rows[i].text), "x", &root, &err))
            fail_msg("%s: %s", rows[i].text, err.message);
        assert_string_equal(root->text, rows[i].wanted);
    }
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct hm_value *root = NULL;
        if (hm__json_parse(arena, wrong[i], strlen(wrong[i]), "x", &root, NULL) == 0)
            fail_msg("%s is read", wrong[i]);
    }
    hm__arena_free(arena);
}

/* ---- graphs ---------------------------------------------------------------------------------- */

static struct hm_graph *load_graph(const char *text, bool degrees_only)
{
    char path[] = "/tmp/hm-edges-XXXXXX";
    int file = mkstemp(path);
    struct hm_graph *graph = NULL;
    struct hm_err err = {0};

    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
    if (hm_graph_load(path, HM_GRAPH_AUTO, degrees_only, &graph, &err))
        fail_msg("%d: %s", err.line, err.message);
    unlink(path);
    return graph;
}

/* Self-loops are not counted; repeated edges are counted only if the edges themselves are not
 * stored. */
static void degrees_are_counted(void **state)
{
    (void)state;
    for (int only = 0; only < 2; only++) {
        struct hm_graph *g = load_graph("# a comment\n1 2\n1 3\n1 4\n\n2 1\n3 3\n70000 4\n"
                                        "70000 900000\n",
                                        only);
        double sum = 0, vertices = 0;
        /* The vertices have the ids 1, 2, 3, 4, 70000 and 900000. */
        assert_near(g->vertices, 6, 0);
        assert_near(g->edges, 5 + only, 0);
        assert_near(g->lines, 7, 0);
        assert_near(g->self_loops, 1, 0);
        assert_near(g->max_degree, 3 + only, 0);
        for (size_t i = 0; i < g->degree_count; i++) {
            sum += g->degrees[i].degree * g->degrees[i].count;
            vertices += g->degrees[i].count;
            if (i > 0)
                assert_true(g->degrees[i].degree > g->degrees[i - 1].degree);
        }
        assert_near(sum, 10 + 2 * only, 0);
        assert_near(vertices, 6, 0);
        hm_graph_free(g);
    }
}

/* ---- training data --------------------------------------------------------------------------- */

/* The largest index of a feature is 2^31 - 1. */
static void the_largest_feature_is_read(void **state)
{
    static const char text[] = "1 2147483647:0.5\n-1 1:2\n";
    char path[] = "/tmp/hm-edges-XXXXXX";
    int file = mkstemp(path);
    static struct hm_data_shape shape;
    struct hm_data_spec spec;
    struct hm_err err = {0};

    (void)state;
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
    assert_int_equal(hm__data_parse(path, false, 1, &spec, &err), 0);
    if (hm__data_scan(&spec, &shape, &err))
        fail_msg("%s", err.message);
    unlink(path);
    assert_int_equal(shape.features, 2147483647);
    assert_int_equal(shape.rows, 2);
}

/* A job of a request must not name files. */
static void requests_name_no_network_files(void **state)
{
    static const char text[] = "network: config.json\nsequence: 512\nbatch: 8\n";
    const struct hm_spec spec = {
        .text = text, .length = sizeof(text) - 1, .source = "job", .closed = true};
    struct hm_err err = {0};
    struct hm_job *job = NULL;

    (void)state;
    assert_int_equal(hm__job_read(NULL, &spec, &job, &err), HM_E_NAME);
    assert_string_equal(err.field, "network");
    assert_non_null(strstr(err.message, "a request cannot name files"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_name_no_network_files),
        cmocka_unit_test(missing_columns_have_hints),
        cmocka_unit_test(ambiguous_times_are_noted),
        cmocka_unit_test(names_have_no_control_characters),
        cmocka_unit_test(long_chains_are_read),
        cmocka_unit_test(wrong_values_have_hints),
        cmocka_unit_test(escapes_are_decoded),
        cmocka_unit_test(degrees_are_counted),
        cmocka_unit_test(the_largest_feature_is_read),
    };
    return cmocka_run_group_tests_name("edges_inputs", tests, NULL, NULL);
}
