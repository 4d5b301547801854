/*
 * Tests boundaries of requests: ranges of fields and their messages, lists that grow, places,
 * bodies, schemas, and the limits of a context. The figures follow from the tables of fields.
 */
#include "request_testing.h"

#include <unistd.h>

#include "json.h"
#include "schemas.h"

/* ---- values as the verbs see them --------------------------------------------------------------
 */

/* The values of the fields of a verb, without a request, so that a test can read their members. */
struct values {
    struct hm_arena *arena;
    const struct hm_verb *verb;
    void *memory;
};

static struct values values_new(const char *verb)
{
    struct values v = {hm__arena_new(), hm__verb_find(verb), NULL};
    struct hm_err err = {0};

    assert_non_null(v.verb);
    v.memory = hm__arena_alloc(v.arena, 1, v.verb->size);
    if (hm__fields_init(v.arena, v.verb, v.memory, &err))
        fail_msg("%s: %s", verb, err.message);
    return v;
}

static const void *member(const struct values *v, const char *field)
{
    return (const char *)v->memory + hm__verb_field(v->verb, field)->offset;
}

static const void *put(struct values *v, const char *field, const char *text)
{
    struct hm_err err = {0};

    if (hm__field_set(v->arena, hm__verb_field(v->verb, field), v->memory, text, &err))
        fail_msg("%s=%s: %s", field, text, err.message);
    return member(v, field);
}

/* Sets the field from a JSON value. */
static int put_json(struct values *v, const char *field, const char *text, struct hm_err *err)
{
    struct hm_value *root = NULL;

    assert_int_equal(hm__json_parse(v->arena, text, strlen(text), "body.json", &root, err), 0);
    return hm__field_read(v->arena, hm__verb_field(v->verb, field), v->memory, root, err);
}

static double number(struct values *v, const char *field, const char *text)
{
    return *(const double *)put(v, field, text);
}

static void defaults_are_set(void **state)
{
    struct values v = values_new("plan");

    (void)state;
    assert_true(isnan(*(const double *)member(&v, "deadline")));
    assert_true(isnan(*(const double *)member(&v, "servers")));
    assert_true(isnan(((const struct hm_factor *)member(&v, "stale_cost"))->value));
    assert_int_equal(*(const int *)member(&v, "goal"), -1);
    hm__arena_free(v.arena);
    v = values_new("design");
    assert_int_equal(*(const int *)member(&v, "criterion"), 0);
    assert_true(isnan(((const struct hm_place *)member(&v, "target"))->n));
    assert_true(isnan(((const struct hm_quantity *)member(&v, "budget"))->value));
    hm__arena_free(v.arena);
    v = values_new("graph");
    assert_true(*(const double *)member(&v, "trials") == 20);
    assert_true(*(const double *)member(&v, "seed") == 1);
    assert_int_equal(*(const int *)member(&v, "format"), 0);
    assert_int_equal(*(const int *)member(&v, "generate"), -1);
    hm__arena_free(v.arena);
    v = values_new("runs list");
    assert_true(*(const double *)member(&v, "limit") == 20);
    hm__arena_free(v.arena);
}

static void numbers_have_units(void **state)
{
    struct values v = values_new("plan");

    (void)state;
    assert_true(number(&v, "deadline", "2min") == 120);
    assert_true(number(&v, "budget", "5") == 5);
    assert_true(number(&v, "budget", "$5") == 5);
    assert_true(number(&v, "budget", "0") == 0);
    assert_near(number(&v, "level", "90%"), 0.9, 1e-15);
    assert_true(number(&v, "servers", "1") == 1);
    assert_true(number(&v, "servers", "1000000") == 1e6);
    assert_true(number(&v, "backups", "1000") == 1000);
    assert_true(number(&v, "backups", "0") == 0);
    const struct hm_factor *factor = put(&v, "stale_cost", "1.5x");
    assert_true(factor->value == 1.5 && !factor->from.name);
    factor = put(&v, "stale_cost", "1");
    assert_true(factor->value == 1);
    factor = put(&v, "stale_cost", "gd=fit.json");
    assert_true(isnan(factor->value));
    assert_string_equal(factor->from.name, "gd=fit.json");
    hm__arena_free(v.arena);
    v = values_new("advise");
    assert_true(number(&v, "reach", "-0.25") == -0.25);
    assert_near(number(&v, "price", "$3.6/h"), 0.001, 1e-12);
    assert_true(number(&v, "seed", "9007199254740991") == 9007199254740991);
    hm__arena_free(v.arena);
    v = values_new("design");
    const struct hm_quantity *budget = put(&v, "budget", "2h");
    assert_true(budget->value == 7200 && budget->has_unit &&
                hm__dim_equal(budget->dim, HM_DIM_TIME));
    budget = put(&v, "budget", "7");
    assert_true(budget->value == 7 && !budget->has_unit);
    hm__arena_free(v.arena);
}

static void ranges_say_what_is_right(void **state)
{
    static const char level_hint[] = "write a probability such as 0.9 or 90%";

    (void)state;
    set_fails("plan", "servers", "0", HM_E_RANGE, "'0' is not a whole number from 1", "");
    set_fails("plan", "servers", "1.5", HM_E_RANGE, "'1.5' is not a whole number from 1", "");
    set_fails("plan", "servers", "1000001", HM_E_RANGE, "'1000001' is more than 1e+06", "");
    set_fails("plan", "backups", "1001", HM_E_RANGE, "'1001' is not from 0 to 1000", "");
    set_fails("plan", "backups", "-1", HM_E_RANGE, "'-1' is not from 0 to 1000", "");
    set_fails("plan", "backups", "0.5", HM_E_RANGE, "'0.5' is not a whole number from 0", "");
    set_fails("plan", "level", "1", HM_E_RANGE, "'1' is not between 0 and 1", level_hint);
    set_fails("plan", "level", "0", HM_E_RANGE, "'0' is not between 0 and 1", level_hint);
    set_fails("plan", "stale_cost", "0.9", HM_E_RANGE, "'0.9' is less than 1", "");
    set_fails("plan", "budget", "-1", HM_E_RANGE, "'-1' is less than 0", "");
    set_fails("plan", "deadline", "0s", HM_E_RANGE, "'0s' is not more than 0", "");
    set_fails("design", "budget", "0", HM_E_RANGE, "'0' is not more than 0", "");
    set_fails("graph", "trials", "-1", HM_E_RANGE, "'-1' is not a whole number from 0", "");
    set_fails("converge", "window", "1000001", HM_E_RANGE, "'1000001' is more than 1e+06", "");
    set_fails("converge", "window", "4", HM_E_RANGE, "'4' is not a whole number from 5", "");
    set_fails("advise", "reach", "3 s", HM_E_TYPE, "'3 s' is not a number", "");
    set_fails("fit", "seed", "9007199254740993", HM_E_RANGE,
              "'9007199254740993' is more than 9.0072e+15", "");
    set_fails("plan", "goal", "tiem", HM_E_NAME, "'tiem' is not time, cost or balance",
              "did you mean time?");
    set_fails("advise", "goal", "xyzzy", HM_E_NAME, "'xyzzy' is not time or cost", "");
    set_fails("plan", "scheme", "ring,,best", HM_E_SYNTAX, "'ring,,best' has an empty entry", "");
    set_fails("converge", "algorithms", "", HM_E_SYNTAX, "'' has an empty entry", "");
    set_fails("plan", "json", "yes", HM_E_TYPE, "'yes' is not true or false", "");
    set_fails("plan", "max_m", "3", HM_E_KEY, "plan has no field of this name",
              "did you mean max_n?");
    set_fails("fit", "target", "n=0.5", HM_E_RANGE, "n must be at least 1, not '0.5'", "");
    set_fails("fit", "target", "size=1,size=2", HM_E_CONFLICT, "size is given twice", "");
}

static void choices_are_numbered(void **state)
{
    char name[8] = "";

    (void)state;
    assert_true(hm__choice_name("time cost balance", 0, name, sizeof(name)));
    assert_string_equal(name, "time");
    assert_true(hm__choice_name("time cost balance", 2, name, sizeof(name)));
    assert_string_equal(name, "balance");
    assert_false(hm__choice_name("time cost balance", 3, name, sizeof(name)));
    assert_false(hm__choice_name("", 0, name, sizeof(name)));
    assert_false(hm__choice_name(NULL, 0, name, sizeof(name)));
    struct values v = values_new("plan");
    assert_int_equal(*(const int *)put(&v, "goal", "balance"), 2);
    const struct hm_choices *scheme = put(&v, "scheme", "best, ring,best");
    assert_int_equal(scheme->count, 2);
    assert_int_equal(scheme->items[0], 5);
    assert_int_equal(scheme->items[1], 0);
    assert_false(scheme->all);
    put(&v, "scheme", "all");
    assert_true(scheme->all);
    assert_int_equal(scheme->count,
                     6); /* "all" means all six schemes and is not itself a scheme. */
    hm__arena_free(v.arena);
}

static void flags_are_read(void **state)
{
    struct values v = values_new("plan");

    (void)state;
    assert_true(*(const bool *)put(&v, "json", ""));
    assert_false(*(const bool *)put(&v, "json", "false"));
    assert_true(*(const bool *)put(&v, "json", "true"));
    hm__arena_free(v.arena);
}

/* ---- lists -------------------------------------------------------------------------------------
 */

/* The capacity of a list is 8 items at first, and then doubles. */
static void lists_grow(void **state)
{
    struct values v = values_new("converge");
    char text[32];
    const struct hm_texts *names = member(&v, "algorithms");

    (void)state;
    for (int i = 0; i < 40; i++) {
        snprintf(text, sizeof(text), "a%d, b%d", i, i);
        put(&v, "algorithms", text);
    }
    assert_int_equal(names->count, 80);
    for (int i = 0; i < 40; i++) {
        snprintf(text, sizeof(text), "a%d", i);
        assert_string_equal(names->items[2 * i], text);
        snprintf(text, sizeof(text), "b%d", i);
        assert_string_equal(names->items[2 * i + 1], text);
    }
    hm__arena_free(v.arena);
}

static void terms_keep_their_parentheses(void **state)
{
    struct values v = values_new("fit");
    const struct hm_texts *terms = member(&v, "terms");

    (void)state;
    assert_false(terms->given);
    put(&v, "terms", "1, max(n,min(2,size)),ln(n)");
    assert_int_equal(terms->count, 3);
    assert_string_equal(terms->items[0], "1");
    assert_string_equal(terms->items[1], "max(n,min(2,size))");
    assert_string_equal(terms->items[2], "ln(n)");
    put(&v, "terms", "auto"); /* A second value replaces the terms. */
    assert_true(terms->given);
    assert_int_equal(terms->count, 0);
    struct hm_err err = {0};
    assert_int_equal(put_json(&v, "terms", "[\"1\", \"max(n,2)\"]", &err), 0);
    assert_true(terms->given);
    assert_int_equal(terms->count, 2);
    assert_string_equal(terms->items[1], "max(n,2)");
    hm__arena_free(v.arena);
}

static void places_have_names_and_units(void **state)
{
    struct values v = values_new("fit");
    const struct hm_place *place = put(&v, "target", "64");

    (void)state;
    assert_true(place->count == 1 && place->n == 64 && place->at[0].value == 64);
    assert_string_equal(place->at[0].name, "n");
    put(&v, "target", "n=1,size=2,latency=20ms,bandwidth=1 Gbit/s");
    assert_true(place->count == 4 && place->n == 1);
    assert_string_equal(place->at[3].name, "bandwidth");
    assert_near(place->at[2].value, 0.02, 1e-12);
    assert_near(place->at[3].value, 1.25e8, 1e-12);
    put(&v, "target", "latency=0.5,bandwidth=7");
    assert_true(isnan(place->n) && place->at[0].value == 0.5 && place->at[1].value == 7);
    struct hm_err err = {0};
    assert_int_equal(put_json(&v, "target", "{\"n\": 8, \"size\": \"3\"}", &err), 0);
    assert_true(place->count == 2 && place->n == 8 && place->at[1].value == 3);
    hm__arena_free(v.arena);
}

static void places_have_limits(void **state)
{
    struct values v = values_new("fit");
    struct hm_request *request = new_request("fit");
    struct hm_text text = {0};
    struct hm_err err = {0};
    char name[80];

    (void)state;
    for (int i = 0; i < 32; i++)
        hm__text_addf(&text, "%sq%d=%d", i ? "," : "", i, i);
    const struct hm_place *place = put(&v, "target", text.data);
    assert_int_equal(place->count, 32);
    assert_true(place->at[31].value == 31);
    hm__text_add(&text, ",q32=1");
    assert_int_equal(hm_request_set(request, "target", text.data, &err), HM_E_LIMIT);
    assert_string_equal(err.message, "more than 32 quantities");
    memset(name, 'a', 63);
    snprintf(name + 63, sizeof(name) - 63, "=1");
    put(&v, "target", name); /* A name has up to 63 characters. */
    memset(name, 'a', 64);
    snprintf(name + 64, sizeof(name) - 64, "=1");
    assert_int_equal(hm_request_set(request, "target", name, NULL), HM_E_SYNTAX);
    hm__text_release(&text);
    hm_request_free(request);
    hm__arena_free(v.arena);
}

static struct hm_numbers list_of(struct hm_arena *arena, const char *text, bool spread)
{
    struct hm_numbers numbers = {0};
    struct hm_err err = {0};

    if (hm__numbers_parse(arena, &numbers, text, spread, &err))
        fail_msg("%s: %s", text, err.message);
    return numbers;
}

static void list_is(const char *text, bool spread, size_t count, const double *wanted)
{
    struct hm_arena *arena = hm__arena_new();
    struct hm_numbers n = list_of(arena, text, spread);

    if (n.count != count)
        fail_msg("%s has %zu numbers, not %zu", text, n.count, count);
    for (size_t i = 0; i < count; i++)
        assert_near(n.values[i], wanted[i], 1e-12);
    hm__arena_free(arena);
}

static void list_fails(const char *text, bool spread)
{
    struct hm_arena *arena = hm__arena_new();
    struct hm_numbers n = {0};

    if (hm__numbers_parse(arena, &n, text, spread, NULL) != HM_E_SYNTAX)
        fail_msg("'%s' is accepted", text);
    hm__arena_free(arena);
}

static void ranges_of_numbers(void **state)
{
    struct hm_arena *arena = hm__arena_new();

    /* The end of a range may be too small by a relative error of 1e-12. */
    assert_int_equal(list_of(arena, "1..1000", false).count, 1000);
    assert_int_equal(list_of(arena, "1..999.9999999992", false).count, 1000);
    assert_int_equal(list_of(arena, "1..999.9999999988", false).count, 999);

    (void)state;
    list_is("0.1..0.3:0.1", false, 3, (const double[]){0.1, 0.2, 0.3});
    list_is("1..4:3", false, 2, (const double[]){1, 4});
    list_is("1..4:3", true, 3, (const double[]){1, 2.5, 4});
    /* Without a number of values, the step of a range is 1. */
    list_is("1..4", true, 4, (const double[]){1, 2, 3, 4});
    list_is("3..3:1", true, 1, (const double[]){3});
    list_is("3/4", false, 1, (const double[]){0.75});
    list_is("1/4..3/4:0.5", false, 2, (const double[]){0.25, 0.75});
    list_is("1/2..2", false, 2, (const double[]){0.5, 1.5});
    list_is("1.5..2.5", false, 2, (const double[]){1.5, 2.5});
    list_is("1/4..2/4:2", true, 2, (const double[]){0.25, 0.5});
    list_is("0..0", false, 1, (const double[]){0});
    list_fails("1..2:1", true);
    list_fails("1..4:2.5", true);
    list_fails("1..4:0", false);
    list_fails("1..4:0", true);
    list_fails("4..3", false);
    list_fails("1..", false);
    list_fails("1..2:", false);
    list_fails("1 2", false);
    list_fails("x", false);
    list_fails("", false);
    /* The list is enlarged after 64 and after 128 numbers. */
    struct hm_numbers n = list_of(arena, "1..200", false);
    assert_int_equal(n.count, 200);
    for (size_t i = 0; i < 200; i++)
        assert_true(n.values[i] == (double)i + 1);
    hm__arena_free(arena);
}

/* ---- bodies ------------------------------------------------------------------------------------
 */

static void trees_fill_lists(void **state)
{
    struct values v = values_new("design");
    struct hm_err err = {0};

    (void)state;
    assert_int_equal(put_json(&v, "n", "[1, \"2..4\", 8]", &err), 0);
    const struct hm_numbers *n = member(&v, "n");
    assert_int_equal(n->count, 5);
    assert_true(n->values[0] == 1 && n->values[3] == 4 && n->values[4] == 8);
    assert_int_equal(put_json(&v, "size", "[\"1..3:3\"]", &err), 0);
    assert_int_equal(((const struct hm_numbers *)member(&v, "size"))->count, 3);
    assert_int_equal(put_json(&v, "vary", "{\"a\": [1, 2, 3], \"b\": 4}", &err), 0);
    const struct hm_texts *vary = member(&v, "vary");
    assert_int_equal(vary->count, 2);
    assert_string_equal(vary->items[0], "a=1,2,3");
    assert_string_equal(vary->items[1], "b=4");
    assert_int_equal(put_json(&v, "vary", "[\"c=1\", \"d=2\"]", &err), 0);
    assert_int_equal(vary->count, 4);
    assert_string_equal(vary->items[3], "d=2");
    assert_int_equal(put_json(&v, "vary", "{\"a\": null}", &err), HM_E_TYPE);
    /* The value null means that the field is not given. */
    assert_int_equal(put_json(&v, "n", "null", &err), 0);
    assert_int_equal(n->count, 5);
    hm__arena_free(v.arena);
}

static void trees_fill_documents(void **state)
{
    struct values v = values_new("advise");
    const struct hm_documents *d = member(&v, "times");
    struct hm_err err = {0};

    (void)state;
    assert_int_equal(put_json(&v, "times",
                              "[{\"algorithm\": \"gd\", \"document\": \"n,seconds\"}, "
                              "{\"algorithm\": \"gd\", \"other\": 1}]",
                              &err),
                     0);
    assert_int_equal(d->count, 2);
    assert_string_equal(d->items[0].algorithm, "gd");
    assert_string_equal(d->items[0].text, "n,seconds");
    assert_int_equal(d->items[0].length, 9);
    /* The second item is an object of two keys that is a document itself. */
    assert_null(d->items[1].algorithm);
    assert_non_null(d->items[1].tree);
    assert_int_equal(put_json(&v, "times", "{\"algorithm\": [1], \"document\": \"x\"}", &err),
                     HM_E_TYPE);
    assert_string_equal(err.message, "algorithm must be a text");
    const struct hm_documents *on = member(&v, "on");
    assert_int_equal(put_json(&v, "on", "[\"p4d.24xlarge\", {\"max_nodes\": 2}]", &err), 0);
    assert_int_equal(on->count, 2);
    assert_string_equal(on->items[0].name, "p4d.24xlarge");
    assert_null(on->items[0].tree);
    assert_non_null(on->items[1].tree);
    assert_int_equal(put_json(&v, "on", "{\"max_nodes\": 3}", &err), 0);
    assert_int_equal(on->count, 3);
    hm__arena_free(v.arena);
    struct hm_request *request = new_request("plan");
    struct hm_err wrong = {0};
    assert_int_equal(hm_request_set_document(request, "deadline", "x", "y", 1, &wrong), HM_E_TYPE);
    assert_string_equal(wrong.message, "this field does not take a document");
    assert_int_equal(hm_request_set_document(request, "nothing", "x", "y", 1, &wrong), HM_E_KEY);
    hm_request_free(request);
}

/* Errors of a body name the line of the value. */
static void errors_have_lines(void **state)
{
    static const struct {
        const char *body;
        int code, line;
    } cases[] = {
        {"{\n\"max_n\": 3,\n\"deadline\": [1]}", HM_E_TYPE, 3},
        {"{\n\"max_n\": \"0\"}", HM_E_RANGE, 2},
        {"{\n\n\"csv\": \"\"}", HM_E_TYPE, 3},
        {"{\n\n\"json\": 3}", HM_E_TYPE, 3},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct hm_request *request = new_request("plan");
        struct hm_err err = {0};
        char body[200];
        snprintf(body, sizeof(body), "{\"job\": \"\",%s", cases[i].body + 1);
        assert_int_equal(hm_request_read(request, body, strlen(body), NULL, &err), cases[i].code);
        assert_int_equal(err.line, cases[i].line);
        hm_request_free(request);
    }
}

/* ---- contexts ----------------------------------------------------------------------------------
 */

static const char job_text[] = "compute: 100 s / n\ncommunicate: 1 s * n\niterations: 10\n"
                               "cluster: {max_nodes: 16, price: $1/h, flops: 1 Tflop/s, "
                               "fabric: {bandwidth: 1 Gbit/s, latency: 1 ms}}\n";

static struct hm_request *plan_request(void)
{
    struct hm_request *request = new_request("plan");

    set_document(request, "job", job_text);
    return request;
}

/* Every kind of list has the same limit. */
static void lists_have_limits(void **state)
{
    const struct hm_context two = {.limits = {.values = 2}};
    static const struct {
        const char *verb, *field, *fits, *more;
    } cases[] = {
        {"converge", "algorithms", "a,b", "a,b,c"},
        {"fit", "terms", "1,n", "1,n,ln(n)"},
        {"fit", "predict", "1,2", "1,2,3"},
        {"plan", "on", "p4d.24xlarge,a", "p4d.24xlarge,a,b"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct hm_request *request = new_request(cases[i].verb);
        struct hm_err err = {0};
        struct hm_reply *reply = NULL;
        set(request, cases[i].field, cases[i].fits);
        assert_true(hm_request_run(request, &two, &reply, &err) != HM_E_LIMIT);
        hm_reply_free(reply);
        hm_request_free(request);
        request = new_request(cases[i].verb);
        set(request, cases[i].field, cases[i].more);
        run_fails(request, &two, HM_E_LIMIT, cases[i].field, "3 values; at most 2 are allowed");
    }
    struct hm_request *request = new_request("plan");
    set(request, "set", "a=1");
    set(request, "set", "b=1");
    set(request, "set", "c=1");
    run_fails(request, &two, HM_E_LIMIT, "set", "3 values");
}

static void answers_have_limits(void **state)
{
    struct hm_reply *reply = run(plan_request(), NULL);
    struct hm_context context = {.limits = {.answer_bytes = reply->length}};

    (void)state;
    assert_string_equal(reply->type, "text/plain; charset=utf-8");
    assert_int_equal(reply->length, strlen(reply->text));
    hm_reply_free(reply);
    hm_reply_free(run(plan_request(), &context));
    context.limits.answer_bytes--;
    run_fails(plan_request(), &context, HM_E_LIMIT, "", "at most");
    context = (struct hm_context){.limits = {.max_n = 16}};
    hm_reply_free(run(plan_request(), &context));
    context.limits.max_n = 15;
    run_fails(plan_request(), &context, HM_E_LIMIT, "max_n", "16 workers; at most 15 are allowed");
    struct hm_request *request = plan_request();
    set(request, "max_n", "15");
    hm_reply_free(run(request, &context));
    struct hm_request *both = plan_request();
    set(both, "json", "true");
    set(both, "csv", "true");
    run_fails(both, NULL, HM_E_CONFLICT, "json", "exclude each other");
    struct hm_request *csv = plan_request();
    set(csv, "csv", "true");
    reply = run(csv, NULL);
    assert_string_equal(reply->type, "text/csv; charset=utf-8");
    hm_reply_free(reply);
}

/* ---- stores ------------------------------------------------------------------------------------
 */

static int open_nothing(void *data, const char *where, struct hm_store **ret_store,
                        struct hm_err *err)
{
    (void)data;
    (void)where;
    (void)ret_store;
    (void)err;
    return 0;
}

static int open_named(void *data, const char *where, struct hm_store **ret_store,
                      struct hm_err *err)
{
    (void)data;
    return hm_store_open(where, ret_store, err);
}

static struct hm_request *runs_request(const char *verb, const char *record)
{
    struct hm_request *request = new_request(verb);

    if (record)
        set(request, "record", record);
    if (strcmp(verb, "runs add") == 0) {
        set(request, "value", "n=1");
        set(request, "value", "seconds=3");
    }
    return request;
}

static void functions_of_the_store_may_be_missing(void **state)
{
    char folder[] = "/tmp/howmany-request-XXXXXX", record[64];
    struct hm_store_access access = {0};
    struct hm_context context = {.files = hm_local_files(), .store = &access};

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(record, sizeof(record), "%s/runs.db", folder);
    for (int add = 0; add < 2; add++)
        run_fails(runs_request(add ? "runs add" : "runs list", NULL), &context, HM_E_UNSUPPORTED,
                  "store", "no store of runs");
    access.open = open_nothing;
    run_fails(runs_request("runs list", NULL), &context, HM_E_IO, "", "was not opened");
    access.open = open_named;
    run_fails(runs_request("runs add", record), &context, HM_E_UNSUPPORTED, "store",
              "no runs can be added");
    hm_reply_free(run(runs_request("runs list", record), &context));
    remove(record);
    assert_int_equal(rmdir(folder), 0); /* The store was closed, so its other files are gone. */
}

/* ---- schemas -----------------------------------------------------------------------------------
 */

static void field_schema_is(const char *verb, const char *field, const struct wanted *wanted,
                            size_t count)
{
    struct hm_text text = {0};
    struct hm_json json = {.out = &text};
    struct hm_arena *arena = hm__arena_new();
    struct hm_value *root = NULL;
    struct hm_err err = {0};

    hm__json_open(&json, NULL, HM_JSON_OBJECT);
    hm__field_schema_json(&json, hm__verb_field(hm__verb_find(verb), field));
    hm__json_close(&json);
    if (hm__json_parse(arena, text.data, text.length, "schema.json", &root, &err))
        fail_msg("%s: %s", field, err.message);
    for (size_t i = 0; i < count; i++) {
        if (isinf(wanted[i].number)) { /* The schema does not contain this key. */
            if (value_at(root, wanted[i].path))
                fail_msg("%s.%s has %s", verb, field, wanted[i].path);
        } else {
            check_wanted(root, &wanted[i]);
        }
    }
    hm__arena_free(arena);
    hm__text_release(&text);
}

#define schema_is(verb, field, ...)                                                                \
    field_schema_is(verb, field, (const struct wanted[]){__VA_ARGS__},                             \
                    sizeof((const struct wanted[]){__VA_ARGS__}) / sizeof(struct wanted))
#define ABSENT .number = INFINITY

static void fields_have_schemas(void **state)
{
    (void)state;
    schema_is("plan", "json", {"type", .text = "boolean"}, {"x-default", ABSENT},
              {"x-example", ABSENT});
    schema_is("plan", "level", {"type", 2, NULL}, {"type.0", .text = "string"},
              {"type.1", .text = "number"}, {"exclusiveMinimum", 0, NULL},
              {"exclusiveMaximum", 1, NULL}, {"multipleOf", ABSENT}, {"minimum", ABSENT},
              {"maximum", ABSENT});
    schema_is("plan", "backups", {"minimum", 0, NULL}, {"maximum", 1000, NULL},
              {"multipleOf", 1, NULL}, {"exclusiveMaximum", ABSENT});
    schema_is("plan", "max_n", {"exclusiveMinimum", 0, NULL}, {"exclusiveMaximum", ABSENT},
              {"maximum", ABSENT});
    schema_is("plan", "deadline", {"exclusiveMinimum", ABSENT}, {"type", 2, NULL});
    schema_is("advise", "reach", {"minimum", ABSENT}, {"type", 2, NULL});
    schema_is("design", "budget", {"type", 2, NULL}, {"minimum", ABSENT});
    schema_is("plan", "goal", {"type", .text = "string"}, {"enum", 3, NULL},
              {"enum.2", .text = "balance"});
    schema_is("plan", "scheme", {"type", 3, NULL}, {"type.2", .text = "array"});
    schema_is("plan", "set", {"type", 4, NULL}, {"type.3", .text = "object"});
    schema_is("plan", "plot", {"type", .text = "string"});
    schema_is("plan", "job", {"anyOf", 2, NULL}, {"anyOf.0.type", .text = "string"},
              {"anyOf.0.description", .text = "a job as YAML"},
              {"anyOf.1.$ref", .text = "#/components/schemas/job"});
    schema_is("plan", "runs", {"anyOf", 3, NULL},
              {"anyOf.0.description", .text = "CSV or JSON lines"},
              {"anyOf.1.type", .text = "object"}, {"anyOf.2.type", .text = "array"},
              {"anyOf.2.items.type", .text = "object"});
    schema_is("advise", "job", {"anyOf", 3, NULL});
    schema_is("graph", "trials", {"x-default", .text = "20"});
}

static void answers_have_schemas(void **state)
{
    struct hm_text text = {0};
    struct hm_json json = {.out = &text};
    struct hm_arena *arena = hm__arena_new();
    struct hm_value *root = NULL;
    struct hm_err err = {0};
    static const struct wanted wanted[] = {
        {"range_of_n.type", .text = "object"},
        {"range_of_n.additionalProperties", .text = "false"},
        {"range_of_n.required", 2, NULL},
        {"range_of_n.properties.from.type", 2, NULL},
        {"range_of_n.properties.from.type.0", .text = "number"},
        {"range_of_n.properties.from.type.1", .text = "null"},
        {"range_of_n.properties.from.description", .text = "workers"},
        {"run.additionalProperties", .text = "true"},
        {"run.required", 2, NULL},
        {"run.required.1", .text = "n"},
        {"run.properties.n.type", .text = "number"},
        {"plan.properties.at_ceiling.type", .text = "boolean"},
        {"plan.properties.status.type", .text = "string"},
        {"plan.properties.curve.type", .text = "array"},
        {"plan.properties.curve.items.$ref", .text = "#/components/schemas/point"},
        {"plan.properties.plateau.$ref", .text = "#/components/schemas/range_of_n"},
        {"plan.properties.best.anyOf.0.$ref", .text = "#/components/schemas/point"},
        {"plan.properties.best.anyOf.1.type", .text = "null"},
        {"plan.properties.notes.items.type", .text = "string"},
        {"added.properties.ids.items.type.0", .text = "number"},
    };

    (void)state;
    hm__json_open(&json, NULL, HM_JSON_OBJECT);
    hm__answer_schemas_json(&json);
    hm__json_close(&json);
    if (hm__json_parse(arena, text.data, text.length, "schemas.json", &root, &err))
        fail_msg("%s", err.message);
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
        check_wanted(root, &wanted[i]);
    hm__arena_free(arena);
    hm__text_release(&text);
}

/* Returns whether the JSON text conforms to the schema of answers. */
static bool conforms(const char *schema, const char *text)
{
    struct hm_arena *arena = hm__arena_new();
    struct hm_value *root = NULL;
    struct hm_err err = {0};

    assert_int_equal(hm__json_parse(arena, text, strlen(text), "x.json", &root, &err), 0);
    int rc = hm__schema_check(root, schema, &err);
    hm__arena_free(arena);
    return rc == 0;
}

static void schemas_are_checked(void **state)
{
    (void)state;
    assert_true(conforms("run", "{\"id\": 1, \"n\": 2, \"made_at\": \"now\", \"more\": [1]}"));
    assert_false(conforms("run", "{\"id\": 1, \"n\": 2, \"made_at\": 3}"));
    assert_false(conforms("run", "{\"id\": 1, \"n\": null}"));
    assert_false(conforms("run", "{\"id\": 1, \"n\": \"2\"}"));
    assert_false(conforms("run", "{\"n\": 2}"));
    assert_true(conforms("runs_page", "{\"runs\": [], \"next\": null}"));
    assert_true(conforms("runs_page", "{\"runs\": [{\"id\": 1, \"n\": 2}], \"next\": \"x\"}"));
    assert_false(conforms("runs_page", "{\"runs\": [{\"id\": 1}], \"next\": null}"));
    assert_false(conforms("runs_page", "{\"runs\": 3, \"next\": null}"));
    assert_false(conforms("runs_page", "{\"runs\": [], \"next\": null, \"more\": 1}"));
    assert_false(conforms("help", "{\"what\": true, \"n\": 1, \"time_s\": 1, \"speedup\": 1, "
                                  "\"gain\": 1}"));
    assert_false(conforms("nothing", "{}"));
    assert_false(conforms("run", "[1]"));
    assert_false(conforms("run", "3"));
    /* A truth value is true or false without quotes. */
    static const char file[] =
        "{\"file\": \"a\", \"format\": \"b\", \"title\": \"c\", \"partial\": %s, "
        "\"needs_n\": false, \"needs_network\": false, \"taken\": [], \"left_out\": [], \"notes\": "
        "[], \"facts\": null, "
        "\"runs\": [], \"traces\": [], \"document_kind\": null, \"document\": null}";
    static const struct {
        const char *value;
        bool conforms;
    } values[] = {{"true", true},       {"false", true}, {"\"true\"", false}, {"1", false},
                  {"\"false\"", false}, {"[]", false},   {"null", false},     {"\"x\"", false}};
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        char text[400];
        snprintf(text, sizeof(text), file, values[i].value);
        assert_int_equal(conforms("import_file", text), values[i].conforms);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_set),
        cmocka_unit_test(numbers_have_units),
        cmocka_unit_test(ranges_say_what_is_right),
        cmocka_unit_test(choices_are_numbered),
        cmocka_unit_test(flags_are_read),
        cmocka_unit_test(lists_grow),
        cmocka_unit_test(terms_keep_their_parentheses),
        cmocka_unit_test(places_have_names_and_units),
        cmocka_unit_test(places_have_limits),
        cmocka_unit_test(ranges_of_numbers),
        cmocka_unit_test(trees_fill_lists),
        cmocka_unit_test(trees_fill_documents),
        cmocka_unit_test(errors_have_lines),
        cmocka_unit_test(lists_have_limits),
        cmocka_unit_test(answers_have_limits),
        cmocka_unit_test(functions_of_the_store_may_be_missing),
        cmocka_unit_test(fields_have_schemas),
        cmocka_unit_test(answers_have_schemas),
        cmocka_unit_test(schemas_are_checked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
