/*
 * Implements hm_plan_layouts of howmany_layouts.h: plans for transformers for use by other
 * programs.
 */
#include <math.h>

#include "checks.h"
#include "err.h"
#include "howmany_layouts.h"
#include "large_plan.h"
#include "memory.h"

/*
 * Returns the first field of a question that plans of transformers do not support; NULL if there is
 * none.
 */
static const char *unsupported_field(const struct hm_question *q)
{
    return q->fit             ? "fit"
           : q->way_count     ? "ways"
           : q->weak          ? "weak"
           : q->faster > 0    ? "faster"
           : q->work > 0      ? "work"
           : q->reference > 0 ? "reference"
           : q->n_count > 1   ? "n"
                              : NULL;
}

static int check_question(const struct hm_job *job, const struct hm_question *q, struct hm_err *err)
{
    int rc = hm_question_check(q, err);

    if (rc)
        return rc;
    const char *field = unsupported_field(q);
    if (field || (q->n_count && q->max_n > 0)) {
        hm__fail(err, HM_E_CONFLICT,
                 field ? "this does not apply to a job that trains a transformer"
                       : "n and max_n are both given");
        hm__err_field(err, field ? field : "n");
        return HM_E_CONFLICT;
    }
    if (job->large)
        return 0;
    hm__fail(err, HM_E_MISSING, "the job does not train a transformer");
    hm__err_hint(err, "call hm_job_set_transformer first; hm_plan plans other jobs");
    hm__err_field(err, "job");
    return HM_E_MISSING;
}

static struct hm_layout_point layout_point(const struct hm_large_choice *c)
{
    return (struct hm_layout_point){.n = c->n,
                                    .nodes = c->nodes,
                                    .machine = (size_t)c->machine,
                                    .layout = c->layout,
                                    .time_s = c->step.time_s,
                                    .low_s = c->low_s,
                                    .high_s = c->high_s,
                                    .total_s = c->total_s,
                                    .cost = c->cost,
                                    .tokens_per_s = c->tokens_per_s,
                                    .mfu = c->mfu,
                                    .memory_bytes = c->memory.total,
                                    .memory_limit_bytes = c->memory_limit,
                                    .fits = c->fits,
                                    .meets = c->meets};
}

/* Copies the public part of an answer into separate memory; returns NULL if memory runs out. */
static struct hm_layouts *copy_answer(const struct hm_large_answer *a)
{
    struct hm_arena *arena = hm__arena_new();
    struct hm_layouts *l = arena ? hm__arena_alloc(arena, 1, sizeof(*l)) : NULL;
    struct hm_layout_point *points =
        l ? hm__arena_alloc(arena, a->point_count, sizeof(*points)) : NULL;

    if (!points) {
        hm__arena_free(arena);
        return NULL;
    }
    for (size_t i = 0; i < a->point_count; i++)
        points[i] = layout_point(&a->points[i]);
    *l = (struct hm_layouts){.parameters = a->parameters,
                             .active_parameters = a->active,
                             .points = points,
                             .point_count = a->point_count,
                             .feasible = a->feasible,
                             .best = a->best,
                             .recommended = a->recommended,
                             .cheapest = a->cheapest,
                             .balanced = a->balanced,
                             .fastest = a->fastest,
                             .missed = a->missed,
                             .memory = arena};
    return l;
}

int hm_plan_layouts(const struct hm_job *job, const struct hm_cluster *const *clusters,
                    size_t cluster_count, const struct hm_question *q,
                    struct hm_layouts **ret_layouts, struct hm_err *err)
{
    struct hm_large_answer *answer = NULL;
    int rc = hm__check_pointers(err, "job", job, "question", q, "ret_layouts", ret_layouts, NULL);

    if (rc == 0)
        rc = hm__check_array(clusters, cluster_count, "clusters", err);
    for (size_t i = 0; rc == 0 && i < cluster_count; i++)
        rc = hm_cluster_check(clusters[i], err);
    if (rc == 0 && cluster_count == 0 && job->has_cluster)
        rc = hm_cluster_check(&job->cluster, err);
    if (rc == 0)
        rc = check_question(job, q, err);
    if (rc)
        return rc;
    struct hm_large_question question = {.n = q->n_count ? q->n[0] : NAN,
                                         .max_n = q->max_n > 0 ? q->max_n : NAN,
                                         .deadline_s = q->deadline_s > 0 ? q->deadline_s : NAN,
                                         .budget = q->budget,
                                         .certainty = q->certainty > 0 ? q->certainty : NAN,
                                         .goal = q->goal,
                                         .alpha = q->alpha,
                                         .beta = q->beta,
                                         .slack = isnan(q->slack) ? HM_DEFAULT_SLACK : q->slack,
                                         .loss = NAN,
                                         .parameters = NAN};
    rc = hm__large_plan(job, clusters, cluster_count, &question, &answer, err);
    if (rc)
        return rc;
    struct hm_layouts *layouts = copy_answer(answer);
    hm__large_answer_free(answer);
    if (!layouts)
        return hm__fail_nomem(err);
    *ret_layouts = layouts;
    return 0;
}

void hm_layouts_free(struct hm_layouts *layouts)
{
    if (layouts)
        hm__arena_free(layouts->memory);
}
