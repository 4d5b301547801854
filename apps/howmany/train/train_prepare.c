/*
 * Prepares a training run. Every error that can be detected in advance is reported before any rank
 * starts: in options, files, all rows of the data, memory and the cluster.
 */
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format.h"
#include "notes.h"
#include "train_session.h"

static int load_train_cluster(struct train_session *s)
{
    if (!s->simulate) {
        if (s->cluster_job.sets.count > 0)
            return cli_complain("--set: it applies only with --simulate");
        if (s->precision_given)
            return cli_complain("--precision: it applies only with --simulate");
        return s->launch.platform_folder
                   ? cli_complain("--simgrid-files: it applies only with --simulate")
                   : 0;
    }
    if (s->launch.launcher)
        return cli_complain("--launcher: simulated ranks are started by SimGrid");
    if (s->dry_run && !s->launch.platform_folder)
        return cli_complain("--dry-run: with --simulate it needs --simgrid-files FOLDER, for the "
                            "files that the command names");
    int rc = cli_machine_load(&s->cluster_job, s->simulate, &s->cluster);
    s->launch.cluster = s->cluster;
    return rc;
}

/* Returns the number of bytes of memory that are available on this machine; negative if unknown. */
static double available_memory(void)
{
    char line[200];
    double kilobytes = -1;
    FILE *file = fopen("/proc/meminfo", "r");

    while (file && fgets(line, sizeof(line), file))
        if (strncmp(line, "MemAvailable:", 13) == 0)
            hm__number_read(line + 13 + strspn(line + 13, " \t"), &kilobytes);
    if (file)
        fclose(file);
    return kilobytes < 0 ? -1 : 1024 * kilobytes;
}

/*
 * Returns the number of bytes of memory that a run needs. This includes the rows of all ranks, and
 * the vectors on each rank that have as many elements as the weights.
 */
static double memory_needed(const struct train_session *s, const struct hm_data_shape *shape)
{
    const struct train_options *o = &s->options;
    double all = shape->rows * shape->features,
           outputs = train_problem_loss(o->problem) ? 1 : (double)shape->classes;
    double pairs = o->settings.memory > 0 ? o->settings.memory : o->algorithm->defaults.memory;
    double unknowns = shape->features * outputs, vectors = 6 + 2 * pairs;
    double ranks = s->launch.ranks.workers;

    if (o->platform ==
        HM_PLATFORM_SERVER) /* The servers have buffers for two messages from each worker. */
        vectors += 5;

    if (o->problem == TRAIN_PERCEPTRON) /* Only the first layer is counted, because it has most of
                                           the parameters. */
        return 12 * all + 8 * vectors * ranks * shape->features * (double)o->layers.hidden[0];
    double rows = train_keeps_sparse(o, shape) ? 12 * shape->entries + 16 * shape->rows : 8 * all;
    return rows + 8 * vectors * ranks * unknowns;
}

/*
 * Checks that the ranks fit into the memory of this machine, unless a launcher may start them on
 * other machines.
 */
static int check_memory(const struct train_session *s, const struct hm_data_shape *shape)
{
    double bytes = memory_needed(s, shape), available = available_memory();
    char needed[HM_SHOWN], free_here[HM_SHOWN];

    if (s->launch.launcher || available < 0 || bytes <= available)
        return 0;
    return cli_complain("train: this run needs about %s of memory, but %s are available",
                        hm__show_bytes(bytes, needed), hm__show_bytes(available, free_here));
}

/* Says on standard error that a file may be cut in its last number. */
static void note_cut(const char *path, bool cut)
{
    if (cut)
        fprintf(stderr, "howmany: %s " HM_NOTE_CUT "\n", path);
}

/* Reads all data once, so that every row is checked before any rank starts. */
static int scan_data(struct train_session *s)
{
    struct hm_err err = {0};
    struct hm_data_shape *shape = calloc(1, sizeof(*shape));
    struct hm_text value = {0};
    int rc = shape ? hm__data_scan(&s->options.data, shape, &err) : HM_E_NOMEM;

    if (rc == 0)
        note_cut(s->options.data.path, shape->cut);
    rc = rc ? rc : train_labels_check(&s->options, shape, &err);
    if (rc == 0 && s->options.has_test) {
        struct hm_data_shape *test = calloc(1, sizeof(*test));
        rc = test ? hm__data_scan(&s->options.test, test, &err) : HM_E_NOMEM;
        if (rc == 0)
            note_cut(s->options.test.path, test->cut);
        free(test);
    }
    rc = rc ? cli_report(&err) : train_servers_check(&s->options, shape);
    rc = rc ? rc : check_memory(s, shape);
    if (rc == 0) {
        train_shape_write(&value, shape);
        rc = value.failed ? cli_complain("out of memory")
                          : train_launch_option(&s->launch, "scanned", value.data);
    }
    hm__text_release(&value);
    free(shape);
    return rc;
}

/* Loads the Markov random field once, as a single rank would, so that errors are reported here. */
static int check_field(struct train_session *s)
{
    struct hm_err err = {0};
    struct hm_mrf *mrf = NULL;
    bool cut;
    int rc = train_field_load(&s->options, 0, 1, &mrf, &cut, &err);

    if (rc == 0)
        note_cut(s->options.data_name, cut);
    hm__mrf_free(mrf);
    return rc ? cli_report(&err) : 0;
}

/*
 * Checks that a file can be written, because an error after hours of iterations would be too late.
 * With a launcher, the ranks may run on other machines, whose folders cannot be checked here.
 */
static int check_writable(const struct train_session *s, const char *option, const char *path)
{
    char folder[PATH_MAX];
    int length = snprintf(folder, sizeof(folder), "%s", path);

    if (length <= 0 || (size_t)length >= sizeof(folder) || path[length - 1] == '/')
        return cli_complain("--%s: '%s' is not the name of a file", option, path);
    if (s->launch.launcher || access(dirname(folder), W_OK | X_OK) == 0)
        return 0;
    return cli_complain("--%s: %s cannot be written: %s", option, path, strerror(errno));
}

/* Returns the folder of a path, without its links, in `folder`; empty if there is none. */
static void find_folder(const char *path, char folder[PATH_MAX])
{
    char copy[PATH_MAX];

    snprintf(copy, sizeof(copy), "%s", path);
    if (!realpath(dirname(copy), folder))
        folder[0] = '\0';
}

/* Returns whether two paths name the same file, which may not exist yet. */
static bool is_same_file(const char *a, const char *b)
{
    struct stat x, y;
    char folders[2][PATH_MAX];
    const char *slash_a = strrchr(a, '/'), *slash_b = strrchr(b, '/');

    if (stat(a, &x) == 0 && stat(b, &y) == 0)
        return x.st_dev == y.st_dev && x.st_ino == y.st_ino;
    find_folder(a, folders[0]);
    find_folder(b, folders[1]);
    return strcmp(folders[0], folders[1]) == 0 &&
           strcmp(slash_a ? slash_a + 1 : a, slash_b ? slash_b + 1 : b) == 0;
}

/* Checks that the files that the run writes are different files. */
static int check_different(const struct train_session *s)
{
    const struct {
        const char *option, *path;
    } files[] = {{"checkpoint", s->options.checkpoint},
                 {"beliefs", s->options.beliefs},
                 {"record", s->output.record}};
    const size_t count = sizeof(files) / sizeof(files[0]);

    for (size_t i = 0; i < count; i++)
        for (size_t k = i + 1; k < count; k++)
            if (files[i].path && files[k].path && is_same_file(files[i].path, files[k].path))
                return cli_complain("--%s and --%s name the same file, %s", files[i].option,
                                    files[k].option, files[i].path);
    return 0;
}

/* Checks that the file of beliefs would not overwrite the data. */
static int check_beliefs(const struct train_session *s)
{
    const struct train_options *o = &s->options;

    if (!o->beliefs)
        return 0;
    if (is_same_file(o->data_name, o->beliefs))
        return cli_complain("--beliefs: %s is the data file of --data", o->beliefs);
    return check_writable(s, "beliefs", o->beliefs);
}

static int check_checkpoint(const struct train_session *s)
{
    const struct train_options *o = &s->options;

    if (s->restarts > 0 && !o->checkpoint)
        return cli_complain("--restarts: it needs --checkpoint FILE");
    if (!o->checkpoint)
        return 0;
    bool exists = access(o->checkpoint, F_OK) == 0;
    if (o->resume && !exists)
        return cli_complain("--resume: there is no %s", o->checkpoint);
    if (!o->resume && exists)
        return cli_complain("--checkpoint: %s exists already; continue from it with --resume, or "
                            "remove it",
                            o->checkpoint);
    return check_writable(s, "checkpoint", o->checkpoint);
}

static bool is_resume(int option)
{
    return strcmp(train_table[option].name, "resume") == 0;
}

/* Passes the description of the stragglers of a simulated cluster to the ranks. */
static int pass_slowness(struct train_session *s)
{
    const struct hm_slowness *slowness = s->cluster ? &s->cluster->slowness : NULL;
    struct hm_text value = {0};

    if (!slowness || !hm__slowness_any(slowness))
        return 0;
    train_slowness_write(&value, slowness, s->launch.platform.flops);
    int rc = value.failed ? cli_complain("out of memory")
                          : train_launch_option(&s->launch, "slowness", value.data);
    hm__text_release(&value);
    return rc;
}

/* Sets the number of ranks, and checks that it is allowed. */
static int set_ranks(struct train_session *s)
{
    struct launch_ranks *ranks = &s->launch.ranks;
    const struct train_options *o = &s->options;
    int rc = train_workers_check(o, ranks->workers);

    ranks->others = train_other_ranks(o);
    ranks->beside = o->colocated;
    if (rc || !o->shares)
        return rc;
    bool known = s->cluster && hm__slowness_any(&s->cluster->slowness);
    double *before = calloc((size_t)ranks->workers + 1, sizeof(*before));
    rc = before ? train_shares_read(o->shares, known ? &s->cluster->slowness : NULL,
                                    (size_t)ranks->workers, before)
                : cli_complain("out of memory");
    free(before);
    return rc;
}

int train_session_prepare(struct train_session *s)
{
    int rc = train_options_check(&s->options);

    rc = rc ? rc : check_checkpoint(s);
    rc = rc ? rc : check_beliefs(s);
    rc = rc ? rc : check_different(s);
    rc = rc ? rc : load_train_cluster(s);
    rc = rc ? rc : set_ranks(s);
    for (size_t i = 0; rc == 0 && i < s->given_count; i++)
        if (!is_resume(s->given[i]))
            rc = train_launch_option(&s->launch, train_table[s->given[i]].name, s->values[i]);
    if (rc == 0)
        rc = s->options.problem == TRAIN_BP ? check_field(s) : scan_data(s);
    rc = rc ? rc : train_launch_prepare(&s->launch);
    return rc ? rc : pass_slowness(s);
}
