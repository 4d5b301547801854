/* Tests convergences as text, CSV, JSON and gnuplot script, and their rendering when memory runs
 * out. */
#include "advise_samples.h"

#include "converge_render.h"
#include "memory.h"
#include "value.h"

static char *render(const struct hm_convergence *c, const struct hm_holdout *h,
                    enum hm_format format, size_t width)
{
    struct hm_style style = {.width = width, .file = "g.svg"};
    struct hm_err err = {0};
    char *text = NULL;

    if (hm_convergence_render(c, h, format, &style, &text, &err))
        fail_msg("%s", err.message);
    return text;
}

static void text_has_a_block_for_each_algorithm(void **state)
{
    static struct sample s;
    static struct sample_holdout h;
    char *text = render(sample_convergence(&s), sample_holdout(&h), HM_FORMAT_TEXT, 80);

    (void)state;
    assert_string_equal(
        text, "P is the objective, P* = 0.2, estimated: 0.199 to 0.2 (90 %)\n"
              "\n"
              "<b>&\"x: ln(P - P*) is a sum of terms\n"
              "  off by       0.084 in log10(P - P*), for an m that is held out\n"
              "  from         3 traces with 36 points, up to 122 iterations, m = 1, 4, 16\n"
              "  considered   terms off by 0.084, rate off by 0.061\n"
              "  term             value   90 % interval\n"
              "  1                 -0.7   -0.8 to -0.6\n"
              "  i/m           -0.03333   -0.05 to -0.02\n"
              "  sqrt(i)          1e-09   0 to 2e-09\n"
              "\n"
              "cocoa+: P - P* = a m^d (1 - c0 / m^c1)^i\n"
              "  off by       0.061 in log10(P - P*), for an m that is held out\n"
              "  from         3 traces with 36 points, up to 122 iterations, m = 1, 4, 16\n"
              "  considered   terms off by 0.084, rate off by 0.061\n"
              "  parameter        value   90 % interval\n"
              "  a                  0.5   0.45 to 0.56\n"
              "  d                    0   -0.01 to 0.02\n"
              "  c0                0.35   0.34 to 0.36\n"
              "  c1                 0.4\n"
              "\n"
              "held out       m  points  median     rms  covered\n"
              "cocoa+         1     120    0.11    0.15     88 %  at the edge\n"
              "cocoa+         4     120    0.08    0.09     91 %\n"
              "cocoa+        16     120     0.2     0.3     70 %  at the edge\n"
              "errors are those of log10(P - P*)\n"
              "<b>&\"x: no m could be held out\n"
              "cocoa+: inside 0.08, 16 from 1..4 0.2\n"
              "\n"
              "50 iterations ahead, from the 50 iterations before\n"
              "algorithm      m  points  median     rms\n"
              "cocoa+         1     100    0.01    0.02\n"
              "cocoa+         4     100   0.013    0.03\n"
              "cocoa+       all           0.012\n"
              "\n"
              "  note         the trace of 16 workers ends where its loss is not a number\n"
              "  note         few traces\n");
    hm_text_free(text);
}

/* The smallest or the largest m may be the only one that is held out; its row has all errors. */
static void an_edge_alone_has_no_summary(void **state)
{
    static struct sample s;
    static struct sample_holdout h;

    (void)state;
    sample_holdout(&h);
    h.left_out[0] = h.left_out[2];
    h.algorithms[1].left_out_count = 1;
    h.algorithms[1].inside = NAN;
    char *text = render(sample_convergence(&s), &h.holdout, HM_FORMAT_TEXT, 80);
    assert_non_null(strstr(text, "cocoa+        16     120     0.2     0.3     70 %  at the edge\n"
                                 "errors are those of log10(P - P*)\n"
                                 "<b>&\"x: no m could be held out\n"
                                 "\n"
                                 "50 iterations ahead"));
    hm_text_free(text);
}

static void narrow_pages_are_kept(void **state)
{
    static struct sample s;
    static struct sample_holdout h;
    char *text = render(sample_convergence(&s), sample_holdout(&h), HM_FORMAT_TEXT, 60);

    (void)state;
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
        /* No line of a table is wider than 64 columns, because tables are not wrapped. */
        assert_true(strcspn(line, "\n") <= 64);
    assert_null(strchr(text, '\033'));
    hm_text_free(text);
}

static void csv_has_a_row_for_each_point(void **state)
{
    static struct sample s;
    char *text = render(sample_convergence(&s), NULL, HM_FORMAT_CSV, 80);
    size_t lines = 0;

    (void)state;
    for (const char *p = text; *p; p++)
        lines += *p == '\n';
    assert_int_equal(lines, 1 + 6 * SAMPLE_POINTS);
    assert_non_null(strstr(text, "algorithm,n,iteration,loss\n\"<b>&\"\"x\",1,1,0.6"));
    hm_text_free(text);
}

static void json_has_the_held_out_errors(void **state)
{
    static struct sample s;
    static struct sample_holdout h;
    char *text = render(sample_convergence(&s), sample_holdout(&h), HM_FORMAT_JSON, 80);
    struct hm_arena *arena = hm__arena_new();
    struct hm_value *root;
    struct hm_err err = {0};

    (void)state;
    if (hm__json_parse(arena, text, strlen(text), "g.json", &root, &err))
        fail_msg("line %d: %s", err.line, err.message);
    assert_string_equal(hm__value_get(root, "howmany")->text, HM_VERSION);
    assert_near(hm__value_number(root, "best_loss"), s.convergence.best, 0);
    const struct hm_value *all = hm__value_get(hm__value_get(root, "holdout"), "algorithms");
    const struct hm_value *left = hm__value_get(&all->items[1], "left_out");
    assert_near(hm__value_number(&left->items[2], "rms"), 0.3, 0);
    assert_near(hm__value_number(&left->items[2], "n"), 16, 0);
    assert_int_equal(hm__value_get(&all->items[0], "inside")->kind, HM_VALUE_NULL);
    assert_near(hm__value_number(&all->items[1], "ahead_median"), 0.012, 0);
    assert_near(hm__value_number(&hm__value_get(root, "algorithms")->items[0], "points"), 36, 0);
    hm_text_free(text);
    hm__arena_free(arena);
}

static void a_plot_has_a_panel_for_each_algorithm(void **state)
{
    static struct sample s;
    const struct hm_convergence *c = sample_convergence(&s);
    const double x[] = {1, 10}, y[] = {0.1, 0.01}, low[] = {0.05, 0.005}, high[] = {0.2, 0.02};
    const struct hm_plot_curve curves[] = {{1, 8, x, y, low, high, 2}, {1, 4, x, y, NULL, NULL, 2}};
    struct hm_err err = {0};
    char *text = render(c, NULL, HM_FORMAT_GNUPLOT, 80);

    (void)state;
    assert_non_null(strstr(text, "set multiplot layout 1,2\n"));
    assert_non_null(strstr(text, "set title '<b>&\"x' noenhanced\n"));
    assert_non_null(strstr(text, "title 'm = 16'"));
    assert_null(strstr(text, "filledcurves"));
    hm_text_free(text);
    assert_int_equal(hm__convergence_plot(c, curves, 2, "g.svg", &text, &err), 0);
    assert_non_null(strstr(text, "title 'm = 8, fit'"));
    assert_null(strstr(text, "title 'm = 4, fit'"));
    assert_non_null(strstr(text, "$f0 using 1:3:4 with filledcurves"));
    hm_text_free(text);
    assert_int_equal(hm__convergence_plot(c, NULL, 0, "g.txt", &text, &err), HM_E_UNSUPPORTED);
}

static void failed_allocations_are_reported(void **state)
{
    static struct sample s;
    static struct sample_holdout h;
    struct hm_style style = {.width = 60, .table = true, .file = "g.png"};
    const struct hm_convergence *c = sample_convergence(&s);

    (void)state;
    sample_holdout(&h);
    for (enum hm_format format = HM_FORMAT_TEXT; format <= HM_FORMAT_GNUPLOT; format++) {
        int rc = HM_E_NOMEM;
        for (long after = 0; rc; after++) {
            struct hm_err err = {0};
            char *text = NULL;
            hm__alloc_fail_after(after);
            rc = hm_convergence_render(c, &h.holdout, format, &style, &text, &err);
            hm__alloc_fail_after(-1);
            assert_true(rc == 0 || rc == HM_E_NOMEM);
            hm_text_free(text);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_has_a_block_for_each_algorithm),
        cmocka_unit_test(an_edge_alone_has_no_summary),
        cmocka_unit_test(narrow_pages_are_kept),
        cmocka_unit_test(csv_has_a_row_for_each_point),
        cmocka_unit_test(json_has_the_held_out_errors),
        cmocka_unit_test(a_plot_has_a_panel_for_each_algorithm),
        cmocka_unit_test(failed_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
