/* Restricts writing to some folders with Landlock, a security module of the kernel. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "err.h"
#include "http_confine.h"

/*
 * The interface of Landlock, which the headers of older kernels do not contain. Rights are bits,
 * and later versions of the kernel define more of them.
 */
enum {
    LAND_VERSION = 1, /* Flag that makes the system call return the version of Landlock. */
    LAND_RULE_PATH = 1,
    LAND_EXECUTE = 1 << 0,
    LAND_WRITE_FILE = 1 << 1,
    LAND_REMOVE_DIR = 1 << 4,
    LAND_REMOVE_FILE = 1 << 5,
    LAND_MAKE_CHAR = 1 << 6,
    LAND_MAKE_DIR = 1 << 7,
    LAND_MAKE_REG = 1 << 8,
    LAND_MAKE_OTHERS =
        0xf << 9, /* Landlock rights to create sockets, pipes, devices and symbolic links. */
    LAND_REFER = 1 << 13,    /* Landlock right to rename and link files between folders; available
                                since version 2. */
    LAND_TRUNCATE = 1 << 14, /* Landlock right to truncate files; available since version 3. */
};

struct land_ruleset {
    uint64_t handled;
};

struct land_path {
    uint64_t allowed;
    int32_t folder;
} __attribute__((packed));

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

/* Returns the rights that a version of Landlock can restrict. */
static uint64_t land_rights(long version)
{
    uint64_t rights = LAND_EXECUTE | LAND_WRITE_FILE | LAND_REMOVE_DIR | LAND_REMOVE_FILE |
                      LAND_MAKE_CHAR | LAND_MAKE_DIR | LAND_MAKE_REG | LAND_MAKE_OTHERS;

    return rights | (version >= 2 ? LAND_REFER : 0) | (version >= 3 ? LAND_TRUNCATE : 0);
}

/*
 * Allows writing in the folder of a file. A folder that does not exist is skipped, because nothing
 * can be written there.
 */
static bool land_allow(int rules, const char *file, uint64_t rights)
{
    const char *slash = strrchr(file, '/');
    char folder[4096];
    struct land_path path = {
        rights & (LAND_WRITE_FILE | LAND_REMOVE_FILE | LAND_MAKE_REG | LAND_TRUNCATE), -1};

    if (slash && (size_t)(slash - file) >= sizeof(folder) - 1)
        return false;
    snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - file) + 1 : 1,
             slash ? file : ".");
    path.folder = open(folder, O_PATH | O_CLOEXEC);
    if (path.folder < 0)
        return true;
    bool added = syscall(SYS_landlock_add_rule, rules, LAND_RULE_PATH, &path, 0) == 0;
    close(path.folder);
    return added;
}

int http_confine_files(const char *const *files, size_t count, struct hm_err *err)
{
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LAND_VERSION);
    struct land_ruleset set = {land_rights(version)};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return hm__fail(err, HM_E_IO, "cannot give up privileges: %s", strerror(errno));
    if (version < 1) /* The kernel has no Landlock, or Landlock is switched off, so writing is not
                        restricted. */
        return 0;
    int rules = (int)syscall(SYS_landlock_create_ruleset, &set, sizeof(set), 0);
    bool done = rules >= 0;
    for (size_t i = 0; done && i < count; i++)
        if (files[i])
            done = land_allow(rules, files[i], set.handled);
    done = done && syscall(SYS_landlock_restrict_self, rules, 0) == 0;
    int code = errno;
    if (rules >= 0)
        close(rules);
    return done ? 0 : hm__fail(err, HM_E_IO, "cannot restrict writing: %s", strerror(code));
}
