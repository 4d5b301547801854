/* What the runs of a study are told: the words after `howmany train`, and the name of the trace. */
#ifndef HM_STUDY_WORDS_H
#define HM_STUDY_WORDS_H

#include "study_plan.h"
#include "text.h"
#include "words.h"

struct hm_arena;

/* Where P* comes from. */
enum study_reference {
    STUDY_GIVEN,    /* the file names it */
    STUDY_GAP,      /* a run until the duality gap is small: P* is known within it */
    STUDY_LBFGS,    /* a long run of L-BFGS */
    STUDY_ESTIMATED /* nobody knows: the fit estimates it */
};

/* Zero-initialise. */
struct study_words {
    const struct hm_study_spec *spec; /* borrowed */
    enum study_reference reference;
    const char *problem, *data; /* as runs have them */
    const char *simulate;       /* the cluster, found from here; NULL: real ranks */
    struct cli_words common;    /* of every run */
    struct hm_arena *arena;     /* owns the texts */
};

/* Everything the file says of runs is checked; 0, or EXIT_USAGE with a message. */
int study_words_prepare(struct study_words *words, const struct hm_study_spec *spec);
void study_words_release(struct study_words *words);

/* After `howmany`. best NaN: not known yet. 0, or EXIT_USAGE with a message. */
int study_words_run(const struct study_words *words, const struct study_run *run, double best,
                    struct cli_words *ret_words);
/* The run that finds P*; only with STUDY_GAP and STUDY_LBFGS. */
int study_words_reference(const struct study_words *words, struct cli_words *ret_words);
/* P* by the trace of that run. */
double study_words_best(const struct study_words *words, const struct hm_trace *trace);
/* As above where later runs got below it, which only L-BFGS's allows. */
double study_words_best_of_all(const struct study_words *words, double best,
                               const struct hm_traces *traces);

/* "cocoa+-16-1", with an algorithm's options after its name. */
void study_words_name(const struct study_words *words, const struct study_run *run,
                      struct hm_text *ret_name);
/* What all runs of a folder have in common; 0, or EXIT_USAGE with a message. */
int study_words_identity(const struct study_words *words, struct hm_text *ret_text);

#endif
