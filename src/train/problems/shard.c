/*
 * Distributes rows over ranks. Rank 0 sends rows in batches. A batch begins with a header (numbers
 * of rows and entries). The receiver replies whether it has enough memory; rank 0 then sends the
 * arrays of struct hm_rows, and the positions of the rows in the receiver's block.
 */
#include "shard.h"

#include <math.h>
#include <string.h>

#include "agree.h"
#include "err.h"
#include "memory.h"
#include "run.h"

enum { READ_ROWS = 256, STOP = -1 };

struct shard_header {
    /* Number of rows in the batch; STOP if rank 0 failed, so that no more rows follow. */
    double rows;
    double entries;
};

struct hm_shard hm__shard_of(double rows, int rank, int size)
{
    double first = floor(rows * rank / size), next = floor(rows * (rank + 1) / size);
    return (struct hm_shard){first, next - first};
}

struct hm_shard hm__shard_in(const struct hm_comm *comm, double rows, int rank)
{
    const double *before = comm->shares;

    if (!before)
        return hm__shard_of(rows, rank, comm->size);
    double first = floor(rows * before[rank]), next = floor(rows * before[rank + 1]);
    return (struct hm_shard){first, next - first};
}

/* Returns the rank whose block contains the position `place`. */
static int shard_owner(const struct hm_comm *comm, double place, double total)
{
    int low = 0, high = comm->size - 1;

    /* Search for the last rank whose block begins at or before the position. */
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (hm__shard_in(comm, total, middle).first <= place)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/*
 * A batch of rows for one rank (for rank 0, its own block), with the positions of the rows in that
 * rank's block.
 */
struct rank_batch {
    struct hm_rows rows;
    uint32_t *places;
    size_t room;
};

static bool batch_reserve(struct rank_batch *batch, size_t more)
{
    if (batch->rows.count + more <= batch->room)
        return true;
    size_t room = 2 * (batch->rows.count + more);
    uint32_t *places = hm__realloc(batch->places, room, sizeof(*places));
    if (!places)
        return false;
    batch->places = places;
    batch->room = room;
    return true;
}

static void batch_release(struct rank_batch *batch)
{
    hm__rows_release(&batch->rows);
    hm__free(batch->places);
}

/*
 * Sends the batch to its rank and empties it; returns HM_E_NOMEM if the receiver does not have
 * enough memory.
 */
static int batch_send(struct hm_comm *comm, int to, struct rank_batch *batch)
{
    const struct hm_rows *rows = &batch->rows;
    size_t entries = hm__rows_entries(rows);
    struct shard_header head = {(double)rows->count, (double)entries};
    double has_room;

    hm__comm_send(comm, to, &head, sizeof(head));
    hm__comm_receive(comm, to, &has_room, sizeof(has_room));
    if (has_room == 0)
        return HM_E_NOMEM;
    hm__comm_send(comm, to, rows->labels, rows->count * sizeof(double));
    hm__comm_send(comm, to, batch->places, rows->count * sizeof(uint32_t));
    hm__comm_send(comm, to, rows->values, entries * sizeof(double));
    if (rows->sparse) {
        hm__comm_send(comm, to, rows->columns, entries * sizeof(uint32_t));
        hm__comm_send(comm, to, rows->starts, (rows->count + 1) * sizeof(size_t));
    }
    hm__rows_clear(&batch->rows);
    return 0;
}

/*
 * Receives the next batch and appends its rows to the rows of this rank. Returns 0, STOP, or
 * HM_E_NOMEM.
 */
static int batch_receive(struct hm_comm *comm, struct rank_batch *own)
{
    struct hm_rows *rows = &own->rows;
    struct shard_header head;
    size_t old = rows->count, used = hm__rows_entries(rows);

    hm__comm_receive(comm, 0, &head, sizeof(head));
    if (head.rows < 0)
        return STOP;
    size_t count = (size_t)head.rows, entries = (size_t)head.entries;
    double has_room = hm__rows_reserve(rows, count, entries) && batch_reserve(own, count);
    hm__comm_send(comm, 0, &has_room, sizeof(has_room));
    if (has_room == 0)
        return HM_E_NOMEM;
    hm__comm_receive(comm, 0, rows->labels + old, count * sizeof(double));
    hm__comm_receive(comm, 0, own->places + old, count * sizeof(uint32_t));
    hm__comm_receive(comm, 0, rows->values + used, entries * sizeof(double));
    rows->count += count;
    if (rows->sparse) {
        hm__comm_receive(comm, 0, rows->columns + used, entries * sizeof(uint32_t));
        hm__comm_receive(comm, 0, rows->starts + old, (count + 1) * sizeof(size_t));
        for (size_t i = old; i <= rows->count; i++)
            rows->starts[i] += used;
    }
    return 0;
}

/* ---- rank 0 --------------------------------------------------------------------------------- */

struct distributor {
    struct hm_comm *comm;
    const struct hm_row_source *source;
    /* Position of each row of the data in the new order; NULL if the order is not changed. */
    uint32_t *order;
    /*
     * Batches that are being filled, one per rank; batches[0] collects the whole block of rank 0.
     */
    struct rank_batch *batches;
    double *missing;      /* Number of rows that each rank has not received yet. */
    struct hm_rows block; /* Buffer with the rows that were read most recently. */
};

static size_t batch_bytes(const struct rank_batch *batch)
{
    return hm__rows_entries(&batch->rows) * (sizeof(double) + sizeof(uint32_t)) +
           batch->rows.count * (sizeof(double) + sizeof(size_t));
}

static int distributor_send(struct distributor *distributor, int to, struct hm_err *err)
{
    double count = (double)distributor->batches[to].rows.count;

    if (count == 0)
        return 0;
    if (batch_send(distributor->comm, to, &distributor->batches[to])) {
        /* This receiver has already failed, so it does not wait for a STOP. */
        distributor->missing[to] = 0;
        return hm__fail(err, HM_E_NOMEM, "rank %d does not have enough memory for its rows", to);
    }
    distributor->missing[to] -= count;
    return 0;
}

/* Adds a row to the batch of its rank; sends the batch when it is full. */
static int distributor_add_row(struct distributor *distributor, size_t i, double number,
                               struct hm_err *err)
{
    double total = distributor->source->total;
    double place = distributor->order ? distributor->order[(size_t)number] : number;
    int size = distributor->comm->size, to = shard_owner(distributor->comm, place, total);
    struct rank_batch *batch = &distributor->batches[to];

    if (!batch_reserve(batch, 1))
        return hm__fail_nomem(err);
    batch->places[batch->rows.count] =
        (uint32_t)(place - hm__shard_in(distributor->comm, total, to).first);
    if (!hm__rows_copy(&batch->rows, &distributor->block, i))
        return hm__fail_nomem(err);
    if (to > 0 && batch_bytes(batch) >= HM_SHARD_BUFFER_BYTES / (size_t)size)
        return distributor_send(distributor, to, err);
    return 0;
}

static int distributor_read(struct distributor *distributor, struct hm_err *err)
{
    const struct hm_row_source *source = distributor->source;
    double number = 0;
    int got = 0, rc = 0;

    while (rc == 0) {
        hm__rows_clear(&distributor->block);
        got = source->reader(source->context, READ_ROWS, &distributor->block, err);
        if (got <= 0)
            break;
        if (number + got > source->total)
            return hm__fail(err, HM_E_CONFLICT, "the data has more rows than when it was checked");
        for (int i = 0; rc == 0 && i < got; i++)
            rc = distributor_add_row(distributor, (size_t)i, number++, err);
    }
    if (rc == 0 && got < 0)
        rc = got;
    if (rc == 0 && number < source->total)
        rc = hm__fail(err, HM_E_CONFLICT, "the data has fewer rows than when it was checked");
    for (int to = 1; rc == 0 && to < distributor->comm->size; to++)
        rc = distributor_send(distributor, to, err);
    return rc;
}

static int distributor_init(struct distributor *distributor, const struct hm_rows *rows,
                            struct hm_err *err)
{
    const struct hm_row_source *source = distributor->source;
    size_t size = (size_t)distributor->comm->size;

    distributor->block.sparse = rows->sparse;
    distributor->block.features = rows->features;
    distributor->batches = hm__calloc(size, sizeof(*distributor->batches));
    distributor->missing = hm__calloc(size, sizeof(*distributor->missing));
    if (!distributor->batches || !distributor->missing)
        return hm__fail_nomem(err);
    for (size_t k = 0; k < size; k++) {
        distributor->batches[k].rows = distributor->block;
        distributor->missing[k] = hm__shard_in(distributor->comm, source->total, (int)k).count;
    }
    if (source->order == HM_ORDER_AS_IS)
        return 0;
    if (source->total > UINT32_MAX)
        return hm__fail(err, HM_E_LIMIT, "%.0f rows are too many to shuffle", source->total);
    struct hm_random random;
    hm__random_init(&random, source->seed, UINT64_MAX - 1);
    distributor->order = hm__calloc((size_t)source->total + 1, sizeof(*distributor->order));
    if (!distributor->order)
        return hm__fail_nomem(err);
    hm__fill_range(distributor->order, (size_t)source->total);
    hm__shuffle(&random, distributor->order, (size_t)source->total);
    return 0;
}

/*
 * Called on rank 0: reads all rows and sends them to their ranks; the block of rank 0 is stored in
 * *own. If this fails, the ranks that still wait for rows receive STOP.
 */
static int distributor_run(struct distributor *distributor, struct rank_batch *own,
                           struct hm_err *err)
{
    static const struct shard_header stop = {STOP, 0};
    int size = distributor->comm->size, rc = distributor_init(distributor, &own->rows, err);

    if (distributor->batches && distributor->missing) {
        /* The memory for the block of rank 0 has already been allocated. */
        distributor->batches[0] = *own;
        rc = rc ? rc : distributor_read(distributor, err);
        *own = distributor->batches[0];
    }
    for (int to = 1; rc && to < size; to++)
        if (distributor->missing
                ? distributor->missing[to] > 0
                : hm__shard_in(distributor->comm, distributor->source->total, to).count > 0)
            hm__comm_send(distributor->comm, to, &stop, sizeof(stop));
    for (int k = 1; distributor->batches && k < size; k++)
        batch_release(&distributor->batches[k]);
    hm__rows_release(&distributor->block);
    hm__free(distributor->batches);
    hm__free(distributor->missing);
    hm__free(distributor->order);
    return rc;
}

int hm__shard_distribute(struct hm_comm *comm, const struct hm_row_source *source,
                         struct hm_rows *rows, struct hm_err *err)
{
    struct hm_shard block = hm__shard_in(comm, source->total, comm->rank);
    struct distributor distributor = {.comm = comm, .source = source};
    struct rank_batch own = {.rows = *rows};
    int rc = 0;

    if (!hm__rows_reserve(&own.rows, (size_t)block.count, 0) ||
        !batch_reserve(&own, (size_t)block.count))
        rc = hm__fail(err, HM_E_NOMEM, "rank %d does not have enough memory for its %.0f rows",
                      comm->rank, block.count);
    rc = hm__agree(comm, rc, err);
    if (rc == 0 && comm->rank == 0)
        rc = distributor_run(&distributor, &own, err);
    while (comm->rank > 0 && rc == 0 && (double)own.rows.count < block.count)
        rc = batch_receive(comm, &own);
    /* The error is known only on rank 0; hm__agree broadcasts it to all ranks. */
    rc = hm__agree(comm, comm->rank == 0 ? rc : 0, err);
    if (rc == 0 && source->order == HM_ORDER_SHUFFLED) {
        bool sorted = hm__rows_reorder(&own.rows, own.places);
        rc = hm__agree(comm, sorted ? 0 : hm__fail_nomem(err), err);
    }
    hm__free(own.places);
    *rows = own.rows;
    return rc;
}
