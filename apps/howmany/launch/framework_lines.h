/* Recognises the lines in which training frameworks report the time of their iterations. */
#ifndef HM_FRAMEWORK_LINES_H
#define HM_FRAMEWORK_LINES_H

#include <stdbool.h>

struct launch_frameworks; /* The compiled regular expressions; opaque to the caller. */

/* Values that one line of output reports. */
struct launch_framework_line {
    const char *framework; /* Name of the framework; static. */
    double seconds;        /* Seconds of one iteration that the line reports. */
    double loss;           /* Loss that the line reports; NaN: none. */
};

/* Compile the expressions. Returns NULL when out of memory. */
struct launch_frameworks *launch_frameworks_new(void);
void launch_frameworks_free(struct launch_frameworks *frameworks);

/* Read a line. Returns false, and leaves *ret_line unchanged, if no framework writes such lines. */
bool launch_frameworks_read(struct launch_frameworks *frameworks, const char *line,
                            struct launch_framework_line *ret_line);

#endif
