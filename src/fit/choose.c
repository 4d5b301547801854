/*
 * Chooses the terms of a fit: compares all small sets of library terms by their leave-one-out
 * error.
 *
 * Terms differ in how fast they grow, and runs on few workers can rarely distinguish them: for n =
 * 1..8 workers, sqrt(n), n and n ln n look alike, but they differ widely at 64. If two sets have
 * similar leave-one-out errors, the one that grows more slowly is correct more often
 * (docs/explain/accuracy.md has the figures for 75 published curves). Therefore, a set with a steep
 * term, which grows faster than ln n, is chosen only if it halves the error; with few
 * configurations, the error of the other sets must also be so large that they are useless.
 *
 * Each set needs a term for the work itself, because no job takes zero time on one worker. A set
 * whose residual is much larger than the spread of repeats is dropped if another set remains.
 *
 * Sets that were not chosen still contribute to the intervals. Their weight decreases with their
 * error, as if there were few runs, and is smaller for sets with a steep term (struct hm_fit_rule).
 * If every run counted, one set could receive all the weight by chance.
 */
#include "choose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "budget.h"
#include "err.h"
#include "student.h"

static const double STEEP_MUST_HALVE = 2;
/* A set of terms whose relative error is at least this value is useless. */
static const double HOPELESS = 0.15;

/*
 * The default rule for the choice of terms, chosen on all sources of published curves together
 * (docs/explain/accuracy.md). A steep term, which grows faster than ln n, needs several
 * configurations, because many different curves fit a few points. The weight of a set of terms is
 * computed as if there were few runs, because errors along one curve are correlated. The drift is
 * the error that no set of terms describes.
 */
struct hm_fit_rule hm_fit_rule_default(void)
{
    return (struct hm_fit_rule){.steep_needs = 4,
                                .steep_weight = 0.5,
                                .counted_runs = 3,
                                .drift = 0.04,
                                .drift_power = 1,
                                .crossing = 0.2,
                                .noise = 0.03,
                                .noise_weight = 2,
                                .weak_turn = 0.06,
                                .strong_turn = 0.06,
                                .turn_share = 0.15};
}

/* Relative errors below this value do not distinguish sets of terms. */
static const double LEAST_ERROR = 0.01;

/* Returns the largest number of terms that the given number of configurations can determine. */
static size_t choice_most_terms(size_t configurations, struct hm_repeats repeats)
{
    size_t most = configurations / 2 + 1;

    /* With repeats, the noise is known even if there are as many terms as configurations. */
    if (most > configurations - 1 && repeats.free < 3)
        most = configurations - 1;
    return most > HM_CHOSEN_MAX ? HM_CHOSEN_MAX : most;
}

/*
 * Computes left[i], the sum of all folds except the i-th, from the sums of the folds before and
 * after fold i.
 */
static int folds_leave_out(const struct hm_lsq *folds, size_t count, struct hm_lsq **ret_left,
                           struct hm_err *err)
{
    struct hm_lsq *left = hm__calloc(count, sizeof(*left)), sum;

    if (!left)
        return hm__fail_nomem(err);
    hm__lsq_init(&sum, folds[0].count);
    for (size_t i = 0; i < count; i++) {
        left[i] = sum;
        hm__lsq_merge(&sum, &folds[i]);
    }
    hm__lsq_init(&sum, folds[0].count);
    for (size_t i = count; i-- > 0;) {
        hm__lsq_merge(&left[i], &sum);
        hm__lsq_merge(&sum, &folds[i]);
    }
    *ret_left = left;
    return 0;
}

/* Determines the set of terms that a bit mask selects; returns false if this set must not be
 * considered. */
static bool choice_init(const struct hm_basis *basis, unsigned set, size_t most,
                        struct hm_choice *choice)
{
    bool work = false;

    *choice = (struct hm_choice){.count = 0};
    for (size_t k = 0; k < basis->count; k++) {
        if (!(set & 1u << k))
            continue;
        if (choice->count == most)
            return false;
        choice->terms[choice->count++] = k;
        work = work || basis->roles[k] == HM_ROLE_WORK;
        choice->steep = choice->steep || basis->roles[k] == HM_ROLE_STEEP;
    }
    /*
     * A set that contains only a steep term is allowed: the whole time is then overhead caused by
     * additional workers.
     */
    return work || (choice->count == 1 && choice->steep);
}

/* Properties of the runs that decide which sets of terms are considered. */
struct runs_summary {
    double rows, configurations;
    double unit; /* Mean square of the weighted times; 1 with relative errors. */
    struct hm_repeats repeats;
    const struct hm_fit_rule *rule;
};

/*
 * The residual of a set is too large if it is significant at the 0.1 % level, compared with the
 * spread of repeats, and if it exceeds 2 % of the time.
 */
static const double MISS_CHANCE = 1e-3, MISS_LEAST = 0.02;

static bool residual_misses(double residual, size_t terms, const struct runs_summary *w)
{
    double free = w->configurations - (double)terms, miss = residual - w->repeats.sum;

    if (w->repeats.free < 3 || w->repeats.sum <= 0 || free < 1 || miss <= 0)
        return false;
    double ratio = (miss / free) / (w->repeats.sum / w->repeats.free);
    /* Mean square of the misfit of one run, independent of the number of repeats. */
    double one = miss / free * w->configurations / w->rows;
    return one > MISS_LEAST * MISS_LEAST * w->unit &&
           hm__fisher_tail(free, w->repeats.free, ratio) < MISS_CHANCE;
}

/* Returns whether all coefficients of a set are above 0; if one is 0, the set equals a smaller
 * set. */
static bool choice_all_contribute(const struct hm_lsq *all, struct hm_choice *choice,
                                  const struct runs_summary *w)
{
    struct hm_lsq some;
    double theta[HM_TERMS_MAX];

    hm__lsq_pick(all, choice->terms, choice->count, &some);
    hm__lsq_nonnegative(&some, theta);
    for (size_t k = 0; k < choice->count; k++)
        if (theta[k] <= 0)
            return false;
    choice->misses = residual_misses(hm__lsq_residual(&some, theta), choice->count, w);
    return true;
}

/*
 * Drops the sets whose residual is too large. Keeps them if all sets have such a residual, or if
 * only sets with a steep term would remain and there are too few configurations for a steep term.
 * Returns the number of remaining sets.
 */
static size_t choices_drop_misses(struct hm_choice *choices, size_t count,
                                  const struct runs_summary *w)
{
    size_t kept = 0, gentle = 0;

    for (size_t i = 0; i < count; i++)
        gentle += !choices[i].misses && !choices[i].steep;
    if (gentle == 0 && w->configurations < w->rule->steep_needs)
        return count;
    for (size_t i = 0; i < count; i++)
        if (!choices[i].misses)
            choices[kept++] = choices[i];
    return kept > 0 ? kept : count;
}

static double choice_left_out_error(const struct hm_lsq *folds, const struct hm_lsq *left,
                                    size_t count, const struct hm_choice *choice)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++) {
        struct hm_lsq some, fold;
        double theta[HM_TERMS_MAX];
        hm__lsq_pick(&left[i], choice->terms, choice->count, &some);
        hm__lsq_nonnegative(&some, theta);
        hm__lsq_pick(&folds[i], choice->terms, choice->count, &fold);
        sum += hm__lsq_residual(&fold, theta);
    }
    return sum;
}

static int compare_choices(const void *a, const void *b)
{
    const struct hm_choice *x = a, *y = b;

    if (x->error != y->error)
        return x->error < y->error ? -1 : 1;
    return x->count < y->count ? -1 : x->count > y->count;
}

static size_t choices_pick_best(const struct hm_choice *choices, size_t count,
                                const struct runs_summary *w)
{
    size_t gentle = HM_NONE, steep = HM_NONE;

    for (size_t i = count; i-- > 0;)
        *(choices[i].steep ? &steep : &gentle) = i;
    if (gentle == HM_NONE || steep == HM_NONE)
        return gentle == HM_NONE ? steep : gentle;
    double factor = STEEP_MUST_HALVE * STEEP_MUST_HALVE;
    bool halves = choices[steep].error * factor < choices[gentle].error;
    bool hopeless = choices[gentle].error > HOPELESS * HOPELESS * w->unit;
    return halves && (w->configurations >= w->rule->steep_needs || hopeless) ? steep : gentle;
}

/* Weight of a set with a steep term if the runs show that it is needed. */
static const double STEEP_SHOWN = 1;

/* Returns the factor that multiplies the weight of a set with a steep term. It is the rule's
 * steep_weight if the best set without a steep term fits equally well, and increases to STEEP_SHOWN
 * if the mean square error of that set is at least 25 % larger. */
static double steep_factor(const struct hm_choice *choice, double gentle,
                           const struct runs_summary *w)
{
    const double least = LEAST_ERROR * LEAST_ERROR * w->unit;
    double better = (gentle + least) / (choice->error + least) - 1;

    if (!choice->steep)
        return 1;
    return w->rule->steep_weight +
           fmax(STEEP_SHOWN - w->rule->steep_weight, 0) * fmin(fmax(4 * better, 0), 1);
}

static void choices_set_weights(struct hm_choice *choices, size_t count,
                                const struct runs_summary *w)
{
    const double unit = w->unit, counted = fmin(w->rows, w->rule->counted_runs);
    double sum = 0, least = LEAST_ERROR * LEAST_ERROR, gentle = INFINITY;

    for (size_t i = 0; i < count; i++)
        gentle = choices[i].steep ? gentle : fmin(gentle, choices[i].error);
    for (size_t i = 0; i < count; i++) {
        double ratio = (choices[i].error / unit + least) / (choices[0].error / unit + least);
        /* Two infinite errors have the same weight. */
        ratio = isnan(ratio) ? 1 : ratio;
        choices[i].weight = pow(ratio, -counted / 2) * steep_factor(&choices[i], gentle, w);
        sum += choices[i].weight;
    }
    for (size_t i = 0; i < count; i++)
        choices[i].weight /= sum;
}

int hm__choose(const struct hm_basis *basis, const struct hm_fit_rule *rule,
               const struct hm_lsq *folds, size_t fold_count, double rows, double unit,
               size_t configurations, struct hm_repeats repeats, struct hm_choice *choices,
               size_t *ret_count, size_t *ret_best, struct hm_err *err)
{
    const struct runs_summary summary = {rows, (double)configurations, unit, repeats, rule};
    struct hm_lsq *left = NULL, all;
    size_t count = 0, most = choice_most_terms(configurations, repeats);
    int rc = folds_leave_out(folds, fold_count, &left, err);

    if (rc)
        return rc;
    all = left[0];
    hm__lsq_merge(&all, &folds[0]);
    for (unsigned set = 1; set < 1u << basis->count && count < HM_CHOICES_MAX; set++) {
        if (hm__budget_spent("terms"))
            break;
        struct hm_choice *choice = &choices[count];
        if (!choice_init(basis, set, most, choice) ||
            !choice_all_contribute(&all, choice, &summary))
            continue;
        choice->error = choice_left_out_error(folds, left, fold_count, choice) / rows;
        count++;
    }
    hm__free(left);
    if (count == 0)
        return hm__fail(err, HM_E_RANGE, "no set of terms describes these runs");
    count = choices_drop_misses(choices, count, &summary);
    qsort(choices, count, sizeof(*choices), compare_choices);
    choices_set_weights(choices, count, &summary);
    *ret_count = count;
    *ret_best = choices_pick_best(choices, count, &summary);
    return 0;
}
