/* Tests the JSON writer: commas, keys, line breaks, escapes, numbers. */
#include "testing.h"

#include <math.h>

#include "json.h"

static void test_nested(void **state)
{
    struct hm_text text = {0};
    struct hm_json json = {.out = &text};
    const char *const notes[] = {"one", "two"};
    const double numbers[] = {1, 0.5, NAN};

    (void)state;
    hm__json_open(&json, NULL, HM_JSON_OBJECT | HM_JSON_LINES);
    hm__json_put_number(&json, "n", 16);
    hm__json_put_bool(&json, "fits", true);
    hm__json_open(&json, "best", HM_JSON_OBJECT);
    hm__json_put_number(&json, "time_s", 0.1);
    hm__json_put_null(&json, "cost");
    hm__json_close(&json);
    hm__json_open(&json, "empty", HM_JSON_LIST | HM_JSON_LINES);
    hm__json_close(&json);
    hm__json_put_texts(&json, "notes", notes, 2);
    hm__json_put_numbers(&json, "m", numbers, 3);
    hm__json_put_raw(&json, "more", "{\"a\":1}");
    hm__json_close(&json);
    assert_string_equal(text.data,
                        "{\"n\":16,\n\"fits\":true,\n\"best\":{\"time_s\":0.1,\"cost\":null},\n"
                        "\"empty\":[],\n\"notes\":[\n  \"one\",\n  \"two\"],\n"
                        "\"m\":[1,0.5,null],\n\"more\":{\"a\":1}}");
    assert_int_equal(json.depth, 0);
    hm__text_release(&text);
}

static void test_escapes(void **state)
{
    struct hm_text text = {0};
    struct hm_json json = {.out = &text};

    (void)state;
    hm__json_open(&json, NULL, HM_JSON_LIST);
    hm__json_put_text(&json, NULL, "a\"b\\c\n");
    hm__json_put_text(&json, NULL, "caf\xc3\xa9 \xff \xed\xa0\x80");
    hm__json_put_text(&json, NULL, NULL);
    hm__json_put_number(&json, NULL, INFINITY);
    hm__json_put_number(&json, NULL, -0.0);
    hm__json_put_number(&json, NULL, 1e22);
    hm__json_close(&json);
    assert_string_equal(text.data,
                        "[\"a\\\"b\\\\c\\u000a\",\"caf\xc3\xa9 \\ufffd \\ufffd\\ufffd\\ufffd\","
                        "null,null,-0,1e+22]");
    hm__text_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nested),
                                       cmocka_unit_test(test_escapes)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
