/* Lists the processes of this machine from /proc. */
#include "processes.h"

#include <dirent.h>

#include "text.h"

void launch_each_process(void (*visit)(void *context, long pid), void *context)
{
    DIR *processes = opendir("/proc");
    const struct dirent *entry;

    while (processes && (entry = readdir(processes))) {
        double pid;
        size_t used = hm__number_read(entry->d_name, &pid);
        if (used > 0 && entry->d_name[used] == '\0' && pid > 1)
            visit(context, (long)pid);
    }
    if (processes)
        closedir(processes);
}
