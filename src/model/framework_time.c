/*
 * Models the costs of a job's framework: a constant for each iteration of a worker, the conversion
 * of samples from text, the scheduling of tasks by a driver, and the software of parameter servers.
 *
 * A server of a framework handles one message at a time, in either direction. With BSP, all workers
 * send and then all receive, so a step contains the messages of all workers in both directions.
 * With SSP and async, workers compute while others are served, and queue otherwise
 * (hm__framework_queue_time). Limit: all servers are assumed to have the same queue.
 */
#include "framework_time.h"

#include <math.h>
#include <stdio.h>

static const struct hm_framework_costs *model_costs(const struct hm_model *m)
{
    const struct hm_constants *k = m->table ? hm__step_table_device(m->table)->k : &hm__constants;

    return &k->frameworks[m->job->framework];
}

const struct hm_dataflow *hm__model_dataflow(const struct hm_model *m)
{
    enum hm_platform platform = m->variant.way.platform;

    return platform == HM_PLATFORM_JOB || platform == HM_PLATFORM_DRIVER ? m->job->dataflow : NULL;
}

double hm__model_threads(const struct hm_model *m)
{
    const struct hm_node *node = m->cluster ? &m->cluster->node : NULL;

    return !node ? 1 : node->threads > 0 ? node->threads : node->cores > 0 ? node->cores : 1;
}

void hm__model_framework_note(struct hm_model *m)
{
    const struct hm_framework_costs *c = model_costs(m);
    char text[NOTE_TEXT];

    if (m->job->framework == HM_FRAMEWORK_NONE)
        return;
    int used = snprintf(text, sizeof(text),
                        "costs of %s are assumed:", hm_framework_name(m->job->framework));
    if (c->stage > 0)
        used +=
            snprintf(text + used, sizeof(text) - (size_t)used,
                     " %.3g ms for a stage, %.3g ms for a task,", c->stage * 1e-3, c->task * 1e-3);
    if (c->step > 0)
        used += snprintf(text + used, sizeof(text) - (size_t)used, " %.3g ms for a step,",
                         c->step * 1e-3);
    if (c->request > 0)
        used += snprintf(text + used, sizeof(text) - (size_t)used,
                         " %.3g ms of a server for a message,", c->request * 1e-3);
    snprintf(text + used, sizeof(text) - (size_t)used, " linear algebra at %.3g of a tuned BLAS",
             c->algebra);
    hm__model_add_note(m, text);
}

double hm__model_framework_work(const struct hm_model *m, double samples)
{
    const struct hm_framework_costs *c = model_costs(m);
    double seconds = c->step * 1e-6;

    if (m->job->input == HM_INPUT_TEXT && m->job->network) {
        const struct hm_shape *in = &m->job->network->input;
        double values = fmax(in->height, 1) * fmax(in->width, 1) * in->channels;
        seconds += hm__framework_input_time(c, samples * values, hm__model_threads(m));
    }
    return seconds;
}

double hm__model_schedule(const struct hm_model *m, double tasks)
{
    const struct hm_dataflow *d = hm__model_dataflow(m);
    struct hm_framework_costs c = *model_costs(m);

    if (d->task_s > 0)
        c.task = d->task_s * 1e6;
    return hm__framework_driver_time(&c, 1, tasks) * (d->distributed ? 2 : 1);
}

void hm__model_framework_message(const struct hm_model *m, const struct hm_transfer *t, double n,
                                 double bytes, const struct hm_wires *wires,
                                 struct hm_wire_time *time, double *server_s)
{
    const struct hm_framework_costs *c = model_costs(m);

    if (t->scheme == HM_SCHEME_TWO_WAVE) {
        if (!hm__model_dataflow(m))
            time->latency_s += t->times * hm__framework_driver_time(c, n, hm__model_threads(m));
        time->bandwidth_s += t->times * hm__framework_message_time(c, n, bytes);
    }
    if (t->scheme != HM_SCHEME_PARAMETER_SERVER)
        return;
    struct hm_server_load load = hm__collective_server(n, bytes, wires);
    double software = hm__framework_message_time(c, n, bytes / fmax(wires->servers, 1));
    double before = fmax(load.worker_s, load.server_s);
    double after = fmax(load.worker_s, load.server_s + software);
    time->bandwidth_s += t->times * 2 * (after - before);
    *server_s = load.server_s + software;
}

void hm__model_framework_queue(const struct hm_model *m, const struct hm_ports *ports,
                               struct hm_point *points, size_t count)
{
    if (m->job->framework == HM_FRAMEWORK_NONE)
        return;
    for (size_t i = 0; i < count; i++) {
        struct hm_point *at = &points[i];
        /* Time in seconds that a server needs to handle the messages of one worker in both
         * directions. */
        double served = 2 * ports->server[i] / at->n;
        if (hm__way_stale(&m->variant.way)) {
            double apart = at->compute_s + at->latency_s + fmax(0, 2 * ports->worker[i] - served);
            at->time_s = hm__framework_queue_time(at->n, apart, served);
            at->communicate_s = at->time_s - at->compute_s;
            at->bandwidth_s = at->communicate_s - at->latency_s;
        }
        at->server_share = at->time_s > 0 ? fmin(1, at->n * served / at->time_s) : 0;
    }
}
