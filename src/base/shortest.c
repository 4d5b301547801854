/*
 * Finds the shortest decimal representation of a double, using 128-bit integers. A double is v = m
 * 2^-s with whole numbers m and s, and N = m 10^k fits into 128 bits for numbers of common size.
 * The first 17 digits of N and the remainder give each rounding without error. A rounding reads
 * back as v if its distance to N is less than half of 10^k, which is the distance between
 * neighbouring doubles on the scale of N. This is faster than printf, which needs half a
 * microsecond per attempt; an answer contains thousands of numbers.
 */
#include "shortest.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

static const uint64_t tens[] = {1,
                                10,
                                100,
                                1000,
                                10000,
                                100000,
                                1000000,
                                10000000,
                                100000000,
                                1000000000,
                                10000000000,
                                100000000000,
                                1000000000000,
                                10000000000000,
                                100000000000000,
                                1000000000000000,
                                10000000000000000,
                                100000000000000000,
                                1000000000000000000,
                                10000000000000000000u};

struct scaled {
    wide number;   /* N = m 10^k. */
    wide ten;      /* 10^k. */
    int shift;     /* s. */
    int exponent;  /* Decimal exponent of the first digit of the number. */
    uint64_t head; /* The first 17 digits of N = m 10^k, truncated. */
    wide rest;     /* The remainder after the first 17 digits, in units of 2^-s. */
    bool even;     /* True if the integer m of the double is even. */
};

static wide power_of_ten(int k)
{
    return k < 20 ? tens[k] : (wide)tens[19] * tens[k - 19];
}

/*
 * Scales a number m 2^e, with a whole m, by 10^k to an integer. For 1e-4 <= value < 1e15, k is 2 to
 * 20 and m 10^k is below 2^120, so that it fits in 128 bits.
 */
static bool scale_to_integer(double value, struct scaled *v)
{
    int two;
    uint64_t m = (uint64_t)ldexp(frexp(value, &two), 53);

    v->shift = 53 - two;
    v->even = m % 2 == 0;
    v->exponent = (int)floor(log10(value));
    /*
     * The method supports neither powers of two, whose two neighbours are at unequal distances, nor
     * large numbers.
     */
    if (m == (uint64_t)1 << 52 || v->shift <= 0)
        return false;
    /* The exponent computed from the logarithm may be off by one, so it is adjusted. */
    for (int tries = 0; tries < 3; tries++) {
        if (v->exponent < -4 || v->exponent > 14)
            return false;
        v->ten = power_of_ten(16 - v->exponent);
        v->number = v->ten * m;
        v->head = (uint64_t)(v->number >> v->shift);
        v->rest = v->number - ((wide)v->head << v->shift);
        if (v->head >= tens[17])
            v->exponent++;
        else if (v->head < tens[16])
            v->exponent--;
        else
            return true;
    }
    return false;
}

/* Rounds the number to the given number of digits, half to even. */
static uint64_t rounded_digits(const struct scaled *v, int digits)
{
    uint64_t unit = tens[17 - digits], whole = v->head / unit, part = v->head % unit;
    wide left = ((wide)part << v->shift) + v->rest, half = ((wide)unit << v->shift) / 2;

    return whole + (left > half || (left == half && whole % 2 == 1));
}

static bool reads_back(const struct scaled *v, uint64_t digits, int count)
{
    wide at = ((wide)digits * tens[17 - count]) << v->shift;
    wide off = at > v->number ? at - v->number : v->number - at;

    return 2 * off < v->ten || (2 * off == v->ten && v->even);
}

/* Writes digits as %g does, without an exponent and without trailing zeros. */
static void write_digits(uint64_t number, int count, int exponent, char *text)
{
    char digits[24];

    if (number == tens[count]) { /* Rounding has produced a power of ten: 9.99… became 10. */
        number /= 10;
        exponent++;
    }
    for (int i = count - 1; i >= 0; i--) {
        digits[i] = (char)('0' + number % 10);
        number /= 10;
    }
    while (count > 1 && digits[count - 1] == '0' && count > exponent + 1)
        count--;
    if (exponent < 0) {
        *text++ = '0';
        *text++ = '.';
        for (int i = -1; i > exponent; i--)
            *text++ = '0';
    }
    for (int i = 0; i < count; i++) {
        *text++ = digits[i];
        if (i == exponent && i + 1 < count)
            *text++ = '.';
    }
    *text = '\0';
}

/* Writes the sign of a number, and scales its absolute value. */
static bool scale_signed(double value, struct scaled *v, char **text)
{
    if (signbit(value)) {
        *(*text)++ = '-';
        value = -value;
    }
    return value >= 1e-4 && value < 1e15 && scale_to_integer(value, v);
}

bool hm__shortest(double value, char *text)
{
    struct scaled v;
    int count = 15;
    uint64_t digits;

    if (!scale_signed(value, &v, &text))
        return false;
    while (!reads_back(&v, digits = rounded_digits(&v, count), count) && count < 17)
        count++;
    if (v.exponent == 14 && digits == tens[count]) /* %g would write this number as 1e+15, so it is
                                                      not supported. */
        return false;
    write_digits(digits, count, v.exponent, text);
    return true;
}

bool hm__seventeen_digits(double value, char *text)
{
    struct scaled v;

    if (!scale_signed(value, &v, &text))
        return false;
    write_digits(rounded_digits(&v, 17), 17, v.exponent, text);
    return true;
}
