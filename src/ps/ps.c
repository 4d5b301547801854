/*
 * Runs parameter servers on a communicator: checks the settings, compares them on all ranks, and
 * then runs workers on the first ranks and servers on the last ranks.
 */
#include "ps.h"

#include <math.h>
#include <stdio.h>

#include "agree.h"
#include "err.h"

/* ---- checks ---------------------------------------------------------------------------------- */

static int table_check_size(size_t index, const char *name, size_t value, size_t most,
                            struct hm_err *err)
{
    char field[64];

    if (value >= 1 && value <= most)
        return 0;
    hm__fail(err, HM_E_RANGE, "tables[%zu].%s is %zu; it must be from 1 to %zu", index, name, value,
             most);
    snprintf(field, sizeof(field), "tables[%zu].%s", index, name);
    hm__err_field(err, field);
    return HM_E_RANGE;
}

static int table_check(size_t index, const struct hm_ps_table *table, struct hm_err *err)
{
    char field[64];
    int rc = table_check_size(index, "rows", table->rows, HM_PS_MAX_ROWS, err);

    if (rc == 0)
        rc = table_check_size(index, "columns", table->columns, HM_PS_MAX_COLUMNS, err);
    if (rc)
        return rc;
    /* If `staleness` is NaN, the comparison is false, so NaN is also rejected. */
    if (table->staleness >= 0 && floor(table->staleness) == table->staleness)
        return 0;
    hm__fail(err, HM_E_RANGE,
             "tables[%zu].staleness is %g; it must be a whole number of at least 0, or infinity",
             index, table->staleness);
    snprintf(field, sizeof(field), "tables[%zu].staleness", index);
    hm__err_field(err, field);
    return HM_E_RANGE;
}

static int settings_missing(const char *name, struct hm_err *err)
{
    hm__fail(err, HM_E_MISSING, "%s is NULL", name);
    hm__err_field(err, name);
    return HM_E_MISSING;
}

int hm__ps_check(const struct hm_ps_settings *settings, hm_ps_worker_fn *worker, int ranks,
                 struct hm_err *err)
{
    if (!settings)
        return settings_missing("settings", err);
    if (!worker)
        return settings_missing("worker", err);
    if (!settings->tables)
        return settings_missing("tables", err);
    if (settings->table_count < 1 || settings->table_count > HM_PS_MAX_TABLES) {
        hm__fail(err, HM_E_RANGE, "table_count is %zu; it must be from 1 to %zu",
                 settings->table_count, HM_PS_MAX_TABLES);
        hm__err_field(err, "table_count");
        return HM_E_RANGE;
    }
    for (size_t i = 0; i < settings->table_count; i++) {
        int rc = table_check(i, &settings->tables[i], err);
        if (rc)
            return rc;
    }
    if (settings->servers >= 1 && settings->servers < ranks)
        return 0;
    hm__fail(err, HM_E_RANGE,
             "servers is %d in a job of %d rank%s; at least one server and one worker are needed",
             settings->servers, ranks, ranks == 1 ? "" : "s");
    hm__err_field(err, "servers");
    hm__err_hint(err, "start at least 2 ranks and set servers to 1 or more");
    return HM_E_RANGE;
}

/* Returns a hash of the settings, which is used to detect ranks with different settings. */
static double settings_number(const struct hm_ps_settings *settings)
{
    uint64_t sum = (uint64_t)settings->servers;

    for (size_t i = 0; i < settings->table_count; i++) {
        const struct hm_ps_table *t = &settings->tables[i];
        const double parts[] = {(double)t->rows, (double)t->columns,
                                isinf(t->staleness) ? -1 : t->staleness};
        for (size_t j = 0; j < 3; j++)
            sum = (sum ^ (uint64_t)(int64_t)fmin(parts[j], 0x1p62)) * 1099511628211u;
    }
    return (double)(sum >> 11);
}

/*
 * Checks that all ranks have the same settings; all ranks must call it. Returns 0 or HM_E_CONFLICT.
 */
static int settings_compare(struct hm_comm *world, const struct hm_ps_settings *settings,
                            struct hm_err *err)
{
    double number = settings_number(settings), ends[2] = {number, -number};

    hm__comm_max_few(world, ends, 2);
    if (ends[0] == -ends[1])
        return 0;
    hm__fail(err, HM_E_CONFLICT, "the ranks have different settings");
    hm__err_field(err, "settings");
    hm__err_hint(err, "all ranks must pass the same tables and number of servers");
    return HM_E_CONFLICT;
}

/* ---- run ------------------------------------------------------------------------------------- */

static int run_server(struct hm_comm *world, const struct hm_ps_layout *layout, struct hm_err *err)
{
    struct hm_ps_server *server = NULL;
    int rc = hm__ps_server_new(world, layout, &server, err);

    rc = hm__agree(world, rc, err);
    if (rc == 0)
        hm__ps_server_run(server);
    hm__ps_server_free(server);
    return rc ? rc : hm__agree(world, 0, err);
}

static int run_worker(struct hm_comm *world, const struct hm_ps_layout *layout,
                      hm_ps_worker_fn *worker, void *state, struct hm_err *err)
{
    struct hm_ps *ps = NULL;
    int rc = hm__ps_client_new(world, layout, &ps, err);

    rc = hm__agree(world, rc, err);
    if (rc) {
        hm__ps_client_free(ps);
        return rc;
    }
    rc = worker(ps, state, err);
    hm__ps_client_end(ps, rc == 0);
    hm__ps_client_free(ps);
    return hm__agree(world, rc, err);
}

int hm__ps_run(struct hm_comm *world, const struct hm_ps_settings *settings,
               hm_ps_worker_fn *worker, void *state, struct hm_err *err)
{
    struct hm_err own = {0};

    err = err ? err : &own;
    int rc = hm__agree(world, hm__ps_check(settings, worker, world->size, err), err);
    if (rc == 0)
        rc = settings_compare(world, settings, err);
    if (rc)
        return rc;
    struct hm_ps_layout layout = {.tables = settings->tables,
                                  .table_count = settings->table_count,
                                  .servers = settings->servers,
                                  .workers = world->size - settings->servers};
    for (size_t i = 0; i < layout.table_count; i++)
        if (layout.tables[i].columns > layout.widest)
            layout.widest = layout.tables[i].columns;
    return world->rank < layout.workers ? run_worker(world, &layout, worker, state, err)
                                        : run_server(world, &layout, err);
}
