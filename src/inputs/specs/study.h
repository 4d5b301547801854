/*
 * Represents a study file: the training problem, the algorithms, the numbers of workers and the
 * limits.
 */
#ifndef HM_STUDY_SPEC_H
#define HM_STUDY_SPEC_H

#include "howmany_advise.h"

enum { HM_STUDY_ALGORITHMS = 16, HM_STUDY_M = 64, HM_STUDY_M_MOST = 100000 };

/* An option of training runs, as written in the file. The program that starts the runs checks
 * it. */
struct hm_study_option {
    const char *key;    /* Name of the option. */
    const char *value;  /* Value of the option; NULL for a switch that is on. */
    const char *source; /* File that contains the option, used in error messages. */
    int line;
};

struct hm_study_options {
    struct hm_study_option *all;
    size_t count;
};

struct hm_study_algorithm {
    const char *name;
    struct hm_study_options options; /* Options for runs of this algorithm only. */
    const char *source;
    int line;
};

struct hm_study_spec {
    const char *source;            /* Name of the study file. */
    const char *title;             /* Title of the study; NULL if there is none. */
    struct hm_study_options train; /* Options for every run. */
    struct hm_study_algorithm *algorithms;
    size_t algorithm_count;
    double *m; /* Numbers of workers to choose from, strictly increasing. */
    size_t m_count;
    const char *simulate; /* Cluster file or machine to simulate; NULL to start real ranks. */
    const char *launcher; /* Command that starts real ranks; NULL means the default command. */
    double loss;          /* Target for P - P*, the loss above the optimum P*; positive. */
    double best;          /* Optimal loss P*; NaN if the study must find it. */
    double iterations;    /* Largest number of iterations of one run. */
    double budget_s; /* Largest total time of all runs in seconds, as recorded in their traces. */
    double seeds;    /* Number of seeds, that is, number of runs of each configuration. */
    double price_per_s; /* Price of one worker per second; NaN if unknown. */
    enum hm_goal goal;  /* Quantity to minimise: HM_GOAL_TIME or HM_GOAL_COST. */
    void *memory;       /* Owns all members above. */
};

int hm__study_spec_parse(const char *text, size_t length, const char *source,
                         const struct hm_override *overrides, size_t count,
                         struct hm_study_spec **ret_spec, struct hm_err *err);
void hm__study_spec_free(struct hm_study_spec *spec);

#endif
