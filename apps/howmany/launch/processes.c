/* Lists the processes of this machine from /proc. */
#include "processes.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

/* A line of /proc/PID/stat begins with "pid (name) state parent group session". The name may
 * contain spaces and parentheses. */
bool launch_process_read(long pid, struct launch_process *process)
{
    char path[300], line[512] = "";

    snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    const char *name_end = fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
    bool complete = name_end && sscanf(name_end + 1, " %c %ld %*d %ld", &process->state,
                                       &process->parent, &process->session) == 3;
    fclose(file);
    return complete;
}

struct session_search {
    pid_t session;
    int signal_number;
    size_t count;
};

static void signal_if_in_session(void *context, long pid)
{
    struct session_search *s = context;
    struct launch_process process;

    if (getsid((pid_t)pid) != s->session || !launch_process_read(pid, &process) ||
        process.session != s->session || process.state == 'Z')
        return;
    s->count++;
    if (s->signal_number)
        kill((pid_t)pid, s->signal_number);
}

size_t launch_session_signal(pid_t session, int signal_number)
{
    struct session_search s = {.session = session, .signal_number = signal_number};

    launch_each_process(signal_if_in_session, &s);
    return s.count;
}
