/* What `howmany study` is to find out: the problem, the algorithms, the workers and the limits. */
#ifndef HM_STUDY_SPEC_H
#define HM_STUDY_SPEC_H

#include "howmany_advise.h"

enum { HM_STUDY_ALGORITHMS = 16, HM_STUDY_M = 64, HM_STUDY_M_MOST = 100000 };

/* An option of `howmany train`, as the file has it. Whether there is such a one is not known here.
 */
struct hm_study_option {
    const char *key;    /* the long name, without the dashes */
    const char *value;  /* NULL: a switch */
    const char *source; /* where it stands */
    int line;
};

struct hm_study_options {
    struct hm_study_option *all;
    size_t count;
};

struct hm_study_algorithm {
    const char *name;
    struct hm_study_options options; /* of this algorithm alone */
    const char *source;
    int line;
};

struct hm_study_spec {
    const char *source;            /* the file */
    const char *title;             /* NULL: none */
    struct hm_study_options train; /* of every run */
    struct hm_study_algorithm *algorithms;
    size_t algorithm_count;
    double *m; /* workers to choose from, ascending, each once */
    size_t m_count;
    const char *simulate; /* a cluster file or a machine; NULL: real ranks */
    const char *launcher; /* of real ranks; NULL: our choice */
    double loss;          /* P - P* to reach */
    double best;          /* P*; NaN: to be found */
    double iterations;    /* that a run may take */
    double budget_s;      /* of all runs together, as their traces count it */
    double seeds;         /* runs of each configuration */
    double price_per_s;   /* of one worker; negative: unknown */
    enum hm_goal goal;    /* HM_GOAL_TIME or HM_GOAL_COST. */
    void *memory;         /* owns everything above */
};

int hm__study_spec_parse(const char *text, size_t length, const char *source,
                         const struct hm_override *overrides, size_t count,
                         struct hm_study_spec **ret_spec, struct hm_err *err);
void hm__study_spec_free(struct hm_study_spec *spec);

#endif
