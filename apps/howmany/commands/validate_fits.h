/*
 * The option --fits of howmany validate: tests on published curves how well small runs predict a
 * large run.
 */
#ifndef HM_VALIDATE_FITS_H
#define HM_VALIDATE_FITS_H

#include "cli.h"

/* Fit the curves in the folder data/scaling, predict their largest runs and print the errors.
 * Returns an exit code; it is a usage error if data is NULL. */
int validate_fits(const char *data, bool json, const struct hm_catalog *catalog);

#endif
