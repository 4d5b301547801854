/*
 * Tests bodies of up to 1 MB that are built so that a loop over pairs of names, rows or traces
 * would take many seconds between two checks of the budget. Each must end soon after its limit, or
 * without needing it. Processor time is measured, because the machine may be busy; the time that is
 * allowed is several times what the requests need, and a fraction of what such a loop takes.
 */
#include "request_testing.h"

#include <time.h>

#include "budget.h"
#include "text.h"

static double processor_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Processor time after which a request is cancelled, and that each request may take. */
static const double CANCEL_S = 0.25, MOST_S = 0.8;

static bool is_over(void *data)
{
    return processor_s() > *(const double *)data + CANCEL_S;
}

/*
 * Reads a body, in JSON or YAML as the name says, and runs its request, which is cancelled after
 * CANCEL_S; frees the body. A limit of time would refuse some of the requests before they start.
 * Returns the error code.
 */
static int run_body(const char *verb, struct hm_text *body, const char *name, struct hm_err *err)
{
    double from = processor_s();
    const struct hm_context context = {
        .limits = {.bytes = 256000000}, .cancelled = is_over, .cancelled_data = &from};
    struct hm_request *request = new_request(verb);
    struct hm_reply *reply = NULL;

    assert_false(body->failed);
    int rc = hm_request_read(request, body->data, body->length, name, err);
    if (rc == 0)
        rc = hm_request_run(request, &context, &reply, err);
    double took = processor_s() - from;
    if (took > MOST_S)
        fail_msg("%s: %g s of processor time: %d %s", verb, took, rc, err->message);
    if ((rc == 0) != (reply != NULL))
        fail_msg("%s: %d: %s", verb, rc, err->message);
    hm_reply_free(reply);
    hm_request_free(request);
    hm__text_release(body);
    return rc;
}

/* The request needs much time or memory, and is ended soon after that. */
static void is_ended(const char *verb, struct hm_text *body)
{
    struct hm_err err = {0};
    int rc = run_body(verb, body, "body.json", &err);

    if (rc != HM_E_BUDGET && rc != HM_E_CANCELLED)
        fail_msg("%s: %d, %s: %s", verb, rc, err.field, err.message);
}

/* The request ends by itself with this code; a slow machine may cancel it. */
static void ends_with(const char *verb, struct hm_text *body, int code, const char *message)
{
    struct hm_err err = {0};
    int rc = run_body(verb, body, "body.json", &err);

    if (rc != HM_E_CANCELLED && (rc != code || !strstr(err.message, message)))
        fail_msg("%s: %d, %s: %s", verb, rc, err.field, err.message);
}

/* The request takes a small part of the time after which it would be cancelled. */
static void is_quick(const char *verb, struct hm_text *body)
{
    struct hm_err err = {0};
    int rc = run_body(verb, body, "body.json", &err);

    if (rc != 0)
        fail_msg("%s: %d, %s: %s", verb, rc, err.field, err.message);
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* Many conditions on a table with many columns: the names of columns are compared only once. */
static void conditions_on_many_columns(void **state)
{
    enum { COLUMNS = 4090, CONDITIONS = 1000 };
    struct hm_text body = {0};

    (void)state;
    hm__text_add(&body, "{\"runs\": \"n,seconds");
    for (int i = 0; i < COLUMNS; i++)
        hm__text_addf(&body, ",c%03x", (unsigned)i);
    for (int row = 1; row <= 4; row *= 2) {
        hm__text_addf(&body, "\\n%d,%d", row, 1 + row % 2);
        for (int i = 0; i < COLUMNS; i++)
            hm__text_add(&body, ",1");
    }
    hm__text_add(&body, "\", \"where\": [\"c000=1\"");
    for (int i = 1; i < CONDITIONS; i++)
        hm__text_add(&body, ", \"c000=1\"");
    hm__text_add(&body, "]}");
    ends_with("fit", &body, 0, "");
}

/* Runs on one worker: whether the latency matters to them is decided once, not for each row. */
static void rows_of_one_candidate(void **state)
{
    struct hm_text body = {0};

    (void)state;
    hm__text_add(&body, "{\"latency\": \"1 s\", \"runs\": \"n,seconds,latency");
    for (int i = 0; i < 120000; i++)
        hm__text_add(&body, "\\n1,1,1");
    hm__text_add(&body, "\"}");
    ends_with("recommend", &body, 0, "");
}

/* Returns the place of a number of workers in the hash table of fit_data.c. */
static uint64_t hash_of(double n, uint64_t room)
{
    uint64_t hash = 0x9e3779b97f4a7c15u, bits;

    memcpy(&bits, &n, sizeof(bits));
    hash = (hash ^ bits) * 0xff51afd7ed558ccdu;
    return (hash ^ (hash >> 32)) & (room - 1);
}

/*
 * Runs whose numbers of workers have nearly the same hash, some of them twice. They are sorted
 * instead, and the groups are the same.
 */
static void numbers_with_equal_hashes(void **state)
{
    enum { CONFIGURATIONS = 60000, REPEATS = 60, ROOM = 131072, NEAR = 64 };
    struct hm_text body = {0};
    double n = 1;

    (void)state;
    hm__text_add(&body, "n,seconds");
    for (int found = 0; found < CONFIGURATIONS; n++)
        if (hash_of(n, ROOM) < NEAR) {
            hm__text_addf(&body, "\n%.0f,1", n);
            if (found++ % (CONFIGURATIONS / REPEATS) == 0)
                hm__text_addf(&body, "\n%.0f,1.5", n);
        }
    struct hm_request *request = with_document("fit", "runs", body.data);
    double from = processor_s();
    gives(request, NULL, {"run_count", CONFIGURATIONS + REPEATS, NULL},
          {"configuration_count", CONFIGURATIONS, NULL});
    assert_true(processor_s() - from < MOST_S);
    hm__text_release(&body);
}

/* Many algorithms in the question and in the traces: their names are sorted. */
static void names_of_many_algorithms(void **state)
{
    struct hm_text body = {0};

    (void)state;
    hm__text_add(&body, "{\"best\": 0.5, \"algorithms\": [\"a47999\"");
    for (int i = 1; i < 9999; i++)
        hm__text_add(&body, ", \"a47999\"");
    hm__text_add(&body, "], \"traces\": \"algorithm,m,iteration,loss");
    for (int i = 0; i < 48000; i++)
        hm__text_addf(&body, "\\na%05d,1,1,1", i);
    hm__text_add(&body, "\"}");
    ends_with("converge", &body, 0, "");
}

/* ---- traces ---------------------------------------------------------------------------------- */

/* Appends traces with times for `advise`, which another part of the body adds to. */
static void add_small_traces(struct hm_text *body)
{
    hm__text_add(body, "{\"loss\": 0.01, \"traces\": \"algorithm,m,iteration,loss,seconds");
    for (int m = 1; m <= 8; m *= 2)
        for (int i = 1; i < 60; i++)
            hm__text_addf(body, "\\ngd,%d,%d,%g,%g", m, i, exp(-0.1 * i / m) + 0.1, 1. / m);
    hm__text_add(body, "\"");
}

/* Times of many algorithms: each algorithm is looked up in a sorted list. */
static void times_of_many_algorithms(void **state)
{
    struct hm_text body = {0};

    (void)state;
    add_small_traces(&body);
    hm__text_add(&body, ", \"times\": \"algorithm,m,iteration,seconds");
    for (int i = 1; i < 70000; i++)
        hm__text_addf(&body, "\\n%d,1,1,0", i);
    hm__text_add(&body, "\"}");
    ends_with("advise", &body, HM_E_NAME, "which has no traces");
}

/* Times on many numbers of workers, in descending order. */
static void times_in_descending_order(void **state)
{
    struct hm_text body = {0};

    (void)state;
    add_small_traces(&body);
    hm__text_add(&body, ", \"times\": \"m,iteration,seconds");
    for (int m = 70000; m > 1; m--)
        hm__text_addf(&body, "\\n%d,1,1", m);
    hm__text_add(&body, "\"}");
    ends_with("advise", &body, 0, "");
}

/* Traces of one point each, on `count` numbers of workers, in ascending or descending order. */
static void traces_of_one_point(void **state)
{
    (void)state;
    for (int descending = 0; descending < 2; descending++) {
        enum { COUNT = 60000 };
        struct hm_text body = {0};
        hm__text_add(&body, "{\"best\": 1, \"traces\": \"m,iteration,loss");
        for (int i = 1; i <= COUNT; i++)
            hm__text_addf(&body, "\\n%d,1,2", descending ? COUNT + 1 - i : i);
        hm__text_add(&body, "\"}");
        is_ended("converge", &body);
    }
}

/* Many traces on the same number of workers, which differ in their seed. */
static void traces_on_one_number(void **state)
{
    struct hm_text body = {0};

    (void)state;
    hm__text_add(&body, "{\"best\": 1, \"traces\": \"m,iteration,loss,seed");
    for (int i = 1; i < 70000; i++)
        hm__text_addf(&body, "\\n2,1,2,%d", i);
    hm__text_add(&body, "\"}");
    is_ended("converge", &body);
}

/* Traces on many numbers of rows, in ascending order. */
static void traces_on_many_sizes(void **state)
{
    struct hm_text body = {0};

    (void)state;
    hm__text_add(&body, "{\"rows\": 100, \"traces\": \"m,iteration,loss,rows,best");
    for (int rows = 2; rows < 80000; rows++)
        hm__text_addf(&body, "\\n%d,1,2,%d,1", rows % 2 + 1, rows);
    hm__text_add(&body, "\"}");
    is_ended("converge", &body);
}

/* Stale traces with many values of the staleness. */
static void traces_with_staleness(void **state)
{
    struct hm_text body = {0};

    (void)state;
    hm__text_add(&body, "{\"best\": 0.5, \"traces\": \"m,iteration,loss,staleness");
    for (int i = 1; i < 8; i++)
        hm__text_addf(&body, "\\n2,%d,%g,0", i, 1 + 1. / i);
    for (int i = 1; i <= 12000; i++)
        hm__text_addf(&body, "\\n2,1,2,%d", i);
    hm__text_add(&body, "\"}");
    is_ended("converge", &body);
}

/*
 * Times of iterations in an order for which a selection that compares with the middle value removes
 * a few values in each pass: the middle one is always the largest that remains.
 */
static void times_in_the_worst_order(void **state)
{
    enum { COUNT = 60000 };
    static size_t places[COUNT];
    static int times[COUNT];
    struct hm_text body = {0};

    (void)state;
    for (size_t i = 0; i < COUNT; i++)
        places[i] = i;
    for (size_t left = COUNT; left > 0; left--) {
        size_t middle = (left - 1) / 2;
        times[places[middle]] = (int)left;
        places[middle] = places[left - 1];
    }
    hm__text_add(&body, "{\"best\": 0, \"traces\": \"m,iteration,loss,seconds");
    for (int i = 0; i < COUNT; i++)
        hm__text_addf(&body, "\\n1,%d,1,%d", i + 1, times[i]);
    hm__text_add(&body, "\"}");
    is_quick("converge", &body);
}

/* ---- jobs ------------------------------------------------------------------------------------ */

/* A mixture of thousands of groups of experts: how they are spread over the nodes takes time in
 * proportion to their number. */
static void groups_of_experts(void **state)
{
    struct hm_text body = {0};

    (void)state;
    hm__text_add(&body, "{\"job\": {\"network\": {\"kind\": \"transformer\", \"layers\": 4, "
                        "\"hidden\": 64, \"heads\": 4, \"vocabulary\": 100, \"ffn\": 64, "
                        "\"experts\": 98304, \"experts_per_token\": 4096, \"expert_ffn\": 8, "
                        "\"expert_groups\": 8192, \"groups_per_token\": 4096}, \"sequence\": 64, "
                        "\"batch\": 1024, \"cluster\": {\"machine\": \"p5.48xlarge\"}, "
                        "\"parallel\": {\"expert\": 16}}, \"max_n\": 8192}");
    is_quick("plan", &body);
}

/* Many runs with a job that overlaps communication: each draw of a fit is compared with all runs.
 */
static void runs_of_a_job(void **state)
{
    struct hm_text body = {0};

    (void)state;
    hm__text_add(&body, "{\"job\": {\"network\": \"resnet-50\", \"batch\": 256, "
                        "\"cluster\": {\"machine\": \"p4d.24xlarge\"}}, "
                        "\"runs\": \"n,seconds");
    for (int n = 1; n < 70000; n++)
        hm__text_addf(&body, "\\n%d,%.3f", n, 100. / n + 1 + n % 7 * .01);
    hm__text_add(&body, "\"}");
    is_ended("plan", &body);
}

/* Workers that never wait for each other, and more slow nodes than workers: the time of each number
 * of workers is a sum over all workers, so the limits are checked for each number. The sums of all
 * numbers take more time than is allowed here. */
static void slow_nodes_without_waiting(void **state)
{
    struct hm_text body = {0};
    double from = processor_s();

    (void)state;
    hm__text_add(&body, "{\"job\": {\"compute\": \"1000 s/n\", \"communicate\": [{\"bytes\": "
                        "\"1 MB\", \"scheme\": \"ring\"}], \"cluster\": {\"max_nodes\": 8192, "
                        "\"flops\": \"1 Tflop/s\", \"fabric\": {\"bandwidth\": \"1 Gbit/s\", "
                        "\"latency\": \"1 us\"}, \"stragglers\": {\"slow\": 1000000, "
                        "\"slow_factor\": 2, \"spread\": 0.5, \"chance\": 0.1, \"factor\": 3, "
                        "\"pause\": \"1 s\"}}}, \"max_n\": 8192, \"platform\": \"server\", "
                        "\"consistency\": \"async\"}");
    is_ended("plan", &body);
    assert_true(processor_s() - from < 2 * CANCEL_S);
}

/* Machines with a million cores, which are divided among processes: only divisors are tried. */
static void processes_of_many_cores(void **state)
{
    struct hm_text body = {0};

    (void)state;
    hm__text_add(&body, "{\"job\": {\"network\": \"784-2500-10\", \"batch\": 256}, \"on\": [");
    for (int i = 0; i < 60; i++)
        hm__text_addf(&body,
                      "%s{\"machine\": \"xeon-e3-1240\", \"cores\": 999983, \"threads\": "
                      "\"auto\", \"max_nodes\": 1, \"price\": \"$%d/h\"}",
                      i > 0 ? "," : "", i + 1);
    hm__text_add(&body, "], \"max_n\": 1}");
    is_quick("plan", &body);
}

/* A dataflow platform with many waves of tasks: the waves of each number of workers take tens of
 * microseconds, and there are many numbers. */
static void waves_of_many_workers(void **state)
{
    struct hm_text body = {0};

    (void)state;
    hm__text_add(&body, "{\"job\": {\"compute\": \"1000 s/n\", \"communicate\": \"0.1 s\", "
                        "\"dataflow\": {\"partitions\": 10000000, \"skew\": 1000, \"slots\": 1}, "
                        "\"cluster\": {\"max_nodes\": 200000}}, \"max_n\": 200000}");
    is_ended("plan", &body);
}

/* Appends a plan for a network of `count` layers, without the rest of the body. */
static void add_deep_network(struct hm_text *body, int count, int width, int step)
{
    hm__text_addf(body, "{\"job\": {\"network\": \"%d", width);
    for (int i = 1; i <= count; i++)
        hm__text_addf(body, "-%d", width + i * step);
    hm__text_add(body, "\", \"batch\": 4096, ");
}

/* A network of thousands of different layers on many numbers of workers: the layers are added up
 * for each number. */
static void layers_on_many_workers(void **state)
{
    (void)state;
    for (int overlap = 0; overlap < 2; overlap++) {
        struct hm_text body = {0};
        add_deep_network(&body, 4990, 100, 1);
        hm__text_addf(&body,
                      "\"overlap\": \"%s\", \"cluster\": {\"max_nodes\": 400000, \"flops\": "
                      "\"1 Tflop/s\", \"fabric\": {\"bandwidth\": \"10 Gbit/s\", \"latency\": "
                      "\"10 us\"}}}, \"max_n\": 400000}",
                      overlap ? "layers" : "none");
        is_ended("plan", &body);
    }
}

/* A deep network that fits on no number of workers: a pipeline, which the plan would offer, takes
 * long to find. */
static void pipeline_of_a_deep_network(void **state)
{
    struct hm_text body = {0};

    (void)state;
    add_deep_network(&body, 300, 40000, 0);
    hm__text_add(&body, "\"cluster\": {\"machine\": \"p4d.24xlarge\", \"max_nodes\": 16}}}");
    is_quick("plan", &body);
}

/* Processor times at which a request last asked whether it is wanted, the longest time between two
 * such calls, and the time at which the request ends. */
struct calls {
    double last, longest, end;
};

static bool count_call(void *data)
{
    struct calls *calls = data;
    const double now = processor_s();

    calls->longest = fmax(calls->longest, now - calls->last);
    calls->last = now;
    return now > calls->end;
}

/* The edges of a power law are joined at random, and then entered into a set with millions of
 * slots, which are far apart in memory. */
static void edges_of_a_power_law(void **state)
{
    struct calls calls = {.last = processor_s(), .end = processor_s() + 3};
    const struct hm_context context = {
        .limits = {.bytes = 256000000}, .cancelled = count_call, .cancelled_data = &calls};
    struct hm_request *request = new_request("graph");
    struct hm_reply *reply = NULL;

    (void)state;
    set(request, "generate", "power-law");
    set(request, "vertices", "2000000");
    set(request, "edges", "4190000");
    set(request, "max_degree", "100");
    hm_request_run(request, &context, &reply, NULL);
    if (calls.longest > 0.2)
        fail_msg("%g s of processor time between two checks", calls.longest);
    hm_reply_free(reply);
    hm_request_free(request);
}

/* Runs a recommendation with a budget that is spent at the check with this number. Returns the
 * number of checks. */
static long recommend_until(long checks, int code)
{
    static const char runs[] = "n,seconds\n1,10\n2,5.6\n4,3.1\n8,2.2\n1,10.2\n2,5.5\n4,3.2\n8,2.1";
    struct hm_request *request = with_document("recommend", "runs", runs);
    struct hm_budget budget = {.checks = checks};
    struct hm_reply *reply = NULL;

    set(request, "n", "1..400");
    hm__budget_enter(&budget);
    assert_int_equal(hm_request_run(request, NULL, &reply, NULL), code);
    hm__budget_leave(&budget);
    if (code)
        assert_string_equal(budget.field, "n");
    hm_reply_free(reply);
    hm_request_free(request);
    return checks - budget.checks;
}

/* All candidates are compared for each of 2000 draws, twice; the limits are checked for each draw.
 */
static void candidates_of_many_draws(void **state)
{
    (void)state;
    long all = recommend_until(1 << 30, 0);
    for (long before = 200; before < 4000; before += 500)
        recommend_until(all - before, HM_E_CANCELLED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conditions_on_many_columns), cmocka_unit_test(rows_of_one_candidate),
        cmocka_unit_test(names_of_many_algorithms),   cmocka_unit_test(times_of_many_algorithms),
        cmocka_unit_test(times_in_descending_order),  cmocka_unit_test(traces_of_one_point),
        cmocka_unit_test(traces_on_one_number),       cmocka_unit_test(traces_on_many_sizes),
        cmocka_unit_test(traces_with_staleness),      cmocka_unit_test(numbers_with_equal_hashes),
        cmocka_unit_test(groups_of_experts),          cmocka_unit_test(runs_of_a_job),
        cmocka_unit_test(times_in_the_worst_order),   cmocka_unit_test(slow_nodes_without_waiting),
        cmocka_unit_test(processes_of_many_cores),    cmocka_unit_test(candidates_of_many_draws),
        cmocka_unit_test(waves_of_many_workers),      cmocka_unit_test(layers_on_many_workers),
        cmocka_unit_test(pipeline_of_a_deep_network), cmocka_unit_test(edges_of_a_power_law),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
