/*
 * What several commands ask for in the same words: a job with its machines (--on, --network,
 * --set), a goal, and lists.
 */
#ifndef HM_ASKED_JOB_H
#define HM_ASKED_JOB_H

#include "cli.h"

enum { CLI_LIST_MAX = 64 };

/* Zero-initialise; fill in by accept functions; then load. */
struct cli_job {
    const char *path;    /* of the job; - is standard input */
    const char *text;    /* the job itself, instead of a file */
    const char *network; /* --network; may be NULL */
    const char *on[CLI_LIST_MAX], *sets[CLI_LIST_MAX];
    size_t on_count, set_count;
    char *pieces[CLI_LIST_MAX]; /* owned */
    size_t piece_count;

    /* After loading. */
    struct hm_catalog *catalog;
    struct hm_job *job;
    struct hm_cluster *clusters[CLI_LIST_MAX]; /* of --on */
};

/* Each returns 0, or EXIT_USAGE with a message. */
int cli_job_on(struct cli_job *job, const char *list);
int cli_job_set(struct cli_job *job, const char *assignment);
/* A key of the cluster, with `cluster.` before it or without. */
int cli_cluster_set(struct cli_job *job, const char *assignment);
int cli_job_load(struct cli_job *job);
/* Whether a cluster is named by a file, not by a machine of the catalog. */
bool cli_cluster_is_file(const char *name);
/* A machine by name or a cluster file, with the cluster.* keys of --set on top; the catalog, if
 * any, is loaded. */
int cli_cluster_load(struct cli_job *job, const char *name, struct hm_cluster **ret_cluster);
void cli_job_release(struct cli_job *job);
/* The one cluster: of --on, or the job's own, or NULL. */
const struct hm_cluster *cli_job_cluster(const struct cli_job *job);

/* "time", "cost" or "balance"; 0, or EXIT_USAGE with a message. */
int cli_goal(const char *text, enum hm_goal *ret_goal);

#endif
