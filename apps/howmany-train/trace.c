/*
 * Writes the trace as JSON lines. Members that are unknown or do not apply to the problem are
 * omitted.
 */
#include "trace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "json.h"
#include "memory.h"
#include "order.h"

/*
 * Writes a complete line and flushes it, so that a reader of the output sees each line immediately.
 */
static void trace_put_line(struct hm_json *line)
{
    struct hm_text *text = line->out;

    hm__json_close(line);
    hm__text_add(text, "\n");
    if (!text->failed)
        fwrite(text->data, 1, text->length, stdout);
    fflush(stdout);
    hm__text_release(text);
}

/* Writes a member of the trace unless its value is unknown (NAN). */
static void trace_put_known(struct hm_json *line, const char *key, double value)
{
    if (!isnan(value))
        hm__json_put_number(line, key, value);
}

static void trace_put_positive(struct hm_json *line, const char *key, double value)
{
    if (value > 0)
        hm__json_put_number(line, key, value);
}

static void trace_put_host(struct hm_json *line)
{
    char host[256] = "", stamp[40] = "";
    time_t now = time(NULL);
    struct tm parts;

    gethostname(host, sizeof(host) - 1);
    if (gmtime_r(&now, &parts))
        strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%SZ", &parts);
    hm__json_put_text(line, "host", host);
    hm__json_put_text(line, "time", stamp);
}

static void trace_put_rows(struct hm_json *line, const struct trace_head *head)
{
    const struct train_options *o = head->options;
    char scale[TRAIN_SCALE_TEXT];

    hm__json_put_number(line, "rows", head->rows);
    hm__json_put_number(line, "features", head->features);
    trace_put_positive(line, "classes", head->classes);
    trace_put_known(line, "positive", o->positive);
    hm__json_put_text(line, "scale", train_scale_text(&o->scale, scale));
    hm__json_put_text(line, "order", o->order == HM_ORDER_SHUFFLED ? "shuffled" : "as-is");
    trace_put_positive(line, "sample", o->sample);
    hm__json_put_bool(line, "sparse", head->sparse);
    hm__json_put_number(line, "lambda", o->lambda);
    if (o->data_seed >= 0)
        hm__json_put_number(line, "data_seed", o->data_seed);
}

static void trace_put_layers(struct hm_json *line, const struct hm_perceptron_spec *layers)
{
    hm__json_open(line, "hidden", HM_JSON_LIST);
    for (size_t i = 0; i < layers->hidden_count; i++)
        hm__json_put_number(line, NULL, (double)layers->hidden[i]);
    hm__json_close(line);
    hm__json_put_text(line, "activation",
                      layers->activation == HM_ACTIVATION_RELU ? "relu" : "sigmoid");
}

static void trace_put_settings(struct hm_json *line, const struct trace_head *head)
{
    const struct hm_train_settings *settings = &head->run->settings;

    if (head->options->problem == TRAIN_PERCEPTRON)
        trace_put_layers(line, &head->options->layers);

    trace_put_positive(line, "step", settings->step);
    trace_put_positive(line, "batch", settings->batch);
    trace_put_positive(line, "passes", settings->passes);
    if (head->run->algorithm->defaults.momentum > 0)
        hm__json_put_number(line, "momentum", settings->momentum);
    trace_put_positive(line, "memory", settings->memory);
    if (settings->shrink)
        hm__json_put_bool(line, "shrink", true);
    if (train_has_clients(head->options)) {
        hm__json_put_number(line, "clients", settings->clients);
        hm__json_put_number(line, "fraction", settings->fraction);
        trace_put_positive(line, "uneven", settings->uneven);
    }
    trace_put_known(line, "best", head->options->limits.best);
}

static void trace_put_platform(struct hm_json *line, const struct train_options *o)
{
    const struct hm_serving *serving = &o->serving;

    hm__json_put_text(line, "platform", hm_platform_name(o->platform));
    if (o->shares)
        hm__json_put_text(line, "shares", o->shares);
    if (o->platform != HM_PLATFORM_SERVER)
        return;
    hm__json_put_number(line, "servers", serving->servers);
    if (o->colocated)
        hm__json_put_bool(line, "colocated", true);
    hm__json_put_text(line, "consistency", hm_consistency_name(serving->consistency));
    if (serving->consistency == HM_CONSISTENCY_SSP)
        hm__json_put_number(line, "staleness", serving->staleness);
    if (serving->consistency == HM_CONSISTENCY_BSP)
        hm__json_put_number(line, "backups", serving->backups);
    if (serving->pull_late)
        hm__json_put_text(line, "pull", "late");
}

void trace_head(const struct trace_head *head)
{
    const struct train_options *o = head->options;
    struct hm_text text = {0};
    struct hm_json line = {.out = &text};

    hm__json_open(&line, NULL, HM_JSON_OBJECT);
    hm__json_put_text(&line, "run", "train");
    hm__json_put_text(&line, "version", hm_version());
    hm__json_put_text(&line, "problem", train_problem_name(o->problem));
    hm__json_put_text(&line, "algorithm", o->algorithm_name);
    hm__json_put_text(&line, "data", o->data_name);
    if (o->problem == TRAIN_BP) {
        hm__json_put_number(&line, "vertices", head->vertices);
        hm__json_put_number(&line, "edges", head->edges);
        if (o->field_source != TRAIN_FIELD_UAI) {
            hm__json_put_number(&line, "states", o->states);
            hm__json_put_number(&line, "coupling", o->coupling);
            hm__json_put_number(&line, "field", o->field);
        }
        hm__json_put_text(&line, "product", o->max_product ? "max" : "sum");
        hm__json_put_number(&line, "damping", o->damping);
    } else {
        trace_put_rows(&line, head);
        trace_put_settings(&line, head);
    }
    hm__json_put_number(&line, "unknowns", (double)head->run->objective->unknowns);
    trace_put_platform(&line, o);
    hm__json_put_number(&line, "n", head->run->comm->size);
    hm__json_put_number(&line, "seed", (double)head->run->settings.seed);
    if (o->platform == HM_PLATFORM_ALLREDUCE)
        hm__json_put_text(&line, "scheme", hm__reduce_scheme_name(head->run->comm->scheme));
    hm__json_put_bool(&line, "simulated", head->simulated);
    hm__json_put_text(&line, "mpi", head->mpi);
    if (o->problem == TRAIN_PERCEPTRON)
        hm__json_put_text(&line, "blas", head->blas);
    trace_put_host(&line);
    trace_put_positive(&line, "iteration_limit", head->limit);
    if (head->run->iteration > 0)
        hm__json_put_number(&line, "resumed_at", head->run->iteration);
    trace_put_line(&line);
}

/* ---- usage of ranks ------------------------------------------------------------------------- */

/*
 * Returns the computation time as a fraction of `seconds`. It is at most 1, although a worker may
 * also compute while the servers are paused, and `seconds` does not include pauses.
 */
static double usage_compute_share(const struct hm_usage *usage, double seconds)
{
    return fmin(1, usage->compute_s / seconds);
}

static double usage_cpu_share(const struct hm_usage *usage, double seconds)
{
    return usage->cpu_s / seconds;
}

static double usage_sent_rate(const struct hm_usage *usage, double seconds)
{
    return usage->sent / seconds;
}

static double usage_received_rate(const struct hm_usage *usage, double seconds)
{
    return usage->received / seconds;
}

static double usage_memory(const struct hm_usage *usage, double seconds)
{
    (void)seconds;
    return usage->memory;
}

static void trace_put_usage_list(struct hm_json *line, const char *key,
                                 const struct hm_trace_point *point,
                                 double (*value)(const struct hm_usage *usage, double seconds))
{
    hm__json_open(line, key, HM_JSON_LIST);
    for (size_t i = 0; i < point->usage_count; i++)
        hm__json_put_number(line, NULL, value(&point->usage[i], point->usage_s));
    hm__json_close(line);
}

static void trace_put_usage(struct hm_json *line, const struct hm_trace_point *point)
{
    if (!point->usage || !(point->usage_s > 0))
        return;
    trace_put_usage_list(line, "rank_compute", point, usage_compute_share);
    if (!isnan(point->usage[0].cpu_s))
        trace_put_usage_list(line, "rank_cpu", point, usage_cpu_share);
    trace_put_usage_list(line, "rank_sent", point, usage_sent_rate);
    trace_put_usage_list(line, "rank_received", point, usage_received_rate);
    trace_put_usage_list(line, "rank_memory", point, usage_memory);
}

/* ---- spread of the seconds of iterations ---------------------------------------------------- */

/* Percentiles are reported only if at least this number of iterations were timed one by one. */
enum { TIMES_LEAST = 10 };

void trace_times_release(struct trace_times *times)
{
    hm__free(times->seconds);
    *times = (struct trace_times){0};
}

/*
 * Adds the time of an iteration if the point of the trace is one iteration after the previous
 * point. A mean over several iterations hides their spread, so it is not added. After an allocation
 * has failed, nothing is added.
 */
static void trace_times_add(struct trace_times *times, const struct hm_trace_point *point)
{
    double step = point->iteration - times->last;

    times->last = point->iteration;
    if (step != 1 || !isfinite(point->seconds))
        return;
    double *more = hm__grow(times->seconds, times->count, &times->room, sizeof(*more));
    if (!more)
        return;
    times->seconds = more;
    times->seconds[times->count++] = point->seconds;
}

/* Writes the 5th and 95th percentiles (nearest rank) of the times of single iterations, in
 * seconds. */
static void trace_put_times(struct hm_json *line, struct trace_times *times)
{
    if (times->count < TIMES_LEAST)
        return;
    double last = (double)(times->count - 1);
    qsort(times->seconds, times->count, sizeof(*times->seconds), hm__compare_numbers);
    hm__json_put_number(line, "seconds_p5", times->seconds[(size_t)(0.05 * last + 0.5)]);
    hm__json_put_number(line, "seconds_p95", times->seconds[(size_t)(0.95 * last + 0.5)]);
}

/* ---- points and summary --------------------------------------------------------------------- */

void trace_point(void *times, const struct hm_trace_point *point)
{
    struct hm_text text = {0};
    struct hm_json line = {.out = &text};

    trace_times_add(times, point);
    hm__json_open(&line, NULL, HM_JSON_OBJECT);
    hm__json_put_number(&line, "iteration", point->iteration);
    hm__json_put_number(&line, "epoch", point->epoch);
    hm__json_put_number(&line, "seconds", point->seconds);
    hm__json_put_number(&line, "compute_s", point->compute_s);
    hm__json_put_number(&line, "communicate_s", point->communicate_s);
    hm__json_put_number(&line, "elapsed_s", point->elapsed_s);
    hm__json_put_number(&line, "objective", point->objective);
    trace_put_known(&line, "suboptimality", point->suboptimality);
    trace_put_known(&line, "gap", point->gap);
    trace_put_known(&line, "change", point->change);
    trace_put_known(&line, "accuracy", point->accuracy);
    trace_put_known(&line, "test_error", point->test_error);
    hm__json_put_number(&line, "samples_per_s", point->samples_per_s);
    hm__json_put_number(&line, "bytes", point->bytes);
    hm__json_put_number(&line, "flop", point->flop);
    trace_put_known(&line, "wait_s", point->wait_s);
    trace_put_known(&line, "mean_staleness", point->staleness);
    trace_put_known(&line, "dropped", point->dropped);
    trace_put_usage(&line, point);
    trace_put_line(&line);
}

static void trace_put_servers(struct hm_json *line, const struct hm_serving *serving,
                              const struct hm_server_stats *stats)
{
    size_t bins = HM_STALENESS_BINS;

    while (bins > 1 && stats->staleness[bins - 1] == 0)
        bins--;
    hm__json_put_numbers(line, "reads_by_staleness", stats->staleness, bins);
    hm__json_put_numbers(line, "worker_wait_s", stats->wait_s, (size_t)serving->workers);
    hm__json_put_numbers(line, "server_bytes", stats->server_bytes, (size_t)serving->servers);
    hm__json_put_number(line, "gradients", stats->used);
    hm__json_put_number(line, "dropped", stats->dropped);
    hm__json_put_number(line, "lead", stats->lead);
}

void trace_summary(const struct trace_end *end)
{
    const struct hm_trace_point *last = end->last;
    const struct hm_train_totals *totals = end->totals;
    struct hm_text text = {0};
    struct hm_json line = {.out = &text};
    struct rusage usage;

    hm__json_open(&line, NULL, HM_JSON_OBJECT);
    hm__json_put_bool(&line, "summary", true);
    hm__json_put_text(&line, "stopped_by", hm__stop_name(end->stop));
    hm__json_put_number(&line, "iterations", last->iteration);
    hm__json_put_number(&line, "epochs", last->epoch);
    hm__json_put_number(&line, "elapsed_s", totals->elapsed_s);
    trace_put_times(&line, end->times);
    hm__json_put_number(&line, "compute_s", totals->compute_s);
    hm__json_put_number(&line, "communicate_s", totals->elapsed_s - totals->compute_s);
    hm__json_put_number(&line, "objective", last->objective);
    trace_put_known(&line, "suboptimality", last->suboptimality);
    trace_put_known(&line, "gap", last->gap);
    trace_put_known(&line, "change", last->change);
    trace_put_known(&line, "accuracy", last->accuracy);
    trace_put_known(&line, "test_error", last->test_error);
    hm__json_put_number(&line, "bytes", totals->bytes);
    hm__json_put_number(&line, "flop", totals->flop);
    /*
     * The peak memory is measured for the process of rank 0. Simulated ranks share one process, so
     * the peak is divided by the number of ranks.
     */
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        hm__json_put_number(&line, "memory_bytes",
                            (double)usage.ru_maxrss * 1024 / (end->simulated ? end->ranks : 1));
    if (end->stats)
        trace_put_servers(&line, end->serving, end->stats);
    trace_put_line(&line);
}
