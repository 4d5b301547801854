/*
 * howmany-links: measures messages and all-reduces between MPI ranks for `howmany calibrate
 * --fabric`, which starts it; it can also be started manually under mpirun or srun. Rank 0 prints
 * one line of JSON for each measurement:
 *
 *     {"what":"send","bytes":8,"workers":2,"nodes":1,"seconds":3.1e-07,"spread":0.02}
 *
 * A message goes from rank 0 to another rank and back; its time is half of the round trip. If such
 * ranks exist, one pair of ranks is inside the node of rank 0 and one pair is on two nodes.
 * All-reduces over all ranks are performed by the MPI library; their time is the time of the
 * slowest rank. Ranks are on the same node if they can share memory (MPI_COMM_TYPE_SHARED).
 *
 *     howmany-links [--quick]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibration.h"
#include "cli.h"
#include "json.h"
#include "mpi_comm.h"

enum { ROUNDS = 5 };

const struct cli_command *const cli_commands[] = {NULL};

struct links {
    struct hm_comm comm;
    bool quick;
    double *values; /* Buffer for the largest message. */
    int *leaders; /* Lowest rank on the node of each rank; ranks with the same value are on the same
                     node. */
    double nodes; /* Number of nodes on which the ranks run. */
};

/* Returns half of the time in seconds that `times` round trips between rank 0 and rank `other`
 * take, measured on rank 0. */
static double send_messages(struct links *l, int other, size_t bytes, size_t times)
{
    struct hm_comm *c = &l->comm;
    double began = c->ops->now(c);

    for (size_t i = 0; i < times; i++) {
        if (c->rank == 0) {
            hm__comm_send(c, other, l->values, bytes);
            hm__comm_receive(c, other, l->values, bytes);
        } else if (c->rank == other) {
            hm__comm_receive(c, 0, l->values, bytes);
            hm__comm_send(c, 0, l->values, bytes);
        }
    }
    return (c->ops->now(c) - began) / 2;
}

/* Returns the time in seconds that `times` all-reduces take on the slowest rank. */
static double sum_messages(struct links *l, size_t bytes, size_t times)
{
    struct hm_comm *c = &l->comm;
    double began = c->ops->now(c);

    for (size_t i = 0; i < times; i++)
        c->ops->sum(c, l->values, bytes / sizeof(double));
    double spent = c->ops->now(c) - began;
    hm__comm_max_few(c, &spent, 1);
    return spent;
}

/*
 * Returns the time in seconds of a block of `times` messages; `other` is the partner of rank 0, or
 * -1 for all-reduces.
 */
static double time_block(struct links *l, int other, size_t bytes, size_t times)
{
    hm__comm_barrier(&l->comm);
    /* The buffer is set to 0 before each block, because repeated all-reduces would otherwise make
     * its values overflow. */
    memset(l->values, 0, bytes);
    return other < 0 ? sum_messages(l, bytes, times) : send_messages(l, other, bytes, times);
}

/*
 * Returns the number of times that a message is repeated in a block. Rank 0 chooses the number and
 * broadcasts it.
 */
static size_t choose_times(struct links *l, int other, size_t bytes)
{
    double wanted = l->quick ? 2e-3 : 3e-2, times = 4;
    double spent = time_block(l, other, bytes, 4) / 4;

    if (l->comm.rank == 0)
        times = fmin(fmax(ceil(wanted / fmax(spent, 1e-7)), 2), 20000);
    hm__comm_broadcast(&l->comm, 0, &times, sizeof(times));
    return (size_t)times;
}

static void print_timing(const struct hm_timing *t)
{
    struct hm_text line = {0};
    struct hm_json json = {.out = &line};

    hm__json_open(&json, NULL, HM_JSON_OBJECT);
    hm__json_put_text(&json, "what", hm__timed_name(t->what));
    hm__json_put_number(&json, "bytes", t->shape[0]);
    hm__json_put_number(&json, "workers", t->workers);
    hm__json_put_number(&json, "nodes", t->nodes);
    hm__json_put_number(&json, "seconds", t->seconds);
    hm__json_put_number(&json, "spread", t->spread);
    hm__json_close(&json);
    if (!line.failed) {
        puts(line.data);
        fflush(stdout);
    }
    hm__text_release(&line);
}

/* Measures messages of all sizes between rank 0 and `other`, or all-reduces if `other` is -1. */
static void measure_sizes(struct links *l, int other, double nodes)
{
    double sizes[32], rounds[ROUNDS];
    size_t count = hm__calibration_sizes(l->quick, sizes);

    for (size_t i = 0; i < count; i++) {
        struct hm_timing t = {.what = other < 0 ? HM_TIMED_ALL_REDUCE : HM_TIMED_SEND,
                              .shape = {sizes[i]},
                              .workers = other < 0 ? l->comm.size : 2,
                              .nodes = nodes};
        size_t times = choose_times(l, other, (size_t)sizes[i]);
        for (size_t k = 0; k < ROUNDS; k++)
            rounds[k] = time_block(l, other, (size_t)sizes[i], times) / (double)times;
        hm__timing_set(&t, rounds, ROUNDS);
        if (l->comm.rank == 0)
            print_timing(&t);
    }
}

/* Finds the node of each rank. */
static void find_nodes(struct links *l)
{
    double leader = hm_mpi_node(&l->comm);

    l->nodes = 0;
    for (int i = 0; i < l->comm.size; i++) {
        double value = leader;
        hm__comm_broadcast(&l->comm, i, &value, sizeof(value));
        l->leaders[i] = (int)value;
        l->nodes += l->leaders[i] == i;
    }
}

/*
 * Returns another rank on the node of rank 0 or, if other_node is true, the first rank on another
 * node; 0 if there is none.
 */
static int find_partner(const struct links *l, bool other_node)
{
    for (int i = 1; i < l->comm.size; i++)
        if ((l->leaders[i] != l->leaders[0]) == other_node)
            return i;
    return 0;
}

static int links_run(struct links *l)
{
    double sizes[32];
    size_t count = hm__calibration_sizes(l->quick, sizes);

    l->values = calloc((size_t)sizes[count - 1], 1);
    l->leaders = calloc((size_t)l->comm.size, sizeof(*l->leaders));
    if (!l->values || !l->leaders)
        hm_mpi_abort(EXIT_USAGE);
    find_nodes(l);
    int inside = find_partner(l, false), outside = find_partner(l, true);
    if (inside)
        measure_sizes(l, inside, 1);
    if (outside)
        measure_sizes(l, outside, 2);
    measure_sizes(l, -1, l->nodes);
    free(l->values);
    free(l->leaders);
    return EXIT_ANSWERED;
}

int main(int argc, char **argv)
{
    struct links links = {.quick = argc == 2 && strcmp(argv[1], "--quick") == 0};

    if (argc > 2 || (argc == 2 && !links.quick))
        return cli_complain("howmany-links: the only option is --quick");
    if (hm_mpi_begin(&links.comm))
        return cli_complain("MPI cannot be started");
    int rc =
        links.comm.size > 1
            ? links_run(&links)
            : cli_complain("howmany-links: there is one rank; messages need two or more, as in "
                           "mpirun -n 2");
    hm_mpi_end(&links.comm);
    return rc;
}
