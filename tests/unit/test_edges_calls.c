/*
 * Tests boundaries of running requests: bodies and documents of the wrong shape, hints, files that
 * are standard input, costs of staleness from a fit, and allocations that fail in each verb.
 */
#include "advise_samples.h"
#include "request_testing.h"

#include <unistd.h>

#include "files.h"

/* Checks that the body is refused with this code, field and part of the message. */
static void body_fails(const char *verb, const char *body, int code, const char *field,
                       const char *message)
{
    struct hm_request *request = new_request(verb);
    struct hm_err err = {0};
    int rc = hm_request_read(request, body, strlen(body), "body.json", &err);

    if (rc != code || strcmp(err.field, field) != 0 || !strstr(err.message, message))
        fail_msg("%s: %d, %s: '%s'", body, rc, err.field, err.message);
    hm_request_free(request);
}

static void lists_hold_texts_and_numbers(void **state)
{
    (void)state;
    body_fails("fit", "{\"terms\": [\"1\", {\"a\": 1}]}", HM_E_TYPE, "terms", "a text or a number");
    body_fails("fit", "{\"terms\": [[1]]}", HM_E_TYPE, "terms", "a text or a number");
    body_fails("converge", "{\"algorithms\": [\"gd\", [1]]}", HM_E_TYPE, "algorithms",
               "a text or a number");
    body_fails("plan", "[1]", HM_E_TYPE, "", "not an object");
}

/* A body of NULL with length 0 is an empty body; NULL with another length is an error. */
static void bodies_may_be_absent(void **state)
{
    struct hm_request *request = new_request("plan");
    struct hm_err err = {0};

    (void)state;
    assert_int_equal(hm_request_read(request, NULL, 3, "body.json", &err), HM_E_MISSING);
    assert_string_equal(err.message, "a request and a text are needed");
    err = (struct hm_err){0};
    hm_request_read(request, NULL, 0, "body.json", &err);
    assert_string_not_equal(err.message, "a request and a text are needed");
    assert_int_equal(hm_request_read(NULL, "{}", 2, "body.json", NULL), HM_E_MISSING);
    hm_request_free(request);
}

/* Checks that running the request fails with this hint. */
static void run_hints(struct hm_request *request, const char *hint)
{
    struct hm_reply *reply = NULL;
    struct hm_err err = {0};

    assert_true(hm_request_run(request, NULL, &reply, &err) < 0);
    assert_string_equal(err.hint, hint);
    hm_request_free(request);
}

static void errors_have_hints(void **state)
{
    struct hm_request *request = new_request("design");

    (void)state;
    set(request, "n", "1..4");
    set(request, "budget", "2h");
    run_hints(request, "the job determines how long runs take");
    request = with_document("design", "job", "compute: 100 s / n\ncommunicate: 1 s * n\n");
    set(request, "n", "1..4");
    set(request, "budget", "$1");
    run_hints(request, "name one in `on`, or set cluster.price='$1/h'");
}

/* A quantity other than latency and bandwidth has no unit, unless it is a column of the runs. */
static void places_have_units(void **state)
{
    static const char table[] = "n,seconds,batch,step\n1,10,64,2 ms\n2,6,64,2 ms\n4,4,64,3 ms\n";
    struct hm_request *request = with_document("recommend", "runs", table);

    (void)state;
    set(request, "at", "step=2ms");
    set(request, "n", "1,2"); /* n = 4 has no run with step=2ms, so a fit would be needed. */
    gives(request, NULL, {"best.n", 2, NULL}, {"best.time_s", 6, NULL},
          {"provenance", .text = "rows"});
    request = with_document("recommend", "runs", table);
    set(request, "at", "step=3ms");
    set(request, "n", "4");
    gives(request, NULL, {"best.n", 4, NULL}, {"best.time_s", 4, NULL},
          {"provenance", .text = "rows"});
    request = with_document("recommend", "runs", table);
    set(request, "at", "batch=64 ms");
    run_fails(request, NULL, HM_E_UNIT, "at", "64 ms");
    request = with_document("recommend", "runs", table);
    set(request, "at", "batch=64");
    gives(request, NULL, {"best.n", 4, NULL});
}

/* ---- files ----------------------------------------------------------------------------------- */

static void a_dash_is_standard_input(void **state)
{
    char path[] = "/tmp/hm-calls-XXXXXX", *text = NULL;
    int file = mkstemp(path), kept = dup(0);
    size_t length = 0;
    struct hm_err err = {0};
    const struct hm_files *files = hm_local_files();

    (void)state;
    assert_true(file >= 0 && kept >= 0);
    assert_int_equal(write(file, "a text\n", 7), 7);
    close(file);
    assert_non_null(freopen(path, "r", stdin));
    assert_int_equal(files->read("-", &text, &length, &err), 0);
    assert_int_equal(length, 7);
    assert_memory_equal(text, "a text\n", 7);
    hm_text_free(text);
    dup2(kept, 0);
    close(kept);
    unlink(path);
}

/* Writes a temporary file whose name has this ending; the caller unlinks it. */
static void write_file(char path[64], const char *ending, const char *text)
{
    snprintf(path, 64, "/tmp/hm-calls-XXXXXX%s", ending);
    int file = mkstemps(path, (int)strlen(ending));

    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
}

/* A cluster in a file has the name of the file, and its network and price are used. */
static void clusters_are_files(void **state)
{
    const struct hm_context context = {.files = hm_local_files()};
    struct hm_request *request = with_document(
        "plan", "job", "compute: 8 s / n\ncommunicate: {bytes: 4 MB, scheme: ring}\n");
    char path[64];

    (void)state;
    write_file(path, ".yaml",
               "price: $3600/h\nmax_nodes: 4\nfabric: {bandwidth: 10 MB/s, latency: 0 s}\n");
    set(request, "on", path);
    gives(request, &context, {"machine", .text = path}, {"best.n", 4, NULL},
          {"best.communicate_s", 0.6, NULL}, {"best.time_s", 2.6, NULL},
          {"best.cost", 4 * 2.6, NULL});
    request = with_document("plan", "job",
                            "compute: 8 s / n\ncommunicate: {bytes: 4 MB, scheme: ring}\n");
    set(request, "on", path);
    run_fails(request, NULL, HM_E_NAME, "on", "a request cannot name a file");
    unlink(path);
}

static const char prices[] =
    "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region,"
    "AvailabilityZone\n"
    "p3.2xlarge,V100,1,8,61,,3.06,0.9,us-east-1,us-east-1a\n"
    "x9.large,,,2,16,,0.5,,us-east-1,us-east-1a\n";

/* Without an output file, the answer is the catalog itself; with an output file, it is a line about
 * that file. */
static void prices_are_imported(void **state)
{
    const struct hm_context context = {.files = hm_local_files()};
    char path[64], text[200];

    (void)state;
    write_file(path, ".csv", prices);
    for (int k = 0; k < 3; k++) {
        struct hm_request *request = new_request("catalog import");
        set(request, "file", path);
        set(request, "output", k == 0 ? "-" : k == 1 ? "/tmp/hm-not-there.yaml" : path);
        struct hm_reply *reply = run(request, &context);
        assert_int_equal(reply->file_count, 1);
        assert_non_null(strstr(reply->files[0].text, "p3.2xlarge"));
        if (k == 0) {
            assert_string_equal(reply->text, "");
        } else {
            snprintf(text, sizeof(text), "2 rows, 2 machines into %s%s: 1 with hardware",
                     k == 1 ? "/tmp/hm-not-there.yaml" : path, k == 1 ? "" : " (replaced)");
            if (strncmp(reply->text, text, strlen(text)) != 0)
                fail_msg("%s", reply->text);
        }
        hm_reply_free(reply);
    }
    unlink(path);
}

/* A body may be YAML if its name ends with .yaml. */
static void bodies_may_be_yaml(void **state)
{
    static const char body[] = "job:\n  compute: 8 s / n\n  communicate: 1 s * n\nmax_n: 16\n";
    struct hm_request *request = new_request("plan");
    struct hm_err err = {0};

    (void)state;
    if (hm_request_read(request, body, strlen(body), "body.yaml", &err))
        fail_msg("%s: %s", err.field, err.message);
    gives(request, NULL, {"best.n", 3, NULL}, {"curve", 16, NULL});
    request = new_request("plan");
    assert_true(hm_request_read(request, body, strlen(body), "body.json", &err) < 0);
    hm_request_free(request);
}

/* ---- costs of staleness ---------------------------------------------------------------------- */

/* A job with steps of 8/n seconds, whose messages take almost no time. */
static const char stale_job[] = "compute: 8 s / n\ncommunicate: [{bytes: 1 B, scheme: ring}]\n"
                                "iterations: 1000\ncluster: {max_nodes: 8, flops: 1 Tflop/s, "
                                "fabric: {bandwidth: 1 GB/s, latency: 0 s}}\n";

/*
 * The stored fit gives async the factor e^0.2 n^0.5 on the number of iterations: with 4 workers, 2
 * e^0.2 times 1000, rounded up.
 */
static void staleness_costs_iterations(void **state)
{
    static struct sample s;
    static double draws[4];
    static struct hm_stale_cost costs[] = {{INFINITY, 4, 2, NAN, NAN}};
    struct hm_style style = {.table = true, .width = 80};
    char *text = NULL;
    double total[2];

    (void)state;
    sample_convergence(&s);
    s.algorithms[0].async = (struct hm_g_stale){.traces = 2,
                                                .level = 0.2,
                                                .power = 0.5,
                                                .exponent = 1,
                                                .draws = draws,
                                                .error = 0.02,
                                                .without = 0.1,
                                                .held_out = NAN,
                                                .costs = costs,
                                                .cost_count = 1};
    assert_int_equal(
        hm_convergence_render(&s.convergence, NULL, HM_FORMAT_JSON, &style, &text, NULL), 0);
    for (int costly = 0; costly < 2; costly++) {
        struct hm_request *request = with_document("plan", "job", stale_job);
        struct hm_arena *arena = hm__arena_new();
        struct hm_value *root = NULL;
        set(request, "platform", "server");
        set(request, "consistency", "async");
        set(request, "servers", "1");
        set(request, "max_n", "4");
        set(request, "json", "true");
        if (costly)
            set_document(request, "stale_cost", text);
        struct hm_reply *reply = run(request, NULL);
        assert_int_equal(
            hm__json_parse(arena, reply->text, reply->length, "answer.json", &root, NULL), 0);
        total[costly] = strtod(value_at(root, "curve.3.total_s")->text, NULL);
        hm__arena_free(arena);
        hm_reply_free(reply);
    }
    assert_near(total[1] / total[0], ceil(1000 * exp(0.2) * 2) / 1000, 1e-12);
    hm_text_free(text);
}

/* A fit that only knows what bounded staleness costs cannot be used for asynchronous workers. */
static void staleness_without_costs_is_refused(void **state)
{
    static struct sample s;
    static double draws[4];
    static struct hm_stale_cost costs[] = {{2, 4, 2, NAN, NAN}};
    struct hm_style style = {.table = true, .width = 80};
    char *text = NULL;

    (void)state;
    sample_convergence(&s);
    s.algorithms[0].ssp = (struct hm_g_stale){.traces = 2,
                                              .level = 0.2,
                                              .power = 0.5,
                                              .exponent = 1,
                                              .draws = draws,
                                              .error = 0.02,
                                              .without = 0.1,
                                              .held_out = NAN,
                                              .costs = costs,
                                              .cost_count = 1};
    assert_int_equal(
        hm_convergence_render(&s.convergence, NULL, HM_FORMAT_JSON, &style, &text, NULL), 0);
    struct hm_request *request = with_document("plan", "job", stale_job);
    set(request, "platform", "server");
    set(request, "consistency", "async");
    set(request, "servers", "1");
    set_document(request, "stale_cost", text);
    run_fails(request, NULL, HM_E_MISSING, "stale_cost", "there are no asynchronous traces");
    hm_text_free(text);
}

/* ---- allocations that fail ------------------------------------------------------------------- */

/* A request with a document and up to three fields. */
struct call {
    const char *verb, *document, *text, *fields[3][2];
};

/* Runs the request. If *text is NULL, it receives the text of the answer; otherwise the answer must
 * have the same text. */
static int run_call(const struct call *call, char **text)
{
    const struct hm_context context = {.files = hm_local_files()};
    struct hm_request *request = NULL;
    struct hm_reply *reply = NULL;
    struct hm_err err = {0};
    int rc = hm_request_new(call->verb, &request, &err);

    if (rc == 0 && call->document)
        rc = hm_request_set_document(request, call->document, "d", call->text, strlen(call->text),
                                     &err);
    for (size_t i = 0; rc == 0 && i < 3 && call->fields[i][0]; i++)
        rc = hm_request_set(request, call->fields[i][0], call->fields[i][1], &err);
    if (rc == 0)
        rc = hm_request_run(request, &context, &reply, &err);
    if (rc == 0 && *text)
        assert_string_equal(reply->text, *text);
    else if (rc == 0)
        *text = strdup(reply->text);
    else
        assert_int_equal(err.code, rc); /* Every failure has a description. */
    hm_reply_free(reply);
    hm_request_free(request);
    return rc;
}

/* Each of the first allocations fails in turn, then every 7th and every 61st. */
static void allocations_may_fail_in_any_verb(void **state)
{
    static const char runs[] = "n,seconds\n1,10\n2,6\n4,4\n8,3\n";
    static const char log[] = "iter 0: loss 10.5, time 900.00ms, mfu 1%\n"
                              "iter 10: loss 9.5, time 80.00ms, mfu 1%\n";
    static const struct call calls[] = {
        {"plan", "job", small_job, {{"plot", "a.svg"}, {"goal", "cost"}}},
        {"plan", "job", stale_job, {{"platform", "server"}, {"consistency", "async"}}},
        {"plan", "job", small_job, {{"on", "p3.2xlarge"}, {"fabric", "10gbe"}, {"csv", "true"}}},
        {"fit", "runs", runs, {{"terms", "1,1/n"}, {"plot", "a.svg"}}},
        {"design", "have", runs, {{"n", "1..4"}, {"terms", "1,1/n"}}},
        {"recommend", "runs", runs, {{"json", "true"}}},
        {"graph", NULL, NULL, {{"generate", "random"}, {"vertices", "30"}, {"edges", "60"}}},
        {"catalog list", NULL, NULL, {{"json", "true"}, {"kind", "accelerators"}}},
        {"catalog show", NULL, NULL, {{"name", "p3.2xlarge"}}},
        {"catalog show", NULL, NULL, {{"name", "10gbe"}}},
        {"catalog show", NULL, NULL, {{"name", "resnet-50"}, {"kind", "networks"}}},
        {"catalog list", NULL, NULL, {{"kind", "fabrics"}}},
        {"catalog list", NULL, NULL, {{"names", "true"}}},
        {"graph", NULL, NULL, {{"generate", "grid"}, {"vertices", "16"}, {"plot", "a.svg"}}},
        {"graph", NULL, NULL, {{"generate", "grid"}, {"vertices", "16"}, {"json", "true"}}},
        {"design", "job", small_job, {{"n", "1..4"}, {"json", "true"}}},
        {"fit", "runs", runs, {{"terms", "1,1/n"}, {"csv", "true"}}},
        {"import", "files", log, {{"json", "true"}, {"set", "n=4"}}},
        {"import", "files", log, {{"set", "n=4"}, {"output", "a.csv"}}},
        {"plan", "job", "lenet-5", {{"on", "p3.2xlarge"}, {"layers", "true"}}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        char *text = NULL;
        int rc = run_call(&calls[i], &text);
        if (rc)
            fail_msg("%s: %d", calls[i].verb, rc);
        rc = HM_E_NOMEM;
        for (long after = 0; rc; after += after < 150 ? 1 : after < 500 ? 7 : 61) {
            hm__alloc_fail_after(after);
            rc = run_call(&calls[i], &text);
            hm__alloc_fail_after(-1);
            if (rc && rc != HM_E_NOMEM)
                fail_msg("%s, allocation %ld: %d", calls[i].verb, after, rc);
        }
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_hold_texts_and_numbers),
        cmocka_unit_test(bodies_may_be_absent),
        cmocka_unit_test(errors_have_hints),
        cmocka_unit_test(places_have_units),
        cmocka_unit_test(a_dash_is_standard_input),
        cmocka_unit_test(clusters_are_files),
        cmocka_unit_test(prices_are_imported),
        cmocka_unit_test(bodies_may_be_yaml),
        cmocka_unit_test(staleness_costs_iterations),
        cmocka_unit_test(staleness_without_costs_is_refused),
        cmocka_unit_test(allocations_may_fail_in_any_verb),
    };
    return cmocka_run_group_tests_name("edges_calls", tests, NULL, NULL);
}
