/* Defines the tables with the names of public enumerations. */
#include "names.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const status_names[] = {[HM_STATUS_OK] = "ok",
                                           [HM_STATUS_NO_SPEEDUP] = "no-speedup",
                                           [HM_STATUS_UNREACHED] = "unreached"};

static const char *const goal_names[] = {[HM_GOAL_AUTO] = "auto",
                                         [HM_GOAL_TIME] = "time",
                                         [HM_GOAL_COST] = "cost",
                                         [HM_GOAL_BALANCE] = "balance"};

const char *const hm__scaling_names[] = {
    [HM_SCALING_STRONG] = "strong", [HM_SCALING_WEAK] = "weak", NULL};

static const char *const errors_names[] = {
    [HM_ERRORS_AUTO] = "auto", [HM_ERRORS_EQUAL] = "equal", [HM_ERRORS_RELATIVE] = "relative"};

static const char *const recommend_way_names[] = {[HM_RECOMMEND_ROWS] = "rows",
                                                  [HM_RECOMMEND_FIT] = "fit",
                                                  [HM_RECOMMEND_MODEL] = "model",
                                                  [HM_RECOMMEND_NONE] = "none"};

static const char *const advise_why_names[] = {
    [HM_WHY_BEST] = "best", [HM_WHY_ITERATION] = "iteration", [HM_WHY_ITERATIONS] = "iterations",
    [HM_WHY_BOTH] = "both", [HM_WHY_PRICE] = "price",         [HM_WHY_NEVER] = "never",
    [HM_WHY_LOSS] = "loss", [HM_WHY_LIMIT] = "limit",
};

static const char *const math_names[] = {
    [HM_MATH_AUTO] = "auto", [HM_MATH_FP64] = "fp64", [HM_MATH_FP32] = "fp32",
    [HM_MATH_TF32] = "tf32", [HM_MATH_BF16] = "bf16", [HM_MATH_FP16] = "fp16",
    [HM_MATH_FP8] = "fp8",
};

const char *const hm__software_names[] = {[HM_SOFTWARE_EAGER] = "eager",
                                          [HM_SOFTWARE_COMPILED] = "compiled",
                                          [HM_SOFTWARE_TUNED] = "tuned",
                                          [HM_SOFTWARE_COUNT] = NULL};

const char *const hm__framework_names[] = {[HM_FRAMEWORK_NONE] = "none",
                                           [HM_FRAMEWORK_SPARK] = "spark",
                                           [HM_FRAMEWORK_TENSORFLOW] = "tensorflow",
                                           [HM_FRAMEWORK_MXNET] = "mxnet",
                                           [HM_FRAMEWORK_PMLS] = "pmls",
                                           [HM_FRAMEWORK_COUNT] = NULL};

const char *const hm__input_names[] = {
    [HM_INPUT_MEMORY] = "memory", [HM_INPUT_TEXT] = "text", [HM_INPUT_COUNT] = NULL};

static const char *name_at(const char *const *names, size_t count, size_t value)
{
    return value < count ? names[value] : "?";
}

const char *hm_math_name(enum hm_math math)
{
    return name_at(math_names, COUNT(math_names), (size_t)math);
}

const char *hm_software_name(enum hm_software software)
{
    return name_at(hm__software_names, HM_SOFTWARE_COUNT, (size_t)software);
}

const char *hm_framework_name(enum hm_framework framework)
{
    return name_at(hm__framework_names, HM_FRAMEWORK_COUNT, (size_t)framework);
}

const char *hm__status_name(enum hm_status status)
{
    return name_at(status_names, COUNT(status_names), (size_t)status);
}

const char *hm__goal_name(enum hm_goal goal)
{
    return name_at(goal_names, COUNT(goal_names), (size_t)goal);
}

const char *hm__scaling_name(enum hm_scaling scaling)
{
    return name_at(hm__scaling_names, COUNT(hm__scaling_names) - 1, (size_t)scaling);
}

const char *hm__errors_name(enum hm_errors errors)
{
    return name_at(errors_names, COUNT(errors_names), (size_t)errors);
}

const char *hm__recommend_way_name(enum hm_recommend_way way)
{
    return name_at(recommend_way_names, COUNT(recommend_way_names), (size_t)way);
}

const char *hm__advise_why_name(enum hm_advise_why why)
{
    return name_at(advise_why_names, COUNT(advise_why_names), (size_t)why);
}

const char *const hm__recipe_names[] = {[HM_RECIPE_POWER_LAW] = "power-law",
                                        [HM_RECIPE_RANDOM] = "random",
                                        [HM_RECIPE_GRID] = "grid",
                                        NULL};

const char *const hm__payload_names[] = {[HM_PAYLOAD_PARAMETERS] = "parameters",
                                         [HM_PAYLOAD_GRADIENTS] = "gradients",
                                         [HM_PAYLOAD_VERTICES] = "vertices",
                                         NULL};

const char *hm__payload_name(enum hm_payload payload)
{
    return payload == HM_PAYLOAD_BYTES ? "bytes" : hm__payload_names[payload];
}
