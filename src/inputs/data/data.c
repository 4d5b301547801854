/*
 * Opens training data with the functions of its format, stores rows in blocks, and scans all rows.
 */
#include "data.h"

#include <assert.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "data_reader.h"
#include "err.h"
#include "memory.h"
#include "random.h"

/* Number of the first random stream used to choose the rows of a sample. */
static const uint64_t SAMPLE_STREAM = 0xa00000000u;

static const struct hm_data_reader *const readers[HM_DATA_FORMATS] = {
    [HM_DATA_IDX] = &hm__data_idx,       [HM_DATA_LIBSVM] = &hm__data_libsvm,
    [HM_DATA_CSV] = &hm__data_csv,       [HM_DATA_DENSE] = &hm__data_dense,
    [HM_DATA_SPARSE] = &hm__data_sparse, [HM_DATA_DIGITS] = &hm__data_digits,
};

bool hm__data_is_made(const struct hm_data_spec *spec)
{
    return spec->format >= HM_DATA_DENSE;
}

int hm__data_open(const struct hm_data_spec *spec, struct hm_data **ret_data, struct hm_err *err)
{
    struct hm_data *data = hm__calloc(1, sizeof(*data));

    if (!data)
        return hm__fail_nomem(err);
    data->spec = *spec;
    data->reader = readers[spec->format];
    int rc = data->reader->open(data, err);
    if (rc)
        hm__data_close(data);
    else
        *ret_data = data;
    return rc;
}

/* Returns whether the next row of a file belongs to the sample. */
static bool data_samples_next(const struct hm_data *data)
{
    struct hm_random random;

    if (!(data->spec.sample > 0))
        return true;
    hm__random_init(&random, data->spec.sample_seed, SAMPLE_STREAM + (uint64_t)data->read);
    return hm__random_uniform(&random) < data->spec.sample;
}

int hm__data_next(struct hm_data *data, size_t most, struct hm_rows *block, struct hm_err *err)
{
    int count = 0, rc = 1;

    if (most > INT_MAX)
        most = INT_MAX;
    while ((size_t)count < most && rc > 0) {
        bool keep = data_samples_next(data);
        hm__rows_clear(&data->left_out);
        data->left_out.sparse = block->sparse;
        data->left_out.features = block->features;
        rc = data->reader->next(data, keep ? block : &data->left_out, err);
        data->read += rc > 0;
        count += rc > 0 && keep;
    }
    return rc < 0 ? rc : count;
}

void hm__data_seek(struct hm_data *data, double row)
{
    assert(hm__data_is_made(&data->spec) && row >= 0);
    data->row = row;
}

void hm__data_close(struct hm_data *data)
{
    if (!data)
        return;
    if (data->state)
        data->reader->close(data);
    hm__rows_release(&data->left_out);
    hm__free(data);
}

int hm__data_fail(const struct hm_data *data, struct hm_err *err, int code, const char *hint,
                  const char *format, ...)
{
    char message[256];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    hm__fail(err, code, "%s", message);
    hm__err_hint(err, "%s", hint);
    hm__err_at(err, data->spec.path[0] ? data->spec.path : data->reader->name, data->line);
    return code;
}

/* ---- rows into blocks ----------------------------------------------------------------------- */

static int fail_too_wide(const struct hm_data *data, const struct hm_rows *block, size_t feature,
                         struct hm_err *err)
{
    return hm__data_fail(
        data, err, HM_E_RANGE, "all rows must have the features that the model was made for",
        "feature %zu in a row, but the model has %zu features", feature, block->features);
}

/* Appends the nonzero values as entries of a sparse row. */
static bool put_nonzero(struct hm_rows *block, double label, const double *values, size_t count)
{
    size_t entries = 0, at = 0;
    uint32_t *columns;

    for (size_t j = 0; j < count; j++)
        entries += values[j] != 0;
    double *places = hm__rows_add(block, label, entries, &columns);
    for (size_t j = 0; places && j < count; j++)
        if (values[j] != 0) {
            columns[at] = (uint32_t)j;
            places[at++] = values[j];
        }
    return places != NULL;
}

int hm__data_put_dense(struct hm_data *data, struct hm_rows *block, double label,
                       const double *values, struct hm_err *err)
{
    if (block->features > 0 && data->features > block->features)
        return fail_too_wide(data, block, data->features, err);
    if (block->sparse)
        return put_nonzero(block, label, values, data->features) ? 0 : hm__fail_nomem(err);
    if (block->features == 0)
        block->features = data->features;
    double *places = hm__rows_add(block, label, 0, NULL);
    if (!places)
        return hm__fail_nomem(err);
    memcpy(places, values, data->features * sizeof(*values));
    return 0;
}

int hm__data_put_sparse(struct hm_data *data, struct hm_rows *block, double label,
                        const uint32_t *columns, const double *values, size_t count,
                        struct hm_err *err)
{
    size_t width = count > 0 ? (size_t)columns[count - 1] + 1 : 0, entries = 0, at = 0;
    uint32_t *to_columns = NULL;

    if (block->features > 0 && width > block->features)
        return fail_too_wide(data, block, width, err);
    for (size_t i = 0; i < count; i++)
        entries += values[i] != 0;
    double *places = hm__rows_add(block, label, entries, &to_columns);
    if (!places)
        return hm__fail_nomem(err);
    for (size_t i = 0; i < count; i++) {
        if (!block->sparse)
            places[columns[i]] = values[i];
        else if (values[i] != 0) {
            to_columns[at] = columns[i];
            places[at++] = values[i];
        }
    }
    return 0;
}

/* ---- the first pass ------------------------------------------------------------------------- */

/* Adds a label to the sorted list of distinct labels. If there are more than HM_DATA_CLASSES
 * labels, sets *few to false and the number of classes to 0. */
static void note_label(struct hm_data_shape *shape, bool *few, double label, int line)
{
    size_t low = 0, high = shape->classes;

    while (*few && low < high) {
        size_t middle = (low + high) / 2;
        if (shape->labels[middle] < label)
            low = middle + 1;
        else
            high = middle;
    }
    if (!*few || (low < shape->classes && shape->labels[low] == label))
        return;
    if (shape->classes == HM_DATA_CLASSES) {
        *few = false;
        shape->classes = 0;
        return;
    }
    size_t after = shape->classes++ - low;
    memmove(shape->labels + low + 1, shape->labels + low, after * sizeof(*shape->labels));
    memmove(shape->lines + low + 1, shape->lines + low, after * sizeof(*shape->lines));
    shape->labels[low] = label;
    shape->lines[low] = line;
}

static int scan_rows(struct hm_data *data, struct hm_data_shape *shape, struct hm_err *err)
{
    struct hm_rows row = {.sparse = true};
    bool few = true;
    int rc;

    while ((rc = hm__data_next(data, 1, &row, err)) > 0) {
        double entries = (double)hm__rows_entries(&row);
        note_label(shape, &few, row.labels[0], data->line);
        shape->rows++;
        shape->entries += entries;
        if (entries > shape->largest_entries)
            shape->largest_entries = entries;
        hm__rows_clear(&row);
    }
    hm__rows_release(&row);
    return rc;
}

int hm__data_scan(const struct hm_data_spec *spec, struct hm_data_shape *ret_shape,
                  struct hm_err *err)
{
    struct hm_data *data = NULL;
    struct hm_data_shape shape = {0};
    int rc = hm__data_open(spec, &data, err);

    if (rc == 0)
        rc = scan_rows(data, &shape, err);
    if (rc == 0 && shape.rows == 0) {
        data->line = 0;
        rc = data->read > 0
                 ? hm__data_fail(data, err, HM_E_MISSING, "use a larger sample",
                                 "no row of %.0f is in a sample of %g", data->read, spec->sample)
                 : hm__data_fail(data, err, HM_E_MISSING, "the file must contain at least one row",
                                 "no rows in the %s file", data->reader->name);
    } else if (rc == 0 && data->features == 0) {
        data->line = 0;
        rc = hm__data_fail(data, err, HM_E_MISSING,
                           "a line has the form: label index:value index:value ...",
                           "no features, only labels");
    }
    if (rc == 0) {
        shape.features = (double)data->features;
        shape.sparse = data->reader->sparse;
        shape.cut = data->cut;
        *ret_shape = shape;
    }
    hm__data_close(data);
    return rc;
}
