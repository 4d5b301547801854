/*
 * Recognises the output of training frameworks. Each row of the table describes one form of line: a
 * word that such lines contain (a quick test before the expressions), an expression for the time or
 * rate of an iteration, and an expression for the loss. The expressions follow what the frameworks
 * print:
 *
 *   nanoGPT       iter 10: loss 3.1416, time 45.67ms, mfu 1.23%
 *   Megatron-LM   … | elapsed time per iteration (ms): 123.4 | … lm loss: 6.1E+00 | …
 *   DeepSpeed     steps: 10 loss: 1.2345 iter time (s): 0.456 samples/sec: 560.123
 *                 … train_batch_size ............. 64, and later
 *                 … global_step=10, RunningAvgSamplesPerSec=1.0, CurrSamplesPerSec=2.0, …
 *   Hugging Face  {'train_runtime': 12.3, …, 'train_steps_per_second': 2.5, 'train_loss': 0.5, …}
 *   Lightning     Epoch 0: 100%|███| 100/100 [00:05<00:00, 19.2it/s, train_loss=0.5]
 *                 Epoch 0/4 ━━━ 100/100 0:00:05 • 0:00:00 19.2it/s train_loss: 0.5
 *   Keras         100/100 - 2s - 15ms/step - loss: 0.3
 *   Spark         … DAGScheduler: Job 5 finished: treeAggregate at …, took 0.123 s
 *
 * Limits: if a progress bar is drawn repeatedly, only its last state is used. DeepSpeed's lines
 * with samples per second are used only after the line with the batch, which DeepSpeed prints among
 * its settings.
 */
#include "framework_lines.h"

#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "unit.h"

#define NUMBER "([0-9]+[.]?[0-9]*([eE][+-]?[0-9]+)?)"

/*
 * A form of output line. The first group of the regular expression `time` is the number; its unit
 * is `unit`, or the third group if `unit` is NULL. The first group of the regular expression `loss`
 * is the loss.
 */
struct framework_form {
    const char *framework, *word, *time, *unit, *loss;
};

static const struct framework_form forms[] = {
    {"nanoGPT", ", time ", "^iter [0-9]+: loss [^,]*, time " NUMBER "ms", "ms", "loss " NUMBER},
    {"Megatron-LM", "elapsed time per iteration", "elapsed time per iteration \\(ms\\): +" NUMBER,
     "ms", "lm loss: +" NUMBER},
    {"DeepSpeed", "iter time (s)", "^.*steps: [0-9]+ loss: .* iter time \\(s\\): +" NUMBER, "s",
     " loss: +" NUMBER},
    {"DeepSpeed", "CurrSamplesPerSec", "global_step=[0-9]+, .*CurrSamplesPerSec=" NUMBER,
     "samples/s", NULL},
    {"Hugging Face", "train_steps_per_second", "'train_steps_per_second': '?" NUMBER, "/s",
     "'train_loss': '?" NUMBER},
    {"Lightning", "Epoch ", "^Epoch [0-9]+: +100%.*[ ,]" NUMBER "(it/s|s/it)", NULL,
     "loss[a-z_]*=" NUMBER},
    {"Lightning", "it/s", "^Epoch [0-9]+/-?[0-9]+ .* " NUMBER "(it/s)", NULL,
     "loss[a-z_]*: " NUMBER},
    {"Keras", "/step", "^ *[0-9]+/[0-9]+ .*[ -]" NUMBER "(us|ms|s)/step", NULL, " loss: " NUMBER},
    {"Spark", "finished: treeAggregate",
     "Job [0-9]+ finished: treeAggregate[^,]*, took " NUMBER " (s|ms)", NULL, NULL},
};

enum { FORMS = sizeof(forms) / sizeof(forms[0]) };

/* The line in which DeepSpeed prints the batch of the whole job; its first group is the batch. */
static const char batch_word[] = " train_batch_size ..",
                  batch_line[] = " train_batch_size [.]+ " NUMBER " *$";

struct launch_frameworks {
    regex_t time[FORMS], loss[FORMS], batch;
    bool has_time[FORMS], has_loss[FORMS], has_batch;
    double samples; /* Batch of the whole job, from the latest line that contains it; 0 if there is
                       none. */
};

struct launch_frameworks *launch_frameworks_new(void)
{
    struct launch_frameworks *f = calloc(1, sizeof(*f));
    bool ok = f != NULL && (f->has_batch = regcomp(&f->batch, batch_line, REG_EXTENDED) == 0);

    for (size_t i = 0; ok && i < FORMS; i++) {
        ok = f->has_time[i] = regcomp(&f->time[i], forms[i].time, REG_EXTENDED) == 0;
        if (ok && forms[i].loss)
            ok = f->has_loss[i] = regcomp(&f->loss[i], forms[i].loss, REG_EXTENDED) == 0;
    }
    if (!ok) {
        launch_frameworks_free(f);
        return NULL;
    }
    return f;
}

void launch_frameworks_free(struct launch_frameworks *f)
{
    for (size_t i = 0; f && i < FORMS; i++) {
        if (f->has_time[i])
            regfree(&f->time[i]);
        if (f->has_loss[i])
            regfree(&f->loss[i]);
    }
    if (f && f->has_batch)
        regfree(&f->batch);
    free(f);
}

/*
 * Copies a group from a match of a regular expression; the result is empty if the group did not
 * match.
 */
static void copy_group(const char *line, const regmatch_t *group, char *text, size_t room)
{
    text[0] = '\0';
    if (group->rm_so >= 0)
        snprintf(text, room, "%.*s", (int)(group->rm_eo - group->rm_so), line + group->rm_so);
}

/* Reads the number in a group of a match; NaN if the group is empty or is not a number. */
static double read_group(const char *line, const regmatch_t *group)
{
    char text[64];
    double value = NAN;

    copy_group(line, group, text, sizeof(text));
    size_t used = hm__number_read(text, &value);
    return used > 0 && text[used] == '\0' ? value : NAN;
}

/* Converts a time or a rate with its unit to the time in seconds of an iteration over `samples`
 * samples. */
static double seconds_of(double value, const char *unit, double samples)
{
    if (strcmp(unit, "samples/s") == 0)
        return samples / value;
    if (strcmp(unit, "ms") == 0)
        return value / 1e3;
    if (strcmp(unit, "us") == 0)
        return value / 1e6;
    return strcmp(unit, "/s") == 0 || strcmp(unit, "it/s") == 0 ? 1 / value : value;
}

static bool form_read(const struct launch_frameworks *f, size_t i, const char *line,
                      struct launch_framework_line *ret_line)
{
    regmatch_t match[4];
    char unit[16];

    if (!strstr(line, forms[i].word) || regexec(&f->time[i], line, 4, match, 0) != 0)
        return false;
    copy_group(line, &match[3], unit, sizeof(unit));
    double seconds =
        seconds_of(read_group(line, &match[1]), forms[i].unit ? forms[i].unit : unit, f->samples);
    if (!(seconds > 0) || isinf(seconds))
        return false;
    *ret_line = (struct launch_framework_line){forms[i].framework, seconds, NAN};
    if (f->has_loss[i] && regexec(&f->loss[i], line, 2, match, 0) == 0)
        ret_line->loss = read_group(line, &match[1]);
    return true;
}

bool launch_frameworks_read(struct launch_frameworks *f, const char *line,
                            struct launch_framework_line *ret_line)
{
    const char *redrawn = strrchr(line, '\r');
    regmatch_t match[2];

    line = redrawn ? redrawn + 1 : line;
    if (strstr(line, batch_word) && regexec(&f->batch, line, 2, match, 0) == 0)
        f->samples = read_group(line, &match[1]);
    for (size_t i = 0; i < FORMS; i++)
        if (form_read(f, i, line, ret_line))
            return true;
    return false;
}
