/*
 * Inner products and updates of dense and sparse vectors. The order of summation is fixed, so that
 * results have the same bits on every machine, with any vector unit.
 */
#ifndef HM_VECTOR_H
#define HM_VECTOR_H

#include "rows.h"

double hm__dot(const double *a, const double *b, size_t count);
/* b += factor a. */
void hm__axpy(double factor, const double *a, double *b, size_t count);

/* Dot product of row i with w, and w += factor times row i. */
double hm__row_dot(const struct hm_rows *rows, size_t i, const double *w);
void hm__row_axpy(const struct hm_rows *rows, size_t i, double factor, double *w);
/* Prefetch row i into the cache. */
void hm__row_prefetch(const struct hm_rows *rows, size_t i);
/* |x_i|^2 */
double hm__row_norm2(const struct hm_rows *rows, size_t i);
/* Number of stored entries of row i; for a dense row, all. */
size_t hm__row_entries(const struct hm_rows *rows, size_t i);

/*
 * Four dense rows at a time, which reads w a quarter as often: dots[k] = x_k.w, and w += sum_k
 * factors[k] x_k. hm__dot8 computes eight products with the same bits as hm__dot4; it reads w less
 * often and uses the memory bandwidth better.
 */
void hm__dot4(const double *const x[4], const double *w, size_t count, double dots[4]);
void hm__dot8(const double *const x[8], const double *w, size_t count, double dots[8]);
void hm__axpy4(const double factors[4], const double *const x[4], double *w, size_t count);

#endif
