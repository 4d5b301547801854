/* Multiplies matrices with OpenBLAS if the program was built with it, else with plain loops. */
#ifndef HM_BLAS_H
#define HM_BLAS_H

#include "objective.h"

hm_gemm_fn hm__gemm_best;

/* Restricts OpenBLAS to one thread, since each rank counts as one worker. */
void hm__blas_start(void);
/*
 * Returns a description of hm__gemm_best for the trace: the version and the kernels of OpenBLAS, or
 * "plain loops".
 */
const char *hm__blas_name(void);

#endif
