/*
 * Reads `precision` and `weights` of a job: names of number formats, or the bits of a parameter, as
 * in earlier versions. docs/reference/job.md describes what each name means.
 */
#include <string.h>

#include "err.h"
#include "readers.h"

static const struct precision_name {
    const char *name;
    double bits; /* Bits of a parameter and of its gradient in this format. */
    enum hm_math math;
    bool weights; /* True if parameters can be stored in this format. */
} precision_names[] = {
    {"fp64", 64, HM_MATH_FP64, true},        {"fp32", 32, HM_MATH_TF32, true},
    {"tf32", 32, HM_MATH_TF32, false},       {"fp32-ieee", 32, HM_MATH_FP32, false},
    {"bf16", 32, HM_MATH_BF16, true},        {"fp16", 32, HM_MATH_FP16, true},
    {"fp8", 32, HM_MATH_FP8, false},         {"16", 16, HM_MATH_AUTO, true},
    {"32", 32, HM_MATH_TF32, true},          {"64", 64, HM_MATH_FP64, true},
    {"float64", 64, HM_MATH_FP64, true},     {"float32", 32, HM_MATH_TF32, true},
    {"bfloat16", 32, HM_MATH_BF16, true},    {"float16", 32, HM_MATH_FP16, true},
    {"bf16-mixed", 32, HM_MATH_BF16, false}, {"16-mixed", 32, HM_MATH_FP16, false},
};

static const struct precision_name *precision_find(const char *text)
{
    for (size_t i = 0; i < sizeof(precision_names) / sizeof(precision_names[0]); i++)
        if (strcmp(precision_names[i].name, text) == 0)
            return &precision_names[i];
    return NULL;
}

int hm__read_precision(struct hm_reader *reader, const struct hm_value *value, struct hm_job *job)
{
    int rc = hm__expect_kind(reader, value, HM_VALUE_SCALAR, "a precision such as bf16");

    if (rc)
        return rc;
    const struct precision_name *found = precision_find(value->text);
    if (!found) {
        hm__reader_fail(reader, value, HM_E_RANGE, "'%.60s' is not a precision", value->text);
        hm__err_hint(reader->err, "write fp64, fp32, tf32, bf16, fp16 or fp8; 16, 32 and 64 are "
                                  "the bits of a parameter");
        return HM_E_RANGE;
    }
    job->precision = found->bits;
    job->math = found->math;
    return 0;
}

int hm__read_weights(struct hm_reader *reader, const struct hm_value *value, struct hm_job *job)
{
    int rc = hm__expect_kind(reader, value, HM_VALUE_SCALAR, "a format such as fp32");

    if (rc)
        return rc;
    const struct precision_name *found = precision_find(value->text);
    if (!found || !found->weights) {
        hm__reader_fail(reader, value, HM_E_RANGE, "parameters cannot be kept in '%.60s'",
                        value->text);
        hm__err_hint(reader->err, "write fp32, bf16, fp16 or fp64");
        return HM_E_RANGE;
    }
    bool half = found->math == HM_MATH_BF16 || found->math == HM_MATH_FP16;
    job->precision = half ? 16 : found->bits;
    return 0;
}
