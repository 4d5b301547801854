/*
 * Evaluates published scaling laws of dense transformers that were trained from scratch; see
 * scaling.h.
 *
 * Hoffmann et al. 2022 (Chinchilla, arXiv 2203.15556), approach 3, with the digits of the paper's
 * source; Besiroglu et al. 2024 (arXiv 2404.10102), a new fit of the same runs; Muennighoff et al.
 * 2023 (arXiv 2305.16264), runs on C4 with equal exponents. The spread between the laws is part of
 * the uncertainty; losses on other data or with other tokenizers also differ.
 *
 * Critical batch: Kaplan et al. 2020 (arXiv 2001.08361), B = 2e8 tokens / L^(1/0.21). A batch b
 * needs 1 + b/B times as many tokens as a very small batch (McCandlish et al. 2018).
 */
#include "scaling.h"
#include "order.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

const struct hm_scaling_law hm__scaling_laws[HM_SCALING_LAWS] = {
    {"Hoffmann et al. 2022", 1.6934, 406.4, 410.7, .3392, .2849},
    {"Besiroglu et al. 2024", 1.8172, 482.01, 2085.43, .3478, .3658},
    {"Muennighoff et al. 2023", 1.8691, 520.8, 1487.7, .3526596, .3526596},
};

double hm__scaling_loss(const struct hm_scaling_law *law, double parameters, double tokens)
{
    return law->e + law->a * pow(parameters, -law->alpha) + law->b * pow(tokens, -law->beta);
}

double hm__scaling_tokens(const struct hm_scaling_law *law, double parameters, double loss)
{
    double rest = loss - law->e - law->a * pow(parameters, -law->alpha);

    return rest > 0 ? pow(law->b / rest, 1 / law->beta) : INFINITY;
}

double hm__scaling_optimum(const struct hm_scaling_law *law, double flop)
{
    double sum = law->alpha + law->beta;
    double scale = pow(law->alpha * law->a / (law->beta * law->b), 1 / sum);

    return scale * pow(flop / 6, law->beta / sum);
}

static struct hm_scaling_range range_of(double *values)
{
    qsort(values, HM_SCALING_LAWS, sizeof(*values), hm__compare_numbers);
    return (struct hm_scaling_range){values[0], values[HM_SCALING_LAWS / 2],
                                     values[HM_SCALING_LAWS - 1]};
}

struct hm_scaling_range hm__scaling_loss_range(double parameters, double tokens)
{
    double values[HM_SCALING_LAWS];

    for (size_t i = 0; i < HM_SCALING_LAWS; i++)
        values[i] = hm__scaling_loss(&hm__scaling_laws[i], parameters, tokens);
    return range_of(values);
}

struct hm_scaling_range hm__scaling_tokens_range(double parameters, double loss)
{
    double values[HM_SCALING_LAWS];

    for (size_t i = 0; i < HM_SCALING_LAWS; i++)
        values[i] = hm__scaling_tokens(&hm__scaling_laws[i], parameters, loss);
    return range_of(values);
}

double hm__scaling_optimum_middle(double flop)
{
    double values[HM_SCALING_LAWS];

    for (size_t i = 0; i < HM_SCALING_LAWS; i++)
        values[i] = hm__scaling_optimum(&hm__scaling_laws[i], flop);
    return range_of(values).middle;
}

double hm__critical_batch(double loss)
{
    return 2e8 * pow(loss, -1 / .21);
}

double hm__batch_factor(double batch, double critical)
{
    return fmax(1, (1 + batch / critical) / 2);
}
