/* Matrix products by OpenBLAS where it was built in, else by plain loops. */
#ifndef HM_BLAS_H
#define HM_BLAS_H

#include "objective.h"

hm_gemm_fn hm__gemm_best;

/* One thread, whichever OpenBLAS is loaded: a rank is a worker, and workers are what is counted. */
void hm__blas_start(void);
/* What hm__gemm_best is, for the record: OpenBLAS's version and kernels, or "plain loops". */
const char *hm__blas_name(void);

#endif
