/*
 * Loads the rows of the ranks. Rank 0 reads files and distributes their rows; synthetic rows are
 * generated on the rank that needs them. Test rows are distributed in the same way, so that all
 * ranks evaluate them.
 */
#include <math.h>
#include <string.h>

#include "agree.h"
#include "clients.h"
#include "err.h"
#include "session.h"

/*
 * Rank 0 scans all rows once, unless `scanned` contains the result of a scan by `howmany train`.
 * The result is then broadcast.
 */
static int rows_find_shape(struct session *s, const struct hm_data_spec *spec, const char *scanned,
                           struct hm_data_shape *shape, struct hm_err *err)
{
    int rc = 0;

    if (s->comm->rank == 0) {
        if (scanned && !train_shape_read(scanned, shape))
            rc = hm__fail(err, HM_E_SYNTAX, "--scanned: not a value that howmany train writes");
        else if (!scanned)
            rc = hm__data_scan(spec, shape, err);
    }
    rc = hm__agree(s->comm, rc, err);
    if (rc == 0)
        hm__comm_broadcast(s->comm, 0, shape, sizeof(*shape));
    return rc;
}

static int rows_next(void *context, size_t most, struct hm_rows *block, struct hm_err *err)
{
    return hm__data_next(context, most, block, err);
}

/* Every rank generates its own block of rows. */
static int rows_generate(struct session *s, const struct hm_data_spec *spec, double total,
                         struct hm_rows *rows, struct hm_err *err)
{
    struct hm_shard shard = hm__shard_in(s->comm, total, s->comm->rank);
    struct hm_data *data = NULL;
    int rc = hm__data_open(spec, &data, err);

    if (rc == 0)
        hm__data_seek(data, shard.first);
    while (rc == 0 && (double)rows->count < shard.count) {
        int got =
            hm__data_next(data, (size_t)fmin(4096, shard.count - (double)rows->count), rows, err);
        rc = got < 0 ? got : 0;
    }
    hm__data_close(data);
    return hm__agree(s->comm, rc, err);
}

static int rows_from_file(struct session *s, const struct hm_data_spec *spec, double total,
                          struct hm_rows *rows, struct hm_err *err)
{
    struct hm_data *data = NULL;
    int rc = s->comm->rank == 0 ? hm__data_open(spec, &data, err) : 0;

    rc = hm__agree(s->comm, rc, err);
    if (rc == 0) {
        struct hm_row_source source = {rows_next, data, total, s->options->order,
                                       s->options->settings.seed};
        rc = hm__shard_distribute(s->comm, &source, rows, err);
        if (rc)
            hm__err_at(err, spec->path, 0);
    }
    hm__data_close(data);
    return rc;
}

static int rows_fill(struct session *s, const struct hm_data_spec *spec, double total,
                     struct hm_rows *rows, struct hm_err *err)
{
    return hm__data_is_made(spec) ? rows_generate(s, spec, total, rows, err)
                                  : rows_from_file(s, spec, total, rows, err);
}

/*
 * Reads the test rows, which must not have more columns than the training rows, since the model has
 * no weights for additional columns.
 */
static int rows_read_test(struct session *s, struct hm_err *err)
{
    struct hm_data_shape shape;
    int rc = rows_find_shape(s, &s->options->test, NULL, &shape, err);

    if (rc == 0 && shape.features > s->shape.features)
        rc =
            hm__fail(err, HM_E_CONFLICT, "the test rows have %.0f features, the training rows %.0f",
                     shape.features, s->shape.features);
    if (rc) {
        hm__err_at(err, s->options->test_name, 0);
        return rc;
    }
    s->test_rows = shape.rows;
    s->test.sparse = s->objective.rows.sparse;
    s->test.features = s->objective.rows.features;
    return rows_fill(s, &s->options->test, shape.rows, &s->test, err);
}

static int rows_scale(struct session *s, struct hm_err *err)
{
    struct hm_scale *scale = &s->options->scale;
    int rc = 0;

    if (scale->kind == HM_SCALE_STANDARDISE)
        rc = hm__scale_learn(scale, s->comm, &s->objective.rows, s->shape.rows, s->arena, err);
    if (rc)
        return rc;
    hm__scale_apply(scale, &s->objective.rows);
    hm__scale_apply(scale, &s->test);
    return 0;
}

/*
 * Checks that every label is a class. A label that the scan of the data did not find is not a
 * class, and the model has no weights for it.
 */
static int rows_check_classes(const struct session *s, struct hm_err *err)
{
    const struct hm_rows *rows = &s->objective.rows;
    int rc = 0;

    for (size_t i = 0; i < rows->count && rc == 0 && !train_problem_loss(s->options->problem); i++)
        if (rows->labels[i] < 0) {
            rc = hm__fail(err, HM_E_CONFLICT, "the data has other labels than when it was checked");
            hm__err_at(err, s->options->data_name, 0);
        }
    return hm__agree(s->comm, rc, err);
}

/* Gives each rank the rows of its clients (federated averaging). */
static int rows_set_clients(struct session *s, struct hm_err *err)
{
    const struct hm_train_settings *settings = &s->options->settings;
    double clients = settings->clients > 0 ? settings->clients : s->comm->size;
    double *first = hm__arena_alloc(s->arena, (size_t)clients + 1, sizeof(*first));
    double *before = hm__arena_alloc(s->arena, (size_t)s->comm->size + 1, sizeof(*before));

    if (!first || !before)
        return hm__fail_nomem(err);
    hm__clients_divide(s->shape.rows, clients, settings->uneven, first);
    hm__clients_shares(first, clients, s->comm->size, before);
    s->comm->shares = before;
    return 0;
}

int session_read_rows(struct session *s, struct hm_err *err)
{
    const struct train_options *o = s->options;
    struct hm_rows *rows = &s->objective.rows;
    int rc = rows_find_shape(s, &o->data, o->scanned, &s->shape, err);

    if (rc == 0 && s->comm->rank == 0 && train_labels_check(o, &s->shape, err))
        rc = err->code;
    if (rc == 0 && train_has_clients(o))
        rc = rows_set_clients(s, err);
    rc = hm__agree(s->comm, rc, err);
    if (rc)
        return rc;
    rows->sparse = train_keeps_sparse(o, &s->shape);
    rows->features = (size_t)s->shape.features;
    rc = rows_fill(s, &o->data, s->shape.rows, rows, err);
    if (rc == 0 && o->has_test)
        rc = rows_read_test(s, err);
    if (rc)
        return rc;
    struct hm_labels labels = train_labels(o, &s->shape);
    hm__labels_apply(&labels, rows);
    hm__labels_apply(&labels, &s->test);
    rc = rows_check_classes(s, err);
    if (rc)
        return rc;
    s->fingerprint = hm__rows_fingerprint(
        s->comm, rows, hm__shard_in(s->comm, s->shape.rows, s->comm->rank).first);
    return rows_scale(s, err);
}
