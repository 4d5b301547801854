/* Reads whole specification files of at most 4 MiB. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "err.h"
#include "memory.h"
#include "readers.h"
#include "source.h"

/* Returns the number of bytes to request: one more than the size of a regular file, so that a file
 * that is too large or still growing is noticed. Files of /proc have the size 0, and pipes have no
 * size, so the largest number is requested for them. */
static size_t file_room(const struct stat *info)
{
    bool known = S_ISREG(info->st_mode) && info->st_size > 0 && info->st_size < HM_VALUE_BYTES;

    return (known ? (size_t)info->st_size : HM_VALUE_BYTES) + 1;
}

/* Reads at most `room` bytes of a file. */
static int read_bytes(int file, char *text, size_t room, size_t *ret_length, struct hm_err *err)
{
    bool waits = hm__file_waits(file);
    ssize_t got = 1;

    *ret_length = 0;
    while (*ret_length < room && got != 0) {
        int rc = waits ? hm__file_wait(file, err) : 0;
        if (rc)
            return rc;
        got = read(file, text + *ret_length, room - *ret_length);
        if (got < 0 && errno != EINTR)
            return hm__fail(err, HM_E_IO, "cannot read: %s", strerror(errno));
        *ret_length += got > 0 ? (size_t)got : 0;
    }
    return 0;
}

int hm__read_file(const char *path, char **ret_text, size_t *ret_length, struct hm_err *err)
{
    int file = hm__file_open(path);
    struct stat info = {0};
    char *text = NULL;
    int rc = 0;

    if (file < 0) {
        hm__fail(err, HM_E_IO, "cannot open: %s", strerror(errno));
        hm__err_at(err, path, 0);
        return HM_E_IO;
    }
    size_t length = 0, room = 0;
    if (fstat(file, &info) == 0 && S_ISDIR(info.st_mode))
        rc = hm__fail(err, HM_E_IO, "is a folder");
    room = file_room(&info);
    if (rc == 0 && !(text = hm__calloc(room + 1, 1)))
        rc = hm__fail_nomem(err);
    if (rc == 0)
        rc = read_bytes(file, text, room, &length, err);
    if (rc == 0 && length > HM_VALUE_BYTES) {
        rc = hm__fail(err, HM_E_LIMIT, "larger than 4 MiB");
        hm__err_hint(err, "a job is a few lines of text; is this the right file?");
    }
    if (rc == 0 && length == room)
        rc = hm__fail(err, HM_E_IO, "it grew while it was read");
    close(file);
    if (rc) {
        hm__err_at(err, path, 0);
        hm__free(text);
        return rc;
    }
    *ret_text = text;
    *ret_length = length;
    return 0;
}
