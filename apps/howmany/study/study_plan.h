/*
 * Choosing the next run of a study. The choice depends only on the runs that exist, so that an
 * interrupted study continues as if it had not been interrupted.
 */
#ifndef HM_STUDY_PLAN_H
#define HM_STUDY_PLAN_H

#include "study.h"

/* A run of the study. */
struct study_run {
    size_t algorithm, m; /* Indices in the study's lists of algorithms and numbers of workers. */
    double seed;         /* From 1 on. */
};

enum study_run_state { STUDY_MISSING, STUDY_COMPLETE, STUDY_FAILED };

/* The result of a run. */
struct study_entry {
    enum study_run_state state;
    double iterations, time_s, objective; /* Values at its end; 0 without a trace. */
};

/* All runs that a study may make, with their results. */
struct study_table {
    const struct hm_study_spec *spec; /* Borrowed. */
    struct study_entry *entries;      /* Owned; ordered by algorithm, m and seed. */
    double reference_s;               /* Time of the run that found P*. */
};

int study_table_init(struct study_table *table, const struct hm_study_spec *spec,
                     struct hm_err *err);
void study_table_release(struct study_table *table);
struct study_entry *study_table_at(const struct study_table *table, const struct study_run *run);
/* Seconds of all runs, including the reference and the runs that diverged. */
double study_table_spent(const struct study_table *table);
/* The number of complete runs. */
size_t study_table_count(const struct study_table *table);
/* The number-th run in a fixed order: the initial runs, then the others. False after the last. */
bool study_table_each(const struct study_table *table, size_t number, struct study_run *ret_run);
/* Whether a run is one of the initial runs. */
bool study_is_initial(const struct hm_study_spec *spec, const struct study_run *run);

/* The decision about the next run. */
enum study_verdict {
    STUDY_GO,      /* Make the run. */
    STUDY_FITS,    /* The initial runs are done; the fit decides. */
    STUDY_BUDGET,  /* Stop: the budget is spent. */
    STUDY_ENOUGH,  /* Stop: no further run is expected to help. */
    STUDY_REPEATS, /* Stop: only more seeds would help. */
    STUDY_ALL      /* Stop: all runs were made. */
};

/* The reason of a verdict that stops: "the budget has no room for another run". */
const char *study_verdict_text(enum study_verdict verdict);
/* The next initial run; STUDY_FITS: all were made. */
enum study_verdict study_plan_first(const struct study_table *table, struct study_run *ret_run);
/* The next run after the initial ones, according to the advice. */
enum study_verdict study_plan_more(const struct study_table *table, const struct hm_advice *advice,
                                   struct study_run *ret_run);
/* The next run when the runs cannot be fitted: the first that is missing. */
enum study_verdict study_plan_any(const struct study_table *table, struct study_run *ret_run);

/* The number-th best candidate of the advice whose runs have not failed; NULL: none. */
const struct hm_candidate *study_plan_check(const struct study_table *table,
                                            const struct hm_advice *advice, size_t number);
/* The run of an algorithm on m workers; false when it is not part of the study. */
bool study_plan_find(const struct hm_study_spec *spec, const char *algorithm, double m,
                     struct study_run *ret_run);

/* Index of the first point of a trace with at most this loss; the number of points if none has. */
size_t study_reached(const struct hm_trace *trace, double loss);

#endif
