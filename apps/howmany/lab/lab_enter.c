/*
 * Moves this process to a node of a laboratory (a cluster of network namespaces on this machine).
 *
 * A node differs from the machine in three ways: the network namespace, which `lab up` has created;
 * the host name, by which programs distinguish nodes; and /etc/hosts, which lists the nodes. The
 * host name and /etc/hosts need namespaces that belong to the process and end with it.
 */
#include "lab_enter.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "err.h"
#include "text.h"

static int fail_enter(struct hm_err *err, const char *what, const char *which)
{
    return hm__fail(err, HM_E_IO, "cannot %s %s: %s", what, which, strerror(errno));
}

static int enter_network(const char *space, struct hm_err *err)
{
    char path[LAB_TEXT];
    int fd = open(lab_namespace(space, path), O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return fail_enter(err, "open network namespace", space);
    int rc = setns(fd, CLONE_NEWNET) == 0 ? 0 : fail_enter(err, "enter network namespace", space);
    close(fd);
    return rc;
}

/*
 * Gives this process its own host name and /etc/hosts. With MS_SLAVE, its mounts are not visible to
 * other processes, but unmounts on the machine still take effect for this process.
 */
static int enter_host_names(const char *name, struct hm_err *err)
{
    char hosts[LAB_TEXT];

    if (unshare(CLONE_NEWNS | CLONE_NEWUTS) != 0)
        return fail_enter(err, "make", "mount and host name namespaces");
    if (mount("none", "/", NULL, MS_SLAVE | MS_REC, NULL) != 0)
        return fail_enter(err, "make mounts private in", "the new namespace");
    if (mount(lab_path(name, "hosts", hosts), "/etc/hosts", NULL, MS_BIND, NULL) != 0 &&
        access("/etc/hosts", F_OK) == 0)
        return fail_enter(err, "mount over /etc/hosts the file", hosts);
    return 0;
}

int lab_enter(const char *name, size_t node, struct hm_err *err)
{
    char space[LAB_TEXT];
    int rc = enter_network(lab_node(name, node, space), err);

    rc = rc ? rc : enter_host_names(name, err);
    if (rc == 0 && sethostname(space, strlen(space)) != 0)
        rc = fail_enter(err, "set the host name to", space);
    return rc;
}

int lab_call_inside(const char *space, int (*work)(void *context), void *context)
{
    struct hm_err err = {0};
    int status = 0;

    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0)
        return -1;
    if (pid == 0)
        _exit(enter_network(space, &err) ? 255 : work(context));
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) && WEXITSTATUS(status) != 255 ? WEXITSTATUS(status) : -1;
}

/* ---- Open MPI ------------------------------------------------------------------------------- */

int lab_agent_command(const char *name, struct hm_text *out, struct hm_err *err)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

    if (length <= 0)
        return fail_enter(err, "find", "this program");
    self[length] = '\0';
    if (strpbrk(self, " \t\n;:\"'\\"))
        return hm__fail(err, HM_E_RANGE,
                        "'%.200s' cannot be a launch agent: mpirun splits a path with blanks, "
                        "quotes, ; or :",
                        self);
    hm__text_addf(out, "%s lab agent --name %s --", self, name);
    return out->failed ? hm__fail_nomem(err) : 0;
}

/*
 * Sets the environment variables of Open MPI 4: it uses the nodes by name with one slot each, the
 * agent instead of ssh, and only the lab's network (ob1 is the layer that uses TCP). Ranks are not
 * bound to cores, because every node has all cores of the machine, so all ranks would be bound to
 * the first core.
 */
int lab_environment(const char *name, size_t n, struct hm_err *err)
{
    char hostfile[LAB_TEXT];
    struct hm_text agent = {0};
    int rc = lab_agent_command(name, &agent, err);
    const char *const variables[][2] = {
        {"OMPI_MCA_orte_default_hostfile", lab_hostfile(name, n, hostfile)},
        {"OMPI_MCA_plm_rsh_agent", agent.data},
        {"OMPI_MCA_plm", "rsh"},
        {"OMPI_MCA_ras", "^slurm,tm,gridengine,lsf"},
        {"OMPI_MCA_oob_tcp_if_include", LAB_SUBNET},
        {"OMPI_MCA_btl_tcp_if_include", LAB_SUBNET},
        {"OMPI_MCA_pml", "ob1"},
        {"OMPI_MCA_hwloc_base_binding_policy", "none"},
        {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
        {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
    };

    for (size_t i = 0; rc == 0 && i < sizeof(variables) / sizeof(variables[0]); i++)
        if (setenv(variables[i][0], variables[i][1], 1) != 0)
            rc = hm__fail_nomem(err);
    if (rc == 0 && (long)n > sysconf(_SC_NPROCESSORS_ONLN) &&
        setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0) != 0)
        rc = hm__fail_nomem(err);
    hm__text_release(&agent);
    return rc;
}
