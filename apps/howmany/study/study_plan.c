/*
 * Choosing the runs of a study.
 *
 * First look: each algorithm on a middling number of workers (in ln m), on the most and on the
 * least. The middle comes first for all: it is seldom the dearest, and if the budget is small each
 * algorithm has been seen. Then whatever the advice says would help most, while the budget lasts.
 * A run is not begun when the budget is spent, so at most one goes beyond it.
 */
#include "study_plan.h"

#include <math.h>
#include <string.h>

#include "err.h"
#include "memory.h"

enum { LOOKS = 3 };

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

/* ---- the first look ------------------------------------------------------------------------- */

/* Places in the list of m: the one nearest to the middle in ln m, the last, the first. */
static size_t look_at(const struct hm_study_spec *spec, size_t places[LOOKS])
{
    double middle = 0.5 * (log(spec->m[0]) + log(spec->m[spec->m_count - 1]));
    size_t nearest = 0, count = 0;

    for (size_t i = 1; i < spec->m_count; i++)
        if (fabs(log(spec->m[i]) - middle) < fabs(log(spec->m[nearest]) - middle))
            nearest = i;
    const size_t wanted[LOOKS] = {nearest, spec->m_count - 1, 0};
    for (size_t i = 0; i < LOOKS; i++) {
        bool twice = false;
        for (size_t k = 0; k < count; k++)
            twice = twice || places[k] == wanted[i];
        if (!twice)
            places[count++] = wanted[i];
    }
    return count;
}

bool study_is_first(const struct hm_study_spec *spec, const struct study_run *run)
{
    size_t places[LOOKS], count = look_at(spec, places);

    for (size_t i = 0; i < count; i++)
        if (places[i] == run->m)
            return true;
    return false;
}

/* The number-th run of the places of m that are given; false after the last. */
static bool run_of(const struct hm_study_spec *spec, const size_t *places, size_t count,
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
    size_t places[LOOKS], others[HM_STUDY_M], count = look_at(spec, places), rest = 0;

    for (size_t i = 0; i < spec->m_count; i++)
        if (!study_is_first(spec, &(struct study_run){.m = i}))
            others[rest++] = i;
    size_t first = count * spec->algorithm_count * (size_t)spec->seeds;
    if (number < first)
        return run_of(spec, places, count, number, ret_run);
    return run_of(spec, others, rest, number - first, ret_run);
}

/* ---- what there is -------------------------------------------------------------------------- */

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
        count += study_table_at(table, &run)->state == STUDY_WHOLE;
    return count;
}

/* Whether a run of the configuration has failed, whatever its seed. */
static bool has_failed(const struct study_table *table, struct study_run run)
{
    for (run.seed = 1; run.seed <= table->spec->seeds; run.seed++)
        if (study_table_at(table, &run)->state == STUDY_FAILED)
            return true;
    return false;
}

/* The first seed of the configuration that is missing; false: there is none, or it has failed. */
static bool find_missing(const struct study_table *table, struct study_run *run)
{
    if (has_failed(table, *run))
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

/* ---- what next ------------------------------------------------------------------------------ */

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
        return "every run there is was made";
    case STUDY_GO:
    case STUDY_FITS:
        break;
    }
    return "";
}

static double left_s(const struct study_table *table)
{
    return table->spec->budget_s - study_table_spent(table);
}

/* The first run that is missing: of the first look, or of all. */
static bool first_missing(const struct study_table *table, bool first_look,
                          struct study_run *ret_run)
{
    struct study_run run;

    for (size_t i = 0; study_table_each(table, i, &run); i++) {
        if (first_look && !study_is_first(table->spec, &run))
            return false;
        if (study_table_at(table, &run)->state == STUDY_MISSING && !has_failed(table, run)) {
            *ret_run = run;
            return true;
        }
    }
    return false;
}

enum study_verdict study_plan_first(const struct study_table *table, struct study_run *ret_run)
{
    if (!first_missing(table, true, ret_run))
        return STUDY_FITS;
    return left_s(table) > 0 ? STUDY_GO : STUDY_BUDGET;
}

enum study_verdict study_plan_any(const struct study_table *table, struct study_run *ret_run)
{
    if (!first_missing(table, false, ret_run))
        return STUDY_ALL;
    return left_s(table) > 0 ? STUDY_GO : STUDY_BUDGET;
}

/* A candidate that is not expected to arrive tells little for all its iterations. */
static bool arrives(const struct hm_candidate *candidate)
{
    return candidate->why != HM_WHY_NEVER && isfinite(candidate->time_s);
}

/*
 * The best candidate of which a run is missing, and its time. One that cannot be the best, as far
 * as can be told, is not worth a run. STUDY_ALL: none is missing; STUDY_REPEATS: none that could
 * be.
 */
static enum study_verdict best_missing(const struct study_table *table,
                                       const struct hm_advice *advice, struct study_run *ret_run,
                                       double *ret_s)
{
    enum study_verdict verdict = STUDY_ALL;

    for (size_t i = 0; i < advice->candidate_count; i++) {
        const struct hm_candidate *c = &advice->candidates[i];
        if (!study_plan_find(table->spec, c->algorithm, c->m, ret_run) ||
            !find_missing(table, ret_run))
            continue;
        verdict = STUDY_REPEATS;
        if (arrives(c) && !(c->probability <= 0)) {
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
    double left = left_s(table), takes = next->time_s;

    if (left <= 0)
        return STUDY_BUDGET;
    if (!next->algorithm)
        return STUDY_ENOUGH;
    if (!study_plan_find(table->spec, next->algorithm, next->m, ret_run) ||
        !find_missing(table, ret_run)) {
        enum study_verdict verdict = best_missing(table, advice, ret_run, &takes);
        if (verdict != STUDY_GO)
            return verdict;
    }
    return takes > left ? STUDY_BUDGET : STUDY_GO; /* a time that is not known may be short */
}

const struct hm_candidate *study_plan_check(const struct study_table *table,
                                            const struct hm_advice *advice, size_t number)
{
    struct study_run run;

    for (size_t i = 0; i < advice->candidate_count; i++) {
        const struct hm_candidate *c = &advice->candidates[i];
        if (arrives(c) && study_plan_find(table->spec, c->algorithm, c->m, &run) &&
            !has_failed(table, run) && number-- == 0)
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
