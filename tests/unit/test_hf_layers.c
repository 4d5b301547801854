/*
 * Tests networks with layers that are made from config.json of encoders: their layers have exactly
 * the parameters of the published models, and the multiply-adds that follow from the sizes.
 */
#include "testing.h"

#include "import.h"
#include "value.h"

#define BERT(class, hidden, ffn, layers, heads, words)                                             \
    "{\"architectures\":[\"" class "\"],\"model_type\":\"bert\",\"hidden_size\":" #hidden          \
                                   ",\"intermediate_size\":" #ffn                                  \
                                   ",\"num_hidden_layers\":" #layers                               \
                                   ",\"num_attention_heads\":" #heads ",\"vocab_size\":" #words    \
                                   ",\"max_position_embeddings\":512,\"type_vocab_size\":2,"       \
                                   "\"hidden_dropout_prob\":0.1}"
#define ROBERTA(type, words)                                                                       \
    "{\"architectures\":[\"RobertaForMaskedLM\"],\"model_type\":\"" type                           \
    "\",\"hidden_size\":768,\"intermediate_size\":3072,\"num_hidden_layers\":12,"                  \
    "\"num_attention_heads\":12,\"vocab_size\":" #words                                            \
    ",\"max_position_embeddings\":514,\"type_vocab_size\":1}"
#define DISTILBERT(class)                                                                          \
    "{\"architectures\":[\"" class "\"],\"model_type\":\"distilbert\",\"dim\":768,"                \
                                   "\"hidden_dim\":3072,\"n_layers\":6,\"n_heads\":12,\"vocab_"    \
                                   "size\":30522,"                                                 \
                                   "\"max_position_embeddings\":512}"
#define VIT(class, type, hidden, layers, heads, patch, more)                                       \
    "{\"architectures\":[\"" class "\"],\"model_type\":\"" type "\",\"hidden_size\":" #hidden      \
                                   ",\"num_hidden_layers\":" #layers                               \
                                   ",\"num_attention_heads\":" #heads ",\"patch_size\":" #patch    \
                                   ",\"num_channels\":3" more "}"

/* Published models, and how many multiply-adds the parts behind the encoder's layers have. */
static const struct encoder {
    const char *config;
    double parameters;
    double hidden, ffn, layers, tokens;
    double rest;
} encoders[] = {
    {BERT("BertForMaskedLM", 768, 3072, 12, 12, 30522), 109514298, 768, 3072, 12, 512,
     512 * (768.0 * 768 + 768.0 * 30522)},
    {BERT("BertForMaskedLM", 1024, 4096, 24, 16, 30522), 335174458, 1024, 4096, 24, 512,
     512 * (1024.0 * 1024 + 1024.0 * 30522)},
    {BERT("BertForSequenceClassification", 768, 3072, 12, 12, 30522), 109483778, 768, 3072, 12, 512,
     768.0 * 768 + 768.0 * 2},
    {BERT("BertForQuestionAnswering", 768, 3072, 12, 12, 30522), 108893186, 768, 3072, 12, 512,
     512 * 768.0 * 2},
    {BERT("BertModel", 768, 3072, 12, 12, 30522), 109482240, 768, 3072, 12, 512, 768.0 * 768},
    {ROBERTA("roberta", 50265), 124697433, 768, 3072, 12, 512, 512 * (768.0 * 768 + 768.0 * 50265)},
    {ROBERTA("xlm-roberta", 250002), 278295186, 768, 3072, 12, 512,
     512 * (768.0 * 768 + 768.0 * 250002)},
    {DISTILBERT("DistilBertForMaskedLM"), 66985530, 768, 3072, 6, 512,
     512 * (768.0 * 768 + 768.0 * 30522)},
    {DISTILBERT("DistilBertForSequenceClassification"), 66955010, 768, 3072, 6, 512,
     768.0 * 768 + 768.0 * 2},
    {VIT("ViTForImageClassification", "vit", 768, 12, 12, 16,
         ",\"intermediate_size\":3072,\"image_size\":224,\"num_labels\":1000"),
     86567656, 768, 3072, 12, 197, 196 * 768.0 * 768 + 768.0 * 1000},
    {VIT("ViTForImageClassification", "vit", 1024, 24, 16, 16,
         ",\"intermediate_size\":4096,\"image_size\":224,\"num_labels\":1000"),
     304326632, 1024, 4096, 24, 197, 196 * 768.0 * 1024 + 1024.0 * 1000},
    {VIT("ViTModel", "vit", 768, 12, 12, 16, ",\"intermediate_size\":3072,\"image_size\":224"),
     86389248, 768, 3072, 12, 197, 196 * 768.0 * 768 + 768.0 * 768},
    {VIT("Dinov2Model", "dinov2", 768, 12, 12, 14, ",\"mlp_ratio\":4,\"image_size\":518"), 86580480,
     768, 3072, 12, 1370, 1369 * 588.0 * 768},
};

static struct hm_imported *take(const char *config)
{
    struct hm_import_from from = {.name = "config.json", .data = config, .length = strlen(config)};
    struct hm_imported *im = NULL;
    struct hm_err err = {0};

    if (hm__import_new(&from, &im, &err))
        fail_msg("%s", err.message);
    assert_string_equal(im->importer->name, "hf-config");
    return im;
}

static void layers_have_the_published_counts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(encoders) / sizeof(encoders[0]); i++) {
        const struct encoder *e = &encoders[i];
        struct hm_imported *im = take(e->config);
        struct hm_counts *counts = NULL;
        struct hm_err err = {0};
        char published[80];

        snprintf(published, sizeof(published), "published: {parameters: %.0f}", e->parameters);
        if (!strstr(im->document.data, published))
            fail_msg("no '%s' in %s", published, im->document.data);
        hm__text_add(&im->document, "batch: 1\n");
        struct hm_job *job = parse_job(im->document.data);
        if (hm_counts_new(job->network, "t", &counts, &err))
            fail_msg("%s", err.message);
        hm_assert_near(counts->parameters, e->parameters, 0, published, (int)i);
        /* Four matrices of attention, two of the feed-forward layer, scores and weighted sums. */
        double matrices = 4 * e->hidden * e->hidden + 2 * e->hidden * e->ffn;
        double wanted = e->layers * e->tokens * (matrices + 2 * e->hidden * e->tokens) + e->rest;
        hm_assert_near(counts->multiply_adds, wanted, 1e-12, published, (int)i);
        hm_counts_free(counts);
        hm_job_free(job);
        hm__import_free(im);
    }
}

/* Networks whose layers share weights or have other shapes are given by their totals. */
static void others_are_given_by_totals(void **state)
{
    struct hm_imported *im =
        take("{\"model_type\":\"albert\",\"hidden_size\":768,\"intermediate_size\":3072,"
             "\"num_hidden_layers\":12,\"num_attention_heads\":12,\"vocab_size\":30000,"
             "\"max_position_embeddings\":512,\"embedding_size\":128}");

    (void)state;
    assert_non_null(strstr(im->document.data, "  forward: "));
    assert_null(strstr(im->document.data, "layers:"));
    hm__import_free(im);
    im = take(
        BERT("BertForMaskedLM", 770, 3072, 12, 12, 30522)); /* The heads have no whole width. */
    assert_null(strstr(im->document.data, "layers:"));
    hm__import_free(im);
    im = take(BERT("BertForMaskedLM", 768, 3072, 1001, 12, 30522)); /* A job repeats layers at most
                                                                       1000 times. */
    assert_null(strstr(im->document.data, "layers:"));
    hm__import_free(im);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_have_the_published_counts),
        cmocka_unit_test(others_are_given_by_totals),
    };

    return cmocka_run_group_tests_name("hf_layers", tests, NULL, NULL);
}
