/*
 * Explains plans that place the layers of a network on several workers, and offers such a plan if
 * no single worker has enough memory for all layers.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "err.h"
#include "model_pipeline.h"
#include "notes.h"
#include "search.h"

enum { STAGES_TEXT = 160 };

/*
 * Largest number of units (layers or blocks of layers) for which a pipeline is offered that the
 * question did not ask for. The work of a placement grows with the square of the units; all
 * networks of the catalog have fewer, and a network of thousands would keep the plan from ending.
 */
enum { OFFERED_UNITS = 150 };

/* Writes the range of layers of each stage, such as "1-9, 10-20". */
static void stages_text(const struct hm_pipeline_choice *c, char *text, size_t room)
{
    size_t used = 0, from = 1;

    text[0] = '\0';
    for (size_t k = 0; k < (size_t)c->stages && used < room; k++) {
        used += (size_t)snprintf(text + used, room - used, "%s%zu-%zu", k ? ", " : "", from,
                                 c->rows[k]);
        from = c->rows[k] + 1;
    }
}

int hm__answer_explain_pipeline(struct hm_answer *a, const struct hm_model *model,
                                const struct hm_point *p, bool *ret_limits, struct hm_err *err)
{
    double busy_s = p->compute_s - p->wait_s;

    *ret_limits = model->pipeline && p->wait_s > fmax(p->communicate_s, busy_s);
    if (!*ret_limits)
        return 0;
    a->limit = HM_LIMIT_IMBALANCE;
    a->limit_share = p->wait_s / p->time_s;
    a->why = "stages of the pipeline wait for the first and the last micro-batches, and for the "
             "slowest stage";
    (void)err;
    return 0;
}

/* Adds a note about the placement of the layers at the recommended number of workers. */
static int note_placement(struct hm_answer *a, const struct hm_model *model, struct hm_err *err)
{
    struct hm_notes notes = {a->memory, &a->notes, &a->note_count};
    struct hm_pipeline_choice c;
    char text[STAGES_TEXT];

    if (a->recommended >= a->point_count)
        return 0;
    int rc = hm__model_pipeline_choose(model, a->points[a->recommended].n, &c, err);
    if (rc)
        return rc;
    if (c.stages <= 1)
        return hm__notes_add(notes, err,
                             "every worker has all layers: placing them on several is slower");
    stages_text(&c, text, sizeof(text));
    return hm__notes_add(notes, err,
                         "%g pipeline%s of %g stages%s%s, %g micro-batches of %g samples each",
                         c.replicas, c.replicas > 1 ? "s" : "", c.stages,
                         c.metis ? " that METIS found in the graph of layers" : " with the layers ",
                         c.metis ? "" : text, c.micro_batches, c.micro_batch);
}

/* Returns the smallest number of workers for which some placement of the layers fits in memory; 0
 * if there is none. */
static double fewest_workers(const struct hm_model *model, const struct hm_answer *a,
                             struct hm_pipeline_choice *ret_choice)
{
    for (size_t i = 0; i < a->point_count && a->points[i].n <= HM_STAGES_MAX; i++)
        if (hm__model_pipeline_choose(model, a->points[i].n, ret_choice, NULL) == 0 &&
            ret_choice->fits && ret_choice->stages > 1)
            return a->points[i].n;
    return 0;
}

int hm__answer_note_pipeline(struct hm_answer *a, const struct hm_search *s,
                             const struct hm_model *model, struct hm_err *err)
{
    struct hm_notes notes = {a->memory, &a->notes, &a->note_count};
    struct hm_variant variant = hm__search_variant(s);
    struct hm_pipeline_choice c;
    struct hm_model *placed;
    bool memory = a->missed && strcmp(a->missed, "memory") == 0;

    if (model->pipeline)
        return note_placement(a, model, err);
    if (!memory || !s->job->network || s->job->network->layer_count == 0 || s->job->compute ||
        s->mixes || s->question->fit || s->way.platform > HM_PLATFORM_ALLREDUCE)
        return 0;
    variant.way = (struct hm_way){.platform = HM_PLATFORM_PIPELINE};
    int rc = hm__model_new(s->job, s->cluster, &variant, &placed, NULL);
    if (rc)
        return rc == HM_E_NOMEM ? hm__fail_nomem(err) : 0;
    bool few = hm__model_pipeline_units(placed) <= OFFERED_UNITS;
    double n = few ? fewest_workers(placed, a, &c) : 0;
    hm__model_free(placed);
    if (!(n > 0))
        return 0;
    return hm__notes_add(notes, err,
                         "the platform pipeline places the layers on %g workers, where they fit, "
                         "and takes %.3g s an iteration",
                         n, c.time_s);
}
