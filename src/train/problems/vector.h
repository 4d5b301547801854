/*
 * Inner products and updates of dense and sparse vectors. The order of adding is fixed here, so the
 * same numbers come out on every machine, whatever its vector unit.
 */
#ifndef HM_VECTOR_H
#define HM_VECTOR_H

#include "rows.h"

double hm__dot(const double *a, const double *b, size_t count);
/* b += factor a */
void hm__axpy(double factor, const double *a, double *b, size_t count);

/* Row i of the rows times w, and w += factor times row i. */
double hm__row_dot(const struct hm_rows *rows, size_t i, const double *w);
void hm__row_axpy(const struct hm_rows *rows, size_t i, double factor, double *w);
/* Ask for row i ahead of its use. */
void hm__row_fetch(const struct hm_rows *rows, size_t i);
/* |x_i|^2 */
double hm__row_norm2(const struct hm_rows *rows, size_t i);
/* Entries that are kept of row i: of a dense row, all. */
size_t hm__row_entries(const struct hm_rows *rows, size_t i);

/*
 * Four dense rows at once: a quarter of the traffic on w. dots[k] = x_k.w, and w += sum_k
 * factors[k] x_k. Eight products at once, each with the bits that hm__dot4 gives it: w is read
 * less, and memory is kept busy.
 */
void hm__dot4(const double *const x[4], const double *w, size_t count, double dots[4]);
void hm__dot8(const double *const x[8], const double *w, size_t count, double dots[8]);
void hm__axpy4(const double factors[4], const double *const x[4], double *w, size_t count);

#endif
