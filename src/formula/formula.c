/*
 * Implements the public functions for formulas: they compile a formula over named variables, and
 * evaluate it for one set of values at a time.
 */
#include "formula.h"

#include <stdio.h>
#include <string.h>

#include "err.h"
#include "memory.h"
#include "program.h"

enum { NAMES_MOST = 256 };

static int check_names(const char *const *names, size_t count, struct hm_err *err)
{
    if (count > NAMES_MOST)
        return hm__fail(err, HM_E_LIMIT, "%zu variables; at most %d are possible", count,
                        NAMES_MOST);
    for (size_t i = 0; i < count; i++) {
        if (!names || !names[i])
            return hm__fail(err, HM_E_MISSING, "the name of variable %zu is NULL", i);
        if (!hm__formula_is_name(names[i])) {
            hm__fail(err, HM_E_NAME, "'%.60s' cannot be a name", names[i]);
            hm__err_hint(err, "write letters, digits and _, beginning with a letter");
            return HM_E_NAME;
        }
        for (size_t k = 0; k < i; k++)
            if (strcmp(names[i], names[k]) == 0)
                return hm__fail(err, HM_E_CONFLICT, "the variable '%.60s' appears twice", names[i]);
    }
    return 0;
}

/*
 * Reads the dimension of a unit such as "s" or "byte/s". A unit whose conversion factor to SI units
 * is not 1, such as "ms", is an error, because results are in SI units.
 */
static int read_unit(const char *unit, struct hm_dim *ret_dim, struct hm_err *err)
{
    struct hm_err ignored = {0};
    double value = 0;
    char text[64];
    bool has_unit = false;

    *ret_dim = HM_DIM_NONE;
    if (!unit || !*unit)
        return 0;
    int length = snprintf(text, sizeof(text), "1 %s", unit);
    if (length < (int)sizeof(text) &&
        hm__quantity_read(text, &value, ret_dim, &has_unit, &ignored) == 0 && value == 1)
        return 0;
    hm__fail(err, HM_E_UNIT, "'%.40s' is not a unit of a result", unit);
    hm__err_hint(err, "write s, byte, flop, byte/s or flop/s");
    hm__err_field(err, "unit");
    return HM_E_UNIT;
}

int hm_formula_new(const char *text, const char *unit, const char *const *names, size_t name_count,
                   struct hm_formula **ret_formula, struct hm_err *err)
{
    struct hm_symbol *symbols = NULL;
    struct hm_dim dim;

    if (!text || !ret_formula)
        return hm__fail(err, HM_E_MISSING, "'%s' is NULL", text ? "ret_formula" : "text");
    int rc = check_names(names, name_count, err);
    if (rc == 0)
        rc = read_unit(unit, &dim, err);
    if (rc == 0 && !(symbols = hm__calloc(name_count, sizeof(*symbols))))
        rc = hm__fail_nomem(err);
    for (size_t i = 0; rc == 0 && i < name_count; i++)
        symbols[i] = (struct hm_symbol){names[i], HM_DIM_NONE};
    const struct hm_scope scope = {.symbols = symbols, .symbol_count = name_count, .columns = true};
    if (rc == 0)
        rc = hm__formula_new(text, &scope, dim, ret_formula, err);
    hm__free(symbols);
    return rc;
}

int hm_formula_eval(const struct hm_formula *f, const double *values, size_t value_count,
                    double *ret_value, struct hm_err *err)
{
    const double *columns[NAMES_MOST];

    if (!f || !ret_value)
        return hm__fail(err, HM_E_MISSING, "'%s' is NULL", f ? "ret_value" : "formula");
    if (!f->columns)
        return hm__fail(err, HM_E_FORMULA, "a formula of a job cannot be evaluated alone");
    if (value_count != f->symbol_count)
        return hm__fail(err, HM_E_RANGE, "%zu values for a formula of %zu variables", value_count,
                        f->symbol_count);
    if (!values && value_count > 0)
        return hm__fail(err, HM_E_MISSING, "'values' is NULL");
    for (size_t i = 0; i < value_count; i++)
        columns[i] = &values[i];
    return hm__formula_eval_columns(f, columns, 1, ret_value, err);
}

void hm_formula_free(struct hm_formula *formula)
{
    hm__formula_free(formula);
}
