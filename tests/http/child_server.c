/* Implements a server as a child process of a test. */
#include "child_server.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"

enum { PATIENCE_S = 60 };

void child_give_up(const char *what)
{
    perror(what);
    exit(1);
}

int child_server_spawn(const char *program, const char *store, char *const *environment,
                       pid_t *ret_pid)
{
    int out[2];

    if (pipe2(out, O_CLOEXEC) != 0)
        child_give_up("pipe");
    *ret_pid = fork();
    if (*ret_pid < 0)
        child_give_up("fork");
    if (*ret_pid == 0) {
        /* The server ends together with the test, also if the test is killed. */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(out[1], STDOUT_FILENO);
        for (; environment && *environment; environment++)
            putenv(*environment);
        execl(program, program, "serve", "--listen", "127.0.0.1:0", "--record", store, "--quiet",
              (char *)NULL);
        _exit(127);
    }
    close(out[1]);
    return out[0];
}

int child_server_port(int output)
{
    char line[64];
    size_t length = 0;
    ssize_t got = 1;

    while (got > 0 && length + 1 < sizeof(line) && (length == 0 || line[length - 1] != '\n')) {
        got = read(output, line + length, sizeof(line) - 1 - length);
        length += got > 0 ? (size_t)got : 0;
    }
    line[length] = '\0';
    close(output);
    const char *colon = strrchr(line, ':');
    return length > 0 && line[length - 1] == '\n' && colon ? atoi(colon + 1) : 0;
}

int child_server_start(const char *program, const char *store, char *const *environment,
                       pid_t *ret_pid)
{
    double from = client_now();
    int port = child_server_port(child_server_spawn(program, store, environment, ret_pid));

    if (port == 0)
        child_give_up("the server does not start");
    while (client_healthy(port) < 0)
        if (client_now() - from > PATIENCE_S)
            child_give_up("the server does not get ready");
    return port;
}

void child_server_stop(pid_t pid, int signal)
{
    int status;

    kill(pid, signal);
    waitpid(pid, &status, 0);
    if (signal == SIGTERM && !(WIFEXITED(status) && WEXITSTATUS(status) == 0)) {
        fprintf(stderr, "the server did not end well\n");
        exit(1);
    }
}
