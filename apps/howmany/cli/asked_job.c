/* A job and the machines to run it on, as the options of several commands name them. */
#include "asked_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "guest.h"
#include "readers.h"
#include "text.h"

static int take_machine(void *context, const char *piece)
{
    struct cli_job *j = context;

    if (j->on_count == CLI_LIST_MAX)
        return cli_complain("--on: more than %d machines", CLI_LIST_MAX);
    char *copy = strdup(piece);
    if (!copy)
        return cli_complain("out of memory");
    j->pieces[j->piece_count++] = copy;
    j->on[j->on_count++] = copy;
    return 0;
}

int cli_job_on(struct cli_job *j, const char *list)
{
    return cli_each(list, take_machine, j);
}

int cli_job_set(struct cli_job *j, const char *assignment)
{
    if (j->set_count == CLI_LIST_MAX)
        return cli_complain("--set: more than %d", CLI_LIST_MAX);
    j->sets[j->set_count++] = assignment;
    return 0;
}

int cli_cluster_set(struct cli_job *j, const char *assignment)
{
    char *whole;

    if (j->set_count == CLI_LIST_MAX || j->piece_count == CLI_LIST_MAX)
        return cli_complain("--set: too many");
    if (asprintf(&whole, "%s%s", strncmp(assignment, "cluster.", 8) == 0 ? "" : "cluster.",
                 assignment) < 0)
        return cli_complain("out of memory");
    j->pieces[j->piece_count++] = whole;
    j->sets[j->set_count++] = whole;
    return 0;
}

/* --set for the job; --network too, when the job's own cluster is used. */
static int load_job(struct cli_job *j)
{
    struct hm_override overrides[CLI_LIST_MAX + 1];
    size_t count = 0, length = j->text ? strlen(j->text) : 0;
    struct hm_err err = {0};
    char network[160], *file = j->text ? NULL : cli_read(j->path, &length, &err);
    const char *text = j->text ? j->text : file;

    for (size_t i = 0; i < j->set_count; i++)
        overrides[count++].text = j->sets[i];
    if (j->network && j->on_count == 0) {
        snprintf(network, sizeof(network), "cluster.network=%s", j->network);
        overrides[count++].text = network;
    }
    const char *source = j->text ? "set" : j->path;
    int rc = err.code;

    if (text)
        rc = (cli_guest() ? hm__job_parse_closed : hm_job_parse_with)(
            j->catalog, text, length, source, overrides, count, &j->job, &err);
    hm_text_free(file);
    return rc ? cli_report(&err) : 0;
}

bool cli_cluster_is_file(const char *name)
{
    static const char *const endings[] = {".yaml", ".yml", ".json"};
    for (size_t i = 0; i < 3; i++)
        if (hm__text_ends(name, endings[i]))
            return true;
    return strchr(name, '/') != NULL;
}

int cli_cluster_load(struct cli_job *j, const char *name, struct hm_cluster **cluster)
{
    struct hm_override overrides[CLI_LIST_MAX + 1];
    size_t count = 0, length = 0;
    struct hm_text entry = {0};
    char network[160];
    struct hm_err err = {0};
    char *file = NULL;
    const char *text;

    for (size_t i = 0; i < j->set_count; i++)
        if (strncmp(j->sets[i], "cluster.", 8) == 0)
            overrides[count++].text = j->sets[i] + 8;
    if (j->network) {
        snprintf(network, sizeof(network), "network=%s", j->network);
        overrides[count++].text = network;
    }
    if (cli_cluster_is_file(name)) {
        text = file = cli_read(name, &length, &err);
    } else {
        hm__text_add(&entry, "{\"machine\": ");
        hm__json_text(&entry, name);
        hm__text_add(&entry, "}");
        text = entry.failed ? "" : entry.data;
        length = entry.length;
    }
    int rc =
        text ? hm_cluster_parse(j->catalog, text, length, cli_cluster_is_file(name) ? name : "on",
                                overrides, count, cluster, &err)
             : err.code;
    hm_text_free(file);
    hm__text_release(&entry);
    if (rc == 0 && cli_cluster_is_file(name))
        (*cluster)->name = name; /* in a ranking, the file tells clusters apart */
    return rc ? cli_report(&err) : 0;
}

int cli_job_load(struct cli_job *j)
{
    int rc = 0;

    if (cli_guest() || j->on_count > 0 || cli_has_own_catalog())
        rc = (j->catalog = cli_catalog_load()) ? 0 : EXIT_USAGE;
    if (rc == 0)
        rc = load_job(j);
    for (size_t i = 0; rc == 0 && i < j->on_count; i++)
        rc = cli_cluster_load(j, j->on[i], &j->clusters[i]);
    return rc;
}

const struct hm_cluster *cli_job_cluster(const struct cli_job *j)
{
    if (j->on_count > 0)
        return j->clusters[0];
    return j->job && j->job->has_cluster ? &j->job->cluster : NULL;
}

void cli_job_release(struct cli_job *j)
{
    for (size_t i = 0; i < j->on_count; i++)
        hm_cluster_free(j->clusters[i]);
    for (size_t i = 0; i < j->piece_count; i++)
        free(j->pieces[i]);
    hm_job_free(j->job);
    cli_catalog_free(j->catalog);
}

int cli_goal(const char *text, enum hm_goal *goal)
{
    static const char *const names[] = {"time", "cost", "balance"};

    for (int i = 0; i < 3; i++)
        if (strcmp(text, names[i]) == 0) {
            *goal = (enum hm_goal)(HM_GOAL_TIME + i);
            return 0;
        }
    return cli_complain("--goal: '%s' is not time, cost or balance", text);
}
