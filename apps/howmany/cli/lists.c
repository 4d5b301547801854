/*
 * Parses options whose values are lists, terms or configurations to predict, with the functions
 * that read the fields of requests.
 */
#include "lists.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"

/* Reports a parser's error under the name of the option. */
static int report_option(struct hm_err *err, const char *option)
{
    snprintf(err->field, sizeof(err->field), "%s", option);
    snprintf(err->source, sizeof(err->source), "request");
    return cli_report(err);
}

/* ---- numbers -----------------------------------------------------------------------------------
 */

static int range_parse(struct cli_range *range, const char *option, const char *text, bool spread)
{
    struct hm_arena *arena = hm__arena_new();
    struct hm_numbers numbers = {0};
    struct hm_err err = {0};
    int rc = arena ? hm__numbers_parse(arena, &numbers, text, spread, &err) : hm__fail_nomem(&err);

    cli_range_release(range);
    if (rc == 0 && !(range->values = calloc(numbers.count, sizeof(*range->values))))
        rc = hm__fail_nomem(&err);
    if (rc == 0) {
        memcpy(range->values, numbers.values, numbers.count * sizeof(*range->values));
        range->count = numbers.count;
    }
    hm__arena_free(arena);
    return rc ? report_option(&err, option) : 0;
}

int cli_range_parse(struct cli_range *range, const char *option, const char *text)
{
    return range_parse(range, option, text, false);
}

void cli_range_release(struct cli_range *range)
{
    free(range->values);
    *range = (struct cli_range){0};
}

int cli_each(const char *list, int (*take)(void *context, const char *piece), void *context)
{
    int rc = 0;

    while (rc == 0) {
        size_t length = strcspn(list, ",");
        char *piece = strndup(list, length);
        if (!piece)
            return cli_complain("out of memory");
        rc = *piece ? take(context, piece) : cli_complain("an empty name in '%s'", list);
        free(piece);
        if (list[length] == '\0')
            break;
        list += length + 1;
    }
    return rc;
}

/* ---- terms and places --------------------------------------------------------------------------
 */

int cli_terms_parse(struct cli_terms *t, const char *text)
{
    static const struct hm_request_field field = {
        .name = "terms", .kind = HM_REQUEST_TERMS, .offset = offsetof(struct cli_terms, texts)};
    struct hm_err err = {0};

    if (!t->arena && !(t->arena = hm__arena_new()))
        return cli_complain("out of memory");
    return hm__field_set(t->arena, &field, t, text, &err) ? cli_report(&err) : 0;
}

void cli_terms_release(struct cli_terms *t)
{
    hm__arena_free(t->arena);
    *t = (struct cli_terms){0};
}

int cli_target_parse(struct cli_target *t, const char *text)
{
    static const struct hm_request_field field = {
        .name = "target", .kind = HM_REQUEST_PLACE, .offset = offsetof(struct cli_target, place)};
    struct hm_err err = {0};

    if (!t->arena && !(t->arena = hm__arena_new()))
        return cli_complain("out of memory");
    return hm__field_set(t->arena, &field, t, text, &err) ? cli_report(&err) : 0;
}

void cli_target_release(struct cli_target *t)
{
    hm__arena_free(t->arena);
    *t = (struct cli_target){0};
}

/* ---- axes --------------------------------------------------------------------------------------
 */

static int add_axis(struct cli_axes *a, const char *name, size_t length, const char *list)
{
    bool n = length == 1 && *name == 'n';

    for (size_t i = 0; i < a->count; i++)
        if (strlen(a->names[i]) == length && strncmp(a->names[i], name, length) == 0)
            return cli_complain("%s is given twice", a->names[i]);
    if (a->count == CLI_AXES_MAX || length == 0 || length >= sizeof(a->names[0]))
        return cli_complain("more than %d quantities, or a name too long", CLI_AXES_MAX);
    memcpy(a->names[a->count], name, length);
    struct cli_range *range = &a->ranges[a->count];
    int rc = range_parse(range, a->names[a->count], list, !n);
    a->count++;
    for (size_t i = 0; rc == 0 && i < range->count; i++)
        if (n && (range->values[i] < 1 || range->values[i] != floor(range->values[i])))
            rc = cli_complain("--n: n must be whole and at least 1, not %g", range->values[i]);
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

    for (size_t i = 0; i < a->count; i++)
        axes[i] = (struct hm_axis){a->names[i], a->ranges[i].values, a->ranges[i].count};
    return hm_runs_cross(axes, a->count, runs, &err) ? cli_report(&err) : 0;
}

void cli_axes_release(struct cli_axes *a)
{
    for (size_t i = 0; i < a->count; i++)
        cli_range_release(&a->ranges[i]);
}
