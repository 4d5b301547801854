/*
 * Reads and writes the folder of a study.
 *
 *     problem.txt                options and limits that all its runs share
 *     reference.jsonl            trace of the run that finds P*, the lowest possible objective
 *     ALGORITHM-M-SEED.jsonl     trace of a run; if the file exists, it is complete
 *     ALGORITHM-M-SEED.failed    reason why a run has no trace or must not be executed again
 *
 * A run is a child process, `howmany train`. Its trace is collected in memory until the summary
 * arrives, then written under another name and renamed. Therefore, the folder is the whole state of
 * a study, and when this process is killed, only the run in progress is lost.
 */
#include "study_folder.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "err.h"
#include "folder_lock.h"
#include "format.h"
#include "listing.h"
#include "memory.h"
#include "own_program.h"
#include "value.h"

/* The trace of a diverged run is used if it has at least this number of points. */
enum { DIVERGED_POINTS = 3 };

/* ---- files ---------------------------------------------------------------------------------- */

/*
 * Writes the path FOLDER/NAME followed by ENDING into `path`. Returns false with a message if it is
 * too long.
 */
static bool folder_file(const struct study_folder *f, const char *name, const char *ending,
                        char path[PATH_MAX])
{
    int length = snprintf(path, PATH_MAX, "%s/%s%s", f->path, name, ending);

    if (length > 0 && length < PATH_MAX)
        return true;
    cli_complain("--folder: '%.60s…' is too long", f->path);
    return false;
}

static bool run_file(const struct study_folder *f, const struct study_run *run, const char *ending,
                     char path[PATH_MAX])
{
    struct hm_text name = {0};

    study_commands_name(f->commands, run, &name);
    bool fits = !name.failed && folder_file(f, name.data, ending, path);
    hm__text_release(&name);
    return fits;
}

/* ---- a run as a child process --------------------------------------------------------------- */

/* The output of a run in progress. */
struct study_child {
    struct study_folder *folder;
    const char *what; /* Description of the run, such as "cocoa+ on 16 workers". */
    struct hm_text lines;
    size_t points;
    bool summary, diverged;
};

/* Shows which run is in progress, and the share of the budget that earlier runs have used. */
static void say_run(struct study_folder *f, const char *what)
{
    double budget = f->commands->spec->budget_s, used = study_table_spent(&f->table);
    char text[320], spent[HM_SHOWN], left[HM_SHOWN];

    snprintf(text, sizeof(text), "run %zu: %s; budget: %s used, %s left", f->made, what,
             hm__show_time(used, spent), hm__show_time(fmax(budget - used, 0), left));
    cli_listing_put(f->progress.listing, used, budget, false);
    cli_progress_say(&f->progress, text);
}

static void read_point(struct study_child *m, double iteration)
{
    char what[160];

    m->points++;
    snprintf(what, sizeof(what), "%s, iteration %.0f", m->what, iteration);
    say_run(m->folder, what);
}

static void read_output_line(void *context, const char *line, double seconds)
{
    struct study_child *m = context;
    struct hm_arena *arena = hm__arena_new();
    struct hm_value *object = NULL;

    (void)seconds;
    if (!arena)
        m->lines.failed = true;
    /* Lines that are not JSON are skipped, because libraries may print them to standard output. */
    if (arena && line[0] == '{' &&
        hm__json_parse(arena, line, strlen(line), "output", &object, NULL) == 0) {
        const struct hm_value *stopped = hm__value_get(object, "stopped_by");
        hm__text_addf(&m->lines, "%s\n", line);
        if (hm__value_get(object, "summary")) {
            m->summary = true;
            m->diverged = stopped && stopped->text && strcmp(stopped->text, "diverged") == 0;
        } else if (hm__value_get(object, "iteration"))
            read_point(m, hm__value_number(object, "iteration"));
    }
    hm__arena_free(arena);
}

static int mark_failed_run(const struct study_child *m, const struct launch_child *child,
                           const char *mark)
{
    struct hm_text why = {0};
    size_t length = strlen(child->tail);

    if (m->diverged)
        hm__text_add(&why, "it diverged\n");
    else if (length > 0)
        hm__text_add_n(&why, child->tail, length);
    else
        hm__text_addf(&why, "it ended with status %d\n", child->code);
    fprintf(stderr, "howmany: study: %s failed and is skipped: %.*s\n", m->what,
            (int)strcspn(why.failed ? "" : why.data, "\n"), why.failed ? "" : why.data);
    int rc =
        why.failed ? cli_complain("out of memory") : cli_write_file(mark, why.data, why.length);
    hm__text_release(&why);
    return rc;
}

/*
 * Writes the trace of a run that has ended, or the reason why it failed. Returns 0 or an exit code.
 */
static int finish_run(const struct study_child *m, const struct launch_child *child,
                      const char *path, const char *mark)
{
    bool exited = child->end == LAUNCH_CHILD_EXITED;
    int rc = 0;

    if (child->end == LAUNCH_CHILD_INTERRUPTED)
        return EXIT_INTERRUPTED;
    if (child->end == LAUNCH_CHILD_NOT_STARTED)
        return cli_complain("study: howmany train does not start: %s", strerror(child->code));
    if (exited && child->code == EXIT_USAGE) {
        fputs(child->tail, stderr);
        return EXIT_USAGE;
    }
    if (m->lines.failed)
        return cli_complain("out of memory");
    bool complete = m->summary && exited && child->code == 0 && m->points > 0;
    if (complete || (m->diverged && m->points >= DIVERGED_POINTS))
        rc = cli_write_file(path, m->lines.data, m->lines.length);
    return rc || complete ? rc : mark_failed_run(m, child, mark);
}

/* Executes one run: starts `howmany` with the given arguments and reads its output. */
static int run_child(struct study_folder *f, const struct launch_command *arguments,
                     const char *what, const char *path, const char *mark)
{
    struct study_child m = {.folder = f, .what = what};
    struct launch_child child = {.line = read_output_line, .context = &m};
    struct hm_err err = {0};

    f->made++;
    say_run(f, what);
    int rc = launch_own_program(arguments, &child, &err);
    cli_progress_end(&f->progress);
    rc = rc ? cli_report(&err) : finish_run(&m, &child, path, mark);
    hm__text_release(&m.lines);
    return rc;
}

/* Executes a run unless its trace or its .failed file exists. */
static int make_missing_run(struct study_folder *f, const struct study_run *run, const char *path)
{
    const struct hm_study_spec *spec = f->commands->spec;
    struct launch_command arguments = {0};
    char mark[PATH_MAX], what[120];
    double m = spec->m[run->m];

    if (access(path, F_OK) == 0)
        return 0;
    if (!run_file(f, run, ".failed", mark))
        return EXIT_USAGE;
    if (access(mark, F_OK) == 0)
        return 0;
    snprintf(what, sizeof(what), "%s on %.0f worker%s", spec->algorithms[run->algorithm].name, m,
             m == 1 ? "" : "s");
    int rc = study_commands_run(f->commands, run, f->best, &arguments);
    rc = rc ? rc : run_child(f, &arguments, what, path, mark);
    launch_command_release(&arguments);
    return rc;
}

/* ---- reading -------------------------------------------------------------------------------- */

static int load_trace(const char *path, struct hm_traces **ret_traces)
{
    struct hm_traces *traces = NULL;
    struct hm_err err = {0};

    if (hm_traces_load(&path, 1, NULL, &traces, &err)) {
        err.hint[0] = '\0';
        hm__err_hint(&err, "remove the file to execute the run again");
        return cli_report(&err);
    }
    if (traces->count != 1) {
        size_t count = traces->count;
        hm_traces_free(traces);
        return cli_complain(
            "study: %s must have one trace, not %zu; remove the file to execute the run again",
            path, count);
    }
    *ret_traces = traces;
    return 0;
}

static struct study_entry entry_of_trace(const struct hm_trace *trace)
{
    size_t last = trace->count - 1;

    return (struct study_entry){.state = trace->diverged ? STUDY_FAILED : STUDY_COMPLETE,
                                .iterations = trace->iteration[last],
                                .time_s = trace->elapsed_s[last],
                                .objective = trace->loss[last]};
}

/* Sets the entry of a run in the table of results, using the files of the run. */
static int read_run(struct study_folder *f, const struct study_run *run)
{
    struct study_entry *entry = study_table_at(&f->table, run);
    struct hm_traces *traces = NULL;
    char path[PATH_MAX], mark[PATH_MAX];

    *entry = (struct study_entry){0};
    if (!run_file(f, run, ".jsonl", path) || !run_file(f, run, ".failed", mark))
        return EXIT_USAGE;
    if (access(path, F_OK) == 0) {
        int rc = load_trace(path, &traces);
        if (rc)
            return rc;
        *entry = entry_of_trace(&traces->traces[0]);
        hm_traces_free(traces);
    }
    if (access(mark, F_OK) == 0)
        entry->state = STUDY_FAILED;
    return 0;
}

int study_folder_make(struct study_folder *f, const struct study_run *run)
{
    char path[PATH_MAX];

    if (!run_file(f, run, ".jsonl", path))
        return EXIT_USAGE;
    int rc = make_missing_run(f, run, path);
    return rc ? rc : read_run(f, run);
}

int study_folder_check(struct study_folder *f, const struct study_run *run,
                       struct hm_traces **ret_traces)
{
    char path[PATH_MAX];

    *ret_traces = NULL;
    if (!run_file(f, run, ".jsonl", path))
        return EXIT_USAGE;
    int rc = make_missing_run(f, run, path);
    return rc || access(path, F_OK) != 0 ? rc : load_trace(path, ret_traces);
}

int study_folder_load(const struct study_folder *f, struct hm_traces **ret_traces)
{
    const struct hm_study_spec *spec = f->commands->spec;
    size_t most = spec->algorithm_count * spec->m_count * (size_t)spec->seeds, count = 0;
    char **paths = calloc(most, sizeof(*paths)), path[PATH_MAX];
    struct hm_err err = {0};
    struct study_run run;
    int rc = paths ? 0 : cli_complain("out of memory");

    for (size_t i = 0; rc == 0 && study_table_each(&f->table, i, &run); i++) {
        if (study_table_at(&f->table, &run)->iterations <= 0)
            continue; /* The run has no trace that could be loaded. */
        if (!run_file(f, &run, ".jsonl", path))
            rc = EXIT_USAGE;
        else if (!(paths[count] = strdup(path)))
            rc = cli_complain("out of memory");
        else
            count++;
    }
    if (rc == 0 && hm_traces_load((const char *const *)paths, count, NULL, ret_traces, &err))
        rc = cli_report(&err);
    for (size_t i = 0; paths && i < count; i++)
        free(paths[i]);
    free(paths);
    return rc;
}

/* ---- P* ------------------------------------------------------------------------------------- */

/*
 * Reads P*, the lowest possible objective, and its possible error from the trace of the reference
 * run.
 */
static int read_reference(struct study_folder *f, const char *path)
{
    struct hm_traces *traces = NULL;
    int rc = load_trace(path, &traces);

    if (rc)
        return rc;
    const struct hm_trace *t = &traces->traces[0];
    f->reference = entry_of_trace(t);
    f->table.reference_s = f->reference.time_s;
    f->best = study_commands_best(f->commands, t);
    f->best_error = INFINITY;
    for (size_t i = 0; i < t->count; i++)
        f->best_error = fmin(f->best_error, t->loss[i] - f->best);
    hm_traces_free(traces);
    return 0;
}

/* Reads the trace of the reference run if an earlier session recorded it. */
static int find_reference(struct study_folder *f)
{
    enum study_reference source = f->commands->reference;
    char path[PATH_MAX];

    if (source == STUDY_GIVEN || source == STUDY_ESTIMATED)
        return 0;
    if (!folder_file(f, "reference", ".jsonl", path))
        return EXIT_USAGE;
    return access(path, F_OK) == 0 ? read_reference(f, path) : 0;
}

int study_folder_reference(struct study_folder *f)
{
    enum study_reference source = f->commands->reference;
    struct launch_command arguments = {0};
    char path[PATH_MAX], mark[PATH_MAX];

    if (source == STUDY_GIVEN || source == STUDY_ESTIMATED)
        return 0;
    if (!folder_file(f, "reference", ".jsonl", path) ||
        !folder_file(f, "reference", ".failed", mark))
        return EXIT_USAGE;
    int rc = 0;
    if (!(f->reference.iterations > 0) && access(mark, F_OK) != 0) {
        rc = study_commands_reference(f->commands, &arguments);
        rc = rc ? rc : run_child(f, &arguments, "the run for the least objective", path, mark);
        launch_command_release(&arguments);
        rc = rc ? rc : find_reference(f);
    }
    /* Without P*, the lowest possible objective, a run cannot stop at the target loss. */
    if (rc == 0 && isnan(f->best))
        f->commands->reference = STUDY_ESTIMATED;
    return rc;
}

/* ---- the folder ----------------------------------------------------------------------------- */

static bool folder_has_traces(const char *path)
{
    DIR *folder = opendir(path);
    struct dirent *entry;
    bool any = false;

    while (folder && !any && (entry = readdir(folder)))
        any = hm__text_ends(entry->d_name, ".jsonl") || hm__text_ends(entry->d_name, ".failed");
    if (folder)
        closedir(folder);
    return any;
}

/* Refuses a folder with runs of another problem. A folder without runs is accepted. */
static int check_identity(const struct study_folder *f, bool make)
{
    struct hm_text identity = {0};
    struct hm_err err = {0};
    char path[PATH_MAX], *found = NULL;
    size_t length = 0;
    int rc = study_commands_identity(f->commands, &identity);

    if (rc == 0 && !folder_file(f, "problem", ".txt", path))
        rc = EXIT_USAGE;
    bool used = rc == 0 && folder_has_traces(f->path);
    if (used && (found = cli_read(path, &length, &err)) &&
        (length != identity.length || memcmp(found, identity.data, length) != 0))
        rc = cli_complain("study: %s has runs of another problem; give another --folder, or "
                          "remove it",
                          f->path);
    else if (used && !found)
        rc = cli_complain(
            "study: %s has files that do not belong to a study; give another --folder", f->path);
    if (rc == 0 && !used && make)
        rc = cli_write_file(path, identity.data, identity.length);
    hm_text_free(found);
    hm__text_release(&identity);
    return rc;
}

int study_folder_open(struct study_folder *f, bool make)
{
    const struct hm_study_spec *spec = f->commands->spec;
    struct hm_err err = {0};
    struct study_run run;
    int rc = 0;

    f->best = spec->best;
    f->progress = cli_progress_start("study", 0);
    if (make)
        cli_progress_list(&f->progress, f->path);
    if (study_table_init(&f->table, spec, &err))
        return cli_report(&err);
    if (make && launch_folder_lock("study", f->path, &f->lock))
        return EXIT_USAGE;
    rc = check_identity(f, make);
    rc = rc ? rc : find_reference(f);
    for (size_t i = 0; rc == 0 && study_table_each(&f->table, i, &run); i++)
        rc = read_run(f, &run);
    return rc;
}

void study_folder_close(struct study_folder *f)
{
    cli_progress_close(&f->progress);
    launch_folder_unlock(&f->lock);
    study_table_release(&f->table);
}
