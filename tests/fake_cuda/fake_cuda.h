/* The virtual clock that the fake CUDA libraries share. */
#ifndef HM_FAKE_CUDA_H
#define HM_FAKE_CUDA_H

/*
 * Lets the fake device work for some virtual seconds. While a graph is captured, the seconds are
 * added to the graph.
 */
void fake_cuda_spend(double seconds);

#endif
