/*
 * Devices of the model of large networks: the conversion of a cluster of the catalog, and a table
 * of the chips that the rows of data/large.csv name. The catalog describes its accelerators: rates,
 * processors, memory and generation. A cluster that gives rates without a generation is compared
 * with the chips of the table. Rates are those of the data sheets without sparsity; memory is the
 * amount that a program can allocate.
 */
#include "large.h"

#include <math.h>
#include <string.h>

#include "checks.h"
#include "device.h"
#include "err.h"

static const double GIB = 1073741824.0;

/* Columns: name, generation, Tflop/s with 16, 8 and 4 bits, memory bandwidth in TB/s, usable memory
 * in GiB, processors, bandwidth of a link in GB/s, power limit. */
static const struct chip {
    const char *name;
    enum hm_large_family family;
    double flops_16, flops_8, flops_4, bandwidth, memory, processors, link, power;
} chips[] = {
    {"v100-16", HM_FAMILY_VOLTA, 125, 0, 0, .9, 15.75, 80, 150, 1},
    {"v100-32", HM_FAMILY_VOLTA, 125, 0, 0, .9, 31.7, 80, 150, 1},
    {"a100-40", HM_FAMILY_AMPERE, 312, 0, 0, 1.555, 39.4, 108, 300, 1},
    {"a100-80", HM_FAMILY_AMPERE, 312, 0, 0, 2.039, 79.2, 108, 300, 1},
    {"a800-80", HM_FAMILY_AMPERE, 312, 0, 0, 2.039, 79.2, 108, 200, 1},
    {"a10", HM_FAMILY_AMPERE, 125, 0, 0, .6, 22.5, 72, 32, 1},
    {"l4", HM_FAMILY_AMPERE, 121, 242, 0, .3, 22.5, 58, 32, 1},
    {"l40s", HM_FAMILY_AMPERE, 362, 733, 0, .864, 44.5, 142, 32, 1},
    {"h100", HM_FAMILY_HOPPER, 989, 1979, 0, 3.35, 79.1, 132, 450, 1},
    {"h100-pcie", HM_FAMILY_HOPPER, 756, 1513, 0, 2, 79.1, 114, 64, 1},
    {"h100-500w", HM_FAMILY_HOPPER, 989, 1979, 0, 2.4, 94.5, 132, 450, 500. / 700},
    {"gh200", HM_FAMILY_HOPPER, 989, 1979, 0, 4, 94.5, 132, 450, 1},
    {"h200", HM_FAMILY_HOPPER, 989, 1979, 0, 4.8, 139.8, 132, 450, 1},
    {"b200", HM_FAMILY_BLACKWELL, 2250, 4500, 9000, 7.7, 178, 148, 900, 1},
    {"b300", HM_FAMILY_BLACKWELL, 2250, 4500, 13500, 7.7, 268, 148, 900, 1},
    {"gb200", HM_FAMILY_BLACKWELL, 2500, 5000, 10000, 8, 184, 148, 900, 1},
    {"gb300", HM_FAMILY_BLACKWELL, 2500, 5000, 15000, 8, 276, 148, 900, 1},
    {"mi250x", HM_FAMILY_OTHER, 191.5, 0, 0, 1.6, 63, 110, 100, 1},
    {"mi300x", HM_FAMILY_OTHER, 1307, 2615, 0, 5.3, 190, 304, 448, 1},
    {"mi325x", HM_FAMILY_OTHER, 1307, 2615, 0, 6, 254, 304, 448, 1},
    {"mi355x", HM_FAMILY_OTHER, 2500, 5000, 10000, 8, 286, 256, 538, 1},
    {"tpu-v4", HM_FAMILY_OTHER, 275, 0, 0, 1.2, 31, 8, 135, 1},
    {"tpu-v5e", HM_FAMILY_OTHER, 197, 0, 0, .82, 15.5, 4, 90, 1},
    {"tpu-v5p", HM_FAMILY_OTHER, 459, 0, 0, 2.77, 94, 8, 270, 1},
    {"tpu-v6e", HM_FAMILY_OTHER, 918, 0, 0, 1.64, 31, 8, 180, 1},
};

static struct hm_large_device chip_device(const struct chip *chip)
{
    return (struct hm_large_device){.family = chip->family,
                                    .flops_16 = chip->flops_16 * 1e12,
                                    .flops_8 = chip->flops_8 * 1e12,
                                    .flops_4 = chip->flops_4 * 1e12,
                                    .bandwidth_bytes_per_s = chip->bandwidth * 1e12,
                                    .memory_bytes = chip->memory * GIB,
                                    .processors = chip->processors,
                                    .link_bytes_per_s = chip->link * 1e9,
                                    .per_node = 8,
                                    .machine_workers = 8,
                                    .network_bytes_per_s = 400e9,
                                    .power = chip->power,
                                    .price_per_s = NAN,
                                    .max_nodes = NAN};
}

bool hm__large_device_named(const char *name, struct hm_large_device *ret_device)
{
    for (size_t i = 0; i < sizeof(chips) / sizeof(chips[0]); i++)
        if (strcmp(chips[i].name, name) == 0) {
            *ret_device = chip_device(&chips[i]);
            return true;
        }
    return false;
}

double hm__large_host_link(const struct hm_large_device *device)
{
    /* PCI Express of the third, fourth and fifth generation reaches 80 % of its rate. */
    return device->family == HM_FAMILY_VOLTA                                             ? 12.6e9
           : device->family == HM_FAMILY_HOPPER || device->family == HM_FAMILY_BLACKWELL ? 50.4e9
                                                                                         : 25.2e9;
}

/* Returns the distance between a machine and a chip: the sum of the logarithms of the ratios of
 * their rates and bandwidths. */
static double chip_distance(const struct chip *chip, const struct hm_node *node)
{
    double distance = fabs(log(node->flops_16 / (chip->flops_16 * 1e12)));

    if (hm__is_given(node->memory_bandwidth_bytes_per_s))
        distance += fabs(log(node->memory_bandwidth_bytes_per_s / (chip->bandwidth * 1e12)));
    if (hm__is_given(node->memory_bytes))
        distance += .1 * fabs(log(node->memory_bytes / (chip->memory * GIB)));
    return distance;
}

static const struct chip *nearest_chip(const struct hm_node *node)
{
    const struct chip *best = &chips[0];

    for (size_t i = 1; i < sizeof(chips) / sizeof(chips[0]); i++)
        if (chip_distance(&chips[i], node) < chip_distance(best, node))
            best = &chips[i];
    return best;
}

/*
 * Sets the figures that were measured on the machine. The constants of this model describe the
 * usual machine, so the rate of products is set relative to the rate that follows from the catalog.
 */
static void set_measured(const struct hm_node *node, struct hm_large_device *device)
{
    const struct hm_calibration *m = &node->measured;
    double measured = m->flops.bf16 > 0 ? m->flops.bf16 : m->flops.fp16;

    if (measured > 0 && node->matrix_efficiency > 0)
        device->speed = measured / (node->flops_16 * node->matrix_efficiency);
    if (m->memory_bandwidth_bytes_per_s > 0)
        device->bandwidth_bytes_per_s = m->memory_bandwidth_bytes_per_s / hm__constants.stream;
}

static enum hm_large_family generation_family(enum hm_generation generation)
{
    switch (generation) {
    case HM_GENERATION_VOLTA:
        return HM_FAMILY_VOLTA;
    case HM_GENERATION_AMPERE:
    case HM_GENERATION_ADA: /* No rows were measured on Ada, which runs the same kernels as Ampere.
                             */
        return HM_FAMILY_AMPERE;
    case HM_GENERATION_HOPPER:
        return HM_FAMILY_HOPPER;
    case HM_GENERATION_BLACKWELL:
        return HM_FAMILY_BLACKWELL;
    default:
        return HM_FAMILY_OTHER;
    }
}

/*
 * Sets the generation of a device, which is that of the chip if the node does not give it, and the
 * rates and processors that the node gives. A machine that differs much from the nearest chip has
 * an unknown generation.
 */
static void device_set_chip(struct hm_large_device *d, const struct hm_node *node,
                            const struct chip *chip)
{
    /* Largest distance at which a machine counts as having this chip. */
    static const double SAME = .25;
    const bool same = chip_distance(chip, node) <= SAME;

    if (node->generation != HM_GENERATION_UNKNOWN || !same)
        d->family = generation_family(node->generation);
    if (!same) {
        d->flops_8 *= node->flops_16 / d->flops_16;
        d->flops_4 *= node->flops_16 / d->flops_16;
    }
    if (!hm__is_given(node->processors))
        return;
    /* If the processors of a machine are known, all rates that it supports are given. */
    d->processors = node->processors;
    d->flops_8 = hm__is_given(node->flops_fp8) ? node->flops_fp8 : 0;
    d->flops_4 = hm__is_given(node->flops_fp4) ? node->flops_fp4 : 0;
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
        hm__err_hint(err, "flops: {16: 989 Tflop/s}, or a machine of the catalog");
        hm__err_field(err, "cluster.flops");
        return HM_E_MISSING;
    }
    const struct chip *chip = nearest_chip(&node);
    struct hm_large_device device = chip_device(chip);
    device_set_chip(&device, &node, chip);
    device.flops_16 = node.flops_16;
    if (hm__is_given(node.memory_bandwidth_bytes_per_s))
        device.bandwidth_bytes_per_s = node.memory_bandwidth_bytes_per_s;
    if (hm__is_given(node.memory_bytes)) /* The driver keeps about 1 % of the memory. */
        device.memory_bytes =
            fmin(node.memory_bytes, fmax(device.memory_bytes, .988 * node.memory_bytes));
    if (hm__is_given(node.link.bandwidth_bytes_per_s))
        device.link_bytes_per_s = node.link.bandwidth_bytes_per_s;
    set_measured(&node, &device);
    device.per_node = device.machine_workers = fmax(1, node.accelerators);
    if (hm__is_given(cluster->fabric.bandwidth_bytes_per_s))
        device.network_bytes_per_s = cluster->fabric.bandwidth_bytes_per_s;
    device.price_per_s = node.price_per_s;
    device.max_nodes = cluster->max_nodes;
    *ret_device = device;
    return 0;
}
