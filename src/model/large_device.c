/*
 * Converts a cluster to a device of the model of large networks. The catalog describes the rates,
 * processors, memory and generation of accelerators. A cluster that specifies rates without a
 * generation is compared with the typical devices of each generation. Rates come from the data
 * sheets, without sparsity; memory is the amount that tensors can occupy.
 */
#include "large.h"

#include <math.h>
#include <string.h>

#include "checks.h"
#include "device.h"
#include "err.h"

/*
 * The typical rates and sizes of the devices of a generation, for clusters that specify only rates;
 * cards are described in the catalog. Columns: generation, flop/s with 16 bits, flop/s with 8 and 4
 * bits relative to that, memory bandwidth, memory, processors, bandwidth of a link, bandwidth of a
 * worker's share of the network (in the vendor's servers: half a port of 100 Gbit/s, then one of
 * 200 or 400 Gbit/s), fraction of the peak that the largest matrix products reach.
 */
static const struct usual {
    enum hm_large_family family;
    double flops_16, share_8, share_4, bandwidth, memory, processors, link, network, reach;
} usuals[] = {
    {HM_FAMILY_VOLTA, 125e12, 0, 0, .9e12, 16e9, 80, 150e9, 6.25e9, .72},
    {HM_FAMILY_AMPERE, 312e12, 0, 0, 2e12, 80e9, 108, 300e9, 25e9, .8},
    {HM_FAMILY_HOPPER, 989e12, 2, 0, 3.35e12, 80e9, 132, 450e9, 50e9, .73},
    {HM_FAMILY_BLACKWELL, 2250e12, 2, 4, 8e12, 180e9, 148, 900e9, 50e9, .70},
};

double hm__large_host_link(const struct hm_large_device *device)
{
    /*
     * 80 % of the rates of PCI Express of the third, fifth and fourth generation, which copies
     * reach.
     */
    return device->family == HM_FAMILY_VOLTA                                             ? 12.6e9
           : device->family == HM_FAMILY_HOPPER || device->family == HM_FAMILY_BLACKWELL ? 50.4e9
                                                                                         : 25.2e9;
}

/* Returns the distance between a machine and the typical device of a generation: the sum of the
 * logarithms of the ratios of their rates and bandwidths. */
static double usual_distance(const struct usual *usual, const struct hm_node *node)
{
    double distance = fabs(log(node->flops_16 / usual->flops_16));

    if (hm__is_given(node->memory_bandwidth_bytes_per_s))
        distance += fabs(log(node->memory_bandwidth_bytes_per_s / usual->bandwidth));
    return distance;
}

/*
 * Sets the rates that were measured on the machine. The constants of this model describe the
 * typical machine, so the rate of matrix products is set relative to the rate that follows from the
 * catalog.
 */
static void set_measured(const struct hm_node *node, struct hm_large_device *device)
{
    const struct hm_calibration *m = &node->measured;
    double measured = m->flops.bf16 > 0 ? m->flops.bf16 : m->flops.fp16;

    if (measured > 0 && node->matrix_efficiency > 0)
        device->speed = measured / (node->flops_16 * node->matrix_efficiency);
    if (device->speed > 0 && device->family != HM_FAMILY_OTHER)
        device->unmeasured = false;
    if (m->memory_bandwidth_bytes_per_s > 0)
        device->bandwidth_bytes_per_s = m->memory_bandwidth_bytes_per_s / hm__constants.stream;
}

static enum hm_large_family generation_family(enum hm_generation generation)
{
    switch (generation) {
    case HM_GENERATION_VOLTA:
        return HM_FAMILY_VOLTA;
    case HM_GENERATION_AMPERE:
    case HM_GENERATION_ADA: /* No steps were measured on Ada devices, which run the same kernels as
                               Ampere devices. */
        return HM_FAMILY_AMPERE;
    case HM_GENERATION_HOPPER:
        return HM_FAMILY_HOPPER;
    case HM_GENERATION_BLACKWELL:
        return HM_FAMILY_BLACKWELL;
    default:
        return HM_FAMILY_OTHER;
    }
}

/* Returns the typical device of the generation of a node, or of the most similar generation. */
static const struct usual *nearest_usual(const struct hm_node *node)
{
    const struct usual *best = &usuals[0];

    for (size_t i = 0; i < sizeof(usuals) / sizeof(usuals[0]); i++) {
        if (node->generation != HM_GENERATION_UNKNOWN &&
            usuals[i].family == generation_family(node->generation))
            return &usuals[i];
        if (usual_distance(&usuals[i], node) < usual_distance(best, node))
            best = &usuals[i];
    }
    return best;
}

/*
 * Returns a device with the rates of a node. Values that the node does not specify are typical of
 * its generation, or of the most similar generation; a machine that differs greatly from all
 * generations has an unknown generation.
 */
static struct hm_large_device node_device(const struct hm_node *node)
{
    /* Largest distance from the typical device of a generation at which a machine of unknown
     * generation is considered to belong to that generation. */
    static const double SAME = .25;
    /* Largest distance at which a device counts as one on which steps were measured. These are
     * data-centre devices with the fastest links; cheaper devices of the same generation, such as
     * an RTX 3090 or an H100 for PCIe, are farther away. */
    static const double LIKE = .5;
    const struct usual *usual = nearest_usual(node);
    const bool same = usual_distance(usual, node) <= SAME;
    struct hm_large_device d = {.family = same ? usual->family : HM_FAMILY_OTHER,
                                .flops_16 = node->flops_16,
                                .flops_8 = node->flops_16 * usual->share_8,
                                .flops_4 = node->flops_16 * usual->share_4,
                                .bandwidth_bytes_per_s = usual->bandwidth,
                                .memory_bytes = hm__usable_memory(usual->memory),
                                .processors = usual->processors,
                                .link_bytes_per_s = usual->link,
                                .network_bytes_per_s = usual->network * fmax(1, node->accelerators),
                                .price_per_s = node->price_per_s};

    if (node->generation != HM_GENERATION_UNKNOWN || hm__is_given(node->processors))
        d.family = generation_family(node->generation);
    d.unmeasured = d.family == HM_FAMILY_OTHER || usual_distance(usual, node) > LIKE;
    if (node->matrix_efficiency > 0)
        d.reach = node->matrix_efficiency / (d.family == HM_FAMILY_OTHER ? 1 : usual->reach);
    if (!hm__is_given(node->processors))
        return d;
    /* A description that states the number of processors also states the rates of all supported
     * formats, so a missing rate means that the format is not supported. */
    d.processors = node->processors;
    d.flops_8 = hm__is_given(node->flops_fp8) ? node->flops_fp8 : 0;
    d.flops_4 = hm__is_given(node->flops_fp4) ? node->flops_fp4 : 0;
    return d;
}

/*
 * Sets whether steps, or at least large matrix products, were measured on a device of a generation
 * without fitted constants; its interval depends on this.
 */
static void set_known(const struct hm_cluster *cluster, struct hm_large_device *device)
{
    static const char guess[] = "matrix_efficiency";
    const bool guessed =
        cluster->assumed && strncmp(cluster->assumed, guess, sizeof(guess) - 1) == 0;

    if (device->family == HM_FAMILY_OTHER && device->reach > 0 && !guessed)
        device->unmeasured = false;
}

int hm__large_device_set(const struct hm_cluster *cluster, struct hm_large_device *ret_device,
                         struct hm_err *err)
{
    struct hm_node node = cluster->node;
    int rc = hm__cluster_one_kind(cluster, err);

    if (rc)
        return rc;
    /* Transformers train in bf16 if a worker supports it, otherwise in fp16. */
    node.flops_16 = hm__node_rate(&node, HM_MATH_BF16, 32, NULL);
    if (!(hm__is_given(cluster->node.flops_16) || hm__is_given(cluster->node.flops_bf16))) {
        hm__fail(err, HM_E_MISSING, "the rate with 16 bits is not given");
        hm__err_hint(err, "flops: {16: 989 Tflop/s}, or a machine from the catalog");
        hm__err_field(err, "cluster.flops");
        return HM_E_MISSING;
    }
    struct hm_large_device device = node_device(&node);
    if (hm__is_given(node.memory_bandwidth_bytes_per_s))
        device.bandwidth_bytes_per_s = node.memory_bandwidth_bytes_per_s;
    else
        device.assumed |= HM_LARGE_ASSUMED_BANDWIDTH;
    if (hm__is_given(node.memory_bytes))
        device.memory_bytes = hm__usable_memory(node.memory_bytes);
    else
        device.assumed |= HM_LARGE_ASSUMED_MEMORY;
    if (hm__is_given(node.link.bandwidth_bytes_per_s))
        device.link_bytes_per_s = node.link.bandwidth_bytes_per_s;
    else
        device.assumed |= HM_LARGE_ASSUMED_LINK;
    set_measured(&node, &device);
    device.per_node = device.machine_workers = fmax(1, node.accelerators);
    device.host_bytes = hm__is_given(node.host_memory_bytes) ? node.host_memory_bytes : NAN;
    if (hm__is_given(cluster->fabric.bandwidth_bytes_per_s))
        device.network_bytes_per_s = cluster->fabric.bandwidth_bytes_per_s;
    else
        device.assumed |= HM_LARGE_ASSUMED_FABRIC;
    device.max_nodes = cluster->max_nodes;
    set_known(cluster, &device);
    *ret_device = device;
    return 0;
}
