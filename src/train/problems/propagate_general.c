/*
 * Implements belief propagation with any number of states, and potentials that may be zero.
 *
 * A message is an array of entries with sum 1. T_i(x) = phi_i(x) prod_k m_ki(x) is stored for each
 * state as a mantissa, an exponent, and the number of factors that are zero, so that a vertex of
 * any degree neither overflows nor underflows and one factor, zero or not, can be removed again:
 *     c_ij(x) = T_i(x)/m_ji(x), or 0 if a zero remains;  m_ij(y) ~ sum_x c_ij(x) psi_ij(x, y).
 * c is scaled so that its largest entry is 1. Non-zero entries of c or m below 2^-700 become
 * 2^-700, so that an entry is zero only if a potential is zero, or if the product of a potential
 * and an entry underflows.
 *
 * With weights (psi = w if x = y, 1 otherwise), a message costs 4 S instead of 2 S^2 operations:
 * the off-diagonal part is a prefix sum plus a suffix sum, without subtraction.
 */
#include <math.h>
#include <string.h>

#include "memory.h"
#include "propagate_kernel.h"

static const double LEAST = 0x1p-700, UNIT = 0x1p256;

/*
 * A number with a wide range of exponents: mantissa * 2^(256 exponent), with the mantissa in
 * (2^-256, 1], if `zeros` is 0; otherwise the number is 0, and `zeros` counts its zero factors.
 */
struct wide {
    double mantissa;
    int32_t exponent;
    int32_t zeros;
};

struct general_kernel {
    const struct hm_mrf *mrf; /* Part of the Markov random field that is on this rank; borrowed. */
    struct hm_propagate_settings settings;
    /*
     * Offset of the two messages of each edge; the first message goes to the first end, and the
     * second to the second end; edge_count + 1 elements.
     */
    size_t *places;
    double *messages; /* Messages of all edges; the entries of each message sum to 1. */
    /*
     * Current products T (potential times messages) of own vertices and ghosts; mrf->places holds
     * the offset of each vertex.
     */
    struct wide *now;
    /*
     * Products T (potential times messages) for the next iteration; mrf->places holds the offset of
     * each vertex.
     */
    struct wide *next;
    /*
     * Products c (potential times messages) at both ends of an edge, without the message over this
     * edge; one value for each state.
     */
    double *cavity[2];
    double *sent; /* Scratch memory for a new message; one value for each state. */
    /*
     * Product T of a vertex (potential times messages) without the factor of one message; one value
     * for each state.
     */
    struct wide *rest;
    double flop_per_step; /* Number of floating-point operations of one step; see propagate.h. */
};

static size_t mrf_state_count(const struct hm_mrf *mrf, size_t vertex)
{
    return mrf->places[vertex + 1] - mrf->places[vertex];
}

/* ---- construction --------------------------------------------------------------------------- */

static void general_destroy(void *kernel)
{
    struct general_kernel *k = kernel;

    if (!k)
        return;
    hm__free(k->places);
    hm__free(k->messages);
    hm__free(k->now);
    hm__free(k->next);
    hm__free(k->cavity[0]);
    hm__free(k->cavity[1]);
    hm__free(k->sent);
    hm__free(k->rest);
    hm__free(k);
}

static void general_init_messages(struct general_kernel *k)
{
    const struct hm_mrf *mrf = k->mrf;

    for (size_t e = 0; e < mrf->edge_count; e++) {
        double *m = k->messages + k->places[e];
        for (int end = 0; end < 2; end++) {
            size_t states = mrf_state_count(mrf, mrf->ends[2 * e + (size_t)end]);
            for (size_t x = 0; x < states; x++)
                *m++ = 1 / (double)states;
        }
    }
}

/* Computes the offsets of the messages and the number of operations of a step. */
static void general_set_offsets(struct general_kernel *k)
{
    const struct hm_mrf *mrf = k->mrf;

    for (size_t e = 0; e < mrf->edge_count; e++) {
        size_t a = mrf_state_count(mrf, mrf->ends[2 * e]),
               b = mrf_state_count(mrf, mrf->ends[2 * e + 1]);
        k->places[e + 1] = k->places[e] + a + b;
        k->flop_per_step += mrf->weights ? 8 * (double)a : 4 * (double)a * (double)b;
        k->flop_per_step += 8 * (double)(a + b);
    }
}

static void *general_create(const struct hm_mrf *mrf, const struct hm_propagate_settings *settings)
{
    struct general_kernel *k = hm__calloc(1, sizeof(*k));
    size_t most = 1, locals = mrf->count + mrf->ghosts;

    if (!k)
        return NULL;
    k->mrf = mrf;
    k->settings = *settings;
    for (size_t v = 0; v < locals; v++)
        most = mrf_state_count(mrf, v) > most ? mrf_state_count(mrf, v) : most;
    k->places = hm__calloc(mrf->edge_count + 1, sizeof(*k->places));
    k->now = hm__calloc(mrf->places[locals], sizeof(*k->now));
    k->next = hm__calloc(mrf->places[locals], sizeof(*k->next));
    k->cavity[0] = hm__calloc(most, sizeof(double));
    k->cavity[1] = hm__calloc(most, sizeof(double));
    k->sent = hm__calloc(most, sizeof(double));
    k->rest = hm__calloc(most, sizeof(*k->rest));
    if (!k->places || !k->now || !k->next || !k->cavity[0] || !k->cavity[1] || !k->sent || !k->rest)
        goto fail;
    general_set_offsets(k);
    k->messages = hm__calloc(k->places[mrf->edge_count], sizeof(*k->messages));
    if (!k->messages)
        goto fail;
    general_init_messages(k);
    return k;
fail:
    general_destroy(k);
    return NULL;
}

/* ---- products ------------------------------------------------------------------------------- */

/* Multiplies a struct wide by a value of at most 1. */
static inline void wide_multiply(struct wide *w, double value)
{
    if (value == 0) {
        w->zeros++;
        return;
    }
    w->mantissa *= value;
    while (w->mantissa <= 1 / UNIT) {
        w->mantissa *= UNIT;
        w->exponent--;
    }
}

/* Divides a struct wide by one of its factors, which is at most 1. */
static inline struct wide wide_divide(struct wide w, double value)
{
    if (value == 0) {
        w.zeros--;
        return w;
    }
    w.mantissa /= value;
    while (w.mantissa > 1) {
        w.mantissa /= UNIT;
        w.exponent++;
    }
    return w;
}

/*
 * Converts numbers of type struct wide to doubles, scaled so that the largest is 1; if all numbers
 * are 0, all results are 0.
 */
static void wide_to_doubles(const struct wide *wides, size_t count, double *values)
{
    int32_t highest = INT32_MIN;
    double most = 0;

    for (size_t x = 0; x < count; x++)
        if (wides[x].zeros == 0 && wides[x].exponent > highest)
            highest = wides[x].exponent;
    for (size_t x = 0; x < count; x++) {
        int64_t below = (int64_t)highest - wides[x].exponent;
        values[x] = wides[x].zeros > 0 ? 0 : wides[x].mantissa;
        for (int64_t i = 0; i < below && i < 4; i++)
            /*
             * After four divisions, the value is below LEAST, so further divisions would not change
             * the result.
             */
            values[x] /= UNIT;
        most = values[x] > most ? values[x] : most;
    }
    for (size_t x = 0; x < count; x++)
        if (wides[x].zeros == 0) {
            values[x] /= most;
            values[x] = values[x] < LEAST ? LEAST : values[x];
        }
}

static void general_begin_products(struct general_kernel *k)
{
    const struct hm_mrf *mrf = k->mrf;

    for (size_t i = 0; i < mrf->places[mrf->count + mrf->ghosts]; i++) {
        k->next[i] = (struct wide){1, 0, 0};
        if (i < mrf->places[mrf->count])
            wide_multiply(&k->next[i], mrf->unary[i]);
    }
}

static void general_end_products(struct general_kernel *k)
{
    struct wide *made = k->next;

    k->next = k->now;
    k->now = made;
}

static void general_multiply_in(struct general_kernel *k, size_t vertex, const double *message)
{
    struct wide *product = k->next + k->mrf->places[vertex];
    size_t states = mrf_state_count(k->mrf, vertex);

    for (size_t x = 0; x < states; x++)
        wide_multiply(&product[x], message[x]);
}

static void general_collect(void *kernel)
{
    struct general_kernel *k = kernel;
    const struct hm_mrf *mrf = k->mrf;

    general_begin_products(k);
    for (size_t e = 0; e < mrf->edge_count; e++) {
        const uint32_t *ends = mrf->ends + 2 * e;
        const double *into_first = k->messages + k->places[e];
        general_multiply_in(k, ends[0], into_first);
        general_multiply_in(k, ends[1], into_first + mrf_state_count(mrf, ends[0]));
    }
    general_end_products(k);
}

/* ---- one iteration -------------------------------------------------------------------------- */

/*
 * Computes c_ij: the product of the potential and the messages of a vertex, without the message
 * that came over this edge.
 */
static void general_cavity(const struct general_kernel *k, size_t vertex, const double *message,
                           double *cavity)
{
    const struct wide *product = k->now + k->mrf->places[vertex];
    size_t states = mrf_state_count(k->mrf, vertex);

    for (size_t x = 0; x < states; x++)
        k->rest[x] = wide_divide(product[x], message[x]);
    wide_to_doubles(k->rest, states, cavity);
}

static inline double general_combine(const struct general_kernel *k, double x, double y)
{
    if (k->settings.max_product)
        return x > y ? x : y;
    return x + y;
}

/*
 * Computes the message over an edge with a weight. Each entry is the sum of all other entries of c,
 * computed from prefix and suffix sums, plus the weight times the same entry of c.
 */
static void general_message_by_weight(const struct general_kernel *k, size_t edge,
                                      const double *cavity, size_t states, double *sent)
{
    double sum = 0;

    for (size_t y = 0; y < states; y++) {
        sent[y] = sum;
        sum = general_combine(k, sum, cavity[y]);
    }
    sum = 0;
    for (size_t y = states; y-- > 0;) {
        sent[y] =
            general_combine(k, general_combine(k, sent[y], sum), k->mrf->weights[edge] * cavity[y]);
        sum = general_combine(k, sum, cavity[y]);
    }
}

static void general_message_by_table(const struct general_kernel *k, size_t edge, bool forward,
                                     const double *cavity, double *sent)
{
    const struct hm_mrf *mrf = k->mrf;
    const double *psi = mrf->tables + mrf->table_places[edge];
    size_t rows = mrf_state_count(mrf, mrf->ends[2 * edge]);
    size_t columns = mrf_state_count(mrf, mrf->ends[2 * edge + 1]);

    for (size_t y = 0; y < (forward ? columns : rows); y++)
        sent[y] = 0;
    for (size_t x = 0; x < rows; x++)
        for (size_t y = 0; y < columns; y++) {
            double *into = forward ? &sent[y] : &sent[x];
            *into = general_combine(k, *into, cavity[forward ? x : y] * psi[x * columns + y]);
        }
}

/* Normalises and damps a new message and stores it; returns the largest change of an entry. */
static double general_replace_message(const struct general_kernel *k, const double *sent,
                                      size_t states, double *message)
{
    double sum = 0, change = 0, old_part = k->settings.damping;

    for (size_t y = 0; y < states; y++)
        sum += sent[y];
    for (size_t y = 0; y < states; y++) {
        double value = sum > 0 ? sent[y] / sum : 1 / (double)states;
        if (old_part > 0)
            value = (1 - old_part) * value + old_part * message[y];
        if (value > 0 && value < LEAST)
            value = LEAST;
        change = fmax(change, fabs(value - message[y]));
        message[y] = value;
    }
    return change;
}

static double general_update_edge(struct general_kernel *k, size_t edge)
{
    const struct hm_mrf *mrf = k->mrf;
    const uint32_t *ends = mrf->ends + 2 * edge;
    size_t states[2] = {mrf_state_count(mrf, ends[0]), mrf_state_count(mrf, ends[1])};
    double *into[2] = {k->messages + k->places[edge], k->messages + k->places[edge] + states[0]};
    double change = 0;

    for (int end = 0; end < 2; end++)
        general_cavity(k, ends[end], into[end], k->cavity[end]);
    /*
     * The message that goes to one end of the edge is computed from the product at the other end.
     */
    for (int end = 0; end < 2; end++) {
        if (mrf->weights)
            general_message_by_weight(k, edge, k->cavity[!end], states[end], k->sent);
        else
            general_message_by_table(k, edge, end == 1, k->cavity[!end], k->sent);
        change = fmax(change, general_replace_message(k, k->sent, states[end], into[end]));
        general_multiply_in(k, ends[end], into[end]);
    }
    return change;
}

static double general_step(void *kernel)
{
    struct general_kernel *k = kernel;
    double change = 0;

    general_begin_products(k);
    for (size_t e = 0; e < k->mrf->edge_count; e++)
        change = fmax(change, general_update_edge(k, e));
    general_end_products(k);
    return change;
}

static double general_flop(const void *kernel)
{
    const struct general_kernel *k = kernel;

    return k->flop_per_step;
}

/* ---- exchange and results ------------------------------------------------------------------- */

static size_t general_bytes(const void *kernel, size_t vertex)
{
    const struct general_kernel *k = kernel;

    return mrf_state_count(k->mrf, vertex) * sizeof(struct wide);
}

static void general_pack(const void *kernel, size_t vertex, void *into)
{
    const struct general_kernel *k = kernel;

    memcpy(into, k->now + k->mrf->places[vertex], general_bytes(k, vertex));
}

static void general_unpack(void *kernel, size_t vertex, const void *from)
{
    struct general_kernel *k = kernel;

    memcpy(k->now + k->mrf->places[vertex], from, general_bytes(k, vertex));
}

static double *general_message(void *kernel, size_t edge, int end, size_t *ret_length)
{
    struct general_kernel *k = kernel;
    const uint32_t *ends = k->mrf->ends + 2 * edge;

    *ret_length = mrf_state_count(k->mrf, ends[end]);
    return k->messages + k->places[edge] + (end ? mrf_state_count(k->mrf, ends[0]) : 0);
}

/* Scales values so that their sum is 1; if the sum is 0, makes all values equal. */
static void normalise_sum(double *values, size_t count)
{
    double sum = 0;

    for (size_t x = 0; x < count; x++)
        sum += values[x];
    for (size_t x = 0; x < count; x++)
        values[x] = sum > 0 ? values[x] / sum : 1 / (double)count;
}

static void general_belief(const void *kernel, size_t vertex, double *belief)
{
    const struct general_kernel *k = kernel;
    size_t states = mrf_state_count(k->mrf, vertex);

    wide_to_doubles(k->now + k->mrf->places[vertex], states, belief);
    normalise_sum(belief, states);
}

static void general_edge_belief(const void *kernel, size_t edge, double *belief)
{
    const struct general_kernel *k = kernel;
    const uint32_t *ends = k->mrf->ends + 2 * edge;
    size_t rows = mrf_state_count(k->mrf, ends[0]), columns = mrf_state_count(k->mrf, ends[1]);

    general_cavity(k, ends[0], k->messages + k->places[edge], k->cavity[0]);
    general_cavity(k, ends[1], k->messages + k->places[edge] + rows, k->cavity[1]);
    for (size_t x = 0; x < rows; x++)
        for (size_t y = 0; y < columns; y++)
            belief[x * columns + y] =
                k->cavity[0][x] * k->cavity[1][y] * hm__mrf_psi(k->mrf, edge, x, y);
    normalise_sum(belief, rows * columns);
}

const struct hm_kernel_ops hm__propagate_general = {
    .create = general_create,
    .destroy = general_destroy,
    .step = general_step,
    .collect = general_collect,
    .bytes = general_bytes,
    .pack = general_pack,
    .unpack = general_unpack,
    .message = general_message,
    .belief = general_belief,
    .edge_belief = general_edge_belief,
    .flop = general_flop,
};
