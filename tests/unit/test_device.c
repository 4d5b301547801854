/*
 * Tests the times of operations on an accelerator. Matrix products are compared with the worked
 * examples of the reference of large language models (A100 and H100, with its constants),
 * all-reduces with measured limits, and the precisions with those that each generation of
 * accelerators supports.
 */
#include "testing.h"

#include "allreduce.h"
#include "device.h"

static struct hm_constants reference_constants(void)
{
    struct hm_constants k = hm__constants;

    k.gemm_ramp = 137;
    k.stream = 0.751;
    k.kernel = 0;
    return k;
}

static struct hm_node card(double rate, double bandwidth, double processors, double efficiency)
{
    return (struct hm_node){.flops_16 = rate,
                            .flops_bf16 = rate,
                            .flops_32 = rate / 16,
                            .memory_bandwidth_bytes_per_s = bandwidth,
                            .processors = processors,
                            .matrix_efficiency = efficiency,
                            .accelerators = 1};
}

static void products_agree_with_worked_examples(void **state)
{
    const struct {
        bool hopper;
        double m, n, k, microseconds;
    } examples[] = {
        {false, 2048, 4608, 12288, 1074.5}, {false, 4096, 4096, 4096, 610.1},
        {false, 512, 512, 4096, 20.73},     {true, 16384, 28672, 4096, 6263},
        {true, 4096, 4096, 4096, 229.6},
    };
    const struct hm_constants k = reference_constants();
    const struct hm_node a100 = card(312e12, 2.039e12, 108, 0.787);
    const struct hm_node h100 = card(989e12, 3.35e12, 132, 0.645);

    (void)state;
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
        struct hm_device d;
        assert_true(hm__device_init(&d, examples[i].hopper ? &h100 : &a100, HM_MATH_BF16, 32,
                                    HM_SOFTWARE_EAGER, &k));
        double time = hm__device_gemm(&d, examples[i].m, examples[i].n, examples[i].k, 1);
        hm_assert_near(time * 1e6, examples[i].microseconds, 1e-3, "product", (int)i);
    }
}

static void sides_that_are_not_aligned_are_slower(void **state)
{
    const struct hm_node h100 = card(989e12, 3.35e12, 132, 0.7);
    struct hm_device d;

    (void)state;
    assert_true(hm__device_init(&d, &h100, HM_MATH_BF16, 32, HM_SOFTWARE_EAGER, NULL));
    double even = hm__device_gemm(&d, 8192, 50304, 1024, 1);
    assert_true(hm__device_gemm(&d, 8192, 50257, 1024, 1) > 1.5 * even);
    /* Without matrix units, the alignment has no effect. */
    assert_true(hm__device_init(&d, &h100, HM_MATH_FP32, 32, HM_SOFTWARE_EAGER, NULL));
    even = hm__device_gemm(&d, 8192, 50304, 1024, 1);
    assert_true(hm__device_gemm(&d, 8192, 50257, 1024, 1) < 1.01 * even);
}

static void precisions_fall_back_to_what_a_card_has(void **state)
{
    struct hm_node volta = {.flops_16 = 125e12, .flops_32 = 15.7e12, .flops_64 = 7.8e12};
    struct hm_node ampere = {.flops_16 = 312e12,
                             .flops_bf16 = 312e12,
                             .flops_tf32 = 156e12,
                             .flops_32 = 19.5e12,
                             .flops_64 = 9.7e12};
    enum hm_math math;

    (void)state;
    assert_near(hm__node_rate(&ampere, HM_MATH_TF32, 32, &math), 156e12, 0);
    assert_int_equal(math, HM_MATH_TF32);
    assert_near(hm__node_rate(&volta, HM_MATH_TF32, 32, &math), 15.7e12, 0);
    assert_int_equal(math, HM_MATH_FP32);
    assert_near(hm__node_rate(&ampere, HM_MATH_FP32, 32, &math), 19.5e12, 0);
    assert_near(hm__node_rate(&volta, HM_MATH_BF16, 32, &math), 125e12, 0);
    assert_int_equal(math, HM_MATH_FP16);
    assert_near(hm__node_rate(&ampere, HM_MATH_FP8, 32, &math), 312e12, 0);
    assert_int_equal(math, HM_MATH_BF16);
    assert_near(hm__node_rate(&volta, HM_MATH_AUTO, 64, &math), 7.8e12, 0);
    assert_true(isnan(hm__node_rate(&(struct hm_node){.flops_64 = 1}, HM_MATH_AUTO, 32, &math)));
}

/* If the job names no format, mixed precision is used on machines that have matrix units for it. */
static void the_default_is_mixed_precision(void **state)
{
    static const struct {
        struct hm_node node;
        enum hm_math math;
    } cards[] = {
        /* A100, V100, RTX 3090, TPU v4, MI100. */
        {{.flops_16 = 312, .flops_bf16 = 312, .flops_tf32 = 156, .flops_32 = 19.5}, HM_MATH_BF16},
        {{.flops_16 = 125, .flops_32 = 15.7}, HM_MATH_FP16},
        {{.flops_16 = 71, .flops_bf16 = 71, .flops_tf32 = 35.6, .flops_32 = 35.6}, HM_MATH_BF16},
        {{.flops_bf16 = 275}, HM_MATH_BF16},
        {{.flops_16 = 184.6, .flops_bf16 = 92.3, .flops_32 = 23.1}, HM_MATH_BF16},
        /* P100 has fast fp16 vectors and no matrix units; K80 and a processor have neither. */
        {{.flops_16 = 21.2, .flops_32 = 10.6, .flops_64 = 5.3}, HM_MATH_FP32},
        {{.flops_32 = 4.37, .flops_64 = 1.46}, HM_MATH_FP32},
        {{.flops_32 = 0.15, .flops_64 = 0.077}, HM_MATH_FP32},
        /* In this machine, all formats have the same rate. */
        {{.flops_16 = 5, .flops_bf16 = 5, .flops_tf32 = 5, .flops_32 = 5}, HM_MATH_TF32},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cards) / sizeof(cards[0]); i++) {
        enum hm_math math;
        hm__node_rate(&cards[i].node, HM_MATH_AUTO, 32, &math);
        if (math != cards[i].math)
            fail_msg("card %zu: %s", i, hm_math_name(math));
    }
}

/* Frameworks have matrix products in fp8, but neither convolutions nor batch normalisation. */
static void convolutions_in_fp8_have_16_bits(void **state)
{
    const struct hm_conv conv = {.batch = 128,
                                 .in = 256,
                                 .out = 256,
                                 .in_places = 196,
                                 .out_places = 196,
                                 .window = 9,
                                 .stride = 1,
                                 .groups = 1};
    struct hm_node node = card(989e12, 3.35e12, 132, 0.75);
    struct hm_device wide, narrow;

    (void)state;
    node.flops_fp8 = 1979e12;
    assert_true(hm__device_init(&wide, &node, HM_MATH_BF16, 32, HM_SOFTWARE_EAGER, NULL));
    assert_true(hm__device_init(&narrow, &node, HM_MATH_FP8, 32, HM_SOFTWARE_EAGER, NULL));
    for (int pass = HM_PASS_FORWARD; pass <= HM_PASS_WEIGHT; pass++)
        assert_true(hm__device_conv(&narrow, &conv, (enum hm_pass)pass) ==
                    hm__device_conv(&wide, &conv, (enum hm_pass)pass));
    assert_true(hm__device_norm(&narrow, 1e8, 256, false) ==
                hm__device_norm(&wide, 1e8, 256, false));
    assert_true(hm__device_gemm(&narrow, 8192, 8192, 8192, 1) <
                0.7 * hm__device_gemm(&wide, 8192, 8192, 8192, 1));
}

/* Images that are stored position by position need no change of layout, whose time depends on the
 * number of values that a pass reads and writes, and no further kernels. Pointwise convolutions
 * need no change of layout in either case. */
static void channels_last_saves_the_copies(void **state)
{
    struct hm_conv conv = {.batch = 64,
                           .in = 128,
                           .out = 256,
                           .in_places = 784,
                           .out_places = 784,
                           .window = 9,
                           .stride = 1,
                           .groups = 1};
    const struct hm_node node = card(312e12, 2e12, 108, 0.8);
    const double in = 64 * 128 * 784.0, out = 64 * 256 * 784.0;
    const double moved[] = {in + out, out + in, in};
    struct hm_device first, last;

    (void)state;
    assert_true(hm__device_init(&first, &node, HM_MATH_BF16, 32, HM_SOFTWARE_EAGER, NULL));
    last = first;
    last.channels_last = true;
    for (int pass = HM_PASS_FORWARD; pass <= HM_PASS_WEIGHT; pass++) {
        double copies = moved[pass] / (first.slow_values * hm__constants.layout);
        assert_near(hm__device_conv(&first, &conv, (enum hm_pass)pass) -
                        hm__device_conv(&last, &conv, (enum hm_pass)pass),
                    copies + 1e-6 * (2 * hm__constants.kernel + hm__constants.conv_start), 1e-9);
    }
    conv.window = 1;
    assert_near(hm__device_conv(&first, &conv, HM_PASS_FORWARD) -
                    hm__device_conv(&last, &conv, HM_PASS_FORWARD),
                1e-6 * hm__constants.conv_start, 1e-9);
    assert_true(hm__device_norm(&last, 1e8, 256, true) < hm__device_norm(&first, 1e8, 256, true));
}

/* A product with few results and a long inner dimension, as in the gradient of the weights of a
 * first layer, is split until all processors work: 64 x 64 results on 108 processors take less
 * than four times as long as on 27 of them, and more processors never make it slower. */
static void long_products_are_split_over_all_processors(void **state)
{
    const struct hm_node few = card(312e12 / 4, 2e12, 27, 0.8), all = card(312e12, 2e12, 108, 0.8);
    struct hm_device a, b;

    (void)state;
    assert_true(hm__device_init(&a, &few, HM_MATH_BF16, 32, HM_SOFTWARE_EAGER, NULL));
    assert_true(hm__device_init(&b, &all, HM_MATH_BF16, 32, HM_SOFTWARE_EAGER, NULL));
    double slow = hm__device_gemm(&a, 64, 64, 4e6, 1), fast = hm__device_gemm(&b, 64, 64, 4e6, 1);
    assert_in_range((unsigned long)(100 * slow / fast), 250, 400);
}

/* Attention: a fused kernel has a rate of its own for each processor, so matrix units that are
 * twice as fast make it less than twice as fast; without matrix units it is never slower than its
 * products and the passes over the scores. */
static void attention_has_a_limit_of_its_own(void **state)
{
    const struct hm_node slow = card(150e12, 2e12, 108, 0.8), fast = card(300e12, 2e12, 108, 0.8);
    const struct hm_node plain = {.flops_32 = 15e12,
                                  .memory_bandwidth_bytes_per_s = 0.9e12,
                                  .processors = 80,
                                  .matrix_efficiency = 0.8};
    struct hm_device a, b, c;

    (void)state;
    assert_true(hm__device_init(&a, &slow, HM_MATH_BF16, 32, HM_SOFTWARE_EAGER, NULL));
    assert_true(hm__device_init(&b, &fast, HM_MATH_BF16, 32, HM_SOFTWARE_EAGER, NULL));
    double ratio = hm__device_attention(&a, 64, 16, 2048, 128, false) /
                   hm__device_attention(&b, 64, 16, 2048, 128, false);
    assert_true(ratio > 1.05 && ratio < 1.95);
    assert_true(hm__device_init(&c, &plain, HM_MATH_FP32, 32, HM_SOFTWARE_EAGER, NULL));
    double scores = 24 * 12 * 384.0 * 384;
    double limit = 3 * hm__device_gemm(&c, 384, 384, 64, 24 * 12) +
                   hm__device_stream(&c, scores * 4 * hm__constants.score_bytes, 0.5);
    assert_true(hm__device_attention(&c, 24, 12, 384, 64, false) < limit);
}

/* Kernels of an H200 in milliseconds, measured in November 2026 with PyTorch 2.11: batch
 * normalisation of ResNet-50's first layer, pooling of VGG-16's, a depthwise convolution of
 * MobileNet v2, products with a vocabulary of 50257. Those that memory does not limit take as long
 * in bf16 as in TF32. */
static void slow_kernels_count_values(void **state)
{
    struct hm_node node = card(989e12, 4.8e12, 132, 0.75);
    const struct hm_conv depth = {.batch = 128,
                                  .in = 96,
                                  .out = 96,
                                  .in_places = 12544,
                                  .out_places = 3136,
                                  .window = 9,
                                  .stride = 2,
                                  .groups = 96};
    struct hm_device wide, narrow;

    (void)state;
    node.flops_tf32 = 494e12;
    node.flops_32 = 67e12;
    assert_true(hm__device_init(&wide, &node, HM_MATH_TF32, 32, HM_SOFTWARE_EAGER, NULL));
    assert_true(hm__device_init(&narrow, &node, HM_MATH_BF16, 32, HM_SOFTWARE_EAGER, NULL));
    for (int pass = HM_PASS_FORWARD; pass <= HM_PASS_WEIGHT; pass++)
        assert_near(hm__device_conv(&narrow, &depth, (enum hm_pass)pass),
                    hm__device_conv(&wide, &depth, (enum hm_pass)pass), 1e-9);
    assert_near(hm__device_slow(&narrow, 2e9, 1e9, 1), hm__device_slow(&wide, 4e9, 1e9, 1), 1e-9);
    /* Memory limits a kernel with few values. */
    assert_true(hm__device_slow(&wide, 4.8e12, 1, 1) > 0.99);
    /* 103 million values in 64 channels take 0.87 ms forward; twice the channels halve it, but more
     * channels than processors do not, and bf16 is slower. */
    double few = hm__device_norm(&wide, 102.8e6, 64, false);
    assert_near(few, 0.87e-3, 0.1);
    assert_near(hm__device_norm(&wide, 102.8e6, 128, false), few / 2, 0.02);
    assert_near(hm__device_norm(&wide, 102.8e6, 2048, false), few * 64 / 144, 0.02);
    assert_true(hm__device_norm(&narrow, 102.8e6, 64, false) > 1.5 * few);
    /* The measured rates of unaligned products are 94 to 146 and 126 Tflop/s. */
    double flop = 2 * 8192.0 * 768 * 50257;
    assert_near(hm__device_gemm(&narrow, 8192, 50257, 768, 1), flop / 120e12, 0.3);
    assert_near(hm__device_gemm(&wide, 8192, 50257, 768, 1), flop / 126e12, 0.2);
    assert_true(hm__device_gemm(&narrow, 8192, 50304, 768, 1) < flop / 400e12);
}

/* Attention that writes its scores is slower than a fused kernel. */
static void scores_take_time(void **state)
{
    const struct hm_node node = card(312e12, 2e12, 108, 0.8);
    struct hm_device d;

    (void)state;
    assert_true(hm__device_init(&d, &node, HM_MATH_BF16, 32, HM_SOFTWARE_EAGER, NULL));
    double bytes = 64 * 12 * 512.0 * 512 * hm__constants.score_bytes;
    assert_true(hm__device_scores(&d, 64 * 12, 512, 64, false) > bytes / 2e12);
    assert_true(hm__device_scores(&d, 64 * 12, 512, 64, false) >
                2 * hm__device_attention(&d, 64, 12, 512, 64, false));
}

static double allreduce_seconds(double n, double bytes, const struct hm_wires *w)
{
    struct hm_allreduce a = hm__allreduce_init(HM_SCHEME_BEST, n, w, &hm__constants);
    struct hm_wire_time t = hm__allreduce_time(&a, bytes);

    return t.latency_s + t.bandwidth_s;
}

static void an_allreduce_has_a_latency_floor_and_rising_bandwidth(void **state)
{
    struct hm_wires a100 = {
        .fabric = {200e9, 3e-6, false}, .link = {300e9, 3e-6, false}, .per_node = 8, .servers = 1};
    double before = 0;

    (void)state;
    /* The limits are times measured with nccl-tests on 8 A100: 44 us for 32 kB, 46 to 102 us for 1
     * MB. */
    assert_true(allreduce_seconds(8, 32768, &a100) > 30e-6);
    assert_true(allreduce_seconds(8, 1048576, &a100) > 40e-6);
    assert_true(allreduce_seconds(8, 1048576, &a100) < 102e-6);
    for (double bytes = 32768; bytes < 2e10; bytes *= 2) {
        double bus = 1.75 * bytes / allreduce_seconds(8, bytes, &a100);
        assert_true(bus > before && bus < 300e9);
        before = bus;
    }
    assert_near(allreduce_seconds(1, 1e9, &a100), 0, 0);
    /* Inside a node the network does not matter; between nodes it does. */
    struct hm_wires slow = a100;
    slow.fabric.bandwidth_bytes_per_s = 1e9;
    assert_near(allreduce_seconds(8, 1e8, &slow), allreduce_seconds(8, 1e8, &a100), 1e-12);
    assert_true(allreduce_seconds(16, 1e8, &slow) > 10 * allreduce_seconds(16, 1e8, &a100));
    /* A switch that adds up messages (SHARP) helps from five workers on. */
    struct hm_wires sharp = a100;
    sharp.link.reduces = true;
    assert_true(allreduce_seconds(8, 1e9, &sharp) < 0.9 * allreduce_seconds(8, 1e9, &a100));
    assert_near(allreduce_seconds(4, 1e9, &sharp), allreduce_seconds(4, 1e9, &a100), 1e-12);
}

/* The expected latency and transfer time were computed in Python by the formulas at the top of
 * allreduce.c. */
static void allreduces_agree_with_worked_examples(void **state)
{
    static const struct {
        double n;
        struct hm_link link, fabric;
        double bytes, latency, transfer;
    } cases[] = {
        {8,
         {300e9, 3e-6, false, false},
         {200e9, 3e-6, false, false},
         1e6,
         7.1501548e-05,
         7.29166667e-06},
        {16,
         {300e9, 3e-6, false, false},
         {50e9, 16e-6, false, false},
         1e8,
         0.00163727715,
         0.00222222222},
        {64,
         {300e9, 3e-6, false, false},
         {200e9, 3e-6, false, false},
         1e8,
         0.00071212263,
         0.00108024691},
        {2,
         {448e9, 3e-6, false, true},
         {400e9, 3e-6, false, false},
         1e9,
         0.000112808746,
         0.01953125},
        {8,
         {450e9, 3e-6, true, false},
         {400e9, 3e-6, false, false},
         1e6,
         4.45199464e-05,
         3.73931624e-06},
        /* The switches of two nodes add up messages and form a tree. */
        {16,
         {450e9, 3e-6, true, false},
         {400e9, 3e-6, false, false},
         1e9,
         0.000507611347,
         0.00388888889},
    };
    struct hm_constants k = hm__constants;

    (void)state;
    k.coll_start = 20, k.coll_hop = 0.5, k.coll_simple = 30, k.coll_net = 6, k.coll_half = 250;
    k.coll_fill = 60, k.coll_chunk = 18.75, k.coll_link = 0.8, k.coll_port = 0.9;
    k.coll_switch = 1.3, k.coll_tree = 1.25, k.coll_nodes = 0.05;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct hm_wires wires = {
            .fabric = cases[i].fabric, .link = cases[i].link, .per_node = 8, .servers = 1};
        struct hm_allreduce a = hm__allreduce_init(HM_SCHEME_BEST, cases[i].n, &wires, &k);
        struct hm_wire_time t = hm__allreduce_time(&a, cases[i].bytes);
        assert_near(t.latency_s, cases[i].latency, 1e-8);
        assert_near(t.bandwidth_s, cases[i].transfer, 1e-8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_agree_with_worked_examples),
        cmocka_unit_test(allreduces_agree_with_worked_examples),
        cmocka_unit_test(sides_that_are_not_aligned_are_slower),
        cmocka_unit_test(precisions_fall_back_to_what_a_card_has),
        cmocka_unit_test(the_default_is_mixed_precision),
        cmocka_unit_test(convolutions_in_fp8_have_16_bits),
        cmocka_unit_test(channels_last_saves_the_copies),
        cmocka_unit_test(long_products_are_split_over_all_processors),
        cmocka_unit_test(attention_has_a_limit_of_its_own),
        cmocka_unit_test(slow_kernels_count_values),
        cmocka_unit_test(scores_take_time),
        cmocka_unit_test(an_allreduce_has_a_latency_floor_and_rising_bandwidth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
