/* Round trips between nodes of a laboratory, measured. */
#ifndef HM_LAB_PROBE_H
#define HM_LAB_PROBE_H

#include "lab_plan.h"

/* Seconds from node 1 to each node and back, the least of a few; NAN where nothing comes back. */
int lab_probe(const struct lab_spec *spec, double *ret_seconds, struct hm_err *err);

#endif
