/* Tests the parsing of YAML and JSON into one tree, overrides by path, and invalid texts. */
#include "testing.h"

#include "budget.h"
#include "text.h"
#include "value.h"

struct tree {
    struct hm_arena *arena;
    struct hm_value *root;
    struct hm_err err;
    int rc;
};

static struct tree read_text(const char *text, size_t length, const char *source)
{
    struct tree t = {.arena = hm__arena_new()};
    t.rc = hm__value_parse(t.arena, text, length, source, &t.root, &t.err);
    return t;
}

static struct tree read_yaml(const char *text)
{
    return read_text(text, strlen(text), "t.yaml");
}

static struct tree read_json(const char *text)
{
    return read_text(text, strlen(text), "t.json");
}

static bool same(const struct hm_value *a, const struct hm_value *b)
{
    if (a->kind != b->kind || a->count != b->count)
        return false;
    if (a->kind == HM_VALUE_SCALAR)
        return strcmp(a->text, b->text) == 0;
    for (size_t i = 0; i < a->count; i++)
        if (!same(&a->items[i], &b->items[i]) ||
            (a->kind == HM_VALUE_MAP && strcmp(a->keys[i], b->keys[i]) != 0))
            return false;
    return true;
}

static void yaml_and_json_give_one_tree(void **state)
{
    struct tree y = read_yaml("name: a b\nbatch: 256\nlist: [1, {x: true}, null]\nempty:\n");
    struct tree j =
        read_json("{\"name\": \"a b\",\n \"batch\": 256,\n \"list\": [1, {\"x\": true}, "
                  "null],\n \"empty\": null}");

    (void)state;
    assert_int_equal(y.rc, 0);
    assert_int_equal(j.rc, 0);
    assert_true(same(y.root, j.root));
    assert_int_equal(hm__value_get(y.root, "batch")->line, 2);
    assert_int_equal(hm__value_get(j.root, "batch")->line, 2);
    assert_null(hm__value_get(y.root, "nothing"));
    hm__arena_free(y.arena);
    hm__arena_free(j.arena);
    j = read_json("\xef\xbb\xbf[1]"); /* The text begins with a byte order mark. */
    assert_int_equal(j.rc, 0);
    hm__arena_free(j.arena);
}

static void json_strings_are_decoded(void **state)
{
    struct tree t = read_json("[\"\\u00e9\\n\\/\\\"\", \"\\ud83d\\ude00\", \"\xc3\xa9\"]");

    (void)state;
    assert_int_equal(t.rc, 0);
    assert_string_equal(t.root->items[0].text, "\xc3\xa9\n/\"");
    assert_string_equal(t.root->items[1].text, "\xf0\x9f\x98\x80");
    assert_string_equal(t.root->items[2].text, "\xc3\xa9");
    hm__arena_free(t.arena);
}

static void bad_texts_are_refused_with_a_line(void **state)
{
    static const struct {
        const char *source, *text;
        int code, line;
    } rows[] = {
        {"t.yaml", "a: 1\nb: &x 2\nc: *x\n", HM_E_SYNTAX, 3},
        {"t.yaml", "a: 1\na: 2\n", HM_E_SYNTAX, 2},
        {"t.yaml", "a: 1\n---\nb: 2\n", HM_E_SYNTAX, 2},
        {"t.yaml", "a: !!int 3\n", HM_E_SYNTAX, 1},
        {"t.yaml", "a: !x {b: 1}\n", HM_E_SYNTAX, 1},
        {"t.yaml", "a: 1\nb: !x [1]\n", HM_E_SYNTAX, 2},
        {"t.yaml", "!x a: 1\n", HM_E_SYNTAX, 1},
        {"t.yaml", "a: 1\nb: 2\nc: \xff\n", HM_E_SYNTAX, 3},
        {"t.yaml", "a: [1, 2\n", HM_E_SYNTAX, 2},
        {"t.yaml", "? [x]\n: 1\n", HM_E_SYNTAX, 1},
        {"t.yaml", "a: \"\\0\"\n", HM_E_SYNTAX, 1},
        {"t.yaml", "a: b: c\n", HM_E_SYNTAX, 1},
        {"t.json", "{\"a\": 1,\n\"a\": 2}", HM_E_SYNTAX, 2},
        {"t.json", "{\"a\": 1,}", HM_E_SYNTAX, 1},
        {"t.json", "{\"a\" 1}", HM_E_SYNTAX, 1},
        {"t.json", "[01]", HM_E_SYNTAX, 1},
        {"t.json", "[1.]", HM_E_SYNTAX, 1},
        {"t.json", "[NaN]", HM_E_SYNTAX, 1},
        {"t.json", "[\"\\ud800\"]", HM_E_SYNTAX, 1},
        {"t.json", "[\"\\u0000\"]", HM_E_SYNTAX, 1},
        {"t.json", "[\"\xff\"]", HM_E_SYNTAX, 1},
        {"t.json", "[\"\xc0\xaf\"]", HM_E_SYNTAX, 1},
        {"t.json", "[\"\n\"]", HM_E_SYNTAX, 1},
        {"t.json", "[1] 2", HM_E_SYNTAX, 1},
        {"t.json", "\n\n[\"abc", HM_E_SYNTAX, 3},
        {"t.json", "", HM_E_SYNTAX, 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct tree t = read_text(rows[i].text, strlen(rows[i].text), rows[i].source);
        if (t.rc != rows[i].code || t.err.line != rows[i].line)
            fail_msg("'%s': code %d line %d: %s", rows[i].text, t.rc, t.err.line, t.err.message);
        assert_string_equal(t.err.source, rows[i].source);
        hm__arena_free(t.arena);
    }
}

static void depth_and_size_are_bounded(void **state)
{
    char deep[400];
    char *large = calloc(HM_VALUE_BYTES + 2, 1);

    (void)state;
    memset(deep, '[', 200);
    memset(deep + 200, ']', 200);
    for (int json = 0; json < 2; json++) {
        struct tree t = read_text(deep, 400, json ? "t.json" : "t.yaml");
        assert_int_equal(t.rc, HM_E_LIMIT);
        hm__arena_free(t.arena);
        memset(large, ' ', HM_VALUE_BYTES + 1);
        t = read_text(large, HM_VALUE_BYTES + 1, json ? "t.json" : "t.yaml");
        assert_int_equal(t.rc, HM_E_LIMIT);
        hm__arena_free(t.arena);
    }
    free(large);
}

static const char *get(struct tree *t, const char *a, const char *b)
{
    struct hm_value *v = hm__value_get(t->root, a);
    v = b ? hm__value_get(v, b) : v;
    return v && v->kind == HM_VALUE_SCALAR ? v->text : NULL;
}

static void overrides_follow_paths(void **state)
{
    struct tree t =
        read_yaml("batch: 1\ncluster: m5.4xlarge\nnetwork: alexnet\nsteps: [a, {k: v}]\n");
    static const char *const sets[] = {"batch=256",   "cluster.price=$1/h",
                                       "new.key=x",   "network.input=[1, 2, 3]",
                                       "steps.1.k=w", "steps.0=b"};

    (void)state;
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
        assert_int_equal(hm__value_override(t.arena, t.root, sets[i], &t.err), 0);
    assert_string_equal(get(&t, "batch", NULL), "256");
    assert_string_equal(get(&t, "cluster", "machine"), "m5.4xlarge");
    assert_string_equal(get(&t, "cluster", "price"), "$1/h");
    assert_string_equal(get(&t, "network", "name"), "alexnet");
    assert_string_equal(get(&t, "new", "key"), "x");
    assert_string_equal(hm__value_get(t.root, "steps")->items[0].text, "b");
    assert_string_equal(hm__value_get(&hm__value_get(t.root, "steps")->items[1], "k")->text, "w");
    static const char *const bad[] = {"batch",     "=3",  "a..b=1",   "steps.7=1",
                                      "steps.x=1", "a=[", "batch.=7", ".=1"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct hm_err err = {0};
        assert_true(hm__value_override(t.arena, t.root, bad[i], &err) < 0);
        assert_string_equal(err.source, "set");
    }
    hm__arena_free(t.arena);
}

/* Many overrides of a large map do not copy it each time. */
static void overrides_grow_maps_rarely(void **state)
{
    enum { ENTRIES = 5000, ADDED = 900 };
    struct hm_text text = {0};
    struct hm_budget budget = {0};
    char set[40];

    (void)state;
    for (int i = 0; i < ENTRIES; i++)
        hm__text_addf(&text, "k%d: 1\n", i);
    struct tree t = read_yaml(text.data);
    hm__budget_enter(&budget);
    for (int i = 0; i < ADDED; i++) {
        snprintf(set, sizeof(set), "n%d=%d", i, i);
        assert_int_equal(hm__value_override(t.arena, t.root, set, &t.err), 0);
    }
    hm__budget_leave(&budget);
    assert_int_equal(t.root->count, ENTRIES + ADDED);
    assert_string_equal(get(&t, "k4999", NULL), "1");
    assert_string_equal(get(&t, "n0", NULL), "0");
    assert_string_equal(get(&t, "n899", NULL), "899");
    assert_true(budget.used < 5000000);
    hm__arena_free(t.arena);
    hm__text_release(&text);
}

/* A copy of a map shares its arrays; entries that are added to one of them are not in the other. */
static void copies_of_maps_grow_apart(void **state)
{
    struct tree t = read_yaml("a: 1\n");

    (void)state;
    assert_int_equal(hm__value_override(t.arena, t.root, "b=2", &t.err), 0);
    struct hm_value copy = *t.root;
    assert_int_equal(hm__value_override(t.arena, &copy, "c=3", &t.err), 0);
    assert_int_equal(hm__value_override(t.arena, t.root, "d=4", &t.err), 0);
    assert_int_equal(hm__value_override(t.arena, t.root, "e=5", &t.err), 0);
    assert_int_equal(hm__value_override(t.arena, &copy, "f=6", &t.err), 0);
    assert_string_equal(hm__value_get(&copy, "c")->text, "3");
    assert_string_equal(hm__value_get(&copy, "f")->text, "6");
    assert_string_equal(get(&t, "d", NULL), "4");
    assert_string_equal(get(&t, "e", NULL), "5");
    assert_null(hm__value_get(&copy, "d"));
    assert_null(hm__value_get(&copy, "e"));
    assert_null(hm__value_get(t.root, "c"));
    assert_null(hm__value_get(t.root, "f"));
    hm__arena_free(t.arena);
}

/* Directives that declare tags are refused if there are many, in every encoding and with every end
 * of lines. */
static void many_tag_directives_are_refused(void **state)
{
    static const char *const ends[] = {"\n", "\r", "\xc2\x85"};

    (void)state;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        for (int count = 1; count <= 9; count += 8) {
            struct hm_text text = {0};
            for (int k = 0; k < count; k++)
                hm__text_addf(&text, "%%TAG !t%d! x%s", k, ends[i]);
            hm__text_addf(&text, "---%sa: 1%s", ends[i], ends[i]);
            struct tree t = read_text(text.data, text.length, "t.yaml");
            assert_int_equal(t.rc, count > 8 ? HM_E_SYNTAX : 0);
            assert_string_equal(t.err.message, count > 8 ? "tags are not supported" : "");
            assert_int_equal(t.err.line, count > 8 ? (i == 0 ? 9 : 1) : 0);
            hm__arena_free(t.arena);
            /* The same text in UTF-16. */
            char wide[1000] = "\xff\xfe";
            for (size_t k = 0; i < 2 && k < text.length; k++)
                wide[2 + 2 * k] = text.data[k];
            t = read_text(wide, i < 2 ? 2 + 2 * text.length : 2, "t.yaml");
            assert_int_equal(t.rc, i < 2 && count > 8 ? HM_E_SYNTAX : 0);
            hm__arena_free(t.arena);
            hm__text_release(&text);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(yaml_and_json_give_one_tree),
        cmocka_unit_test(json_strings_are_decoded),
        cmocka_unit_test(bad_texts_are_refused_with_a_line),
        cmocka_unit_test(depth_and_size_are_bounded),
        cmocka_unit_test(overrides_follow_paths),
        cmocka_unit_test(overrides_grow_maps_rarely),
        cmocka_unit_test(copies_of_maps_grow_apart),
        cmocka_unit_test(many_tag_directives_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
