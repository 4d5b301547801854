/* Computes the latency and bandwidth of links from the times of messages and all-reduces. */
#ifndef HM_CALIBRATION_LINKS_H
#define HM_CALIBRATION_LINKS_H

#include "calibration.h"

/*
 * Sets the link between workers of one node and the fabric between nodes, if messages were timed on
 * them. It is an error if nothing at all was timed.
 */
int hm__links_fit(const struct hm_timings *timings, struct hm_calibrated *machine,
                  struct hm_err *err);
/*
 * Returns the time of a message or an all-reduce on the links of the machine, in seconds; NaN if
 * the link is unknown.
 */
double hm__links_time(const struct hm_calibrated *machine, const struct hm_timing *timing);

#endif
