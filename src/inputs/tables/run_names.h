/*
 * Resolves the names of the columns of runs: names with synonyms or units are mapped to one known
 * column.
 */
#ifndef HM_RUN_NAMES_H
#define HM_RUN_NAMES_H

#include "unit.h"

enum {
    HM_RUN_NAME = 128
}; /* Number of bytes for the name of a column, including the terminating NUL. */

/* A column with a known meaning. */
struct hm_known_column {
    const char *name;
    struct hm_dim dim; /* Dimension of the values of the column. */
    double min;
    bool above; /* True if values must be greater than min; otherwise min itself is allowed. */
    bool label; /* True if the values are strings instead of numbers. */
    bool count; /* True for numbers of workers or nodes, which are at most HM_COUNT_MOST. */
};

/* The meaning of a name as written in a file: the column, and the unit in the name. */
struct hm_run_name {
    char name[HM_RUN_NAME];
    const struct hm_known_column *known; /* Meaning of the column; NULL if unknown. */
    double factor;     /* Factor that converts the unit in the name to SI; 0 if there is no unit. */
    struct hm_dim dim; /* Dimension of the unit in the name. */
};

struct hm_run_name hm__run_name_resolve(const char *written);
/*
 * Returns "n" or "nodes" if a column that is not known seems to be a number of workers or nodes,
 * such as "num_gpus", "number of nodes" or "GPU count"; NULL otherwise. "num_workers" is left out,
 * because it often counts processes that load data.
 */
const char *hm__run_name_counts(const char *name);

#endif
