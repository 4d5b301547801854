/*
 * Tests every public function with NULL, every public struct set to all zeros, and values out of
 * range: each must give a clear error or a right answer, and never a crash. The shared library is
 * used through its public headers alone.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <howmany_store.h>

/* ---- NULL where a pointer is required -------------------------------------------------------- */

/* Checks that a call fails with the code, and that the error says what is wrong. */
#define REFUSED(call, wanted)                                                                      \
    do {                                                                                           \
        struct hm_err err = {0};                                                                   \
        int rc = (call);                                                                           \
        if (rc != (wanted) || err.code != rc || !err.message[0])                                   \
            fail_msg("%s: code %d, message '%s'", #call, rc, err.message);                         \
    } while (0)

static void inputs_refuse_null(void **state)
{
    struct hm_job *job = NULL;
    struct hm_cluster *cluster = NULL;
    struct hm_catalog *catalog = NULL;
    struct hm_formula *formula = NULL;
    struct hm_counts *counts = NULL;
    struct hm_graph *graph = NULL;
    struct hm_import import;
    struct hm_parts parts;
    struct hm_link link;
    double x = 1;

    (void)state;
    assert_int_equal(hm_job_new(&job, NULL), 0);
    assert_int_equal(hm_catalog_new(&catalog, NULL), 0);
    REFUSED(hm_formula_new(NULL, NULL, NULL, 0, &formula, &err), HM_E_MISSING);
    REFUSED(hm_formula_new("1", NULL, NULL, 0, NULL, &err), HM_E_MISSING);
    REFUSED(hm_formula_new("x", NULL, NULL, 1, &formula, &err), HM_E_MISSING);
    REFUSED(hm_formula_eval(NULL, &x, 1, &x, &err), HM_E_MISSING);
    REFUSED(hm_counts_new(NULL, NULL, &counts, &err), HM_E_MISSING);
    REFUSED(hm_graph_load(NULL, HM_GRAPH_AUTO, false, &graph, &err), HM_E_MISSING);
    REFUSED(hm_graph_make(NULL, &graph, &err), HM_E_MISSING);
    REFUSED(hm_graph_split(NULL, HM_SPLIT_DEALT, 1, 1, &x, 1, &parts, &err), HM_E_MISSING);
    REFUSED(hm_cluster_new(NULL, &err), HM_E_MISSING);
    REFUSED(hm_cluster_check(NULL, &err), HM_E_MISSING);
    REFUSED(hm_cluster_parse(NULL, NULL, 1, NULL, NULL, 0, &cluster, &err), HM_E_MISSING);
    REFUSED(hm_job_new(NULL, &err), HM_E_MISSING);
    REFUSED(hm_job_check(NULL, &err), HM_E_MISSING);
    REFUSED(hm_job_set_name(NULL, "x", &err), HM_E_MISSING);
    REFUSED(hm_job_set_compute(NULL, "1", &err), HM_E_MISSING);
    REFUSED(hm_job_set_memory(NULL, "1", &err), HM_E_MISSING);
    REFUSED(hm_job_set_communicate(NULL, "1", &err), HM_E_MISSING);
    REFUSED(hm_job_add_transfer(NULL, HM_PAYLOAD_BYTES, HM_SCHEME_RING, &err), HM_E_MISSING);
    REFUSED(hm_job_set_network(job, NULL, NULL, &err), HM_E_MISSING);
    REFUSED(hm_job_set_network(NULL, NULL, "resnet-50", &err), HM_E_MISSING);
    REFUSED(hm_job_set_totals(NULL, 1, 1, &err), HM_E_MISSING);
    REFUSED(hm_job_set_cluster(job, NULL, &err), HM_E_MISSING);
    REFUSED(hm_job_set_machine(job, NULL, NULL, NULL, &err), HM_E_MISSING);
    REFUSED(hm_job_load(NULL, NULL, 0, &job, &err), HM_E_MISSING);
    REFUSED(hm_job_parse(NULL, 3, NULL, NULL, 0, &job, &err), HM_E_MISSING);
    REFUSED(hm_job_parse("x", 1, NULL, NULL, 1, &job, &err), HM_E_MISSING);
    REFUSED(hm_job_parse_with(NULL, "x", 1, NULL, NULL, 0, NULL, &err), HM_E_MISSING);
    REFUSED(hm_catalog_new(NULL, &err), HM_E_MISSING);
    REFUSED(hm_catalog_add(NULL, "x", 1, NULL, &err), HM_E_MISSING);
    REFUSED(hm_catalog_add(catalog, NULL, 1, NULL, &err), HM_E_MISSING);
    REFUSED(hm_catalog_machine(catalog, NULL, &cluster, &err), HM_E_MISSING);
    REFUSED(hm_catalog_fabric(NULL, "10gbe", &link, &err), HM_E_MISSING);
    REFUSED(hm_catalog_import(catalog, NULL, NULL, false, &import, &err), HM_E_MISSING);
    assert_int_equal(hm_catalog_count(NULL, HM_CATALOG_MACHINE), 0);
    assert_int_equal(hm_catalog_count(catalog, (enum hm_catalog_kind)99), 0);
    assert_null(hm_catalog_name(NULL, HM_CATALOG_MACHINE, 0));
    assert_null(hm_catalog_text(catalog, HM_CATALOG_MACHINE, NULL, "title"));
    assert_false(hm_example(0, NULL, NULL, NULL));
    hm_catalog_free(catalog);
    hm_job_free(job);
}

static void fits_refuse_null(void **state)
{
    const struct hm_fit_settings settings = {0};
    const struct hm_design_settings design_settings = {0};
    const struct hm_recommend_question question = {0};
    struct hm_runs *runs = NULL;
    struct hm_fit *fit = NULL;
    struct hm_design *design = NULL;
    struct hm_recommendation *recommendation = NULL;
    struct hm_prediction prediction;
    const double n[] = {1};
    char *text = NULL;

    (void)state;
    REFUSED(hm_runs_new(NULL, n, 1, NULL, 0, &runs, &err), HM_E_MISSING);
    REFUSED(hm_runs_new(n, n, 1, NULL, 1, &runs, &err), HM_E_MISSING);
    REFUSED(hm_runs_check(NULL, &err), HM_E_MISSING);
    REFUSED(hm_runs_load(NULL, &runs, &err), HM_E_MISSING);
    REFUSED(hm_runs_parse(NULL, 1, NULL, &runs, &err), HM_E_MISSING);
    REFUSED(hm_runs_where(NULL, "n=1", &err), HM_E_MISSING);
    REFUSED(hm_runs_cross(NULL, 1, &runs, &err), HM_E_MISSING);
    assert_null(hm_runs_column(NULL, "n"));
    REFUSED(hm_fit_settings_check(NULL, &err), HM_E_MISSING);
    REFUSED(hm_fit_new(NULL, NULL, &fit, &err), HM_E_MISSING);
    REFUSED(hm_fit_new(NULL, &settings, &fit, &err), HM_E_MISSING);
    REFUSED(hm_fit_predict(NULL, NULL, 0, n, 1, &prediction, &err), HM_E_MISSING);
    REFUSED(hm_fit_render(NULL, NULL, 0, HM_FORMAT_TEXT, NULL, &text, &err), HM_E_MISSING);
    assert_true(hm_fit_reference_s(NULL) == 1);
    REFUSED(hm_design_new(NULL, &design_settings, &design, &err), HM_E_MISSING);
    REFUSED(hm_design_render(NULL, HM_FORMAT_TEXT, NULL, &text, &err), HM_E_MISSING);
    REFUSED(hm_recommend(NULL, NULL, &recommendation, &err), HM_E_MISSING);
    REFUSED(hm_recommend(NULL, &question, &recommendation, &err), HM_E_MISSING);
    REFUSED(hm_recommendation_render(NULL, HM_FORMAT_TEXT, NULL, &text, &err), HM_E_MISSING);
}

static void advice_refuses_null(void **state)
{
    const struct hm_advise_question question = HM_ADVISE_QUESTION_INIT;
    const struct hm_holdout_settings settings = {0};
    struct hm_traces *traces = NULL;
    struct hm_paces *paces = NULL;
    struct hm_convergence *convergence = NULL;
    struct hm_holdout *holdout = NULL;
    struct hm_advice *advice = NULL;
    struct hm_g_prediction prediction;
    struct hm_stale_cost cost;
    const double i = 1;
    char *text = NULL;

    (void)state;
    REFUSED(hm_traces_load(NULL, 1, NULL, &traces, &err), HM_E_MISSING);
    REFUSED(hm_traces_parse(NULL, 1, NULL, NULL, &traces, &err), HM_E_MISSING);
    REFUSED(hm_traces_check(NULL, &err), HM_E_MISSING);
    REFUSED(hm_paces_from_traces(NULL, &paces, &err), HM_E_MISSING);
    REFUSED(hm_paces_from_fit(NULL, NULL, &paces, &err), HM_E_MISSING);
    REFUSED(hm_paces_from_answer(NULL, NULL, &paces, &err), HM_E_MISSING);
    REFUSED(hm_convergence_new(NULL, NULL, &convergence, &err), HM_E_MISSING);
    REFUSED(hm_convergence_load(NULL, &convergence, &err), HM_E_MISSING);
    REFUSED(hm_convergence_parse(NULL, 1, NULL, &convergence, &err), HM_E_MISSING);
    REFUSED(hm_convergence_predict(NULL, 0, 1, &i, 1, &prediction, &err), HM_E_MISSING);
    REFUSED(hm_convergence_stale(NULL, 0, 0, 1, &cost, &err), HM_E_MISSING);
    REFUSED(hm_convergence_hold_out(NULL, &settings, &holdout, &err), HM_E_MISSING);
    REFUSED(hm_convergence_render(NULL, NULL, HM_FORMAT_TEXT, NULL, &text, &err), HM_E_MISSING);
    REFUSED(hm_advise(NULL, NULL, 0, &question, &advice, &err), HM_E_MISSING);
    REFUSED(hm_advice_render(NULL, HM_FORMAT_TEXT, NULL, &text, &err), HM_E_MISSING);
    REFUSED(hm_study_render(NULL, &text, &err), HM_E_MISSING);
}

static void stores_refuse_null(void **state)
{
    struct hm_store *store = NULL;
    struct hm_store_page *page = NULL;
    struct hm_runs *runs = NULL;
    struct hm_traces *traces = NULL;
    const struct hm_stored run = HM_STORED_INIT;
    double staleness;
    int64_t count;
    char *text = NULL;

    (void)state;
    REFUSED(hm_store_open(NULL, &store, &err), HM_E_MISSING);
    REFUSED(hm_store_open("x", NULL, &err), HM_E_MISSING);
    REFUSED(hm_stored_check(NULL, &err), HM_E_MISSING);
    REFUSED(hm_stored_staleness(NULL, &staleness, &err), HM_E_MISSING);
    REFUSED(hm_store_add(NULL, &run, 1, NULL, NULL, &err), HM_E_MISSING);
    REFUSED(hm_store_add_batches(NULL, NULL, 0, &err), HM_E_MISSING);
    REFUSED(hm_store_list(NULL, NULL, &page, &err), HM_E_MISSING);
    REFUSED(hm_store_count(NULL, NULL, &count, &err), HM_E_MISSING);
    REFUSED(hm_store_delete(NULL, NULL, &count, &err), HM_E_MISSING);
    REFUSED(hm_store_runs(NULL, NULL, &runs, &err), HM_E_MISSING);
    REFUSED(hm_store_traces(NULL, NULL, &traces, &err), HM_E_MISSING);
    REFUSED(hm_store_put(NULL, "a", "b", "c", &err), HM_E_MISSING);
    REFUSED(hm_store_documents(NULL, NULL, NULL, NULL, &err), HM_E_MISSING);
    REFUSED(hm_store_get(NULL, "a", "b", &text, &err), HM_E_MISSING);
}

static void everything_frees_null(void **state)
{
    (void)state;
    hm_formula_free(NULL);
    hm_counts_free(NULL);
    hm_graph_free(NULL);
    hm_cluster_free(NULL);
    hm_job_free(NULL);
    hm_catalog_free(NULL);
    hm_answer_free(NULL);
    hm_validation_free(NULL);
    hm_text_free(NULL);
    hm_runs_free(NULL);
    hm_fit_free(NULL);
    hm_design_free(NULL);
    hm_recommendation_free(NULL);
    hm_traces_free(NULL);
    hm_paces_free(NULL);
    hm_convergence_free(NULL);
    hm_holdout_free(NULL);
    hm_advice_free(NULL);
    hm_store_close(NULL);
    hm_store_page_free(NULL);
}

/* ---- structs set to all zeros ---------------------------------------------------------------- */

static struct hm_job *simple_job(void)
{
    struct hm_job *job = NULL;

    assert_int_equal(hm_job_new(&job, NULL), 0);
    assert_int_equal(hm_job_set_compute(job, "10/n", NULL), 0);
    assert_int_equal(hm_job_set_communicate(job, "0.5*log2(n)", NULL), 0);
    return job;
}

static void zero_inputs_are_refused(void **state)
{
    struct hm_job *job = simple_job();
    const struct hm_job no_job = {0};
    const struct hm_cluster no_cluster = {0}, *clusters[] = {&no_cluster};
    const struct hm_network no_network = {0};
    const struct hm_layer no_layer = {0};
    const struct hm_graph no_graph = {0};
    const struct hm_recipe no_recipe = {0};
    const struct hm_question zero = {0}, question = HM_QUESTION_INIT;
    struct hm_network one_layer = {.layer_count = 1, .input = {HM_SHAPE_VECTOR, 0, 0, 10}};
    struct hm_layer layer = no_layer;
    struct hm_answer *answer = NULL;
    struct hm_validation *validation = NULL;
    struct hm_counts *counts = NULL;
    struct hm_graph *graph = NULL;
    struct hm_parts parts;
    const double n[] = {1};

    (void)state;
    one_layer.layers = &layer;
    REFUSED(hm_job_check(&no_job, &err), HM_E_MISSING);
    REFUSED(hm_cluster_check(&no_cluster, &err), HM_E_RANGE);
    REFUSED(hm_question_check(&zero, &err), HM_E_RANGE);
    REFUSED(hm_plan(&no_job, NULL, 0, NULL, 0, &question, &answer, &err), HM_E_MISSING);
    REFUSED(hm_plan(job, clusters, 1, NULL, 0, &question, &answer, &err), HM_E_RANGE);
    REFUSED(hm_plan(job, NULL, 0, NULL, 0, &zero, &answer, &err), HM_E_RANGE);
    REFUSED(hm_plan(job, NULL, 1, NULL, 0, &question, &answer, &err), HM_E_MISSING);
    REFUSED(hm_plan(job, NULL, 0, NULL, 1, &question, &answer, &err), HM_E_MISSING);
    REFUSED(hm_plan(job, NULL, 0, NULL, 0, NULL, &answer, &err), HM_E_MISSING);
    REFUSED(hm_validate(&no_job, &validation, &err), HM_E_MISSING);
    REFUSED(hm_job_set_cluster(job, &no_cluster, &err), HM_E_RANGE);
    REFUSED(hm_counts_new(&no_network, NULL, &counts, &err), HM_E_MISSING);
    REFUSED(hm_counts_new(&one_layer, NULL, &counts, &err), HM_E_RANGE);
    layer.kind = HM_LAYER_RESIDUAL;
    REFUSED(hm_counts_new(&one_layer, NULL, &counts, &err), HM_E_MISSING);
    REFUSED(hm_graph_split(&no_graph, HM_SPLIT_DEALT, 1, 1, n, 1, &parts, &err), HM_E_RANGE);
    REFUSED(hm_graph_make(&no_recipe, &graph, &err), HM_E_RANGE);
    hm_job_free(job);
}

static void zero_results_are_refused(void **state)
{
    const struct hm_answer answer = {0};
    const struct hm_fit fit = {0};
    const struct hm_convergence convergence = {0};
    const struct hm_traces traces = {0};
    const struct hm_runs runs = {0};
    const struct hm_study study = {0};
    const struct hm_stored stored = {0}, unset = HM_STORED_INIT;
    const struct hm_advise_question asked = {0};
    struct hm_question question = HM_QUESTION_INIT;
    struct hm_job *job = simple_job();
    struct hm_answer *planned = NULL;
    struct hm_advice *advice = NULL;
    struct hm_g_prediction loss;
    struct hm_stale_cost cost;
    struct hm_fit *fitted = NULL;
    struct hm_recommendation *recommended = NULL;
    struct hm_paces *paces = NULL;
    struct hm_convergence *made = NULL;
    struct hm_prediction prediction;
    const double n[] = {2};
    char *text = NULL;

    (void)state;
    question.fit = &fit;
    REFUSED(hm_plan(job, NULL, 0, NULL, 0, &question, &planned, &err), HM_E_MISSING);
    REFUSED(hm_fit_predict(&fit, NULL, 0, n, 1, &prediction, &err), HM_E_MISSING);
    assert_true(hm_fit_reference_s(&fit) == 1);
    REFUSED(hm_convergence_predict(&convergence, 0, 1, n, 1, &loss, &err), HM_E_MISSING);
    REFUSED(hm_convergence_stale(&convergence, 0, 0, 1, &cost, &err), HM_E_MISSING);
    REFUSED(hm_advise(&convergence, NULL, 0, &asked, &advice, &err), HM_E_MISSING);
    REFUSED(hm_paces_from_fit(&fit, NULL, &paces, &err), HM_E_MISSING);
    REFUSED(hm_paces_from_answer(&answer, NULL, &paces, &err), HM_E_MISSING);
    REFUSED(hm_paces_from_traces(&traces, &paces, &err), HM_E_MISSING);
    REFUSED(hm_traces_check(&traces, &err), HM_E_MISSING);
    REFUSED(hm_convergence_new(&traces, NULL, &made, &err), HM_E_MISSING);
    REFUSED(hm_runs_check(&runs, &err), HM_E_MISSING);
    REFUSED(hm_fit_new(&runs, NULL, &fitted, &err), HM_E_MISSING);
    REFUSED(hm_recommend(&runs, &(struct hm_recommend_question){0}, &recommended, &err),
            HM_E_MISSING);
    /* The report is a page without results. */
    assert_int_equal(hm_study_render(&study, &text, NULL), 0);
    hm_text_free(text);
    REFUSED(hm_stored_check(&stored, &err), HM_E_RANGE);
    REFUSED(hm_stored_check(&unset, &err), HM_E_MISSING);
    hm_job_free(job);
}

/* Rendering a result that is empty, or without a style, gives some text or a clear error. */
static void empty_results_are_rendered(void **state)
{
    const struct hm_style zero = {0}, *styles[] = {NULL, &zero};
    const struct hm_answer zero_answer = {0};
    const struct hm_convergence convergence = {0};
    const struct hm_design design = {0};
    const struct hm_recommendation recommendation = {.best = HM_NONE};
    const struct hm_recommendation zero_recommendation = {0};
    const struct hm_advice advice = {0};
    const struct hm_fit fit = {0};
    struct hm_question question = HM_QUESTION_INIT;
    struct hm_job *job = simple_job();
    struct hm_answer *answer = NULL;

    (void)state;
    assert_int_equal(hm_plan(job, NULL, 0, NULL, 0, &question, &answer, NULL), 0);
    for (int format = HM_FORMAT_TEXT; format <= HM_FORMAT_GNUPLOT + 1; format++)
        for (size_t i = 0; i < 2; i++) {
            const enum hm_format f = (enum hm_format)format;
            struct hm_err err = {0};
            char *text = NULL;
#define RENDERED(call)                                                                             \
    do {                                                                                           \
        err = (struct hm_err){0};                                                                  \
        text = NULL;                                                                               \
        int rc = (call);                                                                           \
        if (rc ? text || !err.message[0] : !text)                                                  \
            fail_msg("%s, format %d: %d", #call, format, rc);                                      \
        hm_text_free(text);                                                                        \
    } while (0)
            RENDERED(hm_answer_render(answer, f, styles[i], &text, &err));
            RENDERED(hm_answer_render(&zero_answer, f, styles[i], &text, &err));
            RENDERED(hm_convergence_render(&convergence, NULL, f, styles[i], &text, &err));
            RENDERED(hm_design_render(&design, f, styles[i], &text, &err));
            RENDERED(hm_recommendation_render(&recommendation, f, styles[i], &text, &err));
            RENDERED(hm_recommendation_render(&zero_recommendation, f, styles[i], &text, &err));
            RENDERED(hm_advice_render(&advice, f, styles[i], &text, &err));
            RENDERED(hm_fit_render(&fit, NULL, 0, f, styles[i], &text, &err));
        }
    assert_int_equal(hm_answer_render(answer, (enum hm_format)99, NULL, &(char *){NULL}, NULL),
                     HM_E_RANGE);
    hm_answer_free(answer);
    hm_job_free(job);
}

/* ---- errors of earlier versions -------------------------------------------------------------- */

/* Each of these inputs once gave "out of memory", no communication at all, or a crash. */
static void old_traps_are_errors(void **state)
{
    const struct hm_question question = HM_QUESTION_INIT;
    double n[] = {1, 2, 4, 8}, seconds[] = {10, 5.5, 3.4, 2.7};
    struct hm_column columns[] = {{.name = "n", .values = n},
                                  {.name = "seconds", .values = seconds}};
    const struct hm_runs without_lines = {.count = 4, .columns = columns, .column_count = 2};
    struct hm_job *job = simple_job();
    struct hm_answer *answer = NULL;
    struct hm_fit *fit = NULL;
    struct hm_err err = {0};

    (void)state;
    job->has_cluster = true;
    job->cluster.node.accelerators = 0;
    assert_int_equal(hm_plan(job, NULL, 0, NULL, 0, &question, &answer, &err), HM_E_RANGE);
    assert_string_equal(err.field, "cluster.node.accelerators");
    job->cluster.node.accelerators = 1;
    err = (struct hm_err){0};
    job->communicate[0].times = 0;
    assert_int_equal(hm_plan(job, NULL, 0, NULL, 0, &question, &answer, &err), HM_E_RANGE);
    assert_string_equal(err.field, "communicate[0].times");
    job->communicate[0].times = 1;
    assert_int_equal(hm_plan(job, NULL, 0, NULL, 0, &question, &answer, NULL), 0);
    assert_true(answer->points[answer->best].n == 14);
    assert_int_equal(hm_fit_new(&without_lines, NULL, &fit, NULL), 0);
    assert_int_equal(fit->residuals[0].line, 0);
    hm_fit_free(fit);
    hm_answer_free(answer);
    hm_job_free(job);
}

/* Tables without times are tables of candidates: they are refused where times are needed. */
static void tables_without_times_are_refused(void **state)
{
    double n[] = {1, 2, 3, 4, 8, 16};
    const char *labels[] = {"a", "b", "c", "d", "e", "f"};
    struct hm_column columns[] = {{.name = "n", .values = n},
                                  {.name = "algorithm", .labels = labels}};
    const struct hm_runs runs = {.count = 6, .columns = columns, .column_count = 2};
    const struct hm_recommend_question question = {0};
    const struct hm_design_settings settings = {.budget = 100};
    struct hm_fit *fit = NULL;
    struct hm_recommendation *recommendation = NULL;
    struct hm_design *design = NULL;

    (void)state;
    assert_int_equal(hm_runs_check(&runs, NULL), 0);
    REFUSED(hm_fit_new(&runs, NULL, &fit, &err), HM_E_MISSING);
    REFUSED(hm_recommend(&runs, &question, &recommendation, &err), HM_E_MISSING);
    /* A label says nothing about the cost or the information of a run. */
    assert_int_equal(hm_design_new(&runs, &settings, &design, NULL), 0);
    assert_null(design->chosen[0].where);
    hm_design_free(design);
}

/* ---- values out of range --------------------------------------------------------------------- */

static const double WRONG[] = {NAN, INFINITY, -INFINITY, -1, 1e300};
/* Invalid values of a field in which NaN means unknown. */
static const double ENDLESS[] = {INFINITY, -INFINITY, -1, 1e300};

/* Sets one field of a job to each invalid value; the check must name the field. */
static void check_field(struct hm_job *job, double *field, const double *values, size_t count,
                        const char *name)
{
    const double kept = *field;

    for (size_t i = 0; i < count; i++) {
        struct hm_err err = {0};
        *field = values[i];
        if (hm_job_check(job, &err) != HM_E_RANGE || strcmp(err.field, name) != 0 || !err.hint[0])
            fail_msg("%s = %g: field '%s', '%s'", name, values[i], err.field, err.message);
    }
    *field = kept;
    assert_int_equal(hm_job_check(job, NULL), 0);
}

static void jobs_name_wrong_numbers(void **state)
{
    struct hm_job *job = NULL;

    (void)state;
    assert_int_equal(hm_job_new(&job, NULL), 0);
    assert_int_equal(hm_job_set_network(job, NULL, "resnet-50", NULL), 0);
    assert_int_equal(hm_job_set_machine(job, NULL, "p3.2xlarge", "10gbe", NULL), 0);
    job->batch = 256;
    struct hm_cluster *c = &job->cluster;
    const struct {
        const char *name;
        double *field;
        bool unknown; /* True if NaN is allowed. */
    } fields[] = {
        {"reference", &job->reference, false},
        {"precision", &job->precision, false},
        {"batch", &job->batch, true},
        {"iterations", &job->iterations, true},
        {"communicate[0].times", &job->communicate[0].times, false},
        {"cluster.node.accelerators", &c->node.accelerators, false},
        {"cluster.node.flops_32", &c->node.flops_32, true},
        {"cluster.node.efficiency", &c->node.efficiency, true},
        {"cluster.node.memory_bytes", &c->node.memory_bytes, true},
        {"cluster.node.kernel_overhead_s", &c->node.kernel_overhead_s, false},
        {"cluster.node.price_per_s", &c->node.price_per_s, true},
        {"cluster.fabric.bandwidth_bytes_per_s", &c->fabric.bandwidth_bytes_per_s, true},
        {"cluster.fabric.latency_s", &c->fabric.latency_s, false},
        {"cluster.max_nodes", &c->max_nodes, true},
        {"cluster.slowness.spread", &c->slowness.spread, false},
        {"cluster.slowness.chance", &c->slowness.chance, false},
        {"cluster.slowness.factor", &c->slowness.factor, false},
        {"cluster.slowness.pause_s", &c->slowness.pause_s, false},
        {"cluster.slowness.slow_nodes", &c->slowness.slow_nodes, false},
    };
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        /* Fields in which NaN is allowed are not set to NaN; a job without a batch gives another
         * error. */
        const double *values = fields[i].unknown ? ENDLESS : WRONG;
        check_field(job, fields[i].field, values, fields[i].unknown ? 4 : 5, fields[i].name);
    }
    hm_job_free(job);
}

static void wrong_enums_are_refused(void **state)
{
    struct hm_question question = HM_QUESTION_INIT;
    const struct hm_way way = {.platform = (enum hm_platform)99};
    const enum hm_scheme scheme = (enum hm_scheme)99;
    struct hm_job *job = simple_job();
    struct hm_answer *answer = NULL;
    struct hm_graph *graph = NULL;

    (void)state;
    job->scaling = (enum hm_scaling)99;
    REFUSED(hm_job_check(job, &err), HM_E_RANGE);
    job->scaling = HM_SCALING_STRONG;
    job->overlap = (enum hm_overlap) - 1;
    REFUSED(hm_job_check(job, &err), HM_E_RANGE);
    job->overlap = HM_OVERLAP_NONE;
    question.goal = (enum hm_goal)99;
    REFUSED(hm_question_check(&question, &err), HM_E_RANGE);
    question.goal = HM_GOAL_AUTO;
    question.ways = &way;
    question.way_count = 1;
    REFUSED(hm_question_check(&question, &err), HM_E_RANGE);
    question.way_count = 0;
    REFUSED(hm_plan(job, NULL, 0, &scheme, 1, &question, &answer, &err), HM_E_RANGE);
    REFUSED(hm_graph_load("x", (enum hm_graph_format)99, false, &graph, &err), HM_E_RANGE);
    REFUSED(hm_job_add_transfer(job, (enum hm_payload)99, HM_SCHEME_RING, &err), HM_E_RANGE);
    assert_string_equal(hm_scheme_name(scheme), "?");
    assert_string_equal(hm_split_name((enum hm_split)99), "?");
    assert_string_equal(hm_platform_name((enum hm_platform)99), "?");
    assert_string_equal(hm_consistency_name((enum hm_consistency)99), "?");
    assert_string_equal(hm_limit_name((enum hm_limit)99), "?");
    assert_string_equal(hm_g_form_name((enum hm_g_form)99), "?");
    assert_string_equal(hm_strerror(99), "unknown error");
    assert_int_equal(hm_scheme_find(NULL), -1);
    assert_int_equal(hm_split_find(NULL), -1);
    assert_int_equal(hm_platform_find(NULL), -1);
    assert_int_equal(hm_consistency_find(NULL), -1);
    hm_job_free(job);
}

static void wrong_runs_are_refused(void **state)
{
    static const struct {
        double n, seconds;
        const char *field;
    } wrong[] = {{0, 1, "n[1]"},       {NAN, 1, "n[1]"},      {INFINITY, 1, "n[1]"},
                 {2, 0, "seconds[1]"}, {2, -1, "seconds[1]"}, {2, INFINITY, "seconds[1]"}};
    double sizes[] = {1, -1};
    const char *names[] = {"a", NULL};
    struct hm_column columns[] = {{.name = "size", .values = sizes},
                                  {.name = "both", .values = sizes, .labels = names}};
    const double n[] = {1, 2}, seconds[] = {3, NAN};
    struct hm_runs *runs = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const double ns[] = {1, wrong[i].n}, times[] = {1, wrong[i].seconds};
        struct hm_err err = {0};
        assert_int_equal(hm_runs_new(ns, times, 2, NULL, 0, &runs, &err), HM_E_RANGE);
        assert_string_equal(err.field, wrong[i].field);
    }
    REFUSED(hm_runs_new(n, seconds, 0, NULL, 0, &runs, &err), HM_E_MISSING);
    REFUSED(hm_runs_new(n, seconds, 2, columns, 1, &runs, &err), HM_E_RANGE);
    REFUSED(hm_runs_new(n, seconds, 2, columns + 1, 1, &runs, &err), HM_E_MISSING);
    columns[0] = (struct hm_column){.name = "machine", .labels = names};
    assert_int_equal(hm_runs_new(n, seconds, 2, columns, 1, &runs, NULL), 0);
    assert_int_equal(runs->failed, 1);
    assert_string_equal(hm_runs_column(runs, "machine")->labels[0], "a");
    hm_runs_free(runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_refuse_null),
        cmocka_unit_test(fits_refuse_null),
        cmocka_unit_test(advice_refuses_null),
        cmocka_unit_test(stores_refuse_null),
        cmocka_unit_test(everything_frees_null),
        cmocka_unit_test(zero_inputs_are_refused),
        cmocka_unit_test(zero_results_are_refused),
        cmocka_unit_test(empty_results_are_rendered),
        cmocka_unit_test(tables_without_times_are_refused),
        cmocka_unit_test(old_traps_are_errors),
        cmocka_unit_test(jobs_name_wrong_numbers),
        cmocka_unit_test(wrong_enums_are_refused),
        cmocka_unit_test(wrong_runs_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
