/* Tests recommendations: the answers of Anwar et al., errors on left-out runs, fits compared with
 * normal equations, goals compared with brute force, failures, the model, and wrong questions. */
#include "recommend_testing.h"

static struct hm_runs *parse(const char *text)
{
    struct hm_runs *runs = NULL;
    struct hm_err err = {0};

    if (hm_runs_parse(text, strlen(text), "t.csv", &runs, &err))
        fail_msg("%s", err.message);
    return runs;
}

/* ---- the table of Anwar et al. -------------------------------------------------------------- */

static void test_published(void **state)
{
    static const struct {
        double batch, latency, n, seconds;
    } cases[] = {{64000, 0, 4, 419}, {192, 0, 1, 4}, {64000, 0.06, 3, 568}, {1280, 0.06, 2, 46}};
    struct hm_runs *runs = anwar();

    (void)state;
    assert_int_equal(runs->count, 44);
    assert_int_equal(runs->failed, 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct hm_recommendation *r =
            ask_among(runs, cases[i].batch, cases[i].latency, cases[i].latency > 0 ? 2 : 1);
        assert_int_equal(r->provenance, HM_RECOMMEND_ROWS);
        assert_int_equal(r->best, 0);
        assert_near(r->candidates[0].n, cases[i].n, 0);
        assert_near(r->candidates[0].time_s, cases[i].seconds, 0);
        hm_recommendation_free(r);
    }
    hm_runs_free(runs);
}

static void test_never_fails(void **state)
{
    struct hm_runs *runs = anwar();
    const double batches[] = {64000, 64001, 100000}, one = 1;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct hm_recommendation *r = ask_at(runs, batches[i], 0, NULL);
        const struct hm_recommended *last = &r->candidates[r->candidate_count - 1];
        assert_true(r->best == 0 && r->candidates[0].n > 1);
        assert_true(last->failed && last->n == 1 && isnan(last->time_s) && !last->feasible);
        assert_string_equal(last->why, i ? "out of memory with a batch of 64000 (line 3)"
                                         : "out of memory (line 3)");
        hm_recommendation_free(r);
        r = ask_at(runs, batches[i], 0, &one);
        assert_true(r->best == HM_NONE && r->candidate_count == 1 && r->candidates[0].failed);
        assert_int_equal(r->next_count, 0);
        hm_recommendation_free(r);
    }
    /* A batch smaller than those that failed may fit in memory. */
    struct hm_recommendation *r = ask_at(runs, 63000, 0, NULL);
    for (size_t i = 0; i < r->candidate_count; i++)
        assert_false(r->candidates[i].failed);
    hm_recommendation_free(r);
    hm_runs_free(runs);
}

static double cell(const struct hm_runs *runs, const char *name, size_t row)
{
    return hm_runs_column(runs, name)->values[row];
}

/* Copies the table without one row or, if `place` is true, without all rows of its batch and
 * latency. */
static struct hm_runs *without(const struct hm_runs *runs, size_t left, bool place)
{
    char text[4096];
    size_t used = (size_t)snprintf(text, sizeof(text), "n,batch,latency,seconds,status\n");

    for (size_t i = 0; i < runs->count; i++) {
        bool there = cell(runs, "batch", i) == cell(runs, "batch", left) &&
                     cell(runs, "latency", i) == cell(runs, "latency", left);
        double seconds = cell(runs, "seconds", i);
        if (i == left || (place && there))
            continue;
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%g,%g,%g,", cell(runs, "n", i),
                                 cell(runs, "batch", i), cell(runs, "latency", i));
        if (!isnan(seconds))
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%g,ok\n", seconds);
        else
            used += (size_t)snprintf(text + used, sizeof(text) - used, ",out of memory\n");
    }
    assert_true(used < sizeof(text));
    return parse(text);
}

/* These errors on left-out rows are stated in docs/reference/recommend.md. */
static void test_rows_left_out(void **state)
{
    struct hm_runs *runs = anwar();
    size_t covered = 0, asked = 0, near = 0;

    (void)state;
    for (size_t i = 0; i < runs->count; i++) {
        double n = cell(runs, "n", i), seconds = cell(runs, "seconds", i);
        if (isnan(seconds))
            continue;
        struct hm_runs *others = without(runs, i, false);
        struct hm_recommendation *r =
            ask_at(others, cell(runs, "batch", i), cell(runs, "latency", i), &n);
        assert_int_equal(r->provenance, HM_RECOMMEND_FIT);
        assert_int_equal(r->best, 0);
        const struct hm_recommended *c = &r->candidates[0];
        assert_true(c->low_s <= c->time_s && c->time_s <= c->high_s);
        covered += c->low_s <= seconds && seconds <= c->high_s;
        near += fabs(c->time_s / seconds - 1) <= 0.1;
        asked++;
        hm_recommendation_free(r);
        hm_runs_free(others);
    }
    assert_int_equal(asked, 43);
    assert_int_equal(covered, 39);
    assert_int_equal(near, 35);
    hm_runs_free(runs);
}

/* Finds the best measured n for a batch and a latency, and the number of measured n. */
static size_t measured(const struct hm_runs *runs, size_t row, double *times)
{
    size_t count = 0;

    for (size_t n = 0; n < 5; n++)
        times[n] = INFINITY;
    for (size_t i = 0; i < runs->count; i++)
        if (cell(runs, "batch", i) == cell(runs, "batch", row) &&
            cell(runs, "latency", i) == cell(runs, "latency", row) &&
            !isnan(cell(runs, "seconds", i))) {
            times[(size_t)cell(runs, "n", i)] = cell(runs, "seconds", i);
            count++;
        }
    return count;
}

static void test_places_left_out(void **state)
{
    struct hm_runs *runs = anwar();
    size_t right = 0, near = 0, asked = 0, covered = 0, intervals = 0;
    double sure = 0;

    (void)state;
    for (size_t i = 0; i < runs->count; i++) {
        double times[5], least = INFINITY;
        size_t count = measured(runs, i, times);
        /* Each pair of batch and latency is used once, at its first row. */
        for (size_t k = 0; k < i; k++)
            if (cell(runs, "batch", k) == cell(runs, "batch", i) &&
                cell(runs, "latency", k) == cell(runs, "latency", i))
                count = 0;
        if (count < 2)
            continue;
        struct hm_runs *others = without(runs, i, true);
        double latency = cell(runs, "latency", i);
        struct hm_recommendation *r =
            ask_among(others, cell(runs, "batch", i), latency, latency > 0 ? 2 : 1);
        assert_int_equal(r->provenance, HM_RECOMMEND_FIT);
        for (size_t n = 1; n < 5; n++)
            least = fmin(least, times[n]);
        double got = times[(size_t)r->candidates[0].n];
        right += got == least;
        near += got <= 1.1 * least;
        sure += r->sure;
        asked++;
        for (size_t c = 0; c < r->candidate_count; c++) {
            double seconds = times[(size_t)r->candidates[c].n];
            if (isinf(seconds) || r->candidates[c].failed)
                continue;
            intervals++;
            covered += r->candidates[c].low_s <= seconds && seconds <= r->candidates[c].high_s;
        }
        hm_recommendation_free(r);
        hm_runs_free(others);
    }
    assert_int_equal(asked, 12);
    assert_int_equal(right, 12);
    assert_int_equal(near, 12);
    assert_int_equal(intervals, 41);
    assert_int_equal(covered, 38);
    assert_near(sure / 12, 0.874,
                0.01); /* The stated probability must be below the frequency of right answers. */
    hm_runs_free(runs);
}

/* ---- fits by hand --------------------------------------------------------------------------- */

enum { TERMS = 3 };

/* Solves normal equations by elimination. */
static void solve(double a[TERMS][TERMS + 1])
{
    for (size_t k = 0; k < TERMS; k++) {
        for (size_t i = 0; i < TERMS; i++) {
            double factor = i == k ? 0 : a[i][k] / a[k][k];
            for (size_t j = k; j <= TERMS && i != k; j++)
                a[i][j] -= factor * a[k][j];
        }
    }
}

/* Solves weighted least squares of y on 1, batch and latency, without one row. */
static void by_hand(const double (*x)[TERMS], const double *y, const double *weight, size_t count,
                    size_t left, double *theta)
{
    double a[TERMS][TERMS + 1] = {{0}};

    for (size_t r = 0; r < count; r++)
        for (size_t i = 0; i < TERMS && r != left; i++) {
            for (size_t j = 0; j < TERMS; j++)
                a[i][j] += weight[r] * weight[r] * x[r][i] * x[r][j];
            a[i][TERMS] += weight[r] * weight[r] * x[r][i] * y[r];
        }
    solve(a);
    for (size_t i = 0; i < TERMS; i++)
        theta[i] = a[i][TERMS] / a[i][i];
}

static double fitted_seconds(const double *theta, const double *x)
{
    return theta[0] * x[0] + theta[1] * x[1] + theta[2] * x[2];
}

/* The fits to Anwar's rows on 2 and on 4 workers must have the predictions, and the errors on
 * left-out rows, that normal equations give. */
static void test_own_fit(void **state)
{
    struct hm_runs *runs = anwar();
    const double at[TERMS] = {1, 12800, 0.03};
    struct hm_recommendation *r = ask_at(runs, at[1], at[2], NULL);

    (void)state;
    assert_int_equal(r->candidate_count, 4);
    for (size_t c = 0; c < 4; c++) {
        /* Skip one worker, which uses no network, so that its fit has no latency. */
        if (r->candidates[c].n == 1)
            continue;
        double x[16][TERMS], y[16], weight[16], theta[TERMS], reach = 0;
        size_t count = 0;
        for (size_t i = 0; i < runs->count; i++) {
            if (cell(runs, "n", i) != r->candidates[c].n)
                continue;
            x[count][0] = 1;
            x[count][1] = cell(runs, "batch", i);
            x[count][2] = cell(runs, "latency", i);
            y[count] = cell(runs, "seconds", i);
            weight[count] = 1 / y[count];
            count++;
        }
        /* Repeat with new weights, because errors are relative to the fitted value. */
        for (int pass = 0; pass < 60; pass++) {
            by_hand(x, y, weight, count, HM_NONE, theta);
            for (size_t i = 0; i < count; i++)
                weight[i] = 1 / fitted_seconds(theta, x[i]);
        }
        double time_s = fitted_seconds(theta, at);
        assert_near(r->candidates[c].time_s, time_s, 1e-9);
        for (size_t i = 0; i < count; i++) {
            by_hand(x, y, weight, count, i, theta);
            double other = fitted_seconds(theta, x[i]);
            reach = fmax(reach, fabs(y[i] - other) / other);
        }
        double low = (time_s - r->candidates[c].low_s) / time_s;
        double high = (r->candidates[c].high_s - time_s) / time_s;
        /* With 12 rows, the quantile at 0.9 is the largest error. */
        assert_near(fmax(low, high), reach, 1e-6);
    }
    hm_recommendation_free(r);
    hm_runs_free(runs);
}

/* The runs follow t = batch/n/100 + 30 latency n + 1/2; an n without runs is predicted. */
static void test_all_fit(void **state)
{
    const double ns[] = {1, 2, 4, 8, 16}, batches[] = {1000, 8000}, latencies[] = {0, 0.01, 0.05};
    const double n[] = {3, 6};
    char text[4096] = "n,batch,latency,seconds\n";
    struct hm_at at[] = {{"batch", 4000}, {"latency", 0.02}};
    struct hm_recommend_question q = {.at = at, .at_count = 2, .n = n, .n_count = 2};

    (void)state;
    for (size_t i = 0; i < 5; i++)
        for (size_t b = 0; b < 2; b++)
            for (size_t l = 0; l < 3; l++) {
                double wobble = (i + b + l) % 2 ? 1.01 : 0.99;
                size_t used = strlen(text);
                snprintf(text + used, sizeof(text) - used, "%g,%g,%g,%.9g\n", ns[i], batches[b],
                         latencies[l],
                         wobble * (batches[b] / ns[i] / 100 + 30 * latencies[l] * ns[i] + 0.5));
            }
    struct hm_runs *runs = parse(text);
    struct hm_recommendation *r = recommend(runs, &q);
    assert_int_equal(r->provenance, HM_RECOMMEND_FIT);
    assert_near(r->candidates[0].n, 6, 0);
    assert_near(r->candidates[0].time_s, 4000 / 6.0 / 100 + 30 * 0.02 * 6 + 0.5, 0.03);
    assert_near(r->candidates[1].time_s, 4000 / 3.0 / 100 + 30 * 0.02 * 3 + 0.5, 0.03);
    /* This is the largest value that is stated from 30 runs. */
    assert_near(r->sure, 30.5 / 31, 1e-12);
    assert_int_equal(r->row_count, 30);
    hm_recommendation_free(r);
    hm_runs_free(runs);
}

/* ---- goals ---------------------------------------------------------------------------------- */

static double pick(unsigned *seed, double low, double high)
{
    *seed = *seed * 1664525u + 1013904223u;
    return low + (high - low) * (double)(*seed >> 8) / (double)(1u << 24);
}

/* Returns the value to be minimised, computed without the library. */
static double value(const struct hm_recommend_question *q, double n, double t)
{
    double cost = n * t * q->price_per_s;

    return q->goal == HM_GOAL_COST   ? cost
           : q->goal == HM_GOAL_TIME ? t
                                     : q->alpha * t + q->beta * cost;
}

static void test_goals(void **state)
{
    unsigned seed = 7;

    (void)state;
    for (int round = 0; round < 300; round++) {
        double times[7];
        char text[512] = "n,batch,seconds\n";
        struct hm_at at = {"batch", 64};
        struct hm_recommend_question q = {.at = &at,
                                          .at_count = 1,
                                          .goal = (enum hm_goal)(HM_GOAL_TIME + round % 3),
                                          .alpha = pick(&seed, 0.1, 2),
                                          .beta = pick(&seed, 0.1, 2),
                                          .price_per_s = pick(&seed, 0.1, 1),
                                          .certainty = 0.5};
        size_t best = 0;
        if (round % 5 == 1)
            q.deadline_s = pick(&seed, 0.5, 12);
        if (round % 7 == 2)
            q.budget = pick(&seed, 0.5, 20);
        for (size_t n = 1; n < 7; n++) {
            times[n] = pick(&seed, 1, 10);
            size_t used = strlen(text);
            snprintf(text + used, sizeof(text) - used, "%zu,64,%.17g\n%zu,65,0.1\n", n, times[n],
                     n);
            bool fits = (q.deadline_s == 0 || times[n] <= q.deadline_s) &&
                        (q.budget == 0 || (double)n * times[n] * q.price_per_s <= q.budget);
            if (fits && (best == 0 ||
                         value(&q, (double)n, times[n]) < value(&q, (double)best, times[best])))
                best = n;
        }
        struct hm_runs *runs = parse(text);
        struct hm_recommendation *r = recommend(runs, &q);
        assert_int_equal(r->provenance, HM_RECOMMEND_ROWS);
        assert_int_equal(r->candidate_count, 6);
        if (best == 0) {
            assert_true(r->best == HM_NONE && r->missed);
        } else {
            assert_int_equal(r->best, 0);
            assert_near(r->candidates[0].n, (double)best, 0);
            assert_near(r->candidates[0].value, value(&q, (double)best, times[best]), 1e-12);
            assert_near(r->candidates[0].cost, (double)best * times[best] * q.price_per_s, 1e-12);
        }
        for (size_t i = 1; i < 6;
             i++) /* Feasible candidates must come first, in the order of their value. */
            assert_true(r->candidates[i - 1].feasible
                            ? !r->candidates[i].feasible ||
                                  r->candidates[i - 1].value <= r->candidates[i].value
                            : !r->candidates[i].feasible);
        hm_recommendation_free(r);
        hm_runs_free(runs);
    }
}

/* ---- generated tables ----------------------------------------------------------------------- */

static double normal(unsigned *seed)
{
    double sum = -6;

    for (int i = 0; i < 12; i++)
        sum += pick(seed, 0, 1);
    return sum;
}

/* The seconds of a generated job consist of divided work, latency times a function of n, and a
 * constant. */
struct made_runs {
    double fixed, work, wait, tree;
    int shape; /* Form of the overhead: none, a ring, a tree, or an arbitrary number for each n. */
    double own[9];
};

static double made_seconds(const struct made_runs *m, double n, double batch, double latency)
{
    double shape = m->shape == 0   ? 1
                   : m->shape == 1 ? n - 1
                   : m->shape == 2 ? log(n)
                                   : m->own[(size_t)n];

    return m->fixed + m->work * batch / n + m->wait * latency * shape + m->tree * log(n);
}

static struct made_runs make(unsigned *seed)
{
    struct made_runs m = {.fixed = 0.3 * exp(normal(seed)),
                          .work = 0.01 * exp(normal(seed)),
                          .wait = 100 * exp(normal(seed)),
                          .tree = 0.2 * exp(normal(seed)),
                          .shape = (int)pick(seed, 0, 4)};

    for (size_t n = 2; n < 9; n++)
        m.own[n] = -log(pick(seed, 0.01, 1));
    return m;
}

static const double made_n[] = {1, 2, 4, 8}, made_batch[] = {100, 300, 1000, 3000, 8000},
                    made_latency[] = {0, 0.01, 0.03, 0.06};

/* Makes runs of a part of all configurations except one, with errors of 3 %. */
static struct hm_runs *make_runs(const struct made_runs *m, double share, size_t b0, size_t l0,
                                 unsigned *seed)
{
    char text[8192] = "n,batch,latency,seconds\n";
    size_t used = strlen(text);

    for (size_t n = 0; n < 4; n++)
        for (size_t b = 0; b < 5; b++)
            for (size_t l = 0; l < 4; l++) {
                double seconds = made_seconds(m, made_n[n], made_batch[b], made_latency[l]) *
                                 (1 + 0.03 * normal(seed));
                if ((b == b0 && l == l0) || pick(seed, 0, 1) > share)
                    continue;
                used += (size_t)snprintf(text + used, sizeof(text) - used, "%g,%g,%g,%.9g\n",
                                         made_n[n], made_batch[b], made_latency[l], seconds);
            }
    return parse(text);
}

/* Counts how often recommendations from generated tables are right; docs/reference/recommend.md
 * states these figures. */
static void made_tables(double share, size_t *covered, size_t *intervals, size_t *near,
                        double *sure)
{
    unsigned seed = 11;

    *covered = *intervals = *near = 0;
    *sure = 0;
    for (int round = 0; round < 100; round++) {
        struct made_runs m = make(&seed);
        size_t b = 1 + (size_t)pick(&seed, 0, 3), l = 1 + (size_t)pick(&seed, 0, 2);
        struct hm_runs *runs = make_runs(&m, share, b, l, &seed);
        struct hm_recommendation *r = ask_at(runs, made_batch[b], made_latency[l], NULL);
        double least = INFINITY, wobble = 1 + 0.03 * normal(&seed);
        for (size_t n = 0; n < 4; n++)
            least = fmin(least, made_seconds(&m, made_n[n], made_batch[b], made_latency[l]));
        for (size_t i = 0; i < r->candidate_count; i++) {
            const struct hm_recommended *c = &r->candidates[i];
            double seconds = made_seconds(&m, c->n, made_batch[b], made_latency[l]);
            *near += i == 0 && seconds <= 1.1 * least;
            *covered += c->low_s <= seconds * wobble && seconds * wobble <= c->high_s;
            ++*intervals;
        }
        *sure += isnan(r->sure) ? 0 : r->sure / 100;
        hm_recommendation_free(r);
        hm_runs_free(runs);
    }
}

static void test_made_tables(void **state)
{
    size_t covered, intervals, near;
    double sure;

    (void)state;
    made_tables(0.4, &covered, &intervals, &near, &sure);
    print_message("# 40 %% of the places: the best with %.2f\n", sure);
    assert_true((double)covered >= 0.95 * (double)intervals && near == 100);
    made_tables(0.2, &covered, &intervals, &near, &sure);
    print_message("# 20 %% of the places: the best with %.2f; %zu near, %zu of %zu inside\n", sure,
                  near, covered, intervals);
    assert_true((double)covered >= 0.9 * (double)intervals && near >= 88);
}

static void test_missed(void **state)
{
    struct hm_runs *runs = parse("n,seconds\n1,10\n2,6\n4,4\n");
    struct hm_recommend_question q = {.deadline_s = 3, .price_per_s = 1};

    (void)state;
    struct hm_recommendation *r = recommend(runs, &q);
    assert_string_equal(r->missed, "deadline");
    /* The candidate that exceeds the limit least comes first. */
    assert_near(r->candidates[0].n, 4, 0);
    hm_recommendation_free(r);
    q = (struct hm_recommend_question){.budget = 5, .price_per_s = 1};
    r = recommend(runs, &q);
    assert_string_equal(r->missed, "budget");
    assert_near(r->candidates[0].n, 1, 0);
    hm_recommendation_free(r);
    q = (struct hm_recommend_question){.budget = 12, .deadline_s = 5, .price_per_s = 1};
    r = recommend(runs, &q);
    assert_string_equal(r->missed, "deadline and budget");
    assert_near(r->candidates[0].n, 2, 0);
    hm_recommendation_free(r);
    hm_runs_free(runs);
}

/*
 * For matching rows the column `cost` is used, and for fits its rate. A given price overrides it.
 */
static void test_costs(void **state)
{
    struct hm_runs *runs = parse("n,batch,seconds,cost\n1,1,10,1\n1,2,20,2\n1,4,40,4\n1,8,81,8\n"
                                 "2,1,6,1.2\n2,2,11,2.2\n2,4,21,4.2\n2,8,41,8.2\n");
    struct hm_at at = {"batch", 2};
    struct hm_recommend_question q = {.at = &at, .at_count = 1, .goal = HM_GOAL_COST};

    (void)state;
    struct hm_recommendation *r = recommend(runs, &q);
    assert_near(r->candidates[0].n, 1, 0);
    assert_near(r->candidates[0].cost, 2, 0);
    assert_near(r->candidates[1].cost, 2.2, 1e-12);
    hm_recommendation_free(r);
    q.price_per_s = 1;
    r = recommend(runs, &q);
    assert_near(r->candidates[0].cost, 20, 1e-12);
    hm_recommendation_free(r);
    q.price_per_s = 0;
    at.value = 3;
    r = recommend(runs, &q);
    assert_int_equal(r->provenance, HM_RECOMMEND_FIT);
    assert_near(r->candidates[0].cost, 0.1 * r->candidates[0].n * r->candidates[0].time_s, 1e-9);
    hm_recommendation_free(r);
    hm_runs_free(runs);
}

/* ---- rows ----------------------------------------------------------------------------------- */

static void test_repeats(void **state)
{
    struct hm_runs *runs = parse("n,seconds\n1,10\n1,12\n1,99\n2,11.5\n2,11\n4,20\n4,20\n");
    struct hm_recommend_question q = {0};
    struct hm_recommendation *r = recommend(runs, &q);

    (void)state;
    assert_near(r->candidates[0].n, 2, 0);
    assert_near(r->candidates[0].time_s, 11.25, 1e-12); /* The time is the mean of two runs. */
    assert_near(r->candidates[1].time_s, 12, 1e-12);
    assert_int_equal(r->candidates[1].row_count, 3);
    assert_int_equal(r->row_count, 7);
    /* The interval is 11.25 -+ t(1; 0.95) 0.35355 sqrt(1.5), with t = tan(0.45 pi). */
    assert_near(r->candidates[0].high_s,
                11.25 + tan(0.45 * 3.14159265358979) * 0.5 * sqrt(0.5) * sqrt(1.5), 1e-6);
    assert_true(r->sure > 0.5 && r->sure < 1);
    hm_recommendation_free(r);
    hm_runs_free(runs);

    runs = parse("n,seconds\n1,10\n1,11\n1,12\n2,10\n2,11\n2,12\n");
    r = recommend(runs, &q);
    assert_near(r->sure, 0.5, 0.08);
    hm_recommendation_free(r);
    hm_runs_free(runs);
    runs = parse("n,seconds\n1,10\n1,11\n1,12\n2,10.5\n");
    r = recommend(runs, &q);
    /* The fit of all runs provides the error of the single run. */
    assert_true(r->sure > 0 && r->sure < 1 && r->candidates[0].low_s < r->candidates[0].time_s);
    hm_recommendation_free(r);
    hm_runs_free(runs);
}

static void test_failures(void **state)
{
    struct hm_runs *runs =
        parse("n,batch,seconds,status,machine\n1,64,,out of memory,a\n1,64,9,ok,b\n2,64,5,ok,a\n"
              "2,128,,timeout,a\n2,128,9,ok,a\n4,64,3,ok,a\n4,32,,exit 1,b\n");
    struct hm_at at = {"batch", 64};
    struct hm_recommend_question q = {.at = &at, .at_count = 1, .machine = "a"};
    struct hm_recommendation *r = recommend(runs, &q);

    (void)state;
    assert_near(r->candidates[0].n, 4, 0);
    assert_true(r->candidates[2].failed && r->candidates[2].n == 1);
    hm_recommendation_free(r);
    /* On two workers, one run failed and one succeeded; a fit prefers four workers. */
    at.value = 128;
    r = recommend(runs, &q);
    assert_near(r->candidates[0].n, 4, 0);
    assert_near(r->candidates[1].n, 2, 0);
    assert_false(r->candidates[1].failed);
    hm_recommendation_free(r);
    q.machine = "b";
    at.value = 64;
    r = recommend(runs, &q);
    assert_near(r->candidates[0].n, 1, 0);
    assert_true(r->candidates[1].failed && r->candidates[1].n == 4);
    assert_string_equal(r->candidates[1].why, "exit 1 with a batch of 32 (line 8)");
    hm_recommendation_free(r);
    hm_runs_free(runs);
}

static void test_size_goes_without(void **state)
{
    struct hm_runs *runs = parse("n,size,seconds\n1,0.5,4\n1,1,9\n2,0.5,9\n2,1,5\n");
    struct hm_recommend_question q = {0};
    struct hm_recommendation *r = recommend(runs, &q);

    (void)state;
    assert_near(r->candidates[0].n, 2, 0); /* Only runs of the whole problem size are used. */
    assert_int_equal(r->row_count, 2);
    hm_recommendation_free(r);
    hm_runs_free(runs);
}

/* ---- model, and no source at all ------------------------------------------------------------ */

static struct hm_job *job_of(const char *text)
{
    struct hm_job *job = NULL;
    struct hm_err err = {0};

    if (hm_job_parse(text, strlen(text), "t.yaml", NULL, 0, &job, &err))
        fail_msg("%s", err.message);
    return job;
}

static void test_model(void **state)
{
    struct hm_job *job = job_of("compute: 8 s/n\ncommunicate: 0.4 s*log2(n)\n"
                                "cluster: {flops: 1 Gflop/s, max_nodes: 16, price: $3600/h}\n");
    struct hm_runs *runs = parse("n,seconds,status\n8,,exit 1\n16,5,ok\n");
    const double few[] = {2, 3, 8}, one = 4;
    struct hm_recommend_question q = {.job = job, .n = few, .n_count = 3};
    struct hm_recommendation *r = recommend(NULL, &q);

    (void)state;
    assert_int_equal(r->provenance, HM_RECOMMEND_MODEL);
    assert_near(r->candidates[0].n, 8, 0);
    assert_near(r->candidates[0].time_s, 8 / 8.0 + 0.4 * 3, 1e-12);
    assert_near(r->candidates[0].cost, 8 * 2.2, 1e-12);
    assert_int_equal(r->candidate_count, 3);
    hm_recommendation_free(r);
    r = recommend(runs, &q); /* A run on 8 workers is known to fail. */
    assert_int_equal(r->provenance, HM_RECOMMEND_MODEL);
    assert_near(r->candidates[0].n, 3, 0);
    assert_true(r->candidates[2].failed && r->candidates[2].n == 8);
    hm_recommendation_free(r);
    q.n = &one;
    q.n_count = 1;
    struct hm_at at = {"size", 3};
    q.at = &at;
    q.at_count = 1;
    r = recommend(NULL, &q);
    assert_int_equal(r->candidate_count, 1);
    hm_recommendation_free(r);
    hm_runs_free(runs);
    hm_job_free(job);
}

static void test_none(void **state)
{
    struct hm_runs *runs = parse("n,batch,seconds\n4,10,3\n");
    struct hm_at at = {"batch", 20};
    struct hm_recommend_question q = {.at = &at, .at_count = 1};
    struct hm_recommendation *r = recommend(runs, &q);

    (void)state;
    assert_int_equal(r->provenance, HM_RECOMMEND_NONE);
    assert_true(r->best == HM_NONE && r->candidate_count == 0);
    assert_int_equal(r->next_count, 2);
    assert_string_equal(r->next[0].name, "n");
    assert_near(r->next[0].value, 8, 0);
    assert_string_equal(r->next[1].name, "batch");
    assert_near(r->next[1].value, 20, 0);
    hm_recommendation_free(r);
    q.algorithm = "gd";
    r = recommend(runs, &q);
    assert_string_equal(r->reason, "no run is of gd");
    assert_int_equal(r->next_count, 0);
    hm_recommendation_free(r);
    hm_runs_free(runs);
}

/* ---- wrong questions ------------------------------------------------------------------------ */

static void refuse(const struct hm_runs *runs, const struct hm_recommend_question *q, int code)
{
    struct hm_recommendation *r = NULL;
    struct hm_err err = {0};

    assert_int_equal(hm_recommend(runs, q, &r, &err), code);
    assert_null(r);
    assert_true(err.message[0]);
    assert_int_equal(hm_recommend(runs, q, &r, NULL), code);
}

static void test_wrong(void **state)
{
    struct hm_runs *runs = parse("n,batch,seconds,kind\n1,10,3,x\n2,20,3,y\n");
    struct hm_runs *speedups = parse("n,speedup\n1,1\n2,1.8\n");
    struct hm_at batch = {"batch", 10}, twice[] = {{"batch", 10}, {"batch", 20}};
    struct hm_at wrong[] = {{"batch", -1}, {"batch", NAN}, {"batch", 0}, {"latency", -1}};
    struct hm_at names[] = {{"bach", 1}, {"n", 1}, {"seconds", 1}, {"kind", 1}};
    const int codes[] = {HM_E_NAME, HM_E_NAME, HM_E_NAME, HM_E_TYPE};
    const double half = 1.5;
    struct hm_recommend_question q = {.at = twice, .at_count = 2};

    (void)state;
    refuse(runs, &q, HM_E_CONFLICT);
    for (size_t i = 0; i < 4; i++) {
        q = (struct hm_recommend_question){.at = &wrong[i], .at_count = 1};
        refuse(runs, &q, HM_E_RANGE);
        q.at = &names[i];
        refuse(runs, &q, codes[i]);
    }
    q = (struct hm_recommend_question){0};
    refuse(runs, &q, HM_E_MISSING); /* The question does not give the batch. */
    refuse(NULL, &q, HM_E_MISSING);
    refuse(speedups, &q, HM_E_MISSING);
    q = (struct hm_recommend_question){.at = &batch, .at_count = 1, .budget = 3};
    refuse(runs, &q, HM_E_MISSING);
    q = (struct hm_recommend_question){.at = &batch, .at_count = 1, .level = 1};
    refuse(runs, &q, HM_E_RANGE);
    q = (struct hm_recommend_question){.at = &batch, .at_count = 1, .deadline_s = -1};
    refuse(runs, &q, HM_E_RANGE);
    q = (struct hm_recommend_question){.at = &batch, .at_count = 1, .n = &half, .n_count = 1};
    refuse(runs, &q, HM_E_RANGE);
    hm_runs_free(speedups);
    hm_runs_free(runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published),
        cmocka_unit_test(test_never_fails),
        cmocka_unit_test(test_rows_left_out),
        cmocka_unit_test(test_places_left_out),
        cmocka_unit_test(test_own_fit),
        cmocka_unit_test(test_all_fit),
        cmocka_unit_test(test_made_tables),
        cmocka_unit_test(test_goals),
        cmocka_unit_test(test_missed),
        cmocka_unit_test(test_costs),
        cmocka_unit_test(test_repeats),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_size_goes_without),
        cmocka_unit_test(test_model),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_wrong),
    };
    return cmocka_run_group_tests_name("recommend", tests, NULL, NULL);
}
