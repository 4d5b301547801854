/* What came of a study, for a person, for a program, and as a report. */
#ifndef HM_STUDY_TELL_H
#define HM_STUDY_TELL_H

#include "study_runs.h"

enum { STUDY_CHECKS = 2 };

/* The answer. Zero-initialise; release on every way out. */
struct study_result {
    struct hm_traces *traces;
    struct hm_convergence *convergence;
    struct hm_holdout *holdout; /* NULL: there was too little to hold out */
    struct hm_advice *advice;
    double best;                /* P* that was given to the fit; NaN: it estimated */
    enum study_verdict verdict; /* why no further run was made */
    struct hm_study_check checks[STUDY_CHECKS];
    size_t check_count;
    char holdout_note[160]; /* why there is none; empty: there is */
};

void study_result_release(struct study_result *result);

/* All of it as the report has it; texts are in the arena. 0, or EXIT_USAGE with a message. */
int study_tell_fill(const struct study_folder *folder, const struct study_result *result,
                    const char *command, struct hm_arena *arena, struct hm_study *ret_study);
/* Whether a check ended within what was predicted: 1, 0, or -1 where no interval was. */
int study_tell_inside(const struct hm_study_check *check);

void study_tell_text(const struct study_folder *folder, const struct study_result *result,
                     const struct hm_study *study, const char *advice, const char *report,
                     const struct hm_style *style, struct hm_text *out);
void study_tell_json(const struct study_folder *folder, const struct study_result *result,
                     const struct hm_study *study, const char *advice, const char *report,
                     struct hm_text *out);

#endif
