/*
 * Implements multilayer perceptrons: layers a_l = f(a_{l-1} W_l + b_l), where a_0 is a row and f is
 * the sigmoid or max(0, z); the last layer has softmax instead of f, and the loss of a row with
 * label y is -ln softmax(z)_y = ln sum_j exp(z_j - z_max) + z_max - z_y. The gradient is computed
 * by backpropagation (Rumelhart, Hinton, Williams 1986): D_L = softmax(z) - e_y, D_{l-1} = (D_l
 * W_l') f'(a_{l-1}), dW_l = a_{l-1}' D_l, db_l = 1' D_l. Here e_y is the unit vector of class y, W'
 * is the transpose of W, and f' is the derivative of f. Rows are processed in blocks, so that these
 * formulas are matrix products. w contains, layer after layer, W_l (in x out, row-major) and b_l.
 *
 * Matrix products are in single precision, as is common in training; sums over blocks, and the
 * loss, are in double precision. Sparse rows are stored in dense form, since the gradient of the
 * first layer is dense.
 */
#include "perceptron.h"

#include <math.h>
#include <string.h>

#include "err.h"
#include "random.h"

/*
 * Rows are processed in blocks of at most BLOCK_ROWS rows. A block has fewer rows if the values of
 * the widest layer would exceed BLOCK_VALUES floats (16 MB), but at least BLOCK_ROWS_MIN.
 */
enum { BLOCK_ROWS = 512, BLOCK_ROWS_MIN = 16, BLOCK_VALUES = 1 << 22 };
/*
 * Approximate numbers of floating-point operations per value for four operations: a bias with ReLU,
 * a bias with the sigmoid, softmax, and the derivative of the activation.
 */
enum { FLOP_RELU = 2, FLOP_SIGMOID = 12, FLOP_SOFTMAX = 14, FLOP_BACK = 2 };

struct layer {
    size_t in, out;
    size_t at; /* Offset of the layer's weight matrix in w; the layer's biases follow the matrix. */
};

struct perceptron {
    struct layer layer[HM_HIDDEN_MAX + 1];
    size_t layers;
    enum hm_activation activation;
    hm_gemm_fn *gemm;
    size_t block;    /* Number of rows in a block. */
    float *x;        /* All rows of this rank, converted to floats; count x features elements. */
    float *batch;    /* Copy of the rows of one block; block x features elements. */
    float *weights;  /* The weights w in single precision. */
    float *gradient; /* Gradient of one block, in single precision. */
    /*
     * For each layer, block x out values: the activations a_l in the forward pass, and the
     * gradients D_l in the backward pass.
     */
    float *values[HM_HIDDEN_MAX + 1];
    float *spare; /* Scratch memory; block x (width of the widest hidden layer) elements. */
};

static size_t smaller_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- forward pass --------------------------------------------------------------------------- */

static void perceptron_set_weights(struct perceptron *p, const double *w, size_t count)
{
    for (size_t i = 0; i < count; i++)
        p->weights[i] = (float)w[i];
}

/*
 * Converts rows `first` to `first` + `count` - 1 to floats; columns beyond `features` are ignored.
 */
static void rows_convert(const struct hm_rows *rows, size_t first, size_t count, size_t features,
                         float *restrict into)
{
    for (size_t i = first; i < first + count; i++, into += features) {
        if (!rows->sparse) {
            size_t known = smaller_size(rows->features, features);
            for (size_t j = 0; j < known; j++)
                into[j] = (float)rows->values[i * rows->features + j];
            memset(into + known, 0, (features - known) * sizeof(*into));
            continue;
        }
        memset(into, 0, features * sizeof(*into));
        for (size_t k = rows->starts[i]; k < rows->starts[i + 1]; k++)
            if (rows->columns[k] < features)
                into[rows->columns[k]] = (float)rows->values[k];
    }
}

/*
 * Returns the rows list[0..count), or rows `first` to `first` + `count` - 1 if `list` is NULL.
 * Contiguous rows are not copied.
 */
static const float *rows_gather(struct perceptron *p, const uint32_t *list, size_t first,
                                size_t count)
{
    const size_t features = p->layer[0].in;
    size_t run = 1;

    if (!list)
        return p->x + first * features;
    while (run < count && list[run] == list[0] + run)
        run++;
    if (run == count)
        return p->x + list[0] * features;
    for (size_t i = 0; i < count; i++)
        memcpy(p->batch + i * features, p->x + list[i] * features, features * sizeof(float));
    return p->batch;
}

/*
 * Returns exp(x) for x <= 0, with an error of at most 1 unit in the last place; below -87, the
 * result is exp(-87). The function writes x = n ln 2 + r and uses a polynomial in r (Moshier's
 * Cephes). The compiler can vectorise loops that call this function, unlike loops that call expf,
 * and the results have the same bits on every machine.
 */
static inline float exp_below(float x)
{
    /*
     * Adding 1.5 * 2^23 to a small float rounds it to an integer, which is then in the low bits of
     * the sum.
     */
    const float round = 12582912;
    float low = x < -87 ? -87 : x, shifted = low * 1.44269504f + round, n = shifted - round;
    float r = low - n * 0.693359375f + n * 2.12194440e-4f, scale;
    float sum = 1.9875691500e-4f * r + 1.3981999507e-3f;
    uint32_t bits;

    sum = (sum * r + 8.3334519073e-3f) * r + 4.1665795894e-2f;
    sum = (sum * r + 1.6666665459e-1f) * r + 5.0000001201e-1f;
    memcpy(&bits, &shifted, sizeof(bits));
    bits = (bits + 127) << 23; /* 2^n */
    memcpy(&scale, &bits, sizeof(scale));
    return (sum * r * r + r + 1) * scale;
}

static void layer_add_bias(float *restrict z, const float *restrict bias, size_t rows, size_t out)
{
    for (size_t i = 0; i < rows; i++, z += out)
        for (size_t j = 0; j < out; j++)
            z[j] += bias[j];
}

static void layer_add_bias_relu(float *restrict z, const float *restrict bias, size_t rows,
                                size_t out)
{
    for (size_t i = 0; i < rows; i++, z += out)
        for (size_t j = 0; j < out; j++) {
            float v = z[j] + bias[j];
            /*
             * If the input is NaN, the result is also NaN, so that divergence of the training is
             * detected.
             */
            z[j] = 0 > v ? 0 : v;
        }
}

static void layer_add_bias_sigmoid(float *restrict z, const float *restrict bias, size_t rows,
                                   size_t out)
{
    for (size_t i = 0; i < rows; i++, z += out)
        for (size_t j = 0; j < out; j++) {
            float v = z[j] + bias[j], e = exp_below(-fabsf(v));
            z[j] = (v < 0 ? e : 1) / (1 + e);
        }
}

/*
 * Performs the forward pass: computes the inputs z of the softmax from the rows `x` and stores them
 * in values[layers - 1]; returns the number of operations.
 */
static double perceptron_forward(struct perceptron *p, const float *x, size_t rows)
{
    double flop = 0;

    for (size_t l = 0; l < p->layers; l++) {
        const struct layer *y = &p->layer[l];
        const float *weights = p->weights + y->at, *bias = weights + y->in * y->out;
        const bool last = l + 1 == p->layers, relu = p->activation == HM_ACTIVATION_RELU;
        float *z = p->values[l];
        p->gemm(false, false, rows, y->out, y->in, 1, l ? p->values[l - 1] : x, y->in, weights,
                y->out, 0, z, y->out);
        (last   ? layer_add_bias
         : relu ? layer_add_bias_relu
                : layer_add_bias_sigmoid)(z, bias, rows, y->out);
        flop += (double)(rows * y->out) * (2 * (double)y->in + (last   ? 1
                                                                : relu ? FLOP_RELU
                                                                       : FLOP_SIGMOID));
    }
    return flop;
}

/* ---- backward pass -------------------------------------------------------------------------- */

static size_t index_of_largest(const float *z, size_t count)
{
    size_t best = 0;

    for (size_t j = 1; j < count; j++)
        if (z[j] > z[best])
            best = j;
    return best;
}

/*
 * Returns the loss of one row, and replaces the scores z of the row with the gradient of the loss,
 * softmax(z) - e_y.
 */
static double layer_softmax_loss(float *z, size_t outputs, size_t label)
{
    const size_t top = index_of_largest(z, outputs);
    const float z_top = z[top];
    const double behind = (double)z_top - z[label];
    double others = 0;

    for (size_t j = 0; j < outputs; j++) {
        z[j] = exp_below(z[j] - z_top);
        others += j == top ? 0 : (double)z[j];
    }
    for (size_t j = 0; j < outputs; j++)
        z[j] = (float)((double)z[j] / (1 + others) - (j == label));
    return log1p(others) + behind;
}

static void layer_bias_gradient(const float *restrict d, size_t rows, size_t out,
                                float *restrict sum)
{
    memset(sum, 0, out * sizeof(*sum));
    for (size_t i = 0; i < rows; i++, d += out)
        for (size_t j = 0; j < out; j++)
            sum[j] += d[j];
}

/*
 * Replaces each activation a with its gradient d f'(a), where d is the gradient with respect to a.
 * For the sigmoid, f' is a (1 - a); for ReLU, f' is 1 if a > 0, and 0 otherwise.
 */
static void layer_activation_backward(enum hm_activation activation, float *restrict a,
                                      const float *restrict d, size_t count)
{
    if (activation == HM_ACTIVATION_RELU)
        for (size_t i = 0; i < count; i++) {
            float passed = d[i];
            a[i] = a[i] > 0 ? passed : 0;
        }
    else
        for (size_t i = 0; i < count; i++)
            a[i] = d[i] * (a[i] * (1 - a[i]));
}

/*
 * Performs the backward pass: computes the gradient of a block from D_L (the gradient at the last
 * layer), which is in values[layers - 1]; returns the number of operations.
 */
static double perceptron_backward(struct perceptron *p, const float *x, size_t rows)
{
    double flop = 0;

    for (size_t l = p->layers; l-- > 0;) {
        const struct layer *y = &p->layer[l];
        float *below = l ? p->values[l - 1] : NULL, *d = p->values[l], *sum = p->gradient + y->at;
        p->gemm(true, false, y->in, y->out, rows, 1, l ? below : x, y->in, d, y->out, 0, sum,
                y->out);
        layer_bias_gradient(d, rows, y->out, sum + y->in * y->out);
        flop += (double)(rows * y->out) * (2 * (double)y->in + 1);
        if (l == 0)
            break;
        p->gemm(false, true, rows, y->in, y->out, 1, d, y->out, p->weights + y->at, y->out, 0,
                p->spare, y->in);
        layer_activation_backward(p->activation, below, p->spare, rows * y->in);
        flop += (double)(rows * y->in) * (2 * (double)y->out + FLOP_BACK);
    }
    return flop;
}

static void gradient_add(double *restrict sum, const float *restrict more, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sum[i] += (double)more[i];
}

static double perceptron_eval(struct hm_objective *objective, const double *w, const uint32_t *list,
                              size_t count, double *gradient, double *ret_flop)
{
    struct perceptron *p = objective->state;
    const size_t outputs = objective->outputs;
    double loss = 0, flop = (double)(count * outputs) * FLOP_SOFTMAX;

    if (count > 0)
        perceptron_set_weights(p, w, objective->unknowns);
    for (size_t first = 0, rows; first < count; first += rows) {
        const uint32_t *part = list ? list + first : NULL;
        rows = smaller_size(count - first, p->block);
        const float *x = rows_gather(p, part, first, rows);
        float *z = p->values[p->layers - 1];
        flop += perceptron_forward(p, x, rows);
        for (size_t i = 0; i < rows; i++)
            loss += layer_softmax_loss(z + i * outputs, outputs,
                                       (size_t)objective->rows.labels[part ? part[i] : first + i]);
        if (!gradient)
            continue;
        flop += perceptron_backward(p, x, rows) + (double)objective->unknowns;
        gradient_add(gradient, p->gradient, objective->unknowns);
    }
    if (ret_flop)
        *ret_flop = flop;
    return loss;
}

static double perceptron_right(struct hm_objective *objective, const double *w,
                               const struct hm_rows *rows)
{
    struct perceptron *p = objective->state;
    /*
     * The original values of the rows were freed after they had been copied to p->x, so the copy is
     * used.
     */
    const bool own = rows->labels == objective->rows.labels;
    const size_t outputs = objective->outputs, features = p->layer[0].in;
    double right = 0;

    if (rows->count > 0)
        perceptron_set_weights(p, w, objective->unknowns);
    for (size_t first = 0, count; first < rows->count; first += count) {
        count = smaller_size(rows->count - first, p->block);
        if (!own)
            rows_convert(rows, first, count, features, p->batch);
        perceptron_forward(p, own ? p->x + first * features : p->batch, count);
        for (size_t i = 0; i < count; i++)
            right += (double)index_of_largest(p->values[p->layers - 1] + i * outputs, outputs) ==
                     rows->labels[first + i];
    }
    return right;
}

static const struct hm_objective_ops perceptron_ops = {
    .name = "perceptron",
    .eval = perceptron_eval,
    .right = perceptron_right,
};

/* ---- construction --------------------------------------------------------------------------- */

static int perceptron_check_width(size_t width, const char *field, struct hm_err *err)
{
    if (width >= 1 && width <= HM_WIDTH_MAX)
        return 0;
    hm__fail(err, HM_E_RANGE, "%zu is not from 1 to %d", width, HM_WIDTH_MAX);
    hm__err_field(err, field);
    return HM_E_RANGE;
}

static int perceptron_check_labels(const struct hm_rows *rows, size_t outputs, struct hm_err *err)
{
    for (size_t i = 0; i < rows->count; i++) {
        double label = rows->labels[i];
        if (label >= 0 && label < (double)outputs && label == floor(label))
            continue;
        hm__fail(err, HM_E_RANGE, "the label %g of row %zu is not a whole number from 0 to %zu",
                 label, i + 1, outputs - 1);
        hm__err_field(err, "labels");
        return HM_E_RANGE;
    }
    return 0;
}

static int perceptron_check(const struct hm_objective *o, const struct hm_perceptron_spec *spec,
                            struct hm_err *err)
{
    int rc = perceptron_check_width(o->rows.features, "features", err);

    if (rc == 0 && spec->hidden_count > HM_HIDDEN_MAX) {
        rc = hm__fail(err, HM_E_LIMIT, "%zu hidden layers are more than %d", spec->hidden_count,
                      HM_HIDDEN_MAX);
        hm__err_field(err, "hidden");
    }
    for (size_t l = 0; rc == 0 && l < spec->hidden_count; l++)
        rc = perceptron_check_width(spec->hidden[l], "hidden", err);
    if (rc == 0 && o->outputs < 2) {
        rc = hm__fail(err, HM_E_RANGE, "%zu classes are fewer than 2", o->outputs);
        hm__err_field(err, "outputs");
    }
    if (rc == 0)
        rc = perceptron_check_width(o->outputs, "outputs", err);
    return rc ? rc : perceptron_check_labels(&o->rows, o->outputs, err);
}

/* Sets the shapes of the layers; returns the number of weights. */
static size_t perceptron_set_layers(struct perceptron *p, const struct hm_perceptron_spec *spec,
                                    size_t features, size_t outputs)
{
    size_t at = 0, in = features;

    p->layers = spec->hidden_count + 1;
    for (size_t l = 0; l < p->layers; l++) {
        size_t out = l < spec->hidden_count ? spec->hidden[l] : outputs;
        p->layer[l] = (struct layer){.in = in, .out = out, .at = at};
        at += (in + 1) * out;
        in = out;
    }
    return at;
}

static int perceptron_alloc(struct perceptron *p, struct hm_arena *arena, size_t rows,
                            size_t unknowns)
{
    size_t widest = p->layer[0].in, hidden = 1;
    bool ok = true;

    for (size_t l = 0; l < p->layers; l++) {
        widest = p->layer[l].out > widest ? p->layer[l].out : widest;
        hidden = l && p->layer[l].in > hidden ? p->layer[l].in : hidden;
    }
    p->block = smaller_size(BLOCK_ROWS, BLOCK_VALUES / widest);
    p->block = p->block < BLOCK_ROWS_MIN ? BLOCK_ROWS_MIN : p->block;
    p->x = hm__arena_alloc(arena, rows, p->layer[0].in * sizeof(float));
    p->batch = hm__arena_alloc(arena, p->block, p->layer[0].in * sizeof(float));
    p->weights = hm__arena_alloc(arena, unknowns, sizeof(float));
    p->gradient = hm__arena_alloc(arena, unknowns, sizeof(float));
    p->spare = hm__arena_alloc(arena, p->block, hidden * sizeof(float));
    for (size_t l = 0; l < p->layers; l++) {
        p->values[l] = hm__arena_alloc(arena, p->block, p->layer[l].out * sizeof(float));
        ok = ok && p->values[l];
    }
    return ok && p->x && p->batch && p->weights && p->gradient && p->spare ? 0 : HM_E_NOMEM;
}

/*
 * Frees the values of the rows, which have been copied to p->x; the members count, features and
 * labels stay valid.
 */
static void rows_release_values(struct hm_rows *rows)
{
    hm__free(rows->values);
    hm__free(rows->starts);
    hm__free(rows->columns);
    rows->values = NULL;
    rows->starts = NULL;
    rows->columns = NULL;
    rows->sparse = false;
    rows->value_room = 0;
}

int hm__perceptron_init(struct hm_objective *objective, const struct hm_perceptron_spec *spec,
                        struct hm_err *err)
{
    struct hm_rows *rows = &objective->rows;
    int rc = perceptron_check(objective, spec, err);

    if (rc)
        return rc;
    struct perceptron *p = hm__arena_alloc(objective->arena, 1, sizeof(*p));
    if (!p)
        return hm__fail_nomem(err);
    size_t unknowns = perceptron_set_layers(p, spec, rows->features, objective->outputs);
    if (perceptron_alloc(p, objective->arena, rows->count, unknowns))
        return hm__fail_nomem(err);
    p->activation = spec->activation;
    p->gemm = spec->gemm ? spec->gemm : hm__gemm_plain;
    rows_convert(rows, 0, rows->count, rows->features, p->x);
    rows_release_values(rows);
    objective->ops = &perceptron_ops;
    objective->loss = NULL;
    objective->unknowns = unknowns;
    objective->state = p;
    return 0;
}

void hm__perceptron_start(const struct hm_objective *objective, double *w, uint64_t seed)
{
    const struct perceptron *p = objective->state;
    const bool relu = p->activation == HM_ACTIVATION_RELU;
    struct hm_random random;

    for (size_t l = 0; l < p->layers; l++) {
        const struct layer *y = &p->layer[l];
        const size_t weights = y->in * y->out;
        const double he = sqrt(2 / (double)y->in), glorot = sqrt(6 / (double)(y->in + y->out));
        hm__random_init(&random, seed, l);
        for (size_t i = 0; i < weights; i++)
            w[y->at + i] = relu ? he * hm__random_normal(&random)
                                : glorot * (2 * hm__random_uniform(&random) - 1);
        for (size_t j = 0; j < y->out; j++)
            w[y->at + weights + j] = 0;
    }
}
