/*
 * Groups runs by configuration. A fit needs only the mean time of a configuration and the sum of
 * squares around it, so that after grouping, a million repeats of ten configurations cost no more
 * than ten runs. Model: the spread of repeats is constant or proportional to the time; if
 * configurations differ in spread, the spread of each is estimated by an empirical Bayes rule.
 * Limit: two configurations are the same only if their values are exactly equal.
 */
#include "fit_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "student.h"

static int fit_data_allocate(struct hm_fit_data *data, struct hm_arena *arena, size_t quantities,
                             struct hm_err *err)
{
    const size_t count = data->count;

    data->rows = hm__arena_alloc(arena, count, sizeof(*data->rows));
    data->group_of = hm__arena_alloc(arena, count, sizeof(*data->group_of));
    data->seconds = hm__arena_alloc(arena, count, sizeof(*data->seconds));
    data->groups = hm__arena_alloc(arena, count, sizeof(*data->groups));
    data->places = hm__arena_alloc(arena, quantities, sizeof(*data->places));
    bool ok = data->rows && data->group_of && data->seconds && data->groups && data->places;
    return ok ? 0 : hm__fail_nomem(err);
}

/* Keeps the runs that have a time; fails if there are none. */
static int fit_data_keep_rows(struct hm_fit_data *data, struct hm_unit unit, struct hm_err *err)
{
    const double *n = hm_runs_column(data->runs, "n")->values;
    const struct hm_column *seconds = hm_runs_column(data->runs, "seconds");
    size_t kept = 0;

    for (size_t i = 0; i < data->runs->count; i++) {
        if (isnan(seconds->values[i]))
            continue;
        data->rows[kept] = i;
        data->seconds[kept++] = seconds->values[i] * unit.factor * (unit.by_n ? n[i] : 1);
    }
    data->count = kept;
    if (kept > 0)
        return 0;
    hm__fail(err, HM_E_MISSING, "every run failed, so there is no time to fit");
    hm__err_at(err, data->runs->source, 0);
    return HM_E_MISSING;
}

/* ---- configurations -------------------------------------------------------------------------- */

struct group_key {
    const double *columns[HM_QUANTITIES_MAX];
    size_t count;
};

static uint64_t group_key_hash(const struct group_key *key, size_t row)
{
    uint64_t hash = 0x9e3779b97f4a7c15u, bits;

    for (size_t k = 0; k < key->count; k++) {
        /* The addition changes -0 to 0, so that both have the same hash. */
        double value = key->columns[k][row] + 0.0;
        memcpy(&bits, &value, sizeof(bits));
        hash = (hash ^ bits) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 32;
    }
    return hash;
}

static bool group_key_equal(const struct group_key *key, size_t a, size_t b)
{
    for (size_t k = 0; k < key->count; k++) {
        double x = key->columns[k][a], y = key->columns[k][b];
        if (x != y && !(isnan(x) && isnan(y)))
            return false;
    }
    return true;
}

/*
 * Assigns each run to a group, with a hash table that is at most half full. If the hashes of many
 * configurations collide, which a table can be made to do, the number of comparisons exceeds its
 * limit, and the result is HM_E_LIMIT without a message.
 */
static int fit_data_hash_groups(struct hm_fit_data *data, const struct group_key *key,
                                struct hm_err *err)
{
    size_t room = 16, left = 8 * data->count + 1024;

    while (room < 2 * data->count)
        room *= 2;
    /* 1 + the index of a group; 0 marks a free slot. */
    uint32_t *slots = hm__calloc(room, sizeof(*slots));
    if (!slots)
        return hm__fail_nomem(err);
    for (size_t i = 0; i < data->count; i++) {
        size_t row = data->rows[i], at = group_key_hash(key, row) & (room - 1);
        while (left > 0 && slots[at] &&
               !group_key_equal(key, data->groups[slots[at] - 1].row, row)) {
            at = (at + 1) & (room - 1);
            left--;
        }
        if (left == 0)
            break;
        if (!slots[at]) {
            data->groups[data->group_count] = (struct hm_group){.row = row, .evidence = 1};
            slots[at] = (uint32_t)++data->group_count;
        }
        data->group_of[i] = slots[at] - 1;
    }
    hm__free(slots);
    return left > 0 ? 0 : HM_E_LIMIT;
}

/* A run in a list that is sorted by configuration. */
struct sorted_run {
    const struct group_key *key;
    size_t row;     /* Row in the table. */
    uint32_t index; /* Index among the runs that have a time. */
};

static int compare_cells(double x, double y)
{
    if (isnan(x) || isnan(y))
        return (isnan(x) ? 1 : 0) - (isnan(y) ? 1 : 0);
    return x < y ? -1 : x > y;
}

static int compare_configurations(const struct sorted_run *x, const struct sorted_run *y)
{
    int order = 0;

    for (size_t k = 0; order == 0 && k < x->key->count; k++)
        order = compare_cells(x->key->columns[k][x->row], x->key->columns[k][y->row]);
    return order;
}

/* Compares two runs by configuration; runs of one configuration keep their order. */
static int compare_runs(const void *a, const void *b)
{
    const struct sorted_run *x = a, *y = b;
    int order = compare_configurations(x, y);

    return order ? order : x->index < y->index ? -1 : x->index > y->index;
}

/* Assigns each run to a group, with a sorted list of the runs; the groups are the same as those of
 * fit_data_hash_groups. */
static int fit_data_sort_groups(struct hm_fit_data *data, const struct group_key *key,
                                struct hm_err *err)
{
    struct sorted_run *runs = hm__calloc(data->count, sizeof(*runs));
    uint32_t first = 0;

    if (!runs)
        return hm__fail_nomem(err);
    for (size_t i = 0; i < data->count; i++)
        runs[i] = (struct sorted_run){key, data->rows[i], (uint32_t)i};
    qsort(runs, data->count, sizeof(*runs), compare_runs);
    /* First, each run gets the index of the first run of its configuration. */
    for (size_t i = 0; i < data->count; i++) {
        if (i == 0 || compare_configurations(&runs[i - 1], &runs[i]) != 0)
            first = runs[i].index;
        data->group_of[runs[i].index] = first;
    }
    hm__free(runs);
    /* Then the configurations are numbered in the order in which they appear. */
    data->group_count = 0;
    for (size_t i = 0; i < data->count; i++) {
        if (data->group_of[i] == i) {
            data->groups[data->group_count] =
                (struct hm_group){.row = data->rows[i], .evidence = 1};
            data->group_of[i] = (uint32_t)data->group_count++;
        } else {
            data->group_of[i] = data->group_of[data->group_of[i]];
        }
    }
    return 0;
}

static int fit_data_find_groups(struct hm_fit_data *data, const struct group_key *key,
                                struct hm_err *err)
{
    int rc = fit_data_hash_groups(data, key, err);

    return rc == HM_E_LIMIT ? fit_data_sort_groups(data, key, err) : rc;
}

/*
 * Computes the mean of each group first and then the squared deviations from it, because
 * subtracting large sums would lose digits.
 */
static void fit_data_sum_groups(struct hm_fit_data *data)
{
    for (size_t i = 0; i < data->count; i++) {
        struct hm_group *g = &data->groups[data->group_of[i]];
        g->count++;
        g->mean_s += (data->seconds[i] - g->mean_s) / g->count;
    }
    for (size_t i = 0; i < data->count; i++) {
        struct hm_group *g = &data->groups[data->group_of[i]];
        double off = data->seconds[i] - g->mean_s;
        g->within += off * off;
    }
}

static int fit_data_set_places(struct hm_fit_data *data, struct hm_arena *arena,
                               const struct hm_basis *basis, struct hm_err *err)
{
    for (size_t q = 0; q < basis->quantity_count; q++) {
        const double *values = hm_runs_column(data->runs, basis->quantities[q])->values;
        double *place = hm__arena_alloc(arena, data->group_count, sizeof(*place));
        if (!place)
            return hm__fail_nomem(err);
        for (size_t g = 0; g < data->group_count; g++)
            place[g] = values[data->groups[g].row];
        data->places[q] = place;
        data->low[q] = INFINITY;
        data->high[q] = -INFINITY;
        data->gap[q] = HM_NONE;
        for (size_t i = 0; i < data->count; i++) {
            double value = values[data->rows[i]];
            if (isnan(value) && data->gap[q] == HM_NONE)
                data->gap[q] = data->rows[i];
            data->low[q] = fmin(data->low[q], value);
            data->high[q] = fmax(data->high[q], value);
        }
    }
    return 0;
}

int hm__fit_data_init(struct hm_fit_data *data, struct hm_arena *arena, const struct hm_runs *runs,
                      const struct hm_basis *basis, const bool *matters, struct hm_unit unit,
                      struct hm_err *err)
{
    struct group_key key = {.count = 0};

    *data = (struct hm_fit_data){.runs = runs, .count = runs->count};
    int rc = fit_data_allocate(data, arena, basis->quantity_count, err);
    if (rc == 0)
        rc = fit_data_keep_rows(data, unit, err);
    for (size_t q = 0; q < basis->quantity_count; q++)
        if (matters[q])
            key.columns[key.count++] = hm_runs_column(runs, basis->quantities[q])->values;
    if (rc == 0)
        rc = fit_data_find_groups(data, &key, err);
    if (rc)
        return rc;
    fit_data_sum_groups(data);
    return fit_data_set_places(data, arena, basis, err);
}

/* ---- repeats --------------------------------------------------------------------------------- */

double hm__fit_data_repeats(const struct hm_fit_data *data, const double *scale, double *ret_sum)
{
    double free = 0;

    *ret_sum = 0;
    for (size_t g = 0; g < data->group_count; g++) {
        double s = scale ? scale[g] : 1;
        free += data->groups[g].count - 1;
        *ret_sum += data->groups[g].within * s * s;
    }
    return free;
}

/*
 * Smallest number of repeats (degrees of freedom) that can show how the spread depends on the time.
 */
static const double REPEATS_ENOUGH = 4;

/* Compares the likelihood of the repeats under a constant and under a relative spread. */
int hm__fit_data_relative(const struct hm_fit_data *data)
{
    double free = 0, equal = 0, relative = 0, logs = 0;

    for (size_t g = 0; g < data->group_count; g++) {
        const struct hm_group *group = &data->groups[g];
        double mean = group->mean_s;
        free += group->count - 1;
        equal += group->within;
        relative += group->within / (mean * mean);
        logs += (group->count - 1) * log(mean);
    }
    if (free < REPEATS_ENOUGH || equal == 0)
        return -1;
    return -free / 2 * log(relative / free) - logs > -free / 2 * log(equal / free);
}

/*
 * The spread of few repeats is a poor estimate, so it is averaged with the typical spread, which
 * has the weight of this number of degrees of freedom.
 */
static const double SHARED = 4;

/* Significance level of the test of whether configurations differ in their spread. */
static const double DIFFER_CHANCE = 0.01;

static double group_square(const struct hm_group *group, bool relative)
{
    return group->within / (relative ? group->mean_s * group->mean_s : 1);
}

/*
 * Returns whether the spread of some configuration is significantly larger than the spread of all
 * others together.
 */
static bool spreads_differ(const struct hm_fit_data *data, bool relative, double free, double sum)
{
    double repeated = 0, least = 1;

    for (size_t g = 0; g < data->group_count; g++) {
        const struct hm_group *group = &data->groups[g];
        double own = group_square(group, relative), own_free = group->count - 1, rest = sum - own,
               rest_free = free - own_free;
        if (own_free < 1)
            continue;
        repeated++;
        if (rest_free >= 1 && own > 0)
            least = fmin(least, hm__fisher_tail(own_free, rest_free,
                                                (own / own_free) / fmax(rest / rest_free, 1e-300)));
    }
    return least * repeated < DIFFER_CHANCE;
}

/*
 * Returns the square of the typical spread: the median over the configurations with repeats; 0 if
 * memory runs out.
 */
static double usual_square(const struct hm_fit_data *data, bool relative)
{
    double *squares = hm__calloc(data->group_count, sizeof(*squares)), middle = 0;
    size_t count = 0;

    for (size_t g = 0; squares && g < data->group_count; g++) {
        const struct hm_group *group = &data->groups[g];
        if (group->count > 1)
            squares[count++] = group_square(group, relative) / (group->count - 1);
    }
    if (count > 0)
        middle = hm__quantile(squares, count, 0.5);
    hm__free(squares);
    return middle;
}

void hm__fit_data_weigh(struct hm_fit_data *data, bool relative)
{
    double free = 0, sum = 0;

    for (size_t g = 0; g < data->group_count; g++) {
        free += data->groups[g].count - 1;
        sum += group_square(&data->groups[g], relative);
    }
    if (free < REPEATS_ENOUGH || sum == 0 || !spreads_differ(data, relative, free, sum))
        return;
    double usual = usual_square(data, relative);
    for (size_t g = 0; usual > 0 && g < data->group_count; g++) {
        struct hm_group *group = &data->groups[g];
        double mixed =
            (SHARED * usual + group_square(group, relative)) / (SHARED + group->count - 1);
        group->evidence = usual / mixed;
    }
}
