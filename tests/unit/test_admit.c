/*
 * Tests admission: a request whose work would take far longer than its time limit is refused before
 * the work starts, a smaller one is answered, and the estimates agree with the steps that the
 * engines count. The same holds for memory. No test measures times.
 */
#include "request_testing.h"

#include "admit.h"

enum { MANY = 1 << 30, FEW = 20000, FIELDS = 6 };

/* The message has the estimated work, its factors, its time and the limit; the hint has the largest
 * factor that depends on a field. */
static void limits_are_exact(void **state)
{
    struct hm_budget budget = {.seconds = 2};
    struct hm_work_factor factors[] = {
        {NULL, 1e9, "constants"}, {"a", 50, "things"}, {"b", 0.05, "others"}};
    struct hm_err err = {0};

    (void)state;
    /* A fit to a trace takes 0.3 ms, so 10 times 2 s are enough for 66,666 of them. */
    hm__budget_enter(&budget);
    factors[0].count = 66666;
    assert_int_equal(hm__admit(HM_STEP_TRACE, factors, 1, &err), 0);
    assert_true(budget.estimated[HM_STEP_TRACE] == 66666);
    hm__budget_leave(&budget);

    hm__budget_enter(&budget);
    assert_true(budget.estimated[HM_STEP_TRACE] == 0);
    factors[0].count = 1000000;
    factors[2].count = 0.5;
    assert_int_equal(hm__admit(HM_STEP_TRACE, factors, 3, &err), HM_E_LIMIT);
    hm__budget_leave(&budget);
    assert_string_equal(err.message,
                        "the request needs about 2.5e+07 fits to a trace (1e+06 constants x 50 "
                        "things x 0.5 others), at least 7.5e+03 s; its time limit is 2 s");
    assert_string_equal(err.field, "a");
    assert_string_equal(err.hint,
                        "ask for fewer things, the largest factor, or raise the time limit");
}

static void estimates_add_up(void **state)
{
    struct hm_budget budget = {.seconds = 1};
    const struct hm_work_factor traces = {"traces", 20000, "traces"},
                                rows = {"window", 3e8, "rows"};
    struct hm_err err = {0};

    (void)state;
    hm__budget_enter(&budget);
    assert_int_equal(hm__admit(HM_STEP_TRACE, &traces, 1, &err), 0); /* 6 of 10 s. */
    assert_int_equal(hm__admit(HM_STEP_ROW, &rows, 1, &err), HM_E_LIMIT);
    hm__budget_leave(&budget);
    assert_string_equal(err.field, "window");
    assert_non_null(strstr(err.message, "at least 12 s"));
}

static void nothing_is_refused_without_a_limit(void **state)
{
    struct hm_budget budget = {.bytes = 1 << 20};
    const struct hm_work_factor factor = {"n", 1e30, "things"};

    (void)state;
    assert_int_equal(hm__admit(HM_STEP_SPLIT, &factor, 1, NULL), 0);
    hm__budget_enter(&budget);
    assert_int_equal(hm__admit(HM_STEP_SPLIT, &factor, 1, NULL), 0);
    hm__budget_leave(&budget);
    budget.seconds = 1;
    hm__budget_enter(&budget);
    assert_int_equal(hm__admit(HM_STEP_SPLIT, &factor, 1, NULL), HM_E_LIMIT);
    hm__budget_leave(&budget);
}

/* A call that cannot be ended early must end within the time that is left, not ten times that. */
static void calls_fit_the_time_that_is_left(void **state)
{
    struct hm_budget budget = {.seconds = 1e6};
    struct hm_err err = {0};

    (void)state;
    assert_int_equal(hm__admit_call(HM_STEP_TRACE, 1e30, "a", &err), 0); /* There is no budget. */
    hm__budget_enter(&budget);
    assert_int_equal(hm__admit_call(HM_STEP_TRACE, 0.99e6 / 0.3e-3, "a", &err), 0);
    assert_int_equal(hm__admit_call(HM_STEP_TRACE, 1.01e6 / 0.3e-3, "a", &err), HM_E_LIMIT);
    assert_string_equal(err.field, "a");
    assert_non_null(strstr(err.message, "3.4e+09 fits to a trace, which cannot be ended early, "
                                        "need at least 1e+06 s; of the time limit of 1e+06 s, "));
    budget.end_s -= 0.5e6;
    assert_int_equal(hm__admit_call(HM_STEP_TRACE, 0.49e6 / 0.3e-3, "a", NULL), 0);
    assert_int_equal(hm__admit_call(HM_STEP_TRACE, 0.51e6 / 0.3e-3, "a", NULL), HM_E_LIMIT);
    budget.end_s = -1;
    assert_int_equal(hm__admit_call(HM_STEP_TRACE, 1, "a", &err), HM_E_LIMIT);
    budget.seconds = 0;
    assert_int_equal(hm__admit_call(HM_STEP_TRACE, 1e30, "a", NULL), 0);
    hm__budget_leave(&budget);
}

/* ---- requests ---------------------------------------------------------------------------------
 */

/* A request: fields and texts in turn. Traces and machines are made as described below. */
struct ask {
    const char *verb;
    const char *fields[2 * FIELDS];
    int machines;                 /* Number of clusters in `on`. */
    int workers, repeats, points; /* Numbers of m, and for each traces and points of a trace. */
    const char *job;
};

static const char cluster_text[] = "{flops: 1 Gflop/s, max_nodes: 8192, fabric: 10gbe, "
                                   "stragglers: {spread: 0.2, chance: 5 %, factor: 3}}";
static const char network_job[] = "network: {parameters: 1e6, forward: 1 Gflop}\nbatch: 65536\n";
static const char many_trials[] =
    "graph: {generate: random, vertices: 1000, edges: 1000, split: random, trials: 1000000}\n"
    "communicate: none\ncluster: {flops: 1 Gflop/s}\n";
static const char few_trials[] =
    "graph: {generate: random, vertices: 1000, edges: 1000, split: random, trials: 3}\n"
    "communicate: none\ncluster: {flops: 1 Gflop/s}\n";
static const char degrees_text[] = "2 100000\n4 50000\n100 10\n";

static void set_traces(struct hm_request *request, const struct ask *ask)
{
    struct hm_text text = {0};

    hm__text_add(&text, "algorithm,m,seed,iteration,loss,seconds\n");
    for (int m = 1; m <= ask->workers; m++)
        for (int r = 0; r < ask->repeats; r++)
            for (int p = 0; p < ask->points; p++)
                hm__text_addf(&text, "sgd,%d,%d,%d,%.6g,%d\n", m, r, 1 + 3 * p,
                              0.1 + (1 + 0.1 * m + 0.01 * r) / sqrt(1 + 3 * p), 1 + 3 * p);
    set_document(request, "traces", text.data);
    hm__text_release(&text);
}

static struct hm_request *make_request(const struct ask *ask)
{
    struct hm_request *request = new_request(ask->verb);

    if (ask->job)
        set_document(request, "job", ask->job);
    for (int i = 0; i < ask->machines; i++)
        set_document(request, "on", cluster_text);
    if (ask->workers > 0)
        set_traces(request, ask);
    for (size_t i = 0; i < FIELDS && ask->fields[2 * i]; i++) {
        if (strcmp(ask->fields[2 * i], "graph") == 0)
            set_document(request, "graph", ask->fields[2 * i + 1]);
        else
            set(request, ask->fields[2 * i], ask->fields[2 * i + 1]);
    }
    return request;
}

/* Runs a request with a budget, which then has its estimates and the steps that were counted. */
static int run_ask(const struct ask *ask, struct hm_budget *budget, struct hm_err *err)
{
    const struct hm_context context = {.files = hm_local_files()};
    struct hm_request *request = make_request(ask);
    struct hm_reply *reply = NULL;

    hm__budget_enter(budget);
    int rc = hm_request_run(request, &context, &reply, err);
    hm__budget_leave(budget);
    assert_true((rc == 0) == (reply != NULL));
    hm_reply_free(reply);
    hm_request_free(request);
    return rc;
}

#define RANDOM_GRAPH "generate", "random", "vertices", "2000", "edges", "4000"

#define SIXTEEN_TERMS                                                                              \
    "1,size/n,ln(n),n,n^2,sqrt(n),size,1/n,size*n,n^3,n*ln(n),size^2,size^2/n,1/n^2,exp(-n),sqrt(" \
    "size)"

/* Requests that take more than 50 s even on a fast machine, the field that their error names, and a
 * smaller request each. */
static const struct {
    struct ask hopeless, small;
    const char *field, *source;
} pairs[] = {
    {{"graph", {RANDOM_GRAPH, "split", "random", "trials", "1000000", "parts", "2..100"}},
     {"graph", {RANDOM_GRAPH, "split", "random", "trials", "3", "parts", "2..10"}},
     "trials",
     "request"},
    {{"graph", {RANDOM_GRAPH, "split", "edge-random", "trials", "100000", "parts", "2..100"}},
     {"graph", {RANDOM_GRAPH, "split", "edge-random", "trials", "3", "parts", "2..10"}},
     "trials",
     "request"},
    {{"graph",
      {"generate", "power-law", "vertices", "100000", "edges", "400000", "max_degree", "1000",
       "split", "hdrf", "parts", "2..5000"}},
     {"graph", {RANDOM_GRAPH, "split", "hdrf", "parts", "2..10"}},
     "edges",
     "request"},
    {{"graph", {"generate", "grid", "vertices", "100000", "split", "metis", "parts", "2..5000"}},
     {"graph", {"generate", "grid", "vertices", "1000", "split", "dealt", "parts", "2..5"}},
     "vertices",
     "request"},
    {{"graph",
      {"graph", degrees_text, "format", "degrees", "split", "random", "trials", "1000000", "parts",
       "1000..2000"}},
     {"graph",
      {"graph", degrees_text, "format", "degrees", "split", "random", "trials", "2", "parts",
       "2,100"}},
     "trials",
     "request"},
    {{"graph",
      {"graph", degrees_text, "format", "degrees", "split", "greedy", "parts", "60000..90000"}},
     {"graph", {"graph", degrees_text, "format", "degrees", "split", "all", "parts", "2,100"}},
     "graph",
     "request"},
    {{"plan", {"max_n", "1000"}, .job = many_trials},
     {"plan", {"max_n", "10"}, .job = few_trials},
     "graph.trials",
     ""},
    {{"plan",
      {"platform", "server", "consistency", "ssp", "staleness", "1000"},
      .machines = 64,
      .job = network_job},
     {"plan",
      {"platform", "server", "consistency", "ssp", "max_n", "20"},
      .machines = 2,
      .job = network_job},
     "staleness",
     "request"},
    {{"recommend", {"n", "1..1000"}, .job = many_trials},
     {"recommend", {"n", "1..10"}, .job = few_trials},
     "graph.trials",
     ""},
    {{"plan", {"platform", "pipeline", "batch", "8192"}, .machines = 64, .job = "resnet-50"},
     {"plan",
      {"platform", "pipeline", "batch", "64", "max_n", "8"},
      .machines = 1,
      .job = "resnet-50"},
     "max_n",
     "request"},
    {{"design", {"n", "1..1000", "size", "0.01..1:100", "terms", SIXTEEN_TERMS}},
     {"design", {"n", "1..5", "size", "0.5,1"}},
     "n",
     "request"},
    {{"converge", {"leave_out", "each"}, .workers = 500, .repeats = 1, .points = 3},
     {"converge", {"leave_out", "each"}, .workers = 4, .repeats = 1, .points = 12},
     "leave_out",
     "request"},
    {{"converge", {"ahead", "1", "window", "30000"}, .workers = 1, .repeats = 1, .points = 60000},
     {"converge", {"ahead", "1", "window", "20"}, .workers = 1, .repeats = 1, .points = 60},
     "traces",
     "request"},
};

enum { PAIRS = sizeof(pairs) / sizeof(pairs[0]) };

/*
 * The work of a refused request was not started: no step was counted, and only reading the request
 * made checks. With a larger time limit, the request is admitted: a check after those ends it.
 */
static void hopeless_requests_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < PAIRS; i++) {
        struct hm_budget budget = {.seconds = 5, .checks = MANY};
        struct hm_err err = {0};
        int rc = run_ask(&pairs[i].hopeless, &budget, &err);
        long checks = MANY - budget.checks;
        if (rc != HM_E_LIMIT || strcmp(err.field, pairs[i].field) != 0 ||
            strcmp(err.source, pairs[i].source) != 0)
            fail_msg("request %zu: %d %s: %s: %s", i, rc, err.source, err.field, err.message);
        assert_non_null(strstr(err.message, "its time limit is 5 s"));
        assert_non_null(strstr(err.hint, "the largest factor"));
        for (int k = 0; k < HM_STEPS; k++)
            assert_true(budget.counted[k] == 0);
        if (checks > FEW)
            fail_msg("request %zu: %ld checks", i, checks);

        budget = (struct hm_budget){.seconds = 1e7, .checks = checks + 1};
        err = (struct hm_err){0};
        rc = run_ask(&pairs[i].hopeless, &budget, &err);
        if (rc != HM_E_CANCELLED && rc != HM_E_UNSUPPORTED) /* A build may be without METIS. */
            fail_msg("request %zu: %d %s: %s", i, rc, err.field, err.message);
    }
}

/*
 * METIS needs about 20 s for 8192 parts of this graph, which is less than ten times the limit, but
 * it does not end at the limit. It takes a fraction of the limit for two parts.
 */
static void splits_that_cannot_be_ended_are_refused(void **state)
{
    static const struct ask many = {"graph",
                                    {"generate", "random", "vertices", "300000", "edges", "3000000",
                                     "split", "metis", "parts", "8192"}};
    struct ask two = many;
    struct hm_budget budget = {.seconds = 3, .checks = MANY};
    struct hm_err err = {0};

    (void)state;
    assert_int_equal(run_ask(&many, &budget, &err), HM_E_LIMIT);
    assert_string_equal(err.field, "edges");
    assert_non_null(strstr(err.message, "assignments by METIS, which cannot be ended early"));
    assert_true(MANY - budget.checks <= FEW && budget.counted[HM_STEP_METIS] == 0);

    two.fields[9] = "2";
    budget.checks = MANY - budget.checks + 1;
    assert_int_equal(run_ask(&two, &budget, &err), HM_E_CANCELLED);
}

/* The limits are far larger than the time of the requests, because the machine may be busy. */
static void smaller_requests_are_answered(void **state)
{
    (void)state;
    for (size_t i = 0; i < PAIRS; i++) {
        struct hm_budget budget = {.seconds = 600};
        struct hm_err err = {0};
        if (run_ask(&pairs[i].small, &budget, &err))
            fail_msg("request %zu: %s: %s", i, err.field, err.message);
    }
}

/* ---- estimates --------------------------------------------------------------------------------
 */

static const struct ask counted[] = {
    {"graph", {RANDOM_GRAPH, "split", "dealt", "parts", "1..20"}},
    {"graph", {RANDOM_GRAPH, "split", "random", "trials", "7", "parts", "2..9"}},
    {"graph", {RANDOM_GRAPH, "split", "greedy", "parts", "2..9"}},
    {"graph", {RANDOM_GRAPH, "split", "hash", "parts", "2..9"}},
    {"graph", {RANDOM_GRAPH, "split", "edge-random", "trials", "7", "parts", "2..9"}},
    {"graph", {RANDOM_GRAPH, "split", "hdrf", "parts", "2..9"}},
    {"graph", {RANDOM_GRAPH, "split", "hdrf", "parts", "100"}},
    {"graph", {RANDOM_GRAPH, "split", "metis", "parts", "2..5"}},
    {"graph", {"generate", "grid", "vertices", "900", "parts", "2..9"}},
    {"graph", {"graph", degrees_text, "format", "degrees", "parts", "2..9"}},
    {"graph",
     {"graph", degrees_text, "format", "degrees", "split", "random", "trials", "7", "parts",
      "2..40"}},
    {"graph", {"graph", degrees_text, "format", "degrees", "split", "greedy", "parts", "2..40"}},
    {"plan", {"max_n", "30"}, .job = few_trials},
    {"plan", {"max_n", "3"}, .job = few_trials},
    {"recommend", {"n", "1..20"}, .job = few_trials},
    {"plan",
     {"platform", "server", "consistency", "ssp", "servers", "2", "max_n", "10"},
     .machines = 1,
     .job = network_job},
    {"plan",
     {"platform", "server", "consistency", "ssp", "servers", "2", "max_n", "10"},
     .machines = 6,
     .job = network_job},
    {"plan",
     {"platform", "server", "consistency", "ssp", "staleness", "100", "max_n", "10"},
     .machines = 2,
     .job = network_job},
    {"plan",
     {"platform", "server", "consistency", "ssp", "n", "8,16,100"},
     .machines = 1,
     .job = network_job},
    {"plan",
     {"platform", "pipeline", "batch", "256", "max_n", "16"},
     .machines = 1,
     .job = "vgg-16"},
    {"plan",
     {"platform", "pipeline", "batch", "4096", "max_n", "32"},
     .machines = 2,
     .job = "resnet-50"},
    {"design", {"n", "1..10", "size", "0.1..1:10", "terms", "1,size/n"}},
    {"design", {"n", "1..10", "size", "0.1..1:10", "terms", "1,size/n", "criterion", "D"}},
    {"design", {"n", "1..100", "size", "0.1..1:10", "budget", "20"}},
    {"design", {"n", "1..30", "size", "0.1..1:30", "criterion", "I", "target", "64"}},
    {"converge", {"best", "0.05"}, .workers = 5, .repeats = 2, .points = 12},
    {"converge", {"best", "0.05", "leave_out", "each"}, .workers = 5, .repeats = 2, .points = 12},
    {"converge", {"best", "0.05", "leave_out", "3"}, .workers = 5, .repeats = 2, .points = 12},
    {"converge", {"best", "0.05", "leave_out", "each"}, .workers = 2, .repeats = 5, .points = 12},
    {"converge", {"best", "0.05", "ahead", "1"}, .workers = 3, .repeats = 1, .points = 90},
    {"converge",
     {"best", "0.05", "ahead", "20", "window", "60"},
     .workers = 1,
     .repeats = 2,
     .points = 90},
    {"advise",
     {"best", "0.05", "loss", "0.3", "m", "1..4"},
     .workers = 5,
     .points = 12,
     .repeats = 2},
};

/* The estimate of each kind of step is at most twice, and at least half of the number that the
 * engine counts. */
static void estimates_match_the_engines(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(counted) / sizeof(counted[0]); i++) {
        struct hm_budget budget = {0};
        struct hm_err err = {0};
        bool any = false;
        int rc = run_ask(&counted[i], &budget, &err);
        if (rc == HM_E_UNSUPPORTED && budget.estimated[HM_STEP_METIS] > 0)
            continue; /* This build has no METIS. */
        if (rc)
            fail_msg("request %zu: %s: %s", i, err.field, err.message);
        for (int k = 0; k < HM_STEPS; k++) {
            double estimated = budget.estimated[k], number = budget.counted[k];
            /* A plan tries one split with METIS, which is not worth an estimate. */
            if (k == HM_STEP_METIS && strcmp(counted[i].verb, "plan") == 0)
                continue;
            if (estimated > 2 * number || estimated < number / 2)
                fail_msg("request %zu, kind %d: estimated %g, counted %g", i, k, estimated, number);
            any = any || estimated > 0;
        }
        assert_true(any);
    }
}

/* ---- memory -----------------------------------------------------------------------------------
 */

static void memory_limits_are_exact(void **state)
{
    struct hm_budget budget = {.bytes = 3000000};
    const struct hm_work_factor edges = {"edges", 1234, "edges"};
    struct hm_err err = {0};

    (void)state;
    assert_int_equal(hm__admit_bytes(1e30, edges, &err), 0); /* No budget is in force. */
    hm__budget_enter(&budget);
    budget.used = 1000000;
    assert_int_equal(hm__admit_bytes(2000000, edges, &err), 0);
    assert_int_equal(hm__admit_bytes(2000001, edges, &err), HM_E_LIMIT);
    budget.used = 0;
    hm__budget_leave(&budget);
    assert_string_equal(err.message, "the request needs at least 2 MB of memory for 1234 edges; "
                                     "its memory limit is 3 MB");
    assert_string_equal(err.field, "edges");
    assert_string_equal(err.hint, "ask for fewer edges, or raise the memory limit");

    budget.bytes = 0;
    hm__budget_enter(&budget);
    assert_int_equal(hm__admit_bytes(1e30, edges, &err), 0);
    hm__budget_leave(&budget);
}

/* Requests that need some megabytes, and the field that their error names. */
static const struct {
    struct ask ask;
    const char *field;
} large[] = {
    {{"graph",
      {"generate", "random", "vertices", "3000", "edges", "50000", "split", "dealt", "parts", "2"}},
     "edges"},
    {{"graph",
      {"generate", "power-law", "vertices", "5000", "edges", "50000", "max_degree", "400", "split",
       "dealt", "parts", "2"}},
     "edges"},
    {{"graph", {"generate", "grid", "vertices", "40000", "split", "dealt", "parts", "2"}},
     "vertices"},
    {{"graph",
      {"generate", "random", "vertices", "30000", "edges", "20000", "split", "edge-random",
       "trials", "1", "parts", "2000"}},
     "parts"},
};

static int run_within(size_t i, size_t bytes, struct hm_err *err)
{
    struct hm_budget budget = {.bytes = bytes};

    *err = (struct hm_err){0};
    return run_ask(&large[i].ask, &budget, err);
}

/*
 * The estimate of the memory is a lower bound: just below the smallest limit with which the request
 * is answered, it is admitted, and an allocation fails. With a quarter of that limit, it is refused
 * before its work starts.
 */
static void requests_too_large_for_memory_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); i++) {
        size_t fails = 1, works = (size_t)1 << 26;
        struct hm_err err;

        assert_int_equal(run_within(i, works, &err), 0);
        while (works - fails > 10000) {
            size_t middle = fails + (works - fails) / 2;
            *(run_within(i, middle, &err) == 0 ? &works : &fails) = middle;
        }
        int rc = run_within(i, fails, &err);
        if (rc != HM_E_BUDGET)
            fail_msg("request %zu within %zu bytes: %d %s", i, fails, rc, err.message);
        rc = run_within(i, works / 4, &err);
        if (rc != HM_E_LIMIT || strcmp(err.field, large[i].field) != 0 ||
            strcmp(err.source, "request") != 0)
            fail_msg("request %zu within a quarter of %zu bytes: %d %s %s", i, works, rc, err.field,
                     err.message);
        assert_non_null(strstr(err.message, "MB of memory for"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_are_exact),
        cmocka_unit_test(estimates_add_up),
        cmocka_unit_test(nothing_is_refused_without_a_limit),
        cmocka_unit_test(calls_fit_the_time_that_is_left),
        cmocka_unit_test(splits_that_cannot_be_ended_are_refused),
        cmocka_unit_test(hopeless_requests_are_refused),
        cmocka_unit_test(smaller_requests_are_answered),
        cmocka_unit_test(estimates_match_the_engines),
        cmocka_unit_test(memory_limits_are_exact),
        cmocka_unit_test(requests_too_large_for_memory_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
