/* Handles mixed clusters, which have several kinds of machines: checks them and copies them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "checks.h"
#include "err.h"
#include "memory.h"

bool hm__cluster_priced(const struct hm_cluster *c)
{
    for (size_t i = 0; i < c->kind_count; i++)
        if (!(c->kinds[i].machine->node.price_per_s >= 0))
            return false;
    return c->kind_count > 0 || c->node.price_per_s >= 0;
}

double hm__cluster_workers(const struct hm_cluster *c)
{
    double workers = 0;

    for (size_t i = 0; i < c->kind_count; i++)
        workers += c->kinds[i].count * fmax(c->kinds[i].machine->node.accelerators, 1);
    return c->kind_count > 0 ? workers : c->max_nodes * fmax(c->node.accelerators, 1);
}

double hm__cluster_memory(const struct hm_cluster *c)
{
    return c->kind_count == 0 && c->node.memory_bytes > 0 ? c->node.memory_bytes : NAN;
}

int hm__cluster_one_kind(const struct hm_cluster *cluster, struct hm_err *err)
{
    if (!cluster || cluster->kind_count == 0)
        return 0;
    hm__fail(err, HM_E_CONFLICT, "a cluster with several kinds of machines can only be planned");
    hm__err_hint(err, "name one kind of machine, or use plan without runs");
    hm__err_field(err, "cluster");
    return HM_E_CONFLICT;
}

/* Returns whether two kinds of machines in a cluster have the same name. */
static bool kinds_equal(const struct hm_kind *a, const struct hm_kind *b)
{
    return a->machine->name && b->machine->name && strcmp(a->machine->name, b->machine->name) == 0;
}

/* Fails with an error that says that a machine is not allowed in a mixed cluster. */
static int fail_kind(const char *field, const char *message, const char *name, struct hm_err *err)
{
    hm__fail(err, HM_E_CONFLICT, "%s%s%.60s", message, name ? ": " : "", name ? name : "");
    hm__err_field(err, field);
    return HM_E_CONFLICT;
}

int hm__cluster_check_kinds(const struct hm_cluster *c, const char *prefix, struct hm_err *err)
{
    char field[64];
    int rc = hm__check_array(c->kinds, c->kind_count, "kinds", err);

    if (rc == 0 && c->kind_count > 0)
        rc = hm__check_enum("shares", (int)c->shares, HM_SHARES_EQUAL + 1, err);
    if (rc == 0 && c->kind_count > HM_KINDS_MAX)
        rc = hm__check_range("kind_count", (double)c->kind_count, 0, HM_KINDS_MAX, err);
    for (size_t i = 0; rc == 0 && i < c->kind_count; i++) {
        const struct hm_kind *k = &c->kinds[i];
        snprintf(field, sizeof(field), "%skinds[%zu].count", prefix, i);
        rc = hm__check_whole(field, k->count, 1, 1e6, err);
        snprintf(field, sizeof(field), "%skinds[%zu].machine", prefix, i);
        if (rc == 0)
            rc = hm__check_pointer(k->machine, field, err);
        if (rc == 0 && k->machine->kind_count > 0)
            rc = fail_kind(field, "a kind cannot have kinds", k->machine->name, err);
        if (rc == 0) {
            snprintf(field, sizeof(field), "%skinds[%zu].machine.", prefix, i);
            rc = hm__cluster_check(k->machine, field, err);
        }
        for (size_t j = 0; rc == 0 && j < i; j++)
            if (kinds_equal(k, &c->kinds[j]))
                rc = fail_kind(field, "a kind appears twice", k->machine->name, err);
    }
    return rc;
}

static int copy_text(struct hm_arena *arena, const char **text, struct hm_err *err)
{
    if (*text && !(*text = hm__arena_strdup(arena, *text)))
        return hm__fail_nomem(err);
    return 0;
}

int hm__cluster_copy(struct hm_arena *arena, const struct hm_cluster *from, struct hm_cluster *to,
                     struct hm_err *err)
{
    struct hm_cluster copy = *from;
    const char **const texts[] = {&copy.name, &copy.fabric_name, &copy.title,  &copy.source,
                                  &copy.date, &copy.note,        &copy.assumed};
    const size_t count = from->slowness.speed_count;
    double *speeds = hm__arena_alloc(arena, count, sizeof(*speeds));
    struct hm_kind *kinds = hm__arena_alloc(arena, from->kind_count, sizeof(*kinds));
    int rc = speeds && kinds ? 0 : hm__fail_nomem(err);

    for (size_t i = 0; rc == 0 && i < sizeof(texts) / sizeof(texts[0]); i++)
        rc = copy_text(arena, texts[i], err);
    for (size_t i = 0; rc == 0 && i < from->kind_count; i++) {
        struct hm_cluster *machine = hm__arena_alloc(arena, 1, sizeof(*machine));
        rc = machine ? hm__cluster_copy(arena, from->kinds[i].machine, machine, err)
                     : hm__fail_nomem(err);
        kinds[i] = (struct hm_kind){machine, from->kinds[i].count};
    }
    if (rc)
        return rc;
    if (count > 0)
        memcpy(speeds, from->slowness.speeds, count * sizeof(*speeds));
    copy.slowness.speeds = count > 0 ? speeds : NULL;
    copy.slowness.per_node = copy.node.accelerators;
    copy.kinds = from->kind_count > 0 ? kinds : NULL;
    copy.memory = NULL;
    *to = copy;
    return 0;
}

/*
 * Adds a kind of machine to a cluster; the array of kinds is copied into the arena of the cluster.
 */
static int cluster_append_kind(struct hm_cluster *c, const struct hm_cluster *machine, double count,
                               struct hm_err *err)
{
    struct hm_kind *kinds = hm__arena_alloc(c->memory, c->kind_count + 1, sizeof(*kinds));
    struct hm_cluster *own = hm__arena_alloc(c->memory, 1, sizeof(*own));
    int rc = kinds && own ? hm__cluster_copy(c->memory, machine, own, err) : hm__fail_nomem(err);

    if (rc)
        return rc;
    if (c->kind_count > 0)
        memcpy(kinds, c->kinds, c->kind_count * sizeof(*kinds));
    kinds[c->kind_count] = (struct hm_kind){own, count};
    struct hm_cluster next = *c;
    next.kinds = kinds;
    next.kind_count = c->kind_count + 1;
    rc = hm__cluster_check_kinds(&next, "", err);
    if (rc)
        return rc;
    return hm__cluster_set_kinds(c->memory, c, kinds, next.kind_count, err);
}

int hm__cluster_set_kinds(struct hm_arena *arena, struct hm_cluster *c, const struct hm_kind *kinds,
                          size_t count, struct hm_err *err)
{
    struct hm_cluster mixed = *kinds[0].machine;
    const char *name = mixed.name ? mixed.name : "kind 1";

    for (size_t k = 1; name && k < count; k++)
        name = kinds[k].machine->name
                   ? hm__arena_printf(arena, "%s + %s", name, kinds[k].machine->name)
                   : hm__arena_printf(arena, "%s + kind %zu", name, k + 1);
    if (!name)
        return hm__fail_nomem(err);
    mixed.name = name;
    mixed.shares = c->shares;
    mixed.given = c->given;
    mixed.note = c->note;
    mixed.memory = c->memory;
    mixed.max_nodes = NAN;
    mixed.kinds = kinds;
    mixed.kind_count = count;
    *c = mixed;
    return 0;
}

int hm_cluster_add_kind(struct hm_cluster *cluster, const struct hm_cluster *machine, double count,
                        struct hm_err *err)
{
    int rc = hm__check_pointers(err, "cluster", cluster, "machine", machine, NULL);

    if (rc == 0)
        rc = hm__check_pointer(cluster->memory, "cluster.memory", err);
    if (rc == 0)
        rc = hm_cluster_check(machine, err);
    if (rc == 0)
        rc = hm__check_whole("count", count, 1, 1e6, err);
    return rc ? rc : cluster_append_kind(cluster, machine, count, err);
}
