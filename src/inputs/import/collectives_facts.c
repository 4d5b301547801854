/*
 * Fits straight lines to the tables of communication benchmarks, and writes the results as JSON
 * members (facts) and as a cluster.
 */
#include <math.h>
#include <string.h>

#include "collectives.h"

/* ---- the line t = a + b * bytes ---------------------------------------------------------------
 */

struct line_fit {
    /*
     * Coefficients of t = a + b * bytes, in seconds and in seconds per byte; NaN if no row can be
     * used.
     */
    double a, b;
};

/* Sums for a weighted least-squares fit of a straight line; the weight of a row is 1 / t^2. */
struct sums {
    double w, wx, wxx, wt, wxt;
};

static struct line_fit solve_line(const struct sums *s)
{
    double determinant = s->w * s->wxx - s->wx * s->wx;
    struct line_fit fit = {NAN, NAN};

    if (s->w == 0)
        return fit;
    if (determinant > 0) {
        fit.a = (s->wxx * s->wt - s->wx * s->wxt) / determinant;
        fit.b = (s->w * s->wxt - s->wx * s->wt) / determinant;
    }
    if (!(fit.b >= 0)) {
        fit.b = 0;
        fit.a = s->wt / s->w;
    }
    if (fit.a < 0) {
        fit.a = 0;
        fit.b = s->wxt / s->wxx;
    }
    return fit;
}

/*
 * Fits a straight line to the times (in microseconds, column `time`) as a function of the bytes in
 * column 0. Rows with a wrong out-of-place (side 0) or in-place (side 1) result are skipped; if
 * `side` is -1, no row is skipped.
 */
static struct line_fit fit_column(const struct bench_section *s, size_t time, int side)
{
    struct sums sums = {0};

    for (size_t i = 0; i < s->rows; i++) {
        double x = s->row[i].value[0], t = s->row[i].value[time] * 1e-6;
        if (!(x > 0) || !(t > 0) || (side >= 0 && s->row[i].bad[side]))
            continue;
        double w = 1 / (t * t);
        sums.w += w;
        sums.wx += w * x;
        sums.wxx += w * x * x;
        sums.wt += w * t;
        sums.wxt += w * x * t;
    }
    return solve_line(&sums);
}

static void put_fit(struct bench *b, const char *key, struct line_fit fit)
{
    struct hm_json *j = &b->im->facts;

    hm__json_open(j, key, HM_JSON_OBJECT);
    hm__json_put_number(j, "a_s", fit.a);
    hm__json_put_number(j, "b_s_per_byte", fit.b);
    hm__json_close(j);
}

/*
 * Writes the latency and bandwidth of the cluster's network, from the first table that determines
 * both.
 */
static void put_cluster(struct bench *b, double alpha, double beta, const char *from)
{
    if (b->im->document.length > 0 || !(beta > 0))
        return;
    b->im->document_kind = "cluster";
    hm__text_addf(&b->im->document, "# From %s.\n%s:\n  bandwidth: ", from,
                  b->s.host_count == 1 ? "link" : "fabric");
    hm__json_number(&b->im->document, 1 / beta);
    hm__text_add(&b->im->document, " byte/s\n  latency: ");
    hm__json_number(&b->im->document, alpha);
    hm__text_add(&b->im->document, " s\n");
}

/* ---- nccl-tests -------------------------------------------------------------------------------
 */

/*
 * Adds the rows of a benchmark to the table of runs, so that time can be fitted as a function of n
 * and bytes. All rows share one copy of the name.
 */
static void add_runs(struct bench *b, size_t time, double n, const char *name)
{
    const char *copy = hm__arena_strdup(b->im->arena, name);

    for (size_t i = 0; copy && i < b->s.rows; i++) {
        const struct hm_import_cell cells[] = {hm__cell_text(copy), hm__cell(n),
                                               hm__cell(b->s.row[i].value[0]),
                                               hm__cell(b->s.row[i].value[time] * 1e-6)};
        if (b->s.row[i].value[0] > 0)
            hm__import_row(b->im, &b->im->runs, cells);
    }
}

/*
 * Returns the names of the collectives for which the ratio of bus bandwidth to bandwidth in
 * nccl-tests has this value on n ranks; NULL if there are none.
 */
static const char *by_ratio(double ratio, double n)
{
    if (fabs(ratio - 2 * (n - 1) / n) < 0.01)
        return "all_reduce";
    if (fabs(ratio - (n - 1) / n) < 0.01)
        return "all_gather|reduce_scatter|alltoall";
    return fabs(ratio - 1) < 0.01 ? "broadcast|reduce|sendrecv" : NULL;
}

static void put_nccl_rows(struct bench *b)
{
    struct hm_json *j = &b->im->facts;
    static const char *const names[] = {"bytes",     "count", "out_us",   "out_algbw",
                                        "out_busbw", "in_us", "in_algbw", "in_busbw"};

    hm__json_open(j, "rows", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < b->s.rows; i++) {
        const struct bench_row *row = &b->s.row[i];
        hm__json_open(j, NULL, HM_JSON_OBJECT);
        for (int k = 0; k < 8; k++)
            hm__json_put_number(j, names[k], row->value[k]);
        hm__json_put_text(j, "type", row->type);
        hm__json_put_text(j, "out_wrong", row->wrong[0]);
        hm__json_put_text(j, "in_wrong", row->wrong[1]);
        hm__json_close(j);
    }
    hm__json_close(j);
}

static void put_ring(struct bench *b, struct line_fit fit, double n)
{
    double alpha = fit.a / (2 * (n - 1)), beta = fit.b / (2 * (n - 1) / n);

    hm__json_put_number(&b->im->facts, "ring_alpha_s", alpha);
    hm__json_put_number(&b->im->facts, "ring_beta_s_per_byte", beta);
    put_cluster(b, alpha, beta, "an all-reduce as a ring");
}

static void nccl_section(struct bench *b)
{
    struct bench_section *s = &b->s;
    struct hm_json *j = &b->im->facts;
    const struct bench_row *last = s->rows ? &s->row[s->rows - 1] : NULL;
    double n = hm__import_given(b->im, "n"), wrong = 0;

    if (isnan(n))
        n = s->ranks > 0 ? s->ranks : NAN;
    for (size_t i = 0; i < s->rows; i++)
        wrong += s->row[i].bad[0] + s->row[i].bad[1];
    b->wrong += wrong;
    hm__json_put_text(j, "kind", "nccl-tests");
    hm__json_put_text(j, "collective", s->name[0] ? s->name : NULL);
    hm__json_put_number(j, "ranks", s->ranks > 0 ? s->ranks : NAN);
    hm__json_put_number(j, "hosts", s->host_count ? (double)s->host_count : NAN);
    hm__json_put_text(j, "device", s->device[0] ? s->device : NULL);
    put_nccl_rows(b);
    hm__json_put_number(j, "avg_busbw", s->average);
    hm__json_put_number(j, "wrong", wrong);
    const char *name = s->name[0] ? s->name : NULL;
    if (!name && last && last->value[3] > 0) {
        double ratio = last->value[4] / last->value[3];
        name = isnan(n) ? NULL : by_ratio(ratio, n);
        hm__json_put_number(j, "busbw_over_algbw", round(ratio * 1e4) / 1e4);
        hm__json_put_text(j, "collective_by_ratio", name);
    }
    struct line_fit out = fit_column(s, 2, 0);
    put_fit(b, "fit_out_of_place", out);
    put_fit(b, "fit_in_place", fit_column(s, 5, 1));
    if (name && strcmp(name, "all_reduce") == 0 && n > 1)
        put_ring(b, out, n);
    if (last) {
        hm__json_open(j, "largest", HM_JSON_OBJECT);
        hm__json_put_number(j, "bytes", last->value[0]);
        hm__json_put_number(j, "algbw_GBps", last->value[3]);
        hm__json_put_number(j, "busbw_GBps", last->value[4]);
        hm__json_close(j);
    }
    b->im->needs_n |= isnan(n);
    b->im->nodes = fmax(b->im->nodes, (double)s->host_count);
    add_runs(b, 2, n, name ? name : "unknown");
}

/* ---- OSU and IMB ------------------------------------------------------------------------------
 */

/* Returns the index of the first column whose name contains `piece`; -1 if there is none. */
static int find_column(const struct bench_section *s, const char *piece)
{
    for (size_t i = 0; i < s->column_count; i++)
        if (strstr(s->columns[i], piece))
            return (int)i;
    return -1;
}

static void put_table(struct bench *b)
{
    struct hm_json *j = &b->im->facts;

    hm__json_open(j, "columns", HM_JSON_LIST);
    for (size_t i = 0; i < b->s.column_count; i++)
        hm__json_put_text(j, NULL, b->s.columns[i]);
    hm__json_close(j);
    hm__json_open(j, "rows", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < b->s.rows; i++)
        hm__json_put_numbers(j, NULL, b->s.row[i].value, b->s.column_count);
    hm__json_close(j);
}

static void put_most(struct bench *b, int column)
{
    double most = NAN;

    for (size_t i = 0; i < b->s.rows; i++)
        if (!(most >= b->s.row[i].value[column]))
            most = b->s.row[i].value[column];
    hm__json_put_number(&b->im->facts, "max_MBps", most);
}

static void put_smallest(struct bench *b, int column)
{
    size_t i = 0;

    while (i < b->s.rows && !(b->s.row[i].value[0] > 0))
        i++;
    hm__json_put_number(&b->im->facts, "smallest_us",
                        i < b->s.rows ? b->s.row[i].value[column] : NAN);
}

static void osu_section(struct bench *b)
{
    struct bench_section *s = &b->s;
    struct hm_json *j = &b->im->facts;
    int time = find_column(s, "Latency"), speed = find_column(s, "Bandwidth");
    double n = hm__import_given(b->im, "n");

    hm__json_put_text(j, "kind", "osu");
    hm__json_put_text(j, "transport", s->transport);
    hm__json_put_text(j, "test", s->name);
    hm__json_put_text(j, "version", s->version);
    put_table(b);
    if (time > 0) {
        struct line_fit fit = fit_column(s, (size_t)time, -1);
        put_fit(b, "fit", fit);
        put_smallest(b, time);
        if (strcmp(s->name, "Latency") == 0)
            put_cluster(b, fit.a, fit.b, "messages between two processes");
        else
            n = hm__import_n(b->im, n);
        add_runs(b, (size_t)time, strcmp(s->name, "Latency") == 0 ? 2 : n, s->name);
    }
    if (speed > 0)
        put_most(b, speed);
}

static void imb_section(struct bench *b)
{
    struct bench_section *s = &b->s;
    struct hm_json *j = &b->im->facts;
    int time = find_column(s, "t_avg["), speed = find_column(s, "Mbytes/sec");

    if (time < 0)
        time = find_column(s, "t[");
    hm__json_put_text(j, "kind", "imb");
    hm__json_put_text(j, "version", s->version[0] ? s->version : NULL);
    hm__json_put_text(j, "benchmark", s->name);
    hm__json_put_number(j, "processes", s->processes);
    hm__json_put_number(j, "waiting", s->waiting);
    put_table(b);
    if (time > 0) {
        struct line_fit fit = fit_column(s, (size_t)time, -1);
        hm__json_put_text(j, "fit_time_column", s->columns[time]);
        put_fit(b, "fit", fit);
        if (strcmp(s->name, "PingPong") == 0)
            put_cluster(b, fit.a, fit.b, "messages between two processes");
        add_runs(b, (size_t)time, s->processes, s->name);
    }
    if (speed > 0)
        put_most(b, speed);
}

void hm__bench_section(struct bench *b)
{
    hm__json_open(&b->im->facts, NULL, HM_JSON_OBJECT | HM_JSON_LINES);
    if (b->s.kind == BENCH_NCCL)
        nccl_section(b);
    else if (b->s.kind == BENCH_OSU)
        osu_section(b);
    else
        imb_section(b);
    hm__json_close(&b->im->facts);
}
