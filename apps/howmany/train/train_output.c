/*
 * Handles the lines of a trace. With --json, they are printed unchanged. Otherwise, they are
 * printed as a table that contains all of the first iterations, a decreasing share of the later
 * ones, and a summary at the end.
 */
#include "train_output.h"
#include "load.h"
#include "table_add.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "append_file.h"
#include "child.h"
#include "format.h"
#include "json.h"
#include "value.h"

/*
 * Columns of a recorded CSV file: first the values of the header line of the trace, then the values
 * of each iteration, then tail_columns.
 */
static const char *const tail_columns[] = {"staleness", "backups", "rows"};
static const char *const head_columns[] = {"algorithm", "problem", "data",     "n",
                                           "seed",      "scheme",  "simulated"};
static const char *const point_columns[] = {
    "iteration", "epoch",      "seconds",       "compute_s", "communicate_s",
    "elapsed_s", "objective",  "suboptimality", "gap",       "change",
    "accuracy",  "test_error", "samples_per_s", "bytes",     "flop"};

/* The percentiles of the iteration times are shown if the 95th is more than this multiple of the
 * 5th. */
static const double SPREAD_SHOWN = 1.02;

enum {
    HEAD_COLUMNS = sizeof(head_columns) / sizeof(head_columns[0]),
    POINT_COLUMNS = sizeof(point_columns) / sizeof(point_columns[0]),
    TAIL_COLUMNS = sizeof(tail_columns) / sizeof(tail_columns[0])
};

static const char *value_text(const struct hm_value *object, const char *key)
{
    const struct hm_value *value = hm__value_get(object, key);
    return value && value->kind == HM_VALUE_SCALAR ? value->text : "";
}

static void add_csv_header(struct hm_text *header, int tail)
{
    for (size_t i = 0; i < HEAD_COLUMNS; i++)
        hm__text_addf(header, "%s%s", i ? "," : "", head_columns[i]);
    for (size_t i = 0; i < POINT_COLUMNS; i++)
        hm__text_addf(header, ",%s", point_columns[i]);
    for (int i = 0; i < tail; i++)
        hm__text_addf(header, ",%s", tail_columns[i]);
    hm__text_add(header, "\n");
}

/*
 * Finds how many of the columns in tail_columns an existing CSV file has: an earlier version of
 * this program wrote fewer of them. A new file has all of them.
 */
static int find_tail(const struct train_output *o, int *ret_tail)
{
    int rc = 0;

    *ret_tail = TAIL_COLUMNS;
    for (int tail = 0; rc == 0 && tail < 2; tail++) {
        struct hm_text early = {0};
        add_csv_header(&early, tail);
        if (early.failed)
            rc = cli_complain("out of memory");
        else if (launch_append_continues(o->record, early.data))
            *ret_tail = tail;
        hm__text_release(&early);
    }
    return rc;
}

/*
 * Opens a CSV file to record the run. If an earlier version of this program created the file
 * without some columns, rows are added without these columns; it is an error if this run needs
 * them.
 */
static int open_csv_record(struct train_output *o)
{
    struct hm_text header = {0};
    int rc = find_tail(o, &o->tail);

    if (rc == 0 && ((o->tail < 1 && o->stale) || (o->tail < 2 && o->backups)))
        return cli_complain("--record: %s has no column %s, and this run %s; give another file",
                            o->record, o->tail < 1 && o->stale ? "staleness" : "backups",
                            o->tail < 1 && o->stale ? "may be stale" : "has backup workers");
    add_csv_header(&header, o->tail);
    if (rc == 0 && header.failed)
        rc = cli_complain("out of memory");
    if (rc == 0)
        rc = launch_append_open(o->record, header.data, &o->file);
    hm__text_release(&header);
    return rc;
}

int train_output_begin(struct train_output *o)
{
    o->file = -1;
    o->progress = cli_progress_start("train", 0);
    if (!o->record)
        return 0;
    if (hm__is_store(o->record))
        return cli_store_open(o->record, &o->store);
    int format = launch_append_format(o->record);
    if (format < 0)
        return EXIT_USAGE;
    o->csv = format == 0;
    return o->csv ? open_csv_record(o) : launch_append_open(o->record, NULL, &o->file);
}

/*
 * Ends the run as Ctrl-C does, even if SIGINT is ignored. This function is called if output cannot
 * be written, because the reader has closed the pipe or the disk is full.
 */
static void output_fail(struct train_output *o)
{
    o->failed = true;
    launch_interrupt();
}

static void output_put(struct train_output *o, const char *text)
{
    /* The progress line is cleared only if standard output is also a terminal; otherwise output and
     * progress do not share a line. */
    if (cli_is_terminal())
        cli_progress_end(&o->progress);
    if (o->failed || o->cut || cli_put_wrapped(text))
        return;
    if (launch_interrupted())
        o->cut = true;
    else
        output_fail(o);
}

/* ---- recording ------------------------------------------------------------------------------ */

static void record_line(struct train_output *o, const char *line)
{
    struct hm_text whole = {0};

    hm__text_addf(&whole, "%s\n", line);
    if (whole.failed || launch_append(o->file, whole.data, whole.length, false))
        output_fail(o);
    hm__text_release(&whole);
}

static void record_head(struct train_output *o, const struct hm_value *head)
{
    hm__text_release(&o->head);
    o->head = (struct hm_text){0};
    for (size_t i = 0; i < HEAD_COLUMNS; i++) {
        hm__text_add(&o->head, i ? "," : "");
        hm__csv_text(&o->head, value_text(head, head_columns[i]));
    }
    const char *staleness = value_text(head, "staleness"), *backups = value_text(head, "backups");
    const char *const tail[TAIL_COLUMNS] = {*staleness ? staleness
                                            : strcmp(value_text(head, "consistency"), "async") == 0
                                                ? "async"
                                                : "0",
                                            *backups ? backups : "0", value_text(head, "rows")};
    size_t used = 0;
    o->ends[0] = '\0';
    for (int i = 0; i < o->tail; i++)
        used += (size_t)snprintf(o->ends + used, sizeof(o->ends) - used, ",%.30s", tail[i]);
}

static void record_point(struct train_output *o, const struct hm_value *point)
{
    struct hm_text row = {0};

    hm__text_add(&row, o->head.data ? o->head.data : "");
    for (size_t i = 0; i < POINT_COLUMNS; i++) {
        hm__text_add(&row, ",");
        hm__csv_text(&row, value_text(point, point_columns[i]));
    }
    hm__text_add(&row, o->ends);
    if (!row.failed)
        record_line(o, row.data);
    hm__text_release(&row);
}

/* ---- the table ------------------------------------------------------------------------------ */

/* Adds a description of the platform to a string, such as " and 2 servers by ssp 3". */
static void add_platform_text(struct hm_text *text, const struct hm_value *head)
{
    double servers = hm__value_number(head, "servers"), bound = hm__value_number(head, "staleness");
    double backups = hm__value_number(head, "backups");

    if (strcmp(value_text(head, "platform"), "driver") == 0)
        hm__text_add(text, " and a driver");
    if (isnan(servers))
        return;
    hm__text_addf(text, " and %.0f server%s by %s", servers, servers == 1 ? "" : "s",
                  value_text(head, "consistency"));
    if (!isnan(bound))
        hm__text_addf(text, " %.0f", bound);
    if (backups > 0)
        hm__text_addf(text, " with %.0f backup%s", backups, backups == 1 ? "" : "s");
}

enum { TABLE_COLUMNS = 6, TABLE_WIDTH = 75 };

/* Adds a row of the table. On a narrow terminal, the columns epoch and elapsed are omitted. */
static void add_row(struct hm_text *text, const char *const cells[TABLE_COLUMNS])
{
    static const int widths[TABLE_COLUMNS] = {9, 10, 14, 13, 12, 12};
    bool narrow = cli_style().width < TABLE_WIDTH;

    for (size_t i = 0; i < TABLE_COLUMNS; i++)
        if (!narrow || (i != 1 && i != TABLE_COLUMNS - 1))
            hm__text_addf(text, "%s%*s", i ? " " : "", widths[i], cells[i]);
    hm__text_add(text, "\n");
}

static void show_head(struct train_output *o, const struct hm_value *head)
{
    struct hm_text text = {0};
    double n = hm__value_number(head, "n"), rows = hm__value_number(head, "rows");

    hm__text_addf(&text, "%s by %s on %.0f %s", value_text(head, "problem"),
                  value_text(head, "algorithm"), n, n == 1 ? "rank" : "ranks");
    add_platform_text(&text, head);
    hm__text_addf(&text, "%s, ", o->simulated ? " (simulated)" : "");
    if (isnan(rows))
        hm__text_addf(&text, "%.0f vertices, %.0f edges\n\n", hm__value_number(head, "vertices"),
                      hm__value_number(head, "edges"));
    else
        hm__text_addf(&text, "%.0f rows of %.0f features\n\n", rows,
                      hm__value_number(head, "features"));
    add_row(&text, (const char *const[]){"iteration", "epoch", "objective", o->measure, "seconds",
                                         "elapsed"});
    if (!text.failed)
        output_put(o, text.data);
    hm__text_release(&text);
}

/* Returns whether the table shows an iteration: 1..10, then 20, 30..100, then 200, 300..1000, and
 * so on. */
static bool is_table_row(double iteration)
{
    double every = pow(10, floor(log10(fmax(1, iteration - 0.5))));
    return fmod(iteration, every) == 0;
}

static void show_point(struct train_output *o, const struct hm_value *point)
{
    char seconds[HM_SHOWN], elapsed[HM_SHOWN], second[40] = "";
    char iteration[32], epoch[32], objective[32];
    double measure = hm__value_number(point, o->measure);
    struct hm_text row = {0};

    if (!isnan(measure))
        snprintf(second, sizeof(second), "%.3e", measure);
    snprintf(iteration, sizeof(iteration), "%.0f", o->iteration);
    snprintf(epoch, sizeof(epoch), "%.4g", hm__value_number(point, "epoch"));
    snprintf(objective, sizeof(objective), "%.8g", hm__value_number(point, "objective"));
    hm__show_time(hm__value_number(point, "seconds"), seconds);
    hm__show_time(hm__value_number(point, "elapsed_s"), elapsed);
    add_row(&row, (const char *const[]){iteration, epoch, objective, second, seconds, elapsed});
    hm__text_release(&o->held);
    o->held = (struct hm_text){0};
    if (is_table_row(o->iteration) && !row.failed)
        output_put(o, row.data);
    else if (!row.failed) {
        o->held = row;
        return;
    }
    hm__text_release(&row);
}

static void show_summary(struct train_output *o, const struct hm_value *summary)
{
    static const char *const reasons[][2] = {{"iterations", "all iterations done"},
                                             {"within", "the time is up"},
                                             {"suboptimality", "near enough to the best"},
                                             {"gap", "the gap is small enough"},
                                             {"tolerance", "the messages have settled"},
                                             {"settled", "nothing better is found"},
                                             {"diverged", "it diverges"}};
    const char *why = value_text(summary, "stopped_by");
    char elapsed[HM_SHOWN];
    struct hm_text text = {0};
    double all = hm__value_number(summary, "elapsed_s"),
           accuracy = hm__value_number(summary, "accuracy");
    double error = hm__value_number(summary, "test_error");

    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
        if (strcmp(why, reasons[i][0]) == 0)
            why = reasons[i][1];
    if (o->held.data)
        hm__text_add(&text, o->held.data);
    hm__text_addf(&text, "\nStopped after %.0f iterations, %s%s: %s.\n",
                  hm__value_number(summary, "iterations"), hm__show_time(all, elapsed),
                  o->simulated ? " of the simulated cluster" : "", why);
    hm__text_addf(&text, "  objective    %.10g\n", hm__value_number(summary, "objective"));
    if (!isnan(error))
        hm__text_addf(&text, "  test rows    %.6g is the mean of the squared errors\n", error);
    if (!isnan(accuracy))
        hm__text_addf(&text, "  test rows    %.2f %% right\n", 100 * accuracy);
    if (all > 0)
        hm__text_addf(&text,
                      "  time         %.0f %% computing, %.0f %% communicating and waiting\n",
                      100 * hm__value_number(summary, "compute_s") / all,
                      100 * hm__value_number(summary, "communicate_s") / all);
    double low = hm__value_number(summary, "seconds_p5"),
           high = hm__value_number(summary, "seconds_p95");
    char range[HM_SHOWN];
    if (high > SPREAD_SHOWN * low)
        hm__text_addf(&text, "  spread       90 %% of the iterations take %s to %s\n",
                      hm__show_time(low, elapsed), hm__show_time(high, range));
    if (hm__value_get(summary, "lead"))
        hm__text_addf(&text,
                      "  servers      %.0f gradients used, %.0f dropped; the fastest was ahead by "
                      "%.0f at most\n",
                      hm__value_number(summary, "gradients"), hm__value_number(summary, "dropped"),
                      hm__value_number(summary, "lead"));
    if (!text.failed)
        output_put(o, text.data);
    hm__text_release(&text);
}

/* ---- lines ---------------------------------------------------------------------------------- */

static void handle_object(struct train_output *o, const struct hm_value *object)
{
    bool head = hm__value_get(object, "run"), point = hm__value_get(object, "iteration");
    bool again = o->iteration > 0;

    if (head) {
        o->measure = hm__value_get(object, "best")       ? "suboptimality"
                     : hm__value_get(object, "vertices") ? "change"
                                                         : "gap";
        o->limit = fmax(
            /* The limit is 0 if the trace does not contain one, because fmax ignores NAN. */
            0, hm__value_number(object, "iteration_limit"));
        cli_progress_end(&o->progress);
        o->progress = cli_progress_start("iteration", (size_t)o->limit);
        o->simulated = strcmp(value_text(object, "simulated"), "true") == 0;
        if (o->csv)
            record_head(o, object);
        if (!o->json && !again)
            show_head(o, object);
    } else if (point) {
        o->iteration = hm__value_number(object, "iteration");
        if (o->csv && o->file >= 0)
            record_point(o, object);
        if (!o->json)
            show_point(o, object);
    } else if (hm__value_get(object, "summary")) {
        o->finished = true;
        if (!o->json)
            show_summary(o, object);
    }
}

void train_output_line(void *output, const char *line, double seconds)
{
    struct train_output *o = output;
    struct hm_arena *arena = hm__arena_new();
    struct hm_value *object;

    (void)seconds;
    if (o->failed || !arena ||
        hm__json_parse(arena, line, strlen(line), "output", &object, NULL) != 0 ||
        object->kind != HM_VALUE_MAP) {
        hm__arena_free(arena); /* The line was printed by a library and is not part of the trace. */
        return;
    }
    if (o->json) {
        struct hm_text whole = {0};
        hm__text_addf(&whole, "%s\n", line);
        if (!whole.failed)
            output_put(o, whole.data);
        hm__text_release(&whole);
    }
    if (o->file >= 0 && !o->csv)
        record_line(o, line);
    if (o->store)
        hm__text_addf(&o->lines, "%s\n", line);
    handle_object(o, object);
    hm__arena_free(arena);
    if (o->limit > 0 && o->iteration < o->limit && !o->finished)
        cli_progress_step(&o->progress, (size_t)o->iteration);
}

void train_output_restart(struct train_output *o, double number, int rank)
{
    struct hm_text line = {0};
    struct hm_json json = {.out = &line};

    hm__json_open(&json, NULL, HM_JSON_OBJECT);
    hm__json_put_number(&json, "restart", number);
    hm__json_put_number(&json, "rank", rank >= 0 ? (double)rank : (double)NAN);
    hm__json_close(&json);
    if (!line.failed)
        train_output_line(o, line.data, 0);
    hm__text_release(&line);
}

/*
 * Adds the traces to the store, with the properties of the run from the first line of the output.
 */
static int store_traces(struct train_output *o, const struct hm_traces *traces,
                        struct hm_arena *arena)
{
    static const struct hm_value nothing = {.kind = HM_VALUE_MAP};
    struct hm_stored like = HM_STORED_INIT;
    struct hm_value *head;
    struct hm_added added = {0};

    if (hm__json_parse(arena, o->lines.data, strcspn(o->lines.data, "\n"), "output", &head, NULL))
        head = hm__arena_alloc(arena, 1, sizeof(*head));
    const struct hm_value *run = head ? head : &nothing;
    const char **const texts[] = {&like.problem, &like.data,    &like.scheme,
                                  &like.host,    &like.version, &like.made_at};
    const char *const keys[] = {"problem", "data", "scheme", "host", "version", "time"};
    for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
        const char *text = value_text(run, keys[k]);
        *texts[k] = *text ? text : NULL;
    }
    struct hm_text more = {0};
    struct hm_json json = {.out = &more};
    hm__json_open(&json, NULL, HM_JSON_OBJECT);
    hm__json_put_text(&json, "simulated", "true");
    hm__json_close(&json);
    bool simulated = strcmp(value_text(run, "simulated"), "true") == 0;
    like.more = simulated ? more.data : NULL;
    const struct hm_run_sink sink = hm__store_sink(o->store);
    struct hm_err err = {0};
    int rc = more.failed ? cli_complain("out of memory") : 0;
    if (rc == 0 && hm__table_add_traces(&sink, traces, NULL, &like, &added, &err))
        rc = cli_report(&err);
    hm__text_release(&more);
    hm__added_release(&added);
    return rc;
}

int train_output_store(struct train_output *o)
{
    struct hm_traces *traces = NULL;
    struct hm_err err = {0};
    struct hm_arena *arena = hm__arena_new();
    int rc = 0;

    if (!arena || o->lines.failed)
        rc = cli_complain("out of memory");
    else if (o->store && o->lines.length &&
             hm_traces_parse(o->lines.data, o->lines.length, "this run", NULL, &traces, &err))
        rc = cli_report(&err);
    if (rc == 0 && traces)
        rc = store_traces(o, traces, arena);
    hm_traces_free(traces);
    hm__arena_free(arena);
    return rc;
}

void train_output_end(struct train_output *o)
{
    cli_progress_end(&o->progress);
    hm_store_close(o->store);
    o->store = NULL;
    hm__text_release(&o->lines);
    if (o->file >= 0) {
        fsync(o->file);
        close(o->file);
    }
    o->file = -1;
    hm__text_release(&o->head);
    hm__text_release(&o->held);
}
