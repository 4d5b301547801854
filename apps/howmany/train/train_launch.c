/*
 * Builds the command that starts the ranks.
 *
 *     MPI ranks         [mpirun -n N] howmany-train --options…       (one rank needs no launcher)
 *     simulated ranks   smpimain howmany-train-sim.so --cfg=… platform.xml --options…
 *
 * The programs are searched for in the folder of this program, where they are in a build and in an
 * installation with a single folder, and then in the other folders of an installation.
 */
#include "train_launch.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text.h"

static int add_argument(struct launch_command *command, const char *argument)
{
    struct hm_err err = {0};
    return launch_command_add(command, argument, &err) ? cli_report(&err) : 0;
}

/* Returns the path of one of this project's programs; NULL with a message if it is not found. */
static char *find_own_program(const char *name)
{
    char self[PATH_MAX], *path = NULL;
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

    self[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(self, '/');
    if (slash)
        *slash = '\0';
    /* Folders to search: the build folder, the folder of an installation that was moved as a whole,
     * and the folder that was configured at build time. */
    const char *const places[][2] = {{self, ""}, {self, "/../libexec/howmany"}, {HM_LIBEXEC, ""}};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        if (asprintf(&path, "%s%s/%s", places[i][0], places[i][1], name) < 0)
            return NULL;
        if (access(path, R_OK) == 0)
            return path;
        free(path);
    }
    cli_complain("%s is neither in the folder of this program nor in %s", name, HM_LIBEXEC);
    return NULL;
}

/*
 * Removes the variables that identify an MPI rank. This program may itself run as a rank of an MPI
 * job, and a rank that it starts without a launcher must not inherit that identity.
 */
static void clear_rank_environment(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                        "SLURM_PROCID"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        unsetenv(names[i]);
}

/* Returns the total number of ranks: workers, servers and driver. */
static double rank_count(const struct train_launch *l)
{
    return l->ranks.workers + l->ranks.others;
}

/* ---- real ranks ----------------------------------------------------------------------------- */

static int add_launcher(struct train_launch *l, const char *text)
{
    char number[32];
    struct launch_placeholder placeholder = {"n", number};
    struct launch_command command = {0};
    struct hm_err err = {0};

    snprintf(number, sizeof(number), "%.0f", rank_count(l));
    int rc = launch_command_split(&command, text, &err);
    if (rc == 0 && !launch_command_uses(&command, "n")) {
        launch_command_release(&command);
        return cli_complain("--launcher: '%s' has no {n} for the number of ranks", text);
    }
    rc = rc ? rc : launch_command_fill(&command, &placeholder, 1, &l->prefix, &err);
    launch_command_release(&command);
    return rc ? cli_report(&err) : 0;
}

/*
 * Makes Open MPI use folders of this run for the files that it writes to /tmp and for the memory
 * that ranks share in /dev/shm. These folders are removed even if mpirun or a rank is killed. Under
 * a batch system, this is not done, because mpirun may start ranks on other machines, which do not
 * have these folders. A failure is not an error, because Open MPI then uses its own folders.
 */
static void set_mpi_folders(struct train_launch *l)
{
    static const char *const elsewhere[] = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID",
                                            "OMPI_MCA_orte_default_hostfile"};

    for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++)
        if (getenv(elsewhere[i]))
            return;
    if (launch_folder_make(launch_temporary_parent(), l->folder) == 0)
        setenv("OMPI_MCA_orte_tmpdir_base", l->folder, 0);
    if (launch_folder_make("/dev/shm", l->shared) == 0) {
        setenv("OMPI_MCA_btl_vader_backing_directory", l->shared, 0); /* Variable of Open MPI 4. */
        setenv("OMPI_MCA_btl_sm_backing_directory", l->shared, 0);    /* Variable of Open MPI 5. */
    }
}

/*
 * Chooses the command that starts the ranks. By default, mpirun of Open MPI refuses to run as root
 * and to start more ranks than cores; both are allowed here. With more ranks than cores, the result
 * of an algorithm is correct, but its time is unreliable.
 */
static int choose_launcher(struct train_launch *l)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    l->oversubscribed = rank_count(l) > (double)cores;
    if (geteuid() == 0) {
        setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
        setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
    }
    if (l->oversubscribed)
        setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
    set_mpi_folders(l);
    return add_launcher(l, l->oversubscribed ? "mpirun --oversubscribe -n {n}" : "mpirun -n {n}");
}

static int prepare_real_ranks(struct train_launch *l)
{
    int rc = 0;

#ifndef HM_HAVE_MPI
    if (rank_count(l) > 1 || l->launcher)
        return l->program ? cli_complain("this build has no MPI: %s cannot start ranks", l->program)
                          : cli_complain(
                                "train: this build has no MPI; run one rank (-n 1) or --simulate");
#endif
    char *program = find_own_program(l->program ? l->program : "howmany-train");
    if (!program)
        return EXIT_USAGE;
    if (l->launcher)
        rc = add_launcher(l, l->launcher);
    else if (rank_count(l) > 1)
        rc = choose_launcher(l);
    else if (!l->inside) {
        clear_rank_environment();
        set_mpi_folders(l);
        /* Without this, Open MPI 4 starts a daemon for a rank without mpirun. The daemon leaves the
         * session of the rank, so the daemon and its files could remain if this process is
         * killed. */
        setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
    }
    rc = rc ? rc : add_argument(&l->prefix, program);
    free(program);
    return rc;
}

/* ---- simulated ranks ------------------------------------------------------------------------ */

static int prepare_simulated_ranks(struct train_launch *l)
{
#ifndef HM_SMPIMAIN
    (void)l;
    return cli_complain("--simulate: this build has no SimGrid");
#else
    struct hm_err err = {0};
    const char *folder = l->platform_folder;

    clear_rank_environment();
    if (!folder) {
        if (strlen(launch_temporary_parent()) > LAUNCH_FOLDER - 20)
            return cli_complain("--simulate: the path in TMPDIR is too long");
        if (launch_folder_make(launch_temporary_parent(), l->folder))
            return cli_complain("--simulate: cannot make a temporary folder: %s", strerror(errno));
        folder = l->folder;
    }
    l->module = find_own_program("howmany-train-sim.so");
    if (!l->module)
        return EXIT_USAGE;
    if (simgrid_platform_write(folder, l->cluster, &l->ranks, l->precision, &l->platform, &err)) {
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
    return l->cluster ? prepare_simulated_ranks(l) : prepare_real_ranks(l);
}

/* ---- the command ---------------------------------------------------------------------------- */

int train_launch_option(struct train_launch *l, const char *name, const char *value)
{
    struct hm_text option = {0};

    hm__text_addf(&option, "--%s%s%s", name, value ? "=" : "", value ? value : "");
    int rc =
        option.failed ? cli_complain("out of memory") : add_argument(&l->arguments, option.data);
    hm__text_release(&option);
    return rc;
}

static int add_arguments(struct launch_command *command, const struct launch_command *from)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < from->count; i++)
        rc = add_argument(command, from->argv[i]);
    return rc;
}

int train_launch_command(const struct train_launch *l, bool resume,
                         struct launch_command *ret_command)
{
    struct launch_command arguments = {0}, command = {0};
    int rc = add_arguments(&arguments, &l->arguments);

    if (rc == 0 && resume)
        rc = add_argument(&arguments, "--resume");
#ifdef HM_SMPIMAIN
    if (rc == 0 && l->cluster) {
        struct hm_err err = {0};
        if (simgrid_platform_command(&l->platform, HM_SMPIMAIN, l->module, arguments.argv,
                                     arguments.count, &command, &err))
            rc = cli_report(&err);
    }
#endif
    if (rc == 0 && !l->cluster) {
        rc = add_arguments(&command, &l->prefix);
        rc = rc ? rc : add_arguments(&command, &arguments);
    }
    launch_command_release(&arguments);
    if (rc)
        launch_command_release(&command);
    else
        *ret_command = command;
    return rc;
}

void train_launch_release(struct train_launch *l)
{
    launch_folder_remove(l->folder);
    launch_folder_remove(l->shared);
    simgrid_platform_release(&l->platform);
    launch_command_release(&l->prefix);
    launch_command_release(&l->arguments);
    free(l->module);
}
