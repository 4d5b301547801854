/*
 * Reads and writes the folder of a steered training, which consists of training runs; each run is
 * executed in pieces, and each piece is one child process.
 *
 *     problem.txt        what is trained, the choices and the limits
 *     piece-0000.jsonl   a piece: its algorithm and number of workers, its points, and how it
 *                        ended; if the file exists, it is complete
 *     piece-0000.ck      the checkpoint at the end of the piece; older ones of the same run are
 *                        removed
 *     decisions.jsonl    the decisions: the reason, and the expected and achieved results
 *     report.html        the report
 *
 * The points of a piece are collected in memory until its process ends, then written under another
 * name and renamed. All decisions follow from the pieces, so the folder is the whole state: after a
 * kill -9, only the piece in progress is executed again, from the checkpoint at which it started.
 */
#include "steer_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "err.h"
#include "folder_lock.h"
#include "json.h"
#include "measure.h"
#include "memory.h"
#include "own_program.h"
#include "value.h"

/*
 * RETRIES is the number of times that the user's program is restarted after it has died. COPY_BYTES
 * is the size of the buffer for copying files.
 */
enum { RETRIES = 3, COPY_BYTES = 1 << 16 };

/* ---- files ----------------------------------------------------------------------------------- */

static bool folder_file(const struct steer_folder *f, const char *name, char path[PATH_MAX])
{
    int length = snprintf(path, PATH_MAX, "%s/%s", f->path, name);

    if (length > 0 && length < PATH_MAX)
        return true;
    cli_complain("--folder: '%.60s…' is too long", f->path);
    return false;
}

static bool piece_file(const struct steer_folder *f, long piece, const char *ending,
                       char path[PATH_MAX])
{
    char name[64];

    snprintf(name, sizeof(name), "piece-%04ld.%s", piece, ending);
    return folder_file(f, name, path);
}

int steer_folder_write(const struct steer_folder *f, const char *name, const char *text,
                       size_t length)
{
    char path[PATH_MAX];

    return folder_file(f, name, path) ? cli_write_file(path, text, length) : EXIT_USAGE;
}

int steer_folder_open(struct steer_folder *f)
{
    char path[PATH_MAX], *found = NULL;
    struct hm_err err = {0};
    size_t length = 0;
    int rc = 0;

    f->bytes = NAN;
    f->progress = cli_progress_start("steer", 0);
    cli_progress_list(&f->progress, f->path);
    if (launch_folder_lock("steer", f->path, &f->lock))
        return EXIT_USAGE;
    if (!folder_file(f, "problem.txt", path))
        return EXIT_USAGE;
    if (access(path, F_OK) != 0)
        return cli_write_file(path, f->identity, strlen(f->identity));
    found = cli_read(path, &length, &err);
    if (!found)
        rc = cli_report(&err);
    else if (length != strlen(f->identity) || memcmp(found, f->identity, length) != 0)
        rc = cli_complain("steer: %s has a training of another problem, or with other choices; "
                          "give another --folder, or remove it",
                          f->path);
    hm_text_free(found);
    return rc;
}

static int copy_bytes(int from, int to)
{
    static const int failed = -1;
    char *buffer = malloc(COPY_BYTES);
    ssize_t got = buffer ? 1 : failed;

    while (got > 0) {
        got = read(from, buffer, COPY_BYTES);
        for (ssize_t done = 0; got > 0 && done < got;) {
            ssize_t put = write(to, buffer + done, (size_t)(got - done));
            if (put < 0 && errno != EINTR)
                got = failed;
            done += put > 0 ? put : 0;
        }
    }
    free(buffer);
    return got < 0 ? failed : 0;
}

static int copy_file(const char *from, const char *to)
{
    int in = open(from, O_RDONLY | O_CLOEXEC);
    int out = in < 0 ? -1 : open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    int rc = in < 0 || out < 0 ? -1 : copy_bytes(in, out);

    if (rc)
        rc = cli_complain("steer: the checkpoint %s cannot be copied to %s: %s", from, to,
                          strerror(errno));
    if (in >= 0)
        close(in);
    if (out >= 0 && close(out) != 0 && rc == 0)
        rc = cli_complain("steer: %s cannot be written: %s", to, strerror(errno));
    return rc;
}

/* ---- reading the output of a piece ----------------------------------------------------------- */

/* State of a piece of a run whose child process is running. */
struct piece_run {
    struct steer_folder *folder;
    const struct steer_task *task;
    struct steer_line *line;
    struct launch_child *child;
    /* Text that is written to the file of this piece (piece-0000.jsonl) when the piece ends. */
    struct hm_text lines;
    double start_s; /* Start of the piece, in seconds since the start of the training. */
    /* Run time of the child processes of this piece at the last point, in seconds. */
    double last_s;
    /*
     * Number of iterations and time in seconds at the last point, as the program itself counts
     * them.
     */
    double raw_count, raw_s;
    double begin_count, begin_s; /* Values of raw_count and raw_s at the start of the piece. */
    double most;                 /* Maximum number of iterations of this piece. */
    double offset;    /* Number of iterations that the run had performed before this piece. */
    double earlier_s; /* Run time of the child processes of this piece that died and were restarted,
                         in seconds. */
    /* Number that is added to the iteration numbers that the program reports. */
    double shift;
    size_t points;
    /* Reason why the child process ended; NULL if the program did not report one. */
    const char *ended;
    bool timed_out;      /* True if the child process was ended because its time was over. */
    bool times_reported; /* True if the program reports the times of its iterations. */
    bool failed;         /* True if memory ran out. */
};

static const char *const END_REACHED = "reached";
static const char *const END_LIMIT = "limit";
static const char *const END_FINISHED = "finished";
static const char *const END_FAILED = "failed";
/* The time of the piece ended before its first iteration, and there is no checkpoint: the run can
 * start again in the same way. */
static const char *const END_IDLE = "idle";

/* A measured point as the program reports it; an unknown number is NaN. */
struct raw_point {
    double iteration, loss, seconds, elapsed_s;
};

/* Adds a measured point to the run. Iterations that a restarted program repeats are ignored. */
static void piece_take(struct piece_run *r, const struct raw_point *raw, double wall_s)
{
    /* A program that does not continue the count of iterations after a restart reports iteration 1
     * first. */
    if (r->points == 0 && raw->iteration == 1)
        r->shift = r->begin_count;
    double iteration = isnan(raw->iteration) ? r->raw_count + 1 : r->shift + raw->iteration;
    double steps = iteration - r->raw_count, wall = r->earlier_s + wall_s;
    char progress[160];

    if (!(steps > 0) || !isfinite(raw->loss))
        return;
    double elapsed = isnan(raw->elapsed_s) ? r->begin_s + wall : raw->elapsed_s;
    /* A reported time that no iteration can have is not used. */
    bool reported = raw->seconds > 0 && raw->seconds <= HM_RUN_MOST;
    double seconds = reported ? raw->seconds : (elapsed - r->raw_s) / steps;
    r->times_reported = r->times_reported || reported;
    double since = r->task->virtual_time ? elapsed - r->begin_s : wall;
    struct steer_point point = {.iteration = r->offset + iteration - r->begin_count,
                                .loss = raw->loss,
                                .seconds = fmax(seconds, 1e-12),
                                .clock_s = r->start_s + since};
    r->raw_count = iteration;
    r->raw_s = elapsed;
    r->last_s = wall;
    r->points++;
    if (!steer_line_point(r->line, &point))
        r->failed = true;
    if (raw->loss <= r->task->target)
        r->ended = END_REACHED;
    /*
     * The user's program may not know the target loss and the limit on iterations, so it is ended
     * here.
     */
    bool done = r->ended == END_REACHED || iteration - r->begin_count >= r->most;
    if (done && !steer_source_is_train(r->folder->source))
        r->child->timeout_s = 1e-9;
    snprintf(progress, sizeof(progress), "%s on %.0f, iteration %.0f, loss %.4g",
             r->task->algorithms[r->line->algorithm], r->task->m[r->line->m], point.iteration,
             raw->loss);
    cli_progress_say(&r->folder->progress, progress);
}

static void read_summary(struct piece_run *r, const struct hm_value *object)
{
    const struct hm_value *stopped = hm__value_get(object, "stopped_by");
    const char *why = stopped && stopped->text ? stopped->text : "";

    r->ended = strcmp(why, "suboptimality") == 0 ? END_REACHED
               : strcmp(why, "diverged") == 0    ? END_FAILED
               : strcmp(why, "settled") == 0     ? END_FINISHED
                                                 : END_LIMIT;
}

static void read_json_line(struct piece_run *r, const char *line, double wall_s)
{
    struct hm_arena *arena = hm__arena_new();
    struct hm_value *object = NULL;

    if (!arena)
        r->failed = true;
    /* Lines that are not JSON are skipped; libraries may print them to standard output. */
    if (arena && hm__json_parse(arena, line, strlen(line), "output", &object, NULL) == 0 &&
        object->kind == HM_VALUE_MAP) {
        bool train = steer_source_is_train(r->folder->source);
        if (train && hm__value_get(object, "summary"))
            read_summary(r, object);
        else if (hm__value_get(object, "iteration")) {
            const char *loss = hm__value_get(object, "loss") ? "loss" : "objective";
            struct raw_point raw = {hm__value_number(object, "iteration"),
                                    hm__value_number(object, loss),
                                    hm__value_number(object, "seconds"),
                                    train ? hm__value_number(object, "elapsed_s") : NAN};
            piece_take(r, &raw, wall_s);
        }
    }
    hm__arena_free(arena);
}

static void read_output_line(void *context, const char *line, double wall_s)
{
    struct piece_run *r = context;
    const regex_t *pattern = r->folder->source->pattern;
    struct raw_point raw = {NAN, NAN, NAN, NAN};
    char group[64];

    if (!pattern && line[strspn(line, " \t")] == '{')
        read_json_line(r, line, wall_s);
    if (pattern && launch_pattern_find(pattern, line, group, sizeof(group)) &&
        hm__signed_read(group, &raw.loss) > 0)
        piece_take(r, &raw, wall_s);
}

/* ---- making a piece -------------------------------------------------------------------------- */

static void write_head(struct piece_run *r, long piece, bool resume,
                       const struct launch_command *command)
{
    struct hm_json json = {.out = &r->lines};
    struct hm_text words = {0};

    if (steer_source_is_train(r->folder->source))
        hm__text_add(&words, "howmany ");
    if (launch_command_quote(&words, command))
        r->failed = true;
    hm__json_open(&json, NULL, HM_JSON_OBJECT);
    hm__json_put_number(&json, "piece", (double)piece);
    hm__json_put_text(&json, "algorithm", r->task->algorithms[r->line->algorithm]);
    hm__json_put_number(&json, "n", r->task->m[r->line->m]);
    hm__json_put_bool(&json, "resumed", resume);
    hm__json_put_number(&json, "start_s", r->start_s);
    hm__json_put_text(&json, "command", words.data ? words.data : "");
    hm__json_close(&json);
    hm__text_add(&r->lines, "\n");
    hm__text_release(&words);
}

static void write_points(struct piece_run *r)
{
    for (size_t i = r->line->count - r->points; i < r->line->count; i++) {
        const struct steer_point *point = &r->line->points[i];
        struct hm_json json = {.out = &r->lines};
        hm__json_open(&json, NULL, HM_JSON_OBJECT);
        hm__json_put_number(&json, "iteration", point->iteration);
        hm__json_put_number(&json, "loss", point->loss);
        hm__json_put_number(&json, "seconds", point->seconds);
        hm__json_put_number(&json, "clock_s", point->clock_s);
        hm__json_close(&json);
        hm__text_add(&r->lines, "\n");
    }
}

/*
 * Computes the start-up time of a program that does not report times: the first iteration is
 * assumed to take as long as the second, and the rest of its time is the start-up. Returns the
 * start-up time in seconds; NaN if unknown.
 */
static double separate_startup(struct piece_run *r)
{
    if (r->points < 2 || r->times_reported)
        return NAN;
    struct steer_point *first = &r->line->points[r->line->count - r->points];
    double longer = first[0].seconds - first[1].seconds;
    first[0].seconds = fmin(first[0].seconds, first[1].seconds);
    return fmax(longer, 0);
}

static void write_end(struct piece_run *r, const char *ended, double end_s, double startup_s,
                      double bytes)
{
    struct hm_json json = {.out = &r->lines};

    hm__json_open(&json, NULL, HM_JSON_OBJECT);
    hm__json_put_text(&json, "ended", ended);
    hm__json_put_number(&json, "end_s", end_s);
    hm__json_put_number(&json, "startup_s", startup_s);
    hm__json_put_number(&json, "raw_count", r->raw_count);
    hm__json_put_number(&json, "raw_s", r->raw_s);
    hm__json_put_number(&json, "checkpoint_bytes", bytes);
    hm__json_close(&json);
    hm__text_add(&r->lines, "\n");
}

/* Returns how a child process ended; NULL if the process died and may be started again. */
static const char *process_end(struct piece_run *r, const struct launch_child *child)
{
    bool train = steer_source_is_train(r->folder->source);

    if (r->ended == END_REACHED)
        return END_REACHED;
    if (train) {
        bool ran = child->end == LAUNCH_CHILD_EXITED && child->code <= EXIT_NO_ANSWER && r->ended;
        return ran ? r->ended : END_FAILED;
    }
    r->timed_out = child->end == LAUNCH_CHILD_TIMED_OUT;
    if (r->timed_out)
        return END_LIMIT;
    if (child->end != LAUNCH_CHILD_EXITED || child->code != 0)
        return NULL;
    bool limited = launch_command_uses(&r->folder->source->program, "iterations") ||
                   launch_command_uses(&r->folder->source->program, "seconds");
    return limited ? END_LIMIT : END_FINISHED;
}

static int run_process(struct piece_run *r, const struct launch_command *command,
                       struct launch_child *child)
{
    struct hm_err err = {0};
    int rc = 0;

    r->child = child;
    child->line = read_output_line;
    child->context = r;
    if (steer_source_is_train(r->folder->source))
        rc = launch_own_program(command, child, &err);
    else {
        child->argv = command->argv;
        rc = launch_child_run(child, &err);
    }
    if (rc)
        return cli_report(&err);
    if (child->end == LAUNCH_CHILD_INTERRUPTED)
        return EXIT_INTERRUPTED;
    if (child->end == LAUNCH_CHILD_NOT_STARTED)
        return cli_complain("steer: %s does not start: %s", command->argv[0],
                            strerror(child->code));
    if (steer_source_is_train(r->folder->source) && child->end == LAUNCH_CHILD_EXITED &&
        child->code == EXIT_USAGE) {
        fputs(child->tail, stderr);
        return EXIT_USAGE;
    }
    return r->failed || r->lines.failed ? cli_complain("out of memory") : 0;
}

static double file_bytes(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 ? (double)info.st_size : NAN;
}

static void complain_of_failure(const struct piece_run *r, const struct launch_child *child)
{
    size_t length = strcspn(child->tail, "\n");

    fprintf(stderr, "howmany: steer: %s on %.0f workers failed%s%.*s\n",
            r->task->algorithms[r->line->algorithm], r->task->m[r->line->m], length ? ": " : "",
            (int)length, child->tail);
}

/*
 * Runs the child process that executes one piece of a run; if the user's program dies, starts it
 * again.
 */
static int run_processes(struct piece_run *r, struct steer_piece *piece, const char **ret_ended,
                         double *ret_wall_s)
{
    struct launch_command command = {0};
    const char *ended = NULL;
    int rc = 0;

    for (int attempt = 0; rc == 0 && !ended; attempt++) {
        struct launch_child *child = calloc(1, sizeof(*child));
        rc = child ? steer_command_make(r->folder->source, r->task, piece, &command)
                   : cli_complain("out of memory");
        if (rc == 0 && attempt == 0)
            write_head(r, r->folder->pieces, piece->resume, &command);
        bool limited = launch_command_uses(&r->folder->source->program, "iterations") ||
                       launch_command_uses(&r->folder->source->program, "seconds");
        if (rc == 0 && !steer_source_is_train(r->folder->source) && isfinite(piece->within_s))
            child->timeout_s = limited ? 10 * piece->within_s + 60 : piece->within_s;
        rc = rc ? rc : run_process(r, &command, child);
        if (rc == 0) {
            ended = process_end(r, child);
            r->earlier_s += child->seconds;
            if (!ended && attempt == RETRIES)
                ended = END_FAILED;
            if (!ended || ended == END_FAILED)
                complain_of_failure(r, child);
            piece->resume = access(piece->checkpoint, F_OK) == 0;
        }
        launch_command_release(&command);
        free(child);
    }
    *ret_ended = ended;
    *ret_wall_s = r->earlier_s;
    return rc;
}

/* Copies the initial checkpoint of a piece to the path of the piece's own checkpoint. */
static int prepare_checkpoint(const struct steer_folder *f, const struct steer_state *state,
                              const struct steer_line *line, const char *path, bool *ret_resume)
{
    long from = line->piece >= 0    ? line->piece
                : line->parent >= 0 ? state->lines[line->parent].piece
                                    : -1;
    char old[PATH_MAX];

    *ret_resume = from >= 0;
    if (from < 0) /* The piece starts from scratch, so a checkpoint that a killed process may have
                     left is removed. */
        return unlink(path) == 0 || errno == ENOENT
                   ? 0
                   : cli_complain("steer: %s cannot be removed: %s", path, strerror(errno));
    return piece_file(f, from, "ck", old) ? copy_file(old, path) : EXIT_USAGE;
}

static int piece_make(struct piece_run *r, const struct steer_state *state,
                      const struct steer_limits *limits, const char *path)
{
    struct steer_folder *f = r->folder;
    char checkpoint[PATH_MAX];
    struct steer_piece piece = {.line = r->line, .checkpoint = checkpoint};
    const char *ended = NULL;
    double wall_s = 0;

    if (!piece_file(f, f->pieces, "ck", checkpoint))
        return EXIT_USAGE;
    int rc = prepare_checkpoint(f, state, r->line, checkpoint, &piece.resume);
    bool train = steer_source_is_train(f->source);
    piece.more = limits->iterations;
    piece.iterations = fmin(r->begin_count + limits->iterations, r->task->iterations);
    piece.within_s = train ? r->begin_s + limits->seconds : limits->seconds;
    f->made++;
    rc = rc ? rc : run_processes(r, &piece, &ended, &wall_s);
    cli_progress_end(&f->progress);
    if (rc)
        return rc;
    if (ended == END_LIMIT && r->raw_count >= r->task->iterations)
        ended = END_FINISHED;
    double bytes = file_bytes(checkpoint);
    if (isnan(bytes) && r->timed_out && r->points == 0)
        ended = END_IDLE;
    else if (isnan(bytes) && ended != END_REACHED) {
        fprintf(stderr, "howmany: steer: %s was not written, so the line cannot be continued\n",
                checkpoint);
        ended = END_FAILED;
    }
    double busy = r->raw_s - r->begin_s;
    double end_s = r->start_s + (r->task->virtual_time ? busy : wall_s);
    double startup = r->task->virtual_time ? 0
                     : train               ? fmax(0, wall_s - busy)
                                           : separate_startup(r);
    write_points(r);
    write_end(r, ended, end_s, startup, bytes);
    return r->lines.failed ? cli_complain("out of memory")
                           : cli_write_file(path, r->lines.data, r->lines.length);
}

/* ---- reading a piece ------------------------------------------------------------------------- */

static int piece_damaged(const char *path)
{
    return cli_complain(
        "steer: %s is damaged; remove it and all later pieces to execute them again", path);
}

/*
 * Applies the last record of a piece's file, which says how the piece ended, to its run and to the
 * state of the training.
 */
static void apply_end(struct steer_folder *f, struct steer_state *state, struct steer_line *line,
                      const struct hm_value *end)
{
    const struct hm_value *ended = hm__value_get(end, "ended");
    const char *why = ended && ended->text ? ended->text : "";
    double startup = hm__value_number(end, "startup_s");
    double begun = line->clock_s;

    line->clock_s = hm__value_number(end, "end_s");
    line->raw_count = hm__value_number(end, "raw_count");
    line->raw_s = hm__value_number(end, "raw_s");
    if (strcmp(why, END_IDLE) != 0)
        line->piece = f->pieces;
    state->last_m = (long)line->m;
    /* If one of the numbers is NaN, fmax returns the other one. */
    f->bytes = fmax(f->bytes, hm__value_number(end, "checkpoint_bytes"));
    line->state = strcmp(why, END_FAILED) == 0     ? STEER_FAILED
                  : strcmp(why, END_FINISHED) == 0 ? STEER_FINISHED
                                                   : STEER_RUNNING;
    state->worker_s += (line->clock_s - begun) * state->task->m[line->m];
    if (startup > 0)
        state->startup_s = state->startup_s > 0 ? fmin(state->startup_s, startup) : startup;
}

/* Reads one record (a line) of a piece's file. Returns 0, or EXIT_USAGE with a message. */
static int piece_read_line(struct steer_folder *f, struct steer_state *state,
                           struct steer_line *line, const char *text, const char *path, bool points,
                           bool *ended)
{
    struct hm_arena *arena = hm__arena_new();
    struct hm_value *object = NULL;
    int rc = arena ? 0 : cli_complain("out of memory");

    if (rc == 0 && (hm__json_parse(arena, text, strlen(text), path, &object, NULL) ||
                    object->kind != HM_VALUE_MAP))
        rc = piece_damaged(path);
    else if (rc == 0 && hm__value_get(object, "ended")) {
        apply_end(f, state, line, object);
        *ended = true;
    } else if (rc == 0 && points && hm__value_get(object, "iteration") &&
               !steer_line_point(line, &(struct steer_point){hm__value_number(object, "iteration"),
                                                             hm__value_number(object, "loss"),
                                                             hm__value_number(object, "seconds"),
                                                             hm__value_number(object, "clock_s")}))
        rc = cli_complain("out of memory");
    hm__arena_free(arena);
    return rc;
}

/*
 * Reads the file of a piece of a run, which is one child process. If `points` is true, the measured
 * points are added to the run.
 */
static int piece_read(struct steer_folder *f, struct steer_state *state, struct steer_line *line,
                      const char *path, bool points)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t room = 0;
    bool ended = false;
    int rc = file ? 0 : cli_complain("steer: %s cannot be read: %s", path, strerror(errno));

    while (rc == 0 && getline(&text, &room, file) > 0 && !ferror(file)) {
        text[strcspn(text, "\n")] = '\0';
        rc = piece_read_line(f, state, line, text, path, points, &ended);
    }
    if (rc == 0 && ferror(file))
        rc = cli_complain("steer: %s cannot be read: %s", path, strerror(errno));
    else if (rc == 0 && (!ended || !(line->clock_s >= 0)))
        rc = piece_damaged(path);
    free(text);
    if (file)
        fclose(file);
    return rc;
}

/*
 * Removes a checkpoint that its run no longer needs. A run that started from this checkpoint has a
 * copy.
 */
static void drop_checkpoint(const struct steer_folder *f, long piece)
{
    char path[PATH_MAX];

    if (piece >= 0 && piece_file(f, piece, "ck", path))
        unlink(path);
}

int steer_folder_piece(struct steer_folder *f, struct steer_state *state, size_t number,
                       const struct steer_limits *limits)
{
    struct steer_line *line = &state->lines[number];
    const struct steer_line *from =
        line->piece < 0 && line->parent >= 0 ? &state->lines[line->parent] : line;
    struct piece_run r = {.folder = f,
                          .task = state->task,
                          .line = line,
                          .start_s = line->clock_s,
                          .raw_count = from->raw_count,
                          .raw_s = from->raw_s,
                          .begin_count = from->raw_count,
                          .begin_s = from->raw_s,
                          .most = limits->iterations,
                          .offset = line->count ? line->points[line->count - 1].iteration : 0};
    char path[PATH_MAX];
    long before = line->piece;
    int rc = 0;

    if (!piece_file(f, f->pieces, "jsonl", path))
        return EXIT_USAGE;
    bool exists = access(path, F_OK) == 0;
    if (!exists)
        rc = piece_make(&r, state, limits, path);
    rc = rc ? rc : piece_read(f, state, line, path, exists);
    if (rc == 0 && before >= 0)
        drop_checkpoint(f, before);
    f->pieces++;
    hm__text_release(&r.lines);
    return rc;
}
