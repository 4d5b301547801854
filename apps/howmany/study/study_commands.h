/* Builds the command line of each run of a study (`howmany train …`), and the name of its trace. */
#ifndef HM_STUDY_COMMANDS_H
#define HM_STUDY_COMMANDS_H

#include "command_line.h"
#include "study_plan.h"
#include "text.h"

struct hm_arena;

/* Methods for finding P*, the lowest possible objective. */
enum study_reference {
    STUDY_GIVEN, /* P* is given in the study's file. */
    /* P* is found by a run that ends when its duality gap is small; P* is then known to within that
     * gap. */
    STUDY_GAP,
    STUDY_LBFGS,    /* P* is found by a long run of L-BFGS. */
    STUDY_ESTIMATED /* P* is not known; the fit estimates it. */
};

/* The options that all runs of a study share. Zero-initialise the struct. */
struct study_commands {
    const struct hm_study_spec *spec; /* Description of the study; borrowed. */
    enum study_reference reference;
    const char *problem, *data; /* Names of the problem and the data of all runs. */
    const char *simulate; /* Path or name of the cluster to simulate; NULL means that the ranks are
                             not simulated. */
    struct launch_command common; /* Arguments that all runs share. */
    struct hm_arena *arena;       /* Owns the strings in this struct. */
};

/*
 * Checks every option in the study's file that is passed to runs. Returns 0, or EXIT_USAGE with a
 * message.
 */
int study_commands_prepare(struct study_commands *commands, const struct hm_study_spec *spec);
void study_commands_release(struct study_commands *commands);

/*
 * Builds the arguments after `howmany` for one run. `best` is P*, the lowest possible objective;
 * NaN while it is not known. Returns 0, or EXIT_USAGE with a message.
 */
int study_commands_run(const struct study_commands *commands, const struct study_run *run,
                       double best, struct launch_command *ret_command);
/*
 * Adds the arguments of a run without its limits and outputs to *command: the options that all runs
 * share, the algorithm with its options, n and the seed. Returns 0, or EXIT_USAGE with a message.
 */
int study_commands_start(const struct study_commands *commands, const struct study_run *run,
                         struct launch_command *command);
/*
 * Builds the arguments of the run that finds P*, the lowest possible objective. Call it only for
 * the methods STUDY_GAP and STUDY_LBFGS.
 */
int study_commands_reference(const struct study_commands *commands,
                             struct launch_command *ret_command);
/* Computes P*, the lowest possible objective, from the trace of the reference run. */
double study_commands_best(const struct study_commands *commands, const struct hm_trace *trace);
/* Returns P*, the lowest possible objective. With the method STUDY_LBFGS, P* is lowered if the
 * objective of any run comes near or below it. */
double study_commands_best_of_all(const struct study_commands *commands, double best,
                                  const struct hm_traces *traces);

/*
 * Writes the name of a run's trace, such as "cocoa+-16-1"; the options of the algorithm follow its
 * name.
 */
void study_commands_name(const struct study_commands *commands, const struct study_run *run,
                         struct hm_text *ret_name);
/*
 * Writes a string that identifies the problem, which all runs in a folder share. Returns 0, or
 * EXIT_USAGE with a message.
 */
int study_commands_identity(const struct study_commands *commands, struct hm_text *ret_text);

#endif
