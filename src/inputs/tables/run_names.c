/*
 * Names of columns as people write them: with synonyms (workers, cores), with a unit in
 * parentheses, brackets or after an underscore ("time (ms)", "latency_ms"), and with # before the
 * first name.
 */
#include "run_names.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
static const struct column_synonyms {
    const char *aliases; /* Synonyms in lower case, without a unit, separated by bars. */
    struct hm_known_column known;
} entries[] = {
    {"|cores|workers|machines|m|ranks|gpus|processes|", {"n", {0}, 1, false, false}},
    {"|n_nodes|", {"nodes", {0}, 1, false, false}},
    {"|fraction|input fraction|scale|", {"size", {0}, 0, true, false}},
    {"|batch size|batch_size|global_batch|", {"batch", {0}, 0, true, false}},
    {"|", {"latency", {1, 0, 0, 0}, 0, false, false}},
    {"|", {"bandwidth", {-1, 1, 0, 0}, 0, true, false}},
    {"|time|time per iteration|step time|step_time|", {"seconds", {1, 0, 0, 0}, 0, true, false}},
    {"|total time|total_time|runtime|wall|", {"total", {1, 0, 0, 0}, 0, true, false}},
    {"|", {"iterations", {0}, 0, true, false}},
    {"|", {"speedup", {0}, 0, true, false}},
    {"|", {"loss", {0}, -INFINITY, false, false}},
    {"|node|instance|", {"machine", {0}, 0, false, true}},
    {"|", {"status", {0}, 0, false, true}},
};
/* clang-format on */

enum { ENTRY_COUNT = sizeof(entries) / sizeof(entries[0]) };

/* Removes a unit such as "(ms)" or "[ms]" from the end of a name. Returns the factor that converts
 * the unit to SI, or 0 if there is no unit. */
static double take_unit(char *name, struct hm_dim *ret_dim)
{
    size_t length = strlen(name);
    char *open = strrchr(name, '('), *bracket = strrchr(name, '[');
    double factor = 0;

    open = open ? open : bracket;
    if (!open || open == name || (name[length - 1] != ')' && name[length - 1] != ']') ||
        !hm__unit_find(open + 1, (size_t)(name + length - 1 - (open + 1)), &factor, ret_dim))
        return 0;
    *open = '\0';
    for (length = strlen(name); length > 0 && name[length - 1] == ' '; length--)
        name[length - 1] = '\0';
    return factor;
}

static const struct hm_known_column *find_known(const char *name)
{
    char lower[HM_RUN_NAME + 2];
    size_t i;

    lower[0] = '|';
    for (i = 0; name[i] && i < HM_RUN_NAME - 1; i++)
        lower[i + 1] = (char)tolower((unsigned char)name[i]);
    lower[i + 1] = '|';
    lower[i + 2] = '\0';
    for (size_t k = 0; k < ENTRY_COUNT; k++) {
        const char *own = entries[k].known.name;
        if ((strlen(own) == i && strncmp(lower + 1, own, i) == 0) ||
            (i > 0 && strstr(entries[k].aliases, lower)))
            return &entries[k].known;
    }
    return NULL;
}

/* Resolves a name such as "latency_ms" to the column latency, if the unit has the dimension of that
 * column. */
static const struct hm_known_column *find_suffixed(char *name, double *factor, struct hm_dim *dim)
{
    char *bar = strrchr(name, '_');

    if (!bar || bar == name || !hm__unit_find(bar + 1, strlen(bar + 1), factor, dim))
        return NULL;
    *bar = '\0';
    const struct hm_known_column *known = find_known(name);
    if (!known || !hm__dim_equal(known->dim, *dim) || hm__dim_plain(known->dim)) {
        *bar = '_';
        *factor = 0;
        return NULL;
    }
    return known;
}

static void copy_name(char *name, const char *written)
{
    size_t length = 0;

    for (; *written == ' ' || *written == '#'; written++)
        ;
    for (; written[length] && length < HM_RUN_NAME - 1; length++)
        name[length] = written[length];
    while (length > 0 && name[length - 1] == ' ')
        length--;
    name[length] = '\0';
}

struct hm_run_name hm__run_name_resolve(const char *written)
{
    struct hm_run_name n = {.factor = 0};

    copy_name(n.name, written);
    n.factor = take_unit(n.name, &n.dim);
    n.known = find_known(n.name);
    if (!n.known && n.factor == 0)
        n.known = find_suffixed(n.name, &n.factor, &n.dim);
    if (n.known)
        snprintf(n.name, sizeof(n.name), "%s", n.known->name);
    return n;
}
