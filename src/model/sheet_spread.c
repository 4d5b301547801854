/*
 * Estimates the errors of a specification sheet's predictions by comparing them with measured
 * steps.
 *
 * For each kind of job and hardware, the table contains the mean and standard deviation of r =
 * ln(measured / predicted) over the measurements in data/steps.csv and data/platforms.csv. The
 * predictions are made with constants that were fitted without the source of the row, or without
 * its network for CPUs and frameworks (column held_out_s), so the spread applies to a source that
 * the model has not seen. `howmany validate --steps` estimates these values again from the tables,
 * and docs/explain/accuracy.md reports how often the intervals contain the measurement.
 *
 * Every source has the same weight, regardless of its number of rows. With k sources of means m_s,
 * the mean is m = sum m_s / k. The variance v of a row is the larger of two means of (r - m)^2:
 * that over the sources of the mean within a source, and that over all rows, because a large source
 * with many networks shows how much networks differ. A row of another source has the variance v (1
 * + 1/k), since m is also uncertain. One to four sources do not determine v, so the deviation is
 * then scaled to the 90 % interval of Student's distribution with k degrees of freedom. For a kind
 * that has a single source, networks were held out instead of sources, and the deviation is not
 * scaled.
 *
 * Steps of one job on different n have much of their error in common. The difference between their
 * errors grows with the ratio of their n, and is larger if one n is inside a node and the other
 * needs several nodes. If the row on the fewest workers is known, the median error of 166 rows
 * decreases from 12 % to 3 %.
 *
 * Limits: there are few sources, and there is one distribution for all networks of a kind.
 */
#include "sheet_spread.h"

#include <math.h>
#include <string.h>

#include "device.h"
#include "model_step.h"

/* clang-format off */
const struct hm_sheet_error hm__sheet_errors[HM_SHEET_KIND_COUNT] = {
    [HM_SHEET_DEVICE] = {"networks on one accelerator", 0.0137, 0.1626},
    [HM_SHEET_NODE] = {"networks on the accelerators of one node", 0.0233, 0.1836},
    [HM_SHEET_NODES] = {"networks on accelerators of several nodes", 0.0471, 0.3031},
    [HM_SHEET_COMPILED] = {"compiled networks on accelerators", 0.0265, 0.5529},
    [HM_SHEET_SERVER] = {"parameter servers and workers with accelerators", -0.9365, 1.1555},
    [HM_SHEET_DRIVER] = {"drivers and servers on CPUs, framework not named", 1.0088, 1.2109},
    [HM_SHEET_FRAMEWORK] = {"drivers and servers of a framework on CPUs", -0.0930, 0.3780},
    [HM_SHEET_CPU] = {"networks on CPUs", 0.0484, 0.5757},
    [HM_SHEET_RATES] = {"networks on hardware given by its rates", -0.1968, 0.4417},
    [HM_SHEET_MATRIX] = {"networks on matrix units given by their rates", 0.6476, 0.9950},
    [HM_SHEET_TOTALS] = {"networks given by their totals, on accelerators", -0.0977, 0.8504},
    [HM_SHEET_FORMULA] = {"jobs given by formulas or totals", 0.0710, 0.2365},
};
/* clang-format on */

/* Half the width of the 90 % interval of a normal distribution, in standard deviations. */
static const double NORMAL_90 = 1.645;

/* Half the width of the 90 % interval of Student's distribution with 1 to 4 degrees of freedom.
 */
static const double student_90[] = {6.314, 2.920, 2.353, 2.132};

/* Returns whether the rate of the job's number format is at least twice the rate of fp32. */
static bool job_uses_matrix_units(const struct hm_job *job, const struct hm_node *node)
{
    double rate = hm__node_rate(node, job->math, job->precision, NULL);

    return job->precision < 64 && !(rate < 2 * node->flops_32);
}

enum hm_sheet_kind hm__sheet_kind(const struct hm_job *job, const struct hm_cluster *cluster,
                                  const struct hm_way *way, double n)
{
    const bool layers = cluster && job->network && job->network->layer_count > 0 && !job->compute;
    const bool cpu = cluster && cluster->node.cores > 0 && !(cluster->node.processors > 0);
    const bool operations = !cpu && hm__model_by_operations(job, cluster);

    if (way->platform == HM_PLATFORM_SERVER || way->platform == HM_PLATFORM_DRIVER)
        return operations                                   ? HM_SHEET_SERVER
               : !layers                                    ? HM_SHEET_FORMULA
               : cpu && job->framework != HM_FRAMEWORK_NONE ? HM_SHEET_FRAMEWORK
                                                            : HM_SHEET_DRIVER;
    if (hm__model_by_totals(job, cluster))
        return HM_SHEET_TOTALS;
    if (!operations)
        return !layers                                      ? HM_SHEET_FORMULA
               : cpu                                        ? HM_SHEET_CPU
               : job_uses_matrix_units(job, &cluster->node) ? HM_SHEET_MATRIX
                                                            : HM_SHEET_RATES;
    if (job->software == HM_SOFTWARE_COMPILED)
        return HM_SHEET_COMPILED;
    return n > cluster->node.accelerators ? HM_SHEET_NODES
           : n > 1                        ? HM_SHEET_NODE
                                          : HM_SHEET_DEVICE;
}

/*
 * The interval always contains the prediction, because a few measurements that are all on one side
 * of it do not exclude the other side.
 */
struct hm_interval hm__sheet_interval(const struct hm_sheet_error *e)
{
    const double half = NORMAL_90 * e->spread;

    return (struct hm_interval){exp(fmin(e->mean - half, 0)), exp(fmax(e->mean + half, 0))};
}

double hm__sheet_drift(const struct hm_job *job, const struct hm_cluster *cluster, double measured,
                       double n)
{
    if (!hm__model_by_operations(job, cluster))
        return 0;
    const double per_node = cluster->node.accelerators;
    const double crossing = measured <= per_node && n > per_node ? HM_SHEET_CROSSING : 0;

    return hypot(HM_SHEET_DRIFT * fabs(log2(n / measured)), crossing);
}

static bool row_counts(const struct hm_sheet_row *row, const char *without)
{
    return !without || strcmp(row->source, without) != 0;
}

/* Returns whether row i is the first measurement of its source. */
static bool source_is_new(const struct hm_sheet_row *rows, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(rows[k].source, rows[i].source) == 0)
            return false;
    return true;
}

/* Returns the mean of (error - around)^power over the measurements of a source. */
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

/* Returns the mean of (error - around)^2 over the rows that count. */
static double rows_variance(const struct hm_sheet_row *rows, size_t count, const char *without,
                            double around)
{
    double sum = 0;
    size_t used = 0;

    for (size_t i = 0; i < count; i++)
        if (row_counts(&rows[i], without)) {
            sum += (rows[i].error - around) * (rows[i].error - around);
            used++;
        }
    return used > 0 ? sum / (double)used : 0;
}

size_t hm__sheet_estimate(const struct hm_sheet_row *rows, size_t count, const char *without,
                          struct hm_sheet_error *ret_error)
{
    double mean = 0, variance = 0;
    size_t sources = 0;

    for (size_t i = 0; i < count; i++)
        if (row_counts(&rows[i], without) && source_is_new(rows, i)) {
            mean += source_moment(rows, count, rows[i].source, 0, 1);
            sources++;
        }
    mean /= (double)sources;
    for (size_t i = 0; i < count; i++)
        if (row_counts(&rows[i], without) && source_is_new(rows, i))
            variance += source_moment(rows, count, rows[i].source, mean, 2);
    const double k = (double)sources;
    variance = fmax(variance / k, rows_variance(rows, count, without, mean));
    const bool few = sources >= (without ? 1 : 2) && sources <= 4;
    const double scale = few ? student_90[sources - 1] / NORMAL_90 : 1;
    *ret_error =
        (struct hm_sheet_error){.mean = mean, .spread = scale * sqrt(variance * (1 + 1 / k))};
    return sources;
}
