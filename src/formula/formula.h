/*
 * Compiles formulas over n and named quantities once, and evaluates them for many values of n at a
 * time. The language is described in docs/reference/formulas.md. It has no loops, so every
 * evaluation ends.
 */
#ifndef HM_FORMULA_H
#define HM_FORMULA_H

#include "howmany.h"
#include "unit.h"

/*
 * A named variable of formulas, whose value the caller passes to each evaluation. The first symbol
 * of a scope is n.
 */
struct hm_symbol {
    const char *name;
    struct hm_dim dim;
};

/* A formula that has a name: an entry of the section `where:` of a job. */
struct hm_definition {
    const char *name, *text;
    int line;
};

/* Limits on the definitions of a scope, and on the operations and names in all formulas of a job.
 */
enum { HM_DEFINITIONS_MAX = 256, HM_OPERATIONS_MAX = 1000000 };

/*
 * The names that a formula may use. hm__formula_new keeps no pointer to the scope after it returns.
 */
struct hm_scope {
    const char *source; /* Name of the file for error messages; may be NULL. */
    const struct hm_symbol *symbols;
    size_t symbol_count;
    /* Definitions from `where:`; a definition hides a symbol with the same name. */
    const struct hm_definition *definitions;
    size_t definition_count;
    /*
     * Number of operations and names that all formulas of this scope together may still have;
     * hm__formula_new subtracts those of the new formula. NULL for no limit.
     */
    size_t *left;
    /*
     * True if every symbol may have a different value at each point of an evaluation, as
     * hm__formula_eval_columns needs; false if only n varies.
     */
    bool columns;
};

/*
 * Compiles a formula. The result must have the dimension `wanted`; a plain number is read as a
 * value in SI units. Errors name the position in the text; errors in a definition name the field
 * where.NAME and its line.
 */
int hm__formula_new(const char *text, const struct hm_scope *scope, struct hm_dim wanted,
                    struct hm_formula **ret_formula, struct hm_err *err);
void hm__formula_free(struct hm_formula *formula);
/*
 * Returns whether hm__formula_new compiled the formula for exactly these symbols, and n is the only
 * symbol that may vary within an evaluation.
 */
bool hm__formula_is_over(const struct hm_formula *formula, const struct hm_symbol *symbols,
                         size_t count);
/*
 * Compiles every definition in a scope, including definitions that no formula uses, so that errors
 * in them are found.
 */
int hm__scope_check(const struct hm_scope *scope, struct hm_err *err);
/* Returns whether a string can be the name of a quantity. */
bool hm__formula_is_name(const char *text);

/* Returns whether the formula uses the symbol at this index of the scope. */
bool hm__formula_uses(const struct hm_formula *formula, size_t symbol);

/*
 * Returns the number and the names of the definitions that the formula uses and that do not depend
 * on n. The names are borrowed.
 */
size_t hm__formula_quantity_count(const struct hm_formula *formula);
const char *hm__formula_quantity_name(const struct hm_formula *formula, size_t quantity);

/*
 * Factor by which an evaluation multiplies the value of the definition `name`; if `name` is NULL,
 * no definition is changed.
 */
struct hm_scaled {
    const char *name;
    double factor;
};

/*
 * Evaluates the formula at each n[i] and stores the result in values[i]. symbols[k] is the value of
 * symbol k of the scope; symbols[0] is not used. Results may be infinite or NaN; the caller must
 * check them.
 */
int hm__formula_eval(const struct hm_formula *formula, const double *symbols,
                     const struct hm_scaled *scaled, const double *n, size_t count, double *values,
                     struct hm_err *err);

/*
 * Same as hm__formula_eval, but for a scope whose member `columns` is true: columns[k][i] is the
 * value of symbol k in evaluation i.
 */
int hm__formula_eval_columns(const struct hm_formula *formula, const double *const *columns,
                             size_t count, double *values, struct hm_err *err);

/*
 * Computes the value at one n and its derivative by forward differentiation. The derivative is with
 * respect to the definition or symbol q called `name` or, if `relative` is true, with respect to
 * its relative change (q * df/dq). Step functions (ceil, floor, comparisons) have derivative 0;
 * min, max and abs have the derivative of the operand that they return.
 */
int hm__formula_derive(const struct hm_formula *formula, const double *symbols, double n,
                       const char *name, bool relative, double *ret_value, double *ret_derivative,
                       struct hm_err *err);

#endif
