/*
 * Starts a simulated run:
 *
 *     on_cluster CLUSTER.yaml N FOLDER SMPIMAIN PROGRAM ARGUMENTS…
 *
 * It writes the SimGrid platform of N workers of the cluster, with its speed at 64 bits, into the
 * folder, and then replaces this process by PROGRAM on that platform.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "readers.h"
#include "simgrid_platform.h"
#include "text.h"

static int prepare(int argc, char **argv, struct launch_command *command, struct hm_err *err)
{
    struct simgrid_platform platform = {0};
    struct hm_cluster *cluster = NULL;
    char *text = NULL;
    size_t length;
    double n = 0;
    int rc = hm__read_file(argv[1], &text, &length, err);

    hm__number_read(argv[2], &n);
    if (rc == 0)
        rc = hm_cluster_parse(NULL, text, length, argv[1], NULL, 0, &cluster, err);
    if (rc == 0)
        rc = simgrid_platform_write(argv[3], cluster, &(struct launch_ranks){.workers = n}, 64,
                                    &platform, err);
    if (rc == 0)
        rc = simgrid_platform_command(&platform, argv[4], argv[5], argv + 6, (size_t)argc - 6,
                                      command, err);
    simgrid_platform_release(&platform);
    hm_cluster_free(cluster);
    hm_text_free(text);
    return rc;
}

int main(int argc, char **argv)
{
    struct launch_command command = {0};
    struct hm_err err = {0};

    if (argc < 6 || prepare(argc, argv, &command, &err)) {
        fprintf(stderr, "on_cluster: %s: %s\n  %s\n", err.field, err.message, err.hint);
        return 2;
    }
    execv(command.argv[0], command.argv);
    perror(command.argv[0]);
    return 2;
}
