/*
 * Estimates the work of a plan: the splits of the job's graph, the simulations of workers that may
 * be several steps apart (SSP), and the placements of layers on the stages of a pipeline. All other
 * parts of a plan take microseconds for each number of workers, so that the limits on machines and
 * workers bound them.
 */
#include <math.h>

#include "admit.h"
#include "layer_graph.h"
#include "search.h"
#include "slowness.h"
#include "split.h"
#include "way_time.h"

/*
 * If a plan chooses the number of servers, it tries 16 numbers, but most of their curves have
 * points in common, which are simulated once: together they take as long as this number of curves.
 * What-ifs of the best candidate take as long as WHAT_IFS curves.
 */
static const double OPEN_SERVERS = 4, WHAT_IFS = 6;

/* The candidates of a plan that are simulated. */
struct simulations {
    double machines, curves; /* Number of machines, and of curves on all of them. */
    double max_n, draws;     /* Largest number of workers, and draws of one curve. */
};

static struct hm_search make_search(const struct hm_job *job, const struct hm_cluster *cluster,
                                    const struct hm_question *q, const struct hm_way *way)
{
    return (struct hm_search){.job = job,
                              .cluster = cluster,
                              .question = q,
                              .way = way ? *way : (struct hm_way){0},
                              .reference = q->reference > 0 ? q->reference : job->reference};
}

/* Adds the platforms on one machine that are simulated. */
static void add_machine(struct simulations *s, const struct hm_job *job,
                        const struct hm_cluster *cluster, const struct hm_question *q)
{
    double before = s->curves;
    bool ceiling;

    for (size_t i = 0; i < q->way_count; i++) {
        struct hm_search search = make_search(job, cluster, q, &q->ways[i]);
        if (search.way.consistency != HM_CONSISTENCY_SSP || !cluster ||
            !hm__slowness_drawn(&cluster->slowness))
            continue;
        double most = hm__search_max_n(&search, &ceiling);
        s->curves += search.way.servers > 0 ? 1 : OPEN_SERVERS;
        if (!(most > s->max_n))
            continue;
        s->max_n = most;
        s->draws =
            hm__stragglers_draws(search.way.staleness, q->n_count ? q->n : NULL, q->n_count, most);
    }
    s->machines += s->curves > before;
}

static int admit_simulations(const struct simulations *s, struct hm_err *err)
{
    if (!(s->machines > 0) || !(s->max_n > 0))
        return 0;
    const struct hm_work_factor factors[] = {
        {"on", s->machines, "machines"},
        {"servers", (s->curves + WHAT_IFS) / s->machines, "curves for each"},
        {"max_n", s->max_n, "workers"},
        {"staleness", s->draws / s->max_n, "draws for each"}};
    return hm__admit(HM_STEP_DRAW, factors, sizeof(factors) / sizeof(factors[0]), err);
}

/*
 * Counts the units (layers or blocks of layers) that a pipeline places on its stages. The number is
 * 0 if the network has no layers; the plan then fails for another reason.
 */
static int count_units(const struct hm_job *job, double *ret_units, struct hm_err *err)
{
    struct hm_layer_graph graph = {0};
    struct hm_counts *counts = NULL;

    *ret_units = 0;
    if (!job->network || job->network->layer_count == 0)
        return 0;
    int rc = hm_counts_new(job->network, job->source, &counts, err);
    if (rc == 0)
        rc = hm__layer_graph_init(&graph, job->network, counts, err);
    if (rc == 0)
        *ret_units = (double)graph.unit_count;
    hm__layer_graph_release(&graph);
    hm_counts_free(counts);
    return rc;
}

/*
 * Estimates the placements of layers on the stages of a pipeline: the work of one placement is
 * about the square of the number of units, and the divisors of n and the micro-batches that are not
 * worse from the outset give about PLACEMENTS for each n.
 */
static int admit_pipeline(const struct hm_job *job, double machines, double points,
                          struct hm_err *err)
{
    static const double PLACEMENTS = 4;
    double units = 0;
    int rc = count_units(job, &units, err);
    const struct hm_work_factor factors[] = {{"on", machines + WHAT_IFS, "machines and what-ifs"},
                                             {"max_n", points, "numbers of workers"},
                                             {NULL, PLACEMENTS, "placements"},
                                             {"job", units, "layers"},
                                             {"job", units, "layers"}};

    return rc ? rc : hm__admit(HM_STEP_PLACE, factors, sizeof(factors) / sizeof(factors[0]), err);
}

static int admit_splits(const struct hm_job *job, double most, struct hm_err *err)
{
    static const struct hm_split_fields names = {"max_n", "graph.trials", "graph"};
    double n = floor(fmin(most, job->graph->vertices));

    return hm__split_admit(job->graph, job->split, job->trials, n - 1, n / 2 + 1, &names, err);
}

/* Returns about how many numbers of workers a plan on a cluster considers. */
static double count_points(const struct hm_search *s)
{
    const struct hm_question *q = s->question;
    double per_node = s->cluster ? fmax(s->cluster->node.accelerators, 1) : 1;
    bool ceiling;
    double most = hm__search_max_n(s, &ceiling);

    return q->n_count > 0 ? (double)q->n_count : fmin(most, per_node + most / per_node);
}

int hm__plan_admit(const struct hm_job *job, const struct hm_cluster *const *clusters,
                   size_t cluster_count, const struct hm_question *q, struct hm_err *err)
{
    const struct hm_cluster *own = job->has_cluster ? &job->cluster : NULL;
    const size_t machines = cluster_count ? cluster_count : 1;
    struct simulations simulations = {0};
    double most = 1, points = 0;
    bool ceiling, pipeline = false;
    int rc = 0;

    for (size_t i = 0; i < machines; i++) {
        const struct hm_cluster *cluster = cluster_count ? clusters[i] : own;
        struct hm_search search = make_search(job, cluster, q, NULL);
        add_machine(&simulations, job, cluster, q);
        most = fmax(most, fmax(hm__search_max_n(&search, &ceiling), search.reference));
        for (size_t k = 0; k < q->way_count; k++)
            if (q->ways[k].platform == HM_PLATFORM_PIPELINE) {
                search.way = q->ways[k];
                points = fmax(points, count_points(&search));
                pipeline = true;
            }
    }
    rc = admit_simulations(&simulations, err);
    if (rc == 0 && pipeline)
        rc = admit_pipeline(job, (double)machines, points, err);
    return rc || !job->graph ? rc : admit_splits(job, most, err);
}
