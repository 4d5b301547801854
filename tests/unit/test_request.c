/*
 * Tests requests: tables of fields, reading them from text and trees, contexts, limits and answers.
 */
#include "request_testing.h"

#include <fcntl.h>
#include <unistd.h>

#include "schemas.h"

/* ---- files that are opened ---------------------------------------------------------------------
 * The linker sends every call of open and fopen in this program through these functions.
 */

static int files_opened;

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    files_opened++;
    return __real_open(path, flags, 0600);
}

int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...)
{
    files_opened++;
    return __real_open64(path, flags, 0600);
}

FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode)
{
    files_opened++;
    return __real_fopen(path, mode);
}

FILE *__real_fopen64(const char *path, const char *mode);
FILE *__wrap_fopen64(const char *path, const char *mode);
FILE *__wrap_fopen64(const char *path, const char *mode)
{
    files_opened++;
    return __real_fopen64(path, mode);
}

/* ---- helpers -----------------------------------------------------------------------------------
 */

static const char job_text[] = "name: small job\n"
                               "compute: 100 s / n\n"
                               "communicate: 1 s * n\n"
                               "iterations: 10\n"
                               "cluster: {max_nodes: 16, price: $1/h, flops: 1 Tflop/s, "
                               "fabric: {bandwidth: 1 Gbit/s, latency: 1 ms}}\n";
static const char runs_text[] = "n,seconds\n1,10\n2,6\n4,4\n8,3.2\n";
static const char traces_text[] =
    "algorithm,m,iteration,seconds,loss\n"
    "gd,1,1,1,1\ngd,1,2,1,0.5\ngd,1,3,1,0.25\ngd,1,4,1,0.125\ngd,1,5,1,0.0625\ngd,1,6,1,0."
    "03125\ngd,1,7,1,0.015625\ngd,1,8,1,0.0078125\ngd,1,9,1,0.00390625\ngd,1,10,1,0.00195312\ngd,1,"
    "11,1,0.000976562\ngd,1,12,1,0.000488281\n"
    "gd,2,1,0.6,1\ngd,2,2,0.6,0.55\ngd,2,3,0.6,0.3025\ngd,2,4,0.6,0.166375\ngd,2,5,0.6,0."
    "0915063\ngd,2,6,0.6,0.0503284\ngd,2,7,0.6,0.0276806\ngd,2,8,0.6,0.0152244\ngd,2,9,0.6,0."
    "00837339\ngd,2,10,0.6,0.00460537\ngd,2,11,0.6,0.00253295\ngd,2,12,0.6,0.00139312\n"
    "gd,4,1,0.4,1\ngd,4,2,0.4,0.6\ngd,4,3,0.4,0.36\ngd,4,4,0.4,0.216\ngd,4,5,0.4,0.1296\ngd,4,6,0."
    "4,0.07776\ngd,4,7,0.4,0.046656\ngd,4,8,0.4,0.0279936\ngd,4,9,0.4,0.0167962\ngd,4,10,0.4,0."
    "0100777\ngd,4,11,0.4,0.00604662\ngd,4,12,0.4,0.00362797\n";

/* Checks that setting the field fails with this code and names the field. */
static void refuses(const char *verb, const char *field, const char *text, int code)
{
    struct hm_request *request = new_request(verb);
    struct hm_err err = {0};

    assert_int_equal(hm_request_set(request, field, text, &err), code);
    assert_int_equal(err.code, code);
    assert_string_equal(err.source, "request");
    assert_string_equal(err.field, field);
    assert_true(strstr(err.message, "--") == NULL);
    hm_request_free(request);
}

/* Checks that the body is refused with this code and field. */
static void refuses_body(const char *verb, const char *body, int code, const char *field)
{
    struct hm_request *request = new_request(verb);
    struct hm_err err = {0};

    assert_int_equal(hm_request_read(request, body, strlen(body), "body.json", &err), code);
    assert_string_equal(err.field, field);
    hm_request_free(request);
}

/* ---- tables ------------------------------------------------------------------------------------
 */

static void tables_are_complete(void **state)
{
    (void)state;
    for (size_t v = 0; hm__verbs[v]; v++) {
        const struct hm_verb *verb = hm__verbs[v];
        assert_ptr_equal(hm__verb_find(verb->name), verb);
        assert_true(verb->field_count > 0 && verb->field_count <= 64);
        assert_non_null(verb->summary);
        for (size_t i = 0; i < verb->field_count; i++) {
            const struct hm_request_field *f = &verb->fields[i];
            if (!f->help || !f->group || f->offset >= verb->size)
                fail_msg("%s.%s lacks help, group or place", verb->name, f->name);
            assert_true((f->argument == NULL) == (f->kind == HM_REQUEST_FLAG));
            assert_null(strchr(f->name, '-'));
            for (size_t k = 0; k < i; k++) {
                if (strcmp(f->name, verb->fields[k].name) == 0)
                    fail_msg("%s has %s twice", verb->name, f->name);
                if (f->letter && f->letter == verb->fields[k].letter)
                    fail_msg("%s has -%c twice", verb->name, f->letter);
            }
        }
        if (verb->answer)
            assert_non_null(hm__answer_schema(verb->answer));
    }
}

static void names_with_dashes_are_the_same(void **state)
{
    (void)state;
    assert_ptr_equal(hm__verb_field(&hm__verb_plan, "max-n"),
                     hm__verb_field(&hm__verb_plan, "max_n"));
    assert_null(hm__verb_field(&hm__verb_plan, "max"));
    assert_null(hm__verb_field(&hm__verb_plan, "max_nodes"));
}

/* ---- values ------------------------------------------------------------------------------------
 */

static void values_are_checked(void **state)
{
    (void)state;
    refuses("plan", "deadline", "0s", HM_E_RANGE);
    refuses("plan", "deadline", "3 apples", HM_E_UNIT);
    refuses("plan", "deadline", "$3", HM_E_UNIT);
    refuses("plan", "budget", "-1", HM_E_RANGE);
    refuses("plan", "level", "0", HM_E_RANGE);
    refuses("plan", "level", "1", HM_E_RANGE);
    refuses("plan", "level", "101%", HM_E_RANGE);
    refuses("plan", "goal", "tiem", HM_E_NAME);
    refuses("plan", "scheme", "ring,tree", HM_E_NAME);
    refuses("plan", "scheme", "ring,,best", HM_E_SYNTAX);
    refuses("plan", "staleness", "1.5", HM_E_RANGE);
    refuses("plan", "staleness", "1000001", HM_E_RANGE);
    refuses("plan", "stale_cost", "0.9", HM_E_RANGE);
    refuses("plan", "json", "maybe", HM_E_TYPE);
    refuses("fit", "target", "n=0", HM_E_RANGE);
    refuses("fit", "target", "n=4,n=5", HM_E_CONFLICT);
    refuses("fit", "target", "=4", HM_E_SYNTAX);
    refuses("fit", "predict", "8..4", HM_E_SYNTAX);
    refuses("fit", "predict", "four", HM_E_SYNTAX);
    refuses("fit", "seed", "-1", HM_E_RANGE);
    refuses("advise", "reach", "low", HM_E_TYPE);
    refuses("converge", "window", "4", HM_E_RANGE);
    refuses("graph", "generate", "torus", HM_E_NAME);
}

static void boundaries_are_inside(void **state)
{
    struct hm_request *request = new_request("plan");

    (void)state;
    set(request, "staleness", "0");
    set(request, "staleness", "1000000");
    set(request, "stale_cost", "1x");
    set(request, "budget", "0");
    set(request, "level", "99.9%");
    set(request, "level", "0.001");
    hm_request_free(request);
    request = new_request("converge");
    set(request, "window", "5");
    set(request, "best", "-1e-3");
    hm_request_free(request);
}

static struct hm_numbers parse_numbers(struct hm_arena *arena, const char *text, bool spread)
{
    struct hm_numbers numbers = {0};
    struct hm_err err = {0};

    if (hm__numbers_parse(arena, &numbers, text, spread, &err))
        fail_msg("%s: %s", text, err.message);
    return numbers;
}

static void lists_of_numbers(void **state)
{
    struct hm_arena *arena = hm__arena_new();
    struct hm_numbers n = parse_numbers(arena, "1,2,4..16:4", false);
    const double wanted[] = {1, 2, 4, 8, 12, 16};

    (void)state;
    assert_int_equal(n.count, 6);
    for (size_t i = 0; i < 6; i++)
        assert_true(n.values[i] == wanted[i]);
    n = parse_numbers(arena, "4/256..32/256:3", true);
    assert_int_equal(n.count, 3);
    assert_true(n.values[0] == 4 / 256. && n.values[1] == 18 / 256. && n.values[2] == 32 / 256.);
    n = parse_numbers(arena, "2..2", false);
    assert_int_equal(n.count, 1);
    n = parse_numbers(arena, "1..100000", false);
    assert_int_equal(n.count, 100000);
    struct hm_err err = {0};
    assert_int_equal(hm__numbers_parse(arena, &n, "1..100001", false, &err), HM_E_LIMIT);
    hm__arena_free(arena);
}

/* A long list must take time and memory in proportion to its length. */
static void long_lists_are_linear(void **state)
{
    struct hm_request *request = new_request("recommend");
    struct hm_text body = {0};
    struct hm_err err = {0};

    (void)state;
    hm__text_add(&body, "{\"n\":[");
    for (int i = 0; i < 9000; i++)
        hm__text_addf(&body, "%s%d", i ? "," : "", i + 1);
    hm__text_add(&body, "]}");
    assert_int_equal(hm_request_read(request, body.data, body.length, "body.json", &err), 0);
    assert_true(hm__request_given(request, "n"));
    hm__text_release(&body);
    hm_request_free(request);
}

/* Each assignment may look at all others, so their number is limited. */
static void assignments_are_limited(void **state)
{
    struct hm_request *request = new_request("plan");
    struct hm_err err = {0};
    char pair[32];

    (void)state;
    for (int i = 0; i < 1000; i++) {
        snprintf(pair, sizeof(pair), "where.a%d=%d", i, i);
        assert_int_equal(hm_request_set(request, "set", pair, &err), 0);
    }
    assert_int_equal(hm_request_set(request, "set", "where.b=1", &err), HM_E_LIMIT);
    assert_string_equal(err.field, "set");
    hm_request_free(request);
}

/* ---- bodies ------------------------------------------------------------------------------------
 */

static void bodies_set_fields(void **state)
{
    const char body[] = "{\"job\": {\"compute\": \"100 s / n\", \"communicate\": \"1 s * n\"}, "
                        "\"max_n\": 32, \"deadline\": \"1h\", \"json\": true, \"csv\": null, "
                        "\"set\": {\"iterations\": 10}}";
    struct hm_request *request = new_request("plan");
    struct hm_err err = {0};

    (void)state;
    assert_int_equal(hm_request_read(request, body, strlen(body), "body.json", &err), 0);
    assert_true(hm__request_flag(request, "json"));
    assert_false(hm__request_flag(request, "csv"));
    assert_true(hm__request_given(request, "max_n"));
    assert_false(hm__request_given(request, "budget"));
    struct hm_reply *reply = run(request, NULL);
    assert_string_equal(reply->type, "application/json");
    assert_non_null(strstr(reply->text, "\"n\":10,"));
    assert_true(reply->answered);
    assert_false(reply->from_store);
    hm_reply_free(reply);
}

static void bare_bodies_are_jobs(void **state)
{
    const char yaml[] = "compute: 100 s / n\ncommunicate: 1 s * n\n";
    struct hm_request *request = new_request("plan");
    struct hm_err err = {0};

    (void)state;
    assert_int_equal(hm_request_read(request, yaml, strlen(yaml), "body.yaml", &err), 0);
    struct hm_reply *reply = run(request, NULL);
    assert_true(reply->answered);
    hm_reply_free(reply);
}

/* A body that follows a job is an object of fields, although it has no key `job`. */
static void bodies_after_a_job_are_fields(void **state)
{
    const char yaml[] = "compute: 100 s / n\ncommunicate: 1 s * n\n";
    const char body[] = "{\"max_n\": 3, \"json\": true}";
    struct hm_request *request = new_request("plan");
    struct hm_err err = {0};

    (void)state;
    assert_int_equal(hm_request_set_document(request, "job", "job.yaml", yaml, strlen(yaml), &err),
                     0);
    assert_int_equal(hm_request_read(request, body, strlen(body), "body.json", &err), 0);
    struct hm_reply *reply = run(request, NULL);
    assert_non_null(strstr(reply->text, "\"n\":3,"));
    assert_null(strstr(reply->text, "\"n\":4,"));
    hm_reply_free(reply);
}

static void wrong_bodies_are_refused(void **state)
{
    (void)state;
    refuses_body("plan", "{\"job\": {}, \"max_m\": 3}", HM_E_KEY, "max_m");
    refuses_body("plan", "{\"job\": {}, \"json\": 3}", HM_E_TYPE, "json");
    refuses_body("plan", "{\"job\": {}, \"deadline\": [1]}", HM_E_TYPE, "deadline");
    refuses_body("plan", "{\"job\": {}, \"set\": {\"a\": {\"b\": 1}}}", HM_E_TYPE, "set");
    refuses_body("fit", "[1, 2]", HM_E_TYPE, "");
    refuses_body("fit", "{\"runs\": null}", HM_E_MISSING, "runs");
    refuses_body("fit", "{\"predict\": [[1]]}", HM_E_TYPE, "predict");
    refuses_body("fit", "{\"target\": {\"n\": [1]}}", HM_E_TYPE, "target");
    refuses_body("fit", "{", HM_E_SYNTAX, "");
}

static void rows_of_a_body_are_runs(void **state)
{
    const char body[] = "{\"runs\": [{\"n\": 1, \"seconds\": 10}, {\"n\": 2, \"seconds\": 6}, "
                        "{\"n\": 4, \"seconds\": 4}], \"target\": {\"n\": 8}, \"json\": true}";
    struct hm_request *request = new_request("fit");
    struct hm_err err = {0};

    (void)state;
    assert_int_equal(hm_request_read(request, body, strlen(body), "body.json", &err), 0);
    struct hm_reply *reply = run(request, NULL);
    assert_non_null(strstr(reply->text, "\"n\":8"));
    hm_reply_free(reply);
}

/* ---- contexts ----------------------------------------------------------------------------------
 */

/* Makes a request that would be answered, so that only the field under test can fail. */
static struct hm_request *whole_request(const struct hm_verb *verb)
{
    struct hm_request *request = new_request(verb->name);

    if (verb == &hm__verb_plan || verb == &hm__verb_design)
        set_document(request, "job", job_text);
    if (verb == &hm__verb_design)
        set(request, "n", "1..4");
    if (verb == &hm__verb_fit || verb == &hm__verb_recommend)
        set_document(request, "runs", runs_text);
    if (verb == &hm__verb_converge || verb == &hm__verb_advise)
        set_document(request, "traces", traces_text);
    if (verb == &hm__verb_advise)
        set(request, "loss", "0.2");
    return request;
}

static const char sentinel[] = "n,seconds\n1,4242.5\n2,4243.5\n4,4244.5\n";

/* Checks that setting the field, whose result is `rc`, and running the request open no file, and
 * that the answer contains nothing of the sentinel file. A request that was refused is not run,
 * because it does not contain the name. */
static void stays_inside(struct hm_request *request, int rc, const char *verb, const char *field)
{
    const struct hm_context context = {.limits = {.max_n = 64, .values = 1000}};
    struct hm_reply *reply = NULL;
    struct hm_err err = {0};

    if (rc == 0)
        hm_request_run(request, &context, &reply, &err);
    if (files_opened > 0)
        fail_msg("%s.%s opened a file", verb, field);
    if ((reply && strstr(reply->text, "4242.5")) || strstr(err.message, "4242.5"))
        fail_msg("%s.%s shows a file", verb, field);
    hm_reply_free(reply);
    hm_request_free(request);
}

/* Sets the name of the file as the text of the field. */
static void try_text(const struct hm_verb *verb, const char *field, const char *path)
{
    struct hm_request *request = whole_request(verb);

    files_opened = 0;
    int rc = hm_request_set(request, field, path, NULL);
    stays_inside(request, rc, verb->name, field);
}

/* Uses the name of the file in bodies and documents. */
static void try_bodies(const struct hm_verb *verb, const char *field, const char *path)
{
    struct hm_request *request;
    char text[600];
    static const char *const forms[] = {
        "{\"%s\": \"%s\"}", "{\"%s\": [\"%s\"]}", "{\"%s\": {\"document\": \"%s\"}}",
        "{\"%s\": {\"graph\": \"%s\"}}", "{\"%s\": {\"graph\": {\"file\": \"%s\"}}}"};

    files_opened = 0;
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        request = whole_request(verb);
        snprintf(text, sizeof(text), forms[i], field, path);
        int rc = hm_request_read(request, text, strlen(text), "body.json", NULL);
        stays_inside(request, rc, verb->name, field);
    }
    request = whole_request(verb);
    snprintf(text, sizeof(text), "graph=%s", path);
    int rc = hm_request_set(request, field, text, NULL);
    stays_inside(request, rc, verb->name, field);
    request = whole_request(verb);
    snprintf(text, sizeof(text), "graph: %s\n", path);
    rc = hm_request_set_document(request, field, "x.yaml", text, strlen(text), NULL);
    stays_inside(request, rc, verb->name, field);
}

/* No field of any verb may open a file if its value is the name of an existing file. */
static void no_field_opens_a_file(void **state)
{
    static const char *const endings[] = {".csv", ".yaml", ".json", ".db", ".graph"};

    (void)state;
    for (size_t e = 0; e < sizeof(endings) / sizeof(endings[0]); e++) {
        char path[64];
        if (SANITIZED && !is_torture() && strcmp(endings[e], ".json") != 0)
            continue; /* This ending is skipped, because only the build without sanitizers tries all
                         endings. */
        snprintf(path, sizeof(path), "/tmp/hm-request-XXXXXX%s", endings[e]);
        int file = mkstemps(path, (int)strlen(endings[e]));
        assert_true(file >= 0 && write(file, sentinel, strlen(sentinel)) > 0);
        close(file);
        for (size_t v = 0; hm__verbs[v]; v++)
            for (size_t i = 0; i < hm__verbs[v]->field_count; i++) {
                try_text(hm__verbs[v], hm__verbs[v]->fields[i].name, path);
                if (strcmp(endings[e], ".json") == 0)
                    try_bodies(hm__verbs[v], hm__verbs[v]->fields[i].name, path);
            }
        unlink(path);
    }
    for (size_t v = 0; hm__verbs[v]; v++)
        for (size_t i = 0; i < hm__verbs[v]->field_count; i++)
            try_text(hm__verbs[v], hm__verbs[v]->fields[i].name, "-");
}

/* The same requests open files if files are allowed; this shows that the test above can fail. */
static void files_open_where_they_are_allowed(void **state)
{
    const struct hm_context context = {.files = hm_local_files()};
    char path[] = "/tmp/hm-request-XXXXXX";
    int file = mkstemp(path);
    struct hm_request *request = new_request("fit");

    (void)state;
    assert_true(file >= 0 && write(file, sentinel, strlen(sentinel)) > 0);
    close(file);
    files_opened = 0;
    set(request, "runs", path);
    set(request, "json", "true");
    struct hm_reply *reply = run(request, &context);
    assert_true(files_opened > 0);
    assert_non_null(strstr(reply->text, "4242.5"));
    hm_reply_free(reply);
    unlink(path);
}

/* Checks that running the request fails with this code and field. */
static void run_refuses(struct hm_request *request, const struct hm_context *context, int code,
                        const char *field)
{
    struct hm_reply *reply = NULL;
    struct hm_err err = {0};

    assert_int_equal(hm_request_run(request, context, &reply, &err), code);
    assert_string_equal(err.field, field);
    assert_null(reply);
    hm_request_free(request);
}

static void limits_hold(void **state)
{
    struct hm_context context = {.limits = {.max_n = 64, .values = 8, .answer_bytes = 100}};
    struct hm_request *request = whole_request(&hm__verb_plan);

    (void)state;
    set(request, "max_n", "65");
    run_refuses(request, &context, HM_E_LIMIT, "max_n");
    request = whole_request(&hm__verb_plan);
    set(request, "set", "cluster.max_nodes=65");
    run_refuses(request, &context, HM_E_LIMIT, "max_n");
    request = whole_request(&hm__verb_plan);
    set(request, "max_n", "64");
    /* The limit on the length of the answer is too small. */
    run_refuses(request, &context, HM_E_LIMIT, "");
    context.limits.answer_bytes = 0;
    request = whole_request(&hm__verb_fit);
    set(request, "predict", "1..9");
    run_refuses(request, &context, HM_E_LIMIT, "predict");
    request = whole_request(&hm__verb_fit);
    set(request, "predict", "1..8");
    hm_reply_free(run(request, &context));
    request = new_request("design");
    set(request, "n", "1..3");
    set(request, "size", "0.1,0.2,0.3");
    run_refuses(request, &context, HM_E_LIMIT, "n");
}

static void local_fields_need_files(void **state)
{
    const struct hm_context nothing = {0};
    struct hm_request *request = whole_request(&hm__verb_plan);

    (void)state;
    set(request, "plot", "/tmp/hm-request.svg");
    run_refuses(request, &nothing, HM_E_UNSUPPORTED, "plot");
    request = new_request("runs list");
    set(request, "record", "x.db");
    run_refuses(request, &nothing, HM_E_UNSUPPORTED, "record");
    request = new_request("runs list");
    run_refuses(request, &nothing, HM_E_UNSUPPORTED, "store");
}

static void plots_are_left_to_the_caller(void **state)
{
    const struct hm_context context = {.files = hm_local_files()};
    struct hm_request *request = whole_request(&hm__verb_plan);

    (void)state;
    set(request, "plot", "picture.svg");
    struct hm_reply *reply = run(request, &context);
    assert_int_equal(reply->file_count, 1);
    assert_string_equal(reply->files[0].path, "picture.svg");
    assert_string_equal(reply->files[0].program, "gnuplot");
    assert_non_null(strstr(reply->files[0].text, "picture.svg"));
    hm_reply_free(reply);
}

/* ---- fields that require or exclude each other -------------------------------------------------
 */

static void contradictions_name_their_field(void **state)
{
    static const struct {
        const char *verb, *field, *value, *blamed;
        int code;
    } cases[] = {
        {"plan", "where", "n=1", "where", HM_E_CONFLICT},
        {"plan", "level", "0.5", "level", HM_E_CONFLICT},
        {"plan", "staleness", "2", "staleness", HM_E_CONFLICT},
        {"fit", "on", "p4d.24xlarge", "on", HM_E_CONFLICT},
        {"fit", "fabric", "10gbe", "fabric", HM_E_CONFLICT},
        {"fit", "set", "batch=1", "set", HM_E_CONFLICT},
        {"fit", "width", "0.5", "width", HM_E_CONFLICT},
        {"design", "target", "4", "target", HM_E_CONFLICT},
        {"advise", "switch_cost", "1s", "switch_cost", HM_E_CONFLICT},
        {"advise", "budget", "$5", "price", HM_E_MISSING},
        {"converge", "window", "10", "window", HM_E_CONFLICT},
        {"converge", "algorithms", "dg", "algorithms", HM_E_NAME},
        {"recommend", "n", "1.5", "n", HM_E_RANGE},
        {"recommend", "at", "latency", "at", HM_E_SYNTAX},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct hm_request *request = whole_request(hm__verb_find(cases[i].verb));
        set(request, cases[i].field, cases[i].value);
        run_refuses(request, NULL, cases[i].code, cases[i].blamed);
    }
    run_refuses(new_request("plan"), NULL, HM_E_MISSING, "job");
    run_refuses(new_request("design"), NULL, HM_E_MISSING, "n");
    run_refuses(new_request("graph"), NULL, HM_E_MISSING, "graph");
}

static void wrong_calls_are_errors(void **state)
{
    struct hm_request *request = NULL;
    struct hm_reply *reply = NULL;
    struct hm_err err = {0};

    (void)state;
    assert_int_equal(hm_request_new("plann", &request, &err), HM_E_NAME);
    assert_non_null(strstr(err.hint, "plan"));
    assert_int_equal(hm_request_new(NULL, &request, NULL), HM_E_NAME);
    assert_true(hm_request_set(NULL, "job", "x", NULL) < 0);
    assert_true(hm_request_read(NULL, "{}", 2, NULL, NULL) < 0);
    assert_true(hm_request_run(NULL, NULL, &reply, NULL) < 0);
    request = new_request("plan");
    assert_true(hm_request_set(request, NULL, "x", NULL) < 0);
    assert_true(hm_request_set(request, "job", NULL, NULL) < 0);
    assert_true(hm_request_run(request, NULL, NULL, NULL) < 0);
    hm_request_free(request);
    hm_request_free(NULL);
    hm_reply_free(NULL);
}

/* ---- answers -----------------------------------------------------------------------------------
 */

static void conforms(const struct hm_verb *verb, const struct hm_reply *reply)
{
    struct hm_arena *arena = hm__arena_new();
    struct hm_value *root;
    struct hm_err err = {0};

    assert_string_equal(reply->type, "application/json");
    if (hm__json_parse(arena, reply->text, reply->length, "answer.json", &root, &err) ||
        hm__schema_check(root, verb->answer, &err))
        fail_msg("%s: %s", verb->name, err.message);
    hm__arena_free(arena);
}

static void answers_have_their_schema(void **state)
{
    static const struct {
        const char *verb, *field, *value, *second, *second_value;
    } cases[] = {
        {"plan", NULL, NULL, NULL, NULL},
        {"plan", "deadline", "1s", NULL, NULL},
        {"plan", "faster", "3x", "work", "2x"},
        {"plan", "budget", "$1", "goal", "balance"},
        {"fit", NULL, NULL, NULL, NULL},
        {"fit", "target", "64", "terms", "1,1/n"},
        {"design", NULL, NULL, NULL, NULL},
        {"design", "criterion", "I", "target", "8"},
        {"recommend", NULL, NULL, NULL, NULL},
        {"recommend", "n", "16", "price", "$1/h"},
        {"converge", NULL, NULL, NULL, NULL},
        {"converge", "leave_out", "each", "ahead", "1"},
        {"advise", NULL, NULL, NULL, NULL},
        {"advise", "adaptive", "true", "price", "$1/h"},
        {"catalog list", NULL, NULL, NULL, NULL},
        {"catalog show", "name", "p4d.24xlarge", NULL, NULL},
        {"catalog show", "name", "resnet-50", NULL, NULL},
        {"graph", "generate", "grid", "vertices", "100"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct hm_verb *verb = hm__verb_find(cases[i].verb);
        struct hm_request *request = whole_request(verb);
        set(request, "json", "true");
        if (cases[i].field)
            set(request, cases[i].field, cases[i].value);
        if (cases[i].second)
            set(request, cases[i].second, cases[i].second_value);
        struct hm_reply *reply = run(request, NULL);
        conforms(verb, reply);
        hm_reply_free(reply);
    }
}

/* Plans of transformers have the members of every plan, and more. */
static void large_answers_have_their_schema(void **state)
{
    const struct hm_verb *verb = hm__verb_find("plan");
    struct hm_request *request = with_document(
        "plan", "job",
        "network: llama-3-8b\nsequence: 8192\nbatch: 128\nprecision: bf16\ntokens: 1G\n"
        "cluster: {machine: p5.48xlarge, max_nodes: 4}\n");

    (void)state;
    set(request, "json", "true");
    struct hm_reply *reply = run(request, NULL);
    conforms(verb, reply);
    hm_reply_free(reply);
}

/* The check of a schema must find answers that are wrong. */
static void wrong_answers_are_found(void **state)
{
    static const char *const wrong[] = {"{\"n\": \"4\"}", "{\"from\": true, \"to\": 1}",
                                        "{\"from\": 1}", "{\"from\": 1, \"to\": 2, \"more\": 3}",
                                        "[]"};
    struct hm_arena *arena = hm__arena_new();
    struct hm_value *root;
    struct hm_err err = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(hm__json_parse(arena, wrong[i], strlen(wrong[i]), "x.json", &root, &err),
                         0);
        assert_true(hm__schema_check(root, "range_of_n", NULL) < 0);
    }
    assert_int_equal(
        hm__json_parse(arena, "{\"from\": 1, \"to\": null}", 23, "x.json", &root, &err), 0);
    assert_int_equal(hm__schema_check(root, "range_of_n", &err), 0);
    hm__arena_free(arena);
}

/* Any allocation during a request may fail. */
static void allocations_may_fail(void **state)
{
    long after = 0;
    int rc = HM_E_NOMEM;

    (void)state;
    for (; rc == HM_E_NOMEM && after < 20000; after += after < 300 ? 1 : 37) {
        struct hm_request *request = NULL;
        struct hm_reply *reply = NULL;
        hm__alloc_fail_after(after);
        rc = hm_request_new("plan", &request, NULL);
        rc = rc ? rc
                : hm_request_set_document(request, "job", "job", job_text, strlen(job_text), NULL);
        rc = rc ? rc : hm_request_set(request, "deadline", "1h", NULL);
        rc = rc ? rc : hm_request_set(request, "json", "true", NULL);
        rc = rc ? rc : hm_request_run(request, NULL, &reply, NULL);
        hm__alloc_fail_after(-1);
        hm_reply_free(reply);
        hm_request_free(request);
    }
    assert_int_equal(rc, 0);
    assert_true(after > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_complete),
        cmocka_unit_test(names_with_dashes_are_the_same),
        cmocka_unit_test(values_are_checked),
        cmocka_unit_test(boundaries_are_inside),
        cmocka_unit_test(lists_of_numbers),
        cmocka_unit_test(long_lists_are_linear),
        cmocka_unit_test(assignments_are_limited),
        cmocka_unit_test(bodies_set_fields),
        cmocka_unit_test(bare_bodies_are_jobs),
        cmocka_unit_test(bodies_after_a_job_are_fields),
        cmocka_unit_test(wrong_bodies_are_refused),
        cmocka_unit_test(rows_of_a_body_are_runs),
        cmocka_unit_test(no_field_opens_a_file),
        cmocka_unit_test(files_open_where_they_are_allowed),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(local_fields_need_files),
        cmocka_unit_test(plots_are_left_to_the_caller),
        cmocka_unit_test(contradictions_name_their_field),
        cmocka_unit_test(wrong_calls_are_errors),
        cmocka_unit_test(answers_have_their_schema),
        cmocka_unit_test(large_answers_have_their_schema),
        cmocka_unit_test(wrong_answers_are_found),
        cmocka_unit_test(allocations_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
