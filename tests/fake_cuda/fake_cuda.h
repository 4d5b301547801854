/* The virtual clock that the libraries of a pretended GPU share. */
#ifndef HM_FAKE_CUDA_H
#define HM_FAKE_CUDA_H

/* Let the device work for some seconds. While a graph is captured, they belong to the graph. */
void fake_cuda_spend(double seconds);

#endif
