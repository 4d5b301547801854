/*
 * The folder of a study.
 *
 *     problem.txt                what all its runs have in common
 *     reference.jsonl            the run that finds P*
 *     ALGORITHM-M-SEED.jsonl     the trace of a run; a file that is there is whole
 *     ALGORITHM-M-SEED.failed    why there is none, or why it is not to be made again
 *
 * A run is a child, `howmany train`. Its lines are gathered and become a file, under another name
 * first, once the summary is there. So the folder is the whole state, and whatever ends us loses
 * the run that was being made and nothing else.
 */
#include "study_runs.h"

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
#include "self.h"

enum { DIVERGED_POINTS = 3 }; /* of a run that diverged; fewer tell nothing */

/* ---- files ---------------------------------------------------------------------------------- */

/* FOLDER/NAME.ENDING; false with a message when that is too long. */
static bool file_in(const struct study_folder *f, const char *name, const char *ending,
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

    study_words_name(f->words, run, &name);
    bool fits = !name.failed && file_in(f, name.data, ending, path);
    hm__text_release(&name);
    return fits;
}

/* ---- a child -------------------------------------------------------------------------------- */

/* One run while it is being made. */
struct making {
    struct study_folder *folder;
    const char *what; /* "cocoa+ on 16 workers" */
    struct hm_text lines;
    size_t points;
    bool summary, diverged;
};

static void take_line(void *context, const char *line, double seconds)
{
    static const char point[] = "{\"iteration\":", summary[] = "{\"summary\":true";
    struct making *m = context;
    double iteration = 0;
    char say[160];

    (void)seconds;
    if (line[0] != '{') /* a library that speaks on standard output */
        return;
    hm__text_addf(&m->lines, "%s\n", line);
    if (strncmp(line, summary, sizeof(summary) - 1) == 0) {
        m->summary = true;
        m->diverged = strstr(line, "\"stopped_by\":\"diverged\"") != NULL;
    }
    if (strncmp(line, point, sizeof(point) - 1) != 0)
        return;
    m->points++;
    hm__number_read(line + sizeof(point) - 1, &iteration);
    snprintf(say, sizeof(say), "run %zu: %s, iteration %.0f", m->folder->made, m->what, iteration);
    cli_progress_say(&m->folder->progress, say);
}

static int tell_failure(const struct making *m, const struct cli_child *child, const char *mark)
{
    struct hm_text why = {0};
    size_t length = strlen(child->tail);

    if (m->diverged)
        hm__text_add(&why, "it diverged\n");
    else if (length > 0)
        hm__text_add_n(&why, child->tail, length);
    else
        hm__text_addf(&why, "it ended with status %d\n", child->code);
    fprintf(stderr, "howmany: study: %s failed, and is passed over: %.*s\n", m->what,
            (int)strcspn(why.failed ? "" : why.data, "\n"), why.failed ? "" : why.data);
    int rc =
        why.failed ? cli_complain("out of memory") : cli_write_file(mark, why.data, why.length);
    hm__text_release(&why);
    return rc;
}

/* What became of it: a trace, a mark, or an exit code. */
static int settle(const struct making *m, const struct cli_child *child, const char *path,
                  const char *mark)
{
    bool exited = child->end == CLI_CHILD_EXITED;
    int rc = 0;

    if (child->end == CLI_CHILD_INTERRUPTED)
        return EXIT_INTERRUPTED;
    if (child->end == CLI_CHILD_NOT_STARTED)
        return cli_complain("study: howmany train does not start: %s", strerror(child->code));
    if (exited && child->code == EXIT_USAGE) {
        fputs(child->tail, stderr);
        return EXIT_USAGE;
    }
    if (m->lines.failed)
        return cli_complain("out of memory");
    bool whole = m->summary && exited && child->code == 0 && m->points > 0;
    if (whole || (m->diverged && m->points >= DIVERGED_POINTS))
        rc = cli_write_file(path, m->lines.data, m->lines.length);
    return rc || whole ? rc : tell_failure(m, child, mark);
}

/* Make one run, of the words after `howmany`. */
static int make(struct study_folder *f, const struct cli_words *words, const char *what,
                const char *path, const char *mark)
{
    struct making m = {.folder = f, .what = what};
    struct cli_child child = {.line = take_line, .context = &m};
    struct hm_err err = {0};
    char say[160];

    f->made++;
    snprintf(say, sizeof(say), "run %zu: %s", f->made, what);
    cli_progress_say(&f->progress, say);
    int rc = cli_self_run(words, &child, &err);
    cli_progress_end(&f->progress);
    rc = rc ? cli_report(&err) : settle(&m, &child, path, mark);
    hm__text_release(&m.lines);
    return rc;
}

/* Make a run of the study's algorithms unless its trace is there. */
static int make_run(struct study_folder *f, const struct study_run *run, const char *path)
{
    const struct hm_study_spec *spec = f->words->spec;
    struct cli_words words = {0};
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
    int rc = study_words_run(f->words, run, f->best, &words);
    rc = rc ? rc : make(f, &words, what, path, mark);
    cli_words_release(&words);
    return rc;
}

/* ---- reading -------------------------------------------------------------------------------- */

static int load_one(const char *path, struct hm_traces **ret_traces)
{
    struct hm_traces *traces = NULL;
    struct hm_err err = {0};

    if (hm_traces_load(&path, 1, NULL, &traces, &err)) {
        err.hint[0] = '\0';
        hm__err_hint(&err, "remove the file, and the run is made again");
        return cli_report(&err);
    }
    if (traces->count != 1) {
        hm_traces_free(traces);
        return cli_complain("study: %s has not one trace; remove it, and it is made again", path);
    }
    *ret_traces = traces;
    return 0;
}

static struct study_entry entry_of(const struct hm_trace *trace)
{
    size_t last = trace->count - 1;

    return (struct study_entry){.state = trace->diverged ? STUDY_FAILED : STUDY_WHOLE,
                                .iterations = trace->iteration[last],
                                .time_s = trace->elapsed_s[last],
                                .objective = trace->loss[last]};
}

/* Look whether a run of the table is there, and how it ended. */
static int look(struct study_folder *f, const struct study_run *run)
{
    struct study_entry *entry = study_table_at(&f->table, run);
    struct hm_traces *traces = NULL;
    char path[PATH_MAX], mark[PATH_MAX];

    *entry = (struct study_entry){0};
    if (!run_file(f, run, ".jsonl", path) || !run_file(f, run, ".failed", mark))
        return EXIT_USAGE;
    if (access(path, F_OK) == 0) {
        int rc = load_one(path, &traces);
        if (rc)
            return rc;
        *entry = entry_of(&traces->traces[0]);
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
    int rc = make_run(f, run, path);
    return rc ? rc : look(f, run);
}

int study_folder_check(struct study_folder *f, const struct study_run *run,
                       struct hm_traces **ret_traces)
{
    char path[PATH_MAX];

    *ret_traces = NULL;
    if (!run_file(f, run, ".jsonl", path))
        return EXIT_USAGE;
    int rc = make_run(f, run, path);
    return rc || access(path, F_OK) != 0 ? rc : load_one(path, ret_traces);
}

int study_folder_load(const struct study_folder *f, struct hm_traces **ret_traces)
{
    const struct hm_study_spec *spec = f->words->spec;
    size_t most = spec->algorithm_count * spec->m_count * (size_t)spec->seeds, count = 0;
    char **paths = calloc(most, sizeof(*paths)), path[PATH_MAX];
    struct hm_err err = {0};
    struct study_run run;
    int rc = paths ? 0 : cli_complain("out of memory");

    for (size_t i = 0; rc == 0 && study_table_each(&f->table, i, &run); i++) {
        if (study_table_at(&f->table, &run)->iterations <= 0)
            continue; /* no trace */
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

/* What the run that finds P* has found. */
static int read_reference(struct study_folder *f, const char *path)
{
    struct hm_traces *traces = NULL;
    int rc = load_one(path, &traces);

    if (rc)
        return rc;
    const struct hm_trace *t = &traces->traces[0];
    f->reference = entry_of(t);
    f->table.reference_s = f->reference.time_s;
    f->best = study_words_best(f->words, t);
    f->best_error = INFINITY;
    for (size_t i = 0; i < t->count; i++)
        f->best_error = fmin(f->best_error, t->loss[i] - f->best);
    hm_traces_free(traces);
    return 0;
}

/* Where it is found, from an earlier start. */
static int look_for_reference(struct study_folder *f)
{
    enum study_reference how = f->words->reference;
    char path[PATH_MAX];

    if (how == STUDY_GIVEN || how == STUDY_ESTIMATED)
        return 0;
    if (!file_in(f, "reference", ".jsonl", path))
        return EXIT_USAGE;
    return access(path, F_OK) == 0 ? read_reference(f, path) : 0;
}

int study_folder_reference(struct study_folder *f)
{
    enum study_reference how = f->words->reference;
    struct cli_words words = {0};
    char path[PATH_MAX], mark[PATH_MAX];

    if (how == STUDY_GIVEN || how == STUDY_ESTIMATED)
        return 0;
    if (!file_in(f, "reference", ".jsonl", path) || !file_in(f, "reference", ".failed", mark))
        return EXIT_USAGE;
    int rc = 0;
    if (!(f->reference.iterations > 0) && access(mark, F_OK) != 0) {
        rc = study_words_reference(f->words, &words);
        rc = rc ? rc : make(f, &words, "the run for the least objective", path, mark);
        cli_words_release(&words);
        rc = rc ? rc : look_for_reference(f);
    }
    if (rc == 0 && isnan(f->best)) /* then runs cannot stop at the loss */
        f->words->reference = STUDY_ESTIMATED;
    return rc;
}

/* ---- the folder ----------------------------------------------------------------------------- */

static bool has_traces(const char *path)
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

/* Traces of another problem are not mixed with ours; a folder without any is taken over. */
static int check_identity(const struct study_folder *f, bool make)
{
    struct hm_text ours = {0};
    struct hm_err err = {0};
    char path[PATH_MAX], *theirs = NULL;
    size_t length = 0;
    int rc = study_words_identity(f->words, &ours);

    if (rc == 0 && !file_in(f, "problem", ".txt", path))
        rc = EXIT_USAGE;
    bool there = rc == 0 && has_traces(f->path);
    if (there && (theirs = cli_read(path, &length, &err)) &&
        (length != ours.length || memcmp(theirs, ours.data, length) != 0))
        rc = cli_complain("study: %s has runs of another problem; give another --folder, or "
                          "remove it",
                          f->path);
    else if (there && !theirs)
        rc = cli_complain("study: %s has files that are not of a study; give another --folder",
                          f->path);
    if (rc == 0 && !there && make)
        rc = cli_write_file(path, ours.data, ours.length);
    hm_text_free(theirs);
    hm__text_release(&ours);
    return rc;
}

int study_folder_open(struct study_folder *f, bool make_it)
{
    const struct hm_study_spec *spec = f->words->spec;
    struct hm_err err = {0};
    struct study_run run;
    int rc = 0;

    f->best = spec->best;
    f->progress = cli_progress_start("study", 0);
    if (study_table_init(&f->table, spec, &err))
        return cli_report(&err);
    if (make_it && mkdir(f->path, 0777) != 0 && errno != EEXIST)
        return cli_complain("--folder: %s cannot be made: %s", f->path, strerror(errno));
    rc = check_identity(f, make_it);
    rc = rc ? rc : look_for_reference(f);
    for (size_t i = 0; rc == 0 && study_table_each(&f->table, i, &run); i++)
        rc = look(f, &run);
    return rc;
}

void study_folder_close(struct study_folder *f)
{
    cli_progress_end(&f->progress);
    study_table_release(&f->table);
}
