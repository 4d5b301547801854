/*
 * Tests boundaries of the model, the fit and graphs: values that are exactly at a limit, one step
 * beyond it, ties, first and last elements, one run and one worker. All figures are computed by
 * hand from the formulas in the file headers.
 */
#include "testing.h"

#include "budget.h"
#include "choose.h"
#include "collective.h"
#include "fit.h"
#include "fit_data.h"
#include "howmany_fit.h"
#include "model.h"
#include "student.h"
#include "way_time.h"

static struct hm_point model_at(const char *text, double n)
{
    struct hm_job *job = parse_job(text);
    struct hm_variant variant = HM_VARIANT_INIT;
    struct hm_model *model = NULL;
    struct hm_point p = {.n = n};
    struct hm_err err = {0};

    if (hm__model_new(job, job->has_cluster ? &job->cluster : NULL, &variant, &model, &err) ||
        hm__model_eval(model, &p, 1, &err))
        fail_msg("%s: %s", err.field, err.message);
    hm__model_free(model);
    hm_job_free(job);
    return p;
}

static size_t part_count_of(const char *text)
{
    struct hm_job *job = parse_job(text);
    struct hm_variant variant = HM_VARIANT_INIT;
    struct hm_model *model = NULL;
    struct hm_err err = {0};

    if (hm__model_new(job, NULL, &variant, &model, &err))
        fail_msg("%s: %s", err.field, err.message);
    size_t count = hm__model_part_count(model);
    hm__model_free(model);
    hm_job_free(job);
    return count;
}

/* Computing is one part of a step. Each communication is another part; with overlap, all
 * communications together are one part. */
static void parts_are_counted(void **state)
{
    (void)state;
    assert_int_equal(part_count_of("compute: 6/n\ncommunicate: []\n"), 1);
    assert_int_equal(part_count_of("compute: 6/n\ncommunicate: [0.5*n, 0.1*n]\n"), 3);
    assert_int_equal(part_count_of("compute: 6/n\ncommunicate: []\noverlap: {norm: 2}\n"), 1);
    assert_int_equal(part_count_of("compute: 6/n\ncommunicate: 0.5*n\noverlap: {norm: 2}\n"), 2);
    assert_int_equal(
        part_count_of("compute: 6/n\ncommunicate: [0.5*n, 0.1*n]\noverlap: {norm: 2}\n"), 2);
}

/* If computing and communicating both take 0 s, the total is 0 s, not 0/0. */
static void no_time_overlaps_with_none(void **state)
{
    (void)state;
    struct hm_point p = model_at("compute: 6 * (n - 1)\ncommunicate: 0*n\noverlap: {norm: 2}\n", 1);
    assert_true(p.compute_s == 0 && p.time_s == 0);
    p = model_at("compute: 3*n\ncommunicate: 4*n\noverlap: {norm: 2}\n", 1);
    assert_near(p.time_s, 5, 1e-12);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Returns the point of a job on n workers. Its 100 * 10 weights in 32 bits need 4000 bytes, and
 * each sample needs 10 outputs of 4 bytes. */
static struct hm_point dense_at(const char *optimizer, double memory, double n)
{
    char text[400];

    snprintf(text, sizeof(text),
             "batch: 8\nprecision: 32\n%s"
             "network: {input: 100, layers: [dense: {units: 10, bias: false}]}\n"
             "communicate: [{what: gradients, scheme: ring}]\n"
             "cluster: {flops: 1 Gflop/s, efficiency: 1, memory: %.0f B, fabric: 10gbe}\n",
             optimizer, memory);
    return model_at(text, n);
}

/* Weights and gradients need two copies; momentum adds one copy and Adam adds two. */
static void optimizer_states_are_counted(void **state)
{
    (void)state;
    assert_near(dense_at("", 1e9, 1).memory_bytes, 2 * 4000 + 8 * 40, 0);
    assert_near(dense_at("optimizer: sgd\n", 1e9, 1).memory_bytes, 2 * 4000 + 8 * 40, 0);
    assert_near(dense_at("optimizer: momentum\n", 1e9, 1).memory_bytes, 3 * 4000 + 8 * 40, 0);
    assert_near(dense_at("optimizer: adam\n", 1e9, 1).memory_bytes, 4 * 4000 + 8 * 40, 0);
    assert_near(dense_at("optimizer: adam\n", 1e9, 4).memory_bytes, 4 * 4000 + 2 * 40, 0);
}

/* Without micro-batches, all eight samples must fit. */
static void a_full_memory_fits(void **state)
{
    (void)state;
    assert_true(dense_at("optimizer: adam\nmicro_batch: 8\n", 16320, 1).fits);
    assert_false(dense_at("optimizer: adam\nmicro_batch: 8\n", 16319, 1).fits);
    assert_true(dense_at("optimizer: adam\nmicro_batch: 8\n", 16321, 1).fits);
    assert_false(dense_at("micro_batch: 8\n", 8319, 1).fits);
    assert_true(dense_at("micro_batch: 8\n", 8320, 1).fits);
    assert_true(dense_at("micro_batch: 8\n", 8160, 2).fits);
    assert_false(dense_at("micro_batch: 8\n", 8159, 2).fits);
    /* A batch that does not fit is divided into the fewest equal passes that fit. */
    struct hm_point p = dense_at("optimizer: adam\n", 16319, 1);
    assert_true(p.fits);
    assert_near(p.micro_batch, 4, 0);
    assert_near(p.memory_bytes, 4 * 4000 + 4 * 40, 0);
    assert_near(dense_at("optimizer: adam\n", 16000 + 3 * 40, 1).micro_batch, 3, 0);
    assert_false(dense_at("optimizer: adam\n", 16000 + 39, 1).fits);
}

/* If n equals the batch, each worker has one sample; if n is larger by one, one worker has none. */
static void each_worker_needs_a_sample(void **state)
{
    (void)state;
    assert_true(dense_at("", 1e9, 8).fits);
    assert_false(dense_at("", 1e9, 9).fits);
    assert_near(dense_at("", 1e9, 8).compute_s, 3 * 2 * 1000 / 1e9, 1e-14);
}

static void a_memory_formula_is_exact(void **state)
{
    static const char text[] = "compute: 1 / n\nmemory: 1000 B / n\n"
                               "communicate: 0\n"
                               "cluster: {flops: 1 Gflop/s, memory: 500 B, fabric: 10gbe}\n";

    (void)state;
    assert_false(model_at(text, 1).fits);
    assert_true(model_at(text, 2).fits);
    assert_near(model_at(text, 2).memory_bytes, 500, 0);
}

/* ---- nodes and collectives ------------------------------------------------------------------- */

static void nodes_are_filled_before_another_is_used(void **state)
{
    static const char text[] = "compute: 1 / n\ncommunicate: 0\n"
                               "cluster: {flops: 1 Gflop/s, accelerators: 4, fabric: 10gbe, "
                               "link: {bandwidth: 300 GB/s, latency: 3 us}}\n";

    (void)state;
    assert_near(model_at(text, 1).nodes, 1, 0);
    assert_near(model_at(text, 4).nodes, 1, 0);
    assert_near(model_at(text, 5).nodes, 2, 0);
    assert_near(model_at(text, 8).nodes, 2, 0);
    assert_near(model_at(text, 9).nodes, 3, 0);
}

static double collective_s(enum hm_scheme scheme, double n, double per_node)
{
    const struct hm_wires wires = {.fabric = {.bandwidth_bytes_per_s = 1, .latency_s = 100},
                                   .link = {.bandwidth_bytes_per_s = 10, .latency_s = 1},
                                   .per_node = per_node,
                                   .servers = 1};
    struct hm_wire_time t = hm__collective_eval(scheme, n, 10, &wires);

    return t.latency_s + t.bandwidth_s;
}

/* One worker sends nothing, and two workers are the fewest that send. The workers of a full node
 * still use only its inner link. */
static void collectives_begin_at_two_workers(void **state)
{
    (void)state;
    assert_near(collective_s(HM_SCHEME_RING, 1, 1), 0, 0);
    assert_near(collective_s(HM_SCHEME_RING, 2, 1), 2 * 100 + 10, 1e-14);
    assert_near(collective_s(HM_SCHEME_TREE, 1, 1), 0, 0);
    assert_near(collective_s(HM_SCHEME_TREE, 2, 1), 110, 1e-14);
    assert_near(collective_s(HM_SCHEME_TREE, 4, 1), 220, 1e-14);
    assert_near(collective_s(HM_SCHEME_TREE, 5, 1), 330, 1e-14);
    assert_near(collective_s(HM_SCHEME_SERIAL, 1, 1), 0, 0);
    assert_near(collective_s(HM_SCHEME_SERIAL, 2, 1), 110, 1e-14);
    assert_near(collective_s(HM_SCHEME_LINEAR, 1, 1), 0, 0);
    assert_near(collective_s(HM_SCHEME_LINEAR, 2, 1), 110, 1e-14);
    assert_near(collective_s(HM_SCHEME_TWO_WAVE, 1, 1), 20, 1e-14);
    assert_near(collective_s(HM_SCHEME_TWO_WAVE, 4, 1), 40, 1e-14);
    assert_near(collective_s(HM_SCHEME_TWO_WAVE, 5, 1), 60, 1e-14);
    assert_near(collective_s(HM_SCHEME_RING, 4, 4), 2 * 3 * 1 + 2 * 0.75 * 1, 1e-14);
    assert_near(collective_s(HM_SCHEME_RING, 5, 4), 2 * 4 * 100 + 2 * 0.8 * 10, 1e-14);
    assert_near(collective_s(HM_SCHEME_TREE, 5, 4), 3 * 100 + 3 * 40, 1e-14);
}

/* ---- fits ------------------------------------------------------------------------------------ */

static struct hm_fit *fit_text(const char *text, const char *const *terms, size_t count)
{
    struct hm_fit_settings settings = {.terms = terms, .term_count = count};
    struct hm_runs *runs = NULL;
    struct hm_fit *fit = NULL;
    struct hm_err err = {0};

    if (hm_runs_parse(text, strlen(text), "runs.csv", &runs, &err) ||
        hm_fit_new(runs, &settings, &fit, &err))
        fail_msg("%s", err.message);
    hm_runs_free(runs);
    return fit;
}

/* `beyond` must be 1 for n between the smallest and the largest run, and a factor above 1 outside
 * this range. */
static void beyond_is_a_factor_on_both_sides(void **state)
{
    static const char *const terms[] = {"1", "1/n"};
    const double n[] = {1, 2, 4, 8, 16, 17, 64};
    const double wanted[] = {4, 2, 1, 1, 1, 17.0 / 16, 4};
    struct hm_fit *fit = fit_text("n,seconds\n4,3.1\n8,2\n16,1.6\n4,3\n", terms, 2);
    struct hm_prediction p[7];

    (void)state;
    assert_int_equal(hm_fit_predict(fit, NULL, 0, n, 7, p, NULL), 0);
    for (size_t i = 0; i < 7; i++)
        hm_assert_near(p[i].beyond, wanted[i], 1e-14, "beyond", (int)n[i]);
    hm_fit_free(fit);
}

static void predictions_need_a_worker(void **state)
{
    static const char *const terms[] = {"1", "1/n"};
    struct hm_fit *fit = fit_text("n,seconds\n1,5\n2,3\n4,2\n", terms, 2);
    struct hm_prediction p;

    (void)state;
    assert_int_equal(hm_fit_predict(fit, NULL, 0, (double[]){1}, 1, &p, NULL), 0);
    assert_near(p.speedup, 1, 1e-14);
    assert_int_equal(hm_fit_predict(fit, NULL, 0, (double[]){0.999}, 1, &p, NULL), HM_E_RANGE);
    assert_int_equal(hm_fit_predict(fit, NULL, 0, (double[]){INFINITY}, 1, &p, NULL), HM_E_RANGE);
    assert_int_equal(hm_fit_predict(fit, NULL, 0, (double[]){NAN}, 1, &p, NULL), HM_E_RANGE);
    hm_fit_free(fit);
}

/* Returns the deviation of the i-th run from 5 + 10 n: x for the last run, otherwise -d or d. */
static double deviation(size_t i, size_t runs, double d, double x)
{
    return i + 1 == runs ? x : i / 2 % 2 ? d : -d;
}

/* Counts the outliers of runs at alternately n = 1 and n = 2, fitted by the terms 1 and n with
 * equal errors. */
static size_t count_outliers(size_t runs, double d, double x)
{
    static const char *const terms[] = {"1", "n"};
    struct hm_fit_settings settings = {.terms = terms, .term_count = 2, .errors = HM_ERRORS_EQUAL};
    char text[20000] = "n,seconds\n";
    struct hm_runs *table = NULL;
    struct hm_fit *fit = NULL;
    size_t outliers = 0;

    for (size_t i = 0; i < runs; i++) {
        size_t used = strlen(text);
        double n = (double)(i % 2) + 1;
        snprintf(text + used, sizeof(text) - used, "%g,%.17g\n", n,
                 5 + 10 * n + deviation(i, runs, d, x));
    }
    assert_int_equal(hm_runs_parse(text, strlen(text), "r", &table, NULL), 0);
    assert_int_equal(hm_fit_new(table, &settings, &fit, NULL), 0);
    for (size_t i = 0; i < fit->residual_count; i++)
        outliers += fit->residuals[i].outlier;
    hm_fit_free(fit);
    hm_runs_free(table);
    return outliers;
}

/*
 * The studentised residual must pass a test at 5 % divided by the number of runs. With 200 runs the
 * limit is the two-sided quantile at 0.05 / 200 (about 3.7), not that at 0.05 (about 2.0): a run at
 * 3 standard deviations is no outlier among many, and a run at 5 is.
 */
/* Squared deviations from the mean of each configuration are added up over the configurations; four
 * repeats are enough to decide. */
static void repeats_show_the_kind_of_errors(void **state)
{
    struct hm_group groups[] = {{.count = 3, .within = 0.02, .mean_s = 1},
                                {.count = 3, .within = 200, .mean_s = 100}};
    const struct hm_fit_data data = {.groups = groups, .group_count = 2};
    const double scale[] = {10, 0.1};
    double sum = NAN;

    (void)state;
    assert_near(hm__fit_data_repeats(&data, NULL, &sum), 4, 0);
    assert_near(sum, 200.02, 1e-12);
    assert_near(hm__fit_data_repeats(&data, scale, &sum), 4, 0);
    assert_near(sum, 0.02 * 100 + 200 * 0.01, 1e-12);
    assert_int_equal(hm__fit_data_relative(&data), 1);
    groups[1].within = 0.02;
    assert_int_equal(hm__fit_data_relative(&data), 0);
    groups[1].count = 2;
    assert_int_equal(hm__fit_data_relative(&data), -1);
    groups[1].count = 3;
    groups[0].within = groups[1].within = 0;
    assert_int_equal(hm__fit_data_relative(&data), -1);
}

static void outliers_are_corrected_for_many_runs(void **state)
{
    (void)state;
    assert_int_equal(count_outliers(200, 1, 3), 0);
    assert_int_equal(count_outliers(200, 1, 5), 1);
    assert_int_equal(count_outliers(20, 0.1, 0.1), 0);
    assert_int_equal(count_outliers(20, 0.1, 0.8), 1);
}

/* Returns the studentised residual of the last run. Each n has its own mean, so the leverage is 2 /
 * runs. */
static double studentised(size_t runs, double d, double x)
{
    double mean[2] = {0}, sum = 0, h = 2 / (double)runs;

    for (size_t i = 0; i < runs; i++)
        mean[i % 2] += deviation(i, runs, d, x) * h;
    for (size_t i = 0; i < runs; i++)
        sum += pow(deviation(i, runs, d, x) - mean[i % 2], 2);
    double off = x - mean[(runs - 1) % 2], rest = sum - off * off / (1 - h);
    return off / sqrt(rest / ((double)runs - 3) * (1 - h));
}

/* A run that is one per cent below the corrected limit is no outlier; a run that is one per cent
 * above it is one. */
static void the_outlier_limit_follows_students_t(void **state)
{
    (void)state;
    for (size_t runs = 40; runs <= 160; runs *= 2) {
        double limit = hm__student_quantile((double)runs - 3, 1 - 0.05 / 2 / (double)runs);
        for (int side = -1; side <= 1; side += 2) {
            double low = 1, high = 30;
            for (int i = 0; i < 60; i++) {
                double middle = (low + high) / 2;
                *(studentised(runs, 1, middle) > limit * (1 + 0.01 * side) ? &high : &low) = middle;
            }
            assert_near(studentised(runs, 1, low), limit * (1 + 0.01 * side), 1e-9);
            assert_int_equal(count_outliers(runs, 1, low), side > 0);
        }
    }
}

static void one_run_is_not_enough(void **state)
{
    struct hm_fit_settings settings = {0};
    struct hm_runs *runs = NULL;
    struct hm_fit *fit = NULL;

    (void)state;
    assert_int_equal(hm_runs_parse("n,seconds\n3,2\n", 14, "r", &runs, NULL), 0);
    assert_int_equal(hm_fit_new(runs, &settings, &fit, NULL), HM_E_MISSING);
    hm_runs_free(runs);
    assert_int_equal(hm_runs_parse("n,seconds\n3,2\n4,1.5\n", 20, "r", &runs, NULL), 0);
    assert_int_equal(hm_fit_new(runs, &settings, &fit, NULL), 0);
    assert_near(fit->n_min, 3, 0);
    assert_near(fit->n_max, 4, 0);
    hm_fit_free(fit);
    hm_runs_free(runs);
}

static void settings_are_checked_at_their_limits(void **state)
{
    struct hm_fit_settings s = {.level = 0};

    (void)state;
    assert_int_equal(hm_fit_settings_check(&s, NULL), 0);
    s.level = 0.999;
    assert_int_equal(hm_fit_settings_check(&s, NULL), 0);
    s.level = 1;
    assert_int_equal(hm_fit_settings_check(&s, NULL), HM_E_RANGE);
    s.level = -0.001;
    assert_int_equal(hm_fit_settings_check(&s, NULL), HM_E_RANGE);
    s = (struct hm_fit_settings){.seed = -1};
    assert_int_equal(hm_fit_settings_check(&s, NULL), HM_E_RANGE);
    s = (struct hm_fit_settings){.width = -1};
    assert_int_equal(hm_fit_settings_check(&s, NULL), HM_E_RANGE);
    s = (struct hm_fit_settings){.noise = INFINITY};
    assert_int_equal(hm_fit_settings_check(&s, NULL), HM_E_RANGE);
    s = (struct hm_fit_settings){.width = INFINITY};
    assert_int_equal(hm_fit_settings_check(&s, NULL), HM_E_RANGE);
    s = (struct hm_fit_settings){.errors = HM_ERRORS_RELATIVE};
    assert_int_equal(hm_fit_settings_check(&s, NULL), 0);
    s.errors = (enum hm_errors)(HM_ERRORS_RELATIVE + 1);
    assert_true(hm_fit_settings_check(&s, NULL) < 0);
    s = (struct hm_fit_settings){.term_count = 1};
    assert_true(hm_fit_settings_check(&s, NULL) < 0);
    assert_true(hm_fit_settings_check(NULL, NULL) < 0);
    struct hm_job *job = parse_job("compute: 6/n\ncommunicate: 0.5*n\n");
    struct hm_cluster wrong = {.max_nodes = -1};
    const char *terms[] = {"1"};
    s = (struct hm_fit_settings){.job = job};
    assert_int_equal(hm_fit_settings_check(&s, NULL), 0);
    s.cluster = &wrong;
    assert_true(hm_fit_settings_check(&s, NULL) < 0);
    s = (struct hm_fit_settings){.job = job, .terms = terms, .term_count = 1};
    assert_int_equal(hm_fit_settings_check(&s, NULL), HM_E_CONFLICT);
    struct hm_job broken = *job;
    broken.iterations = -1;
    s = (struct hm_fit_settings){.job = &broken};
    assert_true(hm_fit_settings_check(&s, NULL) < 0);
    hm_job_free(job);
}

static void quantiles_of_few_values(void **state)
{
    (void)state;
    assert_near(hm__quantile((double[]){7}, 1, 0), 7, 0);
    assert_near(hm__quantile((double[]){7}, 1, 1), 7, 0);
    assert_near(hm__quantile((double[]){3, 1, 2}, 3, 0), 1, 0);
    assert_near(hm__quantile((double[]){3, 1, 2}, 3, 0.5), 2, 0);
    assert_near(hm__quantile((double[]){3, 1, 2}, 3, 1), 3, 0);
    assert_near(hm__quantile((double[]){4, 1, 3, 2}, 4, 0.24), 2, 0);
    assert_near(hm__quantile((double[]){4, 1, 3, 2}, 4, 0.16), 1, 0);
    assert_near(hm__student_tail(5, 0), 0.5, 1e-14);
    assert_near(hm__student_tail(1, -1), 0.75, 1e-14); /* The tail of the Cauchy distribution. */
    assert_near(hm__student_tail(7, -3), 1 - hm__student_tail(7, 3), 1e-14);
    assert_near(hm__fisher_tail(3, 4, 0), 1, 0);
    assert_near(hm__fisher_tail(1, 7, 9), 2 * hm__student_tail(7, 3), 1e-12);
}

/*
 * Orders the numbers 1 to `count` so that the middle one of those that remain is always the largest
 * (or the smallest), which is then removed: the worst order for a selection that compares with the
 * middle one.
 */
static void worst_order(double *values, size_t count, bool largest)
{
    size_t low = 0, high = count - 1, *places = calloc(count, sizeof(*places));

    assert_non_null(places);
    for (size_t i = 0; i < count; i++)
        places[i] = i;
    for (size_t k = 0; k < count; k++) {
        size_t middle = low + (high - low) / 2, end = largest ? high-- : low++;
        values[places[middle]] = (double)(largest ? count - k : k + 1);
        places[middle] = places[end];
    }
    free(places);
}

/* The work for the worst order grows in proportion to the number of values: the limits are checked
 * in each pass, and there are few passes. */
static void quantiles_of_the_worst_order(void **state)
{
    enum { COUNT = 50001, PASSES_MOST = 100 };
    static const double fractions[] = {0, 0.05, 0.5, 0.95, 1};
    double *values = calloc(COUNT, sizeof(*values));

    (void)state;
    assert_non_null(values);
    for (size_t i = 0; i < 10; i++) {
        struct hm_budget budget = {.checks = 1 << 30};
        double fraction = fractions[i / 2];
        worst_order(values, COUNT, i % 2 == 0);
        hm__budget_enter(&budget);
        assert_near(hm__quantile(values, COUNT, fraction), 1 + fraction * (COUNT - 1), 0);
        hm__budget_leave(&budget);
        long checks = (1 << 30) - budget.checks;
        if (checks < 1 || checks > PASSES_MOST)
            fail_msg("%zu: %ld checks", i, checks);
        /* A spent budget ends the work at once. */
        budget.checks = 1;
        hm__budget_enter(&budget);
        hm__quantile(values, COUNT, fraction);
        assert_int_equal(budget.cause, HM_BUDGET_CANCELLED);
        hm__budget_leave(&budget);
    }
    free(values);
}

/* ---- platforms, layers and graphs ------------------------------------------------------------ */

static void platforms_at_their_limits(void **state)
{
    struct hm_way way = {.platform = HM_PLATFORM_SERVER, .servers = 3};

    (void)state;
    assert_near(hm__way_nodes(&way), 3, 0);
    way.colocated = true;
    assert_near(hm__way_nodes(&way), 0, 0);
    way = (struct hm_way){.platform = HM_PLATFORM_DRIVER};
    assert_near(hm__way_nodes(&way), 1, 0);
    way = (struct hm_way){.platform = HM_PLATFORM_ALLREDUCE, .backups = 2};
    assert_near(hm__way_nodes(&way), 0, 0);
    assert_near(hm__way_used(&way, 2), 1, 0);
    assert_near(hm__way_used(&way, 3), 1, 0);
    assert_near(hm__way_used(&way, 4), 2, 0);
    way = (struct hm_way){.consistency = HM_CONSISTENCY_SSP};
    assert_false(hm__way_stale(&way));
    way.stale_cost = 2;
    assert_near(hm__way_stale_cost(&way, 8), 1, 0);
    way.staleness = 1;
    assert_true(hm__way_stale(&way));
    assert_near(hm__way_stale_cost(&way, 8), 2, 0);
    way.stale_cost = 0.5;
    assert_near(hm__way_stale_cost(&way, 8), 1, 0);
    way.stale_power = 1;
    assert_near(hm__way_stale_cost(&way, 8), 4, 1e-14);
    way.consistency = HM_CONSISTENCY_BSP;
    assert_false(hm__way_stale(&way));
    way.consistency = HM_CONSISTENCY_ASYNC;
    assert_true(hm__way_stale(&way));
}

/* A window as large as the image has one position; a window that is one pixel larger does not
 * fit. */
static void windows_fit_exactly(void **state)
{
    struct hm_layer conv = {.kind = HM_LAYER_CONV,
                            .name = "conv",
                            .units = 2,
                            .kernel_h = 5,
                            .kernel_w = 5,
                            .stride = 1,
                            .groups = 1};
    struct hm_network network = {
        .input = {HM_SHAPE_IMAGE, 5, 5, 3}, .layers = &conv, .layer_count = 1};
    struct hm_counts *counts = NULL;

    (void)state;
    assert_int_equal(hm_counts_new(&network, NULL, &counts, NULL), 0);
    assert_near(counts->layers[0].out.height, 1, 0);
    assert_near(counts->multiply_adds, 2 * 25 * 3, 0);
    hm_counts_free(counts);
    conv.kernel_w = 6;
    assert_int_equal(hm_counts_new(&network, NULL, &counts, NULL), HM_E_RANGE);
    conv.border_w = 1;
    assert_int_equal(hm_counts_new(&network, NULL, &counts, NULL), 0);
    hm_counts_free(counts);
    conv.kernel_w = 4;
    conv.border_w = 0;
    /* The numbers of positions are (5 - 4) div 2 + 1 = 1 and (5 - 3) div 2 + 1 = 2. */
    conv.stride = 2;
    conv.kernel_h = 3;
    assert_int_equal(hm_counts_new(&network, NULL, &counts, NULL), 0);
    assert_near(counts->layers[0].out.width, 1, 0);
    assert_near(counts->layers[0].out.height, 2, 0);
    hm_counts_free(counts);
}

static void a_network_has_at_most_10000_layers(void **state)
{
    struct hm_layer relu = {.kind = HM_LAYER_ACTIVATION, .name = "relu"};
    struct hm_layer repeat = {.kind = HM_LAYER_REPEAT,
                              .name = "repeat",
                              .times = 10000,
                              .children = &relu,
                              .child_count = 1};
    struct hm_network network = {
        .input = {HM_SHAPE_VECTOR, 1, 1, 3}, .layers = &repeat, .layer_count = 1};
    struct hm_counts *counts = NULL;

    (void)state;
    assert_int_equal(hm_counts_new(&network, NULL, &counts, NULL), 0);
    assert_int_equal(counts->layer_count, 10000);
    hm_counts_free(counts);
    repeat.times = 10001;
    assert_int_equal(hm_counts_new(&network, NULL, &counts, NULL), HM_E_RANGE);
}

/* A graph with two vertices and one edge can be split into two parts, but not into three. */
static void a_graph_has_as_many_parts_as_vertices(void **state)
{
    struct hm_recipe recipe = {.kind = HM_RECIPE_GRID, .vertices = 2};
    struct hm_graph *g = NULL;
    struct hm_parts parts;
    double n = 2;

    (void)state;
    assert_int_equal(hm_graph_make(&recipe, &g, NULL), 0);
    assert_near(g->edges, 1, 0);
    assert_int_equal(hm_graph_split(g, HM_SPLIT_GREEDY, 1, 0, &n, 1, &parts, NULL), 0);
    assert_near(parts.cut, 1, 0);
    assert_near(parts.replicas, 2, 0);
    n = 3;
    assert_int_equal(hm_graph_split(g, HM_SPLIT_GREEDY, 1, 0, &n, 1, &parts, NULL), HM_E_RANGE);
    n = 0;
    assert_int_equal(hm_graph_split(g, HM_SPLIT_GREEDY, 1, 0, &n, 1, &parts, NULL), HM_E_RANGE);
    n = 1;
    assert_int_equal(hm_graph_split(g, HM_SPLIT_GREEDY, 0, 0, &n, 1, &parts, NULL), HM_E_RANGE);
    assert_int_equal(hm_graph_split(g, HM_SPLIT_GREEDY, 1, 0, &n, 1, &parts, NULL), 0);
    assert_near(parts.edges_max, 1, 0);
    assert_near(parts.cut, 0, 0);
    hm_graph_free(g);
    recipe.vertices = 1;
    assert_int_equal(hm_graph_make(&recipe, &g, NULL), HM_E_RANGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_counted),
        cmocka_unit_test(no_time_overlaps_with_none),
        cmocka_unit_test(optimizer_states_are_counted),
        cmocka_unit_test(a_full_memory_fits),
        cmocka_unit_test(each_worker_needs_a_sample),
        cmocka_unit_test(a_memory_formula_is_exact),
        cmocka_unit_test(nodes_are_filled_before_another_is_used),
        cmocka_unit_test(collectives_begin_at_two_workers),
        cmocka_unit_test(beyond_is_a_factor_on_both_sides),
        cmocka_unit_test(predictions_need_a_worker),
        cmocka_unit_test(repeats_show_the_kind_of_errors),
        cmocka_unit_test(outliers_are_corrected_for_many_runs),
        cmocka_unit_test(the_outlier_limit_follows_students_t),
        cmocka_unit_test(one_run_is_not_enough),
        cmocka_unit_test(settings_are_checked_at_their_limits),
        cmocka_unit_test(quantiles_of_few_values),
        cmocka_unit_test(quantiles_of_the_worst_order),
        cmocka_unit_test(platforms_at_their_limits),
        cmocka_unit_test(windows_fit_exactly),
        cmocka_unit_test(a_network_has_at_most_10000_layers),
        cmocka_unit_test(a_graph_has_as_many_parts_as_vertices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
