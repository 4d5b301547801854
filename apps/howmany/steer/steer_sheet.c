/*
 * Predicts the time of an iteration in seconds before anything has run, from the specification
 * sheet of the simulated cluster and the size of the data. A pass over the rows takes two
 * operations for each entry of the data, to multiply a row x by the weights w. Changes of the
 * weights are not counted, because only a few rows cause them. The models are then summed over a
 * binomial tree, and the sum is sent back:
 *
 *     f(m) = 2 entries / (m flops) + 2 ceil(log2 m) (latency + 8 bytes features / bandwidth).
 *
 * Only the ratio of the two parts matters here, because it decides on which number of workers m the
 * first trial runs. Limits: algorithms that pass over the rows several times, or that have
 * parameters other than one weight for each feature, take longer than this.
 */
#include "steer_sheet.h"

#include <math.h>

#include "cli.h"
#include "data.h"

void steer_sheet_fill(struct steer_task *task, double entries, double features,
                      const struct steer_sheet *sheet)
{
    for (size_t i = 0; i < task->m_count; i++) {
        double m = task->m[i], hops = 2 * ceil(log2(m) - 1e-9);
        task->sheet_s[i] = 2 * entries / (m * sheet->flops) +
                           hops * (sheet->latency_s + 8 * features / sheet->bandwidth_bytes_per_s);
        task->has_sheet = isfinite(task->sheet_s[i]) && task->sheet_s[i] > 0;
        if (!task->has_sheet)
            return;
    }
}

int steer_sheet_read(struct steer_task *task, const char *data, const struct steer_sheet *sheet)
{
    struct hm_data_spec spec;
    struct hm_data_shape shape;
    struct hm_err err = {0};

    if (hm__data_parse(data, false, 1, &spec, &err) || hm__data_scan(&spec, &shape, &err))
        return cli_report(&err);
    steer_sheet_fill(task, shape.entries, shape.features, sheet);
    return 0;
}
