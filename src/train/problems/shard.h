/*
 * Distributes rows over ranks: the rows are put into a certain order and divided into n blocks;
 * rank k holds the k-th block. Blocks have equal lengths unless the communicator assigns different
 * shares to the ranks. The order does not depend on n, so that values that belong to rows can be
 * redistributed if a run is resumed with another number of ranks.
 */
#ifndef HM_SHARD_H
#define HM_SHARD_H

#include "comm.h"
#include "rows.h"

/* The block of one rank: positions first to first + count - 1 in the order of the rows. */
struct hm_shard {
    double first, count;
};

struct hm_shard hm__shard_of(double rows, int rank, int size);
/*
 * Returns the block of one rank; the ranks of the communicator may have shares of different sizes.
 */
struct hm_shard hm__shard_in(const struct hm_comm *comm, double rows, int rank);

/*
 * Appends up to `most` rows to `block`. Returns the number of appended rows, 0 at the end of the
 * data, or a negative error code.
 */
typedef int hm_rows_reader(void *context, size_t most, struct hm_rows *block, struct hm_err *err);

enum hm_order {
    /*
     * The rows are put into a random order that depends on a seed, so that blocks are similar even
     * if the file is sorted.
     */
    HM_ORDER_SHUFFLED,
    HM_ORDER_AS_IS,
};

struct hm_row_source {
    hm_rows_reader *reader; /* Function that reads rows; called on rank 0 only. */
    void *context;
    /* Total number of rows; a reader that returns fewer or more rows causes an error. */
    double total;
    enum hm_order order;
    uint64_t seed;
};

/*
 * Reads and distributes the rows; all ranks must call this function. Rank 0 reads all rows and
 * sends the blocks of the other ranks in batches; its memory holds only its own block, buffers of
 * HM_SHARD_BUFFER_BYTES for the other ranks, and the order of the rows. The members `sparse` and
 * `features` of `rows` must be set on all ranks.
 */
enum { HM_SHARD_BUFFER_BYTES = 16 * 1024 * 1024 };
int hm__shard_distribute(struct hm_comm *comm, const struct hm_row_source *source,
                         struct hm_rows *rows, struct hm_err *err);

#endif
