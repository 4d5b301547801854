/*
 * Declares howmany validate --steps, which compares measured training steps and collectives with
 * the predictions of the model.
 */
#ifndef HM_VALIDATE_STEPS_H
#define HM_VALIDATE_STEPS_H

#include "cli.h"

/*
 * Predicts every row of a table of steps, or of the built-in tables if `path` is NULL, and prints
 * the predictions, their intervals and errors. `plot` is the path of a plot to write, or NULL.
 * Returns an exit code.
 */
int validate_steps(const char *path, bool json, const char *plot, const struct hm_catalog *catalog);

#endif
