/*
 * Reads printed logs of the Hugging Face trainer, with or without DeepSpeed. Lines such as {'loss':
 * 1.2, 'learning_rate': 1e-5, 'epoch': 0.1} are points of the loss curve. Each rank of a node
 * prints a summary {'train_runtime': …} at the end. DeepSpeed prints its configuration as names and
 * values, separated by dots up to column 29.
 */
#include <math.h>
#include <string.h>

#include "err.h"
#include "import.h"
#include "importers.h"

struct hf_log {
    struct hm_imported *im;
    double world, zero, micro, batch,
        accumulation; /* Settings of the run that are printed in the log; NaN if not printed. */
    double summaries, runtime, samples_per_s, steps_per_s;
    double losses, lines;
};

/* Reads a setting as DeepSpeed prints it: its name, then dots or spaces, then a number. */
static void read_setting(const struct hm_line *line, const char *name, double *value)
{
    const char *at = isnan(*value) ? hm__find(line->text, line->length, name) : NULL;

    if (!at || at == line->text || at[-1] != ' ')
        return;
    const char *p = at + strlen(name), *end = line->text + line->length;
    if (p >= end || *p != ' ')
        return;
    while (p < end && (*p == ' ' || *p == '.'))
        p++;
    *value = hm__number_after(p, (size_t)(end - p), "");
}

static void read_point(struct hf_log *l, const struct hm_line *line)
{
    double runtime = hm__number_after(line->text, line->length, "'train_runtime':");
    double loss = hm__number_after(line->text, line->length, "{'loss':");

    if (!isnan(runtime)) {
        l->summaries++;
        if (!(l->runtime >= runtime)) {
            l->runtime = runtime;
            l->samples_per_s =
                hm__number_after(line->text, line->length, "'train_samples_per_second':");
            l->steps_per_s =
                hm__number_after(line->text, line->length, "'train_steps_per_second':");
        }
    }
    if (isnan(loss))
        return;
    l->losses++;
    const struct hm_import_cell cells[] = {
        hm__cell(NAN), hm__cell(l->losses),
        hm__cell(hm__number_after(line->text, line->length, "'epoch':")), hm__cell(loss)};
    hm__import_row(l->im, &l->im->traces, cells);
}

static void put_facts(const struct hf_log *l)
{
    struct hm_json *j = &l->im->facts;

    hm__json_put_number(j, "world_size", l->world);
    hm__json_put_number(j, "zero_stage", l->zero);
    hm__json_put_number(j, "micro_batch_per_gpu", l->micro);
    hm__json_put_number(j, "train_batch", l->batch);
    hm__json_put_number(j, "gradient_accumulation", l->accumulation);
    hm__json_put_number(j, "summaries_printed", l->summaries);
    hm__json_put_number(j, "train_runtime_s_max", l->runtime);
    hm__json_put_number(j, "train_samples_per_second", l->samples_per_s);
    hm__json_put_number(j, "train_steps_per_second", l->steps_per_s);
    hm__json_put_number(j, "loss_lines", l->losses);
}

/* Adds one run: the mean time of a step in seconds over the whole training, and the batch. */
static void put_run(struct hf_log *l)
{
    double n = hm__import_n(l->im, l->world);

    for (size_t i = 0; i < l->im->traces.rows; i++)
        l->im->traces.cells[i * l->im->traces.column_count].number = n;
    if (isnan(l->steps_per_s) || l->steps_per_s <= 0)
        return;
    const struct hm_import_cell cells[] = {hm__cell(n), hm__cell(1 / l->steps_per_s),
                                           hm__cell(l->batch)};
    hm__import_row(l->im, &l->im->runs, cells);
    hm__import_took(l->im, 1, "run: the mean step of the training");
}

static int hf_log_read(struct hm_imported *im, struct hm_err *err)
{
    struct hf_log l = {.im = im};
    struct hm_line line;

    (void)err;
    l.world = l.zero = l.micro = l.batch = l.accumulation = NAN;
    l.runtime = l.samples_per_s = l.steps_per_s = NAN;
    hm__json_put_text(&im->facts, "format", "hf trainer + deepspeed log");
    hm__import_columns(&im->runs, "n,seconds,batch");
    hm__import_columns(&im->traces, "n,iteration,epoch,loss");
    while (hm__stream_line(&im->in, &line)) {
        l.lines++;
        if (!line.whole && line.length > 0 && line.text[line.length - 1] != '}')
            hm__import_cut(im);
        read_setting(&line, "world_size", &l.world);
        read_setting(&line, "zero_optimization_stage", &l.zero);
        read_setting(&line, "train_micro_batch_size_per_gpu", &l.micro);
        read_setting(&line, "train_batch_size", &l.batch);
        read_setting(&line, "gradient_accumulation_steps", &l.accumulation);
        read_point(&l, &line);
    }
    put_facts(&l);
    put_run(&l);
    if (im->traces.rows > 0)
        hm__import_note(im, "points are numbered: the log does not give their steps");
    hm__import_took(im, (double)im->traces.rows, "losses as traces");
    hm__import_left(im, l.summaries > 1 ? l.summaries - 1 : 0,
                    "summaries of other ranks, which repeat the first");
    hm__import_left(im, l.lines - l.losses - l.summaries, "other lines");
    return 0;
}

static int hf_log_recognise(const struct hm_import_head *head)
{
    if (hm__find(head->text, head->length, "{'loss':") ||
        hm__find(head->text, head->length, "{'train_runtime':"))
        return 85;
    return hm__find(head->text, head->length, "DeepSpeed") &&
                   hm__find(head->text, head->length, "[INFO]")
               ? 60
               : 0;
}

const struct hm_importer hm__importer_hf_log = {
    .name = "hf-log",
    .title = "printed log of the Hugging Face trainer",
    .becomes = "runs and traces",
    .recognise = hf_log_recognise,
    .read = hf_log_read,
};
