/*
 * Compiles the terms of a fit, which are formulas over the columns of the runs. Columns are plain
 * numbers in SI units; the coefficient of a term has the unit that converts the term to seconds.
 * Limits: at most HM_TERMS_MAX terms and HM_QUANTITIES_MAX columns, and a term must be finite and
 * not negative at every run.
 */
#include "basis.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "err.h"
#include "text.h"

/* Returns whether a column is a measured result, which must not be used in a term that explains
 * results. */
static bool is_outcome(const char *name)
{
    static const char *const outcomes[] = {"seconds",
                                           "total",
                                           "startup",
                                           "speedup",
                                           "loss",
                                           "iterations_per_s",
                                           "samples_per_s",
                                           "samples_per_s_per_worker",
                                           "tokens_per_s",
                                           "tokens_per_s_per_worker",
                                           "seconds_per_sample",
                                           "seconds_per_token",
                                           "seconds_per_epoch"};

    for (size_t i = 0; i < sizeof(outcomes) / sizeof(outcomes[0]); i++)
        if (strcmp(name, outcomes[i]) == 0)
            return true;
    return false;
}

int hm__basis_quantities(struct hm_basis *basis, struct hm_arena *arena, const struct hm_runs *runs,
                         struct hm_err *err)
{
    basis->quantities[0] = "n";
    basis->quantity_count = 1;
    for (size_t i = 0; i < runs->column_count; i++) {
        const struct hm_column *c = &runs->columns[i];
        if (!c->values || strcmp(c->name, "n") == 0 || is_outcome(c->name) ||
            !hm__formula_is_name(c->name) || basis->quantity_count == HM_QUANTITIES_MAX)
            continue;
        const char *name = hm__arena_strdup(arena, c->name);
        if (!name)
            return hm__fail_nomem(err);
        basis->quantities[basis->quantity_count++] = name;
    }
    return 0;
}

int hm__basis_find(const struct hm_basis *basis, const char *name)
{
    for (size_t i = 0; i < basis->quantity_count; i++)
        if (strcmp(basis->quantities[i], name) == 0)
            return (int)i;
    return -1;
}

static void free_formula(void *formula)
{
    hm__formula_free(formula);
}

/* Writes the names that a term may use into the hint for an unknown name. */
static void list_quantities(const struct hm_basis *basis, struct hm_err *err)
{
    size_t used = (size_t)snprintf(err->hint, sizeof(err->hint), "the columns are");

    for (size_t i = 0; i < basis->quantity_count && used < sizeof(err->hint); i++)
        used += (size_t)snprintf(err->hint + used, sizeof(err->hint) - used, "%s %s", i ? "," : "",
                                 basis->quantities[i]);
}

static int basis_add_term(struct hm_basis *basis, struct hm_arena *arena, const char *text,
                          enum hm_role role, struct hm_err *err)
{
    struct hm_symbol symbols[HM_QUANTITIES_MAX] = {0};
    struct hm_scope scope = {.source = "terms",
                             .symbols = symbols,
                             .symbol_count = basis->quantity_count,
                             .columns = true};
    struct hm_formula *formula;

    if (basis->count == HM_TERMS_MAX)
        return hm__fail(err, HM_E_LIMIT, "more than %d terms", HM_TERMS_MAX);
    for (size_t i = 0; i < basis->quantity_count; i++)
        symbols[i].name = basis->quantities[i];
    int rc = hm__formula_new(text, &scope, HM_DIM_NONE, &formula, err);
    if (rc) {
        hm__err_field(err, text);
        /* The default hint recommends a `where:` section, but terms have no such section. */
        if (err && strncmp(err->message, "unknown name", 12) == 0)
            list_quantities(basis, err);
        return rc;
    }
    basis->texts[basis->count] = hm__arena_strdup(arena, text);
    basis->formulas[basis->count] = formula;
    basis->roles[basis->count] = role;
    if (hm__arena_own(arena, formula, free_formula)) {
        hm__formula_free(formula);
        return hm__fail_nomem(err);
    }
    return basis->texts[basis->count++] ? 0 : hm__fail_nomem(err);
}

int hm__basis_compile(struct hm_basis *basis, struct hm_arena *arena, const char *const *terms,
                      size_t count, struct hm_err *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < count; i++) {
        for (size_t k = 0; k < i; k++)
            if (strcmp(terms[i], terms[k]) == 0)
                return hm__fail(err, HM_E_CONFLICT, "the term %s appears twice", terms[i]);
        rc = basis_add_term(basis, arena, terms[i], HM_ROLE_OVERHEAD, err);
    }
    return rc;
}

struct library_entry {
    /*
     * Formula of the term, and name of the quantity that the runs must have (NULL if there is
     * none). If the name begins with ~, the quantity must also vary over the runs.
     */
    const char *text, *needs;
    enum hm_role role;
    /*
     * The term divided by n, for fits of the time of a fixed amount of work; NULL if such fits do
     * not use the term.
     */
    const char *over_n;
};

/*
 * The library of terms. Work is divided among n workers; if the runs have neither a size nor a
 * batch, the work is one unit.
 */
static const struct library_entry term_library[] = {
    {"size/n", "size", HM_ROLE_WORK, NULL},
    {"batch/n", "batch", HM_ROLE_WORK, NULL},
    {"1/n", NULL, HM_ROLE_WORK, "1/n^2"},
    {"1", NULL, HM_ROLE_WORK, "1/n"},
    {"ln(n)", NULL, HM_ROLE_OVERHEAD, "ln(n)/n"},
    {"size", "~size", HM_ROLE_OVERHEAD, NULL},
    {"batch", "~batch", HM_ROLE_OVERHEAD, NULL},
    {"latency", "~latency", HM_ROLE_OVERHEAD, "latency/n"},
    {"latency*ln(n)", "~latency", HM_ROLE_OVERHEAD, "latency*ln(n)/n"},
    {"1/bandwidth", "~bandwidth", HM_ROLE_OVERHEAD, "1/bandwidth/n"},
    {"ln(n)/bandwidth", "~bandwidth", HM_ROLE_OVERHEAD, "ln(n)/bandwidth/n"},
    {"ln(nodes)", "~nodes", HM_ROLE_OVERHEAD, "ln(nodes)/n"},
    {"sqrt(n)", NULL, HM_ROLE_STEEP, "1/sqrt(n)"},
    {"n", NULL, HM_ROLE_STEEP, "1"},
    {"n*ln(n)", NULL, HM_ROLE_STEEP, "ln(n)"},
    {"latency*n", "~latency", HM_ROLE_STEEP, "latency"},
};

int hm__basis_library(struct hm_basis *basis, struct hm_arena *arena, const bool *varies,
                      enum hm_scaled_terms scaled, struct hm_err *err)
{
    bool measured = hm__basis_find(basis, "size") >= 0 || hm__basis_find(basis, "batch") >= 0;
    bool weak = scaled == HM_TERMS_WEAK || scaled == HM_TERMS_WEAK_OF_WORK;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < sizeof(term_library) / sizeof(term_library[0]); i++) {
        const struct library_entry *e = &term_library[i];
        bool must_vary = e->needs && *e->needs == '~';
        int index = e->needs ? hm__basis_find(basis, e->needs + must_vary) : 0;
        if (index < 0 || (must_vary && !varies[index]))
            continue;
        /* With weak scaling, the work of each worker is constant, and the constant term describes
         * it instead of 1/n. */
        if ((measured || weak) && strcmp(e->text, "1/n") == 0)
            continue;
        if (weak && e->needs && (strstr(e->needs, "size") || strstr(e->needs, "batch")))
            continue;
        const char *text = scaled == HM_TERMS_WEAK_OF_WORK ? e->over_n : e->text;
        if (text)
            rc = basis_add_term(basis, arena, text, e->role, err);
        /*
         * If iterations scale weakly, a term ln(n) of an iteration becomes ln(n)/n for an epoch or
         * a sample.
         */
        if (rc == 0 && scaled == HM_TERMS_OF_WORK && strcmp(e->text, "ln(n)") == 0)
            rc = basis_add_term(basis, arena, "ln(n)/n", HM_ROLE_OVERHEAD, err);
    }
    return rc;
}

bool hm__basis_needs(const struct hm_basis *basis, const bool *in, size_t quantity)
{
    for (size_t k = 0; k < basis->count && !basis->sheet; k++)
        if ((!in || in[k]) && hm__formula_uses(basis->formulas[k], quantity))
            return true;
    return false;
}

int hm__basis_eval(const struct hm_basis *basis, const double *const *columns, size_t count,
                   double *x, struct hm_err *err)
{
    if (basis->sheet)
        return hm__sheet_eval(basis, columns, count, x, err);
    for (size_t i = 0; i < count; i++)
        x[hm__basis_log_row(basis) * count + i] = log(columns[0][i]);
    for (size_t k = 0; k < basis->count; k++) {
        int rc = hm__formula_eval_columns(basis->formulas[k], columns, count, x + k * count, err);
        if (rc)
            return rc;
        for (size_t i = 0; i < count; i++) {
            double value = x[k * count + i];
            char text[HM_DIGITS];
            if (isfinite(value) && value >= 0)
                continue;
            hm__fail(err, HM_E_FORMULA, "the term %s is %s at n = %g", basis->texts[k],
                     hm__number_words(value, text), columns[0][i]);
            hm__err_hint(
                err,
                "a term must be finite and not negative, because its coefficient is not negative");
            if (err)
                err->line = (int)i + 1;
            return HM_E_FORMULA;
        }
    }
    return 0;
}
