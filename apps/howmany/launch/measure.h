/* One measured run of a command: seconds per iteration from its output, or its wall time. */
#ifndef HM_MEASURE_H
#define HM_MEASURE_H

#include <regex.h>

#include "child.h"
#include "cli.h"

struct launch_measure_settings {
    double timeout_s; /* 0: no timeout. */
    /* A line that matches is one iteration, and its first group is the seconds. NULL: lines of the
     * form {"iteration":…,"seconds":…,"loss":…} are the iterations. */
    const regex_t *iteration;
    bool show; /* Copy the command's output to standard error. */
};

/* The result of one run. Unknown values are NaN. */
struct launch_measurement {
    char status[24];   /* "ok", "exit 3", "signal 9", "timeout", "interrupted", "not started". */
    double seconds;    /* Median seconds of one iteration; total_s when none was reported. */
    double total_s;    /* Wall time of the run. */
    double iterations; /* Number of iterations that the command reported. */
    double loss;       /* Last loss that the command reported. */
    char message[160]; /* Last line of its standard error, or the reason it did not start. */
};

/* Run the command once. Returns 0 whatever its result, or EXIT_USAGE with a message when it could
 * not be watched. */
int launch_measure(char *const *argv, const struct launch_measure_settings *settings,
                   struct launch_measurement *ret_measurement);

#endif
