/*
 * Tests the loss curve g of the traces in examples/mnist-traces.csv.gz. The results are compared
 * with scikit-learn and scipy (tools/oracle/converge.py): points, the cross-validated path,
 * coefficients, the forms, P*, errors on held-out m and on later losses, and upper bounds of these
 * errors.
 *
 * Results of the Lasso must agree to 1e-6, the tolerance of its solver. Forms are fitted by least
 * squares, whose minimum may be flat, so each form has its own tolerance.
 */
#include "testing.h"

#include "converge.h"

enum { PENALTIES = 60, ALGORITHMS = 6, VALUES = 64 };

static const char *const names[ALGORITHMS] = {"cocoa",     "cocoa+", "splash",
                                              "local-sgd", "lbfgs",  "gd"};

static struct hm_traces *traces;
static struct hm_convergence *convergence;
static struct hm_holdout *holdout;
static double best;

/* ---- the table --------------------------------------------------------------------------------
 */

/* A line of the table of expected values: its words, and the numbers after the words. */
struct line {
    char word[32];
    size_t count;
    double values[VALUES];
};

/*
 * Finds the nth line for a key and an algorithm ("" for lines before the first algorithm). Returns
 * false if there is none.
 */
static bool find(const char *algorithm, const char *key, size_t nth, struct line *ret)
{
    static char text[8192];
    FILE *file = open_source("tests/data/converge.tsv");
    char section[32] = "";
    bool found = false;

    while (!found && next_line(file, text, sizeof(text))) {
        char word[32];
        int used = 0;
        assert_int_equal(sscanf(text, "%31s%n", word, &used), 1);
        if (strcmp(word, "algorithm") == 0)
            assert_int_equal(sscanf(text + used, "%31s", section), 1);
        if (strcmp(section, algorithm) != 0 || strcmp(word, key) != 0 || nth-- > 0)
            continue;
        found = true;
        ret->count = 0;
        ret->word[0] = '\0';
        for (char *at = text + used, *end; *at; at = end) {
            double value = strtod(at, &end);
            int length = 0;
            if (end != at) {
                assert_true(ret->count < VALUES);
                ret->values[ret->count++] = value;
            } else if (sscanf(at, "%31s%n", ret->word, &length) == 1) {
                end = at + length;
            } else {
                break;
            }
        }
    }
    fclose(file);
    return found;
}

static struct line want(const char *algorithm, const char *key, size_t nth)
{
    struct line line;

    if (!find(algorithm, key, nth, &line))
        fail_msg("the table has no %s of %s", key, algorithm);
    return line;
}

/* ---- points and Lasso -------------------------------------------------------------------------
 */

struct work {
    struct hm_arena *arena;
    struct hm_g_data data;
};

static void gather(struct work *w, const char *algorithm)
{
    w->arena = hm__arena_new();
    assert_non_null(w->arena);
    assert_int_equal(hm__g_data_init(&w->data, w->arena, traces, algorithm, best, 0, NULL), 0);
}

static void points_are_thinned(void **state)
{
    (void)state;
    for (size_t a = 0; a < ALGORITHMS; a++) {
        struct work w;
        size_t p = 0;
        gather(&w, names[a]);
        struct line all = want(names[a], "algorithm", 0);
        assert_int_equal(w.data.curve_count, (size_t)all.values[0]);
        assert_int_equal(w.data.count, (size_t)all.values[1]);
        for (size_t c = 0; c < w.data.curve_count; c++) {
            struct line line = want(names[a], "thinned", c);
            double sum_i = 0, sum_y = 0, weight = 0;
            assert_near(w.data.curves[c].m, line.values[0], 0);
            assert_int_equal(w.data.curves[c].count, (size_t)line.values[2]);
            for (size_t k = 0; k < w.data.curves[c].count; k++, p++) {
                sum_i += w.data.i[p];
                sum_y += w.data.y[p];
                weight += w.data.weight[p];
                assert_int_equal(w.data.held[w.data.fold[p]], w.data.m[p] > 1);
            }
            assert_near(sum_i, line.values[3], 0);
            assert_near(sum_y, line.values[4], 1e-12);
            assert_near(weight, (double)w.data.m_count / (double)w.data.curve_count, 1e-12);
        }
        hm__arena_free(w.arena);
    }
}

/* Chooses a penalty from the rows in the same way as the library. */
static void choose(struct work *w, struct hm_lasso_choice *ret_choice)
{
    static struct hm_gram folds[HM_G_FOLDS];
    const struct hm_g_data *d = &w->data;
    struct hm_g_basis basis;
    double row[HM_LASSO_MAX];

    assert_int_equal(hm__g_basis_init(&basis, w->arena, NULL, 0, true, NULL), 0);
    double *x = hm__arena_alloc(w->arena, basis.count * d->count, sizeof(*x));
    assert_int_equal(hm__g_basis_eval(&basis, d->i, d->m, d->count, x, NULL), 0);
    for (size_t f = 0; f < d->fold_count; f++)
        hm__gram_init(&folds[f], basis.count);
    for (size_t p = 0; p < d->count; p++) {
        for (size_t k = 0; k < basis.count; k++)
            row[k] = x[k * d->count + p];
        hm__gram_add(&folds[d->fold[p]], row, d->y[p], d->weight[p]);
    }
    assert_int_equal(hm__lasso_choose(folds, d->held, d->fold_count, PENALTIES, 1e-4, 1e-8,
                                      ret_choice, NULL, NULL),
                     0);
}

static void penalties_are_cross_validated(void **state)
{
    (void)state;
    for (size_t a = 0; a < ALGORITHMS; a++) {
        struct hm_lasso_choice choice;
        struct work w;
        gather(&w, names[a]);
        choose(&w, &choice);
        struct line penalties = want(names[a], "penalties", 0), mean = want(names[a], "mean", 0);
        struct line error = want(names[a], "error", 0);
        assert_near(choice.penalties[0], penalties.values[0], 1e-9);
        assert_near(choice.penalties[PENALTIES - 1], 1e-4 * penalties.values[0], 1e-9);
        assert_int_equal(choice.chosen, (size_t)penalties.values[1]);
        assert_int_equal(choice.least, (size_t)penalties.values[2]);
        assert_int_equal(mean.count, PENALTIES);
        for (size_t p = 0; p < PENALTIES; p++) {
            assert_near(choice.mean[p], mean.values[p], 1e-6);
            assert_near(choice.mean[p] + choice.error[p], mean.values[p] + error.values[p], 1e-6);
        }
        hm__arena_free(w.arena);
    }
}

static void coefficients_are_those_of_the_chosen_penalty(void **state)
{
    struct hm_converge_settings settings = {0};

    (void)state;
    for (size_t a = 0; a < ALGORITHMS; a++) {
        struct hm_g_basis basis;
        struct hm_g g = {0};
        struct work w;
        double *held;
        size_t at = 1;
        gather(&w, names[a]);
        assert_int_equal(hm__g_fit_terms(&g, w.arena, &w.data, &settings, &held, NULL), 0);
        assert_int_equal(hm__g_basis_init(&basis, w.arena, NULL, 0, true, NULL), 0);
        struct line terms = want(names[a], "terms", 0);
        assert_int_equal(terms.count, 2 + basis.count);
        assert_near(g.error, terms.values[0], 1e-6);
        assert_near(g.parameters[0].value, terms.values[1], 1e-6);
        for (size_t k = 0; k < basis.count; k++) {
            double value = 0; /* Terms that occur neither in the fit nor in a draw are skipped. */
            if (at < g.parameter_count && strcmp(g.parameters[at].text, basis.texts[k]) == 0)
                value = g.parameters[at++].value;
            if (fabs(value - terms.values[2 + k]) > 1e-6 * fabs(terms.values[2 + k]))
                fail_msg("%s: %s is %.12g, not %.12g", names[a], basis.texts[k], value,
                         terms.values[2 + k]);
        }
        assert_int_equal(at, g.parameter_count);
        hm__arena_free(w.arena);
    }
}

/* ---- forms ------------------------------------------------------------------------------------
 */

/*
 * Sums of squares may exceed scipy's by 1e-4. Errors on held-out m must agree to 2 %, since the
 * other m determine some parameters badly.
 */
static void forms_are_least_squares(void **state)
{
    (void)state;
    for (size_t a = 0; a < ALGORITHMS; a++)
        for (size_t k = 0; k < 3; k++) {
            struct line line = want(names[a], "form", k);
            enum hm_g_form form = (enum hm_g_form)(HM_G_RATE + k);
            double theta[HM_G_SHAPE_MAX], squares = 0, *held;
            struct hm_g g = {0};
            struct work w;
            gather(&w, names[a]);
            assert_string_equal(hm_g_form_name(form), line.word);
            assert_int_equal(hm__g_fit_form(&g, w.arena, &w.data, form, &held, NULL), 0);
            for (size_t j = 0; j < g.parameter_count; j++)
                theta[j] = g.parameters[j].value;
            for (size_t p = 0; p < w.data.count; p++) {
                double y, log_i = log(w.data.i[p]);
                hm__g_form_values(form, theta, w.data.m[p], &w.data.i[p], &log_i, 1, &y);
                squares += w.data.weight[p] * (w.data.y[p] - y) * (w.data.y[p] - y);
            }
            if (!(squares <= line.values[1] * (1 + 1e-4)))
                fail_msg("%s, %s: squares %.9g, not %.9g", names[a], line.word, squares,
                         line.values[1]);
            if (!(fabs(g.error - line.values[0]) <= 0.02 * line.values[0]))
                fail_msg("%s, %s: error %.9g, not %.9g", names[a], line.word, g.error,
                         line.values[0]);
            hm__arena_free(w.arena);
        }
}

static void the_form_is_chosen_and_its_spreads_measured(void **state)
{
    (void)state;
    assert_int_equal(convergence->count, ALGORITHMS);
    for (size_t a = 0; a < ALGORITHMS; a++) {
        const struct hm_g *g = &convergence->algorithms[a];
        struct line chosen = want(names[a], "chosen", 0);
        assert_string_equal(g->algorithm, names[a]);
        assert_string_equal(hm_g_form_name(g->form), chosen.word);
        double tolerance = g->form == HM_G_TERMS ? 1e-6 : 0.02;
        for (size_t k = 0; k < g->m_count; k++) {
            struct line measured = want(names[a], "measured", k);
            assert_near(g->m[k], measured.values[0], 0);
            assert_near(g->spread[k], measured.values[1], tolerance);
            /* For the smallest m, the spread without the traces on this m is NaN. */
            assert_near(g->apart[k], measured.values[2], tolerance);
        }
    }
}

/* ---- P* -------------------------------------------------------------------------------------- */

static void the_least_loss_is_estimated(void **state)
{
    struct line line = want("", "best", 0);
    double found, low, high;

    (void)state;
    assert_int_equal(hm__g_best(traces, 0.9, 0, &found, &low, &high, NULL), 0);
    assert_near(
        found, line.values[0],
        1e-12); /* The tolerance is a relative 1e-8 of the distance of P* below the least loss. */
    assert_true(low <= found && found <= high);
    assert_true(fabs(found - best) < 1e-5); /* P - P* of the best trace is 2.4e-5. */
}

/* ---- held out, ahead --------------------------------------------------------------------------
 */

static void each_m_is_predicted_by_the_others(void **state)
{
    (void)state;
    assert_int_equal(holdout->count, ALGORITHMS);
    for (size_t a = 0; a < ALGORITHMS; a++) {
        const struct hm_g_holdout *h = &holdout->algorithms[a];
        assert_string_equal(h->algorithm, names[a]);
        assert_int_equal(h->left_out_count, 8);
        for (size_t k = 0; k < 8; k++) {
            struct line line = want(names[a], "left_out", k);
            const struct hm_g_error *e = &h->left_out[k];
            double tolerance = strcmp(line.word, "terms") == 0 ? 1e-6 : 0.02;
            assert_near(e->m, line.values[0], 0);
            assert_int_equal(e->points, (size_t)line.values[1]);
            assert_near(e->median, line.values[2], tolerance);
            assert_near(e->rms, line.values[3], tolerance);
            assert_int_equal(e->inside, k > 0 && k < 7);
        }
        assert_near(h->inside, want(names[a], "inside", 0).values[0], 1e-3);
        assert_near(h->outside, h->left_out[7].median, 0);
    }
}

/* The windows of a nearly constant trace are ill-conditioned: their errors, which are about 1e-5,
 * must agree to 1e-8; all other errors must agree to a relative 1e-4. */
static void losses_ahead_are_predicted(void **state)
{
    (void)state;
    for (size_t a = 0; a < ALGORITHMS; a++) {
        const struct hm_g_holdout *h = &holdout->algorithms[a];
        struct line line;
        for (size_t k = 0; k < h->ahead_count; k++) {
            line = want(names[a], "ahead", k);
            const struct hm_g_ahead *e = &h->ahead[k];
            assert_near(e->m, line.values[0], 0);
            assert_int_equal(e->points, (size_t)line.values[1]);
            if (fabs(e->median - line.values[2]) > 1e-8)
                assert_near(e->median, line.values[2], 1e-4);
            if (fabs(e->rms - line.values[3]) > 1e-8)
                assert_near(e->rms, line.values[3], 1e-4);
        }
        assert_false(find(names[a], "ahead", h->ahead_count, &line));
        if (find(names[a], "ahead_median", 0, &line))
            assert_near(h->ahead_median, line.values[0], 1e-3);
        else
            assert_true(isnan(h->ahead_median));
    }
}

/* These are the figures that the documentation gives for these traces. */
static void predictions_are_good_enough(void **state)
{
    (void)state;
    for (size_t a = 0; a < ALGORITHMS; a++) {
        const struct hm_g_holdout *h = &holdout->algorithms[a];
        if (!(h->inside < 0.15))
            fail_msg("%s: an m inside is off by %g", names[a], h->inside);
        if (!(h->outside < 0.3))
            fail_msg("%s: 128 from 1..64 is off by %g", names[a], h->outside);
        if (h->ahead_count > 0 && !(h->ahead_median < 0.1))
            fail_msg("%s: 10 ahead is off by %g", names[a], h->ahead_median);
    }
}

/* ---- all ------------------------------------------------------------------------------------- */

static int load(void **state)
{
    struct hm_holdout_settings settings = {.ahead = 10, .window = 50};
    char path[1024];
    const char *root = getenv("HM_SOURCE"), *paths[] = {path};
    struct hm_err err = {0};

    (void)state;
    snprintf(path, sizeof(path), "%s/examples/mnist-traces.csv.gz", root ? root : ".");
    if (hm_traces_load(paths, 1, NULL, &traces, &err) ||
        hm_convergence_new(traces, NULL, &convergence, &err) ||
        hm_convergence_hold_out(traces, &settings, &holdout, &err)) {
        print_error("%s\n", err.message);
        return -1;
    }
    best = convergence->best;
    return 0;
}

static int unload(void **state)
{
    (void)state;
    hm_holdout_free(holdout);
    hm_convergence_free(convergence);
    hm_traces_free(traces);
    return 0;
}

/* Without zlib the traces cannot be read. */
static void nothing_to_read(void **state)
{
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_are_thinned),
        cmocka_unit_test(penalties_are_cross_validated),
        cmocka_unit_test(coefficients_are_those_of_the_chosen_penalty),
        cmocka_unit_test(forms_are_least_squares),
        cmocka_unit_test(the_form_is_chosen_and_its_spreads_measured),
        cmocka_unit_test(the_least_loss_is_estimated),
        cmocka_unit_test(each_m_is_predicted_by_the_others),
        cmocka_unit_test(losses_ahead_are_predicted),
        cmocka_unit_test(predictions_are_good_enough),
    };
    const struct CMUnitTest none[] = {cmocka_unit_test(nothing_to_read)};
    const char *zlib = getenv("HM_ZLIB");

    if (zlib && strcmp(zlib, "0") == 0)
        return cmocka_run_group_tests(none, NULL, NULL);
    return cmocka_run_group_tests(tests, load, unload);
}
