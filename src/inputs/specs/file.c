/* Reads whole specification files of at most 4 MiB. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "err.h"
#include "memory.h"
#include "readers.h"

int hm__read_file(const char *path, char **ret_text, size_t *ret_length, struct hm_err *err)
{
    FILE *in = fopen(path, "rb");
    struct stat info;
    char *text = NULL;
    int rc = 0;

    if (!in) {
        hm__fail(err, HM_E_IO, "cannot open: %s", strerror(errno));
        hm__err_at(err, path, 0);
        return HM_E_IO;
    }
    size_t length = 0;
    if (fstat(fileno(in), &info) == 0 && S_ISDIR(info.st_mode))
        rc = hm__fail(err, HM_E_IO, "is a folder");
    if (rc == 0 && !(text = hm__calloc(HM_VALUE_BYTES + 1, 1)))
        rc = hm__fail_nomem(err);
    if (rc == 0)
        length = fread(text, 1, HM_VALUE_BYTES + 1, in);
    if (rc == 0 && ferror(in))
        rc = hm__fail(err, HM_E_IO, "cannot read: %s", strerror(errno));
    if (rc == 0 && length > HM_VALUE_BYTES) {
        rc = hm__fail(err, HM_E_LIMIT, "larger than 4 MiB");
        hm__err_hint(err, "a job is a few lines of text; is this the right file?");
    }
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
