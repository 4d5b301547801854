/*
 * Start a simulated run:
 *
 *     on_cluster CLUSTER.yaml N FOLDER SMPIMAIN PROGRAM ARGUMENTS…
 *
 * writes the SimGrid platform of N workers of the cluster, with its speed at 64 bits, into the
 * folder and replaces itself by PROGRAM on that platform.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "platform.h"
#include "readers.h"
#include "text.h"

static int prepare(int argc, char **argv, struct cli_words *words, struct hm_err *err)
{
    struct cli_platform platform = {0};
    struct hm_cluster *cluster = NULL;
    char *text = NULL;
    size_t length;
    double n = 0;
    int rc = hm__read_file(argv[1], &text, &length, err);

    hm__number_read(argv[2], &n);
    if (rc == 0)
        rc = hm_cluster_parse(NULL, text, length, argv[1], NULL, 0, &cluster, err);
    if (rc == 0)
        rc = cli_platform_write(argv[3], cluster, &(struct cli_ranks){.workers = n}, 64, &platform,
                                err);
    if (rc == 0)
        rc = cli_platform_command(&platform, argv[4], argv[5], argv + 6, (size_t)argc - 6, words,
                                  err);
    cli_platform_release(&platform);
    hm_cluster_free(cluster);
    hm_text_free(text);
    return rc;
}

int main(int argc, char **argv)
{
    struct cli_words words = {0};
    struct hm_err err = {0};

    if (argc < 6 || prepare(argc, argv, &words, &err)) {
        fprintf(stderr, "on_cluster: %s: %s\n  %s\n", err.field, err.message, err.hint);
        return 2;
    }
    execv(words.words[0], words.words);
    perror(words.words[0]);
    return 2;
}
