/*
 * Reads a mixed cluster: a list of kinds of machines, each with the keys of a cluster and its
 * `count`; or a map with the list as `kinds`, and with `shares` and a common `fabric`.
 */
#include <stddef.h>
#include <string.h>

#include "checks.h"
#include "err.h"
#include "readers.h"

/* Names for enum hm_shares, as written in a specification. */
static const char *const shares_words[] = {"speed", "equal", NULL};

static const struct hm_field mixed_fields[] = {
    {.name = "kinds", .kind = HM_FIELD_OTHER, .doc = "kinds of machines"},
    {.name = "shares",
     .kind = HM_FIELD_CHOICE,
     .offset = offsetof(struct hm_cluster, shares),
     .choices = shares_words,
     .doc = "samples of each worker, by speed or equal"},
    {.name = "fabric", .kind = HM_FIELD_OTHER, .doc = "the connection between all machines"},
};

static const struct hm_field count_field = {.name = "count",
                                            .kind = HM_FIELD_QUANTITY,
                                            .offset = offsetof(struct hm_kind, count),
                                            .min = 1,
                                            .max = 1e6,
                                            .whole = true,
                                            .doc = "number of machines of this kind"};

/* Copies a map without the key `count`; adds the common fabric if the map has none. */
static int machine_keys(struct hm_reader *reader, const struct hm_value *item,
                        const struct hm_value *fabric, struct hm_value *ret_map)
{
    struct hm_value *items = hm__arena_alloc(reader->arena, item->count + 1, sizeof(*items));
    const char **keys = hm__arena_alloc(reader->arena, item->count + 1, sizeof(*keys));
    size_t count = 0;

    if (!items || !keys)
        return hm__fail_nomem(reader->err);
    for (size_t i = 0; i < item->count; i++) {
        if (strcmp(item->keys[i], "count") == 0)
            continue;
        items[count] = item->items[i];
        keys[count++] = item->keys[i];
    }
    if (fabric && !hm__value_get(item, "fabric")) {
        items[count] = *fabric;
        keys[count++] = "fabric";
    }
    *ret_map = *item;
    ret_map->items = items;
    ret_map->keys = keys;
    ret_map->count = count;
    return 0;
}

/* Reads the number of machines of a kind. */
static int read_count(struct hm_reader *reader, const struct hm_value *item, struct hm_kind *kind)
{
    const struct hm_value *count = hm__value_get(item, "count");

    if (!count) {
        hm__reader_fail(reader, item, HM_E_MISSING, "'count' is missing");
        hm__err_hint(reader->err, "count: number of machines of this kind, such as 4");
        return HM_E_MISSING;
    }
    size_t mark = hm__reader_enter(reader, "count");
    int rc = hm__read_field(reader, count, &count_field, kind);
    hm__reader_leave(reader, mark);
    return rc;
}

static int read_kind(struct hm_reader *reader, const struct hm_value *item,
                     const struct hm_value *fabric, size_t index, struct hm_kind *kind)
{
    struct hm_cluster *machine = hm__arena_alloc(reader->arena, 1, sizeof(*machine));
    struct hm_value map;
    int rc = hm__expect_kind(reader, item, HM_VALUE_MAP, "{machine: NAME, count: 4}");

    if (rc)
        return rc;
    if (!machine)
        return hm__fail_nomem(reader->err);
    if (hm__value_get(item, "kinds") || hm__value_get(item, "shares"))
        return hm__reader_fail(reader, item, HM_E_CONFLICT, "a kind cannot have kinds or shares");
    rc = read_count(reader, item, kind);
    if (rc == 0)
        rc = machine_keys(reader, item, fabric, &map);
    if (rc == 0)
        rc = hm__read_cluster(reader, &map, machine);
    if (rc == 0 && !machine->name)
        machine->name = machine->title ? machine->title
                                       : hm__arena_printf(reader->arena, "kind %zu", index + 1);
    if (rc == 0 && !machine->name)
        return hm__fail_nomem(reader->err);
    kind->machine = machine;
    return rc;
}

/* Reads the list of kinds, in which every kind has its own name. */
static int read_list(struct hm_reader *reader, const struct hm_value *list,
                     const struct hm_value *fabric, struct hm_cluster *cluster)
{
    struct hm_kind *kinds = hm__arena_alloc(reader->arena, HM_KINDS_MAX, sizeof(*kinds));
    int rc = hm__expect_kind(reader, list, HM_VALUE_LIST, "a list of kinds of machines");

    if (rc)
        return rc;
    if (!kinds)
        return hm__fail_nomem(reader->err);
    if (list->count < 1 || list->count > HM_KINDS_MAX) {
        hm__reader_fail(reader, list, HM_E_RANGE, "%zu kinds of machines", list->count);
        hm__err_hint(reader->err, "a mixed cluster has 1 to %d kinds", (int)HM_KINDS_MAX);
        return HM_E_RANGE;
    }
    for (size_t i = 0; rc == 0 && i < list->count; i++) {
        size_t mark = hm__reader_enter_index(reader, i);
        rc = read_kind(reader, &list->items[i], fabric, i, &kinds[i]);
        for (size_t j = 0; rc == 0 && j < i; j++) {
            if (strcmp(kinds[j].machine->name, kinds[i].machine->name) != 0)
                continue;
            rc = hm__reader_fail(reader, &list->items[i], HM_E_CONFLICT, "%.60s appears twice",
                                 kinds[i].machine->name);
            hm__err_hint(reader->err, "give each kind once, with the count of all its machines");
        }
        hm__reader_leave(reader, mark);
    }
    if (rc == 0)
        rc = hm__cluster_set_kinds(reader->arena, cluster, kinds, list->count, reader->err);
    return rc;
}

int hm__read_kinds(struct hm_reader *reader, const struct hm_value *value,
                   struct hm_cluster *cluster)
{
    if (value->kind == HM_VALUE_LIST)
        return read_list(reader, value, NULL, cluster);
    int rc = hm__read_map(reader, value, mixed_fields,
                          sizeof(mixed_fields) / sizeof(mixed_fields[0]), cluster);
    size_t mark = hm__reader_enter(reader, "kinds");
    if (rc == 0)
        rc = read_list(reader, hm__value_get(value, "kinds"), hm__value_get(value, "fabric"),
                       cluster);
    hm__reader_leave(reader, mark);
    return rc;
}
