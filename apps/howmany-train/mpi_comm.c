/*
 * Implements communication over MPI (3.1). Messages longer than 1 GiB are split, since MPI counts
 * are ints.
 *
 * Under SimGrid, all ranks are contexts of one process, and time is virtual. The time of a
 * computation is its number of floating-point operations divided by the speed of the host. The
 * barrier is SimGrid's own, and the ranks share a pointer to it. It takes no virtual time, and all
 * ranks leave it at exactly the time at which the last rank enters; a barrier made of messages
 * could not do this.
 *
 * A sub-communicator contains the first ranks, so that a rank has the same number in both
 * communicators.
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
#else
#include <time.h>

#include "process.h"
#endif

enum {
    CHUNK_BYTES = 1 << 30,
    CHUNK_DOUBLES = CHUNK_BYTES / sizeof(double),
    TAG = 0,
    TAG_STARTED = 1
};

struct mpi_state {
    MPI_Comm world; /* Communicator of all ranks, for messages. */
    MPI_Comm ranks; /* Communicator for the barrier, if the ranks are not simulated. */
#ifdef HM_SIMGRID
    sg_bar_t barrier;
#endif
    MPI_Request *requests; /* Array that is used to pass several requests to MPI in one call. */
    size_t room;
};

static MPI_Comm mpi_world(const struct hm_comm *comm)
{
    return ((const struct mpi_state *)comm->state)->world;
}

/*
 * Returns the length of the next chunk of a message: `left` elements remain, and a chunk has at
 * most `most` elements.
 */
static int chunk_length(size_t left, size_t most)
{
    return (int)(left < most ? left : most);
}

static void mpi_send(struct hm_comm *comm, int to, const void *data, size_t bytes)
{
    const char *at = data;

    for (size_t done = 0; done < bytes; done += CHUNK_BYTES)
        MPI_Send(at + done, chunk_length(bytes - done, CHUNK_BYTES), MPI_BYTE, to, TAG,
                 mpi_world(comm));
}

static void mpi_receive(struct hm_comm *comm, int from, void *data, size_t bytes)
{
    char *at = data;

    for (size_t done = 0; done < bytes; done += CHUNK_BYTES)
        MPI_Recv(at + done, chunk_length(bytes - done, CHUNK_BYTES), MPI_BYTE, from, TAG,
                 mpi_world(comm), MPI_STATUS_IGNORE);
}

static void mpi_exchange(struct hm_comm *comm, int to, const void *data, size_t bytes, int from,
                         void *into, size_t into_bytes)
{
    const char *out = data;
    char *in = into;

    for (size_t done = 0; done < bytes || done < into_bytes; done += CHUNK_BYTES) {
        bool sends = done < bytes, receives = done < into_bytes;
        MPI_Sendrecv(sends ? out + done : out, sends ? chunk_length(bytes - done, CHUNK_BYTES) : 0,
                     MPI_BYTE, sends ? to : MPI_PROC_NULL, TAG, receives ? in + done : in,
                     receives ? chunk_length(into_bytes - done, CHUNK_BYTES) : 0, MPI_BYTE,
                     receives ? from : MPI_PROC_NULL, TAG, mpi_world(comm), MPI_STATUS_IGNORE);
    }
}

static void mpi_sum(struct hm_comm *comm, double *values, size_t count)
{
    for (size_t done = 0; done < count; done += CHUNK_DOUBLES)
        MPI_Allreduce(MPI_IN_PLACE, values + done, chunk_length(count - done, CHUNK_DOUBLES),
                      MPI_DOUBLE, MPI_SUM, mpi_world(comm));
}

static int mpi_world_size(void)
{
    int size;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
}

/* ---- non-blocking messages ------------------------------------------------------------------ */

_Static_assert(sizeof(MPI_Request) <= sizeof(void *), "a request fits into a pointer");

static void *mpi_request_pointer(MPI_Request request)
{
    void *kept = NULL;

    memcpy(&kept, &request, sizeof(request));
    return kept;
}

static void *mpi_start_send(struct hm_comm *comm, int to, const void *data, size_t bytes)
{
    MPI_Request request;

    if (bytes > CHUNK_BYTES)
        hm_mpi_abort(2);
    MPI_Isend(data, (int)bytes, MPI_BYTE, to, TAG_STARTED, mpi_world(comm), &request);
    return mpi_request_pointer(request);
}

static void *mpi_start_receive(struct hm_comm *comm, int from, void *into, size_t room)
{
    MPI_Request request;

    MPI_Irecv(into, chunk_length(room, CHUNK_BYTES), MPI_BYTE, from, TAG_STARTED, mpi_world(comm),
              &request);
    return mpi_request_pointer(request);
}

/* Copies the requests of hm_comm into an array of MPI_Request. */
static MPI_Request *mpi_request_array(struct mpi_state *state, void *const *requests, size_t count)
{
    if (count > state->room) {
        MPI_Request *more = realloc(state->requests, count * sizeof(*more));
        if (!more)
            hm_mpi_abort(2);
        state->requests = more;
        state->room = count;
    }
    for (size_t i = 0; i < count; i++) {
        state->requests[i] = MPI_REQUEST_NULL;
        if (requests[i])
            memcpy(&state->requests[i], &requests[i], sizeof(MPI_Request));
    }
    return state->requests;
}

static size_t mpi_wait_any(struct hm_comm *comm, void **requests, size_t count, size_t *ret_bytes)
{
    MPI_Status status;
    int place = 0, bytes = 0;

    MPI_Waitany((int)count, mpi_request_array(comm->state, requests, count), &place, &status);
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    *ret_bytes = bytes > 0 ? (size_t)bytes : 0;
    return (size_t)place;
}

static bool mpi_test(struct hm_comm *comm, void *request)
{
    int done = 0;

    MPI_Test(mpi_request_array(comm->state, &request, 1), &done, MPI_STATUS_IGNORE);
    return done;
}

#ifdef HM_SIMGRID

/* Reads SimGrid's clock, since MPI_Wtime may itself take virtual time (option smpi/wtime). */
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

static void mpi_barrier(struct hm_comm *comm)
{
    sg_barrier_wait(((struct mpi_state *)comm->state)->barrier);
}

static void mpi_pause(struct hm_comm *comm, double seconds)
{
    (void)comm;
    sg_actor_sleep_for(seconds);
}

static void mpi_state_open(struct hm_comm *comm, bool member)
{
    struct mpi_state *state = comm->state;
    sg_bar_t barrier = comm->rank == 0 ? sg_barrier_init((unsigned)comm->size) : NULL;

    if (!member)
        return;
    /*
     * MPI_Bcast is not used, because the first collective of SMPI exchanges messages between all
     * pairs of ranks.
     */
    hm__comm_broadcast(comm, 0, &barrier, sizeof(barrier));
    state->barrier = barrier;
    mpi_barrier(comm);
    comm->bytes = comm->communicate_s = 0;
    comm->shared_clock = true;
}

/*
 * Exactly one rank receives SG_BARRIER_SERIAL_THREAD; that rank frees the barrier after the other
 * ranks have left it.
 */
static void mpi_state_close(struct hm_comm *comm)
{
    sg_bar_t barrier = ((struct mpi_state *)comm->state)->barrier;

    if (barrier && sg_barrier_wait(barrier) == SG_BARRIER_SERIAL_THREAD) {
        sg_actor_sleep_for(1e-9);
        sg_barrier_destroy(barrier);
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

static void mpi_barrier(struct hm_comm *comm)
{
    MPI_Barrier(((struct mpi_state *)comm->state)->ranks);
}

static void mpi_pause(struct hm_comm *comm, double seconds)
{
    struct timespec left = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};

    (void)comm;
    while (nanosleep(&left, &left) != 0)
        ;
}

static void mpi_state_open(struct hm_comm *comm, bool member)
{
    struct mpi_state *state = comm->state;

    state->ranks = state->world;
    if (comm->size < mpi_world_size())
        MPI_Comm_split(state->world, member ? 0 : MPI_UNDEFINED, comm->rank, &state->ranks);
}

static void mpi_state_close(struct hm_comm *comm)
{
    struct mpi_state *state = comm->state;

    if (state->ranks == MPI_COMM_NULL)
        return;
    mpi_barrier(comm);
    if (state->ranks != state->world)
        MPI_Comm_free(&state->ranks);
}

bool hm_mpi_is_simulated(void)
{
    return false;
}

/* Writes the version of the MPI library, without the build information that follows the first comma
 * in the library's text. */
void hm_mpi_version(char *text, size_t room)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;

    MPI_Get_library_version(version, &length);
    snprintf(text, room, "%.*s", (int)strcspn(version, ",\n"), version);
}

#endif

static void mpi_fail(struct hm_comm *comm, const char *why)
{
    fprintf(stderr, "howmany: train: rank %d: %s\n", comm->rank, why);
    fflush(stderr);
    hm_mpi_abort(2);
}

/* Allocates the state of a communicator. Aborts if the allocation fails, since the rank cannot
 * continue. */
static void mpi_state_new(struct hm_comm *comm, MPI_Comm world, bool member)
{
    struct mpi_state *state = calloc(1, sizeof(*state));

    if (!state)
        hm_mpi_abort(2);
    state->world = world;
    comm->state = state;
    mpi_state_open(comm, member);
}

static void mpi_state_free(struct hm_comm *comm)
{
    mpi_state_close(comm);
    free(((struct mpi_state *)comm->state)->requests);
    free(comm->state);
}

static const struct hm_comm_ops mpi_ops = {
    .send = mpi_send,
    .receive = mpi_receive,
    .exchange = mpi_exchange,
    .sum = mpi_sum,
    .now = mpi_now,
    .work = mpi_work,
    .barrier = mpi_barrier,
    .start_send = mpi_start_send,
    .start_receive = mpi_start_receive,
    .wait_any = mpi_wait_any,
    .test = mpi_test,
    .pause = mpi_pause,
    .fail = mpi_fail,
#ifndef HM_SIMGRID
    .usage = process_usage,
#endif
};

static void mpi_comm_init(struct hm_comm *comm, MPI_Comm world)
{
    *comm = (struct hm_comm){.ops = &mpi_ops};
    MPI_Comm_rank(world, &comm->rank);
    comm->size = mpi_world_size();
    mpi_state_new(comm, world, true);
}

int hm_mpi_begin(struct hm_comm *comm)
{
    if (MPI_Init(NULL, NULL) != MPI_SUCCESS)
        return -1;
    mpi_comm_init(comm, MPI_COMM_WORLD);
    return 0;
}

int hm_mpi_join(struct hm_comm *comm)
{
    int begun = 0, over = 0;
    MPI_Comm world;

    MPI_Initialized(&begun);
    MPI_Finalized(&over);
    if (!begun || over || MPI_Comm_dup(MPI_COMM_WORLD, &world) != MPI_SUCCESS)
        return -1;
    mpi_comm_init(comm, world);
    return 0;
}

void hm_mpi_leave(struct hm_comm *comm)
{
    MPI_Comm world = mpi_world(comm);

    mpi_state_free(comm);
    MPI_Comm_free(&world);
    *comm = (struct hm_comm){0};
}

int hm_mpi_node(struct hm_comm *comm)
{
    MPI_Comm node;
    int lowest = comm->rank;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, comm->rank, MPI_INFO_NULL, &node);
    MPI_Allreduce(MPI_IN_PLACE, &lowest, 1, MPI_INT, MPI_MIN, node);
    MPI_Comm_free(&node);
    return lowest;
}

void hm_mpi_part(struct hm_comm *comm, int count, struct hm_comm *ret_part)
{
    *ret_part = (struct hm_comm){.ops = comm->ops, .rank = comm->rank, .size = count};
    mpi_state_new(ret_part, mpi_world(comm), comm->rank < count);
}

void hm_mpi_part_end(struct hm_comm *part)
{
    mpi_state_free(part);
    *part = (struct hm_comm){0};
}

void hm_mpi_end(struct hm_comm *comm)
{
    mpi_state_free(comm);
    MPI_Finalize();
    *comm = (struct hm_comm){0};
}

void hm_mpi_abort(int code)
{
    MPI_Abort(MPI_COMM_WORLD, code);
    _Exit(code);
}
