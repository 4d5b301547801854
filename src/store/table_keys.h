/* Makes the keys of runs that are added as a table, so that a table that is added twice is stored
 * only once. */
#ifndef HM_TABLE_KEYS_H
#define HM_TABLE_KEYS_H

#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "hash.h"
#include "howmany_store.h"

enum { HM_KEY_BYTES = 201 };

/*
 * For each hash, the number of rows with this hash that have been added. Equal rows are different
 * runs, so they need different keys.
 */
struct hm_seen_hashes {
    struct hm_hash_key key; /* Of the places in the arrays, so that a file cannot choose them. */
    uint64_t *hashes;
    size_t *counts;
    /* Number of elements in both arrays: a power of 2, at least twice the number of rows. */
    size_t room;
};

int hm__seen_init(struct hm_seen_hashes *s, size_t rows, struct hm_err *err);
void hm__seen_release(struct hm_seen_hashes *s);

/*
 * Hashes a run with its samples, because two runs of one algorithm on the same number of workers
 * may differ only in their samples. Without samples, it is the hash of the columns.
 */
uint64_t hm__key_hash(const struct hm_stored *run);
/*
 * Writes the key of a run: the key in the request and a number, or the hash of the run and the
 * number of equal runs before it.
 */
void hm__key_write(char text[HM_KEY_BYTES], const char *given, size_t number, const char *kind,
                   uint64_t sum, struct hm_seen_hashes *seen);
/*
 * Checks that the key in the request is not empty and is UTF-8, and that it is short enough for a
 * hyphen and a number to be appended. NULL is allowed.
 */
int hm__key_check(const char *key, struct hm_err *err);

#endif
