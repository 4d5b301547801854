/*
 * Declares the data that are collected from a Spark event log, and the function that writes the
 * results of the import: JSON members (facts), runs and a job.
 */
#ifndef HM_SPARK_H
#define HM_SPARK_H

#include "hash.h"
#include "import.h"

/*
 * Quantities that are summed over the tasks of a stage, in the order in which the facts list them.
 */
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
    const char *name; /* Name of the stage, in the arena; NULL if not given. */
    /*
     * Times at which the stage was submitted and completed, in milliseconds since 1970; NaN if not
     * given.
     */
    double submitted, completed;
    bool ended, failed;
    double ok, not_ok, speculative;
    double sums[SPARK_SUMS]; /* Sums over the tasks that succeeded, indexed by enum spark_sum. */
    double longest_ms;       /* Duration of the longest task that succeeded, in milliseconds. */
    double squares_ms; /* Sum of the squared durations of the tasks that succeeded, in ms^2. */
};

struct spark_job {
    /*
     * Identifier of the job, and the times at which it was submitted and ended, in milliseconds
     * since 1970; NaN if not given.
     */
    double id, submitted, ended;
    const char *result; /* Result of the job, in the arena; NULL if the job has not ended. */
    double *stages;     /* Identifiers of the stages, as in the log; in the arena. */
    /* Names of the stages without positions in the source code; in the arena. */
    const char **names;
    size_t stage_count;
    /*
     * Largest number of executors, and largest number of cores, that the job had at its start or at
     * its end.
     */
    double executors, cores;
    uint64_t names_hash; /* Hash of the names of the stages; 0 if the job did not succeed. */
    bool grouped; /* True if the job is part of a group of repeated jobs that has been written. */
};

struct spark_executor {
    const char *id; /* Identifier of the executor, in the arena. */
    double cores, added, removed;
};

/* Tables that find executors, jobs and stages by what identifies them. */
enum spark_table { SPARK_EXECUTORS, SPARK_JOBS, SPARK_STAGES, SPARK_TABLES };
/* Largest number of elements in each of these tables. */
enum { SPARK_MOST = 50000 };

struct spark {
    struct hm_imported *im;
    /*
     * Hash tables: 1 + the index of an element, or 0 if the slot is free; NULL if the table has no
     * elements; owned. Of several elements with the same identifier, a table has the last one.
     */
    uint32_t *slots[SPARK_TABLES];
    struct hm_hash_key key;
    double lines, bad_lines, events_left;
    /* Numbers of executors and jobs, and of events of stages, that a full table leaves out. */
    double beyond[SPARK_TABLES];
    const char *app_id, *app_name, *version;
    double start, end;
    bool complete;
    struct spark_executor *executors;
    size_t executor_count, executor_room;
    /* Number of executors and number of cores that exist at the current position in the log. */
    double now_executors, now_cores;
    struct spark_job *jobs;
    size_t job_count, job_room;
    struct spark_stage *stages;
    size_t stage_count, stage_room;
    uint32_t *order; /* Indices of the stages, ordered by their identifiers; used by spark_facts. */
};

/*
 * Writes the values of the log as JSON members (facts), the runs of repeated jobs, and a job for
 * `howmany plan`.
 */
void hm__spark_finish(struct spark *spark);

#endif
