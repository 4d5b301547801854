/*
 * Computes the times of operations on the cores of a CPU.
 *
 * A matrix product takes the time of its arithmetic, at a fraction of the peak rate of the threads
 * in use, or the time to move its operands, whichever is longer. Small dimensions lower the
 * fraction, and a matrix product with few blocks of 64 x 64 results occupies few threads. Bytes
 * that fit in the cache move at the rate of the cache; the others move at the rate of the memory,
 * of which a single thread reaches only a part.
 *
 * Belief propagation reads and writes both messages of an edge and reads its two ends and its
 * weight, in order. The product of messages of the first end stays in the cache, because edges are
 * sorted by their first end. The product of the second end is a random access, which moves a cache
 * line in both directions unless the products of all vertices fit in the cache.
 *
 * Limits: all cores are equal, hyperthreads add nothing, and the memory of several sockets is
 * treated as one memory. Sources: docs/explain/accuracy.md.
 */
#include "cpu.h"

#include <math.h>

static const double BLOCK =
    64; /* Number of rows and columns in the block of results that one thread computes. */
/* Size of the cache of each core in bytes, if the node does not specify it. */
static const double CACHE_OF_CORE = 2e6;
static const double CACHE_LINE = 64; /* Size of a cache line in bytes. */
/* Number of additional operations for each state of an edge, measured with this project's belief
 * propagation. */
static const double STATE_OPERATIONS = 90;
/* Size of the two vertex numbers of an edge, and size of its weight, in bytes. */
static const double ENDS_BYTES = 8 + 8;

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

bool hm__cpu_init(struct hm_cpu *cpu, const struct hm_node *node, double rate, double value_bytes,
                  const struct hm_cpu_constants *k)
{
    if (!(node->cores > 0) || !(node->memory_bandwidth_bytes_per_s > 0))
        return false;
    const struct hm_calibration *measured = &node->measured;
    double threads = node_threads(node), cores = fmin(threads, node->cores);
    double products = value_bytes > 4 ? measured->flops.fp64 : measured->flops.fp32;
    double memory = measured->memory_bandwidth_bytes_per_s > 0
                        ? measured->memory_bandwidth_bytes_per_s
                        : node->memory_bandwidth_bytes_per_s;
    double of_thread = measured->core_bandwidth_bytes_per_s > 0
                           ? measured->core_bandwidth_bytes_per_s
                           : k->core_memory * 1e9;
    *cpu = (struct hm_cpu){.k = k,
                           .threads = threads,
                           .cores = cores,
                           .rate = rate * cores / node->cores,
                           .reach = products > 0                  ? products / rate
                                    : node->matrix_efficiency > 0 ? node->matrix_efficiency
                                                                  : k->reach,
                           .bandwidth = fmin(memory, threads * of_thread),
                           .cache = node_cache(node),
                           .value_bytes = value_bytes,
                           .algebra = 1};
    return true;
}

/* Returns the time in seconds to move `bytes` bytes that operations have just written or will read
 * soon. */
static double cpu_move_time(const struct hm_cpu *cpu, double bytes)
{
    double inside = fmin(bytes, cpu->cache);
    double memory = cpu->bandwidth * cpu->k->stream;
    double cache = fmax(memory, cpu->threads * cpu->k->core_cache * 1e9);

    return inside / cache + (bytes - inside) / memory;
}

double hm__cpu_stream(const struct hm_cpu *cpu, double bytes)
{
    return cpu_move_time(cpu, bytes) + cpu->k->start * 1e-6;
}

double hm__cpu_gemm(const struct hm_cpu *cpu, double m, double n, double k, double batch,
                    double efficiency)
{
    const struct hm_cpu_constants *c = cpu->k;
    double blocks = ceil(m / BLOCK) * ceil(n / BLOCK) * batch;
    double used = fmin(1, blocks / cpu->cores);
    double padded = (m + c->ramp_m) * (n + c->ramp_n) * (k + c->ramp_k);
    double bytes = (m * k + k * n + m * n) * batch * cpu->value_bytes;
    /*
     * Linear algebra that is slower than a BLAS, such as that of the JVM, uses no vector units, so
     * small dimensions do not slow it down.
     */
    double flop = fmax(padded, m * n * k / cpu->algebra) * 2 * batch;

    return hm__cpu_loop(cpu, flop, cpu->reach * used * efficiency, bytes);
}

double hm__cpu_loop(const struct hm_cpu *cpu, double flop, double fraction, double bytes)
{
    return fmax(flop / (cpu->rate * fraction), cpu_move_time(cpu, bytes)) + cpu->k->start * 1e-6;
}

double hm__cpu_edge(const struct hm_node *node, double rate, double flop, double states,
                    double vertices, double value_bytes)
{
    const struct hm_cpu_constants *c = &hm__cpu_constants;
    double share = fmin(1, node_threads(node) / node->cores);
    /* With two states, a message is one value: the ratio of its two entries. */
    double values = states > 2 ? states : 1;
    double bytes = ENDS_BYTES + 4 * values * value_bytes;
    double bandwidth =
        fmin(node->memory_bandwidth_bytes_per_s, node_threads(node) * c->graph_memory * 1e9);

    if (2 * vertices * values * value_bytes > node_cache(node))
        bytes += 2 * fmax(CACHE_LINE, 2 * values * value_bytes);
    /* With more than two states, each product of messages has its own exponent, which needs more
     * operations. */
    double work = flop + (states > 2 ? STATE_OPERATIONS * states : 0);
    return fmax(work / (rate * share * c->graph), bytes / bandwidth);
}
