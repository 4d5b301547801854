/* Converts doubles to the shortest decimals, faster than printf. */
#ifndef HM_SHORTEST_H
#define HM_SHORTEST_H

#include <stdbool.h>

enum { HM_SHORTEST = 40 };

/*
 * Writes a number into text[HM_SHORTEST] as %.15g, %.16g or %.17g do, with the fewest digits that
 * read back as the same double. Returns false for numbers that are not supported: numbers below
 * 1e-4, numbers of at least 1e15, and powers of two.
 */
bool hm__shortest(double value, char *text);
/* Same as hm__shortest, but always with 17 digits, as %.17g does. */
bool hm__seventeen_digits(double value, char *text);

#endif
