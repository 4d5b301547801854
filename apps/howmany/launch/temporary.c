/* Creates temporary folders, which the guard process removes if this process is killed. */
#include "temporary.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char *launch_temporary_parent(void)
{
    const char *parent = getenv("TMPDIR");

    return parent && parent[0] == '/' ? parent : "/tmp";
}

int launch_folder_make(const char *parent, char folder[LAUNCH_FOLDER])
{
    int length = snprintf(folder, LAUNCH_FOLDER, "%s/howmany-XXXXXX", parent);

    launch_guard_start();
    bool made = length > 0 && length < LAUNCH_FOLDER && mkdtemp(folder);
    if (made)
        launch_guard_add(launch_guard_remove_folder, folder);
    else
        folder[0] = '\0';
    return made ? 0 : -1;
}

void launch_folder_remove(char folder[LAUNCH_FOLDER])
{
    if (!folder[0])
        return;
    launch_guard_remove_folder(folder);
    launch_guard_drop(launch_guard_remove_folder, folder);
    folder[0] = '\0';
}
