/* Measures one run of a command: seconds per iteration from its output, or its wall time. */
#ifndef HM_MEASURE_H
#define HM_MEASURE_H

#include <regex.h>

#include "child.h"
#include "cli.h"

struct launch_measure_settings {
    double timeout_s; /* Time limit in seconds; 0: no limit. */
    /* A line that matches this expression reports one iteration; its first group is the time in
     * seconds or with a unit. NULL: iterations are lines of the form
     * {"iteration":…,"seconds":…,"loss":…}, or, if there are none, lines of a known framework. */
    const regex_t *iteration;
    bool show; /* Copy the command's output to standard error. */
};

/* The result of one run. Unknown values are NaN. */
struct launch_measurement {
    /* Result: "ok", "exit 3", "signal 9", "timeout", "interrupted" or "not started". */
    char status[24];
    double seconds;    /* Median seconds of one iteration; total_s if no iteration was reported. */
    double total_s;    /* Wall time of the run in seconds. */
    double iterations; /* Number of iterations that the command reported. */
    double loss;       /* Last loss that the command reported. */
    const char *framework; /* The framework whose lines were read; NULL: none. */
    char message[160];     /* Last line of the command's standard error, or why it did not start. */
};

/* Run the command once. Returns 0 whatever the result of the command, or EXIT_USAGE with a message
 * if a process, a pipe or memory cannot be allocated. */
int launch_measure(char *const *argv, const struct launch_measure_settings *settings,
                   struct launch_measurement *ret_measurement);

#endif
