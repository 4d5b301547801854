/*
 * f(n) from a specification sheet: seconds of one iteration on n workers, split into computing and
 * communicating. Pure: no input or output, no state between calls.
 */
#ifndef HM_MODEL_H
#define HM_MODEL_H

#include "formula.h"
#include "howmany.h"

/* What is asked of the model besides the job and the cluster; factors are 1 when nothing changes.
 */
struct hm_variant {
    int scheme; /* for all all-reduce steps, enum hm_scheme; -1: as the job says */
    bool weak;
    double bandwidth, latency, flops; /* factors on the hardware */
    double work;                      /* factor on the samples of an iteration */
    struct hm_scaled quantity;        /* factor on a quantity of `where:` */
    const struct hm_parts *parts;     /* of a graph, for n = 1..part_count; borrowed */
    size_t part_count;
    bool balanced;        /* as if every worker had the mean number of edges */
    struct hm_way way;    /* the platform */
    struct hm_crew *crew; /* of the cluster's slowness, borrowed; NULL: the model makes its own */
    bool steady;          /* as if no worker were ever slow */
    bool by_speed;        /* as if every worker had a share of the batch by its speed */
};

/* The slowness of a cluster, ready to be evaluated; it remembers, and serves one thread. */
struct hm_crew;

/* slowness is borrowed; by_speed: every worker has a share of the work by its speed. */
int hm__crew_new(const struct hm_slowness *slowness, bool by_speed, struct hm_crew **ret_crew,
                 struct hm_err *err);
void hm__crew_free(struct hm_crew *crew);

/* Nodes that a way needs besides those of the workers. */
double hm__way_nodes(const struct hm_way *way);
/* Workers whose gradients count, of n. */
double hm__way_used(const struct hm_way *way, double n);

/* clang-format off */
#define HM_VARIANT_INIT {-1, false, 1, 1, 1, 1, {NULL, 1}, NULL, 0, false, {0}, NULL, false, false}
/* clang-format on */

struct hm_model;

/* job and cluster are borrowed and must outlive the model; cluster may be NULL for formulas. */
int hm__model_new(const struct hm_job *job, const struct hm_cluster *cluster,
                  const struct hm_variant *variant, struct hm_model **ret_model,
                  struct hm_err *err);
void hm__model_free(struct hm_model *model);

/*
 * Fill points[i] for n = points[i].n: nodes, time_s, compute_s, wait_s, communicate_s, latency_s,
 * bandwidth_s, server_share, memory_bytes, scheme, fits. Fails where a formula gives no time.
 */
int hm__model_eval(const struct hm_model *model, struct hm_point *points, size_t count,
                   struct hm_err *err);

/*
 * The parts that add up to the time: compute and each step of the communication; or, where the two
 * overlap, compute and what of the communication is not hidden behind it.
 */
size_t hm__model_part_count(const struct hm_model *model);
/* "compute", "parameters by torrent", "communicate"; into text. */
void hm__model_part_name(const struct hm_model *model, size_t part, char *text, size_t room);
/* parts[k * count + i] = seconds of part k at n[i]. */
int hm__model_parts(const struct hm_model *model, const double *n, size_t count, double *parts,
                    struct hm_err *err);

/* The factor on the samples that it was made with. */
double hm__model_work(const struct hm_model *model);

/* The step of the communication that takes longest at n, or -1, and the scheme it takes there. */
int hm__model_dominant(const struct hm_model *model, double n, enum hm_scheme *ret_scheme);
/* A step of the communication: the job's, or the platform's. */
const struct hm_transfer *hm__model_step(const struct hm_model *model, size_t step);
/* Whether latency and bandwidth parts are known (no step is a formula of time). */
bool hm__model_split(const struct hm_model *model);
/* What the model assumed; the i-th note, NULL after the last. Borrowed. */
const char *hm__model_note(const struct hm_model *model, size_t i);
/* Relative change of the time at n for a relative change of a quantity: d ln t / d ln q. */
int hm__model_elasticity(const struct hm_model *model, double n, const char *quantity,
                         double *ret_elasticity, struct hm_err *err);

#endif
