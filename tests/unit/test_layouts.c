/*
 * Tests plans of transformers through the public headers: a job made in memory must have the same
 * answer as the same job read from YAML, and wrong input must get an error that names the field.
 */
#include "testing.h"

#include "howmany_layouts.h"

/* Returns the transformer Llama 3 8B, by the sizes of its published configuration. */
static struct hm_transformer llama_sizes(void)
{
    struct hm_transformer x;

    hm_transformer_init(&x);
    x.name = "llama-3-8b";
    x.layers = 32;
    x.hidden = 4096;
    x.ffn = 14336;
    x.heads = 32;
    x.kv_heads = 8;
    x.vocabulary = 128256;
    x.gated = true;
    return x;
}

static struct hm_transformer_work usual_work(void)
{
    struct hm_transformer_work w = HM_TRANSFORMER_WORK_INIT;

    w.sequence = 8192;
    w.batch = 512;
    w.tokens = 1e12;
    return w;
}

static struct hm_job *make_job(const struct hm_transformer *x, const struct hm_transformer_work *w)
{
    struct hm_job *job = NULL;
    struct hm_err err = {0};

    if (hm_job_new(&job, &err) || hm_job_set_transformer(job, x, w, &err) ||
        hm_job_set_machine(job, NULL, "p5.48xlarge", NULL, &err))
        fail_msg("%s: %s", err.field, err.message);
    return job;
}

static struct hm_layouts *plan_layouts(const struct hm_job *job, const struct hm_question *question)
{
    struct hm_layouts *layouts = NULL;
    struct hm_err err = {0};

    if (hm_plan_layouts(job, NULL, 0, question, &layouts, &err))
        fail_msg("%s: %s", err.field, err.message);
    return layouts;
}

/* Fails unless two answers have the same points and the same choices. */
static void assert_same(const struct hm_layouts *a, const struct hm_layouts *b)
{
    assert_int_equal(a->point_count, b->point_count);
    assert_int_equal(a->recommended, b->recommended);
    assert_int_equal(a->cheapest, b->cheapest);
    for (size_t i = 0; i < a->point_count; i++) {
        char one[200], other[200];
        hm_layout_text(&a->points[i].layout, one, sizeof(one));
        hm_layout_text(&b->points[i].layout, other, sizeof(other));
        assert_string_equal(one, other);
        assert_near(a->points[i].time_s, b->points[i].time_s, 0);
        assert_near(a->points[i].cost, b->points[i].cost, 0);
        assert_near(a->points[i].memory_bytes, b->points[i].memory_bytes, 0);
    }
}

static void test_same_as_yaml(void **state)
{
    struct hm_transformer sizes = llama_sizes(), named;
    struct hm_transformer_work work = usual_work();
    struct hm_question question = HM_QUESTION_INIT;
    struct hm_catalog *catalog = NULL;
    struct hm_err err = {0};

    (void)state;
    question.deadline_s = 30 * 86400;
    assert_int_equal(hm_catalog_new(&catalog, &err), 0);
    assert_int_equal(hm_catalog_transformer(catalog, "llama-3-8b", &named, &err), 0);
    assert_string_equal(named.name, "llama-3-8b");
    struct hm_job *by_sizes = make_job(&sizes, &work), *by_name = make_job(&named, &work);
    hm_catalog_free(catalog); /* The job has copied the name. */
    struct hm_job *by_yaml = parse_job("network: llama-3-8b\nsequence: 8192\nbatch: 512\n"
                                       "tokens: 1T\ncluster: p5.48xlarge\n");
    struct hm_layouts *a = plan_layouts(by_sizes, &question), *b = plan_layouts(by_name, &question),
                      *c = plan_layouts(by_yaml, &question);
    assert_same(a, b);
    assert_same(b, c);
    /* This is the number that the authors of the network publish. */
    assert_near(a->parameters, 8.03e9, 0.001);
    assert_true(a->feasible && a->point_count > 8);
    const struct hm_layout_point *p = &a->points[a->recommended];
    assert_true(p->fits && p->total_s <= question.deadline_s && p->low_s < p->time_s);
    assert_near(p->tokens_per_s, 512 * 8192 / p->time_s, 1e-9);
    assert_near(p->nodes * 8, p->n, 0);
    hm_layouts_free(a);
    hm_layouts_free(b);
    hm_layouts_free(c);
    hm_layouts_free(NULL);
    hm_job_free(by_sizes);
    hm_job_free(by_name);
    hm_job_free(by_yaml);
}

/* A layout that is given must be used; only its unspecified parts are searched. */
static void test_given_layout(void **state)
{
    const struct hm_layout given = {
        .tensor = 4, .pipeline = 2, .zero = NAN, .recompute = HM_RECOMPUTE_FULL};
    const double n = 64;
    struct hm_transformer sizes = llama_sizes();
    struct hm_transformer_work work = usual_work();
    struct hm_question question = HM_QUESTION_INIT;

    (void)state;
    question.n = &n;
    question.n_count = 1;
    work.layout = &given;
    struct hm_job *job = make_job(&sizes, &work);
    struct hm_layouts *layouts = plan_layouts(job, &question);
    assert_int_equal(layouts->point_count, 1);
    const struct hm_layout *l = &layouts->points[0].layout;
    assert_near(l->tensor, 4, 0);
    assert_near(l->pipeline, 2, 0);
    assert_near(l->data, 8, 0);
    assert_int_equal(l->recompute, HM_RECOMPUTE_FULL);
    hm_layouts_free(layouts);
    hm_job_free(job);
}

/* Returns whether the complete layout of the job fits on 8 workers if a worker has this much
 * memory. Stores the memory that the layout needs and the memory that a job may use. */
static bool fits_in(struct hm_cluster *cluster, const struct hm_job *job, double memory,
                    double *ret_needed, double *ret_limit)
{
    const struct hm_cluster *const clusters[] = {cluster};
    const double n = 8;
    struct hm_question question = HM_QUESTION_INIT;
    struct hm_layouts *layouts = NULL;
    struct hm_err err = {0};

    question.n = &n;
    question.n_count = 1;
    cluster->node.memory_bytes = memory;
    if (hm_plan_layouts(job, clusters, 1, &question, &layouts, &err))
        fail_msg("%s: %s", err.field, err.message);
    assert_int_equal(layouts->point_count, 1);
    bool fits = layouts->points[0].fits;
    *ret_needed = layouts->points[0].memory_bytes;
    *ret_limit = layouts->points[0].memory_limit_bytes;
    hm_layouts_free(layouts);
    return fits;
}

/* A layout that needs exactly the usable memory fits; with the next smaller limit it does not. */
static void test_full_memory(void **state)
{
    const struct hm_layout given = {.tensor = 1,
                                    .pipeline = 1,
                                    .interleave = 1,
                                    .context = 1,
                                    .expert = 1,
                                    .micro_batch = 1,
                                    .zero = 3,
                                    .recompute = HM_RECOMPUTE_FULL};
    struct hm_transformer sizes = llama_sizes();
    struct hm_transformer_work work = usual_work();
    struct hm_cluster *cluster = NULL;
    struct hm_catalog *catalog = NULL;
    struct hm_err err = {0};
    double needed, limit, low = 10e9, high = 640e9;
    size_t full = 0;

    (void)state;
    work.layout = &given;
    struct hm_job *job = make_job(&sizes, &work);
    assert_int_equal(hm_catalog_new(&catalog, &err), 0);
    assert_int_equal(hm_catalog_machine(catalog, "p5.48xlarge", &cluster, &err), 0);
    assert_false(fits_in(cluster, job, low, &needed, &limit));
    assert_true(fits_in(cluster, job, high, &needed, &limit));
    /* Bisection finds the neighbouring numbers at which the answer changes. */
    for (double middle = (low + high) / 2; low < middle && middle < high;
         middle = (low + high) / 2) {
        bool fits = fits_in(cluster, job, middle, &needed, &limit);
        full += limit == needed ? 1 : 0;
        assert_int_equal(fits, needed <= limit);
        *(fits ? &high : &low) = middle;
    }
    assert_true(full > 0);
    hm_cluster_free(cluster);
    hm_catalog_free(catalog);
    hm_job_free(job);
}

/* With several clusters, each has its own points, and `machine` is the index of the cluster. */
static void test_clusters(void **state)
{
    static const char *const names[] = {"p4d.24xlarge", "p5.48xlarge"};
    struct hm_transformer sizes = llama_sizes();
    struct hm_transformer_work work = usual_work();
    struct hm_question question = HM_QUESTION_INIT;
    struct hm_cluster *clusters[2] = {0};
    struct hm_catalog *catalog = NULL;
    struct hm_layouts *layouts = NULL;
    struct hm_err err = {0};
    struct hm_job *job = make_job(&sizes, &work);
    size_t seen[2] = {0};

    (void)state;
    assert_int_equal(hm_catalog_new(&catalog, &err), 0);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(hm_catalog_machine(catalog, names[i], &clusters[i], &err), 0);
    assert_int_equal(hm_plan_layouts(job, (const struct hm_cluster *const *)clusters, 2, &question,
                                     &layouts, &err),
                     0);
    for (size_t i = 0; i < layouts->point_count; i++)
        seen[layouts->points[i].machine]++;
    assert_true(seen[0] > 0 && seen[1] > 0);
    assert_int_equal(layouts->points[layouts->recommended].machine, 1);
    hm_layouts_free(layouts);
    for (size_t i = 0; i < 2; i++)
        hm_cluster_free(clusters[i]);
    hm_catalog_free(catalog);
    hm_job_free(job);
}

/* Fails unless setting the transformer of a new job reports this field. */
static void assert_refused(const struct hm_transformer *x, const struct hm_transformer_work *w,
                           const char *field)
{
    struct hm_job *job = NULL;
    struct hm_err err = {0};

    assert_int_equal(hm_job_new(&job, NULL), 0);
    assert_true(hm_job_set_transformer(job, x, w, &err) < 0);
    assert_string_equal(err.field, field);
    assert_null(job->large);
    hm_job_free(job);
}

static void test_wrong_input(void **state)
{
    const struct hm_transformer none = {0};
    const struct hm_transformer_work nothing = {0};
    struct hm_transformer sizes = llama_sizes();
    struct hm_transformer_work work = usual_work();
    struct hm_layout layout = {.recompute = HM_RECOMPUTES};

    (void)state;
    assert_refused(NULL, &work, "network");
    assert_refused(&sizes, NULL, "work");
    assert_refused(&none, &work, "layers");
    assert_refused(&sizes, &nothing, "sequence");
    work.batch = 1.5;
    assert_refused(&sizes, &work, "batch");
    work = usual_work();
    work.tokens = -1;
    assert_refused(&sizes, &work, "tokens");
    work = usual_work();
    work.trained = 2;
    assert_refused(&sizes, &work, "trained");
    work = usual_work();
    work.precision = HM_NUMBER_FORMATS;
    assert_refused(&sizes, &work, "precision");
    work = usual_work();
    work.software = HM_SOFTWARE_COUNT;
    assert_refused(&sizes, &work, "software");
    work = usual_work();
    work.layout = &layout;
    assert_refused(&sizes, &work, "recompute");
    layout = (struct hm_layout){.offload = HM_OFFLOADS};
    assert_refused(&sizes, &work, "offload");
    work = usual_work();
    sizes.kv_heads = 5;
    assert_refused(&sizes, &work, "kv_heads");
}

static void test_wrong_plans(void **state)
{
    const double numbers[] = {8, 16};
    struct hm_transformer sizes = llama_sizes(), other;
    struct hm_transformer_work work = usual_work();
    struct hm_question q = HM_QUESTION_INIT;
    struct hm_catalog *catalog = NULL;
    struct hm_layouts *layouts = NULL;
    struct hm_job *plain = NULL, *job = make_job(&sizes, &work);
    struct hm_err err = {0};

    (void)state;
    assert_true(hm_plan_layouts(NULL, NULL, 0, &q, &layouts, NULL) < 0);
    assert_true(hm_plan_layouts(job, NULL, 1, &q, &layouts, NULL) < 0);
    q.n = numbers;
    q.n_count = 2;
    assert_true(hm_plan_layouts(job, NULL, 0, &q, &layouts, &err) < 0);
    assert_string_equal(err.field, "n");
    q.n_count = 1;
    q.max_n = 64;
    err = (struct hm_err){0};
    assert_true(hm_plan_layouts(job, NULL, 0, &q, &layouts, &err) < 0);
    assert_string_equal(err.message, "n and max_n are both given");
    q = (struct hm_question)HM_QUESTION_INIT;
    q.weak = true;
    err = (struct hm_err){0};
    assert_true(hm_plan_layouts(job, NULL, 0, &q, &layouts, &err) < 0);
    assert_string_equal(err.field, "weak");
    /* The job's own cluster is checked if no other is given. */
    q = (struct hm_question)HM_QUESTION_INIT;
    job->has_cluster = true;
    job->cluster.node.accelerators = -1;
    err = (struct hm_err){0};
    assert_int_equal(hm_plan_layouts(job, NULL, 0, &q, &layouts, &err), HM_E_RANGE);
    assert_non_null(strstr(err.field, "accelerators"));
    /* A job with a transformer cannot have another network, and other jobs are not planned by
     * layouts. */
    q = (struct hm_question)HM_QUESTION_INIT;
    err = (struct hm_err){0};
    assert_int_equal(hm_job_new(&plain, NULL), 0);
    assert_int_equal(hm_job_set_network(plain, NULL, "resnet-50", NULL), 0);
    assert_true(hm_job_set_transformer(plain, &sizes, &work, &err) < 0);
    assert_string_equal(err.field, "job");
    err = (struct hm_err){0};
    assert_true(hm_plan_layouts(plain, NULL, 0, &q, &layouts, &err) < 0);
    assert_string_equal(err.field, "job");
    assert_null(layouts);
    assert_int_equal(hm_catalog_new(&catalog, NULL), 0);
    assert_true(hm_catalog_transformer(catalog, "resnet-50", &other, NULL) < 0);
    assert_true(hm_catalog_transformer(catalog, "nothing", &other, NULL) < 0);
    hm_catalog_free(catalog);
    hm_job_free(plain);
    hm_job_free(job);
}

/* The text of a layout is cut at the end of its buffer. */
static void test_text(void **state)
{
    const struct hm_layout l = {.tensor = 4, .data = 2, .micro_batch = 1};
    char text[8] = "xxxxxxx";

    (void)state;
    hm_layout_text(&l, text, sizeof(text));
    assert_string_equal(text, "tp 4 dp");
    hm_layout_text(&l, text, 0);
    assert_string_equal(text, "tp 4 dp");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_yaml), cmocka_unit_test(test_given_layout),
        cmocka_unit_test(test_clusters),     cmocka_unit_test(test_wrong_input),
        cmocka_unit_test(test_wrong_plans),  cmocka_unit_test(test_text),
        cmocka_unit_test(test_full_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
