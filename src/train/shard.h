/* Rows to ranks: rank k of n holds the k-th of n equal blocks of the data's rows. */
#ifndef HM_SHARD_H
#define HM_SHARD_H

#include "comm.h"
#include "rows.h"

/* The block of one rank: rows first .. first + count. */
struct hm_shard {
    double first, count;
};

struct hm_shard hm_shard_of(double rows, int rank, int size);

/* Appends up to `most` rows to block; returns how many, 0 at the end, or a negative code. */
typedef int hm_rows_reader(void *context, size_t most, struct hm_rows *block, struct hm_err *err);

/*
 * Rank 0 reads `total` rows and passes on what is not its own, a few at a time: no rank ever holds
 * more than its block and one message. `rows` has sparse and features set, on all ranks. The reader
 * is called on rank 0 only. A reader that ends too early or too late is an error.
 */
int hm_shard_deal(struct hm_comm *comm, hm_rows_reader *reader, void *context, double total,
                  struct hm_rows *rows, struct hm_err *err);

#endif
