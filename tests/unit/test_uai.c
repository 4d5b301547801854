/* Tests the reading of UAI files, messages for invalid files, and failing allocations. */
#include "testing.h"

#include <unistd.h>

#include "memory.h"
#include "text.h"
#include "uai.h"

static int load(const char *text, struct hm_markov **ret_markov, struct hm_err *err)
{
    char path[] = "/tmp/hm-uai-XXXXXX";
    int file = mkstemp(path);

    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
    int rc = hm__markov_load(path, ret_markov, err);
    unlink(path);
    return rc;
}

/* A UAI file; its first table, that of variables 2 and 1, has two lines. */
static const char whole[] = "MARKOV\n3\n2 3 2\n"
                            "5\n2 2 1\n1 0\n2 0 2\n1 0\n2 1 2\n\n"
                            "6\n1 2 3\n4 5 6\n"
                            "2 0.5 4\n"
                            "4 8 0 0 8e0\n"
                            "2 1 +1\r\n"
                            "6 1 1 2 1 1 1\n";

static void files_are_read(void **state)
{
    /* Table of variables 1 and 2: the product of (1 4; 2 5; 3 6)/6 and (1 1; 2 1; 1 1)/2, whose
     * largest entry is 6/12. */
    const double tables[] = {1, 0, 0, 1, 1 / 6.0, 4 / 6.0, 4 / 6.0, 5 / 6.0, 3 / 6.0, 1};
    const uint32_t ends[] = {0, 2, 1, 2};
    struct hm_markov *m = NULL;
    struct hm_err err = {0};

    (void)state;
    if (load(whole, &m, &err))
        fail_msg("%d: %s", err.line, err.message);
    assert_int_equal(m->variables, 3);
    assert_int_equal(m->edges, 2);
    assert_memory_equal(m->ends, ends, sizeof(ends));
    assert_int_equal(m->unary_places[3], 7);
    assert_int_equal(m->table_places[2], 10);
    assert_near(m->unary[0], 0.125, 0);
    for (size_t i = 1; i < 7; i++)
        assert_near(m->unary[i], 1, 0);
    for (size_t i = 0; i < 10; i++)
        assert_near(m->tables[i], tables[i], 1e-15);
    assert_near(m->log_scale, log(6) + log(4) + log(8) + log(2) + log(0.5), 1e-14);
    hm__markov_free(m);
    assert_int_equal(load("MARKOV 1 2 0", &m, NULL), 0);
    assert_int_equal(m->edges, 0);
    hm__markov_free(m);
    hm__markov_free(NULL);
}

static void broken_files_are_named(void **state)
{
    static const struct {
        const char *text, *message;
        int code, line;
    } rows[] = {
        {"", "the file begins with \"\", not with MARKOV", HM_E_SYNTAX, 1},
        {"\n\nBAYES\n1\n", "the file begins with \"BAYES\", not with MARKOV", HM_E_SYNTAX, 3},
        {"MARKOV\n", "the file ends where the number of variables is expected", HM_E_MISSING, 2},
        {"MARKOV\n0\n", "the number of variables: 0 is not a whole number from 1 to 4294967295",
         HM_E_RANGE, 2},
        {"MARKOV\nx\n", "\"x\" where the number of variables is expected", HM_E_SYNTAX, 2},
        {"MARKOV\n2\n2\n\n", "the file ends where the number of states of a variable is expected",
         HM_E_MISSING, 5},
        {"MARKOV\n2\n2 0\n",
         "the number of states of a variable: 0 is not a whole number from 1 to 4096", HM_E_RANGE,
         3},
        {"MARKOV\n2\n2 5000\n",
         "the number of states of a variable: 5000 is not a whole number from 1 to 4096",
         HM_E_RANGE, 3},
        {"MARKOV\n2\n2 2\n-1\n", "the number of factors: -1 is not a finite number of at least 0",
         HM_E_RANGE, 4},
        {"MARKOV\n2\n2 2\n1.5\n",
         "the number of factors: 1.5 is not a whole number from 0 to 1000000000000000", HM_E_RANGE,
         4},
        {"MARKOV\n3\n2 2 2\n1\n3 0 1 2\n8 1 1 1 1 1 1 1 1\n", "factor 0 has 3 variables",
         HM_E_UNSUPPORTED, 5},
        {"MARKOV\n3\n2 2 2\n1\n0\n1 1\n", "factor 0 has 0 variables", HM_E_UNSUPPORTED, 5},
        {"MARKOV\n2\n2 2\n1\n2 0 2\n",
         "a variable of a factor: 2 is not a whole number from 0 to 1", HM_E_RANGE, 5},
        {"MARKOV\n2\n2 2\n1\n2 1 1\n", "factor 0 has variable 1 twice", HM_E_CONFLICT, 5},
        {"MARKOV\n2\n2 2\n1\n2 0 1\n3\n1 2 3\n", "factor 0 has 3 values, but its variables need 4",
         HM_E_CONFLICT, 6},
        {"MARKOV\n2\n2 2\n1\n2 0 1\n4\n1 2 3\n",
         "the file ends where a value of a factor is expected", HM_E_MISSING, 8},
        {"MARKOV\n2\n2 2\n1\n2 0 1\n4\n1 2\n3 -4\n",
         "a value of a factor: -4 is not a finite number of at least 0", HM_E_RANGE, 8},
        {"MARKOV\n2\n2 2\n1\n2 0 1\n4\n1 2\n3 1e999\n",
         "a value of a factor: 1e999 is not a finite number of at least 0", HM_E_RANGE, 8},
        {"MARKOV\n2\n2 2\n1\n2 0 1\n4\n1 2\n3 nan\n",
         "\"nan\" where a value of a factor is expected", HM_E_SYNTAX, 8},
        {"MARKOV\n2\n2 2\n1\n1 0\n2 0 0\n", "all values of factor 0 are zero", HM_E_RANGE, 6},
        {"MARKOV\n2\n2 2\n2\n1 0\n1 0\n2 0 1\n2 1 0\n",
         "factor 1 multiplied by the factors of the same variables before it is zero",
         HM_E_CONFLICT, 8},
        {"MARKOV\n2\n2 2\n1\n1 0\n2 1 1\n7\n", "\"7\" after the last factor", HM_E_SYNTAX, 7},
        {"MARKOV\n11111111111111111111111111111111111111111111111111111111111111111111\n",
         "\"11111111111111111111...\" is too long for a number", HM_E_SYNTAX, 2},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct hm_markov *m = NULL;
        struct hm_err err = {0};
        int rc = load(rows[i].text, &m, &err);
        assert_string_equal(err.message, rows[i].message);
        assert_int_equal(rc, rows[i].code);
        assert_int_equal(err.line, rows[i].line);
        assert_null(m);
    }
    struct hm_markov *m = NULL;
    struct hm_err err = {0};
    assert_int_equal(hm__markov_load("/nowhere/x.uai", &m, &err), HM_E_IO);
    assert_string_equal(err.source, "/nowhere/x.uai");
}

/* A file of 5 kB cannot have 4 million states that are in no factor; one with more bytes can. */
static void numbers_of_states_need_bytes(void **state)
{
    enum { VARIABLES = 1030 };
    struct hm_markov *m = NULL;
    struct hm_err err = {0};
    struct hm_text text = {0};

    (void)state;
    hm__text_addf(&text, "MARKOV\n%d\n", VARIABLES);
    for (int i = 0; i < VARIABLES; i++)
        hm__text_addf(&text, "%d ", 4096);
    hm__text_add(&text, "\n0\n");
    assert_int_equal(load(text.data, &m, &err), HM_E_LIMIT);
    assert_string_equal(err.message, "more than 4214964 states in all");
    assert_int_equal(err.line, 3);
    hm__text_release(&text);
    hm__text_addf(&text, "MARKOV\n%d\n", VARIABLES);
    for (int i = 0; i < VARIABLES; i++)
        hm__text_addf(&text, "%d ", 4096);
    hm__text_add(&text, "\n1\n1 0\n4096\n");
    for (int i = 0; i < 4096; i++)
        hm__text_add(&text, "0.25 ");
    assert_int_equal(load(text.data, &m, NULL), 0);
    assert_int_equal(m->unary_places[VARIABLES], VARIABLES * 4096);
    hm__markov_free(m);
    hm__text_release(&text);
}

static void failed_allocations_are_reported(void **state)
{
    long after = 0;

    (void)state;
    for (;; after++) {
        struct hm_markov *m = NULL;
        struct hm_err err = {0};
        hm__alloc_fail_after(after);
        int rc = load(whole, &m, &err);
        hm__alloc_fail_after(-1);
        hm__markov_free(m);
        if (rc == 0)
            break;
        assert_int_equal(rc, HM_E_NOMEM);
    }
    assert_true(after > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_read),
        cmocka_unit_test(broken_files_are_named),
        cmocka_unit_test(numbers_of_states_need_bytes),
        cmocka_unit_test(failed_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
