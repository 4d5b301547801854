/* howmany validate --fits: how well a few small runs predict a large one, on published curves. */
#ifndef HM_VALIDATE_FITS_H
#define HM_VALIDATE_FITS_H

#include "cli.h"

/* Curves of the folder `scaling` in data, which may be NULL; an exit code. */
int cli_validate_fits(const char *data, bool json, const struct hm_catalog *catalog);

#endif
