/* Writes the files that describe a cluster to SimGrid, and builds the command that runs ranks on
 * the simulated cluster. */
#ifndef HM_SIMGRID_PLATFORM_H
#define HM_SIMGRID_PLATFORM_H

#include "command_line.h"
#include "howmany.h"

/* The ranks of a run. Workers fill the nodes one after another; the other ranks (servers or a
 * driver) have the numbers after the workers. */
struct launch_ranks {
    double workers;
    double others; /* Number of ranks that are not workers. */
    /* True to place the ranks that are not workers round robin on the workers' nodes; otherwise
     * each of them has its own node. */
    bool beside;
};

/* A simulated cluster (platform): the paths of its files, its numbers of ranks and nodes, and the
 * speed of a worker. */
struct simgrid_platform {
    char *file;  /* Path of the platform description in XML; owned. */
    char *hosts; /* Path of a file with the node of each rank, one per line; owned. */
    double ranks, nodes;
    double flops; /* Speed of one worker in flop/s. */
};

/*
 * Writes platform.xml and hosts.txt for these ranks into an existing folder. The speed of a worker
 * is the peak speed at the given precision (16, 32 or 64 bits) times the efficiency. A node has one
 * full-duplex port to the network, and only the ports limit the traffic between nodes. Workers on
 * one node communicate over its link; if a node has no link, a worker and a server on the same node
 * communicate at 10 GB/s. Fails with HM_E_MISSING if a speed, the network or a link is needed but
 * not given.
 */
int simgrid_platform_write(const char *folder, const struct hm_cluster *cluster,
                           const struct launch_ranks *ranks, int precision,
                           struct simgrid_platform *ret_platform, struct hm_err *err);
/* Frees the memory of the struct; the files are not removed. */
void simgrid_platform_release(struct simgrid_platform *platform);

/*
 * Builds the command that runs `program`, a module built for SimGrid, on the platform; `smpimain`
 * is SimGrid's launcher. Free the command with launch_command_release.
 */
int simgrid_platform_command(const struct simgrid_platform *platform, const char *smpimain,
                             const char *program, char *const *arguments, size_t count,
                             struct launch_command *ret_command, struct hm_err *err);

#endif
