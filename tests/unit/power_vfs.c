/* Implements power_vfs.h. Files are found by name in a short table. There is only one user at a
 * time, so that locks always succeed. */
#include "power_vfs.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES = 8, REGIONS = 64 };

struct bytes {
    unsigned char *data;
    size_t size, room;
};

/* An operation that is not durable yet: a write, or a truncation if `data` is NULL. */
struct pending {
    size_t offset, size;
    unsigned char *data;
};

struct power_file {
    char name[512];       /* Name of the file; empty: this entry of the table is free. */
    bool exists, durable; /* `exists` is true if the file exists now, `durable` if it will exist
                             after a power cut. */
    struct bytes now, kept;
    bool replaced;    /* True if the file replaced a deleted file and was not synced since then. */
    struct bytes old; /* Durable contents of the deleted file that this file replaced. */
    struct pending *pending;
    size_t pending_count;
    void *regions[REGIONS]; /* Shared memory that SQLite uses for the write-ahead log. */
    size_t region_count;
};

struct power_handle {
    sqlite3_file base;
    struct power_file *file;
    bool delete_on_close;
};

static struct {
    struct power_file files[FILES];
    uint64_t random;
    size_t operations, cut_at;
    bool off, lying;
} power;

size_t power_draw(size_t limit)
{
    uint64_t x = power.random +=
        0x9e3779b97f4a7c15ULL; /* The random numbers are those of SplitMix64. */

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return (size_t)((x ^ (x >> 31)) % (limit ? limit : 1));
}

static void *grow(void *data, size_t size)
{
    void *grown = realloc(data, size ? size : 1);

    if (!grown)
        abort(); /* A test cannot continue without memory. */
    return grown;
}

static void bytes_resize(struct bytes *b, size_t size)
{
    if (size > b->room) {
        b->room = 2 * size;
        b->data = grow(b->data, b->room);
    }
    if (size > b->size)
        memset(b->data + b->size, 0, size - b->size);
    b->size = size;
}

static void bytes_write(struct bytes *b, size_t offset, const unsigned char *data, size_t size)
{
    if (offset + size > b->size)
        bytes_resize(b, offset + size);
    memcpy(b->data + offset, data, size);
}

static void bytes_copy(struct bytes *to, const struct bytes *from)
{
    bytes_resize(to, from->size);
    if (from->size)
        memcpy(to->data, from->data, from->size);
}

static void drop_pending(struct power_file *f)
{
    for (size_t i = 0; i < f->pending_count; i++)
        free(f->pending[i].data);
    f->pending_count = 0;
}

static void drop_regions(struct power_file *f)
{
    for (size_t i = 0; i < f->region_count; i++)
        free(f->regions[i]);
    f->region_count = 0;
}

static void drop_file(struct power_file *f)
{
    drop_pending(f);
    drop_regions(f);
    free(f->pending);
    free(f->now.data);
    free(f->kept.data);
    free(f->old.data);
    memset(f, 0, sizeof(*f));
}

/* Counts an operation. Returns true if the power is off, from this operation on or earlier. */
static bool is_cut(void)
{
    power.operations++;
    if (power.cut_at && power.operations >= power.cut_at)
        power.off = true;
    return power.off;
}

static void add_pending(struct power_file *f, size_t offset, const void *data, size_t size)
{
    f->pending = grow(f->pending, (f->pending_count + 1) * sizeof(*f->pending));
    struct pending *p = &f->pending[f->pending_count++];
    *p = (struct pending){.offset = offset, .size = size};
    if (data) {
        p->data = grow(NULL, size);
        memcpy(p->data, data, size);
    }
}

/* ---- the power ------------------------------------------------------------------------------ */

static void apply_pending(struct power_file *f, const struct pending *p, bool torn)
{
    size_t first = 0, last = p->size;

    if (!p->data) {
        bytes_resize(&f->kept, p->offset);
        return;
    }
    if (torn) {
        first = power_draw(2) ? 0 : power_draw(p->size + 1);
        last = first + power_draw(p->size - first + 1);
    }
    if (last > first)
        bytes_write(&f->kept, p->offset + first, p->data + first, last - first);
}

static void restart_file(struct power_file *f, size_t dropped, size_t torn, bool mixed)
{
    /* Neither the name of a new file nor a deletion is durable without a sync. */
    if ((!f->durable || !f->exists) && power_draw(2) == 0) {
        drop_file(f);
        return;
    }
    if (f->replaced &&
        power_draw(2) ==
            0) { /* Without a sync, the deleted file may exist again after the power cut. */
        drop_pending(f);
        bytes_copy(&f->kept, &f->old);
    }
    f->replaced = false;
    for (size_t i = 0; i < f->pending_count; i++) {
        size_t other = i + power_draw(f->pending_count - i);
        struct pending swap = f->pending[i];
        if (mixed) {
            f->pending[i] = f->pending[other];
            f->pending[other] = swap;
        }
        if (power_draw(100) >= dropped)
            apply_pending(f, &f->pending[i], power_draw(100) < torn);
    }
    drop_pending(f);
    drop_regions(f);
    bytes_copy(&f->now, &f->kept);
    f->exists = f->durable = true;
}

void power_restart(void)
{
    static const size_t chances[] = {0, 0, 20, 50, 100};
    size_t dropped = chances[power_draw(5)], torn = chances[power_draw(5)];
    bool mixed = power_draw(2) == 0;

    for (size_t i = 0; i < FILES; i++)
        if (power.files[i].name[0])
            restart_file(&power.files[i], dropped, torn, mixed);
    power.off = false;
    power.cut_at = 0;
}

void power_revive(void)
{
    for (size_t i = 0; i < FILES; i++) {
        drop_regions(&power.files[i]);
        if (strncmp(power.files[i].name, "temporary-", 10) == 0)
            drop_file(&power.files[i]);
    }
    power.off = false;
    power.cut_at = 0;
}

void power_clear(void)
{
    for (size_t i = 0; i < FILES; i++)
        drop_file(&power.files[i]);
    power.off = false;
    power.cut_at = 0;
}

void power_cut_at(size_t operation)
{
    power.cut_at = operation ? power.operations + operation : 0;
}

bool power_is_off(void)
{
    return power.off;
}

void power_set_lying(bool lying)
{
    power.lying = lying;
}

/* ---- files ---------------------------------------------------------------------------------- */

static struct power_file *find_file(const char *name)
{
    for (size_t i = 0; i < FILES; i++)
        if (name[0] && strcmp(power.files[i].name, name) == 0)
            return &power.files[i];
    return NULL;
}

static struct power_file *file_of(sqlite3_file *handle)
{
    return ((struct power_handle *)handle)->file;
}

static int file_close(sqlite3_file *handle)
{
    struct power_handle *h = (struct power_handle *)handle;

    if (h->delete_on_close && h->file)
        drop_file(h->file);
    h->file = NULL;
    return SQLITE_OK;
}

static int file_read(sqlite3_file *handle, void *to, int size, sqlite3_int64 offset)
{
    const struct power_file *f = file_of(handle);
    size_t from = (size_t)offset, wanted = (size_t)size;
    size_t got = from < f->now.size ? f->now.size - from : 0;

    if (power.off)
        return SQLITE_IOERR_READ;
    got = got < wanted ? got : wanted;
    if (got)
        memcpy(to, f->now.data + from, got);
    memset((char *)to + got, 0, wanted - got);
    return got < wanted ? SQLITE_IOERR_SHORT_READ : SQLITE_OK;
}

static int file_write(sqlite3_file *handle, const void *from, int size, sqlite3_int64 offset)
{
    struct power_file *f = file_of(handle);

    if (power.off)
        return SQLITE_IOERR_WRITE;
    bool cut = is_cut();
    add_pending(f, (size_t)offset, from, (size_t)size);
    bytes_write(&f->now, (size_t)offset, from, (size_t)size);
    return cut ? SQLITE_IOERR_WRITE : SQLITE_OK;
}

static int file_truncate(sqlite3_file *handle, sqlite3_int64 size)
{
    struct power_file *f = file_of(handle);

    if (power.off)
        return SQLITE_IOERR_TRUNCATE;
    bool cut = is_cut();
    add_pending(f, (size_t)size, NULL, 0);
    bytes_resize(&f->now, (size_t)size);
    return cut ? SQLITE_IOERR_TRUNCATE : SQLITE_OK;
}

/* SQLite syncs the folder when it first syncs a new journal or log, so that earlier deletions are
 * durable too. (It does not do so for the database itself.) */
static void sync_folder(void)
{
    for (size_t i = 0; i < FILES; i++)
        if (power.files[i].name[0] && !power.files[i].exists)
            drop_file(&power.files[i]);
}

static int file_sync(sqlite3_file *handle, int flags)
{
    struct power_file *f = file_of(handle);

    (void)flags;
    if (power.off || is_cut())
        return SQLITE_IOERR_FSYNC;
    if (power.lying)
        return SQLITE_OK;
    if ((!f->durable || f->replaced) && strchr(f->name, '-'))
        sync_folder();
    drop_pending(f);
    bytes_copy(&f->kept, &f->now);
    f->durable = true;
    f->replaced = false;
    return SQLITE_OK;
}

static int file_size(sqlite3_file *handle, sqlite3_int64 *ret_size)
{
    *ret_size = (sqlite3_int64)file_of(handle)->now.size;
    return SQLITE_OK;
}

static int file_lock(sqlite3_file *handle, int level)
{
    (void)handle;
    (void)level;
    return SQLITE_OK;
}

static int file_reserved(sqlite3_file *handle, int *ret_reserved)
{
    (void)handle;
    *ret_reserved = 0;
    return SQLITE_OK;
}

static int file_control(sqlite3_file *handle, int operation, void *argument)
{
    (void)handle;
    (void)operation;
    (void)argument;
    return SQLITE_NOTFOUND;
}

static int file_sector(sqlite3_file *handle)
{
    (void)handle;
    return 512;
}

/* A torn write changes no byte outside its range, as SQLite assumes for real disks. */
static int file_characteristics(sqlite3_file *handle)
{
    (void)handle;
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static int file_shm_map(sqlite3_file *handle, int region, int size, int extend,
                        void volatile **ret_memory)
{
    struct power_file *f = file_of(handle);

    *ret_memory = NULL;
    if (region >= REGIONS)
        return SQLITE_FULL;
    while (extend && f->region_count <= (size_t)region) {
        f->regions[f->region_count] = grow(NULL, (size_t)size);
        memset(f->regions[f->region_count++], 0, (size_t)size);
    }
    if ((size_t)region < f->region_count)
        *ret_memory = f->regions[region];
    return SQLITE_OK;
}

static int file_shm_lock(sqlite3_file *handle, int offset, int count, int flags)
{
    (void)handle;
    (void)offset;
    (void)count;
    (void)flags;
    return SQLITE_OK;
}

static void file_shm_barrier(sqlite3_file *handle)
{
    (void)handle;
}

static int file_shm_unmap(sqlite3_file *handle, int delete)
{
    if (delete)
        drop_regions(file_of(handle));
    return SQLITE_OK;
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_lock,
    .xCheckReservedLock = file_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector,
    .xDeviceCharacteristics = file_characteristics,
    .xShmMap = file_shm_map,
    .xShmLock = file_shm_lock,
    .xShmBarrier = file_shm_barrier,
    .xShmUnmap = file_shm_unmap,
};

/* ---- the file system ------------------------------------------------------------------------ */

static struct power_file *make_file(const char *name)
{
    for (size_t i = 0; i < FILES; i++) {
        struct power_file *f = &power.files[i];
        if (!f->name[0]) {
            snprintf(f->name, sizeof(f->name), "%s", name);
            f->exists = true;
            return f;
        }
    }
    return NULL;
}

static int system_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *handle, int flags,
                       int *ret_flags)
{
    struct power_handle *h = (struct power_handle *)handle;
    static unsigned temporary;
    char own[32];

    (void)vfs;
    memset(h, 0, sizeof(*h));
    if (power.off)
        return SQLITE_CANTOPEN;
    if (!name) {
        snprintf(own, sizeof(own), "temporary-%u", temporary++);
        name = own;
    }
    struct power_file *f = find_file(name);
    if (!f && !(flags & SQLITE_OPEN_CREATE))
        return SQLITE_CANTOPEN;
    if (f && !f->exists) { /* A new file with the same name replaces the deleted one. */
        f->exists = true;
        drop_pending(f);
        bytes_resize(&f->now, 0);
        if (!f->replaced)
            bytes_copy(&f->old, &f->kept);
        bytes_resize(&f->kept, 0);
        f->replaced = true;
    }
    h->file = f ? f : make_file(name);
    if (!h->file)
        return SQLITE_CANTOPEN;
    h->delete_on_close = (flags & SQLITE_OPEN_DELETEONCLOSE) != 0;
    h->base.pMethods = &methods;
    if (ret_flags)
        *ret_flags = flags;
    return SQLITE_OK;
}

static int system_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    struct power_file *f = find_file(name);

    (void)vfs;
    if (!f || !f->exists)
        return SQLITE_IOERR_DELETE_NOENT;
    if (power.off || is_cut())
        return SQLITE_IOERR_DELETE;
    f->exists = false;
    bytes_resize(&f->now, 0);
    if (sync && !power.lying)
        drop_file(f);
    return SQLITE_OK;
}

static int system_access(sqlite3_vfs *vfs, const char *name, int flags, int *ret_can)
{
    const struct power_file *f = find_file(name);

    (void)vfs;
    (void)flags;
    *ret_can = f && f->exists;
    return power.off ? SQLITE_IOERR_ACCESS : SQLITE_OK;
}

static int system_path(sqlite3_vfs *vfs, const char *name, int room, char *ret_path)
{
    (void)vfs;
    snprintf(ret_path, (size_t)room, "%s", name);
    return SQLITE_OK;
}

int power_register(uint64_t seed)
{
    static sqlite3_vfs vfs;
    sqlite3_vfs *usual = sqlite3_vfs_find(NULL);

    power.random = seed;
    if (usual == &vfs)
        return SQLITE_OK;
    vfs = *usual; /* Time, random numbers and sleep are those of SQLite's default file system. */
    vfs.zName = "power";
    vfs.pNext = NULL;
    vfs.szOsFile = (int)sizeof(struct power_handle);
    vfs.xOpen = system_open;
    vfs.xDelete = system_delete;
    vfs.xAccess = system_access;
    vfs.xFullPathname = system_path;
    return sqlite3_vfs_register(&vfs, 1);
}
