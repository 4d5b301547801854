/* Tests failed allocations: for every N, the Nth allocation fails, and the call must return an
 * error, without a leak or a crash. */
#include "testing.h"

#include "howmany_advise.h"
#include "memory.h"

static const char text[] =
    "name: all parts\nwhere: {W: 12e6, B: 1 Gbit/s}\nbatch: 64\nepochs: 2\n"
    "dataset: 1000\nnetwork: resnet-50\noverlap: layers\n"
    "memory: 1 GB + 4 B * W / n\n"
    "communicate: [{what: gradients, scheme: best}, 32 bit * W / B * log2(n)]\n"
    "cluster: {machine: p4d.24xlarge, fabric: 100gbe, max_nodes: 4}\n"
    "measured: {speedup: {1: 1, 2: 1.9}}\n"
    "expect: [{what: best_n, value: 3}]\n";

/* Makes all steps from the text of a job to a rendered answer. */
static int whole_way(struct hm_err *err)
{
    struct hm_question q = HM_QUESTION_INIT;
    const enum hm_scheme schemes[] = {HM_SCHEME_RING, HM_SCHEME_BEST};
    struct hm_style style = {.width = 80, .chart = true, .table = true, .file = "x.svg"};
    struct hm_job *job = NULL;
    struct hm_answer *answer = NULL;
    struct hm_validation *validation = NULL;
    char *page = NULL;
    struct hm_override set = {"cluster.price=$2/h"};
    int rc = hm_job_parse(text, strlen(text), "t.yaml", &set, 1, &job, err);

    q.faster = 2;
    q.work = 2;
    q.goal = HM_GOAL_BALANCE;
    if (rc == 0)
        rc = hm_plan(job, NULL, 0, schemes, 2, &q, &answer, err);
    for (int format = HM_FORMAT_TEXT; rc == 0 && format <= HM_FORMAT_GNUPLOT; format++) {
        rc = hm_answer_render(answer, (enum hm_format)format, &style, &page, err);
        if (rc == 0)
            hm_text_free(page);
    }
    if (rc == 0)
        rc = hm_validate(job, &validation, err);
    hm_validation_free(validation);
    hm_answer_free(answer);
    hm_job_free(job);
    return rc;
}

/* Plans platforms on a cluster with stragglers. */
static int platform_way(struct hm_err *err)
{
    static const char job_text[] =
        "network: {parameters: 1e6, forward: 1 Gflop}\nbatch: 64\niterations: 10\n"
        "cluster: {flops: 1 Gflop/s, max_nodes: 6, fabric: 10gbe, stragglers:\n"
        "  {spread: 0.2, chance: 5 %, factor: 3, slow: 1, slow_factor: 2, speeds: [1, 0.5]}}\n";
    static const struct hm_way ways[] = {
        {.platform = HM_PLATFORM_DRIVER},
        {.platform = HM_PLATFORM_SERVER, .servers = 2, .backups = 1},
        {.platform = HM_PLATFORM_SERVER,
         .consistency = HM_CONSISTENCY_SSP,
         .staleness = 2,
         .servers = 1}};
    struct hm_question q = HM_QUESTION_INIT;
    struct hm_style style = {.width = 80};
    struct hm_answer *answer = NULL;
    struct hm_job *job = NULL;
    char *page = NULL;
    int rc = hm_job_parse(job_text, strlen(job_text), "t.yaml", NULL, 0, &job, err);

    q.ways = ways;
    q.way_count = 3;
    if (rc == 0)
        rc = hm_plan(job, NULL, 0, NULL, 0, &q, &answer, err);
    for (int format = HM_FORMAT_TEXT; rc == 0 && format <= HM_FORMAT_CSV; format++) {
        rc = hm_answer_render(answer, (enum hm_format)format, &style, &page, err);
        if (rc == 0)
            hm_text_free(page);
    }
    hm_answer_free(answer);
    hm_job_free(job);
    return rc;
}

/*
 * Generates a graph, reads it from its job, and splits it with every method that needs no library.
 */
static int graph_way(struct hm_err *err)
{
    static const enum hm_split splits[] = {HM_SPLIT_DEALT, HM_SPLIT_RANDOM, HM_SPLIT_GREEDY,
                                           HM_SPLIT_HASH, HM_SPLIT_HDRF};
    const char *job_text =
        "graph: {generate: power-law, vertices: 200, edges: 700, max_degree: 60}\n"
        "communicate: none\ncluster: {flops: 1 Gflop/s, max_nodes: 4}\n";
    struct hm_question q = HM_QUESTION_INIT;
    struct hm_answer *answer = NULL;
    struct hm_job *job = NULL;
    struct hm_parts parts;
    double n = 3;
    int rc = hm_job_parse(job_text, strlen(job_text), "t.yaml", NULL, 0, &job, err);

    for (size_t i = 0; rc == 0 && i < 5; i++)
        rc = hm_graph_split(job->graph, splits[i], 2, 1, &n, 1, &parts, err);
    if (rc == 0)
        rc = hm_plan(job, NULL, 0, NULL, 0, &q, &answer, err);
    hm_answer_free(answer);
    hm_job_free(job);
    return rc;
}

/* Reads runs in both formats, fits them in every way, plans with them, renders the results, and
 * uses the runs in a design. */
static int fit_way(struct hm_err *err)
{
    const char csv[] = "n,size,seconds,machine\n1,1,9,a\n2,1,5.2,a\n4,1,3.1,b\n4,1,3.2,b\n"
                       "8,1,2.3,b\n8,0.5,1.4,b\n";
    const char lines[] = "{\"n\":1,\"speedup\":1}\n"
                         "{\"n\":2,\"speedup\":1.8,\"samples\":[{\"iteration\":1}]}\n";
    const char job_text[] = "compute: 8 s/n\ncommunicate: 0.4 s*log2(n)\n";
    const char *const terms[] = {"1", "size/n", "ln(n)"};
    const double n[] = {1, 2, 4, 8, 16};
    struct hm_axis axes[] = {{"n", n, 5}, {"size", n, 2}};
    struct hm_style style = {.width = 80, .table = true, .file = "x.svg"};
    struct hm_runs *runs[3] = {NULL, NULL, NULL};
    struct hm_fit *fit[3] = {NULL, NULL, NULL};
    struct hm_design *design = NULL;
    struct hm_answer *answer = NULL;
    struct hm_prediction p[5];
    struct hm_job *job = NULL;
    char *page = NULL;
    int rc = hm_job_parse(job_text, strlen(job_text), "t.yaml", NULL, 0, &job, err);
    struct hm_fit_settings settings[] = {{0}, {.terms = terms, .term_count = 3}, {.job = job}};
    struct hm_question q = HM_QUESTION_INIT;

    if (rc == 0)
        rc = hm_runs_parse(csv, strlen(csv), "t.csv", &runs[0], err);
    if (rc == 0)
        rc = hm_runs_parse(lines, strlen(lines), "t.jsonl", &runs[1], err);
    if (rc == 0)
        rc = hm_runs_cross(axes, 2, &runs[2], err);
    for (size_t i = 0; rc == 0 && i < 3; i++) {
        rc = hm_fit_new(runs[i == 2], &settings[i], &fit[i], err);
        if (rc == 0)
            rc = hm_fit_predict(fit[i], NULL, 0, n, 5, p, err);
        for (int format = HM_FORMAT_TEXT; rc == 0 && format <= HM_FORMAT_GNUPLOT; format++) {
            rc = hm_fit_render(fit[i], p, 5, (enum hm_format)format, &style, &page, err);
            hm_text_free(rc == 0 ? page : NULL);
        }
        q.fit = fit[i];
        q.max_n = 12;
        if (rc == 0)
            rc = hm_plan(job, NULL, 0, NULL, 0, &q, &answer, err);
        hm_answer_free(rc == 0 ? answer : NULL);
    }
    struct hm_design_settings plan = {
        .have = runs[0], .cost = "n*size", .only = "n < 9", .budget = 9};
    if (rc == 0)
        rc = hm_design_new(runs[2], &plan, &design, err);
    if (rc == 0)
        rc = hm_design_render(design, HM_FORMAT_TEXT, &style, &page, err);
    hm_text_free(rc == 0 ? page : NULL);
    hm_design_free(design);
    for (size_t i = 0; i < 3; i++) {
        hm_fit_free(fit[i]);
        hm_runs_free(runs[i]);
    }
    hm_job_free(job);
    return rc;
}

/* Makes recommendations of all four kinds in every format. */
static int recommend_way(struct hm_err *err)
{
    const char csv[] = "n,batch,seconds,machine,cost,status\n1,1,9,a,1,ok\n1,2,17,a,1,ok\n"
                       "1,4,33,b,2,ok\n1,9,,a,,out of memory\n2,1,5.2,a,2,ok\n2,2,9,a,2,ok\n"
                       "2,4,18,a,2,ok\n2,4,18.2,a,2,ok\n4,1,4,a,2,ok\n4,2,5.9,a,2,ok\n";
    const char job_text[] = "graph: {generate: power-law, vertices: 50, edges: 90, max_degree: 9}\n"
                            "communicate: none\ncluster: {flops: 1 Gflop/s, max_nodes: 4}\n";
    const double n[] = {1, 2, 4};
    struct hm_style style = {.width = 60, .table = true};
    struct hm_at at[] = {{"batch", 4}, {"batch", 3}, {"batch", 20}, {"latency", 1}};
    struct hm_recommendation *r = NULL;
    struct hm_runs *runs = NULL;
    struct hm_job *job = NULL;
    char *page = NULL;
    int rc = hm_job_parse(job_text, strlen(job_text), "t.yaml", NULL, 0, &job, err);

    if (rc == 0)
        rc = hm_runs_parse(csv, strlen(csv), "t.csv", &runs, err);
    for (size_t i = 0; rc == 0 && i < 5; i++) {
        struct hm_recommend_question q = {.at = &at[i < 4 ? i : 3],
                                          .at_count = 1,
                                          .n = n,
                                          .n_count = i == 2 ? 3 : 0,
                                          .goal = HM_GOAL_BALANCE,
                                          .algorithm = i == 3 ? "gd" : NULL,
                                          .job = i == 4 ? job : NULL,
                                          .deadline_s = i == 2 ? 1 : 0};
        rc = hm_recommend(i == 4 ? NULL : runs, &q, &r, err);
        for (int format = HM_FORMAT_TEXT; rc == 0 && format <= HM_FORMAT_CSV; format++) {
            rc = hm_recommendation_render(r, (enum hm_format)format, &style, &page, err);
            hm_text_free(rc == 0 ? page : NULL);
        }
        hm_recommendation_free(r);
        r = NULL;
    }
    hm_runs_free(runs);
    hm_job_free(job);
    return rc;
}

/* Reads traces in both formats with every kind of note. */
static int traces_way(struct hm_err *err)
{
    const char csv[] = "algorithm,m,seed,iteration,elapsed (ms),objective,best,gap,data\n"
                       "a,1,1,1,9,9,1,,x\na,1,1,2,18,8,2,1,x\na,1,1,3,19,7,2,1,x\n"
                       "a,1,1,3,20,7,2,1,x\na,1,1,4,21,,2,1,x\na,1,1,50,60,6,2,1,x\n"
                       "a,1,1,51,61,6,2,1,x\na,1,1,52,62,nan,2,1,x\na,2,1,1,1,nan,,,y\n"
                       "a,3,1,1,1,nan,,,y\na,4,1,1,1,nan,,,y\na,5,1,1,1,3,,,y\n";
    const char lines[] =
        "{\"run\":\"train\",\"algorithm\":\"a\",\"n\":2,\"best\":1,\"resumed_at\":3}\n"
        "{\"iteration\":4,\"epoch\":4,\"seconds\":1,\"objective\":3}\n{\"restart\":1}\n"
        "{\"iteration\":4,\"epoch\":4,\"seconds\":1,\"objective\":3}\n"
        "{\"iteration\":6,\"epoch\":5,\"seconds\":1,\"objective\":2}\n"
        "{\"iteration\":7,\"epoch\":8,\"seconds\":1,\"objective\":2}\n"
        "{\"summary\":true,\"stopped_by\":\"diverged\"}\n";
    const struct hm_traces_settings epochs = {.epochs = true, .measure = "objective"};
    struct hm_traces *traces[2] = {NULL, NULL};
    int rc = hm_traces_parse(csv, strlen(csv), "t.csv", NULL, &traces[0], err);

    if (rc == 0)
        rc = hm_traces_parse(lines, strlen(lines), "t.jsonl", &epochs, &traces[1], err);
    hm_traces_free(traces[0]);
    hm_traces_free(traces[1]);
    return rc;
}

/* Makes traces that are sufficient for P*, terms, forms and times, with several notes. They are
 * small, because every allocation is tried. */
static struct hm_traces *made_traces(void)
{
    enum { MS = 4, POINTS = 9 };
    static double numbers[2 * MS][4][POINTS];
    static struct hm_trace list[2 * MS];
    static struct hm_traces traces = {
        .measure = "objective", .unit = "iteration", .traces = list, .count = 2 * MS};

    for (size_t k = 0; k < 2 * MS; k++) {
        double m = 1 << (k % MS), slow = k < MS ? 0.4 : 0.2;
        double *i = numbers[k][0], *loss = numbers[k][1];
        for (size_t p = 0; p < POINTS; p++) {
            i[p] = (double)(p + 1);
            loss[p] = k == 2 ? 2 : 1 + pow(1 - slow / sqrt(m), i[p]);
            numbers[k][2][p] = 1 / m + 0.1;
            numbers[k][3][p] = i[p] * numbers[k][2][p];
        }
        list[k] = (struct hm_trace){.algorithm = k < MS ? "a" : "b",
                                    .m = m,
                                    .source = "made",
                                    .count = POINTS,
                                    .iteration = i,
                                    .loss = loss,
                                    .seconds = numbers[k][2],
                                    .elapsed_s = numbers[k][3],
                                    .best = NAN,
                                    .bound = -INFINITY,
                                    .diverged = k == 2};
    }
    return &traces;
}

/* Fits a convergence, stores it and reads it back. */
static int converge_way(struct hm_err *err)
{
    struct hm_style style = {.width = 80, .table = true, .file = "x.svg"};
    struct hm_convergence *c = NULL, *again = NULL;
    char *page = NULL;
    int rc = hm_convergence_new(made_traces(), NULL, &c, err);

    if (rc == 0)
        rc = hm_convergence_render(c, NULL, HM_FORMAT_JSON, &style, &page, err);
    if (rc == 0)
        rc = hm_convergence_parse(page, strlen(page), "g.json", &again, err);
    hm_text_free(page);
    hm_convergence_free(again);
    hm_convergence_free(c);
    return rc;
}

static int holdout_way(struct hm_err *err)
{
    struct hm_holdout_settings settings = {
        .converge = {.best_given = true, .best = 1}, .ahead = 1, .window = 4};
    struct hm_traces few = *made_traces();
    struct hm_holdout *holdout = NULL;

    few.count = 3;
    int rc = hm_convergence_hold_out(&few, &settings, &holdout, err);
    hm_holdout_free(holdout);
    return rc;
}

/* This convergence is fitted once and queried many times. */
static struct hm_convergence *fitted;

static int predict_way(struct hm_err *err)
{
    const double iterations[] = {1, 10};
    struct hm_g_prediction p[2];

    return hm_convergence_predict(fitted, 1, 3, iterations, 2, p, err);
}

static int advise_way(struct hm_err *err)
{
    const double m[] = {1, 3, 8};
    struct hm_style style = {.width = 80, .table = true};
    struct hm_advise_question q = HM_ADVISE_QUESTION_INIT;
    struct hm_advice *advice = NULL;
    char *page = NULL;

    q.loss = 0.05;
    q.adaptive = true;
    q.m = m;
    q.m_count = 3;
    int rc = hm_advise(fitted, NULL, 0, &q, &advice, err);
    for (int format = HM_FORMAT_TEXT; rc == 0 && format <= HM_FORMAT_CSV; format++) {
        rc = hm_advice_render(advice, (enum hm_format)format, &style, &page, err);
        hm_text_free(rc == 0 ? page : NULL);
    }
    hm_advice_free(advice);
    return rc;
}

/* Checks that the function succeeds, and that it reports an error when its Nth allocation fails,
 * for N = 1, 1 + step and so on. More than `least` calls must fail. */
static void fail_by_step(int (*way)(struct hm_err *err), long step, long least)
{
    enum { ENOUGH = 8 };
    struct hm_err err = {0};
    long fails = 0, passed = 0;

    if (way(&err))
        fail_msg("%s", err.message);
    for (long after = 0;; after += step) {
        err = (struct hm_err){0};
        hm__alloc_fail_after(after);
        int rc = way(&err);
        hm__alloc_fail_after(-1);
        if (rc == 0 && ++passed == ENOUGH)
            break;
        if (rc == 0)
            continue;
        assert_int_equal(passed, 0); /* If this is not 0, an earlier failure was not reported. */
        assert_int_equal(rc, HM_E_NOMEM);
        assert_int_equal(err.code, HM_E_NOMEM);
        fails++;
    }
    assert_true(fails > least);
}

/* Makes every allocation fail in turn; outside `make torture`, only some of them. */
static void fail_everywhere(int (*way)(struct hm_err *err), long least)
{
    long step = is_torture() ? 1 : 131;

    fail_by_step(way, step, least / step);
}

static void allocations_of_fits_may_fail(void **state)
{
    (void)state;
    fail_everywhere(fit_way, 300);
}

static void allocations_of_recommendations_may_fail(void **state)
{
    (void)state;
    fail_everywhere(recommend_way, 300);
}

static void allocations_of_traces_may_fail(void **state)
{
    (void)state;
    fail_everywhere(traces_way, 60);
}

static void allocations_of_convergences_may_fail(void **state)
{
    (void)state;
    /* Only some allocations are tried, because one trial takes some milliseconds. */
    long step = is_torture() ? 7 : 131;

    fail_by_step(converge_way, step, 700 / step);
}

static void allocations_of_holdouts_may_fail(void **state)
{
    (void)state;
    long step = is_torture() ? 13 : 199;

    fail_by_step(holdout_way, step, 780 / step);
}

static void allocations_of_advice_may_fail(void **state)
{
    const char *const terms[] = {"i/sqrt(m)", "ln(i)"};
    struct hm_converge_settings settings = {
        .best_given = true, .best = 1, .terms = terms, .term_count = 2};
    struct hm_err err = {0};

    (void)state;
    assert_int_equal(hm_convergence_new(made_traces(), &settings, &fitted, &err), 0);
    fail_everywhere(predict_way, 10);
    fail_everywhere(advise_way, 60);
    hm_convergence_free(fitted);
}

static void allocations_of_graphs_may_fail(void **state)
{
    (void)state;
    fail_everywhere(graph_way, 50);
    fail_everywhere(platform_way, 100);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    fail_everywhere(whole_way, 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(allocations_of_graphs_may_fail),
        cmocka_unit_test(allocations_of_fits_may_fail),
        cmocka_unit_test(allocations_of_recommendations_may_fail),
        cmocka_unit_test(allocations_of_traces_may_fail),
        cmocka_unit_test(allocations_of_convergences_may_fail),
        cmocka_unit_test(allocations_of_holdouts_may_fail),
        cmocka_unit_test(allocations_of_advice_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
