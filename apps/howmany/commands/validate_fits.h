/* howmany validate --fits: tests on published curves how well small runs predict a large run. */
#ifndef HM_VALIDATE_FITS_H
#define HM_VALIDATE_FITS_H

#include "cli.h"

/* Fit the curves in the folder data/scaling, predict them and print the errors. Returns an exit
 * code: a usage error if data is NULL. */
int validate_fits(const char *data, bool json, const struct hm_catalog *catalog);

#endif
