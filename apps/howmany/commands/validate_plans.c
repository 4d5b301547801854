/*
 * Tests whole plans. The headline rule (the recommended n is the smallest one that is as good as
 * the best) is checked on every example by brute force over the points of the answer. For each
 * published curve, a plan that is fitted to the smaller half of the sizes (numbers of workers)
 * chooses among all sizes of the curve. The measured times show whether the choice is within 5 % of
 * the best, and whether the time at the largest size is below the bound that the plan states with a
 * given probability.
 */
#include "validate_plans.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chance.h"
#include "large_plan.h"

static const double SLACK = 0.05;

/* ---- the headline rule ----------------------------------------------------------------------- */

/* Checks the headline rule (the recommended n is the smallest one that is as good as the best) for
 * a plan whose goal is time. */
static void check_answer(const struct hm_answer *a, struct validate_headline *h)
{
    double least = INFINITY;
    size_t first = 0;

    for (size_t i = 0; i < a->point_count; i++)
        if (a->points[i].fits)
            least = fmin(least, a->points[i].total_s);
    while (first < a->point_count &&
           !(a->points[first].fits && a->points[first].total_s <= (1 + a->slack) * least))
        first++;
    h->recommended = a->recommended == HM_NONE ? NAN : a->points[a->recommended].n;
    h->best = a->best == HM_NONE ? NAN : a->points[a->best].n;
    h->knee = a->knee == HM_NONE ? NAN : a->points[a->knee].n;
    h->slack = a->slack;
    /* If the job does not fit on any number of workers, the answer must not recommend one. */
    h->holds = a->best == HM_NONE ? isinf(least) && a->recommended == HM_NONE
                                  : a->points[a->best].total_s == least && a->recommended == first;
}

/* Checks the headline rule (the recommended n is the smallest one that is as good as the best) for
 * a plan of a large network. */
static void check_large(const struct hm_large_answer *a, struct validate_headline *h)
{
    double least = INFINITY, fewest = INFINITY;

    for (size_t i = 0; i < a->point_count; i++)
        if (a->points[i].fits)
            least = fmin(least, a->points[i].step.time_s);
    for (size_t i = 0; i < a->point_count; i++)
        if (a->points[i].fits && a->points[i].step.time_s <= (1 + a->slack) * least)
            fewest = fmin(fewest, a->points[i].n);
    h->recommended = a->points[a->recommended].n;
    h->best = a->points[a->best].n;
    h->knee = a->knee == HM_NONE ? NAN : a->points[a->knee].n;
    h->slack = a->slack;
    h->holds = a->feasible && a->points[a->best].step.time_s == least && h->recommended == fewest;
}

static int plan_example(const struct hm_job *job, struct validate_headline *h, struct hm_err *err)
{
    const struct hm_large_question large = HM_LARGE_QUESTION_INIT;
    const struct hm_question question = HM_QUESTION_INIT;
    struct hm_large_answer *network = NULL;
    struct hm_answer *answer = NULL;
    int rc = job->large ? hm__large_plan(job, NULL, 0, &large, &network, err)
                        : hm_plan(job, NULL, 0, NULL, 0, &question, &answer, err);

    if (rc == 0 && network)
        check_large(network, h);
    else if (rc == 0)
        check_answer(answer, h);
    hm__large_answer_free(network);
    hm_answer_free(answer);
    return rc;
}

/* Plans one job and adds its headline to the results. If `may_skip` is true, a job that names a
 * missing file is skipped. */
static int add_headline(struct validate_headlines *h, const struct hm_catalog *catalog,
                        const char *source, const char *text, size_t length, bool may_skip)
{
    const char *base = strrchr(source, '/') ? strrchr(source, '/') + 1 : source;
    struct validate_headline *item = &h->items[h->count];
    struct hm_err err = {0};
    struct hm_job *job = NULL;

    if (h->count == VALIDATE_HEADLINES)
        return cli_complain("validate: more than %d jobs", VALIDATE_HEADLINES);
    *item =
        (struct validate_headline){.recommended = NAN, .best = NAN, .knee = NAN, .slack = SLACK};
    snprintf(item->name, sizeof(item->name), "%.*s", (int)strcspn(base, "."), base);
    h->count++;
    int rc = hm_job_parse_with(catalog, text, length, source, NULL, 0, &job, &err);
    item->skipped = may_skip && rc == HM_E_IO;
    if (rc == 0)
        rc = plan_example(job, item, &err);
    hm_job_free(job);
    return rc && !item->skipped ? cli_report(&err) : 0;
}

int validate_headlines_make(const struct hm_catalog *catalog, const char *data,
                            const char *const *files, size_t file_count,
                            struct validate_headlines *h)
{
    const char *name, *text;
    size_t length;
    int rc = 0;

    h->count = 0;
    for (size_t i = 0; rc == 0 && hm_example(i, &name, &text, &length); i++) {
        char source[1024];
        snprintf(source, sizeof(source), "%s%s%s", data ? data : "", data ? "/" : "", name);
        rc = add_headline(h, catalog, source, text, length, true);
    }
    for (size_t i = 0; rc == 0 && i < file_count; i++) {
        struct hm_err err = {0};
        char *read = cli_read(files[i], &length, &err);
        rc = read ? add_headline(h, catalog, files[i], read, length, false) : cli_report(&err);
        hm_text_free(read);
    }
    return rc;
}

static size_t headlines_held(const struct validate_headlines *h, size_t *ret_checked)
{
    size_t held = 0;

    *ret_checked = 0;
    for (size_t i = 0; i < h->count; i++) {
        *ret_checked += !h->items[i].skipped;
        held += h->items[i].holds;
    }
    return held;
}

void validate_headlines_text(struct hm_text *out, const struct validate_headlines *h)
{
    size_t checked, held = headlines_held(h, &checked);

    hm__text_addf(out, "%-24s %11s %8s %6s %7s  %s\n", "example", "recommended", "best", "knee",
                  "slack", "rule");
    for (size_t i = 0; i < h->count; i++) {
        const struct validate_headline *x = &h->items[i];
        if (x->skipped)
            hm__text_addf(out, "%-24s %s\n", x->name, "skipped: a file is missing (--data DIR)");
        else
            hm__text_addf(out, "%-24s %11.0f %8.0f %6.0f %5.0f %%  %s\n", x->name, x->recommended,
                          x->best, x->knee, 100 * x->slack, x->holds ? "holds" : "BROKEN");
    }
    hm__text_addf(out,
                  "the recommended n is the smallest within the slack of the best for %zu of %zu "
                  "examples\n",
                  held, checked);
}

void validate_headlines_json(struct hm_json *json, const struct validate_headlines *h)
{
    size_t checked, held = headlines_held(h, &checked);

    hm__json_open(json, "headline", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < h->count; i++) {
        const struct validate_headline *x = &h->items[i];
        hm__json_open(json, NULL, HM_JSON_OBJECT);
        hm__json_put_text(json, "example", x->name);
        hm__json_put_bool(json, "skipped", x->skipped);
        hm__json_put_number(json, "recommended", x->recommended);
        hm__json_put_number(json, "best", x->best);
        hm__json_put_number(json, "knee", x->knee);
        hm__json_put_number(json, "slack", x->slack);
        hm__json_put_bool(json, "holds", x->holds);
        hm__json_close(json);
    }
    hm__json_close(json);
    hm__json_put_number(json, "headline_checked", (double)checked);
    hm__json_put_number(json, "headline_held", (double)held);
}

/* ---- plans from small runs ------------------------------------------------------------------- */

/* Fits the runs on the smaller half of a curve's numbers of workers; returns NULL if that is not
 * possible. */
static struct hm_fit *fit_small(const struct validate_curve *c, const struct hm_fit_rule *rule)
{
    const struct hm_fit_settings settings = {.rule = rule};
    const size_t count = validate_small_count(c);
    double *n = calloc(2 * count + 1, sizeof(*n)), *seconds = n ? n + count : NULL;
    const char **labels = calloc(count + 1, sizeof(*labels));
    const struct hm_column scaling = {.name = "scaling", .labels = labels};
    struct hm_runs *runs = NULL;
    struct hm_fit *fit = NULL;

    for (size_t i = 0; n && labels && i < count; i++) {
        n[i] = c->points[i].n;
        seconds[i] = c->points[i].seconds;
        labels[i] = c->weak ? "weak" : "strong";
    }
    if (!n || !labels || hm_runs_new(n, seconds, count, &scaling, 1, &runs, NULL) ||
        hm_fit_new(runs, &settings, &fit, NULL))
        fit = NULL;
    hm_runs_free(runs);
    free(n);
    free(labels);
    return fit;
}

/* Returns the measured time per unit of work on n workers, which is the median over the runs on n
 * workers. */
static double measured_at(const struct validate_curve *c, double n)
{
    size_t first = 0, count = 0;

    while (first < c->count && c->points[first].n != n)
        first++;
    while (first + count < c->count && c->points[first + count].n == n)
        count++;
    /*
     * The median is in the middle of these runs, because runs with the same n are sorted by time.
     */
    double median =
        (c->points[first + (count - 1) / 2].seconds + c->points[first + count / 2].seconds) / 2;
    return c->weak ? median / n : median;
}

static void bins_add(struct validate_bin *bins, double stated, bool held)
{
    size_t k = 0;

    while (k + 1 < VALIDATE_BINS && stated >= bins[k].to)
        k++;
    bins[k].stated += stated;
    bins[k].count++;
    bins[k].held += held;
}

/*
 * Makes a plan for one curve that may choose only among the curve's numbers of workers, and records
 * whether the measurements confirm the choice.
 */
static void plan_curve(const struct hm_job *job, const struct validate_curve *c,
                       const struct hm_fit_rule *rule, struct validate_plans *p)
{
    struct hm_fit *fit = fit_small(c, rule);
    double *sizes = calloc(c->count + 1, sizeof(*sizes)), least = INFINITY;
    struct hm_question q = HM_QUESTION_INIT;
    struct hm_answer *a = NULL;

    for (size_t i = 0; sizes && i < c->count; i++)
        if (i == 0 || c->points[i].n != c->points[i - 1].n)
            sizes[q.n_count++] = c->points[i].n;
    q.n = sizes;
    q.fit = fit;
    q.weak = c->weak;
    if (fit && sizes && hm_plan(job, NULL, 0, NULL, 0, &q, &a, NULL) == 0 && !isnan(a->sure_near)) {
        for (size_t i = 0; i < q.n_count; i++)
            least = fmin(least, measured_at(c, sizes[i]));
        bins_add(p->near, a->sure_near,
                 measured_at(c, a->points[a->recommended].n) <= (1 + SLACK) * least);
    }
    hm_answer_free(a);
    hm_fit_free(fit);
    free(sizes);
}

/* For each stated probability, counts the curve if the measured time of its largest run is below
 * the bound that the fit states with this probability. */
static size_t add_bounds(const struct validate_curve *c, const struct hm_fit_rule *rule,
                         struct validate_plans *p)
{
    struct validate_result r = validate_curve_predict(c, rule, 0.9);
    const struct hm_span span = {r.low, r.predicted, r.high, 0.9};

    if (!r.interval)
        return 0;
    for (size_t k = 0; k < VALIDATE_LEVELS; k++)
        p->kept[k] += c->measured <= hm__span_bound(&span, p->stated[k]);
    return 1;
}

void validate_plans_make(const struct validate_curves *curves,
                         const struct hm_fit_rule *const *rules, struct validate_plans *p)
{
    struct hm_job *job = NULL;
    size_t count = 0;

    *p = (struct validate_plans){.near = {{.from = 0, .to = 0.5},
                                          {.from = 0.5, .to = 0.7},
                                          {.from = 0.7, .to = 0.85},
                                          {.from = 0.85, .to = 1}},
                                 .stated = {0.5, 0.7, 0.8, 0.9, 0.95}};
    /* A job needs formulas, but they are not used, because the times come from the fits. */
    if (hm_job_new(&job, NULL) || hm_job_set_compute(job, "1", NULL) ||
        hm_job_set_communicate(job, "0", NULL)) {
        hm_job_free(job);
        return;
    }
    for (size_t i = 0; i < curves->count; i++) {
        plan_curve(job, &curves->curves[i], rules[i], p);
        count += add_bounds(&curves->curves[i], rules[i], p);
    }
    hm_job_free(job);
    for (size_t k = 0; k < VALIDATE_LEVELS; k++)
        p->kept[k] /= (double)count;
    for (size_t k = 0; k < VALIDATE_BINS; k++)
        p->near[k].stated /= (double)p->near[k].count;
}

void validate_plans_text(struct hm_text *out, const struct validate_plans *p)
{
    hm__text_add(out, "\na deadline that is met with   is met by\n");
    for (size_t k = 0; k < VALIDATE_LEVELS; k++)
        hm__text_addf(out, "%25.0f %%     %4.0f %%\n", 100 * p->stated[k], 100 * p->kept[k]);
    hm__text_add(out, "\nsure to be within 5 %   mean stated   answers   held\n");
    for (size_t k = 0; k < VALIDATE_BINS; k++) {
        const struct validate_bin *b = &p->near[k];
        if (b->count > 0)
            hm__text_addf(out, "%8.0f to %3.0f %%   %14.0f %%   %7zu   %2zu (%.0f %%)\n",
                          100 * b->from, 100 * b->to, 100 * b->stated, b->count, b->held,
                          100 * (double)b->held / (double)b->count);
    }
}

void validate_plans_json(struct hm_json *json, const struct validate_plans *p)
{
    hm__json_open(json, "deadlines", HM_JSON_LIST);
    for (size_t k = 0; k < VALIDATE_LEVELS; k++) {
        hm__json_open(json, NULL, HM_JSON_OBJECT);
        hm__json_put_number(json, "stated", p->stated[k]);
        hm__json_put_number(json, "holds", p->kept[k]);
        hm__json_close(json);
    }
    hm__json_close(json);
    hm__json_open(json, "sure_near", HM_JSON_LIST);
    for (size_t k = 0; k < VALIDATE_BINS; k++) {
        const struct validate_bin *b = &p->near[k];
        hm__json_open(json, NULL, HM_JSON_OBJECT);
        hm__json_put_number(json, "from", b->from);
        hm__json_put_number(json, "to", b->to);
        hm__json_put_number(json, "stated", b->count ? b->stated : (double)NAN);
        hm__json_put_number(json, "count", (double)b->count);
        hm__json_put_number(json, "held", (double)b->held);
        hm__json_close(json);
    }
    hm__json_close(json);
}
