/*
 * Models the times of dataflow platforms such as Spark (Zaharia et al. 2012; Zhang, Alqahtani and
 * Demirbas 2017).
 *
 * The data set has P partitions, and a stage has one task for each partition. The n workers have S
 * slots in total. Tasks run in ceil(P / S) waves, so computation takes ceil(P / S) S / P times as
 * long as with slots that are always busy. If the largest partition is `skew` times the mean, its
 * task may end last. The driver starts the tasks one after another. A speculative copy starts when
 * a task has taken `speculation` times the usual time, and itself takes the usual time, so a slow
 * worker delays a task by a factor of at most speculation + 1; a copy of a task with a large
 * partition takes as long, so the effect of skew remains.
 *
 * Limits: all work of an iteration is in one stage; copies occupy no slots; tasks read their
 * partitions from memory on their own worker.
 */
#include "dataflow_time.h"

#include <math.h>

#include "budget.h"
#include "slowness.h"

/* The large task is tried in each wave of tasks or, if there are more waves than this, in this many
 * evenly spaced waves. */
enum { WAVES_TRIED = 64 };

/*
 * Returns the number of equal tasks that have ended by the time t, if one slot starts the large
 * task, which takes `large`, at the time `start`. Times are in units of an equal task.
 */
static double tasks_done(double t, double slots, double start, double large)
{
    return (slots - 1) * floor(t) + fmin(start, floor(t)) +
           fmax(0, floor(t - start - large + 1e-9));
}

/* Returns the time at which all of `tasks` equal tasks have ended, if one slot also runs the large
 * task. */
static double equal_end(double tasks, double slots, double start, double large)
{
    double low = 0, high = ceil(tasks / slots) + ceil(large) + 1;

    while (high - low > 1) {
        double middle = floor((low + high) / 2);
        /* Above 2^53, there may be no whole number between two neighbouring values. */
        if (middle <= low || middle >= high)
            break;
        if (tasks_done(middle, slots, start, large) >= tasks)
            high = middle;
        else
            low = middle;
    }
    /* The last task may end between two waves, on the slot that ran the large task. */
    double between = start + large + floor(high - start - large);
    bool later = between > high - 1 && between < high && between >= start + large + 1 - 1e-9;
    return later && tasks_done(between, slots, start, large) >= tasks ? between : high;
}

double hm__dataflow_makespan(double tasks, double slots, double skew)
{
    double large = fmin(skew, tasks), waves = ceil(tasks / slots), sum = 0, weights = 0;

    if (!(large > 1) || tasks < 2)
        return waves;
    if (tasks <= slots)
        return large;
    double equal = (tasks - large) / (tasks - 1);
    if (!(equal > 0))
        return large;
    double tried = fmin(waves, WAVES_TRIED);
    for (double i = 0; i < tried; i++) {
        double wave = waves <= WAVES_TRIED ? i : floor((i + 0.5) * waves / tried);
        double weight = waves <= WAVES_TRIED ? fmin(slots, tasks - wave * slots) : 1;
        double end = equal_end(tasks - 1, slots, wave, large / equal);
        sum += weight * fmax(end, wave + large / equal) * equal;
        weights += weight;
    }
    return sum / weights;
}

struct hm_dataflow_loss hm__dataflow_loss(const struct hm_dataflow *d, double n, double compute_s)
{
    struct hm_dataflow_loss loss = {0};
    double lineage = d->lineage > 0 ? d->lineage : 1;
    double restart_s = d->restart_s > 0 ? d->restart_s : 0;

    if (!(d->mtbf_s > 0))
        return loss;
    loss.failures_per_s = n / d->mtbf_s;
    loss.lineage = loss.failures_per_s * (restart_s + lineage * compute_s / fmax(n - 1, 1));
    loss.every_s = loss.checkpoint = INFINITY;
    if (!(d->checkpoint_s > 0))
        return loss;
    loss.every_s = sqrt(2 * d->checkpoint_s / loss.failures_per_s);
    loss.checkpoint =
        d->checkpoint_s / loss.every_s + loss.failures_per_s * (restart_s + loss.every_s / 2);
    return loss;
}

double hm__dataflow_recovery(const struct hm_dataflow *d, const struct hm_dataflow_loss *loss)
{
    switch (d->recovery) {
    case HM_RECOVERY_LINEAGE:
        return loss->lineage;
    case HM_RECOVERY_CHECKPOINT:
        return loss->checkpoint;
    default:
        return fmin(loss->lineage, loss->checkpoint);
    }
}

struct hm_dataflow_parts hm__model_dataflow_parts(const struct hm_model *m, double n)
{
    const struct hm_dataflow *d = hm__model_dataflow(m);
    double slots = n * (d->slots > 0 ? d->slots : hm__model_threads(m));
    double tasks = d->partitions > 0 ? d->partitions : slots;
    double skew = d->skew > 1 ? d->skew : 1;

    return (struct hm_dataflow_parts){.tasks = tasks,
                                      .slots = slots,
                                      .waves = ceil(tasks / slots),
                                      .even =
                                          tasks / slots / hm__dataflow_makespan(tasks, slots, skew),
                                      .schedule_s = hm__model_schedule(m, tasks)};
}

void hm__model_dataflow_work(const struct hm_model *m, struct hm_point *points, size_t count)
{
    /* Once the budget is spent, the remaining times are too short; the caller returns the error. */
    for (size_t i = 0; hm__model_dataflow(m) && i < count && !hm__budget_spent("max_n"); i++)
        points[i].compute_s /= hm__model_dataflow_parts(m, points[i].n).even;
}

void hm__model_dataflow_schedule(const struct hm_model *m, struct hm_point *points, size_t count)
{
    for (size_t i = 0; hm__model_dataflow(m) && i < count && !hm__budget_spent("max_n"); i++)
        points[i].latency_s += hm__model_dataflow_parts(m, points[i].n).schedule_s;
}

void hm__model_dataflow_losses(const struct hm_model *m, struct hm_point *points, size_t count)
{
    const struct hm_dataflow *d = hm__model_dataflow(m);

    for (size_t i = 0; d && i < count; i++) {
        struct hm_point *p = &points[i];
        struct hm_dataflow_loss loss = hm__dataflow_loss(d, p->n, p->compute_s);
        double lost_s = p->time_s * hm__dataflow_recovery(d, &loss);
        p->time_s += lost_s;
        p->compute_s += lost_s;
    }
}

struct hm_slowness hm__dataflow_slowness(const struct hm_dataflow *d,
                                         const struct hm_slowness *slowness)
{
    struct hm_slowness capped = *slowness;

    if (!d || !(d->speculation > 0))
        return capped;
    capped.factor = fmin(capped.factor, d->speculation + 1);
    capped.slow_factor = fmin(capped.slow_factor, d->speculation + 1);
    return capped;
}
