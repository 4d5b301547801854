/*
 * Converts labels, scales features and computes a fingerprint (hash) of the rows. Means and
 * deviations of the whole data are computed by sums over the ranks, so their last bits depend on
 * the number of ranks.
 */
#include "prepare.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "agree.h"
#include "err.h"
#include "vector.h"

static double label_class(const struct hm_labels *labels, double label)
{
    for (size_t c = 0; c < labels->count; c++)
        if (labels->known[c] == label)
            return (double)c;
    return -1;
}

void hm__labels_apply(const struct hm_labels *labels, struct hm_rows *rows)
{
    double positive = labels->positive;

    if (labels->kind == HM_LABEL_SIGN && isnan(positive) && labels->count > 0)
        positive = labels->known[labels->count - 1];
    for (size_t i = 0; i < rows->count; i++) {
        double label = rows->labels[i];
        if (labels->kind == HM_LABEL_CLASS)
            rows->labels[i] = label_class(labels, label);
        else if (labels->kind == HM_LABEL_SIGN || !isnan(positive))
            rows->labels[i] = label == positive ? 1 : -1;
    }
}

/*
 * Returns the column of entry `e` of `values`, which holds the entries of all rows, one row after
 * another.
 */
static size_t entry_column(const struct hm_rows *rows, size_t e)
{
    return rows->sparse ? rows->columns[e] : e % rows->features;
}

int hm__scale_learn(struct hm_scale *scale, struct hm_comm *comm, const struct hm_rows *rows,
                    double total, struct hm_arena *arena, struct hm_err *err)
{
    size_t d = rows->features;
    /*
     * Three arrays with one element per column of the data: the means, the sums of squared
     * deviations, and the numbers of entries.
     */
    double *sums = hm__arena_alloc(arena, 3 * d, sizeof(double));
    double *scratch = hm__arena_alloc(arena, 2 * d, sizeof(double));
    int rc = hm__agree(comm, sums && scratch ? 0 : hm__fail_nomem(err), err);

    if (rc)
        return rc;
    for (size_t e = 0; e < hm__rows_entries(rows); e++)
        sums[entry_column(rows, e)] += rows->values[e];
    hm__comm_sum(comm, sums, d, scratch);
    for (size_t j = 0; j < d; j++)
        sums[j] /= total;
    for (size_t e = 0; e < hm__rows_entries(rows); e++) {
        size_t j = entry_column(rows, e);
        double off = rows->values[e] - sums[j];
        sums[d + j] += off * off;
        sums[2 * d + j]++;
    }
    hm__comm_sum(comm, sums + d, 2 * d, scratch);
    for (size_t j = 0; j < d; j++) {
        /*
         * Sparse rows do not store entries that are 0; the squared deviation of such an entry is
         * the square of the mean.
         */
        double square = (sums[d + j] + (total - sums[2 * d + j]) * sums[j] * sums[j]) / total;
        /*
         * The mean of a constant column has a rounding error, which must not count as a deviation.
         */
        double rounding = total * DBL_EPSILON * fabs(sums[j]);
        sums[d + j] = square > rounding * rounding ? sqrt(square) : 1;
    }
    scale->mean = sums;
    scale->deviation = sums + d;
    return 0;
}

/*
 * Returns the Euclidean norm of row `i`. If squares would overflow or underflow, the row is first
 * scaled so that its largest value is 1.
 */
static double row_safe_norm(struct hm_rows *rows, size_t i, size_t at)
{
    double norm2 = hm__row_norm2(rows, i), largest = 0;

    if (norm2 > 1e-290 && isfinite(norm2))
        return sqrt(norm2);
    for (size_t e = 0; e < hm__row_entries(rows, i); e++)
        largest = fmax(largest, fabs(rows->values[at + e]));
    for (size_t e = 0; e < hm__row_entries(rows, i) && largest > 0; e++)
        rows->values[at + e] /= largest;
    return sqrt(hm__row_norm2(rows, i));
}

static void rows_scale_unit(struct hm_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        size_t at = rows->sparse ? rows->starts[i] : i * rows->features;
        double norm = row_safe_norm(rows, i, at);
        for (size_t e = 0; e < hm__row_entries(rows, i) && norm > 0; e++)
            rows->values[at + e] /= norm;
    }
}

void hm__scale_apply(const struct hm_scale *scale, struct hm_rows *rows)
{
    size_t entries = hm__rows_entries(rows);

    switch (scale->kind) {
    case HM_SCALE_NONE:
        break;
    case HM_SCALE_DIVIDE:
        for (size_t e = 0; e < entries; e++)
            rows->values[e] /= scale->divisor;
        break;
    case HM_SCALE_UNIT:
        rows_scale_unit(rows);
        break;
    case HM_SCALE_STANDARDISE:
        for (size_t e = 0; e < entries; e++) {
            size_t j = entry_column(rows, e);
            double mean = rows->sparse ? 0 : scale->mean[j];
            rows->values[e] = (rows->values[e] - mean) / scale->deviation[j];
        }
        break;
    }
}

uint64_t hm__fingerprint_mix(uint64_t hash, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    hash = (hash ^ bits) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 29);
}

double hm__fingerprint_part(uint64_t hash)
{
    return (double)(hash >> 40);
}

double hm__rows_fingerprint(struct hm_comm *comm, const struct hm_rows *rows, double first)
{
    double sum = 0;

    for (size_t i = 0; i < rows->count; i++) {
        uint64_t hash = hm__fingerprint_mix(1, first + (double)i);

        hash = hm__fingerprint_mix(hash, rows->labels[i]);
        size_t at = rows->sparse ? rows->starts[i] : i * rows->features;
        for (size_t e = 0; e < hm__row_entries(rows, i); e++)
            if (rows->values[at + e] != 0)
                hash = hm__fingerprint_mix(
                    hm__fingerprint_mix(hash, (double)entry_column(rows, at + e)),
                    rows->values[at + e]);
        sum += hm__fingerprint_part(hash);
    }
    hm__comm_sum_few(comm, &sum, 1);
    return sum;
}
