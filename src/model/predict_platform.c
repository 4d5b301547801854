/* Predicts iterations on a platform, for comparison with measurements. */
#include "predict_platform.h"

#include "model_step.h"

int hm__predict_platform(const struct hm_job *job, const struct hm_way *way, double n,
                         const struct hm_constants *constants, struct hm_point *ret_point,
                         struct hm_err *err)
{
    struct hm_variant variant = HM_VARIANT_INIT;
    struct hm_model *model = NULL;

    variant.weak = job->scaling == HM_SCALING_WEAK;
    variant.way = *way;
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
