/*
 * Reads a study: which training runs are allowed, and what they must determine.
 * docs/reference/study.md describes the keys. Options of training runs are copied unchecked; the
 * program that starts the runs checks them.
 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "err.h"
#include "readers.h"
#include "study.h"

#define AT(member) offsetof(struct hm_study_spec, member)

static const char *const goals[] = {"time", "cost", NULL};

static const struct hm_field study_fields[] = {
    {.name = "title", .kind = HM_FIELD_TEXT, .offset = AT(title), .doc = "title of the study"},
    {.name = "train", .kind = HM_FIELD_OTHER, .doc = "options of training, for every run"},
    {.name = "algorithms",
     .kind = HM_FIELD_OTHER,
     .required = true,
     .doc = "a list such as [cocoa, cocoa+, {name: lbfgs, memory: 5}]"},
    {.name = "m",
     .kind = HM_FIELD_OTHER,
     .required = true,
     .doc = "numbers of workers to choose from, such as 1..64 (doubling) or [1, 2, 4, 8]"},
    {.name = "simulate",
     .kind = HM_FIELD_TEXT,
     .offset = AT(simulate),
     .doc = "a cluster file or a machine from the catalog"},
    {.name = "launcher",
     .kind = HM_FIELD_TEXT,
     .offset = AT(launcher),
     .doc = "command that starts real ranks, such as srun -n {n}"},
    {.name = "loss",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(loss),
     .above = true,
     .required = true,
     .doc = "distance to the lowest objective that is good enough, such as 1e-3"},
    {.name = "best",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(best),
     .min = -1e300,
     .doc = "the lowest possible objective, if it is known"},
    {.name = "iterations",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(iterations),
     .min = 1,
     .max = 1e9,
     .whole = true,
     .doc = "most iterations of one run"},
    {.name = "budget",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(budget_s),
     .dim = {1, 0, 0, 0},
     .above = true,
     .required = true,
     .doc = "time of all runs together, such as 60 s"},
    {.name = "seeds",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(seeds),
     .min = 1,
     .max = 100,
     .whole = true,
     .doc = "runs of each configuration"},
    {.name = "price",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(price_per_s),
     .dim = {-1, 0, 0, 1},
     .above = true,
     .doc = "price of one worker"},
    {.name = "goal",
     .kind = HM_FIELD_CHOICE,
     .offset = AT(goal),
     .choices = goals,
     .doc = "time or cost"},
};

enum { STUDY_FIELDS = sizeof(study_fields) / sizeof(study_fields[0]) };

/* ---- options of runs ------------------------------------------------------------------------ */

/* Reads one option: true turns a switch on, false omits the option, and anything else is the value
 * of the option. */
static int read_option(struct hm_reader *r, const char *key, const struct hm_value *value,
                       struct hm_study_options *options)
{
    size_t mark = hm__reader_enter(r, key);
    int rc = hm__expect_kind(r, value, HM_VALUE_SCALAR, "a single value");
    struct hm_study_option *option = &options->all[options->count];

    hm__reader_leave(r, mark);
    if (rc || (!value->quoted && strcmp(value->text, "false") == 0))
        return rc;
    bool on = !value->quoted && strcmp(value->text, "true") == 0;
    *option = (struct hm_study_option){.key = hm__arena_strdup(r->arena, key),
                                       .value = on ? NULL : hm__arena_strdup(r->arena, value->text),
                                       .source = value->source,
                                       .line = value->line};
    if (!option->key || (!on && !option->value))
        return hm__fail_nomem(r->err);
    options->count++;
    return 0;
}

/* Reads all entries of a map as options, except the entry whose key is `but`, which may be NULL. */
static int read_options(struct hm_reader *r, const struct hm_value *map, const char *but,
                        struct hm_study_options *options)
{
    int rc = hm__expect_kind(r, map, HM_VALUE_MAP, "keys and values, such as {lambda: 1e-4}");

    if (rc)
        return rc;
    options->all = hm__arena_alloc(r->arena, map->count + 1, sizeof(*options->all));
    if (!options->all)
        return hm__fail_nomem(r->err);
    for (size_t i = 0; rc == 0 && i < map->count; i++)
        if (!but || strcmp(map->keys[i], but) != 0)
            rc = read_option(r, map->keys[i], &map->items[i], options);
    return rc;
}

/* ---- algorithms ----------------------------------------------------------------------------- */

static int read_name(struct hm_reader *r, const struct hm_value *value,
                     struct hm_study_algorithm *algorithm)
{
    int rc = hm__expect_kind(r, value, HM_VALUE_SCALAR, "the name of an algorithm");

    if (rc)
        return rc;
    algorithm->name = hm__arena_strdup(r->arena, value->text);
    algorithm->source = value->source;
    algorithm->line = value->line;
    return algorithm->name ? 0 : hm__fail_nomem(r->err);
}

static int read_algorithm(struct hm_reader *r, const struct hm_value *value,
                          struct hm_study_algorithm *algorithm)
{
    if (value->kind != HM_VALUE_MAP)
        return read_name(r, value, algorithm);
    const struct hm_value *name = hm__value_get(value, "name");
    if (!name) {
        hm__reader_fail(r, value, HM_E_MISSING, "'name' is missing");
        hm__err_hint(r->err, "write a name, or a map such as {name: cocoa, passes: 2}");
        return HM_E_MISSING;
    }
    int rc = read_name(r, name, algorithm);
    return rc ? rc : read_options(r, value, "name", &algorithm->options);
}

/* Fails if an algorithm is listed twice, because traces distinguish algorithms by name. */
static int check_unique(struct hm_reader *r, const struct hm_value *value,
                        const struct hm_study_spec *spec)
{
    const char *name = spec->algorithms[spec->algorithm_count].name;

    for (size_t i = 0; i < spec->algorithm_count; i++)
        if (strcmp(spec->algorithms[i].name, name) == 0)
            return hm__reader_fail(r, value, HM_E_CONFLICT, "%.60s is listed twice", name);
    return 0;
}

static int read_algorithms(struct hm_reader *r, const struct hm_value *list,
                           struct hm_study_spec *spec)
{
    int rc = hm__expect_kind(r, list, HM_VALUE_LIST, "a list such as [cocoa, cocoa+]");

    if (rc)
        return rc;
    if (list->count == 0) {
        hm__reader_fail(r, list, HM_E_MISSING, "the list of algorithms is empty");
        hm__err_hint(r->err, "write a list such as [cocoa, cocoa+]");
        return HM_E_MISSING;
    }
    if (list->count > HM_STUDY_ALGORITHMS)
        return hm__reader_fail(r, list, HM_E_LIMIT, "more than %d algorithms", HM_STUDY_ALGORITHMS);
    spec->algorithms = hm__arena_alloc(r->arena, list->count, sizeof(*spec->algorithms));
    if (!spec->algorithms)
        return hm__fail_nomem(r->err);
    for (size_t i = 0; rc == 0 && i < list->count; i++) {
        size_t mark = hm__reader_enter_index(r, i);
        rc = read_algorithm(r, &list->items[i], &spec->algorithms[i]);
        if (rc == 0)
            rc = check_unique(r, &list->items[i], spec);
        hm__reader_leave(r, mark);
        spec->algorithm_count++;
    }
    return rc;
}

/* ---- workers -------------------------------------------------------------------------------- */

static int add_worker_count(struct hm_reader *r, const struct hm_value *at,
                            struct hm_study_spec *spec, double m)
{
    size_t place = 0;

    while (place < spec->m_count && spec->m[place] < m)
        place++;
    if (place < spec->m_count && spec->m[place] == m)
        return 0;
    if (spec->m_count == HM_STUDY_M)
        return hm__reader_fail(r, at, HM_E_LIMIT, "more than %d numbers of workers", HM_STUDY_M);
    memmove(&spec->m[place + 1], &spec->m[place], (spec->m_count - place) * sizeof(*spec->m));
    spec->m[place] = m;
    spec->m_count++;
    return 0;
}

static int read_worker_count(struct hm_reader *r, const struct hm_value *value, double *ret_m)
{
    static const struct hm_field field = {
        .kind = HM_FIELD_QUANTITY, .min = 1, .max = HM_STUDY_M_MOST, .whole = true};
    return hm__read_field(r, value, &field, ret_m);
}

/* Reads numbers of workers given as a range that doubles: "3..20" means 3, 6, 12 and 20. */
static int read_doubling(struct hm_reader *r, const struct hm_value *value, const char *dots,
                         struct hm_study_spec *spec)
{
    struct hm_value from = *value, to = *value;
    double first = 0, last = 0;
    int rc = 0;

    from.text = hm__arena_strndup(r->arena, value->text, (size_t)(dots - value->text));
    to.text = dots + 2;
    if (!from.text)
        return hm__fail_nomem(r->err);
    rc = read_worker_count(r, &from, &first);
    rc = rc ? rc : read_worker_count(r, &to, &last);
    if (rc == 0 && last < first)
        rc = hm__reader_fail(r, value, HM_E_RANGE, "'%.60s' ends before it begins", value->text);
    for (double m = first; rc == 0 && m < last; m *= 2)
        rc = add_worker_count(r, value, spec, m);
    return rc ? rc : add_worker_count(r, value, spec, last);
}

static int read_workers(struct hm_reader *r, const struct hm_value *value,
                        struct hm_study_spec *spec)
{
    const char *dots = value->kind == HM_VALUE_SCALAR ? strstr(value->text, "..") : NULL;
    double m;
    int rc = 0;

    spec->m = hm__arena_alloc(r->arena, HM_STUDY_M, sizeof(*spec->m));
    if (!spec->m)
        return hm__fail_nomem(r->err);
    if (dots)
        return read_doubling(r, value, dots, spec);
    if (value->kind != HM_VALUE_LIST) {
        rc = hm__expect_kind(r, value, HM_VALUE_SCALAR, "1..64 or a list such as [1, 2, 4]");
        rc = rc ? rc : read_worker_count(r, value, &m);
        return rc ? rc : add_worker_count(r, value, spec, m);
    }
    for (size_t i = 0; rc == 0 && i < value->count; i++) {
        size_t mark = hm__reader_enter_index(r, i);
        rc = read_worker_count(r, &value->items[i], &m);
        rc = rc ? rc : add_worker_count(r, &value->items[i], spec, m);
        hm__reader_leave(r, mark);
    }
    if (rc == 0 && spec->m_count == 0) {
        rc = hm__reader_fail(r, value, HM_E_MISSING, "the list of workers is empty");
        hm__err_hint(r->err, "write 1..64 or a list such as [1, 2, 4]");
    }
    return rc;
}

/* ---- the file ------------------------------------------------------------------------------- */

static int read_parts(struct hm_reader *r, const struct hm_value *root, struct hm_study_spec *spec)
{
    static const char *const keys[] = {"train", "algorithms", "m"};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < 3; i++) {
        const struct hm_value *value = hm__value_get(root, keys[i]);
        if (!value)
            continue;
        size_t mark = hm__reader_enter(r, keys[i]);
        rc = i == 0   ? read_options(r, value, NULL, &spec->train)
             : i == 1 ? read_algorithms(r, value, spec)
                      : read_workers(r, value, spec);
        hm__reader_leave(r, mark);
    }
    return rc;
}

static int fail_conflict(struct hm_reader *r, const struct hm_value *root, const char *key,
                         const char *message, const char *hint)
{
    size_t mark = hm__reader_enter(r, key);

    hm__reader_fail(r, hm__value_get(root, key), HM_E_CONFLICT, "%s", message);
    hm__err_hint(r->err, "%s", hint);
    hm__reader_leave(r, mark);
    return HM_E_CONFLICT;
}

static int check_study(struct hm_reader *r, const struct hm_value *root,
                       const struct hm_study_spec *spec)
{
    if (spec->goal == HM_GOAL_COST && isnan(spec->price_per_s))
        return fail_conflict(r, root, "goal", "cost needs a price",
                             "price: of one worker, such as $1/h");
    if (spec->simulate && spec->launcher)
        return fail_conflict(r, root, "launcher", "launcher and simulate are both given",
                             "SimGrid starts simulated ranks: keep one of the two");
    return 0;
}

int hm__study_spec_parse(const char *text, size_t length, const char *source,
                         const struct hm_override *overrides, size_t count,
                         struct hm_study_spec **ret_spec, struct hm_err *err)
{
    struct hm_arena *arena = hm__arena_new();
    struct hm_study_spec *spec = arena ? hm__arena_alloc(arena, 1, sizeof(*spec)) : NULL;
    struct hm_reader r = {.arena = arena, .err = err};
    const struct hm_spec file = {.text = text,
                                 .length = length,
                                 .source = source,
                                 .overrides = overrides,
                                 .override_count = count};
    struct hm_value *root;
    bool old;
    int rc = spec ? 0 : hm__fail_nomem(err);

    if (rc == 0)
        *spec = (struct hm_study_spec){
            .best = NAN, .iterations = 500, .seeds = 1, .price_per_s = NAN, .memory = arena};
    if (rc == 0)
        rc = hm__read_tree(arena, &file, &root, &old, err);
    if (rc == 0)
        rc = hm__read_map(&r, root, study_fields, STUDY_FIELDS, spec);
    if (rc == 0) /* The index is converted, because enum hm_goal has AUTO before the two choices. */
        spec->goal = spec->goal == 0 ? HM_GOAL_TIME : HM_GOAL_COST;
    if (rc == 0)
        rc = read_parts(&r, root, spec);
    if (rc == 0)
        rc = check_study(&r, root, spec);
    if (rc == 0 && !(spec->source = hm__arena_strdup(arena, source ? source : "")))
        rc = hm__fail_nomem(err);
    if (rc == 0)
        *ret_spec = spec;
    else
        hm__arena_free(arena);
    return rc;
}

void hm__study_spec_free(struct hm_study_spec *spec)
{
    if (spec)
        hm__arena_free(spec->memory);
}
