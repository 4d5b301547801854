/*
 * Reads logs of Megatron-LM and Megatron-DeepSpeed:
 *
 *     iteration  I/ N | consumed samples: S | elapsed time per iteration (ms): T | … | lm loss: L |
 *
 * The number of ranks and the arguments may come before these lines. One file may contain several
 * training runs; each run restarts the iteration counter. The first iteration of a training run
 * includes its start-up, so it is not added to the runs. An iteration that was skipped because of
 * loss scaling has no loss.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "import.h"
#include "importers.h"

enum { SHOWN = 1000, SAMPLES_SHOWN = 1000 };

/* The values in the log line of one iteration; a value is NaN if the line does not contain it. */
struct iteration {
    double number, of, ms, loss, batch, samples, tflops, skipped;
};

/*
 * Arguments of the training script that the log prints, in the order of the array that holds their
 * values.
 */
enum argument {
    LAYERS,
    HIDDEN,
    SEQUENCE,
    MICRO_BATCH,
    HEADS,
    GLOBAL_BATCH,
    SHOWN_ARGUMENTS,
    FFN = SHOWN_ARGUMENTS,
    VOCABULARY,
    ARGUMENTS
};
static const char *const argument_names[ARGUMENTS] = {
    "num_layers",          "hidden_size",       "seq_length",      "micro_batch_size",
    "num_attention_heads", "global_batch_size", "ffn_hidden_size", "padded_vocab_size"};

struct megatron {
    struct hm_imported *im;
    /* Number of ranks and degrees of data, tensor and pipeline parallelism; NaN if not given. */
    double world, data, tensor, pipeline;
    double arguments[ARGUMENTS];
    struct iteration shown[SHOWN];
    double speeds[SAMPLES_SHOWN]; /* Rates in samples per second that DeepSpeed prints. */
    size_t speed_count;
    double *ms; /* Time of each iteration except the first, in milliseconds; owned. */
    size_t ms_count, ms_room;
    size_t count, runs, lines;
    double last; /* Number of the last iteration that was read; NaN if there is none. */
    double without_loss;
};

/* ---- lines ----------------------------------------------------------------------------------- */

/* Reads the counter "iteration  I/ N |"; returns false if the line has none. */
static bool read_counter(const struct hm_line *line, struct iteration *it)
{
    const char *at = hm__find(line->text, line->length, "iteration ");
    const char *end = line->text + line->length;

    while (at) {
        const char *p = at + 10;
        char digits[2][24] = {"", ""};
        for (int part = 0; part < 2; part++) {
            size_t count = 0;
            while (p < end && *p == ' ')
                p++;
            while (p < end && count < 23 && *p >= '0' && *p <= '9')
                digits[part][count++] = *p++;
            digits[part][count] = '\0';
            if (part == 0 && p < end && *p == '/')
                p++;
        }
        if (digits[0][0] && digits[1][0])
            return hm__number_read(digits[0], &it->number) && hm__number_read(digits[1], &it->of);
        at = hm__find(at + 1, (size_t)(end - at - 1), "iteration ");
    }
    return false;
}

static double number_of_either(const struct hm_line *line, const char *first, const char *second)
{
    double value = hm__number_after(line->text, line->length, first);

    return isnan(value) ? hm__number_after(line->text, line->length, second) : value;
}

static void keep_ms(struct megatron *m, double ms)
{
    if (m->ms_count == HM_IMPORT_ROWS)
        return;
    double *more = hm__grow(m->ms, m->ms_count, &m->ms_room, sizeof(*more));
    if (!more) {
        m->im->failed = true;
        return;
    }
    m->ms = more;
    m->ms[m->ms_count++] = ms;
}

static void add_iteration(struct megatron *m, const struct iteration *it)
{
    double n = hm__import_given(m->im, "n");
    bool first = isnan(m->last) || it->number <= m->last;

    n = isnan(n) ? m->world : n;
    m->runs += first;
    m->last = it->number;
    if (m->count < SHOWN)
        m->shown[m->count] = *it;
    if (m->count++ > 0 && !isnan(it->ms))
        keep_ms(m, it->ms);
    m->without_loss += isnan(it->loss);
    double seconds = it->ms / 1000;
    if (!first && !isnan(it->ms)) {
        const struct hm_import_cell cells[] = {hm__cell(n), hm__cell(seconds), hm__cell(it->batch)};
        hm__import_row(m->im, &m->im->runs, cells);
    }
    if (!isnan(it->loss)) {
        const struct hm_import_cell cells[] = {hm__cell(n), hm__cell(it->number),
                                               hm__cell(it->loss), hm__cell(seconds)};
        hm__import_row(m->im, &m->im->traces, cells);
    }
}

static void read_iteration(struct megatron *m, const struct hm_line *line, struct iteration *it)
{
    it->ms = hm__number_after(line->text, line->length, "elapsed time per iteration (ms):");
    it->loss = number_of_either(line, "lm loss:", "lm-loss:");
    it->batch = hm__number_after(line->text, line->length, "global batch size:");
    it->samples = hm__number_after(line->text, line->length, "consumed samples:");
    it->tflops = number_of_either(line, "throughput per GPU (TFLOP/s/GPU):", "TFLOPs:");
    it->skipped = hm__number_after(line->text, line->length, "number of skipped iterations:");
    add_iteration(m, it);
}

/* Reads an argument such as "  num_layers ......... 64"; there must be a space before the name. */
static void read_arguments(struct megatron *m, const struct hm_line *line)
{
    if (!hm__find(line->text, line->length, " ..."))
        return;
    for (int k = 0; k < ARGUMENTS; k++) {
        const char *at = hm__find(line->text, line->length, argument_names[k]);
        size_t size = strlen(argument_names[k]);
        if (!at || !isnan(m->arguments[k]) || (at > line->text && at[-1] != ' '))
            continue;
        const char *p = at + size, *end = line->text + line->length;
        if (p >= end || *p != ' ')
            continue;
        while (p < end && (*p == ' ' || *p == '.'))
            p++;
        m->arguments[k] = hm__number_after(p, (size_t)(end - p), "");
    }
}

static void read_world(struct megatron *m, const struct hm_line *line)
{
    if (!hm__find(line->text, line->length, "using world size:"))
        return;
    m->world = hm__number_after(line->text, line->length, "using world size:");
    m->data = hm__number_after(line->text, line->length, "data-parallel-size:");
    m->tensor = hm__number_after(line->text, line->length, "tensor-model-parallel size:");
    m->pipeline = hm__number_after(line->text, line->length, "pipeline-model-parallel size:");
}

/* ---- results --------------------------------------------------------------------------------- */

static double median_of(double *values, size_t count)
{
    if (count == 0)
        return NAN;
    qsort(values, count, sizeof(*values), hm__compare_numbers);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static void put_iterations(const struct megatron *m)
{
    struct hm_json *j = &m->im->facts;

    hm__json_open(j, "iterations", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < m->count && i < SHOWN; i++) {
        const struct iteration *it = &m->shown[i];
        hm__json_open(j, NULL, HM_JSON_OBJECT);
        hm__json_put_number(j, "iteration", it->number);
        hm__json_put_number(j, "of", it->of);
        hm__json_put_number(j, "ms", it->ms);
        hm__json_put_number(j, "loss", it->loss);
        hm__json_put_number(j, "global_batch", it->batch);
        hm__json_put_number(j, "consumed_samples", it->samples);
        hm__json_put_number(j, "tflops_per_gpu", it->tflops);
        hm__json_put_number(j, "skipped", it->skipped);
        hm__json_close(j);
    }
    hm__json_close(j);
}

static void put_facts(struct megatron *m)
{
    struct hm_json *j = &m->im->facts;

    hm__json_put_number(j, "runs_in_file", (double)m->runs);
    put_iterations(m);
    if (isnan(m->world)) {
        hm__json_put_null(j, "parallel");
    } else {
        hm__json_open(j, "parallel", HM_JSON_OBJECT);
        hm__json_put_number(j, "world", m->world);
        hm__json_put_number(j, "data", m->data);
        hm__json_put_number(j, "tensor", m->tensor);
        hm__json_put_number(j, "pipeline", m->pipeline);
        hm__json_close(j);
    }
    hm__json_open(j, "arguments", HM_JSON_OBJECT);
    for (int k = 0; k < SHOWN_ARGUMENTS; k++)
        if (!isnan(m->arguments[k]))
            hm__json_put_number(j, argument_names[k], m->arguments[k]);
    hm__json_close(j);
    hm__json_put_numbers(j, "deepspeed_samples_per_s", m->speeds, m->speed_count);
    hm__json_put_number(j, "median_ms_after_first", median_of(m->ms, m->ms_count));
}

/* Writes the network that the printed arguments describe, if they include all of its sizes. */
static void put_network(struct megatron *m)
{
    const double *a = m->arguments;
    struct hm_text *out = &m->im->document;

    if (isnan(a[LAYERS]) || isnan(a[HIDDEN]) || isnan(a[HEADS]) || isnan(a[VOCABULARY]))
        return;
    m->im->document_kind = "network";
    hm__text_addf(out,
                  "network:\n  kind: transformer\n  layers: %.0f\n  hidden: %.0f\n  ffn: %.0f\n"
                  "  heads: %.0f\n  vocabulary: %.0f\n",
                  a[LAYERS], a[HIDDEN], isnan(a[FFN]) ? 4 * a[HIDDEN] : a[FFN], a[HEADS],
                  a[VOCABULARY]);
}

static int megatron_lines(struct megatron *m)
{
    struct hm_line line;

    while (hm__stream_line(&m->im->in, &line)) {
        struct iteration it;
        m->lines++;
        /*
         * A last line without a line break may have been truncated, so the import is marked as
         * partial.
         */
        if (!line.whole && !hm__find(line.text, line.length, "iterations:"))
            hm__import_cut(m->im);
        if (hm__find(line.text, line.length, "elapsed time per iteration") &&
            read_counter(&line, &it)) {
            read_iteration(m, &line, &it);
            continue;
        }
        read_world(m, &line);
        read_arguments(m, &line);
        double speed = hm__number_after(line.text, line.length, "CurrSamplesPerSec=");
        if (!isnan(speed) && m->speed_count < SAMPLES_SHOWN)
            m->speeds[m->speed_count++] = speed;
    }
    return 0;
}

static int megatron_read(struct hm_imported *im, struct hm_err *err)
{
    struct megatron *m = hm__calloc(1, sizeof(*m));

    if (!m)
        return hm__fail_nomem(err);
    m->im = im;
    m->world = m->data = m->tensor = m->pipeline = m->last = NAN;
    for (int k = 0; k < ARGUMENTS; k++)
        m->arguments[k] = NAN;
    hm__json_put_text(&im->facts, "format", "megatron log");
    hm__import_columns(&im->runs, "n,seconds,batch");
    hm__import_columns(&im->traces, "n,iteration,loss,seconds");
    megatron_lines(m);
    hm__import_n(im, m->world);
    put_facts(m);
    put_network(m);
    hm__import_took(im, (double)im->runs.rows, "iterations as runs");
    hm__import_took(im, (double)im->traces.rows, "losses as traces");
    hm__import_left(im, (double)m->runs, "first iterations, which include setting up");
    hm__import_left(im, m->without_loss, "iterations without a loss, which have no point");
    hm__import_left(im, (double)(m->lines - m->count), "other lines");
    hm__free(m->ms);
    hm__free(m);
    return 0;
}

static int megatron_recognise(const struct hm_import_head *head)
{
    if (hm__find(head->text, head->length, "elapsed time per iteration (ms):"))
        return 90;
    return hm__find(head->text, head->length, "-model-parallel size:") ||
                   hm__find(head->text, head->length, "------ arguments ------")
               ? 65
               : 0;
}

const struct hm_importer hm__importer_megatron = {
    .name = "megatron",
    .title = "Megatron-LM log",
    .becomes = "runs, traces and a network",
    .recognise = megatron_recognise,
    .read = megatron_read,
};
