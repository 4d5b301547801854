/*
 * Tests what a fit reports besides its coefficients: sets of terms and their leave-one-out errors,
 * notes on the runs, and scaled specification sheets; and what a design reports. The references fit
 * each set again.
 */
#include "runs_testing.h"

#include "linear.h"

static const char *find_note(const struct hm_fit *fit, const char *text)
{
    for (size_t i = 0; i < fit->note_count; i++)
        if (strstr(fit->notes[i], text))
            return fit->notes[i];
    return NULL;
}

/* ---- sets of terms --------------------------------------------------------------------------- */

static double term_at(const char *term, size_t length, double n)
{
    static const struct {
        const char *text;
        double power;
    } powers[] = {{"1/n", -1}, {"1", 0}, {"sqrt(n)", 0.5}, {"n", 1}};

    if (length == 5 && strncmp(term, "ln(n)", 5) == 0)
        return log(n);
    if (length == 7 && strncmp(term, "n*ln(n)", 7) == 0)
        return n * log(n);
    for (size_t i = 0; i < 4; i++)
        if (strlen(powers[i].text) == length && strncmp(term, powers[i].text, length) == 0)
            return pow(n, powers[i].power);
    fail_msg("unknown term '%.*s'", (int)length, term);
    return NAN;
}

/* Writes the row of the design matrix for a set of terms such as "1 + ln(n)" at n, divided by the
 * seconds. Returns the number of terms. */
static size_t set_row(const char *set, double n, double seconds, double *row)
{
    size_t count = 0;

    for (const char *at = set;; at += 3) {
        const char *end = strstr(at, " + ");
        size_t length = end ? (size_t)(end - at) : strlen(at);
        row[count++] = term_at(at, length, n) / seconds;
        at += length;
        if (!end)
            break;
    }
    row[count] = 1;
    return count;
}

/* Returns the root mean square of the relative leave-one-out errors of a set. */
static double left_out_error(const char *set, const double *n, const double *seconds, size_t count)
{
    double sum = 0;

    for (size_t left = 0; left < count; left++) {
        double row[HM_LSQ_SIDE], theta[HM_TERMS_MAX], rest = 1;
        struct hm_lsq lsq;
        size_t terms = set_row(set, 1, 1, row);
        hm__lsq_init(&lsq, terms);
        for (size_t i = 0; i < count; i++) {
            set_row(set, n[i], seconds[i], row);
            if (i != left)
                hm__lsq_add(&lsq, row);
        }
        hm__lsq_nonnegative(&lsq, theta);
        set_row(set, n[left], seconds[left], row);
        for (size_t k = 0; k < terms; k++)
            rest -= row[k] * theta[k];
        sum += rest * rest;
    }
    return sqrt(sum / (double)count);
}

static void sets_have_their_left_out_errors(void **state)
{
    const double n[] = {1, 2, 3, 4, 6, 8, 12, 16};
    double seconds[8];

    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        struct hm_fit_settings settings = {.errors = HM_ERRORS_RELATIVE};
        struct hm_runs *runs = NULL;
        struct hm_fit *fit = NULL;
        double weights = 0;
        for (int i = 0; i < 8; i++) /* The runs deviate by up to 3 %; those of the last kind also
                                       have a term that grows steeply with n. */
            seconds[i] = (20 / n[i] + 1 + (kind ? 0.8 * log(n[i]) : 0) + (kind == 2 ? n[i] : 0)) *
                         (1 + 0.01 * ((i * 5) % 7 - 3));
        assert_int_equal(hm_runs_new(n, seconds, 8, NULL, 0, &runs, NULL), 0);
        assert_int_equal(hm_fit_new(runs, &settings, &fit, NULL), 0);
        assert_true(fit->alternative_count > 2);
        for (size_t k = 0; k < fit->alternative_count; k++) {
            const struct hm_alternative *a = &fit->alternatives[k];
            assert_near(a->left_out_error, left_out_error(a->text, n, seconds, 8), 1e-6);
            if (k > 0)
                assert_true(a->left_out_error >= fit->alternatives[k - 1].left_out_error);
            weights += a->weight;
            /* Every set has a term for the shared work, 1/n or 1, unless it is a single term that
             * grows steeply with n. */
            assert_true(a->text[0] == '1' || !strstr(a->text, " + "));
        }
        assert_true(weights > 0 && weights < 1 + 1e-9);
        hm_fit_free(fit);
        hm_runs_free(runs);
    }
}

/*
 * Repeats that differ by 0.1 % rule out sets of terms whose errors exceed 2 %: times of 20/n + 1 +
 * 2 ln(n) cannot be described without a term that grows.
 */
static void repeats_rule_out_sets(void **state)
{
    char table[2000] = "n,seconds\n";

    (void)state;
    for (int n = 1; n <= 32; n *= 2)
        for (int k = -1; k <= 1; k++)
            snprintf(table + strlen(table), sizeof(table) - strlen(table), "%d,%.12g\n", n,
                     (20. / n + 1 + 2 * log(n)) * (1 + 0.001 * k));
    struct hm_fit *fit = fit_with(table, NULL);
    for (size_t i = 0; i < fit->alternative_count; i++)
        if (!strstr(fit->alternatives[i].text, "n)"))
            fail_msg("%s", fit->alternatives[i].text);
    assert_string_equal(fit->alternatives[0].text, "1/n + 1 + ln(n)");
    assert_near(fit->terms[0].value, 20, 0.01);
    assert_near(fit->terms[2].value, 2, 0.01);
    hm_fit_free(fit);
}

/* Terms that decrease with n describe the work that is shared among workers. */
static void terms_that_fall(void **state)
{
    static const char *const terms[] = {"1", "1/n", "ln(n)", "size/n"};
    const struct hm_fit_settings settings = {.terms = terms, .term_count = 4};
    struct hm_fit *fit = fit_with("n,size,seconds\n1,1,9\n2,1,6\n4,1,5\n8,2,6\n16,2,6.1\n32,1,5.4\n"
                                  "2,2,9\n4,3,8\n",
                                  &settings);

    (void)state;
    assert_int_equal(fit->term_count, 4);
    for (size_t k = 0; k < 4; k++)
        assert_int_equal(fit->terms[k].falls, k == 1 || k == 3);
    assert_false(fit->weak);
    hm_fit_free(fit);
    /* With weak scaling, the constant term is the work. */
    fit = fit_with("n,size,seconds\n1,1,9\n2,2,9.2\n4,4,9.3\n8,8,9.6\n16,16,9.8\n", NULL);
    assert_true(fit->weak);
    for (size_t k = 0; k < fit->term_count; k++)
        assert_int_equal(fit->terms[k].falls, strcmp(fit->terms[k].text, "1") == 0);
    hm_fit_free(fit);
}

/* Without repeats, terms that are given have equal errors in seconds; terms that are chosen have
 * relative errors. */
static void errors_have_a_default(void **state)
{
    static const char *const terms[] = {"1/n", "1"};
    static const char table[] = "n,seconds\n1,9\n2,5\n4,3\n8,2.2\n16,1.5\n";

    (void)state;
    for (size_t count = 0; count <= 2; count++) {
        const struct hm_fit_settings settings = {.terms = count ? terms : NULL,
                                                 .term_count = count};
        struct hm_fit *fit = fit_with(table, &settings);
        assert_int_equal(fit->errors, count ? HM_ERRORS_EQUAL : HM_ERRORS_RELATIVE);
        hm_fit_free(fit);
    }
}

/* ---- notes ----------------------------------------------------------------------------------- */

/*
 * Two repeats differ by 0.02 s; the errors of a fit of 1 and 1/n to runs of 1/n + ln(n) are larger.
 */
static void missing_terms_are_noted(void **state)
{
    static const char table[] = "n,seconds\n1,10.01\n1,9.99\n2,5.70\n2,5.68\n4,3.90\n4,3.88\n"
                                "8,3.34\n8,3.32\n16,3.41\n16,3.39\n";
    static const char *const few[] = {"1", "1/n"}, *const all[] = {"1", "1/n", "ln(n)"};
    struct hm_fit_settings settings = {.terms = few, .term_count = 2, .errors = HM_ERRORS_EQUAL};
    struct hm_fit *fit = fit_with(table, &settings);

    (void)state;
    assert_non_null(find_note(fit, "times the spread of the repeats: a term is missing"));
    hm_fit_free(fit);
    settings.terms = all;
    settings.term_count = 3;
    fit = fit_with(table, &settings);
    assert_null(find_note(fit, "a term is missing"));
    hm_fit_free(fit);
}

/* Between 100 and 102 workers, 1/n and n are nearly proportional to each other and to 1. */
static void similar_terms_are_noted(void **state)
{
    static const char *const terms[] = {"1/n", "n"};
    struct hm_fit_settings settings = {.terms = terms, .term_count = 2};
    struct hm_fit *fit = fit_with("n,seconds\n100,9\n101,9.1\n102,9.2\n100,9.02\n", &settings);

    (void)state;
    assert_non_null(find_note(fit, "these runs can hardly distinguish 1/n from n: add a run at"));
    assert_null(find_note(fit, "from 1/n"));
    hm_fit_free(fit);
    fit = fit_with("n,seconds\n1,9\n2,5\n4,4\n8,4.5\n16,8\n", &settings);
    assert_null(find_note(fit, "distinguish"));
    hm_fit_free(fit);
}

static void wrong_predictions_are_refused(void **state)
{
    struct hm_fit *fit = fit_with("n,seconds\n1,9\n2,5\n4,4\n8,4.5\n16,8\n", NULL);
    struct hm_prediction p[2];
    struct hm_err err = {0};
    const double n[] = {2, 4};

    (void)state;
    assert_true(hm_fit_predict(fit, NULL, 0, NULL, 2, p, &err) < 0);
    assert_true(hm_fit_predict(fit, NULL, 1, n, 2, p, &err) < 0);
    assert_true(hm_fit_predict(fit, NULL, 0, n, 2, NULL, &err) < 0);
    assert_true(hm_fit_predict(NULL, NULL, 0, n, 2, p, &err) < 0);
    assert_int_equal(hm_fit_predict(fit, NULL, 0, NULL, 0, p, NULL), 0);
    assert_int_equal(hm_fit_predict(fit, NULL, 0, n, 2, p, NULL), 0);
    hm_fit_free(fit);
}

/* ---- specification sheets -------------------------------------------------------------------- */

static const char sheet_text[] = "compute: 8 s / n\ncommunicate: 0.5 s * log2(n)\n";

static double sheet_s(double n, double size)
{
    return 8 * size / n + 0.5 * log2(n);
}

/* Fits runs of several sizes, in any order, that take `times` times as long as the specification
 * sheet predicts. */
static struct hm_fit *fit_sheet(const struct hm_job *job, double times)
{
    const struct hm_fit_settings settings = {.job = job};
    const double n[] = {1, 1, 2, 2, 4, 4, 8, 8}, size[] = {1, 2, 2, 1, 1, 2, 1, 0.5};
    char table[400] = "n,size,seconds\n";

    for (int i = 0; i < 8; i++)
        snprintf(table + strlen(table), sizeof(table) - strlen(table), "%g,%g,%.15g\n", n[i],
                 size[i], times * sheet_s(n[i], size[i]));
    return fit_with(table, &settings);
}

static void sheets_are_scaled_as_a_whole(void **state)
{
    const double times[] = {1, 1.9, 0.55, 3, 0.25}, n[] = {16};
    const struct hm_at at = {"size", 2};
    struct hm_job *job = parse_job(sheet_text);

    (void)state;
    for (size_t k = 0; k < 5; k++) {
        struct hm_fit *fit = fit_sheet(job, times[k]);
        const char *note = find_note(fit, "so the whole sheet is scaled");
        struct hm_prediction p;
        assert_int_equal(note != NULL, k >= 3);
        if (k == 3)
            assert_non_null(strstr(note, "the runs take 3 times as long"));
        if (k == 4)
            assert_non_null(strstr(note, "the runs take 0.25 times as long"));
        for (size_t i = 0; i < fit->residual_count; i++)
            assert_near(fit->residuals[i].fitted_s, fit->residuals[i].seconds, 0.03);
        assert_int_equal(hm_fit_predict(fit, &at, 1, n, 1, &p, NULL), 0);
        assert_near(p.time_s, times[k] * sheet_s(16, 2), 0.1);
        assert_int_equal(fit->terms[0].part, 1);
        assert_true(fit->terms[0].falls && !fit->terms[1].falls);
        hm_fit_free(fit);
    }
    hm_job_free(job);
}

/* ---- designs --------------------------------------------------------------------------------- */

static void designs_name_what_is_wrong(void **state)
{
    static const char *const terms[] = {"1/n", "1", "2/n"};
    const double ns[] = {1, 2, 4}, sizes[] = {1, 2};
    const struct hm_axis axes[] = {{"n", ns, 3}, {"size", sizes, 2}};
    struct hm_design_settings settings = {.terms = terms, .term_count = 3};
    struct hm_runs *candidates = NULL, *have = parse_runs("n,size,seconds\n1,1,9\n2,1,5\n4,2,7\n");
    struct hm_design *design = NULL;
    struct hm_err err = {0};

    (void)state;
    assert_int_equal(hm_runs_cross(axes, 1, &candidates, NULL), 0);
    assert_int_equal(hm_design_new(candidates, &settings, &design, &err), HM_E_RANGE);
    assert_string_equal(err.message,
                        "3 candidates cannot distinguish the term 2/n from the others");
    err = (struct hm_err){0};
    settings.term_count = 2;
    settings.have = have; /* The third run has size 2. */
    assert_int_equal(hm_design_new(candidates, &settings, &design, &err), HM_E_CONFLICT);
    assert_string_equal(err.message, "a run of size 2, but the candidates have no size");
    assert_string_equal(err.source, "runs.csv");
    assert_int_equal(err.line, 4);
    assert_int_equal(hm_runs_where(have, "size=1", NULL), 0);
    assert_int_equal(hm_design_new(candidates, &settings, &design, NULL), 0);
    assert_true(isfinite(design->before));
    hm_design_free(design);
    hm_runs_free(candidates);
    hm_runs_free(have);
}

/* Each run costs 1. A budget of 2 pays for the smallest and the largest n; with `fill`, the rest of
 * a larger budget is spent too. */
static void budgets_are_spent(void **state)
{
    static const char *const terms[] = {"1/n", "1"};
    const double ns[] = {1, 2, 3, 4, 5, 6};
    const struct hm_axis axis = {"n", ns, 6};
    struct hm_runs *candidates = NULL;

    (void)state;
    assert_int_equal(hm_runs_cross(&axis, 1, &candidates, NULL), 0);
    for (int budget = 2; budget <= 6; budget++)
        for (int fill = 0; fill < 2; fill++) {
            const struct hm_design_settings settings = {
                .terms = terms, .term_count = 2, .cost = "1", .budget = budget, .fill = fill};
            struct hm_design *design = NULL;
            struct hm_err err = {0};
            if (hm_design_new(candidates, &settings, &design, &err))
                fail_msg("%s", err.message);
            assert_near(design->spent, (double)design->made_count, 1e-12);
            assert_true(design->spent <= budget + 1e-9);
            if (fill)
                assert_int_equal(design->made_count, budget);
            bool made[7] = {false};
            for (size_t i = 0; i < design->made_count; i++)
                made[(int)design->chosen[i].n] = true;
            assert_true(made[1] && made[6]);
            assert_near(design->chosen[design->made_count - 1].after, design->rounded, 1e-9);
            hm_design_free(design);
        }
    hm_runs_free(candidates);
}

/* 5 to 8 workers need two nodes of 4 accelerators; a step takes 8 s / n. */
static void runs_cost_their_nodes(void **state)
{
    struct hm_job *job = parse_job("compute: 8 s / n\ncommunicate: none\ncluster: {price: $3600/h, "
                                   "accelerators: 4, link: {bandwidth: 1 GB/s}, fabric: 10gbe}\n");
    const double ns[] = {1, 4, 5, 8};
    const struct hm_axis axis = {"n", ns, 4};
    const struct hm_design_settings settings = {.job = job};
    struct hm_runs *candidates = NULL;
    struct hm_design *design = NULL;
    const double nodes[] = {1, 1, 2, 2};
    double sum = 0;

    (void)state;
    assert_int_equal(hm_runs_cross(&axis, 1, &candidates, NULL), 0);
    struct hm_err err = {0};
    if (hm_design_new(candidates, &settings, &design, &err))
        fail_msg("%s", err.message);
    assert_int_equal(design->made_count, 4); /* Without a budget, every run is made. */
    for (size_t i = 0; i < design->chosen_count; i++) {
        size_t row = design->chosen[i].row;
        assert_near(design->chosen[i].time_s, 8 / ns[row], 1e-12);
        assert_near(design->chosen[i].cost, 8 / ns[row] * nodes[row], 1e-12);
        sum += 8 / ns[row] * nodes[row];
    }
    assert_near(design->spent, sum, 1e-12);
    assert_near(design->seconds, sum, 1e-12);
    assert_near(design->money, sum, 1e-12);
    hm_design_free(design);
    hm_runs_free(candidates);
    hm_job_free(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_have_their_left_out_errors),
        cmocka_unit_test(repeats_rule_out_sets),
        cmocka_unit_test(terms_that_fall),
        cmocka_unit_test(errors_have_a_default),
        cmocka_unit_test(missing_terms_are_noted),
        cmocka_unit_test(similar_terms_are_noted),
        cmocka_unit_test(wrong_predictions_are_refused),
        cmocka_unit_test(sheets_are_scaled_as_a_whole),
        cmocka_unit_test(designs_name_what_is_wrong),
        cmocka_unit_test(budgets_are_spent),
        cmocka_unit_test(runs_cost_their_nodes),
    };
    return cmocka_run_group_tests_name("edges_notes", tests, NULL, NULL);
}
