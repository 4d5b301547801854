/*
 * Limits a request by a budget: how long it may run, how much memory it may use, and whether its
 * result is still wanted.
 *
 * A thread that runs a request enters a budget. The readers and engines that it calls check the
 * budget in every loop whose length depends on the input. Once the budget is spent, all checks
 * report it, all further allocations of the thread fail, and loops end early. Results that were
 * computed after that moment are meaningless; the function that entered the budget discards them
 * and returns the error of hm__budget_result instead.
 *
 * The budget of a thread is thread-local, because allocations and most loops have no parameter that
 * could carry it. Without a budget, a check costs one comparison.
 */
#ifndef HM_BUDGET_H
#define HM_BUDGET_H

#include "howmany.h"

enum hm_budget_cause {
    HM_BUDGET_LEFT,      /* The budget is not spent. */
    HM_BUDGET_TIME,      /* The request ran longer than its time limit. */
    HM_BUDGET_MEMORY,    /* The request needed more memory than its limit. */
    HM_BUDGET_CANCELLED, /* The caller no longer wants the result. */
};

/*
 * The kinds of elementary steps in which engines estimate and count their work: name, what a step
 * is (in the plural), and the shortest time of a step in seconds, which admit.h uses. The times
 * were measured on 2026-11-18 with gcc -O1 on a busy AMD EPYC and rounded down.
 */
#define HM_STEP_MAP(X)                                                                             \
    X(SPLIT, "assignments of vertices and edges", 8e-9)                                            \
    X(METIS, "assignments by METIS", 25e-9)                                                        \
    X(COMPARE, "comparisons of workers", 4e-9)                                                     \
    X(DRAW, "draws of slow workers", 2e-9)                                                         \
    X(PLACE, "pairs of layers to place", 20e-9)                                                    \
    X(TRACE, "fits to a trace", 0.3e-3)                                                            \
    X(ROW, "rows of small fits", 20e-9)                                                            \
    X(NEWTON, "terms of Newton steps", 0.2e-9)

enum hm_step {
#define HM_STEP_ENUM(name, text, seconds) HM_STEP_##name,
    HM_STEP_MAP(HM_STEP_ENUM)
#undef HM_STEP_ENUM
        HM_STEPS /* Number of kinds. */
};

struct hm_budget {
    double seconds; /* Time limit in seconds; 0 for no limit. */
    size_t bytes;   /* Memory limit in bytes; 0 for no limit. */
    /*
     * Function that returns true if the result is no longer wanted; may be NULL. The thread that
     * runs the request calls it at most once per HM_BUDGET_ASK_S.
     */
    bool (*cancelled)(void *data);
    void *data;

    /*
     * For tests: the budget is spent at the check with this number, counted from 1; 0 means never.
     */
    long checks;

    /* The functions below set the following fields. */
    /* Times (in seconds) at which the budget ends and at which `cancelled` is called next. */
    double end_s, ask_s;
    long long used;             /* Bytes allocated by this thread since the budget was entered. */
    enum hm_budget_cause cause; /* Reason why the budget is spent. */
    bool missed;                /* True if the machine had no memory for an allocation. */
    /*
     * Name of the input field that determined the length of the loop in which the budget was spent;
     * NULL if it is not known.
     */
    const char *field;
    const char *last; /* Field that was named at the last check; NULL if there was none. */
    /* For each kind of step, the number that was estimated before the work started (admit.h), and
     * the number that the engines have counted. */
    double estimated[HM_STEPS], counted[HM_STEPS];
    struct hm_budget *outer; /* Budget that was in force when this one was entered; NULL if there
                                was none. */
};

#define HM_BUDGET_ASK_S 0.02

/*
 * Puts a budget in force for this thread, until hm__budget_leave is called with the same budget. If
 * another budget is already in force, it stays in force and the new one is ignored.
 */
void hm__budget_enter(struct hm_budget *budget);
void hm__budget_leave(struct hm_budget *budget);

/*
 * Returns whether the budget of this thread is spent. `field` names the input field on which the
 * length of the caller's loop depends; the error names the field of the first check that finds the
 * budget spent. NULL means the field that was named last.
 */
bool hm__budget_spent(const char *field);
/* Same as hm__budget_spent, for a loop of short steps: checks the budget in every 65,536th pass. */
static inline bool hm__budget_pass(size_t pass, const char *field)
{
    return pass % 65536 == 65535 && hm__budget_spent(field);
}
/* Same as hm__budget_spent, but returns 0 or an error code. */
int hm__budget_check(const char *field, struct hm_err *err);
/*
 * Names the field on which the following work depends, until the next check. It is used for work
 * that allocates memory before its first check.
 */
void hm__budget_about(const char *field);
/*
 * Returns rc, or the error that describes how the budget of this thread was spent. An error that
 * err already holds is replaced, since it is a consequence of the spent budget. If an allocation
 * failed, the result is HM_E_NOMEM, because part of the answer may be missing, or another error may
 * be a consequence of the failed allocation.
 */
int hm__budget_result(int rc, struct hm_err *err);

/* Returns the time in seconds on the clock of budgets, which is never set back. */
double hm__budget_now(void);
/* Returns the budget that is in force for this thread; NULL if there is none. */
struct hm_budget *hm__budget_current(void);
/* Counts steps that an engine has made, for tests of the estimates. */
void hm__budget_steps(enum hm_step step, double count);

/*
 * Functions for the allocator. hm__budget_admits checks the budget and returns whether `bytes` more
 * may be allocated; hm__budget_count counts bytes that were allocated or, if the number is
 * negative, freed.
 */
bool hm__budget_admits(size_t bytes);
void hm__budget_count(long long bytes);
/* Records that an allocation failed because the machine had no memory. */
void hm__budget_miss(void);

#endif
