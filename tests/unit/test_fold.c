/* Tests the wrapping of lines for the terminal. */
#include "fold.h"

#include "testing.h"

static void assert_folded(const char *text, size_t width, const char *wanted)
{
    struct hm_text out = {0};

    cli_fold(&out, text, width);
    assert_string_equal(out.data ? out.data : "", wanted);
    hm__text_release(&out);
}

static void short_lines_stay(void **state)
{
    (void)state;
    assert_folded("", 10, "");
    assert_folded("one\ntwo\n\nthree", 10, "one\ntwo\n\nthree");
    assert_folded("0123456789\n", 10, "0123456789\n");
    /* A text with three characters of several bytes, and one with a colour, which has no width. */
    assert_folded("äöü 456789\n", 10, "äöü 456789\n");
    assert_folded("\033[1m0123456789\033[0m\n", 10, "\033[1m0123456789\033[0m\n");
}

static void long_lines_break_at_spaces(void **state)
{
    (void)state;
    assert_folded("one two three four\n", 10, "one two\n    three\n    four\n");
    assert_folded("  one two three\n", 10, "  one two\n      three\n");
    assert_folded("äöü äöü äöü\n", 10, "äöü äöü\n    äöü\n");
    assert_folded("one   two three", 10, "one   two\n    three");
}

static void long_words_stay_whole(void **state)
{
    (void)state;
    assert_folded("/a/very/long/path\n", 10, "/a/very/long/path\n");
    assert_folded("see /a/very/long/path now\n", 10, "see\n    /a/very/long/path\n    now\n");
}

static void the_last_column_is_wrapped_below_itself(void **state)
{
    (void)state;
    assert_folded("name  12  a description that is longer than the terminal is wide\n", 44,
                  "name  12  a description that is longer than\n"
                  "          the terminal is wide\n");
    /* A number at the end is not a text, so the continuation line begins at the usual indent. */
    assert_folded("name  12  13  14  15  16  17  18  19\n", 20,
                  "name  12  13  14  15\n    16  17  18  19\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_lines_stay),
        cmocka_unit_test(long_lines_break_at_spaces),
        cmocka_unit_test(long_words_stay_whole),
        cmocka_unit_test(the_last_column_is_wrapped_below_itself),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
