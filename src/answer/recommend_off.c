/*
 * Computes the errors of a fit for configurations that were excluded from it. Each configuration is
 * left out in turn and predicted from the others, with the terms and weights of the fit to all
 * configurations. The error of a configuration is |mean - predicted| / predicted. Limit: at most
 * FOLDS fits are computed; if there are more configurations, they are left out in groups.
 */
#include "recommend_off.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "budget.h"
#include "err.h"
#include "order.h"

enum { FOLDS = 64 };

static void off_add_configuration(const struct hm__fit *f, size_t g, struct hm_lsq *lsq)
{
    const struct hm_group *group = &f->data.groups[g];
    double row[HM_LSQ_SIDE] = {0}, weight = f->scale[g] * sqrt(group->count);

    for (size_t k = 0; k < f->basis.count; k++)
        row[k] = f->in[k] ? f->x[k * f->data.group_count + g] * weight : 0;
    row[f->basis.count] = group->mean_s * weight;
    hm__lsq_add(lsq, row);
}

/*
 * Predicts the configurations with indices first, first + folds, first + 2 folds, … from a fit to
 * all others.
 */
static void off_leave_out(const struct hm__fit *f, size_t first, size_t folds, double *errors)
{
    const size_t groups = f->data.group_count;
    double theta[HM_TERMS_MAX];
    struct hm_lsq lsq;

    hm__lsq_init(&lsq, f->basis.count);
    for (size_t g = 0; g < groups; g++)
        if (g % folds != first)
            off_add_configuration(f, g, &lsq);
    hm__lsq_nonnegative(&lsq, theta);
    for (size_t g = first; g < groups; g += folds) {
        double mean = f->data.groups[g].mean_s, predicted = 0;
        for (size_t k = 0; k < f->basis.count; k++)
            predicted += f->in[k] ? theta[k] * f->x[k * groups + g] : 0;
        errors[g] = fabs(mean - predicted) / fmax(predicted, 0.01 * mean);
    }
}

int hm__off_find(const struct hm_fit *fit, double level, struct hm_off *off, struct hm_err *err)
{
    const struct hm__fit *f = fit->inside;
    size_t groups = f->data.group_count, folds = groups < FOLDS ? groups : FOLDS;
    double *sorted = hm__calloc(groups, sizeof(*sorted));

    off->errors = hm__calloc(groups, sizeof(*off->errors));
    off->count = groups;
    if (!off->errors || !sorted) {
        hm__free(sorted);
        return hm__fail_nomem(err);
    }
    for (size_t first = 0; first < folds && !hm__budget_spent("runs"); first++)
        off_leave_out(f, first, folds, off->errors);
    memcpy(sorted, off->errors, groups * sizeof(*sorted));
    qsort(sorted, groups, sizeof(*sorted), hm__compare_numbers);
    /* Position of the quantile in the sorted errors, counted from 1. */
    size_t rank = (size_t)ceil(level * (double)(groups + 1));
    off->reach = sorted[rank < groups ? rank - 1 : groups - 1];
    for (size_t g = 0; g < groups; g++)
        off->usual += sorted[g] * sorted[g] / (double)groups;
    off->usual = sqrt(off->usual);
    hm__free(sorted);
    return 0;
}

double hm__off_at(const struct hm_fit *fit, const struct hm_off *off, double n, double *ret_count)
{
    const double *workers = fit->inside->data.places[0];
    double sum = 0;

    *ret_count = 0;
    for (size_t g = 0; g < off->count; g++) {
        if (!isnan(n) && workers[g] != n)
            continue;
        sum += off->errors[g] * off->errors[g];
        ++*ret_count;
    }
    return *ret_count > 0 ? sum : INFINITY;
}
