/*
 * Chooses the runs of a study.
 *
 * The initial runs execute each algorithm on a middle number of workers m (in terms of ln m), on
 * the largest number and on the smallest number. The middle number comes first for all algorithms,
 * because it is seldom the most expensive, and even with a small budget each algorithm then has one
 * run. After that, the advice names the run that helps most, until the budget is spent. No run
 * begins after the budget is spent, so at most one run exceeds the budget.
 */
#include "study_plan.h"

#include <math.h>
#include <string.h>

#include "err.h"
#include "memory.h"

enum { INITIAL_M = 3 }; /* Largest number of different numbers of workers in the initial runs. */

int study_table_init(struct study_table *table, const struct hm_study_spec *spec,
                     struct hm_err *err)
{
    size_t places = spec->algorithm_count * spec->m_count;

    *table = (struct study_table){.spec = spec};
    table->entries = hm__calloc(places * (size_t)spec->seeds, sizeof(*table->entries));
    return table->entries ? 0 : hm__fail_nomem(err);
}

void study_table_release(struct study_table *table)
{
    hm__free(table->entries);
    table->entries = NULL;
}

struct study_entry *study_table_at(const struct study_table *table, const struct study_run *run)
{
    size_t place = run->algorithm * table->spec->m_count + run->m;
    return &table->entries[place * (size_t)table->spec->seeds + (size_t)run->seed - 1];
}

/* ---- the initial runs ----------------------------------------------------------------------- */

/*
 * Finds the numbers of workers m of the initial runs, as indices in the study's list: the number
 * nearest to the middle of ln m, the last and the first. Returns the number of different indices.
 */
static size_t initial_m(const struct hm_study_spec *spec, size_t places[INITIAL_M])
{
    double middle = 0.5 * (log(spec->m[0]) + log(spec->m[spec->m_count - 1]));
    size_t nearest = 0, count = 0;

    for (size_t i = 1; i < spec->m_count; i++)
        if (fabs(log(spec->m[i]) - middle) < fabs(log(spec->m[nearest]) - middle))
            nearest = i;
    const size_t wanted[INITIAL_M] = {nearest, spec->m_count - 1, 0};
    for (size_t i = 0; i < INITIAL_M; i++) {
        bool twice = false;
        for (size_t k = 0; k < count; k++)
            twice = twice || places[k] == wanted[i];
        if (!twice)
            places[count++] = wanted[i];
    }
    return count;
}

bool study_is_initial(const struct hm_study_spec *spec, const struct study_run *run)
{
    size_t places[INITIAL_M], count = initial_m(spec, places);

    for (size_t i = 0; i < count; i++)
        if (places[i] == run->m)
            return true;
    return false;
}

/*
 * Finds a run by its position in the list of all runs whose number of workers has one of the
 * indices in `places`. Returns false if the position `number` is too large.
 */
static bool run_by_number(const struct hm_study_spec *spec, const size_t *places, size_t count,
                          size_t number, struct study_run *ret_run)
{
    size_t seeds = (size_t)spec->seeds, row = spec->algorithm_count * seeds;

    if (number >= count * row)
        return false;
    *ret_run = (struct study_run){.m = places[number / row],
                                  .algorithm = number % row / seeds,
                                  .seed = (double)(number % seeds) + 1};
    return true;
}

bool study_table_each(const struct study_table *table, size_t number, struct study_run *ret_run)
{
    const struct hm_study_spec *spec = table->spec;
    size_t places[INITIAL_M], others[HM_STUDY_M], count = initial_m(spec, places), rest = 0;

    for (size_t i = 0; i < spec->m_count; i++)
        if (!study_is_initial(spec, &(struct study_run){.m = i}))
            others[rest++] = i;
    size_t first = count * spec->algorithm_count * (size_t)spec->seeds;
    if (number < first)
        return run_by_number(spec, places, count, number, ret_run);
    return run_by_number(spec, others, rest, number - first, ret_run);
}

/* ---- results -------------------------------------------------------------------------------- */

double study_table_spent(const struct study_table *table)
{
    double spent = table->reference_s;
    struct study_run run;

    for (size_t i = 0; study_table_each(table, i, &run); i++)
        spent += study_table_at(table, &run)->time_s;
    return spent;
}

size_t study_table_count(const struct study_table *table)
{
    struct study_run run;
    size_t count = 0;

    for (size_t i = 0; study_table_each(table, i, &run); i++)
        count += study_table_at(table, &run)->state == STUDY_COMPLETE;
    return count;
}

/* Returns whether any run of the configuration failed. */
static bool configuration_failed(const struct study_table *table, struct study_run run)
{
    for (run.seed = 1; run.seed <= table->spec->seeds; run.seed++)
        if (study_table_at(table, &run)->state == STUDY_FAILED)
            return true;
    return false;
}

/*
 * Sets run->seed to the first seed without a run in its configuration. Returns false if there is no
 * such seed or a run of the configuration failed.
 */
static bool find_missing_seed(const struct study_table *table, struct study_run *run)
{
    if (configuration_failed(table, *run))
        return false;
    for (run->seed = 1; run->seed <= table->spec->seeds; run->seed++)
        if (study_table_at(table, run)->state == STUDY_MISSING)
            return true;
    return false;
}

bool study_plan_find(const struct hm_study_spec *spec, const char *algorithm, double m,
                     struct study_run *ret_run)
{
    for (size_t a = 0; a < spec->algorithm_count; a++)
        for (size_t i = 0; i < spec->m_count; i++)
            if (spec->m[i] == m && strcmp(spec->algorithms[a].name, algorithm) == 0) {
                *ret_run = (struct study_run){.algorithm = a, .m = i, .seed = 1};
                return true;
            }
    return false;
}

/* ---- the next run --------------------------------------------------------------------------- */

const char *study_verdict_text(enum study_verdict verdict)
{
    switch (verdict) {
    case STUDY_BUDGET:
        return "the budget has no room for another run";
    case STUDY_ENOUGH:
        return "no further run is expected to help";
    case STUDY_REPEATS:
        return "only more seeds of runs that were made would help";
    case STUDY_ALL:
        return "all runs of the study were made";
    case STUDY_GO:
    case STUDY_FITS:
        break;
    }
    return "";
}

static double budget_left_s(const struct study_table *table)
{
    return table->spec->budget_s - study_table_spent(table);
}

/* Finds the first missing run, among the initial runs or among all runs. */
static bool find_missing_run(const struct study_table *table, bool only_initial,
                             struct study_run *ret_run)
{
    struct study_run run;

    for (size_t i = 0; study_table_each(table, i, &run); i++) {
        if (only_initial && !study_is_initial(table->spec, &run))
            return false;
        if (study_table_at(table, &run)->state == STUDY_MISSING &&
            !configuration_failed(table, run)) {
            *ret_run = run;
            return true;
        }
    }
    return false;
}

enum study_verdict study_plan_first(const struct study_table *table, struct study_run *ret_run)
{
    if (!find_missing_run(table, true, ret_run))
        return STUDY_FITS;
    return budget_left_s(table) > 0 ? STUDY_GO : STUDY_BUDGET;
}

enum study_verdict study_plan_any(const struct study_table *table, struct study_run *ret_run)
{
    if (!find_missing_run(table, false, ret_run))
        return STUDY_ALL;
    return budget_left_s(table) > 0 ? STUDY_GO : STUDY_BUDGET;
}

/* Returns whether a candidate (an algorithm on a number of workers) is expected to reach the target
 * loss; if not, a run of this candidate would be of little use. */
static bool candidate_arrives(const struct hm_candidate *candidate)
{
    return candidate->why != HM_WHY_NEVER && isfinite(candidate->time_s);
}

/*
 * Finds the best candidate (an algorithm on a number of workers) that has a missing run, and the
 * expected time of the run. A candidate is skipped if its probability of being the best is 0 or if
 * it is not expected to reach the target loss. Returns STUDY_ALL if no candidate has a missing run,
 * and STUDY_REPEATS if only skipped candidates have missing runs.
 */
static enum study_verdict find_best_missing(const struct study_table *table,
                                            const struct hm_advice *advice,
                                            struct study_run *ret_run, double *ret_s)
{
    enum study_verdict verdict = STUDY_ALL;

    for (size_t i = 0; i < advice->candidate_count; i++) {
        const struct hm_candidate *c = &advice->candidates[i];
        if (!study_plan_find(table->spec, c->algorithm, c->m, ret_run) ||
            !find_missing_seed(table, ret_run))
            continue;
        verdict = STUDY_REPEATS;
        if (candidate_arrives(c) && !(c->probability <= 0)) {
            *ret_s = c->time_s;
            return STUDY_GO;
        }
    }
    return verdict;
}

enum study_verdict study_plan_more(const struct study_table *table, const struct hm_advice *advice,
                                   struct study_run *ret_run)
{
    const struct hm_next_run *next = &advice->next;
    double left = budget_left_s(table), takes = next->time_s;

    if (left <= 0)
        return STUDY_BUDGET;
    if (!next->algorithm)
        return STUDY_ENOUGH;
    if (!study_plan_find(table->spec, next->algorithm, next->m, ret_run) ||
        !find_missing_seed(table, ret_run)) {
        enum study_verdict verdict = find_best_missing(table, advice, ret_run, &takes);
        if (verdict != STUDY_GO)
            return verdict;
    }
    /* If the time of the run is unknown (NaN), the comparison is false and the run is executed. */
    return takes > left ? STUDY_BUDGET : STUDY_GO;
}

const struct hm_candidate *study_plan_check(const struct study_table *table,
                                            const struct hm_advice *advice, size_t number)
{
    struct study_run run;

    for (size_t i = 0; i < advice->candidate_count; i++) {
        const struct hm_candidate *c = &advice->candidates[i];
        if (candidate_arrives(c) && study_plan_find(table->spec, c->algorithm, c->m, &run) &&
            !configuration_failed(table, run) && number-- == 0)
            return c;
    }
    return NULL;
}

size_t study_reached(const struct hm_trace *trace, double loss)
{
    size_t i = 0;

    while (i < trace->count && !(trace->loss[i] <= loss))
        i++;
    return i;
}
