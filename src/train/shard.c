/*
 * Dealing out rows. A message is a head (rows, entries), which the receiver answers with whether it
 * has the memory, and the arrays of struct hm_rows.
 */
#include "shard.h"

#include <math.h>
#include <string.h>

#include "agree.h"
#include "err.h"
#include "memory.h"
#include "schemes.h"

enum { MESSAGE_ROWS = 2048, STOP = -1 };

struct head {
    double rows; /* STOP: something went wrong, no more will come */
    double entries;
};

struct hm_shard hm_shard_of(double rows, int rank, int size)
{
    double first = floor(rows * rank / size), next = floor(rows * (rank + 1) / size);
    return (struct hm_shard){first, next - first};
}

/* Send the block; HM_E_NOMEM when the receiver has no room for it. */
static int send_rows(struct hm_comm *comm, int to, const struct hm_rows *block)
{
    size_t entries = hm_rows_entries(block);
    struct head head = {(double)block->count, (double)entries};
    double has_room;

    hm__comm_send(comm, to, &head, sizeof(head));
    hm__comm_receive(comm, to, &has_room, sizeof(has_room));
    if (has_room == 0)
        return HM_E_NOMEM;
    hm__comm_send(comm, to, block->labels, block->count * sizeof(double));
    hm__comm_send(comm, to, block->values, entries * sizeof(double));
    if (block->sparse) {
        hm__comm_send(comm, to, block->columns, entries * sizeof(uint32_t));
        hm__comm_send(comm, to, block->starts, (block->count + 1) * sizeof(size_t));
    }
    return 0;
}

/* Receive the next block at the end of the rows. 0, STOP, or HM_E_NOMEM. */
static int receive_rows(struct hm_comm *comm, struct hm_rows *rows)
{
    struct head head;
    size_t old = rows->count, used = hm_rows_entries(rows);

    hm__comm_receive(comm, 0, &head, sizeof(head));
    if (head.rows < 0)
        return STOP;
    size_t count = (size_t)head.rows, entries = (size_t)head.entries;
    double has_room = hm_rows_reserve(rows, count, entries);
    hm__comm_send(comm, 0, &has_room, sizeof(has_room));
    if (has_room == 0)
        return HM_E_NOMEM;
    hm__comm_receive(comm, 0, rows->labels + old, count * sizeof(double));
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

/* What rank 0 is in the middle of. */
struct dealing {
    hm_rows_reader *reader;
    void *context;
    struct hm_rows block; /* on its way to another rank */
};

/* Read the rows of one rank and pass them on; rank 0's own go into `rows`. */
static int deal_one(struct hm_comm *comm, struct dealing *deal, int to, double count,
                    struct hm_rows *rows, struct hm_err *err)
{
    while (count > 0) {
        struct hm_rows *block = to == 0 ? rows : &deal->block;
        if (to > 0)
            hm_rows_clear(block);
        int got = deal->reader(deal->context, (size_t)fmin(count, MESSAGE_ROWS), block, err);
        if (got < 0)
            return got;
        if (got == 0)
            return hm_fail(err, HM_E_CONFLICT, "the data has fewer rows than when it was checked");
        if (to > 0 && send_rows(comm, to, block))
            return hm_fail(err, HM_E_NOMEM, "rank %d has not enough memory for its rows", to);
        count -= got;
    }
    return 0;
}

/* All of rank 0's part; on failure whoever still waits is told to stop. */
static int deal_all(struct hm_comm *comm, struct dealing *deal, double total, struct hm_rows *rows,
                    struct hm_err *err)
{
    static const struct head stop = {STOP, 0};
    int rc = 0, to = 0;

    for (; rc == 0 && to < comm->size; to++)
        rc = deal_one(comm, deal, to, hm_shard_of(total, to, comm->size).count, rows, err);
    if (rc == 0) {
        hm_rows_clear(&deal->block);
        rc = deal->reader(deal->context, 1, &deal->block, err);
        if (rc > 0)
            rc = hm_fail(err, HM_E_CONFLICT, "the data has more rows than when it was checked");
        return rc;
    }
    /* The rank that was being served waits too, unless it is the one without memory. */
    for (to = rc == HM_E_NOMEM ? to : to - 1; to < comm->size; to++)
        if (to > 0 && hm_shard_of(total, to, comm->size).count > 0)
            hm__comm_send(comm, to, &stop, sizeof(stop));
    return rc;
}

int hm_shard_deal(struct hm_comm *comm, hm_rows_reader *reader, void *context, double total,
                  struct hm_rows *rows, struct hm_err *err)
{
    struct hm_shard own = hm_shard_of(total, comm->rank, comm->size);
    struct dealing deal = {reader, context, {.sparse = rows->sparse, .features = rows->features}};
    int rc = 0;

    if (!rows->sparse && !hm_rows_reserve(rows, (size_t)own.count, 0))
        rc = hm_fail(err, HM_E_NOMEM, "rank %d has not enough memory for its %.0f rows of %zu",
                     comm->rank, own.count, rows->features);
    rc = hm_agree(comm, rc, err);
    if (rc)
        return rc;
    if (comm->rank == 0)
        rc = deal_all(comm, &deal, total, rows, err);
    while (comm->rank > 0 && rc == 0 && (double)rows->count < own.count)
        rc = receive_rows(comm, rows);
    hm_rows_release(&deal.block);
    /* Only rank 0 knows what went wrong. */
    return hm_agree(comm, comm->rank == 0 ? rc : 0, err);
}
