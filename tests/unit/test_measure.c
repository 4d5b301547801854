/*
 * Tests the seconds of an iteration that a command reports, and those that are computed from two
 * runs with different numbers of iterations. Commands print fixed numbers, so only the whole run is
 * measured by the clock.
 */
#include "testing.h"

#include <unistd.h>

#include "measure.h"

static struct launch_measurement measure_as(const char *script, const char *status)
{
    struct launch_measure_settings settings = {.timeout_s = 30};
    struct launch_measurement m;
    char *copy = strdup(script);
    char *const argv[] = {(char[]){"sh"}, (char[]){"-c"}, copy, NULL};

    assert_non_null(copy);
    assert_int_equal(launch_measure(argv, &settings, &m), 0);
    assert_string_equal(m.status, status);
    free(copy);
    return m;
}

static struct launch_measurement measure(const char *script)
{
    return measure_as(script, "ok");
}

#define LINE(SECONDS) "echo '{\"iteration\": 1, \"seconds\": " #SECONDS "}'; "

/* The first of several iterations is left out, but a single iteration counts. */
static void the_first_iteration_is_left_out(void **state)
{
    (void)state;
    struct launch_measurement one = measure(LINE(0.7));
    struct launch_measurement two = measure(LINE(9) LINE(0.5));
    struct launch_measurement four = measure(LINE(9) LINE(0.5) LINE(0.4) LINE(0.1));

    assert_near(one.seconds, 0.7, 1e-12);
    assert_near(two.seconds, 0.5, 1e-12);
    assert_near(four.seconds, 0.4, 1e-12);
    assert_true(four.iterations == 4 && isnan(four.startup_s));
    assert_string_equal(four.timing, "iterations");
}

#define LOSS(LOSS) "echo '{\"iteration\": 1, \"seconds\": 1, \"loss\": " #LOSS "}'; "

/* A table of runs has no value above 1e50, so such a loss is unknown. */
static void a_diverged_loss_is_unknown(void **state)
{
    (void)state;
    assert_near(measure(LOSS(2)).loss, 2, 0);
    assert_near(measure(LOSS(-1e50)).loss, -1e50, 0);
    assert_true(isnan(measure(LOSS(2) LOSS(1e60)).loss));
    assert_true(isnan(measure(LOSS(2) LOSS(-1e60)).loss));
    assert_true(isnan(measure(LOSS(2) LOSS(1e400)).loss));
    assert_near(measure(LOSS(1e60) LOSS(3)).loss, 3, 0);
}

static void a_time_that_is_too_large_fails_the_run(void **state)
{
    struct launch_measurement m;

    (void)state;
    assert_near(measure(LINE(1e50)).seconds, 1e50, 0);
    m = measure_as(LINE(1) LINE(1e60), "invalid time");
    assert_true(isnan(m.seconds) && m.total_s > 0);
    assert_string_equal(m.message, "it reported an iteration of 1e+60 s");
    measure_as(LINE(1e400), "invalid time");
}

static void a_run_without_iterations_includes_its_start(void **state)
{
    (void)state;
    struct launch_measurement m = measure("sleep 0.03");

    assert_true(m.seconds >= 0.03 && m.seconds == m.total_s && m.iterations == 0);
    assert_string_equal(m.timing, "whole run");
}

/* Commands that write an event log to the folder that SPARK_SUBMIT_OPTS names, as Spark does: two
 * jobs that take 0.5, 0.2 and 0.3 s, and 1, 2 and 3 ms. The word pyspark makes each a Spark
 * program. */
#define WRITE_LOG                                                                                  \
    ": pyspark; dir=${SPARK_SUBMIT_OPTS##*eventLog.dir=file:}; id=0; "                             \
    "job() { printf '{\"Event\":\"SparkListenerJobStart\",\"Job ID\":%d,\"Submission Time\":%d,"   \
    "\"Stage Infos\":[{\"Stage ID\":%d,\"Stage Name\":\"%s\",\"Number of Tasks\":1}],"             \
    "\"Stage IDs\":[%d]}\n{\"Event\":\"SparkListenerJobEnd\",\"Job ID\":%d,\"Completion "          \
    "Time\":%d,"                                                                                   \
    "\"Job Result\":{\"Result\":\"JobSucceeded\"}}\n' $id 1000 $id \"$1\" $id $id $((1000 + "      \
    "$2)); "                                                                                       \
    "id=$((id + 1)); }; "                                                                          \
    "{ echo '{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"4.0.0\"}'; "                 \
    "for ms in 500 200 300; do job aggregate $ms; done; "                                          \
    "for ms in 1 2 3; do job count $ms; done; } >\"$dir/local-1\"; "

/* The jobs that repeat and take longest are the iterations, unless the program prints its
 * iterations. */
static void iterations_of_spark_are_in_its_log(void **state)
{
    (void)state;
    setenv("SPARK_SUBMIT_OPTS", "-Dmine=1", 1);
    struct launch_measurement m = measure(WRITE_LOG "echo $SPARK_SUBMIT_OPTS | grep -q mine=1");
    struct launch_measurement printed = measure(WRITE_LOG LINE(0.7));
    struct launch_measurement none = measure(": pyspark");

    assert_near(m.seconds, 0.25, 1e-12);
    assert_true(m.iterations == 3);
    assert_string_equal(m.framework, "Spark (its event log)");
    assert_near(printed.seconds, 0.7, 1e-12);
    assert_string_equal(none.timing, "whole run");
    assert_string_equal(getenv("SPARK_SUBMIT_OPTS"), "-Dmine=1");
    unsetenv("SPARK_SUBMIT_OPTS");
    /* A command that cannot be Spark gets no log. */
    assert_true(measure("test -z \"$SPARK_SUBMIT_OPTS\"").iterations == 0);
}

/* The folder of the log is removed after the run. */
static void the_log_of_spark_is_removed(void **state)
{
    char folder[] = "/tmp/howmany-test-XXXXXX";

    (void)state;
    assert_non_null(mkdtemp(folder));
    setenv("TMPDIR", folder, 1);
    assert_true(measure(WRITE_LOG).iterations == 3);
    unsetenv("TMPDIR");
    assert_int_equal(rmdir(folder), 0);
}

/* The start-up takes 3 s and each iteration 0.25 s: 10.5 s with 30 iterations, and 5.5 s with
 * 10. */
static void two_lengths_separate_the_start(void **state)
{
    struct launch_measurement m = {.status = "ok", .seconds = 10.5, .total_s = 10.5};
    struct launch_measurement brief = {.status = "ok", .seconds = 5.5, .total_s = 5.5};

    (void)state;
    m.timing = "whole run";
    launch_measurement_subtract(&m, 30, &brief, 10);
    assert_near(m.seconds, 0.25, 1e-12);
    assert_near(m.startup_s, 3, 1e-12);
    assert_true(m.iterations == 30 && m.total_s == 10.5);
    assert_string_equal(m.timing, "difference");
    assert_string_equal(m.status, "ok");
}

/* A start-up that varies may exceed the short run; it is never negative. */
static void the_start_is_not_negative(void **state)
{
    struct launch_measurement m = {.status = "ok", .total_s = 9};
    struct launch_measurement brief = {.status = "ok", .total_s = 1};

    (void)state;
    launch_measurement_subtract(&m, 20, &brief, 10);
    assert_near(m.seconds, 0.8, 1e-12);
    assert_true(m.startup_s == 0);
}

static void equal_times_are_a_failure(void **state)
{
    struct launch_measurement brief = {.status = "ok", .total_s = 2};

    (void)state;
    for (double total = 1; total <= 2; total++) {
        struct launch_measurement m = {.status = "ok", .seconds = total, .total_s = total};
        launch_measurement_subtract(&m, 30, &brief, 10);
        assert_string_equal(m.status, "no difference");
        assert_string_equal(m.message,
                            "30 iterations took no longer than 10; give more of them with "
                            "--iterations");
        assert_true(isnan(m.seconds));
    }
}

static void the_failure_of_the_short_run_counts(void **state)
{
    struct launch_measurement m = {.status = "ok", .seconds = 5, .total_s = 5};
    struct launch_measurement brief = {.status = "exit 7", .total_s = 2, .message = "no memory"};

    (void)state;
    launch_measurement_subtract(&m, 30, &brief, 10);
    assert_string_equal(m.status, "exit 7");
    assert_string_equal(m.message, "no memory");
    assert_true(isnan(m.seconds));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_iteration_is_left_out),
        cmocka_unit_test(a_diverged_loss_is_unknown),
        cmocka_unit_test(a_time_that_is_too_large_fails_the_run),
        cmocka_unit_test(a_run_without_iterations_includes_its_start),
        cmocka_unit_test(iterations_of_spark_are_in_its_log),
        cmocka_unit_test(the_log_of_spark_is_removed),
        cmocka_unit_test(two_lengths_separate_the_start),
        cmocka_unit_test(the_start_is_not_negative),
        cmocka_unit_test(equal_times_are_a_failure),
        cmocka_unit_test(the_failure_of_the_short_run_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
