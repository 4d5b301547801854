/*
 * Defines the terms in the iteration i and the number of workers m for the linear model of ln(P -
 * P*), where P is the loss and P* is the optimal loss.
 *
 * The library contains the terms that the theory of these algorithms suggests, and other terms that
 * allow deviations from the theory. A linear rate of convergence gives terms such as i/m^c, a power
 * of i gives ln i, and the effect of the first iteration depends on m alone. Limit: there are at
 * most HM_LASSO_MAX terms.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "converge.h"
#include "err.h"

static const char *const g_library[] = {
    "i",       "sqrt(i)",     "ln(i)",   "1/i",     "ln(i)^2",       "ln(m)",
    "ln(m)^2", "1/m",         "sqrt(m)", "i/m",     "i/sqrt(m)",     "sqrt(i/m)",
    "i*ln(m)", "ln(i)*ln(m)", "ln(i)/m", "ln(m)/i", "ln(i)/sqrt(m)", "sqrt(i)/m^0.25",
};

static void free_formula(void *formula)
{
    hm__formula_free(formula);
}

static int g_basis_add(struct hm_g_basis *basis, struct hm_arena *arena, const char *text,
                       bool m_varies, struct hm_err *err)
{
    static const struct hm_symbol symbols[] = {{.name = "i"}, {.name = "m"}};
    struct hm_scope scope = {
        .source = "terms", .symbols = symbols, .symbol_count = 2, .columns = true};
    struct hm_formula *formula;

    if (basis->count == HM_LASSO_MAX)
        return hm__fail(err, HM_E_LIMIT, "more than %d terms", HM_LASSO_MAX);
    int rc = hm__formula_new(text, &scope, HM_DIM_NONE, &formula, err);
    if (rc) {
        hm__err_field(err, text);
        /*
         * The default hint recommends the section `where:` of a job, but terms without a job have
         * no such section.
         */
        if (err && strncmp(err->message, "unknown name", 12) == 0)
            snprintf(err->hint, sizeof(err->hint),
                     "terms are formulas over i, the iteration, and m, the number of workers");
        return rc;
    }
    /*
     * If all traces have the same number of workers m, a term that contains m is a multiple of a
     * term without m, so it is excluded.
     */
    if (!m_varies && hm__formula_uses(formula, 1)) {
        hm__formula_free(formula);
        return 0;
    }
    if (hm__arena_own(arena, formula, free_formula)) {
        hm__formula_free(formula);
        return hm__fail_nomem(err);
    }
    basis->formulas[basis->count] = formula;
    basis->texts[basis->count] = hm__arena_strdup(arena, text);
    return basis->texts[basis->count++] ? 0 : hm__fail_nomem(err);
}

int hm__g_basis_init(struct hm_g_basis *basis, struct hm_arena *arena, const char *const *terms,
                     size_t count, bool m_varies, struct hm_err *err)
{
    bool own = count > 0;
    int rc = 0;

    memset(basis, 0, sizeof(*basis));
    if (!own)
        count = sizeof(g_library) / sizeof(g_library[0]);
    for (size_t k = 0; rc == 0 && k < count; k++)
        rc = g_basis_add(basis, arena, own ? terms[k] : g_library[k], own || m_varies, err);
    return rc;
}

int hm__g_basis_eval(const struct hm_g_basis *basis, const double *i, const double *m, size_t count,
                     double *x, struct hm_err *err)
{
    const double *columns[] = {i, m};

    for (size_t k = 0; k < basis->count; k++) {
        double *values = x + k * count;
        int rc = hm__formula_eval_columns(basis->formulas[k], columns, count, values, err);
        if (rc)
            return rc;
        for (size_t p = 0; p < count; p++)
            if (!isfinite(values[p]))
                return hm__fail(err, HM_E_FORMULA, "the term %s is %g at i = %g, m = %g",
                                basis->texts[k], isnan(values[p]) ? NAN : values[p], i[p], m[p]);
    }
    return 0;
}
