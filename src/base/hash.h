/*
 * Declares the hash function of tables whose keys come from inputs, such as the names in a file.
 *
 * A function without a secret, such as FNV-1a, lets the author of a file choose names that all fall
 * into one place of a table, so that each search compares all of them. This function is SipHash-2-4
 * (Aumasson, Bernstein: SipHash: a fast short-input PRF, INDOCRYPT 2012) with a random key for each
 * table. The order of the places in a table therefore differs from run to run: nothing that is
 * written may depend on it, so results come from the order in which keys were added.
 */
#ifndef HM_HASH_H
#define HM_HASH_H

#include <stddef.h>
#include <stdint.h>

/* The key of one table. It is copied with the struct that holds the table. */
struct hm_hash_key {
    uint64_t words[2];
};

/* Draws a random key from the kernel. */
void hm__hash_begin(struct hm_hash_key *ret_key);
uint64_t hm__hash_bytes(const struct hm_hash_key *key, const void *data, size_t length);
/* Hashes a text without its terminating NUL. */
uint64_t hm__hash_text(const struct hm_hash_key *key, const char *text);

#endif
