/*
 * Provides times from the model of a job if the runs provide none. The quantities in the question
 * replace the quantities of the job: batch and size scale the number of samples, and latency and
 * bandwidth describe the network. The intervals are the same as in a plan without runs.
 */
#include <math.h>
#include <string.h>

#include "chance.h"
#include "err.h"
#include "recommend.h"
#include "search.h"
#include "sheet_error.h"
#include "split.h"

static const struct hm_question nothing_asked = HM_QUESTION_INIT;

/* Changes one quantity of the model; returns false if the model does not have that quantity. */
static bool variant_apply(const struct hm_search *s, const struct hm_at *at,
                          struct hm_variant *variant)
{
    const struct hm_link *link = s->cluster ? &s->cluster->fabric : NULL;

    if (strcmp(at->name, "size") == 0)
        variant->work *= at->value;
    else if (strcmp(at->name, "batch") == 0 && s->job->batch > 0)
        variant->work *= at->value / s->job->batch;
    else if (strcmp(at->name, "latency") == 0 && link && link->latency_s > 0)
        variant->latency = at->value / link->latency_s;
    else if (strcmp(at->name, "bandwidth") == 0 && link && link->bandwidth_bytes_per_s > 0)
        variant->bandwidth = at->value / link->bandwidth_bytes_per_s;
    else
        return false;
    return true;
}

static int variant_apply_all(struct hm_recommending *w, const struct hm_search *s,
                             struct hm_variant *variant, struct hm_err *err)
{
    char text[HM_PLACE_TEXT];
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < w->at_count; i++)
        if (!variant_apply(s, &w->at[i], variant))
            rc = hm__notes_add(hm__recommend_notes(w), err,
                               "the job's model has no %s: %s is ignored", w->at[i].name,
                               hm__recommend_place_text(&w->at[i], 1, text));
    return rc;
}

/* Splits the job's graph for every n up to max_n. */
static int search_split_graph(struct hm_search *s, double max_n, struct hm_parts **ret_parts,
                              struct hm_err *err)
{
    static const struct hm_split_fields names = {"n", "graph.trials", "graph"};
    size_t count = (size_t)max_n;
    struct hm_parts *parts = hm__calloc(count, sizeof(*parts));
    double *n = hm__calloc(count, sizeof(*n));
    int rc = parts && n ? 0 : hm__fail_nomem(err);

    if (rc == 0)
        rc = hm__split_admit(s->job->graph, s->job->split, s->job->trials, max_n - 1, max_n / 2 + 1,
                             &names, err);
    for (size_t i = 0; rc == 0 && i < count; i++)
        n[i] = (double)i + 1;
    if (rc == 0)
        rc = hm_graph_split(s->job->graph, s->job->split, s->job->trials, s->job->seed, n, count,
                            parts, err);
    hm__free(n);
    *ret_parts = parts;
    s->parts = parts;
    s->part_count = count;
    return rc;
}

static bool is_candidate(const struct hm_recommend_question *q, double n)
{
    for (size_t i = 0; i < q->n_count; i++)
        if (q->n[i] == n)
            return true;
    return q->n_count == 0;
}

/*
 * Converts each point of the curve to a candidate; `level` is the coverage probability of the
 * intervals.
 */
static int recommend_take_points(struct hm_recommending *w, const struct hm_search *s,
                                 const struct hm_curve *curve, double level, struct hm_err *err)
{
    double price = s->cluster ? s->cluster->node.price_per_s : NAN;
    double low = (1 - w->out->level) / 2;

    w->candidates = hm__arena_alloc(w->arena, curve->count, sizeof(*w->candidates));
    if (!w->candidates)
        return hm__fail_nomem(err);
    w->count = w->draw_count = 0;
    for (size_t i = 0; i < curve->count; i++) {
        const struct hm_point *p = &curve->points[i];
        if (!is_candidate(w->q, p->n))
            continue;
        struct hm_recommend_candidate *t = &w->candidates[w->count++];
        /*
         * With weak scaling, the time is for as many samples as the reference processes in one
         * iteration.
         */
        double share = s->weak ? s->reference / p->n : 1, time_s = p->time_s * share;
        const struct hm_span span = {p->low_s, p->time_s, p->high_s, level};
        bool known = hm__span_known(&span);
        t->r =
            (struct hm_recommended){.n = p->n,
                                    .time_s = time_s,
                                    .low_s = known ? share * hm__span_bound(&span, low) : NAN,
                                    .high_s = known ? share * hm__span_bound(&span, 1 - low) : NAN,
                                    .cost = price >= 0 ? price * p->nodes * time_s : NAN,
                                    .value = NAN};
        t->known = p->fits;
        if (!p->fits) {
            t->r.failed = true;
            t->r.why = "does not fit in memory, by the model";
            t->r.time_s = t->r.cost = NAN;
        }
    }
    int rc = hm__recommend_failures(w, err);
    for (size_t i = 0; i < w->count; i++)
        if (w->candidates[i].r.failed) {
            w->candidates[i].known = false;
            w->candidates[i].r.time_s = w->candidates[i].r.cost = NAN;
        }
    return rc;
}

static int recommend_eval_model(struct hm_recommending *w, struct hm_search *s, double max_n,
                                struct hm_err *err)
{
    struct hm_model *model = NULL;
    struct hm_parts *parts = NULL;
    struct hm_curve curve = {0};
    int rc = s->job->graph ? search_split_graph(s, max_n, &parts, err) : 0;
    struct hm_variant variant = hm__search_variant(s);

    if (rc == 0)
        rc = variant_apply_all(w, s, &variant, err);
    if (rc == 0)
        rc = hm__model_new(s->job, s->cluster, &variant, &model, err);
    if (rc == 0)
        rc = hm__curve_init(&curve, s, model, variant.work, max_n, err);
    if (rc == 0)
        rc = recommend_take_points(w, s, &curve, hm__sheet_intervals(s, curve.points, curve.count),
                                   err);
    hm__curve_release(&curve);
    hm__model_free(model);
    hm__free(parts);
    return rc;
}

static int reason_model(struct hm_recommending *w, const struct hm_search *s, struct hm_err *err)
{
    const char *name = s->job->name ? s->job->name : s->job->source;
    size_t known = 0;

    for (size_t i = 0; i < w->count; i++)
        known += w->candidates[i].known;
    if (known == 0)
        return 0;
    w->out->provenance = HM_RECOMMEND_MODEL;
    w->out->source = hm__arena_strdup(w->arena, s->job->source ? s->job->source : "the job");
    w->out->reason = hm__arena_printf(w->arena, "%s%sthe model of %s, without a run",
                                      w->out->reason ? w->out->reason : "",
                                      w->out->reason ? "; so " : "", name ? name : "the job");
    return w->out->source && w->out->reason ? 0 : hm__fail_nomem(err);
}

int hm__recommend_model(struct hm_recommending *w, struct hm_err *err)
{
    const struct hm_job *job = w->q->job;
    struct hm_question asked = nothing_asked;
    struct hm_search s = {.job = job,
                          .cluster = w->q->cluster      ? w->q->cluster
                                     : job->has_cluster ? &job->cluster
                                                        : NULL,
                          .question = &asked,
                          .goal = HM_GOAL_TIME,
                          .scheme = -1,
                          .weak = job->scaling == HM_SCALING_WEAK,
                          .reference = job->reference};
    bool ceiling;

    for (size_t i = 0; i < w->q->n_count; i++)
        asked.max_n = fmax(asked.max_n, w->q->n[i]);
    double max_n = hm__search_max_n(&s, &ceiling);
    int rc = recommend_eval_model(w, &s, fmax(max_n, 1), err);
    return rc ? rc : reason_model(w, &s, err);
}
