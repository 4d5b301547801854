/* A cluster as SimGrid wants it: files that describe it, and the command that runs ranks on it. */
#ifndef HM_PLATFORM_H
#define HM_PLATFORM_H

#include "howmany.h"
#include "words.h"

/* Who runs: workers, which fill nodes one after another, and others. */
struct cli_ranks {
    double workers;
    double others; /* ranks after them, each on a node of its own */
    bool beside;   /* or on the nodes of the first workers, round and round */
};

/* A cluster as written for ranks. */
struct cli_platform {
    char *file;  /* the platform, XML; owned */
    char *hosts; /* the node of each rank, one a line; owned */
    double ranks, nodes;
    double flops; /* what one worker reaches, flop/s */
};

/*
 * Write what these ranks need of a cluster into platform.xml and hosts.txt in a folder that exists.
 * Workers have the speed of that precision (16, 32 or 64 bits) times the efficiency; a node has
 * one port to the network, each way of its own, and between two ports there is no further limit.
 * The workers of a node talk over its link; a server beside a worker, where there is none, at
 * 10 GB/s. HM_E_MISSING when speed, network or link are needed
 * and not given.
 */
int cli_platform_write(const char *folder, const struct hm_cluster *cluster,
                       const struct cli_ranks *ranks, int precision,
                       struct cli_platform *ret_platform, struct hm_err *err);
/* Free what it owns; the files stay. */
void cli_platform_release(struct cli_platform *platform);

/*
 * The command that runs `program`, a module built for SimGrid, with arguments on it: `smpimain` is
 * SimGrid's starter. Words that execvp takes, to be freed with cli_words_release.
 */
int cli_platform_command(const struct cli_platform *platform, const char *smpimain,
                         const char *program, char *const *arguments, size_t count,
                         struct cli_words *ret_words, struct hm_err *err);

#endif
