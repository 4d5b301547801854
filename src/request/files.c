/* Opens files on this machine. No other source file in src/request opens files. */
#include "files.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "readers.h"
#include "source.h"

static int local_read(const char *path, char **ret_text, size_t *ret_length, struct hm_err *err)
{
    return hm__read_file(path, ret_text, ret_length, err);
}

static bool local_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

/*
 * Returns true for folders, and also for archives and patterns such as *.log, because they may
 * contain or match several files.
 */
static bool local_is_folder(const char *path)
{
    struct stat status;

    if (stat(path, &status))
        return hm__import_is_pattern(path);
    return S_ISDIR(status.st_mode) || (S_ISREG(status.st_mode) && hm__archive_is(path));
}

static bool local_is_pipe(const char *path)
{
    struct stat status;

    return strcmp(path, "-") == 0 ||
           (stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode));
}

/*
 * Returns whether a file was written by another tool. The answer is false for a pipe, because
 * reading its beginning would consume it; a pipe must contain a table.
 */
static bool local_is_foreign(const struct hm_import_from *from)
{
    return !local_is_pipe(from->name) && hm__import_recognise(from) != NULL;
}

const struct hm_files *hm_local_files(void)
{
    static const struct hm_files local = {
        .read = local_read,
        .read_table = hm__source_read_all,
        .runs = hm_runs_load,
        .traces = hm_traces_load,
        .convergence = hm_convergence_load,
        .graph = hm_graph_load,
        .prices = hm_catalog_import,
        .exists = local_exists,
        .is_folder = local_is_folder,
        .is_pipe = local_is_pipe,
        .import = hm__import_new,
        .is_foreign = local_is_foreign,
        .walk = hm__import_walk,
    };

    return &local;
}
