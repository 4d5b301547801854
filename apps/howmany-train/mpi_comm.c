/*
 * How ranks talk by MPI (3.1). Messages longer than 1 GiB go in pieces, since MPI counts in ints.
 *
 * Under SimGrid all ranks are contexts of one process, and time is virtual. Work takes flop over
 * the speed of the host. To align them, a barrier of the simulator itself is used: it costs no
 * virtual time and lets all go on at the very moment the last one came, which no exchange of
 * messages does. The ranks share the pointer to it.
 */
#include "mpi_comm.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HM_SIMGRID
#include <simgrid/actor.h>
#include <simgrid/barrier.h>
#include <simgrid/engine.h>
#include <simgrid/version.h>
#endif

enum { PIECE_BYTES = 1 << 30, PIECE_DOUBLES = PIECE_BYTES / sizeof(double), TAG = 0 };

/* Length of the next piece of what is left. */
static int piece(size_t left, size_t most)
{
    return (int)(left < most ? left : most);
}

static void mpi_send(struct hm_comm *comm, int to, const void *data, size_t bytes)
{
    const char *at = data;

    (void)comm;
    for (size_t done = 0; done < bytes; done += PIECE_BYTES)
        MPI_Send(at + done, piece(bytes - done, PIECE_BYTES), MPI_BYTE, to, TAG, MPI_COMM_WORLD);
}

static void mpi_receive(struct hm_comm *comm, int from, void *data, size_t bytes)
{
    char *at = data;

    (void)comm;
    for (size_t done = 0; done < bytes; done += PIECE_BYTES)
        MPI_Recv(at + done, piece(bytes - done, PIECE_BYTES), MPI_BYTE, from, TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static void mpi_exchange(struct hm_comm *comm, int to, const void *data, size_t bytes, int from,
                         void *into, size_t into_bytes)
{
    const char *out = data;
    char *in = into;

    (void)comm;
    for (size_t done = 0; done < bytes || done < into_bytes; done += PIECE_BYTES) {
        bool sends = done < bytes, receives = done < into_bytes;
        MPI_Sendrecv(sends ? out + done : out, sends ? piece(bytes - done, PIECE_BYTES) : 0,
                     MPI_BYTE, sends ? to : MPI_PROC_NULL, TAG, receives ? in + done : in,
                     receives ? piece(into_bytes - done, PIECE_BYTES) : 0, MPI_BYTE,
                     receives ? from : MPI_PROC_NULL, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void mpi_sum(struct hm_comm *comm, double *values, size_t count)
{
    (void)comm;
    for (size_t done = 0; done < count; done += PIECE_DOUBLES)
        MPI_Allreduce(MPI_IN_PLACE, values + done, piece(count - done, PIECE_DOUBLES), MPI_DOUBLE,
                      MPI_SUM, MPI_COMM_WORLD);
}

#ifdef HM_SIMGRID

/* Not MPI_Wtime, which may be told to take time itself (smpi/wtime). */
static double mpi_now(struct hm_comm *comm)
{
    (void)comm;
    return simgrid_get_clock();
}

static void mpi_work(struct hm_comm *comm, double flop)
{
    (void)comm;
    smpi_execute_flops(flop);
}

static void mpi_align(struct hm_comm *comm)
{
    sg_barrier_wait(comm->state);
}

static void open_state(struct hm_comm *comm)
{
    sg_bar_t barrier = comm->rank == 0 ? sg_barrier_init((unsigned)comm->size) : NULL;

    /* Not MPI_Bcast: a first collective of SMPI sends messages from each rank to each. */
    hm_comm_broadcast(comm, 0, &barrier, sizeof(barrier));
    comm->state = barrier;
    mpi_align(comm);
    comm->bytes = comm->talking_s = 0;
}

/* Exactly one of those who wait is told so; it tidies up once the others have left. */
static void close_state(struct hm_comm *comm)
{
    if (sg_barrier_wait(comm->state) == SG_BARRIER_SERIAL_THREAD) {
        sg_actor_sleep_for(1e-9);
        sg_barrier_destroy(comm->state);
    }
}

bool hm_mpi_is_simulated(void)
{
    return true;
}

void hm_mpi_version(char *text, size_t room)
{
    int major, minor, patch;

    sg_version_get(&major, &minor, &patch);
    snprintf(text, room, "SimGrid %d.%d.%d", major, minor, patch);
}

#else

static double mpi_now(struct hm_comm *comm)
{
    (void)comm;
    return MPI_Wtime();
}

static void mpi_work(struct hm_comm *comm, double flop)
{
    (void)comm;
    (void)flop;
}

static void mpi_align(struct hm_comm *comm)
{
    (void)comm;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void open_state(struct hm_comm *comm)
{
    (void)comm;
}

static void close_state(struct hm_comm *comm)
{
    mpi_align(comm);
}

bool hm_mpi_is_simulated(void)
{
    return false;
}

/* Up to the first comma: what follows is who built it. */
void hm_mpi_version(char *text, size_t room)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;

    MPI_Get_library_version(version, &length);
    snprintf(text, room, "%.*s", (int)strcspn(version, ",\n"), version);
}

#endif

int hm_mpi_begin(struct hm_comm *comm)
{
    static const struct hm_comm_ops ops = {mpi_send, mpi_receive, mpi_exchange, mpi_sum,
                                           mpi_now,  mpi_work,    mpi_align};

    *comm = (struct hm_comm){.ops = &ops};
    if (MPI_Init(NULL, NULL) != MPI_SUCCESS)
        return -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &comm->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &comm->size);
    open_state(comm);
    return 0;
}

void hm_mpi_end(struct hm_comm *comm)
{
    close_state(comm);
    MPI_Finalize();
    *comm = (struct hm_comm){0};
}

void hm_mpi_abort(int code)
{
    MPI_Abort(MPI_COMM_WORLD, code);
    _Exit(code);
}
