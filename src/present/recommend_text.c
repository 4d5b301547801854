/*
 * Renders a recommendation as human-readable text: the number of workers, which runs it is based
 * on, how certain it is, the other candidates, and the run that would improve it most.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "chance_words.h"
#include "recommend_render.h"

static void recommendation_say_workers(struct hm_text *out, double n)
{
    hm__text_addf(out, "%g worker%s", n, hm__plural(n));
}

/* Appends the time and the cost of a candidate, such as "2.18 min, $0.12". */
static void recommendation_say_outcome(struct hm_text *out, const struct hm_recommended *c)
{
    char shown[HM_SHOWN];

    hm__text_add(out, hm__show_time(c->time_s, shown));
    if (isfinite(c->cost))
        hm__text_addf(out, ", %s", hm__show_money(c->cost, shown));
}

static void recommendation_say_headline(struct hm_text *out, const struct hm_recommendation *r)
{
    const struct hm_recommended *c;
    char shown[HM_SHOWN_RANGE], level[32];

    if (r->missed)
        hm__text_addf(out, "Nothing meets the %s", r->missed);
    if (r->missed && r->candidate_count > 0 && !isnan(r->candidates[0].meets))
        hm__text_addf(out, " with a probability of %g %%", 100 * r->certainty);
    if (r->missed)
        hm__text_add(out, ".");
    else if (r->best >= r->candidate_count)
        hm__text_add(out, r->provenance == HM_RECOMMEND_NONE ? "Cannot tell yet."
                                                             : "Nothing to recommend.");
    if (r->best >= r->candidate_count)
        return;
    c = &r->candidates[r->recommended];
    hm__text_add(out, "Use ");
    recommendation_say_workers(out, c->n);
    hm__text_addf(out, ": %s", hm__show_time(c->time_s, shown));
    if (*hm__show_range(hm__show_time, c->low_s, c->high_s, shown)) {
        snprintf(level, sizeof(level), "%g %%", 100 * r->level);
        hm__text_addf(out, ", %s (%s)", shown, level);
    }
    if (isfinite(c->cost))
        hm__text_addf(out, ", for %s", hm__show_money(c->cost, shown));
    hm__text_add(out, ".");
}

enum { OTHERS_SHOWN = 5 };

/*
 * Appends the best candidate if it is not the recommended candidate, such as "4 workers 8.21 min".
 */
static void recommendation_say_best(struct hm_text *out, const struct hm_recommendation *r)
{
    if (r->best >= r->candidate_count || r->best == r->recommended)
        return;
    recommendation_say_workers(out, r->candidates[r->best].n);
    hm__text_add(out, " ");
    recommendation_say_outcome(out, &r->candidates[r->best]);
}

/*
 * Appends a warning if all runs used a single node, so that nothing is known about the network
 * between nodes.
 */
static void recommendation_say_one_node(struct hm_text *out, const struct hm_recommendation *r,
                                        const struct hm_style *style)
{
    struct hm_text line = {0};

    if (isnan(r->one_node))
        return;
    hm__say_one_node(&line, r->one_node);
    hm__render_taken(out, style, &line, 2);
}

/*
 * Appends the candidates that are neither recommended nor best and did not fail, such as "3 workers
 * 8.38 min; 2 workers 12.8 min".
 */
static void recommendation_say_others(struct hm_text *out, const struct hm_recommendation *r)
{
    size_t said = 0, more = 0;

    for (size_t i = 0; i < r->candidate_count; i++) {
        const struct hm_recommended *c = &r->candidates[i];
        if (c->failed || i == r->recommended || i == r->best)
            continue;
        if (said == OTHERS_SHOWN) {
            more++;
            continue;
        }
        hm__text_add(out, said++ ? "; " : "");
        recommendation_say_workers(out, c->n);
        hm__text_add(out, " ");
        recommendation_say_outcome(out, c);
        if (!c->feasible && !r->missed)
            hm__text_add(out, " (over the limit)");
    }
    if (more)
        hm__text_addf(out, "; %zu more", more);
}

static void recommendation_say_failed(struct hm_text *out, const struct hm_recommendation *r)
{
    size_t said = 0, more = 0;

    for (size_t i = 0; i < r->candidate_count; i++) {
        const struct hm_recommended *c = &r->candidates[i];
        if (!c->failed)
            continue;
        if (said == OTHERS_SHOWN) {
            more++;
            continue;
        }
        hm__text_add(out, said++ ? "; " : "");
        recommendation_say_workers(out, c->n);
        hm__text_addf(out, ": %s", c->why ? c->why : "failed");
    }
    if (more)
        hm__text_addf(out, "; %zu more", more);
}

/*
 * Appends the proposed run and the reason for it, such as "a run of 3 workers with batch 6400,
 * latency 20.0 ms: REASON".
 */
static void recommendation_say_next(struct hm_text *out, const struct hm_recommendation *r)
{
    char shown[HM_SHOWN];

    if (r->next_count == 0)
        return;
    hm__text_add(out, "a run of ");
    recommendation_say_workers(out, r->next[0].value);
    for (size_t i = 1; i < r->next_count; i++) {
        const struct hm_at *at = &r->next[i];
        hm__text_addf(out, "%s%s ", i == 1 ? " with " : ", ", at->name);
        if (strcmp(at->name, "latency") == 0)
            hm__text_add(out, hm__show_time(at->value, shown));
        else if (strcmp(at->name, "bandwidth") == 0)
            hm__text_add(out, hm__show_rate(at->value, shown));
        else
            hm__text_addf(out, "%.6g", at->value);
    }
    if (r->next_why)
        hm__text_addf(out, ": %s", r->next_why);
}

static void recommendation_say_sure(struct hm_text *out, const struct hm_recommendation *r)
{
    const struct hm_near_best sure = {.near = r->sure_near,
                                      .slack = r->slack,
                                      .low = r->n_low,
                                      .high = r->n_high,
                                      .level = r->level,
                                      .most = NAN};

    hm__say_near_best(out, &sure);
}

/*
 * Appends the probability that the recommended candidate meets the limits or, if no candidate is
 * recommended, the probability for the one that comes closest to them.
 */
static void recommendation_say_limits(struct hm_text *out, const struct hm_recommendation *r)
{
    struct hm_text phrase = {0};

    if (r->candidate_count == 0)
        return;
    size_t shown = r->recommended < r->candidate_count ? r->recommended : 0;
    const struct hm_limits_met limits = {.deadline_s = r->deadline_s,
                                         .budget = r->budget,
                                         .meets = r->candidates[shown].meets,
                                         .certainty = r->certainty};
    hm__say_limits_met(&phrase, &limits);
    if (phrase.length && r->missed) {
        recommendation_say_workers(out, r->candidates[0].n);
        hm__text_add(out, " ");
    }
    hm__text_add(out, phrase.data ? phrase.data : "");
    out->failed = out->failed || phrase.failed;
    hm__text_release(&phrase);
}

typedef void (*recommendation_phrase)(struct hm_text *out, const struct hm_recommendation *r);

/* Appends a line "label   phrase" if the phrase is not empty. */
static void recommendation_add_line(struct hm_text *out, const struct hm_recommendation *r,
                                    const struct hm_style *style, const char *label,
                                    recommendation_phrase phrase)
{
    struct hm_text line = {0};

    phrase(&line, r);
    if (line.length || line.failed)
        hm__render_taken_line(out, style, label, &line);
    else
        hm__text_release(&line);
}

static bool recommendation_has_cost(const struct hm_recommendation *r)
{
    for (size_t i = 0; i < r->candidate_count; i++)
        if (isfinite(r->candidates[i].cost))
            return true;
    return false;
}

static void recommendation_add_table(struct hm_text *out, const struct hm_recommendation *r,
                                     const struct hm_style *style)
{
    char shown[HM_SHOWN], range[HM_SHOWN_RANGE], interval[40];
    bool cost = recommendation_has_cost(r);

    snprintf(interval, sizeof(interval), "%g %% interval", 100 * r->level);
    hm__text_addf(out, "\n%s%6s %10s  %-24s%s %5s", hm__render_dim(style, true), "n", "time",
                  interval, cost ? "      cost" : "", "runs");
    hm__text_addf(out, "%s\n", hm__render_dim(style, false));
    for (size_t i = 0; i < r->candidate_count; i++) {
        const struct hm_recommended *c = &r->candidates[i];
        hm__text_addf(out, "%6g %10s  %-24s", c->n,
                      isfinite(c->time_s) ? hm__show_time(c->time_s, shown) : "",
                      hm__show_range(hm__show_time, c->low_s, c->high_s, range));
        if (cost)
            hm__text_addf(out, " %9s", isfinite(c->cost) ? hm__show_money(c->cost, shown) : "");
        hm__text_addf(out, " %5zu", c->row_count);
        if (c->failed)
            hm__text_addf(out, "  %s", c->why ? c->why : "failed");
        else if (!c->feasible)
            hm__text_add(out, "  over the limit");
        hm__text_end_line(out);
    }
}

void hm__render_recommendation_text(struct hm_text *out, const struct hm_recommendation *r,
                                    const struct hm_style *style)
{
    struct hm_text line = {0};

    recommendation_say_headline(&line, r);
    hm__render_headline(out, style, &line);
    recommendation_say_one_node(out, r, style);
    if (r->reason)
        hm__render_line(out, style, "from", r->reason);
    recommendation_add_line(out, r, style, "how sure", recommendation_say_sure);
    recommendation_add_line(out, r, style, "optimum", recommendation_say_best);
    recommendation_add_line(out, r, style, r->missed ? "nearest" : "others",
                            recommendation_say_others);
    recommendation_add_line(out, r, style, "limits", recommendation_say_limits);
    recommendation_add_line(out, r, style, "fails", recommendation_say_failed);
    recommendation_add_line(out, r, style, "would help", recommendation_say_next);
    hm__render_notes(out, r->notes, r->note_count, style);
    if (style->table && r->candidate_count > 0)
        recommendation_add_table(out, r, style);
}
