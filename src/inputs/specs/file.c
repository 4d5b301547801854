/* Reads whole specification files of at most 4 MiB. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "err.h"
#include "memory.h"
#include "readers.h"

/* Returns the number of bytes to request: one more than the size of a regular file, so that a file
 * that is too large or still growing is noticed. Files of /proc have the size 0, and pipes have no
 * size, so the largest number is requested for them. */
static size_t file_room(const struct stat *info)
{
    bool known = S_ISREG(info->st_mode) && info->st_size > 0 && info->st_size < HM_VALUE_BYTES;

    return (known ? (size_t)info->st_size : HM_VALUE_BYTES) + 1;
}

int hm__read_file(const char *path, char **ret_text, size_t *ret_length, struct hm_err *err)
{
    FILE *in = fopen(path, "rb");
    struct stat info = {0};
    char *text = NULL;
    int rc = 0;

    if (!in) {
        hm__fail(err, HM_E_IO, "cannot open: %s", strerror(errno));
        hm__err_at(err, path, 0);
        return HM_E_IO;
    }
    size_t length = 0, room = 0;
    if (fstat(fileno(in), &info) == 0 && S_ISDIR(info.st_mode))
        rc = hm__fail(err, HM_E_IO, "is a folder");
    room = file_room(&info);
    if (rc == 0 && !(text = hm__calloc(room + 1, 1)))
        rc = hm__fail_nomem(err);
    if (rc == 0)
        length = fread(text, 1, room, in);
    if (rc == 0 && ferror(in))
        rc = hm__fail(err, HM_E_IO, "cannot read: %s", strerror(errno));
    if (rc == 0 && length > HM_VALUE_BYTES) {
        rc = hm__fail(err, HM_E_LIMIT, "larger than 4 MiB");
        hm__err_hint(err, "a job is a few lines of text; is this the right file?");
    }
    if (rc == 0 && length == room)
        rc = hm__fail(err, HM_E_IO, "it grew while it was read");
    fclose(in);
    if (rc) {
        hm__err_at(err, path, 0);
        hm__free(text);
        return rc;
    }
    *ret_text = text;
    *ret_length = length;
    return 0;
}
