/*
 * Executes the training run of one rank: loads the rows of data or the Markov random field, sets up
 * the objective, the algorithm and the checkpoint, and then runs the training loop and writes the
 * trace.
 */
#include "session.h"

#include <math.h>
#include <stdio.h>

#include "agree.h"
#include "blas.h"
#include "bp.h"
#include "checkpoint.h"
#include "driver.h"
#include "err.h"
#include "linear_problem.h"
#include "trace.h"

/* ---- objective ------------------------------------------------------------------------------ */

static int session_make_objective(struct session *s, struct hm_err *err)
{
    struct hm_objective *o = &s->objective;
    const struct hm_loss *loss = train_problem_loss(s->options->problem);

    o->total_rows = s->shape.rows;
    o->lambda = s->options->lambda;
    o->outputs = s->shape.classes;
    if (loss) {
        hm__linear_init(o, loss);
        return 0;
    }
    if (s->options->problem == TRAIN_SOFTMAX)
        return hm__softmax_init(o, err);
    struct hm_perceptron_spec spec = s->options->layers;
    spec.gemm = hm__gemm_best;
    return hm__perceptron_init(o, &spec, err);
}

/*
 * Writes the text that a checkpoint must match to be resumed. It identifies the data by content,
 * not by file name.
 */
static void session_identify_rows(struct session *s)
{
    const struct train_options *o = s->options;
    char scale[TRAIN_SCALE_TEXT];
    bool centred = o->scale.kind == HM_SCALE_STANDARDISE && !s->objective.rows.sparse;
    size_t used = (size_t)snprintf(
        s->identity, sizeof(s->identity),
        "%s, rows %.0f, features %.0f, fingerprint %.0f, scale %s%s, lambda %.17g",
        train_problem_name(o->problem), s->shape.rows, s->shape.features, s->fingerprint,
        train_scale_text(&o->scale, scale), centred ? " centred" : "", o->lambda);

    for (size_t i = 0; o->problem == TRAIN_PERCEPTRON && i < o->layers.hidden_count; i++)
        used += (size_t)snprintf(s->identity + used, sizeof(s->identity) - used, "%s%zu",
                                 i ? "-" : ", hidden ", o->layers.hidden[i]);
    if (o->problem == TRAIN_PERCEPTRON)
        snprintf(s->identity + used, sizeof(s->identity) - used, ", %s",
                 o->layers.activation == HM_ACTIVATION_RELU ? "relu" : "sigmoid");
}

static int session_make_rows(struct session *s, struct hm_err *err)
{
    int rc = session_read_rows(s, err);

    if (rc)
        return rc;
    session_identify_rows(s);
    return hm__agree(s->comm, session_make_objective(s, err), err);
}

static void session_free_mrf(void *mrf)
{
    hm__mrf_free(mrf);
}

static int session_make_field(struct session *s, struct hm_err *err)
{
    const struct train_options *o = s->options;
    struct hm_propagate_settings settings = {.max_product = o->max_product, .damping = o->damping};
    struct hm_mrf *mrf = NULL;
    bool cut;
    int rc = train_field_load(o, s->comm->rank, s->comm->size, &mrf, &cut, err);

    if (rc == 0 && hm__arena_own(s->arena, mrf, session_free_mrf)) {
        hm__mrf_free(mrf);
        rc = hm__fail_nomem(err);
    }
    if (rc == 0)
        rc = hm__bp_init(&s->objective, mrf, &settings, err);
    rc = hm__agree(s->comm, rc, err);
    if (rc)
        return rc;
    s->mrf = mrf;
    snprintf(s->identity, sizeof(s->identity),
             "bp, vertices %zu, edges %zu, fingerprint %.0f, %s-product", mrf->vertices, mrf->edges,
             hm__mrf_fingerprint(s->comm, mrf), o->max_product ? "max" : "sum");
    return 0;
}

static int session_begin_run(struct session *s, struct hm_err *err)
{
    const struct train_options *o = s->options;
    bool bp = o->problem == TRAIN_BP;

    s->run = (struct hm_run){.algorithm = bp ? &hm__algorithm_bp : o->algorithm,
                             .comm = s->comm,
                             .objective = &s->objective,
                             .settings = o->settings,
                             .arena = s->arena};
    s->comm->scheme = (enum hm_reduce_scheme)o->scheme;
    int rc = hm__run_begin(&s->run, err);
    if (rc == 0 && o->problem == TRAIN_PERCEPTRON)
        hm__perceptron_start(&s->objective, s->run.w, o->settings.seed);
    if (rc == 0 && o->resume)
        rc = o->adopt ? hm__checkpoint_adopt(o->checkpoint, &s->run, s->identity, &s->totals, err)
                      : hm__checkpoint_load(o->checkpoint, &s->run, s->identity, &s->totals, err);
    return rc;
}

/* ---- drivers and servers -------------------------------------------------------------------- */

/*
 * Sends the initial weights to the driver or the servers. After a failure (rc != 0), shuts them
 * down instead.
 */
static int session_begin_platform(struct session *s, int rc, struct hm_err *err)
{
    enum hm_platform platform = s->options->platform;

    if (rc && platform == HM_PLATFORM_SERVER)
        hm__server_worker_cancel(s->world, &s->serving);
    if (rc && platform == HM_PLATFORM_DRIVER)
        hm__driver_worker_cancel(s->world);
    if (rc || platform == HM_PLATFORM_ALLREDUCE)
        return rc;
    return platform == HM_PLATFORM_SERVER
               ? hm__server_worker_begin(&s->run, s->world, &s->serving, err)
               : hm__driver_worker_begin(&s->run, s->world, s->options->checkpoint != NULL, err);
}

static void session_end_platform(struct session *s)
{
    if (s->options->platform == HM_PLATFORM_SERVER)
        hm__server_worker_end(&s->run);
    else if (s->options->platform == HM_PLATFORM_DRIVER)
        hm__driver_worker_end(&s->run);
}

static int session_serve(struct session *s, struct hm_err *err)
{
    const struct train_options *o = s->options;

    return o->platform == HM_PLATFORM_SERVER
               ? hm__server_run(s->world, &s->serving, o->algorithm, &o->settings, err)
               : hm__driver_run(s->world, o->algorithm, &o->settings,
                                train_problem_loss(o->problem), err);
}

/* ---- stragglers and shares ------------------------------------------------------------------ */

static int session_set_shares(struct session *s, const struct hm_slowness *slowness,
                              struct hm_err *err)
{
    double *before = hm__arena_alloc(s->arena, (size_t)s->comm->size + 1, sizeof(*before));

    if (!before)
        return hm__fail_nomem(err);
    if (train_shares_read(s->options->shares, slowness, (size_t)s->comm->size, before))
        return hm__fail(err, HM_E_CONFLICT, "--shares does not match the workers");
    s->comm->shares = before;
    return 0;
}

/* Sets up the simulated stragglers, and the shares of the rows that compensate for them. */
static int session_set_stragglers(struct session *s, struct hm_err *err)
{
    struct hm_straggling *straggling = &s->straggling;
    const char *slowness = s->options->slowness;

    *straggling = (struct hm_straggling){.seed = s->options->settings.seed,
                                         .worker = s->comm->rank,
                                         .n = s->comm->size,
                                         .iteration = -1};
    if (slowness &&
        !train_slowness_read(slowness, s->arena, &straggling->slowness, &straggling->flops))
        return hm__fail(err, HM_E_SYNTAX, "--slowness: not a value that howmany train writes");
    if (slowness && s->simulated)
        s->comm->straggling = straggling;
    return s->options->shares ? session_set_shares(s, slowness ? &straggling->slowness : NULL, err)
                              : 0;
}

/* ---- workers -------------------------------------------------------------------------------- */

static struct hm_train_plan session_make_plan(struct session *s)
{
    const struct train_options *o = s->options;
    bool batches = s->run.algorithm->traits & HM_TRAIT_BATCHES;
    double epoch = batches ? hm__batches_in_epoch(&s->run) : 1;
    struct hm_train_plan plan = {
        .limits = o->limits,
        .eval_every = o->eval_every > 0 ? o->eval_every : epoch,
        .save_every = o->save_every,
        .checkpoint = o->checkpoint,
        .identity = s->identity,
        .test = o->has_test ? &s->test : NULL,
        .test_rows = s->test_rows,
        .report = trace_point,
        .context = &s->times,
    };

    if (o->epochs > 0) {
        double most = o->epochs * epoch / fmax(1, batches ? 1 : s->run.settings.passes);
        most = fmax(1, ceil(most));
        plan.limits.iterations =
            plan.limits.iterations > 0 ? fmin(plan.limits.iterations, most) : most;
    }
    return plan;
}

static void session_print_header(const struct session *s, double limit)
{
    bool rows = s->options->problem != TRAIN_BP;
    struct trace_head head = {
        .options = s->options,
        .run = &s->run,
        .rows = s->shape.rows,
        .features = s->shape.features,
        .classes = rows ? (double)s->shape.classes : 0,
        .vertices = s->mrf ? (double)s->mrf->vertices : 0,
        .edges = s->mrf ? (double)s->mrf->edges : 0,
        .sparse = s->objective.rows.sparse,
        .limit = limit,
        .simulated = s->simulated,
        .mpi = s->mpi,
        .blas = hm__blas_name(),
    };

    trace_head(&head);
}

static int session_train(struct session *s, enum hm_stop *ret_stop, struct hm_err *err)
{
    bool field = s->options->problem == TRAIN_BP;
    struct hm_trace_point last;
    int rc = hm__agree(s->comm, session_set_stragglers(s, err), err);

    if (rc == 0)
        rc = field ? session_make_field(s, err) : session_make_rows(s, err);
    rc = rc ? rc : session_begin_run(s, err);
    rc = session_begin_platform(s, rc, err);
    if (rc)
        return rc;
    struct hm_train_plan plan = session_make_plan(s);
    if (s->options->usage)
        rc = hm__agree(s->comm, hm__usages_new(&s->run, &plan.usage, err), err);
    if (rc) {
        session_end_platform(s);
        return rc;
    }
    if (s->comm->rank == 0)
        session_print_header(s, plan.limits.iterations);
    s->times.last = s->run.iteration;
    rc = hm__train(&s->run, &plan, &s->totals, &last, ret_stop, err);
    const struct hm_server_stats *stats = rc == 0 && s->options->platform == HM_PLATFORM_SERVER
                                              ? hm__server_worker_stats(&s->run)
                                              : NULL;
    session_end_platform(s);
    if (rc == 0 && s->options->beliefs && field)
        rc = session_write_beliefs(s, err);
    if (rc == 0 && s->comm->rank == 0)
        trace_summary(&(struct trace_end){.last = &last,
                                          .totals = &s->totals,
                                          .stop = *ret_stop,
                                          .ranks = s->world->size,
                                          .simulated = s->simulated,
                                          .serving = &s->serving,
                                          .stats = stats,
                                          .times = &s->times});
    return rc;
}

int session_run(struct session *s)
{
    struct hm_err err = {0};
    enum hm_stop stop = HM_STOP_NOT;
    int workers = s->world->size - train_other_ranks(s->options), rc = 0;

    if (s->world->rank == 0)
        rc = train_workers_check(s->options, workers);
    hm__comm_broadcast(s->world, 0, &rc, sizeof(rc));
    if (rc)
        return rc;
    s->serving = s->options->serving;
    s->serving.workers = workers;
    if (s->world->rank >= workers)
        return session_serve(s, &err) ? EXIT_USAGE : EXIT_ANSWERED;
    s->arena = hm__arena_new();
    s->objective.arena = s->arena;
    rc = hm__agree(s->comm, s->arena ? 0 : hm__fail_nomem(&err), &err);
    rc = rc ? session_begin_platform(s, rc, &err) : session_train(s, &stop, &err);
    hm__rows_release(&s->objective.rows);
    hm__rows_release(&s->test);
    trace_times_release(&s->times);
    hm__arena_free(s->arena);
    if (rc < 0 && s->comm->rank == 0)
        cli_report(&err);
    return rc ? EXIT_USAGE : stop == HM_STOP_DIVERGED ? EXIT_NO_ANSWER : EXIT_ANSWERED;
}
