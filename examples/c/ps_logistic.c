/* Logistic regression on parameter servers: workers read the weights w and add gradients. */
#include <howmany_ps.h>
#include <stdio.h>

enum { W, LOSS, ROWS = 4000, FEATURES = 20, BATCH = 50, CLOCKS = 200 }; /* W, LOSS are tables. */

/* Generates a row, returns its loss at w, and subtracts its gradient times `step` from `by`. */
static double row_loss(int row, const double w[FEATURES], double step, double by[FEATURES])
{
    double x[FEATURES], sum = 0, margin = 0;

    for (int j = 0; j < FEATURES; j++) {
        x[j] = sin(12.9898 * (row + 1) * (j + 1));
        sum += (j % 2 ? 1 : -2) * x[j];
        margin += w[j] * x[j];
    }
    double label = sum > 0 ? 1 : -1;
    for (int j = 0; j < FEATURES; j++)
        by[j] += step * label * x[j] / (1 + exp(label * margin));
    return log1p(exp(-label * margin));
}

/* The program of each worker. With n workers, worker k has the rows k, k + n, k + 2 n and so on. */
static int worker(struct hm_ps *ps, void *state, struct hm_err *err)
{
    int me = hm_ps_worker(ps), workers = hm_ps_workers(ps), row = me, rc = 0;
    double w[FEATURES], loss = 0;

    (void)state;
    for (int clock = 0; clock < CLOCKS && rc == 0; clock++) {
        double by[FEATURES] = {0};
        rc = hm_ps_get(ps, W, 0, w, err);
        for (int i = 0; rc == 0 && i < BATCH; i++, row = (row + workers) % ROWS)
            row_loss(row, w, 2.0 / (BATCH * workers), by);
        rc = rc || hm_ps_inc(ps, W, 0, by, err) || hm_ps_clock(ps, err);
    }
    rc = rc || hm_ps_get(ps, W, 0, w, err);
    for (row = me; rc == 0 && row < ROWS; row += workers)
        loss += row_loss(row, w, 0, (double[FEATURES]){0}) / ROWS;
    rc = rc || hm_ps_inc(ps, LOSS, 0, &loss, err) || hm_ps_barrier(ps, err);
    rc = rc || hm_ps_get(ps, LOSS, 0, &loss, err);
    if (rc == 0 && me == 0)
        printf("%d workers, mean loss %.4f\n", workers, loss);
    return rc;
}

int main(void)
{
    const struct hm_ps_table tables[] = {{1, FEATURES, 0}, {1, 1, 0}};
    const struct hm_ps_settings settings = {.tables = tables, .table_count = 2, .servers = 1};

    return hm_ps_main(&settings, worker, NULL);
}
