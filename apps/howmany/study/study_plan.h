/*
 * What a study does next. Decisions are functions of the runs there are and of nothing else, so
 * that a study that is interrupted goes on as if it had not been.
 */
#ifndef HM_STUDY_PLAN_H
#define HM_STUDY_PLAN_H

#include "study.h"

/* A run of the study: places in its lists, and the seed. */
struct study_run {
    size_t algorithm, m;
    double seed; /* 1.. */
};

enum study_state { STUDY_MISSING, STUDY_WHOLE, STUDY_FAILED };

/* What is known of a run. */
struct study_entry {
    enum study_state state;
    double iterations, time_s, objective; /* at its end; 0 where there is no trace */
};

/* All runs that may be made, and what came of them. */
struct study_table {
    const struct hm_study_spec *spec; /* borrowed */
    struct study_entry *entries;      /* owned; by algorithm, m and seed */
    double reference_s;               /* what finding P* took */
};

int study_table_init(struct study_table *table, const struct hm_study_spec *spec,
                     struct hm_err *err);
void study_table_release(struct study_table *table);
struct study_entry *study_table_at(const struct study_table *table, const struct study_run *run);
/* Time of all runs, the reference and those that diverged among them. */
double study_table_spent(const struct study_table *table);
/* Runs that are whole. */
size_t study_table_count(const struct study_table *table);
/* Each run in a fixed order: those of the first look, then the others. False after the last. */
bool study_table_each(const struct study_table *table, size_t number, struct study_run *ret_run);
/* Whether a run is of the first look. */
bool study_is_first(const struct hm_study_spec *spec, const struct study_run *run);

/* Why a study makes no further run; STUDY_GO: it makes one. */
enum study_verdict { STUDY_GO, STUDY_FITS, STUDY_BUDGET, STUDY_ENOUGH, STUDY_REPEATS, STUDY_ALL };

/* "the budget is spent" and so on. */
const char *study_verdict_text(enum study_verdict verdict);
/* The next run of the first look; STUDY_FITS: it is done. */
enum study_verdict study_plan_first(const struct study_table *table, struct study_run *ret_run);
/* The next run after it, as the advice has it. */
enum study_verdict study_plan_more(const struct study_table *table, const struct hm_advice *advice,
                                   struct study_run *ret_run);
/* The next run where nothing could be fitted: any that has not been made. */
enum study_verdict study_plan_any(const struct study_table *table, struct study_run *ret_run);

/* The best candidate of the advice that has not failed, and the one after it; NULL: none. */
const struct hm_candidate *study_plan_check(const struct study_table *table,
                                            const struct hm_advice *advice, size_t number);
/* The run of an algorithm on m workers; false when the study does not have it. */
bool study_plan_find(const struct hm_study_spec *spec, const char *algorithm, double m,
                     struct study_run *ret_run);

/* The first point of a trace whose loss is at most that; its count when there is none. */
size_t study_reached(const struct hm_trace *trace, double loss);

#endif
