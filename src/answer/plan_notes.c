/*
 * Writes the notes of an answer: the assumptions of the fit, the platform, the model and the
 * question. Each note is one sentence that a user should read before relying on the numbers. Limit:
 * only the first FIT_NOTES notes of a fit are repeated.
 */
#include <math.h>

#include "err.h"
#include "mixes.h"
#include "names.h"
#include "notes.h"
#include "search.h"
#include "sheet_spread.h"
#include "way_time.h"

enum { FIT_NOTES = 8 };

static struct hm_notes answer_notes(struct hm_answer *a)
{
    return (struct hm_notes){a->memory, &a->notes, &a->note_count};
}

/*
 * Adds a fixed string as a note if `condition` is true. Does nothing if an earlier note failed (rc
 * is not 0).
 */
static int note_if(int rc, bool condition, struct hm_answer *a, const char *text,
                   struct hm_err *err)
{
    return rc || !condition ? rc : hm__notes_add(answer_notes(a), err, "%s", text);
}

/*
 * Adds the notes of the fit, and a note about how far the chosen n is beyond the largest n of its
 * runs.
 */
static int note_fit(struct hm_answer *a, const struct hm_fit *fit, struct hm_err *err)
{
    double n = a->best != HM_NONE ? a->points[a->best].n : 0;
    int rc = 0;

    if (!fit)
        return 0;
    if (fit->run_count > 0 && n > fit->n_max)
        rc = hm__notes_add(answer_notes(a), err,
                           "%g workers are %.3g times as many as in any run: a run there would "
                           "help",
                           n, n / fit->n_max);
    if (rc == 0 && a->sure >= 0 && a->likely != a->best)
        rc = hm__notes_add(answer_notes(a), err,
                           "%g workers lose least on average over all curves that are consistent "
                           "with the runs; on the most likely curve %g are best",
                           n, a->points[a->likely].n);
    for (size_t i = 0; i < fit->note_count && i < FIT_NOTES; i++)
        rc = note_if(rc, true, a, fit->notes[i], err);
    return rc;
}

/* Adds notes about the assumptions of a platform. */
static int note_way(struct hm_answer *a, const struct hm_way *way, struct hm_err *err)
{
    bool one = way->servers == 1;
    int rc = note_if(0, way->platform == HM_PLATFORM_DRIVER, a,
                     "the driver is an additional node, which is included", err);

    if (rc == 0 && hm__strategy_inside(way->strategy))
        rc = hm__notes_add(answer_notes(a), err,
                           "%s uses the workers of one machine; MultiWorkerMirroredStrategy uses "
                           "several",
                           hm_strategy_title(way->strategy));
    rc = note_if(rc, way->strategy == HM_STRATEGY_CENTRAL_STORAGE, a,
                 "the host of the machine keeps the variables, and its link is that of one "
                 "accelerator",
                 err);
    if (rc == 0 && hm__way_nodes(way) > 0 && way->platform == HM_PLATFORM_SERVER)
        rc = hm__notes_add(answer_notes(a), err, "%g additional node%s for servers %s included",
                           way->servers, one ? "" : "s", one ? "is" : "are");
    rc = note_if(rc, hm__way_stale(way) && !(way->stale_cost > 0), a,
                 "stale gradients are assumed to cost no iterations: stale_cost gives a factor",
                 err);
    rc = note_if(rc, way->platform == HM_PLATFORM_FEDERATED, a,
                 "the server is an additional node, which is included; n counts the clients of a "
                 "round",
                 err);
    rc = note_if(rc,
                 (way->platform > HM_PLATFORM_SERVER && way->platform != HM_PLATFORM_PIPELINE) ||
                     way->local_steps > 1,
                 a,
                 "workers with different models are assumed to need as many iterations as others: "
                 "measure it with `howmany train` and `howmany converge`",
                 err);
    return note_if(rc, way->backups > 0, a,
                   "a late worker drops its gradient and begins the next step with the others; the "
                   "batch is divided among the workers that are waited for",
                   err);
}

/* Adds notes about the assumptions of the model. */
static int note_model(struct hm_answer *a, const struct hm_search *s, const struct hm_model *model,
                      struct hm_err *err)
{
    const char *text;
    int rc = note_if(
        0, s->job->communicate_assumed && s->scheme < 0 && s->way.platform == HM_PLATFORM_JOB, a,
        "the job does not give its communication: at each n the fastest all-reduce of "
        "the gradients is assumed",
        err);

    for (size_t i = 0; rc == 0 && (text = hm__model_note(model, i)); i++)
        rc = note_if(rc, true, a, text, err);
    const bool driven = hm__sheet_kind(s->job, s->cluster, &s->way, 1) == HM_SHEET_DRIVER;
    return note_if(rc, driven && !s->question->fit, a,
                   "the costs of a framework are not included, so steps may be many times slower: "
                   "framework adds those of spark, tensorflow, mxnet or pmls",
                   err);
}

/* Adds a note if the batch of the recommended point is larger than is known to be useful. */
static int note_plan_batch(struct hm_answer *a, const struct hm_search *s, struct hm_err *err)
{
    const struct hm_job *job = s->job;
    const size_t count = job ? job->epochs_at_count : 0;
    double most = count > 0 ? job->epochs_at[count - 1].batch : job ? job->critical_batch : NAN;

    if (!job || a->recommended >= a->point_count || !(job->epochs > 0) || !(most > 0))
        return 0;
    double batch = job->batch * (s->weak ? a->points[a->recommended].n : 1);
    if (!(batch > most * (1 + 1e-9)))
        return 0;
    return hm__notes_add(answer_notes(a), err,
                         count > 0 ? "a batch of %.0f is larger than all with measured epochs, up "
                                     "to %.0f: its epochs are extrapolated"
                                   : "a batch of %.0f is larger than the critical batch %.0f: more "
                                     "than half of its samples save no iterations",
                         batch, most);
}

/* Adds notes about the mixes of a cluster with several kinds of machines. */
static int note_mix(struct hm_answer *a, const struct hm_search *s, struct hm_err *err)
{
    const struct hm_cluster *c = s->cluster;
    const bool async = s->way.consistency == HM_CONSISTENCY_ASYNC;

    if (!c || c->kind_count == 0)
        return 0;
    const bool speed = c->shares == HM_SHARES_SPEED && !async && !s->job->graph;
    int rc = note_if(0, true, a,
                     speed   ? "each worker has samples in proportion to its speed; messages move "
                               "at the slowest link of the mix"
                     : async ? "workers do not wait for slower kinds; messages move at the slowest "
                               "link of the mix"
                             : "all workers have equal shares, so that the slowest kind limits a "
                               "step; messages move at the slowest link of the mix",
                     err);
    rc = note_if(rc, hm__way_nodes(&s->way) > 0, a,
                 "nodes of servers or the driver are of the first kind", err);
    return note_if(rc, hm__mixes_partial(c), a,
                   "there are too many mixes to try all: counts of machines are tried in steps",
                   err);
}

/* Adds notes about the units of the deadline, the budget and the cost. */
static int note_question(struct hm_answer *a, const struct hm_search *s, struct hm_err *err)
{
    const struct hm_question *q = s->question;
    int rc = note_if(0, !a->whole_job && (q->deadline_s > 0 || q->budget >= 0), a,
                     s->weak ? "deadline and budget are for the samples of one iteration at the "
                               "reference: the job gives no iterations or epochs"
                             : "deadline and budget are for one iteration: the job gives no "
                               "iterations or epochs",
                     err);

    size_t at = a->recommended != HM_NONE ? a->recommended : a->nearest;
    bool limited = q->deadline_s > 0 || q->budget >= 0;
    rc = note_if(rc, limited && at < a->point_count && isnan(a->points[at].meets), a,
                 "the error of the times is not known: deadline and budget are compared with the "
                 "expected time",
                 err);
    rc = note_if(rc, (q->deadline_s > 0 || s->goal != HM_GOAL_TIME) && !a->priced, a,
                 "no price is known: the cheapest is the one with the fewest node-hours", err);
    return note_if(rc,
                   q->weak && s->job->scaling == HM_SCALING_STRONG && s->job->compute &&
                       !hm__search_by_runs(s),
                   a,
                   "weak scaling uses the compute formula unchanged: it must be the time of one "
                   "worker's whole batch",
                   err);
}

/* Adds notes about the limits on n and on memory. */
static int note_plan_limits(struct hm_answer *a, const struct hm_search *s, bool reference_fits,
                            struct hm_err *err)
{
    const struct hm_job *job = s->job;
    bool all =
        job->graph && a->point_count && a->points[a->point_count - 1].n == job->graph->vertices;
    int rc =
        note_if(0, all, a,
                "every worker needs a vertex: more workers than vertices are not considered", err);
    if (rc == 0 && job->graph && job->graph->may_be_cut)
        rc = hm__notes_add(answer_notes(a), err, "%.200s " HM_NOTE_CUT, job->graph->name);

    rc = note_if(rc, !reference_fits && s->reference > s->way.backups, a,
                 "the reference itself does not fit in memory: speedups are relative to a time "
                 "that cannot be reached",
                 err);
    return note_if(rc,
                   job->network && job->network->layer_count == 0 && !job->memory_needed &&
                       s->cluster && s->cluster->node.memory_bytes > 0,
                   a,
                   hm__sheet_kind(job, s->cluster, &s->way, 1) == HM_SHEET_TOTALS
                       ? "only totals of the network are known: the time is a rough estimate, and "
                         "the memory does not include activations"
                       : "only totals of the network are known: the memory does not include "
                         "activations",
                   err);
}

static int note_balance(struct hm_answer *a, const struct hm_search *s, struct hm_err *err)
{
    bool chosen = isnan(s->question->alpha) && isnan(s->question->beta);

    if (s->goal != HM_GOAL_BALANCE)
        return 0;
    return hm__notes_add(answer_notes(a), err, "balance: %.3g a second, %.3g a %s%s", s->alpha,
                         s->beta, a->priced ? "dollar" : "node-second",
                         chosen ? ", so that the least time and the least cost have equal weight"
                                : "");
}

int hm__answer_notes(struct hm_answer *a, const struct hm_search *s, const struct hm_model *model,
                     bool reference_fits, struct hm_err *err)
{
    const char *kept = s->cluster ? s->cluster->note : NULL;
    const struct hm_fit *fit = s->question->fit;
    int rc = note_fit(a, fit, err);

    if (fit && !fit->from_sheet && a->recommended < a->point_count &&
        a->points[a->recommended].n > fit->one_node)
        a->one_node = fit->one_node;
    if (fit)
        a->unit = fit->unit;

    rc = note_if(rc, s->job && s->job->note, a, s->job ? s->job->note : NULL, err);
    rc = note_if(rc, kept != NULL, a, kept, err);
    if (rc == 0)
        rc = note_way(a, &s->way, err);
    if (rc == 0)
        rc = note_model(a, s, model, err);
    if (rc == 0)
        rc = note_mix(a, s, err);
    if (rc == 0 && !fit)
        rc = hm__answer_note_dataflow(a, model, err);
    if (rc == 0)
        rc = hm__answer_note_pipeline(a, s, model, err);
    if (rc == 0)
        rc = note_plan_batch(a, s, err);
    if (rc == 0)
        rc = note_question(a, s, err);
    if (rc == 0)
        rc = note_plan_limits(a, s, reference_fits, err);
    return rc ? rc : note_balance(a, s, err);
}
