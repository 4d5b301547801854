/*
 * Files for fuzz targets whose reader takes a path. Making and opening a file takes longer than
 * reading a small input, so two files in memory are kept, and the linker gives the readers a
 * function in the place of open64 that finds them without the file system.
 */
#ifndef HM_FUZZ_KEPT_FILE_H
#define HM_FUZZ_KEPT_FILE_H

#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct fuzz_file {
    const char *path;
    int descriptor; /* 0 until the first input. */
} fuzz_files[] = {{"fuzz-0", 0}, {"fuzz-1", 0}};

/* Makes the bytes the contents of a file, 0 or 1. Returns its path; NULL after an error. */
static inline const char *fuzz_file_write(int which, const uint8_t *bytes, size_t length)
{
    struct fuzz_file *file = &fuzz_files[which];

    if (file->descriptor <= 0)
        file->descriptor = memfd_create("fuzz", 0);
    return pwrite(file->descriptor, bytes, length, 0) == (ssize_t)length &&
                   ftruncate(file->descriptor, (off_t)length) == 0
               ? file->path
               : NULL;
}

int __wrap_open64(const char *path, int flags, ...);
int __real_open64(const char *path, int flags, ...);

int __wrap_open64(const char *path, int flags, ...)
{
    va_list rest;

    for (int i = 0; i < 2; i++)
        if (strcmp(path, fuzz_files[i].path) == 0)
            return lseek(fuzz_files[i].descriptor, 0, SEEK_SET) == 0
                       ? fcntl(fuzz_files[i].descriptor, F_DUPFD_CLOEXEC, 0)
                       : -1;
    va_start(rest, flags);
    int mode = flags & O_CREAT ? va_arg(rest, int) : 0;
    va_end(rest);
    return __real_open64(path, flags, mode);
}

#endif
