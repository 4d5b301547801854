/*
 * Declares howmany validate --platforms, which compares measured iterations on CPUs and with
 * frameworks with the predictions of the model.
 */
#ifndef HM_VALIDATE_PLATFORMS_H
#define HM_VALIDATE_PLATFORMS_H

#include "cli.h"

/*
 * Predicts every row of a table of measured iterations, or of the built-in table if `path` is NULL,
 * and prints the predictions and errors. Returns an exit code.
 */
int validate_platforms(const char *path, bool json, const struct hm_catalog *catalog);

#endif
