/* Tests renderers of an answer (JSON that is read back, rows of CSV, widths of texts), names, and
 * quantities. */
#include "shortest.h"
#include "testing.h"

#include "csv.h"
#include "format.h"
#include "names.h"
#include "stored_render.h"
#include "value.h"

static struct hm_answer *make_answer(struct hm_job **job)
{
    struct hm_question q = HM_QUESTION_INIT;

    *job = parse_job("name: a \"quoted\" name\nbatch: 4096\nnetwork: 1000-1000-10\niterations: 10\n"
                     "cluster: {flops: 100 Gflop/s, price: $1/h, fabric: {bandwidth: 1 Gbit/s},\n"
                     "  max_nodes: 40}\n"
                     "measured: {speedup: {1: 1, 2: 1.9}}\n");
    q.deadline_s = 1e6;
    q.budget = 1e6;
    q.faster = 1.5;
    q.work = 2;
    q.goal = HM_GOAL_TIME;
    return ask(*job, &q);
}

static char *render(const struct hm_answer *a, enum hm_format format, struct hm_style style)
{
    char *text = NULL;
    struct hm_err err = {0};

    if (hm_answer_render(a, format, &style, &text, &err))
        fail_msg("%s", err.message);
    return text;
}

static double number(const struct hm_value *map, const char *key)
{
    const struct hm_value *v = hm__value_get(map, key);
    if (!v || v->kind != HM_VALUE_SCALAR)
        return NAN;
    return atof(v->text);
}

static void json_reads_back_to_the_bit(void **state)
{
    struct hm_job *job;
    struct hm_answer *a = make_answer(&job);
    char *text = render(a, HM_FORMAT_JSON, (struct hm_style){0});
    struct hm_arena *arena = hm__arena_new();
    struct hm_value *root;
    struct hm_err err = {0};
    static const char *const keys[] = {"best",    "knee",  "in_deadline", "in_budget", "faster",
                                       "work",    "limit", "help",        "pareto",    "curve",
                                       "plateau", "notes", "ranking",     "status",    "goal"};

    (void)state;
    if (hm__json_parse(arena, text, strlen(text), "j", &root, &err))
        fail_msg("line %d: %s", err.line, err.message);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        assert_non_null(hm__value_get(root, keys[i]));
    assert_string_equal(hm__value_get(root, "job")->text, "a \"quoted\" name");
    const struct hm_value *best = hm__value_get(root, "best"),
                          *curve = hm__value_get(root, "curve");
    assert_near(number(best, "time_s"), a->points[a->best].time_s, 0);
    assert_near(number(best, "cost"), a->points[a->best].cost, 0);
    assert_int_equal(curve->count, a->point_count);
    for (size_t i = 0; i < curve->count; i++) {
        assert_near(number(&curve->items[i], "n"), a->points[i].n, 0);
        assert_near(number(&curve->items[i], "speedup"), a->points[i].speedup, 0);
        assert_near(number(&curve->items[i], "communicate_s"), a->points[i].communicate_s, 0);
    }
    hm__arena_free(arena);
    hm_text_free(text);
    hm_answer_free(a);
    hm_job_free(job);
}

static void csv_has_a_row_for_each_point(void **state)
{
    struct hm_job *job;
    struct hm_answer *a = make_answer(&job);
    char *text = render(a, HM_FORMAT_CSV, (struct hm_style){0}), **f;
    struct hm_csv *csv;
    size_t rows = 0;

    (void)state;
    assert_int_equal(hm__csv_parse(text, strlen(text), "c", 0, &csv, NULL), 0);
    int time = hm__csv_column(csv, "time_s");
    while (hm__csv_next(csv, &f, NULL) == 1) {
        assert_near(atof(f[time]), a->points[rows].time_s, 0);
        rows++;
    }
    assert_int_equal(rows, a->point_count);
    hm__csv_close(csv);
    hm_text_free(text);
    hm_answer_free(a);
    hm_job_free(job);
}

/* Returns the number of columns of the widest line. */
static size_t widest(const char *text)
{
    size_t most = 0;

    while (*text) {
        char line[600];
        size_t length = strcspn(text, "\n");
        snprintf(line, sizeof(line), "%.*s", (int)length, text);
        size_t columns = 0;
        for (const char *p = line; *p; p++)
            columns += ((unsigned char)*p & 0xc0) != 0x80;
        most = columns > most ? columns : most;
        text += length + (text[length] == '\n');
    }
    return most;
}

static void pages_keep_their_width(void **state)
{
    struct hm_job *job;
    struct hm_answer *a = make_answer(&job);

    (void)state;
    for (size_t width = 60; width <= 200; width += 20) {
        char *text = render(a, HM_FORMAT_TEXT,
                            (struct hm_style){.width = width, .unicode = true, .chart = true});
        assert_true(widest(text) <= width);
        hm_text_free(text);
    }
    hm_answer_free(a);
    hm_job_free(job);
}

static void plain_pages_are_ascii(void **state)
{
    struct hm_job *job;
    struct hm_answer *a = make_answer(&job);
    char *text =
        render(a, HM_FORMAT_TEXT, (struct hm_style){.width = 80, .chart = true, .table = true});

    (void)state;
    for (const char *p = text; *p; p++)
        assert_true((unsigned char)*p < 0x80 && *p != '\033');
    assert_non_null(strstr(text, "speedup against workers"));
    assert_non_null(strstr(text, "R recommended"));
    hm_text_free(text);
    hm_answer_free(a);
    hm_job_free(job);
}

static void plots_choose_by_name(void **state)
{
    struct hm_job *job;
    struct hm_answer *a = make_answer(&job);
    char *text = render(a, HM_FORMAT_GNUPLOT, (struct hm_style){.file = "it's.svg"});
    struct hm_err err = {0};
    struct hm_style style = {.file = "plot.gif"};

    (void)state;
    assert_non_null(strstr(text, "set output 'it''s.svg'"));
    assert_non_null(strstr(text, "terminal svg"));
    hm_text_free(text);
    text = NULL;
    assert_int_equal(hm_answer_render(a, HM_FORMAT_GNUPLOT, &style, &text, &err), HM_E_UNSUPPORTED);
    assert_null(text);
    hm_answer_free(a);
    hm_job_free(job);
}

static void quantities_have_readable_units(void **state)
{
    char t[HM_SHOWN];

    (void)state;
    assert_string_equal(hm__show_time(12.7234, t), "12.7 s");
    assert_string_equal(hm__show_time(0.00321, t), "3.21 ms");
    assert_string_equal(hm__show_time(0, t), "0 s");
    assert_string_equal(hm__show_time(INFINITY, t), "inf");
    assert_string_equal(hm__show_time(-NAN, t), "nan");
    assert_string_equal(hm__show_time(7200, t), "2.00 h");
    assert_string_equal(hm__show_time(0.99999, t), "1.00 s");
    assert_string_equal(hm__show_time(5e-9, t), "5.00 ns");
    assert_string_equal(hm__show_time(86400 * 30, t), "30.0 days");
    assert_string_equal(hm__show_money(12.3, t), "$12.30");
    assert_string_equal(hm__show_money(0.0042, t), "$0.0042");
    assert_string_equal(hm__show_money(0, t), "$0.00");
    assert_string_equal(hm__show_money(123456, t), "$123,456");
    assert_string_equal(hm__show_money(999.9, t), "$999.90");
    assert_string_equal(hm__show_money(1000, t), "$1,000");
    assert_string_equal(hm__show_grouped(1234567, t), "1,234,567");
    assert_string_equal(hm__show_grouped(83.26, t), "83.3");
    assert_string_equal(hm__show_bytes(17179869184.0, t), "16.0 GiB");
    assert_string_equal(hm__show_rate(125e6, t), "1.00 Gbit/s");
    assert_string_equal(hm__show_flops(4.29e12, t), "4.29 Tflop/s");
    assert_string_equal(hm__show_number(99.97, t), "100");
}

static void json_texts_are_escaped(void **state)
{
    struct hm_text out = {0};
    struct hm_json json = {.out = &out};

    (void)state;
    hm__json_text(&out, "a\"b\\c\n\x01");
    hm__text_add(&out, " ");
    hm__json_text(&out, NULL);
    hm__text_add(&out, " ");
    hm__json_number(&out, NAN);
    hm__text_add(&out, " ");
    hm__json_number(&out, 0.1);
    hm__text_add(&out, " ");
    hm__json_put_known(&json, NULL, -1);
    hm__text_add(&out, " ");
    hm__json_put_known(&json, NULL, NAN);
    assert_string_equal(out.data, "\"a\\\"b\\\\c\\u000a\\u0001\" null null 0.1 null null");
    hm__text_release(&out);
}

/* Escaped texts are read back; incomplete escapes, which readers refuse, do no harm. */
static void json_texts_are_read_back(void **state)
{
    static const char *const cases[][2] = {
        {"", ""},
        {"plain", "plain"},
        {"\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t"},
        {"a\\u0001b\\u00e9\\u20ac\\ud83d\\ude00c", "a\x01"
                                                   "b\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"
                                                   "c"},
        {"a\\", "a"},
        {"a\\u00", "a"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct hm_text out = {0};
        hm__json_unescape(&out, cases[i][0], strlen(cases[i][0]));
        assert_string_equal(out.data ? out.data : "", cases[i][1]);
        hm__text_release(&out);
    }
}

/* Names and texts of other columns may have any characters. */
static void csv_of_stored_runs_is_quoted(void **state)
{
    struct hm_stored run = HM_STORED_INIT;
    struct hm_csv_columns columns = {0};
    struct hm_arena *arena = hm__arena_new();
    struct hm_text out = {0};

    (void)state;
    run.id = 1;
    run.n = 2;
    run.more = "{\"gpu,loss\":\"x\",\"q\\\"r\":7,\"lf\":\"a\\u000ab\\tc\\\\d\"}";
    assert_int_equal(hm__csv_columns_add(&columns, arena, &run, NULL), 0);
    hm__render_csv_header(&out, &columns);
    hm__render_csv_row(&out, &columns, &run);
    assert_string_equal(out.data, "id,n,\"gpu,loss\",\"q\"\"r\",lf\n1,2,x,7,\"a\nb\tc\\d\"\n");
    hm__text_release(&out);
    hm__arena_free(arena);
}

static void enumerations_have_names(void **state)
{
    (void)state;
    assert_string_equal(hm__scaling_name(HM_SCALING_WEAK), "weak");
    assert_string_equal(hm__errors_name(HM_ERRORS_RELATIVE), "relative");
    assert_string_equal(hm__goal_name(HM_GOAL_COST), "cost");
    assert_string_equal(hm__status_name(HM_STATUS_NO_SPEEDUP), "no-speedup");
    assert_string_equal(hm__recommend_way_name(HM_RECOMMEND_MODEL), "model");
    assert_string_equal(hm__advise_why_name(HM_WHY_LIMIT), "limit");
    assert_string_equal(hm__status_name((enum hm_status)99), "?");
}

/* Compares a number with the shortest text of printf that strtod reads back. */
static void check_shortest(double value)
{
    char ours[HM_SHORTEST], wanted[40];

    if (!hm__shortest(value, ours))
        return;
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(wanted, sizeof(wanted), "%.*g", digits, value);
        if (strtod(wanted, NULL) == value)
            break;
    }
    assert_string_equal(ours, wanted);
}

/* Compares a number of 17 digits with the text of printf. */
static void check_seventeen(double value)
{
    char ours[HM_SHORTEST], wanted[40];

    if (!hm__seventeen_digits(value, ours))
        return;
    snprintf(wanted, sizeof(wanted), "%.17g", value);
    assert_string_equal(ours, wanted);
}

static void check_both(double value)
{
    check_shortest(value);
    check_seventeen(value);
    check_seventeen(-value);
}

static void test_shortest(void **state)
{
    static const double some[] = {0.1,           0.3,
                                  1e-4,          9.9999999999999e-5,
                                  123456789.125, 1e14,
                                  0.5,           1.5,
                                  2.5e7,         999999999999999.875,
                                  1.0 / 3,       -7.25,
                                  1e15 - 1,      4.35,
                                  0.001,         99999999999999.99,
                                  5e-324,        1e300,
                                  NAN,           INFINITY,
                                  0.7 + 0.1,     9.5,
                                  1e14 + 0.5};
    uint64_t bits = 88172645463325252u;

    (void)state;
    for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++)
        check_both(some[i]);
    for (int i = 0; i < 300000;
         i++) { /* The numbers have random mantissas with common exponents, or few digits. */
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        double mantissa = 1 + (double)(bits >> 12) * 0x1p-52;
        check_both(ldexp(mantissa, (int)(bits % 66) - 15));
        check_both((double)(bits >> 40) / 1000);
        check_both((double)(bits >> 20) / 1e7);
    }
    char text[HM_SHORTEST];
    assert_true(hm__shortest(0.1, text));
    assert_string_equal(text, "0.1");
    assert_false(hm__shortest(1e-5, text));
    assert_false(hm__shortest(1e15, text));
    assert_true(hm__seventeen_digits(0.1, text));
    assert_string_equal(text, "0.10000000000000001");
    assert_false(hm__seventeen_digits(1e15, text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shortest),
        cmocka_unit_test(json_reads_back_to_the_bit),
        cmocka_unit_test(json_texts_are_read_back),
        cmocka_unit_test(csv_of_stored_runs_is_quoted),
        cmocka_unit_test(csv_has_a_row_for_each_point),
        cmocka_unit_test(pages_keep_their_width),
        cmocka_unit_test(plain_pages_are_ascii),
        cmocka_unit_test(plots_choose_by_name),
        cmocka_unit_test(quantities_have_readable_units),
        cmocka_unit_test(json_texts_are_escaped),
        cmocka_unit_test(enumerations_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
