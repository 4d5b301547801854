/*
 * Counts the parameters, the active parameters and the model flop of a transformer.
 *
 * Let h be the hidden size, a the number of heads of width d, g the number of key and value heads,
 * and f the width of the feed-forward layer. A layer has h d (2a + 2g) parameters for attention, (3
 * if gated, else 2) h f for the feed-forward layer, and norms. With E experts, the feed-forward
 * layer is replaced by E routed experts, a shared expert, and h E parameters of the router.
 * Multi-head latent attention (DeepSeek-V2) has h rq + rq a (dn + dr) + h (rk + dr) + rk a (dn +
 * dv) + a dv h parameters, with the ranks rq of queries and rk of keys and values, and the widths
 * dn (without rotary positions), dr (with them) and dv (values) of a head. The model flop per token
 * are 6 A + 12 L a d s share, as in the PaLM paper, with A active parameters, L layers, s tokens in
 * a sequence, and the counted share of the attention matrix.
 */
#include "large.h"

static double attention_count(const struct hm_transformer *x)
{
    const struct hm_latent *l = &x->latent;

    if (!(l->rank_kv > 0))
        return x->hidden * x->head_dim * (2 * x->heads + 2 * x->kv_heads);
    double query_dim = x->heads * (l->dim_nope + l->dim_rope);
    double query = l->rank_q > 0 ? l->rank_q * (x->hidden + query_dim) : x->hidden * query_dim;
    return query + x->hidden * (l->rank_kv + l->dim_rope) +
           l->rank_kv * x->heads * (l->dim_nope + l->dim_v) + x->heads * l->dim_v * x->hidden;
}

/* Returns the number of parameters in the norms inside latent attention. */
static double latent_norms(const struct hm_transformer *x)
{
    return x->latent.rank_q + x->latent.rank_kv;
}

static double norm_count(const struct hm_transformer *x)
{
    return x->hidden * (x->norm_bias ? 2 : 1);
}

static double maps_count(const struct hm_transformer *x, double width)
{
    return (x->gated ? 3 : 2) * x->hidden * width;
}

/* Returns the number of biases in a layer with a feed-forward layer of width `ffn`; experts have no
 * biases. */
static double bias_count(const struct hm_transformer *x, double ffn)
{
    double qkv = x->head_dim * (x->heads + 2 * x->kv_heads);

    if (x->bias == HM_LINEAR_BIAS_NONE)
        return 0;
    if (x->bias == HM_LINEAR_BIAS_QKV)
        return qkv;
    return qkv + 2 * x->hidden + (x->gated ? 2 : 1) * ffn;
}

/* Returns the number of parameters in the norms and biases of one layer. */
static double layer_details(const struct hm_transformer *x, double ffn)
{
    return x->norms * norm_count(x) + (x->qk_norm ? 2 * x->head_dim : 0) + latent_norms(x) +
           bias_count(x, ffn);
}

double hm__large_parameters(const struct hm_transformer *x)
{
    double expert_layers = hm__transformer_expert_layers(x);
    double dense_layers = x->layers - expert_layers;
    double experts = x->experts * maps_count(x, x->expert_ffn) + maps_count(x, x->shared_ffn) +
                     x->hidden * x->experts;

    return x->layers * (attention_count(x) + layer_details(x, expert_layers > 0 ? 0 : x->ffn)) +
           x->cross_layers * (attention_count(x) + norm_count(x)) +
           dense_layers * maps_count(x, x->ffn) + expert_layers * experts +
           (x->tied || x->encoder ? 1 : 2) * x->vocabulary * x->hidden + x->positions * x->hidden +
           (x->norms > 0 ? norm_count(x) : 0) + x->other_parameters;
}

double hm__large_active(const struct hm_transformer *x)
{
    double expert_layers = hm__transformer_expert_layers(x);
    double dense_layers = x->layers - expert_layers;
    double experts = x->experts_per_token * maps_count(x, x->expert_ffn) +
                     maps_count(x, x->shared_ffn) + x->hidden * x->experts_per_token;

    return (x->layers + x->cross_layers) * attention_count(x) +
           dense_layers * maps_count(x, x->ffn) + expert_layers * experts +
           (x->encoder ? 0 : x->vocabulary * x->hidden);
}

/*
 * Returns the forward flop for one token in the two matrix products of attention in all layers,
 * with the full attention matrix.
 */
static double core_flop(const struct hm_transformer *x, double sequence)
{
    double whole = 4 * x->layers * x->heads * hm__large_widths(x).core * sequence;

    /*
     * With an encoder and a decoder, the mean share of the attention matrix over all attention
     * blocks is counted; the factor 2 cancels the share of 0.5 that callers pass.
     */
    return x->cross_layers > 0 ? 2 * hm__transformer_core_share(x) * whole : whole;
}

double hm__large_flop(const struct hm_transformer *x, double sequence, double share)
{
    return 6 * hm__large_active(x) + 3 * core_flop(x, sequence) * share;
}

double hm__large_flop_again(const struct hm_transformer *x, double sequence, double share)
{
    return 2 * hm__large_active(x) + core_flop(x, sequence) * share;
}

struct hm_large_layer_count hm__large_layer_count(const struct hm_transformer *x,
                                                  const struct hm_layout *layout, bool expert)
{
    double common = hm__transformer_blocks(x) * attention_count(x) + x->norms * norm_count(x);

    if (!expert)
        return (struct hm_large_layer_count){.dense =
                                                 (common + maps_count(x, x->ffn)) / layout->tensor};
    return (struct hm_large_layer_count){
        .dense = (common + maps_count(x, x->shared_ffn) + x->hidden * x->experts) / layout->tensor,
        .expert = x->experts / layout->expert * maps_count(x, x->expert_ffn)};
}

double hm__large_extra(const struct hm_transformer *x)
{
    return x->positions * x->hidden + x->other_parameters;
}

struct hm_large_widths hm__large_widths(const struct hm_transformer *x)
{
    const struct hm_latent *l = &x->latent;
    double d = x->head_dim;

    if (!(l->rank_kv > 0))
        return (struct hm_large_widths){.qkv = d * (x->heads + 2 * x->kv_heads),
                                        .out = d * x->heads,
                                        .kv = 2 * d * x->kv_heads,
                                        .core = d};
    return (struct hm_large_widths){
        .qkv = x->heads * (2 * (l->dim_nope + l->dim_rope) + l->dim_v),
        .out = x->heads * l->dim_v,
        .kv = l->rank_kv + l->dim_rope,
        .core = (l->dim_nope + l->dim_rope + l->dim_v) / 2,
    };
}
