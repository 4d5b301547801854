/* Reads and writes whole files. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

int cli_write_file(const char *path, const char *text, size_t length)
{
    char beside[PATH_MAX];
    int used = snprintf(beside, sizeof(beside), "%s.part", path);
    bool named = used > 0 && (size_t)used < sizeof(beside);
    /* An old file of this name is replaced, and a link that another user has made is not followed.
     */
    if (named)
        unlink(beside);
    FILE *file = named ? fopen(beside, "wxe") : NULL;
    bool written = file && fwrite(text, 1, length, file) == length && fflush(file) == 0 &&
                   fsync(fileno(file)) == 0;

    if (file && fclose(file) != 0)
        written = false;
    if (written && rename(beside, path) == 0)
        return 0;
    int rc = cli_complain("%s cannot be written: %s", path, strerror(errno));
    if (file)
        unlink(beside);
    return rc;
}
