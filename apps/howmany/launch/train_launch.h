/* Starting the ranks of a training run: real ones by a launcher, simulated ones on a platform. */
#ifndef HM_TRAIN_LAUNCH_H
#define HM_TRAIN_LAUNCH_H

#include "platform.h"
#include "train_options.h"

/* Zero-initialise; set the first ones; prepare; release on every way out. */
struct train_launch {
    struct cli_ranks ranks;
    const char *launcher;             /* words with {n} before the program; NULL: our choice */
    const struct hm_cluster *cluster; /* to simulate; NULL: real ranks */
    int precision;                    /* bits of its speed */
    const char *platform_folder;      /* where SimGrid's files stay; NULL: nowhere */

    struct cli_words ahead;  /* the command up to the program's arguments */
    struct cli_words behind; /* the arguments */
    struct cli_platform platform;
    char *module;        /* of simulated ranks */
    char folder[1024];   /* temporary, of the platform; empty: none */
    bool oversubscribed; /* more ranks than cores: times mean little */
};

/* Find the programs and write the platform; 0, or EXIT_USAGE with a message. */
int train_launch_prepare(struct train_launch *launch);
/* Hand an option on to the ranks; value NULL: a switch. */
int train_launch_option(struct train_launch *launch, const char *name, const char *value);
/* The whole command, with --resume if asked for. */
int train_launch_words(const struct train_launch *launch, bool resume, struct cli_words *ret_words);
void train_launch_release(struct train_launch *launch);

#endif
