/*
 * Perceptrons with hidden layers as an objective: fully connected, a bias in every layer, softmax
 * and cross-entropy at the end. Labels are 0..outputs-1.
 */
#ifndef HM_PERCEPTRON_H
#define HM_PERCEPTRON_H

#include "objective.h"

enum { HM_HIDDEN_MAX = 8, HM_WIDTH_MAX = 1 << 20 };

enum hm_activation { HM_ACTIVATION_SIGMOID, HM_ACTIVATION_RELU };

struct hm_perceptron_spec {
    size_t hidden[HM_HIDDEN_MAX];  /* neurons of each hidden layer, 1..HM_WIDTH_MAX */
    size_t hidden_count;           /* 0: softmax regression */
    enum hm_activation activation; /* of the hidden layers */
    hm_gemm_fn *gemm;              /* NULL: hm__gemm_plain */
};

/*
 * Make `objective` a perceptron. Its rows, total_rows, lambda, outputs and arena are set, and its
 * rows are its own: they are copied in single precision, and of the originals only count, features
 * and labels stay. On failure the objective and its rows are as before.
 */
int hm__perceptron_init(struct hm_objective *objective, const struct hm_perceptron_spec *spec,
                        struct hm_err *err);
/*
 * Weights to start from, the same on every rank: normal with variance 2/in for ReLU (He et al.
 * 2015), uniform with variance 2/(in + out) for the sigmoid (Glorot and Bengio 2010); biases 0.
 * Layer l draws from stream l of the seed.
 */
void hm__perceptron_start(const struct hm_objective *objective, double *w, uint64_t seed);

#endif
