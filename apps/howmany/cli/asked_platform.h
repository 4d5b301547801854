/*
 * Platforms as they are asked for: options of plan to the ways of a question, and what staleness
 * costs from a stored fit.
 */
#ifndef HM_ASKED_PLATFORM_H
#define HM_ASKED_PLATFORM_H

#include "howmany.h"

enum { CLI_STALENESS = 3, CLI_WAYS = 8 };

/* Zero-initialise; ways are borrowed by the question. */
struct cli_platform {
    bool platforms[HM_PLATFORM_SERVER + 1], consistencies[HM_CONSISTENCY_ASYNC + 1];
    bool any, all, consistency, staleness; /* given */
    double stale, servers, backups, stale_cost;
    const char *stale_fit; /* [ALGORITHM=]FILE of a stored fit, in place of stale_cost */
    bool colocated;
    struct hm_way ways[CLI_WAYS];
    size_t way_count;
};

/* Lists of names, or all; 0, or EXIT_USAGE with a message. */
int cli_platform_add(struct cli_platform *platform, const char *list);
int cli_consistency_add(struct cli_platform *platform, const char *list);
/* A factor, or a fit that howmany converge has stored. */
int cli_stale_cost(struct cli_platform *platform, const char *value);
/* What goes together, and the ways that follow; after all options. */
int cli_platform_finish(struct cli_platform *platform);

#endif
