/* Collects the resource usage of all ranks on rank 0; see usages.h. */
#include "usages.h"

#include "err.h"

struct hm_usage hm__usage_now(const struct hm_run *run, struct hm_comm *comm)
{
    struct hm_usage usage = run->meter.sum;
    double cpu_s;

    if (comm->ops->usage)
        comm->ops->usage(comm, &cpu_s, &usage.memory);
    else
        usage.memory = (double)hm__arena_bytes(run->arena) + hm__rows_bytes(&run->objective->rows);
    return usage;
}

int hm__usages_new(struct hm_run *run, struct hm_usages **ret_usages, struct hm_err *err)
{
    struct hm_usages *u = hm__arena_alloc(run->arena, 1, sizeof(*u));
    size_t count = (size_t)run->comm->size + run->extra_count;

    if (!u)
        return hm__fail_nomem(err);
    u->count = count;
    u->last = hm__arena_alloc(run->arena, count, sizeof(*u->last));
    u->since = hm__arena_alloc(run->arena, count, sizeof(*u->since));
    if (!u->last || !u->since)
        return hm__fail_nomem(err);
    *ret_usages = u;
    return 0;
}

static struct hm_usage usage_difference(const struct hm_usage *now, const struct hm_usage *last)
{
    return (struct hm_usage){.compute_s = now->compute_s - last->compute_s,
                             .cpu_s = now->cpu_s - last->cpu_s,
                             .sent = now->sent - last->sent,
                             .received = now->received - last->received,
                             .memory = now->memory};
}

void hm__usages_gather(struct hm_run *run, struct hm_usages *u)
{
    struct hm_comm *comm = run->comm;
    struct hm_usage own = hm__usage_now(run, comm);

    if (comm->rank > 0) {
        hm__comm_send(comm, 0, &own, sizeof(own));
        return;
    }
    for (size_t i = 0; i < u->count; i++) {
        struct hm_usage now = own;
        if (i >= (size_t)comm->size)
            now = run->extra_usage[i - (size_t)comm->size];
        else if (i > 0)
            hm__comm_receive(comm, (int)i, &now, sizeof(now));
        u->since[i] = usage_difference(&now, &u->last[i]);
        u->last[i] = now;
    }
}
