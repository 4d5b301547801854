/*
 * Compares the choice of terms with an exhaustive search over every set of four terms (1, 1/n, ln n
 * and n). The reference solves non-negative least squares by trying all supports, computes
 * leave-one-out errors by leaving out each configuration, and applies the weights and the rule as
 * their comments state them. Also tests the times of overlapped communication between the knots.
 */
#include "testing.h"

#include "choose.h"
#include "overlap.h"
#include "random.h"
#include "student.h"

enum { TERMS = 4, MOST_RUNS = 40 };

/* Runs with the values of the terms; `group` is the configuration of each run. */
struct table {
    size_t count, groups;
    size_t group[MOST_RUNS];
    double x[MOST_RUNS][TERMS], y[MOST_RUNS];
};

static const enum hm_role roles[TERMS] = {HM_ROLE_OVERHEAD, HM_ROLE_WORK, HM_ROLE_OVERHEAD,
                                          HM_ROLE_STEEP};

/* The errors of runs are relative, so both sides are divided by the seconds. */
static void make_table(struct table *t, size_t groups, size_t repeats, const double *theta,
                       double noise, struct hm_random *random)
{
    *t = (struct table){.groups = groups};
    for (size_t g = 0; g < groups; g++)
        for (size_t k = 0; k < repeats; k++) {
            double n = ldexp(1, (int)g), x[TERMS] = {1, 1 / n, log(n), n}, seconds = 0;
            for (size_t j = 0; j < TERMS; j++)
                seconds += theta[j] * x[j];
            seconds *= 1 + noise * hm__random_normal(random);
            for (size_t j = 0; j < TERMS; j++)
                t->x[t->count][j] = x[j] / seconds;
            t->y[t->count] = 1;
            t->group[t->count++] = g;
        }
}

/* ---- the exhaustive search ------------------------------------------------------------------- */

/* Returns the sum of squares over the runs of all groups except `without`, or over those of group
 * `only` alone. */
static double square_sum(const struct table *t, const double *theta, size_t without, size_t only)
{
    double sum = 0;

    for (size_t i = 0; i < t->count; i++) {
        double miss = t->y[i];
        for (size_t j = 0; j < TERMS; j++)
            miss -= theta[j] * t->x[i][j];
        if (t->group[i] != without && (only == SIZE_MAX || t->group[i] == only))
            sum += miss * miss;
    }
    return sum;
}

/* Solves least squares with the terms of a set, by Gauss-Jordan elimination of the normal
 * equations. */
static bool solve_set(const struct table *t, unsigned set, size_t without, double *theta)
{
    double m[TERMS][TERMS + 1] = {{0}};
    size_t at[TERMS], k = 0;

    for (size_t j = 0; j < TERMS; j++)
        if (set & 1u << j)
            at[k++] = j;
    for (size_t i = 0; i < t->count; i++)
        for (size_t a = 0; t->group[i] != without && a < k; a++) {
            for (size_t b = 0; b < k; b++)
                m[a][b] += t->x[i][at[a]] * t->x[i][at[b]];
            m[a][k] += t->x[i][at[a]] * t->y[i];
        }
    for (size_t j = 0; j < TERMS; j++)
        theta[j] = 0;
    for (size_t a = 0; a < k; a++) {
        if (!(fabs(m[a][a]) > 1e-12))
            return false;
        for (size_t b = 0; b < k; b++) {
            double factor = b == a ? 0 : m[b][a] / m[a][a];
            for (size_t c = 0; c <= k; c++)
                m[b][c] -= factor * m[a][c];
        }
    }
    for (size_t a = 0; a < k; a++)
        theta[at[a]] = m[a][k] / m[a][a];
    return true;
}

/* Solves non-negative least squares: tries all supports and uses the best one whose solution is not
 * negative. */
static void solve_nonnegative(const struct table *t, unsigned set, size_t without, double *theta)
{
    double best = INFINITY, trial[TERMS];

    for (unsigned some = 0; some < 1u << TERMS; some++) {
        if ((some & ~set) || !solve_set(t, some, without, trial))
            continue;
        double sum = square_sum(t, trial, without, SIZE_MAX);
        bool allowed = true;
        for (size_t j = 0; j < TERMS; j++)
            allowed = allowed && trial[j] >= 0;
        if (allowed && sum < best) {
            best = sum;
            memcpy(theta, trial, sizeof(trial));
        }
    }
}

struct set_result {
    unsigned set;
    size_t count;
    bool steep, misses;
    double error, weight;
};

/*
 * Returns whether the errors of a set are significant at 0.1 % compared with the repeats, and above
 * 2 %.
 */
static bool set_misses(const struct table *t, double residual, size_t terms, struct hm_repeats r)
{
    double free = (double)t->groups - (double)terms, miss = residual - r.sum;

    if (r.free < 3 || r.sum <= 0 || free < 1 || miss <= 0)
        return false;
    return sqrt(miss / free * (double)t->groups / (double)t->count) > 0.02 &&
           hm__fisher_tail(free, r.free, miss / free / (r.sum / r.free)) < 1e-3;
}

static size_t search_all(const struct table *t, size_t most, struct hm_repeats repeats,
                         const struct hm_fit_rule *rule, struct set_result *results)
{
    size_t count = 0, gentle = 0, kept = 0;

    for (unsigned set = 1; set < 1u << TERMS; set++) {
        struct set_result r = {.set = set, .steep = set & 8};
        double theta[TERMS];
        bool all = true;
        for (size_t j = 0; j < TERMS; j++)
            r.count += set >> j & 1;
        if (r.count > most || !((set & 2) || set == 8))
            continue;
        solve_nonnegative(t, set, SIZE_MAX, theta);
        for (size_t j = 0; j < TERMS; j++)
            all = all && (!(set >> j & 1) || theta[j] > 0);
        if (!all)
            continue;
        r.misses = set_misses(t, square_sum(t, theta, SIZE_MAX, SIZE_MAX), r.count, repeats);
        for (size_t g = 0; g < t->groups; g++) {
            solve_nonnegative(t, set, g, theta);
            r.error += square_sum(t, theta, SIZE_MAX, g) / (double)t->count;
        }
        results[count++] = r;
    }
    for (size_t i = 0; i < count; i++)
        gentle += !results[i].misses && !results[i].steep;
    if (gentle == 0 && (double)t->groups < rule->steep_needs)
        return count;
    for (size_t i = 0; i < count; i++)
        if (!results[i].misses)
            results[kept++] = results[i];
    return kept ? kept : count;
}

/* Returns the set to use: the best one without a steep term (one that grows fast with n), unless
 * the best one with a steep term halves its error and there are enough configurations, or the error
 * of the former is 15 % or more. */
static unsigned choose_set(const struct table *t, const struct hm_fit_rule *rule,
                           const struct set_result *results, size_t count)
{
    const struct set_result *steep = NULL, *gentle = NULL;

    for (size_t i = 0; i < count; i++) {
        const struct set_result **best = results[i].steep ? &steep : &gentle;
        if (!*best || results[i].error < (*best)->error)
            *best = &results[i];
    }
    if (!steep || !gentle)
        return steep ? steep->set : gentle->set;
    bool halves = sqrt(steep->error) < sqrt(gentle->error) / 2;
    bool may = (double)t->groups >= rule->steep_needs || sqrt(gentle->error) > 0.15;
    return halves && may ? steep->set : gentle->set;
}

/* Sets the weights (error + 1 %^2)^(-runs / 2); the factor of sets with a steep term rises from
 * steep_weight to 1 while the best set without one is up to 25 % worse. */
static void set_weights(const struct table *t, const struct hm_fit_rule *rule,
                        struct set_result *results, size_t count)
{
    double gentle = INFINITY, sum = 0;

    for (size_t i = 0; i < count; i++)
        if (!results[i].steep)
            gentle = fmin(gentle, results[i].error);
    for (size_t i = 0; i < count; i++) {
        double worse = (gentle + 1e-4) / (results[i].error + 1e-4) - 1;
        double shown = fmin(fmax(worse / 0.25, 0), 1);
        double factor =
            results[i].steep ? rule->steep_weight + (1 - rule->steep_weight) * shown : 1;
        results[i].weight =
            factor * pow(results[i].error + 1e-4, -fmin((double)t->count, rule->counted_runs) / 2);
        sum += results[i].weight;
    }
    for (size_t i = 0; i < count; i++)
        results[i].weight /= sum;
}

/* ---- comparison ------------------------------------------------------------------------------ */

/* Counts the repeats, and adds up the squares of the runs around the mean of their configuration,
 * in relative units. */
static struct hm_repeats count_repeats(const struct table *t)
{
    struct hm_repeats r = {.free = (double)(t->count - t->groups)};

    for (size_t g = 0; g < t->groups; g++) {
        /* After weighting, the seconds are 1; the common time of a group is the one that fits its
         * rows best. */
        double xx = 0, xy = 0, yy = 0;
        for (size_t i = 0; i < t->count; i++)
            if (t->group[i] == g) {
                xx += t->x[i][0] * t->x[i][0];
                xy += t->x[i][0] * t->y[i];
                yy += t->y[i] * t->y[i];
            }
        r.sum += fmax(yy - xy * xy / xx, 0);
    }
    return r;
}

static void compare_choices(const struct table *t, size_t most)
{
    struct hm_basis basis = {.count = TERMS};
    struct hm_fit_rule rule = hm_fit_rule_default();
    struct hm_lsq folds[MOST_RUNS];
    struct hm_choice *choices = calloc(HM_CHOICES_MAX, sizeof(*choices));
    struct set_result results[1u << TERMS];
    struct hm_repeats repeats = count_repeats(t);
    struct hm_err err = {0};
    size_t count = 0, best = 0;

    assert_non_null(choices);
    memcpy(basis.roles, roles, sizeof(roles));
    for (size_t g = 0; g < t->groups; g++) {
        hm__lsq_init(&folds[g], TERMS);
        for (size_t i = 0; i < t->count; i++) {
            double row[HM_LSQ_SIDE] = {0};
            memcpy(row, t->x[i], sizeof(t->x[i]));
            row[TERMS] = t->y[i];
            if (t->group[i] == g)
                hm__lsq_add(&folds[g], row);
        }
    }
    if (hm__choose(&basis, &rule, folds, t->groups, (double)t->count, 1, t->groups, repeats,
                   choices, &count, &best, &err))
        fail_msg("%s", err.message);
    size_t wanted = search_all(t, most, repeats, &rule, results);
    set_weights(t, &rule, results, wanted);
    assert_int_equal(count, wanted);
    for (size_t i = 0; i < count; i++) {
        unsigned set = 0;
        size_t k = 0;
        for (size_t j = 0; j < choices[i].count; j++)
            set |= 1u << choices[i].terms[j];
        while (k < wanted && results[k].set != set)
            k++;
        if (k == wanted)
            fail_msg("the set %x should not be considered", set);
        assert_int_equal(choices[i].count, results[k].count);
        assert_int_equal(choices[i].steep, results[k].steep);
        assert_true(fabs(choices[i].error - results[k].error) < 1e-6 * (results[k].error + 1e-6));
        assert_near(choices[i].weight, results[k].weight, 1e-3);
        assert_true(i == 0 || choices[i].error >= choices[i - 1].error);
    }
    unsigned set = 0;
    for (size_t j = 0; j < choices[best].count; j++)
        set |= 1u << choices[best].terms[j];
    assert_int_equal(set, choose_set(t, &rule, results, wanted));
    free(choices);
}

/* The number of terms is at most half of the number of configurations plus one, at most four, and
 * less than the number of configurations unless repeats show the noise. With three configurations
 * or more, the sets without one of them are determined. */
static void choices_agree_with_an_exhaustive_search(void **state)
{
    static const double laws[][TERMS] = {{1, 10, 0, 0},   {1, 10, 1, 0},  {0, 10, 0, 0.5},
                                         {2, 20, 0, 0.2}, {0, 5, 2, 0.1}, {0, 1, 0, 5},
                                         {0, 0.1, 0, 5}};
    static const size_t most[] = {0, 0, 1, 2, 3, 3, 4, 4}, repeated[] = {0, 0, 2, 2, 3, 3, 4, 4};
    struct hm_random random;

    (void)state;
    hm__random_init(&random, 3, 0);
    for (size_t law = 0; law < sizeof(laws) / sizeof(laws[0]); law++)
        for (size_t groups = 3; groups < 8; groups++)
            for (size_t repeats = 1; repeats <= 4; repeats++)
                for (int noisy = 0; noisy < 3; noisy++) {
                    struct table t;
                    bool known = (repeats - 1) * groups >= 3;
                    make_table(&t, groups, repeats, laws[law],
                               noisy == 2 ? 0.1 : 0.01 * noisy + 0.002, &random);
                    compare_choices(&t, known ? repeated[groups] : most[groups]);
                }
}

/* ---- overlap --------------------------------------------------------------------------------- */

/* With t(r) = r^2 at the knots, the time follows the chords of this parabola, and the last of them
 * beyond the last knot. */
static void overlapped_times_follow_the_chords(void **state)
{
    struct hm_basis basis = {.count = 2, .overlaps = true};
    enum { PLACES = 2 };
    double x[(2 + HM_OVERLAP_KNOTS) * PLACES];
    const double *r = hm__overlap_ratios;

    (void)state;
    assert_near(r[HM_OVERLAP_ONE], 1, 0);
    for (size_t k = 0; k < HM_OVERLAP_KNOTS; k++) {
        x[(2 + k) * PLACES] = 7;
        x[(2 + k) * PLACES + 1] = r[k] * r[k];
    }
    for (size_t k = 0; k + 1 < HM_OVERLAP_KNOTS; k++)
        for (int part = 0; part < 4; part++) {
            double at = r[k] + (r[k + 1] - r[k]) * part / 4, slope = r[k + 1] + r[k];
            double time = r[k] * r[k] + slope * (at - r[k]), c = 3, linear[sizeof(x) / sizeof(*x)];
            assert_near(hm__overlap_seconds(&basis, x, PLACES, 1, c, c * at), c * time, 1e-12);
            assert_near(hm__overlap_seconds(&basis, x, PLACES, 0, c, c * at), c * 7, 1e-12);
            memcpy(linear, x, sizeof(x));
            hm__overlap_linearise(&basis, c, c * at, linear, PLACES);
            assert_true(fabs(linear[PLACES + 1] - slope) < 1e-12 * slope);
            assert_true(fabs(linear[1] - (time - slope * at)) < 1e-9 * (1 + time));
        }
    size_t last = HM_OVERLAP_KNOTS - 1;
    double slope = r[last] + r[last - 1];
    assert_near(hm__overlap_seconds(&basis, x, PLACES, 1, 1, 2 * r[last]),
                r[last] * r[last] + slope * r[last], 1e-12);
    assert_near(hm__overlap_seconds(&basis, x, PLACES, 1, 0, 5), 5 * slope, 1e-12);
    assert_true(hm__overlap_seconds(&basis, x, PLACES, 1, 0, 0) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(choices_agree_with_an_exhaustive_search),
        cmocka_unit_test(overlapped_times_follow_the_chords),
    };
    return cmocka_run_group_tests_name("exact_choose", tests, NULL, NULL);
}
