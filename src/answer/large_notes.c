/*
 * Adds notes about what the recommended layout of a transformer means in practice: a batch that
 * copies of the model do not share evenly, more workers than the cluster has, sharding that a
 * pipeline limits, and keys and values that are copied.
 */
#include <math.h>

#include "large_plan.h"

/*
 * Adds the note about a batch that is not a multiple of data x micro_batch. The step counts all
 * micro-batches as full, although most frameworks refuse such a batch.
 */
static void note_uneven(struct hm_large_answer *a, const struct hm_layout *l, double batch)
{
    double share = l->data * l->micro_batch, times = batch / share;

    if (times == floor(times))
        return;
    hm__large_note(a,
                   "a batch of %.10g sequences is not a multiple of data x micro_batch, %.10g: the "
                   "last micro-batch is counted as full; a batch of %.10g or %.10g is even",
                   batch, share, share * floor(times), share * ceil(times));
}

/*
 * Adds the note about the time that whole runs take in addition to their steps, if a deadline or a
 * budget is given and the job is long. The figures are those of tools/check-published for the runs
 * of data/published.csv whose hours are known.
 */
static void note_whole(struct hm_large_answer *a, const struct hm_large_choice *best)
{
    static const double LONG_S = 7 * 86400.;

    if ((a->deadline_s > 0 || a->budget >= 0) && best->total_s * best->nodes >= LONG_S)
        hm__large_note(a, "published runs were paid for 1.0 to 2.9 times the hours of their steps "
                          "as predicted here, 1.4 in the median");
}

/* Adds the note about stages or chunks that cannot have equal numbers of layers. */
static void note_stages(struct hm_large_answer *a, const struct hm_layout *l,
                        const struct hm_large_work *work)
{
    const double layers = work->network->layers, chunks = l->pipeline * l->interleave;
    const double missing = hm__layout_missing(layers, chunks);

    if (missing == 0 || work->weigh_head)
        return;
    if (missing <= HM_LAYERS_WEIGHED)
        hm__large_note(a,
                       "%.10g layers do not divide into %.10g chunks: embedding and output head "
                       "take the places of %.10g",
                       layers, chunks, missing);
    else
        hm__large_note(a,
                       "%.10g layers do not divide into %.10g stages: the slowest has %.10g, and "
                       "the others wait for it",
                       layers, chunks, ceil(layers / chunks));
}

/* Adds the note about the weights of time and cost. */
static void note_weights(struct hm_large_answer *a, const struct hm_large_choice *best)
{
    if (a->goal == HM_GOAL_BALANCE && a->feasible)
        hm__large_note(a, "balance: %.3g a second, %.3g a %s", a->alpha, a->beta,
                       isnan(best->cost) ? "node-second" : "dollar");
}

void hm__large_note_layout(const struct hm_large_machines *machines, struct hm_large_answer *a)
{
    const struct hm_large_choice *best = &a->points[a->recommended];
    const struct hm_large_machine *m = &machines->items[best->machine];
    const struct hm_layout *l = &best->layout;
    const double most = m->device.machine_workers * m->device.max_nodes;

    note_weights(a, best);
    note_whole(a, best);
    note_uneven(a, l, m->work.batch);
    note_stages(a, l, &m->work);
    if (m->device.max_nodes > 0 && best->n > most)
        hm__large_note(a, "%.10g workers are more than the %.10g of the cluster (max_nodes %.10g)",
                       best->n, most, m->device.max_nodes);
    if (l->zero >= 2 && l->pipeline > 1 && !m->work.shard_gradients)
        hm__large_note(a,
                       "under a pipeline zero %g shards only the optimizer, since the gradients of "
                       "micro-batches are added up",
                       l->zero);
    if (l->tensor > m->work.network->kv_heads)
        hm__large_note(a,
                       "tensor %g is more than kv_heads, %g: keys and values are copied to several "
                       "workers, which is not counted, and not all software can do it",
                       l->tensor, m->work.network->kv_heads);
}
