/*
 * Implements the collective operations of comm.h: the choice of an all-reduce scheme, sums and
 * maxima of a few numbers, and the broadcast. The schemes are in schemes.c.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "schemes.h"

static const char *const scheme_names[HM_REDUCE_SCHEMES] = {
    [HM_REDUCE_AUTO] = "auto",         [HM_REDUCE_LIBRARY] = "library",
    [HM_REDUCE_TREE] = "tree",         [HM_REDUCE_RING] = "ring",
    [HM_REDUCE_DOUBLING] = "doubling", [HM_REDUCE_TWO_WAVE] = "two-wave",
    [HM_REDUCE_MASTER] = "master",
};

const char *hm__reduce_scheme_name(enum hm_reduce_scheme scheme)
{
    return scheme_names[scheme];
}

int hm__reduce_scheme_find(const char *name)
{
    for (int i = 0; i < HM_REDUCE_SCHEMES; i++)
        if (strcmp(name, scheme_names[i]) == 0)
            return i;
    return -1;
}

/*
 * Returns the maximum of `a` and `b`, or NAN if either of them is NAN. Exchanging `a` and `b` does
 * not change any bit of the result.
 */
static double comm_larger(double a, double b)
{
    if (isnan(a) || isnan(b))
        return NAN;
    if (a == b)
        return signbit(a) ? b : a;
    return a > b ? a : b;
}

static void comm_take_larger(struct hm_comm *comm, double *into, const double *from, size_t count)
{
    (void)comm;
    for (size_t i = 0; i < count; i++)
        into[i] = comm_larger(into[i], from[i]);
}

/*
 * MPI does not report how many bytes its all-reduce sends and how many additions it performs.
 * Therefore, the minimum that any all-reduce needs is counted instead; the ring scheme attains this
 * minimum.
 */
static void reduce_library(struct hm_comm *comm, double *values, size_t count, double *scratch)
{
    double share = (double)(comm->size - 1) / comm->size * (double)count;
    double began;

    (void)scratch;
    comm->ops->sum(comm, values, count);
    comm->bytes += 2 * share * sizeof(*values);
    comm->received += 2 * share * sizeof(*values);
    began = comm->ops->now(comm);
    hm__comm_work(comm, share);
    comm->communicate_s -= comm->ops->now(comm) - began;
}

static hm_reduce_fn *const reduce_functions[HM_REDUCE_SCHEMES] = {
    [HM_REDUCE_AUTO] = hm__reduce_auto,         [HM_REDUCE_LIBRARY] = reduce_library,
    [HM_REDUCE_TREE] = hm__reduce_tree,         [HM_REDUCE_RING] = hm__reduce_ring,
    [HM_REDUCE_DOUBLING] = hm__reduce_doubling, [HM_REDUCE_TWO_WAVE] = hm__reduce_two_wave,
    [HM_REDUCE_MASTER] = hm__reduce_master,
};

void hm__comm_sum(struct hm_comm *comm, double *values, size_t count, double *scratch)
{
    double began;

    if (comm->size == 1 || count == 0)
        return;
    began = comm->ops->now(comm);
    reduce_functions[comm->scheme](comm, values, count, scratch);
    comm->communicate_s += comm->ops->now(comm) - began;
}

static void comm_reduce_few(struct hm_comm *comm, double *values, size_t count,
                            hm_combine_fn *combine)
{
    double scratch[HM_COMM_FEW], began;

    assert(count <= HM_COMM_FEW);
    if (comm->size == 1 || count == 0)
        return;
    began = comm->ops->now(comm);
    hm__combine_doubling(comm, values, count, scratch, combine);
    comm->communicate_s += comm->ops->now(comm) - began;
}

void hm__comm_sum_few(struct hm_comm *comm, double *values, size_t count)
{
    comm_reduce_few(comm, values, count, hm__comm_add);
}

void hm__comm_max_few(struct hm_comm *comm, double *values, size_t count)
{
    comm_reduce_few(comm, values, count, comm_take_larger);
}

void hm__comm_broadcast(struct hm_comm *comm, int root, void *data, size_t bytes)
{
    double began = comm->ops->now(comm);

    hm__tree_broadcast(comm, root, data, bytes);
    comm->communicate_s += comm->ops->now(comm) - began;
}
