/*
 * The command that becomes the ranks.
 *
 *     real        [launcher] howmany-train --options…       launcher: mpirun -n N, none for one
 * rank simulated   smpimain howmany-train-sim.so --cfg=… platform.xml --options…
 *
 * The programs lie beside this one (in the place it was built, or installed in the same folder) or
 * where the installation put them.
 */
#include "train_launch.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text.h"

static int add_word(struct cli_words *words, const char *word)
{
    struct hm_err err = {0};
    return cli_words_add(words, word, &err) ? cli_report(&err) : 0;
}

/* Path of a program of ours; NULL with a message when it is not there. */
static char *find_program(const char *name)
{
    char self[PATH_MAX], *path = NULL;
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

    self[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(self, '/');
    if (slash)
        *slash = '\0';
    /* Where it was built; where it was installed, also when it was moved as a whole. */
    const char *const places[][2] = {{self, ""}, {self, "/../libexec/howmany"}, {HM_LIBEXEC, ""}};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        if (asprintf(&path, "%s%s/%s", places[i][0], places[i][1], name) < 0)
            return NULL;
        if (access(path, R_OK) == 0)
            return path;
        free(path);
    }
    cli_complain("%s is neither beside this program nor in %s", name, HM_LIBEXEC);
    return NULL;
}

/* We may be a rank of something ourselves; one that we start without a launcher is not. */
static void forget_own_rank(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                        "SLURM_PROCID"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        unsetenv(names[i]);
}

/* Of all ranks. */
static double count_of(const struct train_launch *l)
{
    return l->ranks.workers + l->ranks.others;
}

/* ---- real ranks ----------------------------------------------------------------------------- */

static int add_launcher(struct train_launch *l, const char *text)
{
    char number[32];
    struct cli_fill fill = {"n", number};
    struct cli_words words = {0};
    struct hm_err err = {0};

    snprintf(number, sizeof(number), "%.0f", count_of(l));
    int rc = cli_words_split(&words, text, &err);
    if (rc == 0 && !cli_words_uses(&words, "n")) {
        cli_words_release(&words);
        return cli_complain("--launcher: '%s' does not say where the number of ranks goes: {n}",
                            text);
    }
    rc = rc ? rc : cli_words_fill(&words, &fill, 1, &l->ahead, &err);
    cli_words_release(&words);
    return rc ? cli_report(&err) : 0;
}

/*
 * mpirun of Open MPI. It refuses root, whose safety is root's business by now, and more ranks than
 * cores, which is fine for seeing what an algorithm does but not for how long it takes.
 */
static int choose_launcher(struct train_launch *l)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    l->oversubscribed = count_of(l) > (double)cores;
    if (geteuid() == 0) {
        setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
        setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
    }
    if (l->oversubscribed)
        setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
    return add_launcher(l, l->oversubscribed ? "mpirun --oversubscribe -n {n}" : "mpirun -n {n}");
}

static int prepare_real(struct train_launch *l)
{
    int rc = 0;

#ifndef HM_HAVE_MPI
    if (count_of(l) > 1 || l->launcher)
        return cli_complain("train: this build has no MPI: one rank, or --simulate");
#endif
    char *program = find_program("howmany-train");
    if (!program)
        return EXIT_USAGE;
    if (l->launcher)
        rc = add_launcher(l, l->launcher);
    else if (count_of(l) > 1)
        rc = choose_launcher(l);
    else
        forget_own_rank();
    rc = rc ? rc : add_word(&l->ahead, program);
    free(program);
    return rc;
}

/* ---- simulated ranks ------------------------------------------------------------------------ */

static int prepare_simulated(struct train_launch *l)
{
#ifndef HM_SMPIMAIN
    (void)l;
    return cli_complain("--simulate: this build has no SimGrid");
#else
    struct hm_err err = {0};
    const char *folder = l->platform_folder, *above = getenv("TMPDIR");

    forget_own_rank();
    if (!folder) {
        int length = snprintf(l->folder, sizeof(l->folder), "%s/howmany-XXXXXX",
                              above && above[0] == '/' ? above : "/tmp");
        if (length < 0 || (size_t)length >= sizeof(l->folder)) {
            l->folder[0] = '\0';
            return cli_complain("--simulate: TMPDIR is too long a name");
        }
        if (!mkdtemp(l->folder)) {
            l->folder[0] = '\0';
            return cli_complain("--simulate: no temporary folder: %s", strerror(errno));
        }
        folder = l->folder;
    }
    l->module = find_program("howmany-train-sim.so");
    if (!l->module)
        return EXIT_USAGE;
    if (cli_platform_write(folder, l->cluster, &l->ranks, l->precision, &l->platform, &err)) {
        if (!err.source[0])
            snprintf(err.source, sizeof(err.source), "%s",
                     l->cluster->name ? l->cluster->name : "--simulate");
        return cli_report(&err);
    }
    return 0;
#endif
}

int train_launch_prepare(struct train_launch *l)
{
    return l->cluster ? prepare_simulated(l) : prepare_real(l);
}

/* ---- words ---------------------------------------------------------------------------------- */

int train_launch_option(struct train_launch *l, const char *name, const char *value)
{
    struct hm_text word = {0};

    hm__text_addf(&word, "--%s%s%s", name, value ? "=" : "", value ? value : "");
    int rc = word.failed ? cli_complain("out of memory") : add_word(&l->behind, word.data);
    hm__text_release(&word);
    return rc;
}

static int add_all(struct cli_words *words, const struct cli_words *more)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < more->count; i++)
        rc = add_word(words, more->words[i]);
    return rc;
}

int train_launch_words(const struct train_launch *l, bool resume, struct cli_words *ret_words)
{
    struct cli_words arguments = {0}, words = {0};
    int rc = add_all(&arguments, &l->behind);

    if (rc == 0 && resume)
        rc = add_word(&arguments, "--resume");
#ifdef HM_SMPIMAIN
    if (rc == 0 && l->cluster) {
        struct hm_err err = {0};
        if (cli_platform_command(&l->platform, HM_SMPIMAIN, l->module, arguments.words,
                                 arguments.count, &words, &err))
            rc = cli_report(&err);
    }
#endif
    if (rc == 0 && !l->cluster) {
        rc = add_all(&words, &l->ahead);
        rc = rc ? rc : add_all(&words, &arguments);
    }
    cli_words_release(&arguments);
    if (rc)
        cli_words_release(&words);
    else
        *ret_words = words;
    return rc;
}

void train_launch_release(struct train_launch *l)
{
    if (l->folder[0]) {
        if (l->platform.file)
            unlink(l->platform.file);
        if (l->platform.hosts)
            unlink(l->platform.hosts);
        rmdir(l->folder);
    }
    cli_platform_release(&l->platform);
    cli_words_release(&l->ahead);
    cli_words_release(&l->behind);
    free(l->module);
}
