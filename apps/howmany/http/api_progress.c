/*
 * Writes the response of /v1/progress from the shared list of running commands (board), which the
 * server opens when it starts. The remaining time of a command is extrapolated from the share of
 * its work that is finished.
 */
#include "api_progress.h"

#include <math.h>
#include <time.h>

#include "json.h"

static double seconds_since_1970(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void put_task(struct hm_json *json, const struct hm_board_task *t, double now)
{
    double elapsed = fmax(now - t->started_s, 0);
    double left =
        t->done > 0 && t->total > t->done ? elapsed / t->done * (t->total - t->done) : NAN;

    hm__json_open(json, NULL, HM_JSON_OBJECT);
    hm__json_put_text(json, "command", t->command);
    hm__json_put_text(json, "title", t->title);
    hm__json_put_text(json, "message", t->message);
    hm__json_put_number(json, "done", t->done);
    hm__json_put_number(json, "total", t->total > 0 ? t->total : NAN);
    hm__json_put_number(json, "elapsed_s", elapsed);
    hm__json_put_number(json, "left_s", left);
    hm__json_put_number(json, "silent_s", fmax(now - t->updated_s, 0));
    hm__json_open(json, "points", HM_JSON_LIST);
    for (size_t i = 0; i < (size_t)t->point_count; i++) {
        hm__json_open(json, NULL, HM_JSON_OBJECT);
        hm__json_put_number(json, "n", t->n[i]);
        hm__json_put_number(json, "seconds", t->seconds[i]);
        hm__json_close(json);
    }
    hm__json_close(json);
    hm__json_close(json);
}

void api_progress(struct hm_text *out, const struct hm_board *board)
{
    struct hm_board_task tasks[HM_BOARD_SLOTS];
    size_t count = board ? hm__board_read(board, tasks) : 0;
    struct hm_json json = {.out = out};
    double now = seconds_since_1970();

    hm__json_open(&json, NULL, HM_JSON_OBJECT);
    hm__json_open(&json, "tasks", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < count; i++)
        put_task(&json, &tasks[i], now);
    hm__json_close(&json);
    hm__json_close(&json);
    hm__text_add(out, "\n");
}
