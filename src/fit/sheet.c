/*
 * Uses the times that a job's specification sheet predicts as the terms of a fit.
 *
 * Each component of the time that the sheet predicts (compute, and every communication step) is a
 * term whose factor is 1 if the sheet is correct. Three terms that a sheet does not contain are
 * added, as fractions of the time t1 of one worker: evenly divided work (in case the sheet assumes
 * an imbalance that does not exist), a part that grows with ln n, and a part that grows with each
 * additional worker. All factors have normal priors, truncated at 0:
 *
 *     part         1 +- width   (0.5: right within a factor of about 1.5)
 *     t1 / n       0 +- width
 *     t1 ln n      0 +- width / 50
 *     t1 (n - 1)   0 +- width / 200, or width / 5000 if steps are modelled by operations
 *
 * Without runs, the fit equals the sheet. A few runs on few workers correct the factors that they
 * determine; the others widen the interval at larger n. If steps are modelled by operations, the
 * interval is also widened by the drift: how much the relative error of a sheet changes with n on
 * measured curves (sheet_spread.h). If communication overlaps with computation, the overlap is
 * evaluated with the corrected parts (overlap.h). Limit: runs may differ from the sheet only in
 * size, batch, latency and bandwidth.
 */
#include <math.h>
#include <string.h>

#include "basis.h"
#include "budget.h"
#include "err.h"
#include "model_step.h"
#include "overlap.h"
#include "sheet_spread.h"

enum { EXTRAS = HM_SHEET_EXTRAS, VARIANTS_MAX = 4096 };

struct hm_sheet {
    const struct hm_job *job; /* The job; borrowed from the caller. */
    /* The hardware, borrowed; NULL if the job consists of formulas only. */
    const struct hm_cluster *cluster;
    /* Table of step times, shared by all models, borrowed; may be NULL. */
    struct hm_step_table *table;
    bool weak;
    /*
     * Times in seconds that the specification sheet predicts without corrections, on one worker and
     * on the job's reference number of workers.
     */
    double one_s, reference_s;
    double work_s;  /* Computation time in seconds that the specification sheet predicts on one
                       worker. */
    bool size_by_n; /* True if the column `size` of the runs is proportional to n (weak scaling). */
};

void hm__sheet_set_size_by_n(struct hm_sheet *sheet)
{
    sheet->size_by_n = true;
}

double hm__sheet_reference_s(const struct hm_sheet *sheet)
{
    return sheet->reference_s;
}

/*
 * Splits the graph of a job for each n that is needed; (*ret_parts)[n - 1] is the split for n
 * workers.
 */
static int sheet_split_graph(const struct hm_job *job, const double *n, size_t count,
                             struct hm_variant *variant, struct hm_parts **ret_parts,
                             struct hm_err *err)
{
    double most = 1;
    int rc = 0;

    for (size_t i = 0; i < count; i++)
        most = fmax(most, n[i]);
    if (most > job->graph->vertices)
        return hm__fail(err, HM_E_RANGE, "%.0f workers, but the graph has %.0f vertices", most,
                        job->graph->vertices);
    struct hm_parts *parts = hm__calloc((size_t)most, sizeof(*parts));
    if (!parts)
        return hm__fail_nomem(err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        struct hm_parts *at = &parts[(size_t)n[i] - 1];
        if (at->n == 0)
            rc = hm_graph_split(job->graph, job->split, job->trials, job->seed, &n[i], 1, at, err);
    }
    variant->parts = parts;
    variant->part_count = (size_t)most;
    *ret_parts = parts;
    return rc;
}

/* Computes the terms for several numbers of workers n under one variant of the specification sheet
 * (changed work or network). */
static int sheet_eval_variant(const struct hm_basis *basis, struct hm_variant variant,
                              const double *n, size_t count, double *x, struct hm_err *err)
{
    const struct hm_sheet *sheet = basis->sheet;
    struct hm_parts *parts = NULL;
    struct hm_model *model = NULL;
    int rc = 0;

    variant.weak = sheet->weak;
    variant.table = sheet->table;
    if (sheet->job->graph)
        rc = sheet_split_graph(sheet->job, n, count, &variant, &parts, err);
    if (rc == 0)
        rc = hm__model_new(sheet->job, sheet->cluster, &variant, &model, err);
    if (rc == 0)
        rc = hm__basis_eval_model(basis, model, n, count, x, err);
    hm__model_free(model);
    hm__free(parts);
    return rc;
}

/* Sets times[i] to the time in seconds on n[i] workers if communication takes `factor` times as
 * long. */
static int sheet_eval_slowed(const struct hm_model *model, const double *n, size_t count,
                             double factor, double *times, struct hm_err *err)
{
    struct hm_point *points = hm__calloc(count, sizeof(*points));

    if (!points)
        return hm__fail_nomem(err);
    for (size_t i = 0; i < count; i++)
        points[i].n = n[i];
    int rc = hm__model_eval_slowed(model, points, count, factor, err);
    for (size_t i = 0; rc == 0 && i < count; i++)
        times[i] = points[i].time_s;
    hm__free(points);
    return rc;
}

int hm__basis_eval_model(const struct hm_basis *basis, const struct hm_model *model,
                         const double *n, size_t count, double *x, struct hm_err *err)
{
    const struct hm_sheet *sheet = basis->sheet;
    const size_t parts = basis->count - EXTRAS;
    int rc = hm__model_parts(model, n, count, x, err);

    for (size_t k = 0; rc == 0 && basis->overlaps && k < HM_OVERLAP_KNOTS; k++)
        rc = sheet_eval_slowed(model, n, count, hm__overlap_ratios[k],
                               x + (basis->count + k) * count, err);
    if (rc == 0 && basis->overlaps)
        hm__overlap_linearise(basis, 1, 1, x, count);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        x[(parts + 0) * count + i] = sheet->work_s / (sheet->weak ? 1 : n[i]);
        x[(parts + 1) * count + i] = sheet->one_s * log(n[i]);
        x[(parts + 2) * count + i] = sheet->one_s * (n[i] - 1);
        x[hm__basis_log_row(basis) * count + i] = log(n[i]);
    }
    return rc;
}

/*
 * Returns the changes to the specification sheet for configuration i: the amount of work, the
 * latency and the bandwidth, if the runs have a column for them.
 */
static struct hm_variant sheet_variant_at(const struct hm_basis *basis,
                                          const double *const *columns, size_t i)
{
    const struct hm_sheet *sheet = basis->sheet;
    struct hm_variant variant = HM_VARIANT_INIT;
    int size = hm__basis_find(basis, "size"), batch = hm__basis_find(basis, "batch");
    int latency = hm__basis_find(basis, "latency"), bandwidth = hm__basis_find(basis, "bandwidth");
    const struct hm_link *link = sheet->cluster ? &sheet->cluster->fabric : NULL;

    /* An unknown value (NaN) leaves the job unchanged. */
    if (size >= 0 && !isnan(columns[size][i]))
        variant.work *= columns[size][i] / (sheet->weak && sheet->size_by_n ? columns[0][i] : 1);
    /* In runs, a batch contains the samples of all workers; in a job with weak scaling, it contains
     * the samples of one worker. */
    if (batch >= 0 && sheet->job->batch > 0 && !isnan(columns[batch][i]))
        variant.work *= columns[batch][i] / (sheet->weak ? columns[0][i] : 1) / sheet->job->batch;
    if (latency >= 0 && link && link->latency_s > 0 && !isnan(columns[latency][i]))
        variant.latency = columns[latency][i] / link->latency_s;
    if (bandwidth >= 0 && link && link->bandwidth_bytes_per_s > 0 && !isnan(columns[bandwidth][i]))
        variant.bandwidth = columns[bandwidth][i] / link->bandwidth_bytes_per_s;
    return variant;
}

static bool variant_equal(const struct hm_variant *a, const struct hm_variant *b)
{
    return a->work == b->work && a->latency == b->latency && a->bandwidth == b->bandwidth;
}

/*
 * Computes the terms for all configurations that have the same variant of the specification sheet
 * as configuration `first`, and marks them in done[].
 */
static int sheet_eval_alike(const struct hm_basis *basis, const double *const *columns,
                            size_t count, size_t first, bool *done, double *n, double *part_x,
                            double *x, struct hm_err *err)
{
    struct hm_variant variant = sheet_variant_at(basis, columns, first);
    size_t alike = 0;

    for (size_t i = first; i < count; i++) {
        struct hm_variant other = sheet_variant_at(basis, columns, i);
        if (!done[i] && variant_equal(&variant, &other))
            n[alike++] = columns[0][i];
    }
    int rc = sheet_eval_variant(basis, variant, n, alike, part_x, err);
    for (size_t i = first, at = 0; rc == 0 && at < alike; i++) {
        struct hm_variant other = sheet_variant_at(basis, columns, i);
        if (done[i] || !variant_equal(&variant, &other))
            continue;
        for (size_t k = 0; k < hm__basis_rows(basis); k++)
            x[k * count + i] = part_x[k * alike + at];
        done[i] = true;
        at++;
    }
    return rc;
}

int hm__sheet_eval(const struct hm_basis *basis, const double *const *columns, size_t count,
                   double *x, struct hm_err *err)
{
    bool *done = hm__calloc(count, sizeof(*done));
    double *n = hm__calloc(count, sizeof(*n));
    double *part_x = hm__calloc(count * hm__basis_rows(basis), sizeof(*part_x));
    size_t variants = 0;
    int rc = done && n && part_x ? 0 : hm__fail_nomem(err);

    for (size_t i = 0; rc == 0 && i < count; i++) {
        if (done[i])
            continue;
        if ((rc = hm__budget_check("runs", err)))
            break;
        if (variants++ == VARIANTS_MAX)
            rc = hm__fail(err, HM_E_LIMIT, "the runs have more than %d different sizes",
                          VARIANTS_MAX);
        else
            rc = sheet_eval_alike(basis, columns, count, i, done, n, part_x, x, err);
    }
    hm__free(done);
    hm__free(n);
    hm__free(part_x);
    return rc;
}

void hm__sheet_set_drift(const struct hm_sheet *sheet, double n_most, struct hm_fit_rule *rule,
                         double *one_node)
{
    rule->drift = rule->crossing = 0;
    if (!hm__model_by_operations(sheet->job, sheet->cluster))
        return;
    *rule = (struct hm_fit_rule){
        .drift = HM_SHEET_DRIFT, .drift_power = 1, .crossing = HM_SHEET_CROSSING};
    if (n_most <= sheet->cluster->node.accelerators)
        *one_node = sheet->cluster->node.accelerators;
}

static void basis_add_overhead(struct hm_basis *basis, const char *text, double width)
{
    basis->texts[basis->count] = text;
    basis->priors[basis->count++] = (struct hm_prior){0, width};
}

static int basis_name_parts(struct hm_basis *basis, struct hm_arena *arena,
                            const struct hm_model *model, double width, struct hm_err *err)
{
    const size_t parts = hm__model_part_count(model);
    char name[80];

    if (parts + EXTRAS > HM_TERMS_MAX)
        return hm__fail(err, HM_E_LIMIT,
                        "a job of more than %d communication steps cannot be fitted",
                        HM_TERMS_MAX - EXTRAS - 1);
    for (size_t k = 0; k < parts; k++) {
        hm__model_part_name(model, k, name, sizeof(name));
        if (!(basis->texts[k] = hm__arena_strdup(arena, name)))
            return hm__fail_nomem(err);
        basis->parts[k] = true;
        basis->priors[k] = (struct hm_prior){1, width};
    }
    const bool operations = hm__model_by_operations(basis->sheet->job, basis->sheet->cluster);
    basis->count = parts;
    basis->overlaps = hm__model_overlap(model) != HM_OVERLAP_NONE && parts > 1;
    /*
     * With overlap, the additional work in this term could not hide communication as the work of
     * the job does, so a narrow prior keeps its factor near 0.
     */
    basis_add_overhead(basis, basis->sheet->weak ? "t1" : "t1/n",
                       basis->overlaps ? width * 1e-6 : width);
    basis_add_overhead(basis, "t1*ln(n)", width / 50);
    /*
     * The model by operations includes the costs of collectives on many nodes, and measured steps
     * show hardly any additional cost per worker, so the prior is narrow.
     */
    basis_add_overhead(basis, "t1*(n-1)", operations ? width / 5000 : width / 200);
    return 0;
}

/*
 * Computes the times that the specification sheet predicts without corrections, which scale the
 * overheads, and names the terms.
 */
static int sheet_measure(struct hm_basis *basis, struct hm_arena *arena, double width,
                         struct hm_err *err)
{
    struct hm_sheet *sheet = basis->sheet;
    double n[2] = {1, sheet->job->reference};
    struct hm_point points[2] = {{.n = n[0]}, {.n = n[1]}};
    struct hm_variant variant = HM_VARIANT_INIT;
    struct hm_parts *parts = NULL;
    struct hm_model *model = NULL;
    int rc = 0;

    variant.weak = sheet->weak;
    variant.table = sheet->table;
    if (sheet->job->graph)
        rc = sheet_split_graph(sheet->job, n, 2, &variant, &parts, err);
    if (rc == 0)
        rc = hm__model_new(sheet->job, sheet->cluster, &variant, &model, err);
    if (rc == 0)
        rc = hm__model_eval(model, points, 2, err);
    if (rc == 0)
        rc = basis_name_parts(basis, arena, model, width, err);
    sheet->one_s = points[0].time_s;
    sheet->work_s = points[0].compute_s;
    sheet->reference_s = points[1].time_s;
    hm__model_free(model);
    hm__free(parts);
    return rc;
}

int hm__basis_sheet(struct hm_basis *basis, struct hm_arena *arena, const struct hm_job *job,
                    const struct hm_cluster *cluster, struct hm_step_table *table, double width,
                    struct hm_err *err)
{
    if (!(basis->sheet = hm__arena_alloc(arena, 1, sizeof(*basis->sheet))))
        return hm__fail_nomem(err);
    if (!cluster && job->has_cluster)
        cluster = &job->cluster;
    *basis->sheet = (struct hm_sheet){
        .job = job, .cluster = cluster, .table = table, .weak = job->scaling == HM_SCALING_WEAK};
    return sheet_measure(basis, arena, width, err);
}
