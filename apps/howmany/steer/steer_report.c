/*
 * Writes the report of a steered training: one HTML page that loads no other files, with the
 * result, the loss of every run over time, and a table of the decisions.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "format.h"
#include "steer_output.h"
#include "study_render.h"
#include "svg.h"

enum { REPORT_LINES = 12 };

/* ---- the chart ------------------------------------------------------------------------------- */

/* The curves of the chart, and the memory in which their points are stored. */
struct report_chart {
    struct hm_svg_series series[REPORT_LINES];
    char names[REPORT_LINES][80];
    double *values; /* Coordinates of all points of the chart; owned. */
    size_t count, used;
};

/* Returns whether a run was chosen in a frame. The chart draws chosen runs first, then the other
 * runs. */
static bool line_was_chosen(const struct steer_state *state, size_t line)
{
    for (size_t i = 0; i < state->decision_count; i++)
        if (state->decisions[i].line == line && state->decisions[i].why != STEER_WHY_TRY &&
            state->decisions[i].why != STEER_WHY_CHALLENGE)
            return true;
    return false;
}

static void chart_add(struct report_chart *c, const struct steer_state *state, size_t number)
{
    const struct steer_task *task = state->task;
    const struct steer_line *line = &state->lines[number];
    double base = isnan(task->best) ? 0 : task->best;
    double *x = c->values + c->used, *y = x + line->count;

    if (c->count == REPORT_LINES || line->count == 0)
        return;
    for (size_t i = 0; i < line->count; i++) {
        x[i] = line->points[i].clock_s;
        y[i] = line->points[i].loss - base;
    }
    c->used += 2 * line->count;
    snprintf(c->names[c->count], sizeof(c->names[0]), "%.60s on %.0f",
             task->algorithms[line->algorithm], task->m[line->m]);
    c->series[c->count] = (struct hm_svg_series){.name = c->names[c->count],
                                                 .look = c->count,
                                                 .x = x,
                                                 .y = y,
                                                 .count = line->count,
                                                 .line = true};
    c->count++;
}

static void report_chart(const struct steer_state *state, struct hm_text *out)
{
    struct report_chart *c = calloc(1, sizeof(*c));
    size_t points = 0;

    for (size_t i = 0; i < state->line_count; i++)
        points += state->lines[i].count;
    if (c)
        c->values = calloc(2 * points + 1, sizeof(*c->values));
    if (!c || !c->values) {
        free(c);
        out->failed = true;
        return;
    }
    for (int chosen = 1; chosen >= 0; chosen--)
        for (size_t i = 0; i < state->line_count; i++)
            if (line_was_chosen(state, i) == (chosen == 1))
                chart_add(c, state, i);
    struct hm_svg_chart chart = {
        .number = 1,
        .title = "Loss over time",
        .description = "The loss of each line of training over the time of the whole training.",
        .x_label = "seconds",
        .y_label = isnan(state->task->best) ? "loss" : "loss above the least possible",
        .x_scale = HM_SCALE_LINEAR,
        .y_scale = HM_SCALE_LOG,
        .series = c->series,
        .count = c->count};
    if (hm__svg_has_points(&chart)) {
        hm__text_add(out, "<figure><figcaption>Loss over time</figcaption>");
        hm__svg_add(out, &chart);
        hm__text_add(out, "</figure>\n");
    }
    free(c->values);
    free(c);
}

/* ---- the table ------------------------------------------------------------------------------- */

static void cell_time(struct hm_text *out, double seconds)
{
    char text[HM_SHOWN];

    hm__text_addf(out, "<td>%s</td>", isfinite(seconds) ? hm__show_time(seconds, text) : "");
}

static void cell_loss(struct hm_text *out, const struct steer_task *task, double loss)
{
    double base = isnan(task->best) ? 0 : task->best;
    char text[HM_SHOWN];

    hm__text_addf(out, "<td>%s</td>", isfinite(loss) ? hm__show_loss(loss - base, text) : "");
}

static void report_row(const struct steer_state *state, const struct steer_decision *d,
                       struct hm_text *out)
{
    const struct steer_line *line = &state->lines[d->line];
    struct hm_text reason = {0};

    steer_output_reason(state, d, &reason);
    hm__text_addf(out, "<tr><td>%zu</td>", d->frame);
    cell_time(out, d->at_s);
    hm__text_add(out, "<td>");
    hm__xml_text(out, state->task->algorithms[line->algorithm]);
    hm__text_addf(out, "</td><td>%.0f</td>", state->task->m[line->m]);
    cell_loss(out, state->task, d->from_loss);
    cell_time(out, d->switch_s);
    cell_time(out, d->expected_s);
    cell_loss(out, state->task, d->expected_loss);
    cell_loss(out, state->task, d->achieved_loss);
    cell_time(out, d->ended_s);
    hm__text_add(out, "<td>");
    hm__xml_text(out, reason.data ? reason.data : "");
    hm__text_add(out, "</td></tr>\n");
    hm__text_release(&reason);
}

void steer_report_html(const struct steer_state *state, struct hm_text *out)
{
    const struct steer_task *task = state->task;
    struct hm_text headline = {0};

    steer_output_headline(state, &headline);
    hm__report_head(out, task->title ? task->title : "Steered training");
    hm__text_add(out, "<p class=\"answer\">");
    hm__xml_text(out, headline.data ? headline.data : "");
    hm__text_add(out, "</p>\n");
    report_chart(state, out);
    hm__text_add(out, "<h2>Decisions</h2>\n<div class=\"scroll\"><table><thead><tr><th>frame</th>"
                      "<th>at</th><th>algorithm</th><th>workers</th><th>loss</th><th>switch</th>"
                      "<th>expected to the target</th><th>expected loss</th><th>achieved loss</th>"
                      "<th>ended</th><th>why</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < state->decision_count; i++)
        report_row(state, &state->decisions[i], out);
    hm__text_add(out, "</tbody></table></div>\n</main></body></html>\n");
    hm__text_release(&headline);
}
