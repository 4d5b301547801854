/*
 * Reads Slurm accounting data: the output of `sacct -P`, with `|` between the cells. Rows with a
 * dot in their identifier are steps of a job. The memory of a job is the largest memory of its
 * steps; its time and state are in its own row. A file without a header (`-n`) needs the names of
 * the columns: --set columns=JobID,Elapsed,…
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cells.h"
#include "err.h"
#include "importers.h"

enum { STATES = 32 };

struct slurm {
    struct hm_imported *im;
    struct hm_cells head, row;
    double rows, steps, jobs, ended, short_rows;
    struct {
        char name[32];
        double count;
    } states[STATES];
    size_t state_count;
};

/* A job whose row has been read; the rows of its steps follow. */
struct job {
    char id[64], state[32], exit[16], partition[64];
    double elapsed, nodes, cpus, gpus, energy, cpu_time, limit, rss;
    bool open;
};

/* ---- cells ------------------------------------------------------------------------------------
 */

static const char *cell_of(const struct slurm *s, const char *name)
{
    for (size_t i = 0; i < s->head.count && i < s->row.count; i++)
        if (strcmp(s->head.cell[i], name) == 0 && s->row.cell[i][0])
            return s->row.cell[i];
    return NULL;
}

static double number_of(const struct slurm *s, const char *name, const char *other)
{
    const char *cell = cell_of(s, name);

    if (!cell && other)
        cell = cell_of(s, other);
    return cell ? hm__cell_number(cell) : NAN;
}

/*
 * Returns the number of GPUs in a list such as "billing=8,cpu=8,gres/gpu=4,gres/gpu:a100=4".
 * Entries with and without a type describe the same GPUs, so their numbers are not summed.
 */
static double gpus_of(const char *tres)
{
    double untyped = NAN, typed = NAN, value;

    for (const char *p = tres; p && (p = strstr(p, "gres/gpu")); p += 8) {
        const char *equal = strchr(p, '=');
        if (!equal || hm__number_read(equal + 1, &value) == 0)
            continue;
        if (p[8] == '=')
            untyped = value;
        else if (p[8] == ':')
            typed = isnan(typed) ? value : typed + value;
    }
    return isnan(untyped) ? typed : untyped;
}

/* ---- jobs -------------------------------------------------------------------------------------
 */

static void count_state(struct slurm *s, const char *state)
{
    size_t i = 0;

    while (i < s->state_count && strcmp(s->states[i].name, state) != 0)
        i++;
    if (i == STATES)
        return;
    if (i == s->state_count)
        snprintf(s->states[s->state_count++].name, sizeof(s->states[0].name), "%.31s", state);
    s->states[i].count++;
}

/*
 * Returns the number of workers of a job: the number of its GPUs if it has any, or else the number
 * of its nodes, or else the number of its CPUs.
 */
static double job_workers(const struct job *job)
{
    return job->gpus > 0 ? job->gpus : job->nodes > 0 ? job->nodes : job->cpus;
}

static void finish_job(struct slurm *s, struct job *job)
{
    struct hm_json *j = &s->im->facts;
    bool done = strcmp(job->state, "COMPLETED") == 0;

    if (!job->open)
        return;
    job->open = false;
    hm__json_open(j, NULL, HM_JSON_OBJECT);
    hm__json_put_text(j, "id", job->id);
    hm__json_put_text(j, "state", job->state[0] ? job->state : NULL);
    hm__json_put_text(j, "exit", job->exit[0] ? job->exit : NULL);
    hm__json_put_number(j, "elapsed_s", job->elapsed);
    hm__json_put_number(j, "nodes", job->nodes);
    hm__json_put_number(j, "cpus", job->cpus);
    hm__json_put_number(j, "gpus", job->gpus);
    hm__json_put_text(j, "partition", job->partition[0] ? job->partition : NULL);
    hm__json_put_number(j, "energy_j", job->energy);
    hm__json_put_number(j, "cpu_time_s", job->cpu_time);
    hm__json_put_number(j, "timelimit_s", job->limit);
    hm__json_put_number(j, "max_rss_bytes", job->rss);
    hm__json_close(j);
    s->jobs++;
    s->ended += done;
    if (!done || !(job->elapsed > 0) || isnan(job_workers(job)))
        return;
    const struct hm_import_cell cells[] = {
        hm__cell_text(hm__arena_strdup(s->im->arena, job->partition)),
        hm__cell(job_workers(job)),
        hm__cell(job->elapsed),
        hm__cell(job->nodes),
        hm__cell(job->cpus),
        hm__cell(job->gpus),
        hm__cell(job->rss)};
    hm__import_row(s->im, &s->im->runs, cells);
}

static void copy_cell(char *text, size_t room, const char *cell)
{
    snprintf(text, room, "%s", cell ? cell : "");
}

static void begin_job(struct slurm *s, struct job *job, const char *id)
{
    double raw = number_of(s, "ElapsedRaw", NULL), minutes = number_of(s, "TimelimitRaw", NULL);
    double cpu = number_of(s, "CPUTimeRAW", "CPUTimeRaw");

    *job = (struct job){.open = true};
    copy_cell(job->id, sizeof(job->id), id);
    copy_cell(job->state, sizeof(job->state), cell_of(s, "State"));
    job->state[strcspn(job->state, " ")] =
        '\0'; /* A state such as "CANCELLED by UID" is shortened to its first word. */
    copy_cell(job->exit, sizeof(job->exit), cell_of(s, "ExitCode"));
    copy_cell(job->partition, sizeof(job->partition), cell_of(s, "Partition"));
    job->elapsed = isnan(raw) ? hm__cell_duration(cell_of(s, "Elapsed")) : raw;
    job->nodes = number_of(s, "NNodes", "AllocNodes");
    job->cpus = number_of(s, "AllocCPUS", "NCPUS");
    job->gpus = gpus_of(cell_of(s, "AllocTRES"));
    job->energy = number_of(s, "ConsumedEnergyRaw", "ConsumedEnergy");
    job->cpu_time = isnan(cpu) ? hm__cell_duration(cell_of(s, "CPUTime")) : cpu;
    job->limit = isnan(minutes) ? hm__cell_duration(cell_of(s, "Timelimit")) : minutes * 60;
    job->rss = hm__cell_memory(cell_of(s, "MaxRSS"));
    count_state(s, job->state);
}

static void read_row(struct slurm *s, struct job *job)
{
    const char *id = cell_of(s, "JobID");

    if (!id) {
        s->short_rows++;
        return;
    }
    s->rows++;
    if (!strchr(id, '.')) {
        finish_job(s, job);
        begin_job(s, job, id);
        return;
    }
    s->steps++;
    size_t length = strcspn(id, ".");
    double rss = hm__cell_memory(cell_of(s, "MaxRSS"));
    if (job->open && strncmp(job->id, id, length) == 0 && job->id[length] == '\0' &&
        !(job->rss >= rss) && !isnan(rss))
        job->rss = rss;
}

/* ---- reading ----------------------------------------------------------------------------------
 */

/*
 * Reads the column names from the property columns=… that the user gives; returns false if there is
 * none.
 */
static bool given_columns(struct slurm *s)
{
    for (size_t i = 0; i < s->im->set_count; i++) {
        const char *pair = s->im->set[i];
        struct hm_line line = {pair + 8, strlen(pair) > 8 ? strlen(pair) - 8 : 0, true, false};
        if (strncmp(pair, "columns=", 8) == 0) {
            s->im->failed |= !hm__cells_split(&s->head, &line, ',');
            return s->head.count > 0;
        }
    }
    return false;
}

static void put_rest(struct slurm *s, bool header)
{
    struct hm_json *j = &s->im->facts;

    hm__json_put_bool(j, "header", header);
    hm__json_open(j, "columns", HM_JSON_LIST);
    for (size_t i = 0; i < s->head.count; i++)
        hm__json_put_text(j, NULL, s->head.cell[i]);
    hm__json_close(j);
    hm__json_put_number(j, "rows", s->rows);
    hm__json_put_number(j, "steps", s->steps);
    hm__json_open(j, "states", HM_JSON_OBJECT);
    for (size_t i = 0; i < s->state_count; i++)
        hm__json_put_number(j, s->states[i].name, s->states[i].count);
    hm__json_close(j);
    hm__import_took(s->im, s->jobs, "jobs");
    hm__import_took(s->im, (double)s->im->runs.rows, "jobs that completed, as runs");
    hm__import_left(s->im, s->jobs - s->ended, "jobs that failed, run or wait");
    hm__import_left(s->im, s->short_rows, "rows without an identifier");
    hm__import_left(s->im, (double)s->head.left, "columns after the first %d", HM_CELLS);
    if (s->im->runs.rows > 0)
        hm__import_note(s->im, "n is the number of GPUs of a job, else of nodes, else of "
                               "processors; seconds are those of the whole job");
    else if (s->ended > 0)
        hm__import_note(s->im, "no job has a time and a size, so there are no runs: sacct -P -o "
                               "JobID,Elapsed,NNodes,AllocTRES,State prints them");
}

static int slurm_rows(struct slurm *s, struct hm_err *err)
{
    struct hm_line line;
    struct job job = {.open = false};
    bool header = false, first = true, known = given_columns(s);

    hm__json_open(&s->im->facts, "jobs", HM_JSON_LIST | HM_JSON_LINES);
    while (hm__stream_line(&s->im->in, &line)) {
        if (line.length == 0)
            continue;
        bool is_header = first && hm__find(line.text, line.length, "JobID") != NULL;
        first = false;
        if (!hm__cells_split(is_header && !known ? &s->head : &s->row, &line, '|'))
            return hm__fail_nomem(err);
        header |= is_header;
        if (is_header)
            continue;
        if (s->head.count == 0) {
            hm__fail(err, HM_E_MISSING, "the file has no header");
            hm__err_hint(err, "name them with the field `set`: columns=JobID,Elapsed,NNodes,State");
            return HM_E_MISSING;
        }
        if (!line.whole && s->row.count < s->head.count) {
            hm__import_cut(s->im);
            continue;
        }
        hm__import_last_line(s->im, &line);
        read_row(s, &job);
    }
    finish_job(s, &job);
    hm__json_close(&s->im->facts);
    put_rest(s, header);
    return 0;
}

static int slurm_read(struct hm_imported *im, struct hm_err *err)
{
    struct slurm *s = hm__calloc(1, sizeof(*s));

    if (!s)
        return hm__fail_nomem(err);
    s->im = im;
    hm__json_put_text(&im->facts, "format", "slurm sacct");
    hm__import_columns(&im->runs, "*partition,n,seconds,nodes,cpus,gpus,max_rss_bytes");
    int rc = slurm_rows(s, err);
    hm__cells_release(&s->head);
    hm__cells_release(&s->row);
    hm__free(s);
    return rc;
}

static int slurm_recognise(const struct hm_import_head *head)
{
    const char *end = memchr(head->text, '\n', head->length);
    size_t length = end ? (size_t)(end - head->text) : head->length, bars = 0;

    for (size_t i = 0; i < length; i++)
        bars += head->text[i] == '|';
    if (bars == 0)
        return 0;
    if (hm__find(head->text, length, "JobID"))
        return 95;
    /*
     * A table without a header is recognised if it begins with a job number and its rows have many
     * cells.
     */
    return bars >= 10 && head->text[0] >= '1' && head->text[0] <= '9' ? 60 : 0;
}

const struct hm_importer hm__importer_slurm = {
    .name = "slurm",
    .title = "accounting of Slurm (sacct -P)",
    .becomes = "runs",
    .recognise = slurm_recognise,
    .read = slurm_read,
};
