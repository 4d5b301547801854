/*
 * Compares the model with simple references: the times of layers with a loop over each layer and
 * case, and the times of slow workers with the distribution of the number of unfinished workers,
 * one worker after another.
 */
#include "testing.h"

#include "layer_time.h"
#include "random.h"
#include "slow_time.h"
#include "slowness.h"

/* ---- layers ---------------------------------------------------------------------------------- */

enum { LAYERS = 12, CASES = 130, BYTES = 4 };

static const double flops = 1e9;

/* Makes a random network. Some layers have no matrix products, no weights, or neither; some are
 * repeated. */
static void draw_layers(struct hm_random *random, struct hm_count *layers)
{
    memset(layers, 0, LAYERS * sizeof(*layers));
    for (size_t i = 0; i < LAYERS; i++) {
        int kind = (int)(4 * hm__random_uniform(random));
        layers[i].inputs = floor(1e4 * hm__random_uniform(random));
        layers[i].outputs = floor(1e4 * hm__random_uniform(random));
        layers[i].multiply_adds = kind & 1 ? floor(1e6 * hm__random_uniform(random)) : 0;
        layers[i].parameters = kind & 2 ? floor(1e5 * hm__random_uniform(random)) : 0;
        if (i > 2 && hm__random_uniform(random) < 0.4)
            layers[i] = layers[i - 2];
    }
}

/* Returns the seconds of one pass over b samples. */
static double pass_s(const struct hm_count *l, double bandwidth, double overhead, double b)
{
    double products = 2 * l->multiply_adds * b / flops;
    double moving = ((l->inputs + l->outputs) * b + l->parameters) * BYTES / bandwidth;

    return (bandwidth > 0 ? fmax(products, moving) : products) + overhead;
}

static void check_layers(struct hm_count *layers, double bandwidth, double overhead)
{
    struct hm_counts counts = {.layers = layers, .layer_count = LAYERS};
    struct hm_layer_costs costs;
    double b[CASES], latency[CASES], per_byte[CASES], forward[CASES], both[CASES], ends[CASES];

    for (size_t i = 0; i < CASES; i++) {
        b[i] = (double)(i + 1) * 0.5;
        latency[i] = 1e-5 * (double)(i % 7);
        per_byte[i] = 1e-9 * (double)(i % 11);
    }
    assert_int_equal(hm__layer_costs_init(&costs, &counts, flops, bandwidth, overhead, BYTES, NULL),
                     0);
    hm__layer_costs_eval(&costs, b, CASES, forward, both);
    hm__layer_costs_overlap(&costs, b, latency, per_byte, CASES, ends);
    for (size_t i = 0; i < CASES; i++) {
        double once = 0, all = 0, ready = 0, sent = 0;
        for (size_t k = LAYERS; k-- > 0;) {
            const struct hm_count *l = &layers[k];
            double pass = pass_s(l, bandwidth, overhead, b[i]);
            double backward = l->multiply_adds > 0 ? 2 : 1;
            once += pass;
            all += (1 + backward) * pass;
            ready += backward * pass;
            if (l->parameters > 0)
                sent = fmax(sent, ready) + latency[i] + l->parameters * BYTES * per_byte[i];
        }
        assert_near(forward[i], once, 1e-12);
        assert_near(both[i], all, 1e-12);
        assert_near(ends[i], fmax(ready, sent), 1e-12);
    }
    hm__layer_costs_release(&costs);
}

static void layers_take_the_longer_of_products_and_traffic(void **state)
{
    struct hm_count layers[LAYERS];
    struct hm_random random;

    (void)state;
    hm__random_init(&random, 3, 0);
    for (int round = 0; round < 20; round++) {
        draw_layers(&random, layers);
        check_layers(layers, 0, 0);
        check_layers(layers, 0, 1e-5);
        check_layers(layers, 4e8, 0);
        check_layers(layers, 1e9, 1e-5);
    }
}

/* ---- slow workers ---------------------------------------------------------------------------- */

/* Returns the probability that an iteration of 1 s on a worker with this factor is not finished at
 * time t. */
static double unfinished(const struct hm_slowness *s, double factor, double t)
{
    double slow = s->factor > 0 ? s->factor : 1, q = 0;

    for (int k = 0; k < 2; k++) {
        double base = factor * (k ? slow : 1), rest = t - (k ? s->pause_s : 0), p;
        if (rest <= 0)
            p = 1;
        else if (s->spread > 0)
            p = 0.5 * erfc(log(rest / base) / s->spread / sqrt(2));
        else
            p = rest < base;
        q += (k ? s->chance : 1 - s->chance) * p;
    }
    return q;
}

/* Returns the probability that more than `late` of n workers are unfinished at time t. */
static double many_unfinished(const struct hm_slowness *s, int n, int late, double t)
{
    double mass[16] = {1}, few = 0;

    for (int i = 0; i < n; i++) {
        double q = unfinished(s, hm__slowness_factor(s, i, n), t);
        for (int j = late; j >= 0; j--)
            mass[j] = mass[j] * (1 - q) + (j > 0 ? mass[j - 1] * q : 0);
    }
    for (int j = 0; j <= late; j++)
        few += mass[j];
    return 1 - few;
}

/* Returns the expected time: the integral of many_unfinished over time, by Simpson's rule over ln
 * t. */
static double reference_order(const struct hm_slowness *s, int n, int late)
{
    enum { STEPS = 6000 };
    const double low = log(1e-3), high = log(1e3), step = (high - low) / STEPS;
    double sum = 0;

    for (int k = 0; k <= STEPS; k++) {
        double t = exp(low + k * step);
        double weight = k == 0 || k == STEPS ? 1 : k % 2 ? 4 : 2;
        sum += weight * many_unfinished(s, n, late, t) * t;
    }
    return 1e-3 + sum * step / 3;
}

/* Returns the expected time without spread; the probability is then constant between the times of
 * single workers. */
static double reference_steps(const struct hm_slowness *s, int n, int late)
{
    double times[256], sum = 0, before = 0;
    int count = 0;

    for (int i = 0; i < n; i++) {
        double factor = hm__slowness_factor(s, i, n);
        times[count++] = factor;
        times[count++] = factor * (s->factor > 0 ? s->factor : 1) + s->pause_s;
    }
    for (int k = 0; k < count; k++) {
        double next = INFINITY;
        for (int i = 0; i < count; i++)
            if (times[i] > before)
                next = fmin(next, times[i]);
        if (isinf(next))
            break;
        sum += (next - before) * many_unfinished(s, n, late, (before + next) / 2);
        before = next;
    }
    return sum;
}

static void check_orders(const struct hm_slowness *s)
{
    struct hm_slow *slow = NULL;

    assert_int_equal(hm__slow_new(s, &slow, NULL), 0);
    for (int n = 1; n <= 11; n += n < 4 ? 1 : 3)
        for (int late = 0; late < n && late <= 3; late++) {
            double wanted =
                s->spread > 0 ? reference_order(s, n, late) : reference_steps(s, n, late);
            assert_near(hm__slow_order(slow, n, late, 1), wanted, 2e-6);
        }
    hm__slow_free(slow);
}

static void orders_follow_the_distribution(void **state)
{
    static const double speeds[] = {0.5, 2, 1.25};
    const struct hm_slowness list[] = {
        {.spread = 0.3},
        {.chance = 0.1, .factor = 4},
        {.chance = 0.2, .pause_s = 0.7},
        {.chance = 0.2, .factor = 2, .pause_s = 0.3, .slow_nodes = 2, .slow_factor = 1.5},
        {.chance = 0.15, .factor = 3, .speeds = speeds, .speed_count = 3, .per_node = 2},
        {.spread = 0.2, .chance = 0.1, .factor = 3, .pause_s = 0.5},
        {.spread = 0.1, .slow_nodes = 1, .slow_factor = 2, .speeds = speeds, .speed_count = 3},
        {.spread = 0.2,
         .slow_nodes = 2,
         .slow_factor = 3,
         .per_node = 2,
         .chance = 0.05,
         .factor = 2,
         .speeds = speeds,
         .speed_count = 2},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
        check_orders(&list[i]);
}

/* Speeds from 1 to 3 are rounded to logarithmic steps; the fastest speed is one of the steps. */
static void many_fast_speeds(void **state)
{
    enum { COUNT = 100 };
    double speeds[COUNT];
    const struct hm_slowness s = {
        .chance = 0.1, .factor = 2, .speeds = speeds, .speed_count = COUNT};
    struct hm_slow *slow = NULL;

    (void)state;
    for (int i = 0; i < COUNT; i++)
        speeds[i] = 1 + 2 * (i + 1.) / COUNT;
    assert_int_equal(hm__slow_new(&s, &slow, NULL), 0);
    for (int late = 0; late <= 3; late++)
        assert_near(hm__slow_order(slow, COUNT, late, 1), reference_steps(&s, COUNT, late), 0.02);
    hm__slow_free(slow);
}

/* Each of 2000 workers is slow with probability 1/2: the time is 2 s if more than `late` are slow,
 * else 1 s. */
static void many_backups_follow_the_binomial(void **state)
{
    enum { WORKERS = 2000 };
    const struct hm_slowness s = {.chance = 0.5, .factor = 2};
    static double mass[WORKERS + 2];
    struct hm_slow *slow = NULL;

    (void)state;
    memset(mass, 0, sizeof(mass));
    mass[0] = 1;
    for (int i = 0; i < WORKERS; i++)
        for (int j = i + 1; j >= 0; j--)
            mass[j] = (mass[j] + (j > 0 ? mass[j - 1] : 0)) / 2;
    assert_int_equal(hm__slow_new(&s, &slow, NULL), 0);
    for (int late = 960; late <= 1000; late += 10) {
        double few = 0;
        for (int j = 0; j <= late; j++)
            few += mass[j];
        assert_near(hm__slow_order(slow, WORKERS, late, 1), 2 - few, 1e-9);
    }
    hm__slow_free(slow);
}

/* Without waiting, the rates of the workers are added; with proportional work, their speeds are. */
static void rates_add_up(void **state)
{
    static const double speeds[] = {0.5, 2, 1.25};
    const struct hm_slowness s = {.spread = 0.2,
                                  .chance = 0.1,
                                  .factor = 3,
                                  .pause_s = 0.5,
                                  .slow_nodes = 2,
                                  .slow_factor = 1.5,
                                  .per_node = 2,
                                  .speeds = speeds,
                                  .speed_count = 3};
    struct hm_slow *slow = NULL;

    (void)state;
    assert_int_equal(hm__slow_new(&s, &slow, NULL), 0);
    for (int n = 1; n <= 15; n++) {
        double rate = 0, speed = 0;
        for (int i = 0; i < n; i++) {
            double factor = hm__slowness_factor(&s, i, n);
            rate += 1 / (2 * factor * exp(0.02) * (0.9 + 0.1 * 3) + 0.1 * 0.5 + 0.25);
            speed += 1 / factor;
        }
        assert_near(hm__slow_async(slow, n, 2, 0.25), n / rate, 1e-13);
        assert_near(hm__slow_even(slow, n), n / speed, 1e-13);
    }
    hm__slow_free(slow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_take_the_longer_of_products_and_traffic),
        cmocka_unit_test(orders_follow_the_distribution),
        cmocka_unit_test(many_fast_speeds),
        cmocka_unit_test(many_backups_follow_the_binomial),
        cmocka_unit_test(rates_add_up),
    };
    return cmocka_run_group_tests_name("edges_model", tests, NULL, NULL);
}
