/*
 * Makes predictions for comparison with measurements. The bounds of the interval for an all-reduce
 * are the 5th and 95th percentiles of measured / predicted time over the rows whose source was held
 * out when the constants were chosen (tools/fit_step.c prints them); sheet_spread.c has the
 * intervals for steps.
 */
#include "predict.h"

#include "allreduce.h"
#include "model_step.h"

int hm__predict_step(const struct hm_job *job, const struct hm_way *way, double n,
                     const struct hm_constants *constants, struct hm_point *ret_point,
                     struct hm_err *err)
{
    struct hm_variant variant = HM_VARIANT_INIT;
    struct hm_model *model = NULL;

    if (way)
        variant.way = *way;
    variant.weak = job->scaling == HM_SCALING_WEAK;
    int rc = hm__model_table_new(job, &job->cluster, constants, &variant.table, err);
    if (rc == 0)
        rc = hm__model_new(job, &job->cluster, &variant, &model, err);
    *ret_point = (struct hm_point){.n = n};
    if (rc == 0)
        rc = hm__model_eval(model, ret_point, 1, err);
    hm__model_free(model);
    hm__step_table_free(variant.table);
    return rc;
}

double hm__predict_allreduce(const struct hm_cluster *cluster, double n, double bytes,
                             const struct hm_constants *constants)
{
    const struct hm_wires wires = {.fabric = cluster->fabric,
                                   .link = cluster->node.link,
                                   .per_node = cluster->node.accelerators,
                                   .servers = 1};
    const struct hm_allreduce allreduce =
        hm__allreduce_init(HM_SCHEME_BEST, n, &wires, constants ? constants : &hm__constants);
    struct hm_wire_time time = hm__allreduce_time(&allreduce, bytes);

    return time.latency_s + time.bandwidth_s;
}

struct hm_interval hm__predict_allreduce_interval(void)
{
    return (struct hm_interval){0.7, 1.63};
}
