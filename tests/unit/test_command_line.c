/* Tests command lines: splitting without a shell, replacing placeholders, and quoting. */
#include "testing.h"

#include "command_line.h"
#include "memory.h"
#include "text.h"

static struct launch_command split(const char *text)
{
    struct launch_command words = {0};
    struct hm_err err = {0};

    if (launch_command_split(&words, text, &err))
        fail_msg("%s: %s", text, err.message);
    assert_int_equal(err.code, 0);
    assert_null(words.argv[words.count]);
    return words;
}

/* Compares the arguments with `wanted`, in which each argument is enclosed in <>. */
static void assert_words(const struct launch_command *words, const char *wanted)
{
    struct hm_text all = {0};

    for (size_t i = 0; i < words->count; i++)
        hm__text_addf(&all, "<%s>", words->argv[i]);
    assert_string_equal(all.data, wanted);
    hm__text_release(&all);
}

static void words_and_quotes_are_split(void **state)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"./train", "<./train>"},
        {"  a\tb \n c\r\n", "<a><b><c>"},
        {"a 'b c' \"d e\"", "<a><b c><d e>"},
        {"a'b'\"c\"d", "<abcd>"},
        {"a '' \"\" b", "<a><><><b>"},
        {"a\\ b \\'c\\\" \\\\ \\|", "<a b><'c\"><\\><|>"},
        {"'|>&;$(x)*~\\'", "<|>&;$(x)*~\\>"},
        {"\"\\\"\\\\\\$\\`\\n\"", "<\"\\$`\\n>"},
        {"\"a$\" \"$ b\" \"*?|>~\"", "<a$><$ b><*?|>~>"},
        {"a~b x#y a=b,c [1] {n} !", "<a~b><x#y><a=b,c><[1]><{n}><!>"},
        {"mpirun \\\n -n 4 \\\n x\\\ny", "<mpirun><-n><4><xy>"},
        {"\"a\\\nb\" \"c\\\\\nd\"", "<ab><c\\\nd>"},
        {"'a\nb'", "<a\nb>"},
        {"gr\xc3\xb6\xc3\x9f"
         "e",
         "<gr\xc3\xb6\xc3\x9f"
         "e>"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct launch_command words = split(cases[i].text);
        assert_words(&words, cases[i].words);
        launch_command_release(&words);
    }
}

static void assert_refused(const char *text, const char *message, const char *hint)
{
    char *mark = (char[]){"untouched"};
    struct launch_command words = {&mark, 7};
    struct hm_err err = {0};

    assert_int_equal(launch_command_split(&words, text, &err), HM_E_SYNTAX);
    if (!strstr(err.message, message) || !strstr(err.hint, hint))
        fail_msg("%s: '%s', '%s'", text, err.message, err.hint);
    assert_ptr_equal(words.argv, &mark);
    assert_int_equal(words.count, 7);
    assert_int_equal(launch_command_split(&words, text, NULL), HM_E_SYNTAX);
}

static void broken_lines_are_named(void **state)
{
    (void)state;
    assert_refused("", "the command is empty", "{n}");
    assert_refused(" \t\n\\\n ", "the command is empty", "{n}");
    assert_refused("a 'b c", "quote ' that opens at character 3 is not closed", "close it");
    assert_refused("a \"b", "quote \" that opens at character 3 is not closed", "close it");
    assert_refused("a \"b\\\"", "quote \" that opens at character 3 is not closed", "close it");
    assert_refused("\xc3\xb6 don't", "opens at character 6", "close it");
    assert_refused("a b\\", "\\ at the end", "\\\\");
}

static void shell_syntax_is_refused(void **state)
{
    static const char *const texts[] = {
        "a | b",    "a|b",       "a > f",      "a 2>&1",     "a < f",     "a & b",
        "a && b",   "a ; b",     "a;",         "a `b`",      "a $(b)",    "a $",
        "a $NAME",  "a $1",      "a ${NAME}",  "a b$",       "a *.txt",   "a b*",
        "a f?",     "~/a",       "a ~",        "(a)",        "a )",       "a # b",
        "a \"$B\"", "a \"`b`\"", "a \"${B}\"", "a \"$(b)\"", "a \"b$1\"",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        char named[8];
        size_t at = strcspn(texts[i], "|><&;`$*?~()#");
        snprintf(named, sizeof(named), "'%c'", texts[i][at]);
        assert_refused(texts[i], named, "--shell' runs the command through sh");
    }
    assert_refused("\xc3\xb6 a|b", "'|' (character 4)", "single quotes");
}

static const struct launch_placeholder fills[] = {
    {"n", "4"}, {"nodes", "two words; {n}"}, {"work-dir", ""}, {"_x1", "'"}};
enum { FILLS = sizeof(fills) / sizeof(fills[0]) };

static void placeholders_are_replaced(void **state)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"run -n {n}", "<run><-n><4>"},
        {"run --n={n}x{n}", "<run><--n=4x4>"},
        {"{n}{n}", "<44>"},
        {"run '{n}' \"{n}\" \\{n}", "<run><4><4><4>"},
        {"run {nodes} {work-dir} {_x1}", "<run><two words; {n}><><'>"},
        {"{{n}} {{{n}}} {{ a}}", "<{n}><{4}><{><a}}>"},
        {"'{{ a }} b {{c}}'", "<{ a } b {c}>"},
        {"{{{{n}}}}", "<{{n}}>"},
        {"awk '{print $1}'", "<awk><{print $1}>"},
        {"find {} {1} a{3,4} {n,m} { } {n", "<find><{}><{1}><a{3,4}><{n,m}><{><}><{n>"},
        {"x '{\"a\":{\"b\":{n}}}'", "<x><{\"a\":{\"b\":4}}>"},
        {"x '{\"a\":{\"b\":1}}'", "<x><{\"a\":{\"b\":1}}>"},
        {"x '{{\"a\": {n}}}'", "<x><{\"a\": 4}>"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct launch_command words = split(cases[i].text), filled = {0};
        struct hm_err err = {0};
        if (launch_command_fill(&words, fills, FILLS, &filled, &err))
            fail_msg("%s: %s", cases[i].text, err.message);
        assert_int_equal(filled.count, words.count);
        assert_null(filled.argv[filled.count]);
        assert_words(&filled, cases[i].words);
        launch_command_release(&words);
        launch_command_release(&filled);
    }
}

static void unknown_placeholders_are_refused(void **state)
{
    char lengthy[400];
    struct launch_command words, filled = {0};
    struct hm_err err = {0};

    (void)state;
    words = split("run {nodse}");
    assert_int_equal(launch_command_fill(&words, fills, FILLS, &filled, &err), HM_E_NAME);
    assert_non_null(strstr(err.message, "{nodse}"));
    assert_non_null(strstr(err.hint, "did you mean {nodes}?"));
    assert_non_null(strstr(err.hint, "{{nodse}}"));
    assert_null(filled.argv);
    launch_command_release(&words);

    words = split("awk {print}");
    err = (struct hm_err){0};
    assert_int_equal(launch_command_fill(&words, fills, FILLS, &filled, &err), HM_E_NAME);
    assert_non_null(strstr(err.hint, "{n}, {nodes}, {work-dir}, {_x1}"));
    assert_int_equal(launch_command_fill(&words, fills, FILLS, &filled, NULL), HM_E_NAME);
    err = (struct hm_err){0};
    assert_int_equal(launch_command_fill(&words, NULL, 0, &filled, &err), HM_E_NAME);
    assert_non_null(strstr(err.hint, "takes no placeholders"));
    launch_command_release(&words);

    memset(lengthy, 'a', sizeof(lengthy));
    lengthy[0] = '{';
    lengthy[sizeof(lengthy) - 2] = '}';
    lengthy[sizeof(lengthy) - 1] = '\0';
    words = split(lengthy);
    assert_int_equal(launch_command_fill(&words, fills, FILLS, &filled, NULL), HM_E_NAME);
    launch_command_release(&words);
}

static void used_placeholders_are_found(void **state)
{
    struct launch_command words = split("run --n={n} {{nodes}} '{ x }' {work-dir}"), none = {0};

    (void)state;
    assert_true(launch_command_uses(&words, "n"));
    assert_true(launch_command_uses(&words, "work-dir"));
    assert_false(launch_command_uses(&words, "nodes"));
    assert_false(launch_command_uses(&words, "x"));
    assert_false(launch_command_uses(&words, "work"));
    assert_false(launch_command_uses(&none, "n"));
    launch_command_release(&words);
    launch_command_release(&none);
}

static char *const odd_words[] = {
    (char[]){"printf"},     (char[]){"<%s>"},  (char[]){""},           (char[]){"a b"},
    (char[]){"it's"},       (char[]){"''"},    (char[]){"$HOME`x`"},   (char[]){"\\"},
    (char[]){"\"a\\\"b\""}, (char[]){"~"},     (char[]){"*"},          (char[]){"a\nb"},
    (char[]){"--n=4"},      (char[]){"#!"},    (char[]){"{1,2}[a]"},   (char[]){"gr\xc3\xb6"},
    (char[]){"x;y|z&"},     (char[]){"@%+:,"}, (char[]){"../a-b_c.d"}, NULL};

static void quoted_lines_are_read_back(void **state)
{
    struct launch_command words = {.count = sizeof(odd_words) / sizeof(odd_words[0]) - 1};
    struct launch_command again;
    struct hm_text line = {0}, wanted = {0};
    char said[1024] = "";

    (void)state;
    words.argv = calloc(words.count + 1, sizeof(char *));
    assert_non_null(words.argv);
    for (size_t i = 0; i < words.count; i++) {
        words.argv[i] = odd_words[i];
        hm__text_addf(&wanted, "<%s>", odd_words[i]);
    }
    assert_int_equal(launch_command_quote(&line, &words), 0);
    again = split(line.data);
    assert_words(&again, wanted.data);

    /* A real shell must split the line into the same arguments. */
    FILE *shell = popen(line.data, "r");
    assert_non_null(shell);
    said[fread(said, 1, sizeof(said) - 1, shell)] = '\0';
    pclose(shell);
    assert_string_equal(said, wanted.data + strlen("<printf><<%s>>"));
    free(words.argv);
    launch_command_release(&again);
    hm__text_release(&line);
    hm__text_release(&wanted);
}

static void quotes_only_where_needed(void **state)
{
    struct launch_command words = split("A=b --n=4 'c d' ''");
    struct hm_text line = {0};

    (void)state;
    hm__text_add(&line, "$ ");
    assert_int_equal(launch_command_quote(&line, &words), 0);
    assert_string_equal(line.data, "$ 'A=b' --n=4 'c d' ''");
    hm__text_release(&line);
    launch_command_release(&words);
}

static int whole_way(struct hm_err *err)
{
    struct launch_command words = {0}, filled = {0};
    struct hm_text line = {0};
    int rc = launch_command_split(&words, "run {n} 'a b' c d e f g {nodes}", err);

    if (rc == 0)
        rc = launch_command_fill(&words, fills, FILLS, &filled, err);
    if (rc == 0)
        rc = launch_command_quote(&line, &filled);
    hm__text_release(&line);
    launch_command_release(&words);
    launch_command_release(&filled);
    return rc;
}

static void out_of_memory(void **state)
{
    int rc = HM_E_NOMEM;
    long after = 0;

    (void)state;
    for (; rc == HM_E_NOMEM && after < 1000; after++) {
        struct hm_err err = {0};
        hm__alloc_fail_after(after);
        rc = whole_way(&err);
    }
    hm__alloc_fail_after(-1);
    assert_int_equal(rc, 0);
    assert_true(after > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_and_quotes_are_split),
        cmocka_unit_test(broken_lines_are_named),
        cmocka_unit_test(shell_syntax_is_refused),
        cmocka_unit_test(placeholders_are_replaced),
        cmocka_unit_test(unknown_placeholders_are_refused),
        cmocka_unit_test(used_placeholders_are_found),
        cmocka_unit_test(quoted_lines_are_read_back),
        cmocka_unit_test(quotes_only_where_needed),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
