/*
 * Tests boundaries of the questions of plan: limits of workers and of the work of splitting a
 * graph, fields that exclude each other, jobs that train transformers, and costs of staleness from
 * fits with several algorithms.
 */
#include "advise_samples.h"
#include "request_testing.h"

#include "budget.h"
#include "files.h"

static struct hm_request *plan_with(const char *job, const char *field, const char *value)
{
    struct hm_request *request = with_document("plan", "job", job);

    if (field)
        set(request, field, value);
    return request;
}

static void fails_with(struct hm_request *request, const struct hm_context *context, int code,
                       const char *field, const char *message, const char *hint)
{
    struct hm_reply *reply = NULL;
    struct hm_err err = {0};
    int rc = hm_request_run(request, context, &reply, &err);

    if (rc != code || strcmp(err.field, field) != 0 || strcmp(err.message, message) != 0 ||
        strcmp(err.hint, hint) != 0)
        fail_msg("%d, %s: '%s' (%s), not %s", rc, err.field, err.message, err.hint, message);
    hm_request_free(request);
}

/* ---- limits ---------------------------------------------------------------------------------- */

/* The largest n is that of the question or, if it gives none, the number of workers of the largest
 * machine. */
static void workers_are_limited(void **state)
{
    static const char eight[] =
        "compute: 8 s / n\ncommunicate: 1 s\n"
        "cluster: {max_nodes: 4, accelerators: 2, flops: 1 Tflop/s, fabric: "
        "{bandwidth: 1 GB/s, latency: 0 s}, link: {bandwidth: 1 GB/s, "
        "latency: 0 s}}\n";
    struct hm_context context = {.limits = {.max_n = 8}};
    struct hm_request *request;

    (void)state;
    gives(plan_with(eight, NULL, NULL), &context, {"best.n", 8, NULL});
    gives(plan_with(eight, "max_n", "8"), &context, {"best.n", 8, NULL});
    gives(plan_with(eight, "n", "8,2"), &context, {"best.n", 8, NULL}, {"curve", 2, NULL});
    fails_with(plan_with(eight, "max_n", "9"), &context, HM_E_LIMIT, "max_n",
               "9 workers; at most 8 are allowed", "");
    fails_with(plan_with(eight, "n", "9,2"), &context, HM_E_LIMIT, "max_n",
               "9 workers; at most 8 are allowed", "");
    context.limits.max_n = 7;
    fails_with(plan_with(eight, NULL, NULL), &context, HM_E_LIMIT, "max_n",
               "8 workers; at most 7 are allowed", "");
    /* The curve has one worker and then whole nodes of two workers. */
    gives(plan_with(eight, "max_n", "7"), &context, {"curve", 4, NULL});
    gives(plan_with(eight, "n", "6"), &context, {"curve", 1, NULL});
    /* The second of two machines has more workers. */
    request = plan_with("compute: 8 s / n\ncommunicate: 1 s\n", NULL, NULL);
    set_document(request, "on", "{max_nodes: 4, flops: 1 Tflop/s}");
    set_document(request, "on", "{max_nodes: 9, flops: 1 Tflop/s}");
    fails_with(request, &context, HM_E_LIMIT, "max_n", "9 workers; at most 7 are allowed", "");
    context.limits.max_n = 0;
    gives(plan_with(eight, "max_n", "64"), &context, {"curve", 5, NULL});
}

/* The work of a split is (vertices + edges) * numbers of workers above 1 * trials of random
 * methods; that of HDRF is edges * the mean number of workers * numbers of workers. A plan
 * considers up to 64 workers for a graph, and never more than there are vertices. */
static void splits_are_estimated(void **state)
{
    static const struct {
        const char *split, *max_n;
        enum hm_step step;
        double work;
    } rows[] = {
        {"dealt", "10", HM_STEP_SPLIT, 300 * 9},         {"greedy", "10", HM_STEP_SPLIT, 300 * 9},
        {"random", "10", HM_STEP_SPLIT, 300 * 9 * 7},    {"hash", "10", HM_STEP_SPLIT, 300 * 9},
        {"hdrf", "10", HM_STEP_COMPARE, 200 * (55 - 1)}, {"dealt", NULL, HM_STEP_SPLIT, 300 * 63},
        {"dealt", "1000", HM_STEP_SPLIT, 300 * 99}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct hm_budget budget = {.seconds = 600};
        char job[400];
        snprintf(job, sizeof(job),
                 "graph: {generate: random, vertices: 100, edges: 200, seed: 1, split: %s, "
                 "states: 2, trials: 7}\ncommunicate: none\n"
                 "cluster: {flops: 1 Gflop/s}\n",
                 rows[i].split);
        struct hm_request *request = plan_with(job, NULL, NULL);
        if (rows[i].max_n)
            set(request, "max_n", rows[i].max_n);
        hm__budget_enter(&budget);
        hm_reply_free(run(request, NULL));
        hm__budget_leave(&budget);
        assert_float_equal(budget.estimated[rows[i].step], rows[i].work, 1e-6);
    }
}

/* ---- fields that exclude each other ---------------------------------------------------------- */

static void questions_are_checked(void **state)
{
    static const char runs[] = "n,seconds\n1,10\n2,6\n4,4\n8,3\n";
    static const char *const of_runs[][2] = {
        {"where", "n=1"}, {"terms", "1,1/n"}, {"level", "0.9"}};
    static const char *const endings[] = {"a.csv", "a.tsv"};
    struct hm_request *request = new_request("plan");

    (void)state;
    fails_with(request, NULL, HM_E_MISSING, "job", "no job is given",
               "name a network from the catalog, such as resnet-50, or a file, such as "
               "examples/fig1.yaml; `howmany init` writes one");
    for (size_t i = 0; i < 3; i++)
        fails_with(plan_with(small_job, of_runs[i][0], of_runs[i][1]), NULL, HM_E_CONFLICT,
                   of_runs[i][0], "this needs runs", "");
    request = plan_with(small_job, "on", "p3.2xlarge,p3.8xlarge");
    set_document(request, "runs", runs);
    fails_with(request, NULL, HM_E_CONFLICT, "on", "the runs were made on one machine: name one",
               "");
    request = plan_with(small_job, "layers", "true");
    set(request, "csv", "true");
    fails_with(request, NULL, HM_E_CONFLICT, "layers",
               "this is a table to read; leave out json and csv", "");
    fails_with(plan_with(small_job, "layers", "true"), NULL, HM_E_MISSING, "layers",
               "the job has no network with layers", "");
    fails_with(plan_with(small_job, "emit", "megatron"), NULL, HM_E_CONFLICT, "emit",
               "this needs a job that trains a transformer", "");
    fails_with(plan_with(small_job, "explain_layout", "true"), NULL, HM_E_CONFLICT,
               "explain_layout", "this needs a job that trains a transformer", "");
    request = with_document("plan", "runs", "n,speedup\n1,1\n2,1.9\n4,3.5\n8,6\n");
    fails_with(request, NULL, HM_E_MISSING, "runs", "runs has speedups only",
               "also give the job, whose model has the time on one worker, or give seconds");
    /* If a table is given in place of the job, it contains the runs. */
    for (size_t i = 0; i < 2; i++) {
        request = new_request("plan");
        assert_int_equal(
            hm_request_set_document(request, "job", endings[i], runs, strlen(runs), NULL), 0);
        gives(request, NULL, {"provenance", .text = "fit"});
    }
}

/* Even a budget below one unit of money needs a price; with several machines, one price is enough,
 * and machines without a price are left out. */
static void budgets_need_prices(void **state)
{
    static const char job[] = "compute: 100 s / n\ncommunicate: 1 s * n\n";
    static const char free_machine[] = "{max_nodes: 16, flops: 1 Tflop/s}",
                      priced[] = "{max_nodes: 4, flops: 1 Tflop/s, price: $3.6/h}";
    struct hm_request *request = plan_with(job, "budget", "$0.5");

    (void)state;
    set_document(request, "on", free_machine);
    fails_with(request, NULL, HM_E_MISSING, "budget",
               "a budget needs a price, and the cluster has none",
               "give cluster.price, such as $1/h");
    for (int with = 0; with < 2; with++) {
        request = plan_with(job, NULL, NULL);
        set_document(request, "on", free_machine);
        set_document(request, "on", priced);
        if (with)
            set(request, "budget", "$0.18");
        /* 4 workers take 29 s and 0.116 dollars; without a budget, 10 workers take 20 s. */
        gives(request, NULL, {"best.n", with ? 4 : 10, NULL},
              {"best.cost", with ? 0.116 : NAN, NULL});
    }
    request = plan_with(job, "goal", "cost");
    set_document(request, "on", free_machine);
    set_document(request, "on", priced);
    gives(request, NULL, {"best.n", 1, NULL}, {"best.cost", 0.101, NULL});
}

/* A note must name the candidates without a run, whether there is one or several. */
static void numbers_without_a_run_are_named(void **state)
{
    static const struct {
        const char *n, *note;
    } rows[] = {{"2,4", NULL},
                {"1,2,4", "there are no runs with 1 worker"},
                {"2,3,4", "there are no runs with 3 workers"},
                {"1,2,3", "there are no runs with 1, 3 workers"}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct hm_request *request = with_document("recommend", "runs", "n,seconds\n2,6\n4,4\n");
        set(request, "n", rows[i].n);
        set(request, "json", "true");
        struct hm_reply *reply = run(request, NULL);
        char quoted[60];
        snprintf(quoted, sizeof(quoted), "\"%s\"", rows[i].note ? rows[i].note : "");
        if (rows[i].note ? !strstr(reply->text, quoted)
                         : strstr(reply->text, "there are no runs with") != NULL)
            fail_msg("%s: %s", rows[i].n, reply->text);
        hm_reply_free(reply);
    }
}

/* Every machine must be combined with every platform and every scheme. Computing takes 100 s / n,
 * so that the larger of two machines is faster; the driver needs one of its nodes. */
static void rankings_have_every_combination(void **state)
{
    static const char job[] = "compute: 100 s / n\ncommunicate: {bytes: 1 B, scheme: ring}\n";
    static const struct wanted by_platform[] = {{"ranking", 4, NULL},
                                                {"ranking.0.n", 8, NULL},
                                                {"ranking.1.n", 7, NULL},
                                                {"ranking.2.n", 4, NULL},
                                                {"ranking.3.n", 3, NULL},
                                                {"ranking.0.platform", .text = "allreduce"},
                                                {"ranking.1.platform", .text = "driver"},
                                                {"ranking.2.platform", .text = "allreduce"},
                                                {"ranking.3.platform", .text = "driver"}};

    (void)state;
    for (int turn = 0; turn < 2; turn++)
        for (int schemes = 0; schemes < 2; schemes++) {
            struct hm_request *request = plan_with(job, NULL, NULL);
            for (int k = 0; k < 2; k++)
                set_document(request, "on",
                             k == turn ? "{max_nodes: 4, flops: 1 Tflop/s, fabric: {bandwidth: 1 "
                                         "GB/s, latency: 0 s}}"
                                       : "{max_nodes: 8, flops: 1 Tflop/s, fabric: {bandwidth: 1 "
                                         "GB/s, latency: 0 s}}");
            if (schemes) {
                set(request, "scheme", "ring,rabenseifner,recursive-doubling");
                gives(request, NULL, {"ranking", 6, NULL}, {"ranking.0.n", 8, NULL},
                      {"ranking.2.n", 8, NULL}, {"ranking.3.n", 4, NULL}, {"ranking.5.n", 4, NULL});
                continue;
            }
            set(request, "platform", "allreduce,driver");
            gives_many(request, NULL, by_platform, sizeof(by_platform) / sizeof(*by_platform));
        }
}

/* Servers and drivers need their own nodes, and there must be fewer backups than workers. */
static void platforms_leave_workers(void **state)
{
    static const struct {
        const char *platform, *field, *value, *nodes, *blamed, *message;
    } rows[] = {
        {"driver", NULL, NULL, "1", "servers",
         "1 node for the driver leaves none for workers: the cluster has 1"},
        {"server", "servers", "1", "1", "servers",
         "1 node for servers leaves none for workers: the cluster has 1"},
        {"server", "servers", "2", "2", "servers",
         "2 nodes for servers leave none for workers: the cluster has 2"},
        {"server", "backups", "3", "4", "backups",
         "3 backups are not fewer than the workers, of which there are at most 3"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char job[300];
        snprintf(
            job, sizeof(job),
            "compute: 100 s / n\ncommunicate: {bytes: 1 B, scheme: ring}\ncluster: {max_nodes: "
            "%s, flops: 1 Tflop/s, fabric: {bandwidth: 1 GB/s, latency: 0 s}}\n",
            rows[i].nodes);
        struct hm_request *request = plan_with(job, "platform", rows[i].platform);
        if (rows[i].field)
            set(request, rows[i].field, rows[i].value);
        if (i == 3)
            set(request, "servers", "1");
        run_fails(request, NULL, HM_E_RANGE, rows[i].blamed, rows[i].message);
    }
}

/* A platform needs the size of a model; the error is about the job as a whole, not about a line. */
static void platforms_need_a_model(void **state)
{
    struct hm_reply *reply = NULL;
    struct hm_err err = {0};
    struct hm_request *request =
        plan_with("compute: 1 s / n\ncommunicate: 1 s * n\n", "platform", "driver");

    (void)state;
    assert_int_equal(hm_request_run(request, NULL, &reply, &err), HM_E_MISSING);
    assert_string_equal(err.field, "communicate");
    assert_string_equal(err.source, "job");
    assert_int_equal(err.line, 0);
    assert_non_null(strstr(err.hint, "give network:"));
    hm_request_free(request);
}

/* If there is no limit and the time still decreases at the largest n that is considered, the answer
 * must be marked with at_ceiling. */
static void the_default_limit_is_a_ceiling(void **state)
{
    static const char job[] = "compute: 100 s / n\ncommunicate: 0 s\n";

    (void)state;
    gives(plan_with(job, "slack", "0"), NULL, {"at_ceiling", .text = "true"});
    gives(plan_with(job, "max_n", "2"), NULL, {"at_ceiling", .text = "false"}, {"best.n", 2, NULL});
    gives(plan_with("compute: 100 s / n\ncommunicate: 1 s * n\n", NULL, NULL), NULL,
          {"at_ceiling", .text = "false"}, {"best.n", 10, NULL});
}

/* A reference whose time is not finite is an error, even if all other points are valid. */
static void references_have_a_time(void **state)
{
    static const char job[] = "compute: 100 s / (n - 1)\ncommunicate: 1 s\n";
    struct hm_request *request = plan_with(job, "n", "2,3");

    (void)state;
    struct hm_reply *reply = NULL;
    struct hm_err err = {0};
    assert_true(hm_request_run(request, NULL, &reply, &err) < 0);
    assert_non_null(strstr(err.message, "at n = 1"));
    hm_request_free(request);
    request = plan_with(job, "n", "2,3");
    set(request, "reference", "2");
    gives(request, NULL, {"best.n", 3, NULL}, {"best.speedup", 101. / 51, NULL});
}

/* If the error of a time is unknown, a limit is compared with the time itself, and a note says
 * so. */
static void limits_without_errors_are_noted(void **state)
{
    for (int with = 0; with < 2; with++) {
        struct hm_request *request = with_document("recommend", "runs", "n,seconds\n2,6\n4,4\n");
        if (with)
            set(request, "deadline", "5 s");
        struct hm_reply *reply = run(request, NULL);
        assert_int_equal(strstr(reply->text, "the error of the time is not known") != NULL, with);
        hm_reply_free(reply);
    }
    (void)state;
}

/* The numbers of workers are sorted. */
static void numbers_of_workers_are_sorted(void **state)
{
    (void)state;
    gives(plan_with(small_job, "n", "9,1,4,16"), NULL, {"curve", 4, NULL}, {"curve.0.n", 1, NULL},
          {"curve.1.n", 4, NULL}, {"curve.2.n", 9, NULL}, {"curve.3.n", 16, NULL},
          {"best.n", 9, NULL});
}

/* ---- transformers ---------------------------------------------------------------------------- */

static const char large_job[] = "network: llama-7b\nbatch: 64\nsequence: 2048\ntokens: 1B\n"
                                "cluster: {machine: dgx-a100, max_nodes: 2}\n";

static void transformers_have_their_own_fields(void **state)
{
    static const char *const refused[][2] = {{"scheme", "ring"}, {"platform", "driver"},
                                             {"layers", "true"}, {"faster", "2"},
                                             {"work", "2"},      {"weak", "true"}};
    const struct hm_context files = {.files = hm_local_files()};
    struct hm_context limited = {.limits = {.max_n = 16}};
    struct hm_request *request;

    (void)state;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        fails_with(plan_with(large_job, refused[i][0], refused[i][1]), &files, HM_E_CONFLICT,
                   refused[i][0], "this does not apply to a job that trains a transformer", "");
    fails_with(plan_with(large_job, "n", "8,16"), NULL, HM_E_CONFLICT, "n",
               "2 numbers; a job that trains a transformer takes one", "");
    request = plan_with(large_job, "n", "8");
    set(request, "max_n", "16");
    fails_with(request, NULL, HM_E_CONFLICT, "n", "n and max_n are both given", "");
    request = plan_with(large_job, "emit", "megatron");
    set(request, "json", "true");
    fails_with(request, NULL, HM_E_CONFLICT, "emit", "this is a text; leave out json and csv", "");
    request = plan_with(large_job, "explain_layout", "true");
    set(request, "csv", "true");
    fails_with(request, NULL, HM_E_CONFLICT, "explain_layout",
               "this is a text; leave out json and csv", "");
    fails_with(plan_with(large_job, "n", "17"), &limited, HM_E_LIMIT, "n",
               "17 workers; at most 16 are allowed", "");
    fails_with(plan_with(large_job, "max_n", "17"), &limited, HM_E_LIMIT, "max_n",
               "17 workers; at most 16 are allowed", "");
    gives(plan_with(large_job, "n", "16"), &limited, {"best.n", 16, NULL});
    gives(plan_with(large_job, "max_n", "16"), &limited, {"best.n", 16, NULL});
}

/* The answer names every machine that was compared. */
static void transformers_name_their_machines(void **state)
{
    struct hm_request *request = plan_with(large_job, "n", "16");
    struct hm_reply *reply = run(request, NULL);

    (void)state;
    assert_non_null(strstr(reply->text, "dgx-a100"));
    hm_reply_free(reply);
    request = plan_with("network: llama-7b\nbatch: 64\nsequence: 2048\ntokens: 1B\n", "on",
                        "dgx-a100,dgx-h100");
    set(request, "n", "16");
    reply = run(request, NULL);
    assert_non_null(strstr(reply->text, "dgx-a100"));
    assert_non_null(strstr(reply->text, "dgx-h100"));
    hm_reply_free(reply);
}

/* ---- costs of staleness ---------------------------------------------------------------------- */

static const char stale_job[] = "compute: 8 s / n\ncommunicate: [{bytes: 1 B, scheme: ring}]\n"
                                "iterations: 1000\ncluster: {max_nodes: 8, flops: 1 Tflop/s, "
                                "fabric: {bandwidth: 1 GB/s, latency: 0 s}}\n";

static const char *const names[] = {"local-sgd", "cocoa"};

/* Returns a stored fit whose two algorithms have these costs of asynchronous steps for one worker;
 * NaN means no cost. The caller frees the text. */
static char *make_fit(double first, double second)
{
    static struct sample s;
    static double draws[4];
    static struct hm_stale_cost costs[] = {{INFINITY, 4, 2, NAN, NAN}};
    struct hm_style style = {.table = true, .width = 80};
    const double factors[] = {first, second};
    char *text = NULL;

    sample_convergence(&s);
    for (size_t k = 0; k < s.convergence.count && k < 2; k++) {
        s.algorithms[k].algorithm = names[k];
        s.algorithms[k].ssp = s.algorithms[k].async = (struct hm_g_stale){.traces = 0};
        if (!isnan(factors[k]))
            s.algorithms[k].async = (struct hm_g_stale){.traces = 1,
                                                        .level = log(factors[k]),
                                                        .power = 0,
                                                        .exponent = 1,
                                                        .draws = draws,
                                                        .error = 0.02,
                                                        .without = 0.1,
                                                        .held_out = NAN,
                                                        .costs = costs,
                                                        .cost_count = 1};
    }
    assert_int_equal(
        hm_convergence_render(&s.convergence, NULL, HM_FORMAT_JSON, &style, &text, NULL), 0);
    return text;
}

static struct hm_request *stale_plan(const char *consistency, const char *fit,
                                     const char *algorithm)
{
    struct hm_request *request = plan_with(stale_job, "platform", "server");
    struct hm_err err = {0};
    struct hm_text body = {0};

    set(request, "consistency", consistency);
    set(request, "servers", "1");
    set(request, "n", "4");
    if (algorithm)
        hm__text_addf(&body, "{\"stale_cost\": {\"algorithm\": \"%s\", \"document\": %s}}",
                      algorithm, fit);
    else
        hm__text_addf(&body, "{\"stale_cost\": %s}", fit);
    if (hm_request_read(request, body.data, body.length, "body.json", &err))
        fail_msg("%s: %s", err.field, err.message);
    hm__text_release(&body);
    return request;
}

/* The costs are those of the only algorithm that has any; asynchronous steps of 4 workers take 2 s
 * / 4. */
static void costs_are_of_one_algorithm(void **state)
{
    char *first = make_fit(1.5, NAN), *second = make_fit(NAN, 2), *both = make_fit(1.5, 2),
         *none = make_fit(NAN, NAN);
    char hint[100];

    (void)state;
    gives(stale_plan("async", first, NULL), NULL, {"iterations", 1500, NULL},
          {"curve.0.n", 4, NULL}, {"status", .text = "ok"});
    double totals[2];
    for (int k = 0; k < 2; k++) {
        struct hm_request *request = stale_plan("async", k ? second : first, NULL);
        struct hm_arena *arena = hm__arena_new();
        struct hm_value *root = NULL;
        set(request, "json", "true");
        struct hm_reply *reply = run(request, NULL);
        assert_int_equal(
            hm__json_parse(arena, reply->text, reply->length, "answer.json", &root, NULL), 0);
        totals[k] = strtod(value_at(root, "curve.0.total_s")->text, NULL);
        hm__arena_free(arena);
        hm_reply_free(reply);
    }
    assert_near(totals[1] / totals[0], 2 / 1.5, 1e-9);
    snprintf(hint, sizeof(hint), "name one of them, such as %s=FIT", names[1]);
    fails_with(stale_plan("async", both, NULL), NULL, HM_E_CONFLICT, "stale_cost",
               "the fit contains the cost of staleness for several algorithms", hint);
    fails_with(stale_plan("async", none, NULL), NULL, HM_E_MISSING, "stale_cost",
               "the fit does not contain the cost of staleness",
               "converge learns it from traces of ssp or async in addition to fresh ones");
    /* The named algorithm may have costs, have none, or not exist. */
    gives(stale_plan("async", both, names[0]), NULL, {"iterations", 1500, NULL});
    gives(stale_plan("async", both, names[1]), NULL, {"iterations", 2000, NULL});
    fails_with(stale_plan("async", first, names[1]), NULL, HM_E_MISSING, "stale_cost",
               "the fit does not contain the cost of staleness",
               "converge learns it from traces of ssp or async in addition to fresh ones");
    char wrong[40], message[100];
    snprintf(wrong, sizeof(wrong), "%sx", names[0]);
    snprintf(message, sizeof(message), "the fit has no algorithm '%s'", wrong);
    snprintf(hint, sizeof(hint), "did you mean %s?", names[0]);
    fails_with(stale_plan("async", both, wrong), NULL, HM_E_NAME, "stale_cost", message, hint);
    fails_with(stale_plan("async", both, "entirely-unlike-it"), NULL, HM_E_NAME, "stale_cost",
               "the fit has no algorithm 'entirely-unlike-it'", "");
    hm_text_free(first);
    hm_text_free(second);
    hm_text_free(both);
    hm_text_free(none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workers_are_limited),
        cmocka_unit_test(splits_are_estimated),
        cmocka_unit_test(questions_are_checked),
        cmocka_unit_test(numbers_of_workers_are_sorted),
        cmocka_unit_test(rankings_have_every_combination),
        cmocka_unit_test(platforms_leave_workers),
        cmocka_unit_test(limits_without_errors_are_noted),
        cmocka_unit_test(references_have_a_time),
        cmocka_unit_test(the_default_limit_is_a_ceiling),
        cmocka_unit_test(platforms_need_a_model),
        cmocka_unit_test(budgets_need_prices),
        cmocka_unit_test(numbers_without_a_run_are_named),
        cmocka_unit_test(transformers_have_their_own_fields),
        cmocka_unit_test(transformers_name_their_machines),
        cmocka_unit_test(costs_are_of_one_algorithm),
    };

    return cmocka_run_group_tests_name("edges_questions", tests, NULL, NULL);
}
