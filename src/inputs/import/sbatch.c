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
    double unread; /* Number of directives whose values are not understood. */
    bool lost;     /* True if n depends on one of them. */
};

/* Returns whether an item of a list of resources is a number of GPUs: gpu, gpu:4 or gpu:a100:4. */
static bool is_gpu(const char *item)
{
    return strncmp(item, "gpu", 3) == 0 && (item[3] == '\0' || strchr(":,(", item[3]));
}

/*
 * Reads an item "[gpu:][type:]4" of a list, which is one GPU if it has no number, and stores the
 * type. Returns NaN if it is something else.
 */
static double read_gpu(struct sbatch *b, const char *item, size_t length)
{
    char text[64], *at = text, *colon;
    double count;

    snprintf(text, sizeof(text), "%.*s", (int)(length < sizeof(text) ? length : 0), item);
    text[strcspn(text, "(")] = '\0'; /* Slurm prints the sockets in brackets. */
    bool named = is_gpu(text);
    if (named)
        at += text[3] ? 4 : 3;
    colon = strrchr(at, ':');
    char *number = colon ? colon + 1 : at;
    size_t used = hm__number_read(number, &count);
    bool counted = used > 0 && number[used] == '\0';
    if (counted && colon)
        *colon = '\0';
    if ((!counted || colon) && isalpha((unsigned char)*at))
        snprintf(b->type, sizeof(b->type), "%.31s",
                 b->type[0] && strcmp(b->type, at) != 0 ? "mixed" : at);
    return counted ? count : named && !colon ? 1 : NAN;
}

/* Reads the GPUs in a list such as "gpu:a100:4,nvme:1", or "a100:4" if it only has GPUs. */
static double read_gpus(struct sbatch *b, const char *list, bool only)
{
    double count = NAN;

    for (size_t length; *list; list += length + (list[length] != '\0')) {
        length = strcspn(list, ",");
        if (only || is_gpu(list))
            count = (isnan(count) ? 0 : count) + read_gpu(b, list, length);
        if (isnan(count) && (only || is_gpu(list)))
            return NAN;
    }
    return count;
}

/*
 * Reads a whole number of at least 1, which may end in k or m (1024, 1048576). Of a range of nodes,
 * such as 2-4, it is the smallest number.
 */
static double read_number(const char *value)
{
    double number, most;
    size_t used = hm__number_read(value, &number);

    if (used > 0 && value[used] && strchr("kKmM", value[used]))
        number *= tolower((unsigned char)value[used++]) == 'k' ? 1024 : 1048576;
    if (used > 0 && value[used] == '-') {
        size_t more = hm__number_read(value + used + 1, &most);
        used = more > 0 && most >= number ? used + 1 + more : 0;
    }
    return used > 0 && value[used] == '\0' && number >= 1 && number == floor(number) ? number : NAN;
}

/* Reads the memory of a node, which is in MiB without a unit; 0 means all memory. */
static double read_memory(const char *value)
{
    double memory = hm__cell_memory(value);

    if (*value && isdigit((unsigned char)value[strlen(value) - 1]))
        memory *= 1048576;
    return memory > 0 ? memory : NAN;
}

/* Reads the largest time of a job; without a colon or a dash, it is a number of minutes. */
static double read_limit(const char *value)
{
    double minutes;
    size_t used = hm__number_read(value, &minutes);

    return used > 0 && value[used] == '\0' ? 60 * minutes : hm__cell_duration(value);
}

/* How the value of a directive is read. */
enum value_kind { VALUE_COUNT, VALUE_MEMORY, VALUE_LIMIT, VALUE_GPUS, VALUE_RESOURCES };

/* A directive with a number. */
struct number_directive {
    const char *letter, *name; /* Short name, which may be empty, and long name. */
    enum value_kind kind;
    bool gives_n;   /* True if the number of workers may depend on it. */
    double *number; /* Receives the number. */
};

static double read_value(struct sbatch *b, enum value_kind kind, const char *value)
{
    switch (kind) {
    case VALUE_MEMORY:
        return read_memory(value);
    case VALUE_LIMIT:
        return read_limit(value);
    case VALUE_GPUS:
    case VALUE_RESOURCES:
        return read_gpus(b, value, kind == VALUE_GPUS);
    default:
        return read_number(value);
    }
}

/* Stores the number of a directive. Returns false if the directive has no number that is used. */
static bool set_number(struct sbatch *b, const char *name, const char *value)
{
    const struct number_directive all[] = {
        {"N", "nodes", VALUE_COUNT, true, &b->nodes},
        {"n", "ntasks", VALUE_COUNT, true, &b->tasks},
        {"", "ntasks-per-node", VALUE_COUNT, true, &b->tasks_per_node},
        {"c", "cpus-per-task", VALUE_COUNT, false, &b->cpus_per_task},
        {"t", "time", VALUE_LIMIT, false, &b->limit_s},
        {"", "mem", VALUE_MEMORY, false, &b->memory},
        {"G", "gpus", VALUE_GPUS, true, &b->gpus},
        {"", "gpus-per-task", VALUE_GPUS, true, &b->gpus_per_task},
        {"", "gpus-per-node", VALUE_GPUS, true, &b->gpus_per_node},
        {"", "gres", VALUE_RESOURCES, true, &b->gpus_per_node},
    };
    const struct number_directive *d = NULL;

    for (size_t i = 0; name[0] && i < sizeof(all) / sizeof(all[0]); i++)
        if (strcmp(name, all[i].letter) == 0 || strcmp(name, all[i].name) == 0)
            d = &all[i];
    if (!d || (d->kind == VALUE_RESOURCES && !is_gpu(value) && !strstr(value, ",gpu")))
        return false;
    *d->number = read_value(b, d->kind, value);
    bool whole_node = d->kind == VALUE_MEMORY && strcmp(value, "0") == 0;
    b->unread += isnan(*d->number) && !whole_node;
    b->lost |= isnan(*d->number) && d->gives_n;
    return true;
}

/* Stores the value of a directive; `name` is its short or its long name. */
static void set_directive(struct sbatch *b, const char *name, const char *value)
{
    bool known = true;

    if (strcmp(name, "J") == 0 || strcmp(name, "job-name") == 0)
        snprintf(b->name, sizeof(b->name), "%.63s", value);
    else if (strcmp(name, "p") == 0 || strcmp(name, "partition") == 0)
        snprintf(b->partition, sizeof(b->partition), "%.63s", value);
    else
        known = set_number(b, name, value);
    b->directives += known;
    b->other += !known;
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
        const char quote[] = {*value, '\0'};
        bool quoted = *value == '"' || *value == '\'';
        value += quoted;
        size_t size = strcspn(value, quoted ? quote : " \t#");
        ended = value[size];
        value[size] = '\0';
        set_directive(b, key, value);
        value[size] = ended;
        p = value + size + (quoted && ended);
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

    if (b->gpus > 0)
        return b->gpus;
    if (b->gpus_per_node > 0)
        return nodes * b->gpus_per_node;
    if (b->gpus_per_task > 0)
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
    launch.numbers[LAUNCH_NODES] = b.lost ? NAN : nodes_of(&b);
    launch.numbers[LAUNCH_PER_NODE] = b.lost ? NAN : workers_of(&b, nodes_of(&b)) / nodes_of(&b);
    copy_type(&b, launch.accelerator, sizeof(launch.accelerator));
    put_facts(im, &b);
    hm__import_took(im, b.directives, "directives");
    hm__import_left(im, b.other, "other directives");
    hm__import_left(im, b.unread, "directives whose values are not understood");
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
