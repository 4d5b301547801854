/*
 * Implements belief propagation with two states; a message is one number, the ratio r = m(1)/m(0).
 *
 * With T_i = phi_i(1)/phi_i(0) prod_k r_ki, the product over all messages but one is T_i/r_ji, and
 * the update
 *     r_ij = (psi01 + psi11 T_i/r_ji)/(psi00 + psi10 T_i/r_ji) = N/D,
 *     N = psi01 r_ji + psi11 T_i,  D = psi00 r_ji + psi10 T_i
 * needs one division and no subtraction, so that each operation adds only a rounding error. For a
 * weight w (psi = w if the states are equal, 1 otherwise), N = r_ji + w T_i and D = w r_ji + T_i.
 * Max-product uses maxima instead of the sums. Damping applies to messages that are normalised to
 * sum 1. Expressed as a ratio, a message damped by d is
 *     ((1-d) N (1 + r) + d r (N + D))/((1-d) D (1 + r) + d (N + D)),
 * again without cancellation, and the change of a normalised message from r to r' is |r' - r|/((1 +
 * r)(1 + r')).
 *
 * One pass over the edges updates all messages and products in place: it reads and writes the two
 * messages of each edge in order, reads T of both ends and multiplies the new messages into the
 * next T. For each edge, the pass reads or writes 8 bytes of indices, 8 bytes of weight, 16 bytes
 * of old messages, 16 bytes of new messages, and 16 bytes for each end; the first end is already in
 * the cache, because edges are sorted by their first end. The two messages are one vector of two
 * doubles, which any 64-bit processor supports. Single precision was measured to be at most 1.2
 * times as fast on a grid and a graph of 1,000,000 edges and 200,000 vertices, since the time is
 * spent in the division, not in memory access. Single precision would not resolve changes below
 * 1e-7, and it has an eighth of the exponent range.
 *
 * Value ranges. The kernel is used if the ratios of the entries of every table are within
 * 2^-200..2^200; then every r, a mean of such ratios, is in that range, even when damped. A vertex
 * is called tame if the largest |log2| that its ratios can have add up to at most 490: its T, and
 * every partial product, is in 2^-490..2^490. For the other vertices (wild, of very high degree), T
 * is recomputed as a mantissa and an exponent, and clamped to 2^-500..2^500. Clamping changes no
 * message by more than a relative 2^-99, since T/r is then beyond 2^300, where the update has
 * converged to psi11/psi10 or psi01/psi00. N and D are in 2^-700..2^700, and their products with 1
 * + r < 2^201 do not overflow.
 */
#include <math.h>

#include "memory.h"
#include "propagate_kernel.h"

/* Two values of an edge: [0] belongs to the first end of the edge, and [1] to the second. */
typedef double pair __attribute__((vector_size(16)));
typedef long long mask __attribute__((vector_size(16)));

static const double RATIO_LOG2 = 200, TAME_LOG2 = 490, CUT = 0x1p500;

struct vertex {
    /*
     * Products T of a vertex (potential times messages) in this and in the next iteration; `now` in
     * struct binary_kernel is the index of the current product.
     */
    double product[2];
};

struct wild {
    uint32_t vertex;
    size_t from, to; /* Range of the elements of `slots` that belong to the vertex. */
};

struct binary_kernel {
    const struct hm_mrf *mrf; /* Part of the Markov random field that is on this rank; borrowed. */
    struct hm_propagate_settings settings;
    /*
     * For each edge, the ratios of the two messages: the message to the first end, and the message
     * to the second end.
     */
    pair *messages;
    /* Products T (potential times messages) of own vertices, followed by the products of ghosts. */
    struct vertex *vertices;
    double *unary; /* Ratio phi(1)/phi(0) of each own vertex. */
    /* If the field has tables: psi01, psi10 and psi11 divided by psi00, for each edge. */
    double *ratios;
    /*
     * Own vertices of very high degree (wild vertices), whose product T of potential and messages
     * might overflow or underflow.
     */
    struct wild *wilds;
    size_t wild_count;
    /*
     * Messages that each wild vertex receives, in the order of the edges; each is stored as 2 *
     * edge + end.
     */
    size_t *slots;
    int now; /* Index (0 or 1) of the current product in struct vertex. */
};

/* ---- bounds --------------------------------------------------------------------------------- */

/*
 * Returns the largest |log2| that the ratio of a message on this edge can have, in either
 * direction.
 */
static double binary_edge_bound(const struct hm_mrf *mrf, size_t edge)
{
    if (mrf->weights)
        return fabs(log2(mrf->weights[edge]));
    const double *t = mrf->tables + mrf->table_places[edge];
    return fmax(fmax(fabs(log2(t[1] / t[0])), fabs(log2(t[3] / t[2]))),
                fmax(fabs(log2(t[2] / t[0])), fabs(log2(t[3] / t[1]))));
}

static bool within_ratio_range(const double *values, size_t count)
{
    double low = INFINITY, high = 0;

    for (size_t i = 0; i < count; i++) {
        low = fmin(low, values[i]);
        high = fmax(high, values[i]);
    }
    return low > 0 && high * 0x1p-200 <= low;
}

bool hm__propagate_binary_fits(const struct hm_mrf *mrf)
{
    for (size_t v = 0; v < mrf->count + mrf->ghosts; v++)
        if (mrf->places[v + 1] - mrf->places[v] != 2)
            return false;
    for (size_t v = 0; v < mrf->count; v++)
        if (!within_ratio_range(mrf->unary + 2 * v, 2))
            return false;
    for (size_t e = 0; e < mrf->edge_count; e++)
        if (mrf->weights ? !(fabs(log2(mrf->weights[e])) <= RATIO_LOG2)
                         : !within_ratio_range(mrf->tables + mrf->table_places[e], 4))
            return false;
    return true;
}

/* ---- construction --------------------------------------------------------------------------- */

static void binary_destroy(void *kernel)
{
    struct binary_kernel *k = kernel;

    if (!k)
        return;
    hm__free(k->messages);
    hm__free(k->vertices);
    hm__free(k->unary);
    hm__free(k->ratios);
    hm__free(k->wilds);
    hm__free(k->slots);
    hm__free(k);
}

/*
 * Sets `wilds` and `slots` from the bounds and the degrees of the vertices. `next` must contain the
 * degrees, and is overwritten.
 */
static bool binary_list_wilds(struct binary_kernel *k, const double *bounds, size_t *next)
{
    const struct hm_mrf *mrf = k->mrf;
    size_t used = 0;

    for (size_t v = 0; v < mrf->count; v++)
        k->wild_count += bounds[v] > TAME_LOG2;
    k->wilds = hm__calloc(k->wild_count, sizeof(*k->wilds));
    if (!k->wilds)
        return false;
    k->wild_count = 0;
    for (size_t v = 0; v < mrf->count; v++) {
        if (bounds[v] <= TAME_LOG2)
            continue;
        k->wilds[k->wild_count++] = (struct wild){(uint32_t)v, used, used + next[v]};
        used += next[v];
        next[v] = used - next[v];
    }
    k->slots = hm__calloc(used, sizeof(*k->slots));
    if (!k->slots)
        return false;
    for (size_t i = 0; i < 2 * mrf->edge_count; i++) {
        uint32_t v = mrf->ends[i];
        if (v < mrf->count && bounds[v] > TAME_LOG2)
            k->slots[next[v]++] = i;
    }
    return true;
}

static bool binary_find_wilds(struct binary_kernel *k)
{
    const struct hm_mrf *mrf = k->mrf;
    double *bounds = hm__calloc(mrf->count, sizeof(*bounds));
    size_t *degrees = hm__calloc(mrf->count, sizeof(*degrees));
    bool done = bounds && degrees;

    for (size_t v = 0; done && v < mrf->count; v++)
        bounds[v] = fabs(log2(k->unary[v]));
    for (size_t e = 0; done && e < mrf->edge_count; e++)
        for (int end = 0; end < 2; end++) {
            uint32_t v = mrf->ends[2 * e + (size_t)end];
            if (v < mrf->count) {
                bounds[v] += binary_edge_bound(mrf, e);
                degrees[v]++;
            }
        }
    done = done && binary_list_wilds(k, bounds, degrees);
    hm__free(bounds);
    hm__free(degrees);
    return done;
}

static bool binary_copy_tables(struct binary_kernel *k)
{
    if (k->mrf->weights)
        return true;
    k->ratios = hm__calloc(k->mrf->edge_count, 3 * sizeof(*k->ratios));
    for (size_t e = 0; k->ratios && e < k->mrf->edge_count; e++) {
        const double *table = k->mrf->tables + k->mrf->table_places[e];
        for (size_t i = 0; i < 3; i++)
            k->ratios[3 * e + i] = table[i + 1] / table[0];
    }
    return k->ratios != NULL;
}

static void *binary_create(const struct hm_mrf *mrf, const struct hm_propagate_settings *settings)
{
    struct binary_kernel *k = hm__calloc(1, sizeof(*k));

    if (!k)
        return NULL;
    k->mrf = mrf;
    k->settings = *settings;
    k->messages = hm__calloc(mrf->edge_count, sizeof(*k->messages));
    k->vertices = hm__calloc(mrf->count + mrf->ghosts, sizeof(*k->vertices));
    k->unary = hm__calloc(mrf->count, sizeof(*k->unary));
    if (!k->messages || !k->vertices || !k->unary || !binary_copy_tables(k))
        goto fail;
    for (size_t e = 0; e < mrf->edge_count; e++)
        k->messages[e] = (pair){1, 1};
    for (size_t v = 0; v < mrf->count; v++)
        k->unary[v] = mrf->unary[2 * v + 1] / mrf->unary[2 * v];
    if (!binary_find_wilds(k))
        goto fail;
    return k;
fail:
    binary_destroy(k);
    return NULL;
}

/* ---- products ------------------------------------------------------------------------------- */

static double binary_ratio(const struct binary_kernel *k, size_t slot)
{
    return k->messages[slot / 2][slot % 2];
}

/*
 * Returns the product T (potential times messages) of a wild vertex, that is, a vertex of very high
 * degree. It is computed with a mantissa in [0.5, 1) and a separate exponent, and clamped at the
 * end.
 */
static double binary_wild_product(const struct binary_kernel *k, const struct wild *wild)
{
    int exponent;
    long long sum;
    double mantissa = frexp(k->unary[wild->vertex], &exponent);

    sum = exponent;
    for (size_t i = wild->from; i < wild->to; i++) {
        mantissa = frexp(mantissa * binary_ratio(k, k->slots[i]), &exponent);
        sum += exponent;
    }
    if (sum > 500)
        return CUT;
    return sum < -499 ? 1 / CUT : ldexp(mantissa, (int)sum);
}

static void binary_begin_products(struct binary_kernel *k)
{
    const struct hm_mrf *mrf = k->mrf;

    for (size_t v = 0; v < mrf->count; v++)
        k->vertices[v].product[!k->now] = k->unary[v];
    for (size_t v = mrf->count; v < mrf->count + mrf->ghosts; v++)
        /* The product of a ghost is sent by the rank that owns the vertex. */
        k->vertices[v].product[!k->now] = 1;
}

static void binary_end_products(struct binary_kernel *k)
{
    for (size_t i = 0; i < k->wild_count; i++)
        k->vertices[k->wilds[i].vertex].product[!k->now] = binary_wild_product(k, &k->wilds[i]);
    k->now = !k->now;
}

static void binary_collect(void *kernel)
{
    struct binary_kernel *k = kernel;

    binary_begin_products(k);
    for (size_t e = 0; e < k->mrf->edge_count; e++)
        for (int end = 0; end < 2; end++)
            k->vertices[k->mrf->ends[2 * e + (size_t)end]].product[!k->now] *= k->messages[e][end];
    binary_end_products(k);
}

/* ---- one iteration -------------------------------------------------------------------------- */

#define INLINE static inline __attribute__((always_inline))

INLINE pair pair_max(pair x, pair y)
{
    mask first = x > y;
    return (pair)(((mask)x & first) | ((mask)y & ~first));
}

INLINE pair pair_combine(pair x, pair y, bool max_product)
{
    return max_product ? pair_max(x, y) : x + y;
}

INLINE pair pair_swap(pair x)
{
    return (pair){x[1], x[0]};
}

INLINE pair pair_abs(pair x)
{
    const long long bits = 0x7fffffffffffffff;
    return (pair)((mask)x & (mask){bits, bits});
}

/*
 * The largest change of a message so far; the division is performed only if the change may be a new
 * maximum.
 */
struct change {
    double most;
    /*
     * A change that is not above this bound cannot be a new maximum, so it is not computed exactly.
     * The bound is slightly below `most`, so that the result does not depend on the order of the
     * edges.
     */
    double bar;
};

INLINE void change_update(struct change *change, pair old, pair new)
{
    pair difference = pair_abs(new - old), scale = (1 + new) * (1 + old);
    mask above = difference > change->bar * scale;

    if (__builtin_expect((above[0] | above[1]) != 0, 0)) {
        pair quotient = difference / scale;
        double most = quotient[0] > quotient[1] ? quotient[0] : quotient[1];
        change->most = most > change->most ? most : change->most;
        change->bar = change->most * (1 - 0x1p-50);
    }
}

/*
 * Updates both messages of an edge as a vector of two elements: element 0 is the message from the
 * first end to the second, and element 1 is the message in the other direction.
 */
INLINE void binary_update_pair(const struct binary_kernel *k, size_t e, pair r, pair t, bool tables,
                               bool max, pair *n, pair *d)
{
    if (tables) {
        double p01 = k->ratios[3 * e], p10 = k->ratios[3 * e + 1], p11 = k->ratios[3 * e + 2];
        *n = pair_combine((pair){p01, p10} * r, p11 * t, max);
        *d = pair_combine(r, (pair){p10, p01} * t, max);
    } else {
        double w = k->mrf->weights[e];
        *n = pair_combine(r, w * t, max);
        *d = pair_combine(w * r, t, max);
    }
}

INLINE double binary_pass(struct binary_kernel *k, bool tables, bool max, bool damped)
{
    const uint32_t *ends = k->mrf->ends;
    const double old_part = k->settings.damping, new_part = 1 - old_part;
    const size_t count = k->mrf->edge_count;
    const int now = k->now, next = !now;
    struct vertex *vertices = k->vertices;
    pair *messages = k->messages;
    struct change change = {0, 0};

    for (size_t e = 0; e < count; e++) {
        struct vertex *a = &vertices[ends[2 * e]], *b = &vertices[ends[2 * e + 1]];
        __builtin_prefetch(&vertices[ends[2 * (e + HM_MRF_AHEAD) + 1]], 1);
        pair t = {a->product[now], b->product[now]}, old = messages[e], n, d, new;
        binary_update_pair(k, e, old, t, tables, max, &n, &d);
        if (damped) {
            pair grown = new_part * (1 + old);
            n = pair_swap(n), d = pair_swap(d);
            pair kept = old_part * (n + d);
            new = (n * grown + old * kept) / (d * grown + kept);
        } else {
            new = pair_swap(n / d);
        }
        change_update(&change, old, new);
        messages[e] = new;
        a->product[next] *= new[0];
        b->product[next] *= new[1];
    }
    return change.most;
}

static double binary_step(void *kernel)
{
    struct binary_kernel *k = kernel;
    bool max = k->settings.max_product, damped = k->settings.damping > 0;
    double change;

    binary_begin_products(k);
    if (k->mrf->weights)
        change =
            max ? damped ? binary_pass(k, false, true, true) : binary_pass(k, false, true, false)
            : damped ? binary_pass(k, false, false, true)
                     : binary_pass(k, false, false, false);
    else
        change = max ? damped ? binary_pass(k, true, true, true) : binary_pass(k, true, true, false)
                 : damped ? binary_pass(k, true, false, true)
                          : binary_pass(k, true, false, false);
    binary_end_products(k);
    return change;
}

static double binary_flop(const void *kernel)
{
    const struct binary_kernel *k = kernel;
    double message = 11 + (k->mrf->weights ? 0 : 2) + (k->settings.damping > 0 ? 9 : 0);

    return 2 * message * (double)k->mrf->edge_count;
}

/* ---- exchange and results ------------------------------------------------------------------- */

static size_t binary_bytes(const void *kernel, size_t vertex)
{
    (void)kernel;
    (void)vertex;
    return sizeof(double);
}

static void binary_pack(const void *kernel, size_t vertex, void *into)
{
    const struct binary_kernel *k = kernel;

    *(double *)into = k->vertices[vertex].product[k->now];
}

static void binary_unpack(void *kernel, size_t vertex, const void *from)
{
    struct binary_kernel *k = kernel;

    k->vertices[vertex].product[k->now] = *(const double *)from;
}

static double *binary_message(void *kernel, size_t edge, int end, size_t *ret_length)
{
    struct binary_kernel *k = kernel;

    *ret_length = 1;
    return (double *)&k->messages[edge] + end;
}

static void ratio_to_belief(double ratio, double *share)
{
    share[0] = 1 / (1 + ratio);
    share[1] = ratio / (1 + ratio);
}

static void binary_belief(const void *kernel, size_t vertex, double *belief)
{
    const struct binary_kernel *k = kernel;

    ratio_to_belief(k->vertices[vertex].product[k->now], belief);
}

/*
 * Computes the belief of an edge: psi times the products at both ends, each without the message
 * that came over this edge.
 */
static void binary_edge_belief(const void *kernel, size_t edge, double *belief)
{
    const struct binary_kernel *k = kernel;
    const uint32_t *ends = k->mrf->ends + 2 * edge;
    double a[2], b[2], sum = 0;

    ratio_to_belief(k->vertices[ends[0]].product[k->now] / k->messages[edge][0], a);
    ratio_to_belief(k->vertices[ends[1]].product[k->now] / k->messages[edge][1], b);
    for (size_t i = 0; i < 4; i++) {
        belief[i] = a[i / 2] * b[i % 2] * hm__mrf_psi(k->mrf, edge, i / 2, i % 2);
        sum += belief[i];
    }
    for (size_t i = 0; i < 4; i++)
        belief[i] /= sum;
}

const struct hm_kernel_ops hm__propagate_binary = {
    .create = binary_create,
    .destroy = binary_destroy,
    .step = binary_step,
    .collect = binary_collect,
    .bytes = binary_bytes,
    .pack = binary_pack,
    .unpack = binary_unpack,
    .message = binary_message,
    .belief = binary_belief,
    .edge_belief = binary_edge_belief,
    .flop = binary_flop,
};
