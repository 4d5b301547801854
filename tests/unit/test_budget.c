/*
 * Tests budgets: a request that runs too long, needs too much memory or is cancelled must end soon,
 * name the limit and the field, and free its memory. The limits on times are generous, because the
 * machine may be busy.
 */
#include "request_testing.h"

#include <time.h>

#include "budget.h"
#include "converge.h"
#include "text.h"

/* A job whose splits take more than 0.25 s but not so long that a request with this limit is
 * refused at once. */
static const char graph_job[] =
    "graph: {generate: random, vertices: 500, edges: 1000, split: random, trials: 3000}\n"
    "communicate: none\ncluster: {flops: 1 Gflop/s, max_nodes: 64}\n";
static const char full_graph_job[] =
    "graph: {generate: random, vertices: 60000, edges: 1700000000}\n"
    "communicate: none\ncluster: {flops: 1 Gflop/s, max_nodes: 64}\n";
static const char large_graph_job[] =
    "graph: {generate: random, vertices: 60000, edges: 1040000}\n"
    "communicate: none\ncluster: {flops: 1 Gflop/s, max_nodes: 64}\n";

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Runs a request that must end with this code, field and part of the message. */
static void ends_with(struct hm_request *request, const struct hm_context *context, int code,
                      const char *field, const char *message)
{
    double from = now_s();

    run_fails(request, context, code, field, message);
    /* Without a budget, some of the requests would take hours. */
    assert_true(now_s() - from < 20);
}

static void time_is_limited(void **state)
{
    const struct hm_context context = {.files = hm_local_files(), .limits = {.seconds = 0.25}};

    (void)state;
    ends_with(with_document("plan", "job", graph_job), &context, HM_E_BUDGET, "trials",
              "time limit of 0.25 s");
}

/* Appends the rows of traces on 60 numbers of workers; `column` has `values` different values. */
static void add_traces(struct hm_text *text, const char *column, int values)
{
    hm__text_addf(text, "algorithm,m,%s,best,iteration,loss\n", column);
    for (int m = 1; m <= 60; m++)
        for (int v = 1; v <= values; v++)
            for (int i = 1; i <= 4; i *= 2)
                hm__text_addf(text, "gd,%d,%d,0.01,%d,%g\n", m, 100 * v, i,
                              1. / i + 0.01 * m + 0.001 * v);
}

/*
 * Small requests that take minutes end at their limit: layouts of a transformer with many divisors,
 * traces on several numbers of rows, traces with many values of the staleness, designs of tiny
 * times, and a file of empty lines.
 */
static void long_loops_end_in_time(void **state)
{
    const struct hm_context context = {.files = hm_local_files(), .limits = {.seconds = 0.25}};
    static const char *const columns[] = {"rows", "staleness"};
    static const char layouts[] =
        "network: {kind: transformer, layers: 10000, hidden: 50400, heads: 5040, kv_heads: 5040, "
        "vocabulary: 1000, experts: 65536, experts_per_token: 1, expert_ffn: 64}\n"
        "sequence: 16777216\nbatch: 1125899906842624\ntokens: 1e18\ntorus: 16x18x28\n"
        "cluster: {machine: p5.48xlarge, max_nodes: 1024}\n";

    (void)state;
    ends_with(with_document("plan", "job", layouts), &context, HM_E_BUDGET, "job", "time limit");
    for (size_t i = 0; i < 2; i++) {
        struct hm_text text = {0};
        add_traces(&text, columns[i], 60);
        ends_with(with_document("converge", "traces", text.data), &context, HM_E_BUDGET, "traces",
                  "time limit");
        hm__text_release(&text);
    }
    /* Without a limit, this must end too. */
    struct hm_reply *reply = NULL;
    struct hm_request *request =
        with_document("plan", "job",
                      "compute: 1e-320 s / n\ncommunicate: 0.1 s * ln(n)\niterations: 1000000\n"
                      "cluster: {max_nodes: 8}\n");
    assert_int_equal(hm_request_run(request, &context, &reply, NULL), 0);
    hm_reply_free(reply);
    hm_request_free(request);
}

/* Lines that a reader of files skips are checked too. */
static void skipped_lines_are_checked(void **state)
{
    enum { LINES = 200000 };
    const struct hm_context context = {.files = hm_local_files()};
    struct hm_budget budget = {.checks = 200};
    struct hm_reply *reply = NULL;
    char *text = malloc(LINES + 1);

    (void)state;
    assert_non_null(text);
    memset(text, '\n', LINES);
    text[LINES] = '\0';
    struct hm_request *request = with_document("import", "files", text);
    set(request, "as", "hf-log");
    hm__budget_enter(&budget);
    assert_int_equal(hm_request_run(request, &context, &reply, NULL), HM_E_CANCELLED);
    hm__budget_leave(&budget);
    assert_string_equal(budget.field, "files");
    hm_request_free(request);
    free(text);
}

static void memory_is_limited(void **state)
{
    const struct hm_context context = {.files = hm_local_files(), .limits = {.bytes = 50000000}};

    (void)state;
    ends_with(with_document("plan", "job", full_graph_job), &context, HM_E_LIMIT, "edges",
              "its memory limit is 50 MB");
    /* The arrays are larger than the estimate, because their lengths are powers of two. */
    ends_with(with_document("plan", "job", large_graph_job), &context, HM_E_BUDGET, "edges",
              "memory than its limit of 50 MB");
    /* The limit applies to the memory that is in use, not to the sum of all allocations. */
    for (int i = 0; i < 3; i++) {
        struct hm_request *request = with_document("plan", "job", small_job);
        const struct hm_context small = {.limits = {.bytes = 4000000}};
        hm_reply_free(run(request, &small));
    }
}

static bool is_unwanted(void *data)
{
    int *asked = data;

    return ++*asked > 3;
}

static void unwanted_work_ends(void **state)
{
    int asked = 0;
    const struct hm_context context = {
        .files = hm_local_files(), .cancelled = is_unwanted, .cancelled_data = &asked};

    (void)state;
    ends_with(with_document("plan", "job", graph_job), &context, HM_E_CANCELLED, "", "cancelled");
    assert_int_equal(asked, 4);
}

/* If the error is about a field of the request, its source is "request", so that the command line
 * can name the option. */
static void fields_are_named(void **state)
{
    const struct hm_context context = {.limits = {.seconds = 0.5}};
    struct hm_request *request = new_request("graph");
    struct hm_reply *reply = NULL;
    struct hm_err err = {0};

    (void)state;
    set(request, "generate", "random");
    set(request, "vertices", "100");
    set(request, "edges", "200");
    set(request, "split", "random");
    set(request, "trials", "60000");
    assert_int_equal(hm_request_run(request, &context, &reply, &err), HM_E_BUDGET);
    assert_string_equal(err.source, "request");
    assert_string_equal(err.field, "trials");
    assert_int_equal(err.line, 0);
    assert_non_null(strstr(err.hint, "trials"));
    hm_request_free(request);

    /* Memory that is spent before the first check belongs to the document. */
    const struct hm_context little = {.limits = {.bytes = 1000}};
    ends_with(with_document("plan", "job", small_job), &little, HM_E_BUDGET, "job", "memory");
    /* Without a document, it belongs to the first field. */
    request = new_request("graph");
    set(request, "edges", "200");
    set(request, "vertices", "100");
    set(request, "generate", "random");
    const struct hm_context none = {.limits = {.bytes = 1}};
    ends_with(request, &none, HM_E_BUDGET, "generate", "memory");
}

/* ---- every check ------------------------------------------------------------------------------
 */

static const char runs_text[] =
    "n,size,seconds\n1,1,9\n2,1,5.2\n4,1,3.1\n4,1,3.2\n8,1,2.3\n8,0.5,1.4\n16,1,2.2\n16,0.5,1.5\n";
static const char traces_text[] =
    "algorithm,m,iteration,loss,seconds\n"
    "sgd,1,1,0.9,1\nsgd,1,2,0.7,2\nsgd,1,4,0.5,4\nsgd,1,8,0.3,8\nsgd,1,16,0.2,16\n"
    "sgd,2,1,0.95,0.6\nsgd,2,2,0.8,1.2\nsgd,2,4,0.6,2.4\nsgd,2,8,0.4,4.8\nsgd,2,16,0.25,9.6\n"
    "sgd,4,1,0.97,0.4\nsgd,4,2,0.85,0.8\nsgd,4,4,0.7,1.6\nsgd,4,8,0.5,3.2\nsgd,4,16,0.3,6.4\n";

static const char long_traces_text[] = "algorithm,m,iteration,loss\n"
                                       "sgd,1,1,0.9\nsgd,1,2,0.7\nsgd,1,3,0.6\nsgd,1,4,0.5\nsgd,1,"
                                       "6,0.42\nsgd,1,8,0.33\nsgd,1,12,0.27\n"
                                       "sgd,1,16,0.2\nsgd,2,1,0.95\nsgd,2,2,0.8\nsgd,2,3,0.7\nsgd,"
                                       "2,4,0.6\nsgd,2,6,0.52\nsgd,2,8,0.41\n"
                                       "sgd,2,12,0.33\nsgd,2,16,0.25\n";

static const char sized_traces_text[] =
    "algorithm,m,rows,best,iteration,loss\n"
    "gd,1,100,0.1,1,0.9\ngd,1,100,0.1,2,0.5\ngd,1,100,0.1,4,0.3\ngd,1,100,0.1,8,0.2\n"
    "gd,1,200,0.1,1,0.9\ngd,1,200,0.1,2,0.6\ngd,1,200,0.1,4,0.4\ngd,1,200,0.1,8,0.25\n"
    "gd,2,100,0.1,1,0.9\ngd,2,100,0.1,2,0.5\ngd,2,100,0.1,4,0.3\ngd,2,100,0.1,8,0.2\n"
    "gd,2,200,0.1,1,0.9\ngd,2,200,0.1,2,0.6\ngd,2,200,0.1,4,0.4\ngd,2,200,0.1,8,0.25\n";
static const char stale_traces_text[] =
    "algorithm,m,staleness,iteration,loss,best\n"
    "sgd,4,0,1,0.9,0.1\nsgd,4,0,2,0.7,0.1\nsgd,4,0,4,0.5,0.1\nsgd,4,0,8,0.3,0.1\n"
    "sgd,4,2,1,0.9,0.1\nsgd,4,2,2,0.75,0.1\nsgd,4,2,4,0.55,0.1\nsgd,4,2,8,0.35,0.1\n"
    "sgd,4,8,1,0.9,0.1\nsgd,4,8,2,0.8,0.1\nsgd,4,8,4,0.6,0.1\nsgd,4,8,8,0.4,0.1\n";

enum { SAMPLES = 12 };

/* Checks and allocations are tried at growing distances: after number i, the next is i + 1 + i /
 * spacing. */
static long trial_spacing(void)
{
    return is_torture() ? 24 : 4;
}

static struct hm_request *sample_request(size_t which)
{
    struct hm_request *request;

    switch (which) {
    case 0:
        request = with_document("plan", "job",
                                "graph: {generate: power-law, vertices: 300, edges: 900, "
                                "max_degree: 60, split: random, trials: 3}\ncommunicate: none\n"
                                "cluster: {flops: 1 Gflop/s, max_nodes: 6}\n");
        return request;
    case 1:
        request = with_document("plan", "job",
                                "network: {parameters: 1e6, forward: 1 Gflop}\nbatch: 64\n"
                                "cluster: {flops: 1 Gflop/s, max_nodes: 6, fabric: 10gbe, "
                                "stragglers: {spread: 0.2, chance: 5 %, factor: 3}}\n");
        set(request, "platform", "all");
        return request;
    case 2:
        return with_document("fit", "runs", runs_text);
    case 3:
        request = with_document("design", "job", small_job);
        set(request, "n", "1..6");
        set(request, "size", "0.5,1");
        return request;
    case 4:
        return with_document("recommend", "runs", runs_text);
    case 5:
        request = with_document("converge", "traces", traces_text);
        set(request, "best", "0.1");
        return request;
    case 6:
        request = with_document("advise", "traces", traces_text);
        set(request, "loss", "0.3");
        set(request, "best", "0.1");
        return request;
    case 7:
        request = with_document("plan", "runs", runs_text);
        return request;
    case 8:
        /* The optimal loss P* is not given, so it is searched. */
        return with_document("converge", "traces", long_traces_text);
    case 9:
        request = with_document("plan", "job",
                                "network: llama-3-8b\nsequence: 8192\nbatch: 256\ntokens: 1T\n"
                                "cluster: {machine: p5.48xlarge, max_nodes: 2}\n");
        set(request, "n", "8");
        return request;
    case 10: /* Traces on two numbers of rows. */
        return with_document("converge", "traces", sized_traces_text);
    case 11:
        return with_document("converge", "traces", stale_traces_text);
    default:
        return NULL;
    }
}

/* Runs sample request number `which` with a budget that is exhausted at check number `check`.
 * Returns the error code and the number of checks that were made. */
static int run_until(size_t which, long check, long *ret_checks)
{
    const struct hm_context context = {.files = hm_local_files()};
    struct hm_request *request = sample_request(which);
    struct hm_budget budget = {.checks = check};
    struct hm_reply *reply = NULL;
    struct hm_err err = {0};

    hm__budget_enter(&budget);
    int rc = hm_request_run(request, &context, &reply, &err);
    hm__budget_leave(&budget);
    *ret_checks = check - budget.checks;
    if (rc == 0 && !reply)
        fail_msg("request %zu has no reply", which);
    if (rc != 0 && rc != HM_E_CANCELLED)
        fail_msg("request %zu, check %ld: %d %s: %s", which, check, rc, err.field, err.message);
    if (rc != 0 && !budget.field)
        fail_msg("request %zu, check %ld: the budget names no field", which, check);
    hm_reply_free(reply);
    hm_request_free(request);
    return rc;
}

/* The points of a prediction are those of `predict`: a budget that is exhausted at the last check
 * names that field. */
static void predictions_are_named(void **state)
{
    long checks[] = {100000000, 0};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct hm_request *request = with_document("fit", "runs", runs_text);
        struct hm_budget budget = {.checks = checks[i]};
        struct hm_reply *reply = NULL;
        struct hm_err err = {0};
        set(request, "predict", "1..50");
        hm__budget_enter(&budget);
        int rc = hm_request_run(request, NULL, &reply, &err);
        hm__budget_leave(&budget);
        assert_int_equal(rc, i ? HM_E_CANCELLED : 0);
        checks[1] = checks[0] - budget.checks;
        if (i)
            assert_string_equal(budget.field, "predict");
        hm_reply_free(reply);
        hm_request_free(request);
    }
}

/* Returns the number of checks in the search for the optimal loss P* of this many equal traces. */
static long count_best_checks(size_t count)
{
    enum { POINTS = 12, MOST = 8 };
    double iteration[POINTS], loss[POINTS], best, low, high;
    struct hm_trace list[MOST];
    struct hm_traces traces = {.traces = list, .count = count};
    struct hm_budget budget = {.checks = 100000000};
    struct hm_err err = {0};

    for (int i = 0; i < POINTS; i++) {
        iteration[i] = i + 1;
        loss[i] = 0.1 + 1.0 / (i + 1);
    }
    assert_true(count <= MOST);
    for (size_t k = 0; k < count; k++)
        list[k] = (struct hm_trace){.m = 1,
                                    .count = POINTS,
                                    .iteration = iteration,
                                    .loss = loss,
                                    .best = NAN,
                                    .bound = -INFINITY};
    hm__budget_enter(&budget);
    assert_int_equal(hm__g_best(&traces, 0.9, 1, &best, &low, &high, &err), 0);
    hm__budget_leave(&budget);
    return 100000000 - budget.checks;
}

/*
 * The search for P* tries 90 values: for each of the traces, and again with 40 sets of weights of
 * the traces. Both loops take long if there are many traces, so both must check the budget. The
 * checks by allocations are far fewer.
 */
static void search_for_best_is_checked(void **state)
{
    long one = count_best_checks(1), eight = count_best_checks(8), of_trace = (eight - one) / 7;

    (void)state;
    assert_true(of_trace >= 90);
    assert_true(one - of_trace >= 90L * 40);
}

/* Whichever check finds that the budget is exhausted, the request must end with this error and free
 * its memory. */
static void every_check_ends_the_request(void **state)
{
    (void)state;
    for (size_t which = 0; which < SAMPLES; which++) {
        long checks, ignored;
        assert_int_equal(run_until(which, 100000000, &checks), 0);
        assert_true(checks > 20);
        for (long check = 1; check <= checks; check += 1 + check / trial_spacing())
            assert_int_equal(run_until(which, check, &ignored), HM_E_CANCELLED);
    }
}

/* If a single allocation fails, the request must fail, even if the code that needed the memory
 * continues without it, because an answer must never lack a part silently. */
static void every_failed_allocation_ends_the_request(void **state)
{
    const struct hm_context context = {.files = hm_local_files()};

    (void)state;
    for (size_t which = 0; which < SAMPLES; which++) {
        int rc = HM_E_NOMEM;
        for (long after = 0; rc == HM_E_NOMEM; after += 1 + after / trial_spacing()) {
            struct hm_request *request = sample_request(which);
            struct hm_reply *reply = NULL;
            struct hm_err err = {0};
            hm__alloc_fail_once(after);
            rc = hm_request_run(request, &context, &reply, &err);
            hm__alloc_fail_after(-1);
            if (rc != 0 && rc != HM_E_NOMEM)
                fail_msg("request %zu, allocation %ld: %d %s", which, after, rc, err.message);
            assert_true((rc == 0) == (reply != NULL));
            hm_reply_free(reply);
            hm_request_free(request);
            if (rc == 0)
                assert_true(after > 20);
        }
    }
}

/* A budget inside another budget is ignored; after the outer budget ends, there is no budget. */
static void budgets_do_not_nest(void **state)
{
    struct hm_budget outer = {.checks = 2}, inner = {.checks = 1};

    (void)state;
    assert_false(hm__budget_spent("x"));
    hm__budget_enter(&outer);
    hm__budget_enter(&inner);
    assert_false(hm__budget_spent("x"));
    assert_true(hm__budget_spent("y"));
    assert_true(hm__budget_spent("z"));
    hm__budget_leave(&inner);
    assert_true(hm__budget_spent("z"));
    assert_null(hm__calloc(1, 1));
    hm__budget_leave(&outer);
    assert_string_equal(outer.field, "y");
    assert_false(hm__budget_spent("x"));
    void *block = hm__calloc(1, 1);
    assert_non_null(block);
    hm__free(block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_is_limited),
        cmocka_unit_test(long_loops_end_in_time),
        cmocka_unit_test(skipped_lines_are_checked),
        cmocka_unit_test(memory_is_limited),
        cmocka_unit_test(unwanted_work_ends),
        cmocka_unit_test(fields_are_named),
        cmocka_unit_test(predictions_are_named),
        cmocka_unit_test(search_for_best_is_checked),
        cmocka_unit_test(every_check_ends_the_request),
        cmocka_unit_test(every_failed_allocation_ends_the_request),
        cmocka_unit_test(budgets_do_not_nest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
