/*
 * Belief propagation with two states, one number a message: the ratio r = m(1)/m(0).
 *
 * With T_i = phi_i(1)/phi_i(0) prod_k r_ki, the product over all others is T_i/r_ji, and the rule
 *     r_ij = (psi01 + psi11 T_i/r_ji)/(psi00 + psi10 T_i/r_ji) = N/D,
 *     N = psi01 r_ji + psi11 T_i,  D = psi00 r_ji + psi10 T_i
 * needs one division and no subtraction: every step loses no more than a rounding. For a weight w
 * (psi = w if equal, else 1) N = r_ji + w T_i and D = w r_ji + T_i. Max-product has max in place of
 * the sums. Damping is of m scaled to sum 1, which as a ratio is, without cancelling either,
 *     ((1-d) N (1 + r) + d r (N + D))/((1-d) D (1 + r) + d (N + D)),
 * and the change of such a message from r to r' is |r' - r|/((1 + r)(1 + r')).
 *
 * One pass over the edges does it all, in place: it reads and writes the pair of messages of an
 * edge in order, reads T of both ends and multiplies the new messages into the next T. An edge
 * touches 8 bytes of ends, 8 of weight, 16 + 16 of messages, and 16 of each end, of which the first
 * is in cache since edges are sorted by it. The pair is one vector of two doubles, which any 64-bit
 * processor has. Single precision throughout was measured to be at most 1.2 times as fast on a grid
 * and a graph of 1,000,000 edges and 200,000 vertices: the division takes the time, not the memory.
 * It would not let changes fall below 1e-7 and has an eighth of the range.
 *
 * Range. The kernel is used if all entries of every table are within 2^-200..2^200 of each other;
 * then every r, being a mean of ratios of them, is in that range, and stays there when damped. A
 * vertex is tame if the largest |log2| that its ratios can have add up to at most 490: its T is in
 * 2^-490..2^490, and so is every partial product. T of other vertices (stars) is multiplied again
 * as a mantissa and an exponent, and cut off at 2^-500 and 2^500. That changes no message by more
 * than a relative 2^-99: T/r is then beyond 2^300, where the rule has come to psi11/psi10 or
 * psi01/psi00. N and D are in 2^-700..2^700, times 1 + r < 2^201 no overflow.
 */
#include <math.h>

#include "memory.h"
#include "propagate_kernel.h"

/* [0] is of the first end of an edge, [1] of the second. */
typedef double pair __attribute__((vector_size(16)));
typedef long long mask __attribute__((vector_size(16)));

static const double RATIO_LOG2 = 200, TAME_LOG2 = 490, CUT = 0x1p500;

struct vertex {
    double product[2]; /* T now and next, in turn */
};

struct wild {
    uint32_t vertex;
    size_t from, to; /* its places in slots */
};

struct binary {
    const struct hm_mrf *mrf; /* borrowed */
    struct hm_propagate_settings settings;
    pair *messages;          /* ratios, into the first end and into the second */
    struct vertex *vertices; /* own and ghosts */
    double *unary;           /* phi(1)/phi(0) of own vertices */
    double *ratios;          /* with tables: psi01, psi10, psi11 over psi00, of each edge */
    struct wild *wilds;      /* own vertices that are not tame */
    size_t wild_count;
    size_t *slots; /* of the wild: 2 * edge + end, in the order of edges */
    int now;       /* which product is now's */
};

/* ---- bounds -----------------------------------------------------------------------------------
 */

/* The largest |log2| of a message of an edge, in either direction. */
static double edge_bound(const struct hm_mrf *mrf, size_t edge)
{
    if (mrf->weights)
        return fabs(log2(mrf->weights[edge]));
    const double *t = mrf->tables + mrf->table_places[edge];
    return fmax(fmax(fabs(log2(t[1] / t[0])), fabs(log2(t[3] / t[2]))),
                fmax(fabs(log2(t[2] / t[0])), fabs(log2(t[3] / t[1]))));
}

static bool near_each_other(const double *values, size_t count)
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
        if (!near_each_other(mrf->unary + 2 * v, 2))
            return false;
    for (size_t e = 0; e < mrf->edge_count; e++)
        if (mrf->weights ? !(fabs(log2(mrf->weights[e])) <= RATIO_LOG2)
                         : !near_each_other(mrf->tables + mrf->table_places[e], 4))
            return false;
    return true;
}

/* ---- making -----------------------------------------------------------------------------------
 */

static void destroy(void *kernel)
{
    struct binary *k = kernel;

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

/* Fill wilds and slots from bounds and degrees; `bounds` then holds where the next slot goes. */
static bool list_wilds(struct binary *k, const double *bounds, size_t *next)
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

static bool find_wilds(struct binary *k)
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
                bounds[v] += edge_bound(mrf, e);
                degrees[v]++;
            }
        }
    done = done && list_wilds(k, bounds, degrees);
    hm__free(bounds);
    hm__free(degrees);
    return done;
}

static bool take_tables(struct binary *k)
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

static void *create(const struct hm_mrf *mrf, const struct hm_propagate_settings *settings)
{
    struct binary *k = hm__calloc(1, sizeof(*k));

    if (!k)
        return NULL;
    k->mrf = mrf;
    k->settings = *settings;
    k->messages = hm__calloc(mrf->edge_count, sizeof(*k->messages));
    k->vertices = hm__calloc(mrf->count + mrf->ghosts, sizeof(*k->vertices));
    k->unary = hm__calloc(mrf->count, sizeof(*k->unary));
    if (!k->messages || !k->vertices || !k->unary || !take_tables(k))
        goto fail;
    for (size_t e = 0; e < mrf->edge_count; e++)
        k->messages[e] = (pair){1, 1};
    for (size_t v = 0; v < mrf->count; v++)
        k->unary[v] = mrf->unary[2 * v + 1] / mrf->unary[2 * v];
    if (!find_wilds(k))
        goto fail;
    return k;
fail:
    destroy(k);
    return NULL;
}

/* ---- products ---------------------------------------------------------------------------------
 */

static double ratio_at(const struct binary *k, size_t slot)
{
    return k->messages[slot / 2][slot % 2];
}

/* T of a vertex that is not tame: mantissa in [0.5, 1), exponent apart, cut off at the end. */
static double product_of(const struct binary *k, const struct wild *wild)
{
    int exponent;
    long long sum;
    double mantissa = frexp(k->unary[wild->vertex], &exponent);

    sum = exponent;
    for (size_t i = wild->from; i < wild->to; i++) {
        mantissa = frexp(mantissa * ratio_at(k, k->slots[i]), &exponent);
        sum += exponent;
    }
    if (sum > 500)
        return CUT;
    return sum < -499 ? 1 / CUT : ldexp(mantissa, (int)sum);
}

static void begin_products(struct binary *k)
{
    const struct hm_mrf *mrf = k->mrf;

    for (size_t v = 0; v < mrf->count; v++)
        k->vertices[v].product[!k->now] = k->unary[v];
    for (size_t v = mrf->count; v < mrf->count + mrf->ghosts; v++)
        k->vertices[v].product[!k->now] = 1; /* its owner will tell */
}

static void end_products(struct binary *k)
{
    for (size_t i = 0; i < k->wild_count; i++)
        k->vertices[k->wilds[i].vertex].product[!k->now] = product_of(k, &k->wilds[i]);
    k->now = !k->now;
}

static void collect(void *kernel)
{
    struct binary *k = kernel;

    begin_products(k);
    for (size_t e = 0; e < k->mrf->edge_count; e++)
        for (int end = 0; end < 2; end++)
            k->vertices[k->mrf->ends[2 * e + (size_t)end]].product[!k->now] *= k->messages[e][end];
    end_products(k);
}

/* ---- a step -----------------------------------------------------------------------------------
 */

#define INLINE static inline __attribute__((always_inline))

INLINE pair larger(pair x, pair y)
{
    mask first = x > y;
    return (pair)(((mask)x & first) | ((mask)y & ~first));
}

INLINE pair join(pair x, pair y, bool max_product)
{
    return max_product ? larger(x, y) : x + y;
}

INLINE pair swap(pair x)
{
    return (pair){x[1], x[0]};
}

INLINE pair size_of(pair x)
{
    const long long bits = 0x7fffffffffffffff;
    return (pair)((mask)x & (mask){bits, bits});
}

/* The largest change so far, found with a division only where it may grow. */
struct change {
    double most;
    double bar; /* just below most, so that the largest quotient is found whatever the order */
};

INLINE void watch(struct change *change, pair old, pair new)
{
    pair difference = size_of(new - old), scale = (1 + new) * (1 + old);
    mask above = difference > change->bar * scale;

    if (__builtin_expect((above[0] | above[1]) != 0, 0)) {
        pair quotient = difference / scale;
        double most = quotient[0] > quotient[1] ? quotient[0] : quotient[1];
        change->most = most > change->most ? most : change->most;
        change->bar = change->most * (1 - 0x1p-50);
    }
}

/* What both ends send: lane 0 from the first end to the second, lane 1 back. */
INLINE void apply_rule(const struct binary *k, size_t e, pair r, pair t, bool tables, bool max,
                       pair *n, pair *d)
{
    if (tables) {
        double p01 = k->ratios[3 * e], p10 = k->ratios[3 * e + 1], p11 = k->ratios[3 * e + 2];
        *n = join((pair){p01, p10} * r, p11 * t, max);
        *d = join(r, (pair){p10, p01} * t, max);
    } else {
        double w = k->mrf->weights[e];
        *n = join(r, w * t, max);
        *d = join(w * r, t, max);
    }
}

INLINE double pass(struct binary *k, bool tables, bool max, bool damped)
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
        apply_rule(k, e, old, t, tables, max, &n, &d);
        if (damped) {
            pair grown = new_part * (1 + old);
            n = swap(n), d = swap(d);
            pair kept = old_part * (n + d);
            new = (n * grown + old * kept) / (d * grown + kept);
        } else {
            new = swap(n / d);
        }
        watch(&change, old, new);
        messages[e] = new;
        a->product[next] *= new[0];
        b->product[next] *= new[1];
    }
    return change.most;
}

static double step(void *kernel)
{
    struct binary *k = kernel;
    bool max = k->settings.max_product, damped = k->settings.damping > 0;
    double change;

    begin_products(k);
    if (k->mrf->weights)
        change = max      ? damped ? pass(k, false, true, true) : pass(k, false, true, false)
                      : damped ? pass(k, false, false, true)
                          : pass(k, false, false, false);
    else
        change = max      ? damped ? pass(k, true, true, true) : pass(k, true, true, false)
                      : damped ? pass(k, true, false, true)
                          : pass(k, true, false, false);
    end_products(k);
    return change;
}

static double flop(const void *kernel)
{
    const struct binary *k = kernel;
    double message = 11 + (k->mrf->weights ? 0 : 2) + (k->settings.damping > 0 ? 9 : 0);

    return 2 * message * (double)k->mrf->edge_count;
}

/* ---- talking and results ----------------------------------------------------------------------
 */

static size_t bytes(const void *kernel, size_t vertex)
{
    (void)kernel;
    (void)vertex;
    return sizeof(double);
}

static void pack(const void *kernel, size_t vertex, void *into)
{
    const struct binary *k = kernel;

    *(double *)into = k->vertices[vertex].product[k->now];
}

static void unpack(void *kernel, size_t vertex, const void *from)
{
    struct binary *k = kernel;

    k->vertices[vertex].product[k->now] = *(const double *)from;
}

static double *message(void *kernel, size_t edge, int end, size_t *ret_length)
{
    struct binary *k = kernel;

    *ret_length = 1;
    return (double *)&k->messages[edge] + end;
}

static void shares(double ratio, double *share)
{
    share[0] = 1 / (1 + ratio);
    share[1] = ratio / (1 + ratio);
}

static void belief(const void *kernel, size_t vertex, double *belief)
{
    const struct binary *k = kernel;

    shares(k->vertices[vertex].product[k->now], belief);
}

/* psi times the products of both ends without each other's message. */
static void edge_belief(const void *kernel, size_t edge, double *belief)
{
    const struct binary *k = kernel;
    const uint32_t *ends = k->mrf->ends + 2 * edge;
    double a[2], b[2], sum = 0;

    shares(k->vertices[ends[0]].product[k->now] / k->messages[edge][0], a);
    shares(k->vertices[ends[1]].product[k->now] / k->messages[edge][1], b);
    for (size_t i = 0; i < 4; i++) {
        belief[i] = a[i / 2] * b[i % 2] * hm__mrf_psi(k->mrf, edge, i / 2, i % 2);
        sum += belief[i];
    }
    for (size_t i = 0; i < 4; i++)
        belief[i] /= sum;
}

const struct hm_kernel_ops hm__propagate_binary = {
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
