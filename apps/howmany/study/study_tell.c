/*
 * Telling what a study has found. Everything here is derived from the traces, in an order that does
 * not depend on when they were made: told twice, it is the same twice.
 */
#include "study_tell.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "format.h"
#include "memory.h"
#include "render.h"

void study_result_release(struct study_result *r)
{
    hm_advice_free(r->advice);
    hm_holdout_free(r->holdout);
    hm_convergence_free(r->convergence);
    hm_traces_free(r->traces);
    *r = (struct study_result){0};
}

int study_tell_inside(const struct hm_study_check *check)
{
    if (!isfinite(check->predicted_low_s) || !isfinite(check->predicted_high_s))
        return -1;
    return check->achieved_s >= check->predicted_low_s &&
           check->achieved_s <= check->predicted_high_s;
}

/* What a check took: seconds, or workers times seconds where cost is what counts. */
static double taken(const struct hm_study_spec *spec, const struct hm_study_check *check)
{
    return check->achieved_s * (spec->goal == HM_GOAL_COST ? check->m : 1);
}

/* Whether the chosen one took less than the runner-up; -1: there is no saying. */
static int chosen_was_better(const struct hm_study_spec *spec, const struct study_result *r)
{
    if (r->check_count < STUDY_CHECKS)
        return -1;
    double chosen = taken(spec, &r->checks[0]), other = taken(spec, &r->checks[1]);
    if (isnan(chosen) && isnan(other))
        return -1;
    return isnan(other) || chosen <= other;
}

/* ---- filling in ----------------------------------------------------------------------------- */

/* Texts that are gathered; `failed` sticks. */
struct gathered {
    struct hm_arena *arena;
    const char **all;
    size_t count, room;
    bool failed;
};

static void gather(struct gathered *g, const char *text)
{
    if (!text || g->failed || g->count == g->room) {
        g->failed = true;
        return;
    }
    g->all[g->count++] = text;
}

static struct gathered gathering(struct hm_arena *arena, size_t room)
{
    struct gathered g = {.arena = arena, .room = room};

    g.all = hm__arena_alloc(arena, room, sizeof(*g.all));
    g.failed = !g.all;
    return g;
}

static void fact(struct gathered *g, const char *what, const char *value)
{
    gather(g, hm__arena_strdup(g->arena, what));
    gather(g, value ? hm__arena_strdup(g->arena, value) : NULL);
}

static const char *budget_text(const struct study_folder *f, char text[3 * HM_SHOWN])
{
    char spent[HM_SHOWN], budget[HM_SHOWN];

    snprintf(text, 3 * HM_SHOWN, "%s of %s%s", hm__show_time(study_table_spent(&f->table), spent),
             hm__show_time(f->words->spec->budget_s, budget),
             f->words->simulate ? ", of the simulated cluster" : "");
    return text;
}

static const char *best_text(const struct study_folder *f, const struct study_result *r,
                             char text[3 * HM_SHOWN])
{
    const struct hm_convergence *c = r->convergence;

    switch (isnan(r->best) ? STUDY_ESTIMATED : f->words->reference) {
    case STUDY_GIVEN:
        snprintf(text, 3 * HM_SHOWN, "%.9g, as given", r->best);
        break;
    case STUDY_GAP:
        snprintf(text, 3 * HM_SHOWN, "%.9g, or at most %.2g more: certified by a duality gap",
                 r->best, f->best_error);
        break;
    case STUDY_LBFGS:
        snprintf(text, 3 * HM_SHOWN, "%.9g, just below what L-BFGS found", r->best);
        break;
    case STUDY_ESTIMATED:
        snprintf(text, 3 * HM_SHOWN, "%.9g, estimated; %.6g to %.6g", c->best, c->best_low,
                 c->best_high);
        break;
    }
    return text;
}

static const char *workers_text(const struct hm_study_spec *spec, struct hm_arena *arena)
{
    struct hm_text text = {0};

    for (size_t i = 0; i < spec->m_count; i++)
        hm__text_addf(&text, "%s%.0f", i ? ", " : "", spec->m[i]);
    const char *copy = text.failed ? NULL : hm__arena_strdup(arena, text.data);
    hm__text_release(&text);
    return copy;
}

static void fill_facts(const struct study_folder *f, const struct study_result *r,
                       struct gathered *g)
{
    const struct study_words *w = f->words;
    const struct hm_study_spec *spec = w->spec;
    char text[3 * HM_SHOWN];

    fact(g, "problem", w->problem);
    fact(g, "data", w->data);
    for (size_t i = 0; i < spec->train.count; i++) {
        const struct hm_study_option *option = &spec->train.all[i];
        if (strcmp(option->key, "problem") != 0 && strcmp(option->key, "data") != 0)
            fact(g, option->key, option->value ? option->value : "yes");
    }
    fact(g, "workers", workers_text(spec, g->arena));
    fact(g, "cluster",
         w->simulate      ? hm__arena_printf(g->arena, "%s, simulated", w->simulate)
         : spec->launcher ? spec->launcher
                          : "this machine");
    snprintf(text, sizeof(text), "%g above the least objective", spec->loss);
    fact(g, "loss to reach", text);
    fact(g, "least objective", best_text(f, r, text));
    fact(g, "runs", hm__arena_printf(g->arena, "%zu", study_table_count(&f->table)));
    fact(g, "time of runs", budget_text(f, text));
}

static void note_failures(const struct study_folder *f, struct gathered *g)
{
    const struct hm_study_spec *spec = f->words->spec;
    struct study_run run;

    for (size_t i = 0; study_table_each(&f->table, i, &run); i++)
        if (study_table_at(&f->table, &run)->state == STUDY_FAILED)
            gather(g, hm__arena_printf(
                          g->arena, "%s on %.0f with seed %.0f failed, and was not chosen",
                          spec->algorithms[run.algorithm].name, spec->m[run.m], run.seed));
}

static void fill_notes(const struct study_folder *f, const struct study_result *r,
                       struct gathered *g)
{
    const struct hm_study_spec *spec = f->words->spec;

    gather(g, hm__arena_printf(g->arena, "no further run was made: %s",
                               study_verdict_text(r->verdict)));
    if (f->best_error > spec->loss / 4)
        gather(g, hm__arena_printf(g->arena,
                                   "the least objective is known within %.2g only, and %g is to be "
                                   "reached: give best:, or more iterations",
                                   f->best_error, spec->loss));
    note_failures(f, g);
    if (r->holdout_note[0])
        gather(g, hm__arena_printf(g->arena, "nothing was held out: %s", r->holdout_note));
}

static struct hm_study_run describe(const struct study_folder *f, const struct study_result *r,
                                    const struct study_run *run)
{
    const struct hm_study_spec *spec = f->words->spec;
    const struct study_entry *entry = study_table_at(&f->table, run);

    return (struct hm_study_run){.algorithm = spec->algorithms[run->algorithm].name,
                                 .m = spec->m[run->m],
                                 .seed = run->seed,
                                 .iterations = entry->iterations,
                                 .time_s = entry->time_s,
                                 .loss = entry->objective - r->convergence->best,
                                 .reason =
                                     study_is_first(spec, run) ? "first look" : "to be surer"};
}

/* The reference comes first, then all runs that left a trace. */
static int fill_runs(const struct study_folder *f, const struct study_result *r,
                     struct hm_arena *arena, struct hm_study *study)
{
    const struct hm_study_spec *spec = f->words->spec;
    size_t most = spec->algorithm_count * spec->m_count * (size_t)spec->seeds + 1;
    struct hm_study_run *runs = hm__arena_alloc(arena, most, sizeof(*runs));
    struct study_run run;

    if (!runs)
        return cli_complain("out of memory");
    if (f->reference.iterations > 0)
        runs[study->run_count++] =
            (struct hm_study_run){.algorithm = f->words->reference == STUDY_GAP ? "cocoa" : "lbfgs",
                                  .m = spec->m[0],
                                  .seed = 1,
                                  .iterations = f->reference.iterations,
                                  .time_s = f->reference.time_s,
                                  .loss = f->reference.objective - r->convergence->best,
                                  .reason = "reference"};
    for (size_t i = 0; study_table_each(&f->table, i, &run); i++)
        if (study_table_at(&f->table, &run)->iterations > 0)
            runs[study->run_count++] = describe(f, r, &run);
    study->runs = runs;
    return 0;
}

int study_tell_fill(const struct study_folder *f, const struct study_result *r, const char *command,
                    struct hm_arena *arena, struct hm_study *ret_study)
{
    const struct hm_study_spec *spec = f->words->spec;
    size_t places = spec->algorithm_count * spec->m_count * (size_t)spec->seeds;
    struct gathered facts = gathering(arena, 2 * (spec->train.count + 10));
    struct gathered notes = gathering(arena, places + 4);

    fill_facts(f, r, &facts);
    fill_notes(f, r, &notes);
    if (facts.failed || notes.failed)
        return cli_complain("out of memory");
    *ret_study = (struct hm_study){.title = spec->title ? spec->title : spec->source,
                                   .command = command,
                                   .facts = facts.all,
                                   .fact_count = facts.count / 2,
                                   .convergence = r->convergence,
                                   .holdout = r->holdout,
                                   .advice = r->advice,
                                   .checks = r->checks,
                                   .check_count = r->check_count,
                                   .notes = notes.all,
                                   .note_count = notes.count};
    return fill_runs(f, r, arena, ret_study);
}

/* ---- text ----------------------------------------------------------------------------------- */

static void line(struct hm_text *out, const struct hm_style *style, const char *label,
                 const struct hm_text *text)
{
    if (text->failed)
        out->failed = true;
    else
        hm__render_line(out, style, label, text->data);
}

static void check_line(struct hm_text *out, const struct hm_style *style,
                       const struct hm_study_check *c)
{
    char predicted[HM_SHOWN], low[HM_SHOWN], high[HM_SHOWN], achieved[HM_SHOWN];
    struct hm_text text = {0};
    int inside = study_tell_inside(c);

    hm__text_addf(&text, "%s on %.0f: predicted %s", c->algorithm, c->m,
                  hm__show_time(c->predicted_s, predicted));
    if (inside >= 0)
        hm__text_addf(&text, " (%s to %s)", hm__show_time(c->predicted_low_s, low),
                      hm__show_time(c->predicted_high_s, high));
    if (isnan(c->achieved_s))
        hm__text_addf(&text, "; it did not get there, and ended at %.3g", c->loss);
    else
        hm__text_addf(&text, ", achieved %s%s", hm__show_time(c->achieved_s, achieved),
                      inside < 0 ? ""
                      : inside   ? ": inside"
                                 : ": outside");
    line(out, style, c->role, &text);
    hm__text_release(&text);
}

static void check_lines(struct hm_text *out, const struct hm_style *style,
                        const struct hm_study_spec *spec, const struct study_result *r)
{
    struct hm_text text = {0}, better = {0};
    int chosen = chosen_was_better(spec, r);

    if (r->check_count == 0)
        return;
    hm__text_add(out, "\n");
    hm__text_addf(&text, "with seed %.0f, which no fit has seen", spec->seeds + 1);
    line(out, style, "Check", &text);
    for (size_t i = 0; i < r->check_count; i++)
        check_line(out, style, &r->checks[i]);
    hm__text_addf(&better, "The %s was the %s of the two.", chosen ? "chosen one" : "runner-up",
                  spec->goal == HM_GOAL_COST ? "cheaper" : "faster");
    if (chosen >= 0)
        line(out, style, "", &better);
    hm__text_release(&better);
    hm__text_release(&text);
}

void study_tell_text(const struct study_folder *f, const struct study_result *r,
                     const struct hm_study *study, const char *advice, const char *report,
                     const struct hm_style *style, struct hm_text *out)
{
    struct hm_text runs = {0};
    char text[3 * HM_SHOWN];

    hm__text_addf(out, "%s\n\n", study->title);
    hm__text_addf(&runs, "%zu, %s", study->run_count, budget_text(f, text));
    line(out, style, "Runs", &runs);
    hm__render_line(out, style, "P*", best_text(f, r, text));
    for (size_t i = 0; i < study->note_count; i++)
        hm__render_line(out, style, i ? "" : "Note", study->notes[i]);
    hm__text_addf(out, "\n%s", advice);
    check_lines(out, style, f->words->spec, r);
    hm__text_add(out, "\n");
    hm__render_line(out, style, "Report", report);
    hm__text_release(&runs);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

/* 1, 0, and -1 for what is not known. */
static const char *json_maybe(int truth)
{
    return truth < 0 ? "null" : truth ? "true" : "false";
}

static void json_named_first(struct hm_text *out, const char *key, const char *text)
{
    hm__text_addf(out, "{\"%s\":", key);
    hm__json_text(out, text);
}

static void json_runs(struct hm_text *out, const struct hm_study *study)
{
    hm__text_add(out, ",\n\"runs\":[");
    for (size_t i = 0; i < study->run_count; i++) {
        const struct hm_study_run *run = &study->runs[i];
        hm__text_add(out, i ? ",\n  " : "");
        json_named_first(out, "algorithm", run->algorithm);
        hm__json_field(out, "m", run->m);
        hm__json_field(out, "seed", run->seed);
        hm__json_field(out, "iterations", run->iterations);
        hm__json_field(out, "time_s", run->time_s);
        hm__json_field(out, "loss", run->loss);
        hm__json_named(out, "reason", run->reason);
        hm__text_add(out, "}");
    }
    hm__text_add(out, "]");
}

static void json_checks(struct hm_text *out, const struct study_result *r)
{
    hm__text_add(out, ",\n\"checks\":[");
    for (size_t i = 0; i < r->check_count; i++) {
        const struct hm_study_check *c = &r->checks[i];
        hm__text_add(out, i ? ",\n  " : "");
        json_named_first(out, "role", c->role);
        hm__json_named(out, "algorithm", c->algorithm);
        hm__json_field(out, "m", c->m);
        hm__json_field(out, "predicted_s", c->predicted_s);
        hm__json_field(out, "predicted_low_s", c->predicted_low_s);
        hm__json_field(out, "predicted_high_s", c->predicted_high_s);
        hm__json_field(out, "achieved_s", c->achieved_s);
        hm__json_field(out, "predicted_iterations", c->predicted_iterations);
        hm__json_field(out, "achieved_iterations", c->achieved_iterations);
        hm__json_field(out, "loss", c->loss);
        hm__text_addf(out, ",\"inside\":%s}", json_maybe(study_tell_inside(c)));
    }
    hm__text_add(out, "]");
}

void study_tell_json(const struct study_folder *f, const struct study_result *r,
                     const struct hm_study *study, const char *advice, const char *report,
                     struct hm_text *out)
{
    const struct hm_study_spec *spec = f->words->spec;
    size_t length = strlen(advice);

    while (length > 0 && advice[length - 1] == '\n')
        length--;
    json_named_first(out, "title", study->title);
    hm__json_named(out, "folder", f->path);
    hm__json_named(out, "report", report);
    hm__text_addf(out, ",\"simulated\":%s", f->words->simulate ? "true" : "false");
    hm__json_field(out, "loss", spec->loss);
    hm__json_field(out, "best", r->convergence->best);
    hm__json_field(out, "budget_s", spec->budget_s);
    hm__json_field(out, "spent_s", study_table_spent(&f->table));
    json_runs(out, study);
    hm__text_add(out, ",\n\"advice\":");
    hm__text_add_n(out, advice, length);
    json_checks(out, r);
    hm__text_addf(out, ",\n\"chosen_was_better\":%s", json_maybe(chosen_was_better(spec, r)));
    hm__json_texts(out, "notes", study->notes, study->note_count);
    hm__text_add(out, "}\n");
}
