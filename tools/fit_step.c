/*
 * Chooses the constants of the model of a training step (src/hardware/constants.h) by coordinate
 * descent on the tables in data/, and estimates errors by cross-validation: each source in turn,
 * and each network of the largest source in turn, is left out, the constants are chosen on the
 * rest, and the left-out rows are predicted.
 *
 *     fit-step [report | fit | cross | links] [PASSES] [SOURCE]
 *
 * report prints the errors of the current constants, fit prints better constants. cross prints the
 * number of each row of data/steps.csv and the seconds predicted when its source was left out, for
 * the sources whose names begin with SOURCE; the constants of messages stay as they are, since they
 * are chosen on all-reduces alone. Sorted by number the seconds are the column held_out_s:
 *
 *     fit-step cross 6 | sort -n | cut -d' ' -f2 > held-out
 *     (head -1 data/steps.csv; sed 1d data/steps.csv | sed 's/[^,]*$//' | paste -d '' - held-out)
 *
 * links chooses the constants of messages on all-reduces, then those of overlap and of large
 * clusters on steps of several workers, and prints them and the errors of each source of
 * all-reduces when it was left out.
 *
 * Rows with a platform are not fitted: no constant describes platforms. The loss is the weighted
 * mean over groups (source and network) of the mean of |ln(predicted/measured)|; a source with k
 * networks has the weight sqrt(k), so that large tables do not outweigh small ones.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model_step.h"
#include "order.h"
#include "predict.h"
#include "read_measured.h"

static const struct constant {
    const char *name;
    size_t offset;
    double low, high;
} constants[] = {
#define FIT_ROW(name, value, low, high, doc)                                                       \
    {#name, offsetof(struct hm_constants, name), low, high},
    HM_CONSTANT_MAP(FIT_ROW)
#undef FIT_ROW
};

enum {
    CONSTANTS = sizeof(constants) / sizeof(constants[0]),
    ROWS = 2048,
    GROUPS = 512,
    PROCESSES = 6
};

/* A row of the table of steps or of collectives, with its group in the loss and whether it is left
 * out. */
struct fit_row {
    const struct hm_measured_step *step;
    const struct hm_measured_collective *collective;
    int group;
    bool out, platform;
    double error; /* Error of the prediction, ln(predicted / measured). */
};

static struct fit_row rows[ROWS];
static size_t row_count;
static char groups[GROUPS][128];
static double weights[GROUPS];
static int group_count;
/* Which constants are chosen, and on which rows: all constants on all rows, those of messages on
 * all-reduces, those of overlap and large clusters on steps of several workers, or all but those
 * of messages on all steps. */
enum { CHOOSE_ALL, CHOOSE_MESSAGES, CHOOSE_OVERLAP, CHOOSE_STEPS };
static int choosing;

/* Returns whether a constant was chosen on single operations of an H200 (docs/explain/accuracy.md),
 * so that whole steps do not choose it. */
static bool constant_measured(const char *name)
{
    static const char *const prefixes[] = {"norm_",      "depth_",     "pool_",
                                           "layout",     "bias_add",   "gemm_align",
                                           "update_sgd", "layer_norm", "flash"};

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

static bool constant_chosen(size_t i)
{
    const char *name = constants[i].name;
    if (constant_measured(name))
        return false;
    bool overlap = strcmp(name, "contention") == 0 || strcmp(name, "jitter") == 0 ||
                   strcmp(name, "coll_nodes") == 0;
    bool message = !overlap && strncmp(name, "coll_", 5) == 0;

    return choosing == CHOOSE_ALL || (choosing == CHOOSE_OVERLAP && overlap) ||
           (choosing == CHOOSE_MESSAGES && message) || (choosing == CHOOSE_STEPS && !message);
}

static bool row_counts(const struct fit_row *r)
{
    return !r->out && !r->platform &&
           (choosing == CHOOSE_ALL || (choosing == CHOOSE_MESSAGES && !r->step) ||
            (choosing == CHOOSE_OVERLAP && r->step && r->step->n > 1) ||
            (choosing == CHOOSE_STEPS && r->step));
}

static double *constant_at(struct hm_constants *k, size_t i)
{
    return (double *)((char *)k + constants[i].offset);
}

static int group_of(const char *a, const char *b)
{
    char name[128];

    snprintf(name, sizeof(name), "%.60s/%.60s", a, b);
    for (int i = 0; i < group_count; i++)
        if (strcmp(groups[i], name) == 0)
            return i;
    if (group_count < GROUPS)
        snprintf(groups[group_count], sizeof(groups[0]), "%s", name);
    return group_count++;
}

static bool same_table(const struct hm_measured_step *a, const struct hm_measured_step *b)
{
    return strcmp(a->network, b->network) == 0 && strcmp(a->machine, b->machine) == 0 &&
           a->batch == b->batch && a->job->math == b->job->math &&
           a->job->precision == b->job->precision && a->job->software == b->job->software &&
           a->job->channels_last == b->job->channels_last &&
           a->job->optimizer == b->job->optimizer && a->job->overlap == b->job->overlap;
}

/* The table of operations of the last step, which steps on other numbers of workers share. */
static struct hm_variant last = HM_VARIANT_INIT;
static const struct hm_measured_step *last_step;

static void forget_table(void)
{
    hm__step_table_free(last.table);
    last.table = NULL;
    last_step = NULL;
}

static void row_predict(struct fit_row *r, const struct hm_constants *k)
{
    struct hm_model *model = NULL;
    struct hm_point p;
    struct hm_err err = {0};

    if (r->collective) {
        const struct hm_measured_collective *c = r->collective;
        r->error = log(hm__predict_allreduce(c->cluster, c->n, c->bytes, k) / c->seconds);
        return;
    }
    const struct hm_job *job = r->step->job;
    int rc = 0;
    if (!last_step || !same_table(last_step, r->step)) {
        forget_table();
        rc = hm__model_table_new(job, &job->cluster, k, &last.table, &err);
        last_step = r->step;
    }
    last.way = r->step->way;
    last.weak = true;
    p = (struct hm_point){.n = r->step->n};
    if (rc == 0)
        rc = hm__model_new(job, &job->cluster, &last, &model, &err);
    if (rc == 0)
        rc = hm__model_eval(model, &p, 1, &err);
    hm__model_free(model);
    if (rc) {
        fprintf(stderr, "fit-step: %s\n", err.message);
        exit(1);
    }
    r->error = log(p.time_s / r->step->seconds);
}

/* Gives a source with k networks the weight sqrt(k), shared by its groups, so that a source does
 * not decide because it has many networks. */
static void weigh_groups(void)
{
    for (int g = 0; g < group_count; g++) {
        size_t length = strcspn(groups[g], "/") + 1;
        int same = 0;
        for (int k = 0; k < group_count; k++)
            same += strncmp(groups[k], groups[g], length) == 0;
        weights[g] = 1 / sqrt(same);
    }
}

/* Which rows each constant changes, and whether this is known for all passes. */
static bool touches[CONSTANTS][ROWS], touches_known;

/*
 * Returns the mean over the groups of the mean absolute error of rows that are not left out. Only
 * the rows of `mask` are predicted; the others keep their errors.
 */
static double loss(const struct hm_constants *k, const bool *mask)
{
    double sums[GROUPS] = {0}, total = 0, used = 0;
    int counts[GROUPS] = {0};

    forget_table();
    for (size_t i = 0; i < row_count; i++) {
        if (!row_counts(&rows[i]))
            continue;
        if (!mask || mask[i])
            row_predict(&rows[i], k);
        /* Errors are limited, so that a few rows that no constants explain do not dominate the
         * loss. */
        sums[rows[i].group] += fmin(fabs(rows[i].error), 0.7);
        counts[rows[i].group]++;
    }
    forget_table();
    for (int g = 0; g < group_count; g++)
        if (counts[g] > 0) {
            total += weights[g] * sums[g] / counts[g];
            used += weights[g];
        }
    return used > 0 ? total / used : 0;
}

static void errors_copy(double *to)
{
    for (size_t i = 0; i < row_count; i++)
        to[i] = rows[i].error;
}

static void errors_restore(const double *from)
{
    for (size_t i = 0; i < row_count; i++)
        rows[i].error = from[i];
}

/* Finds the rows that each constant changes at present. */
static void find_touches(struct hm_constants *k)
{
    static double before[ROWS];

    loss(k, NULL);
    errors_copy(before);
    memset(touches, 0, sizeof(touches));
    for (size_t i = 0; i < CONSTANTS; i++)
        for (int sign = -1; sign <= 1 && constant_chosen(i); sign += 2) {
            double *x = constant_at(k, i), old = *x;
            *x = fmin(fmax(old * (1 + sign * 0.3), constants[i].low), constants[i].high);
            loss(k, NULL);
            *x = old;
            for (size_t r = 0; r < row_count; r++)
                touches[i][r] |= fabs(rows[r].error - before[r]) > 1e-9;
        }
    errors_restore(before);
}

/* Improves the constants by coordinate descent. Returns the loss. */
static double descend(struct hm_constants *k, int passes, bool verbose)
{
    static double kept[ROWS];
    double best = 0, steps[CONSTANTS];

    for (size_t i = 0; i < CONSTANTS; i++)
        steps[i] = 0.15;
    for (int pass = 0; pass < passes; pass++) {
        if (pass % 4 == 0 && !touches_known)
            find_touches(k);
        best = loss(k, NULL);
        double before = best;
        errors_copy(kept);
        for (size_t i = 0; i < CONSTANTS; i++) {
            double *x = constant_at(k, i), old = *x;
            bool better = false;
            if (!constant_chosen(i))
                continue;
            for (int sign = -1; sign <= 1 && !better; sign += 2) {
                double next = old * (1 + sign * steps[i]);
                *x = fmin(fmax(next, constants[i].low), constants[i].high);
                double now = loss(k, touches[i]);
                better = now < best - 1e-6;
                if (better) {
                    best = now;
                    errors_copy(kept);
                } else {
                    *x = old;
                    errors_restore(kept);
                }
            }
            steps[i] *= better ? 1.3 : 0.5;
        }
        if (verbose)
            fprintf(stderr, "pass %d: %.4f\n", pass, best);
        if (before - best < 2e-5)
            break;
    }
    return loss(k, NULL);
}

static double quantile(double *values, size_t count, double q)
{
    qsort(values, count, sizeof(*values), hm__compare_numbers);
    return count ? values[(size_t)fmin((double)count - 1, q * (double)count)] : NAN;
}

static const char *row_source(const struct fit_row *r)
{
    return r->step ? r->step->source : r->collective->source;
}

/* Prints the median absolute error and the quantiles of measured / predicted of some rows. */
static void report_rows(const char *label, const char *source, const char *network, int software,
                        int alone)
{
    static double absolute[ROWS], ratio[ROWS];
    size_t count = 0;

    for (size_t i = 0; i < row_count; i++) {
        const struct fit_row *r = &rows[i];
        if ((source && strcmp(row_source(r), source) != 0) ||
            (network && (!r->step || strcmp(r->step->network, network) != 0)) ||
            (software >= 0 && (!r->step || (int)r->step->job->software != software)) ||
            (alone >= 0 && (!r->step || (r->step->n == 1) != alone)))
            continue;
        absolute[count] = fabs(exp(r->error) - 1);
        ratio[count++] = exp(-r->error);
    }
    if (count)
        printf("%-44s %4zu rows, median error %5.1f %%, 5-95 %% of measured/predicted %.2f %.2f, "
               "median %.2f\n",
               label, count, 100 * hm__values_median(absolute, count), quantile(ratio, count, 0.05),
               quantile(ratio, count, 0.95), hm__values_median(ratio, count));
}

static void report(bool details)
{
    static const char *const softwares[] = {"eager", "compiled", "tuned"};

    for (size_t i = 0; i < row_count; i++) {
        bool seen = false;
        for (size_t k = 0; k < i && !seen; k++)
            seen = strcmp(row_source(&rows[k]), row_source(&rows[i])) == 0;
        if (!seen)
            report_rows(row_source(&rows[i]), row_source(&rows[i]), NULL, -1, -1);
    }
    for (size_t i = 0; details && i < row_count; i++) {
        bool seen = !rows[i].step;
        for (size_t k = 0; k < i && !seen; k++)
            seen = rows[k].step && strcmp(rows[k].step->network, rows[i].step->network) == 0;
        if (!seen)
            report_rows(rows[i].step->network, NULL, rows[i].step->network, -1, -1);
    }
    for (int s = 0; s < 3; s++)
        for (int alone = 1; alone >= 0; alone--) {
            char label[64];
            snprintf(label, sizeof(label), "%s, %s", softwares[s],
                     alone ? "one worker" : "several workers");
            report_rows(label, NULL, NULL, s, alone);
        }
}

/*
 * Returns whether row b is left out together with row a: their sources have the same name up to the
 * first dash (several tables of one origin), or the same network if both are measurements on the
 * H200, whose rows are too many to be left out at once.
 */
static bool left_out_with(const struct fit_row *a, const struct fit_row *b)
{
    bool whole = strncmp(row_source(a), "h200", 4) != 0;

    if (whole) {
        size_t length = strcspn(row_source(a), "-");
        return b->step && length == strcspn(row_source(b), "-") &&
               strncmp(row_source(a), row_source(b), length) == 0;
    }
    return b->step && strncmp(row_source(b), "h200", 4) == 0 &&
           strcmp(a->step->network, b->step->network) == 0;
}

/* Changes the constants that are chosen by about a quarter, since they were fitted to all rows. */
static void move_constants(struct hm_constants *k)
{
    for (size_t j = 0; j < CONSTANTS; j++) {
        double moved = *constant_at(k, j) * (j % 2 ? 1.25 : 0.8);
        if (constant_chosen(j))
            *constant_at(k, j) = fmin(fmax(moved, constants[j].low), constants[j].high);
    }
}

/* Leaves out each source of all-reduces in turn; sources of one machine, whose names are equal up
 * to the first underscore, are left out together. */
static void cross_links(int passes)
{
    static double errors[ROWS], absolute[ROWS], ratio[ROWS];
    static bool done[ROWS];
    size_t count = 0;

    for (size_t i = 0; i < row_count; i++) {
        if (done[i] || !rows[i].collective)
            continue;
        const char *source = row_source(&rows[i]);
        size_t length = strncmp(source, "allreduce", 9) ? strcspn(source, "_") : strlen(source);
        struct hm_constants k = hm__constants;
        for (size_t j = 0; j < row_count; j++)
            rows[j].out = rows[j].collective && strncmp(row_source(&rows[j]), source, length) == 0;
        move_constants(&k);
        descend(&k, passes, false);
        for (size_t j = 0; j < row_count; j++)
            if (rows[j].out) {
                row_predict(&rows[j], &k);
                errors[j] = rows[j].error;
                absolute[count] = fabs(exp(errors[j]) - 1);
                ratio[count++] = exp(-errors[j]);
                done[j] = true;
            }
    }
    for (size_t i = 0; i < row_count; i++)
        rows[i].error = errors[i];
    printf("\nheld out: %zu all-reduces, median error %.1f %%, 5-95 %% of measured/predicted %.2f "
           "%.2f\n",
           count, 100 * hm__values_median(absolute, count), quantile(ratio, count, 0.05),
           quantile(ratio, count, 0.95));
    for (size_t i = 0; i < row_count; i++)
        if (rows[i].collective && (i == 0 || !rows[i - 1].collective ||
                                   strcmp(row_source(&rows[i]), row_source(&rows[i - 1])) != 0))
            report_rows(row_source(&rows[i]), row_source(&rows[i]), NULL, -1, -1);
}

/* Leaves out each source in turn, chooses constants on the other rows, and predicts its rows.
 * Several processes share the sources. */
static void cross(int passes, const char *prefix)
{
    static bool done[ROWS];
    struct hm_constants moved = hm__constants;

    choosing = CHOOSE_STEPS;
    move_constants(&moved);
    find_touches(&moved);
    touches_known = true;
    int self = 0, fold = 0;
    while (self < PROCESSES - 1 && fork() != 0)
        self++;
    for (size_t i = 0; i < row_count && rows[i].step; i++) {
        if (done[i] || strncmp(row_source(&rows[i]), prefix, strlen(prefix)) != 0)
            continue;
        for (size_t k = 0; k < row_count; k++) {
            rows[k].out = left_out_with(&rows[i], &rows[k]);
            done[k] |= rows[k].out && rows[k].step;
        }
        if (fold++ % PROCESSES != self)
            continue;
        /* The current constants were chosen from all rows, so the search starts at other values. */
        struct hm_constants k = rows[i].platform ? hm__constants : moved;
        if (!rows[i].platform)
            descend(&k, passes, false);
        for (size_t j = 0; j < row_count; j++)
            if (rows[j].out && rows[j].step) {
                row_predict(&rows[j], &k);
                printf("%zu %.5g\n", j + 1, rows[j].step->seconds * exp(rows[j].error));
            }
        forget_table();
        fflush(stdout);
    }
    while (self == PROCESSES - 1 && wait(NULL) > 0)
        ;
    if (self < PROCESSES - 1)
        exit(0);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "report";
    int passes = argc > 2 ? atoi(argv[2]) : 12;
    struct hm_measured_steps steps;
    struct hm_measured_collectives collectives;
    struct hm_catalog *catalog;
    struct hm_err err = {0};

    if (hm_catalog_new(&catalog, &err) ||
        hm__measured_steps_read(catalog, NULL, 0, NULL, &steps, &err) ||
        hm__measured_collectives_read(catalog, NULL, 0, NULL, &collectives, &err)) {
        fprintf(stderr, "fit-step: %s:%d: %s\n", err.source, err.line, err.message);
        return 1;
    }
    for (size_t i = 0; i < steps.count && row_count < ROWS; i++)
        rows[row_count++] =
            (struct fit_row){.step = &steps.rows[i],
                             .group = group_of(steps.rows[i].source, steps.rows[i].network),
                             .platform = steps.rows[i].way.platform != HM_PLATFORM_JOB};
    for (size_t i = 0; i < collectives.count && row_count < ROWS; i++)
        rows[row_count++] =
            (struct fit_row){.collective = &collectives.rows[i],
                             .group = group_of(collectives.rows[i].source, "all-reduce")};
    weigh_groups();
    struct hm_constants k = hm__constants;
    bool links = strcmp(what, "links") == 0;
    for (int stage = links ? CHOOSE_MESSAGES : CHOOSE_ALL;
         strcmp(what, "fit") == 0 || (links && stage <= CHOOSE_OVERLAP); stage++) {
        choosing = stage;
        descend(&k, passes, true);
        for (size_t i = 0; i < CONSTANTS; i++)
            if (constant_chosen(i))
                printf("%s %.4g\n", constants[i].name, *constant_at(&k, i));
        if (!links)
            break;
    }
    choosing = CHOOSE_ALL;
    if (strcmp(what, "cross") == 0) {
        cross(passes, argc > 3 ? argv[3] : "");
    } else {
        printf("loss %.4f\n", loss(&k, NULL));
        report(true);
    }
    choosing = CHOOSE_MESSAGES;
    if (links)
        cross_links(passes);
    hm__measured_steps_release(&steps);
    hm__measured_collectives_release(&collectives);
    hm_catalog_free(catalog);
    return 0;
}
