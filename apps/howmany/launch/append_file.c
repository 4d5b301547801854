/* Appends lines to a file that an earlier run or an editor may have written. */
#include "append_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

int launch_append(int file, const char *text, size_t length, bool sync)
{
    while (length > 0) {
        ssize_t put = write(file, text, length);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return cli_complain("--record: cannot write: %s", strerror(errno));
        text += put;
        length -= (size_t)put;
    }
    if (sync)
        fsync(file); /* fsync fails for a pipe or a terminal; this is not an error. */
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
