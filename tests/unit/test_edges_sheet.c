/*
 * Tests boundaries of fits: runs that follow the specification sheet of a job exactly at other
 * batches, sizes, latencies and bandwidths, default values of quantities, sheets that are wrong by
 * a factor, and notes on terms that are alike. All expected times are formulas that the tests
 * compute themselves.
 */
#include "runs_testing.h"

static bool fit_notes(const struct hm_fit *fit, const char *text)
{
    for (size_t i = 0; i < fit->note_count; i++)
        if (strstr(fit->notes[i], text))
            return true;
    return false;
}

static double predict_at(const struct hm_fit *fit, const struct hm_at *at, size_t count, double n)
{
    struct hm_prediction p;
    struct hm_err err = {0};

    if (hm_fit_predict(fit, at, count, &n, 1, &p, &err))
        fail_msg("%s", err.message);
    return p.time_s;
}

/* ---- sheets ---------------------------------------------------------------------------------- */

static const char sheet_job[] =
    "compute: 100 s / n\ncommunicate: {bytes: 4 MB, scheme: ring}\nbatch: 64\n"
    "cluster: {max_nodes: 64, flops: 1 Tflop/s, fabric: {bandwidth: 10 MB/s, latency: 10 ms}}\n";

/* Returns the seconds of a step of the job on a ring: computing grows with the batch, and messages
 * do not. */
static double ring_seconds(double n, double work, double latency, double bandwidth)
{
    return 100 * work / n + 2 * (n - 1) * latency + 2 * (n - 1) / n * 4e6 / bandwidth;
}

/* Runs that follow the specification sheet for every batch, latency and bandwidth must leave no
 * residual. */
static void sheets_follow_the_columns(void **state)
{
    static const double n[] = {1, 2, 4, 8, 2, 4, 8, 16},
                        batch[] = {64, 64, 64, 128, 32, 64, 256, 64};
    static const double latency[] = {.01, .01, .02, .01, .01, .005, .01, .03};
    static const double bandwidth[] = {1e7, 2e7, 1e7, 1e7, 5e6, 1e7, 4e7, 1e7};
    struct hm_job *job = parse_job(sheet_job);
    const struct hm_fit_settings settings = {.job = job};
    char table[1000] = "n,batch,latency,bandwidth,seconds\n";

    (void)state;
    for (size_t i = 0; i < 8; i++)
        snprintf(table + strlen(table), sizeof(table) - strlen(table), "%g,%g,%g,%g,%.17g\n", n[i],
                 batch[i], latency[i], bandwidth[i],
                 ring_seconds(n[i], batch[i] / 64, latency[i], bandwidth[i]));
    struct hm_fit *fit = fit_with(table, &settings);
    assert_true(fit->from_sheet);
    /* Overheads that the specification sheet does not contain must take only a small share of the
     * time. */
    assert_true(fit->error < 0.01);
    const struct hm_at at[] = {{"batch", 512}, {"latency", 0.001}, {"bandwidth", 1e8}};
    assert_near(predict_at(fit, at, 3, 32), ring_seconds(32, 8, 0.001, 1e8), 0.1);
    /* If a prediction gives no values, those of the job are used. */
    assert_near(predict_at(fit, NULL, 0, 32), ring_seconds(32, 1, 0.01, 1e7), 0.1);
    hm_fit_free(fit);
    hm_job_free(job);
}

/* With weak scaling, the batch of a run is that of all workers, and the batch of the job is that of
 * one worker. */
static void weak_sheets_count_one_worker(void **state)
{
    struct hm_job *job = parse_job(
        "compute: 100 s\ncommunicate: {bytes: 4 MB, scheme: ring}\nbatch: 64\nscaling: weak\n"
        "cluster: {max_nodes: 64, flops: 1 Tflop/s, fabric: {bandwidth: 10 MB/s, latency: 10 "
        "ms}}\n");
    const struct hm_fit_settings settings = {.job = job};
    static const double n[] = {1, 2, 4, 8, 16}, own[] = {64, 128, 64, 32, 64};
    char table[1000] = "n,batch,seconds\n";

    (void)state;
    for (size_t i = 0; i < 5; i++)
        snprintf(table + strlen(table), sizeof(table) - strlen(table), "%g,%g,%.17g\n", n[i],
                 own[i] * n[i],
                 100 * own[i] / 64 + 2 * (n[i] - 1) * 0.01 + 2 * (n[i] - 1) / n[i] * 0.4);
    struct hm_fit *fit = fit_with(table, &settings);
    /* Overheads that the specification sheet does not contain must take only a small share of the
     * time. */
    assert_true(fit->error < 0.01);
    hm_fit_free(fit);
    hm_job_free(job);
}

/* If the size grows with n, as with weak scaling, it is divided by n. */
static void weak_sheets_divide_the_size(void **state)
{
    struct hm_job *job = parse_job(
        "compute: 100 s\ncommunicate: {bytes: 4 MB, scheme: ring}\nscaling: weak\n"
        "cluster: {max_nodes: 64, flops: 1 Tflop/s, fabric: {bandwidth: 10 MB/s, latency: 10 "
        "ms}}\n");
    const struct hm_fit_settings settings = {.job = job};
    static const double n[] = {1, 2, 4, 8, 16};
    char table[1000] = "n,size,seconds\n";

    (void)state;
    for (size_t i = 0; i < 5; i++)
        snprintf(table + strlen(table), sizeof(table) - strlen(table), "%g,%g,%.17g\n", n[i], n[i],
                 100 + 2 * (n[i] - 1) * 0.01 + 2 * (n[i] - 1) / n[i] * 0.4);
    struct hm_fit *fit = fit_with(table, &settings);
    assert_true(fit->error < 0.01);
    assert_near(predict_at(fit, NULL, 0, 32), 101.4, 0.1);
    hm_fit_free(fit);
    hm_job_free(job);
}

/* If the runs differ from the specification sheet by more than a factor of two in the median, all
 * times of the sheet are multiplied. */
static void wrong_sheets_are_scaled(void **state)
{
    static const struct {
        double factor;
        bool scaled;
    } rows[] = {{1.9, false}, {2.1, true}, {0.55, false}, {0.45, true}, {10, true}};
    static const double n[] = {1, 2, 4, 8, 16};

    (void)state;
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
        struct hm_job *job = parse_job(sheet_job);
        const struct hm_fit_settings settings = {.job = job};
        char table[600] = "n,seconds\n", factor[60];
        for (size_t i = 0; i < 5; i++)
            snprintf(table + strlen(table), sizeof(table) - strlen(table), "%g,%.17g\n", n[i],
                     rows[k].factor * ring_seconds(n[i], 1, 0.01, 1e7));
        struct hm_fit *fit = fit_with(table, &settings);
        snprintf(factor, sizeof(factor), "the runs take %.3g times as long as the sheet predicts",
                 rows[k].factor);
        assert_int_equal(fit_notes(fit, factor), rows[k].scaled);
        assert_int_equal(fit_notes(fit, "so all of it is scaled") ||
                             fit_notes(fit, "times as long as the sheet predicts"),
                         rows[k].scaled);
        if (rows[k].scaled)
            assert_near(predict_at(fit, NULL, 0, 32),
                        rows[k].factor * ring_seconds(32, 1, 0.01, 1e7), 0.1);
        hm_fit_free(fit);
        hm_job_free(job);
    }
}

/* ---- default values -------------------------------------------------------------------------- */

/* The runs take batch / (16 n) + 1 seconds. */
static void equal_values_are_the_default(void **state)
{
    static const char *const terms[] = {"1", "batch/n"};
    const struct hm_fit_settings settings = {
        .terms = terms, .term_count = 2, .errors = HM_ERRORS_EQUAL};
    struct hm_fit *fit = fit_with("n,batch,seconds\n1,64,5\n2,64,3\n4,64,2\n", &settings);

    (void)state;
    assert_near(predict_at(fit, NULL, 0, 8), 1.5, 1e-9);
    hm_fit_free(fit);
    /* These runs have weak scaling: 64 samples for each worker. */
    fit = fit_with("n,batch,seconds\n1,64,5\n2,128,5\n4,256,5\n8,64,1.5\n", &settings);
    struct hm_prediction p;
    struct hm_err err = {0};
    double n = 8;
    /* There is no single batch that could be the default. */
    assert_true(hm_fit_predict(fit, NULL, 0, &n, 1, &p, &err) < 0);
    hm_fit_free(fit);
    static const char *const growing[] = {"1", "ln(n)", "batch/n"};
    const struct hm_fit_settings weak = {
        .terms = growing, .term_count = 3, .errors = HM_ERRORS_EQUAL};
    fit = fit_with("n,batch,seconds\n1,64,5\n2,128,5.6931471805599454\n4,256,6.3862943611198908\n"
                   "8,512,7.0794415416798362\n",
                   &weak);
    assert_true(fit->weak);
    assert_near(predict_at(fit, NULL, 0, 16), 5 + log(16), 1e-9);
    hm_fit_free(fit);
}

/* The default size of a prediction is the largest size of the runs, unless the size grows with
 * n. */
static void sizes_have_a_default(void **state)
{
    static const char *const terms[] = {"1", "size/n"};
    const struct hm_fit_settings settings = {
        .terms = terms, .term_count = 2, .errors = HM_ERRORS_EQUAL};
    struct hm_fit *fit =
        fit_with("n,size,seconds\n1,1,11\n2,1,6\n4,1,3.5\n1,4,41\n2,4,21\n", &settings);

    (void)state;
    assert_near(predict_at(fit, NULL, 0, 8), 1 + 10. * 4 / 8, 1e-9);
    const struct hm_at one = {"size", 1};
    assert_near(predict_at(fit, &one, 1, 8), 1 + 10. / 8, 1e-9);
    hm_fit_free(fit);
    fit = fit_with("n,size,seconds\n1,0.25,3.5\n2,0.25,2.25\n1,0.5,6\n2,0.5,3.5\n", &settings);
    /* The default size is at least 1, the whole problem. */
    assert_near(predict_at(fit, NULL, 0, 8), 1 + 10. / 8, 1e-9);
    hm_fit_free(fit);
    static const char *const growing[] = {"1", "ln(n)", "size/n"};
    const struct hm_fit_settings weak = {
        .terms = growing, .term_count = 3, .errors = HM_ERRORS_EQUAL};
    fit =
        fit_with("n,size,seconds\n1,3,5\n2,6,5.6931471805599454\n4,12,6.3862943611198908\n", &weak);
    assert_true(fit->weak);
    assert_near(predict_at(fit, NULL, 0, 16), 5 + log(16), 1e-9);
    hm_fit_free(fit);
}

/* A node has as many workers as the runs say, and a run with more workers needs another node. */
static void nodes_follow_the_workers(void **state)
{
    static const char *const terms[] = {"1/n", "nodes"};
    const struct hm_fit_settings settings = {
        .terms = terms, .term_count = 2, .errors = HM_ERRORS_EQUAL};
    struct hm_fit *fit = fit_with("n,nodes,seconds\n1,1,12\n2,1,7\n4,1,4.5\n8,2,5.25\n", &settings);

    (void)state;
    assert_near(predict_at(fit, NULL, 0, 4), 2.5 + 2, 1e-9);
    assert_near(predict_at(fit, NULL, 0, 5), 2 + 4, 1e-9);
    assert_near(predict_at(fit, NULL, 0, 16), 10. / 16 + 8, 1e-9);
    assert_true(isnan(fit->one_node));
    hm_fit_free(fit);
    const char *const inside[] = {"1", "1/n"};
    const struct hm_fit_settings plain = {.terms = inside, .term_count = 2};
    fit = fit_with("n,workers_per_node,seconds\n1,8,11\n2,8,6\n8,8,2.25\n", &plain);
    assert_near(fit->one_node, 8, 0);
    hm_fit_free(fit);
    fit = fit_with("n,workers_per_node,seconds\n1,8,11\n2,8,6\n9,8,2.25\n", &plain);
    assert_true(isnan(fit->one_node));
    hm_fit_free(fit);
}

/* ---- notes ----------------------------------------------------------------------------------- */

/* The terms 1/n and 1/n^1.01 are nearly the same, and a run on ten times as many workers would
 * hardly distinguish them. */
static void terms_that_are_alike_are_noted(void **state)
{
    static const char *const same[] = {"1/n", "2/n"}, *const other[] = {"1", "1/n"};
    const struct hm_fit_settings alike = {.terms = same, .term_count = 2},
                                 apart = {.terms = other, .term_count = 2};
    static const char table[] = "n,seconds\n1,11\n2,6.1\n4,3.4\n8,2.3\n";
    struct hm_runs *runs = parse_runs(table);
    struct hm_fit *fit = NULL;
    struct hm_err err = {0};

    (void)state;
    if (hm_fit_new(runs, &alike, &fit, &err) == 0)
        assert_true(fit_notes(fit, "these runs cannot distinguish"));
    hm_fit_free(fit);
    hm_runs_free(runs);
    fit = fit_with(table, &apart);
    assert_false(fit_notes(fit, "distinguish"));
    hm_fit_free(fit);
    /* 1 and 1/n differ only little between n = 100 and n = 102. */
    fit = fit_with("n,seconds\n100,11\n101,10.9\n102,11.1\n", &apart);
    assert_true(
        fit_notes(fit, "these runs can hardly distinguish 1 from 1/n: add a run at n >= ") ||
        fit_notes(fit, "these runs can hardly distinguish 1/n from 1: add a run at n >= "));
    hm_fit_free(fit);
}

/* A note must say that terms with errors of 15 % or more do not describe the runs. */
static void terms_that_miss_are_noted(void **state)
{
    static const char *const terms[] = {"1/n"};
    const struct hm_fit_settings settings = {.terms = terms, .term_count = 1};

    (void)state;
    for (int far = 0; far < 2; far++) {
        struct hm_fit *fit = fit_with(far ? "n,seconds\n1,10\n2,10\n4,10\n8,10\n"
                                          : "n,seconds\n1,10\n2,5.1\n4,2.6\n8,1.3\n",
                                      &settings);
        assert_int_equal(fit_notes(fit, "these terms do not describe the runs: they miss them by"),
                         far);
        hm_fit_free(fit);
    }
}

/* If the time decreases by less than a tenth, a note asks for the scaling, unless the table says
 * what an iteration contains. */
static void flat_times_ask_for_the_scaling(void **state)
{
    static const char *const terms[] = {"1", "1/n"};
    const struct hm_fit_settings settings = {.terms = terms, .term_count = 2};
    static const struct {
        const char *table;
        bool noted;
    } rows[] = {{"n,seconds\n1,10\n2,10\n4,10\n", true},
                {"n,seconds\n4,9\n1,10\n2,9.5\n", true},
                {"n,seconds\n4,8.9\n1,10\n2,9.5\n", false},
                {"n,seconds,scaling\n1,10,strong\n2,10,strong\n4,10,strong\n", false},
                {"n,seconds,batch\n1,10,64\n2,10,64\n4,10,64\n", false},
                {"n,seconds,size\n1,10,1\n2,10,1\n4,10,1\n", false},
                {"n,speedup\n1,1\n2,1\n4,1\n", false}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct hm_fit *fit = fit_with(rows[i].table, &settings);
        if (fit_notes(fit, "the time does not fall as n grows") != rows[i].noted)
            fail_msg("%s", rows[i].table);
        hm_fit_free(fit);
    }
}

/* Runs whose seconds include the start-up are counted, and a note names their number. */
static void runs_with_their_startup_are_counted(void **state)
{
    static const char *const terms[] = {"1", "1/n"};
    const struct hm_fit_settings settings = {.terms = terms, .term_count = 2};
    char table[200];

    (void)state;
    for (int whole = 0; whole < 4; whole++) {
        snprintf(table, sizeof(table), "n,seconds,timing\n1,10,%s\n2,6,%s\n4,4,%s\n",
                 whole > 0 ? HM_TIMING_WHOLE : "other", whole > 1 ? HM_TIMING_WHOLE : "other",
                 whole > 2 ? HM_TIMING_WHOLE : "");
        struct hm_fit *fit = fit_with(table, &settings);
        char note[60];
        snprintf(note, sizeof(note), "the seconds of %d of 3 runs are those of the whole run",
                 whole);
        assert_int_equal(fit->with_startup, whole);
        assert_int_equal(fit_notes(fit, note), whole > 0);
        hm_fit_free(fit);
    }
}

/* If a term is negative at a run, the error must name the line of the run; the struct of the error
 * may be NULL. */
static void negative_terms_name_the_run(void **state)
{
    static const char *const terms[] = {"1", "3 - n"};
    const struct hm_fit_settings settings = {.terms = terms, .term_count = 2};
    struct hm_runs *runs = parse_runs("n,seconds\n1,11\n2,6.1\n4,3.4\n8,2.3\n");
    struct hm_fit *fit = NULL;
    struct hm_err err = {0};

    (void)state;
    int rc = hm_fit_new(runs, &settings, &fit, &err);
    assert_true(rc < 0);
    assert_string_equal(err.source, "runs.csv");
    assert_int_equal(err.line, 4);
    assert_int_equal(hm_fit_new(runs, &settings, &fit, NULL), rc);
    hm_runs_free(runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sheets_follow_the_columns),
        cmocka_unit_test(weak_sheets_count_one_worker),
        cmocka_unit_test(weak_sheets_divide_the_size),
        cmocka_unit_test(wrong_sheets_are_scaled),
        cmocka_unit_test(equal_values_are_the_default),
        cmocka_unit_test(sizes_have_a_default),
        cmocka_unit_test(nodes_follow_the_workers),
        cmocka_unit_test(terms_that_are_alike_are_noted),
        cmocka_unit_test(terms_that_miss_are_noted),
        cmocka_unit_test(negative_terms_name_the_run),
        cmocka_unit_test(flat_times_ask_for_the_scaling),
        cmocka_unit_test(runs_with_their_startup_are_counted),
    };
    return cmocka_run_group_tests_name("edges_sheet", tests, NULL, NULL);
}
