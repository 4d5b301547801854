/*
 * Tests boundaries of the step of a transformer: sums of sharded gradients in a pipeline, weights
 * that are copied from the host, and the spreads of cross-validation. Expected values are computed
 * from other steps of the same network, or written out.
 */
#include "large_testing.h"

static struct hm_large_work small_work(const struct hm_transformer *network)
{
    return (struct hm_large_work){.network = network,
                                  .sequence = 64,
                                  .batch = 64,
                                  .attention = HM_ATTENTION_FLASH2,
                                  .weight_bytes = 2,
                                  .gradient_bytes = 4,
                                  .optimizer_bytes = 12,
                                  .send_bytes = 4,
                                  .trained = 1};
}

static struct hm_layout plain_layout(void)
{
    return (struct hm_layout){.tensor = 1,
                              .pipeline = 1,
                              .interleave = 1,
                              .context = 1,
                              .expert = 1,
                              .data = 1,
                              .micro_batch = 1};
}

static struct hm_large_step step_of(const struct hm_large_case *x, const struct hm_layout *layout)
{
    struct hm_large_times times;
    struct hm_large_step step;

    hm__large_times(x, layout, &times);
    hm__large_step(x, layout, &times, &step);
    return step;
}

/* ---- sums of sharded gradients --------------------------------------------------------------- */

/* Returns the seconds that sharding gradients adds to a step of `batches` micro-batches. */
static double added_by_sharding(const struct hm_large_case *x, struct hm_layout layout,
                                double batches)
{
    struct hm_large_work work = *x->work;
    struct hm_large_case own = *x;

    own.work = &work;
    work.batch = batches * layout.data * layout.micro_batch;
    work.shard_gradients = true;
    double sharded = step_of(&own, &layout).data_s;
    work.shard_gradients = false;
    return sharded - step_of(&own, &layout).data_s;
}

/* Without overlap, k micro-batches need k sums instead of one; an interleaved pipeline of p stages
 * needs one sum for each p micro-batches that have begun. */
static void sharded_gradients_are_summed_again(void **state)
{
    const struct hm_transformer network = {.layers = 8,
                                           .hidden = 1024,
                                           .ffn = 4096,
                                           .heads = 16,
                                           .kv_heads = 16,
                                           .head_dim = 64,
                                           .vocabulary = 32000,
                                           .norms = 2};
    struct hm_large_work work = small_work(&network);
    struct hm_large_device device;
    struct hm_layout layout = plain_layout();

    (void)state;
    device_named("h100-sxm", &device);
    const struct hm_large_case x = {&device, &work, &hm__large_reference, NULL};
    layout.data = 16;
    layout.zero = 2;
    assert_true(added_by_sharding(&x, layout, 4) == 0); /* There is no pipeline. */
    layout.pipeline = 4;
    assert_true(added_by_sharding(&x, layout, 1) == 0);
    double sum = added_by_sharding(&x, layout, 2);
    assert_true(sum > 1e-4);
    assert_near(added_by_sharding(&x, layout, 3), 2 * sum, 1e-9);
    assert_near(added_by_sharding(&x, layout, 8), 7 * sum, 1e-9);
    layout.interleave = 2;
    assert_true(added_by_sharding(&x, layout, 4) == 0);
    assert_near(added_by_sharding(&x, layout, 5), sum, 1e-9);
    assert_near(added_by_sharding(&x, layout, 8), sum, 1e-9);
    assert_near(added_by_sharding(&x, layout, 9), 2 * sum, 1e-9);
    layout.zero = 1;
    assert_true(added_by_sharding(&x, layout, 9) == 0);
}

/* With overlap, each sum but the last is hidden by the backward passes of a micro-batch, by the
 * share overlap_data of their time. */
static void sums_overlap_with_backward_passes(void **state)
{
    const struct hm_transformer network = {.layers = 8,
                                           .hidden = 1024,
                                           .ffn = 4096,
                                           .heads = 16,
                                           .kv_heads = 16,
                                           .head_dim = 64,
                                           .vocabulary = 32000,
                                           .norms = 2};
    struct hm_large_work work = small_work(&network);
    struct hm_large_constants constants = hm__large_reference;
    struct hm_large_device device;
    struct hm_layout layout = plain_layout();

    (void)state;
    device_named("h100-sxm", &device);
    const struct hm_large_case x = {&device, &work, &constants, NULL};
    layout.data = 16;
    layout.zero = 2;
    layout.pipeline = 4;
    double sum = added_by_sharding(&x, layout, 2);
    work.overlap_data = true;
    constants.overlap_data = 0;
    assert_near(added_by_sharding(&x, layout, 2), sum, 1e-9);
    constants.overlap_data = .2;
    double once = added_by_sharding(&x, layout, 2);
    assert_true(once > 0 && once < sum);
    assert_near(added_by_sharding(&x, layout, 6), 5 * once, 1e-9);
    constants.overlap_data = .1;
    assert_near(added_by_sharding(&x, layout, 2), (once + sum) / 2, 1e-9);
    constants.overlap_data = 1e9;
    assert_true(added_by_sharding(&x, layout, 6) == 0);
    /* Chunks of half a stage have half the time, but there are two of them. */
    constants.overlap_data = .02;
    once = added_by_sharding(&x, layout, 2);
    layout.interleave = 2;
    assert_near(added_by_sharding(&x, layout, 9), 2 * sum - 8 * (sum - once), 1e-9);
}

/* ---- weights on the host --------------------------------------------------------------------- */

/* Both passes of each micro-batch copy 2 bytes for each weight, over PCI Express at 50.4 GB/s. What
 * computing hides counts for a tenth. With ZeRO-3, a worker copies its share. */
static void weights_are_copied_from_the_host(void **state)
{
    const struct hm_transformer network = {.layers = 2,
                                           .hidden = 8,
                                           .ffn = 16,
                                           .heads = 2,
                                           .kv_heads = 2,
                                           .head_dim = 4,
                                           .vocabulary = 16,
                                           .norms = 2};
    struct hm_large_work work = small_work(&network);
    struct hm_large_device device;
    struct hm_layout layout = plain_layout();

    (void)state;
    device_named("h100-sxm", &device);
    const struct hm_large_case x = {&device, &work, &hm__large_reference, NULL};
    /* The parameters of the last norm are not counted. */
    double count = hm__large_parameters(&network) - network.hidden;
    for (int zero = 2; zero <= 3; zero++)
        for (int data = 1; data <= 4; data *= 4) {
            layout.zero = zero;
            layout.data = data;
            layout.offload = HM_OFFLOAD_OPTIMIZER;
            struct hm_large_step without = step_of(&x, &layout);
            layout.offload = HM_OFFLOAD_ALL;
            struct hm_large_step with = step_of(&x, &layout);
            double copy = 2 * 64. / data * 2 * count / (zero == 3 ? data : 1) / 50.4e9;
            assert_true(copy < with.compute_s);
            assert_near(with.data_s - without.data_s, .1 * copy, 1e-6);
        }
}

/* ---- cross-validation ------------------------------------------------------------------------ */

/* Each spread is found by its source and network; a source without a spread has that of all. */
static void spreads_are_found_by_source_and_network(void **state)
{
    const struct hm_large_spread *all = &hm__large_spreads[0].spread;
    size_t networks = 0, sources = 0;

    (void)state;
    for (const struct hm_large_spread_set *set = hm__large_spreads + 1; set->source; set++) {
        assert_ptr_equal(hm__large_spread_without(set->source, set->network), &set->spread);
        networks += set->network != NULL;
        sources += set->network == NULL;
    }
    assert_true(networks > 1 && sources > 1);
    assert_ptr_equal(hm__large_spread_without("all", NULL), all);
    assert_ptr_equal(hm__large_spread_without("no such source", NULL), all);
    assert_ptr_equal(hm__large_spread_without("megatron_bridge", "no such network"), all);
    assert_ptr_equal(hm__large_spread_without("fms_fsdp", "Llama3-8B"), all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sharded_gradients_are_summed_again),
        cmocka_unit_test(sums_overlap_with_backward_passes),
        cmocka_unit_test(weights_are_copied_from_the_host),
        cmocka_unit_test(spreads_are_found_by_source_and_network),
    };

    return cmocka_run_group_tests_name("edges_large", tests, NULL, NULL);
}
