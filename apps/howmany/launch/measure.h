/* Measures one run of a command. The result is the time per iteration that the output reports, or
 * else the wall time. */
#ifndef HM_MEASURE_H
#define HM_MEASURE_H

#include <regex.h>

#include "child.h"
#include "cli.h"
#include "howmany_fit.h"

struct launch_measure_settings {
    double timeout_s; /* Time limit of a run in seconds; 0 for no limit. */
    /* Regular expression for lines that report one iteration; its first group is the time in
     * seconds or with a unit. NULL means that iterations are lines of the form
     * {"iteration":…,"seconds":…,"loss":…} or, if there are none, lines of a known framework. */
    const regex_t *iteration;
    bool show; /* True to copy the command's output to standard error. */
};

/*
 * Names of the methods for determining the time of an iteration; the column `timing` of recorded
 * runs contains them.
 */

/* The command reported the times of its iterations. */
#define LAUNCH_TIMING_ITERATIONS "iterations"
/*
 * The time was computed from the difference between two runs with different numbers of iterations.
 */
#define LAUNCH_TIMING_DIFFERENCE "difference"
/* The wall time of the whole run was used, including its start-up. */
#define LAUNCH_TIMING_WHOLE HM_TIMING_WHOLE

/* Number of bytes at the start of a line in which a regular expression is searched. */
enum { LAUNCH_PATTERN_LINE = 4096 };
/*
 * Compiles an extended regular expression. Back-references are refused, because searching for them
 * can take hours. Returns 0, or EXIT_USAGE with a message that begins with `name`.
 */
int launch_pattern_compile(const char *name, const char *text, int flags, regex_t *ret_pattern);
/* Searches the start of a line. Returns whether it matches and the first group is in it. */
bool launch_pattern_find(const regex_t *pattern, const char *line, char *ret_group, size_t room);

/* The result of one run. Unknown values are NaN. */
struct launch_measurement {
    /* How the run ended: "ok", "exit 3", "signal 9", "timeout", "interrupted", "invalid time" or
     * "not started". */
    char status[24];
    double seconds;    /* Median time of one iteration in seconds; total_s if no iteration was
                          reported. */
    double total_s;    /* Wall time of the run in seconds. */
    double iterations; /* Number of iterations that the command reported. */
    double loss;       /* Last loss that the command reported. */
    double startup_s;  /* Start-up time in seconds, which is not included in `seconds`; NaN if
                          unknown. */
    /*
     * Name of the method that determined `seconds`, one of the names above; NULL if `seconds` is
     * unknown.
     */
    const char *timing;
    const char *framework; /* The framework whose lines were read; NULL if there is none. */
    char message[160]; /* Last line of the command's standard error, or the reason why the command
                          did not start. */
};

/*
 * Runs the command once, and again if this process was stopped (Ctrl-Z) meanwhile. Returns 0
 * regardless of the command's exit status, or EXIT_USAGE with a message if a process, a pipe or
 * memory cannot be allocated.
 */
int launch_measure(char *const *argv, const struct launch_measure_settings *settings,
                   struct launch_measurement *ret_measurement);
/*
 * Computes the start-up time of a run that reported no iterations, from a second run with fewer
 * iterations: an iteration takes (T_long - T_short) / (long_count - short_count) seconds, and the
 * rest of the time is the start-up. `m` is the long run. Its status becomes "no difference" if it
 * took no longer than the short run; if the short run failed, it becomes the status of the short
 * run.
 */
void launch_measurement_subtract(struct launch_measurement *m, double long_count,
                                 const struct launch_measurement *brief, double short_count);

#endif
