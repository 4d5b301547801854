/*
 * Lists the operations that a calibration times. Matrix products have the shapes of layers: square
 * shapes, the shapes of transformers and of fully connected layers, gradients of the weights (few
 * rows, long sums) and small shapes, so that fast and slow shapes are included. Convolutions have
 * the shapes of ResNet-50.
 */
#include <math.h>

#include "calibration.h"

static const double gpu_products[][3] = {
    {1024, 1024, 1024}, {256, 4096, 4096},  {1024, 1000, 2048},  {16384, 768, 768},
    {2048, 2048, 2048}, {16384, 3072, 768}, {16384, 768, 3072},  {256, 2304, 50176},
    {8192, 4096, 1024}, {4096, 4096, 4096}, {16384, 4096, 4096}, {8192, 8192, 8192},
};
static const double gpu_quick_products[][3] = {
    {1024, 1024, 1024}, {16384, 768, 3072}, {4096, 4096, 4096}};
static const double cpu_products[][3] = {{64, 512, 512},     {128, 1024, 1024}, {512, 512, 512},
                                         {512, 4096, 1024},  {4096, 512, 512},  {256, 2304, 4096},
                                         {1024, 1024, 1024}, {2048, 2048, 2048}};
static const double cpu_quick_products[][3] = {{32, 128, 128}, {192, 192, 192}};
/*
 * Columns: images, input channels, output channels, side of the image, side of the kernel, stride.
 * There are enough images that their values do not fit into a cache.
 */
static const double convolutions[][6] = {
    {256, 64, 64, 56, 3, 1},   {256, 128, 128, 28, 3, 1},  {256, 256, 64, 56, 1, 1},
    {256, 256, 256, 14, 3, 1}, {256, 1024, 256, 14, 1, 1}, {256, 512, 512, 7, 3, 1},
    {256, 256, 512, 56, 1, 2}, {256, 512, 2048, 7, 1, 1},
};

/* The list of operations and the number of entries so far. */
struct op_list {
    struct hm_timing *rows;
    size_t count;
};

static void list_add(struct op_list *list, enum hm_timed what, enum hm_math math,
                     const double *shape, double workers)
{
    if (list->count == HM_CALIBRATION_OPS)
        return;
    struct hm_timing *row = &list->rows[list->count++];
    *row = (struct hm_timing){
        .what = what, .math = math, .workers = workers, .nodes = 1, .seconds = NAN, .spread = NAN};
    for (size_t i = 0; i < hm__timed_sides(what); i++)
        row->shape[i] = shape[i];
}

static void list_add_products(struct op_list *list, const double (*shapes)[3], size_t count,
                              enum hm_math math, double workers)
{
    for (size_t i = 0; i < count; i++)
        list_add(list, HM_TIMED_GEMM, math, shapes[i], workers);
}

enum {
    GPU_PRODUCTS = sizeof(gpu_products) / sizeof(gpu_products[0]),
    GPU_QUICK_PRODUCTS = sizeof(gpu_quick_products) / sizeof(gpu_quick_products[0]),
    CPU_PRODUCTS = sizeof(cpu_products) / sizeof(cpu_products[0]),
    CPU_QUICK_PRODUCTS = sizeof(cpu_quick_products) / sizeof(cpu_quick_products[0]),
    CONVOLUTIONS = sizeof(convolutions) / sizeof(convolutions[0])
};

size_t hm__calibration_gpu_ops(bool quick, struct hm_timing rows[HM_CALIBRATION_OPS])
{
    static const enum hm_math maths[] = {HM_MATH_BF16, HM_MATH_FP16, HM_MATH_TF32,
                                         HM_MATH_FP32, HM_MATH_FP64, HM_MATH_FP8};
    static const enum hm_math conv_maths[] = {HM_MATH_BF16, HM_MATH_TF32, HM_MATH_FP32};
    struct op_list list = {.rows = rows};

    list_add(&list, HM_TIMED_LAUNCH, HM_MATH_AUTO, NULL, 1);
    list_add(&list, HM_TIMED_KERNEL, HM_MATH_AUTO, NULL, 1);
    for (double bytes = 3 << 20; bytes <= (quick ? 3 << 28 : 3L << 30); bytes *= quick ? 16 : 4)
        list_add(&list, HM_TIMED_STREAM, HM_MATH_AUTO, &bytes, 1);
    for (size_t i = 0; i < sizeof(maths) / sizeof(maths[0]); i++)
        list_add_products(&list, quick ? gpu_quick_products : gpu_products,
                          quick ? GPU_QUICK_PRODUCTS : GPU_PRODUCTS, maths[i], 1);
    for (size_t i = 0; i < sizeof(conv_maths) / sizeof(conv_maths[0]); i++)
        for (size_t k = 0; k < (quick ? 2 : CONVOLUTIONS); k++)
            for (int pass = HM_TIMED_CONV_FORWARD; pass <= HM_TIMED_CONV_WEIGHT; pass++)
                list_add(&list, (enum hm_timed)pass, conv_maths[i], convolutions[k], 1);
    return list.count;
}

size_t hm__calibration_cpu_ops(bool quick, double cores, struct hm_timing rows[HM_CALIBRATION_OPS])
{
    static const double scaling[] = {1024, 1024, 1024}, quick_scaling[] = {192, 192, 192};
    struct op_list list = {.rows = rows};

    list_add(&list, HM_TIMED_KERNEL, HM_MATH_AUTO, NULL, cores);
    for (double threads = 1; threads < cores; threads = fmin(2 * threads, cores)) {
        const double bytes = quick ? 3 << 20 : 3 << 26;
        list_add(&list, HM_TIMED_STREAM, HM_MATH_AUTO, &bytes, threads);
        list_add(&list, HM_TIMED_GEMM, HM_MATH_FP32, quick ? quick_scaling : scaling, threads);
    }
    for (double bytes = quick ? 3 << 20 : 3 << 24; bytes <= (quick ? 3 << 20 : 3 << 28); bytes *= 4)
        list_add(&list, HM_TIMED_STREAM, HM_MATH_AUTO, &bytes, cores);
    list_add_products(&list, quick ? cpu_quick_products : cpu_products,
                      quick ? CPU_QUICK_PRODUCTS : CPU_PRODUCTS, HM_MATH_FP32, cores);
    list_add_products(&list, quick ? cpu_quick_products : cpu_products,
                      quick ? CPU_QUICK_PRODUCTS : CPU_PRODUCTS, HM_MATH_FP64, cores);
    return list.count;
}

size_t hm__calibration_sizes(bool quick, double ret_bytes[32])
{
    size_t count = 0;

    for (double bytes = 8; bytes <= (quick ? 1 << 20 : 1 << 26); bytes *= quick ? 64 : 4)
        ret_bytes[count++] = bytes;
    return count;
}

double hm__timing_flop(const struct hm_timing *t)
{
    const double *s = t->shape;

    if (t->what == HM_TIMED_GEMM)
        return 2 * s[0] * s[1] * s[2];
    if (t->what < HM_TIMED_CONV_FORWARD || t->what > HM_TIMED_CONV_WEIGHT)
        return 0;
    double side = ceil(s[3] / s[5]);
    return 2 * s[0] * s[1] * s[2] * side * side * s[4] * s[4];
}
