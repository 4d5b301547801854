/*
 * Formulas: text over n and named quantities, compiled once, evaluated over a vector of n.
 * The language is described in docs/formulas.md. It has no loops, so that it always halts.
 */
#ifndef HM_FORMULA_H
#define HM_FORMULA_H

#include "howmany.h"
#include "unit.h"

/* A quantity the caller supplies at evaluation; the first symbol of every scope is n itself. */
struct hm_symbol {
    const char *name;
    struct hm_dim dim;
};

/* A named formula of the user's, an entry of `where:`. */
struct hm_definition {
    const char *name, *text;
    int line;
};

enum { HM_DEFINITIONS_MAX = 256 };

/* What names mean inside a formula. Borrowed during hm__formula_new only. */
struct hm_scope {
    const char *source; /* for messages; may be NULL */
    const struct hm_symbol *symbols;
    size_t symbol_count;
    const struct hm_definition *definitions; /* these hide symbols of the same name */
    size_t definition_count;
    bool columns; /* every symbol varies, not n alone: for hm__formula_eval_columns */
};

/*
 * Compile. The result must have the wanted dimension; a plain number is taken as SI of it.
 * Errors name the column; those inside a definition name the field where.NAME and its line.
 */
int hm__formula_new(const char *text, const struct hm_scope *scope, struct hm_dim wanted,
                    struct hm_formula **ret_formula, struct hm_err *err);
void hm__formula_free(struct hm_formula *formula);
/* Whether the formula was compiled by hm__formula_new for these symbols, of which only n varies. */
bool hm__formula_is_over(const struct hm_formula *formula, const struct hm_symbol *symbols,
                         size_t count);
/* Compile every definition of a scope, used or not. */
int hm__scope_check(const struct hm_scope *scope, struct hm_err *err);
/* Whether a text can be the name of a quantity. */
bool hm__formula_is_name(const char *text);

/* Whether the symbol at that index of the scope takes part. */
bool hm__formula_uses(const struct hm_formula *formula, size_t symbol);

/* Constant quantities of `where:` that take part; names are borrowed. */
size_t hm__formula_quantity_count(const struct hm_formula *formula);
const char *hm__formula_quantity_name(const struct hm_formula *formula, size_t quantity);

/* A quantity multiplied by a factor, to ask "what if"; name NULL: nothing is changed. */
struct hm_scaled {
    const char *name;
    double factor;
};

/*
 * values[i] = formula at n[i]; symbols[k] is the value of symbol k of the scope, symbols[0] is
 * not read. Values may be infinite or NaN: that is for the caller to judge.
 */
int hm__formula_eval(const struct hm_formula *formula, const double *symbols,
                     const struct hm_scaled *scaled, const double *n, size_t count, double *values,
                     struct hm_err *err);

/* As above for a formula of a scope with columns: columns[k][i] is symbol k at the i-th place. */
int hm__formula_eval_columns(const struct hm_formula *formula, const double *const *columns,
                             size_t count, double *values, struct hm_err *err);

/*
 * Value and derivative at one n, by forward differentiation, with respect to the quantity or symbol
 * of that name ("n" too), or to a relative change of it (q * df/dq). Steps (ceil, floor,
 * comparisons) count as flat; min, max, abs take the side they are on.
 */
int hm__formula_derive(const struct hm_formula *formula, const double *symbols, double n,
                       const char *name, bool relative, double *ret_value, double *ret_derivative,
                       struct hm_err *err);

#endif
