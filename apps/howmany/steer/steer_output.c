/* Writes the log of decisions, and the result of a steered training as text and as JSON. */
#include "steer_output.h"

#include <math.h>
#include <string.h>

#include "format.h"
#include "json.h"

static const char *show_known_time(double seconds, char *text)
{
    return isfinite(seconds) ? hm__show_time(seconds, text) : "";
}

/*
 * Formats a loss, relative to the lowest possible loss if that is known; the result is an empty
 * string if the loss is unknown.
 */
static const char *show_task_loss(const struct steer_task *task, double loss, char *text)
{
    double base = isnan(task->best) ? 0 : task->best;

    return isfinite(loss) ? hm__show_loss(loss - base, text) : "";
}

/*
 * Returns a phrase that says what the printed losses are relative to; an empty string if they are
 * absolute.
 */
static const char *loss_words(const struct steer_task *task)
{
    return isnan(task->best) ? "" : " above the least loss";
}

/* Adds a phrase that describes a choice, such as "cocoa+ on 8 workers". */
static void add_choice(const struct steer_task *task, size_t algorithm, size_t m,
                       struct hm_text *out)
{
    const char *name = task->algorithms[algorithm];

    hm__text_addf(out, "%s%s%.0f worker%s", name, name[0] ? " on " : "", task->m[m],
                  hm__plural(task->m[m]));
}

static void add_line(const struct steer_state *state, size_t number, struct hm_text *out)
{
    const struct steer_line *line = &state->lines[number];

    add_choice(state->task, line->algorithm, line->m, out);
}

void steer_output_reason(const struct steer_state *state, const struct steer_decision *d,
                         struct hm_text *out)
{
    const struct steer_task *task = state->task;
    char time[HM_SHOWN];

    switch (d->why) {
    case STEER_WHY_TRY:
        hm__text_add(out, "trial");
        break;
    case STEER_WHY_CHALLENGE:
        hm__text_add(out, "runs beside it on idle nodes");
        break;
    case STEER_WHY_ONLY:
        hm__text_add(out, isnan(d->from_loss)
                              ? "no loss is known yet"
                              : "has the smallest loss; nothing can be expected yet");
        break;
    case STEER_WHY_STAY:
        hm__text_add(out, "is still expected to be first");
        break;
    case STEER_WHY_LEADS:
        hm__text_add(out, "is expected to be first");
        break;
    case STEER_WHY_MODEL:
        hm__text_add(out, "the models expect it to be faster from here");
        break;
    case STEER_WHYS:
        break;
    }
    if (isfinite(d->rival_s)) {
        hm__text_add(out, "; next ");
        add_choice(task, d->rival / task->m_count, d->rival % task->m_count, out);
        hm__text_addf(out, ", %s", hm__show_time(d->rival_s, time));
    }
}

/* ---- the log --------------------------------------------------------------------------------- */

static void json_decision(struct hm_json *json, const struct steer_state *state,
                          const struct steer_decision *d)
{
    const struct steer_line *line = &state->lines[d->line];
    const struct steer_task *task = state->task;
    struct hm_text reason = {0};

    steer_output_reason(state, d, &reason);
    hm__json_open(json, NULL, HM_JSON_OBJECT);
    hm__json_put_number(json, "frame", (double)d->frame);
    hm__json_put_number(json, "line", (double)d->line);
    hm__json_put_text(json, "algorithm", task->algorithms[line->algorithm]);
    hm__json_put_number(json, "n", task->m[line->m]);
    hm__json_put_text(json, "why", steer_why_name(d->why));
    hm__json_put_text(json, "reason", reason.data ? reason.data : "");
    hm__json_put_number(json, "at_s", d->at_s);
    hm__json_put_number(json, "from_loss", d->from_loss);
    hm__json_put_number(json, "switch_s", d->switch_s);
    hm__json_put_number(json, "expected_s", d->expected_s);
    hm__json_put_number(json, "expected_loss", d->expected_loss);
    hm__json_put_number(json, "until_s", d->until_s);
    hm__json_put_number(json, "ended_s", d->ended_s);
    hm__json_put_number(json, "achieved_loss", d->achieved_loss);
    hm__json_put_number(json, "rival_s", d->rival_s);
    if (isfinite(d->rival_s)) {
        hm__json_put_text(json, "rival_algorithm", task->algorithms[d->rival / task->m_count]);
        hm__json_put_number(json, "rival_n", task->m[d->rival % task->m_count]);
    }
    hm__json_close(json);
    hm__text_release(&reason);
}

int steer_output_log(const struct steer_folder *folder, const struct steer_state *state)
{
    struct hm_text out = {0};

    for (size_t i = 0; i < state->decision_count; i++) {
        struct hm_json json = {.out = &out};
        json_decision(&json, state, &state->decisions[i]);
        hm__text_add(&out, "\n");
    }
    int rc = out.failed ? cli_complain("out of memory")
                        : steer_folder_write(folder, "decisions.jsonl", out.data ? out.data : "",
                                             out.length);
    hm__text_release(&out);
    return rc;
}

/* ---- the result ------------------------------------------------------------------------------ */

/* Returns the number of decisions that changed the chosen run. */
static size_t count_switches(const struct steer_state *state)
{
    size_t count = 0;
    long last = -1;

    for (size_t i = 0; i < state->decision_count; i++) {
        const struct steer_decision *d = &state->decisions[i];
        if (d->why == STEER_WHY_TRY || d->why == STEER_WHY_CHALLENGE)
            continue;
        count += last >= 0 && (long)d->line != last;
        last = (long)d->line;
    }
    return count;
}

static double least_loss(const struct steer_state *state)
{
    double least = INFINITY;

    for (size_t i = 0; i < state->line_count; i++)
        for (size_t k = 0; k < state->lines[i].count; k++)
            least = fmin(least, state->lines[i].points[k].loss);
    return isinf(least) ? NAN : least;
}

void steer_output_headline(const struct steer_state *state, struct hm_text *out)
{
    char time[HM_SHOWN], loss[HM_SHOWN], least[HM_SHOWN];
    const char *stopped = state->stopped ? state->stopped : "";

    if (state->reached >= 0) {
        hm__text_addf(out, "Reached %s%s after %s, with ",
                      show_task_loss(state->task, state->task->target, loss),
                      loss_words(state->task), hm__show_time(state->now_s, time));
        add_line(state, (size_t)state->reached, out);
        hm__text_add(out, ".");
        return;
    }
    hm__text_addf(out, "Not reached: %s after %s; ",
                  strcmp(stopped, "time") == 0     ? "the time is over"
                  : strcmp(stopped, "budget") == 0 ? "the budget is spent"
                  : strcmp(stopped, "frames") == 0 ? "there were too many frames"
                                                   : "no line can go on",
                  hm__show_time(state->now_s, time));
    if (isfinite(least_loss(state)))
        hm__text_addf(
            out, "the loss is %s%s, not %s.", show_task_loss(state->task, least_loss(state), least),
            loss_words(state->task), show_task_loss(state->task, state->task->target, loss));
    else
        hm__text_add(out, "no loss was reported.");
}

static void text_frames(const struct steer_state *state, struct hm_text *out)
{
    char at[HM_SHOWN], from[HM_SHOWN], expected[HM_SHOWN], achieved[HM_SHOWN], left[HM_SHOWN];
    struct hm_text choice = {0}, reason = {0};
    bool any = false;

    for (size_t i = 0; i < state->decision_count; i++)
        any = any || (state->decisions[i].why != STEER_WHY_TRY &&
                      state->decisions[i].why != STEER_WHY_CHALLENGE);
    if (!any) /* A trial reached the target loss before there was a decision to print. */
        return;
    hm__text_addf(out, "\n%5s %10s  %-24s %10s %10s %10s %10s  %s\n", "frame", "at", "runs", "loss",
                  "expected", "achieved", "left", "why");
    for (size_t i = 0; i < state->decision_count; i++) {
        const struct steer_decision *d = &state->decisions[i];
        if (d->why == STEER_WHY_TRY || d->why == STEER_WHY_CHALLENGE)
            continue;
        choice.length = reason.length = 0;
        add_line(state, d->line, &choice);
        steer_output_reason(state, d, &reason);
        hm__text_addf(out, "%5zu %10s  %-24s %10s %10s %10s %10s  %s\n", d->frame,
                      hm__show_time(d->at_s, at), choice.data ? choice.data : "",
                      show_task_loss(state->task, d->from_loss, from),
                      show_task_loss(state->task, d->expected_loss, expected),
                      show_task_loss(state->task, d->achieved_loss, achieved),
                      show_known_time(d->expected_s, left), reason.data ? reason.data : "");
    }
    hm__text_release(&choice);
    hm__text_release(&reason);
}

/* Returns the number of runs that began as trials. */
static size_t count_trials(const struct steer_state *state)
{
    bool tried[STEER_LINES] = {false};
    size_t count = 0;

    for (size_t i = 0; i < state->decision_count; i++) {
        const struct steer_decision *d = &state->decisions[i];
        count += d->why == STEER_WHY_TRY && !tried[d->line];
        tried[d->line] = true;
    }
    return count;
}

void steer_output_text(const struct steer_folder *folder, const struct steer_state *state,
                       struct hm_text *out)
{
    const struct steer_task *task = state->task;
    char time[HM_SHOWN], share[HM_SHOWN], switching[HM_SHOWN], workers[HM_SHOWN], money[HM_SHOWN];
    size_t trials = count_trials(state), switches = count_switches(state);

    steer_output_headline(state, out);
    hm__text_addf(out, "\n  trials       %zu %s, %s of the time\n", trials,
                  task->together ? "side by side" : "one after another",
                  hm__show_time(fmin(state->explore_s, state->now_s), time));
    hm__text_addf(
        out, "  switches     %zu, %s each\n", switches,
        hm__show_time(isnan(task->switch_s) ? state->startup_s : task->switch_s, switching));
    hm__text_addf(out, "  workers      %s of worker time, %s on average\n",
                  hm__show_time(state->worker_s, workers),
                  hm__show_number(state->worker_s / fmax(state->now_s, 1e-300), share));
    if (!isnan(task->price_per_s))
        hm__text_addf(out, "  cost         %s\n",
                      hm__show_money(state->worker_s * task->price_per_s, money));
    text_frames(state, out);
    hm__text_addf(out, "\nDecisions, points and the report are in %s.\n", folder->path);
}

void steer_output_json(const struct steer_state *state, struct hm_text *out)
{
    const struct steer_task *task = state->task;
    struct hm_json json = {.out = out};

    hm__json_open_answer(&json);
    hm__json_put_text(&json, "status", state->reached >= 0 ? "ok" : "unreached");
    hm__json_put_text(&json, "stopped_by", state->stopped);
    hm__json_put_number(&json, "time_s", state->now_s);
    hm__json_put_number(&json, "explore_s", fmin(state->explore_s, state->now_s));
    hm__json_put_number(&json, "worker_s", state->worker_s);
    hm__json_put_number(&json, "cost", state->worker_s * state->task->price_per_s);
    hm__json_put_number(&json, "target", state->task->target);
    hm__json_put_number(&json, "loss", least_loss(state));
    hm__json_put_number(&json, "switch_s",
                        isnan(task->switch_s) ? state->startup_s : task->switch_s);
    hm__json_put_number(&json, "switches", (double)count_switches(state));
    hm__json_put_number(&json, "trials", (double)count_trials(state));
    if (state->reached >= 0) {
        const struct steer_line *line = &state->lines[state->reached];
        hm__json_put_text(&json, "algorithm", state->task->algorithms[line->algorithm]);
        hm__json_put_number(&json, "n", state->task->m[line->m]);
    }
    hm__json_open(&json, "decisions", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < state->decision_count; i++)
        json_decision(&json, state, &state->decisions[i]);
    hm__json_close(&json);
    hm__json_close_answer(&json);
}
