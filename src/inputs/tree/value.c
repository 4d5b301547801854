/* Builds the value tree, finds its entries, and replaces entries by path. */

#include "value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "text.h"

struct hm_value *hm__value_get(const struct hm_value *map, const char *key)
{
    for (size_t i = 0; map && map->kind == HM_VALUE_MAP && i < map->count; i++)
        if (strcmp(map->keys[i], key) == 0)
            return &map->items[i];
    return NULL;
}

double hm__value_number(const struct hm_value *map, const char *key)
{
    const struct hm_value *value = hm__value_get(map, key);
    double number;

    if (!value || value->kind != HM_VALUE_SCALAR || value->quoted)
        return NAN;
    size_t used = hm__signed_read(value->text, &number);
    return used > 0 && value->text[used] == '\0' ? number : NAN;
}

const char *hm__value_kind_name(const struct hm_value *value)
{
    switch (value->kind) {
    case HM_VALUE_NULL:
        return "an empty value";
    case HM_VALUE_SCALAR:
        return "a single value";
    case HM_VALUE_LIST:
        return "a list";
    case HM_VALUE_MAP:
        return "a map";
    }
    return "?";
}

static int fail_entries(struct hm_err *err)
{
    return hm__fail(err, HM_E_LIMIT, "more than %d entries in one map or list", HM_VALUE_ENTRIES);
}

int hm__value_append(struct hm_value_builder *b, const char *key, const struct hm_value *item,
                     struct hm_err *err)
{
    if (b->count == HM_VALUE_ENTRIES)
        return fail_entries(err);
    if (b->count == b->room) {
        size_t room = b->room ? b->room * 2 : 8;
        struct hm_value *items = hm__realloc(b->items, room, sizeof(*items));
        if (!items)
            return hm__fail_nomem(err);
        b->items = items;
        const char **keys = hm__realloc(b->keys, room, sizeof(*keys));
        if (!keys)
            return hm__fail_nomem(err);
        b->keys = keys;
        b->room = room;
    }
    b->items[b->count] = *item;
    b->keys[b->count++] = key;
    return 0;
}

struct key_index {
    const char *key;
    size_t index;
};

static int compare_keyed(const void *a, const void *b)
{
    const struct key_index *x = a, *y = b;
    int order = strcmp(x->key, y->key);

    return order ? order : x->index < y->index ? -1 : x->index > y->index;
}

enum { FEW_KEYS = 16 };

/* Returns whether a map is small and none of its keys appears twice. */
static bool few_keys_differ(const struct hm_value_builder *b)
{
    if (b->count > FEW_KEYS)
        return false;
    for (size_t i = 1; i < b->count; i++)
        for (size_t k = 0; k < i; k++)
            if (b->keys[i][0] == b->keys[k][0] && strcmp(b->keys[i], b->keys[k]) == 0)
                return false;
    return true;
}

/* Fails if a key appears twice. Keys are sorted first, because a map may have thousands of keys. */
static int check_keys(const struct hm_value_builder *b, struct hm_err *err)
{
    if (few_keys_differ(b))
        return 0;
    struct key_index *order = hm__calloc(b->count, sizeof(*order));
    int rc = 0;

    if (!order)
        return hm__fail_nomem(err);
    for (size_t i = 0; i < b->count; i++)
        order[i] = (struct key_index){b->keys[i], i};
    qsort(order, b->count, sizeof(*order), compare_keyed);
    for (size_t i = 1; rc == 0 && i < b->count; i++) {
        if (strcmp(order[i].key, order[i - 1].key) != 0)
            continue;
        const struct hm_value *second = &b->items[order[i].index];
        rc = hm__fail(err, HM_E_SYNTAX, "key '%.80s' appears twice", order[i].key);
        hm__err_hint(err, "it appears first on line %d", b->items[order[i - 1].index].line);
        hm__err_at(err, second->source, second->line);
    }
    hm__free(order);
    return rc;
}

int hm__value_seal(struct hm_value_builder *b, struct hm_arena *arena, struct hm_value *value,
                   struct hm_err *err)
{
    if (value->kind == HM_VALUE_MAP) {
        int rc = check_keys(b, err);
        if (rc)
            return rc;
    }
    value->count = b->count;
    value->items = hm__arena_alloc(arena, b->count, sizeof(*value->items));
    value->keys = hm__arena_alloc(arena, b->count, sizeof(*value->keys));
    if (!value->items || !value->keys)
        return hm__fail_nomem(err);
    if (b->count) {
        memcpy(value->items, b->items, b->count * sizeof(*value->items));
        memcpy(value->keys, b->keys, b->count * sizeof(*value->keys));
    }
    hm__value_builder_release(b);
    return 0;
}

void hm__value_builder_release(struct hm_value_builder *b)
{
    hm__free(b->items);
    hm__free(b->keys);
    *b = (struct hm_value_builder){0};
}

int hm__value_parse(struct hm_arena *arena, const char *text, size_t length, const char *source,
                    struct hm_value **ret_value, struct hm_err *err)
{
    size_t end = source ? strlen(source) : 0;
    bool json = end > 5 && strcmp(source + end - 5, ".json") == 0;

    return json ? hm__json_parse(arena, text, length, source, ret_value, err)
                : hm__yaml_parse(arena, text, length, source, ret_value, err);
}

bool hm__value_rename(struct hm_value *map, const char *old_key, const char *new_key)
{
    if (!hm__value_get(map, old_key) || hm__value_get(map, new_key))
        return false;
    for (size_t i = 0; i < map->count; i++)
        if (strcmp(map->keys[i], old_key) == 0)
            map->keys[i] = new_key;
    return true;
}

/*
 * Marks of the free places in the array of keys of a map, and of the last place, which is never
 * used. A copy of a map shares the arrays. Filling a free place removes its mark, so that the other
 * map does not use the place too.
 */
static const char place_free[] = "", place_last[] = "";

/* Moves the entries of a map to larger arrays with free places. */
static int make_places(struct hm_arena *arena, struct hm_value *map, struct hm_err *err)
{
    size_t count = map->count, room = count + count / 2 + 4;
    struct hm_value *items = hm__arena_alloc(arena, room, sizeof(*items));
    const char **keys = hm__arena_alloc(arena, room, sizeof(*keys));

    if (!items || !keys)
        return hm__fail_nomem(err);
    if (count > 0) {
        memcpy(items, map->items, count * sizeof(*items));
        memcpy(keys, map->keys, count * sizeof(*keys));
    }
    for (size_t i = count; i < room; i++)
        keys[i] = i + 1 < room ? place_free : place_last;
    map->items = items;
    map->keys = keys;
    map->spare = true;
    return 0;
}

/* Adds an entry without a value to a map that is already in the arena and does not have the key. */
static struct hm_value *add_entry(struct hm_arena *arena, struct hm_value *map, const char *key,
                                  struct hm_err *err)
{
    size_t count = map->count;

    if (count == HM_VALUE_ENTRIES) {
        fail_entries(err);
        return NULL;
    }
    if ((!map->spare || map->keys[count] != place_free) && make_places(arena, map, err))
        return NULL;
    map->items[count] = (struct hm_value){.kind = HM_VALUE_NULL, .source = "set"};
    map->keys[count] = key;
    map->count = count + 1;
    return &map->items[count];
}

/* Replaces a scalar with a map, because an override sets a key inside it. `cluster: x` is short for
 * {machine: x}, and `fabric: x` and `network: x` are short for {name: x}; other scalars are
 * dropped. */
static int convert_to_map(struct hm_arena *arena, struct hm_value *here, const char *key,
                          struct hm_err *err)
{
    struct hm_value name = *here;
    const char *inner = strcmp(key, "cluster") == 0 ? "machine" : NULL;

    if (strcmp(key, "network") == 0 || strcmp(key, "fabric") == 0)
        inner = "name";

    *here = (struct hm_value){.kind = HM_VALUE_MAP, .line = name.line, .source = "set"};
    if (name.kind != HM_VALUE_SCALAR || !inner)
        return 0;
    struct hm_value *entry = add_entry(arena, here, inner, err);
    if (!entry)
        return HM_E_NOMEM;
    *entry = name;
    return 0;
}

/*
 * Follows one element of a path: a key of a map, or the index of a list entry, counted from 0.
 * *last is the previous key of the path; a key of a map replaces it.
 */
static int step_into(struct hm_arena *arena, struct hm_value **at, const char *part, size_t length,
                     const char **last, struct hm_err *err)
{
    struct hm_value *here = *at;
    char *key = hm__arena_strndup(arena, part, length);
    if (!key)
        return hm__fail_nomem(err);
    if (here->kind == HM_VALUE_LIST) {
        size_t index = 0, digits = strspn(key, "0123456789");
        for (size_t i = 0; i < digits && index < HM_VALUE_ENTRIES; i++)
            index = index * 10 + (size_t)(key[i] - '0');
        if (digits == 0 || key[digits] || index >= here->count) {
            hm__fail(err, HM_E_KEY, "'%.60s' is not an entry of a list of %zu", key, here->count);
            hm__err_hint(err, "entries of a list are numbered from 0");
            return HM_E_KEY;
        }
        *at = &here->items[index];
        return 0;
    }
    int rc = here->kind == HM_VALUE_MAP ? 0 : convert_to_map(arena, here, *last, err);
    if (rc)
        return rc;
    *last = key;
    *at = hm__value_get(here, key);
    if (!*at)
        *at = add_entry(arena, here, key, err);
    return *at ? 0 : err && err->code ? err->code : HM_E_NOMEM;
}

int hm__value_override(struct hm_arena *arena, struct hm_value *root, const char *assignment,
                       struct hm_err *err)
{
    const char *equals = strchr(assignment, '='), *part = assignment, *last = "";
    struct hm_value *at = root, *value;
    int rc = 0, depth = 0;

    if (!equals || equals == assignment) {
        hm__fail(err, HM_E_SYNTAX, "'%.80s' is not of the form key=value", assignment);
        hm__err_hint(err, "write batch=256 or cluster.price=$1/h");
        rc = HM_E_SYNTAX;
    }
    while (rc == 0 && part < equals) {
        size_t length = strcspn(part, ".=");
        if (length == 0 || ++depth > HM_VALUE_DEPTH)
            rc = hm__fail(err, HM_E_SYNTAX, "'%.80s' is not a path of keys", assignment);
        else
            rc = step_into(arena, &at, part, length, &last, err);
        part += length;
        if (*part == '.' && ++part == equals && rc == 0)
            rc = hm__fail(err, HM_E_SYNTAX, "'%.80s' is not a path of keys", assignment);
    }
    if (rc == 0)
        rc = hm__yaml_parse(arena, equals + 1, strlen(equals + 1), "set", &value, err);
    if (rc == 0)
        *at = *value;
    hm__err_at(rc ? err : NULL, "set", 0);
    return rc;
}
