/*
 * Renders an answer as human-readable text: first the number of workers, then what limits the
 * speed, then what would change the answer. This file also contains the functions for wrapped
 * lines, labels and notes, which all text renderers use.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer_headline.h"
#include "chance_words.h"
#include "format.h"
#include "names.h"

enum { LABEL_COLUMNS = 15, NARROWEST = 40 };

void hm__render_cell(struct hm_text *out, const char *text, size_t width)
{
    hm__text_repeat(out, " ", width - hm__text_cut(out, text, width));
}

const char *hm__render_bold(const struct hm_style *style, bool on)
{
    return !style->colour ? "" : on ? "\033[1m" : "\033[0m";
}

const char *hm__render_dim(const struct hm_style *style, bool on)
{
    return !style->colour ? "" : on ? "\033[2m" : "\033[0m";
}

void hm__render_wrapped(struct hm_text *out, const struct hm_style *style, const char *text,
                        size_t indent)
{
    size_t width = style->width > NARROWEST ? style->width : NARROWEST, column = indent;
    bool first = true;

    while (*text) {
        char word[256];
        size_t length = strcspn(text, " ");
        snprintf(word, sizeof(word), "%.*s", (int)length, text);
        size_t columns = hm__text_columns(word);
        if (!first && column + 1 + columns > width) {
            hm__text_add(out, "\n");
            hm__text_repeat(out, " ", indent);
            column = indent;
        } else if (!first) {
            hm__text_add(out, " ");
            column++;
        }
        hm__text_add_n(out, text, length);
        column += columns;
        first = false;
        text += length;
        text += strspn(text, " ");
    }
}

void hm__render_line(struct hm_text *out, const struct hm_style *style, const char *label,
                     const char *text)
{
    size_t pad = hm__text_columns(label) + 2 < LABEL_COLUMNS
                     ? LABEL_COLUMNS - 2 - hm__text_columns(label)
                     : 1;

    hm__text_addf(out, "  %s%s%s", *label ? hm__render_dim(style, true) : "", label,
                  *label ? hm__render_dim(style, false) : "");
    hm__text_repeat(out, " ", pad);
    hm__render_wrapped(out, style, text, LABEL_COLUMNS);
    hm__text_add(out, "\n");
}

void hm__render_taken(struct hm_text *out, const struct hm_style *style, struct hm_text *text,
                      size_t indent)
{
    hm__render_wrapped(out, style, text->data ? text->data : "", indent);
    hm__text_add(out, "\n");
    out->failed = out->failed || text->failed;
    hm__text_release(text);
}

void hm__render_taken_line(struct hm_text *out, const struct hm_style *style, const char *label,
                           struct hm_text *text)
{
    hm__render_line(out, style, label, text->data ? text->data : "");
    out->failed = out->failed || text->failed;
    hm__text_release(text);
}

void hm__render_headline(struct hm_text *out, const struct hm_style *style, struct hm_text *text)
{
    hm__text_add(out, hm__render_bold(style, true));
    hm__render_wrapped(out, style, text->data ? text->data : "", 0);
    hm__text_addf(out, "%s\n", hm__render_bold(style, false));
    out->failed = out->failed || text->failed;
    hm__text_release(text);
}

void hm__render_notes(struct hm_text *out, const char *const *notes, size_t count,
                      const struct hm_style *style)
{
    for (size_t i = 0; i < count; i++)
        hm__render_line(out, style, i ? "" : "note", notes[i]);
}

/*
 * Appends the probability that the recommended number of workers is nearly as good as the best,
 * which depends on how precisely the runs determine the curve.
 */
static void answer_say_sure(struct hm_text *out, const struct hm_answer *a,
                            const struct hm_style *style)
{
    const struct hm_near_best sure = {.near = a->sure_near,
                                      .slack = a->slack,
                                      .low = a->n_low,
                                      .high = a->n_high,
                                      .level = a->level,
                                      .most = a->points[a->point_count - 1].n};
    struct hm_text line = {0};

    hm__say_near_best(&line, &sure);
    if (line.length || line.failed)
        hm__render_taken_line(out, style, "how sure", &line);
}

/*
 * Appends the probability that the recommended point meets the limits or, if no point meets them,
 * the probability for the point that comes closest to them.
 */
static void answer_say_limits_met(struct hm_text *out, const struct hm_answer *a,
                                  const struct hm_style *style)
{
    bool work = a->missed && strcmp(a->missed, "work") == 0;
    size_t at = a->status == HM_STATUS_OK ? a->recommended : a->nearest;
    struct hm_text line = {0};

    if (at >= a->point_count || work)
        return;
    const struct hm_limits_met limits = {.deadline_s = a->question.deadline_s,
                                         .budget = a->question.budget,
                                         .meets = a->points[at].meets,
                                         .certainty = a->certainty};
    hm__say_limits_met(&line, &limits);
    if (line.length || line.failed)
        hm__render_taken_line(out, style, a->status == HM_STATUS_OK ? "limits" : "", &line);
}

static void answer_say_limit(struct hm_text *out, const struct hm_answer *a,
                             const struct hm_style *style)
{
    struct hm_text line = {0};
    const double chosen = a->recommended < a->point_count ? a->points[a->recommended].n : NAN;
    char other[48] = "";

    if (a->limit_n != chosen)
        snprintf(other, sizeof(other), " of %.0f workers", a->limit_n);
    if (a->limit == HM_LIMIT_MEMORY || a->limit == HM_LIMIT_BATCH)
        hm__text_addf(&line, "%s: %s", hm_limit_name(a->limit), a->why ? a->why : "");
    else
        hm__text_addf(&line, "%s (%.0f %% of the step%s)%s%s", hm_limit_name(a->limit),
                      100 * a->limit_share, other, a->limit == HM_LIMIT_COMPUTE ? "" : ": ",
                      a->limit == HM_LIMIT_COMPUTE || !a->why ? "" : a->why);
    hm__render_taken_line(out, style, "limited by", &line);
}

static void answer_say_knee(struct hm_text *out, const struct hm_answer *a,
                            const struct hm_style *style)
{
    struct hm_text line = {0};
    char number[HM_SHOWN];

    if (a->knee >= a->point_count || a->knee == a->recommended)
        return;
    const struct hm_point *k = &a->points[a->knee], *b = &a->points[a->recommended];
    double cost = k->nodes * k->total_s / (b->nodes * b->total_s);
    double speed = b->total_s / k->total_s;
    if (speed <= 1)
        hm__text_addf(&line, "%.0f worker%s reach%s %.0f %% of that speed at %.0f %% of the cost",
                      k->n, hm__plural(k->n), k->n == 1 ? "es" : "", 100 * speed, 100 * cost);
    else
        hm__text_addf(&line, "%.0f workers are %sx as fast at %.0f %% of the cost", k->n,
                      hm__show_number(speed, number), 100 * cost);
    hm__render_taken_line(out, style, "knee", &line);
}

static void answer_say_range(struct hm_text *out, const struct hm_answer *a,
                             const struct hm_style *style)
{
    struct hm_text line = {0};
    char number[HM_SHOWN];

    if (a->plateau_to > a->plateau_from) {
        hm__text_addf(&line, "%.0f to %.0f workers are within 5 %% of the best %s", a->plateau_from,
                      a->plateau_to, hm__goal_name(a->goal));
        hm__render_taken_line(out, style, "as good", &line);
    }
    if (a->beyond_n > 0) {
        hm__text_addf(&line, "%.0f workers would reach %sx", a->beyond_n,
                      hm__show_number(a->beyond_speedup, number));
        hm__render_taken_line(out, style, "beyond", &line);
    } else if (a->at_ceiling) {
        hm__text_addf(&line,
                      "%.0f workers are the most that were considered; more may be faster: raise "
                      "max_n",
                      a->points[a->best].n);
        hm__render_taken_line(out, style, "ceiling", &line);
    }
    hm__text_release(&line);
}

static void answer_say_help(struct hm_text *out, const struct hm_answer *a,
                            const struct hm_style *style)
{
    const char *label = "would help";

    for (size_t i = 0; i < a->help_count; i++) {
        const struct hm_help *h = &a->help[i];
        struct hm_text line = {0};
        char time[HM_SHOWN], gain[HM_SHOWN];
        if (h->gain < 1.02)
            continue;
        hm__text_addf(&line, "%s %s %.0f worker%s, %s an iteration: %sx the speed", h->what,
                      style->unicode ? "\xe2\x86\x92" : "->", h->n, hm__plural(h->n),
                      hm__show_time(h->time_s, time), hm__show_number(h->gain, gain));
        hm__render_taken_line(out, style, label, &line);
        label = "";
    }
}

static void answer_say_point(struct hm_text *out, const struct hm_answer *a,
                             const struct hm_style *style, const char *label,
                             const struct hm_point *p, const char *lead)
{
    struct hm_text line = {0};
    char time[HM_SHOWN], money[HM_SHOWN];

    hm__text_addf(&line, "%s%.0f worker%s: ", lead, p->n, hm__plural(p->n));
    hm__answer_say_time(&line, a, p);
    if (a->whole_job)
        hm__text_addf(&line, "; %s in all", hm__show_time(p->total_s, time));
    if (p->cost >= 0)
        hm__text_addf(&line, ", %s", hm__show_money(p->cost, money));
    hm__render_taken_line(out, style, label, &line);
}

/* Appends the points that have the speedup `faster` and do the increased work `work`, if the
 * question asks for them. */
static void answer_say_factors(struct hm_text *out, const struct hm_answer *a,
                               const struct hm_style *style)
{
    char lead[64], number[HM_SHOWN];

    if (a->faster < a->point_count) {
        snprintf(lead, sizeof(lead),
                 "to be %sx faster: ", hm__show_number(a->question.faster, number));
        answer_say_point(out, a, style, "faster", &a->points[a->faster], lead);
    }
    if (a->work != HM_NONE && a->work_points) {
        snprintf(lead, sizeof(lead), "for %sx the work in the time of %.0f: ",
                 hm__show_number(a->question.work, number), a->reference);
        answer_say_point(out, a, style, "more work", &a->work_points[a->work], lead);
    }
}

/* Appends a line for the deadline and one for the budget in the question, with the point that meets
 * it. */
static void answer_say_asked(struct hm_text *out, const struct hm_answer *a,
                             const struct hm_style *style)
{
    if (a->in_deadline < a->point_count && a->in_deadline != a->recommended)
        answer_say_point(out, a, style, "in time", &a->points[a->in_deadline], "cheapest: ");
    if (a->in_budget < a->point_count && a->in_budget != a->recommended)
        answer_say_point(out, a, style, "in budget", &a->points[a->in_budget], "fastest: ");
}

static void answer_say_miss(struct hm_text *out, const struct hm_answer *a,
                            const struct hm_style *style)
{
    bool work = a->missed && strcmp(a->missed, "work") == 0;
    struct hm_text line = {0};
    char number[HM_SHOWN];

    if (!a->missed ||
        (work ? !a->work_points || a->nearest == HM_NONE : a->nearest >= a->point_count))
        return;
    const struct hm_point *p = work ? &a->work_points[a->nearest] : &a->points[a->nearest];
    hm__show_number(a->nearest_gap, number);
    if (a->nearest_gap > 1 && isfinite(a->nearest_gap) && a->status == HM_STATUS_UNREACHED)
        hm__text_addf(&line, "%sx over: ", number);
    answer_say_point(out, a, style, a->status == HM_STATUS_UNREACHED ? "nearest miss" : "next best",
                     p, line.data ? line.data : "");
    hm__text_release(&line);
    if (strcmp(a->missed, "memory") == 0 && a->memory_bytes > 0) {
        char need[HM_SHOWN], have[HM_SHOWN];
        hm__text_addf(&line, "a worker there needs %s and has %s",
                      hm__show_bytes(p->memory_bytes, need), hm__show_bytes(a->memory_bytes, have));
        hm__render_taken_line(out, style, "memory", &line);
    }
}

static const char *miss_sentence(const struct hm_answer *a)
{
    static const struct {
        const char *missed, *sentence;
    } sentences[] = {
        {"deadline", "No number of workers meets the deadline."},
        {"budget", "No number of workers stays within the budget."},
        {"memory",
         "The job does not fit in memory with any number of workers that was considered."},
        {"faster", "No number of workers is that much faster."},
        {"work", "No number of workers does that much work in the same time."},
        {"deadline and budget", "No number of workers meets both the deadline and the budget."},
        {"speedup", "More workers do not help: no number of them is faster than one."},
    };
    for (size_t i = 0; i < sizeof(sentences) / sizeof(sentences[0]); i++)
        if (a->missed && strcmp(sentences[i].missed, a->missed) == 0)
            return sentences[i].sentence;
    return "No number of workers meets the question.";
}

/*
 * Returns whether the answer recommends a number of workers: one that meets the limits, or 1 if one
 * worker is fastest.
 */
static bool answer_recommends(const struct hm_answer *a)
{
    return a->recommended < a->point_count && a->status != HM_STATUS_UNREACHED;
}

static void answer_say_headline(struct hm_text *out, const struct hm_answer *a,
                                const struct hm_style *style)
{
    struct hm_text line = {0};

    if (a->status == HM_STATUS_UNREACHED && a->nearest < a->point_count &&
        !isnan(a->points[a->nearest].meets))
        hm__text_addf(&line, "%.*s with a probability of %g %%.", (int)strlen(miss_sentence(a)) - 1,
                      miss_sentence(a), 100 * a->certainty);
    else if (!answer_recommends(a))
        hm__text_add(&line, miss_sentence(a));
    else
        hm__answer_say_recommended(&line, a);
    if (answer_recommends(a) && a->status == HM_STATUS_NO_SPEEDUP)
        hm__text_add(&line, " More workers do not help.");
    hm__render_headline(out, style, &line);
}

static void answer_say_subject(struct hm_text *out, const struct hm_answer *a,
                               const struct hm_style *style)
{
    struct hm_text line = {0};

    if (!a->machine && !a->fabric)
        return;
    if (a->machine)
        hm__text_add(&line, a->machine);
    if (a->fabric)
        hm__text_addf(&line, "%s%s fabric", a->machine ? ", " : "", a->fabric);
    hm__render_taken_line(out, style, "on", &line);
}

/* Appends the consistency of a platform, such as "ssp 3" or "bsp, 1 backup". */
static void answer_say_consistency(struct hm_text *out, const struct hm_way *way)
{
    hm__text_add(out, hm_consistency_name(way->consistency));
    if (way->consistency == HM_CONSISTENCY_SSP)
        hm__text_addf(out, " %.0f", way->staleness);
    if (way->backups > 0)
        hm__text_addf(out, ", %.0f backup%s", way->backups, hm__plural(way->backups));
}

static void answer_say_platform(struct hm_text *out, const struct hm_answer *a,
                                const struct hm_style *style)
{
    struct hm_text line = {0};
    char number[HM_SHOWN];

    if (a->way.platform == HM_PLATFORM_JOB)
        return;
    hm__text_addf(&line, "%s, ",
                  a->way.strategy ? hm_strategy_title(a->way.strategy)
                                  : hm_platform_name(a->way.platform));
    answer_say_consistency(&line, &a->way);
    if (a->way.local_steps > 1)
        hm__text_addf(&line, ", averaged every %.0f iterations", a->way.local_steps);
    if (a->way.colocated)
        hm__text_addf(&line, ", %.0f server%s on the nodes of the workers", a->way.servers,
                      hm__plural(a->way.servers));
    if (a->samples_per_s >= 0)
        hm__text_addf(&line, ": %s samples/s", hm__show_number(a->samples_per_s, number));
    hm__render_taken_line(out, style, "platform", &line);
}

/*
 * Appends how busy the network links of the parameter servers are, and how many servers would be
 * enough.
 */
static void answer_say_servers(struct hm_text *out, const struct hm_answer *a,
                               const struct hm_style *style)
{
    size_t at = a->recommended < a->point_count ? a->recommended : a->nearest;
    struct hm_text line = {0};

    if (a->way.platform != HM_PLATFORM_SERVER || at >= a->point_count)
        return;
    const struct hm_point *p = &a->points[at];
    hm__text_addf(&line, "%s busy for %.0f %% of an iteration",
                  a->way.servers == 1 ? "its link is" : "their links are", 100 * p->server_share);
    if (a->saturates_n > 0)
        hm__text_addf(&line, ", and limit%s from %.0f worker%s on", a->way.servers == 1 ? "s" : "",
                      a->saturates_n, hm__plural(a->saturates_n));
    if (a->servers_enough > a->way.servers)
        hm__text_addf(&line, "; %.0f servers would be enough for %.0f workers", a->servers_enough,
                      p->n);
    hm__render_taken_line(out, style, a->way.servers == 1 ? "server" : "servers", &line);
}

/*
 * Appends the ranking of platforms as a table. `widest` is the width of the column with machines;
 * if it is 0, the table has no such column.
 */
static void answer_say_platforms(struct hm_text *out, const struct hm_answer *a,
                                 const struct hm_style *style, size_t widest)
{
    char time[HM_SHOWN], money[HM_SHOWN], number[HM_SHOWN];
    int wide = 9; /* Width of the column with the names of platforms. */

    for (size_t i = 0; i < a->rank_count; i++)
        if (strlen(hm__way_name(&a->ranking[i].way)) > (size_t)wide)
            wide = (int)strlen(hm__way_name(&a->ranking[i].way));
    hm__text_addf(out, "\n  %s%-*s%s%-*s  %-14s %7s %7s %10s %10s %10s %10s%s\n",
                  hm__render_dim(style, true), (int)widest, widest ? "machine" : "",
                  widest ? "  " : "", wide, "platform", "consistency", "servers", "n", "iteration",
                  "samples/s", "total", "cost", hm__render_dim(style, false));
    for (size_t i = 0; i < a->rank_count; i++) {
        const struct hm_rank *r = &a->ranking[i];
        struct hm_text how = {0};
        answer_say_consistency(&how, &r->way);
        hm__text_addf(out, "  %-*s%s%-*s  %-14s", (int)widest, r->machine ? r->machine : "",
                      widest ? "  " : "", wide, hm__way_name(&r->way), how.data ? how.data : "");
        hm__text_release(&how);
        if (r->way.platform == HM_PLATFORM_SERVER)
            hm__text_addf(out, " %7.0f %7.0f", r->way.servers, r->n);
        else
            hm__text_addf(out, " %7s %7.0f", "", r->n);
        hm__text_addf(out, " %10s", hm__show_time(r->time_s, time));
        hm__text_addf(out, " %10s",
                      r->samples_per_s >= 0 ? hm__show_number(r->samples_per_s, number) : "");
        hm__text_addf(out, " %10s", hm__show_time(r->total_s, time));
        hm__text_addf(out, " %10s", r->cost >= 0 ? hm__show_money(r->cost, money) : "");
        hm__text_addf(out, "%s%s", r->why ? "  " : "", r->why ? r->why : "");
        if (r->saturates_n > 0 && r->n >= r->saturates_n)
            hm__text_addf(out, "%s links saturated", r->why ? "," : " ");
        if (r->saturates_n > 0 && r->n >= r->saturates_n && r->servers_enough > r->way.servers)
            hm__text_addf(out, ": %.0f servers would be enough", r->servers_enough);
        hm__text_end_line(out);
    }
}

static void answer_say_ranking(struct hm_text *out, const struct hm_answer *a,
                               const struct hm_style *style)
{
    char time[HM_SHOWN], money[HM_SHOWN];
    size_t widest = 7;

    for (size_t i = 0; i < a->rank_count; i++)
        if (a->ranking[i].machine && strlen(a->ranking[i].machine) > widest)
            widest = strlen(a->ranking[i].machine);
    if (a->rank_count == 0)
        return;
    if (a->ranking[0].way.platform != HM_PLATFORM_JOB) {
        answer_say_platforms(out, a, style, a->ranking[0].machine ? widest : 0);
        return;
    }
    hm__text_addf(out, "\n  %s%-*s  %-18s %7s %10s %10s %10s%s\n", hm__render_dim(style, true),
                  (int)widest, "machine", "scheme", "n", "iteration", "total", "cost",
                  hm__render_dim(style, false));
    for (size_t i = 0; i < a->rank_count; i++) {
        const struct hm_rank *r = &a->ranking[i];
        hm__text_addf(out, "  %-*s  %-18s %7.0f", (int)widest, r->machine ? r->machine : "",
                      r->scheme ? r->scheme : "", r->n);
        hm__text_addf(out, " %10s", hm__show_time(r->time_s, time));
        hm__text_addf(out, " %10s", hm__show_time(r->total_s, time));
        hm__text_addf(out, " %10s", r->cost >= 0 ? hm__show_money(r->cost, money) : "");
        hm__text_addf(out, "%s%s", r->why ? "  " : "", r->why ? r->why : "");
        hm__text_end_line(out);
    }
}

void hm__render_text(struct hm_text *out, const struct hm_answer *a, const struct hm_style *style)
{
    answer_say_headline(out, a, style);
    if (!isnan(a->one_node)) {
        struct hm_text line = {0};
        hm__say_one_node(&line, a->one_node);
        hm__render_taken(out, style, &line, 2);
    }
    answer_say_factors(out, a, style);
    answer_say_subject(out, a, style);
    answer_say_platform(out, a, style);
    if (a->status == HM_STATUS_UNREACHED) {
        answer_say_miss(out, a, style);
        answer_say_limits_met(out, a, style);
    }
    if (answer_recommends(a)) {
        hm__answer_say_iteration(out, a, style);
        hm__answer_say_whole(out, a, style);
        answer_say_limits_met(out, a, style);
        hm__answer_say_memory(out, a, style);
        answer_say_sure(out, a, style);
        hm__answer_say_sheet(out, a, style);
        hm__answer_say_alternatives(out, a, style);
        hm__answer_say_best(out, a, style);
        if (a->status == HM_STATUS_NO_SPEEDUP)
            answer_say_miss(out, a, style);
    }
    answer_say_asked(out, a, style);
    answer_say_limit(out, a, style);
    answer_say_servers(out, a, style);
    if (a->best < a->point_count && a->status == HM_STATUS_OK) {
        answer_say_knee(out, a, style);
        answer_say_range(out, a, style);
    }
    answer_say_help(out, a, style);
    hm__render_notes(out, a->notes, a->note_count, style);
    answer_say_ranking(out, a, style);
}
