/*
 * Implements LocalSDCA, which visits rows in a random order and sets alpha_i, the dual variable of
 * row i, to the value that is optimal if all other variables are fixed:
 *
 *     max over alpha_i of  -l*(-alpha_i) - x_i.w (alpha_i - old) - sigma |x_i|^2 (alpha_i - old)^2
 *                                                                  / (2 lambda N),
 *     w += sigma (alpha_i - old) x_i / (lambda N).
 *
 * With shrinking, a row whose alpha did not change on k consecutive visits is skipped in the next
 * 2^k - 2 passes, where k is at most REST. There is no threshold. Every row is visited again after
 * at most 126 passes, so the method still converges to the same solution.
 *
 * Since rows are visited in random order, each row is prefetched AHEAD visits before its use.
 *
 * Jaggi et al.: Communication-efficient distributed dual coordinate ascent, NIPS 2014; Ma et al.:
 * Adding vs. averaging, ICML 2015; Hsieh et al.: A dual coordinate descent method for large-scale
 * linear SVM, ICML 2008 (shrinking).
 */
#include "local_sdca.h"

#include <math.h>
#include <string.h>

#include "err.h"
#include "loss.h"
#include "vector.h"

enum { REST = 7, AHEAD = 2 };

int hm__local_sdca_init(struct hm_local_sdca *local, struct hm_run *run, struct hm_err *err)
{
    const struct hm_rows *rows = &run->objective->rows;
    /*
     * The arrays have one more element than there are rows, so that none is empty if the rank has
     * no rows.
     */
    size_t count = rows->count + 1;

    local->alpha = hm__arena_alloc(run->arena, count, sizeof(double));
    local->before = hm__arena_alloc(run->arena, count, sizeof(double));
    local->norms = hm__arena_alloc(run->arena, count, sizeof(double));
    local->w = hm__arena_alloc(run->arena, run->objective->unknowns, sizeof(double));
    local->order = hm__arena_alloc(run->arena, count, sizeof(uint32_t));
    local->resting = hm__arena_alloc(run->arena, count, sizeof(double));
    local->away = hm__arena_alloc(run->arena, count, sizeof(double));
    if (!local->alpha || !local->before || !local->norms || !local->w || !local->order ||
        !local->resting || !local->away)
        return hm__fail_nomem(err);
    for (size_t i = 0; i < rows->count; i++)
        local->norms[i] = hm__row_norm2(rows, i);
    return 0;
}

/* Chooses the rows that this pass visits, in random order; returns their number. */
static size_t local_sdca_choose_rows(struct hm_local_sdca *local, const struct hm_run *run,
                                     struct hm_random *random)
{
    size_t rows = run->objective->rows.count, count = 0;

    if (!run->settings.shrink) {
        hm__fill_range(local->order, rows);
        count = rows;
    }
    for (size_t i = 0; run->settings.shrink && i < rows; i++) {
        /* The loop has no branch, because the processor could not predict the branch. */
        bool visit = local->away[i] == 0;
        local->order[count] = (uint32_t)i;
        count += visit;
        local->away[i] -= !visit;
    }
    hm__shuffle(random, local->order, count);
    return count;
}

static void local_sdca_note_visit(struct hm_local_sdca *local, size_t i, bool moved)
{
    if (moved) {
        local->resting[i] = 0;
        return;
    }
    local->resting[i] = fmin(local->resting[i] + 1, REST);
    local->away[i] = (1 << (int)local->resting[i]) - 2;
}

/*
 * Performs one pass over the chosen rows; returns its work: the number of entries of rows that were
 * read or added to w.
 */
static double local_sdca_make_pass(struct hm_local_sdca *local, struct hm_run *run, size_t count,
                                   double sigma)
{
    const struct hm_objective *o = run->objective;
    const struct hm_rows *rows = &o->rows;
    const struct hm_loss *loss = o->loss;
    double scale = 1 / (o->lambda * o->total_rows), touched = 0;

    for (size_t k = 0; k < count; k++) {
        size_t i = local->order[k];
        if (k + AHEAD < count)
            hm__row_prefetch(rows, local->order[k + AHEAD]);
        double z = hm__row_dot(rows, i, local->w), old = local->alpha[i];
        double alpha = loss->ascend(z, rows->labels[i], old, sigma * scale * local->norms[i]);
        touched += (double)hm__row_entries(rows, i);
        if (run->settings.shrink)
            local_sdca_note_visit(local, i, alpha != old);
        if (alpha == old)
            continue;
        local->alpha[i] = alpha;
        hm__row_axpy(rows, i, sigma * scale * (alpha - old), local->w);
        touched += (double)hm__row_entries(rows, i);
    }
    return touched;
}

void hm__local_sdca_solve(struct hm_local_sdca *local, struct hm_run *run, double sigma)
{
    size_t count = run->objective->rows.count;
    struct hm_random random = hm__run_random(run, 0);
    double touched = 0;

    local->visited = 0;
    memcpy(local->w, run->w, run->objective->unknowns * sizeof(*run->w));
    memcpy(local->before, local->alpha, count * sizeof(*local->alpha));
    for (double pass = 0; pass < run->settings.passes; pass++) {
        size_t visit = local_sdca_choose_rows(local, run, &random);
        touched += local_sdca_make_pass(local, run, visit, sigma);
        local->visited += (double)visit;
    }
    hm__comm_work(run->comm, 2 * touched);
}

double hm__local_sdca_dual(const struct hm_local_sdca *local, const struct hm_run *run)
{
    const struct hm_objective *o = run->objective;
    double sum = 0;

    for (size_t i = 0; i < o->rows.count; i++)
        sum += o->loss->dual(local->alpha[i], o->rows.labels[i]);
    return sum;
}
