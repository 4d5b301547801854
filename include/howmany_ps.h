/*
 * howmany: parameter servers for a program of your own on MPI, that is, tables of numbers that are
 * stored on some ranks (the servers) and read and changed by the others (the workers).
 *
 *     int main(void)
 *     {
 *         ...
 *         return hm_ps_main(&settings, worker, &state);
 *     }
 *
 * or, in a program that uses MPI itself,
 *
 *     MPI_Init(&argc, &argv);
 *     rc = hm_ps_run(&settings, worker, &state, &err);
 *     MPI_Finalize();
 *
 * All ranks of MPI_COMM_WORLD call hm_ps_run with equal settings. The last `servers` ranks store
 * the tables and return when all workers have returned; on each of the other ranks, hm_ps_run calls
 * worker(), which uses the functions below. The library is libhowmany-ps; its messages use a
 * separate communicator and never match messages of the program.
 *
 * Time is counted in clocks. A worker adds to rows (inc) and then finishes its clock, which sends
 * the sums of its increments, one message for each server. A worker that computes clock c has
 * finished c clocks. A read (get) at clock c contains
 *
 *     - all increments of all workers from clocks before c - staleness,
 *     - all increments that this worker has made itself,
 *     - perhaps some newer increments of other workers.
 *
 * The read waits until the increments that it must contain have arrived (Ho et al.: More effective
 * distributed ML via a stale synchronous parallel parameter server, NIPS 2013). With staleness 0,
 * it contains exactly the increments from clocks before c and the worker's own increments; they are
 * added in the order of the workers, so that repeated runs agree bit for bit. Reads do not wait for
 * workers that have returned.
 *
 * Errors follow the conventions of howmany.h: functions return 0 or a negative code, and err, which
 * may be NULL, receives the details. Wrong arguments change nothing and send nothing.
 */
#ifndef HOWMANY_PS_H
#define HOWMANY_PS_H

#include "howmany_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- inputs ---------------------------------------------------------------------------------- */

/* Largest numbers of rows in a table, of values in a row, and of tables. */
#define HM_PS_MAX_ROWS ((size_t)1 << 31)
#define HM_PS_MAX_COLUMNS ((size_t)1 << 26)
#define HM_PS_MAX_TABLES ((size_t)1024)

/*
 * A table of rows * columns doubles, which are 0 at the start. Row r is stored on server r modulo
 * the number of servers, and is always sent as a whole.
 */
struct hm_ps_table {
    size_t rows;    /* Number of rows, 1 to HM_PS_MAX_ROWS. */
    size_t columns; /* Number of values in a row, 1 to HM_PS_MAX_COLUMNS. */
    /*
     * Staleness bound in clocks, a whole number of at least 0. A worker keeps a copy of each row
     * that it has read and reads it again from the server when the copy has become too old.
     * INFINITY means that reads never wait for other workers, and a copy is used within one clock
     * only.
     */
    double staleness;
};

struct hm_ps_settings {
    /* Tables to store; borrowed while hm_ps_run runs. The length is table_count. */
    const struct hm_ps_table *tables;
    size_t table_count; /* Number of tables, 1 to HM_PS_MAX_TABLES. */
    int servers;        /* Number of servers, at least 1 and less than the number of ranks. */
};

/* The connection of one worker to the servers; valid until worker() returns. */
struct hm_ps;

/*
 * The program of a worker. `state` is the pointer that was passed to hm_ps_run. If it returns a
 * value other than 0, the other workers still finish, and hm_ps_run then returns this value on all
 * ranks.
 */
typedef int hm_ps_worker_fn(struct hm_ps *ps, void *state, struct hm_err *err);

/* ---- outputs --------------------------------------------------------------------------------- */

/* Counters of this worker so far. */
struct hm_ps_stats {
    double clocks;        /* Number of clocks that the worker has finished. */
    double rows_read;     /* Number of rows that the worker has read. */
    double rows_received; /* Number of row reads that a server answered instead of the worker's own
                             copy. */
    double rows_sent;     /* Number of rows for which the worker has sent increments. */
    double bytes;         /* Number of bytes sent and received by the worker. */
    double wait_s;        /* Time in seconds that the worker waited for servers. */
};

/* ---- life cycle ------------------------------------------------------------------------------ */

/*
 * Runs the workers and the servers. The call is collective over MPI_COMM_WORLD, after MPI_Init and
 * before MPI_Finalize; it may be repeated, each time with new tables. Returns the same value on all
 * ranks: 0, or the error of the first rank that failed.
 */
HM_API int hm_ps_run(const struct hm_ps_settings *settings, hm_ps_worker_fn *worker, void *state,
                     struct hm_err *err);
/*
 * The main function for a program that needs MPI only for its tables. It calls MPI_Init, hm_ps_run
 * and MPI_Finalize, and prints an error to stderr on one rank. Returns the exit status of the
 * program: 0, or 1 after an error. Call it only once, and never in a program that calls MPI_Init
 * itself.
 */
HM_API int hm_ps_main(const struct hm_ps_settings *settings, hm_ps_worker_fn *worker, void *state);

/*
 * hm_ps_worker returns the number of this worker, counted from 0, or -1 if ps is NULL;
 * hm_ps_workers returns the number of workers, or 0 if ps is NULL.
 */
HM_API int hm_ps_worker(const struct hm_ps *ps);
HM_API int hm_ps_workers(const struct hm_ps *ps);

/* Copies one row into ret_values[0..columns). Tables and rows are counted from 0. */
HM_API int hm_ps_get(struct hm_ps *ps, size_t table, size_t row, double *ret_values,
                     struct hm_err *err);
/*
 * Copies rows[0..count) into ret_values[0..count * columns), one after another. Rows that must come
 * from a server are requested together, so this is faster than one hm_ps_get for each row.
 */
HM_API int hm_ps_get_batch(struct hm_ps *ps, size_t table, const size_t *rows, size_t count,
                           double *ret_values, struct hm_err *err);
/* Copies a whole table into ret_values[0..rows * columns), one row after another. */
HM_API int hm_ps_get_table(struct hm_ps *ps, size_t table, double *ret_values, struct hm_err *err);

/* Adds by[0..columns) to one row. The values must be finite. */
HM_API int hm_ps_inc(struct hm_ps *ps, size_t table, size_t row, const double *by,
                     struct hm_err *err);
/* Adds by[0..count * columns) to rows[0..count); a row may appear several times. */
HM_API int hm_ps_inc_batch(struct hm_ps *ps, size_t table, const size_t *rows, size_t count,
                           const double *by, struct hm_err *err);
/* Adds by[0..rows * columns) to a whole table. */
HM_API int hm_ps_inc_table(struct hm_ps *ps, size_t table, const double *by, struct hm_err *err);

/* Finishes this clock and sends its increments. Does not wait for other workers. */
HM_API int hm_ps_clock(struct hm_ps *ps, struct hm_err *err);
/*
 * Finishes this clock and waits until all workers have finished as many clocks. Later reads contain
 * all earlier increments, regardless of the staleness of the table.
 */
HM_API int hm_ps_barrier(struct hm_ps *ps, struct hm_err *err);

HM_API int hm_ps_stats(const struct hm_ps *ps, struct hm_ps_stats *ret_stats, struct hm_err *err);

#ifdef __cplusplus
}
#endif

#endif
