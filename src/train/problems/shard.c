/*
 * Dealing out rows. A message is a head (rows, entries), which the receiver answers with whether it
 * has the memory, and then the arrays of struct hm_rows with the rows' places in the block.
 */
#include "shard.h"

#include <math.h>
#include <string.h>

#include "agree.h"
#include "err.h"
#include "memory.h"
#include "run.h"

enum { READ_ROWS = 256, STOP = -1 };

struct head {
    double rows; /* STOP: something went wrong, no more will come */
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

/* Whose place is it: the rank with first <= place < first + count. */
static int owner_of(const struct hm_comm *comm, double place, double total)
{
    int low = 0, high = comm->size - 1;

    while (low < high) { /* the last one that begins at or before it */
        int middle = (low + high + 1) / 2;
        if (hm__shard_in(comm, total, middle).first <= place)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Rows on their way to a rank, or of our own, with their places in that rank's block. */
struct parcel {
    struct hm_rows rows;
    uint32_t *places;
    size_t room;
};

static bool reserve_places(struct parcel *parcel, size_t more)
{
    if (parcel->rows.count + more <= parcel->room)
        return true;
    size_t room = 2 * (parcel->rows.count + more);
    uint32_t *places = hm__realloc(parcel->places, room, sizeof(*places));
    if (!places)
        return false;
    parcel->places = places;
    parcel->room = room;
    return true;
}

static void release_parcel(struct parcel *parcel)
{
    hm__rows_release(&parcel->rows);
    hm__free(parcel->places);
}

/* Send what is in the parcel and empty it; HM_E_NOMEM when the receiver has no room for it. */
static int send_parcel(struct hm_comm *comm, int to, struct parcel *parcel)
{
    const struct hm_rows *rows = &parcel->rows;
    size_t entries = hm__rows_entries(rows);
    struct head head = {(double)rows->count, (double)entries};
    double has_room;

    hm__comm_send(comm, to, &head, sizeof(head));
    hm__comm_receive(comm, to, &has_room, sizeof(has_room));
    if (has_room == 0)
        return HM_E_NOMEM;
    hm__comm_send(comm, to, rows->labels, rows->count * sizeof(double));
    hm__comm_send(comm, to, parcel->places, rows->count * sizeof(uint32_t));
    hm__comm_send(comm, to, rows->values, entries * sizeof(double));
    if (rows->sparse) {
        hm__comm_send(comm, to, rows->columns, entries * sizeof(uint32_t));
        hm__comm_send(comm, to, rows->starts, (rows->count + 1) * sizeof(size_t));
    }
    hm__rows_clear(&parcel->rows);
    return 0;
}

/* Receive the next rows at the end of ours. 0, STOP, or HM_E_NOMEM. */
static int receive_parcel(struct hm_comm *comm, struct parcel *own)
{
    struct hm_rows *rows = &own->rows;
    struct head head;
    size_t old = rows->count, used = hm__rows_entries(rows);

    hm__comm_receive(comm, 0, &head, sizeof(head));
    if (head.rows < 0)
        return STOP;
    size_t count = (size_t)head.rows, entries = (size_t)head.entries;
    double has_room = hm__rows_reserve(rows, count, entries) && reserve_places(own, count);
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

struct dealer {
    struct hm_comm *comm;
    const struct hm_dealing *dealing;
    uint32_t *order;        /* place of each row; NULL: as is */
    struct parcel *parcels; /* one for each rank; our own grows to our block */
    double *missing;        /* rows that each rank still waits for */
    struct hm_rows block;   /* just read */
};

static size_t parcel_bytes(const struct parcel *parcel)
{
    return hm__rows_entries(&parcel->rows) * (sizeof(double) + sizeof(uint32_t)) +
           parcel->rows.count * (sizeof(double) + sizeof(size_t));
}

static int send_to(struct dealer *dealer, int to, struct hm_err *err)
{
    double count = (double)dealer->parcels[to].rows.count;

    if (count == 0)
        return 0;
    if (send_parcel(dealer->comm, to, &dealer->parcels[to])) {
        dealer->missing[to] = 0; /* it has given up, and must not be told to stop */
        return hm__fail(err, HM_E_NOMEM, "rank %d has not enough memory for its rows", to);
    }
    dealer->missing[to] -= count;
    return 0;
}

/* Put a row that was read where it belongs; full parcels go out. */
static int place_row(struct dealer *dealer, size_t i, double number, struct hm_err *err)
{
    double total = dealer->dealing->total;
    double place = dealer->order ? dealer->order[(size_t)number] : number;
    int size = dealer->comm->size, to = owner_of(dealer->comm, place, total);
    struct parcel *parcel = &dealer->parcels[to];

    if (!reserve_places(parcel, 1))
        return hm__fail_nomem(err);
    parcel->places[parcel->rows.count] =
        (uint32_t)(place - hm__shard_in(dealer->comm, total, to).first);
    if (!hm__rows_copy(&parcel->rows, &dealer->block, i))
        return hm__fail_nomem(err);
    if (to > 0 && parcel_bytes(parcel) >= HM_DEAL_BYTES / (size_t)size)
        return send_to(dealer, to, err);
    return 0;
}

static int deal_rows(struct dealer *dealer, struct hm_err *err)
{
    const struct hm_dealing *dealing = dealer->dealing;
    double number = 0;
    int got = 0, rc = 0;

    while (rc == 0) {
        hm__rows_clear(&dealer->block);
        got = dealing->reader(dealing->context, READ_ROWS, &dealer->block, err);
        if (got <= 0)
            break;
        if (number + got > dealing->total)
            return hm__fail(err, HM_E_CONFLICT, "the data has more rows than when it was checked");
        for (int i = 0; rc == 0 && i < got; i++)
            rc = place_row(dealer, (size_t)i, number++, err);
    }
    if (rc == 0 && got < 0)
        rc = got;
    if (rc == 0 && number < dealing->total)
        rc = hm__fail(err, HM_E_CONFLICT, "the data has fewer rows than when it was checked");
    for (int to = 1; rc == 0 && to < dealer->comm->size; to++)
        rc = send_to(dealer, to, err);
    return rc;
}

static int dealer_init(struct dealer *dealer, const struct hm_rows *rows, struct hm_err *err)
{
    const struct hm_dealing *dealing = dealer->dealing;
    size_t size = (size_t)dealer->comm->size;

    dealer->block.sparse = rows->sparse;
    dealer->block.features = rows->features;
    dealer->parcels = hm__calloc(size, sizeof(*dealer->parcels));
    dealer->missing = hm__calloc(size, sizeof(*dealer->missing));
    if (!dealer->parcels || !dealer->missing)
        return hm__fail_nomem(err);
    for (size_t k = 0; k < size; k++) {
        dealer->parcels[k].rows = dealer->block;
        dealer->missing[k] = hm__shard_in(dealer->comm, dealing->total, (int)k).count;
    }
    if (dealing->order == HM_ORDER_AS_IS)
        return 0;
    if (dealing->total > UINT32_MAX)
        return hm__fail(err, HM_E_LIMIT, "%.0f rows are too many to shuffle", dealing->total);
    struct hm_random random;
    hm__random_init(&random, dealing->seed, UINT64_MAX - 1);
    dealer->order = hm__calloc((size_t)dealing->total + 1, sizeof(*dealer->order));
    if (!dealer->order)
        return hm__fail_nomem(err);
    hm__count_up(dealer->order, (size_t)dealing->total);
    hm__shuffle(&random, dealer->order, (size_t)dealing->total);
    return 0;
}

/* All of rank 0's part; on failure whoever still waits is told to stop. Our own block in *own. */
static int deal_all(struct dealer *dealer, struct parcel *own, struct hm_err *err)
{
    static const struct head stop = {STOP, 0};
    int size = dealer->comm->size, rc = dealer_init(dealer, &own->rows, err);

    if (dealer->parcels && dealer->missing) {
        dealer->parcels[0] = *own; /* it has room already */
        rc = rc ? rc : deal_rows(dealer, err);
        *own = dealer->parcels[0];
    }
    for (int to = 1; rc && to < size; to++)
        if (dealer->missing ? dealer->missing[to] > 0
                            : hm__shard_in(dealer->comm, dealer->dealing->total, to).count > 0)
            hm__comm_send(dealer->comm, to, &stop, sizeof(stop));
    for (int k = 1; dealer->parcels && k < size; k++)
        release_parcel(&dealer->parcels[k]);
    hm__rows_release(&dealer->block);
    hm__free(dealer->parcels);
    hm__free(dealer->missing);
    hm__free(dealer->order);
    return rc;
}

int hm__shard_deal(struct hm_comm *comm, const struct hm_dealing *dealing, struct hm_rows *rows,
                   struct hm_err *err)
{
    struct hm_shard block = hm__shard_in(comm, dealing->total, comm->rank);
    struct dealer dealer = {.comm = comm, .dealing = dealing};
    struct parcel own = {.rows = *rows};
    int rc = 0;

    if (!hm__rows_reserve(&own.rows, (size_t)block.count, 0) ||
        !reserve_places(&own, (size_t)block.count))
        rc = hm__fail(err, HM_E_NOMEM, "rank %d has not enough memory for its %.0f rows",
                      comm->rank, block.count);
    rc = hm__agree(comm, rc, err);
    if (rc == 0 && comm->rank == 0)
        rc = deal_all(&dealer, &own, err);
    while (comm->rank > 0 && rc == 0 && (double)own.rows.count < block.count)
        rc = receive_parcel(comm, &own);
    /* Only rank 0 knows what went wrong. */
    rc = hm__agree(comm, comm->rank == 0 ? rc : 0, err);
    if (rc == 0 && dealing->order == HM_ORDER_SHUFFLED) {
        bool sorted = hm__rows_reorder(&own.rows, own.places);
        rc = hm__agree(comm, sorted ? 0 : hm__fail_nomem(err), err);
    }
    hm__free(own.places);
    *rows = own.rows;
    return rc;
}
