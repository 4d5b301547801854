/* Runs, terms and targets as the options of several commands name them. */
#include "asked_runs.h"
#include "asked_job.h"
#include "asked_store.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest.h"
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
    for (size_t i = 0; i < t->count; i++) {
        t->terms[i] += strspn(t->terms[i], " ");
        if (t->terms[i][0] == '\0')
            return cli_complain("--terms: an empty term in '%s'", text);
    }
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
    for (size_t i = 0; i < t->count; i++)
        if (strcmp(t->names[i], name) == 0)
            return cli_complain("--target: %s is given twice", name);
    struct hm_at *at = &t->at[t->count];
    at->name = name;
    double plain;
    size_t used = hm__number_read(value, &plain);
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

size_t cli_target_others(const struct cli_target *t, struct hm_at *at)
{
    size_t count = 0;

    for (size_t i = 0; i < t->count; i++)
        if (strcmp(t->at[i].name, "n") != 0)
            at[count++] = t->at[i];
    return count;
}

size_t cli_target_places(const struct cli_target *t, double n_max, double *n)
{
    double most = 4 * (n_max > 4 ? n_max : 4);
    size_t count = 0;

    if (t->n > 0)
        n[count++] = t->n;
    for (double at = 1; t->n == 0 && at <= most && count < CLI_PLACES_MAX; at *= 2)
        n[count++] = at;
    return count;
}

static int add_axis(struct cli_axes *a, const char *name, size_t length, const char *list)
{
    bool n = length == 1 && *name == 'n';

    for (size_t i = 0; i < a->count; i++)
        if (strlen(a->names[i]) == length && strncmp(a->names[i], name, length) == 0)
            return cli_complain("%s is given twice", a->names[i]);
    if (a->count == CLI_AXES_MAX || length == 0 || length >= sizeof(a->names[0]))
        return cli_complain("more than %d quantities, or a name too long", CLI_AXES_MAX);
    memcpy(a->names[a->count], name, length);
    struct cli_range *range = &a->ranges[a->count++];
    int rc = n ? cli_range_parse(range, list) : cli_range_parse_evenly(range, list);
    for (size_t i = 0; rc == 0 && i < range->count; i++)
        if (n && (range->values[i] < 1 || range->values[i] != floor(range->values[i])))
            rc = cli_complain("--n: whole numbers from 1 on, not %g", range->values[i]);
    return rc;
}

int cli_axes_add(struct cli_axes *a, const char *name, const char *list)
{
    return add_axis(a, name, strlen(name), list);
}

int cli_axes_vary(struct cli_axes *a, const char *value)
{
    const char *equal = strchr(value, '=');

    if (!equal)
        return cli_complain("--vary: '%s' is not NAME=LIST", value);
    return add_axis(a, value, (size_t)(equal - value), equal + 1);
}

int cli_axes_cross(const struct cli_axes *a, struct hm_runs **runs)
{
    struct hm_axis axes[CLI_AXES_MAX];
    struct hm_err err = {0};

    double places = 1;
    for (size_t i = 0; i < a->count; i++)
        places *= (double)a->ranges[i].count;
    if (cli_guest() && places > CLI_GUEST_PLACES)
        return cli_complain("%g combinations; in a request at most %d", places, CLI_GUEST_PLACES);
    for (size_t i = 0; i < a->count; i++)
        axes[i] = (struct hm_axis){a->names[i], a->ranges[i].values, a->ranges[i].count};
    return hm_runs_cross(axes, a->count, runs, &err) ? cli_report(&err) : 0;
}

void cli_axes_release(struct cli_axes *a)
{
    for (size_t i = 0; i < a->count; i++)
        cli_range_release(&a->ranges[i]);
}

int cli_where_add(const char **where, size_t *count, const char *condition)
{
    if (*count == CLI_LIST_MAX)
        return cli_complain("--where: more than %d", CLI_LIST_MAX);
    where[(*count)++] = condition;
    return 0;
}

/* Of a store, which looks for the runs itself. */
static int load_stored(const char *path, const char *const *where, size_t where_count,
                       struct hm_runs **runs)
{
    struct hm_store_filter filter = {
        .where = where, .where_count = where_count, .sort = "id"}; /* oldest first */
    struct hm_store *store;
    struct hm_err err = {0};
    int rc = cli_store_open(path, &store);

    if (rc)
        return rc;
    int64_t count = 0;
    if (hm_store_count(store, &filter, &count, &err))
        rc = cli_report(&err);
    else if (count == 0)
        rc = cli_complain("the store has no such runs; `howmany runs import` adds tables of them");
    else if (cli_guest() && count > CLI_GUEST_RUNS)
        rc = cli_complain("%lld runs; in a request at most %d: choose some with where",
                          (long long)count, CLI_GUEST_RUNS);
    else if (hm_store_runs(store, &filter, runs, &err))
        rc = cli_report(&err);
    if (rc == 0 && cli_guest())
        (*runs)->source = "the store"; /* where it is, is nobody's business */
    cli_store_close(store);
    return rc;
}

int cli_runs_load(const char *path, const char *const *where, size_t where_count,
                  struct hm_runs **runs)
{
    struct hm_err err = {0};

    if (!path || cli_is_store(path))
        return load_stored(path, where, where_count, runs);
    int rc = cli_open_runs(path, runs, &err);
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
