/*
 * Tests the cost of staleness: it must be recovered from traces with a known cost, for each of its
 * parts; least squares on examples/stale-traces.csv.gz must agree with scipy
 * (tools/oracle/stale.py); and costs may be unknown.
 */
#include "made_traces.h"

#include "converge.h"
#include "student.h"

static double rate(double i, double m)
{
    return 0.5 * pow(m, 0.1) * exp(-0.2 * i / pow(m, 0.4)) + 0.05 * pow(1 + i, -0.5);
}

/* The true ln c of a generated trace, where c is the cost of staleness. */
struct cost {
    double level, growth, exponent, power, async;
};

static double log_cost(const struct cost *cost, double s, double m)
{
    return s == 0     ? 0
           : isinf(s) ? cost->async
                      : cost->level + cost->growth * pow(s, cost->exponent) + cost->power * log(m);
}

enum { POINTS = 80, SEEDS = 2 };

static void add_run(struct made *made, const struct cost *cost, double m, double s, double noise,
                    struct hm_random *random)
{
    struct hm_trace *t = made_add(made, "sgd", m, POINTS);
    double c = exp(log_cost(cost, s, m));

    t->staleness = s;
    for (size_t p = 0; p < POINTS; p++)
        t->loss[p] = rate(t->iteration[p] / c, m) * exp(noise * hm__random_normal(random));
}

static void make(struct made *made, const struct cost *cost, const double *m, size_t m_count,
                 const double *s, size_t s_count, double noise, double seed)
{
    struct hm_random random;

    made_init(made);
    hm__random_init(&random, (uint64_t)seed, 17);
    for (size_t k = 0; k < m_count; k++)
        for (size_t j = 0; j < s_count; j++)
            for (size_t r = 0; r < SEEDS; r++)
                add_run(made, cost, m[k], s[j], noise, &random);
}

static const double stale[] = {0, 1, 2, 4, 8}, ms[] = {2, 4, 8, 16};

enum { STALE = sizeof(stale) / sizeof(stale[0]), MS = sizeof(ms) / sizeof(ms[0]) };

static struct hm_stale_cost cost_of(const struct hm_convergence *c, double s, double m)
{
    struct hm_stale_cost cost = {0};
    struct hm_err err = {0};

    if (hm_convergence_stale(c, 0, s, m, &cost, &err))
        fail_msg("%s", err.message);
    return cost;
}

/* Checks that the factors are within 2 % of the truth at every staleness and m. */
static void assert_recovered(const struct cost *truth, size_t m_count)
{
    static struct made made;

    make(&made, truth, ms, m_count, stale, STALE, 0.01, 3);
    struct hm_convergence *c = made_fit(&made, 0);
    assert_int_equal(c->count, 1);
    assert_int_equal(c->algorithms[0].curve_count, m_count * SEEDS);
    assert_int_equal(c->algorithms[0].ssp.traces, m_count * (STALE - 1) * SEEDS);
    assert_int_equal(c->algorithms[0].ssp.cost_count, m_count * (STALE - 1));
    for (size_t k = 0; k < m_count; k++)
        for (size_t j = 0; j < STALE; j++) {
            double wanted = exp(log_cost(truth, stale[j], ms[k]));
            struct hm_stale_cost got = cost_of(c, stale[j], ms[k]);
            assert_near(got.factor, wanted, 0.02);
            assert_true(got.low <= got.factor && got.factor <= got.high);
        }
    assert_true(c->algorithms[0].ssp.error <= c->algorithms[0].ssp.without * 1.000001);
    hm_convergence_free(c);
    made_release(&made);
}

static void the_true_factors_are_recovered(void **state)
{
    static const struct cost truths[] = {
        {.level = 0.55, .exponent = 1},
        {.level = -0.1, .exponent = 1},
        {.growth = 0.06, .exponent = 1},
        {.level = 0.2, .growth = 0.05, .exponent = 1},
        {.level = -0.1, .growth = 0.015, .exponent = 2},
        {.level = 0, .exponent = 1},
    };

    (void)state;
    for (size_t k = 0; k < sizeof(truths) / sizeof(truths[0]); k++) {
        assert_recovered(&truths[k], 1);
        assert_recovered(&truths[k], MS);
    }
    assert_recovered(&(struct cost){.power = 0.28, .exponent = 1}, MS);
    assert_recovered(&(struct cost){.growth = 0.04, .power = 0.2, .exponent = 1}, MS);
}

static void present_parts_are_selected(void **state)
{
    static struct made made;
    const struct cost level = {.level = 0.55, .exponent = 1},
                      square = {.growth = 0.015, .exponent = 2};

    (void)state;
    make(&made, &level, ms + 2, 1, stale, STALE, 0.01, 5);
    struct hm_convergence *c = made_fit(&made, 0);
    const struct hm_g_stale *s = &c->algorithms[0].ssp;
    assert_true(s->growth == 0 && s->power == 0);
    assert_near(s->level, 0.55, 0.02);
    assert_near(cost_of(c, 100, 8).factor, exp(s->level),
                1e-12); /* The factor of async does not depend on the staleness. */
    assert_true(s->without > 10 * s->error && s->held_out < 1.5 * s->error);
    hm_convergence_free(c);
    made_release(&made);

    make(&made, &square, ms + 2, 1, stale, STALE, 0.01, 5);
    c = made_fit(&made, 0);
    s = &c->algorithms[0].ssp;
    assert_true(s->level == 0 && s->exponent == 2);
    assert_near(s->growth, 0.015, 0.03);
    assert_near(cost_of(c, 12, 8).factor, exp(0.015 * 144), 0.1);
    hm_convergence_free(c);
    made_release(&made);
}

static void async_has_a_cost_of_its_own(void **state)
{
    static const double kinds[] = {0, 2, INFINITY};
    static struct made made;
    const struct cost truth = {.level = 0.2, .exponent = 1, .async = 0.5};
    struct hm_stale_cost cost;
    struct hm_err err = {0};

    (void)state;
    make(&made, &truth, ms + 1, 1, kinds, 3, 0.01, 7);
    struct hm_convergence *c = made_fit(&made, 0);
    assert_near(cost_of(c, 2, 4).factor, exp(0.2), 0.02);
    assert_near(cost_of(c, INFINITY, 4).factor, exp(0.5), 0.02);
    assert_true(isinf(c->algorithms[0].async.costs[0].staleness));
    /* If the traces have only one staleness, it cannot be held out. */
    assert_true(isnan(c->algorithms[0].ssp.held_out));
    assert_true(isnan(cost_of(c, 2, 4).low)); /* Two traces give no interval. */
    hm_convergence_free(c);
    made_release(&made);

    make(&made, &truth, ms + 1, 1, kinds, 2, 0.01, 7);
    c = made_fit(&made, 0);
    assert_int_equal(hm_convergence_stale(c, 0, INFINITY, 4, &cost, &err), HM_E_MISSING);
    assert_string_equal(err.message,
                        "there are no asynchronous traces of sgd to compare with fresh ones");
    assert_int_equal(hm_convergence_stale(c, 0, -1, 4, &cost, NULL), HM_E_RANGE);
    assert_int_equal(hm_convergence_stale(c, 0, NAN, 4, &cost, NULL), HM_E_RANGE);
    assert_int_equal(hm_convergence_stale(c, 0, 1, 0, &cost, NULL), HM_E_RANGE);
    hm_convergence_free(c);
    made_release(&made);
}

/* Except for P*, the results g and f equal those of a fit without the stale traces. */
static void stale_traces_do_not_change_the_fit(void **state)
{
    static struct made all, fresh;
    const struct cost truth = {.level = 0.4, .exponent = 1};
    static const double none[] = {0};
    struct hm_random random;

    (void)state;
    make(&fresh, &truth, ms, MS, none, 1, 0.01, 9);
    make(&all, &truth, ms, MS, none, 1, 0.01, 9);
    hm__random_init(&random, 1, 1);
    for (size_t k = 0; k < 3; k++)
        add_run(&all, &truth, 8, 3, 0.01, &random);
    for (size_t k = 0; k < all.traces.count; k++)
        made_time(&all.list[k], all.list[k].staleness > 0 ? 0.5 : 2);
    for (size_t k = 0; k < fresh.traces.count; k++)
        made_time(&fresh.list[k], 2);
    struct hm_convergence *a = made_fit(&all, 0), *b = made_fit(&fresh, 0);
    assert_int_equal(a->algorithms[0].parameter_count, b->algorithms[0].parameter_count);
    for (size_t k = 0; k < a->algorithms[0].parameter_count; k++)
        assert_near(a->algorithms[0].parameters[k].value, b->algorithms[0].parameters[k].value, 0);
    assert_int_equal(a->paces->paces[0].count, MS);
    for (size_t k = 0; k < MS; k++)
        assert_near(a->paces->paces[0].seconds[k], 2, 1e-12);
    assert_near(made_predict(a, 8, 20).loss, made_predict(b, 8, 20).loss, 0);
    assert_int_equal(b->algorithms[0].ssp.traces, 0);
    assert_int_equal(a->note_count, b->note_count);
    hm_convergence_free(a);
    hm_convergence_free(b);
    made_release(&all);
    made_release(&fresh);
}

static bool has_note(const struct hm_convergence *c, const char *piece)
{
    for (size_t k = 0; k < c->note_count; k++)
        if (strstr(c->notes[k], piece))
            return true;
    return false;
}

static void unknown_factors_are_reported(void **state)
{
    static struct made made;
    const struct cost truth = {.level = 0.4, .exponent = 1};
    struct hm_random random;

    (void)state;
    hm__random_init(&random, 1, 1);
    make(&made, &truth, ms, 1, stale + 1, 2, 0.01, 9);
    struct hm_convergence *c = made_fit(&made, 0); /* In this fit, all traces are stale. */
    assert_true(has_note(c, "no trace of sgd is fresh: the cost of staleness is unknown"));
    assert_int_equal(c->algorithms[0].curve_count, 2 * SEEDS);
    assert_int_equal(c->algorithms[0].ssp.traces, 0);
    hm_convergence_free(c);
    made_release(&made);

    make(&made, &truth, ms, 1, stale, 2, 0.01, 9);
    add_run(&made, &truth, 32, 1, 0.01,
            &random); /* There is no trace without staleness on 32 workers. */
    c = made_fit(&made, 0);
    assert_true(has_note(c, "1 trace of sgd with staleness or backups is not used"));
    assert_int_equal(c->algorithms[0].ssp.traces, SEEDS);
    hm_convergence_free(c);
    add_run(&made, &truth, 2, 1, 0.01, &random);
    made.list[made.traces.count - 1].diverged = true;
    c = made_fit(&made, 0);
    assert_true(has_note(c, "2 traces of sgd with staleness or backups are not used"));
    hm_convergence_free(c);
    made_release(&made);
}

static void failed_allocations_are_reported(void **state)
{
    static const double kinds[] = {0, 2, INFINITY};
    static struct made made;
    const struct cost truth = {.level = 0.2, .exponent = 1, .async = 0.5};
    struct hm_err err = {0};
    int rc = 0;

    (void)state;
    make(&made, &truth, ms, 1, kinds, 3, 0.01, 7);
    struct hm_convergence *fresh = made_fit(&made, 0);
    struct hm_g *g = &fresh->algorithms[0];
    struct hm_converge_settings settings = {0};
    long after = 0;
    do {
        struct hm_arena *arena = hm__arena_new();
        size_t left_out;
        assert_non_null(arena);
        g->ssp = g->async = (struct hm_g_stale){0};
        hm__alloc_fail_after(after++);
        rc = hm__g_fit_stale(g, arena, &made.traces, 0, 0.9, &settings, &left_out, &err);
        hm__alloc_fail_after(-1);
        assert_true(rc == 0 || rc == HM_E_NOMEM);
        hm__arena_free(arena);
    } while (rc);
    assert_true(after > 5);
    g->ssp = g->async = (struct hm_g_stale){0};
    hm_convergence_free(fresh);
    made_release(&made);
}

/* The 90 % interval must contain the truth in at least 7 of 10 cases. */
static void intervals_have_their_coverage(void **state)
{
    enum { TIMES = 20 };
    static struct made made;
    const struct cost truth = {.level = 0.3, .exponent = 1};
    size_t held = 0;

    (void)state;
    for (size_t k = 0; k < TIMES; k++) {
        struct hm_random random;
        make(&made, &truth, ms + 1, 1, stale, STALE, 0.005, 100 + (double)k);
        hm__random_init(&random, k, 99);
        for (size_t t = 0; t < made.traces.count; t++) { /* Runs also differ by a common factor. */
            double off = exp(0.03 * hm__random_normal(&random));
            for (size_t p = 0; p < POINTS; p++)
                made.list[t].loss[p] *= off;
        }
        struct hm_convergence *c = made_fit(&made, 0);
        struct hm_stale_cost cost = cost_of(c, 4, 4);
        held += cost.low <= exp(0.3) && exp(0.3) <= cost.high;
        hm_convergence_free(c);
        made_release(&made);
    }
    assert_true(held >= 14);
}

/* ---- traces with a staleness ------------------------------------------------------------------
 */

static struct hm_traces *parse(const char *text)
{
    struct hm_traces *traces = NULL;
    struct hm_err err = {0};

    if (hm_traces_parse(text, strlen(text), "t.csv", NULL, &traces, &err))
        fail_msg("%s", err.message);
    return traces;
}

static void staleness_is_known(void **state)
{
    struct hm_traces *t = parse("{\"run\":\"train\",\"algorithm\":\"sgd\",\"platform\":\"server\","
                                "\"consistency\":\"bsp\",\"backups\":0,\"n\":8}\n"
                                "{\"iteration\":1,\"objective\":5,\"mean_staleness\":0}\n"
                                "{\"summary\":true}\n"
                                "{\"run\":\"train\",\"algorithm\":\"sgd\",\"platform\":\"server\","
                                "\"consistency\":\"ssp\",\"staleness\":3,\"n\":8}\n"
                                "{\"iteration\":1,\"objective\":6,\"mean_staleness\":2.7}\n"
                                "{\"summary\":true}\n"
                                "{\"run\":\"train\",\"algorithm\":\"sgd\",\"platform\":\"server\","
                                "\"consistency\":\"async\",\"n\":8}\n"
                                "{\"iteration\":1,\"objective\":7}\n");

    (void)state;
    assert_int_equal(t->count, 3);
    assert_near(t->traces[0].staleness, 0, 0);
    assert_near(t->traces[1].staleness, 3, 0);
    assert_true(isinf(t->traces[2].staleness));
    assert_int_equal(t->note_count, 0);
    hm_traces_free(t);

    t = parse("m,iteration,loss,staleness\n8,1,5,\n8,1,6,2.5\n8,2,5,2.5\n8,1,7,Async\n8,2,4,-0\n");
    assert_int_equal(t->count, 3); /* Rows with the same staleness form one trace. */
    assert_true(t->traces[0].count == 2 && t->traces[0].loss[1] == 4);
    assert_near(t->traces[0].staleness, 0, 0);
    assert_true(t->traces[1].count == 2 && t->traces[1].loss[1] == 5);
    assert_near(t->traces[1].staleness, 2.5, 0);
    assert_true(isinf(t->traces[2].staleness));
    hm_traces_free(t);
}

static void other_ways_to_run_are_noted(void **state)
{
    struct hm_traces *t =
        parse("{\"run\":\"train\",\"platform\":\"allreduce\",\"n\":8}\n"
              "{\"iteration\":1,\"objective\":5}\n{\"summary\":true}\n"
              "{\"run\":\"train\",\"platform\":\"server\",\"consistency\":\"bsp\",\"backups\":0,"
              "\"n\":8}\n{\"iteration\":1,\"objective\":5}\n{\"summary\":true}\n"
              "{\"run\":\"train\",\"platform\":\"server\",\"consistency\":\"bsp\",\"backups\":1,"
              "\"n\":8}\n{\"iteration\":1,\"objective\":5}\n{\"summary\":true}\n");

    (void)state;
    assert_int_equal(t->note_count, 1);
    assert_near(t->traces[2].backups, 1, 0);
    assert_string_equal(t->notes[0],
                        "the traces are of different platforms: iterations of one algorithm are "
                        "assumed to make equal progress and to take equal time");
    hm_traces_free(t);

    t = parse("{\"run\":\"a\",\"consistency\":\"ssp\",\"staleness\":2,\"pull\":\"late\",\"n\":8}\n"
              "{\"iteration\":1,\"objective\":5}\n{\"summary\":true}\n"
              "{\"run\":\"b\",\"consistency\":\"ssp\",\"staleness\":2,\"n\":8}\n"
              "{\"iteration\":1,\"objective\":5}\n{\"summary\":true}\n"
              "{\"run\":\"c\",\"consistency\":\"async\",\"n\":8}\n"
              "{\"iteration\":1,\"objective\":5}\n{\"summary\":true}\n");
    assert_int_equal(t->note_count, 1);
    assert_string_equal(t->notes[0], "some stale traces read the model late, others always anew: "
                                     "the cost of staleness is a mean of both");
    hm_traces_free(t);
}

/* ---- the oracle -------------------------------------------------------------------------------
 */

static struct hm_convergence *fit_examples(void)
{
    const char *root = getenv("HM_SOURCE");
    char path[1000];
    const char *paths[] = {path};
    struct hm_traces *traces = NULL;
    struct hm_convergence *c = NULL;
    struct hm_err err = {0};

    snprintf(path, sizeof(path), "%s/examples/stale-traces.csv.gz", root ? root : ".");
    if (hm_traces_load(paths, 1, NULL, &traces, &err) || hm_convergence_new(traces, NULL, &c, &err))
        fail_msg("%s", err.message);
    hm_traces_free(traces);
    return c;
}

static const struct hm_g_stale *find(const struct hm_convergence *c, const char *algorithm,
                                     const char *kind)
{
    for (size_t k = 0; k < c->count; k++)
        if (strcmp(c->algorithms[k].algorithm, algorithm) == 0)
            return strcmp(kind, "ssp") == 0 ? &c->algorithms[k].ssp : &c->algorithms[k].async;
    fail_msg("no %s", algorithm);
    return NULL;
}

/* Parameters agree to 1e-4 of ln c and errors to a relative 1e-3, the accuracy of a grid of 512. */
static void least_squares_agree_with_scipy(void **state)
{
    const char *root = getenv("HM_SOURCE"), *zlib = getenv("HM_ZLIB");
    char path[1000], line[1000];
    size_t fits = 0;

    (void)state;
    if (zlib && strcmp(zlib, "0") == 0) /* Without zlib the traces cannot be read. */
        return;
    struct hm_convergence *c = fit_examples();
    snprintf(path, sizeof(path), "%s/tests/data/stale.tsv", root ? root : ".");
    FILE *table = fopen(path, "r");
    assert_non_null(table);
    while (fgets(line, sizeof(line), table)) {
        char algorithm[40], kind[10];
        double traces, theta[3], exponent, error, without, held_out;
        if (sscanf(line, "fit\t%39s\t%9s\t%lf\t%lf\t%lf\t%lf\t%lf\t%lf\t%lf\t%lf", algorithm, kind,
                   &traces, &theta[0], &theta[1], &theta[2], &exponent, &error, &without,
                   &held_out) != 10)
            continue;
        const struct hm_g_stale *s = find(c, algorithm, kind);
        fits++;
        assert_int_equal(s->traces, (size_t)traces);
        assert_true(s->exponent == exponent);
        assert_true((s->level == 0) == (theta[0] == 0) && (s->growth == 0) == (theta[1] == 0) &&
                    (s->power == 0) == (theta[2] == 0));
        assert_true(fabs(s->level - theta[0]) < 1e-4 && fabs(s->power - theta[2]) < 1e-4);
        assert_true(fabs(s->growth - theta[1]) * pow(8, exponent) < 1e-4);
        assert_near(s->error, error, 1e-3);
        assert_near(s->without, without, 1e-3);
        assert_true(isnan(s->held_out) == isnan(held_out));
        if (!isnan(held_out))
            assert_near(s->held_out, held_out, 1e-3);
    }
    fclose(table);
    assert_int_equal(fits, 5);
    hm_convergence_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_true_factors_are_recovered),
        cmocka_unit_test(present_parts_are_selected),
        cmocka_unit_test(async_has_a_cost_of_its_own),
        cmocka_unit_test(stale_traces_do_not_change_the_fit),
        cmocka_unit_test(unknown_factors_are_reported),
        cmocka_unit_test(failed_allocations_are_reported),
        cmocka_unit_test(intervals_have_their_coverage),
        cmocka_unit_test(staleness_is_known),
        cmocka_unit_test(other_ways_to_run_are_noted),
        cmocka_unit_test(least_squares_agree_with_scipy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
