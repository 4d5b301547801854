/*
 * Creates jobs in memory: sets defaults, implements the setters that need no catalog, and checks
 * every field.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "checks.h"
#include "err.h"
#include "memory.h"
#include "symbols.h"

enum { JOB_FIELD_TEXT = 128 };

static const double JOB_MOST = 1e15;

void hm__job_init(struct hm_job *job, void *memory)
{
    *job = (struct hm_job){.states = 2,
                           .trials = 20,
                           .seed = 1,
                           .batch = NAN,
                           .reference = 1,
                           .iterations = NAN,
                           .epochs = NAN,
                           .critical_batch = NAN,
                           .dataset = NAN,
                           .precision = 32,
                           .overlap = HM_OVERLAP_AUTO,
                           .bucket_bytes = NAN,
                           .overlap_p = 1,
                           .memory = memory};
    hm__cluster_init(&job->cluster);
}

int hm_job_new(struct hm_job **ret_job, struct hm_err *err)
{
    int rc = hm__check_pointer(ret_job, "ret_job", err);

    if (rc)
        return rc;
    struct hm_arena *arena = hm__arena_new();
    struct hm_job *job = arena ? hm__arena_alloc(arena, 1, sizeof(*job)) : NULL;
    if (!job) {
        hm__arena_free(arena);
        return hm__fail_nomem(err);
    }
    hm__job_init(job, arena);
    *ret_job = job;
    return 0;
}

void hm_job_free(struct hm_job *job)
{
    if (job)
        hm__arena_free(job->memory);
}

/* ---- setters --------------------------------------------------------------------------------- */

/* A setter needs a job from hm_job_new or from a reader, because only these have an arena. */
static int check_settable(const struct hm_job *job, struct hm_err *err)
{
    int rc = hm__check_pointer(job, "job", err);

    if (rc == 0 && !job->memory)
        rc = hm__fail(err, HM_E_MISSING, "the job has no memory: make it with hm_job_new");
    return rc;
}

static int set_text(struct hm_job *job, const char *text, const char **ret_copy, struct hm_err *err)
{
    const char *copy = text ? hm__arena_strdup(job->memory, text) : NULL;

    if (text && !copy)
        return hm__fail_nomem(err);
    *ret_copy = copy;
    return 0;
}

int hm_job_set_name(struct hm_job *job, const char *name, struct hm_err *err)
{
    int rc = check_settable(job, err);

    return rc ? rc : set_text(job, name, &job->name, err);
}

static void release_formula(void *formula)
{
    hm_formula_free(formula);
}

/*
 * Compiles a formula over n and the quantities of a job; if the text is NULL, the result is also
 * NULL.
 */
static int compile_field(struct hm_job *job, const char *text, const char *field, struct hm_dim dim,
                         struct hm_formula **ret_formula, struct hm_err *err)
{
    const struct hm_scope scope = {.symbols = hm__job_symbols, .symbol_count = HM_SYMBOL_COUNT};
    struct hm_formula *formula = NULL;
    int rc = check_settable(job, err);

    if (rc == 0 && text)
        rc = hm__formula_new(text, &scope, dim, &formula, err);
    if (rc == 0 && formula && hm__arena_own(job->memory, formula, release_formula)) {
        hm_formula_free(formula);
        rc = hm__fail_nomem(err);
    }
    if (rc)
        hm__err_field(err, field);
    else
        *ret_formula = formula;
    return rc;
}

int hm_job_set_compute(struct hm_job *job, const char *formula, struct hm_err *err)
{
    return compile_field(job, formula, "compute", HM_DIM_TIME, job ? &job->compute : NULL, err);
}

int hm_job_set_memory(struct hm_job *job, const char *formula, struct hm_err *err)
{
    return compile_field(job, formula, "memory", HM_DIM_BYTES, job ? &job->memory_needed : NULL,
                         err);
}

/*
 * Appends a communication step to the job and returns it; steps that were only assumed are removed
 * first.
 */
static struct hm_transfer *add_step(struct hm_job *job)
{
    size_t kept = job->communicate_assumed ? 0 : job->communicate_count;
    struct hm_transfer *steps = hm__arena_alloc(job->memory, kept + 1, sizeof(*steps));

    if (!steps)
        return NULL;
    if (kept > 0)
        memcpy(steps, job->communicate, kept * sizeof(*steps));
    steps[kept] = (struct hm_transfer){.servers = 1, .times = 1};
    job->communicate = steps;
    job->communicate_count = kept + 1;
    job->communicate_assumed = false;
    return &steps[kept];
}

int hm_job_set_communicate(struct hm_job *job, const char *formula, struct hm_err *err)
{
    struct hm_formula *time = NULL;
    int rc = compile_field(job, formula, "communicate", HM_DIM_TIME, &time, err);

    if (rc)
        return rc;
    job->communicate_count = 0;
    job->communicate_assumed = false;
    if (!time)
        return 0;
    struct hm_transfer *step = add_step(job);
    if (!step)
        return hm__fail_nomem(err);
    step->time = time;
    return 0;
}

int hm_job_add_transfer(struct hm_job *job, enum hm_payload what, enum hm_scheme scheme,
                        struct hm_err *err)
{
    int rc = check_settable(job, err);

    if (rc == 0)
        rc = hm__check_enum("what", (int)what, HM_PAYLOAD_BYTES + 1, err);
    if (rc == 0)
        rc = hm__check_enum("scheme", (int)scheme, HM_SCHEME_BEST + 1, err);
    if (rc)
        return rc;
    struct hm_transfer *step = add_step(job);
    if (!step)
        return hm__fail_nomem(err);
    step->what = what;
    step->scheme = scheme;
    return 0;
}

int hm__job_assume_allreduce(struct hm_job *job, struct hm_err *err)
{
    if (job->communicate_count > 0)
        return 0;
    int rc = hm_job_add_transfer(job, HM_PAYLOAD_GRADIENTS, HM_SCHEME_BEST, err);
    job->communicate_assumed = rc == 0;
    return rc;
}

int hm_job_set_totals(struct hm_job *job, double parameters, double forward_flop,
                      struct hm_err *err)
{
    int rc = check_settable(job, err);

    if (rc == 0)
        rc = hm__check_above("parameters", parameters, 0, 1e18, err);
    if (rc == 0)
        rc = hm__check_above("forward_flop", forward_flop, 0, 1e30, err);
    if (rc)
        return rc;
    struct hm_network *network = hm__arena_alloc(job->memory, 1, sizeof(*network));
    if (!network)
        return hm__fail_nomem(err);
    *network = (struct hm_network){.parameters = parameters,
                                   .forward_flop = forward_flop,
                                   .published_parameters = NAN,
                                   .published_forward_flop = NAN};
    job->network = network;
    return hm__job_assume_allreduce(job, err);
}

int hm_job_set_cluster(struct hm_job *job, const struct hm_cluster *cluster, struct hm_err *err)
{
    int rc = check_settable(job, err);

    if (rc == 0)
        rc = hm_cluster_check(cluster, err);
    if (rc)
        return rc;
    rc = hm__cluster_copy(job->memory, cluster, &job->cluster, err);
    if (rc)
        return rc;
    job->has_cluster = true;
    return 0;
}

/* ---- the check ------------------------------------------------------------------------------- */

static int check_job_numbers(const struct hm_job *j, struct hm_err *err)
{
    const struct {
        const char *name;
        double value, min, max;
        bool whole, optional;
    } numbers[] = {
        {"batch", j->batch, 1, JOB_MOST, true, true},
        {"reference", j->reference, 1, 1e6, true, false},
        {"iterations", j->iterations, 1, JOB_MOST, true, true},
        {"epochs", j->epochs, 0, 1e9, false, true},
        {"critical_batch", j->critical_batch, 1, JOB_MOST, false, true},
        {"dataset", j->dataset, 1, JOB_MOST, true, true},
        {"bucket_bytes", j->bucket_bytes, 1, JOB_MOST, false, true},
    };
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (numbers[i].optional && !hm__is_given(numbers[i].value))
            continue;
        rc = (numbers[i].whole ? hm__check_whole : hm__check_range)(
            numbers[i].name, numbers[i].value, numbers[i].min, numbers[i].max, err);
    }
    if (rc == 0 && j->precision != 16 && j->precision != 32 && j->precision != 64) {
        rc = hm__fail(err, HM_E_RANGE, "%g is not a precision", j->precision);
        hm__err_hint(err, "it must be 16, 32 or 64");
        hm__err_field(err, "precision");
    }
    if (rc == 0 && j->overlap == HM_OVERLAP_NORM)
        rc = hm__check_range("overlap_p", j->overlap_p, 1, 1e6, err);
    return rc;
}

static int check_enums(const struct hm_job *j, struct hm_err *err)
{
    int rc = hm__check_enum("scaling", (int)j->scaling, HM_SCALING_WEAK + 1, err);

    if (rc == 0)
        rc = isnan(j->micro_batch) ? 0
                                   : hm__check_whole("micro_batch", j->micro_batch, 0, 1e15, err);
    if (rc == 0)
        rc = hm__check_enum("optimizer", (int)j->optimizer, HM_OPTIMIZER_ADAM + 1, err);
    if (rc == 0)
        rc = hm__check_enum("overlap", (int)j->overlap, HM_OVERLAP_AUTO + 1, err);
    if (rc == 0)
        rc = hm__check_enum("math", (int)j->math, HM_MATH_COUNT, err);
    if (rc == 0)
        rc = hm__check_enum("software", (int)j->software, HM_SOFTWARE_COUNT, err);
    if (rc == 0)
        rc = hm__check_enum("framework", (int)j->framework, HM_FRAMEWORK_COUNT, err);
    if (rc == 0)
        rc = hm__check_enum("input", (int)j->input, HM_INPUT_COUNT, err);
    return rc ? rc : hm__check_enum("split", (int)j->split, HM_SPLIT_COUNT, err);
}

/* Rejects formulas from hm_formula_new, because their variables are not the quantities of a job. */
static int check_formula(const struct hm_formula *f, const char *field, struct hm_err *err)
{
    if (!f || hm__formula_is_over(f, hm__job_symbols, HM_SYMBOL_COUNT))
        return 0;
    hm__fail(err, HM_E_FORMULA, "the formula was not compiled for a job");
    hm__err_hint(err, "use hm_job_set_compute and the like, not hm_formula_new");
    hm__err_field(err, field);
    return HM_E_FORMULA;
}

/*
 * The size of such a message follows from the network or the graph, so a job with this
 * communication step must have a network or a graph.
 */
static int check_payload(const struct hm_job *j, const struct hm_transfer *t, const char *field,
                         struct hm_err *err)
{
    bool vertices = t->what == HM_PAYLOAD_VERTICES;

    if (t->what == HM_PAYLOAD_BYTES ? t->bytes != NULL
                                    : (vertices ? j->graph != NULL : j->network != NULL))
        return 0;
    hm__fail(err, HM_E_MISSING,
             t->what == HM_PAYLOAD_BYTES ? "the step has neither bytes nor time"
             : vertices                  ? "the step sends vertices, and the job has no graph"
                        : "the step sends parameters or gradients, and the job has no network");
    hm__err_field(err, field);
    return HM_E_MISSING;
}

static int check_steps(const struct hm_job *j, struct hm_err *err)
{
    char field[JOB_FIELD_TEXT];
    int rc = hm__check_array(j->communicate, j->communicate_count, "communicate", err);

    for (size_t i = 0; rc == 0 && i < j->communicate_count; i++) {
        const struct hm_transfer *t = &j->communicate[i];
        snprintf(field, sizeof(field), "communicate[%zu].times", i);
        rc = hm__check_above(field, t->times, 0, 1e9, err);
        snprintf(field, sizeof(field), "communicate[%zu]", i);
        if (rc == 0)
            rc = check_formula(t->time, field, err);
        if (rc == 0)
            rc = check_formula(t->bytes, field, err);
        if (rc || t->time)
            continue;
        rc = hm__check_enum(field, (int)t->what, HM_PAYLOAD_BYTES + 1, err);
        if (rc == 0)
            rc = hm__check_enum(field, (int)t->scheme, HM_SCHEME_BEST + 1, err);
        if (rc == 0)
            rc = check_payload(j, t, field, err);
        snprintf(field, sizeof(field), "communicate[%zu].servers", i);
        if (rc == 0 && t->scheme == HM_SCHEME_PARAMETER_SERVER)
            rc = hm__check_whole(field, t->servers, 1, 1e6, err);
    }
    return rc;
}

static int check_graph(const struct hm_job *j, struct hm_err *err)
{
    int rc = hm__graph_check(j->graph, err);

    if (rc == 0)
        rc = hm__check_whole("states", j->states, 2, JOB_MOST, err);
    if (rc == 0)
        rc = hm__check_whole("trials", j->trials, 1, JOB_MOST, err);
    if (rc == 0)
        rc = hm__check_whole("seed", j->seed, 0, JOB_MOST, err);
    return rc;
}

static int fail_parts(int code, const char *field, const char *message, const char *hint,
                      struct hm_err *err)
{
    hm__fail(err, code, "%s", message);
    hm__err_hint(err, "%s", hint);
    hm__err_field(err, field);
    return code;
}

/* Checks combinations of fields that require or exclude each other. */
static int check_parts(const struct hm_job *j, struct hm_err *err)
{
    const bool counted = j->network && !j->compute;

    if (j->large)
        return fail_parts(HM_E_CONFLICT, "network", "a transformer is planned by layouts",
                          "only plan accepts it", err);
    if (!j->compute && !j->network && !j->graph)
        return fail_parts(HM_E_MISSING, "compute", "the job has no compute, network or graph",
                          "set one of them, so that an iteration has something to compute", err);
    if (j->graph && (j->network || j->compute))
        return fail_parts(HM_E_CONFLICT, "graph", "the job has a graph and a network or compute",
                          "keep one of them", err);
    if (j->graph && hm__is_given(j->batch))
        return fail_parts(HM_E_CONFLICT, "batch", "the job has a graph and a batch",
                          "an iteration visits every edge: leave batch out", err);
    if (counted && !hm__is_given(j->batch))
        return fail_parts(HM_E_MISSING, "batch", "the job has a network and no batch",
                          "set batch to the samples of one iteration, such as 256", err);
    if (counted && j->network->layer_count == 0 && !hm__is_given(j->network->forward_flop))
        return fail_parts(HM_E_MISSING, "network.forward_flop",
                          "the network has parameters and no forward_flop",
                          "set the flop to pass one sample forward, such as 24e6", err);
    if (hm__is_given(j->epochs) && !(hm__is_given(j->dataset) && hm__is_given(j->batch)))
        return fail_parts(HM_E_MISSING, hm__is_given(j->dataset) ? "batch" : "dataset",
                          "epochs need dataset and batch", "set both, in samples", err);
    if (hm__is_given(j->epochs) && hm__is_given(j->iterations))
        return fail_parts(HM_E_CONFLICT, "epochs", "the job has both epochs and iterations",
                          "keep one of them", err);
    if (j->overlap == HM_OVERLAP_LAYERS && (!counted || j->network->layer_count == 0))
        return fail_parts(HM_E_CONFLICT, "overlap",
                          "overlap by layers needs a network with layers and no compute formula",
                          "use HM_OVERLAP_NORM", err);
    return 0;
}

/* Checks the numbers of partitions and tasks of a job on a dataflow platform, such as Spark. */
static int check_dataflow(const struct hm_dataflow *d, struct hm_err *err)
{
    const struct {
        const char *name;
        double value, min, max;
        bool whole;
    } numbers[] = {
        {"dataflow.partitions", d->partitions, 1, 1e7, true},
        {"dataflow.slots", d->slots, 1, 1e4, true},
        {"dataflow.task_s", d->task_s, 0, 1e6, false},
        {"dataflow.skew", d->skew, 1, 1e6, false},
        {"dataflow.speculation", d->speculation, 1, 100, false},
        {"dataflow.mtbf_s", d->mtbf_s, 0, JOB_MOST, false},
        {"dataflow.restart_s", d->restart_s, 0, JOB_MOST, false},
        {"dataflow.lineage", d->lineage, 0, 1e9, false},
        {"dataflow.checkpoint_s", d->checkpoint_s, 0, JOB_MOST, false},
    };
    int rc = hm__check_enum("dataflow.recovery", (int)d->recovery, HM_RECOVERY_CHECKPOINT + 1, err);

    for (size_t i = 0; rc == 0 && i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (hm__is_given(numbers[i].value))
            rc = numbers[i].whole ? hm__check_whole(numbers[i].name, numbers[i].value,
                                                    numbers[i].min, numbers[i].max, err)
                                  : hm__check_range(numbers[i].name, numbers[i].value,
                                                    numbers[i].min, numbers[i].max, err);
    return rc;
}

int hm_job_check(const struct hm_job *j, struct hm_err *err)
{
    int rc = hm__check_pointer(j, "job", err);

    if (rc)
        return rc;
    rc = check_enums(j, err);
    if (rc == 0 && j->network)
        rc = hm__network_check(j->network, j->source, err);
    if (rc == 0 && j->graph)
        rc = check_graph(j, err);
    if (rc == 0)
        rc = check_parts(j, err);
    if (rc == 0)
        rc = check_job_numbers(j, err);
    if (rc == 0)
        rc = check_formula(j->compute, "compute", err);
    if (rc == 0)
        rc = check_formula(j->memory_needed, "memory_needed", err);
    if (rc == 0)
        rc = check_formula(j->per_edge, "per_edge", err);
    if (rc == 0)
        rc = check_steps(j, err);
    if (rc == 0 && j->dataflow)
        rc = check_dataflow(j->dataflow, err);
    if (rc == 0 && j->has_cluster)
        rc = hm__cluster_check(&j->cluster, "cluster.", err);
    if (rc == 0)
        rc = hm__check_array(j->measured, j->measured_count, "measured", err);
    if (rc == 0)
        rc = hm__check_array(j->expect, j->expect_count, "expect", err);
    for (size_t i = 0; rc == 0 && i < j->expect_count; i++)
        rc = hm__check_pointer(j->expect[i].what, "expect.what", err);
    hm__err_at(rc ? err : NULL, j->source, 0);
    return rc;
}
