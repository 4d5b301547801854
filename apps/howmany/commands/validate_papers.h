/*
 * Declares howmany validate --papers, which compares values and statements of four papers with
 * the results of this program.
 */
#ifndef VALIDATE_PAPERS_H
#define VALIDATE_PAPERS_H

#include "cli.h"

/*
 * Prints the comparison. Statements about training runs need mnist-traces.csv.gz in the folder
 * `data`; without it, or if `data` is NULL, they are skipped. Returns the exit code.
 */
int validate_papers(const char *data, bool json, const struct hm_catalog *catalog);

#endif
