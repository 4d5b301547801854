/* Writes calibrations: the description of a machine as YAML, and the times of its operations as
 * JSON. */
#include <math.h>
#include <string.h>

#include "calibration.h"
#include "json.h"

/* Writes a value with four digits and the largest prefix (G, T, …) that fits. */
static void put_quantity(struct hm_text *out, double value, const char *unit)
{
    static const struct prefix {
        double factor;
        const char *name;
    } prefixes[] = {{1e15, "P"}, {1e12, "T"}, {1e9, "G"},  {1e6, "M"}, {1e3, "k"},
                    {1, ""},     {1e-3, "m"}, {1e-6, "u"}, {1e-9, "n"}};
    enum { ONE = 5, LAST = sizeof(prefixes) / sizeof(prefixes[0]) - 1 };
    bool time = strcmp(unit, "s") == 0;
    size_t i = time ? ONE : 0;

    /*
     * Seconds have no prefix for values above 1, and other units have no prefix for values below 1.
     */
    while (i < (time ? LAST : ONE) && value < prefixes[i].factor * 0.99995)
        i++;
    hm__text_addf(out, "%.4g %s%s", value / prefixes[i].factor, prefixes[i].name, unit);
}

static void put_line(struct hm_text *out, const char *key, double value, const char *unit)
{
    if (!(value > 0))
        return;
    hm__text_addf(out, "%s: ", key);
    put_quantity(out, value, unit);
    hm__text_add(out, "\n");
}

/* Writes a string in quotes, because the string in a recording may contain any characters. */
static void put_text(struct hm_text *out, const char *key, const char *text)
{
    hm__text_addf(out, "%s: ", key);
    hm__json_text(out, text);
    hm__text_add(out, "\n");
}

/* Writes a map of rates by precision on one line, or nothing if no rate is known. */
static void put_rates(struct hm_text *out, const char *key, const struct hm_rates *rates,
                      const char *unit)
{
    bool any = false;

    for (enum hm_math math = HM_MATH_FP64; math < HM_MATH_COUNT; math++) {
        double value = hm__rate_of(rates, math);
        if (!(value > 0))
            continue;
        hm__text_addf(out, "%s%s%s: ", any ? ", " : key, any ? "" : ": {", hm_math_name(math));
        if (unit)
            put_quantity(out, value, unit);
        else
            hm__text_addf(out, "%.3f", value);
        any = true;
    }
    if (any)
        hm__text_add(out, "}\n");
}

static void put_link(struct hm_text *out, const char *key, const struct hm_link *link)
{
    if (!(link->bandwidth_bytes_per_s > 0))
        return;
    hm__text_addf(out, "%s: {bandwidth: ", key);
    put_quantity(out, link->bandwidth_bytes_per_s, "B/s");
    hm__text_add(out, ", latency: ");
    put_quantity(out, link->latency_s, "s");
    hm__text_addf(out, "%s%s}\n", link->reduces ? ", reduces: true" : "",
                  link->mesh ? ", mesh: true" : "");
}

/* Writes the data sheet of a worker that is not in the catalog. */
static void put_sheet(struct hm_text *out, const struct hm_node *n, bool gpu)
{
    const struct hm_rates peaks = {n->flops_64,   n->flops_32, n->flops_tf32,
                                   n->flops_bf16, n->flops_16, n->flops_fp8};

    put_rates(out, "flops", &peaks, "flop/s");
    if (gpu)
        hm__text_addf(out, "processors: %.0f\n", n->processors);
    else
        hm__text_addf(out, "cores: %.0f\nefficiency: %.4g\n", n->cores, n->efficiency);
    put_line(out, "memory_bandwidth", n->memory_bandwidth_bytes_per_s, "B/s");
    put_line(out, "kernel_overhead", n->kernel_overhead_s, "s");
    put_line(out, "memory", n->memory_bytes, "B");
}

/* Writes the key `measured`, or nothing if it would be empty. */
static void put_measured(struct hm_text *out, const struct hm_calibration *c)
{
    struct hm_text body = {0};

    if (c->date)
        put_text(&body, "  date", c->date);
    if (!isnan(c->uncertainty))
        hm__text_addf(&body, "  uncertainty: %.2g%%\n", 100 * c->uncertainty);
    put_rates(&body, "  flops", &c->flops, "flop/s");
    put_rates(&body, "  convolutions", &c->convolutions, NULL);
    put_line(&body, "  memory_bandwidth", c->memory_bandwidth_bytes_per_s, "B/s");
    put_line(&body, "  core_bandwidth", c->core_bandwidth_bytes_per_s, "B/s");
    put_line(&body, "  kernel", c->kernel_s, "s");
    if (body.length > 0) {
        hm__text_add(out, "measured:\n");
        hm__text_add_n(out, body.data, body.length);
    }
    out->failed = out->failed || body.failed;
    hm__text_release(&body);
}

void hm__calibration_yaml(struct hm_text *out, const struct hm_timings *t,
                          const struct hm_calibrated *m, const char *accelerator)
{
    const char *name = m->timed && t->name ? t->name : "links between ranks";

    hm__text_addf(
        out, "# Measured figures, by howmany %s; docs/reference/calibrate.md describes the keys.\n",
        hm_version());
    put_text(out, "title", name);
    if (m->timed && accelerator) {
        put_text(out, "accelerator", accelerator);
    } else if (m->timed) {
        put_sheet(out, &m->node, t->gpu);
    }
    if (m->node.accelerators > 1) {
        hm__text_addf(out, "accelerators: %.0f\n", m->node.accelerators);
        put_link(out, "link", &m->node.link);
    }
    put_link(out, "fabric", &m->fabric);
    put_measured(out, &m->node.measured);
    if (m->assumed)
        put_text(out, "assumed", m->assumed);
    if (t->library)
        put_text(out, "source", t->library);
    if (t->date)
        put_text(out, "date", t->date);
}

static void put_timing(struct hm_json *json, const struct hm_timing *t)
{
    hm__json_open(json, NULL, HM_JSON_OBJECT);
    hm__json_put_text(json, "what", hm__timed_name(t->what));
    if (t->math != HM_MATH_AUTO)
        hm__json_put_text(json, "precision", hm_math_name(t->math));
    hm__json_put_numbers(json, "shape", t->shape, hm__timed_sides(t->what));
    hm__json_put_number(json, "workers", t->workers);
    hm__json_put_number(json, "nodes", t->nodes);
    hm__json_put_number(json, "seconds", t->seconds);
    if (!isnan(t->spread))
        hm__json_put_number(json, "spread", t->spread);
    hm__json_close(json);
}

static void put_known(struct hm_json *json, const char *key, double value)
{
    if (value > 0)
        hm__json_put_number(json, key, value);
}

void hm__timings_json(struct hm_text *out, const struct hm_timings *t)
{
    struct hm_json json = {.out = out};

    hm__json_open(&json, NULL, HM_JSON_OBJECT | HM_JSON_LINES);
    hm__json_put_text(&json, "device", t->gpu ? "gpu" : "cpu");
    if (t->name)
        hm__json_put_text(&json, "name", t->name);
    if (t->library)
        hm__json_put_text(&json, "library", t->library);
    if (t->date)
        hm__json_put_text(&json, "date", t->date);
    put_known(&json, "processors", t->processors);
    put_known(&json, "memory", t->memory_bytes);
    put_known(&json, "workers", t->workers);
    hm__json_open(&json, "timings", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < t->count; i++)
        put_timing(&json, &t->rows[i]);
    hm__json_close(&json);
    hm__json_close(&json);
    hm__text_add(out, "\n");
}
