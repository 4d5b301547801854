/*
 * Belief propagation with any number of states, and potentials that may be zero.
 *
 * A message is its entries, scaled to sum 1. T_i(x) = phi_i(x) prod_k m_ki(x) is kept for each
 * state as a mantissa, an exponent, and how many factors were zero, so that a vertex of any degree
 * neither overflows nor underflows and one factor, zero or not, can be taken out again:
 *     c_ij(x) = T_i(x)/m_ji(x), or 0 if a zero is left;  m_ij(y) ~ sum_x c_ij(x) psi_ij(x, y).
 * c is scaled so that its largest entry is 1. Entries of c or m that are not zero but below 2^-700
 * become 2^-700, so that only a potential of zero makes a zero (or a product of a potential and an
 * entry that is below the smallest double).
 *
 * With weights (psi = w if x = y, else 1) a message costs 4 S instead of 2 S^2: what is beside the
 * diagonal is a sum from the front and one from the back, without subtracting.
 */
#include <math.h>
#include <string.h>

#include "memory.h"
#include "propagate_kernel.h"

static const double LEAST = 0x1p-700, UNIT = 0x1p256;

/* mantissa * 2^(256 exponent), mantissa in (2^-256, 1], unless zeros > 0: then 0. */
struct wide {
    double mantissa;
    int32_t exponent;
    int32_t zeros;
};

struct general {
    const struct hm_mrf *mrf; /* borrowed */
    struct hm_propagate_settings settings;
    size_t *places;       /* edge_count + 1: messages of an edge, into its first end, then second */
    double *messages;     /* each sums to 1 */
    struct wide *now;     /* T of own vertices and ghosts, at mrf->places */
    struct wide *next;    /* likewise */
    double *cavity[2];    /* c of both ends of an edge; as long as a vertex may have states */
    double *sent;         /* a message, likewise */
    struct wide *rest;    /* T of a vertex without one message, likewise */
    double flop_per_step; /* see propagate.h */
};

static size_t states_of(const struct hm_mrf *mrf, size_t vertex)
{
    return mrf->places[vertex + 1] - mrf->places[vertex];
}

/* ---- making -----------------------------------------------------------------------------------
 */

static void destroy(void *kernel)
{
    struct general *k = kernel;

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

static void begin_messages(struct general *k)
{
    const struct hm_mrf *mrf = k->mrf;

    for (size_t e = 0; e < mrf->edge_count; e++) {
        double *m = k->messages + k->places[e];
        for (int end = 0; end < 2; end++) {
            size_t states = states_of(mrf, mrf->ends[2 * e + (size_t)end]);
            for (size_t x = 0; x < states; x++)
                *m++ = 1 / (double)states;
        }
    }
}

/* Room for messages and the arithmetic of a step. */
static void measure(struct general *k)
{
    const struct hm_mrf *mrf = k->mrf;

    for (size_t e = 0; e < mrf->edge_count; e++) {
        size_t a = states_of(mrf, mrf->ends[2 * e]), b = states_of(mrf, mrf->ends[2 * e + 1]);
        k->places[e + 1] = k->places[e] + a + b;
        k->flop_per_step += mrf->weights ? 8 * (double)a : 4 * (double)a * (double)b;
        k->flop_per_step += 8 * (double)(a + b);
    }
}

static void *create(const struct hm_mrf *mrf, const struct hm_propagate_settings *settings)
{
    struct general *k = hm__calloc(1, sizeof(*k));
    size_t most = 1, locals = mrf->count + mrf->ghosts;

    if (!k)
        return NULL;
    k->mrf = mrf;
    k->settings = *settings;
    for (size_t v = 0; v < locals; v++)
        most = states_of(mrf, v) > most ? states_of(mrf, v) : most;
    k->places = hm__calloc(mrf->edge_count + 1, sizeof(*k->places));
    k->now = hm__calloc(mrf->places[locals], sizeof(*k->now));
    k->next = hm__calloc(mrf->places[locals], sizeof(*k->next));
    k->cavity[0] = hm__calloc(most, sizeof(double));
    k->cavity[1] = hm__calloc(most, sizeof(double));
    k->sent = hm__calloc(most, sizeof(double));
    k->rest = hm__calloc(most, sizeof(*k->rest));
    if (!k->places || !k->now || !k->next || !k->cavity[0] || !k->cavity[1] || !k->sent || !k->rest)
        goto fail;
    measure(k);
    k->messages = hm__calloc(k->places[mrf->edge_count], sizeof(*k->messages));
    if (!k->messages)
        goto fail;
    begin_messages(k);
    return k;
fail:
    destroy(k);
    return NULL;
}

/* ---- products ---------------------------------------------------------------------------------
 */

/* Times a number of at most 1. */
static inline void times(struct wide *w, double value)
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

/* Over a number of at most 1 that it was multiplied with. */
static inline struct wide without(struct wide w, double value)
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

/* Values scaled so that the largest is 1; all 0 if all are. */
static void scale(const struct wide *wides, size_t count, double *values)
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
            values[x] /= UNIT; /* four are more than enough */
        most = values[x] > most ? values[x] : most;
    }
    for (size_t x = 0; x < count; x++)
        if (wides[x].zeros == 0) {
            values[x] /= most;
            values[x] = values[x] < LEAST ? LEAST : values[x];
        }
}

static void begin_products(struct general *k)
{
    const struct hm_mrf *mrf = k->mrf;

    for (size_t i = 0; i < mrf->places[mrf->count + mrf->ghosts]; i++) {
        k->next[i] = (struct wide){1, 0, 0};
        if (i < mrf->places[mrf->count])
            times(&k->next[i], mrf->unary[i]);
    }
}

static void end_products(struct general *k)
{
    struct wide *made = k->next;

    k->next = k->now;
    k->now = made;
}

static void multiply_in(struct general *k, size_t vertex, const double *message)
{
    struct wide *product = k->next + k->mrf->places[vertex];
    size_t states = states_of(k->mrf, vertex);

    for (size_t x = 0; x < states; x++)
        times(&product[x], message[x]);
}

static void collect(void *kernel)
{
    struct general *k = kernel;
    const struct hm_mrf *mrf = k->mrf;

    begin_products(k);
    for (size_t e = 0; e < mrf->edge_count; e++) {
        const uint32_t *ends = mrf->ends + 2 * e;
        const double *into_first = k->messages + k->places[e];
        multiply_in(k, ends[0], into_first);
        multiply_in(k, ends[1], into_first + states_of(mrf, ends[0]));
    }
    end_products(k);
}

/* ---- a step -----------------------------------------------------------------------------------
 */

/* c: the product of a vertex without the message it got over one edge. */
static void take_out(const struct general *k, size_t vertex, const double *message, double *cavity)
{
    const struct wide *product = k->now + k->mrf->places[vertex];
    size_t states = states_of(k->mrf, vertex);

    for (size_t x = 0; x < states; x++)
        k->rest[x] = without(product[x], message[x]);
    scale(k->rest, states, cavity);
}

static inline double join(const struct general *k, double x, double y)
{
    if (k->settings.max_product)
        return x > y ? x : y;
    return x + y;
}

/* All but one, from the front and from the back, and that one times the weight. */
static void send_by_weight(const struct general *k, size_t edge, const double *cavity,
                           size_t states, double *sent)
{
    double sum = 0;

    for (size_t y = 0; y < states; y++) {
        sent[y] = sum;
        sum = join(k, sum, cavity[y]);
    }
    sum = 0;
    for (size_t y = states; y-- > 0;) {
        sent[y] = join(k, join(k, sent[y], sum), k->mrf->weights[edge] * cavity[y]);
        sum = join(k, sum, cavity[y]);
    }
}

static void send_by_table(const struct general *k, size_t edge, bool forward, const double *cavity,
                          double *sent)
{
    const struct hm_mrf *mrf = k->mrf;
    const double *psi = mrf->tables + mrf->table_places[edge];
    size_t rows = states_of(mrf, mrf->ends[2 * edge]);
    size_t columns = states_of(mrf, mrf->ends[2 * edge + 1]);

    for (size_t y = 0; y < (forward ? columns : rows); y++)
        sent[y] = 0;
    for (size_t x = 0; x < rows; x++)
        for (size_t y = 0; y < columns; y++) {
            double *into = forward ? &sent[y] : &sent[x];
            *into = join(k, *into, cavity[forward ? x : y] * psi[x * columns + y]);
        }
}

/* Scale what was sent, damp it, and put it in place of the message; returns the change. */
static double replace(const struct general *k, const double *sent, size_t states, double *message)
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

static double update_edge(struct general *k, size_t edge)
{
    const struct hm_mrf *mrf = k->mrf;
    const uint32_t *ends = mrf->ends + 2 * edge;
    size_t states[2] = {states_of(mrf, ends[0]), states_of(mrf, ends[1])};
    double *into[2] = {k->messages + k->places[edge], k->messages + k->places[edge] + states[0]};
    double change = 0;

    for (int end = 0; end < 2; end++)
        take_out(k, ends[end], into[end], k->cavity[end]);
    for (int end = 0; end < 2; end++) { /* the message into `end` comes from the other */
        if (mrf->weights)
            send_by_weight(k, edge, k->cavity[!end], states[end], k->sent);
        else
            send_by_table(k, edge, end == 1, k->cavity[!end], k->sent);
        change = fmax(change, replace(k, k->sent, states[end], into[end]));
        multiply_in(k, ends[end], into[end]);
    }
    return change;
}

static double step(void *kernel)
{
    struct general *k = kernel;
    double change = 0;

    begin_products(k);
    for (size_t e = 0; e < k->mrf->edge_count; e++)
        change = fmax(change, update_edge(k, e));
    end_products(k);
    return change;
}

static double flop(const void *kernel)
{
    const struct general *k = kernel;

    return k->flop_per_step;
}

/* ---- talking and results ----------------------------------------------------------------------
 */

static size_t bytes(const void *kernel, size_t vertex)
{
    const struct general *k = kernel;

    return states_of(k->mrf, vertex) * sizeof(struct wide);
}

static void pack(const void *kernel, size_t vertex, void *into)
{
    const struct general *k = kernel;

    memcpy(into, k->now + k->mrf->places[vertex], bytes(k, vertex));
}

static void unpack(void *kernel, size_t vertex, const void *from)
{
    struct general *k = kernel;

    memcpy(k->now + k->mrf->places[vertex], from, bytes(k, vertex));
}

static double *message(void *kernel, size_t edge, int end, size_t *ret_length)
{
    struct general *k = kernel;
    const uint32_t *ends = k->mrf->ends + 2 * edge;

    *ret_length = states_of(k->mrf, ends[end]);
    return k->messages + k->places[edge] + (end ? states_of(k->mrf, ends[0]) : 0);
}

/* To sum 1; uniform if nothing is there. */
static void share_out(double *values, size_t count)
{
    double sum = 0;

    for (size_t x = 0; x < count; x++)
        sum += values[x];
    for (size_t x = 0; x < count; x++)
        values[x] = sum > 0 ? values[x] / sum : 1 / (double)count;
}

static void belief(const void *kernel, size_t vertex, double *belief)
{
    const struct general *k = kernel;
    size_t states = states_of(k->mrf, vertex);

    scale(k->now + k->mrf->places[vertex], states, belief);
    share_out(belief, states);
}

static void edge_belief(const void *kernel, size_t edge, double *belief)
{
    const struct general *k = kernel;
    const uint32_t *ends = k->mrf->ends + 2 * edge;
    size_t rows = states_of(k->mrf, ends[0]), columns = states_of(k->mrf, ends[1]);

    take_out(k, ends[0], k->messages + k->places[edge], k->cavity[0]);
    take_out(k, ends[1], k->messages + k->places[edge] + rows, k->cavity[1]);
    for (size_t x = 0; x < rows; x++)
        for (size_t y = 0; y < columns; y++)
            belief[x * columns + y] =
                k->cavity[0][x] * k->cavity[1][y] * hm__mrf_psi(k->mrf, edge, x, y);
    share_out(belief, rows * columns);
}

const struct hm_kernel_ops hm__propagate_general = {
    .create = create,
    .destroy = destroy,
    .step = step,
    .collect = collect,
    .bytes = bytes,
    .pack = pack,
    .unpack = unpack,
    .message = message,
    .belief = belief,
    .edge_belief = edge_belief,
    .flop = flop,
};
