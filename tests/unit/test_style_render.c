/*
 * Tests the style of every public render function: NULL and a zero-initialised style must give the
 * same text as 80 columns without colour, Unicode, table and chart.
 */
#include "advise_samples.h"

#include "howmany_fit.h"
#include "howmany_store.h"
#include "stored_render.h"

/* Renders one sample in a format with a style. */
typedef int (*render_sample)(enum hm_format format, const struct hm_style *style, char **ret_text,
                             struct hm_err *err);

static const char *long_notes[] = {
    "a note that is so long that it does not fit on one line of eighty columns, whatever the label",
    "a second note"};

static int render_answer(enum hm_format format, const struct hm_style *style, char **ret_text,
                         struct hm_err *err)
{
    struct hm_question question = HM_QUESTION_INIT;
    struct hm_job *job =
        parse_job("batch: 4096\nnetwork: 1000-1000-10\niterations: 10\n"
                  "cluster: {flops: 100 Gflop/s, fabric: {bandwidth: 1 Gbit/s}, max_nodes: 40}\n");
    struct hm_answer *answer = ask(job, &question);

    answer->notes = long_notes;
    answer->note_count = 2;
    int rc = hm_answer_render(answer, format, style, ret_text, err);
    hm_answer_free(answer);
    hm_job_free(job);
    return rc;
}

static int render_fit(enum hm_format format, const struct hm_style *style, char **ret_text,
                      struct hm_err *err)
{
    struct hm_term terms[] = {{.text = "1/n", .value = 2, .low = 1, .high = 3}};
    struct hm_residual residuals[] = {{.line = 2, .n = 1, .seconds = 2, .fitted_s = 2}};
    struct hm_prediction predictions[] = {{.n = 1, .time_s = 2, .speedup = 1, .beyond = 1},
                                          {.n = 2, .time_s = 1, .speedup = 2, .beyond = 1}};
    struct hm_fit fit = {.source = "runs.csv",
                         .level = 0.9,
                         .run_count = 1,
                         .terms = terms,
                         .term_count = 1,
                         .residuals = residuals,
                         .residual_count = 1,
                         .notes = long_notes,
                         .note_count = 2};

    return hm_fit_render(&fit, predictions, 2, format, style, ret_text, err);
}

static int render_design(enum hm_format format, const struct hm_style *style, char **ret_text,
                         struct hm_err *err)
{
    struct hm_chosen chosen[] = {{.n = 2, .size = NAN, .cost = 1, .share = 0.5, .made = true}};
    struct hm_design design = {.chosen = chosen,
                               .chosen_count = 1,
                               .made_count = 1,
                               .candidates = 4,
                               .notes = long_notes,
                               .note_count = 2};

    return hm_design_render(&design, format, style, ret_text, err);
}

static int render_recommendation(enum hm_format format, const struct hm_style *style,
                                 char **ret_text, struct hm_err *err)
{
    struct hm_recommended candidates[] = {{.n = 2, .time_s = 1, .feasible = true}};
    struct hm_recommendation recommendation = {.goal = HM_GOAL_TIME,
                                               .level = 0.9,
                                               .candidates = candidates,
                                               .candidate_count = 1,
                                               .notes = long_notes,
                                               .note_count = 2};

    return hm_recommendation_render(&recommendation, format, style, ret_text, err);
}

static int render_convergence(enum hm_format format, const struct hm_style *style, char **ret_text,
                              struct hm_err *err)
{
    static struct sample sample;

    return hm_convergence_render(sample_convergence(&sample), NULL, format, style, ret_text, err);
}

static int render_advice(enum hm_format format, const struct hm_style *style, char **ret_text,
                         struct hm_err *err)
{
    static struct sample_advice sample;

    return hm_advice_render(sample_advice(&sample), format, style, ret_text, err);
}

static int render_stored(enum hm_format format, const struct hm_style *style, char **ret_text,
                         struct hm_err *err)
{
    struct hm_stored run = {.id = 7, .n = 4};
    struct hm_text out = {0};

    (void)format;
    hm__render_stored_table(&out, &run, 1, style);
    return hm__text_take(&out, ret_text, err);
}

static const render_sample samples[] = {render_answer,         render_fit,         render_design,
                                        render_recommendation, render_convergence, render_advice,
                                        render_stored};

static char *render(size_t sample, enum hm_format format, const struct hm_style *style)
{
    struct hm_err err = {0};
    char *text = NULL;

    if (samples[sample](format, style, &text, &err))
        fail_msg("sample %zu, format %d: %s", sample, format, err.message);
    return text;
}

static void defaults_are_plain_text_of_80_columns(void **state)
{
    static const struct hm_style zero, plain = {.width = 80};

    (void)state;
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
        for (enum hm_format format = HM_FORMAT_TEXT; format <= HM_FORMAT_CSV; format++) {
            char *wanted = render(i, format, &plain);
            char *with_null = render(i, format, NULL), *with_zero = render(i, format, &zero);
            assert_true(*wanted);
            assert_string_equal(with_null, wanted);
            assert_string_equal(with_zero, wanted);
            hm_text_free(wanted);
            hm_text_free(with_null);
            hm_text_free(with_zero);
        }
}

static void plots_need_a_file(void **state)
{
    static const struct hm_style zero;

    (void)state;
    for (size_t i = 0; i < 6; i++) {
        struct hm_err err = {0};
        char *text = NULL;
        if (samples[i] == render_design) /* A design can be rendered only as text and JSON. */
            continue;
        assert_int_equal(samples[i](HM_FORMAT_GNUPLOT, NULL, &text, &err), HM_E_UNSUPPORTED);
        assert_int_equal(samples[i](HM_FORMAT_GNUPLOT, &zero, &text, &err), HM_E_UNSUPPORTED);
        assert_null(text);
    }
}

/* Only the first note must have the label, and long notes must continue in their column. */
static void notes_have_one_label(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        char *text = render(i, HM_FORMAT_TEXT, NULL);
        assert_non_null(strstr(text, "  note         a note that is so long that it does not fit "
                                     "on one line of eighty\n"
                                     "               columns, whatever the label\n"
                                     "               a second note\n"));
        hm_text_free(text);
    }
}

/* Results that are all zero must be rendered, or refused with an error code, in every format. */
static void empty_results_are_rendered(void **state)
{
    static const struct hm_style full = {
        .colour = true, .unicode = true, .table = true, .chart = true, .file = "plot.svg"};
    static const struct hm_answer answer;
    static const struct hm_fit fit;
    static const struct hm_design design;
    static const struct hm_recommendation recommendation;
    static const struct hm_convergence convergence;
    static const struct hm_advice advice;

    (void)state;
    for (enum hm_format format = HM_FORMAT_TEXT; format <= HM_FORMAT_GNUPLOT; format++) {
        char *texts[6] = {0};
        int codes[] = {
            hm_answer_render(&answer, format, &full, &texts[0], NULL),
            hm_fit_render(&fit, NULL, 0, format, &full, &texts[1], NULL),
            hm_design_render(&design, format, &full, &texts[2], NULL),
            hm_recommendation_render(&recommendation, format, &full, &texts[3], NULL),
            hm_convergence_render(&convergence, NULL, format, &full, &texts[4], NULL),
            hm_advice_render(&advice, format, &full, &texts[5], NULL),
        };
        for (size_t i = 0; i < 6; i++) {
            assert_true(texts[i] ? codes[i] == 0 : codes[i] < 0);
            assert_true(!texts[i] || !strstr(texts[i], "(null)"));
            hm_text_free(texts[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_plain_text_of_80_columns),
        cmocka_unit_test(plots_need_a_file),
        cmocka_unit_test(notes_have_one_label),
        cmocka_unit_test(empty_results_are_rendered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
