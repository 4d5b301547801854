/* A study file: the training problem, the algorithms, the numbers of workers and the limits. */
#ifndef HM_STUDY_SPEC_H
#define HM_STUDY_SPEC_H

#include "howmany_advise.h"

enum { HM_STUDY_ALGORITHMS = 16, HM_STUDY_M = 64, HM_STUDY_M_MOST = 100000 };

/* An option of training runs, as written in the file. It is checked by the program that runs them.
 */
struct hm_study_option {
    const char *key;    /* Name of the option. */
    const char *value;  /* NULL: a switch that is on. */
    const char *source; /* File and line, for errors. */
    int line;
};

struct hm_study_options {
    struct hm_study_option *all;
    size_t count;
};

struct hm_study_algorithm {
    const char *name;
    struct hm_study_options options; /* For this algorithm only. */
    const char *source;
    int line;
};

struct hm_study_spec {
    const char *source;            /* Name of the file. */
    const char *title;             /* NULL: none. */
    struct hm_study_options train; /* For every run. */
    struct hm_study_algorithm *algorithms;
    size_t algorithm_count;
    double *m; /* Numbers of workers to choose from, strictly increasing. */
    size_t m_count;
    const char *simulate; /* A cluster file or a machine; NULL: real ranks. */
    const char *launcher; /* Command that starts real ranks; NULL: the default. */
    double loss;          /* P - P* to reach, above 0. */
    double best;          /* P*; NaN: the study finds it. */
    double iterations;    /* Most iterations of one run. */
    double budget_s;      /* Seconds of all runs together, by the clock of their traces. */
    double seeds;         /* Runs of each configuration. */
    double price_per_s;   /* Of one worker; NaN: unknown. */
    enum hm_goal goal;    /* HM_GOAL_TIME or HM_GOAL_COST. */
    void *memory;         /* Owns everything above. */
};

int hm__study_spec_parse(const char *text, size_t length, const char *source,
                         const struct hm_override *overrides, size_t count,
                         struct hm_study_spec **ret_spec, struct hm_err *err);
void hm__study_spec_free(struct hm_study_spec *spec);

#endif
