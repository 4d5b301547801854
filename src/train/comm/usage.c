/* Measures the resource usage of one rank. */
#include "usage.h"

#include <math.h>

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
