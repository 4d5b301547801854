/* Checks whether all namespaces and processes of a laboratory (a cluster of network namespaces on
 * one machine) exist, and describes the laboratory as text and JSON. */
#ifndef HM_LAB_STATUS_H
#define HM_LAB_STATUS_H

#include "lab_find.h"

/*
 * If a part of a lab is missing, write the first missing part to `why` and return true; return
 * false if the lab is complete.
 */
bool lab_status_broken(const struct lab_found *found, struct hm_text *why);
/*
 * Describes the nodes of a complete lab. round_trips[i] is the round-trip time between node 1 and
 * node i + 1 in seconds; NAN if the node did not answer.
 */
void lab_status_text(const struct lab_found *found, const double *round_trips, struct hm_text *out);
void lab_status_json(const struct lab_found *found, const double *round_trips, struct hm_text *out);

#endif
