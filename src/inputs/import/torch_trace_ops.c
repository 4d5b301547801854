/*
 * Collects the times of single operations in a trace of the PyTorch profiler, from which the rates
 * of the machine are computed. If the profiler recorded shapes (record_shapes=True), an operation
 * of the host has the sizes and types of its inputs, and its kernels have its "External id". Matrix
 * products and elementwise operations are used:
 *
 *   aten::mm, addmm        m x k by k x n: kernels of matrix products of at least 2^31 flop
 *   aten::add, mul, …      two inputs of equal sizes and types: two are read and one is written
 *   aten::gelu, relu, …    one input: it is read, and a result of its size is written
 *
 * Operations of the same kind and shape become one row, with their median time. Events of the host
 * come before events of the device in the file, so the operation of a kernel is known when the
 * kernel is read.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "torch_trace.h"

/*
 * Matrix products with fewer floating-point operations are not used. The time of a smaller product
 * is mostly the time to launch its kernel.
 */
static const double LEAST_FLOP = 2147483648.0;

/*
 * Names of the operations that are used, with a code for their inputs: 1 or 2 is the number of
 * inputs of an element-wise operation, 0 means a matrix product of the first two inputs, and 3
 * means a matrix product of the second and the third input.
 */
static const struct {
    const char *name;
    int inputs;
} known[] = {{"aten::mm", 0},   {"aten::addmm", 3}, {"aten::add", 2},  {"aten::add_", 2},
             {"aten::mul", 2},  {"aten::mul_", 2},  {"aten::sub", 2},  {"aten::div", 2},
             {"aten::gelu", 1}, {"aten::relu", 1},  {"aten::silu", 1}, {"aten::tanh", 1},
             {"aten::exp", 1},  {"aten::neg", 1}};

static int inputs_of(const char *name)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(known[i].name, name) == 0)
            return known[i].inputs;
    return -1;
}

bool hm__trace_op_known(const char *name)
{
    return strncmp(name, "aten::", 6) == 0 && inputs_of(name) >= 0;
}

/*
 * Number types with the names that the profiler uses, their sizes in bytes, and their formats in
 * matrix products.
 */
static const struct {
    const char *name;
    double bytes;
    enum hm_math math;
} types[] = {{"c10::BFloat16", 2, HM_MATH_BF16},
             {"c10::Half", 2, HM_MATH_FP16},
             {"float", 4, HM_MATH_FP32},
             {"double", 8, HM_MATH_FP64}};

/* ---- operations of the host -------------------------------------------------------------------
 */

/* Returns the slot of the hash table for an id: the slot of its operation, or a free slot. */
static uint16_t *find_slot(const struct trace_ops *ops, double id)
{
    size_t at = (size_t)hm__hash_bytes(&ops->key, &id, sizeof(id)) % TRACE_SLOTS;

    while (ops->slots[at] > 0 && ops->items[ops->slots[at] - 1].id != id)
        at = (at + 1) % TRACE_SLOTS;
    return &ops->slots[at];
}

/* Allocates the arrays for operations; returns false if memory runs out. */
static bool start_ops(struct trace_ops *ops)
{
    if (!ops->slots)
        hm__hash_begin(&ops->key);
    if (!ops->items)
        ops->items = hm__calloc(TRACE_OPS, sizeof(*ops->items));
    if (!ops->slots)
        ops->slots = hm__calloc(TRACE_SLOTS, sizeof(*ops->slots));
    return ops->items && ops->slots;
}

/* Returns the number of elements in an input; 0 if the trace has no sizes for it. */
static double elements_of(const struct trace_input *input)
{
    double product = input->sides > 0 ? 1 : 0;

    for (int i = 0; i < input->sides; i++)
        product *= input->side[i];
    return product;
}

static bool same_sides(const struct trace_input *a, const struct trace_input *b)
{
    return a->sides == b->sides && strcmp(a->type, b->type) == 0 &&
           memcmp(a->side, b->side, (size_t)a->sides * sizeof(a->side[0])) == 0;
}

/*
 * Determines the kind, precision and shape of an operation. Returns false if its time cannot be
 * used.
 */
static bool describe_op(const char *name, const struct trace_input *in, struct hm_timing *ret)
{
    int inputs = inputs_of(name);
    const struct trace_input *a = inputs == 3 ? &in[1] : &in[0], *b = a + 1;
    size_t k = 0;

    while (k < sizeof(types) / sizeof(types[0]) && strcmp(types[k].name, a->type) != 0)
        k++;
    if (k == sizeof(types) / sizeof(types[0]))
        return false;
    *ret = (struct hm_timing){.math = HM_MATH_AUTO, .workers = 1, .nodes = 1};
    if (inputs == 1 || inputs == 2) {
        if (inputs == 2 && !same_sides(a, b))
            return false;
        ret->what = HM_TIMED_STREAM;
        ret->shape[0] = (inputs + 1) * elements_of(a) * types[k].bytes;
        return ret->shape[0] > 0 && ret->shape[0] < 1e15;
    }
    if (a->sides != 2 || b->sides != 2 || strcmp(a->type, b->type) != 0 || a->side[1] != b->side[0])
        return false;
    ret->what = HM_TIMED_GEMM;
    ret->math = types[k].math;
    ret->shape[0] = a->side[0];
    ret->shape[1] = b->side[1];
    ret->shape[2] = a->side[1];
    double flop = 2 * ret->shape[0] * ret->shape[1] * ret->shape[2];
    return flop >= LEAST_FLOP && flop < 1e18;
}

void hm__trace_op_add(struct trace *t, const char *name, double id, const struct trace_input *in)
{
    struct hm_timing timing;

    if (!(id >= 1 && id < 9e15) || t->ops.count >= TRACE_OPS || !describe_op(name, in, &timing))
        return;
    if (!start_ops(&t->ops)) {
        t->im->failed = true;
        return;
    }
    uint16_t *slot = find_slot(&t->ops, id);
    if (*slot == 0)
        *slot = (uint16_t)++t->ops.count;
    t->ops.items[*slot - 1] = (struct trace_op){.id = id, .timing = timing};
}

void hm__trace_op_time(struct trace *t, const char *kernel, double id, int64_t ns)
{
    size_t slot = t->ops.count > 0 && id >= 1 && id < 9e15 ? *find_slot(&t->ops, id) : 0;

    if (slot == 0)
        return;
    struct trace_op *op = &t->ops.items[slot - 1];
    op->ns += (double)ns;
    /*
     * On matrix units, products of 32-bit numbers use TF32; only the name of the kernel shows this.
     */
    if (op->timing.math == HM_MATH_FP32 && (strstr(kernel, "tf32") || strstr(kernel, "s1688")))
        op->timing.math = HM_MATH_TF32;
}

/* ---- rows -------------------------------------------------------------------------------------
 */

static int compare_ops(const void *a, const void *b)
{
    const struct trace_op *x = a, *y = b;
    const struct hm_timing *s = &x->timing, *t = &y->timing;

    if ((x->ns > 0) != (y->ns > 0))
        return x->ns > 0 ? -1 : 1;
    if (s->what != t->what)
        return s->what < t->what ? -1 : 1;
    if (s->math != t->math)
        return s->math < t->math ? -1 : 1;
    for (int i = 0; i < 3; i++)
        if (s->shape[i] != t->shape[i])
            return s->shape[i] < t->shape[i] ? -1 : 1;
    return x->ns < y->ns ? -1 : x->ns > y->ns;
}

/* Returns whether two operations have the same kind, precision and shape; their times may
 * differ. */
static bool same_op(const struct trace_op *x, const struct trace_op *y)
{
    struct trace_op z = *y;

    z.ns = x->ns;
    return x->ns > 0 && y->ns > 0 && compare_ops(x, &z) == 0;
}

int hm__trace_timings(struct trace *t, struct hm_err *err)
{
    struct hm_timings *out = &t->im->timings;
    struct trace_op *ops = t->ops.items;
    size_t used = 0, products = 0;

    if (!ops && t->work[TRACE_COMPUTE].count > 0)
        hm__import_note(t->im,
                        "the trace has no shapes of large operations, so that it does not "
                        "describe the machine: record_shapes=True of the profiler adds them");
    if (!ops || t->device[0] == '\0')
        return 0;
    out->rows = hm__arena_alloc(t->im->arena, TRACE_ROWS, sizeof(*out->rows));
    out->name = hm__arena_strdup(t->im->arena, t->device);
    if (!out->rows || !out->name)
        return hm__fail_nomem(err);
    qsort(ops, t->ops.count, sizeof(*ops), compare_ops);
    for (size_t i = 0, next; i < t->ops.count && ops[i].ns > 0 && out->count < TRACE_ROWS;
         i = next) {
        for (next = i + 1; next < t->ops.count && same_op(&ops[i], &ops[next]); next++)
            ;
        double median = (ops[(i + next - 1) / 2].ns + ops[(i + next) / 2].ns) / 2;
        struct hm_timing *row = &out->rows[out->count++];
        *row = ops[i].timing;
        row->seconds = median / 1e9;
        row->spread = next - i > 1 ? 1 - ops[i].ns / median : NAN;
        used += next - i;
        products += row->what == HM_TIMED_GEMM;
    }
    out->gpu = true;
    out->library = "kernels in a trace of the PyTorch profiler";
    out->processors = t->processors;
    out->memory_bytes = t->memory_bytes;
    out->workers = NAN;
    hm__import_took(t->im, (double)used, "operations with known shapes");
    /* Rates of the machine cannot be computed without matrix products, so no times are returned. */
    if (products == 0)
        out->count = 0;
    return 0;
}
