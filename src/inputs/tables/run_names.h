/* Names of the columns of runs, brought to one. */
#ifndef HM_RUN_NAMES_H
#define HM_RUN_NAMES_H

#include "unit.h"

enum { HM_RUN_NAME = 128 };

/* A column that everybody has. */
struct hm_known {
    const char *name;
    struct hm_dim dim;
    double min;
    bool above; /* values must be greater than min */
    bool label;
};

/* What a written name means: the column, and the unit that stands in it. */
struct hm_run_name {
    char name[HM_RUN_NAME];
    const struct hm_known *known; /* NULL: nobody we know */
    double factor;                /* of the unit to SI; 0 if there is none */
    struct hm_dim dim;            /* of it */
};

struct hm_run_name hm__run_name_resolve(const char *written);

#endif
