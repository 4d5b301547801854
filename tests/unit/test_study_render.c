/* Tests that the report of a study is well-formed HTML with escaped text and a table for each
 * chart. */
#include "advise_samples.h"

#include "format.h"
#include "memory.h"
#include "svg.h"

static char *render(const struct hm_study *study)
{
    struct hm_err err = {0};
    char *html = NULL;

    if (hm_study_render(study, &html, &err))
        fail_msg("%s", err.message);
    return html;
}

static bool is_void(const char *name)
{
    return strcmp(name, "meta") == 0;
}

/* Returns the position after the tag at p; a ">" inside quotes does not end a tag. */
static const char *tag_end(const char *p)
{
    char quote = 0;

    for (; *p && (quote || *p != '>'); p++) {
        if (!quote && (*p == '"' || *p == '\''))
            quote = *p;
        else if (*p == quote)
            quote = 0;
        else
            assert_true(*p != '<' || !quote);
    }
    assert_true(*p == '>');
    return p + 1;
}

/* Checks that tags are closed in the right order, and that the text between them has no bare & or
 * ". */
static void check_tags(const char *html)
{
    static char open[64][24];
    size_t depth = 0;

    for (const char *p = html; *p;) {
        if (*p == '&') {
            size_t length = strspn(p + 1, "abcdefghijklmnopqrstuvwxyz#0123456789");
            assert_true(length > 0 && p[1 + length] == ';');
        }
        if (*p != '<') {
            p++;
            continue;
        }
        const char *end = tag_end(p);
        bool closes = p[1] == '/', alone = end[-2] == '/' || p[1] == '!';
        char name[24];
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(p + 1 + closes, " >/\n"), p + 1 + closes);
        if (closes) {
            if (depth == 0 || strcmp(open[depth - 1], name) != 0)
                fail_msg("</%s> closes <%s>: %.60s", name, depth ? open[depth - 1] : "", p);
            depth--;
        } else if (!alone && !is_void(name)) {
            assert_true(depth < 64);
            memcpy(open[depth++], name, sizeof(name));
        }
        p = end;
    }
    assert_int_equal(depth, 0);
}

static size_t count_of(const char *text, const char *piece)
{
    size_t count = 0;

    for (; (text = strstr(text, piece)); text += strlen(piece))
        count++;
    return count;
}

static void assert_has(const char *html, const char *piece)
{
    if (!strstr(html, piece))
        fail_msg("no '%s' in the page", piece);
}

static void a_page_has_all_parts(void **state)
{
    static struct sample_study s;
    char *html = render(sample_study(&s));

    (void)state;
    check_tags(html);
    assert_has(html, "<h1>Which algorithm for &lt;data&gt; &amp; how many workers</h1>");
    assert_has(html, "Use cocoa+ on 8 workers: 24.3 ms to 1e-\xe2\x81\xa0"
                     "4 (21.3 ms to 29.3 ms)");
    assert_has(html, "<dt>data</dt><dd>made up &amp; &lt;small&gt;</dd>");
    assert_has(html, "<th scope=\"row\">&lt;b&gt;&amp;&quot;x</th>");
    assert_has(html, "needs 1.50x the iterations");
    assert_has(html, "howmany study --data &#39;a&amp;b&#39;");
    assert_has(html, "<li>a &quot;note&quot; of the study</li>");
    assert_has(html, "<td class=\"n\">not reached</td>");
    assert_has(html, "prefers-color-scheme:dark");
    assert_null(strstr(html, "<script"));
    assert_null(strstr(html, "http"));
    assert_null(strstr(html, "nan"));
    assert_has(html, "Seconds of an iteration by number of workers");
    /* There is one chart each for candidates, checks, times and iterations, and one for each
     * algorithm. */
    assert_int_equal(count_of(html, "<svg "), 6);
    assert_int_equal(count_of(html, "<title id="), 6);
    assert_int_equal(count_of(html, "<desc id="), 6);
    assert_int_equal(count_of(html, "<table>"), count_of(html, "<caption>"));
    assert_true(count_of(html, "<table>") >= 5);
    hm_text_free(html);
}

static void the_same_bytes_each_time(void **state)
{
    static struct sample_study s;
    char *first = render(sample_study(&s)), *second = render(sample_study(&s));

    (void)state;
    assert_string_equal(first, second);
    hm_text_free(first);
    hm_text_free(second);
}

static void a_minimal_study_is_rendered(void **state)
{
    static struct sample_study s;
    struct hm_study study = {0};
    char *html = render(&study);

    (void)state;
    check_tags(html);
    assert_has(html, "<h1>A study</h1>");
    hm_text_free(html);
    sample_study(&s);
    s.advice.advice.candidate_count = 0;
    s.advice.advice.feasible = false;
    s.advice.advice.next.algorithm = NULL;
    s.convergence.all_paces.count = 0;
    /* With this least loss, no point has a positive excess loss. */
    s.convergence.convergence.best = 5;
    html = render(&s.study);
    check_tags(html);
    assert_has(html, "Nothing reaches 1e-");
    assert_int_equal(count_of(html, "<svg "), 1);
    hm_text_free(html);
}

static void the_loss_within_a_time_is_rendered(void **state)
{
    static struct sample_study s;

    (void)state;
    sample_study(&s);
    s.advice.advice.loss = NAN;
    s.advice.advice.within_s = 60;
    for (size_t i = 0; i < 5; i++) {
        s.advice.candidates[i].loss = 1e-4 * (double)(i + 1);
        s.advice.candidates[i].cost = 1;
    }
    char *html = render(&s.study);
    check_tags(html);
    assert_has(html, "Loss reached, by number of workers");
    assert_has(html, "<th scope=\"col\" class=\"n\">cost</th>");
    hm_text_free(html);
}

/* Charts must handle no point, one point, equal points and very wide ranges. */
static void charts_take_any_points(void **state)
{
    static const double x[] = {1, 1e-300, NAN, 3}, y[] = {1, 1e300, 2, -1}, same[] = {7, 7, 7, 7};
    const struct hm_svg_series series[] = {{"<a>", 0, x, y, NULL, NULL, 4, true},
                                           {"b", 7, same, same, y, x, 4, false}};

    (void)state;
    for (size_t count = 0; count <= 4; count++)
        for (int scale = HM_SCALE_LINEAR; scale <= HM_SCALE_LOG2; scale++) {
            struct hm_svg_series some[2] = {series[0], series[1]};
            some[0].count = some[1].count = count;
            struct hm_svg_chart chart = {.title = "t",
                                         .description = "d",
                                         .x_label = "x & y",
                                         .y_label = "y",
                                         .x_scale = (enum hm_scale)scale,
                                         .y_scale = (enum hm_scale)scale,
                                         .diagonal = scale == 1,
                                         .apart = true,
                                         .series = some,
                                         .count = 2};
            struct hm_text out = {0};
            hm__svg_add(&out, &chart);
            assert_int_equal(hm__svg_has_points(&chart), count > 0);
            if (count) {
                check_tags(out.data);
                assert_null(strstr(out.data, "nan"));
                assert_null(strstr(out.data, "inf"));
            }
            hm__text_release(&out);
        }
}

static void text_is_escaped(void **state)
{
    struct hm_text out = {0};

    (void)state;
    hm__xml_text(&out, "<b>&\"'\x01\xff \xc3\xa4");
    assert_string_equal(out.data, "&lt;b&gt;&amp;&quot;&#39;\xef\xbf\xbd\xef\xbf\xbd \xc3\xa4");
    hm__text_release(&out);
}

static void failed_allocations_are_reported(void **state)
{
    static struct sample_study s;
    int rc = HM_E_NOMEM;

    (void)state;
    sample_study(&s);
    for (long after = 0; rc; after++) {
        struct hm_err err = {0};
        char *html = NULL;
        hm__alloc_fail_after(after);
        rc = hm_study_render(&s.study, &html, &err);
        hm__alloc_fail_after(-1);
        assert_true(rc == 0 || rc == HM_E_NOMEM);
        hm_text_free(html);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_has_all_parts),
        cmocka_unit_test(the_same_bytes_each_time),
        cmocka_unit_test(a_minimal_study_is_rendered),
        cmocka_unit_test(the_loss_within_a_time_is_rendered),
        cmocka_unit_test(charts_take_any_points),
        cmocka_unit_test(text_is_escaped),
        cmocka_unit_test(failed_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
