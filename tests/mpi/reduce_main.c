/*
 * Computes, sums over the ranks, and reports the time:
 *
 *     reduce SCHEMES BYTES FLOP REPEATS
 *
 * For each scheme and length (comma-separated lists) and each repeat, it prints one line of JSON
 * with the seconds until the last rank has its sum, the difference between the start times of the
 * ranks, and a hash of the bits of the sum. It runs on MPI and on SimGrid. The exit status is 1 if
 * the sums of the ranks differ in any bit.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_comm.h"
#include "text.h"

enum { MOST = 16 }; /* Maximum length of a list. */

struct reduce_options {
    enum hm_reduce_scheme schemes[MOST];
    size_t scheme_count;
    size_t counts[MOST]; /* Number of values in each sum. */
    size_t count_count, longest;
    double flop, repeats;
};

/*
 * Reads the next item of a list. Returns false at the end of the list, or if the item is too long.
 */
static bool next_item(const char **at, char *item, size_t room)
{
    size_t length = strcspn(*at, ",");

    if (length == 0 || length >= room)
        return false;
    memcpy(item, *at, length);
    item[length] = '\0';
    *at += length + ((*at)[length] == ',');
    return true;
}

static bool read_number(const char *item, double *number)
{
    size_t length = strlen(item);

    return length > 0 && hm__number_read(item, number) == length && *number >= 0 && *number < 1e15;
}

static bool read_lists(const char *schemes, const char *bytes, struct reduce_options *options)
{
    char item[32];
    double number;

    while (options->scheme_count < MOST && next_item(&schemes, item, sizeof(item))) {
        int scheme = hm__reduce_scheme_find(item);
        if (scheme < 0)
            return false;
        options->schemes[options->scheme_count++] = (enum hm_reduce_scheme)scheme;
    }
    while (options->count_count < MOST && next_item(&bytes, item, sizeof(item))) {
        if (!read_number(item, &number))
            return false;
        size_t count = (size_t)(number / sizeof(double));
        options->counts[options->count_count++] = count;
        options->longest = count > options->longest ? count : options->longest;
    }
    return *schemes == '\0' && *bytes == '\0';
}

static bool options_read(int argc, char **argv, struct reduce_options *options)
{
    *options = (struct reduce_options){0};
    return argc == 5 && read_lists(argv[1], argv[2], options) &&
           read_number(argv[3], &options->flop) && read_number(argv[4], &options->repeats);
}

/* Returns values of many magnitudes, so that different orders of addition give different bits. */
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

/*
 * Returns whether all ranks have the same hash. Each half of the hash is sent as a double, which
 * represents it exactly.
 */
static bool all_have(struct hm_comm *comm, uint64_t h)
{
    double low = (double)(uint32_t)h, high = (double)(h >> 32);
    double extremes[] = {low, -low, high, -high};

    hm__comm_max_few(comm, extremes, 4);
    return extremes[0] == -extremes[1] && extremes[2] == -extremes[3];
}

static bool measure(struct hm_comm *comm, size_t count, double flop, double repeat, double *values,
                    double *scratch)
{
    struct hm_comm before;
    double times[4];

    for (size_t i = 0; i < count; i++)
        values[i] = start_value(comm->rank, i, repeat);
    hm__comm_barrier(comm);
    before = *comm;
    double began = comm->ops->now(comm);
    hm__comm_work(comm, flop);
    hm__comm_sum(comm, values, count, scratch);
    times[0] = comm->ops->now(comm) - began;
    times[1] = comm->communicate_s - before.communicate_s;
    times[2] = began;
    times[3] = -began;
    double bytes = comm->bytes - before.bytes;
    hm__comm_max_few(comm, times, 4);
    uint64_t h = hash(values, count);
    bool same = all_have(comm, h);
    if (comm->rank == 0)
        printf(
            "{\"scheme\":\"%s\",\"n\":%d,\"bytes\":%zu,\"repeat\":%g,\"seconds\":%.17g,"
            "\"communicate_s\":%.17g,\"apart_s\":%.17g,\"sent_bytes\":%.17g,\"hash\":\"%016" PRIx64
            "\",\"same\":%s}\n",
            hm__reduce_scheme_name(comm->scheme), comm->size, count * sizeof(double), repeat,
            times[0], times[1], times[2] + times[3], bytes, h, same ? "true" : "false");
    return same;
}

static bool measure_all(struct hm_comm *comm, const struct reduce_options *options)
{
    double *values = malloc((options->longest + 1) * sizeof(*values));
    double *scratch = malloc((options->longest + 1) * sizeof(*scratch));
    bool same = true;

    if (!values || !scratch)
        hm_mpi_abort(2);
    for (size_t s = 0; s < options->scheme_count; s++)
        for (size_t c = 0; c < options->count_count; c++)
            for (double repeat = 0; repeat < options->repeats; repeat++) {
                comm->scheme = options->schemes[s];
                same = measure(comm, options->counts[c], options->flop, repeat, values, scratch) &&
                       same;
            }
    free(scratch);
    free(values);
    return same;
}

int main(int argc, char **argv)
{
    struct hm_comm comm;
    struct reduce_options options;

    if (hm_mpi_begin(&comm))
        return 2;
    int code = 2;
    if (options_read(argc, argv, &options))
        code = measure_all(&comm, &options) ? 0 : 1;
    else if (comm.rank == 0)
        fprintf(stderr, "usage: reduce SCHEMES BYTES FLOP REPEATS\n");
    fflush(stdout);
    hm_mpi_end(&comm);
    return code;
}
