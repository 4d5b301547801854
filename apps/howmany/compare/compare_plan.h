/*
 * The runs of `howmany compare`: the tasks of the survey by Zhang, Alqahtani and Demirbas, the
 * platforms, and the figures that the survey published.
 */
#ifndef HM_COMPARE_PLAN_H
#define HM_COMPARE_PLAN_H

#include "cli.h"
#include "command_line.h"
#include "lists.h"

struct compare_task {
    const char *name, *title;
    const char *problem; /* Value of --problem of howmany train. */
    const char *hidden;  /* Widths of the hidden layers; NULL: none. */
    bool images;         /* The data is MNIST or digits that look like it; else dense rows. */
    double rows;         /* Rows in the survey. */
    double features;     /* Features of a row. */
    double batch;        /* Rows of one worker's mini-batch. */
};

/* A platform with its consistency and algorithm. */
struct compare_way {
    const char *name; /* As in --platforms. */
    const char *platform, *consistency;
    const char *algorithm;
    bool full; /* Each batch has all rows. */
};

/* A figure of the survey, always for 3 workers and one server or driver. */
struct compare_published {
    const char *task, *way; /* Names of the task and the way. */
    const char *system;
    double batch; /* Rows of one worker's mini-batch; 0: all rows. */
    double samples_per_s;
};

enum { COMPARE_TASKS = 4, COMPARE_WAYS = 5, COMPARE_PUBLISHED_N = 3 };

extern const struct compare_task compare_tasks[COMPARE_TASKS];
extern const struct compare_way compare_ways[COMPARE_WAYS];
extern const struct compare_published compare_published[]; /* system is NULL at the end. */
extern const char compare_source[];

/* The options of one comparison. Numbers that are 0 have the task's default. */
struct compare_request {
    bool tasks[COMPARE_TASKS], ways[COMPARE_WAYS];
    struct cli_range n;
    double iterations, batch, rows, servers, staleness, seed;
    const char *images;   /* Folder with MNIST; NULL: digits are generated. */
    const char *simulate; /* Cluster; NULL: the survey's. */
    const char *const *sets;
    size_t set_count;
    bool real; /* Use real ranks instead of simulated ones. */
    const char *record;
};

/* Select tasks or platforms by a list of names; 0, or EXIT_USAGE with a message. */
int compare_select_tasks(struct compare_request *request, const char *list);
int compare_select_platforms(struct compare_request *request, const char *list);

/* Rows of a mini-batch of all n workers together. */
double compare_batch(const struct compare_request *request, const struct compare_task *task,
                     double n);
/* Check that each task has enough rows for a mini-batch; 0, or EXIT_USAGE with a message. */
int compare_check(const struct compare_request *request);
/* The arguments after `howmany` of one run; 0, or EXIT_USAGE with a message. */
int compare_run_command(const struct compare_request *request, const struct compare_task *task,
                        const struct compare_way *way, double n,
                        struct launch_command *ret_command);

/* The cluster of the survey, as values of --simulate and --set. */
extern const char compare_cluster[];
extern const char *const compare_cluster_sets[]; /* NULL at the end. */

#endif
