/*
 * Lists the runs of `howmany compare`: the tasks of the survey by Zhang, Alqahtani and Demirbas,
 * the platforms, and the speeds that were published in the survey.
 */
#ifndef HM_COMPARE_PLAN_H
#define HM_COMPARE_PLAN_H

#include "cli.h"
#include "command_line.h"
#include "lists.h"

struct compare_task {
    const char *name, *title;
    /* Problem of the task, as given in the option --problem of `howmany train`. */
    const char *problem;
    const char *hidden; /* Widths of the hidden layers, such as "128,64"; NULL if there are no
                           hidden layers. */
    bool images; /* True if the data is MNIST or generated digits like it; otherwise dense rows are
                    generated. */
    double rows; /* Number of rows of data in the survey. */
    double features; /* Number of features per row. */
    double batch;    /* Number of rows in the mini-batch of one worker. */
};

/* A platform of the survey with its consistency and its algorithm. */
struct compare_way {
    const char *name; /* Name of the platform, as given in --platforms. */
    const char *platform, *consistency;
    const char *algorithm;
    bool full; /* True if the algorithm uses all rows in each iteration (a full batch). */
};

/* A speed published in the survey; it always applies to 3 workers and one server or driver. */
struct compare_published {
    const char *task, *way; /* Names of the task and the platform. */
    const char *system;
    double batch; /* Number of rows in one worker's mini-batch; 0 for all rows. */
    double samples_per_s;
};

enum { COMPARE_TASKS = 4, COMPARE_WAYS = 5, COMPARE_PUBLISHED_N = 3 };

extern const struct compare_task compare_tasks[COMPARE_TASKS];
extern const struct compare_way compare_ways[COMPARE_WAYS];
/* Speeds published in the survey; the list ends with an entry whose member `system` is NULL. */
extern const struct compare_published compare_published[];
extern const char compare_source[];

/* The options of one comparison. If a number is 0, the default of the task is used. */
struct compare_request {
    bool tasks[COMPARE_TASKS], ways[COMPARE_WAYS];
    struct cli_range n;
    double iterations, batch, rows, servers, staleness, seed;
    const char *images; /* Folder with the files of MNIST; NULL means that digits are generated. */
    const char *simulate; /* Cluster to simulate; NULL means the cluster of the survey. */
    const char *const *sets;
    size_t set_count;
    bool real; /* True to run the ranks as processes on this machine instead of simulating them. */
    const char *record;
};

/* Selects tasks or platforms by a list of names. Returns 0, or EXIT_USAGE with a message. */
int compare_select_tasks(struct compare_request *request, const char *list);
int compare_select_platforms(struct compare_request *request, const char *list);

/* Returns the number of rows in a mini-batch of all n workers together. */
double compare_batch(const struct compare_request *request, const struct compare_task *task,
                     double n);
/*
 * Checks that each task has enough rows for a mini-batch. Returns 0, or EXIT_USAGE with a message.
 */
int compare_check(const struct compare_request *request);
/* Builds the arguments after `howmany` for one run. Returns 0, or EXIT_USAGE with a message. */
int compare_run_command(const struct compare_request *request, const struct compare_task *task,
                        const struct compare_way *way, double n,
                        struct launch_command *ret_command);

/* Name of the cluster of the survey, as given in --simulate; compare_cluster_sets holds the
 * assignments that change it. */
extern const char compare_cluster[];
/* Assignments to keys of the cluster of the survey, as given in --set; the list ends with NULL. */
extern const char *const compare_cluster_sets[];

#endif
