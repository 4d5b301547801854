/*
 * Rows to ranks: the rows are put into an order, and rank k of n holds the k-th of n blocks of it,
 * which are equal unless the ranks have shares. The order does not depend on n: what belongs to
 * rows can be dealt out anew to other ranks.
 */
#ifndef HM_SHARD_H
#define HM_SHARD_H

#include "comm.h"
#include "rows.h"

/* The block of one rank: places first .. first + count. */
struct hm_shard {
    double first, count;
};

struct hm_shard hm__shard_of(double rows, int rank, int size);
/* The same of a comm whose ranks may have shares. */
struct hm_shard hm__shard_in(const struct hm_comm *comm, double rows, int rank);

/* Appends up to `most` rows to block; returns how many, 0 at the end, or a negative code. */
typedef int hm_rows_reader(void *context, size_t most, struct hm_rows *block, struct hm_err *err);

enum hm_order {
    HM_ORDER_SHUFFLED, /* at random, by a seed: blocks are alike, however the file is sorted */
    HM_ORDER_AS_IS,
};

struct hm_dealing {
    hm_rows_reader *reader; /* called on rank 0 only */
    void *context;
    double total; /* rows there are; a reader with fewer or more is an error */
    enum hm_order order;
    uint64_t seed;
};

/*
 * Rank 0 reads and passes on what is not its own, some at a time: it holds its block, HM_DEAL_BYTES
 * on the way to others, and the order. `rows` has sparse and features set, on all ranks.
 */
enum { HM_DEAL_BYTES = 16 * 1024 * 1024 };
int hm__shard_deal(struct hm_comm *comm, const struct hm_dealing *dealing, struct hm_rows *rows,
                   struct hm_err *err);

#endif
