/* Implements sqlite_place.h. */
#include "sqlite_place.h"

#include <stdio.h>
#include <string.h>

#include "store.h"

enum { NAME_BYTES = 4096 };

bool hm__sqlite_has_bytes(const char *name)
{
    struct stat file;

    return stat(name, &file) == 0 && file.st_size > 0;
}

/* Writes the full name that SQLite makes of a name; "" if it is too long. */
static void write_full_name(const char *where, char name[NAME_BYTES])
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);

    name[0] = '\0';
    if (vfs->mxPathname < NAME_BYTES)
        vfs->xFullPathname(vfs, where, NAME_BYTES, name);
}

bool hm__sqlite_is_same_name(const char *full, const char *where)
{
    char name[NAME_BYTES];

    write_full_name(where, name);
    return strcmp(full, name) == 0;
}

int hm__sqlite_check_orphan(const char *where, struct hm_err *err)
{
    char name[NAME_BYTES], log[NAME_BYTES + 8];

    write_full_name(where, name);
    snprintf(log, sizeof(log), "%s-wal", name);
    if (name[0] == '\0' || hm__sqlite_has_bytes(name) || !hm__sqlite_has_bytes(log))
        return 0;
    hm__fail(err, HM_E_IO, "cannot create the store: '%.200s' is the log of another file", log);
    hm__err_hint(err, "move it to the file to which it belongs, or remove it");
    hm__err_field(err, HM_STORE_PLACE);
    return HM_E_IO;
}

bool hm__sqlite_is_outdated(sqlite3 *db, const struct stat *seen)
{
    const char *file = db && seen->st_ino != 0 ? sqlite3_db_filename(db, "main") : NULL;
    struct stat now;

    if (!file || !*file)
        return false;
    return stat(file, &now) != 0 || now.st_ino != seen->st_ino || now.st_size != seen->st_size ||
           now.st_mtim.tv_sec != seen->st_mtim.tv_sec ||
           now.st_mtim.tv_nsec != seen->st_mtim.tv_nsec ||
           hm__sqlite_has_bytes(sqlite3_filename_wal(file));
}

int hm__sqlite_fail_outdated(struct hm_err *err)
{
    hm__fail(err, HM_E_IO, "another program has written the store while it was read");
    hm__err_hint(err, "try again");
    hm__err_field(err, HM_STORE_LOCK);
    return HM_E_IO;
}
