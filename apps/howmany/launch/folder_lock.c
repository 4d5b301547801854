/* Locks the folders of commands with flock, which other processes of the command do not inherit. */
#include "folder_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

int launch_folder_lock(const char *command, const char *path, int *ret_lock)
{
    *ret_lock = 0;
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return cli_complain("--folder: %s cannot be made: %s", path, strerror(errno));
    int file = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0)
        return cli_complain("--folder: %s cannot be opened: %s", path, strerror(errno));
    if (flock(file, LOCK_EX | LOCK_NB) == 0) {
        *ret_lock = file;
        return 0;
    }
    int error = errno;
    close(file);
    return error == EWOULDBLOCK
               ? cli_complain("%s: another howmany works in the folder %s; wait until it has "
                              "ended, or give another --folder",
                              command, path)
               : 0;
}

void launch_folder_unlock(int *lock)
{
    if (*lock > 0)
        close(*lock);
    *lock = 0;
}
