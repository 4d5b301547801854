/* Factorises a matrix on parameter servers: A = L R^T with stale reads of R. */
#include <howmany_ps.h>
#include <stdio.h>

enum { RIGHT, ERRORS }; /* Indices of tables; row j of table RIGHT is row j of R. */
enum { ROWS = 60, COLUMNS = 40, RANK = 3, CLOCKS = 600 };

/* Makes a gradient step with the known entries of row i of A; returns the sum of squared errors. */
static double row_step(size_t i, double l[RANK], double r[][RANK], double by[][RANK])
{
    double sum = 0;

    for (size_t j = 0; j < COLUMNS; j++) {
        double error = sin(0.3 * (double)i) * cos(0.5 * (double)j) + 0.1 * (double)(i % 7);
        if ((i * i + 5 * i * j + 3 * j) % 7 == 0)
            continue; /* One entry of A in seven is unknown. */
        for (size_t k = 0; k < RANK; k++)
            error -= l[k] * r[j][k];
        for (size_t k = 0; k < RANK; k++) {
            by[j][k] += 0.006 * error * l[k];
            l[k] += 0.006 * error * r[j][k];
        }
        sum += error * error;
    }
    return sum;
}

/* The program of each worker, which has its own rows of A and of L; R is shared. */
static int worker(struct hm_ps *ps, void *state, struct hm_err *err)
{
    size_t me = (size_t)hm_ps_worker(ps), workers = (size_t)hm_ps_workers(ps);
    double l[ROWS][RANK], r[COLUMNS][RANK], sum = 0;

    (void)state;
    for (size_t i = 0; i < ROWS * RANK; i++) /* L and R start with small values. */
        l[i / RANK][i % RANK] = 0.3 * sin(7.7 * (double)(i + 1));
    int rc = (me == 0 && hm_ps_inc_table(ps, RIGHT, l[0], err)) || hm_ps_barrier(ps, err);
    for (int clock = 0; rc == 0 && clock < CLOCKS; clock++) {
        double by[COLUMNS][RANK] = {{0}};
        rc = hm_ps_get_table(ps, RIGHT, r[0], err);
        sum = 0;
        for (size_t i = me; rc == 0 && i < ROWS; i += workers)
            sum += row_step(i, l[i], r, by);
        rc = rc || hm_ps_inc_table(ps, RIGHT, by[0], err) || hm_ps_clock(ps, err);
    }
    rc = rc || hm_ps_inc(ps, ERRORS, 0, &sum, err) || hm_ps_barrier(ps, err);
    rc = rc || hm_ps_get(ps, ERRORS, 0, &sum, err);
    if (rc == 0 && me == 0)
        printf("%zu workers, root-mean-square error %.3f\n", workers, sqrt(sum / 2105));
    return rc;
}

int main(void)
{
    /* Reads of R may lack the changes of other workers in the last 2 clocks. */
    const struct hm_ps_table tables[] = {{COLUMNS, RANK, 2}, {1, 1, 0}};
    const struct hm_ps_settings settings = {.tables = tables, .table_count = 2, .servers = 2};

    return hm_ps_main(&settings, worker, NULL);
}
