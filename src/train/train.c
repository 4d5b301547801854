/*
 * Implements the training loop. A segment consists of the iterations up to the next evaluation,
 * checkpoint or limit. All ranks start a segment together. The time of a segment is the time of the
 * slowest rank, and its computation time is the maximum over the ranks. The difference is the
 * communication time, which includes waiting for other ranks.
 */
#include "train.h"

#include <math.h>

#include "agree.h"
#include "checkpoint.h"
#include "err.h"
#include "loss.h"
#include "vector.h"

static const char *const stop_names[HM_STOPS] = {
    [HM_STOP_NOT] = "",
    [HM_STOP_ITERATIONS] = "iterations",
    [HM_STOP_WITHIN] = "within",
    [HM_STOP_SUBOPTIMALITY] = "suboptimality",
    [HM_STOP_GAP] = "gap",
    [HM_STOP_CHANGE] = "tolerance",
    [HM_STOP_SETTLED] = "settled",
    [HM_STOP_DIVERGED] = "diverged",
};

const char *hm__stop_name(enum hm_stop stop)
{
    return stop_names[stop];
}

static void setting_default(double *value, double otherwise)
{
    if (*value == 0)
        *value = otherwise;
}

int hm__run_begin(struct hm_run *run, struct hm_err *err)
{
    const struct hm_train_settings *defaults = &run->algorithm->defaults;
    size_t d = run->objective->unknowns;

    setting_default(&run->settings.step, defaults->step);
    setting_default(&run->settings.batch, defaults->batch);
    setting_default(&run->settings.passes, defaults->passes);
    /* The momentum 0 is valid, so a negative value selects the default. */
    if (run->settings.momentum < 0)
        run->settings.momentum = defaults->momentum;
    setting_default(&run->settings.memory, defaults->memory);
    run->w = hm__arena_alloc(run->arena, d, sizeof(double));
    run->gradient = hm__arena_alloc(run->arena, d + HM_RUN_EXTRA, sizeof(double));
    run->scratch = hm__arena_alloc(run->arena, d + HM_RUN_EXTRA, sizeof(double));
    int rc = run->w && run->gradient && run->scratch ? 0 : hm__fail_nomem(err);
    rc = hm__agree(run->comm, rc, err);
    if (rc == 0)
        rc = hm__agree(run->comm, run->algorithm->begin(run, err), err);
    if (rc == 0 && run->algorithm->prepare)
        run->algorithm->prepare(run);
    return rc;
}

/* ---- segments ------------------------------------------------------------------------------- */

static double train_next_multiple(double after, double every)
{
    return every > 0 ? every * (floor(after / every) + 1) : INFINITY;
}

/*
 * Returns the number of iterations until the next evaluation, the next checkpoint or a limit,
 * whichever comes first.
 */
static double train_segment_length(const struct hm_run *run, const struct hm_train_plan *plan,
                                   const struct hm_train_totals *totals)
{
    double until = train_next_multiple(run->iteration, plan->eval_every);

    until = fmin(until, train_next_multiple(run->iteration, plan->save_every));
    if (plan->limits.iterations > 0)
        until = fmin(until, plan->limits.iterations);
    double length = until - run->iteration;
    /*
     * To stay within the time limit, estimate the time of an iteration from the iterations so far,
     * and at most double the number of iterations.
     */
    if (plan->limits.within_s > 0) {
        double left = plan->limits.within_s - totals->elapsed_s;
        length = fmin(length, run->iteration);
        length = fmin(length, ceil(left * run->iteration / fmax(totals->elapsed_s, 1e-300)));
    }
    return fmax(1, length);
}

/* Returns whether the limit on iterations or on time has been reached. */
static bool train_limit_reached(const struct hm_run *run, const struct hm_train_limits *limits,
                                const struct hm_train_totals *totals)
{
    return (limits->iterations > 0 && run->iteration >= limits->iterations) ||
           (limits->within_s > 0 && totals->elapsed_s >= limits->within_s);
}

static int train_run_segment(struct hm_run *run, double iterations, struct hm_segment *ret_segment,
                             struct hm_err *err)
{
    struct hm_comm *comm = run->comm;
    double samples = run->samples;

    if (run->platform)
        return run->platform->run_segment(run, iterations, ret_segment, err);
    hm__comm_barrier(comm);
    double began = comm->ops->now(comm), communicate = comm->communicate_s, flop = comm->flop;
    double bytes = comm->bytes;
    double done = 0;
    hm__meter_start(&run->meter, comm);
    for (; done < iterations && !run->settled; done++) {
        hm__comm_set_iteration(comm, run->iteration);
        run->algorithm->step(run);
        run->iteration++;
    }
    double seconds = comm->ops->now(comm) - began;
    double most[2] = {seconds, seconds - (comm->communicate_s - communicate)};
    double sums[2] = {comm->bytes - bytes, comm->flop - flop};
    hm__meter_stop(&run->meter, comm, most[1]);
    hm__comm_max_few(comm, most, 2);
    hm__comm_sum_few(comm, sums, 2);
    *ret_segment =
        (struct hm_segment){done, run->samples - samples, most[0], most[1], sums[0], sums[1]};
    return 0;
}

/* ---- evaluation ----------------------------------------------------------------------------- */

/* Computes the objective, the duality gap and the accuracy for the weights w, over all ranks. */
static void train_eval(struct hm_run *run, const struct hm_train_plan *plan,
                       struct hm_trace_point *point)
{
    struct hm_objective *o = run->objective;
    double flop, sums[3] = {0, 0, 0};

    if (run->algorithm->gather)
        run->algorithm->gather(run);
    point->suboptimality = point->gap = point->change = NAN;
    point->accuracy = point->test_error = NAN;
    if (run->algorithm->eval) {
        run->algorithm->eval(run, point);
        return;
    }
    sums[0] = o->ops->eval(o, run->w, NULL, o->rows.count, NULL, &flop);
    if (run->algorithm->dual)
        sums[1] = run->algorithm->dual(run);
    if (plan->test)
        sums[2] = o->ops->right(o, run->w, plan->test);
    hm__comm_sum_few(run->comm, sums, 3);
    double regular = 0.5 * o->lambda * hm__run_norm2(run);
    point->objective = regular + sums[0] / o->total_rows;
    point->suboptimality = point->objective - plan->limits.best;
    point->gap =
        run->algorithm->dual ? point->objective - (sums[1] / o->total_rows - regular) : NAN;
    if (plan->test && o->loss && !o->loss->classes)
        point->test_error = -sums[2] / plan->test_rows;
    else if (plan->test)
        point->accuracy = sums[2] / plan->test_rows;
}

static enum hm_stop train_check_stop(const struct hm_train_limits *limits,
                                     const struct hm_trace_point *point)
{
    if (!isfinite(point->objective))
        return HM_STOP_DIVERGED;
    if (limits->suboptimality > 0 && point->suboptimality <= limits->suboptimality)
        return HM_STOP_SUBOPTIMALITY;
    if (limits->gap > 0 && point->gap <= limits->gap)
        return HM_STOP_GAP;
    if (limits->change > 0 && point->change <= limits->change)
        return HM_STOP_CHANGE;
    if (limits->iterations > 0 && point->iteration >= limits->iterations)
        return HM_STOP_ITERATIONS;
    if (limits->within_s > 0 && point->elapsed_s >= limits->within_s)
        return HM_STOP_WITHIN;
    return HM_STOP_NOT;
}

static void segment_add(struct hm_segment *sum, const struct hm_segment *one)
{
    sum->iterations += one->iterations;
    sum->samples += one->samples;
    sum->seconds += one->seconds;
    sum->compute_s += one->compute_s;
    sum->bytes += one->bytes;
    sum->flop += one->flop;
    sum->wait_s += one->wait_s;
    sum->reads += one->reads;
    sum->staleness += one->staleness;
    sum->dropped += one->dropped;
}

static struct hm_trace_point train_describe(const struct hm_run *run,
                                            const struct hm_segment *since,
                                            const struct hm_train_totals *totals)
{
    /*
     * The number of iterations since the last evaluation may be 0, because a resumed run is
     * evaluated before its first iteration; therefore, the divisor is at least 1.
     */
    double count = fmax(1, since->iterations);

    return (struct hm_trace_point){
        .iteration = run->iteration,
        .epoch = run->samples / run->objective->total_rows,
        .seconds = since->seconds / count,
        .compute_s = since->compute_s / count,
        .communicate_s = (since->seconds - since->compute_s) / count,
        .elapsed_s = totals->elapsed_s,
        .samples_per_s = since->seconds > 0 ? since->samples / since->seconds : 0,
        .bytes = since->bytes / count,
        .flop = since->flop / count,
        .wait_s = since->reads > 0 ? since->wait_s / count : NAN,
        /* If the weights w were never read, the staleness is 0 / 0, which is NAN. */
        .staleness = since->staleness / since->reads,
        .dropped = since->reads > 0 ? since->dropped : NAN,
    };
}

static void train_gather_usage(struct hm_run *run, struct hm_usages *usages, double seconds,
                               struct hm_trace_point *point)
{
    hm__usages_gather(run, usages);
    if (run->comm->rank > 0)
        return;
    point->usage = usages->since;
    point->usage_count = usages->count;
    point->usage_s = seconds;
}

int hm__train(struct hm_run *run, const struct hm_train_plan *plan, struct hm_train_totals *totals,
              struct hm_trace_point *ret_last, enum hm_stop *ret_stop, struct hm_err *err)
{
    struct hm_segment since = {0}, one;
    struct hm_trace_point point = {0};
    enum hm_stop stop = HM_STOP_NOT;
    int rc = 0;

    if (run->iteration > 0) { /* A resumed run may already meet a stopping criterion. */
        point = train_describe(run, &since, totals);
        train_eval(run, plan, &point);
        stop = train_check_stop(&plan->limits, &point);
    }
    while (rc == 0 && stop == HM_STOP_NOT) {
        rc = train_run_segment(run, train_segment_length(run, plan, totals), &one, err);
        if (rc)
            break;
        segment_add(&since, &one);
        totals->elapsed_s += one.seconds;
        totals->compute_s += one.compute_s;
        totals->bytes += one.bytes;
        totals->flop += one.flop;
        bool save = plan->save_every > 0 && fmod(run->iteration, plan->save_every) == 0;
        bool last = run->settled || train_limit_reached(run, &plan->limits, totals);
        if (last || fmod(run->iteration, plan->eval_every) == 0) {
            point = train_describe(run, &since, totals);
            train_eval(run, plan, &point);
            if (plan->usage)
                train_gather_usage(run, plan->usage, since.seconds, &point);
            stop = train_check_stop(&plan->limits, &point);
            if (stop == HM_STOP_NOT && run->settled)
                stop = HM_STOP_SETTLED;
            since = (struct hm_segment){0};
            if (run->comm->rank == 0 && plan->report)
                plan->report(plan->context, &point);
        }
        if (plan->checkpoint && (save || stop != HM_STOP_NOT))
            rc = hm__checkpoint_save(plan->checkpoint, run, plan->identity, totals, err);
    }
    if (rc == 0) {
        *ret_last = point;
        *ret_stop = stop;
    }
    return rc;
}
