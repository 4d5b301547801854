/*
 * Writes whole files for the commands. The text goes to a temporary file in the folder of the
 * target, which is renamed to the target when it is complete. Every writer has its own temporary
 * file, so of two writers of one target the last one wins, and no one sees a part of a file. Where
 * the file system allows it, the temporary file has no name until it is complete, so that nothing
 * is left of it if the program is killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

/* ---- signals -----------------------------------------------------------------------------------
 */

/* Drafts that are open. The list is global, because signal handlers belong to the whole process. */
static struct cli_draft *open_drafts;

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
enum { ENDING_SIGNALS = sizeof(ending_signals) / sizeof(ending_signals[0]) };

void cli_drafts_abandon(void)
{
    for (const struct cli_draft *d = open_drafts; d; d = d->next)
        if (d->beside[0])
            unlink(d->beside);
}

/* Removes the drafts, and lets the signal end the program. */
static void end_program(int signal_number)
{
    cli_drafts_abandon();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/*
 * Replaces the action of the ending signals that have the action `from`. Signals that are ignored,
 * or that another part of the program handles, are left alone.
 */
static void replace_actions(void (*from)(int), void (*to)(int))
{
    struct sigaction action, replacement = {.sa_handler = to};

    for (size_t i = 0; i < ENDING_SIGNALS; i++)
        if (sigaction(ending_signals[i], NULL, &action) == 0 && action.sa_handler == from)
            sigaction(ending_signals[i], &replacement, NULL);
}

/* Blocks the ending signals; `before` receives the mask. */
static void block_ending(sigset_t *before)
{
    sigset_t held;

    sigemptyset(&held);
    for (size_t i = 0; i < ENDING_SIGNALS; i++)
        sigaddset(&held, ending_signals[i]);
    sigprocmask(SIG_BLOCK, &held, before);
}

static void list_add(struct cli_draft *d)
{
    if (!open_drafts)
        replace_actions(SIG_DFL, end_program);
    d->next = open_drafts;
    open_drafts = d;
}

static void list_remove(const struct cli_draft *d)
{
    struct cli_draft **at = &open_drafts;

    while (*at && *at != d)
        at = &(*at)->next;
    if (*at)
        *at = d->next;
    if (!open_drafts)
        replace_actions(end_program, SIG_DFL);
}

/* ---- drafts ------------------------------------------------------------------------------------
 */

/* Returns the length of the folder of a path with its slash; 0 for the current folder. */
static int folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? (int)(slash - path) + 1 : 0;
}

/* Writes a random path in the folder of d->real to d->beside. */
static bool choose_beside(struct cli_draft *d)
{
    unsigned long number;

    if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
        return false;
    snprintf(d->beside, sizeof(d->beside), "%.*s.howmany-%016lx", folder_length(d->real), d->real,
             number);
    return true;
}

/* Number of random names that are tried for a temporary file. */
enum { TRIES = 100 };

/* Creates a file with a random name in the folder of d->real. Returns its descriptor, or -1. */
static int create_beside(struct cli_draft *d, mode_t mode)
{
    int file = -1;

    for (int i = 0; i < TRIES && file < 0; i++) {
        if (!choose_beside(d))
            break;
        file = open(d->beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (file < 0 && errno != EEXIST)
            break;
    }
    if (file < 0)
        d->beside[0] = '\0';
    return file;
}

/* Where a process finds its open files. */
#define OPEN_FILES "/proc/self/fd/"

/* Creates a file without a name in the folder of d->real. Returns its descriptor, or -1 if that is
 * not possible here. */
static int create_unnamed(const struct cli_draft *d, mode_t mode)
{
    char folder[PATH_MAX];
    int length = folder_length(d->real);
    mode_t mask = umask(077);

    umask(mask);
    mode &= ~mask; /* Older kernels do not apply the mask to such files on all file systems. */
    snprintf(folder, sizeof(folder), "%.*s", length > 0 ? length : 1, length > 0 ? d->real : ".");
    /* The file gets its name through the list of open files. */
    return access(OPEN_FILES, X_OK) == 0 ? open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, mode)
                                         : -1;
}

/* Gives the file of a draft a random name in the folder of d->real. */
static bool name_beside(struct cli_draft *d)
{
    char from[64];

    snprintf(from, sizeof(from), OPEN_FILES "%d", fileno(d->file));
    for (int i = 0; i < TRIES && choose_beside(d); i++) {
        if (linkat(AT_FDCWD, from, AT_FDCWD, d->beside, AT_SYMLINK_FOLLOW) == 0)
            return true;
        if (errno != EEXIST)
            break;
    }
    d->beside[0] = '\0';
    return false;
}

/* Gives a new file the owner and the permissions of the file that it will replace. */
static bool copy_access(int file, const struct stat *old)
{
    struct stat made;

    if (fstat(file, &made) != 0)
        return false;
    /* Only root may change the owner; for others the file belongs to the user who wrote it, and to
     * the old group if this user is in it. */
    if ((made.st_uid != old->st_uid || made.st_gid != old->st_gid) &&
        fchown(file, old->st_uid, old->st_gid) != 0 &&
        (errno != EPERM || (fchown(file, (uid_t)-1, old->st_gid) != 0 && errno != EPERM)))
        return false;
    return fchmod(file, old->st_mode & 0777) == 0;
}

/* Replaces the path of a symbolic link by the path that the link contains. Returns 1 if it was a
 * link, 0 if not, and -1 with errno if the new path is too long. */
static int follow_link(char path[PATH_MAX])
{
    char target[PATH_MAX], joined[2 * PATH_MAX];
    ssize_t length = readlink(path, target, sizeof(target) - 1);

    if (length <= 0)
        return 0;
    target[length] = '\0';
    int folder = target[0] == '/' ? 0 : folder_length(path);
    if (snprintf(joined, sizeof(joined), "%.*s%s", folder, path, target) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(path, joined, strlen(joined) + 1);
    return 1;
}

/*
 * Writes the path of the target without symbolic links to d->real: a link stays, and the file that
 * it points to is replaced or, if it does not exist, created. Returns 0, or -1 with errno.
 */
static int find_target(struct cli_draft *d)
{
    enum { LINKS = 40 };
    int links = 0, rc = 1;

    if (realpath(d->path, d->real))
        return 0;
    if (errno != ENOENT)
        return -1;
    if (snprintf(d->real, sizeof(d->real), "%s", d->path) >= (int)sizeof(d->real)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    while (rc == 1 && links++ < LINKS)
        rc = follow_link(d->real);
    if (rc == 1)
        errno = ELOOP;
    return rc == 0 ? 0 : -1;
}

/* Opens the temporary file of a draft. */
static int open_beside(struct cli_draft *d, const struct stat *old)
{
    if (find_target(d) != 0)
        return -1;
    mode_t mode = old ? old->st_mode & 0777 : 0666;
    int file = create_unnamed(d, mode);
    if (file < 0)
        file = create_beside(d, mode);
    if (file < 0)
        return -1;
    list_add(d);
    if ((!old || copy_access(file, old)) && (d->file = fdopen(file, "w")))
        return 0;
    int error = errno;
    close(file);
    if (d->beside[0])
        unlink(d->beside);
    list_remove(d);
    errno = error;
    return -1;
}

static int fail_written(const char *path)
{
    return cli_complain("%s cannot be written: %s", path, strerror(errno));
}

/* Opens a regular file again that is standard output or standard error, as in `-o /dev/stdout
 * >>log`. It must not be replaced, because this process and others continue to write to it. Returns
 * NULL if the file is neither. */
static FILE *open_standard(const struct stat *found)
{
    for (int standard = STDOUT_FILENO; standard <= STDERR_FILENO; standard++) {
        struct stat open;
        if (!S_ISREG(found->st_mode) || fstat(standard, &open) != 0 ||
            open.st_dev != found->st_dev || open.st_ino != found->st_ino)
            continue;
        fflush(stdout);
        int file = fcntl(standard, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        FILE *stream = file < 0 ? NULL : fdopen(file, "w");
        if (file >= 0 && !stream)
            close(file);
        return stream;
    }
    return NULL;
}

int cli_draft_open(struct cli_draft *d, const char *path)
{
    struct stat found;
    bool exists = stat(path, &found) == 0;
    sigset_t before;

    *d = (struct cli_draft){.path = path};
    if (!path[0])
        return cli_complain("the name of an output file is empty");
    if (exists && S_ISDIR(found.st_mode)) {
        errno = EISDIR;
        return fail_written(path);
    }
    if (exists && (d->file = open_standard(&found)))
        return 0;
    if (exists && !S_ISREG(found.st_mode)) {
        d->file = fopen(path, "we");
        return d->file ? 0 : fail_written(path);
    }
    /* A file without permission to write is protected from being replaced, too. */
    if (exists && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0)
        return fail_written(path);
    block_ending(&before);
    bool opened = open_beside(d, exists ? &found : NULL) == 0;
    int error = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return opened ? 0 : fail_written(path);
}

/* Closes the stream of a draft without changing errno unless that fails. */
static bool draft_close(struct cli_draft *d)
{
    int error = errno;
    bool closed = fclose(d->file) == 0;

    d->file = NULL;
    if (closed)
        errno = error;
    return closed;
}

/* Closes a draft, and replaces the target if `keep` is true. Returns whether that was done. */
static bool draft_end(struct cli_draft *d, bool keep)
{
    sigset_t before;

    if (!d->file)
        return false;
    bool done = !ferror(d->file) && fflush(d->file) == 0 &&
                (!d->real[0] || !keep || fsync(fileno(d->file)) == 0);
    if (!d->real[0])
        return draft_close(d) && done && keep;
    block_ending(&before);
    done = done && keep && (d->beside[0] || name_beside(d));
    done = draft_close(d) && done && rename(d->beside, d->real) == 0;
    int error = errno;
    if (!done && d->beside[0])
        unlink(d->beside);
    list_remove(d);
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return done;
}

int cli_draft_keep(struct cli_draft *d)
{
    return draft_end(d, true) ? 0 : fail_written(d->path);
}

void cli_draft_drop(struct cli_draft *d)
{
    draft_end(d, false);
}

int cli_write_file(const char *path, const char *text, size_t length)
{
    struct cli_draft draft;
    int rc = cli_draft_open(&draft, path);

    if (!draft.file)
        return rc;
    if (fwrite(text, 1, length, draft.file) == length)
        return cli_draft_keep(&draft);
    rc = fail_written(path);
    cli_draft_drop(&draft);
    return rc;
}
