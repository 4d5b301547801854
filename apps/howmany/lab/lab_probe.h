/* Measures round-trip times between the nodes of a laboratory (a cluster of network namespaces on
 * one machine). */
#ifndef HM_LAB_PROBE_H
#define HM_LAB_PROBE_H

#include "lab_plan.h"

/*
 * Measures the round trip from node 1 to each node, in seconds, as the minimum of a few attempts;
 * NAN if the node did not answer.
 */
int lab_probe(const struct lab_spec *spec, double *ret_seconds, struct hm_err *err);

#endif
