/* Predicts measured training steps of large networks; see large_rows_eval.h. */
#include "large_rows_eval.h"

#include <math.h>
#include <string.h>

#include "err.h"

/* A run in a sweep of at least SWEEP_ROWS layouts is not compared if its speed is below this share
 * of the fastest run's speed. */
enum { SWEEP_ROWS = 10 };
static const double HEALTHY_SHARE = .4;

/*
 * Network bandwidth of a node, in bytes per second, for rows that do not state it: 3,200 Gbit/s, as
 * in most clusters with H100; 33 of the 43 rows with several nodes come from such clusters.
 */
static const double UNSTATED_NETWORK = 400e9;

/* Returns the largest micro-batch that is a power of two and fits in memory. */
static double fill_memory(const struct hm_large_row *row, const struct hm_large_device *device)
{
    const struct hm_large_case situation = {device, &row->work, hm__large_fitted()};
    struct hm_layout layout = row->layout;
    double most = row->work.batch / layout.data, best = 1;

    for (double size = 1; size <= most; size *= 2) {
        struct hm_large_memory memory;
        layout.micro_batch = size;
        hm__large_memory(&situation, &layout, &memory);
        if (memory.total <= device->memory_bytes)
            best = size;
    }
    return best;
}

int hm__large_row_prepare(struct hm_large_row *row, struct hm_large_device *ret_device,
                          struct hm_err *err)
{
    struct hm_cluster cluster = {
        .node = row->node,
        .fabric = {.bandwidth_bytes_per_s = row->network_bytes_per_s, .latency_s = NAN},
        .max_nodes = NAN};
    cluster.node.accelerators = row->per_node;
    if (isnan(row->network_bytes_per_s))
        cluster.fabric.bandwidth_bytes_per_s = UNSTATED_NETWORK;
    int rc = hm__large_device_set(&cluster, ret_device, err);

    if (rc)
        return rc;
    memcpy(ret_device->torus, row->torus, sizeof(row->torus));
    if (row->layout.micro_batch == 0)
        row->layout.micro_batch = fill_memory(row, ret_device);
    return 0;
}

void hm__large_row_eval(const struct hm_large_row *row, const struct hm_large_device *device,
                        const struct hm_large_constants *constants, struct hm_large_step *ret_step)
{
    const struct hm_large_case situation = {device, &row->work, constants};
    struct hm_large_times times;

    hm__large_times(&situation, &row->layout, &times);
    hm__large_step(&situation, &row->layout, &times, ret_step);
}

/* Returns whether two measured steps have the same network, device and number of workers. */
static bool same_setting(const struct hm_large_row *a, const struct hm_large_row *b)
{
    return strcmp(a->source, b->source) == 0 && strcmp(a->model, b->model) == 0 &&
           strcmp(a->device, b->device) == 0 && a->work.sequence == b->work.sequence &&
           a->work.precision == b->work.precision && a->work.batch == b->work.batch &&
           hm__layout_workers(&a->layout) == hm__layout_workers(&b->layout);
}

void hm__large_rows_healthy(const struct hm_large_rows *rows, bool *ret_healthy)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct hm_large_row *a = &rows->rows[i];
        double fastest = a->time_s;
        size_t count = 0;
        for (size_t k = 0; a->time_s > 0 && k < rows->count; k++)
            if (rows->rows[k].time_s > 0 && same_setting(a, &rows->rows[k])) {
                fastest = fmin(fastest, rows->rows[k].time_s);
                count++;
            }
        ret_healthy[i] =
            a->time_s > 0 && (count < SWEEP_ROWS || fastest >= HEALTHY_SHARE * a->time_s);
    }
}
