/*
 * The terms of a fit and their values at a run: formulas over the columns of the runs, or the parts
 * of a specification sheet together with the overheads that a sheet does not name.
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
    HM_SHEET_EXTRAS = 3 /* Number of overhead terms added to a sheet. */
};

/* The role of a term in the choice of terms. */
enum hm_role {
    HM_ROLE_WORK,     /* A term of the work itself; every set needs one. */
    HM_ROLE_OVERHEAD, /* Grows with n no faster than ln n. */
    HM_ROLE_STEEP,    /* Grows faster than ln n; chosen only under the conditions in choose.c. */
};

struct hm_sheet; /* Defined in sheet.c. */

struct hm_basis {
    const char *quantities[HM_QUANTITIES_MAX]; /* Names of the quantities that describe a run; the
                                                  first is n. */
    size_t quantity_count;
    const char *texts[HM_TERMS_MAX];
    enum hm_role roles[HM_TERMS_MAX];
    bool parts[HM_TERMS_MAX]; /* Whether the term is a part of the sheet. */
    size_t count;
    struct hm_formula *formulas[HM_TERMS_MAX]; /* NULL with a sheet; owned by the arena. */
    struct hm_sheet *sheet;                    /* NULL with formulas; owned by the arena. */
    struct hm_prior priors[HM_TERMS_MAX];      /* Used with a sheet only. */
};

/* Sets the quantities of a basis: the columns of the runs that a formula can use. */
int hm__basis_quantities(struct hm_basis *basis, struct hm_arena *arena, const struct hm_runs *runs,
                         struct hm_err *err);
/* Index of a quantity, or -1. */
int hm__basis_find(const struct hm_basis *basis, const char *name);

/* Compiles formulas into a basis; each name must be one of its quantities. */
int hm__basis_compile(struct hm_basis *basis, struct hm_arena *arena, const char *const *terms,
                      size_t count, struct hm_err *err);
/*
 * Adds the library terms that the quantities allow. varies[k] says whether quantity k varies over
 * the runs. weak says that the work of one worker is constant; then size and batch terms are left
 * out, since the total work is proportional to n.
 */
int hm__basis_library(struct hm_basis *basis, struct hm_arena *arena, const bool *varies, bool weak,
                      struct hm_err *err);
/*
 * Uses the parts of a job's sheet as terms; width is the width of their priors. The job and cluster
 * are borrowed.
 */
int hm__basis_sheet(struct hm_basis *basis, struct hm_arena *arena, const struct hm_job *job,
                    const struct hm_cluster *cluster, double width, struct hm_err *err);
/* Seconds of the sheet alone at the job's reference n. */
double hm__sheet_reference_s(const struct hm_sheet *sheet);

/*
 * Whether any term (or any with in[k]) needs a value of the quantity. The parts of a sheet do not,
 * since the sheet has its own values.
 */
bool hm__basis_needs(const struct hm_basis *basis, const bool *in, size_t quantity);

/*
 * Sets x[k * count + i] to term k at place i; columns[q][i] is quantity q there. On a term that is
 * not finite, fails with err->line = 1 + i, which the caller replaces by the line of the run.
 */
int hm__basis_eval(const struct hm_basis *basis, const double *const *columns, size_t count,
                   double *x, struct hm_err *err);
/* The same for a sheet, with a model of the caller: changed hardware, other samples. */
int hm__basis_eval_model(const struct hm_basis *basis, const struct hm_model *model,
                         const double *n, size_t count, double *x, struct hm_err *err);

/* Implemented in sheet.c; called by hm__basis_eval. */
int hm__sheet_eval(const struct hm_basis *basis, const double *const *columns, size_t count,
                   double *x, struct hm_err *err);

#endif
