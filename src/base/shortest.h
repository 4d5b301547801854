/* Numbers as decimals, fast. */
#ifndef HM_SHORTEST_H
#define HM_SHORTEST_H

#include <stdbool.h>

enum { HM_SHORTEST = 40 };

/*
 * The fewest of 15, 16 or 17 digits that read back the same, as %.15g, %.16g or %.17g write them,
 * into text[HM_SHORTEST]. False for numbers it does not know: those below 1e-4 or from 1e15 on,
 * and powers of two.
 */
bool hm__shortest(double value, char *text);

#endif
