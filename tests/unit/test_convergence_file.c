/* Tests that a stored convergence can be written, read and written again, and that invalid files
 * are refused with a message. */
#include "advise_samples.h"

#include "memory.h"
#include "random.h"

static char *store(const struct hm_convergence *c)
{
    struct hm_style style = {.table = true, .width = 80};
    struct hm_err err = {0};
    char *text = NULL;

    if (hm_convergence_render(c, NULL, HM_FORMAT_JSON, &style, &text, &err))
        fail_msg("%s", err.message);
    return text;
}

static struct hm_convergence *parse(const char *text)
{
    struct hm_convergence *c = NULL;
    struct hm_err err = {0};

    if (hm_convergence_parse(text, strlen(text), "g.json", &c, &err))
        fail_msg("%s:%d: %s: %s", err.source, err.line, err.field, err.message);
    return c;
}

static void written_files_are_read_back(void **state)
{
    static struct sample s;
    const struct hm_convergence *a = sample_convergence(&s);
    char *text = store(a);
    struct hm_convergence *b = parse(text);
    char *again = store(b);

    (void)state;
    assert_string_equal(text, again);
    assert_string_equal(b->algorithms[0].algorithm, SAMPLE_NAME);
    assert_int_equal(b->algorithms[1].form, HM_G_RATE);
    assert_int_equal(b->algorithms[0].draw_count, SAMPLE_DRAWS);
    assert_near(b->algorithms[0].parameters[1].value, a->algorithms[0].parameters[1].value, 0);
    assert_true(isnan(b->algorithms[0].apart[1]));
    assert_true(isnan(b->algorithms[1].parameters[3].low));
    assert_true(b->algorithms[0].curves[2].diverged);
    assert_near(b->algorithms[1].curves[1].loss[5], s.loss[1][1][5], 0);
    assert_null(b->paces->paces[0].algorithm);
    assert_near(b->paces->paces[1].seconds[2], s.seconds[1][2], 0);
    assert_true(isnan(b->paces->paces[0].noise));
    hm_text_free(again);
    hm_text_free(text);
    hm_convergence_free(b);
}

/* ---- staleness ------------------------------------------------------------------------------- */

static const struct hm_convergence *stale_sample(struct sample *s)
{
    static double draws[2 * SAMPLE_DRAWS * HM_STALE_PARAMETERS];
    static struct hm_stale_cost costs[] = {{1, 4, 1.25, 1.2, 1.3}, {3, 4, 1.5, NAN, NAN}};
    static struct hm_stale_cost async[] = {{INFINITY, 4, 0.9, 0.85, 0.95}};
    const struct hm_convergence *c = sample_convergence(s);

    for (size_t i = 0; i < sizeof(draws) / sizeof(draws[0]); i++)
        draws[i] = 0.1 / (double)(i + 3);
    s->algorithms[0].ssp = (struct hm_g_stale){.traces = 4,
                                               .level = 0.1,
                                               .growth = 0.02,
                                               .power = 0.3,
                                               .exponent = 2,
                                               .draws = draws,
                                               .draw_count = SAMPLE_DRAWS,
                                               .error = 0.01,
                                               .without = 0.2,
                                               .held_out = 0.015,
                                               .costs = costs,
                                               .cost_count = 2};
    s->algorithms[0].async = (struct hm_g_stale){.traces = 2,
                                                 .level = -0.1,
                                                 .exponent = 1,
                                                 .error = 0.02,
                                                 .without = 0.1,
                                                 .held_out = NAN,
                                                 .costs = async,
                                                 .cost_count = 1};
    return c;
}

static void staleness_reads_back(void **state)
{
    static struct sample s;
    char *text = store(stale_sample(&s));
    struct hm_convergence *b = parse(text);
    char *again = store(b);
    const struct hm_g_stale *ssp = &b->algorithms[0].ssp, *async = &b->algorithms[0].async;

    (void)state;
    assert_string_equal(text, again);
    assert_int_equal(ssp->traces, 4);
    assert_near(ssp->growth, 0.02, 0);
    assert_near(ssp->exponent, 2, 0);
    assert_int_equal(ssp->draw_count, SAMPLE_DRAWS);
    assert_near(ssp->costs[1].staleness, 3, 0);
    assert_near(ssp->costs[0].high, 1.3, 0);
    assert_true(isnan(ssp->costs[1].low));
    assert_int_equal(async->draw_count, 0);
    assert_true(isinf(async->costs[0].staleness) && isnan(async->held_out));
    assert_int_equal(b->algorithms[1].ssp.traces, 0); /* The file has no cost of staleness here. */
    hm_text_free(again);
    hm_text_free(text);
    hm_convergence_free(b);
}

static const struct hm_convergence *sized_sample(struct sample *s)
{
    const struct hm_convergence *c = sample_convergence(s);

    s->convergence.rows = 60000;
    s->algorithms[0].size = (struct hm_g_size){.count = 3,
                                               .least = 600,
                                               .most = 12000,
                                               .known = true,
                                               .power = -0.4,
                                               .scale = 0.25,
                                               .held_out = NAN,
                                               .spread = 0.5,
                                               .shift = 0.125};
    return c;
}

static void dependence_on_rows_reads_back(void **state)
{
    static struct sample s;
    char *text = store(sized_sample(&s));
    struct hm_convergence *b = parse(text);
    char *again = store(b), *shift = strstr(text, ",\"shift\":0.125");
    const struct hm_g_size *size = &b->algorithms[0].size;

    (void)state;
    assert_string_equal(text, again);
    assert_true(size->count == 3 && size->known && isnan(size->held_out));
    assert_near(size->power, -0.4, 0);
    assert_near(size->spread, 0.5, 0);
    assert_near(size->shift, 0.125, 0);
    hm_convergence_free(b);
    /* Files of older versions have no shift; it is then 0. */
    assert_non_null(shift);
    memset(shift, ' ', strlen(",\"shift\":0.125"));
    b = parse(text);
    assert_near(b->algorithms[0].size.shift, 0, 0);
    hm_convergence_free(b);
    hm_text_free(again);
    hm_text_free(text);
}

/* The reader returns every double exactly, whatever its digits. */
static void every_number_reads_back(void **state)
{
    static struct sample s;
    struct hm_random random;

    (void)state;
    hm__random_init(&random, 7, 0);
    for (int round = 0; round < 100; round++) {
        sample_convergence(&s);
        for (size_t i = 0; i < SAMPLE_POINTS; i++)
            s.loss[0][0][i] = (hm__random_uniform(&random) - 0.5) *
                              pow(10, floor(600 * hm__random_uniform(&random)) - 300);
        char *text = store(&s.convergence);
        struct hm_convergence *b = parse(text);
        for (size_t i = 0; i < SAMPLE_POINTS; i++)
            assert_near(b->algorithms[0].curves[0].loss[i], s.loss[0][0][i], 0);
        hm_text_free(text);
        hm_convergence_free(b);
    }
}

/*
 * Replaces `piece` in the stored text by `by`, and checks the field and the message of the error.
 */
static void refuse_of(const struct hm_convergence *stored, const char *piece, const char *by,
                      const char *field, const char *message)
{
    char *text = store(stored), *at = strstr(text, piece);
    struct hm_convergence *c = NULL;
    struct hm_err err = {0};

    if (!at)
        fail_msg("no '%s' in the text", piece);
    size_t before = (size_t)(at - text), size = strlen(text) + strlen(by) + 1;
    char *changed = malloc(size);
    snprintf(changed, size, "%.*s%s%s", (int)before, text, by, at + strlen(piece));
    assert_int_not_equal(hm_convergence_parse(changed, strlen(changed), "g.json", &c, &err), 0);
    assert_string_equal(err.field, field);
    assert_string_equal(err.message, message);
    assert_string_equal(err.source, "g.json");
    assert_true(err.line > 0);
    free(changed);
    hm_text_free(text);
}

static void refuse(const char *piece, const char *by, const char *field, const char *message)
{
    static struct sample s;

    refuse_of(sample_convergence(&s), piece, by, field, message);
}

static void refuse_stale(const char *piece, const char *by, const char *field, const char *message)
{
    static struct sample s;

    refuse_of(stale_sample(&s), piece, by, field, message);
}

static void errors_of_rows_are_named(void **state)
{
    static struct sample s;

    (void)state;
    refuse_of(sized_sample(&s), "\"shift\":0.125", "\"shift\":-1", "algorithms.0.size",
              "shift is -1; it must be from 0 to 20");
    refuse_of(sized_sample(&s), "\"shift\":0.125", "\"shift\":1e9", "algorithms.0.size",
              "shift is 1e+09; it must be from 0 to 20");
    refuse_of(sized_sample(&s), "\"least\":600", "\"least\":60000", "algorithms.0.size",
              "least 60000, most 12000 or spread 0.5 is out of range: 1 <= least <= most, and "
              "spread >= 0");
}

static void errors_of_staleness_are_named(void **state)
{
    (void)state;
    refuse_stale("\"staleness\":3", "\"staleness\":-3", "algorithms.0.ssp.costs.1.staleness",
                 "-3 is not above 0");
    refuse_stale("\"staleness\":3", "\"staleness\":\"much\"", "algorithms.0.ssp.costs.1.staleness",
                 "'much' is not a number");
    refuse_stale("\"staleness\":3", "\"staleness\":\"async\"", "algorithms.0.ssp",
                 "this cost belongs to async");
    refuse_stale("\"staleness\":\"async\"", "\"staleness\":1", "algorithms.0.async",
                 "this cost belongs to ssp");
    refuse_stale("\"factor\":1.25", "\"factor\":0", "algorithms.0.ssp.costs.0",
                 "the factor 0 is not above 0");
    refuse_stale("\"exponent\":2", "\"exponent\":3", "algorithms.0.ssp",
                 "the exponent 3 is not 1 or 2");
    refuse_stale("\"traces\":4", "\"traces\":0.5", "algorithms.0.ssp.traces",
                 "'0.5' is out of range");
    refuse_stale("\"growth\":0.02", "\"growth\":null", "algorithms.0.ssp.growth",
                 "an empty value is not allowed here");
    refuse_stale("\"power\":0.3,", "", "algorithms.0.ssp", "'power' is missing");
}

static void errors_are_named(void **state)
{
    (void)state;
    refuse("\"convergence\"", "\"plan\"", "", "not a stored convergence");
    refuse("\"version\":2", "\"version\":1", "version", "only version 2 can be read");
    refuse("\"level\":0.9", "\"level\":1", "level", "1 is not between 0 and 1");
    refuse("\"best_loss\":0.2", "\"best_loss\":0.3", "best_loss",
           "0.3 is not between best_loss_low and best_loss_high");
    refuse("\"best_loss\":0.2", "\"best_loss\":null", "best_loss",
           "an empty value is not allowed here");
    refuse("\"best_loss\":0.2", "\"best_loss\":1e999", "best_loss", "'1e999' is too large");
    refuse("\"best_loss\":0.2", "\"best_loss\":\"0.2\"", "best_loss", "'0.2' is not a number");
    refuse("\"unit\"", "\"units\"", "units", "unknown key 'units'");
    refuse("\"form\":\"rate\",\"t", "\"form\":\"rat\",\"t", "algorithms.1.form",
           "'rat' is not one of terms, rate, inverse, power");
    refuse("\"form\":\"rate\",\"t", "\"form\":\"inverse\",\"t", "algorithms.1.parameters",
           "the list has 4 entries, not 5");
    refuse("\"text\":\"1\"", "\"text\":\"i\"", "algorithms.0.parameters",
           "the first term is 'i', not 1");
    refuse("\"i/m\"", "\"i/k\"", "algorithms.0.parameters.1", "unknown name 'k' in 'i/k'");
    refuse("\"n\":[1,4,16]", "\"n\":[1,4,4]", "algorithms.0.n.2", "'4' is out of range");
    refuse("\"n\":[1,4,16]", "\"n\":[1,4.5,16]", "algorithms.0.n.1", "'4.5' is out of range");
    refuse("\"n\":[1,4,16]", "\"n\":[1,4,\"16\"]", "algorithms.0.n.2", "'16' is not a number");
    refuse("\"n\":[1,4,16]", "\"n\":[]", "algorithms.0", "n is empty");
    refuse("\"spread\":[0.01,", "\"spread\":[", "algorithms.0.spread",
           "the list has 2 entries, not 3");
    refuse("\"spread\":[0.01,", "\"spread\":[-1,", "algorithms.0.spread.0", "'-1' is out of range");
    refuse("\"iteration\":[1,2,", "\"iteration\":[2,2,", "algorithms.0.curves.0.iteration.1",
           "'2' is out of range");
    refuse("\"loss\":[", "\"loss\":[1,", "algorithms.0.curves.0.loss",
           "the list has 13 entries, not 12");
    refuse("\"draws\":[\n  [", "\"draws\":[\n  [1,", "algorithms.0.draws.0",
           "the list has 4 entries, not 3");
    refuse("\"algorithm\":\"cocoa+\"", "\"algorithm\":\"<b>&\\\"x\"", "algorithms",
           "'<b>&\"x' appears twice");
    refuse("\"1/n\"", "\"1/m\"", "paces.1.terms.1", "unknown name 'm' in '1/m'");
    refuse("\"seconds\":[", "\"seconds\":[0,", "paces.0.seconds", "the list has 4 entries, not 3");
    refuse("\"seconds\":[0.017,", "\"seconds\":[0,", "paces.0.seconds.0", "'0' is out of range");
    refuse("\"terms\":[", "\"deviation\":[0,0,0],\"terms\":[", "paces.0.low_s",
           "the list is missing");
    refuse("\"theta\":[0.0005,", "\"theta\":[", "paces.1.theta", "the list has 1 entries, not 2");
}

/* Returns the numbers 1, 2, …, count. */
static double *rising(size_t count)
{
    double *numbers = malloc((count + 1) * sizeof(*numbers));

    for (size_t i = 0; i < count; i++)
        numbers[i] = (double)i + 1;
    return numbers;
}

/*
 * Stores a convergence that the program itself would never make, and checks the error of the
 * reader.
 */
static void refuse_stored(const struct hm_convergence *stored, const char *message)
{
    char *text = store(stored);
    struct hm_convergence *c = NULL;
    struct hm_err err = {0};

    assert_int_not_equal(hm_convergence_parse(text, strlen(text), "g.json", &c, &err), 0);
    assert_string_equal(err.message, message);
    hm_text_free(text);
}

/* Lengths are limited, because later code has arrays of fixed size and assumes that every m has a
 * curve. */
static void lengths_have_limits(void **state)
{
    static struct sample s;
    double *many = rising(4 * HM_G_DRAWS);
    struct hm_g_curve *curve;

    (void)state;
    sample_convergence(&s);
    curve = &s.algorithms[0].curves[0];
    curve->iteration = curve->loss = many;
    curve->count = HM_G_CURVE + 1;
    refuse_stored(&s.convergence, "the list has 62 entries, not 1 to 61");
    curve->count = 0;
    refuse_stored(&s.convergence, "the list has 0 entries, not 1 to 61");
    sample_convergence(&s);
    s.algorithms[0].draws = many;
    s.algorithms[0].draw_count = HM_G_DRAWS + 1;
    refuse_stored(&s.convergence, "129 draws; at most 128 are allowed");
    sample_convergence(&s);
    s.algorithms[0].curves[0].m = 3;
    refuse_stored(&s.convergence, "a curve of m = 3, which is not in the list m");
    sample_convergence(&s);
    s.algorithms[0].curve_count = 2;
    refuse_stored(&s.convergence, "there is no curve for m = 16");
    sample_convergence(&s);
    s.algorithms[0].curve_count = 2;
    s.algorithms[0].curves++;
    refuse_stored(&s.convergence, "there is no curve for m = 1");
    sample_convergence(&s);
    s.algorithms[0].last = 0;
    refuse_stored(&s.convergence, "last must be more than 0");
    refuse("\"n\":[1,4,16]", "\"n\":[1,4,1e16]", "algorithms.0.n.2", "'1e16' is out of range");
    free(many);
}

/* The JSON of an answer lacks curves and draws, so it cannot be read as a stored convergence. */
static void truncated_files_are_refused(void **state)
{
    static struct sample s;
    struct hm_style style = {.width = 80};
    struct hm_convergence *c = NULL;
    struct hm_err err = {0};
    char *text = NULL;

    (void)state;
    assert_int_equal(
        hm_convergence_render(sample_convergence(&s), NULL, HM_FORMAT_JSON, &style, &text, &err),
        0);
    assert_null(strstr(text, "draws"));
    assert_int_equal(hm_convergence_parse(text, strlen(text), "g.json", &c, &err), HM_E_MISSING);
    assert_string_equal(err.message, "'paces' is missing");
    hm_text_free(text);
}

static int read_and_write(const char *text, struct hm_err *err)
{
    struct hm_style style = {.table = true, .width = 80};
    struct hm_convergence *c = NULL;
    char *again = NULL;
    int rc = hm_convergence_parse(text, strlen(text), "g.json", &c, err);

    if (rc == 0)
        rc = hm_convergence_render(c, NULL, HM_FORMAT_JSON, &style, &again, err);
    hm_text_free(again);
    hm_convergence_free(c);
    return rc;
}

static void failed_allocations_are_reported(void **state)
{
    static struct sample s;
    char *text = store(sample_convergence(&s));
    int rc = HM_E_NOMEM;

    (void)state;
    for (long after = 0; rc; after++) {
        struct hm_err err = {0};
        hm__alloc_fail_after(after);
        rc = read_and_write(text, &err);
        hm__alloc_fail_after(-1);
        if (rc && rc != HM_E_NOMEM)
            fail_msg("allocation %ld: %s", after, err.message);
    }
    hm_text_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(staleness_reads_back),
        cmocka_unit_test(errors_of_staleness_are_named),
        cmocka_unit_test(dependence_on_rows_reads_back),
        cmocka_unit_test(errors_of_rows_are_named),
        cmocka_unit_test(written_files_are_read_back),
        cmocka_unit_test(every_number_reads_back),
        cmocka_unit_test(errors_are_named),
        cmocka_unit_test(truncated_files_are_refused),
        cmocka_unit_test(lengths_have_limits),
        cmocka_unit_test(failed_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
