/*
 * The terms of a fit and their values at a run: formulas over the columns of the runs, or the parts
 * of a specification sheet with the overheads that it does not name.
 */
#ifndef HM_BASIS_H
#define HM_BASIS_H

#include "formula.h"
#include "howmany_fit.h"
#include "memory.h"
#include "model.h"
#include "posterior.h"

enum { HM_QUANTITIES_MAX = 64, HM_SHEET_EXTRAS = 3 /* terms of a sheet that it does not name */ };

/* How a term of the library enters the choice. */
enum hm_role {
    HM_ROLE_WORK,     /* a set of terms needs one of these: the work itself takes time */
    HM_ROLE_OVERHEAD, /* grows with n no faster than its logarithm */
    HM_ROLE_STEEP,    /* grows faster: has to earn its place, see choose.c */
};

struct hm_sheet; /* sheet.c */

struct hm_basis {
    const char *quantities[HM_QUANTITIES_MAX]; /* what a place is described by; the first is n */
    size_t quantity_count;
    const char *texts[HM_TERMS_MAX];
    enum hm_role roles[HM_TERMS_MAX];
    bool parts[HM_TERMS_MAX]; /* of the sheet */
    size_t count;
    struct hm_formula *formulas[HM_TERMS_MAX]; /* NULL with a sheet; owned by the arena */
    struct hm_sheet *sheet;                    /* NULL with formulas; owned by the arena */
    struct hm_prior priors[HM_TERMS_MAX];      /* with a sheet */
};

/* Name the quantities of a basis: the columns of runs that a formula can use. */
int hm__basis_quantities(struct hm_basis *basis, struct hm_arena *arena, const struct hm_runs *runs,
                         struct hm_err *err);
/* Index of a quantity, or -1. */
int hm__basis_find(const struct hm_basis *basis, const char *name);

/* Compile formulas into a basis; what they name must be among its quantities. */
int hm__basis_compile(struct hm_basis *basis, struct hm_arena *arena, const char *const *terms,
                      size_t count, struct hm_err *err);
/*
 * The library of terms that the quantities allow; varies[k] tells whether quantity k does, and weak
 * that the work of a worker does not: then it is a constant, and more of it is more workers.
 */
int hm__basis_library(struct hm_basis *basis, struct hm_arena *arena, const bool *varies, bool weak,
                      struct hm_err *err);
/* The parts of a job's sheet; width is that of their priors. The job and cluster are borrowed. */
int hm__basis_sheet(struct hm_basis *basis, struct hm_arena *arena, const struct hm_job *job,
                    const struct hm_cluster *cluster, double width, struct hm_err *err);
/* Time of the sheet alone at the job's reference. */
double hm__sheet_reference_s(const struct hm_sheet *sheet);

/*
 * Whether a term, of all or of those that are in, cannot do without a quantity. The parts of a
 * sheet can: it has values of its own.
 */
bool hm__basis_needs(const struct hm_basis *basis, const bool *in, size_t quantity);

/*
 * x[k * count + i] = term k at place i; columns[q][i] is quantity q there. Fails where a term is
 * not a number; err->line is then 1 + i, for the caller to say where that is.
 */
int hm__basis_eval(const struct hm_basis *basis, const double *const *columns, size_t count,
                   double *x, struct hm_err *err);
/* As above for the sheet, from a model of the caller's: changed hardware, other samples. */
int hm__basis_eval_model(const struct hm_basis *basis, const struct hm_model *model,
                         const double *n, size_t count, double *x, struct hm_err *err);

/* sheet.c, for hm__basis_eval. */
int hm__sheet_eval(const struct hm_basis *basis, const double *const *columns, size_t count,
                   double *x, struct hm_err *err);

#endif
