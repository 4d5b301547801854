/*
 * Reads reports of Slurm's `seff`, one or several in a file:
 *
 *     Job ID: 1234
 *     State: COMPLETED (exit code 0)
 *     Nodes: 2
 *     Cores per node: 32
 *     CPU Utilized: 1-03:22:10
 *     Job Wall-clock time: 00:31:02
 *     Memory Utilized: 12.31 GB (estimated maximum)
 *     Memory Efficiency: 9.6% of 128.00 GB
 *
 * Each job that completed gives one run. The number of workers n is the number of nodes, because
 * the report does not state the number of GPUs. Units of memory are powers of 1024.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cells.h"
#include "importers.h"

struct seff_job {
    char id[64], state[32];
    double nodes, cores, cpu_s, wall_s, used, asked;
    bool open;
};

struct seff {
    struct hm_imported *im;
    struct seff_job job;
    double jobs, ended, lines;
};

/*
 * Returns the value after a label at the start of a line, without surrounding spaces; NULL if the
 * line has another label.
 */
static const char *value_of(const char *line, const char *label)
{
    size_t length = strlen(label);

    if (strncmp(line, label, length) != 0)
        return NULL;
    return line + length + strspn(line + length, " \t");
}

static double number_of(const char *text)
{
    double value;

    return text && hm__number_read(text, &value) > 0 ? value : NAN;
}

/* Reads the first word of a value as a duration in seconds. */
static double duration_of(const char *text)
{
    char word[64];

    snprintf(word, sizeof(word), "%.*s", (int)(strcspn(text, " ,;") % sizeof(word)), text);
    return hm__cell_duration(word);
}

/* Reads an amount of memory such as "4.57 GB" as bytes. */
static double bytes_of(const char *text)
{
    char word[40];
    double value;
    size_t used = text ? hm__number_read(text, &value) : 0;

    if (used == 0 || used > 30)
        return NAN;
    snprintf(word, sizeof(word), "%.*s%c", (int)used, text, text[used + strspn(text + used, " ")]);
    return hm__cell_memory(word);
}

static void end_job(struct seff *s)
{
    const struct seff_job *r = &s->job;
    struct hm_json *j = &s->im->facts;
    double given = hm__import_given(s->im, "n");

    if (!r->open)
        return;
    s->jobs++;
    hm__json_open(j, NULL, HM_JSON_OBJECT);
    hm__json_put_text(j, "id", r->id);
    hm__json_put_text(j, "state", r->state[0] ? r->state : NULL);
    hm__json_put_number(j, "nodes", r->nodes);
    hm__json_put_number(j, "cores_per_node", r->cores);
    hm__json_put_number(j, "cpu_s", r->cpu_s);
    hm__json_put_number(j, "seconds", r->wall_s);
    hm__json_put_number(j, "memory_bytes", r->used);
    hm__json_put_number(j, "memory_asked_bytes", r->asked);
    hm__json_close(j);
    if (strcmp(r->state, "COMPLETED") != 0 || !(r->wall_s > 0) || !(r->nodes >= 1))
        return;
    s->ended++;
    const struct hm_import_cell cells[] = {hm__cell(isnan(given) ? r->nodes : given),
                                           hm__cell(r->wall_s), hm__cell(r->cpu_s),
                                           hm__cell(r->used)};
    hm__import_row(s->im, &s->im->runs, cells);
}

static void read_line(struct seff *s, const char *line)
{
    struct seff_job *r = &s->job;
    const char *value;

    if ((value = value_of(line, "Job ID:"))) {
        end_job(s);
        *r = (struct seff_job){.nodes = NAN,
                               .cores = NAN,
                               .cpu_s = NAN,
                               .wall_s = NAN,
                               .used = NAN,
                               .asked = NAN,
                               .open = true};
        snprintf(r->id, sizeof(r->id), "%.63s", value);
    } else if ((value = value_of(line, "State:"))) {
        snprintf(r->state, sizeof(r->state), "%.*s", (int)(strcspn(value, " (") % 32), value);
    } else if ((value = value_of(line, "Nodes:"))) {
        r->nodes = number_of(value);
    } else if ((value = value_of(line, "Cores per node:"))) {
        r->cores = number_of(value);
        /*
         * A job on one core of one node has a line "Cores:" instead of the numbers of nodes and
         * cores per node.
         */
    } else if ((value = value_of(line, "Cores:"))) {
        r->cores = number_of(value);
        r->nodes = isnan(r->nodes) ? 1 : r->nodes;
    } else if ((value = value_of(line, "CPU Utilized:"))) {
        r->cpu_s = duration_of(value);
    } else if ((value = value_of(line, "Job Wall-clock time:"))) {
        r->wall_s = duration_of(value);
    } else if ((value = value_of(line, "Memory Utilized:"))) {
        r->used = bytes_of(value);
    } else if ((value = value_of(line, "Memory Efficiency:"))) {
        const char *of = strstr(value, "of ");
        r->asked = of ? bytes_of(of + 3) : NAN;
    }
}

static int seff_read(struct hm_imported *im, struct hm_err *err)
{
    struct seff s = {.im = im};
    struct hm_line line;
    char text[512];

    (void)err;
    hm__json_put_text(&im->facts, "format", "slurm seff");
    hm__import_columns(&im->runs, "n,seconds,cpu_seconds,memory_bytes");
    hm__json_open(&im->facts, "jobs", HM_JSON_LIST | HM_JSON_LINES);
    while (hm__stream_line(&im->in, &line)) {
        size_t length = line.length < sizeof(text) - 1 ? line.length : sizeof(text) - 1;
        s.lines++;
        if (!line.whole) {
            /*
             * If the file ends without a line break, its last number may have been truncated,
             * except in the last line of a report.
             */
            if (!hm__find(line.text, line.length, "Memory Efficiency:"))
                hm__import_cut(im);
        }
        memcpy(text, line.text, length);
        while (length > 0 && (text[length - 1] == '\r' || text[length - 1] == ' '))
            length--;
        text[length] = '\0';
        if (line.whole || !im->partial)
            read_line(&s, text);
    }
    end_job(&s);
    hm__json_close(&im->facts);
    hm__json_put_number(&im->facts, "completed", s.ended);
    hm__import_took(im, s.ended, "jobs that completed, as runs");
    hm__import_left(im, s.jobs - s.ended, "jobs that did not complete");
    return 0;
}

static int seff_recognise(const struct hm_import_head *head)
{
    bool job = hm__find(head->text, head->length, "Job ID:") != NULL;

    if (job && hm__find(head->text, head->length, "Job Wall-clock time:"))
        return 90;
    return job && hm__find(head->text, head->length, "CPU Utilized:") ? 70 : 0;
}

const struct hm_importer hm__importer_seff = {
    .name = "seff",
    .title = "report of seff",
    .becomes = "runs",
    .recognise = seff_recognise,
    .read = seff_read,
};
