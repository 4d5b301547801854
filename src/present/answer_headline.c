/*
 * Writes the first lines of an answer as text: the recommended machines with the time and the cost
 * of the whole job, then the time of an iteration, the uncertainty of the times, and the
 * alternatives.
 */
#include "answer_headline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "format.h"

/*
 * A warning is added if the recommended configuration needs more than this many times as many
 * machine-hours as the knee.
 */
static const double COSTLY = 2;

static const struct hm_point *answer_recommended(const struct hm_answer *a)
{
    return &a->points[a->recommended];
}

/*
 * Returns whether the machine is an entry in the catalog, so that its name is not the path of a
 * cluster file.
 */
static bool answer_names_machine(const struct hm_answer *a)
{
    return a->machine && !strchr(a->machine, '/') && !hm__text_ends(a->machine, ".yaml") &&
           !hm__text_ends(a->machine, ".yml") && !hm__text_ends(a->machine, ".json");
}

/* Appends the total number of workers if a machine has several, such as " (80 GPUs)". */
static void answer_say_accelerators(struct hm_text *out, const struct hm_answer *a, double n,
                                    double nodes)
{
    const char *noun = answer_names_machine(a) && a->gpus ? "GPU" : "worker";

    if (n < nodes * a->accelerators)
        hm__text_addf(out, " (%.0f of %.0f %ss)", n, nodes * a->accelerators, noun);
    else
        hm__text_addf(out, " (%.0f %s%s)", n, noun, hm__plural(n));
}

/*
 * Appends the numbers of machines of each kind in a mixed cluster, such as "4 x g5.xlarge + 2 x
 * p3.2xlarge".
 */
static void answer_say_mix(struct hm_text *out, const struct hm_answer *a, const struct hm_point *p)
{
    double machines = 0;
    bool any = false;

    for (size_t k = 0; k < a->kind_count; k++) {
        if (!(p->machines[k] > 0))
            continue;
        hm__text_addf(out, "%s%.0f x %s", any ? " + " : "", p->machines[k], a->kinds[k]);
        machines += p->machines[k];
        any = true;
    }
    if (p->n != machines)
        hm__text_addf(out, " (%.0f worker%s)", p->n, hm__plural(p->n));
}

/*
 * Appends the machines of a point of the curve, such as "10 x p4d.24xlarge (80 GPUs)" or "9
 * workers".
 */
static void answer_say_machines(struct hm_text *out, const struct hm_answer *a,
                                const struct hm_point *p)
{
    double nodes = ceil(p->n / a->accelerators);

    if (a->kind_count > 0)
        answer_say_mix(out, a, p);
    else if (answer_names_machine(a))
        hm__text_addf(out, "%.0f x %s", nodes, a->machine);
    else if (a->accelerators > 1)
        hm__text_addf(out, "%.0f node%s", nodes, hm__plural(nodes));
    else
        hm__text_addf(out, "%.0f worker%s", p->n, hm__plural(p->n));
    if (a->accelerators > 1)
        answer_say_accelerators(out, a, p->n, nodes);
    if (a->way.platform == HM_PLATFORM_SERVER && !a->way.colocated)
        hm__text_addf(out, " and %.0f server%s", a->way.servers, hm__plural(a->way.servers));
}

/*
 * Appends the speedup, such as ", 4.14x faster than one"; with weak scaling, adds instead how much
 * more work is done.
 */
static void answer_say_speedup(struct hm_text *out, const struct hm_answer *a,
                               const struct hm_point *p)
{
    char number[HM_SHOWN], reference[HM_SHOWN] = "one";

    if (a->reference != 1)
        snprintf(reference, sizeof(reference), "%.0f", a->reference);
    if (p->n == a->reference)
        return;
    if (a->scaling == HM_SCALING_WEAK)
        hm__text_addf(out, ", %sx the throughput of %s", hm__show_number(p->speedup, number),
                      reference);
    else if (p->speedup >= 1)
        hm__text_addf(out, ", %sx faster than %s", hm__show_number(p->speedup, number), reference);
    else
        hm__text_addf(out, ", %sx slower than %s", hm__show_number(1 / p->speedup, number),
                      reference);
}

/* Appends the time of an iteration in seconds, followed by the text in `what`, such as " an
 * iteration". */
static void answer_say_iteration_time(struct hm_text *out, const struct hm_answer *a,
                                      const struct hm_point *p, const char *what)
{
    char time[HM_SHOWN], range[HM_SHOWN_RANGE];

    hm__text_addf(out, "%s%s", hm__show_time(p->time_s, time), what);
    /* A plan without runs shows the interval on another line, which begins with "how sure". */
    if (p->low_s >= 0 && !a->sheet_kind)
        hm__text_addf(out, " (%s)", hm__show_range(hm__show_time, p->low_s, p->high_s, range));
    answer_say_speedup(out, a, p);
}

/* Writes a rate with three significant digits, such as "6,310,000". */
static const char *show_rate_rounded(double rate, char *text)
{
    double unit = rate > 0 && isfinite(rate) ? pow(10, floor(log10(rate)) - 2) : 1;

    return hm__show_grouped(unit >= 1 ? round(rate / unit) * unit : rate, text);
}

/*
 * Appends the rate at a point of the curve, in samples or tokens per second as in the runs, with
 * its interval.
 */
static void answer_say_unit_rate(struct hm_text *out, const struct hm_answer *a,
                                 const struct hm_point *p)
{
    char rate[HM_SHOWN], low[HM_SHOWN], high[HM_SHOWN];

    hm__text_addf(out, "%s %ss/s", show_rate_rounded(1 / p->time_s, rate), a->unit);
    if (p->low_s > 0)
        hm__text_addf(out, " (%s to %s)", show_rate_rounded(1 / p->high_s, low),
                      show_rate_rounded(1 / p->low_s, high));
    answer_say_speedup(out, a, p);
}

/* Returns the text that follows a time and says what was timed, such as " an iteration". */
static const char *answer_unit_text(const struct hm_answer *a)
{
    return a->unit && a->unit[0] == 'e' ? " an epoch" : " an iteration";
}

/* Returns whether the answer shows rates (samples or tokens per second) instead of times. */
static bool answer_has_rate(const struct hm_answer *a)
{
    return a->unit && a->unit[0] != 'e';
}

void hm__answer_say_time(struct hm_text *out, const struct hm_answer *a, const struct hm_point *p)
{
    if (answer_has_rate(a))
        answer_say_unit_rate(out, a, p);
    else
        answer_say_iteration_time(out, a, p, answer_unit_text(a));
}

/* Returns the number of samples per second at a point of the curve; NaN if the job has no batch. */
static double answer_rate(const struct hm_answer *a, const struct hm_point *p)
{
    return a->batch * (a->scaling == HM_SCALING_WEAK ? p->n : 1) / p->time_s;
}

/*
 * Appends the time and the cost of the whole job at a point of the curve, or the time of an
 * iteration if the length of the job is unknown.
 */
static void answer_say_needs(struct hm_text *out, const struct hm_answer *a,
                             const struct hm_point *p)
{
    bool weak = a->scaling == HM_SCALING_WEAK;
    double rate =
        p == answer_recommended(a) && a->samples_per_s > 0 ? a->samples_per_s : answer_rate(a, p);
    char time[HM_SHOWN], money[HM_SHOWN];

    if (a->whole_job)
        hm__text_addf(out, "%s", hm__show_time(p->total_s, time));
    else if (!weak || !(rate > 0))
        hm__answer_say_time(out, a, p);
    if (weak && rate > 0)
        hm__text_addf(out, "%s%s samples/s", a->whole_job ? ", " : "",
                      hm__show_grouped(rate, money));
    if (a->whole_job && p->cost > 0)
        hm__text_addf(out, ", %s", hm__show_money(p->cost, money));
}

/* Appends the warning that a smaller number of workers would need far fewer machine-hours. */
static void answer_say_costly(struct hm_text *out, const struct hm_answer *a)
{
    char number[HM_SHOWN], time[HM_SHOWN], money[HM_SHOWN];

    if (!(a->knee_hours > COSTLY) || a->goal != HM_GOAL_TIME)
        return;
    const struct hm_point *k = &a->points[a->knee];
    hm__text_addf(out, "; that is %sx the machine-hours of %.0f worker%s, which take%s %s",
                  hm__show_number(a->knee_hours, number), k->n, hm__plural(k->n),
                  k->n == 1 ? "s" : "", hm__show_time(a->whole_job ? k->total_s : k->time_s, time));
    if (a->whole_job && k->cost > 0)
        hm__text_addf(out, " and %s", hm__show_money(k->cost, money));
}

void hm__answer_say_recommended(struct hm_text *out, const struct hm_answer *a)
{
    const struct hm_point *p = answer_recommended(a);

    hm__text_add(out, "Use ");
    answer_say_machines(out, a, p);
    hm__text_add(out, ": ");
    answer_say_needs(out, a, p);
    answer_say_costly(out, a);
    hm__text_add(out, ".");
}

/* ---- the lines below the first -------------------------------------------------------------- */

void hm__answer_say_iteration(struct hm_text *out, const struct hm_answer *a,
                              const struct hm_style *style)
{
    struct hm_text line = {0};

    /*
     * If the length of the job is unknown, the first line already shows the time of an iteration,
     * so it is not repeated.
     */
    if (!a->whole_job && (a->scaling != HM_SCALING_WEAK || !(a->samples_per_s > 0)))
        return;
    answer_say_iteration_time(&line, a, answer_recommended(a), "");
    hm__render_taken_line(out, style, "iteration", &line);
}

/* Appends a number of node-hours, or of node-seconds if the number of hours is small. */
static void say_node_hours(struct hm_text *out, double node_s)
{
    char number[HM_SHOWN];

    if (node_s < 360)
        hm__text_addf(out, "%s node-seconds", hm__show_number(node_s, number));
    else
        hm__text_addf(out, "%s node-hours", hm__show_number(node_s / 3600, number));
}

void hm__answer_say_whole(struct hm_text *out, const struct hm_answer *a,
                          const struct hm_style *style)
{
    const struct hm_point *p = answer_recommended(a);
    struct hm_text line = {0};
    char number[HM_SHOWN], money[HM_SHOWN];

    if (a->whole_job)
        hm__text_addf(&line, "%s iterations, ", hm__show_grouped(ceil(a->iterations), number));
    say_node_hours(&line, p->nodes * p->total_s * (answer_has_rate(a) ? 1e6 : 1));
    if (a->priced)
        hm__text_addf(&line, " for %s", hm__show_money(p->cost, money));
    if (!a->whole_job && a->scaling == HM_SCALING_WEAK)
        hm__text_addf(&line, ", for the samples of an iteration at %.0f", a->reference);
    else if (answer_has_rate(a))
        hm__text_addf(&line, " for a million %ss", a->unit);
    else if (!a->whole_job)
        hm__text_add(&line, answer_unit_text(a));
    hm__render_taken_line(out, style, a->whole_job ? "whole job" : "cost", &line);
}

void hm__answer_say_memory(struct hm_text *out, const struct hm_answer *a,
                           const struct hm_style *style)
{
    const struct hm_point *p = answer_recommended(a);
    double local = a->batch / (a->scaling == HM_SCALING_WEAK ? 1 : p->n);
    struct hm_text line = {0};
    char need[HM_SHOWN], have[HM_SHOWN];

    if (!(p->memory_bytes > 0) || !(a->memory_bytes > 0))
        return;
    hm__text_addf(&line, "%s of %s a worker", hm__show_bytes(p->memory_bytes, need),
                  hm__show_bytes(a->memory_bytes, have));
    if (p->micro_batch > 0 && p->micro_batch < local)
        hm__text_addf(&line, ", in micro-batches of %.0f: %.0f forward passes an iteration",
                      p->micro_batch, ceil(local / p->micro_batch));
    hm__render_taken_line(out, style, "memory", &line);
}

/* Appends one alternative: its machines, its time and its cost. */
static void answer_say_alternative(struct hm_text *out, const struct hm_answer *answer,
                                   const struct hm_style *style, size_t kind)
{
    const struct hm_answer other = hm__answer_of_alternative(answer, kind), *a = &other;
    const struct hm_point *p = &answer->alternatives[kind].point;
    struct hm_text line = {0};
    char money[HM_SHOWN];

    answer_say_machines(&line, a, p);
    hm__text_add(&line, ": ");
    answer_say_needs(&line, a, p);
    if (!a->whole_job && p->cost > 0)
        hm__text_addf(&line, ", %s", hm__show_money(p->cost, money));
    hm__render_taken_line(out, style, hm__alternative_names[kind], &line);
}

/* Returns whether two alternatives have the same number of workers and the same machine. */
static bool alternatives_equal(const struct hm_plan_alternative *x,
                               const struct hm_plan_alternative *y)
{
    bool named = x->machine && y->machine;

    return x->point.n == y->point.n && (!named || strcmp(x->machine, y->machine) == 0) &&
           memcmp(x->point.machines, y->point.machines, sizeof(x->point.machines)) == 0;
}

void hm__answer_say_alternatives(struct hm_text *out, const struct hm_answer *a,
                                 const struct hm_style *style)
{
    const struct hm_plan_alternative *all = a->alternatives;

    if (!all || (alternatives_equal(&all[0], &all[1]) && alternatives_equal(&all[1], &all[2])))
        return;
    for (size_t k = 0; k < HM_ALTERNATIVES; k++)
        answer_say_alternative(out, a, style, k);
}

void hm__answer_say_best(struct hm_text *out, const struct hm_answer *a,
                         const struct hm_style *style)
{
    struct hm_text line = {0};
    char number[HM_SHOWN];

    if (a->best >= a->point_count || a->best == a->recommended)
        return;
    const struct hm_point *b = &a->points[a->best], *p = answer_recommended(a);
    double less = a->goal == HM_GOAL_COST ? 1 - b->nodes * b->total_s / (p->nodes * p->total_s)
                                          : 1 - b->total_s / p->total_s;
    hm__text_addf(&line, "%.0f worker%s", b->n, hm__plural(b->n));
    if (less > 0)
        hm__text_addf(&line, " take%s %s %% less %s", b->n == 1 ? "s" : "",
                      hm__show_count(100 * less, number),
                      a->goal == HM_GOAL_COST ? "money" : "time");
    hm__text_addf(&line, ", for %sx the machine-hours",
                  hm__show_number(b->nodes * b->total_s / (p->nodes * p->total_s), number));
    hm__render_taken_line(out, style, "optimum", &line);
}

/* ---- uncertainty without runs ---------------------------------------------------------------- */

/*
 * Writes the interval for a time, relative to the time itself, as "about ±30 %" or, if it is wide,
 * as "within a factor of 2.1".
 */
static void say_width(struct hm_text *out, const struct hm_style *style, double low, double high)
{
    double half = (high - low) / 2;
    char number[HM_SHOWN];

    if (half < 0.6)
        hm__text_addf(out, "about %s%.0f %%", style->unicode ? "\xc2\xb1" : "+-", 100 * half);
    else
        hm__text_addf(out, "within a factor of %s", hm__show_number(sqrt(high / low), number));
}

/* Appends which runs would narrow the interval, and the commands that execute these runs and use
 * them.
 */
static void say_advised_runs(struct hm_text *out, const struct hm_answer *a,
                             const struct hm_style *style)
{
    static const char *const words[] = {"", "one run", "two runs", "three runs"};
    struct hm_text line = {0};
    char list[64] = "";

    if (a->advised_count == 0 || !(a->advised_within > 0))
        return;
    for (size_t i = 0, used = 0; i < a->advised_count && used < sizeof(list); i++)
        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%.0f", i ? "," : "",
                                 a->advised_n[i]);
    hm__text_addf(&line,
                  "%s of %.0f min (n = %s) would make it %s%.0f %%:", words[a->advised_count],
                  a->advised_run_s / 60, list, style->unicode ? "\xc2\xb1" : "+-",
                  fmax(100 * a->advised_within, 1));
    hm__render_taken_line(out, style, "", &line);
    hm__text_addf(&line, "howmany bench 'COMMAND {n}' -n %s", list);
    hm__render_taken_line(out, style, "", &line);
}

void hm__answer_say_sheet(struct hm_text *out, const struct hm_answer *a,
                          const struct hm_style *style)
{
    const struct hm_point *p = answer_recommended(a);
    struct hm_text line = {0};
    char range[HM_SHOWN_RANGE];

    if (!a->sheet_kind || !(p->low_s > 0))
        return;
    double total = a->whole_job ? p->total_s / p->time_s : 1;
    say_width(&line, style, p->low_s / p->time_s, p->high_s / p->time_s);
    hm__text_addf(&line, ", %s%s (%g %%): the spread of published measurements of %s",
                  hm__show_range(hm__show_time, p->low_s * total, p->high_s * total, range),
                  a->whole_job ? "" : " an iteration", 100 * a->level, a->sheet_kind);
    hm__render_taken_line(out, style, "how sure", &line);
    say_advised_runs(out, a, style);
}
