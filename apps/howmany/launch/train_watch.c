/*
 * Lines of a trace. JSON goes on as it came. For a person a table: each iteration at first, then
 * ever fewer, and what it came to at the end.
 */
#include "train_watch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "append.h"
#include "child.h"
#include "format.h"
#include "value.h"

/* Columns of a recorded CSV: of the head, then of each iteration, then staleness. */
static const char *const head_columns[] = {"algorithm", "problem", "data",     "n",
                                           "seed",      "scheme",  "simulated"};
static const char *const point_columns[] = {
    "iteration", "epoch",      "seconds",       "compute_s", "communicate_s",
    "elapsed_s", "objective",  "suboptimality", "gap",       "change",
    "accuracy",  "test_error", "samples_per_s", "bytes",     "flop"};

enum {
    HEADS = sizeof(head_columns) / sizeof(head_columns[0]),
    POINTS = sizeof(point_columns) / sizeof(point_columns[0])
};

static const char *text_of(const struct hm_value *object, const char *key)
{
    const struct hm_value *value = hm__value_get(object, key);
    return value && value->kind == HM_VALUE_SCALAR ? value->text : "";
}

static void add_header(struct hm_text *header, bool early)
{
    for (size_t i = 0; i < HEADS; i++)
        hm__text_addf(header, "%s%s", i ? "," : "", head_columns[i]);
    for (size_t i = 0; i < POINTS; i++)
        hm__text_addf(header, ",%s", point_columns[i]);
    hm__text_add(header, early ? "\n" : ",staleness\n");
}

/* A table that was begun without the column goes on without it, as long as nothing is stale. */
static int open_table(struct train_watch *w)
{
    struct hm_text header = {0}, early = {0};
    int rc = 0;

    add_header(&header, false);
    add_header(&early, true);
    if (header.failed || early.failed)
        rc = cli_complain("out of memory");
    else if ((w->early = cli_append_continues(w->record, early.data)) && w->stale)
        rc = cli_complain("--record: %s has no column staleness, and this run may be stale; give "
                          "another file",
                          w->record);
    if (rc == 0)
        rc = cli_append_open(w->record, w->early ? early.data : header.data, &w->file);
    hm__text_release(&header);
    hm__text_release(&early);
    return rc;
}

int train_watch_begin(struct train_watch *w)
{
    w->file = -1;
    if (!w->record)
        return 0;
    if (cli_is_store(w->record))
        return cli_store_open(w->record, &w->store);
    int form = cli_append_form(w->record);
    if (form < 0)
        return EXIT_USAGE;
    w->csv = form == 0;
    return w->csv ? open_table(w) : cli_append_open(w->record, NULL, &w->file);
}

/* Nobody reads on, or the disk is full: end the run as Ctrl-C would, even where that is ignored. */
static void give_up(struct train_watch *w)
{
    w->failed = true;
    cli_interrupt();
}

static void put(struct train_watch *w, const char *text)
{
    if (cli_is_terminal()) /* else the two do not meet */
        cli_progress_end(&w->progress);
    if (!w->failed && !cli_put(text))
        give_up(w);
}

/* ---- recording ------------------------------------------------------------------------------ */

static void record_line(struct train_watch *w, const char *line)
{
    struct hm_text whole = {0};

    hm__text_addf(&whole, "%s\n", line);
    if (whole.failed || cli_append(w->file, whole.data, whole.length, false))
        give_up(w);
    hm__text_release(&whole);
}

static void record_head(struct train_watch *w, const struct hm_value *head)
{
    hm__text_release(&w->head);
    w->head = (struct hm_text){0};
    for (size_t i = 0; i < HEADS; i++) {
        hm__text_add(&w->head, i ? "," : "");
        hm__csv_text(&w->head, text_of(head, head_columns[i]));
    }
    const char *staleness = text_of(head, "staleness");
    w->staleness[0] = '\0';
    if (!w->early)
        snprintf(w->staleness, sizeof(w->staleness), ",%.30s",
                 *staleness                                           ? staleness
                 : strcmp(text_of(head, "consistency"), "async") == 0 ? "async"
                                                                      : "0");
}

static void record_point(struct train_watch *w, const struct hm_value *point)
{
    struct hm_text row = {0};

    hm__text_add(&row, w->head.data ? w->head.data : "");
    for (size_t i = 0; i < POINTS; i++) {
        hm__text_add(&row, ",");
        hm__csv_text(&row, text_of(point, point_columns[i]));
    }
    hm__text_add(&row, w->staleness);
    if (!row.failed)
        record_line(w, row.data);
    hm__text_release(&row);
}

/* ---- for a person --------------------------------------------------------------------------- */

/* " and 2 servers by ssp 3" */
static void add_platform(struct hm_text *text, const struct hm_value *head)
{
    double servers = hm__value_number(head, "servers"), bound = hm__value_number(head, "staleness");
    double backups = hm__value_number(head, "backups");

    if (strcmp(text_of(head, "platform"), "driver") == 0)
        hm__text_add(text, " and a driver");
    if (isnan(servers))
        return;
    hm__text_addf(text, " and %.0f server%s by %s", servers, servers == 1 ? "" : "s",
                  text_of(head, "consistency"));
    if (!isnan(bound))
        hm__text_addf(text, " %.0f", bound);
    if (backups > 0)
        hm__text_addf(text, " with %.0f backup%s", backups, backups == 1 ? "" : "s");
}

static void tell_head(struct train_watch *w, const struct hm_value *head)
{
    struct hm_text text = {0};
    double n = hm__value_number(head, "n"), rows = hm__value_number(head, "rows");

    hm__text_addf(&text, "%s by %s on %.0f %s", text_of(head, "problem"),
                  text_of(head, "algorithm"), n, n == 1 ? "rank" : "ranks");
    add_platform(&text, head);
    hm__text_addf(&text, "%s, ", w->simulated ? " (simulated)" : "");
    if (isnan(rows))
        hm__text_addf(&text, "%.0f vertices, %.0f edges\n\n", hm__value_number(head, "vertices"),
                      hm__value_number(head, "edges"));
    else
        hm__text_addf(&text, "%.0f rows of %.0f features\n\n", rows,
                      hm__value_number(head, "features"));
    hm__text_addf(&text, "%9s %10s %14s %13s %12s %12s\n", "iteration", "epoch", "objective",
                  w->measure, "seconds", "elapsed");
    if (!text.failed)
        put(w, text.data);
    hm__text_release(&text);
}

/* 1..10, 20..100, 200..1000 and so on. */
static bool in_table(double iteration)
{
    double every = pow(10, floor(log10(fmax(1, iteration - 0.5))));
    return fmod(iteration, every) == 0;
}

static void tell_point(struct train_watch *w, const struct hm_value *point)
{
    char seconds[HM_SHOWN], elapsed[HM_SHOWN], second[40] = "";
    double measure = hm__value_number(point, w->measure);
    struct hm_text row = {0};

    if (!isnan(measure))
        snprintf(second, sizeof(second), "%.3e", measure);
    hm__text_addf(&row, "%9.0f %10.4g %14.8g %13s %12s %12s\n", w->iteration,
                  hm__value_number(point, "epoch"), hm__value_number(point, "objective"), second,
                  hm__show_time(hm__value_number(point, "seconds"), seconds),
                  hm__show_time(hm__value_number(point, "elapsed_s"), elapsed));
    hm__text_release(&w->held);
    w->held = (struct hm_text){0};
    if (in_table(w->iteration) && !row.failed)
        put(w, row.data);
    else if (!row.failed) {
        w->held = row;
        return;
    }
    hm__text_release(&row);
}

static void tell_summary(struct train_watch *w, const struct hm_value *summary)
{
    static const char *const reasons[][2] = {{"iterations", "all iterations done"},
                                             {"within", "the time is up"},
                                             {"suboptimality", "near enough to the best"},
                                             {"gap", "the gap is small enough"},
                                             {"tolerance", "the messages have settled"},
                                             {"settled", "nothing better is found"},
                                             {"diverged", "it diverges"}};
    const char *why = text_of(summary, "stopped_by");
    char elapsed[HM_SHOWN];
    struct hm_text text = {0};
    double all = hm__value_number(summary, "elapsed_s"),
           accuracy = hm__value_number(summary, "accuracy");
    double error = hm__value_number(summary, "test_error");

    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
        if (strcmp(why, reasons[i][0]) == 0)
            why = reasons[i][1];
    if (w->held.data)
        hm__text_add(&text, w->held.data);
    hm__text_addf(&text, "\nStopped after %.0f iterations, %s%s: %s.\n",
                  hm__value_number(summary, "iterations"), hm__show_time(all, elapsed),
                  w->simulated ? " of the simulated cluster" : "", why);
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
    if (hm__value_get(summary, "lead"))
        hm__text_addf(&text,
                      "  servers      %.0f gradients used, %.0f dropped; the fastest was ahead by "
                      "%.0f at most\n",
                      hm__value_number(summary, "gradients"), hm__value_number(summary, "dropped"),
                      hm__value_number(summary, "lead"));
    if (!text.failed)
        put(w, text.data);
    hm__text_release(&text);
}

/* ---- lines ---------------------------------------------------------------------------------- */

static void take_object(struct train_watch *w, const struct hm_value *object)
{
    bool head = hm__value_get(object, "run"), point = hm__value_get(object, "iteration");
    bool again = w->iteration > 0;

    if (head) {
        w->measure = hm__value_get(object, "best")       ? "suboptimality"
                     : hm__value_get(object, "vertices") ? "change"
                                                         : "gap";
        w->limit =
            fmax(0, hm__value_number(object, "iteration_limit")); /* none is NAN, which is 0 here */
        w->progress = cli_progress_start("iteration", (size_t)w->limit);
        w->simulated = strcmp(text_of(object, "simulated"), "true") == 0;
        if (w->csv)
            record_head(w, object);
        if (!w->json && !again)
            tell_head(w, object);
    } else if (point) {
        w->iteration = hm__value_number(object, "iteration");
        if (w->csv && w->file >= 0)
            record_point(w, object);
        if (!w->json)
            tell_point(w, object);
    } else if (hm__value_get(object, "summary")) {
        w->finished = true;
        if (!w->json)
            tell_summary(w, object);
    }
}

void train_watch_line(void *watch, const char *line, double seconds)
{
    struct train_watch *w = watch;
    struct hm_arena *arena = hm__arena_new();
    struct hm_value *object;

    (void)seconds;
    if (w->failed || !arena ||
        hm__json_parse(arena, line, strlen(line), "output", &object, NULL) != 0 ||
        object->kind != HM_VALUE_MAP) {
        hm__arena_free(arena); /* not ours: a library that speaks on standard output */
        return;
    }
    if (w->json) {
        struct hm_text whole = {0};
        hm__text_addf(&whole, "%s\n", line);
        if (!whole.failed)
            put(w, whole.data);
        hm__text_release(&whole);
    }
    if (w->file >= 0 && !w->csv)
        record_line(w, line);
    if (w->store)
        hm__text_addf(&w->lines, "%s\n", line);
    take_object(w, object);
    hm__arena_free(arena);
    if (w->limit > 0 && w->iteration < w->limit && !w->finished)
        cli_progress_step(&w->progress, (size_t)w->iteration);
}

void train_watch_restart(struct train_watch *w, double number, int rank)
{
    struct hm_text line = {0};

    hm__text_addf(&line, "{\"restart\":%.0f,\"rank\":", number);
    if (rank >= 0)
        hm__text_addf(&line, "%d}", rank);
    else
        hm__text_add(&line, "null}");
    if (!line.failed)
        train_watch_line(w, line.data, 0);
    hm__text_release(&line);
}

/* The first line of a trace says what it is of. */
static int store_with(struct train_watch *w, const struct hm_traces *traces, struct hm_arena *arena)
{
    static const struct hm_value nothing = {.kind = HM_VALUE_MAP};
    struct hm_stored like = HM_STORED_INIT;
    struct hm_value *head;
    struct cli_added added = {0};

    if (hm__json_parse(arena, w->lines.data, strcspn(w->lines.data, "\n"), "output", &head, NULL))
        head = hm__arena_alloc(arena, 1, sizeof(*head));
    const struct hm_value *told = head ? head : &nothing;
    const char **const texts[] = {&like.problem, &like.data,    &like.scheme,
                                  &like.host,    &like.version, &like.made_at};
    const char *const keys[] = {"problem", "data", "scheme", "host", "version", "time"};
    for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
        const char *text = text_of(told, keys[k]);
        *texts[k] = *text ? text : NULL;
    }
    like.more = strcmp(text_of(told, "simulated"), "true") == 0 ? "{\"simulated\":\"true\"}" : NULL;
    int rc = cli_store_add_traces(w->store, traces, NULL, &like, &added);
    cli_added_release(&added);
    return rc;
}

int train_watch_store(struct train_watch *w)
{
    struct hm_traces *traces = NULL;
    struct hm_err err = {0};
    struct hm_arena *arena = hm__arena_new();
    int rc = 0;

    if (!arena || w->lines.failed)
        rc = cli_complain("out of memory");
    else if (w->store && w->lines.length &&
             hm_traces_parse(w->lines.data, w->lines.length, "this run", NULL, &traces, &err))
        rc = cli_report(&err);
    if (rc == 0 && traces)
        rc = store_with(w, traces, arena);
    hm_traces_free(traces);
    hm__arena_free(arena);
    return rc;
}

void train_watch_end(struct train_watch *w)
{
    cli_progress_end(&w->progress);
    cli_store_close(w->store);
    w->store = NULL;
    hm__text_release(&w->lines);
    if (w->file >= 0) {
        fsync(w->file);
        close(w->file);
    }
    w->file = -1;
    hm__text_release(&w->head);
    hm__text_release(&w->held);
}
