/* Writes phrases about advice that are used both in its text and in the report of a study. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "advice_render.h"
#include "chance_words.h"

bool hm__advice_asks_loss(const struct hm_advice *a)
{
    return isfinite(a->loss);
}

bool hm__advice_priced(const struct hm_advice *a)
{
    for (size_t i = 0; i < a->candidate_count; i++)
        if (isfinite(a->candidates[i].cost))
            return true;
    return false;
}

bool hm__advice_is_first(const struct hm_advice *a, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(a->candidates[k].algorithm, a->candidates[i].algorithm) == 0)
            return false;
    return true;
}

void hm__say_candidate(struct hm_text *out, const struct hm_candidate *c)
{
    if (*c->algorithm)
        hm__text_addf(out, "%s on ", c->algorithm);
    hm__text_addf(out, "%.0f worker%s", c->m, hm__plural(c->m));
}

static void advice_add_range(struct hm_text *out, const char *(*show)(double, char *), double low,
                             double high)
{
    char range[HM_SHOWN_RANGE];

    if (*hm__show_range(show, low, high, range))
        hm__text_addf(out, " (%s)", range);
}

/* Appends a phrase such as "9.4 iterations of 2.58 ms". */
static void advice_add_iterations(struct hm_text *out, const struct hm_advice *a,
                                  const struct hm_candidate *c)
{
    char count[HM_SHOWN], time[HM_SHOWN];

    if (!isfinite(c->iterations))
        return;
    hm__text_addf(out, ", %s %s%s", hm__show_count(c->iterations, count), a->unit,
                  hm__plural(c->iterations));
    if (isfinite(c->iteration_s))
        hm__text_addf(out, " of %s", hm__show_time(c->iteration_s, time));
}

/* Appends the limits in the question, such as "after 60 s", "for $5.00", or both. */
static void advice_add_limits(struct hm_text *out, const struct hm_advice *a, const char *time_word)
{
    char time[HM_SHOWN], money[HM_SHOWN];

    if (a->within_s > 0)
        hm__text_addf(out, " %s %s", time_word, hm__show_time(a->within_s, time));
    if (a->budget > 0)
        hm__text_addf(out, " for %s", hm__show_money(a->budget, money));
}

static bool advice_ranks_by_cost(const struct hm_advice *a, const struct hm_candidate *c)
{
    return a->goal == HM_GOAL_COST && isfinite(c->cost);
}

void hm__say_outcome(struct hm_text *out, const struct hm_advice *a, const struct hm_candidate *c)
{
    char shown[HM_SHOWN], loss[HM_SHOWN];

    if (!hm__advice_asks_loss(a) && !isfinite(c->loss)) {
        hm__text_add(out, c->iterations < 1 ? "it does not finish one iteration"
                                            : "its loss is not known");
        advice_add_limits(out, a, "within");
    } else if (!hm__advice_asks_loss(a)) {
        hm__text_addf(out, "%s above the best", hm__show_loss(c->loss, loss));
        advice_add_limits(out, a, "after");
        advice_add_range(out, hm__show_loss, c->loss_low, c->loss_high);
    } else if (advice_ranks_by_cost(a, c)) {
        hm__text_addf(out, "%s to %s", hm__show_money(c->cost, shown),
                      hm__show_loss(a->loss, loss));
        advice_add_range(out, hm__show_money, c->cost_low, c->cost_high);
        if (isfinite(c->time_s))
            hm__text_addf(out, ", %s", hm__show_time(c->time_s, shown));
    } else if (isfinite(c->time_s)) {
        hm__text_addf(out, "%s to %s", hm__show_time(c->time_s, shown),
                      hm__show_loss(a->loss, loss));
        advice_add_range(out, hm__show_time, c->low_s, c->high_s);
    } else
        hm__text_addf(out, "it does not reach %s", hm__show_loss(a->loss, loss));
    advice_add_iterations(out, a, c);
}

void hm__say_value(struct hm_text *out, const struct hm_advice *a, const struct hm_candidate *c)
{
    char shown[HM_SHOWN];

    if (!hm__advice_asks_loss(a))
        hm__text_add(out, isfinite(c->loss) ? hm__show_loss(c->loss, shown) : "nothing");
    else if (advice_ranks_by_cost(a, c))
        hm__text_add(out, hm__show_money(c->cost, shown));
    else
        hm__text_add(out, isfinite(c->time_s) ? hm__show_time(c->time_s, shown) : "never");
}

/*
 * Writes a ratio below 10 with two decimals, and any other ratio with three digits: 1.72, 0.60,
 * 12.5.
 */
static const char *advice_show_ratio(double ratio, char *text)
{
    snprintf(text, HM_SHOWN, ratio < 9.995 ? "%.2f" : "%.3g", ratio);
    return text;
}

/*
 * Appends an advantage of a candidate that is worse overall, such as ", although each takes 0.80x
 * as long"; appends nothing if the ratio is not below 1.
 */
static void advice_add_although(struct hm_text *out, double ratio, const char *before,
                                const char *after)
{
    char number[HM_SHOWN];

    if (ratio < 0.995)
        hm__text_addf(out, ", although %s %sx %s", before, advice_show_ratio(ratio, number), after);
}

static void advice_say_factors(struct hm_text *out, const struct hm_advice *a,
                               const struct hm_candidate *c)
{
    const struct hm_candidate *first = &a->candidates[0];
    double more = c->iterations / first->iterations, longer = c->iteration_s / first->iteration_s;
    char number[HM_SHOWN], other[HM_SHOWN];

    if (!isfinite(more) || !isfinite(longer))
        hm__text_add(out, "takes longer");
    else if (c->why == HM_WHY_ITERATION) {
        hm__text_addf(out, "its %ss take %sx as long", a->unit, advice_show_ratio(longer, number));
        advice_add_although(out, more, "it needs", "as many");
    } else if (c->why == HM_WHY_ITERATIONS) {
        hm__text_addf(out, "needs %sx the %ss", advice_show_ratio(more, number), a->unit);
        advice_add_although(out, longer, "each takes", "as long");
    } else
        hm__text_addf(out, "needs %sx the %ss, and each takes %sx as long",
                      advice_show_ratio(more, number), a->unit, advice_show_ratio(longer, other));
}

static void advice_say_limit(struct hm_text *out, const struct hm_advice *a,
                             const struct hm_candidate *c)
{
    if (a->within_s > 0 && c->time_s > a->within_s)
        hm__text_add(out, "takes too long");
    else if (a->budget > 0 && c->cost > a->budget)
        hm__text_add(out, "costs too much");
    else
        hm__text_add(out, "may not reach it within the limits");
}

void hm__say_why(struct hm_text *out, const struct hm_advice *a, const struct hm_candidate *c)
{
    char number[HM_SHOWN];

    switch (c->why) {
    case HM_WHY_BEST:
        hm__text_add(out, "the best");
        break;
    case HM_WHY_ITERATION:
    case HM_WHY_ITERATIONS:
    case HM_WHY_BOTH:
        advice_say_factors(out, a, c);
        break;
    case HM_WHY_PRICE:
        hm__text_addf(out, "costs %sx as much",
                      advice_show_ratio(c->cost / a->candidates[0].cost, number));
        break;
    case HM_WHY_NEVER:
        hm__text_add(out, "does not reach it, as far as the traces show");
        break;
    case HM_WHY_LOSS:
        hm__text_add(out,
                     isfinite(c->loss) ? "reaches a higher loss" : "does not finish one iteration");
        break;
    case HM_WHY_LIMIT:
        advice_say_limit(out, a, c);
        break;
    }
}

void hm__say_headline(struct hm_text *out, const struct hm_advice *a)
{
    char loss[HM_SHOWN];

    if (a->candidate_count && a->feasible) {
        hm__text_add(out, "Use ");
        hm__say_candidate(out, &a->candidates[0]);
        hm__text_add(out, ": ");
        hm__say_outcome(out, a, &a->candidates[0]);
    } else {
        hm__text_add(out, "Nothing ");
        if (hm__advice_asks_loss(a))
            hm__text_addf(out, "reaches %s", hm__show_loss(a->loss, loss));
        else
            hm__text_add(out, "finishes one iteration");
        advice_add_limits(out, a, "within");
        if (a->certainty > 0)
            hm__text_addf(out, " with a probability of %g %%", 100 * a->certainty);
        if (!(a->within_s > 0) && !(a->budget > 0))
            hm__text_add(out, ", as far as the traces show");
    }
    hm__text_add(out, ".");
}

void hm__say_sure(struct hm_text *out, const struct hm_advice *a)
{
    char chance[HM_SHOWN];

    if (!isfinite(a->near))
        return;
    hm__text_addf(out, "%s sure to be within a tenth of the best",
                  hm__show_chance(a->near, chance));
    if (isfinite(a->right_algorithm) && a->candidate_count && *a->candidates[0].algorithm)
        hm__text_addf(out, "; %s is the right algorithm with %s", a->candidates[0].algorithm,
                      hm__show_chance(a->right_algorithm, chance));
}

void hm__say_leads(struct hm_text *out, const struct hm_advice *a)
{
    char loss[HM_SHOWN];

    for (size_t i = 0; i < a->lead_count; i++) {
        const struct hm_lead *l = &a->leads[i];
        bool last = i + 1 == a->lead_count;
        hm__text_addf(out, "%s%s%s%.0f", i ? ", then " : "", l->algorithm,
                      *l->algorithm ? " on " : "", l->m);
        if (!last)
            hm__text_addf(out, " until %s", hm__show_loss(l->to, loss));
    }
}

void hm__say_schedule(struct hm_text *out, const struct hm_advice *a)
{
    const struct hm_schedule *s = a->schedule;
    char loss[HM_SHOWN], time[HM_SHOWN];

    if (!s)
        return;
    if (s->phase_count <= 1) {
        hm__text_add(out, "changing the number of workers during the run gains nothing");
        return;
    }
    hm__text_addf(out, "%s%s%.0f worker%s", s->algorithm, *s->algorithm ? " on " : "",
                  s->phases[0].m, hm__plural(s->phases[0].m));
    for (size_t i = 1; i < s->phase_count; i++)
        hm__text_addf(out, ", %.0f from %s on", s->phases[i].m,
                      hm__show_loss(s->phases[i].from, loss));
    hm__text_addf(out, ": %s, %.0f %% less than with the best fixed number",
                  hm__show_time(s->time_s, time), 100 * s->gain);
    if (isfinite(s->gain_low) && isfinite(s->gain_high))
        hm__text_addf(out, " (%.0f %% to %.0f %%)", 100 * s->gain_low, 100 * s->gain_high);
}

void hm__say_next_run(struct hm_text *out, const struct hm_advice *a)
{
    const struct hm_next_run *n = &a->next;
    char shown[HM_SHOWN];

    if (!n->algorithm) {
        hm__text_add(out, "no further run is expected to change this");
        return;
    }
    hm__text_addf(out, "a run of %s%s%.0f worker%s (", n->algorithm, *n->algorithm ? " on " : "",
                  n->m, hm__plural(n->m));
    if (isfinite(n->time_s))
        hm__text_add(out, hm__show_time(n->time_s, shown));
    else
        hm__text_addf(out, "%s %ss", hm__show_count(n->iterations, shown), a->unit);
    hm__text_add(out, "): it is expected to ");
    if (!hm__advice_asks_loss(a))
        hm__text_addf(out, "lower the loss by %.2g %%", 100 * -expm1(-n->saves));
    else
        hm__text_addf(out, "save %s",
                      a->goal == HM_GOAL_COST && hm__advice_priced(a)
                          ? hm__show_money(n->saves, shown)
                          : hm__show_time(n->saves, shown));
}

void hm__say_beyond(struct hm_text *out, const struct hm_advice *a)
{
    const struct hm_candidate *c = a->candidates;
    char number[HM_SHOWN];

    if (a->candidate_count == 0)
        return;
    if (c->beyond_m > 1)
        hm__text_addf(out, "%.0f worker%s: %s times outside what was measured", c->m,
                      hm__plural(c->m), hm__show_count(c->beyond_m, number));
    else if (!c->measured)
        hm__text_addf(out, "no trace of %.0f worker%s: predicted from traces of fewer and more",
                      c->m, hm__plural(c->m));
    if (c->beyond_i > 1)
        hm__text_addf(out, "%s%s times the %ss of the longest trace", out->length ? "; " : "",
                      hm__show_count(c->beyond_i, number), a->unit);
}
