/* Tests the numbers of parameters of networks that are given by the keys of a config.json, against
 * closed forms and published counts. */
#include "large_testing.h"

/* Returns the parameters of a network of 2 layers of width 8, with 2 heads, a vocabulary of 10, and
 * further keys of a config.json. */
static double config_parameters(const char *keys)
{
    char network[400];

    snprintf(network, sizeof(network),
             "network: {hidden_size: 8, num_hidden_layers: 2, num_attention_heads: 2, "
             "vocab_size: 10, %s}\n",
             keys);
    struct hm_job *job = large_job(network, "sequence: 16\nbatch: 4\n");
    double parameters = hm__large_parameters(&job->large->network);
    hm_job_free(job);
    return parameters;
}

/* Two embeddings of 10 * 8, and for each layer 4 * 8 * 8 in attention and 2 or 3 matrices of
 * 8 * 16; a norm has 8. */
static void configs_have_closed_forms(void **state)
{
    static const char *const plain[] = {"gelu", "relu", "gelu_new"};
    const double rest = 2 * 10 * 8 + 2 * 4 * 8 * 8 + 5 * 8;
    char keys[100];

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        snprintf(keys, sizeof(keys), "intermediate_size: 16, hidden_act: %s", plain[i]);
        assert_true(config_parameters(keys) == rest + 2 * 2 * 8 * 16);
    }
    assert_true(config_parameters("intermediate_size: 16") == rest + 2 * 3 * 8 * 16);
    assert_true(config_parameters("intermediate_size: 16, hidden_act: silu") ==
                rest + 2 * 3 * 8 * 16);
    /* One shared matrix of words instead of two. */
    assert_true(config_parameters("intermediate_size: 16, tie_word_embeddings: true") ==
                rest + 2 * 3 * 8 * 16 - 80);
    /* Norms of queries and keys, each of the width of a head; a bias of 3 * 8 in each layer. */
    assert_true(config_parameters("intermediate_size: 16, model_type: qwen3") ==
                rest + 2 * 3 * 8 * 16 + 2 * 2 * 4);
    assert_true(config_parameters("intermediate_size: 16, model_type: qwen2") ==
                rest + 2 * 3 * 8 * 16 + 2 * 3 * 8);
    /* Four experts of width 6, a router to them, and shared experts of the same width. */
    assert_true(config_parameters("intermediate_size: 16, num_local_experts: 4, "
                                  "num_experts_per_tok: 2, moe_intermediate_size: 6") ==
                rest + 2 * (4 * 3 * 8 * 6 + 8 * 4));
    assert_true(config_parameters("intermediate_size: 16, num_local_experts: 4, n_shared_experts: "
                                  "2, num_experts_per_tok: 2, moe_intermediate_size: 6") ==
                rest + 2 * (4 * 3 * 8 * 6 + 8 * 4 + 3 * 8 * 12));
    assert_true(config_parameters("intermediate_size: 16, num_local_experts: 4, "
                                  "first_k_dense_replace: 1, num_experts_per_tok: 2, "
                                  "moe_intermediate_size: 6") ==
                rest + 3 * 8 * 16 + 4 * 3 * 8 * 6 + 8 * 4);
    /* Half as many keys and values. */
    assert_true(config_parameters("intermediate_size: 16, num_key_value_heads: 1") ==
                rest + 2 * 3 * 8 * 16 - 2 * 8 * 8);
}

static void published_counts_agree(void **state)
{
    (void)state;
    /* Qwen3-8B, whose queries and keys are normalised. */
    struct hm_job *job =
        large_job("network: {hidden_size: 4096, num_hidden_layers: 36, num_attention_heads: 32, "
                  "num_key_value_heads: 8, head_dim: 128, intermediate_size: 12288, "
                  "vocab_size: 151936, model_type: qwen3, hidden_act: silu}\n",
                  "sequence: 8192\nbatch: 64\n");
    assert_true(hm__large_parameters(&job->large->network) == 8190735360.0);
    hm_job_free(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(configs_have_closed_forms),
        cmocka_unit_test(published_counts_agree),
    };

    return cmocka_run_group_tests_name("config_counts", tests, NULL, NULL);
}
