/*
 * Imports zip and tar archives. An archive is treated like a folder: a Spark event log in several
 * files, as Spark's history server offers it for download, is one import; so is a Keras model, in
 * which config.json describes the network. The members of any other archive are imported one by
 * one, under names such as "logs.zip/train.log".
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "err.h"
#include "import.h"

/*
 * The files of a compressed tar archive are imported one by one only if this decompresses at most
 * this number of bytes: each of them is found from the beginning of the archive.
 */
static const uint64_t UNPACKED_MOST = (uint64_t)32 << 30;

/* Returns the last component of a path. */
static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Compares the folders of two members; returns 0 if they are in the same folder. */
static int compare_folders(const char *a, const char *b)
{
    size_t x = (size_t)(base_of(a) - a), y = (size_t)(base_of(b) - b);

    return x != y ? (x < y ? -1 : 1) : memcmp(a, b, x);
}

static const struct hm_archive_member *find_member(const struct hm_archive *a, const char *name)
{
    for (size_t i = 0; i < a->count; i++)
        if (strcmp(a->members[i].name, name) == 0)
            return &a->members[i];
    return NULL;
}

static int compare_names(const void *a, const void *b)
{
    return hm__import_compare_parts(base_of(*(const char *const *)a),
                                    base_of(*(const char *const *)b));
}

/* Compares members by their folders, and parts of one log by their order. */
static int compare_members(const void *a, const void *b)
{
    const char *x = (*(const struct hm_archive_member *const *)a)->name;
    const char *y = (*(const struct hm_archive_member *const *)b)->name;
    int folders = compare_folders(x, y);

    return folders ? folders : compare_names(&x, &y);
}

/*
 * Creates an ordered list of the parts of the log to which the member `first` belongs. Returns the
 * number of parts, or 0 if memory runs out.
 */
static size_t collect_parts(const struct hm_archive *a, const char *first, struct hm_arena *arena,
                            const char ***ret_parts)
{
    const char **parts = hm__arena_alloc(arena, a->count, sizeof(*parts));
    size_t count = 0;

    for (size_t i = 0; parts && i < a->count; i++)
        if (hm__import_is_part(base_of(a->members[i].name)) &&
            compare_folders(first, a->members[i].name) == 0)
            parts[count++] = a->members[i].name;
    if (parts)
        qsort(parts, count, sizeof(*parts), compare_names);
    *ret_parts = parts;
    return count;
}

/*
 * Returns the member to read if the whole archive is one import: a part of a log, if the archive
 * contains nothing else; the description of a Keras model; or the only file. Otherwise, returns
 * NULL.
 */
static const char *main_member(const struct hm_archive *a)
{
    const char *part = NULL;
    size_t others = 0;

    for (size_t i = 0; i < a->count; i++) {
        const char *name = a->members[i].name;
        if (!hm__import_is_part(base_of(name))) {
            others += strncmp(base_of(name), "appstatus", 9) != 0;
            continue;
        }
        if (part && compare_folders(part, name) != 0)
            return NULL;
        part = name;
    }
    if (part)
        return others ? NULL : part;
    if (find_member(a, "config.json") && find_member(a, "metadata.json"))
        return "config.json";
    return a->count == 1 ? a->members[0].name : NULL;
}

/*
 * Splits a path such as "logs.zip/run/events_1" into the path of the archive and the name of a
 * member, which is "" if the path names the archive itself. Returns false if no component of the
 * path is an archive.
 */
static bool split_path(struct hm_arena *arena, const char *path, const char **ret_archive,
                       const char **ret_inside)
{
    struct stat status;

    *ret_inside = "";
    *ret_archive = path;
    if (stat(path, &status) == 0)
        return S_ISREG(status.st_mode) && hm__archive_is(path);
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        if (slash == path)
            continue;
        char *front = hm__arena_strndup(arena, path, (size_t)(slash - path));
        if (front && stat(front, &status) == 0 && S_ISREG(status.st_mode)) {
            *ret_archive = front;
            *ret_inside = slash + 1;
            return hm__archive_is(front);
        }
    }
    return false;
}

static int fail_archive(const char *path, const char *inside, size_t count, struct hm_err *err)
{
    if (*inside)
        hm__fail(err, HM_E_IO, "has no member '%.100s'", inside);
    else
        hm__fail(err, HM_E_TYPE, count ? "is an archive of %zu files" : "is an empty archive",
                 count);
    if (!*inside && count)
        hm__err_hint(
            err, "import its files one by one, such as FILE.zip/NAME; from a pipe, save it first");
    hm__err_at(err, path, 0);
    return *inside ? HM_E_IO : HM_E_TYPE;
}

int hm__import_archive(struct hm_imported *im, const struct hm_import_from *from,
                       struct hm_source **ret_source, struct hm_err *err)
{
    const char *path = from->name, *inside = "", **parts = NULL;

    bool pipe = !from->data && strcmp(from->name, "-") == 0;
    if (!pipe && (from->data ? !hm__archive_magic(from->data, from->length)
                             : !split_path(im->arena, from->name, &path, &inside)))
        return 0;
    int rc = pipe ? hm__archive_stdin(&im->archive, ret_source, err)
                  : hm__archive_open(path, from->data, from->length, &im->archive, err);
    if (rc || !im->archive)
        return rc;
    const struct hm_archive_member *member = *inside ? find_member(im->archive, inside) : NULL;
    const char *name = member ? member->name : *inside ? NULL : main_member(im->archive);
    if (!name)
        return fail_archive(path, inside, im->archive->count, err);
    if (hm__import_is_part(base_of(name))) {
        im->part_count = collect_parts(im->archive, name, im->arena, &parts);
    } else if ((parts = hm__arena_alloc(im->arena, 1, sizeof(*parts)))) {
        parts[0] = name;
        im->part_count = 1;
        /*
         * The name of the only member is shown instead of the name of the archive, because it may
         * contain the number of workers.
         */
        if (!*inside && strcmp(name, "config.json") != 0)
            im->name = hm__arena_printf(im->arena, "%s/%s", path, name);
    }
    im->parts = parts;
    return parts && im->name ? 0 : hm__fail_nomem(err);
}

int hm__import_part(const struct hm_imported *im, size_t i, struct hm_source **ret_source,
                    struct hm_err *err)
{
    if (!im->archive)
        return hm__source_open(im->parts[i], ret_source, err);
    struct hm_archive *a = im->archive;
    size_t k = 0;
    /* Parts of a log have the names of members themselves, which need not be compared. */
    while (k < a->count && a->members[k].name != im->parts[i])
        k++;
    return hm__archive_source(a, k < a->count ? &a->members[k] : find_member(a, im->parts[i]),
                              ret_source, err);
}

/*
 * Creates an array with one element per member, which is true for each part of a log except the
 * first one, with which the whole log is imported. Returns NULL if memory runs out.
 */
static bool *mark_later_parts(const struct hm_archive *a)
{
    const struct hm_archive_member **parts =
        hm__arena_alloc(a->arena, a->count + 1, sizeof(*parts));
    bool *later = hm__arena_alloc(a->arena, a->count + 1, sizeof(*later));
    size_t count = 0;

    if (!parts || !later)
        return NULL;
    for (size_t i = 0; i < a->count; i++)
        if (hm__import_is_part(base_of(a->members[i].name)))
            parts[count++] = &a->members[i];
    if (count > 0)
        qsort(parts, count, sizeof(*parts), compare_members);
    for (size_t i = 1; i < count; i++)
        if (compare_folders(parts[i - 1]->name, parts[i]->name) == 0)
            later[parts[i] - a->members] = true;
    return later;
}

int hm__import_walk_archive(const char *path,
                            int (*visit)(void *data, const char *file, struct hm_err *err),
                            void *data, struct hm_err *err)
{
    struct hm_archive *archive = NULL;
    int rc = hm__archive_open(path, NULL, 0, &archive, err);

    if (rc)
        return rc;
    if (main_member(archive)) {
        hm__archive_free(archive);
        return visit(data, path, err);
    }
    const bool *later = mark_later_parts(archive);
    rc = later ? 0 : hm__fail_nomem(err);
    size_t visits = 0;
    for (size_t i = 0; rc == 0 && i < archive->count; i++)
        visits += !later[i];
    if (rc == 0 && archive->packed && visits > 0 && archive->unpacked > UNPACKED_MOST / visits) {
        rc = hm__fail(err, HM_E_LIMIT, "is a compressed archive of %zu files", visits);
        hm__err_hint(err, "each of them would be searched for from its beginning: unpack it first");
        hm__err_at(err, path, 0);
    }
    for (size_t i = 0; rc == 0 && i < archive->count; i++) {
        if (later[i])
            continue;
        const char *file =
            hm__arena_printf(archive->arena, "%s/%s", path, archive->members[i].name);
        rc = file ? visit(data, file, err) : hm__fail_nomem(err);
    }
    hm__archive_free(archive);
    return rc;
}
