/*
 * Tests the operations of each kind of layer on a device that moves one byte in one second and
 * starts kernels in no time, so that times are bytes. The bytes that each operation of a framework
 * reads and writes for the values of the layer are counted by hand.
 */
#include "testing.h"

#include "allreduce.h"
#include "layer_ops.h"
#include "step_time.h"

/* Constants with which every stream reaches the bandwidth, slow kernels compute a few values in a
 * second, and the host needs different times for
 * different operations: 1 us forward, 100 us backward and 10,000 us for half a conversion, so that
 * the sum shows the number of each. */
static const struct hm_constants plain = {.stream = 1,
                                          .layer_norm = 1,
                                          .bias_add = 0.2,
                                          .pool_forward = 4,
                                          .pool_backward = 0.5,
                                          .attention_copies = 3,
                                          .loss_bytes = 40,
                                          .recurrent_step = 3e6,
                                          .fuse_compiled = 0.5,
                                          .fuse_tuned = 0.25,
                                          .host_forward = 1,
                                          .host_backward = 100,
                                          .host_cast = 20000,
                                          .host_compiled = 0.5,
                                          .host_tuned = 0.25,
                                          .host_update = 3,
                                          .host_fixed = 1000,
                                          .update_sgd = 1,
                                          .norm_forward = 0.125,
                                          .norm_backward = 0.03125,
                                          .norm_wave = 1,
                                          .norm_wave_backward = 2,
                                          .gemm_tf32 = 1,
                                          .gemm_align1 = 1e30,
                                          .gemm_align2 = 1e30};

/*
 * Makes a device on which matrix products are so fast that only moving their operands takes time.
 */
static struct hm_device make_device(double value_bytes, enum hm_software software)
{
    return (struct hm_device){.math = value_bytes == 4 ? HM_MATH_TF32 : HM_MATH_FP16,
                              .software = software,
                              .rate = 1e30,
                              .reach = 1,
                              .bandwidth = 1,
                              .processors = 1,
                              .slow_values = 1,
                              .value_bytes = value_bytes,
                              .conv_speed = 1,
                              .matrix_units = true,
                              .k = &plain};
}

/* The shape of an image of 2 x 3 places and 5 channels, which has 30 values. */
static const struct hm_shape image = {HM_SHAPE_IMAGE, 2, 3, 5};
/* The shape of a sequence of 6 places and 5 channels, which has 30 values. */
static const struct hm_shape sequence = {HM_SHAPE_SEQUENCE, 6, 1, 5};

/* The expected bytes, and the expected number of operations that the host starts. */
struct wanted_step {
    double forward, backward, kept;
    double forward_ops, backward_ops, casts;
};

static void check_step(const char *what, const struct hm_device *d, const struct hm_count *l,
                       const struct hm_layer_place *place, const struct wanted_step *w)
{
    struct hm_layer_step s = hm__layer_ops(d, l, place, 7);
    double factor = d->software == HM_SOFTWARE_EAGER      ? 1
                    : d->software == HM_SOFTWARE_COMPILED ? 0.5
                                                          : 0.25;
    double casts = d->value_bytes < 4 ? 10000 * w->casts : 0;
    const double wanted[] = {w->forward, w->backward, w->kept,
                             (w->forward_ops + casts) * factor * 1e-6,
                             (100 * w->backward_ops + casts) * factor * 1e-6};
    const double found[] = {s.forward_s, s.backward_s, s.kept_bytes, s.forward_host_s,
                            s.backward_host_s};

    for (int i = 0; i < 5; i++)
        if (fabs(found[i] - wanted[i]) > 1e-9 * fabs(wanted[i]))
            fail_msg("%s, %g bytes, software %d, figure %d: %g instead of %g", what, d->value_bytes,
                     (int)d->software, i, found[i], wanted[i]);
}

/* Layers without matrix products are tested with 7 samples of 30 values: 210 values of 2 or 4
 * bytes. */
static void element_wise_layers_move_their_values(void **state)
{
    static const struct {
        const char *name;
        enum hm_layer_kind kind;
        bool image;
        /* Number of moves of each value in the narrow format. */
        double read_forward, read_backward;
        double wide_forward, wide_backward; /* Number of moves of each value in 4 bytes. */
        /* Further bytes moved for each value, only in the forward pass. */
        double bytes;
        double kept, wide_kept, kept_bytes;
        double forward_ops, backward_ops, casts;
    } rows[] = {
        /* A rectifier of an image works in place. */
        {"relu", HM_LAYER_ACTIVATION, true, 2, 3, 0, 0, 0, 0, 0, 0, 1, 1, 0},
        {"relu", HM_LAYER_ACTIVATION, false, 2, 3, 0, 0, 0, 1, 0, 0, 1, 1, 0},
        {"tanh", HM_LAYER_ACTIVATION, true, 2, 3, 0, 0, 0, 1, 0, 0, 1, 1, 0},
        /* Dropout writes and stores a mask of one byte per value. */
        {"dropout", HM_LAYER_ACTIVATION, true, 2, 3, 0, 0, 1, 0, 0, 1, 1.6, 1, 0},
        {"dropout", HM_LAYER_ACTIVATION, false, 2, 3, 0, 0, 1, 0, 0, 1, 1.6, 1, 0},
        {"concat", HM_LAYER_CONCAT, true, 2, 2, 0, 0, 0, 1, 0, 0, 1.5, 1.5, 0},
        {"scale", HM_LAYER_SCALE, true, 2, 6, 0, 0, 0, 2, 0, 0, 1, 2.5, 0},
        {"add", HM_LAYER_RESIDUAL, true, 3, 3, 0, 0, 0, 0, 0, 0, 1, 1, 0},
        /* Sums of sequences stay in 32 bits. */
        {"add", HM_LAYER_RESIDUAL, false, 0, 0, 3, 3, 0, 0, 1, 0, 1, 1, 0},
        /* A row of 5 values takes as long as 205: 41 times as long as its values. */
        {"norm", HM_LAYER_NORM, false, 0, 0, 2 * 41, 3 * 41 + 4, 0, 1, 0, 0, 1.8, 2.3, 0},
    };
    const struct hm_layer_place place = {.first = false};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (int k = 0; k < 4; k++) {
            double a = k % 2 ? 2 : 4;
            struct hm_device d = make_device(a, k < 2 ? HM_SOFTWARE_EAGER : HM_SOFTWARE_COMPILED);
            struct hm_layer layer = {.kind = rows[i].kind};
            const struct hm_shape *shape = rows[i].image ? &image : &sequence;
            struct hm_count l = {
                .name = rows[i].name, .layer = &layer, .in = *shape, .out = *shape, .inputs = 30};
            double left = k < 2 ? 1 : 0.5; /* Fused kernels move half of the bytes. */
            check_step(
                rows[i].name, &d, &l, &place,
                &(struct wanted_step){
                    210 * left *
                        (rows[i].read_forward * a + rows[i].wide_forward * 4 + rows[i].bytes),
                    210 * left * (rows[i].read_backward * a + rows[i].wide_backward * 4),
                    210 * (rows[i].kept * a + rows[i].wide_kept * 4 + rows[i].kept_bytes),
                    rows[i].forward_ops, rows[i].backward_ops, rows[i].casts});
        }
}

/* GELU by tanh is 8 kernels forward and 11 backward in an eager framework, and one otherwise. */
static void gelu_is_arithmetic_in_eager_frameworks(void **state)
{
    struct hm_layer layer = {.kind = HM_LAYER_ACTIVATION};
    struct hm_count l = {
        .name = "gelu-tanh", .layer = &layer, .in = sequence, .out = sequence, .inputs = 30};
    const struct hm_layer_place place = {.first = false};
    struct hm_device eager = make_device(2, HM_SOFTWARE_EAGER);
    struct hm_device tuned = make_device(2, HM_SOFTWARE_TUNED);

    (void)state;
    check_step("gelu-tanh", &eager, &l, &place,
               &(struct wanted_step){210 * 8 * 2.3 * 4, 210 * 11 * 2.5 * 4, 210 * 4 * 4, 8, 11, 1});
    check_step("gelu-tanh", &tuned, &l, &place,
               &(struct wanted_step){210 * 4 * 0.25, 210 * 6 * 0.25, 210 * 2, 1, 1, 0});
}

/* Pooling 2 x 3 positions to 1 stores an index of 8 bytes; pooling over the whole image stores
 * none. */
static void pooling_keeps_indices(void **state)
{
    const struct hm_shape out = {HM_SHAPE_IMAGE, 1, 1, 5};
    const struct hm_layer_place place = {.first = false};

    (void)state;
    for (int k = 0; k < 2; k++) {
        struct hm_device d = make_device(2, k ? HM_SOFTWARE_COMPILED : HM_SOFTWARE_EAGER);
        struct hm_layer layer = {.kind = HM_LAYER_POOL, .kernel_h = 2, .kernel_w = 3};
        struct hm_count l = {
            .name = "pool", .layer = &layer, .in = image, .out = out, .inputs = 30};
        double left = k ? 0.5 : 1;
        /* Forward, the 770 bytes take longer than 35 windows of 6 reads and 12 more, of which the
         * processor does 4 in a second. Backward, it does half a read in a second: 9 for each
         * input, and those of the windows. */
        check_step("pool", &d, &l, &place,
                   &(struct wanted_step){770 * left, 2 * (210 * 9 + 35 * 6) * left, 35 * (8 + 2),
                                         1.2, 1.9, 0});
        layer.global = true;
        check_step("global pool", &d, &l, &place,
                   &(struct wanted_step){210 * 2, 210 * 2, 35 * 2, 1.2, 1.9, 0});
    }
}

/* A normalisation of images computes an eighth of a value of a channel in a second, and a 32nd
 * in the backward pass; a processor works on one of the 5 channels at a time, or on two. */
static void normalisations_of_images(void **state)
{
    struct hm_layer layer = {.kind = HM_LAYER_NORM};
    struct hm_count l = {.name = "norm", .layer = &layer, .in = image, .out = image, .inputs = 30};
    const struct hm_layer_place place = {.first = false};
    struct hm_device d = make_device(2, HM_SOFTWARE_EAGER);

    (void)state;
    check_step("norm", &d, &l, &place,
               &(struct wanted_step){210 * 8, 210 * 32 / 2, 210 * 2, 2.5, 3.2, 0});
}

/* Returns the bytes of the operands and the result of a matrix product. */
static double product(double m, double n, double k, double bytes)
{
    return (m * k + k * n + m * n) * bytes;
}

/* A dense layer reads all values of an image at once, but each position of a sequence
 * separately. */
static void dense_layers_are_three_products(void **state)
{
    struct hm_layer layer = {.kind = HM_LAYER_DENSE, .units = 11};
    struct hm_count add = {.name = "add"}, relu = {.name = "relu"};

    (void)state;
    for (int k = 0; k < 16; k++) {
        bool places = k & 1, first = k & 2, bias = k & 4;
        double a = k & 8 ? 4 : 2, rows = places ? 42 : 7, in = places ? 5 : 30, out = 11;
        const struct hm_shape to = {places ? HM_SHAPE_SEQUENCE : HM_SHAPE_VECTOR, places ? 6 : 1, 1,
                                    11};
        struct hm_count l = {.name = "dense",
                             .layer = &layer,
                             .in = places ? sequence : image,
                             .out = to,
                             .inputs = 30};
        struct hm_device d = make_device(a, HM_SOFTWARE_EAGER);
        layer.bias = bias ? HM_BIAS_SHARED : HM_BIAS_NONE;
        /* Mixed precision reads weights of 4 bytes and writes 2 bytes, and the reverse for their
         * gradient; in sequences it also converts the input. */
        double cast = a < 4 ? 6 * in * out + (places ? 3 * 210 : 0) : 0;
        double back = product(out, in, rows, a) + (first ? 0 : product(rows, in, out, a)) +
                      (bias ? rows * out * a : 0) + cast;
        const struct hm_layer_place place = {.first = first, .next = k & 1 ? &relu : NULL};
        const struct hm_layer_place before_add = {.first = first, .next = &add};
        struct wanted_step w = {product(rows, out, in, a) + cast, back, rows * out * a, 2, 4.5,
                                (bias ? 2 : 1) + (places ? 1 : 0)};
        check_step("dense", &d, &l, &place, &w);
        w.kept = 0; /* The addition that follows does not need the output again. */
        check_step("dense before add", &d, &l, &before_add, &w);
    }
}

/* The loss reads and writes 40 bytes for each of its values, half of them in the forward pass; it
 * stores logits and their gradients. */
static void the_last_layer_has_a_loss(void **state)
{
    struct hm_layer layer = {.kind = HM_LAYER_CONCAT};
    struct hm_count l = {
        .name = "concat", .layer = &layer, .in = image, .out = image, .inputs = 30};
    const struct hm_layer_place last = {.last = true};
    struct hm_device narrow = make_device(2, HM_SOFTWARE_EAGER);
    struct hm_device wide = make_device(4, HM_SOFTWARE_COMPILED);

    (void)state;
    check_step("loss", &narrow, &l, &last,
               &(struct wanted_step){210 * (4 + 20), 210 * (4 + 20), 210 * (2 + 10), 5.5, 4.5, 1});
    check_step("loss", &wide, &l, &last,
               &(struct wanted_step){210 * (4 + 12), 210 * (4 + 12), 210 * (4 + 8), 5.5, 4.5, 1});
}

/* Attention over 6 places of 10 channels with 2 heads: four projections, and two matrices of
 * scores, which take no time on this device. */
static void attention_projects_and_copies(void **state)
{
    struct hm_layer layer = {.kind = HM_LAYER_ATTENTION, .heads = 2, .bias = HM_BIAS_NONE};
    const struct hm_shape shape = {HM_SHAPE_SEQUENCE, 6, 1, 10};
    struct hm_count l = {
        .name = "attention", .layer = &layer, .in = shape, .out = shape, .inputs = 60};
    const struct hm_layer_place place = {.first = false};
    struct hm_constants k = plain;
    struct hm_device d = make_device(4, HM_SOFTWARE_EAGER);

    (void)state;
    k.flash_wide = k.flash_backward = 1;
    k.flash = 1e30;
    d.k = &k;
    double rows = 42, copies = 3 * 420 * 8;
    double forward = product(rows, 30, 10, 4) + product(rows, 10, 10, 4) + copies;
    double backward = product(30, 10, rows, 4) + product(rows, 10, 30, 4) +
                      product(10, 10, rows, 4) + product(rows, 10, 10, 4) + copies;
    check_step("attention", &d, &l, &place,
               &(struct wanted_step){forward, backward, 5 * 420 * 4, 18, 30, 5});
    /* Biases add the gradients of 30 and 10 values, which are sums over all rows. */
    layer.bias = HM_BIAS_SHARED;
    check_step("attention", &d, &l, &place,
               &(struct wanted_step){forward, backward + rows * 40 * 4, 5 * 420 * 4, 18, 30, 5});
}

/*
 * The core of attention has no projections. In 3 windows of 2 places it computes a third of the
 * scores, which take no time on a fast device.
 */
static void the_core_of_attention_has_no_projections(void **state)
{
    struct hm_layer layer = {
        .kind = HM_LAYER_ATTENTION, .heads = 2, .core = true, .groups = 3, .bias = HM_BIAS_SHARED};
    const struct hm_shape shape = {HM_SHAPE_SEQUENCE, 6, 1, 10};
    struct hm_count l = {
        .name = "attention", .layer = &layer, .in = shape, .out = shape, .inputs = 60};
    const struct hm_layer_place place = {.first = false};
    struct hm_constants k = plain;
    struct hm_device d = make_device(4, HM_SOFTWARE_EAGER), slow;
    double copies = 3 * 420 * 8;

    (void)state;
    k.flash_wide = k.flash_backward = 1;
    k.flash = 1e30, k.flash_length = 256;
    d.k = &k;
    check_step("attention", &d, &l, &place,
               &(struct wanted_step){copies, copies, 2 * 420 * 4, 3.5, 8, 0});
    /* Scores that are written to memory are kept before and after dropout, with a mask. */
    struct hm_layer written = layer;
    struct hm_count second = l;
    written.scores = true;
    second.layer = &written;
    assert_near(hm__layer_ops(&d, &second, &place, 7).kept_bytes,
                2 * 420 * 4 + 7 * 3 * 2 * (2.0 * 2) * 9, 1e-12);
    /* On a slow device, t places take the time of t (t + 256) scores: 3 windows of 2 or 1 of 6. */
    slow = d;
    slow.rate = 1;
    slow.bandwidth = slow.slow_values = 1e30;
    double windows = hm__layer_ops(&slow, &l, &place, 7).forward_s;
    layer.groups = 1;
    double one = hm__layer_ops(&slow, &l, &place, 7).forward_s;
    assert_true(windows > 0 && fabs(one / windows - 6 * 262.0 / (3 * 2 * 258)) < 1e-9);
}

/* Sums, products and copies of 210 values, and products of matrices, by the bytes that they move.
 */
static void pairs_move_their_values(void **state)
{
    struct hm_layer add = {.kind = HM_LAYER_ADD}, multiply = {.kind = HM_LAYER_MULTIPLY};
    struct hm_layer copy = {.kind = HM_LAYER_COPY};
    struct hm_layer matrices = {
        .kind = HM_LAYER_PRODUCT, .times = 2, .positions = 3, .depth = 4, .units = 5};
    const struct hm_layer_place place = {.first = false};
    struct hm_device d = make_device(2, HM_SOFTWARE_EAGER);
    struct hm_count l = {.name = "add", .in = image, .out = image, .inputs = 60, .layer = &add};

    (void)state;
    check_step("add", &d, &l, &place, &(struct wanted_step){3 * 420, 3 * 420, 0, 1, 1, 0});
    l.layer = &multiply;
    check_step("multiply", &d, &l, &place, &(struct wanted_step){3 * 420, 6 * 420, 420, 1, 2, 0});
    multiply.units = 5;
    check_step("learned factors", &d, &l, &place,
               &(struct wanted_step){2 * 420, 5 * 420, 420, 1, 2, 0});
    l.in = l.out = sequence; /* Learned factors of sequences give values of 32 bits. */
    check_step("learned factors", &d, &l, &place,
               &(struct wanted_step){2 * 840, 5 * 840, 840, 1, 2, 0});
    l.layer = &copy; /* A copy takes 5 s for each value, longer than its 4 bytes. */
    check_step("copy", &d, &l, &place, &(struct wanted_step){5 * 210, 5 * 210, 0, 1.5, 1.5, 0});
    l.in = l.out = image; /* Copies of images are kept for the next layer. */
    check_step("copy", &d, &l, &place, &(struct wanted_step){5 * 210, 5 * 210, 420, 1.5, 1.5, 0});
    l.in = l.out = sequence;
    l.layer = &matrices; /* The 7 samples have 14 products. */
    check_step("product", &d, &l, &place,
               &(struct wanted_step){14 * product(3, 5, 4, 2),
                                     14 * (product(3, 4, 5, 2) + product(4, 5, 3, 2)), 420, 2, 3,
                                     0});
    add.units = 5; /* Learned offsets keep nothing; a sum of sequences keeps 32 bits. */
    l.layer = &add;
    check_step("offsets", &d, &l, &place, &(struct wanted_step){3 * 840, 3 * 840, 0, 1, 1, 0});
    add.units = 0;
    check_step("sum", &d, &l, &place, &(struct wanted_step){3 * 840, 3 * 840, 840, 1, 1, 0});
    assert_true(hm__layer_tensors(&(struct hm_count){.layer = &add, .parameters = 5}) == 1);
}

/* A look-up copies 4 bytes for each value; in the backward pass, the table is cleared at half of
 * the rate. */
static void embeddings_clear_their_table(void **state)
{
    struct hm_layer layer = {.kind = HM_LAYER_EMBEDDING};
    struct hm_count l = {.name = "embedding",
                         .layer = &layer,
                         .in = sequence,
                         .out = sequence,
                         .inputs = 6,
                         .parameters = 1000};
    const struct hm_layer_place place = {.first = true};
    struct hm_device d = make_device(2, HM_SOFTWARE_EAGER);

    (void)state;
    check_step("embedding", &d, &l, &place,
               &(struct wanted_step){210 * 8, 2 * (4000 + 210 * 12), 210 * 4, 3, 3, 0});
}

/* An LSTM has 4 gates, a GRU 3 and a simple cell 1. Each of the 6 steps takes at least the 3 s of a
 * step, because its matrix product moves fewer bytes. */
static void recurrent_layers_wait_for_each_step(void **state)
{
    static const struct {
        enum hm_cell cell;
        double gates;
    } cells[] = {{HM_CELL_LSTM, 4}, {HM_CELL_GRU, 3}, {HM_CELL_RNN, 1}};
    struct hm_constants k = plain;

    (void)state;
    for (int i = 0; i < 6; i++) {
        struct hm_layer layer = {.kind = HM_LAYER_RECURRENT, .cell = cells[i / 2].cell, .units = 2};
        const struct hm_shape out = {HM_SHAPE_SEQUENCE, 6, 1, 2};
        struct hm_count l = {
            .name = "lstm", .layer = &layer, .in = sequence, .out = out, .inputs = 30};
        const struct hm_layer_place place = {.first = false};
        struct hm_device d = make_device(4, HM_SOFTWARE_EAGER);
        double g = cells[i / 2].gates, least = i % 2 ? 1e6 : 0;
        k.recurrent_step = least * 1e6;
        d.k = &k;
        double forward = product(42, 2 * g, 5, 4) + 6 * fmax(least, product(7, 2 * g, 2, 4)) +
                         2 * (g + 2) * 84 * 4;
        double backward = product(2 * g, 5, 42, 4) + product(42, 5, 2 * g, 4) +
                          6 * fmax(least, product(7, 2, 2 * g, 4)) + product(2 * g, 2, 42, 4) +
                          2 * (g + 3) * 84 * 4;
        check_step("recurrent", &d, &l, &place,
                   &(struct wanted_step){forward, backward, (g + 2) * 84 * 4, 3 + 0.45 * 6,
                                         3 + 0.45 * 6, 4});
    }
}

/*
 * Convolutions add their bias in a slow kernel; the first layer computes no gradient of its input.
 */
static void convolutions_add_their_bias(void **state)
{
    struct hm_constants k = plain;
    struct hm_device d = make_device(2, HM_SOFTWARE_COMPILED);
    const struct hm_shape out = {HM_SHAPE_IMAGE, 2, 3, 4};

    (void)state;
    k.conv_forward = k.conv_data = k.conv_weight = k.conv_few = k.conv_pointwise = 1;
    k.conv_feed = 1e30;
    d.k = &k;
    for (int i = 0; i < 4; i++) {
        bool bias = i & 1, first = i & 2;
        struct hm_layer layer = {.kind = HM_LAYER_CONV,
                                 .kernel_h = 1,
                                 .kernel_w = 1,
                                 .groups = 1,
                                 .stride = 1,
                                 .bias = bias ? HM_BIAS_SHARED : HM_BIAS_NONE};
        struct hm_count l = {.name = "conv",
                             .layer = &layer,
                             .in = image,
                             .out = out,
                             .inputs = 30,
                             .parameters = 20};
        const struct hm_layer_place place = {.first = first};
        /* A value takes 5 s forward and 2.5 s backward, longer than the bytes that it moves. */
        double made = 7 * 24, added = bias ? made * 5 * 0.5 : 0;
        check_step("conv", &d, &l, &place,
                   &(struct wanted_step){product(42, 4, 5, 2) + added + 6 * 20,
                                         product(4, 5, 42, 2) + (first ? 0 : product(42, 5, 4, 2)) +
                                             added / 2 + 6 * 20,
                                         made * 2, 2, 3, bias ? 2 : 1});
    }
}

/* The numbers of bytes moved for each parameter; for example, SGD reads weight and gradient and
 * writes the weight. */
static void updates_move_the_state_of_the_optimizer(void **state)
{
    struct hm_device eager = make_device(2, HM_SOFTWARE_EAGER);
    struct hm_device fused = make_device(2, HM_SOFTWARE_COMPILED);

    (void)state;
    assert_near(hm__update_time(&eager, HM_OPTIMIZER_SGD, 10), 120, 1e-12);
    assert_near(hm__update_time(&fused, HM_OPTIMIZER_SGD, 10), 120, 1e-12);
    assert_near(hm__update_time(&eager, HM_OPTIMIZER_MOMENTUM, 10), 320, 1e-12);
    assert_near(hm__update_time(&fused, HM_OPTIMIZER_MOMENTUM, 10), 200, 1e-12);
    assert_near(hm__update_time(&eager, HM_OPTIMIZER_ADAM, 10), 900, 1e-12);
    assert_near(hm__update_time(&fused, HM_OPTIMIZER_ADAM, 10), 280, 1e-12);
    assert_near(hm__update_host_time(&eager, HM_OPTIMIZER_MOMENTUM, 5), 1015e-6, 1e-12);
    assert_near(hm__update_host_time(&eager, HM_OPTIMIZER_SGD, 5), 1009e-6, 1e-12);
    assert_near(hm__update_host_time(&eager, HM_OPTIMIZER_ADAM, 5), 1045e-6, 1e-12);
    assert_near(hm__update_host_time(&fused, HM_OPTIMIZER_MOMENTUM, 5), 507.5e-6, 1e-12);
}

static void layers_have_tensors(void **state)
{
    static const struct {
        enum hm_layer_kind kind;
        enum hm_bias bias;
        double positions, tensors;
    } rows[] = {
        {HM_LAYER_DENSE, HM_BIAS_SHARED, 0, 2},     {HM_LAYER_DENSE, HM_BIAS_NONE, 0, 1},
        {HM_LAYER_CONV, HM_BIAS_SHARED, 0, 2},      {HM_LAYER_ATTENTION, HM_BIAS_SHARED, 0, 4},
        {HM_LAYER_ATTENTION, HM_BIAS_NONE, 0, 2},   {HM_LAYER_NORM, HM_BIAS_NONE, 0, 2},
        {HM_LAYER_RECURRENT, HM_BIAS_SHARED, 0, 4}, {HM_LAYER_EMBEDDING, HM_BIAS_NONE, 0, 1},
        {HM_LAYER_EMBEDDING, HM_BIAS_NONE, 1, 2}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct hm_layer layer = {
            .kind = rows[i].kind, .bias = rows[i].bias, .positions = rows[i].positions};
        struct hm_count l = {.layer = &layer, .parameters = 1};
        assert_true(hm__layer_tensors(&l) == rows[i].tensors);
        l.parameters = 0;
        assert_true(hm__layer_tensors(&l) == 0);
    }
}

/* ---- the step ---------------------------------------------------------------------------------
 */

enum { LAYERS = 5 }; /* The layers are dense 300, relu, dense 100, relu and dense 10. */

/* Makes a network 784-300-100-10 with rectifiers, whose gradients have 942,000, 120,400 and 4,040
 * bytes. */
static struct hm_job *make_job(const char *optimizer)
{
    char text[300];
    struct hm_job *job = NULL;
    struct hm_err err = {0};

    snprintf(text, sizeof(text),
             "network: {input: 784, layers: [dense: 300, relu, dense: 100, relu, dense: 10]}\n"
             "batch: 64\noptimizer: %s\ncluster: h200\n",
             optimizer);
    if (hm_job_parse(text, strlen(text), "test", NULL, 0, &job, &err))
        fail_msg("%s", err.message);
    return job;
}

/* Computes the times of each layer for b samples. */
static void each_layer(const struct hm_counts *counts, const struct hm_device *d, double b,
                       struct hm_layer_step steps[LAYERS])
{
    assert_int_equal(counts->layer_count, LAYERS);
    for (size_t i = 0; i < LAYERS; i++) {
        const struct hm_layer_place place = {.first = i == 0,
                                             .last = i == LAYERS - 1,
                                             .next =
                                                 i < LAYERS - 1 ? &counts->layers[i + 1] : NULL};
        steps[i] = hm__layer_ops(d, &counts->layers[i], &place, b);
    }
}

/* Returns a copy of the parts of a step for b samples. */
static struct hm_step_parts parts_at(struct hm_step_table *table, double b)
{
    const struct hm_step_parts *parts;

    assert_int_equal(hm__step_table_eval(table, b, &parts, NULL), 0);
    return *parts;
}

/* The times of the device and of the host are sums over the layers and the update; the longer of
 * them counts. The memory consists of weights, states, 75 MB of workspaces, narrow weights, and the
 * larger of two sums: the gradients alone, or input, stored values and 0.6 of the gradients. */
static void steps_add_up_their_layers(void **state)
{
    static const char *const optimizers[] = {"sgd", "momentum", "adam"};
    static const double batches[] = {1, 64, 4194304};
    const double parameters = 784 * 300 + 300 + 300 * 100 + 100 + 1010;

    (void)state;
    for (int k = 0; k < 9; k++) {
        struct hm_job *job = make_job(optimizers[k / 3]);
        struct hm_counts *counts;
        struct hm_device d;
        struct hm_step_table *table;
        struct hm_step_parts parts;
        struct hm_layer_step steps[LAYERS], sum = {0};
        double b = batches[k % 3];
        assert_int_equal(hm_counts_new(job->network, NULL, &counts, NULL), 0);
        assert_true(
            hm__device_init(&d, &job->cluster.node, HM_MATH_BF16, 32, HM_SOFTWARE_EAGER, NULL));
        assert_int_equal(hm__step_table_new(job, &d, 0, &table, NULL), 0);
        parts = parts_at(table, b);
        each_layer(counts, &d, b, steps);
        for (size_t i = 0; i < LAYERS; i++) {
            sum.forward_s += steps[i].forward_s;
            sum.backward_s += steps[i].backward_s;
            sum.forward_host_s += steps[i].forward_host_s;
            sum.backward_host_s += steps[i].backward_host_s;
            sum.kept_bytes += steps[i].kept_bytes;
        }
        double host = hm__update_host_time(&d, job->optimizer, 6);
        double update = hm__update_time(&d, job->optimizer, parameters);
        assert_near(parts.device_s, sum.forward_s + sum.backward_s + update, 1e-12);
        assert_near(parts.host_s, sum.forward_host_s + sum.backward_host_s + host, 1e-12);
        bool hosted = parts.host_s > parts.device_s;
        assert_int_equal(hosted, b < 4194304);
        assert_near(parts.forward_s, hosted ? sum.forward_host_s : sum.forward_s, 1e-12);
        assert_near(parts.backward_s, hosted ? sum.backward_host_s : sum.backward_s, 1e-12);
        assert_near(parts.update_s, hosted ? host : update, 1e-12);
        double held = b * 784 * (4 + 2) + sum.kept_bytes, gradients = 4 * parameters;
        assert_near(parts.memory_bytes,
                    gradients * (1 + k / 3) + 75e6 + 2 * parameters +
                        fmax(gradients, held + 0.6 * gradients),
                    1e-12);
        hm__step_table_free(table);
        hm_counts_free(counts);
        hm_job_free(job);
    }
}

/* Between the batches of the table, 2^k and 3 * 2^k, every figure must be on a straight line. */
static void steps_are_interpolated(void **state)
{
    static const struct {
        double b, low, high;
    } rows[] = {{1, 1, 1.5},        {1.25, 1, 1.5},    {1.5, 1.5, 2},  {1.9, 1.5, 2},
                {80, 64, 96},       {96, 96, 128},     {100, 96, 128}, {64, 64, 96},
                {5000, 4096, 6144}, {7000, 6144, 8192}};
    struct hm_job *job = make_job("adam");
    struct hm_device d;
    struct hm_step_table *table;
    struct hm_step_parts at, low, high;

    (void)state;
    assert_true(hm__device_init(&d, &job->cluster.node, HM_MATH_FP32, 32, HM_SOFTWARE_TUNED, NULL));
    assert_int_equal(hm__step_table_new(job, &d, 0, &table, NULL), 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        double x = (rows[i].b - rows[i].low) / (rows[i].high - rows[i].low);
        at = parts_at(table, rows[i].b);
        low = parts_at(table, rows[i].low);
        high = parts_at(table, rows[i].high);
        const double found[] = {at.forward_s, at.backward_s,   at.update_s,   at.host_s,
                                at.device_s,  at.memory_bytes, at.ready_s[0], at.ready_s[2]};
        const double before[] = {low.forward_s, low.backward_s,   low.update_s,   low.host_s,
                                 low.device_s,  low.memory_bytes, low.ready_s[0], low.ready_s[2]};
        const double after[] = {high.forward_s,  high.backward_s, high.update_s,
                                high.host_s,     high.device_s,   high.memory_bytes,
                                high.ready_s[0], high.ready_s[2]};
        for (int k = 0; k < 8; k++)
            assert_near(found[k], (1 - x) * before[k] + x * after[k], 1e-12);
        /* The same batch, which is now in the table, must give the same figures. */
        low = parts_at(table, rows[i].b);
        assert_memory_equal(&low, &at, offsetof(struct hm_step_parts, ready_s));
    }
    at = parts_at(table, 0.25);
    low = parts_at(table, 1);
    assert_near(at.device_s, low.device_s, 0); /* Less than one sample counts as one. */
    hm__step_table_free(table);
    hm_job_free(job);
}

/* The gradients from the last layer to the first have 4,040, 120,400 and 942,000 bytes. The first
 * bucket has at most 1 MiB. A bucket is complete once its last layer, and the layers without
 * parameters before it, are done. */
static void buckets_are_filled_from_the_end(void **state)
{
    static const struct {
        double limit;
        size_t count;
        double bytes[3];
        size_t first[3]; /* Index of the first layer of each bucket, in the order of the network. */
    } rows[] = {{0, 3, {4040, 120400, 942000}, {3, 1, 0}},
                {4040, 3, {4040, 120400, 942000}, {3, 1, 0}},
                {4041, 2, {124440, 942000}, {1, 0}},
                {124440, 2, {124440, 942000}, {1, 0}},
                {124441, 1, {1066440}, {0}},
                {1e9, 1, {1066440}, {0}}};
    const struct hm_wires wires = {.fabric = {.latency_s = 1e-6, .bandwidth_bytes_per_s = 1e9},
                                   .per_node = 1};

    (void)state;
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        struct hm_job *job = make_job("sgd");
        struct hm_counts *counts;
        struct hm_device d;
        struct hm_step_table *table;
        struct hm_step_parts parts;
        struct hm_layer_step steps[LAYERS];
        assert_int_equal(hm_counts_new(job->network, NULL, &counts, NULL), 0);
        assert_true(
            hm__device_init(&d, &job->cluster.node, HM_MATH_BF16, 32, HM_SOFTWARE_EAGER, NULL));
        assert_int_equal(hm__step_table_new(job, &d, rows[r].limit, &table, NULL), 0);
        parts = parts_at(table, 4194304);
        each_layer(counts, &d, 4194304, steps);
        struct hm_allreduce all = hm__allreduce_init(HM_SCHEME_RING, 4, &wires, d.k);
        double now = parts.forward_s, end = 0, latency = 0, bandwidth = 0;
        size_t layer = LAYERS;
        for (size_t k = 0; k < rows[r].count; k++) {
            while (layer > rows[r].first[k])
                now += steps[--layer].backward_s;
            assert_near(parts.ready_s[k], now, 1e-12);
            struct hm_wire_time time = hm__allreduce_time(&all, rows[r].bytes[k]);
            latency += 3 * time.latency_s;
            bandwidth += 3 * time.bandwidth_s;
            end = fmax(end, now / 2) + 3 * (time.latency_s + time.bandwidth_s);
        }
        struct hm_step_sent sent =
            hm__step_table_send(table, &parts, 4, 2, 3, HM_SCHEME_RING, &wires);
        assert_near(sent.latency_s, latency, 1e-12);
        assert_near(sent.bandwidth_s, bandwidth, 1e-12);
        assert_near(sent.end_s, end, 1e-12);
        assert_int_equal(sent.scheme, HM_SCHEME_RING);
        hm__step_table_free(table);
        hm_counts_free(counts);
        hm_job_free(job);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(element_wise_layers_move_their_values),
        cmocka_unit_test(gelu_is_arithmetic_in_eager_frameworks),
        cmocka_unit_test(pooling_keeps_indices),
        cmocka_unit_test(normalisations_of_images),
        cmocka_unit_test(dense_layers_are_three_products),
        cmocka_unit_test(the_last_layer_has_a_loss),
        cmocka_unit_test(attention_projects_and_copies),
        cmocka_unit_test(the_core_of_attention_has_no_projections),
        cmocka_unit_test(pairs_move_their_values),
        cmocka_unit_test(embeddings_clear_their_table),
        cmocka_unit_test(recurrent_layers_wait_for_each_step),
        cmocka_unit_test(convolutions_add_their_bias),
        cmocka_unit_test(updates_move_the_state_of_the_optimizer),
        cmocka_unit_test(layers_have_tensors),
        cmocka_unit_test(steps_add_up_their_layers),
        cmocka_unit_test(steps_are_interpolated),
        cmocka_unit_test(buckets_are_filled_from_the_end),
    };
    return cmocka_run_group_tests_name("exact_ops", tests, NULL, NULL);
}
