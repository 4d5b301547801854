/* Appends lines to a file that an earlier run or an editor may have written. */
#include "append_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child.h"
#include "cli.h"

int launch_append_format(const char *path)
{
    if (hm__text_ends(path, ".jsonl") || hm__text_ends(path, ".ndjson"))
        return 1;
    if (hm__text_ends(path, ".csv"))
        return 0;
    cli_complain("--record: '%s' must end in .csv or .jsonl", path);
    return -1;
}

/* Reads the first line of a file; the line is empty if there is none. Returns 0 or a system error
 * code. */
static int read_first_line(const char *path, char *first, size_t room)
{
    FILE *file = fopen(path, "r");
    int number = file ? 0 : errno;

    first[0] = '\0';
    if (file && !fgets(first, (int)room, file)) {
        number = ferror(file) ? errno : 0;
        first[0] = '\0';
    }
    if (file)
        fclose(file);
    return number;
}

bool launch_append_continues(const char *path, const char *header)
{
    char first[1024];

    return read_first_line(path, first, sizeof(first)) == 0 && strcmp(first, header) == 0;
}

/* Returns whether a file ends in a newline; if not, an appended line would continue the file's last
 * line. */
static bool file_ends_in_newline(const char *path)
{
    FILE *file = fopen(path, "r");
    bool ends = file && fseek(file, -1, SEEK_END) == 0 && fgetc(file) == '\n';

    if (file)
        fclose(file);
    return ends;
}

/*
 * Removes a row that was written only in part, which would make the whole table unreadable, unless
 * another program has appended to the file meanwhile. `size` was the size before the row.
 */
static void remove_part(int file, off_t size, off_t written)
{
    struct stat now;

    if (fstat(file, &now) == 0 && now.st_size == size + written && ftruncate(file, size))
        return; /* The part stays; the caller reports the first error. */
}

int launch_append(int file, const char *text, size_t length, bool sync)
{
    struct stat before;
    bool regular = fstat(file, &before) == 0 && S_ISREG(before.st_mode);
    off_t written = 0;

    while (length > 0) {
        ssize_t put = write(file, text, length);
        /* A pipe may be full. Ctrl-C must end the wait for its reader. */
        if (put < 0 && errno == EINTR && (regular || !launch_interrupted()))
            continue;
        if (put < 0) {
            int number = errno;
            if (regular)
                remove_part(file, before.st_size, written);
            return cli_complain("--record: cannot write: %s", strerror(number));
        }
        text += put;
        length -= (size_t)put;
        written += put;
    }
    /* Pipes and terminals cannot be synced, which is not an error. */
    if (sync && regular && fsync(file))
        return cli_complain("--record: cannot write: %s", strerror(errno));
    return 0;
}

int launch_append_open(const char *path, const char *header, int *ret_file)
{
    struct stat info;
    char first[1024];
    bool exists = stat(path, &info) == 0 && info.st_size > 0;
    int rc = 0, number = exists && header ? read_first_line(path, first, sizeof(first)) : 0;

    if (number)
        return cli_complain("--record: cannot read %s: %s", path, strerror(number));
    if (exists && header && strcmp(first, header) != 0)
        return cli_complain("--record: %s has other columns than these runs; give another file",
                            path);
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file < 0)
        return cli_complain("--record: cannot open %s: %s", path, strerror(errno));
    if (exists && !file_ends_in_newline(path))
        rc = launch_append(file, "\n", 1, false);
    if (rc == 0 && !exists && header)
        rc = launch_append(file, header, strlen(header), true);
    if (rc)
        close(file);
    else
        *ret_file = file;
    return rc;
}
