/* Computes SHA-256 (FIPS 180-4) for the stored hashes of tokens. */
#ifndef HM_SHA256_H
#define HM_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SHA256_BYTES = 32, SHA256_HEX = 65 };

void sha256(const void *data, size_t length, uint8_t digest[SHA256_BYTES]);
/* Writes a digest as lower-case hexadecimal digits with a NUL at the end. */
void sha256_hex(const uint8_t digest[SHA256_BYTES], char text[SHA256_HEX]);
/* Compares two digests in constant time. */
bool sha256_equal(const uint8_t a[SHA256_BYTES], const uint8_t b[SHA256_BYTES]);

#endif
