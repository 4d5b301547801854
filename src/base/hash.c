/* Implements the hash function SipHash-2-4; see hash.h. */
#include "hash.h"

#include <stdbool.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

/* Returns a 64-bit number rotated to the left; `by` is between 1 and 63. */
static uint64_t rotate_word(uint64_t x, unsigned by)
{
    return x << by | x >> (64 - by);
}

static void sip_rounds(uint64_t v[4], int rounds)
{
    while (rounds-- > 0) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = rotate_word(v[1], 13) ^ v[0];
        v[3] = rotate_word(v[3], 16) ^ v[2];
        v[0] = rotate_word(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = rotate_word(v[1], 17) ^ v[2];
        v[3] = rotate_word(v[3], 21) ^ v[0];
        v[2] = rotate_word(v[2], 32);
    }
}

/* Returns up to 8 bytes as a number whose lowest byte comes first. */
static uint64_t read_word(const unsigned char *p, size_t length)
{
    uint64_t word = 0;

    for (size_t i = length; i-- > 0;)
        word = word << 8 | p[i];
    return word;
}

uint64_t hm__hash_bytes(const struct hm_hash_key *key, const void *data, size_t length)
{
    const unsigned char *p = data;
    const uint64_t *k = key->words;
    uint64_t v[4] = {k[0] ^ UINT64_C(0x736f6d6570736575), k[1] ^ UINT64_C(0x646f72616e646f6d),
                     k[0] ^ UINT64_C(0x6c7967656e657261), k[1] ^ UINT64_C(0x7465646279746573)};
    size_t left = length;

    /* The last word has the remaining bytes, of which there may be none, and the length. */
    for (bool last = false; !last;) {
        last = left < 8;
        uint64_t word = last ? read_word(p, left) | (uint64_t)length << 56 : read_word(p, 8);
        v[3] ^= word;
        sip_rounds(v, 2);
        v[0] ^= word;
        p += last ? 0 : 8;
        left -= last ? 0 : 8;
    }
    v[2] ^= 0xff;
    sip_rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t hm__hash_text(const struct hm_hash_key *key, const char *text)
{
    return hm__hash_bytes(key, text, strlen(text));
}

void hm__hash_begin(struct hm_hash_key *ret_key)
{
    struct timespec now = {0};

    if (getrandom(ret_key->words, sizeof(ret_key->words), GRND_NONBLOCK) ==
        (ssize_t)sizeof(ret_key->words))
        return;
    /* A kernel that has just started may have no random bytes yet; times are hard to predict. */
    clock_gettime(CLOCK_MONOTONIC, &now);
    ret_key->words[0] = (uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 32;
    ret_key->words[1] = (uint64_t)(uintptr_t)ret_key;
}
