/*
 * Reads training logs with one line for each step: torchtitan, nanotron and nanoGPT. A table
 * contains the labels of the values in each of these formats.
 *
 *     torchtitan  step: 20  loss: 3.4  memory: …  tps: 6,785  (tflops: …)  mfu: 39.73%
 *     nanotron    iteration: 5 / 15 | … | time_per_iteration_ms: 4.71K | … | lm_loss: 5.27
 *     nanoGPT     iter 100: loss 3.21, time 135.20ms, mfu 30.1%
 *
 * In torchtitan, tps is the number of tokens per second and device. To convert it to seconds, the
 * reader needs the number of tokens that a device processes in a step, which the user gives as
 * tokens=8192 in the field `set`.
 */
#include <math.h>
#include <string.h>

#include "import.h"
#include "importers.h"

struct step_format {
    const char *format, *step, *loss;
    /* Label before the time of a step in milliseconds; NULL if the format has none. */
    const char *ms;
    const char *rate; /* Label before a rate in tokens per second; NULL if the format has none. */
    /*
     * Second label that may precede the time of a step in milliseconds; NULL if the format has
     * none.
     */
    const char *other_ms;
};

/* Copies a line without terminal escape sequences (such as colours). */
static size_t strip_escapes(const struct hm_line *line, char *text, size_t room)
{
    size_t length = 0;

    for (size_t i = 0; i < line->length && length < room - 1; i++) {
        if (line->text[i] == '\033' && i + 1 < line->length && line->text[i + 1] == '[') {
            i += 2;
            while (i < line->length && (line->text[i] < '@' || line->text[i] > '~'))
                i++;
            continue;
        }
        text[length++] = line->text[i];
    }
    text[length] = '\0';
    return length;
}

/* Reads a number that may contain commas and end with K, M, B or T. */
static double read_scaled(const char *text, size_t length, const char *label)
{
    static const char suffixes[] = "KMBT";
    const char *at = hm__find(text, length, label), *end = text + length;
    char digits[40];
    size_t count = 0;
    double value;

    if (!at)
        return NAN;
    for (at += strlen(label); at < end && *at == ' ';)
        at++;
    for (; at < end && count < sizeof(digits) - 1; at++) {
        if (*at == ',' && at + 1 < end && at[1] >= '0' && at[1] <= '9')
            continue;
        if (!strchr("0123456789.eE+-", *at) || !*at)
            break;
        digits[count++] = *at;
    }
    digits[count] = '\0';
    size_t used = hm__signed_read(digits, &value);
    if (used == 0)
        return NAN;
    const char *suffix = at < end && *at ? strchr(suffixes, *at) : NULL;
    return suffix ? value * pow(1000, (double)(suffix - suffixes + 1)) : value;
}

static int read_steps(struct hm_imported *im, const struct step_format *f)
{
    double n = hm__import_n(im, NAN), tokens = hm__import_given(im, "tokens");
    double points = 0, lines = 0, rates = 0, last = NAN;
    struct hm_line line;
    char text[4096];

    hm__json_put_text(&im->facts, "format", f->format);
    hm__import_columns(&im->runs, "n,seconds");
    hm__import_columns(&im->traces, "n,iteration,loss,seconds");
    hm__json_open(&im->facts, "points", HM_JSON_LIST | HM_JSON_LINES);
    while (hm__stream_line(&im->in, &line)) {
        size_t length = strip_escapes(&line, text, sizeof(text));
        double step = read_scaled(text, length, f->step), loss = read_scaled(text, length, f->loss);
        double ms = f->ms ? read_scaled(text, length, f->ms) : NAN;
        double rate = f->rate ? read_scaled(text, length, f->rate) : NAN;
        lines++;
        if (isnan(ms) && f->other_ms)
            ms = read_scaled(text, length, f->other_ms);
        if (isnan(step) || isnan(loss) || (!line.whole && isnan(ms) && isnan(rate))) {
            if (!line.whole && !isnan(step))
                hm__import_cut(im);
            continue;
        }
        hm__import_last_line(im, &line);
        double seconds = isnan(ms) ? tokens / rate : ms / 1000;
        rates += isnan(seconds) && !isnan(rate);
        if (points++ < 1000) {
            const double point[] = {step, loss, seconds};
            hm__json_put_numbers(&im->facts, NULL, point, 3);
        }
        const struct hm_import_cell trace[] = {hm__cell(n), hm__cell(step), hm__cell(loss),
                                               hm__cell(seconds)};
        if (step >= 1)
            hm__import_row(im, &im->traces, trace);
        const struct hm_import_cell run[] = {hm__cell(n), hm__cell(seconds)};
        /* The first step is not added to the runs, because it includes the start-up. */
        if (!isnan(seconds) && !isnan(last) && step > last)
            hm__import_row(im, &im->runs, run);
        last = step;
    }
    hm__json_close(&im->facts);
    hm__json_put_number(&im->facts, "steps", points);
    hm__import_took(im, (double)im->traces.rows, "losses as traces");
    hm__import_took(im, (double)im->runs.rows, "steps as runs");
    hm__import_left(im, lines - points, "other lines");
    if (rates > 0)
        hm__import_note(im, "the log gives tokens per second of a device: for seconds, set tokens "
                            "to the tokens of a device in one step");
    return 0;
}

/* ---- torchtitan ------------------------------------------------------------------------------ */

static int torchtitan_read(struct hm_imported *im, struct hm_err *err)
{
    static const struct step_format format = {"torchtitan log", "step:", "loss:", NULL,
                                              "tps:",           NULL};

    (void)err;
    return read_steps(im, &format);
}

static int torchtitan_recognise(const struct hm_import_head *head)
{
    return hm__find(head->text, head->length, "step:") &&
                   hm__find(head->text, head->length, "loss:") &&
                   hm__find(head->text, head->length, "tps:")
               ? 85
               : 0;
}

const struct hm_importer hm__importer_torchtitan = {
    .name = "torchtitan",
    .title = "torchtitan log",
    .becomes = "traces and runs",
    .recognise = torchtitan_recognise,
    .read = torchtitan_read,
};

/* ---- nanotron -------------------------------------------------------------------------------- */

static int nanotron_read(struct hm_imported *im, struct hm_err *err)
{
    static const struct step_format format = {
        "nanotron log",           "iteration:", "lm_loss:",
        "time_per_iteration_ms:", NULL,         "elapsed_time_per_iteration_ms:"};

    (void)err;
    return read_steps(im, &format);
}

static int nanotron_recognise(const struct hm_import_head *head)
{
    return hm__find(head->text, head->length, "time_per_iteration_ms:") ? 90 : 0;
}

const struct hm_importer hm__importer_nanotron = {
    .name = "nanotron",
    .title = "nanotron log",
    .becomes = "traces and runs",
    .recognise = nanotron_recognise,
    .read = nanotron_read,
};

/* ---- nanoGPT --------------------------------------------------------------------------------- */

static int nanogpt_read(struct hm_imported *im, struct hm_err *err)
{
    static const struct step_format format = {"nanogpt log", "iter ", ": loss ",
                                              ", time ",     NULL,    NULL};

    (void)err;
    return read_steps(im, &format);
}

static int nanogpt_recognise(const struct hm_import_head *head)
{
    return hm__find(head->text, head->length, "iter ") &&
                   hm__find(head->text, head->length, ": loss ") &&
                   hm__find(head->text, head->length, "ms, mfu ")
               ? 85
               : 0;
}

const struct hm_importer hm__importer_nanogpt = {
    .name = "nanogpt",
    .title = "nanoGPT log",
    .becomes = "traces and runs",
    .recognise = nanogpt_recognise,
    .read = nanogpt_read,
};
