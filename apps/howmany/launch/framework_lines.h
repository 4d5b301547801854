/* Recognises the lines in which training frameworks report the time of their iterations. */
#ifndef HM_FRAMEWORK_LINES_H
#define HM_FRAMEWORK_LINES_H

#include <stdbool.h>

struct launch_frameworks; /* The compiled regular expressions for the lines of frameworks; opaque to
                             the caller. */

/* Values that one line of a framework's output reports. */
struct launch_framework_line {
    const char *framework; /* Name of the framework; a static string. */
    double seconds;        /* Time of one iteration in seconds, as reported by the line. */
    double loss;           /* Loss that the line reports; NaN if there is none. */
};

/* Compiles the regular expressions. Returns NULL if memory runs out. */
struct launch_frameworks *launch_frameworks_new(void);
void launch_frameworks_free(struct launch_frameworks *frameworks);

/*
 * Reads a line of output, and remembers the batch if the line contains it. Returns false, and
 * leaves *ret_line unchanged, if no known framework writes such lines.
 */
bool launch_frameworks_read(struct launch_frameworks *frameworks, const char *line,
                            struct launch_framework_line *ret_line);

#endif
