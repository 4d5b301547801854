/* Colours that people who see fewer of them can tell apart, on white and on black. */
#ifndef HM_PALETTE_H
#define HM_PALETTE_H

#include <stddef.h>

enum { HM_PALETTE_SIZE = 8 };

/* The i-th on white, "#0072b2"; they repeat. */
const char *hm__palette(size_t i);
/* The same on black. */
const char *hm__palette_dark(size_t i);

#endif
