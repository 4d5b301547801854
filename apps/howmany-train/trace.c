/* JSON lines. What is not known, or is not of this problem, is left out. */
#include "trace.h"

#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "format.h"

/* Written at once, so that whoever reads sees whole lines as they come. */
static void put_line(struct hm_text *line)
{
    hm__text_add(line, "}\n");
    if (!line->failed)
        fwrite(line->data, 1, line->length, stdout);
    fflush(stdout);
    hm__text_release(line);
}

static void known(struct hm_text *line, const char *key, double value)
{
    if (!isnan(value))
        hm__json_field(line, key, value);
}

static void positive(struct hm_text *line, const char *key, double value)
{
    if (value > 0)
        hm__json_field(line, key, value);
}

static void flag(struct hm_text *line, const char *key, bool value)
{
    hm__text_addf(line, ",\"%s\":%s", key, value ? "true" : "false");
}

static void when_and_where(struct hm_text *line)
{
    char host[256] = "", stamp[40] = "";
    time_t now = time(NULL);
    struct tm parts;

    gethostname(host, sizeof(host) - 1);
    if (gmtime_r(&now, &parts))
        strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%SZ", &parts);
    hm__json_named(line, "host", host);
    hm__json_named(line, "time", stamp);
}

static void rows_fields(struct hm_text *line, const struct trace_head *head)
{
    const struct train_options *o = head->options;
    char scale[TRAIN_SCALE_TEXT];

    hm__json_field(line, "rows", head->rows);
    hm__json_field(line, "features", head->features);
    positive(line, "classes", head->classes);
    known(line, "positive", o->positive);
    hm__json_named(line, "scale", train_scale_text(&o->scale, scale));
    hm__json_named(line, "order", o->order == HM_ORDER_SHUFFLED ? "shuffled" : "as-is");
    flag(line, "sparse", head->sparse);
    hm__json_field(line, "lambda", o->lambda);
    if (o->data_seed >= 0)
        hm__json_field(line, "data_seed", o->data_seed);
}

static void layers_fields(struct hm_text *line, const struct hm_perceptron_spec *layers)
{
    hm__text_add(line, ",\"hidden\":[");
    for (size_t i = 0; i < layers->hidden_count; i++)
        hm__text_addf(line, "%s%zu", i ? "," : "", layers->hidden[i]);
    hm__text_add(line, "]");
    hm__json_named(line, "activation",
                   layers->activation == HM_ACTIVATION_RELU ? "relu" : "sigmoid");
}

static void settings_fields(struct hm_text *line, const struct trace_head *head)
{
    const struct hm_train_settings *settings = &head->run->settings;

    if (head->options->problem == TRAIN_PERCEPTRON)
        layers_fields(line, &head->options->layers);

    positive(line, "step", settings->step);
    positive(line, "batch", settings->batch);
    positive(line, "passes", settings->passes);
    if (head->run->algorithm->defaults.momentum > 0)
        hm__json_field(line, "momentum", settings->momentum);
    positive(line, "memory", settings->memory);
    if (settings->shrink)
        flag(line, "shrink", true);
    known(line, "best", head->options->limits.best);
}

static void platform_fields(struct hm_text *line, const struct train_options *o)
{
    const struct hm_serving *serving = &o->serving;

    hm__json_named(line, "platform", hm_platform_name(o->platform));
    if (o->shares)
        hm__json_named(line, "shares", o->shares);
    if (o->platform != HM_PLATFORM_SERVER)
        return;
    hm__json_field(line, "servers", serving->servers);
    if (o->colocated)
        flag(line, "colocated", true);
    hm__json_named(line, "consistency", hm_consistency_name(serving->consistency));
    if (serving->consistency == HM_CONSISTENCY_SSP)
        hm__json_field(line, "staleness", serving->staleness);
    if (serving->consistency == HM_CONSISTENCY_BSP)
        hm__json_field(line, "backups", serving->backups);
    if (serving->pull_late)
        hm__json_named(line, "pull", "late");
}

void trace_head(const struct trace_head *head)
{
    const struct train_options *o = head->options;
    struct hm_text line = {0};

    hm__text_add(&line, "{\"run\":\"train\"");
    hm__json_named(&line, "version", hm_version());
    hm__json_named(&line, "problem", train_problem_name(o->problem));
    hm__json_named(&line, "algorithm", o->algorithm_name);
    hm__json_named(&line, "data", o->data_name);
    if (o->problem == TRAIN_BP) {
        hm__json_field(&line, "vertices", head->vertices);
        hm__json_field(&line, "edges", head->edges);
        if (o->field_source != TRAIN_FIELD_UAI) {
            hm__json_field(&line, "states", o->states);
            hm__json_field(&line, "coupling", o->coupling);
            hm__json_field(&line, "field", o->field);
        }
        hm__json_named(&line, "product", o->max_product ? "max" : "sum");
        hm__json_field(&line, "damping", o->damping);
    } else {
        rows_fields(&line, head);
        settings_fields(&line, head);
    }
    hm__json_field(&line, "unknowns", (double)head->run->objective->unknowns);
    platform_fields(&line, o);
    hm__json_field(&line, "n", head->run->comm->size);
    hm__json_field(&line, "seed", (double)head->run->settings.seed);
    if (o->platform == HM_PLATFORM_ALLREDUCE)
        hm__json_named(&line, "scheme", hm__reduce_scheme_name(head->run->comm->scheme));
    flag(&line, "simulated", head->simulated);
    hm__json_named(&line, "mpi", head->mpi);
    if (o->problem == TRAIN_PERCEPTRON)
        hm__json_named(&line, "blas", head->blas);
    when_and_where(&line);
    positive(&line, "iteration_limit", head->limit);
    if (head->run->iteration > 0)
        hm__json_field(&line, "resumed_at", head->run->iteration);
    put_line(&line);
}

/* ---- what ranks use ------------------------------------------------------------------------- */

/* A stale worker may compute on while the servers stand still. */
static double compute_share(const struct hm_usage *usage, double seconds)
{
    return fmin(1, usage->compute_s / seconds);
}

static double cpu_share(const struct hm_usage *usage, double seconds)
{
    return usage->cpu_s / seconds;
}

static double sent_rate(const struct hm_usage *usage, double seconds)
{
    return usage->sent / seconds;
}

static double received_rate(const struct hm_usage *usage, double seconds)
{
    return usage->received / seconds;
}

static double memory_now(const struct hm_usage *usage, double seconds)
{
    (void)seconds;
    return usage->memory;
}

static void usage_list(struct hm_text *line, const char *key, const struct hm_trace_point *point,
                       double (*value)(const struct hm_usage *usage, double seconds))
{
    hm__text_addf(line, ",\"%s\":[", key);
    for (size_t i = 0; i < point->usage_count; i++) {
        hm__text_add(line, i ? "," : "");
        hm__json_number(line, value(&point->usage[i], point->usage_s));
    }
    hm__text_add(line, "]");
}

static void usage_fields(struct hm_text *line, const struct hm_trace_point *point)
{
    if (!point->usage || !(point->usage_s > 0))
        return;
    usage_list(line, "rank_compute", point, compute_share);
    if (!isnan(point->usage[0].cpu_s))
        usage_list(line, "rank_cpu", point, cpu_share);
    usage_list(line, "rank_sent", point, sent_rate);
    usage_list(line, "rank_received", point, received_rate);
    usage_list(line, "rank_memory", point, memory_now);
}

void trace_point(void *unused, const struct hm_trace_point *point)
{
    struct hm_text line = {0};

    (void)unused;
    hm__text_add(&line, "{\"iteration\":");
    hm__json_number(&line, point->iteration);
    hm__json_field(&line, "epoch", point->epoch);
    hm__json_field(&line, "seconds", point->seconds);
    hm__json_field(&line, "compute_s", point->compute_s);
    hm__json_field(&line, "communicate_s", point->communicate_s);
    hm__json_field(&line, "elapsed_s", point->elapsed_s);
    hm__json_field(&line, "objective", point->objective);
    known(&line, "suboptimality", point->suboptimality);
    known(&line, "gap", point->gap);
    known(&line, "change", point->change);
    known(&line, "accuracy", point->accuracy);
    known(&line, "test_error", point->test_error);
    hm__json_field(&line, "samples_per_s", point->samples_per_s);
    hm__json_field(&line, "bytes", point->bytes);
    hm__json_field(&line, "flop", point->flop);
    known(&line, "wait_s", point->wait_s);
    known(&line, "mean_staleness", point->staleness);
    known(&line, "dropped", point->dropped);
    usage_fields(&line, point);
    put_line(&line);
}

static void list(struct hm_text *line, const char *key, const double *values, size_t count)
{
    hm__text_addf(line, ",\"%s\":[", key);
    for (size_t i = 0; i < count; i++) {
        hm__text_add(line, i ? "," : "");
        hm__json_number(line, values[i]);
    }
    hm__text_add(line, "]");
}

static void server_fields(struct hm_text *line, const struct hm_serving *serving,
                          const struct hm_server_stats *stats)
{
    size_t bins = HM_STALENESS_BINS;

    while (bins > 1 && stats->staleness[bins - 1] == 0)
        bins--;
    list(line, "reads_by_staleness", stats->staleness, bins);
    list(line, "worker_wait_s", stats->wait_s, (size_t)serving->workers);
    list(line, "server_bytes", stats->server_bytes, (size_t)serving->servers);
    hm__json_field(line, "gradients", stats->used);
    hm__json_field(line, "dropped", stats->dropped);
    hm__json_field(line, "lead", stats->lead);
}

void trace_summary(const struct trace_end *end)
{
    const struct hm_trace_point *last = end->last;
    const struct hm_train_totals *totals = end->totals;
    struct hm_text line = {0};
    struct rusage usage;

    hm__text_add(&line, "{\"summary\":true");
    hm__json_named(&line, "stopped_by", hm__stop_name(end->stop));
    hm__json_field(&line, "iterations", last->iteration);
    hm__json_field(&line, "epochs", last->epoch);
    hm__json_field(&line, "elapsed_s", totals->elapsed_s);
    hm__json_field(&line, "compute_s", totals->compute_s);
    hm__json_field(&line, "communicate_s", totals->elapsed_s - totals->compute_s);
    hm__json_field(&line, "objective", last->objective);
    known(&line, "suboptimality", last->suboptimality);
    known(&line, "gap", last->gap);
    known(&line, "change", last->change);
    known(&line, "accuracy", last->accuracy);
    known(&line, "test_error", last->test_error);
    hm__json_field(&line, "bytes", totals->bytes);
    hm__json_field(&line, "flop", totals->flop);
    /* Of rank 0's process; simulated ranks share one, and this is each one's part. */
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        hm__json_field(&line, "memory_bytes",
                       (double)usage.ru_maxrss * 1024 / (end->simulated ? end->ranks : 1));
    if (end->stats)
        server_fields(&line, end->serving, end->stats);
    put_line(&line);
}
