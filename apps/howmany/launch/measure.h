/* One measured run of a command: how long it took, by its own lines or by the clock. */
#ifndef HM_MEASURE_H
#define HM_MEASURE_H

#include <regex.h>

#include "child.h"
#include "cli.h"

/* How a run is watched. */
struct cli_watch {
    double timeout_s;         /* 0 none */
    const regex_t *iteration; /* a line that matches is an iteration, its first group the seconds;
                                 NULL: lines {"iteration":…,"seconds":…,"loss":…} are */
    bool show;                /* the command's output, on standard error */
};

/* What came of it. Unknown values are NaN. */
struct cli_measure {
    char status[24]; /* "ok", "exit 3", "signal 9", "timeout", "interrupted", "not started" */
    double seconds;  /* of an iteration: the median of those it told of; else the total */
    double total_s;
    double iterations; /* it told of; 0: none, and seconds is the total */
    double loss;       /* the last it told of */
    char words[160];   /* the last it said on standard error, or why it did not start */
};

/* Run it once; 0, or EXIT_USAGE with a message for troubles of our own. */
int cli_measure(char *const *argv, const struct cli_watch *watch, struct cli_measure *measure);

#endif
