/*
 * Models the times of dataflow platforms such as Spark: waves of tasks, their scheduling, and lost
 * workers.
 */
#ifndef HM_DATAFLOW_TIME_H
#define HM_DATAFLOW_TIME_H

#include "framework_time.h"

/*
 * Returns the time of `tasks` tasks on `slots` slots, in units of the mean time of a task. One task
 * takes `skew` times the mean and is at a random position in the order; the others are equal. A
 * slot takes the next task in the list when it is free, so equal tasks take ceil(tasks / slots).
 */
double hm__dataflow_makespan(double tasks, double slots, double skew);

/* Expected time that lost workers add, as a share of the time, for recovery with lineage or with
 * checkpoints. */
struct hm_dataflow_loss {
    double failures_per_s; /* Rate at which workers are lost, per second. */
    double lineage,
        checkpoint; /* Shares of the time that recovery with lineage and with checkpoints adds; the
                       latter is INFINITY if the time of a checkpoint is unknown. */
    /* Time in seconds between two checkpoints for which `checkpoint` is smallest. */
    double every_s;
};

/*
 * Returns the expected losses due to failures of n workers, as shares of the time. compute_s is the
 * part of an iteration, in seconds, that the other workers can repeat in parallel. With lineage, a
 * lost worker costs the restart and `lineage` iterations of its partitions, which the other n - 1
 * workers repeat (a single worker repeats them alone). With checkpoints, it costs the restart and
 * half the time since the last checkpoint, whose best interval is sqrt(2 C / rate) for checkpoints
 * of C seconds (Young 1974).
 */
struct hm_dataflow_loss hm__dataflow_loss(const struct hm_dataflow *dataflow, double n,
                                          double compute_s);
/* Returns the share of the time that recovery adds, with the method that the job names or, if it
 * names none, with the method that adds less. */
double hm__dataflow_recovery(const struct hm_dataflow *dataflow,
                             const struct hm_dataflow_loss *loss);

/* Properties of one iteration of a dataflow platform on n workers. */
struct hm_dataflow_parts {
    double tasks, slots; /* Number of tasks in a stage, and total number of slots of all workers. */
    double waves;        /* Number of waves of tasks, rounded up. */
    double even;         /* Ratio, at most 1, of the computation time with all slots always busy to
                            the actual computation time. */
    double schedule_s;   /* Time in seconds that the driver needs to start stages and tasks. */
};

/* Returns the properties of an iteration on n workers. The model must have a dataflow. */
struct hm_dataflow_parts hm__model_dataflow_parts(const struct hm_model *model, double n);
/* Adds the effects of waves and skew to the computation times of points. */
void hm__model_dataflow_work(const struct hm_model *model, struct hm_point *points, size_t count);
/* Adds the time in which the driver starts the tasks to the latencies of points. */
void hm__model_dataflow_schedule(const struct hm_model *model, struct hm_point *points,
                                 size_t count);
/* Adds the expected time lost because workers fail. */
void hm__model_dataflow_losses(const struct hm_model *model, struct hm_point *points, size_t count);
/* Returns the slowness of a cluster whose slow tasks are repeated by speculative copies. */
struct hm_slowness hm__dataflow_slowness(const struct hm_dataflow *dataflow,
                                         const struct hm_slowness *slowness);

#endif
