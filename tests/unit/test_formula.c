/* Compares formulas with tests/data/formulas.tsv, which tools/oracle/formulas.py made, and with
 * values computed by hand. */
#include "testing.h"

#include "formula.h"

static const struct hm_symbol symbols[] = {{"n", {0, 0, 0, 0}},
                                           {"a", {0, 0, 0, 0}},
                                           {"b", {0, 0, 0, 0}},
                                           {"c", {0, 0, 0, 0}},
                                           {"rate", {-1, 1, 0, 0}}};
static const struct hm_scope plain = {.symbols = symbols, .symbol_count = 5};

static struct hm_formula *compile(const char *text, const struct hm_scope *scope)
{
    struct hm_formula *f = NULL;
    struct hm_err err = {0};

    if (hm__formula_new(text, scope, HM_DIM_TIME, &f, &err))
        fail_msg("'%s': %s", text, err.message);
    return f;
}

static double value_at(const struct hm_formula *f, const double *values, double n)
{
    double value;
    assert_int_equal(hm__formula_eval(f, values, NULL, &n, 1, &value, NULL), 0);
    return value;
}

static void agrees_with_the_oracle(void **state)
{
    FILE *file = open_source("tests/data/formulas.tsv");
    char line[4096];
    int rows = 0, slopes = 0;

    (void)state;
    next_line(file, line, sizeof(line)); /* Skip the header of the table. */
    while (next_line(file, line, sizeof(line))) {
        char *field[8], *rest = line;
        for (int i = 0; i < 8; i++)
            field[i] = strsep(&rest, "\t");
        assert_non_null(field[7]);
        double values[5] = {0, atof(field[2]), atof(field[3]), atof(field[4]), 0};
        double n = atof(field[1]), value, slope;
        struct hm_formula *f = compile(field[0], &plain);
        hm_assert_near(value_at(f, values, n), atof(field[5]), 1e-12, field[0], rows);
        if (strcmp(field[6], "nan") != 0) {
            hm__formula_derive(f, values, n, "n", false, &value, &slope, NULL);
            hm_assert_near(slope, atof(field[6]), 1e-10, field[0], rows);
            hm__formula_derive(f, values, n, "a", false, &value, &slope, NULL);
            hm_assert_near(slope, atof(field[7]), 1e-10, field[0], rows);
            slopes++;
        }
        hm__formula_free(f);
        rows++;
    }
    fclose(file);
    assert_true(rows >= 600 && slopes >= 300);
}

/* A vector that is longer than a block, but not a multiple of one, must give the same values as
 * single evaluations. */
static void vectors_equal_single_values(void **state)
{
    enum { COUNT = 1000 };
    struct hm_formula *f =
        compile("a/n + 0.5*log2(n) + (n > 500 ? sqrt(n) : ceil(n/7)) - b", &plain);
    double values[5] = {0, 10, 2, 0, 0}, n[COUNT], out[COUNT];

    (void)state;
    for (int i = 0; i < COUNT; i++)
        n[i] = i + 1;
    assert_int_equal(hm__formula_eval(f, values, NULL, n, COUNT, out, NULL), 0);
    for (int i = 0; i < COUNT; i++) {
        double by_hand =
            10 / n[i] + 0.5 * log2(n[i]) + (n[i] > 500 ? sqrt(n[i]) : ceil(n[i] / 7)) - 2;
        assert_near(out[i], by_hand, 1e-15);
        assert_near(value_at(f, values, n[i]), by_hand, 1e-15);
    }
    hm__formula_free(f);
}

static void units_are_converted_and_checked(void **state)
{
    const struct hm_definition where[] = {{"W", "12e6", 2}, {"B", "1 Gbit/s", 3}, {"d", "4", 4}};
    const struct hm_scope scope = {.source = "job.yaml",
                                   .symbols = symbols,
                                   .symbol_count = 5,
                                   .definitions = where,
                                   .definition_count = 3};
    double values[5] = {0};

    (void)state;
    struct hm_formula *f = compile("64 bit * W / B", &scope);
    assert_near(value_at(f, values, 1), 0.768, 1e-15);
    hm__formula_free(f);
    f = compile("5 \xc2\xb5s * 2 + 3 \xce\xbcs + $36/h / ($1/h) * 0", &scope);
    assert_near(value_at(f, values, 1), 13e-6, 1e-15);
    hm__formula_free(f);
    f = compile("20 ms * log2(n) + 1 s", &scope);
    assert_near(value_at(f, values, 4), 1.04, 1e-15);
    hm__formula_free(f);
    /* "d" is a variable of the user here, so "8 bit/d" divides by 4 and is not a rate per day. */
    f = compile("(8 bit/d) / (1 B/4) * 3", &scope);
    assert_near(value_at(f, values, 1), 3, 1e-15);
    hm__formula_free(f);
    f = compile("1 GB / rate", &scope);
    values[4] = 1e9;
    assert_near(value_at(f, values, 1), 1, 1e-15);
    assert_true(hm__formula_uses(f, 4));
    assert_false(hm__formula_uses(f, 1));
    hm__formula_free(f);
}

static void what_if_scales_a_quantity(void **state)
{
    const struct hm_definition where[] = {
        {"F", "0.5 * peak", 1}, {"peak", "8", 2}, {"u", "n*2", 3}};
    const struct hm_scope scope = {
        .symbols = symbols, .symbol_count = 5, .definitions = where, .definition_count = 3};
    struct hm_formula *f = compile("100/(F*n) + u", &scope);
    double values[5] = {0}, n = 5, out, value, slope;
    struct hm_scaled twice = {"F", 2};

    (void)state;
    assert_int_equal(hm__formula_quantity_count(f),
                     2); /* The definition u depends on n, so it is not a quantity. */
    assert_near(value_at(f, values, n), 15, 1e-15);
    hm__formula_eval(f, values, &twice, &n, 1, &out, NULL);
    assert_near(out, 12.5, 1e-15);
    twice.name = "u";
    hm__formula_eval(f, values, &twice, &n, 1, &out, NULL);
    assert_near(out, 25, 1e-15);
    hm__formula_derive(f, values, n, "peak", false, &value, &slope, NULL);
    assert_near(slope, -5.0 / 8, 1e-14);
    hm__formula_derive(f, values, n, "peak", true, &value, &slope, NULL);
    assert_near(slope, -5, 1e-14);
    hm__formula_free(f);
}

static void mistakes_are_explained(void **state)
{
    static const struct {
        const char *text, *message, *hint;
    } rows[] = {
        {"10/n)", "unexpected ')' at column 5 of '10/n)'", NULL},
        {"10/", "something is missing at column 4 of '10/'", NULL},
        {"", "something is missing at column 1 of ''", NULL},
        {"log(n)", "unknown name 'log' in 'log(n)'", "write log2(x), ln(x) or log10(x)"},
        {"sqr(n)", "unknown name 'sqr' in 'sqr(n)'",
         "did you mean sqrt? Other names are given in where:"},
        {"2 n", "unknown unit (or a missing *) at column 3 of '2 n'", NULL},
        {"min(n)", "unexpected ')' at column 6 of 'min(n)'", NULL},
        {"1 s + 1 GB", "+: s and byte have different dimensions in '1 s + 1 GB'", NULL},
        {"log2(1 s)", "a logarithm needs a plain number, not s in 'log2(1 s)'",
         "divide by a quantity of the same unit first"},
        {"6*n/(1 Gflop/s)", "'6*n/(1 Gflop/s)' gives s/flop, not s",
         "give the work a unit, as in 6 flop * W"},
        {"64*n/(1 Gbit/s)", "'64*n/(1 Gbit/s)' gives s/byte, not s",
         "give the message a unit, as in 32 bit * W"},
        {"n ? 1", "something is missing at column 6 of 'n ? 1'", NULL},
        {"sqrt(1 s)", "sqrt of s has no unit in 'sqrt(1 s)'", NULL},
        {"(2 s)^n", "a quantity with a unit can only be raised to a small whole power in '(2 s)^n'",
         NULL},
        {"1..2", "unexpected '.' at column 3 of '1..2'", NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct hm_formula *f = NULL;
        struct hm_err err = {0};
        assert_true(hm__formula_new(rows[i].text, &plain, HM_DIM_TIME, &f, &err) < 0);
        assert_null(f);
        assert_string_equal(err.message, rows[i].message);
        if (rows[i].hint)
            assert_string_equal(err.hint, rows[i].hint);
    }
}

static void definitions_are_shared_not_copied(void **state)
{
    struct hm_definition where[60];
    char names[60][16], texts[60][32];
    const struct hm_scope scope = {
        .symbols = symbols, .symbol_count = 5, .definitions = where, .definition_count = 60};
    double values[5] = {0};

    (void)state;
    for (int i = 0; i < 60;
         /* d0 = n, d1 = d0 + d0, and so on: there would be 2^59 nodes if definitions were
          * copied. */
         i++) {
        snprintf(names[i], sizeof(names[i]), "d%d", i);
        snprintf(texts[i], sizeof(texts[i]), i ? "d%d + d%d" : "n", i - 1, i - 1);
        where[i] = (struct hm_definition){names[i], texts[i], i};
    }
    struct hm_formula *f = compile("d59", &scope);
    assert_near(value_at(f, values, 3), 3 * 0x1p59, 0);
    hm__formula_free(f);
}

static void circles_and_depth_end(void **state)
{
    const struct hm_definition where[] = {{"x", "y+1", 4}, {"y", "2*x", 5}};
    const struct hm_scope scope = {.source = "job.yaml",
                                   .symbols = symbols,
                                   .symbol_count = 5,
                                   .definitions = where,
                                   .definition_count = 2};
    struct hm_formula *f;
    struct hm_err err = {0};
    char deep[2001];

    (void)state;
    assert_int_equal(hm__formula_new("x", &scope, HM_DIM_TIME, &f, &err), HM_E_FORMULA);
    assert_string_equal(err.message, "'x' is defined by itself");
    assert_string_equal(err.field, "where.y");
    assert_int_equal(err.line, 5);
    memset(deep, '(', 1000);
    deep[1000] = '\0';
    err = (struct hm_err){0};
    assert_int_equal(hm__formula_new(deep, &plain, HM_DIM_TIME, &f, &err), HM_E_FORMULA);
    assert_non_null(strstr(err.message, "nested too deeply"));
    memset(deep, '-', 1000);
    err = (struct hm_err){0};
    assert_int_equal(hm__formula_new(deep, &plain, HM_DIM_TIME, &f, &err), HM_E_FORMULA);
    err = (struct hm_err){0};
    assert_int_equal(hm__scope_check(&scope, &err), HM_E_FORMULA);
    for (int i = 0; i < 1998; i += 2)
        memcpy(deep + i, "n^", 2);
    memcpy(deep + 1998, "n", 2);
    err = (struct hm_err){0};
    assert_int_equal(hm__formula_new(deep, &plain, HM_DIM_TIME, &f, &err), HM_E_FORMULA);
    assert_non_null(strstr(err.message, "nested too deeply"));
}

/* NaN must stay NaN; a constant that overflows must be refused. */
static void infinities_do_not_hide(void **state)
{
    static const char *const texts[] = {"max(0/(n-1), 3)", "max(3, 0/(n-1))", "min(0/(n-1), 3)",
                                        "min(3, 0/(n-1))"};
    double values[5] = {0};
    struct hm_formula *f;
    struct hm_err err = {0};

    (void)state;
    for (int i = 0; i < 4; i++) {
        f = compile(texts[i], &plain);
        assert_true(isnan(value_at(f, values, 1)));
        hm__formula_free(f);
    }
    assert_int_equal(hm__formula_new("5/1e400", &plain, HM_DIM_TIME, &f, &err), HM_E_FORMULA);
    assert_non_null(strstr(err.message, "a number that is too large"));
}

static void many_definitions_are_refused(void **state)
{
    static struct hm_definition where[300];
    const struct hm_scope scope = {
        .symbols = symbols, .symbol_count = 5, .definitions = where, .definition_count = 300};
    struct hm_formula *f;
    struct hm_err err = {0};

    (void)state;
    for (int i = 0; i < 300; i++)
        where[i] = (struct hm_definition){"x", "1", 1};
    assert_int_equal(hm__formula_new("n", &scope, HM_DIM_TIME, &f, &err), HM_E_LIMIT);
}

/* All formulas of a scope together have a limit, because each has copies of the definitions. */
static void formulas_share_a_limit(void **state)
{
    static const struct hm_definition where[] = {{"x", "n + n + n + n", 1}};
    size_t left = 100;
    const struct hm_scope scope = {.symbols = symbols,
                                   .symbol_count = 1,
                                   .definitions = where,
                                   .definition_count = 1,
                                   .left = &left};
    struct hm_err err = {0};
    struct hm_formula *f;
    int rc = 0, count = 0;

    (void)state;
    /* A check of the definitions keeps nothing. */
    assert_int_equal(hm__scope_check(&scope, &err), 0);
    assert_int_equal(left, 100);
    for (; count < 100 && (rc = hm__formula_new("x * 1 s", &scope, HM_DIM_TIME, &f, &err)) == 0;
         count++)
        hm__formula_free(f);
    assert_int_equal(rc, HM_E_LIMIT);
    assert_non_null(strstr(err.message, "all formulas together"));
    assert_true(count >= 3 && count <= 12);
}

static void too_long_is_refused(void **state)
{
    struct hm_formula *f;
    struct hm_err err = {0};
    char *text = malloc(20001);

    (void)state;
    for (int i = 0; i < 20000; i++)
        text[i] = i % 2 ? '+' : '1';
    text[19999] = '1';
    text[20000] = '\0';
    assert_int_equal(hm__formula_new(text, &plain, HM_DIM_TIME, &f, &err), HM_E_LIMIT);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_oracle),
        cmocka_unit_test(vectors_equal_single_values),
        cmocka_unit_test(units_are_converted_and_checked),
        cmocka_unit_test(what_if_scales_a_quantity),
        cmocka_unit_test(mistakes_are_explained),
        cmocka_unit_test(definitions_are_shared_not_copied),
        cmocka_unit_test(circles_and_depth_end),
        cmocka_unit_test(infinities_do_not_hide),
        cmocka_unit_test(many_definitions_are_refused),
        cmocka_unit_test(formulas_share_a_limit),
        cmocka_unit_test(too_long_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
