/*
 * Explains the results of a comparison. The limit of a run is the resource that is busy for most of
 * the time: the processor of a worker, the network port of a server or driver, or the port of a
 * worker. A port carries gradients in one direction and the model in the other. With a driver, or
 * with servers and synchronous workers, the two directions are never busy at the same time, so
 * their shares of the time are added; in an all-reduce both directions are busy at once, so only
 * the busier direction counts.
 */
#include <math.h>
#include <string.h>

#include "compare_explain.h"
#include "format.h"

static void add_way_name(struct hm_text *out, const struct compare_request *request,
                         const struct compare_way *way)
{
    hm__text_add(out, way->platform);
    if (way->consistency)
        hm__text_addf(out, " %s", way->consistency);
    if (way->consistency && strcmp(way->consistency, "ssp") == 0)
        hm__text_addf(out, " %.0f", request->staleness);
}

void compare_add_published(struct hm_text *out, const struct compare_task *task,
                           const struct compare_way *way)
{
    const char *last = NULL;

    for (const struct compare_published *p = compare_published; p->system; p++) {
        if (strcmp(p->task, task->name) != 0 || strcmp(p->way, way->name) != 0)
            continue;
        hm__text_add(out, last ? ", " : "");
        if (!last || strcmp(last, p->system) != 0)
            hm__text_addf(out, "%s ", p->system);
        hm__text_addf(out, "%.0f", p->samples_per_s);
        if (p->batch > 0 && p->batch != task->batch)
            hm__text_addf(out, " (batch %.0f)", p->batch);
        last = p->system;
    }
}

double compare_link_share(const struct compare_result *r, const struct compare_run *run,
                          const struct compare_role *role)
{
    bool alternating = run->others > 0;
    double most = alternating ? role->sent + role->received : fmax(role->sent, role->received);

    return r->bandwidth > 0 && !isnan(most) ? fmin(1, most / r->bandwidth) : NAN;
}

enum compare_limit compare_limit_of(const struct compare_result *r, const struct compare_run *run)
{
    double other = compare_link_share(r, run, &run->other);
    double worker = compare_link_share(r, run, &run->worker), compute = run->worker.compute;

    other = isnan(other) ? 0 : other;
    worker = isnan(worker) ? 0 : worker;
    if (compute >= other && compute >= worker && compute >= 0.5)
        return COMPARE_COMPUTE;
    if (other >= worker && other >= 0.5)
        return COMPARE_OTHER_LINK;
    return worker >= 0.5 ? COMPARE_WORKER_LINK : COMPARE_WAITING;
}

const char *compare_limit_name(enum compare_limit limit)
{
    static const char *const names[] = {"compute", "server link", "worker link", "waiting"};
    return names[limit];
}

static void add_reason(struct hm_text *out, const struct compare_result *r,
                       const struct compare_run *run)
{
    const char *other = strcmp(run->way->platform, "driver") == 0 ? "driver" : "server";

    switch (compare_limit_of(r, run)) {
    case COMPARE_COMPUTE:
        hm__text_addf(out, "its workers compute for %.0f %% of the time",
                      100 * run->worker.compute);
        return;
    case COMPARE_OTHER_LINK:
        hm__text_addf(out, "the link of its %s is busy for %.0f %% of the time", other,
                      100 * compare_link_share(r, run, &run->other));
        return;
    case COMPARE_WORKER_LINK:
        hm__text_addf(out, "the links of its workers are busy for %.0f %% of the time",
                      100 * compare_link_share(r, run, &run->worker));
        return;
    case COMPARE_WAITING:
        hm__text_addf(out,
                      "its workers compute for %.0f %% of the time, and wait for messages and "
                      "other ranks",
                      100 * run->worker.compute);
        return;
    }
}

const struct compare_run *compare_extreme(const struct compare_result *r,
                                          const struct compare_task *task, bool fastest)
{
    const struct compare_run *found = NULL;

    for (size_t i = 0; i < r->count; i++) {
        const struct compare_run *run = &r->runs[i];
        if (run->task != task || (found && run->n < found->n))
            continue;
        bool better = !found || run->n > found->n ||
                      (fastest ? run->samples_per_s > found->samples_per_s
                               : run->samples_per_s < found->samples_per_s);
        if (better)
            found = run;
    }
    return found;
}

const struct compare_run *compare_same_run(const struct compare_result *r,
                                           const struct compare_measured *measured)
{
    for (size_t i = 0; i < r->count; i++) {
        const struct compare_run *run = &r->runs[i];
        if (run->task == measured->task && run->way == measured->way && run->n == measured->n)
            return run;
    }
    return NULL;
}

void compare_add_sentence(struct hm_text *out, const struct compare_result *r,
                          const struct compare_task *task)
{
    const struct compare_run *best = compare_extreme(r, task, true);
    const struct compare_run *worst = compare_extreme(r, task, false);

    if (!best)
        return;
    add_way_name(out, r->request, best->way);
    hm__text_addf(out, " on %.0f worker%s, %.0f samples/s: ", best->n, best->n == 1 ? "" : "s",
                  best->samples_per_s);
    add_reason(out, r, best);
    if (worst != best) {
        hm__text_add(out, ". Slowest is ");
        add_way_name(out, r->request, worst->way);
        hm__text_addf(out, ", %.2g times that: ", worst->samples_per_s / best->samples_per_s);
        add_reason(out, r, worst);
    }
    hm__text_add(out, ".");
}
