/*
 * Sets default values and derived sizes of transformers, and checks transformers; see
 * transformer.h.
 */
#include "transformer.h"

#include <math.h>
#include <stddef.h>

#include "checks.h"
#include "err.h"

/* Returns true if a size is NaN or 0, both of which mean that it is not given. */
static bool size_is_unset(double size)
{
    return isnan(size) || size == 0;
}

void hm_transformer_init(struct hm_transformer *network)
{
    if (!network)
        return;
    *network = (struct hm_transformer){.layers = NAN,
                                       .hidden = NAN,
                                       .ffn = NAN,
                                       .heads = NAN,
                                       .kv_heads = NAN,
                                       .head_dim = NAN,
                                       .vocabulary = NAN,
                                       .norms = 2,
                                       .published_parameters = NAN};
}

void hm__transformer_complete(struct hm_transformer *network)
{
    if (size_is_unset(network->kv_heads))
        network->kv_heads = network->heads;
    if (size_is_unset(network->head_dim) && network->latent.rank_kv > 0)
        network->head_dim = network->latent.dim_nope + network->latent.dim_rope;
    if (size_is_unset(network->head_dim))
        network->head_dim = network->hidden / network->heads;
    if (size_is_unset(network->ffn))
        network->ffn = network->expert_ffn > 0 ? network->expert_ffn : 4 * network->hidden;
    if (network->experts > 0 && network->expert_ffn == 0)
        network->expert_ffn = network->ffn;
}

double hm__transformer_blocks(const struct hm_transformer *network)
{
    return 1 + network->cross_layers / network->layers;
}

double hm__transformer_core_share(const struct hm_transformer *network)
{
    double cross = network->cross_layers / network->layers;

    if (network->encoder)
        return 1;
    /*
     * Encoder layers, and the cross-attention of the decoder, compute the whole attention matrix;
     * the self-attention of the decoder computes half of it.
     */
    return cross > 0 ? (1 - cross) + .5 * cross + cross : .5;
}

double hm__transformer_expert_layers(const struct hm_transformer *network)
{
    return network->experts > 0 ? network->layers - network->dense_layers : 0;
}

/*
 * Fails with an error that says that two fields contradict each other; `value` is the value of
 * `field`.
 */
static int transformer_fail(const char *field, double value, const char *reason, struct hm_err *err)
{
    hm__fail(err, HM_E_CONFLICT, "%g %s", value, reason);
    hm__err_field(err, field);
    return HM_E_CONFLICT;
}

/*
 * Fails with an error that says that a number of heads or groups does not divide another size of
 * the network.
 */
static int heads_fail(const char *field, double heads, const char *other, double size,
                      const char *hint, struct hm_err *err)
{
    hm__fail(err, HM_E_CONFLICT, "%g does not divide %s, which is %g", heads, other, size);
    hm__err_hint(err, "%s", hint);
    hm__err_field(err, field);
    return HM_E_CONFLICT;
}

static int check_transformer_sizes(const struct hm_transformer *x, struct hm_err *err)
{
    const struct {
        const char *name;
        double value, min, max;
    } sizes[] = {
        {"layers", x->layers, 1, 10000},
        {"hidden", x->hidden, 1, 1e6},
        {"ffn", x->ffn, 1, 1e7},
        {"heads", x->heads, 1, 10000},
        {"kv_heads", x->kv_heads, 1, 10000},
        {"head_dim", x->head_dim, 1, 1e5},
        {"vocabulary", x->vocabulary, 1, 1e8},
        {"cross_layers", x->cross_layers, 0, x->layers},
        {"experts", x->experts, 0, 1e5},
        {"experts_per_token", x->experts_per_token, 0, 1e4},
        {"expert_ffn", x->expert_ffn, 0, 1e7},
        {"shared_ffn", x->shared_ffn, 0, 1e7},
        {"dense_layers", x->dense_layers, 0, 10000},
        {"expert_groups", x->expert_groups, 0, 1e4},
        {"groups_per_token", x->groups_per_token, 0, 1e4},
        {"latent.rank_q", x->latent.rank_q, 0, 1e6},
        {"latent.rank_kv", x->latent.rank_kv, 0, 1e6},
        {"latent.dim_nope", x->latent.dim_nope, 0, 1e5},
        {"latent.dim_rope", x->latent.dim_rope, 0, 1e5},
        {"latent.dim_v", x->latent.dim_v, 0, 1e5},
        {"positions", x->positions, 0, 1e8},
        {"norms", x->norms, 0, 16},
        {"other_parameters", x->other_parameters, 0, 1e13},
    };
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < sizeof(sizes) / sizeof(sizes[0]); i++)
        rc = hm__check_whole(sizes[i].name, sizes[i].value, sizes[i].min, sizes[i].max, err);
    return rc;
}

int hm__transformer_check(const struct hm_transformer *x, struct hm_err *err)
{
    /* The default of head_dim is hidden / heads, so a fraction shows that `heads` is wrong. */
    if (x->heads >= 1 && x->head_dim != floor(x->head_dim) && x->head_dim == x->hidden / x->heads)
        return heads_fail("heads", x->heads, "hidden", x->hidden,
                          "use a divisor of hidden, or give head_dim", err);
    int rc = check_transformer_sizes(x, err);

    if (rc)
        return rc;
    if (fmod(x->heads, x->kv_heads) != 0)
        return heads_fail("kv_heads", x->kv_heads, "heads", x->heads, "use a divisor of heads",
                          err);
    if (x->experts > 0 && x->experts_per_token < 1)
        return transformer_fail("experts_per_token", x->experts_per_token,
                                "experts per token: at least one of the experts must be used", err);
    if (x->experts_per_token > x->experts)
        return transformer_fail("experts_per_token", x->experts_per_token,
                                "experts per token are more than there are experts", err);
    if (x->groups_per_token > fmax(1, x->expert_groups)) {
        hm__fail(err, HM_E_CONFLICT, "%g is more than expert_groups, which is %g",
                 x->groups_per_token, x->expert_groups);
        hm__err_hint(err, "a token uses at most all groups of experts");
        hm__err_field(err, "groups_per_token");
        return HM_E_CONFLICT;
    }
    if (x->expert_groups > 1 && fmod(x->experts, x->expert_groups) != 0)
        return heads_fail("expert_groups", x->expert_groups, "experts", x->experts,
                          "use a divisor of experts", err);
    if (x->experts > 0 && x->expert_ffn < 1)
        return transformer_fail("expert_ffn", x->expert_ffn, "is no width of an expert", err);
    if (x->dense_layers > x->layers)
        return transformer_fail("dense_layers", x->dense_layers, "is more than layers", err);
    if (x->latent.rank_kv > 0 && (x->latent.dim_nope < 1 || x->latent.dim_v < 1))
        return transformer_fail("latent.rank_kv", x->latent.rank_kv,
                                "needs the widths dim_nope and dim_v", err);
    return 0;
}
