/*
 * Times of operations on the cores of a CPU.
 *
 * A product of matrices takes its arithmetic at a share of the peak of the threads in use, or the
 * time to move its operands, whichever is longer. Small dimensions lower the share, and a product
 * with few blocks of 64 x 64 results occupies few threads. Bytes that fit in the cache move at the
 * rate of the cache; the others at the rate of the memory, of which one thread reaches only a part.
 *
 * Belief propagation reads and writes both messages of an edge and reads its two ends and its
 * weight, in order. The product of the first end stays in the cache because edges are sorted by it;
 * that of the second end is a random access, which moves a cache line in both directions unless the
 * products of all vertices fit in the cache.
 *
 * Limits: all cores are equal, hyperthreads add nothing, and memory of several sockets is one
 * memory. Sources: docs/accuracy.md.
 */
#include "cpu.h"

#include <math.h>

#include "device.h"

static const double BLOCK = 64;            /* Rows and columns of the results of one thread. */
static const double CACHE_OF_CORE = 2e6;   /* Bytes of cache for each core, if not given. */
static const double CACHE_LINE = 64;       /* Bytes. */
static const double STATE_OPERATIONS = 90; /* For a state of an edge; own belief propagation. */
static const double ENDS_BYTES = 8 + 8;    /* Both ends of an edge, and its weight. */

#define HM_CPU_CONSTANT_VALUE(name, value, low, high, doc) .name = (value),
const struct hm_cpu_constants hm__cpu_constants = {HM_CPU_CONSTANT_MAP(HM_CPU_CONSTANT_VALUE)};
#undef HM_CPU_CONSTANT_VALUE

static double node_threads(const struct hm_node *node)
{
    return node->threads > 0 ? node->threads : node->cores;
}

static double node_cache(const struct hm_node *node)
{
    return node->cache_bytes > 0 ? node->cache_bytes : CACHE_OF_CORE * node->cores;
}

bool hm__cpu_init(struct hm_device *d, const struct hm_node *node,
                  const struct hm_cpu_constants *constants)
{
    if (!(node->cores > 0) || !(node->memory_bandwidth_bytes_per_s > 0))
        return false;
    d->cpu = constants;
    d->threads = node_threads(node);
    d->processors = fmin(d->threads, node->cores);
    d->rate *= d->processors / node->cores;
    d->reach = node->matrix_efficiency > 0 ? node->matrix_efficiency : d->cpu->reach;
    d->bandwidth = fmin(node->memory_bandwidth_bytes_per_s, d->threads * d->cpu->core_memory * 1e9);
    d->cache = node_cache(node);
    d->algebra = 1;
    d->matrix_units = false;
    return true;
}

/* Returns the seconds to move `bytes` that operations have just written or will read soon. */
static double cpu_move_time(const struct hm_device *d, double bytes)
{
    double inside = fmin(bytes, d->cache);
    double memory = d->bandwidth * d->cpu->stream;
    double cache = fmax(memory, d->threads * d->cpu->core_cache * 1e9);

    return inside / cache + (bytes - inside) / memory;
}

double hm__cpu_stream(const struct hm_device *d, double bytes)
{
    return cpu_move_time(d, bytes) + d->cpu->start * 1e-6;
}

double hm__cpu_gemm(const struct hm_device *d, double m, double n, double k, double batch,
                    double efficiency)
{
    const struct hm_cpu_constants *c = d->cpu;
    double blocks = ceil(m / BLOCK) * ceil(n / BLOCK) * batch;
    double used = fmin(1, blocks / d->processors);
    double rate = d->rate * d->reach * used * efficiency;
    double padded = (m + c->ramp_m) * (n + c->ramp_n) * (k + c->ramp_k);
    double bytes = (m * k + k * n + m * n) * batch * d->value_bytes;
    /* Linear algebra that is slower than a BLAS, such as that of the JVM, has no vectors to fill
     * and loses nothing to small dimensions. */
    double flop = fmax(padded, m * n * k / d->algebra) * 2 * batch;

    return fmax(flop / rate, cpu_move_time(d, bytes)) + c->start * 1e-6;
}

double hm__cpu_conv(const struct hm_device *d, const struct hm_conv *c, int pass)
{
    double places = c->batch * c->out_places;
    double deep = c->in / c->groups * c->window, out = c->out / c->groups;

    if (c->groups > 1 && c->groups >= c->in) {
        double flop = 2 * places * c->out * c->window;
        double bytes = c->batch * (c->in * c->in_places + c->out * c->out_places) * d->value_bytes;
        return fmax(flop / (d->rate * d->cpu->depthwise), cpu_move_time(d, bytes)) +
               d->cpu->start * 1e-6;
    }
    return pass == HM_PASS_FORWARD ? hm__cpu_gemm(d, places, out, deep, c->groups, d->cpu->conv)
           : pass == HM_PASS_DATA  ? hm__cpu_gemm(d, places, deep, out, c->groups, d->cpu->conv)
                                   : hm__cpu_gemm(d, out, deep, places, c->groups, d->cpu->conv);
}

double hm__cpu_attention(const struct hm_device *d, double flop, double bytes)
{
    return fmax(flop / (d->rate * d->reach * d->cpu->attention), cpu_move_time(d, bytes)) +
           2e-6 * d->cpu->start;
}

double hm__cpu_edge(const struct hm_node *node, double rate, double flop, double states,
                    double vertices, double value_bytes)
{
    const struct hm_cpu_constants *c = &hm__cpu_constants;
    double share = fmin(1, node_threads(node) / node->cores);
    /* With two states, a message is the ratio of its entries: one value. */
    double values = states > 2 ? states : 1;
    double bytes = ENDS_BYTES + 4 * values * value_bytes;
    double bandwidth =
        fmin(node->memory_bandwidth_bytes_per_s, node_threads(node) * c->graph_memory * 1e9);

    if (2 * vertices * values * value_bytes > node_cache(node))
        bytes += 2 * fmax(CACHE_LINE, 2 * values * value_bytes);
    /* With more states, products of messages need exponents of their own. */
    double work = flop + (states > 2 ? STATE_OPERATIONS * states : 0);
    return fmax(work / (rate * share * c->graph), bytes / bandwidth);
}
