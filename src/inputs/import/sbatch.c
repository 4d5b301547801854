/*
 * Reads Slurm batch scripts: the #SBATCH directives, and settings of Megatron in the commands of
 * the script. The number of workers n is the number of GPUs or, if that is not given, the number of
 * tasks or, failing that, the number of nodes.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cells.h"
#include "importers.h"
#include "launch.h"
#include "whole.h"

struct sbatch {
    double nodes, tasks, tasks_per_node, cpus_per_task, memory, limit_s;
    double gpus, gpus_per_node, gpus_per_task;
    char name[64], partition[64], type[32];
    double directives, other;
};

/* Reads "[gpu:][type:]4" as a number of GPUs and stores their type. */
static double read_gpus(struct sbatch *b, const char *value)
{
    const char *number = strrchr(value, ':');
    double count;

    if (strncmp(value, "gpu:", 4) == 0)
        value += 4;
    number = number ? number + 1 : value;
    if (number > value && isalpha((unsigned char)*value))
        snprintf(b->type, sizeof(b->type), "%.*s", (int)((size_t)(number - 1 - value) % 32), value);
    size_t used = hm__number_read(number, &count);
    return used > 0 && (number[used] == '\0' || number[used] == ',' || number[used] == '(') ? count
                                                                                            : NAN;
}

static double read_number(const char *value)
{
    double number;

    return hm__number_read(value, &number) > 0 ? number : NAN;
}

/* Stores the value of a directive; `name` is its short or its long name. */
static void set_directive(struct sbatch *b, const char *name, const char *value)
{
    b->directives++;
    if (strcmp(name, "N") == 0 || strcmp(name, "nodes") == 0)
        b->nodes = read_number(value);
    else if (strcmp(name, "n") == 0 || strcmp(name, "ntasks") == 0)
        b->tasks = read_number(value);
    else if (strcmp(name, "ntasks-per-node") == 0)
        b->tasks_per_node = read_number(value);
    else if (strcmp(name, "c") == 0 || strcmp(name, "cpus-per-task") == 0)
        b->cpus_per_task = read_number(value);
    else if (strcmp(name, "t") == 0 || strcmp(name, "time") == 0)
        /* A time without a colon or a dash is a number of minutes. */
        b->limit_s = strchr(value, ':') || strchr(value, '-') ? hm__cell_duration(value)
                                                              : 60 * read_number(value);
    else if (strcmp(name, "mem") == 0)
        b->memory = hm__cell_memory(value);
    else if (strcmp(name, "J") == 0 || strcmp(name, "job-name") == 0)
        snprintf(b->name, sizeof(b->name), "%.63s", value);
    else if (strcmp(name, "p") == 0 || strcmp(name, "partition") == 0)
        snprintf(b->partition, sizeof(b->partition), "%.63s", value);
    else if (strcmp(name, "G") == 0 || strcmp(name, "gpus") == 0)
        b->gpus = read_gpus(b, value);
    else if (strcmp(name, "gpus-per-task") == 0)
        b->gpus_per_task = read_gpus(b, value);
    else if (strcmp(name, "gpus-per-node") == 0)
        b->gpus_per_node = read_gpus(b, value);
    else if (strcmp(name, "gres") == 0 && strncmp(value, "gpu", 3) == 0)
        b->gpus_per_node = strcmp(value, "gpu") == 0 ? 1 : read_gpus(b, value);
    else {
        b->directives--;
        b->other++;
    }
}

/* Reads the options of one #SBATCH directive: --name=value, --name value, -N 4 or -N4. */
static void read_directive(struct sbatch *b, char *p)
{
    while (*p) {
        char *name, *value, ended;
        p += strspn(p, " \t");
        if (*p == '\0' || *p == '#')
            return;
        if (*p != '-')
            break;
        bool is_long = p[1] == '-';
        name = p + 1 + is_long;
        size_t length = is_long ? strcspn(name, "= \t") : name[0] ? 1 : 0;
        value = name + length;
        value += strspn(value, is_long ? "= \t" : " \t");
        char key[40];
        snprintf(key, sizeof(key), "%.*s", (int)(length % sizeof(key)), name);
        if (is_long && name[length] != '=' && *value == '-')
            value =
                name + length; /* This flag has no value, because another flag follows directly. */
        size_t size = strcspn(value, " \t#");
        ended = value[size];
        value[size] = '\0';
        set_directive(b, key, value);
        value[size] = ended;
        p = value + size;
    }
}

static void read_directives(struct sbatch *b, char *text)
{
    for (char *line = text; *line;) {
        size_t length = strcspn(line, "\r\n");
        char ended = line[length];
        line[length] = '\0';
        if (strncmp(line, "#SBATCH", 7) == 0 && (line[7] == ' ' || line[7] == '\t'))
            read_directive(b, line + 8);
        line[length] = ended;
        line += length + (ended != '\0');
    }
}

/*
 * Returns the number of nodes: the given number, or else the number that the tasks need, or else
 * one.
 */
static double nodes_of(const struct sbatch *b)
{
    if (b->nodes >= 1)
        return b->nodes;
    double needed = ceil(b->tasks / b->tasks_per_node);
    return needed >= 1 ? needed : 1;
}

/*
 * Returns the number of workers: the number of GPUs, or else the number of tasks, or else the
 * number of nodes.
 */
static double workers_of(const struct sbatch *b, double nodes)
{
    double tasks = !isnan(b->tasks) ? b->tasks : nodes * b->tasks_per_node;

    if (!isnan(b->gpus))
        return b->gpus;
    if (!isnan(b->gpus_per_node))
        return nodes * b->gpus_per_node;
    if (!isnan(b->gpus_per_task))
        return tasks * b->gpus_per_task;
    return isnan(tasks) ? nodes : tasks;
}

/* Copies the type of the GPUs in lower case, as the catalog writes it. */
static void copy_type(const struct sbatch *b, char *out, size_t room)
{
    static const char *const known[] = {"a100", "h100", "h200", "b200", "v100",  "a10g",
                                        "l4",   "t4",   "l40s", "a10",  "mi300x"};
    char lower[32] = "";

    for (size_t i = 0; b->type[i] && i < sizeof(lower) - 1; i++)
        lower[i] = (char)tolower((unsigned char)b->type[i]);
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(lower, known[i]) == 0)
            snprintf(out, room, "%s", lower);
}

static void put_facts(struct hm_imported *im, const struct sbatch *b)
{
    struct hm_json *j = &im->facts;

    hm__json_put_text(j, "job_name", b->name[0] ? b->name : NULL);
    hm__json_put_text(j, "partition", b->partition[0] ? b->partition : NULL);
    hm__json_put_number(j, "tasks", b->tasks);
    hm__json_put_number(j, "tasks_per_node", b->tasks_per_node);
    hm__json_put_number(j, "cpus_per_task", b->cpus_per_task);
    hm__json_put_number(j, "memory_bytes", b->memory);
    hm__json_put_number(j, "limit_s", b->limit_s);
    hm__json_put_text(j, "gpu_type", b->type[0] ? b->type : NULL);
}

static int sbatch_read(struct hm_imported *im, struct hm_err *err)
{
    struct sbatch b = {.nodes = NAN,
                       .tasks = NAN,
                       .tasks_per_node = NAN,
                       .cpus_per_task = NAN,
                       .memory = NAN,
                       .limit_s = NAN,
                       .gpus = NAN,
                       .gpus_per_node = NAN,
                       .gpus_per_task = NAN};
    struct launch launch;
    char *text;
    size_t length;
    int rc = hm__whole_text(im, &text, &length, err);

    hm__json_put_text(&im->facts, "format", "sbatch script");
    if (rc)
        return rc;
    hm__launch_init(&launch);
    read_directives(&b, text);
    hm__launch_shell(&launch, text);
    /*
     * The directives replace values from the command line, because Slurm allocates what the
     * directives request.
     */
    launch.numbers[LAUNCH_NODES] = nodes_of(&b);
    launch.numbers[LAUNCH_PER_NODE] = workers_of(&b, nodes_of(&b)) / nodes_of(&b);
    copy_type(&b, launch.accelerator, sizeof(launch.accelerator));
    put_facts(im, &b);
    hm__import_took(im, b.directives, "directives");
    hm__import_left(im, b.other, "other directives");
    hm__launch_finish(im, &launch);
    return 0;
}

static int sbatch_recognise(const struct hm_import_head *head)
{
    const char *at = hm__find(head->text, head->length, "#SBATCH ");

    return at && (at == head->text || at[-1] == '\n') ? 90 : 0;
}

const struct hm_importer hm__importer_sbatch = {
    .name = "sbatch",
    .title = "batch script of Slurm",
    .becomes = "a job and its number of workers",
    .recognise = sbatch_recognise,
    .read = sbatch_read,
};
