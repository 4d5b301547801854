/*
 * Defines multilayer perceptrons as an objective: fully connected layers with biases, then softmax
 * and cross-entropy. Labels are 0 to outputs - 1.
 */
#ifndef HM_PERCEPTRON_H
#define HM_PERCEPTRON_H

#include "objective.h"

enum { HM_HIDDEN_MAX = 8, HM_WIDTH_MAX = 1 << 20 };

enum hm_activation { HM_ACTIVATION_SIGMOID, HM_ACTIVATION_RELU };

struct hm_perceptron_spec {
    size_t hidden[HM_HIDDEN_MAX];  /* Number of neurons in each hidden layer, 1 to HM_WIDTH_MAX. */
    size_t hidden_count;           /* Number of hidden layers; 0 means softmax regression. */
    enum hm_activation activation; /* Activation function of the hidden layers. */
    hm_gemm_fn *gemm; /* Function that multiplies matrices; NULL means hm__gemm_plain. */
};

/*
 * Makes `objective` a perceptron; its rows, total_rows, lambda, outputs and arena must be set. The
 * values of the rows are copied in single precision and then freed; only count, features and labels
 * of the rows remain. On failure, the objective and its rows are unchanged.
 */
int hm__perceptron_init(struct hm_objective *objective, const struct hm_perceptron_spec *spec,
                        struct hm_err *err);
/*
 * Draws the initial weights, which are the same on every rank. They are normal with variance 2/in
 * for ReLU (He et al. 2015), and uniform with variance 2/(in + out) for the sigmoid (Glorot and
 * Bengio 2010); biases are 0. Layer l uses stream l of the seed.
 */
void hm__perceptron_start(const struct hm_objective *objective, double *w, uint64_t seed);

#endif
