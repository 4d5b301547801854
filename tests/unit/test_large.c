/*
 * Compares the model of large networks with an independent program (tools/oracle/large.py, through
 * the table tests/data/large.tsv), with the published worked examples, digit by digit, and with
 * published counts.
 */
#include "large_testing.h"

#include <math.h>

enum { INPUTS = 50, RESULTS = 14, LINE = 8192 };

static const double GIB = 1073741824.0;

/* One evaluation of the model with all its inputs. */
struct example {
    char name[32];
    struct hm_transformer network;
    struct hm_large_device device;
    struct hm_large_work work;
    struct hm_layout layout;
    double results[RESULTS];
};

static void set_example(struct example *x, const double *v)
{
    hm_transformer_init(&x->network);
    x->network.layers = v[0], x->network.hidden = v[1], x->network.ffn = v[2];
    x->network.heads = v[3], x->network.kv_heads = v[4], x->network.head_dim = v[5];
    x->network.vocabulary = v[6], x->network.gated = v[7] > 0, x->network.tied = v[8] > 0;
    x->network.experts = v[9], x->network.experts_per_token = v[10];
    x->network.expert_ffn = v[11], x->network.shared_ffn = v[12], x->network.dense_layers = v[13];
    x->device = (struct hm_large_device){.family = (enum hm_large_family)v[14],
                                         .flops_16 = v[15],
                                         .flops_8 = v[16],
                                         .flops_4 = v[17],
                                         .bandwidth_bytes_per_s = v[18],
                                         .processors = v[19],
                                         .link_bytes_per_s = v[20],
                                         .per_node = v[21],
                                         .network_bytes_per_s = v[22]};
    /* The kinds of software, in the order of the oracle. */
    static const enum hm_software order[] = {HM_SOFTWARE_TUNED, HM_SOFTWARE_EAGER,
                                             HM_SOFTWARE_COMPILED};
    enum hm_software software = order[(size_t)v[27]];
    x->work = (struct hm_large_work){.network = &x->network,
                                     .sequence = v[23],
                                     .batch = v[24],
                                     .precision = (enum hm_number_format)v[25],
                                     .attention = (enum hm_attention)v[26],
                                     .software = software,
                                     .send_bytes = v[28],
                                     .weight_bytes = v[29],
                                     .gradient_bytes = v[30],
                                     .optimizer_bytes = v[31],
                                     .trained = 1,
                                     .overlap_data = v[32] > 0,
                                     .overlap_gather = v[33] > 0,
                                     .overlap_tensor = v[34] > 0,
                                     .overlap_pipeline = v[35] > 0,
                                     .split_messages = v[36] > 0,
                                     .weigh_head = v[37] > 0,
                                     .graphs = v[38] > 0,
                                     .dropout = v[39] > 0,
                                     .fused_gate = software == HM_SOFTWARE_TUNED};
    x->layout = (struct hm_layout){.tensor = v[40],
                                   .pipeline = v[41],
                                   .interleave = v[42],
                                   .context = v[43],
                                   .expert = v[44],
                                   .data = v[45],
                                   .micro_batch = v[46],
                                   .zero = v[47],
                                   .sequence_parallel = v[48] > 0,
                                   .recompute = (enum hm_recompute)v[49]};
}

/* Reads the next row of the table; false at its end. */
static bool next_example(FILE *file, struct example *x)
{
    char line[LINE];
    double values[INPUTS + RESULTS];

    do {
        if (!fgets(line, sizeof(line), file))
            return false;
    } while (line[0] == '#');
    char *at = strchr(line, '\t');
    assert_non_null(at);
    snprintf(x->name, sizeof(x->name), "%.*s", (int)(at - line), line);
    for (int i = 0; i < INPUTS + RESULTS; i++)
        values[i] = strtod(at, &at);
    set_example(x, values);
    memcpy(x->results, values + INPUTS, sizeof(x->results));
    return true;
}

/* Evaluates an example; the results have the order of the table's columns. */
static void eval_example(const struct example *x, double *ret_results)
{
    const struct hm_large_case situation = {&x->device, &x->work, &hm__large_reference};
    struct hm_large_times times;
    struct hm_large_step s;
    struct hm_large_memory m;

    hm__large_times(&situation, &x->layout, &times);
    hm__large_step(&situation, &x->layout, &times, &s);
    hm__large_memory(&situation, &x->layout, &m);
    double tokens = x->work.batch * x->work.sequence / s.time_s / hm__layout_workers(&x->layout);
    const double results[RESULTS] = {
        s.time_s,
        s.compute_s,
        s.head_s,
        s.tensor_s,
        s.expert_s,
        s.context_s,
        s.bubble_s,
        s.message_s,
        s.data_s,
        s.optimizer_s,
        hm__large_flop(&x->network, x->work.sequence, .5) * tokens / x->device.flops_16,
        (m.weights + m.gradients + m.optimizer) / GIB,
        (m.activations + m.logits + m.buffers) / GIB,
        m.total / GIB,
    };
    memcpy(ret_results, results, sizeof(results));
}

/* Weights and states of 6 bytes for each parameter move half of the bytes of those of 12 bytes;
 * more than 12 bytes move as many as 12. */
static void small_states_move_fewer_bytes(void **state)
{
    enum { OPTIMIZER_S = 9 };
    static const double bytes[] = {10, 12, 4};
    FILE *file = open_source("tests/data/large.tsv");
    double results[3][RESULTS];
    struct example x;

    (void)state;
    assert_true(next_example(file, &x));
    fclose(file);
    x.work.weight_bytes = 2;
    for (size_t i = 0; i < 3; i++) {
        x.work.optimizer_bytes = bytes[i];
        eval_example(&x, results[i]);
    }
    assert_true(results[0][OPTIMIZER_S] > 0);
    assert_near(results[1][OPTIMIZER_S], results[0][OPTIMIZER_S], 1e-12);
    assert_near(results[2][OPTIMIZER_S], results[0][OPTIMIZER_S] / 2, 1e-12);
}

static void test_oracle(void **state)
{
    FILE *file = open_source("tests/data/large.tsv");
    struct example x;
    size_t rows = 0;

    (void)state;
    while (next_example(file, &x)) {
        double results[RESULTS];
        eval_example(&x, results);
        for (int i = 0; i < RESULTS; i++)
            if (!(fabs(results[i] - x.results[i]) <= 1e-8 * fabs(x.results[i]) + 1e-12))
                fail_msg("%s: result %d is %.10g, the oracle says %.10g", x.name, i, results[i],
                         x.results[i]);
        rows++;
    }
    fclose(file);
    assert_true(rows == 307);
}

/* The worked examples of the literature review, with the digits that it prints. */
static const struct {
    const char *name;
    const char *figures[RESULTS]; /* Printed figures in the order of the table; NULL if a figure is
                                     not printed. */
} published[] = {
    {"A",
     {"30.067", "23.511", ".4725", "3.0201", NULL, NULL, ".6450", ".2974", ".6727", ".0731",
      ".3478", "46.88", "6.54", "54.55"}},
    {"B",
     {"2.0531", "1.8941", ".1038", NULL, NULL, NULL, NULL, NULL, ".0127", ".0327", ".4153", "22.45",
      "51.38", "75.87"}},
    {"C",
     {"2.0894", "1.8941", ".1038", NULL, NULL, NULL, NULL, NULL, ".0180", ".0208", ".4081", "9.37",
      "51.38", "62.78"}},
    {"D",
     {"15.957", "12.965", "1.5325", ".6907", NULL, NULL, ".2988", ".1485", ".0002", ".0220",
      ".4664", "26.84", "49.75", "78.59"}},
    {"E",
     {"6.7215", "4.6129", ".3720", ".7521", NULL, NULL, ".6308", ".0650", ".0592", ".0085", ".3888",
      "19.58", "64.56", "86.44"}},
    {"F",
     {"3.1018", "2.3989", ".0551", ".0273", ".1595", NULL, ".0404", ".0164", ".2998", ".0126",
      ".4257", "22.07", "17.85", "41.28"}},
    {"G",
     {"4.2014", "3.9566", ".1931", NULL, NULL, NULL, NULL, NULL, ".0013", ".0406", ".4901", "23.17",
      "22.67", "47.30"}},
};

/*
 * Checks that a value rounds to the printed figure: it differs by at most half of its last digit.
 */
static void check_figure(const char *name, int index, double value, const char *figure)
{
    double unit = pow(10, -(double)(strlen(strchr(figure, '.')) - 1));

    if (!(fabs(value - atof(figure)) <= .5001 * unit))
        fail_msg("example %s, figure %d: %.6g, printed %s", name, index, value, figure);
}

static void test_published(void **state)
{
    FILE *file = open_source("tests/data/large.tsv");
    struct example x;

    (void)state;
    for (size_t i = 0; i < sizeof(published) / sizeof(published[0]); i++) {
        double results[RESULTS];
        assert_true(next_example(file, &x));
        assert_string_equal(x.name, published[i].name);
        eval_example(&x, results);
        for (int k = 0; k < RESULTS; k++)
            if (published[i].figures[k])
                check_figure(x.name, k, results[k], published[i].figures[k]);
    }
    fclose(file);
}

static void test_gemm(void **state)
{
    const struct hm_large_device a100 = {.family = HM_FAMILY_AMPERE,
                                         .flops_16 = 312e12,
                                         .bandwidth_bytes_per_s = 2.039e12,
                                         .processors = 108};
    const struct hm_large_device h100 = {.family = HM_FAMILY_HOPPER,
                                         .flops_16 = 989e12,
                                         .bandwidth_bytes_per_s = 3.35e12,
                                         .processors = 132};
    const struct hm_large_case a = {&a100, NULL, &hm__large_reference};
    const struct hm_large_case h = {&h100, NULL, &hm__large_reference};

    (void)state;
    check_figure("gemm", 0, 1e6 * hm__large_gemm(&a, 312e12, 2048, 4608, 12288), "1074.5");
    check_figure("gemm", 1, 1e6 * hm__large_gemm(&a, 312e12, 4096, 4096, 4096), "610.1");
    check_figure("gemm", 2, 1e6 * hm__large_gemm(&a, 312e12, 512, 512, 4096), "20.73");
    check_figure("gemm", 3, 1e6 * hm__large_gemm(&h, 989e12, 16384, 28672, 4096), "6263.");
    check_figure("gemm", 4, 1e6 * hm__large_gemm(&h, 989e12, 4096, 4096, 4096), "229.6");
}

/* The times of the layer of the first example, in milliseconds. */
static void test_layer(void **state)
{
    FILE *file = open_source("tests/data/large.tsv");
    struct hm_large_times times;
    struct example x;

    (void)state;
    assert_true(next_example(file, &x));
    fclose(file);
    const struct hm_large_case situation = {&x.device, &x.work, &hm__large_reference};
    hm__large_times(&situation, &x.layout, &times);
    const struct hm_large_layer *layer = &times.layers[0];
    check_figure("A", 0, 1e3 * layer->forward, "5.225");
    check_figure("A", 1, 1e3 * layer->maps, "1.456");
    check_figure("A", 2, 1e3 * layer->core, ".450");
    check_figure("A", 3, 1e3 * layer->mlp, "2.866");
    check_figure("A", 4, 1e3 * layer->traffic, ".453");
    check_figure("A", 5, 1e3 * layer->backward, "9.959");
    check_figure("A", 6, 1e3 * layer->host_forward, ".754");
    check_figure("A", 7, 1e3 * layer->host_backward, ".779");
}

static void test_counts(void **state)
{
    struct hm_transformer x;

    (void)state;
    hm_transformer_init(&x);
    x.layers = 32, x.hidden = 4096, x.ffn = 14336, x.heads = 32, x.kv_heads = 8;
    x.vocabulary = 128256, x.gated = true;
    hm__transformer_complete(&x);
    assert_int_equal(hm__transformer_check(&x, NULL), 0);
    assert_true(hm__large_parameters(&x) == 8030261248.0);
    check_figure("llama-3-8b", 0, hm__large_flop(&x, 8192, .5) / 1e9, "51.470");
    check_figure("llama-3-8b", 1, hm__large_flop(&x, 8192, 1) / 1e9, "57.913");
    x.experts = 8, x.experts_per_token = 2, x.vocabulary = 32000;
    hm__transformer_complete(&x);
    check_figure("mixtral", 0, hm__large_parameters(&x) / 1e9, "46.703");
    check_figure("mixtral", 1, hm__large_active(&x) / 1e9, "12.748");
    hm_transformer_init(&x);
    x.layers = 126, x.hidden = 16384, x.ffn = 53248, x.heads = 128, x.kv_heads = 8;
    x.vocabulary = 128256, x.gated = true;
    hm__transformer_complete(&x);
    check_figure("llama-3.1-405b", 0, hm__large_parameters(&x) / 1e9, "405.853");
    check_figure("llama-3.1-405b", 1, hm__large_flop(&x, 8192, .5) / 1e12, "2.5240");
    check_figure("llama-3.1-405b", 2, hm__large_flop(&x, 8192, 1) / 1e12, "2.6254");
    hm_transformer_init(&x);
    x.layers = 96, x.hidden = 12288, x.ffn = 49152, x.heads = 96, x.vocabulary = 51200;
    x.tied = true;
    hm__transformer_complete(&x);
    check_figure("gpt-3", 0, hm__large_parameters(&x) / 1e9, "174.58");
    check_figure("gpt-3", 1, hm__large_flop(&x, 2048, .5) / 1e12, "1.0619");
    hm_transformer_init(&x);
    x.layers = 61, x.hidden = 7168, x.ffn = 18432, x.heads = 128, x.vocabulary = 129280;
    x.gated = true, x.experts = 256, x.experts_per_token = 8, x.expert_ffn = x.shared_ffn = 2048;
    x.dense_layers = 3;
    x.latent = (struct hm_latent){1536, 512, 128, 64, 128};
    hm__transformer_complete(&x);
    assert_int_equal(hm__transformer_check(&x, NULL), 0);
    check_figure("deepseek-v3", 0, hm__large_parameters(&x) / 1e9, "671.");
    check_figure("deepseek-v3", 1, hm__large_active(&x) / 1e9, "37.");
}

/* Every mistake in a network or a layout must be reported with its field and value. */
/* In a torus, a ring over one axis uses only the links of this axis, and a ring over the whole
 * torus uses all links. */
static void test_torus(void **state)
{
    struct hm_large_constants constants = hm__large_reference;
    struct hm_large_device device = {.link_bytes_per_s = 300e9, .per_node = 256};
    const struct hm_large_case x = {&device, NULL, &constants, NULL};
    double bytes = 1e9, rate = 300e9 * constants.link, start = constants.link_s;

    (void)state;
    double flat = hm__large_collective(&x, 8, 8, bytes, 1);
    assert_near(flat, 7. / 8 * bytes / rate + start, 1e-12);
    device.torus[0] = device.torus[1] = 8;
    device.torus[2] = 4;
    /* A ring over one axis of three uses a third of the links, and takes 4 hops of 1 us. */
    assert_near(hm__large_collective(&x, 8, 8, bytes, 1),
                7. / 8 * bytes / (rate / 3) + start + 4e-6, 1e-12);
    /* A ring over two axes uses two thirds of the links, and takes 8 hops. */
    assert_near(hm__large_collective(&x, 64, 64, bytes, 1),
                63. / 64 * bytes / (rate * 2 / 3) + start + 8e-6, 1e-12);
    assert_near(hm__large_collective(&x, 256, 256, bytes, 1),
                255. / 256 * bytes / rate + start + 10e-6, 1e-12);
    device.torus[2] = 0; /* The torus now has two axes. */
    assert_near(hm__large_collective(&x, 8, 8, bytes, 2),
                2 * (7. / 8 * bytes / (rate / 2) + start + 4e-6), 1e-12);
}

/* States that are offloaded to the host need no memory on the device, but they need time on the
 * host. */
static void test_offload(void **state)
{
    struct hm_transformer net = {.layers = 32,
                                 .hidden = 4096,
                                 .ffn = 14336,
                                 .heads = 32,
                                 .kv_heads = 8,
                                 .head_dim = 128,
                                 .vocabulary = 128256,
                                 .gated = true,
                                 .norms = 2};
    struct hm_large_device device;
    struct hm_large_work work = {.network = &net,
                                 .sequence = 4096,
                                 .batch = 8,
                                 .attention = HM_ATTENTION_FLASH2,
                                 .weight_bytes = 2,
                                 .gradient_bytes = 4,
                                 .optimizer_bytes = 12,
                                 .send_bytes = 4,
                                 .trained = 1};
    struct hm_layout layout = {.tensor = 1,
                               .pipeline = 1,
                               .interleave = 1,
                               .context = 1,
                               .expert = 1,
                               .data = 1,
                               .micro_batch = 1,
                               .zero = 2};
    struct hm_large_memory memory[HM_OFFLOADS];
    struct hm_large_step steps[HM_OFFLOADS];
    struct hm_large_times times;

    (void)state;
    device_named("h100-sxm", &device);
    const struct hm_large_case x = {&device, &work, &hm__large_reference, NULL};
    for (int i = 0; i < HM_OFFLOADS; i++) {
        layout.offload = (enum hm_offload)i;
        hm__large_memory(&x, &layout, &memory[i]);
        hm__large_times(&x, &layout, &times);
        hm__large_step(&x, &layout, &times, &steps[i]);
    }
    /* The parameters of the last norm are not counted. */
    double count = hm__large_parameters(&net) - net.hidden;
    assert_near(memory[0].optimizer, 12 * count, 1e-6);
    assert_true(memory[1].optimizer == 0 && memory[1].gradients < .1 * memory[0].gradients);
    assert_true(memory[1].weights == memory[0].weights &&
                memory[2].weights < .3 * memory[1].weights);
    /* The host stores what the device does not: the states of the optimizer, sharded gradients
     * except those of two layers, and the weights. */
    assert_true(memory[0].host == 0);
    assert_near(memory[1].host, memory[0].optimizer + memory[0].gradients - memory[1].gradients,
                1e-9);
    assert_near(memory[2].host, memory[1].host + memory[0].weights, 1e-9);
    /* The optimizer moves 28 bytes of host memory per parameter at 115 GB/s, and 2 bytes over PCI
     * Express 5. */
    assert_near(steps[1].optimizer_s, count * (28 / 115e9 + 2 / 50.4e9), 1e-6);
    assert_true(steps[2].time_s > steps[1].time_s && steps[1].time_s > steps[0].time_s);
}

static void test_checks(void **state)
{
    struct example x;
    FILE *file = open_source("tests/data/large.tsv");
    struct hm_err err = {0};

    (void)state;
    for (int i = 0; i < 6; i++) /* Find example F, which has experts. */
        assert_true(next_example(file, &x));
    fclose(file);
    assert_int_equal(hm__layout_check(&x.layout, &x.work, NULL), 0);
#define CHECK_LAYOUT(member, value, text)                                                          \
    do {                                                                                           \
        struct hm_layout wrong = x.layout;                                                         \
        wrong.member = value;                                                                      \
        err = (struct hm_err){0};                                                                  \
        assert_true(hm__layout_check(&wrong, &x.work, &err) < 0);                                  \
        assert_string_equal(err.field, #member);                                                   \
        assert_non_null(strstr(err.message, text));                                                \
    } while (0)
    CHECK_LAYOUT(tensor, 64, "64 is more than heads, which is 32");
    CHECK_LAYOUT(tensor, 3, "3 does not divide heads, which is 32");
    CHECK_LAYOUT(pipeline, 33, "33 is more than layers, which is 32");
    CHECK_LAYOUT(interleave, 30, "30 times pipeline is more than layers");
    CHECK_LAYOUT(context, 3, "3 does not divide sequence");
    CHECK_LAYOUT(expert, 3, "3 does not divide experts, which is 8");
    CHECK_LAYOUT(data, 1024, "1024 times micro_batch is more than");
    CHECK_LAYOUT(micro_batch, 0, "0 is out of range");
    CHECK_LAYOUT(zero, 4, "4 is out of range");
#undef CHECK_LAYOUT
    struct hm_transformer wrong = x.network;
    wrong.kv_heads = 5;
    assert_true(hm__transformer_check(&wrong, &err) < 0);
    wrong = x.network;
    wrong.experts_per_token = 9;
    assert_true(hm__transformer_check(&wrong, NULL) < 0);
    wrong = x.network;
    wrong.layers = NAN;
    assert_true(hm__transformer_check(&wrong, NULL) < 0);
}

/* The last stage also has the head. The largest stage, in layers, is as small as possible; of equal
 * layouts, the one with the most layers in the last stage is taken, up to the mean. */
static void stages_share_the_layers(void **state)
{
    static const struct {
        double layers, stages, head, last, other;
    } rows[] = {{5, 2, 0, 2, 3},   {8, 4, 0, 2, 2},   {8, 4, 1, 2, 2},    {8, 4, 2, 1, 3},
                {9, 4, 0, 2, 3},   {9, 4, 0.5, 2, 3}, {126, 16, 1, 7, 8}, {126, 16, 2, 6, 8},
                {80, 8, 3, 8, 11}, {2, 2, 5, 0, 2},   {64, 8, 0, 8, 8}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct hm_large_stages s = hm__large_stages(rows[i].layers, rows[i].stages, rows[i].head);
        assert_true(s.last == rows[i].last && s.other == rows[i].other);
    }
}

/* A group with one worker in each torus does not use the links of the torus, so that its rate is
 * that of the network. */
static void a_torus_is_not_used_by_single_workers(void **state)
{
    const struct hm_large_device device = {.family = HM_FAMILY_OTHER,
                                           .link_bytes_per_s = 100e9,
                                           .network_bytes_per_s = 50e9,
                                           .per_node = 64,
                                           .torus = {4, 4, 4}};
    const struct hm_large_case x = {&device, NULL, &hm__large_reference};
    const struct hm_large_constants *c = &hm__large_reference;
    const double bytes = 1e9, rate = 50e9 * c->network / 64;

    (void)state;
    assert_true(fabs(hm__large_collective(&x, 2, 1, bytes, 2) -
                     2 * (bytes / 2 / rate + c->link_s + c->network_s)) < 1e-9);
}

/* Stages that cannot have equal numbers of layers are as slow as the largest one, and embedding and
 * head may take the places of up to three layers. */
static void stages_may_be_uneven(void **state)
{
    const struct hm_transformer llama = {.layers = 126, .hidden = 16384, .vocabulary = 128256},
                                deepseek = {.layers = 61, .hidden = 7168, .vocabulary = 129280};
    struct hm_large_work work = {.network = &llama};

    (void)state;
    assert_true(hm__large_weighs(&work, 16) && !hm__large_weighs(&work, 9));
    assert_false(hm__large_weighs(&work, 1));
    assert_true(hm__layout_missing(126, 128) == 2 && hm__layout_missing(126, 126) == 0);
    work.network = &deepseek;
    assert_true(hm__large_weighs(&work, 16) && hm__layout_missing(61, 64) == 3);
    work.weigh_head = true;
    assert_true(hm__large_weighs(&work, 61));
    /* 78 layers on 12 stages: all but the last have 7. */
    assert_true(hm__large_stages(78, 12, .5).other == 7);
}

/* Returns the time of a layer of unfused attention with heads of `width` values. */
static double unfused_layer(double heads, double width, double reach)
{
    const struct hm_transformer net = {.layers = 2,
                                       .hidden = 13824,
                                       .ffn = 55296,
                                       .heads = heads,
                                       .kv_heads = heads,
                                       .head_dim = width,
                                       .vocabulary = 50304};
    const struct hm_large_device device = {.family = HM_FAMILY_AMPERE,
                                           .flops_16 = 312e12,
                                           .bandwidth_bytes_per_s = 2e12,
                                           .processors = 108,
                                           .per_node = 8,
                                           .link_bytes_per_s = 300e9,
                                           .reach = reach};
    const struct hm_large_work work = {.network = &net,
                                       .sequence = 2048,
                                       .batch = 8,
                                       .precision = HM_FORMAT_FP16,
                                       .attention = HM_ATTENTION_UNFUSED,
                                       .trained = 1};
    const struct hm_large_case x = {&device, &work, &hm__large_reference};
    const struct hm_layout layout = {.tensor = 8,
                                     .pipeline = 1,
                                     .interleave = 1,
                                     .context = 1,
                                     .expert = 1,
                                     .data = 1,
                                     .micro_batch = 4};
    struct hm_large_times times;

    hm__large_times(&x, &layout, &times);
    return times.layers[0].forward;
}

/* In published runs, heads of 108 values take a third longer than those of 144; the rates of a
 * device with a lower power limit are lower. */
static void units_have_limits(void **state)
{
    (void)state;
    assert_true(unfused_layer(128, 108, 1) > 1.2 * unfused_layer(96, 144, 1));
    assert_true(unfused_layer(128, 112, 1) < 1.1 * unfused_layer(96, 144, 1));
    assert_true(unfused_layer(96, 144, .845) > 1.1 * unfused_layer(96, 144, 1));
    assert_true(unfused_layer(96, 144, 0) == unfused_layer(96, 144, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_states_move_fewer_bytes),
        cmocka_unit_test(test_oracle),
        cmocka_unit_test(test_published),
        cmocka_unit_test(test_gemm),
        cmocka_unit_test(test_layer),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_checks),
        cmocka_unit_test(test_torus),
        cmocka_unit_test(test_offload),
        cmocka_unit_test(stages_share_the_layers),
        cmocka_unit_test(a_torus_is_not_used_by_single_workers),
        cmocka_unit_test(stages_may_be_uneven),
        cmocka_unit_test(units_have_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
