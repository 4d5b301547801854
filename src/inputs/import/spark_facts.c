/*
 * Writes the values of a Spark event log as JSON members (facts), the runs of repeated jobs, and a
 * job for `howmany plan`.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "budget.h"
#include "spark.h"

static const char *const sum_names[SPARK_SUMS] = {"task_wall_ms",
                                                  "run_ms",
                                                  "cpu_ns",
                                                  "gc_ms",
                                                  "deserialize_ms",
                                                  "result_ser_ms",
                                                  "input_bytes",
                                                  "input_records",
                                                  "output_bytes",
                                                  "shuffle_read_remote_bytes",
                                                  "shuffle_read_local_bytes",
                                                  "shuffle_fetch_wait_ms",
                                                  "shuffle_write_bytes",
                                                  "shuffle_write_ns",
                                                  "spill_disk_bytes"};

/* Number of executors and number of cores that exist from `time` until the next change. */
struct executor_change {
    double time, executors, cores;
    size_t order;
};

static int compare_changes(const void *a, const void *b)
{
    const struct executor_change *x = a, *y = b;

    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Creates a list of the numbers of executors and cores over time; returns its length. */
static size_t make_series(const struct spark *s, struct executor_change *changes)
{
    size_t count = 0;

    for (size_t i = 0; i < s->executor_count; i++) {
        const struct spark_executor *e = &s->executors[i];
        double cores = isnan(e->cores) ? 0 : e->cores;
        changes[count] = (struct executor_change){e->added, 1, cores, count};
        count += isnan(e->added) ? 0 : 1;
        changes[count] = (struct executor_change){e->removed, -1, -cores, count};
        count += isnan(e->added) || isnan(e->removed) ? 0 : 1;
    }
    if (count > 0)
        qsort(changes, count, sizeof(*changes), compare_changes);
    for (size_t i = 1; i < count; i++) {
        changes[i].executors += changes[i - 1].executors;
        changes[i].cores += changes[i - 1].cores;
    }
    return count;
}

static void put_executors(const struct spark *s)
{
    struct hm_json *j = &s->im->facts;
    struct executor_change *changes = hm__calloc(2 * s->executor_count + 2, sizeof(*changes));
    double peak = 0, peak_cores = 0;
    size_t count = changes ? make_series(s, changes) : 0;

    s->im->failed |= !changes;
    for (size_t i = 0; i < count; i++) {
        peak = fmax(peak, changes[i].executors);
        peak_cores = fmax(peak_cores, changes[i].cores);
    }

    hm__json_open(j, "executors", HM_JSON_OBJECT | HM_JSON_LINES);
    hm__json_put_number(j, "count", (double)s->executor_count);
    hm__json_put_number(j, "peak", peak);
    hm__json_put_number(j, "peak_cores", peak_cores);
    hm__json_open(j, "list", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < s->executor_count; i++) {
        hm__json_open(j, NULL, HM_JSON_OBJECT);
        hm__json_put_text(j, "id", s->executors[i].id);
        hm__json_put_number(j, "cores", s->executors[i].cores);
        hm__json_put_number(j, "added_ms", s->executors[i].added);
        hm__json_put_number(j, "removed_ms", s->executors[i].removed);
        hm__json_close(j);
    }
    hm__json_close(j);
    hm__json_open(j, "series_ms_executors_cores", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < count; i++) {
        const double change[] = {changes[i].time, changes[i].executors, changes[i].cores};
        hm__json_put_numbers(j, NULL, change, 3);
    }
    hm__json_close(j);
    hm__json_close(j);
    hm__free(changes);
}

static double job_seconds(const struct spark_job *job)
{
    return (job->ended - job->submitted) / 1000;
}

static void put_names(struct hm_json *j, const char *key, const struct spark_job *job)
{
    hm__json_open(j, key, HM_JSON_LIST);
    for (size_t i = 0; i < job->stage_count; i++)
        hm__json_put_text(j, NULL, job->names[i]);
    hm__json_close(j);
}

static void put_jobs(const struct spark *s)
{
    struct hm_json *j = &s->im->facts;

    hm__json_open(j, "jobs", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < s->job_count; i++) {
        const struct spark_job *job = &s->jobs[i];
        hm__json_open(j, NULL, HM_JSON_OBJECT);
        hm__json_put_number(j, "id", job->id);
        hm__json_put_number(j, "submit_ms", job->submitted);
        hm__json_put_number(j, "end_ms", job->ended);
        hm__json_put_text(j, "result", job->result);
        hm__json_put_numbers(j, "stages", job->stages, job->stage_count);
        put_names(j, "names", job);
        hm__json_put_number(j, "seconds", job_seconds(job));
        hm__json_close(j);
    }
    hm__json_close(j);
}

/*
 * Returns the skew of a stage: the duration of its longest task divided by the mean duration of its
 * tasks; NaN if it has no tasks.
 */
static double stage_skew(const struct spark_stage *st)
{
    return st->ok > 0 && st->sums[SPARK_TASK_WALL_MS] > 0
               ? st->longest_ms * st->ok / st->sums[SPARK_TASK_WALL_MS]
               : NAN;
}

static void put_stage(struct hm_json *j, const struct spark_stage *st)
{
    hm__json_open(j, NULL, HM_JSON_OBJECT);
    hm__json_put_number(j, "id", st->id);
    hm__json_put_number(j, "attempt", st->attempt);
    hm__json_put_text(j, "name", st->name);
    hm__json_put_number(j, "num_tasks", st->tasks);
    hm__json_put_number(j, "submitted_ms", st->submitted);
    hm__json_put_number(j, "completed_ms", st->completed);
    if (st->ended)
        hm__json_put_bool(j, "failed", st->failed);
    else
        hm__json_put_null(j, "failed");
    hm__json_put_number(j, "tasks_ok", st->ok);
    hm__json_put_number(j, "tasks_not_ok", st->not_ok);
    hm__json_put_number(j, "speculative", st->speculative);
    for (int k = 0; k < SPARK_SUMS; k++)
        hm__json_put_number(j, sum_names[k], st->sums[k]);
    hm__json_put_number(j, "seconds", (st->completed - st->submitted) / 1000);
    hm__json_put_number(j, "task_skew", stage_skew(st));
    hm__json_close(j);
}

/*
 * Writes how much the durations of tasks differ within a stage, over all stages with several tasks:
 * the mean relative standard deviation, weighted by the number of tasks, and quantiles of the skew
 * (longest task divided by the mean).
 */
static void put_stragglers(struct spark *s)
{
    struct hm_json *j = &s->im->facts;
    double *skews = hm__calloc(s->stage_count + 1, sizeof(*skews));
    double tasks = 0, spread = 0;
    size_t count = 0;

    if (!skews) {
        s->im->failed = true;
        return;
    }
    for (size_t i = 0; i < s->stage_count; i++) {
        const struct spark_stage *st = &s->stages[i];
        double mean = st->ok > 1 ? st->sums[SPARK_TASK_WALL_MS] / st->ok : 0;
        if (!(mean > 0))
            continue;
        skews[count++] = stage_skew(st);
        tasks += st->ok;
        spread += st->ok * fmax(st->squares_ms / st->ok / (mean * mean) - 1, 0);
    }
    if (count > 1)
        qsort(skews, count, sizeof(*skews), hm__compare_numbers);
    hm__json_open(j, "stragglers", HM_JSON_OBJECT);
    hm__json_put_number(j, "stages", (double)count);
    hm__json_put_number(j, "tasks", tasks);
    hm__json_put_number(j, "relative_deviation", tasks > 0 ? sqrt(spread / tasks) : NAN);
    hm__json_put_number(j, "longest_over_mean_median", count > 0 ? skews[(count - 1) / 2] : NAN);
    hm__json_put_number(j, "longest_over_mean_p90",
                        count > 0 ? skews[(size_t)ceil(0.9 * (double)count) - 1] : NAN);
    hm__json_put_number(j, "longest_over_mean_max", count > 0 ? skews[count - 1] : NAN);
    hm__json_close(j);
    hm__free(skews);
}

static void put_totals(const struct spark *s)
{
    static const enum spark_sum shown[] = {SPARK_RUN_MS, SPARK_INPUT_BYTES, SPARK_REMOTE_BYTES,
                                           SPARK_LOCAL_BYTES, SPARK_WRITE_BYTES};
    struct hm_json *j = &s->im->facts;
    double ok = 0, not_ok = 0, sums[SPARK_SUMS] = {0};

    for (size_t i = 0; i < s->stage_count; i++) {
        ok += s->stages[i].ok;
        not_ok += s->stages[i].not_ok;
        for (int k = 0; k < SPARK_SUMS; k++)
            sums[k] += s->stages[i].sums[k];
    }
    hm__json_open(j, "totals", HM_JSON_OBJECT);
    hm__json_put_number(j, "tasks_ok", ok);
    hm__json_put_number(j, "tasks_not_ok", not_ok);
    for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
        hm__json_put_number(j, sum_names[shown[i]], sums[shown[i]]);
    hm__json_close(j);
    hm__import_took(s->im, ok, "tasks of %zu stages", s->stage_count);
    hm__import_left(s->im, not_ok, "tasks that failed");
}

/* ---- repeated jobs ----------------------------------------------------------------------------
 */

static bool is_success(const struct spark_job *job)
{
    return job->result && strcmp(job->result, "JobSucceeded") == 0 && !isnan(job_seconds(job));
}

/* Sets the hash of the names of a job's stages, which is 0 if the job did not succeed. */
static void hash_names(const struct spark *s, struct spark_job *job)
{
    uint64_t parts[2] = {1, 0};

    job->names_hash = 0;
    if (!is_success(job))
        return;
    for (size_t i = 0; i < job->stage_count; i++) {
        parts[1] = hm__hash_text(&s->key, job->names[i]);
        parts[0] = hm__hash_bytes(&s->key, parts, sizeof(parts));
    }
    job->names_hash = parts[0] ? parts[0] : 1;
}

/* Returns whether two jobs succeeded and their stages have the same names. */
static bool same_names(const struct spark_job *a, const struct spark_job *b)
{
    if (a->names_hash != b->names_hash || a->names_hash == 0 || a->stage_count != b->stage_count)
        return false;
    for (size_t i = 0; i < a->stage_count; i++)
        if (strcmp(a->names[i], b->names[i]) != 0)
            return false;
    return true;
}

/*
 * Sums over the stages of a job in which at least one task succeeded; `skew` is the largest skew of
 * these stages.
 */
struct job_work {
    double tasks, run_s, input, shuffle, skew;
};

/* Stages have few attempts; of a stage with more than this number, the first ones are used. */
enum { ATTEMPTS_MOST = 100 };

static int compare_stages(const void *a, const void *b, void *data)
{
    const struct spark_stage *stages = data;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;

    if (stages[i].id != stages[k].id)
        return stages[i].id < stages[k].id ? -1 : 1;
    return i < k ? -1 : i > k;
}

static int compare_indices(const void *a, const void *b)
{
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;

    return i < k ? -1 : i > k;
}

/* Sorts the stages by their identifiers; returns false if memory runs out. */
static bool order_stages(struct spark *s)
{
    s->order = hm__calloc(s->stage_count + 1, sizeof(*s->order));
    s->im->failed |= !s->order;
    for (size_t i = 0; s->order && i < s->stage_count; i++)
        s->order[i] = (uint32_t)i;
    if (s->order && s->stage_count > 1)
        qsort_r(s->order, s->stage_count, sizeof(*s->order), compare_stages, s->stages);
    return s->order;
}

/* Returns the position of the first stage with an identifier of at least `id` in the order. */
static size_t first_stage(const struct spark *s, double id)
{
    size_t low = 0, high = s->stage_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->stages[s->order[middle]].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/*
 * Finds the stages of a job in the order of the log. Returns their indices, which the caller frees;
 * NULL if memory runs out.
 */
static uint32_t *stages_of(struct spark *s, const struct spark_job *job, size_t *ret_count)
{
    bool few = job->stage_count < s->stage_count / ATTEMPTS_MOST;
    size_t room = few ? job->stage_count * ATTEMPTS_MOST : s->stage_count;
    uint32_t *found = hm__calloc(room + 1, sizeof(*found));
    double *ids = hm__calloc(job->stage_count + 1, sizeof(*ids));
    size_t count = 0;

    for (size_t k = 0; found && ids && k < job->stage_count; k++)
        ids[k] = job->stages[k];
    if (found && ids && job->stage_count > 1)
        qsort(ids, job->stage_count, sizeof(*ids), hm__compare_numbers);
    for (size_t k = 0; found && ids && k < job->stage_count; k++) {
        if (k > 0 && ids[k] == ids[k - 1])
            continue;
        size_t at = first_stage(s, ids[k]), end = at + ATTEMPTS_MOST;
        for (; at < s->stage_count && at < end && s->stages[s->order[at]].id == ids[k]; at++)
            found[count++] = s->order[at];
    }
    if (count > 1)
        qsort(found, count, sizeof(*found), compare_indices);
    if (!ids) {
        hm__free(found);
        found = NULL;
    }
    hm__free(ids);
    s->im->failed |= !found;
    *ret_count = count;
    return found;
}

static struct job_work work_of(struct spark *s, const struct spark_job *job)
{
    struct job_work w = {0, 0, 0, 0, NAN};
    size_t count;
    uint32_t *found = stages_of(s, job, &count);

    for (size_t i = 0; found && i < count; i++) {
        const struct spark_stage *st = &s->stages[found[i]];
        if (st->ok == 0)
            continue;
        w.tasks += st->ok;
        w.run_s += st->sums[SPARK_RUN_MS] / 1000;
        w.input += st->sums[SPARK_INPUT_BYTES];
        w.shuffle += st->sums[SPARK_REMOTE_BYTES] + st->sums[SPARK_LOCAL_BYTES];
        w.skew = fmax(isnan(w.skew) ? 0 : w.skew, stage_skew(st));
    }
    hm__free(found);
    return w;
}

static void add_run(struct spark *s, const struct spark_job *job, const char *name)
{
    struct job_work w = work_of(s, job);
    double n = hm__import_given(s->im, "n");
    const struct hm_import_cell cells[] = {hm__cell_text(name),
                                           hm__cell(isnan(n) ? fmax(job->executors, 1) : n),
                                           hm__cell(job_seconds(job)),
                                           hm__cell(job->cores),
                                           hm__cell(w.tasks),
                                           hm__cell(w.run_s),
                                           hm__cell(w.input),
                                           hm__cell(w.shuffle),
                                           hm__cell(w.skew)};

    hm__import_row(s->im, &s->im->runs, cells);
}

/*
 * Writes a job for `howmany plan`: the run time of the tasks is divided among the workers, and the
 * rest of the median time does not depend on the number of workers.
 */
static void put_plan(struct spark *s, const struct spark_job *job, const char *name, double median)
{
    struct job_work w = work_of(s, job);
    double executors = fmax(job->executors, 1), cores = fmax(job->cores / executors, 1);
    double rest = fmax(median - w.run_s / (executors * cores), 0);

    if (s->im->document.length > 0 || !(w.run_s > 0))
        return;
    s->im->document_kind = "job";
    hm__text_add(&s->im->document, "# n counts executors.\nname: ");
    hm__json_text(&s->im->document, name);
    hm__text_add(&s->im->document, "\nwhere:\n  work: ");
    hm__json_number(&s->im->document, w.run_s);
    hm__text_add(&s->im->document, " s\n  cores: ");
    hm__json_number(&s->im->document, cores);
    hm__text_add(&s->im->document, "\n  rest: ");
    hm__json_number(&s->im->document, rest);
    hm__text_addf(&s->im->document,
                  " s\ncompute: work / (cores * n) + rest\ncommunicate: none\n"
                  "cluster: {max_nodes: %.0f}\n",
                  fmax(32, 4 * executors));
}

/* Writes the group of jobs whose stages have the same names as the stages of the job `first`. */
static void put_group(struct spark *s, size_t first, size_t count, double *seconds)
{
    struct hm_json *j = &s->im->facts;
    struct spark_job *job = &s->jobs[first];
    struct hm_text name = {0};
    size_t done = 0;

    for (size_t i = 0; i < job->stage_count; i++)
        hm__text_addf(&name, "%s%s", i ? "+" : "", job->names[i]);
    const char *label = hm__arena_strdup(s->im->arena, name.data ? name.data : "job");
    s->im->failed |= name.failed;
    hm__text_release(&name);
    hm__json_open(j, NULL, HM_JSON_OBJECT);
    put_names(j, "stage_names", job);
    hm__json_open(j, "jobs", HM_JSON_LIST);
    for (size_t i = first; i < s->job_count; i++) {
        struct spark_job *other = &s->jobs[i];
        if (!same_names(job, other))
            continue;
        other->grouped = true;
        hm__json_put_number(j, NULL, other->id);
        seconds[done++] = job_seconds(other);
        if (label)
            add_run(s, other, label);
    }
    hm__json_close(j);
    hm__json_put_numbers(j, "seconds", seconds, count);
    qsort(seconds, count, sizeof(*seconds), hm__compare_numbers);
    double median =
        count % 2 ? seconds[count / 2] : (seconds[count / 2 - 1] + seconds[count / 2]) / 2;
    hm__json_put_number(j, "median_s", median);
    hm__json_close(j);
    put_plan(s, job, label ? label : "job", median);
}

/*
 * Largest number of jobs among which repeated jobs are searched for; a log with more jobs does not
 * come from an iterative run.
 */
enum { GROUP_MOST = 5000 };

static void put_groups(struct spark *s)
{
    struct hm_json *j = &s->im->facts;
    double *seconds = order_stages(s) ? hm__calloc(s->job_count + 1, sizeof(*seconds)) : NULL;

    s->im->failed |= !seconds;
    hm__import_columns(
        &s->im->runs,
        "*job,n,seconds,total_cores,tasks,task_seconds,input_bytes,shuffle_bytes,skew");
    hm__json_open(j, "repeated_jobs", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < s->job_count; i++)
        hash_names(s, &s->jobs[i]);
    for (size_t i = 0; seconds && i < s->job_count && i < GROUP_MOST; i++) {
        size_t count = 0;
        if (s->jobs[i].grouped || s->jobs[i].names_hash == 0)
            continue;
        if (hm__budget_spent(NULL))
            break;
        for (size_t k = i; k < s->job_count; k++) {
            bool same = same_names(&s->jobs[i], &s->jobs[k]);
            count += same;
            s->jobs[k].grouped |= same;
        }
        if (count >= 3)
            put_group(s, i, count, seconds);
    }
    hm__json_close(j);
    hm__free(seconds);
    hm__free(s->order);
}

/* ---- the whole ---------------------------------------------------------------------------------
 */

static void put_head(struct spark *s)
{
    struct hm_json *j = &s->im->facts;
    const char *codec = s->im->codec ? s->im->codec : "plain";
    char container[64];

    if (s->im->part_count > 1)
        snprintf(container, sizeof(container), "rolling (%s, %zu files)", codec, s->im->part_count);
    else
        snprintf(container, sizeof(container), "%s%s", codec,
                 strcmp(codec, "lz4") == 0 ? " (LZ4Block)" : "");
    hm__json_put_text(j, "container", container);
    hm__json_put_number(j, "lines", s->lines);
    hm__json_put_number(j, "lines_not_json", s->bad_lines);
    hm__json_put_bool(j, "complete", s->complete);
    hm__json_open(j, "app", HM_JSON_OBJECT);
    hm__json_put_text(j, "id", s->app_id);
    hm__json_put_text(j, "name", s->app_name);
    hm__json_put_text(j, "spark_version", s->version);
    hm__json_put_number(j, "start_ms", s->start);
    hm__json_put_number(j, "end_ms", s->end);
    hm__json_close(j);
    hm__json_put_number(j, "seconds", (s->end - s->start) / 1000);
}

void hm__spark_finish(struct spark *s)
{
    put_head(s);
    put_executors(s);
    put_jobs(s);
    hm__json_open(&s->im->facts, "stages", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < s->stage_count; i++)
        put_stage(&s->im->facts, &s->stages[i]);
    hm__json_close(&s->im->facts);
    put_totals(s);
    put_stragglers(s);
    put_groups(s);
    if (s->im->runs.rows > 0)
        hm__import_took(s->im, (double)s->im->runs.rows, "jobs that repeat, as runs");
    else
        hm__import_note(s->im, "no job repeats three times, so there are no iterations");
    if (!s->complete)
        hm__import_note(s->im, "the log has no end of the application: it failed or still runs");
    hm__import_left(s->im, s->beyond[SPARK_JOBS], "jobs after the first %d", SPARK_MOST);
    hm__import_left(s->im, s->beyond[SPARK_EXECUTORS], "executors after the first %d", SPARK_MOST);
    hm__import_left(s->im, s->beyond[SPARK_STAGES], "events of stages after the first %d",
                    SPARK_MOST);
    hm__import_left(s->im, s->events_left, "events of other kinds");
    hm__import_left(s->im, s->bad_lines, "lines that are not JSON");
}
