/*
 * How far measured steps lie from what a specification sheet predicts.
 *
 * The table has, for each kind of job and hardware, mean and standard deviation of
 * r = ln(measured / predicted) over the measurements in data/steps.csv. The predictions are those
 * of constants that were chosen without the source of the row (column held_out_s), so the spread
 * is that of a source that the model has not seen. `howmany validate --steps` computes the figures
 * again from the tables, and docs/accuracy.md reports how the intervals hold.
 *
 * Every source has the same weight, however many rows it has. With k sources of means m_s, the mean
 * is m = sum m_s / k, the variance of a row is v = sum over sources of the mean of (r - m)^2, / k,
 * and a row of a further source has the variance v (1 + 1/k), since m is uncertain too. The
 * deviation `within` is that of the steps of one job (same source, network, machine, batch and
 * formats) on different n around their mean.
 *
 * Limits: few sources, and one distribution for all networks of a kind.
 */
#include "sheet_spread.h"

#include <math.h>
#include <string.h>

#include "device.h"
#include "model_step.h"

/* clang-format off */
const struct hm_sheet_error hm__sheet_errors[HM_SHEET_KIND_COUNT] = {
    [HM_SHEET_DEVICE] = {"networks on one accelerator", 0, 0.2, 0},
    [HM_SHEET_NODE] = {"networks on the accelerators of one node", 0, 0.2, 0.1},
    [HM_SHEET_NODES] = {"networks on accelerators of several nodes", 0, 0.2, 0.1},
    [HM_SHEET_COMPILED] = {"compiled networks on one accelerator", 0, 0.2, 0.1},
    [HM_SHEET_SERVER] = {"parameter servers of workers with accelerators", 0, 0.2, 0.1},
    [HM_SHEET_DRIVER] = {"drivers and parameter servers of workers without accelerators", 0, 0.2, 0.1},
    [HM_SHEET_RATES] = {"networks on hardware given by its rates", 0, 0.2, 0.1},
    [HM_SHEET_MATRIX] = {"networks on matrix units given by their rates", 0, 0.2, 0.1},
    [HM_SHEET_FORMULA] = {"jobs given by formulas or totals", 0.071, 0.1109, 0.1},
};
/* clang-format on */

/* Half of the 90 % interval of a normal distribution, in standard deviations. */
static const double NORMAL_90 = 1.645;

/* Whether the rate of the job's format is at least twice that of fp32. */
static bool job_uses_matrix_units(const struct hm_job *job, const struct hm_node *node)
{
    double rate = hm__node_rate(node, job->math, job->precision, NULL);

    return job->precision < 64 && !(rate < 2 * node->flops_32);
}

enum hm_sheet_kind hm__sheet_kind(const struct hm_job *job, const struct hm_cluster *cluster,
                                  const struct hm_way *way, double n)
{
    const bool layers = cluster && job->network && job->network->layer_count > 0 && !job->compute;
    const bool operations = hm__model_by_operations(job, cluster);

    if (way->platform == HM_PLATFORM_SERVER || way->platform == HM_PLATFORM_DRIVER)
        return operations ? HM_SHEET_SERVER : layers ? HM_SHEET_DRIVER : HM_SHEET_FORMULA;
    if (!operations)
        return !layers                                      ? HM_SHEET_FORMULA
               : job_uses_matrix_units(job, &cluster->node) ? HM_SHEET_MATRIX
                                                            : HM_SHEET_RATES;
    if (job->software == HM_SOFTWARE_COMPILED)
        return HM_SHEET_COMPILED;
    return n > cluster->node.accelerators ? HM_SHEET_NODES
           : n > 1                        ? HM_SHEET_NODE
                                          : HM_SHEET_DEVICE;
}

/* The interval always contains the prediction: where few rows lie on one side of it, they do not
 * exclude the other side. */
struct hm_interval hm__sheet_interval(const struct hm_sheet_error *e)
{
    const double half = NORMAL_90 * e->spread;

    return (struct hm_interval){exp(fmin(e->mean - half, 0)), exp(fmax(e->mean + half, 0))};
}

static bool row_counts(const struct hm_sheet_row *row, const char *without)
{
    return !without || strcmp(row->source, without) != 0;
}

/* Whether row i is the first one of its source. */
static bool source_is_new(const struct hm_sheet_row *rows, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(rows[k].source, rows[i].source) == 0)
            return false;
    return true;
}

/* Mean over the rows of a source of (error - around)^power. */
static double source_moment(const struct hm_sheet_row *rows, size_t count, const char *source,
                            double around, int power)
{
    double sum = 0;
    size_t used = 0;

    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].source, source) == 0) {
            double distance = rows[i].error - around;
            sum += power == 2 ? distance * distance : distance;
            used++;
        }
    return sum / (double)used;
}

/* Squares of the distances of a job's rows from their mean, and the degrees of freedom. */
static double job_squares(const struct hm_sheet_row *rows, size_t count, size_t first,
                          double *ret_free)
{
    double sum = 0, squares = 0, used = 0;

    for (size_t i = first; i < count; i++)
        if (rows[i].job == rows[first].job) {
            sum += rows[i].error;
            used++;
        }
    for (size_t i = first; i < count; i++)
        if (rows[i].job == rows[first].job)
            squares += (rows[i].error - sum / used) * (rows[i].error - sum / used);
    *ret_free = used - 1;
    return squares;
}

static bool job_is_new(const struct hm_sheet_row *rows, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (rows[k].job == rows[i].job)
            return false;
    return true;
}

size_t hm__sheet_estimate(const struct hm_sheet_row *rows, size_t count, const char *without,
                          struct hm_sheet_error *ret_error)
{
    double mean = 0, variance = 0, squares = 0, degrees = 0;
    size_t sources = 0;

    for (size_t i = 0; i < count; i++)
        if (row_counts(&rows[i], without) && source_is_new(rows, i)) {
            mean += source_moment(rows, count, rows[i].source, 0, 1);
            sources++;
        }
    mean /= (double)sources;
    for (size_t i = 0; i < count; i++) {
        double free = 0;
        if (!row_counts(&rows[i], without))
            continue;
        if (source_is_new(rows, i))
            variance += source_moment(rows, count, rows[i].source, mean, 2);
        if (job_is_new(rows, i))
            squares += job_squares(rows, count, i, &free);
        degrees += free;
    }
    const double k = (double)sources;
    *ret_error = (struct hm_sheet_error){.mean = mean,
                                         .spread = sqrt(variance / k * (1 + 1 / k)),
                                         .within = degrees > 0 ? sqrt(squares / degrees) : NAN};
    return sources;
}
