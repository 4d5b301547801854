/* Defines colours that colour-blind people can distinguish, on white and on black. */
#ifndef HM_PALETTE_H
#define HM_PALETTE_H

#include <stddef.h>

enum { HM_PALETTE_SIZE = 8 };

/*
 * Returns colour `i` for a white background, such as "#0072b2"; after the last colour, the list
 * starts again.
 */
const char *hm__palette(size_t i);
/* Returns colour `i` for a black background. */
const char *hm__palette_dark(size_t i);

#endif
