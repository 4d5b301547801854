/* Checks whether all namespaces and processes of a laboratory (a cluster of network namespaces on
 * one machine) exist, and describes the laboratory as text and JSON. */
#ifndef HM_LAB_STATUS_H
#define HM_LAB_STATUS_H

#include "lab_find.h"

/*
 * Returns whether a part of a lab is missing; if so, writes the name of the first missing part to
 * `why`.
 */
bool lab_status_broken(const struct lab_found *found, struct hm_text *why);
/*
 * Describes the nodes of a complete lab. round_trips[i] is the round-trip time between node 1 and
 * node i + 1 in seconds; NAN if the node did not answer.
 */
void lab_status_text(const struct lab_found *found, const double *round_trips, struct hm_text *out);
void lab_status_json(const struct lab_found *found, const double *round_trips, struct hm_text *out);

#endif
