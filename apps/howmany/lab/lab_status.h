/* Checks whether a laboratory is complete, and describes it as text and JSON. */
#ifndef HM_LAB_STATUS_H
#define HM_LAB_STATUS_H

#include "lab_find.h"

/*
 * If a lab is incomplete, write what is missing first to `why` and return true; return false if it
 * is complete.
 */
bool lab_status_broken(const struct lab_found *found, struct hm_text *why);
/* Describe the nodes of a complete lab. round_trips[i] is the time from node 1 to node i + 1 in
 * seconds; NAN if no answer came. */
void lab_status_text(const struct lab_found *found, const double *round_trips, struct hm_text *out);
void lab_status_json(const struct lab_found *found, const double *round_trips, struct hm_text *out);

#endif
