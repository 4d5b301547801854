/*
 * Computes inner products and updates of dense and sparse vectors. The order of summation is fixed,
 * so that results have the same bits on every machine, with any vector unit.
 */
#ifndef HM_VECTOR_H
#define HM_VECTOR_H

#include "rows.h"

double hm__dot(const double *a, const double *b, size_t count);
/* Adds a multiple of a vector to another: b += factor * a. */
void hm__axpy(double factor, const double *a, double *b, size_t count);

/*
 * hm__row_dot returns the dot product of row `i` and w; hm__row_axpy adds `factor` times row `i` to
 * w.
 */
double hm__row_dot(const struct hm_rows *rows, size_t i, const double *w);
void hm__row_axpy(const struct hm_rows *rows, size_t i, double factor, double *w);
/* Loads row `i` into the processor's cache before it is used. */
void hm__row_prefetch(const struct hm_rows *rows, size_t i);
/* |x_i|^2 */
double hm__row_norm2(const struct hm_rows *rows, size_t i);
/*
 * Returns the number of stored entries of row `i`; for a dense row, returns the number of features.
 */
size_t hm__row_entries(const struct hm_rows *rows, size_t i);

/*
 * These functions process several dense rows at a time, so that w is read less often: hm__dot4
 * computes dots[k] = x_k.w, and hm__axpy4 computes w += sum_k factors[k] x_k. hm__dot8 computes
 * eight dot products with the same bits as hm__dot4 and uses the memory bandwidth better.
 */
void hm__dot4(const double *const x[4], const double *w, size_t count, double dots[4]);
void hm__dot8(const double *const x[8], const double *w, size_t count, double dots[8]);
void hm__axpy4(const double factors[4], const double *const x[4], double *w, size_t count);

#endif
