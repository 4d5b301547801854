/* Compares every choice of the search with a brute-force search over the whole curve. */
#include "testing.h"

static const char priced[] =
    "name: priced\nbatch: 4096\nnetwork: 1000-1000-1000-10\niterations: 1000\n"
    "communicate: [{what: gradients, scheme: ring}]\n"
    "cluster: {flops: 100 Gflop/s, memory: 1 GiB, price: $1.2/h,\n"
    "  fabric: {bandwidth: 1 Gbit/s, latency: 100 us}, max_nodes: 200}\n";

static const char epochs[] =
    "name: epochs\nbatch: 4096\nnetwork: 1000-1000-1000-10\nepochs: 10\ndataset: 1000000\n"
    "communicate: [{what: gradients, scheme: ring}]\n"
    "cluster: {flops: 100 Gflop/s, memory: 1 GiB, price: $1.2/h,\n"
    "  fabric: {bandwidth: 1 Gbit/s, latency: 100 us}, max_nodes: 200}\n";

static struct hm_question question(void)
{
    return (struct hm_question)HM_QUESTION_INIT;
}

static void best_is_the_fastest(void **state)
{
    struct hm_job *job = parse_job(priced);
    struct hm_question q = question();
    struct hm_answer *a = ask(job, &q);

    (void)state;
    assert_int_equal(a->status, HM_STATUS_OK);
    assert_int_equal(a->point_count, 200);
    for (size_t i = 0; i < a->point_count; i++) {
        const struct hm_point *p = &a->points[i];
        assert_near(p->n, (double)i + 1, 0);
        assert_true(p->total_s >= a->points[a->best].total_s);
        assert_near(p->speedup, a->points[0].time_s / p->time_s, 1e-14);
        assert_near(p->efficiency, p->speedup / p->n, 1e-14);
        assert_near(p->total_s, 1000 * p->time_s, 1e-14);
        assert_near(p->cost, p->n * p->total_s * 1.2 / 3600, 1e-14);
        assert_true(p->speedup * p->speedup / p->n <= a->points[a->knee].speedup *
                                                          a->points[a->knee].speedup /
                                                          a->points[a->knee].n * (1 + 1e-15));
    }
    assert_true(a->points[a->best].n > 1);
    for (size_t i = 0; i < a->point_count; i++) {
        bool inside = a->points[i].n >= a->plateau_from && a->points[i].n <= a->plateau_to;
        if (inside)
            assert_true(a->points[i].total_s <= 1.05 * a->points[a->best].total_s);
    }
    hm_answer_free(a);
    hm_job_free(job);
}

static bool dominated(const struct hm_answer *a, const struct hm_point *p)
{
    for (size_t i = 0; i < a->point_count; i++) {
        const struct hm_point *q = &a->points[i];
        if (q->fits && q->total_s <= p->total_s && q->cost <= p->cost &&
            (q->total_s < p->total_s || q->cost < p->cost))
            return true;
    }
    return false;
}

static void the_pareto_front_is_not_dominated(void **state)
{
    struct hm_job *job = parse_job(priced);
    struct hm_question q = question();
    struct hm_answer *a = ask(job, &q);
    size_t undominated = 0;

    (void)state;
    for (size_t i = 0; i < a->point_count; i++)
        undominated += !dominated(a, &a->points[i]);
    assert_int_equal(a->pareto_count, undominated);
    for (size_t i = 0; i < a->pareto_count; i++) {
        assert_false(dominated(a, &a->points[a->pareto[i]]));
        if (i)
            assert_true(a->points[a->pareto[i]].total_s > a->points[a->pareto[i - 1]].total_s);
    }
    hm_answer_free(a);
    hm_job_free(job);
}

static void deadlines_and_budgets_limit_n(void **state)
{
    struct hm_job *job = parse_job(priced);
    struct hm_question q = question();

    (void)state;
    q.deadline_s = 300;
    /* With a required probability of 50 %, limits are compared with the expected times. */
    q.certainty = 0.5;
    struct hm_answer *a = ask(job, &q);
    /* If there is a deadline, the automatic goal is the cost. */
    assert_int_equal(a->goal, HM_GOAL_COST);
    assert_int_equal(a->best, a->in_deadline);
    assert_true(a->points[a->best].total_s <= 300);
    for (size_t i = 0; i < a->point_count; i++)
        if (a->points[i].total_s <= 300)
            assert_true(a->points[i].cost >= a->points[a->best].cost);
    hm_answer_free(a);

    q = question();
    q.budget = 1;
    q.certainty = 0.5;
    a = ask(job, &q);
    assert_int_equal(a->goal, HM_GOAL_TIME);
    assert_int_equal(a->best, a->in_budget);
    assert_true(a->points[a->best].cost <= 1);
    for (size_t i = 0; i < a->point_count; i++)
        if (a->points[i].cost <= 1)
            assert_true(a->points[i].total_s >= a->points[a->best].total_s);
    hm_answer_free(a);

    q.deadline_s = 1; /* No number of workers finishes within a second. */
    a = ask(job, &q);
    assert_int_equal(a->status, HM_STATUS_UNREACHED);
    assert_int_equal(a->best, HM_NONE);
    assert_string_equal(a->missed, "deadline");
    assert_true(a->nearest != HM_NONE && a->nearest_gap > 1);
    hm_answer_free(a);
    hm_job_free(job);
}

static void balance_weighs_time_and_money(void **state)
{
    struct hm_job *job = parse_job(priced);
    struct hm_question q = question();

    (void)state;
    q.goal = HM_GOAL_BALANCE;
    q.alpha = 0.01;
    q.beta = 2;
    struct hm_answer *a = ask(job, &q);
    const struct hm_point *b = &a->points[a->best];
    for (size_t i = 0; i < a->point_count; i++)
        assert_true(0.01 * a->points[i].total_s + 2 * a->points[i].cost >=
                    (0.01 * b->total_s + 2 * b->cost) * (1 - 1e-14));
    hm_answer_free(a);
    /* By default, the least time and the least cost have the same weight. */
    q.alpha = q.beta = NAN;
    a = ask(job, &q);
    double least_time = INFINITY, least_cost = INFINITY;
    for (size_t i = 0; i < a->point_count; i++) {
        least_time = fmin(least_time, a->points[i].total_s);
        least_cost = fmin(least_cost, a->points[i].cost);
    }
    assert_near(a->question.alpha, 1 / least_time, 1e-13);
    assert_near(a->question.beta, 1 / least_cost, 1e-13);
    hm_answer_free(a);
    hm_job_free(job);
}

static void no_speedup_is_an_answer(void **state)
{
    struct hm_job *job = parse_job("compute: 1/n\ncommunicate: \"n > 1 ? 10 + n : 0\"\n");
    struct hm_question q = question();
    struct hm_answer *a = ask(job, &q);

    (void)state;
    assert_int_equal(a->status, HM_STATUS_NO_SPEEDUP);
    assert_near(a->points[a->best].n, 1, 0);
    assert_near(a->points[a->nearest].n, 2, 0);
    assert_near(a->nearest_gap, 12.5, 1e-14);
    hm_answer_free(a);
    hm_job_free(job);
}

static void memory_and_batch_limit(void **state)
{
    /* A sample takes 8 MB (two layers of 1e6 values); n workers share a batch of ten. */
    const char *text = "batch: 10\nnetwork: {input: 1000000, layers: [relu, relu]}\n"
                       "compute: 1/n\ncommunicate: 0.01*n\n"
                       "cluster: {memory: 19.9 MB, max_nodes: 64}\n";
    struct hm_job *job = parse_job(text);
    struct hm_question q = question();
    struct hm_answer *a = ask(job, &q);

    (void)state;
    assert_false(a->points[3].fits); /* On 4 workers, each has 2.5 samples, which take 20 MB. */
    assert_true(a->points[4].fits);
    assert_near(a->points[a->best].n, 10, 0);
    hm_answer_free(a);
    hm_job_free(job);

    job = parse_job("batch: 4\nnetwork: 1000-1000\ncommunicate: none\n"
                    "cluster: {flops: 1 Gflop/s, max_nodes: 64}\n");
    a = ask(job, &q);
    assert_near(a->points[a->best].n, 4, 0);
    assert_int_equal(a->limit, HM_LIMIT_BATCH);
    hm_answer_free(a);
    hm_job_free(job);

    job = parse_job("batch: 4\nnetwork: 1000-1000\ncommunicate: none\n"
                    "cluster: {flops: 1 Gflop/s, memory: 1 MB, max_nodes: 64}\n");
    a = ask(job, &q);
    assert_int_equal(a->status, HM_STATUS_UNREACHED);
    assert_string_equal(a->missed, "memory");
    assert_true(a->nearest_gap > 8);
    hm_answer_free(a);
    hm_job_free(job);
}

static void limits_are_distinguished(void **state)
{
    static const struct {
        const char *network, *scheme;
        enum hm_limit limit;
    } rows[] = {
        {"{bandwidth: 16 Mbit/s}", "recursive-doubling", HM_LIMIT_BANDWIDTH},
        {"{bandwidth: 1000 Gbit/s, latency: 500 ms}", "rabenseifner", HM_LIMIT_LATENCY},
        {"{bandwidth: 1000 Gbit/s}", "ring", HM_LIMIT_COMPUTE},
    };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        char text[400];
        snprintf(text, sizeof(text),
                 "batch: 100000\nnetwork: 1000-1000\n"
                 "communicate: [{what: gradients, scheme: %s}]\n"
                 "cluster: {flops: 10 Gflop/s, network: %s, max_nodes: 64}\n",
                 rows[i].scheme, rows[i].network);
        struct hm_job *job = parse_job(text);
        struct hm_question q = question();
        struct hm_answer *a = ask(job, &q);
        assert_int_equal(a->limit, rows[i].limit);
        assert_true(a->limit_share > 0.2 && a->limit_share <= 1);
        hm_answer_free(a);
        hm_job_free(job);
    }
}

/* The gain of each change that is said to help must be the result of a plan of the changed job. */
static void help_equals_the_changed_job(void **state)
{
    static const struct {
        const char *what, *set;
    } rows[] = {{"2x bandwidth", "cluster.fabric.bandwidth=2 Gbit/s"},
                {"half the latency", "cluster.fabric.latency=50 us"},
                {"2x flop/s", "cluster.flops=200 Gflop/s"},
                {"2x batch", "batch=8192"}};
    /* A larger batch does the same work only in a job that is given in epochs. */
    static const char *const texts[] = {priced, epochs};
    struct hm_question q = question();

    (void)state;
    for (size_t k = 0; k < 8; k++) {
        const char *text = texts[k / 4];
        const size_t i = k % 4;
        struct hm_job *job = parse_job(text);
        struct hm_answer *a = ask(job, &q);
        struct hm_override set = {rows[i].set};
        struct hm_job *changed;
        assert_int_equal(a->help_count, k < 4 ? 3 : 4);
        if (i >= a->help_count) {
            hm_answer_free(a);
            hm_job_free(job);
            continue;
        }
        assert_int_equal(hm_job_parse(text, strlen(text), "t", &set, 1, &changed, NULL), 0);
        struct hm_answer *b = ask(changed, &q);
        assert_string_equal(a->help[i].what, rows[i].what);
        const struct hm_point *then = &b->points[b->recommended], *now = &a->points[a->recommended];
        assert_near(a->help[i].n, then->n, 0);
        assert_near(a->help[i].time_s, then->time_s, 1e-13);
        assert_near(a->help[i].speedup, then->speedup, 1e-13);
        assert_near(a->help[i].gain, now->total_s / then->total_s, 1e-13);
        hm_answer_free(b);
        hm_job_free(changed);
        hm_answer_free(a);
        hm_job_free(job);
    }
}

static void quantities_of_formulas_help_too(void **state)
{
    struct hm_job *job = parse_job("where: {W: 100, B: 2, idle: 0}\ncompute: W/n\n"
                                   "communicate: 4/B*n + idle\ncluster: {max_nodes: 50}\n");
    struct hm_question q = question();
    struct hm_answer *a = ask(job, &q);

    (void)state;
    /* `idle` has no effect, and halving W would halve the work, so only one change helps. */
    assert_int_equal(a->help_count, 1);
    assert_string_equal(a->help[0].what, "2x B");
    assert_near(a->points[a->best].n, 7, 0); /* 100/n + 2n is least at n = sqrt(50). */
    hm_answer_free(a);
    hm_job_free(job);
}

static void faster_and_more_work(void **state)
{
    struct hm_job *job = parse_job("compute: 10/n\ncommunicate: 0.5*log2(n)\n");
    struct hm_question q = question();

    (void)state;
    q.faster = 2;
    q.work = 3;
    struct hm_answer *a = ask(job, &q);
    /* 10/n + 0.5 log2 n <= 5 holds from n = 3 on: n = 2 gives 5.5, n = 3 gives 4.13. */
    assert_near(a->points[a->faster].n, 3, 0);
    /* 30/n + 0.5 log2 n <= 10 holds from n = 4 on: n = 3 gives 10.79, n = 4 gives 8.5. */
    assert_near(a->work_points[a->work].n, 4, 0);
    assert_near(a->work_points[a->work].time_s, 8.5, 1e-14);
    hm_answer_free(a);
    q.faster = 100;
    a = ask(job, &q);
    assert_int_equal(a->status, HM_STATUS_UNREACHED);
    assert_string_equal(a->missed, "faster");
    assert_near(a->points[a->nearest].n, 14, 0);
    hm_answer_free(a);
    hm_job_free(job);
}

static void weak_scaling_counts_instances(void **state)
{
    struct hm_job *job = parse_job("compute: 2\ncommunicate: log2(n)\nscaling: weak\nreference: 2\n"
                                   "iterations: 100\ncluster: {max_nodes: 16}\n");
    struct hm_question q = question();
    struct hm_answer *a = ask(job, &q);

    (void)state;
    for (size_t i = 0; i < a->point_count; i++) {
        double n = a->points[i].n, t = 2 + log2(n);
        assert_near(a->points[i].speedup, (3.0 / 2) / (t / n), 1e-14);
        /* The job has the samples of 100 iterations on the two workers of the reference. */
        assert_near(a->points[i].total_s, ceil(100 * 2 / n) * t, 1e-14);
    }
    hm_answer_free(a);
    hm_job_free(job);

    job = parse_job("compute: 2\ncommunicate: 0\nscaling: weak\nbatch: 10\nepochs: 3\ndataset: 95\n"
                    "cluster: {max_nodes: 4}\n");
    a = ask(job, &q);
    assert_near(a->points[0].total_s, 2 * 29, 0); /* ceil(285 / 10) = 29 iterations. */
    assert_near(a->points[3].total_s, 2 * 8, 0);  /* ceil(285 / 40) = 8 iterations. */
    hm_answer_free(a);
    hm_job_free(job);
}

/* With weak scaling, more work means more iterations, so the same speedup is needed. */
static void more_work_with_weak_scaling(void **state)
{
    struct hm_job *job = parse_job("compute: 2\ncommunicate: 0.1*log2(n)\nscaling: weak\n"
                                   "cluster: {max_nodes: 64}\n");
    struct hm_question q = question();

    (void)state;
    q.faster = q.work = 5;
    struct hm_answer *a = ask(job, &q);
    assert_int_equal(a->status, HM_STATUS_OK);
    assert_near(a->work_points[a->work].n, a->points[a->faster].n, 0);
    assert_near(a->work_points[a->work].total_s, 5 * a->points[a->faster].total_s, 1e-14);
    hm_answer_free(a);
    hm_job_free(job);
}

static void at_price_0_the_fastest_is_the_cheapest(void **state)
{
    struct hm_job *job = parse_job("compute: 8/n\ncommunicate: 0.1*n\n"
                                   "cluster: {price: $0/h, max_nodes: 16}\n");
    struct hm_question q = question();

    (void)state;
    q.deadline_s = 7;
    struct hm_answer *a = ask(job, &q);
    assert_near(a->points[a->best].n, 9, 0);
    assert_int_equal(a->pareto_count, 1);
    assert_int_equal(a->pareto[0], a->best);
    hm_answer_free(a);
    q.budget = 0;
    q.deadline_s = 0;
    a = ask(job, &q);
    assert_int_equal(a->status, HM_STATUS_OK);
    hm_answer_free(a);
    hm_job_free(job);
    /* Every n costs more than the budget, so the cheapest n is nearest to the budget. */
    job = parse_job(priced);
    a = ask(job, &q);
    assert_int_equal(a->status, HM_STATUS_UNREACHED);
    for (size_t i = 0; i < a->point_count; i++)
        assert_true(a->points[a->nearest].cost <= a->points[i].cost);
    hm_answer_free(a);
    hm_job_free(job);
}

static const char on_a_graph[] =
    "graph: {generate: power-law, vertices: 2000, edges: 8000, max_degree: 900, split: %s}\n"
    "communicate: [{what: vertices, scheme: serial}]\nprecision: 32\n"
    "cluster: {flops: 1 Mflop/s, fabric: {bandwidth: 1 GB/s, latency: 1 ms}, max_nodes: 32}\n";

/* The time must be max E_i c(S)/F + a + r V S 4 bytes/B, computed from the parts of the graph. */
static void graphs_are_planned_by_their_fullest_worker(void **state)
{
    char text[600];

    (void)state;
    snprintf(text, sizeof(text), on_a_graph, "dealt");
    struct hm_job *job = parse_job(text);
    struct hm_question q = question();
    struct hm_answer *a = ask(job, &q);
    assert_int_equal(a->point_count, 32);
    for (size_t i = 0; i < a->point_count; i++) {
        const struct hm_point *p = &a->points[i];
        struct hm_parts parts;
        hm_graph_split(job->graph, HM_SPLIT_DEALT, 1, 1, &p->n, 1, &parts, NULL);
        assert_near(p->compute_s, parts.edges_max * (2 + 2 * (2 + 4)) / 1e6, 1e-13);
        double bytes = parts.replicas * job->graph->vertices * 2 * 4;
        assert_near(p->communicate_s, i ? 1e-3 + bytes / 1e9 : 0, 1e-12);
        assert_near(p->imbalance, parts.imbalance, 1e-13);
    }
    hm_answer_free(a);
    hm_job_free(job);
}

static void imbalance_limits_and_an_even_split_would_help(void **state)
{
    char text[600];

    (void)state;
    snprintf(text, sizeof(text), on_a_graph, "random");
    struct hm_job *job = parse_job(text);
    struct hm_question q = question();
    struct hm_answer *a = ask(job, &q);
    const struct hm_point *best = &a->points[a->best];
    assert_int_equal(a->limit, HM_LIMIT_IMBALANCE);
    assert_true(best->imbalance > 1.1);
    bool found = false;
    for (size_t i = 0; i < a->help_count; i++) {
        if (strcmp(a->help[i].what, "an even split") != 0)
            continue;
        found = true;
        if (a->help[i].n == best->n)
            assert_near(a->help[i].gain *
                            (best->time_s - best->compute_s * (1 - 1 / best->imbalance)),
                        best->time_s, 1e-12);
    }
    assert_true(found);
    /* A real split is faster because the most loaded worker has fewer edges; the copies of vertices
     * are sent. */
    const struct hm_help *greedy = NULL;
    for (size_t i = 0; i < a->help_count; i++)
        greedy = strcmp(a->help[i].what, "a greedy split") == 0 ? &a->help[i] : greedy;
    assert_non_null(greedy);
    assert_true(greedy->gain > 1.05);
    if (greedy->n == best->n) {
        struct hm_parts parts;
        hm_graph_split(job->graph, HM_SPLIT_GREEDY, 1, 1, &best->n, 1, &parts, NULL);
        double bytes = parts.replicas * job->graph->vertices * 2 * 4;
        assert_near(greedy->time_s, parts.edges_max * 14 / 1e6 + 1e-3 + bytes / 1e9, 1e-12);
    }
    hm_answer_free(a);
    hm_job_free(job);
}

static void nodes_are_rented_whole(void **state)
{
    struct hm_job *job = parse_job("compute: 8/n\ncommunicate: none\n"
                                   "cluster: {accelerators: 4, price: $3600/h, max_nodes: 3}\n");
    static const double n[] = {1, 2, 3, 4, 8, 12}, nodes[] = {1, 1, 1, 1, 2, 3};
    struct hm_question q = question();
    struct hm_answer *a = ask(job, &q);

    (void)state;
    assert_int_equal(a->point_count, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_near(a->points[i].n, n[i], 0);
        assert_near(a->points[i].nodes, nodes[i], 0);
        assert_near(a->points[i].cost, nodes[i] * 8 / n[i], 1e-14);
    }
    hm_answer_free(a);
    hm_job_free(job);
}

static void machines_and_schemes_are_ranked(void **state)
{
    struct hm_catalog *catalog;
    struct hm_cluster *clusters[2];
    const enum hm_scheme schemes[] = {HM_SCHEME_RING, HM_SCHEME_RECURSIVE_DOUBLING};
    struct hm_job *job = parse_job("batch: 1024\nnetwork: alexnet\niterations: 10\n");
    struct hm_question q = question();
    struct hm_answer *a;
    struct hm_err err = {0};

    (void)state;
    assert_int_equal(hm_catalog_new(&catalog, &err), 0);
    assert_int_equal(hm_catalog_machine(catalog, "office-pc", &clusters[0], &err), 0);
    assert_int_equal(hm_catalog_machine(catalog, "p4d.24xlarge", &clusters[1], &err), 0);
    q.max_n = 64;
    assert_int_equal(
        hm_plan(job, (const struct hm_cluster *const *)clusters, 2, schemes, 2, &q, &a, &err), 0);
    assert_int_equal(a->rank_count, 4);
    assert_string_equal(a->machine, "p4d.24xlarge");
    assert_string_equal(a->ranking[0].machine, "p4d.24xlarge");
    assert_null(a->ranking[0].why);
    for (size_t i = 1; i < 4; i++) {
        assert_true(a->ranking[i].total_s >= a->ranking[i - 1].total_s);
        assert_non_null(a->ranking[i].why);
    }
    hm_answer_free(a);
    hm_cluster_free(clusters[0]);
    hm_cluster_free(clusters[1]);
    hm_catalog_free(catalog);
    hm_job_free(job);
}

static void figures_of_examples_agree(void **state)
{
    const char *name, *text;
    size_t length;

    (void)state;
    for (size_t i = 0; hm_example(i, &name, &text, &length); i++) {
        struct hm_job *job;
        struct hm_validation *v;
        struct hm_err err = {0};
        int rc = hm_job_parse(text, length, example_source(name), NULL, 0, &job, &err);
        if (rc == HM_E_IO) { /* A case whose data file is missing is skipped; see HOWMANY_DATA. */
            print_message("# skipped %s: %s\n", name, err.source);
            continue;
        }
        assert_int_equal(rc, 0);
        assert_int_equal(hm_validate(job, &v, &err), 0);
        assert_true(v->count > 0);
        for (size_t k = 0; k < v->count; k++)
            if (!v->checks[k].agrees)
                fail_msg("%s: %s is %g, not %g", name, v->checks[k].what, v->checks[k].value,
                         v->checks[k].published);
        hm_validation_free(v);
        hm_job_free(job);
    }
}

/* A wrong figure must be reported as a difference; otherwise the comparison would prove nothing. */
static void a_wrong_figure_differs(void **state)
{
    struct hm_job *job = parse_job("compute: 10/n\ncommunicate: 0.5*log2(n)\n"
                                   "expect:\n  - {what: time, n: 10, value: 2.66097}\n"
                                   "  - {what: time, n: 10, value: 2.66096}\n"
                                   "  - {what: best_n, value: 15}\n");
    struct hm_validation *v;

    (void)state;
    assert_int_equal(hm_validate(job, &v, NULL), 0);
    assert_false(v->checks[0].agrees);
    assert_true(v->checks[1].agrees);
    assert_false(v->checks[2].agrees);
    hm_validation_free(v);
    hm_job_free(job);
}

static void bad_questions_are_refused(void **state)
{
    struct hm_job *job = parse_job("compute: 1/n\ncommunicate: 0\ncluster: {max_nodes: 8}\n");
    struct hm_answer *a = NULL;

    (void)state;
    for (int i = 0; i < 6; i++) {
        struct hm_question q = question();
        struct hm_err err = {0};
        switch (i) {
        case 0:
            q.max_n = 2.5;
            break;
        case 1:
            q.max_n = NAN;
            break;
        case 2:
            q.reference = 9;
            break;
        case 3:
            q.budget = 5;
            break; /* Machines without a price come last. */
        case 4:
            q.deadline_s = -1;
            break;
        case 5:
            q.max_n = 1e7;
            break;
        }
        assert_true(hm_plan(job, NULL, 0, NULL, 0, &q, &a, &err) < 0);
        assert_true(err.message[0] != '\0');
        assert_null(a);
    }
    hm_job_free(job);
}

static void formulas_must_give_times(void **state)
{
    struct hm_job *job = parse_job("compute: 10/n\ncommunicate: 1 - 0.1*n\n");
    struct hm_question q = question();
    struct hm_answer *a = NULL;
    struct hm_err err = {0};

    (void)state;
    assert_int_equal(hm_plan(job, NULL, 0, NULL, 0, &q, &a, &err), HM_E_FORMULA);
    assert_string_equal(err.message, "the formula gives -0.1 at n = 11");
    assert_string_equal(err.field, "communicate");
    assert_int_equal(err.line, 2);
    hm_job_free(job);
}

/* The reason must name the step that takes longest, not the last one. */
static void the_reason_names_the_right_step(void **state)
{
    struct hm_job *job =
        parse_job("batch: 100000\nnetwork: 1000-1000\n"
                  "communicate: [{what: gradients, scheme: ring, times: 50}, {what: parameters, "
                  "scheme: tree}]\n"
                  "cluster: {flops: 10 Gflop/s, fabric: {bandwidth: 100 Mbit/s}, max_nodes: 64}\n");
    struct hm_question q = question();
    struct hm_answer *a = ask(job, &q);

    (void)state;
    assert_non_null(strstr(a->why, "joining gradients by ring"));
    hm_answer_free(a);
    hm_job_free(job);
}

static void a_what_if_out_of_range_is_left_out(void **state)
{
    struct hm_job *job = parse_job("batch: 150\ncompute: (200 - batch)/n\ncommunicate: 0.1*n\n");
    struct hm_question q = question();
    struct hm_answer *a = ask(job, &q);

    (void)state;
    for (size_t i = 0; i < a->help_count; i++)
        assert_string_not_equal(a->help[i].what, "2x batch");
    hm_answer_free(a);
    hm_job_free(job);
}

static void ceilings_are_distinguished(void **state)
{
    static const struct {
        const char *cluster;
        bool at_ceiling;
        double beyond;
    } rows[] = {
        {"cluster: {max_nodes: 14}\n", false, NAN}, /* The limit on nodes equals the optimum. */
        {"cluster: {max_nodes: 10}\n", false, 14},  /* The optimum is above the limit on nodes. */
        {"", false, NAN},
    };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        char text[200];
        snprintf(text, sizeof(text), "compute: 10/n\ncommunicate: 0.5*log2(n)\n%s",
                 rows[i].cluster);
        struct hm_job *job = parse_job(text);
        struct hm_question q = question();
        struct hm_answer *a = ask(job, &q);
        assert_int_equal(a->at_ceiling, rows[i].at_ceiling);
        assert_true(isnan(rows[i].beyond) ? isnan(a->beyond_n) : a->beyond_n == rows[i].beyond);
        hm_answer_free(a);
        hm_job_free(job);
    }
    /* Only the largest n of the search limits the number of workers. */
    struct hm_job *job = parse_job("compute: 10/n\ncommunicate: none\n");
    struct hm_question q = question();
    struct hm_answer *a = ask(job, &q);
    assert_true(a->at_ceiling);
    hm_answer_free(a);
    hm_job_free(job);
}

static void two_limits_may_be_missed_only_together(void **state)
{
    struct hm_job *job = parse_job(priced);
    struct hm_question q = question();
    struct hm_answer *a = ask(job, &q);
    double quick = a->points[a->best].total_s, cheap = INFINITY;

    (void)state;
    for (size_t i = 0; i < a->point_count; i++)
        cheap = fmin(cheap, a->points[i].cost);
    hm_answer_free(a);
    q.deadline_s = quick * 1.01;
    q.budget = cheap * 1.01;
    q.certainty = 0.5;
    a = ask(job, &q);
    assert_int_equal(a->status, HM_STATUS_UNREACHED);
    assert_string_equal(a->missed, "deadline and budget");
    assert_true(a->in_deadline != HM_NONE && a->in_budget != HM_NONE);
    hm_answer_free(a);
    hm_job_free(job);
}

static struct hm_cluster *cluster(const char *text)
{
    struct hm_cluster *c = NULL;
    struct hm_err err = {0};

    if (hm_cluster_parse(NULL, text, strlen(text), "c.yaml", NULL, 0, &c, &err))
        fail_msg("%s", err.message);
    return c;
}

/* With the goal cost, the ranking is by cost. Entries that cannot be compared or cannot run come
 * last, with the reason. */
static void rankings_follow_the_goal(void **state)
{
    struct hm_job *job = parse_job("network: 1000-1000\nbatch: 1000\nprecision: 64\n");
    struct hm_cluster *c[] = {
        cluster("{flops: 1 Gflop/s, price: $1/h, fabric: 1gbe, title: slow}"),
        cluster("{flops: 9 Gflop/s, price: $18/h, fabric: 1gbe, title: dear}"),
        cluster("{flops: 9 Gflop/s, fabric: 1gbe, title: unpriced}"),
        cluster("{flops: {32: 9 Gflop/s}, price: $1/h, fabric: 1gbe, title: no doubles}"),
    };
    struct hm_question q = question();
    struct hm_answer *a;
    struct hm_err err = {0};

    (void)state;
    q.goal = HM_GOAL_COST;
    q.max_n = 1;
    int rc = hm_plan(job, (const struct hm_cluster *const *)c, 4, NULL, 0, &q, &a, &err);
    if (rc)
        fail_msg("%s", err.message);
    assert_near(a->ranking[0].cost, 6e9 / 1e9 / 3600, 1e-9);
    assert_string_equal(a->ranking[1].why, "2.00x the cost");
    assert_false(a->ranking[2].feasible || a->ranking[3].feasible);
    bool price = false, flops = false;
    for (size_t i = 2; i < 4; i++) {
        price = price || strcmp(a->ranking[i].why, "its price is not known") == 0;
        flops = flops || strstr(a->ranking[i].why, "no flops for 64 bit");
    }
    assert_true(price && flops);
    hm_answer_free(a);
    assert_int_equal(
        hm_plan(job, (const struct hm_cluster *const *)&c[3], 1, NULL, 0, &q, &a, &err),
        HM_E_MISSING);
    for (size_t i = 0; i < 4; i++)
        hm_cluster_free(c[i]);
    hm_job_free(job);
}

static void a_scheme_needs_an_allreduce(void **state)
{
    struct hm_job *job = parse_job("compute: 10/n\ncommunicate: 0.5*n\n");
    const enum hm_scheme ring = HM_SCHEME_RING;
    struct hm_question q = question();
    struct hm_answer *a;
    struct hm_err err = {0};

    (void)state;
    assert_int_equal(hm_plan(job, NULL, 0, &ring, 1, &q, &a, &err), HM_E_CONFLICT);
    hm_job_free(job);
}

/* If computing and communicating overlap according to a norm, the larger of them is the limit. */
static void overlapping_parts_share_the_step(void **state)
{
    struct hm_job *job = parse_job("compute: 8/n\ncommunicate: 3\noverlap: {norm: 8}\n"
                                   "cluster: {max_nodes: 4}\n");
    struct hm_question q = question();

    q.slack = 0;
    struct hm_answer *a = ask(job, &q);
    (void)state;
    assert_int_equal(a->limit, HM_LIMIT_COMMUNICATION);
    assert_near(a->limit_share, 3.0 / 5, 1e-12);
    hm_answer_free(a);
    hm_job_free(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(best_is_the_fastest),
        cmocka_unit_test(the_pareto_front_is_not_dominated),
        cmocka_unit_test(deadlines_and_budgets_limit_n),
        cmocka_unit_test(balance_weighs_time_and_money),
        cmocka_unit_test(no_speedup_is_an_answer),
        cmocka_unit_test(memory_and_batch_limit),
        cmocka_unit_test(limits_are_distinguished),
        cmocka_unit_test(help_equals_the_changed_job),
        cmocka_unit_test(quantities_of_formulas_help_too),
        cmocka_unit_test(faster_and_more_work),
        cmocka_unit_test(weak_scaling_counts_instances),
        cmocka_unit_test(more_work_with_weak_scaling),
        cmocka_unit_test(at_price_0_the_fastest_is_the_cheapest),
        cmocka_unit_test(graphs_are_planned_by_their_fullest_worker),
        cmocka_unit_test(imbalance_limits_and_an_even_split_would_help),
        cmocka_unit_test(nodes_are_rented_whole),
        cmocka_unit_test(machines_and_schemes_are_ranked),
        cmocka_unit_test(figures_of_examples_agree),
        cmocka_unit_test(a_wrong_figure_differs),
        cmocka_unit_test(the_reason_names_the_right_step),
        cmocka_unit_test(a_what_if_out_of_range_is_left_out),
        cmocka_unit_test(ceilings_are_distinguished),
        cmocka_unit_test(two_limits_may_be_missed_only_together),
        cmocka_unit_test(rankings_follow_the_goal),
        cmocka_unit_test(a_scheme_needs_an_allreduce),
        cmocka_unit_test(overlapping_parts_share_the_step),
        cmocka_unit_test(bad_questions_are_refused),
        cmocka_unit_test(formulas_must_give_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
