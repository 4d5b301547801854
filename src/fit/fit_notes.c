/*
 * Adds notes about the unit of the runs' times and about how their work depends on n. A wrong
 * assumption about either of these changes a prediction more than all measurement errors, so every
 * assumption that the table does not confirm is stated.
 */
#include "fit.h"

#include <math.h>
#include <string.h>

/*
 * Adds a note that asks for the scaling of the runs if their times are per sample, token or epoch.
 * The scaling matters for the prediction: with weak scaling, the overhead of an iteration is also
 * divided by n.
 */
static int note_unit(struct hm_fit *fit, struct hm_err *err)
{
    const struct hm__fit *f = fit->inside;

    if (!fit->unit || f->weak_runs || f->scaling_stated || f->data.low[0] == f->data.high[0])
        return 0;
    return hm__notes_add(hm__fit_notes(fit), err,
                         "the times are those of %s %s, and the table does not say whether each "
                         "worker kept its batch as n grew: a column batch_per_worker, or scaling "
                         "with weak or strong, makes the prediction better",
                         fit->unit[0] == 'e' ? "an" : "a", fit->unit);
}

/*
 * If the time is above this fraction of the time on the fewest workers, it is considered not to
 * decrease with n.
 */
static const double FLAT_SHARE = 0.9;

/*
 * Asks for the scaling of runs whose time does not decrease as n grows, if nothing in the table
 * says what an iteration contains: such runs often have weak scaling, where n workers do n times as
 * much work in the same time.
 */
static int note_flat(struct hm_fit *fit, struct hm_err *err)
{
    const struct hm__fit *f = fit->inside;
    const struct hm_fit_data *data = &f->data;
    size_t fewest = 0, most = 0;

    if (fit->unit || fit->from_sheet || fit->relative || f->scaling_stated || f->weak_runs ||
        data->low[0] == data->high[0] || hm_runs_column(data->runs, "batch") ||
        hm_runs_column(data->runs, "size"))
        return 0;
    for (size_t i = 0; i < data->count; i++) {
        double n = data->places[0][data->group_of[i]];
        fewest = n < data->places[0][data->group_of[fewest]] ? i : fewest;
        most = n > data->places[0][data->group_of[most]] ? i : most;
    }
    if (data->seconds[most] < FLAT_SHARE * data->seconds[fewest])
        return 0;
    return hm__notes_add(hm__fit_notes(fit), err,
                         "the time does not fall as n grows: if each worker keeps its batch, so "
                         "that n workers do n times the work, a column scaling with the value weak "
                         "says so");
}

/* If the runs and the job differ in their scaling, adds a note about the batch that predictions
 * use. */
static int note_scaling(struct hm_fit *fit, struct hm_err *err)
{
    if (!fit->from_sheet || fit->weak || !fit->inside->weak_runs)
        return 0;
    return hm__notes_add(hm__fit_notes(fit), err,
                         "in the runs each worker keeps its batch, but the job divides one batch "
                         "among the workers: predictions are for the job's batch; scaling=weak "
                         "makes the job like the runs");
}

/* Warns that no run shows what the fabric between nodes costs. */
static int note_one_node(struct hm_fit *fit, struct hm_err *err)
{
    if (isnan(fit->one_node) || fit->from_sheet)
        return 0;
    return hm__notes_add(hm__fit_notes(fit), err,
                         "all runs are inside one node of %g workers: beyond it the fabric "
                         "between nodes is a guess, and the interval is wider; runs on two and "
                         "four nodes would show it",
                         fit->one_node);
}

/*
 * Warns about runs whose times cover the whole run, according to their column `timing`. The
 * start-up does not shrink with n, so it looks like a part of the iteration that cannot be divided
 * among workers.
 */
static int note_startup(struct hm_fit *fit, struct hm_err *err)
{
    const struct hm_fit_data *data = &fit->inside->data;
    const struct hm_column *timing = hm_runs_column(data->runs, "timing");

    for (size_t i = 0; timing && timing->labels && i < data->count; i++) {
        const char *label = timing->labels[data->rows[i]];
        fit->with_startup += label && strcmp(label, HM_TIMING_WHOLE) == 0;
    }
    if (fit->with_startup == 0)
        return 0;
    return hm__notes_add(hm__fit_notes(fit), err,
                         "the seconds of %zu of %zu runs are those of the whole run, with its "
                         "start-up: an iteration takes less, and scales better, than the fit says",
                         fit->with_startup, fit->run_count);
}

/* Warns about a file whose last value may be truncated. */
static int note_cut(struct hm_fit *fit, struct hm_err *err)
{
    const struct hm_runs *runs = fit->inside->data.runs;

    if (!runs->cut)
        return 0;
    return hm__notes_add(hm__fit_notes(fit), err, "%.200s " HM_NOTE_CUT,
                         hm__note_source(runs->source));
}

int hm__fit_note_runs(struct hm_fit *fit, struct hm_err *err)
{
    int rc = note_cut(fit, err);

    if (rc == 0)
        rc = note_one_node(fit, err);
    if (rc == 0)
        rc = note_startup(fit, err);
    if (rc == 0)
        rc = note_unit(fit, err);
    if (rc == 0)
        rc = note_flat(fit, err);
    return rc ? rc : note_scaling(fit, err);
}
