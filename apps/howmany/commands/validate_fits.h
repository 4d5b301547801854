/* howmany validate --fits: how well small runs predict a large one, on published curves. */
#ifndef HM_VALIDATE_FITS_H
#define HM_VALIDATE_FITS_H

#include "cli.h"

/* Fit and predict the curves in the folder data/scaling and print the errors; an exit code. It is a
 * usage error when data is NULL. */
int validate_fits(const char *data, bool json, const struct hm_catalog *catalog);

#endif
