/*
 * Writes the result of a study. Everything is derived from the traces, in an order that does not
 * depend on when the runs were executed, so that repeating a study prints the same text.
 */
#include "study_output.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "format.h"
#include "json.h"
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

static int check_is_inside(const struct hm_study_check *check)
{
    if (!isfinite(check->predicted_low_s) || !isfinite(check->predicted_high_s))
        return -1;
    return check->achieved_s >= check->predicted_low_s &&
           check->achieved_s <= check->predicted_high_s;
}

/* Returns the result of a run that checks the answer: its time in seconds, or its worker-seconds if
 * the goal is the cost. */
static double check_value(const struct hm_study_spec *spec, const struct hm_study_check *check)
{
    return check->achieved_s * (spec->goal == HM_GOAL_COST ? check->m : 1);
}

/* Returns 1 if the chosen configuration took at most as much time (or cost) as the runner-up, 0 if
 * it took more, and -1 if this is not known. */
static int chosen_was_better(const struct hm_study_spec *spec, const struct study_result *r)
{
    if (r->check_count < STUDY_CHECKS)
        return -1;
    double chosen = check_value(spec, &r->checks[0]), other = check_value(spec, &r->checks[1]);
    if (isnan(chosen) && isnan(other))
        return -1;
    return isnan(other) || chosen <= other;
}

/* ---- the data of the report ----------------------------------------------------------------- */

/* A list of strings; `failed` is true if memory ran out or the list is full. */
struct text_list {
    struct hm_arena *arena;
    const char **all;
    size_t count, room;
    bool failed;
};

static void list_add(struct text_list *g, const char *text)
{
    if (!text || g->failed || g->count == g->room) {
        g->failed = true;
        return;
    }
    g->all[g->count++] = text;
}

static struct text_list list_new(struct hm_arena *arena, size_t room)
{
    struct text_list g = {.arena = arena, .room = room};

    g.all = hm__arena_alloc(arena, room, sizeof(*g.all));
    g.failed = !g.all;
    return g;
}

static void add_fact(struct text_list *g, const char *what, const char *value)
{
    list_add(g, hm__arena_strdup(g->arena, what));
    list_add(g, value ? hm__arena_strdup(g->arena, value) : NULL);
}

static const char *budget_text(const struct study_folder *f, char text[3 * HM_SHOWN])
{
    char spent[HM_SHOWN], budget[HM_SHOWN];

    snprintf(text, 3 * HM_SHOWN, "%s of %s%s", hm__show_time(study_table_spent(&f->table), spent),
             hm__show_time(f->commands->spec->budget_s, budget),
             f->commands->simulate ? ", simulated" : "");
    return text;
}

static const char *best_text(const struct study_folder *f, const struct study_result *r,
                             char text[3 * HM_SHOWN])
{
    const struct hm_convergence *c = r->convergence;
    char interval[HM_SHOWN_RANGE];

    switch (isnan(r->best) ? STUDY_ESTIMATED : f->commands->reference) {
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
        snprintf(text, 3 * HM_SHOWN, "%.9g, estimated; %s", c->best,
                 hm__show_interval(c->best_low, c->best_high, 6, interval));
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
                       struct text_list *g)
{
    const struct study_commands *w = f->commands;
    const struct hm_study_spec *spec = w->spec;
    char text[3 * HM_SHOWN];

    add_fact(g, "problem", w->problem);
    add_fact(g, "data", w->data);
    for (size_t i = 0; i < spec->train.count; i++) {
        const struct hm_study_option *option = &spec->train.all[i];
        if (strcmp(option->key, "problem") != 0 && strcmp(option->key, "data") != 0)
            add_fact(g, option->key, option->value ? option->value : "yes");
    }
    add_fact(g, "workers", workers_text(spec, g->arena));
    add_fact(g, "cluster",
             w->simulate      ? hm__arena_printf(g->arena, "%s, simulated", w->simulate)
             : spec->launcher ? spec->launcher
                              : "this machine");
    snprintf(text, sizeof(text), "%g above the least objective", spec->loss);
    add_fact(g, "loss to reach", text);
    add_fact(g, "least objective", best_text(f, r, text));
    add_fact(g, "runs", hm__arena_printf(g->arena, "%zu", study_table_count(&f->table)));
    add_fact(g, "time of runs", budget_text(f, text));
}

static void note_failures(const struct study_folder *f, struct text_list *g)
{
    const struct hm_study_spec *spec = f->commands->spec;
    struct study_run run;

    for (size_t i = 0; study_table_each(&f->table, i, &run); i++)
        if (study_table_at(&f->table, &run)->state == STUDY_FAILED)
            list_add(g, hm__arena_printf(
                            g->arena, "%s on %.0f with seed %.0f failed and was not chosen",
                            spec->algorithms[run.algorithm].name, spec->m[run.m], run.seed));
}

static void fill_notes(const struct study_folder *f, const struct study_result *r,
                       struct text_list *g)
{
    const struct hm_study_spec *spec = f->commands->spec;

    list_add(g, hm__arena_printf(g->arena, "no further run was made: %s",
                                 study_verdict_text(r->verdict)));
    if (f->best_error > spec->loss / 4)
        list_add(g,
                 hm__arena_printf(g->arena,
                                  "the least objective is known only within %.2g, but the loss to "
                                  "reach is %g: give best:, or more iterations",
                                  f->best_error, spec->loss));
    note_failures(f, g);
    if (r->holdout_note[0])
        list_add(g, hm__arena_printf(g->arena, "nothing was held out: %s", r->holdout_note));
}

static struct hm_study_run run_of_study(const struct study_folder *f, const struct study_result *r,
                                        const struct study_run *run)
{
    const struct hm_study_spec *spec = f->commands->spec;
    const struct study_entry *entry = study_table_at(&f->table, run);

    return (struct hm_study_run){.algorithm = spec->algorithms[run->algorithm].name,
                                 .m = spec->m[run->m],
                                 .seed = run->seed,
                                 .iterations = entry->iterations,
                                 .time_s = entry->time_s,
                                 .loss = entry->objective - r->convergence->best,
                                 .reason = study_is_initial(spec, run) ? "initial run"
                                                                       : "to reduce uncertainty"};
}

/* Fills in the runs of the report: the reference run first, then all runs with a trace. */
static int fill_runs(const struct study_folder *f, const struct study_result *r,
                     struct hm_arena *arena, struct hm_study *study)
{
    const struct hm_study_spec *spec = f->commands->spec;
    size_t most = spec->algorithm_count * spec->m_count * (size_t)spec->seeds + 1;
    struct hm_study_run *runs = hm__arena_alloc(arena, most, sizeof(*runs));
    struct study_run run;

    if (!runs)
        return cli_complain("out of memory");
    if (f->reference.iterations > 0)
        runs[study->run_count++] = (struct hm_study_run){
            .algorithm = f->commands->reference == STUDY_GAP ? "cocoa" : "lbfgs",
            .m = spec->m[0],
            .seed = 1,
            .iterations = f->reference.iterations,
            .time_s = f->reference.time_s,
            .loss = f->reference.objective - r->convergence->best,
            .reason = "reference"};
    for (size_t i = 0; study_table_each(&f->table, i, &run); i++)
        if (study_table_at(&f->table, &run)->iterations > 0)
            runs[study->run_count++] = run_of_study(f, r, &run);
    study->runs = runs;
    return 0;
}

int study_output_fill(const struct study_folder *f, const struct study_result *r,
                      const char *command, struct hm_arena *arena, struct hm_study *ret_study)
{
    const struct hm_study_spec *spec = f->commands->spec;
    size_t places = spec->algorithm_count * spec->m_count * (size_t)spec->seeds;
    struct text_list facts = list_new(arena, 2 * (spec->train.count + 10));
    struct text_list notes = list_new(arena, places + 4);

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

static void add_line(struct hm_text *out, const struct hm_style *style, const char *label,
                     const struct hm_text *text)
{
    if (text->failed)
        out->failed = true;
    else
        hm__render_line(out, style, label, text->data);
}

static void add_check_line(struct hm_text *out, const struct hm_style *style,
                           const struct hm_study_check *c)
{
    char predicted[HM_SHOWN], low[HM_SHOWN], high[HM_SHOWN], achieved[HM_SHOWN];
    struct hm_text text = {0};
    int inside = check_is_inside(c);

    hm__text_addf(&text, "%s on %.0f: predicted %s", c->algorithm, c->m,
                  hm__show_time(c->predicted_s, predicted));
    if (inside >= 0)
        hm__text_addf(&text, " (%s to %s)", hm__show_time(c->predicted_low_s, low),
                      hm__show_time(c->predicted_high_s, high));
    if (isnan(c->achieved_s))
        hm__text_addf(&text, "; it did not reach the loss and ended at %.3g", c->loss);
    else
        hm__text_addf(&text, ", achieved %s%s", hm__show_time(c->achieved_s, achieved),
                      inside < 0 ? ""
                      : inside   ? ": inside"
                                 : ": outside");
    add_line(out, style, c->role, &text);
    hm__text_release(&text);
}

static void add_check_lines(struct hm_text *out, const struct hm_style *style,
                            const struct hm_study_spec *spec, const struct study_result *r)
{
    struct hm_text text = {0}, better = {0};
    int chosen = chosen_was_better(spec, r);

    if (r->check_count == 0)
        return;
    hm__text_add(out, "\n");
    hm__text_addf(&text, "with seed %.0f, which was not fitted", spec->seeds + 1);
    add_line(out, style, "Check", &text);
    for (size_t i = 0; i < r->check_count; i++)
        add_check_line(out, style, &r->checks[i]);
    hm__text_addf(&better, "The %s was the %s of the two.", chosen ? "chosen one" : "runner-up",
                  spec->goal == HM_GOAL_COST ? "cheaper" : "faster");
    if (chosen >= 0)
        add_line(out, style, "", &better);
    hm__text_release(&better);
    hm__text_release(&text);
}

void study_output_text(const struct study_folder *f, const struct study_result *r,
                       const struct hm_study *study, const char *advice, const char *report,
                       const struct hm_style *style, struct hm_text *out)
{
    struct hm_text runs = {0};
    char text[3 * HM_SHOWN];

    hm__text_addf(out, "%s\n\n", study->title);
    hm__text_addf(&runs, "%zu, %s", study->run_count, budget_text(f, text));
    add_line(out, style, "Runs", &runs);
    hm__render_line(out, style, "P*", best_text(f, r, text));
    for (size_t i = 0; i < study->note_count; i++)
        hm__render_line(out, style, i ? "" : "Note", study->notes[i]);
    hm__text_addf(out, "\n%s", advice);
    add_check_lines(out, style, f->commands->spec, r);
    hm__text_add(out, "\n");
    hm__render_line(out, style, "Report", report);
    hm__text_release(&runs);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

/* Adds a JSON member that is true if `truth` is 1, false if it is 0, and null if it is -1. */
static void put_maybe(struct hm_json *json, const char *key, int truth)
{
    if (truth < 0)
        hm__json_put_null(json, key);
    else
        hm__json_put_bool(json, key, truth);
}

static void put_runs(struct hm_json *json, const struct hm_study *study)
{
    hm__json_open(json, "runs", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < study->run_count; i++) {
        const struct hm_study_run *run = &study->runs[i];
        hm__json_open(json, NULL, HM_JSON_OBJECT);
        hm__json_put_text(json, "algorithm", run->algorithm);
        hm__json_put_number(json, "m", run->m);
        hm__json_put_number(json, "seed", run->seed);
        hm__json_put_number(json, "iterations", run->iterations);
        hm__json_put_number(json, "time_s", run->time_s);
        hm__json_put_number(json, "loss", run->loss);
        hm__json_put_text(json, "reason", run->reason);
        hm__json_close(json);
    }
    hm__json_close(json);
}

static void put_checks(struct hm_json *json, const struct study_result *r)
{
    hm__json_open(json, "checks", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < r->check_count; i++) {
        const struct hm_study_check *c = &r->checks[i];
        hm__json_open(json, NULL, HM_JSON_OBJECT);
        hm__json_put_text(json, "role", c->role);
        hm__json_put_text(json, "algorithm", c->algorithm);
        hm__json_put_number(json, "m", c->m);
        hm__json_put_number(json, "predicted_s", c->predicted_s);
        hm__json_put_number(json, "predicted_low_s", c->predicted_low_s);
        hm__json_put_number(json, "predicted_high_s", c->predicted_high_s);
        hm__json_put_number(json, "achieved_s", c->achieved_s);
        hm__json_put_number(json, "predicted_iterations", c->predicted_iterations);
        hm__json_put_number(json, "achieved_iterations", c->achieved_iterations);
        hm__json_put_number(json, "loss", c->loss);
        put_maybe(json, "inside", check_is_inside(c));
        hm__json_close(json);
    }
    hm__json_close(json);
}

/* Adds the advice, which is already JSON, without the newlines at its end. */
static void put_advice(struct hm_json *json, const char *advice)
{
    struct hm_text text = {0};
    size_t length = strlen(advice);

    while (length > 0 && advice[length - 1] == '\n')
        length--;
    hm__text_add_n(&text, advice, length);
    hm__json_put_raw(json, "advice", text.failed ? "null" : text.data);
    json->out->failed = json->out->failed || text.failed;
    hm__text_release(&text);
}

void study_output_json(const struct study_folder *f, const struct study_result *r,
                       const struct hm_study *study, const char *advice, const char *report,
                       struct hm_text *out)
{
    const struct hm_study_spec *spec = f->commands->spec;
    struct hm_json json = {.out = out};

    hm__json_open(&json, NULL, HM_JSON_OBJECT | HM_JSON_LINES);
    hm__json_put_text(&json, "title", study->title);
    hm__json_put_text(&json, "folder", f->path);
    hm__json_put_text(&json, "report", report);
    hm__json_put_bool(&json, "simulated", f->commands->simulate);
    hm__json_put_number(&json, "loss", spec->loss);
    hm__json_put_number(&json, "best", r->convergence->best);
    hm__json_put_number(&json, "budget_s", spec->budget_s);
    hm__json_put_number(&json, "spent_s", study_table_spent(&f->table));
    put_runs(&json, study);
    put_advice(&json, advice);
    put_checks(&json, r);
    put_maybe(&json, "chosen_was_better", chosen_was_better(spec, r));
    hm__json_put_texts(&json, "notes", study->notes, study->note_count);
    hm__json_close(&json);
    hm__text_add(out, "\n");
}
