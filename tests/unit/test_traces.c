/* Tests traces in CSV and JSON lines: the trace that a row belongs to, restarts, times, divergence,
 * notes, and errors. */
#include "testing.h"

#include <unistd.h>

#include "howmany_advise.h"

static struct hm_traces *parse_as(const char *text, const struct hm_traces_settings *settings)
{
    struct hm_err err = {0};
    struct hm_traces *traces = NULL;

    if (hm_traces_parse(text, strlen(text), "t.csv", settings, &traces, &err))
        fail_msg("%s:%d: %s: %s", err.source, err.line, err.field, err.message);
    assert_true(traces->count > 0);
    return traces;
}

static struct hm_traces *parse(const char *text)
{
    return parse_as(text, NULL);
}

static void assert_error_as(const char *text, const struct hm_traces_settings *settings, int code,
                            int line, const char *field, const char *message, const char *hint)
{
    struct hm_err err = {0};
    struct hm_traces *traces = NULL;

    assert_int_equal(hm_traces_parse(text, strlen(text), "t.csv", settings, &traces, &err), code);
    assert_null(traces);
    assert_int_equal(err.code, code);
    assert_string_equal(err.message, message);
    assert_string_equal(err.hint, hint);
    assert_string_equal(err.field, field);
    assert_string_equal(err.source, "t.csv");
    assert_int_equal(err.line, line);
}

static void assert_error(const char *text, int code, int line, const char *field,
                         const char *message, const char *hint)
{
    assert_error_as(text, NULL, code, line, field, message, hint);
}

static void assert_points(const struct hm_trace *trace, size_t count, const double *iteration,
                          const double *loss)
{
    assert_int_equal(trace->count, count);
    for (size_t i = 0; i < count; i++) {
        assert_near(trace->iteration[i], iteration[i], 0);
        assert_near(trace->loss[i], loss[i], 1e-15);
    }
}

static void assert_values(const double *values, size_t count, const double *wanted)
{
    for (size_t i = 0; i < count; i++)
        assert_near(values[i], wanted[i], 1e-12);
}

#define VALUES(...) ((const double[]){__VA_ARGS__})

/* ---- the two forms -------------------------------------------------------------------------- */

/* Output of training with --data digits:500 --look-every 2, and similar output. */
static const char printed[] =
    "{\"run\":\"train\",\"version\":\"0.1.0\",\"problem\":\"svm\",\"algorithm\":\"cocoa+\","
    "\"data\":\"digits:500\",\"rows\":500,\"features\":784,\"classes\":10,\"positive\":5,"
    "\"scale\":\"unit\",\"order\":\"shuffled\",\"sparse\":true,\"lambda\":0.0001,\"passes\":1,"
    "\"best\":0.02,\"unknowns\":784,\"n\":2,\"seed\":7,\"scheme\":\"auto\",\"simulated\":false,"
    "\"mpi\":\"Open MPI v4.1.4\",\"host\":\"vm\",\"time\":\"2026-11-15T12:41:34Z\","
    "\"iteration_limit\":6}\n"
    "{\"iteration\":2,\"epoch\":2,\"seconds\":0.00012,\"compute_s\":0.00012,\"communicate_s\":0,"
    "\"elapsed_s\":0.00024,\"objective\":0.173289,\"gap\":0.161989,\"samples_per_s\":4200392.3,"
    "\"bytes\":0,\"flop\":204933}\n"
    "{\"iteration\":4,\"epoch\":4,\"seconds\":8.9e-05,\"compute_s\":8.9e-05,\"communicate_s\":0,"
    "\"elapsed_s\":0.000418,\"objective\":0.10987,\"gap\":0.092271,\"samples_per_s\":5620724.7,"
    "\"bytes\":0,\"flop\":206166}\n"
    "{\"summary\":true,\"stopped_by\":\"iterations\",\"iterations\":4,\"epochs\":4,"
    "\"elapsed_s\":0.000418,\"compute_s\":0.000418,\"communicate_s\":0,\"objective\":0.10987,"
    "\"gap\":0.092271,\"bytes\":0,\"flop\":822198,\"memory_bytes\":17960960}\n"
    "{\"run\":\"train\",\"problem\":\"svm\",\"algorithm\":\"sgd\",\"data\":\"digits:500\",\"n\":1,"
    "\"seed\":1,\"scheme\":\"auto\",\"simulated\":false}\n"
    "{\"iteration\":1,\"epoch\":0.5,\"seconds\":0.01,\"elapsed_s\":0.01,\"objective\":5}\n"
    "{\"iteration\":2,\"epoch\":1,\"seconds\":0.01,\"elapsed_s\":0.02,\"objective\":null}\n"
    "{\"summary\":true,\"stopped_by\":\"diverged\",\"iterations\":2,\"objective\":null}\n";

static void printed_traces_are_read(void **state)
{
    struct hm_traces *traces = parse(printed);
    const struct hm_trace *one = &traces->traces[0], *two = &traces->traces[1];

    (void)state;
    assert_string_equal(traces->measure, "objective");
    assert_string_equal(traces->unit, "iteration");
    assert_int_equal(traces->count, 2);
    assert_string_equal(one->algorithm, "cocoa+");
    assert_near(one->m, 2, 0);
    assert_near(one->seed, 7, 0);
    assert_string_equal(one->source, "t.csv");
    assert_int_equal(one->line, 2);
    assert_points(one, 2, VALUES(2, 4), VALUES(0.173289, 0.10987));
    assert_values(one->seconds, 2, VALUES(0.00012, 8.9e-05));
    assert_values(one->elapsed_s, 2, VALUES(0.00024, 0.000418));
    assert_near(one->best, 0.02, 0);
    assert_near(one->bound, 0.10987 - 0.092271, 1e-15);
    assert_int_equal(one->restarts, 0);
    assert_false(one->diverged);
    assert_points(two, 1, VALUES(1), VALUES(5));
    assert_near(two->best, NAN, 0);
    assert_true(two->bound == -INFINITY);
    assert_true(two->diverged);
    assert_int_equal(traces->note_count, 1);
    assert_string_equal(traces->notes[0], "sgd on 1 worker: diverged after iteration 1 (t.csv:6)");
    hm_traces_free(traces);
}

/* A recorded CSV has no best loss, and a loss that is not a number is empty. */
static const char recorded[] =
    "algorithm,problem,data,n,seed,scheme,simulated,iteration,epoch,seconds,compute_s,"
    "communicate_s,elapsed_s,objective,suboptimality,gap,change,accuracy,test_error,"
    "samples_per_s,bytes,flop\n"
    "cocoa+,svm,digits:500,1,1,auto,false,1,1,0.5,0.5,0,0.5,0.75,0.5,0.7,,0.9,,4200392.3,0,1\n"
    "cocoa+,svm,digits:500,1,1,auto,false,2,2,0.25,0.25,0,0.75,0.5,0.25,0.3,,0.95,,4200392.3,0,1\n"
    "cocoa+,svm,digits:500,2,1,auto,false,1,1,0.5,0.5,0,0.5,0.8,0.55,,,0.85,,4200392.3,0,1\n"
    "cocoa+,svm,digits:500,2,1,auto,false,2,2,0.5,0.5,0,1,,,,,,,4200392.3,0,1\n";

static void recorded_tables_are_read(void **state)
{
    struct hm_traces *traces = parse(recorded);
    const struct hm_trace *one = &traces->traces[0], *two = &traces->traces[1];

    (void)state;
    assert_int_equal(traces->count, 2);
    assert_points(one, 2, VALUES(1, 2), VALUES(0.75, 0.5));
    assert_near(one->best, 0.25, 0);
    assert_near(one->bound, 0.2, 1e-15);
    assert_false(one->diverged);
    assert_near(two->m, 2, 0);
    assert_points(two, 1, VALUES(1), VALUES(0.8));
    assert_true(two->diverged);
    assert_int_equal(two->line, 4);
    assert_int_equal(traces->note_count, 1);
    assert_string_equal(traces->notes[0],
                        "cocoa+ on 2 workers: diverged after iteration 1 (t.csv:4)");
    hm_traces_free(traces);
}

static void other_tables_are_read(void **state)
{
    struct hm_traces *traces =
        parse("# made by hand, for a test\nWorkers,iteration,elapsed (ms),Loss,colour\n"
              "4,1,20,0.5,red\n8,1,10,0.75,red\n4,2,50,0.25,blue\n8,2,15,0.5,red\n");

    (void)state;
    assert_string_equal(traces->measure, "loss");
    assert_int_equal(traces->count, 2);
    assert_string_equal(traces->traces[0].algorithm, "");
    assert_near(traces->traces[0].seed, NAN, 0);
    assert_points(&traces->traces[0], 2, VALUES(1, 2), VALUES(0.5, 0.25));
    assert_values(traces->traces[0].elapsed_s, 2, VALUES(0.02, 0.05));
    assert_values(traces->traces[0].seconds, 2, VALUES(0.02, 0.03));
    assert_points(&traces->traces[1], 2, VALUES(1, 2), VALUES(0.75, 0.5));
    assert_int_equal(traces->traces[1].line, 4);
    assert_int_equal(traces->note_count, 0);
    hm_traces_free(traces);
}

static void other_json_lines_are_read(void **state)
{
    struct hm_traces *traces =
        parse("{\"event\":\"start\",\"iteration_limit\":[1,2]}\n\n"
              "{\"algorithm\":\"sgd\",\"m\":4,\"iteration\":1,\"loss\":0.5,\"tags\":[1]}\n"
              "{\"algorithm\":\"sgd\",\"m\":8,\"iteration\":1,\"loss\":0.6,\"elapsed\":\"3 ms\"}\n"
              "{\"algorithm\":\"adam\",\"workers\":4,\"iteration\":1,\"loss\":\"NaN\"}\n"
              "{\"seconds\":\"soon\"}\n"
              "{\"algorithm\":\"sgd\",\"m\":4,\"iteration\":2,\"loss\":0.4,\"time\":\"12:03\"}\n");

    (void)state;
    assert_int_equal(traces->count, 2);
    assert_points(&traces->traces[0], 2, VALUES(1, 2), VALUES(0.5, 0.4));
    assert_values(traces->traces[0].seconds, 2, VALUES(NAN, NAN));
    assert_points(&traces->traces[1], 1, VALUES(1), VALUES(0.6));
    assert_values(traces->traces[1].elapsed_s, 1, VALUES(0.003));
    assert_int_equal(traces->note_count, 1);
    assert_string_equal(
        traces->notes[0],
        "adam on 4 workers: left out, because it diverged before the first loss (t.csv:5)");
    hm_traces_free(traces);
}

/* ---- rows and their traces ------------------------------------------------------------------ */

static void rows_belong_together_by_their_key(void **state)
{
    struct hm_traces *traces = parse("run,algorithm,m,seed,iteration,loss\n"
                                     "a,sgd,2,1,1,1\na,sgd,2,2,1,2\nb,sgd,2,1,1,3\na,gd,2,1,1,4\n"
                                     "a,gd,2,1,2,4.5\nb,sgd,2,1,2,3.5\na,sgd,2,2,2,2.5\n"
                                     "a,sgd,2,1,2,1.5\na,sgd,2,,1,5\n");

    (void)state;
    assert_int_equal(traces->count, 5);
    for (size_t i = 0; i < 4; i++)
        assert_points(&traces->traces[i], 2, VALUES(1, 2), VALUES((double)i + 1, (double)i + 1.5));
    assert_string_equal(traces->traces[3].algorithm, "gd");
    assert_near(traces->traces[4].seed, NAN, 0);
    hm_traces_free(traces);
}

/* Tests tables in another order: sorted by the iteration as a text, or in reverse. */
static void rows_may_come_in_any_order(void **state)
{
    const char *const tables[] = {"m,iteration,loss\n2,1,9\n2,10,5\n2,11,4\n2,2,8\n2,3,7\n",
                                  "m,iteration,loss\n2,11,4\n2,10,5\n2,3,7\n2,2,8\n2,1,9\n"};

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        struct hm_traces *traces = parse(tables[k]);
        assert_int_equal(traces->count, 1);
        assert_points(&traces->traces[0], 5, VALUES(1, 2, 3, 10, 11), VALUES(9, 8, 7, 5, 4));
        assert_int_equal(traces->traces[0].restarts, 0);
        hm_traces_free(traces);
    }
}

static void back_to_the_beginning_is_another_run(void **state)
{
    struct hm_traces *traces = parse("m,iteration,loss\n2,2,9\n2,4,8\n2,2,7\n2,4,6\n2,1,5\n");

    (void)state;
    assert_int_equal(traces->count, 3);
    assert_points(&traces->traces[0], 2, VALUES(2, 4), VALUES(9, 8));
    assert_points(&traces->traces[1], 2, VALUES(2, 4), VALUES(7, 6));
    assert_points(&traces->traces[2], 1, VALUES(1), VALUES(5));
    assert_int_equal(traces->traces[1].restarts, 0);
    assert_int_equal(traces->note_count, 0);
    hm_traces_free(traces);
}

static void rows_repeated_by_a_restart_count_once(void **state)
{
    struct hm_traces *traces = parse("algorithm,m,iteration,elapsed_s,loss\n"
                                     "a,4,1,1,9\na,4,2,2,8\na,4,3,3,7\na,4,4,4,6\n"
                                     "a,4,3,6,5\na,4,4,7,4\na,4,4,8,3\na,4,5,9,2\n");
    const struct hm_trace *one = &traces->traces[0];

    (void)state;
    assert_int_equal(traces->count, 1);
    assert_points(one, 5, VALUES(1, 2, 3, 4, 5), VALUES(9, 8, 5, 3, 2));
    assert_values(one->elapsed_s, 5, VALUES(1, 2, 6, 8, 9));
    assert_int_equal(one->restarts, 2);
    assert_int_equal(traces->note_count, 1);
    assert_string_equal(traces->notes[0],
                        "a on 4 workers: restarted 2 times, last at iteration 4 (t.csv:8)");
    hm_traces_free(traces);
}

#define HEAD(more) "{\"run\":\"train\",\"algorithm\":\"gd\",\"n\":2,\"seed\":1" more "}\n"
#define POINT(i, loss) "{\"iteration\":" #i ",\"objective\":" #loss "}\n"

static void restart_lines_continue_the_trace(void **state)
{
    /* The trace restarts at the beginning, then at a checkpoint, then without a lost point. */
    struct hm_traces *traces = parse(
        HEAD("") POINT(1, 9) POINT(2, 8) "{\"restart\":1,\"rank\":0}\n" HEAD("") POINT(1, 7)
            POINT(2, 6) POINT(3, 5) "{\"restart\":2,\"rank\":null}\n" HEAD(",\"resumed_at\":2")
                POINT(3, 4) "{\"restart\":3,\"rank\":1}\n" HEAD(",\"resumed_at\":3")
                    POINT(4, 3) "{\"summary\":true,\"stopped_by\":\"iterations\"}\n");
    const struct hm_trace *one = &traces->traces[0];

    (void)state;
    assert_int_equal(traces->count, 1);
    assert_points(one, 4, VALUES(1, 2, 3, 4), VALUES(7, 6, 4, 3));
    assert_int_equal(one->restarts, 3);
    assert_string_equal(traces->notes[0],
                        "gd on 2 workers: restarted 3 times, last at iteration 4 (t.csv:14)");
    hm_traces_free(traces);
}

static void heads_begin_traces(void **state)
{
    struct hm_traces *traces =
        parse(HEAD("") POINT(1, 9) POINT(2, 8) HEAD("") POINT(3, 7) POINT(4, 6));

    (void)state;
    assert_int_equal(traces->count, 2);
    assert_points(&traces->traces[1], 2, VALUES(3, 4), VALUES(7, 6));
    hm_traces_free(traces);
    /* A resumed run continues the existing trace. */
    traces = parse(HEAD("") POINT(1, 9) POINT(2, 8) POINT(3, 7) "{\"summary\":true}\n" HEAD(
        ",\"resumed_at\":2") POINT(3, 6) POINT(4, 5));
    assert_int_equal(traces->count, 1);
    assert_points(&traces->traces[0], 4, VALUES(1, 2, 3, 4), VALUES(9, 8, 6, 5));
    assert_int_equal(traces->traces[0].restarts, 1);
    hm_traces_free(traces);
    /* The run that is resumed may be missing from the files. */
    traces = parse(HEAD(",\"resumed_at\":5") POINT(6, 6) POINT(7, 5));
    assert_points(&traces->traces[0], 2, VALUES(6, 7), VALUES(6, 5));
    assert_int_equal(traces->note_count, 1);
    assert_string_equal(
        traces->notes[0],
        "gd on 2 workers: continues after iteration 5 of a run that is not in the files (t.csv:2)");
    hm_traces_free(traces);
}

static void the_time_is_linear_in_the_traces(void **state)
{
    enum { COUNT = 20000 };
    char *text = calloc(COUNT + 2, 40), *at = text;

    (void)state;
    at += snprintf(at, 40, "m,seed,iteration,loss\n");
    for (int i = 0; i < COUNT; i++)
        at += snprintf(at, 40, "%d,%d,%d,0.5\n", i % 100 + 1, i % 5000, i / 5000 + 1);
    struct hm_traces *traces = parse(text);
    assert_int_equal(traces->count, 5000);
    for (size_t i = 0; i < traces->count; i++)
        assert_int_equal(traces->traces[i].count, 4);
    hm_traces_free(traces);
    free(text);
}

/* ---- times ---------------------------------------------------------------------------------- */

static void times_follow_from_one_another(void **state)
{
    struct hm_traces *traces = parse("m,iteration,seconds,loss\n1,2,0.5,9\n1,4,0.25,8\n1,5,,7\n");

    (void)state;
    assert_values(traces->traces[0].seconds, 3, VALUES(0.5, 0.25, NAN));
    assert_values(traces->traces[0].elapsed_s, 3, VALUES(1, 1.5, NAN));
    hm_traces_free(traces);
    traces = parse("m,iteration,elapsed_s,loss\n1,2,3,9\n1,4,4,8\n1,5,4,7\n1,6,,6\n");
    assert_values(traces->traces[0].seconds, 4, VALUES(1.5, 0.5, 0, NAN));
    assert_values(traces->traces[0].elapsed_s, 4, VALUES(3, 4, 4, NAN));
    hm_traces_free(traces);
    /* Seconds of several iterations are divided by their number. */
    traces = parse("m,iteration,seconds,elapsed_s,loss\n1,5,10,10,9\n1,10,5,15,8\n");
    assert_values(traces->traces[0].seconds, 2, VALUES(2, 1));
    hm_traces_free(traces);
    /* Between consecutive iterations the given seconds are used, because the elapsed time may
     * include other work. */
    traces = parse("m,iteration,seconds,elapsed_s,loss\n1,1,1,10,9\n1,2,2,15,8\n");
    assert_values(traces->traces[0].seconds, 2, VALUES(1, 2));
    hm_traces_free(traces);
}

static void times_of_rows_without_a_loss_count(void **state)
{
    struct hm_traces *traces = parse("m,iteration,seconds,loss\n"
                                     "1,1,1,\n1,2,3,9\n1,3,1,\n1,4,5,8\n1,5,1,\n");

    (void)state;
    assert_points(&traces->traces[0], 2, VALUES(2, 4), VALUES(9, 8));
    assert_values(traces->traces[0].elapsed_s, 2, VALUES(4, 10));
    assert_values(traces->traces[0].seconds + 1, 1, VALUES(3));
    assert_false(traces->traces[0].diverged);
    assert_int_equal(traces->note_count, 1);
    assert_string_equal(traces->notes[0],
                        "1 worker: 3 rows without loss left out, the first at t.csv:2");
    hm_traces_free(traces);
}

static void times_alone_are_enough(void **state)
{
    struct hm_traces_settings settings = {.times_only = true};
    struct hm_traces *traces =
        parse_as("m,iteration,seconds\n1,1,0.5\n1,2,\n1,3,0.25\n2,1,\n", &settings);

    (void)state;
    assert_int_equal(traces->count, 1);
    assert_points(&traces->traces[0], 2, VALUES(1, 3), VALUES(NAN, NAN));
    assert_values(traces->traces[0].seconds, 2, VALUES(0.5, 0.25));
    assert_int_equal(traces->note_count, 2);
    assert_string_equal(traces->notes[0],
                        "2 workers: left out, because no row has a time (t.csv:5)");
    assert_string_equal(traces->notes[1],
                        "1 worker: 1 row without time left out, the first at t.csv:3");
    hm_traces_free(traces);
    assert_error_as("m,iteration,loss\n1,1,2\n", &settings, HM_E_MISSING, 1, "",
                    "no column 'seconds'",
                    "give seconds of one iteration, or elapsed_s since the start");
    assert_error_as("m,iteration,seconds\n1,1,\n", &settings, HM_E_MISSING, 1, "",
                    "no row has a time", "");
}

static void a_time_can_mean_anything(void **state)
{
    struct hm_traces *traces = parse("m,iteration,time,loss\n1,1,3,9\n1,2,4,8\n");

    (void)state;
    assert_values(traces->traces[0].seconds, 2, VALUES(NAN, NAN));
    assert_int_equal(traces->note_count, 1);
    assert_string_equal(traces->notes[0], "column 'time' is not used: name it seconds (of one "
                                          "iteration) or elapsed_s (since the start)");
    hm_traces_free(traces);
}

static void epochs_are_counted(void **state)
{
    struct hm_traces_settings settings = {.epochs = true};
    struct hm_traces *traces = parse_as(
        "m,iteration,epoch,seconds,loss\n1,10,0.5,1,9\n1,20,1,1,8\n1,40,2,0.5,7\n", &settings);

    (void)state;
    assert_string_equal(traces->unit, "epoch");
    assert_points(&traces->traces[0], 3, VALUES(0.5, 1, 2), VALUES(9, 8, 7));
    assert_values(traces->traces[0].elapsed_s, 3, VALUES(10, 20, 30));
    assert_values(traces->traces[0].seconds, 3, VALUES(20, 20, 10));
    hm_traces_free(traces);
    /* If an epoch has several points, the last is used. Without iterations, seconds are those of an
     * epoch. */
    traces = parse_as(
        "m,iteration,epoch,seconds,loss\n1,1,1,3,9\n1,2,1,3,8\n1,3,2,3,7\n1,4,2,3,6\n", &settings);
    assert_points(&traces->traces[0], 2, VALUES(1, 2), VALUES(8, 6));
    assert_values(traces->traces[0].seconds, 2, VALUES(6, 6));
    assert_int_equal(traces->traces[0].restarts, 0);
    hm_traces_free(traces);
    traces = parse_as("m,epoch,seconds,loss\n1,1,3,9\n1,2,4,8\n", &settings);
    assert_values(traces->traces[0].seconds, 2, VALUES(3, 4));
    assert_values(traces->traces[0].elapsed_s, 2, VALUES(3, 7));
    hm_traces_free(traces);
    assert_error_as("m,iteration,loss\n1,1,2\n", &settings, HM_E_MISSING, 1, "",
                    "no column 'epoch'", "epoch: the number that is done at this row");
    assert_error_as("{\"m\":1,\"iteration\":1,\"loss\":2}\n", &settings, HM_E_MISSING, 1, "epoch",
                    "the row has no epoch", "");
    assert_error_as("m,iteration,epoch,loss\n1,1,2,1\n1,2,1,1\n", &settings, HM_E_RANGE, 3, "epoch",
                    "decreases from 2 to 1", "");
    assert_error(
        "m,epoch,loss\n1,1,2\n", HM_E_MISSING, 1, "", "no column 'iteration'",
        "iteration: the number that is done at this row; set `epochs` to count epochs instead");
}

/* ---- losses --------------------------------------------------------------------------------- */

static void diverging_losses_end_a_trace(void **state)
{
    static const char *const words[] = {"nan", "NaN", "inf", "-inf", "Infinity", "1e999"};

    (void)state;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        char text[200];
        snprintf(text, sizeof(text),
                 "algorithm,m,iteration,loss\na,2,1,9\na,2,2,8\na,2,3,%s\na,2,4,1\nb,2,1,%s\n",
                 words[i], words[i]);
        struct hm_traces *traces = parse(text);
        assert_int_equal(traces->count, 1);
        assert_points(&traces->traces[0], 2, VALUES(1, 2), VALUES(9, 8));
        assert_true(traces->traces[0].diverged);
        assert_int_equal(traces->note_count, 2);
        assert_string_equal(
            traces->notes[0],
            "b on 2 workers: left out, because it diverged before the first loss (t.csv:6)");
        assert_string_equal(traces->notes[1],
                            "a on 2 workers: diverged after iteration 2 (t.csv:3)");
        hm_traces_free(traces);
    }
    /* If the run restarts before the iteration at which it diverged, it no longer counts as
     * diverged. */
    struct hm_traces *traces = parse("m,iteration,loss\n1,1,9\n1,2,8\n1,3,nan\n1,2,7\n1,3,6\n");
    assert_points(&traces->traces[0], 3, VALUES(1, 2, 3), VALUES(9, 7, 6));
    assert_false(traces->traces[0].diverged);
    hm_traces_free(traces);
    assert_error("m,iteration,loss\n1,1,nan\n", HM_E_MISSING, 1, "",
                 "no row has a number in 'loss' before the run diverged", "");
}

static void measures_are_chosen(void **state)
{
    const char *text = "m,iteration,loss,objective,accuracy,test_error,host,gap,best\n"
                       "1,1,9,8,0.75,7,vm,1,2\n1,2,7,6,80 %,5,vm,1,2\n";
    struct hm_traces_settings settings = {.measure = "loss"};
    struct hm_traces *traces = parse(text);

    (void)state;
    assert_string_equal(traces->measure, "objective");
    assert_points(&traces->traces[0], 2, VALUES(1, 2), VALUES(8, 6));
    assert_near(traces->traces[0].best, 2, 0);
    assert_near(traces->traces[0].bound, 7, 0);
    hm_traces_free(traces);
    traces = parse_as(text, &settings);
    assert_string_equal(traces->measure, "loss");
    assert_points(&traces->traces[0], 2, VALUES(1, 2), VALUES(9, 7));
    assert_near(traces->traces[0].best, NAN, 0);
    assert_true(traces->traces[0].bound == -INFINITY);
    hm_traces_free(traces);
    settings.measure = "accuracy";
    traces = parse_as(text, &settings);
    assert_string_equal(traces->measure, "1 - accuracy");
    assert_points(&traces->traces[0], 2, VALUES(1, 2), VALUES(0.25, 0.2));
    hm_traces_free(traces);
    settings.measure = "test_error";
    traces = parse_as(text, &settings);
    assert_points(&traces->traces[0], 2, VALUES(1, 2), VALUES(7, 5));
    hm_traces_free(traces);
    settings.measure = "rmse";
    assert_error_as(text, &settings, HM_E_MISSING, 1, "", "no column 'rmse'",
                    "set `measure` to one of loss, objective, accuracy, test_error, "
                    "gap");
    assert_error_as("{\"m\":1,\"iteration\":1,\"error\":2}\n", &settings, HM_E_MISSING, 1, "",
                    "no line has 'rmse'", "set `measure` to one of error");
    assert_error("m,iteration,error\n1,1,2\n", HM_E_MISSING, 1, "",
                 "no column 'objective' or 'loss'", "set `measure` to one of error");
    assert_error("{\"m\":1,\"iteration\":1}\n", HM_E_MISSING, 1, "",
                 "no line has 'objective' or 'loss'",
                 "it is the value that training makes smaller, after each iteration");
    settings.measure = "accuracy";
    assert_error_as("m,iteration,accuracy\n1,1,\n", &settings, HM_E_MISSING, 1, "",
                    "no row has a number in 'accuracy'", "");
    assert_error_as("m,iteration,accuracy\n1,1,97\n", &settings, HM_E_RANGE, 2, "accuracy",
                    "'97' must be between 0 and 1", "write a fraction such as 0.93, or 93 %");
}

static void p_star_must_agree(void **state)
{
    struct hm_traces *traces = parse("m,iteration,objective,suboptimality\n"
                                     "1,1,0.833333,0.333333\n1,2,0.7,0.2\n1,3,0.6,0.0999999\n");

    (void)state;
    assert_near(traces->traces[0].best, 0.5, 1e-15);
    assert_int_equal(traces->note_count, 0);
    hm_traces_free(traces);
    traces = parse("m,iteration,loss,suboptimality\n1,1,0.8,0.3\n1,2,0.7,0.1\n");
    assert_near(traces->traces[0].best, NAN, 0);
    assert_int_equal(traces->note_count, 1);
    assert_string_equal(traces->notes[0],
                        "1 worker: contains different values of best, so none is used (t.csv:2)");
    hm_traces_free(traces);
}

/* ---- notes ---------------------------------------------------------------------------------- */

static void gaps_are_noted(void **state)
{
    struct hm_traces *traces = parse("algorithm,m,iteration,loss\ncocoa,4,1,9\ncocoa,4,2,9\n"
                                     "cocoa,4,3,9\ncocoa,4,50,9\ncocoa,4,51,9\ncocoa,4,80,9\n");

    (void)state;
    assert_int_equal(traces->note_count, 1);
    assert_string_equal(traces->notes[0],
                        "cocoa on 4 workers: no points between iterations 3 and 50 "
                        "(t.csv:5), and 1 more gap");
    hm_traces_free(traces);
    /* A trace that is recorded less and less often has no gaps. */
    traces = parse("m,iteration,loss\n1,1,9\n1,2,9\n1,4,9\n1,8,9\n1,16,9\n1,32,9\n1,64,9\n");
    assert_int_equal(traces->note_count, 0);
    hm_traces_free(traces);
}

static void notes_are_few(void **state)
{
    struct hm_text_buffer {
        char text[40000];
        size_t length;
    } *b = calloc(1, sizeof(*b));

    (void)state;
    b->length += (size_t)snprintf(b->text, 100, "m,iteration,objective,best,data\n");
    for (int m = 1; m <= 100; m++) /* Each trace causes all kinds of notes. */
        b->length += (size_t)snprintf(b->text + b->length, 400,
                                      "%d,1,9,1,d\n%d,2,9,2,d\n%d,3,9,2,d\n%d,3,9,2,d\n%d,4,,2,d\n"
                                      "%d,9,9,2,d\n%d,10,9,2,d\n%d,11,nan,2,d\n%d,1,nan,,e\n",
                                      m, m, m, m, m, m, m, m, m);
    struct hm_traces *traces = parse(b->text);
    assert_int_equal(traces->count, 100);
    assert_true(traces->note_count <= 20);
    assert_string_equal(
        traces->notes[0],
        "1 worker: left out, because it diverged before the first objective (t.csv:10)");
    assert_string_equal(traces->notes[2], "98 more traces left out");
    assert_string_equal(traces->notes[5], "98 more traces diverged");
    assert_string_equal(traces->notes[8], "98 more traces restarted");
    assert_string_equal(traces->notes[11], "98 more traces have gaps");
    assert_string_equal(traces->notes[14], "98 more traces have rows that are left out");
    assert_string_equal(traces->notes[17], "98 more traces contain different values of best");
    assert_string_equal(traces->notes[18], "the traces are of different data: a common model of "
                                           "them means little");
    assert_int_equal(traces->note_count, 19);
    hm_traces_free(traces);
    free(b);
}

/* ---- errors --------------------------------------------------------------------------------- */

static void mistakes_are_named(void **state)
{
    const char *example = "write one line for each iteration, below a header such as "
                          "algorithm,m,iteration,elapsed_s,loss";
    const char *above_0 =
        "it counts what is done when the loss is measured; leave out the loss before the first";

    (void)state;
    assert_error("", HM_E_MISSING, 0, "", "no rows", example);
    assert_error(" \n\n", HM_E_MISSING, 0, "", "no rows", example);
    assert_error("m,iteration,loss\n", HM_E_MISSING, 0, "", "no rows", example);
    assert_error(HEAD(""), HM_E_MISSING, 0, "", "no rows", example);
    assert_error("[1]", HM_E_SYNTAX, 1, "", "a JSON list; one JSON object in each line is expected",
                 "jq -c '.[]' turns a list into lines");
    assert_error("1,2,3\n4,5,6\n", HM_E_MISSING, 1, "",
                 "the first line has numbers instead of the names of columns",
                 "begin the file with a header such as algorithm,m,iteration,elapsed_s,loss");
    assert_error("iteration,loss\n1,2\n", HM_E_MISSING, 1, "", "no column 'm'",
                 "m: the number of workers of a run; n and workers mean the same");
    assert_error("m,loss\n1,2\n", HM_E_MISSING, 1, "", "no column 'iteration'",
                 "iteration: the number that is done at this row");
    assert_error("m,n,iteration,loss\n1,1,1,2\n", HM_E_CONFLICT, 1, "m", "column 'n' appears twice",
                 "it means m, which another column has already");
    assert_error("m,iteration,loss\n1.5,1,2\n", HM_E_RANGE, 2, "m",
                 "'1.5' must be a whole number, at least 1", "");
    assert_error("m,iteration,loss\n0,1,2\n", HM_E_RANGE, 2, "m",
                 "'0' must be a whole number, at least 1", "");
    assert_error("m,iteration,loss\n,1,2\n", HM_E_MISSING, 2, "m", "the row has no m", "");
    assert_error("m,iteration,loss\n1,,2\n", HM_E_MISSING, 2, "iteration",
                 "the row has no iteration", "");
    assert_error("m,iteration,loss\n1,0,2\n", HM_E_RANGE, 2, "iteration", "'0' must be more than 0",
                 above_0);
    assert_error("m,iteration,loss\n1,-3,2\n", HM_E_RANGE, 2, "iteration",
                 "'-3' must be more than 0", above_0);
    assert_error("m,iteration,loss\n1,nan,2\n", HM_E_TYPE, 2, "iteration", "'nan' is not a number",
                 "");
    assert_error("m,iteration,loss\n1,1e999,2\n", HM_E_RANGE, 2, "iteration",
                 "'1e999' is too large", "");
    assert_error("m,iteration,seconds,loss\n1,1,-1,2\n", HM_E_RANGE, 2, "seconds",
                 "'-1' must be at least 0", "");
    assert_error("m,iteration,elapsed_s,loss\n1,1,2,2\n1,2,1.5,2\n", HM_E_RANGE, 3, "elapsed_s",
                 "decreases from 2 to 1.5", "it counts from the start of the run");
    assert_error("m,iteration,loss\n1,1,low\n", HM_E_TYPE, 2, "loss", "'low' is not a number", "");
    assert_error(
        "m,iteration,loss,staleness\n1,1,2,-1\n", HM_E_RANGE, 2, "staleness",
        "'-1' must be at least 0",
        "the number of clocks by which a worker may be ahead of the slowest; async means no limit");
    assert_error("m,iteration,loss,staleness\n1,1,2,much\n", HM_E_TYPE, 2, "staleness",
                 "'much' is not a number",
                 "the number of clocks by which a worker may be ahead of the slowest, or async");
    assert_error("m,iteration,loss,staleness\n1,1,2,nan\n", HM_E_TYPE, 2, "staleness",
                 "'nan' is not a number",
                 "the number of clocks by which a worker may be ahead of the slowest, or async");
    assert_error("m,iteration,loss,staleness\n1,1,2,1e300\n", HM_E_RANGE, 2, "staleness",
                 "'1e300' is too large", "");
    assert_error("m,iteration,loss,staleness\n1,1,2,3 s\n", HM_E_UNIT, 2, "staleness",
                 "'3 s' is in s", "write a number");
    assert_error("m,iteration,loss\n1,1\n", HM_E_SYNTAX, 2, "", "2 fields where the header has 3",
                 "");
}

static void mistakes_of_units_are_named(void **state)
{
    (void)state;
    assert_error("m,iteration,elapsed (MB),loss\n1,1,2,2\n", HM_E_UNIT, 1, "elapsed_s",
                 "the unit in 'elapsed (MB)' does not fit the column",
                 "write a time such as 20 ms, 90 s, 6 h or 3 days");
    assert_error("m,iteration,seconds,loss\n1,1,2 MB,2\n", HM_E_UNIT, 2, "seconds",
                 "'2 MB' is in byte", "write a time such as 20 ms, 90 s, 6 h or 3 days");
    assert_error("m,iteration,seconds,loss\n1,1,2 ms,2\n1,2,2,2\n", HM_E_UNIT, 3, "seconds",
                 "'2' has no unit, but line 2 has one",
                 "give every value of a column a unit, or none");
    assert_error("m,iteration,elapsed_ms,loss\n1,1,2 ms,2\n", HM_E_UNIT, 2, "elapsed_s",
                 "'2 ms' has a unit, but the name of the column has one too", "");
}

static void mistakes_in_lines_are_named(void **state)
{
    (void)state;
    assert_error("{\"m\":1,\"iteration\":1,\"loss\":2}\n{\"m\":1,\"iteration\":}\n", HM_E_SYNTAX, 2,
                 "", "not JSON: a value was expected", "");
    assert_error("{\"m\":1,\"iteration\":1,\"loss\":2}\n[3]\n", HM_E_TYPE, 2, "",
                 "each line must be an object, not a list", "");
    assert_error("{\"m\":1,\"iteration\":1,\"loss\":2}\n{\"iteration\":2,\"loss\":2}\n",
                 HM_E_MISSING, 2, "m", "the line has no m, and neither has a head line above it",
                 "");
    assert_error(HEAD("") POINT(1, 2) "{\"summary\":true}\n" POINT(2, 1), HM_E_MISSING, 4, "m",
                 "the line has no m, and neither has a head line above it", "");
    assert_error("{\"m\":1,\"n\":1,\"iteration\":1,\"loss\":2}\n", HM_E_CONFLICT, 1, "m",
                 "m appears twice", "'n' means the same");
    assert_error("{\"m\":1,\"iteration\":1,\"loss\":[2]}\n", HM_E_TYPE, 1, "loss",
                 "a list where a number or a text is expected", "");
    assert_error("{\"m\":1,\"iteration\":null,\"loss\":2}\n", HM_E_MISSING, 1, "iteration",
                 "the row has no iteration", "");
    assert_error("{\"run\":\"x\",\"m\":0}\n", HM_E_RANGE, 1, "m",
                 "'0' must be a whole number, at least 1", "");
}

/* ---- files ---------------------------------------------------------------------------------- */

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");

    assert_non_null(file);
    assert_int_equal(fputs(text, file) < 0, 0);
    assert_int_equal(fclose(file), 0);
}

static void files_are_joined(void **state)
{
    char folder[] = "/tmp/hm-traces-XXXXXX", one[64], two[64];
    const char *paths[] = {one, two};
    struct hm_traces *traces = NULL;
    struct hm_err err = {0};

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(one, sizeof(one), "%s/one.csv", folder);
    snprintf(two, sizeof(two), "%s/two.jsonl", folder);
    write_file(one, "m,iteration,loss,objective\n1,1,9,8\n1,2,9,7\n");
    write_file(two, "{\"m\":1,\"iteration\":3,\"objective\":6}\n");
    if (hm_traces_load(paths, 2, NULL, &traces, &err))
        fail_msg("%s", err.message);
    assert_int_equal(traces->count, 2);
    assert_string_equal(traces->measure, "objective");
    assert_string_equal(traces->traces[1].source, two);
    assert_points(&traces->traces[1], 1, VALUES(3), VALUES(6));
    hm_traces_free(traces);

    traces = NULL;
    write_file(two, "{\"m\":1,\"iteration\":3,\"loss\":6}\n");
    assert_int_equal(hm_traces_load(paths, 2, NULL, &traces, &err), HM_E_MISSING);
    assert_string_equal(err.message, "no line has 'objective'");
    assert_string_equal(
        err.hint, "other files have it, and all files need the same measure; this one has loss");
    assert_string_equal(err.source, two);
    assert_int_equal(err.line, 1);

    err = (struct hm_err){0};
    assert_int_equal(unlink(two), 0);
    assert_int_equal(hm_traces_load(paths, 2, NULL, &traces, &err), HM_E_IO);
    assert_string_equal(err.message, "cannot open: No such file or directory");
    err = (struct hm_err){0};
    assert_int_equal(hm_traces_load(paths, 0, NULL, &traces, &err), HM_E_MISSING);
    assert_string_equal(err.message, "no file of traces is given");
    assert_null(traces);
    assert_int_equal(unlink(one), 0);
    assert_int_equal(rmdir(folder), 0);
    hm_traces_free(NULL);
}

/* A staleness of -0 equals one of 0, so both belong to the same trace. */
static void zero_has_no_sign(void **state)
{
    struct hm_traces *traces = parse("m,iteration,loss,staleness\n1,1,2,0\n1,2,1,-0\n1,3,1,0\n");

    (void)state;
    assert_int_equal(traces->count, 1);
    assert_int_equal(traces->traces[0].count, 3);
    hm_traces_free(traces);
}

/* The text has no byte after its length, which the sanitizers check. */
static void texts_need_no_end(void **state)
{
    static const char text[] = " \t\r\n\n";
    struct hm_traces *traces = NULL;

    (void)state;
    for (size_t length = 1; length < sizeof(text); length++) {
        struct hm_err err = {0};
        char *copy = malloc(length);
        memcpy(copy, text, length);
        assert_int_equal(hm_traces_parse(copy, length, "t.csv", NULL, &traces, &err), HM_E_MISSING);
        assert_string_equal(err.message, "no rows");
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_need_no_end),
        cmocka_unit_test(zero_has_no_sign),
        cmocka_unit_test(printed_traces_are_read),
        cmocka_unit_test(recorded_tables_are_read),
        cmocka_unit_test(other_tables_are_read),
        cmocka_unit_test(other_json_lines_are_read),
        cmocka_unit_test(rows_belong_together_by_their_key),
        cmocka_unit_test(back_to_the_beginning_is_another_run),
        cmocka_unit_test(rows_may_come_in_any_order),
        cmocka_unit_test(rows_repeated_by_a_restart_count_once),
        cmocka_unit_test(restart_lines_continue_the_trace),
        cmocka_unit_test(heads_begin_traces),
        cmocka_unit_test(the_time_is_linear_in_the_traces),
        cmocka_unit_test(times_follow_from_one_another),
        cmocka_unit_test(times_of_rows_without_a_loss_count),
        cmocka_unit_test(times_alone_are_enough),
        cmocka_unit_test(a_time_can_mean_anything),
        cmocka_unit_test(epochs_are_counted),
        cmocka_unit_test(diverging_losses_end_a_trace),
        cmocka_unit_test(measures_are_chosen),
        cmocka_unit_test(p_star_must_agree),
        cmocka_unit_test(gaps_are_noted),
        cmocka_unit_test(notes_are_few),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(mistakes_of_units_are_named),
        cmocka_unit_test(mistakes_in_lines_are_named),
        cmocka_unit_test(files_are_joined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
