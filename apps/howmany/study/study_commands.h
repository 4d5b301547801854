/* The command line of each run of a study (`howmany train …`), and the name of its trace. */
#ifndef HM_STUDY_COMMANDS_H
#define HM_STUDY_COMMANDS_H

#include "command_line.h"
#include "study_plan.h"
#include "text.h"

struct hm_arena;

/* The source of P*, the least possible objective. */
enum study_reference {
    STUDY_GIVEN,    /* The file names it. */
    STUDY_GAP,      /* A run until the duality gap is small; P* is known within the gap. */
    STUDY_LBFGS,    /* A long run of L-BFGS. */
    STUDY_ESTIMATED /* It is not known; the fit estimates it. */
};

/* Zero-initialise. */
struct study_commands {
    const struct hm_study_spec *spec; /* Borrowed. */
    enum study_reference reference;
    const char *problem, *data;   /* Names of the problem and the data of all runs. */
    const char *simulate;         /* Path or name of the cluster; NULL: real ranks. */
    struct launch_command common; /* Arguments that all runs share. */
    struct hm_arena *arena;       /* Owns the texts. */
};

/* Check every option of the file that concerns runs; 0, or EXIT_USAGE with a message. */
int study_commands_prepare(struct study_commands *commands, const struct hm_study_spec *spec);
void study_commands_release(struct study_commands *commands);

/* The arguments after `howmany` of one run. best is P*, NaN while it is not known. Returns 0, or
 * EXIT_USAGE with a message. */
int study_commands_run(const struct study_commands *commands, const struct study_run *run,
                       double best, struct launch_command *ret_command);
/* The arguments of the run that finds P*; only with STUDY_GAP and STUDY_LBFGS. */
int study_commands_reference(const struct study_commands *commands,
                             struct launch_command *ret_command);
/* P* from the trace of the reference run. */
double study_commands_best(const struct study_commands *commands, const struct hm_trace *trace);
/* P* lowered below the least objective of all traces; only the one of L-BFGS can need that. */
double study_commands_best_of_all(const struct study_commands *commands, double best,
                                  const struct hm_traces *traces);

/* The name of a run's trace: "cocoa+-16-1", with the algorithm's options after its name. */
void study_commands_name(const struct study_commands *commands, const struct study_run *run,
                         struct hm_text *ret_name);
/* A text that identifies the problem of all runs of a folder; 0, or EXIT_USAGE with a message. */
int study_commands_identity(const struct study_commands *commands, struct hm_text *ret_text);

#endif
