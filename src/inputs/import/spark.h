/* What is collected from a Spark event log, and the facts that are made of it. */
#ifndef HM_SPARK_H
#define HM_SPARK_H

#include "import.h"

/* Sums over the tasks of a stage, in the order of the facts. */
enum spark_sum {
    SPARK_TASK_WALL_MS,
    SPARK_RUN_MS,
    SPARK_CPU_NS,
    SPARK_GC_MS,
    SPARK_DESERIALIZE_MS,
    SPARK_RESULT_SER_MS,
    SPARK_INPUT_BYTES,
    SPARK_INPUT_RECORDS,
    SPARK_OUTPUT_BYTES,
    SPARK_REMOTE_BYTES,
    SPARK_LOCAL_BYTES,
    SPARK_FETCH_WAIT_MS,
    SPARK_WRITE_BYTES,
    SPARK_WRITE_NS,
    SPARK_SPILL_BYTES,
    SPARK_SUMS
};

struct spark_stage {
    double id, attempt, tasks;
    const char *name;            /* In the arena; NULL: not given. */
    double submitted, completed; /* Milliseconds; NaN: not given. */
    bool ended, failed;
    double ok, not_ok, speculative;
    double sums[SPARK_SUMS]; /* Over the tasks that succeeded. */
    double longest_ms;       /* The longest of them. */
};

struct spark_job {
    double id, submitted, ended; /* Milliseconds; NaN: not given. */
    const char *result;          /* In the arena; NULL: not ended. */
    double *stages;              /* Identifiers, as the log lists them; in the arena. */
    const char **names;          /* Their names without the place in the source; in the arena. */
    size_t stage_count;
    double executors, cores; /* The larger of those at the start and at the end. */
    bool grouped;            /* The job belongs to a group that was written already. */
};

struct spark_executor {
    const char *id; /* In the arena. */
    double cores, added, removed;
};

struct spark {
    struct hm_imported *im;
    double lines, bad_lines, events_left;
    const char *app_id, *app_name, *version;
    double start, end;
    bool complete;
    struct spark_executor *executors;
    size_t executor_count, executor_room;
    double now_executors, now_cores; /* Those that run at this place of the log. */
    struct spark_job *jobs;
    size_t job_count, job_room;
    struct spark_stage *stages;
    size_t stage_count, stage_room;
};

/* Write the facts, the runs of repeated jobs, and a job for plans. */
void hm__spark_finish(struct spark *spark);

#endif
