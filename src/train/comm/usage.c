/* Resource usage: a meter on each rank, and the collection of all meters on rank 0. */
#include "usage.h"

#include <math.h>

#include "err.h"
#include "train.h"

static double usage_cpu_now(struct hm_comm *comm)
{
    double cpu_s = NAN, bytes;

    if (comm->ops->usage)
        comm->ops->usage(comm, &cpu_s, &bytes);
    return cpu_s;
}

void hm__meter_start(struct hm_meter *m, struct hm_comm *comm)
{
    m->mark.sent = comm->bytes;
    m->mark.received = comm->received;
    m->mark.cpu_s = usage_cpu_now(comm);
}

void hm__meter_stop(struct hm_meter *m, struct hm_comm *comm, double compute_s)
{
    m->sum.compute_s += compute_s;
    m->sum.sent += comm->bytes - m->mark.sent;
    m->sum.received += comm->received - m->mark.received;
    m->sum.cpu_s += usage_cpu_now(comm) - m->mark.cpu_s;
}

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

void hm__usage_gather(struct hm_run *run, struct hm_usages *u, double seconds,
                      struct hm_trace_point *point)
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
    point->usage = u->since;
    point->usage_count = u->count;
    point->usage_s = seconds;
}
