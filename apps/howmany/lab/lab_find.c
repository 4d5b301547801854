/*
 * What there is of a laboratory. No file is asked what is left of it but for what it was to be:
 *
 *     namespaces   by their names, below /run/netns
 *     interfaces   are all in these namespaces, and go with them
 *     processes    by the namespace they are in; should its name be gone, switches and wires by the
 *                  lab's folder, which stands among their words
 *
 * So a lab can be removed whatever has happened to it, or to `lab up` on the way. A namespace of
 * such a name is the lab's if the lab has a folder, which is made first and removed last; or else
 * if it has an interface that only labs have.
 */
#include "lab_find.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
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
#include "lab_enter.h"
#include "memory.h"
#include "processes.h"

static const double ASK_S = 1, KILL_S = 10; /* for processes to end when asked, and when killed */

/* ---- finding -------------------------------------------------------------------------------- */

static void read_spec(const char *name, struct lab_found *found)
{
    char path[LAB_TEXT];
    size_t length;
    struct hm_err err = {0};
    char *text = cli_read(lab_place(name, "lab.json", path), &length, &err);

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

static const char *space_name(const char *name, size_t i, char *text)
{
    return i == 0 ? lab_net(name, text) : lab_node(name, i, text);
}

static int has_mark(void *unused)
{
    (void)unused;
    return if_nametoindex("lab0") != 0 || if_nametoindex("lab1") != 0;
}

static void find_strange(const char *name, struct lab_found *found)
{
    char space[LAB_TEXT];

    found->strange = -1;
    for (int i = 0; !found->place && found->strange < 0 && i <= LAB_NODES_MAX; i++)
        if (found->spaces[i] && lab_inside(space_name(name, (size_t)i, space), has_mark, NULL) != 1)
            found->strange = i;
}

/* ---- processes ------------------------------------------------------------------------------ */

struct search {
    struct lab_found *found;
    struct stat spaces[LAB_NODES_MAX + 1];
    char place[LAB_TEXT]; /* the lab's folder, with a / at its end */
    bool failed;          /* out of memory */
};

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

/* In which namespace of the lab a process is; -1 if in none. */
static int space_of(const struct search *s, long pid)
{
    char path[LAB_TEXT];
    struct stat own;

    snprintf(path, sizeof(path), "/proc/%ld/ns/net", pid);
    if (stat(path, &own) != 0)
        return -1; /* it has ended */
    for (int i = 0; i <= LAB_NODES_MAX; i++)
        if (s->found->spaces[i] && is_same(&own, &s->spaces[i]))
            return i;
    return -1;
}

/* Whether it is a switch or a wire with the lab's folder among its words. */
static bool is_part(const struct search *s, long pid)
{
    char path[LAB_TEXT], words[4096];

    snprintf(path, sizeof(path), "/proc/%ld/cmdline", pid);
    FILE *file = fopen(path, "r");
    size_t length = file ? fread(words, 1, sizeof(words) - 1, file) : 0;
    if (file)
        fclose(file);
    words[length] = '\0';
    if (!strstr(words, "vde_switch") && !strstr(words, "wirefilter"))
        return false;
    for (const char *word = words; word < words + length; word += strlen(word) + 1)
        if (strncmp(word, s->place, strlen(s->place)) == 0)
            return true;
    return false;
}

static void note_process(void *context, long pid)
{
    struct search *s = context;
    struct lab_found *f = s->found;
    int space = space_of(s, pid);

    if (pid == (long)getpid()) {
        f->inside = space >= 0;
        return;
    }
    if (space < 0 && !is_part(s, pid))
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
    struct search s = {.found = found};
    char space[LAB_TEXT], path[LAB_TEXT];

    lab_place(name, "", s.place);
    for (size_t i = 0; i <= LAB_NODES_MAX; i++)
        if (found->spaces[i] && stat(lab_namespace(space_name(name, i, space), path), &s.spaces[i]))
            found->spaces[i] = false; /* it went meanwhile */
    cli_each_process(note_process, &s);
    return s.failed ? hm__fail_nomem(err) : 0;
}

int lab_find(const char *name, struct lab_found *found, struct hm_err *err)
{
    char place[LAB_TEXT];
    struct stat unused;

    *found = (struct lab_found){.place = stat(lab_place(name, NULL, place), &unused) == 0};
    if (found->place)
        read_spec(name, found);
    find_spaces(name, found);
    find_strange(name, found);
    return find_processes(name, found, err);
}

void lab_found_release(struct lab_found *found)
{
    hm__free(found->all);
    *found = (struct lab_found){0};
}

bool lab_found_any(const struct lab_found *found)
{
    return found->place || found->space_count > 0 || found->process_count > 0;
}

void lab_each(void (*take)(void *context, const char *name), void *context)
{
    DIR *folder = opendir(LAB_PLACES);
    const struct dirent *entry;

    while (folder && (entry = readdir(folder)))
        if (lab_name_check(entry->d_name, NULL) == 0)
            take(context, entry->d_name);
    if (folder)
        closedir(folder);
}

/* ---- removing ------------------------------------------------------------------------------- */

/* Whoever is on a node is asked first. Switches and wires have nothing to lose. They are stopped
 * before any of them is killed, as wires spin when their switch is gone, and come before us. */
static void end_all(const struct lab_found *found, bool asked, bool late)
{
    for (size_t i = 0; i < found->process_count; i++)
        if (found->all[i].space == 0)
            kill(found->all[i].pid, SIGSTOP);
    for (size_t i = 0; i < found->process_count; i++) {
        if (found->all[i].space == 0 || late)
            kill(found->all[i].pid, SIGKILL);
        else if (!asked)
            kill(found->all[i].pid, SIGTERM);
    }
}

/* Until none is left: they may start others meanwhile. */
static int end_processes(const char *name, struct hm_err *err)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    double started = cli_now_s();

    for (bool asked = false;; asked = true) {
        struct lab_found found;
        double spent = cli_now_s() - started;
        int rc = lab_find(name, &found, err);
        size_t left = found.process_count;
        end_all(&found, asked, spent > ASK_S);
        long last = left ? found.all[left - 1].pid : 0;
        lab_found_release(&found);
        if (rc || left == 0)
            return rc;
        if (spent > ASK_S + KILL_S)
            return hm__fail(err, HM_E_IO, "process %ld of lab '%s' does not end", last, name);
        nanosleep(&pause, NULL);
    }
}

/* What `ip netns delete` does; also where a half-made one is not mounted yet. */
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

static int remove_entry(const char *path, const struct stat *unused, int kind, struct FTW *ftw)
{
    (void)unused;
    (void)kind;
    (void)ftw;
    return remove(path) == 0 || errno == ENOENT ? 0 : -1;
}

int lab_remove(const char *name, struct hm_err *err)
{
    char space[LAB_TEXT], place[LAB_TEXT];
    struct lab_found found = {0};
    int rc = end_processes(name, err);

    rc = rc ? rc : lab_find(name, &found, err);
    for (size_t i = 0; rc == 0 && i <= LAB_NODES_MAX; i++)
        if (found.spaces[i])
            rc = remove_space(space_name(name, i, space), err);
    lab_found_release(&found);
    if (rc)
        return rc;
    if (nftw(lab_place(name, NULL, place), remove_entry, 8, FTW_DEPTH | FTW_PHYS) != 0 &&
        errno != ENOENT)
        return hm__fail(err, HM_E_IO, "cannot remove %s: %s", place, strerror(errno));
    rmdir(LAB_PLACES); /* stays while there are other labs */
    return 0;
}
