/*
 * Writes stored runs as MLPerf logs and as tables of the OSU micro-benchmarks; see run_export.h.
 */
#include "run_export.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "stored_render.h"

/* ---- MLLOG ----------------------------------------------------------------------------------- */

/*
 * Converts a time such as "2026-11-15T10:13:48Z" to milliseconds since 1970; returns 0 if it is
 * unknown.
 */
static double time_ms(const char *text)
{
    int year, month, day, hour, minute, second;

    if (!text ||
        sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d", &year, &month, &day, &hour, &minute, &second) != 6)
        return 0;
    /*
     * The number of days since 1970-01-01 follows from the Gregorian calendar. Years are counted
     * from March, so that a leap day is the last day of its year.
     */
    double y = month <= 2 ? year - 1 : year, m = month <= 2 ? month + 9 : month - 3;
    double days = 365 * y + floor(y / 4) - floor(y / 100) + floor(y / 400) +
                  floor((153 * m + 2) / 5) + day - 1 - 719468;
    return 1000 * (86400 * days + 3600.0 * hour + 60.0 * minute + second);
}

/* Opens the JSON object of one log entry, and writes everything that comes before its value. */
static void open_entry(struct hm_json *json, double ms, const char *event, const char *key)
{
    hm__text_add(json->out, ":::MLLOG ");
    hm__json_open(json, NULL, HM_JSON_OBJECT);
    hm__json_put_text(json, "namespace", "");
    hm__json_put_number(json, "time_ms", round(ms));
    hm__json_put_text(json, "event_type", event);
    hm__json_put_text(json, "key", key);
}

static void close_entry(struct hm_json *json)
{
    hm__json_close(json); /* Close the metadata of the log entry, and then the entry itself. */
    hm__json_close(json);
    hm__text_add(json->out, "\n");
}

static void put_setting(struct hm_json *json, double ms, const char *key, const char *text,
                        double number)
{
    if (!text && !isfinite(number))
        return;
    open_entry(json, ms, "POINT_IN_TIME", key);
    if (text)
        hm__json_put_text(json, "value", text);
    else
        hm__json_put_number(json, "value", number);
    hm__json_open(json, "metadata", HM_JSON_OBJECT);
    close_entry(json);
}

void hm__export_mllog(struct hm_text *out, const struct hm_stored *run)
{
    struct hm_json json = {.out = out}, *j = &json;
    double start = time_ms(run->made_at), elapsed = 0;
    const char *benchmark = run->job ? run->job : run->problem ? run->problem : run->algorithm;

    put_setting(j, start, "submission_benchmark", benchmark, NAN);
    put_setting(j, start, "submission_platform", run->machine, NAN);
    put_setting(j, start, "global_batch_size", NULL, run->batch);
    put_setting(j, start, "number_of_ranks", NULL, run->n);
    put_setting(j, start, "seed", NULL, run->seed);
    open_entry(j, start, "INTERVAL_START", "run_start");
    hm__json_put_null(j, "value");
    hm__json_open(j, "metadata", HM_JSON_OBJECT);
    close_entry(j);
    for (size_t i = 0; i < run->sample_count; i++) {
        const struct hm_stored_sample *s = &run->samples[i];
        elapsed = isfinite(s->elapsed_s) ? s->elapsed_s : s->iteration * run->seconds;
        elapsed = isfinite(elapsed) ? elapsed : 0;
        open_entry(j, start + 1000 * elapsed, "POINT_IN_TIME", "eval_error");
        hm__json_put_number(j, "value", s->loss);
        hm__json_open(j, "metadata", HM_JSON_OBJECT);
        if (isfinite(run->batch))
            hm__json_put_number(j, "samples_count", s->iteration * run->batch);
        else
            hm__json_put_number(j, "step_num", s->iteration);
        close_entry(j);
    }
    /*
     * A run without iterations and samples, such as an MLPerf result, is written as a single
     * iteration.
     */
    double iterations = isfinite(run->iterations) || run->sample_count > 0 ? run->iterations : 1;
    double total = isfinite(run->total) ? run->total : iterations * run->seconds;
    open_entry(j, start + 1000 * fmax(isfinite(total) ? total : 0, elapsed), "INTERVAL_END",
               "run_stop");
    hm__json_put_null(j, "value");
    hm__json_open(j, "metadata", HM_JSON_OBJECT);
    hm__json_put_text(j, "status",
                      !run->status || strcmp(run->status, "ok") == 0 ? "success" : "aborted");
    close_entry(j);
}

/* ---- OSU ------------------------------------------------------------------------------------- */

/*
 * Copies the value of a member of the run's field `more`, without quotes; returns false if there is
 * no such member.
 */
static bool get_member(const struct hm_stored *run, const char *wanted, char *text, size_t room)
{
    const char *at = run->more ? run->more : "", *name, *value;
    size_t name_length, value_length;

    while ((at = hm__stored_member(at, &name, &name_length, &value, &value_length))) {
        if (strlen(wanted) != name_length || memcmp(wanted, name, name_length) != 0)
            continue;
        if (value_length > 1 && *value == '"') {
            value++;
            value_length -= 2;
        }
        snprintf(text, room, "%.*s", (int)(value_length < room ? value_length : room - 1), value);
        return true;
    }
    return false;
}

bool hm__export_osu(struct hm_text *out, const struct hm_stored *run,
                    const struct hm_stored *before)
{
    char collective[80], last[80] = "", bytes[40];

    if (!get_member(run, "collective", collective, sizeof(collective)) ||
        !get_member(run, "bytes", bytes, sizeof(bytes)) || !(run->seconds > 0))
        return false;
    if (before)
        get_member(before, "collective", last, sizeof(last));
    if (!before || strcmp(last, collective) != 0 || before->n != run->n)
        hm__text_addf(out,
                      "%s# OSU MPI %s Test v5.8\n# %.0f processes, written by howmany\n"
                      "# Size       Avg Latency(us)\n",
                      before ? "\n" : "", collective, run->n);
    hm__text_addf(out, "%-12s ", bytes);
    hm__text_addf(out, "%15.10g\n", 1e6 * run->seconds);
    return true;
}
