/*
 * Corrects the model of large networks with measured steps; see large_correct.h.
 *
 * Two factors are estimated: one on computation and memory traffic (clocks, power limits, kernels),
 * and one on the time of the host, which limits a layer whose time does not decrease with the
 * micro-batch. They minimise the sum of squared errors of the logarithms, with normal priors around
 * one. The prior for computation has the spread of published measurements, and the prior for the
 * host is wide. The interval for a corrected time has two parts: the remaining uncertainty of the
 * factors, and the spread of layouts of one job around the model, which runs of other layouts do
 * not show.
 */
#include "large_correct.h"

#include <math.h>

/* Quantile of the normal distribution for 90 % intervals. */
static const double LARGE_NORMAL_90 = 1.6449;
/* Standard deviation of the prior for the logarithm of the factor that scales the host's time. */
static const double HOST_SPREAD = .5;

/*
 * Standard deviations of ln(measured/predicted) for each group of jobs: between layouts of one job,
 * and between runs of one layout with different numbers of workers and batches. The rest of the
 * error is common to all layouts of a job; it includes the differences between sources. The
 * deviations follow from the correlations between the errors of rows of data/large.csv that have
 * the same network and device, with the same layout or with different ones.
 */
static const struct {
    double layout, run;
} deviations[HM_LARGE_GROUPS] = {
    [HM_GROUP_OLD] = {.0244, .0455},       [HM_GROUP_HOPPER] = {.161, .131},
    [HM_GROUP_BLACKWELL] = {.0344, .0487}, [HM_GROUP_PLAIN] = {.0602, .0426},
    [HM_GROUP_EXPERTS] = {.1585, .177},
};
/* Smallest standard deviation of the error that all layouts of a job share. */
static const double COMMON_LEAST = .08;

void hm__large_apply(const struct hm_large_correction *c, struct hm_large_device *device,
                     struct hm_large_constants *constants)
{
    device->speed = (device->speed > 0 ? device->speed : 1) / c->compute;
    device->bandwidth_bytes_per_s /= c->compute;
    constants->launch_s *= c->host;
    constants->call_s *= c->host;
}

/* Returns ln(measured/predicted) of a measured step for a model with these factors. */
static double row_error(const struct hm_large_case *x, const struct hm_large_measured *row,
                        const struct hm_large_correction *c)
{
    struct hm_large_device device = *x->device;
    struct hm_large_constants constants = *x->constants;
    struct hm_large_work work = *x->work;
    const struct hm_large_case corrected = {&device, &work, &constants, NULL};
    struct hm_large_times times;
    struct hm_large_step step;

    hm__large_apply(c, &device, &constants);
    work.batch = row->batch;
    work.sequence = row->sequence;
    hm__large_times(&corrected, &row->layout, &times);
    hm__large_step(&corrected, &row->layout, &times, &step);
    return log(row->time_s / step.time_s);
}

/* Returns the sum to minimise: the squared errors of the measured steps and the squared logarithms
 * of the two factors, relative to their variances. */
static double correction_cost(const struct hm_large_case *x, const struct hm_large_measured *rows,
                              size_t count, const struct hm_large_correction *c, double spread,
                              double prior)
{
    double compute = log(c->compute) / prior, host = log(c->host) / HOST_SPREAD;
    double sum = compute * compute + host * host;

    for (size_t i = 0; i < count; i++) {
        double error = row_error(x, &rows[i], c) / spread;
        sum += error * error;
    }
    return sum;
}

/*
 * Sets the variances after `count` measured steps, with factors of 1. *ret_spread and *ret_prior
 * are the standard deviations of the error of a row and of the error that all layouts share.
 */
static void correction_init(const struct hm_large_case *x, size_t count,
                            struct hm_large_correction *c, double *ret_spread, double *ret_prior)
{
    const struct hm_large_interval before =
        hm__large_interval(&hm__large_spreads[0].spread, x->device, x->work, NULL);
    const enum hm_large_group group = hm__large_group(x->device, x->work);
    const double all = log(before.high / before.low) / (2 * LARGE_NORMAL_90);
    const double layout = deviations[group].layout, run = deviations[group].run;
    const double spread = hypot(layout, run);
    const double prior = sqrt(fmax(all * all - spread * spread, COMMON_LEAST * COMMON_LEAST));

    *c = (struct hm_large_correction){
        .compute = 1,
        .host = 1,
        .rows = count,
        .common = 1 / (1 / (prior * prior) + (double)count / (spread * spread)),
        .layout = layout * layout,
        .run = run * run,
        .all = prior * prior + spread * spread};
    *ret_spread = spread;
    *ret_prior = prior;
}

void hm__large_correct(const struct hm_large_case *x, const struct hm_large_measured *rows,
                       size_t count, struct hm_large_correction *ret)
{
    enum { HALF = 4 }; /* A search grid has 2 HALF + 1 values in each direction. */
    struct hm_large_correction best;
    double spread, prior;

    count = count < HM_LARGE_MEASURED_MOST ? count : HM_LARGE_MEASURED_MOST;
    correction_init(x, count, &best, &spread, &prior);
    double least = correction_cost(x, rows, count, &best, spread, prior);

    for (double step = .2; step > .002; step /= 2) {
        struct hm_large_correction center = best;
        for (int i = -HALF; i <= HALF; i++)
            for (int k = -HALF; k <= HALF; k++) {
                struct hm_large_correction c = center;
                c.compute *= exp(i * step);
                c.host *= exp(2 * k * step);
                double cost = correction_cost(x, rows, count, &c, spread, prior);
                if (cost < least) {
                    least = cost;
                    best = c;
                }
            }
    }
    for (size_t i = 0; i < count; i++) {
        best.layouts[i] = rows[i].layout;
        best.errors[i] = row_error(x, &rows[i], &best);
    }
    *ret = best;
}

/* Returns whether two layouts run the same operations in a layer: they differ only in the number of
 * workers, the interleaving, and the stage of ZeRO, which changes messages but not operations. */
static bool same_layout(const struct hm_layout *a, const struct hm_layout *b)
{
    return a->tensor == b->tensor && a->pipeline == b->pipeline && a->context == b->context &&
           a->expert == b->expert && a->micro_batch == b->micro_batch &&
           a->recompute == b->recompute && a->offload == b->offload;
}

double hm__large_known(const struct hm_large_correction *c, const struct hm_layout *layout,
                       double *ret_narrower)
{
    double sum = 0, count = 0;

    for (size_t i = 0; i < c->rows; i++)
        if (same_layout(&c->layouts[i], layout)) {
            sum += c->errors[i];
            count++;
        }
    /* Variance of the error of this layout after its runs have been measured. Before that, the
     * error is normally distributed with the variance `layout`. */
    double left = 1 / (1 / c->layout + count / c->run);
    *ret_narrower = fmin(1, sqrt((c->common + left + c->run) / c->all));
    return exp(left * sum / c->run);
}

double hm__large_after_run(const struct hm_large_case *x, const struct hm_layout *layout)
{
    struct hm_large_correction c;
    double spread, prior, narrower;

    correction_init(x, 1, &c, &spread, &prior);
    c.layouts[0] = *layout;
    hm__large_known(&c, layout, &narrower);
    return narrower;
}
