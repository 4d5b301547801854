/* Models stragglers: workers that are always slower, and iterations that are slow at random. */
#include "slowness.h"

#include <math.h>

#include "random.h"

/*
 * Constant that is added to the seed, so that these draws are independent of other random numbers
 * with the same seed.
 */
/* The value consists of the letters of "slowness" in ASCII. */
static const uint64_t seed_of_slowness = 0x736c6f776e657373;
static const int iteration_bits = 40;

bool hm__slowness_drawn(const struct hm_slowness *s)
{
    return s->spread > 0 || (s->chance > 0 && (s->factor > 0 || s->pause_s > 0));
}

bool hm__slowness_any(const struct hm_slowness *s)
{
    return hm__slowness_drawn(s) || s->slow_nodes > 0 || s->speed_count > 0;
}

double hm__slowness_factor(const struct hm_slowness *s, double worker, double n)
{
    double per_node = s->per_node > 1 ? s->per_node : 1;
    double node = floor(worker / per_node), nodes = ceil(n / per_node), factor = 1;

    if (node < (double)s->speed_count)
        factor /= s->speeds[(size_t)node];
    if (node >= nodes - s->slow_nodes)
        factor *= s->slow_factor;
    return factor;
}

double hm__slowness_draw(const struct hm_slowness *s, uint64_t seed, double worker, double n,
                         double iteration, double seconds)
{
    struct hm_random random;
    double longer = seconds * hm__slowness_factor(s, worker, n);

    if (!hm__slowness_drawn(s))
        return longer;
    hm__random_init(&random, seed ^ seed_of_slowness,
                    ((uint64_t)worker << iteration_bits) + (uint64_t)(int64_t)iteration);
    bool slow = hm__random_uniform(&random) < s->chance;
    if (s->spread > 0)
        longer *= exp(s->spread * hm__random_normal(&random));
    if (slow && s->factor > 0)
        longer *= s->factor;
    return slow ? longer + s->pause_s : longer;
}
