/*
 * Renders plans for transformers as human-readable text, in the same form as other plans: first the
 * machines with the time and the cost of the whole job, then labelled lines, then tables of
 * layouts.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "chance_words.h"
#include "large_render.h"
#include "render.h"

enum { LAYOUT_TEXT = 160, BAR_WIDTH = 40 };

/*
 * A warning is added if the recommended configuration needs more than this many times as many
 * machine-hours as the knee.
 */
static const double LARGE_COSTLY = 2;

/* Appends the machines of a point of the curve, such as "32 x p5.48xlarge (256 GPUs)". */
static void say_machines(struct hm_text *out, const struct hm_large_answer *a,
                         const struct hm_large_choice *c)
{
    const char *name = a->machines ? a->machines[c->machine] : NULL;
    const char *noun = c->gpus ? "GPU" : "worker";
    double all = c->nodes * c->per_node;

    if (name)
        hm__text_addf(out, "%.0f x %s", c->nodes, name);
    else
        hm__text_addf(out, "%.0f node%s", c->nodes, hm__plural(c->nodes));
    if (c->n < all)
        hm__text_addf(out, " (%.0f of %.0f %ss)", c->n, all, noun);
    else if (c->per_node > 1)
        hm__text_addf(out, " (%.0f %ss)", c->n, noun);
}

/*
 * Appends the time and the cost of the whole job, or the time of one step if the length of the job
 * is not given.
 */
static void say_needs(struct hm_text *out, const struct hm_large_choice *c)
{
    char time[HM_SHOWN], money[HM_SHOWN];

    if (isnan(c->total_s))
        hm__text_addf(out, "%s an iteration", hm__show_time(c->step.time_s, time));
    else
        hm__text_add(out, hm__show_time(c->total_s, time));
    if (c->cost > 0)
        hm__text_addf(out, ", %s", hm__show_money(c->cost, money));
}

/*
 * Returns the ratio of the machine-hours at one point to the machine-hours at another, for the same
 * work.
 */
static double hours_ratio(const struct hm_large_choice *c, const struct hm_large_choice *other)
{
    return c->nodes * c->step.time_s / (other->nodes * other->step.time_s);
}

static void say_costly(struct hm_text *out, const struct hm_large_answer *a)
{
    const struct hm_large_choice *c = &a->points[a->recommended];
    char number[HM_SHOWN];

    if (a->knee >= a->point_count || a->goal != HM_GOAL_TIME ||
        !(hours_ratio(c, &a->points[a->knee]) > LARGE_COSTLY))
        return;
    const struct hm_large_choice *k = &a->points[a->knee];
    hm__text_addf(out, "; that is %sx the machine-hours of %.0f worker%s, which take%s ",
                  hm__show_number(hours_ratio(c, k), number), k->n, hm__plural(k->n),
                  k->n == 1 ? "s" : "");
    say_needs(out, k);
}

static void add_headline(struct hm_text *out, const struct hm_large_answer *a,
                         const struct hm_style *style)
{
    const struct hm_large_choice *c = &a->points[a->recommended];
    struct hm_text line = {0};

    if (a->feasible) {
        hm__text_add(&line, "Use ");
        say_machines(&line, a, c);
        hm__text_add(&line, ": ");
        say_needs(&line, c);
        say_costly(&line, a);
    } else if (!c->fits) {
        hm__text_add(&line, "The job does not fit in the memory of ");
        say_machines(&line, a, c);
    } else {
        hm__text_addf(&line, "No number of workers meets the %s", a->missed);
        if (!isnan(c->meets))
            hm__text_addf(&line, " with a probability of %g %%", 100 * a->certainty);
    }
    hm__text_add(&line, ".");
    hm__render_headline(out, style, &line);
}

/*
 * Appends a line about an alternative to the recommended point: its machines, its time and its
 * cost.
 */
static void add_point_line(struct hm_text *out, const struct hm_large_answer *a,
                           const struct hm_style *style, const char *label, size_t at)
{
    struct hm_text line = {0};
    double over = a->feasible ? NAN : a->points[at].excess;
    char number[HM_SHOWN];

    if (over >= 1.005 && isfinite(over))
        hm__text_addf(&line, "%sx over: ", hm__show_number(over, number));
    say_machines(&line, a, &a->points[at]);
    hm__text_add(&line, ": ");
    say_needs(&line, &a->points[at]);
    hm__render_taken_line(out, style, label, &line);
}

/* Appends the host memory per worker that offloaded training state needs. */
static void add_host_memory(struct hm_text *out, const struct hm_large_choice *c,
                            const struct hm_style *style)
{
    char need[HM_SHOWN], limit[HM_SHOWN];
    struct hm_text line = {0};

    hm__text_addf(&line, "offloaded states take %s a worker", hm__show_bytes(c->memory.host, need));
    if (isnan(c->host_limit))
        hm__text_add(&line, "; the machine does not say how much its host has (host_memory)");
    else
        hm__text_addf(&line, " of %s%s", hm__show_bytes(c->host_limit, limit),
                      c->memory.host > c->host_limit ? ", too much" : "");
    hm__render_taken_line(out, style, "host memory", &line);
}

static void add_memory(struct hm_text *out, const struct hm_large_choice *c,
                       const struct hm_style *style)
{
    const struct hm_large_memory *m = &c->memory;
    char total[HM_SHOWN], limit[HM_SHOWN], part[HM_SHOWN];
    struct hm_text line = {0};
    const struct {
        const char *name;
        double bytes;
    } parts[] = {{"weights", m->weights},     {"gradients", m->gradients},
                 {"optimizer", m->optimizer}, {"activations", m->activations},
                 {"logits", m->logits},       {"buffers", m->buffers},
                 {"margin", m->margin}};

    hm__text_addf(&line, "%s of %s a worker", hm__show_bytes(m->total, total),
                  hm__show_bytes(c->memory_limit, limit));
    if (m->total > c->memory_limit)
        hm__text_addf(&line, ", %s too much", hm__show_bytes(m->total - c->memory_limit, part));
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        hm__text_addf(&line, "%s %s %s", i ? "," : ":", parts[i].name,
                      hm__show_bytes(parts[i].bytes, part));
    hm__render_taken_line(out, style, "memory", &line);
    if (m->host > 0)
        add_host_memory(out, c, style);
}

/* Appends the lines about the layout, one iteration and the whole job. */
static void add_figures(struct hm_text *out, const struct hm_large_answer *a,
                        const struct hm_style *style)
{
    const struct hm_large_choice *c = &a->points[a->recommended];
    char layout[LAYOUT_TEXT], time[HM_SHOWN], number[HM_SHOWN], each[HM_SHOWN];
    struct hm_text line = {0};

    hm_layout_text(&c->layout, layout, sizeof(layout));
    hm__text_addf(&line, "%s: %s", a->network ? a->network : "transformer", layout);
    hm__render_taken_line(out, style, "layout", &line);
    hm__text_addf(&line, "%s, %s tokens/s, %s a worker", hm__show_time(c->step.time_s, time),
                  hm__show_grouped(c->tokens_per_s, number),
                  hm__show_grouped(c->tokens_per_s / c->n, each));
    hm__render_taken_line(out, style, "iteration", &line);
    hm__text_addf(&line, "MFU %.1f %%, HFU %.1f %% (causal half of the attention)", 100 * c->mfu,
                  100 * c->hfu);
    hm__render_taken_line(out, style, "utilisation", &line);
    if (isnan(c->total_s))
        return;
    hm__text_addf(&line, "%s iterations, %s node-hours",
                  hm__show_grouped(ceil(a->tokens / (a->batch * a->sequence)), number),
                  hm__show_grouped(c->nodes * c->total_s / 3600, each));
    if (c->nodes > 1)
        hm__text_addf(&line, "; with failures and checkpoints %s",
                      hm__show_time(c->total_s / fmax(.01, c->goodput), time));
    hm__render_taken_line(out, style, "whole job", &line);
}

/* Appends the probability that the limits are met, and the interval for the time. */
static void add_sure(struct hm_text *out, const struct hm_large_answer *a,
                     const struct hm_style *style)
{
    const struct hm_large_choice *c = &a->points[a->recommended];
    double total = isnan(c->total_s) ? c->step.time_s : c->total_s;
    const struct hm_limits_met limits = {.deadline_s = a->deadline_s,
                                         .budget = a->budget,
                                         .meets = c->meets,
                                         .certainty = a->certainty};
    char range[HM_SHOWN_RANGE];
    struct hm_text line = {0};

    hm__say_limits_met(&line, &limits);
    if (line.length || line.failed)
        hm__render_taken_line(out, style, "limits", &line);
    hm__text_addf(&line, "%s%s: 90 %% of similar steps",
                  hm__show_range(hm__show_time, c->low_total * total, c->high_total * total, range),
                  isnan(c->total_s) ? " an iteration" : "");
    if (a->correction_rows)
        hm__text_addf(&line, ", after %zu measured step%s (computing x %.2f, host x %.2f)",
                      a->correction_rows, hm__plural((double)a->correction_rows),
                      a->correction_compute, a->correction_host);
    if (!isnan(c->total_s))
        hm__text_add(&line, "; failures, evaluation and pauses come on top");
    hm__render_taken_line(out, style, "how sure", &line);
    if (!(a->advised_n > 0))
        return;
    hm__text_addf(&line,
                  "one run of %.0f min of this layout on %.0f worker%s would make it %s%.0f %%:",
                  a->advised_run_s / 60, a->advised_n, hm__plural(a->advised_n),
                  style->unicode ? "\xc2\xb1" : "+-", fmax(100 * a->advised_within, 1));
    hm__render_taken_line(out, style, "", &line);
    hm__text_addf(&line, "howmany bench 'COMMAND {n}' -n %.0f", a->advised_n);
    hm__render_taken_line(out, style, "", &line);
}

/* Writes a number of parameters or tokens such as 70.6B or 15T. */
static const char *show_amount(double amount, char text[HM_SHOWN])
{
    static const char letters[] = "kMBT";
    int power = (int)fmin(4, fmax(0, floor(log10(amount) / 3 + 1e-9)));

    if (power == 0)
        snprintf(text, HM_SHOWN, "%.0f", amount);
    else
        snprintf(text, HM_SHOWN, "%.3g%c", amount / pow(1000, power), letters[power - 1]);
    return text;
}

/*
 * Appends the numbers of parameters and tokens if the plan chose them, and the loss that scaling
 * laws predict.
 */
static void add_outlook(struct hm_text *out, const struct hm_large_answer *a,
                        const struct hm_style *style)
{
    const struct hm_large_outlook *o = &a->outlook;
    struct hm_text line = {0};
    char tokens[HM_SHOWN], parameters[HM_SHOWN];

    if (isnan(o->loss))
        return;
    hm__text_addf(&line,
                  "%.2f after %s tokens of %s parameters (%.0f a parameter); laws: ", o->loss,
                  show_amount(a->tokens, tokens), show_amount(a->parameters, parameters),
                  a->tokens / a->parameters);
    hm__text_addf(&line, "%.2f to %.2f", o->low, o->high);
    if (!isnan(o->target) && o->most_tokens < INFINITY)
        hm__text_addf(&line, ", or %s to %s tokens",
                      show_amount(o->least_tokens * o->factor, tokens),
                      show_amount(o->most_tokens * o->factor, parameters));
    else if (!isnan(o->target))
        hm__text_addf(&line, ", or %s tokens to never",
                      show_amount(o->least_tokens * o->factor, tokens));
    if (o->optimal > 2 * a->parameters || o->optimal < .5 * a->parameters)
        hm__text_addf(&line, "; the same compute is best spent on %s parameters",
                      show_amount(o->optimal, parameters));
    hm__render_taken_line(out, style, "loss", &line);
}

/*
 * Appends how large the micro-batch and the sequence can become, and the number of workers at which
 * scaling breaks down.
 */
static void add_room(struct hm_text *out, const struct hm_large_answer *a,
                     const struct hm_style *style)
{
    struct hm_text line = {0};
    char number[HM_SHOWN];

    if (!isnan(a->most_micro_batch)) {
        hm__text_addf(&line, "this layout fits up to a micro-batch of %.0f, or sequences of %s",
                      a->most_micro_batch, hm__show_grouped(a->most_sequence, number));
        hm__render_taken_line(out, style, "room", &line);
    }
    if (a->breaks >= a->point_count)
        return;
    const struct hm_large_choice *c = &a->points[a->breaks], *e = &a->points[a->efficient];
    const char *part = hm__large_breaks_part(a);
    hm__text_addf(&line, "breaks at %.0f workers, each %.0f %% as fast as with %.0f: %s", c->n,
                  100 * c->tokens_per_s / c->n / (e->tokens_per_s / e->n), e->n,
                  part && strcmp(part, "other") != 0 ? part : "fixed cost of a step");
    hm__render_taken_line(out, style, "scaling", &line);
}

/*
 * Appends the alternatives, the best point and the knee, except those that are equal to the
 * recommendation.
 */
static void add_others(struct hm_text *out, const struct hm_large_answer *a,
                       const struct hm_style *style)
{
    if (a->cheapest < a->point_count && (a->cheapest != a->balanced || a->balanced != a->fastest)) {
        add_point_line(out, a, style, "cheapest", a->cheapest);
        add_point_line(out, a, style, "balanced", a->balanced);
        add_point_line(out, a, style, "fastest", a->fastest);
    }
    if (a->best != a->recommended)
        add_point_line(out, a, style, "optimum", a->best);
    if (a->knee < a->point_count && a->knee != a->recommended)
        add_point_line(out, a, style, "knee", a->knee);
}

static void add_limits(struct hm_text *out, const struct hm_large_answer *a,
                       const struct hm_large_choice *c, const struct hm_style *style)
{
    struct hm_large_part parts[HM_LARGE_PARTS];
    struct hm_text line = {0};

    hm__large_list_parts(&c->step, parts);
    hm__text_addf(&line, "%s (%.0f %% of the step)", parts[0].name,
                  100 * parts[0].seconds / c->step.time_s);
    hm__render_taken_line(out, style, "limited by", &line);
    hm__render_line(out, style, "would help", hm__large_part_help(a, &parts[0]));
    for (size_t i = 0; i < a->note_count; i++)
        hm__render_line(out, style, "note", a->notes[i]);
    hm__text_add(out, "\nshares of the step\n");
    for (int i = 0; i < HM_LARGE_PARTS && parts[i].seconds >= .005 * c->step.time_s; i++) {
        double share = parts[i].seconds / c->step.time_s;
        hm__text_addf(out, "  %-17s %5.1f %% ", parts[i].name, 100 * share);
        hm__text_repeat(out, "#", share <= 1 ? (size_t)round(share * BAR_WIDTH) : 0);
        hm__text_end_line(out);
    }
}

static void add_choice_row(struct hm_text *out, const struct hm_large_choice *c, const char *what)
{
    char layout[LAYOUT_TEXT], time[HM_SHOWN], memory[HM_SHOWN], cost[HM_SHOWN];

    hm_layout_text(&c->layout, layout, sizeof(layout));
    hm__text_addf(out, "  %-18s %7.0f %12s %6.1f %% %12s %10s  %s\n", what, c->n,
                  hm__show_time(c->step.time_s, time), 100 * c->mfu,
                  hm__show_bytes(c->memory.total, memory),
                  isnan(c->cost) ? "" : hm__show_money(c->cost, cost), layout);
}

static void add_size_rows(struct hm_text *out, const struct hm_large_answer *a)
{
    if (a->size_count)
        hm__text_addf(out, "\n  %12s %10s %6s %8s %12s %12s\n", "parameters", "tokens", "loss",
                      "workers", "time", "cost");
    for (size_t i = 0; i < a->size_count; i++) {
        const struct hm_large_size *s = &a->sizes[i];
        char time[HM_SHOWN], cost[HM_SHOWN], parameters[HM_SHOWN], tokens[HM_SHOWN];
        hm__text_addf(out, "  %12s %10s %6.3f %8.0f %12s %12s%s\n",
                      show_amount(s->parameters, parameters), show_amount(s->tokens, tokens),
                      s->loss, s->n, hm__show_time(s->total_s, time),
                      isnan(s->cost) ? "" : hm__show_money(s->cost, cost),
                      s->parameters == a->parameters ? "  chosen" : "");
    }
}

static void add_change_rows(struct hm_text *out, const struct hm_large_answer *a)
{
    const struct hm_large_choice *best = &a->points[a->recommended];
    char value[40], layout[LAYOUT_TEXT];

    if (a->change_count)
        hm__text_add(out, "\ntokens/s if the job changes\n");
    for (size_t i = 0; i < a->change_count; i++) {
        const struct hm_large_change *c = &a->changes[i];
        hm__large_change_value(c, value, sizeof(value));
        hm_layout_text(&c->choice.layout, layout, sizeof(layout));
        hm__text_addf(out, "  %-9s %8s %+7.1f %%  %s\n", c->what, value,
                      100 * (c->choice.tokens_per_s / best->tokens_per_s - 1), layout);
    }
}

static void add_rows(struct hm_text *out, const struct hm_large_answer *a)
{
    if (a->hint_count)
        hm__text_add(out, "\nchanges that make it fit, fastest first\n");
    for (size_t i = 0; i < a->hint_count; i++)
        add_choice_row(out, &a->hints[i].choice, a->hints[i].what);
    add_size_rows(out, a);
    add_change_rows(out, a);
    if (a->runner_count)
        hm__text_add(out, "\nother layouts within 5 %\n");
    for (size_t i = 0; i < a->runner_count; i++)
        add_choice_row(out, &a->runners[i], "");
    if (a->point_count < 2)
        return;
    hm__text_addf(out, "\n  %-18s %7s %12s %8s %12s %10s  %s\n", "machine", "workers", "step",
                  "MFU", "memory", "cost", "layout");
    for (size_t i = 0; i < a->point_count; i++) {
        const struct hm_large_choice *c = &a->points[i];
        const char *name = a->machines ? a->machines[c->machine] : NULL;
        add_choice_row(out, c, !c->fits ? "(does not fit)" : name ? name : "");
    }
}

void hm__large_render_text(struct hm_text *out, const struct hm_large_answer *a,
                           const struct hm_style *style)
{
    const struct hm_large_choice *c = &a->points[a->recommended];

    add_headline(out, a, style);
    if (!a->feasible)
        add_point_line(out, a, style, "nearest miss", a->recommended);
    add_figures(out, a, style);
    add_memory(out, c, style);
    add_sure(out, a, style);
    add_outlook(out, a, style);
    add_room(out, a, style);
    if (a->feasible)
        add_others(out, a, style);
    add_limits(out, a, c, style);
    add_rows(out, a);
}
