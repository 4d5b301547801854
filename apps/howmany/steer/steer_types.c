/* Stores the runs of a steered training (steer_types.h) and their measured points. */
#include "steer_types.h"

#include <math.h>

#include "memory.h"

const char *steer_why_name(enum steer_why why)
{
    static const char *const names[STEER_WHYS] = {
        [STEER_WHY_TRY] = "trial",   [STEER_WHY_STAY] = "stay",
        [STEER_WHY_LEADS] = "leads", [STEER_WHY_MODEL] = "model",
        [STEER_WHY_ONLY] = "only",   [STEER_WHY_CHALLENGE] = "challenger",
    };

    return names[why];
}

long steer_line_add(struct steer_state *state, size_t algorithm, size_t m, long parent)
{
    if (state->line_count == STEER_LINES)
        return -1;
    state->lines[state->line_count] = (struct steer_line){.algorithm = algorithm,
                                                          .m = m,
                                                          .parent = parent,
                                                          .piece = -1,
                                                          .from_loss = NAN,
                                                          .started_s = state->now_s,
                                                          .clock_s = state->now_s};
    return (long)state->line_count++;
}

bool steer_line_point(struct steer_line *line, const struct steer_point *point)
{
    struct steer_point *larger = hm__grow(line->points, line->count, &line->room, sizeof(*larger));
    if (!larger)
        return false;
    line->points = larger;
    line->points[line->count++] = *point;
    return true;
}

size_t steer_line_known(const struct steer_line *line, double until_s)
{
    size_t count = line->count;

    /* The tolerance allows for rounding errors in sums of times. */
    while (count > 0 && line->points[count - 1].clock_s > until_s + 1e-9 * fabs(until_s))
        count--;
    return count;
}

double steer_line_loss(const struct steer_line *line, double until_s)
{
    size_t count = steer_line_known(line, until_s);

    return count > 0 ? line->points[count - 1].loss : line->from_loss;
}

double steer_line_m(const struct steer_state *state, const struct steer_line *line)
{
    return state->task->m[line->m];
}

void steer_state_release(struct steer_state *state)
{
    for (size_t i = 0; i < state->line_count; i++)
        hm__free(state->lines[i].points);
    state->line_count = 0;
}
