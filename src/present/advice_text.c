/*
 * Renders advice as human-readable text: the algorithm and the number of workers, how certain the
 * choice is, why other candidates are worse, and the run that would improve the advice most.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "advice_render.h"
#include "chance_words.h"

/*
 * The spread of the times of single iterations is shown if the 95th percentile is more than this
 * multiple of the 5th percentile.
 */
static const double SPREAD_SHOWN = 1.02;

typedef void (*advice_phrase)(struct hm_text *out, const struct hm_advice *advice);

/* Appends a line "label   phrase" if the phrase is not empty. */
static void advice_add_line(struct hm_text *out, const struct hm_advice *a,
                            const struct hm_style *style, const char *label, advice_phrase phrase)
{
    struct hm_text line = {0};

    phrase(&line, a);
    if (line.length || line.failed)
        hm__render_taken_line(out, style, label, &line);
}

static void advice_say_cost(struct hm_text *out, const struct hm_advice *a)
{
    const struct hm_candidate *c = a->candidates;
    char money[HM_SHOWN], range[HM_SHOWN_RANGE];

    if (a->candidate_count == 0 || !isfinite(c->cost))
        return;
    hm__text_add(out, hm__show_money(c->cost, money));
    if (*hm__show_range(hm__show_money, c->cost_low, c->cost_high, range))
        hm__text_addf(out, " (%s)", range);
}

static void advice_say_nearest(struct hm_text *out, const struct hm_advice *a)
{
    const struct hm_candidate *c = a->candidates;
    char chance[HM_SHOWN];

    if (a->candidate_count == 0)
        return;
    hm__say_candidate(out, c);
    hm__text_add(out, ": ");
    hm__say_outcome(out, a, c);
    if (isfinite(c->reaches))
        hm__text_addf(out, "; it succeeds with a probability of %s",
                      hm__show_chance(c->reaches, chance));
}

/*
 * Appends how much the times of single iterations of the recommended candidate vary: their 5th and
 * 95th percentiles. Appends nothing if the ratio of the two is below SPREAD_SHOWN.
 */
static void advice_say_spread(struct hm_text *out, const struct hm_advice *a)
{
    const struct hm_candidate *c = a->candidates;
    char low[HM_SHOWN], high[HM_SHOWN];

    if (a->candidate_count == 0 || !(c->iteration_p95_s > SPREAD_SHOWN * c->iteration_p5_s))
        return;
    hm__text_addf(out, "90 %% of its %ss take %s to %s", a->unit,
                  hm__show_time(c->iteration_p5_s, low), hm__show_time(c->iteration_p95_s, high));
}

/*
 * Appends the probability that the recommended candidate reaches the target loss within the limits.
 */
static void advice_say_limits_met(struct hm_text *out, const struct hm_advice *a)
{
    if (a->candidate_count == 0 || !(a->certainty > 0))
        return;
    const struct hm_limits_met limits = {.deadline_s = a->within_s,
                                         .budget = a->budget,
                                         .meets = a->candidates[0].reaches,
                                         .certainty = a->certainty};
    hm__say_limits_met(out, &limits);
}

/* Appends a phrase such as "cocoa on 4 workers, 34.9 ms: needs 1.80x the iterations". */
static void advice_say_rival(struct hm_text *out, const struct hm_advice *a,
                             const struct hm_candidate *c)
{
    hm__say_candidate(out, c);
    if (c->why != HM_WHY_NEVER) {
        hm__text_add(out, ", ");
        hm__say_value(out, a, c);
    }
    hm__text_add(out, ": ");
    hm__say_why(out, a, c);
}

/* Appends the second-best candidate, and the best candidate of each other algorithm. */
static void advice_add_rivals(struct hm_text *out, const struct hm_advice *a,
                              const struct hm_style *style)
{
    const char *label = "others";
    struct hm_text line = {0};

    if (a->candidate_count > 1 && a->candidates[1].why != HM_WHY_NEVER) {
        advice_say_rival(&line, a, &a->candidates[1]);
        hm__render_taken_line(out, style, "next", &line);
    }
    for (size_t i = 1; i < a->candidate_count; i++) {
        if (!hm__advice_is_first(a, i) || (i == 1 && a->candidates[1].why != HM_WHY_NEVER))
            continue;
        advice_say_rival(&line, a, &a->candidates[i]);
        hm__render_taken_line(out, style, label, &line);
        label = "";
    }
}

/*
 * Returns the smallest number of workers larger than `above` for which the algorithm never reaches
 * the target loss; INFINITY if there is none.
 */
static double advice_next_never(const struct hm_advice *a, const char *algorithm, double above)
{
    double least = INFINITY;

    for (size_t i = 0; i < a->candidate_count; i++) {
        const struct hm_candidate *c = &a->candidates[i];
        if (c->why == HM_WHY_NEVER && c->m > above && strcmp(c->algorithm, algorithm) == 0)
            least = fmin(least, c->m);
    }
    return least;
}

/*
 * Appends the candidates that never reach the target loss, by algorithm, such as "cocoa on 32, 64;
 * gd on 16".
 */
static void advice_say_never(struct hm_text *out, const struct hm_advice *a)
{
    for (size_t i = 0; i < a->candidate_count; i++) {
        const char *name = a->candidates[i].algorithm;
        double m = advice_next_never(a, name, 0);
        if (!hm__advice_is_first(a, i) || isinf(m))
            continue;
        hm__text_addf(out, "%s%s%s%.0f", out->length ? "; " : "", name, *name ? " on " : "", m);
        while (isfinite(m = advice_next_never(a, name, m)))
            hm__text_addf(out, ", %.0f", m);
    }
}

static void advice_say_several_leads(struct hm_text *out, const struct hm_advice *a)
{
    if (a->lead_count > 1)
        hm__say_leads(out, a);
}

void hm__render_advice_text(struct hm_text *out, const struct hm_advice *a,
                            const struct hm_style *style)
{
    struct hm_text line = {0};

    hm__say_headline(&line, a);
    hm__render_headline(out, style, &line);
    if (!a->feasible)
        advice_add_line(out, a, style, "nearest miss", advice_say_nearest);
    if (a->feasible)
        advice_add_line(out, a, style, "limits", advice_say_limits_met);
    if (a->feasible)
        advice_add_line(out, a, style, "how sure", hm__say_sure);
    advice_add_line(out, a, style, "spread", advice_say_spread);
    if (a->goal != HM_GOAL_COST || !hm__advice_asks_loss(a))
        advice_add_line(out, a, style, "cost", advice_say_cost);
    advice_add_line(out, a, style, "beyond", hm__say_beyond);
    advice_add_rivals(out, a, style);
    advice_add_line(out, a, style, "never", advice_say_never);
    advice_add_line(out, a, style, "ahead", advice_say_several_leads);
    advice_add_line(out, a, style, "schedule", hm__say_schedule);
    advice_add_line(out, a, style, "would help", hm__say_next_run);
    hm__render_notes(out, a->notes, a->note_count, style);
}

/* ---- the table ------------------------------------------------------------------------------ */

enum { NAME_MAX_SHOWN = 16 };

static int advice_name_width(const struct hm_advice *a)
{
    size_t widest = 9;

    for (size_t i = 0; i < a->candidate_count; i++)
        if (hm__text_columns(a->candidates[i].algorithm) > widest)
            widest = hm__text_columns(a->candidates[i].algorithm);
    return widest < NAME_MAX_SHOWN ? (int)widest : NAME_MAX_SHOWN;
}

/* Appends the quantity by which candidates are ranked (time or loss), and its interval. */
static void advice_add_ranked(struct hm_text *out, const struct hm_advice *a,
                              const struct hm_candidate *c)
{
    char shown[HM_SHOWN], range[HM_SHOWN_RANGE];

    if (!hm__advice_asks_loss(a))
        hm__text_addf(out, " %9s  %-18s", isfinite(c->loss) ? hm__show_loss(c->loss, shown) : "",
                      hm__show_range(hm__show_loss, c->loss_low, c->loss_high, range));
    else if (isfinite(c->time_s))
        hm__text_addf(out, " %9s  %-18s", hm__show_time(c->time_s, shown),
                      hm__show_range(hm__show_time, c->low_s, c->high_s, range));
    else
        hm__text_addf(out, " %9s  %-18s", "never", "");
}

static void advice_add_row(struct hm_text *out, const struct hm_advice *a,
                           const struct hm_candidate *c, int width, bool priced)
{
    char shown[HM_SHOWN];

    hm__render_cell(out, c->algorithm, (size_t)width);
    hm__text_addf(out, " %5.0f%s", c->m, c->measured ? "*" : " ");
    hm__text_addf(out, " %10s",
                  isfinite(c->iterations) ? hm__show_count(c->iterations, shown) : "");
    if (!priced)
        hm__text_addf(out, " %9s",
                      isfinite(c->iteration_s) ? hm__show_time(c->iteration_s, shown) : "");
    advice_add_ranked(out, a, c);
    if (priced)
        hm__text_addf(out, " %8s", isfinite(c->cost) ? hm__show_money(c->cost, shown) : "");
    if (isfinite(c->probability))
        hm__text_addf(out, " %3.0f %%", fmin(100 * c->probability, 99));
    hm__text_end_line(out);
}

void hm__render_advice_table(struct hm_text *out, const struct hm_advice *a,
                             const struct hm_style *style)
{
    bool priced = hm__advice_priced(a), measured = false;
    int width = advice_name_width(a);
    char interval[32], each[32], several[32];

    snprintf(interval, sizeof(interval), "%g %% interval", 100 * a->level);
    snprintf(each, sizeof(each), "%.9s", a->unit ? a->unit : "iteration");
    snprintf(several, sizeof(several), "%.9ss", a->unit ? a->unit : "iteration");
    hm__text_addf(out, "\n%s%-*s %5s  %10s", hm__render_dim(style, true), width, "algorithm", "m",
                  several);
    if (!priced)
        hm__text_addf(out, " %9s", each);
    hm__text_addf(out, " %9s  %-18s", hm__advice_asks_loss(a) ? "time" : "loss", interval);
    if (priced)
        hm__text_addf(out, " %8s", "cost");
    hm__text_addf(out, "  best%s\n", hm__render_dim(style, false));
    for (size_t i = 0; i < a->candidate_count; i++) {
        advice_add_row(out, a, &a->candidates[i], width, priced);
        measured = measured || a->candidates[i].measured;
    }
    if (measured)
        hm__text_add(out, "* measured\n");
}
