/* Matrix products by OpenBLAS where it was built in, else by plain loops. */
#ifndef HM_BLAS_H
#define HM_BLAS_H

#include "objective.h"

hm_gemm_fn hm_gemm_best;

/* One thread, whichever OpenBLAS is loaded: a rank is a worker, and workers are what is counted. */
void hm_blas_start(void);
/* What hm_gemm_best is, for the record: OpenBLAS's version and kernels, or "plain loops". */
const char *hm_blas_name(void);

#endif
