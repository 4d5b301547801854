/* Declares decoders of single blocks (lz4, snappy and lzf), and the checksum xxHash32. */
#ifndef HM_UNPACK_RAW_H
#define HM_UNPACK_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes a block to exactly `size` bytes; returns false if the data are damaged. */
bool hm__lz4_decode(const unsigned char *in, size_t length, unsigned char *out, size_t size);
bool hm__snappy_decode(const unsigned char *in, size_t length, unsigned char *out, size_t size);
bool hm__lzf_decode(const unsigned char *in, size_t length, unsigned char *out, size_t size);
/*
 * Reads the size of the contents at the start of a snappy block, and the number of bytes that this
 * size occupies.
 */
bool hm__snappy_size(const unsigned char *in, size_t length, size_t *ret_size, size_t *ret_used);
uint32_t hm__xxhash32(const unsigned char *data, size_t length, uint32_t seed);

#endif
