/* Computes how sensitive the time of an iteration is to the quantities of a job's formulas. */
#include "model.h"
#include "model_state.h"

/*
 * Adds the derivative of a formula with respect to a quantity of the job. Components without a
 * formula do not depend on these quantities and add nothing.
 */
static int add_slope(const struct hm_model *m, const struct hm_formula *f, double times, double n,
                     const char *quantity, double *slope, struct hm_err *err)
{
    double value, derivative;
    int rc = f ? hm__formula_derive(f, m->symbols, n, quantity, true, &value, &derivative, err) : 0;

    if (rc == 0 && f)
        *slope += times * derivative;
    return rc;
}

int hm__model_elasticity(const struct hm_model *m, double n, const char *quantity,
                         double *ret_elasticity, struct hm_err *err)
{
    struct hm_point p = {.n = n};
    double slope = 0;
    int rc = hm__model_eval(m, &p, 1, err);

    double slower = p.compute_s > p.wait_s ? p.compute_s / (p.compute_s - p.wait_s) : 1;
    if (rc == 0)
        rc = add_slope(m, m->job->compute, m->compute_work * slower, n, quantity, &slope, err);
    if (rc == 0 && m->job->per_edge)
        rc = add_slope(m, m->job->per_edge,
                       m->variant.parts[(size_t)n - 1].edges_max / m->flops * m->variant.work, n,
                       quantity, &slope, err);
    for (size_t i = 0; rc == 0 && i < m->step_count; i++)
        rc = add_slope(m, m->steps[i].time, m->steps[i].times, n, quantity, &slope, err);
    if (rc == 0)
        *ret_elasticity = p.time_s > 0 ? slope / p.time_s : 0;
    return rc;
}
