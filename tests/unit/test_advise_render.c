/* Tests an advice as text, JSON and CSV, and its rendering when memory runs out. */
#include "advise_samples.h"

#include "format.h"
#include "memory.h"
#include "value.h"

static char *render(const struct hm_advice *a, enum hm_format format, size_t width, bool table)
{
    struct hm_style style = {.width = width, .table = table};
    struct hm_err err = {0};
    char *text = NULL;

    if (hm_advice_render(a, format, &style, &text, &err))
        fail_msg("%s", err.message);
    return text;
}

static void assert_text(const struct hm_advice *a, size_t width, bool table, const char *wanted)
{
    char *text = render(a, HM_FORMAT_TEXT, width, table);

    assert_string_equal(text, wanted);
    hm_text_free(text);
}

static void assert_has(const struct hm_advice *a, const char *wanted)
{
    char *text = render(a, HM_FORMAT_TEXT, 100, true);

    if (!strstr(text, wanted))
        fail_msg("no '%s' in\n%s", wanted, text);
    hm_text_free(text);
}

static void a_loss_is_rendered(void **state)
{
    static struct sample_advice s;

    (void)state;
    assert_text(
        sample_advice(&s), 100, true,
        "Use cocoa+ on 8 workers: 24.3 ms to 1e-4 (21.3 ms to 29.3 ms), 9.4 iterations of 2.58 "
        "ms.\n"
        "  how sure     94 % sure to be within a tenth of the best; cocoa+ is the right algorithm "
        "with 99 %\n"
        "  beyond       no trace of 8 workers: predicted from traces of fewer and more\n"
        "  next         cocoa+ on 4 workers, 24.9 ms: its iterations take 1.72x as long, although "
        "it "
        "needs\n"
        "               0.60x as many\n"
        "  others       <b>&\"x on 4 workers, 34.8 ms: needs 1.50x the iterations, although each "
        "takes 0.96x\n"
        "               as long\n"
        "  never        <b>&\"x on 16\n"
        "  ahead        cocoa+ on 16 until 4e-3, then cocoa+ on 8\n"
        "  would help   a run of cocoa+ on 4 workers (25.0 ms): it is expected to save 400 us\n"
        "  note         P* is not known: it is estimated\n"
        "\n"
        "algorithm     m  iterations iteration      time  90 % interval       best\n"
        "cocoa+        8         9.4   2.58 ms   24.3 ms  21.3 ms to 29.3 ms  72 %\n"
        "cocoa+        4*        5.6   4.45 ms   24.9 ms  21.9 ms to 30.2 ms  22 %\n"
        "<b>&\"x        4*       14.1   2.47 ms   34.8 ms  30.6 ms to 42.1 ms   1 %\n"
        "<b>&\"x        1*       14.1   9.50 ms    134 ms  118 ms to 162 ms     0 %\n"
        "<b>&\"x       16*              1.60 ms     never                       0 %\n"
        "* measured\n");
}

static void a_time_is_rendered(void **state)
{
    static struct sample_advice s;
    struct hm_advice *a = sample_advice(&s);

    (void)state;
    a->loss = NAN;
    a->within_s = 60;
    a->next.saves = 0.02;
    for (size_t i = 0; i < a->candidate_count; i++) {
        s.candidates[i].loss = 3.1e-4 * (double)(i + 1);
        s.candidates[i].loss_low = 2e-4;
        s.candidates[i].loss_high = 5e-3;
        s.candidates[i].why = i ? HM_WHY_LOSS : HM_WHY_BEST;
    }
    assert_has(a,
               "Use cocoa+ on 8 workers: 3.1e-4 above the best after 60.0 s (2e-4 to 5e-3), 9.4");
    assert_has(a, "\n  next         cocoa+ on 4 workers, 6.2e-4: reaches a higher loss\n");
    assert_has(a, "it is expected to lower the loss by 2 %\n");
    assert_has(a, "iteration      loss  90 % interval");
    a->within_s = 0;
    a->budget = 5;
    assert_has(a, "3.1e-4 above the best for $5.00 (2e-4 to 5e-3)");
}

static void costs_are_rendered(void **state)
{
    static struct sample_advice s;
    struct hm_advice *a = sample_advice(&s);

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        s.candidates[i].cost = 0.012 * (double)(i + 1);
        s.candidates[i].cost_low = 0.01;
        s.candidates[i].cost_high = 0.02;
    }
    assert_has(a, "\n  cost         $0.012 ($0.01 to $0.02)\n");
    a->goal = HM_GOAL_COST;
    s.candidates[1].why = HM_WHY_PRICE;
    assert_has(a, "Use cocoa+ on 8 workers: $0.012 to 1e-4 ($0.01 to $0.02), 24.3 ms, 9.4 iter");
    assert_has(a, "cocoa+ on 4 workers, $0.024: costs 2.00x as much\n");
    assert_has(a, "it is expected to save $0.0004\n");
    assert_has(a, "30.6 ms to 42.1 ms   $0.036   1 %\n");
}

static void an_unreached_loss_is_rendered(void **state)
{
    static struct sample_advice s;
    struct hm_advice *a = sample_advice(&s);

    (void)state;
    a->feasible = false;
    a->within_s = 0.02;
    s.candidates[0].reaches = 0.2;
    s.candidates[1].why = HM_WHY_LIMIT;
    assert_has(a,
               "Nothing reaches 1e-4 within 20.0 ms.\n  nearest miss cocoa+ on 8 workers: 24.3 ms");
    assert_has(a, "it succeeds with a probability of 20 %\n");
    assert_has(a, "cocoa+ on 4 workers, 24.9 ms: takes too long\n");
    a->within_s = 0;
    assert_has(a, "Nothing reaches 1e-4, as far as the traces show.\n");
    a->candidate_count = 0;
    a->lead_count = 0;
    a->next.algorithm = NULL;
    a->note_count = 0;
    assert_text(a, 80, false,
                "Nothing reaches 1e-4, as far as the traces show.\n"
                "  would help   no further run is expected to change this\n");
}

static void a_schedule_is_rendered(void **state)
{
    static struct sample_advice s;
    struct hm_advice *a = sample_advice(&s);

    (void)state;
    a->schedule = &s.schedule;
    assert_has(
        a, "\n  schedule     cocoa+ on 16 workers, 8 from 4e-3 on: 19.8 ms, 18 % less than with "
           "the best fixed\n               number (5 % to 22 %)\n");
    s.schedule.phase_count = 1;
    assert_has(a, "changing the number of workers during the run gains nothing\n");
    s.candidates[0].beyond_m = 2;
    s.candidates[0].beyond_i = 1.5;
    assert_has(a, "8 workers: 2 times outside what was measured; 1.5 times the iterations of the "
                  "longest\n");
}

static void no_line_is_too_long(void **state)
{
    static struct sample_advice s;
    struct hm_advice *a = sample_advice(&s);

    (void)state;
    s.candidates[2].algorithm = "an algorithm that has a very long name";
    for (size_t priced = 0; priced < 2; priced++) {
        char *text = render(a, HM_FORMAT_TEXT, 60, false), *table = NULL;
        for (char *line = strtok_r(text, "\n", &table); line; line = strtok_r(NULL, "\n", &table))
            assert_true(strlen(line) <= 60);
        hm_text_free(text);
        text = render(a, HM_FORMAT_TEXT, 80, true);
        for (char *line = strtok_r(text, "\n", &table); line; line = strtok_r(NULL, "\n", &table))
            assert_true(strlen(line) <= 80);
        hm_text_free(text);
        for (size_t i = 0; i < a->candidate_count; i++)
            s.candidates[i].cost = 123456;
    }
}

static void json_reads_back(void **state)
{
    static struct sample_advice s;
    struct hm_advice *a = sample_advice(&s);
    struct hm_arena *arena = hm__arena_new();
    struct hm_value *root;
    struct hm_err err = {0};

    (void)state;
    a->schedule = &s.schedule;
    char *text = render(a, HM_FORMAT_JSON, 80, false);
    if (hm__json_parse(arena, text, strlen(text), "a.json", &root, &err))
        fail_msg("line %d: %s", err.line, err.message);
    const struct hm_value *list = hm__value_get(root, "candidates");
    assert_int_equal(list->count, 5);
    assert_string_equal(hm__value_get(&list->items[2], "algorithm")->text, SAMPLE_NAME);
    assert_near(hm__value_number(&list->items[1], "time_s"), s.candidates[1].time_s, 0);
    assert_string_equal(hm__value_get(&list->items[4], "why")->text, "never");
    assert_int_equal(hm__value_get(&list->items[4], "time_s")->kind, HM_VALUE_NULL);
    assert_int_equal(hm__value_get(&hm__value_get(root, "leads")->items[0], "from")->kind,
                     HM_VALUE_NULL);
    assert_near(hm__value_number(hm__value_get(root, "schedule"), "gain"), 0.185, 0);
    assert_near(hm__value_number(hm__value_get(root, "next"), "saves"), 4e-4, 0);
    assert_near(hm__value_number(root, "sure_algorithm"), 0.99, 0);
    assert_string_equal(hm__value_get(root, "howmany")->text, HM_VERSION);
    assert_string_equal(hm__value_get(root, "status")->text, "ok");
    const struct hm_value *best = hm__value_get(root, "best");
    assert_int_equal(best->count, list->items[0].count);
    assert_near(hm__value_number(best, "n"), s.candidates[0].m, 0);
    assert_near(hm__value_number(best, "low_s"), s.candidates[0].low_s, 0);
    assert_near(hm__value_number(root, "best_loss"), a->best, 0);
    assert_int_equal(hm__value_get(root, "budget")->kind, HM_VALUE_NULL);
    hm_text_free(text);
    a->feasible = false;
    text = render(a, HM_FORMAT_JSON, 80, false);
    assert_int_equal(hm__json_parse(arena, text, strlen(text), "a.json", &root, &err), 0);
    assert_string_equal(hm__value_get(root, "status")->text, "unreached");
    assert_int_equal(hm__value_get(root, "best")->kind, HM_VALUE_NULL);
    hm_text_free(text);
    hm__arena_free(arena);
}

static void csv_has_a_row_for_each_candidate(void **state)
{
    static struct sample_advice s;
    char *text = render(sample_advice(&s), HM_FORMAT_CSV, 80, false);
    size_t lines = 0;

    (void)state;
    for (const char *p = text; *p; p++)
        lines += *p == '\n';
    assert_int_equal(lines, 6);
    assert_non_null(strstr(text, "\n\"<b>&\"\"x\",16,true,,,,0.0016,"));
    hm_text_free(text);
}

static void failed_allocations_are_reported(void **state)
{
    static struct sample_advice s;
    struct hm_style style = {.width = 60, .table = true};
    struct hm_advice *a = sample_advice(&s);

    (void)state;
    a->schedule = &s.schedule;
    for (enum hm_format format = HM_FORMAT_TEXT; format <= HM_FORMAT_CSV; format++) {
        int rc = HM_E_NOMEM;
        for (long after = 0; rc; after++) {
            struct hm_err err = {0};
            char *text = NULL;
            hm__alloc_fail_after(after);
            rc = hm_advice_render(a, format, &style, &text, &err);
            hm__alloc_fail_after(-1);
            assert_true(rc == 0 || rc == HM_E_NOMEM);
            hm_text_free(text);
        }
    }
}

static void losses_are_short(void **state)
{
    static const struct {
        double value;
        const char *wanted;
    } rows[] = {{1e-4, "1e-4"},      {3.14159e-4, "3.14e-4"},
                {9.999e-5, "1e-4"},  {0.12345, "0.123"},
                {0.01, "0.01"},      {12, "12"},
                {1234567, "1.23e6"}, {0, "0"},
                {-2e-7, "-2e-7"},    {1e-300, "1e-300"}};
    char text[HM_SHOWN];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_string_equal(hm__show_loss(rows[i].value, text), rows[i].wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loss_is_rendered),
        cmocka_unit_test(a_time_is_rendered),
        cmocka_unit_test(costs_are_rendered),
        cmocka_unit_test(an_unreached_loss_is_rendered),
        cmocka_unit_test(a_schedule_is_rendered),
        cmocka_unit_test(no_line_is_too_long),
        cmocka_unit_test(json_reads_back),
        cmocka_unit_test(csv_has_a_row_for_each_candidate),
        cmocka_unit_test(failed_allocations_are_reported),
        cmocka_unit_test(losses_are_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
