/*
 * Defines the terms of a fit and computes their values for a run. Terms are either formulas over
 * the columns of the runs, or the components of the time that the model predicts from a job's
 * specification sheet, plus overheads that the sheet does not contain.
 */
#ifndef HM_BASIS_H
#define HM_BASIS_H

#include "formula.h"
#include "howmany_fit.h"
#include "memory.h"
#include "model.h"
#include "posterior.h"

enum {
    HM_QUANTITIES_MAX = 64,
    /*
     * Number of overhead terms that are added to the components of the time from a specification
     * sheet.
     */
    HM_SHEET_EXTRAS = 3,
    /* Number of rows with times of overlapped communication; see struct hm_basis. */
    HM_OVERLAP_KNOTS = 15
};

/* The role of a term in the automatic choice of terms. */
enum hm_role {
    HM_ROLE_WORK, /* The term is part of the work itself; each set of terms needs at least one such
                     term. */
    HM_ROLE_OVERHEAD, /* The term grows with n no faster than ln n. */
    /* The term grows faster than ln n; it is chosen only under the conditions in choose.c. */
    HM_ROLE_STEEP,
};

struct hm_sheet; /* The specification sheet of a job; defined in sheet.c. */

struct hm_basis {
    /* Names of the quantities that describe a run; the first is n, the number of workers. */
    const char *quantities[HM_QUANTITIES_MAX];
    size_t quantity_count;
    const char *texts[HM_TERMS_MAX];
    enum hm_role roles[HM_TERMS_MAX];
    /* True if the term is a component of the time that the specification sheet predicts. */
    bool parts[HM_TERMS_MAX];
    size_t count;
    /* Compiled terms, owned by the arena; NULL if the terms come from a specification sheet. */
    struct hm_formula *formulas[HM_TERMS_MAX];
    /* Specification sheet, owned by the arena; NULL if the terms are formulas. */
    struct hm_sheet *sheet;
    /*
     * True if communication overlaps with computation. The time is then not linear in the factors
     * of the first two terms, c for computation and m for communication: it is c * t(m / c), where
     * t(r) is the time that the specification sheet predicts if communication takes r times as
     * long. HM_OVERLAP_KNOTS rows after the terms hold t at fixed ratios r, and overlap.h evaluates
     * it.
     */
    bool overlaps;
    /* Priors of the factors of the terms; used only with a specification sheet. */
    struct hm_prior priors[HM_TERMS_MAX];
};

/* Sets the quantities of a basis to the columns of the runs that a formula can use. */
int hm__basis_quantities(struct hm_basis *basis, struct hm_arena *arena, const struct hm_runs *runs,
                         struct hm_err *err);
/* Returns the index of the quantity with this name, or -1 if there is none. */
int hm__basis_find(const struct hm_basis *basis, const char *name);

/* Compiles formulas into the terms of a basis. The formulas may use only the names of the
 * quantities of the basis. */
int hm__basis_compile(struct hm_basis *basis, struct hm_arena *arena, const char *const *terms,
                      size_t count, struct hm_err *err);
/* The work that the measured time of a run covers, and how this work depends on n. */
enum hm_scaled_terms {
    HM_TERMS_STRONG,  /* An iteration whose work is divided among the workers. */
    HM_TERMS_WEAK,    /* An iteration in which each worker has a constant amount of work. */
    HM_TERMS_OF_WORK, /* A fixed amount of work, such as an epoch; the scaling is unknown. */
    /* A fixed amount of work that is done by iterations with weak scaling; the terms of these
     * iterations are divided by n. */
    HM_TERMS_WEAK_OF_WORK,
};

/*
 * Adds the library terms that the quantities of the runs allow. varies[k] is true if quantity k
 * varies over the runs. With weak scaling, terms in size and batch are excluded, because the total
 * work is proportional to n.
 */
int hm__basis_library(struct hm_basis *basis, struct hm_arena *arena, const bool *varies,
                      enum hm_scaled_terms scaled, struct hm_err *err);
/*
 * Creates a basis whose terms are the components of the time that a job's specification sheet
 * predicts. `width` is the standard deviation of the prior of each factor. The job, the cluster and
 * the table of the job's steps, which may be NULL, are borrowed.
 */
int hm__basis_sheet(struct hm_basis *basis, struct hm_arena *arena, const struct hm_job *job,
                    const struct hm_cluster *cluster, struct hm_step_table *table, double width,
                    struct hm_err *err);
/*
 * Returns the time in seconds that the specification sheet predicts, without corrections, at the
 * job's reference number of workers.
 */
double hm__sheet_reference_s(const struct hm_sheet *sheet);
/*
 * Sets the drift of a fit whose runs have at most n_most workers: how much the error at other
 * values of n differs from the error at a measured n (sheet_spread.h). *one_node is set to true if
 * all runs are inside one node of the cluster.
 */
void hm__sheet_set_drift(const struct hm_sheet *sheet, double n_most, struct hm_fit_rule *rule,
                         double *one_node);
/*
 * Records in the specification sheet that the column `size` of the runs is proportional to n. With
 * weak scaling, the size per worker is then constant.
 */
void hm__sheet_set_size_by_n(struct hm_sheet *sheet);

/*
 * Returns whether any term needs a value of the quantity; if `in` is not NULL, only the terms k for
 * which in[k] is true are considered. The terms of a specification sheet need no values, because
 * the sheet contains its own.
 */
bool hm__basis_needs(const struct hm_basis *basis, const bool *in, size_t quantity);

/* Returns the index of the row that holds ln n, after the terms and the times of overlapped
 * communication. */
static inline size_t hm__basis_log_row(const struct hm_basis *basis)
{
    return basis->count + (basis->overlaps ? HM_OVERLAP_KNOTS : 0);
}

/*
 * Returns the number of rows in the array x of hm__basis_eval: the terms, the times of overlapped
 * communication, and ln n.
 */
static inline size_t hm__basis_rows(const struct hm_basis *basis)
{
    return hm__basis_log_row(basis) + 1;
}

/*
 * Computes the terms for `count` configurations: x[k * count + i] is term k for configuration i,
 * where quantity q has the value columns[q][i]; x has hm__basis_rows rows. Fails if a term is
 * negative or not finite; err->line is then 1 + i, which the caller replaces with the line of the
 * run.
 */
int hm__basis_eval(const struct hm_basis *basis, const double *const *columns, size_t count,
                   double *x, struct hm_err *err);
/*
 * Computes the terms of a specification sheet like hm__basis_eval, but with a model that the caller
 * provides, for example with changed hardware or another number of samples.
 */
int hm__basis_eval_model(const struct hm_basis *basis, const struct hm_model *model,
                         const double *n, size_t count, double *x, struct hm_err *err);

/*
 * Computes the terms of a specification sheet. This function is in sheet.c; hm__basis_eval calls
 * it.
 */
int hm__sheet_eval(const struct hm_basis *basis, const double *const *columns, size_t count,
                   double *x, struct hm_err *err);

#endif
