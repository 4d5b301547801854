/* Tests the reading of study files, and errors that name field and line. */
#include "testing.h"

#include "memory.h"
#include "study.h"

static int parse(const char *text, struct hm_study_spec **ret_spec, struct hm_err *err)
{
    return hm__study_spec_parse(text, strlen(text), "s.yaml", NULL, 0, ret_spec, err);
}

static struct hm_study_spec *parse_whole(const char *text)
{
    struct hm_study_spec *spec = NULL;
    struct hm_err err = {0};

    if (parse(text, &spec, &err))
        fail_msg("%s: %s", err.field, err.message);
    return spec;
}

static const char whole[] = "title: all keys\n"
                            "train: {data: digits, positive: 5, shrink: true, keep: false,\n"
                            "  label-column: 'true'}\n"
                            "algorithms: [cocoa, {name: lbfgs, memory: 5}]\n"
                            "m: [8, 1, 2, 8]\n"
                            "simulate: here.yaml\n"
                            "loss: 1e-3\nbest: -0.25\niterations: 70\nbudget: 2 min\nseeds: 3\n"
                            "price: $3.6/h\ngoal: cost\n";

static void a_study_is_read_whole(void **state)
{
    struct hm_study_spec *spec = parse_whole(whole);

    (void)state;
    assert_string_equal(spec->title, "all keys");
    assert_string_equal(spec->source, "s.yaml");
    assert_int_equal(spec->train.count, 4);
    assert_string_equal(spec->train.all[1].key, "positive");
    assert_string_equal(spec->train.all[1].value, "5");
    assert_int_equal(spec->train.all[1].line, 2);
    assert_string_equal(spec->train.all[2].key, "shrink");
    assert_null(spec->train.all[2].value);
    assert_string_equal(spec->train.all[3].value, "true");
    assert_int_equal(spec->train.all[3].line, 3);
    assert_int_equal(spec->algorithm_count, 2);
    assert_string_equal(spec->algorithms[0].name, "cocoa");
    assert_int_equal(spec->algorithms[0].options.count, 0);
    assert_string_equal(spec->algorithms[1].name, "lbfgs");
    assert_int_equal(spec->algorithms[1].line, 4);
    assert_int_equal(spec->algorithms[1].options.count, 1);
    assert_string_equal(spec->algorithms[1].options.all[0].key, "memory");
    assert_int_equal(spec->m_count, 3);
    assert_near(spec->m[0], 1, 0);
    assert_near(spec->m[2], 8, 0);
    assert_string_equal(spec->simulate, "here.yaml");
    assert_near(spec->loss, 1e-3, 0);
    assert_near(spec->best, -0.25, 0);
    assert_near(spec->iterations, 70, 0);
    assert_near(spec->budget_s, 120, 0);
    assert_near(spec->seeds, 3, 0);
    assert_near(spec->price_per_s, 0.001, 1e-15);
    assert_int_equal(spec->goal, HM_GOAL_COST);
    hm__study_spec_free(spec);
}

static void missing_keys_have_defaults(void **state)
{
    struct hm_study_spec *spec = parse_whole("algorithms: [gd]\nm: 4\nloss: 1\nbudget: 1 s\n");

    (void)state;
    assert_null(spec->title);
    assert_int_equal(spec->train.count, 0);
    assert_int_equal(spec->m_count, 1);
    assert_true(isnan(spec->best));
    assert_near(spec->iterations, 500, 0);
    assert_near(spec->seeds, 1, 0);
    assert_true(isnan(spec->price_per_s));
    assert_int_equal(spec->goal, HM_GOAL_TIME);
    assert_null(spec->simulate);
    hm__study_spec_free(spec);
}

static void a_range_doubles_and_has_its_end(void **state)
{
    static const struct {
        const char *m;
        double values[8];
        size_t count;
    } cases[] = {
        {"1..64", {1, 2, 4, 8, 16, 32, 64}, 7},
        {"3..20", {3, 6, 12, 20}, 4},
        {"5..5", {5}, 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[200];
        snprintf(text, sizeof(text), "algorithms: [gd]\nm: %s\nloss: 1\nbudget: 1 s\n", cases[i].m);
        struct hm_study_spec *spec = parse_whole(text);
        assert_int_equal(spec->m_count, cases[i].count);
        for (size_t k = 0; k < spec->m_count; k++)
            assert_near(spec->m[k], cases[i].values[k], 0);
        hm__study_spec_free(spec);
    }
}

static void overrides_are_read_like_the_file(void **state)
{
    const struct hm_override overrides[] = {{"train.lambda=1e-2"}, {"loss=5"}, {"m=[3, 4]"}};
    struct hm_study_spec *spec = NULL;

    (void)state;
    assert_int_equal(
        hm__study_spec_parse(whole, sizeof(whole) - 1, "s.yaml", overrides, 3, &spec, NULL), 0);
    assert_string_equal(spec->train.all[4].key, "lambda");
    assert_near(spec->loss, 5, 0);
    assert_near(spec->m[1], 4, 0);
    hm__study_spec_free(spec);
}

static void errors_are_named(void **state)
{
    static const struct {
        const char *text, *field, *message;
        int line;
    } cases[] = {
        {"algorithms: [gd]\nm: 1\nloss: 1\nbudget: 1 s\nbuget: 3\n", "buget", "unknown key 'buget'",
         5},
        {"m: 1\nloss: 1\nbudget: 1 s\n", "", "'algorithms' is missing", 1},
        {"algorithms: []\nm: 1\nloss: 1\nbudget: 1 s\n", "algorithms",
         "the list of algorithms is empty", 1},
        {"algorithms: gd\nm: 1\nloss: 1\nbudget: 1 s\n", "algorithms", "is not allowed here", 1},
        {"algorithms: [gd, [sgd]]\nm: 1\nloss: 1\nbudget: 1 s\n", "algorithms.1",
         "is not allowed here", 1},
        {"algorithms: [gd, sgd, gd]\nm: 1\nloss: 1\nbudget: 1 s\n", "algorithms.2",
         "gd is listed twice", 1},
        {"algorithms: [{passes: 2}]\nm: 1\nloss: 1\nbudget: 1 s\n", "algorithms.0",
         "'name' is missing", 1},
        {"algorithms: [{name: cocoa, passes: [2]}]\nm: 1\nloss: 1\nbudget: 1 s\n",
         "algorithms.0.passes", "is not allowed here", 1},
        {"algorithms: [gd]\nloss: 1\nbudget: 1 s\n", "", "'m' is missing", 1},
        {"algorithms: [gd]\nm: 0\nloss: 1\nbudget: 1 s\n", "m", "'0' is out of range", 2},
        {"algorithms: [gd]\nm: [4, 0]\nloss: 1\nbudget: 1 s\n", "m.1", "'0' is out of range", 2},
        {"algorithms: [gd]\nm: 1.5\nloss: 1\nbudget: 1 s\n", "m", "not a whole number", 2},
        {"algorithms: [gd]\nm: 8..2\nloss: 1\nbudget: 1 s\n", "m", "ends before it begins", 2},
        {"algorithms: [gd]\nm: 0..8\nloss: 1\nbudget: 1 s\n", "m", "'0' is out of range", 2},
        {"algorithms: [gd]\nm: 1..\nloss: 1\nbudget: 1 s\n", "m", "", 2},
        {"algorithms: [gd]\nm: 1..x\nloss: 1\nbudget: 1 s\n", "m", "", 2},
        {"algorithms: [gd]\nm: []\nloss: 1\nbudget: 1 s\n", "m", "the list of workers is empty", 2},
        {"algorithms: [gd]\nm: {a: 1}\nloss: 1\nbudget: 1 s\n", "m", "is not allowed here", 2},
        {"algorithms: [gd]\nm: 1\nloss: 0\nbudget: 1 s\n", "loss", "'0' is out of range", 3},
        {"algorithms: [gd]\nm: 1\nloss: -1\nbudget: 1 s\n", "loss", "", 3},
        {"algorithms: [gd]\nm: 1\nbudget: 1 s\n", "", "'loss' is missing", 1},
        {"algorithms: [gd]\nm: 1\nloss: 1\nbudget: 60\n", "budget", "has no unit", 4},
        {"algorithms: [gd]\nm: 1\nloss: 1\nbudget: 1 s\nseeds: 0\n", "seeds", "out of range", 5},
        {"algorithms: [gd]\nm: 1\nloss: 1\nbudget: 1 s\ngoal: speed\n", "goal",
         "'speed' is not one of time, cost", 5},
        {"algorithms: [gd]\nm: 1\nloss: 1\nbudget: 1 s\ngoal: cost\n", "goal", "cost needs a price",
         5},
        {"algorithms: [gd]\nm: 1\nloss: 1\nbudget: 1 s\nsimulate: a\nlauncher: b {n}\n", "launcher",
         "launcher and simulate are both given", 6},
        {"algorithms: [gd]\nm: 1\nloss: 1\nbudget: 1 s\ntrain: {data: [a]}\n", "train.data",
         "is not allowed here", 5},
        {"algorithms: [gd]\nm: 1\nloss: 1\nbudget: 1 s\ntrain: digits\n", "train",
         "is not allowed here", 5},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct hm_study_spec *spec = NULL;
        struct hm_err err = {0};
        assert_true(parse(cases[i].text, &spec, &err) < 0);
        assert_null(spec);
        if (strcmp(err.field, cases[i].field) != 0 || !strstr(err.message, cases[i].message) ||
            err.line != cases[i].line || strcmp(err.source, "s.yaml") != 0 || !err.message[0])
            fail_msg("%s\n%s:%d: %s: %s", cases[i].text, err.source, err.line, err.field,
                     err.message);
        assert_true(parse(cases[i].text, &spec, NULL) < 0);
    }
}

static void too_many_values_are_refused(void **state)
{
    char text[4096] = "algorithms: [gd]\nloss: 1\nbudget: 1 s\nm: [";
    struct hm_study_spec *spec = NULL;
    struct hm_err err = {0};
    size_t used = strlen(text);

    (void)state;
    for (int i = 1; i <= HM_STUDY_M + 1; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%d, ", i);
    snprintf(text + used, sizeof(text) - used, "1]\n");
    assert_int_equal(parse(text, &spec, &err), HM_E_LIMIT);
    assert_string_equal(err.message, "more than 64 numbers of workers");
}

/* Every allocation fails in turn: no memory leaks, and the last attempt succeeds. */
static void failed_allocations_are_reported(void **state)
{
    struct hm_study_spec *spec = NULL;
    int rc = -1;

    (void)state;
    for (long after = 0; rc && after < 1000; after++) {
        struct hm_err err = {0};
        hm__alloc_fail_after(after);
        rc = parse(whole, &spec, &err);
        hm__alloc_fail_after(-1);
        assert_true(rc == 0 || rc == HM_E_NOMEM);
    }
    assert_int_equal(rc, 0);
    hm__study_spec_free(spec);
    hm__study_spec_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_study_is_read_whole),
        cmocka_unit_test(missing_keys_have_defaults),
        cmocka_unit_test(a_range_doubles_and_has_its_end),
        cmocka_unit_test(overrides_are_read_like_the_file),
        cmocka_unit_test(errors_are_named),
        cmocka_unit_test(too_many_values_are_refused),
        cmocka_unit_test(failed_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
