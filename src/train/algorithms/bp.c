/*
 * Runs belief propagation as an algorithm of the training loop; propagate.h declares the
 * computation.
 */
#include "bp.h"

#include <math.h>

#include "err.h"
#include "train.h"

/* State of belief propagation, shared by the objective and the run. */
struct bp {
    const struct hm_mrf *mrf;
    struct hm_propagate_settings settings;
    /* The graph with its current messages; the run's arena owns it. */
    struct hm_propagate *propagate;
    double *messages; /* Copy of the messages, for checkpoints. */
    /*
     * Most probable state of each vertex of this rank, that is, the state with the largest belief.
     */
    uint32_t *states;
    double change; /* Largest change of a message in the last iteration. */
};

int hm__bp_init(struct hm_objective *objective, const struct hm_mrf *mrf,
                const struct hm_propagate_settings *settings, struct hm_err *err)
{
    struct bp *bp = hm__arena_alloc(objective->arena, 1, sizeof(*bp));

    if (!bp)
        return hm__fail_nomem(err);
    *bp = (struct bp){.mrf = mrf, .settings = *settings, .change = NAN};
    objective->state = bp;
    objective->total_rows = fmax(1, 2 * (double)mrf->edges);
    /* Belief propagation has no weights w, so the arrays for weights have length 1. */
    objective->unknowns = 1;
    return 0;
}

const struct hm_propagate *hm__bp_propagate(const struct hm_run *run)
{
    const struct bp *bp = run->state;
    return bp->propagate;
}

static void bp_free_propagate(void *propagate)
{
    hm__propagate_free(propagate);
}

static int bp_begin(struct hm_run *run, struct hm_err *err)
{
    struct bp *bp = run->objective->state;
    int rc = hm__propagate_new(bp->mrf, &bp->settings, run->comm, &bp->propagate, err);

    if (rc)
        return rc;
    if (hm__arena_own(run->arena, bp->propagate, bp_free_propagate)) {
        hm__propagate_free(bp->propagate);
        return hm__fail_nomem(err);
    }
    size_t count = hm__propagate_message_count(bp->propagate);
    bp->messages = hm__arena_alloc(run->arena, count + 1, sizeof(double));
    bp->states = hm__arena_alloc(run->arena, bp->mrf->count + 1, sizeof(uint32_t));
    run->state = bp;
    return bp->messages && bp->states ? 0 : hm__fail_nomem(err);
}

static void bp_step(struct hm_run *run)
{
    struct bp *bp = run->state;

    bp->change = hm__propagate_step(bp->propagate, run->comm);
    run->samples += run->objective->total_rows;
}

static void bp_eval(struct hm_run *run, struct hm_trace_point *point)
{
    struct bp *bp = run->state;

    if (bp->settings.max_product) {
        hm__propagate_decode(bp->propagate, bp->states);
        point->objective = -hm__propagate_score(bp->propagate, bp->states, run->comm);
    } else
        point->objective = -hm__propagate_log_z(bp->propagate, run->comm);
    point->change = bp->change;
}

static size_t bp_parts(struct hm_run *run, struct hm_part parts[HM_PARTS])
{
    struct bp *bp = run->state;

    hm__propagate_get(bp->propagate, bp->messages);
    parts[0] = (struct hm_part){"messages", bp->messages,
                                hm__propagate_message_count(bp->propagate), true};
    return 1;
}

static int bp_resumed(struct hm_run *run, struct hm_err *err)
{
    struct bp *bp = run->state;
    return hm__propagate_put(bp->propagate, bp->messages, run->comm, err);
}

const struct hm_algorithm hm__algorithm_bp = {
    .name = "bp",
    .title = "loopy belief propagation",
    .begin = bp_begin,
    .step = bp_step,
    .eval = bp_eval,
    .parts = bp_parts,
    .resumed = bp_resumed,
};
