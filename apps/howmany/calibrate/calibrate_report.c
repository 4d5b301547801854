/* Prints what a calibration has measured. */
#include <math.h>
#include <stdio.h>

#include "calibrate_session.h"
#include "cli.h"
#include "device.h"
#include "format.h"

/* Adds a measured value, also as a percentage of the value in the data sheet of the accelerator. */
static void put_figure(struct hm_text *out, const char *name, double measured, double sheet,
                       const char *(*show)(double, char *))
{
    char first[HM_SHOWN], second[HM_SHOWN];

    if (!(measured > 0))
        return;
    hm__text_addf(out, "  %-22s %14s", name, show(measured, first));
    if (sheet > 0)
        hm__text_addf(out, "   %.0f %% of %s", 100 * measured / sheet, show(sheet, second));
    hm__text_add(out, "\n");
}

static double sheet_rate(const struct hm_node *n, enum hm_math math)
{
    const struct hm_rates peaks = {n->flops_64,   n->flops_32, n->flops_tf32,
                                   n->flops_bf16, n->flops_16, n->flops_fp8};
    return hm__rate_of(&peaks, math);
}

static void put_gpu(struct hm_text *out, const struct calibrate_session *s)
{
    const struct hm_node *n = &s->machine.node;
    const struct hm_node *sheet = s->sheet ? &s->sheet->node : NULL;
    const struct hm_calibration *c = &n->measured;
    char name[64];

    for (enum hm_math math = HM_MATH_FP64; math < HM_MATH_COUNT; math++) {
        snprintf(name, sizeof(name), "products in %s", hm_math_name(math));
        put_figure(out, name, hm__rate_of(&c->flops, math), sheet ? sheet_rate(sheet, math) : NAN,
                   hm__show_flops);
    }
    for (enum hm_math math = HM_MATH_FP64; math < HM_MATH_COUNT; math++) {
        double speed = hm__rate_of(&c->convolutions, math);
        if (speed > 0)
            hm__text_addf(out,
                          "  convolutions in %-6s %14.2f   times the speed that the model "
                          "assumes\n",
                          hm_math_name(math), speed);
    }
    put_figure(out, "memory", c->memory_bandwidth_bytes_per_s,
               sheet ? sheet->memory_bandwidth_bytes_per_s : NAN, hm__show_byte_rate);
    put_figure(out, "one small kernel", c->kernel_s, NAN, hm__show_time);
    for (size_t i = 0; i < s->timings.count; i++)
        if (s->timings.rows[i].what == HM_TIMED_LAUNCH)
            put_figure(out, "launch by the host", s->timings.rows[i].seconds, NAN, hm__show_time);
}

static void put_cpu(struct hm_text *out, const struct calibrate_session *s)
{
    const struct hm_node *n = &s->machine.node;
    char rate[HM_SHOWN];

    put_figure(out, "products in fp64", n->flops_64, NAN, hm__show_flops);
    put_figure(out, "products in fp32", n->flops_32, NAN, hm__show_flops);
    hm__text_addf(out, "  %-22s %12.0f %%   of that, in the median of products of layers\n",
                  "efficiency", 100 * n->efficiency);
    put_figure(out, "memory", n->memory_bandwidth_bytes_per_s, NAN, hm__show_byte_rate);
    put_figure(out, "one small product", n->kernel_overhead_s, NAN, hm__show_time);
    for (size_t i = 0; i < s->timings.count; i++) {
        const struct hm_timing *t = &s->timings.rows[i];
        if (t->what == HM_TIMED_GEMM && t->workers < s->timings.processors)
            hm__text_addf(out, "  %2.0f thread%s %27s   in fp32, %g x %g x %g\n", t->workers,
                          t->workers > 1 ? "s" : " ",
                          hm__show_flops(hm__timing_flop(t) / t->seconds, rate), t->shape[0],
                          t->shape[1], t->shape[2]);
    }
}

static void put_link(struct hm_text *out, const char *name, const struct hm_link *link)
{
    char rate[HM_SHOWN], time[HM_SHOWN];

    if (link->bandwidth_bytes_per_s > 0)
        hm__text_addf(out, "  %-22s %14s   latency %s\n", name,
                      hm__show_byte_rate(link->bandwidth_bytes_per_s, rate),
                      hm__show_time(link->latency_s, time));
}

static void put_text(struct hm_text *out, const struct calibrate_session *s)
{
    const struct hm_calibrated *m = &s->machine;
    const struct hm_timings *t = &s->timings;

    if (m->timed)
        hm__text_addf(out, "%s%s%s, %s\n", t->name ? t->name : "worker", t->library ? ", " : "",
                      t->library ? t->library : "", t->date);
    if (m->timed && t->gpu)
        put_gpu(out, s);
    else if (m->timed)
        put_cpu(out, s);
    bool link = false;
    for (size_t i = 0; i < t->count; i++)
        link |= t->rows[i].what >= HM_TIMED_SEND && t->rows[i].nodes == 1;
    if (link)
        put_link(out, "inside a node", &m->node.link);
    put_link(out, "between nodes", &m->fabric);
    if (m->node.measured.uncertainty > 0)
        hm__text_addf(out, "  figures repeat within %.1f %% (root mean square over operations)\n",
                      100 * m->node.measured.uncertainty);
    if (m->model_error >= 0)
        hm__text_addf(out, "  the model's error on these operations: %.0f %% in the median\n",
                      100 * m->model_error);
    if (m->link_error >= 0)
        hm__text_addf(out, "  the model's error on these all-reduces: %.0f %% in the median\n",
                      100 * m->link_error);
    if (s->request->output)
        hm__text_addf(out, "use it with: howmany plan JOB --on %s\n", s->request->output);
}

static void put_rates_json(struct hm_json *json, const char *key, const struct hm_rates *rates)
{
    hm__json_open(json, key, HM_JSON_OBJECT);
    for (enum hm_math math = HM_MATH_FP64; math < HM_MATH_COUNT; math++) {
        double value = hm__rate_of(rates, math);
        if (value > 0)
            hm__json_put_number(json, hm_math_name(math), value);
    }
    hm__json_close(json);
}

static void put_positive(struct hm_json *json, const char *key, double value)
{
    hm__json_put_number(json, key, value > 0 ? value : NAN);
}

static void put_json(struct hm_text *out, const struct calibrate_session *s)
{
    const struct hm_calibrated *m = &s->machine;
    const struct hm_node *n = &m->node;
    const struct hm_calibration *c = &n->measured;
    bool gpu = s->timings.gpu && m->timed;
    const struct hm_rates rates = {n->flops_64, n->flops_32, 0, 0, 0, 0};
    struct hm_json json = {.out = out};

    hm__json_open_answer(&json);
    hm__json_put_text(&json, "name", s->timings.name);
    hm__json_put_text(&json, "library", s->timings.library);
    hm__json_put_text(&json, "date", s->timings.date);
    hm__json_put_text(&json, "accelerator", s->accelerator);
    put_rates_json(&json, "flops", gpu ? &c->flops : &rates);
    put_rates_json(&json, "convolutions", &c->convolutions);
    put_positive(&json, "memory_bandwidth_bytes_per_s",
                 gpu ? c->memory_bandwidth_bytes_per_s : n->memory_bandwidth_bytes_per_s);
    put_positive(&json, "kernel_s", gpu ? c->kernel_s : n->kernel_overhead_s);
    put_positive(&json, "efficiency", gpu ? NAN : n->efficiency);
    put_positive(&json, "link_bandwidth_bytes_per_s", n->link.bandwidth_bytes_per_s);
    hm__json_put_number(&json, "link_latency_s",
                        n->link.bandwidth_bytes_per_s > 0 ? n->link.latency_s : NAN);
    put_positive(&json, "fabric_bandwidth_bytes_per_s", m->fabric.bandwidth_bytes_per_s);
    hm__json_put_number(&json, "fabric_latency_s",
                        m->fabric.bandwidth_bytes_per_s > 0 ? m->fabric.latency_s : NAN);
    hm__json_put_number(&json, "uncertainty", c->uncertainty);
    hm__json_put_number(&json, "model_error", m->model_error);
    hm__json_put_number(&json, "link_error", m->link_error);
    hm__json_open(&json, "timings", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < s->timings.count; i++) {
        const struct hm_timing *t = &s->timings.rows[i];
        hm__json_open(&json, NULL, HM_JSON_OBJECT);
        hm__json_put_text(&json, "what", hm__timed_name(t->what));
        hm__json_put_text(&json, "precision",
                          t->math == HM_MATH_AUTO ? NULL : hm_math_name(t->math));
        hm__json_put_numbers(&json, "shape", t->shape, hm__timed_sides(t->what));
        hm__json_put_number(&json, "workers", t->workers);
        hm__json_put_number(&json, "nodes", t->nodes);
        hm__json_put_number(&json, "seconds", t->seconds);
        hm__json_put_number(&json, "spread", t->spread);
        hm__json_put_number(&json, "predicted_s", hm__calibrated_time(m, t));
        hm__json_close(&json);
    }
    hm__json_close(&json);
    hm__json_close(&json);
    hm__text_add(out, "\n");
}

int calibrate_report(const struct calibrate_session *s)
{
    struct hm_text out = {0};

    if (s->request->json) {
        put_json(&out, s);
        return cli_put_text(&out);
    }
    put_text(&out, s);
    if (s->request->output)
        return cli_put_text(&out);
    /*
     * The report goes to standard error, because standard output is used for the description of the
     * machine.
     */
    int rc = out.failed ? cli_complain("out of memory") : 0;
    if (rc == 0)
        fputs(out.data, stderr);
    hm__text_release(&out);
    return rc;
}
