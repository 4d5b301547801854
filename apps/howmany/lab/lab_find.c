/*
 * Finds the namespaces, interfaces and processes of a laboratory (a cluster of network namespaces
 * on one machine) from the state of the system, not from a file:
 *
 *     namespaces   by their names, below /run/netns
 *     interfaces   are all in these namespaces and are removed with them
 *     processes    by their namespace; if it has no name any more, switches (vde_switch) and wires
 *                  (wirefilter) by the path of the lab's folder among their arguments
 *
 * Therefore, a lab can be removed after any damage, or after a `lab up` that was killed. A
 * namespace with the name of a node or of the network of the lab belongs to the lab if the lab has
 * a folder, which is created first and removed last, or if the namespace has an interface with a
 * name that only labs use.
 */
#include "lab_find.h"

#include <dirent.h>
#include <errno.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "clock.h"
#include "err.h"
#include "guard.h"
#include "lab_enter.h"
#include "memory.h"
#include "processes.h"

/* Time in seconds to wait after SIGTERM and after SIGKILL for processes to end. */
static const double TERM_S = 1, KILL_S = 10;

/* ---- finding -------------------------------------------------------------------------------- */

static void find_spec(const char *name, struct lab_found *found)
{
    char path[LAB_TEXT];
    size_t length;
    struct hm_err err = {0};
    char *text = cli_read(lab_path(name, "lab.json", path), &length, &err);

    found->known = text && lab_spec_read(text, length, path, &found->spec, &err) == 0 &&
                   strcmp(found->spec.name, name) == 0;
    hm_text_free(text);
}

static void find_spaces(const char *name, struct lab_found *found)
{
    DIR *folder = opendir(LAB_NAMESPACES);
    const struct dirent *entry;

    while (folder && (entry = readdir(folder))) {
        int node = lab_node_of(name, entry->d_name);
        if (node < 0)
            continue;
        found->spaces[node] = true;
        found->space_count++;
        if ((size_t)node > found->highest)
            found->highest = (size_t)node;
    }
    if (folder)
        closedir(folder);
}

static const char *space_name_at(const char *name, size_t i, char *text)
{
    return i == 0 ? lab_net(name, text) : lab_node(name, i, text);
}

static int has_lab_interface(void *unused)
{
    (void)unused;
    return if_nametoindex("lab0") != 0 || if_nametoindex("lab1") != 0;
}

static void find_foreign_space(const char *name, struct lab_found *found)
{
    char space[LAB_TEXT];

    found->foreign = -1;
    for (int i = 0; !found->folder && found->foreign < 0 && i <= LAB_NODES_MAX; i++)
        if (found->spaces[i] &&
            lab_call_inside(space_name_at(name, (size_t)i, space), has_lab_interface, NULL) != 1)
            found->foreign = i;
}

/* ---- processes ------------------------------------------------------------------------------ */

struct process_search {
    struct lab_found *found;
    struct stat spaces[LAB_NODES_MAX + 1];
    char folder[LAB_TEXT]; /* Path of the lab's folder, ending with a slash. */
    bool failed;           /* True if memory ran out during the search. */
};

static bool is_same_inode(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

/* Returns the index of the namespace of the lab in which a process runs; -1 if it runs in none of
 * them. */
static int space_of_process(const struct process_search *s, long pid)
{
    char path[LAB_TEXT];
    struct stat own;

    snprintf(path, sizeof(path), "/proc/%ld/ns/net", pid);
    if (stat(path, &own) != 0)
        return -1; /* The process has ended since it was listed, so it is in no namespace. */
    for (int i = 0; i <= LAB_NODES_MAX; i++)
        if (s->found->spaces[i] && is_same_inode(&own, &s->spaces[i]))
            return i;
    return -1;
}

/* Returns whether a process is, or is about to become (ip netns exec), a switch (vde_switch) or a
 * wire (wirefilter) with a path in the lab's folder among its arguments. */
static bool is_switch_or_wire(const struct process_search *s, long pid)
{
    char path[LAB_TEXT], arguments[4096];

    snprintf(path, sizeof(path), "/proc/%ld/cmdline", pid);
    FILE *file = fopen(path, "r");
    size_t length = file ? fread(arguments, 1, sizeof(arguments) - 1, file) : 0;
    if (file)
        fclose(file);
    arguments[length] = '\0';
    bool program = false, place = false;
    for (const char *at = arguments; at < arguments + length; at += strlen(at) + 1) {
        program = program || strstr(at, "vde_switch") || strstr(at, "wirefilter");
        place = place || strncmp(at, s->folder, strlen(s->folder)) == 0;
    }
    return program && place;
}

static void note_process(void *context, long pid)
{
    struct process_search *s = context;
    struct lab_found *f = s->found;
    int space = space_of_process(s, pid);

    if (pid == (long)getpid()) {
        f->inside = space >= 0;
        return;
    }
    if (space < 0 && !is_switch_or_wire(s, pid))
        return;
    struct lab_process *grown = hm__realloc(f->all, f->process_count + 1, sizeof(*grown));
    if (!grown) {
        s->failed = true;
        return;
    }
    f->all = grown;
    f->all[f->process_count++] = (struct lab_process){(pid_t)pid, space < 0 ? 0 : (size_t)space};
    f->processes[space < 0 ? 0 : space]++;
}

static int find_processes(const char *name, struct lab_found *found, struct hm_err *err)
{
    struct process_search s = {.found = found};
    char space[LAB_TEXT], path[LAB_TEXT];

    lab_path(name, "", s.folder);
    for (size_t i = 0; i <= LAB_NODES_MAX; i++)
        if (found->spaces[i] &&
            stat(lab_namespace(space_name_at(name, i, space), path), &s.spaces[i]))
            found->spaces[i] = false; /* The namespace was deleted after find_spaces found it, so it
                                         no longer exists. */
    launch_each_process(note_process, &s);
    return s.failed ? hm__fail_nomem(err) : 0;
}

int lab_find(const char *name, struct lab_found *found, struct hm_err *err)
{
    char path[LAB_TEXT];
    struct stat unused;

    *found = (struct lab_found){.folder = stat(lab_path(name, NULL, path), &unused) == 0};
    if (found->folder)
        find_spec(name, found);
    find_spaces(name, found);
    find_foreign_space(name, found);
    return find_processes(name, found, err);
}

void lab_found_release(struct lab_found *found)
{
    hm__free(found->all);
    *found = (struct lab_found){0};
}

bool lab_found_any(const struct lab_found *found)
{
    return found->folder || found->space_count > 0 || found->process_count > 0;
}

void lab_each(void (*visit)(void *context, const char *name), void *context)
{
    DIR *folder = opendir(LAB_FOLDER);
    const struct dirent *entry;

    while (folder && (entry = readdir(folder)))
        if (lab_name_check(entry->d_name, NULL) == 0)
            visit(context, entry->d_name);
    if (folder)
        closedir(folder);
}

/* ---- removing ------------------------------------------------------------------------------- */

/*
 * Signals the processes of a lab. Processes on nodes receive SIGTERM if `terminated` is false, and
 * SIGKILL if `late` is true; switches (vde_switch) and wires (wirefilter) receive SIGKILL
 * immediately. All switches and wires are stopped before any of them is killed, because a wire
 * whose switch has ended uses a whole core, at a higher priority than this process.
 */
static void signal_processes(const struct lab_found *found, bool terminated, bool late)
{
    for (size_t i = 0; i < found->process_count; i++)
        if (found->all[i].space == 0)
            kill(found->all[i].pid, SIGSTOP);
    for (size_t i = 0; i < found->process_count; i++) {
        if (found->all[i].space == 0 || late)
            kill(found->all[i].pid, SIGKILL);
        else if (!terminated)
            kill(found->all[i].pid, SIGTERM);
    }
}

/*
 * Signals the processes of a lab until none is left. Several rounds are needed, because processes
 * may start other processes in the meantime.
 */
static int end_processes(const char *name, struct hm_err *err)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    double started = cli_now_s();

    for (bool terminated = false;; terminated = true) {
        struct lab_found found;
        double spent = cli_now_s() - started;
        int rc = lab_find(name, &found, err);
        size_t left = found.process_count;
        signal_processes(&found, terminated, spent > TERM_S);
        long last = left ? found.all[left - 1].pid : 0;
        lab_found_release(&found);
        if (rc || left == 0)
            return rc;
        if (spent > TERM_S + KILL_S)
            return hm__fail(err, HM_E_IO, "process %ld of lab '%s' does not end", last, name);
        nanosleep(&pause, NULL);
    }
}

/*
 * Removes a network namespace as `ip netns delete` does, even if its file was created but not
 * mounted yet.
 */
static int remove_space(const char *space, struct hm_err *err)
{
    char path[LAB_TEXT];

    lab_namespace(space, path);
    while (umount2(path, MNT_DETACH) == 0)
        ;
    if (unlink(path) != 0 && errno != ENOENT)
        return hm__fail(err, HM_E_IO, "cannot remove network namespace %s: %s", space,
                        strerror(errno));
    return 0;
}

int lab_remove(const char *name, struct hm_err *err)
{
    char space[LAB_TEXT], path[LAB_TEXT];
    struct lab_found found = {0};
    int rc = end_processes(name, err);

    rc = rc ? rc : lab_find(name, &found, err);
    for (size_t i = 0; rc == 0 && i <= LAB_NODES_MAX; i++)
        if (found.spaces[i])
            rc = remove_space(space_name_at(name, i, space), err);
    lab_found_release(&found);
    if (rc)
        return rc;
    if (launch_remove_folder(lab_path(name, NULL, path)))
        return hm__fail(err, HM_E_IO, "cannot remove %s: %s", path, strerror(errno));
    rmdir(LAB_FOLDER); /* This removes the folder that contains all labs only if it is empty, that
                          is, if no other lab exists. */
    return 0;
}
