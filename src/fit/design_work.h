/* Declares the state of a design while it is computed, and functions that its files share. */
#ifndef HM_DESIGN_WORK_H
#define HM_DESIGN_WORK_H

#include "design_within.h"
#include "fit.h"
#include "programme.h"

struct design_work {
    const struct hm_runs *candidates;
    const struct hm_design_settings *settings;
    struct hm_step_table *table; /* Times of the job's steps, borrowed; NULL if not known yet. */
    struct hm_design *design;
    struct hm_basis basis;
    /*
     * The fit that predicts the time of the job, corrected by the measured runs; NULL without a
     * job.
     */
    struct hm_fit *fit;
    size_t *rows; /* For each allowed candidate, its row in the table `candidates`. */
    size_t count;
    double *features; /* features[j * terms + k] is term k of candidate j. */
    /* Cost and predicted time in seconds of each candidate; the time is NaN without a job. */
    double *cost, *seconds;
    double *shares;
    double scale[HM_TERMS_MAX];
    double noise;    /* Relative noise of a run; used only with a job. */
    double size_min; /* Smallest size of the candidates; NaN if they have no size. */
    struct hm_programme programme;
    /* The measured runs and the runs to execute; used only with a job. */
    struct hm_design_rows runs;
};

/* Returns the list of the notes of a design. */
struct hm_notes hm__design_notes(struct hm_design *d);
/* Returns the values of a column; NULL if the table has no such column of numbers. */
const double *hm__design_values(const struct hm_runs *runs, const char *name);
/* Returns the node-seconds of a run of `seconds` seconds on n workers. */
double hm__design_node_seconds(const struct design_work *w, double n, double seconds);
/*
 * Adds a run, measured or to be executed, to the rows of the least-squares problem that a later fit
 * will solve; f holds the scaled terms of the run.
 */
void hm__design_add_run(struct design_work *w, const double *f);
/* Chooses the runs to execute from the shares of the candidates, and fills in the design. */
int hm__design_choose_runs(struct design_work *w, struct hm_err *err);

#endif
