/*
 * Reads training data from CSV (tables/csv.h): one column is the label, every other column is a
 * feature, and all cells are finite numbers.
 */
#include <math.h>

#include "csv.h"
#include "data_reader.h"
#include "err.h"
#include "memory.h"
#include "text.h"

struct csv_table {
    struct hm_csv *csv;
    size_t label;   /* Index of the column that holds the label. */
    double *values; /* Features of one row; owned. */
};

static bool is_number(const char *text, double *ret_value)
{
    while (*text == ' ' || *text == '\t')
        text++;
    size_t used = hm__signed_read(text, ret_value);
    const char *rest = text + used;
    while (*rest == ' ' || *rest == '\t')
        rest++;
    return used > 0 && *rest == '\0' && isfinite(*ret_value);
}

/* Finds the label column and counts the features. A header that consists of numbers is an error. */
static int read_names(struct hm_data *data, struct csv_table *t, struct hm_err *err)
{
    const char *wanted = data->spec.column, *name;
    bool named = false;
    size_t columns = 0;
    double ignored;
    int label = -1;

    data->line = hm__csv_line(t->csv);
    for (; (name = hm__csv_name(t->csv, columns)); columns++)
        named |= !is_number(name, &ignored);
    if (!named)
        return hm__data_fail(data, err, HM_E_MISSING,
                             "begin the file with a header such as label,x1,x2",
                             "the first line has numbers instead of the names of columns");
    if (columns < 2)
        return hm__data_fail(data, err, HM_E_MISSING, "a label and at least one feature are needed",
                             "the only column is '%.60s'", hm__csv_name(t->csv, 0));
    if (wanted[0]) {
        int rc = hm__csv_need(t->csv, wanted, &label, err);
        if (rc) {
            hm__err_hint(err, "the columns are '%.60s' to '%.60s'", hm__csv_name(t->csv, 0),
                         hm__csv_name(t->csv, columns - 1));
            return rc;
        }
    } else
        label = hm__csv_column(t->csv, "label");
    t->label = label < 0 ? 0 : (size_t)label;
    data->features = columns - 1;
    return 0;
}

static int open_csv(struct hm_data *data, struct hm_err *err)
{
    struct csv_table *t = data->state = hm__calloc(1, sizeof(*t));

    if (!t)
        return hm__fail_nomem(err);
    int rc = hm__csv_open(data->spec.path, &t->csv, err);
    if (rc == 0)
        rc = read_names(data, t, err);
    if (rc == 0 && !(t->values = hm__calloc(data->features, sizeof(*t->values))))
        rc = hm__fail_nomem(err);
    return rc;
}

static int next_csv(struct hm_data *data, struct hm_rows *block, struct hm_err *err)
{
    struct csv_table *t = data->state;
    double label = 0;
    char **fields;
    int rc = hm__csv_next(t->csv, &fields, err);

    if (rc <= 0)
        return rc;
    data->line = hm__csv_line(t->csv);
    data->cut = hm__csv_is_cut(t->csv);
    for (size_t i = 0; i <= data->features; i++) {
        double *place = i == t->label ? &label : &t->values[i - (i > t->label)];
        if (!is_number(fields[i], place)) {
            hm__data_fail(data, err, HM_E_TYPE, "every cell must be a finite number",
                          "'%.60s' is not a finite number", fields[i]);
            hm__err_field(err, hm__csv_name(t->csv, i));
            return HM_E_TYPE;
        }
    }
    if ((rc = hm__data_put_dense(data, block, label, t->values, err)))
        return rc;
    data->row++;
    return 1;
}

static void close_csv(struct hm_data *data)
{
    struct csv_table *t = data->state;

    hm__csv_close(t->csv);
    hm__free(t->values);
    hm__free(t);
}

const struct hm_data_reader hm__data_csv = {"CSV", false, open_csv, next_csv, close_csv};
