/*
 * Compute, add up over the ranks, and say how long it took:
 *
 *     reduce SCHEMES BYTES FLOP REPEATS
 *
 * prints for each scheme and length (lists, apart by commas) and each repeat one line of JSON with
 * the seconds until the last rank has its sum, how far apart the ranks started, and a hash of the
 * sum's bits. Runs on MPI and on SimGrid. Exit 1: ranks have different bits.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_comm.h"
#include "text.h"

enum { MOST = 16 }; /* of a list */

struct asked {
    enum hm_reduce_scheme schemes[MOST];
    size_t scheme_count;
    size_t counts[MOST]; /* values */
    size_t count_count, longest;
    double flop, repeats;
};

/* The next word of a list; false at its end, or where it is too long to be a word of ours. */
static bool next_word(const char **at, char *word, size_t room)
{
    size_t length = strcspn(*at, ",");

    if (length == 0 || length >= room)
        return false;
    memcpy(word, *at, length);
    word[length] = '\0';
    *at += length + ((*at)[length] == ',');
    return true;
}

static bool read_number(const char *word, double *number)
{
    size_t length = strlen(word);

    return length > 0 && hm__number_read(word, number) == length && *number >= 0 && *number < 1e15;
}

static bool read_lists(const char *schemes, const char *bytes, struct asked *asked)
{
    char word[32];
    double number;

    while (asked->scheme_count < MOST && next_word(&schemes, word, sizeof(word))) {
        int scheme = hm__reduce_scheme_find(word);
        if (scheme < 0)
            return false;
        asked->schemes[asked->scheme_count++] = (enum hm_reduce_scheme)scheme;
    }
    while (asked->count_count < MOST && next_word(&bytes, word, sizeof(word))) {
        if (!read_number(word, &number))
            return false;
        size_t count = (size_t)(number / sizeof(double));
        asked->counts[asked->count_count++] = count;
        asked->longest = count > asked->longest ? count : asked->longest;
    }
    return *schemes == '\0' && *bytes == '\0';
}

static bool read_asked(int argc, char **argv, struct asked *asked)
{
    *asked = (struct asked){0};
    return argc == 5 && read_lists(argv[1], argv[2], asked) && read_number(argv[3], &asked->flop) &&
           read_number(argv[4], &asked->repeats);
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

static bool measure_all(struct hm_comm *comm, const struct asked *asked)
{
    double *values = malloc((asked->longest + 1) * sizeof(*values));
    double *scratch = malloc((asked->longest + 1) * sizeof(*scratch));
    bool same = true;

    if (!values || !scratch)
        hm_mpi_abort(2);
    for (size_t s = 0; s < asked->scheme_count; s++)
        for (size_t c = 0; c < asked->count_count; c++)
            for (double repeat = 0; repeat < asked->repeats; repeat++) {
                comm->scheme = asked->schemes[s];
                same =
                    measure(comm, asked->counts[c], asked->flop, repeat, values, scratch) && same;
            }
    free(scratch);
    free(values);
    return same;
}

int main(int argc, char **argv)
{
    struct hm_comm comm;
    struct asked asked;

    if (hm_mpi_begin(&comm))
        return 2;
    int code = 2;
    if (read_asked(argc, argv, &asked))
        code = measure_all(&comm, &asked) ? 0 : 1;
    else if (comm.rank == 0)
        fprintf(stderr, "usage: reduce SCHEMES BYTES FLOP REPEATS\n");
    fflush(stdout);
    hm_mpi_end(&comm);
    return code;
}
