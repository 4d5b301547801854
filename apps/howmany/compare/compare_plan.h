/*
 * What `howmany compare` compares: the tasks of the survey by Zhang, Alqahtani and Demirbas, the
 * platforms, and the figures they published.
 */
#ifndef HM_COMPARE_PLAN_H
#define HM_COMPARE_PLAN_H

#include "cli.h"
#include "words.h"

struct compare_task {
    const char *name, *title;
    const char *problem; /* of howmany train */
    const char *hidden;  /* widths of the hidden layers; NULL: none */
    bool images;         /* MNIST or made digits; otherwise dense rows */
    double rows;         /* of the survey */
    double features;     /* of dense rows */
    double batch;        /* rows of a worker in a mini-batch */
};

struct compare_way {
    const char *name; /* as --platforms has it */
    const char *platform, *consistency;
    const char *algorithm;
    bool full; /* batches of all rows */
};

/* A figure of the survey, always on 3 workers and one server or driver. */
struct compare_published {
    const char *task, *way; /* names */
    const char *system;
    double batch; /* rows of a worker; 0: all of them */
    double samples_per_s;
};

enum { COMPARE_TASKS = 4, COMPARE_WAYS = 5, COMPARE_PUBLISHED_N = 3 };

extern const struct compare_task compare_tasks[COMPARE_TASKS];
extern const struct compare_way compare_ways[COMPARE_WAYS];
extern const struct compare_published compare_published[]; /* system NULL at the end */
extern const char compare_source[];

/* What was asked for. Numbers that are 0 are the task's own. */
struct compare_asked {
    bool tasks[COMPARE_TASKS], ways[COMPARE_WAYS];
    struct cli_range n;
    double iterations, batch, rows, servers, staleness, seed;
    const char *images;   /* folder with MNIST; NULL: digits are made */
    const char *simulate; /* cluster; NULL: as the survey's */
    const char *const *sets;
    size_t set_count;
    bool real;
    const char *record;
};

/* Lists of names; 0, or EXIT_USAGE with a message. */
int compare_take_tasks(struct compare_asked *asked, const char *list);
int compare_take_platforms(struct compare_asked *asked, const char *list);

/* Rows of a task; negative: as many as the files have. */
double compare_rows(const struct compare_asked *asked, const struct compare_task *task);
/* Rows of all workers in a mini-batch. */
double compare_batch(const struct compare_asked *asked, const struct compare_task *task, double n);
/* How many iterations a run has. */
double compare_iterations(const struct compare_asked *asked, const struct compare_way *way);
/* Whether mini-batches fit into the rows; 0, or EXIT_USAGE with a message. */
int compare_check(const struct compare_asked *asked);
/* The words of one run, after `howmany`; 0, or EXIT_USAGE with a message. */
int compare_run_words(const struct compare_asked *asked, const struct compare_task *task,
                      const struct compare_way *way, double n, struct cli_words *ret_words);

/* The cluster of the survey, as words that --simulate and --set take. */
extern const char compare_cluster[];
extern const char *const compare_cluster_sets[]; /* NULL at the end */

#endif
