/*
 * Reads Spark event logs: one JSON object on each line, plain or compressed, in one file or in a
 * folder of files. The log says when executors are added and removed. A job consists of stages, and
 * a stage of tasks. Jobs that repeat with the same stages are the iterations of a machine-learning
 * job.
 *
 * Times are in milliseconds, except for CPU time and the time spent writing shuffles, which are in
 * nanoseconds. Only the metrics of tasks that succeeded are summed. User names, host names and
 * settings are not read.
 */
#include "spark.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "importers.h"
#include "pull.h"

enum { SPARK_SLOTS = 1 << 17 };

/*
 * Enlarges the array of a table by one element; returns NULL if memory runs out, or if there are
 * too many elements, which is counted.
 */
static void *grow_array(struct spark *s, enum spark_table table, void *array, size_t count,
                        size_t *room, size_t size)
{
    if (count >= SPARK_MOST) {
        s->beyond[table]++;
        return NULL;
    }
    void *larger = hm__grow(array, count, room, size);
    s->im->failed |= !larger;
    return larger;
}

/* What identifies an element: a text for executors; numbers for jobs and stages. */
struct spark_name {
    const char *text;
    double numbers[2]; /* Not NaN. */
};

static bool has_name(const struct spark *s, enum spark_table table, size_t i,
                     const struct spark_name *name)
{
    if (table == SPARK_EXECUTORS)
        return strcmp(s->executors[i].id, name->text) == 0;
    if (table == SPARK_JOBS)
        return s->jobs[i].id == name->numbers[0];
    return s->stages[i].id == name->numbers[0] && s->stages[i].attempt == name->numbers[1];
}

/*
 * Returns the slot of the element with this name, or the free slot for it; NULL if memory runs out.
 */
static uint32_t *find_slot(struct spark *s, enum spark_table table, const struct spark_name *name)
{
    /* Adding 0 makes -0 equal to 0. */
    const double numbers[2] = {name->numbers[0] + 0, name->numbers[1] + 0};

    if (!s->slots[table]) {
        s->slots[table] = hm__calloc(SPARK_SLOTS, sizeof(*s->slots[table]));
        s->im->failed |= !s->slots[table];
    }
    uint32_t *slots = s->slots[table];
    if (!slots)
        return NULL;
    uint64_t hash = table == SPARK_EXECUTORS ? hm__hash_text(&s->key, name->text)
                                             : hm__hash_bytes(&s->key, numbers, sizeof(numbers));
    size_t at = (size_t)hash % SPARK_SLOTS;
    while (slots[at] && !has_name(s, table, slots[at] - 1, name))
        at = (at + 1) % SPARK_SLOTS;
    return &slots[at];
}

/* Finds a stage, or adds it if it is new; returns NULL if there are too many stages. */
static struct spark_stage *find_stage(struct spark *s, double id, double attempt)
{
    /* An attempt without a number is never equal to another one. */
    const struct spark_name name = {.numbers = {id, attempt}};
    uint32_t *slot = isnan(attempt) ? NULL : find_slot(s, SPARK_STAGES, &name);

    if (slot && *slot)
        return &s->stages[*slot - 1];
    void *more =
        grow_array(s, SPARK_STAGES, s->stages, s->stage_count, &s->stage_room, sizeof(*s->stages));
    if (!more)
        return NULL;
    s->stages = more;
    s->stages[s->stage_count] = (struct spark_stage){
        .id = id, .attempt = attempt, .tasks = NAN, .submitted = NAN, .completed = NAN};
    s->stage_count++;
    if (slot)
        *slot = (uint32_t)s->stage_count;
    return &s->stages[s->stage_count - 1];
}

/* ---- executors --------------------------------------------------------------------------------
 */

static void count_executors(struct spark *s, double executors, double cores)
{
    s->now_executors += executors;
    s->now_cores += isnan(cores) ? 0 : cores;
}

static void read_executor_added(struct spark *s, struct hm_pull *p)
{
    struct spark_executor e = {NULL, NAN, NAN, NAN};

    while (hm__pull_key(p)) {
        if (hm__pull_is(p, "Timestamp")) {
            e.added = hm__pull_number(p);
        } else if (hm__pull_is(p, "Executor ID")) {
            e.id = hm__pull_text(p, s->im->arena);
        } else if (hm__pull_is(p, "Executor Info")) {
            if (!hm__pull_enter(p, HM_PULL_OBJECT))
                continue;
            while (hm__pull_key(p)) {
                if (hm__pull_is(p, "Total Cores"))
                    e.cores = hm__pull_number(p);
                else
                    hm__pull_skip(p);
            }
        } else {
            hm__pull_skip(p);
        }
    }
    void *more = p->failed || !e.id
                     ? NULL
                     : grow_array(s, SPARK_EXECUTORS, s->executors, s->executor_count,
                                  &s->executor_room, sizeof(*s->executors));
    if (!more)
        return;
    s->executors = more;
    s->executors[s->executor_count++] = e;
    uint32_t *slot = find_slot(s, SPARK_EXECUTORS, &(struct spark_name){.text = e.id});
    if (slot)
        *slot = (uint32_t)s->executor_count;
    count_executors(s, 1, e.cores);
}

static void read_executor_removed(struct spark *s, struct hm_pull *p)
{
    const char *id = NULL;
    double time = NAN;

    while (hm__pull_key(p)) {
        if (hm__pull_is(p, "Timestamp"))
            time = hm__pull_number(p);
        else if (hm__pull_is(p, "Executor ID"))
            id = hm__pull_text(p, s->im->arena);
        else
            hm__pull_skip(p);
    }
    uint32_t *slot =
        p->failed || !id ? NULL : find_slot(s, SPARK_EXECUTORS, &(struct spark_name){.text = id});
    if (!slot || !*slot)
        return;
    struct spark_executor *e = &s->executors[*slot - 1];
    /*
     * A decommissioned executor has two removal events, one of them when it exits, but it is
     * subtracted only once.
     */
    if (isnan(e->removed))
        count_executors(s, -1, -e->cores);
    e->removed = time;
}

/* ---- stages and tasks -------------------------------------------------------------------------
 */

/* The members of a "Stage Info" object that the reader uses. */
struct stage_info {
    double id, attempt, tasks, submitted, completed;
    const char *name;
    bool failed;
};

/* Reads a "Stage Info" object whose opening brace has already been read. */
static struct stage_info read_stage_info(struct spark *s, struct hm_pull *p)
{
    struct stage_info info = {NAN, 0, NAN, NAN, NAN, NULL, false};

    while (hm__pull_key(p)) {
        double *to = hm__pull_is(p, "Stage ID")           ? &info.id
                     : hm__pull_is(p, "Stage Attempt ID") ? &info.attempt
                     : hm__pull_is(p, "Number of Tasks")  ? &info.tasks
                     : hm__pull_is(p, "Submission Time")  ? &info.submitted
                     : hm__pull_is(p, "Completion Time")  ? &info.completed
                                                          : NULL;
        if (to) {
            *to = hm__pull_number(p);
        } else if (hm__pull_is(p, "Stage Name")) {
            info.name = hm__pull_text(p, s->im->arena);
        } else {
            info.failed |= hm__pull_is(p, "Failure Reason");
            hm__pull_skip(p);
        }
    }
    return info;
}

static void read_stage(struct spark *s, struct hm_pull *p, bool ended)
{
    while (hm__pull_key(p)) {
        if (!hm__pull_is(p, "Stage Info") || !hm__pull_enter(p, HM_PULL_OBJECT)) {
            if (p->keyed)
                hm__pull_skip(p);
            continue;
        }
        struct stage_info info = read_stage_info(s, p);
        struct spark_stage *stage =
            p->failed || isnan(info.id) ? NULL : find_stage(s, info.id, info.attempt);
        if (!stage)
            continue;
        stage->tasks = isnan(info.tasks) ? stage->tasks : info.tasks;
        stage->name = info.name ? info.name : stage->name;
        stage->submitted = isnan(info.submitted) ? stage->submitted : info.submitted;
        stage->completed = isnan(info.completed) ? stage->completed : info.completed;
        stage->ended |= ended;
        stage->failed |= info.failed;
    }
}

/*
 * Names of the metrics of a task; a slash separates the name of a group from the name of a metric
 * in it.
 */
static const struct {
    const char *group, *name;
    enum spark_sum sum;
} metrics[] = {
    {"", "Executor Run Time", SPARK_RUN_MS},
    {"", "Executor CPU Time", SPARK_CPU_NS},
    {"", "JVM GC Time", SPARK_GC_MS},
    {"", "Executor Deserialize Time", SPARK_DESERIALIZE_MS},
    {"", "Result Serialization Time", SPARK_RESULT_SER_MS},
    {"", "Disk Bytes Spilled", SPARK_SPILL_BYTES},
    {"Input Metrics", "Bytes Read", SPARK_INPUT_BYTES},
    {"Input Metrics", "Records Read", SPARK_INPUT_RECORDS},
    {"Output Metrics", "Bytes Written", SPARK_OUTPUT_BYTES},
    {"Shuffle Read Metrics", "Remote Bytes Read", SPARK_REMOTE_BYTES},
    {"Shuffle Read Metrics", "Local Bytes Read", SPARK_LOCAL_BYTES},
    {"Shuffle Read Metrics", "Fetch Wait Time", SPARK_FETCH_WAIT_MS},
    {"Shuffle Write Metrics", "Shuffle Bytes Written", SPARK_WRITE_BYTES},
    {"Shuffle Write Metrics", "Shuffle Write Time", SPARK_WRITE_NS},
};

enum { METRICS = sizeof(metrics) / sizeof(metrics[0]) };

/* Reads the metrics of a group, and of the groups that it contains. */
static void read_metrics(struct hm_pull *p, const char *group, double sums[SPARK_SUMS])
{
    if (!hm__pull_enter(p, HM_PULL_OBJECT))
        return;
    while (hm__pull_key(p)) {
        const char *inner = NULL;
        double *to = NULL;
        for (size_t i = 0; i < METRICS && !to && !inner; i++) {
            if (strcmp(metrics[i].group, group) == 0 && hm__pull_is(p, metrics[i].name))
                to = &sums[metrics[i].sum];
            else if (!group[0] && metrics[i].group[0] && hm__pull_is(p, metrics[i].group))
                inner = metrics[i].group;
        }
        if (inner) {
            read_metrics(p, inner, sums);
        } else if (to) {
            double value = hm__pull_number(p);
            *to += isnan(value) ? 0 : value;
        } else {
            hm__pull_skip(p);
        }
    }
}

/* The members of a task event that the reader uses. */
struct task {
    double stage, attempt, launch, finish, sums[SPARK_SUMS];
    bool ok, speculative;
};

static void read_task_info(struct hm_pull *p, struct task *t)
{
    if (!hm__pull_enter(p, HM_PULL_OBJECT))
        return;
    while (hm__pull_key(p)) {
        if (hm__pull_is(p, "Launch Time"))
            t->launch = hm__pull_number(p);
        else if (hm__pull_is(p, "Finish Time"))
            t->finish = hm__pull_number(p);
        else if (hm__pull_is(p, "Speculative"))
            t->speculative = hm__pull_next(p) == HM_PULL_TRUE;
        else
            hm__pull_skip(p);
    }
}

static void read_reason(struct hm_pull *p, struct task *t)
{
    if (!hm__pull_enter(p, HM_PULL_OBJECT))
        return;
    while (hm__pull_key(p)) {
        if (hm__pull_is(p, "Reason"))
            t->ok = hm__pull_next(p) == HM_PULL_TEXT && hm__pull_is(p, "Success");
        else
            hm__pull_skip(p);
    }
}

static void read_task(struct spark *s, struct hm_pull *p)
{
    struct task t = {.stage = NAN, .launch = NAN, .finish = NAN};

    while (hm__pull_key(p)) {
        if (hm__pull_is(p, "Stage ID"))
            t.stage = hm__pull_number(p);
        else if (hm__pull_is(p, "Stage Attempt ID"))
            t.attempt = hm__pull_number(p);
        else if (hm__pull_is(p, "Task End Reason"))
            read_reason(p, &t);
        else if (hm__pull_is(p, "Task Info"))
            read_task_info(p, &t);
        else if (hm__pull_is(p, "Task Metrics"))
            read_metrics(p, "", t.sums);
        else
            hm__pull_skip(p);
    }
    struct spark_stage *stage =
        p->failed || isnan(t.stage) ? NULL : find_stage(s, t.stage, t.attempt);
    if (!stage)
        return;
    stage->speculative += t.speculative;
    if (!t.ok) {
        stage->not_ok++;
        return;
    }
    stage->ok++;
    double wall = t.finish - t.launch;
    t.sums[SPARK_TASK_WALL_MS] = wall >= 0 ? wall : 0;
    stage->longest_ms = fmax(stage->longest_ms, t.sums[SPARK_TASK_WALL_MS]);
    stage->squares_ms += t.sums[SPARK_TASK_WALL_MS] * t.sums[SPARK_TASK_WALL_MS];
    for (int k = 0; k < SPARK_SUMS; k++)
        stage->sums[k] += t.sums[k];
}

/* ---- jobs -------------------------------------------------------------------------------------
 */

/* Removes the position in the source code from a name: "count at Pi.scala:39" becomes "count". */
static const char *short_name(struct spark *s, const char *name)
{
    const char *at = NULL;

    for (const char *p = name; (p = strstr(p, " at ")); p++)
        at = p;
    const char *copy =
        hm__arena_strndup(s->im->arena, name, at ? (size_t)(at - name) : strlen(name));
    return copy ? copy : name;
}

/* Adds a stage to the list of stages of the job. */
static void add_job_stage(struct spark *s, struct spark_job *job, size_t *room,
                          const struct stage_info *info)
{
    if (job->stage_count == *room) {
        size_t larger = *room ? 2 * *room : 8;
        double *ids = hm__arena_alloc(s->im->arena, larger, sizeof(*ids));
        const char **names = hm__arena_alloc(s->im->arena, larger, sizeof(*names));
        if (!ids || !names) {
            s->im->failed = true;
            return;
        }
        if (*room > 0) {
            memcpy(ids, job->stages, *room * sizeof(*ids));
            memcpy(names, job->names, *room * sizeof(*names));
        }
        job->stages = ids;
        job->names = names;
        *room = larger;
    }
    job->stages[job->stage_count] = info->id;
    job->names[job->stage_count++] = info->name ? short_name(s, info->name) : "";
}

static void read_job_start(struct spark *s, struct hm_pull *p)
{
    struct spark_job job = {.id = NAN, .submitted = NAN, .ended = NAN};
    size_t room = 0;

    while (hm__pull_key(p)) {
        if (hm__pull_is(p, "Job ID")) {
            job.id = hm__pull_number(p);
        } else if (hm__pull_is(p, "Submission Time")) {
            job.submitted = hm__pull_number(p);
        } else if (hm__pull_is(p, "Stage Infos")) {
            if (!hm__pull_enter(p, HM_PULL_LIST))
                continue;
            while (hm__pull_next(p) == HM_PULL_OBJECT) {
                struct stage_info info = read_stage_info(s, p);
                if (!p->failed && !isnan(info.id))
                    add_job_stage(s, &job, &room, &info);
            }
        } else {
            hm__pull_skip(p);
        }
    }
    void *more = p->failed || isnan(job.id) ? NULL
                                            : grow_array(s, SPARK_JOBS, s->jobs, s->job_count,
                                                         &s->job_room, sizeof(*s->jobs));
    if (!more)
        return;
    s->jobs = more;
    job.executors = s->now_executors;
    job.cores = s->now_cores;
    s->jobs[s->job_count++] = job;
    uint32_t *slot = find_slot(s, SPARK_JOBS, &(struct spark_name){.numbers = {job.id}});
    if (slot)
        *slot = (uint32_t)s->job_count;
}

static void read_job_end(struct spark *s, struct hm_pull *p)
{
    double id = NAN, time = NAN;
    const char *result = NULL;

    while (hm__pull_key(p)) {
        if (hm__pull_is(p, "Job ID")) {
            id = hm__pull_number(p);
        } else if (hm__pull_is(p, "Completion Time")) {
            time = hm__pull_number(p);
        } else if (hm__pull_is(p, "Job Result")) {
            if (!hm__pull_enter(p, HM_PULL_OBJECT))
                continue;
            while (hm__pull_key(p)) {
                if (hm__pull_is(p, "Result"))
                    result = hm__pull_text(p, s->im->arena);
                else
                    hm__pull_skip(p);
            }
        } else {
            hm__pull_skip(p);
        }
    }
    uint32_t *slot = p->failed || isnan(id)
                         ? NULL
                         : find_slot(s, SPARK_JOBS, &(struct spark_name){.numbers = {id}});
    if (!slot || !*slot)
        return;
    struct spark_job *job = &s->jobs[*slot - 1];
    job->ended = time;
    job->result = result;
    job->executors = fmax(job->executors, s->now_executors);
    job->cores = fmax(job->cores, s->now_cores);
}

/* ---- the application --------------------------------------------------------------------------
 */

static void read_application(struct spark *s, struct hm_pull *p)
{
    while (hm__pull_key(p)) {
        if (hm__pull_is(p, "App Name"))
            s->app_name = hm__pull_text(p, s->im->arena);
        else if (hm__pull_is(p, "App ID"))
            s->app_id = hm__pull_text(p, s->im->arena);
        else if (hm__pull_is(p, "Timestamp"))
            s->start = hm__pull_number(p);
        else
            hm__pull_skip(p);
    }
}

static void read_simple(struct spark *s, struct hm_pull *p, bool end)
{
    while (hm__pull_key(p)) {
        if (end && hm__pull_is(p, "Timestamp"))
            s->end = hm__pull_number(p);
        else if (!end && hm__pull_is(p, "Spark Version"))
            s->version = hm__pull_text(p, s->im->arena);
        else
            hm__pull_skip(p);
    }
    s->complete |= end && !p->failed;
}

/* Reads the rest of an event whose name is the last token that was read. */
static void read_event(struct spark *s, struct hm_pull *p)
{
    const char *name = p->text;

    if (strcmp(name, "SparkListenerTaskEnd") == 0) {
        read_task(s, p);
    } else if (strcmp(name, "SparkListenerStageSubmitted") == 0) {
        read_stage(s, p, false);
    } else if (strcmp(name, "SparkListenerStageCompleted") == 0) {
        read_stage(s, p, true);
    } else if (strcmp(name, "SparkListenerJobStart") == 0) {
        read_job_start(s, p);
    } else if (strcmp(name, "SparkListenerJobEnd") == 0) {
        read_job_end(s, p);
    } else if (strcmp(name, "SparkListenerExecutorAdded") == 0) {
        read_executor_added(s, p);
    } else if (strcmp(name, "SparkListenerExecutorRemoved") == 0) {
        read_executor_removed(s, p);
    } else if (strcmp(name, "SparkListenerApplicationStart") == 0) {
        read_application(s, p);
    } else if (strcmp(name, "SparkListenerApplicationEnd") == 0) {
        read_simple(s, p, true);
    } else if (strcmp(name, "SparkListenerLogStart") == 0) {
        read_simple(s, p, false);
    } else {
        s->events_left++;
        hm__pull_leave(p);
    }
}

/* Skips the rest of a line that is not JSON. */
static void skip_line(struct spark *s, struct hm_pull *p)
{
    struct hm_stream *in = &s->im->in;

    s->bad_lines++;
    while (hm__stream_see(in) >= 0) {
        char *end = memchr(in->buffer + in->at, '\n', in->length - in->at);
        if (end) {
            in->at = (size_t)(end - in->buffer) + 1;
            break;
        }
        in->at = in->length;
    }
    hm__pull_restart(p);
}

static void read_lines(struct spark *s, struct hm_pull *p)
{
    enum hm_pull_token token;

    hm__pull_restart(p);
    while ((token = hm__pull_next(p)) != HM_PULL_END) {
        if (token == HM_PULL_OBJECT) {
            bool named =
                hm__pull_key(p) && hm__pull_is(p, "Event") && hm__pull_next(p) == HM_PULL_TEXT;
            if (named)
                read_event(s, p);
            else if (!p->failed)
                hm__pull_leave(p);
        }
        if (p->failed && hm__stream_see(&s->im->in) < 0) {
            /*
             * The last line of the log is incomplete, because the log was truncated or is still
             * being written.
             */
            hm__import_cut(s->im);
            return;
        }
        s->lines++;
        if (p->failed || token != HM_PULL_OBJECT)
            skip_line(s, p);
    }
}

static int spark_read(struct hm_imported *im, struct hm_err *err)
{
    struct spark s = {.im = im, .start = NAN, .end = NAN};
    struct hm_pull pull;
    int rc = hm__pull_init(&pull, &im->in, err);

    hm__hash_begin(&s.key);
    hm__json_put_text(&im->facts, "format", "spark event log");
    while (rc == 0) {
        read_lines(&s, &pull);
        int more = hm__import_next_part(im, err);
        if (more <= 0) {
            rc = more;
            break;
        }
    }
    if (rc == 0)
        hm__spark_finish(&s);
    hm__free(s.executors);
    hm__free(s.jobs);
    hm__free(s.stages);
    for (int i = 0; i < SPARK_TABLES; i++)
        hm__free(s.slots[i]);
    hm__pull_release(&pull);
    return rc;
}

static int spark_recognise(const struct hm_import_head *head)
{
    const char *p = head->text + strspn(head->text, " \t\r\n");

    size_t left = head->length - (size_t)(p - head->text);

    if (*p == '{' && hm__find(p, left < 40 ? left : 40, "\"SparkListener"))
        return 100;
    return *p == '{' && hm__find(head->text, head->length, "SparkListener") ? 85 : 0;
}

const struct hm_importer hm__importer_spark = {
    .name = "spark",
    .title = "Spark event log",
    .becomes = "runs of jobs that repeat, and a job",
    .recognise = spark_recognise,
    .read = spark_read,
};
