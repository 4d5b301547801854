/*
 * Renders the report of a study: one HTML file that loads no other files. The advice comes first,
 * then the runs and fits that it is based on. The same study always produces a report with the same
 * bytes, on any machine.
 */
#include "study_render.h"
#include "chance_words.h"

#include <math.h>
#include <stdio.h>

#include "checks.h"
#include "err.h"
#include "svg.h"

static const char page_style[] =
    ":root{color-scheme:light dark;--bg:#fff;--fg:#1c1c1c;--muted:#595959;--rule:#d9d9d9;"
    "--soft:#f3f6f9}\n"
    "@media (prefers-color-scheme:dark){:root{--bg:#15181b;--fg:#ececec;--muted:#a9a9a9;"
    "--rule:#3a3f44;--soft:#20262b}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0;background:var(--bg);color:var(--fg);font:16px/1.5 system-ui,sans-serif}\n"
    "main{max-width:64rem;margin:0 auto;padding:1rem}\n"
    "h1{font-size:1.5rem;line-height:1.25;margin:.5rem 0}\n"
    "h2{font-size:1.2rem;margin:2rem 0 .5rem}\n"
    "h1,h2,p,dd,td,th,figcaption{overflow-wrap:anywhere}\n"
    ".answer{font-size:1.15rem;background:var(--soft);padding:.8rem 1rem;"
    "border-left:4px solid var(--c0)}\n"
    "dl{display:grid;grid-template-columns:minmax(6rem,auto) 1fr;gap:.2rem 1rem;margin:.5rem 0}\n"
    "dt{color:var(--muted)}dd{margin:0}\n"
    ".scroll{overflow-x:auto}\n"
    "table{border-collapse:collapse;margin:.5rem "
    "0;font-size:.9rem;font-variant-numeric:tabular-nums}\n"
    "caption{text-align:left;color:var(--muted);padding:.2rem 0}\n"
    "th,td{text-align:left;padding:.25rem .7rem .25rem 0;border-bottom:1px solid var(--rule);"
    "vertical-align:top;overflow-wrap:normal}\n"
    "tbody th{font-weight:500;white-space:nowrap}.n{text-align:right;white-space:nowrap}"
    ".why{min-width:15rem}\n"
    ".figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr));"
    "gap:1.5rem}\n"
    "figure{margin:0;min-width:0}figcaption{font-weight:600;margin-bottom:.3rem}\n"
    "summary{cursor:pointer}\n"
    "pre{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--soft);padding:.8rem 1rem}\n";

static const char *show_known_time(double seconds, char *text)
{
    return isfinite(seconds) ? hm__show_time(seconds, text) : "";
}

static const char *show_known_count(double count, char *text)
{
    return isfinite(count) ? hm__show_count(count, text) : "";
}

static const char *show_known_loss(double loss, char *text)
{
    return isfinite(loss) ? hm__show_loss(loss, text) : "";
}

/*
 * Appends escaped text. A word joiner is inserted after the minus sign of numbers such as 1e-4, so
 * that such numbers are not broken at the end of a line.
 */
static void study_add_sentence(struct hm_text *out, const char *text)
{
    struct hm_text joined = {0};

    for (const char *p = text; p && *p; p++) {
        hm__text_add_n(&joined, p, 1);
        if (*p == '-' && p > text && p[-1] == 'e' && p[1] >= '0' && p[1] <= '9')
            hm__text_add(&joined, "\xe2\x81\xa0");
    }
    hm__xml_text(out, joined.data);
    out->failed = out->failed || joined.failed;
    hm__text_release(&joined);
}

/* ---- the advice ------------------------------------------------------------------------------ */

static void study_add_phrase(struct hm_text *out, const struct hm_advice *a, const char *label,
                             void (*say)(struct hm_text *out, const struct hm_advice *advice))
{
    struct hm_text line = {0};

    say(&line, a);
    if (line.length) {
        hm__text_addf(out, "<dt>%s</dt><dd>", label);
        study_add_sentence(out, line.data);
        hm__text_add(out, "</dd>\n");
    }
    out->failed = out->failed || line.failed;
    hm__text_release(&line);
}

static void study_add_advice(struct hm_text *out, const struct hm_advice *a)
{
    struct hm_text line = {0};

    hm__say_headline(&line, a);
    hm__text_add(out, "<p class=\"answer\"><strong>");
    study_add_sentence(out, line.data);
    hm__text_add(out, "</strong></p>\n<dl>\n");
    out->failed = out->failed || line.failed;
    hm__text_release(&line);
    if (a->feasible)
        study_add_phrase(out, a, "how sure", hm__say_sure);
    study_add_phrase(out, a, "beyond", hm__say_beyond);
    if (a->lead_count > 1)
        study_add_phrase(out, a, "ahead", hm__say_leads);
    study_add_phrase(out, a, "schedule", hm__say_schedule);
    study_add_phrase(out, a, "would help", hm__say_next_run);
    hm__text_add(out, "</dl>\n");
}

static void study_add_why(struct hm_text *out, const struct hm_advice *a,
                          const struct hm_candidate *c)
{
    struct hm_text why = {0};

    hm__say_why(&why, a, c);
    hm__text_add(out, "<td class=\"why\">");
    hm__xml_text(out, why.data);
    hm__text_add(out, "</td>");
    out->failed = out->failed || why.failed;
    hm__text_release(&why);
}

/*
 * Appends the quantity by which candidates are ranked (time or loss), its interval, the cost and
 * the probability.
 */
static void study_add_ranked(struct hm_text *out, const struct hm_advice *a,
                             const struct hm_candidate *c, bool priced)
{
    char shown[HM_SHOWN], range[HM_SHOWN_RANGE];

    if (hm__advice_asks_loss(a)) {
        hm__table_number(out, isfinite(c->time_s) ? hm__show_time(c->time_s, shown) : "never");
        hm__table_number(out, hm__show_range(hm__show_time, c->low_s, c->high_s, range));
    } else {
        hm__table_number(out, show_known_loss(c->loss, shown));
        hm__table_number(out, hm__show_range(hm__show_loss, c->loss_low, c->loss_high, range));
    }
    if (priced)
        hm__table_number(out, isfinite(c->cost) ? hm__show_money(c->cost, shown) : "");
    hm__show_chance(c->probability, shown);
    hm__table_number(out, isfinite(c->probability) ? shown : "");
}

static void study_add_candidate(struct hm_text *out, const struct hm_advice *a,
                                const struct hm_candidate *c, bool priced, bool all)
{
    char shown[HM_SHOWN];

    hm__table_row(out, c->algorithm);
    hm__table_number(out, hm__show_count(c->m, shown));
    if (all) {
        hm__table_text(out, c->measured ? "yes" : "no");
        hm__table_number(out, show_known_count(c->iterations, shown));
        hm__table_number(out, show_known_time(c->iteration_s, shown));
    }
    study_add_ranked(out, a, c, priced);
    if (!all)
        study_add_why(out, a, c);
    hm__table_row_end(out);
}

/*
 * Appends a table of all candidates, or of the best candidate of each algorithm with the reason why
 * it is worse than the recommended candidate.
 */
static void study_add_candidates(struct hm_text *out, const struct hm_advice *a, bool all)
{
    bool priced = hm__advice_priced(a);
    char interval[48], several[48];
    const char *columns[11] = {"algorithm", "*workers"};
    size_t count = 2;

    snprintf(interval, sizeof(interval), "*%g %% interval", 100 * a->level);
    snprintf(several, sizeof(several), "*%.20ss", a->unit);
    if (all) {
        columns[count++] = "measured";
        columns[count++] = several;
        columns[count++] = "*of each";
    }
    columns[count++] = hm__advice_asks_loss(a) ? "*time" : "*P - P*";
    columns[count++] = interval;
    if (priced)
        columns[count++] = "*cost";
    columns[count++] = "*is the best";
    if (!all)
        columns[count++] = "why";
    hm__table_begin(out, all ? "All candidates, the best first" : "The best of each algorithm",
                    columns);
    for (size_t i = 0; i < a->candidate_count; i++)
        if (all || hm__advice_is_first(a, i))
            study_add_candidate(out, a, &a->candidates[i], priced, all);
    hm__table_end(out);
}

static void study_add_ranking(struct hm_page *page, const struct hm_advice *a)
{
    if (a->candidate_count == 0)
        return;
    hm__text_add(page->out, "<h2>Candidates</h2>\n");
    study_add_candidates(page->out, a, false);
    hm__chart_candidates(page, a);
    hm__text_add(page->out, "<details><summary>all candidates as a table</summary>\n");
    study_add_candidates(page->out, a, true);
    hm__text_add(page->out, "</details>\n");
}

/* ---- checks, runs and notes ------------------------------------------------------------------ */

static void study_add_facts(struct hm_text *out, const struct hm_study *s)
{
    if (s->fact_count == 0)
        return;
    hm__text_add(out, "<h2>Facts</h2>\n<dl>\n");
    for (size_t i = 0; i < s->fact_count; i++) {
        hm__text_add(out, "<dt>");
        hm__xml_text(out, s->facts[2 * i]);
        hm__text_add(out, "</dt><dd>");
        hm__xml_text(out, s->facts[2 * i + 1]);
        hm__text_add(out, "</dd>\n");
    }
    hm__text_add(out, "</dl>\n");
}

static void study_add_check(struct hm_text *out, const struct hm_study_check *c)
{
    char shown[HM_SHOWN], range[HM_SHOWN_RANGE];

    hm__table_row(out, c->algorithm);
    hm__table_number(out, hm__show_count(c->m, shown));
    hm__table_text(out, c->role);
    hm__table_number(out, show_known_time(c->predicted_s, shown));
    hm__table_number(out,
                     hm__show_range(hm__show_time, c->predicted_low_s, c->predicted_high_s, range));
    hm__table_number(out,
                     isfinite(c->achieved_s) ? hm__show_time(c->achieved_s, shown) : "not reached");
    snprintf(shown, sizeof(shown), "%+.0f %%", 100 * (c->predicted_s / c->achieved_s - 1));
    hm__table_number(out, isfinite(c->predicted_s / c->achieved_s) ? shown : "");
    hm__table_number(out, show_known_count(c->predicted_iterations, shown));
    hm__table_number(out, show_known_count(c->achieved_iterations, shown));
    hm__table_number(out, show_known_loss(c->loss, shown));
    hm__table_row_end(out);
}

static void study_add_checks(struct hm_page *page, const struct hm_study *s)
{
    static const char *const columns[] = {"algorithm", "*workers",  "role",    "*predicted",
                                          "*interval", "*achieved", "*off by", "*iterations",
                                          "*achieved", "*P - P*",   NULL};

    if (s->check_count == 0)
        return;
    hm__text_add(page->out, "<h2>Does the advice hold?</h2>\n");
    hm__table_begin(page->out, "Runs made to check the advice: times and iterations", columns);
    for (size_t i = 0; i < s->check_count; i++)
        study_add_check(page->out, &s->checks[i]);
    hm__table_end(page->out);
    hm__chart_checks(page, s);
}

static void study_add_runs(struct hm_text *out, const struct hm_study *s)
{
    static const char *const columns[] = {"algorithm", "*workers",           "*seed", "*iterations",
                                          "*time",     "*P - P* at the end", "why",   NULL};
    char shown[HM_SHOWN];

    if (s->run_count == 0)
        return;
    hm__text_add(out, "<h2>Runs</h2>\n");
    hm__table_begin(out, "Runs that were made for the study, in order", columns);
    for (size_t i = 0; i < s->run_count; i++) {
        const struct hm_study_run *r = &s->runs[i];
        hm__table_row(out, r->algorithm);
        hm__table_number(out, hm__show_count(r->m, shown));
        hm__table_number(out, show_known_count(r->seed, shown));
        hm__table_number(out, show_known_count(r->iterations, shown));
        hm__table_number(out, show_known_time(r->time_s, shown));
        hm__table_number(out, show_known_loss(r->loss, shown));
        hm__table_text(out, r->reason);
        hm__table_row_end(out);
    }
    hm__table_end(out);
}

static void study_add_held_out(struct hm_text *out, const struct hm_holdout *h)
{
    static const char *const columns[] = {"algorithm", "*workers left out", "*points",
                                          "*median",   "*root mean square", "*inside the interval",
                                          NULL};
    char shown[HM_SHOWN];
    size_t rows = 0;

    for (size_t i = 0; h && i < h->count; i++)
        rows += h->algorithms[i].left_out_count;
    if (rows == 0)
        return;
    hm__text_add(out, "<h2>How well other m are predicted</h2>\n");
    hm__table_begin(out, "Errors of log10(P - P*) for each m, predicted from the others", columns);
    for (size_t i = 0; i < h->count; i++)
        for (size_t k = 0; k < h->algorithms[i].left_out_count; k++) {
            const struct hm_g_error *e = &h->algorithms[i].left_out[k];
            hm__table_row(out, h->algorithms[i].algorithm);
            hm__table_number(out, hm__show_count(e->m, shown));
            hm__table_number(out, hm__show_count((double)e->points, shown));
            hm__table_number(out, show_known_loss(e->median, shown));
            hm__table_number(out, show_known_loss(e->rms, shown));
            snprintf(shown, sizeof(shown), "%.0f %%", 100 * e->covered);
            hm__table_number(out, isfinite(e->covered) ? shown : "");
            hm__table_row_end(out);
        }
    hm__table_end(out);
}

static void study_add_list(struct hm_text *out, const char *const *notes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        hm__text_add(out, "<li>");
        hm__xml_text(out, notes[i]);
        hm__text_add(out, "</li>\n");
    }
}

static void study_add_notes(struct hm_text *out, const struct hm_study *s)
{
    size_t advised = s->advice ? s->advice->note_count : 0;
    size_t learned = s->convergence ? s->convergence->note_count : 0;

    if (s->note_count + advised + learned > 0) {
        hm__text_add(out, "<h2>Notes</h2>\n<ul>\n");
        study_add_list(out, s->notes, s->note_count);
        if (advised)
            study_add_list(out, s->advice->notes, advised);
        if (learned)
            study_add_list(out, s->convergence->notes, learned);
        hm__text_add(out, "</ul>\n");
    }
    if (s->command) {
        hm__text_add(out, "<h2>To repeat the study</h2>\n<pre><code>");
        hm__xml_text(out, s->command);
        hm__text_add(out, "</code></pre>\n");
    }
}

static void study_add_curves(struct hm_page *page, const struct hm_study *s)
{
    if (!s->convergence)
        return;
    hm__text_add(page->out, "<h2>What was measured</h2>\n<div class=\"figures\">\n");
    if (s->advice)
        hm__chart_times(page, s->convergence, s->advice);
    hm__chart_paces(page, s->convergence->paces, s->advice);
    for (size_t i = 0; i < s->convergence->count; i++)
        hm__chart_iterations(page, s->convergence, i);
    hm__text_add(page->out, "</div>\n");
}

void hm__report_head(struct hm_text *out, const char *title)
{
    hm__text_add(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                      "<title>");
    hm__xml_text(out, title);
    hm__text_add(out, "</title>\n<style>\n");
    hm__text_add(out, page_style);
    hm__svg_style(out);
    hm__text_add(out, "</style>\n</head>\n<body>\n<main>\n<h1>");
    hm__xml_text(out, title);
    hm__text_add(out, "</h1>\n");
}

int hm_study_render(const struct hm_study *study, char **ret_html, struct hm_err *err)
{
    int bad = hm__check_pointers(err, "study", study, "ret_html", ret_html, NULL);
    if (bad)
        return bad;
    struct hm_text out = {0};
    struct hm_page page = {.out = &out, .arena = hm__arena_new()};

    if (!page.arena)
        return hm__fail_nomem(err);
    hm__report_head(&out, study->title && *study->title ? study->title : "A study");
    if (study->advice)
        study_add_advice(&out, study->advice);
    study_add_facts(&out, study);
    if (study->advice)
        study_add_ranking(&page, study->advice);
    study_add_checks(&page, study);
    study_add_curves(&page, study);
    study_add_held_out(&out, study->holdout);
    study_add_runs(&out, study);
    study_add_notes(&out, study);
    hm__text_add(&out, "</main>\n</body>\n</html>\n");
    out.failed = out.failed || page.failed;
    hm__arena_free(page.arena);
    return hm__text_take(&out, ret_html, err);
}
