/*
 * Reads trainer_state.json of the Hugging Face trainer: the training and evaluation losses of each
 * logged step. The only time in the file is the duration of the whole training, which is written at
 * the end; if the run was resumed, it covers only the part after the last resume. The file does not
 * contain the number of workers.
 */
#include <math.h>
#include <string.h>

#include "err.h"
#include "import.h"
#include "importers.h"
#include "pull.h"

struct state {
    struct hm_imported *im;
    double n;
    /* Values that are read from the file; NaN if not given. */
    double global_step, max_steps, epoch, epochs, batch, logging, flop;
    double runtime, samples_per_s, steps_per_s;
    /* JSON lists with the points of the training loss and of the evaluations. */
    struct hm_text train, evals;
    struct hm_json train_json, evals_json;
    double entries, points, eval_count, no_loss, first[2], last[2], least;
};

/* The values in one entry of log_history; a value is NaN if the entry does not contain it. */
struct history_entry {
    double step, loss, eval_loss, eval_runtime, runtime, samples_per_s, steps_per_s;
    bool has_loss;
};

static void add_entry(struct state *s, const struct history_entry *e)
{
    s->entries++;
    if (!isnan(e->runtime)) {
        s->runtime = e->runtime;
        s->samples_per_s = e->samples_per_s;
        s->steps_per_s = e->steps_per_s;
    }
    if (e->has_loss) {
        const double point[2] = {e->step, e->loss};
        hm__json_put_numbers(&s->train_json, NULL, point, 2);
        if (s->points++ == 0)
            memcpy(s->first, point, sizeof(point));
        memcpy(s->last, point, sizeof(point));
        if (!isnan(e->loss) && !(s->least <= e->loss))
            s->least = e->loss;
        const struct hm_import_cell cells[] = {hm__cell(s->n), hm__cell(e->step),
                                               hm__cell(e->loss)};
        if (isfinite(e->loss) && e->step >= 1)
            hm__import_row(s->im, &s->im->traces, cells);
        else
            s->no_loss++;
    }
    if (!isnan(e->eval_loss)) {
        const double point[3] = {e->step, e->eval_loss, e->eval_runtime};
        hm__json_put_numbers(&s->evals_json, NULL, point, 3);
        s->eval_count++;
    }
}

static void read_history(struct state *s, struct hm_pull *p)
{
    if (!hm__pull_enter(p, HM_PULL_LIST))
        return;
    while (hm__pull_next(p) == HM_PULL_OBJECT) {
        struct history_entry e = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, false};
        while (hm__pull_key(p)) {
            double *to = hm__pull_is(p, "step")                       ? &e.step
                         : hm__pull_is(p, "loss")                     ? &e.loss
                         : hm__pull_is(p, "eval_loss")                ? &e.eval_loss
                         : hm__pull_is(p, "eval_runtime")             ? &e.eval_runtime
                         : hm__pull_is(p, "train_runtime")            ? &e.runtime
                         : hm__pull_is(p, "train_samples_per_second") ? &e.samples_per_s
                         : hm__pull_is(p, "train_steps_per_second")   ? &e.steps_per_s
                                                                      : NULL;
            e.has_loss |= to == &e.loss;
            if (to)
                *to = hm__pull_number(p);
            else
                hm__pull_skip(p);
        }
        if (p->failed)
            return; /* The file ended inside the entry, so the entry is not used. */
        add_entry(s, &e);
    }
}

static void read_members(struct state *s, struct hm_pull *p)
{
    if (!hm__pull_enter(p, HM_PULL_OBJECT))
        return;
    while (hm__pull_key(p)) {
        double *to = hm__pull_is(p, "global_step")        ? &s->global_step
                     : hm__pull_is(p, "max_steps")        ? &s->max_steps
                     : hm__pull_is(p, "epoch")            ? &s->epoch
                     : hm__pull_is(p, "num_train_epochs") ? &s->epochs
                     : hm__pull_is(p, "train_batch_size") ? &s->batch
                     : hm__pull_is(p, "logging_steps")    ? &s->logging
                     : hm__pull_is(p, "total_flos")       ? &s->flop
                                                          : NULL;
        if (hm__pull_is(p, "log_history"))
            read_history(s, p);
        else if (to)
            *to = hm__pull_number(p);
        else
            hm__pull_skip(p);
    }
}

static void put_facts(struct state *s)
{
    struct hm_json *j = &s->im->facts;

    hm__json_put_number(j, "global_step", s->global_step);
    hm__json_put_number(j, "max_steps", s->max_steps);
    hm__json_put_number(j, "epoch", s->epoch);
    hm__json_put_number(j, "num_train_epochs", s->epochs);
    hm__json_put_number(j, "train_batch_size", s->batch);
    hm__json_put_number(j, "logging_steps", s->logging);
    hm__json_put_number(j, "total_flos", s->flop);
    hm__json_put_number(j, "log_entries", s->entries);
    hm__json_put_number(j, "train_points", s->points);
    if (s->points > 0) {
        hm__json_put_numbers(j, "first_train", s->first, 2);
        hm__json_put_numbers(j, "last_train", s->last, 2);
    }
    hm__json_put_number(j, "min_train_loss", s->least);
    hm__json_put_raw(j, "eval_points", s->evals.data ? s->evals.data : "[]");
    hm__json_put_number(j, "train_runtime_s", s->runtime);
    hm__json_put_number(j, "train_samples_per_second", s->samples_per_s);
    hm__json_put_number(j, "train_steps_per_second", s->steps_per_s);
    hm__json_put_number(j, "seconds_per_step", s->runtime / s->global_step);
    hm__json_put_bool(j, "has_time", !isnan(s->runtime));
    hm__json_put_raw(j, "train", s->train.data ? s->train.data : "[]");
}

static void put_run(struct state *s)
{
    double seconds = s->runtime / s->global_step;
    const struct hm_import_cell cells[] = {hm__cell(s->n), hm__cell(seconds),
                                           hm__cell(s->global_step)};

    if (!(seconds > 0)) {
        hm__import_note(s->im, "the file has no times");
        return;
    }
    hm__import_columns(&s->im->runs, "n,seconds,steps");
    hm__import_row(s->im, &s->im->runs, cells);
    hm__import_took(s->im, 1, "run: the mean step of the training");
}

static int trainer_state_read(struct hm_imported *im, struct hm_err *err)
{
    struct state s = {.im = im, .least = NAN};
    struct hm_pull pull;
    int rc = hm__pull_init(&pull, &im->in, err);

    if (rc)
        return rc;
    s.global_step = s.max_steps = s.epoch = s.epochs = s.batch = s.logging = s.flop = NAN;
    s.runtime = s.samples_per_s = s.steps_per_s = NAN;
    s.train_json.out = &s.train;
    s.evals_json.out = &s.evals;
    hm__json_put_text(&im->facts, "format", "hf trainer_state");
    hm__import_columns(&im->traces, "n,iteration,loss");
    s.n = hm__import_n(im, NAN);
    hm__json_open(&s.train_json, NULL, HM_JSON_LIST);
    hm__json_open(&s.evals_json, NULL, HM_JSON_LIST);
    read_members(&s, &pull);
    hm__json_close(&s.train_json);
    hm__json_close(&s.evals_json);
    if (pull.failed)
        hm__import_cut(im);
    put_facts(&s);
    hm__import_took(im, (double)im->traces.rows, "losses as a trace");
    put_run(&s);
    hm__import_left(im, s.eval_count, "evaluations, which are not losses of the training");
    hm__import_left(im, s.no_loss, "points whose loss is not a number");
    im->failed |= s.train.failed || s.evals.failed;
    hm__text_release(&s.train);
    hm__text_release(&s.evals);
    hm__pull_release(&pull);
    return 0;
}

static int trainer_state_recognise(const struct hm_import_head *head)
{
    const char *p = head->text + strspn(head->text, " \t\r\n");

    return *p == '{' && hm__find(head->text, head->length, "\"log_history\"") ? 95 : 0;
}

const struct hm_importer hm__importer_trainer_state = {
    .name = "trainer-state",
    .title = "trainer_state.json of Hugging Face",
    .becomes = "a trace, and a run if the training ended",
    .recognise = trainer_state_recognise,
    .read = trainer_state_read,
};
