/* Implements SHA-256 as described in FIPS 180-4: 64 rounds on blocks of 64 bytes. */
#include "sha256.h"

#include <string.h>

/* Fractional parts of the cube roots of the first 64 primes, as specified in FIPS 180-4. */
static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate_right(uint32_t x, unsigned by)
{
    return x >> by | x << (32 - by);
}

static void expand_block(const uint8_t *block, uint32_t w[64])
{
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t a = rotate_right(w[i - 15], 7) ^ rotate_right(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t b = rotate_right(w[i - 2], 17) ^ rotate_right(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + a + w[i - 7] + b;
    }
}

static void compress_block(uint32_t state[8], const uint8_t *block)
{
    uint32_t w[64], s[8];

    expand_block(block, w);
    memcpy(s, state, sizeof(s));
    for (int i = 0; i < 64; i++) {
        uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
        uint32_t most = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
        uint32_t one = s[7] +
                       (rotate_right(s[4], 6) ^ rotate_right(s[4], 11) ^ rotate_right(s[4], 25)) +
                       choice + round_constants[i] + w[i];
        uint32_t two =
            (rotate_right(s[0], 2) ^ rotate_right(s[0], 13) ^ rotate_right(s[0], 22)) + most;
        memmove(s + 1, s, 7 * sizeof(*s));
        s[4] += one;
        s[0] = one + two;
    }
    for (int i = 0; i < 8; i++)
        state[i] += s[i];
}

void sha256(const void *data, size_t length, uint8_t digest[SHA256_BYTES])
{
    /* Fractional parts of the square roots of the first 8 primes, as specified in FIPS 180-4. */
    uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    const uint8_t *bytes = data;
    uint8_t last[128] = {0};
    size_t rest = length % 64, blocks = rest < 56 ? 1 : 2;

    for (size_t i = 0; i + 64 <= length; i += 64)
        compress_block(state, bytes + i);
    if (rest > 0)
        memcpy(last, bytes + length - rest, rest);
    last[rest] = 0x80;
    for (size_t i = 0; i < 8; i++)
        last[64 * blocks - 1 - i] = (uint8_t)((uint64_t)length * 8 >> 8 * i);
    for (size_t i = 0; i < blocks; i++)
        compress_block(state, last + 64 * i);
    for (size_t i = 0; i < SHA256_BYTES; i++)
        digest[i] = (uint8_t)(state[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256_hex(const uint8_t digest[SHA256_BYTES], char text[SHA256_HEX])
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < SHA256_BYTES; i++) {
        text[2 * i] = digits[digest[i] >> 4];
        text[2 * i + 1] = digits[digest[i] & 15];
    }
    text[SHA256_HEX - 1] = '\0';
}

bool sha256_equal(const uint8_t a[SHA256_BYTES], const uint8_t b[SHA256_BYTES])
{
    volatile uint8_t differ = 0;

    for (size_t i = 0; i < SHA256_BYTES; i++)
        differ = (uint8_t)(differ | (a[i] ^ b[i]));
    return differ == 0;
}
