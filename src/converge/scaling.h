/*
 * Predicts the loss curve g of language models without traces: the loss of a transformer with N
 * parameters after D tokens, according to published scaling laws L(N, D) = E + A/N^alpha +
 * B/D^beta, and the batch size beyond which a larger batch saves little time.
 */
#ifndef HM_SCALING_H
#define HM_SCALING_H

#include "howmany_advise.h"

/* Name of the algorithm in traces that are generated from scaling laws. */
#define HM_SCALING_ALGORITHM "scaling laws"

/* One published law; losses are in nats per token. */
struct hm_scaling_law {
    const char *source;
    double e, a, b, alpha, beta;
};

enum { HM_SCALING_LAWS = 3 };
extern const struct hm_scaling_law hm__scaling_laws[HM_SCALING_LAWS];

/* The smallest, the median and the largest value of a quantity over all laws. */
struct hm_scaling_range {
    double low, middle, high;
};

/*
 * Returns the loss of a network with `parameters` parameters after `tokens` tokens, according to
 * one law.
 */
double hm__scaling_loss(const struct hm_scaling_law *law, double parameters, double tokens);
/*
 * Returns the number of tokens after which a loss is reached, according to one law; INFINITY if it
 * is never reached.
 */
double hm__scaling_tokens(const struct hm_scaling_law *law, double parameters, double loss);
/* Returns the number of parameters N with the lowest loss if training costs `flop` = 6 N D
 * operations, where D is the number of tokens. */
double hm__scaling_optimum(const struct hm_scaling_law *law, double flop);
/* Same as hm__scaling_optimum, but returns the median over all laws. */
double hm__scaling_optimum_middle(double flop);

struct hm_scaling_range hm__scaling_loss_range(double parameters, double tokens);
struct hm_scaling_range hm__scaling_tokens_range(double parameters, double loss);

/* Returns the critical batch in tokens at a loss: a batch of this size needs twice as many tokens
 * as a very small one, and twice as many iterations as a very large one. */
double hm__critical_batch(double loss);
/* Returns the factor by which a batch of `batch` tokens increases the number of tokens needed to
 * reach a loss. The laws were measured with batches up to the critical size, so the factor is 1 for
 * such batches. */
double hm__batch_factor(double batch, double critical);

/*
 * Creates traces that follow the laws: one set for each number of workers m, for a network with
 * `parameters` parameters and a batch of `batch` tokens. Their spread is at most that of
 * the laws at `loss`, the loss to reach; NaN if it is not known. The traces have no times; free
 * them with hm_traces_free.
 */
int hm__scaling_traces(double parameters, double batch, double loss, const double *m,
                       size_t m_count, struct hm_traces **ret_traces, struct hm_err *err);
/*
 * Creates paces from a table of iteration times in seconds, for numbers of workers in ascending
 * order.
 */
int hm__paces_from_table(const double *m, const double *seconds, size_t count,
                         const char *algorithm, struct hm_paces **ret_paces, struct hm_err *err);

#endif
