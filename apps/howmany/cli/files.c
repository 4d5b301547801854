/* Reads and writes whole files for the commands. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

/* Writes a string to an open file and closes the file. If `sync` is true, the string is on the disk
 * afterwards. */
static bool file_put(FILE *file, const char *text, size_t length, bool sync)
{
    bool written = file && fwrite(text, 1, length, file) == length && fflush(file) == 0 &&
                   (!sync || fsync(fileno(file)) == 0);

    if (file && fclose(file) != 0)
        written = false;
    return written;
}

/* Replaces a file: the text is written to a temporary file in the same folder, which is then
 * renamed to `path`. */
static bool file_replace(const char *path, const char *text, size_t length)
{
    char real[PATH_MAX], beside[PATH_MAX + 8];

    /* If the path is a symbolic link, the link stays and the file that it points to is replaced. */
    if (!realpath(path, real) && snprintf(real, sizeof(real), "%s", path) >= (int)sizeof(real)) {
        errno = ENAMETOOLONG;
        return false;
    }
    snprintf(beside, sizeof(beside), "%s.part", real);
    /* Remove an old temporary file. If another user has replaced it with a symbolic link, the link
     * is removed and not followed. */
    unlink(beside);
    FILE *file = fopen(beside, "wxe");
    if (file_put(file, text, length, true) && rename(beside, real) == 0)
        return true;
    int error = errno;
    if (file)
        unlink(beside);
    errno = error;
    return false;
}

int cli_write_file(const char *path, const char *text, size_t length)
{
    struct stat found;
    /* If the path is a device or a pipe, the text is written to it directly, and the path is never
     * replaced by a file. */
    bool special = stat(path, &found) == 0 && !S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode);
    bool written = special ? file_put(fopen(path, "we"), text, length, false)
                           : file_replace(path, text, length);

    return written ? 0 : cli_complain("%s cannot be written: %s", path, strerror(errno));
}
