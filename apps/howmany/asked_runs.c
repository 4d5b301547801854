/* Runs, terms and targets as the options of several commands name them. */
#include "asked_runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

int cli_terms_parse(struct cli_terms *t, const char *text)
{
    int depth = 0;

    cli_terms_release(t);
    if (strcmp(text, "auto") == 0)
        return 0;
    if (!(t->list = strdup(text)))
        return cli_complain("out of memory");
    t->terms[t->count++] = t->list;
    for (char *at = t->list; *at; at++) {
        depth += (*at == '(') - (*at == ')');
        if (*at != ',' || depth > 0)
            continue;
        if (t->count == CLI_TERMS_MAX)
            return cli_complain("--terms: more than %d", CLI_TERMS_MAX);
        *at = '\0';
        t->terms[t->count++] = at + 1;
    }
    for (size_t i = 0; i < t->count; i++)
        if (t->terms[i][strspn(t->terms[i], " ")] == '\0')
            return cli_complain("--terms: an empty term in '%s'", text);
    return 0;
}

void cli_terms_release(struct cli_terms *t)
{
    free(t->list);
    *t = (struct cli_terms){0};
}

/* The unit a quantity has, by its name. */
static struct hm_dim unit_of(const char *name)
{
    if (strcmp(name, "latency") == 0)
        return HM_DIM_TIME;
    return strcmp(name, "bandwidth") == 0 ? HM_DIM_BYTE_RATE : HM_DIM_NONE;
}

static int add_target(struct cli_target *t, const char *piece, size_t length)
{
    const char *equal = memchr(piece, '=', length);
    size_t name_length = equal ? (size_t)(equal - piece) : 1;
    char value[64];

    if (t->count == CLI_TARGETS_MAX || name_length >= sizeof(t->names[0]) ||
        length - (equal ? name_length + 1 : 0) >= sizeof(value))
        return cli_complain("--target: '%s' is too long", piece);
    char *name = t->names[t->count];
    snprintf(name, sizeof(t->names[0]), "%.*s", (int)name_length, equal ? piece : "n");
    snprintf(value, sizeof(value), "%.*s", (int)(length - (equal ? name_length + 1 : 0)),
             equal ? equal + 1 : piece);
    struct hm_at *at = &t->at[t->count];
    at->name = name;
    double plain;
    size_t used = hm_number_read(value, &plain);
    bool bare = used > 0 && value[used] == '\0'; /* SI, as in a column of runs */
    int rc = cli_quantity("target", value, bare ? HM_DIM_NONE : unit_of(name), &at->value);
    if (rc)
        return rc;
    if (strcmp(name, "n") == 0) {
        if (!(at->value >= 1))
            return cli_complain("--target: n must be at least 1, not '%s'", value);
        t->n = at->value;
    }
    t->count++;
    return 0;
}

int cli_target_parse(struct cli_target *t, const char *text)
{
    int rc = 0;

    *t = (struct cli_target){.count = 0};
    while (rc == 0) {
        size_t length = strcspn(text, ",");
        rc = length ? add_target(t, text, length)
                    : cli_complain("--target: write n=64 or n=64,size=1");
        if (text[length] == '\0')
            break;
        text += length + 1;
    }
    return rc;
}

int cli_runs_load(const char *path, const char *const *where, size_t where_count,
                  struct hm_runs **runs)
{
    struct hm_err err = {0};
    int rc = hm_runs_load(path, runs, &err);

    for (size_t i = 0; rc == 0 && i < where_count; i++)
        rc = hm_runs_where(*runs, where[i], &err);
    return rc ? cli_report(&err) : 0;
}

int cli_level(const char *text, double *level)
{
    int rc = cli_quantity("level", text, HM_DIM_NONE, level);

    if (rc == 0 && !(*level > 0 && *level < 1))
        rc = cli_complain("--level: '%s' is not between 0 and 1; write 0.9 or 90%%", text);
    return rc;
}
