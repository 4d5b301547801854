/*
 * Shrinks predictions beyond the runs towards the typical loss of parallel efficiency.
 *
 * The loss at a doubling of n is ln(T(2n) / T(n)), plus ln 2 if the work is divided among the
 * workers: 0 is perfect scaling. On published curves, the loss per doubling beyond the runs differs
 * little from the loss within the runs (docs/explain/accuracy.md), but sets of terms that fit small
 * n equally well predict very different losses. Therefore, each draw is weighted by the probability
 * of the change that it predicts between the last quarter of the runs' range of n and eight times
 * their largest n. The change divided by its typical size, weak_turn or strong_turn + turn_share
 * |loss in the runs|, has Student's distribution with few degrees of freedom, so that a change of
 * several times the typical size is unlikely but possible. The draws are then selected with these
 * weights by systematic resampling (Kitagawa 1996).
 *
 * If the loss already grows inside the runs, and most sets of terms agree that it does, the typical
 * size of the change is larger by a multiple of this growth, because such curves do turn upwards.
 *
 * Limit: if all values of n in the runs are within a factor of two of each other, the runs show no
 * loss per doubling, and their draws are not changed. The same holds for runs whose predictions
 * need another quantity.
 */
#include <math.h>
#include <string.h>

#include "err.h"
#include "fit.h"
#include "student.h"

/* The numbers of workers at which losses of efficiency are compared. */
enum { EARLY, MIDDLE, LAST, FAR, PLACES };
enum { FREE = 4 };

static const double RECENT = 4, BEYOND = 8;

/*
 * A cost per worker (a term proportional to n) doubles its share of the time with each doubling of
 * n. Over the three doublings beyond the runs, the loss therefore grows by up to 8 times its growth
 * at the last doubling inside the runs.
 */
static const double SHRINK_GROWTH = 8;
/* The growth of the loss is this quantile over the draws, so that most draws show at least this
 * growth. */
static const double DOUBT = 0.2;

/*
 * Returns the loss of efficiency per doubling of n in a draw, between the numbers of workers with
 * the indices `from` and `to`.
 */
static double draw_loss(const struct hm_fit *fit, const double *x, const double *n, size_t from,
                        size_t to, size_t draw)
{
    double more = log(n[to] / n[from]);
    double ratio =
        hm__fit_seconds(fit, x, PLACES, to, draw) / hm__fit_seconds(fit, x, PLACES, from, draw);

    return (log(ratio) + (fit->weak ? 0 : more)) * log(2) / more;
}

/*
 * Returns the typical change of the loss of efficiency beyond the runs; 0 if no change is expected.
 */
static double usual_turn(const struct hm_fit *fit)
{
    const struct hm__fit *f = fit->inside;

    return fit->weak || f->weak_runs ? f->rule.weak_turn : f->rule.strong_turn;
}

/*
 * Returns the growth of the loss of efficiency, in the last quarter of the runs' range, on which
 * most draws agree. It is 0 if the loss does not grow or the draws differ. `growths` is a buffer
 * for one number per draw.
 */
static double agreed_growth(const struct hm_fit *fit, const double *x, const double *n,
                            double *growths)
{
    const struct hm__fit *f = fit->inside;

    for (size_t d = 0; d < f->draw_count; d++) {
        double growth =
            draw_loss(fit, x, n, MIDDLE, LAST, d) - draw_loss(fit, x, n, EARLY, MIDDLE, d);
        growths[d] = isfinite(growth) ? growth : 0;
    }
    return fmax(0, hm__quantile(growths, f->draw_count, DOUBT));
}

/* Sets the weight of each draw, and returns their sum. */
static double draws_weigh(const struct hm_fit *fit, const double *x, const double *n,
                          double *weights)
{
    const struct hm__fit *f = fit->inside;
    double usual = usual_turn(fit) + SHRINK_GROWTH * agreed_growth(fit, x, n, weights);
    double sum = 0;

    for (size_t d = 0; d < f->draw_count; d++) {
        double inside = draw_loss(fit, x, n, EARLY, LAST, d);
        double beyond = draw_loss(fit, x, n, LAST, FAR, d);
        double z = (beyond - inside) / (usual + f->rule.turn_share * fabs(inside));
        double weight = pow(1 + z * z / FREE, -(FREE + 1) / 2.0);
        /* The loss of a draw is not defined if one of its times is 0; such a draw has weight 0. */
        weights[d] = isfinite(weight) ? weight : 0;
        sum += weights[d];
    }
    return sum;
}

/*
 * Resamples the draws in proportion to their weights; their number stays the same. The weights are
 * placed one after another on a line, and evenly spaced points with a common random offset select
 * the draws.
 */
static void draws_select(struct hm__fit *f, const struct hm_draw *before, const double *weights,
                         double sum, double offset)
{
    const double step = sum / (double)f->draw_count;
    double end = 0;
    size_t kept = 0;

    for (size_t d = 0; d < f->draw_count; d++) {
        end += weights[d];
        while (kept < f->draw_count && (offset + (double)kept) * step < end)
            f->draws[kept++] = before[d];
    }
    f->draw_count = kept;
}

int hm__fit_shrink(struct hm_fit *fit, struct hm_random *random, struct hm_err *err)
{
    struct hm__fit *f = fit->inside;
    const double early = fmax(fit->n_min, fit->n_max / RECENT), last = fit->n_max;
    const double n[PLACES] = {early, sqrt(early * last), last, BEYOND * last};
    struct hm_err unknown = {0};
    double *x = NULL;

    if (!(usual_turn(fit) > 0) || !(fit->n_max >= 2 * fit->n_min) || f->draw_count == 0)
        return 0;
    int rc = hm__fit_terms(fit, NULL, n, PLACES, &x, &unknown);
    if (rc)
        return rc == HM_E_NOMEM ? hm__fail_nomem(err) : 0;
    struct hm_draw *before = hm__calloc(f->draw_count, sizeof(*before));
    if (before) {
        memcpy(before, f->draws, f->draw_count * sizeof(*before));
        /* The array for the noise of further runs is not in use yet, so it can hold the weights. */
        double sum = draws_weigh(fit, x, n, f->luck);
        if (sum > 0)
            draws_select(f, before, f->luck, sum, hm__random_uniform(random));
    }
    hm__free(x);
    hm__free(before);
    return before ? 0 : hm__fail_nomem(err);
}
