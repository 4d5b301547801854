/*
 * Imports folders. A rolling Spark event log is a folder with files events_N_ID, which form one log
 * when they are read in the order of N. Databricks calls the files eventlog-DATE.gz, and the newest
 * one `eventlog`. An MLflow run is a folder with meta.yaml and a folder metrics/, whose files
 * together are one import. In any other folder, each file is imported by itself.
 */
#include "import.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "err.h"

enum { FILES_MOST = 10000, FOLDER_DEPTH = 3 };

static bool is_folder(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/*
 * Returns the sort key of a file in its log: the number after "events_"; 0 for dated files, and 1
 * for `eventlog`, which comes after them.
 */
static long part_number(const char *name)
{
    if (strncmp(name, "events_", 7) == 0)
        return strtol(name + 7, NULL, 10);
    return strcmp(name, "eventlog") == 0 ? 1 : 0;
}

bool hm__import_is_part(const char *name)
{
    return (strncmp(name, "events_", 7) == 0 && name[7] >= '0' && name[7] <= '9') ||
           strcmp(name, "eventlog") == 0 || strncmp(name, "eventlog-", 9) == 0;
}

static int part_filter(const struct dirent *entry)
{
    return hm__import_is_part(entry->d_name);
}

int hm__import_compare_parts(const char *a, const char *b)
{
    long x = part_number(a), y = part_number(b);

    return x != y ? (x < y ? -1 : 1) : strcmp(a, b);
}

static int compare_parts(const struct dirent **a, const struct dirent **b)
{
    return hm__import_compare_parts((*a)->d_name, (*b)->d_name);
}

static void free_names(struct dirent **names, int count)
{
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

/* Returns whether a folder is an MLflow run. */
static bool is_mlflow(const char *path)
{
    char file[4096];

    return snprintf(file, sizeof(file), "%s/meta.yaml", path) < (int)sizeof(file) &&
           access(file, F_OK) == 0 &&
           snprintf(file, sizeof(file), "%s/metrics", path) < (int)sizeof(file) && is_folder(file);
}

static int plain_filter(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Returns whether a folder holds one log that is split into several files. */
static bool is_log_folder(const char *path)
{
    struct dirent **names = NULL;
    int count = scandir(path, &names, part_filter, NULL);

    free_names(names, count);
    return count > 0 || is_mlflow(path);
}

/*
 * Returns whether an entry of a folder may be read. Pipes, devices and sockets could block, and so
 * could files of the kernel.
 */
static bool may_visit(const char *path)
{
    enum { FILES_OF_PROCESSES = 0x9fa0, FILES_OF_DEVICES = 0x62656572 }; /* proc and sysfs */
    struct stat facts;
    struct statfs place;

    return stat(path, &facts) == 0 && (S_ISREG(facts.st_mode) || S_ISDIR(facts.st_mode)) &&
           statfs(path, &place) == 0 && place.f_type != FILES_OF_PROCESSES &&
           place.f_type != FILES_OF_DEVICES;
}

static int walk_folder(const char *path, int depth,
                       int (*visit)(void *data, const char *file, struct hm_err *err), void *data,
                       struct hm_err *err)
{
    struct dirent **names = NULL;
    int rc = 0;

    if (!is_folder(path) && hm__archive_is(path))
        return hm__import_walk_archive(path, visit, data, err);
    if (!is_folder(path) || is_log_folder(path))
        return visit(data, path, err);
    if (depth == FOLDER_DEPTH)
        return 0;
    int count = scandir(path, &names, plain_filter, alphasort);
    if (count < 0) {
        hm__fail(err, HM_E_IO, "cannot open: %s", strerror(errno));
        hm__err_at(err, path, 0);
        return HM_E_IO;
    }
    if (count > FILES_MOST)
        rc = hm__fail(err, HM_E_LIMIT, "'%.100s' has more than %d files", path, FILES_MOST);
    for (int i = 0; rc == 0 && i < count; i++) {
        char file[4096];
        if (snprintf(file, sizeof(file), "%s/%s", path, names[i]->d_name) < (int)sizeof(file) &&
            may_visit(file))
            rc = walk_folder(file, depth + 1, visit, data, err);
    }
    free_names(names, count);
    return rc;
}

/* The files that together form one import. */
struct parts {
    struct hm_arena *arena;
    /* Paths of the files; the strings are in the arena, and the list itself is owned. */
    const char **items;
    size_t count, room;
};

static int add_part(struct parts *parts, const char *path, struct hm_err *err)
{
    const char **larger = hm__grow(parts->items, parts->count, &parts->room, sizeof(*larger));
    if (!larger)
        return hm__fail_nomem(err);
    parts->items = larger;
    const char *copy = hm__arena_strdup(parts->arena, path);
    if (!copy)
        return hm__fail_nomem(err);
    parts->items[parts->count++] = copy;
    return 0;
}

/* Adds the file of a metric unless it is empty; called by walk_folder for each file. */
static int add_metric(void *data, const char *path, struct hm_err *err)
{
    struct stat status;

    return stat(path, &status) == 0 && status.st_size > 0 ? add_part(data, path, err) : 0;
}

static int find_parts(struct parts *parts, const char *path, struct hm_err *err)
{
    struct dirent **names = NULL;
    char file[4096];
    int rc = 0;

    if (is_mlflow(path)) {
        snprintf(file, sizeof(file), "%s/metrics", path);
        return walk_folder(file, 0, add_metric, parts, err);
    }
    int count = scandir(path, &names, part_filter, compare_parts);
    for (int i = 0; rc == 0 && i < count; i++)
        if (snprintf(file, sizeof(file), "%s/%s", path, names[i]->d_name) < (int)sizeof(file))
            rc = add_part(parts, file, err);
    free_names(names, count);
    return rc;
}

int hm__import_parts(struct hm_imported *im, const char *path, struct hm_err *err)
{
    struct parts parts = {.arena = im->arena};

    if (!is_folder(path))
        return 0;
    int rc = find_parts(&parts, path, err);
    if (rc == 0 && parts.count == 0) {
        rc = hm__fail(err, HM_E_TYPE, "is a folder");
        hm__err_hint(err, "import its files");
        hm__err_at(err, path, 0);
    }
    const char **copy = rc == 0 ? hm__arena_alloc(im->arena, parts.count, sizeof(*copy)) : NULL;
    if (rc == 0 && !copy)
        rc = hm__fail_nomem(err);
    if (rc == 0) {
        memcpy(copy, parts.items, parts.count * sizeof(*copy));
        im->parts = copy;
        im->part_count = parts.count;
    }
    hm__free(parts.items);
    return rc;
}

bool hm__import_is_pattern(const char *path)
{
    glob_t found;

    if (!strpbrk(path, "*?[") || access(path, F_OK) == 0)
        return false;
    bool is = glob(path, GLOB_NOSORT, NULL, &found) == 0;
    if (is)
        globfree(&found);
    return is;
}

int hm__import_walk(const char *path,
                    int (*visit)(void *data, const char *file, struct hm_err *err), void *data,
                    struct hm_err *err)
{
    glob_t found = {0};
    int rc = 0;

    if (!hm__import_is_pattern(path) || glob(path, 0, NULL, &found))
        return walk_folder(path, 0, visit, data, err);
    for (size_t i = 0; rc == 0 && i < found.gl_pathc; i++)
        rc = walk_folder(found.gl_pathv[i], 0, visit, data, err);
    globfree(&found);
    return rc;
}
