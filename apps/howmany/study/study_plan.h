/*
 * Chooses the next run of a study. The choice depends only on the runs that exist, so that an
 * interrupted study continues as if it had not been interrupted.
 */
#ifndef HM_STUDY_PLAN_H
#define HM_STUDY_PLAN_H

#include "study.h"

/* A run of a study: an algorithm on a number of workers m with a seed. */
struct study_run {
    size_t algorithm,
        m;       /* Indices of the algorithm and the number of workers in the lists of the study. */
    double seed; /* Seed of the run, counted from 1. */
};

enum study_run_state { STUDY_MISSING, STUDY_COMPLETE, STUDY_FAILED };

/* The result of one run of a study. */
struct study_entry {
    enum study_run_state state;
    /*
     * Number of iterations, time in seconds and objective at the end of the run; 0 if the run has
     * no trace.
     */
    double iterations, time_s, objective;
};

/* All runs that a study may execute, with their results. */
struct study_table {
    const struct hm_study_spec *spec; /* Description of the study; borrowed. */
    /* Array of results, ordered by algorithm, number of workers and seed; owned. */
    struct study_entry *entries;
    /* Time in seconds of the run that found P*, the lowest possible objective. */
    double reference_s;
};

int study_table_init(struct study_table *table, const struct hm_study_spec *spec,
                     struct hm_err *err);
void study_table_release(struct study_table *table);
struct study_entry *study_table_at(const struct study_table *table, const struct study_run *run);
/* Returns the total time of all runs in seconds, including the reference run and the runs that
 * diverged. */
double study_table_spent(const struct study_table *table);
/* Returns the number of complete runs. */
size_t study_table_count(const struct study_table *table);
/*
 * Sets *ret_run to the run at position `number` in a fixed order: first the initial runs, then all
 * other runs. Returns false after the last run.
 */
bool study_table_each(const struct study_table *table, size_t number, struct study_run *ret_run);
/* Returns whether a run is one of the initial runs. */
bool study_is_initial(const struct hm_study_spec *spec, const struct study_run *run);

/* The decision about the next run. */
enum study_verdict {
    STUDY_GO,      /* The study continues: execute the chosen run. */
    STUDY_FITS,    /* The initial runs are complete; the fit decides about the next run. */
    STUDY_BUDGET,  /* The study stops, because the budget is spent. */
    STUDY_ENOUGH,  /* The study stops, because no further run is expected to help. */
    STUDY_REPEATS, /* The study stops, because only runs with more seeds would help. */
    STUDY_ALL      /* The study stops, because all runs have been executed. */
};

/* Returns the reason why the study stops, such as "the budget has no room for another run". */
const char *study_verdict_text(enum study_verdict verdict);
/* Chooses the next initial run. Returns STUDY_FITS if all initial runs have been executed. */
enum study_verdict study_plan_first(const struct study_table *table, struct study_run *ret_run);
/* Chooses the next run after the initial runs, according to the advice. */
enum study_verdict study_plan_more(const struct study_table *table, const struct hm_advice *advice,
                                   struct study_run *ret_run);
/* Chooses the next run if the runs so far cannot be fitted: the first missing run. */
enum study_verdict study_plan_any(const struct study_table *table, struct study_run *ret_run);

/* Returns the candidate of the advice with rank `rank` (0 for the best) among the candidates that
 * are expected to reach the target loss and have no failed runs; NULL if there is none. */
const struct hm_candidate *study_plan_check(const struct study_table *table,
                                            const struct hm_advice *advice, size_t number);
/* Finds the first run of an algorithm on m workers. Returns false if the study has no such run. */
bool study_plan_find(const struct hm_study_spec *spec, const char *algorithm, double m,
                     struct study_run *ret_run);

/* Returns the index of the first point of a trace whose loss is at most `loss`; the number of
 * points if there is none. */
size_t study_reached(const struct hm_trace *trace, double loss);

#endif
