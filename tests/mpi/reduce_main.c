/*
 * Compute, add up over the ranks, and say how long it took:
 *
 *     reduce SCHEME BYTES FLOP REPEATS
 *
 * prints for each repeat one line of JSON with the seconds, until the last rank has its sum, and a
 * hash of the sum's bits. Runs on MPI and on SimGrid. Exit 1: ranks have different bits.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_comm.h"
#include "text.h"

struct asked {
    enum hm_reduce_scheme scheme;
    size_t count; /* values */
    double flop, repeats;
};

static bool read_asked(int argc, char **argv, struct asked *asked)
{
    int scheme = argc == 5 ? hm_reduce_scheme_find(argv[1]) : -1;
    double numbers[3];

    if (scheme < 0)
        return false;
    for (int i = 0; i < 3; i++) {
        size_t length = strlen(argv[i + 2]);
        if (length == 0 || hm_number_read(argv[i + 2], &numbers[i]) != length ||
            !(numbers[i] >= 0 && numbers[i] < 1e15))
            return false;
    }
    *asked = (struct asked){(enum hm_reduce_scheme)scheme, (size_t)(numbers[0] / sizeof(double)),
                            numbers[1], numbers[2]};
    return true;
}

/* Of many magnitudes, so that every order of adding gives other bits. */
static double start_value(int rank, size_t i, double repeat)
{
    return ldexp(1 + 0.37 * (double)(((size_t)rank * 31 + i * 7) % 101) + repeat,
                 (int)(((size_t)rank * 13 + i) % 40));
}

/* FNV-1a. */
static uint64_t hash(const double *values, size_t count)
{
    uint64_t h = 14695981039346656037u;

    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof(bits));
        h = (h ^ bits) * 1099511628211u;
    }
    return h;
}

/* Whether all ranks have the same; the halves of it as numbers that doubles hold exactly. */
static bool all_have(struct hm_comm *comm, uint64_t h)
{
    double low = (double)(uint32_t)h, high = (double)(h >> 32);
    double extremes[] = {low, -low, high, -high};

    hm_comm_max_few(comm, extremes, 4);
    return extremes[0] == -extremes[1] && extremes[2] == -extremes[3];
}

static bool measure(struct hm_comm *comm, const struct asked *asked, double repeat, double *values,
                    double *scratch)
{
    struct hm_comm before;
    double times[2];

    for (size_t i = 0; i < asked->count; i++)
        values[i] = start_value(comm->rank, i, repeat);
    hm_comm_align(comm);
    before = *comm;
    double began = comm->ops->now(comm);
    hm_comm_work(comm, asked->flop);
    hm_comm_sum(comm, values, asked->count, scratch);
    times[0] = comm->ops->now(comm) - began;
    times[1] = comm->talking_s - before.talking_s;
    double bytes = comm->bytes - before.bytes;
    hm_comm_max_few(comm, times, 2);
    uint64_t h = hash(values, asked->count);
    bool same = all_have(comm, h);
    if (comm->rank == 0)
        printf("{\"scheme\":\"%s\",\"n\":%d,\"bytes\":%zu,\"repeat\":%g,\"seconds\":%.17g,"
               "\"talking_s\":%.17g,\"sent_bytes\":%.17g,\"hash\":\"%016" PRIx64
               "\",\"same\":%s}\n",
               hm_reduce_scheme_name(asked->scheme), comm->size, asked->count * sizeof(double),
               repeat, times[0], times[1], bytes, h, same ? "true" : "false");
    return same;
}

int main(int argc, char **argv)
{
    struct hm_comm comm;
    struct asked asked;
    bool same = true;

    if (hm_mpi_begin(&argc, &argv, &comm))
        return 2;
    if (!read_asked(argc, argv, &asked)) {
        if (comm.rank == 0)
            fprintf(stderr, "usage: reduce SCHEME BYTES FLOP REPEATS\n");
        hm_mpi_end(&comm);
        return 2;
    }
    double *values = malloc((asked.count + 1) * sizeof(*values));
    double *scratch = malloc((asked.count + 1) * sizeof(*scratch));
    if (!values || !scratch)
        hm_mpi_abort(2);
    comm.scheme = asked.scheme;
    for (double repeat = 0; repeat < asked.repeats; repeat++)
        same = measure(&comm, &asked, repeat, values, scratch) && same;
    free(scratch);
    free(values);
    fflush(stdout);
    hm_mpi_end(&comm);
    return same ? 0 : 1;
}
