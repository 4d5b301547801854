/*
 * Boundaries of the readers of tables and graphs: hints of errors, first and last entries, arrays
 * that must grow, and notes on what a file lacks.
 */
#include "testing.h"

#include <unistd.h>

#include "howmany_advise.h"
#include "uai.h"

/* ---- runs ------------------------------------------------------------------------------------ */

/* The table is refused with this message and hint. */
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

/* A table whose columns are separated by something else looks like one column. */
static void missing_columns_have_hints(void **state)
{
    static const char times[] = "give seconds of one iteration, or total and iterations, or "
                                "speedup";

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

/* A key `time` may mean several things; the note says so wherever the key is in the line. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_columns_have_hints),
        cmocka_unit_test(ambiguous_times_are_noted),
        cmocka_unit_test(long_chains_are_read),
    };
    return cmocka_run_group_tests_name("edges_inputs", tests, NULL, NULL);
}
