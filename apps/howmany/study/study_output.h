/* Writes the result of a study as text, as JSON and as data for the HTML report. */
#ifndef HM_STUDY_OUTPUT_H
#define HM_STUDY_OUTPUT_H

#include "study_folder.h"

enum { STUDY_CHECKS = 2 };

/* The result of a study. Zero-initialise the struct, and release it on every path. */
struct study_result {
    struct hm_traces *traces;
    struct hm_convergence *convergence;
    /* Test of the fit on runs that were held out; NULL if there were too few runs. */
    struct hm_holdout *holdout;
    struct hm_advice *advice;
    /* Lowest possible objective P* that was given to the fit; NaN if the fit estimated it. */
    double best;
    enum study_verdict verdict; /* The reason why no further run was executed. */
    struct hm_study_check checks[STUDY_CHECKS];
    size_t check_count;
    char holdout_note[160]; /* Reason why no runs were held out; empty if runs were held out. */
};

void study_result_release(struct study_result *result);

/*
 * Collects the data of the report; its strings are stored in the arena. Returns 0, or EXIT_USAGE
 * with a message.
 */
int study_output_fill(const struct study_folder *folder, const struct study_result *result,
                      const char *command, struct hm_arena *arena, struct hm_study *ret_study);

/*
 * Writes the result as text or as JSON. `advice` is the advice in the same format, and `report` is
 * the path of the HTML report.
 */
void study_output_text(const struct study_folder *folder, const struct study_result *result,
                       const struct hm_study *study, const char *advice, const char *report,
                       const struct hm_style *style, struct hm_text *out);
void study_output_json(const struct study_folder *folder, const struct study_result *result,
                       const struct hm_study *study, const char *advice, const char *report,
                       struct hm_text *out);

#endif
