/*
 * Implements howmany validate --answers, which checks the headline rule (the recommended n is the
 * smallest one that is as good as the best) on the examples (validate_plans.c), and tests how
 * accurate predictions from small runs are. The accuracy is tested on sources of measurements that
 * were not used to choose the settings of the fits.
 *
 * A rule (struct hm_fit_rule) is chosen from a grid by cross-validation that is nested by source:
 * the curves of each source are predicted with the rule that has the smallest interval score on all
 * other sources. The interval score of Gneiting and Raftery (2007), applied here to the logarithm
 * of the time, is the width of the 90 % interval plus 2 / 0.1 times the distance between the
 * interval and the measurement. Every source has the same weight, regardless of its number of
 * curves.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "json.h"
#include "order.h"
#include "text.h"
#include "validate_fits.h"
#include "validate_plans.h"

enum { RULES_MAX = 256, SOURCES_MAX = 64, LEVELS = 5 };

static const double levels[LEVELS] = {0.5, 0.7, 0.8, 0.9, 0.95};

struct rule_test {
    struct validate_curves curves;
    struct hm_fit_rule rules[RULES_MAX];
    size_t rule_count;
    const char *sources[SOURCES_MAX];
    size_t source_count;
    size_t *source_of; /* Index of the source of each curve; owned. */
    double *scores;    /* Score of each rule on each curve; owned. The score of rule r on curve i is
                          scores[r * curves + i]. */
    size_t chosen[SOURCES_MAX]; /* Index of the rule chosen for each source: the rule with the best
                                   score on all other sources. */
    size_t overall;             /* Index of the rule with the best score over all sources. */
    struct validate_result *results; /* Prediction for each curve with the rule that was chosen for
                                        its source; owned. */
    double reliability[LEVELS]; /* Share of the curves whose measured time is inside the interval,
                                   for each coverage probability. */
    /* Counts how often the measurements confirm a plan that is fitted to the smaller half of a
     * curve. */
    struct validate_plans plans;
};

static void list_rules(struct rule_test *t)
{
    static const double needs[] = {4, 6}, weights[] = {0.1, 0.5}, counted[] = {2, 4},
                        drifts[] = {0.02, 0.04, 0.06}, noises[] = {0, 2}, turns[] = {0, 0.06},
                        strong[] = {0, 0.06};

    for (size_t i = 0; i < 192; i++)
        t->rules[t->rule_count++] = (struct hm_fit_rule){.steep_needs = needs[i % 2],
                                                         .steep_weight = weights[i / 2 % 2],
                                                         .counted_runs = counted[i / 4 % 2],
                                                         .drift = drifts[i / 8 % 3],
                                                         .drift_power = 1,
                                                         .crossing = 0.2,
                                                         .noise = 0.03,
                                                         .noise_weight = noises[i / 24 % 2],
                                                         .weak_turn = turns[i / 48 % 2],
                                                         .strong_turn = strong[i / 96],
                                                         .turn_share = 0.15};
}

static void list_sources(struct rule_test *t)
{
    for (size_t i = 0; i < t->curves.count; i++) {
        const char *name = t->curves.curves[i].source;
        size_t s = 0;
        while (s < t->source_count && strcmp(t->sources[s], name) != 0)
            s++;
        if (s == t->source_count && s < SOURCES_MAX)
            t->sources[t->source_count++] = name;
        t->source_of[i] = s < SOURCES_MAX ? s : SOURCES_MAX - 1;
    }
}

/* Returns the interval score of the logarithm of the time; 10 if there is no interval. */
static double interval_score(const struct validate_result *r, double measured)
{
    if (!r->interval || !(r->low > 0))
        return 10;
    double low = log(r->low), high = log(r->high), value = log(measured);
    double miss = fmax(fmax(low - value, value - high), 0);
    return fmin(high - low + 20 * miss, 10);
}

/* Returns the rule with the smallest total score over all sources except source `without`, or over
 * all sources if `without` is SOURCES_MAX. */
static size_t rule_choose(const struct rule_test *t, size_t without)
{
    size_t best = 0;
    double least = INFINITY;

    for (size_t r = 0; r < t->rule_count; r++) {
        double total = 0;
        for (size_t s = 0; s < t->source_count; s++) {
            double sum = 0, count = 0;
            for (size_t i = 0; i < t->curves.count; i++) {
                if (t->source_of[i] != s)
                    continue;
                sum += t->scores[r * t->curves.count + i];
                count++;
            }
            total += s == without ? 0 : sum / count;
        }
        if (total < least) {
            least = total;
            best = r;
        }
    }
    return best;
}

static void test_run(struct rule_test *t)
{
    const size_t count = t->curves.count;
    struct cli_progress progress = cli_progress_start("rules", t->rule_count);

    for (size_t r = 0; r < t->rule_count; r++) {
        for (size_t i = 0; i < count; i++) {
            const struct validate_curve *c = &t->curves.curves[i];
            struct validate_result got = validate_curve_predict(c, &t->rules[r], 0.9);
            t->scores[r * count + i] = interval_score(&got, c->measured);
        }
        cli_progress_step(&progress, r);
    }
    cli_progress_end(&progress);
    for (size_t s = 0; s < t->source_count; s++)
        t->chosen[s] = rule_choose(t, s);
    t->overall = rule_choose(t, SOURCES_MAX);
    for (size_t i = 0; i < count; i++) {
        const struct hm_fit_rule *rule = &t->rules[t->chosen[t->source_of[i]]];
        t->results[i] = validate_curve_predict(&t->curves.curves[i], rule, 0.9);
        for (size_t k = 0; k < LEVELS; k++)
            t->reliability[k] +=
                validate_curve_predict(&t->curves.curves[i], rule, levels[k]).inside /
                (double)count;
    }
}

/* ---- output --------------------------------------------------------------------------------- */

struct accuracy {
    size_t curves, inside;
    double median, ninetieth, width;
};

static double sorted_quantile(double *values, size_t count, double share)
{
    if (count == 0)
        return NAN;
    qsort(values, count, sizeof(*values), hm__compare_numbers);
    double at = share * (double)(count - 1);
    size_t low = (size_t)at, high = low + 1 < count ? low + 1 : low;
    return values[low] + (at - (double)low) * (values[high] - values[low]);
}

/*
 * Summarises the errors on the curves of one source, or on all curves if `source` is SOURCES_MAX.
 */
static struct accuracy summarise_source(const struct rule_test *t, size_t source)
{
    double *errors = calloc(t->curves.count + 1, sizeof(*errors));
    double *widths = calloc(t->curves.count + 1, sizeof(*widths));
    struct accuracy a = {.median = NAN, .ninetieth = NAN, .width = NAN};

    for (size_t i = 0; errors && widths && i < t->curves.count; i++) {
        if (source != SOURCES_MAX && t->source_of[i] != source)
            continue;
        errors[a.curves] = t->results[i].error;
        widths[a.curves++] = isnan(t->results[i].width) ? INFINITY : t->results[i].width;
        a.inside += t->results[i].inside;
    }
    if (a.curves > 0) {
        a.median = sorted_quantile(errors, a.curves, 0.5);
        a.ninetieth = sorted_quantile(errors, a.curves, 0.9);
        a.width = sorted_quantile(widths, a.curves, 0.5);
    }
    free(errors);
    free(widths);
    return a;
}

static void add_accuracy_text(struct hm_text *out, const char *name, const struct accuracy *a)
{
    hm__text_addf(out, "%-32s %6zu %7.1f%% %7.0f%% %6zu (%3.0f%%) %7.2f\n", name, a->curves,
                  100 * a->median, 100 * a->ninetieth, a->inside,
                  100 * (double)a->inside / (double)a->curves, a->width);
}

static void add_answers_text(struct hm_text *out, const struct rule_test *t)
{
    struct accuracy all = summarise_source(t, SOURCES_MAX);
    const struct hm_fit_rule *rule = &t->rules[t->overall];

    hm__text_addf(out, "%-32s %6s %8s %8s %13s %7s\n", "source (never chooses its own rule)",
                  "curves", "median", "90th", "in 90 %", "width");
    for (size_t s = 0; s < t->source_count; s++) {
        struct accuracy a = summarise_source(t, s);
        add_accuracy_text(out, t->sources[s], &a);
    }
    add_accuracy_text(out, "all", &all);
    hm__text_add(out, "\nstated   holds\n");
    for (size_t k = 0; k < LEVELS; k++)
        hm__text_addf(out, "%4.0f %%   %4.0f %%\n", 100 * levels[k], 100 * t->reliability[k]);
    hm__text_addf(
        out,
        "\nrule of all sources: steep terms from %g configurations with weight %g, %g "
        "runs counted, drift %g per doubling, %g across nodes, noise %g with weight %g, turn "
        "%g (weak) or %g (strong) + %g of the loss\n",
        rule->steep_needs, rule->steep_weight, rule->counted_runs, rule->drift, rule->crossing,
        rule->noise, rule->noise_weight, rule->weak_turn, rule->strong_turn, rule->turn_share);
    validate_plans_text(out, &t->plans);
}

static void put_accuracy(struct hm_json *json, const char *name, const struct accuracy *a)
{
    hm__json_put_text(json, "source", name);
    hm__json_put_number(json, "curves", (double)a->curves);
    hm__json_put_number(json, "median", a->median);
    hm__json_put_number(json, "ninetieth", a->ninetieth);
    hm__json_put_number(json, "inside", (double)a->inside);
    hm__json_put_number(json, "width", a->width);
}

static void put_rule(struct hm_json *json, const char *name, const struct hm_fit_rule *rule)
{
    hm__json_open(json, name, HM_JSON_OBJECT);
    hm__json_put_number(json, "steep_needs", rule->steep_needs);
    hm__json_put_number(json, "steep_weight", rule->steep_weight);
    hm__json_put_number(json, "counted_runs", rule->counted_runs);
    hm__json_put_number(json, "drift", rule->drift);
    hm__json_put_number(json, "crossing", rule->crossing);
    hm__json_put_number(json, "noise", rule->noise);
    hm__json_put_number(json, "noise_weight", rule->noise_weight);
    hm__json_put_number(json, "weak_turn", rule->weak_turn);
    hm__json_put_number(json, "strong_turn", rule->strong_turn);
    hm__json_put_number(json, "turn_share", rule->turn_share);
    hm__json_close(json);
}

static void add_answers_json(struct hm_json *json, const struct rule_test *t)
{
    struct accuracy all = summarise_source(t, SOURCES_MAX);

    hm__json_open(json, "sources", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t s = 0; s < t->source_count; s++) {
        struct accuracy a = summarise_source(t, s);
        hm__json_open(json, NULL, HM_JSON_OBJECT);
        put_accuracy(json, t->sources[s], &a);
        put_rule(json, "rule", &t->rules[t->chosen[s]]);
        hm__json_close(json);
    }
    hm__json_close(json);
    hm__json_open(json, "all", HM_JSON_OBJECT);
    put_accuracy(json, NULL, &all);
    hm__json_close(json);
    hm__json_open(json, "reliability", HM_JSON_LIST);
    for (size_t k = 0; k < LEVELS; k++) {
        hm__json_open(json, NULL, HM_JSON_OBJECT);
        hm__json_put_number(json, "stated", levels[k]);
        hm__json_put_number(json, "holds", t->reliability[k]);
        hm__json_close(json);
    }
    hm__json_close(json);
    put_rule(json, "rule", &t->rules[t->overall]);
    validate_plans_json(json, &t->plans);
}

/* Tests the rules on the published curves in a folder. */
static int test_make(struct rule_test *t, const char *data)
{
    int rc = validate_curves_read(&t->curves, data, "--answers");

    if (rc)
        return rc;
    list_rules(t);
    t->source_of = calloc(t->curves.count + 1, sizeof(*t->source_of));
    t->scores = calloc(t->rule_count * t->curves.count + 1, sizeof(*t->scores));
    t->results = calloc(t->curves.count + 1, sizeof(*t->results));
    const struct hm_fit_rule **rules = calloc(t->curves.count + 1, sizeof(*rules));
    if (t->source_of && t->scores && t->results && rules) {
        list_sources(t);
        test_run(t);
        for (size_t i = 0; i < t->curves.count; i++)
            rules[i] = &t->rules[t->chosen[t->source_of[i]]];
        validate_plans_make(&t->curves, rules, &t->plans);
    } else {
        rc = cli_complain("out of memory");
    }
    free(rules);
    return rc;
}

static void add_all_json(struct hm_text *out, const struct validate_headlines *headlines,
                         const struct rule_test *t)
{
    struct hm_json json = {.out = out};

    hm__json_open(&json, NULL, HM_JSON_OBJECT | HM_JSON_LINES);
    validate_headlines_json(&json, headlines);
    if (t)
        add_answers_json(&json, t);
    hm__json_close(&json);
    hm__text_add(out, "\n");
}

static void add_all_text(struct hm_text *out, const struct validate_headlines *headlines,
                         const struct rule_test *t)
{
    validate_headlines_text(out, headlines);
    hm__text_add(out, "\n");
    if (t)
        add_answers_text(out, t);
    else
        hm__text_add(
            out,
            "the accuracy on published curves and the reliability of probabilities need the folder "
            "of "
            "curves.csv (data in the source, or doc/howmany/data where installed): --data DIR\n");
}

int validate_answers(const char *data, bool json, const struct hm_catalog *catalog,
                     const char *const *files, size_t file_count)
{
    struct rule_test t = {.rule_count = 0};
    struct validate_headlines headlines;
    struct hm_text out = {0};
    int rc = validate_headlines_make(catalog, data, files, file_count, &headlines);

    if (rc == 0 && data)
        rc = test_make(&t, data);
    if (rc == 0) {
        (json ? add_all_json : add_all_text)(&out, &headlines, data ? &t : NULL);
        rc = cli_put_text(&out);
    }
    for (size_t i = 0; rc == 0 && i < headlines.count; i++)
        if (!headlines.items[i].holds && !headlines.items[i].skipped)
            rc = EXIT_NO_ANSWER;
    validate_curves_release(&t.curves);
    free(t.source_of);
    free(t.scores);
    free(t.results);
    return rc;
}
